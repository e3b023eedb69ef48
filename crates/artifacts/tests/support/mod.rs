//! Helpers shared by the tests: folders, archives, and clients as shell scripts.

pub(crate) mod script;
pub(crate) mod suite;

use std::{
    fs,
    io::Write as _,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
};

use sha2::{Digest, Sha256};

use jsonathlon_artifacts::ArtifactStore;
use jsonathlon_catalogue::{Artifact, Source, SourceKind};

/// A cache, a search path that contains only what a test adds, and an archive to deliver.
pub(crate) struct World {
    folder: tempfile::TempDir,
}

impl World {
    pub(crate) fn new() -> Self {
        let world = Self { folder: tempfile::tempdir().unwrap() };
        fs::create_dir(world.path("bin")).unwrap();
        for tool in ["cp", "sleep", "mkdir", "head", "cat"] {
            let found = std::env::split_paths(&std::env::var_os("PATH").unwrap())
                .map(|folder| folder.join(tool))
                .find(|file| file.exists())
                .unwrap();
            symlink(found, world.path("bin").join(tool)).unwrap();
        }
        world
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn store(&self) -> ArtifactStore {
        ArtifactStore::new(self.path("cache")).with_search_path(self.path("bin"))
    }

    /// Adds a client that logs its call and then executes `body`, in which `$archive` is the file to deliver,
    /// `$dest` the destination of npm or pip, `$repo` Maven's repository, and `$pid_file` a file for its
    /// process id.
    pub(crate) fn client(&self, program: &str, body: &str) {
        let script = format!(
            r#"#!/bin/sh
set -e
archive='{archive}'
pid_file='{pid}'
start=$PWD
all=$*
echo "{program} $*" >> '{calls}'
while [ $# -gt 0 ]; do
  case "$1" in
    --pack-destination|--dest) shift; dest=$1;;
    -Dmaven.repo.local=*) repo=${{1#-Dmaven.repo.local=}};;
  esac
  shift
done
{body}
"#,
            archive = self.path("archive").display(),
            pid = self.path("pid").display(),
            calls = self.path("calls").display(),
        );
        script::write(&self.path("bin").join(program), &script);
    }

    /// The logged calls of all clients.
    pub(crate) fn calls(&self) -> Vec<String> {
        let text = fs::read_to_string(self.path("calls")).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }

    /// Stores an archive for delivery. Returns an artifact with npm as its source.
    pub(crate) fn serve(&self, archive: &[u8], members: &[&str]) -> Artifact {
        fs::write(self.path("archive"), archive).unwrap();
        artifact(vec![source(SourceKind::Npm { package: "@example/engine@2.0.1".into() }, archive, members)])
    }

    /// All files in the cache's artifacts, without locks and the clients' own files.
    pub(crate) fn cached(&self) -> Vec<String> {
        let mut files = Vec::new();
        collect(&self.path("cache/artifacts"), &self.path("cache/artifacts"), &mut files);
        files.sort();
        files
    }

    /// Returns `true` if the client that wrote its process id is still running.
    pub(crate) fn client_runs(&self) -> bool {
        let pid = fs::read_to_string(self.path("pid")).unwrap();
        let stat = fs::read_to_string(format!("/proc/{}/stat", pid.trim())).unwrap_or_default();
        // A zombie process has ended.
        stat.rsplit_once(')').is_some_and(|(_, rest)| !rest.trim_start().starts_with('Z'))
    }
}

fn collect(root: &Path, folder: &Path, files: &mut Vec<String>) {
    for entry in fs::read_dir(folder).into_iter().flatten() {
        let path = entry.unwrap().path();
        if path.is_dir() && !path.is_symlink() {
            collect(root, &path, files);
        } else {
            files.push(path.strip_prefix(root).unwrap().display().to_string());
        }
    }
}

pub(crate) fn artifact(sources: Vec<Source>) -> Artifact {
    Artifact {
        system: "example".into(),
        version: "2.0".into(),
        version_text: "2.0.1".into(),
        platform: "any".into(),
        licence: "MIT".into(),
        end_of_life: false,
        outdated: None,
        environment: std::collections::BTreeMap::new(),
        sources,
        location: Default::default(),
    }
}

pub(crate) fn source(kind: SourceKind, archive: &[u8], members: &[&str]) -> Source {
    Source {
        kind,
        sha256: sha256(archive),
        bytes: archive.len() as u64,
        unpacked_bytes: 1_000_000,
        inner: None,
        members: members.iter().map(|member| (*member).to_owned()).collect(),
        folders: Vec::new(),
        files: [("library".to_owned(), "package/lib.so".to_owned())].into(),
        further_parts: Vec::new(),
    }
}

pub(crate) fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Content of `package/lib.so` in the archives.
pub(crate) const LIBRARY: &[u8] = b"not really a library, but long enough to be one";

/// An entry of an archive.
pub(crate) enum Member<'a> {
    File(&'a str, &'a [u8]),
    Link(&'a str, &'a str),
    HardLink(&'a str, &'a str),
    Folder(&'a str),
}

pub(crate) fn tgz(members: &[Member<'_>]) -> Vec<u8> {
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packed.write_all(&tar(members)).unwrap();
    packed.finish().unwrap()
}

pub(crate) fn tar(members: &[Member<'_>]) -> Vec<u8> {
    let mut archive = tar::Builder::new(Vec::new());
    for member in members {
        let (name, kind, target, contents): (_, _, _, &[u8]) = match member {
            Member::File(name, contents) => (name, tar::EntryType::Regular, "", contents),
            Member::Link(name, target) => (name, tar::EntryType::Symlink, *target, b""),
            Member::HardLink(name, target) => (name, tar::EntryType::Link, *target, b""),
            Member::Folder(name) => (name, tar::EntryType::Directory, "", b""),
        };
        let mut header = tar::Header::new_gnu();
        // Written directly into the header, because the library refuses the hostile names.
        let old = header.as_old_mut();
        old.name[..name.len()].copy_from_slice(name.as_bytes());
        old.linkname[..target.len()].copy_from_slice(target.as_bytes());
        header.set_entry_type(kind);
        header.set_mode(0o4755);
        header.set_size(contents.len() as u64);
        header.set_cksum();
        archive.append(&header, contents).unwrap();
    }
    archive.into_inner().unwrap()
}

pub(crate) fn zip(members: &[Member<'_>]) -> Vec<u8> {
    let mut archive = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    let options = zip::write::SimpleFileOptions::default();
    for member in members {
        match member {
            Member::File(name, contents) => {
                archive.start_file(*name, options).unwrap();
                archive.write_all(contents).unwrap();
            }
            Member::Link(name, target) => archive.add_symlink(*name, *target, options).unwrap(),
            Member::Folder(name) => archive.add_directory(*name, options).unwrap(),
            Member::HardLink(..) => unreachable!("zip has none"),
        }
    }
    archive.finish().unwrap().into_inner()
}

/// A package in the format of npm.
pub(crate) fn package() -> Vec<u8> {
    tgz(&[
        Member::File("package/package.json", b"{}"),
        Member::Folder("package/sub"),
        Member::File("package/lib.so", LIBRARY),
    ])
}

pub(crate) fn never() -> bool {
    false
}
