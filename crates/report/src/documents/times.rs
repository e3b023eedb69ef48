//! Tables of times by test and size of documents.

use jsonathlon_results::summary::{CellSummary, Run, Summary};
use jsonathlon_schema::metric;
use jsonathlon_schema::record::{Cell, Phase, Verdict};
use jsonathlon_schema::severity::Severity;
use jsonathlon_schema::workload::WorkloadKind;

use super::{configuration_columns, entries, is_smaller, name_columns, sizes, word};
use crate::format;
use crate::section::{Column, Section, dash, printable, sorted_configurations};

/// Tests with their titles, in the order in which they are shown.
const TESTS: [(&str, &str); 7] = [
    ("export", "all documents out as JSON text"),
    ("import", "the documents in"),
    ("copy", "copy with a small change"),
    ("extract", "one number of every document"),
    ("filter", "keys of documents by a number"),
    ("order", "keys in the order of a number"),
    ("index", "creation of an index"),
];
/// Tests that run only if they are asked for, with their titles.
const OPTIONAL_TESTS: [(&str, &str); 3] = [
    ("limit", "one document, larger and larger until one is refused"),
    ("update_path", "one number of one document changed"),
    ("version", "one version of one document, and the share of its bytes that it adds"),
];

/// Tables of one data set, one per test.
pub(super) fn sections(run: &Run, summary: &Summary, data: &str, means: bool) -> Vec<Section> {
    let tests = TESTS.into_iter().chain(OPTIONAL_TESTS);
    tests.filter_map(|(test, title)| table(run, summary, data, test, title, means)).collect()
}

fn table(run: &Run, summary: &Summary, data: &str, test: &str, title: &str, means: bool) -> Option<Section> {
    let test_entries = || {
        entries(summary).filter(|entry| entry.cell.step.word() == test && word(&entry.cell, "data") == data)
    };
    let sizes = sizes(test_entries());
    if sizes.is_empty() {
        return None;
    }
    let mut columns = configuration_columns();
    // Further dimensions of a row, such as the index, speak for themselves.
    columns.push(Column::words(""));
    columns.extend(sizes.iter().map(|size| Column::number(size).main()));
    let mut section = Section::new(printable(&format!("{test}: {title}, {data}")), columns);
    let mut has_smaller = false;
    for configuration in sorted_configurations(run) {
        let configuration_entries: Vec<&CellSummary> =
            test_entries().filter(|entry| configuration.contains_cell(&entry.cell)).collect();
        let mut kinds: Vec<String> = Vec::new();
        for entry in &configuration_entries {
            let kind = kind(&entry.cell);
            if !kinds.contains(&kind) {
                kinds.push(kind);
            }
        }
        for kind in kinds {
            let mut row = name_columns(configuration);
            let mut severity = Severity::Good;
            row.push(printable(&kind));
            for size in &sizes {
                let is_in_cell = |entry: &&&CellSummary| {
                    word(&entry.cell, "size") == size && self::kind(&entry.cell) == kind
                };
                let matching = configuration_entries.iter().find(is_in_cell);
                has_smaller |= matching.is_some_and(|entry| is_smaller(&entry.cell));
                row.push(matching.map_or_else(dash, |entry| describe_entry(entry, means)));
                severity = severity.max(matching.map_or(Severity::Good, |entry| entry.severity()));
            }
            section.rows.mark(severity, row);
        }
    }
    if has_smaller {
        section.notes.push("* smaller documents, the largest that the system takes".to_owned());
    }
    if means {
        section.notes.push("median (95 % interval); mean ± standard deviation over trials".to_owned());
    }
    section.notes.extend(reasons(run, test, data));
    Some(section)
}

/// Text that distinguishes cells of one test and configuration: index, form, depth, kind of history, and
/// whether they were cold.
fn kind(cell: &Cell) -> String {
    let mut parts = Vec::new();
    let index = word(cell, "index");
    if !index.is_empty() {
        parts.push(if cell.step.word() == "index" { index.to_owned() } else { format!("index {index}") });
    } else if matches!(cell.step.word(), "extract" | "filter" | "order") {
        parts.push("no index".to_owned());
    }
    if !word(cell, "form").is_empty() {
        parts.push(format!("{} form", word(cell, "form")));
    }
    if let Some(depth) = cell.parameters.get("depth") {
        parts.push(format!("depth {depth}"));
    }
    if !word(cell, "history").is_empty() {
        parts.push(format!("by {}", word(cell, "history")));
    }
    if matches!(cell.phase, Phase::Cold | Phase::ColdUnverified) {
        parts.push(cell.phase.word().to_owned());
    }
    parts.join(", ")
}

/// Median with its interval, as text, with mean and standard deviation if `means` is set; the verdict if
/// there is no time.
fn describe_entry(entry: &CellSummary, means: bool) -> String {
    let Some(median) = entry.median_s else {
        return match (entry.cell.step.word(), entry.verdict) {
            ("limit", Verdict::NotApplicable) => match largest(entry) {
                Some(bytes) => format!("refused, as is all beyond {}", format::bytes(bytes)),
                None => "refused".to_owned(),
            },
            (_, verdict) => verdict.word().replace('_', " "),
        };
    };
    let share = match entry.cell.step.word() {
        "version" => entry.metric(&metric::ADDED_SHARE).map(|share| format!(", {}", format::percent(share))),
        _ => None,
    };
    let mut text = format::seconds(median) + &share.unwrap_or_default();
    if is_smaller(&entry.cell) {
        text += " *";
    }
    if let Some([low, high]) = entry.limits(&metric::SECONDS) {
        text += &format!(" ({} … {})", format::seconds(low), format::seconds(high));
    }
    if let (true, Some(mean)) = (means, entry.mean_s) {
        let deviation = entry.sd_s.map(|sd| format!(" ± {}", format::seconds(sd)));
        text += &format!("; {}{}", format::seconds(mean), deviation.unwrap_or_default());
    }
    text
}

/// Bytes of the largest document that was accepted before one was rejected; `None` if that was not searched
/// for.
fn largest(entry: &CellSummary) -> Option<f64> {
    entry.finding("bytes taken")?.state.as_str().parse().ok()
}

/// Reasons why systems have no result of a test, without repetitions.
fn reasons(run: &Run, test: &str, data: &str) -> Vec<String> {
    let mut reasons: Vec<String> = Vec::new();
    for trial in run.trials().filter(|trial| {
        let cell = &trial.cell;
        trial.verdict == Verdict::NotApplicable
            && cell.workload == WorkloadKind::Documents
            && cell.step.word() == test
            && word(cell, "data") == data
    }) {
        let Some(failure) = &trial.failure else { continue };
        let (id, index) = (&trial.cell.id, word(&trial.cell, "index"));
        let index = if index.is_empty() || index == "none" { String::new() } else { format!(" {index}") };
        let label = match test {
            // Sizes beyond the first rejected one are not listed.
            "limit" if failure.cause_key.is_some() => continue,
            "limit" => "refused",
            _ => "not applicable",
        };
        let size = if test == "limit" { format!(" {}", word(&trial.cell, "size")) } else { String::new() };
        let text = format!("{label}: {} {}{index}{size}: {}", id.system, id.variant, failure.error);
        let text = printable(&text);
        if !reasons.contains(&text) {
            reasons.push(text);
        }
    }
    reasons
}
