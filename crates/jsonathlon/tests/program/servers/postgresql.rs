//! Tests of PostgreSQL, and of everything that servers have in common.

use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;
use std::time::{Duration, Instant};

use jsonathlon_schema::value::Value;
use jsonathlon_worker::WorkerError;
use jsonathlon_worker::protocol::{AskReply, FailureKind, LoadMethod, LoadReply, Op, PlanReply};
use rustix::process::{Pid, Signal, kill_process};

use super::server::{Server, Session, crash, int, kill, process, processes_below, text, write};
use crate::support::real::excluded;
use crate::support::{LIMIT, eventually};

const COPY: &str = "COPY t (doc) FROM STDIN";

fn postgresql() -> Server {
    Server::new("postgresql", "json-only")
}

/// Process id of the backend of this session.
fn backend(session: &mut Session) -> u32 {
    match session.rows("SELECT pg_backend_pid()")[0][0] {
        Value::Int(pid) => u32::try_from(pid).unwrap(),
        ref other => panic!("{other:?}"),
    }
}

#[test]
fn values_arrive_with_every_bit_and_errors_leave_the_session_usable() {
    if excluded(&["postgresql"]) {
        return;
    }
    let postgres = postgresql();
    let mut session = postgres.open();
    assert!(session.opened.version.starts_with("18."), "{}", session.opened.version);
    let rows = session.rows(
        "SELECT (-9223372036854775808)::bigint, 9223372036854775807::numeric, 255::smallint, NULL, true, 0.1::float8, \
         '-0.0'::float8, 'inf'::float8, 1.25::numeric(30, 2), -0.001, 'é😀', E'a\\nb\\tc\"\\\\', '', repeat('x', 100000), \
         '{\"b\": 1, \"a\": 2}'::jsonb, '{\"b\": 1}'::json, sum(n) FROM generate_series(1, 10) s(n)",
    );
    let expected = [
        int(i64::MIN),
        int(i64::MAX),
        int(255),
        Value::Null,
        Value::Bool(true),
        Value::Float(0.1),
        Value::Float(-0.0),
        Value::Float(f64::INFINITY),
        Value::Float(1.25),
        Value::Float(-0.001),
        text("é😀"),
        text("a\nb\tc\"\\"),
        text(""),
        text(&"x".repeat(100_000)),
        text("{\"a\": 2, \"b\": 1}"),
        text("{\"b\": 1}"),
        int(55),
    ];
    assert_eq!(rows, [expected.to_vec()]);
    for count in [0, 1, 100_000] {
        let answered =
            session.ask(&format!("SELECT n, n::text AS t FROM generate_series(1, {count}) s(n)")).unwrap();
        assert_eq!(answered.outcome.columns, ["n", "t"]);
        assert_eq!(answered.outcome.rows.len(), count);
    }
    for (statement, words, wanted) in [
        ("SELECT FROM WHERE", "syntax error", FailureKind::Refused),
        ("SELECT * FROM nowhere", "nowhere", FailureKind::Refused),
        (
            "SELECT 1 / (n - 70000) FROM generate_series(1, 100000) s(n)",
            "division by zero",
            FailureKind::Refused,
        ),
        ("SELECT localtime AS c", "`c` is of type time", FailureKind::Unsupported),
        ("SELECT 1e30::numeric AS c", "64 bits", FailureKind::Unsupported),
        ("SELECT 1; SELECT * FROM nowhere; SELECT 2", "nowhere", FailureKind::Refused),
    ] {
        match session.ask(statement) {
            Err(WorkerError::RequestFailed { kind, message }) if kind == wanted => {
                assert!(message.contains(words), "{message}");
            }
            other => panic!("{statement}: {other:?}"),
        }
        assert_eq!(session.rows("SELECT 41 + 1"), [vec![int(42)]], "after {statement}");
    }
    session.run("CREATE TABLE a (n int); INSERT INTO a VALUES (1), (2); -- end;");
    assert_eq!(session.rows("SELECT count(*), ';' FROM a"), [vec![int(2), text(";")]]);
    // Several statements in one text: the last one's answer counts, whether it has rows or none.
    assert_eq!(session.rows("SELECT 'no'; SET work_mem = '8MB'; SELECT 1, 2;"), [vec![int(1), int(2)]]);
    assert_eq!(session.ask("SELECT 1; RESET work_mem").unwrap().outcome.columns, [""; 0]);
    let plan: PlanReply =
        session.request(&Op::Plan { statement: "EXPLAIN (COSTS OFF) SELECT n FROM a".into() }).unwrap();
    assert_eq!(plan.text, "Seq Scan on a\n");
    let busy = session.ask("SELECT count(*) FROM generate_series(1, 1000000)").unwrap();
    assert!(
        busy.usage.cpu_s > Some(0.0) && busy.usage.cpu_s < Some(busy.seconds * 4.0 + 0.05),
        "{:?}",
        busy.usage
    );
    assert!(
        busy.usage.client_cpu_s.is_some() && busy.usage.client_cpu_s < busy.usage.cpu_s,
        "{:?}",
        busy.usage
    );
    session.close();
}

