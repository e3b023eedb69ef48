//! Runs a mixed job: opens all connections, starts one thread for each, and decides when the window is over.

use std::thread::{Builder, ScopedJoinHandle};
use std::time::Duration;

use jsonathlon_driver_api::Connection;
use jsonathlon_driver_api::driver::{DriverError, SessionOptions};
use jsonathlon_stats::batch_schedule::BatchSchedule;
use jsonathlon_worker::protocol::{Failure, FailureKind, Progress};
use jsonathlon_worker::{JobTarget, UsageMeter};

use super::job::{AskingJob, MixedJob, WritingJob};
use super::pool_text::{PoolLimits, PoolText};
use super::report::{MixedReport, StreamLog, WindowEnd, WriterLog};
use super::state::MixedState;
use super::stream::Stream;
use super::writer::{Opener, PlannedBatch, Writer, WriterConnection, plan_batches, pool_file};
use crate::answer_store::AnswerStore;
use crate::reactor::monotonic_ns;
use crate::turns::Turns;

/// Opens a blocking connection with these options.
pub type ConnectionOpener<'a> =
    dyn Fn(&SessionOptions) -> Result<Box<dyn Connection>, DriverError> + Sync + 'a;

/// Time between starting the threads and the beginning of the phase.
const START_NOTICE_NS: u64 = 20_000_000;
/// Pause between two looks whether the window is over.
const LOOK_INTERVAL: Duration = Duration::from_millis(2);
/// Interval between two progress messages, in nanoseconds.
const PROGRESS_NS: u64 = 250_000_000;

/// Runs a job and returns what its writers and streams did.
///
/// # Errors
/// [`FailureKind::InvalidRequest`] if the job makes no sense. The driver's failure if a connection cannot be
/// opened; the message says how many could. [`FailureKind::UnreadableDocuments`] if a document cannot be part of a
/// batch.
pub fn run_mixed(
    job: &MixedJob,
    target: &JobTarget<'_>,
    open: &ConnectionOpener<'_>,
    report_progress: &mut dyn FnMut(Progress),
) -> Result<MixedReport, Failure> {
    if let Some(problem) = job.problem() {
        return Err(failure(FailureKind::InvalidRequest, problem));
    }
    let (writers, streams) = (writer_count(job), stream_count(job));
    // After the clients have started, another server process may listen on the same address.
    let single_attempt = target.open.with_single_attempt();
    let reopen = || open(&single_attempt);
    let wanted = writers + streams;
    let mut connections = Vec::with_capacity(wanted);
    for _ in 0..wanted {
        let connection = open(target.open).map_err(|error| explain(error, connections.len(), wanted))?;
        connections.push(connection);
    }
    let stream_connections = connections.split_off(writers);
    let (batches, schedule) = match &job.writing {
        Some(writing) => {
            let schedule = schedule(writing)?;
            (plan(writing, schedule, job.max_seconds)?, schedule)
        }
        None => (Vec::new(), None),
    };
    let prepared = prepare(job, connections)?;
    let turns = Turns::default();
    let meter = UsageMeter::start(&*target.host.clock, target.location);
    let measured_from_ns = (job.measured_from_s * 1e9) as u64;
    let state = MixedState::new(monotonic_ns() + START_NOTICE_NS, measured_from_ns, writers, streams);
    let phase = Phase { job, state: &state, turns: &turns, reopen: &reopen, schedule };
    let (writer_logs, stream_results, (end_ns, ended_by)) =
        phase.run(prepared, batches, stream_connections, report_progress)?;
    let (_, usage) = meter.stop(&*target.host.clock);
    let mut report = MixedReport {
        start_ns: state.start_ns(),
        end_ns,
        ended_by,
        writers: writer_logs,
        usage,
        ..MixedReport::default()
    };
    let mut answers = AnswerStore::default();
    for (mut log, own_answers) in stream_results {
        let numbers = answers.absorb(own_answers);
        for question in &mut log.questions {
            question.answer = numbers.get(question.answer as usize).copied().unwrap_or(u32::MAX);
        }
        report.streams.push(log);
    }
    report.answers = answers.into_answers();
    Ok(report)
}

