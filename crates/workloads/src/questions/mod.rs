//! The questions workload: user-defined questions on the user's own documents.
//!
//! The correct answers are unknown. Before anything is timed, every system is asked every question once. The
//! answer of a majority, over documents that all of its systems hold, is the expected answer of all later
//! trials.

mod addend;
mod answers;
mod difference_text;
mod document_set;
mod expected_answer;
mod recall;
mod settings;
mod settle;
mod survey;

use std::{cell::RefCell, collections::BTreeMap};

use jsonathlon_catalogue::{QUESTIONS, QuestionRules, WorkloadSetup, question_file};
use jsonathlon_dataset::agreement::ComparisonRules;
use jsonathlon_schema::{
    record::Verdict,
    settings::{
        WorkloadSettings,
        questions::{QuestionsSettings, UserQuestion},
    },
    value::Row,
    workload::WorkloadKind,
};

use crate::{
    RunError,
    asking::{self, AnswerCheck, AnswerKey, Question, QuestionTarget},
    cells::Cells,
    expected_time::{ExpectedTime, RunOutline},
    recorder::TrialRecorder,
    run_context::{LoadedDocuments, RunContext, TargetState},
    target::Target,
    workload::Workload,
};

pub use settings::build_settings;
pub(crate) use {document_set::DocumentSet, survey::survey};

use expected_answer::{AnswerBasis, ExpectedAnswer};

/// The questions workload with the expected answers known so far.
#[derive(Debug)]
pub struct Questions {
    /// Workload in whose name agreements are recorded.
    kind: WorkloadKind,
    settings: QuestionsSettings,
    rules: BTreeMap<String, ComparisonRules>,
    /// Expected answers by question, filled once all systems were asked.
    expected_answers: RefCell<BTreeMap<String, ExpectedAnswer>>,
}

impl Questions {
    /// Creates the workload for the questions in the settings.
    #[must_use]
    pub fn new(settings: QuestionsSettings) -> Self {
        Self::of_workload(settings, WorkloadKind::Questions)
    }

    /// Creates the questions in the settings, for another workload that asks them.
    pub(crate) fn of_workload(settings: QuestionsSettings, kind: WorkloadKind) -> Self {
        let rules = settings
            .questions
            .iter()
            .map(|question| (question.name.clone(), settings::comparison_rules(question)));
        Self { kind, rules: rules.collect(), expected_answers: RefCell::default(), settings }
    }

    /// Questions that a target has statements for, in the order in which they are asked.
    pub(crate) fn questions_of(&self, setup: &WorkloadSetup) -> Vec<Question> {
        let questions = self.settings.questions.iter().filter(|question| setup.asks(&question.name));
        let to_question = |question: &UserQuestion| Question {
            name: question.name.clone(),
            file: question_file(&question.name),
            columns: question.columns.iter().map(|column| column.name.clone()).collect(),
        };
        questions.map(to_question).collect()
    }

    /// Why rows cannot be an answer to a question: they have other columns or types. `None` if they can.
    pub(crate) fn shape_error(&self, question: &str, rows: &[Row]) -> Option<String> {
        self.rules.get(question)?.shape_error(rows)
    }
}

/// A target that is asked to find the expected answers, with what the workload keeps for it.
pub(crate) struct SurveyTarget<'t, 'a> {
    /// Session and load of the target.
    pub(crate) state: &'t mut TargetState<'a>,
    /// Questions that it has statements for.
    pub(crate) questions: &'t [Question],
    /// Documents that it holds, which identify the expected answers that apply to it.
    pub(crate) documents: &'t mut DocumentSet,
}

impl Workload for Questions {
    fn name(&self) -> &'static str {
        QUESTIONS
    }

    fn settings(&self) -> Result<WorkloadSettings, serde_json::Error> {
        Ok(WorkloadSettings { questions: Some(self.settings.clone()), ..WorkloadSettings::default() })
    }

    fn unsupported_reason(&self, target: &Target) -> Option<String> {
        let id = target.id();
        let is_asked = self.settings.questions.iter().any(|question| target.setup.asks(&question.name));
        (!is_asked).then(|| format!("there is no statement for {} {}", id.system, id.variant))
    }

    fn suspects(&self, target: &Target) -> Vec<String> {
        target.setup.suspects()
    }

    fn expected_time(&self, outline: &RunOutline<'_>) -> ExpectedTime {
        asking::expected_time(self.settings.questions.len(), true, &self.settings.asking, outline)
    }

    fn planned_keys(&self, context: &RunContext<'_>) -> Vec<String> {
        asking::keys(self, &self.settings.asking, context)
    }

    fn run(&self, context: &RunContext<'_>, recorder: &mut TrialRecorder<'_>) -> Result<(), RunError> {
        asking::run(self, &self.settings.asking, context, recorder)
    }
}

impl AnswerKey for Questions {
    /// Set of documents that the target holds; its digest finds the expected answers over them.
    type Expected = DocumentSet;

    fn questions(&self, target: &Target) -> Vec<Question> {
        self.questions_of(&target.setup)
    }

    /// Always empty: a user's folder declares no rules.
    fn rules(&self, _: &Target) -> BTreeMap<String, QuestionRules> {
        BTreeMap::new()
    }

    fn determine_expected(
        &self,
        context: &RunContext<'_>,
        loaded: &LoadedDocuments,
    ) -> Result<Self::Expected, RunError> {
        Ok(DocumentSet::new(context.staged, loaded))
    }

    fn judge(
        &self,
        documents: &Self::Expected,
        cells: Cells<'_>,
        question: &Question,
        rows: &[Row],
    ) -> AnswerCheck {
        let answers = self.expected_answers.borrow();
        let (Some(expected), Some(rules)) = (answers.get(&question.name), self.rules.get(&question.name))
        else {
            return AnswerCheck::unverified();
        };
        if let Some(error) = rules.shape_error(rows) {
            return AnswerCheck::wrong(error);
        }
        let expected_rows = match expected.answer_basis(cells.target, documents) {
            AnswerBasis::Rows(expected_rows) => expected_rows,
            AnswerBasis::Wrong(reason) => return AnswerCheck::wrong(reason.to_owned()),
            AnswerBasis::Unverifiable(verdict) => {
                return AnswerCheck { verdict, approximate_error: None, difference: None };
            }
        };
        match expected.rules(rules).compare(expected_rows, rows) {
            Ok(comparison) => AnswerCheck {
                verdict: match comparison.approximate_error {
                    Some(_) => Verdict::Approximate,
                    None => Verdict::Exact,
                },
                approximate_error: comparison.approximate_error,
                difference: None,
            },
            Err(difference) => AnswerCheck::wrong(difference_text::describe(&difference)),
        }
    }

    fn survey<'a>(
        &self,
        context: &RunContext<'a>,
        targets: &mut [QuestionTarget<'a, Self>],
        recorder: &mut TrialRecorder<'_>,
    ) -> Result<(), RunError> {
        let mut targets: Vec<SurveyTarget<'_, 'a>> = targets
            .iter_mut()
            .map(|target| SurveyTarget {
                state: &mut target.state,
                questions: &target.questions,
                documents: &mut target.expected,
            })
            .collect();
        survey(self, context, &mut targets, recorder)
    }
}
