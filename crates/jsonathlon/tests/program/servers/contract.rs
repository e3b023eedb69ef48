//! Tests of the connection contract with systems that have to be installed.

use std::{path::Path, sync::Arc};

use jsonathlon_catalogue::{ANALYTICS, Catalogue};
use jsonathlon_driver_api::{Connection, DriverContext, NonblockingConnection, SessionOptions};
use jsonathlon_telemetry::clock::MonotonicClock;
use jsonathlon_worker::Connector;
use jsonathlon_workloads::{engine::endpoint, target::Target};

use super::{
    server::Server,
    suite::{self, DAY, INSTANT, Instants, Keyed, MILLISECOND, Query, SECOND, Table},
};
use crate::support::{
    LIMIT,
    real::{excluded, installed},
};

fn host() -> DriverContext {
    DriverContext { clock: Arc::new(MonotonicClock::new()), output: None }
}

fn connect(open: &SessionOptions) -> Box<dyn Connection> {
    let open = SessionOptions { statements: Vec::new(), ..open.clone() };
    Connector::for_protocol(&open.protocol)
        .unwrap()
        .connect(&open, &host())
        .unwrap_or_else(|error| panic!("{error}"))
}

/// Checks the contract of nonblocking connections; the system's tables must exist.
fn lanes_keep_it(open: &SessionOptions, keyed: &Keyed<'_>) {
    let open = SessionOptions { statements: Vec::new(), ..open.clone() };
    let connector = Connector::for_protocol(&open.protocol).unwrap();
    let mut lane = |prepare: bool| -> Box<dyn NonblockingConnection> {
        connector.open_nonblocking(&open, &host(), prepare).unwrap_or_else(|error| panic!("{error}"))
    };
    suite::lanes_keep_it(&mut lane, keyed);
}

/// Opening of an engine that is embedded into this process.
fn embedded(system: &str, variant: &str, folder: &Path) -> SessionOptions {
    let catalogue = Catalogue::load(&[]).unwrap();
    let system = catalogue.get(system).unwrap();
    let configuration = system.configuration(system.default_version(), variant, "default").unwrap();
    let installed = installed(configuration.artifact.as_ref().unwrap());
    Target::new(configuration, ANALYTICS, installed)
        .unwrap()
        .session_options(&folder.join("data"), 0)
        .unwrap()
}

fn keeps(one: &mut dyn Connection, table: &Table<'_>, query: &Query<'_>, instants: &Instants<'_>) {
    suite::values_are_values(one, table);
    suite::asking_is_asking(one, query);
    suite::instants_are_microseconds(one, instants);
}

