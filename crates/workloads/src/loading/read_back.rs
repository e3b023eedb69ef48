//! Measures whether a system returns documents as they were loaded.

mod by_position;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

use jsonathlon_schema::record::{Cell, FailureKind, RecordBody, RoundTripOutcome, RoundTripReport};
use jsonathlon_worker::protocol::{Op, ReadBackReply};
use serde_json::Value;

use crate::recorder::TrialRecorder;
use crate::run_context::{LOOKUP_TIMEOUT, LoadedDocuments, RunContext, TABLE, TargetState};
use crate::session::{Session, TrialError};

impl RunContext<'_> {
    /// Reads sample documents back and compares them with the originals.
    pub(super) fn read_back(
        &self,
        target_state: &mut TargetState<'_>,
        recorder: &mut TrialRecorder<'_>,
    ) -> Result<(), TrialError> {
        // References keep no documents.
        let statements = target_state.session.target.setup.statements("read_back");
        if statements.is_empty() {
            return Ok(());
        }
        let cell = target_state.cells.structure();
        let key = format!("structure:{}", cell.key());
        if recorder.has(&key) {
            return Ok(());
        }
        // A statement with `{{rows}}` returns documents by position, any other by key.
        let is_by_position = statements.iter().any(|text| text.contains("{{rows}}"));
        let comparison = if is_by_position {
            self.read_by_position(target_state)?
        } else {
            self.read_by_key(&mut target_state.session)?
        };
        recorder.append(key, RecordBody::Structure(round_trip_report(cell, comparison)))?;
        Ok(())
    }

    /// Reads the first documents in the system's own order, and fails if none of them was loaded.
    fn read_by_position(&self, target_state: &mut TargetState<'_>) -> Result<ReadBack, TrialError> {
        let values = [("table", TABLE), ("rows", ROW_COUNT_TEXT)];
        let statement = target_state.session.statement("read_back", &values)?;
        let op = Op::ReadBack { statement };
        let returned = target_state.session.request::<ReadBackReply>(&op, LOOKUP_TIMEOUT, &mut |_| {})?.rows;
        let unreadable =
            |error: std::io::Error| TrialError::failed(FailureKind::Environment, error.to_string());
        let loaded = target_state.load_result.as_ref().ok();
        // The sample may miss suspects, so an unknown document proves nothing.
        let has_suspects = loaded.is_some_and(|loaded| !loaded.accepted_suspects.is_empty());
        let documents = self.first_loaded(loaded).map_err(unreadable)?;
        let mut comparison = by_position::compare(&documents, &returned);
        if comparison.is_foreign() && has_suspects {
            comparison.foreign = 0;
        } else if comparison.is_foreign() && documents.len() == SEARCHED_DOCUMENTS {
            // The table may be in a completely different order, so all clean documents are searched.
            let lines = BufReader::new(File::open(&self.staged.clean_file).map_err(unreadable)?).split(b'\n');
            comparison.recognised +=
                u64::from(by_position::has_original(lines, &returned).map_err(unreadable)?);
        }
        comparison.check(&returned)?;
        Ok(comparison)
    }

    /// Reads the sample documents by their keys, and fails if none of the returned ones was loaded.
    fn read_by_key(&self, session: &mut Session<'_>) -> Result<ReadBack, TrialError> {
        let mut originals: HashMap<Key, Vec<u8>> = HashMap::new();
        for sample in &self.staged.samples {
            if let Some(key) = key_of(&sample.line) {
                originals.insert(key, sample.line.clone());
            }
        }
        let keys: Vec<String> = originals.keys().map(|(time, _)| time.to_string()).collect();
        let returned = if keys.is_empty() {
            Vec::new()
        } else {
            let values = [("table", TABLE), ("keys", &keys.join(", "))];
            let statement = session.statement("read_back", &values)?;
            session.request::<ReadBackReply>(&Op::ReadBack { statement }, LOOKUP_TIMEOUT, &mut |_| {})?.rows
        };
        let comparison = compare(&originals, &returned);
        comparison.check(&returned)?;
        Ok(comparison)
    }

    /// First documents in load order: those of the clean file, then the accepted suspects.
    fn first_loaded(&self, loaded: Option<&LoadedDocuments>) -> std::io::Result<Vec<Vec<u8>>> {
        let staged = self.staged;
        let mut documents = match staged.clean_documents {
            0 => Vec::new(),
            _ => first_lines(&staged.clean_file, SEARCHED_DOCUMENTS)?,
        };
        let suspects = loaded.into_iter().flat_map(|loaded| &loaded.accepted_suspects);
        let mut bytes = 0;
        for suspect in suspects.filter_map(|index| staged.suspects.get(*index)) {
            bytes += suspect.length;
            if documents.len() >= SEARCHED_DOCUMENTS || bytes > MAX_SUSPECT_BYTES {
                break;
            }
            documents.push(staged.suspect_bytes(suspect)?);
        }
        Ok(documents)
    }
}

