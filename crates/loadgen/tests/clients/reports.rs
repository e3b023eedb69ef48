//! Streams that ask a user's reports, alone, against the mock.

use std::sync::Arc;

use jsonathlon_driver_api::driver::{DriverContext, EngineLocation, SessionOptions};
use jsonathlon_loadgen::load_generator::LoadGenerator;
use jsonathlon_loadgen::reports::job::{REPORTS, ReportQuestion, ReportsAlone, ReportsJob};
use jsonathlon_loadgen::reports::log::{ReportOutcome, ReportsEnd, ReportsLog};
use jsonathlon_telemetry::clock::MonotonicClock;
use jsonathlon_worker::protocol::{Failure, FailureKind};
use jsonathlon_worker::{JobRunner, JobTarget};
use serde_json::{Value, json};

/// Work of streams over these statements.
fn job(streams: u32, statements: &[&str]) -> ReportsAlone {
    let question = |(index, statement): (usize, &&str)| ReportQuestion {
        name: format!("q{index}"),
        statement: (*statement).to_owned(),
    };
    ReportsAlone {
        reports: ReportsJob {
            streams,
            questions: statements.iter().enumerate().map(question).collect(),
            session: vec!["answer documents [[0]]".to_owned()],
            seed: 7,
            max_seconds: 60.0,
            patience_s: 0.2,
        },
        ramp_s: 0.02,
        seconds: 0.1,
    }
}

/// Runs the streams against a mock that behaves as the script says.
fn run(job: &ReportsAlone, script: &Value) -> Result<ReportsLog, Failure> {
    let folder = tempfile::tempdir().unwrap();
    let open = SessionOptions {
        protocol: "mock".to_owned(),
        folder: folder.path().to_owned(),
        settings: [("script".to_owned(), script.to_string())].into(),
        ..SessionOptions::default()
    };
    let host = DriverContext { clock: Arc::new(MonotonicClock::new()), output: None };
    let target = JobTarget { open: &open, location: EngineLocation::InProcess, host: &host };
    let answer = LoadGenerator::new().drive(&json!({ REPORTS: job }), &target, &mut |_| {})?;
    Ok(serde_json::from_value(answer).unwrap())
}

fn answered(log: &ReportsLog, question: u32) -> usize {
    let asked = log.streams.iter().flat_map(|stream| &stream.asked);
    asked
        .filter(|asked| asked.question == question && matches!(asked.outcome, ReportOutcome::Answer(_)))
        .count()
}

#[test]
fn each_stream_asks_whole_sets_and_answers_are_kept_once() {
    let log = run(&job(2, &["answer documents [[1]]", "answer documents [[2]]"]), &json!({})).unwrap();
    assert_eq!((log.streams.len(), log.ended_by), (2, ReportsEnd::Planned));
    assert_eq!(log.answers.len(), 2, "equal answers are kept once: {:?}", log.answers);
    for question in 0..2 {
        assert!(answered(&log, question) >= 2, "each stream has asked it: {log:?}");
    }
    assert!(log.window_start_ns == 20_000_000 && log.window_end_ns >= 120_000_000, "{}", log.window_end_ns);
    for stream in &log.streams {
        let times: Vec<u64> = stream.asked.iter().flat_map(|asked| [asked.start_ns, asked.end_ns]).collect();
        assert!(times.is_sorted(), "a stream asks one question after the other");
        assert_eq!((stream.unfinished, &stream.error), (None, &None));
    }
}

#[test]
fn a_window_waits_for_a_set_that_began_in_it() {
    let mut job = job(1, &["answer documents [[1]]", "answer documents [[2]]"]);
    job.ramp_s = 0.0;
    let log = run(&job, &json!({"delay_ms": {"answer": 150}})).unwrap();
    assert_eq!(log.ended_by, ReportsEnd::Planned);
    assert!(log.window_end_ns >= 300_000_000, "two answers of 150 ms each: {}", log.window_end_ns);
}

#[test]
fn a_window_that_ends_before_a_slow_set_is_told_so() {
    let mut job = job(1, &["answer documents [[1]]", "answer documents [[2]]"]);
    job.reports.max_seconds = 0.2;
    // The second question is answered soon after the window, within the time that is waited for it.
    job.reports.patience_s = 10.0;
    let log = run(&job, &json!({"delay_ms": {"answer": 150}})).unwrap();
    assert_eq!((log.ended_by, log.streams[0].unfinished), (ReportsEnd::NoWholeSet, None), "{log:?}");
    let last = log.streams[0].asked.last().unwrap();
    assert!(last.end_ns > log.window_end_ns, "it was waited for: {log:?}");
}

#[test]
fn a_question_that_fails_is_asked_again_and_the_others_too() {
    let log = run(&job(1, &["nothing documents", "answer documents [[2]]"]), &json!({})).unwrap();
    let failed = |outcome: &ReportOutcome| match outcome {
        ReportOutcome::Failed(message) => message.contains("unknown statement"),
        _ => false,
    };
    let failures = log.streams[0].asked.iter().filter(|asked| asked.question == 0 && failed(&asked.outcome));
    assert!(failures.count() >= 1 && answered(&log, 1) >= 1, "{log:?}");
}

#[test]
fn a_question_that_never_ends_is_given_up() {
    let script = json!({"faults": [{"statement": "rows", "action": "hang"}]});
    let mut job = job(1, &["rows documents 3"]);
    job.reports.max_seconds = 0.2;
    let log = run(&job, &script).unwrap();
    assert_eq!(log.ended_by, ReportsEnd::NoWholeSet);
    let (question, start_ns) = log.streams[0].unfinished.unwrap();
    assert!(question == 0 && start_ns < log.window_end_ns, "{log:?}");
}

#[test]
fn jobs_without_streams_or_sessions_are_refused() {
    let failure = run(&job(0, &["count documents"]), &json!({})).unwrap_err();
    assert_eq!(failure.kind, FailureKind::InvalidRequest);
    let mut job = job(2, &["count documents"]);
    job.reports.session = vec!["nothing".to_owned()];
    let failure = run(&job, &json!({})).unwrap_err();
    assert!(failure.message.starts_with("stream 1 of 2: "), "{}", failure.message);
}
