//! Worker side of the clients: receives jobs as JSON, runs the clients and returns what they measured.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use jsonathlon_dataset::records::{ContainerKind, SortedKeys, WriteScope};
use jsonathlon_driver_api::NonblockingConnection;
use jsonathlon_driver_api::driver::{DriverContext, SessionOptions};
use jsonathlon_stats::arrival::Schedule;
use jsonathlon_worker::Connector;
use jsonathlon_worker::protocol::{Failure, FailureKind, Progress};
use jsonathlon_worker::{JobRunner, JobTarget};

use crate::accept::AcceptSet;
use crate::ack_log::{AckLog, RecoveryRead, read_back as read_after_stop};
use crate::baseline::{BaselineRead, read_baseline};
use crate::client_threads::{self, ThreadResults};
use crate::job::{Job, JobRecords, OperationScript};
use crate::job_context::{
    ConnectionFactories, JobContext, MeasurementWindow, ShutdownBarrier, ThreadCounter,
};
use crate::keys::{KeyChooser, OperationChooser};
use crate::loaded_records::{LoadedRecords, ParameterTypes, RequiredKeys};
use crate::mixed::job::{MIXED, MixedJob};
use crate::mixed::run_mixed;
use crate::operation::Operation;
use crate::paths::{Paths, Projection};
use crate::random::Random;
use crate::reactor::NEVER;
use crate::reconcile::{Reconciliation, reconcile};
use crate::recorder::{LatencyRecorder, SECOND_NS};
use crate::report::{ArrivalReport, JobReport};
use crate::reports::job::{REPORTS, ReportsAlone};
use crate::reports::{ReportTeam, run_alone};
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
/// JSON member that holds a [`BaselineRead`]: all documents are read once after the load.
pub const READ_BASELINE: &str = "read_baseline";
/// Random stream for drawing the operations of missed arrivals, distinct from the streams of all threads.
const MISSED_STREAM: u64 = 1 << 40;

/// The clients of a worker, with the accept sets of the data that they work on.
pub struct LoadGenerator {
    data: Option<LoadedData>,
    opener: Box<ConnectionOpener>,
}

/// State of the data of one load, kept from job to job.
struct LoadedData {
    load: String,
    records: JobRecords,
    loaded: u64,
    set: LoadedRecords,
    accept: AcceptSet,
    write_scope: WriteScope,
    /// Keys of generated records that a scan must not leave out.
    sorted_keys: Option<SortedKeys>,
    /// Whether a scan must not leave out own documents.
    requires_own_keys: bool,
    /// Whether every loaded document still exists with the value that find and count search for.
    is_searchable: bool,
    /// Whether a job over this data had deletes.
    has_deleted: bool,
    /// Records inserted minus records deleted since the load, as far as acknowledged.
    added: i64,
}

impl fmt::Debug for LoadGenerator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let load = self.data.as_ref().map(|data| &data.load);
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
        target: &JobTarget<'_>,
        report_progress: &mut dyn FnMut(Progress),
    ) -> Result<serde_json::Value, Failure> {
        let invalid =
            |error: serde_json::Error| failure(FailureKind::InvalidRequest, format!("not a job: {error}"));
        if let Some(job) = job.get(MIXED) {
            let job: MixedJob = serde::Deserialize::deserialize(job).map_err(invalid)?;
            return drive_mixed(&job, target, report_progress);
        }
        if let Some(job) = job.get(REPORTS) {
            let job: ReportsAlone = serde::Deserialize::deserialize(job).map_err(invalid)?;
            let log = run_alone(&job, target, report_progress)?;
            return serde_json::to_value(log).map_err(|error| unwritable(&error));
        }
        let result = match job.get(READ_BACK) {
            Some(job) => {
                let job: RecoveryRead = serde::Deserialize::deserialize(job).map_err(invalid)?;
                let open_connection = || (self.opener)(target.open, target.host, true);
                let audit = read_after_stop(&job, &target.open.protocol, &open_connection, report_progress)?;
                serde_json::to_value(audit)
            }
            None => match job.get(READ_BASELINE) {
                Some(job) => {
                    let job: BaselineRead = serde::Deserialize::deserialize(job).map_err(invalid)?;
                    let open_connection = || (self.opener)(target.open, target.host, true);
                    let report =
                        read_baseline(&job, &target.open.protocol, &open_connection, report_progress)?;
                    serde_json::to_value(report)
                }
                None => {
                    let job: Job = serde::Deserialize::deserialize(job).map_err(invalid)?;
                    serde_json::to_value(self.run(&job, target, report_progress)?)
                }
            },
        };
        result.map_err(|error| unwritable(&error))
    }
}

