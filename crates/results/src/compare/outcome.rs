//! Outcomes of cell comparisons, and their counts.

use serde::{Serialize, Serializer};

use super::CellComparison;
use crate::ratio_to_best::Significance;

/// Outcome of comparing two cells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// Both sides have a time or throughput.
    Timed(Significance),
    /// Both sides have a size.
    Sized(SizeChange),
    /// A had a right answer over all documents and kept its promises about plan and durability; B does not.
    NowFails,
    /// B has a right answer over all documents; A had none, or broke a durability promise that B keeps.
    NowAnswers,
    /// Neither side is right, and neither has a time.
    NoTime,
    /// Both sides have values that must not be compared.
    NotCompared,
}

/// Outcome of comparing two sizes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SizeChange {
    /// B has more bytes: shown by a test if loads vary, otherwise as counted.
    Larger,
    /// B has fewer bytes: shown by a test if loads vary, otherwise as counted.
    Smaller,
    /// Both sides have exactly the same number of bytes.
    Same,
    /// Sizes vary too much between loads to show a difference.
    NotSignificant,
}

impl SizeChange {
    /// Wording of the change in files and tables.
    #[must_use]
    pub fn label(self) -> &'static str {
        match self {
            Self::Larger => "larger",
            Self::Smaller => "smaller",
            Self::Same => "same size",
            Self::NotSignificant => Significance::NotSignificant.label(),
        }
    }

    /// Change of sizes that are compared as counted, without a test.
    pub(super) fn from_ratio(ratio: f64) -> Self {
        match ratio.total_cmp(&1.0) {
            std::cmp::Ordering::Greater => Self::Larger,
            std::cmp::Ordering::Less => Self::Smaller,
            std::cmp::Ordering::Equal => Self::Same,
        }
    }
}

impl Outcome {
    /// Wording of the outcome in files and tables.
    #[must_use]
    pub fn label(self) -> &'static str {
        match self {
            Self::Timed(difference) => difference.label(),
            Self::Sized(change) => change.label(),
            Self::NowFails => "now fails",
            Self::NowAnswers => "now answers",
            Self::NoTime => "no time in either",
            Self::NotCompared => "not compared",
        }
    }
}

impl Serialize for Outcome {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.label())
    }
}

/// Number of cells with each outcome. Reference rows count only if they now fail, because their times
/// describe the machine, not a system.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Counts {
    /// Cells that are slower in B.
    pub slower: usize,
    /// Cells that are faster in B.
    pub faster: usize,
    /// Cells whose times show no difference.
    pub none_shown: usize,
    /// Sizes that are larger in B.
    pub larger: usize,
    /// Sizes that are smaller in B.
    pub smaller: usize,
    /// Sizes that are equal, or vary so much that no difference is shown.
    pub sizes_alike: usize,
    /// Cells that are right in A but not in B.
    pub now_fail: usize,
    /// Cells that are right in B but not in A.
    pub now_answer: usize,
    /// Cells that have no time on either side.
    pub no_time: usize,
    /// Cells whose values must not be compared.
    pub not_compared: usize,
    /// Ratios of times or throughput that have an interval.
    pub with_interval: usize,
}

impl Counts {
    pub(super) fn new(cells: &[CellComparison]) -> Self {
        let mut counts = Self::default();
        for cell in cells.iter().filter(|cell| !cell.reference || cell.outcome == Outcome::NowFails) {
            let count = match cell.outcome {
                Outcome::Timed(Significance::Slower) => &mut counts.slower,
                Outcome::Timed(Significance::Faster) => &mut counts.faster,
                Outcome::Timed(Significance::NotSignificant) => &mut counts.none_shown,
                Outcome::Sized(SizeChange::Larger) => &mut counts.larger,
                Outcome::Sized(SizeChange::Smaller) => &mut counts.smaller,
                Outcome::Sized(SizeChange::Same | SizeChange::NotSignificant) => &mut counts.sizes_alike,
                Outcome::NowFails => &mut counts.now_fail,
                Outcome::NowAnswers => &mut counts.now_answer,
                Outcome::NoTime => &mut counts.no_time,
                Outcome::NotCompared => &mut counts.not_compared,
            };
            *count += 1;
            if cell.has_interval() {
                counts.with_interval += 1;
            }
        }
        counts
    }

    /// Number of cells whose times or throughput are compared.
    #[must_use]
    pub fn compared(&self) -> usize {
        self.slower + self.faster + self.none_shown
    }
}
