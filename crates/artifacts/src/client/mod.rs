//! Registries' own clients, behind one trait.
//!
//! A client downloads one archive, as the registry holds it, into a folder of its own. The store compares
//! digests, unpacks and cleans up. A client only has to name the archive on its command line and to find it
//! afterwards.

mod apt;
mod debian;
mod go;
mod maven;
mod npm;
mod process;
mod pypi;

use std::{
    ffi::OsString,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    time::Duration,
};

pub(crate) use debian::{UNPACKER, deb_file_name, resolve_dependencies};
pub(crate) use process::die_with_parent;

use jsonathlon_catalogue::artifact::{Source, SourceKind};

use super::{InstallContext, error::ArtifactError, format::Format};

/// Settings for all clients: where programs are searched, and how long one may make no progress.
#[derive(Debug, Clone)]
pub(crate) struct ClientLookup {
    /// Search path in the form of `PATH`. `None`: the `PATH` of this process.
    pub(crate) search_path: Option<OsString>,
    pub(crate) stall_limit: Duration,
    /// Keyring with which the signatures of Debian's archive are verified.
    pub(crate) debian_keyring: PathBuf,
}

impl ClientLookup {
    /// Returns the first executable file of this name on the search path. `None` if there is none.
    pub(crate) fn find(&self, program: &str) -> Option<PathBuf> {
        let path = self.search_path.clone().or_else(|| std::env::var_os("PATH"))?;
        std::env::split_paths(&path)
            .filter(|folder| folder.is_absolute())
            .map(|folder| folder.join(program))
            .find(|file| {
                file.metadata()
                    .is_ok_and(|metadata| metadata.is_file() && metadata.permissions().mode() & 0o111 != 0)
            })
    }
}

/// Fetches one archive of one registry, or builds one program.
pub(crate) trait Client {
    /// Returns the name of the program that fetches the archive.
    fn program(&self) -> &'static str;

    /// Returns the name of the Debian package that contains the program.
    fn debian_package(&self) -> &'static str;

    /// Returns why the program cannot be used here although it is present, with a remedy. `None` if it can be
    /// used.
    fn unusable_reason(&self, _program: &Path, _clients: &ClientLookup) -> Option<String> {
        None
    }

    /// Returns the version of the tool that builds here, such as `go1.26.0`. `None` for a client that builds
    /// nothing.
    fn tool_version(&self, _program: &Path, _clients: &ClientLookup) -> Option<String> {
        None
    }

    /// Returns the format of the fetched archive.
    fn format(&self) -> Format;

    /// Returns how many copies of the archive are on the disk before the client ends.
    fn copies(&self) -> u64;

    /// Fetches the archive and returns its path, which lies below the job's folder.
    fn fetch(&self, job: &FetchJob<'_>, context: &mut InstallContext<'_>) -> Result<PathBuf, ArtifactError>;
}

/// Input of a client for fetching one archive.
#[derive(Debug)]
pub(crate) struct FetchJob<'a> {
    /// Path of the client's program.
    pub(crate) program: PathBuf,
    pub(crate) clients: &'a ClientLookup,
    /// Name of the system, for error messages.
    pub(crate) system: &'a str,
    /// Shell command that installs the version, for error messages; empty if no version is installed.
    pub(crate) command: String,
    /// Empty folder for the client, removed afterwards.
    pub(crate) folder: &'a Path,
    /// Root folder of the cache, for files that a client keeps between calls.
    pub(crate) cache: &'a Path,
    /// Size of the archive, in bytes; 0 if unknown.
    pub(crate) bytes: u64,
}

/// Returns the programs that fetch the source's parts, each listed once. Empty if the source is bundled.
pub fn client_programs(source: &Source) -> Vec<&'static str> {
    let mut programs = Vec::new();
    for client in source.parts().filter_map(client_for) {
        if !programs.contains(&client.program()) {
            programs.push(client.program());
        }
    }
    programs
}

/// Returns the client for one part of a source. `None` if the source is bundled.
pub(crate) fn client_for(source: &Source) -> Option<Box<dyn Client>> {
    match &source.kind {
        SourceKind::Npm { package } => Some(Box::new(npm::Npm { package: package.clone() })),
        SourceKind::Maven { coordinates } => Some(Box::new(maven::Maven::new(coordinates))),
        SourceKind::Pypi { package } => Some(Box::new(pypi::Pypi { package: package.clone() })),
        SourceKind::Debian { suite, packages, .. } => {
            Some(Box::new(debian::Debian { suite: suite.clone(), packages: packages.clone() }))
        }
        SourceKind::Go { package, tags, go_mod, go_sum, go } => Some(Box::new(go::Go {
            package: package.clone(),
            tags: tags.clone(),
            go_mod: go_mod.clone(),
            go_sum: go_sum.clone(),
            min_version: go.clone(),
        })),
        SourceKind::Bundled => None,
    }
}
