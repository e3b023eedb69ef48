//! Chooses the source of an artifact, and checks the free disk space.

use std::path::{Path, PathBuf};

use jsonathlon_catalogue::artifact::{Artifact, Source};

use crate::{
    cache::{self, CachePaths},
    client::{self, Client, ClientLookup},
    error::ArtifactError,
};

/// Source chosen for an installation, with its parts.
pub(super) struct SelectedSource<'a> {
    pub(super) source: &'a Source,
    /// The source itself and its further parts.
    pub(super) parts: Vec<SourcePart<'a>>,
}

/// One part of a source, with the client that fetches it.
pub(super) struct SourcePart<'a> {
    pub(super) source: &'a Source,
    pub(super) client: Box<dyn Client>,
    /// Path of the client's program. `None` if it is not on the search path; then the part can be used only
    /// if its download is already in the cache.
    pub(super) program: Option<PathBuf>,
    /// Whether the cache holds a file under the name of the download; its contents are not verified yet.
    pub(super) is_downloaded: bool,
}

impl SourcePart<'_> {
    fn is_obtainable(&self, clients: &ClientLookup) -> bool {
        self.is_downloaded
            || self
                .program
                .as_ref()
                .is_some_and(|program| self.client.unusable_reason(program, clients).is_none())
    }
}

/// Returns all parts of a source with their clients. `None` if the source is bundled.
fn parts<'a>(source: &'a Source, clients: &ClientLookup, paths: &CachePaths) -> Option<Vec<SourcePart<'a>>> {
    let part = |source: &'a Source| {
        let client = client::client_for(source)?;
        let program = clients.find(client.program());
        Some(SourcePart { source, client, program, is_downloaded: paths.download(source).exists() })
    };
    source.parts().map(part).collect()
}

/// Chooses a source whose every part can be fetched or is already downloaded. The first one with a download
/// in the cache is preferred, otherwise the first of all.
///
/// # Errors
/// [`ArtifactError::UnusableClient`] or [`ArtifactError::NoClient`] if no source can be fetched completely.
pub(super) fn choose_source<'a>(
    artifact: &'a Artifact,
    clients: &ClientLookup,
    paths: &CachePaths,
) -> Result<SelectedSource<'a>, ArtifactError> {
    let mut first = None;
    for source in &artifact.sources {
        let Some(parts) = parts(source, clients, paths) else { continue };
        if !parts.iter().all(|part| part.is_obtainable(clients)) {
            continue;
        }
        let choice = SelectedSource { source, parts };
        if choice.parts.iter().any(|part| part.is_downloaded) {
            return Ok(choice);
        }
        first = first.or(Some(choice));
    }
    first.ok_or_else(|| no_client_error(artifact, clients, paths))
}

/// Builds the error that lists, for every source, the clients that are missing or unusable, with remedies.
/// One source is enough to fetch from, but each of its parts needs its own client.
pub(super) fn no_client_error(
    artifact: &Artifact,
    clients: &ClientLookup,
    paths: &CachePaths,
) -> ArtifactError {
    let (mut programs, mut remedies) = (Vec::new(), Vec::new());
    let mut has_unfit = false;
    for source in &artifact.sources {
        let Some(parts) = parts(source, clients, paths) else { continue };
        let (mut names, mut steps) = (Vec::new(), Vec::new());
        for part in parts.iter().filter(|part| !part.is_obtainable(clients)) {
            let SourcePart { source: part, client, program, .. } = part;
            let name = format!("`{}`", client.program());
            if names.contains(&name) {
                continue;
            }
            let problem = program.as_ref().and_then(|program| client.unusable_reason(program, clients));
            has_unfit |= problem.is_some();
            steps.push(problem.unwrap_or_else(|| {
                let purpose = if source.further_parts.is_empty() {
                    String::new()
                } else {
                    format!(" for {}", part.kind.package())
                };
                format!(
                    "install {name}{purpose} (Debian, Ubuntu: `apt-get install {}`)",
                    client.debian_package()
                )
            }));
            names.push(name);
        }
        let names = names.join(" and ");
        if !names.is_empty() && !programs.contains(&names) {
            programs.push(names);
            remedies.push(steps.join(" and "));
        }
    }
    let (system, version) = (artifact.system.clone(), artifact.version.clone());
    if has_unfit {
        return ArtifactError::UnusableClient { system, version, problems: remedies };
    }
    ArtifactError::NoClient {
        system,
        version,
        clients: programs,
        remedies,
        folder: paths.version_folder.clone(),
    }
}

/// Checks that the disk has room for the installation. The demand is the larger of two peaks: while the last
/// client works, and while archives and members lie side by side. `verified` tells which parts have a
/// verified download.
pub(super) fn check_space(
    artifact: &Artifact,
    parts: &[SourcePart<'_>],
    verified: &[bool],
    root: &Path,
) -> Result<(), ArtifactError> {
    let (mut needed, mut archives, mut members) = (0_u64, 0_u64, 0_u64);
    for (SourcePart { source, client, .. }, verified) in parts.iter().zip(verified) {
        if !verified {
            let copies = source.bytes.saturating_mul(client.copies());
            needed = needed.max(archives.saturating_add(copies));
            archives = archives.saturating_add(source.bytes);
        }
        let inner = if source.inner.is_some() { source.bytes } else { 0 };
        members = members.saturating_add(source.unpacked_bytes).saturating_add(inner);
    }
    let needed_bytes = needed.max(archives.saturating_add(members));
    let available_bytes = cache::available_bytes(root)?;
    if available_bytes >= needed_bytes {
        return Ok(());
    }
    Err(ArtifactError::NotEnoughSpace {
        system: artifact.system.clone(),
        version: artifact.version.clone(),
        folder: root.to_owned(),
        needed_bytes,
        available_bytes,
    })
}
