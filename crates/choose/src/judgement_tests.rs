use jsonathlon_schema::durability::{CrashKind, DurabilityTier};
use jsonathlon_schema::metric::Unit;

use super::*;
use crate::facts::{CrashEvidence, LoadFailure};
use crate::facts_for_tests::{
    ALL_NEEDS, changing, crashes, figure as measurement, losing, needs, response, saturated, system,
};

/// States of all needs, in the order of dimensions.
fn states(facts: &SystemFacts) -> Vec<&'static str> {
    needs(ALL_NEEDS).needs.iter().map(|need| judge(need, facts).state.word()).collect()
}

fn state(need: Need, facts: &SystemFacts) -> &'static str {
    judge(&need, facts).state.word()
}

/// Expects one dimension to have a state, and all others to be met.
fn assert_only(dimension: Dimension, expected: &str, facts: &SystemFacts) {
    for need in &needs(ALL_NEEDS).needs {
        let judgement = judge(need, facts);
        let expected = if need.dimension() == dimension { expected } else { "met" };
        assert_eq!(judgement.state.word(), expected, "{dimension}: {need:?}: {}", judgement.figure.words);
    }
}

const TEN_MS: Need = Need::Response { quantile: Quantile::P99, below_s: 0.01 };

#[test]
fn each_fault_lands_in_its_own_dimension() {
    let good = || system("good", 0.003);
    assert_eq!(states(&good()), ["met"; 8]);
    assert_only(Dimension::RoundTrip, "not met", &changing(good(), 312));
    assert_only(Dimension::Durability, "not met", &losing(good(), CrashKind::Power));
    assert_only(Dimension::Durability, "not met", &losing(good(), CrashKind::Process));
    assert_only(Dimension::Response, "not met", &system("slow", 0.02));
    assert_only(Dimension::Response, "not shown", &system("near", 0.01));
    let mut rejecting = good();
    rejecting.documents.as_mut().unwrap().rejected = 1;
    assert_only(Dimension::Rejected, "not met", &rejecting);
    let mut slow = good();
    slow.reports[0].under_load = Some(Measured::Value(measurement("slow", "q1", Unit::Seconds, 5.0, 0.1)));
    assert_only(Dimension::Report, "not met", &slow);
    let large = |point: &mut crate::facts::SizePoint| {
        let bytes = 30_000.0 * point.documents as f64;
        point.bytes = Measured::Value(measurement("large", "size", Unit::Bytes, bytes, 0.01));
    };
    let mut grown = good();
    grown.sizes.iter_mut().for_each(large);
    assert_only(Dimension::Size, "not met", &grown);
}

#[test]
fn a_rate_that_is_not_held_gives_no_good_response_time() {
    let facts = saturated(system("slow", 0.003), 0.07);
    assert_eq!(state(Need::Rate(2_000.0), &facts), "not met");
    let judgement = judge(&Need::Rate(2_000.0), &facts);
    assert_eq!(judgement.figure.predicate, "holds 140 of 2,000 operations/s");
    assert_eq!(judgement.figure.words, "140 of 2,000 operations/s ended in time, 7 % where 95 % are enough");
    assert_eq!(judgement.figure.value, Some(140.0));
    let held = judge(&Need::Rate(2_000.0), &with_kept_share(0.98)).figure;
    assert_eq!(held.words, "holds 2,000 operations/s: 98 % of them ended in time, and 95 % are enough");
    assert_eq!(held.value, Some(1_960.0), "a program sees what was held, and not what was offered");
    let narrow = judge(&Need::Rate(2_000.0), &with_kept_share(0.93));
    assert!(narrow.factor.unwrap() > 1.0 && !narrow.figure.predicate.contains("2,000 of 2,000"));
    assert!((judgement.factor.unwrap() - 2_000.0 / 140.0).abs() < 0.1);
    let response = judge(&TEN_MS, &facts);
    assert_eq!(response.state, NeedState::NotShown);
    assert!(response.figure.words.ends_with("the rate was not held meanwhile"), "{}", response.figure.words);
    // What is slow at a smaller load is slow at the full one.
    assert_eq!(state(TEN_MS, &saturated(system("slow", 0.5), 0.07)), "not met");
    assert_eq!(state(Need::Rate(2_000.0), &saturated(system("near", 0.003), 0.95)), "not shown");
    assert_eq!(state(Need::Rate(5_000.0), &system("good", 0.003)), "not shown", "it was not offered");
}

