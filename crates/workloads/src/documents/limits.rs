//! Searches the largest document that a system accepts. Loads a single document, twice as large at each step,
//! until one is rejected. Then bisects between the last accepted and the rejected size, to about a
//! thousandth.

use std::{
    io::{BufWriter, Write},
    path::Path,
    time::Duration,
};

use jsonathlon_catalogue::{Documents as Part, LoadMode};
use jsonathlon_dataset::nested::{InnerContent, Larger, NestedTable};
use jsonathlon_schema::{
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
const PATIENCE: Duration = Duration::from_secs(120);
/// Share of the memory available before a step that the step may use.
const SHARE_OF_MEMORY: f64 = 0.5;
/// Bisection between two sizes stops at this part of the smaller one, as a power of two: 1/1024.
const PARTS: u32 = 10;

/// Subject of the finding whose state is the size in bytes of the largest accepted document.
const TAKEN: &str = "bytes taken";
/// Subject of the finding with the size in bytes of the smallest rejected document.
const REFUSED: &str = "bytes refused";

/// Size in bytes of the largest document that is tried.
pub(super) fn room(own: &DocumentsSettings) -> u64 {
    own.limits.iter().map(|n| NestedTable::nominal_bytes_of(*n)).max().unwrap_or_default()
}

fn tests<'a>(cells: Cells<'a>, own: &DocumentsSettings, n: u32) -> TestCells<'a> {
    let table = NestedTable { n, documents: 1, data: InnerContent::Identical, seed: own.seed };
    TestCells::new(cells, ConfiguredTable { asked: table, table })
}

/// Keys of all steps of one configuration.
pub(super) fn keys(cells: Cells<'_>, own: &DocumentsSettings) -> Vec<String> {
    own.limits.iter().map(|n| tests(cells, own, *n).limit().trial_key(1, 0)).collect()
}

/// Loads documents of ascending size into one configuration, until one is rejected.
pub(super) fn find(
    bench: &RunContext<'_>,
    own: &DocumentsSettings,
    part: &Part,
    one: &mut TargetState<'_>,
    recorder: &mut TrialRecorder<'_>,
) -> Result<(), RunError> {
    // Previous size, and whether it is known to be accepted. It is unknown for steps recorded before the run
    // was resumed.
    let mut before: Option<(u32, bool)> = None;
    let mut refused: Option<(u32, String)> = None;
    let file = bench.work.join("limit.ndjson");
    let offer = |larger: Larger, cell: &Cell, session: &mut Session<'_>| {
        let tried = try_one(bench, part, larger, cell, &file, session);
        std::fs::remove_file(&file).ok();
        // The next document starts with an empty data folder.
        session.kill();
        if !session.is_remote() {
            std::fs::remove_dir_all(session.folder()).ok();
        }
        tried
    };
    for n in &own.limits {
        let tests = tests(one.cells, own, *n);
        let cell = tests.limit();
        let key = cell.trial_key(1, 0);
        if recorder.has(&key) {
            before = Some((*n, false));
            continue;
        }
        if let Some((size, by)) = &refused {
            let error = format!("not tried: {} was refused", size_word(*size));
            let failure = Failure::new(FailureKind::Refused, error).recorded_in(by);
            recorder.trial(key, without(&cell, failure))?;
            continue;
        }
        let what = format!("{} one document of {}", one.cells.target.file_name(), size_word(*n));
        recorder.observer.event(&RunEvent::Began { work: Activity::Turn, what: &what });
        one.session.subject().set_activity(&what);
        let tried = offer(Larger { n: *n, more: 0 }, &cell, &mut one.session);
        match TrialError::split_fatal(tried)? {
            Ok(trial) => {
                before = Some((*n, true));
                recorder.trial(key, trial)?;
            }
            Err(failure) => {
                refused = Some((*n, key.clone()));
                match failure.kind {
                    // The system accepted the document and returned another one, or this program is at fault.
                    FailureKind::Wrong | FailureKind::Protocol => {
                        recorder.failed(key, &cell, 1, 0, failure)?
                    }
                    _ => {
                        let mut is_taken = |larger| -> Result<bool, RunError> {
                            Ok(TrialError::split_fatal(offer(larger, &cell, &mut one.session))?.is_ok())
                        };
                        let findings = match before {
                            Some((taken, is_known))
                                if is_known || is_taken(Larger { n: taken, more: 0 })? =>
                            {
                                between(taken, *n, &mut is_taken)?
                            }
                            _ => Vec::new(),
                        };
                        recorder.trial(key, Trial { findings, ..without(&cell, failure) })?;
                    }
                }
            }
        }
    }
    Ok(())
}

