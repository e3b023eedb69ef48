//! Reads a user's documents back after a load. What a system gives back then is what reads must return later,
//! and the number of documents that the load changed is recorded as its round trip.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    time::Duration,
};

use jsonathlon_dataset::own_records::{AbsenceMismatch, Baseline, OwnRecords, UpdateKind};
use jsonathlon_loadgen::{
    baseline::{BaselineRead, BaselineReport},
    load_generator::READ_BASELINE,
    mix::{Mix, RequestDistribution},
    operation::Operation,
};
use jsonathlon_schema::record::{FailureKind, RecordBody, RoundTripOutcome, RoundTripReport};
use jsonathlon_worker::protocol::Op;

use super::{ServingTarget, scripts, settings::ServingSettings, target_records::TargetRecords};
use crate::{
    RunError,
    observer::{Activity, RunEvent},
    recorder::TrialRecorder,
    run_context::RunContext,
    session::{TrialError, forward_progress},
};

/// Kind of change of a document whose value differs from the one that was loaded.
const CHANGED: &str = "value changed";
/// Kind of change of a document in which the key is not the one by which it is found.
const KEY_CHANGED: &str = "key changed in the document";

/// Reads all documents of a configuration that was just loaded. Does nothing for generated records, whose
/// documents follow from their numbers.
pub(super) fn read(
    context: &RunContext<'_>,
    settings: &ServingSettings,
    target: &mut ServingTarget<'_>,
    recorder: &mut TrialRecorder<'_>,
) -> Result<(), TrialError> {
    let TargetRecords::Own { records, baseline } = &mut target.records else { return Ok(()) };
    let records = records.clone();
    if let Some(old) = baseline.take() {
        Baseline::remove(&old).map_err(RunError::Data)?;
    }
    let name = target.state.cells.target.file_name();
    let activity = format!("reading back {name}");
    recorder.observer.event(&RunEvent::Began { activity: Activity::Loading, description: &activity });
    let path = context.work_folder.join(format!("{name}-{}.baseline", target.load_number));
    let request = BaselineRead {
        records: records.clone(),
        scripts: read_scripts(settings, target)?,
        baseline: path.clone(),
        timeout_s: settings.timeout_s,
    };
    let op = Op::Drive { job: serde_json::json!({ READ_BASELINE: request }) };
    let limit = Duration::from_secs_f64(context.settings.load_timeout_s);
    target.state.session.open()?;
    let report: BaselineReport =
        target.state.session.request(&op, limit, &mut forward_progress(recorder.observer))?;
    target.state.session.close()?;
    check_rows(&report)?;
    check_absent(&compare_absent(&path, &records, &rejected_ordinals(context, target))?)?;
    record(&report, target, recorder)?;
    set_baseline(target, path);
    Ok(())
}

fn set_baseline(target: &mut ServingTarget<'_>, path: PathBuf) {
    if let TargetRecords::Own { baseline, .. } = &mut target.records {
        *baseline = Some(path);
    }
}

/// Scripts by which documents are read: scan if there is one, and read.
fn read_scripts(
    settings: &ServingSettings,
    target: &ServingTarget<'_>,
) -> Result<BTreeMap<Operation, jsonathlon_loadgen::job::OperationScript>, TrialError> {
    let has = |operation: &Operation| !target.setup.statements(operation.file()).is_empty();
    let shares = [Operation::Read, Operation::Scan].into_iter().filter(has);
    let mix = Mix {
        name: "read back".to_owned(),
        shares: shares.map(|operation| (operation, 0.5)).collect(),
        requests: RequestDistribution::Uniform,
    };
    let session = &target.state.session;
    scripts::scripts(session, &target.setup, target.records.paths(), settings.projection, &mix)
}

