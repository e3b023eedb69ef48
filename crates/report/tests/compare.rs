//! Two runs beside each other as they are printed: an upgrade with something of everything, two equal runs, and
//! names that mean harm.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

use std::collections::BTreeMap;

use jsonathlon_measure::clock::ClockResolution;
use jsonathlon_measure::machine::Machine;
use jsonathlon_report::compare::{markdown, tables};
use jsonathlon_report::markdown::render;
use jsonathlon_report::tables::Look;
use jsonathlon_results::compare::{RunComparison, compare};
use jsonathlon_results::manifest::{Configuration, Data, Exception, Manifest, Planned, SCHEMA};
use jsonathlon_results::record::{Body, Cell, Failure, FailureKind, Phase, Record, Trial, Verdict};
use jsonathlon_results::summary::Run;

const PLAIN: Look = Look { colour: false };

fn configuration(system: &str, version: &str) -> Configuration {
    Configuration {
        system: system.into(),
        title: system.into(),
        version: version.into(),
        variant: "plain".into(),
        variant_title: "plain".into(),
        storage: "default".into(),
        embedded: true,
        transport: None,
        end_of_life: false,
        ranks_with: "json-only".into(),
        reference: system == "yardstick",
        configuration_digest: "blake3:2222222222222222222222222222".into(),
        artifact_digest: None,
        exceptions: vec![],
    }
}

/// A trial's seconds and verdict by configuration, step, phase and round.
type Times<'a> = &'a dyn Fn(&str, &str, Phase, u32) -> (f64, Verdict);

fn trial(of: &Configuration, step: &str, phase: Phase, round: u32, times: Times<'_>) -> Record {
    let mut parameters: BTreeMap<String, serde_json::Value> =
        [("scale".into(), 1000.into()), ("storage".into(), of.storage.as_str().into())].into();
    if step != "load" {
        parameters.insert("state".into(), "drained".into());
    }
    let cell = Cell {
        workload: "analytics".into(),
        system: of.system.clone(),
        version: of.version.clone(),
        variant: of.variant.clone(),
        step: step.into(),
        phase,
        parameters,
    };
    let (seconds, verdict) = times(&of.system, step, phase, round);
    let failed = !verdict.has_time();
    let seconds = (!failed && phase != Phase::Steady).then_some(seconds);
    let bytes = if step == "size" { "total_bytes" } else { "peak_pss_bytes" };
    let key = cell.trial_key(round, 0);
    let trial = Trial {
        cell,
        round,
        order: 0,
        at_ms: 0,
        verdict,
        seconds,
        server_seconds: None,
        rows: None,
        answer_digest: None,
        metrics: [(bytes.to_owned(), 300_000.0 * (of.version.len() as f64))].into(),
        bound_by: None,
        failure: failed.then(|| Failure { kind: FailureKind::Crash, error: "gone".into() }),
    };
    Record::new(key, Body::Trial(Box::new(trial)))
}

fn run(name: &str, configurations: Vec<Configuration>, times: Times<'_>) -> Run {
    let mut records = Vec::new();
    for of in &configurations {
        records.push(trial(of, "load", Phase::Load, 1, times));
        records.push(trial(of, "size", Phase::Steady, 1, times));
        for step in ["q1", "q2"] {
            for round in 1..=5 {
                records.push(trial(of, step, Phase::Cold, round, times));
                records.push(trial(of, step, Phase::Hot, round, times));
            }
        }
    }
    Run {
        path: name.into(),
        manifest: Manifest {
            schema: SCHEMA,
            program: "0.1.0".into(),
            started: "2026-11-21T10:00:00Z".into(),
            command: vec![],
            machine: Machine {
                cores: 2,
                processor: "Some processor".into(),
                memory_bytes: 24_000_000_000,
                kernel: "6.1".into(),
                os: "Some system".into(),
                architecture: "x86_64".into(),
                file_system: Some("ext4".into()),
            },
            clock: ClockResolution { step_ns: 20, reading_ns: 25.0 },
            disk_bytes_per_s: None,
            data: Data {
                documents: 1000,
                bytes: 480_000,
                digest: "blake3:0123456789abcdef0123456789abcdef".into(),
                source: "generated events 0 to 1000, seed 1".into(),
                origin: serde_json::Value::Null,
                malformed: 0,
                staging_s: None,
                reference_sizes: BTreeMap::new(),
            },
            configurations,
            settings: serde_json::json!({"rounds": 5}),
            plan: Planned { trials: records.iter().map(|record| record.key.clone()).collect() },
        },
        records,
    }
}

/// The ordinary times: every round 1 % from the one before.
fn ordinary(step: &str, phase: Phase, round: u32) -> f64 {
    let base = if step == "q1" { 0.01 } else { 0.2 };
    let cold = if phase == Phase::Cold { 3.0 } else { 1.0 };
    base * cold * (1.0 + 0.01 * f64::from(round))
}

