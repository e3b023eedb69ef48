//! Tests of the tables of synthetic runs: a good one, and one in which everything is wrong.

use jsonathlon_report::render::TableStyle;
use jsonathlon_report::run::tables as render;
use jsonathlon_results::summary::Run;
use jsonathlon_results::test_fixtures;
use jsonathlon_schema::manifest::Configuration;
use jsonathlon_schema::record::{
    Bottleneck, Cell, Failure, FailureKind, JournalRecord, Metrics, Phase, PlanCheck, Reason, RecordBody,
    Rejects, RoundTripOutcome, RoundTripReport, Trial, Verdict,
};

const PLAIN: TableStyle = TableStyle::PLAIN;

fn configuration(system: &str, ranks_with: &str) -> Configuration {
    let made = test_fixtures::configuration(system, "1.0");
    Configuration {
        title: format!("The {system}"),
        embedded: system != "server",
        end_of_life: system == "server",
        outdated: (system == "server").then(|| "2026-07-15".into()),
        ranks_with: ranks_with.into(),
        configuration_digest: "blake3:22".into(),
        ..made
    }
}

fn cell(system: &str, step: &str, phase: Phase) -> Cell {
    test_fixtures::cell(&configuration(system, ""), step, phase)
}

fn trial(cell: Cell, round: u32, order: u32, seconds: Option<f64>, verdict: Verdict) -> JournalRecord {
    let metrics = Metrics::from([("documents_per_s".to_owned(), seconds.map_or(0.0, |s| 1000.0 / s))]);
    let failure = (!verdict.has_time()).then(|| {
        let kind = if verdict == Verdict::Wrong { FailureKind::Wrong } else { FailureKind::Crash };
        Failure::new(kind, "row 1 of 3, count:\u{1b}[2J 5 expected, 6 answered")
    });
    JournalRecord::new(
        cell.trial_key(round, order),
        RecordBody::Trial(Box::new(Trial {
            verdict,
            seconds,
            rows: Some(3),
            metrics,
            bound_by: seconds.map(|_| Bottleneck::OneCore),
            failure,
            ..Trial::blank(cell, round, order)
        })),
    )
}

fn with_metrics(mut record: JournalRecord, metrics: &[(&str, f64)]) -> JournalRecord {
    if let RecordBody::Trial(trial) = &mut record.body {
        trial.metrics.extend(metrics.iter().map(|(name, value)| ((*name).to_owned(), *value)));
    }
    record
}

/// The records of one system; question number n takes n times `unit` seconds.
fn system(name: &str, unit: f64, loaded: f64, verdict: Verdict) -> Vec<JournalRecord> {
    let complete = if loaded < 999.0 { Verdict::Partial } else { Verdict::Exact };
    let load = trial(cell(name, "load", Phase::Load), 1, 0, Some(unit * 10.0), complete);
    let mut records = vec![with_metrics(
        load,
        &[
            ("documents_offered", 1000.0),
            ("documents_loaded", loaded),
            ("documents_rejected", 1000.0 - loaded),
            ("documents_per_s", 1000.0 / (unit * 10.0)),
            ("bytes_per_s", 480_000.0 / (unit * 10.0)),
            ("peak_pss_bytes", 123_456_789.0),
        ],
    )];
    let size = trial(cell(name, "size", Phase::Steady), 1, 0, None, Verdict::Exact);
    records.push(with_metrics(
        size,
        &[
            ("total_bytes", 300_000.0),
            ("data_bytes", 250_000.0),
            ("files_bytes", 400_000.0),
            ("drained_s", 0.02),
        ],
    ));
    for question in 1..=6 {
        let step = format!("q{question}");
        let seconds = unit * f64::from(question);
        let time = |seconds: f64| verdict.has_time().then_some(seconds);
        for round in 1..=2 {
            let cold = trial(cell(name, &step, Phase::Cold), round, 0, time(seconds * 3.0), verdict);
            records.push(with_metrics(cold, &[("resident_share", 0.0)]));
            // Rounds differ by 1 %; the systems `near` and `fast` are faster in alternating rounds.
            let step_of = if name == "near" { 3 - round } else { round };
            let hot = seconds * (1.0 + 0.01 * f64::from(step_of));
            let record = trial(cell(name, &step, Phase::Hot), round, 0, time(hot), verdict);
            let error: &[(&str, f64)] =
                if verdict == Verdict::Approximate { &[("relative_error", 0.004)] } else { &[] };
            records.push(with_metrics(record, error));
        }
    }
    records
}

