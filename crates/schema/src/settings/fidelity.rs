//! Settings of a fidelity run: the selection of its documents, and their description for reports.

use std::fmt;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// Settings that only the fidelity workload has.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FidelitySettings {
    /// Selection of the documents that are tried.
    pub corpus: CorpusSelection,
    /// Description of the selected documents, in the order of the corpus.
    pub cases: Vec<KnownCase>,
}

/// A corpus, and the cases selected from it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CorpusSelection {
    /// Folder with the user's documents. `None` for the built-in corpus.
    pub folder: Option<PathBuf>,
    /// Names of cases, or prefixes of names. Empty to select all cases.
    pub only: Vec<String>,
}

impl fmt::Display for CorpusSelection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.folder {
            Some(folder) => write!(f, "the documents of {}", folder.display())?,
            None => write!(f, "documents made from RFC 8259, 7493 and 8785")?,
        }
        if self.only.is_empty() { Ok(()) } else { write!(f, ": {}", self.only.join(", ")) }
    }
}

/// Requirement of the RFC for a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum RfcRequirement {
    /// The system must accept the document.
    Accept,
    /// The system must reject the document.
    Reject,
    /// The implementation may accept or reject the document.
    Choose,
}

impl RfcRequirement {
    /// Returns the phrase used in tables and digests.
    #[must_use]
    pub fn phrase(self) -> &'static str {
        match self {
            Self::Accept => "must be accepted",
            Self::Reject => "must be rejected",
            Self::Choose => "implementation’s choice",
        }
    }
}

/// Description of a case for reports.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct KnownCase {
    /// Name of the case, the step of its cells.
    pub name: String,
    /// What the RFC requires: accept, reject, or a free choice.
    pub requirement: RfcRequirement,
    /// Reference to the requirement, e.g. a section of the RFC.
    pub source: String,
    /// Property that the case tests, in words.
    pub probes: String,
    /// Whether the case counts for the decision if a system is I-JSON-safe.
    pub decides_i_json: bool,
    /// Size of the document in bytes.
    pub bytes: u64,
    /// The document in printable form; the middle of a long one is omitted.
    pub document: String,
}
