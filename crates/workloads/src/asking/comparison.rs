//! How an answer compares with the right one.

use jsonathlon_results::record::Verdict;

/// How an answer compares with the right one.
#[derive(Debug, Clone, PartialEq)]
pub struct Comparison {
    /// `exact`, `approximate` or `wrong`; `unverified` or `disputed` where nobody knows the right answer.
    pub verdict: Verdict,
    /// Largest relative error over the columns declared approximate; zero is shown too. None when no
    /// column is declared so, or the answer is wrong.
    pub approximate_error: Option<f64>,
    /// The first difference, for a reader, when the verdict is `wrong`.
    pub difference: Option<String>,
}

impl Comparison {
    pub(crate) fn wrong(difference: String) -> Self {
        Self { verdict: Verdict::Wrong, approximate_error: None, difference: Some(difference) }
    }

    /// Of a statement that is declared to answer something else: there is nothing to compare with.
    pub(crate) fn of_another_question() -> Self {
        Self { verdict: Verdict::Unverified, approximate_error: None, difference: None }
    }
}
