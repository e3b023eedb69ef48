//! Order of work: rounds of loads and questions, rotated between targets, until the stopping rule applies.

use jsonathlon_catalogue::QuestionRules;
use jsonathlon_schema::id::DataState;
use jsonathlon_telemetry::control::Control;

use super::{
    AnswerKey, Question, QuestionSettings, QuestionTarget, plan,
    question_trials::{QuestionTrials, TimedOut},
};
use crate::{
    RunError, cells::rotation, loading::skipped_after_load_failure, recorder::TrialRecorder,
    run_context::RunContext, session::TrialError, stopping::RoundDecision,
};

/// Runs rounds, in which every target has a turn; holds what the turns share.
struct RoundRunner<'t, 'b, 'a, T> {
    bench: &'b RunContext<'a>,
    truth: &'t T,
    own: &'t QuestionSettings,
    control: Control,
    timed_out: TimedOut,
}

/// Runs all questions of all targets, in rounds.
pub(super) fn all<'a, T: AnswerKey>(
    truth: &T,
    own: &QuestionSettings,
    bench: &RunContext<'a>,
    all: &mut [QuestionTarget<'a, T>],
    recorder: &mut TrialRecorder<'_>,
) -> Result<(), RunError> {
    let mut turns = RoundRunner { bench, truth, own, control: Control::new(), timed_out: TimedOut::new() };
    truth.survey(bench, all, recorder)?;
    // The first data state with questions determines the number of rounds.
    let mut rounds = None;
    for state in DataState::ALL {
        let is_asked = own.states.contains(&state);
        if state == DataState::Compacted {
            for one in all.iter_mut() {
                turns.compact(one, recorder)?;
            }
        }
        if !is_asked && state == DataState::Compacted {
            continue;
        }
        let fixed = if is_asked { rounds } else { Some(bench.most_load_rounds()) };
        let done = turns.rounds(state, fixed, all, recorder)?;
        if is_asked {
            rounds = Some(done);
        }
    }
    Ok(())
}

impl<'a, T: AnswerKey> RoundRunner<'_, '_, 'a, T> {
    /// Runs rounds in `state`: `fixed` many, or until the stopping rule applies. Returns their number.
    fn rounds(
        &mut self,
        state: DataState,
        fixed: Option<u32>,
        all: &mut [QuestionTarget<'a, T>],
        recorder: &mut TrialRecorder<'_>,
    ) -> Result<u32, RunError> {
        let bench = self.bench;
        let mut pace = bench.pace(Some(state));
        let mut round = 1;
        loop {
            for (place, index) in rotation(all.len(), round).into_iter().enumerate() {
                let Some(one) = all.get_mut(index) else { continue };
                self.turn(state, round, place, one, recorder)?;
            }
            let next = match fixed {
                Some(rounds) if round >= rounds => RoundDecision::Enough,
                Some(_) => RoundDecision::Another,
                None => pace.after(round, bench.elapsed_s(), || recorder.ranked(bench.targets, state))?,
            };
            pace.tell(recorder.observer);
            if next == RoundDecision::Enough {
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
        place: usize,
        one: &mut QuestionTarget<'a, T>,
        recorder: &mut TrialRecorder<'_>,
    ) -> Result<(), RunError> {
        let (bench, own) = (self.bench, self.own);
        let is_asked = own.states.contains(&state);
        if state == DataState::Drained {
            bench.fail_planned_loads(round, &one.of, recorder)?;
        }
        let is_open = |question: &Question| {
            let keys = plan::question_keys(one.of.cells, &question.name, state, round, own);
            keys.iter().any(|key| !recorder.has(key))
        };
        let asks = is_asked && one.questions.iter().any(is_open);
        let loads = state == DataState::Drained && bench.is_load_due(round, &one.of, recorder);
        if !asks && !loads {
            return Ok(());
        }
        bench.control(round, place, &mut self.control, recorder)?;
        if loads || !one.of.is_loaded {
            self.load(round, one, recorder)?;
            if state == DataState::Compacted {
                bench.enter(DataState::Compacted, None, &mut one.of, recorder)?;
            }
        }
        if asks {
            for place in 0..one.questions.len() {
                self.ask(place, state, round, one, recorder)?;
            }
        }
        if let Err(failure) = TrialError::split_fatal(one.of.session.close())? {
            recorder.warn(&format!(
                "{}: failed to close: {}",
                one.of.cells.target.file_name(),
                failure.error
            ));
        }
        Ok(())
    }

    /// Loads a target and determines its expected answers.
    fn load(
        &self,
        round: u32,
        one: &mut QuestionTarget<'a, T>,
        recorder: &mut TrialRecorder<'_>,
    ) -> Result<(), RunError> {
        self.bench.load(round, &mut one.of, recorder)?;
        self.learn(one)
    }

    /// Determines the expected answers over the documents that the target holds now.
    fn learn(&self, one: &mut QuestionTarget<'a, T>) -> Result<(), RunError> {
        if let Ok(accepted) = &one.of.load_result {
            one.held = self.truth.expected_answers(self.bench, accepted)?;
        }
        Ok(())
    }

    fn compact(
        &self,
        one: &mut QuestionTarget<'a, T>,
        recorder: &mut TrialRecorder<'_>,
    ) -> Result<(), RunError> {
        let was_loaded = one.of.is_loaded;
        self.bench.compact(&mut one.of, recorder)?;
        if was_loaded { Ok(()) } else { self.learn(one) }
    }

    fn ask(
        &mut self,
        place: usize,
        state: DataState,
        round: u32,
        one: &mut QuestionTarget<'a, T>,
        recorder: &mut TrialRecorder<'_>,
    ) -> Result<(), RunError> {
        let Some(question) = one.questions.get(place) else { return Ok(()) };
        let no_rules = QuestionRules::default();
        let asking = QuestionTrials {
            cells: one.of.cells,
            settings: self.bench.settings,
            own: self.own,
            disk_bytes_per_s: self.bench.disk_bytes_per_s,
            judge: &|rows| self.truth.judge(&one.held, one.of.cells, question, rows),
            rules: one.rules.get(&question.name).unwrap_or(&no_rules),
            question,
            state,
            round,
        };
        match &one.of.load_result {
            Ok(_) => asking.ask(&mut one.of.session, &mut self.timed_out, recorder),
            Err(failure) => asking.fail(&skipped_after_load_failure(failure), recorder),
        }
    }
}
