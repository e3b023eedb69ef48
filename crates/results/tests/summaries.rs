//! Tests of summaries and exports of a synthetic run.

use jsonathlon_results::ResultsError;
use jsonathlon_results::challenge::jsonbench::{read_result_files, write_result_files};
use jsonathlon_results::challenge::score::Score;
use jsonathlon_results::export;
use jsonathlon_results::ratio_to_best::{ComparisonTarget, Significance};
use jsonathlon_results::summary::Run;
use jsonathlon_results::test_fixtures;
use jsonathlon_schema::id::{DataState, Step};
use jsonathlon_schema::machine::ClockProperties;
use jsonathlon_schema::machine::Machine;
use jsonathlon_schema::manifest::{Configuration, DataSetInfo, Manifest, SCHEMA, TrialPlan};
use jsonathlon_schema::record::{
    Bottleneck, Cell, Failure, FailureKind, Finding, JournalRecord, Phase, RecordBody, RoundTripOutcome,
    RoundTripReport, Trial, Verdict,
};
use jsonathlon_schema::settings::ManifestSettings;

fn mock() -> Configuration {
    Configuration {
        title: "Mock".into(),
        configuration_digest: "blake3:22".into(),
        ..test_fixtures::configuration("mock", "1")
    }
}

fn cell(step: &str, phase: Phase) -> Cell {
    let mut cell = test_fixtures::cell(&mock(), step, phase);
    cell.parameters.insert("scale".into(), 100.into());
    // In this run everything has drained data, including the load.
    cell.state = Some(DataState::Drained);
    cell
}

fn trial(step: &str, phase: Phase, round: u32, order: u32, seconds: f64) -> Trial {
    Trial {
        verdict: Verdict::Exact,
        seconds: Some(seconds),
        server_seconds: Some(seconds / 2.0),
        rows: Some(3),
        answer_digest: Some("blake3:00".into()),
        metrics: [("peak_pss_bytes".to_owned(), f64::from(round) * 100.0)].into(),
        bound_by: Some(Bottleneck::AllCores),
        ..Trial::blank(cell(step, phase), round, order)
    }
}

fn record(trial: Trial) -> JournalRecord {
    JournalRecord::new(trial.cell.trial_key(trial.round, trial.order), RecordBody::Trial(Box::new(trial)))
}

fn run() -> Run {
    let mut records = Vec::new();
    let mut load = trial("load", Phase::Load, 1, 0, 2.5);
    load.metrics.insert("documents_loaded".into(), 99.0);
    load.metrics.insert("documents_offered".into(), 100.0);
    records.push(record(load));
    let mut size = trial("size", Phase::Steady, 1, 0, 0.0);
    size.seconds = None;
    size.metrics = [("total_bytes".to_owned(), 4096.0), ("index_bytes".to_owned(), 96.0)].into();
    records.push(record(size));
    for question in 1..=5 {
        let step = format!("q{question}");
        for round in 1..=2 {
            records.push(record(trial(&step, Phase::Cold, round, 0, 0.4)));
            for order in 0..3 {
                let seconds = 0.1 * f64::from(round) + 0.001 * f64::from(order);
                records.push(record(trial(&step, Phase::Hot, round, order, seconds)));
            }
        }
    }
    records.push(JournalRecord::new(
        "structure".into(),
        RecordBody::Structure(RoundTripReport {
            cell: cell("structure", Phase::Steady),
            retains: RoundTripOutcome::Value,
            compared: 10,
            equal_bytes: 0,
            equal_value: 10,
            changes: [].into(),
            notes: Vec::new(),
        }),
    ));
    let planned = records.iter().map(|record| record.key.clone()).filter(|key| key != "structure").collect();
    Run {
        path: "a-run".into(),
        manifest: Manifest {
            schema: SCHEMA,
            program: "0.2.0".into(),
            started: "2026-11-21T10:00:00Z".into(),
            command: vec!["jsonathlon".into(), "run".into()],
            machine: Machine {
                cores: 2,
                processor: "Some, \"quoted\" model".into(),
                memory_bytes: 1 << 34,
                physical_memory_bytes: None,
                kernel_release: "6".into(),
                os: "An OS".into(),
                architecture: "x86_64".into(),
                file_system: None,
            },
            clock: ClockProperties { min_step_ns: 20, mean_read_ns: 25.0 },
            disk_bytes_per_s: None,
            data: DataSetInfo {
                documents: 99,
                bytes: 48_000,
                digest: "blake3:11".into(),
                source: "generated".into(),
                origin: serde_json::Value::Null,
                no_documents: 1,
                first_no_documents: Vec::new(),
                left_out: None,
                staging_s: 0.5,
                reference_sizes: [("raw".to_owned(), 48_000), ("lz4".to_owned(), 21_000)].into(),
            },
            workloads: vec!["analytics".into()],
            configurations: vec![mock()],
            settings: ManifestSettings::default(),
            plan: TrialPlan { trials: planned },
        },
        records,
    }
}