/// Bisects between two ordinals, of which the smaller one was accepted and the larger one rejected.
fn between(
    taken: u32,
    refused: u32,
    is_taken: &mut dyn FnMut(Larger) -> Result<bool, RunError>,
) -> Result<Vec<Finding>, RunError> {
    let parts = taken.min(PARTS);
    // If ordinals in between were not requested, the limit may be beyond the next ordinal; each ordinal is
    // divided into parts.
    let of = |place: u64| {
        let n = taken + u32::try_from(place >> parts).unwrap_or(u32::MAX);
        Larger { n, more: (place & ((1 << parts) - 1)) << n.saturating_sub(parts) }
    };
    let end = u64::from(refused.saturating_sub(taken)) << parts;
    let (last, first) = limit::between(0, end, |place| is_taken(of(place)))?;
    let bytes = |place| of(place).bytes().to_string();
    Ok(vec![Finding::new(TAKEN, bytes(last)), Finding::new(REFUSED, bytes(first))])
}

/// Trial of a step in which no document was stored.
fn without(cell: &Cell, failure: Failure) -> Trial {
    Trial { verdict: Verdict::NotApplicable, failure: Some(failure), ..new_trial(cell, 1, 0) }
}

fn try_one(
    bench: &RunContext<'_>,
    part: &Part,
    larger: Larger,
    cell: &Cell,
    file: &Path,
    session: &mut Session<'_>,
) -> Result<Trial, TrialError> {
    let bytes = write(larger, file, &bench.work)?;
    session.reset_data()?;
    session.open()?;
    let create = session.statements("create", &[("table", TABLE)])?;
    session.run(create, PATIENCE)?;
    let plain = PlainName::of(file)?;
    let path = plain.text();
    let values = [("table", TABLE), ("file", path.as_str())];
    let load = match part.load {
        LoadMode::File => LoadMethod::Statement { statements: session.statements("load", &values)? },
        LoadMode::Rows | LoadMode::Stream => {
            LoadMethod::Keyed { statement: session.statement("load", &values)?, file: file.to_owned() }
        }
    };
    let within = memory();
    let loaded: LoadReply = session.request_or_abort(&Op::Load { load, sync: false }, PATIENCE, &within)?;
    if let Some(reject) = loaded.rejects.first() {
        return Err(TrialError::failed(FailureKind::Refused, reject.reason.clone()));
    }
    let count = session.figures("count", &[("table", TABLE)], PATIENCE)?;
    if count.values().next() != Some(&Value::Int(1)) {
        return Err(TrialError::failed(FailureKind::Refused, "no error, and the document is not there"));
    }
    let mut trial = new_trial(cell, 1, 0);
    trial.verdict = Verdict::Unverified;
    if part.lacks("export").is_none() {
        let statement = session.statement("export", &[("table", TABLE)])?;
        let out: ExportReply =
            session.request_or_abort(&Op::Export { statement, values: true }, PATIENCE, &within)?;
        if (out.documents, out.values) != (1, Some(larger.digest())) {
            return Err(TrialError::failed(FailureKind::Wrong, "what came out is not what went in"));
        }
        trial.verdict = Verdict::Exact;
    }
    trial.seconds = Some(loaded.seconds);
    trial.metrics = Metrics::from([
        ("documents".to_owned(), 1.0),
        ("source_bytes".to_owned(), bytes as f64),
        ("bytes_per_s".to_owned(), bytes as f64 / loaded.seconds),
    ]);
    Ok(trial)
}

/// Writes a document as one line; returns the size of its text in bytes.
fn write(larger: Larger, file: &Path, work: &Path) -> Result<u64, TrialError> {
    let written = std::fs::create_dir_all(work).and_then(|()| {
        let mut out = BufWriter::with_capacity(1 << 20, std::fs::File::create(file)?);
        let bytes = larger.line(&mut out)?;
        out.flush()?;
        Ok(bytes)
    });
    written.map_err(|error| {
        let error = format!("failed to write {}: {error}", file.display());
        TrialError::failed(FailureKind::Environment, error)
    })
}

/// Returns a check that fails when a step has used more memory than [`SHARE_OF_MEMORY`] allows.
fn memory() -> impl Fn() -> Option<Failure> {
    let before = available_memory_bytes();
    let least = before.map(|bytes| (bytes as f64 * (1.0 - SHARE_OF_MEMORY)) as u64);
    move || {
        let (now, least) = (available_memory_bytes()?, least?);
        (now < least).then(|| {
            let error = format!(
                "given up: it had taken more than {} MB of memory, half of what there was",
                before.unwrap_or_default().saturating_sub(least) / 1_000_000
            );
            Failure::new(FailureKind::Environment, error)
        })
    }
}
