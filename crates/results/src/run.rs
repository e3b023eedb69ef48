//! A run as its folder holds it.

use std::collections::HashMap;
use std::path::Path;

use crate::ResultsError;
use crate::folder::{read_manifest, read_records};
use crate::manifest::Manifest;
use crate::record::{Agreement, Body, Cell, Phase, PlanCheck, Record, Trial};

/// Everything a run folder holds, read once.
#[derive(Debug, Clone)]
pub struct Run {
    /// The folder.
    pub path: String,
    /// The manifest.
    pub manifest: Manifest,
    /// The journal.
    pub records: Vec<Record>,
}

impl Run {
    /// Reads the run in `path`.
    ///
    /// # Errors
    /// When there is no run or its files cannot be understood.
    pub fn read(path: &Path) -> Result<Self, ResultsError> {
        let mut records = read_records(path)?;
        settle_hot_phases(&mut records);
        Ok(Self { path: path.display().to_string(), manifest: read_manifest(path)?, records })
    }

    /// The trials among the records.
    pub fn trials(&self) -> impl Iterator<Item = &Trial> {
        self.records.iter().filter_map(|record| match &record.body {
            Body::Trial(trial) => Some(trial.as_ref()),
            _ => None,
        })
    }

    /// The plans among the records.
    pub fn plans(&self) -> impl Iterator<Item = &PlanCheck> {
        self.records.iter().filter_map(|record| match &record.body {
            Body::Plan(plan) => Some(plan),
            _ => None,
        })
    }

    /// Answers held against each other, question by question.
    pub fn agreements(&self) -> impl Iterator<Item = &Agreement> {
        self.records.iter().filter_map(|record| match &record.body {
            Body::Agreement(agreement) => Some(agreement.as_ref()),
            _ => None,
        })
    }

    /// Planned trials that have no terminal record.
    #[must_use]
    pub fn open_trials(&self) -> Vec<&str> {
        let there: std::collections::HashSet<&str> =
            self.records.iter().map(|record| record.key.as_str()).collect();
        self.manifest.plan.trials.iter().map(String::as_str).filter(|key| !there.contains(key)).collect()
    }
}

/// A cell is hot or it is not, as a whole: where at least half of its trials read from the disk, all of them are
/// called hot and not in memory; where fewer did, its median is one that did not, and all of them are called hot.
fn settle_hot_phases(records: &mut [Record]) {
    let mut cells: HashMap<String, (usize, usize)> = HashMap::new();
    let is_hot = |trial: &Trial| trial.cell.phase.planned() == Phase::Hot;
    let planned = |trial: &Trial| Cell { phase: Phase::Hot, ..trial.cell.clone() }.key();
    for record in records.iter() {
        if let Body::Trial(trial) = &record.body
            && is_hot(trial)
            && trial.seconds.is_some()
        {
            let (reading, all) = cells.entry(planned(trial)).or_default();
            *reading += usize::from(trial.cell.phase == Phase::HotNotInMemory);
            *all += 1;
        }
    }
    cells.retain(|_, (reading, _)| *reading > 0);
    if cells.is_empty() {
        return;
    }
    for record in records {
        if let Body::Trial(trial) = &mut record.body
            && is_hot(trial)
            && let Some((reading, all)) = cells.get(&planned(trial))
        {
            trial.cell.phase = if 2 * reading >= *all { Phase::HotNotInMemory } else { Phase::Hot };
        }
    }
}
