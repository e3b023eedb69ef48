//! Packages of a Debian suite with all that they depend on, as a folder pins them.

use std::fmt;

use super::{
    Progress, Store, Watch,
    cache::Scratch,
    client::{Clients, Job, closure},
    error::ArtifactError,
    lock::Lock,
};
use crate::artifact::DebianPackage;
use crate::catalogue::listed;

/// Packages with all that they depend on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Closure {
    /// The suite.
    pub suite: String,
    /// The packages that were asked for, then the others by name.
    pub packages: Vec<DebianPackage>,
    /// What they come to when everything is unpacked, rounded up, in bytes; none where apt-get does not say.
    pub unpacked_bytes: Option<u64>,
    /// Archives of the suite's updates that no mirror here has.
    pub unreached: Vec<String>,
}

/// As an `[[artifact.source]]` of `system.toml`.
impl fmt::Display for Closure {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { suite, packages, unpacked_bytes, unreached } = self;
        let bytes: u64 = packages.iter().map(|package| package.bytes).sum();
        writeln!(
            formatter,
            "# {} packages, {bytes} bytes to download. Keep those whose files the programs need, and name the files in \
             `members`.",
            packages.len()
        )?;
        if !unreached.is_empty() {
            writeln!(formatter, "# Not looked into, for the mirror does not have it: {}", listed(unreached))?;
        }
        if let Some(first) = packages.first() {
            writeln!(
                formatter,
                "# The first package decides the artifact's version: version = {:?}",
                first.upstream_version()
            )?;
        }
        writeln!(formatter, "[[artifact.source]]\nkind = \"debian\"\nsuite = {suite:?}")?;
        if let Some(bytes) = unpacked_bytes {
            writeln!(formatter, "unpacked_bytes = {bytes} # of everything; state what `members` come to")?;
        }
        writeln!(formatter, "packages = [")?;
        for DebianPackage { name, version, sha256, bytes } in packages {
            writeln!(
                formatter,
                "    {{ name = {name:?}, version = {version:?}, sha256 = {sha256:?}, bytes = {bytes} }},"
            )?;
        }
        writeln!(formatter, "]")
    }
}

impl Store {
    /// Looks up packages of a Debian suite, with all that they depend on as if nothing were installed, by the user's
    /// own apt-get and mirror. Nothing but the suite's index is downloaded.
    ///
    /// # Errors
    /// apt-get is missing or cannot do its work, knows no such suite or package, or the caller wants to stop.
    pub fn packages(
        &self,
        suite: &str,
        names: &[String],
        progress: &mut dyn FnMut(Progress),
        cancelled: &dyn Fn() -> bool,
    ) -> Result<Closure, ArtifactError> {
        let shown = names.join(" ");
        let program = apt_get(self.clients()).map_err(|problem| ArtifactError::Unfit {
            system: shown.clone(),
            version: format!("of {suite}"),
            problems: vec![problem],
        })?;
        let mut watch = Watch { progress, cancelled };
        let _lock = Lock::take(&self.root().join("locks/packages.lock"), &mut watch)?;
        let folder = Scratch::new(self.root().join("packages"))?;
        let job = Job {
            program,
            clients: self.clients(),
            system: &shown,
            command: String::new(),
            folder: folder.path(),
            cache: self.root(),
            bytes: 0,
        };
        closure(suite, names, &job, &mut watch)
    }
}

fn apt_get(clients: &Clients) -> Result<std::path::PathBuf, String> {
    let missing = "`apt-get`, which knows the packages, is not on the search path";
    let program = clients.find("apt-get").ok_or(missing)?;
    if clients.debian_keyring.is_file() {
        Ok(program)
    } else {
        Err(format!(
            "{}, by which packages are verified, is not there: install it (`apt-get install debian-archive-keyring`)",
            clients.debian_keyring.display()
        ))
    }
}
