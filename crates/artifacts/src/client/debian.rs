//! Fetches packages of any Debian suite by apt-get; see [`super::apt`]. apt-get verifies the suite's index by
//! the archive's signature, and each package by the index.

use std::{
    fs,
    path::{Path, PathBuf},
};

use jsonathlon_catalogue::artifact::DebianPackage;

use super::{
    Client, ClientLookup, FetchJob,
    apt::{Archives, apt_get},
    process,
};
use crate::{
    InstallContext, PackageClosure,
    error::{ArtifactError, UnavailablePackage, UnavailablePackages},
    format::Format,
};

/// Client for packages of one suite, each at an exact version.
#[derive(Debug)]
pub(crate) struct Debian {
    pub(crate) suite: String,
    pub(crate) packages: Vec<DebianPackage>,
}

/// Package versions that the archives have.
struct AvailablePackages {
    /// All versions that were found: the newest ones, and pinned ones beside them.
    versions: Vec<DebianPackage>,
    /// Newest version of each package, in the pinned order. `None` for a package that is gone.
    newest: Vec<Option<DebianPackage>>,
}

impl Client for Debian {
    fn program(&self) -> &'static str {
        "apt-get"
    }

    fn debian_package(&self) -> &'static str {
        "apt"
    }

    fn unusable_reason(&self, _: &Path, clients: &ClientLookup) -> Option<String> {
        let keyring = &clients.debian_keyring;
        if clients.find(UNPACKER).is_none() {
            return Some(format!(
                "`{UNPACKER}`, which unpacks packages, is not on the search path: install dpkg"
            ));
        }
        (!keyring.is_file()).then(|| {
            format!(
                "{}, by which packages are verified, is not there: install it (`apt-get install \
                 debian-archive-keyring`)",
                keyring.display()
            )
        })
    }

    fn format(&self) -> Format {
        Format::Debian
    }

    /// Room for the packages, and for the index of the suite, which can be as large.
    fn copies(&self) -> u64 {
        3
    }

    fn fetch(&self, job: &FetchJob<'_>, context: &mut InstallContext<'_>) -> Result<PathBuf, ArtifactError> {
        let mut archives = Archives::configure_suite(&self.suite, job, context)?;
        let mut offers = self.available_packages(job, context)?;
        self.check_sizes(&offers)?;
        if !self.has_all(&offers) && archives.add_updates(job, context)? {
            offers = self.available_packages(job, context)?;
            self.check_sizes(&offers)?;
        }
        if !self.has_all(&offers) {
            return Err(self.unavailable_error(job, &offers, archives.unsearched_suites));
        }
        let debs = job.folder.join("debs");
        let mut command = apt_get(job, ["-q", "download"]);
        command.args(self.packages.iter().map(exact_name)).current_dir(&debs);
        let outcome = process::run(command, job, &[&debs], context)?;
        // Rename to the package's name alone: apt-get decides how a version is written into a file's name.
        for package in &self.packages {
            let Some(file) = find_deb(&debs, &package.name) else {
                let (command, output) = (outcome.command, outcome.output);
                return Err(ArtifactError::NoExpectedArchive { command, folder: debs, output });
            };
            let renamed = debs.join(deb_file_name(&package.name));
            fs::rename(&file, &renamed).map_err(ArtifactError::cache(&renamed))?;
        }
        Ok(debs)
    }
}

/// Name of the program that reads a `.deb` file.
pub(crate) const UNPACKER: &str = "dpkg-deb";

/// Returns the name of a package's file among the fetched files.
pub(crate) fn deb_file_name(package: &str) -> String {
    format!("{package}.deb")
}

fn exact_name(package: &DebianPackage) -> String {
    format!("{}={}", package.name, package.version)
}

fn find_deb(folder: &Path, package: &str) -> Option<PathBuf> {
    let prefix = format!("{package}_");
    fs::read_dir(folder).ok()?.filter_map(|entry| Some(entry.ok()?.path())).find(|path| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name.starts_with(&prefix) && name.ends_with(".deb")
    })
}

