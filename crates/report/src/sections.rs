//! What the tables hold: a heading line, loading, sizes, one table a question, and what went wrong.

use jsonathlon_results::manifest::Configuration;
use jsonathlon_results::record::Body;
use jsonathlon_results::summary::{Entry, Run, Summary};

use crate::{format, published, questions};

/// One table with what stands under it.
#[derive(Debug, Default)]
pub(crate) struct Section {
    pub(crate) title: String,
    pub(crate) header: Vec<String>,
    pub(crate) rows: Vec<Vec<String>>,
    /// So many columns from the left hold words and are aligned so.
    pub(crate) left_columns: usize,
    /// Further columns of words.
    pub(crate) left_also: Vec<usize>,
    pub(crate) notes: Vec<String>,
}

impl Section {
    pub(crate) fn new(title: String, header: &[&str], left_columns: usize) -> Self {
        let header = header.iter().map(|name| (*name).to_owned()).collect();
        Self { title, header, left_columns, ..Self::default() }
    }
}

const NONE: &str = "–";

pub(crate) fn all(run: &Run, summary: &Summary) -> Vec<Section> {
    let mut sections = vec![heading(run, summary), loading(run, summary), sizes(run, summary)];
    sections.extend(questions::all(run, summary));
    sections.extend(published::of_run(summary));
    sections.push(reading(run, summary));
    sections.extend(trouble(summary));
    sections
}

fn heading(run: &Run, summary: &Summary) -> Section {
    let machine = &summary.machine;
    let data = &summary.data;
    let mut section = Section {
        title: format!(
            "analytics: {} documents, {}",
            format::whole(data.documents as f64),
            format::bytes(data.bytes as f64)
        ),
        ..Section::default()
    };
    section.notes.push(format!("data     {} ({})", data.source, short(&data.digest)));
    section.notes.push(format!(
        "machine  {} cores, {}, {} memory, {}, {}{}",
        machine.cores,
        machine.processor,
        format::bytes(machine.memory_bytes as f64),
        machine.os,
        machine.kernel,
        run.manifest
            .disk_bytes_per_s
            .map(|rate| format!(", disk reads {}/s", format::bytes(rate)))
            .unwrap_or_default()
    ));
    section.notes.push(format!("begun    {} with jsonathlon {}", summary.started, summary.program));
    if !summary.complete {
        section.notes.push(format!(
            "INCOMPLETE: {} planned trials have no record yet; go on with `jsonathlon run --resume {}`",
            run.open_trials().len(),
            run.path
        ));
    }
    section
}

fn loading(run: &Run, summary: &Summary) -> Section {
    let mut section = Section::new(
        "loading, until durable and visible".to_owned(),
        &[
            "system",
            "variant",
            "storage",
            "loaded",
            "rejected",
            "time",
            "documents/s",
            "MB/s",
            "bound by",
            "peak memory",
            "drained after",
            "compacted after",
            "gives back",
            "verdict",
        ],
        3,
    );
    section.left_also = vec![8, 12, 13];
    for configuration in &run.manifest.configurations {
        let Some(entry) = find(summary, configuration, "load", None) else { continue };
        let metric = |name: &str| entry.metrics.get(name).copied();
        let size = |state: &str, name: &str| {
            find(summary, configuration, "size", Some(state)).and_then(|e| e.metrics.get(name).copied())
        };
        let mut row = name(configuration);
        row.extend([
            share(metric("documents_loaded"), metric("documents_offered")),
            optional(metric("documents_rejected"), format::whole),
            optional(entry.median_s, format::seconds),
            optional(metric("documents_per_s"), format::count),
            optional(metric("bytes_per_s"), |rate| format!("{:.0}", rate / 1e6)),
            entry.bound_by.clone().unwrap_or_else(none),
            optional(metric("peak_pss_bytes"), format::bytes),
            optional(size("drained", "drained_s"), format::seconds),
            optional(size("compacted", "compacted_s"), format::seconds),
            retains(run, configuration),
            entry.verdict.word().to_owned(),
        ]);
        section.rows.push(row);
    }
    for rejects in run.records.iter().filter_map(|record| match &record.body {
        Body::Rejects(rejects) => Some(rejects),
        _ => None,
    }) {
        for (reason, count) in &rejects.reasons {
            section.notes.push(format!("{} rejected {count}: {}", rejects.cell.system, printable(reason)));
        }
        if let Some(file) = &rejects.file {
            section.notes.push(format!("  each one is listed in {}/{file}", run.path));
        }
    }
    section
}

