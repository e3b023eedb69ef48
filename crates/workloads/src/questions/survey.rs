//! Asks every system every question once, untimed, over the documents that it holds. If the systems hold
//! different documents, those that vote answer again over the documents that all voters hold.

use std::time::Duration;

use jsonathlon_dataset::agreement::{AcceptedDocuments, Electorate};
use jsonathlon_schema::value::Row;
use jsonathlon_worker::protocol::{AskReply, Op};

use super::answers::{SurveyAnswer, matches_reference};
use super::settle::{CommonAnswers, establish_answer};
use super::{Questions, recall};
use crate::RunError;
use crate::asking::{AnswerKey, Question, QuestionTarget, make_read_only};
use crate::loading::skipped_after_load_failure;
use crate::observer::{Activity, RunEvent};
use crate::recorder::TrialRecorder;
use crate::run_context::{LoadedDocuments, RunContext, TABLE};
use crate::session::{Session, TrialError};
use crate::target::Target;

/// Table on a remote server with the documents that all voters hold; the run's own table stays beside it.
const COMMON_TABLE: &str = "documents_common";

/// Asks all questions that have no recorded result, and determines the expected answers.
pub(super) fn survey<'a>(
    questions: &Questions,
    context: &RunContext<'a>,
    targets: &mut [QuestionTarget<'a, Questions>],
    recorder: &mut TrialRecorder<'_>,
) -> Result<(), RunError> {
    recall::restore(questions, recorder)?;
    let known_answers = questions.expected_answers.borrow().clone();
    let open_questions: Vec<String> = questions
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
    for question_target in targets.iter_mut() {
        answers_by_target.push(ask_all(questions, &open_questions, context, question_target, recorder)?);
    }
    let common = ask_common(questions, &open_questions, context, targets, recorder)?;
    for (index, name) in open_questions.iter().enumerate() {
        let answers: Vec<&SurveyAnswer> =
            answers_by_target.iter().filter_map(|answers| answers.get(index)).collect();
        let common = common.as_ref().map(|common| common.question_votes(index));
        establish_answer(questions, name, context, targets, &answers, common.as_ref(), recorder)?;
    }
    Ok(())
}

/// Asks one target the open questions; the answers are in their order.
fn ask_all<'a>(
    questions: &Questions,
    open_questions: &[String],
    context: &RunContext<'a>,
    question_target: &mut QuestionTarget<'a, Questions>,
    recorder: &mut TrialRecorder<'_>,
) -> Result<Vec<SurveyAnswer>, RunError> {
    if !is_asked(question_target, open_questions) {
        return Ok(open_questions.iter().map(|_| SurveyAnswer::NotAsked).collect());
    }
    if !question_target.state.is_loaded {
        context.load(1, &mut question_target.state, recorder)?;
        if let Ok(loaded) = &question_target.state.load_result {
            question_target.expected = questions.determine_expected(context, loaded)?;
        }
    }
    announce(question_target.state.cells.target, "for its answers", &question_target.state.session, recorder);
    let target = question_target.state.cells.target;
    if target.setup.statements("read_only").is_empty() {
        let system = target.file_name();
        recorder.warn(&format!(
            "{system} has no sessions that refuse changes: its statements are run as they are"
        ));
    }
    let answers = match &question_target.state.load_result {
        Ok(_) => {
            let session = &mut question_target.state.session;
            ask_each(&question_target.questions, open_questions, TABLE, context, session)?
        }
        Err(failure) => {
            let failed_answer = |name| match find_question(&question_target.questions, name) {
                Some(_) => SurveyAnswer::Failed(skipped_after_load_failure(failure)),
                None => SurveyAnswer::NotAsked,
            };
            open_questions.iter().map(failed_answer).collect()
        }
    };
    close(&mut question_target.state.session, recorder)?;
    Ok(answers)
}

fn announce(target: &Target, purpose: &str, session: &Session<'_>, recorder: &mut TrialRecorder<'_>) {
    let activity = format!("asking {} {purpose}", target.file_name());
    recorder.observer.event(&RunEvent::Began { activity: Activity::Turn, description: &activity });
    session.subject().set_activity(&activity);
}

