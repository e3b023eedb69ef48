//! Compares the scanner with serde_json and with a naive tokenizer.

use std::collections::HashSet;
use std::fmt;

use crate::common::{event_text, json_text};
use jsonathlon_dataset::scan::{Reason, Scan, Scanner, Traits, scan};
use proptest::prelude::*;
use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::Value as Json;

/// Facts about a document as serde_json reports them, duplicate members included.
#[derive(Default, Debug, PartialEq)]
struct Facts {
    duplicate_keys: bool,
    nul: bool,
    depth: usize,
}

impl Facts {
    fn nested(mut self, inner: Facts) -> Facts {
        self.duplicate_keys |= inner.duplicate_keys;
        self.nul |= inner.nul;
        self.depth = self.depth.max(inner.depth + 1);
        self
    }
}

impl<'de> Deserialize<'de> for Facts {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Walk;
        impl<'de> Visitor<'de> for Walk {
            type Value = Facts;
            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("anything")
            }
            fn visit_unit<E>(self) -> Result<Facts, E> {
                Ok(Facts::default())
            }
            fn visit_bool<E>(self, _: bool) -> Result<Facts, E> {
                Ok(Facts::default())
            }
            fn visit_i64<E>(self, _: i64) -> Result<Facts, E> {
                Ok(Facts::default())
            }
            fn visit_u64<E>(self, _: u64) -> Result<Facts, E> {
                Ok(Facts::default())
            }
            fn visit_f64<E>(self, _: f64) -> Result<Facts, E> {
                Ok(Facts::default())
            }
            fn visit_str<E>(self, text: &str) -> Result<Facts, E> {
                Ok(Facts { nul: text.contains('\0'), ..Facts::default() })
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Facts, A::Error> {
                let mut facts = Facts { depth: 1, ..Facts::default() };
                while let Some(inner) = items.next_element()? {
                    facts = facts.nested(inner);
                }
                Ok(facts)
            }
            fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Facts, A::Error> {
                let mut facts = Facts { depth: 1, ..Facts::default() };
                let mut names = HashSet::new();
                while let Some((name, inner)) = members.next_entry::<String, Facts>()? {
                    facts = facts.nested(inner);
                    facts.nul |= name.contains('\0');
                    facts.duplicate_keys |= !names.insert(name);
                }
                Ok(facts)
            }
        }
        deserializer.deserialize_any(Walk)
    }
}

/// Returns whether a valid text has a string with a lone surrogate, and whether it has a number beyond 64
/// bits.
fn odd_tokens(text: &str) -> (bool, bool) {
    let (mut lone, mut big) = (false, false);
    let mut rest = text.chars().peekable();
    while let Some(character) = rest.next() {
        if character == '"' {
            let mut units: Vec<u16> = Vec::new();
            loop {
                match rest.next().unwrap() {
                    '"' => break,
                    '\\' => match rest.next().unwrap() {
                        'u' => {
                            let digits: String = rest.by_ref().take(4).collect();
                            units.push(u16::from_str_radix(&digits, 16).unwrap());
                        }
                        _ => units.push(u16::from(b'x')),
                    },
                    other => units.extend(other.encode_utf16(&mut [0; 2]).iter()),
                }
            }
            lone |= char::decode_utf16(units).any(|unit| unit.is_err());
        } else if character == '-' || character.is_ascii_digit() {
            let mut number = character.to_string();
            while let Some(next) = rest.next_if(|next| next.is_ascii_digit() || "+-.eE".contains(*next)) {
                number.push(next);
            }
            big |= if number.contains(['.', 'e', 'E']) {
                !number.parse::<f64>().unwrap().is_finite()
            } else {
                number.parse::<i64>().is_err()
                    && number.parse::<u64>().is_err()
                    && !number.trim_matches(['-', '0']).is_empty()
            };
        }
    }
    (lone, big)
}

fn text_at<'v>(value: &'v Json, path: &str) -> Option<&'v str> {
    value.pointer(path)?.as_str()
}

