//! Key and updated path that are proposed for staged documents.

use jsonathlon_dataset::DataError;
use jsonathlon_dataset::describe::{DescribeOptions, NamedPaths, Proposals, describe, propose_for_staged};
use jsonathlon_dataset::source::Source;
use proptest::prelude::*;

use crate::common::Data;

fn data(lines: &[&str]) -> Data {
    Data::new(&lines.iter().map(|line| (*line).to_owned()).collect::<Vec<_>>())
}

fn proposals(lines: &[&str], named: NamedPaths<'_>) -> Proposals {
    propose_for_staged(&data(lines).stage(), named, &|| false).unwrap()
}

/// The proposed key and updated path. Empty if none is proposed.
fn proposed(lines: &[&str], named: NamedPaths<'_>) -> (String, String) {
    let Proposals { key, update } = proposals(lines, named);
    let key = key.map(|key| key.name().to_owned());
    (key.unwrap_or_default(), update.map(|update| update.pointer).unwrap_or_default())
}

fn pair(key: &str, update: &str) -> (String, String) {
    (key.to_owned(), update.to_owned())
}

const NOTHING_NAMED: NamedPaths<'_> = NamedPaths { key: None, update: None };

#[test]
fn names_of_keys_come_first_if_they_are_unique() {
    let lines = [
        r#"{"id":1,"name":"a longer text","order_id":"x"}"#,
        r#"{"id":2,"name":"another text","order_id":"y"}"#,
    ];
    assert_eq!(proposed(&lines, NOTHING_NAMED), pair("/id", "/name"));
    let lines = [r#"{"id":1,"order_id":"x"}"#, r#"{"id":1,"order_id":"y"}"#];
    assert_eq!(proposed(&lines, NOTHING_NAMED).0, "/order_id", "the other is there twice");
    let lines = [r#"{"id":1,"a.b":{"":3}}"#, r#"{"a.b":{"":4}}"#];
    assert_eq!(proposed(&lines, NOTHING_NAMED).0, "/a.b/", "the other is not in every document");
}

#[test]
fn without_a_unique_path_the_line_is_the_key() {
    let lines = [r#"{"a":"same text"}"#, r#"{"a":"same text"}"#];
    assert_eq!(proposed(&lines, NOTHING_NAMED), pair("line", "/a"));
    let lines = [r#"{"a":0.5}"#, r#"{"a":1.5}"#];
    assert_eq!(proposed(&lines, NOTHING_NAMED), pair("line", ""), "fractions are neither");
}

#[test]
fn a_path_that_few_documents_have_is_not_updated_if_another_one_is_common() {
    let lines =
        [r#"{"id":1,"count":1,"note":"long enough"}"#, r#"{"id":2,"count":2}"#, r#"{"id":3,"count":2}"#];
    assert_eq!(proposed(&lines, NOTHING_NAMED), pair("/id", "/count"));
}

#[test]
fn suspects_count_like_all_documents() {
    let lines = [
        r#"{"id":1,"code":"a","name":"a longer text"}"#,
        r#"{"id":1,"code":"b","name":"another text","x":1,"x":2}"#,
        r#"{"id":2,"code":"c","name":"short","x":1,"x":2}"#,
    ];
    let data = data(&lines);
    assert_eq!(data.stage().suspects.len(), 2);
    let Proposals { key, update } = propose_for_staged(&data.stage(), NOTHING_NAMED, &|| false).unwrap();
    assert_eq!(key.unwrap().name(), "/code", "a suspect has the other value of another document");
    assert_eq!(update.unwrap().pointer, "/id", "a suspect has a text that is too short");
}

#[test]
fn what_the_user_named_is_not_proposed_for_the_other_use() {
    let lines = [r#"{"id":1,"name":"a longer text","n":5}"#, r#"{"id":2,"name":"another text","n":5}"#];
    let key_named = NamedPaths { key: Some("/name"), update: None };
    assert_eq!(proposed(&lines, key_named), pair("", "/n"));
    let line_named = NamedPaths { key: Some("line"), update: None };
    assert_eq!(proposed(&lines, line_named), pair("", "/name"));
    let update_named = NamedPaths { key: None, update: Some("/id") };
    assert_eq!(proposed(&lines, update_named), pair("/name", ""));
    let reason = proposals(&lines, update_named).key.unwrap().reason;
    assert!(reason.ends_with("; /id is left out, because updates set it"), "{reason}");
    let other_named = NamedPaths { key: None, update: Some("/n") };
    let reason = proposals(&lines, other_named).key.unwrap().reason;
    assert_eq!(reason, "in every document, unique; named like a key");
}

#[test]
fn documents_are_not_read_if_both_paths_are_named() {
    let data = data(&[r#"{"id":1,"n":5}"#]);
    let staged = data.stage();
    std::fs::remove_file(&staged.clean_file).unwrap();
    let both = NamedPaths { key: Some("/id"), update: Some("/n") };
    assert_eq!(propose_for_staged(&staged, both, &|| false).unwrap(), Proposals::default());
    let error = propose_for_staged(&staged, NOTHING_NAMED, &|| false).unwrap_err();
    assert!(matches!(error, DataError::NotFound { .. } | DataError::Io { .. }), "{error}");
}

#[test]
fn proposing_is_cancelled() {
    let suspect = r#"{"id":1,"id":2}"#;
    for lines in [[r#"{"id":1}"#, r#"{"id":2}"#], [suspect, suspect]] {
        let error = propose_for_staged(&data(&lines).stage(), NOTHING_NAMED, &|| true).unwrap_err();
        assert!(matches!(error, DataError::Cancelled), "{error}");
    }
}

#[test]
fn what_is_proposed_can_be_keyed_and_updated() {
    let large = u64::MAX;
    let lines = [
        format!(r#"{{"id":1,"hash":{large},"n":1}}"#),
        format!(r#"{{"id":2,"hash":{large}}}"#),
        format!(r#"{{"id":3,"hash":{large},"n":1}}"#),
    ];
    let data = Data::new(&lines);
    let Proposals { key, update } = propose_for_staged(&data.stage(), NOTHING_NAMED, &|| false).unwrap();
    let update = update.unwrap();
    assert_eq!(update.pointer, "/n", "clients cannot write integers beyond 64 bits with sign");
    let keyed = data.key(key.unwrap().name(), &update.pointer).unwrap();
    assert_eq!(keyed.records.update.unwrap().documents, update.documents);
}

/// A document with members that are or are not fit, and may make it a suspect.
fn document() -> impl Strategy<Value = String> {
    let member = (
        prop::sample::select(vec!["id", "b", "c", "user_id", "d"]),
        prop_oneof![
            3 => (0..60_i64).prop_map(|number| number.to_string()),
            3 => "[a-z]{7,9}".prop_map(|text| format!("\"{text}\"")),
            1 => prop::sample::select(vec![
                "null", "1.5", "1e999", r#""\u0000 is nul""#, r#""\ud800 is half""#, "[1]",
                r#"{"id":7}"#, "18446744073709551615",
            ]).prop_map(str::to_owned),
        ],
    );
    // Members that occur twice make a suspect, too.
    let members = prop::collection::vec(member, 1..5);
    members.prop_map(|members| {
        let members = members.iter().map(|(name, value)| format!("\"{name}\":{value}"));
        format!("{{\"a\":\"common to all\",{}}}", members.collect::<Vec<_>>().join(","))
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn proposals_are_those_of_the_profile(
        mut lines in prop::collection::vec(document(), 1..6),
        blank in any::<prop::sample::Index>(),
        no_document in any::<prop::sample::Index>(),
    ) {
        lines.insert(1 + blank.index(lines.len()), String::new());
        // The first line shows that the file holds one document a line.
        lines.insert(1 + no_document.index(lines.len()), "{\"id\":".to_owned());
        let data = Data::new(&lines);
        let source = Source::Path(data.file());
        let profile = describe(&source, &DescribeOptions::default(), &mut |_| {}, &|| false).unwrap();
        let found = propose_for_staged(&data.stage(), NOTHING_NAMED, &|| false).unwrap();
        prop_assert_eq!((found.key, found.update), (profile.key, profile.update));
    }
}
