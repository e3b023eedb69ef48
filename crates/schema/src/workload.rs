//! The workloads, and their names in journals, manifests and system folders.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A workload of this version of the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum WorkloadKind {
    /// Six questions over all documents: the JSON challenge.
    Analytics,
    /// Operations on records by their key: YCSB over JSON documents.
    Serving,
    /// Questions while documents come in: writers beside streams of questions.
    Mixed,
    /// Import, export, copy and index of large documents.
    Documents,
    /// A user's own questions over their own documents.
    Questions,
    /// What a system changes of a document.
    Fidelity,
    /// What a system loses in a crash.
    Durability,
}

impl WorkloadKind {
    /// All workloads, in the order in which they are listed.
    pub const ALL: [Self; 7] = [
        Self::Analytics,
        Self::Serving,
        Self::Mixed,
        Self::Documents,
        Self::Questions,
        Self::Fidelity,
        Self::Durability,
    ];

    /// Returns the name in journals, in manifests, in system folders and on the command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Analytics => "analytics",
            Self::Serving => "serving",
            Self::Mixed => "mixed",
            Self::Documents => "documents",
            Self::Questions => "questions",
            Self::Fidelity => "fidelity",
            Self::Durability => "durability",
        }
    }
}

impl fmt::Display for WorkloadKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Name of a workload in a run, which another version of the program may have made.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(as = "String"))]
#[serde(from = "String", into = "String")]
pub enum WorkloadName {
    /// A workload of this version.
    Known(WorkloadKind),
    /// Name of a workload that this version does not know.
    Other(String),
}

impl WorkloadName {
    /// Returns the name as it is written.
    #[must_use]
    pub fn as_str(&self) -> &str {
        match self {
            Self::Known(kind) => kind.name(),
            Self::Other(name) => name,
        }
    }
}

impl From<WorkloadKind> for WorkloadName {
    fn from(kind: WorkloadKind) -> Self {
        Self::Known(kind)
    }
}

impl From<String> for WorkloadName {
    fn from(name: String) -> Self {
        match WorkloadKind::ALL.into_iter().find(|kind| kind.name() == name) {
            Some(kind) => Self::Known(kind),
            None => Self::Other(name),
        }
    }
}

impl From<&str> for WorkloadName {
    fn from(name: &str) -> Self {
        Self::from(name.to_owned())
    }
}

impl From<WorkloadName> for String {
    fn from(name: WorkloadName) -> Self {
        match name {
            WorkloadName::Known(kind) => kind.name().to_owned(),
            WorkloadName::Other(name) => name,
        }
    }
}

impl PartialEq<WorkloadKind> for WorkloadName {
    fn eq(&self, kind: &WorkloadKind) -> bool {
        matches!(self, Self::Known(known) if known == kind)
    }
}

impl fmt::Display for WorkloadName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_written_as_it_was_read() {
        for kind in WorkloadKind::ALL {
            assert_eq!(WorkloadName::from(kind.name()), kind);
        }
        let other = WorkloadName::from("fetch");
        assert_eq!((other.as_str(), String::from(other.clone())), ("fetch", "fetch".to_owned()));
        assert!(WorkloadKind::ALL.into_iter().all(|kind| other != kind));
    }
}
