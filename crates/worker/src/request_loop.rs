//! Worker side of the protocol: reads requests, runs them on one session and answers.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufRead, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use jsonathlon_driver_api::driver::{
    self, Connection, DocumentSource, DriverContext, DriverError, EngineLocation, LoadSink, SessionOptions,
    SharedOutput,
};
use jsonathlon_driver_api::parameter_marker;
use jsonathlon_driver_api::prepared::Parameter;
use jsonathlon_driver_api::rows::{Cell, ResultSet, RowSink};
use jsonathlon_schema::value::Value;
use jsonathlon_telemetry::clock::Clock;
use serde::Serialize;

use crate::connect::Connector;
use crate::file::{FileDocuments, KeyedDocuments, WholeFile, read_whole};
use crate::job_runner::{JobRunner, JobTarget};
use crate::load_progress::LoadProgress;
use crate::protocol::{
    AskReply, CloseReply, ExportReply, Failure, FailureKind, LoadMethod, LoadReply, Op, OpenReply,
    PROTOCOL_VERSION, PlanReply, Progress, ReadBackReply, Reject, Request, RowByName, RunReply, SettleReply,
};
use crate::usage::UsageMeter;

/// Interval between two checks whether background work has ended.
const SETTLE_INTERVAL: Duration = Duration::from_millis(20);
/// Interval between two progress messages of a request.
const PROGRESS_INTERVAL: Duration = Duration::from_millis(100);
/// Number of documents between two reads of the clock.
const PROGRESS_STRIDE: u64 = 256;
/// Largest number of rows of an answer.
const MOST_ROWS: usize = 1_000_000;
/// Placeholder of the document in the statement of [`LoadMethod::Parameter`].
const DOCUMENT: &str = "{{document}}";
/// Longest reason of a rejected document that is kept, in bytes: some systems repeat the document in the
/// reason.
const REASON_LIMIT: usize = 500;

/// Answers requests until `close` or the end of `input`, and then closes the session. `runner` runs the jobs
/// of clients; without it such requests are refused.
///
/// # Errors
/// If `input` cannot be read or `output` cannot be written. Failed requests are answers, not errors.
pub fn serve(
    input: impl BufRead,
    output: impl Write + Send + 'static,
    clock: Arc<dyn Clock>,
    runner: Option<&mut dyn JobRunner>,
) -> io::Result<()> {
    serve_shared(input, Arc::new(Mutex::new(output)), clock, runner)
}

/// As [`serve`], on a stream that the caller shares.
pub(super) fn serve_shared(
    mut input: impl BufRead,
    output: SharedOutput,
    clock: Arc<dyn Clock>,
    runner: Option<&mut dyn JobRunner>,
) -> io::Result<()> {
    let mut server = Server { session: None, output, clock, runner };
    let mut line = Vec::new();
    loop {
        line.clear();
        if input.read_until(b'\n', &mut line)? == 0 {
            break;
        }
        if server.answer(&line)? {
            return Ok(());
        }
    }
    // The coordinator is gone, so a failure to close cannot be reported.
    if let Some(session) = server.session {
        session.connection.close().ok();
    }
    Ok(())
}

struct Session {
    connection: Box<dyn Connection>,
    open: SessionOptions,
    folder: PathBuf,
    /// Message with which the system ended or closed the connection. `None` while the session is usable.
    loss_message: Option<String>,
}

struct Server<'a> {
    session: Option<Session>,
    output: SharedOutput,
    clock: Arc<dyn Clock>,
    runner: Option<&'a mut dyn JobRunner>,
}

type Answer<T> = Result<T, Failure>;

fn failure(kind: FailureKind, message: impl Into<String>) -> Failure {
    Failure { kind, message: message.into() }
}

