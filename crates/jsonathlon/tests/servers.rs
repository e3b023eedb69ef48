//! Real servers, each started by a worker process of the program. They are installed into the user's cache
//! when they are not there yet; a machine that cannot have them fails these tests.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test that cannot go on has failed, in its helpers too"
)]

use std::net::TcpListener;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use jsonathlon_dataset::value::{Row, Value};
use jsonathlon_drivers::Open;
use jsonathlon_drivers::server::Launch;
use jsonathlon_drivers::worker::protocol::{
    Answered, FailureKind, Load, Loaded, Op, Opened, PROTOCOL, PlanText, Ran,
};
use jsonathlon_drivers::worker::{Worker, WorkerError};
use jsonathlon_systems::{Catalogue, Store};
use jsonathlon_workloads::session::launch;
use rustix::process::{Pid, Signal, kill_process};

const LIMIT: Duration = Duration::from_secs(120);

/// A server's folder and how it is started; nothing of it may be left when a test ends.
struct Postgres {
    folder: tempfile::TempDir,
    launch: Launch,
    settings: Vec<(&'static str, &'static str)>,
}

impl Postgres {
    fn new() -> Self {
        let catalogue = Catalogue::load(&[]).unwrap();
        let system = catalogue.get("postgresql").unwrap();
        let version = system.default_version();
        let artifact = system.artifact(version).unwrap().unwrap();
        let store = Store::from_environment().unwrap();
        let installed = match store.install(artifact, &mut |_| {}, &|| false) {
            Ok(installed) => installed,
            Err(error) => panic!("this test needs {}: {error}", system.title()),
        };
        let configuration = system.configuration(version, "json-only", "default").unwrap();
        // Servers do not run as root, and their user has to get to their data.
        let open = std::fs::Permissions::from_mode(0o755);
        let folder = tempfile::Builder::new().permissions(open).tempdir().unwrap();
        let log = folder.path().join("server.log");
        let launch = launch(&configuration, &installed.files, installed.folder.as_deref(), &log);
        let launch = *launch.unwrap();
        Self { folder, launch, settings: Vec::new() }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn try_open(&self) -> Result<Session, WorkerError> {
        let program = Path::new(env!("CARGO_BIN_EXE_jsonathlon"));
        let mut worker = Worker::spawn(program, &["worker"], &self.path("worker.log"), &[])?;
        let open = Open {
            protocol: "postgres".into(),
            folder: self.path("data"),
            settings: self.settings.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect(),
            server: Some(Box::new(self.launch.clone())),
            ..Open::default()
        };
        let opened = worker.request(&Op::Open { protocol: PROTOCOL, open }, LIMIT, &|| false, &mut |_| {})?;
        Ok(Session { worker, opened })
    }

    fn open(&self) -> Session {
        self.try_open().unwrap()
    }

    /// The message with which opening fails.
    fn refusal(&self) -> String {
        match self.try_open() {
            Err(WorkerError::Refused { message, .. }) => message,
            Err(other) => panic!("{other}"),
            Ok(_) => panic!("it opened"),
        }
    }

    /// Processes that work in the server's folder.
    fn processes(&self) -> Vec<u32> {
        processes_below(self.folder.path())
    }

    fn nothing_is_left(&self) {
        eventually("no process works in the folder", || self.processes().is_empty());
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            self.nothing_is_left();
        }
    }
}

/// Processes that work in a folder or below it.
fn processes_below(folder: &Path) -> Vec<u32> {
    let Ok(here) = folder.canonicalize() else { return Vec::new() };
    let entries = std::fs::read_dir("/proc").unwrap();
    entries
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<u32>().ok())
        .filter(|pid| {
            std::fs::read_link(format!("/proc/{pid}/cwd")).is_ok_and(|folder| folder.starts_with(&here))
        })
        .collect()
}

