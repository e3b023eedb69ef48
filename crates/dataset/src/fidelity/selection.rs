//! Selection of the documents that a fidelity run tries.

use jsonathlon_schema::settings::fidelity::CorpusSelection;

use super::corpus::{Case, cases};
use super::folder::read_folder;
use super::nesting::Nesting;
use crate::digest::digest_text;
use crate::error::DataError;

/// Returns the selected cases in the order of the corpus.
///
/// # Errors
/// If the folder cannot be read (see [`read_folder`]), or [`DataError::Range`] if no case matches one of the
/// names.
pub fn selected_cases(selection: &CorpusSelection) -> Result<Vec<Case>, DataError> {
    let mut cases = match &selection.folder {
        Some(folder) => read_folder(folder)?,
        None => cases(),
    };
    if selection.only.is_empty() {
        return Ok(cases);
    }
    let has_prefix = |name: &String, case: &Case| case.name.starts_with(name.as_str());
    let is_known =
        |name: &String| cases.iter().any(|case| has_prefix(name, case)) || is_search(selection, name);
    if let Some(unknown) = selection.only.iter().find(|name| !is_known(name)) {
        let reason =
            format!("no case is called {unknown:?} or begins so; docs/fidelity.md says how cases are named");
        return Err(DataError::Range { reason });
    }
    // A full name selects only that case, even if it is a prefix of other names.
    let is_full_name = |name: &String| cases.iter().any(|case| case.name == *name);
    let (exact, prefixes): (Vec<&String>, Vec<&String>) =
        selection.only.iter().partition(|name| is_full_name(name));
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
pub fn selected_nestings(selection: &CorpusSelection) -> Vec<Nesting> {
    let CorpusSelection { folder, only } = selection;
    let is_chosen = |nesting: &Nesting| {
        only.is_empty() || only.iter().any(|name| nesting.name().starts_with(name.as_str()))
    };
    let nestings = Nesting::ALL.into_iter().filter(|_| folder.is_none());
    nestings.filter(is_chosen).collect()
}

/// Returns `true` if `name` is the name of a selected search or a prefix of one.
fn is_search(selection: &CorpusSelection, name: &str) -> bool {
    selected_nestings(selection).iter().any(|nesting| nesting.name().starts_with(name))
}

/// Returns a digest of the cases, including their names and requirements.
#[must_use]
pub fn digest(cases: &[Case]) -> String {
    let mut hasher = blake3::Hasher::new();
    for case in cases {
        for part in [case.name.as_bytes(), case.requirement.phrase().as_bytes(), &case.bytes] {
            hasher.update(&(part.len() as u64).to_le_bytes());
            hasher.update(part);
        }
    }
    digest_text(&hasher)
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    fn names(only: &[&str]) -> Vec<String> {
        let selection =
            CorpusSelection { folder: None, only: only.iter().map(|name| (*name).to_owned()).collect() };
        selected_cases(&selection).unwrap().into_iter().map(|case| case.name).collect()
    }

    #[test]
    fn cases_are_chosen_by_name_or_by_its_beginning() {
        assert_eq!(names(&[]).len(), cases().len());
        assert_eq!(names(&["key-empty"]), ["key-empty"]);
        assert!(names(&["duplicate-"]).len() > 5);
        assert_eq!(names(&["number-2-53", "key-dot"]), ["key-dot", "number-2-53"]);
        let unknown = CorpusSelection { folder: None, only: vec!["nothing-such".to_owned()] };
        assert!(selected_cases(&unknown).unwrap_err().to_string().contains("nothing-such"));
    }

    #[test]
    fn searches_are_chosen_as_cases_are() {
        let searches = |folder: Option<&str>, only: &[&str]| {
            let only = only.iter().map(|name| (*name).to_owned()).collect();
            let selection = CorpusSelection { folder: folder.map(PathBuf::from), only };
            selected_nestings(&selection).into_iter().map(Nesting::name).collect::<Vec<_>>()
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
