//! Mock table into which writers insert while questions are asked. All connections and later processes see a
//! batch as a whole, and every answer says what it saw.
//!
//! | statement | effect |
//! |---|---|
//! | `mix_insert TABLE`, then lines `WRITER SEQUENCE DOCUMENT` | inserts all of them or none |
//! | `mix_ask WRITER FLOOR, WRITER FLOOR … : QUESTION` | a question over everything, and what it saw |
//! | `mix_own TABLE WRITER` | number and highest sequence of a writer's documents |

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::path::Path;

use jsonathlon_dataset::questions::Question;
use jsonathlon_dataset::reference::Reference;
use jsonathlon_dataset::scan::Scanner;
use jsonathlon_driver_api::driver::{DriverError, Result};
use jsonathlon_driver_api::rows::ResultSet;
use jsonathlon_schema::value::Value;

use super::script::FaultAction;
use super::store::Store;

/// File of the inserted documents, in the order of their batches.
const INSERTED_FILE: &str = "inserted.txt";
/// File of a batch that is acknowledged and not visible yet.
const HELD_FILE: &str = "held.txt";

/// Statement that inserts a batch.
const INSERT: &str = "mix_insert";
/// Statement that asks a question.
const ASK: &str = "mix_ask";
/// Statement that counts a writer's documents.
const OWN: &str = "mix_own";

/// Returns `true` if the statement belongs to this table. It is executed whole, whatever its documents contain.
pub(super) fn is_mixed_statement(statement: &str) -> bool {
    statement.starts_with("mix_")
}

/// Executes a statement with the faults that are planted in it.
pub(super) fn answer(
    name: &str,
    rest: &str,
    store: &mut Store,
    faults: &[&FaultAction],
) -> Result<ResultSet> {
    match name {
        INSERT => insert(rest, store.folder(), faults),
        ASK => ask(rest, store, faults),
        OWN => own_prefix(rest, store.folder()),
        _ => Err(DriverError::Refused(format!("unknown statement `{name}`"))),
    }
}

/// Forgets what was inserted, because the table was created or dropped.
pub(super) fn forget(folder: &Path) {
    for name in [INSERTED_FILE, HELD_FILE] {
        // Exists only if there were writers.
        std::fs::remove_file(folder.join(name)).ok();
    }
}

/// One document that a writer has inserted.
struct Inserted {
    writer: u64,
    sequence: u64,
    document: String,
}

impl Inserted {
    fn parse(line: &str) -> Option<Self> {
        let mut words = line.splitn(3, ' ');
        let mut number = || words.next()?.parse().ok();
        let (writer, sequence) = (number()?, number()?);
        Some(Self { writer, sequence, document: words.next()?.to_owned() })
    }
}

fn failed(error: &std::io::Error) -> DriverError {
    DriverError::Refused(format!("failed to use the inserted documents: {error}"))
}

/// Opens the file of the inserted documents and locks it against all other connections, until it is closed.
fn open_locked(folder: &Path) -> std::io::Result<File> {
    let path = folder.join(INSERTED_FILE);
    let file = OpenOptions::new().read(true).append(true).create(true).open(path)?;
    file.lock()?;
    Ok(file)
}

/// Reads all that is visible.
fn read_inserted(folder: &Path) -> Result<Vec<Inserted>> {
    let mut text = String::new();
    open_locked(folder)
        .and_then(|mut file| file.read_to_string(&mut text))
        .map_err(|error| failed(&error))?;
    let parse = |line| {
        Inserted::parse(line).ok_or_else(|| DriverError::Refused(format!("no inserted document: {line}")))
    };
    text.lines().map(parse).collect()
}

