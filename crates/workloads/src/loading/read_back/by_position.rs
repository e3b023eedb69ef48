//! Documents without a key, read back by their position: those that come back are looked for among those that were given.

use std::collections::HashMap;

use serde_json::Value;

use super::{ReadBack, differences};

/// Compares the documents that came back with the first of those that were given.
pub(super) fn compare(given: &[Vec<u8>], returned: &[String]) -> ReadBack {
    let mut result = ReadBack::default();
    // By bytes, by value, and by the strings in them, which hardly any system changes.
    let (mut bytes, mut values, mut alike) = (Places::default(), Places::default(), Places::default());
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
        // Nobody can say of a document beyond those that were looked at whether it was given.
        let back = serde_json::from_str::<Value>(text).ok();
        let found = bytes.find(text.as_bytes(), &mut is_taken).map(|_| Found::Bytes).or_else(|| {
            let value = back.as_ref()?;
            let same = values.find(&canonical(value), &mut is_taken).map(|_| Found::Value);
            same.or_else(|| alike.find(&strings(value), &mut is_taken).map(Found::Changed))
        });
        match (found, back) {
            (Some(Found::Bytes), _) => {
                result.compared += 1;
                result.equal_bytes += 1;
                result.equal_value += 1;
            }
            (Some(Found::Value), _) => {
                result.compared += 1;
                result.equal_value += 1;
                note(&mut result, "white space, member order or escapes");
            }
            (Some(Found::Changed(place)), Some(value)) => {
                result.compared += 1;
                let mut kinds = Vec::new();
                if let Some(Some(before)) = parsed.get(place) {
                    differences(before, &value, &mut kinds);
                }
                kinds.sort();
                kinds.dedup();
                for kind in kinds {
                    note(&mut result, &kind);
                }
            }
            // Of a set that was looked at whole, it was changed beyond recognition.
            _ if given.len() >= returned.len()
                && returned.len() < super::LOOKED_AT
                && given.len() < super::LOOKED_AT =>
            {
                result.compared += 1;
                note(&mut result, "text changed");
            }
            _ => {}
        }
    }
    result
}

enum Found {
    Bytes,
    Value,
    Changed(usize),
}

fn note(result: &mut ReadBack, kind: &str) {
    *result.changes.entry(kind.to_owned()).or_insert(0) += 1;
}

/// Places of documents by what they have in common.
#[derive(Default)]
struct Places(HashMap<Vec<u8>, Vec<usize>>);

impl Places {
    fn add(&mut self, key: Vec<u8>, place: usize) {
        self.0.entry(key).or_default().push(place);
    }

    /// A place that nobody has taken.
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

/// A text that two values share only where they are the same but for the order of members.
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

/// All strings of a document in order.
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
}
