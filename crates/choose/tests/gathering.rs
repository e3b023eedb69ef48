//! What is gathered of synthetic runs: rates, response times, loads and failures land where they belong.

use std::collections::BTreeMap;

use jsonathlon_choose::Dimension;
use jsonathlon_choose::facts::{GatherContext, LeftOut, Measured, Part, SystemFacts, gather};
use jsonathlon_choose::judgement::{NeedState, judge};
use jsonathlon_choose::needs::{Need, Quantile, RoundTripLevel, SizeAt};
use jsonathlon_results::run::Run;
use jsonathlon_results::test_fixtures::{self, configuration, record};
use jsonathlon_schema::id::{DataState, Step};
use jsonathlon_schema::manifest::Configuration;
use jsonathlon_schema::metric::{
    DOCUMENTS_LOADED, DOCUMENTS_OFFERED, DOCUMENTS_REJECTED, MISSED_ARRIVALS, MetricDef, OPERATIONS,
    PLANNED_ARRIVALS, QUESTION_P50_US, THROUGHPUT_OPS_PER_S, TOTAL_BYTES, UNFINISHED_ARRIVALS,
};
use jsonathlon_schema::record::{
    ARRIVAL, CLIENTS, CLOSED, Cell, JournalRecord, OPERATION, Phase, RATE_PER_S, Reason, RecordBody, Rejects,
    RoundTripOutcome, RoundTripReport, STREAMS, Trial, Verdict,
};
use jsonathlon_schema::workload::WorkloadKind;
use jsonathlon_stats::histogram::Histogram;

const ROUNDS: u32 = 5;

/// One system of a synthetic run, and how it behaves.
pub(crate) struct Behaviour {
    pub(crate) configuration: Configuration,
    /// Share of the rate that it holds.
    pub(crate) holds: f64,
    /// Response time in microseconds.
    pub(crate) response_us: f64,
    pub(crate) changed: u64,
    pub(crate) rejected: u64,
}

impl Behaviour {
    pub(crate) fn new(system: &str) -> Self {
        let mut configuration = configuration(system, "1.0");
        configuration.title = system.to_uppercase();
        Self { configuration, holds: 1.0, response_us: 3_000.0, changed: 0, rejected: 0 }
    }

    fn cell(&self, step: &str, phase: Phase, parameters: &[(&str, serde_json::Value)]) -> Cell {
        let mut cell = test_fixtures::cell(&self.configuration, step, phase);
        cell.workload = WorkloadKind::Serving.into();
        cell.parameters.extend(parameters.iter().map(|(name, value)| ((*name).to_owned(), value.clone())));
        cell
    }
}

fn with_metrics(mut trial: Trial, metrics: &[(MetricDef, f64)]) -> JournalRecord {
    trial.metrics.extend(metrics.iter().map(|(metric, value)| (metric.name.to_owned(), *value)));
    record(trial)
}

fn exact(cell: Cell, round: u32) -> Trial {
    Trial { verdict: Verdict::Exact, ..Trial::blank(cell, round, 0) }
}

/// Histogram text in which all of 4,000 values are about this long.
fn histogram(us: f64) -> String {
    let mut histogram = Histogram::new();
    for number in 0..4_000_u32 {
        histogram.record_ns((us * 1e3 * (1.0 + f64::from(number % 7) / 1_000.0)) as u64);
    }
    histogram.to_text()
}

