//! Questions of the analytics workload and the row order of their answers.

use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;

use jsonathlon_schema::value::{Row, Value};
use serde::{Deserialize, Serialize};

/// `commit.collection` of posts, the subject of Q4, Q5 and Q6.
pub const POST: &str = "app.bsky.feed.post";
/// `commit.collection` of reposts, counted by Q3.
pub const REPOST: &str = "app.bsky.feed.repost";
/// `commit.collection` of likes, counted by Q3.
pub const LIKE: &str = "app.bsky.feed.like";
/// The `kind` of events that change a repository.
pub const COMMIT: &str = "commit";
/// The `commit.operation` of events that add a record.
pub const CREATE: &str = "create";
/// Number of rows in an answer to Q4 or Q5.
pub const VETERANS: usize = 3;

/// A question over all events. *Event* stands for `commit.collection`; an absent or differently typed path is
/// null.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Question {
    /// Number of documents per event.
    Q1,
    /// Number of created records and exact number of distinct users per event.
    Q2,
    /// Number of created posts, reposts and likes per event and hour of the day in UTC.
    Q3,
    /// The three users with the earliest first post.
    Q4,
    /// The three users with the longest time between their first and last post.
    Q5,
    /// Number of created posts per first language. No configuration prepares this path.
    Q6,
}

#[derive(Clone, Copy)]
enum Direction {
    Ascending,
    Descending,
}
use Direction::{Ascending, Descending};

impl Question {
    /// All questions in ascending order.
    pub const ALL: [Question; 6] =
        [Question::Q1, Question::Q2, Question::Q3, Question::Q4, Question::Q5, Question::Q6];

    /// Short name used in files and on the command line: `q1` … `q6`.
    pub fn id(self) -> &'static str {
        match self {
            Question::Q1 => "q1",
            Question::Q2 => "q2",
            Question::Q3 => "q3",
            Question::Q4 => "q4",
            Question::Q5 => "q5",
            Question::Q6 => "q6",
        }
    }

    /// Short description for headings.
    pub fn title(self) -> &'static str {
        match self {
            Question::Q1 => "top event types",
            Question::Q2 => "top event types with unique users",
            Question::Q3 => "when do people use it",
            Question::Q4 => "top 3 post veterans",
            Question::Q5 => "top 3 longest activity",
            Question::Q6 => "posts by first language, an unprepared path",
        }
    }

    /// Column names of the answer, in order.
    pub fn columns(self) -> &'static [&'static str] {
        match self {
            Question::Q1 => &["event", "count"],
            Question::Q2 => &["event", "count", "users"],
            Question::Q3 => &["event", "hour", "count"],
            Question::Q4 => &["did", "first_us"],
            Question::Q5 => &["did", "span_us"],
            Question::Q6 => &["lang", "count"],
        }
    }

    /// Returns the question's index in [`Question::ALL`].
    pub(crate) fn index(self) -> usize {
        self as usize
    }

    fn order(self) -> &'static [(usize, Direction)] {
        match self {
            Question::Q1 | Question::Q2 | Question::Q6 => &[(1, Descending), (0, Ascending)],
            Question::Q3 => &[(1, Ascending), (0, Ascending)],
            Question::Q4 => &[(1, Ascending), (0, Ascending)],
            Question::Q5 => &[(1, Descending), (0, Ascending)],
        }
    }

    /// Sorts rows into the order that the question requires: nulls last in either direction, text bytewise.
    ///
    /// Rows of any width and type can be sorted, because an engine may return anything. A missing cell counts
    /// as null. Rows that are equal in the required order are ordered by all their cells.
    pub fn sort(&self, rows: &mut [Row]) {
        rows.sort_by(|a, b| self.compare(a, b));
    }

    pub(crate) fn compare(self, a: &Row, b: &Row) -> Ordering {
        static NULL: Value = Value::Null;
        for &(column, direction) in self.order() {
            let (a, b) = (a.get(column).unwrap_or(&NULL), b.get(column).unwrap_or(&NULL));
            let order = match (direction, a, b) {
                (Ascending, ..) | (_, Value::Null, _) | (_, _, Value::Null) => a.compare(b),
                (Descending, ..) => b.compare(a),
            };
            if order.is_ne() {
                return order;
            }
        }
        let cells = a.iter().zip(b).map(|(a, b)| a.compare(b));
        cells.fold(Ordering::Equal, Ordering::then).then_with(|| a.len().cmp(&b.len()))
    }
}

impl fmt::Display for Question {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.id())
    }
}

/// Error of parsing a name that is not `q1` … `q6`. Holds the name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown question `{0}`; the questions are q1 to q6")]
pub struct UnknownQuestion(String);

impl FromStr for Question {
    type Err = UnknownQuestion;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Question::ALL
            .into_iter()
            .find(|question| question.id().eq_ignore_ascii_case(text))
            .ok_or_else(|| UnknownQuestion(text.to_string()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(text: &str) -> Value {
        Value::Text(text.into())
    }

    #[test]
    fn names_and_columns_fit() {
        for (index, question) in Question::ALL.into_iter().enumerate() {
            assert_eq!(question.index(), index);
            assert_eq!(question.id().parse::<Question>().unwrap(), question);
            assert_eq!(serde_json::to_string(&question).unwrap(), format!("\"{question}\""));
            for (column, _) in question.order() {
                assert!(*column < question.columns().len());
            }
        }
        assert!("q7".parse::<Question>().unwrap_err().to_string().contains("q1 to q6"));
    }

    #[test]
    fn nulls_are_last_whichever_way_a_column_sorts() {
        let mut rows = vec![
            vec![Value::Null, Value::Int(7)],
            vec![text("b"), Value::Null],
            vec![text("b"), Value::Int(7)],
            vec![text("B"), Value::Int(7)],
            vec![text("a"), Value::Int(9)],
        ];
        Question::Q1.sort(&mut rows);
        let expected = vec![
            vec![text("a"), Value::Int(9)],
            vec![text("B"), Value::Int(7)],
            vec![text("b"), Value::Int(7)],
            vec![Value::Null, Value::Int(7)],
            vec![text("b"), Value::Null],
        ];
        assert_eq!(rows, expected);
        rows.reverse();
        Question::Q5.sort(&mut rows);
        assert_eq!(rows, expected);
        Question::Q4.sort(&mut rows);
        assert_eq!(rows[0], vec![text("B"), Value::Int(7)]);
        assert_eq!(rows[4], vec![text("b"), Value::Null]);
    }

    #[test]
    fn hours_come_before_events() {
        let mut rows = vec![
            vec![text("a"), Value::Int(10), Value::Int(1)],
            vec![text("b"), Value::Int(9), Value::Int(1)],
            vec![text("a"), Value::Int(9), Value::Int(1)],
            vec![text("a"), Value::Null, Value::Int(1)],
        ];
        Question::Q3.sort(&mut rows);
        let hours: Vec<_> = rows.iter().map(|row| (row[1].clone(), row[0].clone())).collect();
        assert_eq!(
            hours,
            [
                (Value::Int(9), text("a")),
                (Value::Int(9), text("b")),
                (Value::Int(10), text("a")),
                (Value::Null, text("a"))
            ]
        );
    }

    #[test]
    fn rows_of_any_shape_sort() {
        let mut rows = vec![vec![], vec![Value::Bool(true)], vec![text("x"), Value::Float(1.5), Value::Null]];
        Question::Q2.sort(&mut rows);
        assert_eq!(rows[0].len(), 3);
        assert_eq!(rows[2].len(), 0);
    }
}
