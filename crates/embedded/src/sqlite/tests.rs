use std::collections::BTreeMap;

use jsonathlon_driver_api::driver::Connection as _;
use jsonathlon_driver_api::test_support::{MemoryDocuments, RecordingSink};

use super::*;

fn open_in(folder: &std::path::Path, settings: &[(&str, &str)]) -> Result<Box<Sqlite>> {
    let settings: BTreeMap<String, String> =
        settings.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
    let options = SessionOptions {
        protocol: "sqlite".into(),
        folder: folder.to_owned(),
        settings,
        ..SessionOptions::default()
    };
    Sqlite::open(&options).map(Box::new)
}

fn single_cell(session: &mut Sqlite, statement: &str) -> Value {
    session.collect(statement).unwrap().rows[0][0].clone()
}

#[test]
fn cells_keep_their_types_and_every_bit() {
    let folder = tempfile::tempdir().unwrap();
    let mut session = open_in(folder.path(), &[]).unwrap();
    let outcome = session
        .collect("SELECT -9223372036854775808 AS least, 9223372036854775807, NULL, 0.1, 1e999, char(0)||'é😀\n', ''")
        .unwrap();
    assert_eq!(outcome.columns[0], "least");
    assert_eq!(
        outcome.rows,
        vec![vec![
            Value::Int(i64::MIN),
            Value::Int(i64::MAX),
            Value::Null,
            Value::Float(0.1),
            Value::Float(f64::INFINITY),
            Value::Text("\0é😀\n".into()),
            Value::Text(String::new()),
        ]]
    );
}

#[test]
fn half_a_surrogate_pair_does_not_take_the_whole_answer() {
    let folder = tempfile::tempdir().unwrap();
    let mut session = open_in(folder.path(), &[]).unwrap();
    let outcome = session
        .collect(r#"SELECT '{"a":"x\ud800y"}' ->> '$.a' AS a, 7 AS n UNION ALL SELECT 'é', 8"#)
        .unwrap();
    let row = |text: &str, n| vec![Value::Text(text.into()), Value::Int(n)];
    assert_eq!(outcome.rows, [row("x\u{fffd}y", 7), row("é", 8)]);
    assert_eq!(outcome.replaced, 1);
    assert_eq!(session.collect("SELECT 'é'").unwrap().replaced, 0);
}

#[test]
fn an_empty_answer_still_has_its_columns() {
    let folder = tempfile::tempdir().unwrap();
    let outcome = open_in(folder.path(), &[]).unwrap().collect("SELECT 1 AS a WHERE 0").unwrap();
    assert_eq!((outcome.columns, outcome.rows), (vec!["a".to_owned()], vec![]));
}

#[test]
fn of_several_statements_all_run_and_the_last_one_answers() {
    let folder = tempfile::tempdir().unwrap();
    let mut session = open_in(folder.path(), &[]).unwrap();
    let text = "CREATE TABLE t (x);\nINSERT INTO t VALUES (';'), (2);\nSELECT count(*) FROM t; -- end";
    assert_eq!(session.collect(text).unwrap().rows, vec![vec![Value::Int(2)]]);
}

#[test]
fn an_error_is_sqlites_own_and_the_session_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let mut session = open_in(folder.path(), &[]).unwrap();
    let Err(DriverError::Refused(text)) = session.collect("SELECT * FROM nowhere") else {
        panic!("answered")
    };
    assert!(text.contains("no such table: nowhere"), "{text}");
    assert_eq!(single_cell(&mut session, "SELECT 1"), Value::Int(1));
}

#[test]
fn blobs_are_refused_with_advice() {
    let folder = tempfile::tempdir().unwrap();
    let mut session = open_in(folder.path(), &[]).unwrap();
    let Err(DriverError::Unsupported(text)) = session.collect("SELECT jsonb('{}') AS j") else {
        panic!("read")
    };
    assert!(text.contains("json(j)"), "{text}");
}

#[test]
fn documents_that_are_refused_are_told_by_ordinal_and_the_rest_stays() {
    let folder = tempfile::tempdir().unwrap();
    let mut session = open_in(folder.path(), &[("journal_mode", "WAL")]).unwrap();
    session.collect("CREATE TABLE t (j BLOB NOT NULL)").unwrap();
    let mut lines =
        MemoryDocuments::new(&["{\"a\":1}", "{\"a\":", "{\"nul\":\"\\u0000\"}", "", "{\"b\":\"é\"}"]);
    let mut sink = RecordingSink::default();
    let accepted = session.bulk_in("INSERT INTO t VALUES (jsonb(:doc))", &mut lines, &mut sink).unwrap();
    assert_eq!((accepted, sink.offered), (3, 5));
    assert_eq!(sink.refused.iter().map(|reject| reject.0).collect::<Vec<_>>(), [1, 3]);
    assert!(sink.refused[0].1.contains("malformed JSON"), "{:?}", sink.refused);
    session.close().unwrap();

    let mut reopened = open_in(folder.path(), &[]).unwrap();
    assert_eq!(single_cell(&mut reopened, "SELECT count(*) FROM t"), Value::Int(3));
    let third = single_cell(&mut reopened, "SELECT json(j) FROM t WHERE rowid = 3");
    assert_eq!(third, Value::Text("{\"b\":\"é\"}".into()));
}

