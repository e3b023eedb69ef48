//! Tests of the MongoDB driver and server.

use rustix::process::Signal;

use jsonathlon_catalogue::Catalogue;
use jsonathlon_dataset::generate::Generator;
use jsonathlon_schema::{
    record::Verdict,
    value::{Row, Value},
};
use jsonathlon_worker::{
    WorkerError,
    protocol::{FailureKind, LoadMethod, LoadReply, Op, PlanReply, ReadBackReply, RowByName},
};

use super::server::{Server, Session, int, kill, text, write};
use crate::support::{
    World,
    real::{excluded, installed},
};

const INSERT: &str = r#"{"command": {"insert": "t", "ordered": false, "documents": [":doc"], "writeConcern": {"w": 1, "j": true}}}"#;
/// Counts the documents, because the collection's own counter may be wrong after a crash.
const COUNT: &str = r#"{"command": {"aggregate": "t", "pipeline": [{"$count": "n"}], "cursor": {}},
    "rows": {"each": ["/cursor/firstBatch"], "columns": [{"name": "n", "at": "/n", "type": "integer"}]}}"#;

fn mongodb() -> Server {
    Server::new("mongodb", "indexed")
}

/// A statement that returns these columns of literal documents without reading any.
fn literally(documents: &str, columns: &[&str]) -> String {
    let columns: Vec<String> =
        columns.iter().map(|name| format!(r#"{{"name": "{name}", "at": "/{name}"}}"#)).collect();
    format!(
        r#"{{"command": {{"aggregate": 1, "pipeline": [{{"$documents": [{documents}]}}], "cursor": {{}}}},
            "rows": {{"each": ["/cursor/firstBatch"], "columns": [{}]}}}}"#,
        columns.join(", ")
    )
}

fn count(session: &mut Session) -> i64 {
    match session.rows(COUNT).first().map(|row| &row[0]) {
        Some(Value::Int(count)) => *count,
        None => 0,
        other => panic!("{other:?}"),
    }
}

