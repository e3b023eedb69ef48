//! Tables of a study: its question, its measurements, published results, and its answer.

use jsonathlon_schema::metric::{BetterDirection, MetricDef};
use jsonathlon_schema::severity::Severity;
use jsonathlon_studies::clause::Sentence;
use jsonathlon_studies::definition::ChartKind;
use jsonathlon_studies::observations::{DOCUMENT, Observation, THROUGHPUT};
use jsonathlon_studies::published::{MACHINE, PublishedResult, SOURCE};
use jsonathlon_studies::workload::StudyWorkload;

use super::StudyResult;
use crate::answer::{ANSWERS, Statement};
use crate::format;
use crate::mixed::{FRONTIER_NOTE, frontier};
use crate::section::{Column, Section, dash, numbers, optional, printable, words};

/// Maximum number of failures that are listed one by one.
const FAILURES: usize = 5;

/// All tables, without the answer.
pub(super) fn sections(result: &StudyResult<'_>) -> Vec<Section> {
    let mut sections = vec![heading(result)];
    sections.extend(measured(result));
    if !result.published.is_empty() {
        sections.push(published(result));
    }
    sections
}

/// Heading with the question, the published claim, and the conditions of the measurement.
fn heading(result: &StudyResult<'_>) -> Section {
    let study = result.study;
    let title = format!("study {}: {}", study.name, printable(&study.question));
    let mut section = Section { title, ..Section::default() };
    if !study.claim.is_empty() {
        section.notes.push(format!("published  {}", printable(&study.claim)));
    }
    section.notes.extend(conditions(result));
    section
}

/// Lines on the machine, the start and the documents of the first run; empty without a run.
pub(super) fn conditions(result: &StudyResult<'_>) -> Vec<String> {
    let Some((_, run)) = result.runs.first() else { return Vec::new() };
    let (machine, data) = (&run.manifest.machine, &run.manifest.data);
    let mut lines = vec![format!(
        "machine    {} cores, {}, {} memory, {}",
        machine.cores,
        printable(&machine.processor),
        format::bytes(machine.memory_bytes as f64),
        printable(&machine.os),
    )];
    lines.push(format!("begun      {} with jsonathlon {}", run.manifest.started, run.manifest.program));
    lines.push(match result.runs.len() {
        1 => format!("documents  {}: {}", format::integer(data.documents as f64), printable(&data.source)),
        runs => {
            format!("documents  {runs} runs, one after the other; the first of {}", printable(&data.source))
        }
    });
    lines
}

/// Day and machine of the first run in one line; `None` without a run.
pub(super) fn measured_on(result: &StudyResult<'_>) -> Option<String> {
    let (_, run) = result.runs.first()?;
    let machine = &run.manifest.machine;
    let day = run.manifest.day();
    let (processor, memory) = (printable(&machine.processor), format::bytes(machine.memory_bytes as f64));
    Some(format!("Measured {day} on {} cores, {processor}, {memory} memory.", machine.cores))
}

/// Tables of what this study's own runs measured.
pub(super) fn measured(result: &StudyResult<'_>) -> Vec<Section> {
    match result.study.chart.kind {
        ChartKind::Metric => vec![measurements(result)],
        ChartKind::Frontier => frontiers(result),
    }
}

/// Points and shares of all frontiers, two tables for each run.
fn frontiers(result: &StudyResult<'_>) -> Vec<Section> {
    let mut sections = Vec::new();
    for (part, run) in result.runs {
        let summary = run.summary();
        for mut section in [frontier::points(run, &summary), frontier::shares(run, &summary)] {
            if !part.name.is_empty() {
                section.title = format!("{}, {}", section.title, part.name);
            }
            sections.push(section);
        }
    }
    if let Some(last) = sections.last_mut() {
        last.notes.push(FRONTIER_NOTE.to_owned());
    }
    sections
}

