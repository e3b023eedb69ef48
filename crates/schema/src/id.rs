//! Identity of what a value belongs to: configuration, workload step and data state.
//!
//! Each has its own type here and is serialised flat or as a plain word, so that the file format does not
//! change.

use serde::{Deserialize, Serialize};

use crate::ranking::MemoryProfile;

/// Identity of a configuration: system, version, variant and storage setting, without the memory profile.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct ConfigurationId {
    /// Name of the system's folder, or of a reference row.
    pub system: String,
    /// Version of the system.
    pub version: String,
    /// Name of the variant: how the system's folder sets it up.
    pub variant: String,
    /// Name of the storage setting. Empty if the system has none.
    pub storage: String,
}

impl ConfigurationId {
    /// Makes an identity from its four parts.
    #[must_use]
    pub fn new(system: &str, version: &str, variant: &str, storage: &str) -> Self {
        Self {
            system: system.to_owned(),
            version: version.to_owned(),
            variant: variant.to_owned(),
            storage: storage.to_owned(),
        }
    }

    /// File name that no other configuration of the run has. Only the profile `stock` is part of it, because
    /// `sized` is the default.
    #[must_use]
    pub fn file_name(&self, profile: Option<MemoryProfile>) -> String {
        let Self { system, version, variant, storage } = self;
        let stock = if profile == Some(MemoryProfile::Stock) { "-stock" } else { "" };
        format!("{system}@{version}-{variant}-{storage}{stock}")
    }

    /// Returns `true` if everything except the version is equal, so that configurations of two runs can be
    /// matched.
    #[must_use]
    pub fn same_except_version(&self, other: &Self) -> bool {
        (&self.system, &self.variant, &self.storage) == (&other.system, &other.variant, &other.storage)
    }
}

impl std::fmt::Display for ConfigurationId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { system, version, variant, storage } = self;
        write!(f, "{system} {version} {variant} {storage}")
    }
}

/// Step of a workload: what a cell is about.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(as = "String"))]
#[serde(from = "String", into = "String")]
pub enum Step {
    /// Loading of the documents.
    Load,
    /// Size of the loaded data on disk.
    Size,
    /// Comparison of documents read back with those loaded.
    Structure,
    /// CPU and memory kernels that show how fast the machine is; see `jsonathlon_results::control`.
    Control,
    /// Step specific to the workload, such as a question or a mix.
    Workload(String),
}

impl Step {
    /// Word for the step in files and tables.
    #[must_use]
    pub fn word(&self) -> &str {
        match self {
            Self::Load => "load",
            Self::Size => "size",
            Self::Structure => "structure",
            Self::Control => "control",
            Self::Workload(name) => name,
        }
    }

    /// Returns `true` for a step that is specific to the workload, not one of those that all workloads share.
    #[must_use]
    pub fn is_workload_step(&self) -> bool {
        matches!(self, Self::Workload(_))
    }
}

impl From<String> for Step {
    fn from(word: String) -> Self {
        [Self::Load, Self::Size, Self::Structure, Self::Control]
            .into_iter()
            .find(|known| known.word() == word)
            .unwrap_or(Self::Workload(word))
    }
}

impl From<&str> for Step {
    fn from(word: &str) -> Self {
        word.to_owned().into()
    }
}

impl From<Step> for String {
    fn from(step: Step) -> Self {
        match step {
            Step::Workload(name) => name,
            shared => shared.word().to_owned(),
        }
    }
}

impl std::fmt::Display for Step {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.word())
    }
}

/// What happened to the data between load and trials. Results of different data states are never combined.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum DataState {
    /// Background work has ended by itself.
    Drained,
    /// The system was told to compact its data.
    Compacted,
}

impl DataState {
    /// Both states, in the only order in which they can be reached.
    pub const ALL: [Self; 2] = [Self::Drained, Self::Compacted];

    /// Word for the state in files and tables.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Drained => "drained",
            Self::Compacted => "compacted",
        }
    }

    /// Finds the state with this word. `None` if the word is unknown.
    #[must_use]
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.word() == word)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_written_as_their_words() {
        for word in ["load", "size", "structure", "control", "q1", "update"] {
            let step: Step = serde_json::from_value(word.into()).unwrap();
            assert_eq!(serde_json::to_value(&step).unwrap(), word);
            assert_eq!(step.is_workload_step(), matches!(word, "q1" | "update"));
        }
    }

    #[test]
    fn an_identity_is_a_file_name() {
        let id = ConfigurationId::new("duckdb", "2.0.0", "sorted", "default");
        assert_eq!(id.file_name(Some(MemoryProfile::Sized)), "duckdb@2.0.0-sorted-default");
        assert_eq!(id.file_name(Some(MemoryProfile::Stock)), "duckdb@2.0.0-sorted-default-stock");
        assert_eq!(id.to_string(), "duckdb 2.0.0 sorted default");
    }
}
