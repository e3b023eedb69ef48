//! Tables of a user's reports: their times at rest and beside each load, what each load loses to them, and how far
//! systems agree on the answers.

use jsonathlon_results::load_loss::{LoadLoss, is_beside_reports, without_reports};
use jsonathlon_results::summary::{CellSummary, Run, Summary};
use jsonathlon_schema::manifest::Configuration;
use jsonathlon_schema::metric::{self, MetricDef};
use jsonathlon_schema::record::{ALL_QUESTIONS, Cell, JUDGED_AT_REST, MIX, Phase, STREAMS, Verdict};
use jsonathlon_schema::settings::questions::UserQuestion;
use jsonathlon_schema::workload::WorkloadKind;

use super::conditions::{clients, rate};
use crate::agreement;
use crate::format;
use crate::section::{
    Column, NONE, Section, configuration_columns, dash, name_columns, optional, printable,
    sorted_configurations,
};

/// All tables of reports; none for a run without.
pub(super) fn sections(run: &Run, summary: &Summary) -> Vec<Section> {
    let mut sections = vec![times(run, summary), losses(run, summary)];
    sections.extend(agreements(run, summary));
    sections
}

/// Table of the times of each report, at rest and beside each load.
fn times(run: &Run, summary: &Summary) -> Section {
    let own = vec![
        Column::words("report"),
        Column::words("beside"),
        Column::number("p50"),
        Column::number("p95"),
        Column::number("an hour").main(),
        Column::number("as agreed").useful(),
        Column::words("verdict"),
    ];
    let columns = [configuration_columns(), own].concat();
    let mut section = Section::new("reports: times at rest and beside the load".to_owned(), columns);
    for configuration in sorted_configurations(run) {
        for entry in report_entries(summary, configuration) {
            let mut row = name_columns(configuration);
            row.extend([
                printable(entry.cell.step.word()),
                load_of(&entry.cell).unwrap_or_else(|| "nothing (at rest)".to_owned()),
                with_limits(entry, &metric::QUESTION_P50_US),
                plain(entry, &metric::QUESTION_P95_US),
                plain(entry, &metric::QUESTIONS_PER_H),
                as_agreed(entry),
                entry.verdict_with_remarks(),
            ]);
            section.rows.mark(entry.severity(), row);
        }
    }
    if section.rows.iter().next().is_some() {
        section.notes.push(describe_streams(summary));
        let is_of_rest = |entry: &CellSummary| entry.finding(JUDGED_AT_REST).is_some();
        if summary.results.iter().any(is_of_rest) {
            section.notes.push(
                "at rest: clients changed the documents, so the verdict is that of the same statement before the trials"
                    .to_owned(),
            );
        }
        section.notes.extend(not_applicable(run));
    }
    section
}

/// Cells of reports of a configuration, in the order in which they were recorded.
fn report_entries<'a>(
    summary: &'a Summary,
    configuration: &'a Configuration,
) -> impl Iterator<Item = &'a CellSummary> {
    summary.results.iter().filter(|entry| {
        entry.cell.workload == WorkloadKind::Serving
            && matches!(entry.cell.phase, Phase::Still | Phase::Both)
            && configuration.contains_cell(&entry.cell)
    })
}

/// Load beside which a report was asked, as text: `a, 8 clients, 500/s`. `None` at rest.
fn load_of(cell: &Cell) -> Option<String> {
    let mix = cell.parameters.get(MIX)?.as_str()?;
    let clients = describe_clients(clients(cell));
    let rate = rate(cell).map_or_else(String::new, |rate| format!(", {rate}"));
    Some(printable(&format!("{mix}, {clients}{rate}")))
}

fn describe_clients(clients: u64) -> String {
    if clients == 1 { "1 client".to_owned() } else { format!("{clients} clients") }
}

/// Number of answers that equal the agreed one, of all in the window.
fn as_agreed(entry: &CellSummary) -> String {
    match (entry.metric(&metric::EXACT), entry.metric(&metric::ANSWERS)) {
        (Some(exact), Some(answers)) => {
            format!("{} of {}", format::integer(exact), format::integer(answers))
        }
        _ => dash(),
    }
}

/// Notes on what cannot be asked, one for each reason of a configuration.
fn not_applicable(run: &Run) -> Vec<String> {
    let mut notes: Vec<(String, Vec<&str>)> = Vec::new();
    for configuration in sorted_configurations(run) {
        let trials = run.trials().filter(|trial| {
            trial.verdict == Verdict::NotApplicable
                && trial.cell.phase == Phase::Still
                && trial.cell.step.word() != ALL_QUESTIONS
                && configuration.contains_cell(&trial.cell)
        });
        for trial in trials {
            let Some(failure) = &trial.failure else { continue };
            let name = [&configuration.title, &configuration.id.version, &configuration.id.variant];
            let reason = format!("{}: {}", name.map(String::as_str).join(" "), failure.error);
            let report = trial.cell.step.word();
            match notes.iter_mut().find(|(known, _)| *known == reason) {
                Some((_, reports)) if reports.contains(&report) => {}
                Some((_, reports)) => reports.push(report),
                None => notes.push((reason, vec![report])),
            }
        }
    }
    let note = |(reason, reports): (String, Vec<&str>)| {
        printable(&format!("not applicable to {reason} ({})", reports.join(", ")))
    };
    notes.into_iter().map(note).collect()
}

