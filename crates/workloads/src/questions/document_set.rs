//! Identifies the set of documents that a target holds, because answers are comparable only over equal sets.

use jsonathlon_dataset::agreement::AcceptedDocuments;
use jsonathlon_dataset::stage::StagedDocuments;

use crate::run_context::LoadedDocuments;

/// Documents that a target holds, with a digest by which the expected answer over them is found.
#[derive(Debug, Clone, Default)]
pub(crate) struct DocumentSet {
    /// Documents that the target has accepted.
    pub(super) accepted: AcceptedDocuments,
    /// Digest that only equal sets share.
    pub(super) digest: String,
}

impl DocumentSet {
    /// All offered documents except those that the target rejected.
    pub(crate) fn new(staged: &StagedDocuments, loaded: &LoadedDocuments) -> Self {
        let lines = loaded.rejected_lines.iter().map(|line| staged.offered_ordinal(*line));
        let suspects = staged.suspects.iter().enumerate();
        let refused = suspects
            .filter(|(index, _)| loaded.accepted_suspects.binary_search(index).is_err())
            .map(|(_, suspect)| suspect.ordinal);
        Self::from(AcceptedDocuments::new(staged.documents, lines.chain(refused)))
    }

    /// All offered documents, the basis of answers given by the user.
    pub(super) fn all(staged: &StagedDocuments) -> Self {
        Self::from(AcceptedDocuments::new(staged.documents, []))
    }
}

impl From<AcceptedDocuments> for DocumentSet {
    fn from(accepted: AcceptedDocuments) -> Self {
        Self { digest: accepted.digest(), accepted }
    }
}
