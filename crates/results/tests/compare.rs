//! Two runs made by hand beside each other: what is matched, what is called different, and what may pass.

use jsonathlon_measure::clock::ClockResolution;
use jsonathlon_measure::machine::Machine;
use jsonathlon_results::ResultsError;
use jsonathlon_results::baseline::Baselines;
use jsonathlon_results::compare::{CellComparison, Kind, Outcome, RunComparison, compare};
use jsonathlon_results::comparison::Difference;
use jsonathlon_results::manifest::{Configuration, Data, Exception, Manifest, Planned, SCHEMA};
use jsonathlon_results::record::{
    Body, Cell, Failure, FailureKind, Phase, PlanCheck, Record, Trial, Verdict,
};
use jsonathlon_results::summary::Run;

const SLOWER: Outcome = Outcome::Timed(Difference::Slower);
const FASTER: Outcome = Outcome::Timed(Difference::Faster);
const NONE_SHOWN: Outcome = Outcome::Timed(Difference::NoneShown);

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
        configuration_digest: "blake3:22".into(),
        artifact_digest: Some(format!("sha256:{version}")),
        exceptions: vec![],
    }
}

fn cell(of: &Configuration, step: &str, phase: Phase) -> Cell {
    let mut parameters: std::collections::BTreeMap<String, serde_json::Value> =
        [("scale".into(), 1000.into()), ("storage".into(), of.storage.as_str().into())].into();
    if step != "load" {
        parameters.insert("state".into(), "drained".into());
    }
    Cell {
        workload: "analytics".into(),
        system: of.system.clone(),
        version: of.version.clone(),
        variant: of.variant.clone(),
        step: step.into(),
        phase,
        parameters,
    }
}

fn trial(cell: Cell, round: u32, seconds: Option<f64>) -> Record {
    let key = cell.trial_key(round, 0);
    let trial = Trial {
        cell,
        round,
        order: 0,
        at_ms: 0,
        verdict: Verdict::Exact,
        seconds,
        server_seconds: None,
        rows: None,
        answer_digest: None,
        metrics: [("peak_pss_bytes".to_owned(), 1e6)].into(),
        bound_by: None,
        failure: None,
    };
    Record::new(key, Body::Trial(Box::new(trial)))
}

/// A load, a size, and one question cold and hot in five rounds, each 1 % from the one before.
fn records(of: &Configuration) -> Vec<Record> {
    let mut records = vec![trial(cell(of, "load", Phase::Load), 1, Some(2.0))];
    let mut size = trial(cell(of, "size", Phase::Steady), 1, None);
    if let Body::Trial(size) = &mut size.body {
        size.metrics = [("total_bytes".to_owned(), 5e6)].into();
    }
    records.push(size);
    for round in 1..=5 {
        let seconds = 0.1 * (1.0 + 0.01 * f64::from(round));
        records.push(trial(cell(of, "q1", Phase::Cold), round, Some(3.0 * seconds)));
        records.push(trial(cell(of, "q1", Phase::Hot), round, Some(seconds)));
    }
    records
}

fn run(name: &str, configurations: &[Configuration]) -> Run {
    let records: Vec<Record> = configurations.iter().flat_map(records).collect();
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
                digest: "blake3:00".into(),
                source: "generated".into(),
                origin: serde_json::Value::Null,
                malformed: 0,
                staging_s: None,
                reference_sizes: [("raw".to_owned(), 480_000)].into(),
            },
            configurations: configurations.to_vec(),
            settings: serde_json::json!({"rounds": 5}),
            plan: Planned { trials: records.iter().map(|record| record.key.clone()).collect() },
        },
        records,
    }
}

/// Changes every trial that is wanted.
fn edit(run: &mut Run, wanted: impl Fn(&Trial) -> bool, change: impl Fn(&mut Trial)) {
    for record in &mut run.records {
        if let Body::Trial(trial) = &mut record.body
            && wanted(trial)
        {
            change(trial);
        }
    }
}

fn fail(trial: &mut Trial) {
    trial.seconds = None;
    trial.verdict = Verdict::Failed;
    trial.failure = Some(Failure { kind: FailureKind::Crash, error: "gone".into() });
}

