//! The cache of artifacts: looks up, installs, checks and removes them.

use std::{
    collections::BTreeMap,
    ffi::OsString,
    fs,
    path::{Path, PathBuf},
    time::Duration,
};

use jsonathlon_catalogue::artifact::{
    Artifact, DebianPackage, InstalledArtifact, Source, SourceKind, platform,
};

use crate::{
    InstallContext, InstallProgress, InstallState, InstallStep,
    cache::{self, CachePaths, TemporaryFolder, remove_all},
    client::{self, ClientLookup},
    digest,
    error::ArtifactError,
    format::Format,
    install_record::{self, InstallRecord, UnpackedFile},
    lock::Lock,
    newer_versions::{find_accepted, newer_artifact},
    source_selection::{SelectedSource, SourcePart, check_space, choose_source, no_client_error},
    unpack::{self, UnpackRequest},
};

/// Time without progress after which a client is killed: a registry may be slow, but a client that receives
/// nothing for this long is assumed to hang.
const STALL_LIMIT: Duration = Duration::from_secs(600);

/// Path at which Debian's package `debian-archive-keyring` installs the keyring.
const DEBIAN_KEYRING: &str = "/usr/share/keyrings/debian-archive-keyring.gpg";

/// The user's cache of artifacts. Several processes may use one cache at the same time.
#[derive(Debug, Clone)]
pub struct ArtifactStore {
    root: PathBuf,
    clients: ClientLookup,
    accepts_newer: bool,
}

/// Result of comparing an installed artifact with its record, file by file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct VerifiedArtifact {
    /// Number of files that were compared.
    pub files: usize,
    /// Recorded size of these files, in bytes.
    pub bytes: u64,
}

impl ArtifactStore {
    /// Uses the cache in this folder, which need not exist yet.
    pub fn new(root: impl Into<PathBuf>) -> Self {
        let root: PathBuf = root.into();
        // Clients run in folders of their own, where a relative path would lead elsewhere.
        let root = std::path::absolute(&root).unwrap_or(root);
        let clients = ClientLookup {
            search_path: None,
            stall_limit: STALL_LIMIT,
            debian_keyring: DEBIAN_KEYRING.into(),
        };
        Self { root, clients, accepts_newer: false }
    }

    /// Uses the cache that environment variables name; see [`super::cache_root`].
    ///
    /// # Errors
    /// [`ArtifactError::NoCacheFolder`] if the environment names none.
    pub fn from_environment() -> Result<Self, ArtifactError> {
        Ok(Self::new(cache::cache_root(|name| std::env::var_os(name))?))
    }

    /// Sets the search path for clients, in the form of `PATH`; clients get it as their own `PATH`, too.
    /// Default: the `PATH` of this process.
    #[must_use]
    pub fn with_search_path(mut self, path: impl Into<OsString>) -> Self {
        self.clients.search_path = Some(path.into());
        self
    }

    /// Sets the time without progress after which a client is killed; a build may take three times as long.
    /// Default: 10 minutes.
    #[must_use]
    pub fn with_stall_limit(mut self, limit: Duration) -> Self {
        self.clients.stall_limit = limit;
        self
    }

    /// Sets the keyring by which Debian's archive is verified. Default: that of the package
    /// `debian-archive-keyring`.
    #[must_use]
    pub fn with_debian_keyring(mut self, keyring: impl Into<PathBuf>) -> Self {
        self.clients.debian_keyring = keyring.into();
        self
    }

    /// Sets whether newer versions are accepted: they are installed if a pinned one is gone from its
    /// registry, and those that were accepted before count as installed. Default: `false`.
    #[must_use]
    pub fn with_newer_versions(mut self, accepts: bool) -> Self {
        self.accepts_newer = accepts;
        self
    }

    pub(super) fn clients(&self) -> &ClientLookup {
        &self.clients
    }

