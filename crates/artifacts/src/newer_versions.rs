//! Accepts newer Debian packages in place of pinned ones that a suite no longer has.

use std::{fs, path::PathBuf};

use jsonathlon_catalogue as catalogue;
use jsonathlon_catalogue::artifact::{Artifact, DebianPackage, InstalledArtifact, Source, SourceKind};

use crate::{cache::CachePaths, error::UnavailablePackages, install_record::InstallRecord};

/// Returns the artifact with the newest available packages, and the digest of the source that it replaces. If
/// the packages are a further part, the part's version is appended to the artifact's, as
/// `6.0.27+libssl1.1-1.1.1w-1`. `None` if `unavailable` offers no packages or no source contains them.
pub(super) fn newer_artifact(
    artifact: &Artifact,
    unavailable: &UnavailablePackages,
) -> Option<(Artifact, String)> {
    let offer = unavailable.replacements.as_deref()?;
    let first = offer.first()?;
    let (pinned, index) = artifact.sources.iter().find_map(|source| {
        let index = source.parts().position(|part| matches_offer(part, unavailable, offer))?;
        Some((source, index))
    })?;
    let mut source = pinned.clone();
    let (part, version) = match index.checked_sub(1) {
        None => (&mut source, first.upstream_version().to_owned()),
        Some(index) => (
            source.further_parts.get_mut(index)?,
            format!("{}+{}-{}", artifact.version, first.name, first.version),
        ),
    };
    part.kind = SourceKind::debian(&unavailable.suite, offer.to_vec());
    part.sha256 = catalogue::inputs_digest(&part.kind)?;
    part.bytes = offer.iter().map(|package| package.bytes).sum();
    // Leave room, because newer programs tend to be larger.
    part.unpacked_bytes = part.unpacked_bytes.saturating_mul(2);
    let version_text = match index {
        0 => artifact.version_text.replace(&artifact.version, &version),
        _ => artifact.version_text.clone(),
    };
    let newer = Artifact { version_text, version, sources: vec![source], ..artifact.clone() };
    Some((newer, pinned.digest()))
}

/// Returns `true` if the offered packages are exactly those of this part.
fn matches_offer(part: &Source, unavailable: &UnavailablePackages, offer: &[DebianPackage]) -> bool {
    let SourceKind::Debian { suite, packages, .. } = &part.kind else { return false };
    *suite == unavailable.suite
        && packages.len() == offer.len()
        && packages.iter().zip(offer).all(|(pinned, offered)| pinned.name == offered.name)
}

/// Finds an installed newer version that was accepted in place of a pinned one. `None` if there is none.
pub(super) fn find_accepted(artifact: &Artifact, paths: &CachePaths) -> Option<InstalledArtifact> {
    let mut folders: Vec<PathBuf> =
        fs::read_dir(&paths.version).ok()?.filter_map(|entry| Some(entry.ok()?.path())).collect();
    folders.sort();
    folders.iter().find_map(|folder| {
        let record = InstallRecord::read(folder)?.ok()?;
        let pinned = record.replaced_digest.as_ref()?;
        let is_replaced = |source: &&Source| source.digest() == *pinned && record.selects(source);
        let source = artifact.sources.iter().find(is_replaced)?;
        Some(record.to_installed(folder, artifact, source))
    })
}
