//! Reads all documents once after the load, so that clients know what the system gives back of each.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use jsonathlon_dataset::DataError;
use jsonathlon_dataset::own_records::{BaselineReader, OwnKey, OwnRecords, OwnScratch, UpdateKind};
use jsonathlon_dataset::records::KeyType;
use jsonathlon_driver_api::{Cell, NonblockingConnection, Parameter, PreparedStatement, Result, RowSink};
use jsonathlon_worker::protocol::{Failure, FailureKind, Progress};
use serde::{Deserialize, Serialize};

pub use jsonathlon_dataset::own_records::BaselineReport;

use crate::client;
use crate::job::OperationScript;
use crate::loaded_records::{ParameterTypes, own_key};
use crate::operation::Operation;
use crate::point_reader::{KeyValue, PointReader};
use crate::script::{OperationPlan, ParameterSource};

/// Rows and bytes that one scan reads at most.
const MAX_ROWS: u64 = 1_000;
const MAX_BYTES: u64 = 8 << 20;
/// Number of documents read one by one between two progress messages.
const STRIDE: u64 = 256;

/// Request to read all own documents once after a load, and to write what the system gives back of them to a
/// file that the jobs over this load name.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BaselineRead {
    /// Description of the documents and their keys.
    pub records: OwnRecords,
    /// Statements of scan and read. Documents are read by scans if there is a script for them; those that no
    /// scan has found are read one by one.
    pub scripts: BTreeMap<Operation, OperationScript>,
    /// File into which the baseline is written. Documents that the load changed are kept in files beside it.
    pub baseline: PathBuf,
    /// Time limit of one statement in seconds, above 0.
    pub timeout_s: f64,
}

type Outcome<T> = std::result::Result<T, Failure>;

fn failure(kind: FailureKind, message: impl Into<String>) -> Failure {
    Failure { kind, message: message.into() }
}

fn file_failure(error: DataError) -> Failure {
    failure(FailureKind::MachineFailure, error.to_string())
}

/// Reads the documents over one connection and writes the file.
///
/// # Errors
/// [`FailureKind::MachineFailure`] if a file cannot be read or written, [`FailureKind::InvalidRequest`] if
/// there is neither scan nor read or a script is invalid, or the driver's failure if the system cannot be
/// queried.
pub(crate) fn read_baseline(
    job: &BaselineRead,
    protocol: &str,
    open_connection: &dyn Fn() -> Result<Box<dyn NonblockingConnection>>,
    report_progress: &mut dyn FnMut(Progress),
) -> Outcome<BaselineReport> {
    let records = &job.records;
    let types = ParameterTypes {
        integer_key: records.key_type == KeyType::Bigint,
        integer_value: records.update.as_ref().is_some_and(|update| update.kind == UpdateKind::Integer),
    };
    let plan = |operation| {
        let script = job.scripts.get(&operation);
        let plan = script.map(|script| OperationPlan::new(operation, script, protocol, types, 1)).transpose();
        plan.map_err(|message| failure(FailureKind::InvalidRequest, message))
    };
    let (scan, read) = (plan(Operation::Scan)?, plan(Operation::Read)?);
    if scan.is_none() && read.is_none() {
        let message = "documents cannot be read back after the load: there is neither a scan nor a read";
        return Err(failure(FailureKind::InvalidRequest, message));
    }
    let mut baseline = BaselineReader::new(records, &job.baseline).map_err(file_failure)?;
    let connect = || -> Outcome<_> {
        let connection = open_connection()?;
        let timeout = Duration::try_from_secs_f64(job.timeout_s).ok();
        client::limit(connection.descriptor(), timeout.filter(|timeout| !timeout.is_zero()));
        Ok(connection)
    };
    let mut progress = |done: u64| {
        let total = Some(records.documents);
        report_progress(Progress { done, total, unit: "documents".to_owned() });
    };
    if let Some(plan) = &scan
        && records.documents > 0
    {
        scan_all(&mut baseline, plan, connect()?, &mut progress)?;
    }
    if let Some(plan) = &read {
        read_absent(&mut baseline, plan, connect, &mut progress)?;
    }
    baseline.finish().map_err(file_failure)
}

/// Reads the documents in key order, a page at a time. The first page begins below every key, and each
/// further one with the last key of the one before, so that no row of another document is passed over.
fn scan_all(
    baseline: &mut BaselineReader,
    plan: &OperationPlan,
    mut connection: Box<dyn NonblockingConnection>,
    progress: &mut dyn FnMut(u64),
) -> Outcome<()> {
    let prepared: Vec<PreparedStatement> =
        plan.statements.iter().map(|statement| connection.prepare(&statement.text)).collect::<Result<_>>()?;
    let mut start = match baseline.set().records().key_type {
        KeyType::Bigint => KeyValue::Integer(i64::MIN),
        KeyType::Text => KeyValue::Text(String::new()),
    };
    // Number of rows with the key `start` that earlier pages had.
    let mut taken: u64 = 0;
    let mut next = 0;
    loop {
        let limit = baseline.set().rows_within(next, MAX_ROWS, MAX_BYTES).max(1) + taken.max(1);
        let mut page = PageSink::new(baseline, start.clone(), taken);
        for (statement, prepared) in plan.statements.iter().zip(&prepared) {
            let parameters: Vec<Parameter<'_>> = statement
                .fillers
                .iter()
                .map(|(filler, _)| match filler {
                    ParameterSource::Key => start.parameter(),
                    _ => Parameter::Int(limit.cast_signed()),
                })
                .collect();
            connection.send(prepared, &parameters)?;
            while connection.receive(true, &mut page)?.is_none() {}
        }
        let PageSink { rows, last, last_rows, error, number, .. } = page;
        if let Some(error) = error {
            return Err(file_failure(error));
        }
        progress(baseline.report().documents);
        let Some(last) = last.filter(|_| rows >= limit) else { break };
        if last < start || (last == start && last_rows <= taken) {
            // Such pages would never end.
            baseline.note_unexpected("a scan has rows that are not in the order of their keys".to_owned());
            break;
        }
        (start, taken) = (last, last_rows);
        next = number.map_or(next, |number| number + 1);
    }
    connection.close();
    Ok(())
}

