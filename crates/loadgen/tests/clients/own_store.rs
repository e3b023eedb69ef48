//! An in-memory system of the user's own documents, with configurable faults.

use std::collections::BTreeMap;
use std::os::fd::BorrowedFd;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use jsonathlon_dataset::keying::{KeyChoice, KeyingOptions, key_documents};
use jsonathlon_dataset::own_records::{OwnRecords, Pointer, UpdateKind};
use jsonathlon_dataset::source::Source;
use jsonathlon_dataset::stage::{IgnoreDocuments, StageOptions, stage};
use jsonathlon_driver_api::driver::{DriverContext, EngineLocation, SessionOptions};
use jsonathlon_driver_api::{
    Cell, DriverError, NonblockingConnection, Parameter, PreparedStatement, Result, RowSink, StatementStats,
};
use jsonathlon_loadgen::baseline::{BaselineRead, BaselineReport};
use jsonathlon_loadgen::job::{Job, JobRecords, OperationScript};
use jsonathlon_loadgen::load_generator::{LoadGenerator, READ_BASELINE};
use jsonathlon_loadgen::operation::Operation;
use jsonathlon_telemetry::clock::MonotonicClock;
use jsonathlon_worker::protocol::Failure;
use jsonathlon_worker::{JobRunner, JobTarget};
use serde_json::Value;
use tempfile::TempDir;

use crate::support;

/// Key of a row, in the order of scans.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Key {
    Integer(i64),
    Text(String),
}

/// A fault of the system that occurs in every `period`-th answer or write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    None,
    /// A read is answered with the state before the last write.
    Stale,
    /// A read is answered with a part of the document.
    Torn,
    /// A read is answered with the next document.
    Swapped,
    /// A write removes the document, or does not insert it, and is acknowledged.
    Lost,
    /// A write changes a value beside the one that it sets.
    Damaged,
    /// A scan leaves out its second document.
    Omitted,
    /// A scan has its first document twice.
    Doubled,
    /// A scan begins with the first document of all, whatever key it begins with.
    Restarted,
}

#[derive(Debug, Clone)]
struct Versions {
    current: Value,
    previous: Option<Value>,
}

/// The documents of the system, and the data that they come from.
#[derive(Debug)]
pub(crate) struct OwnStore {
    documents: Mutex<BTreeMap<Key, Versions>>,
    pub(crate) records: OwnRecords,
    /// Names of the paths of read-paths, as pointers.
    paths: Vec<String>,
    update: String,
    fault: Mutex<(Fault, u64)>,
    count: AtomicU64,
    folder: TempDir,
}

impl OwnStore {
    /// Keys documents and loads them. An empty `key` is the number of the line; `key_member` is where the
    /// system keeps the key.
    pub(crate) fn new(lines: &[String], key: &str, update: &str, key_member: Option<&str>) -> Arc<Self> {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("data.ndjson");
        std::fs::write(&file, lines.iter().map(|line| format!("{line}\n")).collect::<String>()).unwrap();
        let options = StageOptions { measure_compressed_sizes: false, ..StageOptions::default() };
        let staged_folder = folder.path().join("staged");
        let source = Source::Path(file);
        let staged =
            stage(&source, &staged_folder, options, &mut IgnoreDocuments, &mut |_| {}, &|| false).unwrap();
        let options = KeyingOptions {
            key: if key.is_empty() { KeyChoice::Line } else { KeyChoice::Path(Pointer::parse(key).unwrap()) },
            update: (!update.is_empty()).then(|| Pointer::parse(update).unwrap()),
            seed: 3,
            key_members: Vec::new(),
        };
        let keyed_folder = folder.path().join("keyed");
        let keyed = key_documents(&staged, &keyed_folder, &options, &mut |_| {}, &|| false).unwrap();
        let records = OwnRecords { key_member: key_member.map(str::to_owned), ..keyed.records };
        let rows = std::fs::read_to_string(&keyed.staged.clean_file).unwrap();
        let row = |line: &str| {
            let row: Value = serde_json::from_str(line).unwrap();
            let mut document = row["doc"].clone();
            if let Some(member) = key_member {
                document[member] = row["key"].clone();
            }
            (key_of(&row["key"]), Versions { current: document, previous: None })
        };
        Arc::new(Self {
            documents: Mutex::new(rows.lines().map(row).collect()),
            paths: records.paths.iter().map(ToString::to_string).collect(),
            update: records.update.as_ref().map(|update| update.path.to_string()).unwrap_or_default(),
            records,
            fault: Mutex::new((Fault::None, 1)),
            count: AtomicU64::new(0),
            folder,
        })
    }

