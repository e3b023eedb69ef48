//! Reading back when all clients have ended: what became of writes of unknown outcome, and of acknowledged ones where
//! the system has ended meanwhile.

use std::time::{Duration, Instant};

use jsonathlon_connection::{Cell, Lane, Parameter, Result, RowSink};
use jsonathlon_dataset::records::{Scratch, Seen};

use crate::answer::ReadBack;
use crate::operation::Operation;
use crate::script::{Filler, Plan};
use crate::shared::Shared;

/// What a system may still do for connections that have ended.
const PAUSE: Duration = Duration::from_millis(300);
/// How long reading back goes on.
const LONGEST: Duration = Duration::from_secs(30);

/// What reading back has found.
#[derive(Debug, Default)]
pub(crate) struct Settled {
    /// Records that are not what they must be, each in a few words.
    pub(crate) wrong: Vec<String>,
    /// How many of all records with an acknowledged write were read, where that was to be.
    pub(crate) read_back: Option<ReadBack>,
}

/// Reads back every record with a write of unknown outcome; and with `all` every record with an acknowledged write, which
/// a system that has ended must have kept.
///
/// # Errors
/// The system cannot be read.
pub(crate) fn settle(shared: &Shared<'_>, plan: &Plan, all: bool) -> Result<Settled> {
    let records = shared.accept.unknown_records();
    let written: Vec<u64> = if all { shared.accept.written_records().collect() } else { Vec::new() };
    let mut settled = Settled::default();
    if records.is_empty() && !all {
        return Ok(settled);
    }
    std::thread::sleep(PAUSE);
    let begun = Instant::now();
    let mut lane = (shared.openers.patient)()?;
    for number in records {
        if begun.elapsed() >= LONGEST {
            break;
        }
        match read_back(shared, plan, &mut *lane, number)? {
            Ok(seen) => shared.accept.settle(number, seen),
            Err(words) => settled.wrong.push(words),
        }
    }
    if all {
        let mut read = 0;
        for number in &written {
            if begun.elapsed() >= LONGEST {
                break;
            }
            settled.wrong.extend(read_back(shared, plan, &mut *lane, *number)?.err());
            read += 1;
        }
        settled.read_back = Some(ReadBack { written: written.len() as u64, read });
    }
    settled.wrong.dedup();
    lane.close();
    Ok(settled)
}

/// What is seen of a record; none where it is absent. Or what is wrong with it.
fn read_back(
    shared: &Shared<'_>,
    plan: &Plan,
    lane: &mut dyn Lane,
    number: u64,
) -> Result<std::result::Result<Option<Seen>, String>> {
    let read = shared.accept.begin_read(number);
    let text = ask(shared, plan, lane, number)?;
    let seen = text.map(|text| check(shared, number, &text)).transpose();
    let accepted = seen.and_then(|seen| match shared.accept.accepts(&read, seen) {
        Ok(()) => Ok(seen),
        Err(refused) => Err(refused.to_string()),
    });
    Ok(accepted.map_err(|words| format!("record {number}, read back: {words}")))
}

fn check(shared: &Shared<'_>, number: u64, text: &str) -> std::result::Result<Seen, String> {
    let checked = shared.set.check(number, text.as_bytes(), shared.written, &mut Scratch::new());
    checked.map_err(|wrong| wrong.to_string())
}

fn ask(shared: &Shared<'_>, plan: &Plan, lane: &mut dyn Lane, number: u64) -> Result<Option<String>> {
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
