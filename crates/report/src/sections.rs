//! What the tables hold: a heading line, loading, sizes, one table a question, and what went wrong.

use jsonathlon_results::id::{Id, State, Step};
use jsonathlon_results::manifest::Configuration;
use jsonathlon_results::ranking::{Preparation, Profile};
use jsonathlon_results::record::{Body, Phase};
use jsonathlon_results::summary::{Entry, Run, Stolen, Summary};

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
            "class",
            "system",
            "variant",
            "storage",
            "loaded",
            "rejected",
            "time",
            "95 % interval",
            "documents/s",
            "MB/s",
            "bound by",
            "peak memory",
            "drained after",
            "compacted after",
            "round trip",
            "verdict",
        ],
        NAMES,
    );
    section.left_also = vec![10, 14, 15];
    for configuration in by_class(run) {
        let Some(entry) = find(summary, configuration, &Step::Load, None) else { continue };
        let metric = |name: &str| entry.metrics.get(name).copied();
        let size = |state: State, name: &str| {
            find(summary, configuration, &Step::Size, Some(state)).and_then(|e| e.metrics.get(name).copied())
        };
        let mut row = name(configuration);
        row.extend([
            share(metric("documents_loaded"), metric("documents_offered")),
            optional(metric("documents_rejected"), format::whole),
            optional(entry.median_s, format::seconds),
            interval(Some(entry)),
            optional(metric("documents_per_s"), format::count),
            optional(metric("bytes_per_s"), |rate| format!("{:.0}", rate / 1e6)),
            entry.bound_by.clone().unwrap_or_else(none),
            optional(metric("peak_pss_bytes"), format::bytes),
            optional(size(State::Drained, "drained_s"), format::seconds),
            optional(size(State::Compacted, "compacted_s"), format::seconds),
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
            section.notes.push(format!("{} rejected {count}: {}", rejects.cell.id.system, printable(reason)));
        }
        if let Some(file) = &rejects.file {
            section.notes.push(format!("  each one is listed in {}/{file}", run.path));
        }
    }
    section
}

/// Place of the column of logs: behind what is on disk, which holds them.
const LOGS: usize = 9;

