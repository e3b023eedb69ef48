//! Times many successive updates of one document, and measures how much disk space each adds.

use jsonathlon_dataset::nested::{NestedGenerator, NestedTable};
use jsonathlon_schema::metric;
use jsonathlon_schema::record::{Cell, Metrics, Trial, Verdict};
use jsonathlon_worker::protocol::RunReply;

use super::trials::histories;
use super::turn::{DocumentsTurn, StepResult};
use crate::recorder::{TrialRecorder, new_trial};
use crate::run_context::TABLE;
use crate::session::{Session, TrialError};

/// Top-level number of the first version. The versions count up from it; no original document has such a
/// number.
const FIRST_NUMBER: i64 = 20_000;

/// Writes `versions` versions of the last document and records a trial: once with plain updates, and once
/// more with a commit after each update if the system keeps a history of its data.
pub(super) fn write(
    turn: &DocumentsTurn<'_, '_, '_>,
    versions: u32,
    session: &mut Session<'_>,
    recorder: &mut TrialRecorder<'_>,
) -> StepResult<()> {
    for history in histories(turn.setup) {
        let cell = turn.tests.version(history);
        let key = cell.trial_key(1, 0);
        if recorder.has(&key) || turn.record_unsupported("version", &cell, 1, recorder)? {
            continue;
        }
        match TrialError::split_fatal(write_versions(turn, history, versions, &cell, session))? {
            Ok(trial) => recorder.record_trial(key, trial)?,
            Err(failure) => {
                if let Err(failure) = turn.record_failure(&failure, &cell, 1, session, recorder)? {
                    return Ok(Err(failure));
                }
            }
        }
    }
    Ok(Ok(()))
}

/// Writes the versions, verifies the last one and restores the original document. `history` is one of the
/// ways that [`histories`] lists.
fn write_versions(
    turn: &DocumentsTurn<'_, '_, '_>,
    history: &str,
    versions: u32,
    cell: &Cell,
    session: &mut Session<'_>,
) -> Result<Trial, TrialError> {
    let table = turn.tests.configured_table.table;
    let key = table.documents.saturating_sub(1);
    let disk_before = turn.settle_and_measure(&[TABLE], session)?;
    let mut statements = Vec::new();
    let update = |session: &Session<'_>, number: i64| {
        let (key, value) = (key.to_string(), number.to_string());
        session.statements("version", &[("table", TABLE), ("key", &key), ("value", &value)])
    };
    for number in (FIRST_NUMBER..).take(versions as usize) {
        statements.extend(update(session, number)?);
        if history == "commit" {
            statements.extend(session.statements("commit", &[("table", TABLE)])?);
        }
    }
    let write_result = session.run(statements, turn.limit()).and_then(|reply: RunReply| {
        let verdict = verify_number(turn, key, FIRST_NUMBER + i64::from(versions) - 1, session)?;
        Ok((reply, verdict, turn.settle_and_measure(&[TABLE], session)?))
    });
    // Restore the original document for later steps, even if the versions could not be written.
    let original_number = NestedTable::top_level_number(key).cast_signed();
    let restore_result = session
        .run(update(session, original_number)?, turn.limit())
        .and_then(|_: RunReply| verify_number(turn, key, original_number, session));
    let (reply, verdict, disk_after) = write_result?;
    restore_result?;
    let mut trial = new_trial(cell, 1, 0);
    let document_bytes = NestedGenerator::new(table).length(key);
    let seconds_per_version = reply.seconds / f64::from(versions.max(1));
    turn.add_timing(&mut trial, seconds_per_version, &reply.usage, document_bytes);
    trial.metrics.insert(metric::DOCUMENTS.name.to_owned(), f64::from(versions));
    trial.metrics.insert(metric::SOURCE_BYTES.name.to_owned(), document_bytes as f64);
    let files_bytes = |disk: &Metrics| disk.get(metric::FILES_BYTES.name).copied();
    if let (Some(before), Some(after)) = (files_bytes(&disk_before), files_bytes(&disk_after)) {
        let added_per_version = (after - before).max(0.0) / f64::from(versions.max(1));
        trial.metrics.insert(metric::ADDED_BYTES.name.to_owned(), added_per_version);
        let share = added_per_version / (document_bytes as f64).max(1.0);
        trial.metrics.insert(metric::ADDED_SHARE.name.to_owned(), share);
    }
    trial.verdict = verdict;
    Ok(trial)
}

/// Verifies that the top-level number of a document is `number` and that the rest is as in the original.
fn verify_number(
    turn: &DocumentsTurn<'_, '_, '_>,
    key: u64,
    number: i64,
    session: &mut Session<'_>,
) -> Result<Verdict, TrialError> {
    let expected = turn.tests.configured_table.table.digest_of(key, Some(number));
    turn.verify_document(
        key,
        expected,
        || format!("the document does not equal the original with `l` set to {number}"),
        session,
    )
}
