//! Searches the largest document that a system accepts. Loads a single document, twice as large at each step,
//! until one is rejected. Then bisects between the last accepted and the rejected size, to about a
//! thousandth.

use std::{
    io::{BufWriter, Write},
    path::Path,
    time::Duration,
};

use jsonathlon_catalogue::{DocumentsSetup, LoadMode};
use jsonathlon_dataset::nested::{EnlargedDocument, InnerContent, NestedTable};
use jsonathlon_schema::{
    metric,
    record::{Cell, Failure, FailureKind, Finding, Metrics, Trial, Verdict},
    value::Value,
};
use jsonathlon_telemetry::machine::available_memory_bytes;
use jsonathlon_worker::protocol::{ExportReply, LoadMethod, LoadReply, Op};

use super::{
    settings::{DocumentsSettings, size_word},
    trials::{ConfiguredTable, TestCells},
};
use crate::{
    RunError,
    cells::Cells,
    limit,
    observer::{Activity, RunEvent},
    plain_name::PlainName,
    recorder::{TrialRecorder, new_trial},
    run_context::{RunContext, TABLE, TargetState},
    session::{Session, TrialError},
};

/// Timeout of loading one document, and again of exporting it.
const STEP_TIMEOUT: Duration = Duration::from_secs(120);
/// Share of the memory available before a step that the step may use.
const SHARE_OF_MEMORY: f64 = 0.5;
/// Bisection between two sizes stops at this part of the smaller one, as a power of two: 1/1024.
const PARTS: u32 = 10;

/// Subject of the finding whose state is the size in bytes of the largest accepted document.
const TAKEN: &str = "bytes taken";
/// Subject of the finding with the size in bytes of the smallest rejected document.
const REFUSED: &str = "bytes refused";

/// Size in bytes of the largest document that is tried.
pub(super) fn largest_bytes(settings: &DocumentsSettings) -> u64 {
    settings.max_size_search.iter().map(|n| NestedTable::nominal_bytes_of(*n)).max().unwrap_or_default()
}

fn tests<'a>(cells: Cells<'a>, settings: &DocumentsSettings, n: u32) -> TestCells<'a> {
    let table = NestedTable { n, documents: 1, data: InnerContent::Identical, seed: settings.seed };
    TestCells::new(cells, ConfiguredTable { requested: table, table })
}

/// Keys of all steps of one configuration.
pub(super) fn keys(cells: Cells<'_>, settings: &DocumentsSettings) -> Vec<String> {
    settings.max_size_search.iter().map(|n| tests(cells, settings, *n).limit().trial_key(1, 0)).collect()
}

/// Loads documents of ascending size into one configuration, until one is rejected.
pub(super) fn find(
    context: &RunContext<'_>,
    settings: &DocumentsSettings,
    setup: &DocumentsSetup,
    state: &mut TargetState<'_>,
    recorder: &mut TrialRecorder<'_>,
) -> Result<(), RunError> {
    // Previous size, and whether it is known to be accepted. It is unknown for steps recorded before the run
    // was resumed.
    let mut previous: Option<(u32, bool)> = None;
    let mut rejected: Option<(u32, String)> = None;
    let file = context.work_folder.join("limit.ndjson");
    let attempt = |document: EnlargedDocument, cell: &Cell, session: &mut Session<'_>| {
        try_and_remove(context, setup, document, cell, &file, session)
    };
    for n in &settings.max_size_search {
        let cell = tests(state.cells, settings, *n).limit();
        let key = cell.trial_key(1, 0);
        if recorder.has(&key) {
            previous = Some((*n, false));
            continue;
        }
        if let Some((rejected_n, record_key)) = &rejected {
            recorder.record_trial(key, not_tried(&cell, *rejected_n, record_key))?;
            continue;
        }
        let activity = format!("{} one document of {}", state.cells.target.file_name(), size_word(*n));
        recorder.observer.event(&RunEvent::Began { activity: Activity::TargetTurn, description: &activity });
        state.session.subject().set_activity(&activity);
        let result = attempt(EnlargedDocument { n: *n, extra_objects: 0 }, &cell, &mut state.session);
        match TrialError::split_fatal(result)? {
            Ok(trial) => {
                previous = Some((*n, true));
                recorder.record_trial(key, trial)?;
            }
            Err(failure) => {
                rejected = Some((*n, key.clone()));
                match failure.kind {
                    // The system accepted the document and returned another one, or this program is at fault.
                    FailureKind::Wrong | FailureKind::Protocol => {
                        recorder.record_failure(key, &cell, 1, 0, failure)?
                    }
                    _ => {
                        let mut is_accepted = |document| -> Result<bool, RunError> {
                            let result = attempt(document, &cell, &mut state.session);
                            Ok(TrialError::split_fatal(result)?.is_ok())
                        };
                        let findings = bisect_from(previous, *n, &mut is_accepted)?;
                        recorder.record_trial(key, Trial { findings, ..unstored_trial(&cell, failure) })?;
                    }
                }
            }
        }
    }
    Ok(())
}