fn sizes(run: &Run, summary: &Summary) -> Section {
    let mut section = Section::new(
        "size".to_owned(),
        &[
            "class",
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
        NAMES + 1,
    );
    let mut logs: Vec<Option<f64>> = Vec::new();
    let raw = summary
        .results
        .iter()
        .find(|entry| entry.cell.id.system == "files" && entry.cell.id.variant == "raw")
        .and_then(|entry| entry.metrics.get("files_bytes").copied());
    let documents = summary.data.documents.max(1) as f64;
    let of_raw = |total: Option<f64>| match (total, raw) {
        (Some(total), Some(raw)) if raw > 0.0 => format::percent(total / raw),
        _ => none(),
    };
    for format in ["raw", "gzip-6", "lz4", "zstd-1"] {
        let Some(entry) = summary
            .results
            .iter()
            .find(|entry| entry.cell.id.system == "files" && entry.cell.id.variant == format)
        else {
            continue;
        };
        let total = entry.metrics.get("files_bytes").copied();
        logs.push(None);
        section.rows.push(vec![
            none(),
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
    let mut ranges = false;
    for configuration in by_class(run) {
        for state in State::ALL {
            let Some(entry) = find(summary, configuration, &Step::Size, Some(state)) else { continue };
            let metric = |name: &str| entry.metrics.get(name).copied();
            let total = metric("total_bytes").or_else(|| metric("files_bytes"));
            let mut row = name(configuration);
            row.extend([
                state.word().to_owned(),
                size_with_range(total, metric("least_total_bytes"), metric("most_total_bytes"), &mut ranges),
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
    if ranges {
        section
            .notes
            .push("total: the median over loads, and the smallest and the largest of them".to_owned());
    }
    section.notes.push(
        "total, data and indexes as each system's own catalogue counts; on disk: allocated blocks of its \
         whole data folder, logs included"
            .to_owned(),
    );
    section
}

/// A size, with its range over loads where that shows in three digits.
fn size_with_range(median: Option<f64>, least: Option<f64>, most: Option<f64>, ranges: &mut bool) -> String {
    let text = optional(median, format::bytes);
    match (least.map(format::bytes), most.map(format::bytes)) {
        (Some(least), Some(most)) if least != most => {
            *ranges = true;
            format!("{text} ({least} … {most})")
        }
        _ => text,
    }
}

/// Columns that name a configuration.
pub(crate) const NAMES: usize = 4;

/// Configurations class by class, in the order of the plan within each; reference rows last.
pub(crate) fn by_class(run: &Run) -> Vec<&Configuration> {
    let mut all: Vec<&Configuration> = run.manifest.configurations.iter().collect();
    all.sort_by_cached_key(|one| (one.reference, one.ranking_place()));
    all
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
        section.notes.push(format!("embedded, no network in their times: {embedded}"));
    }
    for (transport, words) in [
        ("tcp", "servers, with TCP on the loopback interface in their times"),
        ("unix", "servers, with a Unix socket in their times"),
    ] {
        let servers = list(&|configuration| configuration.transport.as_deref() == Some(transport));
        if !servers.is_empty() {
            section.notes.push(format!("{words}: {servers}"));
        }
    }
    let ended = list(&|configuration| configuration.end_of_life);
    if !ended.is_empty() {
        section.notes.push(format!("end of life, no longer supported by their makers: {ended}"));
    }
    section.notes.extend(classes(run));
    section.notes.extend(memory(run));
    section.notes.extend(idle_cores(run, summary));
    section.notes.push(
        "hot: repeated executions; cold: engine restarted, data files verified to be out of the page cache"
            .to_owned(),
    );
    section.notes.push(
        "intervals: 95 %, bootstrap over rounds; × of best: ratio of medians over shared rounds within a class; two \
         systems differ only where its interval excludes 1"
            .to_owned(),
    );
    section.notes.extend(precision(summary));
    let Stolen { trials, of } = summary.stolen;
    if trials > 0 {
        section.notes.push(format!(
            "the hypervisor took more than {} of the processor during {trials} of {of} trials",
            format::percent(Stolen::SHARE)
        ));
    }
    section.notes.push(format!(
        "every answer was checked against the reference; results hold for this machine with {} cores",
        summary.machine.cores
    ));
    section.notes.push(format!("run folder with all trials: {}", run.path));
    section
}

/// What each class means, of those that the run has.
fn classes(run: &Run) -> Vec<String> {
    let has = |class: Option<Preparation>| {
        run.manifest.configurations.iter().any(|one| !one.reference && one.preparation == class)
    };
    let words = [
        (Some(Preparation::AsIs), "as-is: no index, hint, sort key or column on any path"),
        (
            Some(Preparation::Prepared),
            "prepared: an index, hints or a sort key on the questions' paths; questions name paths",
        ),
        (
            Some(Preparation::Extracted),
            "extracted: the questions' paths are columns beside the document; questions name columns",
        ),
        (None, "not stated: made by a version without preparation classes; compare variants with care"),
    ];
    let there = words.into_iter().filter(|(class, _)| has(*class));
    there.map(|(_, words)| format!("class {words}")).collect()
}

/// How memory was set.
fn memory(run: &Run) -> Vec<String> {
    let ranked = || run.manifest.configurations.iter().filter(|one| !one.reference);
    let mut notes = Vec::new();
    if let Some(bytes) = ranked().find_map(|one| one.memory_bytes) {
        notes.push(format!(
            "memory: every system may use {}, set as its makers advise (docs/fairness.md)",
            format::bytes(bytes as f64)
        ));
    }
    if ranked().any(|one| one.profile == Some(Profile::Stock)) {
        notes.push("stock: the memory settings of the package, ranked apart".to_owned());
    }
    notes
}

/// Systems whose unit of parallel work is larger than what each core would get.
fn idle_cores(run: &Run, summary: &Summary) -> Option<String> {
    let (documents, cores) = (summary.data.documents, summary.machine.cores as u64);
    let idle =
        |one: &&Configuration| one.parallel_unit.is_some_and(|unit| unit.saturating_mul(cores) > documents);
    let mut names: Vec<String> = run
        .manifest
        .configurations
        .iter()
        .filter(idle)
        .map(|one| format!("{} ({})", one.title, format::whole(one.parallel_unit.unwrap_or(0) as f64)))
        .collect();
    names.dedup();
    (!names.is_empty()).then(|| {
        format!(
            "too few documents for all cores, by documents in a unit of parallel work: {}",
            names.join(", ")
        )
    })
}

/// What became of `--precision`.
fn precision(summary: &Summary) -> Vec<String> {
    let Some(found) = &summary.precision else { return Vec::new() };
    let share = format::percent(found.share);
    let reached = found.cells - found.not_reached.len();
    let mut notes = vec![format!(
        "precision: {reached} of {} ranked cells are within ± {share} after {} rounds; intervals are wider than at one \
         look (error probability {:.4} at this one) so that looking several times raises no false alarms",
        found.cells, found.rounds, found.alpha
    )];
    for one in &found.not_reached {
        let to = one
            .share
            .map_or_else(|| "no interval".to_owned(), |share| format!("± {}", format::percent(share)));
        let phase = if one.phase == Phase::Load { "" } else { one.phase.words() };
        let Id { system, version, variant, .. } = &one.id;
        let cell = [system, version, variant, one.step.word(), phase].join(" ");
        notes.push(format!("  not within ± {share}: {}: {to}", cell.trim_end()));
    }
    notes
}

fn trouble(summary: &Summary) -> Option<Section> {
    let mut section = Section { title: "what went wrong".to_owned(), ..Section::default() };
    // The same failure in many rounds is told once, with how often.
    let mut told: Vec<(String, u64)> = Vec::new();
    for failure in &summary.failures {
        let Id { system, version, variant, .. } = &failure.cell.id;
        let (step, phase) = (&failure.cell.step, failure.cell.phase.word());
        let (kind, error) = (&failure.kind, printable(&failure.error));
        let text = format!("{system} {version} {variant} {step} {phase}: {kind}: {error}");
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
    step: &Step,
    state: Option<State>,
) -> Option<&'a Entry> {
    summary.results.iter().find(|entry| {
        configuration.has(&entry.cell)
            && entry.cell.step == *step
            && (state.is_none() || entry.cell.state == state)
    })
}

pub(crate) fn name(configuration: &Configuration) -> Vec<String> {
    vec![
        if configuration.reference { none() } else { configuration.ranking() },
        format!("{} {}", configuration.id.system, configuration.id.version),
        configuration.id.variant.clone(),
        configuration.id.storage.clone(),
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
        Some(structure) => match structure.retains.as_str() {
            "bytes" => "same bytes".to_owned(),
            "value" => "same values".to_owned(),
            other => other.to_owned(),
        },
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

/// An interval of seconds.
pub(crate) fn interval(entry: Option<&Entry>) -> String {
    match entry.and_then(|entry| entry.low_s.zip(entry.high_s)) {
        Some((low, high)) => format!("{} … {}", format::seconds(low), format::seconds(high)),
        None => none(),
    }
}
