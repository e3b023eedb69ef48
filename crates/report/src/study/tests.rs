use std::path::Path;

use jsonathlon_results::test_fixtures::frontier::{FrontierFixture, frontier_run};
use jsonathlon_results::test_fixtures::serving::ServingFixture;
use jsonathlon_schema::record::Verdict;
use jsonathlon_studies::definition::Study;
use jsonathlon_studies::published::published_results;
use jsonathlon_studies::runs::StudySelection;

use super::*;

const STUDY: &str = r#"
question = "Does <it> matter?"
claim = "It was said to."
minutes = 1
systems = ["postgresql"]
experiments = ["size"]
[still]
mixes = "a,c"
clients = "1,8,32"
[[vary]]
option = "value-content"
values = ["text", "random"]
[chart]
axis = "clients"
[[verdict]]
mix = "c"
of = { value-content = "random" }
than = { value-content = "text" }
says = "with random values {system} does {change} reads at {clients} clients"
claim = "less"
published = "36 % fewer"
"#;

/// Synthetic runs of a study. PostgreSQL is `factor` times as fast in all but the first run.
fn synthetic_runs(factor: f64, study: &Study) -> Vec<(StudyRun, Run)> {
    let parts = study.runs(&StudySelection::default()).unwrap();
    let runs = parts.into_iter().enumerate().map(|(index, part)| {
        let factors = [("postgresql", if index == 0 { 1.0 } else { factor })].into();
        let fixture = ServingFixture { seed: 7 + index as u64, factors, ..ServingFixture::default() };
        (part, fixture.run(if index == 0 { "one" } else { "two" }))
    });
    runs.collect()
}

#[test]
fn a_difference_between_runs_is_said_with_its_interval_and_judged() {
    let study = Study::parse("mine", "mine.toml", STUDY).unwrap();
    let runs = synthetic_runs(0.6, &study);
    let result = StudyResult::new(&study, &runs, &published_results().unwrap());
    let sentence = result.sentence.to_string();
    assert!(sentence.starts_with("With random values postgresql does "), "{sentence}");
    let clause = &result.sentence.clauses[0];
    let ratio = clause.ratio.unwrap();
    assert!(
        (0.5..0.7).contains(&ratio.median) && ratio.low < Some(0.6) && ratio.high > Some(0.6),
        "{ratio:?}"
    );
    assert!(
        sentence.contains("% fewer (")
            && sentence.contains("at 32 clients (36 % fewer published: confirmed)"),
        "{sentence}"
    );
    // One clause per system; the other systems are equally fast in both runs.
    assert!(result.sentence.clauses.len() > 1);
    let tables = result.tables(TableStyle::PLAIN);
    for text in ["study mine: Does <it> matter?", "published  It was said to.", "where the curve falls"] {
        assert!(tables.contains(text), "`{text}` is not in\n{tables}");
    }
    let answer = result.closing_answer(Path::new("study.html"), TableStyle::PLAIN);
    let words = answer.split_whitespace().collect::<Vec<_>>().join(" ");
    let summary = result.sentence.summary().unwrap();
    assert!(summary.starts_with("A difference is shown in 1 of "), "{summary}");
    assert!(
        summary.contains(": with random values ")
            && summary.contains(" than with text values (postgresql, not ")
    );
    assert!(words.starts_with(&format!("answer {summary} With random values postgresql does ")), "{answer}");
    assert!(words.contains("at 32 clients (36 % fewer published: confirmed) With random values"), "{answer}");
    let page = result.page();
    let lead = page.find("<p class=\"lead\">A difference is shown in 1 of ").unwrap();
    let list = page.find("<ul class=\"answers\">\n<li>With random values postgresql does ").unwrap();
    assert!(lead < list, "the summary stands above the clauses");
    assert!(answer.ends_with("\n  page: study.html\n"), "{answer}");
    assert!(
        answer.lines().count() <= 12 && answer.lines().all(|line| line.chars().count() <= 80),
        "{answer}"
    );
    assert!(result.markdown().contains("## answer\n"), "{}", result.markdown());
    for width in [80, 100, 120] {
        let compact = result.tables(TableStyle::PLAIN.compact(width));
        assert!(compact.lines().all(|line| line.chars().count() <= width), "{compact}");
    }
}

