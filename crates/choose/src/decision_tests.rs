use jsonathlon_schema::durability::CrashKind;
use jsonathlon_schema::metric::Unit;
use jsonathlon_schema::record::FailureKind;

use super::*;
use crate::facts::{Measured, Measurement};
use crate::facts_for_tests::{ALL_NEEDS, changing, figure as measurement, losing, needs, saturated, system};

fn decide(text: &str, facts: Vec<SystemFacts>) -> Decision {
    Decision::new(&needs(text), facts)
}

fn headline(text: &str, facts: Vec<SystemFacts>) -> String {
    decide(text, facts).headline
}

/// Number of sentences of a headline: full stops that end it or are followed by a space and a capital letter.
fn sentences(headline: &str) -> usize {
    let ends = headline
        .match_indices(". ")
        .filter(|(at, _)| headline[at + 2..].chars().next().is_some_and(char::is_uppercase));
    ends.count() + usize::from(headline.ends_with('.'))
}

fn embedded(facts: SystemFacts) -> SystemFacts {
    SystemFacts { is_server: false, ..facts }
}

/// Sizes that are a multiple of those of [`system`].
fn sized(mut facts: SystemFacts, factor: f64) -> SystemFacts {
    let name = facts.title.clone();
    for point in &mut facts.sizes {
        let bytes = 1_000.0 * factor * point.documents as f64;
        point.bytes = Measured::Value(measurement(&name, "size", Unit::Bytes, bytes, 0.01));
    }
    facts
}

/// A system whose response times scatter so much that they differ from nobody's.
fn scattered(name: &str, p99_s: f64) -> SystemFacts {
    let mut facts = system(name, p99_s);
    let at_rate = facts.at_rate.as_mut().unwrap();
    for measured in at_rate.response.iter_mut().flat_map(|response| response.quantiles.values_mut()) {
        if let Measured::Value(Measurement { by_round, value, .. }) = measured {
            // Pairs of rounds differ in both directions.
            let mut factors = [0.2, 5.0, 1.0, 0.3, 3.0];
            if name > "A" {
                factors.reverse();
            }
            *by_round = (1..).zip(factors.map(|factor| vec![*value * factor])).collect();
        }
    }
    facts
}

#[test]
fn who_meets_all_needs_is_ranked_and_the_others_say_why_not() {
    let decision = decide(
        ALL_NEEDS,
        vec![
            system("PostgreSQL", 0.0031),
            changing(system("MongoDB", 0.002), 312),
            embedded(system("SQLite", 0.0008)),
            saturated(embedded(system("DuckDB", 5.0)), 0.07),
        ],
    );
    assert_eq!(
        decision.headline,
        "SQLite 1.0 and PostgreSQL 1.0 meet all eight needs; SQLite answers faster (p99 800 µs against 3.1 ms), \
         PostgreSQL is a server. MongoDB 1.0 changes 312 of 200,000 documents; DuckDB 1.0 holds 140 of 2,000 \
         operations/s."
    );
    let order: Vec<&str> =
        decision.candidates.iter().map(|candidate| candidate.facts.title.as_str()).collect();
    assert_eq!(order, ["SQLite", "PostgreSQL", "MongoDB", "DuckDB"]);
    let meeting: Vec<bool> = decision.candidates.iter().map(|candidate| candidate.meets_all).collect();
    assert_eq!(meeting, [true, true, false, false]);
}

#[test]
fn nobody_leads_without_a_shown_difference() {
    let text = headline(ALL_NEEDS, vec![scattered("A", 0.002), scattered("B", 0.003)]);
    assert_eq!(text, "A 1.0 and B 1.0 meet all eight needs; no difference between them is shown.");
    // The next criterion decides, and says that the one before did not.
    let text = headline(ALL_NEEDS, vec![sized(scattered("A", 0.002), 2.0), scattered("B", 0.003)]);
    assert_eq!(
        text,
        "B 1.0 and A 1.0 meet all eight needs; by response time, reports and capacity no difference is shown, and \
         B is smaller (200 MB against 400 MB)."
    );
    // A criterion that takes one out decides among the others alone.
    let third = sized(system("C", 0.009), 0.1);
    let text = headline(ALL_NEEDS, vec![sized(scattered("A", 0.0002), 2.0), scattered("B", 0.0003), third]);
    assert_eq!(
        text,
        "B 1.0, A 1.0 and C 1.0 meet all eight needs; by response time, reports and capacity no difference \
         between B and A is shown, and B is smaller (200 MB against 400 MB of A)."
    );
}

