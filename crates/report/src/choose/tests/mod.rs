mod fixtures;

use jsonathlon_choose::Dimension;
use jsonathlon_choose::decision::{Best, Decision};
use jsonathlon_choose::facts::Measured;
use jsonathlon_choose::judgement::NeedState;
use jsonathlon_choose::needs::{Criterion, Quantile};
use jsonathlon_schema::metric::Unit;

use super::*;
use fixtures::*;

/// Width of a terminal that is not known, such as a pipe.
const WIDTH: usize = 100;

/// Everything that a choice prints within 100 columns, after a check of its extent.
fn printed(decision: &Decision) -> String {
    let runs = runs();
    let result = ChooseResult::new(decision, &runs, Path::new("mine"));
    for width in [80, WIDTH, 120, 160] {
        let text = all(&result, TableStyle::PLAIN.compact(width));
        let widest = text.lines().map(wrap::width).max().unwrap();
        assert!(widest <= width, "{widest} of {width}:\n{text}");
        assert!(text.lines().count() <= MAX_LINES, "{} lines:\n{text}", text.lines().count());
        let closing = result.closing_answer(Path::new("mine/choose.html"), TableStyle::PLAIN.compact(width));
        assert!(closing.lines().count() <= MAX_CLOSING_LINES, "{closing}");
        assert!(closing.lines().all(|line| wrap::width(line) <= MAX_WIDTH), "{closing}");
        assert!(closing.ends_with("  page: mine/choose.html\n"), "{closing}");
    }
    all(&result, TableStyle::PLAIN.compact(WIDTH))
}

fn all(result: &ChooseResult<'_>, style: TableStyle) -> String {
    result.tables(style) + &result.closing_answer(Path::new("mine/choose.html"), style)
}

/// Without needs, every system has its figures.
fn without_needs() -> Decision {
    let mut decision = decision(
        "SQLite 3.50.4 answers fastest (p99 of updates 1.3 ms); no difference in size is shown.",
        Vec::new(),
        vec![candidate(sqlite(), &[], &[]), candidate(postgresql(), &[], &[]), candidate(duckdb(), &[], &[])],
    );
    for candidate in &mut decision.candidates {
        candidate.figures.remove(&Dimension::Size);
        if candidate.facts.at_rate.is_none() {
            candidate.figures.remove(&Dimension::Response);
            candidate.figures.remove(&Dimension::Rate);
        }
    }
    decision.best.push(Best {
        criterion: Criterion::Report,
        first: 2,
        tied: vec![0],
        worse: vec![1],
        unknown: vec![],
        sentence: "DuckDB and SQLite: no difference between reports is shown".to_owned(),
    });
    decision.changes.clear();
    decision
}

#[test]
fn without_needs_the_best_of_each_column_is_marked() {
    insta::assert_snapshot!(printed(&without_needs()));
}

#[test]
fn two_systems_meet_all_needs() {
    insta::assert_snapshot!(printed(&usual()));
}

#[test]
fn nobody_meets_all_needs() {
    let needs = all_needs();
    let slow = (Dimension::Response, NeedState::NotMet, "p99 of updates 17.6 ms (16.5 … 18.8 ms)", "17.6 ms");
    let embedded = (Dimension::Kind, NeedState::NotMet, "embedded", "embedded");
    let candidates = vec![
        candidate(sqlite(), &needs, &[embedded]),
        candidate(mongodb(), &needs, std::slice::from_ref(&slow)),
    ];
    let headline = "No system meets all eight needs. SQLite 3.50.4 misses one: it is no server; MongoDB 8.2.1 \
                    misses one: p99 of updates is 1.8 × its limit.";
    insta::assert_snapshot!(printed(&decision(headline, needs, candidates)));
}

#[test]
fn what_was_not_tested_says_why() {
    let needs = all_needs();
    let power = "declared, not proven here: --prove";
    let reason = "DuckDB has no folder serving/";
    let candidates = vec![
        candidate(postgresql(), &needs, &[not_tested(Dimension::Durability, power)]),
        candidate(
            duckdb(),
            &needs,
            &[
                not_tested(Dimension::Durability, power),
                not_tested(Dimension::Rate, reason),
                not_tested(Dimension::Response, reason),
            ],
        ),
    ];
    let headline = "No system is shown to meet all eight needs: durability was not tested.";
    insta::assert_snapshot!(printed(&decision(headline, needs, candidates)));
}

