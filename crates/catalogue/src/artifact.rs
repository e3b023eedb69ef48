//! Artifacts: which archive of which registry a version comes from, what is extracted from it and its digest;
//! and what an installed artifact consists of.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use sha2::{Digest as _, Sha256};

/// One version of a system for one platform, with the sources that it can be fetched from.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Artifact {
    /// Name of the system, which is that of its folder.
    pub system: String,
    /// The version, as selectors and results name it.
    pub version: String,
    /// Text that the version reported by the engine must contain.
    pub version_text: String,
    /// Platform that the artifact runs on, such as `linux-x86_64`, or [`ANY_PLATFORM`].
    pub platform: String,
    /// SPDX expression of the artifact's licence.
    pub licence: String,
    /// Whether the version is no longer supported by its developers.
    pub end_of_life: bool,
    /// Release date (`YYYY-MM-DD`) of this version if newer versions exist that no source has or that cannot
    /// be used; otherwise `None`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outdated: Option<String>,
    /// Variables added to the environment of this version's server. Values may name the artifact's files by
    /// role, as `{{libraries}}`.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub environment: BTreeMap<String, String>,
    /// Sources that the artifact can be fetched from, the preferred one first. All provide the same version.
    pub sources: Vec<Source>,
    /// Place of the definition in `system.toml`, for messages.
    #[serde(skip)]
    pub location: ArtifactLocation,
}

/// Place where an artifact is defined; messages tell users what to correct there and which command to run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ArtifactLocation {
    /// File, line and key of `reports`, as ``FILE:11: `artifact.0.reports` ``.
    pub version_text: String,
    /// Folder given as `--systems-dir`. `None` for a built-in system.
    pub systems_dir: Option<PathBuf>,
}

impl Artifact {
    /// Returns `true` if the artifact can run on this machine: it is for this platform or for
    /// [`ANY_PLATFORM`].
    pub fn matches_platform(&self) -> bool {
        self.platform == ANY_PLATFORM || self.platform == platform()
    }

    /// Returns a shell command that applies `action` to this version, quoted so that it can be pasted:
    /// `jsonathlon systems install NAME@VERSION --systems-dir DIR`.
    pub fn command(&self, action: &str) -> String {
        let folder = self.location.systems_dir.as_ref().map(|folder| {
            let folder = folder.display().to_string();
            format!(" --systems-dir {}", if folder.is_empty() { ".".to_owned() } else { shell_word(folder) })
        });
        format!("jsonathlon systems {action} {}@{}{}", self.system, self.version, folder.unwrap_or_default())
    }

    /// Returns the shell commands that remove this version and install it again.
    pub fn reinstall_command(&self) -> String {
        format!("{} && {}", self.command("remove"), self.command("install"))
    }

    /// Returns `true` if the artifact is built into the jsonathlon binary, so that nothing has to be fetched.
    pub fn is_bundled(&self) -> bool {
        self.sources.iter().any(|source| source.kind == SourceKind::Bundled)
    }
}

/// Quotes a word for a POSIX shell, unless all its characters are safe without quotes.
fn shell_word(word: String) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._-+@%:,=".contains(c);
    if word.chars().all(is_plain) { word } else { format!("'{}'", word.replace('\'', r"'\''")) }
}

/// Platform name of an artifact that runs on every machine.
pub const ANY_PLATFORM: &str = "any";

/// Returns the platform of this machine, as artifacts name it: `linux-x86_64`.
pub fn platform() -> String {
    format!("{}-{}", std::env::consts::OS, std::env::consts::ARCH)
}

/// One place that an artifact can be fetched from, or one further part of such a source.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Source {
    /// Kind of registry, with the name of the package there.
    pub kind: SourceKind,
    /// SHA-256 in lower-case hexadecimal: of the downloaded archive; without a single archive, of the list of
    /// pinned packages (Debian) or of all inputs of the build (Go). Empty for a bundled source.
    pub sha256: String,
    /// Download size in bytes: of the archive, or of all packages together; for a build, an estimate.
    pub bytes: u64,
    /// Size of the extracted members, in bytes. An extraction that exceeds it fails; for a build the limit is
    /// twice as high.
    pub unpacked_bytes: u64,
    /// Path of an archive inside the archive; `members` and `files` then refer to the inner one. Python
    /// wheels contain whole distributions in this way. `None` if there is no inner archive.
    pub inner: Option<String>,
    /// Paths inside the archive to extract: a file, a folder with everything below it (ends with `/`), or a
    /// prefix of names in one folder (ends with `*`). Empty: everything is extracted.
    pub members: Vec<String>,
    /// Empty folders that the system expects and the archive lacks; they are created after unpacking.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub folders: Vec<String>,
    /// Role (such as `library`) to path inside the archive; a path that ends with `/` is a folder. The files
    /// may lie in any part.
    pub files: BTreeMap<String, String>,
    /// Further parts that the artifact needs. Each is fetched by its own client and unpacked into the same
    /// folder. Parts have no `files` and no parts of their own.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub further_parts: Vec<Source>,
}

impl Source {
    /// Returns the source itself and then its further parts: everything that has to be fetched.
    pub fn parts(&self) -> impl Iterator<Item = &Self> {
        std::iter::once(self).chain(&self.further_parts)
    }

