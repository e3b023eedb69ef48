//! Registries' own clients, behind one trait.
//!
//! A client brings one archive, as the registry holds it, into a folder that is
//! its own; comparing digests, unpacking and cleaning up are the store's. What
//! a registry's kind needs beyond that is how to name the archive on its
//! client's command line and how to find it afterwards.

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

pub(crate) use debian::{UNPACKER, closure, deb};
pub(crate) use process::die_with_parent;

use super::{Watch, error::ArtifactError, format::Format};
use crate::artifact::{Source, SourceKind};

/// Where programs are looked for, and how long one may bring nothing.
#[derive(Debug, Clone)]
pub(crate) struct Clients {
    /// In the form of `PATH`; none stands for the program's own `PATH`.
    pub(crate) search_path: Option<OsString>,
    pub(crate) stall_limit: Duration,
    /// What Debian's archive signs with.
    pub(crate) debian_keyring: PathBuf,
}

impl Clients {
    /// The program of this name, if there is one that can be run.
    pub(crate) fn find(&self, program: &str) -> Option<PathBuf> {
        let path = self.search_path.clone().or_else(|| std::env::var_os("PATH"))?;
        std::env::split_paths(&path)
            .filter(|folder| folder.is_absolute())
            .map(|folder| folder.join(program))
            .find(|file| {
                file.metadata().is_ok_and(|facts| facts.is_file() && facts.permissions().mode() & 0o111 != 0)
            })
    }
}

/// One archive of one registry.
pub(crate) trait Client {
    /// The program that fetches it.
    fn program(&self) -> &'static str;

    /// The package of Debian that holds the program.
    fn package(&self) -> &'static str;

    /// What keeps the program from doing its work here though it is there, with
    /// what to do about it.
    fn unfit(&self, _program: &Path, _clients: &Clients) -> Option<String> {
        None
    }

    /// With what a program was made that is built here.
    fn made_with(&self, _program: &Path, _clients: &Clients) -> Option<String> {
        None
    }

    /// How the archive is packed.
    fn format(&self) -> Format;

    /// How many copies of the archive lie on the disk before the client ends.
    fn copies(&self) -> u64;

    /// Brings the archive and says where it is: below the job's folder.
    fn fetch(&self, job: &Job<'_>, watch: &mut Watch<'_>) -> Result<PathBuf, ArtifactError>;
}

/// What a client is given to do its work.
#[derive(Debug)]
pub(crate) struct Job<'a> {
    /// The client's program.
    pub(crate) program: PathBuf,
    pub(crate) clients: &'a Clients,
    /// The system, for what a user may be told to do.
    pub(crate) system: &'a str,
    /// What installs it.
    pub(crate) command: String,
    /// An empty folder, gone afterwards.
    pub(crate) folder: &'a Path,
    /// The cache, for what a client wants to keep for itself.
    pub(crate) cache: &'a Path,
    /// Size of the archive, in bytes.
    pub(crate) bytes: u64,
}

impl Source {
    /// The programs that fetch its parts, each once; none for what is part of the
    /// program.
    pub fn clients(&self) -> Vec<&'static str> {
        let mut programs = Vec::new();
        for client in self.parts().filter_map(of) {
            if !programs.contains(&client.program()) {
                programs.push(client.program());
            }
        }
        programs
    }
}

/// The client for one part of a source; none for what is part of the program.
pub(crate) fn of(source: &Source) -> Option<Box<dyn Client>> {
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
            least: go.clone(),
        })),
        SourceKind::Bundled => None,
    }
}
