//! Tests of the printed comparison of two runs: an upgrade with all kinds of changes, two equal runs, and
//! hostile names.

use jsonathlon_report::compare::{markdown, tables};
use jsonathlon_report::render::TableStyle;
use jsonathlon_report::run::markdown as render;
use jsonathlon_results::compare::{RunComparison, SidePair, compare, compare_sides};
use jsonathlon_results::summary::Run;
use jsonathlon_results::test_fixtures::{self, cell, configuration};
use jsonathlon_schema::id::{ConfigurationId, DataState};
use jsonathlon_schema::manifest::{Configuration, SettingDeviation};
use jsonathlon_schema::record::{
    Failure, FailureKind, JournalRecord, Phase, PlanCheck, RecordBody, Trial, Verdict,
};
use jsonathlon_schema::settings::ExternalSystem;

const PLAIN: TableStyle = TableStyle::PLAIN;

/// A trial's seconds and verdict by system, step, phase and round.
type Times<'a> = &'a dyn Fn(&str, &str, Phase, u32) -> (f64, Verdict);

fn trial(of: &Configuration, step: &str, phase: Phase, round: u32, times: Times<'_>) -> JournalRecord {
    let (seconds, verdict) = times(&of.id.system, step, phase, round);
    let failed = !verdict.has_time();
    let seconds = (!failed && phase != Phase::Steady).then_some(seconds);
    let bytes = if step == "size" { "total_bytes" } else { "peak_pss_bytes" };
    test_fixtures::record(Trial {
        verdict,
        metrics: [(bytes.to_owned(), 300_000.0 * (of.id.version.len() as f64))].into(),
        failure: failed.then(|| Failure::new(FailureKind::Crash, "gone")),
        ..test_fixtures::trial(cell(of, step, phase), round, seconds)
    })
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
    let mut run = test_fixtures::run(name, configurations, records);
    run.manifest.data.digest = "blake3:0123456789abcdef0123456789abcdef".into();
    run.manifest.data.source = "generated events 0 to 1000, seed 1".into();
    run.manifest.data.reference_sizes.clear();
    run
}

/// The usual times; each round differs from the previous one by 1 %.
fn ordinary(step: &str, phase: Phase, round: u32) -> f64 {
    let base = if step == "q1" { 0.01 } else { 0.2 };
    let cold = if phase == Phase::Cold { 3.0 } else { 1.0 };
    base * cold * (1.0 + 0.01 * f64::from(round))
}

fn same(_: &str, step: &str, phase: Phase, round: u32) -> (f64, Verdict) {
    (ordinary(step, phase, round), Verdict::Exact)
}

/// An upgrade: one system both faster and slower, one with failures, one new, one removed; on a changed
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
    upgraded.exceptions.push(SettingDeviation { what: "x = 1".into(), why: "needed".into() });
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
            ("ma", "load", _) => (2.0 * ordinary(step, phase, round), Verdict::Exact),
            ("mb", "size", _) => (0.0, Verdict::Failed),
            ("yardstick", "q1", Phase::Hot) => (1.5 * ordinary(step, phase, round), Verdict::Exact),
            ("mb", "q2", Phase::Cold) if round == 3 => (0.0, Verdict::Failed),
            _ => same(system, step, phase, round),
        },
    );
    b.manifest.machine.kernel_release = "6.2".into();
    b.manifest.settings.workload.analytics.as_mut().unwrap().cold_os = true;
    b.manifest.plan.trials.push("some/open/trial".into());
    compare(&a, &b, false).unwrap().with_gate(0.05, false)
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
    let comparison = comparison.with_gate(0.05, false);
    assert!(
        markdown(&comparison)
            .starts_with("## compared with the baseline: 0 slower, 0 faster, 5 no difference")
    );
    insta::assert_snapshot!(tables(&comparison, PLAIN));
}

/// Adds trials of the control that take about `seconds` each.
fn controlled(mut run: Run, seconds: f64) -> Run {
    let of = configuration("control", "1");
    for round in 1..=5 {
        let mut record = trial(&of, "control", Phase::Steady, round, &same);
        if let RecordBody::Trial(trial) = &mut record.body {
            let seconds = seconds * (1.0 + 0.002 * f64::from(round % 3));
            trial.metrics =
                [("control_memory_s".to_owned(), seconds), ("control_compute_s".to_owned(), 3.0 * seconds)]
                    .into();
        }
        run.records.push(record);
    }
    run
}