fn insert(rest: &str, folder: &Path, faults: &[&FaultAction]) -> Result<ResultSet> {
    let (_, lines) = rest.split_once('\n').unwrap_or((rest, ""));
    if let Some(line) = lines.lines().find(|line| Inserted::parse(line).is_none()) {
        return Err(DriverError::Refused(format!("no document to insert: {line}")));
    }
    let has = |fault: fn(&FaultAction) -> bool| faults.iter().any(|action| fault(action));
    if !has(|action| matches!(action, FaultAction::LoseBatch)) {
        let mut batch = format!("{}\n", lines.trim_end());
        if has(|action| matches!(action, FaultAction::RepeatBatch)) {
            batch = batch.repeat(2);
        }
        let is_held = has(|action| matches!(action, FaultAction::HoldBatch));
        write_batch(&batch, is_held, folder).map_err(|error| failed(&error))?;
    }
    match has(|action| matches!(action, FaultAction::LoseAnswer)) {
        true => Err(DriverError::Crashed("the connection broke after the batch".into())),
        false => Ok(ResultSet::default()),
    }
}

/// Appends a batch to what is visible, after the one that was held back before.
fn write_batch(batch: &str, is_held: bool, folder: &Path) -> std::io::Result<()> {
    // Locked first: the held batch is then moved by one writer only.
    let mut file = open_locked(folder)?;
    let held_file = folder.join(HELD_FILE);
    let held = std::fs::read_to_string(&held_file).unwrap_or_default();
    let (visible, held) = if is_held { (held, batch) } else { (held + batch, "") };
    file.write_all(visible.as_bytes())?;
    std::fs::write(held_file, held)
}

fn own_prefix(rest: &str, folder: &Path) -> Result<ResultSet> {
    let writer = rest.split_whitespace().nth(1).and_then(|word| word.parse::<u64>().ok());
    let inserted = read_inserted(folder)?;
    let sequences = inserted.iter().filter(|document| Some(document.writer) == writer);
    let sequences: Vec<u64> = sequences.map(|document| document.sequence).collect();
    let highest = sequences.iter().max().map_or(Value::Null, |highest| integer(*highest));
    Ok(ResultSet {
        columns: vec!["documents".into(), "highest".into()],
        rows: vec![vec![integer(sequences.len() as u64), highest]],
        ..ResultSet::default()
    })
}

fn integer(number: u64) -> Value {
    Value::Int(i64::try_from(number).unwrap_or(i64::MAX))
}

/// Asks a question over the loaded and the inserted documents.
fn ask(rest: &str, store: &mut Store, faults: &[&FaultAction]) -> Result<ResultSet> {
    let refuse = |what: &str| DriverError::Refused(format!("{what}: {rest}"));
    let (ranges, question) = rest.split_once(':').ok_or_else(|| refuse("no question"))?;
    let question = Question::ALL.into_iter().find(|known| known.id() == question.trim());
    let question = question.ok_or_else(|| refuse("no such question"))?;
    let floors = parse_ranges(ranges).ok_or_else(|| refuse("no ranges"))?;
    store.select_table("");
    let inserted = read_inserted(store.folder())?;
    let (mut counted, mut told) = (inserted.len(), inserted.len());
    for action in faults {
        match action {
            FaultAction::OneShort => counted = counted.saturating_sub(1),
            FaultAction::OneEarly => told = told.saturating_sub(1),
            _ => {}
        }
    }
    let mut reference = Reference::default();
    let mut scanner = Scanner::new();
    store.for_each_line(|line| reference.observe(&scanner.scan(line).event))?;
    for Inserted { document, .. } in inserted.iter().take(counted) {
        reference.observe(&scanner.scan(document.as_bytes()).event);
    }
    let seen = seen_text(inserted.iter().take(told), &floors);
    let columns = ["seen"].iter().chain(question.columns()).map(|column| (*column).to_owned());
    let answers = reference.answers();
    let row = |row: &Vec<Value>| std::iter::once(Value::Text(seen.clone())).chain(row.clone()).collect();
    Ok(ResultSet {
        columns: columns.collect(),
        rows: answers.rows(question).iter().map(row).collect(),
        ..ResultSet::default()
    })
}

