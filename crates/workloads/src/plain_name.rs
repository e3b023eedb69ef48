//! Names of files that mean nothing but themselves, for statements that name them.
//!
//! Engines take what a user's folder may be called for a pattern (`?`, `{`, `[`), for the value of a column (`day=1/`), for
//! an address, or for an escape: each has a grammar of its own, and hardly one can quote all of it.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf, absolute};

use tempfile::TempDir;

use crate::RunError;

/// What is tried after the folder for temporary files, whose own name may be odd.
const FOLDERS: [&str; 2] = ["/tmp", "/var/tmp"];

/// A file by a plain name, as long as this lives.
#[derive(Debug)]
pub(crate) struct PlainName {
    path: PathBuf,
    /// With a link to the file, where its own name is not plain.
    _folder: Option<TempDir>,
}

impl PlainName {
    /// A plain name of `file`.
    ///
    /// # Errors
    /// There is no place for a link of such a name.
    pub(crate) fn of(file: &Path) -> Result<Self, RunError> {
        let failed = || RunError::io(format!("name {} plainly", file.display()));
        let file = absolute(file).map_err(failed())?;
        if is_plain(&file) {
            return Ok(Self { path: file, _folder: None });
        }
        let usual = std::env::temp_dir();
        let places = std::iter::once(usual.as_path()).filter(|path| is_plain(path) && path.is_absolute());
        let mut last = None;
        for place in places.chain(FOLDERS.map(Path::new)) {
            // A server of another user may be told to read it.
            let open = std::fs::Permissions::from_mode(0o755);
            let made = tempfile::Builder::new().prefix("jsonathlon-").permissions(open).tempdir_in(place);
            let linked = made.and_then(|folder| {
                let path = folder.path().join("documents.ndjson");
                std::os::unix::fs::symlink(&file, &path)?;
                Ok(Self { path, _folder: Some(folder) })
            });
            match linked {
                Ok(named) => return Ok(named),
                Err(error) => last = Some(error),
            }
        }
        Err(failed()(last.unwrap_or_else(|| std::io::Error::from(std::io::ErrorKind::NotFound))))
    }

    /// As it stands in a statement.
    pub(crate) fn text(&self) -> String {
        self.path.display().to_string()
    }
}

/// Whether no engine sees more in it than a name.
fn is_plain(path: &Path) -> bool {
    let means_nothing = |byte: &u8| byte.is_ascii_alphanumeric() || b"/._-".contains(byte);
    path.as_os_str().as_encoded_bytes().iter().all(means_nothing)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn odd_names_become_plain_and_lead_to_the_same_file() {
        let folder = tempfile::tempdir().unwrap();
        for name in [
            "day=1",
            "doc=x",
            "a{b,c}",
            "{{file}}",
            "what?",
            "*",
            "[a]",
            "back\\slash",
            "it's",
            "a b",
            "é",
            "s3:",
        ] {
            let inside = folder.path().join(name);
            std::fs::create_dir(&inside).unwrap();
            let file = inside.join("a.ndjson");
            std::fs::write(&file, name).unwrap();
            let plain = PlainName::of(&file).unwrap();
            assert!(is_plain(Path::new(&plain.text())), "{}", plain.text());
            assert_eq!(std::fs::read_to_string(plain.text()).unwrap(), name);
            let link = PathBuf::from(plain.text());
            drop(plain);
            assert!(!link.exists() && file.exists(), "only the link goes");
        }
    }

    #[test]
    fn plain_names_stay() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a-1_b.ndjson");
        std::fs::write(&file, "x").unwrap();
        assert_eq!(PlainName::of(&file).unwrap().text(), file.display().to_string());
    }
}
