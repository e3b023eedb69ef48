//! Scans are in key order and leave nothing out.

use jsonathlon_dataset::own_records::{OwnKey, OwnRecordSet, OwnScratch};
use jsonathlon_dataset::records::{AnswerFault, KeyType};
use proptest::prelude::*;

use crate::common::{Data, hostile, lines, loaded, set};

/// Verifies a scan that returns these records.
fn scan(
    set: &OwnRecordSet,
    (start, limit, finds_omissions): (u64, u64, bool),
    rows: &[u64],
) -> Result<u64, AnswerFault> {
    let scratch = &mut OwnScratch::default();
    let mut scan = set.check_scan(start, limit, finds_omissions, scratch).unwrap();
    for row in rows {
        let mut key = Vec::new();
        set.write_key(*row, &mut key).unwrap();
        let key = match set.records().key_type {
            KeyType::Text => OwnKey::Text(&key),
            KeyType::Bigint => OwnKey::Integer(set.integer_key(*row)),
        };
        let number = scan.check_key(key, scratch).map_err(|error| error.fault)?;
        assert_eq!(number, *row);
    }
    scan.finish().map_err(|error| error.fault)
}

#[test]
fn faults_of_scans_are_found() {
    for key in ["/a.b/", "/id", ""] {
        let data = Data::new(&hostile(50));
        let set = set(&data.key(key, "/text").unwrap().records);
        assert_eq!(scan(&set, (10, 4, true), &[10, 11, 12, 13]), Ok(4), "{key}");
        assert_eq!(scan(&set, (47, 9, true), &[47, 48, 49]), Ok(3));
        assert_eq!(scan(&set, (10, 4, true), &[10, 12, 13]), Err(AnswerFault::Omitted));
        assert_eq!(scan(&set, (10, 4, true), &[11, 12]), Err(AnswerFault::Omitted));
        assert_eq!(scan(&set, (10, 4, true), &[10, 11]), Err(AnswerFault::Omitted));
        assert_eq!(scan(&set, (10, 4, true), &[]), Err(AnswerFault::Omitted));
        assert_eq!(scan(&set, (10, 2, true), &[10, 11, 12]), Err(AnswerFault::Surplus));
        for finds_omissions in [false, true] {
            assert_eq!(scan(&set, (10, 4, finds_omissions), &[10, 10]), Err(AnswerFault::Order));
            assert_eq!(scan(&set, (10, 4, finds_omissions), &[10, 11, 10]), Err(AnswerFault::Order));
            assert_eq!(scan(&set, (10, 4, finds_omissions), &[9]), Err(AnswerFault::Order));
        }
        assert_eq!(scan(&set, (10, 4, false), &[10, 12, 40]), Ok(3));
        assert_eq!(scan(&set, (10, 4, false), &[]), Ok(0));
    }
}

#[test]
fn keys_of_no_record_are_found() {
    let data = Data::new(&hostile(50));
    let set = set(&data.key("/a.b/", "").unwrap().records);
    let scratch = &mut OwnScratch::default();
    let mut scan = set.check_scan(0, 9, false, scratch).unwrap();
    let key = OwnKey::Text(b"zzz");
    assert_eq!(scan.check_key(key, scratch).unwrap_err().fault, AnswerFault::Key);
}

#[test]
fn documents_that_the_load_left_out_are_not_due() {
    let data = Data::new(&hostile(20));
    let records = data.key("/id", "").unwrap().records;
    let (set, _) =
        loaded(&records, |number, text| (number != 4 && number != 5 && number < 18).then_some(text));
    assert_eq!(scan(&set, (3, 3, true), &[3, 6, 7]), Ok(3));
    assert_eq!(scan(&set, (16, 9, true), &[16, 17]), Ok(2));
    assert_eq!(scan(&set, (3, 3, true), &[3, 7]), Err(AnswerFault::Omitted));
    assert_eq!(scan(&set, (3, 3, false), &[3, 5]), Err(AnswerFault::Unasked));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// New records among loaded ones, by the order of their keys.
    #[test]
    fn scans_with_new_records_are_right(
        keys in prop::collection::btree_set("[a-c-]{0,6}", 2..40),
        new in prop::collection::btree_set(0_u64..60, 0..30),
        start in 0_usize..90,
        limit in 1_u64..30,
    ) {
        let keys: Vec<String> = keys.into_iter().collect();
        let data = Data::new(&lines(keys.len(), |index| format!(r#"{{"key":"{}"}}"#, keys[index])));
        let set = set(&data.key("/key", "").unwrap().records);
        let documents = keys.len() as u64;
        let mut all: Vec<(Vec<u8>, u64)> = (0..documents)
            .chain(new.into_iter().map(|index| documents + index))
            .map(|number| {
                let mut key = Vec::new();
                set.write_key(number, &mut key).unwrap();
                (key, number)
            })
            .collect();
        all.sort();
        let start = start % all.len();
        let rows: Vec<u64> = all.iter().skip(start).take(limit as usize).map(|(_, number)| *number).collect();
        prop_assert_eq!(scan(&set, (all[start].1, limit, true), &rows), Ok(rows.len() as u64));
        for removed in rows {
            let left = all.iter().skip(start).map(|(_, number)| *number).filter(|number| *number != removed);
            let rows: Vec<u64> = left.take(limit as usize).collect();
            let is_found = scan(&set, (all[start].1, limit, true), &rows) == Err(AnswerFault::Omitted);
            prop_assert_eq!(is_found, removed < documents);
        }
    }
}
