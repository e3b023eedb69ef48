//! File names without special characters, for statements that contain a file name.
//!
//! Engines may interpret a user's path as a pattern (`?`, `{`, `[`), a partition column (`day=1/`), an
//! address or an escape sequence. Their grammars differ, and few engines can quote all special characters.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf, absolute};

use tempfile::TempDir;

use crate::RunError;

/// Fallback folders for the link if the path of the default temporary folder has special characters.
const FALLBACK_FOLDERS: [&str; 2] = ["/tmp", "/var/tmp"];

/// Path to a file without special characters. A link behind the path is removed when this value is dropped.
#[derive(Debug)]
pub(crate) struct PlainName {
    path: PathBuf,
    /// Temporary folder with a link to the file; `None` if the file's own path is plain.
    _folder: Option<TempDir>,
}

impl PlainName {
    /// Returns a plain path for `file`: its own absolute path, or a symbolic link in a temporary folder.
    ///
    /// # Errors
    /// [`RunError::Io`] if no link can be created in any of the temporary folders.
    pub(crate) fn new(file: &Path) -> Result<Self, RunError> {
        let failed = || RunError::io(format!("name {} plainly", file.display()));
        let file = absolute(file).map_err(failed())?;
        if is_plain(&file) {
            return Ok(Self { path: file, _folder: None });
        }
        let default_folder = std::env::temp_dir();
        let folders =
            std::iter::once(default_folder.as_path()).filter(|path| is_plain(path) && path.is_absolute());
        let mut last_error = None;
        for parent in folders.chain(FALLBACK_FOLDERS.map(Path::new)) {
            // A server that runs as another user may have to read the file.
            let permissions = std::fs::Permissions::from_mode(0o755);
            let link_folder =
                tempfile::Builder::new().prefix("jsonathlon-").permissions(permissions).tempdir_in(parent);
            let result = link_folder.and_then(|folder| {
                let path = folder.path().join("documents.ndjson");
                std::os::unix::fs::symlink(&file, &path)?;
                Ok(Self { path, _folder: Some(folder) })
            });
            match result {
                Ok(plain_name) => return Ok(plain_name),
                Err(error) => last_error = Some(error),
            }
        }
        Err(failed()(last_error.unwrap_or_else(|| std::io::Error::from(std::io::ErrorKind::NotFound))))
    }

    /// The plain path as text for a statement.
    pub(crate) fn text(&self) -> String {
        self.path.display().to_string()
    }
}

/// Returns `true` if the path has only ASCII letters, digits and `/._-`, which no engine interprets.
fn is_plain(path: &Path) -> bool {
    let is_plain_byte = |byte: &u8| byte.is_ascii_alphanumeric() || b"/._-".contains(byte);
    path.as_os_str().as_encoded_bytes().iter().all(is_plain_byte)
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
            let subfolder = folder.path().join(name);
            std::fs::create_dir(&subfolder).unwrap();
            let file = subfolder.join("a.ndjson");
            std::fs::write(&file, name).unwrap();
            let plain = PlainName::new(&file).unwrap();
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
        assert_eq!(PlainName::new(&file).unwrap().text(), file.display().to_string());
    }
}