/// Runs the writers and streams of one phase of a mixed load, over blocking connections.
fn drive_mixed(
    job: &MixedJob,
    target: &JobTarget<'_>,
    report_progress: &mut dyn FnMut(Progress),
) -> Result<serde_json::Value, Failure> {
    let open =
        |options: &SessionOptions| Connector::for_protocol(&options.protocol)?.connect(options, target.host);
    let report = run_mixed(job, target, &open, report_progress)?;
    serde_json::to_value(report).map_err(|error| unwritable(&error))
}

fn unwritable(error: &serde_json::Error) -> Failure {
    failure(FailureKind::MachineFailure, format!("what was measured: {error}"))
}

impl LoadGenerator {
    /// Creates clients that connect through the drivers of all known protocols.
    #[must_use]
    pub fn new() -> Self {
        Self::with_opener(|open, host, prepare| {
            Connector::for_protocol(&open.protocol)?.open_nonblocking(open, host, prepare)
        })
    }

    /// Creates clients that connect through `opener`, such as an in-memory driver of a test.
    #[must_use]
    pub fn with_opener(
        opener: impl Fn(
            &SessionOptions,
            &DriverContext,
            bool,
        ) -> jsonathlon_driver_api::Result<Box<dyn NonblockingConnection>>
        + Send
        + Sync
        + 'static,
    ) -> Self {
        Self { data: None, opener: Box::new(opener) }
    }

    /// Runs a job and returns what its clients measured.
    ///
    /// # Errors
    /// [`FailureKind::InvalidRequest`] if the job cannot be measured or verified. The driver's failure if a
    /// connection cannot be opened or a statement cannot be prepared. [`FailureKind::MachineFailure`] if the
    /// acknowledgement log cannot be written.
    pub fn run(
        &mut self,
        job: &Job,
        target: &JobTarget<'_>,
        report_progress: &mut dyn FnMut(Progress),
    ) -> Result<JobReport, Failure> {
        self.set_load(job)?;
        let Some(data) = self.data.as_mut() else {
            return Err(failure(FailureKind::InvalidRequest, "nothing is known of the data"));
        };
        let paths = select_paths(&data.set, job.projection);
        let invalid_request = |message: String| failure(FailureKind::InvalidRequest, message);
        data.prepare(job, &paths).map_err(invalid_request)?;

        let opener = &self.opener;
        // After the clients have started, another server process may listen on the same address.
        let reconnect_options = target.open.without_process_id();
        let single_attempt = target.open.with_single_attempt();
        let open_patiently = || opener(&reconnect_options, target.host, job.prepare);
        let open_once = || opener(&single_attempt, target.host, job.prepare);
        let connection_factories = ConnectionFactories { waiting: &open_patiently, immediate: &open_once };
        let protocol = &target.open.protocol;
        let mut shared =
            create_context(data, job, paths, protocol, connection_factories).map_err(invalid_request)?;
        shared.reports = job.reports.as_ref().map(|reports| ReportTeam::open(reports, target)).transpose()?;
        let open_connection = || opener(target.open, target.host, job.prepare);
        let warm_up = WarmUp {
            min_ns: nanoseconds(job.ramp_s),
            measured_ns: nanoseconds(job.stop.seconds().unwrap_or(0.0)),
            awaits_steadiness: tests_steadiness(job),
        };
        let ThreadResults { mut recorder, side, threads } =
            client_threads::run(&shared, &open_connection, &warm_up, target, report_progress)?;
        if let Some(ack_log) = &shared.ack_log {
            return match ack_log.has_failed() {
                true => Err(failure(FailureKind::MachineFailure, "cannot write the acknowledgement log")),
                // The caller that crashed the system reads the data back itself.
                false => Ok(build_report(&shared, recorder, side, threads, data.loaded, data.added).0),
            };
        }
        let window = (shared.window.start_ns(), shared.window.end_ns());
        // Before anything is read back, so that the system is idle then.
        let reports = shared.reports.take().map(|team| team.gather(window));
        let lost_all = recorder.lost_connections >= u64::from(job.clients);
        let reconciliation = read_back(&shared, job, protocol, lost_all);
        recorder.wrong_answers.extend(reconciliation.wrong_answers);
        let (mut report, added) = build_report(&shared, recorder, side, threads, data.loaded, data.added);
        report.read_back = reconciliation.read_back;
        report.reports = reports;
        data.added = added;
        data.is_searchable &= !validate::mix_contains(job, Operation::Delete)
            && !validate::mix_contains(job, Operation::UpdateAll);
        data.has_deleted |= validate::mix_contains(job, Operation::Delete);
        Ok(report)
    }

