//! Tests of the regression gate on two synthetic runs.

use crate::support;

use jsonathlon_results::compare::{Outcome, ReasonKind, SizeChange, compare};
use jsonathlon_results::ratio_to_best::Significance;
use jsonathlon_schema::record::{Phase, Verdict};

use support::{configuration, edit, fail, gate, kinds, one, run, times, without};

const SLOWER: Outcome = Outcome::Timed(Significance::Slower);
const FASTER: Outcome = Outcome::Timed(Significance::Faster);
const NONE_SHOWN: Outcome = Outcome::Timed(Significance::NotSignificant);

#[test]
fn what_is_missing_does_not_pass() {
    let a = run("a", &[configuration("ma", "1")]);
    let mut b = a.clone();
    b.records.pop();
    assert!(
        compare(&b, &a, false).unwrap().with_gate(0.05, false).gate.unwrap().passed,
        "A may lack something"
    );
    let comparison = compare(&a, &b, false).unwrap();
    assert_eq!((comparison.a.open_trials, comparison.b.open_trials), (0, 1));
    let gate = comparison.with_gate(0.05, false).gate.unwrap();
    assert!(!gate.passed && gate.reasons[0].text.contains("not complete"), "{gate:?}");
}

#[test]
fn what_was_right_and_is_gone_does_not_pass_unless_it_may_be_missing() {
    let a = run("a", &[configuration("ma", "1"), configuration("mb", "1"), configuration("yardstick", "1")]);
    let mut b = without(&a, |key| key.contains("/mb@") || key.contains("ma@1/plain/q1/cold;"));
    b.manifest.configurations.retain(|one| one.id.system != "mb");
    let comparison = compare(&a, &b, false).unwrap();
    let strict = gate(&comparison);
    assert_eq!(strict.not_compared, 5);
    let texts: Vec<&str> = strict.reasons.iter().map(|reason| reason.text.as_str()).collect();
    assert_eq!(
        texts,
        [
            "ma 1 plain default: 1 cell that was right in A is missing or not comparable in B (q1 cold)",
            "mb 1 plain default: all 4 cells that were right in A are missing or not comparable in B",
        ]
    );
    let lenient = comparison.with_gate(0.05, true).gate.unwrap();
    assert!(lenient.passed && lenient.allow_missing);
    assert_eq!(lenient.not_compared, 5);
    // Cells that were wrong in A, and reference configurations, are not missed.
    let mut wrong = a.clone();
    edit(&mut wrong, |trial| trial.cell.id.system == "mb" || trial.cell.phase == Phase::Cold, fail);
    let b = without(&b, |key| key.contains("/yardstick@"));
    assert!(gate(&compare(&wrong, &b, false).unwrap()).passed);
    // All cells of a configuration that is planned in both runs.
    let b = without(&a, |key| key.contains("/mb@"));
    let strict = gate(&compare(&a, &b, false).unwrap());
    assert!(
        matches!(strict.reasons.as_slice(), [one] if one.text.contains("mb 1 plain default: all 4 cells"))
    );
}

#[test]
fn cold_that_is_not_verified_any_more_does_not_pass() {
    let a = run("a", &[configuration("ma", "1")]);
    let mut b = a.clone();
    edit(&mut b, |trial| trial.cell.phase == Phase::Cold, |trial| trial.cell.phase = Phase::ColdUnverified);
    let comparison = compare(&a, &b, false).unwrap();
    let strict = gate(&comparison);
    assert_eq!(kinds(&strict), [ReasonKind::Missing]);
    assert!(strict.reasons[0].text.contains("(q1 cold-unverified)"), "{strict:?}");
    assert!(comparison.with_gate(0.05, true).gate.unwrap().passed);
    // With `--allow-missing`, fewer loaded documents are still a failure.
    let mut b = a.clone();
    edit(&mut b, |trial| trial.cell.phase == Phase::Load, |trial| trial.verdict = Verdict::Partial);
    let partial = compare(&a, &b, false).unwrap().with_gate(0.05, true).gate.unwrap();
    assert!(
        kinds(&partial).iter().all(|kind| *kind == ReasonKind::NowFails || *kind == ReasonKind::Untested)
    );
    assert_eq!(partial.reasons.len(), 5, "a load, a size, a question cold and hot, and nothing left to test");
}

#[test]
fn a_size_that_cannot_be_taken_now_fails() {
    let a = run("a", &[configuration("ma", "1")]);
    let mut b = a.clone();
    edit(&mut b, |trial| trial.cell.phase == Phase::Steady, fail);
    let comparison = compare(&a, &b, false).unwrap();
    let size = one(&comparison, "size, drained");
    assert_eq!(
        (size.outcome, size.a.verdict, size.b.verdict),
        (Outcome::NowFails, Verdict::Exact, Verdict::Failed)
    );
    let strict = gate(&comparison);
    assert!(matches!(strict.reasons.as_slice(), [one] if one.text.contains("size, drained now fails")));
    let told = &comparison.sizes[0];
    assert_eq!(
        (told.quantity, told.a_bytes, told.b_bytes, told.ratio),
        ("size, drained", Some(5e6), None, None)
    );
    assert_eq!(one(&compare(&b, &a, false).unwrap(), "size, drained").outcome, Outcome::NowAnswers);
    assert_eq!(one(&compare(&b, &b, false).unwrap(), "size, drained").outcome, Outcome::NoTime);
    let same = one(&compare(&a, &a, false).unwrap(), "size, drained");
    assert_eq!((same.outcome, same.ratio), (Outcome::Sized(SizeChange::Same), Some(1.0)), "both have bytes");
    // A size that only one of the runs has.
    let comparison = compare(&a, &without(&a, |key| key.contains("/size/")), false).unwrap();
    assert_eq!(comparison.only_in_a[0].cells, ["size, drained"]);
    assert_eq!(comparison.sizes[0].b_bytes, None);
    assert_eq!(kinds(&gate(&comparison)), [ReasonKind::Missing]);
}

#[test]
fn what_has_no_interval_is_not_tested() {
    let a = run("a", &[configuration("ma", "1")]);
    let single = without(&a, |key| !key.ends_with("#1.0"));
    let strict = gate(&compare(&a, &a, false).unwrap());
    assert_eq!((strict.passed, strict.tested, strict.not_tested, strict.without_interval), (true, 1, 1, 1));
    for (a, b) in [(&single, &single), (&a, &single), (&single, &a)] {
        let gate = compare(a, b, false).unwrap().with_gate(1e6, true).gate.unwrap();
        assert_eq!(kinds(&gate), [ReasonKind::Untested]);
        assert_eq!((gate.passed, gate.tested, gate.without_interval), (false, 0, 3));
        assert!(gate.reasons[0].text.contains("no time could be tested"), "{gate:?}");
    }
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
    let passes = |share: f64| comparison.clone().with_gate(share, false).gate.unwrap().passed;
    assert!(!passes(0.0) && !passes(0.05) && passes(0.25));
    let reasons = comparison.clone().with_gate(0.05, false).gate.unwrap().reasons;
    assert!(matches!(reasons.as_slice(), [one] if one.text.contains("q1 hot takes 1.20 times as long")));
}