fn run(configurations: Vec<Configuration>, records: Vec<JournalRecord>, open: &[&str]) -> Run {
    let mut trials: Vec<String> = records.iter().map(|record| record.key.clone()).collect();
    trials.extend(open.iter().map(|key| (*key).to_owned()));
    let mut run = test_fixtures::run("a-run", configurations, records);
    run.manifest.plan.trials = trials;
    run.manifest.disk_bytes_per_s = Some(1.5e9);
    let data = &mut run.manifest.data;
    data.digest = "blake3:0123456789abcdef0123456789abcdef".into();
    data.source = "generated events 0 to 1000, seed 1".into();
    data.staging_s = 0.5;
    data.reference_sizes = [("raw", 480_000), ("gzip-6", 135_000), ("lz4", 208_000), ("zstd-1", 127_000)]
        .map(|(format, bytes)| (format.to_owned(), bytes))
        .into();
    run
}

#[test]
fn a_good_run() {
    let mut records = system("fast", 0.001, 1000.0, Verdict::Exact);
    records.extend(system("slow", 0.004, 1000.0, Verdict::Exact));
    records.extend(system("near", 0.001_001, 1000.0, Verdict::Exact));
    records.extend(system("guess", 0.0005, 1000.0, Verdict::Approximate));
    records.extend(system("yardstick", 0.000_01, 1000.0, Verdict::Exact));
    records.push(JournalRecord::new(
        "structure:fast".into(),
        RecordBody::Structure(RoundTripReport {
            cell: cell("fast", "structure", Phase::Steady),
            retains: RoundTripOutcome::Changed,
            compared: 10,
            equal_bytes: 0,
            equal_value: 3,
            changes: [("null members lost".to_owned(), 7)].into(),
            notes: Vec::new(),
        }),
    ));
    let configurations = vec![
        configuration("slow", "json-only"),
        configuration("fast", "json-only"),
        configuration("near", "json-only"),
        configuration("guess", "approximate"),
        configuration("yardstick", "yardstick"),
    ];
    insta::assert_snapshot!(render(&run(configurations, records, &[]), PLAIN));
}

#[test]
fn the_published_score_stands_below_the_questions_in_words_of_its_own() {
    let mut records = system("fast", 0.1, 1000.0, Verdict::Exact);
    records.extend(system("slow", 0.4, 1000.0, Verdict::Exact));
    records.extend(system("partial", 0.01, 900.0, Verdict::Exact));
    records.extend(system("yardstick", 0.001, 1000.0, Verdict::Exact));
    // The statistic uses two hot trials; here the second one is better.
    let second: Vec<JournalRecord> = records
        .iter()
        .filter_map(|record| match &record.body {
            RecordBody::Trial(hot) if hot.cell.phase == Phase::Hot => {
                let seconds = hot.seconds.map(|seconds| seconds / 1.01);
                Some(trial(hot.cell.clone(), hot.round, 1, seconds, hot.verdict))
            }
            _ => None,
        })
        .collect();
    records.extend(second);
    let configurations =
        ["slow", "fast", "partial", "yardstick"].map(|name| configuration(name, "json-only")).to_vec();
    let text = render(&run(configurations, records, &[]), PLAIN);
    let section = text.split("\n\n").find(|section| section.starts_with("published score")).unwrap();
    let rows: Vec<Vec<&str>> = section
        .lines()
        .skip(2)
        .map(|line| line.split("  ").map(str::trim).filter(|field| !field.is_empty()).collect())
        .collect();
    // Hot, Q1 to Q5: (10 + 400 n) ÷ (10 + 100 n) ms; for cold both times are three times as long.
    let mean = |scale: f64| {
        let ratio = |n: f64| ((0.01 + scale * 0.4 * n) / (0.01 + scale * 0.1 * n)).ln();
        (1..=5).map(|n| ratio(f64::from(n))).sum::<f64>() / 5.0
    };
    let (hot, cold) = (format!("{:.2} ×", mean(1.0).exp()), format!("{:.2} ×", mean(3.0).exp()));
    let all = "5 hot, 5 cold of 5";
    // In the order of the plan, because no system is shown to be first.
    assert_eq!(
        rows[1],
        ["as-is, json-only", "fast 1.0", "plain", "default", "1.00 ×", "1.00 ×", "1.00 ×", all]
    );
    assert_eq!(rows[0], ["as-is, json-only", "slow 1.0", "plain", "default", &hot, &cold, "1.00 ×", all]);
    assert_eq!(rows[2], ["as-is, json-only", "partial 1.0", "plain", "default", "–", "–", "–", all]);
    assert!(section.contains("(10 ms + t) ÷ (10 ms + the best t") && section.contains("without an interval"));
    assert!(!section.contains("yardstick"), "a row to read others by has no score");
    // At least two comparable rows are needed for a score.
    let alone = run(vec![configuration("fast", "x")], system("fast", 0.1, 1000.0, Verdict::Exact), &[]);
    assert!(!render(&alone, PLAIN).contains("published score"));
}

