//! The page of a choice: the decision first, then charts, then the parts. It needs no JavaScript and no network.

use std::fmt::Write;

use jsonathlon_schema::severity::Severity;

use super::table::{Cell, Heading, Mark, Row, Table, kind};
use super::{CHANGES, ChooseResult, charts, conditions, evidence, notes, printable_long};
use crate::page::PathDisplay;
use crate::page::html::escape;
use crate::page::paths::PathHider;
use crate::static_page::{self, unbroken};

/// Name of the page in the folder of its choice.
pub const FILE: &str = "choose.html";

/// Beginning of the ids of cells of the decision.
const NEEDS: &str = "need";

/// Rules beside those of all pages without a script.
const STYLE: &str = "
.bar nav a { padding: .2rem .6rem; min-height: 24px; white-space: nowrap; text-decoration: none; border-radius: 5px; }
.bar nav a:hover { background: var(--panel); }
.bar nav a[aria-current] { background: var(--panel); font-weight: 700; box-shadow: inset 0 -2px 0 var(--accent); color: var(--ink); }
.decision { border-collapse: separate; border-spacing: 0; }
.decision th, .decision td { border-right: 1px solid var(--line); }
.decision thead th { vertical-align: bottom; }
.decision thead th:first-child { left: 0; z-index: 3; }
.decision small { display: block; font-weight: 400; font-size: .8rem; color: var(--quiet); }
.decision tbody th { position: sticky; left: 0; z-index: 1; background: var(--paper); min-width: 8rem; max-width: 14rem; font-weight: 600; }
.decision tbody td { padding: 0; min-width: 7.5rem; max-width: none; }
.decision td:has(details[open]) { min-width: min(30rem, 68vw); }
.decision summary { padding: .25rem .6rem; font-weight: 400; min-height: 2.8rem; list-style: none; }
.decision summary::-webkit-details-marker { display: none; }
.decision summary:hover { background: var(--panel); text-decoration: underline; }
.decision summary:focus-visible { outline-offset: -3px; }
.decision .state { display: block; font-size: .85rem; white-space: nowrap; }
.decision .short { display: block; font-weight: 600; font-variant-numeric: tabular-nums; white-space: nowrap; }
.decision .evidence { padding: .1rem .6rem .6rem; border-top: 1px dashed var(--line); overflow-wrap: anywhere; }
.decision dl { margin: .3rem 0; display: grid; grid-template-columns: minmax(6rem, max-content) 1fr; gap: .1rem .8rem; }
.decision dt { overflow-wrap: anywhere; max-width: 14rem; }
.evidence pre { max-height: none; }
.mark-met, .mark-best { color: var(--good); }
.mark-not-met { color: var(--bad); font-weight: 600; }
.mark-not-shown, .mark-not-worse { color: var(--doubt); }
.mark-not-tested { color: var(--quiet); }
.signs { display: flex; flex-wrap: wrap; gap: .1rem 1.2rem; font-size: .85rem; color: var(--quiet); margin: .2rem 0 .8rem; padding: 0; list-style: none; }
.conditions { display: grid; grid-template-columns: minmax(5rem, max-content) 1fr; gap: .15rem 1rem; font-size: .9rem; margin: .3rem 0 .8rem; }
.conditions dt { max-width: 12rem; overflow-wrap: anywhere; }
@media (max-width: 700px) {
  .decision tbody th { min-width: 6rem; max-width: 7.5rem; overflow-wrap: anywhere; }
  .decision dl, .conditions { grid-template-columns: 1fr; }
  .decision dd, .conditions dd { margin-left: .8rem; }
}
@media print { .decision details::details-content { content-visibility: visible; block-size: auto; } }
";

/// HTML of the whole page.
pub(super) fn page(result: &ChooseResult<'_>) -> String {
    let mut body = String::new();
    heading(&mut body, result);
    decision(&mut body, result);
    body.push_str(&charts::charts(result));
    if let Some(table) = Table::without_needs(result.decision) {
        body.push_str("<section class=\"part\" id=\"besides\"><h2>Measured besides</h2>\n");
        body.push_str("<p class=\"explained\">Without a need, and so without a part in the decision.</p>\n");
        body.push_str(&table_html(&table, result, "besides"));
        body.push_str("</section>\n");
    }
    parts(&mut body, result);
    conditions_section(&mut body, result);
    let day = conditions::main_run(result).map(|run| run.manifest.day()).unwrap_or_default();
    let title = format!("jsonathlon: choose {} {day}", result.name);
    let html = static_page::document(title.trim_end(), STYLE, &navigation(result), &body);
    match PathHider::new(result.runs.iter().map(|(_, run)| run), PathDisplay::Hidden) {
        Some(hider) => hider.hide(&html),
        None => html,
    }
}

