//! What a version of a system comes as: which archive of which registry, what
//! is taken out of it, and its digest; and what is there once it is installed.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use sha2::{Digest as _, Sha256};

/// One version of a system for one platform.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Artifact {
    /// The system's name.
    pub system: String,
    /// The version, as selectors and results name it.
    pub version: String,
    /// Text that the engine's own answer about its version must contain.
    pub reports: String,
    /// `linux-x86_64`, or `any`.
    pub platform: String,
    /// The artifact's licence, as an SPDX expression.
    pub licence: String,
    /// Whether its makers no longer support this version.
    pub end_of_life: bool,
    /// The day of its release, where newer versions are out that no source has, or that cannot be used.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outdated: Option<String>,
    /// Added to the environment of this version's server; it may name files by
    /// their roles, as `{{libraries}}`.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub environment: BTreeMap<String, String>,
    /// Where it can be had, the preferred first. All are the same version.
    pub sources: Vec<Source>,
    /// Where it is described.
    #[serde(skip)]
    pub written: Written,
}

/// Where an artifact is described, for what users are told to correct and to type.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Written {
    /// File, line and key of `reports`, as ``FILE:11: `artifact.0.reports` ``.
    pub reports: String,
    /// The folder that was given as `--systems-dir`; none for a built-in system.
    pub systems_dir: Option<PathBuf>,
}

impl Artifact {
    /// Whether it can run on this machine.
    pub fn fits_here(&self) -> bool {
        self.platform == ANY_PLATFORM || self.platform == platform()
    }

    /// The command that does something with this version, ready to be pasted: `jsonathlon systems install
    /// NAME@VERSION --systems-dir DIR`.
    pub fn command(&self, action: &str) -> String {
        let folder = self.written.systems_dir.as_ref().map(|folder| {
            let folder = folder.display().to_string();
            format!(" --systems-dir {}", if folder.is_empty() { ".".to_owned() } else { shell_word(folder) })
        });
        format!("jsonathlon systems {action} {}@{}{}", self.system, self.version, folder.unwrap_or_default())
    }

    /// The commands that replace what is installed.
    pub fn replacing_commands(&self) -> String {
        format!("{} && {}", self.command("remove"), self.command("install"))
    }

    /// Whether it is part of the program, so that nothing has to be fetched.
    pub fn is_bundled(&self) -> bool {
        self.sources.iter().any(|source| source.kind == SourceKind::Bundled)
    }
}

/// The word as a shell takes it for one.
fn shell_word(word: String) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._-+@%:,=".contains(c);
    if word.chars().all(is_plain) { word } else { format!("'{}'", word.replace('\'', r"'\''")) }
}

/// The platform of an artifact that runs everywhere.
pub const ANY_PLATFORM: &str = "any";

/// This machine's platform, as artifacts name it: `linux-x86_64`.
pub fn platform() -> String {
    format!("{}-{}", std::env::consts::OS, std::env::consts::ARCH)
}

/// One place to have an artifact from.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Source {
    /// The registry's kind, and the name there.
    pub kind: SourceKind,
    /// SHA-256 of the archive as it is downloaded, in lower-case hexadecimal;
    /// of the list of pinned packages, or of all that a build is made from,
    /// where there is no one archive; empty for a bundled one.
    pub sha256: String,
    /// Size of the archive or of all packages, in bytes; for a build, about what
    /// it downloads.
    pub bytes: u64,
    /// Size of what is taken out of it, in bytes.
    pub unpacked_bytes: u64,
    /// An archive inside the archive, whose members and files are meant instead:
    /// wheels of Python carry whole distributions so.
    pub inner: Option<String>,
    /// Paths inside the archive that are taken; one that ends with `/` is a
    /// folder with all below it, and one that ends with `*` all that begin so in
    /// their folder; none means everything.
    pub members: Vec<String>,
    /// Empty folders that the system expects to find and the archive lacks.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub folders: Vec<String>,
    /// What the members are for: role (`library`) to path inside the archive;
    /// one that ends with `/` is a folder. They may lie in any part.
    pub files: BTreeMap<String, String>,
    /// Further parts, without which it cannot be used: each is fetched by its own
    /// client and unpacked into the same folder. They have no files and no parts
    /// of their own.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub with: Vec<Source>,
}