#[test]
fn nobody_is_held_against_a_time_that_came_by_another_path() {
    let mut records = system("fast", 0.1, 1000.0, Verdict::Exact);
    records.extend(system("slow", 0.2, 1000.0, Verdict::Exact));
    records.push(JournalRecord::new(
        "plan:fast".into(),
        RecordBody::Plan(PlanCheck {
            cell: cell("fast", "q1", Phase::Hot),
            file: "plans/fast-q1.txt".into(),
            violations: vec!["the plan lacks `Index`".into()],
        }),
    ));
    let configurations = ["fast", "slow"].map(|name| configuration(name, "json-only")).to_vec();
    let text = render(&run(configurations, records, &[]), PLAIN);
    let is_best = |question: &str, name: &str| {
        let table = text.split(question).nth(1).unwrap();
        table.lines().find(|line| line.contains(&format!(" {name} "))).unwrap().contains("1.00 ×")
    };
    assert!(is_best("Q1 ", "slow") && !is_best("Q1 ", "fast"), "{text}");
    assert!(is_best("Q2 ", "fast") && !is_best("Q2 ", "slow"), "{text}");
}

#[test]
fn names_of_anybodys_run_move_no_cursor() {
    let name = "one\u{1b}[2J";
    let hostile = run(vec![configuration(name, "x")], system(name, 0.1, 1000.0, Verdict::Exact), &[]);
    let text = render(&hostile, PLAIN);
    assert!(text.contains("one [2J") && !text.contains('\u{1b}'), "{text}");
}

#[test]
fn a_bad_run_shows_no_time_that_it_should_not() {
    let mut records = system("wrong", 0.001, 1000.0, Verdict::Wrong);
    records.extend(system("partial", 0.0001, 900.0, Verdict::Exact));
    records.extend(system("server", 0.002, 1000.0, Verdict::Exact));
    for record in &mut records {
        if let RecordBody::Trial(trial) = &mut record.body
            && trial.cell.id.system == "server"
            && trial.cell.phase == Phase::Cold
        {
            trial.cell.phase = Phase::ColdUnverified;
        }
    }
    records.push(JournalRecord::new(
        "rejects:partial".into(),
        RecordBody::Rejects(Rejects {
            cell: cell("partial", "load", Phase::Load),
            file: Some("rejects/partial.ndjson".into()),
            reasons: [(
                "bad\u{7}document".to_owned(),
                Reason {
                    documents: 100,
                    first: Some("a.ndjson, line 7".into()),
                    remedy: Some("mend it".into()),
                },
            )]
            .into(),
        }),
    ));
    records.push(JournalRecord::new(
        "plan:server".into(),
        RecordBody::Plan(PlanCheck {
            cell: cell("server", "q2", Phase::Hot),
            file: "plans/server-q2.txt".into(),
            violations: vec!["the plan lacks `Index`".into()],
        }),
    ));
    let configurations = ["wrong", "partial", "server"].map(|name| configuration(name, "json-only")).to_vec();
    let text = render(&run(configurations, records, &["some/open/trial"]), PLAIN);
    assert!(!text.contains(['\u{1b}', '\u{7}']), "control characters from data reach the terminal");
    let questions = &text[text.find("Q1 ").unwrap()..];
    for line in questions.lines().filter(|line| line.contains(" wrong ")) {
        assert!(!line.contains(" ms"), "a wrong answer has a time: {line}");
    }
    // The fastest row is not comparable, so the best is the next one.
    let q1 = text.split("Q1 ").nth(1).unwrap();
    let server = q1.lines().find(|line| line.contains(" server ")).unwrap();
    assert!(server.contains("1.00 ×") && server.contains("cold-unverified"), "{server}");
    insta::assert_snapshot!(text);
}

