//! Worker side of the clients: receives jobs as JSON, runs the clients and returns what they measured.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};

use jsonathlon_dataset::records::{ContainerKind, KeyType, RecordSet, Records, SortedKeys, WriteScope};
use jsonathlon_driver_api::NonblockingConnection;
use jsonathlon_driver_api::driver::{DriverContext, SessionOptions};
use jsonathlon_stats::arrival::Schedule;
use jsonathlon_worker::Connector;
use jsonathlon_worker::protocol::{Failure, FailureKind, Progress};
use jsonathlon_worker::{JobRunner, JobTarget};

use crate::accept::AcceptSet;
use crate::ack_log::{AckLog, RecoveryRead, read_back as read_after_stop};
use crate::client_threads::{self, ThreadResults};
use crate::job::{Job, OperationScript};
use crate::job_context::{
    ConnectionFactories, JobContext, MeasurementWindow, NEVER, ShutdownBarrier, ThreadCounter,
};
use crate::keys::{KeyChooser, OperationChooser};
use crate::operation::Operation;
use crate::paths::Paths;
use crate::random::Random;
use crate::reconcile::{Reconciliation, reconcile};
use crate::recorder::{LatencyRecorder, SECOND_NS};
use crate::report::{ArrivalReport, JobReport};
use crate::script::OperationPlan;
use crate::steady_state;
use crate::supervisor::{SideMeasurements, WarmUp};
use crate::turns::Turns;
use crate::validate::{self, DataInvariants};

/// Opens a connection. The flag selects whether statements are prepared.
type ConnectionOpener = dyn Fn(&SessionOptions, &DriverContext, bool) -> jsonathlon_driver_api::Result<Box<dyn NonblockingConnection>>
    + Send
    + Sync;

/// JSON member that holds a [`RecoveryRead`]: the data is read back after a crash, instead of running a
/// [`Job`].
pub const READ_BACK: &str = "read_back";
/// Random stream for drawing the operations of missed arrivals, distinct from the streams of all threads.
const OF_MISSED: u64 = 1 << 40;

/// The clients of a worker, with the accept sets of the data that they work on.
pub struct LoadGenerator {
    known: Option<LoadedData>,
    opener: Box<ConnectionOpener>,
}

/// State of the data of one load, kept from job to job.
struct LoadedData {
    load: String,
    records: Records,
    loaded: u64,
    set: RecordSet,
    accept: AcceptSet,
    written: WriteScope,
    sorted: Option<SortedKeys>,
    /// Whether every loaded document still exists with the value that find and count search for.
    is_searchable: bool,
    /// Whether a job over this data had deletes.
    has_deleted: bool,
    /// Records inserted minus records deleted since the load, as far as acknowledged.
    added: i64,
}

impl fmt::Debug for LoadGenerator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let load = self.known.as_ref().map(|known| &known.load);
        f.debug_struct("LoadGenerator").field("load", &load).finish_non_exhaustive()
    }
}

impl Default for LoadGenerator {
    fn default() -> Self {
        Self::new()
    }
}

fn failure(kind: FailureKind, message: impl Into<String>) -> Failure {
    Failure { kind, message: message.into() }
}

impl JobRunner for LoadGenerator {
    fn drive(
        &mut self,
        job: &serde_json::Value,
        on: &JobTarget<'_>,
        tell: &mut dyn FnMut(Progress),
    ) -> Result<serde_json::Value, Failure> {
        let unknown = |error: serde_json::Error| failure(FailureKind::Request, format!("not a job: {error}"));
        let answer = match job.get(READ_BACK) {
            Some(job) => {
                let job: RecoveryRead = serde::Deserialize::deserialize(job).map_err(unknown)?;
                let open = || (self.opener)(on.open, on.host, true);
                serde_json::to_value(read_after_stop(&job, &on.open.protocol, &open, tell)?)
            }
            None => {
                let job: Job = serde::Deserialize::deserialize(job).map_err(unknown)?;
                serde_json::to_value(self.run(&job, on, tell)?)
            }
        };
        answer.map_err(|error| failure(FailureKind::System, format!("what was measured: {error}")))
    }
}

impl LoadGenerator {
    /// Creates clients that connect through the drivers of all known protocols.
    #[must_use]
    pub fn new() -> Self {
        Self::over(|open, host, prepare| Connector::of(&open.protocol)?.lane(open, host, prepare))
    }

    /// Creates clients that connect through `opener`, such as an in-memory driver of a test.
    #[must_use]
    pub fn over(
        opener: impl Fn(
            &SessionOptions,
            &DriverContext,
            bool,
        ) -> jsonathlon_driver_api::Result<Box<dyn NonblockingConnection>>
        + Send
        + Sync
        + 'static,
    ) -> Self {
        Self { known: None, opener: Box::new(opener) }
    }