/// A system that holds a share of the rate for sure, whatever it achieves in the mean.
fn with_kept_share(share: f64) -> SystemFacts {
    let mut facts = system("some", 0.003);
    let kept = measurement("some", "mix", Unit::Share, share, 0.005);
    facts.at_rate.as_mut().unwrap().kept_share = Measured::Value(kept);
    facts
}

#[test]
fn a_figure_without_an_interval_says_why() {
    let words = |by_round: std::collections::BTreeMap<u32, Vec<f64>>| {
        let mut facts = system("few", 0.003);
        let figure =
            Measurement { interval: None, by_round, ..measurement("few", "mix", Unit::Seconds, 0.003, 0.1) };
        let response = &mut facts.at_rate.as_mut().unwrap().response;
        response.truncate(1);
        response[0].quantiles.insert(Quantile::P99, Measured::Value(figure));
        let judgement = judge(&TEN_MS, &facts);
        assert_eq!(judgement.state, NeedState::NotShown);
        judgement.figure.words
    };
    assert_eq!(
        words([].into()),
        "read p99 3 ms; too few operations for an interval: it needs a longer --duration"
    );
    assert_eq!(words([(1, vec![0.003])].into()), "read p99 3 ms; one round gives no interval");
    let scattered = [(1, vec![0.003]), (2, vec![3.0])].into();
    assert_eq!(words(scattered), "read p99 3 ms; its rounds differ too much for an interval");
}

#[test]
fn a_load_that_the_system_fails_at_meets_nothing_that_is_about_documents() {
    let failing = |is_of_machine| {
        let mut facts = system("lossy", 0.003);
        let reason = "2 documents were accepted and are not found".to_owned();
        facts.documents.as_mut().unwrap().failure = Some(LoadFailure { reason, is_of_machine });
        facts
    };
    let needs = [
        Need::RoundTrip(RoundTripLevel::Anything),
        Need::RoundTrip(RoundTripLevel::SameValues),
        Need::Rejected(1.0),
        Need::Size { at: SizeAt::Now(None), below_bytes: f64::INFINITY },
        Need::Size { at: SizeAt::Later(1_000_000), below_bytes: f64::INFINITY },
    ];
    for need in needs {
        let judgement = judge(&need, &failing(false));
        assert_eq!(judgement.state, NeedState::NotMet, "{need:?}");
        assert!(judgement.figure.predicate.contains("fails at the load (2 documents"), "{judgement:?}");
    }
    assert_eq!(state(Need::Rejected(1.0), &failing(true)), "not tested");
    // What was not measured because of it fails, too.
    let mut facts = failing(false);
    (facts.at_rate, facts.reports) = (None, Vec::new());
    for need in [Need::Rate(1.0), TEN_MS, Need::Report(1.0)] {
        assert_eq!(state(need, &facts), "not met", "{need:?}");
    }
}

#[test]
fn bytes_of_another_variant_say_nothing() {
    let mut facts = system("other", 0.003);
    facts.round_trip.as_mut().unwrap().bytes_of_variant = Some("whole".to_owned());
    let judgement = judge(&Need::RoundTrip(RoundTripLevel::SameBytes), &facts);
    let reason = "byte by byte, documents were compared only in the variant whole";
    assert_eq!(judgement.state, NeedState::NotTested(reason.to_owned()));
}

