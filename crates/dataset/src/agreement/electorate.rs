//! Determines which documents each answer covers and which of them all voters hold.

use std::collections::BTreeSet;

use crate::digest::digest_text;

/// Minimum share of documents that all voters must hold in common, relative to the largest set. Answers
/// over fewer documents say little about the rest; a configuration that rejected so many loses its vote
/// instead.
const REPRESENTATIVE: f64 = 0.9;

/// Documents that a configuration holds: all offered documents except the rejected ones.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AcceptedDocuments {
    offered: u64,
    refused: BTreeSet<u64>,
}

impl AcceptedDocuments {
    /// Creates the set of `offered` documents without those with the numbers `refused`.
    pub fn new(offered: u64, refused: impl IntoIterator<Item = u64>) -> Self {
        Self { offered, refused: refused.into_iter().collect() }
    }

    /// Returns the number of documents held.
    pub fn count(&self) -> u64 {
        self.offered.saturating_sub(self.refused.len() as u64)
    }

    /// Returns `true` if no offered document was rejected.
    pub fn is_whole(&self) -> bool {
        self.refused.is_empty()
    }

    /// Numbers of the rejected documents.
    #[cfg(test)]
    pub(super) fn refused(&self) -> &BTreeSet<u64> {
        &self.refused
    }

    /// Returns a digest that identifies the same set of documents later.
    pub fn digest(&self) -> String {
        let mut hasher = blake3::Hasher::new();
        hasher.update(&self.offered.to_le_bytes());
        for ordinal in &self.refused {
            hasher.update(&ordinal.to_le_bytes());
        }
        digest_text(&hasher)
    }

    /// Returns the documents that both sets contain.
    fn common(&self, other: &Self) -> Self {
        let refused = self.refused.union(&other.refused).copied().collect();
        Self { offered: self.offered.min(other.offered), refused }
    }
}

/// The voters, and the documents that all of them hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Electorate {
    /// Whether the configuration at each index has a vote.
    pub votes: Vec<bool>,
    /// Documents that every voter holds.
    pub common: AcceptedDocuments,
}

impl Electorate {
    /// Selects the voters among configurations with these documents: those with the most documents. The
    /// documents common to all voters must be at least 90 % of the largest set. With a `reference` (an
    /// index), only the documents of that configuration count. A configuration without documents has no vote.
    /// `None` if no voters can be found, because the configurations with the most documents hold different
    /// ones.
    pub fn among(document_sets: &[&AcceptedDocuments], reference: Option<usize>) -> Option<Self> {
        let reference = reference.and_then(|index| document_sets.get(index));
        let document_count = |documents: &AcceptedDocuments| match reference {
            Some(reference) => reference.common(documents).count(),
            None => documents.count(),
        };
        let counts: Vec<u64> = document_sets.iter().map(|documents| document_count(documents)).collect();
        let thresholds: BTreeSet<u64> = counts.iter().copied().filter(|documents| *documents > 0).collect();
        let maximum = match reference {
            Some(reference) => reference.count(),
            None => thresholds.last().copied().unwrap_or_default(),
        };
        let mut electorate: Option<Self> = None;
        // Configurations with equally many documents are added together or not at all, so that their order is
        // irrelevant.
        for minimum in thresholds.into_iter().rev() {
            let votes: Vec<bool> = counts.iter().map(|documents| *documents >= minimum).collect();
            let voters = document_sets
                .iter()
                .zip(&votes)
                .filter(|(_, votes)| **votes)
                .map(|(documents, _)| *documents);
            let common = reference.into_iter().copied().chain(voters).cloned().reduce(|a, b| a.common(&b))?;
            if (common.count() as f64) < REPRESENTATIVE * maximum as f64 || common.count() == 0 {
                break;
            }
            electorate = Some(Self { votes, common });
        }
        electorate
    }
}
