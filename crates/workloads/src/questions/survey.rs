//! To agree on expected answers, systems vote. Every system is asked every question once, untimed, over the
//! documents that it holds. If the voters hold different documents, they vote with their answers over the
//! documents that all of them hold: those that hold more are asked again over these alone.

use std::time::Duration;

use jsonathlon_dataset::agreement::{AcceptedDocuments, Electorate};
use jsonathlon_schema::value::Row;
use jsonathlon_worker::protocol::{AskReply, Op};

use super::answers::{SurveyAnswer, matches_reference};
use super::settle::{CommonAnswers, establish_answer};
use super::{DocumentSet, Questions, SurveyTarget, recall};
use crate::RunError;
use crate::asking::{Question, make_read_only};
use crate::expected_time::RunPart;
use crate::loading::skipped_after_load_failure;
use crate::observer::{Activity, RunEvent};
use crate::recorder::TrialRecorder;
use crate::run_context::{FIRST_ROUND, LoadedDocuments, RunContext, TABLE};
use crate::session::{Session, TrialError};
use crate::target::Target;

/// Table on a remote server with the documents that all voters hold. The run's own table remains unchanged
/// next to it.
const COMMON_TABLE: &str = "documents_common";

/// Asks all questions that have no recorded result, and determines the expected answers.
pub(crate) fn survey<'a>(
    workload: &Questions,
    context: &RunContext<'a>,
    targets: &mut [SurveyTarget<'_, 'a>],
    recorder: &mut TrialRecorder<'_>,
) -> Result<(), RunError> {
    recall::restore(workload, recorder)?;
    let known_answers = workload.expected_answers.borrow().clone();
    let open_questions: Vec<String> = workload
        .settings
        .questions
        .iter()
        .map(|question| question.name.clone())
        .filter(|name| !known_answers.contains_key(name))
        .collect();
    if open_questions.is_empty() {
        return Ok(());
    }
    let mut answers_by_target: Vec<Vec<SurveyAnswer>> = Vec::new();
    for (index, question_target) in targets.iter_mut().enumerate() {
        answers_by_target.push(ask_all(&open_questions, context, question_target, recorder)?);
        recorder.end_turn(RunPart::Survey, FIRST_ROUND, index, question_target.state.cells.target);
    }
    let common = ask_common(workload, &open_questions, context, targets, recorder)?;
    for (index, name) in open_questions.iter().enumerate() {
        let answers: Vec<&SurveyAnswer> =
            answers_by_target.iter().filter_map(|answers| answers.get(index)).collect();
        let common = common.as_ref().map(|common| common.question_votes(index));
        establish_answer(workload, name, context, targets, &answers, common.as_ref(), recorder)?;
    }
    Ok(())
}

/// Asks one target the open questions; the answers are in their order.
fn ask_all<'a>(
    open_questions: &[String],
    context: &RunContext<'a>,
    question_target: &mut SurveyTarget<'_, 'a>,
    recorder: &mut TrialRecorder<'_>,
) -> Result<Vec<SurveyAnswer>, RunError> {
    if !has_open_question(question_target, open_questions) {
        return Ok(open_questions.iter().map(|_| SurveyAnswer::NotAsked).collect());
    }
    if !question_target.state.is_loaded {
        context.load(FIRST_ROUND, question_target.state, recorder)?;
        if let Ok(loaded) = &question_target.state.load_result {
            // The documents that the target holds identify the expected answers that apply to it.
            *question_target.documents = DocumentSet::new(context.staged, loaded);
        }
    }
    announce(
        question_target.state.cells.target,
        "its questions, untimed",
        &question_target.state.session,
        recorder,
    );
    let target = question_target.state.cells.target;
    if target.setup.statements("read_only").is_empty() {
        let name = target.file_name();
        recorder.warn(&format!(
            "{name} has no read-only sessions, so its statements run without protection against changes"
        ));
    }
    let answers = match &question_target.state.load_result {
        Ok(_) => {
            let session = &mut question_target.state.session;
            ask_each(question_target.questions, open_questions, TABLE, context, session)?
        }
        Err(failure) => {
            let answer_without_documents = |name| match find_question(question_target.questions, name) {
                Some(_) => SurveyAnswer::Failed(skipped_after_load_failure(failure)),
                None => SurveyAnswer::NotAsked,
            };
            open_questions.iter().map(answer_without_documents).collect()
        }
    };
    close(&mut question_target.state.session, recorder)?;
    Ok(answers)
}

