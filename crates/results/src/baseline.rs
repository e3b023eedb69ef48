//! Baselines: runs kept under a name, to compare later ones with. Only what a comparison reads is kept, the
//! manifest and the journal.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::ResultsError;
use crate::folder::{self, holds_run, read_manifest, read_records};

/// Longest name; with what is put around it, it still fits a file name everywhere.
const LONGEST: usize = 100;

/// The folder that holds the baselines of this user.
#[derive(Debug, Clone)]
pub struct Baselines {
    folder: PathBuf,
}

impl Baselines {
    /// The baselines in `folder`, which need not be there yet.
    #[must_use]
    pub fn at(folder: PathBuf) -> Self {
        Self { folder }
    }

    /// `JSONATHLON_BASELINES`, or `jsonathlon/baselines` in `XDG_DATA_HOME`, or in `.local/share` of `HOME`.
    /// `variable` looks a variable up. As the XDG base directory specification has it, an `XDG_DATA_HOME` that
    /// is not absolute is not looked at.
    ///
    /// # Errors
    /// None of the three is set.
    pub fn from_environment(variable: impl Fn(&str) -> Option<OsString>) -> Result<Self, ResultsError> {
        let set = |name: &str| variable(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        if let Some(folder) = set("JSONATHLON_BASELINES") {
            return Ok(Self { folder });
        }
        let data = set("XDG_DATA_HOME")
            .filter(|path| path.is_absolute())
            .or_else(|| set("HOME").map(|home| home.join(".local/share")));
        let folder = data.ok_or(ResultsError::NoDataFolder)?.join("jsonathlon/baselines");
        Ok(Self { folder })
    }

    /// The names of all baselines, sorted.
    #[must_use]
    pub fn names(&self) -> Vec<String> {
        let Ok(entries) = std::fs::read_dir(&self.folder) else { return Vec::new() };
        let mut names: Vec<String> = entries
            .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
            .filter(|name| is_name(name) && holds_run(&self.folder.join(name)))
            .collect();
        names.sort();
        names
    }

    /// The folder of the baseline `name`, which can be read as a run's.
    ///
    /// # Errors
    /// When `name` can be no baseline's, or there is none of it.
    pub fn find(&self, name: &str) -> Result<PathBuf, ResultsError> {
        let path = self.place(name)?;
        if holds_run(&path) {
            return Ok(path);
        }
        Err(ResultsError::NoBaseline {
            name: name.to_owned(),
            folder: self.folder.clone(),
            known: self.names(),
        })
    }

    /// Keeps the run in `run` as `name` and gives the folder that it is in then. A baseline of that name is
    /// replaced only with `replace`; whatever goes wrong, the old one is there whole or the new one is.
    ///
    /// # Errors
    /// When the run cannot be read, the name is taken or none, or the folder cannot be written to.
    pub fn save(&self, name: &str, run: &Path, replace: bool) -> Result<PathBuf, ResultsError> {
        let place = self.place(name)?;
        // What cannot be read now would be found out about when it is needed.
        read_manifest(run)?;
        read_records(run)?;
        if place.exists() && !replace {
            return Err(ResultsError::BaselineExists { name: name.to_owned(), path: place });
        }
        // A dot in front: no name of a baseline begins so.
        let beside = |what: &str| self.folder.join(format!(".{name}.{what}.{}", std::process::id()));
        let (new, old) = (beside("new"), beside("old"));
        std::fs::create_dir_all(&new).map_err(ResultsError::io("create", &new))?;
        let kept = copy(run, &new).and_then(|()| {
            if place.exists() {
                std::fs::rename(&place, &old).map_err(ResultsError::io("replace", &place))?;
            }
            std::fs::rename(&new, &place).map_err(|error| {
                std::fs::rename(&old, &place).ok();
                ResultsError::io("write", &place)(error)
            })
        });
        // Whatever is left of either is of no use to anybody.
        std::fs::remove_dir_all(&new).ok();
        if place.exists() {
            std::fs::remove_dir_all(&old).ok();
        }
        kept.map(|()| place)
    }

    fn place(&self, name: &str) -> Result<PathBuf, ResultsError> {
        if is_name(name) {
            Ok(self.folder.join(name))
        } else {
            Err(ResultsError::BaselineName { name: name.to_owned() })
        }
    }
}

/// Whether a text can be the name of a baseline: a name of one folder and nothing else.
fn is_name(text: &str) -> bool {
    text.len() <= LONGEST
        && text.starts_with(|first: char| first.is_ascii_alphanumeric())
        && text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_'))
}

fn copy(from: &Path, to: &Path) -> Result<(), ResultsError> {
    for file in [folder::MANIFEST, folder::JOURNAL] {
        let (source, target) = (from.join(file), to.join(file));
        // A run that was interrupted before its first trial has no journal.
        if source.exists() {
            std::fs::copy(&source, &target).map_err(ResultsError::io("write", target))?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn environment(set: &[(&str, &str)]) -> Result<PathBuf, ResultsError> {
        let look = |name: &str| set.iter().find(|(known, _)| *known == name).map(|(_, value)| value.into());
        Baselines::from_environment(look).map(|baselines| baselines.folder)
    }

    #[test]
    fn the_folder_follows_the_environment() {
        let home = ("HOME", "/home/me");
        assert_eq!(environment(&[("JSONATHLON_BASELINES", "here"), home]).unwrap(), PathBuf::from("here"));
        let data = ("XDG_DATA_HOME", "/data");
        assert_eq!(environment(&[data, home]).unwrap(), PathBuf::from("/data/jsonathlon/baselines"));
        let usual = PathBuf::from("/home/me/.local/share/jsonathlon/baselines");
        assert_eq!(environment(&[("XDG_DATA_HOME", "not/absolute"), home]).unwrap(), usual);
        assert_eq!(environment(&[("JSONATHLON_BASELINES", ""), home]).unwrap(), usual);
        assert!(matches!(environment(&[]), Err(ResultsError::NoDataFolder)));
    }

    #[test]
    fn names_are_names_of_one_folder() {
        for name in ["main", "v1.0", "2026-11-22_quiet", "7"] {
            assert!(is_name(name), "{name}");
        }
        let long = "x".repeat(LONGEST + 1);
        for name in ["", ".", "..", ".x", "-x", "_x", "a/b", "../a", "a b", "a\n", "é", "a|b", &long] {
            assert!(!is_name(name), "{name}");
        }
    }
}
