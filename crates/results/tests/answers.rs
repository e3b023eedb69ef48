//! Tests of answers: who leads, by how much, and when nobody does.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

use std::collections::BTreeMap;

use jsonathlon_results::answer::{Answer, AnswerCaveat, AnswerOutcome, AnswerSubject};
use jsonathlon_results::busy_machine::machine_was_busy;
use jsonathlon_results::summary::Run;
use jsonathlon_results::test_fixtures::serving::{ServingFixture, run_with_bad_cells};
use jsonathlon_results::test_fixtures::{self, record};
use jsonathlon_schema::durability::{CrashKind, Durability, DurabilityEvidence, DurabilityTier};
use jsonathlon_schema::id::Step;
use jsonathlon_schema::manifest::Configuration;
use jsonathlon_schema::metric::{
    CRASHES, CRASHES_AS_PROMISED, FOREIGN_TASKS, MACHINE_STEAL_SHARE, MetricDef, TOTAL_BYTES,
};
use jsonathlon_schema::ranking::MemoryProfile;
use jsonathlon_schema::record::{Cell, Finding, JournalRecord, Parameters, Phase, Trial, Verdict};
use jsonathlon_schema::settings::fidelity::{FidelitySettings, KnownCase, RfcRequirement};
use jsonathlon_schema::severity::Severity;
use jsonathlon_schema::workload::WorkloadKind;

use crate::support::edit;

/// Effects of five rounds on all systems alike.
pub(crate) const ROUNDS: [f64; 5] = [1.0, 1.3, 0.8, 1.1, 0.9];

/// Load and size once, and three questions hot in five rounds.
fn records(of: &Configuration, bytes: f64, seconds: [f64; 3]) -> Vec<JournalRecord> {
    let load = test_fixtures::trial(test_fixtures::cell(of, "load", Phase::Load), 1, Some(2.0));
    let mut size = test_fixtures::trial(test_fixtures::cell(of, "size", Phase::Steady), 1, None);
    size.metrics.extend([TOTAL_BYTES.with_value(bytes)]);
    let mut records = vec![record(load), record(size)];
    for (round, effect) in (1..).zip(ROUNDS) {
        for (question, seconds) in ["q1", "q2", "q3"].into_iter().zip(seconds) {
            let cell = test_fixtures::cell(of, question, Phase::Hot);
            records.push(record(test_fixtures::trial(cell, round, Some(seconds * effect))));
        }
    }
    records
}

fn run_of(configurations: Vec<Configuration>, times: &[[f64; 3]]) -> Run {
    let records = configurations.iter().zip(times).zip(1..);
    let records = records
        .flat_map(|((configuration, seconds), place)| records_of(configuration, f64::from(place), *seconds));
    let records = records.collect();
    test_fixtures::run("run", configurations, records)
}

fn records_of(configuration: &Configuration, place: f64, seconds: [f64; 3]) -> Vec<JournalRecord> {
    records(configuration, 48_000.0 * place, seconds)
}

fn run(systems: &[(&str, [f64; 3])]) -> Run {
    let configurations = systems.iter().map(|(system, _)| test_fixtures::configuration(system, "1"));
    let times: Vec<[f64; 3]> = systems.iter().map(|(_, seconds)| *seconds).collect();
    run_of(configurations.collect(), &times)
}

pub(crate) fn all_of(run: &Run, subject: AnswerSubject) -> Vec<Answer> {
    run.summary().answers.into_iter().filter(|answer| answer.subject == subject).collect()
}

pub(crate) fn only(run: &Run, subject: AnswerSubject) -> Answer {
    let answers = all_of(run, subject);
    assert_eq!(answers.len(), 1, "{answers:?}");
    answers.into_iter().next().unwrap()
}

fn is_question(trial: &Trial, system: &str, step: &str) -> bool {
    trial.cell.id.system == system && trial.cell.step.word() == step
}

const FAST: [f64; 3] = [0.1, 0.2, 0.4];
const SLOW: [f64; 3] = [0.2, 0.4, 1.6];

