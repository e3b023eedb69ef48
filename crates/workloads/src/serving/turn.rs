//! Runs one configuration's part of a round: restore the data, then run all trials.

use std::{
    collections::{BTreeMap, HashMap},
    time::Duration,
};

use jsonathlon_catalogue::Serving as Part;
use jsonathlon_loadgen::{
    job::{Job, SamplingTargets},
    mix::{Mix, RequestDistribution},
    operation::Operation,
    report::JobReport,
};
use jsonathlon_schema::record::{Cell, Failure, FailureKind, Metrics, Verdict};
use jsonathlon_stats::arrival::Arrival;
use jsonathlon_telemetry::stop_condition::StopCondition;
use jsonathlon_worker::protocol::Op;

use super::{
    ServingTarget, encoding,
    outcome::{ServingResults, TrialContext},
    pinning, plans, scripts,
    settings::{Rate, ServingSettings},
    slo_search::SloSearch,
    trials::{self, ConditionKind, TrialConditions},
    wal,
};
use crate::{
    RunError,
    in_memory::may_read,
    observer::{Activity, RunEvent},
    recorder::{TrialRecorder, new_trial},
    run_context::{RunContext, TABLE},
    session::{TrialError, borrowed, forward_progress},
    snapshot::Snapshot,
};

/// Maximum seconds of unmeasured reads that warm up a system after its start.
const WARM_UP_S: f64 = 1.0;
/// Time for a trial in addition to its planned seconds: connecting, finishing open operations, reading back.
const GRACE_S: f64 = 120.0;
/// Maximum number of clients that warm up a system.
const WARM_UP_CLIENTS: u32 = 8;

/// One configuration's part of a round.
pub(super) struct ServingTurn<'t, 'b, 'a> {
    pub(super) bench: &'b RunContext<'a>,
    pub(super) own: &'t ServingSettings,
    pub(super) round: u32,
    /// Highest throughput of the closed loops of this round, by mix index.
    pub(super) capacity: HashMap<usize, f64>,
}

