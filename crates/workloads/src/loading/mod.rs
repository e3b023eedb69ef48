//! Loads documents into systems round by round, settles and measures them, and reads documents back.

mod common;
mod file;
mod load;
mod load_usage;
mod read_back;
mod reject_search;
mod rejects;
mod settle;
mod suspects;

use jsonathlon_schema::id::DataState;
use jsonathlon_schema::record::Failure;
use jsonathlon_schema::settings::RunSettings;

use crate::RunError;
use crate::observer::{Activity, RunEvent};
use crate::recorder::TrialRecorder;
use crate::run_context::{FIRST_ROUND, RunContext, TargetState};
use crate::session::TrialError;

pub(crate) use settle::{settle, sizes};

/// If load and settle of a system take less time than this, loads are repeated like other trials.
const SHORT_LOAD_S: f64 = 60.0;
/// Number of rounds that begin with a load if loads are repeated.
const LOAD_ROUNDS: u32 = 3;

/// Maximum number of rounds with a load; the duration of a target's first load decides how many it really
/// gets.
pub(crate) fn max_load_rounds(settings: &RunSettings) -> u32 {
    settings.load_rounds.unwrap_or(LOAD_ROUNDS)
}

/// Number of rounds with a load, for a target whose load and settle take `seconds`.
pub(crate) fn load_rounds(settings: &RunSettings, seconds: f64) -> u32 {
    let short_load_rounds = if seconds < SHORT_LOAD_S { LOAD_ROUNDS } else { 1 };
    settings.load_rounds.unwrap_or(short_load_rounds).max(1)
}

impl<'a> RunContext<'a> {
    /// Maximum number of rounds with a load; the duration of a target's first load decides how many it really
    /// gets.
    #[must_use]
    pub fn max_load_rounds(&self) -> u32 {
        max_load_rounds(self.settings)
    }

    /// Number of rounds with a load for a target: from the settings, or by the duration of its last load and
    /// settle.
    fn load_rounds(&self, target_state: &TargetState<'_>) -> u32 {
        self.load_rounds_of(target_state.load_s + target_state.settle_s)
    }

    /// Number of rounds with a load, for a target whose load and settle took `seconds`.
    fn load_rounds_of(&self, seconds: f64) -> u32 {
        load_rounds(self.settings, seconds)
    }

    /// Returns `true` if this round of a target begins with a load that has no record yet.
    #[must_use]
    pub fn is_load_due(
        &self,
        round: u32,
        target_state: &TargetState<'_>,
        recorder: &TrialRecorder<'_>,
    ) -> bool {
        let [load, size] = target_state.cells.load_keys(round);
        let is_open = !recorder.has(&load) || !recorder.has(&size);
        match target_state.is_loaded {
            // A target that the current process has not loaded is loaded here only for rounds that certainly
            // load; other rounds load it when a question is due.
            false => {
                is_open
                    && (round == FIRST_ROUND
                        || self.settings.load_rounds.is_some_and(|rounds| round <= rounds))
            }
            // A failed load is not repeated.
            true => is_open && round <= self.load_rounds(target_state) && target_state.load_result.is_ok(),
        }
    }

    /// Records the planned load of this round as failed if an earlier load of the target failed, because a
    /// failed load is not repeated.
    ///
    /// # Errors
    /// If the journal cannot be written.
    pub fn fail_planned_loads(
        &self,
        round: u32,
        target_state: &TargetState<'_>,
        recorder: &mut TrialRecorder<'_>,
    ) -> Result<(), RunError> {
        let is_planned = self.settings.load_rounds.is_some_and(|rounds| round <= rounds);
        let Err(failure) = &target_state.load_result else { return Ok(()) };
        if !target_state.is_loaded || !is_planned {
            return Ok(());
        }
        let cells = [target_state.cells.load(), target_state.cells.size(DataState::Drained)];
        for (key, cell) in target_state.cells.load_keys(round).into_iter().zip(cells) {
            recorder.record_failure(key, &cell, round, 0, skipped_after_load_failure(failure))?;
        }
        Ok(())
    }

    /// Loads a target into a new data folder and settles it. Load and size are recorded in rounds that begin
    /// with a load.
    ///
    /// # Errors
    /// If the run must end. A failed load is recorded, and [`TargetState::load_result`] has the reason.
    pub fn load(
        &self,
        round: u32,
        target_state: &mut TargetState<'a>,
        recorder: &mut TrialRecorder<'_>,
    ) -> Result<(), RunError> {
        let activity = format!("loading {}", target_state.cells.target.file_name());
        recorder.observer.event(&RunEvent::Began { activity: Activity::Loading, description: &activity });
        self.subject.set_activity(&activity);
        if target_state.is_loaded
            && let Err(failure) = TrialError::split_fatal(target_state.session.reset_data())?
        {
            let cell = target_state.cells.load();
            let key = cell.trial_key(round, 0);
            recorder.record_failure(key.clone(), &cell, round, 0, failure.clone())?;
            target_state.load_result = Err(failure.with_cause_key(&key));
        } else {
            load::load(self, round, target_state, recorder)?;
        }
        target_state.is_loaded = true;
        // Settle immediately and stop the engine: its background work must be measured here and must not
        // disturb the next engine.
        let is_recorded = round == FIRST_ROUND || round <= self.load_rounds(target_state);
        self.enter_state(DataState::Drained, is_recorded.then_some(round), target_state, recorder)
    }

    /// Compacts a target once, after all rounds in the drained state. Loads it first if the current process
    /// has not.
    ///
    /// # Errors
    /// If the run must end. A failed compaction is recorded.
    pub fn compact(
        &self,
        target_state: &mut TargetState<'a>,
        recorder: &mut TrialRecorder<'_>,
    ) -> Result<(), RunError> {
        if recorder.has(&target_state.cells.size(DataState::Compacted).trial_key(1, 0)) {
            return Ok(());
        }
        if !target_state.is_loaded {
            self.load(FIRST_ROUND, target_state, recorder)?;
        }
        self.enter_state(DataState::Compacted, Some(1), target_state, recorder)
    }
}

/// Failure of the trials of a system that could not be loaded.
pub(crate) fn skipped_after_load_failure(failure: &Failure) -> Failure {
    failure.consequence("not done, because loading failed")
}
