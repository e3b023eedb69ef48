//! Point reads of PostgreSQL by the program and by pgbench of the same package: same server, messages and
//! threads, uniform keys, Unix socket, order A B B A …; answers are recorded, not verified.
//!
//!     cargo bench -p jsonathlon --bench pgbench -- postgresql [SECONDS [PAIRS [CLIENTS…]]]
//!
//! Result: median ratio of the pairs (disturbances cancel out within a pair), order-statistics interval
//! (needs six pairs). Many short pairs are best, as thread placement varies. CPU of a pgbench run with one
//! transaction per client is subtracted. Keys: 0 to 100,000, of which each side leaves out one end.

mod common;

use std::{
    os::unix::process::CommandExt,
    process::{Command, Stdio},
};

use common::{
    Problem, limits, numbers,
    serving::{Done, Reads, Started, read},
};

use jsonathlon_catalogue::Transport;
use jsonathlon_dataset::records::{KeyOrder, KeyType, Records};
use jsonathlon_stats::statistics::median;

const RECORDS: u64 = 100_000;

fn main() -> Result<(), Problem> {
    if !std::env::args().any(|argument| argument == "postgresql") {
        println!("name the system: postgresql");
        return Ok(());
    }
    let given = numbers();
    let seconds = given.first().copied().unwrap_or(1);
    let pairs = given.get(1).copied().unwrap_or(60);
    let clients = if given.len() > 2 { &given[2..] } else { &[1, 4, 16] };
    let scratch = tempfile::tempdir()?;
    let started = Started::new(scratch.path(), "postgresql", "json-only", Transport::Unix)?;
    let mut session = started.connect()?;
    for statement in [
        "CREATE TABLE bench(key bigint PRIMARY KEY, doc jsonb NOT NULL)",
        "INSERT INTO bench SELECT k, jsonb_object_agg('field' || f, left(repeat(md5(k || '-' || f), 4), 100)) \
         FROM generate_series(0, 100000) k, generate_series(0, 9) f GROUP BY k",
        "VACUUM (FREEZE, ANALYZE) bench",
        "CHECKPOINT",
    ] {
        session.collect(statement)?;
    }
    let script = scratch.path().join("rd.sql");
    std::fs::write(
        &script,
        format!("\\set k random(1, {RECORDS})\nSELECT doc FROM bench WHERE key = :k;\n"),
    )?;
    for clients in clients {
        let (mut ratios, mut cpus) = (Vec::new(), Vec::new());
        for pair in 0..=pairs {
            let (one, other) = if pair % 2 == 0 {
                let ours = ours(&started, *clients, seconds, pair)?;
                (ours, theirs(&started, &script, *clients, seconds, pair)?)
            } else {
                let theirs = theirs(&started, &script, *clients, seconds, pair)?;
                (ours(&started, *clients, seconds, pair)?, theirs)
            };
            if pair == 0 {
                continue;
            }
            println!(
                "{clients:>2} clients, pair {pair:>2}  ours {:.0}/s, {:.2} µs of CPU  pgbench {:.0}/s, {:.2} µs  ratio {:.3}",
                one.per_second,
                one.client,
                other.per_second,
                other.client,
                one.per_second / other.per_second
            );
            ratios.push(one.per_second / other.per_second);
            cpus.push((one.client, other.client));
        }
        let (low, high) = limits(&ratios).unwrap_or((f64::NAN, f64::NAN));
        let (ours, theirs): (Vec<f64>, Vec<f64>) = cpus.into_iter().unzip();
        let middle = |all: &[f64]| median(all).unwrap_or(f64::NAN);
        println!(
            "{clients:>2} clients: ratio {:.3} (95 %: {low:.3} … {high:.3}, half-width {:.1} %); CPU per operation {:.2} µs, \
             pgbench {:.2} µs",
            middle(&ratios),
            (high - low) / 2.0 * 100.0,
            middle(&ours),
            middle(&theirs)
        );
    }
    drop(session);
    started.stop()
}

fn ours(started: &Started, clients: u64, seconds: u64, seed: u64) -> Result<Done, Problem> {
    let records = Records { key_order: KeyOrder::Ordered, key_type: KeyType::Bigint, ..Records::flat(1) };
    let reads = Reads {
        records: &records,
        loaded: RECORDS,
        statement: "SELECT doc FROM bench WHERE key = {{key}}",
        clients,
        threads: clients.min(2),
        seconds: seconds as f64,
        seed: seed + 1,
        verify: false,
    };
    read(started, &reads)
}

fn theirs(
    started: &Started,
    script: &std::path::Path,
    clients: u64,
    seconds: u64,
    seed: u64,
) -> Result<Done, Problem> {
    let (_, start) = pgbench(started, script, clients, &["-t", "1"], seed)?;
    let (said, spent) = pgbench(started, script, clients, &["-T", &seconds.to_string()], seed)?;
    let figure = |start: &str| -> Option<f64> {
        let line = said.lines().find_map(|line| line.strip_prefix(start))?;
        line.split([' ', '/']).next()?.parse().ok()
    };
    let per_second = figure("tps = ").ok_or_else(|| format!("pgbench: {said}"))?;
    let count = figure("number of transactions actually processed: ").ok_or("no count")?;
    Ok(Done { per_second, client: (spent - start) * 1e6 / count, server: f64::NAN })
}

/// Runs pgbench, whose rate counts from its connections on. Returns its output and its CPU seconds.
fn pgbench(
    started: &Started,
    script: &std::path::Path,
    clients: u64,
    how_long: &[&str],
    seed: u64,
) -> Result<(String, f64), Problem> {
    let login = started.login().ok_or("no server")?;
    let socket = login.socket.as_ref().and_then(|path| path.parent()).ok_or("no socket")?;
    let mut command = Command::new(started.programs["postgres"].with_file_name("pgbench"));
    command.arg("-h").arg(socket).args(["-p", &login.port.to_string(), "-U", &login.user]);
    command.args(["-n", "-M", "prepared", "-c", &clients.to_string(), "-j", &clients.min(2).to_string()]);
    command
        .args(how_long)
        .arg(format!("--random-seed={}", seed + 1))
        .arg("-f")
        .arg(script)
        .arg(&login.database);
    command.env("PGPASSWORD", &login.password).env("LC_ALL", "C").stdin(Stdio::null());
    // A separate process group, so that interrupting this program by hand does not end pgbench too.
    command.process_group(0);
    let before = cpu_of_children();
    let output = command.output()?;
    let spent = cpu_of_children() - before;
    if !output.status.success() {
        return Err(format!("pgbench: {}", String::from_utf8_lossy(&output.stderr)).into());
    }
    Ok((String::from_utf8_lossy(&output.stdout).into_owned(), spent))
}

/// CPU seconds of all child processes that have been waited for.
fn cpu_of_children() -> f64 {
    let Ok(text) = std::fs::read_to_string("/proc/self/stat") else { return f64::NAN };
    let fields: Vec<&str> = text.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
    let ticks =
        |index: usize| fields.get(index).and_then(|field| field.parse::<f64>().ok()).unwrap_or(f64::NAN);
    (ticks(13) + ticks(14)) / rustix::param::clock_ticks_per_second() as f64
}