/// Checks the whole contract on a server, with two connections.
fn server_keeps(
    system: &'static str,
    variant: &str,
    (table, query, instants): (&Table<'_>, &Query<'_>, &Instants<'_>),
    documents: [&str; 2],
    keyed: (&str, &Keyed<'_>),
) {
    if excluded(&[system]) {
        return;
    }
    let server = Server::new(system, variant);
    let started = jsonathlon_servers::Server::start(&server.launch, &|| false).unwrap();
    let endpoint = endpoint(started.login(), started.pid(), LIMIT);
    let open = SessionOptions { endpoint: Some(Box::new(endpoint)), ..server.open.clone() };
    let mut one = connect(&open);
    keeps(&mut *one, table, query, instants);
    let [make, load] = documents;
    one.collect(make).unwrap();
    suite::bulk_names_what_is_refused(&mut *one, load);
    let mut other = connect(&open);
    suite::statements_are_not_shared(&mut *one, &mut *other, query);
    let (make, keyed) = keyed;
    one.collect(make).unwrap();
    one.close().unwrap();
    other.close().unwrap();
    lanes_keep_it(&open, keyed);
    started.stop().unwrap();
}

#[test]
fn duckdb_keeps_it() {
    if excluded(&["duckdb"]) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let open = embedded("duckdb", "json", folder.path());
    let mut one = connect(&open);
    let table = Table {
        make: &["CREATE TABLE contract (n BIGINT, t VARCHAR, x DOUBLE)"],
        insert: "INSERT INTO contract VALUES ($1, $2, $3)",
        read: "SELECT t, x FROM contract WHERE n = $1",
        find: "SELECT n FROM contract WHERE t = $1",
    };
    let query = Query {
        statement: "SELECT n, t FROM contract ORDER BY n",
        columns: &["n", "t"],
        refused: "SELECT * FROM nowhere",
    };
    let instants = Instants {
        make: &[],
        queries: &[
            ("SELECT DATE '2026-01-02'", DAY),
            ("SELECT TIMESTAMP '2026-01-02 03:04:05.678901'", INSTANT),
            ("SELECT TIMESTAMPTZ '2026-01-02 08:34:05.678901+05:30'", INSTANT),
            ("SELECT '2026-01-02 03:04:05'::TIMESTAMP_S", SECOND),
            ("SELECT '2026-01-02 03:04:05.678'::TIMESTAMP_MS", MILLISECOND),
            ("SELECT '2026-01-02 03:04:05.678901234'::TIMESTAMP_NS", INSTANT),
            ("SELECT TIMESTAMP '1969-12-31 23:59:59.999999'", -1),
        ],
    };
    keeps(&mut *one, &table, &query, &instants);
    one.collect("CREATE TABLE keyed (k VARCHAR PRIMARY KEY, v VARCHAR)").unwrap();
    let keyed = Keyed {
        insert: "INSERT INTO keyed VALUES ($1, $2)",
        update: "UPDATE keyed SET v = $1 WHERE k = $2",
        read: "SELECT v FROM keyed WHERE k = $1",
        refused: "SELECT * FROM nowhere",
        counts: true,
        updates_nothing: true,
        conflict: &[(0, "BEGIN"), (0, "UPDATE keyed SET v = 'x'"), (1, "UPDATE keyed SET v = 'y'")],
    };
    // While the other session is open.
    lanes_keep_it(&open, &keyed);
    one.close().unwrap();
}

#[test]
fn chdb_keeps_it() {
    if excluded(&["clickhouse"]) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let open = embedded("clickhouse", "challenge", folder.path());
    let mut one = connect(&open);
    let table = Table {
        make: &[
            "CREATE TABLE contract (n Int64, t Nullable(String), x Nullable(Float64)) ENGINE = MergeTree ORDER BY n",
        ],
        insert: "INSERT INTO contract SELECT {p1:Int64}, {p2:Nullable(String)}, {p3:Nullable(Float64)}",
        read: "SELECT t, x FROM contract WHERE n = {p1:Int64}",
        find: "SELECT n FROM contract WHERE t = {p1:String}",
    };
    let query = Query {
        statement: "SELECT n, t FROM contract ORDER BY n",
        columns: &["n", "t"],
        refused: "SELECT * FROM nowhere",
    };
    let instants = Instants {
        make: &[],
        queries: &[
            ("SELECT toDate('2026-01-02')", DAY),
            ("SELECT toDate32('2026-01-02')", DAY),
            ("SELECT toDate32('1900-01-01')", -2_208_988_800_000_000),
            ("SELECT toDateTime('2026-01-02 03:04:05', 'UTC')", SECOND),
            ("SELECT toDateTime('2026-01-02 08:34:05', 'Asia/Kolkata')", SECOND),
            ("SELECT toDateTime64('2026-01-02 03:04:05.678', 3, 'UTC')", MILLISECOND),
            ("SELECT toDateTime64('2026-01-02 03:04:05.678901', 6, 'UTC')", INSTANT),
            ("SELECT toDateTime64('2026-01-02 03:04:05.678901234', 9, 'UTC')", INSTANT),
            ("SELECT toNullable(toDateTime64('1969-12-31 23:59:59.9999999', 7, 'UTC'))", -1),
        ],
    };
    keeps(&mut *one, &table, &query, &instants);
    one.collect("CREATE TABLE keyed (k String, v String) ENGINE = MergeTree ORDER BY k").unwrap();
    let keyed = Keyed {
        insert: "INSERT INTO keyed SELECT {p1:String}, {p2:String}",
        update: "ALTER TABLE keyed UPDATE v = {p1:String} WHERE k = {p2:String}",
        read: "SELECT v FROM keyed WHERE k = {p1:String}",
        refused: "SELECT * FROM nowhere",
        counts: false,
        updates_nothing: false,
        conflict: &[],
    };
    lanes_keep_it(&open, &keyed);
    one.close().unwrap();
}

#[test]
fn postgres_keeps_it() {
    let table = Table {
        make: &["CREATE TABLE contract (n bigint, t text, x float8)"],
        insert: "INSERT INTO contract VALUES ($1, $2, $3)",
        read: "SELECT t, x FROM contract WHERE n = $1",
        find: "SELECT n FROM contract WHERE t = $1",
    };
    let query = Query {
        statement: "SELECT n, t FROM contract ORDER BY n",
        columns: &["n", "t"],
        refused: "SELECT * FROM nowhere",
    };
    let documents = ["CREATE TABLE documents (doc jsonb)", "COPY documents (doc) FROM STDIN"];
    let keyed = Keyed {
        insert: "INSERT INTO keyed VALUES ($1, $2)",
        update: "UPDATE keyed SET v = $1 WHERE k = $2",
        read: "SELECT v FROM keyed WHERE k = $1",
        refused: "SELECT * FROM nowhere",
        counts: true,
        updates_nothing: true,
        conflict: &[
            (0, "BEGIN ISOLATION LEVEL REPEATABLE READ"),
            (0, "SELECT v FROM keyed"),
            (1, "UPDATE keyed SET v = 'x'"),
            (0, "UPDATE keyed SET v = 'y'"),
        ],
    };
    let keyed = ("CREATE TABLE keyed (k text PRIMARY KEY, v text)", &keyed);
    let instants = Instants {
        make: &[],
        queries: &[
            ("SELECT DATE '2026-01-02'", DAY),
            ("SELECT TIMESTAMP '2026-01-02 03:04:05.678901'", INSTANT),
            ("SELECT TIMESTAMPTZ '2026-01-02 08:34:05.678901+05:30'", INSTANT),
            ("SELECT TIMESTAMP '1969-12-31 23:59:59.999999'", -1),
        ],
    };
    server_keeps("postgresql", "json-only", (&table, &query, &instants), documents, keyed);
}

#[test]
fn mysql_keeps_it() {
    let table = Table {
        make: &["CREATE TABLE contract (n BIGINT, t LONGTEXT COLLATE utf8mb4_bin, x DOUBLE)"],
        insert: "INSERT INTO contract VALUES (?, ?, ?)",
        read: "SELECT t, x FROM contract WHERE n = ?",
        find: "SELECT n FROM contract WHERE t = ?",
    };
    let query = Query {
        statement: "SELECT n, t FROM contract ORDER BY n",
        columns: &["n", "t"],
        refused: "SELECT * FROM nowhere",
    };
    let documents = [
        "CREATE TABLE documents (doc JSON NOT NULL)",
        "LOAD DATA LOCAL INFILE 'documents' INTO TABLE documents CHARACTER SET utf8mb4 (doc)",
    ];
    for (system, variant) in [("mysql", "json-only"), ("mariadb", "no-index"), ("dolt", "generated")] {
        let keyed = Keyed {
            insert: "INSERT INTO keyed VALUES (?, ?)",
            update: "UPDATE keyed SET v = ? WHERE k = ?",
            read: "SELECT v FROM keyed WHERE k = ?",
            refused: "SELECT * FROM nowhere",
            counts: true,
            updates_nothing: true,
            conflict: match system {
                // Dolt detects the conflict when the later transaction commits.
                "dolt" => &[
                    (0, "BEGIN"),
                    (0, "UPDATE keyed SET v = 'x'"),
                    (1, "UPDATE keyed SET v = 'y'"),
                    (0, "COMMIT"),
                ],
                _ => &[
                    (1, "SET innodb_lock_wait_timeout = 1"),
                    (0, "BEGIN"),
                    (0, "UPDATE keyed SET v = 'x'"),
                    (1, "UPDATE keyed SET v = 'y'"),
                ],
            },
        };
        let make = "CREATE TABLE keyed (k VARCHAR(23) COLLATE utf8mb4_bin PRIMARY KEY, v LONGTEXT COLLATE utf8mb4_bin)";
        let instants = Instants {
            make: &[
                "CREATE TABLE instants (d DATE, t DATETIME(6), s TIMESTAMP(6) NULL, m DATETIME(3))",
                "INSERT INTO instants VALUES ('2026-01-02', '2026-01-02 03:04:05.678901', '2026-01-02 03:04:05.678901', \
                 '2026-01-02 03:04:05.678')",
            ],
            queries: &[
                ("SELECT d FROM instants", DAY),
                ("SELECT t FROM instants", INSTANT),
                ("SELECT s FROM instants", INSTANT),
                ("SELECT m FROM instants", MILLISECOND),
            ],
        };
        server_keeps(system, variant, (&table, &query, &instants), documents, (make, &keyed));
    }
}

#[test]
fn mongodb_keeps_it() {
    let table = Table {
        make: &[],
        insert: r#"{"command": {"insert": "contract", "documents": [{"n": ":1", "t": ":2", "x": ":3"}]}}"#,
        read: r#"{"command": {"find": "contract", "filter": {"n": ":1"}}, "rows": {"each": ["/cursor/firstBatch"],
            "columns": [{"name": "t", "at": "/t"}, {"name": "x", "at": "/x"}]}}"#,
        find: r#"{"command": {"find": "contract", "filter": {"t": ":1"}}, "rows": {"each": ["/cursor/firstBatch"],
            "columns": [{"name": "n", "at": "/n"}]}}"#,
    };
    let query = Query {
        statement: r#"{"command": {"find": "contract", "sort": {"n": 1}}, "rows": {"each": ["/cursor/firstBatch"],
            "columns": [{"name": "n", "at": "/n"}, {"name": "t", "at": "/t"}]}}"#,
        columns: &["n", "t"],
        refused: r#"{"command": {"nonsense": 1}}"#,
    };
    let documents = [
        r#"{"command": {"create": "documents"}}"#,
        r#"{"command": {"insert": "documents", "ordered": false, "documents": [":doc"]}}"#,
    ];
    let keyed = Keyed {
        insert: r#"{"command": {"insert": "keyed", "documents": [{"_id": ":1", "v": ":2"}]}}"#,
        update: r#"{"command": {"update": "keyed", "updates": [{"q": {"_id": ":2"}, "u": {"$set": {"v": ":1"}}}]}}"#,
        read: r#"{"command": {"find": "keyed", "filter": {"_id": ":1"}}, "rows": {"each": ["/cursor/firstBatch"],
            "columns": [{"name": "v", "at": "/v"}]}}"#,
        refused: r#"{"command": {"nonsense": 1}}"#,
        counts: true,
        updates_nothing: true,
        conflict: &[],
    };
    let keyed = (r#"{"command": {"create": "keyed"}}"#, &keyed);
    let instants = Instants {
        make: &[],
        queries: &[
            (
                r#"{"command": {"aggregate": 1, "pipeline": [{"$documents": [{"c": {"$toDate": 1767323045678}}]}], "cursor": {}},
                    "rows": {"each": ["/cursor/firstBatch"], "columns": [{"name": "c", "at": "/c"}]}}"#,
                MILLISECOND,
            ),
            (
                r#"{"command": {"aggregate": 1, "pipeline": [{"$documents": [{"c": {"$toDate": 1767323045678}}]}], "cursor": {}},
                    "rows": {"each": ["/cursor/firstBatch"], "columns": [{"name": "c", "at": "/c/$date"}]}}"#,
                MILLISECOND,
            ),
        ],
    };
    server_keeps("mongodb", "indexed", (&table, &query, &instants), documents, keyed);
}

