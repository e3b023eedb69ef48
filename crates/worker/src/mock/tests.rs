use std::path::Path;
use std::sync::Arc;

use jsonathlon_dataset::reference::Reference;
use jsonathlon_dataset::scan::scan;
use jsonathlon_driver_api::test_support::{MemoryDocuments, RecordingSink};
use jsonathlon_telemetry::clock::{Clock, FakeClock};
use serde_json::json;

use super::*;
use crate::testing::event;

const POST: &str = "app.bsky.feed.post";
const LIKE: &str = "app.bsky.feed.like";

fn host() -> (DriverContext, Arc<FakeClock>) {
    let clock = Arc::new(FakeClock::new());
    (DriverContext { clock: Arc::clone(&clock) as Arc<dyn Clock>, output: None }, clock)
}

fn mock(folder: &Path, script: serde_json::Value) -> Result<Box<Mock>> {
    let settings = BTreeMap::from([("script".to_owned(), script.to_string())]);
    let open = SessionOptions {
        protocol: "mock".into(),
        folder: folder.to_owned(),
        settings,
        ..SessionOptions::default()
    };
    Mock::open(&open, &host().0).map(Box::new)
}

fn events() -> Vec<String> {
    (0..40)
        .map(|n| {
            event(&format!("did:plc:{}", n % 7), 3_600_000_000 * n, if n % 3 == 0 { POST } else { LIKE })
        })
        .collect()
}

/// Creates a mock that has loaded the events by row.
fn loaded(folder: &Path, script: serde_json::Value) -> Box<Mock> {
    let mut mock = mock(folder, script).unwrap();
    mock.collect("create").unwrap();
    assert_eq!(
        mock.bulk_in("load :doc", &mut MemoryDocuments::new(&events()), &mut RecordingSink::default()),
        Ok(40)
    );
    mock
}

fn expected_rows(question: Question) -> Vec<Row> {
    let mut reference = Reference::default();
    events().iter().for_each(|line| reference.observe(&scan(line.as_bytes()).event));
    reference.answers().rows(question).to_vec()
}

fn message<T: std::fmt::Debug>(result: Result<T>) -> String {
    match result {
        Err(DriverError::Refused(text)) => text,
        other => panic!("not refused: {other:?}"),
    }
}

#[test]
fn it_answers_all_questions_over_what_it_loaded_even_after_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    loaded(folder.path(), json!({})).close().unwrap();
    let mut reopened = mock(folder.path(), json!({})).unwrap();
    for question in Question::ALL {
        let outcome = reopened.collect(question.id()).unwrap();
        assert_eq!(outcome.rows, expected_rows(question), "{}", question.id());
        assert!(!outcome.rows.is_empty());
        assert_eq!(outcome.columns, question.columns());
    }
}

#[test]
fn a_file_is_loaded_whole_or_not_at_all() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("in put.ndjson");
    std::fs::write(&file, events().join("\n")).unwrap();
    let script = json!({"rejections": [{"ordinal": 7, "reason": "no", "load": 1}]});
    let mut mock = mock(folder.path(), script).unwrap();
    mock.collect("create").unwrap();
    let load = format!("load {}", file.display());
    let text = message(mock.collect(&load));
    assert!(text.starts_with("document 7 of") && text.ends_with(": no"), "{text}");
    assert_eq!(mock.collect("count").unwrap().rows, vec![vec![Value::Int(0)]]);
    mock.collect(&load).unwrap();
    assert_eq!(mock.collect("count").unwrap().rows, vec![vec![Value::Int(40)]]);
    assert!(message(mock.collect("load nowhere.ndjson")).contains("nowhere.ndjson"));
}

#[test]
fn documents_are_refused_by_the_script_and_for_what_they_are() {
    let folder = tempfile::tempdir().unwrap();
    let script = json!({"rejections": [{"ordinal": 1, "reason": "too red"}], "count_off_by": 2});
    let mut mock = mock(folder.path(), script).unwrap();
    mock.collect("create").unwrap();
    let mut sink = RecordingSink::default();
    let lines = [&b"{}"[..], b"{}", b"{\"a\":", b"[1]", b"{\"b\":1}", b"\"\xff\""];
    assert_eq!(mock.bulk_in("load :doc", &mut MemoryDocuments::new(&lines), &mut sink), Ok(2));
    assert_eq!(sink.refused.iter().map(|refused| refused.0).collect::<Vec<_>>(), [1, 2, 3, 5]);
    assert_eq!(sink.refused[0].1, "too red");
    assert!(sink.refused[1].1.starts_with("not JSON: "), "{:?}", sink.refused);
    assert_eq!(mock.collect("count").unwrap().rows, vec![vec![Value::Int(4)]]);
}

