//! Tests that documents have the documented properties and are accepted in any equivalent form.

use std::collections::{HashMap, HashSet};

use jsonathlon_dataset::records::{
    Kind, MAX_DOCUMENT_BYTES, MIN_DOCUMENT_BYTES, RECORDS_PER_GROUP, RECORDS_VERSION, RecordSet, Records,
    Scratch, SeenVersions, Values, WriteScope,
};
use proptest::prelude::*;
use serde_json::Value;

use crate::common::{KINDS, document, records, rewrite, set, sets, value};

fn parsed(text: &[u8]) -> Value {
    serde_json::from_slice(text).unwrap()
}

/// Collects all strings of a value, in order.
fn strings<'a>(value: &'a Value, found: &mut Vec<&'a str>) {
    match value {
        Value::String(text) => found.push(text),
        Value::Array(elements) => elements.iter().for_each(|element| strings(element, found)),
        Value::Object(members) => members.values().for_each(|member| strings(member, found)),
        _ => {}
    }
}

#[test]
fn every_document_checks() {
    let mut scratch = Scratch::new();
    for set in sets() {
        for number in (0..50).chain([1 << 40, (1 << 63) - 1]) {
            for version in [0, 1, 0xabcd_ef01] {
                let text = document(&set, number, version);
                assert!(parsed(&text).is_object());
                let seen = set.check(number, &text, WriteScope::Nothing, &mut scratch);
                assert_eq!(
                    seen,
                    Ok(SeenVersions { version: None, base: Some(version) }),
                    "{:?}",
                    set.records()
                );
                let all = set.check(number, &text, WriteScope::All, &mut scratch).unwrap();
                assert_eq!(all, SeenVersions { version: Some(version), base: None });
                let path = set.check(number, &text, WriteScope::Path(0), &mut scratch).unwrap();
                assert_eq!(path, SeenVersions { version: Some(version), base: Some(version) });
                assert!(text.len() <= set.max_document_bytes());
            }
        }
    }
}

#[test]
fn documents_have_their_shapes() {
    let flat = parsed(&document(&set(Kind::Flat, Values::Text), 7, 0x2a));
    let fields = flat.as_object().unwrap();
    assert_eq!(fields.len(), 10);
    for place in 0..10 {
        let value = fields[&format!("field{place}")].as_str().unwrap();
        assert_eq!((value.len(), &value[..8]), (100, "0000002a"));
    }
    let large = parsed(&document(&set(Kind::Large, Values::Random), 7, 0));
    assert_eq!(large.as_object().unwrap().len(), 100);
    assert!(large.as_object().unwrap().values().all(|value| value.as_str().unwrap().len() == 200));

    let nested_set = set(Kind::Nested, Values::Text);
    let nested = parsed(&document(&nested_set, 7, 0));
    let mut found = Vec::new();
    strings(&nested, &mut found);
    assert_eq!((found.len(), nested_set.paths().len()), (88, 88));
    assert!(found.iter().all(|value| value.len() == 100));
    let objects = |value: &Value| -> Vec<Value> {
        value.as_object().unwrap().values().filter(|member| member.is_object()).cloned().collect()
    };
    let top = objects(&nested);
    let middle: Vec<Value> = top.iter().flat_map(objects).collect();
    let leaves: Vec<Value> = middle.iter().flat_map(objects).collect();
    assert_eq!((top.len(), middle.len(), leaves.len()), (4, 8, 16));
    assert_eq!(nested.as_object().unwrap().len(), 4);
    assert!(top.iter().chain(&middle).all(|object| object.as_object().unwrap().len() == 4));
    assert!(leaves.iter().all(|object| object.as_object().unwrap().len() == 4 && objects(object).is_empty()));

    let items = parsed(&document(&set(Kind::Items { members: 5 }, Values::Text), 7, 0));
    let list = items["list"].as_array().unwrap();
    assert_eq!((list.len(), items["map"].as_object().unwrap().len()), (5, 5));
    for (place, element) in (1..).zip(list) {
        assert_eq!(element["id"].as_u64(), Some(place));
        assert!(element["status"].is_boolean() && element["value"].is_string());
        assert!(items["map"][format!("item{place}")]["status"].is_boolean());
    }
}

