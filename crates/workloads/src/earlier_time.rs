//! Time that an interrupted run had used before it was resumed, from the timestamps in its journal.

use std::collections::BTreeMap;

use jsonathlon_schema::id::DataState;
use jsonathlon_schema::manifest::Manifest;
use jsonathlon_schema::record::{JournalRecord, RecordBody};

/// Time used before the current process started. Pauses between processes are not included.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct EarlierTime {
    /// Total of all earlier processes of the run.
    pub(crate) seconds: f64,
    /// Total at the time of each trial's record, with the trial's round and data state.
    by_trial: Vec<(u32, Option<DataState>, f64)>,
}

impl EarlierTime {
    /// Computes the time used by the run of `manifest` whose journal contains `records`.
    pub(crate) fn from_journal(manifest: &Manifest, records: &[JournalRecord]) -> Self {
        let started = manifest.started.parse::<jiff::Timestamp>().map(jiff::Timestamp::as_millisecond);
        let staging_ms = (manifest.data.staging_s * 1e3) as i64;
        Self::from_records(started.ok().map(|started| started - staging_ms), records)
    }

    fn from_records(started_ms: Option<i64>, records: &[JournalRecord]) -> Self {
        let mut earlier_time = Self::default();
        let mut last_ms = started_ms;
        for record in records {
            match &record.body {
                RecordBody::Resumed { at_ms } => last_ms = Some(*at_ms),
                RecordBody::Trial(trial) => {
                    let elapsed_ms = last_ms.map_or(0, |last| (trial.at_ms - last).max(0));
                    earlier_time.seconds += elapsed_ms as f64 / 1e3;
                    last_ms = Some(trial.at_ms.max(last_ms.unwrap_or(i64::MIN)));
                    earlier_time.by_trial.push((trial.round, trial.cell.state, earlier_time.seconds));
                }
                _ => {}
            }
        }
        earlier_time
    }

    /// Seconds of each recorded round: from the last record of the previous round to its own last record.
    /// Only trials in `state` count, and trials without a data state, which count for every state.
    pub(crate) fn round_seconds(&self, state: Option<DataState>) -> BTreeMap<u32, f64> {
        let mut ends: BTreeMap<u32, f64> = BTreeMap::new();
        for (round, trial_state, total_s) in &self.by_trial {
            if state.is_none() || trial_state.is_none() || *trial_state == state {
                let end = ends.entry(*round).or_default();
                *end = end.max(*total_s);
            }
        }
        let mut previous_end = 0.0;
        for end in ends.values_mut() {
            let total_s = *end;
            *end = (total_s - previous_end).max(0.0);
            previous_end = f64::max(previous_end, total_s);
        }
        ends
    }
}

#[cfg(test)]
mod tests {
    use jsonathlon_schema::record::Trial;

    use super::*;
    use crate::cells::control_cell;

    fn trial(round: u32, at_s: i64) -> JournalRecord {
        let blank = Trial::blank(control_cell("analytics"), round, 0);
        let trial = Trial { at_ms: at_s * 1_000, ..blank };
        JournalRecord::new(format!("{round} {at_s}"), RecordBody::Trial(Box::new(trial)))
    }

    #[test]
    fn only_the_time_in_which_the_program_ran_is_spent() {
        let resumed = JournalRecord::new("resumed:1".to_owned(), RecordBody::Resumed { at_ms: 1_000_000 });
        let records = [trial(1, 20), trial(1, 60), trial(2, 80), resumed, trial(2, 1_030), trial(3, 1_050)];
        let earlier_time = EarlierTime::from_records(Some(10_000), &records);
        assert!((earlier_time.seconds - (70.0 + 50.0)).abs() < 1e-9, "{earlier_time:?}");
        assert_eq!(earlier_time.round_seconds(None), BTreeMap::from([(1, 50.0), (2, 50.0), (3, 20.0)]));
        assert_eq!(EarlierTime::from_records(None, &[]), EarlierTime::default());
    }
}
