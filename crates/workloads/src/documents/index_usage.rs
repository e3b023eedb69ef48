//! Classifies how query plans use an index: used, usable, in vain, impossible.

use jsonathlon_catalogue::{Index, IndexQuery, IndexUse};
use jsonathlon_schema::metric;
use jsonathlon_schema::record::{Failure, FailureKind, Verdict};

use super::turn::{DocumentsTurn, StepResult, fill_table, is_over_limit};
use crate::{
    RunError,
    recorder::{TrialRecorder, new_trial},
    session::{Session, TrialError},
};

/// Use of an index by a query. The numbers are the values of the metric `index_use`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum IndexUsage {
    Impossible = 0,
    InVain = 1,
    Usable = 2,
    Used = 3,
}

/// Use of an index, with the query plan or the system's error message.
struct PlanFinding {
    usage: IndexUsage,
    evidence: String,
}

/// Reads the plans of all queries of an index, and records how they use it.
pub(super) fn read_plans(
    turn: &DocumentsTurn<'_, '_, '_>,
    index: &Index,
    session: &mut Session<'_>,
    recorder: &mut TrialRecorder<'_>,
) -> StepResult<()> {
    for query in &index.queries {
        let key = turn.tests.usage(query, index).trial_key(1, 0);
        if recorder.has(&key) {
            continue;
        }
        match TrialError::split_fatal(find_usage(turn, query, session))? {
            Ok(finding) => {
                let cell = turn.tests.usage(query, index);
                let name = format!(
                    "plans/{}-{}-{}-{}-{}-{}.txt",
                    turn.tests.cells.target.file_name(),
                    super::settings::size_word(turn.tests.configured_table.requested.n),
                    turn.tests.configured_table.table.data,
                    index.name,
                    query.operation.word(),
                    encode_form(&query.form)
                );
                let text = format!("{}\n\n{}\n", query.statement.trim(), finding.evidence);
                recorder.folder.write_file(&name, text.as_bytes())?;
                let mut trial = new_trial(&cell, 1, 0);
                trial.verdict = Verdict::Exact;
                trial.metrics.insert(metric::INDEX_USE.name.to_owned(), f64::from(finding.usage as u8));
                recorder.record_trial(key, trial)?;
            }
            Err(failure) => {
                let cell = turn.tests.usage(query, index);
                if let Err(failure) = turn.record_failure(&failure, &cell, 1, session, recorder)? {
                    return Ok(Err(failure));
                }
            }
        }
    }
    Ok(Ok(()))
}

/// Records that no query can use an index that could not be built.
pub(super) fn record_impossible(
    turn: &DocumentsTurn<'_, '_, '_>,
    index: &Index,
    reason: &str,
    recorder: &mut TrialRecorder<'_>,
) -> Result<(), RunError> {
    for query in &index.queries {
        let cell = turn.tests.usage(query, index);
        let key = cell.trial_key(1, 0);
        if !recorder.has(&key) {
            let mut trial = new_trial(&cell, 1, 0);
            trial.verdict = Verdict::NotApplicable;
            trial.failure = Some(Failure::new(FailureKind::Refused, reason));
            trial.metrics.insert(metric::INDEX_USE.name.to_owned(), f64::from(IndexUsage::Impossible as u8));
            recorder.record_trial(key, trial)?;
        }
    }
    Ok(())
}

fn find_usage(
    turn: &DocumentsTurn<'_, '_, '_>,
    query: &IndexQuery,
    session: &mut Session<'_>,
) -> Result<PlanFinding, TrialError> {
    session.open()?;
    let statement = fill_table(session, &query.statement);
    // A query form that the system refuses cannot use an index.
    let plan = match session.plan(&statement, turn.limit()) {
        Ok(plan) => plan,
        Err(TrialError::Failed(failure)) if failure.kind == FailureKind::Refused => {
            return Ok(PlanFinding { usage: IndexUsage::Impossible, evidence: failure.error });
        }
        Err(error) => return Err(error),
    };
    // The answer must be correct, whatever the plan; some queries are refused only on execution.
    match turn.query_once(&statement, query.answer, session) {
        Ok(_) => {}
        Err(TrialError::Failed(failure)) if failure.kind == FailureKind::Refused => {
            return Ok(PlanFinding {
                usage: IndexUsage::Impossible,
                evidence: format!("{plan}\n{}", failure.error),
            });
        }
        // A query that exceeds its memory limit still has a plan.
        Err(TrialError::Failed(failure)) if is_over_limit(&failure, session) => {}
        Err(error) => return Err(error),
    }
    match query.classify_plan(&plan) {
        IndexUse::Used => Ok(PlanFinding { usage: IndexUsage::Used, evidence: plan }),
        IndexUse::FullIndexScan => Ok(PlanFinding { usage: IndexUsage::InVain, evidence: plan }),
        IndexUse::NotUsed if !query.can_be_forced() => {
            Ok(PlanFinding { usage: IndexUsage::Impossible, evidence: plan })
        }
        IndexUse::NotUsed => find_forced(turn, query, &plan, session),
    }
}

/// Classifies a query whose own `plan` does not use the index, by its plan when the index is forced.
fn find_forced(
    turn: &DocumentsTurn<'_, '_, '_>,
    query: &IndexQuery,
    plan: &str,
    session: &mut Session<'_>,
) -> Result<PlanFinding, TrialError> {
    let fill_all = |session: &Session<'_>, texts: &[String]| {
        texts.iter().map(|text| fill_table(session, text)).collect()
    };
    let force: Vec<String> = fill_all(session, &query.force);
    let unforce: Vec<String> = fill_all(session, &query.unforce);
    if !force.is_empty() {
        session.run(force, turn.limit())?;
    }
    let statement = fill_table(session, query.forced_statement.as_ref().unwrap_or(&query.statement));
    let result = session.plan(&statement, turn.limit());
    if !unforce.is_empty() && session.worker_pid().is_some() {
        session.run(unforce, turn.limit())?;
    }
    let forced_plan = match result {
        Ok(forced_plan) => forced_plan,
        Err(TrialError::Failed(failure)) if failure.kind == FailureKind::Refused => {
            return Ok(PlanFinding {
                usage: IndexUsage::Impossible,
                evidence: format!("{plan}\n{}", failure.error),
            });
        }
        Err(error) => return Err(error),
    };
    let usage = match query.classify_plan(&forced_plan) {
        IndexUse::Used => IndexUsage::Usable,
        IndexUse::FullIndexScan => IndexUsage::InVain,
        IndexUse::NotUsed => IndexUsage::Impossible,
    };
    Ok(PlanFinding { usage, evidence: format!("{plan}\nwhen forced to use it:\n{forced_plan}") })
}

/// Encodes a query form as part of a file name.
fn encode_form(form: &str) -> String {
    let encode = |letter: char| {
        if letter.is_ascii_alphanumeric() { letter.to_string() } else { format!("_{:x}", letter as u32) }
    };
    form.chars().map(encode).collect()
}
