use std::path::Path;

use jsonathlon_telemetry::clock::FakeClock;
use serde_json::{Value as Json, json};

use super::*;
use crate::testing::{SharedBuffer, event};

/// Sends requests to a new worker and returns all lines that it wrote.
fn talk(requests: &[Json]) -> Vec<Json> {
    let input: String = requests.iter().map(|request| format!("{request}\n")).collect();
    talk_text(&input).lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn talk_text(input: &str) -> String {
    let output = SharedBuffer::default();
    serve(input.as_bytes(), output.clone(), Arc::new(FakeClock::new()), None).unwrap();
    output.text()
}

fn open(id: u64, folder: &Path, script: &Json) -> Json {
    json!({"id": id, "op": "open", "protocol": 3,
        "open": {"protocol": "mock", "folder": folder, "settings": {"script": script.to_string()}, "statements": ["create"]}})
}

fn error_of(reply: &Json) -> (&str, &str) {
    (reply["error"]["kind"].as_str().unwrap(), reply["error"]["message"].as_str().unwrap())
}

#[test]
fn a_whole_session_with_seconds_by_the_clock() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("events");
    let documents = [event("a", 1, "x"), event("b", 2, "x"), "[]".into(), event("c", 3, "y")];
    std::fs::write(&file, documents.join("\n")).unwrap();
    let script = json!({"delay_ms": {"open": 100, "q1": 20, "load": 3000, "index": 7}, "undrained": 3});
    let replies = talk(&[
        open(1, folder.path(), &script),
        json!({"id": 2, "op": "load", "mode": "rows", "statement": "load :doc", "file": file}),
        json!({"id": 3, "op": "run", "statements": ["index", "index"]}),
        json!({"id": 4, "op": "settle", "until_zero": "drained", "limit_s": 9, "sync": false}),
        json!({"id": 5, "op": "ask", "statement": "q1"}),
        json!({"id": 6, "op": "plan", "statement": "plan q1"}),
        json!({"id": 7, "op": "sizes", "statement": "sizes"}),
        json!({"id": 8, "op": "sizes", "statement": "count"}),
        json!({"id": 9, "op": "read_back", "statement": "read_back 2"}),
        json!({"id": 10, "op": "close"}),
        json!({"id": 11, "op": "ask", "statement": "q1"}),
    ]);
    let ids: Vec<u64> = replies.iter().map(|reply| reply["id"].as_u64().unwrap()).collect();
    assert_eq!(ids, (1..=10).collect::<Vec<_>>(), "{replies:?}");
    let ok = |id: usize| &replies[id - 1]["ok"];
    assert_eq!(ok(1)["version"], "mock 1.0");
    assert_eq!(ok(1)["seconds"], 0.1);
    assert_eq!(ok(2)["seconds"], 3.0);
    assert_eq!(ok(2)["sync_seconds"], 0.0);
    assert_eq!(ok(2)["documents"], 3);
    assert_eq!(ok(2)["rejects"], json!([{"line": 2, "reason": "not an object"}]));
    assert_eq!(ok(3)["seconds"], 0.014);
    assert_eq!(ok(4)["seconds"], 0.06);
    assert_eq!((&ok(4)["remaining"], &ok(4)["sync_seconds"]), (&json!(0), &json!(null)));
    assert_eq!(ok(5)["seconds"], 0.02);
    assert_eq!(ok(5)["outcome"]["rows"], json!([["x", 2], ["y", 1]]));
    assert_eq!(ok(5)["outcome"]["server_seconds"], 0.02);
    assert!(ok(5)["usage"]["cpu_s"].as_f64().unwrap() > 0.0);
    assert_eq!(ok(6)["text"], "scan for q1\n");
    assert_eq!(ok(7)["index_bytes"], 0);
    assert_eq!(*ok(8), json!({"count": 3}));
    assert_eq!(ok(9)["rows"], json!([event("b", 2, "x")]));
    assert!(ok(10)["seconds"].is_number());
}

