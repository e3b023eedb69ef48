//! How many bytes a system keeps a document in: its own answer, exact, and without a clock.

use std::collections::BTreeMap;

use jsonathlon_dataset::value::Value;
use jsonathlon_results::record::{Cell, Failure, FailureKind, Verdict};
use jsonathlon_systems::catalogue::{fill, sql_text};
use jsonathlon_worker::protocol::{Figures, Op};

use super::Served;
use crate::bench::{LOOK_UP, TABLE};
use crate::recorder::{Recorder, blank};
use crate::session::{Ended, borrowed, placeholder};

/// The statement file that is asked; the last of its statements answers.
const FILE: &str = "encoded";

/// Asks a configuration how it keeps a document, and records all numbers that it answers.
pub(super) fn ask(
    document: &str,
    cell: &Cell,
    round: u32,
    one: &mut Served<'_>,
    recorder: &mut Recorder<'_>,
) -> Result<(), Ended> {
    let key = cell.trial_key(round, 0);
    let mut trial = blank(cell, round, 0);
    let statements = one.part.statements(FILE).to_vec();
    let Some((last, before)) = statements.split_last() else {
        let error = format!("it has no file `{FILE}`: nothing tells how it keeps a document");
        trial.verdict = Verdict::NotApplicable;
        trial.failure = Some(Failure::new(FailureKind::Refused, error));
        return Ok(recorder.trial(key, trial)?);
    };
    let is_json = one.is_json();
    let filled = |statement: &String| {
        // A document of JSON stands where its name stands between quotation marks.
        let (statement, literal) = match is_json {
            true => (statement.replace("\"{{document}}\"", document), document.to_owned()),
            false => (statement.clone(), format!("'{}'", sql_text(document))),
        };
        let values = [("table".to_owned(), TABLE.to_owned()), ("document".to_owned(), literal)];
        fill(&statement, &borrowed(&values)).map_err(placeholder)
    };
    let before = before.iter().map(filled).collect::<Result<Vec<_>, _>>()?;
    if !before.is_empty() {
        one.of.session.run(before, LOOK_UP)?;
    }
    let figures: Figures =
        one.of.session.request(&Op::Sizes { statement: filled(last)? }, LOOK_UP, &mut |_| {})?;
    trial.metrics = numbers(figures);
    trial.verdict = Verdict::Exact;
    Ok(recorder.trial(key, trial)?)
}

/// The columns that are numbers.
pub(super) fn numbers(figures: Figures) -> BTreeMap<String, f64> {
    figures.into_iter().filter_map(|(name, value)| Some((name, number(&value)?))).collect()
}

/// A number, also one that came as text.
pub(super) fn number(value: &Value) -> Option<f64> {
    match value {
        Value::Int(number) => Some(*number as f64),
        Value::Float(number) => Some(*number),
        Value::Text(text) => text.parse().ok(),
        _ => None,
    }
}