/// Links to the pages of the parts, beside that to the decision.
fn navigation(result: &ChooseResult<'_>) -> String {
    let mut html = String::from(
        "<nav aria-label=\"Parts of this choice\"><a href=\"#decision\" aria-current=\"page\">decision</a>",
    );
    for (part, _) in result.runs {
        // Writing to a String cannot fail.
        let _ = write!(html, "<a href=\"{}\">{}</a>", evidence::page_address(*part, None), part.folder());
    }
    html + "</nav>"
}

/// Title, headline and what limits it.
fn heading(body: &mut String, result: &ChooseResult<'_>) {
    let question = if result.decision.needs.is_empty() {
        "What is each database good and bad at with these documents?"
    } else {
        "Which database should hold these documents?"
    };
    let _ = writeln!(body, "<h1>{question}</h1>");
    let headline = unbroken(&printable_long(&result.decision.headline));
    let _ = writeln!(body, "<p class=\"lead\">{}</p>", escape(&headline));
    for (severity, warning) in notes::warnings(result) {
        let (class, sign) = match severity {
            Severity::Failed => ("bad", "✖ "),
            Severity::Good | Severity::Warning => ("caveat", "⚠ "),
        };
        let _ = writeln!(body, "<p class=\"{class}\">{sign}{}</p>", escape(&warning));
    }
    if let Some(line) = conditions::measured_on(result) {
        let _ = writeln!(body, "<p class=\"explained\">{}</p>", escape(&line));
    }
}

/// The table with its legend, what would change the decision, and notes.
fn decision(body: &mut String, result: &ChooseResult<'_>) {
    let table = Table::new(result.decision);
    body.push_str("<section class=\"part top\" id=\"decision\"><h2>Decision</h2>\n");
    body.push_str(&table_html(&table, result, NEEDS));
    let changes: Vec<String> = result.decision.changes.iter().map(|change| printable_long(change)).collect();
    write_list(body, "changes", &capitalized(CHANGES), &changes);
    write_list(body, "notes", "Notes", &notes::notes(result));
    body.push_str("</section>\n");
}

/// A list with its heading; nothing if it is empty.
fn write_list(body: &mut String, id: &str, title: &str, items: &[String]) {
    if items.is_empty() {
        return;
    }
    let _ = writeln!(body, "<h3 id=\"{id}\">{}</h3>\n<ul class=\"answers\">", escape(title));
    for item in items {
        let _ = writeln!(body, "<li>{}</li>", escape(&unbroken(item)));
    }
    body.push_str("</ul>\n");
}

fn capitalized(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().into_iter().flat_map(char::to_uppercase).chain(letters).collect()
}

/// A table whose cells open their evidence, with the legend of its signs. `prefix` begins the ids of the cells.
fn table_html(table: &Table<'_>, result: &ChooseResult<'_>, prefix: &str) -> String {
    let mut html = format!(
        "<div class=\"table\"><div class=\"scroll\" tabindex=\"0\" role=\"region\" \
         aria-label=\"Systems by {}\"><table class=\"decision\">\n<thead><tr><th scope=\"col\">system</th>",
        if prefix == NEEDS && !result.decision.needs.is_empty() { "needs" } else { "what was measured" }
    );
    for Heading { aspect, limit } in &table.headings {
        let limit = if limit.is_empty() {
            String::new()
        } else {
            format!("<small>{}</small>", escape(&unbroken(limit)))
        };
        let _ = write!(html, "<th scope=\"col\">{}{limit}</th>", aspect.title());
    }
    html.push_str("</tr></thead>\n<tbody>\n");
    let has_needs = prefix == NEEDS && !result.decision.needs.is_empty();
    for (index, row) in table.rows.iter().enumerate() {
        let name = escape(&printable_long(&row.candidate.facts.name));
        let all = if has_needs && row.candidate.meets_all { ", meets all needs" } else { "" };
        let _ = write!(
            html,
            "<tr><th scope=\"row\">{name}<small>{}{all}</small></th>",
            escape(&kind(row.candidate))
        );
        for (heading, cell) in table.headings.iter().zip(&row.cells) {
            let id = format!("{prefix}-{}-{}", index + 1, heading.aspect.key());
            html.push_str(&cell_html(row, heading, cell, result, &id));
        }
        html.push_str("</tr>\n");
    }
    html.push_str("</tbody></table></div></div>\n<ul class=\"signs\">");
    for mark in table.marks() {
        let _ = write!(
            html,
            "<li><span class=\"mark-{}\">{} {}</span>: {}</li>",
            mark.class(),
            mark.sign(),
            mark.word(),
            mark.meaning()
        );
    }
    html.push_str("<li>A cell opens the evidence behind it.</li></ul>\n");
    html
}

