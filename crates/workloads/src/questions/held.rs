//! The documents that a target holds, as answers are told apart by them.

use jsonathlon_dataset::agreement::Holding;
use jsonathlon_dataset::stage::Staged;

use crate::bench::Accepted;

/// What a target holds, with the digest by which an answer over the same documents is found.
#[derive(Debug, Clone, Default)]
pub(crate) struct Held {
    pub(super) holding: Holding,
    pub(super) digest: String,
}

impl Held {
    /// All that were offered but what it refused.
    pub(super) fn of(staged: &Staged, accepted: &Accepted) -> Self {
        let lines = accepted.refused_lines.iter().map(|line| staged.offered_ordinal(*line));
        let suspects = staged.suspects.iter().enumerate();
        let refused = suspects
            .filter(|(place, _)| accepted.suspects.binary_search(place).is_err())
            .map(|(_, suspect)| suspect.ordinal);
        Self::from(Holding::new(staged.documents, lines.chain(refused)))
    }

    /// All that were offered.
    pub(super) fn all(staged: &Staged) -> Self {
        Self::from(Holding::new(staged.documents, []))
    }
}

impl From<Holding> for Held {
    fn from(holding: Holding) -> Self {
        Self { digest: holding.digest(), holding }
    }
}