impl<'a> ServingTurn<'_, '_, 'a> {
    /// Runs every trial of this round that the journal does not contain yet.
    pub(super) fn take(
        &mut self,
        one: &mut ServingTarget<'a>,
        recorder: &mut TrialRecorder<'_>,
    ) -> Result<(), RunError> {
        let (bench, own, round) = (self.bench, self.own, self.round);
        bench.fail_planned_loads(round, &one.of, recorder)?;
        let all = trials::conditions(own, round);
        let is_open = |at: &TrialConditions, recorder: &TrialRecorder<'_>| {
            !recorder.has(&trials::cell(one.of.cells, own, at).trial_key(round, 0))
        };
        let loads = bench.is_load_due(round, &one.of, recorder);
        if !loads && !all.iter().any(|at| is_open(at, recorder)) {
            return Ok(());
        }
        if let Err(failure) = self.restore_loaded_data(loads, one, recorder)? {
            one.of.load_result = Err(failure);
        }
        // Index of the mix that has changed the data since the last restore.
        let mut changed_by: Option<usize> = None;
        for at in &all {
            let cell = trials::cell(one.of.cells, own, at);
            let key = cell.trial_key(round, 0);
            if recorder.has(&key) {
                continue;
            }
            if let Err(failure) = &one.of.load_result {
                let told = crate::loading::skipped_after_load_failure(failure);
                recorder.failed(key.clone(), &cell, round, 0, told)?;
                one.of.load_result = Err(failure.clone().recorded_in(&key));
                continue;
            }
            if let ConditionKind::Encoded(place) = at.kind {
                let document = own.encode.get(place).map_or("", |sample| sample.text.as_str());
                if let Err(failure) =
                    TrialError::split_fatal(encoding::ask(document, &cell, round, one, recorder))?
                {
                    recorder.failed(key, &cell, round, 0, failure)?;
                }
                continue;
            }
            let Some(mix) = own.mixes.get(at.mix) else { continue };
            if let Some(why) = unsupported_reason(&one.part, mix, at.clients) {
                let mut trial = new_trial(&cell, round, 0);
                trial.verdict = Verdict::NotApplicable;
                trial.failure = Some(Failure::new(FailureKind::Refused, why));
                recorder.trial(key, trial)?;
                continue;
            }
            // Each mix begins with the data as loaded. A system that ended during a trial may have lost data.
            let is_spoilt = one.of.session.pid().is_none() && one.has_run;
            if is_spoilt || changed_by.is_some_and(|by| by != at.mix) {
                if let Err(failure) = self.restore_loaded_data(false, one, recorder)? {
                    recorder.failed(key, &cell, round, 0, failure)?;
                    continue;
                }
                changed_by = None;
            }
            if !trials::only_reads(mix) {
                changed_by = Some(at.mix);
            }
            let what = format!(
                "round {round}: {} {} {}",
                one.of.cells.target.file_name(),
                mix.name,
                condition_label(at, own)
            );
            recorder.observer.event(&RunEvent::Began { work: Activity::Turn, what: &what });
            one.of.session.subject().set_activity(&what);
            let measured = TrialError::split_fatal(self.measure(at, mix, &cell, one, recorder))?;
            if let Err(failure) = measured {
                one.of.session.kill();
                recorder.failed(key, &cell, round, 0, failure)?;
            } else if one.of.session.server_exited() {
                let name = one.of.cells.target.file_name();
                recorder.warn(&format!(
                    "{name}: the server ended while clients were at work; it is started again"
                ));
                one.of.session.kill();
            }
        }
        if let Err(failure) = TrialError::split_fatal(one.of.session.close())? {
            let name = one.of.cells.target.file_name();
            recorder.warn(&format!("{name}: failed to close: {}", failure.error));
        }
        Ok(())
    }

    /// Loads the data or restores the snapshot of the last load, then starts the system and warms it up.
    fn restore_loaded_data(
        &self,
        loads: bool,
        one: &mut ServingTarget<'a>,
        recorder: &mut TrialRecorder<'_>,
    ) -> Result<Result<(), Failure>, RunError> {
        let bench = self.bench;
        one.has_run = false;
        one.load += 1;
        one.of.session.kill();
        let writes = self.own.mixes.iter().any(|mix| !trials::only_reads(mix));
        if loads || !one.of.is_loaded || (writes && one.snapshot.is_none()) {
            one.snapshot = None;
            bench.load(self.round, &mut one.of, recorder)?;
            if one.of.load_result.is_ok()
                && let Err(failure) = TrialError::split_fatal(self.index_paths(one))?
            {
                one.of.load_result = Err(failure);
            }
            if one.of.load_result.is_ok() && writes && !one.of.session.is_remote() {
                let taken = Snapshot::take(one.of.session.folder());
                one.snapshot = Some(taken.map_err(RunError::io("copy the loaded data"))?);
            }
        } else if let Some(snapshot) = &one.snapshot {
            snapshot.restore().map_err(RunError::io("put the loaded data back"))?;
        }
        if let Err(failure) = &one.of.load_result {
            return Ok(Err(failure.clone()));
        }
        TrialError::split_fatal(self.start(one, recorder))
    }

    /// Builds the index that only searches by a nested value need, if the mixes have such searches.
    fn index_paths(&self, one: &mut ServingTarget<'a>) -> Result<(), TrialError> {
        let searches =
            |mix: &Mix| mix.shares.iter().any(|(of, _)| matches!(of, Operation::Find | Operation::Count));
        if !self.own.mixes.iter().any(searches) {
            return Ok(());
        }
        let values = scripts::values(&one.part, &one.records, self.own.projection, Operation::Find);
        let values = borrowed(&values);
        let statements = one.of.session.statements("index_path", &values)?;
        if statements.is_empty() {
            return Ok(());
        }
        one.of.session.open()?;
        one.of.session.run(statements, Duration::from_secs_f64(self.bench.settings.load_timeout_s))?;
        one.of.session.close()
    }

    fn start(&self, one: &mut ServingTarget<'a>, recorder: &mut TrialRecorder<'_>) -> Result<(), TrialError> {
        one.of.session.open()?;
        if let Some(cpus) = &self.own.server_cpus
            && let Some(server) = one.of.session.engine()
            && one.of.session.pid() != Some(server)
        {
            pinning::pin(server, cpus).map_err(|error| {
                TrialError::failed(FailureKind::Environment, format!("failed to pin the server: {error}"))
            })?;
        }
        let warm = one.of.session.statements("warm", &[("table", TABLE)])?;
        if !warm.is_empty() {
            one.of.session.run(warm, Duration::from_secs_f64(self.bench.settings.load_timeout_s))?;
        }
        let reads = Mix {
            name: "warm-up".into(),
            shares: vec![(Operation::Read, 1.0)],
            requests: RequestDistribution::Uniform,
        };
        if scripts::missing(&one.part, &reads).is_empty() {
            let clients = one.part.clients.unwrap_or(WARM_UP_CLIENTS).min(WARM_UP_CLIENTS);
            // Not longer than a trial, so that tiny test runs stay short.
            let seconds = WARM_UP_S.min(self.own.ramp_s + self.own.measured_s);
            let job = self.job(&reads, clients, Arrival::Closed, (0.0, seconds), one)?;
            let warmed: JobReport = self.drive(&job, one, recorder)?;
            if let Some(wrong) = warmed.wrong.first() {
                return Err(TrialError::failed(
                    FailureKind::Wrong,
                    format!("documents are not what was loaded: {wrong}"),
                ));
            }
        }
        let writes = self.own.mixes.iter().any(|mix| !trials::only_reads(mix));
        if writes && one.idle_journal_per_s.is_none() {
            let idle_s = self.own.measured_s.min(wal::IDLE_S);
            one.idle_journal_per_s = wal::idle(&mut one.of.session, &one.part, idle_s)?;
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
        one: &ServingTarget<'a>,
    ) -> Result<Job, TrialError> {
        let own = self.own;
        let stop = match own.operations {
            Some(operations) if ramp_s == 0.0 && arrival == Arrival::Closed => {
                StopCondition::Count { operations }
            }
            _ => StopCondition::Time { seconds: measured_s },
        };
        let session = &one.of.session;
        let watched = SamplingTargets {
            checkpoints: match stop {
                // With a fixed number of operations, the WAL is measured exactly, and this statement may
                // write to it.
                StopCondition::Count { .. } => None,
                StopCondition::Time { .. } => session.statements("checkpoints", &[])?.into_iter().next(),
            },
            folder: (!session.is_remote()).then(|| session.folder().to_owned()),
        };
        Ok(Job {
            records: one.records.records().clone(),
            loaded: self.bench.staged.documents,
            load: format!("{}", one.load),
            mix: mix.clone(),
            scripts: scripts::scripts(&one.of.session, &one.part, &one.records, own.projection, mix)?,
            clients,
            threads: None,
            arrival,
            ramp_s,
            stop,
            seed: self.bench.settings.seed.wrapping_add(u64::from(self.round) << 32),
            verify: true,
            prepare: own.prepare,
            batch: own.batch,
            scan: own.scan,
            limit: own.limit,
            projection: own.projection,
            retries: own.retries,
            timeout_s: own.timeout_s,
            watched,
            writers_take_turns: one.part.writers_take_turns,
            ack_log: None,
        })
    }

    /// Runs clients; a crash if the server ends meanwhile.
    fn drive(
        &self,
        job: &Job,
        one: &mut ServingTarget<'a>,
        recorder: &mut TrialRecorder<'_>,
    ) -> Result<JobReport, TrialError> {
        match self.drive_on(job, one, recorder)? {
            (driven, ends) if ends.is_empty() => Ok(driven),
            (_, ends) => Err(TrialError::failed(FailureKind::Crash, ends.join("; "))),
        }
    }

    /// Runs clients even if the server ends meanwhile; returns how it ended, each time.
    fn drive_on(
        &self,
        job: &Job,
        one: &mut ServingTarget<'a>,
        recorder: &mut TrialRecorder<'_>,
    ) -> Result<(JobReport, Vec<String>), TrialError> {
        one.has_run = true;
        // A fixed number of operations may take any time up to the run's timeout.
        let seconds = job.stop.seconds().unwrap_or(self.bench.settings.timeout_s);
        let limit = Duration::from_secs_f64(job.ramp_s + seconds + job.timeout_s + GRACE_S);
        let job = serde_json::to_value(job)
            .map_err(|error| TrialError::failed(FailureKind::Protocol, format!("the job: {error}")))?;
        one.of.session.run_clients(&Op::Drive { job }, limit, &mut forward_progress(recorder.observer))
    }

    fn measure(
        &mut self,
        at: &TrialConditions,
        mix: &Mix,
        cell: &Cell,
        one: &mut ServingTarget<'a>,
        recorder: &mut TrialRecorder<'_>,
    ) -> Result<(), TrialError> {
        plans::check(self.round, self.own, mix, cell, one, recorder)?;
        if one.of.session.pid().is_none() {
            // Reading a plan may end the session, and its worker's knowledge of the data with it.
            if let Err(failure) = self.restore_loaded_data(false, one, recorder)? {
                return Err(failure.into());
            }
        }
        let own = self.own;
        let seconds = (own.ramp_s, own.measured_s);
        match at.kind {
            ConditionKind::Capacity => {
                let trial = self.one_trial(at, mix, cell, Arrival::Closed, seconds, one, recorder)?;
                let best = self.capacity.entry(at.mix).or_default();
                *best = best.max(trial);
                Ok(())
            }
            ConditionKind::Soak => {
                let seconds = (own.ramp_s, own.long_s.unwrap_or(own.measured_s));
                self.one_trial(at, mix, cell, Arrival::Closed, seconds, one, recorder).map(drop)
            }
            ConditionKind::AtRate(rate) => {
                let per_s = match rate {
                    Rate::PerSecond(per_s) => per_s,
                    Rate::OfCapacity(share) => share * self.capacity_of(at, mix, one, recorder)?,
                };
                self.one_trial(at, mix, cell, own.spread.at(per_s), seconds, one, recorder).map(drop)
            }
            ConditionKind::Objective => self.search(at, mix, cell, one, recorder),
            // Already measured by [`encoding::ask`].
            ConditionKind::Encoded(_) => Ok(()),
        }
    }

    /// Highest throughput of the closed loops in this round. Measured again if a resumed run does not know
    /// it.
    fn capacity_of(
        &mut self,
        at: &TrialConditions,
        mix: &Mix,
        one: &mut ServingTarget<'a>,
        recorder: &mut TrialRecorder<'_>,
    ) -> Result<f64, TrialError> {
        if let Some(known) = self.capacity.get(&at.mix).filter(|known| **known > 0.0) {
            return Ok(*known);
        }
        let seconds = (self.own.ramp_s, self.own.measured_s);
        let job = self.job(mix, at.clients, Arrival::Closed, seconds, one)?;
        let capacity = ServingResults::of(self.drive(&job, one, recorder)?)?.throughput();
        self.capacity.insert(at.mix, capacity);
        Ok(capacity)
    }

    /// Runs one trial, records it, and returns its throughput in operations per second.
    #[expect(clippy::too_many_arguments, reason = "what a trial is made of")]
    fn one_trial(
        &self,
        at: &TrialConditions,
        mix: &Mix,
        cell: &Cell,
        arrival: Arrival,
        (ramp_s, measured_s): (f64, f64),
        one: &mut ServingTarget<'a>,
        recorder: &mut TrialRecorder<'_>,
    ) -> Result<f64, TrialError> {
        // A fixed number of operations is counted from the first operation on.
        let ramp_s = if self.own.operations.is_some() { 0.0 } else { ramp_s };
        let job = self.job(mix, at.clients, arrival, (ramp_s, measured_s), one)?;
        let is_counted = job.stop.operations().is_some();
        let begun_s = jiff::Timestamp::now().as_millisecond() as f64 / 1e3;
        let writes = !trials::only_reads(mix);
        let may_read = may_read(&one.of.session);
        if writes && is_counted {
            // A page's first change after a checkpoint may write a full page image: a checkpoint before the
            // trial makes that equal for all pages.
            let statements = one.of.session.statements("drain", &[("table", TABLE)])?;
            one.of.session.run(statements, Duration::from_secs_f64(self.bench.settings.load_timeout_s))?;
        }
        let before = if writes { wal::read(&mut one.of.session, &one.part)? } else { None };
        let (driven, ends) = self.drive_on(&job, one, recorder)?;
        let outcome = ServingResults::of(driven)?;
        let lost = outcome.lost_system(&ends);
        let mut counted = BTreeMap::new();
        let mut journal_bytes = None;
        if let Some(before) = before.filter(|_| lost.is_none())
            && let Some(after) = wal::read(&mut one.of.session, &one.part)?
        {
            counted = after.counted_since(&before);
            let whole_s = ramp_s + outcome.measured_s();
            // The warm-up's WAL bytes are deducted in proportion to time, as are the bytes that an idle
            // system writes.
            let share = outcome.measured_s() / whole_s.max(1e-9);
            let idle = one.idle_journal_per_s.unwrap_or_default() * outcome.measured_s();
            journal_bytes =
                after.since(&before).map(|bytes| (bytes * share, if is_counted { 0.0 } else { idle }));
            let detail = match TrialError::split_fatal(wal::detail(&mut one.of.session, &before, &after))? {
                Ok(detail) => detail,
                Err(failure) if is_counted => return Err(failure.into()),
                // Systems remove WAL that is not needed any more, so the beginning of a long trial's WAL may
                // be gone.
                Err(failure) => {
                    recorder.warn(&format!(
                        "{} {}: what its journal holds is not known: {}",
                        one.of.cells.target.file_name(),
                        mix.name,
                        failure.error
                    ));
                    BTreeMap::new()
                }
            };
            let operations = outcome.operations().max(1) as f64;
            counted.extend(
                detail.into_iter().map(|(name, sum)| (format!("{name}_per_op"), sum * share / operations)),
            );
        }
        let mut metrics = Metrics::from([("clients".to_owned(), f64::from(at.clients))]);
        metrics.extend(counted);
        if let Arrival::Fixed { per_s } | Arrival::Poisson { per_s } = arrival {
            metrics.insert("offered_ops_per_s".into(), per_s);
        }
        if let Ok(bytes) = jsonathlon_telemetry::memory::peak_resident_bytes(std::process::id()) {
            metrics.insert("peak_harness_bytes".into(), bytes as f64);
        }
        let beside = TrialContext { verified: job.verify, journal_bytes, metrics, ramp_s, may_read, lost };
        let log = outcome.interval_log(begun_s, ramp_s);
        let name = format!(
            "histograms/{}-{}-{}-{}.hlog",
            one.of.cells.target.file_name(),
            mix.name,
            trials::word(at),
            self.round
        );
        recorder.folder.write_file(&name, log.as_bytes()).map_err(RunError::from)?;
        self.record(&outcome, cell, &beside, recorder)?;
        for (refusal, times) in outcome.refusals().take(3) {
            recorder.warn(&format!("{} {}: {times} × {refusal}", one.of.cells.target.file_name(), mix.name));
        }
        if let Some(words) = beside.lost {
            recorder.warn(&format!("{} {}: {words}", one.of.cells.target.file_name(), mix.name));
            // The session is broken; later trials begin with restored data.
            one.of.session.kill();
            return Ok(0.0);
        }
        Ok(outcome.throughput())
    }

    /// Records the trials of an outcome that have no record yet.
    fn record(
        &self,
        outcome: &ServingResults,
        cell: &Cell,
        beside: &TrialContext,
        recorder: &mut TrialRecorder<'_>,
    ) -> Result<(), RunError> {
        for trial in outcome.trials(cell, self.round, beside) {
            let key = trial.cell.trial_key(self.round, 0);
            if !recorder.has(&key) {
                recorder.trial(key, trial)?;
            }
        }
        Ok(())
    }

    /// Searches the highest rate that meets the objective and records the trial at that rate.
    fn search(
        &mut self,
        at: &TrialConditions,
        mix: &Mix,
        cell: &Cell,
        one: &mut ServingTarget<'a>,
        recorder: &mut TrialRecorder<'_>,
    ) -> Result<(), TrialError> {
        let Some(objective) = self.own.objective else { return Ok(()) };
        let capacity = self.capacity_of(at, mix, one, recorder)?;
        let mut search = SloSearch::below(capacity);
        let mut best: Option<ServingResults> = None;
        while let Some(per_s) = search.next() {
            let seconds = (self.own.ramp_s, self.own.measured_s);
            let job = self.job(mix, at.clients, self.own.spread.at(per_s), seconds, one)?;
            let outcome = ServingResults::of(self.drive(&job, one, recorder)?)?;
            let is_kept = outcome.keeps(objective);
            search.learn(is_kept);
            if is_kept {
                best = Some(outcome);
            }
        }
        let (kept, broken) = search.found();
        let metrics = Metrics::from([
            ("clients".to_owned(), f64::from(at.clients)),
            ("objective_ops_per_s".to_owned(), kept),
            ("objective_broken_ops_per_s".to_owned(), broken),
        ]);
        let beside =
            TrialContext { verified: true, metrics, ramp_s: self.own.ramp_s, ..TrialContext::default() };
        let Some(outcome) = best else {
            return Err(TrialError::failed(
                FailureKind::Refused,
                format!("no rate above {broken:.0} operations per second keeps {objective}"),
            ));
        };
        Ok(self.record(&outcome, cell, &beside, recorder)?)
    }
}

