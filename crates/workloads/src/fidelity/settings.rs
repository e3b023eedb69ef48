//! What the user can set about a run of fidelity, and what the manifest keeps of its cases.

use jsonathlon_dataset::fidelity::{Case, Choice, Must, shown};
use serde::{Deserialize, Serialize};

/// Characters of a document that the manifest keeps for reports.
const SHOWN: usize = 400;

/// Settings of this workload alone.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FidelitySettings {
    /// Which documents are tried.
    pub corpus: Choice,
}

/// A case as reports know it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct KnownCase {
    /// Its name, which is the step of its cells.
    pub name: String,
    /// What the RFC says.
    pub must: Must,
    /// Where it says so.
    pub source: String,
    /// What it probes.
    pub probes: String,
    /// Whether it decides if a system is I-JSON-safe.
    pub decides: bool,
    /// Bytes.
    pub bytes: u64,
    /// The document, made fit to be read, the middle of a long one left out.
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
