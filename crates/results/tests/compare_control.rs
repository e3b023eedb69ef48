//! Tests of differences between runs as a whole, of separate classes and profiles, and of two sides of one
//! run.

use crate::support;

use jsonathlon_results::ResultsError;
use jsonathlon_results::compare::{Outcome, RunComparison, SidePair, compare, compare_sides};
use jsonathlon_results::ratio_to_best::Significance;
use jsonathlon_results::summary::Run;
use jsonathlon_schema::id::ConfigurationId;
use jsonathlon_schema::manifest::Configuration;
use jsonathlon_schema::ranking::{MemoryProfile, PreparationClass};
use jsonathlon_schema::record::Phase;

use support::{configuration, control, edit, gate, one, run, times};

const SLOWER: Outcome = Outcome::Timed(Significance::Slower);
const NONE_SHOWN: Outcome = Outcome::Timed(Significance::NotSignificant);

/// A run whose control takes about `factor` seconds, varying by round by up to 2 %.
fn controlled(name: &str, configurations: &[Configuration], factor: f64) -> Run {
    let mut run = run(name, configurations);
    for round in 1..=5 {
        for order in 0..2 {
            let seconds = factor * (1.0 + 0.01 * f64::from(round % 3));
            run.records.push(control(round, order, [seconds, 2.0 * seconds]));
        }
    }
    run
}

fn close(got: f64, want: f64) {
    assert!((got / want - 1.0).abs() < 1e-6, "{got} is not {want}");
}

#[test]
fn a_machine_that_was_slower_is_divided_out() {
    let a = controlled("a", &[configuration("ma", "1")], 1.0);
    let mut b = controlled("b", &[configuration("ma", "1")], 1.2);
    edit(&mut b, |_| true, times(1.2));
    let comparison = compare(&a, &b, false).unwrap();
    let control = comparison.control.unwrap();
    close(control.both.ratio, 1.2);
    close(control.memory.ratio, 1.2);
    close(control.compute.ratio, 1.2);
    assert!(control.both.low.unwrap() < 1.2 && control.both.high.unwrap() > 1.2, "it scatters");
    assert_eq!((control.measurements_a, control.measurements_b), (10, 10));
    let hot = one(&comparison, "q1 hot");
    close(hot.ratio.unwrap(), 1.2);
    close(hot.divided_by_control.unwrap().ratio, 1.0);
    // Both outcomes are reported, but only one of them is tested.
    assert_eq!((hot.outcome, hot.raw_outcome), (NONE_SHOWN, Some(Significance::Slower)));
    assert!(gate(&comparison).passed);
    assert_eq!(comparison.cells.len(), 4, "the control is no cell");
    assert_eq!(
        one(&comparison, "size, drained").divided_by_control,
        None,
        "bytes are as many on a slow machine"
    );
    assert!(comparison.only_in_a.is_empty() && comparison.only_in_b.is_empty());
    // The divided ratio includes the scatter of the control.
    let width = |low: Option<f64>, high: Option<f64>| (high.unwrap() / low.unwrap()).ln();
    let divided = hot.divided_by_control.unwrap();
    assert!(width(divided.low, divided.high) > width(hot.low, hot.high));
    // A system that was slower while the machine was faster.
    let b = controlled("b", &[configuration("ma", "1")], 0.8);
    let hot = one(&compare(&a, &b, false).unwrap(), "q1 hot");
    assert_eq!((hot.outcome, hot.raw_outcome), (SLOWER, Some(Significance::NotSignificant)));
    close(hot.tested_ratio().unwrap(), 1.25);
}

#[test]
fn without_a_control_ratios_are_raw() {
    let a = controlled("a", &[configuration("ma", "1")], 1.0);
    let mut b = run("b", &[configuration("ma", "1")]);
    edit(&mut b, |trial| trial.cell.phase == Phase::Hot, times(1.3));
    let comparison = compare(&a, &b, false).unwrap();
    assert_eq!(comparison.control, None);
    let hot = one(&comparison, "q1 hot");
    assert_eq!((hot.divided_by_control, hot.raw_outcome, hot.outcome), (None, None, SLOWER));
    assert!(!gate(&comparison).passed);
}

/// The control of a debug build does less work, so its times say nothing about a release build's machine.
#[test]
fn controls_that_did_other_work_divide_nothing() {
    let a = controlled("a", &[configuration("ma", "1")], 1.0);
    let mut b = controlled("b", &[configuration("ma", "1")], 0.1);
    edit(
        &mut b,
        |trial| trial.cell.id.system == "control",
        |trial| trial.cell.id.version = "1-debug".to_owned(),
    );
    let comparison = compare(&a, &b, false).unwrap();
    assert_eq!(comparison.control, None);
    assert!(comparison.cells.iter().all(|cell| cell.divided_by_control.is_none()));
    assert!(compare(&b, &b, false).unwrap().control.is_some());
}

