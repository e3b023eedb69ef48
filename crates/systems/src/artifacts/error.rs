//! What can go wrong between a registry and the cache.

use std::{fmt, io, path::PathBuf};

use crate::artifact::DebianPackage;
use crate::catalogue::listed;

/// Why an artifact could not be installed, checked or removed.
#[derive(Debug, thiserror::Error)]
pub enum ArtifactError {
    /// No folder for the cache can be derived from the environment.
    #[error("there is no folder for the cache: set JSONATHLON_CACHE to one that you can write to")]
    NoCacheFolder,
    /// Something in the cache cannot be read or written.
    #[error("use the cache at {}: {source}; make room there, or set JSONATHLON_CACHE to a folder that you can write to", .path.display())]
    Cache {
        /// The file or folder.
        path: PathBuf,
        /// What the operating system said.
        source: io::Error,
    },
    /// The artifact is for another kind of machine.
    #[error("{system} {version} is for {platform}, and this machine is {here}")]
    Platform {
        /// The system.
        system: String,
        /// The version.
        version: String,
        /// What it is for.
        platform: String,
        /// What this is.
        here: String,
    },
    /// No client of any source is there.
    #[error("{system} {version} is fetched by {}, not found on the search path: {}, or copy {} from the cache of a machine that has it", listed(.clients), .remedies.join(", or "), .folder.display())]
    NoClient {
        /// The system.
        system: String,
        /// The version.
        version: String,
        /// The programs, each of which would do.
        clients: Vec<String>,
        /// What to do about each.
        remedies: Vec<String>,
        /// Where the artifact would lie in the cache.
        folder: PathBuf,
    },
    /// Clients are there, but none can do its work here.
    #[error("{system} {version} cannot be fetched here: {}", .problems.join(", or "))]
    Unfit {
        /// The system.
        system: String,
        /// The version.
        version: String,
        /// What keeps each from its work, with what to do.
        problems: Vec<String>,
    },
    /// apt-get names no mirror.
    #[error(
        "{system}: apt-get knows no mirror of Debian, from which other suites could be had: let it have one among its sources, and run `apt-get update` once"
    )]
    NoMirror {
        /// The system.
        system: String,
    },
    /// A suite no longer has what the catalogue pins.
    #[error("{0}")]
    Gone(Box<Gone>),
    /// The client could not be started.
    #[error("start {}: {source}", .program.display())]
    ClientStart {
        /// The program.
        program: PathBuf,
        /// What the operating system said.
        source: io::Error,
    },
    /// The client ended with an error of its own.
    #[error("`{command}` failed ({status}); its last words:\n{output}")]
    ClientFailed {
        /// The command line.
        command: String,
        /// How it ended.
        status: String,
        /// The tail of its output.
        output: String,
    },
    /// The client ended well, but the file is not there.
    #[error("`{command}` ended well but left no archive in {}; its last words:\n{output}", .folder.display())]
    NothingFetched {
        /// The command line.
        command: String,
        /// Where the archive was expected.
        folder: PathBuf,
        /// The tail of its output.
        output: String,
    },
    /// The client stopped getting anything.
    #[error(
        "`{command}` got nothing for {seconds} s and was stopped: look at the network, the proxy and the client's mirror settings; its last words:\n{output}"
    )]
    ClientStalled {
        /// The command line.
        command: String,
        /// How long it was waited, in seconds.
        seconds: u64,
        /// The tail of its output.
        output: String,
    },
    /// A build told of no further package for too long.
    #[error(
        "`{command}` compiled nothing further for {seconds} s and was stopped: the machine is too busy for it or has too little memory; stop other work and try again, which goes on with what was compiled; its last words:\n{output}"
    )]
    BuildStalled {
        /// The command line.
        command: String,
        /// How long it was waited, in seconds.
        seconds: u64,
        /// The tail of its output.
        output: String,
    },
    /// What came is not what the catalogue names.
    #[error(
        "{package} is not what the catalogue names, so nothing was unpacked: its SHA-256 is {found}, expected {expected} ({found_bytes} bytes, expected {expected_bytes})"
    )]
    Digest {
        /// The package.
        package: String,
        /// The digest in the catalogue.
        expected: String,
        /// The digest of what came.
        found: String,
        /// The size in the catalogue, in bytes.
        expected_bytes: u64,
        /// The size of what came, in bytes.
        found_bytes: u64,
    },
    /// There is not enough room.
    #[error("{system} {version} needs {} MB free at {}, and there are {} MB: make room, or set JSONATHLON_CACHE to a folder on another disk", megabytes(.needed), .folder.display(), megabytes(.available))]
    Space {
        /// The system.
        system: String,
        /// The version.
        version: String,
        /// The cache.
        folder: PathBuf,
        /// What is needed at the most, in bytes.
        needed: u64,
        /// What is there, in bytes.
        available: u64,
    },
    /// The archive cannot be unpacked as the catalogue says.
    #[error("unpack {package}: {message}")]
    Archive {
        /// The package.
        package: String,
        /// What is wrong with it.
        message: String,
    },
    /// The size stated beside the right digest is wrong.
    #[error(
        "{package} has {found} bytes, and the system's folder states `bytes` = {stated}: its SHA-256 is right, so correct `bytes`"
    )]
    Bytes {
        /// The package.
        package: String,
        /// The size in the catalogue, in bytes.
        stated: u64,
        /// The size of what came, in bytes.
        found: u64,
    },
    /// More would be taken out of an archive than the catalogue states.
    #[error(
        "unpack {package}: what is taken out of it comes to {found} bytes, more than {limit_is}, {limit}: correct `unpacked_bytes`, or take fewer `members`"
    )]
    Unpacked {
        /// The package.
        package: String,
        /// What the limit is.
        limit_is: &'static str,
        /// The limit, in bytes.
        limit: u64,
        /// What would be taken, in bytes.
        found: u64,
    },
    /// It is not installed.
    #[error("{system} {version} is not installed: install it by `{command}`")]
    NotInstalled {
        /// The system.
        system: String,
        /// The version.
        version: String,
        /// What installs it.
        command: String,
    },
    /// What is installed is not what was unpacked.
    #[error("{} is damaged: {}; replace it by `{commands}`", .folder.display(), .problems.join("; "))]
    Damaged {
        /// The installed folder.
        folder: PathBuf,
        /// Every file that is not as it was, and how.
        problems: Vec<String>,
        /// What replaces it.
        commands: String,
    },
    /// The caller asked to stop.
    #[error("interrupted")]
    Cancelled,
}

