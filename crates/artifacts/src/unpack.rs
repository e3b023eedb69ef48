//! Extracts members from an archive without letting it write anywhere else.
//!
//! The digest of the archive was verified before, so these checks guard against a mistaken or malicious
//! catalogue folder. A name must not be absolute or contain `..`. Every folder on the way to a file must be a
//! real folder, so that a link from the archive is never followed. Files are only created, never opened.
//! Links must lead below the root.

use std::{
    collections::BTreeSet,
    fs::{self, File},
    io::{self, BufReader, Read, Write},
    os::unix::fs::{OpenOptionsExt, symlink},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
};

use jsonathlon_catalogue::is_member;

use crate::{
    InstallContext, InstallStep,
    client::{UNPACKER, die_with_parent},
    digest::{BLOCK_BYTES, Hasher},
    error::ArtifactError,
    format::Format,
    install_record::UnpackedFile,
};

/// Limit of the bytes that are counted when an archive exceeds its stated size: 64 GiB. No system is larger,
/// but a malicious archive may decompress to more.
const MAX_COUNTED_BYTES: u64 = 1 << 36;

/// What to extract from which archive, and where to.
#[derive(Debug)]
pub(crate) struct UnpackRequest<'a> {
    pub(crate) archive: &'a Path,
    pub(crate) format: Format,
    /// Empty folder to extract into.
    pub(crate) folder: &'a Path,
    /// Files, folders (end with `/`) or prefixes of names in one folder (end with `*`). Empty: everything is
    /// extracted. For [`Format::Program`], the only entry is the name that the file gets.
    pub(crate) members: &'a [String],
    /// Maximum size of the extracted members together, in bytes.
    pub(crate) limit_bytes: u64,
    /// Description of the limit, for error messages.
    pub(crate) limit_description: &'static str,
    /// Name of the archive, for error messages.
    pub(crate) package: &'a str,
    /// Program that reads `.deb` files. `None` if it is missing; only [`Format::Debian`] needs it.
    pub(crate) unpacker: Option<&'a Path>,
}

/// Extracts the requested members and returns path, size and SHA-256 of each. Fails if a member is missing,
/// the limit is exceeded or nothing was extracted.
pub(crate) fn unpack(
    request: &UnpackRequest<'_>,
    context: &mut InstallContext<'_>,
) -> Result<Vec<UnpackedFile>, ArtifactError> {
    let mut extractor = Extractor { request, context, files: Vec::new(), bytes: 0, matched: BTreeSet::new() };
    let open = || File::open(request.archive).map_err(ArtifactError::cache(request.archive));
    match request.format {
        Format::TarGz => extractor.tar(flate2::read::MultiGzDecoder::new(BufReader::new(open()?)))?,
        Format::Zip => extractor.zip(BufReader::new(open()?))?,
        Format::Debian => extractor.debian()?,
        Format::Program => {
            let [name] = request.members else { return Err(extractor.refuse("it has no name")) };
            extractor.extract(name.as_bytes(), Kind::File { executable: true }, &mut open()?)?;
        }
    }
    if extractor.bytes > request.limit_bytes {
        return Err(ArtifactError::UnpackedTooLarge {
            package: request.package.to_owned(),
            limit_description: request.limit_description,
            limit_bytes: request.limit_bytes,
            actual_bytes: extractor.bytes,
        });
    }
    if let Some(member) = request.members.iter().find(|member| !extractor.matched.contains(member.as_str())) {
        return Err(extractor.refuse(format!("`{member}` is not in it")));
    }
    if extractor.files.is_empty() {
        return Err(extractor.refuse("there is no file in it"));
    }
    Ok(extractor.files)
}

/// Child process whose output is read; killed and reaped on drop.
struct DecompressorProcess(Child);

impl Drop for DecompressorProcess {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

enum Kind {
    File {
        executable: bool,
    },
    Link,
    Folder,
    /// An entry type that is never extracted, with its description for the error.
    Other(&'static str),
}

struct Extractor<'a, 'w> {
    request: &'a UnpackRequest<'a>,
    context: &'a mut InstallContext<'w>,
    files: Vec<UnpackedFile>,
    bytes: u64,
    matched: BTreeSet<&'a str>,
}

impl Extractor<'_, '_> {
    fn refuse(&self, message: impl Into<String>) -> ArtifactError {
        ArtifactError::Archive { package: self.request.package.to_owned(), message: message.into() }
    }

    fn unreadable(&self, error: impl std::fmt::Display) -> ArtifactError {
        self.refuse(format!("the archive cannot be read: {error}"))
    }

