//! What two cells beside each other allow to say, and how many of them say it.

use serde::{Serialize, Serializer};

use super::CellComparison;
use crate::beside_best::Difference;

/// What two cells beside each other allow to say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// Both have a time.
    Timed(Difference),
    /// Both have a size.
    Sized(SizeChange),
    /// A had a right answer, over all documents and by the promised plan, and B has not.
    NowFails,
    /// The other way round.
    NowAnswers,
    /// Neither is right, and neither has a time.
    NoTime,
    /// Both have times that must not be set against each other.
    NotCompared,
}

/// What two sizes beside each other allow to say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SizeChange {
    /// More bytes in B: shown where loads vary, counted where they do not.
    Larger,
    /// Fewer.
    Smaller,
    /// As many to the byte.
    Same,
    /// Loads vary by too much to tell.
    NoneShown,
}

impl SizeChange {
    /// The words used in files and tables.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::Larger => "larger",
            Self::Smaller => "smaller",
            Self::Same => "same size",
            Self::NoneShown => Difference::NoneShown.words(),
        }
    }

    /// Of sizes that are compared as they were counted.
    pub(super) fn counted(ratio: f64) -> Self {
        match ratio.total_cmp(&1.0) {
            std::cmp::Ordering::Greater => Self::Larger,
            std::cmp::Ordering::Less => Self::Smaller,
            std::cmp::Ordering::Equal => Self::Same,
        }
    }
}

impl Outcome {
    /// The words used in files and tables.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::Timed(difference) => difference.words(),
            Self::Sized(change) => change.words(),
            Self::NowFails => "now fails",
            Self::NowAnswers => "now answers",
            Self::NoTime => "no time in either",
            Self::NotCompared => "not compared",
        }
    }
}

impl Serialize for Outcome {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.words())
    }
}

/// How many cells there are of each outcome. Reference rows count only where they fail: their times tell of
/// the machine and not of a system.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Counts {
    /// Slower in B.
    pub slower: usize,
    /// Faster in B.
    pub faster: usize,
    /// No difference shown.
    pub none_shown: usize,
    /// Sizes that are larger in B.
    pub larger: usize,
    /// Sizes that are smaller in B.
    pub smaller: usize,
    /// Sizes that are the same, or vary so much that no difference is shown.
    pub sizes_alike: usize,
    /// Right in A, and not in B.
    pub now_fail: usize,
    /// Right in B, and not in A.
    pub now_answer: usize,
    /// Right in neither.
    pub no_time: usize,
    /// With times that are not set against each other.
    pub not_compared: usize,
    /// Ratios of times with an interval.
    pub with_interval: usize,
}

impl Counts {
    pub(super) fn of(cells: &[CellComparison]) -> Self {
        let mut counts = Self::default();
        for cell in cells.iter().filter(|cell| !cell.reference || cell.outcome == Outcome::NowFails) {
            let count = match cell.outcome {
                Outcome::Timed(Difference::Slower) => &mut counts.slower,
                Outcome::Timed(Difference::Faster) => &mut counts.faster,
                Outcome::Timed(Difference::NoneShown) => &mut counts.none_shown,
                Outcome::Sized(SizeChange::Larger) => &mut counts.larger,
                Outcome::Sized(SizeChange::Smaller) => &mut counts.smaller,
                Outcome::Sized(SizeChange::Same | SizeChange::NoneShown) => &mut counts.sizes_alike,
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

    /// Cells whose times are set against each other.
    #[must_use]
    pub fn compared(&self) -> usize {
        self.slower + self.faster + self.none_shown
    }
}