/// Nine systems, each with another mixture of states, by eight needs.
fn crowded() -> Decision {
    let needs = all_needs();
    let names = [
        ("postgresql", "PostgreSQL", "18.6"),
        ("elasticsearch", "Elasticsearch", "9.2.1"),
        ("mongodb", "MongoDB", "8.2.1"),
        ("clickhouse", "ClickHouse", "26.1.3"),
        ("mysql", "MySQL", "9.5.0"),
        ("mariadb", "MariaDB", "12.1.2"),
        ("dolt", "Dolt", "1.78.4"),
        ("sqlite", "SQLite", "3.50.4"),
        ("duckdb", "DuckDB", "1.4.2"),
    ];
    let candidates = names.into_iter().enumerate().map(|(index, (system, title, version))| {
        let states = [
            (Dimension::RoundTrip, NeedState::NotMet, "312 of 200,000 documents changed", "312 changed"),
            (Dimension::Response, NeedState::NotShown, "p99 of updates 10.2 ms (9.7 … 11 ms)", "10.2 ms"),
            not_tested(Dimension::Durability, "declared, not proven here: --prove"),
            (Dimension::Rate, NeedState::NotMet, "140 of 2,000 operations/s", "140/s"),
            not_tested(Dimension::Report, "the time budget leaves questions out"),
        ];
        let states = &states[..index.min(states.len())];
        candidate(facts(system, title, version, index < 7, 0.002 * (index + 1) as f64), &needs, states)
    });
    let mut decision = decision(&usual().headline, needs.clone(), candidates.collect());
    decision.changes = (1..=12)
        .map(|limit| {
            format!("A limit of {limit}0 ms for the response time lets MongoDB 8.2.1 and MySQL 9.5.0 in")
        })
        .collect();
    decision.notes = vec!["the load of Dolt 1.78.4 failed twice and was repeated".to_owned(); 12];
    decision
}

#[test]
fn nine_systems_by_eight_needs_have_room_on_a_screen() {
    let text = printed(&crowded());
    for name in ["PostgreSQL", "Elasticsearch", "ClickHouse", "DuckDB"] {
        assert!(text.contains(name), "{name} is missing:\n{text}");
    }
    insta::assert_snapshot!(text);
}

#[test]
fn more_systems_than_lines_are_counted() {
    let mut decision = crowded();
    let more: Vec<_> = decision.candidates.iter().cloned().cycle().take(40).collect();
    decision.candidates = more;
    let text = printed(&decision);
    assert!(text.contains(" more: see the page\n"), "{text}");
}

#[test]
fn a_narrow_terminal_gets_a_list() {
    let (decision, runs) = (crowded(), runs());
    let result = ChooseResult::new(&decision, &runs, Path::new("mine"));
    let text = result.tables(TableStyle::PLAIN.compact(40));
    assert!(text.lines().all(|line| wrap::width(line) <= 40), "{text}");
    assert!(text.contains("  Elasticsearch 9.2.1\n") && text.contains("round trip: ✖ not met 312"), "{text}");
}

#[test]
fn colours_say_nothing_that_words_do_not() {
    let (decision, runs) = (usual(), runs());
    let result = ChooseResult::new(&decision, &runs, Path::new("mine"));
    let width = 160;
    let style = TableStyle::COLOURED.compact(width);
    let coloured = all(&result, style);
    for code in ["\u{1b}[32m✔ met", "\u{1b}[31m✖ not met", "\u{1b}[33m? not shown", "\u{1b}[2m– not tested"]
    {
        assert!(coloured.contains(code), "{code:?} is not in {coloured:?}");
    }
    let mut plain = coloured;
    for code in ["[0m", "[1m", "[2m", "[31m", "[32m", "[33m"] {
        plain = plain.replace(&format!("\u{1b}{code}"), "");
    }
    assert_eq!(plain, all(&result, TableStyle::PLAIN.compact(width)));
}

