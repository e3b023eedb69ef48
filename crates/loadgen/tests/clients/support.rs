//! An in-memory system with configurable faults.

use std::collections::BTreeMap;
use std::os::fd::BorrowedFd;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use jsonathlon_dataset::records::{RecordSet, Records};
use jsonathlon_driver_api::driver::{DriverContext, EngineLocation, SessionOptions};
use jsonathlon_driver_api::{
    Cell, DriverError, NonblockingConnection, Parameter, PreparedStatement, Result, RowSink, StatementStats,
};
use jsonathlon_loadgen::job::{Job, OperationScript};
use jsonathlon_loadgen::load_generator::LoadGenerator;
use jsonathlon_loadgen::mix::{Mix, RequestDistribution};
use jsonathlon_loadgen::operation::Operation;
use jsonathlon_loadgen::report::JobReport;
use jsonathlon_stats::arrival::Arrival;
use jsonathlon_telemetry::clock::MonotonicClock;
use jsonathlon_telemetry::stop_condition::StopCondition;
use jsonathlon_worker::JobTarget;
use jsonathlon_worker::protocol::Failure;
use serde_json::Value;

/// Faults of the system. Each value is the period in answers or statements; 0 disables the fault.
#[derive(Debug, Default)]
pub(crate) struct Faults {
    /// The answer belongs to another key.
    pub(crate) other: AtomicU64,
    /// The answer is truncated.
    pub(crate) cut: AtomicU64,
    /// The answer is the document in its loaded version.
    pub(crate) old: AtomicU64,
    /// A write is acknowledged but not executed.
    pub(crate) lost: AtomicU64,
    /// A write is aborted because of a conflict.
    pub(crate) conflict: AtomicU64,
    /// The connection breaks after a write was executed, before it is acknowledged.
    pub(crate) broken: AtomicU64,
    /// A statement is refused with an error.
    pub(crate) refused: AtomicU64,
    /// A scan omits its second document.
    pub(crate) omitted: AtomicU64,
    count: AtomicU64,
}

impl Faults {
    fn is_due(&self, fault: &AtomicU64) -> bool {
        let every = fault.load(Ordering::Relaxed);
        every > 0 && self.count.fetch_add(1, Ordering::Relaxed) % every == every - 1
    }
}

/// The table of the system, shared by all connections.
#[derive(Debug)]
pub(crate) struct Store {
    pub(crate) set: RecordSet,
    documents: Mutex<BTreeMap<String, Value>>,
    pub(crate) faults: Faults,
    pub(crate) undone: AtomicU64,
    /// Number of checkpoint queries so far. From the fourth query on, the second checkpoint has started.
    pub(crate) asked: AtomicU64,
}

impl Store {
    pub(crate) fn new(records: &Records, loaded: u64) -> Arc<Self> {
        let set = records.prepare().unwrap();
        let document = |number: u64| {
            let (mut key, mut text) = (Vec::new(), Vec::new());
            set.key(number, &mut key);
            set.document(number, 0, &mut text);
            (String::from_utf8(key).unwrap(), serde_json::from_slice(&text).unwrap())
        };
        let documents = Mutex::new((0..loaded).map(document).collect());
        Arc::new(Self {
            set,
            documents,
            faults: Faults::default(),
            undone: AtomicU64::new(0),
            asked: AtomicU64::new(0),
        })
    }

    /// Stores a null document under the key of a record without notifying the clients.
    pub(crate) fn put(&self, number: u64) {
        let mut key = Vec::new();
        self.set.key(number, &mut key);
        self.documents.lock().unwrap().insert(String::from_utf8(key).unwrap(), Value::Null);
    }

    /// Removes a record without notifying the clients.
    pub(crate) fn take(&self, number: u64) {
        let mut key = Vec::new();
        self.set.key(number, &mut key);
        assert!(self.documents.lock().unwrap().remove(&String::from_utf8(key).unwrap()).is_some());
    }

    /// A copy of all documents by key.
    pub(crate) fn all(&self) -> BTreeMap<String, Value> {
        self.documents.lock().unwrap().clone()
    }

    pub(crate) fn len(&self) -> usize {
        self.documents.lock().unwrap().len()
    }
}