/// Checks everything about a line that serde_json or the naive tokenizer can determine too.
fn check(line: &[u8]) {
    let mut scanner = Scanner::new();
    let found = scanner.scan(line);
    let shown = String::from_utf8_lossy(line).into_owned();
    let valid = serde_json::from_slice::<IgnoredAny>(line).is_ok();
    assert_eq!(!found.traits.contains(Traits::MALFORMED), valid, "{shown}: {:?}", found.fault);
    let utf8 = std::str::from_utf8(line);
    assert_eq!(!found.traits.contains(Traits::NOT_UTF8), utf8.is_ok(), "{shown}");
    assert_eq!(found.fault.is_some(), !valid || utf8.is_err(), "{shown}");
    if let Some(fault) = found.fault {
        assert!(fault.offset <= line.len(), "{shown}: {fault}");
    }
    let (true, Ok(text)) = (valid, utf8) else {
        return;
    };
    let again = scanner.scan_text(text);
    assert_eq!((&again.event, again.traits), (&found.event, found.traits), "{shown}");
    let (lone, big) = odd_tokens(text);
    assert_eq!(found.traits.contains(Traits::LONE_SURROGATE), lone, "{shown}");
    assert_eq!(found.traits.contains(Traits::BIG_NUMBER), big, "{shown}");
    let Ok(value) = serde_json::from_str::<Json>(text) else {
        // Valid texts that serde_json rejects: lone surrogates, numbers beyond a double, nesting deeper than
        // 128.
        assert!(lone || big || found.traits.contains(Traits::DEEP), "{shown}");
        return;
    };
    let facts: Facts = serde_json::from_str(text).unwrap();
    assert_eq!(found.traits.contains(Traits::NOT_OBJECT), !value.is_object(), "{shown}");
    assert_eq!(found.traits.contains(Traits::DUPLICATE_KEYS), facts.duplicate_keys, "{shown}");
    assert_eq!(found.traits.contains(Traits::NUL_ESCAPE), facts.nul, "{shown}");
    assert_eq!(found.traits.contains(Traits::DEEP), facts.depth > 100, "{shown}");
    let Scan { event, .. } = found;
    assert_eq!(event.did.as_deref(), text_at(&value, "/did"), "{shown}");
    assert_eq!(event.kind.as_deref(), text_at(&value, "/kind"), "{shown}");
    assert_eq!(event.operation.as_deref(), text_at(&value, "/commit/operation"), "{shown}");
    assert_eq!(event.collection.as_deref(), text_at(&value, "/commit/collection"), "{shown}");
    let langs = value.pointer("/commit/record/langs").and_then(Json::as_array);
    assert_eq!(event.lang0.as_deref(), langs.and_then(|langs| langs.first()?.as_str()), "{shown}");
    // serde_json reads -0 as a float; the scanner reads it as the integer that it is written as.
    let time = value.pointer("/time_us");
    let zero =
        time.and_then(Json::as_f64).filter(|zero| *zero == 0.0 && time.is_some_and(|time| time.is_f64()));
    if zero.is_none() {
        assert_eq!(event.time_us, time.and_then(Json::as_i64), "{shown}");
    }
}

#[derive(Clone, Debug)]
enum Edit {
    Truncate,
    Delete,
    Insert(u8),
    Replace(u8),
    Double(usize),
}