    /// Runs a job and returns what its clients measured.
    ///
    /// # Errors
    /// [`FailureKind::Request`] if the job cannot be measured or verified. The driver's failure if a
    /// connection cannot be opened or a statement cannot be prepared. [`FailureKind::System`] if the
    /// acknowledgement log cannot be written.
    pub fn run(
        &mut self,
        job: &Job,
        on: &JobTarget<'_>,
        tell: &mut dyn FnMut(Progress),
    ) -> Result<JobReport, Failure> {
        self.set_load(job)?;
        let Some(known) = self.known.as_mut() else {
            return Err(failure(FailureKind::Request, "nothing is known of the data"));
        };
        let paths = Paths::of(&known.set, job.projection);
        let refused = |words: String| failure(FailureKind::Request, words);
        known.prepare(job, &paths).map_err(refused)?;

        let opener = &self.opener;
        // After the clients have started, another server process may listen on the same address.
        let (anew, at_once) = (on.open.without_process_id(), on.open.with_single_attempt());
        let patient = || opener(&anew, on.host, job.prepare);
        let again = || opener(&at_once, on.host, job.prepare);
        let openers = ConnectionFactories { patient: &patient, again: &again };
        let shared = shared(known, job, paths, &on.open.protocol, openers).map_err(refused)?;
        let open = || opener(on.open, on.host, job.prepare);
        let ramp = WarmUp {
            least_ns: nanoseconds(job.ramp_s),
            measured_ns: nanoseconds(job.stop.seconds().unwrap_or(0.0)),
            tests: tests_steadiness(job),
        };
        let ThreadResults { mut recorder, beside, threads } =
            client_threads::run(&shared, &open, &ramp, on, tell)?;
        if let Some(promises) = &shared.promises {
            return match promises.has_failed() {
                true => Err(failure(FailureKind::System, "what was promised could not be put on record")),
                // The caller that crashed the system reads the data back itself.
                false => Ok(answer(&shared, recorder, beside, threads, known.loaded, known.added).0),
            };
        }
        let settled = read_back(&shared, job, &on.open.protocol, recorder.lost >= u64::from(job.clients));
        recorder.wrong.extend(settled.wrong);
        let (mut driven, added) = answer(&shared, recorder, beside, threads, known.loaded, known.added);
        driven.read_back = settled.read_back;
        known.added = added;
        known.is_searchable &= !validate::mix_contains(job, Operation::Delete)
            && !validate::mix_contains(job, Operation::UpdateAll);
        known.has_deleted |= validate::mix_contains(job, Operation::Delete);
        Ok(driven)
    }

    /// Keeps the state of the job's load, or starts with a new one if the job names another load.
    fn set_load(&mut self, job: &Job) -> Result<(), Failure> {
        if let Some(known) = &self.known
            && known.load == job.load
        {
            if known.records == job.records && known.loaded == job.loaded {
                return Ok(());
            }
            let words = format!("the load {} has brought other records before: load again", job.load);
            return Err(failure(FailureKind::Request, words));
        }
        // Frees the previous load's memory before the new one is allocated.
        self.known = None;
        let set = job
            .records
            .prepare()
            .map_err(|error| failure(FailureKind::Request, format!("no such records: {error}")))?;
        self.known = Some(LoadedData {
            load: job.load.clone(),
            records: job.records.clone(),
            loaded: job.loaded,
            accept: AcceptSet::new(job.loaded),
            set,
            written: WriteScope::Nothing,
            sorted: None,
            is_searchable: true,
            has_deleted: false,
            added: 0,
        });
        Ok(())
    }
}

impl LoadedData {
    /// Prepares the state for a job.
    ///
    /// # Errors
    /// Why the job is refused: see [`validate::validate_job`] and [`validate::written_by`], or the mix sets
    /// other values than earlier mixes over the same data.
    fn prepare(&mut self, job: &Job, paths: &Paths) -> Result<(), String> {
        let deletes = validate::mix_contains(job, Operation::Delete);
        let replaces = deletes || validate::mix_contains(job, Operation::UpdateAll);
        let inserts = validate::mix_contains(job, Operation::Insert)
            || validate::mix_contains(job, Operation::InsertBatch);
        let holds = DataInvariants {
            is_searchable: self.is_searchable && !replaces,
            is_as_loaded: !(self.has_deleted || deletes || inserts) && self.added == 0,
        };
        validate::validate_job(job, holds)?;
        let written = validate::written_by(job, paths)?;
        let written = validate::merge_write_scopes(self.written, written).ok_or_else(|| {
            format!(
                "the mix {} sets other values than earlier mixes over the same data have set, so that answers cannot be \
                 checked: load again",
                job.mix.name
            )
        })?;
        if written != self.written {
            self.accept.forget_replies();
            self.written = written;
        }
        let scans =
            validate::mix_contains(job, Operation::Scan) && job.verify && !deletes && !self.has_deleted;
        if !scans {
            self.sorted = None;
        } else if self.sorted.is_none() {
            self.sorted = Some(self.set.sorted_keys(self.loaded));
        }
        Ok(())
    }
}

