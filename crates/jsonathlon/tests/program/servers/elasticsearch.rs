//! Tests of the Elasticsearch driver and server.

use jsonathlon_dataset::generate::Generator;
use jsonathlon_dataset::questions::Question;
use jsonathlon_dataset::reference::{Answers, Reference};
use jsonathlon_dataset::scan::scan;
use jsonathlon_schema::record::Verdict;
use jsonathlon_schema::value::Value;
use jsonathlon_worker::protocol::{
    AskReply, FailureKind, LoadReply, Op, PlanReply, ReadBackReply, RowByName, SettleReply,
};
use jsonathlon_workloads::analytics::verify::compare;

use super::server::{Server, Session, child_of, crash, int, kill, write};
use crate::support::real::{excluded, soon_up_alone};

const DOCUMENTS: u64 = 20_000;

pub(crate) fn elasticsearch() -> Server {
    let mut server = Server::new("elasticsearch", "source");
    soon_up_alone(&mut server.launch);
    server
}

fn figures(session: &mut Session, statement: String) -> RowByName {
    session.request(&Op::Sizes { statement }).unwrap_or_else(|error| panic!("{error}"))
}

fn generated() -> Vec<Vec<u8>> {
    let mut generator = Generator::new(1, 0..DOCUMENTS);
    let mut bytes = Vec::new();
    while generator.fill(&mut bytes, 1 << 20) {}
    bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()).map(<[u8]>::to_vec).collect()
}

/// Expected answers over all documents that were not rejected.
fn answers(documents: &[Vec<u8>], loaded: &LoadReply) -> Answers {
    let refused: Vec<u64> = loaded.rejects.iter().map(|reject| reject.line).collect();
    let mut reference = Reference::default();
    for (line, document) in documents.iter().enumerate() {
        if !refused.contains(&(line as u64)) {
            reference.observe(&scan(document).event);
        }
    }
    reference.answers()
}

