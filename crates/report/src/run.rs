//! Renders a run as tables: its conditions, the tables of its workloads, how to read them, and failures.

use std::collections::{BTreeMap, HashMap};

use jsonathlon_results::control::CONTROL;
use jsonathlon_results::summary::{FailureSummary, Run, Summary};
use jsonathlon_schema::id::ConfigurationId;
use jsonathlon_schema::manifest::DataSetInfo;
use jsonathlon_schema::severity::Severity;
use jsonathlon_schema::workload::{WorkloadKind, WorkloadName};

use crate::render::terminal::{Drawing, draw, draw_and_collect};
use crate::render::{TableStyle, TableWidth};
use crate::section::{Section, printable, shorten_digest};
use crate::shown_text::ShownText;
use crate::{
    analytics, answer, documents, durability, fidelity, format, generic, headline, mixed, questions,
    reading_notes, render, serving,
};

/// Systems of a summary that are no configurations: plain files, and the control.
const NOT_CONFIGURATIONS: [&str; 2] = ["files", CONTROL];

/// All tables of a run for the terminal, with the notes that are needed to judge them.
#[must_use]
pub fn tables(run: &Run, style: TableStyle) -> String {
    tables_from_summary(run, &run.summary(), style)
}

/// Like [`tables`], for a summary that was computed before, because its intervals take most of the time.
#[must_use]
pub fn tables_from_summary(run: &Run, summary: &Summary, style: TableStyle) -> String {
    draw_all(run, summary, false, style)
}

/// Like [`tables_from_summary`], with means and standard deviations beside medians and intervals in the tables
/// that have room for them: those of the documents workload.
#[must_use]
pub fn tables_with_means(run: &Run, summary: &Summary, style: TableStyle) -> String {
    draw_all(run, summary, true, style)
}

/// Like [`tables`], but as Markdown: with all columns, and with the answers below the heading.
#[must_use]
pub fn markdown(run: &Run) -> String {
    write_markdown(run, false)
}

/// Like [`markdown`], with the means of [`tables_with_means`].
#[must_use]
pub fn markdown_with_means(run: &Run) -> String {
    write_markdown(run, true)
}

fn draw_all(run: &Run, summary: &Summary, means: bool, style: TableStyle) -> String {
    let mut sections = introduction(run, summary);
    sections.extend(results(run, summary, means));
    let Drawing { text, shown } = draw_and_collect(&sections, style);
    let shown = match style.width {
        TableWidth::Full => ShownText::Everything,
        TableWidth::Compact(_) => ShownText::Only(shown),
    };
    let mut closing = vec![reading_notes::section(run, summary, &shown)];
    closing.extend(failures(summary));
    text + &draw(&closing, style)
}

fn write_markdown(run: &Run, means: bool) -> String {
    let summary = run.summary();
    let mut sections = introduction(run, &summary);
    sections.extend(answers(&summary));
    sections.extend(results(run, &summary, means));
    sections.push(reading_notes::section(run, &summary, &ShownText::Everything));
    sections.extend(failures(&summary));
    render::markdown::write(&sections, 2)
}

/// Broken promises, if there are any, and the heading.
fn introduction(run: &Run, summary: &Summary) -> Vec<Section> {
    headline::section(run, summary).into_iter().chain([heading(run, summary)]).collect()
}

/// Answers of a run, one note each; `None` if there are none.
fn answers(summary: &Summary) -> Option<Section> {
    let mut section = Section { title: "answer".to_owned(), ..Section::default() };
    let statements = answer::all_statements(summary).into_iter();
    section.notes.extend(statements.map(|statement| (statement.severity, statement.text)));
    (!section.notes.is_empty()).then_some(section)
}

/// Tables of all workloads, in the order in which they were measured.
fn results(run: &Run, summary: &Summary, means: bool) -> Vec<Section> {
    let mut sections = Vec::new();
    for workload in workloads(summary) {
        sections.extend(match workload {
            WorkloadName::Known(kind) => match kind {
                WorkloadKind::Analytics => analytics::sections(run, summary),
                WorkloadKind::Serving => serving::sections(run, summary),
                WorkloadKind::Mixed => mixed::sections(run, summary),
                WorkloadKind::Documents => documents::sections(run, summary, means),
                WorkloadKind::Questions => questions::sections(run, summary),
                WorkloadKind::Fidelity => fidelity::sections(run, summary),
                WorkloadKind::Durability => durability::sections(run, summary),
            },
            other @ WorkloadName::Other(_) => generic::sections(run, summary, other),
        });
    }
    sections
}

