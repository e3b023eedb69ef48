//! Answers of targets to questions, before they are compared.

use jsonathlon_catalogue::base_name;
use jsonathlon_schema::{record::Failure, value::Row};

use crate::target::Target;

/// Result of asking a target a question.
pub(super) enum SurveyAnswer {
    Rows { rows: Vec<Row>, statement: String },
    Failed(Failure),
    NotAsked,
}

impl SurveyAnswer {
    pub(super) fn rows(&self) -> Option<&[Row]> {
        match self {
            Self::Rows { rows, .. } => Some(rows),
            Self::Failed(_) | Self::NotAsked => None,
        }
    }

    pub(super) fn statement(&self) -> Option<&str> {
        match self {
            Self::Rows { statement, .. } => Some(statement),
            Self::Failed(_) | Self::NotAsked => None,
        }
    }
}

/// Returns `true` if the target is the reference that the user named, a system and optionally a variant.
pub(super) fn matches_reference(target: &Target, (system, variant): &(String, Option<String>)) -> bool {
    let configuration = &target.configuration;
    // Without a variant, every variant of the system matches, and callers take the first.
    base_name(&configuration.system) == system
        && variant.as_ref().is_none_or(|variant| *variant == configuration.variant)
}
