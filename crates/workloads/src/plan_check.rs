//! Reads query plans, saves them in the run folder and checks them against the declared access path.

use std::time::Duration;

use jsonathlon_schema::record::{Cell, FailureKind, PlanCheck, RecordBody};

use crate::RunError;
use crate::recorder::TrialRecorder;
use crate::session::{Session, TrialError};

/// Records the query plan of `statement` once per cell and saves it as `plans/NAME.txt`.
///
/// `violations` returns the deviations of a plan's text from the declared access path. A plan that cannot be
/// read is recorded as a violation.
///
/// # Errors
/// If the engine crashed, the run was cancelled, or the plan cannot be saved or recorded.
pub(crate) fn check(
    session: &mut Session<'_>,
    cell: Cell,
    name: &str,
    statement: &str,
    limit: Duration,
    violations: impl Fn(&str) -> Vec<String>,
    recorder: &mut TrialRecorder<'_>,
) -> Result<(), TrialError> {
    let key = format!("plan:{}", cell.key());
    if recorder.has(&key) {
        return Ok(());
    }
    let text = match session.plan(statement, limit) {
        Ok(text) => text,
        // A crashed engine has no plan: the cell fails with the crash, and a later round reads the plan
        // again.
        Err(TrialError::Failed(failure)) if failure.kind != FailureKind::Crash => {
            // The engine may be in any state now, so the next trial starts a new one.
            session.kill();
            let violations = vec![format!("the plan cannot be read: {}", failure.error)];
            let check = PlanCheck { cell, file: String::new(), violations };
            return Ok(recorder.append(key, RecordBody::Plan(check))?);
        }
        Err(error) => return Err(error),
    };
    let violations = violations(&text);
    // The first empty line separates statement and plan, so empty lines of the statement are removed.
    let lines: Vec<&str> = statement.lines().filter(|line| !line.trim().is_empty()).collect();
    let content = format!("{}\n\n{text}\n", lines.join("\n"));
    recorder
        .folder
        .write_file(&format!("plans/{name}.txt"), content.as_bytes())
        .map_err(RunError::from)
        .and_then(|file| recorder.append(key, RecordBody::Plan(PlanCheck { cell, file, violations })))
        .map_err(TrialError::from)
}