#[test]
fn colours_are_only_added_to_what_is_there() {
    let run = run(vec![configuration("wrong", "x")], system("wrong", 0.1, 1000.0, Verdict::Wrong), &[]);
    let (plain, colourful) = (render(&run, PLAIN), render(&run, TableStyle::COLOURED));
    assert!(colourful.contains("\u{1b}[31m") && colourful.contains("\u{1b}[1m"));
    let mut stripped = String::new();
    let mut rest = colourful.as_str();
    while let Some(at) = rest.find('\u{1b}') {
        stripped.push_str(&rest[..at]);
        rest = &rest[at + rest[at..].find('m').unwrap() + 1..];
    }
    stripped.push_str(rest);
    assert_eq!(stripped, plain);
}

#[test]
fn compact_tables_fit_and_explain_what_they_show() {
    let mut records = system("fast", 0.001, 1000.0, Verdict::Exact);
    records.extend(system("slow", 0.004, 1000.0, Verdict::Exact));
    let configurations = ["fast", "slow"].map(|name| configuration(name, "json-only")).to_vec();
    let run = run(configurations, records, &[]);
    for width in [60, 80, 100, 120] {
        let text = render(&run, PLAIN.compact(width));
        let wide: Vec<&str> = text.lines().filter(|line| line.chars().count() > width).collect();
        assert!(wide.is_empty(), "{width}: {wide:#?}");
        let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
        let shared = "in all rows: class as-is, json-only; variant plain; storage default; ";
        assert!(words.contains(shared) && words.contains("1.02 ms (954 µs … 1.08 ms)"), "{text}");
        assert_eq!(words.contains("2 columns left out; --tables full"), width == 60, "{text}");
        assert!(words.contains("too few rounds: one, or some") && words.contains("hot: repeated"), "{text}");
        assert!(!words.contains("embedded, no network"), "it is the same for all: {text}");
    }
}

#[test]
fn a_workload_without_tables_of_its_own_is_shown_whole() {
    let mut record = trial(cell("mock", "insert", Phase::Hot), 1, 0, None, Verdict::Exact);
    let mut records = Vec::new();
    for round in 1..=2 {
        let RecordBody::Trial(trial) = &mut record.body else { unreachable!("a trial") };
        trial.cell.workload = "append".into();
        trial.cell.parameters.insert("clients".into(), 4.into());
        trial.round = round;
        let rate = 1000.0 + 10.0 * f64::from(round);
        trial.metrics = [("documents_per_s", rate), ("lost", 0.0), ("cache_bytes", 2e6)]
            .map(|(n, v)| (n.to_owned(), v))
            .into();
        let key = trial.cell.trial_key(round, 0);
        records.push(JournalRecord::new(key, record.body.clone()));
    }
    let text = render(&run(vec![configuration("mock", "json-only")], records, &[]), PLAIN);
    assert!(text.starts_with("append: 1,000 documents"), "{text}");
    let table: String = text.split("\n\n").find(|part| part.contains("append: insert")).unwrap().to_owned();
    for words in [
        "append: insert, hot, drained, clients 4",
        "documents per second",
        "1.01k/s (",
        "lost",
        "2.00 MB",
        "exact",
    ] {
        assert!(table.contains(words), "{words}: {table}");
    }
    assert!(!text.contains("loading, until durable"), "{text}");
}