fn shared<'a>(
    known: &'a LoadedData,
    job: &'a Job,
    paths: Paths,
    protocol: &str,
    openers: ConnectionFactories<'a>,
) -> Result<JobContext<'a>, String> {
    let integer_key = known.records.key_type == KeyType::Bigint;
    let (plans, places) = plan_operations(job, protocol, integer_key)?;
    let elements = match validate::mix_contains(job, Operation::UnwrapAll) {
        true => known.set.elements_of_all(ContainerKind::Array, job.loaded),
        false => 0,
    };
    let (schedule, window) = schedule_and_window(job);
    let promises = match &job.ack_log {
        Some(path) => Some(
            AckLog::create(path).map_err(|error| format!("failed to write {}: {error}", path.display()))?,
        ),
        None => None,
    };
    let awaits_all = schedule.is_some() && job.stop.operations().is_some();
    Ok(JobContext {
        job,
        set: &known.set,
        accept: &known.accept,
        promises,
        sorted: known.sorted.as_ref(),
        written: known.written,
        paths,
        elements,
        plans,
        places,
        shares: OperationChooser::new(&job.mix.shares)?,
        keys: KeyChooser::new(job.mix.requests, known.accept.records().max(1)),
        schedule,
        next: AtomicU64::new(0),
        window,
        awaits_all,
        timeout_ns: nanoseconds(job.timeout_s).max(1),
        openers,
        tallies: (0..job.clients).map(|_| ThreadCounter::default()).collect(),
        leaving: ShutdownBarrier::default(),
        turns: job.writers_take_turns.then(Turns::default),
    })
}

/// Compiles the scripts of the mix. Also returns the index of each operation's plan, as in
/// [`JobContext::places`].
fn plan_operations(
    job: &Job,
    protocol: &str,
    integer_key: bool,
) -> Result<(Vec<OperationPlan>, [usize; Operation::ALL.len()]), String> {
    let (mut plans, mut places) = (Vec::new(), [0; Operation::ALL.len()]);
    for (operation, _) in &job.mix.shares {
        let Some(script) = job.scripts.get(operation) else { continue };
        if let Some(place) = places.get_mut(*operation as usize) {
            *place = plans.len();
        }
        plans.push(OperationPlan::new(*operation, script, protocol, integer_key, job.batch)?);
    }
    Ok((plans, places))
}

/// Returns the schedule of the arrivals, long enough for the longest warm-up, and the measurement window. The
/// window is not decided yet if the warm-up ends by the test for steady throughput.
fn schedule_and_window(job: &Job) -> (Option<Schedule>, MeasurementWindow) {
    let ramp_ns = nanoseconds(job.ramp_s);
    let tests = tests_steadiness(job);
    let (schedule, to) = match job.stop.seconds() {
        Some(seconds) => {
            let longest = ramp_ns
                + nanoseconds(seconds)
                + if tests { nanoseconds(steady_state::LONGEST_S + 5.0) } else { 0 };
            (job.arrival.schedule(job.seed, longest), ramp_ns + nanoseconds(seconds))
        }
        None => counted_schedule(job, ramp_ns),
    };
    let window = match tests {
        true => MeasurementWindow::new(NEVER, NEVER, None),
        false => {
            let count = job.stop.operations().filter(|_| schedule.is_none());
            MeasurementWindow::new(ramp_ns, to, count)
        }
    };
    (schedule, window)
}

fn tests_steadiness(job: &Job) -> bool {
    job.stop.seconds().is_some_and(|seconds| seconds >= steady_state::FROM_S)
}

/// Returns the schedule of a fixed number of arrivals, and the time in nanoseconds just after the last of
/// them.
fn counted_schedule(job: &Job, ramp_ns: u64) -> (Option<Schedule>, u64) {
    let (Some(per_s), Some(count)) = (job.arrival.per_s(), job.stop.operations()) else {
        return (None, NEVER);
    };
    let count = count as f64;
    // Enough time for all arrivals: their number within a time has a standard deviation of its square root.
    let seconds = (count + 8.0 * count.sqrt() + 32.0) / per_s;
    let Some(schedule) = job.arrival.schedule(job.seed, ramp_ns + nanoseconds(seconds)) else {
        return (None, NEVER);
    };
    let last = schedule.arrivals_before(ramp_ns) + count as u64 - 1;
    let to = schedule.reader().at(last).map_or(NEVER, |at| at + 1);
    (Some(schedule), to)
}