impl Server<'_> {
    /// Answers one request. Returns `true` if the session is over.
    fn answer(&mut self, line: &[u8]) -> io::Result<bool> {
        let request: Request = match serde_json::from_slice(line) {
            Ok(request) => request,
            Err(error) => return self.refuse_invalid(line, &error).map(|()| false),
        };
        let is_last = matches!(request.op, Op::Close);
        self.perform(request.id, request.op)?;
        Ok(is_last)
    }

    /// Answers a line that is not a valid request.
    fn refuse_invalid(&mut self, line: &[u8], error: &serde_json::Error) -> io::Result<()> {
        // Even an invalid request usually has an id for the answer.
        #[derive(serde::Deserialize)]
        struct Id {
            id: u64,
        }
        let id = serde_json::from_slice::<Id>(line).map_or(0, |request| request.id);
        let error = failure(FailureKind::InvalidRequest, format!("not a request: {error}"));
        self.reply::<()>(id, Err(error))
    }

    /// Performs the operation of a request and writes its answer.
    fn perform(&mut self, id: u64, op: Op) -> io::Result<()> {
        match op {
            Op::Open { protocol, open } => {
                let answer = self.open(protocol, &open);
                self.reply(id, answer)
            }
            Op::Run { statements } => {
                let answer = self.run(&statements);
                self.reply(id, answer)
            }
            Op::Load { load, sync } => {
                let answer = self.load(id, &load, sync);
                self.reply(id, answer)
            }
            Op::Settle { statements, until_zero, limit_s, sync } => {
                let answer = self.settle(id, &statements, until_zero.as_deref(), limit_s, sync);
                self.reply(id, answer)
            }
            Op::Ask { statement } => {
                let answer = self.ask(&statement);
                self.reply(id, answer)
            }
            Op::Export { statement, values } => {
                let answer = self.export(values, |connection, take| connection.export(&statement, take));
                self.reply(id, answer)
            }
            Op::Read { statement } => {
                let answer = self.export(true, |connection, take| connection.texts(&statement, take));
                self.reply(id, answer)
            }
            Op::Plan { statement } => {
                let answer = self.execute(&statement).map(|outcome| PlanReply { text: plan_text(&outcome) });
                self.reply(id, answer)
            }
            Op::Sizes { statement } => {
                let answer = self.execute(&statement).and_then(metrics);
                self.reply(id, answer)
            }
            Op::ReadBack { statement } => {
                let answer = self.execute(&statement).and_then(read_documents);
                self.reply(id, answer)
            }
            Op::Drive { job } => {
                let answer = self.drive(id, &job);
                self.reply(id, answer)
            }
            Op::Close => {
                let answer = self.close();
                self.reply(id, answer)
            }
        }
    }

    fn reply<T: Serialize>(&mut self, id: u64, answer: Answer<T>) -> io::Result<()> {
        #[derive(Serialize)]
        #[serde(rename_all = "lowercase")]
        enum Body<T> {
            Ok(T),
            Error(Failure),
        }
        #[derive(Serialize)]
        struct Line<T> {
            id: u64,
            #[serde(flatten)]
            body: Body<T>,
        }
        let body = match answer {
            Ok(result) => Body::Ok(result),
            Err(failure) => {
                if failure.kind == FailureKind::Crashed
                    && let Some(session) = &mut self.session
                {
                    session.loss_message.get_or_insert_with(|| failure.message.clone());
                }
                Body::Error(failure)
            }
        };
        write_line(&self.output, &Line { id, body })
    }

    fn session(&mut self) -> Answer<&mut Session> {
        match &mut self.session {
            None => Err(failure(FailureKind::InvalidRequest, "no session is open: send `open` first")),
            // A lost connection is never reopened, even by drivers that could: whether the last statement was
            // executed is unknown.
            Some(Session { loss_message: Some(message), .. }) => {
                Err(failure(FailureKind::Crashed, format!("the session was lost before: {message}")))
            }
            Some(session) => Ok(session),
        }
    }

    fn location(&self) -> EngineLocation {
        self.session.as_ref().map_or(EngineLocation::InProcess, |session| session.connection.location())
    }

    fn open(&mut self, protocol: u32, open: &SessionOptions) -> Answer<OpenReply> {
        if protocol != PROTOCOL_VERSION {
            let text = format!(
                "this worker speaks protocol {PROTOCOL_VERSION}, not {protocol}: use one program for both"
            );
            return Err(failure(FailureKind::InvalidRequest, text));
        }
        if self.session.is_some() {
            return Err(failure(FailureKind::InvalidRequest, "a session is open already: one per worker"));
        }
        let host = DriverContext { clock: Arc::clone(&self.clock), output: Some(Arc::clone(&self.output)) };
        let meter = UsageMeter::start(&*self.clock, EngineLocation::InProcess);
        let connection =
            Connector::for_protocol(&open.protocol).and_then(|connector| connector.connect(open, &host));
        let (seconds, usage) = meter.stop(&*self.clock);
        let mut connection = connection?;
        let version = connection.version()?;
        let location = connection.location();
        self.session =
            Some(Session { connection, open: open.clone(), folder: open.folder.clone(), loss_message: None });
        Ok(OpenReply { version, location, seconds, usage })
    }

    fn execute(&mut self, statement: &str) -> Answer<ResultSet> {
        Ok(self.session()?.connection.collect(statement)?)
    }

    fn run_all(&mut self, statements: &[String]) -> Answer<()> {
        let session = self.session()?;
        for statement in statements {
            session.connection.collect(statement)?;
        }
        Ok(())
    }

    fn run(&mut self, statements: &[String]) -> Answer<RunReply> {
        let meter = UsageMeter::start(&*self.clock, self.location());
        let outcome = self.run_all(statements);
        let (seconds, usage) = meter.stop(&*self.clock);
        outcome.map(|()| RunReply { seconds, usage })
    }

    fn ask(&mut self, statement: &str) -> Answer<AskReply> {
        let clock = Arc::clone(&self.clock);
        let location = self.location();
        let session = self.session()?;
        let meter = UsageMeter::start(&*clock, location);
        let mut sink = BoundedRows::default();
        let report = session.connection.ask(statement, &mut sink);
        let (seconds, usage) = meter.stop(&*clock);
        Ok(AskReply { seconds, outcome: sink.0.with_stats(report?), usage })
    }

    fn export(
        &mut self,
        values: bool,
        read: impl FnOnce(&mut dyn Connection, &mut dyn FnMut(&[u8])) -> driver::Result<()>,
    ) -> Answer<ExportReply> {
        let clock = Arc::clone(&self.clock);
        let location = self.location();
        let session = self.session()?;
        let mut totals = LoadProgress::new(values);
        let meter = UsageMeter::start(&*clock, location);
        let outcome = read(&mut *session.connection, &mut |text| totals.add(text));
        let (seconds, usage) = meter.stop(&*clock);
        outcome?;
        let LoadProgress { documents, bytes, texts, values, error: message, .. } = totals;
        if let Some(message) = message {
            return Err(failure(FailureKind::Protocol, message));
        }
        Ok(ExportReply { seconds, documents, bytes, texts, values, usage })
    }

    fn drive(&mut self, id: u64, job: &serde_json::Value) -> Answer<serde_json::Value> {
        let host = DriverContext { clock: Arc::clone(&self.clock), output: Some(Arc::clone(&self.output)) };
        let output = Arc::clone(&self.output);
        // Also allowed after the session was lost, because clients open new connections.
        let Some(session) = &self.session else {
            return Err(failure(FailureKind::InvalidRequest, "no session is open: send `open` first"));
        };
        let Some(runner) = self.runner.as_deref_mut() else {
            return Err(failure(FailureKind::InvalidRequest, "this worker has no clients"));
        };
        let target = JobTarget { open: &session.open, location: session.connection.location(), host: &host };
        runner.drive(job, &target, &mut |progress| report_progress(&output, id, progress))
    }

    fn load(&mut self, id: u64, load: &LoadMethod, sync: bool) -> Answer<LoadReply> {
        let clock = Arc::clone(&self.clock);
        let mut documents = None;
        let mut rejects = Vec::new();
        let meter = UsageMeter::start(&*clock, self.location());
        match load {
            LoadMethod::Statement { statements } => self.run_all(statements)?,
            LoadMethod::Rows { statement, file }
            | LoadMethod::Keyed { statement, file }
            | LoadMethod::Whole { statement, file } => {
                let mut sink = Sink {
                    id,
                    output: Arc::clone(&self.output),
                    clock: Arc::clone(&clock),
                    last_report: clock.now(),
                    rejects: Vec::new(),
                };
                let mut input: Box<dyn DocumentSource> = match load {
                    LoadMethod::Whole { .. } => Box::new(WholeFile::open(file)?),
                    LoadMethod::Keyed { .. } => Box::new(KeyedDocuments::open(file)?),
                    _ => Box::new(FileDocuments::open(file)?),
                };
                let count = self.session()?.connection.bulk_in(statement, &mut *input, &mut sink);
                documents = Some(count?);
                rejects = sink.rejects;
            }
            LoadMethod::Parameter { statement, file } => self.load_parameter(statement, file)?,
        }
        let sync_seconds = self.sync(sync)?;
        let (seconds, usage) = meter.stop(&*clock);
        Ok(LoadReply { seconds, sync_seconds, documents, rejects, usage })
    }

    /// Executes a statement with the text of a file as its only parameter.
    fn load_parameter(&mut self, statement: &str, file: &Path) -> Answer<()> {
        let bytes = read_whole(file)?;
        let text = std::str::from_utf8(&bytes)
            .map_err(|_| failure(FailureKind::Unsupported, "a parameter is text, which is UTF-8"))?;
        let session = self.session()?;
        let statement = statement.replace(DOCUMENT, &parameter_marker(&session.open.protocol, 1));
        let prepared = session.connection.prepare(&statement)?;
        let outcome =
            session.connection.execute(&prepared, &[Parameter::Json(text)], &mut ResultSet::default());
        session.connection.release(&prepared);
        outcome?;
        Ok(())
    }

    /// Makes the whole file system of the data folder durable by `syncfs`. Returns the seconds this took.
    /// `None` unless `is_requested`.
    fn sync(&mut self, is_requested: bool) -> Answer<Option<f64>> {
        if !is_requested {
            return Ok(None);
        }
        let clock = Arc::clone(&self.clock);
        let folder = &self.session()?.folder;
        let started = clock.now();
        sync_file_system(folder).map_err(|error| {
            failure(FailureKind::MachineFailure, format!("failed to sync {}: {error}", folder.display()))
        })?;
        Ok(Some((clock.now() - started).as_secs_f64()))
    }

    fn settle(
        &mut self,
        id: u64,
        statements: &[String],
        until_zero: Option<&str>,
        limit_s: f64,
        sync: bool,
    ) -> Answer<SettleReply> {
        let clock = Arc::clone(&self.clock);
        // A negative limit or NaN means no waiting; a limit beyond the range of `Duration` means no limit.
        let limit = Duration::try_from_secs_f64(limit_s).unwrap_or(if limit_s > 0.0 {
            Duration::MAX
        } else {
            Duration::ZERO
        });
        let meter = UsageMeter::start(&*clock, self.location());
        let started = clock.now();
        self.run_all(statements)?;
        let mut remaining = 0;
        if let Some(statement) = until_zero {
            let mut last_report = started;
            loop {
                remaining = remaining_work(&self.execute(statement)?)?;
                if remaining == 0 || clock.now() - started >= limit {
                    break;
                }
                if clock.now() - last_report >= PROGRESS_INTERVAL {
                    last_report = clock.now();
                    let progress = Progress { done: remaining, total: None, unit: "remaining".into() };
                    report_progress(&self.output, id, progress);
                }
                clock.sleep(SETTLE_INTERVAL);
            }
        }
        let sync_seconds = self.sync(sync)?;
        let (seconds, usage) = meter.stop(&*clock);
        Ok(SettleReply { seconds, sync_seconds, remaining, usage })
    }

    fn close(&mut self) -> Answer<CloseReply> {
        let started = self.clock.now();
        if let Some(session) = self.session.take() {
            session.connection.close()?;
        }
        Ok(CloseReply { seconds: (self.clock.now() - started).as_secs_f64() })
    }
}

