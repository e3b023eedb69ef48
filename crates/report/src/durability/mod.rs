//! Tables of the durability workload: the data that remained after each crash, and the evidence of losses.

use jsonathlon_results::durability_evidence::BASIS;
use jsonathlon_results::promise::PROMISE;
use jsonathlon_results::summary::{CellSummary, Run, Summary};
use jsonathlon_schema::durability::{CrashKind, DurabilityTier};
use jsonathlon_schema::finding_state::FindingState;
use jsonathlon_schema::manifest::Configuration;
use jsonathlon_schema::metric::{
    ACKNOWLEDGED_WRITES, CRASHES, CRASHES_AS_PROMISED, CRASHES_WITHOUT_LOSS, LOST_DOCUMENTS, LOST_WRITES,
    MetricDef, OLDEST_LOSS_S, RECOVERY_S, TORN_DOCUMENTS, WRITES_ACKNOWLEDGED_AFTER_CRASH,
    WRITES_OUT_OF_ORDER,
};
use jsonathlon_schema::record::{Cell, DURABILITY, Phase};
use jsonathlon_schema::workload::WorkloadKind;

use crate::format;
use crate::section::{Column, Section, dash, optional, printable, sorted_configurations};
use crate::shown_text::{ALWAYS, Explanation, ShownText};

/// Findings that do not describe a single crash.
const NOT_A_CRASH: [&str; 2] = [PROMISE, BASIS];

fn columns() -> Vec<Column> {
    vec![
        Column::words("system"),
        Column::words("variant"),
        Column::words("tier"),
        Column::words("crash"),
        Column::words("may lose").main(),
        Column::words("found"),
        Column::words("as promised").main(),
        Column::number("acknowledged").useful(),
        Column::number("lost"),
        Column::count("torn"),
        Column::count("out of order"),
        Column::count("after the crash").useful(),
        Column::number("oldest loss").main(),
        Column::number("recovery").detail(),
    ]
}

/// Table of all crash tests, and the evidence of losses if there is any.
pub(crate) fn sections(run: &Run, summary: &Summary) -> Vec<Section> {
    let mut table = Section::new("data after a crash".to_owned(), columns());
    let mut evidence = Section { title: "crashes that lost data".to_owned(), ..Section::default() };
    for configuration in sorted_configurations(run) {
        for tests in crash_tests(configuration, summary) {
            table.rows.mark(tests.entry.severity(), row(configuration, &tests, run));
            evidence.notes.extend(describe_losses(configuration, &tests));
        }
    }
    let mut sections = vec![table];
    if !evidence.notes.is_empty() {
        sections.push(evidence);
    }
    sections
}

/// Notes on how to read the workload's tables.
const READING_NOTES: [Explanation; 4] = [
    (
        ALWAYS,
        "process crash: all processes of the system are killed (SIGKILL), and what they handed to the kernel \
         stays; power loss: the file system of its data is shut down first, and what was not synced is lost",
    ),
    (
        ALWAYS,
        "acknowledged before the crash, and looked for afterwards: every write; what was under way may be there \
         or not. Lost: an older version is there, or none; out of order: lost, while a write that was sent after \
         its acknowledgement is there",
    ),
    (&["after the crash"], "after the crash: sent after the power was cut, and acknowledged all the same"),
    (
        &["power loss"],
        "ext4 hides missing syncs: a sync also writes other files' changes, and what was written past the page \
         cache stays without one",
    ),
];

/// Notes on how to read the workload's tables, those that are needed.
pub(crate) fn reading_notes(shown: &ShownText) -> Vec<String> {
    shown.explain(&READING_NOTES)
}

/// All crash tests of one kind in one durability tier of a configuration.
struct CrashTests<'a> {
    tier: DurabilityTier,
    kind: CrashKind,
    entry: &'a CellSummary,
}

