//! Loading a server by the program, compared with the server's own client: `\copy` of `psql` for PostgreSQL,
//! `LOAD DATA LOCAL INFILE` of `mysql` for MySQL. Same file and server, in the order A B B A ….
//!
//!     cargo bench -p jsonathlon --bench own_client -- postgresql|mysql [DOCUMENTS [PAIRS]]
//!
//! Prints the ratio of each pair and its interval. Between loads, untimed, the table is emptied. Ours lasts
//! from passing the file to the commit, theirs is the time the client prints: no process start, no login.
//! After each pair two clients load half of the file each, which shows the gain of a second connection.

mod common;

use std::{
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
};

use common::{
    LIMIT, Problem,
    beside::{Beside, TABLE, psql_seconds},
    numbers,
};

use jsonathlon_catalogue::ANALYTICS;
use jsonathlon_dataset::{
    scan::Traits,
    source::Source,
    stage::{IgnoreDocuments, StageOptions, stage},
};
use jsonathlon_driver_api::driver::SessionOptions;
use jsonathlon_stats::statistics::{median, paired_ratio};
use jsonathlon_worker::protocol::{LoadMethod, LoadReply, Op};

/// The client program of a server.
struct Client {
    system: &'static str,
    /// Statements that are executed before a load.
    empty: &'static [&'static str],
    command: fn(&Beside, &Path) -> Command,
    /// Parses the seconds from the output of the client.
    seconds: fn(&str) -> Option<f64>,
}

const CLIENTS: [Client; 2] = [
    Client {
        system: "postgresql",
        empty: &["TRUNCATE documents", "CHECKPOINT"],
        command: psql,
        seconds: psql_seconds,
    },
    Client {
        system: "mysql",
        empty: &["TRUNCATE documents"],
        command: mysql,
        // Example: `Query OK, 9 rows affected (1 min 0.57 sec)`
        seconds: |said| {
            let line = said.lines().find(|line| line.starts_with("Query OK") && line.contains("affected"))?;
            let (_, time) = line.rsplit_once('(')?;
            let words: Vec<&str> = time.split(' ').collect();
            match words.as_slice() {
                [minutes, "min", seconds, ..] => {
                    Some(minutes.parse::<f64>().ok()? * 60.0 + seconds.parse::<f64>().ok()?)
                }
                [seconds, ..] => seconds.parse().ok(),
                [] => None,
            }
        },
    },
];

/// Uses a quote and a delimiter that cannot occur in JSON, so that every line is loaded unchanged.
fn psql(server: &Beside, file: &Path) -> Command {
    const CSV: &str = r"format csv, quote e'\x01', delimiter e'\x02', escape e'\x01'";
    server.psql(&format!(r"\copy {TABLE} (doc) from '{}' with ({CSV})", file.display()))
}

fn mysql(server: &Beside, file: &Path) -> Command {
    let mut command = Command::new(&server.programs["loader"]);
    command
        .arg("--library-path")
        .args([&server.programs["libraries"], &server.programs["mysql"]])
        .args(["--no-defaults", "--host=127.0.0.1", "--local-infile=1", "-vvv"])
        .args([format!("--port={}", server.port), format!("--user={}", server.user)])
        .arg(format!("--database={}", server.database))
        .arg("--execute")
        .arg(format!(
            r"LOAD DATA LOCAL INFILE '{}' INTO TABLE {TABLE} CHARACTER SET utf8mb4 FIELDS TERMINATED BY x'01' ESCAPED BY '' (doc)",
            file.display()
        ))
        .env("MYSQL_PWD", &server.password);
    command
}