    /// Returns the identity of the source: SHA-256 of its archive, or of the digests of all its parts, in
    /// lower-case hexadecimal.
    pub fn digest(&self) -> String {
        if self.further_parts.is_empty() {
            return self.sha256.clone();
        }
        let mut hasher = Sha256::new();
        for part in self.parts() {
            hasher.update(format!("{}\n", part.sha256));
        }
        hex(&hasher.finalize())
    }

    /// Returns a SHA-256 over what is extracted and where files are expected: inner archives, members,
    /// folders and files. Sources with different selections are different installations, even of the same
    /// archives.
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

    /// Returns the download size of all parts together, in bytes.
    pub fn download_bytes(&self) -> u64 {
        self.parts().map(|part| part.bytes).fold(0, u64::saturating_add)
    }

    /// Returns the size of the extracted members of all parts, in bytes.
    pub fn installed_bytes(&self) -> u64 {
        self.parts().map(|part| part.unpacked_bytes).fold(0, u64::saturating_add)
    }

    /// Returns a display name with all parts, as `npm name@version with pypi name==version`.
    pub fn display_name(&self) -> String {
        let parts = self.parts().map(|part| format!("{} {}", part.kind.name(), part.kind.package()));
        parts.collect::<Vec<_>>().join(" with ")
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// An installed, bundled or user-supplied artifact that is ready for use.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct InstalledArtifact {
    /// Folder that the artifact was unpacked into. `None` if it is bundled or the system is external.
    pub folder: Option<PathBuf>,
    /// Actual version: the catalogue's, unless a newer one was accepted.
    pub version: String,
    /// Text that the version reported by the engine must contain.
    pub version_text: String,
    /// [`Source::digest`] of the source that it was installed from. `None` if the artifact is bundled or the
    /// system is external.
    pub sha256: Option<String>,
    /// Source with all parts, as `npm name@version`; address or path of an external system.
    pub source: String,
    /// Role (such as `library`) to the path of the installed file.
    pub files: BTreeMap<String, PathBuf>,
}

impl InstalledArtifact {
    /// Returns the shared library of an embedded engine. `None` if the engine is bundled or no file has the
    /// role `library`.
    pub fn library(&self) -> Option<&Path> {
        self.files.get("library").map(PathBuf::as_path)
    }

    /// Returns the folder for data templates that these programs made. It lies beside the installation, so
    /// that both are removed together. `None` if the programs are bundled or user-supplied, because those can
    /// change under the same path.
    pub fn data_template_dir(&self) -> Option<PathBuf> {
        self.folder.as_ref().map(|folder| folder.with_extension("beginnings"))
    }
}

/// Kind of registry that a source is fetched from, with the package there.
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
        /// Maven coordinates, as `group:artifact:version[:packaging[:classifier]]`.
        coordinates: String,
    },
    /// A wheel of the Python package index, fetched by `pip download`.
    Pypi {
        /// `name==version`, with an exact version.
        package: String,
    },
    /// Packages of a Debian suite, fetched by `apt-get` and unpacked side by side.
    Debian {
        /// Name of the suite, such as `sid` or `bookworm`.
        suite: String,
        /// Pinned packages. The upstream version of the first one is the artifact's version.
        packages: Vec<DebianPackage>,
        /// Display text: the suite, the first package with its version, and the number of further packages.
        summary: String,
    },
    /// A program of a Go module, built by `go`.
    Go {
        /// Import path of the program's main package.
        package: String,
        /// Build tags passed to `go` with `-tags`; may be empty.
        tags: Vec<String>,
        /// Text of the `go.mod` of the module in which the program is built.
        #[serde(skip)]
        go_mod: String,
        /// Text of the `go.sum` of that module, which pins every input.
        #[serde(skip)]
        go_sum: String,
        /// Lowest usable version of Go, as stated in `go.mod`: `1.25.6`.
        go: String,
    },
    /// Built into the jsonathlon binary; nothing has to be fetched.
    Bundled,
}

/// A Debian package, pinned to one version and digest.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DebianPackage {
    /// Name of the package in the suite.
    pub name: String,
    /// Exact version, with epoch and revision.
    pub version: String,
    /// SHA-256 of the `.deb`, in lower-case hexadecimal.
    pub sha256: String,
    /// Size of the `.deb`, in bytes.
    pub bytes: u64,
}

impl DebianPackage {
    /// Returns the upstream version, without epoch, revision and suffixes of Debian: `9.7.4` of
    /// `1:9.7.4+dfsg-2`.
    pub fn upstream_version(&self) -> &str {
        let version = self.version.split_once(':').map_or(self.version.as_str(), |(_, version)| version);
        let version = version.rsplit_once('-').map_or(version, |(version, _)| version);
        version.split(['+', '~']).next().unwrap_or(version)
    }
}

impl SourceKind {
    /// Builds a [`Self::Debian`] with its display summary.
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

    /// Returns the name of the kind in `system.toml`, such as `npm`.
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

    /// Returns the name of the package in its registry, for display.
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
            version_text: "15.18".into(),
            platform: ANY_PLATFORM.into(),
            licence: "PostgreSQL".into(),
            end_of_life: false,
            outdated: None,
            environment: BTreeMap::new(),
            sources: Vec::new(),
            location: ArtifactLocation {
                version_text: String::new(),
                systems_dir: systems_dir.map(PathBuf::from),
            },
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