#[test]
fn an_answer_is_distorted_at_the_ask_that_the_script_names_across_restarts() {
    let folder = tempfile::tempdir().unwrap();
    let script = json!({"faults": [
        {"statement": "q2", "execution": 2, "action": "wrong_value", "row": 0, "column": 2},
        {"statement": "q2", "execution": 3, "action": "missing_row", "row": 1},
        {"statement": "q2", "execution": 4, "action": "extra_row", "cells": ["x", null, 1.5]},
        {"statement": "q2", "execution": 5, "action": "reorder"},
        {"statement": "q2", "execution": 6, "action": "nan", "row": 1, "column": 1},
        {"statement": "q2", "execution": 7, "action": "wrong_value", "row": 0, "column": 0, "value": null},
        {"statement": "q2", "execution": 8, "action": "refuse", "message": "out of memory"},
    ]});
    let expected = expected_rows(Question::Q2);
    let mut current = loaded(folder.path(), script.clone());
    let mut ask = || {
        // A restart between two executions must not lose the count.
        let mut restarted = mock(folder.path(), script.clone()).unwrap();
        std::mem::swap(&mut restarted, &mut current);
        current.collect("q2").map(|outcome| outcome.rows)
    };
    assert_eq!(ask().unwrap(), expected);
    let distorted = ask().unwrap();
    let Value::Int(users) = expected[0][2] else { panic!("users are counted") };
    assert_eq!(distorted[0][2], Value::Int(users + 1));
    assert_eq!(distorted[1..], expected[1..]);
    assert_eq!(ask().unwrap(), expected[..1]);
    assert_eq!(ask().unwrap()[2], vec![Value::Text("x".into()), Value::Null, Value::Float(1.5)]);
    assert_eq!(ask().unwrap(), expected.iter().rev().cloned().collect::<Vec<_>>());
    assert!(matches!(ask().unwrap()[1][1], Value::Float(number) if number.is_nan()));
    assert_eq!(ask().unwrap()[0][0], Value::Null);
    assert_eq!(ask(), Err(DriverError::Refused("out of memory".into())));
    assert_eq!(ask().unwrap(), expected);
}

#[test]
fn asks_of_clients_at_the_same_time_are_all_counted() {
    const CLIENTS: u64 = 8;
    const OPENED: u64 = 50;
    let folder = tempfile::tempdir().unwrap();
    std::thread::scope(|scope| {
        for _ in 0..CLIENTS {
            scope.spawn(|| (0..OPENED).for_each(|_| drop(mock(folder.path(), json!({})).unwrap())));
        }
    });
    let script = json!({"faults": [{"statement": "open", "execution": CLIENTS * OPENED + 1, "action": "refuse", "message": "the last"}]});
    assert_eq!(mock(folder.path(), script).err(), Some(DriverError::Refused("the last".into())));
}

#[test]
fn delays_pass_on_the_hosts_clock_and_are_told_as_its_own_time() {
    let folder = tempfile::tempdir().unwrap();
    let script = json!({"delay_ms": {"open": 700, "q1": 30}, "faults": [{"statement": "q1", "execution": 2, "action": "delay", "ms": 5}]});
    let settings = BTreeMap::from([("script".to_owned(), script.to_string())]);
    let open = SessionOptions { folder: folder.path().to_owned(), settings, ..SessionOptions::default() };
    let (host, clock) = host();
    let mut mock = Mock::open(&open, &host).unwrap();
    assert_eq!(clock.now(), Duration::from_millis(700));
    mock.collect("create").unwrap();
    assert_eq!(mock.collect("q1").unwrap().server_seconds, Some(0.03));
    assert_eq!(clock.now(), Duration::from_millis(730));
    mock.collect("q1").unwrap();
    assert_eq!(clock.now(), Duration::from_millis(765));
}

