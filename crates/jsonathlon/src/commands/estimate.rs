//! Estimate of the duration of a whole run, printed before anything is installed or measured.

use jsonathlon_artifacts::{ArtifactStore, InstallState};
use jsonathlon_catalogue::{
    Configuration,
    artifact::{Artifact, Source, SourceKind},
};
use jsonathlon_workloads::{
    expected_time::{ExpectedTime, RunOutline, rough_duration},
    workload::Workload,
};

/// Assumed speed of downloads, in bytes per second.
const DOWNLOAD_BYTES_PER_S: f64 = 5e6;
/// Assumed speed of unpacking, in bytes per second.
const UNPACK_BYTES_PER_S: f64 = 50e6;
/// Assumed duration of compiling a system, in seconds.
const BUILD_S: f64 = 240.0;

/// Seconds of a run that no part of its workload accounts for: the test of the disk, tables, the page.
const FRAME_S: f64 = 3.0;
/// Seconds of staging for each document.
const STAGING_DOCUMENT_S: f64 = 7e-6;

/// Shorter durations are rounded to this many seconds.
const STEP_S: f64 = 10.0;

/// Expected seconds of a run, with staging and without installation.
pub(super) fn run_seconds(outline: &RunOutline<'_>, workload: &dyn Workload) -> f64 {
    staging_seconds(outline) + workload.expected_time(outline).seconds()
}

fn staging_seconds(outline: &RunOutline<'_>) -> f64 {
    FRAME_S + outline.typical_documents * STAGING_DOCUMENT_S
}

/// One sentence on the expected duration of a run over documents that are known beforehand.
pub(super) fn describe_duration(
    outline: &RunOutline<'_>,
    workload: &dyn Workload,
    store: &ArtifactStore,
) -> String {
    let missing = missing_sources(&outline.configurations, store);
    let install_s: f64 = missing.iter().map(|(_, source)| install_seconds(source)).sum();
    let expected = workload.expected_time(outline);
    let names: Vec<&str> = missing.iter().map(|(artifact, _)| artifact.system.as_str()).collect();
    sentence(&expected, staging_seconds(outline), install_s, &names)
}

/// Sentence on a run that takes `staging_s` seconds apart from its trials, and `install_s` to install the
/// systems of these names.
fn sentence(expected: &ExpectedTime, staging_s: f64, install_s: f64, names: &[&str]) -> String {
    let seconds = install_s + staging_s + expected.seconds();
    let mut text = format!("this run takes about {}", rough_duration(rounded(seconds)));
    if !names.is_empty() {
        let duration = rough_duration(rounded(install_s));
        text.push_str(&format!(" ({duration} of it to install {})", names.join(", ")));
    }
    if let Some(limit_s) = expected.limit_s().filter(|limit_s| *limit_s > seconds) {
        text.push_str(&format!(", and up to {} until results are precise", rough_duration(limit_s)));
    }
    text
}

/// Rounds a short duration, because more digits would promise too much.
fn rounded(seconds: f64) -> f64 {
    (seconds / STEP_S).ceil().max(1.0) * STEP_S
}

/// Artifacts that have to be installed, each once, with the sources that they would be installed from.
fn missing_sources<'a>(
    configurations: &[&'a Configuration],
    store: &ArtifactStore,
) -> Vec<(&'a Artifact, &'a Source)> {
    let mut missing: Vec<(&Artifact, &Source)> = Vec::new();
    for artifact in configurations.iter().filter_map(|configuration| configuration.artifact.as_ref()) {
        let is_listed = |(listed, _): &(&Artifact, &Source)| {
            (&listed.system, &listed.version) == (&artifact.system, &artifact.version)
        };
        let is_installed =
            matches!(store.presence(artifact), InstallState::Installed(_) | InstallState::Bundled);
        if !is_installed
            && !missing.iter().any(is_listed)
            && let Some(source) = store.source(artifact)
        {
            missing.push((artifact, source));
        }
    }
    missing
}

fn install_seconds(source: &Source) -> f64 {
    let is_built = source.parts().any(|part| matches!(part.kind, SourceKind::Go { .. }));
    source.download_bytes() as f64 / DOWNLOAD_BYTES_PER_S
        + source.installed_bytes() as f64 / UNPACK_BYTES_PER_S
        + if is_built { BUILD_S } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use jsonathlon_catalogue::Catalogue;
    use jsonathlon_schema::settings::{RunSettings, StoppingRule};
    use jsonathlon_workloads::analytics::{Analytics, AnalyticsSettings};

    use super::*;

    /// What is said of a run of one system over this number of documents, in an empty cache.
    fn said(system: &str, documents: u64, settings: &RunSettings) -> String {
        let catalogue = Catalogue::load(&[]).unwrap();
        let selection = catalogue.select(Some(system)).unwrap().remove(0);
        let (system, version) = (selection.system, selection.version);
        let variant = system.representative_variant().unwrap();
        let configuration = system.configuration(version, &variant.name, &system.storages()[0].name).unwrap();
        let cache = tempfile::tempdir().unwrap();
        let outline = RunOutline::new(vec![&configuration], settings, documents, 0);
        let workload = Analytics::new(AnalyticsSettings::default());
        describe_duration(&outline, &workload, &ArtifactStore::new(cache.path()))
    }

    #[test]
    fn an_estimate_counts_what_has_to_be_installed() {
        let settings = RunSettings::default();
        let text = said("sqlite", 1_000, &settings);
        assert!(text.starts_with("this run takes about ") && text.ends_with(" s"), "{text}");
        let text = said("duckdb", 1_000, &settings);
        assert!(text.ends_with(" of it to install duckdb)"), "{text}");
    }

    #[test]
    fn a_run_that_waits_for_precision_says_how_long_at_most() {
        let stopping = StoppingRule::Precision { share: 0.05, seconds: 1800.0 };
        let text = said("sqlite", 1_000, &RunSettings { stopping, ..RunSettings::default() });
        assert!(text.ends_with(", and up to 30 min until results are precise"), "{text}");
    }

    #[test]
    fn a_larger_run_takes_longer() {
        let text = said("sqlite", 1_000_000_000, &RunSettings::default());
        assert!(text.ends_with(" h"), "{text}");
        assert_eq!([0.0, 10.0, 10.5, 61.0].map(rounded), [10.0, 10.0, 20.0, 70.0]);
    }
}