/// Bisects if the ordinal `previous` is accepted, and tries it first if that is not known; otherwise finds
/// nothing.
fn bisect_from(
    previous: Option<(u32, bool)>,
    rejected: u32,
    is_accepted: &mut dyn FnMut(EnlargedDocument) -> Result<bool, RunError>,
) -> Result<Vec<Finding>, RunError> {
    let Some((accepted, is_known)) = previous else { return Ok(Vec::new()) };
    if is_known || is_accepted(EnlargedDocument { n: accepted, extra_objects: 0 })? {
        return bisect(accepted, rejected, is_accepted);
    }
    Ok(Vec::new())
}

/// Bisects between two ordinals, of which the smaller one was accepted and the larger one rejected.
fn bisect(
    accepted: u32,
    rejected: u32,
    is_accepted: &mut dyn FnMut(EnlargedDocument) -> Result<bool, RunError>,
) -> Result<Vec<Finding>, RunError> {
    let parts = accepted.min(PARTS);
    // If ordinals in between were not requested, the limit may be beyond the next ordinal; each ordinal is
    // divided into parts.
    let document_at = |position: u64| {
        let n = accepted + u32::try_from(position >> parts).unwrap_or(u32::MAX);
        EnlargedDocument { n, extra_objects: (position & ((1 << parts) - 1)) << n.saturating_sub(parts) }
    };
    let end = u64::from(rejected.saturating_sub(accepted)) << parts;
    let (last_accepted, first_rejected) =
        limit::bisect(0, end, |position| is_accepted(document_at(position)))?;
    let bytes_at = |position| document_at(position).bytes().to_string();
    Ok(vec![Finding::new(TAKEN, bytes_at(last_accepted)), Finding::new(REFUSED, bytes_at(first_rejected))])
}

/// Trial of a document that is not tried, because one of size `rejected` was rejected in the record
/// `record_key`.
fn not_tried(cell: &Cell, rejected: u32, record_key: &str) -> Trial {
    let error = format!("not tried: {} was refused", size_word(rejected));
    unstored_trial(cell, Failure::new(FailureKind::Refused, error).with_cause_key(record_key))
}

/// Trial of a step in which no document was stored.
fn unstored_trial(cell: &Cell, failure: Failure) -> Trial {
    Trial { verdict: Verdict::NotApplicable, failure: Some(failure), ..new_trial(cell, 1, 0) }
}

/// Tries a document and removes everything it left, so that the next one starts with an empty data folder.
fn try_and_remove(
    context: &RunContext<'_>,
    setup: &DocumentsSetup,
    document: EnlargedDocument,
    cell: &Cell,
    file: &Path,
    session: &mut Session<'_>,
) -> Result<Trial, TrialError> {
    let result = try_document(context, setup, document, cell, file, session);
    std::fs::remove_file(file).ok();
    session.kill();
    if !session.is_remote() {
        std::fs::remove_dir_all(session.folder()).ok();
    }
    result
}