/// Numbers in the data of the documents that the system rejected while it was loaded, ascending.
fn rejected_ordinals(context: &RunContext<'_>, target: &ServingTarget<'_>) -> Vec<u64> {
    let Ok(loaded) = &target.state.load_result else { return Vec::new() };
    let staged = context.staged;
    let lines = loaded.rejected_lines.iter().map(|line| staged.offered_ordinal(*line));
    let suspects = staged.suspects.iter().enumerate();
    let rejected_suspects =
        suspects.filter(|(index, _)| loaded.accepted_suspects.binary_search(index).is_err());
    let mut ordinals: Vec<u64> = lines.chain(rejected_suspects.map(|(_, suspect)| suspect.ordinal)).collect();
    ordinals.sort_unstable();
    ordinals
}

/// Compares the documents that were not given back with those that were rejected.
fn compare_absent(
    path: &Path,
    records: &OwnRecords,
    rejected: &[u64],
) -> Result<AbsenceMismatch, TrialError> {
    let compared =
        Baseline::read(path, records).and_then(|baseline| baseline.compare_absent(records, rejected));
    compared.map_err(|error| TrialError::failed(FailureKind::Environment, error.to_string()))
}

/// Fails if rows are none of the documents that were loaded.
fn check_rows(report: &BaselineReport) -> Result<(), TrialError> {
    if report.unexpected == 0 {
        return Ok(());
    }
    let first = report.unexpected_rows.first().cloned().unwrap_or_default();
    Err(TrialError::failed(
        FailureKind::Wrong,
        format!(
            "{} rows read back after the load are none of the documents, such as: {first}",
            report.unexpected
        ),
    ))
}

/// Fails if other documents are absent than those that were rejected.
fn check_absent(mismatch: &AbsenceMismatch) -> Result<(), TrialError> {
    let AbsenceMismatch { lost, lost_keys, kept, kept_keys } = mismatch;
    let named = |keys: &[String]| keys.first().cloned().unwrap_or_default();
    let mut faults = Vec::new();
    if *lost > 0 {
        faults.push(format!(
            "{lost} documents were accepted and are not found by their keys after the load, such as the one \
             with the key `{}`",
            named(lost_keys)
        ));
    }
    if *kept > 0 {
        faults.push(format!(
            "{kept} documents were rejected and are found after the load, such as the one with the key `{}`",
            named(kept_keys)
        ));
    }
    if faults.is_empty() {
        return Ok(());
    }
    Err(TrialError::failed(FailureKind::Wrong, faults.join("; ")))
}

/// Records what the load has changed, once for each configuration.
fn record(
    report: &BaselineReport,
    target: &ServingTarget<'_>,
    recorder: &mut TrialRecorder<'_>,
) -> Result<(), RunError> {
    let cell = target.state.cells.structure();
    let key = format!("structure:{}", cell.key());
    if recorder.has(&key) {
        return Ok(());
    }
    let compared = report.documents;
    let kinds = [(CHANGED, report.changed), (KEY_CHANGED, report.key_changes)];
    let changes = kinds.into_iter().filter(|(_, documents)| *documents > 0);
    let changes = changes.map(|(kind, documents)| (kind.to_owned(), documents)).collect();
    let retains = match (compared, report.changed) {
        (0, _) => RoundTripOutcome::Unknown,
        (_, 0) => RoundTripOutcome::Value,
        _ => RoundTripOutcome::Changed,
    };
    if let Some(first) = report.changed_keys.first() {
        let name = target.state.cells.target.file_name();
        recorder.warn(&format!(
            "{name}: loading changed {} of {compared} documents, such as the one with the key `{first}`; \
             reads are held against what it gave back after the load",
            report.changed
        ));
    }
    let TargetRecords::Own { records, .. } = &target.records else { return Ok(()) };
    let notes = substitution_notes(report, records);
    for note in &notes {
        recorder.warn(&format!("{}: {note}", target.state.cells.target.file_name()));
    }
    recorder.append(
        key,
        RecordBody::Structure(RoundTripReport {
            cell,
            retains,
            compared,
            // Byte by byte they were not compared.
            equal_bytes: 0,
            equal_value: compared.saturating_sub(report.changed),
            changes,
            notes,
        }),
    )
}

