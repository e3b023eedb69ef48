//! Writes trials and other records to the journal and reports them to the observer.

use std::collections::{BTreeMap, HashSet};
use std::time::Instant;

use jsonathlon_results::folder::RunFolder;
use jsonathlon_results::journal::Journal;
use jsonathlon_schema::id::DataState;
use jsonathlon_schema::metric;
use jsonathlon_schema::record::{
    Agreement, Cell, Failure, FailureKind, JournalRecord, Metrics, Phase, RecordBody, Trial, Verdict,
};
use jsonathlon_telemetry::foreign_tasks::ForeignTasks;
use jsonathlon_telemetry::machine;
use jsonathlon_telemetry::memory::Memory;

use crate::RunError;
use crate::expected_time::{ExpectedTime, RunPart, rough_duration};
use crate::observer::{Observer, RunEvent};
use crate::stopping::{CellRounds, MIN_REPORTED_S, PlannedRounds};
use crate::target::Target;
use crate::time_left::TimeLeft;

/// Failure message of trials that fail for the same reason as an earlier trial, to whose record they point.
pub(crate) const SAME_REASON: &str = "not done for the same reason";

/// Appends records to the journal and reports them to the observer.
pub struct TrialRecorder<'a> {
    pub(crate) folder: &'a RunFolder,
    journal: Journal,
    pub(crate) observer: &'a mut dyn Observer,
    /// Keys of planned trials that have no record yet.
    open_keys: HashSet<String>,
    planned: u64,
    /// Cores of the machine, the basis of the CPU steal share.
    cores: usize,
    /// Time of the last record and the machine's CPU steal in seconds by then.
    last_reading: (Instant, Option<f64>),
    /// Counts the runnable tasks of other programs.
    foreign_tasks: ForeignTasks,
    /// Times of the trials by cell key, for the stopping rule.
    times: BTreeMap<String, CellTimes>,
    /// Recorded comparisons of answers between systems.
    pub(crate) agreements: Vec<Agreement>,
    /// Time that the run still needs; `None` before the run is expected to take any.
    time_left: Option<TimeLeft>,
    /// Start of the time in which the ends of turns are noted.
    began: Instant,
    /// Whether anything was recorded in the current turn.
    has_worked: bool,
    /// Whether the run may end earlier, because it waits for precise results.
    is_maximum: bool,
}

/// Times of one cell by round, from which the precision that has been reached is computed.
struct CellTimes {
    cell: Cell,
    rounds: BTreeMap<u32, Vec<f64>>,
    /// Whether every trial so far has verdict exact or approximate.
    is_rankable: bool,
}

impl<'a> TrialRecorder<'a> {
    pub(crate) fn new(
        folder: &'a RunFolder,
        journal: Journal,
        records: &[JournalRecord],
        planned: &[String],
        observer: &'a mut dyn Observer,
    ) -> Self {
        let open_keys: HashSet<String> =
            planned.iter().filter(|key| !journal.contains_key(key)).cloned().collect();
        let mut recorder = Self {
            folder,
            journal,
            observer,
            open_keys,
            planned: planned.len() as u64,
            cores: std::thread::available_parallelism().map_or(1, usize::from),
            last_reading: (Instant::now(), machine::steal_seconds()),
            foreign_tasks: ForeignTasks::default(),
            times: BTreeMap::new(),
            agreements: Vec::new(),
            time_left: None,
            began: Instant::now(),
            has_worked: false,
            is_maximum: false,
        };
        for record in records {
            match &record.body {
                RecordBody::Trial(trial) => recorder.remember(trial),
                RecordBody::Agreement(agreement) => recorder.agreements.push(agreement.as_ref().clone()),
                _ => {}
            }
        }
        // Records of earlier processes are reported once, as the initial progress.
        recorder.report_trials();
        recorder
    }

    fn report_trials(&mut self) {
        let done = self.planned - self.open_keys.len() as u64;
        self.observer.event(&RunEvent::Trials { done, planned: self.planned });
    }

    /// Begins to follow a run that is expected to take this long.
    pub(crate) fn expect_time(&mut self, expected: ExpectedTime) {
        self.began = Instant::now();
        self.time_left = Some(TimeLeft::new(expected, 0.0));
    }

