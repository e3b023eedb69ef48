//! The yardstick as a driver: statements, files, and use by a worker.

use std::collections::BTreeMap;
use std::path::Path;

use jsonathlon_dataset::questions::Question;
use jsonathlon_driver_api::test_support::{MemoryDocuments, RecordingSink};
use jsonathlon_schema::value::Value;

use super::*;
use crate::testing::event;

fn open_with(folder: &Path, settings: &[(&str, &str)]) -> Result<Box<Yardstick>> {
    let settings: BTreeMap<String, String> =
        settings.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
    let open = SessionOptions {
        protocol: "yardstick".into(),
        folder: folder.to_owned(),
        settings,
        ..SessionOptions::default()
    };
    Yardstick::open(&open).map(Box::new)
}

fn loaded(session: &mut Yardstick, table: &str, lines: &[String]) -> RecordingSink {
    let mut sink = RecordingSink::default();
    session.bulk_in(&format!("load {table} :doc"), &mut MemoryDocuments::new(lines), &mut sink).unwrap();
    sink
}

fn count(session: &mut Yardstick, table: &str) -> Value {
    session.collect(&format!("count {table}")).unwrap().rows[0][0].clone()
}

fn answers(session: &mut Yardstick) -> Vec<ResultSet> {
    Question::ALL.map(|question| session.collect(&format!("{question} documents")).unwrap()).to_vec()
}

fn error<T: std::fmt::Debug>(result: Result<T>) -> String {
    result.unwrap_err().to_string()
}

#[test]
fn what_was_loaded_is_there_in_the_next_session_and_can_be_added_to() {
    let folder = tempfile::tempdir().unwrap();
    let mut session = open_with(folder.path(), &[("threads", "1")]).unwrap();
    session.collect("create documents").unwrap();
    let mut lines: Vec<String> = (0..200)
        .map(|number| event(&format!("é{}", number % 7), number * 1_000_000_000, "app.bsky.feed.post"))
        .collect();
    lines.push("{\"did\":\"é0\"}".into());
    lines.push("{\"did\":".into());
    let sink = loaded(&mut session, "documents", &lines);
    assert_eq!((sink.offered, sink.refused.len(), sink.refused[0].0), (202, 1, 201));
    let before = answers(&mut session);
    assert_eq!(before[0].columns, ["event", "count"]);
    let sizes = session.collect("sizes documents").unwrap();
    let bytes = std::fs::metadata(folder.path().join("documents.columns")).unwrap().len();
    assert_eq!(sizes.columns, ["total_bytes", "data_bytes", "index_bytes"]);
    assert_eq!((&sizes.rows[0][0], &sizes.rows[0][2]), (&Value::count(bytes), &Value::Int(0)));
    session.close().unwrap();

    let mut session = open_with(folder.path(), &[("threads", "3")]).unwrap();
    assert_eq!(count(&mut session, "documents"), Value::Int(201));
    assert_eq!(answers(&mut session), before);
    loaded(&mut session, "documents", &[event("é0", 7, "app.bsky.feed.post"), event("new", 7, "x")]);
    assert_eq!(count(&mut session, "documents"), Value::Int(203));
    let mut reopened = open_with(folder.path(), &[]).unwrap();
    assert_eq!(answers(&mut reopened), answers(&mut session));
    assert_ne!(answers(&mut reopened), before);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn tables_are_made_and_dropped_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let mut session = open_with(folder.path(), &[]).unwrap();
    session.collect("drop documents").unwrap();
    for name in ["documents", "documents_on_trial"] {
        session.collect(&format!("create {name}")).unwrap();
    }
    assert!(error(session.collect("create documents")).contains("already"));
    loaded(&mut session, "documents_on_trial", &["[]".to_owned()]);
    assert_eq!(count(&mut session, "documents"), Value::Int(0));
    for question in Question::ALL {
        assert!(session.collect(&format!("{question} documents")).unwrap().rows.is_empty());
    }
    session.collect("drop documents_on_trial").unwrap();
    assert!(error(session.collect("q1 documents_on_trial")).contains("no table `documents_on_trial`"));
    let mut reopened = open_with(folder.path(), &[]).unwrap();
    assert_eq!(count(&mut reopened, "documents"), Value::Int(0));
    assert!(reopened.collect("count documents_on_trial").is_err());
}

#[test]
fn a_load_that_fails_as_a_whole_leaves_nothing() {
    struct Broken(u8);
    impl DocumentSource for Broken {
        fn next_document(&mut self) -> Result<Option<&[u8]>> {
            self.0 += 1;
            if self.0 > 2 { Err(DriverError::Documents("cut".into())) } else { Ok(Some(b"{\"did\":\"x\"}")) }
        }
    }
    let folder = tempfile::tempdir().unwrap();
    let mut session = open_with(folder.path(), &[]).unwrap();
    session.collect("create documents").unwrap();
    let load = session.bulk_in("load documents :doc", &mut Broken(0), &mut RecordingSink::default());
    assert_eq!(load, Err(DriverError::Documents("cut".into())));
    assert_eq!(count(&mut session, "documents"), Value::Int(0));
    let mut empty = MemoryDocuments::new::<&str>(&[]);
    assert!(
        error(session.bulk_in("count documents", &mut empty, &mut RecordingSink::default()))
            .contains("not a load statement")
    );
    assert!(
        error(session.bulk_in("load nowhere :doc", &mut empty, &mut RecordingSink::default()))
            .contains("no table")
    );
    assert!(error(session.collect("load documents :doc")).contains("row by row"));
}