impl Debian {
    /// Returns the newest version of each pinned package in the suite, or `None` for a package that is gone.
    fn newest_versions(
        &self,
        job: &FetchJob<'_>,
        context: &mut InstallContext<'_>,
    ) -> Result<Vec<Option<DebianPackage>>, ArtifactError> {
        let names: Vec<String> = self.packages.iter().map(|package| package.name.clone()).collect();
        let packages = match uris(job, &names, context) {
            Ok(available) => available,
            // One name that is gone makes apt-get fail for all names, so each is looked up alone.
            Err(ArtifactError::ClientFailed { .. }) => {
                let mut available = Vec::new();
                for name in &names {
                    match uris(job, std::slice::from_ref(name), context) {
                        Ok(packages) => available.extend(packages),
                        Err(ArtifactError::ClientFailed { .. }) => {}
                        Err(error) => return Err(error),
                    }
                }
                available
            }
            Err(error) => return Err(error),
        };
        let newest_of = |name: &String| packages.iter().find(|package| package.name == *name).cloned();
        Ok(names.iter().map(newest_of).collect())
    }

    /// Looks up the newest version of each package and, if that is another one, the pinned version too.
    fn available_packages(
        &self,
        job: &FetchJob<'_>,
        context: &mut InstallContext<'_>,
    ) -> Result<AvailablePackages, ArtifactError> {
        let newest = self.newest_versions(job, context)?;
        let mut versions: Vec<DebianPackage> = newest.iter().flatten().cloned().collect();
        let is_offered = |pinned: &DebianPackage| versions.iter().any(|offer| is_same_version(offer, pinned));
        if !self.packages.iter().all(is_offered) {
            let exact_names: Vec<String> = self.packages.iter().map(exact_name).collect();
            match uris(job, &exact_names, context) {
                Ok(pinned_versions) => versions.extend(pinned_versions),
                Err(ArtifactError::ClientFailed { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(AvailablePackages { versions, newest })
    }

    fn has_all(&self, offers: &AvailablePackages) -> bool {
        self.packages.iter().all(|package| offers.versions.contains(package))
    }

    /// Fails with [`ArtifactError::WrongSize`] if a package is there as pinned, but the stated size is wrong.
    fn check_sizes(&self, offers: &AvailablePackages) -> Result<(), ArtifactError> {
        let offered_bytes = |pinned: &DebianPackage| {
            let is_same =
                |offer: &&DebianPackage| is_same_version(offer, pinned) && offer.sha256 == pinned.sha256;
            let offer = offers.versions.iter().find(is_same);
            offer.map(|offer| offer.bytes).filter(|bytes| *bytes != pinned.bytes)
        };
        for package in &self.packages {
            if let Some(actual_bytes) = offered_bytes(package) {
                let (package, stated_bytes) = (exact_name(package), package.bytes);
                return Err(ArtifactError::WrongSize { package, stated_bytes, actual_bytes });
            }
        }
        Ok(())
    }

    fn unavailable_error(
        &self,
        job: &FetchJob<'_>,
        offers: &AvailablePackages,
        unsearched_suites: Vec<String>,
    ) -> ArtifactError {
        // The same version with other contents is not a newer version.
        let changed = self.packages.iter().find_map(|pinned| {
            let found = offers.versions.iter().find(|offer| is_same_version(offer, pinned))?;
            (found != pinned).then_some((pinned, found))
        });
        if let Some((pinned, found)) = changed {
            return ArtifactError::WrongDigest {
                package: exact_name(pinned),
                expected: pinned.sha256.clone(),
                actual: found.sha256.clone(),
                expected_bytes: pinned.bytes,
                actual_bytes: found.bytes,
            };
        }
        let packages = self
            .packages
            .iter()
            .zip(&offers.newest)
            .filter(|(pinned, _)| !offers.versions.contains(pinned))
            .map(|(pinned, newest)| UnavailablePackage {
                name: pinned.name.clone(),
                pinned_version: pinned.version.clone(),
                newest_version: newest.as_ref().map(|offer| offer.version.clone()),
            })
            .collect();
        ArtifactError::PackagesUnavailable(Box::new(UnavailablePackages {
            system: job.system.to_owned(),
            command: job.command.clone(),
            suite: self.suite.clone(),
            unsearched_suites,
            packages,
            replacements: offers.newest.iter().cloned().collect(),
        }))
    }
}

fn is_same_version(left: &DebianPackage, right: &DebianPackage) -> bool {
    left.name == right.name && left.version == right.version
}

/// Resolves all dependencies of a suite's packages, as if nothing were installed. The requested packages come
/// first, then the others by name.
pub(crate) fn resolve_dependencies(
    suite: &str,
    names: &[String],
    job: &FetchJob<'_>,
    context: &mut InstallContext<'_>,
) -> Result<PackageClosure, ArtifactError> {
    let mut archives = Archives::configure_suite(suite, job, context)?;
    archives.add_updates(job, context)?;
    let mut command = apt_get(job, ["-q", "install", "--yes", "--no-install-recommends", "--print-uris"]);
    command.args(names);
    let outcome = process::run(command, job, &[], context)?;
    let files = outcome.log.lines().filter_map(file_in);
    let exact_names: Vec<String> = files.map(|(name, version, _)| format!("{name}={version}")).collect();
    let mut packages = uris(job, &exact_names, context)?;
    let position = |package: &DebianPackage| names.iter().position(|name| *name == package.name);
    packages.sort_by_cached_key(|package| (position(package).unwrap_or(names.len()), package.name.clone()));
    let unpacked_bytes = outcome.log.lines().find_map(additional_bytes);
    Ok(PackageClosure {
        suite: suite.to_owned(),
        packages,
        unpacked_bytes,
        unsearched_suites: archives.unsearched_suites,
    })
}

/// Reads the bytes from `After this operation, 1,383 MB of additional disk space will be used.`, rounded up.
/// `None` for another line.
fn additional_bytes(line: &str) -> Option<u64> {
    let mut words = line.strip_prefix("After this operation, ")?.split_whitespace();
    let number: f64 = words.next()?.replace(',', "").parse().ok()?;
    let unit = match words.next()? {
        "B" => 1.0,
        "kB" => 1e3,
        "MB" => 1e6,
        "GB" => 1e9,
        _ => return None,
    };
    Some(((number + 1.0) * unit) as u64)
}

/// Returns the packages that apt-get would download for these names, according to the signed index.
fn uris(
    job: &FetchJob<'_>,
    names: &[String],
    context: &mut InstallContext<'_>,
) -> Result<Vec<DebianPackage>, ArtifactError> {
    let mut command = apt_get(job, ["-q", "download", "--print-uris"]);
    command.args(names);
    let outcome = process::run(command, job, &[], context)?;
    Ok(outcome.log.lines().filter_map(offer).collect())
}

/// Parses a line of the form `'…' NAME_VERSION_ARCHITECTURE.deb SIZE SHA256:DIGEST`. `None` for another line.
fn offer(line: &str) -> Option<DebianPackage> {
    let (name, version, rest) = file_in(line)?;
    let mut words = rest.split_whitespace();
    let bytes = words.next()?.parse().ok()?;
    let sha256 = words.next()?.strip_prefix("SHA256:")?;
    Some(DebianPackage { name: name.to_owned(), version, sha256: sha256.to_owned(), bytes })
}

/// Returns name and version of the package in such a line, and the text behind the file's name.
fn file_in(line: &str) -> Option<(&str, String, &str)> {
    let (_, rest) = line.strip_prefix('\'')?.split_once("' ")?;
    let (file, rest) = rest.split_once(' ')?;
    let mut parts = file.strip_suffix(".deb")?.split('_');
    let (name, version) = (parts.next()?, parts.next()?);
    Some((name, version.replace("%3a", ":").replace("%3A", ":"), rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_print_uris_are_read() {
        let line =
            "'http://mirror/z/zlib1g_1.3_amd64.deb' zlib1g_1%3a1.3+really1.3.2-4_amd64.deb 92424 SHA256:8506";
        let package = offer(line).unwrap();
        assert_eq!((package.name.as_str(), package.bytes), ("zlib1g", 92424));
        assert_eq!((package.version.as_str(), package.sha256.as_str()), ("1:1.3+really1.3.2-4", "8506"));
        for other in ["W: something", "'x' y", "'x' a_1_b.deb z SHA256:1", "'x' a_1_b.deb 1 MD5:1", ""] {
            assert_eq!(offer(other), None, "{other}");
        }
    }
}
