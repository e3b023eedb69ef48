//! Errors of installing, checking and removing artifacts.

use std::{fmt, io, path::PathBuf};

use jsonathlon_catalogue::{artifact::DebianPackage, join_names};

/// Why an artifact could not be installed, checked or removed.
#[derive(Debug, thiserror::Error)]
pub enum ArtifactError {
    /// No folder for the cache can be derived from the environment.
    #[error("there is no folder for the cache: set JSONATHLON_CACHE to one that you can write to")]
    NoCacheFolder,
    /// A file or folder of the cache cannot be read or written.
    #[error("cannot use the cache at {}: {source}; free some space there, or set JSONATHLON_CACHE to a folder that you can write to", .path.display())]
    Cache {
        /// File or folder that cannot be accessed.
        path: PathBuf,
        /// Error reported by the operating system.
        source: io::Error,
    },
    /// The artifact is for another platform than this machine.
    #[error("{system} {version} is for {platform}, and this machine is {machine_platform}")]
    Platform {
        /// Name of the system that was requested.
        system: String,
        /// Version that was requested of the system.
        version: String,
        /// Platform that the artifact is for, such as `linux-x86_64`.
        platform: String,
        /// Platform of this machine, such as `linux-x86_64`.
        machine_platform: String,
    },
    /// No source of the artifact can be fetched completely, because clients are missing.
    #[error("{system} {version} is fetched by {}, not found on the search path: {}, or copy {} from the cache of a machine that has it", join_names(.clients), .remedies.join(", or "), .folder.display())]
    NoClient {
        /// Name of the system that was requested.
        system: String,
        /// Version that was requested of the system.
        version: String,
        /// Missing programs, one entry per source; the programs of one entry are enough.
        clients: Vec<String>,
        /// Remedy for each entry of `clients`.
        remedies: Vec<String>,
        /// Folder in the cache to which the version can be copied from another machine.
        folder: PathBuf,
    },
    /// No source can be fetched completely, and at least one client is present but cannot be used.
    #[error("{system} {version} cannot be fetched here: {}", .problems.join(", or "))]
    UnusableClient {
        /// Name of the system that was requested.
        system: String,
        /// Version that was requested of the system.
        version: String,
        /// Problem with a remedy, one entry per source.
        problems: Vec<String>,
    },
    /// apt-get has no mirror of Debian among its sources.
    #[error(
        "{system}: its packages come from a Debian mirror, and apt-get has none among its sources: add one, and run `apt-get update` once"
    )]
    NoMirror {
        /// Name of the system that was requested.
        system: String,
    },
    /// A suite no longer has the packages that the catalogue pins.
    #[error("{0}")]
    PackagesUnavailable(Box<UnavailablePackages>),
    /// A client's program could not be started, or not be waited for.
    #[error("cannot run {}: {source}", .program.display())]
    ClientStart {
        /// Path of the program.
        program: PathBuf,
        /// Error reported by the operating system.
        source: io::Error,
    },
    /// The client ended with a failure status.
    #[error("`{command}` failed ({status}); last output:\n{output}")]
    ClientFailed {
        /// Command line of the client, for the user.
        command: String,
        /// Exit status or signal, as text.
        status: String,
        /// Last lines of the client's output.
        output: String,
    },
    /// The client ended successfully, but left no archive where it was expected, or several to choose from.
    #[error(
        "`{command}` succeeded but did not leave the expected archive in {}; last output:\n{output}",
        .folder.display()
    )]
    NoExpectedArchive {
        /// Command line of the client, for the user.
        command: String,
        /// Folder in which the archive was expected.
        folder: PathBuf,
        /// Last lines of the client's output.
        output: String,
    },
    /// The client made no progress for too long and was killed.
    #[error(
        "`{command}` received nothing for {seconds} s and was stopped: check the network, the proxy and the client's mirror settings; last output:\n{output}"
    )]
    ClientStalled {
        /// Command line of the client, for the user.
        command: String,
        /// Time without progress after which the client was killed, in seconds.
        seconds: u64,
        /// Last lines of the client's output.
        output: String,
    },
    /// A build reported no further package for too long and was killed.
    #[error(
        "`{command}` compiled no further package for {seconds} s and was stopped: the machine is too busy or has too little memory; stop other work and try again, which continues with what was compiled; last output:\n{output}"
    )]
    BuildStalled {
        /// Command line of the build, for the user.
        command: String,
        /// Time without progress after which the build was killed, in seconds.
        seconds: u64,
        /// Last lines of the build's output.
        output: String,
    },
    /// The download has another SHA-256 than the catalogue states.
    #[error(
        "{package} is not what the catalogue names, so nothing was unpacked: its SHA-256 is {actual}, expected {expected} ({actual_bytes} bytes, expected {expected_bytes})"
    )]
    WrongDigest {
        /// Name of the package, with its version.
        package: String,
        /// SHA-256 that the catalogue states.
        expected: String,
        /// SHA-256 of the download.
        actual: String,
        /// Size that the catalogue states, in bytes.
        expected_bytes: u64,
        /// Size of the download, in bytes.
        actual_bytes: u64,
    },
    /// The disk has not enough free space for the installation.
    #[error("{system} {version} needs {} MB free at {}, and there are {} MB: make room, or set JSONATHLON_CACHE to a folder on another disk", megabytes(.needed_bytes), .folder.display(), megabytes(.available_bytes))]
    NotEnoughSpace {
        /// Name of the system that was requested.
        system: String,
        /// Version that was requested of the system.
        version: String,
        /// Root folder of the cache.
        folder: PathBuf,
        /// Peak demand of the installation, in bytes.
        needed_bytes: u64,
        /// Space that this user can still write, in bytes.
        available_bytes: u64,
    },
    /// The archive cannot be unpacked as the catalogue describes.
    #[error("cannot unpack {package}: {message}")]
    Archive {
        /// Name of the package, with its version.
        package: String,
        /// Problem with the archive, for the user.
        message: String,
    },
    /// The download has the stated digest, but another size than the catalogue states.
    #[error(
        "{package} has {actual_bytes} bytes, and the system's folder states `bytes` = {stated_bytes}: its SHA-256 is right, so correct `bytes`"
    )]
    WrongSize {
        /// Name of the package, with its version.
        package: String,
        /// Size that the catalogue states, in bytes.
        stated_bytes: u64,
        /// Size of the download, in bytes.
        actual_bytes: u64,
    },
    /// The members to extract are larger than the catalogue states.
    #[error(
        "cannot unpack {package}: the members to extract have {actual_bytes} bytes, more than {limit_description}, {limit_bytes}: correct `unpacked_bytes`, or list fewer `members`"
    )]
    UnpackedTooLarge {
        /// Name of the package, with its version.
        package: String,
        /// Description of the limit, for the message.
        limit_description: &'static str,
        /// Maximum size of the extracted members, in bytes.
        limit_bytes: u64,
        /// Size of the members, in bytes.
        actual_bytes: u64,
    },
    /// The version is not installed in the cache.
    #[error("{system} {version} is not installed: install it with `{command}`")]
    NotInstalled {
        /// Name of the system that was requested.
        system: String,
        /// Version that was requested of the system.
        version: String,
        /// Shell command that installs the version.
        command: String,
    },
    /// Installed files differ from those that were unpacked.
    #[error("{} is damaged: {}; reinstall it with `{commands}`", .folder.display(), .problems.join("; "))]
    Damaged {
        /// Folder of the damaged installation.
        folder: PathBuf,
        /// Description of each missing or changed file.
        problems: Vec<String>,
        /// Shell commands that replace the installation.
        commands: String,
    },
    /// The caller's cancellation check returned `true`.
    #[error("interrupted")]
    Cancelled,
}