#[test]
fn files_that_are_cut_or_foreign_are_told_from_good_ones() {
    let folder = tempfile::tempdir().unwrap();
    let mut session = open_with(folder.path(), &[]).unwrap();
    session.collect("create documents").unwrap();
    loaded(&mut session, "documents", &[event("a", 1, "é"), event("b", 2, "y")]);
    let path = folder.path().join("documents.columns");
    let good = std::fs::read(&path).unwrap();
    let open_bytes = |bytes: &[u8]| {
        std::fs::write(&path, bytes).unwrap();
        open_with(folder.path(), &[]).map(drop)
    };
    assert_eq!(open_bytes(&good), Ok(()));
    for length in 0..good.len() {
        let text = error(open_bytes(&good[..length]));
        assert!(text.contains("documents.columns"), "{text}");
    }
    let mut longer = good.clone();
    longer.push(0);
    assert!(error(open_bytes(&longer)).contains("bytes long"));
    assert!(error(open_bytes(&[b'x'; 500])).contains("another kind of file"));
    let mut layout = good.clone();
    layout[8] = 9;
    assert!(error(open_bytes(&layout)).contains("load again"));
    // Whatever the header contains, no memory is allocated for it and nothing overflows.
    let mut rows = good.clone();
    rows[12..20].fill(0xff);
    assert!(error(open_bytes(&rows)).contains("bytes long"));
    // No changed byte makes a question fail.
    for index in 20..good.len() {
        let mut changed = good.clone();
        changed[index] ^= 0x81;
        std::fs::write(&path, &changed).unwrap();
        if let Ok(mut session) = open_with(folder.path(), &[]) {
            answers(&mut session);
        }
    }
}

#[test]
fn settings_are_checked() {
    let folder = tempfile::tempdir().unwrap();
    let thread_count = |settings| open_with(folder.path(), settings).map(|session| session.threads.count());
    assert_eq!(thread_count(&[]), Ok(1));
    assert_eq!(thread_count(&[("threads", "2")]), Ok(2));
    assert!(thread_count(&[("threads", "0")]).unwrap() >= 1);
    assert!(error(thread_count(&[("threads", "many")])).contains("`many`"));
    assert!(error(thread_count(&[("thread", "2")])).contains("`thread`"));
    assert_eq!(open_with(folder.path(), &[]).unwrap().version(), Ok("yardstick 1".to_owned()));
}

#[test]
fn a_worker_loads_and_asks() {
    use std::sync::Arc;

    use jsonathlon_telemetry::clock::FakeClock;
    use serde_json::{Value as Json, json};

    let folder = tempfile::tempdir().unwrap();
    let input = tempfile::tempdir().unwrap();
    let file = input.path().join("events");
    std::fs::write(
        &file,
        [event("a", 1, "x"), "{".into(), event("b", 2, "x"), event("b", 3, "y")].join("\n"),
    )
    .unwrap();
    let requests = [
        json!({"id": 1, "op": "open", "protocol": 3, "open": {"protocol": "yardstick", "folder": folder.path(),
            "settings": {"threads": "2"}, "statements": ["create documents"]}}),
        json!({"id": 2, "op": "load", "mode": "rows", "statement": "load documents :doc", "file": file}),
        json!({"id": 3, "op": "ask", "statement": "q2 documents"}),
        json!({"id": 4, "op": "plan", "statement": "plan q2 documents"}),
        json!({"id": 5, "op": "sizes", "statement": "sizes documents"}),
        json!({"id": 6, "op": "sizes", "statement": "count documents"}),
        json!({"id": 7, "op": "close"}),
    ];
    let input: String = requests.iter().map(|request| format!("{request}\n")).collect();
    let output = crate::testing::SharedBuffer::default();
    crate::request_loop::serve(input.as_bytes(), output.clone(), Arc::new(FakeClock::new()), None).unwrap();
    let replies: Vec<Json> = output.text().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let ok = |id: usize| &replies[id - 1]["ok"];
    assert_eq!(ok(1)["version"], "yardstick 1");
    assert_eq!((&ok(2)["documents"], &ok(2)["rejects"][0]["line"]), (&json!(3), &json!(1)));
    assert_eq!(ok(3)["outcome"]["rows"], json!([["x", 2, 2], ["y", 1, 1]]));
    assert!(ok(4)["text"].as_str().unwrap().contains("columnar scan of 3 rows"), "{}", ok(4)["text"]);
    assert_eq!(ok(5)["index_bytes"], 0);
    assert_eq!(ok(6)["documents"], 3);
}
