//! When writers sent their documents and had them acknowledged, and what follows for what questions see.

use std::collections::BTreeSet;

use crate::prefixes::Prefixes;
use crate::seen::SeenDocuments;

/// A moment at which a writer's documents below `end` had reached a state.
#[derive(Clone, Copy, Debug)]
struct Mark {
    ns: u64,
    end: u64,
}

/// Appends a mark; neither time nor end goes backwards.
fn mark(marks: &mut Vec<Mark>, end: u64, ns: u64) {
    let last = marks.last().copied().unwrap_or(Mark { ns: 0, end: 0 });
    marks.push(Mark { ns: ns.max(last.ns), end: end.max(last.end) });
}

/// End of the last mark strictly before a moment; 0 if there is none.
fn end_before(marks: &[Mark], ns: u64) -> u64 {
    let count = marks.partition_point(|mark| mark.ns < ns);
    count.checked_sub(1).and_then(|last| marks.get(last)).map_or(0, |mark| mark.end)
}

/// What one writer sent and had acknowledged, and when. All times are nanoseconds of the clock that questions
/// are timed with. A writer has one batch in flight, so that all it sends comes one after the other.
#[derive(Clone, Debug, Default)]
pub struct WriterHistory {
    sent: Vec<Mark>,
    acknowledged: Vec<Mark>,
    /// Ends of all batches that were sent.
    batch_ends: BTreeSet<u64>,
}

impl WriterHistory {
    /// Records that a batch up to document `end`, which is not part of it, was sent, in order of time. `ns` is
    /// before its first byte. If a batch is sent again, the first time counts.
    pub fn sent(&mut self, end: u64, ns: u64) {
        mark(&mut self.sent, end, ns);
        self.batch_ends.insert(end);
    }

    /// Records that all documents below `end` were acknowledged, in order of time. `ns` is after the answer
    /// was decoded. If the outcome of a batch was unknown, it is when the documents were found to be there.
    pub fn acknowledged(&mut self, end: u64, ns: u64) {
        mark(&mut self.acknowledged, end, ns);
    }

    /// Number of documents that were sent strictly before a moment.
    #[must_use]
    pub fn sent_before(&self, ns: u64) -> u64 {
        end_before(&self.sent, ns)
    }

    /// Number of documents that were acknowledged strictly before a moment.
    #[must_use]
    pub fn acknowledged_before(&self, ns: u64) -> u64 {
        end_before(&self.acknowledged, ns)
    }

    /// Number of documents that were acknowledged at any time.
    #[must_use]
    pub fn all_acknowledged(&self) -> u64 {
        self.acknowledged.last().map_or(0, |mark| mark.end)
    }

    /// Returns whether a prefix ends between batches: it is empty or the end of one. Any other is torn.
    #[must_use]
    pub fn is_boundary(&self, prefix: u64) -> bool {
        prefix == 0 || self.batch_ends.contains(&prefix)
    }

    /// Time in nanoseconds from the acknowledgement of the first batch that is not in the first `seen`
    /// documents to the start of the question that saw these; 0 if no such batch was acknowledged before.
    #[must_use]
    pub fn stale_ns(&self, seen: u64, start_ns: u64) -> u64 {
        let first_unseen = self.acknowledged.partition_point(|mark| mark.end <= seen);
        self.acknowledged.get(first_unseen).map_or(0, |mark| start_ns.saturating_sub(mark.ns))
    }
}

/// Freshness of what a question saw, in nanoseconds: the maximum over all writers of its start minus the
/// acknowledgement of the first batch, acknowledged before the start, of which it did not see all.
///
/// This is the definition of HATtrick (Milkai et al., SIGMOD 2022), with one clock for writers and questions.
/// If a question has seen holes, the number of documents decides, which gives the least time possible.
#[must_use]
pub fn stale_ns(writers: &[WriterHistory], seen: &Prefixes, start_ns: u64) -> u64 {
    let stale = |(writer, history): (usize, &WriterHistory)| history.stale_ns(seen.of(writer), start_ns);
    writers.iter().enumerate().map(stale).max().unwrap_or(0)
}

/// Number of documents of each writer that were acknowledged at any time.
#[must_use]
pub fn acknowledged(writers: &[WriterHistory]) -> Prefixes {
    prefixes(writers, WriterHistory::all_acknowledged)
}

/// Number of documents of each writer that were acknowledged strictly before a moment: L of a question that
/// starts then.
pub(crate) fn acknowledged_before(writers: &[WriterHistory], ns: u64) -> Prefixes {
    prefixes(writers, |writer| writer.acknowledged_before(ns))
}

/// Number of documents of each writer that were sent strictly before a moment: U of a question that ends then.
pub(crate) fn sent_before(writers: &[WriterHistory], ns: u64) -> Prefixes {
    prefixes(writers, |writer| writer.sent_before(ns))
}

fn prefixes(writers: &[WriterHistory], prefix: impl Fn(&WriterHistory) -> u64) -> Prefixes {
    writers.iter().map(prefix).collect::<Vec<_>>().into()
}