#[test]
fn values_arrive_with_every_bit_and_errors_leave_the_session_usable() {
    if excluded(&["mongodb"]) {
        return;
    }
    let mongodb = mongodb();
    let mut session = mongodb.open();
    assert_eq!(session.opened.version, "6.0.5");
    let long = "x".repeat(100_000);
    let document = format!(
        r#"{{"a": -9223372036854775808, "b": 9223372036854775807, "c": 255, "d": null, "e": true, "f": 0.1,
            "g": -0.0, "h": 1.25, "i": "é😀", "j": "a\nb\tc\"\\", "k": "", "l": "{long}", "m": "a\u0000b"}}"#
    );
    let columns = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l", "m", "missing"];
    let expected: Row = vec![
        int(i64::MIN),
        int(i64::MAX),
        int(255),
        Value::Null,
        Value::Bool(true),
        Value::Float(0.1),
        Value::Float(-0.0),
        Value::Float(1.25),
        text("é😀"),
        text("a\nb\tc\"\\"),
        text(""),
        text(&long),
        text("a\0b"),
        Value::Null,
    ];
    let rows = session.rows(&literally(&document, &columns));
    assert_eq!(rows, [expected]);
    assert!(matches!(rows[0][6], Value::Float(zero) if zero.is_sign_negative()));

    for (statement, words, wanted) in [
        (r#"{"command": {"nonsense": 1}}"#, "no such command", FailureKind::Refused),
        (
            r#"{"command": {"aggregate": "t", "pipeline": [{"$grop": {}}], "cursor": {}}}"#,
            "$grop",
            FailureKind::Refused,
        ),
        (r#"{"command": {"drop": "nowhere"}}"#, "ns not found", FailureKind::Refused),
        (r#"{"command": {"insert": "t", "documents": [{"_id": [1]}]}}"#, "array", FailureKind::Refused),
        (
            literally(r#"{"c": {"$literal": [1]}}"#, &["c"]).as_str(),
            "`c` is to be one value",
            FailureKind::Unsupported,
        ),
        (
            literally(r#"{"c": {"$toDecimal": "1"}}"#, &["c"]).as_str(),
            "`c` in the answer is a decimal",
            FailureKind::Unsupported,
        ),
        ("SELECT 1", "one JSON object", FailureKind::Unsupported),
    ] {
        match session.ask(statement) {
            Err(WorkerError::RequestFailed { kind, message }) if kind == wanted => {
                assert!(message.contains(words), "{message}");
            }
            other => panic!("{statement}: {other:?}"),
        }
        assert_eq!(session.rows(&literally(r#"{"n": 42}"#, &["n"])), [vec![int(42)]], "after {statement}");
    }
    let whole = session.rows(r#"{"database": "admin", "command": {"ping": 1}}"#);
    assert_eq!(whole, [vec![text(r#"{"ok":1.0}"#)]]);
    session.close();
}

#[test]
fn answers_of_several_batches_are_one_and_documents_come_back_as_they_were() {
    if excluded(&["mongodb"]) {
        return;
    }
    let mongodb = mongodb();
    let mut session = mongodb.open();
    let file = mongodb.path("documents.ndjson");
    let documents: Vec<String> =
        (0..30_000).map(|n| format!(r#"{{"z":{n},"a":{{"y":[1,2.5,"é"],"b":null}}}}"#)).collect();
    write(&file, &documents);
    let loaded = session.load(INSERT, &file).unwrap();
    assert_eq!((loaded.documents, loaded.rejects.len()), (Some(30_000), 0));
    assert!(loaded.usage.cpu_s > Some(0.0) && loaded.usage.client_cpu_s.is_some_and(|client| client > 0.0));
    let find = |batch: usize| {
        format!(
            r#"{{"command": {{"find": "t", "sort": {{"z": 1}}, "projection": {{"_id": 0}}, "batchSize": {batch}}},
                "rows": {{"each": ["/cursor/firstBatch"], "columns": [{{"name": "d", "at": "", "type": "json"}}]}}}}"#
        )
    };
    for batch in [1000, 29_999, 30_000, 30_001] {
        let back: ReadBackReply = session.request(&Op::ReadBack { statement: find(batch) }).unwrap();
        assert!(back.rows == documents, "{batch}: {} documents", back.rows.len());
    }
    let plan: PlanReply =
        session.request(&Op::Plan { statement: format!(r#"{{"explain": {}}}"#, find(10)) }).unwrap();
    assert!(plan.text.contains(r#""COLLSCAN""#) && plan.text.lines().count() > 20, "{}", plan.text);
    let busy = session
        .ask(r#"{"command": {"aggregate": "t", "pipeline": [{"$group": {"_id": {"$mod": ["$z", 7]}, "n": {"$sum": 1}}}], "cursor": {}}}"#)
        .unwrap();
    assert!(busy.usage.cpu_s < Some(busy.seconds * 4.0 + 0.1), "{:?}", busy.usage);
    session.close();
}

#[test]
fn what_is_refused_is_named_and_all_else_is_there_once() {
    if excluded(&["mongodb"]) {
        return;
    }
    let mongodb = mongodb();
    let mut session = mongodb.open();
    let file = mongodb.path("documents.ndjson");
    let mut documents: Vec<Vec<u8>> = (0..50_000)
        .map(|n| format!("{{\"n\":{n},\"t\":\"a\\\\b\\u00e9\\t\\n\"}}\t\r").into_bytes())
        .collect();
    let nested = |levels: usize| format!("{{\"a\":{}{}}}", "[".repeat(levels - 1), "]".repeat(levels - 1));
    let (deep, deeper) = (nested(199), nested(100_000));
    let large = format!("{{\"a\":\"{}\"}}", "x".repeat(17 << 20));
    let bad: [(usize, &[u8], &str); 14] = [
        (0, b"{\"first\":", "it ends where a value is expected"),
        (7, b"not JSON", "a JSON object"),
        (8, b"[1,2]", "a JSON object"),
        (9, b"{\"a\\u0000b\":1}", "U+0000"),
        (10, b"{\"_id\":[1]}", "array"),
        (11, b"{\"n\":1,\"_id\":{\"$a\":1}}", "$a"),
        (25_000, b"{\"a\":\"\xff\"}", "not UTF-8"),
        (25_001, b"{\"a\":1,\"b\":2,\"a\":3}", "the key \"a\" is there twice"),
        (25_002, b"{\"a\":1e400}", "beyond what a double holds"),
        (40_000, deeper.as_bytes(), "levels deep"),
        (40_001, deep.as_bytes(), "nest"),
        (40_002, large.as_bytes(), "a document 16777216 at most"),
        (40_003, b"{\"_id\":1}{\"_id\":2}", "nothing more is expected"),
        (49_999, b"{\"a\":\"\\ud800\"}", "surrogate"),
    ];
    for (line, document, _) in bad {
        documents[line] = document.to_vec();
    }
    write(&file, &documents);
    let loaded = session.load(INSERT, &file).unwrap();
    let found: Vec<u64> = loaded.rejects.iter().map(|reject| reject.line).collect();
    assert_eq!(found, bad.map(|(line, ..)| line as u64), "{:?}", loaded.rejects);
    for (reject, (_, _, words)) in loaded.rejects.iter().zip(bad) {
        assert!(reject.reason.contains(words), "{reject:?}");
    }
    let left = 50_000 - bad.len() as i64;
    assert_eq!(loaded.documents, Some(left.unsigned_abs()));
    let figures = session.rows(
        r#"{"command": {"aggregate": "t", "pipeline": [
              {"$group": {"_id": "$n", "times": {"$sum": 1}, "t": {"$min": "$t"}}},
              {"$group": {"_id": null, "all": {"$sum": "$times"}, "distinct": {"$sum": 1}, "t": {"$min": "$t"}}}
            ], "cursor": {}},
            "rows": {"each": ["/cursor/firstBatch"], "columns": [
              {"name": "all", "at": "/all"}, {"name": "distinct", "at": "/distinct"}, {"name": "t", "at": "/t"}]}}"#,
    );
    assert_eq!(figures, [vec![int(left), int(left), text("a\\bé\t\n")]]);

    // Documents that MongoDB accepts and other systems may not: U+0000 in a text, keys that look like
    // operators or paths, and integers beyond 64 bits, which become doubles.
    let wide = r#"{"wide":18446744073709551617}"#;
    write(&file, [r#"{"s":"a\u0000b"}"#, r#"{"$set":1,"a.b":{"$c":2},"":3}"#, nested(100).as_str(), wide]);
    let loaded = session.load(INSERT, &file).unwrap();
    assert_eq!((loaded.documents, loaded.rejects.len()), (Some(4), 0), "{:?}", loaded.rejects);
    assert_eq!(count(&mut session), left + 4);
    let wide = session.rows(
        r#"{"command": {"find": "t", "filter": {"wide": {"$type": "double"}}},
            "rows": {"each": ["/cursor/firstBatch"], "columns": [{"name": "wide", "at": "/wide"}]}}"#,
    );
    assert_eq!(wide, [vec![Value::Float(18_446_744_073_709_551_616.0)]]);

    // Most documents are invalid; then the collection rejects half of them.
    write(
        &file,
        (0..3000).map(|n| if n % 1000 == 500 { format!("{{\"n\":{n}}}") } else { format!("bad {n}") }),
    );
    let loaded = session.load(INSERT, &file).unwrap();
    assert_eq!((loaded.documents, loaded.rejects.len()), (Some(3), 2997));
    let unique = (0..5000).map(|n| format!("{{\"_id\":{}}}", n / 2));
    write(&file, unique);
    let loaded = session.load(INSERT, &file).unwrap();
    assert_eq!((loaded.documents, loaded.rejects.len()), (Some(2500), 2500));
    for (index, reject) in loaded.rejects.iter().enumerate() {
        assert_eq!(reject.line, 2 * index as u64 + 1);
        assert!(!reject.reason.is_empty(), "{index}");
    }
    assert!(loaded.rejects[0].reason.contains("E11000 duplicate key"), "{:?}", loaded.rejects[0]);
    write(&file, ["bad"]);
    let loaded = session.load(INSERT, &file).unwrap();
    assert_eq!((loaded.documents, loaded.rejects.len()), (Some(0), 1));

    // The error is not about documents.
    write(&file, ["{}", "{}"]);
    let before = count(&mut session);
    let load = LoadMethod::Rows { statement: INSERT.replace("\"t\"", "\"\""), file };
    let failed: Result<LoadReply, _> = session.request(&Op::Load { load, sync: true });
    assert!(
        matches!(failed, Err(WorkerError::RequestFailed { kind: FailureKind::Refused, .. })),
        "{failed:?}"
    );
    assert_eq!(count(&mut session), before);
    session.close();
}

#[test]
fn what_was_loaded_is_there_after_a_close_and_after_a_kill() {
    if excluded(&["mongodb"]) {
        return;
    }
    let mongodb = mongodb();
    let mut session = mongodb.open();
    let file = mongodb.path("documents.ndjson");
    // Several batches, so that the last one must confirm the earlier ones.
    let mut generator = Generator::new(1, 0..20_000);
    let mut bytes = Vec::new();
    while generator.fill(&mut bytes, 64 << 20) {}
    std::fs::write(&file, &bytes).unwrap();
    session.load(INSERT, &file).unwrap();
    session.close();
    assert!(mongodb.processes().is_empty());

    let mut session = mongodb.open();
    assert_eq!(count(&mut session), 20_000);
    let sizes: RowByName = session
        .request(&Op::Sizes {
            statement: r#"{"command": {"collStats": "t"}, "rows": {"each": [], "columns": [
                {"name": "total_bytes", "at": "/totalSize", "type": "integer"}]}}"#
                .into(),
        })
        .unwrap();
    assert!(matches!(sizes["total_bytes"], Value::Int(bytes) if bytes > 1_000_000), "{sizes:?}");
    session.load(INSERT, &file).unwrap();
    // No checkpoint has been written since; only the WAL contains the documents.
    kill(session.server());
    drop(session);
    mongodb.nothing_is_left();

    let mut session = mongodb.open();
    assert_eq!(count(&mut session), 40_000);
    session.close();
}

#[test]
fn data_of_another_engine_is_explained() {
    if excluded(&["mongodb"]) {
        return;
    }
    let mongodb = mongodb();
    mongodb.open().close();
    // Stands for data of another version: written by a storage engine that this server does not have.
    let path = mongodb.path("data/data/storage.bson");
    let mut bytes = std::fs::read(&path).unwrap();
    let at = bytes.windows(10).position(|window| window == b"wiredTiger").unwrap();
    bytes[at..at + 10].copy_from_slice(b"tigerWired");
    std::fs::write(&path, bytes).unwrap();
    let message = mongodb.refusal();
    assert!(message.contains("before it was ready") && message.contains("tigerWired"), "{message}");
}

#[test]
fn a_load_that_is_cut_off_holds_no_document_twice_and_can_be_done_again() {
    if excluded(&["mongodb"]) {
        return;
    }
    let mongodb = mongodb();
    let file = mongodb.path("documents.ndjson");
    write(&file, (0..200_000).map(|n| format!("{{\"n\":{n},\"t\":\"{n:0>200}\"}}")));
    let session = mongodb.open();
    let server = session.server();
    let last_words = session.lost(INSERT, &file, &|has_begun| has_begun.then_some(server), Signal::KILL);
    assert!(last_words.contains("the server ended (signal: 9"), "{last_words}");
    mongodb.nothing_is_left();

    let mut session = mongodb.open();
    let distinct = |session: &mut Session| {
        let rows = session.rows(
            r#"{"command": {"aggregate": "t", "pipeline": [{"$group": {"_id": "$n"}}, {"$count": "n"}], "cursor": {}},
                "rows": {"each": ["/cursor/firstBatch"], "columns": [{"name": "n", "at": "/n", "type": "integer"}]}}"#,
        );
        rows.first().map_or(int(0), |row| row[0].clone())
    };
    let left = count(&mut session);
    assert!(left < 200_000, "{left}");
    assert_eq!(distinct(&mut session), int(left));
    // As a workload does when it starts again.
    session.run(r#"{"command": {"delete": "t", "deletes": [{"q": {}, "limit": 0}]}}"#);
    assert_eq!(session.load(INSERT, &file).unwrap().documents, Some(200_000));
    assert_eq!((count(&mut session), distinct(&mut session)), (200_000, int(200_000)));
    session.close();
}

/// Two versions in one run. They use different engines for grouping, which the plan rules must allow; the
/// second one is assembled from two parts.
#[test]
fn two_versions_run_side_by_side_and_are_told_apart() {
    if excluded(&["mongodb"]) {
        return;
    }
    let versions = ["6.0.5", "6.0.27"];
    let catalogue = Catalogue::load(&[]).unwrap();
    for version in versions {
        installed(catalogue.get("mongodb").unwrap().artifact(version).unwrap().unwrap());
    }
    let world = World::new();
    let out = world.text("out");
    let ended = world.run(&[
        "run",
        "--systems",
        "mongodb@6.0.5,mongodb@6.0.27",
        "--variants",
        "indexed",
        "--scale",
        "2k",
        "--rounds",
        "1",
        "--trials",
        "1",
        "--no-yardstick",
        "-o",
        &out,
    ]);
    // The exit code also shows that no plan broke a promise.
    ended.expect(0);
    let kept = world.kept("out");
    kept.is_complete();
    let manifest = kept.manifest();
    let of = |version: &str| {
        manifest
            .configurations
            .iter()
            .find(|one| one.id.system == "mongodb" && one.id.version == version)
            .unwrap()
    };
    let [older, newer] = versions.map(of);
    assert_ne!(older.configuration_digest, newer.configuration_digest);
    assert_ne!(older.artifact_digest, newer.artifact_digest);
    assert_eq!(manifest.configurations.len(), 2);
    let trials = kept.trials();
    for version in versions {
        let own: Vec<_> = trials.iter().filter(|trial| trial.cell.id.version == version).collect();
        for step in ["load", "q1", "q2", "q3", "q4", "q5", "q6"] {
            let of_step: Vec<_> = own.iter().filter(|trial| trial.cell.step.word() == step).collect();
            assert!(!of_step.is_empty(), "{version} {step}");
            assert!(of_step.iter().all(|trial| trial.verdict == Verdict::Exact), "{version} {step}");
        }
        // The named version is the one that ran: the plan contains the version of the query engine.
        let plan = std::fs::read_to_string(
            kept.path(&format!("plans/mongodb@{version}-indexed-default-q2-drained.txt")),
        )
        .unwrap();
        let engine = if version == "6.0.5" { 2 } else { 1 };
        assert!(plan.contains(&format!("\"explainVersion\": \"{engine}\"")), "{plan}");
    }
    // Each row of every table names its version.
    let table = world.run(&["export", "--format", "table", "--tables", "full", &out]).expect(0).stdout;
    let rows: Vec<&str> = table.lines().filter(|line| line.contains("mongodb")).collect();
    assert!(
        rows.iter().all(|row| versions.iter().any(|version| row.contains(&format!("mongodb {version} "))))
    );
    for version in versions {
        // The load, two sizes, and the questions.
        let own = rows.iter().filter(|row| row.contains(&format!("mongodb {version} "))).count();
        assert!(own >= 9, "{own} rows of {version}:\n{table}");
    }
}

#[test]
fn a_replica_set_of_one_is_made_and_takes_writes_again_after_a_kill_and_at_other_ports() {
    if excluded(&["mongodb"]) {
        return;
    }
    const WRITE: &str = r#"{"command": {"insert": "t", "documents": [{"a": 1}], "writeConcern": {"w": "majority", "j": true}}}"#;
    const MEMBER: &str = r#"{"command": {"hello": 1}, "rows": {"each": [], "columns": [
        {"name": "set", "at": "/setName"}, {"name": "me", "at": "/me"}, {"name": "primary", "at": "/primary"}]}}"#;
    let server = Server::new("mongodb", "replica-set");
    let mut members = Vec::new();
    for written in 1..=3 {
        let mut session = server.open();
        session.run(WRITE);
        assert_eq!(count(&mut session), written);
        let row = session.rows(MEMBER).remove(0);
        assert_eq!((&row[0], &row[1]), (&text("jsonathlon"), &row[2]));
        members.push(format!("{:?}", row[1]));
        if written == 1 {
            kill(session.server());
            drop(session);
            server.nothing_is_left();
        } else {
            session.close();
        }
    }
    // The servers must use different ports; the same port would prove less.
    members.dedup();
    assert!(members.len() > 1, "{members:?}");
    server.nothing_is_left();
}
