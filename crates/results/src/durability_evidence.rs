//! Collects what durability runs found for a configuration, to show next to its durability tier in other
//! runs.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use jsonathlon_schema::durability::{CrashKind, DurabilityEvidence};
use jsonathlon_schema::metric::{CRASHES, CRASHES_AS_PROMISED, CRASHES_WITHOUT_LOSS, MetricDef};
use jsonathlon_schema::record::Trial;
use jsonathlon_schema::workload::WorkloadKind;

use crate::folder::{CHOICE, read_manifest};
use crate::run::Run;

/// Subject of the finding whose state is the digest of everything that a configuration's durability depends
/// on.
pub const BASIS: &str = "basis";

/// Collects the crash tests of all durability runs in the subfolders of `folders`, and of those in choices there, by the
/// digest of what durability depends on. Of several runs with tests of the same kind, the latest counts. Folders that cannot
/// be read, such as those of other versions, are ignored, because these results only supplement the caller's
/// run.
#[must_use]
pub fn load_evidence<'p>(
    folders: impl IntoIterator<Item = &'p Path>,
) -> HashMap<String, Vec<DurabilityEvidence>> {
    let paths = folders.into_iter().flat_map(subfolders).flat_map(|path| match path.join(CHOICE).exists() {
        true => subfolders(&path),
        false => vec![path],
    });
    let is_durability_run = |path: &Path| {
        read_manifest(path)
            .is_ok_and(|manifest| manifest.workloads.iter().any(|name| *name == WorkloadKind::Durability))
    };
    let mut runs: Vec<Run> =
        paths.filter(|path| is_durability_run(path)).filter_map(|path| Run::read(&path).ok()).collect();
    runs.sort_by(|a, b| a.manifest.started.cmp(&b.manifest.started));
    let mut evidence: HashMap<String, Vec<DurabilityEvidence>> = HashMap::new();
    for (digest, new_test) in runs.iter().flat_map(sum_tests) {
        let tests = evidence.entry(digest).or_default();
        tests.retain(|test| test.kind != new_test.kind);
        tests.push(new_test);
        tests.sort_by_key(|test| test.kind);
    }
    evidence
}

/// Everything in a folder; empty if it cannot be read.
fn subfolders(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten();
    entries.filter_map(|entry| Some(entry.ok()?.path())).collect()
}

/// Sums the crash tests of one run by digest and kind.
fn sum_tests(run: &Run) -> Vec<(String, DurabilityEvidence)> {
    let date = run.manifest.day();
    let mut tests: Vec<(String, DurabilityEvidence)> = Vec::new();
    for trial in run.trials().filter(|trial| trial.metrics.contains_key(CRASHES.name)) {
        let Some(digest) = trial.findings.iter().find(|finding| finding.subject == BASIS) else { continue };
        let Some(kind) = CrashKind::from_word(trial.cell.step.word()) else { continue };
        let index = tests.iter().position(|(key, test)| key == digest.state.as_str() && test.kind == kind);
        let index = index.unwrap_or_else(|| {
            let empty =
                DurabilityEvidence { kind, crashes: 0, without_loss: 0, as_promised: 0, date: date.clone() };
            tests.push((digest.state.to_string(), empty));
            tests.len() - 1
        });
        let Some((_, test)) = tests.get_mut(index) else { continue };
        let count = |metric: MetricDef, trial: &Trial| metric.value(trial).unwrap_or_default() as u64;
        test.crashes += count(CRASHES, trial);
        test.without_loss += count(CRASHES_WITHOUT_LOSS, trial);
        test.as_promised += count(CRASHES_AS_PROMISED, trial);
    }
    tests
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_without_runs_has_shown_nothing() {
        let folder = tempfile::tempdir().unwrap();
        for (name, manifest) in [("torn", "{"), ("older", r#"{"schema": 1, "workloads": ["durability"]}"#)] {
            std::fs::create_dir(folder.path().join(name)).unwrap();
            std::fs::write(folder.path().join(name).join("manifest.json"), manifest).unwrap();
        }
        assert!(load_evidence([folder.path()]).is_empty());
        assert!(load_evidence([folder.path().join("none").as_path()]).is_empty());
    }
}