/// Difference between what was acknowledged and what is there after the writers' end.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EndError {
    /// Acknowledged documents are missing, at the end of a writer's documents or before.
    #[error(
        "{acknowledged} documents of writer {writer} were acknowledged, but after its end {seen} are there; \
         look for the rest in the system's log"
    )]
    Missing {
        /// Number of the writer.
        writer: usize,
        /// Number of acknowledged documents.
        acknowledged: u64,
        /// Number of documents that are there.
        seen: u64,
    },
    /// Documents are there that were never acknowledged, or more than once.
    #[error(
        "{acknowledged} documents of writer {writer} were acknowledged, but after its end {seen} are there; \
         a batch was stored twice, or its outcome was not asked for"
    )]
    Surplus {
        /// Number of the writer.
        writer: usize,
        /// Number of acknowledged documents.
        acknowledged: u64,
        /// Number of documents that are there.
        seen: u64,
    },
    /// As many documents are there as were acknowledged, but not the same.
    #[error(
        "{seen} documents of writer {writer} are there after its end, as many as were acknowledged, but the \
         highest number is {highest}: some are missing and others are there twice"
    )]
    Exchanged {
        /// Number of the writer.
        writer: usize,
        /// Number of documents that are there.
        seen: u64,
        /// Highest number among them.
        highest: u64,
    },
}

/// Checks what a question with floor 0 sees after the writers' end, and after a refresh where the system has
/// one: of each writer exactly what was acknowledged.
///
/// Answers alone do not show a missing document: it changes nothing in 4 % of cases for Q2, 39 % for Q3, and
/// almost never anything for Q4 and Q5. The counts do.
///
/// # Errors
/// The first writer with more or fewer documents, or with others.
pub fn check_end(writers: &[WriterHistory], seen: &SeenDocuments) -> Result<(), EndError> {
    let counted = seen.prefixes();
    for (writer, history) in writers.iter().enumerate() {
        let (acknowledged, seen) = (history.all_acknowledged(), counted.of(writer));
        if seen < acknowledged {
            return Err(EndError::Missing { writer, acknowledged, seen });
        }
        if seen > acknowledged {
            return Err(EndError::Surplus { writer, acknowledged, seen });
        }
    }
    let exchanged = seen.writers().iter().enumerate().find(|(_, seen)| seen.documents != seen.end);
    match exchanged {
        Some((writer, seen)) => {
            Err(EndError::Exchanged { writer, seen: seen.documents, highest: seen.end.saturating_sub(1) })
        }
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seen::SeenCount;

    /// Batches of 1,000 documents, sent at 10, 110, … and acknowledged 50 later.
    fn history(batches: u64) -> WriterHistory {
        let mut history = WriterHistory::default();
        for batch in 0..batches {
            history.sent((batch + 1) * 1_000, batch * 100 + 10);
            history.acknowledged((batch + 1) * 1_000, batch * 100 + 60);
        }
        history
    }

    #[test]
    fn what_was_sent_and_acknowledged_at_the_moment_itself_does_not_count() {
        let history = history(3);
        let sent: Vec<u64> = [0, 10, 11, 110, 111, 999].map(|ns| history.sent_before(ns)).into();
        assert_eq!(sent, [0, 0, 1_000, 1_000, 2_000, 3_000]);
        let acknowledged: Vec<u64> = [60, 61, 160, 161].map(|ns| history.acknowledged_before(ns)).into();
        assert_eq!(acknowledged, [0, 1_000, 1_000, 2_000]);
        assert_eq!(history.all_acknowledged(), 3_000);
        assert_eq!(WriterHistory::default().sent_before(5), 0);
    }

    #[test]
    fn only_ends_of_batches_are_boundaries() {
        let history = history(2);
        let boundaries = [0, 1, 999, 1_000, 1_001, 2_000, 3_000].map(|prefix| history.is_boundary(prefix));
        assert_eq!(boundaries, [true, false, false, true, false, true, false]);
    }

    #[test]
    fn a_question_is_as_stale_as_the_first_batch_that_it_has_not_seen() {
        let writers = [history(3), history(1)];
        let stale = |seen: [u64; 2], start| stale_ns(&writers, &Prefixes::from(seen.to_vec()), start);
        assert_eq!(stale([3_000, 1_000], 1_000), 0, "all was seen");
        assert_eq!(stale([2_000, 1_000], 1_000), 1_000 - 260);
        assert_eq!(stale([1_999, 1_000], 1_000), 1_000 - 160, "part of a batch is not the batch");
        assert_eq!(stale([2_000, 0], 1_000), 1_000 - 60, "the stalest writer counts");
        assert_eq!(stale([2_000, 1_000], 260), 0, "not acknowledged before the start");
        assert_eq!(stale([2_000, 1_000], 261), 1);
        assert_eq!(stale_ns(&[], &Prefixes::default(), 9), 0);
    }

    #[test]
    fn the_end_holds_what_was_acknowledged() {
        let writers = [history(3), history(1)];
        assert_eq!(acknowledged(&writers).as_slice(), [3_000, 1_000]);
        let check = |count, highest| {
            let counts = [
                SeenCount { writer: 0, count, highest },
                SeenCount { writer: 1, count: 1_000, highest: 999 },
            ];
            check_end(&writers, &SeenDocuments::new(&[0, 0], &counts).unwrap())
        };
        assert_eq!(check(3_000, 2_999), Ok(()));
        let (writer, acknowledged) = (0, 3_000);
        assert_eq!(check(2_999, 2_998), Err(EndError::Missing { writer, acknowledged, seen: 2_999 }));
        assert_eq!(check(2_999, 2_999), Err(EndError::Missing { writer, acknowledged, seen: 2_999 }));
        assert_eq!(check(4_000, 2_999), Err(EndError::Surplus { writer, acknowledged, seen: 4_000 }));
        assert_eq!(check(3_000, 3_999), Err(EndError::Exchanged { writer, seen: 3_000, highest: 3_999 }));
    }
}
