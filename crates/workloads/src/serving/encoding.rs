//! Measures in how many bytes a system stores a document. The system reports exact sizes; nothing is timed.

use std::collections::BTreeMap;

use jsonathlon_catalogue::{fill, sql_text};
use jsonathlon_schema::{
    record::{Cell, Failure, FailureKind, Verdict},
    value::Value,
};
use jsonathlon_worker::protocol::{Op, RowByName};

use super::ServingTarget;
use crate::{
    recorder::{TrialRecorder, new_trial},
    run_context::{LOOKUP_TIMEOUT, TABLE},
    session::{TrialError, as_str_pairs, placeholder_error},
};

/// Name of the statement file; its last statement returns the sizes.
const FILE: &str = "encoded";

/// Records all numbers that a configuration reports about storing a document.
pub(super) fn measure(
    document: &str,
    cell: &Cell,
    round: u32,
    target: &mut ServingTarget<'_>,
    recorder: &mut TrialRecorder<'_>,
) -> Result<(), TrialError> {
    let key = cell.trial_key(round, 0);
    let mut trial = new_trial(cell, round, 0);
    let statements = target.setup.statements(FILE).to_vec();
    let Some((size_statement, preparations)) = statements.split_last() else {
        let error = format!("it has no file `{FILE}`: nothing says how it stores a document");
        trial.verdict = Verdict::NotApplicable;
        trial.failure = Some(Failure::new(FailureKind::Refused, error));
        return Ok(recorder.record_trial(key, trial)?);
    };
    let is_json = target.is_json();
    let fill_document = |statement: &String| {
        // In JSON statements, the quoted placeholder is replaced by the JSON document.
        let (statement, literal) = match is_json {
            true => (statement.replace("\"{{document}}\"", document), document.to_owned()),
            false => (statement.clone(), format!("'{}'", sql_text(document))),
        };
        let values = [("table".to_owned(), TABLE.to_owned()), ("document".to_owned(), literal)];
        fill(&statement, &as_str_pairs(&values)).map_err(placeholder_error)
    };
    let preparations = preparations.iter().map(fill_document).collect::<Result<Vec<_>, _>>()?;
    if !preparations.is_empty() {
        target.state.session.run(preparations, LOOKUP_TIMEOUT)?;
    }
    let op = Op::Sizes { statement: fill_document(size_statement)? };
    let row: RowByName = target.state.session.request(&op, LOOKUP_TIMEOUT, &mut |_| {})?;
    trial.metrics = numbers(row);
    trial.verdict = Verdict::Exact;
    Ok(recorder.record_trial(key, trial)?)
}

/// Columns of the answer that are numbers, by name.
pub(super) fn numbers(row: RowByName) -> BTreeMap<String, f64> {
    row.into_iter().filter_map(|(name, value)| Some((name, number(&value)?))).collect()
}

/// Converts a number, including one in text form; `None` for other values.
pub(super) fn number(value: &Value) -> Option<f64> {
    match value {
        Value::Int(number) => Some(*number as f64),
        Value::Float(number) => Some(*number),
        Value::Text(text) => text.parse().ok(),
        _ => None,
    }
}
