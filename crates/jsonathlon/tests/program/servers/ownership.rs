//! Ownership of servers: the coordinator owns a server, workers do not. Several workers use one server, and
//! workers and servers end independently of each other.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use jsonathlon_driver_api::driver::{EngineLocation, SessionOptions};
use jsonathlon_driver_api::endpoint::Endpoint;
use jsonathlon_servers::{LaunchSpec, Recipe, ServerError};
use jsonathlon_worker::protocol::{AskReply, FailureKind, Op, OpenReply, PROTOCOL_VERSION, RunReply};
use jsonathlon_worker::{Worker, WorkerError};
use jsonathlon_workloads::engine::{EngineHandle, endpoint};

use super::server::{Server, command, crash, int, kill, processes_below};
use crate::support::real::excluded;
use crate::support::{LIMIT, eventually};

/// Starts a server without a worker. Returns it with the endpoint for workers.
fn start(server: &Server) -> (jsonathlon_servers::Server, Endpoint) {
    let started = jsonathlon_servers::Server::start(&server.launch, &|| false).unwrap();
    let endpoint = endpoint(started.login(), started.pid(), LIMIT);
    (started, endpoint)
}

fn worker(server: &Server, endpoint: &Endpoint) -> Worker {
    let mut worker = command().spawn(&server.path("worker.log")).unwrap();
    let open = SessionOptions { endpoint: Some(Box::new(endpoint.clone())), ..server.open.clone() };
    let opened: OpenReply = ask(&mut worker, &Op::Open { protocol: PROTOCOL_VERSION, open }).unwrap();
    assert_eq!(opened.location, endpoint.process.map_or(EngineLocation::Remote, EngineLocation::Process));
    worker
}

fn ask<R: serde::de::DeserializeOwned>(worker: &mut Worker, op: &Op) -> Result<R, WorkerError> {
    worker.request(op, LIMIT, &|| false, &mut |_| {})
}

fn rows(worker: &mut Worker, statement: &str) -> Vec<jsonathlon_schema::value::Row> {
    let answered: AskReply = ask(worker, &Op::Ask { statement: statement.into() }).unwrap();
    answered.outcome.rows
}

#[test]
fn workers_share_a_server_and_end_without_it() {
    if excluded(&["postgresql"]) {
        return;
    }
    let postgres = Server::new("postgresql", "json-only");
    let (mut server, endpoint) = start(&postgres);
    let (mut first, mut second) = (worker(&postgres, &endpoint), worker(&postgres, &endpoint));
    let fill = "CREATE TABLE t AS SELECT n FROM generate_series(1, 1000) s(n)";
    let _: RunReply = ask(&mut first, &Op::Run { statements: vec![fill.into()] }).unwrap();
    assert_eq!(rows(&mut second, "SELECT count(*) FROM t"), [vec![int(1000)]]);
    // If one worker is killed during a statement, the other is not affected.
    let wait = Op::Ask { statement: "SELECT pg_sleep(60)".into() };
    let gone: Result<AskReply, _> = first.request(&wait, Duration::from_millis(200), &|| false, &mut |_| {});
    assert!(matches!(gone, Err(WorkerError::TimedOut { .. })), "{gone:?}");
    assert_eq!(rows(&mut second, "SELECT sum(n) FROM t"), [vec![int(500_500)]]);
    assert!(!server.has_ended());
    // A worker that knows only the address has no information on the process; everything else is the same.
    let mut third = worker(&postgres, &Endpoint { process: None, exclusive: false, ..endpoint });
    assert_eq!(rows(&mut third, "SELECT count(*) FROM t"), [vec![int(1000)]]);
    second.close(LIMIT).unwrap();
    third.close(LIMIT).unwrap();
    assert!(!server.has_ended());
    server.stop().unwrap();
    postgres.nothing_is_left();
}