fn times(factor: f64) -> impl Fn(&mut Trial) {
    move |trial| trial.seconds = trial.seconds.map(|seconds| seconds * factor)
}

fn one(comparison: &RunComparison, name: &str) -> CellComparison {
    let found: Vec<_> = comparison.cells.iter().filter(|cell| cell.name() == name).collect();
    assert_eq!(found.len(), 1, "{name}");
    found[0].clone()
}

/// The counts, in the order of their fields.
fn counts(comparison: &RunComparison) -> [usize; 7] {
    let counts = comparison.counts;
    [
        counts.slower,
        counts.faster,
        counts.none_shown,
        counts.now_fail,
        counts.now_answer,
        counts.no_time,
        counts.not_compared,
    ]
}

#[test]
fn a_run_beside_itself_shows_no_difference() {
    let a = run("a", &[configuration("ma", "1")]);
    let comparison = compare(&a, &a, false).unwrap();
    assert_eq!(counts(&comparison), [0, 0, 3, 0, 0, 0, 0]);
    assert!(comparison.differences.is_empty() && comparison.only_in_a.is_empty());
    let load = one(&comparison, "load");
    assert_eq!((load.ratio, load.low, load.outcome), (Some(1.0), None, NONE_SHOWN), "one round");
    assert_eq!(comparison.counts.with_interval, 2);
    let sizes: Vec<(&str, Option<f64>)> =
        comparison.sizes.iter().map(|size| (size.what, size.ratio)).collect();
    assert_eq!(
        sizes,
        [
            ("size, drained", Some(1.0)),
            ("peak memory, loading", Some(1.0)),
            ("peak memory, asking", Some(1.0))
        ]
    );
    assert!(comparison.gated(0.0).gate.unwrap().passed);
}

#[test]
fn a_fifth_is_found_and_what_is_allowed_may_pass() {
    let (a, mut b) = (run("a", &[configuration("ma", "1")]), run("b", &[configuration("ma", "1")]));
    edit(&mut b, |trial| trial.cell.phase == Phase::Hot, times(1.2));
    edit(&mut b, |trial| trial.cell.phase == Phase::Cold, times(0.5));
    edit(&mut b, |trial| trial.cell.phase == Phase::Load, times(3.0));
    let comparison = compare(&a, &b, false).unwrap();
    let hot = one(&comparison, "q1 hot");
    assert_eq!(hot.outcome, SLOWER);
    assert!((hot.ratio.unwrap() - 1.2).abs() < 1e-9 && hot.low.unwrap() > 1.0);
    assert_eq!(one(&comparison, "q1 cold").outcome, FASTER);
    assert_eq!(one(&comparison, "load").outcome, NONE_SHOWN, "one trial has no interval");
    let passes = |share: f64| comparison.clone().gated(share).gate.unwrap().passed;
    assert!(!passes(0.0) && !passes(0.05) && passes(0.25));
    let reasons = comparison.clone().gated(0.05).gate.unwrap().reasons;
    assert!(matches!(reasons.as_slice(), [one] if one.contains("q1 hot takes 1.20 times as long")));
}

#[test]
fn what_was_right_and_is_not_fails_whatever_is_allowed() {
    let a = run("a", &[configuration("ma", "1")]);
    let hot = |trial: &Trial| trial.cell.phase == Phase::Hot;
    for (verdict, timed) in [
        (Verdict::Wrong, false),
        (Verdict::Timeout, false),
        (Verdict::Failed, false),
        (Verdict::Partial, true),
    ] {
        let mut b = a.clone();
        // One trial of the five.
        edit(
            &mut b,
            |trial| hot(trial) && trial.round == 3,
            |trial| {
                trial.verdict = verdict;
                trial.seconds = trial.seconds.filter(|_| timed);
            },
        );
        let comparison = compare(&a, &b, false).unwrap();
        let cell = one(&comparison, "q1 hot");
        assert_eq!((cell.outcome, cell.ratio), (Outcome::NowFails, None), "{verdict:?}");
        assert_eq!((cell.a.verdict, cell.b.verdict), (Verdict::Exact, verdict));
        let gate = comparison.gated(1e6).gate.unwrap();
        assert!(matches!(gate.reasons.as_slice(), [one] if one.contains("q1 hot now fails")), "{gate:?}");
        // The other way round it is none.
        let comparison = compare(&b, &a, false).unwrap();
        assert_eq!(one(&comparison, "q1 hot").outcome, Outcome::NowAnswers, "{verdict:?}");
        assert!(comparison.gated(0.0).gate.unwrap().passed);
        let comparison = compare(&b, &b, false).unwrap();
        let outcome = if timed { Outcome::NotCompared } else { Outcome::NoTime };
        assert_eq!(one(&comparison, "q1 hot").outcome, outcome, "{verdict:?}");
    }
}