/// Even exactly equal rounds leave an uncertainty about differences between whole runs.
#[test]
fn runs_as_wholes_are_never_equal_to_the_last_digit() {
    let mut a = controlled("a", &[configuration("ma", "1")], 1.0);
    edit(&mut a, |trial| trial.seconds.is_some(), |trial| trial.seconds = Some(1.0));
    let mut b = a.clone();
    edit(&mut b, |_| true, times(1.05));
    let hot = one(&compare(&a, &b, false).unwrap(), "q1 hot");
    assert!(hot.low.unwrap() < 1.0 && hot.outcome == NONE_SHOWN, "{hot:?}");
}

fn classed(
    system: &str,
    preparation: PreparationClass,
    profile: MemoryProfile,
    memory: u64,
) -> Configuration {
    let mut of = configuration(system, "1");
    of.preparation = preparation;
    of.profile = Some(profile);
    of.memory_bytes = Some(memory);
    of
}

#[test]
fn a_budget_is_a_difference_and_a_profile_is_another_cell() {
    let prepared = classed("ma", PreparationClass::Prepared, MemoryProfile::Sized, 1 << 30);
    let a = run("a", std::slice::from_ref(&prepared));
    let more = run("b", &[classed("ma", PreparationClass::Prepared, MemoryProfile::Sized, 1 << 31)]);
    let comparison = compare(&a, &more, false).unwrap();
    assert_eq!(comparison.cells.len(), 4);
    assert_eq!(one(&comparison, "q1 hot").class, "prepared, json-only");
    let memory = comparison.differences.iter().find(|one| one.name.ends_with("memory budget")).unwrap();
    assert_eq!((memory.a.as_str(), memory.b.as_str()), ("1073 MB", "2147 MB"));
    for other in [
        classed("ma", PreparationClass::Prepared, MemoryProfile::Stock, 1 << 30),
        classed("ma", PreparationClass::AsIs, MemoryProfile::Sized, 1 << 30),
    ] {
        let error = compare(&a, &run("b", std::slice::from_ref(&other)), false).unwrap_err().to_string();
        assert!(error.contains("no cell in common"), "{error}");
        let both =
            run("b", &[prepared.clone(), classed("mb", PreparationClass::AsIs, MemoryProfile::Sized, 1)]);
        let comparison = compare(&both, &a, false).unwrap();
        assert_eq!(comparison.only_in_a[0].class, "as-is, json-only");
    }
}

#[test]
fn hot_that_reads_from_the_disk_is_not_compared_with_hot() {
    let a = run("a", &[configuration("ma", "1")]);
    let mut b = a.clone();
    edit(&mut b, |trial| trial.cell.phase == Phase::Hot, |trial| trial.cell.phase = Phase::HotNotInMemory);
    let comparison = compare(&a, &b, false).unwrap();
    let cell = one(&comparison, "q1 hot-not-in-memory");
    assert_eq!((cell.outcome, cell.ratio), (Outcome::NotCompared, None));
    assert_eq!(cell.note.as_deref(), Some("hot in A; hot, not in memory in B"));
    // Compared with itself there is no difference, and the gate does not test it.
    let comparison = compare(&b, &b, false).unwrap();
    assert_eq!(one(&comparison, "q1 hot-not-in-memory").outcome, NONE_SHOWN);
    let gate = gate(&comparison);
    assert_eq!((gate.passed, gate.tested, gate.not_tested), (false, 0, 2));
}

/// Two binaries with two variants each, and another system.
fn binaries() -> Run {
    let of = |system: &str, variant: &str| {
        let mut of = configuration(system, "1");
        of.id.variant = variant.into();
        of
    };
    run("a", &[of("ma#1", "x"), of("ma#1", "y"), of("ma#2", "x"), of("ma#2", "y"), of("mb", "x")])
}

fn between(run: &Run, text: &str) -> Result<RunComparison, ResultsError> {
    compare_sides(run, &SidePair::parse(text).unwrap())
}