    /// Returns the root folder of the cache.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Looks up an artifact in the cache, judged by its record and the sizes of its files.
    pub fn presence(&self, artifact: &Artifact) -> InstallState {
        let paths = CachePaths::new(&self.root, artifact);
        let mut damaged = None;
        for source in &artifact.sources {
            if source.kind == SourceKind::Bundled {
                return InstallState::Bundled;
            }
            let folder = paths.installation(source);
            match InstallRecord::read(&folder) {
                None => {}
                Some(Ok(record)) if record.sha256 != source.digest() => {
                    let problem = "it was unpacked from another archive".to_owned();
                    damaged = damaged.or(Some(InstallState::Damaged { folder, problem }));
                }
                Some(Ok(record)) if record.has_same_selection(source) => {
                    return InstallState::Installed(record.to_installed(&folder, artifact, source));
                }
                // Other members of the same archives are another installation.
                Some(Ok(_)) => {}
                Some(Err(problem)) => damaged = damaged.or(Some(InstallState::Damaged { folder, problem })),
            }
        }
        if self.accepts_newer
            && let Some(accepted) = find_accepted(artifact, &paths)
        {
            return InstallState::Installed(accepted);
        }
        damaged.unwrap_or(InstallState::Absent)
    }

    /// Installs an artifact: chooses a source, fetches all its parts, verifies and unpacks them. An installed
    /// artifact is left as it is; an installation by another process is waited for.
    ///
    /// A source with a download in the cache is preferred, otherwise the first whose clients are present.
    /// `progress` receives every step. `is_cancelled` is polled about every 50 ms while a lock or a client is
    /// waited for; when it returns `true`, a running client is killed.
    ///
    /// # Errors
    /// Any [`ArtifactError`]. A failed installation leaves nothing behind but verified downloads, which the
    /// next call uses.
    pub fn install(
        &self,
        artifact: &Artifact,
        progress: &mut dyn FnMut(InstallProgress),
        is_cancelled: &dyn Fn() -> bool,
    ) -> Result<InstalledArtifact, ArtifactError> {
        if let Some(installed) = self.present(artifact) {
            return Ok(installed);
        }
        if !artifact.matches_platform() {
            return Err(ArtifactError::Platform {
                system: artifact.system.clone(),
                version: artifact.version.clone(),
                platform: artifact.platform.clone(),
                machine_platform: platform(),
            });
        }
        let mut context = InstallContext { progress, is_cancelled };
        let paths = CachePaths::new(&self.root, artifact);
        let _lock = Lock::take(&paths.lock, &mut context)?;
        // The former holder of the lock may have installed the artifact.
        if let Some(installed) = self.present(artifact) {
            return Ok(installed);
        }
        fs::create_dir_all(&paths.version_folder).map_err(ArtifactError::cache(&paths.version_folder))?;
        let result = self.install_or_newer(artifact, &paths, &mut context);
        if result.is_err() {
            remove_if_empty(&paths.version_folder);
            paths.version_folder.parent().map(remove_if_empty);
        }
        result
    }

    /// Installs the artifact; parts that are gone are replaced by newer ones if these are accepted. Several
    /// parts may be gone, each from another suite, so this is repeated for each.
    fn install_or_newer(
        &self,
        artifact: &Artifact,
        paths: &CachePaths,
        context: &mut InstallContext<'_>,
    ) -> Result<InstalledArtifact, ArtifactError> {
        let mut remaining = artifact.sources.iter().map(|source| source.parts().count()).max().unwrap_or(0);
        let mut replacement: Option<(Artifact, String)> = None;
        loop {
            let (current, pinned) = match &replacement {
                Some((newer, pinned)) => (newer, Some(pinned.as_str())),
                None => (artifact, None),
            };
            let unavailable = match self.install_parts(current, pinned, paths, context) {
                Err(ArtifactError::PackagesUnavailable(unavailable))
                    if self.accepts_newer && remaining > 0 =>
                {
                    unavailable
                }
                result => return result,
            };
            let Some((newer, replaced)) = newer_artifact(current, &unavailable) else {
                return Err(ArtifactError::PackagesUnavailable(unavailable));
            };
            replacement = Some((newer, replacement.map_or(replaced, |(_, pinned)| pinned)));
            remaining -= 1;
        }
    }

