//! Tests of the coordinator's side of the protocol, with real worker processes.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use jsonathlon_driver_api::SessionOptions;
use jsonathlon_schema::value::Value;
use jsonathlon_worker::protocol::{
    AskReply, FailureKind, LoadMethod, LoadReply, Op, OpenReply, PROTOCOL_VERSION, Progress, RowByName,
    RunReply,
};
use jsonathlon_worker::{Worker, WorkerError};
use serde_json::json;

const LIMIT: Duration = Duration::from_secs(30);

struct Rig {
    folder: tempfile::TempDir,
}

impl Rig {
    fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    fn log(&self) -> PathBuf {
        self.folder.path().join("worker.log")
    }

    fn spawn(&self) -> Worker {
        Worker::spawn(Path::new(env!("CARGO_BIN_EXE_jsonathlon")), &["worker"], &self.log(), &[]).unwrap()
    }

    /// Starts a shell script instead of a worker, for behaviour that a real worker does not show.
    fn shell(&self, script: &str) -> Worker {
        Worker::spawn(Path::new("/bin/sh"), &["-c", script], &self.log(), &[]).unwrap()
    }

    fn open(&self, script: &serde_json::Value) -> Worker {
        let mut worker = self.spawn();
        let opened: OpenReply = ask(&mut worker, &self.open_op(script)).unwrap();
        assert_eq!(opened.version, "mock 1.0");
        worker
    }

    fn open_op(&self, script: &serde_json::Value) -> Op {
        let open = SessionOptions {
            protocol: "mock".into(),
            folder: self.folder.path().join("data"),
            settings: [("script".to_owned(), script.to_string())].into(),
            ..SessionOptions::default()
        };
        Op::Open { protocol: PROTOCOL_VERSION, open }
    }

    fn documents(&self, count: usize) -> PathBuf {
        let file = self.folder.path().join("documents.ndjson");
        std::fs::write(&file, "{\"kind\":\"commit\"}\n".repeat(count)).unwrap();
        file
    }
}

fn ask<R: serde::de::DeserializeOwned>(worker: &mut Worker, op: &Op) -> Result<R, WorkerError> {
    worker.request(op, LIMIT, &|| false, &mut |_| {})
}

fn statement(text: &str) -> Op {
    Op::Ask { statement: text.into() }
}

fn create() -> Op {
    Op::Run { statements: vec!["create".into()] }
}

/// Returns `true` if a process exists and is not a zombie.
fn lives(pid: u32) -> bool {
    std::fs::read_to_string(format!("/proc/{pid}/stat"))
        .is_ok_and(|stat| !stat.rsplit_once(") ").unwrap().1.starts_with(['Z', 'X']))
}

