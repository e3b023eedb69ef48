//! Tests of the verification of scans, projections and element conditions.

use jsonathlon_dataset::records::{
    AnswerError, AnswerFault, ContainerKind, KeyOrder, KeyType, Kind, RecordSet, Records, Scratch,
    SeenVersions, Values, WriteScope,
};
use serde_json::Value;

use crate::common::{document, records, set, value};

fn key(set: &RecordSet, number: u64) -> Vec<u8> {
    let mut key = Vec::new();
    set.key(number, &mut key);
    key
}

/// Numbers of the records in key order, starting at record `start`.
fn in_order(set: &RecordSet, loaded: u64, start: u64) -> Vec<u64> {
    let mut numbers: Vec<u64> = (0..loaded).collect();
    numbers.sort_by_key(|number| set.records().bigint(*number));
    let from = numbers.iter().position(|number| *number == start).unwrap();
    numbers.split_off(from)
}

fn scan(set: &RecordSet, loaded: u64, start: u64, limit: u64, rows: &[u64]) -> Result<u64, AnswerError> {
    let keys = set.sorted_keys(loaded);
    let mut scan = set.check_scan(start, limit, Some(&keys));
    let mut scratch = Scratch::new();
    for number in rows {
        let row = scan.check_row(
            &key(set, *number),
            &document(set, *number, 0),
            WriteScope::Nothing,
            &mut scratch,
        )?;
        assert_eq!(row, (*number, SeenVersions { version: None, base: Some(0) }));
    }
    scan.finish()
}

#[test]
fn scans_are_whole_and_in_order() {
    for key_order in [KeyOrder::Hashed, KeyOrder::Ordered] {
        for key_type in [KeyType::Text, KeyType::Bigint] {
            let records = Records { key_order, key_type, ..records(Kind::Flat, Values::Text) };
            let set = records.prepare().unwrap();
            for start in [0, 17, 99] {
                let order = in_order(&set, 100, start);
                let rows = &order[..order.len().min(10)];
                assert_eq!(scan(&set, 100, start, 10, rows), Ok(rows.len() as u64));
                let fault =
                    |limit, rows: &[u64]| scan(&set, 100, start, limit, rows).map_err(|wrong| wrong.fault);
                if rows.len() < 4 {
                    continue;
                }
                assert_eq!(fault(rows.len() as u64 - 1, rows), Err(AnswerFault::Surplus));
                assert_eq!(fault(10, &rows[1..]), Err(AnswerFault::Omitted));
                assert_eq!(fault(10, &[rows[0], rows[2]]), Err(AnswerFault::Omitted));
                assert_eq!(fault(10, &[rows[1], rows[0]]), Err(AnswerFault::Omitted));
                assert_eq!(fault(10, &[rows[0], rows[0]]), Err(AnswerFault::Order));
                if order.len() > rows.len() || rows.len() == 10 {
                    assert_eq!(fault(10, &rows[..3]), Err(AnswerFault::Omitted));
                }
                // Without the loaded keys, only the order of the rows can be verified.
                let mut loose = set.check_scan(start, 10, None);
                assert_eq!(loose.check_number(rows[0]), Ok(rows[0]));
                assert_eq!(loose.check_number(rows[2]), Ok(rows[2]));
                assert_eq!(loose.check_number(rows[1]).unwrap_err().fault, AnswerFault::Order);
                assert_eq!(loose.check_key(b"nothing").unwrap_err().fault, AnswerFault::Key);
                assert_eq!(loose.finish(), Ok(2));
            }
        }
    }
}

#[test]
fn scans_may_meet_inserted_records() {
    let set = set(Kind::Flat, Values::Text);
    let order = in_order(&set, 150, 3);
    // 100 records were loaded; whether the later ones are visible yet is unknown.
    let loaded: Vec<u64> = order.iter().copied().filter(|number| *number < 100).collect();
    assert_eq!(scan(&set, 100, 3, 20, &order[..20]), Ok(20));
    assert_eq!(scan(&set, 100, 3, 20, &loaded[..20]), Ok(20));
    assert_eq!(scan(&set, 100, 3, 1_000, &order), Ok(order.len() as u64));
}

