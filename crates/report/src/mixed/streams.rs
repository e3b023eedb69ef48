//! Tables of streams on still data.

use jsonathlon_results::summary::{CellSummary, Run, Summary};
use jsonathlon_schema::manifest::Configuration;
use jsonathlon_schema::metric;
use jsonathlon_schema::record::{ALL_QUESTIONS, STREAMS};
use jsonathlon_schema::settings::mixed::MixedSettings;
use jsonathlon_schema::workload::WorkloadKind;

use super::cells::{plain, with_limits};
use crate::section::{Column, Section, configuration_columns, name_columns, sorted_configurations};

/// Settings of a run on still data. `None` for runs with writers.
fn still_settings(run: &Run) -> Option<&MixedSettings> {
    run.manifest.settings.workload.mixed.as_ref().filter(|settings| settings.is_still())
}

/// Cell of a step with a number of streams. `None` if it was not measured.
fn find<'a>(
    summary: &'a Summary,
    configuration: &Configuration,
    streams: u32,
    step: &str,
) -> Option<&'a CellSummary> {
    summary.results.iter().find(|entry| {
        let number = entry.cell.parameters.get(STREAMS).and_then(serde_json::Value::as_u64);
        entry.cell.workload == WorkloadKind::Mixed
            && entry.cell.step.word() == step
            && number == Some(streams.into())
            && configuration.contains_cell(&entry.cell)
    })
}

/// Table of what numbers of streams ask together. Empty for runs with writers.
pub(super) fn questions_per_hour(run: &Run, summary: &Summary) -> Section {
    let own = vec![
        Column::number("streams"),
        Column::number("questions/h"),
        Column::number("speed-up"),
        Column::number("slowest ÷ fastest").main(),
        Column::number("p50").main(),
        Column::number("p95").main(),
        Column::count("errors").useful(),
        Column::words("verdict"),
    ];
    let columns = [configuration_columns(), own].concat();
    let mut section = Section::new("streams on still data".to_owned(), columns);
    let Some(settings) = still_settings(run) else { return section };
    for configuration in sorted_configurations(run) {
        for streams in &settings.still_streams {
            let Some(entry) = find(summary, configuration, *streams, ALL_QUESTIONS) else { continue };
            let cell = Some(entry);
            let mut row = name_columns(configuration);
            row.extend([
                streams.to_string(),
                with_limits(cell, &metric::QUESTIONS_PER_H),
                with_limits(cell, &metric::STREAM_SPEEDUP),
                with_limits(cell, &metric::STREAM_FAIRNESS),
                plain(cell, &metric::QUESTION_P50_US),
                plain(cell, &metric::QUESTION_P95_US),
                plain(cell, &metric::ERRORS),
                entry.verdict.word().to_owned(),
            ]);
            section.rows.mark(entry.severity(), row);
        }
    }
    section
}

/// Table of the median time of each question by number of streams. Empty for runs with writers.
pub(super) fn times(run: &Run, summary: &Summary) -> Section {
    const QUESTIONS: [&str; 5] = ["q1", "q2", "q3", "q4", "q5"];
    let own = std::iter::once("streams".to_owned())
        .chain(QUESTIONS.iter().map(|question| format!("{} p50", question.to_uppercase())));
    let own: Vec<Column> = own.map(|title| Column::number(&title)).collect();
    let columns = [configuration_columns(), own].concat();
    let mut section = Section::new("times of questions on still data".to_owned(), columns);
    let Some(settings) = still_settings(run) else { return section };
    for configuration in sorted_configurations(run) {
        for streams in &settings.still_streams {
            let cells = QUESTIONS.map(|question| find(summary, configuration, *streams, question));
            let Some(worst) = cells.into_iter().flatten().max_by_key(|entry| entry.verdict) else { continue };
            let mut row = name_columns(configuration);
            row.push(streams.to_string());
            row.extend(cells.map(|entry| plain(entry, &metric::QUESTION_P50_US)));
            section.rows.mark(worst.severity(), row);
        }
    }
    section
}
