//! Measures whether a system returns documents as they were loaded.

mod by_position;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

use jsonathlon_schema::record::{Cell, FailureKind, RecordBody, RoundTripReport};
use jsonathlon_worker::protocol::{Op, ReadBackReply};
use serde_json::Value;

use crate::recorder::TrialRecorder;
use crate::run_context::{LOOK_UP, LoadedDocuments, RunContext, TABLE, TargetState};
use crate::session::TrialError;

impl RunContext<'_> {
    /// Reads sample documents back and compares them with the originals.
    pub(super) fn read_back(
        &self,
        one: &mut TargetState<'_>,
        recorder: &mut TrialRecorder<'_>,
    ) -> Result<(), TrialError> {
        // References keep no documents.
        if one.session.target.part.statements("read_back").is_empty() {
            return Ok(());
        }
        let cell = one.cells.structure();
        let key = format!("structure:{}", cell.key());
        if recorder.has(&key) {
            return Ok(());
        }
        // A statement with `{{rows}}` returns documents by position, any other by key.
        let is_by_position =
            one.session.target.part.statements("read_back").iter().any(|text| text.contains("{{rows}}"));
        if is_by_position {
            let values = [("table", TABLE), ("rows", POSITIONS_TEXT)];
            let statement = one.session.statement("read_back", &values)?;
            let returned =
                one.session.request::<ReadBackReply>(&Op::ReadBack { statement }, LOOK_UP, &mut |_| {})?.rows;
            let unreadable =
                |error: std::io::Error| TrialError::failed(FailureKind::Environment, error.to_string());
            let held = one.load_result.as_ref().ok();
            // The sample may miss suspects, so an unknown document proves nothing.
            let has_others = held.is_some_and(|held| !held.suspects.is_empty());
            let first = self.first_loaded(held).map_err(unreadable)?;
            let mut compared = by_position::compare(&first, &returned);
            if compared.is_strange() && has_others {
                compared.strange = 0;
            } else if compared.is_strange() && first.len() == LOOKED_AT {
                // The table may be in a completely different order, so all clean documents are searched.
                let lines = BufReader::new(File::open(&self.staged.clean).map_err(unreadable)?).split(b'\n');
                compared.recognised +=
                    u64::from(by_position::is_any_of(lines, &returned).map_err(unreadable)?);
            }
            compared.check(&returned)?;
            return Ok(recorder.append(key, RecordBody::Structure(structure(cell, compared)))?);
        }
        let mut given: HashMap<Key, Vec<u8>> = HashMap::new();
        for sample in &self.staged.samples {
            if let Some(key) = key_of(&sample.line) {
                given.insert(key, sample.line.clone());
            }
        }
        let keys: Vec<String> = given.keys().map(|(time, _)| time.to_string()).collect();
        let returned = if keys.is_empty() {
            Vec::new()
        } else {
            let values = [("table", TABLE), ("keys", &keys.join(", "))];
            let session = &mut one.session;
            let statement = session.statement("read_back", &values)?;
            session.request::<ReadBackReply>(&Op::ReadBack { statement }, LOOK_UP, &mut |_| {})?.rows
        };
        let compared = compare(&given, &returned);
        compared.check(&returned)?;
        recorder.append(key, RecordBody::Structure(structure(cell, compared)))?;
        Ok(())
    }

    /// First documents in load order: those of the clean file, then the accepted suspects.
    fn first_loaded(&self, held: Option<&LoadedDocuments>) -> std::io::Result<Vec<Vec<u8>>> {
        let staged = self.staged;
        let mut first = match staged.clean_documents {
            0 => Vec::new(),
            _ => first_lines(&staged.clean, LOOKED_AT)?,
        };
        let suspects = held.into_iter().flat_map(|held| &held.suspects);
        let mut bytes = 0;
        for suspect in suspects.filter_map(|place| staged.suspects.get(*place)) {
            bytes += suspect.length;
            if first.len() >= LOOKED_AT || bytes > MOST_SUSPECT_BYTES {
                break;
            }
            first.push(staged.suspect_bytes(suspect)?);
        }
        Ok(first)
    }
}

/// Characters of an unknown document that are quoted in the failure.
const SHOWN: usize = 80;
/// Number of documents that are read back by position: the first ones in the system's own order.
const POSITIONS_TEXT: &str = "1000";
/// Maximum total size of suspects to compare; single ones can be very large.
const MOST_SUSPECT_BYTES: u64 = 256 << 20;
/// Number of loaded documents to search for the returned ones: a load by several threads changes the order.
const LOOKED_AT: usize = 20_000;

fn structure(cell: Cell, compared: ReadBack) -> RoundTripReport {
    RoundTripReport {
        cell,
        retains: compared.retains().to_owned(),
        compared: compared.compared,
        equal_bytes: compared.equal_bytes,
        equal_value: compared.equal_value,
        changes: compared.changes,
    }
}

/// First `most` lines of a file, without newlines.
fn first_lines(file: &Path, most: usize) -> std::io::Result<Vec<Vec<u8>>> {
    BufReader::new(File::open(file)?).split(b'\n').take(most).collect()
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
    pub strange: u64,
}

impl ReadBack {
    /// Returns `true` if no returned document is one of the loaded documents.
    fn is_strange(&self) -> bool {
        self.recognised == 0 && self.strange > 0
    }