fn writer_count(job: &MixedJob) -> usize {
    job.writing.as_ref().map_or(0, |writing| writing.writers as usize)
}

fn stream_count(job: &MixedJob) -> usize {
    job.asking.as_ref().map_or(0, |asking| asking.floors.len())
}

fn failure(kind: FailureKind, message: impl Into<String>) -> Failure {
    Failure { kind, message: message.into() }
}

/// Adds to the failure of a connection how many were open already.
fn explain(error: DriverError, opened: usize, wanted: usize) -> Failure {
    let failure = Failure::from(error);
    if opened == 0 {
        return failure;
    }
    let message = format!("only {opened} of {wanted} connections could be opened: {}", failure.message);
    Failure { message, ..failure }
}

/// Makes the batches of all writers, but none that are due after `max_seconds`, except for the first of these.
fn plan(
    writing: &WritingJob,
    schedule: Option<BatchSchedule>,
    max_seconds: f64,
) -> Result<Vec<Vec<PlannedBatch>>, Failure> {
    let unreadable = |message: String| failure(FailureKind::UnreadableDocuments, message);
    let batches_of_writer =
        |schedule: BatchSchedule| (max_seconds * 1e9) as u64 / schedule.period_ns().max(1) + 2;
    let documents = schedule.map(batches_of_writer).map_or(u64::MAX, |batches| {
        batches.saturating_mul(writing.batch.into()).saturating_mul(writing.writers.into())
    });
    let limits = PoolLimits { documents, ..PoolLimits::default() };
    let pool = PoolText::read(pool_file(writing), limits).map_err(unreadable)?;
    let batches = (0..writing.writers).map(|writer| plan_batches(writing, &pool, writer));
    batches.collect::<Result<_, _>>().map_err(unreadable)
}

fn schedule(writing: &WritingJob) -> Result<Option<BatchSchedule>, Failure> {
    let schedule = writing
        .rate
        .map(|rate| BatchSchedule::new(u64::from(writing.writers), u64::from(writing.batch), rate));
    schedule.transpose().map_err(|message| failure(FailureKind::InvalidRequest, message))
}

/// Prepares the statements of all writers.
fn prepare(job: &MixedJob, connections: Vec<Box<dyn Connection>>) -> Result<Vec<WriterConnection>, Failure> {
    let Some(writing) = &job.writing else { return Ok(Vec::new()) };
    let prepared = connections.into_iter().map(|connection| WriterConnection::prepare(connection, writing));
    Ok(prepared.collect::<Result<_, _>>()?)
}

/// What the threads of a phase did, and when and why its window ended.
type PhaseResults = (Vec<WriterLog>, Vec<(StreamLog, AnswerStore)>, (u64, WindowEnd));

/// A phase that is ready to begin.
struct Phase<'p> {
    job: &'p MixedJob,
    state: &'p MixedState,
    turns: &'p Turns,
    reopen: &'p Opener<'p>,
    schedule: Option<BatchSchedule>,
}