#[test]
fn a_preference_decides_first() {
    let text = format!("{ALL_NEEDS}\n[prefer]\norder = [\"size\"]\n");
    assert_eq!(
        headline(
            &text,
            vec![sized(system("A", 0.001), 2.0), system("B", 0.003), sized(system("C", 0.003), 3.0)]
        ),
        "B 1.0, A 1.0 and C 1.0 meet all eight needs; B is smallest (200 MB against 400 MB of A)."
    );
}

#[test]
fn an_estimate_ranks_nobody() {
    // Measured sizes are equal, and only the estimates differ.
    let mut later = system("A", 0.002);
    if let Measured::Value(measurement) = &mut later.sizes[1].bytes {
        measurement.value *= 1.2;
    }
    let decision = decide(
        "[documents]\nlater = \"20m\"\n[needs]\nsize = \"later < 400GB\"\n[prefer]\norder = [\"size\"]\n",
        vec![later, system("B", 0.002)],
    );
    let size = decision.best.iter().find(|best| best.criterion == Criterion::Size).unwrap();
    assert_eq!((size.tied.len(), size.worse.len()), (1, 0), "{}", size.sentence);
    assert!(!decision.headline.contains("smaller"), "{}", decision.headline);
    assert!(decision.notes.iter().any(|note| note.contains("estimated along a straight line")));
}

#[test]
fn where_nobody_meets_all_it_says_who_misses_least() {
    let text = headline(
        ALL_NEEDS,
        vec![
            changing(saturated(system("MongoDB", 0.5), 0.5), 312),
            saturated(system("SQLite", 0.5), 0.07),
            system("PostgreSQL", 0.0162),
        ],
    );
    assert_eq!(
        text,
        "No system meets all eight needs; PostgreSQL 1.0 misses least: it answers in 16.2 ms (p99) instead of less \
         than 10 ms. SQLite 1.0 holds 140 of 2,000 operations/s; MongoDB 1.0 changes 312 of 200,000 documents."
    );
    // Of two that miss one need each, the smaller factor is less.
    let text = headline(ALL_NEEDS, vec![system("A", 0.05), system("B", 0.02)]);
    assert!(
        text.starts_with("No system meets all eight needs; B 1.0 misses least: it answers in 20 ms"),
        "{text}"
    );
    // What is only not shown misses less than what is shown not to be met.
    let text = headline(ALL_NEEDS, vec![system("A", 0.05), system("B", 0.0101)]);
    assert_eq!(
        text,
        "No system is shown to meet all eight needs; B 1.0 comes closest: it is not shown to meet p99 < 10 ms (update \
         p99 10.1 ms (9.59 … 10.6)). A 1.0 answers in 50 ms (p99) instead of less than 10 ms."
    );
    let untested =
        |name| SystemFacts { at_rate: None, durability: Default::default(), ..system(name, 0.001) };
    let text = headline(ALL_NEEDS, vec![untested("A"), untested("B")]);
    assert_eq!(
        text,
        "No system is shown to meet all eight needs; A 1.0 and B 1.0 meet five each. A 1.0 and B 1.0 were not tested \
         for durability, rate and response time (not measured)."
    );
    let text = headline(ALL_NEEDS, vec![changing(system("A", 0.001), 1), changing(system("B", 0.001), 2)]);
    assert_eq!(
        text,
        "No system meets all eight needs; A 1.0 and B 1.0 meet seven each. A 1.0 changes 1 of 200,000 \
         documents; B 1.0 changes 2 of 200,000 documents."
    );
    let text = headline(ALL_NEEDS, vec![losing(system("A", 0.001), CrashKind::Process)]);
    assert_eq!(
        text,
        "No system meets all eight needs: A 1.0 loses 134 of 1,593 acknowledged writes in 2 of 3 kills."
    );
}

#[test]
fn one_system_alone_is_told_without_a_comparison() {
    assert_eq!(headline(ALL_NEEDS, vec![system("A", 0.001)]), "A 1.0 meets all eight needs.");
    assert_eq!(
        headline(ALL_NEEDS, vec![system("A", 0.001), changing(system("B", 0.001), 2)]),
        "A 1.0 alone meets all eight needs. B 1.0 changes 2 of 200,000 documents."
    );
    assert_eq!(headline("[needs]\nkind = \"server\"", vec![system("A", 0.001)]), "A 1.0 meets the need.");
    assert_eq!(headline(ALL_NEEDS, vec![]), "No system was measured.");
    assert_eq!(headline("", vec![]), "No system was measured.");
}