#[test]
fn a_server_is_killed_without_its_workers_and_its_owner_says_why() {
    if excluded(&["postgresql"]) {
        return;
    }
    let postgres = Server::new("postgresql", "json-only");
    let (mut server, endpoint) = start(&postgres);
    let (mut busy, mut idle) = (worker(&postgres, &endpoint), worker(&postgres, &endpoint));
    let pid = server.pid();
    let killer = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(200));
        kill(pid);
    });
    let begun = Instant::now();
    let failed: Result<AskReply, _> = ask(&mut busy, &Op::Ask { statement: "SELECT pg_sleep(60)".into() });
    killer.join().unwrap();
    assert!(begun.elapsed() < Duration::from_secs(20), "{:?}", begun.elapsed());
    let words = crash(failed.unwrap_err());
    assert!(words.contains(&format!("the server at {endpoint} cut the connection")), "{words}");
    eventually("the server has ended", || server.has_ended());
    for worker in [&mut busy, &mut idle] {
        assert!(worker.is_alive());
        // Each worker reports the error on every request and does not reconnect without the coordinator.
        for _ in 0..2 {
            let failed: Result<AskReply, _> = ask(worker, &Op::Ask { statement: "SELECT 1".into() });
            let words = crash(failed.unwrap_err());
            assert!(words.contains("cut the connection"), "{words}");
        }
    }
    let told = server.describe_exit(&words);
    assert!(told.starts_with("the server ended (signal: 9 (SIGKILL)): the server at"), "{told}");
    assert!(told.contains("server.log:\n") && told.contains("ready to accept connections"), "{told}");
    for mut worker in [busy, idle] {
        worker.close(LIMIT).unwrap();
        assert!(!worker.is_alive());
    }
    let error = server.stop().unwrap_err();
    assert!(matches!(error, ServerError::Crashed(_)), "{error}");
    assert!(error.to_string().contains("had ended before (signal: 9"), "{error}");
    postgres.nothing_is_left();
}

/// A launch of a program that stands in for a server and never accepts a session.
fn launch(folder: &Path, script: &str) -> LaunchSpec {
    LaunchSpec {
        guard: command().program,
        folder: folder.join("data"),
        log: folder.join("server.log"),
        recipe: Recipe {
            start: ["/bin/sh", "-c", script].map(str::to_owned).to_vec(),
            stop: "TERM".into(),
            start_limit_s: 60,
            stop_limit_s: 5,
            ..Recipe::default()
        },
        ..LaunchSpec::default()
    }
}

/// A folder that is accessible to a server's user.
fn folder() -> tempfile::TempDir {
    use std::os::unix::fs::PermissionsExt;
    let open = std::fs::Permissions::from_mode(0o755);
    tempfile::Builder::new().permissions(open).tempdir().unwrap()
}

#[test]
fn a_data_folder_is_made_once_for_all_that_begin_in_the_same_way() {
    let folder = folder();
    // The initialised data contains the password file of its creator; the server adds a file that is not part
    // of the template.
    let make = "umask 027; mkdir $0/base; cp $1 $0/base/owner; echo $TZ > $0/base/zone; echo made";
    let launch = |name: &str, init: &[&str]| LaunchSpec {
        folder: folder.path().join(name),
        template_dir: Some(folder.path().join("beginnings")),
        recipe: Recipe {
            init: vec![init.iter().map(|&part| part.to_owned()).collect()],
            start: ["/bin/sh", "-c", "echo $TZ > $0/used; exec sleep 1000", "{{data}}"]
                .map(str::to_owned)
                .to_vec(),
            ..launch(folder.path(), "").recipe
        },
        ..launch(folder.path(), "")
    };
    let first = launch("first", &["/bin/sh", "-ec", make, "{{data}}", "{{password_file}}"]);
    let alike = LaunchSpec { folder: folder.path().join("alike"), ..first.clone() };
    let other = launch("other", &["/bin/sh", "-ec", make, "{{data}}", "{{password_file}}", "other"]);
    let made = || fs::read_to_string(&first.log).unwrap().matches("made").count();
    let mut passwords = Vec::new();
    for (launch, expected) in [(&first, 1), (&alike, 1), (&other, 2)] {
        let used = launch.folder.join("data/used");
        let server = jsonathlon_servers::Server::start(launch, &|| false).unwrap();
        eventually("the server has begun", || {
            fs::read_to_string(&used).is_ok_and(|zone| zone.ends_with('\n'))
        });
        // The time zone is UTC, independent of the zones in which this or the first server was started.
        assert_eq!(fs::read_to_string(&used).unwrap(), "UTC\n");
        assert_eq!(fs::read_to_string(launch.folder.join("data/base/zone")).unwrap(), "UTC\n");
        assert_eq!(made(), expected, "{}", launch.folder.display());
        let owner = launch.folder.join("data/base/owner");
        let (data, base) = (fs::metadata(launch.folder.join("data")).unwrap(), owner.parent().unwrap());
        assert_eq!(fs::read_to_string(&owner).unwrap(), server.login().password);
        assert_eq!(fs::metadata(&owner).unwrap().uid(), data.uid());
        assert_eq!((data.mode() & 0o777, fs::metadata(base).unwrap().mode() & 0o777), (0o700, 0o750));
        assert!(!launch.folder.join("run/password").exists());
        passwords.push(server.login().password.clone());
        drop(server);
        // A second start on the same data does not initialise it again.
        drop(jsonathlon_servers::Server::start(launch, &|| false).unwrap());
        assert_eq!(made(), expected);
    }
    assert_eq!(passwords[0], passwords[1]);
    assert_ne!(passwords[0], passwords[2]);
    let kept = fs::read_dir(folder.path().join("beginnings")).unwrap();
    for kept in kept {
        let kept = kept.unwrap().path();
        assert!(
            kept.join("data/base/owner").exists() && !kept.join("data/used").exists(),
            "{}",
            kept.display()
        );
    }
}