fn nanoseconds(seconds: f64) -> u64 {
    (seconds * 1e9) as u64
}

/// Reads back the records with writes of unknown outcome, if the mix has a read that is verified and never
/// stale. With `all`, which is set if at least as many connections were lost as there are clients, every
/// record with an acknowledged write is read back as well.
fn read_back(shared: &JobContext<'_>, job: &Job, protocol: &str, all: bool) -> Reconciliation {
    let integer_key = shared.set.records().key_type == KeyType::Bigint;
    let reads = |script: &&OperationScript| !script.may_be_stale && job.verify;
    let Some(script) = job.scripts.get(&Operation::Read).filter(reads) else {
        return Reconciliation::default();
    };
    let Ok(plan) = OperationPlan::new(Operation::Read, script, protocol, integer_key, 1) else {
        return Reconciliation::default();
    };
    // If the system cannot be read any more, the writes stay unknown; the result reports their number.
    reconcile(shared, &plan, all).unwrap_or_default()
}

/// Adds the arrivals that did not begin by the end of the window to the recorder and counts all arrivals of
/// the window.
fn report_arrivals(
    shared: &JobContext<'_>,
    schedule: &Schedule,
    recorder: &mut LatencyRecorder,
    (from, to): (u64, u64),
) -> ArrivalReport {
    let next = shared.next.load(Ordering::SeqCst);
    let mut reader = schedule.reader();
    let due = schedule.arrivals_before(to);
    if next < due
        && let Some(intended) = reader.at(next)
    {
        recorder.record_queueing(schedule, next, intended, to, from);
    }
    // The operations of arrivals that no thread has claimed are drawn from the same shares as all others.
    let mut random = Random::new(shared.job.seed, OF_MISSED);
    for index in next.max(schedule.arrivals_before(from))..due {
        if let Some(intended) = reader.at(index) {
            let place = shared.place(shared.shares.draw(&mut random));
            recorder.record_missed(place, intended, to);
        }
    }
    let planned = due - schedule.arrivals_before(from);
    let first = usize::try_from(from / SECOND_NS).unwrap_or(usize::MAX);
    ArrivalReport {
        planned,
        missed: planned.saturating_sub(recorder.begun_arrivals),
        unfinished: recorder.unfinished,
        backlog_max: recorder.seconds.iter().skip(first).map(|second| second.backlog).max().unwrap_or(0),
        backlog_at_start: recorder.backlog_at_start,
        lateness: recorder.lateness.to_text(),
    }
}

/// Assembles the result of a job. Also returns the records added since the load, this job included.
fn answer(
    shared: &JobContext<'_>,
    mut recorder: LatencyRecorder,
    beside: SideMeasurements,
    threads: u32,
    loaded: u64,
    added: i64,
) -> (JobReport, i64) {
    let (from, to) = (shared.window.from(), shared.window.to());
    let arrivals =
        shared.schedule.as_ref().map(|schedule| report_arrivals(shared, schedule, &mut recorder, (from, to)));
    let end = if to == NEVER || shared.awaits_all { recorder.last_ns } else { to };
    let beside = beside.drop_if_incomplete(end.saturating_sub(from));
    let added = added + recorder.added;
    let seconds = usize::try_from(end.div_ceil(SECOND_NS)).unwrap_or(0);
    if shared.schedule.is_some() || to != NEVER {
        recorder.seconds.resize(seconds.max(1), Default::default());
    }
    beside.watch.add_to(&mut recorder.seconds);
    let is_open = shared.schedule.is_some();
    let mut operations = BTreeMap::new();
    for (plan, recorded) in shared.plans.iter().zip(recorder.operations) {
        let mut measured = recorded.counts;
        measured.service = recorded.service.to_text();
        measured.response = is_open.then(|| recorded.response.to_text());
        measured.failed = (recorded.failed.count() > 0).then(|| recorded.failed.to_text());
        operations.insert(plan.operation, measured);
    }
    let driven = JobReport {
        threads,
        measured_s: end.saturating_sub(from) as f64 / 1e9,
        operations,
        seconds: recorder.seconds,
        usage: beside.usage,
        disk_written_bytes: beside.disk_written_bytes,
        scheduling: beside.scheduling,
        arrivals,
        lost_updates: recorder.lost_updates,
        reconnects: recorder.reconnects,
        wrong: recorder.wrong,
        refusals: recorder.refusals,
        steady: beside.steady,
        records: loaded.saturating_add_signed(added),
        unknown_writes: shared.accept.unknown_count(),
        read_back: None,
    };
    (driven, added)
}

#[cfg(test)]
#[path = "load_generator_tests.rs"]
mod tests;
