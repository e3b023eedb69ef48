//! Bounds of answers that are of no single moment.
//!
//! All questions are monotone in the set of documents. If more documents are added, counts and numbers of
//! distinct users of a group only grow (an absent group counts 0), the k-th earliest first time only moves
//! down, and the k-th longest span only up. An answer over any set between what must be seen and what can be
//! seen therefore lies between the answers over these two, value by value.

use std::cmp::{Ordering, Reverse};

use jsonathlon_dataset::questions::Question;
use jsonathlon_dataset::reference::width_difference;
use jsonathlon_schema::value::{Row, Value};

/// Checks that an answer holds at least what the documents of `lower` do: those that must have been seen.
/// Columns with an index in `approximate` are not compared.
///
/// # Errors
/// Describes the first value that is too small (for Q4: too late), or the first missing row.
pub(crate) fn check_at_least(
    question: Question,
    lower: &[Row],
    answer: &[Row],
    approximate: &[usize],
) -> Result<(), String> {
    check_widths(question, answer)?;
    match question {
        Question::Q4 | Question::Q5 => ranks_at_least(question, lower, answer),
        _ => groups_at_least(question, lower, answer, approximate),
    }
}

/// Checks that an answer holds at most what the documents of `upper` do: those that can have been seen.
/// Columns with an index in `approximate` are not compared.
///
/// # Errors
/// Describes the first value that is too large (for Q4: too early), or the first row that cannot be there.
pub(crate) fn check_at_most(
    question: Question,
    upper: &[Row],
    answer: &[Row],
    approximate: &[usize],
) -> Result<(), String> {
    check_widths(question, answer)?;
    let groups = Groups::new(question, answer);
    if let Some(key) = groups.repeated_key() {
        return Err(format!("{} is in two rows", Value::show_row(key)));
    }
    match question {
        Question::Q4 | Question::Q5 => ranks_at_most(question, upper, answer),
        _ => groups_at_most(question, upper, answer, approximate),
    }
}

fn check_widths(question: Question, answer: &[Row]) -> Result<(), String> {
    width_difference(question, answer).map_or(Ok(()), Err)
}

/// Rows of an answer by the cells that name their group.
struct Groups<'r> {
    key_columns: usize,
    /// In the order of their keys.
    rows: Vec<&'r Row>,
}

impl<'r> Groups<'r> {
    fn new(question: Question, rows: &'r [Row]) -> Self {
        let key_columns = key_columns(question);
        let mut rows: Vec<&Row> = rows.iter().collect();
        rows.sort_by(|a, b| compare_keys(key(a, key_columns), key(b, key_columns)));
        Self { key_columns, rows }
    }

    fn find(&self, wanted: &[Value]) -> Option<&'r Row> {
        let index =
            self.rows.binary_search_by(|row| compare_keys(key(row, self.key_columns), wanted)).ok()?;
        // Numbers of different types compare as equal, but are not the same group.
        self.rows.get(index).copied().filter(|row| key(row, self.key_columns) == wanted)
    }

    fn repeated_key(&self) -> Option<&'r [Value]> {
        let keys: Vec<&[Value]> = self.rows.iter().copied().map(|row| key(row, self.key_columns)).collect();
        keys.windows(2).find(|pair| pair[0] == pair[1]).map(|pair| pair[0])
    }
}

/// Number of leading columns that name the group or the user of a row.
fn key_columns(question: Question) -> usize {
    match question {
        Question::Q3 => 2,
        Question::Q1 | Question::Q2 | Question::Q4 | Question::Q5 | Question::Q6 => 1,
    }
}

fn key(row: &Row, key_columns: usize) -> &[Value] {
    row.get(..key_columns).unwrap_or(row)
}

fn compare_keys(a: &[Value], b: &[Value]) -> Ordering {
    a.iter().zip(b).map(|(a, b)| a.compare(b)).find(|order| order.is_ne()).unwrap_or(Ordering::Equal)
}

fn groups_at_least(
    question: Question,
    lower: &[Row],
    answer: &[Row],
    approximate: &[usize],
) -> Result<(), String> {
    let groups = Groups::new(question, answer);
    for bound in lower {
        let key = key(bound, groups.key_columns);
        let Some(row) = groups.find(key) else {
            return Err(format!("{} is missing, at least {} expected", Value::show_row(key), last(bound)));
        };
        compare_counts(question, row, bound, approximate, "at least", |count, bound| count >= bound)?;
    }
    Ok(())
}