#[test]
fn a_summary_has_medians_intervals_and_is_complete() {
    let run = run();
    let summary = run.summary();
    assert!(summary.complete && summary.failures.is_empty());
    let hot =
        summary.results.iter().find(|e| e.cell.step.word() == "q1" && e.cell.phase == Phase::Hot).unwrap();
    assert_eq!((hot.trials, hot.verdict), (6, Verdict::Exact));
    // Rounds {.100 .101 .102} and {.200 .201 .202}: resamples have the medians .101, .151, .201 with
    // probabilities ¼, ½, ¼, and their logarithms a standard deviation of 0.2450. Multiplied by √2 and
    // t(0.975, 1) = 12.706 this is 4.403.
    assert!((hot.median_s.unwrap() - 0.151).abs() < 1e-9);
    let reach = (hot.high_s.unwrap() / 0.151).ln();
    assert!((reach / 4.403 - 1.0).abs() < 0.03, "{reach}");
    assert!(((0.151 / hot.low_s.unwrap()).ln() - reach).abs() < 1e-9);
    assert_eq!(hot.metrics.get("peak_pss_bytes"), Some(&200.0));
    insta::assert_json_snapshot!(summary.results.iter().find(|e| e.cell.step.word() == "load").unwrap());
    assert_eq!(summary.results.iter().filter(|entry| entry.cell.id.system == "files").count(), 2);
    let text = serde_json::to_string(&summary).unwrap();
    assert_eq!(serde_json::from_str::<jsonathlon_results::summary::Summary>(&text).unwrap(), summary);
}

#[test]
fn cells_stand_beside_the_best_over_the_rounds_that_both_have() {
    let mut run = run();
    let mut other = run.manifest.configurations[0].clone();
    other.id.variant = "twice".into();
    run.manifest.configurations.push(other);
    let twice: Vec<JournalRecord> = run
        .trials()
        .filter(|trial| !(trial.cell.step.word() == "q2" && trial.round == 2))
        .map(|trial| {
            let mut trial = trial.clone();
            trial.cell.id.variant = "twice".into();
            trial.seconds = trial.seconds.map(|seconds| seconds * 2.0);
            record(trial)
        })
        .collect();
    run.records.extend(twice);
    let summary = run.summary();
    let of = |step: &str, variant: &str| {
        let mut found = summary.comparisons.iter().filter(|one| {
            one.cell.step.word() == step
                && one.cell.id.variant == variant
                && one.cell.phase == Phase::Hot
                && one.compared_with == ComparisonTarget::Best
        });
        let first = found.next().unwrap();
        assert!(found.next().is_none() && first.other.variant == "plain");
        first
    };
    let slower = of("q1", "twice");
    assert!((slower.ratio - 2.0).abs() < 1e-9 && slower.low.unwrap() > 1.99 && slower.high.unwrap() < 2.01);
    assert_eq!(slower.difference, Significance::Slower);
    assert_eq!((of("q1", "plain").ratio, of("q1", "plain").difference), (1.0, Significance::NotSignificant));
    // One shared round: the ratio is that of this round, and no difference is shown.
    let once = of("q2", "twice");
    assert!((once.ratio - 2.0).abs() < 1e-9 && once.low.is_none());
    assert_eq!(once.difference, Significance::NotSignificant);
    assert!(
        summary.comparisons.iter().all(|one| one.compared_with == ComparisonTarget::Best),
        "no reference row"
    );
}

#[test]
fn one_wrong_trial_takes_the_whole_cells_time_away() {
    let mut run = run();
    for record in &mut run.records {
        if let RecordBody::Trial(trial) = &mut record.body
            && (trial.cell.step.word(), trial.cell.phase, trial.round, trial.order)
                == ("q2", Phase::Hot, 2, 1)
        {
            trial.verdict = Verdict::Wrong;
            trial.seconds = None;
            trial.failure = Some(Failure::new(FailureKind::Wrong, "row 3 differs"));
        }
    }
    let summary = run.summary();
    let hot =
        summary.results.iter().find(|e| e.cell.step.word() == "q2" && e.cell.phase == Phase::Hot).unwrap();
    assert_eq!((hot.median_s, hot.verdict), (None, Verdict::Wrong));
    assert_eq!(summary.failures.len(), 1);
    assert_eq!((summary.failures[0].kind, summary.failures[0].round), (FailureKind::Wrong, 2));
    assert!(summary.complete, "a wrong answer is a terminal record");
}