fn describe_streams(summary: &Summary) -> String {
    let streams = summary.results.iter().filter(|entry| entry.cell.phase == Phase::Still);
    let streams = streams.filter_map(|entry| entry.cell.parameters.get(STREAMS)?.as_u64()).max().unwrap_or(1);
    let asked = if streams == 1 { "1 stream asks".to_owned() } else { format!("{streams} streams ask") };
    format!(
        "{asked} sets of all reports in a closed loop, each answer followed by the next question; \"{ALL_QUESTIONS}\" is a \
         whole set"
    )
}

/// Table of what each load loses to the reports beside it.
fn losses(run: &Run, summary: &Summary) -> Section {
    let own = vec![
        Column::words("load"),
        Column::number("op/s alone"),
        Column::number("beside"),
        Column::number("ratio"),
        Column::number("p99 alone").main(),
        Column::number("p99 beside").main(),
        Column::number("p99 ratio").main(),
        Column::words("verdict"),
    ];
    let columns = [configuration_columns(), own].concat();
    let mut section = Section::new("loads beside reports".to_owned(), columns);
    for configuration in sorted_configurations(run) {
        let loads = summary.results.iter().filter(|entry| {
            is_beside_reports(&entry.cell)
                && !entry.cell.is_single_operation()
                && configuration.contains_cell(&entry.cell)
        });
        for beside in loads {
            let alone_cell = without_reports(&beside.cell);
            let alone = summary.results.iter().find(|entry| entry.cell == alone_cell);
            let is_open = beside.cell.is_open_loop();
            let p99 = if is_open { metric::RESPONSE_P99_US } else { metric::SERVICE_P99_US };
            let value = |entry: Option<&CellSummary>, metric: &MetricDef| {
                entry.map_or_else(dash, |entry| plain(entry, metric))
            };
            let mut row = name_columns(configuration);
            row.extend([
                load_name(&beside.cell),
                value(alone, &metric::THROUGHPUT_OPS_PER_S),
                value(Some(beside), &metric::THROUGHPUT_OPS_PER_S),
                ratio_of(summary, beside, &metric::THROUGHPUT_OPS_PER_S),
                value(alone, &p99),
                value(Some(beside), &p99),
                ratio_of(summary, beside, &p99),
                beside.verdict_with_remarks(),
            ]);
            section.rows.mark(beside.severity(), row);
        }
    }
    if section.rows.iter().next().is_some() {
        section.notes.push(
            "ratio: beside reports ÷ alone, paired by round, with its 95 % interval; p99 is of the service time in a \
             closed loop, and of the response time at a rate"
                .to_owned(),
        );
    }
    section
}

fn load_name(cell: &Cell) -> String {
    let mut text = format!("{}, {}", cell.step, describe_clients(clients(cell)));
    if let Some(rate) = rate(cell) {
        text.push_str(&format!(", {rate}"));
    }
    printable(&text)
}

/// Ratio of a load beside reports to the load alone, with its interval.
fn ratio_of(summary: &Summary, beside: &CellSummary, metric: &MetricDef) -> String {
    let is_same = |loss: &&LoadLoss| loss.cell == beside.cell && loss.metric == metric.name;
    let Some(loss) = summary.load_losses.iter().find(is_same) else { return dash() };
    match loss.limits() {
        Some([low, high]) => format!(
            "{} ({} … {})",
            format::ratio(loss.ratio),
            format::three_digits(low),
            format::three_digits(high)
        ),
        None => format::ratio(loss.ratio),
    }
}

/// How far systems agree on the answer to each question, before anything was timed.
fn agreements(run: &Run, summary: &Summary) -> Option<Section> {
    let mut section = Section { title: "answers of reports at rest".to_owned(), ..Section::default() };
    for UserQuestion { name, title, .. } in run.manifest.user_questions() {
        let agreement = summary.agreements.iter().find(|agreement| agreement.question == *name)?;
        section.notes.push(format!("{}: {}", printable(name), printable(title)));
        section.notes.append(agreement::notes_with_severity(agreement));
    }
    Some(section)
}

fn with_limits(entry: &CellSummary, metric: &MetricDef) -> String {
    let show = |value: f64| format::metric_value(metric.unit, value);
    match (entry.value(metric), entry.limits(metric)) {
        (None, _) => NONE.to_owned(),
        (Some(value), Some([low, high])) if low < high => {
            format!("{} ({} … {})", show(value), show(low), show(high))
        }
        (Some(value), _) => show(value),
    }
}

fn plain(entry: &CellSummary, metric: &MetricDef) -> String {
    optional(entry.value(metric), |value| format::metric_value(metric.unit, value))
}
