//! Reads the values of a study's file, and names the line of what is wrong in it.

use std::collections::BTreeMap;

use serde::Deserialize;
use toml::Spanned;

use crate::workload::StudyWorkload;

/// Why a study cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum StudyError {
    /// The operating system cannot read the file.
    #[error("cannot read {file}: {why}")]
    Unreadable {
        /// Path of the file as given.
        file: String,
        /// Message of the operating system, or of the UTF-8 check.
        why: String,
    },
    /// A line of the file has invalid syntax, an unknown name or an invalid value.
    #[error("{file}:{line}: {message}")]
    Invalid {
        /// Path or name of the file as given to [`Study::parse`].
        file: String,
        /// Line number in the file, from 1.
        line: usize,
        /// The problem and, where there is a closed set, the allowed values.
        message: String,
    },
}

/// Option value in any of the TOML types that a study file may use.
#[derive(Debug, Clone, Deserialize)]
#[serde(untagged)]
pub(crate) enum OptionValue {
    Bool(bool),
    Whole(i64),
    Number(f64),
    Text(String),
}

impl OptionValue {
    pub(crate) fn text(self) -> String {
        match self {
            Self::Bool(value) => value.to_string(),
            Self::Whole(value) => value.to_string(),
            Self::Number(value) => value.to_string(),
            Self::Text(value) => value,
        }
    }
}

/// Options by name, each with its place in the file.
pub(crate) type OptionTable = BTreeMap<Spanned<String>, Spanned<OptionValue>>;

/// Reads one file and converts byte offsets to line numbers for errors.
pub(crate) struct Reader<'a> {
    pub(crate) file: &'a str,
    pub(crate) text: &'a str,
    /// Workload of the study, whose options are allowed. The default until the file was parsed.
    pub(crate) workload: StudyWorkload,
}

impl Reader<'_> {
    pub(crate) fn line(&self, offset: usize) -> usize {
        1 + self.text.bytes().take(offset).filter(|byte| *byte == b'\n').count()
    }

    pub(crate) fn error(&self, offset: usize, message: impl Into<String>) -> StudyError {
        StudyError::Invalid { file: self.file.to_owned(), line: self.line(offset), message: message.into() }
    }

    /// Converts options to text by name and stores the line of each in `lines`.
    pub(crate) fn options(
        &self,
        written: OptionTable,
        lines: &mut BTreeMap<String, usize>,
    ) -> Result<BTreeMap<String, String>, StudyError> {
        let mut options = BTreeMap::new();
        for (name, value) in written {
            let offset = name.span().start;
            let name = name.into_inner();
            self.check_option(offset, &name)?;
            lines.insert(name.clone(), self.line(offset));
            options.insert(name, value.into_inner().text());
        }
        Ok(options)
    }

    pub(crate) fn check_option(&self, offset: usize, option: &str) -> Result<(), StudyError> {
        let allowed = self.workload.options();
        if allowed.contains(&option) {
            return Ok(());
        }
        Err(self.error(offset, format!("unknown option `{option}`; allowed: {}", allowed.join(", "))))
    }
}
