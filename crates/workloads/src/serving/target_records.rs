//! Records as one configuration stores them: generated ones, or a user's own documents.

use std::path::PathBuf;

use jsonathlon_catalogue::{ServingSetup, sql_text};
use jsonathlon_dataset::{
    own_records::{OwnRecords, UpdateKind},
    records::{KeyType, RecordSet},
};
use jsonathlon_loadgen::job::JobRecords;
use jsonathlon_schema::record::FailureKind;

use super::scripts::RecordPaths;
use crate::session::TrialError;

/// Records of one configuration.
#[derive(Debug)]
pub(super) enum TargetRecords {
    /// Records that follow from their numbers.
    Generated(RecordSet),
    /// A user's own documents.
    Own {
        /// Description of the documents, with the system's name for the key member.
        records: OwnRecords,
        /// File of what the system gave back after its last load. `None` before the first load.
        baseline: Option<PathBuf>,
    },
}

/// Values of one record, from which the statements of query plans are made.
struct Example {
    key: String,
    document: String,
    value: String,
    /// Whether the value is a number, which has no quotes.
    is_integer: bool,
}

impl TargetRecords {
    /// Type of the keys.
    pub(super) fn key_type(&self) -> KeyType {
        match self {
            Self::Generated(set) => set.records().key_type,
            Self::Own { records, .. } => records.key_type,
        }
    }

    /// Declaration of the key column.
    pub(super) fn key_declaration(&self, setup: &ServingSetup) -> String {
        match (self, self.key_type()) {
            (_, KeyType::Bigint) => setup.bigint_key.clone().unwrap_or_default(),
            (Self::Generated(_), KeyType::Text) => setup.text_key.clone(),
            (Self::Own { .. }, KeyType::Text) => setup.own_text_key.clone(),
        }
    }

    /// Paths of the documents, which statements name.
    pub(super) fn paths(&self) -> RecordPaths<'_> {
        match self {
            Self::Generated(set) => RecordPaths::Generated(set),
            Self::Own { records, .. } => RecordPaths::Own(records),
        }
    }

    /// Description of the records for clients.
    ///
    /// # Errors
    /// If what the system gave back after its load is not known.
    pub(super) fn for_job(&self) -> Result<JobRecords, TrialError> {
        match self {
            Self::Generated(set) => Ok(JobRecords::Generated(set.records().clone())),
            Self::Own { records, baseline } => match baseline {
                Some(baseline) => {
                    Ok(JobRecords::Own { records: Box::new(records.clone()), baseline: baseline.clone() })
                }
                None => Err(TrialError::failed(
                    FailureKind::Environment,
                    "the documents were not read back after the load",
                )),
            },
        }
    }

    /// Example values for reading a query plan, written as literals; `is_json` says that statements are JSON
    /// instead of SQL text.
    pub(super) fn examples(
        &self,
        setup: &ServingSetup,
        is_json: bool,
    ) -> Result<Vec<(String, String)>, TrialError> {
        let Example { key, document, value, is_integer } = self.example()?;
        // In JSON statements, text is already quoted.
        let literal = |text: &str| match is_json {
            true => json_text(text),
            false => format!("'{}'", sql_text(text)),
        };
        let key = match self.key_type() {
            KeyType::Text => literal(&key),
            KeyType::Bigint => key,
        };
        let value = if is_integer { value } else { literal(&value) };
        let document = if is_json { document } else { literal(&document) };
        Ok(Vec::from([
            ("key_type".to_owned(), self.key_declaration(setup)),
            ("key".to_owned(), key),
            ("document".to_owned(), document.clone()),
            ("keyed_document".to_owned(), document),
            ("value".to_owned(), value.clone()),
            ("old".to_owned(), value.clone()),
            ("condition".to_owned(), value),
            ("limit".to_owned(), "10".to_owned()),
        ]))
    }

    fn example(&self) -> Result<Example, TrialError> {
        match self {
            Self::Generated(set) => {
                let (mut key, mut document, mut value) = (Vec::new(), Vec::new(), Vec::new());
                set.key(0, &mut key);
                set.document(0, 0, &mut document);
                set.value(0, set.group_path(), 0, &mut value);
                let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
                Ok(Example {
                    key: text(&key),
                    document: text(&document),
                    value: text(&value),
                    is_integer: false,
                })
            }
            Self::Own { records, .. } => {
                let example = records
                    .example()
                    .map_err(|error| TrialError::failed(FailureKind::Environment, error.to_string()))?;
                // A plan does not depend on the characters, and a backslash is an escape in some literals.
                let plain = |text: String| text.replace('\\', "/");
                let is_integer =
                    records.update.as_ref().is_some_and(|update| update.kind == UpdateKind::Integer);
                // Never a value of the data: it may be of another type, and would stand there without quotes.
                let value = if is_integer { "1".to_owned() } else { plain(example.value) };
                Ok(Example { key: plain(example.key), document: example.document, value, is_integer })
            }
        }
    }
}

/// Escapes text for use between the quotes of a JSON string.
fn json_text(text: &str) -> String {
    let quoted = serde_json::Value::from(text).to_string();
    quoted.get(1..quoted.len() - 1).unwrap_or_default().to_owned()
}
