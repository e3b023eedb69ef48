//! Identifies the set of documents that a target holds, because answers are comparable only over equal sets.

use jsonathlon_dataset::agreement::Holding;
use jsonathlon_dataset::stage::StagedDocuments;

use crate::run_context::LoadedDocuments;

/// Documents that a target holds, with a digest by which the expected answer over them is found.
#[derive(Debug, Clone, Default)]
pub(crate) struct Held {
    pub(super) holding: Holding,
    pub(super) digest: String,
}

impl Held {
    /// All offered documents except those that the target rejected.
    pub(super) fn of(staged: &StagedDocuments, accepted: &LoadedDocuments) -> Self {
        let lines = accepted.refused_lines.iter().map(|line| staged.offered_ordinal(*line));
        let suspects = staged.suspects.iter().enumerate();
        let refused = suspects
            .filter(|(index, _)| accepted.suspects.binary_search(index).is_err())
            .map(|(_, suspect)| suspect.ordinal);
        Self::from(Holding::new(staged.documents, lines.chain(refused)))
    }

    /// All offered documents, the basis of answers given by the user.
    pub(super) fn all(staged: &StagedDocuments) -> Self {
        Self::from(Holding::new(staged.documents, []))
    }
}

impl From<Holding> for Held {
    fn from(holding: Holding) -> Self {
        Self { digest: holding.digest(), holding }
    }
}
