//! The cache of artifacts: what is in it, and how it gets in and out.

use std::{
    collections::BTreeMap,
    ffi::OsString,
    fs,
    path::{Path, PathBuf},
    time::Duration,
};

use super::{
    Presence, Progress, Step, Watch,
    cache::{self, Places, Scratch, remove_all},
    choice::{self, Choice, Part},
    client::{self, Clients},
    digest,
    error::ArtifactError,
    format::Format,
    lock::Lock,
    newer::{accepted, newer},
    record::{self, Record, Unpacked},
    unpack::{self, Request},
};
use crate::artifact::{Artifact, DebianPackage, Installed, Source, SourceKind, platform};

/// A registry may be slow, but a client that gets nothing for this long gets
/// nothing any more.
const STALL_LIMIT: Duration = Duration::from_secs(600);

/// Where Debian's package of it has it.
const DEBIAN_KEYRING: &str = "/usr/share/keyrings/debian-archive-keyring.gpg";

/// The user's cache of artifacts. Several processes may use one at a time.
#[derive(Debug, Clone)]
pub struct Store {
    root: PathBuf,
    clients: Clients,
    accepts_newer: bool,
}

/// An installed artifact that was compared with its record, file by file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Checked {
    /// Files compared.
    pub files: usize,
    /// Their bytes.
    pub bytes: u64,
}

impl Store {
    /// The cache in this folder, which need not exist yet.
    pub fn new(root: impl Into<PathBuf>) -> Self {
        let root: PathBuf = root.into();
        // Clients work in folders of their own, where a relative one would lead
        // elsewhere.
        let root = std::path::absolute(&root).unwrap_or(root);
        let clients =
            Clients { search_path: None, stall_limit: STALL_LIMIT, debian_keyring: DEBIAN_KEYRING.into() };
        Self { root, clients, accepts_newer: false }
    }

    /// The cache that the environment names; see [`super::cache_root`].
    ///
    /// # Errors
    /// The environment names none.
    pub fn from_environment() -> Result<Self, ArtifactError> {
        Ok(Self::new(cache::cache_root(|name| std::env::var_os(name))?))
    }

    /// Looks for clients in `path`, in the form of `PATH`, and gives it to them
    /// as theirs.
    #[must_use]
    pub fn with_search_path(mut self, path: impl Into<OsString>) -> Self {
        self.clients.search_path = Some(path.into());
        self
    }

    /// Stops a client whose download has not grown for this long; 10 minutes
    /// unless set.
    #[must_use]
    pub fn with_stall_limit(mut self, limit: Duration) -> Self {
        self.clients.stall_limit = limit;
        self
    }

    /// Verifies Debian's archive by this keyring.
    #[must_use]
    pub fn with_debian_keyring(mut self, keyring: impl Into<PathBuf>) -> Self {
        self.clients.debian_keyring = keyring.into();
        self
    }

    /// Takes a newer version where a pinned one is gone from its registry, and
    /// knows those that were taken before; not unless said.
    #[must_use]
    pub fn accepting_newer(mut self, accepts: bool) -> Self {
        self.accepts_newer = accepts;
        self
    }

    pub(super) fn clients(&self) -> &Clients {
        &self.clients
    }

    /// The cache's folder.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Whether an artifact is there, by its record and the sizes of its files.
    pub fn presence(&self, artifact: &Artifact) -> Presence {
        let places = Places::of(&self.root, artifact);
        let mut damaged = None;
        for source in &artifact.sources {
            if source.kind == SourceKind::Bundled {
                return Presence::Bundled;
            }
            for folder in [places.installed(source), places.installed_before(source)] {
                match Record::read(&folder) {
                    None => {}
                    Some(Ok(record)) if record.sha256 != source.digest() => {
                        let problem = "it was unpacked from another archive".to_owned();
                        damaged = damaged.or(Some(Presence::Damaged { folder, problem }));
                    }
                    Some(Ok(record)) if record.selects(source) => {
                        return Presence::Installed(record.installed(&folder, artifact, source));
                    }
                    // Other members of the same archives: another installation.
                    Some(Ok(_)) => {}
                    Some(Err(problem)) => damaged = damaged.or(Some(Presence::Damaged { folder, problem })),
                }
            }
        }
        if self.accepts_newer
            && let Some(accepted) = accepted(artifact, &places)
        {
            return Presence::Installed(accepted);
        }
        damaged.unwrap_or(Presence::Absent)
    }

