//! Result of verifying an answer.

use jsonathlon_schema::record::Verdict;

/// Result of comparing an answer with the expected answer.
#[derive(Debug, Clone, PartialEq)]
pub struct AnswerCheck {
    /// `exact`, `approximate` or `wrong`; `unverified` or `disputed` if there is no expected answer.
    pub verdict: Verdict,
    /// Largest relative error over the columns declared approximate, including zero. `None` if no column is
    /// declared approximate, or the answer is wrong.
    pub approximate_error: Option<f64>,
    /// First difference in readable form; `None` unless the verdict is `wrong`.
    pub difference: Option<String>,
}

impl AnswerCheck {
    pub(crate) fn wrong(difference: String) -> Self {
        Self { verdict: Verdict::Wrong, approximate_error: None, difference: Some(difference) }
    }

    /// Result for an answer that cannot be verified, e.g. because its statement is declared to answer another
    /// question.
    pub(crate) fn unverified() -> Self {
        Self { verdict: Verdict::Unverified, approximate_error: None, difference: None }
    }
}
