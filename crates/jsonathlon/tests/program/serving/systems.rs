//! Every system at a tiny scale: all its serving operations, verified.

use std::time::{Duration, Instant};

use jsonathlon_results::summary::Summary;
use jsonathlon_schema::record::Verdict;
use jsonathlon_schema::transport::Transport;
use jsonathlon_telemetry::memory_cap::MemoryCap;

use crate::support::real::{SMALL, excluded, soon_up};
use crate::support::{LIMIT, World};

/// Operations on documents by their key, whose answers can be verified together. They form one mix, because a mix that
/// writes needs freshly loaded data and therefore a system start.
pub(super) const TOGETHER: &str = r#"
requests = "zipfian"
[operations]
read = 0.3
update = 0.2
read-modify-write = 0.15
insert = 0.1
insert-batch = 0.05
scan = 0.2
"#;

/// Records that are inserted and deleted; scans and searches could not be verified at the same time.
const COMING_AND_GOING: &str = r#"
requests = "uniform"
[operations]
read = 0.2
update = 0.2
read-modify-write = 0.2
insert = 0.2
delete = 0.2
"#;

/// Systems that run inside the worker process.
const EMBEDDED: [&str; 3] = ["sqlite", "duckdb", "clickhouse"];
/// Systems whose folders have `serving/checkpoints`.
const TELL_OF_CHECKPOINTS: [&str; 2] = ["postgresql", "mongodb"];

fn serves(system: &str, more: &[&str]) -> Summary {
    let world = World::new();
    if system == "elasticsearch" {
        soon_up(&world.path("systems"));
    }
    let mut all =
        vec!["-n", "2k", "-r", "1", "--warmup", "100ms", "--batch-size", "20", "--scan-length", "20"];
    let is_counted = more.contains(&"--operation-count");
    all.extend(SMALL);
    let together = world.file("together.toml", TOGETHER);
    let together = format!("{together},{}", world.file("coming-and-going.toml", COMING_AND_GOING));
    let has_time = is_counted || more.contains(&"--duration");
    let more: Vec<String> = more.iter().map(|one| one.replace("TOGETHER", &together)).collect();
    all.extend(more.iter().map(String::as_str));
    if !has_time {
        all.extend(["--duration", "300ms"]);
    }
    let summary = world.start_serving("out", system, &all).end(LIMIT).expect(0).summary();
    assert!(summary.complete && summary.failures.is_empty(), "{:?}", summary.failures);
    let mut right = 0;
    for entry in summary.results.iter().filter(|entry| entry.cell.step.is_workload_step()) {
        assert!(matches!(entry.verdict, Verdict::Exact | Verdict::NotApplicable), "{entry:?}");
        right += u32::from(entry.verdict == Verdict::Exact);
    }
    assert!(right > 0);
    let trials = world.kept("out").trials();
    let tells =
        trials.iter().flat_map(|trial| &trial.per_second).any(|second| second.in_checkpoint.is_some());
    assert_eq!(
        tells,
        // Checkpoints are not queried during operations whose WAL bytes are counted.
        !is_counted && TELL_OF_CHECKPOINTS.contains(&system),
        "whether {system} says if it writes a checkpoint"
    );
    for one in &world.kept("out").manifest().configurations {
        // Embedded engines and servers must not be ranked together.
        assert_eq!(one.ranking().contains("in-process"), EMBEDDED.contains(&system), "{}", one.ranking());
    }
    // A server waits for nearly every request; a lower number would mean that the counters of a process were
    // lost when it ended with its connection.
    for trial in
        trials.iter().filter(|trial| !EMBEDDED.contains(&system) && trial.cell.step.is_workload_step())
    {
        let switches = trial.metrics.get("context_switches_per_op");
        assert!(
            switches.is_none_or(|switches| *switches > 0.05),
            "{system} {}: {switches:?}",
            trial.cell.step
        );
    }
    world.nothing_left();
    summary
}

/// Number of operations among which all operations of a mix are, even one with a share of 5 %.
const COUNTED: [&str; 2] = ["--operation-count", "300"];

/// Limit of a trial in which every operation of a mix ends at least once, also while other
/// tests use the processors.
fn end_of_mixes(system: &str) -> [&'static str; 2] {
    // An operation of Elasticsearch may take a second while the processors are busy, so that no time is
    // enough. The others have a time, during which those that can tell are asked about checkpoints.
    if system == "elasticsearch" { COUNTED } else { ["--duration", "1500ms"] }
}

