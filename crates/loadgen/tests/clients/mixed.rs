//! Writers and streams of mixed loads, on a table in memory.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use jsonathlon_dataset::questions::Question;
use jsonathlon_driver_api::batch::{BatchForm, BatchRows, BatchStatement, BatchTransfer};
use jsonathlon_driver_api::driver::{
    Connection, DocumentSource, DriverContext, EngineLocation, LoadSink, SessionOptions,
};
use jsonathlon_driver_api::rows::ResultSet;
use jsonathlon_driver_api::seen::{SeenForm, SeenPlaces, SeenWrapper};
use jsonathlon_driver_api::{DriverError, Parameter, PreparedStatement, Result, RowSink, StatementStats};
use jsonathlon_loadgen::mixed::job::{AskingJob, MixedJob, StreamQuestion, WritingJob};
use jsonathlon_loadgen::mixed::report::{BatchLog, MixedReport, WindowEnd};
use jsonathlon_loadgen::mixed::run_mixed;
use jsonathlon_mixed::SeenDocuments;
use jsonathlon_schema::value::Value;
use jsonathlon_telemetry::clock::MonotonicClock;
use jsonathlon_worker::JobTarget;

/// Number of documents of the pool.
const DOCUMENTS: u64 = 43;
/// Number of documents of a batch.
const BATCH: u32 = 4;
/// Number of writers, and of streams.
const CLIENTS: u32 = 2;

/// What goes wrong with the third batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fault {
    None,
    /// It is sent back.
    SentBack,
    /// The connection breaks before it is inserted.
    LostBefore,
    /// The connection breaks after it was inserted.
    LostAfter,
    /// The connection breaks after its first document was inserted.
    Torn,
    /// Every batch breaks its connection, and none is inserted.
    AlwaysLost,
}

/// The inserted documents by writer and number.
#[derive(Debug)]
struct Table {
    documents: Mutex<Vec<(u32, u64)>>,
    batches: AtomicU64,
    fault: Fault,
}

impl Table {
    fn insert(&self, rows: &str) -> Result<()> {
        let number = self.batches.fetch_add(1, Ordering::SeqCst) + 1;
        let is_meant = number == 3 || self.fault == Fault::AlwaysLost;
        let fault = if is_meant { self.fault } else { Fault::None };
        let lost = || Err(DriverError::Crashed("the connection broke".into()));
        let key = |row: &str| {
            let mut words = row.split(' ');
            (words.next().unwrap().parse().unwrap(), words.next().unwrap().parse().unwrap())
        };
        let keys = rows.lines().map(key);
        let mut documents = self.documents.lock().unwrap();
        match fault {
            Fault::SentBack => return Err(DriverError::Conflict("busy".into())),
            Fault::LostBefore | Fault::AlwaysLost => return lost(),
            Fault::Torn => documents.extend(keys.take(1)),
            Fault::None | Fault::LostAfter => documents.extend(keys),
        }
        if matches!(fault, Fault::LostAfter | Fault::Torn) { lost() } else { Ok(()) }
    }

    fn own(&self, writer: u32) -> ResultSet {
        let documents = self.documents.lock().unwrap();
        let numbers: Vec<u64> =
            documents.iter().filter(|(of, _)| *of == writer).map(|(_, number)| *number).collect();
        let highest = numbers.iter().max().map_or(Value::Null, |highest| integer(*highest));
        answer(&["documents", "highest"], vec![integer(numbers.len() as u64), highest])
    }

    /// The number of all documents, and what there is of each writer from its floor on.
    fn ask(&self, floors: &str) -> ResultSet {
        let documents = self.documents.lock().unwrap();
        let mut seen = Vec::new();
        for (writer, floor) in (0_u32..).zip(floors.split(',')) {
            let floor: u64 = floor.parse().unwrap();
            let of_writer = documents.iter().filter(|(of, number)| *of == writer && *number >= floor);
            let numbers: Vec<u64> = of_writer.map(|(_, number)| *number).collect();
            if let Some(highest) = numbers.iter().max() {
                seen.push([u64::from(writer), numbers.len() as u64, *highest]);
            }
        }
        let seen = Value::Text(serde_json::to_string(&seen).unwrap());
        answer(&["seen", "documents"], vec![seen, integer(documents.len() as u64)])
    }
}

fn integer(number: u64) -> Value {
    Value::Int(number.try_into().unwrap())
}

fn answer(columns: &[&str], row: Vec<Value>) -> ResultSet {
    let columns = columns.iter().map(|column| (*column).to_owned()).collect();
    ResultSet { columns, rows: vec![row], ..ResultSet::default() }
}

struct Client(Arc<Table>);

impl Connection for Client {
    fn version(&mut self) -> Result<String> {
        Ok("1".to_owned())
    }

