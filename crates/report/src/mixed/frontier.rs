//! Tables of the frontier: what writers and questions reach together, against what each reaches alone.

use jsonathlon_results::summary::{CellSummary, Run, Summary};
use jsonathlon_schema::manifest::Configuration;
use jsonathlon_schema::metric::{self, MetricDef};
use jsonathlon_schema::record::{ALL_QUESTIONS, INGEST, Phase, RATE_SHARE, Verdict};
use jsonathlon_schema::settings::mixed::{FrontierRate, MixedSettings};
use jsonathlon_schema::severity::Severity;
use jsonathlon_schema::workload::WorkloadKind;
use jsonathlon_stats::frontier::{Frontier, LoadPoint};

use super::cells::{find, plain, with_limits};
use crate::section::{Column, Section, configuration_columns, dash, name_columns, sorted_configurations};

/// Settings of a run of the frontier. `None` for other runs.
fn frontier_settings(run: &Run) -> Option<&MixedSettings> {
    run.manifest.settings.workload.mixed.as_ref().filter(|settings| settings.is_frontier())
}

/// Both sides of one load: its writers and its questions. `None` for one that was not measured.
#[derive(Clone, Copy)]
struct Load<'a> {
    writers: Option<&'a CellSummary>,
    questions: Option<&'a CellSummary>,
}

impl<'a> Load<'a> {
    fn at(summary: &'a Summary, configuration: &Configuration, rate: FrontierRate) -> Self {
        let cell = |step: &str| match rate {
            FrontierRate::FullSpeed => find(summary, configuration, Phase::Both, step),
            FrontierRate::ShareOfPeak(share) => summary.results.iter().find(|entry| {
                let own = entry.cell.parameters.get(RATE_SHARE).and_then(serde_json::Value::as_f64);
                entry.cell.workload == WorkloadKind::Mixed
                    && entry.cell.step.word() == step
                    && own == Some(share)
                    && configuration.contains_cell(&entry.cell)
            }),
        };
        Self { writers: cell(INGEST), questions: cell(ALL_QUESTIONS) }
    }

    /// Worst verdict of both sides. `None` if neither was measured.
    fn worst(&self) -> Option<&'a CellSummary> {
        [self.writers, self.questions].into_iter().flatten().max_by_key(|entry| entry.verdict)
    }

    /// Rates that were reached together. `None` unless both were, with verified answers.
    fn point(&self) -> Option<LoadPoint> {
        Some(LoadPoint {
            documents_per_s: verified(self.writers, &metric::DOCUMENTS_PER_S)?,
            questions_per_h: verified(self.questions, &metric::QUESTIONS_PER_H)?,
        })
    }
}

/// Value of a metric if all answers of its cell are right.
fn verified(entry: Option<&CellSummary>, metric: &MetricDef) -> Option<f64> {
    let entry = entry.filter(|entry| matches!(entry.verdict, Verdict::Exact | Verdict::Approximate))?;
    entry.value(metric)
}

/// Loads of one configuration: both alone, and beside each other.
struct Loads<'a> {
    writers_alone: Option<&'a CellSummary>,
    streams_alone: Option<&'a CellSummary>,
    points: Vec<(FrontierRate, Load<'a>)>,
}

impl<'a> Loads<'a> {
    fn of(settings: &MixedSettings, summary: &'a Summary, configuration: &Configuration) -> Self {
        let load = |rate: &FrontierRate| (*rate, Load::at(summary, configuration, *rate));
        Self {
            writers_alone: find(summary, configuration, Phase::Alone, INGEST),
            streams_alone: find(summary, configuration, Phase::Still, ALL_QUESTIONS),
            points: settings.frontier.iter().map(load).collect(),
        }
    }

    /// Frontier of the configuration, or why it has none: without one of its points it would look smaller, without
    /// an unverified one larger than it is.
    fn frontier(&self) -> Result<Frontier, String> {
        let unverified = |what: &str| format!("no share: {what} has no verified rates");
        let documents = verified(self.writers_alone, &metric::DOCUMENTS_PER_S)
            .ok_or_else(|| unverified("the peak of the writers"))?;
        let questions = verified(self.streams_alone, &metric::QUESTIONS_PER_H)
            .ok_or_else(|| unverified("the peak of the questions"))?;
        let point = |(rate, load): &(FrontierRate, Load<'_>)| {
            load.point().ok_or_else(|| unverified(&format!("the point {}", rate_words(*rate))))
        };
        let points = self.points.iter().map(point).collect::<Result<Vec<LoadPoint>, String>>()?;
        Frontier::new(documents, questions, &points)
    }
}

/// Words for the rate of a point: `10 %`, `max`.
fn rate_words(rate: FrontierRate) -> String {
    match rate {
        FrontierRate::ShareOfPeak(share) => format!("{:.0} %", 100.0 * share),
        FrontierRate::FullSpeed => "max".to_owned(),
    }
}

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
pub(super) fn points(run: &Run, summary: &Summary) -> Section {
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
        let loads = Loads::of(settings, summary, configuration);
        let frontier = loads.frontier().ok();
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
                worst.verdict.word().to_owned(),
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
pub(super) fn shares(run: &Run, summary: &Summary) -> Section {
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
        let loads = Loads::of(settings, summary, configuration);
        let frontier = loads.frontier();
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