/// Characters of an unknown document that are quoted in the failure.
const QUOTED_CHARACTERS: usize = 80;
/// Number of documents that are read back by position: the first ones in the system's own order.
const ROW_COUNT_TEXT: &str = "1000";
/// Maximum total size of suspects to compare; single ones can be very large.
const MAX_SUSPECT_BYTES: u64 = 256 << 20;
/// Number of loaded documents to search for the returned ones: a load by several threads changes the order.
const SEARCHED_DOCUMENTS: usize = 20_000;

fn round_trip_report(cell: Cell, comparison: ReadBack) -> RoundTripReport {
    RoundTripReport {
        cell,
        retains: comparison.retains(),
        compared: comparison.compared,
        equal_bytes: comparison.equal_bytes,
        equal_value: comparison.equal_value,
        changes: comparison.changes,
        notes: Vec::new(),
    }
}

/// First `count` lines of a file, without newlines.
fn first_lines(file: &Path, count: usize) -> std::io::Result<Vec<Vec<u8>>> {
    BufReader::new(File::open(file)?).split(b'\n').take(count).collect()
}

/// Result of comparing returned documents with the loaded ones.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct ReadBack {
    /// Documents that were compared.
    pub compared: u64,
    /// Documents that were returned byte for byte.
    pub equal_bytes: u64,
    /// Documents that were returned as the same JSON value regardless of member order; includes byte-equal
    /// ones.
    pub equal_value: u64,
    /// Number of documents by kind of change.
    pub changes: BTreeMap<String, u64>,
    /// Returned documents that are recognisable as a loaded document, changed or not.
    pub recognised: u64,
    /// Returned documents that cannot stem from any of the loaded documents that were searched.
    pub foreign: u64,
}

impl ReadBack {
    /// Returns `true` if no returned document is one of the loaded documents.
    fn is_foreign(&self) -> bool {
        self.recognised == 0 && self.foreign > 0
    }

    /// Fails if none of the returned documents is one of the loaded documents.
    fn check(&self, returned: &[String]) -> Result<(), TrialError> {
        let Some(first) = returned.first().filter(|_| self.is_foreign()) else { return Ok(()) };
        let (count, first) = (returned.len(), first.chars().take(QUOTED_CHARACTERS).collect::<String>());
        let error = format!(
            "none of {count} documents read back is one of those that were loaded: the first is `{first}`"
        );
        Err(TrialError::failed(FailureKind::Wrong, error))
    }

    /// What is preserved of all documents that were compared.
    #[must_use]
    pub(crate) fn retains(&self) -> RoundTripOutcome {
        match self.compared {
            0 => RoundTripOutcome::Unknown,
            n if n == self.equal_bytes => RoundTripOutcome::Bytes,
            n if n == self.equal_value => RoundTripOutcome::Value,
            _ => RoundTripOutcome::Changed,
        }
    }
}

/// Identifies a returned document by its time and author. Statements select by time only.
pub(crate) type Key = (i64, Option<String>);

/// Key of a document; `None` if it has no integer `time_us`.
#[must_use]
pub(crate) fn key_of(document: &[u8]) -> Option<Key> {
    key_of_value(&serde_json::from_slice::<Value>(document).ok()?)
}

fn key_of_value(document: &Value) -> Option<Key> {
    let author = document.get("did").and_then(Value::as_str).map(str::to_owned);
    Some((document.get("time_us")?.as_i64()?, author))
}

/// Compares `originals`, the loaded documents by key, with the returned documents.
#[must_use]
pub(crate) fn compare(originals: &HashMap<Key, Vec<u8>>, returned: &[String]) -> ReadBack {
    let mut result = ReadBack { compared: originals.len() as u64, ..ReadBack::default() };
    let times: HashSet<i64> = originals.keys().map(|(time, _)| *time).collect();
    let mut missing: HashMap<&Key, &Vec<u8>> = originals.iter().collect();
    let count_change =
        |changes: &mut BTreeMap<String, u64>, kind: String| *changes.entry(kind).or_insert(0) += 1;
    for text in returned {
        let parsed = serde_json::from_str::<Value>(text);
        let key = parsed.as_ref().ok().and_then(key_of_value);
        let original = key.as_ref().and_then(|key| missing.remove(key));
        let (Ok(value), Some(original)) = (parsed, original) else {
            // A sample's time may match further events of the same microsecond, which are not an error.
            if !key.is_some_and(|(time, _)| times.contains(&time)) {
                result.foreign += 1;
                count_change(&mut result.changes, "a document came back that was not given".to_owned());
            }
            continue;
        };
        result.recognised += 1;
        if text.as_bytes() == original.as_slice() {
            result.equal_bytes += 1;
            result.equal_value += 1;
            continue;
        }
        let mut kinds: Vec<String> = Vec::new();
        match serde_json::from_slice::<Value>(original) {
            Ok(original_value) => differences(&original_value, &value, &mut kinds),
            Err(_) => kinds.push("the original is not JSON".to_owned()),
        }
        if kinds.is_empty() {
            result.equal_value += 1;
            count_change(&mut result.changes, "white space, member order or escapes".to_owned());
        }
        kinds.sort();
        kinds.dedup();
        for kind in kinds {
            count_change(&mut result.changes, kind);
        }
    }
    for _ in missing {
        count_change(&mut result.changes, "a document did not come back".to_owned());
    }
    result
}

