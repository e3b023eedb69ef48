//! Tests of the connection contract with systems that need no installation.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test that cannot go on has failed, in its helpers too"
)]

mod suite;

use std::path::Path;
use std::sync::Arc;

use jsonathlon_driver_api::{Connection, DriverContext, DriverError, NonblockingConnection, SessionOptions};
use jsonathlon_telemetry::clock::MonotonicClock;
use jsonathlon_worker::Connector;

use suite::{DAY, Instants, Keyed, MILLISECOND, Query, SECOND, Table};

fn open(protocol: &str, folder: &Path) -> Box<dyn Connection> {
    let host = DriverContext { clock: Arc::new(MonotonicClock::new()), output: None };
    let open =
        SessionOptions { protocol: protocol.into(), folder: folder.to_owned(), ..SessionOptions::default() };
    Connector::for_protocol(protocol).unwrap().connect(&open, &host).unwrap()
}

fn lane(protocol: &str, folder: &Path, prepare: bool) -> Box<dyn NonblockingConnection> {
    let host = DriverContext { clock: Arc::new(MonotonicClock::new()), output: None };
    let open =
        SessionOptions { protocol: protocol.into(), folder: folder.to_owned(), ..SessionOptions::default() };
    Connector::for_protocol(protocol).unwrap().open_nonblocking(&open, &host, prepare).unwrap()
}

#[test]
fn sqlite_keeps_the_contract() {
    let folder = tempfile::tempdir().unwrap();
    let mut one = open("sqlite", folder.path());
    let table = Table {
        make: &["CREATE TABLE contract (n INTEGER, t TEXT, x REAL)"],
        insert: "INSERT INTO contract VALUES (?1, ?2, ?3)",
        read: "SELECT t, x FROM contract WHERE n = ?1",
        find: "SELECT n FROM contract WHERE t = ?1",
    };
    suite::values_are_values(&mut *one, &table);
    let query = Query {
        statement: "SELECT n, t FROM contract ORDER BY n",
        columns: &["n", "t"],
        refused: "SELECT * FROM nowhere",
    };
    suite::asking_is_asking(&mut *one, &query);
    // SQLite has no type for instants; the statement chooses the unit.
    let instants = Instants {
        make: &[],
        queries: &[
            ("SELECT unixepoch('2026-01-02') * 1000000", DAY),
            ("SELECT unixepoch('2026-01-02 03:04:05') * 1000000", SECOND),
            (
                "SELECT CAST(round(unixepoch('2026-01-02 03:04:05.678', 'subsec') * 1000) AS INTEGER) * 1000",
                MILLISECOND,
            ),
        ],
    };
    suite::instants_are_microseconds(&mut *one, &instants);
    one.collect("CREATE TABLE documents (doc TEXT)").unwrap();
    suite::bulk_names_what_is_refused(&mut *one, "INSERT INTO documents VALUES (json(:doc))");
    suite::bulk_blames_a_statement(&mut *one, "INSERT INTO nowhere VALUES (json(:doc))", "nowhere");
    let mut other = open("sqlite", folder.path());
    suite::statements_are_not_shared(&mut *one, &mut *other, &query);
    one.collect("CREATE TABLE keyed (k TEXT PRIMARY KEY, v TEXT)").unwrap();
    one.close().unwrap();
    other.close().unwrap();
    let keyed = Keyed {
        insert: "INSERT INTO keyed VALUES (?1, ?2)",
        update: "UPDATE keyed SET v = ?1 WHERE k = ?2",
        read: "SELECT v FROM keyed WHERE k = ?1",
        refused: "SELECT * FROM nowhere",
        counts: true,
        updates_nothing: true,
        conflict: &[(0, "BEGIN IMMEDIATE"), (1, "PRAGMA busy_timeout = 0"), (1, "BEGIN IMMEDIATE")],
    };
    suite::lanes_keep_it(&mut |prepare| lane("sqlite", folder.path(), prepare), &keyed);
}

#[test]
fn the_mock_keeps_the_contract() {
    let folder = tempfile::tempdir().unwrap();
    let mut one = open("mock", folder.path());
    one.collect("create").unwrap();
    suite::bulk_names_what_is_refused(&mut *one, "load :doc");
    let query = Query { statement: "count", columns: &["count"], refused: "nonsense" };
    suite::asking_is_asking(&mut *one, &query);
    let mut other = open("mock", folder.path());
    suite::statements_are_not_shared(&mut *one, &mut *other, &query);
}

#[test]
fn the_yardstick_keeps_the_contract() {
    let folder = tempfile::tempdir().unwrap();
    let mut one = open("yardstick", folder.path());
    one.collect("create documents").unwrap();
    suite::bulk_names_what_is_refused(&mut *one, "load documents :doc");
    let query = Query { statement: "count documents", columns: &["documents"], refused: "count nowhere" };
    suite::asking_is_asking(&mut *one, &query);
    let mut other = open("yardstick", folder.path());
    suite::statements_are_not_shared(&mut *one, &mut *other, &query);
}

#[test]
fn an_unknown_protocol_is_told_with_those_there_are() {
    let Err(DriverError::Unsupported(text)) = Connector::for_protocol("dbase") else { panic!("a connector") };
    assert!(text.contains("`dbase`") && text.contains("postgres, sqlite"), "{text}");
}
