//! Settings saved in a study's folder, so that an interrupted study can be resumed.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use jsonathlon_results::ResultsError;
use jsonathlon_results::folder::write_atomic;
use jsonathlon_schema::workload::WorkloadKind;
use jsonathlon_studies::definition::Study;
use jsonathlon_studies::runs::StudySelection;
use rustix::thread::{CpuSet, sched_getaffinity};
use serde::{Deserialize, Serialize};

use super::super::{mixed, run_request::DEFAULT_VARIANTS};
use crate::cli::study::StudyArguments;
use crate::exit::Failure;

/// File with a copy of the study's definition.
const STUDY: &str = "study.toml";
/// File with the user's choices and the CPUs of the machine.
const CHOICE: &str = "study.json";
/// Format version of [`CHOICE`]; a file of any other version is refused.
const SCHEMA: u32 = 2;

/// The user's choices for a study and the CPUs of the machine: the content of [`CHOICE`].
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct SavedStudy {
    schema: u32,
    /// Name of the study; empty before [`SavedStudy::write`].
    name: String,
    /// Systems in place of the study's own, separated by commas. `None` if the study's own are used.
    pub(super) systems: Option<String>,
    pub(super) full: bool,
    /// Options and values in place of the study's own (`--set`).
    pub(super) set: BTreeMap<String, String>,
    /// Variants that are measured of every system if the study lists none, as `--variants` takes them. A study goes on
    /// with those that it began with, whatever a plain run measures meanwhile.
    #[serde(default = "first_default")]
    pub(super) variants: String,
    /// CPUs that the program was allowed to use when the study began.
    pub(super) cpus: Vec<usize>,
    /// Folders with more system folders (`--systems-dir`), as absolute paths.
    pub(super) systems_dir: Vec<PathBuf>,
}

impl SavedStudy {
    /// Choices from the command line for a study, with the CPUs of this machine.
    pub(super) fn from_arguments(arguments: &StudyArguments, study: &Study) -> Self {
        let absolute = |path: &PathBuf| std::path::absolute(path).unwrap_or_else(|_| path.clone());
        Self {
            schema: SCHEMA,
            name: String::new(),
            systems: arguments.systems.clone(),
            full: arguments.full,
            set: arguments.set.iter().cloned().collect(),
            variants: default_variants(study.workload.kind()).to_owned(),
            cpus: cpus(),
            systems_dir: arguments.catalogue.systems_dir.iter().map(absolute).collect(),
        }
    }

    /// Converts the choices into the form that planning takes.
    pub(super) fn selection(&self) -> StudySelection {
        StudySelection { full: self.full, cpus: self.cpus.clone(), overrides: self.set.clone() }
    }

    /// Creates the folder and writes both files. Fails if the folder is not empty.
    pub(super) fn write(&self, study: &Study, folder: &Path) -> Result<(), Failure> {
        let error_at = |what: &str, path: &Path, error: std::io::Error| {
            Failure::environment(format!("failed to {what} {}: {error}", path.display()))
        };
        std::fs::create_dir_all(folder).map_err(|error| error_at("create", folder, error))?;
        let mut entries = std::fs::read_dir(folder).map_err(|error| error_at("open", folder, error))?;
        if entries.next().is_some() {
            return Err(Failure::usage(format!(
                "{} is not empty: choose another folder, or resume a study with --resume",
                folder.display()
            )));
        }
        let saved = Self { name: study.name.clone(), ..self.clone() };
        let text = serde_json::to_string_pretty(&saved)
            .map_err(|error| Failure::environment(format!("failed to write {CHOICE}: {error}")))?;
        write_atomic(&folder.join(STUDY), study.text.as_bytes())?;
        Ok(write_atomic(&folder.join(CHOICE), (text + "\n").as_bytes())?)
    }

    /// Reads both files of a study's folder. Fails if one is missing or invalid, or has another format.
    pub(super) fn read(folder: &Path) -> Result<(Self, Study), Failure> {
        let choice_file = folder.join(CHOICE);
        let no_study =
            |why: String| Failure::usage(format!("{} is no folder of a study: {why}", folder.display()));
        let text = std::fs::read_to_string(&choice_file).map_err(|error| no_study(error.to_string()))?;
        let not_understood =
            |error: serde_json::Error| no_study(format!("{CHOICE} cannot be understood: {error}"));
        let Format { schema } = serde_json::from_str(&text).map_err(not_understood)?;
        ResultsError::check_format(folder, schema, SCHEMA)?;
        let saved: Self = serde_json::from_str(&text).map_err(not_understood)?;
        let definition_file = folder.join(STUDY);
        let text = std::fs::read_to_string(&definition_file).map_err(|error| no_study(error.to_string()))?;
        let study = Study::parse(&saved.name, &definition_file.display().to_string(), &text)?;
        Ok((saved, study))
    }
}

/// Variants of a study that lists none: those that a plain run of its workload measures.
fn default_variants(workload: WorkloadKind) -> &'static str {
    if workload == WorkloadKind::Mixed { mixed::VARIANTS } else { DEFAULT_VARIANTS }
}

/// Variants of studies that did not save them.
fn first_default() -> String {
    DEFAULT_VARIANTS.to_owned()
}

/// Format version of a study's folder, read before anything else in it.
#[derive(Deserialize)]
struct Format {
    schema: u32,
}

/// Numbers of the CPUs that this process may use; empty if they cannot be read.
fn cpus() -> Vec<usize> {
    let affinity = sched_getaffinity(None).unwrap_or_else(|_| CpuSet::new());
    (0..CpuSet::MAX_CPU).filter(|cpu| affinity.is_set(*cpu)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn studies_of_other_versions_are_refused_in_one_sentence() {
        let folder = tempfile::tempdir().unwrap();
        let refused = |text: &str| {
            std::fs::write(folder.path().join(CHOICE), text).unwrap();
            SavedStudy::read(folder.path()).err().unwrap().to_string()
        };
        let old = refused(r#"{"schema": 1}"#);
        assert!(old.contains("was made by version 0.1") && old.ends_with("run the benchmark again"), "{old}");
        let new = refused(r#"{"schema": 99}"#);
        assert!(new.contains("a newer version") && new.ends_with("use a newer jsonathlon"), "{new}");
        assert!(refused("{}").contains("study.json cannot be understood"));
    }
}