/// Collects the kinds of difference between two values; none if they are equal.
fn differences(before: &Value, after: &Value, kinds: &mut Vec<String>) {
    match (before, after) {
        (Value::Object(before), Value::Object(after)) => {
            for (name, value) in before {
                match after.get(name) {
                    Some(new_value) => differences(value, new_value, kinds),
                    None => kinds.push(loss_kind(value)),
                }
            }
            if after.keys().any(|name| !before.contains_key(name)) {
                kinds.push("members added".to_owned());
            }
        }
        (Value::Array(before), Value::Array(after)) => {
            if before.len() != after.len() {
                kinds.push("array elements lost or added".to_owned());
            }
            for (value, new_value) in before.iter().zip(after) {
                differences(value, new_value, kinds);
            }
        }
        (before, after) if before == after => {}
        (Value::Number(_), Value::Number(_)) => kinds.push("numbers changed".to_owned()),
        (Value::String(_), Value::String(_)) => kinds.push("text changed".to_owned()),
        (before, after) => kinds.push(format!("{} became {}", type_name(before), type_name(after))),
    }
}

fn loss_kind(value: &Value) -> String {
    match value {
        Value::Null => "null members lost".to_owned(),
        Value::Object(members) if members.is_empty() => "empty objects lost".to_owned(),
        Value::Array(elements) if elements.is_empty() => "empty arrays lost".to_owned(),
        _ => "members lost".to_owned(),
    }
}

fn type_name(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "bool",
        Value::Number(_) => "number",
        Value::String(_) => "text",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn by_key(documents: &[&str]) -> HashMap<Key, Vec<u8>> {
        documents.iter().map(|d| (key_of(d.as_bytes()).unwrap(), d.as_bytes().to_vec())).collect()
    }

    fn compare_one(before: &str, after: &str) -> ReadBack {
        compare(&by_key(&[before]), &[after.to_owned()])
    }

    #[test]
    fn equal_bytes_equal_values_and_changes_are_three_things() {
        let document = r#"{"time_us":1,"a":{"b":null},"c":[1,{}]}"#;
        assert_eq!(compare_one(document, document).retains(), RoundTripOutcome::Bytes);
        let reordered = compare_one(document, r#"{"a":{"b":null},"c":[1,{}],"time_us":1}"#);
        assert_eq!((reordered.retains(), reordered.equal_bytes), (RoundTripOutcome::Value, 0));
        let dropped = compare_one(document, r#"{"time_us":1,"a":{},"c":[1,{}]}"#);
        assert_eq!(dropped.retains(), RoundTripOutcome::Changed);
        assert_eq!(dropped.changes.keys().collect::<Vec<_>>(), ["null members lost"]);
    }

    #[test]
    fn every_kind_of_change_has_its_name() {
        for (before, after, kind) in [
            (r#"{"time_us":1,"a":{}}"#, r#"{"time_us":1}"#, "empty objects lost"),
            (r#"{"time_us":1,"a":[]}"#, r#"{"time_us":1}"#, "empty arrays lost"),
            (r#"{"time_us":1,"a":2}"#, r#"{"time_us":1}"#, "members lost"),
            (r#"{"time_us":1}"#, r#"{"time_us":1,"a":0}"#, "members added"),
            (r#"{"time_us":1,"a":1}"#, r#"{"time_us":1,"a":2}"#, "numbers changed"),
            (r#"{"time_us":1,"a":"x"}"#, r#"{"time_us":1,"a":"y"}"#, "text changed"),
            (r#"{"time_us":1,"a":1}"#, r#"{"time_us":1,"a":"1"}"#, "number became text"),
            (r#"{"time_us":1,"a":[1,2]}"#, r#"{"time_us":1,"a":[1]}"#, "array elements lost or added"),
            (r#"{"time_us":1}"#, r#"{"time_us":2}"#, "a document came back that was not given"),
            (r#"{"time_us":1,"did":"a"}"#, r#"{"time_us":1,"did":"b"}"#, "a document did not come back"),
            (r#"{"time_us":1}"#, "rubbish", "a document came back that was not given"),
        ] {
            let comparison = compare_one(before, after);
            assert_eq!(comparison.retains(), RoundTripOutcome::Changed, "{before} → {after}");
            assert!(comparison.changes.contains_key(kind), "{before} → {after}: {:?}", comparison.changes);
        }
    }

    #[test]
    fn documents_that_stay_away_are_counted() {
        let comparison =
            compare(&by_key(&[r#"{"time_us":1}"#, r#"{"time_us":2}"#]), &[r#"{"time_us":2}"#.to_owned()]);
        assert_eq!(comparison.retains(), RoundTripOutcome::Changed);
        assert_eq!((comparison.compared, comparison.equal_bytes), (2, 1));
        assert_eq!(comparison.changes["a document did not come back"], 1);
        assert_eq!(compare(&HashMap::new(), &[]).retains(), RoundTripOutcome::Unknown);
    }
}
