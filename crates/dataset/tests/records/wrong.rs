//! Tests that every error in a document is detected.

use jsonathlon_dataset::records::{AnswerFault, Kind, RecordSet, Scratch, SeenVersions, Values, WriteScope};
use proptest::prelude::*;
use serde_json::Value;

use crate::common::{KINDS, document, rewrite, set, sets, value};

fn fault(set: &RecordSet, number: u64, text: &[u8]) -> Option<AnswerFault> {
    set.check(number, text, WriteScope::Path(0), &mut Scratch::new()).err().map(|wrong| wrong.fault)
}

/// Flips bytes of a text and checks that each flip is detected unless the text still has the same meaning.
/// Returns the number of detected flips.
fn flips(set: &RecordSet, number: u64, text: &[u8], masks: &[u8]) -> u64 {
    let mut scratch = Scratch::new();
    let meaning: Value = serde_json::from_slice(text).unwrap();
    let mut flipped = text.to_vec();
    let mut found = 0;
    for place in 0..text.len() {
        for mask in masks {
            flipped[place] = text[place] ^ mask;
            match set.check(number, &flipped, WriteScope::Path(0), &mut scratch) {
                Err(wrong) => {
                    assert!(wrong.position <= text.len());
                    found += 1;
                }
                Ok(_) => {
                    let same = serde_json::from_slice::<Value>(&flipped).is_ok_and(|value| value == meaning);
                    assert!(same, "{}", String::from_utf8_lossy(&flipped));
                }
            }
        }
        flipped[place] = text[place];
    }
    found
}

#[test]
fn every_flipped_byte_is_found() {
    let masks: Vec<u8> = (1..=255).collect();
    for set in sets() {
        let text = document(&set, 5, 0);
        // Large documents are tested with one mask per byte, others with all masks.
        let masks = if text.len() < 1_300 { masks.as_slice() } else { &[1] };
        let found = flips(&set, 5, &text, masks);
        assert_eq!(found, (text.len() * masks.len()) as u64);
    }
    for set in sets().iter().filter(|set| set.max_document_bytes() < 10_000) {
        for number in 10..20 {
            flips(set, number, &document(set, number, number as u32), &[1, 4, 0x10]);
        }
    }
}

#[test]
fn every_flipped_byte_of_a_rewritten_document_is_found() {
    for set in sets().iter().filter(|set| set.max_document_bytes() < 4_000) {
        let mut text = String::new();
        let tree: Value = serde_json::from_slice(&document(set, 6, 1)).unwrap();
        rewrite(&tree, 3, " \n", 7, &mut text);
        let found = flips(set, 6, text.as_bytes(), &[1, 2, 4, 8, 0x10, 0x20, 0x40, 0x80]);
        assert!(found > 6 * text.len() as u64);
    }
}

#[test]
fn every_truncated_document_is_found() {
    for set in sets() {
        let text = document(&set, 5, 0);
        for length in 0..text.len() {
            let wrong = set.check(5, &text[..length], WriteScope::Nothing, &mut Scratch::new()).unwrap_err();
            assert_eq!(wrong.fault, AnswerFault::Truncated, "{}", String::from_utf8_lossy(&text[..length]));
        }
    }
}

#[test]
fn the_document_of_another_key_is_found() {
    for set in sets() {
        for other in [0, 1, 4, 6, 1 << 40].into_iter().chain(set.members(set.group(5))) {
            let wrong = fault(&set, 5, &document(&set, other, 0));
            assert_eq!(wrong.is_none(), other == 5, "{other}");
        }
    }
}