/// Collects an answer of up to [`MOST_ROWS`] rows; larger answers are not compared.
#[derive(Default)]
struct BoundedRows(ResultSet);

impl RowSink for BoundedRows {
    fn columns(&mut self, names: &[&str]) -> Result<(), DriverError> {
        self.0.columns(names)
    }

    fn row(&mut self, cells: &[Cell<'_>]) -> Result<(), DriverError> {
        if self.0.rows.len() >= MOST_ROWS {
            return Err(DriverError::Refused(format!(
                "the answer has more than {MOST_ROWS} rows, which are not compared: ask for fewer"
            )));
        }
        self.0.row(cells)
    }
}

fn write_line(output: &SharedOutput, line: &impl Serialize) -> io::Result<()> {
    let mut bytes = serde_json::to_vec(line)?;
    bytes.push(b'\n');
    let mut output = output.lock().unwrap_or_else(PoisonError::into_inner);
    output.write_all(&bytes)?;
    output.flush()
}

fn report_progress(output: &SharedOutput, id: u64, progress: Progress) {
    #[derive(Serialize)]
    struct Line {
        id: u64,
        progress: Progress,
    }
    // If the coordinator is gone, the next answer fails; a load must not fail because of a progress message.
    write_line(output, &Line { id, progress }).ok();
}

struct Sink {
    id: u64,
    output: SharedOutput,
    clock: Arc<dyn Clock>,
    last_report: Duration,
    rejects: Vec<Reject>,
}

impl LoadSink for Sink {
    fn reject(&mut self, ordinal: u64, mut reason: String) {
        if reason.len() > REASON_LIMIT {
            reason.truncate(reason.floor_char_boundary(REASON_LIMIT));
            reason.push('…');
        }
        self.rejects.push(Reject { line: ordinal, reason });
    }