#[test]
fn a_page_is_one_file_of_text_and_drawings() {
    let study = Study::parse("mine", "mine.toml", STUDY).unwrap();
    let runs = synthetic_runs(1.0, &study);
    let page = StudyResult::new(&study, &runs, &published_results().unwrap()).page();
    assert!(page.contains("Does &lt;it&gt; matter?") && !page.contains("<it>"), "{page}");
    // A chart for each mix and kind of values, a line for each system; drawn for desktops and for phones.
    assert_eq!(page.matches("<figure").count(), 4);
    assert_eq!(page.matches("<svg").count(), 2 * 4);
    assert_eq!(page.matches("<polyline").count(), 2 * 4 * 4);
    // The data of each chart can be saved under a name with subject and date.
    assert_eq!(page.matches("href=\"data:text/csv").count(), 4);
    assert!(
        page.contains("download=\"jsonathlon-study-mine-throughput-mix-a-value-content-text-20"),
        "{page}"
    );
    // Throughput is a rate: its axis has no zero. Colours are those of the pages of runs.
    assert!(
        page.contains("throughput, more is better, log scale") && !page.contains(", from zero"),
        "{page}"
    );
    assert!(page.contains("--colour-1:") && page.contains("fill=\"var(--colour-1)\""), "{page}");
    for forbidden in ["<script", "http://", "https://", "NaN", "inf"] {
        assert!(!page.contains(forbidden), "{forbidden}");
    }
}

#[test]
fn a_sweep_is_drawn_along_its_numbers_and_rows_stand_below_each_other() {
    let sweep = STUDY
        .replace(
            "option = \"value-content\"\nvalues = [\"text\", \"random\"]",
            "option = \"document-size\"\nvalues = [0.5, 2]",
        )
        .replace("axis = \"clients\"", "axis = \"document-size\"")
        .replace("value-content = \"random\"", "document-size = 2")
        .replace("value-content = \"text\"", "document-size = 0.5");
    let bars = STUDY.replace("[chart]\naxis = \"clients\"\n", "");
    for (text, shape) in [(sweep, "<polyline"), (bars, "<circle")] {
        let study = Study::parse("mine", "mine.toml", &text).unwrap();
        let runs = synthetic_runs(1.0, &study);
        let page = StudyResult::new(&study, &runs, &[]).page();
        assert_eq!(page.matches("<svg").count(), 2 * 2);
        assert!(page.contains(shape) && !page.contains("published, and what"), "{page}");
    }
}

#[test]
fn a_frontier_is_drawn_for_each_system_with_its_share_and_both_peaks() {
    let study = jsonathlon_studies::built_in("frontier").unwrap().unwrap();
    let part = study.runs(&StudySelection::default()).unwrap().remove(0);
    let tried = FrontierFixture::tried();
    let slow = FrontierFixture { system: "sqlite", ..tried.clone() };
    let bounded =
        FrontierFixture { system: "mongodb", verdict: Verdict::Unverified, ..FrontierFixture::tried() };
    let runs = [(part, frontier_run("one", &[tried, slow, bounded]))];
    let result = StudyResult::new(&study, &runs, &[]);
    let page = result.page();
    assert_eq!((page.matches("<figure").count(), page.matches("<svg").count()), (2, 4));
    // The hull and the line between the peaks.
    assert_eq!(page.matches("<polyline").count(), 2 * 2 * 2);
    for words in [
        "frontier of postgresql",
        "share 0.79 of both peaks alone, 36.9k/s documents and 12.2k/h questions",
        "documents and questions at each rate: questions alone 0/s and 12.2k/h; 10 % 3.76k/s and 12.0k/h",
        "mongodb: no share: the point 10 % has no verified rates",
        "share of the frontier",
        "download=\"jsonathlon-study-frontier-frontier-of-postgresql-2026",
    ] {
        assert!(page.contains(words), "`{words}` is not in\n{page}");
    }
    // Points at half and at 80 % of the peak are beaten by that at full speed.
    assert_eq!(page.matches("fill=\"var(--paper)\" stroke=").count(), 2 * 2 * 2);
    let tables = result.tables(TableStyle::PLAIN);
    for words in ["frontier of questions against documents", "max, alone", "0.79", "no interference"] {
        assert!(tables.contains(words), "`{words}` is not in\n{tables}");
    }
}

#[test]
fn of_nothing_there_is_no_answer() {
    let study = Study::parse("mine", "mine.toml", STUDY).unwrap();
    let result = StudyResult::new(&study, &[], &[]);
    assert!(result.sentence.to_string().starts_with("No answer: nothing of it was measured"));
    assert!(!result.page().contains("<svg"));
}
