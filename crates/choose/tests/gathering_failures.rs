//! What failed in synthetic runs, or was measured on a part of the documents only.

use jsonathlon_choose::facts::{GatherContext, Measured, Part, SystemFacts, gather};
use jsonathlon_choose::judgement::{NeedState, judge};
use jsonathlon_choose::needs::{Need, RoundTripLevel, SizeAt};
use jsonathlon_results::test_fixtures::record;
use jsonathlon_schema::id::Step;
use jsonathlon_schema::record::{Failure, FailureKind, OPERATION, Phase, RecordBody, Trial, Verdict};

use crate::gathering::{Behaviour, P99, serving, state};

#[test]
fn a_failure_of_the_system_is_told_from_one_of_the_machine() {
    for (kind, verdict, expected) in [
        (FailureKind::Wrong, Verdict::Wrong, "not met"),
        (FailureKind::Crash, Verdict::Failed, "not met"),
        (FailureKind::Environment, Verdict::Failed, "not tested"),
    ] {
        let mut run = serving(&[Behaviour::new("a")]);
        for record in &mut run.records {
            if let RecordBody::Trial(trial) = &mut record.body
                && trial.cell.is_open_loop()
                && trial.round == 3
            {
                trial.verdict = verdict;
                trial.failure = Some(Failure::new(kind, "something happened\nat length"));
            }
        }
        let facts = gather(&[(Part::Serving, run)], &GatherContext::default()).remove(0);
        for need in [Need::Rate(1_000.0), P99] {
            let judgement = judge(&need, &facts);
            assert_eq!(judgement.state.word(), expected, "{kind}");
            assert!(judgement.figure.words.contains("something happened"), "{}", judgement.figure.words);
            assert!(!judgement.figure.words.contains("at length"));
        }
    }
}

/// The run of one system, of which the trials at a rate in round 3 are changed, and removed if `change` says so.
fn with_third_round(change: impl Fn(&mut Trial) -> bool) -> SystemFacts {
    let mut run = serving(&[Behaviour::new("a")]);
    run.records.retain_mut(|record| match &mut record.body {
        RecordBody::Trial(trial) if trial.cell.is_open_loop() && trial.round == 3 => change(trial),
        _ => true,
    });
    gather(&[(Part::Serving, run)], &GatherContext::default()).remove(0)
}

#[test]
fn a_trial_that_fails_outright_leaves_no_operations_and_fails_all_of_them() {
    for (kind, expected) in [(FailureKind::Crash, "not met"), (FailureKind::Environment, "not tested")] {
        // What is recorded then: the mix alone, without any metric.
        let facts = with_third_round(|trial| {
            trial.verdict = Verdict::Failed;
            trial.failure = Some(Failure::new(kind, "the server is gone"));
            trial.metrics.clear();
            !trial.cell.is_single_operation()
        });
        for need in [Need::Rate(1_000.0), P99] {
            let judgement = judge(&need, &facts);
            assert_eq!(judgement.state.word(), expected, "{kind}");
            assert!(judgement.figure.words.contains("the server is gone"), "{}", judgement.figure.words);
        }
    }
}

#[test]
fn a_server_that_dies_in_a_window_fails_whatever_it_reached() {
    let facts = with_third_round(|trial| {
        trial.verdict = Verdict::Partial;
        trial.failure = Some(Failure::new(FailureKind::Crash, "the server ended"));
        true
    });
    for need in [Need::Rate(1_000.0), P99] {
        let judgement = judge(&need, &facts);
        assert_eq!(judgement.state, NeedState::NotMet);
        assert!(judgement.figure.words.contains("the server ended"), "{}", judgement.figure.words);
    }
    let [fault] = facts.faults.as_slice() else { panic!("{:?}", facts.faults) };
    assert_eq!(
        (fault.part, fault.kind, fault.error.as_str()),
        (Part::Serving, FailureKind::Crash, "the server ended")
    );
    assert_eq!(fault.trials, 3, "three rates, each counted once");
}