    fn tar(&mut self, reader: impl Read) -> Result<(), ArtifactError> {
        let mut archive = tar::Archive::new(reader);
        for entry in archive.entries().map_err(|error| self.unreadable(error))? {
            let mut entry = entry.map_err(|error| self.unreadable(error))?;
            let executable = entry.header().mode().is_ok_and(|mode| mode & 0o111 != 0);
            let kind = match entry.header().entry_type() {
                tar::EntryType::Regular | tar::EntryType::Continuous | tar::EntryType::GNUSparse => {
                    Kind::File { executable }
                }
                tar::EntryType::Directory => Kind::Folder,
                tar::EntryType::Symlink => Kind::Link,
                tar::EntryType::XGlobalHeader => continue,
                tar::EntryType::Link => Kind::Other("a hard link"),
                _ => Kind::Other("neither a file nor a folder"),
            };
            let name = entry.path_bytes().into_owned();
            let target = entry.link_name_bytes().map(|target| target.into_owned()).unwrap_or_default();
            match kind {
                Kind::Link => self.extract(&name, kind, &mut target.as_slice())?,
                _ => self.extract(&name, kind, &mut entry)?,
            }
        }
        Ok(())
    }

    /// Extracts every package of the folder. `dpkg-deb` turns each into a tar stream, which is checked like
    /// any tar.
    fn debian(&mut self) -> Result<(), ArtifactError> {
        let folder = self.request.archive;
        let entries = fs::read_dir(folder).map_err(ArtifactError::cache(folder))?;
        let mut packages: Vec<PathBuf> = entries
            .filter_map(|entry| Some(entry.ok()?.path()))
            .filter(|path| path.extension().is_some_and(|extension| extension == "deb"))
            .collect();
        packages.sort();
        for package in packages {
            let file_name = package.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let unpacker = self.request.unpacker.ok_or_else(|| self.refuse("nothing can read a .deb"))?;
            let mut command = Command::new(unpacker);
            command.arg("--fsys-tarfile").arg(&package);
            command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
            die_with_parent(&mut command);
            let start_error = |source| ArtifactError::ClientStart { program: unpacker.to_owned(), source };
            let mut decompressor = DecompressorProcess(command.spawn().map_err(start_error)?);
            let extracted = match decompressor.0.stdout.take() {
                Some(mut output) => self.tar(&mut output).and_then(|()| {
                    // Read the padding behind the end of the tar, so that `dpkg-deb` does not fail on a
                    // closed pipe.
                    io::copy(&mut output, &mut io::sink()).map_err(|error| self.unreadable(error))
                }),
                None => Err(self.refuse(format!("{file_name} cannot be read"))),
            };
            extracted?;
            let mut error_output = String::new();
            if let Some(mut errors) = decompressor.0.stderr.take() {
                let _ = errors.read_to_string(&mut error_output);
            }
            let status = decompressor.0.wait().map_err(start_error)?;
            if !status.success() {
                let reason = error_output.trim();
                return Err(self.refuse(format!("{file_name}: {UNPACKER} failed ({status}): {reason}")));
            }
        }
        Ok(())
    }

    fn zip(&mut self, reader: impl Read + io::Seek) -> Result<(), ArtifactError> {
        let mut archive = zip::ZipArchive::new(reader).map_err(|error| self.unreadable(error))?;
        for index in 0..archive.len() {
            let mut entry = archive.by_index(index).map_err(|error| self.unreadable(error))?;
            let mode = entry.unix_mode().unwrap_or(0);
            let kind = if entry.is_symlink() {
                Kind::Link
            } else if entry.is_dir() {
                Kind::Folder
            } else {
                Kind::File { executable: mode & 0o111 != 0 }
            };
            let name = entry.name_raw().to_vec();
            self.extract(&name, kind, &mut entry)?;
        }
        Ok(())
    }

    /// Extracts one entry if it is requested. The names of other entries are checked too: an archive with a
    /// name that climbs out of the folder is rejected as a whole.
    fn extract(&mut self, name: &[u8], kind: Kind, contents: &mut dyn Read) -> Result<(), ArtifactError> {
        self.context.check_cancelled()?;
        let path = safe_path(name).ok_or_else(|| {
            self.refuse(format!("`{}` would lie outside of its folder", String::from_utf8_lossy(name)))
        })?;
        if !self.is_requested(&path) {
            return Ok(());
        }
        match kind {
            Kind::Folder => Ok(()),
            Kind::Other(description) => Err(self.refuse(format!("`{path}` is {description}"))),
            Kind::File { executable } => self.extract_file(&path, executable, contents),
            Kind::Link => self.extract_link(&path, contents),
        }
    }

    fn is_requested(&mut self, path: &str) -> bool {
        let members = self.request.members;
        let matching = members.iter().find(|member| is_member(member, path));
        if let Some(member) = matching {
            self.matched.insert(member);
        }
        members.is_empty() || matching.is_some()
    }