#[test]
fn a_failure_is_found_whatever_its_cold_trials_are_called() {
    let cold = |trial: &Trial| trial.cell.phase == Phase::Cold;
    let mut a = run("a", &[configuration("ma", "1")]);
    edit(&mut a, cold, |trial| trial.cell.phase = Phase::ColdUnverified);
    let same = compare(&a, &a, false).unwrap();
    assert_eq!(one(&same, "q1 cold-unverified").outcome, NONE_SHOWN);
    // All of them fail, and are cold; some of them fail, and the others are not.
    for rounds in [1..=5, 4..=5] {
        let mut b = run("b", &[configuration("ma", "1")]);
        edit(&mut b, cold, |trial| {
            if rounds.contains(&trial.round) {
                fail(trial)
            } else {
                trial.cell.phase = Phase::ColdUnverified;
            }
        });
        let comparison = compare(&a, &b, false).unwrap();
        assert_eq!(comparison.counts.now_fail, 1, "{rounds:?}");
        assert!(!comparison.gated(1.0).gate.unwrap().passed);
    }
    // Cold and not verified are different conditions, and no ratio is made of them.
    let comparison = compare(&a, &run("b", &[configuration("ma", "1")]), false).unwrap();
    let cell = one(&comparison, "q1 cold");
    assert_eq!((cell.outcome, cell.ratio), (Outcome::NotCompared, None));
    assert_eq!(cell.note.as_deref(), Some("cold-unverified in A, cold in B"));
}

#[test]
fn a_plan_that_breaks_its_promise_now_is_a_failure_of_its_cell() {
    let a = run("a", &[configuration("ma", "1")]);
    let mut b = a.clone();
    b.records.push(Record::new(
        "plan:x".into(),
        Body::Plan(PlanCheck {
            cell: cell(&configuration("ma", "1"), "q1", Phase::Hot),
            file: "plans/x".into(),
            violations: vec!["no index".into()],
        }),
    ));
    let comparison = compare(&a, &b, false).unwrap();
    let hot = one(&comparison, "q1 hot");
    assert_eq!((hot.outcome, hot.note.as_deref()), (Outcome::NowFails, Some("plan: no index")));
    assert_eq!(one(&compare(&b, &b, false).unwrap(), "q1 hot").outcome, NONE_SHOWN, "it was so before");
}

#[test]
fn versions_go_together_when_there_is_no_doubt() {
    let with = |versions: &[&str]| {
        run("x", &versions.iter().map(|version| configuration("ma", version)).collect::<Vec<_>>())
    };
    let pairs = |a: &[&str], b: &[&str]| -> Vec<String> {
        let comparison = compare(&with(a), &with(b), false).unwrap();
        let hot = comparison.cells.iter().filter(|cell| cell.phase == Phase::Hot);
        let mut found: Vec<String> =
            hot.map(|cell| format!("{} {}", cell.a.version, cell.b.version)).collect();
        let alone = [(&comparison.only_in_a, "A"), (&comparison.only_in_b, "B")];
        for (all, side) in alone {
            assert!(all.iter().all(|one| one.whole && one.cells.len() == 3));
            found.extend(all.iter().map(|one| format!("{side} {}", one.version)));
        }
        found
    };
    assert_eq!(pairs(&["1"], &["1"]), ["1 1"]);
    assert_eq!(pairs(&["1"], &["2"]), ["1 2"]);
    assert_eq!(pairs(&["1", "2"], &["2", "1"]), ["1 1", "2 2"]);
    assert_eq!(pairs(&["1", "2"], &["2"]), ["2 2", "A 1"]);
    assert_eq!(pairs(&["1", "2"], &["2", "3"]), ["2 2", "A 1", "B 3"], "3 may follow 1 or be new");
    let comparison = compare(&with(&["1"]), &with(&["2"]), false).unwrap();
    let whats: Vec<&str> = comparison.differences.iter().map(|one| one.what.as_str()).collect();
    assert_eq!(whats, ["ma plain default: version", "ma plain default: artifact"]);
}

