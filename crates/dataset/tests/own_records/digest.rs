//! The digest by value does not depend on the spelling of a document, and on nothing else.

use jsonathlon_dataset::records::{AnswerFault, PathSegment};
use jsonathlon_dataset::value_digest::{
    CapturePlan, CapturedKind, ValueDigester, integer_value_hash, number_text_hash, text_value_hash,
};
use proptest::prelude::*;
use serde_json::{Map, Value, json};

fn digest(text: &str) -> u64 {
    ValueDigester::new().digest(text.as_bytes(), &CapturePlan::default()).unwrap()
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        (-1000_i32..1000).prop_map(|number| Value::from(f64::from(number) / 8.0)),
        any::<f64>().prop_filter_map("finite", |number| number.is_finite().then(|| Value::from(number))),
        any::<String>().prop_map(Value::from),
        "[a-z\"\\\\/\u{1}\n]{0,6}".prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 60, 30, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::btree_map(any::<String>(), inner, 0..30)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

/// Numbers drawn from a seed.
struct Draw(u64);

impl Draw {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) as usize) % bound.max(1)
    }

    fn space(&mut self) -> &'static str {
        ["", "", " ", "\t\n"][self.below(4)]
    }
}

/// Writes a value in one of its many spellings.
fn spell(value: &Value, draw: &mut Draw) -> String {
    let text = match value {
        Value::String(text) => spell_text(text, draw),
        Value::Number(number) if number.is_f64() => {
            let text = number.to_string();
            match draw.below(3) {
                0 if text.contains('.') && !text.contains(['e', 'E']) => format!("{text}00"),
                1 if !text.contains(['e', 'E']) => format!("{text}E+0"),
                _ => text,
            }
        }
        Value::Number(number) => match draw.below(4) {
            0 => format!("{number}.0"),
            1 => format!("{number}e0"),
            2 => format!("{number}00e-2"),
            _ => number.to_string(),
        },
        Value::Array(elements) => {
            let elements: Vec<String> = elements.iter().map(|element| spell(element, draw)).collect();
            format!("[{}]", elements.join(","))
        }
        Value::Object(members) => {
            let mut texts: Vec<String> = Vec::new();
            for (name, member) in members {
                let name = spell_text(name, draw);
                if draw.below(5) == 0 {
                    // An earlier member of the same name does not count.
                    texts.insert(0, format!("{name}:[0,\"earlier\"]"));
                }
                let member = format!("{}{name}{}:{}", draw.space(), draw.space(), spell(member, draw));
                texts.push(member);
            }
            let earlier = texts.iter().filter(|text| text.ends_with(":[0,\"earlier\"]")).count();
            for index in earlier..texts.len() {
                let other = earlier + draw.below(texts.len() - earlier);
                texts.swap(index, other);
            }
            format!("{{{}}}", texts.join(","))
        }
        other => other.to_string(),
    };
    format!("{}{text}{}", draw.space(), draw.space())
}

fn spell_text(text: &str, draw: &mut Draw) -> String {
    let mut spelt = String::from("\"");
    for character in text.chars() {
        let must = character < ' ' || matches!(character, '"' | '\\');
        if must || draw.below(4) == 0 {
            let mut units = [0; 2];
            for unit in character.encode_utf16(&mut units) {
                spelt.push_str(&format!("\\u{unit:04x}"));
            }
        } else {
            spelt.push(character);
        }
    }
    spelt + "\""
}

/// Changes the value at a position, counted through the whole document. Returns the remaining distance.
fn change(value: &mut Value, mut distance: usize) -> Option<usize> {
    if distance == 0 {
        *value = match value.take() {
            Value::Null => json!(false),
            Value::Bool(truth) => json!(!truth),
            Value::Number(number) => match number.as_i64() {
                Some(number) => json!(number.wrapping_add(1)),
                None => json!([number]),
            },
            Value::String(text) => json!(format!("{text}x")),
            Value::Array(mut elements) => {
                elements.push(Value::Null);
                Value::Array(elements)
            }
            Value::Object(members) => {
                let renamed: Map<String, Value> =
                    members.into_iter().map(|(name, member)| (name + "x", member)).collect();
                if renamed.is_empty() { json!([]) } else { Value::Object(renamed) }
            }
        };
        return None;
    }
    distance -= 1;
    let children: Vec<&mut Value> = match value {
        Value::Array(elements) => elements.iter_mut().collect(),
        Value::Object(members) => members.values_mut().collect(),
        _ => Vec::new(),
    };
    for child in children {
        distance = change(child, distance)?;
    }
    Some(distance)
}

