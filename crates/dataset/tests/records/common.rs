//! Record sets for tests, and rewriting of JSON texts with equal meaning.

use jsonathlon_dataset::records::{KeyOrder, KeyType, Kind, RecordSet, Records, Values};
use serde_json::Value;

pub(crate) fn records(kind: Kind, values: Values) -> Records {
    Records { kind, values, ..Records::flat(1) }
}

pub(crate) fn set(kind: Kind, values: Values) -> RecordSet {
    records(kind, values).prepare().unwrap()
}

pub(crate) const KINDS: [Kind; 6] = [
    Kind::Flat,
    Kind::Large,
    Kind::Nested,
    Kind::Size { bytes: 500 },
    Kind::Size { bytes: 4_003 },
    Kind::Items { members: 7 },
];

/// One set of each kind and both sorts of values, each without and with the key inside the documents.
pub(crate) fn sets() -> Vec<RecordSet> {
    let mut sets = Vec::new();
    for kind in KINDS {
        for values in [Values::Text, Values::Random] {
            let plain = records(kind.clone(), values);
            let keyed = Records { key_member: Some("_id".to_owned()), ..plain.clone() };
            let numbered = Records {
                key_member: Some("id".to_owned()),
                key_type: KeyType::Bigint,
                key_order: KeyOrder::Ordered,
                ..plain.clone()
            };
            sets.extend([plain, keyed, numbered].map(|records| records.prepare().unwrap()));
        }
    }
    sets
}

pub(crate) fn document(set: &RecordSet, number: u64, version: u32) -> Vec<u8> {
    let mut text = Vec::new();
    set.document(number, version, &mut text);
    text
}

pub(crate) fn value(set: &RecordSet, number: u64, path: usize, version: u32) -> Vec<u8> {
    let mut text = Vec::new();
    set.value(number, path, version, &mut text);
    text
}

/// Writes a value as different JSON text: member order rotated or reversed by `turn`, white space `blank`
/// between all tokens, and every `escaped`-th character escaped needlessly.
pub(crate) fn rewrite(value: &Value, turn: usize, blank: &str, escaped: usize, out: &mut String) {
    let put = |text: &str, out: &mut String| {
        out.push('"');
        for (place, character) in text.chars().enumerate() {
            if escaped > 0 && place.is_multiple_of(escaped) {
                out.push_str(&format!("\\u{:04X}", u32::from(character)));
            } else if matches!(character, '"' | '\\') {
                out.extend(['\\', character]);
            } else if character == '/' && escaped > 0 {
                out.push_str("\\/");
            } else {
                out.push(character);
            }
        }
        out.push('"');
    };
    out.push_str(blank);
    match value {
        Value::String(text) => put(text, out),
        Value::Object(members) => {
            out.push('{');
            let mut names: Vec<&String> = members.keys().collect();
            let count = names.len().max(1);
            names.rotate_left(turn % count);
            if turn % 2 == 1 {
                names.reverse();
            }
            for (place, name) in names.into_iter().enumerate() {
                if place > 0 {
                    out.push(',');
                }
                out.push_str(blank);
                put(name, out);
                out.push_str(blank);
                out.push(':');
                rewrite(&members[name], turn, blank, escaped, out);
            }
            out.push('}');
        }
        Value::Array(elements) => {
            out.push('[');
            for (place, element) in elements.iter().enumerate() {
                if place > 0 {
                    out.push(',');
                }
                rewrite(element, turn, blank, escaped, out);
            }
            out.push(']');
        }
        other => out.push_str(&other.to_string()),
    }
    out.push_str(blank);
}
