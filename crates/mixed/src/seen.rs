//! What a question has seen of the writers, as its own snapshot says.

use serde::{Deserialize, Serialize};

use crate::prefixes::Prefixes;

/// What a question saw of one writer: documents whose number is at or above the stream's floor for that
/// writer. A writer of whom nothing was seen there is not mentioned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SeenCount {
    /// Number of the writer.
    pub writer: usize,
    /// Number of documents at or above the floor, at least 1.
    pub count: u64,
    /// Highest number among them.
    pub highest: u64,
}

/// Contradiction within what a question claims to have seen.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SeenError {
    /// The answer told nothing that could be read, or two things at once. Holds what it told.
    #[error("{0}")]
    Unreadable(String),
    /// A writer that does not exist is mentioned.
    #[error("documents of writer {writer} were seen, but there are only {writers} writers")]
    UnknownWriter {
        /// Number of the writer.
        writer: usize,
        /// Number of writers that exist.
        writers: usize,
    },
    /// A writer is mentioned twice.
    #[error("writer {writer} was counted twice in one answer")]
    CountedTwice {
        /// Number of the writer.
        writer: usize,
    },
    /// A highest number stands beside no documents.
    #[error("no document of writer {writer} was seen, but {highest} is said to be the highest")]
    NothingCounted {
        /// Number of the writer.
        writer: usize,
        /// Highest number that was answered.
        highest: u64,
    },
    /// The highest number does not belong to what was asked for.
    #[error(
        "document {highest} of writer {writer} was counted, but only those from {floor} on were asked for"
    )]
    BelowFloor {
        /// Number of the writer.
        writer: usize,
        /// Highest number that was answered.
        highest: u64,
        /// Number from which documents were to be counted.
        floor: u64,
    },
}

/// How far a question has seen one writer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SeenWriter {
    floor: u64,
    /// n: floor + number of documents at or above it.
    pub(crate) documents: u64,
    /// h: highest number + 1, or the floor if nothing was seen above it.
    pub(crate) end: u64,
}

impl SeenWriter {
    fn is_closed(&self) -> bool {
        self.documents == self.end
    }
}

/// What a question has seen of all writers.
///
/// A question counts only what lies at or above the floors of its stream: counting everything doubles the
/// cost of cheap questions and grows with the table. What lies below was seen by an earlier question of the
/// stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SeenDocuments {
    writers: Vec<SeenWriter>,
}

impl SeenDocuments {
    /// Puts together the floors that a question was asked with, one for each writer, and what it counted.
    ///
    /// # Errors
    /// If the counts contradict each other or the floors, as no state of the table could make them.
    pub fn new(floors: &[u64], counts: &[SeenCount]) -> Result<Self, SeenError> {
        let nothing = |floor: &u64| SeenWriter { floor: *floor, documents: *floor, end: *floor };
        let mut writers: Vec<SeenWriter> = floors.iter().map(nothing).collect();
        for &SeenCount { writer, count, highest } in counts {
            let unknown = SeenError::UnknownWriter { writer, writers: floors.len() };
            let seen = writers.get_mut(writer).ok_or(unknown)?;
            let floor = seen.floor;
            if seen.end > floor {
                return Err(SeenError::CountedTwice { writer });
            }
            if count == 0 {
                return Err(SeenError::NothingCounted { writer, highest });
            }
            if highest < floor {
                return Err(SeenError::BelowFloor { writer, highest, floor });
            }
            *seen =
                SeenWriter { floor, documents: floor.saturating_add(count), end: highest.saturating_add(1) };
        }
        Ok(Self { writers })
    }

    /// Returns whether each writer's documents were seen without a hole: n = h for every writer.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.writers.iter().all(SeenWriter::is_closed)
    }

    /// Number of documents seen of each writer, n. They are prefixes only if [`Self::is_closed`].
    #[must_use]
    pub fn prefixes(&self) -> Prefixes {
        self.writers.iter().map(|writer| writer.documents).collect::<Vec<_>>().into()
    }

    /// Number of documents seen of all writers together.
    #[must_use]
    pub fn documents(&self) -> u64 {
        self.writers.iter().map(|writer| writer.documents).sum()
    }

    /// Floors of the stream's next question: where each prefix ends, or those of this question if it has
    /// seen a hole. A stream begins with 0 for each writer.
    #[must_use]
    pub fn next_floors(&self) -> Vec<u64> {
        let is_closed = self.is_closed();
        let floor = |writer: &SeenWriter| if is_closed { writer.documents } else { writer.floor };
        self.writers.iter().map(floor).collect()
    }

    pub(crate) fn writers(&self) -> &[SeenWriter] {
        &self.writers
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(writer: usize, count: u64, highest: u64) -> SeenCount {
        SeenCount { writer, count, highest }
    }

    #[test]
    fn floors_follow_closed_answers_only() {
        let closed = SeenDocuments::new(&[8_000, 7_000, 0], &[seen(0, 1_000, 8_999)]).unwrap();
        assert!(closed.is_closed());
        assert_eq!(closed.prefixes().as_slice(), [9_000, 7_000, 0]);
        assert_eq!((closed.documents(), closed.next_floors()), (16_000, vec![9_000, 7_000, 0]));
        let holed = SeenDocuments::new(&[8_000, 7_000], &[seen(1, 999, 7_999), seen(0, 5, 8_004)]).unwrap();
        assert!(!holed.is_closed());
        assert_eq!(holed.prefixes().as_slice(), [8_005, 7_999]);
        assert_eq!(holed.next_floors(), [8_000, 7_000]);
        assert!(SeenDocuments::new(&[], &[]).unwrap().is_closed());
    }

    #[test]
    fn contradictions_are_refused() {
        let refused = |counts: &[SeenCount]| SeenDocuments::new(&[10, 10], counts).unwrap_err();
        assert_eq!(refused(&[seen(2, 1, 10)]), SeenError::UnknownWriter { writer: 2, writers: 2 });
        assert_eq!(refused(&[seen(1, 1, 10), seen(1, 1, 11)]), SeenError::CountedTwice { writer: 1 });
        assert_eq!(refused(&[seen(0, 0, 12)]), SeenError::NothingCounted { writer: 0, highest: 12 });
        assert_eq!(refused(&[seen(0, 1, 9)]), SeenError::BelowFloor { writer: 0, highest: 9, floor: 10 });
    }
}
