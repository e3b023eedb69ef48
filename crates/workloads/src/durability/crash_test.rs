//! One crash test: restore the data, run clients, crash, start again, read everything.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use jsonathlon_loadgen::ack_log::{CrashWindow, RecoveryAudit, RecoveryRead, has_acknowledgement};
use jsonathlon_loadgen::job::{Job, SamplingTargets};
use jsonathlon_loadgen::load_generator::READ_BACK;
use jsonathlon_loadgen::operation::Operation;
use jsonathlon_loadgen::paths::Projection;
use jsonathlon_loadgen::random::Random;
use jsonathlon_loadgen::report::JobReport;
use jsonathlon_powerfail::{Disk, OutageError};
use jsonathlon_schema::durability::CrashKind;
use jsonathlon_schema::metric;
use jsonathlon_schema::record::{FailureKind, Finding, Metrics};
use jsonathlon_stats::arrival::Arrival;
use jsonathlon_telemetry::stall::{StallWatch, Stalls};
use jsonathlon_telemetry::stop_condition::StopCondition;
use jsonathlon_worker::protocol::Op;

use super::TierTarget;
use super::crash_report::{self, CrashReport, DurabilityPromise, UnrecoverableAt};
use super::settings::DurabilitySettings;
use crate::RunError;
use crate::engine::{CrashResult, CrashTrigger};
use crate::recorder::TrialRecorder;
use crate::run_context::RunContext;
use crate::serving::scripts::{self, RecordPaths};
use crate::session::{Session, TrialError, forward_progress};
use crate::snapshot::Snapshot;

/// Seconds that a job lasts beyond the latest moment of the crash, so that the crash always ends it.
const EXTRA_S: f64 = 10.0;
/// Time for a crash test in addition to the work: connecting, and detecting the end of the system.
const GRACE: Duration = Duration::from_secs(60);
/// Poll interval while waiting for the moment of the crash.
const POLL_INTERVAL: Duration = Duration::from_millis(2);
/// Name of the system's data folder on the disk whose power is cut.
const DATA_FOLDER: &str = "data";
/// Number of retries of an operation after a conflict.
const RETRIES: u32 = 10;

/// Result of the work until the crash.
struct CrashedWork {
    crash_window: CrashWindow,
    /// Longest stalls of machine and disk during the work.
    stalls: Stalls,
}

/// One crash that is to be run: its configuration and tier, its kind, and the data to restore before it.
pub(super) struct CrashTest<'s, 'a> {
    pub(super) context: &'s RunContext<'a>,
    pub(super) settings: &'s DurabilitySettings,
    pub(super) tier_target: &'s TierTarget<'a>,
    pub(super) kind: CrashKind,
    /// Number of the crash within its cell, from 1.
    pub(super) crash_number: u32,
    pub(super) snapshot: &'s Snapshot,
}

