//! Rounds of workloads that give every target one turn in each, until the stopping rule applies.

use jsonathlon_telemetry::control::Control;

use crate::RunError;
use crate::cells::rotation;
use crate::expected_time::RunPart;
use crate::recorder::TrialRecorder;
use crate::run_context::RunContext;
use crate::stopping::RoundDecision;
use crate::target::Target;

impl RunContext<'_> {
    /// Runs the rounds of `part`, from 1. In each, all targets have a turn, in an order that rotates by round; before
    /// each turn, the machine's control is timed. `turn` runs a target's turn of a round and returns the target.
    ///
    /// # Errors
    /// The first error of a turn, of recording, or of the stopping rule.
    pub(crate) fn run_rounds<'t, T>(
        &self,
        part: RunPart,
        targets: &mut [T],
        recorder: &mut TrialRecorder<'_>,
        mut turn: impl FnMut(u32, &mut T, &mut TrialRecorder<'_>) -> Result<&'t Target, RunError>,
    ) -> Result<(), RunError> {
        let mut control = Control::new();
        let mut controller = self.round_controller(None);
        let mut round = 1;
        loop {
            for (position, index) in rotation(targets.len(), round).into_iter().enumerate() {
                let Some(target) = targets.get_mut(index) else { continue };
                self.time_control(round, position, &mut control, recorder)?;
                let target = turn(round, target, recorder)?;
                recorder.end_turn(part, round, index, target);
            }
            let decision = controller.decide_after(round, self.elapsed_s(), Vec::new)?;
            controller.report(recorder.observer);
            if let Some(planned) = controller.planned_rounds() {
                recorder.plan_rounds(planned);
            }
            if decision == RoundDecision::Stop {
                return Ok(());
            }
            round += 1;
        }
    }
}
