//! Verification of documents and single values: what is right is accepted in any spelling, what is stale is
//! told by its version, and what is torn, swapped or changed is found.

use jsonathlon_dataset::own_records::{
    AbsenceMismatch, Baseline, Need, OwnCell, OwnRecordSet, OwnRecords, OwnScratch,
};
use jsonathlon_dataset::records::{AnswerFault, SeenVersions};
use serde_json::{Value, json};

use crate::common::{Data, document, hostile, lines, loaded, set};

fn check(set: &OwnRecordSet, number: u64, text: &str) -> Result<Option<u32>, AnswerFault> {
    let seen = set.check(number, text.as_bytes(), &mut OwnScratch::default());
    seen.map(|seen| {
        assert_eq!(seen.base, None);
        seen.version
    })
    .map_err(|error| error.fault)
}

/// Every kind of records over the hostile documents: text, integer and line keys; text and integer updates.
fn kinds(count: usize) -> Vec<(Data, OwnRecords)> {
    let choices = [("/a.b/", "/text"), ("/id", "/n"), ("/id", "/text"), ("", "/deep/x y/0"), ("", "/n")];
    choices
        .into_iter()
        .map(|(key, update)| {
            let data = Data::new(&hostile(count));
            let records = data.key(key, update).unwrap().records;
            (data, records)
        })
        .collect()
}

#[test]
fn documents_are_accepted_with_the_version_that_they_bear() {
    for (_data, records) in kinds(60) {
        for member in [None, Some("_id"), Some("id")] {
            let records = OwnRecords { key_member: member.map(str::to_owned), ..records.clone() };
            if member == Some("id") && !records.is_key_path("id") {
                continue;
            }
            let set = set(&records);
            for number in [0, 7, 59, 60, 61, 75] {
                for version in [1_u32, 2, 900, 70_000] {
                    let text = document(&set, number, version);
                    let mut buffer = Vec::new();
                    let expected = if set.is_like_loaded(number, version, &mut buffer) { 0 } else { version };
                    assert_eq!(check(&set, number, &text), Ok(Some(expected)), "{text}");
                    let reordered: Value = serde_json::from_str(&text).unwrap();
                    assert_eq!(check(&set, number, &reordered.to_string()), Ok(Some(expected)));
                    let value = match &records.update.as_ref().unwrap().path.to_string()[..] {
                        "/text" => reordered["text"].as_str().unwrap().to_owned(),
                        "/n" => reordered["n"].to_string(),
                        _ => reordered["deep"]["x y"][0].to_string(),
                    };
                    let mut expected = Vec::new();
                    set.value(number, version, &mut expected);
                    assert_eq!(value.as_bytes(), expected);
                }
                if number < 60 && member.is_none() {
                    assert_eq!(check(&set, number, &document(&set, number, 0)), Ok(Some(0)));
                }
            }
        }
    }
}

#[test]
fn texts_keep_their_length() {
    let data = Data::new(&hostile(30));
    let set = set(&data.key("/id", "/text").unwrap().records);
    for number in 0..30 {
        let bytes = |version| {
            let value: Value = serde_json::from_str(&document(&set, number, version)).unwrap();
            value["text"].as_str().unwrap().len()
        };
        assert_eq!(bytes(1), bytes(0).max(8));
        let mut loaded = Vec::new();
        set.loaded_value(number, &mut OwnScratch::default(), &mut loaded).unwrap();
        assert_eq!(loaded.len(), bytes(0));
    }
}

#[test]
fn torn_documents_are_found() {
    for (_data, records) in kinds(12) {
        let set = set(&records);
        for number in [3, 13] {
            let text = document(&set, number, 5);
            for end in (0..text.len()).filter(|end| text.is_char_boundary(*end)) {
                assert!(check(&set, number, &text[..end]).is_err(), "{}", &text[..end]);
            }
            assert_eq!(check(&set, number, &format!("{text}}}")), Err(AnswerFault::Trailing));
            let mut value: Value = serde_json::from_str(&text).unwrap();
            value["flag"] = json!(!value["flag"].as_bool().unwrap());
            assert_eq!(check(&set, number, &value.to_string()), Err(AnswerFault::Document));
            value.as_object_mut().unwrap().remove("flag");
            assert_eq!(check(&set, number, &value.to_string()), Err(AnswerFault::Document));
        }
    }
}

