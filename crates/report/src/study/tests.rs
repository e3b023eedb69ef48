use jsonathlon_results::test_fixtures::serving::ServingFixture;
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
    let tables = result.tables(TableStyle { colour: false });
    for text in ["study mine: Does <it> matter?", "published  It was said to.", "where the curve falls"] {
        assert!(tables.contains(text), "`{text}` is not in\n{tables}");
    }
    assert!(tables.trim_end().ends_with(&sentence), "the sentence stands last:\n{tables}");
}

#[test]
fn a_page_is_one_file_of_text_and_drawings() {
    let study = Study::parse("mine", "mine.toml", STUDY).unwrap();
    let runs = synthetic_runs(1.0, &study);
    let page = StudyResult::new(&study, &runs, &published_results().unwrap()).page();
    assert!(page.contains("Does &lt;it&gt; matter?") && !page.contains("<it>"), "{page}");
    // A chart for each mix and kind of values, a line for each system.
    assert_eq!(page.matches("<svg").count(), 4);
    assert_eq!(page.matches("<polyline").count(), 4 * 4);
    for forbidden in ["<script", "http://", "https://", "NaN", "inf"] {
        assert!(!page.contains(forbidden), "{forbidden}");
    }
}

#[test]
fn a_sweep_is_drawn_along_its_numbers_and_bars_stand_side_by_side() {
    let sweep = STUDY
        .replace(
            "option = \"value-content\"\nvalues = [\"text\", \"random\"]",
            "option = \"document-size\"\nvalues = [0.5, 2]",
        )
        .replace("axis = \"clients\"", "axis = \"document-size\"")
        .replace("value-content = \"random\"", "document-size = 2")
        .replace("value-content = \"text\"", "document-size = 0.5");
    let bars = STUDY.replace("[chart]\naxis = \"clients\"\n", "");
    for (text, shape) in [(sweep, "<polyline"), (bars, "<rect")] {
        let study = Study::parse("mine", "mine.toml", &text).unwrap();
        let runs = synthetic_runs(1.0, &study);
        let page = StudyResult::new(&study, &runs, &[]).page();
        assert_eq!(page.matches("<svg").count(), 2);
        assert!(page.contains(shape) && !page.contains("published, and what"), "{page}");
    }
}

#[test]
fn of_nothing_there_is_no_answer() {
    let study = Study::parse("mine", "mine.toml", STUDY).unwrap();
    let result = StudyResult::new(&study, &[], &[]);
    assert!(result.sentence.to_string().starts_with("No answer: nothing of it was measured"));
    assert!(!result.page().contains("<svg"));
}