#[test]
fn a_leader_is_ahead_by_the_mean_of_all_questions() {
    let run = run(&[("slow", SLOW), ("fast", FAST)]);
    let hot = only(&run, AnswerSubject::Hot);
    let AnswerOutcome::Leader { first, runner_up, ratio, low, high } = hot.outcome else { panic!("{hot:?}") };
    // Ratios of 2, 2 and 4, in every round alike.
    assert_eq!((first, runner_up), (1, 0));
    assert!([ratio, low, high].into_iter().all(|value| (value - 16_f64.cbrt()).abs() < 1e-9), "{hot:?}");
    assert_eq!(hot.sentence, "fast ran Q1–Q3 hot 2.5 × faster than slow (95 %: 2.5 … 2.5)");
    assert_eq!((hot.conditions.as_str(), hot.severity), ("", Severity::Good));
    assert!(hot.caveats.is_empty() && hot.ranking == "as-is, json-only", "{hot:?}");
    let load = only(&run, AnswerSubject::Load);
    assert_eq!(load.outcome, AnswerOutcome::TooFewRounds { candidates: vec![0, 1] });
    assert_eq!(load.caveats, [AnswerCaveat::OneRound]);
    let size = only(&run, AnswerSubject::Size);
    assert_eq!(size.sentence, "Smallest: slow, 48.0 kB, 10 % of the text");
    let correctness = only(&run, AnswerSubject::Correctness);
    assert_eq!(correctness.sentence, "All answers verified: slow and fast");
    assert!(all_of(&run, AnswerSubject::Cold).is_empty(), "nothing was asked cold");
    let summary = run.summary();
    let subjects: Vec<AnswerSubject> = summary.answers.iter().map(|answer| answer.subject).collect();
    assert!(subjects.is_sorted(), "{subjects:?}");
    let text = serde_json::to_string(&summary.answers).unwrap();
    assert!(text.contains(r#""outcome":{"kind":"leader","first":1,"#), "{text}");
    assert_eq!(serde_json::from_str::<Vec<Answer>>(&text).unwrap(), summary.answers);
}

#[test]
fn nobody_leads_while_an_interval_contains_one() {
    let mut run = run(&[("steady", FAST), ("unsteady", FAST.map(|seconds| 1.1 * seconds))]);
    edit(
        &mut run,
        |trial| trial.cell.id.system == "unsteady" && trial.cell.phase == Phase::Hot,
        |trial| {
            let factor = if trial.round.is_multiple_of(2) { 0.5 } else { 1.5 };
            trial.seconds = trial.seconds.map(|seconds| factor * seconds);
        },
    );
    let hot = only(&run, AnswerSubject::Hot);
    let AnswerOutcome::NoDifferenceShown { tied, interval: Some([low, high]) } = &hot.outcome else {
        panic!("{hot:?}")
    };
    assert!(*tied == [0, 1] && *low < 1.0 && *high > 1.0, "{hot:?}");
    let start = "No difference shown between steady and unsteady over Q1–Q3 hot (95 %: 0.";
    assert!(hot.sentence.starts_with(start), "{hot:?}");
    assert!(hot.caveats.is_empty(), "five rounds are not few: {hot:?}");
    let mut few = run.clone();
    few.records.retain(|record| !matches!(record.key.rsplit_once('#'), Some((_, trial)) if trial >= "5"));
    few.manifest.plan.trials = few.records.iter().map(|record| record.key.clone()).collect();
    let few = only(&few, AnswerSubject::Hot);
    assert_eq!(few.caveats, [AnswerCaveat::FewRounds], "{few:?}");
    // After one round, the larger difference shows nothing either.
    run.records.retain(|record| !matches!(record.key.rsplit_once('#'), Some((_, trial)) if trial >= "2"));
    run.manifest.plan.trials = run.records.iter().map(|record| record.key.clone()).collect();
    let once = only(&run, AnswerSubject::Hot);
    assert!(matches!(once.outcome, AnswerOutcome::TooFewRounds { .. }), "{once:?}");
    assert_eq!(once.caveats, [AnswerCaveat::OneRound]);
    run.manifest.plan.trials.push("not made".to_owned());
    assert_eq!(only(&run, AnswerSubject::Hot).caveats, [AnswerCaveat::OneRound, AnswerCaveat::Partial]);
}

#[test]
fn what_is_wrong_unverified_or_partial_never_leads() {
    let systems = [("slow", SLOW), ("fast", FAST)];
    for (verdict, step, severity, sentence) in [
        (Verdict::Wrong, "q2", Severity::Failed, "Wrong or missing: fast (Q2 wrong)"),
        (Verdict::Timeout, "q2", Severity::Failed, "Wrong or missing: fast (Q2 timeout)"),
        (Verdict::Unverified, "q2", Severity::Good, "Not verified: fast (Q2 unverified)"),
        (Verdict::Partial, "load", Severity::Warning, "Not verified: fast (load partial)"),
    ] {
        let mut run = run(&systems);
        edit(&mut run, |trial| is_question(trial, "fast", step), |trial| trial.verdict = verdict);
        let hot = only(&run, AnswerSubject::Hot);
        assert_eq!(hot.outcome, AnswerOutcome::OnlyOne { only: 0 }, "{verdict:?}");
        let correctness = only(&run, AnswerSubject::Correctness);
        assert_eq!((correctness.sentence.as_str(), correctness.severity), (sentence, severity));
        let is_first = run.summary().answers[0].subject == AnswerSubject::Correctness;
        assert_eq!(is_first, severity == Severity::Failed, "failures come first");
    }
    let mut run = run(&systems);
    edit(&mut run, |trial| trial.cell.phase == Phase::Hot, |trial| trial.verdict = Verdict::Disputed);
    assert_eq!(only(&run, AnswerSubject::Hot).sentence, "No system has verified answers to Q1–Q3 hot");
}

#[test]
fn what_one_system_lacks_is_not_compared() {
    let mut run = run(&[("slow", SLOW), ("fast", FAST)]);
    edit(
        &mut run,
        |trial| is_question(trial, "slow", "q3"),
        |trial| {
            (trial.verdict, trial.seconds) = (Verdict::NotApplicable, None);
        },
    );
    let hot = only(&run, AnswerSubject::Hot);
    assert_eq!(hot.sentence, "fast ran Q1, Q2 hot 2.0 × faster than slow (95 %: 2.0 … 2.0)");
    assert_eq!(hot.caveats, [AnswerCaveat::Partial]);
    // A system that lacks most questions does not limit the others.
    edit(
        &mut run,
        |trial| is_question(trial, "slow", "q2"),
        |trial| {
            (trial.verdict, trial.seconds) = (Verdict::NotApplicable, None);
        },
    );
    assert_eq!(
        only(&run, AnswerSubject::Hot).sentence,
        "Only fast can be compared over Q1–Q3 hot, so nobody wins"
    );
}

#[test]
fn what_a_third_system_lacks_hides_no_exception() {
    // Over Q1 to Q3 the first one leads, and in Q2 the second one.
    let slow = SLOW.map(|seconds| 8.0 * seconds);
    let mut run = run(&[("first", [0.1, 0.4, 0.1]), ("second", [0.4, 0.2, 0.4]), ("third", slow)]);
    let sentence = "first ran Q1–Q3 hot 2.0 × faster than second (95 %: 2.0 … 2.0), but loses Q2 (2.0 ×)";
    assert_eq!(only(&run, AnswerSubject::Hot).sentence, sentence);
    edit(
        &mut run,
        |trial| is_question(trial, "third", "q1") || is_question(trial, "third", "q2"),
        |trial| {
            (trial.verdict, trial.seconds) = (Verdict::NotApplicable, None);
        },
    );
    assert_eq!(only(&run, AnswerSubject::Hot).sentence, sentence);
}

#[test]
fn all_losses_of_a_leader_are_named_with_factors_against_the_best_of_each_question() {
    // The first one leads over Q1 to Q3. In Q2 the second one is faster, and the third one by far the fastest; in Q3
    // only the third one is faster, which a comparison with the second one would not tell.
    let times = [("first", [0.1, 0.4, 0.1]), ("second", [2.0, 0.2, 1.0]), ("third", [900.0, 0.0129, 0.05])];
    let hot = only(&run(&times), AnswerSubject::Hot);
    let AnswerOutcome::Leader { first: 0, runner_up: 1, .. } = hot.outcome else { panic!("{hot:?}") };
    let end = "faster than second (95 %: 4.6 … 4.6), but loses Q2 (31 ×) and Q3 (2.0 ×)";
    assert!(hot.sentence.ends_with(end), "{hot:?}");
    // Without a leader, it is said who is faster than whom.
    let tied = run(&[("one", [0.1, 0.4, 0.2]), ("two", [0.4, 0.1, 0.2])]);
    let sentence = only(&tied, AnswerSubject::Hot).sentence;
    let end = "one faster than two in Q1 (4.0 ×), two faster in Q2 (4.0 ×)";
    assert!(
        sentence.starts_with("No difference shown over Q1–Q3 hot") && sentence.ends_with(end),
        "{sentence}"
    );
}

#[test]
fn rankings_are_not_mixed_and_references_never_lead() {
    let mut stock = test_fixtures::configuration("stock", "1");
    stock.profile = Some(MemoryProfile::Stock);
    let sized = ["yardstick", "one", "two"].map(|system| test_fixtures::configuration(system, "1"));
    let configurations = std::iter::once(stock).chain(sized).collect();
    let tiny = [1e-6; 3];
    let run = run_of(configurations, &[tiny, tiny, FAST, SLOW]);
    let hot = all_of(&run, AnswerSubject::Hot);
    let rankings: Vec<&str> = hot.iter().map(|answer| answer.ranking.as_str()).collect();
    assert_eq!(rankings, ["as-is, json-only", "as-is, stock, json-only"]);
    assert_eq!(hot[0].outcome.configurations(), [2, 3]);
    assert_eq!(hot[1].outcome, AnswerOutcome::OnlyOne { only: 0 });
    assert_eq!(hot[1].sentence, "Over Q1–Q3 hot stock is alone in its group, so nobody wins");
    // Everything of the ranking with several members stands before the other one.
    let answers = run.summary().answers;
    assert!(answers.is_sorted_by_key(|answer| answer.ranking.contains("stock")), "{answers:?}");
}

#[test]
fn variants_are_named_only_where_they_tell_systems_apart() {
    let mut configurations = ["one", "one", "two"].map(|system| test_fixtures::configuration(system, "1"));
    configurations[1].id.variant = "indexed".into();
    configurations[1].end_of_life = true;
    configurations[0].embedded = false;
    let run = run_of(configurations.to_vec(), &[SLOW, FAST, SLOW.map(|seconds| 2.0 * seconds)]);
    let hot = only(&run, AnswerSubject::Hot);
    assert_eq!(hot.sentence, "one indexed ran Q1–Q3 hot 2.5 × faster than one plain (95 %: 2.5 … 2.5)");
    assert_eq!(hot.caveats, [AnswerCaveat::EndOfLife, AnswerCaveat::Embedded]);
    let texts = [
        "one 1 is no longer supported by its vendor",
        "one indexed runs inside its client, one plain is a server",
    ];
    assert_eq!(hot.caveat_texts, texts);
    assert_eq!(hot.caveat_labels, ["one 1: end of life", "one indexed: in-process"]);
    let correctness = only(&run, AnswerSubject::Correctness);
    assert_eq!(correctness.sentence, "All answers verified: one plain, one indexed and two");
}

#[test]
fn on_a_busy_machine_a_very_wide_interval_shows_no_leader() {
    let mut run = run(&[("fast", FAST), ("slow", SLOW.map(|seconds| 1_000.0 * seconds))]);
    edit(
        &mut run,
        |trial| trial.cell.id.system == "slow" && trial.cell.phase == Phase::Hot,
        |trial| {
            let factor = [1.0, 3.0, 0.3, 2.0, 0.5][trial.round as usize - 1];
            trial.seconds = trial.seconds.map(|seconds| factor * seconds);
        },
    );
    let quiet = only(&run, AnswerSubject::Hot);
    assert!(!machine_was_busy(&run) && quiet.caveats.is_empty());
    let AnswerOutcome::Leader { low, high, .. } = quiet.outcome else { panic!("{quiet:?}") };
    assert!(high / low > 10.0, "{low} {high}");
    let disturb = |run: &Run, metric: &MetricDef, value: f64| {
        let mut run = run.clone();
        edit(&mut run, |trial| trial.round == 1, |trial| trial.metrics.extend([metric.with_value(value)]));
        edit(&mut run, |trial| trial.round > 1, |trial| trial.metrics.extend([metric.with_value(0.0)]));
        run
    };
    // The machine has two cores.
    for (metric, value, is_busy) in [
        (FOREIGN_TASKS, 1.0, false),
        (FOREIGN_TASKS, 2.0, true),
        (MACHINE_STEAL_SHARE, 0.02, false),
        (MACHINE_STEAL_SHARE, 0.03, true),
    ] {
        let run = disturb(&run, &metric, value);
        assert_eq!(machine_was_busy(&run), is_busy, "{} {value}", metric.name);
        let hot = only(&run, AnswerSubject::Hot);
        assert_eq!(hot.caveats.contains(&AnswerCaveat::BusyMachine), is_busy);
        let tied = AnswerOutcome::NoDifferenceShown { tied: vec![0, 1], interval: None };
        assert_eq!(hot.outcome == tied, is_busy, "{hot:?}");
    }
}

#[test]
fn throughput_is_compared_at_the_most_clients_that_all_have_and_at_the_best() {
    let factors = BTreeMap::from([("postgresql", 2.0)]);
    let run = ServingFixture { factors, ..ServingFixture::default() }.run("run");
    let answers = all_of(&run, AnswerSubject::Throughput);
    let conditions: Vec<&str> = answers.iter().map(|answer| answer.conditions.as_str()).collect();
    assert_eq!(
        conditions,
        [
            "mix a, 32 clients",
            "mix a, any number of clients",
            "mix c, 32 clients",
            "mix c, any number of clients"
        ]
    );
    let sentence = &answers[0].sentence;
    assert!(sentence.starts_with("mix a, 32 clients: postgresql 2."), "{sentence}");
    assert!(sentence.contains(" × the throughput of mongodb (95 %: "), "{sentence}");
    let AnswerOutcome::Leader { first: 0, runner_up: 1, ratio, low, high } = answers[0].outcome else {
        panic!("{answers:?}")
    };
    assert!(1.0 < low && low < ratio && ratio < high && (1.8..2.4).contains(&ratio), "{answers:?}");
    assert!(all_of(&run, AnswerSubject::Correctness).is_empty(), "nothing is wrong");
    // One number of clients has no other best one.
    let once = ServingFixture { clients: vec![8], ..ServingFixture::default() }.run("run");
    assert_eq!(all_of(&once, AnswerSubject::Throughput).len(), 2);
}

#[test]
fn wrong_operations_stand_before_the_throughput_of_others() {
    let run = run_with_bad_cells("run");
    let answers = run.summary().answers;
    assert_eq!(
        answers[0].sentence,
        "Wrong or missing: mongodb (mix a wrong; mix c unverified) and sqlite (mix a failed)"
    );
    assert_eq!(answers[0].severity, Severity::Failed);
    let throughput = all_of(&run, AnswerSubject::Throughput);
    assert_eq!(throughput[0].outcome, AnswerOutcome::OnlyOne { only: 0 });
}

/// Cell of a workload other than analytics, with these parameters.
pub(crate) fn cell_of(
    of: &Configuration,
    workload: WorkloadKind,
    step: &str,
    phase: Phase,
    words: &[(&str, &str)],
) -> Cell {
    Cell {
        workload: workload.into(),
        id: of.id.clone(),
        profile: of.profile,
        step: Step::from(step),
        phase,
        state: None,
        parameters: words
            .iter()
            .map(|(name, word)| ((*name).to_owned(), (*word).into()))
            .collect::<Parameters>(),
    }
}

pub(crate) fn run_of_workload(
    workload: WorkloadKind,
    all: Vec<Configuration>,
    records: Vec<JournalRecord>,
) -> Run {
    let mut run = test_fixtures::run("run", all, records);
    run.manifest.workloads = vec![workload.into()];
    run
}

#[test]
fn a_broken_promise_is_a_failure_of_its_tier() {
    let systems = ["one", "two"].map(|system| test_fixtures::configuration(system, "1"));
    let mut records = Vec::new();
    for (tier, as_promised) in [("synced", [3.0, 3.0]), ("window", [3.0, 1.0])] {
        for (system, as_promised) in systems.iter().zip(as_promised) {
            let words = [("durability", tier)];
            let cell = cell_of(system, WorkloadKind::Durability, "power", Phase::Steady, &words);
            let mut trial = test_fixtures::trial(cell, 1, None);
            trial.metrics.extend([CRASHES.with_value(3.0), CRASHES_AS_PROMISED.with_value(as_promised)]);
            records.push(record(trial));
        }
    }
    let run = run_of_workload(WorkloadKind::Durability, systems.to_vec(), records);
    let answers = run.summary().answers;
    let told: Vec<(&str, Severity)> =
        answers.iter().map(|answer| (answer.sentence.as_str(), answer.severity)).collect();
    assert_eq!(
        told,
        [
            ("Promise of tier window broken by two (2 of 3 crashes)", Severity::Failed),
            (
                "Promise of tier synced kept by one and two in 3 crashes each, which is no proof",
                Severity::Good
            ),
        ]
    );
    assert_eq!(answers[0].outcome.configurations(), [0]);
}

#[test]
fn a_promise_broken_in_an_earlier_run_stands_first_in_others() {
    let mut run = run(&[("slow", SLOW), ("fast", FAST)]);
    let evidence = DurabilityEvidence {
        kind: CrashKind::Power,
        crashes: 3,
        without_loss: 1,
        as_promised: 1,
        date: "2026-11-23".into(),
    };
    run.manifest.configurations[1].durability = Some(Durability {
        tier: DurabilityTier::Synced,
        process_crash: "nothing".into(),
        power_loss: "nothing".into(),
        basis: String::new(),
        tested: vec![evidence],
    });
    let first = run.summary().answers.remove(0);
    assert_eq!(first.sentence, "Promise of tier synced broken by fast (2 of 3 power cuts, 2026-11-23)");
    assert_eq!((first.severity, first.subject), (Severity::Failed, AnswerSubject::Durability));
}

#[test]
fn the_round_trip_counts_what_decides_whether_a_system_is_i_json_safe() {
    let systems = ["one", "two"].map(|system| test_fixtures::configuration(system, "1"));
    let cases = ["a", "b"].map(|name| KnownCase {
        name: name.into(),
        requirement: RfcRequirement::Accept,
        source: String::new(),
        probes: String::new(),
        decides_i_json: true,
        bytes: 2,
        document: "{}".into(),
    });
    let mut records = Vec::new();
    for (system, states) in systems.iter().zip([["same value", "same bytes"], ["same value", "changed"]]) {
        for (case, state) in cases.iter().zip(states) {
            let cell = cell_of(system, WorkloadKind::Fidelity, &case.name, Phase::Steady, &[]);
            let mut trial = test_fixtures::trial(cell, 1, None);
            let finding = |subject: &str, state: &str| Finding::new(subject, state.to_owned());
            for path in ["bulk", "parameter"] {
                trial.findings.push(finding(path, "accepted"));
                trial.findings.push(finding(&format!("{path}, whole"), state));
            }
            records.push(record(trial));
        }
    }
    let mut run = run_of_workload(WorkloadKind::Fidelity, systems.to_vec(), records);
    let settings = FidelitySettings { cases: cases.to_vec(), ..FidelitySettings::default() };
    run.manifest.settings.workload.fidelity = Some(settings);
    let round_trip = only(&run, AnswerSubject::RoundTrip);
    assert_eq!(round_trip.sentence, "All 2 I-JSON objects preserved by one; fewest by two, 1");
    assert_eq!(round_trip.outcome.configurations(), [0]);
}
