//! Answers before the reasons to be careful with them are put into words.

use jsonathlon_schema::severity::Severity;
use jsonathlon_schema::workload::WorkloadName;

use super::caveats::{Caveats, count_caveats};
use super::context::Context;
use super::{Answer, AnswerOutcome, AnswerSubject};

/// An [`Answer`] that lacks its caveats; the fields are the answer's.
pub(super) struct AnswerDraft {
    pub(super) workload: WorkloadName,
    pub(super) ranking: String,
    pub(super) subject: AnswerSubject,
    pub(super) conditions: String,
    pub(super) outcome: AnswerOutcome,
    pub(super) sentence: String,
    pub(super) severity: Severity,
}

impl AnswerDraft {
    /// The answer with these caveats, in long and in short words.
    pub(super) fn with_caveats(self, context: &Context<'_>, caveats: &Caveats) -> Answer {
        let Self { workload, ranking, subject, conditions, outcome, sentence, severity } = self;
        Answer {
            workload,
            ranking,
            subject,
            conditions,
            outcome,
            caveats: caveats.kinds(),
            caveat_texts: caveats.texts(context),
            caveat_labels: caveats.labels(context),
            sentence,
            severity,
        }
    }

    /// The answer with the caveats of a count, for which times do not matter.
    pub(super) fn counted(self, context: &Context<'_>) -> Answer {
        let caveats = count_caveats(context, &self.outcome);
        self.with_caveats(context, &caveats)
    }
}