#[derive(Debug, Default)]
struct Answer {
    columns: &'static [&'static str],
    rows: Vec<Vec<String>>,
    counts: Vec<i64>,
    affected: Option<u64>,
}

/// One connection to the store.
pub(crate) struct Memory {
    store: Arc<Store>,
    statements: Vec<String>,
    answer: Option<Result<Answer>>,
    is_broken: bool,
}

impl Memory {
    pub(crate) fn new(store: &Arc<Store>) -> Self {
        Self { store: Arc::clone(store), statements: Vec::new(), answer: None, is_broken: false }
    }

    fn execute(&mut self, verb: &str, parameters: &[Parameter<'_>]) -> Result<Answer> {
        let store = Arc::clone(&self.store);
        let faults = &store.faults;
        let text = |at: usize| match parameters.get(at) {
            Some(Parameter::Text(text) | Parameter::Json(text)) => (*text).to_owned(),
            other => panic!("no text {other:?}"),
        };
        let int = |at: usize| match parameters.get(at) {
            Some(Parameter::Int(number)) => usize::try_from(*number).unwrap(),
            other => panic!("no number {other:?}"),
        };
        if !matches!(verb, "begin" | "commit" | "rollback") {
            if faults.is_due(&faults.refused) {
                return Err(DriverError::Refused("no".to_owned()));
            }
            if !matches!(verb, "read" | "scan") && faults.is_due(&faults.conflict) {
                return Err(DriverError::Conflict("deadlock".to_owned()));
            }
        }
        let mut documents = store.documents.lock().unwrap();
        let is_lost = !matches!(verb, "read" | "scan" | "begin" | "commit") && faults.is_due(&faults.lost);
        let wrote = |affected: u64| Answer { affected: Some(affected), ..Answer::default() };
        let shown = |key: &str, document: &Value| -> String {
            let number = store.set.records().number(key.as_bytes()).unwrap();
            let mut loaded = Vec::new();
            if faults.is_due(&faults.old) {
                store.set.document(number, 0, &mut loaded);
                return String::from_utf8(loaded).unwrap();
            }
            if faults.is_due(&faults.other) {
                store.set.document(number + 1, 0, &mut loaded);
                return String::from_utf8(loaded).unwrap();
            }
            let mut text = document.to_string();
            if faults.is_due(&faults.cut) {
                text.truncate(text.len() - 1);
            }
            text
        };
        let answer = match verb {
            "begin" | "commit" => Answer::default(),
            "rollback" => {
                store.undone.fetch_add(1, Ordering::Relaxed);
                Answer::default()
            }
            "read" => {
                let key = text(0);
                let rows = documents.get(&key).map(|document| vec![shown(&key, document)]);
                Answer { columns: &["doc"], rows: rows.into_iter().collect(), ..Answer::default() }
            }
            "paths" => {
                let key = text(0);
                let of = |document: &Value| {
                    [0, 4, 8].map(|at| document[format!("field{at}")].as_str().unwrap().to_owned()).to_vec()
                };
                let rows = documents.get(&key).map(of);
                Answer { columns: &["p0", "p1", "p2"], rows: rows.into_iter().collect(), ..Answer::default() }
            }
            "scan" => {
                let mut rows: Vec<Vec<String>> = documents
                    .range(text(0)..)
                    .take(int(1))
                    .map(|(key, document)| vec![key.clone(), shown(key, document)])
                    .collect();
                if rows.len() > 2 && faults.is_due(&faults.omitted) {
                    rows.remove(1);
                }
                Answer { columns: &["key", "doc"], rows, ..Answer::default() }
            }
            "find" | "count" => {
                let wanted = text(0);
                let found: Vec<Vec<String>> = documents
                    .iter()
                    .filter(|(_, document)| document["field9"].as_str() == Some(&wanted))
                    .map(|(key, document)| vec![key.clone(), shown(key, document)])
                    .collect();
                if verb == "count" {
                    Answer { columns: &["documents"], counts: vec![found.len() as i64], ..Answer::default() }
                } else {
                    let rows = found.into_iter().take(int(1)).collect();
                    Answer { columns: &["key", "doc"], rows, ..Answer::default() }
                }
            }
            "unwrap" | "unwrap-elements" => {
                let key = text(0);
                let number = store.set.records().number(key.as_bytes()).unwrap();
                let rows = documents.get(&key).map_or(Vec::new(), |document| {
                    let elements = document["list"].as_array().unwrap().iter().enumerate();
                    let satisfying = elements.filter(|(at, _)| store.set.satisfies(number, *at));
                    let shown = satisfying.map(|(_, element)| match verb {
                        "unwrap" => vec![element["value"].as_str().unwrap().to_owned()],
                        _ => vec![element.to_string()],
                    });
                    shown.collect()
                });
                let skipped = usize::from(!rows.is_empty() && faults.is_due(&faults.omitted));
                let rows = rows.into_iter().skip(skipped).collect();
                Answer { columns: &["value"], rows, ..Answer::default() }
            }
            "unwrap-all" => {
                let satisfying = documents.iter().map(|(key, document)| {
                    let number = store.set.records().number(key.as_bytes()).unwrap();
                    let elements = 0..document["list"].as_array().unwrap().len();
                    elements.filter(|at| store.set.satisfies(number, *at)).count() as i64
                });
                let skipped = i64::from(faults.is_due(&faults.omitted));
                let counts = vec![satisfying.sum::<i64>() - skipped];
                Answer { columns: &["elements"], counts, ..Answer::default() }
            }
            "element" => {
                let mut wrote_one = 0;
                if let Some(document) = documents.get_mut(&text(0)) {
                    let members = document["list"].as_array().unwrap().len();
                    document["list"][members / 2]["value"] = Value::String(text(1));
                    wrote_one = 1;
                }
                wrote(wrote_one)
            }
            "load" => {
                // The key is a member of the document itself.
                let all: Vec<Value> = serde_json::from_str(&text(0)).unwrap();
                let count = all.len() as u64;
                for document in all {
                    let key = document["_id"].as_str().unwrap().to_owned();
                    assert!(documents.insert(key, document).is_none());
                }
                wrote(count)
            }
            "versioned" => {
                let key = text(0);
                let rows = documents.get(&key).map(|document| vec![shown(&key, document), "7".to_owned()]);
                Answer { columns: &["doc", "seq"], rows: rows.into_iter().collect(), ..Answer::default() }
            }
            "update-if" => {
                assert_eq!(text(2), "7");
                documents.get_mut(&text(0)).unwrap()["field0"] = Value::String(text(1));
                wrote(1)
            }
            "update" => match documents.get_mut(&text(0)) {
                Some(document) => {
                    if !is_lost {
                        document["field0"] = Value::String(text(1));
                    }
                    wrote(1)
                }
                None => wrote(0),
            },
            "swap" => match documents.get_mut(&text(0)) {
                Some(document) if document["field0"].as_str() == Some(&text(1)) => {
                    document["field0"] = Value::String(text(2));
                    wrote(1)
                }
                _ => wrote(0),
            },
            "replace" => match documents.get_mut(&text(0)) {
                Some(document) => {
                    *document = serde_json::from_str(&text(1)).unwrap();
                    wrote(1)
                }
                None => wrote(0),
            },
            "insert" => {
                let key = text(0);
                if documents.contains_key(&key) {
                    return Err(DriverError::Duplicate("there already".to_owned()));
                }
                if !is_lost {
                    documents.insert(key, serde_json::from_str(&text(1)).unwrap());
                }
                wrote(1)
            }
            "checkpoints" => {
                let begun = if store.asked.fetch_add(1, Ordering::Relaxed) < 3 { "1" } else { "2" };
                let rows = vec![vec![begun.to_owned(), "0".to_owned()]];
                Answer { columns: &["checkpoints", "running"], rows, ..Answer::default() }
            }
            "delete" => wrote(u64::from(documents.remove(&text(0)).is_some())),
            other => panic!("no such statement: {other}"),
        };
        drop(documents);
        if answer.affected.is_some() && faults.is_due(&faults.broken) {
            self.is_broken = true;
            return Err(DriverError::Crashed("cut".to_owned()));
        }
        Ok(answer)
    }
}

impl NonblockingConnection for Memory {
    fn prepare(&mut self, statement: &str) -> Result<PreparedStatement> {
        self.statements.push(statement.split(' ').next().unwrap().to_owned());
        Ok(PreparedStatement::numbered(self.statements.len() - 1))
    }

