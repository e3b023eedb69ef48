//! What a version of a system comes as: which archive of which registry, what
//! is taken out of it, and its digest.

use std::collections::BTreeMap;

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
    /// Where it can be had, the preferred first. All are the same version.
    pub sources: Vec<Source>,
}

impl Artifact {
    /// Whether it can run on this machine.
    pub fn fits_here(&self) -> bool {
        self.platform == ANY_PLATFORM || self.platform == platform()
    }

    /// Whether it is part of the program, so that nothing has to be fetched.
    pub fn is_bundled(&self) -> bool {
        self.sources.iter().any(|source| source.kind == SourceKind::Bundled)
    }
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
    /// empty for a bundled one.
    pub sha256: String,
    /// Size of the archive, in bytes.
    pub bytes: u64,
    /// Size of what is taken out of it, in bytes.
    pub unpacked_bytes: u64,
    /// An archive inside the archive, whose members and files are meant instead:
    /// wheels of Python carry whole distributions so.
    pub inner: Option<String>,
    /// Paths inside the archive that are taken; one that ends with `/` is a
    /// folder with all below it; none means everything.
    pub members: Vec<String>,
    /// What the members are for: role (`library`) to path inside the archive.
    pub files: BTreeMap<String, String>,
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
    /// Part of the program.
    Bundled,
}

impl SourceKind {
    /// The kind's name in `system.toml`.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Npm { .. } => "npm",
            Self::Maven { .. } => "maven",
            Self::Pypi { .. } => "pypi",
            Self::Bundled => "bundled",
        }
    }

    /// What the source is called there, for people.
    pub fn package(&self) -> &str {
        match self {
            Self::Npm { package } | Self::Pypi { package } => package,
            Self::Maven { coordinates } => coordinates,
            Self::Bundled => "part of the program",
        }
    }
}