fn is_asked(question_target: &QuestionTarget<'_, Questions>, open_questions: &[String]) -> bool {
    open_questions.iter().any(|name| find_question(&question_target.questions, name).is_some())
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
        let limit = Duration::from_secs_f64(context.settings.timeout_s);
        answers.push(match TrialError::split_fatal(ask(session, question, table, limit))? {
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
    limit: Duration,
) -> Result<(Vec<Row>, String), TrialError> {
    let statement = session.statement(&question.file, &[("table", table)])?;
    session.open()?;
    make_read_only(session, limit)?;
    let op = Op::Ask { statement: statement.clone() };
    let reply: AskReply = session.request(&op, limit, &mut |_| {})?;
    Ok((reply.outcome.rows, statement))
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
    open_questions: &[String],
    context: &RunContext<'a>,
    targets: &mut [QuestionTarget<'a, Questions>],
    recorder: &mut TrialRecorder<'_>,
) -> Result<Option<CommonAnswers>, RunError> {
    let no_documents = AcceptedDocuments::default();
    let can_vote = |target: &QuestionTarget<'a, Questions>| {
        target.state.load_result.is_ok() && is_asked(target, open_questions)
    };
    let holdings: Vec<&AcceptedDocuments> = targets
        .iter()
        .map(|target| if can_vote(target) { &target.document_set().accepted } else { &no_documents })
        .collect();
    let reference = questions.settings.reference.as_ref().and_then(|reference_name| {
        targets.iter().position(|target| {
            can_vote(target) && matches_reference(target.state.cells.target, reference_name)
        })
    });
    let Some(electorate) = Electorate::among(&holdings, reference) else { return Ok(None) };
    let documents = accepted_by_all(targets, &electorate);
    // A user-given answer is compared without a vote, so such questions need no common documents.
    let needs_vote = open_questions.iter().any(|name| !questions.settings.expected.contains_key(name));
    let mut answers = Vec::new();
    for (index, question_target) in targets.iter_mut().enumerate() {
        let votes = electorate.votes.get(index).copied().unwrap_or_default();
        let holds_more = question_target.document_set().accepted != electorate.common;
        answers.push(match votes && needs_vote && holds_more {
            true => {
                ask_over(&documents, &electorate.common, open_questions, context, question_target, recorder)?
            }
            false => None,
        });
    }
    Ok(Some(CommonAnswers { electorate, answers }))
}

/// Documents that each of the voters has accepted.
fn accepted_by_all(targets: &[QuestionTarget<'_, Questions>], electorate: &Electorate) -> LoadedDocuments {
    let voters = targets.iter().zip(&electorate.votes).filter(|(_, votes)| **votes);
    let mut loaded = voters.filter_map(|(target, _)| target.state.load_result.as_ref().ok());
    let Some(mut common) = loaded.next().cloned() else { return LoadedDocuments::default() };
    for documents in loaded {
        common.rejected_lines.extend(&documents.rejected_lines);
        common.accepted_suspects.retain(|index| documents.accepted_suspects.contains(index));
    }
    common
}

/// Loads these documents once more, untimed and in a separate place, and asks over them. `None` if that
/// fails; the target then cannot be compared.
fn ask_over<'a>(
    documents: &LoadedDocuments,
    common: &AcceptedDocuments,
    open_questions: &[String],
    context: &RunContext<'a>,
    question_target: &mut QuestionTarget<'a, Questions>,
    recorder: &mut TrialRecorder<'_>,
) -> Result<Option<Vec<SurveyAnswer>>, RunError> {
    let target = question_target.state.cells.target;
    let purpose = format!("over the {} documents that all hold", common.count());
    announce(target, &purpose, &question_target.state.session, recorder);
    let result = if question_target.state.session.is_remote() {
        let session = &mut question_target.state.session;
        let questions = &question_target.questions;
        let answers =
            load_and_ask(documents, COMMON_TABLE, questions, open_questions, context, session, recorder);
        let drop_result = drop_common(session, context);
        answers.and_then(|answers| drop_result.map(|()| answers))
    } else {
        let name = format!("{}-common", target.file_name());
        let mut session = context.session_in(target, context.work_folder.join(&name), &name);
        let questions = &question_target.questions;
        let answers =
            load_and_ask(documents, TABLE, questions, open_questions, context, &mut session, recorder);
        session.abandon(false);
        answers
    };
    match TrialError::split_fatal(result)? {
        Ok(answers) => Ok(Some(answers)),
        Err(failure) => {
            let system = target.file_name();
            recorder.warn(&format!("{system} cannot be asked {purpose}: {}", failure.error));
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
    context.load_only(documents, table, session, recorder)?;
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
