//! What a user needs of a system, as a needs file states it.

mod need;

use std::path::PathBuf;

pub use need::{Criterion, Need, Quantile, RoundTripLevel, SizeAt, WantedKind};

/// Everything that a needs file states. Without a file, [`NeedsFile::default`]: no load, no reports, no needs.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct NeedsFile {
    /// Which documents there are, and how many there will be.
    pub documents: DocumentsSection,
    /// Operations on single documents. `None` if the file has no such section.
    pub load: Option<LoadSection>,
    /// The user's own questions. `None` if the file has no such section.
    pub reports: Option<ReportsSection>,
    /// Needs in the order of [`Dimension::ALL`](crate::Dimension::ALL), at most one for each. A rate of
    /// `load` is among them.
    pub needs: Vec<Need>,
    /// Criteria among systems that meet all needs, the first one first. Empty if the file states none.
    pub prefer: Vec<Criterion>,
}

/// Section `[documents]`: numbers of documents and their key.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DocumentsSection {
    /// Number of documents of today. `None` if it is that of the user's data.
    pub now: Option<u64>,
    /// Number of documents expected later. `None` if not stated.
    pub later: Option<u64>,
    /// JSON pointer of the key, or `line` for the number of a document. `None` if it is to be proposed.
    pub key: Option<String>,
}

/// Section `[load]`: what clients do. The four shares add up to 1.
#[derive(Debug, Clone, PartialEq)]
pub struct LoadSection {
    /// Share of operations that read a document by its key.
    pub reads: f64,
    /// Share of operations that set a value of a document.
    pub updates: f64,
    /// Share of operations that insert a document.
    pub inserts: f64,
    /// Share of operations that read several documents in the order of their keys.
    pub scans: f64,
    /// JSON pointer of the value that updates set. `None` if it is to be proposed.
    pub update: Option<String>,
    /// Number of clients, at least 1.
    pub clients: u32,
    /// Operations per second that must be held. `None` if the rate is derived from what systems reach.
    pub rate: Option<f64>,
}

/// Section `[reports]`: questions over all documents.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReportsSection {
    /// Folder of the questions, as written in the file.
    pub questions: PathBuf,
    /// Number of streams that ask questions at the same time, at least 1.
    pub streams: u32,
}

/// Why a needs file cannot be used: where, and what is wrong in one sentence.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{file}:{line}: {message}")]
pub struct NeedsError {
    /// Name of the file as given to [`NeedsFile::parse`].
    pub file: String,
    /// Line in the file, from 1.
    pub line: usize,
    /// The problem in one sentence, without a full stop.
    pub message: String,
}

impl NeedsFile {
    /// Parses the text of a needs file; errors name it `file`.
    ///
    /// # Errors
    /// [`NeedsError`] if the syntax, a key, a unit or a value is invalid, or if two of them contradict each
    /// other.
    pub fn parse(text: &str, file: &str) -> Result<Self, NeedsError> {
        let table: toml::Table = toml::from_str(text).map_err(|error: toml::de::Error| NeedsError {
            file: file.to_owned(),
            line: 1 + error
                .span()
                .map_or(0, |span| text.bytes().take(span.start).filter(|byte| *byte == b'\n').count()),
            message: error.message().to_owned(),
        })?;
        match table.keys().next() {
            None => Ok(Self::default()),
            Some(key) => {
                Err(NeedsError { file: file.to_owned(), line: 1, message: format!("unknown key `{key}`") })
            }
        }
    }

    /// Need of a dimension. `None` if the file states none.
    #[must_use]
    pub fn need(&self, dimension: crate::Dimension) -> Option<&Need> {
        self.needs.iter().find(|need| need.dimension() == dimension)
    }
}

/// What is known of the user's documents before anything is measured, for [`template`].
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DocumentsOverview {
    /// Where the documents are, as the user named it.
    pub source: String,
    /// Number of documents.
    pub documents: u64,
    /// Size of the documents in bytes as newline-delimited JSON.
    pub bytes: u64,
    /// Proposed key (a JSON pointer, or `line`), and why, as part of a sentence.
    pub key: Option<(String, String)>,
    /// Proposed path of updates, and why.
    pub update: Option<(String, String)>,
}

/// Text of a needs file for these documents, with every line explained. [`NeedsFile::parse`] reads it.
#[must_use]
pub fn template(documents: &DocumentsOverview) -> String {
    format!("# Needs of {} documents in {}.\n", documents.documents, documents.source)
}