#[test]
fn a_run_with_an_open_trial_is_not_complete() {
    let mut run = run();
    let gone = run.records.remove(3).key;
    assert_eq!(run.open_trials(), [gone.as_str()]);
    assert!(!run.summary().complete);
}

#[test]
fn the_published_format_takes_round_ones_cold_and_first_two_hot_trials() {
    let run = run();
    let files = export::jsonbench(&run).unwrap();
    assert_eq!(files.len(), 1);
    insta::assert_json_snapshot!(files[0].file);
    assert_eq!((files[0].name().as_str(), files[0].comparable), ("mock_1_plain_default_100.json", true));
    let mut nothing = run.clone();
    nothing.records.clear();
    assert!(export::jsonbench(&nothing).is_err());
}

/// Applies a change to the trials of a step.
fn changed(run: &mut Run, step: &str, mut change: impl FnMut(&mut Trial)) {
    for record in &mut run.records {
        if let RecordBody::Trial(trial) = &mut record.body
            && trial.cell.step.word() == step
        {
            change(trial);
        }
    }
}

#[test]
fn what_was_wrong_in_any_round_or_compared_with_nothing_has_no_published_time() {
    let mut run = run();
    changed(&mut run, "q1", |trial| {
        if (trial.cell.phase, trial.round, trial.order) == (Phase::Hot, 2, 2) {
            trial.verdict = Verdict::Wrong;
            trial.seconds = None;
        }
    });
    changed(&mut run, "q2", |trial| trial.verdict = Verdict::Unverified);
    changed(&mut run, "q3", |trial| {
        if trial.cell.phase == Phase::Cold {
            trial.verdict = Verdict::Failed;
            trial.seconds = None;
        }
    });
    changed(&mut run, "q4", |trial| {
        if trial.cell.phase == Phase::Cold {
            // `cold-os` is the published definition of cold; it comes first here and must not be exported as
            // cold.
            trial.cell.phase = if trial.round == 1 { Phase::ColdOs } else { Phase::ColdUnverified };
        }
    });
    let file = &export::jsonbench(&run).unwrap()[0].file;
    assert_eq!(file.result[0], [Some(0.4), None, None]);
    assert_eq!(file.result[1], [None; 3]);
    assert_eq!(file.result[2], [None, Some(0.1), Some(0.101)]);
    assert_eq!(file.result[3], [None, Some(0.1), Some(0.101)]);
    assert_eq!(file.result[4], [Some(0.4), Some(0.1), Some(0.101)]);
    assert!(!file.tags.iter().any(|tag| tag == "cold-unverified"), "none of these is in the file");
    changed(&mut run, "q5", |trial| {
        if trial.cell.phase == Phase::Cold {
            trial.cell.phase = Phase::ColdUnverified;
        }
    });
    let file = &export::jsonbench(&run).unwrap()[0].file;
    assert_eq!(file.result[4][0], Some(0.4));
    assert!(file.tags.iter().any(|tag| tag == "cold-unverified"));
}

#[test]
fn only_what_was_seen_to_come_back_retains_its_structure() {
    for (retains, word) in [
        (RoundTripOutcome::Bytes, "yes"),
        (RoundTripOutcome::Value, "yes"),
        (RoundTripOutcome::Changed, "no"),
        (RoundTripOutcome::Unknown, "no"),
    ] {
        let mut run = run();
        for record in &mut run.records {
            if let RecordBody::Structure(structure) = &mut record.body {
                structure.retains = retains;
            }
        }
        assert_eq!(export::jsonbench(&run).unwrap()[0].file.retains_structure, word, "{retains:?}");
    }
}

#[test]
fn sizes_and_times_are_of_one_state_and_the_drained_one_where_there_is() {
    let mut run = run();
    let compacted: Vec<JournalRecord> = run
        .trials()
        .filter(|trial| trial.cell.step != Step::Load)
        .map(|trial| {
            let mut trial = trial.clone();
            trial.cell.state = Some(DataState::Compacted);
            trial.seconds = trial.seconds.map(|seconds| seconds / 2.0);
            trial.metrics.insert("total_bytes".into(), 1000.0);
            record(trial)
        })
        .collect();
    let drained = std::mem::take(&mut run.records);
    run.records.extend(compacted);
    run.records.extend(drained);
    let files = export::jsonbench(&run).unwrap();
    assert_eq!((files.len(), files[0].state), (1, DataState::Drained));
    assert_eq!((files[0].file.total_size, files[0].file.result[0][0]), (4096, Some(0.4)));

    run.records.retain(|record| {
        record.key.contains("compacted") || record.key.contains("/load/") || record.key.contains("/size/")
    });
    let files = export::jsonbench(&run).unwrap();
    assert_eq!(files[0].name(), "mock_1_plain_default_100_compacted.json");
    assert_eq!((files[0].file.total_size, files[0].file.result[0][0]), (1000, Some(0.2)));
    assert!(files[0].file.tags.iter().any(|tag| tag == "compacted"));
}