    /// Makes an artifact be there: fetches all parts of the first source whose
    /// clients are there, verifies them, unpacks them. One that is there is left as it is; one
    /// that another process is installing is waited for.
    ///
    /// `progress` is told about every step; `cancelled` is asked at least every
    /// 50 ms, and a client that is running is then killed.
    ///
    /// # Errors
    /// Everything in [`ArtifactError`]; whatever it is, nothing half done stays
    /// behind but a verified download, which the next call takes up.
    pub fn install(
        &self,
        artifact: &Artifact,
        progress: &mut dyn FnMut(Progress),
        cancelled: &dyn Fn() -> bool,
    ) -> Result<Installed, ArtifactError> {
        if let Some(installed) = self.present(artifact) {
            return Ok(installed);
        }
        if !artifact.fits_here() {
            return Err(ArtifactError::Platform {
                system: artifact.system.clone(),
                version: artifact.version.clone(),
                platform: artifact.platform.clone(),
                here: platform(),
            });
        }
        let mut watch = Watch { progress, cancelled };
        let places = Places::of(&self.root, artifact);
        let _lock = Lock::take(&places.lock, &mut watch)?;
        // Whoever held the lock may have done the work.
        if let Some(installed) = self.present(artifact) {
            return Ok(installed);
        }
        fs::create_dir_all(&places.version).map_err(ArtifactError::cache(&places.version))?;
        let result = self.install_or_newer(artifact, &places, &mut watch);
        if result.is_err() {
            remove_if_empty(&places.version);
            places.version.parent().map(remove_if_empty);
        }
        result
    }

    /// Several parts may be gone, each of another suite.
    fn install_or_newer(
        &self,
        artifact: &Artifact,
        places: &Places,
        watch: &mut Watch<'_>,
    ) -> Result<Installed, ArtifactError> {
        let mut left = artifact.sources.iter().map(|source| source.parts().count()).max().unwrap_or(0);
        let mut taken: Option<(Artifact, String)> = None;
        loop {
            let (now, pinned) = match &taken {
                Some((newer, pinned)) => (newer, Some(pinned.as_str())),
                None => (artifact, None),
            };
            let gone = match self.install_alone(now, pinned, places, watch) {
                Err(ArtifactError::Gone(gone)) if self.accepts_newer && left > 0 => gone,
                other => return other,
            };
            let Some((newer, replaced)) = newer(now, &gone) else { return Err(ArtifactError::Gone(gone)) };
            taken = Some((newer, taken.map_or(replaced, |(_, pinned)| pinned)));
            left -= 1;
        }
    }