fn groups_at_most(
    question: Question,
    upper: &[Row],
    answer: &[Row],
    approximate: &[usize],
) -> Result<(), String> {
    let groups = Groups::new(question, upper);
    for row in answer {
        let key = key(row, groups.key_columns);
        let Some(bound) = groups.find(key) else {
            return Err(format!("{} is in no document that may have been seen", Value::show_row(key)));
        };
        compare_counts(question, row, bound, approximate, "at most", |count, bound| count <= bound)?;
    }
    Ok(())
}

fn last(row: &Row) -> &Value {
    row.last().unwrap_or(&Value::Null)
}

/// Compares the counts of a row with those of its bound; a count that is no integer is outside.
fn compare_counts(
    question: Question,
    row: &Row,
    bound: &Row,
    approximate: &[usize],
    relation: &str,
    is_within: impl Fn(i64, i64) -> bool,
) -> Result<(), String> {
    let key_columns = key_columns(question);
    for (column, (got, want)) in row.iter().zip(bound).enumerate().skip(key_columns) {
        if approximate.contains(&column) {
            continue;
        }
        let is_right = match (got, want) {
            (Value::Int(got), Value::Int(want)) => is_within(*got, *want),
            _ => false,
        };
        if !is_right {
            let name = question.columns().get(column).copied().unwrap_or("?");
            let key = Value::show_row(key(row, key_columns));
            return Err(format!("{name} of {key}: {relation} {want} expected, {got} answered"));
        }
    }
    Ok(())
}

/// Place of a value in the order of Q4 or Q5, in which null is last. `None` for what is neither an integer nor
/// null.
fn place(question: Question, row: &Row) -> Option<(bool, Reverse<i64>, i64)> {
    match (last(row), question) {
        (Value::Null, _) => Some((true, Reverse(0), 0)),
        (Value::Int(span), Question::Q5) => Some((false, Reverse(*span), 0)),
        (Value::Int(time), _) => Some((false, Reverse(0), *time)),
        _ => None,
    }
}

fn sorted(question: Question, answer: &[Row]) -> Vec<Row> {
    let mut sorted = answer.to_vec();
    question.sort(&mut sorted);
    sorted
}

fn ranks_at_least(question: Question, lower: &[Row], answer: &[Row]) -> Result<(), String> {
    if answer.len() < lower.len() {
        return Err(format!("at least {} rows expected, {} answered", lower.len(), answer.len()));
    }
    let is_within = |row: &Row, bound: &Row| place(question, row) <= place(question, bound);
    check_ranks(question, lower, answer, "at least as good as", is_within)
}

fn ranks_at_most(question: Question, upper: &[Row], answer: &[Row]) -> Result<(), String> {
    if answer.len() > upper.len() {
        return Err(format!("at most {} rows expected, {} answered", upper.len(), answer.len()));
    }
    let is_within = |row: &Row, bound: &Row| place(question, row) >= place(question, bound);
    check_ranks(question, upper, answer, "at most as good as", is_within)
}

