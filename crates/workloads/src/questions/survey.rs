//! Asks every system every question once, untimed, over the documents that it holds. If the systems hold
//! different documents, those that vote answer again over the documents that all voters hold.

use std::time::Duration;

use jsonathlon_dataset::agreement::{Electorate, Holding};
use jsonathlon_schema::value::Row;
use jsonathlon_worker::protocol::{AskReply, Op};

use super::settle::{Common, establish_answer};
use super::told::{SurveyAnswer, is_named};
use super::{Questions, recall};
use crate::RunError;
use crate::asking::{AnswerKey, Question, QuestionTarget, read_only};
use crate::loading::skipped_after_load_failure;
use crate::observer::{Activity, RunEvent};
use crate::recorder::TrialRecorder;
use crate::run_context::{LoadedDocuments, RunContext, TABLE};
use crate::session::{Session, TrialError};
use crate::target::Target;

/// Table on a remote server with the documents that all voters hold; the run's own table stays beside it.
const COMMON: &str = "documents_common";

/// Asks all questions that have no recorded result, and determines the expected answers.
pub(super) fn survey<'a>(
    questions: &Questions,
    bench: &RunContext<'a>,
    all: &mut [QuestionTarget<'a, Questions>],
    recorder: &mut TrialRecorder<'_>,
) -> Result<(), RunError> {
    recall::remember(questions, recorder)?;
    let known = questions.fixed.borrow().clone();
    let open: Vec<String> = (questions.settings.questions.iter().map(|one| one.name.clone()))
        .filter(|name| !known.contains_key(name))
        .collect();
    if open.is_empty() {
        return Ok(());
    }
    let mut told: Vec<Vec<SurveyAnswer>> = Vec::new();
    for one in all.iter_mut() {
        told.push(ask_all(questions, &open, bench, one, recorder)?);
    }
    let common = ask_common(questions, &open, bench, all, recorder)?;
    for (place, name) in open.iter().enumerate() {
        let answers: Vec<&SurveyAnswer> = told.iter().filter_map(|of_one| of_one.get(place)).collect();
        let common = common.as_ref().map(|common| common.of_question(place));
        establish_answer(questions, name, bench, all, &answers, common.as_ref(), recorder)?;
    }
    Ok(())
}

/// Asks one target the open questions; the answers are in their order.
fn ask_all<'a>(
    questions: &Questions,
    open: &[String],
    bench: &RunContext<'a>,
    one: &mut QuestionTarget<'a, Questions>,
    recorder: &mut TrialRecorder<'_>,
) -> Result<Vec<SurveyAnswer>, RunError> {
    if !is_asked(one, open) {
        return Ok(open.iter().map(|_| SurveyAnswer::NotAsked).collect());
    }
    if !one.of.is_loaded {
        bench.load(1, &mut one.of, recorder)?;
        if let Ok(accepted) = &one.of.load_result {
            one.held = questions.expected_answers(bench, accepted)?;
        }
    }
    begin(one.of.cells.target, "for its answers", &one.of.session, recorder);
    let target = one.of.cells.target;
    if target.part.statements("read_only").is_empty() {
        let system = target.file_name();
        recorder.warn(&format!(
            "{system} has no sessions that refuse changes: its statements are run as they are"
        ));
    }
    let told = match &one.of.load_result {
        Ok(_) => ask_each(&one.questions, open, TABLE, bench, &mut one.of.session)?,
        Err(failure) => {
            let failed = |name| match find(&one.questions, name) {
                Some(_) => SurveyAnswer::Failed(skipped_after_load_failure(failure)),
                None => SurveyAnswer::NotAsked,
            };
            open.iter().map(failed).collect()
        }
    };
    close(&mut one.of.session, recorder)?;
    Ok(told)
}

fn begin(target: &Target, why: &str, session: &Session<'_>, recorder: &mut TrialRecorder<'_>) {
    let what = format!("asking {} {why}", target.file_name());
    recorder.observer.event(&RunEvent::Began { work: Activity::Turn, what: &what });
    session.subject().set_activity(&what);
}

fn is_asked(one: &QuestionTarget<'_, Questions>, open: &[String]) -> bool {
    open.iter().any(|name| find(&one.questions, name).is_some())
}

fn find<'q>(questions: &'q [Question], name: &String) -> Option<&'q Question> {
    questions.iter().find(|question| question.name == *name)
}

/// Asks the open questions over the documents of `table` in an open session; the answers are in their order.
fn ask_each(
    questions: &[Question],
    open: &[String],
    table: &str,
    bench: &RunContext<'_>,
    session: &mut Session<'_>,
) -> Result<Vec<SurveyAnswer>, RunError> {
    let mut told = Vec::new();
    for name in open {
        let Some(question) = find(questions, name) else {
            told.push(SurveyAnswer::NotAsked);
            continue;
        };
        let limit = Duration::from_secs_f64(bench.settings.timeout_s);
        told.push(match TrialError::split_fatal(ask(session, question, table, limit))? {
            Ok((rows, statement)) => SurveyAnswer::Rows { rows, statement },
            Err(failure) => {
                // The engine may be in any state now, so the next question starts a new one.
                session.kill();
                SurveyAnswer::Failed(failure)
            }
        });
    }
    Ok(told)
}

