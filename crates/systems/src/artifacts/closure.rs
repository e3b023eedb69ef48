//! Packages of a Debian suite with all that they depend on, as a folder pins them.

use std::fmt;

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
