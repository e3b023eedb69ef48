//! Order of work: rounds of loads and questions, rotated between targets, until the stopping rule applies.

use jsonathlon_catalogue::QuestionRules;
use jsonathlon_schema::id::DataState;
use jsonathlon_schema::settings::questions::QuestionSettings;
use jsonathlon_telemetry::control::Control;

use super::{
    AnswerKey, Question, QuestionTarget, plan,
    question_trials::{QuestionTrials, TimedOutQuestions},
};
use crate::{
    RunError, cells::rotation, expected_time::RunPart, loading::skipped_after_load_failure,
    recorder::TrialRecorder, run_context::RunContext, session::TrialError, stopping::RoundDecision,
};

/// Runs rounds, in which every target has a turn; holds what the turns share.
struct RoundRunner<'t, 'b, 'a, T> {
    context: &'b RunContext<'a>,
    answer_key: &'t T,
    question_settings: &'t QuestionSettings,
    control: Control,
    timed_out: TimedOutQuestions,
}

/// Runs all questions of all targets, in rounds.
pub(super) fn run_all<'a, T: AnswerKey>(
    answer_key: &T,
    question_settings: &QuestionSettings,
    context: &RunContext<'a>,
    targets: &mut [QuestionTarget<'a, T>],
    recorder: &mut TrialRecorder<'_>,
) -> Result<(), RunError> {
    let mut runner = RoundRunner {
        context,
        answer_key,
        question_settings,
        control: Control::new(),
        timed_out: TimedOutQuestions::new(),
    };
    answer_key.survey(context, targets, recorder)?;
    // The first data state with questions determines the number of rounds.
    let mut rounds = None;
    for state in DataState::ALL {
        let is_asked = question_settings.states.contains(&state);
        if state == DataState::Compacted {
            for (index, question_target) in targets.iter_mut().enumerate() {
                runner.compact(question_target, recorder)?;
                recorder.end_turn(RunPart::Compaction, 1, index, question_target.state.cells.target);
            }
        }
        if !is_asked && state == DataState::Compacted {
            continue;
        }
        let fixed_rounds = if is_asked { rounds } else { Some(context.max_load_rounds()) };
        let round_count = runner.rounds(state, fixed_rounds, targets, recorder)?;
        if is_asked {
            rounds = Some(round_count);
        }
    }
    Ok(())
}

impl<'a, T: AnswerKey> RoundRunner<'_, '_, 'a, T> {
    /// Runs rounds in `state`: `fixed` many, or until the stopping rule applies. Returns their number.
    fn rounds(
        &mut self,
        state: DataState,
        fixed_rounds: Option<u32>,
        targets: &mut [QuestionTarget<'a, T>],
        recorder: &mut TrialRecorder<'_>,
    ) -> Result<u32, RunError> {
        let context = self.context;
        let mut controller = context.round_controller(Some(state));
        let mut round = 1;
        loop {
            for (position, index) in rotation(targets.len(), round).into_iter().enumerate() {
                let Some(question_target) = targets.get_mut(index) else { continue };
                self.turn(state, round, position, question_target, recorder)?;
                recorder.end_turn(RunPart::Rounds(state), round, index, question_target.state.cells.target);
            }
            let decision = match fixed_rounds {
                Some(rounds) if round >= rounds => RoundDecision::Stop,
                Some(_) => RoundDecision::RunAnother,
                None => controller.decide_after(round, context.elapsed_s(), || {
                    recorder.ranked_cell_times(context.targets, state)
                })?,
            };
            controller.report(recorder.observer);
            if let Some(planned) = controller.planned_rounds() {
                recorder.plan_rounds(planned);
            }
            if decision == RoundDecision::Stop {
                return Ok(round);
            }
            round += 1;
        }
    }

    /// Runs one target's part of a round: its load if one is due, then its questions.
    fn turn(
        &mut self,
        state: DataState,
        round: u32,
        position: usize,
        question_target: &mut QuestionTarget<'a, T>,
        recorder: &mut TrialRecorder<'_>,
    ) -> Result<(), RunError> {
        let (context, question_settings) = (self.context, self.question_settings);
        let is_asked = question_settings.states.contains(&state);
        if state == DataState::Drained {
            context.fail_planned_loads(round, &question_target.state, recorder)?;
        }
        let is_open = |question: &Question| {
            let cells = question_target.state.cells;
            let keys = plan::question_keys(cells, &question.name, state, round, question_settings);
            keys.iter().any(|key| !recorder.has(key))
        };
        let is_asking = is_asked && question_target.questions.iter().any(is_open);
        let is_loading =
            state == DataState::Drained && context.is_load_due(round, &question_target.state, recorder);
        if !is_asking && !is_loading {
            return Ok(());
        }
        context.time_control(round, position, &mut self.control, recorder)?;
        if is_loading || !question_target.state.is_loaded {
            self.load(round, question_target, recorder)?;
            if state == DataState::Compacted {
                context.enter_state(DataState::Compacted, None, &mut question_target.state, recorder)?;
            }
        }
        if is_asking {
            for index in 0..question_target.questions.len() {
                self.ask(index, state, round, question_target, recorder)?;
            }
        }
        if let Err(failure) = TrialError::split_fatal(question_target.state.session.close())? {
            recorder.warn(&format!(
                "{}: failed to close the session: {}",
                question_target.state.cells.target.file_name(),
                failure.error
            ));
        }
        Ok(())
    }

    /// Loads a target and determines its expected answers.
    fn load(
        &self,
        round: u32,
        question_target: &mut QuestionTarget<'a, T>,
        recorder: &mut TrialRecorder<'_>,
    ) -> Result<(), RunError> {
        self.context.load(round, &mut question_target.state, recorder)?;
        self.determine_answers(question_target)
    }

    /// Determines the expected answers over the documents that the target holds now.
    fn determine_answers(&self, question_target: &mut QuestionTarget<'a, T>) -> Result<(), RunError> {
        if let Ok(loaded) = &question_target.state.load_result {
            question_target.expected = self.answer_key.determine_expected(self.context, loaded)?;
        }
        Ok(())
    }

    fn compact(
        &self,
        question_target: &mut QuestionTarget<'a, T>,
        recorder: &mut TrialRecorder<'_>,
    ) -> Result<(), RunError> {
        let was_loaded = question_target.state.is_loaded;
        self.context.compact(&mut question_target.state, recorder)?;
        if was_loaded { Ok(()) } else { self.determine_answers(question_target) }
    }

    fn ask(
        &mut self,
        index: usize,
        state: DataState,
        round: u32,
        question_target: &mut QuestionTarget<'a, T>,
        recorder: &mut TrialRecorder<'_>,
    ) -> Result<(), RunError> {
        let Some(question) = question_target.questions.get(index) else { return Ok(()) };
        let cells = question_target.state.cells;
        let no_rules = QuestionRules::default();
        let trials = QuestionTrials {
            cells,
            settings: self.context.settings,
            question_settings: self.question_settings,
            disk_bytes_per_s: self.context.disk_bytes_per_s,
            judge: &|rows| self.answer_key.judge(&question_target.expected, cells, question, rows),
            rules: question_target.rules.get(&question.name).unwrap_or(&no_rules),
            question,
            state,
            round,
        };
        match &question_target.state.load_result {
            Ok(_) => trials.ask(&mut question_target.state.session, &mut self.timed_out, recorder),
            Err(failure) => trials.fail(&skipped_after_load_failure(failure), recorder),
        }
    }
}
