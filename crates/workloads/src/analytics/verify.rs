//! Verifies answers against the reference, row by row and column by column.

use jsonathlon_dataset::questions::Question;
use jsonathlon_schema::record::Verdict;
use jsonathlon_schema::value::{Row, Value};

use crate::asking::AnswerCheck;

/// Compares `answer` with `expected` after sorting it into the question's stated order. Columns whose index
/// is in `approximate` may differ numerically; every other value must be equal in type and value.
#[must_use]
pub fn compare(question: Question, expected: &[Row], answer: &[Row], approximate: &[usize]) -> AnswerCheck {
    let names = question.columns();
    if let Some(row) = answer.iter().find(|row| row.len() != names.len()) {
        return AnswerCheck::wrong(format!(
            "rows have {} columns, {} expected ({})",
            row.len(),
            names.len(),
            names.join(", ")
        ));
    }
    let mut sorted = answer.to_vec();
    question.sort(&mut sorted);
    let mut max_error = 0.0_f64;
    for (index, (want, got)) in expected.iter().zip(&sorted).enumerate() {
        for (column, (want, got)) in want.iter().zip(got).enumerate() {
            let is_equal = if approximate.contains(&column) {
                match relative_error(want, got) {
                    Some(error) => {
                        max_error = max_error.max(error);
                        true
                    }
                    None => false,
                }
            } else {
                want == got
            };
            if !is_equal {
                let name = names.get(column).copied().unwrap_or("?");
                return AnswerCheck::wrong(format!(
                    "row {} of {}, {name}: {want} expected, {got} answered",
                    index + 1,
                    expected.len()
                ));
            }
        }
    }
    if expected.len() != sorted.len() {
        return AnswerCheck::wrong(format!("{} rows answered, {} expected", sorted.len(), expected.len()));
    }
    if approximate.is_empty() {
        return AnswerCheck { verdict: Verdict::Exact, approximate_error: None, difference: None };
    }
    AnswerCheck { verdict: Verdict::Approximate, approximate_error: Some(max_error), difference: None }
}

/// Relative error |got − want| ÷ |want| of two numbers; 0 if both are equal. `None` if either is not a finite
/// number, or if only `want` is zero.
fn relative_error(want: &Value, got: &Value) -> Option<f64> {
    let (want, got) = (number(want)?, number(got)?);
    if want == got {
        return Some(0.0);
    }
    (want != 0.0).then(|| (got - want).abs() / want.abs())
}

fn number(value: &Value) -> Option<f64> {
    match value {
        Value::Int(number) => Some(*number as f64),
        Value::Float(number) if number.is_finite() => Some(*number),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn q2() -> Vec<Row> {
        vec![
            vec![Value::Text("a".into()), Value::Int(10), Value::Int(4)],
            vec![Value::Text("b".into()), Value::Int(7), Value::Int(0)],
            vec![Value::Null, Value::Int(7), Value::Int(3)],
        ]
    }

    #[test]
    fn order_does_not_matter_but_rows_do() {
        let mut shuffled = q2();
        shuffled.reverse();
        assert_eq!(compare(Question::Q2, &q2(), &shuffled, &[]).verdict, Verdict::Exact);
        let got = compare(Question::Q2, &q2(), &q2()[..2], &[]);
        assert_eq!(got.difference.unwrap(), "2 rows answered, 3 expected");
        let mut more = q2();
        more.push(q2()[0].clone());
        assert_eq!(compare(Question::Q2, &q2(), &more, &[]).verdict, Verdict::Wrong);
        assert_eq!(compare(Question::Q2, &q2(), &[], &[]).verdict, Verdict::Wrong);
        assert_eq!(compare(Question::Q2, &[], &[], &[]).verdict, Verdict::Exact);
    }

    #[test]
    fn a_declared_column_may_differ_and_its_error_is_told_even_when_zero() {
        let mut got = q2();
        assert_eq!(compare(Question::Q2, &q2(), &got, &[2]).approximate_error, Some(0.0));
        got[0][2] = Value::Int(5);
        let close = compare(Question::Q2, &q2(), &got, &[2]);
        assert_eq!((close.verdict, close.approximate_error), (Verdict::Approximate, Some(0.25)));
        assert_eq!(compare(Question::Q2, &q2(), &got, &[]).verdict, Verdict::Wrong);
        got[1][2] = Value::Int(1);
        let from_zero = compare(Question::Q2, &q2(), &got, &[2]);
        assert_eq!(from_zero.verdict, Verdict::Wrong, "something for nothing has no relative error");
        got[1][2] = Value::Float(f64::NAN);
        assert_eq!(compare(Question::Q2, &q2(), &got, &[2]).verdict, Verdict::Wrong);
    }

    #[test]
    fn types_count_and_differences_are_readable() {
        let mut got = q2();
        got[0][1] = Value::Float(10.0);
        assert_eq!(compare(Question::Q2, &q2(), &got, &[]).verdict, Verdict::Wrong);
        let mut got = q2();
        got[0][0] = Value::Text("a\u{1b}[31m".into());
        let difference = compare(Question::Q2, &q2(), &got, &[]).difference.unwrap();
        assert_eq!(difference, r#"row 1 of 3, event: "a" expected, "a\u{1b}[31m" answered"#);
        let narrow: Vec<Row> = vec![vec![Value::Null]];
        assert!(compare(Question::Q2, &q2(), &narrow, &[]).difference.unwrap().contains("3 expected"));
    }

    proptest! {
        #[test]
        fn a_change_in_any_cell_of_any_row_is_caught(row in 0_usize..3, column in 0_usize..3, by in 1_i64..1000) {
            let mut got = q2();
            got[row][column] = match &got[row][column] {
                Value::Int(number) => Value::Int(number + by),
                Value::Text(text) => Value::Text(format!("{text}{by}")),
                _ => Value::Int(by),
            };
            prop_assert_eq!(compare(Question::Q2, &q2(), &got, &[]).verdict, Verdict::Wrong);
        }
    }
}