#[test]
fn a_load_that_fails_as_a_whole_leaves_nothing_and_the_session_usable() {
    struct Broken(u8);
    impl DocumentSource for Broken {
        fn next_document(&mut self) -> Result<Option<&[u8]>> {
            self.0 += 1;
            if self.0 > 2 { Err(DriverError::Documents("cut".into())) } else { Ok(Some(b"{}")) }
        }
    }
    let folder = tempfile::tempdir().unwrap();
    let mut session = open_in(folder.path(), &[]).unwrap();
    session.collect("CREATE TABLE t (j)").unwrap();
    let loaded =
        session.bulk_in("INSERT INTO t VALUES (:doc)", &mut Broken(0), &mut RecordingSink::default());
    assert_eq!(loaded, Err(DriverError::Documents("cut".into())));
    assert_eq!(single_cell(&mut session, "SELECT count(*) FROM t"), Value::Int(0));
    let loaded = session.bulk_in(
        "INSERT INTO t VALUES (:doc)",
        &mut MemoryDocuments::new(&["{}"]),
        &mut RecordingSink::default(),
    );
    assert_eq!(loaded, Ok(1));
}

#[test]
fn a_load_statement_must_say_where_the_document_belongs() {
    let folder = tempfile::tempdir().unwrap();
    let mut session = open_in(folder.path(), &[]).unwrap();
    session.collect("CREATE TABLE t (j)").unwrap();
    let loaded = session.bulk_in(
        "INSERT INTO t VALUES (1)",
        &mut MemoryDocuments::new(&["{}"]),
        &mut RecordingSink::default(),
    );
    assert!(matches!(loaded, Err(DriverError::Unsupported(text)) if text.contains(":doc")));
}

#[test]
fn settings_are_pragmas_in_an_order_that_lets_them_count() {
    let folder = tempfile::tempdir().unwrap();
    let mut session = open_in(
        folder.path(),
        &[("cache_size", "-5000"), ("journal_mode", "WAL"), ("page_size", "16384"), ("synchronous", "OFF")],
    )
    .unwrap();
    session.collect("CREATE TABLE t (j)").unwrap();
    assert_eq!(single_cell(&mut session, "PRAGMA page_size"), Value::Int(16384));
    assert_eq!(single_cell(&mut session, "PRAGMA journal_mode"), Value::Text("wal".into()));
    assert_eq!(single_cell(&mut session, "PRAGMA synchronous"), Value::Int(0));
    assert_eq!(single_cell(&mut session, "PRAGMA cache_size"), Value::Int(-5000));
}

#[test]
fn a_pragma_that_does_not_exist_or_does_not_hold_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let Err(DriverError::Refused(text)) = open_in(folder.path(), &[("jurnal_mode", "WAL")]) else {
        panic!("taken")
    };
    assert!(text.contains("jurnal_mode"), "{text}");
    let Err(DriverError::Refused(text)) = open_in(folder.path(), &[("journal_mode", "WALL")]) else {
        panic!("taken")
    };
    assert!(text.contains("WALL") && text.contains("delete"), "{text}");
}

#[test]
fn documents_are_bound_whole_whatever_is_in_them() {
    let folder = tempfile::tempdir().unwrap();
    let mut session = open_in(folder.path(), &[]).unwrap();
    session.collect("CREATE TABLE t (j)").unwrap();
    let lines = ["a\0b", "", "é😀"];
    let load = "INSERT INTO t VALUES (:doc) RETURNING rowid";
    assert_eq!(
        session.bulk_in(load, &mut MemoryDocuments::new(&lines), &mut RecordingSink::default()),
        Ok(3)
    );
    let outcome = session.collect("SELECT typeof(j), octet_length(j), j FROM t ORDER BY rowid").unwrap();
    let row = |text: &str| {
        vec![Value::Text("text".into()), Value::Int(text.len() as i64), Value::Text(text.to_owned())]
    };
    assert_eq!(outcome.rows, lines.map(row));
}

#[test]
fn a_full_disk_fails_the_load_and_not_a_document() {
    let folder = tempfile::tempdir().unwrap();
    let mut session = open_in(folder.path(), &[("max_page_count", "5")]).unwrap();
    session.collect("CREATE TABLE t (j)").unwrap();
    let lines = vec!["x".repeat(1000); 100];
    let mut sink = RecordingSink::default();
    let loaded = session.bulk_in("INSERT INTO t VALUES (:doc)", &mut MemoryDocuments::new(&lines), &mut sink);
    assert_eq!(loaded, Err(DriverError::Refused("database or disk is full".into())));
    assert!(sink.refused.is_empty());
    assert_eq!(single_cell(&mut session, "SELECT count(*) FROM t"), Value::Int(0));
}

#[test]
fn a_load_statement_that_is_wrong_is_refused_in_sqlites_words() {
    let folder = tempfile::tempdir().unwrap();
    let mut session = open_in(folder.path(), &[]).unwrap();
    let load = |session: &mut Sqlite, text: &str| {
        session
            .bulk_in(text, &mut MemoryDocuments::new(&["{}"]), &mut RecordingSink::default())
            .unwrap_err()
            .to_string()
    };
    assert!(load(&mut session, "INSERT INTO nowhere VALUES (:doc)").contains("no such table: nowhere"));
    assert!(load(&mut session, "").contains("empty"));
}
