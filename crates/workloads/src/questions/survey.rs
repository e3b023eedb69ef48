//! Every system is asked every question once, untimed, and their answers are held against each other.

use std::time::Duration;

use jsonathlon_dataset::agreement::{Answer, Decision, Difference, decide};
use jsonathlon_dataset::value::{Row, Value};
use jsonathlon_results::record::{Agreement, Basis, Body, DifferentRows, Failure, Given, Standing};
use jsonathlon_systems::catalogue::name_of;
use jsonathlon_worker::protocol::{Answered, Op};
use serde::Deserialize;

use super::{Fixed, Questions, settings};
use crate::RunError;
use crate::asking::{Asked, Question, Truth, read_only};
use crate::bench::{Bench, TABLE};
use crate::loading::not_asked;
use crate::observer::{Event, Work};
use crate::recorder::Recorder;
use crate::session::{Ended, Session};
use crate::target::Target;

/// What a target made of a question.
enum Told {
    Rows(Vec<Row>),
    Failed(Failure),
    NotAsked,
}

/// Asks whatever is not recorded yet, and fixes the answers that all later ones are held against.
pub(super) fn survey<'a>(
    questions: &Questions,
    bench: &Bench<'a>,
    all: &mut [Asked<'a, Questions>],
    recorder: &mut Recorder<'_>,
) -> Result<(), RunError> {
    remember(questions, recorder)?;
    let known = questions.fixed.borrow().clone();
    let open: Vec<String> = (questions.settings.questions.iter().map(|one| one.name.clone()))
        .filter(|name| !known.contains_key(name))
        .collect();
    if open.is_empty() {
        return Ok(());
    }
    let mut told: Vec<Vec<Told>> = Vec::new();
    for one in all.iter_mut() {
        told.push(ask_all(questions, &open, bench, one, recorder)?);
    }
    for (place, name) in open.iter().enumerate() {
        let answers: Vec<&Told> = told.iter().filter_map(|of_one| of_one.get(place)).collect();
        settle(questions, name, all, &answers, recorder)?;
    }
    Ok(())
}

/// What an interrupted run had found out.
fn remember(questions: &Questions, recorder: &Recorder<'_>) -> Result<(), RunError> {
    /// As much of a kept answer as is needed.
    #[derive(Deserialize)]
    struct Kept {
        rows: Vec<Row>,
    }
    for one in &recorder.agreements {
        let rows = match &one.file {
            None => Vec::new(),
            Some(file) => {
                let path = recorder.folder.path().join(file);
                let text = std::fs::read(&path).map_err(RunError::io(format!("read {}", path.display())))?;
                let kept: Kept = serde_json::from_slice(&text)
                    .map_err(|error| RunError::Changed(format!("{} is damaged: {error}", path.display())))?;
                kept.rows
            }
        };
        questions.fixed.borrow_mut().insert(one.question.clone(), Fixed { basis: one.basis, rows });
    }
    Ok(())
}

/// The answers of one target to the open questions, in their order.
fn ask_all<'a>(
    questions: &Questions,
    open: &[String],
    bench: &Bench<'a>,
    one: &mut Asked<'a, Questions>,
    recorder: &mut Recorder<'_>,
) -> Result<Vec<Told>, RunError> {
    let is_asked = |name: &String| one.questions.iter().any(|question| question.name == *name);
    if !open.iter().any(is_asked) {
        return Ok(open.iter().map(|_| Told::NotAsked).collect());
    }
    if !one.of.is_loaded {
        bench.load(1, &mut one.of, recorder)?;
        if let Ok(accepted) = &one.of.holds {
            one.held = questions.learn(bench, accepted)?;
        }
    }
    let what = format!("asking {} for its answers", one.of.cells.target.file_name());
    recorder.observer.event(&Event::Began { work: Work::Turn, what: &what });
    one.of.session.subject().does(&what);
    let target = one.of.cells.target;
    if target.part.statements("read_only").is_empty() {
        let system = target.file_name();
        recorder.warn(&format!(
            "{system} has no sessions that refuse changes: its statements are run as they are"
        ));
    }
    let mut told = Vec::new();
    for name in open {
        let question = one.questions.iter().find(|question| question.name == *name);
        told.push(match (question, &one.of.holds) {
            (None, _) => Told::NotAsked,
            (Some(_), Err(failure)) => Told::Failed(not_asked(failure)),
            (Some(question), Ok(_)) => {
                let limit = Duration::from_secs_f64(bench.settings.timeout_s);
                match Ended::split(ask(&mut one.of.session, question, limit))? {
                    Ok(rows) => Told::Rows(rows),
                    Err(failure) => {
                        // Whatever state the engine is in now, the next question starts with a new one.
                        one.of.session.kill();
                        Told::Failed(failure)
                    }
                }
            }
        });
    }
    if let Err(failure) = Ended::split(one.of.session.close())? {
        let system = one.of.cells.target.file_name();
        recorder.warn(&format!("{system}: failed to close: {}", failure.error));
    }
    Ok(told)
}

fn ask(session: &mut Session<'_>, question: &Question, limit: Duration) -> Result<Vec<Row>, Ended> {
    let statement = session.statement(&question.file, &[("table", TABLE)])?;
    session.open()?;
    read_only(session, limit)?;
    let answered: Answered = session.request(&Op::Ask { statement }, limit, &mut |_| {})?;
    Ok(answered.outcome.rows)
}

