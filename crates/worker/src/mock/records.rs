//! Mock table of records with keys, shared by the clients of one process. Changes stay in memory, so that a
//! new process finds only what was loaded, unless the script says how changes are kept.
//!
//! Statements with bound parameters: `kv_read KEY`, `kv_update KEY VALUE` (sets `field0`),
//! `kv_swap KEY OLD VALUE` (sets `field0` if it is still OLD), `kv_insert KEY DOCUMENT`, `kv_delete KEY`,
//! `kv_scan KEY LIMIT`, `kv_paths KEY` (reads values). `at` at the end, with JSON pointers as JSON strings
//! separated by commas, names the values that are set or read: `kv_update KEY VALUE at "/a/b"`.

use std::collections::{BTreeMap, HashMap};
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};

use jsonathlon_driver_api::driver::{DriverContext, DriverError, Result};
use jsonathlon_driver_api::prepared::{Parameter, parameter_at};
use jsonathlon_driver_api::rows::ResultSet;
use jsonathlon_schema::value::Value;
use serde_json::Value as Json;

use super::faults;
use super::script::{FaultAction, Persistence, Script};
use super::store::Store;

/// Tables of this process by their data folders.
static TABLES: LazyLock<Mutex<HashMap<PathBuf, Arc<Mutex<Table>>>>> = LazyLock::new(Mutex::default);

/// Documents of one table, with the number of executions of each statement.
#[derive(Debug, Default)]
struct Table {
    documents: BTreeMap<Key, DocumentVersions>,
    asks: HashMap<String, u64>,
    persisted: PersistedWrites,
}

/// File of the writes that outlive the process.
const PERSISTED_FILE: &str = "kept.ndjson";

/// Writes since the process began that may outlive it.
#[derive(Debug, Default)]
struct PersistedWrites {
    file: Option<File>,
    writes: u64,
    /// Lines that were acknowledged and not written to the file yet.
    pending: Vec<u8>,
}

impl PersistedWrites {
    /// Keeps a written document, with the losses that the script plants.
    fn add(&mut self, folder: &Path, key: &Key, document: &str, persistence: Persistence) -> Result<()> {
        self.writes += 1;
        let is_nth = |interval: Option<u64>| {
            interval.is_some_and(|interval| self.writes.is_multiple_of(interval.max(1)))
        };
        if !is_nth(persistence.loss_interval) {
            let half = document.floor_char_boundary(document.len() / 2);
            let text = if is_nth(persistence.tear_interval) { document.get(..half) } else { Some(document) };
            self.pending.extend(serde_json::json!([key.to_json(), text]).to_string().into_bytes());
            self.pending.push(b'\n');
        }
        if !self.writes.is_multiple_of(persistence.batch_writes.max(1)) {
            return Ok(());
        }
        match self.write_out(folder, persistence.syncs) {
            Err(error) if !persistence.ignores_write_errors => {
                Err(DriverError::Refused(format!("failed to keep it: {error}")))
            }
            _ => Ok(()),
        }
    }

    fn write_out(&mut self, folder: &Path, syncs: bool) -> io::Result<()> {
        let file = match &mut self.file {
            Some(file) => file,
            slot => slot.insert(File::options().append(true).create(true).open(folder.join(PERSISTED_FILE))?),
        };
        file.write_all(&std::mem::take(&mut self.pending))?;
        if syncs { file.sync_all() } else { Ok(()) }
    }
}

/// Reads the writes that earlier processes have kept. An incomplete line is ignored.
fn read_persisted(folder: &Path) -> Vec<(Key, String)> {
    let text = std::fs::read(folder.join(PERSISTED_FILE)).unwrap_or_default();
    let lines = String::from_utf8_lossy(&text);
    let writes = lines.lines().filter_map(|line| serde_json::from_str::<(Json, String)>(line).ok());
    writes.map(|(key, document)| (Key::from_json(&key), document)).collect()
}

/// Key of a document. Numbers and texts have orders of their own.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Key {
    Integer(i64),
    Text(String),
}

impl Key {
    fn from_json(json: &Json) -> Self {
        match (json.as_i64(), json.as_str()) {
            (Some(number), _) => Self::Integer(number),
            (None, Some(text)) => Self::Text(text.to_owned()),
            (None, None) => Self::Text(json.to_string()),
        }
    }

    fn to_json(&self) -> Json {
        match self {
            Self::Integer(number) => (*number).into(),
            Self::Text(text) => text.as_str().into(),
        }
    }

    fn to_value(&self) -> Value {
        match self {
            Self::Integer(number) => Value::Int(*number),
            Self::Text(text) => Value::Text(text.clone()),
        }
    }
}

