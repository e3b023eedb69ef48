//! Tests of the MySQL driver and server, in particular that `LOAD DATA LOCAL INFILE` loses nothing.

use std::{path::Path, process::Command, time::Duration};

use rustix::process::Signal;

use jsonathlon_catalogue::Transport;
use jsonathlon_schema::{record::Phase, value::Value};
use jsonathlon_worker::{
    WorkerError,
    protocol::{FailureKind, LoadMethod, LoadReply, Op},
};

use super::server::{Server, crash, int, kill, text, write};
use crate::support::{Look, World, real::excluded};

const LOAD: &str = "LOAD DATA LOCAL INFILE 'documents' INTO TABLE t CHARACTER SET utf8mb4 (doc)";

pub(crate) fn mysql() -> Server {
    Server::new("mysql", "json-only")
}

#[test]
fn values_arrive_with_every_bit_and_errors_leave_the_session_usable() {
    if excluded(&["mysql"]) {
        return;
    }
    let mysql = mysql();
    let mut session = mysql.open();
    assert!(session.opened.version.starts_with("9."), "{}", session.opened.version);
    let rows = session.rows(
        r#"SELECT -9223372036854775808, 9223372036854775807, CAST(255 AS SIGNED), NULL, true, 0.1e0, -0.0e0, 1.25,
        -0.001, 'é😀', 'a\nb\tc"\\', '', REPEAT('x', 100000), CAST('{"b": 1, "a": [2, "x"]}' AS JSON),
        (SELECT SUM(n) FROM (VALUES ROW(1), ROW(54)) AS v(n)), 5e-324, 1.7976931348623157e308"#,
    );
    let expected = [
        int(i64::MIN),
        int(i64::MAX),
        int(255),
        Value::Null,
        int(1),
        Value::Float(0.1),
        Value::Float(-0.0),
        Value::Float(1.25),
        Value::Float(-0.001),
        text("é😀"),
        text("a\nb\tc\"\\"),
        text(""),
        text(&"x".repeat(100_000)),
        text("{\"a\": [2, \"x\"], \"b\": 1}"),
        int(55),
        Value::Float(5e-324),
        Value::Float(f64::MAX),
    ];
    assert_eq!(rows, [expected.to_vec()]);
    for count in [0, 1, 100_000] {
        let answered = session
            .ask(&format!(
                "WITH RECURSIVE s(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM s WHERE n < 100000)
                 SELECT /*+ SET_VAR(cte_max_recursion_depth = 100000) */ n, CAST(n AS CHAR) AS t FROM s LIMIT {count}"
            ))
            .unwrap();
        assert_eq!(answered.outcome.columns, ["n", "t"]);
        assert_eq!(answered.outcome.rows.len(), count);
    }
    for (statement, words, wanted) in [
        ("SELECT FROM WHERE", "SQL syntax", FailureKind::Refused),
        ("SELECT * FROM nowhere", "nowhere", FailureKind::Refused),
        ("SELECT 1; SELECT * FROM nowhere; SELECT 2", "nowhere", FailureKind::Refused),
        ("SELECT CURTIME() AS c", "`c` is of type TIME", FailureKind::Unsupported),
        ("SELECT CAST(0.1 AS FLOAT) AS c", "DOUBLE", FailureKind::Unsupported),
        ("SELECT 18446744073709551615 AS c", "64 bits", FailureKind::Unsupported),
    ] {
        match session.ask(statement) {
            Err(WorkerError::RequestFailed { kind, message }) if kind == wanted => {
                assert!(message.contains(words), "{message}");
            }
            other => panic!("{statement}: {other:?}"),
        }
        assert_eq!(session.rows("SELECT 41 + 1"), [vec![int(42)]], "after {statement}");
    }
    // Several statements in one text, where the last one's answer counts, in another time zone.
    session.run("CREATE TABLE a (n int); INSERT INTO a VALUES (1), (2); -- end;");
    let last = session.rows("SET time_zone = '+05:30'; SELECT 'no'; SELECT COUNT(*), ';' FROM a;");
    assert_eq!(last, [vec![int(2), text(";")]]);
    session.close();
}