    /// Notes that the turn of a target, the one at `position` in the plan, has ended, and reports how much
    /// time the run still needs.
    pub(crate) fn end_turn(&mut self, part: RunPart, round: u32, position: usize, target: &Target) {
        let has_worked = std::mem::take(&mut self.has_worked);
        let Some(time_left) = &mut self.time_left else { return };
        let now_s = self.began.elapsed().as_secs_f64();
        let turn_s = time_left.end_turn(part, round, position, now_s, has_worked);
        let left_s = time_left.seconds();
        if has_worked && time_left.worked_turns() == 1 && left_s >= MIN_REPORTED_S {
            let configuration = &target.configuration;
            self.observer.event(&RunEvent::Schedule(&format!(
                "{} {} took {} with its load and starts: about {} left",
                configuration.title,
                configuration.variant,
                rough_duration(turn_s),
                rough_duration(left_s)
            )));
        }
        if has_worked {
            self.report_time_left();
        }
    }

    /// Takes over the number of rounds that the stopping rule plans now, and reports how much time the run
    /// still needs.
    pub(crate) fn plan_rounds(&mut self, planned: PlannedRounds) {
        self.is_maximum = planned.is_maximum;
        if let Some(time_left) = &mut self.time_left {
            time_left.set_rounds(planned.rounds);
        }
        self.report_time_left();
    }

    /// Reports how much time the run still needs, as far as that is known.
    pub(crate) fn report_time_left(&mut self) {
        if let Some(time_left) = &self.time_left {
            let (seconds, is_maximum) = (time_left.seconds(), self.is_maximum);
            self.observer.event(&RunEvent::RemainingTime { seconds, is_maximum });
        }
    }

    /// Returns the times of the ranked cold and hot cells in `state` whose trials all have a correct answer.
    pub(crate) fn ranked_cell_times(&self, targets: &[Target], state: DataState) -> Vec<CellRounds> {
        let is_ranked = |cell: &Cell| {
            targets.iter().any(|target| {
                let configuration = &target.configuration;
                target.id() == cell.id && configuration.ranked && !configuration.reference
            })
        };
        self.times
            .values()
            .filter(|times| times.is_rankable && matches!(times.cell.phase, Phase::Cold | Phase::Hot))
            .filter(|times| times.cell.state == Some(state) && is_ranked(&times.cell))
            .map(|times| times.rounds.values().cloned().collect())
            .collect()
    }

    fn remember(&mut self, trial: &Trial) {
        let times = self.times.entry(trial.cell.key()).or_insert_with(|| CellTimes {
            cell: trial.cell.clone(),
            rounds: BTreeMap::new(),
            is_rankable: true,
        });
        times.is_rankable &= matches!(trial.verdict, Verdict::Exact | Verdict::Approximate);
        times.rounds.entry(trial.round).or_default().extend(trial.seconds);
    }

    /// Whether the journal has a terminal record with this key.
    pub fn has(&self, key: &str) -> bool {
        self.journal.contains_key(key)
    }

    /// Removes the records of a unit of work if the journal has only some of them, so that it can be repeated as a
    /// whole: the process ended while they were written.
    ///
    /// # Errors
    /// If the journal cannot be replaced.
    pub(crate) fn discard_incomplete(&mut self, unit: &[String]) -> Result<(), RunError> {
        let written: HashSet<String> = unit.iter().filter(|key| self.has(key)).cloned().collect();
        if written.is_empty() || written.len() == unit.len() {
            return Ok(());
        }
        self.journal.discard(&written)?;
        self.open_keys.extend(written);
        self.report_trials();
        Ok(())
    }

    /// Appends a trial under its planned key and waits until the record is on the disk.
    ///
    /// # Errors
    /// If the journal cannot be written.
    pub fn record_trial(&mut self, key: String, trial: Trial) -> Result<(), RunError> {
        self.record_trial_unsynced(key, trial)?;
        Ok(self.journal.sync()?)
    }

    /// Appends a trial without waiting for the disk. For trials that take less time than a sync and can be
    /// repeated; the caller must call [`TrialRecorder::sync`] after a group of them.
    ///
    /// # Errors
    /// If the journal cannot be written.
    pub fn record_trial_unsynced(&mut self, key: String, mut trial: Trial) -> Result<(), RunError> {
        if let Some(load) = machine::load_average() {
            trial.metrics.insert(metric::MACHINE_LOAD.name.to_owned(), load);
        }
        if let Some(tasks) = self.foreign_tasks.runnable() {
            trial.metrics.insert(metric::FOREIGN_TASKS.name.to_owned(), tasks as f64);
        }
        let reading = (Instant::now(), machine::steal_seconds());
        if let (Some(previous_steal_s), Some(steal_s)) = (self.last_reading.1, reading.1) {
            // CPU steal since the previous record, over all cores, and its share of the available CPU time.
            let stolen_s = (steal_s - previous_steal_s).max(0.0);
            let available_s = reading.0.duration_since(self.last_reading.0).as_secs_f64() * self.cores as f64;
            trial.metrics.insert(metric::MACHINE_STEAL_S.name.to_owned(), stolen_s);
            if available_s > 0.0 {
                trial.metrics.insert(metric::MACHINE_STEAL_SHARE.name.to_owned(), stolen_s / available_s);
            }
        }
        self.last_reading = reading;
        self.has_worked = true;
        self.remember(&trial);
        self.observer.event(&RunEvent::Trial(&trial));
        self.open_keys.remove(&key);
        self.journal.append_unsynced(&JournalRecord::new(key, RecordBody::Trial(Box::new(trial))))?;
        self.report_trials();
        Ok(())
    }