#[test]
fn a_load_by_statement_stops_at_the_first_failure_and_the_session_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("events");
    std::fs::write(&file, event("a", 1, "x")).unwrap();
    let load = format!("load {}", file.display());
    let replies = talk(&[
        open(1, folder.path(), &json!({})),
        json!({"id": 2, "op": "load", "mode": "statement", "statements": [load, "load nowhere", load]}),
        json!({"id": 3, "op": "sizes", "statement": "count"}),
        json!({"id": 4, "op": "load", "mode": "statement", "statements": [load]}),
    ]);
    assert_eq!(error_of(&replies[1]).0, "refused");
    assert_eq!(replies[2]["ok"]["count"], 1);
    assert_eq!(replies[3]["ok"]["documents"], json!(null));
}

#[test]
fn a_document_goes_in_whole_by_the_bulk_path_and_as_a_parameter() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("one");
    let document = "{\n \"v\" : \"a;b ☃\"}";
    std::fs::write(&file, document).unwrap();
    let invalid_file = folder.path().join("wrong");
    std::fs::write(&invalid_file, b"\"\xff\"").unwrap();
    let load = |id: u64, mode: &str, statement: &str, file: &Path| json!({"id": id, "op": "load", "mode": mode, "statement": statement, "file": file, "sync": false});
    let replies = talk(&[
        open(1, folder.path(), &json!({})),
        json!({"id": 2, "op": "run", "statements": ["one_create t", "one_create u"]}),
        load(3, "whole", "one_load t :doc", &file),
        load(4, "parameter", "one_put u {{document}}", &file),
        json!({"id": 5, "op": "ask", "statement": "one_read t"}),
        json!({"id": 6, "op": "ask", "statement": "one_read u"}),
        json!({"id": 7, "op": "ask", "statement": "one_value u v"}),
        load(8, "parameter", "one_put u {{document}}", &invalid_file),
        load(9, "whole", "one_load u :doc", &invalid_file),
        load(10, "whole", "one_load u :doc", &folder.path().join("none")),
    ]);
    let rows = |id: usize| &replies[id - 1]["ok"]["outcome"]["rows"];
    assert_eq!(replies[2]["ok"]["documents"], 1);
    assert_eq!((rows(5), rows(6)), (&json!([[document]]), &json!([[document]])));
    assert_eq!(rows(7), &json!([["a;b ☃"]]));
    assert_eq!(error_of(&replies[7]), ("unsupported", "a parameter is text, which is UTF-8"));
    assert_eq!(replies[8]["ok"]["rejects"], json!([{"line": 0, "reason": "not JSON: not UTF-8 at byte 1"}]));
    assert_eq!(error_of(&replies[9]).0, "documents");
}

#[test]
fn a_wait_ends_at_its_limit_with_what_is_left() {
    let folder = tempfile::tempdir().unwrap();
    let settle = |limit: f64| json!({"id": 2, "op": "settle", "until_zero": "drained", "limit_s": limit});
    let script = json!({"undrained": 1000});
    let replies = talk(&[open(1, folder.path(), &script), settle(0.3)]);
    let last_reply = replies.last().unwrap();
    assert_eq!(last_reply["ok"]["remaining"], 985);
    assert_eq!(last_reply["ok"]["seconds"], 0.3);
    let messages: Vec<&Json> = replies.iter().filter(|reply| !reply["progress"].is_null()).collect();
    assert_eq!(messages.len(), 2, "{replies:?}");
    assert_eq!(messages[0]["progress"], json!({"done": 995, "total": null, "unit": "remaining"}));
}

#[test]
fn no_limit_is_too_strange() {
    for limit in [-1.0, 0.0, f64::MAX] {
        let folder = tempfile::tempdir().unwrap();
        let settle = json!({"id": 2, "op": "settle", "until_zero": "drained", "limit_s": limit});
        let replies = talk(&[open(1, folder.path(), &json!({"undrained": 2})), settle]);
        assert_eq!(replies[1]["ok"]["remaining"], if limit > 0.0 { 0 } else { 2 });
    }
}