fn edits() -> impl Strategy<Value = Vec<(Edit, usize)>> {
    let byte = prop_oneof![
        3 => proptest::sample::select(br#"{}[],:"\ue0-+.tfn 	"#.to_vec()),
        1 => any::<u8>(),
    ];
    let edit = prop_oneof![
        1 => Just(Edit::Truncate),
        2 => Just(Edit::Delete),
        3 => byte.clone().prop_map(Edit::Insert),
        3 => byte.prop_map(Edit::Replace),
        1 => (1_usize..9).prop_map(Edit::Double),
    ];
    proptest::collection::vec((edit, any::<usize>()), 1..4)
}

fn mutate(mut line: Vec<u8>, edits: &[(Edit, usize)]) -> Vec<u8> {
    for (edit, place) in edits {
        if line.is_empty() {
            break;
        }
        let at = place % line.len();
        match edit {
            Edit::Truncate => line.truncate(at),
            Edit::Delete => drop(line.remove(at)),
            Edit::Insert(byte) => line.insert(at, *byte),
            Edit::Replace(byte) => line[at] = *byte,
            Edit::Double(length) => {
                let piece = line[at..(at + length).min(line.len())].to_vec();
                line.splice(at..at, piece);
            }
        }
    }
    line
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn agrees_on_random_json(text in json_text()) {
        check(text.as_bytes());
    }

    #[test]
    fn agrees_on_events(text in event_text()) {
        check(text.as_bytes());
    }

    #[test]
    fn agrees_on_mutated_events(text in event_text(), edits in edits()) {
        check(&mutate(text.into_bytes(), &edits));
    }

    #[test]
    fn agrees_on_mutated_json(text in json_text(), edits in edits()) {
        check(&mutate(text.into_bytes(), &edits));
    }

    #[test]
    fn agrees_on_random_bytes(bytes in proptest::collection::vec(any::<u8>(), 0..40)) {
        check(&bytes);
    }

    #[test]
    fn agrees_on_json_like_bytes(text in r#"[\[\]{},:"\\ue0-9+.tfnalrs \t-]{0,24}"#) {
        check(text.as_bytes());
    }

    #[test]
    fn finds_duplicates_in_objects_of_any_size(count in 0_usize..80, at in any::<usize>(), of in any::<usize>()) {
        let mut names: Vec<String> = (0..count).map(|number| format!("key number {}", number * 7919 % 1009)).collect();
        let mut repeated = None;
        if count > 1 {
            let (at, of) = (at % count, of % count);
            names[at] = names[of].clone();
            repeated = Some(at != of);
        }
        let members: Vec<_> = names.iter().map(|name| format!("{name:?}:[{{\"a\":1}}]")).collect();
        let text = format!("{{{}}}", members.join(","));
        prop_assert_eq!(scan(text.as_bytes()).traits.contains(Traits::DUPLICATE_KEYS), repeated == Some(true));
        check(text.as_bytes());
    }
}

fn traits(text: &str) -> Traits {
    check(text.as_bytes());
    scan(text.as_bytes()).traits
}

#[test]
fn ordinary_documents_have_no_traits() {
    assert_eq!(traits("{}"), Traits::NONE);
    assert_eq!(traits(" {\"a\": [1, -2.5e-3, true, false, null, \"x\"]}\r"), Traits::NONE);
    assert_eq!(traits(r#"{"a":{"a":{"a":1}},"b":[{"a":1},{"a":2}]}"#), Traits::NONE);
    assert_eq!(
        traits(r#"{"a":9223372036854775807,"b":-9223372036854775808,"c":18446744073709551615}"#),
        Traits::NONE
    );
    assert_eq!(traits(r#"{"a":1e308,"b":0.1e-999,"c":-0,"d":1E+2}"#), Traits::NONE);
}

#[test]
fn other_values_than_objects_are_told() {
    for text in ["1", "\"x\"", "[{}]", "null", " true "] {
        assert_eq!(traits(text), Traits::NOT_OBJECT, "{text}");
    }
}

#[test]
fn nul_escapes_are_told() {
    assert_eq!(traits(r#"{"a":"x\u0000y"}"#), Traits::NUL_ESCAPE);
    assert_eq!(traits(r#"{"\u0000":1}"#), Traits::NUL_ESCAPE);
    assert_eq!(traits(r#"{"a":"\\u0000"}"#), Traits::NONE);
}

#[test]
fn duplicate_keys_are_told_at_any_place() {
    assert_eq!(traits(r#"{"a":1,"a":2}"#), Traits::DUPLICATE_KEYS);
    assert_eq!(traits(r#"{"x":[{"":1,"y":2,"":3}]}"#), Traits::DUPLICATE_KEYS);
    assert_eq!(traits(r#"{"a":1,"\u0061":2}"#), Traits::DUPLICATE_KEYS);
    assert_eq!(traits(r#"{"\u0061":1,"a":2}"#), Traits::DUPLICATE_KEYS);
    assert_eq!(traits(r#"{"\u0061":1,"\u0061":2}"#), Traits::DUPLICATE_KEYS);
    assert_eq!(traits(r#"{"a":{"b":1},"b":{"a":1}}"#), Traits::NONE);
    let nested = format!("{}{}{}", r#"{"k":"#.repeat(99), r#"{"k":1,"k":2}"#, "}".repeat(99));
    assert_eq!(traits(&nested), Traits::DUPLICATE_KEYS);
    // Lone surrogates differ from each other and from the replacement character.
    assert_eq!(traits(r#"{"\ud800":1,"\ud801":2,"\ufffd":3}"#), Traits::LONE_SURROGATE);
}

#[test]
fn of_duplicate_keys_the_last_counts() {
    let text = r#"{"did":"a","did":"b","time_us":1,"time_us":"x","kind":3,"kind":"commit",
        "commit":{"operation":"create","collection":"c","record":{"langs":["en"]}},"commit":{"collection":"d"}}"#;
    assert_eq!(traits(text), Traits::DUPLICATE_KEYS);
    let event = scan(text.as_bytes()).event;
    assert_eq!(
        (event.did.as_deref(), event.time_us, event.kind.as_deref()),
        (Some("b"), None, Some("commit"))
    );
    assert_eq!((event.operation, event.collection.as_deref(), event.lang0), (None, Some("d"), None));
    let text =
        r#"{"commit":{"record":{"langs":["en"],"langs":[]},"operation":"x","record":{"langs":["de",3]}}}"#;
    check(text.as_bytes());
    assert_eq!(scan(text.as_bytes()).event.lang0.as_deref(), Some("de"));
}

#[test]
fn lone_surrogates_are_told() {
    for text in
        [r#"{"a":"\ud83d"}"#, r#"{"a":"\ude00"}"#, r#"{"a":"\ud83dx\ude00"}"#, r#"{"a":"\ude00\ud83d"}"#]
    {
        assert_eq!(traits(text), Traits::LONE_SURROGATE, "{text}");
    }
    assert_eq!(traits(r#"{"a":"\ud83d\ude00"}"#), Traits::NONE);
    let text = r#"{"did":"a\ud83db"}"#;
    assert_eq!(scan(text.as_bytes()).event.did.as_deref(), Some("a\u{fffd}b"));
}

#[test]
fn big_numbers_are_told() {
    let zeros = "0".repeat(400);
    for number in
        ["9223372036854775808000", "-9223372036854775809", "18446744073709551616", "1e400", "-1.5E+309"]
    {
        assert_eq!(traits(&format!("{{\"a\":{number}}}")), Traits::BIG_NUMBER, "{number}");
    }
    assert_eq!(traits(&format!("[1{zeros}]")), Traits::BIG_NUMBER | Traits::NOT_OBJECT);
    assert_eq!(traits(&format!("{{\"a\":1{zeros}.5}}")), Traits::BIG_NUMBER);
    assert_eq!(traits(&format!("{{\"a\":0.{zeros}5}}")), Traits::NONE);
    let time = |number: &str| scan(format!("{{\"time_us\":{number}}}").as_bytes()).event.time_us;
    assert_eq!(time("9223372036854775807"), Some(i64::MAX));
    assert_eq!(time("-9223372036854775808"), Some(i64::MIN));
    assert_eq!(
        (time("9223372036854775808"), time("1.0"), time("1e3"), time("\"1\"")),
        (None, None, None, None)
    );
    assert_eq!((time("-0"), time("-17")), (Some(0), Some(-17)));
}

#[test]
fn depth_is_told_and_costs_no_stack() {
    let nested = |levels: usize| format!("{}{}", "[".repeat(levels), "]".repeat(levels));
    assert_eq!(traits(&nested(100)), Traits::NOT_OBJECT);
    assert_eq!(traits(&nested(101)), Traits::NOT_OBJECT | Traits::DEEP);
    assert_eq!(scan(nested(100_000).as_bytes()).traits, Traits::NOT_OBJECT | Traits::DEEP);
    let objects = format!("{}1{}", r#"{"a":"#.repeat(100_000), "}".repeat(100_000));
    assert_eq!(scan(objects.as_bytes()).traits, Traits::DEEP);
    // Mixed brackets, so that the scanner must remember the bracket kind of each level at any depth.
    let mixed = format!("{}1{}", r#"{"a":[[{"b":["#.repeat(1_000), r#"]}]]}"#.repeat(1_000));
    assert_eq!(scan(mixed.as_bytes()).traits, Traits::DEEP);
    for at in [mixed.len() - 1, mixed.len() - 2, mixed.len() - 321, mixed.len() / 2 + 7] {
        let mut wrong = mixed.clone().into_bytes();
        wrong[at] = if wrong[at] == b']' { b'}' } else { b']' };
        assert!(scan(&wrong).traits.contains(Traits::MALFORMED), "{at}");
    }
    assert!(scan("[".repeat(100_000).as_bytes()).traits.contains(Traits::MALFORMED));
}

#[test]
fn events_are_found_again_behind_deep_members() {
    let deep = format!("{}{}", "[{\"commit\":".repeat(70), "1".to_string() + &"}]".repeat(70));
    let text = format!(
        r#"{{"x":{deep},"commit":{{"x":{deep},"operation":"o","record":{{"langs":["l"]}}}},"did":"d"}}"#
    );
    let event = scan(text.as_bytes()).event;
    assert_eq!(
        (event.did.as_deref(), event.operation.as_deref(), event.lang0.as_deref()),
        (Some("d"), Some("o"), Some("l"))
    );
}

#[test]
fn size_is_told() {
    let document = |length: usize| format!("{{\"a\":\"{}\"}}", "x".repeat(length - 8));
    assert_eq!(traits(&document((1 << 20) - 1)), Traits::NONE);
    assert_eq!(traits(&document(1 << 20)), Traits::LARGE);
}

#[test]
fn encodings_are_told() {
    check(b"{\"a\":\"\xff\"}");
    let found = scan(b"{\"kind\":\"a\xffb\",\"did\":\"c\"}");
    assert_eq!(found.traits, Traits::NOT_UTF8);
    assert_eq!(found.fault.map(|fault| fault.to_string()).as_deref(), Some("invalid UTF-8 at byte 10"));
    assert_eq!((found.event.kind.as_deref(), found.event.did.as_deref()), (Some("a\u{fffd}b"), Some("c")));
    // Overlong encoding, surrogate, code point beyond the last plane, truncated sequence.
    for bytes in [b"\xc0\xaf".as_slice(), b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xe2\x82"] {
        let line = [b"[\"", bytes, b"\"]"].concat();
        assert_eq!(scan(&line).traits, Traits::NOT_UTF8 | Traits::NOT_OBJECT);
        check(&line);
    }
}

#[test]
fn faults_say_what_and_where() {
    let cases: [(&str, Reason, usize); 26] = [
        ("", Reason::NoValue, 0),
        ("  ", Reason::NoValue, 2),
        ("\u{feff}{}", Reason::ByteOrderMark, 0),
        ("x", Reason::ExpectedValue, 0),
        ("{", Reason::EndInContainer, 1),
        ("{\"a\"", Reason::EndInContainer, 4),
        ("{\"a\":", Reason::EndInContainer, 5),
        ("{\"a\":1", Reason::EndInContainer, 6),
        ("[1,", Reason::EndInContainer, 3),
        ("{a:1}", Reason::ExpectedKey, 1),
        ("{\"a\":1,}", Reason::ExpectedKey, 7),
        ("{\"a\" 1}", Reason::ExpectedColon, 5),
        ("{\"a\":}", Reason::ExpectedValue, 5),
        ("{\"a\":1]", Reason::ExpectedCommaOrBrace, 6),
        ("[1}", Reason::ExpectedCommaOrBracket, 2),
        ("[1 2]", Reason::ExpectedCommaOrBracket, 3),
        ("{\"a\":nul}", Reason::Literal, 5),
        ("[01]", Reason::Number, 3),
        ("[-]", Reason::Number, 2),
        ("[1.]", Reason::Number, 3),
        ("[1e]", Reason::Number, 3),
        ("[\"\\x\"]", Reason::Escape, 2),
        ("[\"\\u12g4\"]", Reason::Escape, 2),
        ("[\"a\tb\"]", Reason::ControlCharacter, 3),
        ("[\"abc", Reason::EndInString, 5),
        ("{} {}", Reason::Trailing, 3),
    ];
    for (text, reason, offset) in cases {
        check(text.as_bytes());
        let fault = scan(text.as_bytes()).fault.unwrap();
        assert_eq!((fault.reason, fault.offset), (reason, offset), "{text:?}");
        assert_eq!(fault.to_string(), format!("{reason} at byte {offset}"));
    }
}

#[test]
fn fields_before_a_fault_are_kept() {
    let found = scan(br#"{"did":"d","kind":"commit","commit":{"operation":"create""#);
    assert_eq!(found.traits, Traits::MALFORMED);
    assert_eq!(found.event.did.as_deref(), Some("d"));
    assert_eq!(found.event.operation.as_deref(), Some("create"));
}

#[test]
fn a_scanner_forgets_the_line_before() {
    let mut scanner = Scanner::new();
    assert!(scanner.scan(br#"{"a":{"b":[{"c":"#).traits.contains(Traits::MALFORMED));
    let found = scanner.scan(br#"{"a":1,"b":2,"c":3,"did":"x"}"#);
    assert_eq!((found.traits, found.event.did.as_deref()), (Traits::NONE, Some("x")));
}