/// One cell: sign, word and figure, which open what is behind them.
fn cell_html(row: &Row<'_>, heading: &Heading, cell: &Cell, result: &ChooseResult<'_>, id: &str) -> String {
    let behind = evidence::evidence(row.candidate, heading.aspect, result.runs);
    let mut html = format!("<td><details id=\"{id}\"><summary>");
    if cell.mark != Mark::Measured {
        let (class, sign, word) = (cell.mark.class(), cell.mark.sign(), cell.mark.word());
        let _ = write!(html, "<span class=\"state mark-{class}\">{sign} {word}</span>");
    }
    let short = if cell.short.is_empty() && cell.mark == Mark::Measured { &cell.words } else { &cell.short };
    if !short.is_empty() {
        let _ = write!(html, " <span class=\"short\">{}</span>", escape(&unbroken(short)));
    }
    let _ = write!(html, "</summary><div class=\"evidence\"><p>{}</p>", escape(&unbroken(&cell.words)));
    if cell.is_estimate {
        html.push_str("<p>Estimated from the loads below, not measured.</p>");
    }
    html.push_str("<dl>");
    if !heading.limit.is_empty() {
        let _ = write!(html, "<dt>limit</dt><dd>{}</dd>", escape(&unbroken(&heading.limit)));
    }
    for (name, text) in &behind.pairs {
        let text = unbroken(&printable_long(text));
        let _ = write!(html, "<dt>{}</dt><dd>{}</dd>", escape(&printable_long(name)), escape(&text));
    }
    html.push_str("</dl>");
    if let Some(statement) = &behind.statement {
        let _ = write!(html, "<pre>{}</pre>", escape_lines(statement));
    }
    for (name, address) in &behind.links {
        let _ = write!(html, "<p><a href=\"{}\">trials in the run {name}</a></p>", escape(address));
    }
    html + "</div></details></td>"
}

/// Escapes text and keeps its line ends.
fn escape_lines(text: &str) -> String {
    text.lines().map(escape).collect::<Vec<_>>().join("\n")
}

/// The runs with what they are for, their commands, and links to their pages.
fn parts(body: &mut String, result: &ChooseResult<'_>) {
    let parts = conditions::parts(result);
    if parts.is_empty() {
        return;
    }
    body.push_str(
        "<section class=\"part\" id=\"parts\"><h2>Parts</h2>\n<p class=\"explained\">Each part is an ordinary \
         run with a page of its own.</p>\n<dl class=\"conditions\">\n",
    );
    for row in parts {
        let address = evidence::page_address(row.part, None);
        let _ = write!(
            body,
            "<dt><a href=\"{address}\">{}</a></dt><dd>{}; {}",
            row.part.folder(),
            row.purpose,
            escape(&row.extent)
        );
        if !row.command.is_empty() {
            let _ = write!(body, "<br><code>{}</code>", escape(&row.command));
        }
        body.push_str("</dd>\n");
    }
    body.push_str("</dl></section>\n");
}

/// The conditions at the foot of the page.
fn conditions_section(body: &mut String, result: &ChooseResult<'_>) {
    body.push_str(
        "<section class=\"part\" id=\"conditions\"><h2>Conditions</h2>\n<dl class=\"conditions\">\n",
    );
    for (name, text) in conditions::conditions(result) {
        let _ = writeln!(body, "<dt>{}</dt><dd>{}</dd>", escape(&name), escape(&text));
    }
    let command = conditions::command(result);
    if !command.is_empty() {
        let _ = writeln!(body, "<dt>command</dt><dd><code>{}</code></dd>", escape(&command));
    }
    body.push_str(
        "</dl>\n<p class=\"explained\">Intervals: 95\u{a0}%, over rounds. A need is met or not met only where \
         the whole interval, or an exact count, lies on one side of the limit. Times with wrong, missing or \
         unverified answers meet no need. There is no total: needs are not weighed against each other.</p>\
         </section>\n",
    );
}