#[test]
fn what_only_one_has_is_listed() {
    let (ma, mb) = (configuration("ma", "1"), configuration("mb", "1"));
    let (a, mut b) = (run("a", &[ma.clone(), mb]), run("b", &[ma]));
    b.records.retain(|record| !record.key.contains("/cold;"));
    b.manifest.plan.trials.retain(|key| !key.contains("/cold;"));
    let comparison = compare(&a, &b, false).unwrap();
    let alone: Vec<(&str, bool, usize)> =
        comparison.only_in_a.iter().map(|one| (one.system.as_str(), one.whole, one.cells.len())).collect();
    assert_eq!(alone, [("ma", false, 1), ("mb", true, 3)]);
    assert_eq!(comparison.only_in_a[0].cells, ["q1 cold"]);
    let nothing =
        compare(&run("a", &[configuration("ma", "1")]), &run("b", &[configuration("mb", "1")]), false);
    let error = nothing.unwrap_err().to_string();
    assert!(error.contains("no cell in common") && error.contains("ma 1 plain, default"), "{error}");
}

#[test]
fn other_documents_are_refused_unless_asked_for() {
    let a = run("a", &[configuration("ma", "1")]);
    let mut b = a.clone();
    b.manifest.data.digest = "blake3:11".into();
    let error = compare(&a, &b, false).unwrap_err();
    assert!(matches!(error, ResultsError::Incomparable(_)));
    assert!(error.to_string().contains("--different-data"), "{error}");
    let comparison = compare(&a, &b, true).unwrap();
    assert!(comparison.different_data);
    assert_eq!(comparison.differences[0].kind, Kind::Data);
    b.manifest.data.documents = 2000;
    let error = compare(&a, &b, true).unwrap_err().to_string();
    assert!(error.contains("check growth"), "{error}");
}

#[test]
fn what_differs_in_how_they_were_made_is_listed() {
    let a = run("a", &[configuration("ma", "1")]);
    let mut b = a.clone();
    b.manifest.machine.cores = 4;
    b.manifest.machine.kernel = "6.2".into();
    b.manifest.machine.memory_bytes += 1_000_000; // what another kernel keeps for itself
    b.manifest.program = "0.2.0".into();
    b.manifest.settings = serde_json::json!({"rounds": 9, "cold_os": true});
    let configuration = &mut b.manifest.configurations[0];
    configuration.configuration_digest = "blake3:33".into();
    configuration.transport = Some("unix".into());
    configuration.exceptions = vec![Exception { what: "x = 1".into(), why: "needed".into() }];
    let comparison = compare(&a, &b, false).unwrap();
    let told: Vec<[&str; 3]> = comparison
        .differences
        .iter()
        .map(|one| [one.what.as_str(), one.a.as_str(), one.b.as_str()])
        .collect();
    assert_eq!(
        told,
        [
            ["cores", "2", "4"],
            ["kernel", "6.1", "6.2"],
            ["jsonathlon", "0.1.0", "0.2.0"],
            ["rounds", "5", "9"],
            ["cold os", "", "true"],
            ["ma plain default: configuration", "blake3:22", "blake3:33"],
            ["ma plain default: transport", "", "unix"],
            ["ma plain default: exception", "", "x = 1 (needed)"],
        ]
    );
    assert_eq!(comparison.machine_differences().count(), 2);
}

#[test]
fn what_is_missing_does_not_pass() {
    let a = run("a", &[configuration("ma", "1")]);
    let mut b = a.clone();
    b.records.pop();
    assert!(compare(&b, &a, false).unwrap().gated(0.05).gate.unwrap().passed, "A may lack something");
    let comparison = compare(&a, &b, false).unwrap();
    assert_eq!((comparison.a.open_trials, comparison.b.open_trials), (0, 1));
    let gate = comparison.gated(0.05).gate.unwrap();
    assert!(!gate.passed && gate.reasons[0].contains("not complete"), "{gate:?}");
}

