//! Runs questions on every system in rounds, cold and hot, and verifies the answers.
//!
//! An [`AnswerKey`] provides the questions and the expected answers: computed beforehand, or agreed on by the
//! systems.

mod comparison;
mod expected;
mod question_trials;
mod rounds;

pub(crate) mod plan;

use std::{collections::BTreeMap, time::Duration};

use jsonathlon_catalogue::QuestionRules;
use jsonathlon_schema::{settings::questions::QuestionSettings, value::Row};

use crate::{
    RunError,
    cells::Cells,
    recorder::TrialRecorder,
    run_context::{LoadedDocuments, RunContext, TABLE, TargetState},
    session::{Session, TrialError},
    target::Target,
};

pub use comparison::AnswerCheck;
pub(crate) use expected::expected_time;

/// A question from the runner's point of view.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Question {
    /// Name of the question, the step of its cells.
    pub(crate) name: String,
    /// Name of the statement file that asks the question.
    pub(crate) file: String,
    /// Column names of the answer, in order.
    pub(crate) columns: Vec<String>,
}

/// Source of questions and of their expected answers.
pub(crate) trait AnswerKey: Sized {
    /// Expected answers of one target.
    type Expected: Default;

    /// Questions for a target, in the order in which they are asked.
    fn questions(&self, target: &Target) -> Vec<Question>;

    /// Declarations and requirements of the target's folder, by question.
    fn rules(&self, target: &Target) -> BTreeMap<String, QuestionRules>;

    /// Determines the expected answers of a target that holds the documents `loaded`.
    ///
    /// # Errors
    /// If documents cannot be read again.
    fn determine_expected(
        &self,
        context: &RunContext<'_>,
        loaded: &LoadedDocuments,
    ) -> Result<Self::Expected, RunError>;

    /// Verifies an answer of a target against the expected answer.
    fn judge(
        &self,
        expected: &Self::Expected,
        cells: Cells<'_>,
        question: &Question,
        rows: &[Row],
    ) -> AnswerCheck;

    /// Determines expected answers that depend on the systems' own answers, before anything is timed. Does
    /// nothing by default.
    ///
    /// # Errors
    /// If the run must end.
    fn survey<'a>(
        &self,
        context: &RunContext<'a>,
        targets: &mut [QuestionTarget<'a, Self>],
        recorder: &mut TrialRecorder<'_>,
    ) -> Result<(), RunError> {
        let _ = (context, targets, recorder);
        Ok(())
    }
}

/// A target with its questions and expected answers.
pub(crate) struct QuestionTarget<'a, T: AnswerKey> {
    pub(crate) state: TargetState<'a>,
    pub(crate) questions: Vec<Question>,
    /// Declarations and requirements of the system's folder, by question.
    pub(crate) rules: BTreeMap<String, QuestionRules>,
    pub(crate) expected: T::Expected,
}

/// Keys of all planned trials of all targets.
pub(crate) fn keys<T: AnswerKey>(
    answer_key: &T,
    question_settings: &QuestionSettings,
    context: &RunContext<'_>,
) -> Vec<String> {
    let target_keys = |target| {
        let questions = answer_key.questions(target);
        let names = questions.iter().map(|question| question.name.as_str());
        plan::keys(context.cells(target), names, context.settings, question_settings)
    };
    context.targets.iter().flat_map(target_keys).collect()
}

/// Runs every planned trial that the journal does not contain yet.
pub(crate) fn run<T: AnswerKey>(
    answer_key: &T,
    question_settings: &QuestionSettings,
    context: &RunContext<'_>,
    recorder: &mut TrialRecorder<'_>,
) -> Result<(), RunError> {
    let mut targets = Vec::new();
    for state in context.target_states() {
        let target = state.cells.target;
        let (questions, rules) = (answer_key.questions(target), answer_key.rules(target));
        targets.push(QuestionTarget { state, questions, rules, expected: T::Expected::default() });
    }
    let result = rounds::run_all(answer_key, question_settings, context, &mut targets, recorder);
    // The first error is the one that matters.
    let mut states: Vec<TargetState<'_>> = targets.into_iter().map(|target| target.state).collect();
    context.drop_remote_objects_of(&mut states, recorder);
    result
}

/// Makes the session reject changes, if the system's folder has statements for that.
pub(crate) fn make_read_only(session: &mut Session<'_>, limit: Duration) -> Result<(), TrialError> {
    let statements = session.statements("read_only", &[("table", TABLE)])?;
    if statements.is_empty() {
        return Ok(());
    }
    session.run(statements, limit).map(drop)
}