fn load(behaviour: &Behaviour) -> Vec<JournalRecord> {
    let cell = behaviour.cell("load", Phase::Load, &[]);
    let loaded = 1_000 - behaviour.rejected;
    let trial = Trial { seconds: Some(1.0), ..exact(cell.clone(), 1) };
    let mut records = vec![with_metrics(
        trial,
        &[
            (DOCUMENTS_OFFERED, 1_000.0),
            (DOCUMENTS_LOADED, loaded as f64),
            (DOCUMENTS_REJECTED, behaviour.rejected as f64),
        ],
    )];
    if behaviour.rejected > 0 {
        let reason = Reason { documents: behaviour.rejected, first: None, remedy: None };
        let rejects = Rejects {
            cell: cell.clone(),
            file: None,
            reasons: BTreeMap::from([("too deep".to_owned(), reason)]),
        };
        records.push(JournalRecord::new("rejects".to_owned() + &cell.key(), RecordBody::Rejects(rejects)));
    }
    let structure = behaviour.cell("structure", Phase::Steady, &[]);
    let report = RoundTripReport {
        cell: structure.clone(),
        retains: if behaviour.changed > 0 { RoundTripOutcome::Changed } else { RoundTripOutcome::Value },
        compared: loaded,
        equal_bytes: 0,
        equal_value: loaded - behaviour.changed,
        changes: BTreeMap::new(),
        notes: Vec::new(),
    };
    records
        .push(JournalRecord::new("structure".to_owned() + &structure.key(), RecordBody::Structure(report)));
    for round in 1..=3 {
        let mut size = behaviour.cell("size", Phase::Steady, &[]);
        size.state = Some(DataState::Drained);
        records.push(with_metrics(exact(size, round), &[(TOTAL_BYTES, 5e5 + f64::from(round))]));
    }
    records
}

/// Trials at rates of 500, 1,000 and 2,000 operations per second, and in a closed loop.
fn work(behaviour: &Behaviour) -> Vec<JournalRecord> {
    let mut records = Vec::new();
    for round in 1..=ROUNDS {
        let closed = [(ARRIVAL, CLOSED.into()), (CLIENTS, 16.into())];
        let capacity = [(THROUGHPUT_OPS_PER_S, 9_000.0 + f64::from(round))];
        records.push(with_metrics(exact(behaviour.cell("own", Phase::Measured, &closed), round), &capacity));
        // Beside reports it does less, and that is another cell.
        let beside = [closed.as_slice(), &[(STREAMS, 1.into())]].concat();
        let less = [(THROUGHPUT_OPS_PER_S, 99_000.0)];
        records.push(with_metrics(exact(behaviour.cell("own", Phase::Measured, &beside), round), &less));
        for rate in [500.0, 1_000.0, 2_000.0] {
            let open = [
                (ARRIVAL, "poisson".into()),
                (CLIENTS, 16.into()),
                (RATE_PER_S, serde_json::Value::from(rate)),
            ];
            let planned = rate * 10.0;
            let holds = if rate < 1_500.0 { 1.0 } else { behaviour.holds };
            let metrics = [
                (THROUGHPUT_OPS_PER_S, rate * holds),
                (OPERATIONS, planned * holds),
                (PLANNED_ARRIVALS, planned),
                (MISSED_ARRIVALS, planned * (1.0 - holds)),
                (UNFINISHED_ARRIVALS, f64::from(round % 2)),
            ];
            records.push(with_metrics(exact(behaviour.cell("own", Phase::Measured, &open), round), &metrics));
            for (operation, factor) in [("read", 0.5), ("update", 1.0), ("insert", 100.0)] {
                let single = [open.as_slice(), &[(OPERATION, operation.into())]].concat();
                let mut trial = exact(behaviour.cell("own", Phase::Measured, &single), round);
                let us = behaviour.response_us * factor * (1.0 + f64::from(round) / 1_000.0);
                trial.histograms.insert("response".to_owned(), histogram(us));
                let metrics =
                    [(THROUGHPUT_OPS_PER_S, rate * holds / 3.0), (OPERATIONS, planned * holds / 3.0)];
                records.push(with_metrics(trial, &metrics));
            }
        }
    }
    records
}

pub(crate) fn serving(behaviours: &[Behaviour]) -> Run {
    let records = behaviours.iter().flat_map(|one| [load(one), work(one)].concat()).collect();
    let configurations = behaviours.iter().map(|one| one.configuration.clone()).collect();
    let mut run = test_fixtures::run("serving", configurations, records);
    run.manifest.workloads = vec![WorkloadKind::Serving.into()];
    run
}

