//! The page of a study with its sentence, charts and tables. It needs no JavaScript and no network.

use std::fmt::Write;

use super::{StudyResult, chart, table};
use crate::page::html::escape;
use crate::static_page::{self, section, unbroken};

/// Name of the page in the folder of its study.
pub const FILE: &str = "study.html";

/// HTML of the whole page.
pub(super) fn page(result: &StudyResult<'_>) -> String {
    let study = result.study;
    let mut body = String::new();
    // Writing to a String cannot fail.
    let _ = writeln!(body, "<h1>{}</h1>", escape(&study.question));
    for warning in table::warnings(result) {
        let _ = writeln!(body, "<p class=\"bad\">✖ {}</p>", escape(&warning));
    }
    body.push_str(&answer(result));
    if result.sentence.clauses.iter().any(|clause| clause.ratio.is_some_and(|ratio| ratio.low.is_some())) {
        let _ = writeln!(body, "<p class=\"explained\">In parentheses: 95\u{a0}% intervals over rounds.</p>");
    }
    if let Some(line) = table::measured_on(result) {
        let _ = writeln!(body, "<p class=\"explained\">{}</p>", escape(&line));
    }
    if !study.claim.is_empty() {
        let _ = writeln!(body, "<p class=\"explained\">Published: {}</p>", escape(&study.claim));
    }
    body.push_str(&chart::charts(result));
    body.extend(table::measured(result).iter().map(section));
    if !result.published.is_empty() {
        body.push_str(&section(&table::published(result)));
    }
    body.push_str("<section class=\"part\"><h2>Conditions</h2>\n");
    for line in table::conditions(result) {
        let _ = writeln!(body, "<p class=\"explained\">{}</p>", escape(&line));
    }
    let _ = writeln!(
        body,
        "<p class=\"explained\">Intervals: 95 %, over rounds. Ratios of one run are paired by round; those \
         of different runs are not. Every answer was checked.</p></section>"
    );
    let day = result.runs.first().map(|(_, run)| run.manifest.day()).unwrap_or_default();
    let title = format!("jsonathlon: study {} {day}", study.name);
    static_page::document(title.trim_end(), "", "", &body)
}

/// The summary of the answer, and its clauses as a list below; clauses without a summary are paragraphs.
fn answer(result: &StudyResult<'_>) -> String {
    let clauses = table::clauses(&result.sentence);
    let (element, summary) = match result.sentence.summary() {
        Some(summary) => ("li", Some(summary)),
        None => ("p class=\"lead\"", None),
    };
    let text = |text: String| escape(&unbroken(&table::full_stop(text)));
    let end = element.split(' ').next().unwrap_or(element);
    let clauses: String =
        clauses.into_iter().map(|clause| format!("<{element}>{}</{end}>\n", text(clause))).collect();
    match summary {
        Some(summary) => {
            format!("<p class=\"lead\">{}</p>\n<ul class=\"answers\">\n{clauses}</ul>\n", text(summary))
        }
        None => clauses,
    }
}
