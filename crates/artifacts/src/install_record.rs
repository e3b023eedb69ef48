//! `installed.json`: the record of an installation, with its source and the digest of every file.

use std::{fs, io, path::Path};

use serde::{Deserialize, Serialize};

use jsonathlon_catalogue::artifact::{Artifact, DebianPackage, InstalledArtifact, Source, SourceKind};

use crate::error::ArtifactError;

/// Name of the record file in an installation's folder.
pub(crate) const RECORD_FILE: &str = "installed.json";
/// Version of the record's format; a record with another version counts as damaged.
const FORMAT: u32 = 1;

/// Contents of the record. It holds no absolute path, so that a cache can be copied to another machine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct InstallRecord {
    v: u32,
    pub(crate) system: String,
    pub(crate) version: String,
    pub(crate) platform: String,
    pub(crate) licence: String,
    /// Source with all parts, as `npm name@version`. For a build, the version of the build tool follows.
    pub(crate) source: String,
    /// [`Source::digest`]: SHA-256 of the archive, or of the digests of all parts.
    pub(crate) sha256: String,
    /// [`Source::selection`]: what was extracted from the archives.
    pub(crate) selection: String,
    /// All parts if the source has several; otherwise empty.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) parts: Vec<InstalledPart>,
    pub(crate) files: Vec<UnpackedFile>,
    /// Text that the reported version must contain, for an accepted newer version. `None` if the catalogue's
    /// text applies.
    #[serde(default, rename = "reports", skip_serializing_if = "Option::is_none")]
    pub(crate) version_text: Option<String>,
    /// Debian packages that the installation consists of; empty for other kinds of source.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) packages: Vec<DebianPackage>,
    /// Digest of the pinned source that this newer version replaces. `None` if the pinned version is
    /// installed.
    #[serde(default, rename = "accepted_for", skip_serializing_if = "Option::is_none")]
    pub(crate) replaced_digest: Option<String>,
}

/// One of several parts that were unpacked into the folder.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct InstalledPart {
    /// Source of this part alone, as `npm name@version`.
    pub(crate) source: String,
    /// [`Source::sha256`] of this part.
    pub(crate) sha256: String,
}

/// One unpacked file or symbolic link, as recorded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct UnpackedFile {
    /// Path inside the installation's folder.
    pub(crate) path: String,
    pub(crate) bytes: u64,
    /// SHA-256 of the contents; of the target's text for a link.
    pub(crate) sha256: String,
    /// Target of a symbolic link. `None` for a file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) link: Option<String>,
}

impl InstallRecord {
    /// Describes the installation in `folder`; the roles of its files come from `source`.
    pub(super) fn to_installed(
        &self,
        folder: &Path,
        artifact: &Artifact,
        source: &Source,
    ) -> InstalledArtifact {
        InstalledArtifact {
            folder: Some(folder.to_path_buf()),
            version: self.version.clone(),
            version_text: self.version_text.clone().unwrap_or_else(|| artifact.version_text.clone()),
            sha256: Some(self.sha256.clone()),
            source: self.source.clone(),
            files: source
                .files
                .iter()
                .map(|(role, path)| (role.clone(), folder.join(path.trim_end_matches('/'))))
                .collect(),
        }
    }

    pub(crate) fn new(
        artifact: &Artifact,
        source: &Source,
        tool_version: Option<String>,
        replaced_digest: Option<&str>,
        files: Vec<UnpackedFile>,
    ) -> Self {
        let build_note = tool_version.map(|tool| format!(", built by {tool}")).unwrap_or_default();
        let packages = source.parts().flat_map(|part| match &part.kind {
            SourceKind::Debian { packages, .. } => packages.clone(),
            _ => Vec::new(),
        });
        let part = |part: &Source| InstalledPart {
            source: format!("{} {}", part.kind.name(), part.kind.package()),
            sha256: part.sha256.clone(),
        };
        Self {
            v: FORMAT,
            system: artifact.system.clone(),
            version: artifact.version.clone(),
            platform: artifact.platform.clone(),
            licence: artifact.licence.clone(),
            source: format!("{}{build_note}", source.display_name()),
            sha256: source.digest(),
            selection: source.selection(),
            parts: if source.further_parts.is_empty() {
                Vec::new()
            } else {
                source.parts().map(part).collect()
            },
            files,
            version_text: replaced_digest.map(|_| artifact.version_text.clone()),
            packages: packages.collect(),
            replaced_digest: replaced_digest.map(str::to_owned),
        }
    }

    /// Returns `true` if the installation holds what `source` would extract from the same archives.
    pub(crate) fn has_same_selection(&self, source: &Source) -> bool {
        self.selection == source.selection()
    }

    pub(crate) fn write(&self, folder: &Path) -> Result<(), ArtifactError> {
        let path = folder.join(RECORD_FILE);
        serde_json::to_string_pretty(self)
            .map_err(io::Error::other)
            .and_then(|text| fs::write(&path, text + "\n"))
            .map_err(ArtifactError::cache(&path))
    }

    /// Reads a record and compares the sizes of the files with it.
    ///
    /// `None` if there is no such folder; an error text if the installation is incomplete or changed.
    pub(crate) fn read(folder: &Path) -> Option<Result<Self, String>> {
        if !folder.exists() {
            return None;
        }
        let read_record = || {
            let text = fs::read_to_string(folder.join(RECORD_FILE))
                .map_err(|error| format!("{RECORD_FILE}: {error}"))?;
            let record: Self =
                serde_json::from_str(&text).map_err(|error| format!("{RECORD_FILE}: {error}"))?;
            if record.v != FORMAT {
                return Err(format!(
                    "{RECORD_FILE} has format {}; this program reads format {FORMAT}",
                    record.v
                ));
            }
            for file in &record.files {
                match fs::symlink_metadata(folder.join(&file.path)) {
                    Err(error) => return Err(format!("{}: {error}", file.path)),
                    Ok(metadata) if metadata.is_symlink() != file.link.is_some() => {
                        return Err(format!("{} is another kind of file than was installed", file.path));
                    }
                    Ok(metadata) if file.link.is_none() && metadata.len() != file.bytes => {
                        return Err(format!(
                            "{} has {} bytes instead of {}",
                            file.path,
                            metadata.len(),
                            file.bytes
                        ));
                    }
                    Ok(_) => {}
                }
            }
            Ok(record)
        };
        Some(read_record())
    }
}