/// Every operation must end at least once per trial.
fn serves_all(system: &str) {
    if excluded(&[system]) {
        return;
    }
    let counted = |more: &[&str]| serves(system, &[more, &COUNTED].concat());
    // Reading mixes come first, while the server is running with the data as loaded.
    serves(system, &[["--mixes", "find,count,TOGETHER"], end_of_mixes(system)].concat());
    counted(&["--mixes", "paths,update-path", "--documents", "nested"]);
    // One of these mixes reads all documents, so few operations are enough.
    let elements = ["--mixes", "unwrap,unwrap-all,update-element", "--documents", "items"];
    serves(system, &[&elements[..], &["--operation-count", "60"]].concat());
    counted(&[
        "--mixes",
        "c,update-all",
        "--value-content",
        "random",
        "--documents",
        "size",
        "--document-size",
        "3",
    ]);
}

#[test]
fn postgresql_serves() {
    serves_all("postgresql");
}

#[test]
fn mysql_serves() {
    serves_all("mysql");
}

#[test]
fn mariadb_serves() {
    serves_all("mariadb");
}

#[test]
fn mongodb_serves() {
    serves_all("mongodb");
}

#[test]
fn sqlite_serves() {
    serves_all("sqlite");
}

#[test]
fn dolt_serves() {
    serves_all("dolt");
}

#[test]
fn elasticsearch_serves() {
    serves_all("elasticsearch");
}

#[test]
fn duckdb_serves() {
    if excluded(&["duckdb"]) {
        return;
    }
    serves("duckdb", &["--mixes", "a,c", "--clients", "1"]);
}

#[test]
fn clickhouse_serves() {
    if excluded(&["clickhouse"]) {
        return;
    }
    // By default an update takes so long that a time limit would test the speed.
    serves("clickhouse", &["--mixes", "a,c", "--clients", "1", "--operation-count", "20"]);
    serves(
        "clickhouse",
        &["--variants", "light-updates", "--mixes", "a,c", "--clients", "1", "--operation-count", "60"],
    );
}

/// Variants with and without a replication log next to the WAL are ranked separately.
#[test]
fn systems_serve_with_a_replication_log_and_without() {
    let systems = ["mongodb", "mysql"];
    if excluded(&systems) {
        return;
    }
    let world = World::new();
    let arguments = ["-n", "2k", "-r", "1", "--mixes", "a", "--clients", "8", "--duration", "1500ms"];
    let variants = ["--variants", "id,replica-set,json-key,json-key-no-log"];
    let running = world.start_serving("out", "mongodb,mysql", &[&arguments[..], &SMALL, &variants].concat());
    let summary = running.end(LIMIT).expect(0).summary();
    assert!(summary.complete && summary.failures.is_empty(), "{:?}", summary.failures);
    let own: Vec<_> = summary.results.iter().filter(|entry| entry.cell.step.is_workload_step()).collect();
    assert!(own.iter().all(|entry| entry.verdict == Verdict::Exact), "{own:?}");
    let manifest = world.kept("out").manifest();
    let ranked: Vec<(&str, String)> =
        manifest.configurations.iter().map(|one| (one.id.variant.as_str(), one.ranking())).collect();
    for (variant, ranking) in &ranked {
        let logged = ["replica-set", "json-key"].contains(variant);
        assert_eq!(ranking, if logged { "as-is, replication log" } else { "as-is" }, "{ranked:?}");
    }
    assert_eq!(ranked.len(), 4);
    // Without a binary log, MySQL writes only its redo log ahead.
    let journal = |variant: &str| {
        let one = own.iter().find(|entry| entry.cell.id.variant == variant);
        one.unwrap().metrics["wal_bytes_per_op"]
    };
    assert!(journal("json-key-no-log") < 0.8 * journal("json-key"));
    world.nothing_left();
}

/// Keys that are 64-bit integers, in all operations on keys.
fn serves_integers(system: &str) {
    if excluded(&[system]) {
        return;
    }
    let keys = ["--mixes", "TOGETHER", "--key-type", "bigint"];
    serves(system, &[&keys[..], &end_of_mixes(system)].concat());
}

#[test]
fn postgresql_serves_integer_keys() {
    serves_integers("postgresql");
}

#[test]
fn mysql_serves_integer_keys() {
    serves_integers("mysql");
}

#[test]
fn mariadb_serves_integer_keys() {
    serves_integers("mariadb");
}

#[test]
fn mongodb_serves_integer_keys() {
    serves_integers("mongodb");
}

#[test]
fn sqlite_serves_integer_keys() {
    serves_integers("sqlite");
}

#[test]
fn dolt_serves_integer_keys() {
    serves_integers("dolt");
}

#[test]
fn elasticsearch_serves_integer_keys() {
    serves_integers("elasticsearch");
}

