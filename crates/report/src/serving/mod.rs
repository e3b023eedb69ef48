//! Tables of the serving workload: loads, throughput by clients, percentiles, and caveats.

mod conditions;
mod loading;
mod operations;
mod reports;
mod throughput;

use jsonathlon_results::summary::{Run, Summary};
use jsonathlon_schema::record::Phase;

use crate::section::Section;
use crate::shown_text::{ALWAYS, Explanation, ShownText};
use conditions::Group;

/// The clients' share of the CPU time above which they, and not the system, may limit the throughput.
const DRIVER_BOUND: f64 = 0.5;

/// All tables of the workload that have rows or notes.
pub(crate) fn sections(run: &Run, summary: &Summary) -> Vec<Section> {
    let mut sections = vec![loading::loading(run, summary)];
    for group in Group::find_all(summary) {
        if group.is_closed() {
            sections.push(throughput::table(run, summary, &group));
        }
        sections.push(operations::table(run, &group));
    }
    sections.extend(reports::sections(run, summary));
    sections.push(caveats(run, summary));
    sections.retain(|section| !section.rows.is_empty() || !section.notes.is_empty());
    sections
}

/// Notes on how to read the workload's tables.
const READING_NOTES: [Explanation; 9] = [
    (
        &["operations per second"],
        "throughput: operations that ended well, per second, with its 95 % interval over rounds (bootstrap); two \
         systems differ only where the interval of their ratio, paired by round, excludes 1",
    ),
    (
        &["closed loop"],
        "closed loop: each client sends its next operation when the last one has ended. Service time runs from \
         sending to the last byte decoded; a stall delays one operation of each client, so it is not latency \
         under load and not ranked",
    ),
    (
        &["response time"],
        "by a schedule (poisson, fixed): response time runs from when the operation was to begin, so a stall is \
         charged to all that it delayed",
    ),
    (
        &["p50", "p99"],
        "percentiles are those of all rounds' histograms together; intervals are of rounds, where each has ten \
         operations beyond the percentile",
    ),
    (ALWAYS, "every answer was checked: a wrong one is no operation, and a cell with one has no throughput"),
    (
        &["WAL/op"],
        "WAL/op: what the system's WAL grew by; where the system reports them separately, records of changes and \
         images of whole pages are shown next to it: an image is written when a page is changed for the first \
         time after a checkpoint, so that what one trial writes depends on what came before it",
    ),
    (
        &[" trials, "],
        "where trials fall into two groups both stand there, since a median over both would be of neither",
    ),
    (
        &["driver-bound", " *"],
        "* driver-bound: the clients took more than half of the CPU time, so they may be what was measured",
    ),
    (
        &["†"],
        "† not in memory: half of the trials or more read from the disk, each more than 1 % of the data files or \
         16 MiB",
    ),
];

/// Notes on how to read the workload's tables, those that are needed.
pub(crate) fn reading_notes(shown: &ShownText) -> Vec<String> {
    shown.explain(&READING_NOTES)
}

/// Notes that limit what the results show.
fn caveats(run: &Run, summary: &Summary) -> Section {
    let mut section = Section { title: "what this run does not show".to_owned(), ..Section::default() };
    section.notes.push(steadiness(run, summary));
    section.notes.extend(conditions::page_cache(run));
    section.notes.extend(conditions::durability(run, summary));
    for configuration in &run.manifest.configurations {
        let Some(reason) = &configuration.not_made_for else { continue };
        let note = format!("{} is not made for this and not ranked: {reason}", configuration.title);
        // Listed once for all variants of a system.
        if !section.notes.iter().any(|known| *known == note) {
            section.notes.push(note);
        }
    }
    section
}

/// Note on whether throughput was steady, and on checkpoints during measurement.
fn steadiness(run: &Run, summary: &Summary) -> String {
    let measured = || summary.results.iter().filter(|entry| entry.cell.phase == Phase::Measured);
    let tested = measured().filter_map(|entry| entry.metric(&jsonathlon_schema::metric::STEADY));
    let (mut steady, mut unsteady) = (0, 0);
    for value in tested {
        if value >= 1.0 { steady += 1 } else { unsteady += 1 }
    }
    let state = match (steady, unsteady) {
        (0, 0) => "steady state not tested".to_owned(),
        (_, 0) => "throughput was steady before measuring began".to_owned(),
        (_, unsteady) => format!(
            "throughput was not steady when measuring began in {unsteady} of {} cells",
            steady + unsteady
        ),
    };
    format!("{state}; {}", conditions::checkpoints(run))
}