fn facts(behaviour: Behaviour, context: &GatherContext) -> SystemFacts {
    let mut all = gather(&[(Part::Serving, serving(&[behaviour]))], context);
    assert_eq!(all.len(), 1);
    all.remove(0)
}

pub(crate) fn state(need: Need, facts: &SystemFacts) -> NeedState {
    judge(&need, facts).state
}

pub(crate) const P99: Need = Need::Response { quantile: Quantile::P99, below_s: 0.01 };

#[test]
fn the_rate_that_counts_is_the_stated_or_the_middle_one() {
    let middle = facts(Behaviour::new("a"), &GatherContext::default());
    assert_eq!(middle.at_rate.as_ref().unwrap().offered, 1_000.0);
    let others: Vec<f64> = middle.other_rates.iter().map(|rate| rate.offered).collect();
    assert_eq!(others, [500.0, 2_000.0]);
    let stated =
        facts(Behaviour::new("a"), &GatherContext { rate: Some(2_000.0), ..GatherContext::default() });
    assert_eq!(stated.at_rate.as_ref().unwrap().offered, 2_000.0);
    let untried = facts(Behaviour::new("a"), &GatherContext { rate: Some(7.0), ..GatherContext::default() });
    assert_eq!((untried.at_rate.is_none(), untried.other_rates.len()), (true, 3));
    assert!(matches!(state(Need::Rate(7.0), &untried), NeedState::NotTested(_)));
    assert_eq!((middle.name.as_str(), middle.short_name.as_str()), ("A 1.0", "A"));
}

#[test]
fn what_clients_did_beside_reports_is_not_the_capacity() {
    let facts = facts(Behaviour::new("a"), &GatherContext::default());
    let capacity = facts.capacity.as_ref().and_then(Measured::value).unwrap();
    assert!((capacity.value - 9_003.0).abs() < 1.0, "{}", capacity.value);
    assert_eq!(capacity.rounds(), 5);
}

#[test]
fn each_planted_fact_lands_in_its_own_state() {
    let context = GatherContext { rate: Some(2_000.0), ..GatherContext::default() };
    let values = Need::RoundTrip(RoundTripLevel::SameValues);
    let size = Need::Size { at: SizeAt::Now(None), below_bytes: 1e6 };
    let needs = [values, Need::Rejected(0.0), Need::Rate(2_000.0), P99, size];
    let states = |behaviour: Behaviour| {
        let facts = facts(behaviour, &context);
        needs.map(|need| judge(&need, &facts).state.word())
    };
    assert_eq!(states(Behaviour::new("good")), ["met"; 5]);
    let changing = Behaviour { changed: 3, ..Behaviour::new("changing") };
    assert_eq!(states(changing), ["not met", "met", "met", "met", "met"]);
    let rejecting = Behaviour { rejected: 1, ..Behaviour::new("rejecting") };
    assert_eq!(states(rejecting), ["met", "not met", "met", "met", "met"]);
    let slow = Behaviour { response_us: 30_000.0, ..Behaviour::new("slow") };
    assert_eq!(states(slow), ["met", "met", "met", "not met", "met"]);
    let saturated = Behaviour { holds: 0.07, response_us: 900_000.0, ..Behaviour::new("saturated") };
    assert_eq!(states(saturated), ["met", "met", "not met", "not met", "met"]);
    // Response times of a load that was not the stated one prove nothing.
    let shedding = Behaviour { holds: 0.5, ..Behaviour::new("shedding") };
    assert_eq!(states(shedding), ["met", "met", "not met", "not shown", "met"]);
}

