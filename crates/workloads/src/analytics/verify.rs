//! Verifies answers against the reference.

use jsonathlon_dataset::questions::Question;
use jsonathlon_dataset::reference::{self, Comparison};
use jsonathlon_schema::record::Verdict;
use jsonathlon_schema::value::Row;

use crate::asking::AnswerCheck;

/// Verdict of an answer whose columns with an index in `approximate` may differ numerically; see
/// [`reference::compare`].
#[must_use]
pub fn compare(question: Question, expected: &[Row], answer: &[Row], approximate: &[usize]) -> AnswerCheck {
    let (verdict, approximate_error) = match reference::compare(question, expected, answer, approximate) {
        Comparison::Equal => (Verdict::Exact, None),
        Comparison::Approximate { error } => (Verdict::Approximate, Some(error)),
        Comparison::Different(difference) => return AnswerCheck::wrong(difference),
    };
    AnswerCheck { verdict, approximate_error, difference: None }
}

#[cfg(test)]
mod tests {
    use jsonathlon_schema::value::Value;

    use super::*;

    #[test]
    fn verdicts_follow_comparisons() {
        let row = |users| vec![vec![Value::Text("a".into()), Value::Int(10), Value::Int(users)]];
        let (expected, other) = (row(4), row(5));
        assert_eq!(compare(Question::Q2, &expected, &expected, &[]).verdict, Verdict::Exact);
        let close = compare(Question::Q2, &expected, &other, &[2]);
        assert_eq!((close.verdict, close.approximate_error), (Verdict::Approximate, Some(0.25)));
        let wrong = compare(Question::Q2, &expected, &other, &[]);
        assert_eq!(wrong.verdict, Verdict::Wrong);
        assert_eq!(wrong.difference.unwrap(), "row 1 of 1, users: 4 expected, 5 answered");
    }
}
