//! Verdicts on questions that were asked while documents came in.

use crate::seen::SeenError;

/// Reason why an answer is wrong. One wrong answer, and its trial has no figures.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WrongReason {
    /// What was seen of the writers contradicts itself.
    #[error(transparent)]
    Contradiction(#[from] SeenError),
    /// Documents were seen that had not been sent when the answer was complete.
    #[error(
        "{seen} documents of writer {writer} were seen, but only {sent} had been sent before the question \
         ended"
    )]
    BeyondSent {
        /// Number of the writer.
        writer: usize,
        /// Number of documents seen, or the highest number seen + 1 if that is more.
        seen: u64,
        /// Number of documents sent before the end of the question.
        sent: u64,
    },
    /// More documents were seen than there are numbers: some are there twice.
    #[error("{documents} documents of writer {writer} were seen with only {numbers} different numbers")]
    Repeated {
        /// Number of the writer.
        writer: usize,
        /// Number of documents seen.
        documents: u64,
        /// Number of numbers up to the highest one seen.
        numbers: u64,
    },
    /// The right answer over what was seen is another one. Holds the first difference.
    #[error("not the answer over the documents that were seen: {0}")]
    Different(String),
    /// As [`Self::Different`], or of an earlier moment than what the stream had seen before: nothing was seen above
    /// some floor, and what lies below it was not counted again.
    #[error(
        "not the answer over the documents that were seen, or one of an earlier moment than the stream's previous \
         answers: {0}"
    )]
    DifferentOrEarlier(String),
    /// No set of documents that the system may have seen has this answer. Holds the first value outside.
    #[error("not an answer over any documents that may have been seen: {0}")]
    OutOfBounds(String),
}

/// Verdict on the answer to one question.
#[derive(Clone, Debug, PartialEq)]
pub enum QuestionVerdict {
    /// The right answer over what was seen, which was each writer's documents without a hole.
    Exact,
    /// As `Exact`, except for columns that are declared approximate.
    Approximate {
        /// Largest relative error over these columns, including zero.
        error: f64,
    },
    /// An answer of no single moment, with all values between those that were possible.
    Bounded,
    /// An answer that is wrong whatever moment it is of.
    Wrong(WrongReason),
}

/// Verdict on one question, and what its snapshot shows beside it.
#[derive(Clone, Debug, PartialEq)]
pub struct Judgement {
    /// Whether the answer is right.
    pub verdict: QuestionVerdict,
    /// Whether documents were seen without all that the same writer had added before them. A finding for a
    /// configuration that declares a snapshot.
    pub has_holes: bool,
    /// Whether a prefix without holes ends within a batch.
    pub is_torn: bool,
    /// Whether less was seen of a writer than by an earlier question of the same stream that saw a hole. Below the
    /// floors nothing is counted, so an answer that goes back behind a closed one is wrong instead.
    pub went_back: bool,
    /// Freshness in nanoseconds; see [`stale_ns`](crate::stale_ns). Above 0, it is a finding for a
    /// configuration that shows what it has acknowledged.
    pub stale_ns: u64,
    /// Number of documents of all writers that were seen; 0 if the answer contradicts itself.
    pub seen_documents: u64,
}

/// Numbers of questions by verdict, and of those with a peculiarity.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct VerdictCounts {
    /// All questions with an answer.
    pub asked: u64,
    /// Number of exact answers.
    pub exact: u64,
    /// Answers that are exact except for columns declared approximate.
    pub approximate: u64,
    /// Answers of no single moment, within bounds.
    pub bounded: u64,
    /// Wrong answers. If there is one, the trial has no figures.
    pub wrong: u64,
    /// Questions that saw a document without all before it of the same writer.
    pub holes: u64,
    /// Questions that saw a part of a batch.
    pub torn: u64,
    /// Questions that saw less than an earlier one of the same stream.
    pub went_back: u64,
    /// Questions that did not see all that was acknowledged before they began.
    pub stale: u64,
}

impl VerdictCounts {
    /// Counts judgements of one cell or one trial.
    pub fn of<'j>(judgements: impl IntoIterator<Item = &'j Judgement>) -> Self {
        let mut counts = Self::default();
        for judgement in judgements {
            counts.asked += 1;
            *match judgement.verdict {
                QuestionVerdict::Exact => &mut counts.exact,
                QuestionVerdict::Approximate { .. } => &mut counts.approximate,
                QuestionVerdict::Bounded => &mut counts.bounded,
                QuestionVerdict::Wrong(_) => &mut counts.wrong,
            } += 1;
            counts.holes += u64::from(judgement.has_holes);
            counts.torn += u64::from(judgement.is_torn);
            counts.went_back += u64::from(judgement.went_back);
            counts.stale += u64::from(judgement.stale_ns > 0);
        }
        counts
    }
}

/// Finds the first wrong answer: its position among the judgements, and the reason.
#[must_use]
pub fn first_wrong(judgements: &[Judgement]) -> Option<(usize, &WrongReason)> {
    judgements.iter().enumerate().find_map(|(position, judgement)| match &judgement.verdict {
        QuestionVerdict::Wrong(reason) => Some((position, reason)),
        _ => None,
    })
}