/// Reads the documents that no scan has found one by one: all of them if there is no scan.
fn read_absent(
    baseline: &mut BaselineReader,
    plan: &OperationPlan,
    connect: impl FnOnce() -> Outcome<Box<dyn NonblockingConnection>>,
    progress: &mut dyn FnMut(u64),
) -> Outcome<()> {
    let documents = baseline.set().records().documents;
    let absent = (0..documents).find(|number| !baseline.set().is_present(*number));
    let Some(first) = absent else { return Ok(()) };
    let mut reader = PointReader::new(plan, connect()?)?;
    for number in first..documents {
        if baseline.set().is_present(number) {
            continue;
        }
        let key = key_of(baseline, number)?;
        if let Some(text) = reader.text(&key)? {
            baseline.observe(number, text.as_bytes()).map_err(file_failure)?;
        }
        if number % STRIDE == 0 {
            progress(number);
        }
    }
    reader.close();
    Ok(())
}

fn key_of(baseline: &BaselineReader, number: u64) -> Outcome<KeyValue> {
    let set = baseline.set();
    if set.records().key_type == KeyType::Bigint {
        return Ok(KeyValue::Integer(set.integer_key(number)));
    }
    let mut key = Vec::new();
    set.write_key(number, &mut key)
        .map_err(|error| failure(FailureKind::MachineFailure, format!("the keys cannot be read: {error}")))?;
    Ok(KeyValue::Text(String::from_utf8_lossy(&key).into_owned()))
}

/// Takes the rows of one page.
struct PageSink<'a> {
    baseline: &'a mut BaselineReader,
    scratch: OwnScratch,
    /// Key with which the page begins, and the number of its rows that earlier pages had.
    start: KeyValue,
    taken: u64,
    /// Number of its rows so far.
    start_rows: u64,
    key_column: usize,
    document_column: usize,
    rows: u64,
    /// Key of the last row, the number of rows that end the page with that key, and its record.
    last: Option<KeyValue>,
    last_rows: u64,
    number: Option<u64>,
    error: Option<DataError>,
}

impl<'a> PageSink<'a> {
    fn new(baseline: &'a mut BaselineReader, start: KeyValue, taken: u64) -> Self {
        Self {
            baseline,
            scratch: OwnScratch::default(),
            start,
            taken,
            start_rows: 0,
            key_column: 0,
            document_column: 1,
            rows: 0,
            last: None,
            last_rows: 0,
            number: None,
            error: None,
        }
    }

    fn take(&mut self, key: OwnKey<'_>, document: Option<&Cell<'_>>) -> std::result::Result<(), DataError> {
        let found = self.baseline.set().number(key, &mut self.scratch);
        let found = found.map_err(|source| DataError::Io {
            action: "read",
            path: self.baseline.set().records().folder.clone(),
            source,
        })?;
        let documents = self.baseline.set().records().documents;
        match (found.filter(|number| *number < documents), document) {
            (Some(number), Some(Cell::Text(text))) => {
                self.number = Some(number);
                self.baseline.observe(number, text.as_bytes())
            }
            (Some(number), _) => {
                let key = self.baseline.set().key_text(number);
                self.baseline.note_unexpected(format!("the key {key} has no document"));
                Ok(())
            }
            (None, _) => {
                let key = match key {
                    OwnKey::Integer(key) => key.to_string(),
                    OwnKey::Text(key) => String::from_utf8_lossy(key).into_owned(),
                };
                self.baseline.note_unexpected(format!("the key {key} is that of no document"));
                Ok(())
            }
        }
    }
}

impl RowSink for PageSink<'_> {
    fn columns(&mut self, names: &[&str]) -> Result<()> {
        let column = |expected: &str| names.iter().position(|name| name.eq_ignore_ascii_case(expected));
        self.key_column = column("key").unwrap_or(0);
        self.document_column = column("doc").unwrap_or(names.len().saturating_sub(1));
        self.rows = 0;
        Ok(())
    }

    fn row(&mut self, cells: &[Cell<'_>]) -> Result<()> {
        self.rows += 1;
        let key_type = self.baseline.set().records().key_type;
        let Some(key) = own_key(cells.get(self.key_column), key_type) else {
            self.baseline.note_unexpected("a row has no key".to_owned());
            return Ok(());
        };
        let value = match key {
            OwnKey::Integer(key) => KeyValue::Integer(key),
            OwnKey::Text(key) => KeyValue::Text(String::from_utf8_lossy(key).into_owned()),
        };
        self.start_rows += u64::from(value == self.start);
        let is_taken = value == self.start && self.start_rows <= self.taken;
        if !is_taken
            && self.error.is_none()
            && let Err(error) = self.take(key, cells.get(self.document_column))
        {
            self.error = Some(error);
        }
        self.last_rows = if self.last.as_ref() == Some(&value) { self.last_rows + 1 } else { 1 };
        self.last = Some(value);
        Ok(())
    }
}
