//! Registry clients as shell scripts, and the archives that they deliver.

use std::io::Write;
use std::os::unix::fs::symlink;
use std::path::PathBuf;

use sha2::{Digest, Sha256};

use super::World;

/// Content of `package/lib.so` in the archives.
const LIBRARY: &[u8] = b"not really a library, but long enough to be one";

/// A search path with only a few basic tools and what a test adds.
pub(crate) fn search_path(world: &World) -> PathBuf {
    let folder = world.path("bin");
    std::fs::create_dir_all(&folder).unwrap();
    for tool in ["sh", "cp", "head", "mkdir", "sleep", "cat", "fincore"] {
        let found = std::env::split_paths(&std::env::var_os("PATH").unwrap())
            .map(|folder| folder.join(tool))
            .find(|file| file.exists())
            .unwrap_or_else(|| panic!("this test needs {tool} on the search path"));
        if !folder.join(tool).exists() {
            symlink(found, folder.join(tool)).unwrap();
        }
    }
    folder
}

/// Adds a client that executes `body`, in which `$archive` is the file to deliver, `$dest` npm's destination
/// and `$repo` Maven's repository.
pub(crate) fn client(world: &World, program: &str, body: &str) {
    let archive = world.path("archive");
    let script = format!(
        r#"#!/bin/sh
set -e
archive='{}'
while [ $# -gt 0 ]; do
  case "$1" in
    --pack-destination) shift; dest=$1;;
    -Dmaven.repo.local=*) repo=${{1#-Dmaven.repo.local=}};;
  esac
  shift
done
{body}
"#,
        archive.display()
    );
    super::script::write(&search_path(world).join(program), &script);
}

/// A package in the format of npm.
pub(crate) fn tgz() -> Vec<u8> {
    let packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    let mut archive = tar::Builder::new(packed);
    let mut header = tar::Header::new_gnu();
    header.set_mode(0o644);
    header.set_size(LIBRARY.len() as u64);
    archive.append_data(&mut header, "package/lib.so", LIBRARY).unwrap();
    archive.into_inner().unwrap().finish().unwrap()
}

/// A file in the format of Maven.
pub(crate) fn jar() -> Vec<u8> {
    let mut archive = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    archive.start_file("package/lib.so", zip::write::SimpleFileOptions::default()).unwrap();
    archive.write_all(LIBRARY).unwrap();
    archive.finish().unwrap().into_inner()
}

/// Lines of an npm `[[artifact.source]]` for this archive.
pub(crate) fn npm_source(archive: &[u8]) -> String {
    format!("kind = \"npm\"\npackage = \"@example/engine@1.0.0\"\n{}", facts(archive))
}

/// Lines of a Maven `[[artifact.source]]` for this archive.
pub(crate) fn maven_source(archive: &[u8]) -> String {
    format!("kind = \"maven\"\ncoordinates = \"org.example:engine:1.0\"\n{}", facts(archive))
}

fn facts(archive: &[u8]) -> String {
    let digest: String = Sha256::digest(archive).iter().map(|byte| format!("{byte:02x}")).collect();
    format!(
        "sha256 = \"{digest}\"\nbytes = {}\nunpacked_bytes = {}\nmembers = [\"package/lib.so\"]\n",
        archive.len(),
        LIBRARY.len()
    )
}
