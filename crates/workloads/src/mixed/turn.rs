//! One configuration's part of a round: questions before, beside and after writers, then writers alone.

use std::time::Duration;

use jsonathlon_catalogue::MixedSetup;
use jsonathlon_loadgen::mixed::job::{MIXED, MixedJob};
use jsonathlon_loadgen::mixed::report::MixedReport;
use jsonathlon_mixed::{Declared, Sweep, SweepError};
use jsonathlon_schema::metric;
use jsonathlon_schema::record::{Cell, Failure, FailureKind, PEAK_TOO_SHORT, Phase, TOO_SHORT, Trial};
use jsonathlon_schema::settings::mixed::MixedSettings;
use jsonathlon_worker::protocol::Op;

use super::documents::MixedDocuments;
use super::jobs::JobBuilder;
use super::results::RoundResults;
use super::round_log::{JobLog, Purpose, RoundJudgements, RoundLog, declared};
use super::trials::{ASKING_PHASES, phase_cells};
use crate::{
    RunError,
    loading::{settle, skipped_after_load_failure},
    observer::{Activity, RunEvent},
    pinning,
    recorder::{SAME_REASON, TrialRecorder},
    run_context::{LoadedDocuments, RunContext, TABLE, TargetState},
    session::{TrialError, forward_progress},
    snapshot::Snapshot,
};

/// Time for a job beside its planned seconds: connecting, making batches, completing what was begun.
const GRACE_S: f64 = 120.0;

/// A configuration with the state that this workload keeps for it.
pub(super) struct MixedTarget<'d, 'a> {
    pub(super) state: TargetState<'a>,
    pub(super) setup: MixedSetup,
    /// Copy of the data as loaded and drained. `None` before the load.
    pub(super) snapshot: Option<Snapshot>,
    /// Documents per second of the writers alone in the last such part; an error says why they are not known.
    pub(super) peak_per_s: Result<f64, String>,
    /// Expected answers over the loaded documents and any that come in. `None` before they are needed.
    pub(super) sweep: Option<Sweep<'d>>,
}

impl MixedTarget<'_, '_> {
    pub(super) fn name(&self) -> String {
        self.state.cells.target.file_name()
    }
}

/// One configuration's part of a round.
#[derive(Clone, Copy)]
pub(super) struct MixedTurn<'d, 'b, 'a> {
    pub(super) context: &'b RunContext<'a>,
    pub(super) settings: &'b MixedSettings,
    pub(super) documents: &'d MixedDocuments,
    pub(super) round: u32,
}

/// How far a part of a round came: what its clients did, and what it took to drain.
#[derive(Debug, Default)]
pub(super) struct PartLog {
    pub(super) log: RoundLog,
    /// Seconds that draining took. `None` if it was not reached.
    pub(super) drained_s: Option<f64>,
}

