//! Compares documents without a key, read back by position: finds each returned document among the loaded
//! ones.

use std::collections::HashMap;

use serde_json::Value;

use super::{ReadBack, differences};

/// Compares the returned documents with the first loaded documents.
pub(super) fn compare(given: &[Vec<u8>], returned: &[String]) -> ReadBack {
    let mut result = ReadBack::default();
    // Indexes by bytes, by value, and by contained strings, which hardly any system changes.
    let (mut bytes, mut values, mut alike) =
        (PositionIndex::default(), PositionIndex::default(), PositionIndex::default());
    let parsed: Vec<Option<Value>> = given.iter().map(|line| serde_json::from_slice(line).ok()).collect();
    for (place, (line, value)) in given.iter().zip(&parsed).enumerate() {
        bytes.add(line.clone(), place);
        if let Some(value) = value {
            values.add(canonical(value), place);
            alike.add(strings(value), place);
        }
    }
    let mut is_taken = vec![false; given.len()];
    for text in returned {
        // A document beyond the searched ones cannot be judged.
        let back = serde_json::from_str::<Value>(text).ok();
        let found = bytes.find(text.as_bytes(), &mut is_taken).map(|_| DocumentMatch::Bytes).or_else(|| {
            let value = back.as_ref()?;
            let same = values.find(&canonical(value), &mut is_taken).map(|_| DocumentMatch::Value);
            same.or_else(|| alike.find(&strings(value), &mut is_taken).map(DocumentMatch::Changed))
        });
        match (found, back) {
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
            (Some(DocumentMatch::Changed(place)), Some(value)) => {
                result.compared += 1;
                let mut kinds = Vec::new();
                if let Some(Some(before)) = parsed.get(place) {
                    differences(before, &value, &mut kinds);
                    // Documents without strings have hardly anything else to identify them by.
                    match may_become(before, &value) {
                        true => result.recognised += 1,
                        false => result.strange += 1,
                    }
                }
                kinds.sort();
                kinds.dedup();
                for kind in kinds {
                    note(&mut result, &kind);
                }
            }
            // If the complete set was searched, the document was changed beyond recognition.
            _ if given.len() >= returned.len()
                && returned.len() < super::LOOKED_AT
                && given.len() < super::LOOKED_AT =>
            {
                result.compared += 1;
                result.strange += 1;
                note(&mut result, "text changed");
            }
            _ => result.strange += 1,
        }
    }
    result
}