#[test]
fn a_result_file_is_never_written_over_and_comes_back_the_same() {
    let run = run();
    let exported = export::jsonbench(&run).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path().join("a/b");
    let paths = write_result_files(&at, &exported).unwrap();
    assert_eq!(paths, [at.join("mock_1_plain_default_100.json")]);
    let back = read_result_files(&at).unwrap();
    assert_eq!(back.iter().collect::<Vec<_>>(), exported.iter().map(|one| &one.file).collect::<Vec<_>>());
    let before = std::fs::read(&paths[0]).unwrap();
    let error = write_result_files(&at, &exported).unwrap_err();
    assert!(matches!(&error, ResultsError::Exists { path } if *path == paths[0]), "{error}");
    assert_eq!(std::fs::read(&paths[0]).unwrap(), before);
}

#[test]
fn published_scores_are_within_a_ranking_of_complete_and_comparable_results() {
    let mut run = run();
    let first = run.manifest.configurations[0].clone();
    for (variant, ranks_with, factor) in
        [("twice", "json-only", 2.0), ("partial", "json-only", 0.001), ("apart", "generated", 0.01)]
    {
        let mut other = first.clone();
        other.id.variant = variant.into();
        other.ranks_with = ranks_with.into();
        run.manifest.configurations.push(other);
        let more: Vec<JournalRecord> = run
            .trials()
            .filter(|trial| trial.cell.id.variant == "plain")
            .map(|trial| {
                let mut trial = trial.clone();
                trial.cell.id.variant = variant.into();
                trial.seconds = trial.seconds.map(|seconds| seconds * factor);
                if variant == "partial" && trial.cell.step.word() == "load" {
                    trial.verdict = Verdict::Partial;
                }
                record(trial)
            })
            .collect();
        run.records.extend(more);
    }
    let summary = run.summary();
    let of = |variant: &str| summary.published_scores.iter().find(|one| one.id.variant == variant).unwrap();
    assert_eq!(summary.published_scores.len(), 4);
    assert_eq!((of("plain").score.hot, of("plain").score.cold), (Some(1.0), Some(1.0)));
    let twice = of("twice").score;
    assert!((twice.hot.unwrap() - 0.21 / 0.11).abs() < 1e-9, "{twice:?}");
    assert!((twice.cold.unwrap() - 0.81 / 0.41).abs() < 1e-9, "{twice:?}");
    assert_eq!(twice.size, Some(1.0));
    assert_eq!(of("partial").score, Score::default());
    assert_eq!((of("apart").score.hot, of("apart").hot_answered), (Some(1.0), 5));

    run.manifest.plan.trials.push("one that is open".into());
    assert!(run.summary().published_scores.is_empty());
}

#[test]
fn csv_quotes_what_needs_it_and_has_a_column_a_metric() {
    let mut run = run();
    run.manifest.configurations[0].id.variant = "plain".into();
    let mut summary = run.summary();
    summary.results[0].cell.id.variant = "a \"b\", c".into();
    let text = export::csv(&summary);
    let header = text.lines().next().unwrap();
    let (identity, dimensions) =
        ("workload,system,version,variant,step,phase", "preparation,profile,scale,state,storage");
    assert!(header.starts_with(&format!("{identity},{dimensions},trials,median_s")), "{header}");
    assert!(header.contains("peak_pss_bytes") && header.contains("total_bytes"));
    assert!(text.contains("\"a \"\"b\"\", c\""));
    assert_eq!(text.lines().count(), summary.results.len() + 1);
}

#[test]
fn of_each_thing_the_last_finding_stays() {
    let mut run = run();
    changed(&mut run, "q1", |trial| {
        let crash = Finding::new(&format!("crash {}", trial.round), "nothing lost");
        let of_all = Finding::new("promise", format!("as of {}", trial.round));
        trial.findings = vec![crash, of_all];
    });
    let summary = run.summary();
    let entry = summary.results.iter().find(|entry| entry.cell.step.word() == "q1").unwrap();
    let rounds = run.trials().map(|trial| trial.round).max().unwrap();
    let found: Vec<&str> = entry.findings.iter().map(|finding| finding.subject.as_str()).collect();
    assert!(
        rounds > 1 && found.contains(&"crash 1") && found.contains(&format!("crash {rounds}").as_str()),
        "{found:?}"
    );
    assert_eq!(entry.finding("promise").unwrap().state.as_str(), format!("as of {rounds}"));
    assert_eq!(found.iter().filter(|of| **of == "promise").count(), 1);
}
