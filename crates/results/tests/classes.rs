//! Tests of preparation classes, memory profiles and hot phases: which cells may be compared.

use crate::support;

use jsonathlon_results::folder::RunFolder;
use jsonathlon_results::ratio_to_best::ComparisonTarget;
use jsonathlon_results::summary::{Run, Summary};
use jsonathlon_schema::id::ConfigurationId;
use jsonathlon_schema::manifest::Configuration;
use jsonathlon_schema::ranking::{MemoryProfile, PreparationClass};
use jsonathlon_schema::record::{Phase, RecordBody, Verdict};
use jsonathlon_schema::settings::StoppingRule;

use support::{cell, configuration, run, trial};

fn prepared(system: &str, preparation: PreparationClass, profile: MemoryProfile) -> Configuration {
    Configuration {
        id: ConfigurationId::new(system, "1", preparation.word(), "default"),
        preparation,
        profile: Some(profile),
        ranks_with: String::new(),
        ..configuration(system, "1")
    }
}

/// A run of these configurations, with hot Q1 times of the given seconds in five rounds.
fn timed(configurations: &[(Configuration, f64)]) -> Run {
    let all: Vec<Configuration> = configurations.iter().map(|(one, _)| one.clone()).collect();
    let mut made = run("made", &all);
    made.records.clear();
    for (one, seconds) in configurations {
        made.records.push(trial(cell(one, "load", Phase::Load), 1, Some(1.0)));
        for round in 1..=5 {
            made.records.push(trial(cell(one, "q1", Phase::Hot), round, Some(*seconds)));
        }
    }
    made
}

/// The configuration that each configuration is compared with, as `system variant profile`.
fn bests(summary: &Summary) -> Vec<(String, String)> {
    let name = |variant: &str, profile: Option<&str>| format!("{variant} {}", profile.unwrap_or("–"));
    summary
        .comparisons
        .iter()
        .filter(|one| one.compared_with == ComparisonTarget::Best && one.cell.phase == Phase::Hot)
        .map(|one| {
            let ConfigurationId { system, variant, .. } = &one.cell.id;
            let (other, other_profile) = (&one.other, one.other_profile.map(MemoryProfile::word));
            (
                name(&format!("{system} {variant}"), one.cell.profile.map(MemoryProfile::word)),
                name(&format!("{} {}", other.system, other.variant), other_profile),
            )
        })
        .collect()
}

#[test]
fn classes_and_profiles_are_never_in_one_ranking() {
    let made = timed(&[
        (prepared("a", PreparationClass::AsIs, MemoryProfile::Sized), 1.0),
        (prepared("b", PreparationClass::AsIs, MemoryProfile::Sized), 2.0),
        (prepared("a", PreparationClass::Prepared, MemoryProfile::Sized), 0.1),
        (prepared("b", PreparationClass::Prepared, MemoryProfile::Sized), 0.2),
        // The same system and variant, with the memory settings of its package.
        (prepared("a", PreparationClass::AsIs, MemoryProfile::Stock), 0.01),
    ]);
    let summary = made.summary();
    assert_eq!(
        summary.results.iter().filter(|entry| entry.cell.step.word() == "q1").count(),
        5,
        "each is a cell of its own"
    );
    let pairs = bests(&summary);
    let best = |of: &str| pairs.iter().find(|(one, _)| one == of).unwrap().1.as_str();
    assert_eq!(best("b as-is sized"), "a as-is sized");
    assert_eq!(best("b prepared sized"), "a prepared sized");
    assert_eq!(best("a as-is stock"), "a as-is stock", "the fastest of all is alone in its ranking");
    assert_eq!(pairs.len(), 5);
}

#[test]
fn what_is_not_ranked_is_held_against_nobody() {
    let published =
        Configuration { ranked: false, ..prepared("b", PreparationClass::Prepared, MemoryProfile::Sized) };
    let made = timed(&[
        (prepared("a", PreparationClass::Prepared, MemoryProfile::Sized), 1.0),
        (published.clone(), 0.1),
    ]);
    let pairs = bests(&made.summary());
    assert_eq!(pairs, [("a prepared sized".to_owned(), "a prepared sized".to_owned())]);
    assert!(published.ranking().ends_with("not ranked"), "{}", published.ranking());
}

#[test]
fn rankings_have_names_for_people() {
    let of = |preparation, profile, ranks_with: &str| {
        let one =
            Configuration { preparation, profile, ranks_with: ranks_with.into(), ..configuration("a", "1") };
        one.ranking()
    };
    let (prepared, sized, stock) =
        (PreparationClass::Prepared, Some(MemoryProfile::Sized), Some(MemoryProfile::Stock));
    assert_eq!(of(prepared, sized, ""), "prepared");
    assert_eq!(of(prepared, stock, ""), "prepared, stock");
    assert_eq!(of(prepared, sized, "approximate"), "prepared, approximate");
    assert_eq!(of(prepared, None, ""), "prepared, memory not stated", "a server by address");
}

