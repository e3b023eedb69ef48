//! Compares documents without a key, read back by position: finds each returned document among the loaded
//! ones.

use std::collections::HashMap;

use serde_json::Value;

use super::{ReadBack, differences};

/// Compares the returned documents with the first loaded documents.
pub(super) fn compare(originals: &[Vec<u8>], returned: &[String]) -> ReadBack {
    let mut result = ReadBack::default();
    let parsed: Vec<Option<Value>> = originals.iter().map(|line| serde_json::from_slice(line).ok()).collect();
    let mut positions = LoadedPositions::new(originals, &parsed);
    for text in returned {
        // A document beyond the searched ones cannot be judged.
        let returned_value = serde_json::from_str::<Value>(text).ok();
        let document_match = positions.find(text, returned_value.as_ref());
        match (document_match, returned_value) {
            (Some(DocumentMatch::Bytes), _) => {
                result.recognised += 1;
                result.compared += 1;
                result.equal_bytes += 1;
                result.equal_value += 1;
            }
            (Some(DocumentMatch::Value), _) => {
                result.recognised += 1;
                result.compared += 1;
                result.equal_value += 1;
                note(&mut result, "white space, member order or escapes");
            }
            (Some(DocumentMatch::Changed(index)), Some(value)) => {
                result.compared += 1;
                let mut kinds = Vec::new();
                if let Some(Some(before)) = parsed.get(index) {
                    differences(before, &value, &mut kinds);
                    // Documents without strings have hardly anything else to identify them by.
                    match may_become(before, &value) {
                        true => result.recognised += 1,
                        false => result.foreign += 1,
                    }
                }
                kinds.sort();
                kinds.dedup();
                for kind in kinds {
                    note(&mut result, &kind);
                }
            }
            // If the complete set was searched, the document was changed beyond recognition.
            _ if originals.len() >= returned.len()
                && returned.len() < super::SEARCHED_DOCUMENTS
                && originals.len() < super::SEARCHED_DOCUMENTS =>
            {
                result.compared += 1;
                result.foreign += 1;
                note(&mut result, "text changed");
            }
            _ => result.foreign += 1,
        }
    }
    result
}