    fn ask(&mut self, statement: &str, sink: &mut dyn RowSink) -> Result<StatementStats> {
        let (name, rest) = statement.split_once(' ').unwrap();
        let outcome = match name {
            "insert" => self.0.insert(rest).map(|()| ResultSet::default())?,
            "own" => self.0.own(rest.parse().unwrap()),
            _ => self.0.ask(rest),
        };
        outcome.replay(sink)
    }

    fn prepare(&mut self, statement: &str) -> Result<PreparedStatement> {
        Err(DriverError::Unsupported(statement.to_owned()))
    }

    fn execute(
        &mut self,
        _: &PreparedStatement,
        _: &[Parameter<'_>],
        _: &mut dyn RowSink,
    ) -> Result<StatementStats> {
        Err(DriverError::Unsupported("nothing is prepared".to_owned()))
    }

    fn bulk_in(&mut self, _: &str, _: &mut dyn DocumentSource, _: &mut dyn LoadSink) -> Result<u64> {
        Err(DriverError::Unsupported("nothing is loaded".to_owned()))
    }

    fn close(self: Box<Self>) -> Result<()> {
        Ok(())
    }
}

fn writing(pool: &std::path::Path, rate: Option<f64>) -> WritingJob {
    let lines: String = (0..DOCUMENTS).map(|number| format!("{{\"n\":{number}}}\n")).collect();
    std::fs::write(pool, lines).unwrap();
    WritingJob {
        pool: pool.to_owned(),
        documents: DOCUMENTS,
        dealt: DOCUMENTS,
        writers: CLIENTS,
        batch: BATCH,
        rate,
        form: BatchForm {
            transfer: BatchTransfer::Inline,
            statements: vec![BatchStatement { text: "insert {{rows}}".to_owned(), parameters: Vec::new() }],
            rows: BatchRows {
                row: "{{writer}} {{sequence}} {{document}}".to_owned(),
                separator: "\n".to_owned(),
                ..BatchRows::default()
            },
            undo: None,
            is_idempotent: false,
        },
        own_prefix: "own {{writer}}".to_owned(),
        take_turns: false,
        timeout_s: 5.0,
    }
}

fn asking(sets: Option<u32>) -> AskingJob {
    let question = |question: Question| StreamQuestion { question, statement: question.id().to_owned() };
    AskingJob {
        questions: Question::ALL[..5].iter().copied().map(question).collect(),
        form: Some(SeenForm {
            wrapper: SeenWrapper::Text("{{question}} {{ranges}}".to_owned()),
            range: "{{floor}}".to_owned(),
            range_separator: ",".to_owned(),
            places: SeenPlaces::default(),
        }),
        floors: vec![vec![0; CLIENTS as usize]; CLIENTS as usize],
        sets,
        seed: 1,
    }
}

fn run(job: &MixedJob, fault: Fault) -> (MixedReport, Vec<(u32, u64)>) {
    let table = Arc::new(Table { documents: Mutex::default(), batches: AtomicU64::new(0), fault });
    let open = SessionOptions { protocol: "memory".to_owned(), ..SessionOptions::default() };
    let host = DriverContext { clock: Arc::new(MonotonicClock::new()), output: None };
    let target = JobTarget { open: &open, location: EngineLocation::InProcess, host: &host };
    let opener = |_: &SessionOptions| Ok(Box::new(Client(Arc::clone(&table))) as Box<dyn Connection>);
    let report = run_mixed(job, &target, &opener, &mut |_| {}).unwrap();
    let documents = table.documents.lock().unwrap().clone();
    (report, documents)
}

/// Writers at a rate beside streams, until all documents are there.
fn run_beside(fault: Fault) -> MixedReport {
    let folder = tempfile::tempdir().unwrap();
    let job = MixedJob {
        writing: Some(writing(&folder.path().join("pool"), Some(400.0))),
        asking: Some(asking(None)),
        seconds: 30.0,
        max_seconds: 30.0,
        measured_from_s: 0.0,
    };
    let (report, documents) = run(&job, fault);
    assert_eq!(report.ended_by, WindowEnd::WritersEnded);
    let distinct: BTreeSet<(u32, u64)> = documents.iter().copied().collect();
    assert_eq!((documents.len(), distinct.len()), (DOCUMENTS as usize, DOCUMENTS as usize), "{documents:?}");
    for writer in &report.writers {
        assert_eq!(writer.error, None);
        let mut end = 0;
        for batch in &writer.batches {
            assert_eq!(batch.first, end, "{:?}", writer.batches);
            assert!(batch.due_ns.unwrap() <= batch.sent_ns, "{batch:?}");
            assert!(batch.sent_ns <= batch.acknowledged_ns.unwrap(), "{batch:?}");
            end = batch.end();
        }
    }
    let inserted: u64 = report.writers.iter().map(|writer| writer.batches.last().unwrap().end()).sum();
    assert_eq!(inserted, DOCUMENTS);
    report
}

fn sum(report: &MixedReport, count: impl Fn(&BatchLog) -> u64) -> u64 {
    report.writers.iter().flat_map(|writer| &writer.batches).map(count).sum()
}

#[test]
fn every_answer_tells_what_it_saw() {
    let report = run_beside(Fault::None);
    assert_eq!(sum(&report, |batch| u64::from(batch.retries) + u64::from(batch.was_recovered)), 0);
    let mut has_seen_some = false;
    for stream in &report.streams {
        assert!(stream.errors.is_empty() && !stream.questions.is_empty());
        for question in &stream.questions {
            assert!(question.start_ns <= question.end_ns);
            let seen = SeenDocuments::new(&question.floors, &question.seen).unwrap();
            let rows = &report.answers[question.answer as usize];
            assert_eq!(rows, &[vec![integer(seen.documents())]], "{question:?}");
            has_seen_some |= (1..DOCUMENTS).contains(&seen.documents());
        }
        let last = stream.questions.last().unwrap();
        assert_eq!(stream.floors, SeenDocuments::new(&last.floors, &last.seen).unwrap().next_floors());
    }
    assert!(has_seen_some, "otherwise nothing was beside anything");
    // Equal answers are kept once.
    let distinct: BTreeSet<String> = report.answers.iter().map(|rows| format!("{rows:?}")).collect();
    assert_eq!(distinct.len(), report.answers.len());
}

#[test]
fn batches_that_fail_are_inserted_once() {
    let outcome = |fault| {
        let report = run_beside(fault);
        let recovered = sum(&report, |batch| u64::from(batch.was_recovered));
        (sum(&report, |batch| u64::from(batch.retries)), recovered)
    };
    assert_eq!(outcome(Fault::SentBack), (1, 0));
    assert_eq!(outcome(Fault::LostBefore), (1, 0));
    assert_eq!(outcome(Fault::LostAfter), (0, 1));
    assert_eq!(outcome(Fault::Torn), (0, 1));
}

#[test]
fn a_batch_that_breaks_every_connection_is_given_up() {
    let folder = tempfile::tempdir().unwrap();
    let writing = WritingJob { timeout_s: 0.5, ..writing(&folder.path().join("pool"), None) };
    let job = MixedJob {
        writing: Some(writing),
        asking: None,
        seconds: 30.0,
        max_seconds: 30.0,
        measured_from_s: 0.0,
    };
    let (report, documents) = run(&job, Fault::AlwaysLost);
    assert!(documents.is_empty());
    for writer in &report.writers {
        let error = writer.error.as_ref().unwrap();
        assert!(error.contains("broke its connection for 0.5 s: ") && error.contains("broke"), "{error}");
        assert_eq!(writer.batches.iter().map(|batch| batch.acknowledged_ns).collect::<Vec<_>>(), [None]);
    }
}

#[test]
fn streams_alone_ask_as_many_sets_as_planned() {
    let job = MixedJob {
        writing: None,
        asking: Some(asking(Some(3))),
        seconds: 30.0,
        max_seconds: 30.0,
        measured_from_s: 0.0,
    };
    let (report, documents) = run(&job, Fault::None);
    assert!(documents.is_empty() && report.writers.is_empty());
    assert_eq!(report.ended_by, WindowEnd::Planned);
    for stream in &report.streams {
        let sets: Vec<u32> = stream.questions.iter().map(|question| question.set).collect();
        assert_eq!(sets, [[0; 5], [1; 5], [2; 5]].concat());
    }
    assert_eq!(report.answers.len(), 1);
}

#[test]
fn writers_alone_insert_as_fast_as_they_can() {
    let folder = tempfile::tempdir().unwrap();
    let job = MixedJob {
        writing: Some(writing(&folder.path().join("pool"), None)),
        asking: None,
        seconds: 30.0,
        max_seconds: 30.0,
        measured_from_s: 0.0,
    };
    let (report, documents) = run(&job, Fault::None);
    assert_eq!(documents.len() as u64, DOCUMENTS);
    assert_eq!((report.ended_by, report.streams.len()), (WindowEnd::WritersEnded, 0));
    assert!(report.writers.iter().flat_map(|writer| &writer.batches).all(|batch| batch.due_ns.is_none()));
}

#[test]
fn a_phase_goes_on_until_a_set_that_began_in_the_measured_time_is_finished() {
    let measured_from_s = 0.3;
    let job = MixedJob {
        writing: None,
        asking: Some(asking(None)),
        seconds: measured_from_s,
        max_seconds: 30.0,
        measured_from_s,
    };
    let (report, _) = run(&job, Fault::None);
    assert_eq!(report.ended_by, WindowEnd::Planned);
    for stream in &report.streams {
        let starts_of = |set: u32| {
            let questions = stream.questions.iter().filter(move |question| question.set == set);
            questions.map(|question| question.start_ns).collect::<Vec<u64>>()
        };
        let is_whole =
            |set: u32| starts_of(set).len() == 5 && starts_of(set).iter().all(|ns| *ns >= 300_000_000);
        assert!((0..=stream.questions.last().unwrap().set).any(is_whole));
    }
}
