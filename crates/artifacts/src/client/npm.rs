//! npm: `npm pack` downloads a package's archive as the registry holds it, and compares it with the
//! registry's digest.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use super::{Client, FetchJob, process};
use crate::{InstallContext, error::ArtifactError, format::Format};

/// Client for one package at an exact version.
#[derive(Debug)]
pub(crate) struct Npm {
    /// Name and version, as `@example/engine@2.0.1`.
    pub(crate) package: String,
}

impl Client for Npm {
    fn program(&self) -> &'static str {
        "npm"
    }

    fn debian_package(&self) -> &'static str {
        "npm"
    }

    fn format(&self) -> Format {
        Format::TarGz
    }

    /// One copy in npm's cache, one in the destination.
    fn copies(&self) -> u64 {
        2
    }

    fn fetch(&self, job: &FetchJob<'_>, context: &mut InstallContext<'_>) -> Result<PathBuf, ArtifactError> {
        let destination = job.folder.join("pack");
        // Uses its own cache, because npm would otherwise keep a second copy of a large archive in the
        // user's cache forever. Download progress is visible only in this cache: the archive appears in the
        // destination only when it is complete.
        let cache = job.folder.join("npm");
        for folder in [&destination, &cache] {
            fs::create_dir_all(folder).map_err(ArtifactError::cache(folder))?;
        }
        let mut command = Command::new(&job.program);
        command
            .arg("pack")
            .arg(&self.package)
            .arg("--pack-destination")
            .arg(&destination)
            .arg("--cache")
            .arg(&cache)
            .args(["--ignore-scripts", "--no-update-notifier", "--no-progress", "--loglevel=error"]);
        let watched_folders = [destination.as_path(), cache.as_path()];
        let outcome = process::run(command, job, &watched_folders, context)?;
        // The file name is not predicted, because releases of npm differ in how they write a scope into it.
        single_archive(&destination).ok_or(ArtifactError::NoExpectedArchive {
            command: outcome.command,
            folder: destination,
            output: outcome.output,
        })
    }
}

/// Returns the only `.tgz` file in a folder. `None` if there are none or several.
fn single_archive(folder: &Path) -> Option<PathBuf> {
    let mut archives: Vec<PathBuf> = fs::read_dir(folder)
        .ok()?
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.is_file() && path.extension().is_some_and(|extension| extension == "tgz"))
        .collect();
    let archive = archives.pop();
    if archives.is_empty() { archive } else { None }
}
