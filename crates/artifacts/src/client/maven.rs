//! Maven: `mvn dependency:get` downloads a file into a local repository and compares it with the remote
//! repository's checksum.

use std::{fs, path::PathBuf, process::Command};

use super::{Client, FetchJob, process};
use crate::{
    InstallContext,
    cache::{TemporaryFolder, remove_all},
    error::ArtifactError,
    format::Format,
    lock::Lock,
};

/// Client for one file at exact coordinates.
#[derive(Debug)]
pub(crate) struct Maven {
    coordinates: String,
    /// Folder of the version inside a repository.
    folder: PathBuf,
    file: String,
}

impl Maven {
    /// Creates a client for `group:artifact:version[:packaging[:classifier]]`, which the catalogue has
    /// validated.
    pub(crate) fn new(coordinates: &str) -> Self {
        let mut parts = coordinates.split(':');
        let mut next_part = || parts.next().filter(|part| !part.is_empty());
        let group = next_part().unwrap_or_default();
        let artifact = next_part().unwrap_or_default();
        let version = next_part().unwrap_or_default();
        let packaging = next_part().unwrap_or("jar");
        let classifier = next_part().map(|classifier| format!("-{classifier}")).unwrap_or_default();
        Self {
            coordinates: coordinates.to_owned(),
            folder: PathBuf::from(group.replace('.', "/")).join(artifact).join(version),
            file: format!("{artifact}-{version}{classifier}.{packaging}"),
        }
    }
}

impl Client for Maven {
    fn program(&self) -> &'static str {
        "mvn"
    }

    fn debian_package(&self) -> &'static str {
        "maven"
    }

    fn format(&self) -> Format {
        Format::Zip
    }

    fn copies(&self) -> u64 {
        1
    }

    fn fetch(&self, job: &FetchJob<'_>, context: &mut InstallContext<'_>) -> Result<PathBuf, ArtifactError> {
        // A separate repository, because Maven 3 does not lock its repository. It is kept, because Maven's
        // plugins live in it too and are fetched only once.
        let repository = job.cache.join("maven");
        let _lock = Lock::take(&job.cache.join("locks/maven.lock"), context)?;
        let version = TemporaryFolder::new(repository.join(&self.folder))?;
        let mut command = Command::new(&job.program);
        command
            .args(["-B", "-q", "dependency:get", "-Dtransitive=false"])
            .arg(format!("-Dartifact={}", self.coordinates))
            .arg({
                let mut option = std::ffi::OsString::from("-Dmaven.repo.local=");
                option.push(&repository);
                option
            });
        let outcome = process::run(command, job, &[version.path()], context)?;
        let downloaded = version.path().join(&self.file);
        let archive = job.folder.join(&self.file);
        if !downloaded.is_file() {
            return Err(ArtifactError::NoExpectedArchive {
                command: outcome.command,
                folder: version.path().to_path_buf(),
                output: outcome.output,
            });
        }
        fs::rename(&downloaded, &archive).map_err(ArtifactError::cache(&archive))?;
        drop(version);
        self.remove_empty_folders(&repository);
        Ok(archive)
    }
}

impl Maven {
    fn remove_empty_folders(&self, repository: &std::path::Path) {
        let mut parent = self.folder.parent();
        // The folder of an artifact may also hold metadata that Maven wrote and that is no longer needed.
        if let Some(artifact) = parent {
            let _ = remove_all(&repository.join(artifact));
            parent = artifact.parent();
        }
        while let Some(folder) = parent.filter(|folder| !folder.as_os_str().is_empty()) {
            if fs::remove_dir(repository.join(folder)).is_err() {
                break;
            }
            parent = folder.parent();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn coordinates_lead_to_a_file() {
        let plain = Maven::new("org.duckdb:duckdb_jdbc:2.0.0.0");
        assert_eq!(plain.folder, PathBuf::from("org/duckdb/duckdb_jdbc/2.0.0.0"));
        assert_eq!(plain.file, "duckdb_jdbc-2.0.0.0.jar");
        assert_eq!(Maven::new("a.b:c:1.0:zip:linux").file, "c-1.0-linux.zip");
    }
}
