//! What came of the answers to one question, where nobody knows the right one beforehand.

use serde::{Deserialize, Serialize};

use super::Verdict;
use crate::id::Id;
use crate::ranking::Profile;

/// Where the answer comes from that all others are held against.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Basis {
    /// A strict majority of the systems that answered over the same documents, and two at least.
    Agreed,
    /// There is no such majority: nobody is right.
    Disputed,
    /// One system alone answered.
    Unverified,
    /// They hold other documents than each other, and could not be asked over the same ones.
    OtherDocuments,
    /// The user gave it.
    Expected,
    /// The user named whose it is.
    Reference,
    /// Nobody answered.
    Unanswered,
}

impl Basis {
    /// The word used in files and tables.
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

    /// Whether there is a right answer.
    #[must_use]
    pub fn is_settled(self) -> bool {
        matches!(self, Self::Agreed | Self::Expected | Self::Reference)
    }
}

/// The answers of all configurations to one question, held against one of them or against what the user gave.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Agreement {
    /// Workload.
    pub workload: String,
    /// The question's name: the step of its cells.
    pub question: String,
    /// Where the fixed answer comes from.
    pub basis: Basis,
    /// How many documents the answers were compared over: those that all voters hold.
    #[serde(default)]
    pub documents: u64,
    /// By what these documents are recognised.
    #[serde(default)]
    pub holding: String,
    /// The largest number that may have been cancelled in a sum, within 1e-9 of which columns without a scale are compared;
    /// none where that made no difference.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub addend: Option<f64>,
    /// The names of the answer's columns.
    #[serde(default)]
    pub columns: Vec<String>,
    /// The fixed answer, as much of it as people read; none where nobody answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first: Option<FirstRows>,
    /// File below the run folder with all of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// How each configuration stands to it, in plan order.
    pub standings: Vec<Standing>,
}

impl Agreement {
    /// Whether the fixed answer says nothing: it has no rows, or nothing but nulls and zeros.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        let says_nothing = |cell: &serde_json::Value| cell.is_null() || cell.as_f64() == Some(0.0);
        self.first.as_ref().is_some_and(|first| {
            first.count == first.rows.len() as u64 && first.rows.iter().flatten().all(says_nothing)
        })
    }
}

/// The first rows of an answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FirstRows {
    /// As they were given.
    pub rows: Vec<Vec<serde_json::Value>>,
    /// How many rows there are.
    pub count: u64,
}

/// How a configuration stands to the fixed answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Standing {
    /// The configuration.
    #[serde(flatten)]
    pub id: Id,
    /// Its memory profile.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub profile: Option<Profile>,
    /// What it did.
    pub answer: Given,
    /// How its answer differs, or why there is none, in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// Rows that differ.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rows: Option<DifferentRows>,
    /// The rule that explains the difference, in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
    /// What it was asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub statement: Option<String>,
    /// How many documents it holds.
    #[serde(default)]
    pub documents: u64,
    /// By what these documents are recognised.
    #[serde(default)]
    pub holding: String,
    /// File below the run folder with the answer over all that it holds, which its later ones are held against.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// The verdict on its later answers, where they are held against none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verdict: Option<Verdict>,
}

/// What a configuration made of a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Given {
    /// The fixed answer, or one that is the same by the rules.
    Same,
    /// Another answer.
    Different,
    /// An answer over other documents than those that were compared: it has no vote, and cannot be right or wrong.
    OtherDocuments,
    /// None: it failed.
    Failed,
    /// It has no statement for it.
    NotAsked,
}

/// The first rows that differ, both ways.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DifferentRows {
    /// Of the fixed answer, those that this one lacks.
    pub lacks: Vec<Vec<serde_json::Value>>,
    /// How many such rows there are.
    pub lacking: u64,
    /// Of this one, those that the fixed answer lacks.
    pub has: Vec<Vec<serde_json::Value>>,
    /// How many such rows there are.
    pub having: u64,
}
