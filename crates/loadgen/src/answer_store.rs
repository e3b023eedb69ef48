//! Answers of questions, each kept once.

use std::collections::HashMap;

use jsonathlon_dataset::digest::rows_digest;
use jsonathlon_schema::value::{Row, Value};

/// Estimated bytes of a value beside its text.
const VALUE_BYTES: usize = 32;

/// Different answers with their numbers.
#[derive(Debug, Default)]
pub(crate) struct AnswerStore {
    numbers: HashMap<String, u32>,
    answers: Vec<Vec<Row>>,
}

impl AnswerStore {
    /// Keeps the rows unless equal ones are there. Returns the number of the answer, and the bytes that keeping it
    /// has taken.
    pub(crate) fn keep(&mut self, rows: Vec<Row>) -> (u32, usize) {
        let digest = rows_digest(&rows);
        if let Some(number) = self.numbers.get(&digest) {
            return (*number, 0);
        }
        let number = u32::try_from(self.answers.len()).unwrap_or(u32::MAX);
        let bytes = rows.iter().flatten().map(value_bytes).sum::<usize>() + digest.len();
        self.numbers.insert(digest, number);
        self.answers.push(rows);
        (number, bytes)
    }

    /// Adds the answers of another store. Returns the numbers that its answers have here, by their numbers there.
    pub(crate) fn absorb(&mut self, other: Self) -> Vec<u32> {
        other.answers.into_iter().map(|rows| self.keep(rows).0).collect()
    }

    /// Returns the answers in the order of their numbers.
    pub(crate) fn into_answers(self) -> Vec<Vec<Row>> {
        self.answers
    }
}

fn value_bytes(value: &Value) -> usize {
    VALUE_BYTES + if let Value::Text(text) = value { text.len() } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_answers_are_kept_once() {
        let answer = |count: i64| vec![vec![Value::Text("a".into()), Value::Int(count)]];
        let (mut first, mut second) = (AnswerStore::default(), AnswerStore::default());
        assert_eq!(first.keep(answer(1)).0, 0);
        let (number, bytes) = first.keep(answer(2));
        assert!(number == 1 && bytes > 64, "{bytes}");
        assert_eq!(first.keep(answer(1)), (0, 0));
        assert_eq!([second.keep(answer(3)).0, second.keep(answer(2)).0], [0, 1]);
        assert_eq!(first.absorb(second), [2, 1]);
        assert_eq!(first.into_answers(), [answer(1), answer(2), answer(3)]);
    }
}
