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
    Closure, InstallContext,
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
    all: Vec<DebianPackage>,
    /// Newest version of each package, in the pinned order. `None` for a package that is gone.
    newest: Vec<Option<DebianPackage>>,
}

impl Client for Debian {
    fn program(&self) -> &'static str {
        "apt-get"
    }

    fn package(&self) -> &'static str {
        "apt"
    }

    fn unfit(&self, _: &Path, clients: &ClientLookup) -> Option<String> {
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

    fn fetch(&self, job: &FetchJob<'_>, watch: &mut InstallContext<'_>) -> Result<PathBuf, ArtifactError> {
        let mut archives = Archives::of(&self.suite, job, watch)?;
        let mut offers = self.offers(job, watch)?;
        self.misstated(&offers)?;
        if !self.all_in(&offers) && archives.add_further(job, watch)? {
            offers = self.offers(job, watch)?;
            self.misstated(&offers)?;
        }
        if !self.all_in(&offers) {
            return Err(self.gone(job, &offers, archives.unreached));
        }
        let debs = job.folder.join("debs");
        let mut command = apt_get(job, ["-q", "download"]);
        command.args(self.packages.iter().map(exactly)).current_dir(&debs);
        let ended = process::run(command, job, &[&debs], watch)?;
        // Rename to the package's name alone: apt-get decides how a version is written into a file's name.
        for package in &self.packages {
            let Some(file) = file_of(&debs, &package.name) else {
                let (command, output) = (ended.command, ended.output);
                return Err(ArtifactError::NothingFetched { command, folder: debs, output });
            };
            let named = debs.join(deb(&package.name));
            fs::rename(&file, &named).map_err(ArtifactError::cache(&named))?;
        }
        Ok(debs)
    }
}

/// Name of the program that reads a `.deb` file.
pub(crate) const UNPACKER: &str = "dpkg-deb";

/// Returns the name of a package's file among the fetched files.
pub(crate) fn deb(package: &str) -> String {
    format!("{package}.deb")
}

fn exactly(package: &DebianPackage) -> String {
    format!("{}={}", package.name, package.version)
}

fn file_of(folder: &Path, package: &str) -> Option<PathBuf> {
    let beginning = format!("{package}_");
    fs::read_dir(folder).ok()?.filter_map(|entry| Some(entry.ok()?.path())).find(|path| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name.starts_with(&beginning) && name.ends_with(".deb")
    })
}

impl Debian {
    /// Returns the newest version of each pinned package in the suite, or `None` for a package that is gone.
    fn offered(
        &self,
        job: &FetchJob<'_>,
        watch: &mut InstallContext<'_>,
    ) -> Result<Vec<Option<DebianPackage>>, ArtifactError> {
        let names: Vec<String> = self.packages.iter().map(|package| package.name.clone()).collect();
        let all = match uris(job, &names, watch) {
            Ok(found) => found,
            // One name that is gone makes apt-get fail for all names, so each is looked up alone.
            Err(ArtifactError::ClientFailed { .. }) => {
                let mut found = Vec::new();
                for name in &names {
                    match uris(job, std::slice::from_ref(name), watch) {
                        Ok(one) => found.extend(one),
                        Err(ArtifactError::ClientFailed { .. }) => {}
                        Err(error) => return Err(error),
                    }
                }
                found
            }
            Err(error) => return Err(error),
        };
        let of = |name: &String| all.iter().find(|package| package.name == *name).cloned();
        Ok(names.iter().map(of).collect())
    }