    pub(crate) fn plant(&self, fault: Fault, period: u64) {
        *self.fault.lock().unwrap() = (fault, period);
    }

    pub(crate) fn len(&self) -> u64 {
        self.documents.lock().unwrap().len() as u64
    }

    /// Changes all documents as a load might; those for which `change` returns `false` are removed.
    pub(crate) fn change_all(&self, mut change: impl FnMut(usize, &mut Value) -> bool) {
        let mut index = 0;
        self.documents.lock().unwrap().retain(|_, versions| {
            index += 1;
            change(index - 1, &mut versions.current)
        });
    }

    /// Adds a document that no load has brought.
    pub(crate) fn add(&self, key: Key, document: Value) {
        let versions = Versions { current: document, previous: None };
        assert!(self.documents.lock().unwrap().insert(key, versions).is_none());
    }

    fn is_due(&self, fault: Fault) -> bool {
        let (planted, period) = *self.fault.lock().unwrap();
        planted == fault && self.count.fetch_add(1, Ordering::Relaxed) % period == period - 1
    }

    fn baseline_path(&self) -> PathBuf {
        self.folder.path().join("baseline")
    }

    fn scripts(&self) -> BTreeMap<Operation, OperationScript> {
        let document = if self.records.key_member.is_some() { "{{keyed_document}}" } else { "{{document}}" };
        let insert = format!("insert {{{{key}}}} {document}");
        let all: [(Operation, Vec<String>); 10] = [
            (Operation::Read, vec!["read {{key}}".to_owned()]),
            (Operation::ReadPaths, vec!["paths {{key}}".to_owned()]),
            (Operation::Update, vec!["update {{key}} {{value}}".to_owned()]),
            (Operation::UpdatePath, vec!["update {{key}} {{value}}".to_owned()]),
            (Operation::UpdateAll, vec![format!("replace {{{{key}}}} {document}")]),
            (Operation::Insert, vec![insert.clone()]),
            (Operation::InsertBatch, vec!["begin".to_owned(), insert, "commit".to_owned()]),
            (Operation::Delete, vec!["delete {{key}}".to_owned()]),
            (Operation::Scan, vec!["scan {{key}} {{limit}}".to_owned()]),
            (
                Operation::ReadModifyWrite,
                vec!["read {{key}}".to_owned(), "swap {{key}} {{old}} {{value}}".to_owned()],
            ),
        ];
        let script = |(operation, statements)| {
            let key_member = self.records.key_member.clone();
            (operation, OperationScript { statements, undo: None, key_member, may_be_stale: false })
        };
        all.into_iter().map(script).collect()
    }

    /// A job over the loaded documents.
    pub(crate) fn job(&self, shares: &[(Operation, f64)], clients: u32, operations: u64) -> Job {
        let records =
            JobRecords::Own { records: Box::new(self.records.clone()), baseline: self.baseline_path() };
        let loaded = self.records.documents;
        Job { records, loaded, scripts: self.scripts(), ..support::job(shares, clients, operations) }
    }