#[test]
fn a_crash_counts_before_a_failure_of_the_machine() {
    let mut run = serving(&[Behaviour::new("a")]);
    for record in &mut run.records {
        if let RecordBody::Trial(trial) = &mut record.body
            && trial.cell.is_open_loop()
            && trial.round >= 4
        {
            let kind = if trial.round == 4 { FailureKind::Environment } else { FailureKind::Crash };
            trial.verdict = Verdict::Failed;
            trial.failure = Some(Failure::new(kind, kind.word()));
        }
    }
    let facts = gather(&[(Part::Serving, run)], &GatherContext::default()).remove(0);
    assert_eq!(state(Need::Rate(1_000.0), &facts), NeedState::NotMet);
}

#[test]
fn an_operation_that_never_came_is_not_tested() {
    let facts = with_third_round(|trial| {
        let operation = trial.cell.parameters.get(OPERATION).and_then(|name| name.as_str());
        if operation == Some("update") {
            trial.verdict = Verdict::Failed;
            trial.failure = Some(Failure::new(FailureKind::Environment, "none arrived"));
        }
        true
    });
    assert_eq!(state(P99, &facts), NeedState::NotTested("update: none arrived".to_owned()));
    assert_eq!(state(Need::Rate(1_000.0), &facts), NeedState::Met);
    assert!(facts.faults.is_empty());
}

#[test]
fn documents_that_are_lost_after_the_load_void_it() {
    let mut run = serving(&[Behaviour::new("a")]);
    let found = run.trials().find(|trial| trial.cell.step == Step::Load).unwrap();
    let mut fault = Trial { order: 1, verdict: Verdict::Wrong, ..Trial::blank(found.cell.clone(), 1, 1) };
    fault.failure = Some(Failure::new(FailureKind::Wrong, "2 documents were accepted and are not found"));
    run.records.push(record(fault));
    run.records.retain(|record| !matches!(record.body, RecordBody::Structure(_)));
    // The questions loaded the documents once more, and nothing was lost then.
    let runs = [(Part::Serving, run), (Part::Questions, serving(&[Behaviour::new("a")]))];
    let facts = gather(&runs, &GatherContext::default()).remove(0);
    let size = Need::Size { at: SizeAt::Now(None), below_bytes: 1e12 };
    for need in [Need::Rejected(0.0), Need::RoundTrip(RoundTripLevel::Anything), size] {
        let judgement = judge(&need, &facts);
        assert_eq!(judgement.state, NeedState::NotMet, "{need:?}");
        assert!(judgement.figure.words.contains("2 documents were accepted"), "{}", judgement.figure.words);
    }
    assert_eq!(facts.faults.len(), 1);
}

#[test]
fn half_of_the_documents_are_no_substitute_for_all() {
    for (kind, expected) in [(FailureKind::Environment, "not tested"), (FailureKind::Timeout, "not met")] {
        let mut full = serving(&[Behaviour::new("a")]);
        full.records.retain_mut(|record| match &mut record.body {
            RecordBody::Trial(trial) if trial.cell.step == Step::Load => {
                trial.verdict = Verdict::Failed;
                trial.metrics.clear();
                trial.failure = Some(Failure::new(kind, "it took too long"));
                true
            }
            _ => false,
        });
        let runs = [(Part::Serving, full), (Part::Half, serving(&[Behaviour::new("a")]))];
        let facts = gather(&runs, &GatherContext::default()).remove(0);
        assert!(facts.sizes.iter().any(|point| point.bytes.value().is_some()), "half of them were loaded");
        let judgement = judge(&Need::Size { at: SizeAt::Now(None), below_bytes: 1e12 }, &facts);
        assert_eq!(judgement.state.word(), expected, "{}", judgement.figure.words);
        assert!(judgement.figure.words.contains("it took too long"), "{}", judgement.figure.words);
    }
}