#[test]
fn rejected_documents_have_their_reasons() {
    let facts = facts(Behaviour { rejected: 2, ..Behaviour::new("a") }, &GatherContext::default());
    let load = facts.documents.as_ref().unwrap();
    assert_eq!((load.offered, load.loaded, load.rejected), (1_000, 998, 2));
    assert_eq!(load.reasons, BTreeMap::from([("too deep".to_owned(), 2)]));
    let figure = judge(&Need::Rejected(0.0), &facts).figure;
    assert_eq!(figure.words, "2 of 1,000 documents rejected: too deep");
    assert!(facts.round_trip.as_ref().unwrap().is_complete, "all that it holds were compared");
}

#[test]
fn one_round_shows_nothing() {
    let mut run = serving(&[Behaviour::new("a")]);
    run.records.retain(|record| match &record.body {
        RecordBody::Trial(trial) => trial.round == 1,
        _ => true,
    });
    let facts = gather(&[(Part::Serving, run)], &GatherContext::default()).remove(0);
    let size = Need::Size { at: SizeAt::Now(None), below_bytes: 1e6 };
    for need in [Need::Rate(1_000.0), P99, size] {
        assert_eq!(state(need, &facts), NeedState::NotShown, "{need:?}");
    }
}

#[test]
fn reports_beside_a_load_that_was_not_held_are_doubtful() {
    use jsonathlon_schema::metric::KEPT_SHARE;
    let report = |kept: f64| {
        let behaviour = Behaviour::new("a");
        let mut run = serving(std::slice::from_ref(&behaviour));
        for round in 1..=ROUNDS {
            let parameters = [
                (ARRIVAL, "poisson".into()),
                (CLIENTS, 16.into()),
                (RATE_PER_S, 1_000.0.into()),
                (STREAMS, 1.into()),
                ("mix", "own".into()),
            ];
            for (phase, parameters, us) in
                [(Phase::Both, parameters.as_slice(), 1.5e6), (Phase::Still, &[(STREAMS, 1.into())], 1e6)]
            {
                let mut trial = exact(behaviour.cell("q1", phase, parameters), round);
                trial.histograms.insert("question".to_owned(), histogram(us + f64::from(round)));
                let metrics = if phase == Phase::Both { vec![(KEPT_SHARE, kept)] } else { Vec::new() };
                run.records.push(with_metrics(trial, &metrics));
            }
        }
        gather(&[(Part::Serving, run)], &GatherContext::default()).remove(0)
    };
    let held = report(1.0);
    let q1 = &held.reports[0];
    let times =
        [&q1.hot, &q1.under_load].map(|measured| measured.as_ref().and_then(Measured::value).unwrap().value);
    assert!((times[0] - 1.0).abs() < 0.01 && (times[1] - 1.5).abs() < 0.02, "{times:?}");
    assert_eq!(state(Need::Report(2.0), &held), NeedState::Met);
    assert_eq!(state(Need::Report(1.2), &held), NeedState::NotMet, "under load it counts");
    let dropped = report(0.5);
    assert_eq!(state(Need::Report(2.0), &dropped), NeedState::NotShown);
    assert_eq!(QUESTION_P50_US.quantile(), Some(("question", 0.5)));
}

#[test]
fn variants_and_versions_of_one_system_have_names_of_their_own() {
    let mut plain = Behaviour::new("a");
    plain.configuration.id.variant = "json".to_owned();
    let mut binary = Behaviour::new("a");
    binary.configuration.id.variant = "jsonb".to_owned();
    let mut newer = Behaviour::new("a");
    newer.configuration.id.version = "2.0".to_owned();
    let run = serving(&[plain, binary, newer]);
    let facts = gather(&[(Part::Serving, run)], &GatherContext::default());
    let names: Vec<&str> = facts.iter().map(|facts| facts.name.as_str()).collect();
    assert_eq!(names, ["A 1.0 json", "A 1.0 jsonb", "A 2.0"]);
    assert!(facts.iter().all(|facts| facts.short_name == facts.name));
}

