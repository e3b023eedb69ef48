//! One crash test: restore the data, run clients, crash, start again, read everything.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use jsonathlon_loadgen::ack_log::{CrashWindow, RecoveryAudit, RecoveryRead, has_begun};
use jsonathlon_loadgen::job::{Job, SamplingTargets};
use jsonathlon_loadgen::load_generator::READ_BACK;
use jsonathlon_loadgen::operation::Operation;
use jsonathlon_loadgen::paths::Projection;
use jsonathlon_loadgen::random::Random;
use jsonathlon_loadgen::report::JobReport;
use jsonathlon_powerfail::{Disk, OutageError};
use jsonathlon_schema::record::{FailureKind, Finding, Metrics};
use jsonathlon_stats::arrival::Arrival;
use jsonathlon_telemetry::stall::{StallWatch, Stalls};
use jsonathlon_telemetry::stop_condition::StopCondition;
use jsonathlon_worker::protocol::Op;

use super::TierTarget;
use super::crash_report::{self, CrashReport, DurabilityPromise, UnrecoverableAt};
use super::settings::{CrashKind, DurabilitySettings};
use crate::RunError;
use crate::engine::{CrashResult, CrashTrigger};
use crate::recorder::TrialRecorder;
use crate::run_context::RunContext;
use crate::serving::scripts;
use crate::session::{Session, TrialError, forward_progress};
use crate::snapshot::Snapshot;

/// Seconds that clients would continue after the latest moment of a crash, which ends them earlier.
const BEYOND_S: f64 = 10.0;
/// Time for a crash test in addition to the work: connecting, and detecting the end of the system.
const GRACE: Duration = Duration::from_secs(60);
/// Poll interval while waiting for the moment of the crash.
const PAUSE: Duration = Duration::from_millis(2);
/// Name of the system's data folder on the disk whose power is cut.
const DATA: &str = "data";
/// Number of retries of an operation after a conflict.
const RETRIES: u32 = 10;

/// Result of the work until the crash.
struct Worked {
    cut: CrashWindow,
    /// Longest stalls of machine and disk during the work.
    stalls: Stalls,
}

/// One crash that is to be run: its configuration and tier, its kind, and the data to restore before it.
pub(super) struct CrashTest<'s, 'a> {
    pub(super) bench: &'s RunContext<'a>,
    pub(super) own: &'s DurabilitySettings,
    pub(super) one: &'s TierTarget<'a>,
    pub(super) kind: CrashKind,
    /// Number of the crash within its cell, from 1.
    pub(super) stop: u32,
    pub(super) snapshot: &'s Snapshot,
}

