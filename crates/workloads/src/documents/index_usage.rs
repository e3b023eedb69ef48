//! Classifies how query plans use an index: used, usable, in vain, impossible.

use jsonathlon_catalogue::{Index, IndexQuery, IndexUse};
use jsonathlon_schema::record::{Failure, FailureKind, Verdict};

use super::turn::{DocumentsTurn, StepResult, filled, is_too_much};
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
    words: String,
}

/// Reads the plans of all queries of an index, and records how they use it.
pub(super) fn read(
    turn: &DocumentsTurn<'_, '_, '_>,
    index: &Index,
    session: &mut Session<'_>,
    recorder: &mut TrialRecorder<'_>,
) -> StepResult<()> {
    for ask in &index.asks {
        let key = turn.tests.usage(ask, index).trial_key(1, 0);
        if recorder.has(&key) {
            continue;
        }
        match TrialError::split_fatal(find(turn, ask, session))? {
            Ok(found) => {
                let cell = turn.tests.usage(ask, index);
                let name = format!(
                    "plans/{}-{}-{}-{}-{}-{}.txt",
                    turn.tests.cells.target.file_name(),
                    super::settings::size_word(turn.tests.at.asked.n),
                    turn.tests.at.table.data,
                    index.name,
                    ask.operation.word(),
                    words_only(&ask.form)
                );
                let text = format!("{}\n\n{}\n", ask.statement.trim(), found.words);
                recorder.folder.write_file(&name, text.as_bytes())?;
                let mut trial = new_trial(&cell, 1, 0);
                trial.verdict = Verdict::Exact;
                trial.metrics.insert("index_use".into(), f64::from(found.usage as u8));
                recorder.trial(key, trial)?;
            }
            Err(failure) => {
                let cell = turn.tests.usage(ask, index);
                if let Err(failure) = turn.failed(&failure, &cell, 1, session, recorder)? {
                    return Ok(Err(failure));
                }
            }
        }
    }
    Ok(Ok(()))
}

/// Records that no query can use an index that could not be built.
pub(super) fn impossible(
    turn: &DocumentsTurn<'_, '_, '_>,
    index: &Index,
    why: &str,
    recorder: &mut TrialRecorder<'_>,
) -> Result<(), RunError> {
    for ask in &index.asks {
        let cell = turn.tests.usage(ask, index);
        let key = cell.trial_key(1, 0);
        if !recorder.has(&key) {
            let mut trial = new_trial(&cell, 1, 0);
            trial.verdict = Verdict::NotApplicable;
            trial.failure = Some(Failure::new(FailureKind::Refused, why));
            trial.metrics.insert("index_use".into(), f64::from(IndexUsage::Impossible as u8));
            recorder.trial(key, trial)?;
        }
    }
    Ok(())
}

fn find(
    turn: &DocumentsTurn<'_, '_, '_>,
    ask: &IndexQuery,
    session: &mut Session<'_>,
) -> Result<PlanFinding, TrialError> {
    session.open()?;
    let statement = filled(session, &ask.statement);
    // A query form that the system refuses cannot use an index.
    let plan = match session.plan(&statement, turn.limit()) {
        Ok(plan) => plan,
        Err(TrialError::Failed(failure)) if failure.kind == FailureKind::Refused => {
            return Ok(PlanFinding { usage: IndexUsage::Impossible, words: failure.error });
        }
        Err(other) => return Err(other),
    };
    // The answer must be correct, whatever the plan; some queries are refused only on execution.
    match turn.query_once(&statement, ask.answer, session) {
        Ok(_) => {}
        Err(TrialError::Failed(failure)) if failure.kind == FailureKind::Refused => {
            return Ok(PlanFinding {
                usage: IndexUsage::Impossible,
                words: format!("{plan}\n{}", failure.error),
            });
        }
        // A query that exceeds its memory limit still has a plan.
        Err(TrialError::Failed(failure)) if is_too_much(&failure, session) => {}
        Err(other) => return Err(other),
    }
    match ask.judge(&plan) {
        IndexUse::Used => return Ok(PlanFinding { usage: IndexUsage::Used, words: plan }),
        IndexUse::FullIndexScan => return Ok(PlanFinding { usage: IndexUsage::InVain, words: plan }),
        IndexUse::NotUsed if !ask.can_be_forced() => {
            return Ok(PlanFinding { usage: IndexUsage::Impossible, words: plan });
        }
        IndexUse::NotUsed => {}
    }
    let all =
        |session: &Session<'_>, texts: &[String]| texts.iter().map(|text| filled(session, text)).collect();
    let (force, unforce): (Vec<String>, Vec<String>) = (all(session, &ask.force), all(session, &ask.unforce));
    if !force.is_empty() {
        session.run(force, turn.limit())?;
    }
    let statement = filled(session, ask.forced.as_ref().unwrap_or(&ask.statement));
    let forced = session.plan(&statement, turn.limit());
    if !unforce.is_empty() && session.pid().is_some() {
        session.run(unforce, turn.limit())?;
    }
    let told = match forced {
        Ok(told) => told,
        Err(TrialError::Failed(failure)) if failure.kind == FailureKind::Refused => {
            return Ok(PlanFinding {
                usage: IndexUsage::Impossible,
                words: format!("{plan}\n{}", failure.error),
            });
        }
        Err(other) => return Err(other),
    };
    let usage = match ask.judge(&told) {
        IndexUse::Used => IndexUsage::Usable,
        IndexUse::FullIndexScan => IndexUsage::InVain,
        IndexUse::NotUsed => IndexUsage::Impossible,
    };
    Ok(PlanFinding { usage, words: format!("{plan}\nwhen told to use it:\n{told}") })
}

/// Encodes a query form as part of a file name.
fn words_only(form: &str) -> String {
    let word = |letter: char| {
        if letter.is_ascii_alphanumeric() { letter.to_string() } else { format!("_{:x}", letter as u32) }
    };
    form.chars().map(word).collect()
}
