//! Runs one configuration's part of a round: restore the data, then run all trials.

mod reports;
mod restore;

use std::{collections::HashMap, time::Duration};

use jsonathlon_loadgen::{
    job::{Job, SamplingTargets},
    mix::Mix,
    report::JobReport,
};
use jsonathlon_schema::metric;
use jsonathlon_schema::record::{Cell, Failure, FailureKind, Metrics, Verdict};
use jsonathlon_stats::arrival::Arrival;
use jsonathlon_telemetry::stop_condition::StopCondition;
use jsonathlon_worker::protocol::Op;

use super::{
    Serving, ServingTarget, encoding,
    outcome::{ServingResults, TrialContext},
    plans, reports as user_reports, scripts,
    settings::{Rate, ServingSettings},
    slo_search::SloSearch,
    suitability,
    trials::{self, ConditionKind, TrialConditions},
    wal::{self, WalUsage},
};
use crate::{
    RunError,
    in_memory::read_limit_bytes,
    observer::{Activity, RunEvent},
    questions::Questions,
    recorder::{TrialRecorder, new_trial},
    run_context::{RunContext, TABLE},
    session::{TrialError, forward_progress},
};

pub(super) use reports::survey_reports;

/// Time for a trial in addition to its planned seconds: connecting, finishing open operations, reading back.
const GRACE_S: f64 = 120.0;

/// One configuration's part of a round.
pub(super) struct ServingTurn<'t, 'b, 'a> {
    pub(super) context: &'b RunContext<'a>,
    pub(super) settings: &'t ServingSettings,
    pub(super) round: u32,
    /// Highest throughput of the closed loops of this round, by mix index.
    pub(super) capacity: HashMap<usize, f64>,
    /// Questions that are asked at rest and beside loads; `None` without such.
    pub(super) reports: Option<&'t Questions>,
}

impl<'t, 'b, 'a> ServingTurn<'t, 'b, 'a> {
    /// Creates the turn of a round in which nothing was measured yet.
    pub(super) fn new(serving: &'t Serving, context: &'b RunContext<'a>, round: u32) -> Self {
        let (settings, reports) = (&serving.settings, serving.reports.as_ref());
        Self { context, settings, round, capacity: HashMap::new(), reports }
    }
}

