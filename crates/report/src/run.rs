//! Renders a run as tables: its conditions, the tables of its workloads, how to read them, and failures.

use std::collections::{BTreeMap, HashMap};

use jsonathlon_results::control::CONTROL;
use jsonathlon_results::summary::{CpuStealSummary, FailureSummary, Run, Summary};
use jsonathlon_schema::id::ConfigurationId;
use jsonathlon_schema::manifest::{Configuration, DataSetInfo};
use jsonathlon_schema::ranking::{MemoryProfile, PreparationClass};
use jsonathlon_schema::record::Phase;
use jsonathlon_schema::severity::Severity;
use jsonathlon_schema::transport::Transport;
use jsonathlon_schema::workload::{WorkloadKind, WorkloadName};

use crate::render::terminal::{TableStyle, draw};
use crate::section::{Section, TOO_FEW_ROUNDS, printable, shorten_digest};
use crate::{
    analytics, documents, durability, fidelity, format, generic, headline, questions, render, serving,
};

/// Systems of a summary that are no configurations: plain files, and the control.
const NOT_CONFIGURATIONS: [&str; 2] = ["files", CONTROL];

/// All tables of a run for the terminal, with the notes that are needed to judge them.
#[must_use]
pub fn tables(run: &Run, style: TableStyle) -> String {
    tables_from_summary(run, &run.summary(), style)
}

/// Like [`tables`], with means and standard deviations beside medians and intervals in the tables that have
/// room for them: those of the documents workload.
#[must_use]
pub fn tables_with_means(run: &Run, style: TableStyle) -> String {
    draw(&sections(run, &run.summary(), true), style)
}

/// Like [`tables`], for a summary that was computed before, because its intervals take most of the time.
#[must_use]
pub fn tables_from_summary(run: &Run, summary: &Summary, style: TableStyle) -> String {
    draw(&sections(run, summary, false), style)
}

/// Like [`tables`], but as Markdown.
#[must_use]
pub fn markdown(run: &Run) -> String {
    render::markdown::write(&sections(run, &run.summary(), false), 2)
}

/// Like [`tables_with_means`], but as Markdown.
#[must_use]
pub fn markdown_with_means(run: &Run) -> String {
    render::markdown::write(&sections(run, &run.summary(), true), 2)
}