    /// Waits until all appended records are on the disk.
    ///
    /// # Errors
    /// If the journal cannot be synced.
    pub fn sync(&mut self) -> Result<(), RunError> {
        Ok(self.journal.sync()?)
    }

    /// Appends a trial without a time, unless a record with this key exists.
    ///
    /// # Errors
    /// If the journal cannot be written.
    pub fn record_failure(
        &mut self,
        key: String,
        cell: &Cell,
        round: u32,
        order: u32,
        failure: Failure,
    ) -> Result<(), RunError> {
        if self.has(&key) {
            return Ok(());
        }
        let verdict = match failure.kind {
            FailureKind::Timeout => Verdict::Timeout,
            FailureKind::Wrong => Verdict::Wrong,
            _ => Verdict::Failed,
        };
        let trial = Trial { verdict, failure: Some(failure), ..new_trial(cell, round, order) };
        self.record_trial(key, trial)
    }

    /// Appends a record that is not a trial, such as a plan check or rejected documents.
    ///
    /// # Errors
    /// If the journal cannot be written.
    pub fn append(&mut self, key: String, body: RecordBody) -> Result<(), RunError> {
        match &body {
            RecordBody::Plan(plan) => self.observer.event(&RunEvent::Plan(plan)),
            RecordBody::Rejects(rejects) => self.observer.event(&RunEvent::Rejects(rejects)),
            RecordBody::Structure(structure) => self.observer.event(&RunEvent::Structure(structure)),
            RecordBody::Agreement(agreement) => self.agreements.push(agreement.as_ref().clone()),
            RecordBody::Trial(_) | RecordBody::Resumed { .. } => {}
        }
        self.journal.append(&JournalRecord::new(key, body))?;
        Ok(())
    }

    /// Reports a warning that matters for the interpretation of the results.
    pub fn warn(&mut self, text: &str) {
        self.observer.event(&RunEvent::Warning(text));
    }
}

/// Creates a trial of `cell` that ends now and has no results yet.
#[must_use]
pub fn new_trial(cell: &Cell, round: u32, order: u32) -> Trial {
    let at_ms = jiff::Timestamp::now().as_millisecond();
    Trial { at_ms, ..Trial::blank(cell.clone(), round, order) }
}

/// Moment at which the memory of a process tree was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MemoryReading {
    /// The largest of the samples during a trial.
    Peak,
    /// One reading between two trials.
    BetweenTrials,
}

/// Metrics of a process tree's memory, and of its growth since the engine was opened (`idle`).
pub(crate) fn memory_metrics(reading: MemoryReading, memory: Memory, idle: Option<Memory>) -> Metrics {
    let [pss, anonymous, shared, file_mapped, pss_over_idle] = match reading {
        MemoryReading::Peak => [
            metric::PEAK_PSS_BYTES,
            metric::PEAK_ANONYMOUS_BYTES,
            metric::PEAK_SHARED_BYTES,
            metric::PEAK_FILE_MAPPED_BYTES,
            metric::PEAK_PSS_OVER_IDLE_BYTES,
        ],
        MemoryReading::BetweenTrials => [
            metric::HELD_PSS_BYTES,
            metric::HELD_ANONYMOUS_BYTES,
            metric::HELD_SHARED_BYTES,
            metric::HELD_FILE_MAPPED_BYTES,
            metric::HELD_PSS_OVER_IDLE_BYTES,
        ],
    };
    let mut metrics = Metrics::from([
        pss.with_value(memory.pss_bytes as f64),
        anonymous.with_value(memory.anonymous_bytes as f64),
        shared.with_value(memory.shared_bytes as f64),
        file_mapped.with_value(memory.file_bytes as f64),
    ]);
    if let Some(idle) = idle {
        metrics.insert(metric::IDLE_PSS_BYTES.name.to_owned(), idle.pss_bytes as f64);
        let growth = memory.pss_bytes.saturating_sub(idle.pss_bytes);
        metrics.insert(pss_over_idle.name.to_owned(), growth as f64);
    }
    metrics
}