#[test]
fn the_control_comes_first_and_disagreement_is_marked() {
    let of = || vec![configuration("ma", "1.0")];
    let slower = |system: &str, step: &str, phase, round| {
        let (seconds, verdict) = same(system, step, phase, round);
        (if step == "q1" { 1.3 } else { 1.0 } * seconds, verdict)
    };
    let (a, b) = (controlled(run("a", of(), &same), 0.02), controlled(run("b", of(), &slower), 0.026));
    let comparison = compare(&a, &b, false).unwrap().with_gate(0.05, false);
    let text = tables(&comparison, PLAIN);
    let control = "\n  control, B ÷ A   1.30 × (1.29 … 1.31) (memory-bound 1.30 ×, compute-bound 1.30 ×; 5 and 5 times)\n";
    let (heading, _) = text.split_once("PASSED").unwrap();
    assert!(heading.contains(control), "{text}");
    assert!(text.contains("÷ control  95 % interval  outcome"), "{text}");
    let row = |cell: &str| text.lines().find(|line| line.contains(cell)).unwrap().to_owned();
    assert!(row("q1 hot").contains("no difference shown (RAW: slower)"), "{text}");
    assert!(row("q2 hot").contains("faster (RAW: no difference shown)"), "{text}");
    let (differs, quiet) = text.split_once("\nno difference shown\n").unwrap();
    let (quiet, _) = quiet.split_once("\n\n").unwrap();
    assert!(differs.contains("what differs"));
    assert!(
        !quiet.contains("load") && !quiet.contains("q1") && quiet.contains("size"),
        "all times are marked: {quiet}"
    );
    assert!(text.contains("PASSED: nothing is slower or larger by more than 5 %"), "{text}");
    assert!(text.contains("RAW: what the ratio itself would be called"), "{text}");
    assert!(markdown(&comparison).contains("| 1.30 × | 1.22 … 1.39 | 1.00 × |"), "{}", markdown(&comparison));
}

#[test]
fn two_sides_of_one_run() {
    let run = run(
        "runs/both",
        vec![configuration("ma#1", "1.0"), configuration("ma#2", "1.1"), configuration("mb", "1")],
        &|system, step, phase, round| {
            let (seconds, verdict) = same(system, step, phase, round);
            (if (system, step, phase) == ("ma#2", "q1", Phase::Hot) { 1.25 } else { 1.0 } * seconds, verdict)
        },
    );
    let between = SidePair::parse("ma#1,ma#2").unwrap();
    let comparison = compare_sides(&run, &between).unwrap().with_gate(0.05, false);
    insta::assert_snapshot!(tables(&comparison, PLAIN));
}

#[test]
fn a_verdict_is_coloured_by_itself_and_not_by_what_it_speaks_of() {
    const RED: &str = "\u{1b}[31m";
    let coloured = |comparison: &RunComparison| tables(comparison, TableStyle::COLOURED);
    let a = run("a", vec![configuration("ma", "1.0")], &same);
    let text = coloured(&compare(&a, &a, false).unwrap().with_gate(0.05, false));
    assert!(text.contains("nothing now fails") && !text.contains(RED), "{text}");
    let text = coloured(&upgrade());
    let red = |words: &str| {
        let mut lines = text.lines().filter(|line| line.contains(words)).peekable();
        assert!(lines.peek().is_some(), "{words} is not in\n{text}");
        lines.all(|line| line.contains(RED))
    };
    for words in ["NOT PASSED", "INCOMPLETE", "now fails", "regression: ", "not passed: "] {
        assert!(red(words), "{words}:\n{text}");
    }
    // It was wrong in A and is correct in B.
    assert!(!red("now answers"), "{text}");
}

