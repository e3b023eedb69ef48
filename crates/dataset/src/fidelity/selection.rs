//! Selection of the documents that a fidelity run tries.

use std::fmt;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::corpus::{Case, cases};
use super::folder::read_folder;
use super::nesting::Nesting;
use crate::digest::digest_text;
use crate::error::DataError;

/// A corpus, and the cases selected from it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CorpusSelection {
    /// Folder with the user's documents. `None` for the built-in corpus.
    pub folder: Option<PathBuf>,
    /// Names of cases, or prefixes of names. Empty to select all cases.
    #[serde(default)]
    pub only: Vec<String>,
}

impl CorpusSelection {
    /// Returns the selected cases in the order of the corpus.
    ///
    /// # Errors
    /// If the folder cannot be read (see [`read_folder`]), or [`DataError::Range`] if no case matches one of
    /// the names.
    pub fn cases(&self) -> Result<Vec<Case>, DataError> {
        let mut cases = match &self.folder {
            Some(folder) => read_folder(folder)?,
            None => cases(),
        };
        if self.only.is_empty() {
            return Ok(cases);
        }
        let has_prefix = |name: &String, case: &Case| case.name.starts_with(name.as_str());
        let is_known =
            |name: &String| cases.iter().any(|case| has_prefix(name, case)) || self.is_search(name);
        if let Some(unknown) = self.only.iter().find(|name| !is_known(name)) {
            let reason = format!(
                "no case is called {unknown:?} or begins so; docs/fidelity.md says how cases are named"
            );
            return Err(DataError::Range { reason });
        }
        // A full name selects only that case, even if it is a prefix of other names.
        let is_full_name = |name: &String| cases.iter().any(|case| case.name == *name);
        let (exact, prefixes): (Vec<&String>, Vec<&String>) =
            self.only.iter().partition(|name| is_full_name(name));
        let is_chosen =
            |case: &Case| exact.contains(&&case.name) || prefixes.iter().any(|name| has_prefix(name, case));
        let flags: Vec<bool> = cases.iter().map(is_chosen).collect();
        let mut flags = flags.into_iter();
        cases.retain(|_| flags.next().unwrap_or(false));
        Ok(cases)
    }

    /// Returns the selected searches for the deepest accepted document. They are selected by name like cases.
    /// Empty if the documents come from a user's folder.
    #[must_use]
    pub fn nestings(&self) -> Vec<Nesting> {
        let is_chosen = |nesting: &Nesting| {
            self.only.is_empty() || self.only.iter().any(|name| nesting.name().starts_with(name.as_str()))
        };
        let nestings = Nesting::ALL.into_iter().filter(|_| self.folder.is_none());
        nestings.filter(is_chosen).collect()
    }

    /// Returns `true` if `name` is the name of a selected search or a prefix of one.
    fn is_search(&self, name: &str) -> bool {
        self.nestings().iter().any(|nesting| nesting.name().starts_with(name))
    }
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

/// Returns a digest of the cases, including their names and requirements.
#[must_use]
pub fn digest(cases: &[Case]) -> String {
    let mut hasher = blake3::Hasher::new();
    for case in cases {
        for part in [case.name.as_bytes(), case.must.words().as_bytes(), &case.bytes] {
            hasher.update(&(part.len() as u64).to_le_bytes());
            hasher.update(part);
        }
    }
    digest_text(&hasher)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(only: &[&str]) -> Vec<String> {
        let selection =
            CorpusSelection { folder: None, only: only.iter().map(|name| (*name).to_owned()).collect() };
        selection.cases().unwrap().into_iter().map(|case| case.name).collect()
    }

    #[test]
    fn cases_are_chosen_by_name_or_by_its_beginning() {
        assert_eq!(names(&[]).len(), cases().len());
        assert_eq!(names(&["key-empty"]), ["key-empty"]);
        assert!(names(&["duplicate-"]).len() > 5);
        assert_eq!(names(&["number-2-53", "key-dot"]), ["key-dot", "number-2-53"]);
        let unknown = CorpusSelection { folder: None, only: vec!["nothing-such".to_owned()] };
        assert!(unknown.cases().unwrap_err().to_string().contains("nothing-such"));
    }

    #[test]
    fn searches_are_chosen_as_cases_are() {
        let searches = |folder: Option<&str>, only: &[&str]| {
            let only = only.iter().map(|name| (*name).to_owned()).collect();
            let selection = CorpusSelection { folder: folder.map(PathBuf::from), only };
            selection.nestings().into_iter().map(Nesting::name).collect::<Vec<_>>()
        };
        assert_eq!(searches(None, &[]), ["deepest-arrays", "deepest-objects"]);
        assert_eq!(searches(None, &["deepest-", "key-empty"]), ["deepest-arrays", "deepest-objects"]);
        assert_eq!(searches(None, &["deepest-objects"]), ["deepest-objects"]);
        assert_eq!(searches(None, &["key-empty"]), [""; 0]);
        assert_eq!(searches(Some("mine"), &[]), [""; 0]);
        assert!(names(&["deepest-arrays"]).is_empty(), "which is no case");
    }

    #[test]
    fn a_digest_knows_every_byte() {
        let original = cases();
        let mut changed = original.clone();
        if let Some(case) = changed.last_mut() {
            case.bytes.push(b' ');
        }
        assert_eq!(digest(&original), digest(&cases()));
        assert_ne!(digest(&original), digest(&changed));
    }
}