    fn install_parts(
        &self,
        artifact: &Artifact,
        replaced_digest: Option<&str>,
        paths: &CachePaths,
        context: &mut InstallContext<'_>,
    ) -> Result<InstalledArtifact, ArtifactError> {
        // Remove what a killed run may have left in both folders.
        drop(TemporaryFolder::new(paths.fetch_folder())?);
        let unpacking = TemporaryFolder::new(paths.unpack_folder())?;
        let SelectedSource { source, parts } = choose_source(artifact, &self.clients, paths)?;
        let mut verified = Vec::new();
        for part in &parts {
            // A built program has no digest by which it could be verified later.
            let is_candidate = part.is_downloaded && part.client.format() != Format::Program;
            let download = paths.download(part.source);
            verified.push(is_candidate && self.verify(part.source, &download, context).is_ok());
        }
        context.check_cancelled()?;
        check_space(artifact, &parts, &verified, &self.root)?;
        for (part, _) in parts.iter().zip(&verified).filter(|(_, verified)| !**verified) {
            self.fetch(artifact, part, paths, context)?;
        }
        let mut files = Vec::new();
        for part in &parts {
            let program_names: Vec<String> = source.files.values().cloned().collect();
            let unpacked = self.unpack(part, &program_names, unpacking.path(), paths, context);
            files.extend(unpacked.inspect_err(|error| remove_unusable(error, &paths.download(part.source)))?);
        }
        let is_present = |path: &str| {
            let is_folder = path.ends_with('/');
            files.iter().any(|file| file.path == path || is_folder && file.path.starts_with(path))
        };
        if let Some((role, path)) = source.files.iter().find(|(_, path)| !is_present(path)) {
            for part in &parts {
                let _ = remove_all(&paths.download(part.source));
            }
            return Err(ArtifactError::Archive {
                package: source.display_name(),
                message: format!("`{path}` ({role}) is not in it"),
            });
        }
        let tool_version =
            parts.iter().find_map(|part| part.client.tool_version(part.program.as_deref()?, &self.clients));
        let record = InstallRecord::new(artifact, source, tool_version, replaced_digest, files);
        for folder in source.parts().flat_map(|part| &part.folders) {
            let folder = unpacking.path().join(folder);
            fs::create_dir_all(&folder).map_err(ArtifactError::cache(&folder))?;
        }
        record.write(unpacking.path())?;
        make_durable(unpacking.path())?;
        let folder = paths.installation(source);
        remove_all(&folder).map_err(ArtifactError::cache(&folder))?;
        fs::rename(unpacking.path(), &folder).map_err(ArtifactError::cache(&folder))?;
        for part in &parts {
            let download = paths.download(part.source);
            remove_all(&download).map_err(ArtifactError::cache(&download))?;
        }
        Ok(record.to_installed(&folder, artifact, source))
    }

    /// Fetches a part, verifies it and moves it to the path of its download.
    fn fetch(
        &self,
        artifact: &Artifact,
        part: &SourcePart<'_>,
        paths: &CachePaths,
        context: &mut InstallContext<'_>,
    ) -> Result<(), ArtifactError> {
        let SourcePart { source, client, program, .. } = part;
        let download = paths.download(source);
        remove_all(&download).map_err(ArtifactError::cache(&download))?;
        let Some(program) = program else {
            return Err(no_client_error(artifact, &self.clients, paths));
        };
        // Files that the client leaves beside the archive can be as large as it; they are removed with the
        // folder.
        let folder = TemporaryFolder::new(paths.fetch_folder())?;
        let job = client::FetchJob {
            program: program.clone(),
            clients: &self.clients,
            system: &artifact.system,
            command: artifact.command("install"),
            folder: folder.path(),
            cache: &self.root,
            bytes: source.bytes,
        };
        context.report_progress(InstallStep::Downloading, 0, source.bytes);
        let archive = client.fetch(&job, context)?;
        self.verify(source, &archive, context)?;
        fs::rename(&archive, &download).map_err(ArtifactError::cache(&download))
    }

