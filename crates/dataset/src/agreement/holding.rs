//! Which documents an answer is over, and which of them all voters hold.

use std::collections::BTreeSet;

use crate::value::digest_text;

/// Share of the documents that whoever holds most of them has, which all voters together must hold at least: what is found
/// out over fewer says little about the others, and who refused so many is left out of the vote instead.
const REPRESENTATIVE: f64 = 0.9;

/// The documents that a configuration holds: all that were offered but those that it refused.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Holding {
    offered: u64,
    refused: BTreeSet<u64>,
}

impl Holding {
    /// Of so many documents all but those with these numbers.
    pub fn new(offered: u64, refused: impl IntoIterator<Item = u64>) -> Self {
        Self { offered, refused: refused.into_iter().collect() }
    }

    /// How many documents these are.
    pub fn documents(&self) -> u64 {
        self.offered.saturating_sub(self.refused.len() as u64)
    }

    /// Whether these are all that were offered.
    pub fn is_whole(&self) -> bool {
        self.refused.is_empty()
    }

    /// The numbers of the others.
    #[cfg(test)]
    pub(super) fn refused(&self) -> &BTreeSet<u64> {
        &self.refused
    }

    /// By what the same documents are recognised later.
    pub fn digest(&self) -> String {
        let mut hasher = blake3::Hasher::new();
        hasher.update(&self.offered.to_le_bytes());
        for ordinal in &self.refused {
            hasher.update(&ordinal.to_le_bytes());
        }
        digest_text(&hasher)
    }

    /// The documents that both hold.
    fn common(&self, other: &Self) -> Self {
        let refused = self.refused.union(&other.refused).copied().collect();
        Self { offered: self.offered.min(other.offered), refused }
    }
}

/// Who votes, and over which documents.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Electorate {
    /// Whether the configuration at each place has a vote.
    pub votes: Vec<bool>,
    /// The documents that all voters hold.
    pub common: Holding,
}

impl Electorate {
    /// Finds the voters among configurations with these documents: those that hold most of them, as long as what all hold
    /// stays most of that. With a `reference` it is what that one holds which counts. Who holds nothing has no vote, and
    /// none can be found where those that hold most hold other documents than each other.
    pub fn among(holdings: &[&Holding], reference: Option<usize>) -> Option<Self> {
        let base = reference.and_then(|place| holdings.get(place));
        let shared = |one: &Holding| match base {
            Some(base) => base.common(one).documents(),
            None => one.documents(),
        };
        let held: Vec<u64> = holdings.iter().map(|one| shared(one)).collect();
        let levels: BTreeSet<u64> = held.iter().copied().filter(|documents| *documents > 0).collect();
        let most = base.map_or_else(|| levels.last().copied().unwrap_or_default(), |base| base.documents());
        let mut found: Option<Self> = None;
        // Those that hold equally many come in together or not at all, so that nobody's place decides.
        for least in levels.into_iter().rev() {
            let votes: Vec<bool> = held.iter().map(|documents| *documents >= least).collect();
            let voters = holdings.iter().zip(&votes).filter(|(_, votes)| **votes).map(|(one, _)| *one);
            let common = base.into_iter().copied().chain(voters).cloned().reduce(|a, b| a.common(&b))?;
            if (common.documents() as f64) < REPRESENTATIVE * most as f64 || common.documents() == 0 {
                break;
            }
            found = Some(Self { votes, common });
        }
        found
    }
}