    fn extract_file(
        &mut self,
        path: &str,
        executable: bool,
        contents: &mut dyn Read,
    ) -> Result<(), ArtifactError> {
        let target = self.create_parents(path)?;
        let mode = if executable { 0o755 } else { 0o644 };
        let file = File::options().write(true).create_new(true).mode(mode).open(&target);
        let mut file = file.map_err(|error| self.uncreatable(path, &target, error))?;
        let mut block = vec![0; BLOCK_BYTES];
        let mut hasher = Hasher::default();
        let mut bytes = 0;
        loop {
            let count = match contents.read(&mut block) {
                Ok(0) => break,
                Ok(count) => count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(self.unreadable(error)),
            };
            bytes += count as u64;
            self.bytes += count as u64;
            if self.bytes > self.request.limit_bytes {
                // Bytes are no longer written, but counted to the end, so that the error can state the total
                // size.
                self.context.check_cancelled()?;
                if self.bytes > MAX_COUNTED_BYTES {
                    return Err(self.refuse(format!("it holds more than {MAX_COUNTED_BYTES} bytes")));
                }
                continue;
            }
            file.write_all(&block[..count]).map_err(ArtifactError::cache(&target))?;
            hasher.update(&block[..count]);
            self.context.report_progress(InstallStep::Unpacking, self.bytes, self.request.limit_bytes);
            self.context.check_cancelled()?;
        }
        self.files.push(UnpackedFile { path: path.to_owned(), bytes, sha256: hasher.finish(), link: None });
        Ok(())
    }

    fn extract_link(&mut self, path: &str, contents: &mut dyn Read) -> Result<(), ArtifactError> {
        const LONGEST: u64 = 4096;
        let mut target = String::new();
        contents.take(LONGEST).read_to_string(&mut target).map_err(|error| self.unreadable(error))?;
        if !leads_inside(path, &target) {
            return Err(self.refuse(format!("the link `{path}` leads to `{target}`, outside of its folder")));
        }
        let link = self.create_parents(path)?;
        symlink(&target, &link).map_err(|error| self.uncreatable(path, &link, error))?;
        let mut hasher = Hasher::default();
        hasher.update(target.as_bytes());
        let bytes = target.len() as u64;
        self.files.push(UnpackedFile {
            path: path.to_owned(),
            bytes,
            sha256: hasher.finish(),
            link: Some(target),
        });
        Ok(())
    }

    /// Creates the parent folders of `path`, none of which may be a link, and returns where the file belongs.
    fn create_parents(&self, path: &str) -> Result<PathBuf, ArtifactError> {
        let mut folder = self.request.folder.to_path_buf();
        let Some((parent, name)) = path.rsplit_once('/') else { return Ok(folder.join(path)) };
        for part in parent.split('/') {
            folder.push(part);
            match fs::create_dir(&folder) {
                Ok(()) => {}
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                    let metadata = fs::symlink_metadata(&folder).map_err(ArtifactError::cache(&folder))?;
                    if !metadata.is_dir() {
                        return Err(self.refuse(format!("`{path}` lies below something that is no folder")));
                    }
                }
                Err(error) => return Err(ArtifactError::cache(&folder)(error)),
            }
        }
        Ok(folder.join(name))
    }

    fn uncreatable(&self, path: &str, target: &Path, error: io::Error) -> ArtifactError {
        if error.kind() == io::ErrorKind::AlreadyExists {
            self.refuse(format!("`{path}` is in it twice"))
        } else {
            ArtifactError::cache(target)(error)
        }
    }
}

/// Converts the name of an entry to a path below the root, without `.` parts (Debian packages have them) and
/// without a trailing `/`. `None` if the name is absolute, contains `..` or NUL, or is not UTF-8.
fn safe_path(name: &[u8]) -> Option<String> {
    let name = std::str::from_utf8(name).ok()?;
    if name.starts_with('/') || name.contains('\0') {
        return None;
    }
    let parts: Vec<&str> = name.split('/').filter(|part| !matches!(*part, "" | ".")).collect();
    // The root itself (`./`) becomes an empty path; it is a folder and needs nothing.
    (!parts.contains(&"..")).then(|| parts.join("/"))
}

/// Returns `true` if a link at `path` stays below the root. Climbing is allowed only at the start of the
/// target: there it leaves real folders, which [`Extractor::create_parents`] created. Further on it could
/// leave another link at that link's far end.
fn leads_inside(path: &str, target: &str) -> bool {
    if target.is_empty() || target.starts_with('/') || target.contains('\0') {
        return false;
    }
    let depth = path.matches('/').count();
    let parts: Vec<&str> = target.split('/').filter(|part| !matches!(*part, "" | ".")).collect();
    let climbs = parts.iter().take_while(|part| **part == "..").count();
    climbs <= depth && !parts[climbs..].contains(&"..")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stay_inside() {
        assert_eq!(safe_path(b"./usr//lib/x.so").as_deref(), Some("usr/lib/x.so"));
        assert_eq!(safe_path(b"folder/").as_deref(), Some("folder"));
        for outside in [&b"../x"[..], b"/etc/passwd", b"a/../../x", b"a/..", b"a\0b", b"\xff"] {
            assert_eq!(safe_path(outside), None, "{}", String::from_utf8_lossy(outside));
        }
    }

    #[test]
    fn links_stay_inside() {
        for (path, target) in [("a/b", "../c"), ("a", "b"), ("lib/x.so", "x.so.1"), ("a/b/c", "../../d/e")] {
            assert!(leads_inside(path, target), "{path} -> {target}");
        }
        for (path, target) in
            [("a", "../b"), ("a", "/etc"), ("a/b", "c/../../.."), ("a/b/c", "d/../e"), ("a", "")]
        {
            assert!(!leads_inside(path, target), "{path} -> {target}");
        }
    }
}