impl<'p> Phase<'p> {
    fn run(
        &self,
        prepared: Vec<WriterConnection>,
        batches: Vec<Vec<PlannedBatch>>,
        stream_connections: Vec<Box<dyn Connection>>,
        report_progress: &mut dyn FnMut(Progress),
    ) -> Result<PhaseResults, Failure> {
        std::thread::scope(|scope| {
            let mut writer_threads = Vec::new();
            let mut stream_threads = Vec::new();
            let spawn = || {
                for (number, (connection, batches)) in (0..).zip(prepared.into_iter().zip(batches)) {
                    if let Some(writing) = &self.job.writing {
                        let writer = self.writer(number, writing, connection, batches);
                        let thread = Builder::new().name(format!("writer-{number}"));
                        writer_threads.push(thread.spawn_scoped(scope, move || writer.run())?);
                    }
                }
                for (number, connection) in (0..).zip(stream_connections) {
                    if let Some(asking) = &self.job.asking {
                        let stream = self.stream(number, asking, connection);
                        let thread = Builder::new().name(format!("stream-{number}"));
                        stream_threads.push(thread.spawn_scoped(scope, move || stream.run())?);
                    }
                }
                Ok::<_, std::io::Error>(())
            };
            if let Err(error) = spawn() {
                // Threads that have started end without having begun anything.
                self.state.end();
                let message = format!("cannot start a thread of a client: {error}");
                return Err(failure(FailureKind::MachineFailure, message));
            }
            let end = self.supervise(report_progress);
            Ok((join(writer_threads)?, join(stream_threads)?, end))
        })
    }

    fn writer(
        &self,
        number: u32,
        writing: &'p WritingJob,
        connection: WriterConnection,
        batches: Vec<PlannedBatch>,
    ) -> Writer<'p> {
        Writer {
            number,
            job: writing,
            schedule: self.schedule,
            batches,
            connection,
            longest_ns: 0,
            turns: writing.take_turns.then_some(self.turns),
            state: self.state,
            open: self.reopen,
        }
    }

    fn stream(&self, number: u32, asking: &'p AskingJob, connection: Box<dyn Connection>) -> Stream<'p> {
        let floors = asking.floors.get(number as usize).cloned().unwrap_or_default();
        Stream { number, job: asking, connection, floors, state: self.state, open: self.reopen }
    }

    /// Waits until the window is over and ends it. Returns when and why it ended. Threads then complete what they
    /// have begun.
    fn supervise(&self, report_progress: &mut dyn FnMut(Progress)) -> (u64, WindowEnd) {
        let unit = if self.job.writing.is_some() { "documents and questions" } else { "questions" };
        let mut next_report = 0;
        loop {
            let now = self.state.now();
            if let Some(reason) = self.window_end(now) {
                self.state.end();
                return (now, reason);
            }
            if now >= next_report {
                next_report = now + PROGRESS_NS;
                report_progress(Progress { done: self.state.done(), total: None, unit: unit.to_owned() });
            }
            std::thread::sleep(LOOK_INTERVAL);
        }
    }

    /// Why the window is over at this time. `None` if it is not.
    fn window_end(&self, now_ns: u64) -> Option<WindowEnd> {
        let MixedJob { writing, asking, seconds, max_seconds, .. } = self.job;
        let has_time = |seconds: f64| now_ns < (seconds * 1e9) as u64;
        if self.state.has_too_many_answers() {
            return Some(WindowEnd::TooManyAnswers);
        }
        if asking.is_some() && !self.state.has_streams() {
            return Some(WindowEnd::Planned);
        }
        if writing.is_some() && !self.state.has_writers() {
            return Some(WindowEnd::WritersEnded);
        }
        let is_counted = asking.as_ref().is_some_and(|asking| asking.sets.is_some());
        if !is_counted && !has_time(*seconds) && self.state.has_whole_sets() {
            return Some(WindowEnd::Planned);
        }
        (!has_time(*max_seconds)).then_some(WindowEnd::NoWholeSet)
    }
}

/// Waits for threads and returns their results in order.
fn join<T>(threads: Vec<ScopedJoinHandle<'_, T>>) -> Result<Vec<T>, Failure> {
    let panicked = || failure(FailureKind::MachineFailure, "a client thread panicked; see the log");
    // All are waited for: a panicked thread that is not joined would make the scope panic as well.
    let results: Vec<Option<T>> = threads.into_iter().map(|thread| thread.join().ok()).collect();
    results.into_iter().collect::<Option<_>>().ok_or_else(panicked)
}