#[test]
fn what_is_refused_is_named_and_all_else_is_there_once() {
    if excluded(&["postgresql"]) {
        return;
    }
    let postgres = postgresql();
    let mut session = postgres.open();
    session.run("CREATE TABLE t (doc jsonb NOT NULL)");
    let file = postgres.path("documents.ndjson");
    let mut documents: Vec<Vec<u8>> = (0..50_000)
        .map(|n| format!("{{\"n\":{n},\"t\":\"a\\\\b\\u00e9\\t\\n\"}}\t\r").into_bytes())
        .collect();
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    let bad: [(usize, &[u8], &str); 9] = [
        (0, b"{\"first\":", "invalid input syntax for type json"),
        (7, b"{\"a\":\"\\u0000\"}", "\\u0000 cannot be converted to text"),
        (8, b"not JSON", "invalid input syntax for type json"),
        (9, b"\\.", "invalid input syntax for type json"),
        (10, b"\\N\t\\N", "invalid input syntax for type json"),
        (25_000, b"{\"a\":\"\xff\"}", "invalid byte sequence for encoding \"UTF8\": 0xff"),
        (25_001, b"{\"a\":\"b\0c\"}", "invalid byte sequence for encoding \"UTF8\": 0x00"),
        (40_000, deep.as_bytes(), "stack depth limit exceeded"),
        (49_999, b"{\"a\":\"\\ud800\"}", "invalid input syntax for type json"),
    ];
    for (line, document, _) in bad {
        documents[line] = document.to_vec();
    }
    write(&file, &documents);
    let loaded = session.load(COPY, &file).unwrap();
    assert_eq!(loaded.documents, Some(50_000 - bad.len() as u64));
    let found: Vec<u64> = loaded.rejects.iter().map(|reject| reject.line).collect();
    assert_eq!(found, bad.map(|(line, ..)| line as u64), "{:?}", loaded.rejects);
    for (reject, (_, _, words)) in loaded.rejects.iter().zip(bad) {
        assert!(reject.reason.contains(words), "{reject:?}");
    }
    assert!(loaded.usage.cpu_s > Some(0.0) && loaded.usage.client_cpu_s.is_some_and(|client| client > 0.0));
    let figures = session.rows("SELECT count(*), count(DISTINCT doc -> 'n'), min(doc ->> 't') FROM t");
    let left = 50_000 - bad.len() as i64;
    assert_eq!(figures, [vec![int(left), int(left), text("a\\bé\t\n")]]);

    // Most documents are invalid; then the table rejects documents, not the type.
    write(
        &file,
        (0..3000).map(|n| if n % 1000 == 500 { format!("{{\"n\":{n}}}") } else { format!("bad {n}") }),
    );
    let begun = Instant::now();
    let loaded = session.load(COPY, &file).unwrap();
    assert_eq!((loaded.documents, loaded.rejects.len()), (Some(3), 2997));
    assert!(begun.elapsed() < Duration::from_secs(60), "{:?}", begun.elapsed());
    session.run("DROP TABLE t");
    session.run(
        "CREATE TABLE t (doc jsonb, n bigint GENERATED ALWAYS AS ((doc ->> 'n')::bigint) STORED UNIQUE)",
    );
    write(&file, ["{\"n\":1}", "{\"n\":\"x\"}", "{\"n\":2}", "{\"n\":1}", "{\"n\":3}"]);
    let loaded = session.load(COPY, &file).unwrap();
    let reasons: Vec<(u64, &str)> = loaded.rejects.iter().map(|r| (r.line, r.reason.as_str())).collect();
    assert_eq!(reasons.len(), 2, "{reasons:?}");
    assert!(
        reasons[0].0 == 1 && reasons[0].1.contains("invalid input syntax for type bigint"),
        "{reasons:?}"
    );
    assert!(reasons[1].0 == 3 && reasons[1].1.contains("duplicate key"), "{reasons:?}");
    assert_eq!(session.rows("SELECT count(*), sum(n) FROM t"), [vec![int(3), int(6)]]);

    // The error is not about documents: nothing of the load is kept.
    write(&file, ["{}", "{}"]);
    let load = LoadMethod::Rows { statement: "COPY nowhere FROM STDIN".into(), file };
    let failed: Result<LoadReply, _> = session.request(&Op::Load { load, sync: true });
    assert!(
        matches!(failed, Err(WorkerError::RequestFailed { kind: FailureKind::Refused, .. })),
        "{failed:?}"
    );
    assert_eq!(session.rows("SELECT count(*) FROM t"), [vec![int(3)]]);
    session.close();
}