impl<'d, 'b, 'a> MixedTurn<'d, 'b, 'a> {
    /// This turn with other settings.
    pub(super) fn with_settings<'s>(&self, settings: &'s MixedSettings) -> MixedTurn<'d, 's, 'a>
    where
        'b: 's,
    {
        MixedTurn { context: self.context, settings, documents: self.documents, round: self.round }
    }

    /// Runs both parts of the round of which the journal does not contain every trial. A part is a unit: all of its
    /// phases run on the same data, one after the other.
    pub(super) fn run_missing_parts(
        &self,
        target: &mut MixedTarget<'d, 'a>,
        recorder: &mut TrialRecorder<'_>,
    ) -> Result<(), RunError> {
        self.context.fail_planned_loads(self.round, &target.state, recorder)?;
        let mut is_load_due = self.context.is_load_due(self.round, &target.state, recorder);
        for phases in [ASKING_PHASES.as_slice(), [Phase::Alone].as_slice()] {
            if self.is_unit_missing(&self.cells(phases, target), recorder)? || is_load_due {
                self.run_part(phases, is_load_due, target, recorder)?;
                is_load_due = false;
            }
        }
        Ok(())
    }

    /// Whether the journal lacks results of cells that are measured as a unit, in the same process. If it has only
    /// some of them, because the program ended while they were written, these are removed: a unit must not be put
    /// together from two runs.
    pub(super) fn is_unit_missing(
        &self,
        unit: &[Cell],
        recorder: &mut TrialRecorder<'_>,
    ) -> Result<bool, RunError> {
        let keys: Vec<String> = unit.iter().map(|cell| cell.trial_key(self.round, 0)).collect();
        recorder.discard_incomplete(&keys)?;
        Ok(keys.iter().any(|key| !recorder.has(key)))
    }

    pub(super) fn cells(&self, phases: &[Phase], target: &MixedTarget<'d, 'a>) -> Vec<Cell> {
        let cells = |phase: &Phase| phase_cells(target.state.cells, self.settings, *phase);
        phases.iter().flat_map(cells).collect()
    }

    pub(super) fn has_missing(
        &self,
        phases: &[Phase],
        target: &MixedTarget<'d, 'a>,
        recorder: &TrialRecorder<'_>,
    ) -> bool {
        let cells = self.cells(phases, target);
        cells.iter().any(|cell| !recorder.has(&cell.trial_key(self.round, 0)))
    }

    pub(super) fn run_part(
        &self,
        phases: &[Phase],
        is_load_due: bool,
        target: &mut MixedTarget<'d, 'a>,
        recorder: &mut TrialRecorder<'_>,
    ) -> Result<(), RunError> {
        if let Err(failure) = self.restore_loaded_data(is_load_due, target, recorder)? {
            return self.record_failures(phases, &failure, target, recorder);
        }
        // A resumed round of the frontier needs the peak for its rates, though it is recorded.
        let is_peak = phases == [Phase::Alone] && self.settings.is_frontier();
        if !is_peak && !self.has_missing(phases, target, recorder) {
            return Ok(());
        }
        let mut part = PartLog::default();
        let measured = self.measure(phases, &mut part, target, recorder);
        let failure = TrialError::split_fatal(measured)?.err();
        match failure {
            Some(_) => target.state.session.kill(),
            None => self.close_session(target, recorder)?,
        }
        self.record(phases, &part, failure, target, recorder)
    }

    /// Ends the session after its last job. An error in ending it costs no results, because all clients have ended.
    pub(super) fn close_session(
        &self,
        target: &mut MixedTarget<'d, 'a>,
        recorder: &mut TrialRecorder<'_>,
    ) -> Result<(), RunError> {
        if let Err(failure) = TrialError::split_fatal(target.state.session.close())? {
            recorder.warn(&format!("{}: failed to close the session: {}", target.name(), failure.error));
        }
        Ok(())
    }

    /// Loads the data or restores the copy of the last load. Leaves the engine stopped. The inner failure is that
    /// of the load.
    pub(super) fn restore_loaded_data(
        &self,
        is_load_due: bool,
        target: &mut MixedTarget<'d, 'a>,
        recorder: &mut TrialRecorder<'_>,
    ) -> Result<Result<(), Failure>, RunError> {
        target.state.session.kill();
        if is_load_due || !target.state.is_loaded || target.snapshot.is_none() {
            if target.state.is_loaded && target.state.load_result.is_err() {
                // A failed load is not repeated.
                return Ok(load_failure(target));
            }
            (target.snapshot, target.sweep) = (None, None);
            self.context.load(self.round, &mut target.state, recorder)?;
            if target.state.load_result.is_ok() {
                let snapshot = Snapshot::take(target.state.session.folder());
                target.snapshot = Some(snapshot.map_err(RunError::io("copy the loaded data"))?);
            }
        } else if let Some(snapshot) = &target.snapshot {
            snapshot.restore().map_err(RunError::io("put the loaded data back"))?;
        }
        Ok(load_failure(target))
    }

    pub(super) fn announce(
        &self,
        phase: Phase,
        target: &MixedTarget<'d, 'a>,
        recorder: &mut TrialRecorder<'_>,
    ) {
        let mut activity = format!("round {}: {} {}", self.round, target.name(), phase.word());
        if self.settings.is_still() {
            activity.push_str(&format!(", streams: {}", self.settings.streams));
        }
        recorder.observer.event(&RunEvent::Began { activity: Activity::TargetTurn, description: &activity });
        target.state.session.subject().set_activity(&activity);
    }

    pub(super) fn jobs(&self, target: &mut MixedTarget<'d, 'a>) -> Result<JobBuilder<'_>, TrialError> {
        target.state.session.open()?;
        self.pin(target)?;
        let seed = self.context.settings.seed.wrapping_add(u64::from(self.round) << 32);
        JobBuilder::new(self.settings, &target.setup, &target.state.session, self.documents, seed)
    }

    /// Pins the system to the CPUs of the run, if it names some. An embedded engine is pinned with its clients, whose
    /// process it is.
    fn pin(&self, target: &MixedTarget<'d, 'a>) -> Result<(), TrialError> {
        let (Some(cpus), Some(process)) = (&self.settings.server_cpus, target.state.session.engine_pid())
        else {
            return Ok(());
        };
        pinning::pin(process, cpus).map_err(|error| {
            let message = format!("failed to pin the system to the CPUs {cpus:?}: {error}");
            TrialError::failed(FailureKind::Environment, message)
        })
    }

    /// Runs clients; fails with a crash if the server ends meanwhile.
    fn drive(
        &self,
        job: &MixedJob,
        target: &mut MixedTarget<'d, 'a>,
        recorder: &mut TrialRecorder<'_>,
    ) -> Result<MixedReport, TrialError> {
        let limit = Duration::from_secs_f64(job.max_seconds + self.context.settings.timeout_s + GRACE_S);
        let job = serde_json::to_value(job)
            .map_err(|error| TrialError::failed(FailureKind::Protocol, format!("the job: {error}")))?;
        let op = Op::Drive { job: serde_json::json!({ MIXED: job }) };
        let session = &mut target.state.session;
        let (report, exits): (MixedReport, Vec<String>) =
            session.run_clients(&op, limit, &mut forward_progress(recorder.observer))?;
        match exits.is_empty() {
            true => Ok(report),
            false => Err(TrialError::failed(FailureKind::Crash, exits.join("; "))),
        }
    }

    /// Runs a job and adds what its clients did to the log of the round.
    pub(super) fn run_job(
        &self,
        (phase, purpose): (Phase, Purpose),
        job: &MixedJob,
        part: &mut PartLog,
        target: &mut MixedTarget<'d, 'a>,
        recorder: &mut TrialRecorder<'_>,
    ) -> Result<(), TrialError> {
        self.announce(phase, target, recorder);
        let report = self.drive(job, target, recorder)?;
        part.log.jobs.push(JobLog { phase, purpose, report });
        Ok(())
    }

    /// Asks one set by each stream, unmeasured.
    pub(super) fn warm_up(
        &self,
        jobs: &JobBuilder<'_>,
        target: &mut MixedTarget<'d, 'a>,
        recorder: &mut TrialRecorder<'_>,
    ) -> Result<(), TrialError> {
        self.announce(Phase::Still, target, recorder);
        let job = jobs.ask_once(jobs.no_floors(), self.context.settings.timeout_s);
        let report = self.drive(&job, target, recorder)?;
        let log = JobLog { phase: Phase::Still, purpose: Purpose::Measured, report };
        let (_, messages) = log.errors();
        match messages.into_iter().next() {
            Some(message) => Err(TrialError::failed(FailureKind::Refused, message)),
            None => Ok(()),
        }
    }

    /// Waits until the system has done what it does by itself after a while. Returns the seconds that this took.
    pub(super) fn drain(&self, target: &mut MixedTarget<'d, 'a>) -> Result<f64, TrialError> {
        let limit_s = self.context.settings.load_timeout_s;
        let sync = !target.state.session.is_remote();
        Ok(settle(&mut target.state.session, "drain", TABLE, limit_s, sync)?.seconds)
    }

    /// Asks every question once, with everything that the writers have inserted above its floors.
    pub(super) fn check_end(
        &self,
        phase: Phase,
        jobs: &JobBuilder<'_>,
        part: &mut PartLog,
        target: &mut MixedTarget<'d, 'a>,
        recorder: &mut TrialRecorder<'_>,
    ) -> Result<(), TrialError> {
        let floors = jobs.no_floors().into_iter().take(1).collect();
        let job = jobs.ask_once(floors, self.context.settings.timeout_s);
        self.run_job((phase, Purpose::EndCheck), &job, part, target, recorder)?;
        if part.log.is_end_checked() {
            return Ok(());
        }
        let message = "it could not be checked whether all acknowledged documents are there";
        let reason = part.log.jobs.last().and_then(|job| job.errors().1.into_iter().next());
        let reason = reason.map(|reason| format!(": {reason}")).unwrap_or_default();
        Err(TrialError::failed(FailureKind::Refused, format!("{message}{reason}")))
    }

    /// Judges what was answered, and records all trials of a part that have no record yet. `failure` is why the
    /// part ended early.
    pub(super) fn record(
        &self,
        phases: &[Phase],
        part: &PartLog,
        failure: Option<Failure>,
        target: &mut MixedTarget<'d, 'a>,
        recorder: &mut TrialRecorder<'_>,
    ) -> Result<(), RunError> {
        let Ok(loaded) = &target.state.load_result else { return Ok(()) };
        let mut declared = declared(&target.setup);
        // Where nothing comes in, all statements see the same documents.
        declared.snapshot |= self.settings.is_still();
        let (base, judgements) = match self.judge(part, loaded, &declared, &mut target.sweep) {
            Ok(judged) => judged,
            Err(error) => {
                target.sweep = None;
                let failure = Failure::new(FailureKind::Protocol, format!("cannot be verified: {error}"));
                return self.record_failures(phases, &failure, target, recorder);
            }
        };
        if let Some(wrong) = &judgements.wrong {
            let failure = Failure::new(FailureKind::Wrong, wrong.clone());
            return self.record_failures(phases, &failure, target, recorder);
        }
        // All writers of a part insert in the same phase.
        let inserting = if phases == [Phase::Alone] { Phase::Alone } else { Phase::Both };
        let documents_of = self.documents.documents_of_writers(inserting);
        let results = RoundResults {
            settings: self.settings,
            cells: target.state.cells,
            round: self.round,
            log: &part.log,
            judgements: &judgements,
            declared: &declared,
            base,
            documents_of: &documents_of,
            drained_s: part.drained_s,
        };
        self.warn_of_errors(&part.log, target, recorder);
        let is_end_checked = part.log.is_end_checked();
        // What writers have inserted is only known to be there after a look at the end.
        let has_result =
            |phase: &Phase| results.has_phase(*phase) && (*phase == Phase::Still || is_end_checked);
        for phase in phases.iter().copied().filter(has_result) {
            if let Some(failure) = results.phase_failure(phase) {
                self.record_failures(&[phase], &failure, target, recorder)?;
                continue;
            }
            let trials = results.trials(phase);
            if phase == Phase::Alone {
                target.peak_per_s = peak_of(&trials);
            }
            self.record_trials(trials, recorder)?;
        }
        recorder.sync()?;
        let without_reason = || Failure::new(FailureKind::Protocol, "no results");
        let failure = failure.unwrap_or_else(without_reason);
        self.record_failures(phases, &failure, target, recorder)
    }

    /// Records trials that have no record yet, without waiting for the disk.
    fn record_trials(&self, trials: Vec<Trial>, recorder: &mut TrialRecorder<'_>) -> Result<(), RunError> {
        for trial in trials {
            let key = trial.cell.trial_key(self.round, 0);
            if !recorder.has(&key) {
                recorder.record_trial_unsynced(key, trial)?;
            }
        }
        Ok(())
    }

    /// Judges a part with the expected answers of the last load. Returns also how many documents the system held
    /// before the writers began.
    fn judge(
        &self,
        part: &PartLog,
        loaded: &LoadedDocuments,
        declared: &Declared,
        sweep: &mut Option<Sweep<'d>>,
    ) -> Result<(u64, RoundJudgements), SweepError> {
        let sweep = match sweep {
            Some(sweep) => sweep,
            empty => empty.insert(self.documents.sweep(loaded)?),
        };
        let base = sweep.base_documents();
        Ok((base, part.log.judge(sweep, declared, self.settings.writers)?))
    }

    fn warn_of_errors(&self, log: &RoundLog, target: &MixedTarget<'d, 'a>, recorder: &mut TrialRecorder<'_>) {
        for job in log.jobs.iter().filter(|job| job.belongs_to(self.settings)) {
            let (_, messages) = job.errors();
            for message in messages.into_iter().take(3) {
                recorder.warn(&format!("{} {}: {message}", target.name(), job.phase.word()));
            }
        }
    }

    /// Records a failure for all cells of these phases that have no record yet. Only the first record holds the
    /// message.
    pub(super) fn record_failures(
        &self,
        phases: &[Phase],
        failure: &Failure,
        target: &MixedTarget<'d, 'a>,
        recorder: &mut TrialRecorder<'_>,
    ) -> Result<(), RunError> {
        let (mut original, mut reported) = (failure.clone(), failure.clone());
        for cell in self.cells(phases, target) {
            let key = cell.trial_key(self.round, 0);
            if recorder.has(&key) {
                continue;
            }
            recorder.record_failure(key.clone(), &cell, self.round, 0, reported)?;
            original = original.with_cause_key(&key);
            reported = original.consequence(SAME_REASON);
        }
        Ok(())
    }
}