/// Packages that a suite no longer has as they are pinned.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Gone {
    /// The system.
    pub system: String,
    /// What takes the newest.
    pub command: String,
    /// The suite.
    pub suite: String,
    /// Archives of the suite's updates that could not be looked into.
    pub unreached: Vec<String>,
    /// What is gone, and what is there instead.
    pub packages: Vec<GonePackage>,
    /// The newest of all packages; none where the suite has none of one.
    pub offer: Option<Vec<DebianPackage>>,
}

/// A package that is not there as it is pinned.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GonePackage {
    /// Its name.
    pub name: String,
    /// The version that is pinned.
    pub pinned: String,
    /// The newest that is there, if any.
    pub newest: Option<String>,
}

impl fmt::Display for Gone {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { system, command, suite, unreached, packages, offer } = self;
        write!(formatter, "{system}: Debian {suite} has moved on: ")?;
        for (index, GonePackage { name, pinned, newest }) in packages.iter().enumerate() {
            let comma = if index > 0 { "; " } else { "" };
            match newest {
                Some(newest) => {
                    write!(formatter, "{comma}{name} {pinned} is gone, and the newest there is {newest}")?;
                }
                None => write!(formatter, "{comma}{name} {pinned} is gone, and there is no newer one")?,
            }
        }
        if offer.is_some() {
            write!(
                formatter,
                ". Take the newest by `{command} --accept-newer`: it is then recorded under its own version, and used \
                 by runs with `--accept-newer`"
            )?;
        } else {
            write!(
                formatter,
                ". What is there now is put together otherwise: this needs a newer folder of the system"
            )?;
        }
        if unreached.is_empty() {
            return Ok(());
        }
        write!(formatter, ". Not looked into, for the mirror does not have it: {}", listed(unreached))
    }
}

impl ArtifactError {
    pub(crate) fn cache(path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |source| Self::Cache { path, source }
    }
}

fn megabytes(bytes: &u64) -> u64 {
    bytes.div_ceil(1_000_000)
}
