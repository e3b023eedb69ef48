//! Keys of documents: which are refused, and what is written of the others.

use jsonathlon_dataset::DataError;
use jsonathlon_dataset::own_records::{NewKeys, OwnKey, OwnScratch, UpdateKind};
use jsonathlon_dataset::records::KeyType;

use crate::common::{Data, document, hostile, lines, set};

fn refusal(documents: &[&str], key: &str, update: &str) -> String {
    let documents: Vec<String> = documents.iter().map(|line| (*line).to_owned()).collect();
    let data = Data::new(&documents);
    let error = data.key(key, update).unwrap_err();
    assert!(matches!(error, DataError::Key { .. }), "{error}");
    assert_eq!(std::fs::read_dir(data.folder.path().join("keyed")).unwrap().count(), 0);
    error.to_string().replace(&data.file().display().to_string(), "FILE")
}

#[test]
fn documents_that_cannot_be_told_apart_are_refused_with_their_places() {
    let error = refusal(
        &[r#"{"id":"b"}"#, r#"{"id":"a"}"#, "", r#"{"id":"c"}"#, r#"{"id":"\u0061"}"#, r#"{"id":"b"}"#],
        "/id",
        "",
    );
    assert!(error.starts_with("FILE, line 2 and FILE, line 5 have the same key at /id"), "{error}");
    let error = refusal(&[r#"{"id":7}"#, r#"{"id":8}"#, r#"{"id":7}"#], "/id", "");
    assert!(error.starts_with("FILE, line 1 and FILE, line 3"), "{error}");
}

#[test]
fn keys_that_cannot_be_used_are_refused_with_their_place() {
    let long = format!(r#"{{"id":"{}"}}"#, "x".repeat(256));
    for (document, expected) in [
        (r#"{"ID":"b"}"#, "no value"),
        (r#"{"id":null}"#, "`null`"),
        (r#"{"id":true}"#, "truth value"),
        (r#"{"id":[1]}"#, "array or object"),
        (r#"{"id":1.5}"#, "no integer"),
        (r#"{"id":1e3}"#, "no integer"),
        (r#"{"id":9223372036854775808}"#, "no integer"),
        (r#"{"id":5}"#, "an integer, and FILE, line 1 has a text"),
        (r#"{"id":"b","id":"c"}"#, "twice"),
        (r#"{"id":"\ud800"}"#, "half a surrogate"),
        (&long, "more than 255 bytes"),
        (r#"["id"]"#, "no object"),
    ] {
        let error = refusal(&[r#"{"id":"a"}"#, document], "/id", "");
        assert!(error.starts_with("FILE, line 2: ") && error.contains(expected), "{error}");
    }
    let error = refusal(&[r#"{"id":"a","v":[]}"#, r#"{"id":"b","v":1.5}"#], "/id", "/v");
    assert!(error.contains("no document has one text or integer at /v"), "{error}");
    assert!(refusal(&[r#"{"id":"a"}"#], "/id", "/id").contains("the same path"));
}

#[test]
fn records_are_in_the_order_of_their_keys_and_rows_in_that_of_the_data() {
    let documents = hostile(500);
    let data = Data::new(&documents);
    let staged = data.stage();
    let keyed = data.key_staged(&staged, "/a.b/", "/text").unwrap();
    let records = &keyed.records;
    assert_eq!((records.documents, records.key_type), (500, KeyType::Text));
    let update = records.update.as_ref().unwrap();
    assert_eq!(
        (update.kind, update.documents, update.path.to_string()),
        (UpdateKind::Text, 500, "/text".into())
    );
    let paths: Vec<String> = records.paths.iter().map(ToString::to_string).collect();
    assert_eq!(paths, ["/a.b/", "/id", "/n", "/text", "/flag"]);
    let rows = std::fs::read_to_string(&keyed.staged.clean_file).unwrap();
    assert_eq!(rows.lines().count(), 500);
    assert_eq!(keyed.staged.clean_bytes, rows.len() as u64);
    for (row, line) in rows.lines().zip(&documents) {
        let document: serde_json::Value = serde_json::from_str(line).unwrap();
        assert_eq!(row, format!("{{\"key\":{},\"doc\":{line}}}", document["a.b"][""]));
    }
    let set = set(records);
    let mut previous = Vec::new();
    for number in 0..500 {
        let mut key = Vec::new();
        set.write_key(number, &mut key).unwrap();
        assert!(number == 0 || previous < key);
        let found = set.number(OwnKey::Text(&key), &mut OwnScratch::default()).unwrap();
        assert_eq!(found, Some(number));
        let value: serde_json::Value = serde_json::from_str(&document(&set, number, 0)).unwrap();
        assert_eq!(value["a.b"][""].as_str().unwrap().as_bytes(), key);
        previous = key;
    }
    assert_eq!(data.key_staged(&staged, "/a.b/", "/text").unwrap().staged.digest, keyed.staged.digest);
}

#[test]
fn integers_are_in_their_order_and_new_ones_behind_them() {
    let keys = [5, -3, i64::MIN, 0, 77, -1_000_000];
    let data = Data::new(&keys.map(|key| format!(r#"{{"id":{key},"n":{key}}}"#)));
    let records = data.key("/id", "/n").unwrap().records;
    let mut sorted = keys;
    sorted.sort_unstable();
    assert_eq!(records.new_keys, NewKeys::Upward(78));
    assert_eq!(records.update.as_ref().unwrap().kind, UpdateKind::Integer);
    let set = set(&records);
    let found: Vec<i64> = (0..8).map(|number| set.integer_key(number)).collect();
    assert_eq!(found, [&sorted[..], &[78, 79]].concat());
    for (number, key) in (0..).zip(found) {
        assert_eq!(set.number(OwnKey::Integer(key), &mut OwnScratch::default()).unwrap(), Some(number));
    }
    assert_eq!(set.number(OwnKey::Integer(4), &mut OwnScratch::default()).unwrap(), None);
    let data = Data::new(&[format!(r#"{{"id":{}}}"#, i64::MAX), r#"{"id":3}"#.to_owned()]);
    assert_eq!(data.key("/id", "").unwrap().records.new_keys, NewKeys::Downward(2));
    let data = Data::new(&[i64::MAX, i64::MIN].map(|key| format!(r#"{{"id":{key}}}"#)));
    assert!(data.key("/id", "").unwrap_err().to_string().contains("--key line"));
}

#[test]
fn lines_are_keys_where_documents_have_none() {
    let data = Data::new(&lines(30, |index| format!(r#"{{"n":{}}}"#, index % 3)));
    let keyed = data.key("", "/n").unwrap();
    assert_eq!((keyed.records.key.clone(), keyed.records.new_keys.clone()), (None, NewKeys::Upward(31)));
    let rows = std::fs::read_to_string(&keyed.staged.clean_file).unwrap();
    assert!(rows.starts_with("{\"key\":1,\"doc\":{\"n\":0}}\n"), "{rows}");
    let set = set(&keyed.records);
    assert_eq!((set.integer_key(0), set.integer_key(29), set.integer_key(30)), (1, 30, 31));
}

#[test]
fn suspects_are_rows_of_their_own() {
    let big = "9".repeat(400);
    let documents = [
        r#"{"id":"b"}"#.to_owned(),
        format!(r#"{{"id":"a","n":{big}}}"#),
        r#"{"id":"c","x":1,"x":2}"#.to_owned(),
    ];
    let data = Data::new(&documents);
    let staged = data.stage();
    let keyed = data.key_staged(&staged, "/id", "").unwrap();
    assert!(!staged.suspects.is_empty());
    for (suspect, document) in keyed.staged.suspects.iter().zip(&staged.suspects) {
        assert_eq!((suspect.ordinal, suspect.traits), (document.ordinal, document.traits));
        let row = String::from_utf8(keyed.staged.suspect_bytes(suspect).unwrap()).unwrap();
        let text = &documents[suspect.ordinal as usize];
        assert!(row.starts_with("{\"key\":\"") && row.ends_with(&format!(",\"doc\":{text}}}")), "{row}");
    }
    let set = set(&keyed.records);
    for number in 0..3 {
        let mut text = Vec::new();
        set.document(number, 1, None, &mut OwnScratch::default(), &mut text).unwrap();
        let ordinal = [1, 0, 2][number as usize];
        assert_eq!(String::from_utf8(text).unwrap(), documents[ordinal]);
    }
}

#[test]
fn a_file_that_was_changed_after_staging_is_noticed() {
    let data = Data::new(&lines(20, |index| format!(r#"{{"id":{index}}}"#)));
    let staged = data.stage();
    std::fs::write(data.file(), lines(20, |index| format!("{{\"id\":{}}}\n", index + 1)).concat()).unwrap();
    let error = data.key_staged(&staged, "/id", "").unwrap_err();
    assert!(matches!(error, DataError::ChangedDocuments { .. }), "{error}");
}

#[test]
fn members_in_which_systems_keep_keys_are_noticed() {
    let data = Data::new(&[r#"{"id":1}"#.to_owned(), r#"{"id":2,"_id":{}}"#.to_owned()]);
    let records = data.key("/id", "").unwrap().records;
    let conflict = records.member_conflict("_id").unwrap();
    assert!(conflict.contains("`--key /_id`"), "{conflict}");
    assert!(conflict.contains("'.own_id = ._id | del(._id)'"), "{conflict}");
    assert_eq!(records.member_conflict("key"), None);
    let data = Data::new(&[r#"{"_id":1}"#.to_owned()]);
    let records = data.key("/_id", "").unwrap().records;
    assert_eq!(records.member_conflict("_id"), None);
    assert!(records.is_key_path("_id") && records.uses_member("_id") && !records.uses_member("key"));
    // Exports of MongoDB.
    let data = Data::new(&[r#"{"_id":{"$oid":"507f1f77bcf86cd799439011"}}"#.to_owned()]);
    let conflict = data.key("/_id/$oid", "").unwrap().records.member_conflict("_id").unwrap();
    assert!(conflict.contains(r#"jq -c '._id = ._id["$oid"]'`, and use `--key /_id`"#), "{conflict}");
}
