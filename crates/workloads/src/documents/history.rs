//! Writes many versions of one document, one after the other.

use jsonathlon_dataset::nested::{NestedGenerator, NestedTable};
use jsonathlon_schema::record::{Cell, Trial, Verdict};
use jsonathlon_worker::protocol::RunReply;

use super::trials::histories;
use super::turn::{DocumentsTurn, StepResult};
use crate::recorder::{TrialRecorder, new_trial};
use crate::run_context::TABLE;
use crate::session::{Session, TrialError};

/// Number in the first version; no original document has it.
const FIRST: i64 = 20_000;

/// Writes versions of the last document: as plain updates, and with a commit after each if the system
/// supports it.
pub(super) fn write(
    turn: &DocumentsTurn<'_, '_, '_>,
    versions: u32,
    session: &mut Session<'_>,
    recorder: &mut TrialRecorder<'_>,
) -> StepResult<()> {
    for history in histories(turn.part) {
        let cell = turn.tests.version(history);
        let key = cell.trial_key(1, 0);
        if recorder.has(&key) || turn.record_unsupported("version", &cell, 1, recorder)? {
            continue;
        }
        match TrialError::split_fatal(versions_of(turn, history, versions, &cell, session))? {
            Ok(trial) => recorder.trial(key, trial)?,
            Err(failure) => {
                if let Err(failure) = turn.failed(&failure, &cell, 1, session, recorder)? {
                    return Ok(Err(failure));
                }
            }
        }
    }
    Ok(Ok(()))
}

fn versions_of(
    turn: &DocumentsTurn<'_, '_, '_>,
    history: &str,
    versions: u32,
    cell: &Cell,
    session: &mut Session<'_>,
) -> Result<Trial, TrialError> {
    let table = turn.tests.at.table;
    let number = table.documents.saturating_sub(1);
    let before = turn.settle_and_measure(&[TABLE], session)?;
    let mut statements = Vec::new();
    let version = |session: &Session<'_>, value: i64| {
        let (key, value) = (number.to_string(), value.to_string());
        session.statements("version", &[("table", TABLE), ("key", &key), ("value", &value)])
    };
    for value in (FIRST..).take(versions as usize) {
        statements.extend(version(session, value)?);
        if history == "commit" {
            statements.extend(session.statements("commit", &[("table", TABLE)])?);
        }
    }
    let written = session.run(statements, turn.limit()).and_then(|ran: RunReply| {
        let verdict = prove(turn, number, FIRST + i64::from(versions) - 1, session)?;
        Ok((ran, verdict, turn.settle_and_measure(&[TABLE], session)?))
    });
    // Restore the original document for later steps, whatever became of the versions.
    let own = NestedTable::top_level_number(number).cast_signed();
    let restored = session
        .run(version(session, own)?, turn.limit())
        .and_then(|_: RunReply| prove(turn, number, own, session));
    let (ran, verdict, after) = written?;
    restored?;
    let mut trial = new_trial(cell, 1, 0);
    let bytes = NestedGenerator::new(table).length(number);
    let each = ran.seconds / f64::from(versions.max(1));
    turn.timed(&mut trial, each, &ran.usage, bytes);
    trial.metrics.insert("documents".into(), f64::from(versions));
    trial.metrics.insert("source_bytes".into(), bytes as f64);
    if let (Some(before), Some(after)) = (before.get("files_bytes"), after.get("files_bytes")) {
        let added = (after - before).max(0.0) / f64::from(versions.max(1));
        trial.metrics.insert("added_bytes".into(), added);
        trial.metrics.insert("added_share".into(), added / (bytes as f64).max(1.0));
    }
    trial.verdict = verdict;
    Ok(trial)
}

/// Verifies that only the top-level number of the document has changed.
fn prove(
    turn: &DocumentsTurn<'_, '_, '_>,
    number: u64,
    l: i64,
    session: &mut Session<'_>,
) -> Result<Verdict, TrialError> {
    let expected = turn.tests.at.table.digest_of(number, Some(l));
    turn.verify_document(
        number,
        expected,
        || format!("the document is not the version whose number is {l}"),
        session,
    )
}