#[test]
fn a_row_to_read_others_by_tells_of_the_machine() {
    let both = [configuration("ma", "1"), configuration("yardstick", "1")];
    let (a, mut b) = (run("a", &both), run("b", &both));
    edit(&mut b, |trial| trial.cell.system == "yardstick", times(1.5));
    let comparison = compare(&a, &b, false).unwrap();
    assert_eq!(counts(&comparison), [0, 0, 3, 0, 0, 0, 0]);
    assert_eq!(comparison.restless_references().count(), 2);
    assert!(comparison.clone().gated(0.05).gate.unwrap().passed);
    edit(&mut b, |trial| trial.cell.system == "yardstick" && trial.cell.phase == Phase::Hot, fail);
    assert!(!compare(&a, &b, false).unwrap().gated(0.05).gate.unwrap().passed, "but it has to be right");
}

#[test]
fn the_json_is_made_of_words_and_numbers() {
    let a = run("a", &[configuration("ma", "1")]);
    let value = serde_json::to_value(compare(&a, &a, false).unwrap().gated(0.05)).unwrap();
    assert_eq!(value["schema"], 1);
    assert_eq!(value["cells"][2]["outcome"], "no difference shown");
    assert_eq!(value["counts"]["none_shown"], 3);
    assert_eq!(value["gate"]["passed"], true);
    assert!(value["cells"][0]["low"].is_null());
}

#[test]
fn baselines_are_kept_found_and_replaced_only_when_asked() {
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("run");
    std::fs::create_dir_all(source.join("work")).unwrap();
    let a = run("a", &[configuration("ma", "1")]);
    let write = |run: &Run| {
        std::fs::write(source.join("manifest.json"), serde_json::to_vec(&run.manifest).unwrap()).unwrap();
        let lines = run.records.iter().map(|record| serde_json::to_string(record).unwrap() + "\n");
        std::fs::write(source.join("journal.ndjson"), lines.collect::<String>()).unwrap();
    };
    write(&a);
    let baselines = Baselines::at(folder.path().join("baselines"));
    assert!(baselines.names().is_empty());
    let error = baselines.find("main").unwrap_err().to_string();
    assert!(error.contains("none is saved yet") && error.contains("--save-baseline"), "{error}");
    let kept = baselines.save("main", &source, false).unwrap();
    assert_eq!(baselines.find("main").unwrap(), kept);
    let journal = |folder: &std::path::Path| std::fs::read(folder.join("journal.ndjson")).unwrap();
    assert_eq!(journal(&kept), journal(&source));
    assert!(!kept.join("work").exists(), "only what a comparison reads");
    let error = baselines.find("mian").unwrap_err().to_string();
    assert!(error.contains("there is main;"), "{error}");

    let mut changed = a.clone();
    changed.manifest.program = "0.2.0".into();
    write(&changed);
    let error = baselines.save("main", &source, false).unwrap_err();
    assert!(matches!(error, ResultsError::BaselineExists { .. }) && error.to_string().contains("--force"));
    assert_eq!(Run::read(&kept).unwrap().manifest.program, "0.1.0");
    baselines.save("main", &source, true).unwrap();
    assert_eq!(Run::read(&kept).unwrap().manifest.program, "0.2.0");
    assert_eq!(baselines.names(), ["main"]);
    let names = std::fs::read_dir(folder.path().join("baselines")).unwrap().count();
    assert_eq!(names, 1, "nothing half made is left");

    assert!(matches!(baselines.save("../x", &source, true), Err(ResultsError::BaselineName { .. })));
    assert!(matches!(baselines.find("a/b"), Err(ResultsError::BaselineName { .. })));
    std::fs::write(source.join("journal.ndjson"), "rubbish\nrubbish\n").unwrap();
    assert!(matches!(baselines.save("main", &source, true), Err(ResultsError::Corrupt { .. })));
    assert_eq!(Run::read(&kept).unwrap().manifest.program, "0.2.0", "the old one stands");
}
