//! Compares answers with those of the reference, row by row and column by column.

use jsonathlon_schema::value::{Row, Value};

use crate::questions::Question;

/// Result of comparing an answer with the expected one.
#[derive(Clone, Debug, PartialEq)]
pub enum Comparison {
    /// Equal in every row and column.
    Equal,
    /// Equal except for columns that are declared approximate.
    Approximate {
        /// Largest relative error over these columns, including zero.
        error: f64,
    },
    /// The first difference in readable form.
    Different(String),
}

/// Compares `answer` with `expected` after sorting it into the question's stated order. Columns whose index
/// is in `approximate` may differ numerically; every other value must be equal in type and value.
#[must_use]
pub fn compare(question: Question, expected: &[Row], answer: &[Row], approximate: &[usize]) -> Comparison {
    if let Some(difference) = width_difference(question, answer) {
        return Comparison::Different(difference);
    }
    let names = question.columns();
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
                return Comparison::Different(format!(
                    "row {} of {}, {name}: {want} expected, {got} answered",
                    index + 1,
                    expected.len()
                ));
            }
        }
    }
    if expected.len() != sorted.len() {
        return Comparison::Different(format!("{} rows answered, {} expected", sorted.len(), expected.len()));
    }
    match approximate.is_empty() {
        true => Comparison::Equal,
        false => Comparison::Approximate { error: max_error },
    }
}

/// Says which row has another number of columns than the question. `None` if all have as many.
#[must_use]
pub fn width_difference(question: Question, answer: &[Row]) -> Option<String> {
    let names = question.columns();
    let row = answer.iter().find(|row| row.len() != names.len())?;
    Some(format!("rows have {} columns, {} expected ({})", row.len(), names.len(), names.join(", ")))
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

    fn difference(answer: &[Row]) -> String {
        match compare(Question::Q2, &q2(), answer, &[]) {
            Comparison::Different(difference) => difference,
            other => panic!("{other:?}"),
        }
    }

    fn is_different(answer: &[Row], approximate: &[usize]) -> bool {
        matches!(compare(Question::Q2, &q2(), answer, approximate), Comparison::Different(_))
    }

    #[test]
    fn order_does_not_matter_but_rows_do() {
        let mut shuffled = q2();
        shuffled.reverse();
        assert_eq!(compare(Question::Q2, &q2(), &shuffled, &[]), Comparison::Equal);
        assert_eq!(difference(&q2()[..2]), "2 rows answered, 3 expected");
        let mut more = q2();
        more.push(q2()[0].clone());
        assert!(is_different(&more, &[]));
        assert!(is_different(&[], &[]));
        assert_eq!(compare(Question::Q2, &[], &[], &[]), Comparison::Equal);
    }

    #[test]
    fn a_declared_column_may_differ_and_its_error_is_told_even_when_zero() {
        let mut got = q2();
        assert_eq!(compare(Question::Q2, &q2(), &got, &[2]), Comparison::Approximate { error: 0.0 });
        got[0][2] = Value::Int(5);
        assert_eq!(compare(Question::Q2, &q2(), &got, &[2]), Comparison::Approximate { error: 0.25 });
        assert!(is_different(&got, &[]));
        got[1][2] = Value::Int(1);
        assert!(is_different(&got, &[2]), "something for nothing has no relative error");
        got[1][2] = Value::Float(f64::NAN);
        assert!(is_different(&got, &[2]));
    }

    #[test]
    fn types_count_and_differences_are_readable() {
        let mut got = q2();
        got[0][1] = Value::Float(10.0);
        assert!(is_different(&got, &[]));
        let mut got = q2();
        got[0][0] = Value::Text("a\u{1b}[31m".into());
        assert_eq!(difference(&got), r#"row 1 of 3, event: "a" expected, "a\u{1b}[31m" answered"#);
        let narrow: Vec<Row> = vec![vec![Value::Null]];
        assert!(difference(&narrow).contains("3 expected"));
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
            prop_assert!(is_different(&got, &[]));
        }
    }
}