#[test]
fn every_variant_loads_answers_explains_and_tells_its_size() {
    if excluded(&["elasticsearch"]) {
        return;
    }
    let search = elasticsearch();
    let mut session = search.open();
    assert!(session.opened.version.starts_with("8.19."), "{}", session.opened.version);
    let file = search.path("documents.ndjson");
    let documents = generated();
    assert_eq!(documents.len() as u64, DOCUMENTS);
    write(&file, &documents);
    let mut totals: Vec<(String, i64)> = Vec::new();
    for (variant, storage) in [
        ("source", "default"),
        ("source", "best"),
        ("no-source", "default"),
        ("no-source", "best"),
        ("logsdb", "default"),
        ("logsdb", "best"),
        ("no-index", "default"),
        ("no-index", "best"),
    ] {
        let name = format!("{variant}-{storage}");
        let statements = search.statements(variant, storage, &name);
        session.run_all(statements.all("create", &[]));
        let loaded = session.load(&statements.one("load"), &file).unwrap();
        let accepted = DOCUMENTS - loaded.rejects.len() as u64;
        assert_eq!(loaded.documents, Some(accepted));
        assert!(accepted as f64 >= 0.999 * DOCUMENTS as f64, "{name}: {:?}", loaded.rejects);
        let settle = Op::Settle {
            statements: statements.all("drain", &[]),
            until_zero: Some(statements.one("drained")),
            limit_s: 120.0,
            sync: true,
        };
        let settled: SettleReply = session.request(&settle).unwrap();
        assert_eq!(settled.remaining, 0);
        session.run_all(statements.all("compact", &[]));
        let counted = figures(&mut session, statements.one("count"));
        assert_eq!(counted.values().next(), Some(&Value::Int(accepted as i64)), "{name}");
        let expected = answers(&documents, &loaded);
        let rules = &statements.configuration.analytics().unwrap().questions;
        for question in Question::ALL {
            let statement = statements.one(question.id());
            let answered = session.ask(&statement).unwrap();
            assert!(answered.outcome.server_seconds.is_some_and(|took| took <= answered.seconds + 0.002));
            let rule = rules.get(question.id()).cloned().unwrap_or_default();
            let found = compare(question, expected.rows(question), &answered.outcome.rows, &rule.approximate);
            let plan = statements.all("plan", &[("statement", &statement)]).remove(0);
            let plan: PlanReply = session.request(&Op::Plan { statement: plan }).unwrap();
            assert_eq!(
                rule.violations(&plan.text),
                Vec::<String>::new(),
                "{name} {question:?}: {}",
                plan.text
            );
            // Without stored documents the order within arrays is lost.
            if variant == "no-source" && question == Question::Q6 {
                continue;
            }
            assert_ne!(found.verdict, Verdict::Wrong, "{name} {question:?}: {:?}", found.difference);
            assert!(found.approximate_error.is_none_or(|error| error <= 0.01), "{name}: {found:?}");
        }
        let sizes: RowByName = session.request(&Op::Sizes { statement: statements.one("sizes") }).unwrap();
        let of = |name: &str| match sizes[name] {
            Value::Int(bytes) => bytes,
            ref other => panic!("{name}: {other:?}"),
        };
        assert!(of("data_bytes") > 0 && of("index_bytes") > 0 && of("total_bytes") > 100_000, "{sizes:?}");
        totals.push((name.clone(), of("total_bytes")));
        let counters = figures(&mut session, statements.one("counters"));
        assert!(matches!(counters["engine_memory_bytes"], Value::Int(bytes) if bytes > 1 << 20));
        let key = scan(&documents[7]).event.time_us.unwrap().to_string();
        let read = Op::ReadBack { statement: statements.all("read_back", &[("keys", &key)]).remove(0) };
        let back: ReadBackReply = session.request(&read).unwrap();
        if variant == "no-source" {
            assert!(back.rows.is_empty());
        } else {
            let parse = |text: &[u8]| serde_json::from_slice::<serde_json::Value>(text).unwrap();
            let same = back.rows.iter().any(|text| parse(text.as_bytes()) == parse(&documents[7]));
            assert!(same || variant == "logsdb", "{name}: {back:?}");
        }
        session.run_all(statements.all("drop", &[]));
    }
    println!("{totals:?}");
    let total = |name: &str| totals.iter().find(|(known, _)| known == name).unwrap().1;
    assert!(total("source-best") < total("source-default"));
    assert!(total("no-source-default") < total("source-default"));
    session.close();
}