#[test]
fn data_and_password_stay_from_session_to_session_and_over_a_kill() {
    if excluded(&["postgresql"]) {
        return;
    }
    let postgres = postgresql();
    let mut session = postgres.open();
    session.run("CREATE TABLE t (doc jsonb)");
    let file = postgres.path("documents.ndjson");
    write(&file, (0..5000).map(|n| format!("{{\"n\":{n}}}")));
    session.load(COPY, &file).unwrap();
    let data = std::fs::metadata(postgres.path("data/data")).unwrap();
    let root = rustix::process::geteuid().is_root();
    assert_eq!(data.uid(), if root { 65534 } else { rustix::process::geteuid().as_raw() });
    let process = std::fs::metadata(format!("/proc/{}", session.server())).unwrap();
    assert_eq!(process.uid(), data.uid(), "the server runs as the owner of its data");
    let password = std::fs::metadata(postgres.path("data/password")).unwrap();
    assert_eq!(password.permissions().mode() & 0o777, 0o600);
    let secret = std::fs::read_to_string(postgres.path("data/password")).unwrap();
    for pid in postgres.processes() {
        let shown = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        assert!(!String::from_utf8_lossy(&shown).contains(&secret), "the password is in a command line");
    }
    let log = std::fs::read_to_string(postgres.path("server.log")).unwrap();
    assert!(!log.contains(&secret), "the password is in the log");
    session.close();
    assert!(postgres.processes().is_empty());

    let mut session = postgres.open();
    assert_eq!(session.rows("SELECT count(*) FROM t"), [vec![int(5000)]]);
    session.load(COPY, &file).unwrap();
    // Killed during a statement that a backend would otherwise finish first.
    let wait = Op::Ask { statement: "SELECT count(*) FROM generate_series(1, 100000000000)".into() };
    let gone: Result<AskReply, _> =
        session.engine.request(&wait, Duration::from_millis(300), &|| false, &mut |_| {});
    assert!(matches!(gone, Err(WorkerError::TimedOut { .. })), "{gone:?}");
    // The next session waits for the end of the previous server.
    let mut session = postgres.open();
    assert_eq!(session.rows("SELECT count(*) FROM t"), [vec![int(10_000)]]);
    session.close();
}

#[test]
fn a_process_of_the_server_that_dies_is_told_and_the_server_ends_with_the_session() {
    if excluded(&["postgresql"]) {
        return;
    }
    let postgres = postgresql();
    let mut session = postgres.open();
    let pid = backend(&mut session);
    let killer = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(300));
        kill(pid);
    });
    let last_words = crash(session.ask("SELECT pg_sleep(60)").unwrap_err());
    killer.join().unwrap();
    assert!(last_words.contains("terminated by signal 9"), "{last_words}");
    postgres.nothing_is_left();
}