/// A document and the version that it replaced.
#[derive(Debug, Clone, Default)]
struct DocumentVersions {
    current: String,
    previous: Option<String>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns `true` if the statement belongs to these records.
pub(super) fn is_record_statement(statement: &str) -> bool {
    statement.starts_with("kv_")
}

/// Drops all changes of clients, because the table was created or dropped.
pub(super) fn forget(folder: &Path) {
    lock(&TABLES).remove(folder);
    // Exists only if the script keeps writes.
    std::fs::remove_file(folder.join(PERSISTED_FILE)).ok();
}

/// Returns the table of a data folder. The first call reads the loaded documents and the kept writes.
fn table(folder: &Path, store: &Store) -> Result<Arc<Mutex<Table>>> {
    let mut tables = lock(&TABLES);
    if let Some(table) = tables.get(folder) {
        return Ok(Arc::clone(table));
    }
    let mut table = Table::default();
    store.for_each_line(|line| {
        let Ok(parsed) = serde_json::from_slice::<serde_json::Value>(line) else { return };
        if let (Some(key), Some(document)) = (parsed.get("key"), parsed.get("doc")) {
            let key = Key::from_json(key);
            table.documents.insert(key, DocumentVersions { current: document.to_string(), previous: None });
        }
    })?;
    for (key, current) in read_persisted(folder) {
        table.documents.insert(key, DocumentVersions { current, previous: None });
    }
    let table = Arc::new(Mutex::new(table));
    tables.insert(folder.to_owned(), Arc::clone(&table));
    Ok(table)
}

fn parameter_text(parameters: &[Parameter<'_>], index: usize) -> Result<String> {
    Ok(match parameter_at(index, parameters)? {
        Parameter::Text(text) | Parameter::Json(text) => (*text).to_owned(),
        Parameter::Int(number) => number.to_string(),
        other => return Err(DriverError::Refused(format!("{other:?} is neither text nor a number"))),
    })
}

/// The value of a parameter that is text or a number.
fn parameter_json(parameters: &[Parameter<'_>], index: usize) -> Result<Json> {
    match parameter_at(index, parameters)? {
        Parameter::Int(number) => Ok((*number).into()),
        _ => parameter_text(parameters, index).map(Json::from),
    }
}

/// The first parameter, which is the key of every statement.
fn parameter_key(parameters: &[Parameter<'_>]) -> Result<Key> {
    parameter_json(parameters, 0).map(|key| Key::from_json(&key))
}

/// JSON pointers that a statement names, by default that of the first generated field.
fn pointers(statement: &str) -> Result<Vec<String>> {
    match statement.split_once(" at ") {
        None => Ok(vec!["/field0".to_owned()]),
        Some((_, list)) => serde_json::from_str(&format!("[{list}]"))
            .map_err(|error| DriverError::Refused(format!("`{list}` are no pointers: {error}"))),
    }
}

/// Executes one statement with its parameters. Returns the answer and, for writes, the number of changed
/// documents.
pub(super) fn execute(
    statement: &str,
    parameters: &[Parameter<'_>],
    folder: &Path,
    store: &Store,
    script: &Script,
    host: &DriverContext,
) -> Result<(ResultSet, Option<u64>)> {
    let name = statement.split_whitespace().next().unwrap_or(statement);
    let table = table(folder, store)?;
    let count = {
        let mut table = lock(&table);
        let count = table.asks.entry(name.to_owned()).or_default();
        *count += 1;
        *count
    };
    if let Some(delay) = script.delay_ms.get(name) {
        host.clock.sleep(std::time::Duration::from_millis(*delay));
    }
    for action in script.faults_for(name, count) {
        faults::inject_before(action, 0, host)?;
    }
    let (mut outcome, affected) = {
        let mut table = lock(&table);
        let result = answer(name, &pointers(statement)?, parameters, &mut table)?;
        if let (Some(persistence), Some(1)) = (script.persistence, result.1) {
            let key = parameter_key(parameters)?;
            let Table { documents, persisted, .. } = &mut *table;
            if let Some(versions) = documents.get(&key) {
                persisted.add(folder, &key, &versions.current, persistence)?;
            }
        }
        result
    };
    for action in script.faults_for(name, count) {
        distort(action, parameters, &lock(&table), &mut outcome)?;
    }
    Ok((outcome, affected))
}

fn answer(
    name: &str,
    pointers: &[String],
    parameters: &[Parameter<'_>],
    table: &mut Table,
) -> Result<(ResultSet, Option<u64>)> {
    let key = parameter_key(parameters)?;
    let pointer = pointers.first().map_or("", String::as_str);
    let changed = |count: bool| Ok((ResultSet::default(), Some(u64::from(count))));
    match name {
        "kv_read" => {
            let versions = table.documents.get(&key);
            Ok((rows(versions.map(|versions| vec![Value::Text(versions.current.clone())])), None))
        }
        "kv_update" => {
            let value = parameter_json(parameters, 1)?;
            let Some(versions) = table.documents.get_mut(&key) else { return changed(false) };
            set_value(versions, pointer, value);
            changed(true)
        }
        "kv_swap" => {
            let (old, value) = (parameter_json(parameters, 1)?, parameter_json(parameters, 2)?);
            match table.documents.get_mut(&key) {
                Some(versions) if value_at(&versions.current, pointer).as_ref() == Some(&old) => {
                    set_value(versions, pointer, value);
                }
                _ => return Err(DriverError::Conflict("somebody else was faster".into())),
            }
            changed(true)
        }
        "kv_insert" => {
            let document = parameter_text(parameters, 1)?;
            if table.documents.contains_key(&key) {
                return Err(DriverError::Duplicate(format!("the key {} is there already", key.to_json())));
            }
            table.documents.insert(key, DocumentVersions { current: document, previous: None });
            changed(true)
        }
        "kv_delete" => changed(table.documents.remove(&key).is_some()),
        "kv_scan" => {
            let limit: usize = parameter_text(parameters, 1)?.parse().unwrap_or(0);
            let versions = table.documents.range(key..).take(limit);
            let row = |(key, versions): (&Key, &DocumentVersions)| {
                vec![key.to_value(), Value::Text(versions.current.clone())]
            };
            Ok((rows(versions.map(row)), None))
        }
        "kv_paths" => Ok((paths_row(table.documents.get(&key), pointers), None)),
        _ => Err(DriverError::Refused(format!("unknown statement `{name}`"))),
    }
}

fn rows(rows: impl IntoIterator<Item = Vec<Value>>) -> ResultSet {
    let rows: Vec<Vec<Value>> = rows.into_iter().collect();
    let columns = match rows.first().map(Vec::len) {
        Some(2) => vec!["key".to_owned(), "doc".to_owned()],
        _ => vec!["doc".to_owned()],
    };
    ResultSet { columns, rows, ..ResultSet::default() }
}

/// One row with the values at these places of a document; no row without a document.
fn paths_row(document: Option<&DocumentVersions>, pointers: &[String]) -> ResultSet {
    let Some(versions) = document else { return ResultSet::default() };
    let cell = |pointer: &String| match value_at(&versions.current, pointer) {
        None | Some(Json::Null) => Value::Null,
        Some(Json::String(text)) => Value::Text(text),
        Some(other) => other.as_i64().map_or_else(|| Value::Text(other.to_string()), Value::Int),
    };
    let columns = (0..pointers.len()).map(|index| format!("p{index}")).collect();
    ResultSet { columns, rows: vec![pointers.iter().map(cell).collect()], ..ResultSet::default() }
}

fn value_at(document: &str, pointer: &str) -> Option<Json> {
    serde_json::from_str::<Json>(document).ok()?.pointer(pointer).cloned()
}

fn set_value(versions: &mut DocumentVersions, pointer: &str, value: Json) {
    let Ok(mut parsed) = serde_json::from_str::<Json>(&versions.current) else { return };
    if let Some(place) = parsed.pointer_mut(pointer) {
        *place = value;
    }
    versions.previous = Some(std::mem::replace(&mut versions.current, parsed.to_string()));
}

/// Applies a fault to an answer.
fn distort(
    action: &FaultAction,
    parameters: &[Parameter<'_>],
    table: &Table,
    outcome: &mut ResultSet,
) -> Result<()> {
    let Some(Value::Text(document)) = outcome.rows.first_mut().and_then(|row| row.last_mut()) else {
        faults::inject_after(action, outcome);
        return Ok(());
    };
    let key = parameter_key(parameters)?;
    match action {
        FaultAction::Stale => {
            if let Some(previous) = table.documents.get(&key).and_then(|versions| versions.previous.clone()) {
                *document = previous;
            }
        }
        FaultAction::Truncated => {
            document.pop();
        }
        FaultAction::AnotherKey => {
            if let Some((_, other)) = table.documents.iter().find(|(other, _)| **other != key) {
                other.current.clone_into(document);
            }
        }
        other => faults::inject_after(other, outcome),
    }
    Ok(())
}
