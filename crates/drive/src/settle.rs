//! Writes of unknown outcome are settled by reading back.

use std::time::Duration;

use jsonathlon_connection::{Cell, Lane, Parameter, Result, RowSink};
use jsonathlon_dataset::records::{Scratch, Seen};

use crate::operation::Operation;
use crate::script::{Filler, Plan};
use crate::shared::Shared;

/// What a system may still do for connections that have ended.
const PAUSE: Duration = Duration::from_millis(300);
/// Records that are read back at most.
const MOST: usize = 10_000;

/// Reads back every record with a write of unknown outcome; gives what was wrong with them.
pub(crate) fn settle(shared: &Shared<'_>, plan: &Plan) -> Result<Vec<String>> {
    let records = shared.accept.unknown_records();
    if records.is_empty() {
        return Ok(Vec::new());
    }
    std::thread::sleep(PAUSE);
    let mut lane = (shared.open)()?;
    let mut wrong = Vec::new();
    for number in records.into_iter().take(MOST) {
        let read = shared.accept.begin_read(number);
        let text = read_back(shared, plan, &mut *lane, number)?;
        let seen = match &text {
            None => Ok(None),
            Some(text) => check(shared, number, text).map(Some),
        };
        match seen.and_then(|seen| match shared.accept.accepts(&read, seen) {
            Ok(()) => Ok(seen),
            Err(refused) => Err(refused.to_string()),
        }) {
            Ok(seen) => shared.accept.settle(number, seen),
            Err(words) => wrong.push(format!("record {number}, read back: {words}")),
        }
    }
    lane.close();
    Ok(wrong)
}

fn check(shared: &Shared<'_>, number: u64, text: &str) -> std::result::Result<Seen, String> {
    let checked = shared.set.check(number, text.as_bytes(), shared.written, &mut Scratch::new());
    checked.map_err(|wrong| wrong.to_string())
}

fn read_back(shared: &Shared<'_>, plan: &Plan, lane: &mut dyn Lane, number: u64) -> Result<Option<String>> {
    debug_assert_eq!(plan.operation, Operation::Read);
    let mut key = Vec::new();
    shared.set.key(number, &mut key);
    let key = String::from_utf8_lossy(&key).into_owned();
    let mut last = Last::default();
    for statement in &plan.statements {
        let prepared = lane.prepare(&statement.text)?;
        let parameters: Vec<Parameter<'_>> = statement
            .fillers
            .iter()
            .map(|(filler, _)| match filler {
                Filler::Key
                    if shared.set.records().key_type == jsonathlon_dataset::records::KeyType::Bigint =>
                {
                    Parameter::Int(shared.set.records().bigint(number))
                }
                Filler::Key => Parameter::Text(&key),
                _ => Parameter::Int(1),
            })
            .collect();
        lane.send(&prepared, &parameters)?;
        while lane.receive(true, &mut last)?.is_none() {}
    }
    Ok(last.text)
}

/// Keeps the document of an answer.
#[derive(Default)]
struct Last {
    document: usize,
    text: Option<String>,
}

impl RowSink for Last {
    fn columns(&mut self, names: &[&str]) -> Result<()> {
        let place = names.iter().position(|name| name.eq_ignore_ascii_case("doc"));
        self.document = place.unwrap_or(names.len().saturating_sub(1));
        Ok(())
    }

    fn row(&mut self, cells: &[Cell<'_>]) -> Result<()> {
        if let Some(Cell::Text(text)) = cells.get(self.document) {
            self.text = Some((*text).to_owned());
        }
        Ok(())
    }
}
