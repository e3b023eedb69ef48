//! Updates numbers deep inside a document, one at a time.

use jsonathlon_catalogue::{PathStep, path_values};
use jsonathlon_dataset::nested::NestedGenerator;
use jsonathlon_schema::record::{Cell, Trial};
use jsonathlon_worker::protocol::RunReply;

use super::{
    trials::depths,
    turn::{DocumentsTurn, StepResult},
};
use crate::{
    recorder::{TrialRecorder, new_trial},
    run_context::TABLE,
    session::{Session, TrialError},
};

/// Key of the document that is updated.
const KEY: u64 = 0;

/// Updates one number at each depth and verifies the document.
pub(super) fn update_paths(
    turn: &DocumentsTurn<'_, '_, '_>,
    session: &mut Session<'_>,
    recorder: &mut TrialRecorder<'_>,
) -> StepResult<()> {
    // Depths that have been updated in this document so far. Those of an interrupted run do not count,
    // because the document has been imported again.
    let mut changes: Vec<(u32, i64)> = Vec::new();
    for depth in depths(turn.tests.configured_table.table.n) {
        let cell = turn.tests.update_path(depth);
        let key = cell.trial_key(turn.round, 0);
        if recorder.has(&key) || turn.record_unsupported("update_path", &cell, 1, recorder)? {
            continue;
        }
        match TrialError::split_fatal(update_number(turn, &cell, depth, &mut changes, session))? {
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

/// Members on the path to the number `l` at a depth: none for depth 1, then k(n−1), k(n−2) and so on.
fn members(n: u32, depth: u32) -> Vec<String> {
    (1..depth).map(|level| format!("k{}", n.saturating_sub(level))).chain(["l".to_owned()]).collect()
}

fn update_number(
    turn: &DocumentsTurn<'_, '_, '_>,
    cell: &Cell,
    depth: u32,
    changes: &mut Vec<(u32, i64)>,
    session: &mut Session<'_>,
) -> Result<Trial, TrialError> {
    session.open()?;
    let table = turn.tests.configured_table.table;
    // A new number in every round, because some systems would not write an unchanged one.
    let value = 100_000 + i64::from(turn.round) * 100 + i64::from(depth);
    let steps: Vec<PathStep> = members(table.n, depth).into_iter().map(PathStep::Member).collect();
    let (key, number) = (KEY.to_string(), value.to_string());
    let notations = path_values(&steps);
    let mut values = vec![("table", TABLE), ("key", key.as_str()), ("value", number.as_str())];
    values.extend(notations.iter().map(|(name, text)| (*name, text.as_str())));
    let statements = session.statements("update_path", &values)?;
    let reply: RunReply = session.run(statements, turn.limit())?;
    changes.push((depth, value));
    let mut trial = new_trial(cell, turn.round, 0);
    let bytes = NestedGenerator::new(table).length(KEY);
    turn.add_timing(&mut trial, reply.seconds, &reply.usage, bytes);
    let describe = || format!("not exactly the number at depth {depth} has changed");
    trial.verdict = turn.verify_document(KEY, table.digest_of_changed(KEY, changes), describe, session)?;
    Ok(trial)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_go_down_by_the_largest_member() {
        assert_eq!(members(3, 1), ["l"]);
        assert_eq!(members(3, 2), ["k2", "l"]);
        assert_eq!(members(3, 4), ["k2", "k1", "k0", "l"]);
        assert_eq!(depths(12), [1, 6, 13]);
        assert_eq!(depths(0), [1]);
    }
}