impl<'a> CrashTest<'_, 'a> {
    /// Why this kind of crash is impossible on this machine; `None` if it is possible.
    pub(super) fn not_applicable(&self) -> Option<String> {
        match self.kind {
            CrashKind::Process => None,
            CrashKind::Power if !rustix::process::geteuid().is_root() => Some(
                "not applicable: needs root, which alone may make a disk whose power can be cut".to_owned(),
            ),
            CrashKind::Power => {
                let why = Disk::check(&self.disk(), self.own.disk_bytes).err()?;
                Some(format!("not applicable: {why}"))
            }
        }
    }

    /// Runs the crash test and returns its metrics and findings.
    pub(super) fn make(
        &self,
        recorder: &mut TrialRecorder<'_>,
    ) -> Result<(Metrics, Vec<Finding>), TrialError> {
        match self.kind {
            CrashKind::Process => {
                let mut session = self.session(self.bench.work.join(&self.one.name))?;
                let worked = self.work(&mut session, None)?;
                self.after(&mut session, &worked, recorder)
            }
            CrashKind::Power => {
                let mut disk = Disk::make(&self.disk(), self.own.disk_bytes).map_err(of_disk)?;
                let found = self.on(&mut disk, recorder);
                // The first error is the relevant one.
                let closed = disk.close().map_err(of_disk);
                found.and_then(|found| closed.map(|()| found))
            }
        }
    }

    /// Runs the test with the data on a disk whose power is cut. No process uses the disk afterwards.
    fn on(
        &self,
        disk: &mut Disk,
        recorder: &mut TrialRecorder<'_>,
    ) -> Result<(Metrics, Vec<Finding>), TrialError> {
        let mut session = self.session(disk.path().join(DATA))?;
        // The loaded data must survive: only writes of the clients are tested.
        disk.sync().map_err(of_disk)?;
        let power = || disk.cut().map(drop).map_err(|error| error.to_string());
        let worked = self.work(&mut session, Some(&power))?;
        disk.remount().map_err(of_disk)?;
        self.after(&mut session, &worked, recorder)
    }

    /// Mount point of the disk whose power is cut.
    fn disk(&self) -> PathBuf {
        self.bench.work.join(format!("{}.disk", self.one.name))
    }

    fn told(&self) -> CrashReport<'_> {
        let promise = DurabilityPromise::of(self.one.tier, self.kind);
        CrashReport { stop: self.stop, promise, basis: &self.one.basis }
    }

    /// Opens a session on a copy of the loaded data in `folder`.
    fn session(&self, folder: PathBuf) -> Result<Session<'a>, TrialError> {
        self.snapshot.restore_to(&folder).map_err(|error| self.not_put_back(error))?;
        let mut session = self.bench.session_in(self.one.target, folder, &self.one.name);
        session.set_placeholder("key_type", &self.one.key_type);
        session.subject().set_activity(&format!("{} {} stop {}", self.one.name, self.kind, self.stop));
        session.open()?;
        Ok(session)
    }

    /// If the crash test's own disk is too small, only the test fails; any other error ends the run.
    fn not_put_back(&self, error: io::Error) -> TrialError {
        if self.kind == CrashKind::Power && error.kind() == io::ErrorKind::StorageFull {
            let error = format!(
                "the loaded data do not fit on a disk of {} bytes: choose a larger --disk, or fewer --records",
                self.own.disk_bytes
            );
            return TrialError::failed(FailureKind::Environment, error);
        }
        RunError::io("put the loaded data back")(error).into()
    }

    /// Path of the acknowledgement log: never on the disk whose power is cut.
    fn promises(&self) -> PathBuf {
        self.bench.work.join(format!("{}.promises", self.one.name))
    }

    /// Runs the clients until the crash.
    fn work(
        &self,
        session: &mut Session<'a>,
        power: Option<&(dyn Fn() -> Result<(), String> + Sync)>,
    ) -> Result<Worked, TrialError> {
        let promises = self.promises();
        remove(&promises)?;
        let job = serde_json::to_value(self.job(session, &promises)?)
            .map_err(|error| TrialError::failed(FailureKind::Protocol, format!("the job: {error}")))?;
        let wait = Duration::from_secs_f64(self.moment_s());
        let watch = Mutex::new(StallWatch::begin(session.folder()));
        let moment = |is_over: &dyn Fn() -> bool| has_come(&promises, wait, is_over, &watch);
        let limit = Duration::from_secs_f64(self.own.work_s.1 + BEYOND_S) + GRACE;
        let stop = CrashTrigger { moment: &moment, power };
        let stopped: CrashResult<JobReport> = session.crash(&Op::Drive { job }, limit, &stop)?;
        // Wrong answers before the crash must not be attributed to the crash.
        if let Some(wrong) = stopped.answer.as_ref().and_then(|driven| driven.wrong.first()) {
            return Err(TrialError::failed(FailureKind::Wrong, format!("before the stop: {wrong}")));
        }
        let stalls = watch.into_inner().unwrap_or_else(PoisonError::into_inner).longest();
        let cut = stopped.cut.ok_or_else(|| {
            let refusals = stopped.answer.iter().flat_map(|driven| driven.refusals.keys());
            let words = refusals.take(3).cloned().collect::<Vec<_>>().join("; ");
            let error = format!("no write was acknowledged, so that there was nothing to stop: {words}");
            TrialError::failed(FailureKind::Refused, error)
        })?;
        Ok(Worked { cut, stalls })
    }

    /// Seconds of work before the crash, drawn from the seed so that a resumed run draws the same.
    fn moment_s(&self) -> f64 {
        const STEPS: u64 = 1 << 32;
        let stream = u64::from(self.stop) << 1 | u64::from(self.kind == CrashKind::Power);
        let drawn = Random::new(self.bench.settings.seed, stream).below(STEPS) as f64 / STEPS as f64;
        let (least, most) = self.own.work_s;
        least + drawn * (most - least)
    }

    fn job(&self, session: &Session<'_>, promises: &Path) -> Result<Job, TrialError> {
        let (own, one) = (self.own, self.one);
        let projection = Projection::default();
        let most = one.part.clients.unwrap_or(u32::MAX);
        Ok(Job {
            records: one.records.records().clone(),
            loaded: self.bench.staged.documents,
            load: format!("{} {}", self.kind, self.stop),
            mix: one.mix.clone(),
            scripts: scripts::scripts(session, &one.part, &one.records, projection, &one.mix)?,
            clients: own.clients.min(most).max(1),
            threads: None,
            arrival: Arrival::Closed,
            ramp_s: 0.0,
            stop: StopCondition::Time { seconds: own.work_s.1 + BEYOND_S },
            seed: self.bench.settings.seed.wrapping_add(u64::from(self.stop) << 32),
            verify: true,
            prepare: true,
            batch: 1,
            scan: 1,
            limit: 1,
            projection,
            retries: RETRIES,
            timeout_s: own.timeout_s,
            watched: SamplingTargets::default(),
            writers_take_turns: one.part.writers_take_turns,
            ack_log: Some(promises.to_owned()),
        })
    }

    /// Starts the system again and reads all documents.
    fn after(
        &self,
        session: &mut Session<'a>,
        worked: &Worked,
        recorder: &mut TrialRecorder<'_>,
    ) -> Result<(Metrics, Vec<Finding>), TrialError> {
        let limit = Duration::from_secs_f64(self.own.recovery_s);
        session.limit_opening(limit);
        let begun = Instant::now();
        let (mut metrics, findings) = match session.open() {
            Ok(()) => {
                let recovery_s = session.open_s;
                let (mut metrics, findings) = self.read(session, &worked.cut, recorder)?;
                metrics.insert("recovery_s".to_owned(), recovery_s);
                (metrics, findings)
            }
            Err(TrialError::Failed(failure)) if crash_report::is_of_system(&failure) => {
                let in_time = begun.elapsed() < limit;
                self.told().gone(UnrecoverableAt::Opening { in_time }, &failure)
            }
            Err(other) => return Err(other),
        };
        session.kill();
        remove(&self.promises())?;
        metrics.extend(crash_report::of_stalls(worked.stalls));
        Ok((metrics, findings))
    }

    fn read(
        &self,
        session: &mut Session<'a>,
        cut: &CrashWindow,
        recorder: &mut TrialRecorder<'_>,
    ) -> Result<(Metrics, Vec<Finding>), TrialError> {
        let one = self.one;
        let mut scripts =
            scripts::scripts(session, &one.part, &one.records, Projection::default(), &one.mix)?;
        let Some(script) = scripts.remove(&Operation::Read) else {
            return Err(TrialError::failed(FailureKind::Protocol, "the system has no read by key"));
        };
        let job = RecoveryRead {
            records: one.records.records().clone(),
            loaded: self.bench.staged.documents,
            promises: self.promises(),
            cut: *cut,
            script,
        };
        let job = serde_json::json!({ READ_BACK: job });
        let limit = Duration::from_secs_f64(self.bench.settings.timeout_s);
        match session.request::<RecoveryAudit>(
            &Op::Drive { job },
            limit,
            &mut forward_progress(recorder.observer),
        ) {
            Ok(kept) => Ok(self.told().judged(&kept)),
            Err(TrialError::Failed(failure)) if crash_report::is_of_system(&failure) => {
                Ok(self.told().gone(UnrecoverableAt::Reading, &failure))
            }
            Err(other) => Err(other),
        }
    }
}

fn of_disk(error: OutageError) -> TrialError {
    TrialError::failed(FailureKind::Environment, error.to_string())
}

/// Waits for the first acknowledgement and then for the duration `wait`; watches for stalls meanwhile.
/// Returns `false` if the clients end before that.
fn has_come(promises: &Path, wait: Duration, is_over: &dyn Fn() -> bool, watch: &Mutex<StallWatch>) -> bool {
    let mut watch = watch.lock().unwrap_or_else(PoisonError::into_inner);
    let mut first: Option<Instant> = None;
    while !is_over() {
        let pause = match first {
            None if has_begun(promises) => {
                first = Some(Instant::now());
                continue;
            }
            None => PAUSE,
            Some(first) => match wait.checked_sub(first.elapsed()) {
                None => return true,
                Some(left) => left.min(PAUSE),
            },
        };
        std::thread::sleep(pause);
        watch.look(pause);
    }
    false
}

fn remove(path: &Path) -> Result<(), TrialError> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(RunError::io(format!("remove {}", path.display()))(error).into())
        }
        _ => Ok(()),
    }
}