    /// Reads the baseline by the statements of these operations.
    pub(crate) fn read_baseline(
        self: &Arc<Self>,
        operations: &[Operation],
    ) -> std::result::Result<BaselineReport, Failure> {
        let mut scripts = self.scripts();
        scripts.retain(|operation, _| operations.contains(operation));
        let read = BaselineRead {
            records: self.records.clone(),
            scripts,
            baseline: self.baseline_path(),
            timeout_s: 5.0,
        };
        let open = SessionOptions { protocol: "memory".to_owned(), ..SessionOptions::default() };
        let host = DriverContext { clock: Arc::new(MonotonicClock::new()), output: None };
        let target = JobTarget { open: &open, location: EngineLocation::InProcess, host: &host };
        let job = serde_json::json!({ READ_BASELINE: serde_json::to_value(read).unwrap() });
        let report = self.clients().drive(&job, &target, &mut |_| {})?;
        Ok(serde_json::from_value(report).unwrap())
    }

    /// Clients that connect to the store.
    pub(crate) fn clients(self: &Arc<Self>) -> LoadGenerator {
        let store = Arc::clone(self);
        LoadGenerator::with_opener(move |_, _, _| {
            Ok(Box::new(OwnMemory { store: Arc::clone(&store), statements: Vec::new(), answer: None }))
        })
    }

    fn read(&self, documents: &BTreeMap<Key, Versions>, key: &Key) -> Option<String> {
        let versions = documents.get(key)?;
        let mut text = versions.current.to_string();
        if self.is_due(Fault::Stale)
            && let Some(previous) = &versions.previous
        {
            text = previous.to_string();
        }
        if self.is_due(Fault::Swapped)
            && let Some((_, next)) = documents.range(key.clone()..).nth(1)
        {
            text = next.current.to_string();
        }
        if self.is_due(Fault::Torn) {
            let end = text.floor_char_boundary(text.len() / 2);
            text.truncate(end);
        }
        Some(text)
    }

    fn set(&self, versions: &mut Versions, value: Value) {
        versions.previous = Some(versions.current.clone());
        if self.is_due(Fault::Damaged) {
            versions.current["damage"] = Value::Bool(true);
        }
        let is_integer =
            self.records.update.as_ref().is_some_and(|update| update.kind == UpdateKind::Integer);
        assert_eq!(value.is_i64(), is_integer, "a value of another type is set");
        *versions.current.pointer_mut(&self.update).unwrap() = value;
    }
}

fn key_of(value: &Value) -> Key {
    value.as_i64().map_or_else(|| Key::Text(value.as_str().unwrap().to_owned()), Key::Integer)
}

#[derive(Debug, Default)]
struct Answer {
    columns: Vec<String>,
    rows: Vec<Vec<Value>>,
    affected: Option<u64>,
}

struct OwnMemory {
    store: Arc<OwnStore>,
    statements: Vec<String>,
    answer: Option<Result<Answer>>,
}

