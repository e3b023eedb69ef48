//! One small run of every workload is kept in `golden/`, made by the mock. Its summary, exports, comparison, tables and
//! the data of its page must stay what they are, byte for byte, while code moves.
//!
//! `JSONATHLON_WRITE_GOLDEN=1 cargo test -p jsonathlon-report --test all golden` accepts what is made now. The run folders
//! themselves are made by `golden::make_runs` of the program's tests (ignored unless it is asked for).

use std::collections::BTreeSet;
use std::io::Read;
use std::path::{Path, PathBuf};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use flate2::read::GzDecoder;
use jsonathlon_report::answer::closing_answer;
use jsonathlon_report::page::page;
use jsonathlon_report::render::TableStyle;
use jsonathlon_report::run::{markdown, tables_from_summary};
use jsonathlon_results::compare::{SidePair, compare, compare_sides};
use jsonathlon_results::export::csv;
use jsonathlon_results::summary::{CellSummary, Run};
use jsonathlon_schema::metric;
use jsonathlon_schema::record::{Phase, Verdict};

/// Path of a run folder relative to the crate, as it may show in output.
fn folder(workload: &str) -> PathBuf {
    Path::new("tests/golden").join(workload)
}

fn run(workload: &str) -> Run {
    Run::read(&folder(workload)).unwrap()
}

/// Fails unless a text is what the file beside the run folder holds.
fn assert_golden(workload: &str, name: &str, new: &str) {
    let file = Path::new("tests/golden").join(format!("{workload}.{name}"));
    if std::env::var_os("JSONATHLON_WRITE_GOLDEN").is_some() {
        std::fs::write(&file, new).unwrap();
    }
    let golden = std::fs::read_to_string(&file).unwrap_or_default();
    let first = new.lines().zip(golden.lines()).find(|(new, golden)| new != golden);
    if let Some((new, golden)) = first {
        panic!("{}: is\n{new}\nand was\n{golden}", file.display());
    }
    assert_eq!(new.len(), golden.len(), "{}", file.display());
}

/// The data that a page holds in the element of this id, as indented JSON.
fn page_data(html: &str, id: &str) -> String {
    let start = format!("<script type=\"text/plain\" id=\"{id}\">");
    let begin = html.find(&start).unwrap() + start.len();
    let end = begin + html[begin..].find("</script>").unwrap();
    let packed = STANDARD.decode(&html[begin..end]).unwrap();
    let mut text = String::new();
    GzDecoder::new(packed.as_slice()).read_to_string(&mut text).unwrap();
    // Published results are data of the repository, the same in every page.
    let own = text.split(",\"published\":").next().unwrap();
    // One member a line, in the order in which they were written.
    own.replace(",\"", ",\n\"").replace("},{", "},\n{") + "\n"
}

/// Fails if a line takes more columns than a terminal has. All letters in these runs are narrow.
fn assert_fits(text: &str, width: usize) {
    let wide: Vec<&str> = text.lines().filter(|line| line.chars().count() > width).collect();
    assert!(wide.is_empty(), "wider than {width}: {wide:#?}");
}

fn assert_unchanged(workload: &str) {
    let run = run(workload);
    let summary = run.summary();
    assert_golden(workload, "summary.json", &(serde_json::to_string_pretty(&summary).unwrap() + "\n"));
    assert_golden(workload, "csv", &csv(&summary));
    assert_golden(workload, "txt", &tables_from_summary(&run, &summary, TableStyle::COLOURED));
    for width in [80, 100, 120] {
        let compact = tables_from_summary(&run, &summary, TableStyle::PLAIN.compact(width));
        assert_fits(&compact, width);
        if width == 80 {
            assert_golden(workload, "compact.txt", &compact);
        }
    }
    let answer = closing_answer(&run, &summary, Some(Path::new("report.html")), TableStyle::PLAIN);
    assert_fits(&answer, 80);
    assert!(answer.lines().count() <= 12 && answer.ends_with("\n  page: report.html\n"), "{answer}");
    assert_golden(workload, "answer.txt", &answer);
    assert_golden(workload, "md", &markdown(&run));
    let html = page(std::slice::from_ref(&run), "golden", "2026-01-02T03:04:05Z").unwrap();
    assert_golden(workload, "figures", &page_data(&html, "figures"));
    assert_golden(workload, "evidence", &page_data(&html, "evidence"));
    let between = compare_sides(&run, &SidePair::parse("ma,mb").unwrap());
    let with_itself = compare(&run, &run, false);
    for (name, comparison) in [("between.json", between), ("compare.json", with_itself)] {
        let text = match comparison {
            Ok(comparison) => serde_json::to_string_pretty(&comparison).unwrap(),
            Err(error) => error.to_string(),
        };
        assert_golden(workload, name, &(text + "\n"));
    }
}

#[test]
fn analytics_is_unchanged() {
    assert_unchanged("analytics");
    // Of the two systems that are compared, one gives a wrong answer to one question.
    let verdicts = |system: &str| -> BTreeSet<&str> {
        let summary = run("analytics").summary();
        let own = summary.results.iter().filter(|entry| entry.cell.id.system == system);
        own.map(|entry| entry.verdict.word()).collect()
    };
    assert_eq!(verdicts("ma"), BTreeSet::from(["exact"]));
    assert_eq!(verdicts("mb"), BTreeSet::from(["exact", "wrong"]));
}

#[test]
fn serving_is_unchanged() {
    assert_unchanged("serving");
}

#[test]
fn mixed_is_unchanged() {
    assert_unchanged("mixed");
    // One of the three systems gives wrong answers, and has no result of any phase.
    let summary = run("mixed").summary();
    let beside = |system: &'static str| {
        summary
            .results
            .iter()
            .filter(move |entry| entry.cell.id.system == system && entry.cell.phase == Phase::Both)
    };
    let has_rate = |entry: &CellSummary| {
        [metric::QUESTIONS_PER_H, metric::DOCUMENTS_PER_S].iter().any(|metric| entry.value(metric).is_some())
    };
    assert!(beside("ma").chain(beside("mb")).all(|entry| entry.verdict == Verdict::Exact && has_rate(entry)));
    assert!(beside("mc").all(|entry| entry.verdict == Verdict::Wrong && !has_rate(entry)));
    // One shows everything at once, the other one some batches late.
    let stale_ms = |system| beside(system).find_map(|entry| entry.value(&metric::STALE_MAX_MS)).unwrap();
    assert!(stale_ms("ma") == 0.0 && stale_ms("mb") > 10.0, "{} {}", stale_ms("ma"), stale_ms("mb"));
}

#[test]
fn documents_is_unchanged() {
    assert_unchanged("documents");
}

#[test]
fn questions_is_unchanged() {
    assert_unchanged("questions");
}

#[test]
fn fidelity_is_unchanged() {
    assert_unchanged("fidelity");
}

#[test]
fn durability_is_unchanged() {
    assert_unchanged("durability");
}
