//! User settings of a fidelity run, and the description of its cases in the manifest.

use jsonathlon_dataset::fidelity::{Case, CorpusSelection, RfcRequirement, shown};
use serde::{Deserialize, Serialize};

/// Maximum number of bytes of a document that the manifest keeps for reports.
const SHOWN: usize = 400;

/// Settings that only this workload has.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FidelitySettings {
    /// Selection of the documents that are tried.
    pub corpus: CorpusSelection,
}

/// Description of a case for reports.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct KnownCase {
    /// Name of the case, the step of its cells.
    pub name: String,
    /// What the RFC requires: accept, reject, or a free choice.
    pub must: RfcRequirement,
    /// Reference to the requirement, e.g. a section of the RFC.
    pub source: String,
    /// Property that the case tests, in words.
    pub probes: String,
    /// Whether the case counts for the decision if a system is I-JSON-safe.
    pub decides: bool,
    /// Size of the document in bytes.
    pub bytes: u64,
    /// The document in printable form; the middle of a long one is omitted.
    pub document: String,
}

impl KnownCase {
    pub(super) fn of(case: &Case) -> Self {
        Self {
            name: case.name.clone(),
            must: case.must,
            source: case.source.clone(),
            probes: case.probes.clone(),
            decides: case.decides(),
            bytes: case.bytes.len() as u64,
            document: shown(&case.bytes, SHOWN),
        }
    }
}