/// Holds the answers to one question against each other, and records what comes of it.
fn settle(
    questions: &Questions,
    name: &str,
    all: &[Asked<'_, Questions>],
    told: &[&Told],
    recorder: &mut Recorder<'_>,
) -> Result<(), RunError> {
    let Some(rules) = questions.rules.get(name) else { return Ok(()) };
    // The places of those that answered.
    let given: Vec<(usize, &Vec<Row>)> = told
        .iter()
        .enumerate()
        .filter_map(|(place, told)| match told {
            Told::Rows(rows) => Some((place, rows)),
            _ => None,
        })
        .collect();
    let (basis, fixed) = match (questions.settings.expected.get(name), &questions.settings.reference) {
        (Some(expected), _) => (Basis::Expected, Some(settings::expected_rows(expected))),
        (None, Some(reference)) => {
            let is_it =
                |place: usize| all.get(place).is_some_and(|one| is_named(one.of.cells.target, reference));
            match given.iter().find(|(place, _)| is_it(*place)) {
                Some((_, rows)) => (Basis::Reference, Some((*rows).clone())),
                None if given.is_empty() => (Basis::Unanswered, None),
                None => (Basis::Unverified, given.first().map(|(_, rows)| (*rows).clone())),
            }
        }
        (None, None) => {
            let systems: Vec<&str> = given
                .iter()
                .filter_map(|(place, _)| Some(system_of(all.get(*place)?.of.cells.target)))
                .collect();
            let answers: Vec<Answer<'_>> =
                given.iter().zip(&systems).map(|((_, rows), system)| Answer { system, rows }).collect();
            let (decision, _) = decide(rules, &answers);
            let basis = match decision {
                Decision::Agreed(_) => Basis::Agreed,
                Decision::Disputed(_) => Basis::Disputed,
                Decision::Unverified(_) => Basis::Unverified,
                Decision::Nothing => Basis::Unanswered,
            };
            let fixed = decision.fixed().and_then(|place| given.get(place));
            (basis, fixed.map(|(_, rows)| (*rows).clone()))
        }
    };
    let mut standings = Vec::new();
    for (one, told) in all.iter().zip(told) {
        let target = one.of.cells.target;
        let mut standing = Standing {
            id: target.id(),
            profile: target.profile(),
            answer: Given::Same,
            why: None,
            rows: None,
            rule: None,
        };
        match told {
            Told::NotAsked => standing.answer = Given::NotAsked,
            Told::Failed(Failure { kind, error, .. }) => {
                standing.answer = Given::Failed;
                standing.why = Some(format!("{}: {error}", kind.word()));
            }
            Told::Rows(rows) => {
                if let Err(difference) = rules.compare(fixed.as_deref().unwrap_or_default(), rows) {
                    standing.answer = Given::Different;
                    standing.rule = rule(&difference, one.held);
                    standing.rows = Some(DifferentRows {
                        lacks: settings::json_rows(&difference.lacks),
                        lacking: difference.lacking as u64,
                        has: settings::json_rows(&difference.has),
                        having: difference.having as u64,
                    });
                    standing.why = Some(difference.what);
                }
            }
        }
        standings.push(standing);
    }
    let file = match &fixed {
        None => None,
        Some(rows) => {
            let columns: Vec<&str> = rules.columns.iter().map(|column| column.name.as_str()).collect();
            let text = serde_json::json!({ "question": name, "columns": columns, "rows": rows });
            Some(
                recorder
                    .folder
                    .write_file(&format!("answers/fixed-{name}.json"), text.to_string().as_bytes())?,
            )
        }
    };
    let agreement =
        Agreement { workload: all_workload(all), question: name.to_owned(), basis, file, standings };
    recorder.note(format!("agreement:{name}"), Body::Agreement(Box::new(agreement)))?;
    let fixed = Fixed { basis, rows: fixed.unwrap_or_default() };
    questions.fixed.borrow_mut().insert(name.to_owned(), fixed);
    Ok(())
}

fn all_workload(all: &[Asked<'_, Questions>]) -> String {
    all.first().map_or("", |one| one.of.cells.workload).to_owned()
}

/// The system that a target is of: two servers of it have one vote.
fn system_of(target: &Target) -> &str {
    name_of(&target.configuration.system)
}

/// Whether a target is what the user names as the reference.
fn is_named(target: &Target, (system, variant): &(String, Option<String>)) -> bool {
    let configuration = &target.configuration;
    // The folder without a variant comes first.
    name_of(&configuration.system) == system
        && variant.as_ref().is_none_or(|variant| *variant == configuration.variant)
}

/// The rule that explains a difference; documents that a system does not hold explain any.
fn rule(difference: &Difference, missing: u64) -> Option<String> {
    match (difference.rule, missing) {
        (_, 1..) => Some(format!("it refused {missing} of the documents, so that it answers over fewer")),
        (Some(rule), 0) => Some(rule.to_string()),
        (None, 0) => None,
    }
}

/// A difference in a sentence, with the first row of each side.
pub(super) fn in_words(difference: &Difference, missing: u64) -> String {
    let row = |rows: &[Row]| rows.first().map(|row| Value::show_row(row));
    let mut words = difference.what.clone();
    if let Some(row) = row(&difference.lacks) {
        words.push_str(&format!("; lacks {row}"));
    }
    if let Some(row) = row(&difference.has) {
        words.push_str(&format!("; has {row}"));
    }
    if let Some(rule) = rule(difference, missing) {
        words.push_str(&format!(" ({rule})"));
    }
    words
}
