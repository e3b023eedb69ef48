//! Tests of the comparison of two synthetic runs: which cells are matched, and which differences are
//! reported.

use crate::support;

use jsonathlon_results::ResultsError;
use jsonathlon_results::compare::{DifferenceKind, Outcome, ReasonKind, RunComparison, compare};
use jsonathlon_results::ratio_to_best::Significance;
use jsonathlon_results::summary::Run;
use jsonathlon_schema::manifest::{Configuration, SettingDeviation};
use jsonathlon_schema::record::{JournalRecord, Phase, PlanCheck, RecordBody, Trial, Verdict};
use jsonathlon_schema::settings::ExternalSystem;
use jsonathlon_schema::transport::Transport;

use support::{cell, configuration, edit, fail, gate, one, run, times};

const NONE_SHOWN: Outcome = Outcome::Timed(Significance::NotSignificant);

/// The counts of the comparison, in the order of their fields.
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
        comparison.sizes.iter().map(|size| (size.quantity, size.ratio)).collect();
    assert_eq!(
        sizes,
        [
            ("size, drained", Some(1.0)),
            ("peak memory, loading", Some(1.0)),
            ("peak memory, asking", Some(1.0))
        ]
    );
    assert!(comparison.with_gate(0.0, false).gate.unwrap().passed);
}

/// All crashes were executed in both runs; only in one of them the tier's promise was kept every time.
#[test]
fn a_durability_promise_that_is_newly_broken_now_fails() {
    let of = |name: &str, as_promised: f64| {
        let mut made = run(name, &[configuration("ma", "1")]);
        let mut crashes = cell(&made.manifest.configurations[0], "power", Phase::Steady);
        crashes.workload = "durability".into();
        crashes.parameters.insert("durability".to_owned(), "window".into());
        let mut record = support::trial(crashes, 1, None);
        if let RecordBody::Trial(trial) = &mut record.body {
            let state = if as_promised < 1.0 { "lost beyond its window" } else { "nothing lost" };
            trial.findings = vec![jsonathlon_schema::record::Finding::new("crash 1", state)];
            trial.metrics =
                [("crashes".to_owned(), 1.0), ("crashes_as_promised".to_owned(), as_promised)].into();
        }
        made.records.push(record);
        made
    };
    let (kept, broken) = (of("kept", 1.0), of("broken", 0.0));
    assert_eq!(broken.summary().broken_promises.len(), 1);
    let outcome = |a: &Run, b: &Run| {
        let comparison = compare(a, b, false).unwrap();
        let power = comparison.cells.iter().find(|cell| cell.step.word() == "power").cloned();
        (power.map(|cell| cell.outcome), comparison.with_gate(0.05, false).gate.unwrap().passed)
    };
    assert_eq!(outcome(&kept, &broken), (Some(Outcome::NowFails), false));
    assert_eq!(outcome(&broken, &kept), (Some(Outcome::NowAnswers), true));
}

#[test]
fn what_was_right_and_is_not_fails_whatever_is_allowed() {
    let mut a = run("a", &[configuration("ma", "1")]);
    let q2 = cell(&a.manifest.configurations[0], "q2", Phase::Hot);
    a.records
        .extend((1..=5).map(|round| support::trial(q2.clone(), round, Some(1.0 + 0.01 * f64::from(round)))));
    let hot = |trial: &Trial| trial.cell.phase == Phase::Hot && trial.cell.step.word() == "q1";
    for (verdict, timed) in [
        (Verdict::Wrong, false),
        (Verdict::Timeout, false),
        (Verdict::Failed, false),
        (Verdict::Partial, true),
        (Verdict::Unverified, true),
    ] {
        let mut b = a.clone();
        // One of the five trials.
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
        let gate = comparison.with_gate(1e6, false).gate.unwrap();
        assert!(
            matches!(gate.reasons.as_slice(), [one] if one.text.contains("q1 hot now fails")),
            "{gate:?}"
        );
        // In the opposite direction it is not a failure.
        let comparison = compare(&b, &a, false).unwrap();
        assert_eq!(one(&comparison, "q1 hot").outcome, Outcome::NowAnswers, "{verdict:?}");
        assert!(comparison.with_gate(0.0, false).gate.unwrap().passed);
        let comparison = compare(&b, &b, false).unwrap();
        let outcome = if timed { Outcome::NotCompared } else { Outcome::NoTime };
        assert_eq!(one(&comparison, "q1 hot").outcome, outcome, "{verdict:?}");
        assert_eq!(one(&comparison, "q1 hot").ratio, None, "{verdict:?}");
    }
}