fn try_document(
    context: &RunContext<'_>,
    setup: &DocumentsSetup,
    document: EnlargedDocument,
    cell: &Cell,
    file: &Path,
    session: &mut Session<'_>,
) -> Result<Trial, TrialError> {
    let bytes = write(document, file, &context.work_folder)?;
    session.reset_data()?;
    session.open()?;
    let create = session.statements("create", &[("table", TABLE)])?;
    session.run(create, STEP_TIMEOUT)?;
    let plain_name = PlainName::new(file)?;
    let path = plain_name.text();
    let values = [("table", TABLE), ("file", path.as_str())];
    let load = match setup.load {
        LoadMode::File => LoadMethod::Statement { statements: session.statements("load", &values)? },
        LoadMode::Rows | LoadMode::Stream => {
            LoadMethod::Keyed { statement: session.statement("load", &values)?, file: file.to_owned() }
        }
    };
    let check = memory_check();
    let loaded: LoadReply =
        session.request_or_abort(&Op::Load { load, sync: false }, STEP_TIMEOUT, &check)?;
    if let Some(reject) = loaded.rejects.first() {
        return Err(TrialError::failed(FailureKind::Refused, reject.reason.clone()));
    }
    let count = session.named_values("count", &[("table", TABLE)], STEP_TIMEOUT)?;
    if count.values().next() != Some(&Value::Int(1)) {
        return Err(TrialError::failed(FailureKind::Refused, "no error, and the document is not there"));
    }
    let mut trial = new_trial(cell, 1, 0);
    trial.verdict = Verdict::Unverified;
    if setup.skip_reason("export").is_none() {
        let statement = session.statement("export", &[("table", TABLE)])?;
        let exported: ExportReply =
            session.request_or_abort(&Op::Export { statement, values: true }, STEP_TIMEOUT, &check)?;
        if (exported.documents, exported.values) != (1, Some(document.digest())) {
            return Err(TrialError::failed(FailureKind::Wrong, "what came out is not what went in"));
        }
        trial.verdict = Verdict::Exact;
    }
    trial.seconds = Some(loaded.seconds);
    trial.metrics = Metrics::from([
        metric::DOCUMENTS.with_value(1.0),
        metric::SOURCE_BYTES.with_value(bytes as f64),
        metric::BYTES_PER_S.with_value(bytes as f64 / loaded.seconds),
    ]);
    Ok(trial)
}

/// Writes a document as one line; returns the size of its text in bytes.
fn write(document: EnlargedDocument, file: &Path, work: &Path) -> Result<u64, TrialError> {
    let result = std::fs::create_dir_all(work).and_then(|()| {
        let mut writer = BufWriter::with_capacity(1 << 20, std::fs::File::create(file)?);
        let bytes = document.line(&mut writer)?;
        writer.flush()?;
        Ok(bytes)
    });
    result.map_err(|error| {
        let error = format!("failed to write {}: {error}", file.display());
        TrialError::failed(FailureKind::Environment, error)
    })
}

/// Returns a check that fails when a step has used more memory than [`SHARE_OF_MEMORY`] allows.
fn memory_check() -> impl Fn() -> Option<Failure> {
    let initial = available_memory_bytes();
    let minimum = initial.map(|bytes| (bytes as f64 * (1.0 - SHARE_OF_MEMORY)) as u64);
    move || {
        let (available, minimum) = (available_memory_bytes()?, minimum?);
        (available < minimum).then(|| {
            let error = format!(
                "given up: it used more than {} MB of memory, half of what was available",
                initial.unwrap_or_default().saturating_sub(minimum) / 1_000_000
            );
            Failure::new(FailureKind::Environment, error)
        })
    }
}
