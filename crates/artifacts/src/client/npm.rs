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
    pub(crate) package: String,
}

impl Client for Npm {
    fn program(&self) -> &'static str {
        "npm"
    }

    fn package(&self) -> &'static str {
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
        // A separate cache, because npm would keep a second copy of a large archive permanently. Only there
        // can the download's growth be observed: the destination gets the file at once, at the end.
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
        let watched = [destination.as_path(), cache.as_path()];
        let outcome = process::run(command, job, &watched, context)?;
        // The file name is not predicted, because releases of npm differ in how they write a scope into it.
        only_archive(&destination).ok_or(ArtifactError::NothingFetched {
            command: outcome.command,
            folder: destination,
            output: outcome.output,
        })
    }
}

fn only_archive(folder: &Path) -> Option<PathBuf> {
    let mut archives: Vec<PathBuf> = fs::read_dir(folder)
        .ok()?
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.is_file() && path.extension().is_some_and(|extension| extension == "tgz"))
        .collect();
    let only = archives.pop();
    if archives.is_empty() { only } else { None }
}