fn eventually(what: &str, mut condition: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !condition() {
        assert!(begun.elapsed() < Duration::from_secs(20), "not within 20 s: {what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

struct Session {
    worker: Worker,
    opened: Opened,
}

impl Session {
    fn request<R: serde::de::DeserializeOwned>(&mut self, op: &Op) -> Result<R, WorkerError> {
        self.worker.request(op, LIMIT, &|| false, &mut |_| {})
    }

    fn ask(&mut self, statement: &str) -> Result<Answered, WorkerError> {
        self.request(&Op::Ask { statement: statement.into() })
    }

    fn rows(&mut self, statement: &str) -> Vec<Row> {
        self.ask(statement).unwrap_or_else(|error| panic!("{statement}: {error}")).outcome.rows
    }

    fn run(&mut self, statement: &str) {
        let _: Ran = self.request(&Op::Run { statements: vec![statement.into()] }).unwrap();
    }

    fn load(&mut self, file: &Path) -> Result<Loaded, WorkerError> {
        let load = Load::Rows { statement: "COPY t (doc) FROM STDIN".into(), file: file.to_owned() };
        self.request(&Op::Load { load, sync: true })
    }

    fn server(&self) -> u32 {
        self.opened.server_pid.unwrap()
    }

    fn close(mut self) {
        self.worker.close(LIMIT).unwrap();
    }
}

fn int(number: i64) -> Value {
    Value::Int(number)
}

fn text(text: &str) -> Value {
    Value::Text(text.into())
}

fn kill(pid: u32) {
    kill_process(Pid::from_raw(i32::try_from(pid).unwrap()).unwrap(), Signal::KILL).unwrap();
}

fn write(path: &Path, documents: impl IntoIterator<Item = impl AsRef<[u8]>>) {
    let mut bytes = Vec::new();
    for document in documents {
        bytes.extend_from_slice(document.as_ref());
        bytes.push(b'\n');
    }
    std::fs::write(path, bytes).unwrap();
}

#[test]
fn values_arrive_with_every_bit_and_errors_leave_the_session_usable() {
    let postgres = Postgres::new();
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
        ("SELECT now() AS c", "`c` is of type timestamptz", FailureKind::Unsupported),
        ("SELECT 1e30::numeric AS c", "64 bits", FailureKind::Unsupported),
        ("SELECT 1; SELECT 2", "several statements", FailureKind::Unsupported),
    ] {
        match session.ask(statement) {
            Err(WorkerError::Refused { kind, message }) if kind == wanted => {
                assert!(message.contains(words), "{message}");
            }
            other => panic!("{statement}: {other:?}"),
        }
        assert_eq!(session.rows("SELECT 41 + 1"), [vec![int(42)]], "after {statement}");
    }
    session.run("CREATE TABLE a (n int); INSERT INTO a VALUES (1), (2); -- end;");
    assert_eq!(session.rows("SELECT count(*), ';' FROM a"), [vec![int(2), text(";")]]);
    let plan: PlanText =
        session.request(&Op::Plan { statement: "EXPLAIN (COSTS OFF) SELECT n FROM a".into() }).unwrap();
    assert_eq!(plan.text, "Seq Scan on a\n");
    let busy = session.ask("SELECT count(*) FROM generate_series(1, 1000000)").unwrap();
    assert!(busy.usage.cpu_s > 0.02 && busy.usage.cpu_s < busy.seconds * 4.0 + 0.05, "{:?}", busy.usage);
    assert!(busy.usage.client_cpu_s.is_some_and(|client| client < busy.usage.cpu_s), "{:?}", busy.usage);
    session.close();
}

#[test]
fn what_is_refused_is_named_and_all_else_is_there_once() {
    let postgres = Postgres::new();
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
    let loaded = session.load(&file).unwrap();
    assert_eq!(loaded.documents, Some(50_000 - bad.len() as u64));
    let found: Vec<u64> = loaded.rejects.iter().map(|reject| reject.line).collect();
    assert_eq!(found, bad.map(|(line, ..)| line as u64), "{:?}", loaded.rejects);
    for (reject, (_, _, words)) in loaded.rejects.iter().zip(bad) {
        assert!(reject.reason.contains(words), "{reject:?}");
    }
    assert!(loaded.usage.cpu_s > 0.1 && loaded.usage.client_cpu_s.is_some_and(|client| client > 0.0));
    let figures = session.rows("SELECT count(*), count(DISTINCT doc -> 'n'), min(doc ->> 't') FROM t");
    let left = 50_000 - bad.len() as i64;
    assert_eq!(figures, [vec![int(left), int(left), text("a\\bé\t\n")]]);

    // Where most are bad; and where the table refuses them and not the type.
    write(
        &file,
        (0..3000).map(|n| if n % 1000 == 500 { format!("{{\"n\":{n}}}") } else { format!("bad {n}") }),
    );
    let begun = Instant::now();
    let loaded = session.load(&file).unwrap();
    assert_eq!((loaded.documents, loaded.rejects.len()), (Some(3), 2997));
    assert!(begun.elapsed() < Duration::from_secs(60), "{:?}", begun.elapsed());
    session.run("DROP TABLE t");
    session.run(
        "CREATE TABLE t (doc jsonb, n bigint GENERATED ALWAYS AS ((doc ->> 'n')::bigint) STORED UNIQUE)",
    );
    write(&file, ["{\"n\":1}", "{\"n\":\"x\"}", "{\"n\":2}", "{\"n\":1}", "{\"n\":3}"]);
    let loaded = session.load(&file).unwrap();
    let reasons: Vec<(u64, &str)> = loaded.rejects.iter().map(|r| (r.line, r.reason.as_str())).collect();
    assert_eq!(reasons.len(), 2, "{reasons:?}");
    assert!(
        reasons[0].0 == 1 && reasons[0].1.contains("invalid input syntax for type bigint"),
        "{reasons:?}"
    );
    assert!(reasons[1].0 == 3 && reasons[1].1.contains("duplicate key"), "{reasons:?}");
    assert_eq!(session.rows("SELECT count(*), sum(n) FROM t"), [vec![int(3), int(6)]]);

    // Not about documents: nothing of the load stays.
    write(&file, ["{}", "{}"]);
    let load = Load::Rows { statement: "COPY nowhere FROM STDIN".into(), file };
    let failed: Result<Loaded, _> = session.request(&Op::Load { load, sync: true });
    assert!(matches!(failed, Err(WorkerError::Refused { kind: FailureKind::Refused, .. })), "{failed:?}");
    assert_eq!(session.rows("SELECT count(*) FROM t"), [vec![int(3)]]);
    session.close();
}

#[test]
fn data_and_password_stay_from_session_to_session_and_over_a_kill() {
    let postgres = Postgres::new();
    let mut session = postgres.open();
    session.run("CREATE TABLE t (doc jsonb)");
    let file = postgres.path("documents.ndjson");
    write(&file, (0..5000).map(|n| format!("{{\"n\":{n}}}")));
    session.load(&file).unwrap();
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
    session.load(&file).unwrap();
    // In the middle of a statement, which a backend would otherwise bring to its end first.
    let wait = Op::Ask { statement: "SELECT count(*) FROM generate_series(1, 100000000000)".into() };
    let gone: Result<Answered, _> =
        session.worker.request(&wait, Duration::from_millis(300), &|| false, &mut |_| {});
    assert!(matches!(gone, Err(WorkerError::TimedOut { .. })), "{gone:?}");
    // The next one waits for the end of the former server by itself.
    let mut session = postgres.open();
    assert_eq!(session.rows("SELECT count(*) FROM t"), [vec![int(10_000)]]);
    kill(session.worker.pid());
    postgres.nothing_is_left();
}

#[test]
fn a_server_that_dies_takes_its_session_along_and_says_why() {
    let postgres = Postgres::new();
    for victim in ["server", "backend"] {
        let mut session = postgres.open();
        let pid = match victim {
            "server" => session.server(),
            _ => match session.rows("SELECT pg_backend_pid()")[0][0] {
                Value::Int(pid) => u32::try_from(pid).unwrap(),
                ref other => panic!("{other:?}"),
            },
        };
        let killer = std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(300));
            kill(pid);
        });
        let begun = Instant::now();
        let error = session.ask("SELECT pg_sleep(60)").unwrap_err();
        killer.join().unwrap();
        assert!(begun.elapsed() < Duration::from_secs(20), "{victim}: {:?}", begun.elapsed());
        let WorkerError::Crashed { last_words, .. } = &error else { panic!("{victim}: {error}") };
        let words = if victim == "server" { "the server ended (signal: 9" } else { "terminated by signal 9" };
        assert!(last_words.contains(words), "{victim}: {last_words}");
        postgres.nothing_is_left();
    }
    let mut session = postgres.open();
    assert_eq!(session.rows("SELECT 1"), [vec![int(1)]]);
    session.close();
}