impl OwnMemory {
    fn execute(&self, verb: &str, parameters: &[Parameter<'_>]) -> Result<Answer> {
        let store = &self.store;
        let value = |at: usize| match parameters[at] {
            Parameter::Text(text) => Value::from(text),
            Parameter::Int(number) => Value::from(number),
            Parameter::Json(text) => serde_json::from_str(text).unwrap(),
            other => panic!("{other:?} is no value"),
        };
        if matches!(verb, "begin" | "commit") {
            return Ok(Answer::default());
        }
        let mut documents = store.documents.lock().unwrap();
        let key = key_of(&value(0));
        let wrote = |affected: u64| Ok(Answer { affected: Some(affected), ..Answer::default() });
        let columns = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        let is_write = !matches!(verb, "read" | "paths" | "scan");
        if is_write && store.is_due(Fault::Lost) {
            documents.remove(&key);
            return wrote(1);
        }
        match verb {
            "read" => {
                let rows = store.read(&documents, &key).map(|text| vec![Value::from(text)]);
                Ok(Answer { columns: columns(&["doc"]), rows: rows.into_iter().collect(), affected: None })
            }
            "paths" => {
                let row = documents.get(&key).map(|versions| {
                    let cell = |path: &String| versions.current.pointer(path).cloned().unwrap_or_default();
                    store.paths.iter().map(cell).collect()
                });
                Ok(Answer { columns: store.paths.clone(), rows: row.into_iter().collect(), affected: None })
            }
            "scan" => {
                let limit = usize::try_from(value(1).as_i64().unwrap()).unwrap();
                let begin = match store.is_due(Fault::Restarted) {
                    true => documents.keys().next().cloned().unwrap(),
                    false => key,
                };
                let keys: Vec<Key> =
                    documents.range(begin..).take(limit).map(|(key, _)| key.clone()).collect();
                let mut rows: Vec<Vec<Value>> = keys
                    .iter()
                    .map(|key| {
                        let shown = match key {
                            Key::Integer(key) => Value::from(*key),
                            Key::Text(key) => Value::from(key.as_str()),
                        };
                        vec![shown, Value::from(store.read(&documents, key).unwrap())]
                    })
                    .collect();
                if rows.len() > 2 && store.is_due(Fault::Omitted) {
                    rows.remove(1);
                }
                if !rows.is_empty() && store.is_due(Fault::Doubled) {
                    rows.insert(1, rows[0].clone());
                }
                Ok(Answer { columns: columns(&["key", "doc"]), rows, affected: None })
            }
            "update" | "swap" => match documents.get_mut(&key) {
                Some(versions)
                    if verb == "update" || versions.current.pointer(&store.update) == Some(&value(1)) =>
                {
                    store.set(versions, value(parameters.len() - 1));
                    wrote(1)
                }
                _ => wrote(0),
            },
            "replace" => match documents.get_mut(&key) {
                Some(versions) => {
                    versions.previous = Some(std::mem::replace(&mut versions.current, value(1)));
                    wrote(1)
                }
                None => wrote(0),
            },
            "insert" => {
                let document = Versions { current: value(1), previous: None };
                match documents.insert(key, document) {
                    None => wrote(1),
                    Some(_) => Err(DriverError::Duplicate("there already".to_owned())),
                }
            }
            "delete" => wrote(u64::from(documents.remove(&key).is_some())),
            other => panic!("no such statement: {other}"),
        }
    }
}

impl NonblockingConnection for OwnMemory {
    fn prepare(&mut self, statement: &str) -> Result<PreparedStatement> {
        self.statements.push(statement.split(' ').next().unwrap().to_owned());
        Ok(PreparedStatement::numbered(self.statements.len() - 1))
    }

    fn send(&mut self, prepared: &PreparedStatement, parameters: &[Parameter<'_>]) -> Result<()> {
        self.answer = Some(self.execute(&self.statements[prepared.number()], parameters));
        Ok(())
    }

    fn receive(&mut self, _: bool, sink: &mut dyn RowSink) -> Result<Option<StatementStats>> {
        let answer = self.answer.take().unwrap()?;
        if !answer.columns.is_empty() {
            sink.columns(&answer.columns.iter().map(String::as_str).collect::<Vec<_>>())?;
        }
        for row in &answer.rows {
            let cells: Vec<Cell<'_>> = row
                .iter()
                .map(|value| match value {
                    Value::Null => Cell::Null,
                    Value::Bool(truth) => Cell::Bool(*truth),
                    Value::Number(number) => {
                        number.as_i64().map_or(Cell::Float(number.as_f64().unwrap()), Cell::Int)
                    }
                    Value::String(text) => Cell::Text(text),
                    other => panic!("{other} is no scalar value"),
                })
                .collect();
            sink.row(&cells)?;
        }
        Ok(Some(StatementStats { affected: answer.affected, ..StatementStats::default() }))
    }

    fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        None
    }

    fn close(self: Box<Self>) {}
}