    /// Keeps the state of the job's load, or starts with a new one if the job names another load.
    fn set_load(&mut self, job: &Job) -> Result<(), Failure> {
        if let Some(data) = &self.data
            && data.load == job.load
        {
            if data.records == job.records && data.loaded == job.loaded {
                return Ok(());
            }
            let message = format!("load {} was made with other records; reload the data", job.load);
            return Err(failure(FailureKind::InvalidRequest, message));
        }
        // Frees the previous load's memory before the new one is allocated.
        self.data = None;
        let set = LoadedRecords::prepare(&job.records)
            .map_err(|message| failure(FailureKind::InvalidRequest, message))?;
        self.data = Some(LoadedData {
            load: job.load.clone(),
            records: job.records.clone(),
            loaded: job.loaded,
            accept: AcceptSet::new(job.loaded),
            set,
            write_scope: WriteScope::Nothing,
            sorted_keys: None,
            requires_own_keys: false,
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
    /// Why the job is refused: see [`validate::validate_job`] and [`validate::write_scope_of`], or the mix
    /// sets other values than earlier mixes over the same data.
    fn prepare(&mut self, job: &Job, paths: &Paths) -> Result<(), String> {
        let deletes = validate::mix_contains(job, Operation::Delete);
        let replaces = deletes || validate::mix_contains(job, Operation::UpdateAll);
        let inserts = validate::mix_contains(job, Operation::Insert)
            || validate::mix_contains(job, Operation::InsertBatch);
        let invariants = DataInvariants {
            is_searchable: self.is_searchable && !replaces,
            is_as_loaded: !(self.has_deleted || deletes || inserts) && self.added == 0,
        };
        if let LoadedRecords::Own(set) = &self.set {
            validate::validate_own(job, set)?;
        }
        validate::validate_job(job, invariants)?;
        let write_scope = validate::write_scope_of(job, paths)?;
        let write_scope = validate::merge_write_scopes(self.write_scope, write_scope).ok_or_else(|| {
            format!(
                "the mix {} sets other values than earlier mixes over the same data have set, so that answers cannot be \
                 checked: load again",
                job.mix.name
            )
        })?;
        if write_scope != self.write_scope {
            self.accept.forget_replies();
            self.write_scope = write_scope;
        }
        let scans =
            validate::mix_contains(job, Operation::Scan) && job.verify && !deletes && !self.has_deleted;
        match &self.set {
            LoadedRecords::Own(_) => self.requires_own_keys = scans,
            LoadedRecords::Generated(_) if !scans => self.sorted_keys = None,
            LoadedRecords::Generated(set) => {
                self.sorted_keys.get_or_insert_with(|| set.sorted_keys(self.loaded));
            }
        }
        Ok(())
    }
}

fn select_paths(records: &LoadedRecords, projection: Projection) -> Paths {
    match records {
        LoadedRecords::Generated(set) => Paths::select(set, projection),
        LoadedRecords::Own(set) => Paths::select_own(set.records(), projection),
    }
}

fn create_context<'a>(
    data: &'a LoadedData,
    job: &'a Job,
    paths: Paths,
    protocol: &str,
    connection_factories: ConnectionFactories<'a>,
) -> Result<JobContext<'a>, String> {
    let (plans, plan_indexes) = plan_operations(job, protocol, data.set.parameter_types())?;
    let expected_elements = match data.set.generated() {
        Some(set) if validate::mix_contains(job, Operation::UnwrapAll) => {
            set.count_satisfying_elements(ContainerKind::Array, job.loaded)
        }
        _ => 0,
    };
    let (schedule, window) = schedule_and_window(job);
    let ack_log = match &job.ack_log {
        Some(path) => Some(
            AckLog::create(path).map_err(|error| format!("failed to write {}: {error}", path.display()))?,
        ),
        None => None,
    };
    let awaits_all = schedule.is_some() && job.stop.operations().is_some();
    Ok(JobContext {
        job,
        records: &data.set,
        accept: &data.accept,
        ack_log,
        required_keys: match &data.sorted_keys {
            Some(sorted) => RequiredKeys::Generated(sorted),
            None if data.requires_own_keys => RequiredKeys::Own,
            None => RequiredKeys::None,
        },
        write_scope: data.write_scope,
        paths,
        expected_elements,
        plans,
        plan_indexes,
        operation_chooser: OperationChooser::new(&job.mix.shares)?,
        key_chooser: KeyChooser::new(job.mix.requests, data.accept.records().max(1)),
        schedule,
        next_arrival: AtomicU64::new(0),
        window,
        awaits_all,
        timeout_ns: nanoseconds(job.timeout_s).max(1),
        connection_factories,
        operation_counts: (0..job.clients).map(|_| ThreadCounter::default()).collect(),
        shutdown_barrier: ShutdownBarrier::default(),
        write_turns: job.writers_take_turns.then(Turns::default),
        file_error: OnceLock::new(),
        reports: None,
    })
}

/// Compiles the scripts of the mix. Also returns the index of each operation's plan, as in
/// [`JobContext::plan_indexes`].
fn plan_operations(
    job: &Job,
    protocol: &str,
    types: ParameterTypes,
) -> Result<(Vec<OperationPlan>, [usize; Operation::ALL.len()]), String> {
    let (mut plans, mut plan_indexes) = (Vec::new(), [0; Operation::ALL.len()]);
    for (operation, _) in &job.mix.shares {
        let Some(script) = job.scripts.get(operation) else { continue };
        if let Some(index) = plan_indexes.get_mut(*operation as usize) {
            *index = plans.len();
        }
        plans.push(OperationPlan::new(*operation, script, protocol, types, job.batch)?);
    }
    Ok((plans, plan_indexes))
}

/// Returns the schedule of the arrivals, long enough for the longest warm-up, and the measurement window. The
/// window is not decided yet if the warm-up ends by the test for steady throughput.
fn schedule_and_window(job: &Job) -> (Option<Schedule>, MeasurementWindow) {
    let ramp_ns = nanoseconds(job.ramp_s);
    let until_steady = tests_steadiness(job);
    let (schedule, end_ns) = match job.stop.seconds() {
        Some(seconds) => {
            // Beside reports the window may last longer, and ends once no stream is waited for.
            let longest_s = job.reports.as_ref().map_or(0.0, |reports| reports.max_seconds);
            let seconds = seconds.max(longest_s);
            let longest_ns = ramp_ns
                + nanoseconds(seconds)
                + if until_steady { nanoseconds(steady_state::MAX_EXTENSION_S + 5.0) } else { 0 };
            (job.arrival.schedule(job.seed, longest_ns), ramp_ns + nanoseconds(seconds))
        }
        None => counted_schedule(job, ramp_ns),
    };
    let window = match until_steady {
        true => MeasurementWindow::new(NEVER, NEVER, None),
        false => {
            let count = job.stop.operations().filter(|_| schedule.is_none());
            MeasurementWindow::new(ramp_ns, end_ns, count)
        }
    };
    (schedule, window)
}

fn tests_steadiness(job: &Job) -> bool {
    job.stop.seconds().is_some_and(|seconds| seconds >= steady_state::MIN_WINDOW_S)
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
    let last_index = schedule.arrivals_before(ramp_ns) + count as u64 - 1;
    let end_ns = schedule.reader().arrival_ns(last_index).map_or(NEVER, |at| at + 1);
    (Some(schedule), end_ns)
}

fn nanoseconds(seconds: f64) -> u64 {
    (seconds * 1e9) as u64
}

/// Reads back the records with writes of unknown outcome, if the mix has a read that is verified and never
/// stale. With `reads_all`, set if at least as many connections were lost as there are clients, every
/// record with an acknowledged write is read back as well.
fn read_back(shared: &JobContext<'_>, job: &Job, protocol: &str, reads_all: bool) -> Reconciliation {
    let is_verified = |script: &&OperationScript| !script.may_be_stale && job.verify;
    let Some(script) = job.scripts.get(&Operation::Read).filter(is_verified) else {
        return Reconciliation::default();
    };
    let Ok(plan) = OperationPlan::new(Operation::Read, script, protocol, shared.records.parameter_types(), 1)
    else {
        return Reconciliation::default();
    };
    // If the system cannot be read any more, the writes stay unknown; the result reports their number.
    reconcile(shared, &plan, reads_all).unwrap_or_default()
}

/// Adds the arrivals that did not begin by the end of the window to the recorder and counts all arrivals of
/// the window.
fn report_arrivals(
    shared: &JobContext<'_>,
    schedule: &Schedule,
    recorder: &mut LatencyRecorder,
    (window_start, window_end): (u64, u64),
) -> ArrivalReport {
    let next_index = shared.next_arrival.load(Ordering::SeqCst);
    let mut reader = schedule.reader();
    let due_count = schedule.arrivals_before(window_end);
    if next_index < due_count
        && let Some(intended) = reader.arrival_ns(next_index)
    {
        recorder.record_queueing(schedule, next_index, intended, window_end, window_start);
    }
    // The operations of arrivals that no thread has claimed are drawn from the same shares as all others.
    let mut random = Random::new(shared.job.seed, MISSED_STREAM);
    for index in next_index.max(schedule.arrivals_before(window_start))..due_count {
        if let Some(intended) = reader.arrival_ns(index) {
            let operation_index = shared.plan_index(shared.operation_chooser.draw(&mut random));
            recorder.record_missed(operation_index, intended, window_end);
        }
    }
    let planned = due_count - schedule.arrivals_before(window_start);
    let first_second = usize::try_from(window_start / SECOND_NS).unwrap_or(usize::MAX);
    ArrivalReport {
        planned,
        missed: planned.saturating_sub(recorder.begun_arrivals),
        unfinished: recorder.unfinished,
        backlog_max: recorder
            .seconds
            .iter()
            .skip(first_second)
            .map(|second| second.backlog)
            .max()
            .unwrap_or(0),
        backlog_at_start: recorder.backlog_at_start,
        lateness: recorder.lateness.to_text(),
    }
}

/// Assembles the result of a job. Also returns the records added since the load, this job included.
fn build_report(
    shared: &JobContext<'_>,
    mut recorder: LatencyRecorder,
    side: SideMeasurements,
    threads: u32,
    loaded: u64,
    added: i64,
) -> (JobReport, i64) {
    let (window_start, window_end) = (shared.window.start_ns(), shared.window.end_ns());
    let window = (window_start, window_end);
    let arrivals =
        shared.schedule.as_ref().map(|schedule| report_arrivals(shared, schedule, &mut recorder, window));
    let end_ns = if window_end == NEVER || shared.awaits_all { recorder.last_ns } else { window_end };
    let side = side.drop_if_incomplete(end_ns.saturating_sub(window_start));
    let added = added + recorder.net_inserts;
    let seconds = usize::try_from(end_ns.div_ceil(SECOND_NS)).unwrap_or(0);
    if shared.schedule.is_some() || window_end != NEVER {
        recorder.seconds.resize(seconds.max(1), Default::default());
    }
    side.sampler.add_to(&mut recorder.seconds);
    let is_open = shared.schedule.is_some();
    let mut operations = BTreeMap::new();
    for (plan, recorded) in shared.plans.iter().zip(recorder.operations) {
        let mut operation_report = recorded.counts;
        operation_report.service = recorded.service.to_text();
        operation_report.response = is_open.then(|| recorded.response.to_text());
        operation_report.failed = (recorded.failed.count() > 0).then(|| recorded.failed.to_text());
        operations.insert(plan.operation, operation_report);
    }
    let report = JobReport {
        threads,
        measured_s: end_ns.saturating_sub(window_start) as f64 / 1e9,
        operations,
        seconds: recorder.seconds,
        usage: side.usage,
        disk_written_bytes: side.disk_written_bytes,
        scheduling: side.scheduling,
        arrivals,
        lost_updates: recorder.lost_updates,
        reconnects: recorder.reconnects,
        wrong_answers: recorder.wrong_answers,
        refusals: recorder.refusals,
        steady: side.steady,
        records: loaded.saturating_add_signed(added),
        unknown_writes: shared.accept.unknown_count(),
        read_back: None,
        reports: None,
    };
    (report, added)
}

#[cfg(test)]
#[path = "load_generator_tests.rs"]
mod tests;
