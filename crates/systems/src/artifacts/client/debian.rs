//! apt-get: packages of any Debian suite, from the user's own mirror, by a
//! configuration of its own: neither the machine's sources nor its packages are
//! touched, and no privileges are needed. apt-get verifies the suite's index by
//! the archive's signature, and each package by the index.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use super::{Client, Clients, Job, process};
use crate::{
    artifacts::{
        Step, Watch,
        cache::bytes_below,
        error::{ArtifactError, Gone, GonePackage},
        unpack::Format,
    },
    catalogue::DebianPackage,
};

/// Packages of one suite, each at an exact version.
#[derive(Debug)]
pub(crate) struct Debian {
    pub(crate) suite: String,
    pub(crate) packages: Vec<DebianPackage>,
}

/// What a configuration of its own needs.
const FOLDERS: [&str; 5] =
    ["state/lists/partial", "cache/archives/partial", "etc/preferences.d", "etc/sources.d", "debs"];

impl Client for Debian {
    fn program(&self) -> &'static str {
        "apt-get"
    }

    fn package(&self) -> &'static str {
        "apt"
    }

    fn unfit(&self, _: &Path, clients: &Clients) -> Option<String> {
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

    /// The packages, and the index of the suite, which can be as large.
    fn copies(&self) -> u64 {
        3
    }

    fn fetch(&self, job: &Job<'_>, watch: &mut Watch<'_>) -> Result<PathBuf, ArtifactError> {
        for folder in FOLDERS {
            let folder = job.folder.join(folder);
            fs::create_dir_all(&folder).map_err(ArtifactError::cache(&folder))?;
        }
        let mirror = mirror(job, watch)?;
        self.configure(job, &mirror)?;
        update(job, watch)?;
        let offered = self.offered(job, watch)?;
        let there = |pinned: &DebianPackage| offered.iter().flatten().any(|offer| offer == pinned);
        if !self.packages.iter().all(there) && !self.pinned_are_there(job, watch) {
            watch.go_on()?;
            return Err(self.gone(job, &offered));
        }
        let debs = job.folder.join("debs");
        let mut command = apt_get(job, ["-q", "download"]);
        command.args(self.packages.iter().map(exactly)).current_dir(&debs);
        let ended = process::run(command, job, &[&debs], watch)?;
        // Under the package's name alone: how a version is written into a file's name is apt-get's affair.
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

/// The program that reads a package.
pub(crate) const UNPACKER: &str = "dpkg-deb";

/// The name of a package's file among what was fetched.
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

fn apt_get<const N: usize>(job: &Job<'_>, arguments: [&str; N]) -> Command {
    let mut command = Command::new(&job.program);
    command.arg("-c").arg(job.folder.join("apt.conf")).args(arguments).env("LC_ALL", "C.UTF-8");
    command
}

/// The mirror that the machine's own apt-get has Debian from, which may hold other suites too.
fn mirror(job: &Job<'_>, watch: &mut Watch<'_>) -> Result<String, ArtifactError> {
    let mut command = Command::new(&job.program);
    command.args(["indextargets", "--format", "$(REPO_URI)", "Origin: Debian", "Label: Debian"]);
    let ended = process::run(command, job, &[], watch)?;
    let mirror = ended.log.lines().map(str::trim).find(|line| {
        line.contains(":/")
            && !line.contains(|c: char| c.is_whitespace() || c.is_control() || "[]#".contains(c))
    });
    mirror.map(str::to_owned).ok_or_else(|| ArtifactError::NoMirror { system: job.system.to_owned() })
}

/// A suite's index may be past its date on a mirror that is not kept up: what is
/// pinned by its digest can be no other for that.
fn update(job: &Job<'_>, watch: &mut Watch<'_>) -> Result<(), ArtifactError> {
    let lists = job.folder.join("state/lists");
    let done = |_: &Path| bytes_below(&lists);
    // How large an index is, apt-get alone knows.
    let growth = process::Growth { step: Step::Downloading, total: 0, done: &done };
    match process::run_growing(apt_get(job, ["-q", "update"]), job, &growth, watch) {
        Err(ArtifactError::ClientFailed { output, .. }) if output.contains("is expired") => {}
        other => return other.map(drop),
    }
    let late = apt_get(job, ["-q", "-o", "Acquire::Check-Valid-Until=false", "update"]);
    process::run_growing(late, job, &growth, watch).map(drop)
}

impl Debian {
    fn configure(&self, job: &Job<'_>, mirror: &str) -> Result<(), ArtifactError> {
        let (folder, architecture) = (job.folder.display(), architecture());
        // Given by `-c`, so that it is read after the machine's own, whose proxies hold; hooks do not, which
        // could change the machine.
        let configuration = format!(
            "#clear APT::Update::Pre-Invoke;\n\
             #clear APT::Update::Post-Invoke;\n\
             #clear APT::Update::Post-Invoke-Success;\n\
             #clear APT::Architectures;\n\
             #clear APT::Default-Release;\n\
             APT::Architecture \"{architecture}\";\n\
             APT::Architectures {{ \"{architecture}\"; }};\n\
             APT::Sandbox::User \"root\";\n\
             APT::Update::Error-Mode \"any\";\n\
             Acquire::Languages \"none\";\n\
             Acquire::AllowInsecureRepositories \"false\";\n\
             Acquire::AllowWeakRepositories \"false\";\n\
             APT::Get::AllowUnauthenticated \"false\";\n\
             Debug::NoLocking \"true\";\n\
             Dir::Etc::sourcelist \"{folder}/etc/sources.list\";\n\
             Dir::Etc::sourceparts \"{folder}/etc/sources.d\";\n\
             Dir::Etc::preferences \"{folder}/etc/preferences\";\n\
             Dir::Etc::preferencesparts \"{folder}/etc/preferences.d\";\n\
             Dir::State \"{folder}/state\";\n\
             Dir::State::lists \"{folder}/state/lists\";\n\
             Dir::State::status \"{folder}/state/status\";\n\
             Dir::Cache \"{folder}/cache\";\n\
             Dir::Cache::archives \"{folder}/cache/archives\";\n\
             Dir::Cache::pkgcache \"\";\n\
             Dir::Cache::srcpkgcache \"\";\n"
        );
        let sources = format!(
            "deb [signed-by={} arch={architecture} target=Packages] {mirror} {} main\n",
            job.clients.debian_keyring.display(),
            self.suite
        );
        for (name, text) in
            [("apt.conf", configuration), ("etc/sources.list", sources), ("state/status", String::new())]
        {
            let path = job.folder.join(name);
            fs::write(&path, text).map_err(ArtifactError::cache(&path))?;
        }
        Ok(())
    }

    /// The newest of each package that the suite has.
    fn offered(
        &self,
        job: &Job<'_>,
        watch: &mut Watch<'_>,
    ) -> Result<Vec<Option<DebianPackage>>, ArtifactError> {
        let names: Vec<String> = self.packages.iter().map(|package| package.name.clone()).collect();
        let all = match uris(job, &names, watch) {
            Ok(found) => found,
            // One name that is gone takes the whole answer along.
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

    /// A suite may hold an older version beside the newest.
    fn pinned_are_there(&self, job: &Job<'_>, watch: &mut Watch<'_>) -> bool {
        let wanted: Vec<String> = self.packages.iter().map(exactly).collect();
        uris(job, &wanted, watch)
            .is_ok_and(|found| self.packages.iter().all(|package| found.contains(package)))
    }

    fn gone(&self, job: &Job<'_>, offered: &[Option<DebianPackage>]) -> ArtifactError {
        let pairs = self.packages.iter().zip(offered);
        // The same version with other contents is no newer one.
        let changed = pairs.clone().find_map(|(pinned, offer)| {
            offer
                .as_ref()
                .filter(|offer| offer.version == pinned.version && *offer != pinned)
                .map(|offer| (pinned, offer))
        });
        if let Some((pinned, offer)) = changed {
            return ArtifactError::Digest {
                package: exactly(pinned),
                expected: pinned.sha256.clone(),
                found: offer.sha256.clone(),
                expected_bytes: pinned.bytes,
                found_bytes: offer.bytes,
            };
        }
        let packages = pairs
            .filter(|(pinned, offer)| offer.as_ref() != Some(*pinned))
            .map(|(pinned, offer)| GonePackage {
                name: pinned.name.clone(),
                pinned: pinned.version.clone(),
                newest: offer.as_ref().map(|offer| offer.version.clone()),
            })
            .collect();
        ArtifactError::Gone(Box::new(Gone {
            system: job.system.to_owned(),
            suite: self.suite.clone(),
            packages,
            offer: offered.iter().cloned().collect(),
        }))
    }
}

/// What apt-get would download for these names, by the signed index.
fn uris(job: &Job<'_>, names: &[String], watch: &mut Watch<'_>) -> Result<Vec<DebianPackage>, ArtifactError> {
    let mut command = apt_get(job, ["-q", "download", "--print-uris"]);
    command.args(names);
    let ended = process::run(command, job, &[], watch)?;
    Ok(ended.log.lines().filter_map(offer).collect())
}

/// A line as `'…' NAME_VERSION_ARCHITECTURE.deb SIZE SHA256:DIGEST`.
fn offer(line: &str) -> Option<DebianPackage> {
    let (_, rest) = line.strip_prefix('\'')?.split_once("' ")?;
    let mut words = rest.split_whitespace();
    let mut parts = words.next()?.strip_suffix(".deb")?.split('_');
    let (name, version) = (parts.next()?, parts.next()?);
    let bytes = words.next()?.parse().ok()?;
    let sha256 = words.next()?.strip_prefix("SHA256:")?;
    Some(DebianPackage {
        name: name.to_owned(),
        version: version.replace("%3a", ":").replace("%3A", ":"),
        sha256: sha256.to_owned(),
        bytes,
    })
}

/// This machine's, as Debian names it.
fn architecture() -> &'static str {
    match std::env::consts::ARCH {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        "x86" => "i386",
        "powerpc64" => "ppc64el",
        other => other,
    }
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