#[test]
fn a_load_that_is_cut_off_leaves_nothing_and_can_be_done_again() {
    if excluded(&["postgresql"]) {
        return;
    }
    let postgres = postgresql();
    let file = postgres.path("documents.ndjson");
    write(&file, (0..200_000).map(|n| format!("{{\"n\":{n},\"t\":\"{n:0>200}\"}}")));
    let mut session = postgres.open();
    // The load waits in the middle, however fast it is and however late the victim is found.
    session.run("CREATE TABLE t (doc jsonb)");
    session.run(
        "ALTER TABLE t ADD CONSTRAINT stalls \
         CHECK (CASE WHEN doc ->> 'n' = '150000' THEN pg_sleep(60)::text IS NOT NULL ELSE true END)",
    );
    session.close();
    // The server or one backend is killed, as when memory is short; then the server cuts a connection and
    // continues to run.
    for (victim, signal, words) in [
        ("server", Signal::KILL, "the server ended (signal: 9"),
        ("backend", Signal::KILL, "terminated by signal 9"),
        ("backend", Signal::TERM, "terminating connection"),
    ] {
        let session = postgres.open();
        let server = session.server();
        // A backend that loads shows COPY in its title.
        let one = || process(&postgres.path("data"), " COPY");
        let find = |_| one().map(|backend| if victim == "server" { server } else { backend });
        let last_words = session.lost(COPY, &file, &find, signal);
        assert!(last_words.contains(words), "{last_words}");
        postgres.nothing_is_left();
        let mut session = postgres.open();
        assert_eq!(session.rows("SELECT count(*) FROM t"), [vec![int(0)]], "{words}");
        session.close();
    }
    let mut session = postgres.open();
    session.run("ALTER TABLE t DROP CONSTRAINT stalls");
    assert_eq!(session.load(COPY, &file).unwrap().documents, Some(200_000));
    let figures = session.rows("SELECT count(*), count(DISTINCT doc -> 'n') FROM t");
    assert_eq!(figures, [vec![int(200_000), int(200_000)]]);
    session.close();
}

#[test]
fn a_load_for_which_memory_is_short_is_lost_as_a_whole_with_the_servers_words() {
    if excluded(&["postgresql"]) {
        return;
    }
    let mut postgres = postgresql();
    let limited = ["/bin/sh", "-c", "ulimit -v 400000 && exec \"$@\"", "sh"].map(str::to_owned);
    postgres.launch.recipe.start.splice(0..0, limited);
    let file = postgres.path("documents.ndjson");
    let large = format!("{{\"t\":\"{}\"}}", "x".repeat(200 << 20));
    write(&file, (0..20_000).map(|n| format!("{{\"n\":{n}}}")).chain([large]));
    let mut session = postgres.open();
    session.run("CREATE TABLE t (doc jsonb)");
    match session.load(COPY, &file) {
        // The error is not about documents, so no document is blamed.
        Err(WorkerError::RequestFailed { kind: FailureKind::MachineFailure, message }) => {
            assert!(message.contains("out of memory"), "{message}");
        }
        other => panic!("{other:?}"),
    }
    assert_eq!(session.rows("SELECT count(*) FROM t"), [vec![int(0)]]);
    write(&file, (0..20_000).map(|n| format!("{{\"n\":{n}}}")));
    assert_eq!(session.load(COPY, &file).unwrap().documents, Some(20_000));
    session.close();
}

#[test]
fn a_password_or_data_that_do_not_fit_are_explained_at_once() {
    if excluded(&["postgresql"]) {
        return;
    }
    let postgres = postgresql();
    let begun = Instant::now();
    let mut session = postgres.open();
    session.run("ALTER ROLE postgres PASSWORD 'another'");
    session.close();
    let message = postgres.refusal();
    assert!(
        message.contains("refused the session") && message.contains("password authentication"),
        "{message}"
    );

    std::fs::write(postgres.path("data/data/PG_VERSION"), "14\n").unwrap();
    let message = postgres.refusal();
    assert!(message.contains("initialized by PostgreSQL version 14"), "{message}");
    assert!(begun.elapsed() < Duration::from_secs(60), "{:?}", begun.elapsed());
}