    /// Looks up the newest version of each package and, if that is another one, the pinned version too.
    fn offers(
        &self,
        job: &FetchJob<'_>,
        watch: &mut InstallContext<'_>,
    ) -> Result<AvailablePackages, ArtifactError> {
        let newest = self.offered(job, watch)?;
        let mut all: Vec<DebianPackage> = newest.iter().flatten().cloned().collect();
        let named = |pinned: &DebianPackage| all.iter().any(|offer| is_same_version(offer, pinned));
        if !self.packages.iter().all(named) {
            let wanted: Vec<String> = self.packages.iter().map(exactly).collect();
            match uris(job, &wanted, watch) {
                Ok(found) => all.extend(found),
                Err(ArtifactError::ClientFailed { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(AvailablePackages { all, newest })
    }

    fn all_in(&self, offers: &AvailablePackages) -> bool {
        self.packages.iter().all(|package| offers.all.contains(package))
    }

    /// Fails with [`ArtifactError::Bytes`] if a package is there as pinned, but the stated size is wrong.
    fn misstated(&self, offers: &AvailablePackages) -> Result<(), ArtifactError> {
        let same_but_for_bytes = |pinned: &DebianPackage| {
            let same =
                |offer: &&DebianPackage| is_same_version(offer, pinned) && offer.sha256 == pinned.sha256;
            offers.all.iter().find(same).filter(|offer| offer.bytes != pinned.bytes).map(|offer| offer.bytes)
        };
        for package in &self.packages {
            if let Some(found) = same_but_for_bytes(package) {
                let (package, stated) = (exactly(package), package.bytes);
                return Err(ArtifactError::Bytes { package, stated, found });
            }
        }
        Ok(())
    }

    fn gone(&self, job: &FetchJob<'_>, offers: &AvailablePackages, unreached: Vec<String>) -> ArtifactError {
        // The same version with other contents is not a newer version.
        let changed = self.packages.iter().find_map(|pinned| {
            let found = offers.all.iter().find(|offer| is_same_version(offer, pinned))?;
            (found != pinned).then_some((pinned, found))
        });
        if let Some((pinned, found)) = changed {
            return ArtifactError::Digest {
                package: exactly(pinned),
                expected: pinned.sha256.clone(),
                found: found.sha256.clone(),
                expected_bytes: pinned.bytes,
                found_bytes: found.bytes,
            };
        }
        let packages = self
            .packages
            .iter()
            .zip(&offers.newest)
            .filter(|(pinned, _)| !offers.all.contains(pinned))
            .map(|(pinned, newest)| UnavailablePackage {
                name: pinned.name.clone(),
                pinned: pinned.version.clone(),
                newest: newest.as_ref().map(|offer| offer.version.clone()),
            })
            .collect();
        ArtifactError::Gone(Box::new(UnavailablePackages {
            system: job.system.to_owned(),
            command: job.command.clone(),
            suite: self.suite.clone(),
            unreached,
            packages,
            offer: offers.newest.iter().cloned().collect(),
        }))
    }
}

fn is_same_version(one: &DebianPackage, other: &DebianPackage) -> bool {
    one.name == other.name && one.version == other.version
}

/// Resolves all dependencies of a suite's packages, as if nothing were installed. The requested packages come
/// first, then the others by name.
pub(crate) fn closure(
    suite: &str,
    names: &[String],
    job: &FetchJob<'_>,
    watch: &mut InstallContext<'_>,
) -> Result<Closure, ArtifactError> {
    let mut archives = Archives::of(suite, job, watch)?;
    archives.add_further(job, watch)?;
    let mut command = apt_get(job, ["-q", "install", "--yes", "--no-install-recommends", "--print-uris"]);
    command.args(names);
    let ended = process::run(command, job, &[], watch)?;
    let wanted: Vec<String> =
        ended.log.lines().filter_map(file_in).map(|(name, version, _)| format!("{name}={version}")).collect();
    let mut packages = uris(job, &wanted, watch)?;
    let place = |package: &DebianPackage| names.iter().position(|name| *name == package.name);
    packages.sort_by_cached_key(|package| (place(package).unwrap_or(names.len()), package.name.clone()));
    let unpacked_bytes = ended.log.lines().find_map(additional_bytes);
    Ok(Closure { suite: suite.to_owned(), packages, unpacked_bytes, unreached: archives.unreached })
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
    watch: &mut InstallContext<'_>,
) -> Result<Vec<DebianPackage>, ArtifactError> {
    let mut command = apt_get(job, ["-q", "download", "--print-uris"]);
    command.args(names);
    let ended = process::run(command, job, &[], watch)?;
    Ok(ended.log.lines().filter_map(offer).collect())
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
