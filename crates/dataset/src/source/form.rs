//! Forms in which a file holds JSON documents, and how a file is to be read.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Arrangement of JSON documents in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Form {
    /// Newline-delimited JSON: one document on each line.
    Lines,
    /// One array, or several one after the other. Each element is a document.
    Array,
    /// Documents one after the other, pretty-printed or without anything between them.
    Stream,
    /// One document in the whole file, on any number of lines.
    File,
}

impl Form {
    /// All forms, in the order in which they are listed.
    pub const ALL: [Form; 4] = [Form::Lines, Form::Array, Form::Stream, Form::File];

    /// Name of the form on the command line and in messages.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Form::Lines => "lines",
            Form::Array => "array",
            Form::Stream => "stream",
            Form::File => "file",
        }
    }
}

impl fmt::Display for Form {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.as_str())
    }
}

/// How the files of a source are read, as far as their first bytes do not decide it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct InputOptions {
    /// Form of every file. `None` if it is found from the first bytes of each.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub form: Option<Form>,
    /// Whether bulk files are read without their action lines. Otherwise a bulk file is an error, because its
    /// action lines would be counted as documents.
    pub skip_bulk_actions: bool,
}