    /// Unpacks a part's download. `program_names` holds the file name for a program that was built.
    fn unpack(
        &self,
        part: &SourcePart<'_>,
        program_names: &[String],
        folder: &Path,
        paths: &CachePaths,
        context: &mut InstallContext<'_>,
    ) -> Result<Vec<UnpackedFile>, ArtifactError> {
        let SourcePart { source, client, .. } = part;
        let download = paths.download(source);
        let is_built = client.format() == Format::Program;
        let inner = self.inner(source, &download, client.format(), paths, context)?;
        let (archive, format) = match &inner {
            Some((_, archive, format)) => (archive.as_path(), *format),
            None => (download.as_path(), client.format()),
        };
        let unpacker = self.clients.find(client::UNPACKER);
        let request = UnpackRequest {
            archive,
            format,
            folder,
            members: if is_built { program_names } else { &source.members },
            // The size of a built program also depends on the compiler.
            limit_bytes: source.unpacked_bytes.saturating_mul(if is_built { 2 } else { 1 }),
            limit_description: if is_built {
                "twice the stated `unpacked_bytes`"
            } else {
                "the stated `unpacked_bytes`"
            },
            package: source.kind.package(),
            unpacker: unpacker.as_deref(),
        };
        unpack::unpack(&request, context)
    }

    /// Extracts the inner archive of a source. `None` if it has none. The archive is removed with the
    /// [`TemporaryFolder`].
    fn inner(
        &self,
        source: &Source,
        download: &Path,
        format: Format,
        paths: &CachePaths,
        context: &InstallContext<'_>,
    ) -> Result<Option<(TemporaryFolder, PathBuf, Format)>, ArtifactError> {
        let Some(inner) = &source.inner else { return Ok(None) };
        let package = source.kind.package();
        let unknown = || ArtifactError::Archive {
            package: package.to_owned(),
            message: format!("`{inner}` is no archive of a known kind: .tar.gz, .tgz, .zip, .jar, .whl"),
        };
        let inner_format = Format::from_name(inner).ok_or_else(unknown)?;
        let folder = TemporaryFolder::new(paths.fetch_folder())?;
        let request = UnpackRequest {
            archive: download,
            format,
            folder: folder.path(),
            members: std::slice::from_ref(inner),
            // The inner archive is compressed itself, so it is hardly larger than the outer one.
            limit_bytes: source.bytes.saturating_mul(2),
            limit_description: "twice the size of the archive that it is in",
            package,
            unpacker: None,
        };
        // Not reported as a step of its own.
        let is_cancelled = context.is_cancelled;
        unpack::unpack(&request, &mut InstallContext { progress: &mut |_| {}, is_cancelled })?;
        let archive = folder.path().join(inner);
        Ok(Some((folder, archive, inner_format)))
    }

