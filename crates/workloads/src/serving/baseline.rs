//! Reads a user's documents back after a load. What a system gives back then is what reads must return later,
//! and the number of documents that the load changed is recorded as its round trip.

use std::{collections::BTreeMap, path::PathBuf, time::Duration};

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
        std::fs::remove_file(&old).map_err(RunError::io(format!("remove {}", old.display())))?;
    }
    let name = target.state.cells.target.file_name();
    let activity = format!("reading back {name}");
    recorder.observer.event(&RunEvent::Began { activity: Activity::Loading, description: &activity });
    let path = context.work_folder.join(format!("{name}-{}.baseline", target.load_number));
    let request = BaselineRead {
        records,
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
    check_complete(&report, rejected_count(context, target))?;
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

/// Number of documents that the system rejected while it was loaded.
fn rejected_count(context: &RunContext<'_>, target: &ServingTarget<'_>) -> u64 {
    let Ok(loaded) = &target.state.load_result else { return 0 };
    let suspects = context.staged.suspects.len().saturating_sub(loaded.accepted_suspects.len());
    (loaded.rejected_lines.len() + suspects) as u64
}

/// Fails if other documents are absent than were rejected, or rows are not what was loaded.
fn check_complete(report: &BaselineReport, rejected: u64) -> Result<(), TrialError> {
    let first = |texts: &[String]| texts.first().cloned().unwrap_or_default();
    if report.unexpected > 0 {
        return Err(TrialError::failed(
            FailureKind::Wrong,
            format!(
                "{} rows read back after the load are none of the documents, such as: {}",
                report.unexpected,
                first(&report.unexpected_rows)
            ),
        ));
    }
    if report.absent != rejected {
        return Err(TrialError::failed(
            FailureKind::Wrong,
            format!(
                "{} documents are not found by their keys after the load, and {rejected} were rejected: \
                 the first has the key `{}`",
                report.absent,
                first(&report.absent_keys)
            ),
        ));
    }
    Ok(())
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
    let changes = match report.changed {
        0 => BTreeMap::new(),
        changed => BTreeMap::from([(CHANGED.to_owned(), changed)]),
    };
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
        }),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(absent: u64, unexpected: u64) -> BaselineReport {
        BaselineReport {
            documents: 10 - absent,
            absent,
            changed: 0,
            absent_keys: vec!["a".to_owned()],
            changed_keys: Vec::new(),
            unexpected,
            unexpected_rows: vec!["no document has the key `u`".to_owned()],
        }
    }

    #[test]
    fn only_rejected_documents_may_be_absent() {
        let message =
            |absent, unexpected, rejected| match check_complete(&report(absent, unexpected), rejected) {
                Err(TrialError::Failed(failure)) => failure.error,
                other => format!("{other:?}"),
            };
        assert!(check_complete(&report(0, 0), 0).is_ok() && check_complete(&report(2, 0), 2).is_ok());
        assert!(message(3, 0, 2).contains("3 documents are not found") && message(3, 0, 2).contains("`a`"));
        assert!(message(0, 0, 1).contains("1 were rejected"), "a rejected one is there after all");
        assert!(message(0, 1, 0).contains("`u`"));
    }
}