    /// Fails if none of the returned documents is one of the loaded documents.
    fn check(&self, returned: &[String]) -> Result<(), TrialError> {
        let Some(first) = returned.first().filter(|_| self.is_strange()) else { return Ok(()) };
        let (count, first) = (returned.len(), first.chars().take(SHOWN).collect::<String>());
        let error = format!(
            "none of {count} documents read back is one of those that were loaded: the first is `{first}`"
        );
        Err(TrialError::failed(FailureKind::Wrong, error))
    }

    /// Fidelity in one word: `bytes`, `value` or `changed`; `unknown` if nothing was compared.
    #[must_use]
    pub(crate) fn retains(&self) -> &'static str {
        match self.compared {
            0 => "unknown",
            n if n == self.equal_bytes => "bytes",
            n if n == self.equal_value => "value",
            _ => "changed",
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

/// Compares `given`, the loaded documents by key, with the returned documents.
#[must_use]
pub(crate) fn compare(given: &HashMap<Key, Vec<u8>>, returned: &[String]) -> ReadBack {
    let mut result = ReadBack { compared: given.len() as u64, ..ReadBack::default() };
    let times: HashSet<i64> = given.keys().map(|(time, _)| *time).collect();
    let mut left: HashMap<&Key, &Vec<u8>> = given.iter().collect();
    let note = |changes: &mut BTreeMap<String, u64>, kind: String| *changes.entry(kind).or_insert(0) += 1;
    for text in returned {
        let parsed = serde_json::from_str::<Value>(text);
        let key = parsed.as_ref().ok().and_then(key_of_value);
        let original = key.as_ref().and_then(|key| left.remove(key));
        let (Ok(value), Some(original)) = (parsed, original) else {
            // A sample's time may match further events of the same microsecond, which are not an error.
            if !key.is_some_and(|(time, _)| times.contains(&time)) {
                result.strange += 1;
                note(&mut result.changes, "a document came back that was not given".to_owned());
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
            Ok(before) => differences(&before, &value, &mut kinds),
            Err(_) => kinds.push("the original is not JSON".to_owned()),
        }
        if kinds.is_empty() {
            result.equal_value += 1;
            note(&mut result.changes, "white space, member order or escapes".to_owned());
        }
        kinds.sort();
        kinds.dedup();
        for kind in kinds {
            note(&mut result.changes, kind);
        }
    }
    for _ in left {
        note(&mut result.changes, "a document did not come back".to_owned());
    }
    result
}

/// Collects the kinds of difference between two values; none if they are equal.
fn differences(before: &Value, after: &Value, kinds: &mut Vec<String>) {
    match (before, after) {
        (Value::Object(before), Value::Object(after)) => {
            for (name, value) in before {
                match after.get(name) {
                    Some(other) => differences(value, other, kinds),
                    None => kinds.push(lost(value)),
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
            for (value, other) in before.iter().zip(after) {
                differences(value, other, kinds);
            }
        }
        (before, after) if before == after => {}
        (Value::Number(_), Value::Number(_)) => kinds.push("numbers changed".to_owned()),
        (Value::String(_), Value::String(_)) => kinds.push("text changed".to_owned()),
        (before, after) => kinds.push(format!("{} became {}", type_of(before), type_of(after))),
    }
}

fn lost(value: &Value) -> String {
    match value {
        Value::Null => "null members lost".to_owned(),
        Value::Object(members) if members.is_empty() => "empty objects lost".to_owned(),
        Value::Array(elements) if elements.is_empty() => "empty arrays lost".to_owned(),
        _ => "members lost".to_owned(),
    }
}

fn type_of(value: &Value) -> &'static str {
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

    fn given(documents: &[&str]) -> HashMap<Key, Vec<u8>> {
        documents.iter().map(|d| (key_of(d.as_bytes()).unwrap(), d.as_bytes().to_vec())).collect()
    }

    fn one(before: &str, after: &str) -> ReadBack {
        compare(&given(&[before]), &[after.to_owned()])
    }

    #[test]
    fn equal_bytes_equal_values_and_changes_are_three_things() {
        let document = r#"{"time_us":1,"a":{"b":null},"c":[1,{}]}"#;
        assert_eq!(one(document, document).retains(), "bytes");
        let reordered = one(document, r#"{"a":{"b":null},"c":[1,{}],"time_us":1}"#);
        assert_eq!((reordered.retains(), reordered.equal_bytes), ("value", 0));
        let dropped = one(document, r#"{"time_us":1,"a":{},"c":[1,{}]}"#);
        assert_eq!(dropped.retains(), "changed");
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
            let got = one(before, after);
            assert_eq!(got.retains(), "changed", "{before} → {after}");
            assert!(got.changes.contains_key(kind), "{before} → {after}: {:?}", got.changes);
        }
    }

    #[test]
    fn documents_that_stay_away_are_counted() {
        let got =
            compare(&given(&[r#"{"time_us":1}"#, r#"{"time_us":2}"#]), &[r#"{"time_us":2}"#.to_owned()]);
        assert_eq!((got.retains(), got.compared, got.equal_bytes), ("changed", 2, 1));
        assert_eq!(got.changes["a document did not come back"], 1);
        assert_eq!(compare(&HashMap::new(), &[]).retains(), "unknown");
    }
}