/// Why a mix cannot run on this system; `None` if it can.
fn unsupported_reason(part: &Part, mix: &Mix, clients: u32) -> Option<String> {
    let missing = scripts::missing(part, mix);
    if !missing.is_empty() {
        let words: Vec<&str> = missing.iter().map(|operation| operation.word()).collect();
        return Some(format!("it has no {}", words.join(", ")));
    }
    match part.clients {
        Some(most) if clients > most => Some(format!("the engine takes {most} client at a time")),
        _ => None,
    }
}

/// Description of the conditions in a few words, for progress messages.
fn condition_label(at: &TrialConditions, own: &ServingSettings) -> String {
    let clients = format!("{} client{}", at.clients, if at.clients == 1 { "" } else { "s" });
    match at.kind {
        ConditionKind::Capacity | ConditionKind::Encoded(_) => clients,
        ConditionKind::Soak => format!("{clients}, {:.0} s", own.long_s.unwrap_or_default()),
        ConditionKind::AtRate(Rate::PerSecond(rate)) => format!("{clients}, {rate} a second"),
        ConditionKind::AtRate(Rate::OfCapacity(share)) => {
            format!("{clients}, {:.0} % of capacity", share * 100.0)
        }
        ConditionKind::Objective => {
            format!("{clients}, {}", own.objective.map(|one| one.to_string()).unwrap_or_default())
        }
    }
}