impl<'a> CrashTests<'a> {
    /// Returns the crash tests of an entry. `None` if the entry is about something else.
    fn from_entry(entry: &'a CellSummary) -> Option<Self> {
        let Cell { workload, phase, step, parameters, .. } = &entry.cell;
        if *workload != WorkloadKind::Durability || *phase != Phase::Steady {
            return None;
        }
        let tier = DurabilityTier::from_word(parameters.get(DURABILITY)?.as_str()?)?;
        Some(Self { tier, kind: CrashKind::from_word(step.word())?, entry })
    }
}

/// Crash tests of a configuration, in the order of the plan.
fn crash_tests<'a>(
    configuration: &'a Configuration,
    summary: &'a Summary,
) -> impl Iterator<Item = CrashTests<'a>> {
    let entries = summary.results.iter().filter(|entry| configuration.contains_cell(&entry.cell));
    entries.filter_map(CrashTests::from_entry)
}

fn row(configuration: &Configuration, tests: &CrashTests<'_>, run: &Run) -> Vec<String> {
    let CrashTests { tier, kind, entry } = tests;
    let id = &configuration.id;
    let promise = entry.finding(PROMISE).map_or_else(dash, |finding| printable(finding.state.as_str()));
    let crash_counts = |part: &MetricDef| Some((entry.metric(part)?, entry.metric(&CRASHES)?));
    let kept = crash_counts(&CRASHES_WITHOUT_LOSS).map(|(kept, total)| {
        format!("kept in {} of {} {}", format::integer(kept), format::integer(total), kind.noun(total as u64))
    });
    let as_promised = crash_counts(&CRASHES_AS_PROMISED).map_or_else(dash, |(kept, total)| {
        format!("{} of {}", format::integer(kept), format::integer(total))
    });
    let mut row = vec![
        format!("{} {}", id.system, id.version),
        id.variant.clone(),
        tier.to_string(),
        kind.event().to_owned(),
        promise,
        kept.unwrap_or_else(|| failure_reason(&entry.cell, run)),
        as_promised,
    ];
    let counts = [
        &ACKNOWLEDGED_WRITES,
        &LOST_WRITES,
        &TORN_DOCUMENTS,
        &WRITES_OUT_OF_ORDER,
        &WRITES_ACKNOWLEDGED_AFTER_CRASH,
    ];
    for metric in counts {
        let mut count = entry.metric(metric);
        if *metric == LOST_WRITES {
            // Documents from before the clients began count as lost like written ones.
            count = count.map(|count| count + entry.metric(&LOST_DOCUMENTS).unwrap_or_default());
        }
        row.push(optional(count, format::integer));
    }
    row.push(optional(entry.metric(&OLDEST_LOSS_S), format::seconds));
    row.push(optional(entry.metric(&RECOVERY_S), format::seconds));
    row
}

/// First line of the failure because of which an entry has no crash; a dash if there is none.
fn failure_reason(cell: &Cell, run: &Run) -> String {
    let failure = run.trials().filter(|trial| trial.cell == *cell).find_map(|trial| trial.failure.as_ref());
    failure.map_or_else(dash, |failure| match failure.error.split_once('\n') {
        Some((first, _)) => printable(first),
        None => printable(&failure.error),
    })
}

/// Evidence of every crash after which data was missing or deviated.
fn describe_losses(configuration: &Configuration, tests: &CrashTests<'_>) -> Vec<String> {
    let CrashTests { tier, kind, entry } = tests;
    let id = &configuration.id;
    let prefix = format!("{} {}, {tier}, {}", id.system, id.variant, kind.event());
    let is_noteworthy = |name: &str, state: &FindingState, kinds: usize| {
        !NOT_A_CRASH.contains(&name) && (*state != FindingState::NothingLost || kinds > 0)
    };
    entry
        .findings
        .iter()
        .filter(|finding| is_noteworthy(&finding.subject, &finding.state, finding.kinds.len()))
        .map(|finding| {
            let evidence = finding.observed.as_ref().or(finding.message.as_ref());
            let evidence = evidence.map(|text| format!(": {text}")).unwrap_or_default();
            printable(&format!("{prefix}, {}: {}{evidence}", finding.subject, finding.describe()))
        })
        .collect()
}
