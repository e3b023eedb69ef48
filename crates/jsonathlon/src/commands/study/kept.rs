//! What a study's folder keeps of how it was begun, so that it can be gone on with.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use jsonathlon_results::folder::write_whole;
use jsonathlon_studies::definition::Study;
use jsonathlon_studies::parts::Choice;
use rustix::thread::{CpuSet, sched_getaffinity};
use serde::{Deserialize, Serialize};

use crate::cli::study::StudyArguments;
use crate::exit::Failure;

/// The study's own file, as it was.
const STUDY: &str = "study.toml";
/// What the user chose of it.
const CHOICE: &str = "study.json";
/// Version of [`CHOICE`].
const SCHEMA: u32 = 1;

/// What the user chose, and what the machine has.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Kept {
    schema: u32,
    /// The study's name.
    name: String,
    /// Systems in place of the study's own.
    pub(super) systems: Option<String>,
    pub(super) full: bool,
    /// Options in place of the study's own.
    pub(super) set: BTreeMap<String, String>,
    /// CPUs that the program may use.
    pub(super) cpus: Vec<usize>,
    /// Folders with more system folders.
    pub(super) systems_dir: Vec<PathBuf>,
}

impl Kept {
    /// As the command line says.
    pub(super) fn of(arguments: &StudyArguments) -> Self {
        let absolute = |path: &PathBuf| std::path::absolute(path).unwrap_or_else(|_| path.clone());
        Self {
            schema: SCHEMA,
            name: String::new(),
            systems: arguments.systems.clone(),
            full: arguments.full,
            set: arguments.set.iter().cloned().collect(),
            cpus: cpus(),
            systems_dir: arguments.catalogue.systems_dir.iter().map(absolute).collect(),
        }
    }

    /// The same as the crate of studies wants it.
    pub(super) fn choice(&self) -> Choice {
        Choice { full: self.full, cpus: self.cpus.clone(), set: self.set.clone() }
    }

    /// Writes both files into the folder, which must hold no study yet.
    pub(super) fn write(&self, study: &Study, folder: &Path) -> Result<(), Failure> {
        let failed = |what: &str, path: &Path, error: std::io::Error| {
            Failure::environment(format!("failed to {what} {}: {error}", path.display()))
        };
        std::fs::create_dir_all(folder).map_err(|error| failed("create", folder, error))?;
        let mut there = std::fs::read_dir(folder).map_err(|error| failed("open", folder, error))?;
        if there.next().is_some() {
            return Err(Failure::usage(format!(
                "{} is not empty: choose another folder, or go on with a study by --resume",
                folder.display()
            )));
        }
        let kept = Self { name: study.name.clone(), ..self.clone() };
        let text = serde_json::to_string_pretty(&kept)
            .map_err(|error| Failure::environment(format!("failed to write {CHOICE}: {error}")))?;
        write_whole(&folder.join(STUDY), study.text.as_bytes())?;
        Ok(write_whole(&folder.join(CHOICE), (text + "\n").as_bytes())?)
    }

    /// What the folder of a study holds.
    pub(super) fn read(folder: &Path) -> Result<(Self, Study), Failure> {
        let at = folder.join(CHOICE);
        let no_study =
            |why: String| Failure::usage(format!("{} is no folder of a study: {why}", folder.display()));
        let text = std::fs::read_to_string(&at).map_err(|error| no_study(error.to_string()))?;
        let kept: Self = serde_json::from_str(&text)
            .map_err(|error| no_study(format!("{CHOICE} cannot be understood: {error}")))?;
        if kept.schema > SCHEMA {
            return Err(no_study("it was made by a newer version of the program".to_owned()));
        }
        let file = folder.join(STUDY);
        let text = std::fs::read_to_string(&file).map_err(|error| no_study(error.to_string()))?;
        let study = Study::parse(&kept.name, &file.display().to_string(), &text)?;
        Ok((kept, study))
    }
}

/// The CPUs that this process may use.
fn cpus() -> Vec<usize> {
    let known = sched_getaffinity(None).unwrap_or_else(|_| CpuSet::new());
    (0..CpuSet::MAX_CPU).filter(|cpu| known.is_set(*cpu)).collect()
}
