//! Helpers shared by the tests: folders of systems.

use std::{fs, path::Path};

use jsonathlon_catalogue::{Catalogue, CatalogueError};

/// Copies a folder recursively.
pub(crate) fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let target = to.join(path.file_name().unwrap());
        if path.is_dir() {
            copy(&path, &target);
        } else {
            fs::copy(&path, &target).unwrap();
        }
    }
}

/// Loads the catalogue with a text of a built-in system's definition replaced.
pub(crate) fn changed(name: &str, old: &str, new: &str) -> Result<Catalogue, CatalogueError> {
    let folder = tempfile::tempdir().unwrap();
    let system = folder.path().join(name);
    copy(&Path::new(env!("CARGO_MANIFEST_DIR")).join("systems").join(name), &system);
    let text = fs::read_to_string(system.join("system.toml")).unwrap();
    assert!(text.contains(old), "{old}");
    fs::write(system.join("system.toml"), text.replacen(old, new, 1)).unwrap();
    Catalogue::load(&[folder.path().to_path_buf()])
}