fn same(_: &str, step: &str, phase: Phase, round: u32) -> (f64, Verdict) {
    (ordinary(step, phase, round), Verdict::Exact)
}

/// An upgrade: one system faster and slower in turns, one with a failure, one new, one gone; on a changed
/// machine, and with a record missing.
fn upgrade() -> RunComparison {
    let a = run(
        "runs/before",
        vec![
            configuration("ma", "1.0"),
            configuration("mb", "1.0"),
            configuration("gone", "1.0"),
            configuration("yardstick", "1"),
        ],
        &|system, step, phase, round| match (system, step, phase) {
            ("mb", "q1", Phase::Hot) => (0.0, Verdict::Wrong),
            _ => same(system, step, phase, round),
        },
    );
    let mut upgraded = configuration("ma", "1.1.0");
    upgraded.configuration_digest = "blake3:3333333333333333333333333333".into();
    upgraded.exceptions.push(Exception { what: "x = 1".into(), why: "needed".into() });
    let mut b = run(
        "runs/after",
        vec![
            upgraded,
            configuration("mb", "1.0"),
            configuration("new", "1.0"),
            configuration("yardstick", "1"),
        ],
        &|system, step, phase, round| match (system, step, phase) {
            ("ma", "q1", Phase::Hot) => (1.2 * ordinary(step, phase, round), Verdict::Exact),
            ("ma", "q2", Phase::Hot) => (0.5 * ordinary(step, phase, round), Verdict::Approximate),
            ("yardstick", "q1", Phase::Hot) => (1.5 * ordinary(step, phase, round), Verdict::Exact),
            ("mb", "q2", Phase::Cold) if round == 3 => (0.0, Verdict::Failed),
            _ => same(system, step, phase, round),
        },
    );
    b.manifest.machine.kernel = "6.2".into();
    b.manifest.settings = serde_json::json!({"rounds": 5, "cold_os": true});
    b.manifest.plan.trials.push("some/open/trial".into());
    compare(&a, &b, false).unwrap().gated(0.05)
}

#[test]
fn an_upgrade_in_the_terminal() {
    insta::assert_snapshot!(tables(&upgrade(), PLAIN));
}

#[test]
fn an_upgrade_in_markdown() {
    insta::assert_snapshot!(markdown(&upgrade()));
}

#[test]
fn two_equal_runs() {
    let of = || vec![configuration("ma", "1.0")];
    let (a, b) = (run("a", of(), &same), run("b", of(), &same));
    let comparison = compare(&a, &b, false).unwrap();
    assert!(!tables(&comparison, PLAIN).contains("PASSED"), "nobody asked");
    let comparison = comparison.gated(0.05);
    assert!(
        markdown(&comparison)
            .starts_with("## compared with the baseline: 0 slower, 0 faster, 5 no difference")
    );
    insta::assert_snapshot!(tables(&comparison, PLAIN));
}

#[test]
fn names_that_mean_harm_are_text() {
    const HOSTILE: &str = "a|b\n# <script>`x`</script>\u{1b}[2J@all [x](http://y)";
    let mut of = configuration("ma", "1.0");
    of.system = HOSTILE.into();
    of.version = HOSTILE.into();
    of.variant = HOSTILE.into();
    of.storage = HOSTILE.into();
    let a = run(HOSTILE, vec![of.clone()], &same);
    let mut slow = run(HOSTILE, vec![of, configuration(HOSTILE, "2")], &|system, step, phase, round| {
        (2.0 * same(system, step, phase, round).0, Verdict::Exact)
    });
    slow.manifest.machine.os = HOSTILE.into();
    slow.manifest.configurations[0].exceptions.push(Exception { what: HOSTILE.into(), why: HOSTILE.into() });
    slow.manifest.settings = serde_json::json!({HOSTILE: HOSTILE});
    let comparison = compare(&a, &slow, false).unwrap().gated(0.05);
    let table = tables(&comparison, PLAIN);
    assert!(!table.contains('\u{1b}') && table.contains("a|b # <script>"), "{table}");
    for text in [markdown(&comparison), render(&slow)] {
        assert!(!text.contains(['\u{1b}', '`']) || text.contains("\\`x\\`"), "{text}");
        assert!(!text.contains("<script") && !text.contains("](http://") && !text.contains("@all"), "{text}");
        // Every row of every table has as many cells as its header.
        let mut columns = None;
        for line in text.lines() {
            let cells = line.starts_with('|').then(|| line.replace("\\|", "").matches('|').count());
            assert!(cells.is_none() || columns.is_none() || cells == columns, "{line}\n{text}");
            columns = cells;
            assert!(!line.trim_start().starts_with("# "), "{line}");
        }
    }
}

#[test]
fn a_whole_run_in_markdown() {
    let run = run("a-run", vec![configuration("ma", "1.0"), configuration("mb", "1.0")], &same);
    insta::assert_snapshot!(render(&run));
}