#[test]
fn systems_of_any_run_take_part_and_say_what_they_were_not_tested_for() {
    let served = serving(&[Behaviour::new("a")]);
    let mut loaded = serving(&[Behaviour::new("b")]);
    loaded.records.retain(|record| match &record.body {
        RecordBody::Trial(trial) => trial.cell.step != Step::from("own"),
        _ => true,
    });
    let left_out = LeftOut {
        part: Part::Serving,
        system: Some("b".to_owned()),
        reason: "b has no folder serving/".to_owned(),
    };
    let general =
        LeftOut { part: Part::Durability, system: None, reason: "the budget ends before it".to_owned() };
    let context = GatherContext { left_out: vec![left_out, general], ..GatherContext::default() };
    let facts = gather(&[(Part::Questions, loaded), (Part::Serving, served)], &context);
    assert_eq!(facts.iter().map(|facts| facts.title.as_str()).collect::<Vec<_>>(), ["A", "B"]);
    let b = &facts[1];
    assert_eq!(state(P99, b), NeedState::NotTested("b has no folder serving/".to_owned()));
    assert!(b.documents.is_some() && !b.sizes.is_empty(), "its load is known from questions");
    assert_eq!(b.untested[&Dimension::Durability], "the budget ends before it");
    assert_eq!(facts[0].untested[&Dimension::Report], "it takes no part in questions");
}

#[test]
fn growth_is_estimated_from_loads_of_one_configuration() {
    let sized = |documents: f64, variant: &str| {
        let mut behaviour = Behaviour::new("a");
        behaviour.configuration.id.variant = variant.to_owned();
        let mut run = serving(&[behaviour]);
        for record in &mut run.records {
            if let RecordBody::Trial(trial) = &mut record.body {
                if trial.cell.step == Step::Load {
                    trial.metrics.insert(DOCUMENTS_LOADED.name.to_owned(), documents);
                }
                if trial.cell.step == Step::Size {
                    let bytes = 1e5 + 100.0 * documents + f64::from(trial.round);
                    trial.metrics.insert(TOTAL_BYTES.name.to_owned(), bytes);
                }
            }
        }
        run
    };
    let runs = |variant: &str| {
        vec![
            (Part::Serving, sized(1_000.0, "plain")),
            (Part::Half, sized(500.0, variant)),
            (Part::Quarter, sized(250.0, variant)),
        ]
    };
    let facts = gather(&runs("plain"), &GatherContext::default()).remove(0);
    let points: Vec<u64> = facts.sizes.iter().map(|point| point.documents).collect();
    assert_eq!(points, [250, 500, 1_000]);
    let later = |below_bytes| Need::Size { at: SizeAt::Later(100_000), below_bytes };
    let figure = judge(&later(1e9), &facts).figure;
    assert!((figure.value.unwrap() - 1.01e7).abs() < 1e5, "{}", figure.words);
    assert_eq!(state(later(1e9), &facts), NeedState::Met);
    assert_eq!(state(later(1e6), &facts), NeedState::NotMet);
    let other = gather(&runs("other"), &GatherContext::default()).remove(0);
    assert_eq!(other.sizes.len(), 1, "another variant grows in another way");
    assert!(matches!(state(later(1e9), &other), NeedState::NotTested(_)));
}

#[test]
fn loads_of_several_runs_show_the_size_that_one_load_does_not() {
    let once = || {
        let mut run = serving(&[Behaviour::new("a")]);
        run.records.retain(|record| match &record.body {
            RecordBody::Trial(trial) => trial.cell.step != Step::Size || trial.round == 1,
            _ => true,
        });
        run
    };
    let size = Need::Size { at: SizeAt::Now(None), below_bytes: 1e6 };
    let single = gather(&[(Part::Serving, once())], &GatherContext::default()).remove(0);
    assert_eq!(state(size, &single), NeedState::NotShown);
    let two = [(Part::Serving, once()), (Part::Capacity, once())];
    assert_eq!(state(size, &gather(&two, &GatherContext::default()).remove(0)), NeedState::Met);
}
