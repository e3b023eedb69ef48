//! Loads a run from its folder.

use std::collections::HashMap;
use std::path::Path;

use jsonathlon_schema::manifest::Manifest;
use jsonathlon_schema::record::{Agreement, Cell, JournalRecord, Phase, PlanCheck, RecordBody, Trial};

use crate::ResultsError;
use crate::folder::{read_manifest, read_records};

/// Manifest and journal of a run, read once.
#[derive(Debug, Clone)]
pub struct Run {
    /// Path of the run folder.
    pub path: String,
    /// Manifest of the run.
    pub manifest: Manifest,
    /// Records of the journal, with the phases of hot cells settled.
    pub records: Vec<JournalRecord>,
}

impl Run {
    /// Reads the manifest and the journal of the run in `path`.
    ///
    /// # Errors
    /// Those of [`read_manifest`] and [`read_records`].
    pub fn read(path: &Path) -> Result<Self, ResultsError> {
        let manifest = read_manifest(path)?;
        let mut records = read_records(path)?;
        settle_hot_phases(&mut records);
        Ok(Self { path: path.display().to_string(), manifest, records })
    }

    /// Trials in the order of the journal.
    pub fn trials(&self) -> impl Iterator<Item = &Trial> {
        self.records.iter().filter_map(|record| match &record.body {
            RecordBody::Trial(trial) => Some(trial.as_ref()),
            _ => None,
        })
    }

    /// Plan checks in the order of the journal.
    pub fn plans(&self) -> impl Iterator<Item = &PlanCheck> {
        self.records.iter().filter_map(|record| match &record.body {
            RecordBody::Plan(plan) => Some(plan),
            _ => None,
        })
    }

    /// Comparisons of the answers to each question, in the order of the journal.
    pub fn agreements(&self) -> impl Iterator<Item = &Agreement> {
        self.records.iter().filter_map(|record| match &record.body {
            RecordBody::Agreement(agreement) => Some(agreement.as_ref()),
            _ => None,
        })
    }

    /// Keys of planned trials that have no final record.
    #[must_use]
    pub fn open_trials(&self) -> Vec<&str> {
        let recorded: std::collections::HashSet<&str> =
            self.records.iter().map(|record| record.key.as_str()).collect();
        self.manifest.plan.trials.iter().map(String::as_str).filter(|key| !recorded.contains(key)).collect()
    }
}

/// Settles the phase of hot cells as a whole. If at least half of a cell's trials read from the disk, all of
/// them become [`Phase::HotNotInMemory`]. If fewer did, the median is a trial that did not, and all become
/// [`Phase::Hot`].
fn settle_hot_phases(records: &mut [JournalRecord]) {
    let mut cells: HashMap<String, (usize, usize)> = HashMap::new();
    let is_hot = |trial: &Trial| trial.cell.phase.planned() == Phase::Hot;
    let planned_key = |trial: &Trial| Cell { phase: Phase::Hot, ..trial.cell.clone() }.key();
    for record in records.iter() {
        if let RecordBody::Trial(trial) = &record.body
            && is_hot(trial)
            && trial.seconds.is_some()
        {
            let (from_disk, total) = cells.entry(planned_key(trial)).or_default();
            *from_disk += usize::from(trial.cell.phase == Phase::HotNotInMemory);
            *total += 1;
        }
    }
    cells.retain(|_, (from_disk, _)| *from_disk > 0);
    if cells.is_empty() {
        return;
    }
    for record in records {
        if let RecordBody::Trial(trial) = &mut record.body
            && is_hot(trial)
            && let Some((from_disk, total)) = cells.get(&planned_key(trial))
        {
            trial.cell.phase = if 2 * from_disk >= *total { Phase::HotNotInMemory } else { Phase::Hot };
        }
    }
}