/// Table of the measurements of this study's own runs.
fn measurements(result: &StudyResult<'_>) -> Section {
    let metric = result.study.metric();
    let definition = MetricDef::find(metric);
    let title = definition.map_or(metric, |definition| definition.title);
    let varied: Vec<&str> = result.observations.varied.iter().map(|(option, _)| option.as_str()).collect();
    let mut columns = words(&["system", "variant"]);
    let has_profiles = points_differ(result, "profile");
    if has_profiles {
        columns.push(Column::words("memory"));
    }
    columns.extend(words(&varied));
    let has_documents = result.observations.points.iter().any(|point| !point.attribute(DOCUMENT).is_empty());
    if has_documents {
        columns.push(Column::words(DOCUMENT));
    }
    let is_mixed = result.study.workload == StudyWorkload::Mixed;
    if is_mixed {
        columns.extend([Column::words("phase"), Column::words("step"), Column::count("streams")]);
    } else {
        columns.extend([Column::words("mix"), Column::count("clients")]);
    }
    columns.extend([Column::number(title), Column::interval()]);
    columns.extend(result.study.chart.further_metrics.iter().map(|name| Column::number(name).useful()));
    columns.push(Column::words("verdict"));
    let mut section = Section::new("measured".to_owned(), columns);
    // Where all answers are right, steps without the metric are others than those that it belongs to.
    let has_metric = |point: &&Observation| {
        !is_mixed || point.value(metric).is_some() || point.entry.severity() != Severity::Good
    };
    for point in result.observations.points.iter().filter(has_metric) {
        let mut row = vec![
            format!("{} {}", point.attribute("system"), point.attribute("version")),
            point.attribute("variant").to_owned(),
        ];
        if has_profiles {
            row.push(point.attribute("profile").to_owned());
        }
        row.extend(varied.iter().map(|option| point.attribute(option).to_owned()));
        if has_documents {
            row.push(point.attribute(DOCUMENT).to_owned());
        }
        if is_mixed {
            row.push(point.attribute("phase").to_owned());
        }
        row.push(point.attribute("mix").to_owned());
        row.push(if point.clients > 0 { point.clients.to_string() } else { dash() });
        row.push(optional(point.value(metric), |value| format_value(metric, value)));
        row.push(interval(point, metric));
        let further = result.study.chart.further_metrics.iter();
        row.extend(further.map(|name| optional(point.value(name), |value| format_value(name, value))));
        row.push(point.entry.verdict.word().to_owned());
        section.rows.mark(point.entry.severity(), row.iter().map(|text| printable(text)).collect());
    }
    section
}

/// Returns `true` if points of the study differ in an attribute.
pub(super) fn points_differ(result: &StudyResult<'_>, attribute: &str) -> bool {
    let mut values = result.observations.points.iter().map(|point| point.attribute(attribute));
    values.next().is_some_and(|first| values.any(|other| other != first))
}

/// Formats a metric's value in its unit; a metric that is not registered has none.
pub(super) fn format_value(metric: &str, value: f64) -> String {
    match MetricDef::find(metric) {
        // Whole values below 10⁶ of metrics where less is better are taken for exact counts of bytes, which
        // must not be rounded to three digits.
        Some(definition)
            if definition.better == BetterDirection::Lower && value.fract() == 0.0 && value < 1e6 =>
        {
            format!("{value:.0}")
        }
        Some(definition) => format::metric_value(definition.unit, value),
        None if value.fract() == 0.0 => format::integer(value),
        None => format::three_digits(value),
    }
}

fn interval(point: &Observation, metric: &str) -> String {
    match point.value(metric).and_then(|_| point.limits(metric)) {
        Some([low, high]) => format!("{} … {}", format_value(metric, low), format_value(metric, high)),
        None => dash(),
    }
}

/// Point with the highest throughput among those whose conditions match a published result; `None` if none
/// match.
pub(super) fn closest_point<'a>(
    result: &'a StudyResult<'_>,
    published: &PublishedResult,
) -> Option<&'a Observation> {
    let throughput = |point: &&Observation| point.value(THROUGHPUT).unwrap_or_default();
    result
        .observations
        .points
        .iter()
        .filter(|point| point.matches(&published.similar_points) && point.value(THROUGHPUT).is_some())
        .max_by(|a, b| throughput(a).total_cmp(&throughput(b)))
}