impl<'a> ServingTurn<'_, '_, 'a> {
    /// Runs every trial of this round that the journal does not contain yet.
    pub(super) fn run_missing_trials(
        &mut self,
        target: &mut ServingTarget<'a>,
        recorder: &mut TrialRecorder<'_>,
    ) -> Result<(), RunError> {
        let (context, settings, round) = (self.context, self.settings, self.round);
        context.fail_planned_loads(round, &target.state, recorder)?;
        let planned = trials::conditions(settings, round);
        let is_missing = |conditions: &TrialConditions, recorder: &TrialRecorder<'_>| {
            let cells = trials::all_cells(target.state.cells, settings, conditions);
            cells.iter().any(|cell| !recorder.has(&cell.trial_key(round, 0)))
        };
        let is_load_due = context.is_load_due(round, &target.state, recorder);
        if !is_load_due && !planned.iter().any(|conditions| is_missing(conditions, recorder)) {
            return Ok(());
        }
        if let Err(failure) = self.restore_loaded_data(is_load_due, target, recorder)? {
            target.state.load_result = Err(failure);
        }
        // Index of the mix that has changed the data since the last restore.
        let mut changed_by: Option<usize> = None;
        for conditions in &planned {
            self.run_missing(conditions, &mut changed_by, target, recorder)?;
        }
        if let Err(failure) = TrialError::split_fatal(target.state.session.close())? {
            let name = target.state.cells.target.file_name();
            recorder.warn(&format!("{name}: failed to close the session: {}", failure.error));
        }
        Ok(())
    }

    /// Runs the trial under these conditions on the data as loaded, unless the journal contains it;
    /// `changed_by` is the index of the mix that has changed the data since the last restore.
    fn run_missing(
        &mut self,
        conditions: &TrialConditions,
        changed_by: &mut Option<usize>,
        target: &mut ServingTarget<'a>,
        recorder: &mut TrialRecorder<'_>,
    ) -> Result<(), RunError> {
        let (settings, round) = (self.settings, self.round);
        let cell = trials::cell(target.state.cells, settings, conditions);
        let key = cell.trial_key(round, 0);
        self.discard_incomplete(conditions, target, recorder)?;
        if recorder.has(&key) {
            return Ok(());
        }
        if let Err(failure) = &target.state.load_result {
            let failure = failure.clone();
            let skipped = crate::loading::skipped_after_load_failure(&failure);
            self.fail_trial(conditions, &skipped, target, recorder)?;
            target.state.load_result = Err(failure.with_cause_key(&key));
            return Ok(());
        }
        if let ConditionKind::Encoded(index) = conditions.kind {
            let document = settings.stored_size_samples.get(index).map_or("", |sample| sample.text.as_str());
            if let Err(failure) =
                TrialError::split_fatal(encoding::measure(document, &cell, round, target, recorder))?
            {
                recorder.record_failure(key, &cell, round, 0, failure)?;
            }
            return Ok(());
        }
        let mix = settings.mixes.get(conditions.mix);
        if let Some(reason) = self.unsupported_reason(conditions, mix, target) {
            for cell in &trials::all_cells(target.state.cells, settings, conditions) {
                let mut trial = new_trial(cell, round, 0);
                trial.verdict = Verdict::NotApplicable;
                trial.failure = Some(Failure::new(FailureKind::Refused, reason.clone()));
                recorder.record_trial(cell.trial_key(round, 0), trial)?;
            }
            return Ok(());
        }
        if conditions.kind == ConditionKind::ReportsAtRest {
            return self.measure_reports_at_rest(conditions, changed_by, target, recorder);
        }
        let Some(mix) = mix else { return Ok(()) };
        // Each mix begins with the data as loaded. A system that ended during a trial may have lost data.
        let is_spoilt = target.state.session.worker_pid().is_none() && target.has_run;
        if is_spoilt || changed_by.is_some_and(|index| index != conditions.mix) {
            if let Err(failure) = self.restore_loaded_data(false, target, recorder)? {
                return self.fail_trial(conditions, &failure, target, recorder);
            }
            *changed_by = None;
        }
        if !trials::only_reads(mix) {
            *changed_by = Some(conditions.mix);
        }
        self.measure_or_fail(conditions, mix, &cell, target, recorder)
    }

    /// Why a trial under these conditions cannot run on this system; `None` if it can.
    fn unsupported_reason(
        &self,
        conditions: &TrialConditions,
        mix: Option<&Mix>,
        target: &ServingTarget<'a>,
    ) -> Option<String> {
        let (paths, projection) = (target.records.paths(), self.settings.projection);
        let has_reports = conditions.beside_reports || conditions.kind == ConditionKind::ReportsAtRest;
        let connections =
            conditions.clients + self.settings.reports.as_ref().map_or(0, |reports| reports.streams);
        let clients = if has_reports { connections } else { conditions.clients };
        let refusal = has_reports.then(|| user_reports::refusal(target)).flatten();
        refusal.or_else(|| match mix {
            Some(mix) => suitability::unsupported_reason(&target.setup, paths, projection, mix, clients),
            None => suitability::too_many_clients(&target.setup, clients),
        })
    }

    /// Measures under these conditions or records the failure, and kills a system that is no longer healthy.
    fn measure_or_fail(
        &mut self,
        conditions: &TrialConditions,
        mix: &Mix,
        cell: &Cell,
        target: &mut ServingTarget<'a>,
        recorder: &mut TrialRecorder<'_>,
    ) -> Result<(), RunError> {
        let (settings, round) = (self.settings, self.round);
        let activity = format!(
            "round {round}: {} {} {}",
            target.state.cells.target.file_name(),
            mix.name,
            condition_label(conditions, settings)
        );
        recorder.observer.event(&RunEvent::Began { activity: Activity::TargetTurn, description: &activity });
        target.state.session.subject().set_activity(&activity);
        let result = TrialError::split_fatal(self.measure(conditions, mix, cell, target, recorder))?;
        if let Err(failure) = result {
            target.state.session.kill();
            self.fail_trial(conditions, &failure, target, recorder)?;
        } else if target.state.session.server_exited() {
            let name = target.state.cells.target.file_name();
            recorder
                .warn(&format!("{name}: the server ended while clients were at work; it is started again"));
            target.state.session.kill();
        }
        Ok(())
    }

    /// Builds a job of `(warm-up, measured)` seconds.
    fn job(
        &self,
        mix: &Mix,
        clients: u32,
        arrival: Arrival,
        (ramp_s, measured_s): (f64, f64),
        target: &ServingTarget<'a>,
    ) -> Result<Job, TrialError> {
        let settings = self.settings;
        let stop = match settings.operation_count {
            Some(operations) if ramp_s == 0.0 && arrival == Arrival::Closed => {
                StopCondition::Count { operations }
            }
            _ => StopCondition::Time { seconds: measured_s },
        };
        let session = &target.state.session;
        let sampling_targets = SamplingTargets {
            checkpoints: match stop {
                // With a fixed number of operations, the WAL is measured exactly, and this statement may
                // write to it.
                StopCondition::Count { .. } => None,
                StopCondition::Time { .. } => session.statements("checkpoints", &[])?.into_iter().next(),
            },
            folder: (!session.is_remote()).then(|| session.folder().to_owned()),
        };
        Ok(Job {
            records: target.records.for_job()?,
            loaded: self.context.staged.documents,
            load: format!("{}", target.load_number),
            mix: mix.clone(),
            scripts: scripts::scripts(
                session,
                &target.setup,
                target.records.paths(),
                settings.projection,
                mix,
            )?,
            clients,
            threads: None,
            arrival,
            ramp_s,
            stop,
            seed: self.context.settings.seed.wrapping_add(u64::from(self.round) << 32),
            verify: true,
            prepare: settings.prepare,
            batch: settings.batch_size,
            scan: settings.max_scan_length,
            limit: settings.find_limit,
            projection: settings.projection,
            retries: settings.retries,
            timeout_s: settings.timeout_s,
            sampling_targets,
            writers_take_turns: target.setup.writers_take_turns,
            ack_log: None,
            reports: None,
        })
    }

    /// Runs clients; fails with a crash if the server ends meanwhile.
    fn drive(
        &self,
        job: &Job,
        target: &mut ServingTarget<'a>,
        recorder: &mut TrialRecorder<'_>,
    ) -> Result<JobReport, TrialError> {
        match self.drive_despite_exits(job, target, recorder)? {
            (report, exits) if exits.is_empty() => Ok(report),
            (_, exits) => Err(TrialError::failed(FailureKind::Crash, exits.join("; "))),
        }
    }

    /// Runs clients even if the server ends meanwhile; returns how it ended, each time.
    pub(super) fn drive_despite_exits(
        &self,
        job: &Job,
        target: &mut ServingTarget<'a>,
        recorder: &mut TrialRecorder<'_>,
    ) -> Result<(JobReport, Vec<String>), TrialError> {
        target.has_run = true;
        // A fixed number of operations may take any time up to the run's timeout.
        let seconds = job.stop.seconds().unwrap_or(self.context.settings.timeout_s);
        let reports_s = job.reports.as_ref().map_or(0.0, |reports| reports.max_seconds + reports.patience_s);
        let limit = Duration::from_secs_f64(job.ramp_s + seconds + reports_s + job.timeout_s + GRACE_S);
        let job = serde_json::to_value(job)
            .map_err(|error| TrialError::failed(FailureKind::Protocol, format!("the job: {error}")))?;
        target.state.session.run_clients(&Op::Drive { job }, limit, &mut forward_progress(recorder.observer))
    }

    fn measure(
        &mut self,
        conditions: &TrialConditions,
        mix: &Mix,
        cell: &Cell,
        target: &mut ServingTarget<'a>,
        recorder: &mut TrialRecorder<'_>,
    ) -> Result<(), TrialError> {
        plans::check(self.round, self.settings, mix, cell, target, recorder)?;
        if target.state.session.worker_pid().is_none() {
            // Reading a plan may end the session, and its worker's knowledge of the data with it.
            if let Err(failure) = self.restore_loaded_data(false, target, recorder)? {
                return Err(failure.into());
            }
        }
        let settings = self.settings;
        let seconds = (settings.warmup_s, settings.duration_s);
        match conditions.kind {
            ConditionKind::Capacity => {
                let throughput =
                    self.run_trial(conditions, mix, cell, Arrival::Closed, seconds, target, recorder)?;
                // Rates are shares of the capacity without reports, also beside reports.
                if !conditions.beside_reports {
                    let highest = self.capacity.entry(conditions.mix).or_default();
                    *highest = highest.max(throughput);
                }
                Ok(())
            }
            ConditionKind::Soak => {
                let seconds = (settings.warmup_s, settings.soak_s.unwrap_or(settings.duration_s));
                self.run_trial(conditions, mix, cell, Arrival::Closed, seconds, target, recorder).map(drop)
            }
            ConditionKind::AtRate(rate) => {
                let per_s = match rate {
                    Rate::PerSecond(per_s) => per_s,
                    Rate::OfCapacity(share) => share * self.capacity_of(conditions, mix, target, recorder)?,
                };
                let arrival = settings.arrival.with_rate(per_s);
                self.run_trial(conditions, mix, cell, arrival, seconds, target, recorder).map(drop)
            }
            ConditionKind::Slo => self.search(conditions, mix, cell, target, recorder),
            // Measured without clients.
            ConditionKind::Encoded(_) | ConditionKind::ReportsAtRest => Ok(()),
        }
    }

    /// Highest throughput of the closed loops in this round. Measured again if a resumed run does not know
    /// it.
    fn capacity_of(
        &mut self,
        conditions: &TrialConditions,
        mix: &Mix,
        target: &mut ServingTarget<'a>,
        recorder: &mut TrialRecorder<'_>,
    ) -> Result<f64, TrialError> {
        if let Some(known) = self.capacity.get(&conditions.mix).filter(|known| **known > 0.0) {
            return Ok(*known);
        }
        let seconds = (self.settings.warmup_s, self.settings.duration_s);
        let job = self.job(mix, conditions.clients, Arrival::Closed, seconds, target)?;
        let capacity = ServingResults::new(self.drive(&job, target, recorder)?)?.throughput();
        self.capacity.insert(conditions.mix, capacity);
        Ok(capacity)
    }

    /// Runs one trial, records it, and returns its throughput in operations per second.
    #[expect(clippy::too_many_arguments, reason = "what a trial is made of")]
    fn run_trial(
        &self,
        conditions: &TrialConditions,
        mix: &Mix,
        cell: &Cell,
        arrival: Arrival,
        (ramp_s, measured_s): (f64, f64),
        target: &mut ServingTarget<'a>,
        recorder: &mut TrialRecorder<'_>,
    ) -> Result<f64, TrialError> {
        // A fixed number of operations is counted from the first operation on.
        let ramp_s = if self.settings.operation_count.is_some() { 0.0 } else { ramp_s };
        let mut job = self.job(mix, conditions.clients, arrival, (ramp_s, measured_s), target)?;
        if conditions.beside_reports {
            job.reports = Some(self.reports_job(target, recorder)?);
        }
        let is_counted = job.stop.operations().is_some();
        let started_s = jiff::Timestamp::now().as_millisecond() as f64 / 1e3;
        let has_writes = !trials::only_reads(mix);
        let read_limit_bytes = read_limit_bytes(&target.state.session);
        if has_writes && is_counted {
            // A page's first change after a checkpoint may write a full page image: a checkpoint before the
            // trial makes that equal for all pages.
            let statements = target.state.session.statements("drain", &[("table", TABLE)])?;
            target.state.session.run(statements, self.load_limit())?;
        }
        let wal_before =
            if has_writes { wal::read_counters(&mut target.state.session, &target.setup)? } else { None };
        let (mut report, exits) = self.drive_despite_exits(&job, target, recorder)?;
        let reports_log = report.reports.take();
        let outcome = ServingResults::new(report)?;
        let loss = outcome.loss_message(&exits);
        let WalUsage { metrics, wal_bytes } = match wal_before.filter(|_| loss.is_none()) {
            Some(wal_before) => wal::measure_usage(&wal_before, &job, &outcome, target, recorder)?,
            None => WalUsage::default(),
        };
        let metrics = trial_metrics(&job, metrics);
        let findings = match &reports_log {
            Some(log) => {
                let loss = loss.as_deref();
                self.record_beside(log, conditions, mix, &outcome, loss, target, recorder)?
            }
            None => Vec::new(),
        };
        let trial_context = TrialContext {
            verified: job.verify,
            wal_bytes,
            metrics,
            ramp_s,
            read_limit_bytes,
            loss,
            findings,
            has_reports: reports_log.is_some(),
        };
        self.write_histograms(&outcome.interval_log(started_s, ramp_s), conditions, mix, target, recorder)?;
        self.record(&outcome, cell, &trial_context, recorder)?;
        warn_of_faults(&outcome, &trial_context, mix, target, recorder);
        let has_lost = trial_context.loss.is_some();
        // A session that clients lost is broken, and a question that was given up may still be worked on. Later
        // trials begin with restored data.
        if has_lost || reports_log.is_some_and(|log| user_reports::has_unfinished(&log)) {
            target.state.session.kill();
        }
        Ok(if has_lost { 0.0 } else { outcome.throughput() })
    }

    /// Writes the histograms of a trial, as text, into the run folder.
    fn write_histograms(
        &self,
        log: &str,
        conditions: &TrialConditions,
        mix: &Mix,
        target: &ServingTarget<'a>,
        recorder: &TrialRecorder<'_>,
    ) -> Result<(), RunError> {
        let name = format!(
            "histograms/{}-{}-{}-{}.hlog",
            target.state.cells.target.file_name(),
            mix.name,
            trials::file_name_part(conditions),
            self.round
        );
        recorder.folder.write_file(&name, log.as_bytes())?;
        Ok(())
    }

    /// Records the trials of an outcome that have no record yet.
    fn record(
        &self,
        outcome: &ServingResults,
        cell: &Cell,
        trial_context: &TrialContext,
        recorder: &mut TrialRecorder<'_>,
    ) -> Result<(), RunError> {
        for trial in outcome.trials(cell, self.round, trial_context) {
            let key = trial.cell.trial_key(self.round, 0);
            if !recorder.has(&key) {
                recorder.record_trial(key, trial)?;
            }
        }
        Ok(())
    }

    /// Searches the highest rate that meets the service-level objective and records the trial at that rate.
    fn search(
        &mut self,
        conditions: &TrialConditions,
        mix: &Mix,
        cell: &Cell,
        target: &mut ServingTarget<'a>,
        recorder: &mut TrialRecorder<'_>,
    ) -> Result<(), TrialError> {
        let Some(slo) = self.settings.slo else { return Ok(()) };
        let capacity = self.capacity_of(conditions, mix, target, recorder)?;
        let mut search = SloSearch::new(capacity);
        let mut best: Option<ServingResults> = None;
        while let Some(per_s) = search.next_rate() {
            let seconds = (self.settings.warmup_s, self.settings.duration_s);
            let job =
                self.job(mix, conditions.clients, self.settings.arrival.with_rate(per_s), seconds, target)?;
            let outcome = ServingResults::new(self.drive(&job, target, recorder)?)?;
            let is_met = outcome.meets(slo);
            search.record(is_met);
            if is_met {
                best = Some(outcome);
            }
        }
        let (met, missed) = search.bounds();
        let metrics = Metrics::from([
            metric::CLIENTS.with_value(f64::from(conditions.clients)),
            metric::SLO_OPS_PER_S.with_value(met),
            metric::SLO_BROKEN_OPS_PER_S.with_value(missed),
        ]);
        let trial_context = TrialContext {
            verified: true,
            metrics,
            ramp_s: self.settings.warmup_s,
            ..TrialContext::default()
        };
        let Some(outcome) = best else {
            return Err(TrialError::failed(
                FailureKind::Refused,
                format!("no rate above {missed:.0} operations per second keeps {slo}"),
            ));
        };
        Ok(self.record(&outcome, cell, &trial_context, recorder)?)
    }
}