#[test]
fn loads_by_row_tell_how_far_they_are() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("events");
    std::fs::write(&file, "{}\n".repeat(1000)).unwrap();
    let output = SharedBuffer::default();
    // The fake clock advances only by the mock's delays, so progress messages need a real one.
    struct Fast(jsonathlon_telemetry::clock::MonotonicClock);
    impl Clock for Fast {
        fn now(&self) -> Duration {
            self.0.now() * 100_000
        }
        fn sleep(&self, _: Duration) {}
    }
    let input = format!(
        "{}\n{}\n",
        open(1, folder.path(), &json!({})),
        json!({"id": 2, "op": "load", "mode": "rows", "statement": "load :doc", "file": file})
    );
    let clock = Arc::new(Fast(jsonathlon_telemetry::clock::MonotonicClock::new()));
    serve(input.as_bytes(), output.clone(), clock, None).unwrap();
    let text = output.text();
    assert!(text.contains(r#"{"id":2,"progress":{"done":256,"total":null,"unit":"documents"}}"#), "{text}");
    assert!(text.lines().last().unwrap().contains(r#""documents":1000"#), "{text}");
}

#[test]
fn requests_out_of_turn_are_refused_and_answered_by_their_id() {
    let folder = tempfile::tempdir().unwrap();
    let mut other_protocol = open(2, folder.path(), &json!({}));
    other_protocol["protocol"] = json!(7);
    let mut unknown_protocol = open(3, folder.path(), &json!({}));
    unknown_protocol["open"]["protocol"] = json!("dbase");
    let replies = talk(&[
        json!({"id": 1, "op": "ask", "statement": "q1"}),
        other_protocol,
        unknown_protocol,
        open(4, folder.path(), &json!({})),
        open(5, folder.path(), &json!({})),
        json!({"id": 6, "op": "dance"}),
        json!({"no": "id"}),
    ]);
    let errors: Vec<(u64, &str)> = replies
        .iter()
        .filter(|reply| !reply["error"].is_null())
        .map(|reply| (reply["id"].as_u64().unwrap(), error_of(reply).0))
        .collect();
    let expected =
        [(1, "request"), (2, "request"), (3, "unsupported"), (5, "request"), (6, "request"), (0, "request")];
    assert_eq!(errors, expected);
    assert!(error_of(&replies[1]).1.contains("protocol 3, not 7"));
    assert!(error_of(&replies[5]).1.contains("dance"));
}

#[test]
fn answers_of_another_shape_than_asked_for_are_errors() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("events");
    std::fs::write(&file, [event("a", 1, "x"), event("a", 2, "y")].join("\n")).unwrap();
    let replies = talk(&[
        open(1, folder.path(), &json!({})),
        json!({"id": 2, "op": "load", "mode": "rows", "statement": ":doc", "file": file}),
        json!({"id": 3, "op": "sizes", "statement": "q1"}),
        json!({"id": 4, "op": "read_back", "statement": "q1"}),
        json!({"id": 5, "op": "settle", "until_zero": "plan x", "limit_s": 1}),
        json!({"id": 6, "op": "load", "mode": "rows", "statement": ":doc", "file": "/nonexistent/x"}),
    ]);
    assert_eq!(error_of(&replies[2]), ("protocol", "metrics are one row, and the statement gave 2"));
    assert_eq!(error_of(&replies[3]).0, "protocol");
    assert_eq!(error_of(&replies[4]).0, "protocol");
    assert_eq!(error_of(&replies[5]).0, "documents");
    assert!(error_of(&replies[5]).1.contains("/nonexistent/x"));
}

#[test]
fn a_lost_session_is_told_of_at_every_request_and_can_be_closed() {
    let folder = tempfile::tempdir().unwrap();
    let script = json!({"faults": [{"statement": "q1", "execution": 1, "action": "disconnect", "message": "reset by peer"}]});
    let replies = talk(&[
        open(1, folder.path(), &script),
        json!({"id": 2, "op": "ask", "statement": "q1"}),
        json!({"id": 3, "op": "ask", "statement": "q1"}),
        json!({"id": 4, "op": "settle", "until_zero": "drained", "limit_s": 1}),
        json!({"id": 5, "op": "close"}),
    ]);
    assert_eq!(error_of(&replies[1]), ("crashed", "reset by peer"));
    for reply in &replies[2..4] {
        assert_eq!(error_of(reply), ("crashed", "the session was lost before: reset by peer"));
    }
    assert!(replies[4]["ok"]["seconds"].is_number(), "{replies:?}");
    let asks: Json =
        serde_json::from_slice(&std::fs::read(folder.path().join("asks.json")).unwrap()).unwrap();
    assert_eq!(asks["q1"], 1, "nothing is asked of a system that is gone");
}

#[test]
fn the_end_of_the_input_closes_the_session() {
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(talk(&[open(1, folder.path(), &json!({}))]).len(), 1);
    let asks: Json =
        serde_json::from_slice(&std::fs::read(folder.path().join("asks.json")).unwrap()).unwrap();
    assert_eq!(asks["close"], 1);
}

#[test]
fn what_is_not_json_is_answered_too() {
    let text = talk_text("garbage\n\u{0}\n");
    assert_eq!(text.lines().count(), 2);
    assert!(text.lines().all(|line| line.starts_with(r#"{"id":0,"error":{"kind":"request""#)), "{text}");
}

#[test]
fn long_reasons_are_cut_between_characters() {
    let mut sink = Sink {
        id: 1,
        output: Arc::new(Mutex::new(Vec::new())),
        clock: Arc::new(FakeClock::new()),
        last_report: Duration::ZERO,
        rejects: Vec::new(),
    };
    sink.reject(0, "é".repeat(REASON_LIMIT));
    assert_eq!(sink.rejects[0].reason, format!("{}…", "é".repeat(REASON_LIMIT / 2)));
}

/// Clients that report progress and return their job.
struct Echo;

impl JobRunner for Echo {
    fn drive(
        &mut self,
        job: &Json,
        target: &JobTarget<'_>,
        report_progress: &mut dyn FnMut(Progress),
    ) -> Result<Json, Failure> {
        if job["fails"] == true {
            return Err(failure(FailureKind::InvalidRequest, "no"));
        }
        report_progress(Progress { done: 7, total: None, unit: "operations".to_owned() });
        let is_here = target.location == EngineLocation::InProcess;
        Ok(json!({"job": job, "protocol": target.open.protocol, "is_here": is_here}))
    }
}

#[test]
fn jobs_of_clients_are_handed_on() {
    let folder = tempfile::tempdir().unwrap();
    let drive = |id: u64, job: Json| json!({"id": id, "op": "drive", "job": job});
    let requests = [
        drive(1, json!({})),
        open(2, folder.path(), &json!({})),
        drive(3, json!({"seed": u64::MAX, "rate": 0.1})),
        drive(4, json!({"fails": true})),
        json!({"id": 5, "op": "ask", "statement": "q1"}),
    ];
    let input: String = requests.iter().map(|request| format!("{request}\n")).collect();
    let output = SharedBuffer::default();
    serve(input.as_bytes(), output.clone(), Arc::new(FakeClock::new()), Some(&mut Echo)).unwrap();
    let replies: Vec<Json> = output.text().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(error_of(&replies[0]).0, "request");
    assert_eq!(replies[2]["progress"], json!({"done": 7, "total": null, "unit": "operations"}));
    let job = json!({"seed": u64::MAX, "rate": 0.1});
    assert_eq!(replies[3]["ok"], json!({"job": job, "protocol": "mock", "is_here": true}));
    assert_eq!(error_of(&replies[4]), ("request", "no"));
    assert!(replies[5]["ok"].is_object());
    // A worker without clients refuses the request.
    let second_folder = tempfile::tempdir().unwrap();
    let replies = talk(&[open(1, second_folder.path(), &json!({})), drive(2, json!({}))]);
    assert_eq!(error_of(&replies[1]), ("request", "this worker has no clients"));
}