/// Returns `true` if any of these lines can be the original of one of the returned documents.
pub(super) fn is_any_of(
    lines: impl Iterator<Item = std::io::Result<Vec<u8>>>,
    returned: &[String],
) -> std::io::Result<bool> {
    let parsed: Vec<Value> = returned.iter().filter_map(|text| serde_json::from_str(text).ok()).collect();
    let mut alike: HashMap<Vec<u8>, Vec<&Value>> = HashMap::new();
    for value in &parsed {
        alike.entry(strings(value)).or_default().push(value);
    }
    for line in lines {
        let Ok(before) = serde_json::from_slice::<Value>(&line?) else { continue };
        let candidates = alike.get(&strings(&before)).into_iter().flatten();
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

/// Positions of documents, grouped by a common feature.
#[derive(Default)]
struct PositionIndex(HashMap<Vec<u8>, Vec<usize>>);

impl PositionIndex {
    fn add(&mut self, key: Vec<u8>, place: usize) {
        self.0.entry(key).or_default().push(place);
    }

    /// Takes a position with this feature that is not taken yet and marks it as taken.
    fn find(&mut self, key: &[u8], is_taken: &mut [bool]) -> Option<usize> {
        let places = self.0.get_mut(key)?;
        while let Some(place) = places.pop() {
            if let Some(taken) = is_taken.get_mut(place).filter(|taken| !**taken) {
                *taken = true;
                return Some(place);
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
    fn collect<'v>(value: &'v Value, found: &mut Vec<&'v str>) {
        match value {
            Value::String(text) => found.push(text),
            Value::Array(elements) => elements.iter().for_each(|element| collect(element, found)),
            Value::Object(members) => members.values().for_each(|member| collect(member, found)),
            _ => {}
        }
    }
    let mut found = Vec::new();
    collect(value, &mut found);
    found.sort_unstable();
    found.join("\u{0}").into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(given: &[&str], returned: &[&str]) -> ReadBack {
        let given: Vec<Vec<u8>> = given.iter().map(|line| line.as_bytes().to_vec()).collect();
        compare(&given, &returned.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn documents_are_found_in_any_order() {
        let given = [r#"{"a":"x","b":1}"#, r#"{"a":"y","b":null}"#, r#"{"a":"x","b":1}"#];
        let mut back = given;
        back.reverse();
        assert_eq!(of(&given, &back).retains(), "bytes");
        let value = of(&given, &[r#"{"b": 1, "a": "x"}"#, given[1]]);
        assert_eq!((value.retains(), value.compared, value.equal_bytes), ("value", 2, 1));
        let changed = of(&given, &[given[0], r#"{"a":"y"}"#]);
        assert_eq!((changed.retains(), changed.changes.get("null members lost")), ("changed", Some(&1)));
        assert_eq!(of(&given, &[r#"{"a":"z"}"#]).retains(), "changed", "nothing of the kind was given");
        assert_eq!(of(&[given[0]], &[given[0], given[0]]).equal_bytes, 1, "each was given once");
    }

    #[test]
    fn values_that_are_no_objects_come_back_too() {
        assert_eq!(of(&["[1,2]", "3", "\"x\""], &["3", "\"x\"", "[1,2]"]).retains(), "bytes");
        assert_eq!(of(&["[1,2]"], &["[1, 2]"]).retains(), "value");
        assert_eq!(of(&[], &[]).retains(), "unknown");
    }

    #[test]
    fn what_is_none_of_the_documents_is_strange() {
        let back = |given: &[&str], returned: &[&str]| of(given, returned).is_strange();
        assert!(back(&[r#"{"a":1}"#, r#"{"a":2}"#], &["1", "1"]), "a partition's value for every document");
        assert!(back(&[r#"{"a":"x"}"#], &[r#"{"b":"y"}"#]) && back(&["3", "4"], &["5", "6"]));
        // Also true if only part of the set was searched.
        let many: Vec<String> = (0..super::super::LOOKED_AT).map(|n| format!(r#"{{"a":"{n}"}}"#)).collect();
        let many: Vec<&str> = many.iter().map(String::as_str).collect();
        assert!(back(&many, &["1"]) && back(&many, &[r#"{"a":"z"}"#]));
        for (given, returned) in [
            (r#"{"a":1}"#, r#"{"a":1}"#),
            (r#"{"a":1e2}"#, r#"{"a":100.0}"#),
            (r#"{"a":null}"#, "{}"),
            (r#"{"a":"x","b":1}"#, r#"{"b":"x"}"#),
            ("3", "3.0"),
            ("[1,2]", "[1.0,2.0]"),
        ] {
            assert!(!back(&[given, r#"{"z":"z"}"#], &[returned, "1"]), "{given}");
        }
        assert!(!back(&[], &[]) && !back(&["1"], &[]), "nothing came back, which says nothing");
    }

    #[test]
    fn documents_in_quite_another_order_are_looked_for_among_all() {
        let lines =
            || [r#"{"a":"x"}"#, "no json", r#"{"a":"y","b":1}"#].map(|line| Ok(line.as_bytes().to_vec()));
        let any = |returned: &str| is_any_of(lines().into_iter(), &[returned.to_owned()]).unwrap();
        assert!(any(r#"{"b":1.0,"a":"y"}"#));
        assert!(!any("1") && !any(r#"{"a":"z"}"#) && !any(r#"{"c":"x"}"#));
    }
}