#[test]
fn two_binaries_of_one_run_are_paired_by_round() {
    let mut made = binaries();
    // Effects of a round on all cells cancel out; effects of a binary do not.
    edit(
        &mut made,
        |_| true,
        |trial| {
            let factor = f64::from(trial.round);
            trial.seconds = trial.seconds.map(|seconds| seconds * factor);
        },
    );
    let equal = between(&made, "ma#1,ma#2").unwrap();
    assert!(equal.within_one_run && equal.control.is_none() && equal.differences.len() == 2);
    assert_eq!((equal.a.part.as_deref(), equal.b.part.as_deref()), (Some("ma#1"), Some("ma#2")));
    assert!(equal.only_in_a.is_empty() && equal.only_in_b.is_empty(), "mb is on neither side");
    assert_eq!((equal.cells.len(), equal.counts.none_shown, equal.counts.sizes_alike), (8, 6, 2));
    assert!(gate(&equal).passed);
    let is_slow = |trial: &jsonathlon_schema::record::Trial| {
        trial.cell.id.system == "ma#2" && trial.cell.id.variant == "y" && trial.cell.phase == Phase::Hot
    };
    edit(&mut made, is_slow, times(1.1));
    let slower = between(&made, "ma#1,ma#2").unwrap();
    assert_eq!(slower.counts.slower, 1);
    let gate = gate(&slower);
    assert_eq!(gate.reasons.len(), 1);
    assert_eq!(gate.reasons[0].text, "ma#2 1 y default: q1 hot takes 1.10 times as long");
    assert_eq!(between(&made, "ma#2,ma#1").unwrap().counts.faster, 1);
}

#[test]
fn single_configurations_go_together_whatever_they_are() {
    let made = binaries();
    let comparison = between(&made, "ma#1/x,mb").unwrap();
    let hot = one(&comparison, "q1 hot");
    assert_eq!((hot.a.id.system.as_str(), hot.id.system.as_str()), ("ma#1", "mb"));
    let comparison = between(&made, "ma#1@1/x/default,ma#1/y").unwrap();
    let hot = one(&comparison, "q1 hot");
    assert_eq!((hot.a.id.variant.as_str(), hot.id.variant.as_str(), hot.outcome), ("x", "y", NONE_SHOWN));
    assert!(comparison.differences.iter().any(|one| one.name.ends_with("variant")));
    // One side has a variant that the other lacks.
    let comparison = between(&made, "ma#1,mb").unwrap();
    assert_eq!(comparison.only_in_a.len(), 1);
    assert_eq!((comparison.cells.len(), comparison.only_in_a[0].id.variant.as_str()), (4, "y"));
}

#[test]
fn versions_of_one_run_are_compared() {
    let made = run("a", &[configuration("ma", "1"), configuration("ma", "2")]);
    let comparison = between(&made, "ma@1,ma@2").unwrap();
    assert_eq!(one(&comparison, "q1 hot").outcome, NONE_SHOWN);
    let error = between(&made, "ma@1,ma").unwrap_err().to_string();
    assert!(error.contains("both mean ma@1/plain/default"), "{error}");
}

#[test]
fn sides_that_are_none_are_refused_clearly() {
    let mut made = binaries();
    let refused = |text: &str, words: &str| {
        let error =
            SidePair::parse(text).and_then(|sides| compare_sides(&made, &sides)).unwrap_err().to_string();
        assert!(error.contains(words), "{error}");
    };
    refused("ma#1", "not two names separated by a comma");
    refused("ma#1,ma#2,mb", "not two names");
    refused("ma#1,ma#1", "both sides are the same");
    refused("ma#1,", "\"\" is not a name");
    refused("ma#1,mb//y", "is not a name");
    refused("ma#1,mc", "the run has no mc; it has ma#1@1/x/default/sized, ma#1@1/y/default/sized, ma#2");
    refused("ma#1@2,mb", "the run has no ma#1@2");
    let y = |run: &mut Run| {
        run.manifest.configurations.retain(|one| one.id.system != "ma#2" || one.id.variant == "z")
    };
    let mut of = configuration("ma#2", "1");
    of.id.variant = "z".into();
    made.manifest.configurations.extend([
        of.clone(),
        Configuration { id: ConfigurationId { version: "2".into(), ..of.id.clone() }, ..of },
    ]);
    y(&mut made);
    let error = between(&made, "ma#1,ma#2").unwrap_err().to_string();
    assert!(error.contains("no configuration in common"), "{error}");
    let made = run("a", &[configuration("ma", "1"), configuration("ma", "2"), configuration("mb", "1")]);
    let error = between(&made, "ma,mb").unwrap_err().to_string();
    assert!(
        error.contains("ma leaves open which is meant: ma@1/plain/default/sized, ma@2/plain/default/sized"),
        "{error}"
    );
}