/// Reports to the observer and to the telemetry that the target is now asked; `purpose` completes "asking X".
fn announce(target: &Target, purpose: &str, session: &Session<'_>, recorder: &mut TrialRecorder<'_>) {
    let activity = format!("asking {} {purpose}", target.file_name());
    recorder.observer.event(&RunEvent::Began { activity: Activity::TargetTurn, description: &activity });
    session.subject().set_activity(&activity);
}

fn has_open_question(question_target: &SurveyTarget<'_, '_>, open_questions: &[String]) -> bool {
    open_questions.iter().any(|name| find_question(question_target.questions, name).is_some())
}

fn find_question<'q>(questions: &'q [Question], name: &String) -> Option<&'q Question> {
    questions.iter().find(|question| question.name == *name)
}

/// Asks the open questions over the documents of `table` in an open session; the answers are in their order.
fn ask_each(
    questions: &[Question],
    open_questions: &[String],
    table: &str,
    context: &RunContext<'_>,
    session: &mut Session<'_>,
) -> Result<Vec<SurveyAnswer>, RunError> {
    let mut answers = Vec::new();
    for name in open_questions {
        let Some(question) = find_question(questions, name) else {
            answers.push(SurveyAnswer::NotAsked);
            continue;
        };
        let timeout = Duration::from_secs_f64(context.settings.timeout_s);
        answers.push(match TrialError::split_fatal(ask(session, question, table, timeout))? {
            Ok((rows, statement)) => SurveyAnswer::Rows { rows, statement },
            Err(failure) => {
                // The engine may be in any state now, so the next question starts a new one.
                session.kill();
                SurveyAnswer::Failed(failure)
            }
        });
    }
    Ok(answers)
}

fn ask(
    session: &mut Session<'_>,
    question: &Question,
    table: &str,
    timeout: Duration,
) -> Result<(Vec<Row>, String), TrialError> {
    let statement = session.statement(&question.file, &[("table", table)])?;
    session.open()?;
    make_read_only(session, timeout)?;
    let op = Op::Ask { statement: statement.clone() };
    let reply: AskReply = session.request(&op, timeout, &mut |_| {})?;
    Ok((reply.outcome.rows, statement))
}

fn close(session: &mut Session<'_>, recorder: &mut TrialRecorder<'_>) -> Result<(), RunError> {
    if let Err(failure) = TrialError::split_fatal(session.close())? {
        let name = session.target.file_name();
        recorder.warn(&format!("{name}: failed to close the session: {}", failure.error));
    }
    Ok(())
}

/// Determines the voters, and asks every voter that holds further documents a second time, over the common
/// ones alone. `None` if there are no voters.
fn ask_common<'a>(
    workload: &Questions,
    open_questions: &[String],
    context: &RunContext<'a>,
    targets: &mut [SurveyTarget<'_, 'a>],
    recorder: &mut TrialRecorder<'_>,
) -> Result<Option<CommonAnswers>, RunError> {
    let no_documents = AcceptedDocuments::default();
    let can_vote = |question_target: &SurveyTarget<'_, 'a>| {
        question_target.state.load_result.is_ok() && has_open_question(question_target, open_questions)
    };
    let holdings: Vec<&AcceptedDocuments> = targets
        .iter()
        .map(|question_target| match can_vote(question_target) {
            true => &question_target.documents.accepted,
            false => &no_documents,
        })
        .collect();
    let reference_index = workload.settings.reference.as_ref().and_then(|reference_name| {
        targets.iter().position(|question_target| {
            can_vote(question_target) && matches_reference(question_target.state.cells.target, reference_name)
        })
    });
    let Some(electorate) = Electorate::among(&holdings, reference_index) else { return Ok(None) };
    let documents = accepted_by_all(targets, &electorate);
    // The expected answer to a question is voted on unless the user has given it.
    let needs_vote = open_questions.iter().any(|name| !workload.settings.expected.contains_key(name));
    let mut answers = Vec::new();
    for (index, question_target) in targets.iter_mut().enumerate() {
        let is_voter = electorate.votes.get(index).copied().unwrap_or_default();
        let holds_more = question_target.documents.accepted != electorate.common;
        answers.push(match is_voter && needs_vote && holds_more {
            true => ask_on_common_documents(
                &documents,
                &electorate.common,
                open_questions,
                context,
                question_target,
                recorder,
            )?,
            false => None,
        });
    }
    Ok(Some(CommonAnswers { electorate, answers }))
}