proptest! {
    #[test]
    fn spelling_does_not_matter(value in value(), seed: u64) {
        let text = spell(&value, &mut Draw(seed));
        prop_assert_eq!(digest(&text), digest(&value.to_string()), "{}", text);
    }

    #[test]
    fn any_change_of_a_value_matters(value in value(), at in 0_usize..40, seed: u64) {
        let mut changed = value.clone();
        if change(&mut changed, at).is_some() {
            change(&mut changed, 0);
        }
        prop_assert_ne!(digest(&value.to_string()), digest(&spell(&changed, &mut Draw(seed))));
    }

    #[test]
    fn no_text_is_accepted_that_is_not_json(value in value(), cut in 0.0..1.0) {
        let text = value.to_string();
        let mut end = (text.len() as f64 * cut) as usize;
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        let text = &text[..end];
        let digested = ValueDigester::new().digest(text.as_bytes(), &CapturePlan::default());
        prop_assert_eq!(digested.is_ok(), serde_json::from_str::<Value>(text).is_ok(), "{}", text);
    }
}

#[test]
fn large_objects_are_as_small_ones() {
    let member = |index: usize| format!("\"m{index}\":{index}");
    let forward: Vec<String> = (0..500).map(member).collect();
    let mut backward: Vec<String> = (0..500).rev().map(member).collect();
    let object = |members: &[String]| format!("{{{}}}", members.join(","));
    assert_eq!(digest(&object(&forward)), digest(&object(&backward)));
    backward.insert(0, "\"m7\":null".to_owned());
    assert_eq!(digest(&object(&forward)), digest(&object(&backward)));
    backward.push("\"m7\":null".to_owned());
    assert_ne!(digest(&object(&forward)), digest(&object(&backward)));
}

#[test]
fn deep_documents_take_no_stack() {
    let deep = |levels: usize| "[".repeat(levels) + &"]".repeat(levels);
    assert_ne!(digest(&deep(100_000)), digest(&deep(99_999)));
    let error = ValueDigester::new().digest(deep(100_001).as_bytes(), &CapturePlan::default()).unwrap_err();
    assert_eq!(error.fault, AnswerFault::Type);
}

#[test]
fn values_are_captured_and_left_out() {
    let member = |name: &str| PathSegment::Member(name.to_owned());
    let mut plan = CapturePlan::default();
    let left_out = plan.add(&[member("a"), PathSegment::Element(1), member("")], true).unwrap();
    let kept = plan.add(&[member("b.c")], false).unwrap();
    assert_eq!(plan.add(&[], true), None);
    let mut digester = ValueDigester::new();
    let mut run = |text: &str| {
        let digest = digester.digest(text.as_bytes(), &plan).unwrap();
        (digest, digester.captured().to_vec())
    };
    let text = r#"{"a":[0,{"":"x\u0041"}],"b.c":-12}"#;
    let (first, captured) = run(text);
    assert_eq!(captured[left_out].text(text.as_bytes()).unwrap(), b"xA".as_slice());
    assert_eq!(captured[left_out].hash, text_value_hash(b"xA"));
    assert_eq!(captured[kept].integer(text.as_bytes()), Some(-12));
    assert_eq!(captured[kept].hash, integer_value_hash(-12));
    assert_eq!(number_text_hash("-1.2e1"), Some(integer_value_hash(-12)));
    assert_eq!(number_text_hash("12x"), None);
    // Another value, a container, and no value at all at the path that is left out.
    for other in
        [r#"{"a":[0,{"":null}],"b.c":-12}"#, r#"{"a":[0,{"":[{}]}],"b.c":-12}"#, r#"{"a":[0,{}],"b.c":-12}"#]
    {
        assert_eq!(run(other).0, first, "{other}");
    }
    assert_ne!(run(r#"{"a":[{"":"x"},0],"b.c":-12}"#).0, first);
    let (other, captured) = run(r#"{"a":{"1":{"":"x"}},"b.c":[7],"b.c":[8]}"#);
    assert_ne!(other, first);
    assert_eq!(captured[left_out].kind, CapturedKind::Absent);
    assert_eq!((captured[kept].kind, captured[kept].count), (CapturedKind::Container, 2));
    assert_eq!(captured[kept].hash, digest("[8]"));
}
