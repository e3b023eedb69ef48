//! Access plans: read from the system, kept in the run folder, and held against what its folder promises.

use std::time::Duration;

use jsonathlon_results::record::{Body, Cell, FailureKind, PlanCheck};

use crate::RunError;
use crate::recorder::Recorder;
use crate::session::{Ended, Session};

/// Reads the plan of `statement` and records it once for its cell, in a file of this name below `plans/`.
/// `violations` says what is wrong with its text. A plan that cannot be read is a promise that is not kept.
///
/// # Errors
/// The engine died, or the journal cannot be written.
pub(crate) fn check(
    session: &mut Session<'_>,
    cell: Cell,
    name: &str,
    statement: &str,
    limit: Duration,
    violations: impl Fn(&str) -> Vec<String>,
    recorder: &mut Recorder<'_>,
) -> Result<(), Ended> {
    let key = format!("plan:{}", cell.key());
    if recorder.has(&key) {
        return Ok(());
    }
    let text = match session.plan(statement, limit) {
        Ok(text) => text,
        // An engine that died says nothing about its plan: the cell failed of the crash, and a later
        // round looks at the plan again.
        Err(Ended::Failed(failure)) if failure.kind != FailureKind::Crash => {
            // Whatever state the engine is in now, the next trial starts with a new one.
            session.kill();
            let violations = vec![format!("the plan cannot be read: {}", failure.error)];
            let check = PlanCheck { cell, file: String::new(), violations };
            return Ok(recorder.note(key, Body::Plan(check))?);
        }
        Err(other) => return Err(other),
    };
    let violations = violations(&text);
    // The first empty line parts the two, so there is none in the statement.
    let asked: Vec<&str> = statement.lines().filter(|line| !line.trim().is_empty()).collect();
    let content = format!("{}\n\n{text}\n", asked.join("\n"));
    recorder
        .folder
        .write_file(&format!("plans/{name}.txt"), content.as_bytes())
        .map_err(RunError::from)
        .and_then(|file| recorder.note(key, Body::Plan(PlanCheck { cell, file, violations })))
        .map_err(Ended::from)
}