/// Place of the column of logs: behind what is on disk, which holds them.
const LOGS: usize = 8;

fn sizes(run: &Run, summary: &Summary) -> Section {
    let mut section = Section::new(
        "size".to_owned(),
        &[
            "system",
            "variant",
            "storage",
            "state",
            "total",
            "data",
            "indexes",
            "on disk",
            "bytes/document",
            "of raw",
        ],
        4,
    );
    let mut logs: Vec<Option<f64>> = Vec::new();
    let raw = summary
        .results
        .iter()
        .find(|entry| entry.system == "files" && entry.variant == "raw")
        .and_then(|entry| entry.metrics.get("files_bytes").copied());
    let documents = summary.data.documents.max(1) as f64;
    let of_raw = |total: Option<f64>| match (total, raw) {
        (Some(total), Some(raw)) if raw > 0.0 => format::percent(total / raw),
        _ => none(),
    };
    for format in ["raw", "gzip-6", "lz4", "zstd-1"] {
        let Some(entry) = summary.results.iter().find(|e| e.system == "files" && e.variant == format) else {
            continue;
        };
        let total = entry.metrics.get("files_bytes").copied();
        logs.push(None);
        section.rows.push(vec![
            "files".into(),
            format.into(),
            none(),
            none(),
            optional(total, format::bytes),
            none(),
            none(),
            none(),
            optional(total, |total| format!("{:.1}", total / documents)),
            of_raw(total),
        ]);
    }
    for configuration in &run.manifest.configurations {
        for state in ["drained", "compacted"] {
            let Some(entry) = find(summary, configuration, "size", Some(state)) else { continue };
            let metric = |name: &str| entry.metrics.get(name).copied();
            let total = metric("total_bytes").or_else(|| metric("files_bytes"));
            let mut row = name(configuration);
            row.extend([
                state.to_owned(),
                optional(total, format::bytes),
                optional(metric("data_bytes"), format::bytes),
                optional(metric("index_bytes"), format::bytes),
                optional(metric("files_bytes"), format::bytes),
                optional(total, |total| format!("{:.1}", total / documents)),
                of_raw(total),
            ]);
            logs.push(metric("log_bytes"));
            section.rows.push(row);
        }
    }
    // Where no system has any, there is no such column.
    if logs.iter().any(Option::is_some) {
        section.header.insert(LOGS, "logs".to_owned());
        for (row, logs) in section.rows.iter_mut().zip(&logs) {
            row.insert(LOGS, optional(*logs, format::bytes));
        }
    }
    section.notes.push(
        "total, data and indexes as each system's own catalogue counts; on disk: allocated blocks of its \
         whole data folder, logs included"
            .to_owned(),
    );
    section
}