/// Compares the k-th value of an answer with the k-th of the bound, for all k that both have.
fn check_ranks(
    question: Question,
    bounds: &[Row],
    answer: &[Row],
    relation: &str,
    is_within: impl Fn(&Row, &Row) -> bool,
) -> Result<(), String> {
    for (index, (row, bound)) in sorted(question, answer).iter().zip(bounds).enumerate() {
        if place(question, row).is_none() || !is_within(row, bound) {
            let name = question.columns().last().copied().unwrap_or("?");
            return Err(format!(
                "row {}, {name}: {relation} {} expected, {} answered",
                index + 1,
                last(bound),
                last(row)
            ));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(text: &str) -> Value {
        Value::Text(text.into())
    }

    fn counts(rows: &[(&str, i64)]) -> Vec<Row> {
        rows.iter().map(|(name, count)| vec![text(name), Value::Int(*count)]).collect()
    }

    #[test]
    fn groups_lie_between_their_bounds() {
        let (lower, upper) = (counts(&[("a", 5)]), counts(&[("a", 9), ("b", 2)]));
        let check = |answer: &[Row]| {
            check_at_least(Question::Q1, &lower, answer, &[])
                .and_then(|()| check_at_most(Question::Q1, &upper, answer, &[]))
        };
        for within in [&[("a", 5)][..], &[("a", 9), ("b", 2)], &[("b", 1), ("a", 7)]] {
            assert_eq!(check(&counts(within)), Ok(()));
        }
        let refused = |rows: &[(&str, i64)]| check(&counts(rows)).unwrap_err();
        assert_eq!(refused(&[("a", 4)]), r#"count of ["a"]: at least 5 expected, 4 answered"#);
        assert_eq!(refused(&[("a", 10)]), r#"count of ["a"]: at most 9 expected, 10 answered"#);
        assert_eq!(refused(&[("b", 1)]), r#"["a"] is missing, at least 5 expected"#);
        assert_eq!(refused(&[("a", 5), ("c", 1)]), r#"["c"] is in no document that may have been seen"#);
        assert_eq!(refused(&[("a", 5), ("a", 5)]), r#"["a"] is in two rows"#);
        assert!(check(&[vec![text("a"), Value::Float(6.0)]]).is_err(), "types count");
        assert!(check(&[vec![text("a")]]).unwrap_err().contains("2 expected"));
    }

    #[test]
    fn an_approximate_column_has_no_bounds() {
        let row = |users| vec![vec![text("a"), Value::Int(5), Value::Int(users)]];
        assert!(check_at_most(Question::Q2, &row(3), &row(4), &[]).is_err());
        assert_eq!(check_at_most(Question::Q2, &row(3), &row(4), &[2]), Ok(()));
        assert_eq!(check_at_least(Question::Q2, &row(3), &row(2), &[2]), Ok(()));
    }

    #[test]
    fn hours_are_part_of_the_group() {
        let row = |hour: Value, count| vec![text("a"), hour, Value::Int(count)];
        let upper = [row(Value::Int(9), 2), row(Value::Null, 1)];
        let check = |answer: Row| check_at_most(Question::Q3, &upper, &[answer], &[]);
        assert_eq!(check(row(Value::Int(9), 2)), Ok(()));
        assert_eq!(check(row(Value::Null, 1)), Ok(()));
        assert!(check(row(Value::Int(10), 1)).is_err());
        assert!(check(row(Value::Float(9.0), 1)).is_err());
    }

    #[test]
    fn first_times_move_down_and_spans_up() {
        let rows = |values: &[Option<i64>]| -> Vec<Row> {
            let cell = |value: &Option<i64>| value.map_or(Value::Null, Value::Int);
            (0_u8..).zip(values).map(|(user, value)| vec![text(&user.to_string()), cell(value)]).collect()
        };
        let within = |question, lower: &[Option<i64>], answer: &[Option<i64>], upper: &[Option<i64>]| {
            let answer = rows(answer);
            let least = check_at_least(question, &rows(lower), &answer, &[]);
            least.and_then(|()| check_at_most(question, &rows(upper), &answer, &[])).is_ok()
        };
        let (old, new) = ([Some(10), Some(20), None], [Some(5), Some(10), Some(20)]);
        assert!(within(Question::Q4, &old, &old, &new) && within(Question::Q4, &old, &new, &new));
        assert!(within(Question::Q4, &old, &[Some(7), Some(15), Some(90)], &new));
        assert!(!within(Question::Q4, &old, &[Some(4), Some(15), None], &new), "earlier than possible");
        assert!(!within(Question::Q4, &old, &[Some(11), Some(20), None], &new), "later than possible");
        assert!(!within(Question::Q4, &old, &[Some(10), Some(20)], &new), "a row is missing");
        assert!(within(Question::Q4, &[], &[Some(5)], &new) && !within(Question::Q4, &[], &[Some(5)], &[]));
        let (old, new) = ([Some(20), Some(10)], [Some(30), Some(20), Some(0)]);
        assert!(within(Question::Q5, &old, &old, &new) && within(Question::Q5, &old, &new, &new));
        assert!(within(Question::Q5, &old, &[Some(25), Some(10), None], &new));
        assert!(!within(Question::Q5, &old, &[Some(31), Some(10)], &new));
        assert!(!within(Question::Q5, &old, &[Some(20), Some(9)], &new));
        let odd = [vec![text("a"), Value::Float(20.0)], vec![text("b"), Value::Int(10)]];
        assert!(check_at_least(Question::Q5, &rows(&old), &odd, &[]).is_err(), "types count");
    }
}