#[test]
fn it_drains_after_some_looks_and_tells_sizes_and_plans() {
    let folder = tempfile::tempdir().unwrap();
    let script =
        json!({"undrained": 2, "sizes": {"index_bytes": 5, "parts": null}, "plans": {"q1": "index only"}});
    let mut mock = loaded(folder.path(), script);
    let mut remaining = || mock.collect("drained").unwrap().rows[0][0].clone();
    assert_eq!(
        [remaining(), remaining(), remaining(), remaining()],
        [Value::Int(2), Value::Int(1), Value::Int(0), Value::Int(0)]
    );
    let sizes = mock.collect("sizes").unwrap();
    assert_eq!(sizes.columns, ["data_bytes", "index_bytes", "parts", "total_bytes"]);
    let bytes = Value::Int(events().iter().map(|line| line.len() as i64 + 1).sum());
    assert_eq!(sizes.rows, vec![vec![bytes.clone(), Value::Int(5), Value::Null, bytes]]);
    assert_eq!(mock.collect("plan q1").unwrap().rows[0][0], Value::Text("index only".into()));
    assert_eq!(mock.collect("plan q2;").unwrap().rows[0][0], Value::Text("scan for q2".into()));
}

#[test]
fn documents_come_back_as_they_were_unless_the_script_changes_them() {
    let folder = tempfile::tempdir().unwrap();
    let document = r#"{"time_us":-5,"b":null,"a":[{"d":1.0,"c":"é\n","n":null}]}"#;
    let mut plain = mock(folder.path(), json!({})).unwrap();
    plain.collect("create").unwrap();
    plain
        .bulk_in(
            ":doc",
            &mut MemoryDocuments::new(&[document, r#"{"time_us":6}"#]),
            &mut RecordingSink::default(),
        )
        .unwrap();
    let text = |row: &str| vec![vec![Value::Text(row.to_owned())]];
    assert_eq!(plain.collect("read_back [-5, 7]").unwrap().rows, text(document));
    assert_eq!(plain.collect("read_back 6,-5").unwrap().rows.len(), 2);
    let mut changing =
        mock(folder.path(), json!({"read_back": {"drop_nulls": true, "reorder_keys": true}})).unwrap();
    let changed = r#"{"a":[{"c":"é\n","d":1.0}],"time_us":-5}"#;
    assert_eq!(changing.collect("read_back -5").unwrap().rows, text(changed));
}

#[test]
fn tables_must_be_there_and_statements_known() {
    let folder = tempfile::tempdir().unwrap();
    let mut mock = mock(folder.path(), json!({})).unwrap();
    assert!(message(mock.collect("q1")).contains("no such table"));
    assert!(message(mock.collect("index")).contains("no such table"));
    mock.collect("create; index; q1").unwrap();
    assert!(message(mock.collect("create")).contains("there already"));
    assert!(message(mock.collect("q7")).contains("unknown statement `q7`"));
    mock.collect("drop").unwrap();
    assert!(message(mock.collect("count")).contains("no such table"));
}

#[test]
fn it_can_fail_to_open_and_a_wrong_script_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let script =
        json!({"faults": [{"statement": "open", "execution": 2, "action": "refuse", "message": "locked"}]});
    mock(folder.path(), script.clone()).unwrap();
    assert_eq!(mock(folder.path(), script.clone()).err(), Some(DriverError::Refused("locked".into())));
    mock(folder.path(), script).unwrap();
    let Err(DriverError::Unsupported(text)) = mock(folder.path(), json!({"fault": []})) else {
        panic!("taken")
    };
    assert!(text.contains("`fault`"), "{text}");
}

#[test]
fn a_script_in_the_data_folder_counts_when_the_settings_have_none() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("script.json"), r#"{"version": "mock 9"}"#).unwrap();
    let open = SessionOptions { folder: folder.path().to_owned(), ..SessionOptions::default() };
    assert_eq!(Mock::open(&open, &host().0).unwrap().version().unwrap(), "mock 9");
    assert_eq!(mock(folder.path(), json!({})).unwrap().version().unwrap(), "mock 1.0");
}