fn dies(pid: u32) {
    let begun = Instant::now();
    while lives(pid) {
        assert!(begun.elapsed() < LIMIT, "process {pid} lives on");
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn a_session_from_open_to_close_in_processes_of_its_own() {
    let rig = Rig::new();
    let mut worker = rig.open(&json!({}));
    let _: RunReply = ask(&mut worker, &create()).unwrap();
    let load = LoadMethod::Rows { statement: "load :doc".into(), file: rig.documents(1000) };
    let loaded: LoadReply = ask(&mut worker, &Op::Load { load, sync: true }).unwrap();
    assert_eq!(loaded.documents, Some(1000));
    assert!(loaded.seconds >= loaded.sync_seconds.unwrap());
    worker.close(LIMIT).unwrap();
    assert!(!worker.is_alive());
    assert!(matches!(ask::<AskReply>(&mut worker, &statement("q1")), Err(WorkerError::Ended)));

    let mut again = rig.open(&json!({}));
    assert_ne!(again.pid(), worker.pid());
    let answered: AskReply = ask(&mut again, &statement("q1")).unwrap();
    assert_eq!(answered.outcome.rows, vec![vec![Value::Null, Value::Int(1000)]]);
    assert!(answered.seconds > 0.0 && answered.usage.cpu_s > Some(0.0));
    again.close(LIMIT).unwrap();
}

#[test]
fn a_refusal_leaves_the_worker_usable() {
    let rig = Rig::new();
    let mut worker = rig.open(&json!({}));
    let error = ask::<AskReply>(&mut worker, &statement("nonsense")).unwrap_err();
    let WorkerError::RequestFailed { kind: FailureKind::Refused, message } = error else { panic!("{error}") };
    assert_eq!(message, "unknown statement `nonsense`");
    let _: RunReply = ask(&mut worker, &create()).unwrap();
    worker.close(LIMIT).unwrap();
}

#[test]
fn a_crash_is_told_with_its_signal_and_last_words() {
    for (by, signal) in [("abort", 6), ("kill", 9)] {
        let rig = Rig::new();
        std::fs::write(rig.log(), "an earlier worker's words\n").unwrap();
        let script = json!({"faults": [
            {"statement": "q1", "execution": 2, "action": "print", "text": "assertion failed: 1 == 2"},
            {"statement": "q1", "execution": 2, "action": "crash", "signal": by},
        ]});
        let mut worker = rig.open(&script);
        let _: RunReply = ask(&mut worker, &create()).unwrap();
        let _: AskReply = ask(&mut worker, &statement("q1")).unwrap();
        let pid = worker.pid();
        let error = ask::<AskReply>(&mut worker, &statement("q1")).unwrap_err();
        let WorkerError::Crashed { status, last_words } = &error else { panic!("{error}") };
        assert_eq!(std::os::unix::process::ExitStatusExt::signal(status), Some(signal));
        assert_eq!(last_words, "assertion failed: 1 == 2");
        assert!(error.to_string().contains("its last words: assertion"), "{error}");
        assert!(!worker.is_alive() && !lives(pid));
        // The execution counter continues in the next process, which therefore does not crash.
        let mut next = rig.open(&script);
        let _: AskReply = ask(&mut next, &statement("q1")).unwrap();
    }
}

#[test]
fn a_crash_in_the_middle_of_a_load_leaves_nothing_loaded() {
    let rig = Rig::new();
    let script = json!({"faults": [{"statement": "load", "execution": 1, "action": "crash", "signal": "kill", "after": 500}]});
    let mut worker = rig.open(&script);
    let _: RunReply = ask(&mut worker, &create()).unwrap();
    let load = || LoadMethod::Rows { statement: "load :doc".into(), file: rig.documents(1000) };
    let error = ask::<LoadReply>(&mut worker, &Op::Load { load: load(), sync: true }).unwrap_err();
    assert!(matches!(error, WorkerError::Crashed { .. }), "{error}");
    let mut next = rig.open(&script);
    let figures: RowByName = ask(&mut next, &Op::Sizes { statement: "count".into() }).unwrap();
    assert_eq!(figures["count"], Value::Int(0));
    let loaded: LoadReply = ask(&mut next, &Op::Load { load: load(), sync: true }).unwrap();
    assert_eq!(loaded.documents, Some(1000));
}

#[test]
fn a_hang_ends_at_its_limit_and_the_worker_with_it() {
    let rig = Rig::new();
    let mut worker = rig.open(&json!({"faults": [{"statement": "q1", "action": "hang"}]}));
    let _: RunReply = ask(&mut worker, &create()).unwrap();
    let (pid, begun, limit) = (worker.pid(), Instant::now(), Duration::from_millis(300));
    let error = worker.request::<AskReply>(&statement("q1"), limit, &|| false, &mut |_| {}).unwrap_err();
    assert!(matches!(error, WorkerError::TimedOut { .. }), "{error}");
    assert!(begun.elapsed() >= limit && begun.elapsed() < limit + Duration::from_secs(5));
    assert!(!lives(pid));
}

#[test]
fn a_caller_who_cancels_waits_no_longer_than_a_moment() {
    let rig = Rig::new();
    let mut worker = rig.open(&json!({"faults": [{"statement": "q1", "action": "hang"}]}));
    let _: RunReply = ask(&mut worker, &create()).unwrap();
    let pid = worker.pid();
    let looks = std::cell::RefCell::new(vec![Instant::now()]);
    let cancelled = || {
        looks.borrow_mut().push(Instant::now());
        looks.borrow().len() > 5
    };
    let error = worker.request::<AskReply>(&statement("q1"), LIMIT, &cancelled, &mut |_| {}).unwrap_err();
    assert!(matches!(error, WorkerError::Cancelled), "{error}");
    assert!(!lives(pid));
    // The median, because a busy machine may suspend this process at any check.
    let looks = looks.into_inner();
    let mut gaps: Vec<Duration> = looks.windows(2).map(|pair| pair[1] - pair[0]).collect();
    gaps.sort();
    assert!(gaps[gaps.len() / 2] <= Duration::from_millis(60), "{gaps:?}");
}

#[test]
fn garbage_and_endless_lines_on_the_stream_are_errors_of_protocol() {
    let faults = [
        (json!({"text": "Segmentation fault\n"}), "Segmentation fault"),
        // The newline comes from the answer that follows.
        (json!({"text": "progress: 5%"}), "progress: 5%{\"id\":"),
        (json!({"text": "{\"id\":77,\"ok\":{}}\n"}), "{\"id\":77,\"ok\":{}}"),
        (json!({"text": "{\"id\":3}\n"}), "{\"id\":3}"),
        (json!({"text": "x".repeat(1 << 20), "times": 300}), "a line longer than"),
    ];
    for (fault, shown) in faults {
        let rig = Rig::new();
        let mut act = json!({"statement": "q1", "action": "garbage"});
        act.as_object_mut().unwrap().extend(fault.as_object().unwrap().clone());
        let mut worker = rig.open(&json!({"faults": [act]}));
        let _: RunReply = ask(&mut worker, &create()).unwrap();
        let pid = worker.pid();
        let error = ask::<AskReply>(&mut worker, &statement("q1")).unwrap_err();
        let WorkerError::Protocol { line } = &error else { panic!("{error}") };
        assert!(line.starts_with(shown) && line.len() < 1000, "{line}");
        assert!(!lives(pid));
    }
}

#[test]
fn what_an_engine_prints_goes_to_the_log_and_not_into_the_protocol() {
    let rig = Rig::new();
    let script = json!({"faults": [{"statement": "q1", "action": "print", "text": "{\"id\":3,\"ok\":{}}"}]});
    let mut worker = rig.open(&script);
    let _: RunReply = ask(&mut worker, &create()).unwrap();
    let answered: AskReply = ask(&mut worker, &statement("q1")).unwrap();
    assert!(answered.outcome.rows.is_empty());
    worker.close(LIMIT).unwrap();
    assert_eq!(std::fs::read_to_string(rig.log()).unwrap(), "{\"id\":3,\"ok\":{}}\n");
}

#[test]
fn signs_of_life_reach_the_caller() {
    let rig = Rig::new();
    let mut worker = rig.open(&json!({"undrained": 15}));
    let settle =
        Op::Settle { statements: vec![], until_zero: Some("drained".into()), limit_s: 20.0, sync: false };
    let mut signs: Vec<Progress> = Vec::new();
    let settled: serde_json::Value =
        worker.request(&settle, LIMIT, &|| false, &mut |sign| signs.push(sign)).unwrap();
    assert_eq!(settled["remaining"], 0);
    assert!(
        !signs.is_empty() && signs.iter().all(|sign| sign.unit == "remaining" && sign.done > 0),
        "{signs:?}"
    );
}

#[test]
fn a_dropped_worker_is_dead_with_everything_it_started() {
    let rig = Rig::new();
    let file = rig.folder.path().join("pid");
    let worker = rig.shell(&format!("sleep 1000 & echo $! > {0}.new; mv {0}.new {0}; wait", file.display()));
    let begun = Instant::now();
    while !file.exists() {
        assert!(begun.elapsed() < LIMIT);
        std::thread::sleep(Duration::from_millis(5));
    }
    let child: u32 = std::fs::read_to_string(&file).unwrap().trim().parse().unwrap();
    let pid = worker.pid();
    assert!(lives(pid) && lives(child));
    drop(worker);
    assert!(!Path::new(&format!("/proc/{pid}")).exists(), "not reaped");
    dies(child);
}

#[test]
fn a_worker_that_ends_or_closes_its_output_unasked_is_told_apart() {
    let rig = Rig::new();
    let mut worker = rig.shell("echo cannot start >&2; exit 3");
    let error = ask::<OpenReply>(&mut worker, &Op::Close).unwrap_err();
    let WorkerError::Crashed { status, last_words } = &error else { panic!("{error}") };
    assert_eq!((status.code(), last_words.as_str()), (Some(3), "cannot start"));
    let mut worker = rig.shell("read line; exec >&-; sleep 1000");
    let pid = worker.pid();
    let error = ask::<OpenReply>(&mut worker, &Op::Close).unwrap_err();
    assert!(
        matches!(&error, WorkerError::Protocol { line } if line.contains("closed its output")),
        "{error}"
    );
    assert!(!lives(pid));
}

#[test]
fn a_stopped_worker_cannot_hold_up_a_request_longer_than_the_pipe() {
    let rig = Rig::new();
    let mut worker = rig.shell("sleep 1000");
    let begun = Instant::now();
    let long = statement(&"x".repeat(1 << 20));
    let error =
        worker.request::<AskReply>(&long, Duration::from_millis(200), &|| false, &mut |_| {}).unwrap_err();
    assert!(matches!(error, WorkerError::TimedOut { .. }), "{error}");
    assert!(begun.elapsed() < Duration::from_secs(10));
}

#[test]
fn a_worker_that_does_not_end_after_close_is_killed() {
    let rig = Rig::new();
    let mut worker = rig.shell(r#"read line; echo '{"id":1,"ok":{"seconds":0.5}}'; sleep 1000"#);
    let pid = worker.pid();
    let error = worker.close(Duration::from_millis(300)).unwrap_err();
    assert!(matches!(error, WorkerError::TimedOut { .. }), "{error}");
    assert!(!lives(pid));
}

#[test]
fn a_program_that_is_not_there_is_named() {
    let rig = Rig::new();
    let error = Worker::spawn(Path::new("/nonexistent/program"), &[], &rig.log(), &[]).unwrap_err();
    assert!(error.to_string().starts_with("failed to start /nonexistent/program: "), "{error}");
}

#[test]
fn a_worker_outlives_the_thread_that_started_it() {
    let rig = Rig::new();
    let mut worker = std::thread::scope(|scope| scope.spawn(|| rig.spawn()).join().unwrap());
    std::thread::sleep(Duration::from_millis(50));
    let _: OpenReply = ask(&mut worker, &rig.open_op(&json!({}))).unwrap();
    worker.close(LIMIT).unwrap();
}

#[test]
fn a_busy_worker_does_not_outlive_a_coordinator_that_is_killed() {
    // A shell acts as the coordinator; it gives its worker an endless statement and is killed. Another child
    // of the shell keeps the worker's pipe open, so the worker gets no end of file.
    let rig = Rig::new();
    let (pids, fifo) = (rig.folder.path().join("pids"), rig.folder.path().join("fifo"));
    let Op::Open { open, .. } = rig.open_op(&json!({"faults": [{"statement": "open", "action": "hang"}]}))
    else {
        unreachable!()
    };
    let request = rig.folder.path().join("request");
    let line = json!({"id": 1, "op": "open", "protocol": PROTOCOL_VERSION, "open": open});
    std::fs::write(&request, format!("{line}\n")).unwrap();
    let script = format!(
        "mkfifo {fifo}; JSONATHLON_PARENT=$$ {exe} worker < {fifo} > /dev/null & worker=$!; exec 9> {fifo}; \
         sleep 60 & cat {request} >&9; echo $! $worker > {pids}.new; mv {pids}.new {pids}; wait",
        fifo = fifo.display(),
        exe = env!("CARGO_BIN_EXE_jsonathlon"),
        request = request.display(),
        pids = pids.display()
    );
    let mut coordinator = Command::new("/bin/sh").args(["-c", &script]).stdin(Stdio::null()).spawn().unwrap();
    let begun = Instant::now();
    let asks = rig.folder.path().join("data/asks.json");
    while !pids.exists() || !asks.exists() {
        assert!(begun.elapsed() < LIMIT);
        std::thread::sleep(Duration::from_millis(5));
    }
    let text = std::fs::read_to_string(&pids).unwrap();
    let pids: Vec<u32> = text.split_whitespace().map(|pid| pid.parse().unwrap()).collect();
    assert!(lives(pids[1]), "the worker is not at work");
    coordinator.kill().unwrap();
    coordinator.wait().unwrap();
    dies(pids[1]);
    assert!(lives(pids[0]), "the pipe was closed, which also ends a worker");
    Command::new("kill").arg(pids[0].to_string()).status().unwrap();
}

#[test]
fn a_worker_whose_coordinator_is_another_one_does_not_begin() {
    let rig = Rig::new();
    let output = Command::new(env!("CARGO_BIN_EXE_jsonathlon"))
        .arg("worker")
        .env("JSONATHLON_PARENT", "1")
        .current_dir(rig.folder.path())
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("coordinator ended"));
}

#[test]
fn a_busy_worker_ends_when_the_pipe_to_it_is_dropped() {
    let rig = Rig::new();
    let mut child = Command::new(env!("CARGO_BIN_EXE_jsonathlon"))
        .arg("worker")
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let open = match rig.open_op(&json!({"faults": [{"statement": "open", "action": "hang"}]})) {
        Op::Open { open, .. } => json!({"id": 1, "op": "open", "protocol": PROTOCOL_VERSION, "open": open}),
        _ => unreachable!(),
    };
    let mut stdin = child.stdin.take().unwrap();
    std::io::Write::write_all(&mut stdin, format!("{open}\n").as_bytes()).unwrap();
    drop(stdin);
    let status = child.wait().unwrap();
    assert_eq!(std::os::unix::process::ExitStatusExt::signal(&status), Some(9));
}