#[test]
fn the_machine_is_doubted_only_beyond_chance() {
    let of = || vec![configuration("ma", "1.0"), configuration("yardstick", "1")];
    let slower = |steps: &'static [&'static str]| {
        run("b", of(), &move |system, step, phase, round| {
            let (seconds, verdict) = same(system, step, phase, round);
            let factor = if system == "yardstick" && steps.contains(&step) { 1.5 } else { 1.0 };
            (factor * seconds, verdict)
        })
    };
    let told = |steps: &'static [&'static str]| {
        let text = tables(&compare(&run("a", of(), &same), &slower(steps), false).unwrap(), PLAIN);
        text.lines().find(|line| line.contains("reference cells differ")).map(|line| line.trim().to_owned())
    };
    assert_eq!(told(&[]), None);
    let doubt = "of 4 reference cells differ, about 0.2 expected by chance: machine or program were not the same to \
                 everything else either";
    assert_eq!(told(&["q1"]), Some(format!("2 {doubt}")));
    assert_eq!(told(&["q1", "q2"]), Some(format!("4 {doubt}")));
}

/// Replaces all names in a run, except those of systems, by hostile ones.
fn spoil(run: &mut Run, harm: &str) {
    for record in &mut run.records {
        let RecordBody::Trial(trial) = &mut record.body else { continue };
        match trial.cell.step.word() {
            "q1" => trial.cell.step = harm.into(),
            "q2" => {
                trial.cell.state = None;
                trial.cell.parameters.insert("state".into(), harm.into());
            }
            _ => {}
        }
    }
    let mut plan = run.records.first().unwrap().clone();
    if let RecordBody::Trial(trial) = &plan.body {
        let mut cell = trial.cell.clone();
        cell.step = harm.into();
        cell.state = Some(DataState::Drained);
        plan.body =
            RecordBody::Plan(PlanCheck { cell, file: harm.to_owned(), violations: vec![harm.to_owned()] });
        run.records.push(plan);
    }
}

#[test]
fn names_that_mean_harm_are_text() {
    const HARM: &str =
        "a|b\n# <script>`x`</script>\u{1b}[2J@all [x](http://y) #12 me/it#1 GH-3 !4 :+1: \u{61c}";
    // Only the beginning of a digest is shown.
    const DIGEST: &str = "blake3:`x`<b>@all\u{1b}[2J|";
    let hostile = |system: &str, reference: bool| Configuration {
        id: ConfigurationId::new(system, HARM, HARM, HARM),
        reference,
        configuration_digest: DIGEST.into(),
        ..configuration(system, HARM)
    };
    let both = || vec![hostile(HARM, false), hostile(&format!("{HARM}2"), true)];
    let mut a = run(HARM, both(), &same);
    let all = [both(), vec![configuration(HARM, "2")]].concat();
    let mut slow = run(HARM, all, &|system, step, phase, round| {
        (2.0 * same(system, step, phase, round).0, Verdict::Exact)
    });
    spoil(&mut a, HARM);
    spoil(&mut slow, HARM);
    slow.manifest.machine.os = HARM.into();
    slow.manifest.data.digest = DIGEST.into();
    slow.manifest.data.source = HARM.into();
    slow.manifest.configurations[0].configuration_digest = format!("{DIGEST}2");
    slow.manifest.configurations[0].exceptions.push(SettingDeviation { what: HARM.into(), why: HARM.into() });
    let harm = || HARM.to_owned();
    let external = ExternalSystem {
        system: harm(),
        location: harm(),
        number: None,
        reported_version: harm(),
        database_prefix: harm(),
        restart: None,
    };
    slow.manifest.settings.run.external_systems = vec![external];
    slow.manifest.settings.workload.other_workloads = [(HARM.into(), HARM.into())].into();
    let comparison = compare(&a, &slow, true).unwrap().with_gate(0.05, false);
    assert!(comparison.references.beyond_chance && comparison.cells.iter().any(|cell| cell.note.is_some()));
    let table = tables(&comparison, PLAIN);
    assert!(!table.chars().any(|c| c.is_control() && c != '\n'), "{table:?}");
    assert!(table.contains("a|b # <script>"), "{table}");
    for text in [markdown(&comparison), render(&slow)] {
        assert!(!text.chars().any(|c| c.is_control() && c != '\n') && !text.contains('\u{61c}'), "{text:?}");
        assert!(text.contains("\\`x\\`") && !text.replace("\\`", "").contains('`'), "{text}");
        assert!(!text.contains("<script") && !text.contains("<b>"), "{text}");
        for link in ["](http://", "@all", "#12", "it#1", "GH-3", "!4", ":+1:"] {
            assert!(!text.contains(link), "{link}: {text}");
        }
        // Every row of a table has as many cells as its header.
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
