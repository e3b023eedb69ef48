//! Debian packages with all their dependencies, in the form in which a system's folder pins them.

use std::fmt;

use jsonathlon_catalogue::{artifact::DebianPackage, join_names};

/// Debian packages of one suite with all their dependencies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PackageClosure {
    /// Name of the suite, such as `bookworm`.
    pub suite: String,
    /// The requested packages, then their dependencies by name.
    pub packages: Vec<DebianPackage>,
    /// Size of all packages when unpacked, rounded up, in bytes. `None` if apt-get does not report it.
    pub unpacked_bytes: Option<u64>,
    /// Suites with updates that were not searched, because no mirror here has them.
    pub unsearched_suites: Vec<String>,
}

/// Prints the packages as an `[[artifact.source]]` of `system.toml`.
impl fmt::Display for PackageClosure {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { suite, packages, unpacked_bytes, unsearched_suites } = self;
        let bytes: u64 = packages.iter().map(|package| package.bytes).sum();
        writeln!(
            formatter,
            "# {} packages, {bytes} bytes to download. Keep those whose files the programs need, and name the files in \
             `members`.",
            packages.len()
        )?;
        if !unsearched_suites.is_empty() {
            writeln!(
                formatter,
                "# Suites not searched, because the mirror lacks them: {}",
                join_names(unsearched_suites)
            )?;
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
            writeln!(
                formatter,
                "unpacked_bytes = {bytes} # of all packages; replace by the size of the extracted `members`"
            )?;
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
