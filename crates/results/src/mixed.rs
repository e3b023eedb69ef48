//! Cells of a mixed run, and the loads of its frontier: both alone, and what they reached beside each other.

use jsonathlon_schema::manifest::Configuration;
use jsonathlon_schema::metric::{self, MetricDef};
use jsonathlon_schema::record::{
    ALL_QUESTIONS, Cell, FULL_SPEED, INGEST, PEAK_TOO_SHORT, Phase, RATE, RATE_SHARE, TOO_SHORT, Verdict,
    WRITERS,
};
use jsonathlon_schema::settings::mixed::{FrontierRate, MixedSettings};
use jsonathlon_schema::workload::WorkloadKind;
use jsonathlon_stats::frontier::{Frontier, LoadPoint};

use crate::summary::{CellSummary, Run, Summary};

/// Settings of a run of the frontier. `None` for other runs.
#[must_use]
pub fn frontier_settings(run: &Run) -> Option<&MixedSettings> {
    run.manifest.settings.workload.mixed.as_ref().filter(|settings| settings.is_frontier())
}

/// Words for the rate of a point: `10 %`, `max`.
#[must_use]
pub fn rate_words(rate: FrontierRate) -> String {
    match rate {
        FrontierRate::ShareOfPeak(share) => format!("{:.0} %", 100.0 * share),
        FrontierRate::FullSpeed => FULL_SPEED.to_owned(),
    }
}

/// Rate of a cell as `--rate` takes it: `2000`, `10%`, `max`. `None` for a cell without writers at a rate.
#[must_use]
pub fn rate_option(cell: &Cell) -> Option<String> {
    if let Some(share) = cell.parameters.get(RATE_SHARE).and_then(serde_json::Value::as_f64) {
        // Shares are products of the percentages that were given.
        return Some(format!("{}%", (share * 1e6).round() / 1e4));
    }
    match cell.parameters.get(RATE)? {
        serde_json::Value::String(word) => Some(word.clone()),
        number => Some(number.as_f64()?.to_string()),
    }
}

/// Cell of a configuration in a phase of a run with writers, whose rate is no share of its own peak. `None` if it was
/// not measured.
#[must_use]
pub fn cell_of<'a>(
    summary: &'a Summary,
    configuration: &Configuration,
    phase: Phase,
    step: &str,
) -> Option<&'a CellSummary> {
    summary.results.iter().find(|entry| {
        entry.cell.workload == WorkloadKind::Mixed
            && entry.cell.phase == phase
            && entry.cell.parameters.contains_key(WRITERS)
            && !entry.cell.parameters.contains_key(RATE_SHARE)
            && entry.cell.step.word() == step
            && configuration.contains_cell(&entry.cell)
    })
}

/// Both sides of one load: its writers and its questions. `None` for one that was not measured.
#[derive(Debug, Clone, Copy)]
pub struct Load<'a> {
    /// Cell of the writers.
    pub writers: Option<&'a CellSummary>,
    /// Cell of all questions together.
    pub questions: Option<&'a CellSummary>,
}

impl<'a> Load<'a> {
    fn at(summary: &'a Summary, configuration: &Configuration, rate: FrontierRate) -> Self {
        let cell = |step: &str| match rate {
            FrontierRate::FullSpeed => cell_of(summary, configuration, Phase::Both, step),
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
    #[must_use]
    pub fn worst(&self) -> Option<&'a CellSummary> {
        [self.writers, self.questions].into_iter().flatten().max_by_key(|entry| entry.verdict)
    }

    /// Rates that were reached together. `None` unless both were, with verified answers.
    #[must_use]
    pub fn point(&self) -> Option<LoadPoint> {
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
#[derive(Debug, Clone)]
pub struct FrontierLoads<'a> {
    /// Writers at full speed without streams.
    pub writers_alone: Option<&'a CellSummary>,
    /// Streams that ask without writers beside them.
    pub streams_alone: Option<&'a CellSummary>,
    /// Each rate of the run with what was reached at it, in the order of the rates.
    pub points: Vec<(FrontierRate, Load<'a>)>,
}

/// Both peaks of a configuration and all of its points, each with verified answers.
#[derive(Debug, Clone, PartialEq)]
pub struct MeasuredFrontier {
    /// Peak of the writers in documents per second, without questions.
    pub documents_peak: f64,
    /// Peak of the questions in questions per hour, without writers.
    pub questions_peak: f64,
    /// Each rate of the run with what was reached at it.
    pub points: Vec<(FrontierRate, LoadPoint)>,
    /// Hull and share of the points.
    pub frontier: Frontier,
}

impl<'a> FrontierLoads<'a> {
    /// Finds the cells of a configuration in the summary of its run.
    #[must_use]
    pub fn of(settings: &MixedSettings, summary: &'a Summary, configuration: &Configuration) -> Self {
        let load = |rate: &FrontierRate| (*rate, Load::at(summary, configuration, *rate));
        Self {
            writers_alone: cell_of(summary, configuration, Phase::Alone, INGEST),
            streams_alone: cell_of(summary, configuration, Phase::Still, ALL_QUESTIONS),
            points: settings.frontier.iter().map(load).collect(),
        }
    }

    /// Frontier of the configuration.
    ///
    /// # Errors
    /// Why it has none: without one of its points it would look smaller, without an unverified one larger than it is.
    /// A peak that was too short is that of the first batches, and decided the rates of the points.
    pub fn measured(&self) -> Result<MeasuredFrontier, String> {
        let unverified = |what: &str| format!("no share: {what} has no verified rates");
        if self.writers_alone.is_some_and(|alone| alone.finding(TOO_SHORT).is_some()) {
            return Err(format!("no share: {PEAK_TOO_SHORT}"));
        }
        let documents_peak = verified(self.writers_alone, &metric::DOCUMENTS_PER_S)
            .ok_or_else(|| unverified("the peak of the writers"))?;
        let questions_peak = verified(self.streams_alone, &metric::QUESTIONS_PER_H)
            .ok_or_else(|| unverified("the peak of the questions"))?;
        let point = |(rate, load): &(FrontierRate, Load<'_>)| {
            let point = load.point();
            point
                .map(|point| (*rate, point))
                .ok_or_else(|| unverified(&format!("the point {}", rate_words(*rate))))
        };
        let points = self.points.iter().map(point).collect::<Result<Vec<_>, String>>()?;
        let together: Vec<LoadPoint> = points.iter().map(|(_, point)| *point).collect();
        let frontier = Frontier::new(documents_peak, questions_peak, &together)?;
        Ok(MeasuredFrontier { documents_peak, questions_peak, points, frontier })
    }
}