#[test]
fn markdown_has_the_same_cells() {
    let (decision, runs) = (usual(), runs());
    let text = ChooseResult::new(&decision, &runs, Path::new("mine")).markdown();
    assert!(text.contains("| MongoDB 8.2.1, server | ✔ met 3 process crashes"), "{text}");
    assert!(text.contains("✖ not met 312 of 200,000 documents changed"), "{text}");
    assert!(text.contains("## what would change the answer"), "{text}");
}

fn page_of(decision: &Decision) -> String {
    let runs = runs();
    let commands = [(Part::Serving, "jsonathlon run serving --data orders.ndjson".to_owned())].into();
    ChooseResult::new(decision, &runs, Path::new("mine")).with_commands(commands).page()
}

#[test]
fn the_page_holds_the_figure_of_every_judgement_with_its_evidence() {
    let decision = usual();
    let page = page_of(&decision);
    let text = page.replace('\u{a0}', " ");
    for candidate in &decision.candidates {
        for judgement in &candidate.judgements {
            assert!(text.contains(&judgement.figure.words), "{}", judgement.figure.words);
            assert!(text.contains(judgement.state.word()));
        }
    }
    let cells = decision.candidates.len() * decision.needs.len();
    assert_eq!(page.matches("<details id=\"need-").count(), cells);
    // A system that meets all needs says so; signs and words stand beside colours.
    assert_eq!(page.matches("meets all needs").count(), 2);
    for marked in ["✔ met", "✖ not met", "? not shown", "– not tested"] {
        assert!(page.contains(marked), "{marked}");
    }
    // Trials, and the place where they are.
    assert!(text.contains("round 1: ") && text.contains("4 rounds"), "trials are missing");
    assert!(page.contains("href=\"serving/report.html#figure=serving:"), "the trials have no link");
    assert!(
        text.contains("lost 0 of 1,449 acknowledged writes")
            && text.contains("DuckDB has no folder serving/")
    );
    // Conditions and commands at the foot.
    for words in ["Some processor", "durability tier synced", "run serving --data orders.ndjson", "4 rounds"]
    {
        assert!(text.contains(words), "{words}");
    }
    assert!(text.contains("what would change the answer") || text.contains("What would change the answer"));
}

#[test]
fn the_page_is_one_file_without_a_script_and_its_charts_show_what_was_asked_for() {
    let page = page_of(&usual());
    for forbidden in ["<script", "http://", "https://", "NaN", "inf\""] {
        assert!(!page.contains(forbidden), "{forbidden}");
    }
    // Reads, updates, a question, and sizes, each for desktops and for phones.
    assert_eq!(page.matches("<figure").count(), 4);
    assert_eq!(page.matches("<svg").count(), 2 * 4);
    for words in ["your limit: p99 &lt; 10 ms", "your rate: 2,000/s", "your number: 50,000,000 documents"] {
        assert!(page.contains(words), "{words}");
    }
    assert!(page.contains("estimated: hollow") && page.contains("hollow circle: at rest, hot"));
    assert!(page.contains("Not drawn: DuckDB 1.4.2"), "who is missing in a chart is not said");
}

#[test]
fn one_rate_and_one_size_are_rows_and_not_curves() {
    let mut decision = usual();
    decision.needs.retain(|need| need.dimension() != Dimension::Size);
    for candidate in &mut decision.candidates {
        candidate.facts.other_rates.clear();
        candidate.facts.sizes.drain(..2);
        candidate.judgements.retain(|judgement| judgement.need.dimension() != Dimension::Size);
    }
    let page = page_of(&decision);
    assert!(page.contains("update: p99 of response times at 2,000/s"));
    assert!(page.contains("size on disk, less is better, from zero") && page.contains("<rect "));
}