/// Workloads of a run, in the order in which they were measured; analytics if nothing was measured yet.
fn workloads(summary: &Summary) -> Vec<&WorkloadName> {
    let mut names: Vec<&WorkloadName> = Vec::new();
    for entry in
        summary.results.iter().filter(|entry| !NOT_CONFIGURATIONS.contains(&entry.cell.id.system.as_str()))
    {
        if !names.contains(&&entry.cell.workload) {
            names.push(&entry.cell.workload);
        }
    }
    if names.is_empty() {
        names.push(&WorkloadName::Known(WorkloadKind::Analytics));
    }
    names
}

/// Notes on lines that are no documents, and on files that were not read.
fn describe_omissions(run: &Run) -> Vec<String> {
    let data = &run.manifest.data;
    let mut notes = Vec::new();
    if data.no_documents > 0 {
        let (lines, predicate) = match data.no_documents {
            1 => ("1 line".to_owned(), "is no JSON, and no document"),
            lines => (format!("{} lines", format::integer(lines as f64)), "are no JSON, and no documents"),
        };
        let first = printable(&data.first_no_documents.join("; "));
        let file = DataSetInfo::NO_DOCUMENTS;
        notes.push(format!("         {lines} {predicate} ({first}); {}/{file} lists what is none", run.path));
    }
    notes.extend(data.left_out.as_ref().map(|left_out| format!("         {left_out}")));
    notes
}

fn heading(run: &Run, summary: &Summary) -> Section {
    let machine = &summary.machine;
    let data = &summary.data;
    let mut section = Section {
        title: format!(
            "{}: {} documents, {}",
            printable(&workloads(summary).iter().map(|name| name.as_str()).collect::<Vec<_>>().join(", ")),
            format::integer(data.documents as f64),
            format::bytes(data.bytes as f64)
        ),
        ..Section::default()
    };
    section.notes.push(format!("data     {} ({})", data.source, shorten_digest(&data.digest)));
    section.notes.extend(describe_omissions(run));
    section.notes.push(format!(
        "machine  {} cores, {}, {} memory{}, {}, {}{}",
        machine.cores,
        machine.processor,
        format::bytes(machine.memory_bytes as f64),
        machine
            .physical_memory_bytes
            .map(|bytes| {
                format!(" (the limit of a container; the machine has {})", format::bytes(bytes as f64))
            })
            .unwrap_or_default(),
        machine.os,
        machine.kernel_release,
        run.manifest
            .disk_bytes_per_s
            .map(|rate| format!(", disk reads {}/s", format::bytes(rate)))
            .unwrap_or_default()
    ));
    section.notes.extend(questions::titles(run));
    section.notes.push(format!("begun    {} with jsonathlon {}", summary.started, summary.program));
    if !summary.complete {
        let open = run.open_trials().len();
        let text = format!(
            "INCOMPLETE: {open} of the planned trials have not run; resume with `jsonathlon run --resume {}`",
            run.path
        );
        section.notes.mark(Severity::Failed, text);
    }
    section
}

fn failures(summary: &Summary) -> Option<Section> {
    let mut section = Section { title: "what went wrong".to_owned(), ..Section::default() };
    // A failure that occurs in many rounds is listed once, with their number. Failures that follow from
    // another one count with it. A failed trial is listed once for all steps that it would have measured.
    let causes: HashMap<&str, &FailureSummary> =
        summary.failures.iter().map(|failure| (failure.key.as_str(), failure)).collect();
    let mut groups: Vec<(String, String, BTreeMap<String, u64>)> = Vec::new();
    for failure in &summary.failures {
        let cause = failure.cause_key.as_deref().and_then(|key| causes.get(key)).copied().unwrap_or(failure);
        let ConfigurationId { system, version, variant, .. } = &cause.cell.id;
        let configuration = format!("{system} {version} {variant}");
        let message = format!("{}: {}: {}", cause.cell.phase.word(), cause.kind, printable(&cause.error));
        let index = groups.iter().position(|(title, text, _)| (title, text) == (&configuration, &message));
        let index = index.unwrap_or_else(|| {
            groups.push((configuration, message, BTreeMap::new()));
            groups.len() - 1
        });
        *groups[index].2.entry(failure.cell.step_title()).or_default() += 1;
    }
    for (configuration, message, steps) in groups {
        let times = steps.values().copied().max().unwrap_or(0);
        let times = if times > 1 { format!(" ({times} trials)") } else { String::new() };
        let steps: Vec<String> = steps.into_keys().collect();
        let text = format!("failed: {configuration} {} {message}{times}", steps.join(", "));
        section.notes.mark(Severity::Failed, text);
    }
    (!section.notes.is_empty()).then_some(section)
}