/// Returns `true` if any of these lines can be the original of one of the returned documents.
pub(super) fn has_original(
    lines: impl Iterator<Item = std::io::Result<Vec<u8>>>,
    returned: &[String],
) -> std::io::Result<bool> {
    let parsed: Vec<Value> = returned.iter().filter_map(|text| serde_json::from_str(text).ok()).collect();
    let mut by_strings: HashMap<Vec<u8>, Vec<&Value>> = HashMap::new();
    for value in &parsed {
        by_strings.entry(strings(value)).or_default().push(value);
    }
    for line in lines {
        let Ok(before) = serde_json::from_slice::<Value>(&line?) else { continue };
        let candidates = by_strings.get(&strings(&before)).into_iter().flatten();
        if candidates.into_iter().any(|value| may_become(&before, value)) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Returns `true` if one document may have become the other: both have the same JSON type, and two non-empty
/// objects have at least one member name in common. Numbers must be equal.
fn may_become(before: &Value, after: &Value) -> bool {
    match (before, after) {
        (Value::Object(before), Value::Object(after)) => {
            before.is_empty() || after.is_empty() || before.keys().any(|name| after.contains_key(name))
        }
        (Value::Number(before), Value::Number(after)) => before.as_f64() == after.as_f64(),
        _ => std::mem::discriminant(before) == std::mem::discriminant(after),
    }
}

enum DocumentMatch {
    Bytes,
    Value,
    Changed(usize),
}

fn note(result: &mut ReadBack, kind: &str) {
    *result.changes.entry(kind.to_owned()).or_insert(0) += 1;
}

/// Positions of the loaded documents by several features, and which of them are taken.
struct LoadedPositions {
    by_bytes: PositionIndex,
    /// By value regardless of member order.
    by_value: PositionIndex,
    /// By contained strings, which hardly any system changes.
    by_strings: PositionIndex,
    is_taken: Vec<bool>,
}

impl LoadedPositions {
    /// Indexes the loaded documents; `parsed` has their values, `None` for those that are not JSON.
    fn new(originals: &[Vec<u8>], parsed: &[Option<Value>]) -> Self {
        let (mut by_bytes, mut by_value, mut by_strings) =
            (PositionIndex::default(), PositionIndex::default(), PositionIndex::default());
        for (index, (line, value)) in originals.iter().zip(parsed).enumerate() {
            by_bytes.add(line.clone(), index);
            if let Some(value) = value {
                by_value.add(canonical(value), index);
                by_strings.add(strings(value), index);
            }
        }
        Self { by_bytes, by_value, by_strings, is_taken: vec![false; originals.len()] }
    }

    /// Takes the loaded document that comes closest to the returned one; `value` is its value if it is JSON.
    fn find(&mut self, text: &str, value: Option<&Value>) -> Option<DocumentMatch> {
        if self.by_bytes.find(text.as_bytes(), &mut self.is_taken).is_some() {
            return Some(DocumentMatch::Bytes);
        }
        let value = value?;
        if self.by_value.find(&canonical(value), &mut self.is_taken).is_some() {
            return Some(DocumentMatch::Value);
        }
        self.by_strings.find(&strings(value), &mut self.is_taken).map(DocumentMatch::Changed)
    }
}

/// Positions of documents, grouped by a common feature.
#[derive(Default)]
struct PositionIndex(HashMap<Vec<u8>, Vec<usize>>);

impl PositionIndex {
    fn add(&mut self, key: Vec<u8>, position: usize) {
        self.0.entry(key).or_default().push(position);
    }

    /// Takes a position with this feature that is not taken yet and marks it as taken.
    fn find(&mut self, key: &[u8], is_taken: &mut [bool]) -> Option<usize> {
        let positions = self.0.get_mut(key)?;
        while let Some(position) = positions.pop() {
            if let Some(taken) = is_taken.get_mut(position).filter(|taken| !**taken) {
                *taken = true;
                return Some(position);
            }
        }
        None
    }
}

/// Text that is equal for two values exactly if they are equal regardless of member order.
fn canonical(value: &Value) -> Vec<u8> {
    let mut text = Vec::new();
    write(value, &mut text);
    text
}

fn write(value: &Value, text: &mut Vec<u8>) {
    match value {
        Value::Object(members) => {
            let mut sorted: Vec<_> = members.iter().collect();
            sorted.sort_by_key(|(name, _)| *name);
            text.push(b'{');
            for (name, value) in sorted {
                text.extend(Value::from(name.as_str()).to_string().bytes());
                text.push(b':');
                write(value, text);
                text.push(b',');
            }
            text.push(b'}');
        }
        Value::Array(elements) => {
            text.push(b'[');
            for element in elements {
                write(element, text);
                text.push(b',');
            }
            text.push(b']');
        }
        scalar => text.extend(scalar.to_string().bytes()),
    }
}

/// All strings of a document, sorted and joined.
fn strings(value: &Value) -> Vec<u8> {
    fn collect<'v>(value: &'v Value, texts: &mut Vec<&'v str>) {
        match value {
            Value::String(text) => texts.push(text),
            Value::Array(elements) => elements.iter().for_each(|element| collect(element, texts)),
            Value::Object(members) => members.values().for_each(|member| collect(member, texts)),
            _ => {}
        }
    }
    let mut texts = Vec::new();
    collect(value, &mut texts);
    texts.sort_unstable();
    texts.join("\u{0}").into_bytes()
}

#[cfg(test)]
mod tests {
    use jsonathlon_schema::record::RoundTripOutcome;

    use super::*;

    fn compare_texts(originals: &[&str], returned: &[&str]) -> ReadBack {
        let originals: Vec<Vec<u8>> = originals.iter().map(|line| line.as_bytes().to_vec()).collect();
        compare(&originals, &returned.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn documents_are_found_in_any_order() {
        let originals = [r#"{"a":"x","b":1}"#, r#"{"a":"y","b":null}"#, r#"{"a":"x","b":1}"#];
        let mut reversed = originals;
        reversed.reverse();
        assert_eq!(compare_texts(&originals, &reversed).retains(), RoundTripOutcome::Bytes);
        let reformatted = compare_texts(&originals, &[r#"{"b": 1, "a": "x"}"#, originals[1]]);
        assert_eq!(reformatted.retains(), RoundTripOutcome::Value);
        assert_eq!((reformatted.compared, reformatted.equal_bytes), (2, 1));
        let changed = compare_texts(&originals, &[originals[0], r#"{"a":"y"}"#]);
        assert_eq!(changed.retains(), RoundTripOutcome::Changed);
        assert_eq!(changed.changes.get("null members lost"), Some(&1));
        let unknown = compare_texts(&originals, &[r#"{"a":"z"}"#]);
        assert_eq!(unknown.retains(), RoundTripOutcome::Changed, "nothing of the kind was given");
        let repeated = compare_texts(&[originals[0]], &[originals[0], originals[0]]);
        assert_eq!(repeated.equal_bytes, 1, "each was given once");
    }

    #[test]
    fn values_that_are_no_objects_come_back_too() {
        let reversed = compare_texts(&["[1,2]", "3", "\"x\""], &["3", "\"x\"", "[1,2]"]);
        assert_eq!(reversed.retains(), RoundTripOutcome::Bytes);
        assert_eq!(compare_texts(&["[1,2]"], &["[1, 2]"]).retains(), RoundTripOutcome::Value);
        assert_eq!(compare_texts(&[], &[]).retains(), RoundTripOutcome::Unknown);
    }

    #[test]
    fn what_is_none_of_the_documents_is_strange() {
        let is_foreign =
            |originals: &[&str], returned: &[&str]| compare_texts(originals, returned).is_foreign();
        assert!(
            is_foreign(&[r#"{"a":1}"#, r#"{"a":2}"#], &["1", "1"]),
            "a partition's value for every document"
        );
        assert!(is_foreign(&[r#"{"a":"x"}"#], &[r#"{"b":"y"}"#]) && is_foreign(&["3", "4"], &["5", "6"]));
        // Also true if only part of the set was searched.
        let documents: Vec<String> =
            (0..super::super::SEARCHED_DOCUMENTS).map(|n| format!(r#"{{"a":"{n}"}}"#)).collect();
        let documents: Vec<&str> = documents.iter().map(String::as_str).collect();
        assert!(is_foreign(&documents, &["1"]) && is_foreign(&documents, &[r#"{"a":"z"}"#]));
        for (original, returned) in [
            (r#"{"a":1}"#, r#"{"a":1}"#),
            (r#"{"a":1e2}"#, r#"{"a":100.0}"#),
            (r#"{"a":null}"#, "{}"),
            (r#"{"a":"x","b":1}"#, r#"{"b":"x"}"#),
            ("3", "3.0"),
            ("[1,2]", "[1.0,2.0]"),
        ] {
            assert!(!is_foreign(&[original, r#"{"z":"z"}"#], &[returned, "1"]), "{original}");
        }
        assert!(!is_foreign(&[], &[]) && !is_foreign(&["1"], &[]), "nothing came back, which says nothing");
    }

    #[test]
    fn documents_in_quite_another_order_are_looked_for_among_all() {
        let lines =
            || [r#"{"a":"x"}"#, "no json", r#"{"a":"y","b":1}"#].map(|line| Ok(line.as_bytes().to_vec()));
        let is_found = |returned: &str| has_original(lines().into_iter(), &[returned.to_owned()]).unwrap();
        assert!(is_found(r#"{"b":1.0,"a":"y"}"#));
        assert!(!is_found("1") && !is_found(r#"{"a":"z"}"#) && !is_found(r#"{"c":"x"}"#));
    }
}
