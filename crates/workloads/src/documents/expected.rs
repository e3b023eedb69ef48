//! The expected answers over a table, and the verification of a system's answers.

use jsonathlon_catalogue::QueryAnswer;
use jsonathlon_dataset::nested::NestedTable;
use jsonathlon_schema::value::{Row, Value};

/// Number that copies have as their top-level `l`.
pub(super) const COPY_NUMBER: i64 = 1;

/// Answers to all queries over one table, computed from its parameters, and the digests of its documents.
#[derive(Debug, Clone)]
pub(super) struct ExpectedAnswers {
    pub(super) table: NestedTable,
    /// Values of the top-level member `l`, sorted.
    numbers: Vec<i64>,
    /// Keys of the documents whose `l` is 10.
    ten_keys: Vec<i64>,
    rare_keys: Vec<i64>,
    ordered_keys: Vec<i64>,
    all_keys: Vec<i64>,
    /// Sums of document digests: `original_digest` of the originals, `copy_digest` of their copies.
    pub(super) original_digest: u64,
    pub(super) copy_digest: u64,
}

fn signed(keys: &[u64]) -> Vec<i64> {
    keys.iter().map(|key| key.cast_signed()).collect()
}

impl ExpectedAnswers {
    pub(super) fn new(table: NestedTable) -> Self {
        let mut numbers: Vec<i64> =
            (0..table.documents).map(|key| NestedTable::top_level_number(key).cast_signed()).collect();
        numbers.sort_unstable();
        Self {
            numbers,
            ten_keys: signed(&table.keys_where_l_is_10()),
            rare_keys: signed(&table.rare_keys()),
            ordered_keys: signed(&table.ordered_keys()),
            all_keys: (0..table.documents.cast_signed()).collect(),
            original_digest: table.digest(None),
            copy_digest: table.digest(Some(COPY_NUMBER)),
            table,
        }
    }

    /// Describes the first difference of an answer, of which only the first column counts; `None` if it is
    /// correct.
    pub(super) fn difference(&self, expected: QueryAnswer, rows: &[Row]) -> Option<String> {
        let mut actual = Vec::with_capacity(rows.len());
        for row in rows {
            match row.first().and_then(number) {
                Some(number) => actual.push(number),
                None => {
                    return Some(format!(
                        "a row of the answer begins with no whole number: {:?}",
                        row.first()
                    ));
                }
            }
        }
        let correct = match expected {
            QueryAnswer::AllNumbers => &self.numbers,
            QueryAnswer::KeysOfTen => &self.ten_keys,
            QueryAnswer::KeysWithRare => &self.rare_keys,
            QueryAnswer::AllKeys => &self.all_keys,
            QueryAnswer::OrderedKeys => &self.ordered_keys,
        };
        if expected != QueryAnswer::OrderedKeys {
            actual.sort_unstable();
        }
        if actual == *correct {
            return None;
        }
        let position = correct.iter().zip(&actual).position(|(correct, actual)| correct != actual);
        Some(match position {
            Some(position) => {
                let (correct, actual) = (correct.get(position).copied(), actual.get(position).copied());
                let position = position + 1;
                let (correct, actual) = (correct.unwrap_or_default(), actual.unwrap_or_default());
                match expected {
                    QueryAnswer::OrderedKeys => {
                        format!("{actual} came in place {position} of the order, where {correct} belongs")
                    }
                    _ => format!(
                        "{actual} is in the answer where {correct} belongs, in place {position} when sorted"
                    ),
                }
            }
            None => format!("{} rows came, {} are right", actual.len(), correct.len()),
        })
    }
}

/// Converts an integer, an integral float or the text of an integer; `None` for other values.
fn number(value: &Value) -> Option<i64> {
    match value {
        Value::Int(number) => Some(*number),
        Value::Float(number) if number.fract() == 0.0 && number.abs() < 9e15 => Some(*number as i64),
        Value::Text(text) => text.trim().parse().ok(),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use jsonathlon_dataset::nested::InnerContent;

    use super::*;

    fn expected_answers() -> ExpectedAnswers {
        ExpectedAnswers::new(NestedTable { n: 3, documents: 4, data: InnerContent::Identical, seed: 1 })
    }

    fn rows(numbers: &[i64]) -> Vec<Row> {
        numbers.iter().map(|number| vec![Value::Int(*number)]).collect()
    }

    #[test]
    fn right_answers_are_right_in_any_order_but_where_order_is_asked_for() {
        let answers = expected_answers();
        // The values of `l` are 10, 929, 848, 767.
        assert_eq!(answers.difference(QueryAnswer::AllNumbers, &rows(&[929, 10, 767, 848])), None);
        assert_eq!(answers.difference(QueryAnswer::KeysOfTen, &rows(&[0])), None);
        assert_eq!(answers.difference(QueryAnswer::KeysWithRare, &rows(&[1])), None);
        assert_eq!(answers.difference(QueryAnswer::AllKeys, &rows(&[3, 1, 2, 0])), None);
        assert_eq!(answers.difference(QueryAnswer::OrderedKeys, &rows(&[0, 3, 2, 1])), None);
        let text = vec![vec![Value::Text("0".into())]];
        assert_eq!(answers.difference(QueryAnswer::KeysOfTen, &text), None);
    }

    #[test]
    fn what_is_wrong_is_told() {
        let answers = expected_answers();
        let difference = |expected, numbers: &[i64]| answers.difference(expected, &rows(numbers)).unwrap();
        let order = difference(QueryAnswer::OrderedKeys, &[0, 2, 3, 1]);
        assert!(order.starts_with("2 came in place 2 of the order, where 3"));
        assert_eq!(difference(QueryAnswer::KeysOfTen, &[]), "0 rows came, 1 are right");
        assert!(difference(QueryAnswer::AllNumbers, &[10, 767, 848, 930]).contains("where 929 belongs"));
        let null = answers.difference(QueryAnswer::KeysOfTen, &[vec![Value::Null]]).unwrap();
        assert!(null.contains("no whole number"), "{null}");
    }
}