#[test]
fn a_load_of_a_part_of_the_documents_is_no_size_of_all() {
    let mut facts = system("half", 0.003);
    facts.sizes.retain(|point| !point.is_whole);
    facts.untested.insert(Dimension::Size, "serving failed".to_owned());
    let size = Need::Size { at: SizeAt::Now(None), below_bytes: 1e12 };
    assert_eq!(judge(&size, &facts).state, NeedState::NotTested("serving failed".to_owned()));
    let later = Need::Size { at: SizeAt::Later(2_000_000), below_bytes: 1e12 };
    assert_eq!(state(later, &facts), "not tested");
    let failed = Measured::Absent("the load failed: no space".to_owned());
    let point = crate::facts::SizePoint { documents: 0, is_whole: true, bytes: failed };
    facts.sizes.insert(0, point);
    assert_eq!(judge(&size, &facts).state, NeedState::NotTested("the load failed: no space".to_owned()));
}

#[test]
fn what_a_system_failed_at_is_not_met_and_what_was_not_asked_is_not_tested() {
    let mut facts = system("wrong", 0.003);
    facts.reports[0].under_load = Some(Measured::Failed("1 of 1 rows differ".to_owned()));
    let judgement = judge(&Need::Report(2.0), &facts);
    assert_eq!((judgement.state.word(), judgement.factor), ("not met", Some(f64::INFINITY)));
    assert_eq!(judgement.figure.predicate, "fails at q1 (1 of 1 rows differ)");
    facts.reports[0].under_load = Some(Measured::Absent("no statement".to_owned()));
    assert_eq!(judge(&Need::Report(2.0), &facts).state, NeedState::NotTested("q1: no statement".to_owned()));
    facts.reports.clear();
    facts.untested.insert(Dimension::Report, "the budget does not allow it".to_owned());
    assert_eq!(
        judge(&Need::Report(2.0), &facts).state,
        NeedState::NotTested("the budget does not allow it".to_owned())
    );
    let at_rate = facts.at_rate.as_mut().unwrap();
    at_rate.response[0] = response("wrong", "read", 0.001);
    at_rate.response[1].quantiles.insert(Quantile::P99, Measured::Failed("timeout".to_owned()));
    assert_eq!(state(TEN_MS, &facts), "not met");
    facts.at_rate = None;
    assert_eq!(state(TEN_MS, &facts), "not tested");
    assert_eq!(state(Need::Rate(2_000.0), &facts), "not tested");
}

#[test]
fn a_doubtful_figure_is_never_within_a_limit() {
    let mut facts = system("doubtful", 0.003);
    let mut doubtful = measurement("doubtful", "q1", Unit::Seconds, 1.0, 0.01);
    doubtful.doubt = Some("answers were not verified".to_owned());
    facts.reports[0].under_load = Some(Measured::Value(doubtful));
    let judgement = judge(&Need::Report(2.0), &facts);
    assert_eq!(judgement.state, NeedState::NotShown);
    assert!(judgement.figure.words.ends_with("; answers were not verified"), "{}", judgement.figure.words);
    assert_eq!(state(Need::Report(0.5), &facts), "not met");
    let without_interval =
        Measurement { interval: None, ..measurement("once", "q1", Unit::Seconds, 0.001, 0.01) };
    facts.reports[0].under_load = Some(Measured::Value(without_interval));
    assert_eq!(state(Need::Report(2.0), &facts), "not shown", "one round shows nothing");
}

#[test]
fn the_slowest_operation_and_question_decide() {
    let mut facts = system("mixed", 0.003);
    let slow = Measured::Value(measurement("mixed", "q2", Unit::Seconds, 30.0, 0.1));
    let report = crate::facts::ReportFacts {
        question: "q2".to_owned(),
        under_load: None,
        hot: Some(slow),
        ..facts.reports[0].clone()
    };
    facts.reports.insert(0, report);
    let judgement = judge(&Need::Report(2.0), &facts);
    assert_eq!(
        (judgement.state.word(), judgement.figure.words.as_str()),
        ("not met", "q2, median 30 s (27 … 33)")
    );
    assert_eq!(judgement.factor, Some(15.0));
    let judgement = judge(&Need::Response { quantile: Quantile::P99, below_s: 0.002 }, &facts);
    assert_eq!(judgement.figure.words, "update p99 3 ms (2.85 … 3.15)");
}

