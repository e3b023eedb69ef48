//! Servers reached over encrypted TCP, with a certificate that the program generates.

use jsonathlon_catalogue::Transport;
use jsonathlon_schema::value::Value;

use super::server::{Server, int, process, write};
use crate::support::real::excluded;

/// Loads documents over an encrypted session and verifies their sum.
fn loads(system: &'static str, variant: &str, create: Option<&str>, load: &str, sum: &str) -> Option<Server> {
    if excluded(&[system]) {
        return None;
    }
    let server = Server::reached_over(Transport::Tls, system, variant);
    let file = server.path("documents.ndjson");
    write(&file, (0..20_000).map(|n| format!("{{\"n\":{n}}}")));
    let mut session = server.open();
    if let Some(create) = create {
        session.run(create);
    }
    assert_eq!(session.load(load, &file).unwrap().documents, Some(20_000));
    assert_eq!(session.rows(sum), [vec![int(20_000 * 19_999 / 2)]]);
    session.close();
    Some(server)
}

#[test]
fn postgresql_is_reached_encrypted() {
    let sum = "SELECT sum((doc -> 'n')::bigint)::bigint FROM t";
    let create = Some("CREATE TABLE t (doc jsonb)");
    let Some(server) = loads("postgresql", "json-only", create, "COPY t (doc) FROM STDIN", sum) else {
        return;
    };
    // A second session uses the same certificate.
    let mut session = server.open();
    let is_encrypted = "SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()";
    assert_eq!(session.rows(is_encrypted), [vec![Value::Bool(true)]]);
    session.close();
}

#[test]
fn mysql_is_reached_encrypted() {
    let sum = "SELECT CAST(SUM(doc->'$.n') AS SIGNED) FROM t";
    let load = "LOAD DATA LOCAL INFILE 'documents' INTO TABLE t FIELDS TERMINATED BY '' ESCAPED BY '' (doc)";
    let create = Some("CREATE TABLE t (doc JSON)");
    let Some(server) = loads("mysql", "json-only", create, load, sum) else { return };
    let mut session = server.open();
    let ciphers = "SELECT COUNT(*) FROM performance_schema.session_status \
                   WHERE VARIABLE_NAME = 'Ssl_cipher' AND VARIABLE_VALUE <> ''";
    assert_eq!(session.rows(ciphers), [vec![int(1)]]);
    session.close();
}

#[test]
fn mongodb_is_reached_encrypted() {
    let load = r#"{"command": {"insert": "t", "ordered": false, "documents": [":doc"], "writeConcern": {"w": 1, "j": true}}}"#;
    let sum = r#"{"command": {"aggregate": "t", "pipeline": [{"$group": {"_id": null, "n": {"$sum": "$n"}}}], "cursor": {}},
        "rows": {"each": ["/cursor/firstBatch"], "columns": [{"name": "n", "at": "/n", "type": "integer"}]}}"#;
    let Some(server) = loads("mongodb", "indexed", None, load, sum) else { return };
    let session = server.open();
    assert!(
        process(&server.path(""), "--tlsMode requireTLS").is_some(),
        "it takes sessions that do not encrypt"
    );
    session.close();
}