/// Writes a run's records to a folder and reads them back, as every command does.
fn read_back(made: &Run) -> Run {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("run");
    let created = RunFolder::create(&place).unwrap();
    created.write_manifest(&made.manifest).unwrap();
    let (mut journal, _) = created.open_journal().unwrap();
    for record in &made.records {
        journal.append(record).unwrap();
    }
    drop((journal, created));
    Run::read(&place).unwrap()
}

/// Marks the hot trials of the first `count` rounds as reading from disk.
fn reading(made: &mut Run, count: u32) {
    for record in &mut made.records {
        if let RecordBody::Trial(trial) = &mut record.body
            && trial.cell.phase == Phase::Hot
            && trial.round <= count
        {
            trial.cell.phase = Phase::HotNotInMemory;
            trial.metrics.insert("read_bytes".into(), 5e8);
        }
    }
}

#[test]
fn a_cell_is_hot_as_a_whole_or_not_in_memory_as_a_whole() {
    for (count, phase) in
        [(0, Phase::Hot), (2, Phase::Hot), (3, Phase::HotNotInMemory), (5, Phase::HotNotInMemory)]
    {
        let mut made = timed(&[
            (prepared("a", PreparationClass::AsIs, MemoryProfile::Sized), 1.0),
            (prepared("b", PreparationClass::AsIs, MemoryProfile::Sized), 2.0),
        ]);
        made.records.retain(|record| !record.key.contains("/b@"));
        reading(&mut made, count);
        let summary = read_back(&made).summary();
        let cells: Vec<_> = summary.results.iter().filter(|entry| entry.cell.step.word() == "q1").collect();
        assert_eq!(cells.len(), 1, "{count} of 5");
        assert_eq!((cells[0].cell.phase, cells[0].trials), (phase, 5), "{count} of 5");
        assert!(cells[0].median_s.is_some() && cells[0].verdict == Verdict::Exact);
        // Cells that read from disk are not ranked with cells that do not.
        let is_compared = summary.comparisons.iter().any(|one| one.cell.step.word() == "q1");
        assert_eq!(is_compared, phase == Phase::Hot, "{count} of 5");
    }
}

#[test]
fn a_size_has_a_range_over_loads() {
    let one = prepared("a", PreparationClass::AsIs, MemoryProfile::Sized);
    let mut made = timed(&[(one.clone(), 1.0)]);
    for (round, bytes) in [(1, 3e6), (2, 1e6), (3, 2e6)] {
        let mut size = trial(cell(&one, "size", Phase::Steady), round, None);
        if let RecordBody::Trial(size) = &mut size.body {
            size.metrics = [("total_bytes".to_owned(), bytes)].into();
        }
        made.records.push(size);
    }
    let summary = made.summary();
    let size = summary
        .results
        .iter()
        .find(|entry| entry.cell.step.word() == "size" && entry.cell.id.system == "a")
        .unwrap();
    assert_eq!(size.metrics["total_bytes"], 2e6);
    assert_eq!((size.metrics["least_total_bytes"], size.metrics["most_total_bytes"]), (1e6, 3e6));
}

#[test]
fn precision_that_was_not_reached_is_said_cell_by_cell() {
    let mut made = timed(&[
        (prepared("still", PreparationClass::AsIs, MemoryProfile::Sized), 1.0),
        (prepared("wild", PreparationClass::AsIs, MemoryProfile::Sized), 1.0),
    ]);
    support::edit(
        &mut made,
        |trial| trial.cell.id.system == "wild" && trial.cell.step.word() == "q1",
        |trial| trial.seconds = Some(f64::from(trial.round)),
    );
    let without = made.summary();
    assert_eq!(without.precision, None);
    made.manifest.settings.run.stopping = StoppingRule::Precision { share: 0.05, seconds: 60.0 };
    let summary = made.summary();
    let precision = summary.precision.unwrap();
    assert_eq!((precision.share, precision.rounds), (0.05, 5));
    let missed: Vec<_> =
        precision.not_reached.iter().map(|one| (one.id.system.as_str(), one.step.word())).collect();
    // Each load was done once, so it has no interval.
    assert_eq!(missed, [("still", "load"), ("wild", "load"), ("wild", "q1")]);
    assert_eq!(precision.cells, 4);
    // Interim analyses have a price: each interval is wider than with a single analysis.
    let high = |summary: &[jsonathlon_results::summary::CellSummary]| {
        summary
            .iter()
            .find(|entry| entry.cell.id.system == "wild" && entry.cell.step.word() == "q1")
            .unwrap()
            .high_s
            .unwrap()
    };
    assert!(high(&summary.results) > high(&without.results));
    assert!(precision.alpha < 0.05);
}

#[test]
fn trials_beside_steal_are_counted() {
    let mut made = timed(&[(prepared("a", PreparationClass::AsIs, MemoryProfile::Sized), 1.0)]);
    support::edit(
        &mut made,
        |trial| trial.cell.step.word() == "q1",
        |trial| {
            trial.metrics.insert("machine_steal_share".into(), if trial.round > 3 { 0.05 } else { 0.0 });
        },
    );
    let steal = made.summary().cpu_steal;
    assert_eq!((steal.affected_trials, steal.recorded_trials), (2, 5));
}
