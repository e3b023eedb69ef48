//! Tables of a study: its question, its measurements, published results, and its answer.

use jsonathlon_schema::metric::{BetterDirection, MetricDef};
use jsonathlon_schema::severity::Severity;
use jsonathlon_studies::observations::{DOCUMENT, Observation, THROUGHPUT};
use jsonathlon_studies::published::{MACHINE, Published, SOURCE};

use super::StudyResult;
use crate::format;
use crate::section::{Section, none, optional, printable};

/// Maximum number of failures that are listed one by one.
const FAILURES: usize = 5;

/// All tables. The answer comes last, so that it stands directly above the prompt.
pub(super) fn sections(finding: &StudyResult<'_>) -> Vec<Section> {
    let mut sections = vec![heading(finding), own(finding)];
    if !finding.published.is_empty() {
        sections.push(published(finding));
    }
    sections.push(answer(finding));
    sections
}

/// Heading with the question, the published claim, and the conditions of the measurement.
fn heading(finding: &StudyResult<'_>) -> Section {
    let study = finding.study;
    let title = format!("study {}: {}", study.name, printable(&study.question));
    let mut section = Section { title, ..Section::default() };
    if !study.claim.is_empty() {
        section.notes.push(format!("published  {}", printable(&study.claim)));
    }
    section.notes.extend(conditions(finding));
    section
}

/// Lines on the machine, the start and the documents of the first run; empty without a run.
pub(super) fn conditions(finding: &StudyResult<'_>) -> Vec<String> {
    let Some((_, run)) = finding.runs.first() else { return Vec::new() };
    let (machine, data) = (&run.manifest.machine, &run.manifest.data);
    let mut lines = vec![format!(
        "machine    {} cores, {}, {} memory, {}",
        machine.cores,
        printable(&machine.processor),
        format::bytes(machine.memory_bytes as f64),
        printable(&machine.os),
    )];
    lines.push(format!("begun      {} with jsonathlon {}", run.manifest.started, run.manifest.program));
    lines.push(match finding.runs.len() {
        1 => format!("documents  {}: {}", format::whole(data.documents as f64), printable(&data.source)),
        runs => {
            format!("documents  {runs} runs, one after the other; the first of {}", printable(&data.source))
        }
    });
    lines
}

/// Table of the measurements of this study's own runs.
pub(super) fn own(finding: &StudyResult<'_>) -> Section {
    let figure = finding.study.figure();
    let known = MetricDef::find(figure);
    let title = known.map_or(figure, |known| known.title);
    let varied: Vec<&str> = finding.seen.varied.iter().map(|(option, _)| option.as_str()).collect();
    let mut header = vec!["system", "variant"];
    let profiles = differ(finding, "profile");
    if profiles {
        header.push("memory");
    }
    header.extend(&varied);
    let documents = finding.seen.points.iter().any(|point| !point.attribute(DOCUMENT).is_empty());
    if documents {
        header.push(DOCUMENT);
    }
    header.extend(["mix", "clients", title, "95 % interval"]);
    let words = header.len() - 3;
    header.extend(finding.study.chart.also.iter().map(String::as_str));
    header.push("verdict");
    let mut section = Section::new("measured".to_owned(), &header, words);
    section.left_also = vec![header.len() - 1];
    for point in &finding.seen.points {
        let mut row = vec![
            format!("{} {}", point.attribute("system"), point.attribute("version")),
            point.attribute("variant").to_owned(),
        ];
        if profiles {
            row.push(point.attribute("profile").to_owned());
        }
        row.extend(varied.iter().map(|option| point.attribute(option).to_owned()));
        if documents {
            row.push(point.attribute(DOCUMENT).to_owned());
        }
        row.push(point.attribute("mix").to_owned());
        row.push(if point.clients > 0 { point.clients.to_string() } else { none() });
        row.push(optional(point.value(figure), |value| in_unit(figure, value)));
        row.push(interval(point, figure));
        let also = finding.study.chart.also.iter();
        row.extend(also.map(|name| optional(point.value(name), |value| in_unit(name, value))));
        row.push(point.entry.verdict.word().to_owned());
        section.rows.mark(point.entry.severity(), row.iter().map(|text| printable(text)).collect());
    }
    section
}