fn main() -> Result<(), Problem> {
    let named = |client: &&Client| std::env::args().any(|argument| argument == client.system);
    let Some(client) = CLIENTS.iter().find(named) else {
        // Called by `cargo bench` without arguments, which runs all benchmarks.
        println!("name a system: postgresql, mysql");
        return Ok(());
    };
    let documents = numbers().first().copied().unwrap_or(200_000);
    let pairs = numbers().get(1).copied().unwrap_or(9) as usize;
    // The server's user must be able to access its data.
    let open = std::fs::Permissions::from_mode(0o755);
    let scratch = tempfile::Builder::new().permissions(open).tempdir()?;
    // Suspects are left out as in a run, because a rejected document would end `\copy`.
    let options = StageOptions {
        suspect_traits: Traits::SUSPECT | Traits::from_name("nul_escape").ok_or("no such trait")?,
        ..StageOptions::default()
    };
    let source = Source::Generated { seed: 1, start: 0, documents, malformed: 0 };
    let staged = stage(&source, scratch.path(), options, &mut IgnoreDocuments, &mut |_| {}, &|| false)?;
    let (file, documents, megabytes) =
        (staged.clean_file.clone(), staged.clean_documents, staged.clean_bytes as f64 / 1e6);
    println!("{documents} documents, {megabytes:.0} MB, {pairs} pairs");

    let mut server = Started::new(scratch.path(), client)?;
    let (whole, halves) = ([file.clone()], halves(&file)?);
    let (mut ours, mut theirs, mut twice) = (Vec::new(), Vec::new(), Vec::new());
    for pair in 0..=pairs {
        // Each side goes first in half of the pairs; pair 0 only warms up.
        let (loaded, single) = if pair % 2 == 0 {
            let loaded = server.load(&file)?;
            (loaded, server.theirs(&whole)?)
        } else {
            let client = server.theirs(&whole)?;
            (server.load(&file)?, client)
        };
        if loaded.documents != Some(documents) {
            return Err(format!("{:?} of {documents} documents were loaded", loaded.documents).into());
        }
        let two = server.theirs(&halves)?;
        if pair == 0 {
            continue;
        }
        println!(
            "pair {pair:>2}  ours {:.3} s (server {:.3} s of CPU, client {:.3} s)  its client {single:.3} s, two at once {two:.3} s  \
             ratio {:.3}",
            loaded.seconds,
            loaded.usage.cpu_s.unwrap_or(f64::NAN),
            loaded.usage.client_cpu_s.unwrap_or(f64::NAN),
            loaded.seconds / single,
        );
        ours.push(vec![loaded.seconds]);
        theirs.push(vec![single]);
        twice.push(vec![two]);
    }
    let middle = |times: &[Vec<f64>]| median(&times.concat()).unwrap_or(f64::NAN);
    println!("ours {:.3} s ({:.0} MB/s)", middle(&ours), megabytes / middle(&ours));
    for (what, times) in
        [("its client", &theirs), ("two of them at once, each with half of the file", &twice)]
    {
        let ratio = paired_ratio(&ours, times).ok_or("no pairs")?;
        let (low, high) = (ratio.low.unwrap_or(f64::NAN), ratio.high.unwrap_or(f64::NAN));
        println!(
            "{what} {:.3} s  ratio of ours to it {:.3} (95 %: {low:.3} … {high:.3})",
            middle(times),
            ratio.median
        );
    }
    server.server.engine.close(LIMIT)?;
    Ok(())
}

/// A server with its own client.
struct Started {
    client: &'static Client,
    server: Beside,
    load: String,
}

impl Started {
    fn new(scratch: &Path, client: &'static Client) -> Result<Self, Problem> {
        let bare = |open| SessionOptions { statements: Vec::new(), ..open };
        let server = Beside::start(scratch, client.system, "no-index", ANALYTICS, bare)?;
        let load = server.statement("load")?;
        Ok(Self { client, server, load })
    }

    fn empty(&mut self) -> Result<(), Problem> {
        self.server.run(self.client.empty)
    }

    fn load(&mut self, file: &Path) -> Result<LoadReply, Problem> {
        self.empty()?;
        let load = LoadMethod::Rows { statement: self.load.clone(), file: file.to_owned() };
        // The commit makes it durable, as it does for the client.
        self.server.ask(&Op::Load { load, sync: false })
    }

    /// Runs one client per file in parallel. Returns the longest of their times.
    fn theirs(&mut self, files: &[PathBuf]) -> Result<f64, Problem> {
        self.empty()?;
        let start = |file: &PathBuf| {
            let mut command = (self.client.command)(&self.server, file);
            command.env("LC_ALL", "C").stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()
        };
        let all: Vec<Child> = files.iter().map(start).collect::<Result<_, _>>()?;
        let mut longest: f64 = 0.0;
        for one in all {
            let output = one.wait_with_output()?;
            let said = String::from_utf8_lossy(&output.stdout);
            let time = (self.client.seconds)(&said);
            match time.filter(|_| output.status.success()) {
                Some(seconds) => longest = longest.max(seconds),
                None => {
                    return Err(
                        format!("its client: {said}{}", String::from_utf8_lossy(&output.stderr)).into()
                    );
                }
            }
        }
        Ok(longest)
    }
}

/// Splits the documents of a file into two files of about equal size next to it.
fn halves(file: &Path) -> Result<[PathBuf; 2], Problem> {
    let text = std::fs::read(file)?;
    let middle = text.len() / 2;
    let at = text[middle..].iter().position(|byte| *byte == b'\n').map_or(text.len(), |at| middle + at + 1);
    let paths = [file.with_extension("first"), file.with_extension("second")];
    std::fs::write(&paths[0], &text[..at])?;
    std::fs::write(&paths[1], &text[at..])?;
    Ok(paths)
}