#[test]
fn a_failure_is_found_whatever_its_cold_trials_are_called() {
    let cold = |trial: &Trial| trial.cell.phase == Phase::Cold;
    let mut a = run("a", &[configuration("ma", "1")]);
    edit(&mut a, cold, |trial| trial.cell.phase = Phase::ColdUnverified);
    let same = compare(&a, &a, false).unwrap();
    assert_eq!(one(&same, "q1 cold-unverified").outcome, NONE_SHOWN);
    // First all trials fail and are cold; then some fail and the others are unverified.
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
        assert!(!comparison.with_gate(1.0, false).gate.unwrap().passed);
    }
    // Cold and unverified are different conditions, so no ratio is computed.
    let comparison = compare(&a, &run("b", &[configuration("ma", "1")]), false).unwrap();
    let cell = one(&comparison, "q1 cold");
    assert_eq!((cell.outcome, cell.ratio), (Outcome::NotCompared, None));
    assert_eq!(cell.note.as_deref(), Some("cold-unverified in A; cold in B"));
}

#[test]
fn what_was_planned_as_one_cell_fails_once() {
    let odd = |trial: &Trial| trial.cell.phase == Phase::Cold && trial.round % 2 == 1;
    let mut a = run("a", &[configuration("ma", "1")]);
    edit(&mut a, odd, |trial| trial.cell.phase = Phase::ColdUnverified);
    let both = compare(&a, &a, false).unwrap();
    assert_eq!(both.cells.len(), 5, "those that were verified, and those that were not");
    let mut b = a.clone();
    edit(&mut b, |trial| trial.cell.phase == Phase::ColdUnverified, fail);
    let comparison = compare(&a, &b, false).unwrap();
    assert_eq!((comparison.cells.len(), comparison.counts.now_fail), (4, 1));
    assert!(comparison.only_in_a.is_empty() && comparison.only_in_b.is_empty());
    assert_eq!(compare(&b, &b, false).unwrap().counts.no_time, 1);
    // Rounds that are unverified in only one of the runs do not prevent a comparison of the others.
    let b = run("b", &[configuration("ma", "1")]);
    let comparison = compare(&a, &b, false).unwrap();
    assert_eq!(comparison.only_in_a[0].cells, ["q1 cold-unverified"]);
    assert!(gate(&comparison).passed);
}

/// A copy of the run in which the plan of `q1` violates these promises.
fn breaking(run: &Run, violations: &[&str]) -> Run {
    let mut run = run.clone();
    let cell = cell(&run.manifest.configurations[0], "q1", Phase::Hot);
    let violations = violations.iter().map(|text| (*text).to_owned()).collect();
    let plan = PlanCheck { cell, file: "plans/x".into(), violations };
    run.records.push(JournalRecord::new("plan:x".into(), RecordBody::Plan(plan)));
    run
}

