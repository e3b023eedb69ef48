//! One configuration's part of a round of the frontier: both peaks alone, then questions beside writers at shares of
//! the writers' peak.

use jsonathlon_schema::record::{Failure, FailureKind, Phase};
use jsonathlon_schema::settings::mixed::{FrontierRate, InsertRate, MixedSettings};

use super::trials::frontier_points;
use super::turn::{MixedTarget, MixedTurn, NO_PEAK};
use crate::RunError;
use crate::cells::rotation;
use crate::recorder::TrialRecorder;

/// Part in which the peak of the writers is measured.
const WRITERS_ALONE: [Phase; 1] = [Phase::Alone];
/// Part in which the peak of the questions is measured.
const STREAMS_ALONE: [Phase; 1] = [Phase::Still];
/// Part in which one point is measured.
const POINT: [Phase; 1] = [Phase::Both];

impl<'d, 'a> MixedTurn<'d, '_, 'a> {
    /// Runs the parts of the round of which the journal does not contain every trial, each on the data as loaded.
    /// The peak of the writers in this round decides the rates of its points; a resumed round measures it again.
    pub(super) fn run_missing_points(
        &self,
        target: &mut MixedTarget<'d, 'a>,
        recorder: &mut TrialRecorder<'_>,
    ) -> Result<(), RunError> {
        self.context.fail_planned_loads(self.round, &target.state, recorder)?;
        let is_load_due = self.context.is_load_due(self.round, &target.state, recorder);
        target.peak_per_s = Err(NO_PEAK.to_owned());
        let is_peak_missing = self.is_unit_missing(&self.cells(&WRITERS_ALONE, target), recorder)?;
        let are_streams_missing = self.is_unit_missing(&self.cells(&STREAMS_ALONE, target), recorder)?;
        let mut is_point_missing = false;
        for point in &frontier_points(self.settings) {
            let turn = self.with_settings(point);
            is_point_missing |= turn.is_unit_missing(&turn.cells(&POINT, target), recorder)?;
        }
        if is_load_due || is_point_missing || is_peak_missing {
            self.run_part(&WRITERS_ALONE, is_load_due, target, recorder)?;
        }
        if are_streams_missing {
            self.run_part(&STREAMS_ALONE, false, target, recorder)?;
        }
        for index in rotation(self.settings.frontier.len(), self.round) {
            if let Some(point) = self.settings.frontier.get(index) {
                self.run_point(*point, target, recorder)?;
            }
        }
        Ok(())
    }

    /// Measures one point unless the journal contains all of its trials.
    fn run_point(
        &self,
        point: FrontierRate,
        target: &mut MixedTarget<'d, 'a>,
        recorder: &mut TrialRecorder<'_>,
    ) -> Result<(), RunError> {
        let peak_per_s = target.peak_per_s.clone();
        let rate = peak_per_s.as_ref().map_or(InsertRate::FullSpeed, |peak| point.of_peak(*peak));
        let settings: MixedSettings = self.settings.at_point(point, rate);
        let turn = self.with_settings(&settings);
        if !turn.has_missing(&POINT, target, recorder) {
            return Ok(());
        }
        // The failure of a load is recorded as that of all parts.
        let needs_peak = point != FrontierRate::FullSpeed && target.state.load_result.is_ok();
        if let Err(reason) = peak_per_s.as_ref()
            && needs_peak
        {
            let message = format!("its rate is a share of a peak that is not known: {reason}");
            let failure = Failure::new(FailureKind::Environment, message);
            return turn.record_failures(&POINT, &failure, target, recorder);
        }
        turn.run_part(&POINT, false, target, recorder)
    }
}
