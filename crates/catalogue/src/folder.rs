//! Reads the files of one system's folder as text, built in or from disk.

use std::{
    collections::BTreeMap,
    fs, io,
    path::{Path, PathBuf},
};

use include_dir::{Dir, DirEntry};

use crate::error::CatalogueError;

/// Maximum size of a file in a system's folder, in bytes. Real files are far smaller; a folder named by
/// mistake often holds larger ones.
const MAX_FILE_BYTES: u64 = 1 << 20;

/// Maximum depth of folders inside a system's folder; `WORKLOAD/VARIANT` is the deepest.
const MAX_DEPTH: usize = 2;

/// Where a system's folder comes from.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    /// Embedded in the jsonathlon binary.
    BuiltIn,
    /// A folder on disk that the user named.
    Folder(PathBuf),
}

/// One system's folder with the text of every file.
#[derive(Debug)]
pub(crate) struct Folder {
    /// Name of the folder, which is the system's name.
    pub(crate) name: String,
    pub(crate) origin: Origin,
    /// Path inside the folder, with `/`, to the text of the file.
    pub(crate) files: BTreeMap<String, String>,
}

impl Folder {
    /// Returns the folder that was given as `--systems-dir`. `None` for a built-in system.
    pub(crate) fn systems_dir(&self) -> Option<PathBuf> {
        match &self.origin {
            Origin::BuiltIn => None,
            Origin::Folder(path) => path.parent().map(Path::to_path_buf),
        }
    }

    /// Returns the name of a file as error messages show it.
    pub(crate) fn display_path(&self, file: &str) -> String {
        match &self.origin {
            Origin::BuiltIn => format!("built-in {}/{file}", self.name),
            Origin::Folder(path) => path.join(file).display().to_string(),
        }
    }

    pub(crate) fn error(
        &self,
        file: &str,
        line: Option<usize>,
        message: impl Into<String>,
    ) -> CatalogueError {
        CatalogueError::Invalid { file: self.display_path(file), line, key: None, message: message.into() }
    }

    pub(crate) fn from_embedded(directory: &Dir<'_>) -> Result<Self, CatalogueError> {
        let mut folder =
            Self { name: file_name(directory.path()), origin: Origin::BuiltIn, files: BTreeMap::new() };
        let mut pending = vec![directory];
        while let Some(current) = pending.pop() {
            for entry in current.entries() {
                match entry {
                    DirEntry::Dir(subfolder) => pending.push(subfolder),
                    DirEntry::File(file) if is_ignored(file.path()) => {}
                    DirEntry::File(file) => {
                        let path = relative(directory.path(), file.path());
                        let text = file.contents_utf8().ok_or_else(|| folder.error(&path, None, NOT_TEXT))?;
                        folder.files.insert(path, text.to_owned());
                    }
                }
            }
        }
        Ok(folder)
    }

    pub(crate) fn from_disk(path: &Path) -> Result<Self, CatalogueError> {
        let mut folder = Self {
            name: file_name(path),
            origin: Origin::Folder(path.to_path_buf()),
            files: BTreeMap::new(),
        };
        let mut pending = vec![path.to_path_buf()];
        while let Some(current) = pending.pop() {
            for entry in sorted_entries(&current)? {
                if is_ignored(&entry) {
                    continue;
                }
                let metadata = fs::metadata(&entry).map_err(|source| read_error(&entry, source))?;
                let file = relative(path, &entry);
                if metadata.is_dir() {
                    // Also ends the walk when a link leads back up.
                    if file.matches('/').count() >= MAX_DEPTH {
                        return Err(folder.error(&file, None, "lies deeper than any folder of a system"));
                    }
                    pending.push(entry);
                    continue;
                }
                if metadata.len() > MAX_FILE_BYTES {
                    return Err(folder.error(&file, None, "is larger than 1 MiB: no file of a system is"));
                }
                let bytes = fs::read(&entry).map_err(|source| read_error(&entry, source))?;
                let text = String::from_utf8(bytes).map_err(|_| folder.error(&file, None, NOT_TEXT))?;
                folder.files.insert(file, text);
            }
        }
        Ok(folder)
    }
}

const NOT_TEXT: &str = "is not UTF-8 text";

/// Returns the folders directly below `root`, in name order.
pub(crate) fn subfolders(root: &Path) -> Result<Vec<PathBuf>, CatalogueError> {
    let mut folders = Vec::new();
    for path in sorted_entries(root)? {
        if path.is_dir() && !is_ignored(&path) {
            folders.push(path);
        }
    }
    Ok(folders)
}

pub(crate) fn sorted_entries(folder: &Path) -> Result<Vec<PathBuf>, CatalogueError> {
    let mut paths = fs::read_dir(folder)
        .and_then(|entries| {
            entries.map(|entry| entry.map(|entry| entry.path())).collect::<io::Result<Vec<_>>>()
        })
        .map_err(|source| read_error(folder, source))?;
    paths.sort();
    Ok(paths)
}

pub(crate) fn read_error(path: &Path, source: io::Error) -> CatalogueError {
    CatalogueError::Read { path: path.display().to_string(), source }
}

/// Returns `true` for files of version control and of editors: hidden ones and those that end in `~`.
pub(crate) fn is_ignored(path: &Path) -> bool {
    let name = file_name(path);
    name.starts_with('.') || name.ends_with('~')
}

pub(crate) fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

fn relative(root: &Path, path: &Path) -> String {
    let relative_path = path.strip_prefix(root).unwrap_or(path);
    relative_path.components().map(|part| part.as_os_str().to_string_lossy()).collect::<Vec<_>>().join("/")
}