#[test]
fn a_promise_that_is_broken_now_is_a_failure_of_its_question() {
    let a = run("a", &[configuration("ma", "1")]);
    let unreadable = "the plan cannot be read: gone (process 7)";
    for (of_a, of_b, fails, note) in [
        (&[][..], &["no index"][..], true, "plan broken in B alone: no index"),
        (&["no index"], &["no index"], false, "plan broken in both: no index"),
        (&["no index"], &[], false, "plan broken in A alone: no index"),
        (
            &["sorts"],
            &["no index", "sorts"],
            true,
            "plan broken in B alone: no index; plan broken in both: sorts",
        ),
        (&["sorts"], &["no index"], true, "plan broken in B alone: no index; plan broken in A alone: sorts"),
        (&[], &[unreadable], true, "plan broken in B alone: the plan cannot be read"),
        (
            &[unreadable],
            &["the plan cannot be read: gone (process 8)"],
            false,
            "plan broken in both: the plan cannot be read",
        ),
        (
            &[unreadable],
            &["no index"],
            false,
            "plan broken in B alone: no index; plan broken in A alone: the plan cannot be read",
        ),
    ] {
        let comparison = compare(&breaking(&a, of_a), &breaking(&a, of_b), false).unwrap();
        for name in ["q1 cold", "q1 hot"] {
            let cell = one(&comparison, name);
            assert_eq!(cell.note.as_deref(), Some(note), "{name}");
            assert_eq!(cell.outcome, if fails { Outcome::NowFails } else { NONE_SHOWN }, "{name}: {note}");
        }
        assert_eq!(one(&comparison, "load").note, None);
        let gate = gate(&comparison);
        let failures = gate.reasons.iter().filter(|reason| reason.kind == ReasonKind::NowFails);
        assert!(failures.clone().all(|reason| reason.text.contains(note)), "{gate:?}");
        assert_eq!(failures.count(), if fails { 2 } else { 0 });
    }
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
            hot.map(|cell| format!("{} {}", cell.a.id.version, cell.b.id.version)).collect();
        let alone = [(&comparison.only_in_a, "A"), (&comparison.only_in_b, "B")];
        for (all, side) in alone {
            assert!(all.iter().all(|one| one.whole_configuration && one.cells.len() == 4));
            found.extend(all.iter().map(|one| format!("{side} {}", one.id.version)));
        }
        found
    };
    assert_eq!(pairs(&["1"], &["1"]), ["1 1"]);
    assert_eq!(pairs(&["1"], &["2"]), ["1 2"]);
    assert_eq!(pairs(&["1", "2"], &["2", "1"]), ["1 1", "2 2"]);
    assert_eq!(pairs(&["1", "2"], &["2"]), ["2 2", "A 1"]);
    assert_eq!(pairs(&["1", "2"], &["2", "3"]), ["2 2", "A 1", "B 3"], "3 may follow 1 or be new");
    let comparison = compare(&with(&["1"]), &with(&["2"]), false).unwrap();
    let names: Vec<&str> = comparison.differences.iter().map(|one| one.name.as_str()).collect();
    assert_eq!(names, ["ma plain default: version", "ma plain default: artifact"]);
}

#[test]
fn what_only_one_has_is_listed() {
    let (ma, mb) = (configuration("ma", "1"), configuration("mb", "1"));
    let (a, mut b) = (run("a", &[ma.clone(), mb]), run("b", &[ma]));
    b.records.retain(|record| !record.key.contains("/cold;"));
    b.manifest.plan.trials.retain(|key| !key.contains("/cold;"));
    let comparison = compare(&a, &b, false).unwrap();
    let alone: Vec<(&str, bool, usize)> = comparison
        .only_in_a
        .iter()
        .map(|one| (one.id.system.as_str(), one.whole_configuration, one.cells.len()))
        .collect();
    assert_eq!(alone, [("ma", false, 1), ("mb", true, 4)]);
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
    assert_eq!(comparison.differences[0].kind, DifferenceKind::Data);
    b.manifest.data.documents = 2000;
    let error = compare(&a, &b, true).unwrap_err().to_string();
    assert!(error.contains("check growth"), "{error}");
}

#[test]
fn what_differs_in_how_they_were_made_is_listed() {
    let a = run("a", &[configuration("ma", "1")]);
    let mut b = a.clone();
    b.manifest.machine.cores = 4;
    b.manifest.machine.kernel_release = "6.2".into();
    b.manifest.machine.memory_bytes += 1_000_000; // memory that another kernel reserves for itself
    b.manifest.program = "0.2.1".into();
    b.manifest.settings.run.rounds = 9;
    b.manifest.settings.workload.analytics.as_mut().unwrap().cold_os = true;
    let configuration = &mut b.manifest.configurations[0];
    configuration.configuration_digest = "blake3:33".into();
    configuration.transport = Some(Transport::Unix);
    configuration.exceptions = vec![SettingDeviation { what: "x = 1".into(), why: "needed".into() }];
    let comparison = compare(&a, &b, false).unwrap();
    let told: Vec<[&str; 3]> = comparison
        .differences
        .iter()
        .map(|one| [one.name.as_str(), one.a.as_str(), one.b.as_str()])
        .collect();
    assert_eq!(
        told,
        [
            ["cores", "2", "4"],
            ["kernel", "6.1", "6.2"],
            ["jsonathlon", "0.2.0", "0.2.1"],
            ["cold os", "false", "true"],
            ["rounds", "5", "9"],
            ["ma plain default: configuration", "blake3:2222222222222222222222222222", "blake3:33"],
            ["ma plain default: transport", "", "unix"],
            ["ma plain default: exception", "", "x = 1 (needed)"],
        ]
    );
    assert_eq!(comparison.machine_differences().count(), 2);
}

