//! Loads that change the keys in documents, and loads that mix documents up.

use jsonathlon_dataset::own_records::{KeptDocuments, OwnCell, OwnRecordSet, OwnRecords};
use jsonathlon_dataset::records::{AnswerFault, SeenVersions};
use serde_json::{Value, json};

use crate::common::{Data, document, hostile, lines, loaded, loaded_and_kept, set};
use crate::reading::{check, project};

#[test]
fn a_load_that_mixes_up_documents_is_reported() {
    let data = Data::new(&hostile(10));
    let records = data.key("/id", "/text").unwrap().records;
    let plain = set(&records);
    let (_, report) = loaded(&records, |number, text| match number {
        2 => Some(document(&plain, 3, 0)),
        4 => Some(text.chars().take(20).collect()),
        _ => Some(text),
    });
    assert_eq!((report.documents, report.absent, report.unexpected), (8, 2, 2));
    assert!(report.unexpected_rows[0].contains(&plain.key_text(2)), "{report:?}");
}

#[test]
fn a_key_that_is_rounded_in_the_document_is_a_change() {
    const FIRST: i64 = 1 << 53;
    let key = |number: u64| FIRST + number.cast_signed();
    let data = Data::new(&lines(40, |index| {
        format!(r#"{{"id":{},"v":"loaded {index}","x":{index}}}"#, key(index as u64))
    }));
    let records = data.key("/id", "/v").unwrap().records;
    let rounded = |number: u64| key(number) as f64;
    let (set, report) = loaded(&records, |number, text| {
        let mut value: Value = serde_json::from_str(&text).unwrap();
        value["id"] = json!(rounded(number));
        Some(value.to_string())
    });
    // Every other key is no double. It becomes the key of another record, and the column tells which it is.
    assert_eq!((report.documents, report.absent, report.unexpected), (40, 0, 0), "{report:?}");
    assert_eq!((report.changed, report.value_changes, report.key_changes), (20, 0, 20));
    let with_id = |number: u64, id: Value| {
        let mut value: Value = serde_json::from_str(&document(&set, number, 3)).unwrap();
        value["id"] = id;
        check(&set, number, &value.to_string())
    };
    // Numbers from 40 on are new records.
    for number in [0, 1, 6, 7, 40, 41, 42, 43] {
        assert_eq!(with_id(number, json!(key(number))), Ok(Some(3)), "as it was written");
        assert_eq!(with_id(number, json!(rounded(number))), Ok(Some(3)), "as the system rounds it");
        assert_eq!(with_id(number, json!(key(number) + 4)), Err(AnswerFault::Key));
        assert_eq!(with_id(number, json!("a text")), Err(AnswerFault::Key));
    }
    let paths: Vec<String> = set.records().paths.iter().map(ToString::to_string).collect();
    assert_eq!(paths, ["/id", "/v", "/x"]);
    let mut version = Vec::new();
    set.value(41, 3, &mut version);
    let version = String::from_utf8(version).unwrap();
    let new: Value = serde_json::from_str(&document(&set, 41, 3)).unwrap();
    let x = OwnCell::Int(new["x"].as_i64().unwrap());
    let at_version = Ok(SeenVersions { version: Some(3), base: None });
    for (id, expected) in [
        (OwnCell::Int(key(41)), at_version),
        (OwnCell::Float(rounded(41)), at_version),
        (OwnCell::Text("9007199254741034"), Err(AnswerFault::Value)),
    ] {
        assert_eq!(project(&set, 41, &[id, OwnCell::Text(&version), x]), expected, "{id:?}");
    }
    let answer = json!([rounded(41), version, new["x"]]).to_string();
    assert_eq!(project(&set, 41, &[OwnCell::Text(&answer)]), at_version);
}

#[test]
fn a_new_key_may_be_the_first_that_is_rounded() {
    // As JavaScript writes them: doubles, in as few digits as name them.
    let key = |number: u64| (1_765_432_109_876_543_500_i64 + 1_000 * number.cast_signed()) as f64;
    let ids = || lines(9, |index| format!(r#"{{"id":{},"v":"loaded {index}","x":1}}"#, key(index as u64)));
    let with_id = |set: &OwnRecordSet, number: u64, id: &str| {
        let text = document(set, number, 3);
        let (start, end) = (text.find(r#""id":"#).unwrap() + 5, text.find(r#","v""#).unwrap());
        check(set, number, &format!("{}{id}{}", &text[..start], &text[end..]))
    };
    let data = Data::new(&ids());
    let (set, report) = loaded(&data.key("/id", "/v").unwrap().records, |_, text| Some(text));
    assert_eq!((report.changed, report.unexpected), (0, 0), "{report:?}");
    let new = set.integer_key(11);
    let rounded = (new as f64).to_string();
    assert_ne!(rounded, new.to_string());
    for id in [new.to_string(), rounded.clone(), format!("{:.0}", new as f64)] {
        assert_eq!(with_id(&set, 11, &id), Ok(Some(3)), "{id}");
    }
    assert_eq!(with_id(&set, 11, &(new + 1).to_string()), Err(AnswerFault::Key), "another record's key");
    let mut version = Vec::new();
    set.value(11, 3, &mut version);
    let version = String::from_utf8(version).unwrap();
    let answer = |id: &str| format!(r#"[{id},"{version}",1]"#);
    assert!(project(&set, 11, &[OwnCell::Text(&answer(&rounded))]).is_ok());
    assert!(project(&set, 11, &[OwnCell::Text(&answer(&(new + 1).to_string()))]).is_err());
    // A key that is no double, and came back as it was, tells that the system does not round.
    let mut lines = ids();
    lines.push(r#"{"id":9007199254740993,"v":"loaded 9","x":1}"#.to_owned());
    let data = Data::new(&lines);
    let (set, _) = loaded(&data.key("/id", "/v").unwrap().records, |_, text| Some(text));
    let new = set.integer_key(12);
    assert_ne!((new as f64).to_string(), new.to_string());
    assert_eq!(with_id(&set, 12, &(new as f64).to_string()), Err(AnswerFault::Key));
}

#[test]
fn exchanged_documents_with_keys_of_one_double_are_no_change() {
    let data =
        Data::new(&lines(10, |index| format!(r#"{{"id":{},"v":"a text"}}"#, (1_u64 << 53) + index as u64)));
    let records = data.key("/id", "/v").unwrap().records;
    let plain = set(&records);
    let (_, report) = loaded(&records, |number, text| match number {
        0 | 1 => Some(document(&plain, 1 - number, 0)),
        _ => Some(text),
    });
    assert_eq!(report.unexpected, 1, "{report:?}");
    assert!(report.unexpected_rows[0].contains(&plain.key_text(0)), "{report:?}");
}

#[test]
fn a_document_with_the_key_of_another_is_no_change() {
    let data = Data::new(&lines(10, |index| format!(r#"{{"id":"k{index}","v":"a text","x":1}}"#)));
    let records = data.key("/id", "/v").unwrap().records;
    let with_key = |text: &str, key: Value| {
        let mut value: Value = serde_json::from_str(text).unwrap();
        value["id"] = key;
        value.to_string()
    };
    let give_back = |number: u64, text: String| match number {
        2 => Some(with_key(&text, json!("k3"))),
        4 => Some(with_key(&text, json!("K4"))),
        5 => Some(with_key(&text, Value::Null)),
        _ => Some(text),
    };
    let (set, report) = loaded(&records, give_back);
    assert_eq!((report.documents, report.absent, report.unexpected), (9, 1, 1), "{report:?}");
    assert!(report.unexpected_rows[0].contains("k2") && report.unexpected_rows[0].contains("another"));
    assert_eq!((report.changed, report.key_changes), (2, 2));
    assert_eq!(check(&set, 4, r#"{"id":"K4","v":"a text","x":1}"#), Ok(Some(0)));
    assert_eq!(check(&set, 4, r#"{"id":"k5","v":"a text","x":1}"#), Err(AnswerFault::Key));
    assert_eq!(check(&set, 6, r#"{"id":"K6","v":"a text","x":1}"#), Err(AnswerFault::Key));
    // Where the system finds documents by that very member, it must be the key.
    let records = OwnRecords { key_member: Some("id".to_owned()), ..records };
    let (_, report) = loaded(&records, give_back);
    assert_eq!((report.documents, report.unexpected, report.key_changes), (7, 3, 0), "{report:?}");
}

#[test]
fn only_documents_with_changed_keys_are_kept_if_that_is_enough() {
    let data = Data::new(&hostile(20));
    let records = data.key("/id", "/text").unwrap().records;
    let change = |number: u64, text: String| {
        let mut value: Value = serde_json::from_str(&text).unwrap();
        match number {
            0..4 => value["n"] = json!("changed"),
            4 => value["id"] = json!("changed"),
            _ => {}
        }
        Some(value.to_string())
    };
    let size = |number: u64| change(number, document(&set(&records), number, 0)).unwrap().len() as u64;
    let sizes: Vec<u64> = (0..5).map(size).collect();
    for (kept, bytes) in
        [(KeptDocuments::Changed, sizes.iter().sum::<u64>()), (KeptDocuments::ChangedKeys, sizes[4])]
    {
        let (set, report) = loaded_and_kept(&records, kept, change);
        assert_eq!((report.changed, report.value_changes, report.key_changes), (5, 4, 1));
        assert_eq!(report.kept_bytes, bytes);
        for number in 0..20 {
            let text = document(&set, number, 0);
            let changed = change(number, text.clone()).unwrap();
            assert_eq!(check(&set, number, &changed), Ok(Some(0)), "{number}");
        }
        assert_eq!(check(&set, 0, r#"{"n":"other"}"#), Err(AnswerFault::Key));
        let other = change(4, document(&set, 4, 0)).unwrap().replace("changed", "other");
        assert_eq!(check(&set, 4, &other), Err(AnswerFault::Key));
    }
}