    fn report_offered(&mut self, documents: u64) {
        if documents.is_multiple_of(PROGRESS_STRIDE)
            && self.clock.now() - self.last_report >= PROGRESS_INTERVAL
        {
            self.last_report = self.clock.now();
            let progress = Progress { done: documents, total: None, unit: "documents".into() };
            report_progress(&self.output, self.id, progress);
        }
    }
}

fn sync_file_system(folder: &Path) -> io::Result<()> {
    Ok(rustix::fs::syncfs(File::open(folder)?)?)
}

fn shape_error(message: String) -> Failure {
    failure(FailureKind::Protocol, message)
}

fn plan_text(outcome: &ResultSet) -> String {
    let mut text = String::new();
    for row in &outcome.rows {
        for (index, value) in row.iter().enumerate() {
            if index > 0 {
                text.push('\t');
            }
            match value {
                Value::Null => {}
                Value::Bool(truth) => text.push_str(&truth.to_string()),
                Value::Int(number) => text.push_str(&number.to_string()),
                Value::Float(number) => text.push_str(&number.to_string()),
                Value::Text(cell) => text.push_str(cell),
            }
        }
        text.push('\n');
    }
    text
}

fn metrics(outcome: ResultSet) -> Answer<RowByName> {
    let count = outcome.rows.len();
    let (Some(row), 1) = (outcome.rows.into_iter().next(), count) else {
        return Err(shape_error(format!("metrics are one row, and the statement gave {count}")));
    };
    let mut metrics = BTreeMap::new();
    for (name, value) in outcome.columns.into_iter().zip(row) {
        if matches!(value, Value::Float(number) if !number.is_finite()) {
            return Err(shape_error(format!("the metric `{name}` is not a finite number")));
        }
        if let Some(previous) = metrics.insert(name.clone(), value) {
            return Err(shape_error(format!("the metric `{name}` is there twice (first {previous:?})")));
        }
    }
    Ok(metrics)
}

fn read_documents(outcome: ResultSet) -> Answer<ReadBackReply> {
    let rows = outcome.rows.into_iter().filter_map(|row| match <[Value; 1]>::try_from(row) {
        Ok([Value::Text(document)]) => Some(Ok(document)),
        // The row exists, but the system did not keep the document itself.
        Ok([Value::Null]) => None,
        Ok([other]) => Some(Err(shape_error(format!("a document read back is text, not {other:?}")))),
        Err(row) => {
            Some(Err(shape_error(format!("documents are read back in one column, not {}", row.len()))))
        }
    });
    Ok(ReadBackReply { rows: rows.collect::<Answer<_>>()? })
}

/// Returns the single number of a statement that reports remaining work.
fn remaining_work(outcome: &ResultSet) -> Answer<u64> {
    match outcome.rows.as_slice() {
        [row] => match row.as_slice() {
            [Value::Int(number)] if *number >= 0 => Ok(number.unsigned_abs()),
            other => Err(shape_error(format!("what is left is one number from 0 up, not {other:?}"))),
        },
        rows => Err(shape_error(format!("what is left is one number, not {} rows", rows.len()))),
    }
}

#[cfg(test)]
#[path = "request_loop_tests.rs"]
mod tests;