#[test]
fn what_is_refused_is_named_and_all_else_is_there_once() {
    if excluded(&["mysql"]) {
        return;
    }
    let mysql = mysql();
    let mut session = mysql.open();
    session.run("CREATE TABLE t (doc JSON NOT NULL)");
    let file = mysql.path("documents.ndjson");
    let mut documents: Vec<Vec<u8>> = (0..30_000)
        .map(|n| {
            format!("{{\"n\":{n},\"t\":\"a\\\\b\\u00e9\\t\\n\\u0000\u{1}\"}}\t\r")
                .replace('\u{1}', "ö😀")
                .into_bytes()
        })
        .collect();
    let deep = format!("{}{}", "[".repeat(101), "]".repeat(101));
    let large = format!("{{\"t\":\"{}\"}}", "x".repeat(65 << 20));
    let bad: [(usize, &[u8], &str); 8] = [
        (0, b"{\"first\":", "Invalid JSON text"),
        (7, b"{\"a\":1}\x01{}", "Invalid JSON text"),
        (8, b"not JSON", "Invalid JSON text"),
        (10, b"\\N\t\\N", "Invalid JSON text"),
        (20_000, b"{\"a\":\"\xff\"}", "Invalid"),
        (20_001, b"{\"a\":\"\xe2", "Invalid"),
        (25_000, deep.as_bytes(), "depth"),
        (29_999, b"{\"a\":\"\\ud800\"}", "Invalid JSON text"),
    ];
    for (line, document, _) in bad {
        documents[line] = document.to_vec();
    }
    write(&file, &documents);
    let loaded = session.load(LOAD, &file).unwrap();
    let found: Vec<u64> = loaded.rejects.iter().map(|reject| reject.line).collect();
    assert_eq!(found, bad.map(|(line, ..)| line as u64), "{:?}", loaded.rejects);
    for (reject, (_, _, words)) in loaded.rejects.iter().zip(bad) {
        assert!(reject.reason.contains(words), "{reject:?}");
    }
    assert_eq!(loaded.documents, Some(30_000 - bad.len() as u64));
    assert!(loaded.usage.cpu_s > Some(0.0) && loaded.usage.client_cpu_s.is_some_and(|client| client > 0.0));
    let figures = session.rows("SELECT COUNT(*), COUNT(DISTINCT doc -> '$.n'), MIN(doc ->> '$.t') FROM t");
    let left = 30_000 - bad.len() as i64;
    assert_eq!(figures, [vec![int(left), int(left), text("a\\bé\t\n\0ö😀")]]);

    // A document that exceeds the maximum packet size, between others.
    write(&file, ["{\"n\":1}", &large, "{\"n\":2}"]);
    let loaded = session.load(LOAD, &file).unwrap();
    assert_eq!((loaded.documents, loaded.rejects.len()), (Some(2), 1), "{:?}", loaded.rejects);
    assert_eq!(loaded.rejects[0].line, 1);
    session.run("DROP TABLE t");

    // Rows that the server would skip or truncate, because `LOCAL` turns these errors into warnings.
    session.run(
        "CREATE TABLE t (doc JSON, n BIGINT GENERATED ALWAYS AS (doc ->> '$.n') STORED UNIQUE,
         v VARCHAR(3) GENERATED ALWAYS AS (doc ->> '$.v') STORED)",
    );
    write(
        &file,
        ["{\"n\":1}", "{\"n\":\"x\"}", "{\"n\":2}", "{\"n\":1}", "{\"n\":3,\"v\":\"long\"}", "{\"n\":4}"],
    );
    let loaded = session.load(LOAD, &file).unwrap();
    let reasons: Vec<(u64, &str)> = loaded.rejects.iter().map(|r| (r.line, r.reason.as_str())).collect();
    assert_eq!(reasons.iter().map(|(line, _)| *line).collect::<Vec<_>>(), [1, 3, 4], "{reasons:?}");
    assert!(reasons[1].1.contains("Duplicate entry"), "{reasons:?}");
    assert_eq!(session.rows("SELECT COUNT(*), SUM(n) FROM t"), [vec![int(3), int(7)]]);

    // The error is not about documents: nothing of the load is kept.
    write(&file, ["{}", "{}"]);
    for statement in [
        "LOAD DATA LOCAL INFILE 'x' INTO TABLE nowhere",
        "SELECT 1",
        "LOAD DATA INFILE 'x' INTO TABLE t (doc)",
    ] {
        let load = LoadMethod::Rows { statement: statement.into(), file: file.clone() };
        let failed: Result<LoadReply, _> = session.request(&Op::Load { load, sync: true });
        assert!(
            matches!(failed, Err(WorkerError::RequestFailed { kind: FailureKind::Refused, .. })),
            "{failed:?}"
        );
    }
    assert_eq!(session.rows("SELECT COUNT(*) FROM t"), [vec![int(3)]]);
    session.close();
}

