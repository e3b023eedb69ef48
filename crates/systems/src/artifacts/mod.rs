//! Artifacts: from a registry, through its own client, into the user's cache.
//!
//! Registries are reached by `npm`, `mvn` and the like, so that the user's
//! mirrors, proxies and credentials hold; nothing in here knows a host. What a
//! client brings is compared with the catalogue's SHA-256 before it is opened,
//! is unpacked into a folder of its own, and appears under its final name only
//! when it is whole, so that a run that was killed leaves nothing half done to
//! be found by the next one.

mod cache;
mod choice;
mod client;
mod digest;
mod error;
mod libraries;
mod lock;
mod newer;
mod packages;
mod record;
mod store;
mod unpack;

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

pub use cache::cache_root;
pub use error::{ArtifactError, Gone, GonePackage};
pub use packages::Closure;
pub use store::{Checked, Store};

/// What an installation is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Step {
    /// Another process is busy with the same artifact.
    Waiting,
    /// The client fetches it.
    Downloading,
    /// Its digest is computed.
    Verifying,
    /// It is built, counted in packages.
    Building,
    /// It is unpacked.
    Unpacking,
}

/// How far a step has come, in bytes; in packages while building.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// The step.
    pub step: Step,
    /// Done so far, never more than `total` where that is known.
    pub done: u64,
    /// To do in this step; 0 while waiting, and where nobody knows.
    pub total: u64,
}

/// An artifact that is there to be used.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Installed {
    /// The folder it was unpacked in; none for one that is part of the program.
    pub folder: Option<PathBuf>,
    /// The version that it really is: the catalogue's, unless a newer one was
    /// accepted.
    pub version: String,
    /// Text that the engine's own answer about its version must contain.
    pub reports: String,
    /// SHA-256 of the archive that it came from, in hexadecimal (of the list of
    /// packages, of all that it was built from, or of the digests of several
    /// parts, where there is no one archive); none for one that is part of the
    /// program.
    pub sha256: Option<String>,
    /// Where it came from, with all parts, as `npm name@version`.
    pub source: String,
    /// What it is for: role (`library`) to file.
    pub files: BTreeMap<String, PathBuf>,
}

impl Installed {
    /// The shared library of an embedded engine, unless it is part of the
    /// program.
    pub fn library(&self) -> Option<&Path> {
        self.files.get("library").map(PathBuf::as_path)
    }
}

/// Whether an artifact is there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Presence {
    /// It is part of the program.
    Bundled,
    /// It is installed, and its files have the recorded sizes.
    Installed(Installed),
    /// It is not there.
    Absent,
    /// It is there but not whole; installing it again replaces it.
    Damaged {
        /// The folder.
        folder: PathBuf,
        /// What is wrong.
        problem: String,
    },
}

/// What every step of an installation needs: somebody to tell, and somebody to
/// ask whether to go on.
pub(crate) struct Watch<'a> {
    pub(crate) progress: &'a mut dyn FnMut(Progress),
    pub(crate) cancelled: &'a dyn Fn() -> bool,
}

impl Watch<'_> {
    pub(crate) fn tell(&mut self, step: Step, done: u64, total: u64) {
        let done = if total == 0 { done } else { done.min(total) };
        (self.progress)(Progress { step, done, total });
    }

    pub(crate) fn go_on(&self) -> Result<(), ArtifactError> {
        if (self.cancelled)() { Err(ArtifactError::Cancelled) } else { Ok(()) }
    }
}
