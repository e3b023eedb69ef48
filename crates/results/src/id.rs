//! What a figure is of: the identity of a configuration, the step of a workload, the state of the data.
//!
//! Each is one type here and is written flat, or as a plain word, so that files stay what they were.

use serde::{Deserialize, Serialize};

use crate::ranking::Profile;

/// A configuration under test: a system in a version, a variant and a storage setting.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Id {
    /// Name of the system's folder, or of a reference row.
    pub system: String,
    /// Version of the system; empty in summaries that are older than this field.
    #[serde(default)]
    pub version: String,
    /// Variant of its configuration.
    pub variant: String,
    /// Storage setting; empty for what has none.
    #[serde(default)]
    pub storage: String,
}

impl Id {
    /// Of these four.
    #[must_use]
    pub fn new(system: &str, version: &str, variant: &str, storage: &str) -> Self {
        Self {
            system: system.to_owned(),
            version: version.to_owned(),
            variant: variant.to_owned(),
            storage: storage.to_owned(),
        }
    }

    /// A name that is a file name and is shared by no other configuration of a run. The usual profile is not named.
    #[must_use]
    pub fn file_name(&self, profile: Option<Profile>) -> String {
        let Self { system, version, variant, storage } = self;
        let stock = if profile == Some(Profile::Stock) { "-stock" } else { "" };
        format!("{system}@{version}-{variant}-{storage}{stock}")
    }

    /// The same but for the version: what a configuration of another run is matched by.
    #[must_use]
    pub fn is_alike(&self, other: &Self) -> bool {
        (&self.system, &self.variant, &self.storage) == (&other.system, &other.variant, &other.storage)
    }
}

impl std::fmt::Display for Id {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { system, version, variant, storage } = self;
        write!(f, "{system} {version} {variant} {storage}")
    }
}

/// A step of a workload.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub enum Step {
    /// Documents going in.
    Load,
    /// What they take once they are in.
    Size,
    /// Documents read back.
    Structure,
    /// The kernels that tell how fast the machine is.
    Control,
    /// One of the workload's own: a question, a mix of operations.
    Own(String),
}

impl Step {
    /// The word used in files and tables.
    #[must_use]
    pub fn word(&self) -> &str {
        match self {
            Self::Load => "load",
            Self::Size => "size",
            Self::Structure => "structure",
            Self::Control => "control",
            Self::Own(name) => name,
        }
    }

    /// Whether it is one of the workload's own and none of those that all workloads share.
    #[must_use]
    pub fn is_own(&self) -> bool {
        matches!(self, Self::Own(_))
    }
}

impl From<String> for Step {
    fn from(word: String) -> Self {
        [Self::Load, Self::Size, Self::Structure, Self::Control]
            .into_iter()
            .find(|known| known.word() == word)
            .unwrap_or(Self::Own(word))
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
            Step::Own(name) => name,
            shared => shared.word().to_owned(),
        }
    }
}

impl std::fmt::Display for Step {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.word())
    }
}

/// A condition of the data that figures are taken in and never mixed between.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// Background work has ended by itself.
    Drained,
    /// The system was told to put its data in its best order.
    Compacted,
}

impl State {
    /// Both, in the only order in which they can be reached.
    pub const ALL: [Self; 2] = [Self::Drained, Self::Compacted];

    /// The word used in files and tables.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Drained => "drained",
            Self::Compacted => "compacted",
        }
    }

    /// The state of this word.
    #[must_use]
    pub fn of_word(word: &str) -> Option<Self> {
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
            assert_eq!(step.is_own(), matches!(word, "q1" | "update"));
        }
    }

    #[test]
    fn an_identity_is_a_file_name() {
        let id = Id::new("duckdb", "2.0.0", "sorted", "default");
        assert_eq!(id.file_name(Some(Profile::Sized)), "duckdb@2.0.0-sorted-default");
        assert_eq!(id.file_name(Some(Profile::Stock)), "duckdb@2.0.0-sorted-default-stock");
        assert_eq!(id.to_string(), "duckdb 2.0.0 sorted default");
    }
}