    fn install_alone(
        &self,
        artifact: &Artifact,
        accepted_for: Option<&str>,
        places: &Places,
        watch: &mut Watch<'_>,
    ) -> Result<Installed, ArtifactError> {
        // Both are emptied of what a killed run left.
        drop(Scratch::new(places.fetching())?);
        let unpacking = Scratch::new(places.unpacking())?;
        let Choice { source, parts } = choice::choose(artifact, &self.clients, places)?;
        let mut kept = Vec::new();
        for part in &parts {
            // What was built bears no digest by which it would be known again.
            let is_archive = part.client.format() != Format::Program;
            let download = places.download(part.source);
            kept.push(is_archive && part.is_there && self.verify(part.source, &download, watch).is_ok());
        }
        watch.go_on()?;
        choice::check_space(artifact, &parts, &kept, &self.root)?;
        for (part, _) in parts.iter().zip(&kept).filter(|(_, kept)| !**kept) {
            self.fetch(artifact, part, places, watch)?;
        }
        let mut files = Vec::new();
        for part in &parts {
            let own_name: Vec<String> = source.files.values().cloned().collect();
            let taken = self.unpack(part, &own_name, unpacking.path(), places, watch);
            files.extend(taken.inspect_err(|error| forget_unusable(error, &places.download(part.source)))?);
        }
        let is_there = |path: &str| {
            let is_folder = path.ends_with('/');
            files.iter().any(|file| file.path == path || is_folder && file.path.starts_with(path))
        };
        if let Some((role, path)) = source.files.iter().find(|(_, path)| !is_there(path)) {
            for part in &parts {
                let _ = remove_all(&places.download(part.source));
            }
            return Err(ArtifactError::Archive {
                package: source.called(),
                message: format!("`{path}` ({role}) is not in it"),
            });
        }
        let made_with =
            parts.iter().find_map(|part| part.client.made_with(part.program.as_deref()?, &self.clients));
        let record = Record::new(artifact, source, made_with, accepted_for, files);
        for folder in source.parts().flat_map(|part| &part.folders) {
            let folder = unpacking.path().join(folder);
            fs::create_dir_all(&folder).map_err(ArtifactError::cache(&folder))?;
        }
        record.write(unpacking.path())?;
        make_durable(unpacking.path())?;
        let folder = places.installed(source);
        remove_all(&folder).map_err(ArtifactError::cache(&folder))?;
        fs::rename(unpacking.path(), &folder).map_err(ArtifactError::cache(&folder))?;
        for part in &parts {
            let download = places.download(part.source);
            remove_all(&download).map_err(ArtifactError::cache(&download))?;
        }
        Ok(record.installed(&folder, artifact, source))
    }

    /// Fetches a part and verifies it; it is then where its download is kept.
    fn fetch(
        &self,
        artifact: &Artifact,
        part: &Part<'_>,
        places: &Places,
        watch: &mut Watch<'_>,
    ) -> Result<(), ArtifactError> {
        let Part { source, client, program, .. } = part;
        let download = places.download(source);
        remove_all(&download).map_err(ArtifactError::cache(&download))?;
        let Some(program) = program else {
            return Err(choice::no_client(artifact, &self.clients, places));
        };
        // What the client leaves beside the archive can be as large as it is, and goes with the folder.
        let folder = Scratch::new(places.fetching())?;
        let job = client::Job {
            program: program.clone(),
            clients: &self.clients,
            system: &artifact.system,
            command: artifact.command("install"),
            folder: folder.path(),
            cache: &self.root,
            bytes: source.bytes,
        };
        watch.tell(Step::Downloading, 0, source.bytes);
        let archive = client.fetch(&job, watch)?;
        self.verify(source, &archive, watch)?;
        fs::rename(&archive, &download).map_err(ArtifactError::cache(&download))
    }

    /// Unpacks a part's download; `own_name` is what a program that was built is
    /// called.
    fn unpack(
        &self,
        part: &Part<'_>,
        own_name: &[String],
        into: &Path,
        places: &Places,
        watch: &mut Watch<'_>,
    ) -> Result<Vec<Unpacked>, ArtifactError> {
        let Part { source, client, .. } = part;
        let download = places.download(source);
        let is_built = client.format() == Format::Program;
        let inner = self.inner(source, &download, client.format(), places, watch)?;
        let (archive, format) = match &inner {
            Some((_, archive, format)) => (archive.as_path(), *format),
            None => (download.as_path(), client.format()),
        };
        let unpacker = self.clients.find(client::UNPACKER);
        let request = Request {
            archive,
            format,
            into,
            members: if is_built { own_name } else { &source.members },
            // How large a program becomes is also the compiler's affair.
            limit: if is_built { source.unpacked_bytes.saturating_mul(2) } else { source.unpacked_bytes },
            limit_is: if is_built {
                "twice the stated `unpacked_bytes`"
            } else {
                "the stated `unpacked_bytes`"
            },
            package: source.kind.package(),
            unpacker: unpacker.as_deref(),
        };
        unpack::unpack(&request, watch)
    }

