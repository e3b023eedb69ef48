//! What came of the answers to one question, where nobody knows the right one beforehand.

use serde::{Deserialize, Serialize};

use crate::id::Id;
use crate::ranking::Profile;

/// Where the answer comes from that all others are held against.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Basis {
    /// A strict majority of the systems that answered, and two at least.
    Agreed,
    /// There is no such majority: nobody is right.
    Disputed,
    /// One system alone answered.
    Unverified,
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
    /// File below the run folder with the fixed answer; none where nobody answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// How each configuration stands to it, in plan order.
    pub standings: Vec<Standing>,
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
}

/// What a configuration made of a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Given {
    /// The fixed answer, or one that is the same by the rules.
    Same,
    /// Another answer.
    Different,
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
