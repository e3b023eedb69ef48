//! Tables of the frontier: what writers and questions reach together, against what each reaches alone.

use jsonathlon_results::mixed::{FrontierLoads, Load, frontier_settings, rate_words};
use jsonathlon_results::summary::{Run, Summary};
use jsonathlon_schema::metric;
use jsonathlon_schema::severity::Severity;
use jsonathlon_stats::frontier::{Frontier, LoadPoint};

use super::cells::{plain, with_limits};
use crate::section::{Column, Section, configuration_columns, dash, name_columns, sorted_configurations};

/// Where a point lies within the frontier of its configuration.
fn position(frontier: &Frontier, point: &LoadPoint) -> &'static str {
    if frontier.hull().contains(point) {
        "hull"
    } else if frontier.below_line().contains(point) {
        "below the line"
    } else if frontier.non_dominated().contains(point) {
        "not dominated"
    } else {
        "dominated"
    }
}

/// Table of the points of each configuration, from questions alone to writers alone. Empty for other runs.
pub(crate) fn points(run: &Run, summary: &Summary) -> Section {
    let own = vec![
        Column::words("writers at"),
        Column::number("documents/s"),
        Column::number("questions/h"),
        Column::words("lies"),
        Column::number("response p95").useful(),
        Column::number("stale p95").useful(),
        Column::words("verdict"),
    ];
    let columns = [configuration_columns(), own].concat();
    let mut section = Section::new("frontier of questions against documents".to_owned(), columns);
    let Some(settings) = frontier_settings(run) else { return section };
    for configuration in sorted_configurations(run) {
        let loads = FrontierLoads::of(settings, summary, configuration);
        let frontier = loads.measured().ok().map(|measured| measured.frontier);
        let mut row = |words: String, load: Load<'_>, lies: String| {
            let Some(worst) = load.worst() else { return };
            let mut row = name_columns(configuration);
            row.extend([
                words,
                with_limits(load.writers, &metric::DOCUMENTS_PER_S),
                with_limits(load.questions, &metric::QUESTIONS_PER_H),
                lies,
                plain(load.writers, &metric::INSERT_RESPONSE_P95_US),
                plain(load.questions, &metric::STALE_P95_MS),
                worst.verdict_with_remarks(),
            ]);
            section.rows.mark(worst.severity(), row);
        };
        row("0".to_owned(), Load { writers: None, questions: loads.streams_alone }, "peak".to_owned());
        for (rate, load) in &loads.points {
            let lies =
                frontier.as_ref().zip(load.point()).map(|(frontier, point)| position(frontier, &point));
            row(rate_words(*rate), *load, lies.map_or_else(dash, str::to_owned));
        }
        row(
            "max, alone".to_owned(),
            Load { writers: loads.writers_alone, questions: None },
            "peak".to_owned(),
        );
    }
    section
}

/// Table of the shares of the frontiers with both peaks beside them. Empty for other runs.
pub(crate) fn shares(run: &Run, summary: &Summary) -> Section {
    let own = vec![
        Column::number("documents/s alone"),
        Column::number("questions/h alone"),
        Column::number("share"),
        Column::count("points on the hull").useful(),
        Column::count("below the line").useful(),
    ];
    let columns = [configuration_columns(), own].concat();
    let mut section = Section::new("share of the frontier".to_owned(), columns);
    let Some(settings) = frontier_settings(run) else { return section };
    for configuration in sorted_configurations(run) {
        let loads = FrontierLoads::of(settings, summary, configuration);
        let frontier = loads.measured().map(|measured| measured.frontier);
        let severity = if frontier.is_ok() { Severity::Good } else { Severity::Warning };
        let drawn = frontier.as_ref().ok();
        let mut row = name_columns(configuration);
        row.extend([
            with_limits(loads.writers_alone, &metric::DOCUMENTS_PER_S),
            with_limits(loads.streams_alone, &metric::QUESTIONS_PER_H),
            drawn.map_or_else(dash, |frontier| format!("{:.2}", frontier.share())),
            // Both peaks are ends of the hull unless a point exceeds them.
            drawn.map_or_else(dash, |frontier| frontier.hull().len().to_string()),
            drawn.map_or_else(dash, |frontier| frontier.below_line().len().to_string()),
        ]);
        section.rows.mark(severity, row);
        if let Err(reason) = frontier {
            let id = &configuration.id;
            section.notes.mark(severity, format!("{} {}: {reason}", id.system, id.variant));
        }
    }
    section
}