#[test]
fn a_server_that_cannot_start_is_explained_at_once() {
    let mut postgres = Postgres::new();
    let begun = Instant::now();
    postgres.settings = vec![("shared_bufers", "1GB")];
    let message = postgres.refusal();
    assert!(message.contains("before it was ready") && message.contains("shared_bufers"), "{message}");
    postgres.settings.clear();

    let holder = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    postgres.launch.port = Some(holder.local_addr().unwrap().port());
    let message = postgres.refusal();
    assert!(message.contains("is taken by another program"), "{message}");
    postgres.launch.port = None;
    drop(holder);

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
    let mut postgres = Postgres::new();
    let recipe = postgres.launch.recipe.clone();
    postgres.launch.recipe.start_limit_s = 1;
    postgres.launch.recipe.init.clear();
    // It ends on no signal but one, and leaves a child in a session of its own behind.
    let stubborn = "trap '' INT TERM QUIT; setsid sleep 1000 & while true; do sleep 1; done";
    postgres.launch.recipe.start = ["/bin/sh", "-c", stubborn].map(str::to_owned).to_vec();
    let message = postgres.refusal();
    assert!(message.contains("was not ready after 1s"), "{message}");
    postgres.nothing_is_left();

    // A program that is not there, and one that may not be found at all.
    for (program, words) in [("/nonexistent/server", "/nonexistent/server"), ("{{sever}}", "{{sever}}")] {
        postgres.launch.recipe.start = vec![program.into()];
        let message = postgres.refusal();
        assert!(message.contains(words), "{message}");
    }

    std::fs::remove_dir_all(postgres.path("data")).unwrap();
    postgres.launch.recipe = recipe;
    postgres.launch.recipe.stop_limit_s = 1;
    // Nothing ends on this one, which asks for the configuration to be read again.
    postgres.launch.recipe.stop = "HUP".into();
    let mut session = postgres.open();
    session.run("CREATE TABLE t (n int)");
    let error = session.worker.close(LIMIT).unwrap_err().to_string();
    assert!(error.contains("did not end within 1s"), "{error}");
    postgres.nothing_is_left();
}

#[test]
fn data_of_somebody_else_is_left_alone() {
    let postgres = Postgres::new();
    let theirs = postgres.path("data/data");
    std::fs::create_dir_all(&theirs).unwrap();
    std::fs::write(theirs.join("precious"), "x").unwrap();
    let message = postgres.refusal();
    assert!(message.contains("was not made by this program"), "{message}");
    assert!(theirs.join("precious").exists());
}

/// Starts the program measuring PostgreSQL into `out`, waits until its server is up, and sends the signal.
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
    let open = std::fs::Permissions::from_mode(0o755);
    let folder = tempfile::Builder::new().permissions(open).tempdir().unwrap();
    for (name, signal) in [("killed", Signal::KILL), ("interrupted", Signal::INT)] {
        let out = folder.path().join(name);
        interrupted_run(folder.path(), &out, signal);
        eventually("no process works in the run's folder", || processes_below(&out).is_empty());
    }
    // And what was killed can go on.
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
