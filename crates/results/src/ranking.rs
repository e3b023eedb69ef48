//! Which configurations may stand in one ranking: those of one preparation class, one memory profile and one set of
//! further rules.

use serde::{Deserialize, Serialize};

use crate::manifest::Configuration;

/// The word for a class or profile that a run does not state, as those of version 0.1.0 do not.
const NOT_STATED: &str = "not stated";

/// What a system was told about the documents before they came.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Preparation {
    /// Nothing: one JSON column, collection or index, and no index, hint, sort key or column on any path.
    AsIs,
    /// The paths of the questions: an index, type hints or a sort key. Documents stay whole, and questions name paths.
    Prepared,
    /// The paths of the questions are columns beside the document, and questions name the columns.
    Extracted,
}

impl Preparation {
    /// All classes, in the order in which they are shown.
    pub const ALL: [Self; 3] = [Self::AsIs, Self::Prepared, Self::Extracted];

    /// The word used in files and tables.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::AsIs => "as-is",
            Self::Prepared => "prepared",
            Self::Extracted => "extracted",
        }
    }
}

/// How a system's memory was set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Profile {
    /// Every system had the same budget, spent as its makers advise.
    Sized,
    /// As the package sets it.
    Stock,
}

impl Profile {
    /// The word used in files and tables.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Sized => "sized",
            Self::Stock => "stock",
        }
    }

    /// The profile of this word.
    #[must_use]
    pub fn of_word(word: &str) -> Option<Self> {
        [Self::Sized, Self::Stock].into_iter().find(|profile| profile.word() == word)
    }
}

/// One memory setting of a configuration.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MemorySetting {
    /// What it is called.
    pub name: String,
    /// Its value.
    pub value: String,
    /// What the package does by itself.
    pub stock: String,
    /// Where the makers advise it.
    pub source: String,
}

/// Orders rankings for tables: as-is, prepared, extracted, not stated; the usual profile first; plain rules first.
type Place = (usize, usize, String);

impl Configuration {
    /// The ranking that it stands in, for people: `prepared`, `as-is, stock`, `prepared, approximate`. Two
    /// configurations may be ranked together where this is the same text and both are ranked at all.
    #[must_use]
    pub fn ranking(&self) -> String {
        let class = self.preparation.map_or(NOT_STATED, Preparation::word);
        let mut words = vec![class.to_owned()];
        match (self.preparation, self.profile) {
            (_, Some(Profile::Sized)) | (None, None) => {}
            (_, Some(Profile::Stock)) => words.push("stock".to_owned()),
            // A server by address has the memory that its owner gave it.
            (Some(_), None) => words.push("memory not stated".to_owned()),
        }
        if !self.ranks_with.is_empty() {
            words.push(self.ranks_with.clone());
        }
        if !self.ranked {
            words.push("not ranked".to_owned());
        }
        words.join(", ")
    }

    /// Where its ranking stands among others in tables.
    #[must_use]
    pub fn ranking_place(&self) -> Place {
        let class = self.preparation.map_or(3, |class| class as usize);
        let profile = self.profile.map_or(2, |profile| profile as usize);
        (class, profile, format!("{}{}", if self.ranked { "" } else { "~" }, self.ranks_with))
    }

    /// Whether it may be held against others at all: no reference row, and not kept out of rankings.
    #[must_use]
    pub fn is_ranked(&self) -> bool {
        self.ranked && !self.reference
    }
}
