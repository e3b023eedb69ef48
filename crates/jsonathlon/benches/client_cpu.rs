//! Client CPU per read by key, next to the server's CPU.
//!
//!     cargo bench -p jsonathlon --bench client_cpu -- SYSTEM… [unix] [SECONDS [CLIENTS [THREADS]]]
//!
//! CLIENTS clients on THREADS threads (default: 2) read and verify whole documents of ten fields of 100
//! characters.

mod common;

use common::{
    Problem, numbers,
    serving::{Reads, Started, read},
};

use jsonathlon_catalogue::Transport;
use jsonathlon_dataset::records::Records;
use jsonathlon_driver_api::{Parameter, ResultSet};

struct System {
    name: &'static str,
    variant: &'static str,
    make: &'static [&'static str],
    /// Statements that wrap all inserts into one transaction, if the system has transactions.
    around: Option<[&'static str; 2]>,
    insert: &'static str,
    read: &'static str,
    records: u64,
}

const SYSTEMS: [System; 6] = [
    System {
        name: "postgresql",
        variant: "json-only",
        make: &["CREATE TABLE bench(key text COLLATE \"C\" PRIMARY KEY, doc jsonb NOT NULL)"],
        around: Some(["BEGIN", "COMMIT"]),
        insert: "INSERT INTO bench VALUES ($1, $2)",
        read: "SELECT doc FROM bench WHERE key = {{key}}",
        records: 20_000,
    },
    System {
        name: "mysql",
        variant: "json-only",
        make: &[
            "CREATE TABLE bench(k varchar(23) CHARACTER SET ascii COLLATE ascii_bin PRIMARY KEY, doc JSON NOT NULL)",
        ],
        around: Some(["BEGIN", "COMMIT"]),
        insert: "INSERT INTO bench VALUES (?, ?)",
        read: "SELECT doc FROM bench WHERE k = {{key}}",
        records: 20_000,
    },
    System {
        name: "mariadb",
        variant: "no-index",
        make: &[
            "CREATE TABLE bench(k varchar(23) CHARACTER SET ascii COLLATE ascii_bin PRIMARY KEY, doc JSON NOT NULL)",
        ],
        around: Some(["BEGIN", "COMMIT"]),
        insert: "INSERT INTO bench VALUES (?, ?)",
        read: "SELECT doc FROM bench WHERE k = {{key}}",
        records: 20_000,
    },
    System {
        name: "mongodb",
        variant: "no-index",
        make: &[],
        around: None,
        insert: r#"{"command": {"insert": "bench", "documents": [{"_id": ":1", "doc": ":2"}]}}"#,
        read: r#"{"command": {"find": "bench", "filter": {"_id": "{{key}}"}, "limit": 1, "singleBatch": true},
            "rows": {"each": ["/cursor/firstBatch"], "columns": [{"name": "doc", "at": "/doc", "type": "json"}]}}"#,
        records: 20_000,
    },
    System {
        name: "elasticsearch",
        variant: "no-index",
        make: &[],
        around: None,
        insert: r#"{"method": "PUT", "path": "/bench/_doc/:1", "body": ":2"}"#,
        read: r#"{"method": "GET", "path": "/bench/_doc/{{key}}",
            "rows": {"each": [], "columns": [{"name": "doc", "at": "/_source", "type": "json"}]}}"#,
        records: 1_000,
    },
    System {
        name: "sqlite",
        variant: "no-index",
        make: &["CREATE TABLE bench(key TEXT PRIMARY KEY, doc BLOB NOT NULL)"],
        around: Some(["BEGIN", "COMMIT"]),
        insert: "INSERT INTO bench VALUES (?1, jsonb(?2))",
        read: "SELECT json(doc) FROM bench WHERE key = {{key}}",
        records: 20_000,
    },
];

fn main() -> Result<(), Problem> {
    let named = |system: &&System| std::env::args().any(|argument| argument == system.name);
    let systems: Vec<&System> = SYSTEMS.iter().filter(named).collect();
    if systems.is_empty() {
        println!("name systems: {}", SYSTEMS.map(|system| system.name).join(", "));
    }
    let seconds = numbers().first().copied().unwrap_or(5);
    let clients = numbers().get(1).copied().unwrap_or(4);
    let threads = numbers().get(2).copied().unwrap_or(2).clamp(1, clients);
    let over_socket = std::env::args().any(|argument| argument == "unix");
    for system in systems {
        // Not every system has a Unix socket.
        let has_socket = !matches!(system.name, "elasticsearch" | "sqlite");
        let transport = if over_socket && has_socket { Transport::Unix } else { Transport::Tcp };
        measure(system, transport, seconds, (clients, threads))?;
    }
    Ok(())
}

fn measure(
    system: &System,
    transport: Transport,
    seconds: u64,
    (clients, threads): (u64, u64),
) -> Result<(), Problem> {
    let scratch = tempfile::tempdir()?;
    let started = Started::new(scratch.path(), system.name, system.variant, transport)?;
    let records = Records::flat(1);
    let set = records.prepare()?;
    let mut session = started.connect()?;
    for statement in system.make {
        session.collect(statement)?;
    }
    let [begin, commit] = system.around.map_or([None, None], |around| around.map(Some));
    if let Some(begin) = begin {
        session.collect(begin)?;
    }
    let insert = session.prepare(system.insert)?;
    let (mut key, mut document) = (Vec::new(), Vec::new());
    for number in 0..system.records {
        key.clear();
        document.clear();
        records.key(number, &mut key);
        set.document(number, 0, &mut document);
        let row =
            [Parameter::Text(std::str::from_utf8(&key)?), Parameter::Json(std::str::from_utf8(&document)?)];
        session.execute(&insert, &row, &mut ResultSet::default())?;
    }
    if let Some(commit) = commit {
        session.collect(commit)?;
    }
    let reads = Reads {
        records: &records,
        loaded: system.records,
        statement: system.read,
        clients,
        threads,
        seconds: seconds as f64,
        seed: 1,
        verify: true,
    };
    read(&started, &Reads { seconds: 1.0, ..reads })?;
    let done = read(&started, &reads)?;
    print!("{:<14} {:>7.0} reads/s  client {:>6.2} µs", system.name, done.per_second, done.client);
    if done.server.is_nan() {
        println!(", the engine with it");
    } else {
        let share = 100.0 * done.client / done.server;
        println!("  server {:>7.2} µs  client / server {share:.1} %", done.server);
    }
    drop(session);
    started.stop()
}