#[test]
fn projections_hold_what_was_asked_for() {
    let set = set(Kind::Nested, Values::Random);
    let mut scratch = Scratch::new();
    let tree: Value = serde_json::from_slice(&document(&set, 4, 6)).unwrap();
    let paths = [3, 40, 87].map(|path| set.paths()[path].to_string());
    let part = set.subtree(&[3, 40, 87]);
    let mut found = serde_json::Map::new();
    for path in &paths {
        let steps: Vec<&str> = path.split('.').collect();
        let (last, steps) = steps.split_last().unwrap();
        let mut object = &mut found;
        for step in steps {
            let member = object.entry(*step).or_insert_with(|| Value::Object(serde_json::Map::new()));
            object = member.as_object_mut().unwrap();
        }
        object.insert(
            (*last).to_owned(),
            tree.pointer(&format!("/{}", path.replace('.', "/"))).unwrap().clone(),
        );
    }
    let text = Value::Object(found).to_string();
    let seen = set.check_subtree(&part, 4, text.as_bytes(), WriteScope::Path(40), &mut scratch);
    assert_eq!(seen, Ok(SeenVersions { version: Some(6), base: Some(6) }));
    let unwritten = set.check_subtree(&part, 4, text.as_bytes(), WriteScope::Path(0), &mut scratch);
    assert_eq!(unwritten, Ok(SeenVersions { version: None, base: Some(6) }));
    assert!(
        set.check_subtree(&set.subtree(&[3, 40]), 4, text.as_bytes(), WriteScope::Nothing, &mut scratch)
            .is_err()
    );
    assert!(set.check_subtree(&part, 5, text.as_bytes(), WriteScope::Nothing, &mut scratch).is_err());
    assert!(set.check(4, text.as_bytes(), WriteScope::Nothing, &mut scratch).is_err());
}

#[test]
fn a_quarter_of_the_elements_satisfies_the_condition() {
    for members in [1, 3, 4, 7, 40, 300] {
        let set = set(Kind::Items { members }, Values::Text);
        let mut scratch = Scratch::new();
        let mut totals = [0, 0];
        for number in 0..60 {
            let tree: Value = serde_json::from_slice(&document(&set, number, 2)).unwrap();
            let lists: [Vec<Value>; 2] = [
                tree["list"].as_array().unwrap().clone(),
                (1..=members).map(|place| tree["map"][format!("item{place}")].clone()).collect(),
            ];
            for ((form, list), total) in
                [ContainerKind::Array, ContainerKind::Object].into_iter().zip(lists).zip(&mut totals)
            {
                let chosen: Vec<&Value> =
                    list.iter().filter(|element| element["status"] == Value::Bool(true)).collect();
                let full = members as usize / 4;
                assert!((full..=full + 1).contains(&chosen.len()));
                *total += chosen.len() as u64;
                let (mut values, mut elements) =
                    (set.check_elements(number, form), set.check_elements(number, form));
                for element in &chosen {
                    let text = element["value"].as_str().unwrap().as_bytes();
                    let (path, version) = values.check_value(text, &mut scratch).unwrap();
                    assert!(version == 2 && set.satisfies(number, path));
                    let text = element.to_string();
                    let seen =
                        elements.check_element(text.as_bytes(), WriteScope::Nothing, &mut scratch).unwrap();
                    assert_eq!(seen, (path, SeenVersions { version: None, base: Some(2) }));
                }
                assert_eq!(values.finish(), Ok(chosen.len()));
                assert_eq!(elements.finish(), Ok(chosen.len()));
            }
        }
        assert_eq!(
            totals,
            [ContainerKind::Array, ContainerKind::Object].map(|form| set.count_satisfying_elements(form, 60))
        );
    }
}

#[test]
fn elements_may_come_in_any_order_and_only_once() {
    let set = set(Kind::Items { members: 40 }, Values::Random);
    let mut scratch = Scratch::new();
    let chosen: Vec<usize> = (40..80).filter(|path| set.satisfies(9, *path)).collect();
    let texts: Vec<Vec<u8>> = chosen.iter().map(|path| value(&set, 9, *path, 5)).collect();
    let mut turned = set.check_elements(9, ContainerKind::Object);
    for text in texts[..2].iter().chain(texts[2..].iter().rev()) {
        assert_eq!(turned.check_value(text, &mut scratch).unwrap().1, 5);
    }
    assert!(turned.check_value(&texts[3], &mut scratch).is_err());
    assert_eq!(turned.finish(), Ok(10));

    let mut twice = set.check_elements(9, ContainerKind::Object);
    twice.check_value(&texts[0], &mut scratch).unwrap();
    assert!(twice.check_value(&texts[0], &mut scratch).is_err());
    twice.check_value(&texts[1], &mut scratch).unwrap();
    assert_eq!(twice.finish().unwrap_err().fault, AnswerFault::Missing);

    let unchosen = (40..80).find(|path| !set.satisfies(9, *path)).unwrap();
    let mut wrong = set.check_elements(9, ContainerKind::Object);
    assert!(wrong.check_value(&value(&set, 9, unchosen, 5), &mut scratch).is_err());
    assert!(set.check_elements(9, ContainerKind::Array).check_value(&texts[0], &mut scratch).is_err());
    assert!(set.check_elements(8, ContainerKind::Object).check_value(&texts[0], &mut scratch).is_err());

    let all: Vec<&[u8]> = texts.iter().map(Vec::as_slice).collect();
    let mut more = set.check_elements(9, ContainerKind::Object);
    all.iter().for_each(|text| assert!(more.check_value(text, &mut scratch).is_ok()));
    assert_eq!(more.check_value(all[0], &mut scratch).unwrap_err().fault, AnswerFault::Surplus);
}
