//! One configuration's part of a round on still data: one number of streams after the other, without writers.

use std::collections::BTreeMap;

use jsonathlon_schema::record::{Cell, Failure, Phase};

use super::turn::{MixedTarget, MixedTurn, PartLog};
use crate::RunError;
use crate::cells::rotation;
use crate::recorder::TrialRecorder;
use crate::session::TrialError;

/// The only phase of a round on still data.
const PHASES: [Phase; 1] = [Phase::Still];

impl<'d, 'a> MixedTurn<'d, '_, 'a> {
    /// Runs the round of which the journal does not contain every trial. All numbers of streams are a unit, since
    /// each is compared with one stream of the same round.
    pub(super) fn run_missing_streams(
        &self,
        target: &mut MixedTarget<'d, 'a>,
        recorder: &mut TrialRecorder<'_>,
    ) -> Result<(), RunError> {
        self.context.fail_planned_loads(self.round, &target.state, recorder)?;
        let is_load_due = self.context.is_load_due(self.round, &target.state, recorder);
        let loads = self.settings.still_loads();
        let turns: Vec<_> = loads.iter().map(|settings| self.with_settings(settings)).collect();
        let unit: Vec<Cell> = turns.iter().flat_map(|turn| turn.cells(&PHASES, target)).collect();
        let is_missing = self.is_unit_missing(&unit, recorder)?;
        if !is_load_due && !is_missing {
            return Ok(());
        }
        if let Err(failure) = self.restore_loaded_data(is_load_due, target, recorder)? {
            return turns
                .iter()
                .try_for_each(|turn| turn.record_failures(&PHASES, &failure, target, recorder));
        }
        if !is_missing {
            return Ok(());
        }
        let (mut part, mut failures) = (PartLog::default(), BTreeMap::new());
        for index in rotation(turns.len(), self.round) {
            let Some(turn) = turns.get(index) else { continue };
            if let Some(failure) = turn.measure_still(&mut part, target, recorder)? {
                failures.insert(index, failure);
            }
        }
        self.close_session(target, recorder)?;
        for (index, turn) in turns.iter().enumerate() {
            turn.record(&PHASES, &part, failures.remove(&index), target, recorder)?;
        }
        Ok(())
    }

    /// Asks with one number of streams. Returns why it could not be measured, after which the data is as loaded
    /// again.
    fn measure_still(
        &self,
        part: &mut PartLog,
        target: &mut MixedTarget<'d, 'a>,
        recorder: &mut TrialRecorder<'_>,
    ) -> Result<Option<Failure>, RunError> {
        let measured = self.measure(&PHASES, part, target, recorder);
        let failure = TrialError::split_fatal(measured)?.err();
        if failure.is_some() {
            // The next number of streams gets a new process.
            drop(self.restore_loaded_data(false, target, recorder)?);
        }
        Ok(failure)
    }
}