    /// Returns the source from which an artifact would be fetched now, or the first one if none can be
    /// fetched. `None` if the artifact has no source.
    pub fn source<'a>(&self, artifact: &'a Artifact) -> Option<&'a Source> {
        match choose_source(artifact, &self.clients, &CachePaths::new(&self.root, artifact)) {
            Ok(choice) => Some(choice.source),
            Err(_) => artifact.sources.first(),
        }
    }

    /// Returns the version that an artifact has on this machine: its own, unless a newer one was accepted.
    pub fn version(&self, artifact: &Artifact) -> String {
        self.present(artifact).map_or_else(|| artifact.version.clone(), |installed| installed.version)
    }

    /// Returns what this machine is missing for fetching an artifact, with remedies. `None` if the artifact
    /// is installed, can be fetched, or is for another platform.
    pub fn missing_requirements(&self, artifact: &Artifact) -> Option<String> {
        if self.present(artifact).is_some() || !artifact.matches_platform() {
            return None;
        }
        let paths = CachePaths::new(&self.root, artifact);
        match choose_source(artifact, &self.clients, &paths) {
            Ok(_) => None,
            Err(ArtifactError::NoClient { clients, remedies, .. }) => {
                let clients = clients.join(" or ");
                let verb = if clients.contains(" and ") { "are" } else { "is" };
                Some(format!(
                    "{clients}, by which it is fetched, {verb} not on the search path: {}",
                    remedies.join(", or ")
                ))
            }
            Err(ArtifactError::UnusableClient { problems, .. }) => Some(problems.join(", or ")),
            Err(error) => Some(error.to_string()),
        }
    }

    /// Removes everything of this version from the cache and returns the freed bytes: 0 if it is bundled or
    /// absent.
    ///
    /// # Errors
    /// [`ArtifactError::Cache`] if the cache cannot be written to, [`ArtifactError::Cancelled`] if
    /// `is_cancelled` returns `true` while another process works on the version.
    pub fn remove(&self, artifact: &Artifact, is_cancelled: &dyn Fn() -> bool) -> Result<u64, ArtifactError> {
        let paths = CachePaths::new(&self.root, artifact);
        if artifact.is_bundled() || !paths.version_folder.exists() {
            return Ok(0);
        }
        let _lock = Lock::take(&paths.lock, &mut InstallContext { progress: &mut |_| {}, is_cancelled })?;
        let bytes = cache::bytes_below(&paths.version_folder);
        remove_all(&paths.version_folder).map_err(ArtifactError::cache(&paths.version_folder))?;
        paths.version_folder.parent().map(remove_if_empty);
        Ok(bytes)
    }

    /// Compares every file of an installed artifact with its record. A bundled artifact has no files to
    /// compare.
    ///
    /// # Errors
    /// [`ArtifactError::NotInstalled`] if the artifact is absent, [`ArtifactError::Damaged`] if it is not
    /// what was unpacked, [`ArtifactError::Cancelled`] if `is_cancelled` returns `true`.
    pub fn check(
        &self,
        artifact: &Artifact,
        progress: &mut dyn FnMut(InstallProgress),
        is_cancelled: &dyn Fn() -> bool,
    ) -> Result<VerifiedArtifact, ArtifactError> {
        let damaged = |folder, problems| ArtifactError::Damaged {
            folder,
            problems,
            commands: artifact.reinstall_command(),
        };
        let (folder, sha256) = match self.presence(artifact) {
            InstallState::Bundled => return Ok(VerifiedArtifact { files: 0, bytes: 0 }),
            InstallState::Installed(InstalledArtifact { folder: Some(folder), sha256, .. }) => {
                (folder, sha256)
            }
            InstallState::Damaged { folder, problem } => {
                return Err(damaged(folder, vec![problem]));
            }
            InstallState::Installed(_) | InstallState::Absent => {
                return Err(ArtifactError::NotInstalled {
                    system: artifact.system.clone(),
                    version: artifact.version.clone(),
                    command: artifact.command("install"),
                });
            }
        };
        let record = match InstallRecord::read(&folder) {
            Some(Ok(record)) if Some(&record.sha256) == sha256.as_ref() => record,
            Some(Err(problem)) => return Err(damaged(folder, vec![problem])),
            _ => {
                let problems = vec![format!("{} changed meanwhile", install_record::RECORD_FILE)];
                return Err(damaged(folder, problems));
            }
        };
        let total = record.files.iter().map(|file| file.bytes).sum();
        let mut context = InstallContext { progress, is_cancelled };
        let mut problems = Vec::new();
        let mut bytes = 0;
        for file in &record.files {
            let path = folder.join(&file.path);
            let is_same = match &file.link {
                Some(target) => fs::read_link(&path).is_ok_and(|actual| actual == Path::new(target)),
                None => digest::file_digest(&path, bytes, total, &mut context)?.0 == file.sha256,
            };
            if !is_same {
                problems.push(format!("{} has other contents than it was unpacked with", file.path));
            }
            bytes += file.bytes;
        }
        if problems.is_empty() {
            Ok(VerifiedArtifact { files: record.files.len(), bytes })
        } else {
            Err(damaged(folder, problems))
        }
    }

    fn present(&self, artifact: &Artifact) -> Option<InstalledArtifact> {
        match self.presence(artifact) {
            InstallState::Bundled => Some(InstalledArtifact {
                folder: None,
                version: artifact.version.clone(),
                version_text: artifact.version_text.clone(),
                sha256: None,
                source: SourceKind::Bundled.package().to_owned(),
                files: BTreeMap::new(),
            }),
            InstallState::Installed(installed) => Some(installed),
            InstallState::Absent | InstallState::Damaged { .. } => None,
        }
    }

    fn verify(
        &self,
        source: &Source,
        archive: &Path,
        context: &mut InstallContext<'_>,
    ) -> Result<(), ArtifactError> {
        match &source.kind {
            SourceKind::Debian { packages, .. } => {
                let mut done = 0;
                for package in packages {
                    let DebianPackage { name, version, sha256, bytes } = package;
                    let file = archive.join(client::deb_file_name(name));
                    let (found, found_bytes) = digest::file_digest(&file, done, source.bytes, context)?;
                    done += found_bytes;
                    check_download(&format!("{name} {version}"), (sha256, *bytes), (found, found_bytes))?;
                }
                Ok(())
            }
            // Pinned by the digests of its inputs in `go.sum`.
            SourceKind::Go { .. } => Ok(()),
            _ => {
                let found = digest::file_digest(archive, 0, source.bytes, context)?;
                check_download(source.kind.package(), (&source.sha256, source.bytes), found)
            }
        }
    }
}