/// Metrics of a trial in addition to the clients' own: its conditions, its WAL, and this program's memory.
fn trial_metrics(job: &Job, wal_metrics: Metrics) -> Metrics {
    let mut metrics = Metrics::from([metric::CLIENTS.with_value(f64::from(job.clients))]);
    metrics.extend(wal_metrics);
    if let Arrival::Fixed { per_s } | Arrival::Poisson { per_s } = job.arrival {
        metrics.insert(metric::OFFERED_OPS_PER_S.name.to_owned(), per_s);
    }
    if let Ok(bytes) = jsonathlon_telemetry::memory::peak_resident_bytes(std::process::id()) {
        metrics.insert(metric::PEAK_COORDINATOR_BYTES.name.to_owned(), bytes as f64);
    }
    metrics
}

/// Description of the conditions in a few words, for progress messages.
fn condition_label(conditions: &TrialConditions, settings: &ServingSettings) -> String {
    let mut clients =
        format!("{} client{}", conditions.clients, if conditions.clients == 1 { "" } else { "s" });
    if conditions.beside_reports {
        clients.push_str(" beside reports");
    }
    match conditions.kind {
        ConditionKind::ReportsAtRest => "reports at rest".to_owned(),
        ConditionKind::Capacity | ConditionKind::Encoded(_) => clients,
        ConditionKind::Soak => format!("{clients}, {:.0} s", settings.soak_s.unwrap_or_default()),
        ConditionKind::AtRate(Rate::PerSecond(rate)) => format!("{clients}, {rate} a second"),
        ConditionKind::AtRate(Rate::OfCapacity(share)) => {
            format!("{clients}, {:.0} % of capacity", share * 100.0)
        }
        ConditionKind::Slo => {
            let slo = settings.slo.map(|slo| slo.to_string()).unwrap_or_default();
            format!("{clients}, {slo}")
        }
    }
}

/// Warns of what the system refused, and of what happened to it.
fn warn_of_faults(
    outcome: &ServingResults,
    trial_context: &TrialContext,
    mix: &Mix,
    target: &ServingTarget<'_>,
    recorder: &mut TrialRecorder<'_>,
) {
    let name = target.state.cells.target.file_name();
    for (refusal, count) in outcome.refusals().take(3) {
        recorder.warn(&format!("{name} {}: {count} × {refusal}", mix.name));
    }
    if let Some(message) = &trial_context.loss {
        recorder.warn(&format!("{name} {}: {message}", mix.name));
    }
}
