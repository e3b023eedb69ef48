//! Tests which shared libraries a program takes from the machine.

use std::{
    fs,
    path::{Path, PathBuf},
};

use jsonathlon_artifacts::find_machine_libraries;
use jsonathlon_catalogue::{Catalogue, InstalledArtifact, Recipe};

/// A program of this machine that needs only the C library.
const PROGRAM: &str = "/bin/true";
const LIBC: &str = "libc.so.6";

/// Folder of the machine's C library and loader. `None` if it is at an unusual place.
fn libraries() -> Option<PathBuf> {
    let folders = ["/lib/x86_64-linux-gnu", "/lib64", "/usr/lib64", "/lib/aarch64-linux-gnu"];
    folders.map(PathBuf::from).into_iter().find(|folder| folder.join(LIBC).exists())
}

/// An installed artifact with a program, and with these libraries in a folder of it.
fn installed(folder: &Path, program: &str, libraries: &[&str]) -> InstalledArtifact {
    let (from, to) = (self::libraries().unwrap(), folder.join("lib"));
    fs::create_dir_all(&to).unwrap();
    for library in libraries {
        fs::copy(from.join(library), to.join(library)).unwrap();
    }
    fs::copy(PROGRAM, folder.join("server")).unwrap();
    let files = [(program, "server"), ("libraries", "lib"), ("loader", "lib/none")];
    InstalledArtifact {
        folder: Some(folder.to_path_buf()),
        version: "1".into(),
        version_text: "1".into(),
        sha256: None,
        source: "npm a@1".into(),
        files: files.map(|(role, path)| (role.to_owned(), folder.join(path))).into(),
    }
}

fn server(system: &str, version: &str) -> Recipe {
    let catalogue = Catalogue::load(&[]).unwrap();
    let system = catalogue.get(system).unwrap();
    let artifact = system.artifacts().iter().find(|artifact| artifact.version == version).unwrap();
    system.server_of(artifact).unwrap()
}

#[test]
fn what_the_artifact_lacks_or_hides_is_taken_from_the_machine() {
    let folder = tempfile::tempdir().unwrap();
    // The library path is set by a loader option and by an environment variable, respectively.
    for (system, version, program) in [("mysql", "9.7.4", "mysqld"), ("mongodb", "6.0.27", "mongod")] {
        let server = server(system, version);
        let folder = folder.path().join(system);
        let installed = |libraries: &[&str]| installed(&folder, program, libraries);
        assert_eq!(find_machine_libraries(&installed(&[]), Some(&server)), [LIBC], "{system}");
        // The library itself needs the loader of the machine.
        let rest = find_machine_libraries(&installed(&[LIBC]), Some(&server));
        assert!(rest.len() == 1 && rest[0].starts_with("ld-linux"), "{system}: {rest:?}");
        assert_eq!(find_machine_libraries(&installed(&[&rest[0]]), Some(&server)), [""; 0], "{system}");
    }
    // Libraries are useless to a program whose library path does not include their folder.
    let told_nothing = server("mongodb", "6.0.5");
    let installed = installed(folder.path(), "mongod", &[LIBC]);
    assert_eq!(find_machine_libraries(&installed, Some(&told_nothing)), [LIBC]);
}

#[test]
fn an_embedded_engine_is_its_library_and_other_files_need_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let installed = installed(folder.path(), "library", &[]);
    assert_eq!(find_machine_libraries(&installed, None), [LIBC]);
    for contents in [&b""[..], b"#!/bin/sh", b"\x7fELF\x02\x01\x01", &fs::read(PROGRAM).unwrap()[..200]] {
        fs::write(folder.path().join("server"), contents).unwrap();
        assert_eq!(find_machine_libraries(&installed, None), [""; 0]);
    }
    let bundled = InstalledArtifact { folder: None, ..installed };
    assert_eq!(find_machine_libraries(&bundled, None), [""; 0]);
}