#[test]
fn elasticsearch_keeps_it() {
    let table = Table {
        make: &[r#"{"method": "PUT", "path": "/contract", "body": {"mappings": {"properties":
            {"n": {"type": "long"}, "t": {"type": "keyword"}, "x": {"type": "double"}}}}}"#],
        insert: r#"{"method": "PUT", "path": "/contract/_doc/:1?refresh=true", "body": {"n": ":1", "t": ":2", "x": ":3"}}"#,
        read: r#"{"method": "POST", "path": "/contract/_search", "body": {"query": {"term": {"n": ":1"}}},
            "rows": {"each": ["/hits/hits"], "columns": [{"name": "t", "at": "/_source/t"}, {"name": "x", "at": "/_source/x"}]}}"#,
        find: r#"{"method": "POST", "path": "/contract/_search", "body": {"query": {"term": {"t": ":1"}}},
            "rows": {"each": ["/hits/hits"], "columns": [{"name": "n", "at": "/_source/n"}]}}"#,
    };
    let query = Query {
        statement: r#"{"method": "POST", "path": "/contract/_search", "body": {"sort": ["n"], "size": 100},
            "rows": {"each": ["/hits/hits"], "columns": [{"name": "n", "at": "/_source/n"}, {"name": "t", "at": "/_source/t"}]}}"#,
        columns: &["n", "t"],
        refused: r#"{"method": "POST", "path": "/nowhere/_search"}"#,
    };
    let documents = [
        r#"{"method": "PUT", "path": "/documents"}"#,
        r#"{"method": "POST", "path": "/documents/_bulk", "lines": [{"create": {"_id": ":id"}}, ":doc"]}"#,
    ];
    let keyed = Keyed {
        insert: r#"{"method": "PUT", "path": "/keyed/_create/:1", "body": {"v": ":2"}}"#,
        update: r#"{"method": "POST", "path": "/keyed/_update/:2", "body": {"doc": {"v": ":1"}}}"#,
        read: r#"{"method": "GET", "path": "/keyed/_doc/:1",
            "rows": {"each": [], "columns": [{"name": "v", "at": "/_source/v"}]}}"#,
        refused: r#"{"method": "POST", "path": "/nowhere/_search"}"#,
        counts: true,
        updates_nothing: true,
        conflict: &[(
            0,
            r#"{"method": "PUT", "path": "/keyed/_doc/true0?if_seq_no=999&if_primary_term=1", "body": {"v": "x"}}"#,
        )],
    };
    let keyed = (r#"{"method": "PUT", "path": "/keyed"}"#, &keyed);
    let instants = Instants {
        make: &[
            r#"{"method": "PUT", "path": "/instants/_doc/1?refresh=true", "body": {"at": "2026-01-02T03:04:05.678Z"}}"#,
        ],
        queries: &[(
            r#"{"method": "POST", "path": "/instants/_search", "body": {"size": 0, "aggs": {"last": {"max": {"field": "at"}}}},
                "rows": {"each": [], "columns": [{"name": "c", "at": "/aggregations/last/value", "type": "milliseconds"}]}}"#,
            MILLISECOND,
        )],
    };
    server_keeps("elasticsearch", "source", (&table, &query, &instants), documents, keyed);
}