/// Sentences on requests that are about other documents here than on systems that hold all of them.
fn substitution_notes(report: &BaselineReport, records: &OwnRecords) -> Vec<String> {
    let BaselineReport { absent, not_updatable, .. } = report;
    let total = records.documents;
    let mut notes = Vec::new();
    if *absent > 0 {
        notes.push(format!(
            "requests for the {absent} of {total} documents that it rejected take others in their place"
        ));
    }
    if let Some(update) = records.update.as_ref().filter(|_| *not_updatable > 0) {
        let kind = match update.kind {
            UpdateKind::Text => "text",
            UpdateKind::Integer => "integer",
        };
        notes.push(format!(
            "updates and inserts take others in place of {not_updatable} of {total} documents, which it rejected \
             or in which it left no {kind} at {}",
            update.path
        ));
    }
    notes
}

#[cfg(test)]
mod tests {
    use jsonathlon_dataset::own_records::{NewKeys, Pointer, UpdatePath};

    use super::*;

    fn message(outcome: Result<(), TrialError>) -> String {
        match outcome {
            Err(TrialError::Failed(failure)) => failure.error,
            other => format!("{other:?}"),
        }
    }

    #[test]
    fn only_rejected_documents_may_be_absent() {
        let mismatch = |lost: &[&str], kept: &[&str]| {
            let texts = |keys: &[&str]| keys.iter().map(|key| (*key).to_owned()).collect();
            check_absent(&AbsenceMismatch {
                lost: lost.len() as u64,
                lost_keys: texts(lost),
                kept: kept.len() as u64,
                kept_keys: texts(kept),
            })
        };
        assert!(mismatch(&[], &[]).is_ok());
        let lost = message(mismatch(&["a", "b"], &[]));
        assert!(lost.contains("2 documents were accepted and are not found"), "{lost}");
        assert!(lost.contains("`a`"), "{lost}");
        let kept = message(mismatch(&[], &["c"]));
        assert!(kept.contains("1 documents were rejected and are found"), "{kept}");
        assert!(kept.contains("`c`"), "{kept}");
        let both = message(mismatch(&["a"], &["c"]));
        assert!(both.contains("`a`; ") && both.contains("`c`"), "{both}");
    }

    #[test]
    fn other_documents_in_place_of_some_are_told() {
        let records = |update: Option<UpdateKind>| OwnRecords {
            folder: PathBuf::new(),
            documents: 300,
            key_type: jsonathlon_dataset::records::KeyType::Bigint,
            key: None,
            max_key_bytes: 0,
            new_keys: NewKeys::Upward(301),
            update: update.map(|kind| UpdatePath {
                path: Pointer::parse("/order/state").unwrap().as_members(),
                kind,
                documents: 300,
            }),
            paths: Vec::new(),
            seed: 1,
            digest: String::new(),
            members_in_use: Vec::new(),
            key_member: None,
        };
        let report =
            |absent, not_updatable| BaselineReport { absent, not_updatable, ..BaselineReport::default() };
        assert!(substitution_notes(&report(0, 0), &records(Some(UpdateKind::Text))).is_empty());
        let notes = substitution_notes(&report(2, 5), &records(Some(UpdateKind::Integer)));
        assert!(notes[0].contains("the 2 of 300 documents that it rejected"), "{notes:?}");
        assert!(notes[1].contains("5 of 300 documents") && notes[1].contains("no integer at /order/state"));
        assert_eq!(substitution_notes(&report(2, 0), &records(None)).len(), 1);
    }

    #[test]
    fn rows_must_be_documents() {
        let report = |unexpected| BaselineReport {
            documents: 10,
            unexpected,
            unexpected_rows: vec!["the key u is that of no document".to_owned()],
            ..BaselineReport::default()
        };
        assert!(check_rows(&report(0)).is_ok());
        assert!(message(check_rows(&report(1))).contains("the key u is that of no document"));
    }
}
