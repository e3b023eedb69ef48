//! What targets made of questions.

use jsonathlon_dataset::value::Row;
use jsonathlon_results::record::Failure;
use jsonathlon_systems::catalogue::name_of;

use crate::target::Target;

/// What a target made of a question.
pub(super) enum Told {
    Rows { rows: Vec<Row>, statement: String },
    Failed(Failure),
    NotAsked,
}

impl Told {
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

/// Whether a target is what the user names as the reference.
pub(super) fn is_named(target: &Target, (system, variant): &(String, Option<String>)) -> bool {
    let configuration = &target.configuration;
    // The folder without a variant comes first.
    name_of(&configuration.system) == system
        && variant.as_ref().is_none_or(|variant| *variant == configuration.variant)
}