#[test]
fn durability_is_proven_or_it_is_not_met() {
    use DurabilityTier::{Process, Synced, Window};
    let mut facts = system("declared", 0.003);
    assert_eq!(
        judge(&Need::Durability(Synced), &facts).figure.words,
        "synced: kept its promise in all 3 kills and all 3 power cuts"
    );
    assert_eq!(state(Need::Durability(Process), &facts), "met", "a stricter tier meets a weaker need");
    // Without power cuts, a kill proves what the tier says about processes.
    facts.durability.evidence.truncate(1);
    assert_eq!(state(Need::Durability(Synced), &facts), "not tested");
    assert_eq!(state(Need::Durability(Process), &facts), "met");
    facts.durability.evidence.push(CrashEvidence {
        crashes: 0,
        as_promised: 0,
        obstacle: Some("power cuts need root".to_owned()),
        ..crashes(Synced, CrashKind::Power, 3)
    });
    let judgement = judge(&Need::Durability(Synced), &facts);
    assert_eq!(judgement.state, NeedState::NotTested("power loss: power cuts need root".to_owned()));
    facts.durability.evidence.clear();
    facts.untested.insert(Dimension::Durability, "durability was not run".to_owned());
    assert_eq!(
        judge(&Need::Durability(Synced), &facts).state,
        NeedState::NotTested("synced is declared, not proven here: durability was not run".to_owned())
    );
    facts.durability.tier = Some(Window);
    assert_eq!(state(Need::Durability(Synced), &facts), "not met", "it was measured with another promise");
    let lost = judge(&Need::Durability(Synced), &losing(system("lossy", 0.003), CrashKind::Power));
    assert_eq!(lost.figure.predicate, "loses 134 of 1,593 acknowledged writes in 2 of 3 power cuts");
    let earlier = |kept| CrashEvidence {
        earlier: Some("2026-11-23".to_owned()),
        acknowledged: None,
        lost: None,
        cell: None,
        ..crashes(Synced, CrashKind::Power, kept)
    };
    let mut before = system("before", 0.003);
    before.durability.evidence[1] = earlier(3);
    assert_eq!(
        judge(&Need::Durability(Synced), &before).figure.words,
        "synced: kept its promise in all 3 kills and all 3 power cuts on 2026-11-23"
    );
    before.durability.evidence[1] = earlier(2);
    assert_eq!(
        judge(&Need::Durability(Synced), &before).figure.predicate,
        "loses more than its tier allows in 1 of 3 power cuts on 2026-11-23"
    );
}

#[test]
fn a_round_trip_is_met_only_where_all_documents_were_compared() {
    let level = Need::RoundTrip;
    let mut facts = system("sampled", 0.003);
    facts.round_trip.as_mut().unwrap().is_complete = false;
    assert_eq!(state(level(RoundTripLevel::SameValues), &facts), "not shown");
    assert_eq!(state(level(RoundTripLevel::SameBytes), &facts), "not tested");
    assert_eq!(state(level(RoundTripLevel::Anything), &facts), "met");
    let changed = changing(facts.clone(), 1);
    assert_eq!(state(level(RoundTripLevel::SameValues), &changed), "not met", "one is enough");
    assert_eq!(state(level(RoundTripLevel::Anything), &changed), "met");
    let trip = facts.round_trip.as_mut().unwrap();
    trip.bytes = Some(crate::facts::ComparedBytes { compared: 1_000, different: 0, is_complete: true });
    assert_eq!(state(level(RoundTripLevel::SameBytes), &facts), "met");
    facts.round_trip.as_mut().unwrap().bytes.as_mut().unwrap().different = 7;
    assert_eq!(
        judge(&level(RoundTripLevel::SameBytes), &facts).figure.words,
        "7 of 1,000 documents came back with other bytes"
    );
    facts.round_trip = None;
    assert_eq!(state(level(RoundTripLevel::SameValues), &facts), "not tested");
}

