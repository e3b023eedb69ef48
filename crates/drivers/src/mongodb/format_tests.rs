//! Tests of encoding JSON as BSON and decoding it again.

use jsonathlon_driver_api::codecs::json_rows::{Leaf, Tree};
use proptest::prelude::*;
use serde_json::{Value as Json, json};

use super::bson::Bson;
use super::encode;

fn encoded(text: &str) -> Result<Vec<u8>, String> {
    let mut out = Vec::new();
    encode::document(text.as_bytes(), &mut out).map(|()| out)
}

fn round_trip(text: &str) -> String {
    Bson::read(&encoded(text).unwrap()).unwrap().json()
}

fn reason(text: &str) -> String {
    encoded(text).unwrap_err()
}

#[test]
fn documents_have_the_bytes_of_the_specification() {
    let hello = b"\x16\0\0\0\x02hello\0\x06\0\0\0world\0\0";
    assert_eq!(encoded(r#" {"hello" : "world"} "#).unwrap(), hello);
    let mut awesome = Vec::new();
    awesome.extend_from_slice(b"\x31\0\0\0\x04BSON\0\x26\0\0\0");
    awesome.extend_from_slice(b"\x020\0\x08\0\0\0awesome\0");
    awesome.extend_from_slice(b"\x011\0\x33\x33\x33\x33\x33\x33\x14\x40");
    awesome.extend_from_slice(b"\x102\0\xc2\x07\0\0\0\0");
    assert_eq!(encoded(r#"{"BSON": ["awesome", 5.05, 1986]}"#).unwrap(), awesome);
    assert_eq!(encoded("{}").unwrap(), b"\x05\0\0\0\0");
    let types =
        [("true", 8_u8), ("null", 10), ("1", 16), ("2147483648", 18), ("-2147483648", 16), ("1.0", 1)];
    for (value, kind) in types {
        assert_eq!(encoded(&format!("{{\"a\":{value}}}")).unwrap()[4], kind, "{value}");
    }
}

#[test]
fn a_document_comes_back_byte_for_byte() {
    for text in [
        "{}",
        r#"{"z":1,"a":{"":null,"y":[],"x":{}},"b":[true,false,[[1],-2.5,"a\"b\\c\n"]]}"#,
        r#"{"min":-9223372036854775808,"max":9223372036854775807,"zero":-0.0,"time":1700000000000001}"#,
        r#"{"é😀":"é😀","$set":{"a.b":1},"nul":"a\u0000b"}"#,
    ] {
        assert_eq!(round_trip(text), text);
    }
    assert_eq!(
        round_trip(r#"{"a":"\u00e9\ud83d\ude00\/\b\f","b":-0,"c":1E2}"#),
        r#"{"a":"é😀/\b\f","b":-0.0,"c":100.0}"#
    );
    let long: Vec<usize> = (0..1234).collect();
    let text = json!({"long": long}).to_string();
    assert_eq!(round_trip(&text), text);
}

#[test]
fn integers_beyond_64_bits_are_doubles_with_what_is_lost_by_that() {
    for (literal, double) in [
        ("9223372036854775808", 9_223_372_036_854_775_808.0),
        ("-9223372036854775809", -9_223_372_036_854_775_808.0),
        ("18446744073709551617", 18_446_744_073_709_551_616.0),
        ("123456789012345678901234567890", 123_456_789_012_345_680_000_000_000_000.0),
    ] {
        let bytes = encoded(&format!("{{\"a\":{literal}}}")).unwrap();
        let value = Bson::read(&bytes).unwrap().member("a").unwrap().leaf();
        assert_eq!(value, Leaf::Float(double), "{literal}");
    }
    let edges = encoded(r#"{"a":[9223372036854775807,-9223372036854775808]}"#).unwrap();
    let list = Bson::read(&edges).unwrap().member("a").unwrap();
    let leaves: Vec<Leaf<'_>> = list.elements().unwrap().map(Tree::leaf).collect();
    assert_eq!(leaves, [Leaf::Int(i64::MAX), Leaf::Int(i64::MIN)]);
}

#[test]
fn what_has_no_place_in_a_document_is_refused_with_the_reason() {
    let deep = |levels: usize| format!("{{\"a\":{}{}}}", "[".repeat(levels - 1), "]".repeat(levels - 1));
    assert!(encoded(&deep(200)).is_ok());
    for (text, expected) in [
        (deep(201).as_str(), "more than 200 levels deep"),
        (deep(100_000).as_str(), "more than 200 levels deep"),
        (format!(r#"{{"a":1{}}}"#, "0".repeat(309)).as_str(), "beyond what a double holds"),
        (r#"{"a":1e400}"#, "beyond what a double holds"),
        (r#"{"a\u0000b":1}"#, "a key holds U+0000"),
        (r#"{"a":1,"b":{"c":1,"d":2,"c":3}}"#, "the key \"c\" is there twice"),
        (r#"{"a":1,"\u0061":2}"#, "the key \"a\" is there twice"),
        (r#"{"a":"\ud800"}"#, "half of a surrogate pair"),
        (r#"{"a":"\ud800\u0041"}"#, "half of a surrogate pair"),
        (r#"{"a":"\udc00"}"#, "half of a surrogate pair"),
        ("[1]", "a JSON object"),
        ("", "a JSON object"),
        ("{\"a\":1} x", "nothing more is expected at byte 8, not 'x'"),
        (r#"{"a":1,}"#, "a key is expected"),
        (r#"{"a":[1,]}"#, "a value is expected"),
        (r#"{"a":01}"#, "`,` or `}` is expected"),
        (r#"{"a":1.}"#, "a digit is expected"),
        (r#"{"a":-}"#, "a digit is expected"),
        (r#"{"a":nul}"#, "a value is expected"),
        (r#"{"a":"x"#, "it ends where the end of a string is expected"),
        ("{\"a\":\"\t\"}", "a control character"),
        (r#"{"a":"\x"}"#, "an escape is expected"),
        (r#"{"a":"\u12g4"}"#, "a hexadecimal digit is expected"),
        (r#"{a:1}"#, "a key is expected"),
        (r#"{"a" 1}"#, "`:` is expected"),
        (r#"{"a":1"#, "it ends where `,` or `}` is expected"),
    ] {
        let reason = reason(text);
        assert!(reason.contains(expected), "{reason}");
    }
    let mut out = vec![1, 2, 3];
    let error = encode::document(b"{\"a\":\"\xff\"}", &mut out).unwrap_err();
    assert!(error.contains("not UTF-8 from byte 6 on"), "{error}");
    assert_eq!(out, [1, 2, 3], "nothing of it stays");
}

#[test]
fn an_answer_that_is_broken_is_no_document() {
    let document = encoded(r#"{"a":{"b":[1,2.5,"x",null,true,{"c":1700000000000001}]}}"#).unwrap();
    assert!(Bson::read(&document).is_ok());
    for end in 0..document.len() {
        assert!(Bson::read(&document[..end]).is_err(), "{end}");
    }
    let longer = [document.as_slice(), &[0]].concat();
    assert!(Bson::read(&longer).is_err());
    let decimal = [b"\x18\0\0\0\x13a\0".as_slice(), &[0; 17]].concat();
    let error = Bson::read(&decimal).unwrap_err().to_string();
    assert!(error.contains("`a`") && error.contains("$toDouble"), "{error}");
    let special = b"\x25\0\0\0\x07i\0\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b\x0c\x09d\0\x01\0\0\0\0\0\0\0\x7fm\0\0";
    let mut special = special.to_vec();
    special[0] = u8::try_from(special.len()).unwrap();
    let json = Bson::read(&special).unwrap().json();
    assert_eq!(json, r#"{"i":{"$oid":"0102030405060708090a0b0c"},"d":{"$date":1},"m":{"$maxKey":1}}"#);
}

#[test]
fn instants_of_all_types_are_microseconds_since_1970() {
    let document_with = |kind: u8, value: i64| {
        let mut document = [&[16 + 4, 0, 0, 0, kind, b'd', 0][..], &value.to_le_bytes(), &[0]].concat();
        document[0] = u8::try_from(document.len()).unwrap();
        document
    };
    let (date, timestamp) = (0x09, 0x11);
    for (kind, value, name, expected) in [
        (date, 1_767_323_045_678, "$date", Leaf::Time(1_767_323_045_678_000)),
        (date, -1, "$date", Leaf::Time(-1_000)),
        (date, i64::MAX, "$date", Leaf::Large),
        // The third event within its second.
        (timestamp, 1_767_323_045 << 32 | 3, "$timestamp", Leaf::Time(1_767_323_045_000_000)),
    ] {
        let document = document_with(kind, value);
        let decoded = Bson::read(&document).unwrap().member("d").unwrap();
        assert_eq!(decoded.leaf(), expected, "{value}");
        assert_eq!(decoded.member(name).unwrap().leaf(), expected, "{value}");
        assert_eq!(decoded.json(), format!("{{\"{name}\":{value}}}"));
    }
}

#[test]
fn a_plan_is_written_for_people() {
    let plan = encoded(r#"{"a":{"stage":"IXSCAN","n":[1,{}]},"b":[]}"#).unwrap();
    let plan = Bson::read(&plan).unwrap();
    let pretty = plan.pretty();
    assert_eq!(
        serde_json::from_str::<Json>(&pretty).unwrap(),
        serde_json::from_str::<Json>(&plan.json()).unwrap()
    );
    assert!(pretty.lines().any(|line| line == "    \"stage\": \"IXSCAN\","), "{pretty}");
}

fn any_json() -> impl Strategy<Value = Json> {
    let leaf = prop_oneof![
        Just(Json::Null),
        any::<bool>().prop_map(Json::from),
        any::<i64>().prop_map(Json::from),
        any::<i32>().prop_map(Json::from),
        any::<f64>().prop_filter("finite", |number| number.is_finite()).prop_map(Json::from),
        ".{0,12}".prop_map(Json::from),
    ];
    leaf.prop_recursive(5, 48, 8, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..8).prop_map(Json::from),
            prop::collection::btree_map("[^\0]{0,6}", inner, 0..8)
                .prop_map(|members| Json::Object(members.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn any_document_comes_back_as_it_was(value in any_json()) {
        let text = json!({"v": value}).to_string();
        prop_assert_eq!(round_trip(&text), text);
    }

    #[test]
    fn what_is_taken_is_json_and_nothing_else_is(
        value in any_json(), at: prop::sample::Index, letter in "[\\[\\]{}\",:\\\\0-9eE.+ a-z-]"
    ) {
        let mut text: Vec<char> = json!({"v": value}).to_string().chars().collect();
        let at = at.index(text.len());
        text[at] = letter.chars().next().unwrap();
        let text: String = text.into_iter().collect();
        let is_json = serde_json::from_str::<serde_json::Map<String, Json>>(&text).is_ok();
        match encoded(&text) {
            Ok(document) => {
                prop_assert!(is_json, "{}", text);
                prop_assert!(Bson::read(&document).is_ok());
            }
            Err(reason) => {
                let of_bson = ["beyond 64 bits", "there twice", "U+0000"];
                prop_assert!(!is_json || of_bson.iter().any(|words| reason.contains(words)), "{}: {}", text, reason);
            }
        }
    }

    #[test]
    fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
        Bson::read(&bytes).ok();
        encode::document(&bytes, &mut Vec::new()).ok();
    }
}