#[test]
fn clients_encrypt_and_what_cannot_is_told_before_anything_is_started() {
    let systems = ["postgresql", "mysql", "mariadb", "mongodb", "dolt", "elasticsearch"];
    if excluded(&systems) {
        return;
    }
    let world = World::new();
    soon_up(&world.path("systems"));
    let arguments = ["-n", "1k", "-r", "1", "--mixes", "a", "--clients", "2", "--warmup", "100ms"];
    let over = |transport| [&arguments[..], &SMALL, &["--duration", "1s", "--transport", transport]].concat();
    let refused = world.start_serving("refused", "postgresql,elasticsearch", &over("unix"));
    refused.end(LIMIT).expect(2).says(&["elasticsearch", "`unix`", "--transport tcp"]);
    assert!(!world.path("refused").exists());
    let running = world.start_serving("out", &systems.join(","), &over("tls"));
    let summary = running.end(LIMIT).expect(0).summary();
    assert!(summary.complete && summary.failures.is_empty(), "{:?}", summary.failures);
    let manifest = world.kept("out").manifest();
    assert_eq!(manifest.configurations.len(), systems.len());
    assert!(manifest.configurations.iter().all(|one| one.transport == Some(Transport::Tls)));
    let shown = world.run(&["export", "--tables", "full", &world.text("out")]).expect(0).stdout;
    assert!(shown.contains("with encrypted TCP on the loopback interface in their times: "), "{shown}");
}

/// Covers servers with all their child processes, and engines in their workers.
#[test]
fn a_ratio_to_memory_caps_the_page_cache_or_says_that_it_does_not() {
    if excluded(&["postgresql"]) {
        return;
    }
    let world = World::new();
    let arguments =
        ["--data-to-memory", "0.01", "--memory", "512MB", "-r", "1", "--mixes", "c", "--duration", "1s"];
    let out = world.text("out");
    let given = ["run", "serving", "-s", "postgresql,sqlite", "--clients", "2", "--json", "-o", &out];
    let mut running = world.start(&[&given[..], &arguments].concat());
    let can = MemoryCap::new(512 << 20).is_ok();
    let group = format!("jsonathlon-{}-", running.pid().as_raw_nonzero());
    // Command lines of all processes in the group. PostgreSQL backends overwrite the mark of a test's
    // processes.
    let inside = || -> Vec<String> {
        let read = |process: &str, name: &str| {
            String::from_utf8_lossy(&std::fs::read(format!("/proc/{process}/{name}")).unwrap_or_default())
                .replace('\0', " ")
        };
        let all = std::fs::read_dir("/proc").unwrap().flatten();
        let names = all.filter_map(|entry| entry.file_name().into_string().ok());
        names
            .filter(|name| read(name, "cgroup").contains(&group))
            .map(|name| read(&name, "cmdline"))
            .collect()
    };
    // A backend, which was started long after its server, and a worker.
    let (mut backend, mut worker) = (false, false);
    let begun = Instant::now();
    while can && !(backend && worker) {
        assert!(begun.elapsed() < LIMIT && !running.has_ended(), "nobody is in it\n{}", running.stderr());
        let commands = inside();
        backend |= commands.iter().any(|command| command.starts_with("postgres: postgres"));
        worker |= commands.iter().any(|command| command.contains(" worker"));
        std::thread::sleep(Duration::from_millis(2));
    }
    let ended = running.end(LIMIT).expect(0);
    assert_eq!(ended.stderr.contains("cannot limit the page cache"), !can, "{}", ended.stderr);
    let shown = world.run(&["export", "--tables", "full", &world.text("out")]).expect(0).stdout;
    let words = if can { "were capped at 512 MB for each system" } else { "page cache: not capped" };
    assert!(shown.contains(words), "{shown}");
    world.nothing_left();
    assert_eq!(inside(), [""; 0]);
}

#[test]
fn an_engine_that_is_killed_for_its_cap_of_memory_is_told_so() {
    let world = World::new();
    let out = world.text("out");
    let given = [
        "run",
        "serving",
        "-s",
        "sqlite",
        "--json",
        "-o",
        &out,
        "--memory",
        "64MB",
        "--data-to-memory",
        "0.3",
    ];
    let more = ["--documents", "large", "-r", "1", "--mixes", "c", "--clients", "300", "--warmup", "100ms"];
    let ended = world.start(&[&given[..], &more, &["--duration", "300ms"]].concat()).end(LIMIT);
    if MemoryCap::new(512 << 20).is_err() {
        return assert!(ended.stderr.contains("cannot limit the page cache"), "{}", ended.stderr);
    }
    let summary = ended.summary();
    let words = &summary.failures.first().unwrap_or_else(|| panic!("{summary:?}")).error;
    assert!(words.contains("killed by the kernel: memory limit of 64 MB exceeded"), "{words}");
    assert!(words.contains("--memory"), "{words}");
    world.nothing_left();
}