#[test]
fn a_server_that_is_never_ready_is_given_up_and_one_that_hangs_at_the_end_is_killed() {
    if excluded(&["postgresql"]) {
        return;
    }
    let mut postgres = postgresql();
    let recipe = postgres.launch.recipe.clone();
    postgres.launch.recipe.start_limit_s = 1;
    postgres.launch.recipe.init.clear();
    // Ignores all signals but SIGKILL, and leaves a child in a session of its own.
    let stubborn = "trap '' INT TERM QUIT; setsid sleep 1000 & while true; do sleep 1; done";
    postgres.launch.recipe.start = ["/bin/sh", "-c", stubborn].map(str::to_owned).to_vec();
    let message = postgres.refusal();
    assert!(message.contains("was not ready after 1s"), "{message}");
    postgres.nothing_is_left();

    // A program that does not exist, and a placeholder that cannot be resolved.
    for (program, words) in [("/nonexistent/server", "/nonexistent/server"), ("{{sever}}", "{{sever}}")] {
        postgres.launch.recipe.start = vec![program.into()];
        let message = postgres.refusal();
        assert!(message.contains(words), "{message}");
    }

    std::fs::remove_dir_all(postgres.path("data")).unwrap();
    postgres.launch.recipe = recipe;
    postgres.launch.recipe.stop_limit_s = 1;
    // SIGHUP only reloads the configuration and does not stop the server.
    postgres.launch.recipe.stop = "HUP".into();
    let mut session = postgres.open();
    session.run("CREATE TABLE t (n int)");
    let error = session.engine.close(LIMIT).unwrap_err().to_string();
    assert!(error.contains("did not end within 1s"), "{error}");
    postgres.nothing_is_left();
}

#[test]
fn data_of_somebody_else_is_left_alone() {
    if excluded(&["postgresql"]) {
        return;
    }
    let postgres = postgresql();
    let theirs = postgres.path("data/data");
    std::fs::create_dir_all(&theirs).unwrap();
    std::fs::write(theirs.join("precious"), "x").unwrap();
    let message = postgres.refusal();
    assert!(message.contains("was not made by this program"), "{message}");
    assert!(theirs.join("precious").exists());
}

/// Starts a run of PostgreSQL into `out`, waits until its server is running, and sends the signal.
fn interrupted_run(folder: &Path, out: &Path, signal: Signal) {
    let mut running = std::process::Command::new(env!("CARGO_BIN_EXE_jsonathlon"))
        .args(["run", "--systems", "postgresql", "--scale", "20k", "--rounds", "1", "--trials", "3", "--out"])
        .arg(out)
        .current_dir(folder)
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null())
        .spawn()
        .unwrap();
    eventually("the server is up", || !processes_below(&out.join("work")).is_empty());
    std::thread::sleep(Duration::from_millis(700));
    kill_process(Pid::from_child(&running), signal).unwrap();
    let status = running.wait().unwrap();
    assert!(!status.success(), "{status}");
}

#[test]
fn no_server_outlives_the_program_however_that_ends() {
    if excluded(&["postgresql"]) {
        return;
    }
    let open = std::fs::Permissions::from_mode(0o755);
    let folder = tempfile::Builder::new().permissions(open).tempdir().unwrap();
    for (name, signal) in [("killed", Signal::KILL), ("interrupted", Signal::INT)] {
        let out = folder.path().join(name);
        interrupted_run(folder.path(), &out, signal);
        eventually("no process works in the run's folder", || processes_below(&out).is_empty());
    }
    // The killed run can be resumed.
    let resumed = std::process::Command::new(env!("CARGO_BIN_EXE_jsonathlon"))
        .args(["run", "--resume"])
        .arg(folder.path().join("killed"))
        .output()
        .unwrap();
    assert!(resumed.status.success(), "{}", String::from_utf8_lossy(&resumed.stderr));
    assert!(processes_below(folder.path()).is_empty());
    let left = std::fs::read_dir(folder.path().join("killed/work")).unwrap().count();
    assert_eq!(left, 0, "data folders stayed");
}