impl<'a> CrashTest<'_, 'a> {
    /// Why this kind of crash is impossible on this machine; `None` if it is possible.
    pub(super) fn impossible_reason(&self) -> Option<String> {
        match self.kind {
            CrashKind::Process => None,
            CrashKind::Power if !rustix::process::geteuid().is_root() => Some(
                "not applicable: needs root, which alone may make a disk whose power can be cut".to_owned(),
            ),
            CrashKind::Power => {
                let reason = Disk::check(&self.disk_path(), self.settings.disk_bytes).err()?;
                Some(format!("not applicable: {reason}"))
            }
        }
    }

    /// Runs the crash test and returns its metrics and findings.
    pub(super) fn run(
        &self,
        recorder: &mut TrialRecorder<'_>,
    ) -> Result<(Metrics, Vec<Finding>), TrialError> {
        match self.kind {
            CrashKind::Process => {
                let mut session = self.open_session(self.context.work_folder.join(&self.tier_target.name))?;
                let work = self.run_clients(&mut session, None)?;
                self.recover(&mut session, &work, recorder)
            }
            CrashKind::Power => {
                let mut disk =
                    Disk::create(&self.disk_path(), self.settings.disk_bytes).map_err(disk_error)?;
                let result = self.run_on_disk(&mut disk, recorder);
                // The first error is the relevant one.
                let close_result = disk.close().map_err(disk_error);
                result.and_then(|outcome| close_result.map(|()| outcome))
            }
        }
    }

    /// Runs the test with the data on a disk whose power is cut. No process uses the disk afterwards.
    fn run_on_disk(
        &self,
        disk: &mut Disk,
        recorder: &mut TrialRecorder<'_>,
    ) -> Result<(Metrics, Vec<Finding>), TrialError> {
        let mut session = self.open_session(disk.path().join(DATA_FOLDER))?;
        // The loaded data must survive: only writes of the clients are tested.
        disk.sync().map_err(disk_error)?;
        let cut_power = || disk.cut_power().map(drop).map_err(|error| error.to_string());
        let work = self.run_clients(&mut session, Some(&cut_power))?;
        disk.remount().map_err(disk_error)?;
        self.recover(&mut session, &work, recorder)
    }

    /// Mount point of the disk whose power is cut.
    fn disk_path(&self) -> PathBuf {
        self.context.work_folder.join(format!("{}.disk", self.tier_target.name))
    }

    fn report(&self) -> CrashReport<'_> {
        let promise = DurabilityPromise::new(self.tier_target.tier, self.kind);
        CrashReport { crash_number: self.crash_number, promise, basis: &self.tier_target.basis }
    }

    /// Opens a session on a copy of the loaded data in `folder`.
    fn open_session(&self, folder: PathBuf) -> Result<Session<'a>, TrialError> {
        self.snapshot.restore_to(&folder).map_err(|error| self.restore_error(error))?;
        let mut session = self.context.session_in(self.tier_target.target, folder, &self.tier_target.name);
        session.set_placeholder("key_type", &self.tier_target.key_type);
        let activity = format!("{} {} crash {}", self.tier_target.name, self.kind, self.crash_number);
        session.subject().set_activity(&activity);
        session.open()?;
        Ok(session)
    }

    /// If the crash test's own disk is too small, only the test fails; any other error ends the run.
    fn restore_error(&self, error: io::Error) -> TrialError {
        if self.kind == CrashKind::Power && error.kind() == io::ErrorKind::StorageFull {
            let error = format!(
                "the loaded data do not fit on a disk of {} bytes: choose a larger --disk-size, a smaller \
                 --scale, or a smaller --memory, which makes the logs of many systems smaller",
                self.settings.disk_bytes
            );
            return TrialError::failed(FailureKind::Environment, error);
        }
        RunError::io("put the loaded data back")(error).into()
    }

    /// Path of the acknowledgement log: never on the disk whose power is cut.
    fn ack_log_path(&self) -> PathBuf {
        self.context.work_folder.join(format!("{}.promises", self.tier_target.name))
    }

    /// Runs the clients until the crash.
    fn run_clients(
        &self,
        session: &mut Session<'a>,
        cut_power: Option<&(dyn Fn() -> Result<(), String> + Sync)>,
    ) -> Result<CrashedWork, TrialError> {
        let ack_log = self.ack_log_path();
        remove_file(&ack_log)?;
        let job = serde_json::to_value(self.job(session, &ack_log)?)
            .map_err(|error| TrialError::failed(FailureKind::Protocol, format!("the job: {error}")))?;
        let delay = Duration::from_secs_f64(self.crash_delay_s());
        let watch = Mutex::new(StallWatch::begin(session.folder()));
        let wait = |is_over: &dyn Fn() -> bool| wait_for_crash(&ack_log, delay, is_over, &watch);
        let timeout = Duration::from_secs_f64(self.settings.crash_within_s.1 + EXTRA_S) + GRACE;
        let trigger = CrashTrigger { wait_for_moment: &wait, cut_power };
        let result: CrashResult<JobReport> = session.crash(&Op::Drive { job }, timeout, &trigger)?;
        // Wrong answers before the crash must not be attributed to the crash.
        if let Some(wrong) = result.answer.as_ref().and_then(|report| report.wrong_answers.first()) {
            return Err(TrialError::failed(FailureKind::Wrong, format!("before the crash: {wrong}")));
        }
        let stalls = watch.into_inner().unwrap_or_else(PoisonError::into_inner).longest();
        let crash_window = result.crash_window.ok_or_else(|| {
            let refusals = result.answer.iter().flat_map(|report| report.refusals.keys());
            let messages = refusals.take(3).cloned().collect::<Vec<_>>().join("; ");
            let error = format!("no write was acknowledged, so that there was nothing to crash: {messages}");
            TrialError::failed(FailureKind::Refused, error)
        })?;
        Ok(CrashedWork { crash_window, stalls })
    }

    /// Seconds of work before the crash, drawn from the seed so that a resumed run draws the same.
    fn crash_delay_s(&self) -> f64 {
        const STEPS: u64 = 1 << 32;
        let stream = u64::from(self.crash_number) << 1 | u64::from(self.kind == CrashKind::Power);
        let fraction = Random::new(self.context.settings.seed, stream).below(STEPS) as f64 / STEPS as f64;
        let (minimum, maximum) = self.settings.crash_within_s;
        minimum + fraction * (maximum - minimum)
    }

    fn job(&self, session: &Session<'_>, ack_log: &Path) -> Result<Job, TrialError> {
        let (settings, target) = (self.settings, self.tier_target);
        let projection = Projection::default();
        let paths = RecordPaths::Generated(&target.records);
        let max_clients = target.setup.clients.unwrap_or(u32::MAX);
        Ok(Job {
            records: target.records.records().clone().into(),
            loaded: self.context.staged.documents,
            load: format!("{} {}", self.kind, self.crash_number),
            mix: target.mix.clone(),
            scripts: scripts::scripts(session, &target.setup, paths, projection, &target.mix)?,
            clients: settings.clients.min(max_clients).max(1),
            threads: None,
            arrival: Arrival::Closed,
            ramp_s: 0.0,
            stop: StopCondition::Time { seconds: settings.crash_within_s.1 + EXTRA_S },
            seed: self.context.settings.seed.wrapping_add(u64::from(self.crash_number) << 32),
            verify: true,
            prepare: true,
            batch: 1,
            scan: 1,
            limit: 1,
            projection,
            retries: RETRIES,
            timeout_s: settings.timeout_s,
            sampling_targets: SamplingTargets::default(),
            writers_take_turns: target.setup.writers_take_turns,
            ack_log: Some(ack_log.to_owned()),
            reports: None,
        })
    }

    /// Starts the system again and reads all documents.
    fn recover(
        &self,
        session: &mut Session<'a>,
        work: &CrashedWork,
        recorder: &mut TrialRecorder<'_>,
    ) -> Result<(Metrics, Vec<Finding>), TrialError> {
        let timeout = Duration::from_secs_f64(self.settings.recovery_timeout_s);
        session.set_open_timeout(timeout);
        let started = Instant::now();
        let (mut metrics, findings) = match session.open() {
            Ok(()) => {
                let recovery_s = session.open_s;
                let (mut metrics, findings) = self.read_back(session, &work.crash_window, recorder)?;
                metrics.insert(metric::RECOVERY_S.name.to_owned(), recovery_s);
                (metrics, findings)
            }
            Err(TrialError::Failed(failure)) if crash_report::is_system_failure(&failure) => {
                let in_time = started.elapsed() < timeout;
                self.report().unrecoverable(UnrecoverableAt::Opening { in_time }, &failure)
            }
            Err(error) => return Err(error),
        };
        session.kill();
        remove_file(&self.ack_log_path())?;
        metrics.extend(crash_report::stall_metrics(work.stalls));
        Ok((metrics, findings))
    }

    fn read_back(
        &self,
        session: &mut Session<'a>,
        crash_window: &CrashWindow,
        recorder: &mut TrialRecorder<'_>,
    ) -> Result<(Metrics, Vec<Finding>), TrialError> {
        let target = self.tier_target;
        let paths = RecordPaths::Generated(&target.records);
        let mut scripts =
            scripts::scripts(session, &target.setup, paths, Projection::default(), &target.mix)?;
        let Some(script) = scripts.remove(&Operation::Read) else {
            return Err(TrialError::failed(FailureKind::Protocol, "the system has no read by key"));
        };
        let job = RecoveryRead {
            records: target.records.records().clone(),
            loaded: self.context.staged.documents,
            ack_log: self.ack_log_path(),
            crash_window: *crash_window,
            script,
        };
        let job = serde_json::json!({ READ_BACK: job });
        let timeout = Duration::from_secs_f64(self.context.settings.timeout_s);
        match session.request::<RecoveryAudit>(
            &Op::Drive { job },
            timeout,
            &mut forward_progress(recorder.observer),
        ) {
            Ok(audit) => Ok(self.report().recovered(&audit)),
            Err(TrialError::Failed(failure)) if crash_report::is_system_failure(&failure) => {
                Ok(self.report().unrecoverable(UnrecoverableAt::Reading, &failure))
            }
            Err(error) => Err(error),
        }
    }
}

fn disk_error(error: OutageError) -> TrialError {
    TrialError::failed(FailureKind::Environment, error.to_string())
}

/// Waits for the first acknowledgement and then for the duration `delay`; watches for stalls meanwhile.
/// Returns `false` if the clients end before that.
fn wait_for_crash(
    ack_log: &Path,
    delay: Duration,
    is_over: &dyn Fn() -> bool,
    watch: &Mutex<StallWatch>,
) -> bool {
    let mut watch = watch.lock().unwrap_or_else(PoisonError::into_inner);
    let mut first_ack: Option<Instant> = None;
    while !is_over() {
        let pause = match first_ack {
            None if has_acknowledgement(ack_log) => {
                first_ack = Some(Instant::now());
                continue;
            }
            None => POLL_INTERVAL,
            Some(first_ack) => match delay.checked_sub(first_ack.elapsed()) {
                None => return true,
                Some(remaining) => remaining.min(POLL_INTERVAL),
            },
        };
        std::thread::sleep(pause);
        watch.poll(pause);
    }
    false
}

fn remove_file(path: &Path) -> Result<(), TrialError> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(RunError::io(format!("remove {}", path.display()))(error).into())
        }
        _ => Ok(()),
    }
}