#[test]
fn rejected_documents_that_the_user_allows_leave_no_doubt() {
    let rejecting = || {
        let mut run = serving(&[Behaviour { rejected: 10, ..Behaviour::new("a") }]);
        for record in &mut run.records {
            if let RecordBody::Trial(trial) = &mut record.body
                && trial.cell.step == Step::Load
            {
                trial.verdict = Verdict::Partial;
            }
        }
        run
    };
    let size = Need::Size { at: SizeAt::Now(None), below_bytes: 1e6 };
    for (rejectable, expected) in [(0.01, "met"), (0.009, "not shown")] {
        let context = GatherContext { rejectable, ..GatherContext::default() };
        let facts = gather(&[(Part::Serving, rejecting())], &context).remove(0);
        for need in [P99, Need::Rate(1_000.0), size] {
            let judgement = judge(&need, &facts);
            assert_eq!(judgement.state.word(), expected, "{need:?}: {}", judgement.figure.words);
        }
        let capacity = facts.capacity.as_ref().and_then(Measured::value).unwrap();
        assert!(capacity.lacks_documents, "it is not compared with systems that hold all");
    }
    // What was not verified stays so.
    let mut run = rejecting();
    for record in &mut run.records {
        if let RecordBody::Trial(trial) = &mut record.body
            && trial.cell.phase == Phase::Measured
        {
            trial.verdict = Verdict::Unverified;
        }
    }
    let context = GatherContext { rejectable: 0.5, ..GatherContext::default() };
    let facts = gather(&[(Part::Serving, run)], &context).remove(0);
    assert_eq!(state(P99, &facts), NeedState::NotShown);
}

#[test]
fn the_reason_why_a_figure_is_partial_is_that_of_its_trial() {
    let facts = with_third_round(|trial| {
        trial.verdict = Verdict::Partial;
        trial.failure = Some(Failure::new(FailureKind::Refused, "1 of 2 executions failed: no such table"));
        true
    });
    let judgement = judge(&P99, &facts);
    assert_eq!(judgement.state, NeedState::NotShown);
    assert!(judgement.figure.words.ends_with("; 1 of 2 executions failed: no such table"));
}

#[test]
fn unverified_and_partial_figures_meet_nothing() {
    for (verdict, words) in [
        (Verdict::Unverified, "answers were not verified"),
        (Verdict::Partial, "more than 0.1 % of the operations failed"),
    ] {
        let mut run = serving(&[Behaviour::new("a")]);
        for record in &mut run.records {
            if let RecordBody::Trial(trial) = &mut record.body
                && trial.cell.phase == Phase::Measured
            {
                trial.verdict = verdict;
            }
        }
        let facts = gather(&[(Part::Serving, run)], &GatherContext::default()).remove(0);
        let judgement = judge(&P99, &facts);
        assert_eq!(judgement.state, NeedState::NotShown);
        assert!(judgement.figure.words.contains(words), "{}", judgement.figure.words);
        assert_eq!(state(Need::Rate(1_000.0), &facts), NeedState::NotShown);
    }
}

#[test]
fn a_load_that_failed_is_the_reason_of_everything_after_it() {
    for (kind, is_of_machine) in [(FailureKind::Refused, false), (FailureKind::Environment, true)] {
        check_failed_load(kind, is_of_machine);
    }
}

fn check_failed_load(kind: FailureKind, is_of_machine: bool) {
    let mut run = serving(&[Behaviour::new("a")]);
    run.records
        .retain(|record| matches!(&record.body, RecordBody::Trial(trial) if trial.cell.step == Step::Load));
    for record in &mut run.records {
        if let RecordBody::Trial(trial) = &mut record.body {
            trial.verdict = Verdict::Failed;
            trial.metrics.clear();
            trial.failure = Some(Failure::new(kind, "no space for this"));
        }
    }
    let facts = gather(&[(Part::Serving, run)], &GatherContext::default()).remove(0);
    let expected = match is_of_machine {
        true => NeedState::NotTested("the load failed: no space for this".to_owned()),
        false => NeedState::NotMet,
    };
    for need in [Need::Rejected(0.0), Need::RoundTrip(RoundTripLevel::Anything), P99, Need::Rate(1.0)] {
        assert_eq!(state(need, &facts), expected, "{need:?}");
    }
}
