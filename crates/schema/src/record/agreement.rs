//! Comparison of all answers to one question for which no expected answer is known beforehand.

use crate::workload::WorkloadName;
use serde::{Deserialize, Serialize};

use super::Verdict;
use crate::id::ConfigurationId;
use crate::ranking::MemoryProfile;

/// Where the expected answer, with which all others are compared, comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum ExpectedAnswerSource {
    /// A strict majority of the systems that answered over the same documents, at least two systems.
    Agreed,
    /// Several systems answered, but there is no such majority, so that no answer counts as correct.
    Disputed,
    /// Only one system answered, or there is a reference that gave no answer.
    Unverified,
    /// The systems hold different documents, and could not be queried over the same ones.
    OtherDocuments,
    /// The user gave the expected answer.
    Expected,
    /// The user named the configuration whose answer is expected.
    Reference,
    /// No configuration gave an answer.
    Unanswered,
}

impl ExpectedAnswerSource {
    /// Word for the basis in files and tables.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Agreed => "agreed",
            Self::Disputed => "disputed",
            Self::Unverified => "unverified",
            Self::OtherDocuments => "unverified: they hold other documents",
            Self::Expected => "expected",
            Self::Reference => "reference",
            Self::Unanswered => "unanswered",
        }
    }

    /// Returns `true` if there is an expected answer by which others are right or wrong.
    #[must_use]
    pub fn is_settled(self) -> bool {
        matches!(self, Self::Agreed | Self::Expected | Self::Reference)
    }
}

/// Answers of all configurations to one question, compared with the expected answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(optional_fields))]
pub struct Agreement {
    /// Workload that the question belongs to.
    pub workload: WorkloadName,
    /// Name of the question, which is the step of its cells.
    pub question: String,
    /// Where the expected answer comes from.
    pub basis: ExpectedAnswerSource,
    /// Number of documents over which answers were compared: those that all voting configurations hold, or
    /// all that were offered if the user gave the answer.
    pub documents: u64,
    /// Digest that identifies these documents.
    pub documents_digest: String,
    /// Largest number that may have cancelled out in a sum. Columns without a scale are compared within 1e-9
    /// of it. `None` if this tolerance made no difference.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub addend: Option<f64>,
    /// Names of the answer's columns, in order.
    pub columns: Vec<String>,
    /// First rows of the expected answer; if disputed, of the most frequent one. `None` if there is no such
    /// answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first: Option<FirstRows>,
    /// File with the whole expected answer, relative to the run folder. `None` if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// Result of each configuration, in plan order.
    pub answers: Vec<ConfigurationAnswer>,
}

impl Agreement {
    /// Returns `true` if the expected answer has no rows, or only nulls and zeros. `false` if only its first
    /// rows are known here.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        let is_blank = |cell: &serde_json::Value| cell.is_null() || cell.as_f64() == Some(0.0);
        self.first.as_ref().is_some_and(|first| {
            first.count == first.rows.len() as u64 && first.rows.iter().flatten().all(is_blank)
        })
    }
}

/// First rows of an answer, as many as a reader needs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct FirstRows {
    /// Rows as the system gave them.
    #[cfg_attr(feature = "typescript", ts(as = "Vec<crate::value::Row>"))]
    pub rows: Vec<Vec<serde_json::Value>>,
    /// Number of rows of the whole answer.
    pub count: u64,
}

/// Answer of one configuration compared with the expected one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(optional_fields))]
pub struct ConfigurationAnswer {
    /// Configuration that was asked.
    #[serde(flatten)]
    pub id: ConfigurationId,
    /// Memory profile of the configuration. `None` for remote servers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub profile: Option<MemoryProfile>,
    /// Whether it gave the expected answer, another one, or none.
    pub answer: AnswerStatus,
    /// How the answer differs or why there is none, in words. `None` if the answers are equal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// Rows that differ. `None` unless the answer is different.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rows: Option<RowDifference>,
    /// Rule that explains the difference, in words. `None` if none applies.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
    /// Statement that was sent. `None` if the question was not asked or failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub statement: Option<String>,
    /// Number of documents that the configuration holds.
    pub documents: u64,
    /// Digest that identifies the documents that it holds.
    pub documents_digest: String,
    /// File with the expected answer over all documents that this configuration holds, against which its
    /// later answers are verified. Relative to the run folder; `None` if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// Fixed verdict of all later answers. `None` if they are verified against `file`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verdict: Option<Verdict>,
}

/// Kind of answer that a configuration gave to a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum AnswerStatus {
    /// The expected answer, or one that is equal to it by the rules of comparison.
    Same,
    /// An answer that differs from the expected one.
    Different,
    /// An answer over other documents than those compared. It has no vote, and is neither right nor wrong.
    OtherDocuments,
    /// No answer, because the statement failed.
    Failed,
    /// The configuration has no statement for the question.
    NotAsked,
}

/// First rows that differ, in both directions.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct RowDifference {
    /// Rows of the expected answer that this answer lacks.
    #[cfg_attr(feature = "typescript", ts(as = "Vec<crate::value::Row>"))]
    pub missing_rows: Vec<Vec<serde_json::Value>>,
    /// Total number of such rows.
    pub missing_count: u64,
    /// Rows of this answer that the expected answer lacks.
    #[cfg_attr(feature = "typescript", ts(as = "Vec<crate::value::Row>"))]
    pub extra_rows: Vec<Vec<serde_json::Value>>,
    /// Total number of rows that only this answer has.
    pub extra_count: u64,
}