    /// Takes the archive inside the archive out, where the source has one.
    fn inner(
        &self,
        source: &Source,
        download: &Path,
        format: Format,
        places: &Places,
        watch: &Watch<'_>,
    ) -> Result<Option<(Scratch, PathBuf, Format)>, ArtifactError> {
        let Some(inner) = &source.inner else { return Ok(None) };
        let package = source.kind.package();
        let unknown = || ArtifactError::Archive {
            package: package.to_owned(),
            message: format!("`{inner}` is no archive of a known kind: .tar.gz, .tgz, .zip, .jar, .whl"),
        };
        let inner_format = Format::of(inner).ok_or_else(unknown)?;
        let folder = Scratch::new(places.fetching())?;
        let request = Request {
            archive: download,
            format,
            into: folder.path(),
            members: std::slice::from_ref(inner),
            // It is packed itself, so that it is hardly larger than what it is packed in.
            limit: source.bytes.saturating_mul(2),
            limit_is: "twice the size of the archive that it is in",
            package,
            unpacker: None,
        };
        // A step of its own in nobody's eyes.
        unpack::unpack(&request, &mut Watch { progress: &mut |_| {}, cancelled: watch.cancelled })?;
        let archive = folder.path().join(inner);
        Ok(Some((folder, archive, inner_format)))
    }

    /// The source from which an artifact would be fetched now: the first whose clients are there, or simply
    /// the first.
    pub fn source<'a>(&self, artifact: &'a Artifact) -> Option<&'a Source> {
        match choice::choose(artifact, &self.clients, &Places::of(&self.root, artifact)) {
            Ok(choice) => Some(choice.source),
            Err(_) => artifact.sources.first(),
        }
    }

    /// The version that an artifact really is here: its own, unless a newer one was accepted.
    pub fn version(&self, artifact: &Artifact) -> String {
        self.present(artifact).map_or_else(|| artifact.version.clone(), |installed| installed.version)
    }

    /// What the machine lacks to fetch an artifact, with what to do; nothing where it is there already or
    /// can be fetched.
    pub fn lacks(&self, artifact: &Artifact) -> Option<String> {
        if self.present(artifact).is_some() || !artifact.fits_here() {
            return None;
        }
        let places = Places::of(&self.root, artifact);
        match choice::choose(artifact, &self.clients, &places) {
            Ok(_) => None,
            Err(ArtifactError::NoClient { clients, remedies, .. }) => {
                let clients = clients.join(" or ");
                let are = if clients.contains(" and ") { "are" } else { "is" };
                Some(format!(
                    "{clients}, by which it is fetched, {are} not on the search path: {}",
                    remedies.join(", or ")
                ))
            }
            Err(ArtifactError::Unfit { problems, .. }) => Some(problems.join(", or ")),
            Err(error) => Some(error.to_string()),
        }
    }

    /// Removes every trace of this version from the cache and says how many
    /// bytes that freed. One that is part of the program is not touched.
    ///
    /// # Errors
    /// The cache cannot be written to, or the caller wants to stop while another
    /// process is installing the version.
    pub fn remove(&self, artifact: &Artifact, cancelled: &dyn Fn() -> bool) -> Result<u64, ArtifactError> {
        let places = Places::of(&self.root, artifact);
        if artifact.is_bundled() || !places.version.exists() {
            return Ok(0);
        }
        let _lock = Lock::take(&places.lock, &mut Watch { progress: &mut |_| {}, cancelled })?;
        let bytes = cache::bytes_below(&places.version);
        remove_all(&places.version).map_err(ArtifactError::cache(&places.version))?;
        places.version.parent().map(remove_if_empty);
        Ok(bytes)
    }

    /// Compares every file of an installed artifact with its record.
    ///
    /// # Errors
    /// It is not installed, or is not what was unpacked, or the caller wants to
    /// stop.
    pub fn check(
        &self,
        artifact: &Artifact,
        progress: &mut dyn FnMut(Progress),
        cancelled: &dyn Fn() -> bool,
    ) -> Result<Checked, ArtifactError> {
        let damaged = |folder, problems| ArtifactError::Damaged {
            folder,
            problems,
            commands: artifact.replacing_commands(),
        };
        let (folder, sha256) = match self.presence(artifact) {
            Presence::Bundled => return Ok(Checked { files: 0, bytes: 0 }),
            Presence::Installed(Installed { folder: Some(folder), sha256, .. }) => (folder, sha256),
            Presence::Damaged { folder, problem } => {
                return Err(damaged(folder, vec![problem]));
            }
            Presence::Installed(_) | Presence::Absent => {
                return Err(ArtifactError::NotInstalled {
                    system: artifact.system.clone(),
                    version: artifact.version.clone(),
                    command: artifact.command("install"),
                });
            }
        };
        let record = match Record::read(&folder) {
            Some(Ok(record)) if Some(&record.sha256) == sha256.as_ref() => record,
            Some(Err(problem)) => return Err(damaged(folder, vec![problem])),
            _ => {
                let problems = vec![format!("{} changed meanwhile", record::NAME)];
                return Err(damaged(folder, problems));
            }
        };
        let total = record.files.iter().map(|file| file.bytes).sum();
        let mut watch = Watch { progress, cancelled };
        let mut problems = Vec::new();
        let mut bytes = 0;
        for file in &record.files {
            let path = folder.join(&file.path);
            let same = match &file.link {
                Some(target) => fs::read_link(&path).is_ok_and(|found| found == Path::new(target)),
                None => digest::of_file(&path, bytes, total, &mut watch)?.0 == file.sha256,
            };
            if !same {
                problems.push(format!("{} has other contents than it was unpacked with", file.path));
            }
            bytes += file.bytes;
        }
        if problems.is_empty() {
            Ok(Checked { files: record.files.len(), bytes })
        } else {
            Err(damaged(folder, problems))
        }
    }

    fn present(&self, artifact: &Artifact) -> Option<Installed> {
        match self.presence(artifact) {
            Presence::Bundled => Some(Installed {
                folder: None,
                version: artifact.version.clone(),
                reports: artifact.reports.clone(),
                sha256: None,
                source: SourceKind::Bundled.package().to_owned(),
                files: BTreeMap::new(),
            }),
            Presence::Installed(installed) => Some(installed),
            Presence::Absent | Presence::Damaged { .. } => None,
        }
    }

    fn verify(&self, source: &Source, archive: &Path, watch: &mut Watch<'_>) -> Result<(), ArtifactError> {
        match &source.kind {
            SourceKind::Debian { packages, .. } => {
                let mut done = 0;
                for package in packages {
                    let DebianPackage { name, version, sha256, bytes } = package;
                    let (found, found_bytes) =
                        digest::of_file(&archive.join(client::deb(name)), done, source.bytes, watch)?;
                    done += found_bytes;
                    same(&format!("{name} {version}"), (sha256, *bytes), (found, found_bytes))?;
                }
                Ok(())
            }
            // Pinned by what it is built from.
            SourceKind::Go { .. } => Ok(()),
            _ => {
                let found = digest::of_file(archive, 0, source.bytes, watch)?;
                same(source.kind.package(), (&source.sha256, source.bytes), found)
            }
        }
    }
}