/// Floors by writer. `None` if a range is malformed.
fn parse_ranges(ranges: &str) -> Option<BTreeMap<u64, u64>> {
    let range = |range: &str| {
        let (writer, floor) = range.trim().split_once(' ')?;
        Some((writer.parse().ok()?, floor.trim().parse().ok()?))
    };
    ranges.split(',').map(range).collect()
}

/// List of each writer's number, documents at or above its floor, and highest sequence of them.
fn seen_text<'i>(inserted: impl Iterator<Item = &'i Inserted>, floors: &BTreeMap<u64, u64>) -> String {
    let mut seen: BTreeMap<u64, (u64, u64)> = BTreeMap::new();
    for Inserted { writer, sequence, .. } in inserted {
        if floors.get(writer).is_some_and(|floor| sequence >= floor) {
            let (count, highest) = seen.entry(*writer).or_default();
            *count += 1;
            *highest = (*highest).max(*sequence);
        }
    }
    let list: Vec<[u64; 3]> =
        seen.into_iter().map(|(writer, (count, highest))| [writer, count, highest]).collect();
    serde_json::json!(list).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn loaded(folder: &Path) -> Store {
        let mut store = Store::new(folder);
        store.create().unwrap();
        store
    }

    fn seen(store: &mut Store, faults: &[&FaultAction]) -> String {
        let answer = answer(ASK, "0 0,1 1: q1", store, faults).unwrap();
        match answer.rows.first().and_then(|row| row.first()) {
            Some(Value::Text(text)) => text.clone(),
            other => panic!("nothing seen: {other:?}"),
        }
    }

    fn batch(writer: u64, first: u64, count: u64) -> String {
        let document = |n: u64| {
            let event = crate::testing::event("did:plc:a", 1 + n.cast_signed(), "app.bsky.feed.post");
            format!("{writer} {n} {event}\n")
        };
        format!("documents\n{}", (first..first + count).map(document).collect::<String>())
    }

    #[test]
    fn answers_say_what_they_saw_above_the_floors() {
        let folder = tempfile::tempdir().unwrap();
        let mut store = loaded(folder.path());
        insert(&batch(0, 0, 2), folder.path(), &[]).unwrap();
        insert(&batch(1, 0, 3), folder.path(), &[]).unwrap();
        assert_eq!(seen(&mut store, &[]), "[[0,2,1],[1,2,2]]");
        // What is told lacks the last document; the answer has it.
        assert_eq!(seen(&mut store, &[&FaultAction::OneEarly]), "[[0,2,1],[1,1,1]]");
        let own = own_prefix("documents 1", folder.path()).unwrap();
        assert_eq!(own.rows, [[Value::Int(3), Value::Int(2)]]);
        assert_eq!(own_prefix("documents 7", folder.path()).unwrap().rows, [[Value::Int(0), Value::Null]]);
    }

    #[test]
    fn faults_lose_repeat_and_hold_batches() {
        let folder = tempfile::tempdir().unwrap();
        let mut store = loaded(folder.path());
        insert(&batch(0, 0, 1), folder.path(), &[&FaultAction::HoldBatch]).unwrap();
        insert(&batch(0, 1, 1), folder.path(), &[&FaultAction::LoseBatch]).unwrap();
        assert!(read_inserted(folder.path()).unwrap().is_empty());
        insert(&batch(0, 2, 1), folder.path(), &[&FaultAction::RepeatBatch]).unwrap();
        assert_eq!(seen(&mut store, &[]), "[[0,3,2]]");
        let lost = insert(&batch(0, 3, 1), folder.path(), &[&FaultAction::LoseAnswer]);
        assert!(matches!(lost, Err(DriverError::Crashed(_))));
        assert_eq!(seen(&mut store, &[]), "[[0,4,3]]");
    }
}