/// Pinned packages that a Debian suite no longer has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnavailablePackages {
    /// Name of the system that was requested.
    pub system: String,
    /// Shell command that installs the version; `--allow-newer` is appended to it in the message.
    pub command: String,
    /// Name of the suite, such as `bookworm`.
    pub suite: String,
    /// Suites with updates that were not searched, because no mirror here has them.
    pub unsearched_suites: Vec<String>,
    /// Packages that the suite no longer has as pinned.
    pub packages: Vec<UnavailablePackage>,
    /// Newest version of every package of the source, in the pinned order. `None` if the suite lacks one of
    /// them.
    pub replacements: Option<Vec<DebianPackage>>,
}

/// A package that the suite no longer has as pinned.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnavailablePackage {
    /// Name of the package in the suite.
    pub name: String,
    /// Version that the catalogue pins.
    pub pinned_version: String,
    /// Newest version in the suite. `None` if the suite lacks the package.
    pub newest_version: Option<String>,
}

impl fmt::Display for UnavailablePackages {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { system, command, suite, unsearched_suites, packages, replacements } = self;
        write!(formatter, "{system}: Debian {suite} no longer has every pinned package: ")?;
        for (index, UnavailablePackage { name, pinned_version, newest_version }) in
            packages.iter().enumerate()
        {
            let separator = if index > 0 { "; " } else { "" };
            write!(formatter, "{separator}{name} {pinned_version} is unavailable, ")?;
            match newest_version {
                Some(newest) => write!(formatter, "and the newest is {newest}")?,
                None => write!(formatter, "with no newer one")?,
            }
        }
        if replacements.is_some() {
            write!(
                formatter,
                ". Install the newest with `{command} --allow-newer`: it is then recorded under its own \
                 version, and used only by runs with `--allow-newer`"
            )?;
        } else {
            write!(formatter, ". Not every package has a newer version: update the system's folder")?;
        }
        if unsearched_suites.is_empty() {
            return Ok(());
        }
        write!(
            formatter,
            ". Suites not searched, because the mirror lacks them: {}",
            join_names(unsearched_suites)
        )
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
