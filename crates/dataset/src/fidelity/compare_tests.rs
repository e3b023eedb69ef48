use proptest::prelude::*;
use serde_json::{Value as Json, json};

use super::*;

fn kinds(given: &str, returned: &str) -> Vec<ChangeKind> {
    compare_document(given.as_bytes(), returned.as_bytes()).kinds().into_iter().collect()
}

#[test]
fn every_kind_of_change_is_told_by_its_name() {
    use ChangeKind::*;
    for (given, returned, expected) in [
        (r#"{"a":1}"#, r#"{"a": 1}"#, vec![WhiteSpace]),
        ("\u{feff}{}", "{}", vec![WhiteSpace]),
        (r#"{"b":1,"a":2}"#, r#"{"a":2,"b":1}"#, vec![KeyOrder]),
        ("[1.0]", "[1]", vec![NumberForm]),
        ("[-0]", "[0]", vec![NumberForm]),
        (r#"["\u0041"]"#, r#"["A"]"#, vec![Escapes]),
        (r#"{"\u0041":1}"#, r#"{"A":1}"#, vec![Escapes]),
        (r#"{"a":1,"a":2}"#, r#"{"a":2}"#, vec![DuplicateKeys]),
        (r#"{"a":1,"b":0,"a":2}"#, r#"{"b":0,"a":1}"#, vec![DuplicateKeys]),
        ("[9007199254740993]", "[9007199254740992]", vec![NumberValue]),
        (r#"["\ud800"]"#, "[\"\u{fffd}\"]", vec![Characters]),
        (r#"{"\ud800":7}"#, "{\"\u{fffd}\":7}", vec![Characters]),
        (r#"{"a":null,"b":1}"#, r#"{"b":1}"#, vec![NullMembers]),
        (r#"[1,null,2]"#, r#"[1,2]"#, vec![NullMembers]),
        (r#"{"a":{},"b":1}"#, r#"{"b":1}"#, vec![EmptyContainers]),
        (r#"{"a":{}}"#, r#"{"a":null}"#, vec![EmptyContainers]),
        (r#"{"a":[]}"#, r#"{"a":{}}"#, vec![EmptyContainers]),
        ("[1]", r#"["1"]"#, vec![Type]),
        ("[true]", "[1]", vec![Type]),
        (r#"["a\u0000b"]"#, r#"["a"]"#, vec![Truncation]),
        (r#"{"abc":7}"#, r#"{"a":7}"#, vec![Truncation]),
        (r#"{"a":1}"#, r#"{"a""#, vec![Truncation]),
        (r#"{"a":1,"b":2}"#, r#"{"a":1}"#, vec![Loss]),
        ("[1,2,3]", "[1,3]", vec![Loss]),
        ("[1]", "[1,2]", vec![Addition]),
        (r#"{"a":1}"#, r#"{"_id":9,"a":1}"#, vec![Addition]),
        ("[1,]", "[1]", vec![Repair]),
        ("{} x", "{}", vec![Truncation]),
        ("{'a':1}", "{'a':2}", vec![Characters]),
        ("[1]", "[nan]", vec![NotJson]),
        (
            r#"{"b":[1.0,{}],"a":"\u0041"}"#,
            r#"{"a": "A", "b": [1, {}]}"#,
            vec![WhiteSpace, KeyOrder, NumberForm, Escapes],
        ),
    ] {
        assert_eq!(kinds(given, returned), expected, "{given} → {returned}");
    }
}

#[test]
fn bytes_value_and_change_are_three_things() {
    assert_eq!(compare_document(b"{ }", b"{ }"), RoundTrip::Bytes);
    assert_eq!(compare_document(b"rubbish\xff", b"rubbish\xff"), RoundTrip::Bytes);
    assert!(matches!(compare_document(b"[1.50]", b"[1.5]"), RoundTrip::Value(_)));
    assert!(matches!(compare_document(b"[1.5]", b"[1.4]"), RoundTrip::Changed(_)));
    assert!(matches!(compare_document(b" {", b"{"), RoundTrip::Value(_)));
}

#[test]
fn an_extracted_value_is_compared_by_itself() {
    let document = br#"{"v":[1.0,"x"],"w":1,"w":2}"#;
    assert_eq!(compare_value(document, "v", b"[1.0, \"x\"]"), Some(RoundTrip::Value(BTreeSet::new())));
    assert_eq!(
        compare_value(document, "v", b"[1,\"y\"]").unwrap().kinds(),
        [ChangeKind::NumberForm, ChangeKind::Characters].into()
    );
    assert_eq!(compare_value(document, "w", b"2"), Some(RoundTrip::Value(BTreeSet::new())));
    assert_eq!(compare_value(document, "w", b"1").unwrap().kinds(), [ChangeKind::DuplicateKeys].into());
    assert_eq!(compare_value(document, "w", b"3").unwrap().kinds(), [ChangeKind::NumberValue].into());
    assert_eq!(compare_value(document, "x", b"3"), None);
    assert_eq!(compare_value(b"{", "x", b"3"), None);
    assert_eq!(
        compare_wrapped_value(document, "w", br#"{"w":1}"#).unwrap().kinds(),
        [ChangeKind::DuplicateKeys].into()
    );
    assert_eq!(compare_wrapped_value(document, "w", br#"{"w":2}"#), Some(RoundTrip::Value(BTreeSet::new())));
    assert_eq!(compare_wrapped_value(document, "w", b"{}").unwrap().kinds(), [ChangeKind::Loss].into());
    assert_eq!(
        compare_wrapped_value(br#"{"v":null}"#, "v", b"{}").unwrap().kinds(),
        [ChangeKind::NullMembers].into()
    );
}

#[test]
fn a_value_of_the_systems_language_is_compared_by_what_it_means() {
    let text = |text: &str| Value::Text(text.to_owned());
    let change_kind = |value: &str, cell: Value| {
        let kinds = compare_cell(format!("{{\"v\":{value}}}").as_bytes(), "v", &cell).unwrap().kinds();
        kinds.into_iter().next()
    };
    for (value, cell) in [
        ("null", Value::Null),
        ("true", Value::Bool(true)),
        ("true", text("true")),
        ("1", Value::Int(1)),
        ("1.5", Value::Float(1.5)),
        ("1e23", Value::Float(1e23)),
        ("12.50", text("12.50")),
        (r#""a\u00e9""#, text("aé")),
        ("[1, {}]", text("[1,{}]")),
        (r#""1""#, text("1")),
    ] {
        assert!(change_kind(value, cell.clone()).is_none_or(ChangeKind::keeps_value), "{value} {cell:?}");
    }
    for (value, cell, kind) in [
        ("null", text("null"), ChangeKind::Type),
        ("1", Value::Null, ChangeKind::Loss),
        ("true", Value::Int(1), ChangeKind::Type),
        (r#""a\u0000b""#, text("a"), ChangeKind::Truncation),
        (r#""\ud800""#, text("?"), ChangeKind::Characters),
        ("9007199254740993", Value::Float(9007199254740992.0), ChangeKind::NumberValue),
        ("1e400", Value::Float(f64::INFINITY), ChangeKind::NumberValue),
        ("1.0", text("1"), ChangeKind::NumberForm),
        ("[1]", text("[2]"), ChangeKind::NumberValue),
        ("[1]", text("1]"), ChangeKind::NotJson),
    ] {
        assert_eq!(change_kind(value, cell.clone()), Some(kind), "{value} {cell:?}");
    }
    assert_eq!(
        compare_cell(br#"{"v":1,"v":2}"#, "v", &Value::Int(1)).unwrap().kinds(),
        [ChangeKind::DuplicateKeys].into()
    );
    assert!(compare_cell(br#"{"v":1,"v":2}"#, "v", &Value::Int(2)).unwrap().is_same_value());
}

#[test]
fn words_are_all_different() {
    let words: BTreeSet<&str> = ChangeKind::ALL.into_iter().map(ChangeKind::word).collect();
    assert_eq!(words.len(), ChangeKind::ALL.len());
}

#[test]
fn deep_documents_are_compared_too() {
    let deep = |depth: usize, inside: &str| format!("{}{inside}{}", "[".repeat(depth), "]".repeat(depth));
    assert_eq!(kinds(&deep(100_000, "1"), &deep(100_000, "2")), [ChangeKind::NumberValue]);
}

fn any_json() -> impl Strategy<Value = Json> {
    let leaf = prop_oneof![
        Just(Json::Null),
        any::<bool>().prop_map(Json::from),
        any::<i64>().prop_map(Json::from),
        any::<f64>()
            .prop_filter("no integer", |number| number.is_finite() && number.fract() != 0.0)
            .prop_map(Json::from),
        "[a-c\u{e9}\u{1d11e}\"\\\\\u{1}]{0,4}".prop_map(Json::from),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Json::from),
            prop::collection::vec(("[a-d]{0,2}", inner), 0..4)
                .prop_map(|members| Json::Object(members.into_iter().collect())),
        ]
    })
}

/// The value with the members of every object in reverse order.
fn reversed(value: &Json) -> String {
    match value {
        Json::Array(elements) => {
            format!("[{}]", elements.iter().map(reversed).collect::<Vec<_>>().join(","))
        }
        Json::Object(members) => {
            let mut texts: Vec<String> =
                members.iter().map(|(key, value)| format!("{}:{}", json!(key), reversed(value))).collect();
            texts.reverse();
            format!("{{{}}}", texts.join(","))
        }
        other => other.to_string(),
    }
}

proptest! {
    #[test]
    fn what_is_the_same_is_the_same(value in any_json()) {
        let (compact, pretty) = (value.to_string(), serde_json::to_string_pretty(&value).unwrap());
        prop_assert_eq!(compare_document(compact.as_bytes(), compact.as_bytes()), RoundTrip::Bytes);
        let changes = kinds(&compact, &pretty);
        prop_assert!(changes.iter().all(|kind| *kind == ChangeKind::WhiteSpace), "{:?}", changes);
        let changes = kinds(&compact, &reversed(&value));
        prop_assert!(changes.iter().all(|kind| *kind == ChangeKind::KeyOrder), "{:?}", changes);
        prop_assert_eq!(changes.is_empty(), compact == reversed(&value));
    }

    /// Compares with the library's own equality, for numbers that were all read from doubles and 64-bit
    /// integers.
    #[test]
    fn another_value_is_always_noticed(left in any_json(), right in any_json()) {
        let round_trip = compare_document(left.to_string().as_bytes(), right.to_string().as_bytes());
        prop_assert_eq!(round_trip.is_same_value(), left == right, "{} {}: {:?}", left, right, round_trip);
    }

    #[test]
    fn nothing_is_too_odd_to_be_compared(
        left in prop::collection::vec(any::<u8>(), 0..12),
        right in prop::collection::vec(any::<u8>(), 0..12),
    ) {
        let round_trip = compare_document(&left, &right);
        prop_assert_eq!(round_trip == RoundTrip::Bytes, left == right);
    }
}