/// What a reader must know to compare the rows.
fn reading(run: &Run, summary: &Summary) -> Section {
    let mut section = Section { title: "how to read this".to_owned(), ..Section::default() };
    let list = |pick: &dyn Fn(&Configuration) -> bool| {
        let mut names: Vec<&str> = run
            .manifest
            .configurations
            .iter()
            .filter(|configuration| pick(configuration))
            .map(|configuration| configuration.title.as_str())
            .collect();
        names.dedup();
        names.join(", ")
    };
    let embedded = list(&|configuration| configuration.embedded);
    if !embedded.is_empty() {
        section.notes.push(format!("embedded, so no network is in their times: {embedded}"));
    }
    for (transport, words) in [
        ("tcp", "servers reached over TCP on the loopback interface, which is in their times"),
        ("unix", "servers reached over a Unix socket, which is in their times"),
    ] {
        let servers = list(&|configuration| configuration.transport.as_deref() == Some(transport));
        if !servers.is_empty() {
            section.notes.push(format!("{words}: {servers}"));
        }
    }
    let ended = list(&|configuration| configuration.end_of_life);
    if !ended.is_empty() {
        section.notes.push(format!("no longer supported by their makers: {ended}"));
    }
    section.notes.push(
        "hot: asked again and again; cold: engine restarted, its files verified to be out of the page cache"
            .to_owned(),
    );
    section.notes.push(
        "intervals: 95 %, bootstrap over rounds; × of best: ratio of medians over shared rounds with its own \
         interval, and called different only where that excludes 1"
            .to_owned(),
    );
    section.notes.push(format!(
        "every answer was compared with the reference; nothing here extrapolates beyond {} cores",
        summary.machine.cores
    ));
    section.notes.push(format!("everything behind these figures: {}", run.path));
    section
}

fn trouble(summary: &Summary) -> Option<Section> {
    let mut section = Section { title: "what went wrong".to_owned(), ..Section::default() };
    // The same failure in many rounds is told once, with how often.
    let mut told: Vec<(String, u64)> = Vec::new();
    for failure in &summary.failures {
        let text = format!(
            "{} {} {} {} {}: {}: {}",
            failure.system,
            failure.version,
            failure.variant,
            failure.step,
            failure.phase.word(),
            failure.kind,
            printable(&failure.error)
        );
        match told.iter_mut().find(|(known, _)| *known == text) {
            Some((_, times)) => *times += 1,
            None => told.push((text, 1)),
        }
    }
    for (text, times) in told {
        let times = if times > 1 { format!(" ({times} trials)") } else { String::new() };
        section.notes.push(format!("failed: {text}{times}"));
    }
    (!section.notes.is_empty()).then_some(section)
}

pub(crate) fn find<'a>(
    summary: &'a Summary,
    configuration: &Configuration,
    step: &str,
    state: Option<&str>,
) -> Option<&'a Entry> {
    summary.results.iter().find(|entry| {
        configuration.is_of(entry)
            && entry.step == step
            && (state.is_none() || parameter(entry, "state") == state)
    })
}

pub(crate) fn parameter<'a>(entry: &'a Entry, name: &str) -> Option<&'a str> {
    entry.parameters.get(name).and_then(|value| value.as_str())
}

pub(crate) fn name(configuration: &Configuration) -> Vec<String> {
    vec![
        format!("{} {}", configuration.system, configuration.version),
        configuration.variant.clone(),
        configuration.storage.clone(),
    ]
}

fn retains(run: &Run, configuration: &Configuration) -> String {
    let structure = run.records.iter().find_map(|record| match &record.body {
        Body::Structure(structure) if configuration.has(&structure.cell) => Some(structure),
        _ => None,
    });
    match structure {
        None => none(),
        Some(structure) if structure.retains == "changed" => {
            let changes: Vec<&str> = structure.changes.keys().map(String::as_str).collect();
            changes.join(", ")
        }
        Some(structure) => structure.retains.clone(),
    }
}

fn share(part: Option<f64>, whole: Option<f64>) -> String {
    match (part, whole) {
        (Some(part), Some(whole)) if whole > 0.0 => format::percent(part / whole),
        _ => none(),
    }
}

pub(crate) fn optional(value: Option<f64>, show: impl Fn(f64) -> String) -> String {
    value.map_or_else(none, show)
}

pub(crate) fn none() -> String {
    NONE.to_owned()
}

pub(crate) fn short(digest: &str) -> String {
    digest.chars().take(7 + 16).collect()
}

/// Text that a system or a document put in, kept from moving the cursor or changing colours.
pub(crate) fn printable(text: &str) -> String {
    text.chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .take(300)
        .collect::<String>()
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ")
}
