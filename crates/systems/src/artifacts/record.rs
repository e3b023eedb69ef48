//! `installed.json`: what was unpacked, from what, with which digests.

use std::{fs, io, path::Path};

use serde::{Deserialize, Serialize};

use super::error::ArtifactError;

/// The name of the record in an installed folder.
pub(crate) const NAME: &str = "installed.json";
/// The version of the record's format.
const FORMAT: u32 = 1;

/// What is known about an installed folder. It holds no absolute path, so that
/// a cache can be copied to another machine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Record {
    v: u32,
    pub(crate) system: String,
    pub(crate) version: String,
    pub(crate) platform: String,
    pub(crate) licence: String,
    /// As `npm name@version`.
    pub(crate) source: String,
    /// SHA-256 of the archive.
    pub(crate) sha256: String,
    pub(crate) files: Vec<Unpacked>,
}

/// One unpacked file or symbolic link.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Unpacked {
    /// Path inside the folder.
    pub(crate) path: String,
    pub(crate) bytes: u64,
    /// SHA-256 of the contents; of the target's text for a link.
    pub(crate) sha256: String,
    /// The target, for a symbolic link.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) link: Option<String>,
}

impl Record {
    pub(crate) fn new(
        artifact: &crate::catalogue::Artifact,
        source: &crate::catalogue::Source,
        files: Vec<Unpacked>,
    ) -> Self {
        Self {
            v: FORMAT,
            system: artifact.system.clone(),
            version: artifact.version.clone(),
            platform: artifact.platform.clone(),
            licence: artifact.licence.clone(),
            source: format!("{} {}", source.kind.name(), source.kind.package()),
            sha256: source.sha256.clone(),
            files,
        }
    }

    pub(crate) fn write(&self, folder: &Path) -> Result<(), ArtifactError> {
        let path = folder.join(NAME);
        serde_json::to_string_pretty(self)
            .map_err(io::Error::other)
            .and_then(|text| fs::write(&path, text + "\n"))
            .map_err(ArtifactError::cache(&path))
    }

    /// Reads a record and compares the files' sizes with it.
    ///
    /// Gives `None` where there is no such folder, and an error text where there
    /// is one that is not whole.
    pub(crate) fn read(folder: &Path) -> Option<Result<Self, String>> {
        if !folder.exists() {
            return None;
        }
        let read = || {
            let text = fs::read_to_string(folder.join(NAME)).map_err(|error| format!("{NAME}: {error}"))?;
            let record: Self = serde_json::from_str(&text).map_err(|error| format!("{NAME}: {error}"))?;
            if record.v != FORMAT {
                return Err(format!("{NAME} has format {}, and this program knows {FORMAT}", record.v));
            }
            for file in &record.files {
                match fs::symlink_metadata(folder.join(&file.path)) {
                    Err(error) => return Err(format!("{}: {error}", file.path)),
                    Ok(facts) if facts.is_symlink() != file.link.is_some() => {
                        return Err(format!("{} is no longer what it was", file.path));
                    }
                    Ok(facts) if file.link.is_none() && facts.len() != file.bytes => {
                        return Err(format!(
                            "{} has {} bytes and had {}",
                            file.path,
                            facts.len(),
                            file.bytes
                        ));
                    }
                    Ok(_) => {}
                }
            }
            Ok(record)
        };
        Some(read())
    }
}
