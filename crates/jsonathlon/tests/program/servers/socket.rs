//! Servers reached over a Unix socket.

use std::{os::unix::fs::FileTypeExt, path::Path};

use jsonathlon_catalogue::Transport;

use super::server::{Server, int, write};
use crate::support::{Look, World, real::excluded};

/// Returns `true` if the process has a listening TCP socket.
fn listens(process: u32) -> bool {
    // The tables list all sockets of the network namespace; those of the process are identified by their
    // inodes.
    let mine: Vec<String> = std::fs::read_dir(format!("/proc/{process}/fd"))
        .unwrap()
        .filter_map(|entry| std::fs::read_link(entry.ok()?.path()).ok()?.to_str().map(str::to_owned))
        .filter_map(|link| link.strip_prefix("socket:[")?.strip_suffix(']').map(str::to_owned))
        .collect();
    assert!(!mine.is_empty(), "a server has sockets");
    ["tcp", "tcp6"].iter().any(|table| {
        let text = std::fs::read_to_string(format!("/proc/{process}/net/{table}")).unwrap_or_default();
        text.lines().skip(1).any(|line| {
            let fields: Vec<&str> = line.split_whitespace().collect();
            fields[3] == "0A" && mine.iter().any(|inode| inode == fields[9])
        })
    })
}

fn sockets(folder: &Path) -> usize {
    let entries = std::fs::read_dir(folder).unwrap();
    entries.filter(|entry| entry.as_ref().unwrap().file_type().unwrap().is_socket()).count()
}

#[test]
fn documents_and_answers_go_over_the_socket() {
    if excluded(&["postgresql"]) {
        return;
    }
    let postgres = Server::reached_over(Transport::Unix, "postgresql", "json-only");
    let file = postgres.path("documents.ndjson");
    write(&file, (0..50_000).map(|n| format!("{{\"n\":{n}}}")));
    let mut session = postgres.open();
    assert_eq!(sockets(&postgres.path("data/run")), 1);
    assert!(!listens(session.server()), "it can be reached over TCP too");
    session.run("CREATE TABLE t (doc jsonb)");
    assert_eq!(session.load("COPY t (doc) FROM STDIN", &file).unwrap().documents, Some(50_000));
    let sum = "SELECT sum((doc -> 'n')::bigint), inet_client_addr() IS NULL FROM t";
    assert_eq!(
        session.rows(sum),
        [vec![int(50_000 * 49_999 / 2), jsonathlon_schema::value::Value::Bool(true)]]
    );
    session.close();
}

#[test]
fn documents_and_answers_without_sql_go_over_the_socket() {
    if excluded(&["mongodb"]) {
        return;
    }
    let mongodb = Server::reached_over(Transport::Unix, "mongodb", "indexed");
    let file = mongodb.path("documents.ndjson");
    write(&file, (0..50_000).map(|n| format!("{{\"n\":{n}}}")));
    let mut session = mongodb.open();
    assert_eq!(sockets(&mongodb.path("data/run")), 1);
    let insert = r#"{"command": {"insert": "t", "ordered": false, "documents": [":doc"], "writeConcern": {"w": 1, "j": true}}}"#;
    assert_eq!(session.load(insert, &file).unwrap().documents, Some(50_000));
    let sum = r#"{"command": {"aggregate": "t", "pipeline": [{"$group": {"_id": null, "n": {"$sum": "$n"}}}], "cursor": {}},
        "rows": {"each": ["/cursor/firstBatch"], "columns": [{"name": "n", "at": "/n", "type": "integer"}]}}"#;
    assert_eq!(session.rows(sum), [vec![int(50_000 * 49_999 / 2)]]);
    session.close();
}

#[test]
fn a_socket_whose_path_is_too_long_is_told() {
    if excluded(&["postgresql"]) {
        return;
    }
    let mut postgres = Server::reached_over(Transport::Unix, "postgresql", "json-only");
    postgres.launch.recipe.socket = Some(format!("{{{{run}}}}/{}", "x".repeat(100)));
    let message = postgres.refusal();
    assert!(message.contains("107 bytes at most") && message.contains("--transport tcp"), "{message}");
}

#[test]
fn a_run_keeps_how_its_servers_are_reached_and_shows_it() {
    if excluded(&["postgresql"]) {
        return;
    }
    let world = World::new();
    let arguments = ["-n", "2k", "-r", "1", "-t", "3", "--transport", "unix"];
    let refused = world.measure_into("refused", "postgresql,elasticsearch", &arguments).expect(2);
    refused.says(&["elasticsearch", "`socket`", "--transport tcp"]);
    assert!(!world.path("refused").exists());

    let one_each = [&arguments[..], &["--variants", "indexed,json-only"]].concat();
    let summary = world.measure("sqlite,postgresql", &one_each).expect(0).summary();
    summary.is_right("postgresql");
    let manifest = world.kept("out").manifest();
    assert_eq!(manifest.settings.run.transport, Transport::Unix);
    let transports: Vec<Option<Transport>> =
        manifest.configurations.iter().map(|configuration| configuration.transport).collect();
    assert_eq!(transports, [None, Some(Transport::Unix)]);
    let shown = world.run(&["export", "--tables", "full", &world.text("out")]).expect(0).stdout;
    assert!(shown.contains("with a Unix socket in their times: PostgreSQL"), "{shown}");
    // A configuration with another digest would not be resumed.
    world.resume("out").expect(0);
}
