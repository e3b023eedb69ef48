//! The page of a study with its sentence, charts and tables. It needs no JavaScript and no network.

use std::fmt::Write;

use jsonathlon_schema::severity::Severity;

use super::{StudyResult, chart, table};
use crate::page::html::{self, escape};
use crate::section::Section;

/// Name of the page in the folder of its study.
pub const FILE: &str = "study.html";

/// Content security policy: nothing is loaded from anywhere, whatever the data put into the page.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";

const STYLE: &str = "
:root { color-scheme: light dark; --ink: #1c1e21; --soft: #5c6470; --rule: #d7dbe0; --back: #fff; --card: #f5f6f8; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e8eaed; --soft: #a0a8b2; --rule: #3a4048; --back: #16181b; --card: #1f2227; }
}
body { font: 15px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--back); margin: 0 auto; max-width: 62rem;
  padding: 1.5rem; }
h1 { font-size: 1.4rem; margin: 0 0 .5rem; } h2 { font-size: 1.05rem; margin: 1.8rem 0 .5rem; }
.answer { font-size: 1.15rem; background: var(--card); padding: 1rem 1.2rem; border-radius: .5rem; }
.soft, figcaption { color: var(--soft); font-size: .87rem; }
.warning { color: #b3261e; } .doubt { color: #7a5c00; }
@media (prefers-color-scheme: dark) { .warning { color: #ff8a80; } .doubt { color: #e6c35c; } }
.scroll { overflow-x: auto; } figure { margin: 1rem 0; }
table { border-collapse: collapse; font-size: .87rem; font-variant-numeric: tabular-nums; }
th, td { padding: .25rem .7rem; border-bottom: 1px solid var(--rule); text-align: right; white-space: nowrap; }
th.word, td.word { text-align: left; }
svg { max-width: 100%; height: auto; display: block; }
svg text { fill: var(--ink); font: 12px system-ui, sans-serif; } svg .soft { fill: var(--soft); }
svg .grid { stroke: var(--rule); } svg .axis { stroke: var(--soft); }
";

/// HTML of the whole page.
pub(super) fn page(result: &StudyResult<'_>) -> String {
    let study = result.study;
    let mut body = String::new();
    // Writing to a String cannot fail.
    let _ = writeln!(body, "<h1>{}</h1>", escape(&study.question));
    for warning in table::warnings(result) {
        let _ = writeln!(body, "<p class=\"warning\">{}</p>", escape(&warning));
    }
    let _ = writeln!(body, "<p class=\"answer\">{}</p>", escape(&result.sentence.to_string()));
    if !study.claim.is_empty() {
        let _ = writeln!(body, "<p class=\"soft\">Published: {}</p>", escape(&study.claim));
    }
    body.push_str(&chart::charts(result));
    let measurements = table::measurements(result);
    body.push_str(&section(&measurements));
    if !result.published.is_empty() {
        body.push_str(&section(&table::published(result)));
    }
    body.push_str("<h2>conditions</h2>\n");
    for line in table::conditions(result) {
        let _ = writeln!(body, "<div class=\"soft\">{}</div>", escape(&line));
    }
    let _ = writeln!(
        body,
        "<div class=\"soft\">Intervals: 95 %, over rounds. Ratios of one run are paired by round; those of different \
         runs are not. Every answer was checked.</div>"
    );
    let head = html::head(&format!("study {}", study.name), POLICY, STYLE);
    format!("{head}{body}{}", html::END)
}

/// Class attribute of an element with this severity; empty for good ones.
fn severity_class(severity: Severity) -> &'static str {
    match severity {
        Severity::Good => "",
        Severity::Warning => " class=\"doubt\"",
        Severity::Failed => " class=\"warning\"",
    }
}

fn section(section: &Section) -> String {
    let mut text = format!("<h2>{}</h2>\n<div class=\"scroll\"><table>\n<thead><tr>", escape(&section.title));
    let class = |column: usize| {
        let is_word = column < section.left_columns || section.further_left_columns.contains(&column);
        if is_word { " class=\"word\"" } else { "" }
    };
    for (column, name) in section.header.iter().enumerate() {
        let _ = write!(text, "<th{}>{}</th>", class(column), escape(name));
    }
    text.push_str("</tr></thead>\n<tbody>\n");
    for (severity, row) in section.rows.with_severity() {
        let _ = write!(text, "<tr{}>", severity_class(severity));
        for (column, cell) in row.iter().enumerate() {
            let _ = write!(text, "<td{}>{}</td>", class(column), escape(cell));
        }
        text.push_str("</tr>\n");
    }
    text.push_str("</tbody></table></div>\n");
    for note in section.notes.iter() {
        let _ = writeln!(text, "<div class=\"soft\">{}</div>", escape(note));
    }
    text
}