#[test]
fn documents_and_values_of_other_records_are_found() {
    for (_data, records) in kinds(12) {
        let set = set(&records);
        for (number, other) in [(3, 4), (13, 14), (3, 13), (13, 3)] {
            let fault = check(&set, number, &document(&set, other, 5)).unwrap_err();
            assert!(matches!(fault, AnswerFault::Key | AnswerFault::Document), "{fault}");
        }
        let (mut own, other): (Value, Value) = (
            serde_json::from_str(&document(&set, 3, 5)).unwrap(),
            serde_json::from_str(&document(&set, 4, 5)).unwrap(),
        );
        if records.update.as_ref().unwrap().path.to_string() == "/text" {
            own["text"] = other["text"].clone();
            assert_eq!(check(&set, 3, &own.to_string()), Err(AnswerFault::Value));
            own["text"] = json!("00000005");
            assert_eq!(check(&set, 3, &own.to_string()), Err(AnswerFault::Value));
            own.as_object_mut().unwrap().remove("text");
            assert_eq!(check(&set, 3, &own.to_string()), Err(AnswerFault::Value));
        }
    }
}

#[test]
fn a_version_that_looks_like_the_loaded_value_is_known_before_it_is_written() {
    let data = Data::new(&lines(5, |index| format!(r#"{{"id":{index},"n":{index}}}"#)));
    let set = set(&data.key("/id", "/n").unwrap().records);
    for number in 0..5 {
        for version in 1..7 {
            let is_like = set.is_like_loaded(number, version, &mut Vec::new());
            assert_eq!(is_like, number == u64::from(version));
        }
    }
    assert_eq!(check(&set, 3, r#"{"id":3,"n":3}"#), Ok(Some(0)));
    assert_eq!(check(&set, 3, r#"{"n":4.0,"id":3.0}"#), Ok(Some(4)));
    assert_eq!(check(&set, 3, r#"{"id":3,"n":"4"}"#), Err(AnswerFault::Value));
    assert_eq!(check(&set, 3, r#"{"id":3,"n":0}"#), Err(AnswerFault::Value));
    assert_eq!(check(&set, 3, r#"{"id":"3","n":4}"#), Err(AnswerFault::Key));
}

#[test]
fn documents_that_cannot_be_updated_stay_as_they_are() {
    let data = Data::new(&lines(40, |index| match index % 4 {
        0 => format!(r#"{{"id":{index},"v":"text of {index}"}}"#),
        1 => format!(r#"{{"id":{index},"v":[{index}]}}"#),
        2 => format!(r#"{{"id":{index}}}"#),
        _ => format!(r#"{{"id":{index},"v":{index}}}"#),
    }));
    let set = set(&data.key("/id", "/v").unwrap().records);
    assert_eq!((set.count(Need::Present), set.count(Need::Updatable)), (40, 10));
    for number in 0..40 {
        let chosen = set.choose(number, Need::Updatable);
        assert_eq!(chosen % 4, 0);
        assert_eq!(chosen == number, number % 4 == 0);
        assert_eq!(set.choose(number, Need::Present), number);
        assert_eq!(set.source(40 + number) % 4, 0);
    }
    assert_eq!(check(&set, 1, r#"{"v":[1],"id":1}"#), Ok(None));
    for wrong in [r#"{"v":[2],"id":1}"#, r#"{"id":1}"#, r#"{"v":"00000001","id":1}"#] {
        assert_eq!(check(&set, 1, wrong), Err(AnswerFault::Document), "{wrong}");
    }
    assert_eq!(check(&set, 2, r#"{"id":2,"v":null}"#), Err(AnswerFault::Document));
}

#[test]
fn what_the_load_changed_is_counted_once_and_then_right() {
    let data = Data::new(&hostile(40));
    let records = data.key("/id", "/text").unwrap().records;
    // A system that rounds every fourth number, spells all documents anew, and lacks two.
    let (set, report) = loaded(&records, |number, text| {
        let mut value: Value = serde_json::from_str(&text).unwrap();
        if number % 4 == 0 {
            value["deep"]["x y"][1]["v"] = json!(0);
        }
        (number != 5 && number != 6).then(|| value.to_string())
    });
    let changed: Vec<u64> = (0..40).step_by(4).collect();
    assert_eq!((report.documents, report.absent, report.unexpected), (38, 2, 0));
    assert_eq!(report.changed, changed.len() as u64);
    assert_eq!(report.absent_keys, [set.key_text(5), set.key_text(6)]);
    assert_eq!(set.count(Need::Present), 38);
    assert!(!set.is_present(5) && set.is_present(4));
    for number in 0..40 {
        let chosen = set.choose(number, Need::Present);
        assert!(chosen != 5 && chosen != 6);
        assert!(![5, 6].contains(&set.source(40 + number)));
    }
    // As given back, and as a client writes it, but nothing else.
    let mut value: Value = serde_json::from_str(&document(&set, 8, 3)).unwrap();
    assert_eq!(check(&set, 8, &value.to_string()), Ok(Some(3)));
    value["deep"]["x y"][1]["v"] = json!(0);
    assert_eq!(check(&set, 8, &value.to_string()), Ok(Some(3)));
    value["deep"]["x y"][1]["v"] = json!(1);
    assert_eq!(check(&set, 8, &value.to_string()), Err(AnswerFault::Document));
}

#[test]
fn systems_are_asked_for_the_same_records() {
    let data = Data::new(&lines(400, |index| match index % 4 {
        0 => format!(r#"{{"id":{index},"v":[{index}]}}"#),
        _ => format!(r#"{{"id":{index},"v":"text of {index}"}}"#),
    }));
    let records = data.key("/id", "/v").unwrap().records;
    let with = |text: &str, member: &str, value: Value| {
        let mut document: Value = serde_json::from_str(text).unwrap();
        document[member] = value;
        Some(document.to_string())
    };
    let plain = set(&records);
    let (changing, report) = loaded(&records, |_, text| with(&text, "new", json!(1)));
    assert_eq!((report.changed, report.not_updatable), (400, 0));
    let (poor, report) = loaded(&records, |number, text| match number {
        5 | 7 => None,
        9 => with(&text, "v", json!(9)),
        11 => with(&text, "v", json!("another text")),
        _ => Some(text),
    });
    assert_eq!((report.absent, report.changed, report.not_updatable), (2, 2, 3));
    let differs = |need: Need, asked: u64| match need {
        Need::Present => [5, 7].contains(&asked),
        Need::Updatable => [5, 7, 9].contains(&asked),
    };
    for number in 0..400 {
        for need in [Need::Present, Need::Updatable] {
            let (asked, chosen) = (plain.choose(number, need), poor.choose(number, need));
            assert_eq!(changing.choose(number, need), asked);
            assert_eq!(chosen != asked, differs(need, asked), "{number} {need:?}");
            assert!(!differs(need, chosen));
        }
        let (asked, chosen) = (plain.source(400 + number), poor.source(400 + number));
        assert_eq!(changing.source(400 + number), asked);
        assert_eq!(chosen != asked, differs(Need::Updatable, asked));
    }
    // What the load made of a value counts as its first version.
    assert_eq!(check(&poor, 11, r#"{"id":11,"v":"another text"}"#), Ok(Some(0)));
    assert_eq!(check(&poor, 11, &document(&poor, 11, 3)), Ok(Some(3)));
    assert_eq!(check(&poor, 11, r#"{"id":11,"v":"text of 11"}"#), Err(AnswerFault::Value));
}

#[test]
fn absent_documents_must_be_those_that_were_rejected() {
    let data = Data::new(&hostile(40));
    let records = data.key("/id", "/text").unwrap().records;
    let (_, report) = loaded(&records, |number, text| (number != 5 && number != 6).then_some(text));
    assert_eq!(report.absent, 2);
    let source = set(&records);
    // In these documents it is the value of `n`.
    let ordinal = |number: u64| {
        let value: Value = serde_json::from_str(&document(&source, number, 0)).unwrap();
        value["n"].as_u64().unwrap()
    };
    let baseline = Baseline::read(&records.folder.join("baseline"), &records).unwrap();
    let compare = |rejected: &[u64]| {
        let mut ordinals: Vec<u64> = rejected.iter().copied().map(ordinal).collect();
        ordinals.sort_unstable();
        baseline.compare_absent(&records, &ordinals).unwrap()
    };
    assert_eq!(compare(&[5, 6]), AbsenceMismatch::default());
    // As many are absent as were rejected.
    let exchanged = compare(&[5, 7]);
    assert_eq!((exchanged.lost, exchanged.kept), (1, 1));
    assert_eq!(exchanged.lost_keys, [source.key_text(6)]);
    assert_eq!(exchanged.kept_keys, [source.key_text(7)]);
    assert_eq!((compare(&[5]).lost, compare(&[5]).kept), (1, 0));
    assert_eq!((compare(&[5, 6, 7]).lost, compare(&[5, 6, 7]).kept), (0, 1));
    assert_eq!((compare(&[]).lost, compare(&[]).kept), (2, 0));
}

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
    assert_eq!((report.changed, report.key_changes), (20, 20));
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
fn a_baseline_of_other_records_is_refused() {
    let data = Data::new(&hostile(10));
    let records = data.key("/id", "/text").unwrap().records;
    loaded(&records, |_, text| Some(text));
    let other = OwnRecords { key_member: Some("_id".to_owned()), ..records.clone() };
    let path = records.folder.join("baseline");
    let error = Baseline::read(&path, &other).unwrap_err();
    assert!(error.to_string().contains("load the data again"), "{error}");
}

fn project(set: &OwnRecordSet, number: u64, cells: &[OwnCell<'_>]) -> Result<SeenVersions, AnswerFault> {
    let paths: Vec<usize> = (0..set.records().paths.len()).collect();
    let outcome = set.check_projection(number, &paths, cells, &mut OwnScratch::default());
    outcome.map_err(|error| error.fault)
}

#[test]
fn single_values_are_compared_in_the_types_of_protocols() {
    let data = Data::new(&lines(40, |index| match index {
        7 => r#"{"id":7,"s":"7","f":7.50,"b":false,"t":"loaded 7"}"#.to_owned(),
        8 => r#"{"id":8,"s":"8","f":8.5,"t":"loaded 8"}"#.to_owned(),
        _ => format!(r#"{{"id":{index},"s":"{index}","f":{index}.25,"b":true,"t":"loaded {index}"}}"#),
    }));
    let set = set(&data.key("/id", "/t").unwrap().records);
    let paths: Vec<String> = set.records().paths.iter().map(ToString::to_string).collect();
    assert_eq!(paths, ["/id", "/s", "/f", "/b", "/t"]);
    let text = OwnCell::Text;
    let at_version = |version| Ok(SeenVersions { version: Some(version), base: None });
    let mut third = Vec::new();
    set.value(7, 3, &mut third);
    let third = String::from_utf8(third).unwrap();
    for cells in [
        vec![OwnCell::Int(7), text("7"), OwnCell::Float(7.5), OwnCell::Bool(false), text("loaded 7")],
        vec![text("7"), text("\"7\""), text("7.500"), OwnCell::Int(0), text("loaded 7")],
        vec![text("7.0"), text("7"), text("75e-1"), text("false"), text("loaded 7")],
        vec![text(r#"{"t":"loaded 7","id":7,"s":"7","f":7.5,"b":false}"#)],
        vec![text(r#"[7,"7",7.5,false,"loaded 7"]"#)],
    ] {
        assert_eq!(project(&set, 7, &cells), at_version(0), "{cells:?}");
    }
    let cells = [OwnCell::Int(7), text("7"), OwnCell::Float(7.5), OwnCell::Bool(false), text(&third)];
    assert_eq!(project(&set, 7, &cells), at_version(3));
    for (cells, expected) in [
        (
            vec![OwnCell::Int(8), text("7"), OwnCell::Float(7.5), OwnCell::Bool(false), text(&third)],
            AnswerFault::Value,
        ),
        (
            vec![OwnCell::Int(7), OwnCell::Int(7), OwnCell::Float(7.5), OwnCell::Bool(false), text(&third)],
            AnswerFault::Value,
        ),
        (
            vec![OwnCell::Int(7), text("7"), OwnCell::Null, OwnCell::Bool(false), text(&third)],
            AnswerFault::Value,
        ),
        (
            vec![OwnCell::Int(7), text("7"), text("7.51"), OwnCell::Bool(false), text(&third)],
            AnswerFault::Value,
        ),
        (
            vec![OwnCell::Int(7), text("7"), text("7.5"), OwnCell::Bool(true), text(&third)],
            AnswerFault::Value,
        ),
        (
            vec![OwnCell::Int(7), text("7"), text("7.5"), OwnCell::Bool(false), text("loaded 8")],
            AnswerFault::Value,
        ),
        // JSON says which type a value has.
        (vec![text(r#"["7","7",7.5,false,"loaded 7"]"#)], AnswerFault::Value),
        (vec![text(r#"[7,7,7.5,false,"loaded 7"]"#)], AnswerFault::Value),
        (vec![text(r#"[7,"7",7.5,"false","loaded 7"]"#)], AnswerFault::Value),
        (vec![text(r#"{"t":"loaded 7","id":7,"s":"7","f":"7.5","b":false}"#)], AnswerFault::Value),
        (vec![text(r#"{"t":"loaded 7","id":7,"s":"7","f":7.5,"b":false,"x":1}"#)], AnswerFault::Additional),
        (vec![text(r#"{"t":"loaded 7","id":7,"s":"7","f":7.5}"#)], AnswerFault::Value),
        (vec![OwnCell::Int(7), text("7")], AnswerFault::Missing),
    ] {
        assert_eq!(project(&set, 7, &cells), Err(expected), "{cells:?}");
    }
    // A path that a document does not have.
    let cells = |flag| [OwnCell::Int(8), text("8"), OwnCell::Float(8.5), flag, text("loaded 8")];
    assert_eq!(project(&set, 8, &cells(OwnCell::Null)), at_version(0));
    assert_eq!(project(&set, 8, &cells(OwnCell::Bool(true))), Err(AnswerFault::Value));
    assert_eq!(project(&set, 8, &[text(r#"{"t":"loaded 8","id":8,"s":"8","f":8.5}"#)]), at_version(0));
    // A new record has its own key in place of that of its document.
    let value: Value = serde_json::from_str(&document(&set, 41, 1)).unwrap();
    assert_eq!(value["id"], 41);
    let new = value.to_string();
    assert_eq!(project(&set, 41, &[text(&new)]), at_version(1));
    let mut swapped = value.clone();
    swapped["id"] = json!(42);
    let swapped = swapped.to_string();
    assert_eq!(project(&set, 41, &[text(&swapped)]), Err(AnswerFault::Value));
}

#[test]
fn single_values_of_a_changed_document_are_those_that_were_given_back() {
    let data = Data::new(&lines(40, |index| {
        let integer = index + 9000;
        format!(r#"{{"id":{index},"f":{index}.25,"n":{integer},"t":"loaded {index}"}}"#)
    }));
    let records = data.key("/id", "/n").unwrap().records;
    // A system that cuts fractions off, and that gives back another integer, with a point.
    let (set, report) = loaded(&records, |number, text| {
        let mut value: Value = serde_json::from_str(&text).unwrap();
        if number % 2 == 0 {
            value["f"] = json!(number);
        }
        if number == 6 {
            value["n"] = json!(5.0);
        }
        Some(value.to_string())
    });
    assert_eq!((report.changed, report.unexpected), (20, 0));
    let at_version = |version| Ok(SeenVersions { version: Some(version), base: None });
    let paths: Vec<String> = set.records().paths.iter().map(ToString::to_string).collect();
    assert_eq!(paths, ["/id", "/f", "/n", "/t"]);
    let answer = |number: i64, f: f64, n: i64| {
        let loaded = format!("loaded {number}");
        let cells = [OwnCell::Int(number), OwnCell::Float(f), OwnCell::Int(n), OwnCell::Text(&loaded)];
        project(&set, number.cast_unsigned(), &cells)
    };
    assert_eq!(answer(7, 7.25, 9007), at_version(0));
    assert_eq!(answer(7, 7.0, 9007), Err(AnswerFault::Value));
    assert_eq!(answer(8, 8.0, 9008), at_version(0));
    assert_eq!(answer(8, 8.0, 3), at_version(3));
    // As a client may have written it as a whole.
    assert_eq!(answer(8, 8.25, 3), at_version(3));
    assert_eq!(answer(8, 8.5, 3), Err(AnswerFault::Value));
    let mut loaded_value = Vec::new();
    set.loaded_value(6, &mut OwnScratch::default(), &mut loaded_value).unwrap();
    assert_eq!(loaded_value, b"5", "the value that a write replaces is the one that is there");
}

#[test]
fn values_in_json_are_compared_with_all_their_digits_and_types() {
    let number = "12345678901234567890.123456789012345678901";
    let data = Data::new(&lines(40, |index| {
        format!(r#"{{"id":{index},"n":{number},"t":"loaded {index}","q":"\"q\"\ud83d\ude00"}}"#)
    }));
    let set = set(&data.key("/id", "/t").unwrap().records);
    let answer = |n: &str, q: &str| format!(r#"{{"id":7,"n":{n},"t":"loaded 7","q":{q}}}"#);
    let outcome = |n: &str, q: &str| project(&set, 7, &[OwnCell::Text(&answer(n, q))]).is_ok();
    let quoted = r#""\u0022q\"😀""#;
    assert!(outcome(number, quoted));
    assert!(outcome("123456789012345678901.23456789012345678901e-1", quoted), "another spelling");
    assert!(!outcome("12345678901234567890.123456789012345678902", quoted), "another last digit");
    assert!(!outcome(number, r#""q😀""#));
    let list = format!(r#"[7,{number},"loaded 7",{quoted}]"#);
    assert!(project(&set, 7, &[OwnCell::Text(&list)]).is_ok());
    assert!(project(&set, 7, &[OwnCell::Text(&list.replace(number, &format!("\"{number}\"")))]).is_err());
}

#[test]
fn documents_of_sixteen_megabytes_are_records() {
    let big = "word ".repeat(3_400_000);
    let data = Data::new(&[
        format!(r#"{{"id":1,"v":"loaded text","big":"{big}"}}"#),
        r#"{"id":2,"v":"x"}"#.to_owned(),
    ]);
    let set = set(&data.key("/id", "/v").unwrap().records);
    let text = document(&set, 0, 4);
    assert!(text.len() > 16 << 20);
    assert_eq!(check(&set, 0, &text), Ok(Some(4)));
    let torn = text.replacen("word word", "word ward", 1);
    assert_eq!(check(&set, 0, &torn), Err(AnswerFault::Document));
    assert_eq!(set.rows_within(0, 10, 8 << 20), 0);
    assert_eq!(set.rows_within(1, 10, 8 << 20), 1);
}