/// Compares a download with the catalogue. The digest decides: another size with the right digest is a
/// mistake in the system's folder.
fn check_download(
    package: &str,
    (expected, expected_bytes): (&str, u64),
    (actual, actual_bytes): (String, u64),
) -> Result<(), ArtifactError> {
    if actual == expected && actual_bytes == expected_bytes {
        return Ok(());
    }
    if actual == expected {
        return Err(ArtifactError::WrongSize {
            package: package.to_owned(),
            stated_bytes: expected_bytes,
            actual_bytes,
        });
    }
    Err(ArtifactError::WrongDigest {
        package: package.to_owned(),
        expected: expected.to_owned(),
        actual,
        expected_bytes,
        actual_bytes,
    })
}

/// Removes a download that cannot be unpacked, because the next attempt would fail in the same way.
fn remove_unusable(error: &ArtifactError, download: &Path) {
    if matches!(error, ArtifactError::Archive { .. }) {
        let _ = remove_all(download);
    }
}

fn remove_if_empty(folder: &Path) {
    let _ = fs::remove_dir(folder);
}

/// Flushes a folder to the disk, so that it is not empty under its final name after a power loss.
fn make_durable(folder: &Path) -> Result<(), ArtifactError> {
    let opened = fs::File::open(folder).map_err(ArtifactError::cache(folder))?;
    #[cfg(target_os = "linux")]
    let synced = rustix::fs::syncfs(&opened).map_err(std::io::Error::from);
    #[cfg(not(target_os = "linux"))]
    let synced = opened.sync_all();
    synced.map_err(ArtifactError::cache(folder))
}
