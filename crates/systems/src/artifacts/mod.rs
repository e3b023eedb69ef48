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
mod closure;
mod digest;
mod error;
mod format;
mod libraries;
mod lock;
mod newer;
mod packages;
mod record;
mod store;
mod unpack;

use std::path::PathBuf;

use crate::artifact::Installed;

pub use cache::cache_root;
pub use closure::Closure;
pub use error::{ArtifactError, Gone, GonePackage};
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
