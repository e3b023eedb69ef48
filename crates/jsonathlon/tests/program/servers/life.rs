//! Life cycle of servers of any system: every fault is reported with the server's own message, and nothing is
//! left behind.

use std::net::TcpListener;
use std::time::{Duration, Instant};

use jsonathlon_worker::WorkerError;
use jsonathlon_worker::protocol::{AskReply, Op};

use super::server::{Server, crash, kill};
use crate::support::real::excluded;

/// A system, with the properties in which servers differ here.
struct System {
    name: &'static str,
    variant: &'static str,
    /// A start setting that the system does not know.
    unknown: &'static str,
    /// A statement that takes a minute.
    wait: &'static str,
}

const SYSTEMS: [System; 3] = [
    System {
        name: "postgresql",
        variant: "json-only",
        unknown: "shared_bufers",
        wait: "SELECT pg_sleep(60)",
    },
    System { name: "mysql", variant: "json-only", unknown: "no_such_option", wait: "SELECT SLEEP(60)" },
    System {
        name: "mongodb",
        variant: "indexed",
        unknown: "internalQueryMaxAddToSetBites",
        wait: r#"{"database": "admin", "command": {"aggregate": 1, "pipeline": [{"$documents": [{"a": 1}]},
            {"$match": {"$expr": {"$function": {"body": "function() { sleep(60000); return true; }", "args": [],
            "lang": "js"}}}}], "cursor": {}}}"#,
    },
];

/// Runs a check for each system that is available on this machine.
fn each(check: impl Fn(&System, Server)) {
    for system in SYSTEMS.iter().filter(|system| !excluded(&[system.name])) {
        check(system, Server::new(system.name, system.variant));
    }
}

#[test]
fn a_server_that_dies_is_told_with_how_it_ended() {
    each(|system, server| {
        let mut session = server.open();
        let pid = session.server();
        let killer = std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(300));
            kill(pid);
        });
        let begun = Instant::now();
        let words = crash(session.ask(system.wait).unwrap_err());
        killer.join().unwrap();
        assert!(begun.elapsed() < Duration::from_secs(20), "{}: {:?}", system.name, begun.elapsed());
        assert!(words.starts_with("the server ended (signal: 9 (SIGKILL)): the server at "), "{words}");
        assert!(words.contains("server.log:\n"), "{words}");
        server.nothing_is_left();
    });
}

#[test]
fn a_session_that_is_given_up_or_killed_leaves_nothing_and_the_next_one_works() {
    each(|system, server| {
        let mut session = server.open();
        let wait = Op::Ask { statement: system.wait.into() };
        let gone: Result<AskReply, _> =
            session.engine.request(&wait, Duration::from_millis(300), &|| false, &mut |_| {});
        assert!(matches!(gone, Err(WorkerError::TimedOut { .. })), "{}: {gone:?}", system.name);
        server.nothing_is_left();
        let mut session = server.open();
        kill(session.engine.worker().pid());
        let gone = session.ask(system.wait);
        assert!(matches!(gone, Err(WorkerError::Crashed { .. })), "{}: {gone:?}", system.name);
        server.nothing_is_left();
        server.open().close();
        assert!(server.processes().is_empty(), "{}", system.name);
    });
}

#[test]
fn a_server_that_cannot_start_is_explained_at_once() {
    each(|system, mut server| {
        let begun = Instant::now();
        server.launch.settings.insert(system.unknown.into(), "1".into());
        let message = server.refusal();
        assert!(message.contains("before it was ready") && message.contains(system.unknown), "{message}");
        server.launch.settings.remove(system.unknown);

        let holder = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        server.launch.port = Some(holder.local_addr().unwrap().port());
        let message = server.refusal();
        assert!(message.contains("is in use by another program"), "{message}");
        server.launch.port = None;
        drop(holder);
        server.open().close();
        assert!(begun.elapsed() < Duration::from_secs(60), "{}: {:?}", system.name, begun.elapsed());
    });
}