#[test]
fn without_needs_it_says_who_is_best_at_what() {
    let decision = decide(
        "",
        vec![
            system("PostgreSQL", 0.0031),
            changing(sized(system("MongoDB", 0.002), 0.5), 312),
            embedded(sized(system("SQLite", 0.0008), 0.9)),
        ],
    );
    assert_eq!(
        decision.headline,
        "SQLite 1.0 answers fastest (p99 800 µs); MongoDB 1.0 is smallest (100 MB). MongoDB 1.0 changes 312 of \
         200,000 documents."
    );
    let sentences: Vec<&str> = decision.best.iter().map(|best| best.sentence.as_str()).collect();
    assert_eq!(
        sentences,
        [
            "Response time (p99): SQLite 1.0 is best (p99 800 µs), before MongoDB 1.0 (2 ms).",
            "Reports under load (the slowest question): PostgreSQL 1.0 has the best figure (1.2 s), and no difference from \
             MongoDB 1.0 and SQLite 1.0 is shown.",
            "Capacity: PostgreSQL 1.0 has the best figure (10,000/s), and no difference from MongoDB 1.0 and SQLite \
             1.0 is shown.",
            "Size: MongoDB 1.0 is best (100 MB), before SQLite 1.0 (180 MB).",
        ]
    );
    // SQLite is faster and smaller than PostgreSQL and not worse in anything; MongoDB is smaller than both.
    let dominated: Vec<Option<&str>> =
        decision.candidates.iter().map(|candidate| candidate.dominated_by.as_deref()).collect();
    assert_eq!(dominated, [Some("SQLite 1.0"), None, None]);
    assert_eq!(
        decision.notes,
        ["PostgreSQL 1.0 is dominated by SQLite 1.0, which equals or beats it in everything measured, but \
          PostgreSQL 1.0 is a server and SQLite 1.0 is not."]
    );
    assert!(decision.changes.is_empty());
    assert_eq!(headline("", vec![system("A", 0.001)]), "Only A 1.0 was measured.");
    assert_eq!(
        headline("", vec![scattered("A", 0.001), scattered("B", 0.001)]),
        "No difference between A 1.0 and B 1.0 is shown."
    );
}

#[test]
fn what_was_not_measured_dominates_nothing_and_is_dominated_by_nothing() {
    let mut unmeasured = system("A", 0.0001);
    unmeasured.sizes.clear();
    let decision = decide("", vec![unmeasured, system("B", 0.005)]);
    assert!(decision.candidates.iter().all(|candidate| candidate.dominated_by.is_none()));
    let mut unmeasured = system("A", 0.05);
    unmeasured.sizes.clear();
    let decision = decide("", vec![unmeasured, system("B", 0.005)]);
    assert!(decision.candidates.iter().all(|candidate| candidate.dominated_by.is_none()), "A may be smaller");
    let mut uncrashed = system("A", 0.05);
    uncrashed.durability.evidence.clear();
    let decision = decide("", vec![uncrashed, system("B", 0.005)]);
    assert!(
        decision.candidates.iter().all(|candidate| candidate.dominated_by.is_none()),
        "A may lose nothing"
    );
    // Lost writes are no equal of kept ones, however fast they were.
    let decision = decide("", vec![losing(system("A", 0.0001), CrashKind::Power), system("B", 0.005)]);
    assert!(decision.candidates.iter().all(|candidate| candidate.dominated_by.is_none()));
}

#[test]
fn nobody_leads_over_a_system_without_a_figure() {
    let mut unmeasured = system("C", 0.003);
    unmeasured.at_rate = None;
    let decision = decide("", vec![system("A", 0.001), sized(system("B", 0.002), 0.1), unmeasured]);
    assert_eq!(decision.headline, "B 1.0 is smallest (20.0 MB).");
    let response = &decision.best[0];
    assert_eq!((response.leads(), response.unknown.as_slice()), (false, [2].as_slice()));
    assert_eq!(
        response.sentence,
        "Response time (p99): nobody is shown to be best, because C 1.0 has no figure that counts; the best figure is \
         that of A 1.0 (p99 1 ms)."
    );
    let json = decision.json();
    assert_eq!(json["best"][0]["without_figure"], serde_json::json!(["C 1.0"]));
}

