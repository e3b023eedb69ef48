//! How a user's questions are asked over the table that the serving workload makes, whose layout may be another
//! one than that of the questions workload.

use serde::Deserialize;

use crate::{error::CatalogueError, sections::SectionReader, template};

/// Name of the placeholder that the statements of questions name their documents by.
const TABLE: &str = "table";

/// The section `[serving.reports]`, as written. It states one of the two.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct ReportsDefinition {
    table: Option<String>,
    not: Option<String>,
}

/// How a user's questions are asked over the records of the serving workload.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Reports {
    /// The folder says nothing about it, so that questions are not asked.
    #[default]
    Unstated,
    /// What `{{table}}` in a question stands for: `{{table}}` itself, or a query of it that has the documents in the
    /// form that questions expect.
    Table(String),
    /// Questions are not asked, for this reason.
    Refused(String),
    /// Statements of the questions are among the configuration's files.
    Asked {
        /// The user's folder, as part of a sentence on a question without a statement.
        folder: String,
    },
}

impl Reports {
    /// Reads what a section states. `None` if it states nothing.
    pub(super) fn read(
        section: &SectionReader<'_>,
        definition: Option<ReportsDefinition>,
    ) -> Result<Option<Self>, CatalogueError> {
        let error = |keys: &[&str], message: String| {
            let keys: Vec<&str> = ["reports"].into_iter().chain(keys.iter().copied()).collect();
            section.error(&keys, message)
        };
        match definition.map(|definition| (definition.table, definition.not)) {
            None => Ok(None),
            Some((Some(table), None)) => {
                let placeholders = template::placeholders(&table)
                    .map_err(|problem| error(&["table"], problem.to_string()))?;
                match placeholders.iter().find(|(_, name)| *name != TABLE) {
                    Some((_, name)) => Err(error(
                        &["table"],
                        format!("`{{{{{name}}}}}` has no value here; there is {TABLE}"),
                    )),
                    None if placeholders.is_empty() => {
                        Err(error(&["table"], "does not use `{{table}}`, which holds the records".to_owned()))
                    }
                    None => Ok(Some(Self::Table(table))),
                }
            }
            Some((None, Some(reason))) if !reason.trim().is_empty() => Ok(Some(Self::Refused(reason))),
            Some(_) => {
                let message =
                    "says either `table`, what questions are asked over, or `not`, why they are not asked";
                Err(error(&[], message.to_owned()))
            }
        }
    }

    /// Why no question is asked. `None` if some are.
    #[must_use]
    pub fn refusal(&self) -> Option<&str> {
        match self {
            Self::Refused(reason) => Some(reason),
            Self::Unstated | Self::Table(_) => {
                Some("its folder does not say what questions are asked over: [serving.reports]")
            }
            Self::Asked { .. } => None,
        }
    }
}