#[test]
fn paths_name_the_values() {
    for set in sets() {
        let tree = parsed(&document(&set, 3, 9));
        for (place, path) in set.paths().iter().enumerate() {
            let pointer = format!("/{}", path.to_string().replace('.', "/"));
            let expected = String::from_utf8(value(&set, 3, place, 9)).unwrap();
            assert_eq!(tree.pointer(&pointer).unwrap().as_str(), Some(expected.as_str()), "{path}");
            assert_eq!(set.path(&path.to_string()), Some(place));
            assert!(expected.len() <= path.max_value_length());
        }
    }
    let names = |kind| {
        let set = set(kind, Values::Text);
        [0, set.paths().len() - 1].map(|place| set.paths()[place].to_string())
    };
    assert_eq!(names(Kind::Flat), ["field0", "field9"]);
    assert_eq!(names(Kind::Nested), ["object0.value0", "object3.object1.object1.value3"]);
    assert_eq!(names(Kind::Items { members: 3 }), ["list.0.value", "map.item3.value"]);
}

#[test]
fn sizes_are_exact_to_the_byte() {
    let sizes =
        (500..3_000).step_by(7).chain((500..=64_000).step_by(250)).chain([MIN_DOCUMENT_BYTES, 1 << 20]);
    for bytes in sizes {
        for values in [Values::Text, Values::Random] {
            let set = set(Kind::Size { bytes }, values);
            for number in 0..3 {
                assert_eq!(document(&set, number, number as u32).len(), bytes as usize);
            }
        }
    }
    for bytes in [0, MIN_DOCUMENT_BYTES - 1, MAX_DOCUMENT_BYTES + 1] {
        let error = records(Kind::Size { bytes }, Values::Text).prepare().unwrap_err().to_string();
        assert_eq!(
            error,
            format!("documents of {bytes} bytes; {MIN_DOCUMENT_BYTES} to {MAX_DOCUMENT_BYTES} can be made")
        );
    }
    assert!(records(Kind::Items { members: 0 }, Values::Text).prepare().is_err());
}

#[test]
fn a_size_is_kept_by_updates_of_one_value() {
    let set = set(Kind::Size { bytes: 700 }, Values::Random);
    let mut tree = parsed(&document(&set, 5, 0));
    for version in 1..200 {
        tree["field0"] = Value::String(String::from_utf8(value(&set, 5, 0, version)).unwrap());
        assert_eq!(tree.to_string().len(), 700);
    }
}

#[test]
fn keys_stand_in_documents_where_they_should() {
    let plain = records(Kind::Flat, Values::Text);
    let keyed = Records { key_member: Some("_id".to_owned()), ..plain.clone() };
    let (plain, keyed) = (plain.prepare().unwrap(), keyed.prepare().unwrap());
    let mut text = Vec::new();
    plain.keyed_document("_id", 12, 3, &mut text);
    assert_eq!(text, document(&keyed, 12, 3));
    assert!(text.starts_with(b"{\"_id\":\"user"));
    // A set with a key member does not get a second one.
    let mut again = Vec::new();
    keyed.keyed_document("other", 12, 3, &mut again);
    assert_eq!(again, text);
    let mut scratch = Scratch::new();
    assert!(plain.check(12, &text, WriteScope::Nothing, &mut scratch).is_err());
    assert!(keyed.check(12, &document(&plain, 12, 3), WriteScope::Nothing, &mut scratch).is_err());
    for name in ["field3", "", "a\"b", "a\nb"] {
        let wrong = Records { key_member: Some(name.to_owned()), ..plain.records().clone() };
        assert!(wrong.prepare().is_err(), "{name:?}");
    }
}

/// Compression ratios of zstd: with a small window, like the pages of engines, and with the widest window.
fn compressed(text: &[u8]) -> (f64, f64) {
    let quick = zstd::bulk::compress(text, 1).unwrap().len();
    let mut wide = zstd::bulk::Compressor::new(19).unwrap();
    wide.long_distance_matching(true).unwrap();
    wide.window_log(27).unwrap();
    let wide = wide.compress(text).unwrap().len();
    (text.len() as f64 / quick as f64, text.len() as f64 / wide as f64)
}

#[test]
fn text_compresses_as_text_and_random_characters_hardly() {
    let all = |values| {
        let set = set(Kind::Large, values);
        let mut text = Vec::new();
        (0..200).for_each(|number| set.document(number, 0, &mut text));
        compressed(&text)
    };
    let (quick, wide) = all(Values::Text);
    assert!((1.8..3.2).contains(&quick) && (2.5..4.5).contains(&wide), "{quick} {wide}");
    let (quick, wide) = all(Values::Random);
    assert!(quick < 1.35 && wide < 1.35, "{quick} {wide}");
}

