//! Where the cache is, and what lies where in it.

use std::{
    ffi::OsString,
    fs, io,
    path::{Path, PathBuf},
};

use super::{digest::Hasher, error::ArtifactError};
use crate::artifact::{Artifact, Source};

/// The cache's folder: `JSONATHLON_CACHE`, or `jsonathlon` in `XDG_CACHE_HOME`,
/// or `.cache/jsonathlon` in `HOME`. `variable` looks a variable up.
///
/// As the XDG base directory specification has it, an `XDG_CACHE_HOME` that is
/// not absolute is not looked at.
///
/// # Errors
/// None of the three is set.
pub fn cache_root(variable: impl Fn(&str) -> Option<OsString>) -> Result<PathBuf, ArtifactError> {
    let set = |name: &str| variable(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    if let Some(root) = set("JSONATHLON_CACHE") {
        return Ok(root);
    }
    if let Some(root) = set("XDG_CACHE_HOME").filter(|path| path.is_absolute()) {
        return Ok(root.join("jsonathlon"));
    }
    set("HOME").map(|home| home.join(".cache/jsonathlon")).ok_or(ArtifactError::NoCacheFolder)
}

/// The places of one artifact's version in the cache.
#[derive(Debug, Clone)]
pub(crate) struct Places {
    /// Everything of this version.
    pub(crate) version: PathBuf,
    /// Who holds it works on this version.
    pub(crate) lock: PathBuf,
}

impl Places {
    pub(crate) fn of(root: &Path, artifact: &Artifact) -> Self {
        Self {
            version: root.join("artifacts").join(&artifact.system).join(&artifact.version),
            lock: root.join("locks").join(format!("{}@{}.lock", artifact.system, artifact.version)),
        }
    }

    /// Where all parts of this source end up, unpacked. The digest in the name covers what they are and what is taken
    /// out of them, so that a catalogue that pins another archive or takes other members never meets this one.
    pub(crate) fn installed(&self, source: &Source) -> PathBuf {
        let mut hasher = Hasher::default();
        hasher.update(format!("{}\n{}\n", source.digest(), source.selection()).as_bytes());
        self.version.join(beginning(&hasher.finish()))
    }

    /// Where version 0.1.0 installed it: the name covers the archives alone.
    pub(crate) fn installed_before(&self, source: &Source) -> PathBuf {
        self.version.join(beginning(&source.digest()))
    }

    /// A part's download that was verified; it stays when unpacking is
    /// interrupted.
    pub(crate) fn download(&self, part: &Source) -> PathBuf {
        self.version.join(format!("{}.download", part.sha256))
    }

    /// Where the client works.
    pub(crate) fn fetching(&self) -> PathBuf {
        self.version.join("fetching")
    }

    /// Where the archive is unpacked.
    pub(crate) fn unpacking(&self) -> PathBuf {
        self.version.join("unpacking")
    }
}

/// As much of a digest as the name of a folder needs.
fn beginning(digest: &str) -> &str {
    digest.get(..16).unwrap_or(digest)
}

/// A folder that is gone when it is dropped, whatever happened.
#[derive(Debug)]
pub(crate) struct Scratch(PathBuf);

impl Scratch {
    /// An empty folder; what an interrupted run left there is removed.
    pub(crate) fn new(path: PathBuf) -> Result<Self, ArtifactError> {
        remove_all(&path).map_err(ArtifactError::cache(&path))?;
        fs::create_dir_all(&path).map_err(ArtifactError::cache(&path))?;
        Ok(Self(path))
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // Nothing can be done about a failure here, and the next run tries again.
        let _ = remove_all(&self.0);
    }
}

/// Removes a file, or a folder with all in it; nothing there is fine.
pub(crate) fn remove_all(path: &Path) -> io::Result<()> {
    let removed = match fs::symlink_metadata(path) {
        Ok(facts) if facts.is_dir() => fs::remove_dir_all(path),
        Ok(_) => fs::remove_file(path),
        Err(error) => Err(error),
    };
    match removed {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        other => other,
    }
}

/// Bytes in the files below a folder. What vanishes meanwhile counts nothing:
/// clients write and rename while this looks.
pub(crate) fn bytes_below(path: &Path) -> u64 {
    let Ok(entries) = fs::read_dir(path) else {
        return fs::symlink_metadata(path).map_or(0, |facts| if facts.is_file() { facts.len() } else { 0 });
    };
    entries
        .filter_map(Result::ok)
        .map(|entry| match entry.file_type() {
            Ok(kind) if kind.is_dir() => bytes_below(&entry.path()),
            Ok(kind) if kind.is_file() => entry.metadata().map_or(0, |facts| facts.len()),
            _ => 0,
        })
        .sum()
}

/// Bytes that this user can still write where `path` lies.
pub(crate) fn available(path: &Path) -> Result<u64, ArtifactError> {
    let space = rustix::fs::statvfs(path).map_err(|error| ArtifactError::cache(path)(error.into()))?;
    Ok(space.f_bavail.saturating_mul(space.f_frsize))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn root(variables: &[(&str, &str)]) -> Option<PathBuf> {
        let look =
            |name: &str| variables.iter().find(|(known, _)| *known == name).map(|(_, value)| value.into());
        cache_root(look).ok()
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