#[test]
fn data_and_password_stay_from_session_to_session_and_over_a_kill() {
    if excluded(&["mysql"]) {
        return;
    }
    let mysql = mysql();
    let mut session = mysql.open();
    session.run("CREATE TABLE t (doc JSON)");
    let file = mysql.path("documents.ndjson");
    write(&file, (0..5000).map(|n| format!("{{\"n\":{n}}}")));
    session.load(LOAD, &file).unwrap();
    let secret = std::fs::read_to_string(mysql.path("data/password")).unwrap();
    for pid in mysql.processes() {
        let shown = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        assert!(!String::from_utf8_lossy(&shown).contains(&secret), "the password is in a command line");
    }
    assert!(!std::fs::read_to_string(mysql.path("server.log")).unwrap().contains(&secret));
    session.close();
    assert!(mysql.processes().is_empty());

    let mut session = mysql.open();
    assert_eq!(session.rows("SELECT COUNT(*) FROM t"), [vec![int(5000)]]);
    session.load(LOAD, &file).unwrap();
    // The data also survives a kill of the server.
    kill(session.server());
    drop(session);
    let mut session = mysql.open();
    assert_eq!(session.rows("SELECT COUNT(*) FROM t"), [vec![int(10_000)]]);
    session.close();
}

/// An event that cuts one waiting connection per second.
const CUT: &str = "CREATE EVENT cut ON SCHEDULE EVERY 1 SECOND DO BEGIN
    DECLARE waiting BIGINT;
    SELECT MIN(processlist_id) INTO waiting FROM performance_schema.threads WHERE processlist_state = 'User sleep';
    IF waiting IS NOT NULL THEN KILL waiting; END IF;
END";

/// A trigger that lets the load wait, so that it cannot end before it is cut on a fast machine.
const WAIT: &str = "CREATE TRIGGER wait BEFORE INSERT ON t FOR EACH ROW
    IF NEW.doc -> '$.n' = 100000 THEN DO SLEEP(60); END IF";

#[test]
fn a_load_that_is_cut_off_leaves_nothing_and_can_be_done_again() {
    if excluded(&["mysql"]) {
        return;
    }
    let mysql = mysql();
    let file = mysql.path("documents.ndjson");
    write(&file, (0..150_000).map(|n| format!("{{\"n\":{n},\"t\":\"{n:0>200}\"}}")));
    let mut session = mysql.open();
    session.run("CREATE TABLE t (doc JSON)");
    session.close();
    let session = mysql.open();
    let server = session.server();
    let last_words = session.lost(LOAD, &file, &|has_begun| has_begun.then_some(server), Signal::KILL);
    assert!(last_words.contains("the server ended (signal: 9"), "{last_words}");
    mysql.nothing_is_left();
    let mut session = mysql.open();
    assert_eq!(session.rows("SELECT COUNT(*) FROM t"), [vec![int(0)]]);

    // A connection is cut while the server continues to run.
    session.run(WAIT);
    session.run(CUT);
    match session.load(LOAD, &file) {
        Err(error) => {
            let last_words = crash(error);
            assert!(last_words.contains("cut the connection"), "{last_words}");
        }
        Ok(other) => panic!("{other:?}"),
    }
    mysql.nothing_is_left();
    let mut session = mysql.open();
    session.run("DROP EVENT cut");
    session.run("DROP TRIGGER wait");
    assert_eq!(session.rows("SELECT COUNT(*) FROM t"), [vec![int(0)]]);
    assert_eq!(session.load(LOAD, &file).unwrap().documents, Some(150_000));
    let figures = session.rows("SELECT COUNT(*), COUNT(DISTINCT doc -> '$.n') FROM t");
    assert_eq!(figures, [vec![int(150_000), int(150_000)]]);
    session.close();
}