#[test]
fn random_values_hold_all_printable_characters() {
    let set = set(Kind::Large, Values::Random);
    let mut counts = HashMap::new();
    for path in 0..100 {
        value(&set, 1, path, 0)[8..].iter().for_each(|byte| *counts.entry(*byte).or_insert(0) += 1);
    }
    assert_eq!(counts.len(), 95);
    assert!(counts.keys().all(|byte| (0x20..=0x7e).contains(byte)));
    assert!(counts[&b'"'] > 50 && counts[&b'\\'] > 50);
}

#[test]
fn values_differ_by_record_path_version_and_seed() {
    let set = set(Kind::Flat, Values::Text);
    let other = Records { seed: 2, ..set.records().clone() }.prepare().unwrap();
    let mut seen = HashSet::new();
    for set in [&set, &other] {
        for number in 0..20 {
            for path in 0..9 {
                for version in 0..20 {
                    assert!(seen.insert(value(set, number, path, version)[8..].to_vec()));
                }
            }
        }
    }
}

#[test]
fn groups_share_one_value() {
    for kind in KINDS {
        let set = set(kind, Values::Text);
        let path = set.group_path();
        let loaded = 2_345;
        let mut groups: HashMap<Vec<u8>, Vec<u64>> = HashMap::new();
        for number in 0..loaded {
            groups.entry(value(&set, number, path, 0)).or_default().push(number);
        }
        for numbers in groups.values() {
            let group = set.group(numbers[0]);
            let members = set.members(group).into_iter().filter(|member| *member < loaded);
            assert!(members.eq(numbers.iter().copied()));
            assert_eq!(set.group_size(group, loaded), numbers.len() as u64);
        }
        let whole = groups.values().filter(|numbers| numbers.len() as u64 == RECORDS_PER_GROUP).count();
        assert!(whole >= 200);
        // Records of one group are not stored next to each other.
        let near =
            groups.values().flat_map(|numbers| numbers.windows(2)).filter(|pair| pair[1] - pair[0] < 8);
        assert!(near.count() < 60);
    }
}

/// Any change of a document's bytes requires a new RECORDS_VERSION.
#[test]
fn documents_stay_what_they_are() {
    let digest = |set: &RecordSet| {
        let mut hash = 0xcbf2_9ce4_8422_2325_u64;
        for number in 0..20 {
            for byte in document(set, number, number as u32) {
                hash = (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3);
            }
        }
        hash
    };
    let digests: Vec<String> = KINDS
        .into_iter()
        .flat_map(|kind| [Values::Text, Values::Random].map(|values| set(kind.clone(), values)))
        .map(|set| format!("{:016x}", digest(&set)))
        .collect();
    assert_eq!(RECORDS_VERSION, 1);
    assert_eq!(digests, EXPECTED);
}

const EXPECTED: [&str; 12] = [
    "b1d734fc1e62f811",
    "3dff6040a9869333",
    "d43e8dc76cb26eba",
    "b2099fac3c1f8161",
    "c63f5e7e7f9add42",
    "4256d99335dd4013",
    "96ed4305f8111d10",
    "7ff2498375493c35",
    "8c1bc06383fb82a8",
    "d91bab4242425b05",
    "84e7cbd66c32560d",
    "55fabbeaf4dc165f",
];

proptest! {
    #[test]
    fn rewritten_documents_pass(
        which in 0_usize..36,
        number in 0_u64..1 << 62,
        version in any::<u32>(),
        turn in 0_usize..9,
        blank in "[ \t\r\n]{0,3}",
        escaped in 0_usize..12,
    ) {
        let sets = sets();
        let set = &sets[which];
        let mut text = String::new();
        rewrite(&parsed(&document(set, number, version)), turn, &blank, escaped, &mut text);
        let seen = set.check(number, text.as_bytes(), WriteScope::Nothing, &mut Scratch::new());
        prop_assert_eq!(seen, Ok(SeenVersions { version: None, base: Some(version) }), "{}", text);
    }

    #[test]
    fn members_may_come_in_any_order(which in 0_usize..36, order in Just((0_usize..101).collect::<Vec<_>>()).prop_shuffle()) {
        let sets = sets();
        let set = &sets[which];
        let tree = parsed(&document(set, 4, 0));
        let members = tree.as_object().unwrap();
        let names: Vec<&String> = members.keys().collect();
        let shuffled: Vec<String> = order
            .iter()
            .filter_map(|place| names.get(*place))
            .map(|name| format!("\"{name}\":{}", members[*name]))
            .collect();
        let text = format!("{{{}}}", shuffled.join(","));
        prop_assert!(set.check(4, text.as_bytes(), WriteScope::Nothing, &mut Scratch::new()).is_ok());
    }
}
