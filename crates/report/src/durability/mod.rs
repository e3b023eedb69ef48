//! Tables of the durability workload: the data that remained after each crash, and the evidence of losses.

use jsonathlon_results::durability_evidence::STOPPED;
use jsonathlon_results::promise::PROMISE;
use jsonathlon_results::summary::{CellSummary, Run, Summary};
use jsonathlon_schema::finding_state::FindingState;
use jsonathlon_schema::manifest::{Configuration, POWER};
use jsonathlon_schema::metric::{
    ACKNOWLEDGED_WRITES, LOST_DOCUMENTS, LOST_WRITES, MetricDef, OLDEST_LOSS_S, RECOVERY_S, STOPS,
    STOPS_AS_PROMISED, STOPS_KEPT, TORN_DOCUMENTS, WRITES_AFTER_CUT, WRITES_OUT_OF_ORDER,
};
use jsonathlon_schema::record::{Cell, DURABILITY, Phase};
use jsonathlon_schema::workload::WorkloadKind;

use crate::format;
use crate::section::{Section, by_class, none, optional, printable};

/// Findings that do not describe a single crash.
const NOT_A_CRASH: [&str; 2] = [PROMISE, STOPPED];

const HEADER: [&str; 14] = [
    "system",
    "variant",
    "tier",
    "crash",
    "may lose",
    "found",
    "as promised",
    "acknowledged",
    "lost",
    "torn",
    "out of order",
    "after the crash",
    "oldest loss",
    "recovery",
];

/// Table of all crash tests, and the evidence of losses if there is any.
pub(crate) fn sections(run: &Run, summary: &Summary) -> Vec<Section> {
    let mut table = Section::new("data after a crash".to_owned(), &HEADER, 7);
    let mut evidence = Section { title: "crashes that lost data".to_owned(), ..Section::default() };
    for configuration in by_class(run) {
        for entry in crash_tests(configuration, summary) {
            table.rows.mark(entry.severity(), row(configuration, entry, run));
            evidence.notes.extend(describe_losses(configuration, entry));
        }
    }
    let mut sections = vec![table];
    if !evidence.notes.is_empty() {
        sections.push(evidence);
    }
    sections
}

/// Notes on how to read the workload's tables.
pub(crate) fn reading() -> Vec<String> {
    [
        "process crash: all processes of the system are killed (SIGKILL), and what they handed to the kernel stays; power loss: \
         the file system of its data is shut down first, and what was not synced is lost",
        "acknowledged before the crash, and looked for afterwards: every write; what was under way may be there or not. Lost: an \
         older version is there, or none; out of order: lost, while a write that was sent after its acknowledgement is there",
        "after the crash: sent after the power was cut, and acknowledged all the same",
        "ext4 hides missing syncs: a sync also writes other files' changes, and what was written past the page cache stays without one",
    ]
    .map(str::to_owned)
    .to_vec()
}

/// Entries of a configuration's crash tests, in the order of the plan.
fn crash_tests<'a>(
    configuration: &'a Configuration,
    summary: &'a Summary,
) -> impl Iterator<Item = &'a CellSummary> {
    let is_crash_test = |entry: &&CellSummary| {
        entry.cell.workload == WorkloadKind::Durability
            && entry.cell.phase == Phase::Steady
            && tier(&entry.cell).is_some()
    };
    summary.results.iter().filter(is_crash_test).filter(|entry| configuration.has(&entry.cell))
}

fn tier(cell: &Cell) -> Option<&str> {
    cell.parameters.get(DURABILITY)?.as_str()
}

fn row(configuration: &Configuration, entry: &CellSummary, run: &Run) -> Vec<String> {
    let id = &configuration.id;
    let promise = entry.finding(PROMISE).map_or_else(none, |finding| printable(finding.state.as_str()));
    let stop_counts = |part: &MetricDef| match (entry.metric(part), entry.metric(&STOPS)) {
        (Some(part), Some(total)) => Some((format::whole(part), format::whole(total))),
        _ => None,
    };
    let kept = stop_counts(&STOPS_KEPT)
        .map(|(kept, total)| format!("kept in {kept} of {total} {}", crash_plural(entry)));
    let as_promised =
        stop_counts(&STOPS_AS_PROMISED).map_or_else(none, |(kept, total)| format!("{kept} of {total}"));
    let mut row = vec![
        format!("{} {}", id.system, id.version),
        id.variant.clone(),
        printable(tier(&entry.cell).unwrap_or_default()),
        crash_kind(entry).to_owned(),
        promise,
        kept.unwrap_or_else(|| failure_reason(&entry.cell, run)),
        as_promised,
    ];
    let counts =
        [&ACKNOWLEDGED_WRITES, &LOST_WRITES, &TORN_DOCUMENTS, &WRITES_OUT_OF_ORDER, &WRITES_AFTER_CUT];
    for figure in counts {
        let mut count = entry.metric(figure);
        if *figure == LOST_WRITES {
            // Documents from before the clients began count as lost like written ones.
            count = count.map(|count| count + entry.metric(&LOST_DOCUMENTS).unwrap_or_default());
        }
        row.push(optional(count, format::whole));
    }
    row.push(optional(entry.metric(&OLDEST_LOSS_S), format::seconds));
    row.push(optional(entry.metric(&RECOVERY_S), format::seconds));
    row
}

fn crash_kind(entry: &CellSummary) -> &'static str {
    match entry.cell.step.word() {
        POWER => "power loss",
        _ => "process crash",
    }
}

fn crash_plural(entry: &CellSummary) -> &'static str {
    match entry.cell.step.word() {
        POWER => "power cuts",
        _ => "kills",
    }
}

/// First line of the failure because of which an entry has no crash; a dash if there is none.
fn failure_reason(cell: &Cell, run: &Run) -> String {
    let failure = run.trials().filter(|trial| trial.cell == *cell).find_map(|trial| trial.failure.as_ref());
    failure.map_or_else(none, |failure| match failure.error.split_once('\n') {
        Some((first, _)) => printable(first),
        None => printable(&failure.error),
    })
}

/// Evidence of every crash after which data was missing or deviated.
fn describe_losses(configuration: &Configuration, entry: &CellSummary) -> Vec<String> {
    let prefix = format!(
        "{} {}, {}, {}",
        configuration.id.system,
        configuration.id.variant,
        tier(&entry.cell).unwrap_or_default(),
        crash_kind(entry)
    );
    let is_noteworthy = |name: &str, state: &FindingState, kinds: usize| {
        !NOT_A_CRASH.contains(&name) && (*state != FindingState::Kept || kinds > 0)
    };
    entry
        .findings
        .iter()
        .filter(|finding| is_noteworthy(&finding.of, &finding.state, finding.kinds.len()))
        .map(|finding| {
            let evidence = finding.seen.as_ref().or(finding.words.as_ref());
            let evidence = evidence.map(|text| format!(": {text}")).unwrap_or_default();
            printable(&format!("{prefix}, {}: {}{evidence}", finding.of, finding.describe()))
        })
        .collect()
}