#[test]
fn doubtful_figures_are_not_drawn_and_missed_rates_are_said() {
    let mut decision = usual();
    let at_rate = decision.candidates[0].facts.at_rate.as_mut().unwrap();
    let Some(Measured::Value(read)) = at_rate.response[0].quantiles.get_mut(&Quantile::P99) else { panic!() };
    read.doubt = Some("not verified".to_owned());
    decision.candidates[1].facts.other_rates[1].kept_share = measured("postgresql", Unit::Share, 0.6);
    let page = page_of(&decision);
    assert!(page.contains("SQLite 3.50.4 at 2,000/s (not verified)"));
    assert!(page.contains("Rates that were not held: PostgreSQL 18.6 at 4,000/s (60 % in time)."));
    // The other two rates of its reads are drawn, and all three of its updates, for desktops and for phones.
    let drawn = |operation: &str| {
        let (_, chart) = page.split_once(&format!("chart-title\">{operation}: p99")).unwrap();
        let (chart, _) = chart.split_once("</figure>").unwrap();
        chart.matches("<title>SQLite 3.50.4 at ").count()
    };
    assert_eq!((drawn("read"), drawn("update")), (2 * 2, 2 * 3));
}

#[test]
fn hostile_names_and_texts_stay_text() {
    let mut decision = usual();
    let hostile = "<img src=x onerror=alert(1)>\u{1b}[31m</details>";
    let candidate = &mut decision.candidates[0];
    candidate.facts.name = hostile.to_owned();
    candidate.facts.short_name = hostile.to_owned();
    candidate.judgements[0].figure.words = hostile.to_owned();
    candidate.facts.reports[0].title = hostile.to_owned();
    decision.headline = hostile.to_owned();
    decision.changes = vec![hostile.to_owned()];
    let page = page_of(&decision);
    assert!(!page.contains("<img") && !page.contains('\u{1b}') && page.contains("&lt;img src=x"));
    assert_eq!(page.matches("<details").count(), page.matches("</details>").count());
    let runs = runs();
    let result = ChooseResult::new(&decision, &runs, Path::new("mine"));
    assert!(!all(&result, TableStyle::PLAIN.compact(WIDTH)).contains('\u{1b}'));
    assert!(!result.markdown().contains("<img"));
}

#[test]
fn a_page_has_no_path_of_the_machine() {
    let (decision, mut runs) = (usual(), runs());
    runs[0].1.manifest.data.source = "/home/alice/private/orders.ndjson".to_owned();
    let commands = [(Part::Serving, "jsonathlon run serving --data /home/alice/private/orders".to_owned())];
    let result = ChooseResult::new(&decision, &runs, Path::new("mine")).with_commands(commands.into());
    let page = result.page();
    assert!(!page.contains("alice") && page.contains("…/orders.ndjson") && page.contains("--data …/orders"));
}

#[test]
fn reasons_for_caution_come_before_the_table() {
    let (decision, mut runs) = (usual(), runs());
    let manifest = &mut runs[0].1.manifest;
    manifest.settings.run.rounds = 2;
    manifest.plan.trials.push("never run".to_owned());
    let result = ChooseResult::new(&decision, &runs, Path::new("mine"));
    let tables = result.tables(TableStyle::PLAIN.compact(WIDTH));
    let (before, _) = tables.split_once("  system").unwrap();
    for words in [
        "✖ INCOMPLETE: some planned trials have not run: 1 of serving",
        "⚠ few rounds show few differences: 2 rounds of serving",
    ] {
        assert!(before.contains(words), "{words}:\n{tables}");
        let words = words.replace("✖ ", "").replace("⚠ ", "");
        assert!(result.page().contains(&words), "{words}");
    }
}

#[test]
fn without_anything_measured_there_is_a_page_all_the_same() {
    let decision = decision("Nothing was measured.", Vec::new(), Vec::new());
    let decision = Decision { best: Vec::new(), changes: Vec::new(), ..decision };
    let result = ChooseResult::new(&decision, &[], Path::new(""));
    assert!(result.page().contains("Nothing was measured.") && !result.page().contains("<svg"));
    assert!(result.tables(TableStyle::PLAIN.compact(WIDTH)).starts_with("Nothing was measured.\n"));
}