    fn send(&mut self, prepared: &PreparedStatement, parameters: &[Parameter<'_>]) -> Result<()> {
        assert!(!self.is_broken, "a broken connection is used");
        let verb = self.statements[prepared.number()].clone();
        self.answer = Some(self.execute(&verb, parameters));
        Ok(())
    }

    fn receive(&mut self, _: bool, sink: &mut dyn RowSink) -> Result<Option<StatementStats>> {
        let answer = self.answer.take().unwrap()?;
        sink.columns(answer.columns)?;
        for row in &answer.rows {
            sink.row(&row.iter().map(|text| Cell::Text(text)).collect::<Vec<_>>())?;
        }
        for count in &answer.counts {
            sink.row(&[Cell::Int(*count)])?;
        }
        Ok(Some(StatementStats { affected: answer.affected, ..StatementStats::default() }))
    }

    fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        None
    }

    fn close(self: Box<Self>) {}
}

pub(crate) fn records() -> Records {
    Records::flat(3)
}

pub(crate) const LOADED: u64 = 1000;

/// The statements of the system for every operation.
pub(crate) fn scripts() -> BTreeMap<Operation, OperationScript> {
    let all: [(Operation, &[&str]); 13] = [
        (Operation::Read, &["read {{key}}"]),
        (Operation::ReadPaths, &["paths {{key}}"]),
        (Operation::Find, &["find {{condition}} {{limit}}"]),
        (Operation::Count, &["count {{condition}}"]),
        (Operation::Update, &["update {{key}} {{value}}"]),
        (Operation::UpdateAll, &["replace {{key}} {{document}}"]),
        (Operation::Insert, &["insert {{key}} {{document}}"]),
        (Operation::InsertBatch, &["begin", "insert {{key}} {{document}}", "commit"]),
        (Operation::Delete, &["delete {{key}}"]),
        (Operation::Scan, &["scan {{key}} {{limit}}"]),
        (Operation::ReadModifyWrite, &["begin", "read {{key}}", "swap {{key}} {{old}} {{value}}", "commit"]),
        (Operation::Unwrap, &["unwrap {{key}}"]),
        (Operation::UnwrapAll, &["unwrap-all"]),
    ];
    all.into_iter()
        .map(|(operation, statements)| {
            let script = OperationScript {
                statements: statements.iter().map(|text| (*text).to_owned()).collect(),
                undo: (statements.len() > 1).then(|| "rollback".to_owned()),
                key_member: None,
                may_be_stale: false,
            };
            (operation, script)
        })
        .collect()
}

pub(crate) fn job(shares: &[(Operation, f64)], clients: u32, operations: u64) -> Job {
    Job {
        records: records().into(),
        loaded: LOADED,
        load: "1".to_owned(),
        mix: Mix { name: "test".to_owned(), shares: shares.to_vec(), requests: RequestDistribution::Zipfian },
        scripts: scripts(),
        clients,
        threads: None,
        arrival: Arrival::Closed,
        ramp_s: 0.0,
        stop: StopCondition::Count { operations },
        seed: 5,
        verify: true,
        prepare: true,
        batch: 7,
        scan: 20,
        limit: 5,
        projection: jsonathlon_loadgen::paths::Projection::default(),
        retries: 10,
        timeout_s: 5.0,
        sampling_targets: Default::default(),
        writers_take_turns: false,
        ack_log: None,
        reports: None,
    }
}

/// Clients that connect to the store.
pub(crate) fn clients(store: &Arc<Store>) -> LoadGenerator {
    let store = Arc::clone(store);
    LoadGenerator::with_opener(move |_, _, _| Ok(Box::new(Memory::new(&store))))
}

pub(crate) fn run(clients: &mut LoadGenerator, job: &Job) -> std::result::Result<JobReport, Failure> {
    let open = SessionOptions { protocol: "memory".to_owned(), ..SessionOptions::default() };
    let host = DriverContext { clock: Arc::new(MonotonicClock::new()), output: None };
    clients.run(
        job,
        &JobTarget { open: &open, location: EngineLocation::InProcess, host: &host },
        &mut |_| {},
    )
}
