//! Loads one file into one table, permanently or on trial.

use std::{path::Path, time::Duration};

use jsonathlon_catalogue::LoadMode;
use jsonathlon_schema::{record::FailureKind, value::Value};
use jsonathlon_worker::protocol::{LoadMethod, LoadReply, Op, Progress};

use super::reject_search::{self, ProbeOutcome, RejectedDocument};
use crate::{
    RunError,
    observer::RunEvent,
    plain_name::PlainName,
    recorder::TrialRecorder,
    session::{Session, TrialError},
};

/// Name of the table into which documents are loaded on trial.
const PROBE_TABLE: &str = "documents_probed";
/// Timeout of loading on trial. A document that takes longer counts as rejected.
pub(super) const ONE_DOCUMENT_LIMIT: Duration = Duration::from_secs(300);

/// Number of documents in a table as the system counts them.
pub(super) fn document_count(
    session: &mut Session<'_>,
    table: &str,
    limit: Duration,
) -> Result<u64, TrialError> {
    let values = session.named_values("count", &[("table", table)], limit)?;
    match values.values().next() {
        Some(Value::Int(count)) => Ok(u64::try_from(*count).unwrap_or(0)),
        value => {
            let error = format!("the system's count of documents is no number: {value:?}");
            Err(TrialError::failed(FailureKind::Wrong, error))
        }
    }
}

/// Loads `file` into `table` with the load mode and statements of the configuration. `documents` is the number
/// of documents in the file, for the progress; `None` if it is unknown.
pub(super) fn load_file(
    session: &mut Session<'_>,
    table: &str,
    file: &Path,
    documents: Option<u64>,
    limit: Duration,
    recorder: &mut TrialRecorder<'_>,
) -> Result<LoadReply, TrialError> {
    let plain_name = PlainName::new(file)?;
    let path = plain_name.text();
    let values = [("table", table), ("file", path.as_str())];
    let load = match session.target.setup.load {
        LoadMode::File => LoadMethod::Statement { statements: session.statements("load", &values)? },
        LoadMode::Rows | LoadMode::Stream => {
            LoadMethod::Rows { statement: session.statement("load", &values)?, file: file.to_owned() }
        }
    };
    let sync = !session.is_remote();
    let mut report = |progress: Progress| {
        let (done, total) = (progress.done, progress.total.or(documents));
        recorder.observer.event(&RunEvent::Progress { done, total, unit: &progress.unit });
    };
    session.request(&Op::Load { load, sync }, limit, &mut report)
}

/// Lines that a load has rejected, with the system's reasons.
pub(super) fn rejected_lines(reply: &LoadReply) -> Vec<RejectedDocument> {
    reply
        .rejects
        .iter()
        .map(|reject| RejectedDocument { ordinal: reject.line, reason: reject.reason.clone() })
        .collect()
}

pub(super) fn remove(path: &Path) -> Result<(), RunError> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(RunError::io(format!("remove {}", path.display()))(error))
        }
        _ => Ok(()),
    }
}

/// Loads `file`, which has `line_count` documents, into the temporary table. Returns the rejected documents and the
/// number of those in the table.
///
/// # Errors
/// If the system refuses the whole file, or does not answer.
fn load_probe(
    session: &mut Session<'_>,
    file: &Path,
    line_count: u64,
    recorder: &mut TrialRecorder<'_>,
) -> Result<(Vec<RejectedDocument>, u64), TrialError> {
    let reply = load_file(session, PROBE_TABLE, file, None, ONE_DOCUMENT_LIMIT, recorder)?;
    let rejected = rejected_lines(&reply);
    let mut count = document_count(session, PROBE_TABLE, ONE_DOCUMENT_LIMIT)?;
    if count == 0 && (rejected.len() as u64) < line_count {
        // Some systems load lines with keys first, and only the statements that follow a load make documents of them.
        let statements = session.statements("index", &[("table", PROBE_TABLE)])?;
        if !statements.is_empty() {
            session.run(statements, ONE_DOCUMENT_LIMIT)?;
            count = document_count(session, PROBE_TABLE, ONE_DOCUMENT_LIMIT)?;
        }
    }
    Ok((rejected, count))
}

/// Loads `file` into a temporary table and returns which documents are rejected. A crash or timeout of the
/// engine counts as rejection of the whole file, and the engine is restarted. So does a wrong number of
/// documents in the table.
pub(super) fn probe_file(
    session: &mut Session<'_>,
    file: &Path,
    recorder: &mut TrialRecorder<'_>,
) -> Result<ProbeOutcome, TrialError> {
    session.open()?;
    let create = session.statements("create", &[("table", PROBE_TABLE)])?;
    session.run(create, ONE_DOCUMENT_LIMIT)?;
    let line_count = reject_search::count_lines(file)?;
    let outcome = match load_probe(session, file, line_count, recorder) {
        Ok((rejected, count)) => match count + rejected.len() as u64 == line_count {
            true => ProbeOutcome::RejectedLines(rejected),
            false => ProbeOutcome::RejectedWhole(format!("it makes {count} documents of {line_count}")),
        },
        Err(TrialError::Failed(failure)) if failure.kind == FailureKind::Refused => {
            ProbeOutcome::RejectedWhole(failure.error)
        }
        Err(TrialError::Failed(failure))
            if matches!(failure.kind, FailureKind::Crash | FailureKind::Timeout) =>
        {
            session.kill();
            session.open()?;
            ProbeOutcome::RejectedWhole(format!("it ended the engine: {}", failure.error))
        }
        Err(error) => return Err(error),
    };
    let drop = session.statements("drop", &[("table", PROBE_TABLE)])?;
    session.run(drop, ONE_DOCUMENT_LIMIT)?;
    Ok(outcome)
}