fn ask(
    session: &mut Session<'_>,
    question: &Question,
    table: &str,
    limit: Duration,
) -> Result<(Vec<Row>, String), TrialError> {
    let statement = session.statement(&question.file, &[("table", table)])?;
    session.open()?;
    read_only(session, limit)?;
    let ask = Op::Ask { statement: statement.clone() };
    let answered: AskReply = session.request(&ask, limit, &mut |_| {})?;
    Ok((answered.outcome.rows, statement))
}

fn close(session: &mut Session<'_>, recorder: &mut TrialRecorder<'_>) -> Result<(), RunError> {
    if let Err(failure) = TrialError::split_fatal(session.close())? {
        let system = session.target.file_name();
        recorder.warn(&format!("{system}: failed to close: {}", failure.error));
    }
    Ok(())
}

/// Determines the voters, and asks each voter that holds more than the common documents again over these
/// alone. `None` if there are no voters.
fn ask_common<'a>(
    questions: &Questions,
    open: &[String],
    bench: &RunContext<'a>,
    all: &mut [QuestionTarget<'a, Questions>],
    recorder: &mut TrialRecorder<'_>,
) -> Result<Option<Common>, RunError> {
    let nothing = Holding::default();
    let is_open = |one: &QuestionTarget<'a, Questions>| one.of.load_result.is_ok() && is_asked(one, open);
    let holdings: Vec<&Holding> =
        all.iter().map(|one| if is_open(one) { &one.held.holding } else { &nothing }).collect();
    let reference = questions.settings.reference.as_ref();
    let reference = reference
        .and_then(|named| all.iter().position(|one| is_open(one) && is_named(one.of.cells.target, named)));
    let Some(electorate) = Electorate::among(&holdings, reference) else { return Ok(None) };
    let documents = accepted_by_all(all, &electorate);
    // A user-given answer is compared without a vote, so such questions need no common documents.
    let has_open = open.iter().any(|name| !questions.settings.expected.contains_key(name));
    let mut told = Vec::new();
    for (place, one) in all.iter_mut().enumerate() {
        let votes = electorate.votes.get(place).copied().unwrap_or_default();
        told.push(match votes && has_open && one.held.holding != electorate.common {
            true => ask_over(&documents, &electorate.common, open, bench, one, recorder)?,
            false => None,
        });
    }
    Ok(Some(Common { electorate, told }))
}

/// Documents that each of the voters has accepted.
fn accepted_by_all(all: &[QuestionTarget<'_, Questions>], electorate: &Electorate) -> LoadedDocuments {
    let voters = all.iter().zip(&electorate.votes).filter(|(_, votes)| **votes);
    let mut each = voters.filter_map(|(one, _)| one.of.load_result.as_ref().ok());
    let Some(mut accepted) = each.next().cloned() else { return LoadedDocuments::default() };
    for other in each {
        accepted.refused_lines.extend(&other.refused_lines);
        accepted.suspects.retain(|place| other.suspects.contains(place));
    }
    accepted
}

/// Loads these documents once more, untimed and in a separate place, and asks over them. `None` if that
/// fails; the target then cannot be compared.
fn ask_over<'a>(
    documents: &LoadedDocuments,
    common: &Holding,
    open: &[String],
    bench: &RunContext<'a>,
    one: &mut QuestionTarget<'a, Questions>,
    recorder: &mut TrialRecorder<'_>,
) -> Result<Option<Vec<SurveyAnswer>>, RunError> {
    let target = one.of.cells.target;
    let why = format!("over the {} documents that all hold", common.documents());
    begin(target, &why, &one.of.session, recorder);
    let result = if one.of.session.is_remote() {
        let session = &mut one.of.session;
        let asked = load_and_ask(documents, COMMON, &one.questions, open, bench, session, recorder);
        let dropped = drop_common(session, bench);
        asked.and_then(|told| dropped.map(|()| told))
    } else {
        let name = format!("{}-common", target.file_name());
        let mut session = bench.session_in(target, bench.work.join(&name), &name);
        let asked = load_and_ask(documents, TABLE, &one.questions, open, bench, &mut session, recorder);
        session.abandon(false);
        asked
    };
    match TrialError::split_fatal(result)? {
        Ok(told) => Ok(Some(told)),
        Err(failure) => {
            let system = target.file_name();
            recorder.warn(&format!("{system} cannot be asked {why}: {}", failure.error));
            Ok(None)
        }
    }
}

fn load_and_ask(
    documents: &LoadedDocuments,
    table: &str,
    questions: &[Question],
    open: &[String],
    bench: &RunContext<'_>,
    session: &mut Session<'_>,
    recorder: &mut TrialRecorder<'_>,
) -> Result<Vec<SurveyAnswer>, TrialError> {
    bench.load_only(documents, table, session, recorder)?;
    let told = ask_each(questions, open, table, bench, session)?;
    session.close()?;
    Ok(told)
}

/// Drops the table of common documents from the run's database on a remote server.
fn drop_common(session: &mut Session<'_>, bench: &RunContext<'_>) -> Result<(), TrialError> {
    // The open session may be read-only, so a new one is needed.
    session.kill();
    session.open()?;
    let drop = session.statements("drop", &[("table", COMMON)])?;
    session.run(drop, Duration::from_secs_f64(bench.settings.load_timeout_s))?;
    session.close()
}