impl Source {
    /// The source itself and then its further parts: all that has to be fetched.
    pub fn parts(&self) -> impl Iterator<Item = &Self> {
        std::iter::once(self).chain(&self.with)
    }

    /// What tells it from every other: SHA-256 of its archive, or of the digests
    /// of all its parts, in lower-case hexadecimal.
    pub fn digest(&self) -> String {
        if self.with.is_empty() {
            return self.sha256.clone();
        }
        let mut hasher = Sha256::new();
        for part in self.parts() {
            hasher.update(format!("{}\n", part.sha256));
        }
        hex(&hasher.finalize())
    }

    /// What is taken out of its parts and where it is looked for: members, inner archives, folders and files. Two
    /// that differ in it are two installations, even of the same archives.
    pub fn selection(&self) -> String {
        let mut hasher = Sha256::new();
        let mut add = |kind: &str, texts: &mut dyn Iterator<Item = &String>| {
            for text in texts {
                hasher.update(format!("{kind} {} {text}\n", text.len()));
            }
            hasher.update("\n");
        };
        for part in self.parts() {
            add("inner", &mut part.inner.iter());
            add("member", &mut part.members.iter());
            add("folder", &mut part.folders.iter());
        }
        add("file", &mut self.files.values());
        hex(&hasher.finalize())
    }

    /// Size of all that is downloaded, in bytes.
    pub fn download_bytes(&self) -> u64 {
        self.parts().map(|part| part.bytes).fold(0, u64::saturating_add)
    }

    /// Size of all that is unpacked, in bytes.
    pub fn installed_bytes(&self) -> u64 {
        self.parts().map(|part| part.unpacked_bytes).fold(0, u64::saturating_add)
    }

    /// What it is called, with its further parts, for people: `npm name@version`.
    pub fn called(&self) -> String {
        let parts = self.parts().map(|part| format!("{} {}", part.kind.name(), part.kind.package()));
        parts.collect::<Vec<_>>().join(" with ")
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// An artifact that is there to be used.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Installed {
    /// The folder it was unpacked in; none for one that is part of the program.
    pub folder: Option<PathBuf>,
    /// The version that it really is: the catalogue's, unless a newer one was
    /// accepted.
    pub version: String,
    /// Text that the engine's own answer about its version must contain.
    pub reports: String,
    /// SHA-256 of the archive that it came from, in hexadecimal (of the list of
    /// packages, of all that it was built from, or of the digests of several
    /// parts, where there is no one archive); none for one that is part of the
    /// program.
    pub sha256: Option<String>,
    /// Where it came from, with all parts, as `npm name@version`.
    pub source: String,
    /// What it is for: role (`library`) to file.
    pub files: BTreeMap<String, PathBuf>,
}

impl Installed {
    /// The shared library of an embedded engine, unless it is part of the
    /// program.
    pub fn library(&self) -> Option<&Path> {
        self.files.get("library").map(PathBuf::as_path)
    }

