//! Separate configuration of apt-get, which fetches packages of any Debian suite from the user's own mirror.
//! The machine's package sources and packages are not touched, and no privileges are needed.

use std::{fs, path::Path, process::Command};

use super::{FetchJob, process};
use crate::{InstallContext, InstallStep, cache::bytes_below, error::ArtifactError};

/// Folders that the separate configuration needs, below the job's folder.
const FOLDERS: [&str; 5] =
    ["state/lists/partial", "cache/archives/partial", "etc/preferences.d", "etc/sources.d", "debs"];

/// Suites whose updates appear in the suite itself.
const ROLLING: [&str; 3] = ["sid", "unstable", "experimental"];

/// Archives that a suite's packages come from.
pub(super) struct Archives {
    suite: String,
    searched: Vec<Archive>,
    /// Suites with updates that no mirror here has.
    pub(super) unsearched_suites: Vec<String>,
}

struct Archive {
    mirror: String,
    suite: String,
}

impl Archives {
    /// Configures the suite itself and downloads its index.
    pub(super) fn configure_suite(
        suite: &str,
        job: &FetchJob<'_>,
        context: &mut InstallContext<'_>,
    ) -> Result<Self, ArtifactError> {
        for folder in FOLDERS {
            let folder = job.folder.join(folder);
            fs::create_dir_all(&folder).map_err(ArtifactError::cache(&folder))?;
        }
        let mirror = match suite.ends_with(SECURITY) {
            true => security_mirror(job, context)?,
            false => mirror(job, context)?,
        };
        let searched = vec![Archive { mirror, suite: suite.to_owned() }];
        let archives = Self { suite: suite.to_owned(), searched, unsearched_suites: Vec::new() };
        archives.configure(job)?;
        update(job, context)?;
        Ok(archives)
    }

    /// Adds the archives that hold newer packages of a released suite, as far as mirrors have them: its
    /// updates and its security updates. Returns `true` if there are any.
    pub(super) fn add_updates(
        &mut self,
        job: &FetchJob<'_>,
        context: &mut InstallContext<'_>,
    ) -> Result<bool, ArtifactError> {
        if ROLLING.contains(&self.suite.as_str()) || self.suite.contains('-') {
            return Ok(false);
        }
        let further = [
            Archive { mirror: mirror(job, context)?, suite: format!("{}-updates", self.suite) },
            Archive { mirror: security_mirror(job, context)?, suite: format!("{}{SECURITY}", self.suite) },
        ];
        for archive in further {
            self.searched.push(archive);
            self.configure(job)?;
            match update(job, context) {
                Ok(()) => {}
                // The suite is too young for updates, or the mirror does not have them.
                Err(ArtifactError::ClientFailed { .. }) => {
                    self.unsearched_suites.extend(self.searched.pop().map(|archive| archive.suite));
                    self.configure(job)?;
                }
                Err(error) => return Err(error),
            }
        }
        Ok(self.searched.len() > 1)
    }

    fn configure(&self, job: &FetchJob<'_>) -> Result<(), ArtifactError> {
        let (folder, architecture) = (job.folder.display(), architecture());
        // Passed with `-c`, so that it is read after the machine's own configuration, whose proxies apply.
        // Hooks are cleared, because they could change the machine.
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
        let keyring = job.clients.debian_keyring.display();
        let sources: String = self
            .searched
            .iter()
            .map(|Archive { mirror, suite }| {
                format!(
                    "deb [signed-by={keyring} arch={architecture} target=Packages] {mirror} {suite} main\n"
                )
            })
            .collect();
        for (name, text) in
            [("apt.conf", configuration), ("etc/sources.list", sources), ("state/status", String::new())]
        {
            let path = job.folder.join(name);
            fs::write(&path, text).map_err(ArtifactError::cache(&path))?;
        }
        Ok(())
    }
}

/// Ending of the names of suites with security updates.
const SECURITY: &str = "-security";

/// Returns the mirror from which the machine's own apt-get gets Debian; it may hold other suites, too.
fn mirror(job: &FetchJob<'_>, context: &mut InstallContext<'_>) -> Result<String, ArtifactError> {
    let mirror = find_mirror("Debian", job, context)?;
    mirror.ok_or_else(|| ArtifactError::NoMirror { system: job.system.to_owned() })
}

/// Returns the mirror of security updates; if apt-get has none, the path beside Debian's where mirrors keep
/// them.
fn security_mirror(job: &FetchJob<'_>, context: &mut InstallContext<'_>) -> Result<String, ArtifactError> {
    if let Some(mirror) = find_mirror("Debian-Security", job, context)? {
        return Ok(mirror);
    }
    Ok(format!("{}{SECURITY}/", mirror(job, context)?.trim_end_matches('/')))
}

fn find_mirror(
    label: &str,
    job: &FetchJob<'_>,
    context: &mut InstallContext<'_>,
) -> Result<Option<String>, ArtifactError> {
    let mut command = Command::new(&job.program);
    command
        .args(["indextargets", "--format", "$(REPO_URI)", "Origin: Debian"])
        .arg(format!("Label: {label}"));
    let outcome = process::run(command, job, &[], context)?;
    let mirror = outcome.log.lines().map(str::trim).find(|line| {
        line.contains(":/")
            && !line.contains(|c: char| c.is_whitespace() || c.is_control() || "[]#".contains(c))
    });
    Ok(mirror.map(str::to_owned))
}

pub(super) fn apt_get<const N: usize>(job: &FetchJob<'_>, arguments: [&str; N]) -> Command {
    let mut command = Command::new(&job.program);
    command.arg("-c").arg(job.folder.join("apt.conf")).args(arguments).env("LC_ALL", "C.UTF-8");
    command
}

/// Downloads the indexes. On a mirror that is not kept up to date an index may have expired; it is used
/// anyway, because pinned digests guarantee the contents.
fn update(job: &FetchJob<'_>, context: &mut InstallContext<'_>) -> Result<(), ArtifactError> {
    let lists = job.folder.join("state/lists");
    let done = |_: &Path| bytes_below(&lists);
    // Only apt-get knows how large an index is.
    let probe = process::ProgressProbe { step: InstallStep::Downloading, total: 0, measure: &done };
    match process::run_with_progress(apt_get(job, ["-q", "update"]), job, &probe, context) {
        Err(ArtifactError::ClientFailed { output, .. }) if output.contains("is expired") => {}
        result => return result.map(drop),
    }
    let expired_update = apt_get(job, ["-q", "-o", "Acquire::Check-Valid-Until=false", "update"]);
    process::run_with_progress(expired_update, job, &probe, context).map(drop)
}

/// Returns this machine's architecture, as Debian names it.
fn architecture() -> &'static str {
    match std::env::consts::ARCH {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        "x86" => "i386",
        "powerpc64" => "ppc64el",
        name => name,
    }
}