#[test]
fn a_row_to_read_others_by_tells_of_the_machine() {
    let both = [configuration("ma", "1"), configuration("yardstick", "1")];
    let (a, mut b) = (run("a", &both), run("b", &both));
    edit(&mut b, |trial| trial.cell.id.system == "yardstick", times(1.5));
    let comparison = compare(&a, &b, false).unwrap();
    assert_eq!(counts(&comparison), [0, 0, 3, 0, 0, 0, 0]);
    let references = comparison.references;
    assert_eq!((references.with_interval, references.differ, references.beyond_chance), (2, 2, true));
    assert!(comparison.clone().with_gate(0.05, false).gate.unwrap().passed);
    edit(&mut b, |trial| trial.cell.id.system == "yardstick" && trial.cell.phase == Phase::Hot, fail);
    assert!(
        !compare(&a, &b, false).unwrap().with_gate(0.05, false).gate.unwrap().passed,
        "but it has to be right"
    );
}

#[test]
fn one_reference_cell_of_many_tells_nothing() {
    let all: Vec<Configuration> = ["1", "2", "3"].map(|version| configuration("yardstick", version)).into();
    let with = [all, vec![configuration("ma", "1")]].concat();
    let (a, mut b) = (run("a", &with), run("b", &with));
    edit(&mut b, |trial| trial.cell.id.version == "2" && trial.cell.phase == Phase::Hot, times(0.5));
    let references = compare(&a, &b, false).unwrap().references;
    assert_eq!((references.with_interval, references.differ, references.beyond_chance), (6, 1, false));
    assert!((references.expected_by_chance - 0.3).abs() < 1e-9);
    edit(&mut b, |trial| trial.cell.id.version == "3" && trial.cell.phase == Phase::Hot, times(0.5));
    assert!(compare(&a, &b, false).unwrap().references.beyond_chance, "two of six: 3 %");
    let nothing = compare(&a, &a, false).unwrap().references;
    assert_eq!((nothing.differ, nothing.beyond_chance), (0, false));
}

#[test]
fn where_a_server_is_and_what_its_database_is_called_is_nobodys_business() {
    let mut a = run("a", &[configuration("ma", "1")]);
    let external = |location: &str, reported_version: &str, database_prefix: &str| {
        vec![ExternalSystem {
            system: "ma".to_owned(),
            location: location.to_owned(),
            number: Some(1),
            reported_version: reported_version.to_owned(),
            database_prefix: database_prefix.to_owned(),
            restart: Some("ssh secret".to_owned()),
        }]
    };
    let mut b = a.clone();
    a.manifest.settings.run.external_systems = external("postgres://me@one/x", "18.6", "jsonathlon_1");
    b.manifest.settings.run.external_systems = external("postgres://me@two/x", "18.6", "jsonathlon_2");
    assert_eq!(compare(&a, &b, false).unwrap().differences, []);
    b.manifest.settings.run.external_systems = external("postgres://me@two/x", "18.7", "jsonathlon_2");
    let comparison = compare(&a, &b, false).unwrap();
    let told = &comparison.differences[0];
    let words = [&told.name, &told.a, &told.b];
    assert_eq!(words, ["external systems", "ma 18.6", "ma 18.7"]);
    let json = serde_json::to_string(&comparison).unwrap();
    assert!(["postgres", "jsonathlon_", "secret"].iter().all(|word| !json.contains(word)), "{json}");
}

#[test]
fn the_json_is_made_of_words_and_numbers() {
    let a = run("a", &[configuration("ma", "1")]);
    let value = serde_json::to_value(compare(&a, &a, false).unwrap().with_gate(0.05, false)).unwrap();
    assert_eq!(value["schema"], 2);
    assert_eq!(value["cells"][2]["outcome"], "no difference shown");
    assert_eq!(value["counts"]["none_shown"], 3);
    assert_eq!(value["gate"]["passed"], true);
    assert!(value["cells"][0]["low"].is_null());
}
