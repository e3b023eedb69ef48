//! Accepts newer Debian packages in place of pinned ones that a suite no longer has.

use std::{fs, path::PathBuf};

use jsonathlon_catalogue as catalogue;
use jsonathlon_catalogue::artifact::{Artifact, DebianPackage, InstalledArtifact, Source, SourceKind};

use crate::{cache::CachePaths, error::UnavailablePackages, install_record::InstallRecord};

/// Returns the artifact with the replacements that `unavailable` lists, and the digest of the source that
/// they replace. The version is that of the first package. If the packages belong to a further part of the
/// source, its version is appended, as in `6.0.27+libssl1.1-1.1.1w-1`.
///
/// `None` if there are no replacements, or no source uses packages of those names.
pub(super) fn newer_artifact(
    artifact: &Artifact,
    unavailable: &UnavailablePackages,
) -> Option<(Artifact, String)> {
    let replacements = unavailable.replacements.as_deref()?;
    let first = replacements.first()?;
    let (replaced_source, part_index) = artifact.sources.iter().find_map(|source| {
        let part_index =
            source.parts().position(|part| has_same_packages(part, &unavailable.suite, replacements))?;
        Some((source, part_index))
    })?;
    let mut source = replaced_source.clone();
    // Part 0 is the source itself; its further parts follow.
    let (part, version) = match part_index.checked_sub(1) {
        None => (&mut source, first.upstream_version().to_owned()),
        Some(further_index) => (
            source.further_parts.get_mut(further_index)?,
            format!("{}+{}-{}", artifact.version, first.name, first.version),
        ),
    };
    part.kind = SourceKind::debian(&unavailable.suite, replacements.to_vec());
    part.sha256 = catalogue::pinned_inputs_digest(&part.kind)?;
    part.bytes = replacements.iter().map(|package| package.bytes).sum();
    // Leave room, because newer programs tend to be larger.
    part.unpacked_bytes = part.unpacked_bytes.saturating_mul(2);
    let version_text = match part_index {
        0 => artifact.version_text.replace(&artifact.version, &version),
        _ => artifact.version_text.clone(),
    };
    let newer = Artifact { version_text, version, sources: vec![source], ..artifact.clone() };
    Some((newer, replaced_source.digest()))
}

/// Returns `true` if the part is from `suite`, and its packages have the names of the replacements, in the
/// same order.
fn has_same_packages(part: &Source, suite: &str, replacements: &[DebianPackage]) -> bool {
    let SourceKind::Debian { suite: part_suite, packages, .. } = &part.kind else { return false };
    part_suite == suite
        && packages.len() == replacements.len()
        && packages.iter().zip(replacements).all(|(package, replacement)| package.name == replacement.name)
}

/// Finds an installed newer version that was accepted in place of a pinned one. `None` if there is none.
pub(super) fn find_accepted(artifact: &Artifact, paths: &CachePaths) -> Option<InstalledArtifact> {
    let mut folders: Vec<PathBuf> =
        fs::read_dir(&paths.version_folder).ok()?.filter_map(|entry| Some(entry.ok()?.path())).collect();
    folders.sort();
    folders.iter().find_map(|folder| {
        let record = InstallRecord::read(folder)?.ok()?;
        let replaced_digest = record.replaced_digest.as_ref()?;
        let is_replaced =
            |source: &&Source| source.digest() == *replaced_digest && record.has_same_selection(source);
        let source = artifact.sources.iter().find(is_replaced)?;
        Some(record.to_installed(folder, artifact, source))
    })
}