/// Returns `true` if points of the study differ in an attribute.
pub(super) fn differ(finding: &StudyResult<'_>, attribute: &str) -> bool {
    let mut all = finding.seen.points.iter().map(|point| point.attribute(attribute));
    all.next().is_some_and(|first| all.any(|other| other != first))
}

/// Formats a metric's value in its unit; a metric that is not registered has none.
pub(super) fn in_unit(figure: &str, value: f64) -> String {
    match MetricDef::find(figure) {
        // Whole values below 10⁶ of metrics where less is better are taken for exact counts of bytes, which
        // must not be rounded to three digits.
        Some(known) if known.better == BetterDirection::Lower && value.fract() == 0.0 && value < 1e6 => {
            format!("{value:.0}")
        }
        Some(known) => format::figure(known.unit, value),
        None if value.fract() == 0.0 => format::whole(value),
        None => format::three(value),
    }
}

fn interval(point: &Observation, figure: &str) -> String {
    match point.value(figure).and_then(|_| point.limits(figure)) {
        Some([low, high]) => format!("{} … {}", in_unit(figure, low), in_unit(figure, high)),
        None => none(),
    }
}

/// Point with the highest throughput among those whose conditions match a published result; `None` if none
/// match.
pub(super) fn closest_point<'a>(
    finding: &'a StudyResult<'_>,
    published: &Published,
) -> Option<&'a Observation> {
    let best = |point: &&Observation| point.value(THROUGHPUT).unwrap_or_default();
    finding
        .seen
        .points
        .iter()
        .filter(|point| point.matches(&published.like) && point.value(THROUGHPUT).is_some())
        .max_by(|a, b| best(a).total_cmp(&best(b)))
}

/// Table of published results, each with the measurement under the most similar conditions.
pub(super) fn published(finding: &StudyResult<'_>) -> Section {
    let header = [
        "experiment",
        "mix",
        "documents",
        "system",
        "configuration",
        "published peak",
        "at 100",
        "here",
        "of",
        "remark",
    ];
    let mut section = Section::new("published, and what is likest to it here".to_owned(), &header, 5);
    section.left_also = vec![8, 9];
    for one in &finding.published {
        let here = closest_point(finding, one);
        let rate = |rate: f64| format!("{}/s", format::count(rate));
        section.rows.push(vec![
            one.experiment.clone(),
            one.mix.clone(),
            one.documents.clone(),
            one.system.clone(),
            one.configuration.clone(),
            optional(one.peak, rate),
            optional(one.at_100_clients, rate),
            optional(here.and_then(|point| point.value(THROUGHPUT)), rate),
            here.map_or_else(none, |point| {
                printable(&format!(
                    "{} {}, {}",
                    point.attribute("version"),
                    point.attribute("variant"),
                    clients(point)
                ))
            }),
            one.remark.clone(),
        ]);
    }
    section.notes.push(format!("published by {SOURCE}"));
    section.notes.push(format!("on {MACHINE}: another machine, other versions; never ranked with these"));
    section
}

fn clients(point: &Observation) -> String {
    if point.clients == 1 { "1 client".to_owned() } else { format!("{} clients", point.clients) }
}

/// Answer of the study, after the warnings that limit it.
fn answer(finding: &StudyResult<'_>) -> Section {
    let mut section = Section { title: "answer".to_owned(), ..Section::default() };
    section.notes.mark_all(Severity::Failed, warnings(finding));
    section.notes.push(finding.sentence.to_string());
    section
}

/// Warnings for the reader of the answer: incomplete runs and failures.
pub(super) fn warnings(finding: &StudyResult<'_>) -> Vec<String> {
    let mut notes = Vec::new();
    if !finding.seen.complete {
        notes.push("INCOMPLETE: planned trials have no record yet".to_owned());
    }
    let failures = &finding.seen.failures;
    notes.extend(failures.iter().take(FAILURES).map(|words| format!("failed: {}", printable(words))));
    if failures.len() > FAILURES {
        notes.push(format!("failed: {} more", failures.len() - FAILURES));
    }
    notes
}