/// Whether what came is what was expected. The digest decides; a size that is stated wrongly beside the right digest is
/// the folder's mistake.
fn same(
    package: &str,
    (expected, expected_bytes): (&str, u64),
    (found, found_bytes): (String, u64),
) -> Result<(), ArtifactError> {
    if found == expected && found_bytes == expected_bytes {
        return Ok(());
    }
    if found == expected {
        return Err(ArtifactError::Bytes {
            package: package.to_owned(),
            stated: expected_bytes,
            found: found_bytes,
        });
    }
    Err(ArtifactError::Digest {
        package: package.to_owned(),
        expected: expected.to_owned(),
        found,
        expected_bytes,
        found_bytes,
    })
}

/// An archive that cannot be unpacked now cannot be tomorrow.
fn forget_unusable(error: &ArtifactError, download: &Path) {
    if matches!(error, ArtifactError::Archive { .. }) {
        let _ = remove_all(download);
    }
}

fn remove_if_empty(folder: &Path) {
    let _ = fs::remove_dir(folder);
}

/// A folder under its final name must not turn out empty after a power loss.
fn make_durable(folder: &Path) -> Result<(), ArtifactError> {
    let opened = fs::File::open(folder).map_err(ArtifactError::cache(folder))?;
    #[cfg(target_os = "linux")]
    let synced = rustix::fs::syncfs(&opened).map_err(std::io::Error::from);
    #[cfg(not(target_os = "linux"))]
    let synced = opened.sync_all();
    synced.map_err(ArtifactError::cache(folder))
}