    /// Where data folders that its programs made are kept: beside it, so that they go when it does. None where the
    /// programs are part of this one or the user's own, which can become others under the same path.
    pub fn beginnings(&self) -> Option<PathBuf> {
        self.folder.as_ref().map(|folder| folder.with_extension("beginnings"))
    }
}

/// The registries that artifacts can come from.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum SourceKind {
    /// A package of npm, fetched by `npm pack`.
    Npm {
        /// `name@version`, with an exact version.
        package: String,
    },
    /// A file of a Maven repository, fetched by `mvn dependency:get`.
    Maven {
        /// `group:artifact:version[:packaging[:classifier]]`.
        coordinates: String,
    },
    /// A wheel of the Python package index, fetched by `pip download`.
    Pypi {
        /// `name==version`, with an exact version.
        package: String,
    },
    /// Packages of a Debian suite, fetched by `apt-get` and unpacked side by side.
    Debian {
        /// The suite: `sid`, `bookworm`.
        suite: String,
        /// The packages; the first is what the artifact's version is of.
        packages: Vec<DebianPackage>,
        /// They in a few words.
        summary: String,
    },
    /// A program of a Go module, built by `go`.
    Go {
        /// The import path of the program.
        package: String,
        /// Build tags.
        tags: Vec<String>,
        /// The text of the `go.mod` in whose module it is built.
        #[serde(skip)]
        go_mod: String,
        /// The text of its `go.sum`, by which everything is pinned.
        #[serde(skip)]
        go_sum: String,
        /// The lowest version of Go that will do, as `go.mod` says: `1.25.6`.
        go: String,
    },
    /// Part of the program.
    Bundled,
}

/// One package of Debian, pinned.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DebianPackage {
    /// Its name.
    pub name: String,
    /// Its exact version, with epoch and revision.
    pub version: String,
    /// SHA-256 of the `.deb`, in lower-case hexadecimal.
    pub sha256: String,
    /// Size of the `.deb`, in bytes.
    pub bytes: u64,
}

impl DebianPackage {
    /// The version of what is packaged, without what Debian adds: `9.7.4` of `1:9.7.4+dfsg-2`.
    pub fn upstream_version(&self) -> &str {
        let version = self.version.split_once(':').map_or(self.version.as_str(), |(_, version)| version);
        let version = version.rsplit_once('-').map_or(version, |(version, _)| version);
        version.split(['+', '~']).next().unwrap_or(version)
    }
}

impl SourceKind {
    /// Packages of a suite, with their words for people.
    pub fn debian(suite: impl Into<String>, packages: Vec<DebianPackage>) -> Self {
        let suite = suite.into();
        let first = packages.first().map(|first| format!("{} {}", first.name, first.version));
        let more = match packages.len() {
            0 | 1 => String::new(),
            2 => " and 1 package more".to_owned(),
            count => format!(" and {} packages more", count - 1),
        };
        let summary = format!("{suite} {}{more}", first.unwrap_or_default());
        Self::Debian { suite, packages, summary }
    }

    /// The kind's name in `system.toml`.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Npm { .. } => "npm",
            Self::Maven { .. } => "maven",
            Self::Pypi { .. } => "pypi",
            Self::Debian { .. } => "debian",
            Self::Go { .. } => "go",
            Self::Bundled => "bundled",
        }
    }

    /// What the source is called there, for people.
    pub fn package(&self) -> &str {
        match self {
            Self::Npm { package } | Self::Pypi { package } | Self::Go { package, .. } => package,
            Self::Debian { summary, .. } => summary,
            Self::Maven { coordinates } => coordinates,
            Self::Bundled => "part of the program",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn artifact(systems_dir: Option<&str>) -> Artifact {
        Artifact {
            system: "postgresql15".into(),
            version: "15.18".into(),
            reports: "15.18".into(),
            platform: ANY_PLATFORM.into(),
            licence: "PostgreSQL".into(),
            end_of_life: false,
            outdated: None,
            environment: BTreeMap::new(),
            sources: Vec::new(),
            written: Written { reports: String::new(), systems_dir: systems_dir.map(PathBuf::from) },
        }
    }

    #[test]
    fn commands_can_be_pasted() {
        let command = |folder| artifact(folder).command("install");
        assert_eq!(command(None), "jsonathlon systems install postgresql15@15.18");
        assert_eq!(command(Some("")), "jsonathlon systems install postgresql15@15.18 --systems-dir .");
        let quoted = r"jsonathlon systems install postgresql15@15.18 --systems-dir '/my systems/it'\''s'";
        assert_eq!(command(Some("/my systems/it's")), quoted);
    }
}