#[test]
fn a_login_that_is_refused_is_explained_at_once() {
    if excluded(&["mysql"]) {
        return;
    }
    let mut mysql = mysql();
    // A password that differs from the session's.
    let login = mysql.launch.recipe.files.values_mut().next().unwrap();
    *login = "ALTER USER root@localhost IDENTIFIED BY 'another';\n".into();
    let message = mysql.refusal();
    assert!(message.contains("refused the session") && message.contains("Access denied"), "{message}");
    // For an unknown user the server chooses any authentication method.
    mysql.launch.recipe.user = "stranger".into();
    let begun = std::time::Instant::now();
    let message = mysql.refusal();
    assert!(message.contains("refused the session"), "{message}");
    assert!(begun.elapsed() < Duration::from_secs(60), "{:?}", begun.elapsed());
}

#[test]
fn documents_and_answers_go_over_the_socket() {
    if excluded(&["mysql"]) {
        return;
    }
    let mysql = Server::reached_over(Transport::Unix, "mysql", "json-only");
    let file = mysql.path("documents.ndjson");
    write(&file, (0..20_000).map(|n| format!("{{\"n\":{n}}}")));
    let mut session = mysql.open();
    session.run("CREATE TABLE t (doc JSON)");
    assert_eq!(session.load(LOAD, &file).unwrap().documents, Some(20_000));
    let kind = "SELECT SUM(doc -> '$.n'), connection_type FROM t, performance_schema.threads
        WHERE processlist_id = CONNECTION_ID() GROUP BY connection_type";
    assert_eq!(session.rows(kind), [vec![Value::Float(199_990_000.0), text("Socket")]]);
    let networking = "SELECT variable_value FROM performance_schema.global_variables WHERE variable_name = 'skip_networking'";
    assert_eq!(session.rows(networking), [vec![text("ON")]]);
    session.close();
}

/// With a buffer pool smaller than the table and without the page cache, every hot trial reads from disk and
/// must not be recorded as being in memory.
#[test]
fn a_hot_question_that_reads_from_the_disk_is_said_to() {
    if excluded(&["mysql"]) {
        return;
    }
    let world = World::new();
    let built_in = Path::new(env!("CARGO_MANIFEST_DIR")).join("../catalogue/systems/mysql");
    let copied =
        Command::new("cp").arg("-R").arg(&built_in).arg(world.path("systems/mysql")).status().unwrap();
    assert!(copied.success());
    let file = world.path("systems/mysql/system.toml");
    let definition = std::fs::read_to_string(&file).unwrap();
    // The smallest possible buffer pool.
    let pool = "share = 0.75\nunit = \"MiB\"\ntext = \"{{amount}}M\"";
    assert!(definition.contains(pool));
    std::fs::write(&file, definition.replacen(pool, "text = \"5M\"", 1)).unwrap();
    let (systems, out) = (world.text("systems"), world.text("out"));
    let run = |systems: &[&str], out: &str| {
        let arguments =
            ["run", "-s", "mysql", "--variants", "no-index", "-n", "20k", "-r", "1", "-t", "3", "--json"];
        world.run(&[&arguments[..], &["--no-yardstick", "-o", out], systems].concat()).expect(0).summary()
    };
    let small = run(&["--systems-dir", &systems], &out);
    for question in ["q1", "q3", "q4", "q5", "q6"] {
        let cells = small.entries("mysql", question);
        let hot = cells.iter().find(|entry| entry.cell.phase == Phase::HotNotInMemory);
        assert!(hot.is_some_and(|entry| entry.metrics["read_bytes"] > 1e6), "{question}: {cells:?}");
        assert!(cells.iter().all(|entry| entry.cell.phase != Phase::Hot), "{question}: {cells:?}");
    }
    let tables = world.run(&["export", "--tables", "full", &out]).expect(0).stdout;
    assert!(tables.contains("hot, not in memory (reads "), "{tables}");
    // With the pool size of a normal run nothing is read.
    let usual = run(&[], &world.text("usual"));
    for question in ["q1", "q3", "q4", "q5", "q6"] {
        assert!(usual.hot("mysql", question).median_s.is_some());
    }
}