#[test]
fn a_preference_that_not_all_have_a_figure_of_is_told() {
    let needs =
        "[load]\nreads = 1.0\n[needs]\nkind = \"any\"\n[prefer]\norder = [\"response p99\", \"size\"]\n";
    let mut unmeasured = sized(system("B", 0.003), 2.0);
    unmeasured.at_rate = None;
    let text = headline(needs, vec![system("A", 0.001), unmeasured.clone()]);
    assert_eq!(
        text,
        "A 1.0 and B 1.0 meet the need; by response time no difference is shown, and A is smaller (200 MB against 400 MB)."
    );
    let mut both = vec![system("A", 0.001), unmeasured];
    both[0].at_rate = None;
    let decision = decide(needs, both);
    let note = "The preference \"response p99\" decides nothing, because nobody has a figure that counts.";
    assert!(decision.notes.iter().any(|other| other == note), "{:?}", decision.notes);
    assert!(!decision.headline.contains("response time"), "{}", decision.headline);
}

#[test]
fn more_than_any_other_is_said_only_of_more_needs() {
    let nearly = |name| system(name, 0.0101);
    let text = headline(ALL_NEEDS, vec![nearly("A"), nearly("B"), system("C", 0.05)]);
    assert!(text.contains("A 1.0 and B 1.0 meet seven each. "), "C meets seven, too: {text}");
    let text = headline(ALL_NEEDS, vec![nearly("A"), nearly("B"), changing(system("C", 0.05), 1)]);
    assert!(text.contains("A 1.0 and B 1.0 meet seven each, more than any other. "), "{text}");
}

#[test]
fn wrong_answers_and_crashes_are_told_whatever_is_needed() {
    let fault = |kind, trials| crate::facts::PartFault {
        part: crate::facts::Part::Questions,
        kind,
        trials,
        error: "1 row differs".to_owned(),
    };
    let mut facts = system("A", 0.001);
    facts.faults = vec![fault(FailureKind::Wrong, 1), fault(FailureKind::Crash, 3)];
    let decision = decide("[needs]\nkind = \"any\"", vec![facts.clone()]);
    assert_eq!(decision.headline, "A 1.0 meets the need.");
    let expected = [
        "A 1.0 answered wrongly in questions: 1 row differs.",
        "A 1.0 crashed in questions, the first of 3 trials with wrong answers or crashes: 1 row differs.",
    ];
    assert_eq!(decision.faults, expected);
    assert_eq!(decision.json()["notes"][0], expected[0]);
    let text = headline("", vec![facts, system("B", 0.001)]);
    assert!(text.ends_with(" A 1.0 answers wrongly in questions (1 row differs)."), "{text}");
}

#[test]
fn figures_of_fewer_documents_are_judged_and_not_compared() {
    let mut lacking = sized(system("A", 0.001), 0.5);
    if let Measured::Value(measurement) = &mut lacking.sizes[2].bytes {
        measurement.lacks_documents = true;
    }
    lacking.documents.as_mut().unwrap().loaded = 150_000;
    let needs = "[needs]\nsize = \"now < 1GB\"\n";
    let decision = decide(needs, vec![lacking, system("B", 0.001)]);
    assert!(decision.candidates.iter().all(|candidate| candidate.meets_all));
    let size = decision.best.iter().find(|best| best.criterion == Criterion::Size).unwrap();
    assert!(!size.leads() && !decision.headline.contains("smaller"), "{}", decision.headline);
    let note = "A 1.0 holds 150,000 of 200,000 documents; its figures are those of fewer documents and are not \
                compared with others.";
    assert!(decision.notes.iter().any(|other| other == note), "{:?}", decision.notes);
}

#[test]
fn a_change_that_would_not_let_a_system_in_is_not_told() {
    // Reads are faster and scatter far beyond the limit of the updates.
    let mut facts = system("A", 0.012);
    let reads = measurement("A", "mix", Unit::Seconds, 0.0119, 5.0);
    let response = &mut facts.at_rate.as_mut().unwrap().response;
    response[0].quantiles.insert(crate::needs::Quantile::P99, Measured::Value(reads));
    assert!(decide(ALL_NEEDS, vec![facts]).changes.is_empty());
    // A sample shows the same values of some documents only, so that fewer needs are no way in.
    let mut sampled = system("B", 0.001);
    sampled.round_trip.as_mut().unwrap().is_complete = false;
    let needs = ALL_NEEDS.replace("same values", "same bytes");
    assert!(decide(&needs, vec![sampled.clone()]).changes.is_empty(), "bytes were not tested");
    let bytes = crate::facts::ComparedBytes { compared: 1_000, different: 7, is_complete: false };
    sampled.round_trip.as_mut().unwrap().bytes = Some(bytes);
    assert_eq!(
        decide(&needs, vec![sampled]).changes,
        ["B 1.0 would meet all needs if documents may be changed."]
    );
}

