//! Runs questions on every system in rounds, cold and hot, and verifies the answers.
//!
//! An [`AnswerKey`] provides the questions and the expected answers: computed beforehand, or agreed on by the
//! systems.

mod comparison;
mod question_trials;
mod rounds;
mod settings;

pub(crate) mod plan;

use std::{collections::BTreeMap, time::Duration};

use jsonathlon_catalogue::QuestionRules;
use jsonathlon_schema::value::Row;

use crate::{
    RunError,
    cells::Cells,
    recorder::TrialRecorder,
    run_context::{LoadedDocuments, RunContext, TABLE, TargetState},
    session::{Session, TrialError},
    target::Target,
};

pub use comparison::AnswerCheck;
pub use settings::QuestionSettings;

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
    type Held: Default;

    /// Questions for a target, in the order in which they are asked.
    fn questions(&self, target: &Target) -> Vec<Question>;

    /// Declarations and requirements of the target's folder, by question.
    fn rules(&self, target: &Target) -> BTreeMap<String, QuestionRules>;

    /// Determines the expected answers of a target that holds the documents `accepted`.
    ///
    /// # Errors
    /// If documents cannot be read again.
    fn expected_answers(
        &self,
        bench: &RunContext<'_>,
        accepted: &LoadedDocuments,
    ) -> Result<Self::Held, RunError>;

    /// Verifies an answer of a target against the expected answer.
    fn judge(&self, held: &Self::Held, cells: Cells<'_>, question: &Question, rows: &[Row]) -> AnswerCheck;

    /// Determines expected answers that depend on the systems' own answers, before anything is timed. Does
    /// nothing by default.
    ///
    /// # Errors
    /// If the run must end.
    fn survey<'a>(
        &self,
        bench: &RunContext<'a>,
        all: &mut [QuestionTarget<'a, Self>],
        recorder: &mut TrialRecorder<'_>,
    ) -> Result<(), RunError> {
        let _ = (bench, all, recorder);
        Ok(())
    }
}

/// A target with its questions and expected answers.
pub(crate) struct QuestionTarget<'a, T: AnswerKey> {
    pub(crate) of: TargetState<'a>,
    pub(crate) questions: Vec<Question>,
    /// Declarations and requirements of the system's folder, by question.
    pub(crate) rules: BTreeMap<String, QuestionRules>,
    pub(crate) held: T::Held,
}

/// Keys of all planned trials of all targets.
pub(crate) fn keys<T: AnswerKey>(truth: &T, own: &QuestionSettings, bench: &RunContext<'_>) -> Vec<String> {
    let of = |target| {
        let questions = truth.questions(target);
        let names = questions.iter().map(|question| question.name.as_str());
        plan::keys(bench.cells(target), names, bench.settings, own)
    };
    bench.targets.iter().flat_map(of).collect()
}

/// Runs every planned trial that the journal does not contain yet.
pub(crate) fn run<T: AnswerKey>(
    truth: &T,
    own: &QuestionSettings,
    bench: &RunContext<'_>,
    recorder: &mut TrialRecorder<'_>,
) -> Result<(), RunError> {
    let mut all = Vec::new();
    for of in bench.all_under_test() {
        let target = of.cells.target;
        let (questions, rules) = (truth.questions(target), truth.rules(target));
        all.push(QuestionTarget { of, questions, rules, held: T::Held::default() });
    }
    let ended = rounds::all(truth, own, bench, &mut all, recorder);
    // The first error is the one that matters.
    let mut all: Vec<TargetState<'_>> = all.into_iter().map(|one| one.of).collect();
    bench.drop_remote_objects_of(&mut all, recorder);
    ended
}

/// Makes the session reject changes, if the system's folder has statements for that.
pub(crate) fn read_only(session: &mut Session<'_>, limit: Duration) -> Result<(), TrialError> {
    let statements = session.statements("read_only", &[("table", TABLE)])?;
    if statements.is_empty() {
        return Ok(());
    }
    session.run(statements, limit).map(drop)
}
