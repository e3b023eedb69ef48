//! Tests of keys and their record numbers.

use std::collections::HashSet;

use jsonathlon_dataset::records::{KEY_LENGTH, KeyOrder, KeyType, Kind, Records, Values};
use proptest::prelude::*;

use crate::common::records;

fn keys(key_order: KeyOrder, key_type: KeyType) -> Records {
    Records { key_order, key_type, ..records(Kind::Flat, Values::Text) }
}

fn key(records: &Records, number: u64) -> String {
    let mut key = Vec::new();
    records.key(number, &mut key);
    String::from_utf8(key).unwrap()
}

#[test]
fn keys_have_their_forms() {
    let ordered = keys(KeyOrder::Ordered, KeyType::Text);
    assert_eq!(key(&ordered, 42), "user0000000000000000042");
    assert_eq!(key(&ordered, (1 << 63) - 1), "user9223372036854775807");
    assert_eq!(key(&ordered, 42).len(), KEY_LENGTH);
    assert_eq!(key(&keys(KeyOrder::Ordered, KeyType::Bigint), 42), "42");
    let hashed = keys(KeyOrder::Hashed, KeyType::Text);
    let first: HashSet<String> = (0..1_000).map(|number| key(&hashed, number)).collect();
    assert_eq!(first.len(), 1_000);
    let sorted = (0..1_000).map(|number| key(&hashed, number)).is_sorted();
    assert!(!sorted);
    // The hashed keys spread over the whole range.
    let high = (0..10_000).filter(|number| hashed.bigint(*number) > 1 << 62).count();
    assert!((4_700..5_300).contains(&high), "{high}");
}

#[test]
fn what_is_no_key_has_no_number() {
    let text = keys(KeyOrder::Ordered, KeyType::Text);
    let wrong = ["", "user", "user42", "user00000000000000000042", "User0000000000000000042"];
    assert!(wrong.iter().all(|key| text.number(key.as_bytes()).is_none()));
    assert_eq!(text.number(b"user000000000000000004x"), None);
    assert_eq!(text.number(b"user9223372036854775808"), None);
    let bigint = keys(KeyOrder::Ordered, KeyType::Bigint);
    for key in ["", "-1", "+1", "01", "1 ", "9223372036854775808", "00", "1e3"] {
        assert_eq!(bigint.number(key.as_bytes()), None, "{key}");
    }
    assert_eq!(bigint.number(b"0"), Some(0));
    assert_eq!(bigint.number_of_bigint(-1), None);
}

proptest! {
    #[test]
    fn keys_can_be_turned_back(number in 0_u64..1 << 63) {
        for key_order in [KeyOrder::Hashed, KeyOrder::Ordered] {
            for key_type in [KeyType::Text, KeyType::Bigint] {
                let records = keys(key_order, key_type);
                prop_assert_eq!(records.number(key(&records, number).as_bytes()), Some(number));
                prop_assert_eq!(records.number_of_bigint(records.bigint(number)), Some(number));
                prop_assert!(records.bigint(number) >= 0);
            }
        }
    }

    #[test]
    fn text_keys_sort_as_integers_do(a in 0_u64..1 << 63, b in 0_u64..1 << 63) {
        let records = keys(KeyOrder::Hashed, KeyType::Text);
        prop_assert_eq!(
            key(&records, a).cmp(&key(&records, b)),
            records.bigint(a).cmp(&records.bigint(b))
        );
    }
}