/// PostgreSQL exports rows either by the client library (used for encrypted connections) or by the program's
/// own protocol code. Statements of loads are distinguished from documents.
#[test]
fn postgresql_copies_out_and_in_by_statements_that_do() {
    if excluded(&["postgresql"]) {
        return;
    }
    let server = Server::new("postgresql", "json-only");
    let started = jsonathlon_servers::Server::start(&server.launch, &|| false).unwrap();
    let endpoint = endpoint(started.login(), started.pid(), LIMIT);
    let mut one = connect(&SessionOptions { endpoint: Some(Box::new(endpoint)), ..server.open.clone() });
    one.collect("CREATE TABLE odd (n int, t text)").unwrap();
    one.collect(
        "INSERT INTO odd VALUES (1, ''), (2, E'a\\tb\\nc\\rd\\\\e\\\\\\\\\\b\\f\\v'), (3, 'é😀'), (4, repeat('x', 700000)), \
         (5, repeat(E'\\\\', 70000)), (6, 'last')",
    )
    .unwrap();
    let copy = "COPY (SELECT t FROM odd ORDER BY n) TO STDOUT";
    let expected = [
        String::new(),
        "a\tb\nc\rd\\e\\\\\u{8}\u{c}\u{b}".to_owned(),
        "é😀".to_owned(),
        "x".repeat(700_000),
        "\\".repeat(70_000),
        "last".to_owned(),
    ];
    let mut out = |statement: &str| {
        let mut rows = Vec::new();
        let take = &mut |row: &[u8]| rows.push(String::from_utf8(row.to_vec()).unwrap());
        one.export(statement, take).map(|()| rows)
    };
    assert!(out(copy).unwrap() == expected);
    for (refused, words) in [
        ("COPY (SELECT t FROM nowhere) TO STDOUT", "nowhere"),
        // Fails after some rows.
        ("COPY (SELECT 1 / (n - 50000) FROM generate_series(1, 100000) s(n)) TO STDOUT", "division by zero"),
    ] {
        let error = out(refused).unwrap_err();
        assert!(error.to_string().contains(words), "{error}");
    }
    assert!(out(copy).unwrap() == expected, "after errors");
    // A statement that would read rows from the session gets none, whether it is asked or executed.
    let asked = one.collect("COPY odd (t) FROM STDIN").unwrap_err();
    assert!(asked.to_string().contains("COPY from stdin failed"), "{asked}");
    let prepared = one.prepare("COPY odd (t) FROM STDIN").unwrap();
    let executed = one.execute(&prepared, &[], &mut jsonathlon_driver_api::ResultSet::default());
    assert!(executed.unwrap_err().to_string().contains("COPY from stdin failed"));
    assert_eq!(one.collect("SELECT count(*) FROM odd").unwrap().rows, [vec![super::server::int(6)]]);
    let error = one.export("SELECT 1", &mut |_| {}).unwrap_err();
    assert!(error.to_string().contains("TO STDOUT"), "{error}");
    one.export(copy, &mut |_| {}).unwrap();
    for (load, words) in [
        ("COPY nowhere (t) FROM STDIN", "nowhere"),
        // The error class usually refers to documents.
        ("COPY odd (t) FROM STDIN (FORMAT nonsense)", "nonsense"),
        ("SELECT 1", "FROM STDIN"),
    ] {
        suite::bulk_blames_a_statement(&mut *one, load, words);
    }
    one.close().unwrap();
    started.stop().unwrap();
}