/// Documents that each of the voters has accepted.
fn accepted_by_all(targets: &[SurveyTarget<'_, '_>], electorate: &Electorate) -> LoadedDocuments {
    let voters = targets.iter().zip(&electorate.votes).filter(|(_, is_voter)| **is_voter);
    let mut loaded =
        voters.filter_map(|(question_target, _)| question_target.state.load_result.as_ref().ok());
    let Some(mut common) = loaded.next().cloned() else { return LoadedDocuments::default() };
    for documents in loaded {
        common.rejected_lines.extend(&documents.rejected_lines);
        common.accepted_suspects.retain(|index| documents.accepted_suspects.contains(index));
    }
    common
}

/// Loads the common documents once more, untimed and in a separate place, and asks the open questions over
/// them. `None` if that fails; the target then cannot be compared.
fn ask_on_common_documents<'a>(
    documents: &LoadedDocuments,
    common: &AcceptedDocuments,
    open_questions: &[String],
    context: &RunContext<'a>,
    question_target: &mut SurveyTarget<'_, 'a>,
    recorder: &mut TrialRecorder<'_>,
) -> Result<Option<Vec<SurveyAnswer>>, RunError> {
    let target = question_target.state.cells.target;
    let purpose = format!("again, on the {} documents that all voters hold", common.count());
    announce(target, &purpose, &question_target.state.session, recorder);
    let result = if question_target.state.session.is_remote() {
        let session = &mut question_target.state.session;
        let questions = question_target.questions;
        let answers =
            load_and_ask(documents, COMMON_TABLE, questions, open_questions, context, session, recorder);
        let drop_result = drop_common(session, context);
        answers.and_then(|answers| drop_result.map(|()| answers))
    } else {
        let name = format!("{}-common", target.file_name());
        let mut session = context.session_in(target, context.work_folder.join(&name), &name);
        session.take_placeholders_of(&question_target.state.session);
        let questions = question_target.questions;
        let answers =
            load_and_ask(documents, TABLE, questions, open_questions, context, &mut session, recorder);
        session.abandon(false);
        answers
    };
    match TrialError::split_fatal(result)? {
        Ok(answers) => Ok(Some(answers)),
        Err(failure) => {
            let name = target.file_name();
            recorder.warn(&format!("{name} cannot be asked {purpose}: {}", failure.error));
            Ok(None)
        }
    }
}

fn load_and_ask(
    documents: &LoadedDocuments,
    table: &str,
    questions: &[Question],
    open_questions: &[String],
    context: &RunContext<'_>,
    session: &mut Session<'_>,
    recorder: &mut TrialRecorder<'_>,
) -> Result<Vec<SurveyAnswer>, TrialError> {
    context.load_common_documents(documents, table, session, recorder)?;
    let answers = ask_each(questions, open_questions, table, context, session)?;
    session.close()?;
    Ok(answers)
}

/// Drops the table of common documents from the run's database on a remote server.
fn drop_common(session: &mut Session<'_>, context: &RunContext<'_>) -> Result<(), TrialError> {
    // The open session may be read-only, so a new one is needed.
    session.kill();
    session.open()?;
    let statements = session.statements("drop", &[("table", COMMON_TABLE)])?;
    session.run(statements, Duration::from_secs_f64(context.settings.load_timeout_s))?;
    session.close()
}