fn sections(run: &Run, summary: &Summary, means: bool) -> Vec<Section> {
    let mut sections: Vec<Section> = headline::section(run, summary).into_iter().collect();
    sections.push(heading(run, summary));
    for workload in workloads(summary) {
        sections.extend(match workload {
            WorkloadName::Known(kind) => match kind {
                WorkloadKind::Analytics => analytics::sections(run, summary),
                WorkloadKind::Serving => serving::sections(run, summary),
                WorkloadKind::Documents => documents::sections(run, summary, means),
                WorkloadKind::Questions => questions::sections(run, summary),
                WorkloadKind::Fidelity => fidelity::sections(run, summary),
                WorkloadKind::Durability => durability::sections(run, summary),
            },
            other @ WorkloadName::Other(_) => generic::sections(run, summary, other),
        });
    }
    sections.push(reading_notes(run, summary));
    sections.extend(failures(summary));
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

/// Returns `true` if a run is of this workload.
fn has_workload(summary: &Summary, kind: WorkloadKind) -> bool {
    workloads(summary).into_iter().any(|name| *name == kind)
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

/// Notes that are needed to compare rows: transports, classes, memory, intervals.
fn reading_notes(run: &Run, summary: &Summary) -> Section {
    let mut section = Section { title: "how to read this".to_owned(), ..Section::default() };
    section.notes.extend(describe_transports(run));
    section.notes.extend(outdated(run));
    section.notes.extend(classes(run));
    section.notes.extend(memory(run));
    section.notes.extend(idle_cores(run, summary));
    let has_measurements = summary.results.iter().any(|entry| entry.cell.phase == Phase::Measured);
    let has_findings =
        has_workload(summary, WorkloadKind::Fidelity) || has_workload(summary, WorkloadKind::Durability);
    // Runs of serving, fidelity or durability alone need no notes about questions.
    let has_questions = !(has_measurements || has_findings)
        || summary.results.iter().any(|entry| entry.cell.phase.planned() == Phase::Hot);
    if has_questions {
        section.notes.extend(explain_timing());
    }
    if has_measurements {
        section.notes.extend(serving::reading_notes());
    }
    if has_workload(summary, WorkloadKind::Documents) {
        section.notes.extend(documents::reading_notes());
    }
    if has_workload(summary, WorkloadKind::Fidelity) {
        section.notes.extend(fidelity::reading_notes());
    }
    if has_workload(summary, WorkloadKind::Durability) {
        section.notes.extend(durability::reading_notes());
    }
    section.notes.extend(precision(summary));
    section.notes.extend(describe_steal(summary));
    let has_own_questions = has_workload(summary, WorkloadKind::Questions);
    if has_own_questions {
        section.notes.extend(questions::reading_notes());
    }
    let prefix = match has_questions && !has_own_questions {
        true => "every answer was checked against the reference; ",
        false => "",
    };
    section.notes.push(format!("{prefix}results hold for this machine with {} cores", summary.machine.cores));
    section.notes.push(format!("run folder with all trials: {}", run.path));
    section
}

/// Titles of the configurations for which `pick` returns `true`. Equal titles in a row are listed once.
fn join_titles(run: &Run, pick: impl Fn(&Configuration) -> bool) -> String {
    let mut names: Vec<&str> = run
        .manifest
        .configurations
        .iter()
        .filter(|configuration| pick(configuration))
        .map(|configuration| configuration.title.as_str())
        .collect();
    names.dedup();
    names.join(", ")
}

/// Notes on which systems are embedded, which are servers and how they are reached, and which have reached
/// their end of life.
fn describe_transports(run: &Run) -> Vec<String> {
    let mut notes = Vec::new();
    let embedded = join_titles(run, |configuration| configuration.embedded);
    if !embedded.is_empty() {
        notes.push(format!("embedded, no network in their times: {embedded}"));
    }
    for transport in Transport::ALL {
        let description = match transport {
            Transport::Tcp => "servers, with TCP on the loopback interface in their times",
            Transport::Tls => "servers, with encrypted TCP on the loopback interface in their times",
            Transport::Unix => "servers, with a Unix socket in their times",
        };
        let servers = join_titles(run, |configuration| configuration.transport == Some(transport));
        if !servers.is_empty() {
            notes.push(format!("{description}: {servers}"));
        }
    }
    let ended = join_titles(run, |configuration| configuration.end_of_life);
    if !ended.is_empty() {
        notes.push(format!("end of life, no longer supported by their vendors: {ended}"));
    }
    notes
}

/// Notes on how questions are timed, and how intervals and ratios are computed.
fn explain_timing() -> [String; 2] {
    [
        "hot: repeated executions; cold: engine restarted, data files verified to be out of the page cache"
            .to_owned(),
        "intervals: 95 %, bootstrap over rounds; × of best: ratio of medians over shared rounds within a class; two \
         systems differ only where its interval excludes 1; too few rounds: one, or some that differ by so much that \
         the limits would be a hundredfold apart"
            .to_owned(),
    ]
}

/// Note on processor time that the hypervisor took; `None` if it took little in every trial.
fn describe_steal(summary: &Summary) -> Option<String> {
    let CpuStealSummary { affected_trials, recorded_trials } = summary.cpu_steal;
    (affected_trials > 0).then(|| {
        let limit = format::percent(CpuStealSummary::THRESHOLD_SHARE);
        format!("CPU steal above {limit} in {affected_trials} of {recorded_trials} trials")
    })
}

/// Note on versions that are not the newest, each with the day of its release; `None` if there are none.
fn outdated(run: &Run) -> Option<String> {
    let describe = |configuration: &Configuration| {
        let day = configuration.outdated.as_deref()?;
        Some(format!("{} {} of {day}", configuration.title, configuration.id.version))
    };
    let mut versions: Vec<String> = run.manifest.configurations.iter().filter_map(describe).collect();
    versions.dedup();
    (!versions.is_empty()).then(|| format!("not the newest: {}", versions.join(", ")))
}

/// Explanations of the preparation classes that occur in the run.
fn classes(run: &Run) -> Vec<String> {
    let occurs = |class: PreparationClass| {
        run.manifest
            .configurations
            .iter()
            .any(|configuration| !configuration.reference && configuration.preparation == class)
    };
    let descriptions = [
        (PreparationClass::AsIs, "as-is: no index, hint, sort key or column on any path"),
        (
            PreparationClass::Prepared,
            "prepared: an index, hints or a sort key on the questions' paths; questions name paths",
        ),
        (
            PreparationClass::Extracted,
            "extracted: the questions' paths are columns next to the document; questions name columns",
        ),
        (PreparationClass::UserDefined, "own: set up as the folder of questions says, all ranked together"),
    ];
    let occurring = descriptions.into_iter().filter(|(class, _)| occurs(*class));
    occurring.map(|(_, description)| format!("class {description}")).collect()
}

/// Notes on how the memory of systems was set.
fn memory(run: &Run) -> Vec<String> {
    let ranked = || run.manifest.configurations.iter().filter(|configuration| !configuration.reference);
    let mut notes = Vec::new();
    if let Some(bytes) = ranked().find_map(|configuration| configuration.memory_bytes) {
        notes.push(format!(
            "memory: every system may use {}, configured as its vendor advises, and logs of the same size (docs/fairness.md)",
            format::bytes(bytes as f64)
        ));
    }
    if ranked().any(|configuration| configuration.profile == Some(MemoryProfile::Stock)) {
        notes.push("stock: the memory settings of the package, ranked apart".to_owned());
    }
    notes
}

/// Note on systems whose unit of parallel work holds more documents than each core would get; `None` if there
/// are none.
fn idle_cores(run: &Run, summary: &Summary) -> Option<String> {
    let (documents, cores) = (summary.data.documents, summary.machine.cores as u64);
    let has_idle_cores = |configuration: &&Configuration| {
        configuration.parallel_unit.is_some_and(|unit| unit.saturating_mul(cores) > documents)
    };
    let mut names: Vec<String> = run
        .manifest
        .configurations
        .iter()
        .filter(has_idle_cores)
        .map(|configuration| {
            let unit = configuration.parallel_unit.unwrap_or(0);
            format!("{} ({})", configuration.title, format::integer(unit as f64))
        })
        .collect();
    names.dedup();
    (!names.is_empty()).then(|| {
        format!(
            "too few documents for all cores, by documents in a unit of parallel work: {}",
            names.join(", ")
        )
    })
}

/// Notes on how many cells reached `--precision`, and which did not; empty without the option.
fn precision(summary: &Summary) -> Vec<String> {
    let Some(precision) = &summary.precision else { return Vec::new() };
    let share = format::percent(precision.share);
    let reached = precision.cells - precision.not_reached.len();
    let mut notes = vec![format!(
        "precision: {reached} of {} ranked cells are within ± {share} after {} rounds; intervals are wider than at one \
         look (error probability {:.4} at this one) so that looking several times raises no false alarms",
        precision.cells, precision.rounds, precision.alpha
    )];
    for cell in &precision.not_reached {
        let width = cell
            .share
            .map_or_else(|| TOO_FEW_ROUNDS.to_owned(), |share| format!("± {}", format::percent(share)));
        let phase = if cell.phase == Phase::Load { "" } else { cell.phase.phrase() };
        let ConfigurationId { system, version, variant, .. } = &cell.id;
        let label = [system, version, variant, cell.step.word(), phase].join(" ");
        notes.push(format!("  not within ± {share}: {}: {width}", label.trim_end()));
    }
    notes
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
        *groups[index].2.entry(failure.cell.step.word().to_owned()).or_default() += 1;
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