#[test]
fn sizes_of_other_numbers_of_documents_are_estimates() {
    let facts = system("grown", 0.003);
    let now = |documents| Need::Size { at: SizeAt::Now(documents), below_bytes: 1e9 };
    let measured = judge(&now(None), &facts);
    assert_eq!((measured.state.word(), measured.figure.is_estimate), ("met", false));
    assert_eq!(measured.figure.words, "200 MB (190 MB … 210 MB)");
    assert!(!judge(&now(Some(200_000)), &facts).figure.is_estimate);
    assert!(judge(&now(Some(400_000)), &facts).figure.is_estimate);
    let later = Need::Size { at: SizeAt::Later(2_000_000), below_bytes: 4e9 };
    let estimated = judge(&later, &facts);
    assert_eq!((estimated.state.word(), estimated.figure.is_estimate), ("met", true));
    assert_eq!(
        estimated.figure.words,
        "about 2.00 GB (1.71 GB … 2.29 GB) for 2,000,000 documents, estimated from 50.0 MB at 50,000, 100 MB at \
         100,000, 200 MB at 200,000"
    );
    let mut two = facts.clone();
    two.sizes.remove(0);
    for point in &mut two.sizes {
        if let Measured::Value(measurement) = &mut point.bytes {
            measurement.interval = None;
        }
    }
    assert_eq!(state(later, &two), "not shown", "two points without intervals are always on a line");
    two.sizes.remove(0);
    assert_eq!(state(later, &two), "not tested", "one load says nothing of growth");
    two.sizes.clear();
    assert_eq!(state(later, &two), "not tested");
}

#[test]
fn kinds_are_told_apart() {
    let server = system("server", 0.003);
    let embedded = SystemFacts { is_server: false, ..server.clone() };
    for (kind, of_server, of_embedded) in [
        (WantedKind::Server, "met", "not met"),
        (WantedKind::Embedded, "not met", "met"),
        (WantedKind::Any, "met", "met"),
    ] {
        assert_eq!(state(Need::Kind(kind), &server), of_server);
        assert_eq!(state(Need::Kind(kind), &embedded), of_embedded);
    }
}

#[test]
fn without_needs_there_are_figures() {
    let facts = system("good", 0.003);
    let words: Vec<String> = Dimension::ALL
        .into_iter()
        .filter_map(|dimension| figure(dimension, &facts))
        .map(|figure| figure.short)
        .collect();
    assert_eq!(words, ["synced", "same values", "none", "2,000/s", "3 ms", "1.2 s", "200 MB", "server"]);
}

proptest::proptest! {
    /// A limit that moves across a figure passes met, not shown and not met in this order, whatever is limited.
    #[test]
    fn a_need_that_moves_skips_no_state(value in 1e-4_f64..1e4, reach in 0.01_f64..0.5) {
        let mut facts = system("moved", value);
        for response in &mut facts.at_rate.as_mut().unwrap().response {
            let figure = measurement("moved", "mix", Unit::Seconds, value, reach);
            response.quantiles.insert(Quantile::P99, Measured::Value(figure));
        }
        let figure = measurement("moved", "q1", Unit::Seconds, value, reach);
        facts.reports[0].under_load = Some(Measured::Value(figure));
        for point in &mut facts.sizes {
            let bytes = value * 1e6 * point.documents as f64;
            point.bytes = Measured::Value(measurement("moved", "size", Unit::Bytes, bytes, reach));
        }
        let needs: [fn(f64) -> Need; 4] = [
            |below_s| Need::Response { quantile: Quantile::P99, below_s },
            Need::Report,
            |below_bytes| Need::Size { at: SizeAt::Now(None), below_bytes },
            |below_bytes| Need::Size { at: SizeAt::Later(300_000), below_bytes },
        ];
        for need in needs {
            let figure = judge(&need(1.0), &facts).figure;
            let ([low, high], value) = (figure.interval.unwrap(), figure.value.unwrap());
            let places: Vec<&str> = (0..60)
                .map(|step| high * 1.3 * 0.95_f64.powi(step))
                .filter(|limit| *limit > low)
                .chain([value, low, low / 2.0])
                .map(|limit| judge(&need(limit), &facts).state.word())
                .collect();
            let mut order = places.clone();
            order.dedup();
            proptest::prop_assert_eq!(order, ["met", "not shown", "not met"], "{:?}", need(value));
        }
    }
}