#[test]
fn each_fault_has_its_name() {
    let set = set(Kind::Items { members: 2 }, Values::Text);
    let text = String::from_utf8(document(&set, 1, 0)).unwrap();
    let of = |text: &str| fault(&set, 1, text.as_bytes());
    assert_eq!(of(&text), None);
    assert_eq!(of(""), Some(AnswerFault::Truncated));
    assert_eq!(of("null"), Some(AnswerFault::Type));
    assert_eq!(of("nonsense"), Some(AnswerFault::Type));
    assert_eq!(of("<html>"), Some(AnswerFault::Syntax));
    assert_eq!(of("{}"), Some(AnswerFault::Missing));
    assert_eq!(of(&format!("{text} ")), None);
    assert_eq!(of(&format!("{text}{text}")), Some(AnswerFault::Trailing));
    assert_eq!(of(&format!("{text}\0")), Some(AnswerFault::Trailing));
    assert_eq!(of(&text.replace("\"id\":1,", "\"id\":1,\"id\":1,")), Some(AnswerFault::Doubled));
    assert_eq!(of(&text.replace("\"id\":1,", "\"id\":2,")), Some(AnswerFault::Type));
    assert_eq!(of(&text.replace("\"id\":1,", "\"id\":1.0,")), Some(AnswerFault::Type));
    assert_eq!(of(&text.replace("\"id\":1,", "\"id\":\"1\",")), Some(AnswerFault::Type));
    assert_eq!(of(&text.replace("\"id\":1,", "")), Some(AnswerFault::Missing));
    assert_eq!(of(&text.replace("\"id\":1,", "\"id\":1,\"more\":1,")), Some(AnswerFault::Additional));
    assert_eq!(of(&text.replace("\"id\":1,", "\"id\":1;")), Some(AnswerFault::Syntax));
    assert_eq!(of(&text.replace("},\"map\"", "},\"more\":1,\"map\"")), None.or(of(&text)));
    assert_eq!(of(&text.replace("],\"map\"", ",{}],\"map\"")), Some(AnswerFault::Additional));
    assert_eq!(of(&text.replace("],\"map\"", "],\"other\"")), Some(AnswerFault::Additional));
    assert_eq!(of(&text.replace("\"item2\"", "\"item3\"")), Some(AnswerFault::Additional));
    assert_eq!(of(&text.replace("\"item2\"", "\"item1\"")), Some(AnswerFault::Doubled));
    let turned = text.replace("true", "TRUE").replace("false", "true").replace("TRUE", "false");
    assert_eq!(of(&turned), Some(AnswerFault::Value));
    assert_eq!(of(&text.replace(":true", ":1").replace(":false", ":0")), Some(AnswerFault::Type));
    assert_eq!(of(&text.replace("\"value\":\"00000000", "\"value\":\"0000000g")), Some(AnswerFault::Tag));
    assert_eq!(of(&text.replace("\"value\":\"00000000", "\"value\":\"0000000A")), Some(AnswerFault::Tag));
    assert_eq!(of(&text.replace("\"value\":\"00000000", "\"value\":\"00000001")), Some(AnswerFault::Value));
    let wrong = set.check(1, b"{\"list\":1}", WriteScope::Nothing, &mut Scratch::new()).unwrap_err();
    assert_eq!(wrong.to_string(), "a value of another type at byte 8");
}

#[test]
fn versions_are_told_apart() {
    for kind in KINDS {
        for values in [Values::Text, Values::Random] {
            let set = set(kind.clone(), values);
            let written = set.paths().len() / 2;
            let replaced = |number: u64, path: usize, version: u32| {
                let mut tree: Value = serde_json::from_slice(&document(&set, number, 3)).unwrap();
                let pointer = format!("/{}", set.paths()[path].to_string().replace('.', "/"));
                *tree.pointer_mut(&pointer).unwrap() =
                    Value::String(String::from_utf8(value(&set, number, path, version)).unwrap());
                tree.to_string().into_bytes()
            };
            let mut scratch = Scratch::new();
            let text = replaced(8, written, 77);
            let mut check = |written| set.check(8, &text, written, &mut scratch);
            assert_eq!(
                check(WriteScope::Path(written)),
                Ok(SeenVersions { version: Some(77), base: Some(3) })
            );
            for other in [WriteScope::Nothing, WriteScope::All, WriteScope::Path(0)] {
                assert_eq!(check(other).unwrap_err().fault, AnswerFault::Mixed);
            }
            // A value of another record, and a value of another path.
            let mut scratch = Scratch::new();
            let other = value(&set, 9, written, 77);
            assert!(set.check_value(8, written, &other, &mut scratch).is_err());
            assert!(set.check_value(8, written - 1, &value(&set, 8, written, 77), &mut scratch).is_err());
            assert_eq!(set.check_value(8, written, &value(&set, 8, written, 77), &mut scratch), Ok(77));
        }
    }
}

#[test]
fn values_that_stand_alone_are_checked_to_the_byte() {
    for set in sets() {
        let right = value(&set, 3, 1, 0x1234);
        let mut scratch = Scratch::new();
        for place in 0..right.len() {
            for mask in 1..=255 {
                let mut wrong = right.clone();
                wrong[place] ^= mask;
                assert!(set.check_value(3, 1, &wrong, &mut scratch).is_err());
            }
            assert!(set.check_value(3, 1, &right[..place], &mut scratch).is_err());
        }
        let longer = [right.as_slice(), b"x"].concat();
        assert!(set.check_value(3, 1, &longer, &mut scratch).is_err());
    }
}

proptest! {
    #[test]
    fn no_text_makes_the_check_panic(which in 0_usize..36, text in prop::collection::vec(any::<u8>(), 0..200)) {
        let sets = sets();
        prop_assert!(sets[which].check(0, &text, WriteScope::Nothing, &mut Scratch::new()).is_err());
    }

    #[test]
    fn spliced_documents_are_found(which in 0_usize..36, cut in any::<u32>(), length in 0_usize..40, filling in "[\"\\\\{},:a0 \\[\\]]{0,40}") {
        let sets = sets();
        let set = &sets[which];
        let text = document(set, 2, 0);
        let start = cut as usize % text.len();
        let end = (start + length).min(text.len());
        let spliced = [&text[..start], filling.as_bytes(), &text[end..]].concat();
        let good = set.check(2, &spliced, WriteScope::Nothing, &mut Scratch::new()).is_ok();
        let same = serde_json::from_slice::<Value>(&spliced).ok() == serde_json::from_slice::<Value>(&text).ok();
        prop_assert_eq!(good, same);
    }
}