#[test]
fn an_interrupted_start_ends_what_was_begun() {
    let folder = folder();
    let launch = launch(folder.path(), "exec sleep 1000");
    let open = SessionOptions {
        protocol: "postgres".into(),
        folder: launch.folder.clone(),
        ..SessionOptions::default()
    };
    let begun = Instant::now();
    let cancelled = || begun.elapsed() > Duration::from_millis(500);
    let log = folder.path().join("worker.log");
    let opened = EngineHandle::open(&command(), &log, &open, Some(&launch), LIMIT, &cancelled, &mut |_| {});
    assert!(matches!(opened, Err(WorkerError::Cancelled)), "{opened:?}");
    // Also while the data folder is being initialised.
    let mut slow = launch;
    slow.folder = folder.path().join("other");
    slow.recipe.init = vec![["sleep", "1000"].map(str::to_owned).to_vec()];
    let error = jsonathlon_servers::Server::start(&slow, &cancelled).unwrap_err();
    assert_eq!(error, ServerError::Cancelled);
    assert!(begun.elapsed() < Duration::from_secs(20), "{:?}", begun.elapsed());
    eventually("nothing is left", || processes_below(folder.path()).is_empty());
}

/// A shell lets what it starts in the background ignore SIGINT and SIGQUIT, and ignoring is inherited.
#[test]
fn a_server_that_is_still_starting_stops_at_once_whatever_its_owner_ignores() {
    let folder = folder();
    let guard = folder.path().join("guard");
    let program = command().program;
    let script = format!("#!/bin/sh\ntrap '' HUP INT QUIT TERM\nexec '{}' \"$@\"\n", program.display());
    // Written by another process, because a file that is open for writing cannot be executed.
    let write = "printf %s \"$1\" > \"$0\" && chmod 755 \"$0\"";
    let written = Command::new("/bin/sh").args(["-c", write]).arg(&guard).arg(script).status().unwrap();
    assert!(written.success());
    for signal in ["HUP", "INT", "QUIT", "TERM"] {
        let mut launch = launch(folder.path(), "exec sleep 1000");
        launch.guard = guard.clone();
        launch.recipe.stop = signal.into();
        let server = jsonathlon_servers::Server::start(&launch, &|| false).unwrap();
        let error = server.stop().unwrap_err().to_string();
        let expected = format!("(SIG{signal})");
        assert!(error.contains("did not end well (signal: ") && error.contains(&expected), "{error}");
    }
    eventually("nothing is left", || processes_below(folder.path()).is_empty());
}

#[test]
fn a_server_that_ends_before_it_is_ready_is_noticed_at_once() {
    let folder = folder();
    let launch = launch(folder.path(), "sleep 0.3; echo out of luck >&2; exit 3");
    let open = SessionOptions {
        protocol: "postgres".into(),
        folder: launch.folder.clone(),
        ..SessionOptions::default()
    };
    let begun = Instant::now();
    let log = folder.path().join("worker.log");
    let opened = EngineHandle::open(&command(), &log, &open, Some(&launch), LIMIT, &|| false, &mut |_| {});
    let Err(WorkerError::RequestFailed { kind: FailureKind::Unavailable, message }) = opened else {
        panic!("{opened:?}")
    };
    assert!(message.starts_with("the server ended (exit status: 3) before it was ready"), "{message}");
    assert!(message.ends_with("out of luck"), "{message}");
    assert!(begun.elapsed() < Duration::from_secs(20), "{:?}", begun.elapsed());
}