#[test]
fn it_says_what_would_change_the_decision() {
    let decision = decide(
        ALL_NEEDS,
        vec![
            system("PostgreSQL", 0.0031),
            system("MySQL", 0.012),
            changing(system("MongoDB", 0.002), 312),
            changing(system("MariaDB", 0.05), 2),
        ],
    );
    assert_eq!(
        decision.changes,
        [
            "MySQL 1.0 would meet all needs at p99 < 13 ms.",
            "MongoDB 1.0 would meet all needs if documents may be changed.",
            "PostgreSQL 1.0 would miss p99 < 2.9 ms.",
            "PostgreSQL 1.0 would miss reports in less than 1.1 s.",
            "PostgreSQL 1.0 would miss a size of less than 17.0 GB later, by the estimate.",
        ]
    );
    // Within its interval nothing is shown, so nothing is said of it.
    let once = Measurement { interval: None, ..measurement("A", "q1", Unit::Seconds, 5.0, 0.1) };
    let mut facts = system("A", 0.001);
    facts.reports[0].under_load = Some(Measured::Value(once));
    assert!(decide(ALL_NEEDS, vec![facts]).changes.is_empty());
}

#[test]
fn a_headline_has_two_sentences_at_most() {
    let names = ["A", "B", "C", "D", "E", "F", "G"];
    let all_missing: Vec<SystemFacts> =
        (1..).zip(names).map(|(number, name)| changing(saturated(system(name, 0.5), 0.1), number)).collect();
    let half: Vec<SystemFacts> = names
        .iter()
        .enumerate()
        .map(|(index, name)| {
            let facts = system(name, 0.001 * (index + 1) as f64);
            if index % 2 == 0 { losing(facts, CrashKind::Power) } else { facts }
        })
        .collect();
    // Messages of systems may have sentences of their own.
    let mut failing = system("H", 0.001);
    let message = "Out of memory. Restart it. Then try again.".to_owned();
    failing.reports[0].under_load = Some(Measured::Failed(crate::figures::shortened(&message)));
    let failing = vec![failing, system("I", 0.001)];
    for facts in [all_missing.clone(), half.clone(), failing] {
        for text in [ALL_NEEDS, ""] {
            let headline = headline(text, facts.clone());
            assert!((1..=2).contains(&sentences(&headline)), "{headline}");
            assert!(!headline.contains("  ") && headline.ends_with('.'), "{headline}");
        }
    }
    assert!(headline(ALL_NEEDS, all_missing).ends_with("three more miss needs."));
    // What several systems do is said once.
    let same: Vec<SystemFacts> = names.iter().map(|name| changing(system(name, 0.001), 5)).collect();
    let text = headline(ALL_NEEDS, same);
    assert!(
        text.ends_with(" A 1.0, B 1.0, C 1.0, D 1.0, E 1.0, F 1.0 and G 1.0 change 5 of 200,000 documents."),
        "{text}"
    );
}

#[test]
fn json_has_every_need_of_every_system() {
    let decision = decide(ALL_NEEDS, vec![system("A", 0.003), changing(system("B", 0.003), 7)]);
    let json = decision.json();
    assert_eq!(
        (json["schema"].as_u64(), json["headline"].as_str()),
        (Some(1), Some(decision.headline.as_str()))
    );
    let b = &json["systems"][1];
    assert_eq!((b["system"].as_str(), b["meets_all"].as_bool()), (Some("B"), Some(false)));
    let needs = b["needs"].as_object().unwrap();
    let keys: Vec<&str> = needs.keys().map(String::as_str).collect();
    let mut expected = Dimension::ALL.map(Dimension::key);
    expected.sort_unstable();
    assert_eq!(keys, expected);
    let response = &needs["response"];
    assert_eq!(response["state"], "met");
    assert_eq!((response["limit"].as_f64(), response["unit"].as_str()), (Some(0.01), Some("s")));
    assert!(response["low"].as_f64() < response["value"].as_f64());
    assert_eq!(response["run"], "serving");
    assert_eq!(
        (needs["round_trip"]["state"].as_str(), needs["round_trip"]["value"].as_f64()),
        (Some("not met"), Some(7.0))
    );
    assert_eq!(needs["size"]["estimate"], true);
    let without = decide("", vec![system("A", 0.003)]).json();
    assert!(without["systems"][0]["meets_all"].is_null());
    assert_eq!(without["best"].as_array().unwrap().len(), 4);
}
