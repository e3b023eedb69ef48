//! Location of the cache, and layout of the files in it.

use std::{
    ffi::OsString,
    fs, io,
    path::{Path, PathBuf},
};

use jsonathlon_catalogue::artifact::{Artifact, Source};

use crate::{digest::Hasher, error::ArtifactError};

/// Returns the root folder of the cache: `JSONATHLON_CACHE`, else `jsonathlon` in `XDG_CACHE_HOME`, else
/// `.cache/jsonathlon` in `HOME`. `variable` looks up an environment variable; an empty value counts as
/// unset.
///
/// As the XDG Base Directory Specification requires, an `XDG_CACHE_HOME` that is not absolute is ignored.
///
/// # Errors
/// [`ArtifactError::NoCacheFolder`] if none of the three is set.
pub fn cache_root(variable: impl Fn(&str) -> Option<OsString>) -> Result<PathBuf, ArtifactError> {
    let path_in = |name: &str| variable(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    if let Some(root) = path_in("JSONATHLON_CACHE") {
        return Ok(root);
    }
    if let Some(root) = path_in("XDG_CACHE_HOME").filter(|path| path.is_absolute()) {
        return Ok(root.join("jsonathlon"));
    }
    path_in("HOME").map(|home| home.join(".cache/jsonathlon")).ok_or(ArtifactError::NoCacheFolder)
}

/// Where one version of a system lies in the cache.
#[derive(Debug, Clone)]
pub(crate) struct CachePaths {
    /// Folder with everything of this version: installations, downloads and temporary folders.
    pub(crate) version_folder: PathBuf,
    /// Lock file whose holder alone may change the version's folder.
    pub(crate) lock: PathBuf,
}

impl CachePaths {
    pub(crate) fn new(root: &Path, artifact: &Artifact) -> Self {
        Self {
            version_folder: root.join("artifacts").join(&artifact.system).join(&artifact.version),
            lock: root.join("locks").join(format!("{}@{}.lock", artifact.system, artifact.version)),
        }
    }

    /// Returns the folder for an installation of this source. The digest in its name covers the archives and
    /// what is extracted from them, so that a catalogue that pins another archive or takes other members uses
    /// another folder.
    pub(crate) fn installation(&self, source: &Source) -> PathBuf {
        let mut hasher = Hasher::default();
        hasher.update(format!("{}\n{}\n", source.digest(), source.selection()).as_bytes());
        self.version_folder.join(short_digest(&hasher.finish()))
    }

    /// Returns the path of a part's verified download, which is kept if unpacking is interrupted.
    pub(crate) fn download(&self, part: &Source) -> PathBuf {
        self.version_folder.join(format!("{}.download", part.sha256))
    }

    /// Returns the temporary folder in which clients work.
    pub(crate) fn fetch_folder(&self) -> PathBuf {
        self.version_folder.join("fetching")
    }

    /// Returns the temporary folder into which archives are unpacked.
    pub(crate) fn unpack_folder(&self) -> PathBuf {
        self.version_folder.join("unpacking")
    }
}

/// Returns the first 16 digits of a digest, which is enough for the name of a folder.
fn short_digest(digest: &str) -> &str {
    digest.get(..16).unwrap_or(digest)
}

/// Temporary folder that is removed on drop.
#[derive(Debug)]
pub(crate) struct TemporaryFolder(PathBuf);

impl TemporaryFolder {
    /// Creates an empty folder, after removing what an interrupted run may have left there.
    pub(crate) fn new(path: PathBuf) -> Result<Self, ArtifactError> {
        remove_all(&path).map_err(ArtifactError::cache(&path))?;
        fs::create_dir_all(&path).map_err(ArtifactError::cache(&path))?;
        Ok(Self(path))
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for TemporaryFolder {
    fn drop(&mut self) {
        // A failure cannot be handled here, and the next run removes the folder.
        let _ = remove_all(&self.0);
    }
}

/// Removes a file, or a folder with all its contents. Succeeds if nothing is there.
pub(crate) fn remove_all(path: &Path) -> io::Result<()> {
    let removed = match fs::symlink_metadata(path) {
        Ok(metadata) if metadata.is_dir() => fs::remove_dir_all(path),
        Ok(_) => fs::remove_file(path),
        Err(error) => Err(error),
    };
    match removed {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        result => result,
    }
}

/// Returns the size of all files below a folder, in bytes. Files that vanish meanwhile count as 0, because
/// clients write and rename concurrently.
pub(crate) fn bytes_below(path: &Path) -> u64 {
    let Ok(entries) = fs::read_dir(path) else {
        let metadata = fs::symlink_metadata(path);
        return metadata.map_or(0, |metadata| if metadata.is_file() { metadata.len() } else { 0 });
    };
    entries
        .filter_map(Result::ok)
        .map(|entry| match entry.file_type() {
            Ok(kind) if kind.is_dir() => bytes_below(&entry.path()),
            Ok(kind) if kind.is_file() => entry.metadata().map_or(0, |metadata| metadata.len()),
            _ => 0,
        })
        .sum()
}

/// Returns the bytes that this user can still write to the file system of `path`.
pub(crate) fn available_bytes(path: &Path) -> Result<u64, ArtifactError> {
    let space = rustix::fs::statvfs(path).map_err(|error| ArtifactError::cache(path)(error.into()))?;
    Ok(space.f_bavail.saturating_mul(space.f_frsize))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn root(variables: &[(&str, &str)]) -> Option<PathBuf> {
        let variable =
            |name: &str| variables.iter().find(|(known, _)| *known == name).map(|(_, value)| value.into());
        cache_root(variable).ok()
    }

    #[test]
    fn the_nearest_variable_decides() {
        let home = ("HOME", "/home/me");
        let xdg = ("XDG_CACHE_HOME", "/var/xdg");
        assert_eq!(root(&[home, xdg, ("JSONATHLON_CACHE", "/c")]), Some("/c".into()));
        assert_eq!(root(&[home, xdg, ("JSONATHLON_CACHE", "")]), Some("/var/xdg/jsonathlon".into()));
        assert_eq!(root(&[home, ("XDG_CACHE_HOME", "relative")]), Some("/home/me/.cache/jsonathlon".into()));
        assert_eq!(root(&[]), None);
    }
}