#[test]
fn what_is_refused_is_named_all_else_is_there_once_and_stays_over_a_kill() {
    if excluded(&["elasticsearch"]) {
        return;
    }
    let search = elasticsearch();
    let mut session = search.open();
    let statements = search.statements("source", "default", "events");
    for (statement, words, kind) in [
        ("SELECT 1", "one JSON object", FailureKind::Unsupported),
        (r#"{"method": "GET", "path": "/nowhere/_count"}"#, "index_not_found", FailureKind::Refused),
        (r#"{"method": "GET", "path": "/no/such/path"}"#, "no handler found", FailureKind::Refused),
        (r#"{"method": "POST", "path": "/_search", "body": {"querry": {}}}"#, "querry", FailureKind::Refused),
        (r#"{"explain": {"method": "GET", "path": "/_count"}}"#, "only a search", FailureKind::Unsupported),
    ] {
        let message = session.refusal(statement, kind);
        assert!(message.contains(words), "{message}");
    }
    session.run_all(statements.all("create", &[]));
    let file = search.path("documents.ndjson");
    let mut documents: Vec<Vec<u8>> = (0..30_000)
        .map(|n| {
            format!("{{\"time_us\":{n},\"did\":\"d{n}\",\"kind\":\"k\",\"pad\":\"{n:0600}\"}}").into_bytes()
        })
        .collect();
    let deep = format!("{{\"a\":{}{}}}", "[".repeat(5000), "]".repeat(5000));
    let bad: [(usize, &[u8], &str); 7] = [
        (0, b"{\"first\":", "end-of-input"),
        (8, b"not JSON", "Unrecognized token"),
        (9, b"{\"time_us\":\"soon\"}", "time_us"),
        (10_000, b"{\"time_us\":true}", "time_us"),
        (25_000, b"{\"a\":\"\xff\"}", "UTF-8"),
        (25_001, deep.as_bytes(), "depth"),
        (29_999, b"{\"a\":\"\\ud8\"}", "hex"),
    ];
    for (line, document, _) in bad {
        documents[line] = document.to_vec();
    }
    write(&file, &documents);
    let loaded = session.load(&statements.one("load"), &file).unwrap();
    let found: Vec<u64> = loaded.rejects.iter().map(|reject| reject.line).collect();
    for reject in &loaded.rejects {
        println!("{reject:?}");
    }
    assert_eq!(found, bad.map(|(line, ..)| line as u64), "{:?}", loaded.rejects);
    for (reject, (_, _, words)) in loaded.rejects.iter().zip(bad) {
        assert!(reject.reason.contains(words), "{words}: {reject:?}");
    }
    let left = 30_000 - bad.len() as i64;
    assert_eq!(loaded.documents, Some(left as u64));
    assert!(loaded.usage.cpu_s > Some(0.0) && loaded.usage.client_cpu_s.is_some_and(|client| client > 0.0));
    let distinct = r#"{"method": "POST", "path": "/events/_search", "body": {"size": 0, "track_total_hits": true,
        "aggs": {"n": {"cardinality": {"field": "time_us", "precision_threshold": 40000}}, "least": {"min": {"field": "time_us"}}}},
        "rows": {"each": [], "columns": [{"name": "n", "at": "/hits/total/value"}, {"name": "least", "at": "/aggregations/least/value", "type": "integer"}]}}"#;
    assert_eq!(session.rows(distinct), [[int(left), int(1)]]);

    // A batch in which every document is invalid; then the same file twice, which doubles the documents.
    write(&file, (0..200).map(|n| format!("{{\"time_us\":\"bad {n}\"}}")));
    let loaded = session.load(&statements.one("load"), &file).unwrap();
    assert_eq!((loaded.documents, loaded.rejects.len()), (Some(0), 200));
    write(&file, ["{\"time_us\":1}", "{\"time_us\":2}"]);
    for _ in 0..2 {
        assert_eq!(session.load(&statements.one("load"), &file).unwrap().documents, Some(2));
    }
    let count = statements.one("count");
    assert_eq!(session.rows(&count), [[int(left + 4)]]);
    session.close();
    assert!(search.processes().is_empty());

    // The data survives a clean shutdown and a kill.
    let mut session = search.open();
    assert_eq!(session.rows(&count), [[int(left + 4)]]);
    assert_eq!(session.load(&statements.one("load"), &file).unwrap().documents, Some(2));
    assert!(!search.processes().is_empty());
    kill(session.engine.worker().pid());
    assert!(session.ask(&count).is_err());
    search.nothing_is_left();
    let mut session = search.open();
    assert_eq!(session.rows(&count), [[int(left + 6)]]);
    // The actual server is a child of the launcher program, which reports how it ended.
    kill(child_of(session.server()));
    let gone: Result<AskReply, _> = session.ask(&count);
    let last_words = crash(gone.unwrap_err());
    assert!(last_words.contains("the server ended (exit status: 137)"), "{last_words}");
    search.nothing_is_left();
}

#[test]
fn a_runtime_that_is_lacking_and_a_setting_that_is_wrong_are_explained() {
    if excluded(&["elasticsearch"]) {
        return;
    }
    let mut search = elasticsearch();
    let needs = std::mem::take(&mut search.launch.recipe.needs);
    search.launch.recipe.needs = needs
        .iter()
        .cloned()
        .map(|mut need| {
            need.at_least = 99;
            need
        })
        .collect();
    let message = search.refusal();
    assert!(message.contains("needs `java` of version 99") && message.contains("install"), "{message}");
    search.launch.recipe.needs = needs;
    search.launch.settings.insert("no.such.setting".into(), "1".into());
    let message = search.refusal();
    assert!(message.contains("before it was ready") && message.contains("no.such.setting"), "{message}");
}
