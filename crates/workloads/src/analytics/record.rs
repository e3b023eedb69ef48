//! The run's journal as the workload sees it: what is done is not done again.

use std::collections::HashSet;

use jsonathlon_measure::machine;
use jsonathlon_measure::memory::Memory;
use jsonathlon_results::folder::RunFolder;
use jsonathlon_results::journal::Journal;
use jsonathlon_results::record::{Body, Cell, Failure, FailureKind, Metrics, Record, Trial, Verdict};

use crate::RunError;
use crate::observer::{Event, Observer};
use crate::session::AskError;

/// Appends records and tells the observer.
pub(crate) struct Recorder<'a> {
    pub(crate) folder: &'a RunFolder,
    journal: Journal,
    pub(crate) observer: &'a mut dyn Observer,
    /// Planned keys without a record.
    open: HashSet<String>,
    planned: u64,
    steal_s: Option<f64>,
}

impl<'a> Recorder<'a> {
    pub(crate) fn new(
        folder: &'a RunFolder,
        journal: Journal,
        planned: &[String],
        observer: &'a mut dyn Observer,
    ) -> Self {
        let open: HashSet<String> = planned.iter().filter(|key| !journal.has(key)).cloned().collect();
        let planned = planned.len() as u64;
        Self { folder, journal, observer, open, planned, steal_s: machine::steal_seconds() }
    }

    /// Whether a terminal record with this key is there.
    pub(crate) fn has(&self, key: &str) -> bool {
        self.journal.has(key)
    }

    /// Appends a trial under its planned key.
    pub(crate) fn trial(&mut self, key: String, mut trial: Trial) -> Result<(), RunError> {
        if let Some(load) = machine::load_average() {
            trial.metrics.insert("machine_load".into(), load);
        }
        let steal = machine::steal_seconds();
        if let (Some(before), Some(now)) = (self.steal_s, steal) {
            // Since the record before this one: the time taken by the hypervisor from all cores.
            trial.metrics.insert("machine_steal_s".into(), (now - before).max(0.0));
        }
        self.steal_s = steal;
        self.observer.event(&Event::Trial(&trial));
        self.open.remove(&key);
        self.journal.append(&Record::new(key, Body::Trial(Box::new(trial))))?;
        self.observer
            .event(&Event::Trials { done: self.planned - self.open.len() as u64, planned: self.planned });
        Ok(())
    }

    /// Appends a trial that has no time.
    pub(crate) fn failed(
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
        let trial = Trial { verdict, failure: Some(failure), ..blank(cell, round, order) };
        self.trial(key, trial)
    }

    /// Appends anything else.
    pub(crate) fn note(&mut self, key: String, body: Body) -> Result<(), RunError> {
        match &body {
            Body::Plan(plan) => self.observer.event(&Event::Plan(plan)),
            Body::Rejects(rejects) => self.observer.event(&Event::Rejects(rejects)),
            Body::Structure(structure) => self.observer.event(&Event::Structure(structure)),
            Body::Trial(_) | Body::Resumed { .. } => {}
        }
        self.journal.append(&Record::new(key, body))?;
        Ok(())
    }

    pub(crate) fn warn(&mut self, text: &str) {
        self.observer.event(&Event::Warning(text));
    }
}

/// A trial of `cell` with nothing in it yet.
pub(crate) fn blank(cell: &Cell, round: u32, order: u32) -> Trial {
    Trial {
        cell: cell.clone(),
        round,
        order,
        at_ms: jiff::Timestamp::now().as_millisecond(),
        verdict: Verdict::Unverified,
        seconds: None,
        server_seconds: None,
        rows: None,
        answer_digest: None,
        metrics: Metrics::new(),
        bound_by: None,
        failure: None,
    }
}

/// What a process tree holds, and how much more than when it had just been opened.
pub(crate) fn memory_metrics(now: Memory, idle: Option<Memory>) -> Metrics {
    let mut metrics = Metrics::from([
        ("peak_pss_bytes".to_owned(), now.pss_bytes as f64),
        ("peak_anonymous_bytes".to_owned(), now.anonymous_bytes as f64),
        ("peak_shared_bytes".to_owned(), now.shared_bytes as f64),
        ("peak_file_mapped_bytes".to_owned(), now.file_bytes as f64),
    ]);
    if let Some(idle) = idle {
        metrics.insert("idle_pss_bytes".to_owned(), idle.pss_bytes as f64);
        let over = now.pss_bytes.saturating_sub(idle.pss_bytes);
        metrics.insert("peak_pss_over_idle_bytes".to_owned(), over as f64);
    }
    metrics
}

/// Splits what ends the run from what ends a cell.
pub(crate) fn cell_result<T>(result: Result<T, AskError>) -> Result<Result<T, Failure>, RunError> {
    match result {
        Ok(value) => Ok(Ok(value)),
        Err(AskError::Failed(failure)) => Ok(Err(failure)),
        Err(AskError::Cancelled) => Err(RunError::Interrupted),
        Err(AskError::Run(error)) => Err(*error),
    }
}