/// Table of published results, each with the measurement under the most similar conditions.
pub(super) fn published(result: &StudyResult<'_>) -> Section {
    let mut columns = words(&["experiment", "mix", "documents", "system", "configuration"]);
    columns.extend(numbers(&["published peak", "at 100", "here"]));
    columns.extend([Column::words("of").main(), Column::words("remark").useful()]);
    let mut section = Section::new("published, and what is likest to it here".to_owned(), columns);
    for published in &result.published {
        let closest = closest_point(result, published);
        let per_second = |rate: f64| format!("{}/s", format::count(rate));
        section.rows.push(vec![
            published.experiment.clone(),
            published.mix.clone(),
            published.documents.clone(),
            published.system.clone(),
            published.configuration.clone(),
            optional(published.peak, per_second),
            optional(published.at_100_clients, per_second),
            optional(closest.and_then(|point| point.value(THROUGHPUT)), per_second),
            closest.map_or_else(dash, |point| {
                printable(&format!(
                    "{} {}, {}",
                    point.attribute("version"),
                    point.attribute("variant"),
                    clients(point)
                ))
            }),
            published.remark.clone(),
        ]);
    }
    section.notes.push(format!("published by {SOURCE}"));
    section.notes.push(format!("on {MACHINE}: another machine, other versions; never ranked with these"));
    section
}

fn clients(point: &Observation) -> String {
    if point.clients == 1 { "1 client".to_owned() } else { format!("{} clients", point.clients) }
}

/// Answer of the study: warnings that limit it, its summary, and each of its clauses.
pub(super) fn answer(result: &StudyResult<'_>) -> Section {
    let mut section = Section { title: "answer".to_owned(), ..Section::default() };
    section.notes.mark_all(Severity::Failed, warnings(result));
    section.notes.extend(result.sentence.summary().map(full_stop));
    section.notes.extend(clauses(&result.sentence).into_iter().map(full_stop));
    section
}

/// Ends a text with a full stop.
pub(super) fn full_stop(text: String) -> String {
    if text.ends_with('.') { text } else { text + "." }
}

/// Warnings that limit the answer, its summary, and each of its clauses.
pub(super) fn statements(result: &StudyResult<'_>) -> Vec<Statement> {
    let statement = |severity, noun| move |text: String| Statement { severity, text, noun };
    let warnings = warnings(result).into_iter().map(statement(Severity::Failed, ANSWERS));
    let summary = result.sentence.summary().map(statement(Severity::Good, ANSWERS));
    let clauses = clauses(&result.sentence).into_iter().map(statement(Severity::Good, "clauses"));
    warnings.chain(summary).chain(clauses).collect()
}

/// Clauses of a sentence, each with a capital letter. A clause that begins with "and", or with a number, stays
/// with the one before, which says of what it is.
pub(super) fn clauses(sentence: &Sentence) -> Vec<String> {
    if sentence.clauses.is_empty() {
        return vec![sentence.to_string()];
    }
    let mut texts: Vec<String> = Vec::new();
    for clause in sentence.clauses.iter().map(ToString::to_string) {
        match texts.last_mut() {
            Some(text) if clause.starts_with("and ") => text.push_str(&format!(", {clause}")),
            Some(text) if clause.starts_with(|c: char| c.is_ascii_digit()) => {
                text.push_str(&format!("; {clause}"));
            }
            _ => {
                let mut letters = clause.chars();
                let first = letters.next().into_iter().flat_map(char::to_uppercase);
                texts.push(first.chain(letters).collect());
            }
        }
    }
    texts
}

/// Warnings for the reader of the answer: incomplete runs, missing clauses and frontiers, and failures.
pub(super) fn warnings(result: &StudyResult<'_>) -> Vec<String> {
    let mut notes = Vec::new();
    if !result.observations.complete {
        notes.push("INCOMPLETE: some planned trials have not run".to_owned());
    }
    for frontier in &result.observations.frontiers {
        let reason = frontier.measured.as_ref().err();
        notes.extend(reason.map(|reason| format!("{}: {}", printable(&frontier.title), printable(reason))));
    }
    let has_clauses = !result.sentence.clauses.is_empty();
    for reason in result.sentence.missing().iter().filter(|_| has_clauses).map(|reason| printable(reason)) {
        if !notes.contains(&reason) {
            notes.push(reason);
        }
    }
    let failures = &result.observations.failures;
    notes.extend(failures.iter().take(FAILURES).map(|failure| format!("failed: {}", printable(failure))));
    if failures.len() > FAILURES {
        notes.push(format!("failed: {} more", failures.len() - FAILURES));
    }
    notes
}
