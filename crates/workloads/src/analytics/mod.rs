//! The analytics workload: questions about the same documents in one JSON column of every system.
//!
//! Asks the five questions of the billion-document JSON challenge, and one for which no system is prepared.

pub mod verify;

use std::collections::BTreeMap;

use jsonathlon_catalogue::{ANALYTICS, Configuration, QuestionRules};
use jsonathlon_dataset::{
    questions::Question as AnalyticsQuestion,
    reference::{Answers, Reference},
    scan::Event,
    stage::{DocumentVisitor, StagedDocuments},
};
use jsonathlon_schema::{
    settings::{WorkloadSettings, questions::QuestionSettings},
    value::Row,
};

use crate::{
    RunError,
    asking::{self, AnswerCheck, AnswerKey, Question},
    cells::Cells,
    expected_time::{ExpectedTime, RunOutline},
    recorder::TrialRecorder,
    run_context::{LoadedDocuments, RunContext},
    target::Target,
    workload::Workload,
};

/// Settings of this workload: only how questions are asked.
pub type AnalyticsSettings = QuestionSettings;

/// The analytics workload with the reference that computes the expected answers of a run.
#[derive(Debug, Default)]
pub struct Analytics {
    settings: AnalyticsSettings,
    reference: Reference,
    /// Whether the questions are asked even if the documents are not events.
    allows_any_documents: bool,
}

impl Analytics {
    /// Creates the workload with these settings; it requires events.
    #[must_use]
    pub fn new(settings: AnalyticsSettings) -> Self {
        Self { settings, ..Self::default() }
    }

    /// Allows documents that are not events.
    #[must_use]
    pub fn with_any_documents(self) -> Self {
        Self { allows_any_documents: true, ..self }
    }

    /// Computes the expected answers over the documents that a system holds.
    fn answers(&self, staged: &StagedDocuments, loaded: &LoadedDocuments) -> Result<Answers, RunError> {
        let mut reference = match loaded.rejected_lines.is_empty() {
            true => self.reference.clone(),
            false => {
                let mut remaining = Reference::default();
                staged.visit_clean_except(&loaded.rejected_lines, &mut remaining)?;
                remaining
            }
        };
        let suspects = loaded.accepted_suspects.iter().filter_map(|index| staged.suspects.get(*index));
        staged.visit_suspects(suspects, &mut reference)?;
        Ok(reference.answers())
    }
}

/// Requires at least half of the documents to be events: the answers are meaningless for other documents.
///
/// Documents without a single event among them are refused long before the end. A few events are enough to go
/// on, because a folder may begin with its files of other documents.
struct OnlyEvents<'a>(&'a mut Reference);

impl DocumentVisitor for OnlyEvents<'_> {
    fn document(&mut self, event: &Event<'_>) {
        self.0.observe(event);
    }

    fn refusal(&self, is_complete: bool) -> Option<String> {
        let (documents, events) = (self.0.documents(), self.0.events());
        other_documents(documents, events, is_complete).map(|which| {
            format!(
                "{which}, which the questions of {ANALYTICS} are about; write questions about your own with \
                 `jsonathlon questions new DIR --data …`, or give --force to ask these all the same"
            )
        })
    }
}

/// Says that documents are mostly no events, so that the questions of the challenge are not about them. `None` if
/// they may be asked.
pub(crate) fn other_documents(documents: u64, events: u64, is_complete: bool) -> Option<String> {
    let is_refused = if is_complete { 2 * events < documents } else { events == 0 };
    let which = if is_complete { "" } else { "the first " };
    is_refused.then(|| {
        format!("{events} of {which}{documents} documents are events with `did`, `time_us` and `kind`")
    })
}

impl Workload for Analytics {
    fn name(&self) -> &'static str {
        ANALYTICS
    }

    fn settings(&self) -> Result<WorkloadSettings, serde_json::Error> {
        Ok(WorkloadSettings { analytics: Some(self.settings.clone()), ..WorkloadSettings::default() })
    }

    fn unsupported_reason(&self, target: &Target) -> Option<String> {
        let Configuration { system, .. } = &target.configuration;
        target.configuration.analytics().is_none().then(|| format!("{system} has no folder {ANALYTICS}/"))
    }

    fn suspects(&self, target: &Target) -> Vec<String> {
        target.configuration.analytics().map(|rules| rules.suspects).unwrap_or_default()
    }

    fn observer(&mut self) -> Box<dyn DocumentVisitor + '_> {
        match self.allows_any_documents {
            true => Box::new(&mut self.reference),
            false => Box::new(OnlyEvents(&mut self.reference)),
        }
    }

    fn expected_time(&self, outline: &RunOutline<'_>) -> ExpectedTime {
        asking::expected_time(AnalyticsQuestion::ALL.len(), false, &self.settings, outline)
    }

    fn planned_keys(&self, context: &RunContext<'_>) -> Vec<String> {
        asking::keys(self, &self.settings, context)
    }

    fn run(&self, context: &RunContext<'_>, recorder: &mut TrialRecorder<'_>) -> Result<(), RunError> {
        asking::run(self, &self.settings, context, recorder)
    }
}

impl AnswerKey for Analytics {
    /// Expected answers, computed over the documents that the target holds; `None` before its load.
    type Expected = Option<Answers>;

    fn questions(&self, _: &Target) -> Vec<Question> {
        let to_question = |question: AnalyticsQuestion| Question {
            name: question.id().to_owned(),
            file: question.id().to_owned(),
            columns: question.columns().iter().map(|column| (*column).to_owned()).collect(),
        };
        AnalyticsQuestion::ALL.into_iter().map(to_question).collect()
    }

    fn rules(&self, target: &Target) -> BTreeMap<String, QuestionRules> {
        target.configuration.analytics().map(|rules| rules.questions).unwrap_or_default()
    }

    fn determine_expected(
        &self,
        context: &RunContext<'_>,
        loaded: &LoadedDocuments,
    ) -> Result<Self::Expected, RunError> {
        self.answers(context.staged, loaded).map(Some)
    }

    fn judge(
        &self,
        expected: &Self::Expected,
        cells: Cells<'_>,
        question: &Question,
        rows: &[Row],
    ) -> AnswerCheck {
        let (Some(answers), Ok(known)) = (expected, question.name.parse::<AnalyticsQuestion>()) else {
            return AnswerCheck::unverified();
        };
        let rules = self.rules(cells.target);
        let approximate = rules.get(&question.name).map(|rules| rules.approximate.as_slice());
        verify::compare(known, answers.rows(known), rows, approximate.unwrap_or_default())
    }
}