/// Why the peak of the writers is not known before it was measured, or if that failed.
pub(super) const NO_PEAK: &str = "the peak of the writers could not be measured in this round";

/// Documents per second of the writers of these trials; an error says why they are no peak that rates can be shares of.
fn peak_of(trials: &[Trial]) -> Result<f64, String> {
    let mut findings = trials.iter().flat_map(|trial| &trial.findings);
    if let Some(short) = findings.find(|finding| finding.subject == TOO_SHORT) {
        let remedy = short.message.as_ref().map_or_else(String::new, |message| format!(": {message}"));
        return Err(format!("{PEAK_TOO_SHORT}{remedy}"));
    }
    let rate = trials.iter().find_map(|trial| trial.metrics.get(metric::DOCUMENTS_PER_S.name).copied());
    rate.filter(|rate| *rate > 0.0).ok_or_else(|| NO_PEAK.to_owned())
}

/// Failure of the trials of a configuration whose load failed; `Ok` if it is loaded.
fn load_failure(target: &MixedTarget<'_, '_>) -> Result<(), Failure> {
    match &target.state.load_result {
        Ok(_) => Ok(()),
        Err(failure) => Err(skipped_after_load_failure(failure)),
    }
}

#[cfg(test)]
mod tests {
    use jsonathlon_schema::record::Finding;

    use super::*;
    use crate::cells::control_cell;
    use crate::recorder::new_trial;

    #[test]
    fn a_peak_that_was_measured_for_too_short_a_time_is_none() {
        let mut trial = new_trial(&control_cell("mixed"), 1, 0);
        assert_eq!(peak_of(&[trial.clone()]), Err(NO_PEAK.to_owned()));
        trial.metrics.extend([metric::DOCUMENTS_PER_S.with_value(40_000.0)]);
        assert_eq!(peak_of(&[trial.clone()]), Ok(40_000.0));
        let finding = Finding::new(TOO_SHORT, "0.40 s");
        trial.findings = vec![Finding { message: Some("give --growth 90%".to_owned()), ..finding }];
        let reason = peak_of(&[trial]).unwrap_err();
        assert_eq!(reason, "the peak of the writers is too short: give --growth 90%");
    }
}
