//! Collects the results of a study's runs: one point per run, mix, configuration and number of clients.

use std::collections::BTreeMap;

use jsonathlon_results::summary::{CellSummary, Run};
use jsonathlon_schema::metric::{MetricDef, THROUGHPUT_OPS_PER_S};
use jsonathlon_schema::record::{CLIENTS, Phase, Trial, Verdict};

use crate::definition::Study;
use crate::runs::StudyRun;

/// Metric that is evaluated if a study names none.
pub const THROUGHPUT: &str = THROUGHPUT_OPS_PER_S.name;
/// Attribute of points that were measured with a single document.
pub const DOCUMENT: &str = "document";

/// Results of one cell of one run.
#[derive(Debug, Clone)]
pub struct Observation {
    /// Index of the run among the runs of the study, from 0.
    pub part: usize,
    /// Attributes that identify the point: `system`, `version`, `variant`, `storage`, `profile`, `mix`,
    /// `document` if there is one, and the options of its run.
    pub attributes: BTreeMap<String, String>,
    /// Display name of the system.
    pub title: String,
    /// Number of client connections. 0 if the cell does not record them.
    pub clients: u64,
    /// Summary of all trials of the cell.
    pub entry: CellSummary,
    /// Values by metric and round, of the study's metrics that [`MetricDef`] knows.
    rounds: BTreeMap<String, BTreeMap<u32, Vec<f64>>>,
}

impl Observation {
    /// Value of an attribute. Empty if the point does not have the attribute.
    #[must_use]
    pub fn attribute(&self, name: &str) -> &str {
        self.attributes.get(name).map_or("", String::as_str)
    }

    /// Returns `true` if the point has all these attributes with these values.
    #[must_use]
    pub fn matches(&self, attributes: &BTreeMap<String, String>) -> bool {
        attributes.iter().all(|(name, value)| self.attribute(name) == value)
    }

    /// Value of a metric by its name in journals. `None` if it was not measured or an answer was wrong.
    #[must_use]
    pub fn value(&self, metric: &str) -> Option<f64> {
        let is_right = matches!(self.entry.verdict, Verdict::Exact | Verdict::Unverified);
        if !is_right {
            return None;
        }
        match MetricDef::find(metric) {
            Some(definition) => self.entry.value(definition),
            // The metric is defined in the system's folder.
            None => self.entry.metrics.get(metric).copied(),
        }
    }

    /// 95 % interval over rounds, as `[low, high]`. `None` if there are too few rounds or the system's folder
    /// defines the metric.
    #[must_use]
    pub fn limits(&self, metric: &str) -> Option<[f64; 2]> {
        self.entry.limits(MetricDef::find(metric)?)
    }

    /// Values of a metric by round. Empty if an answer was wrong or the metric was not measured.
    #[must_use]
    pub fn rounds(&self, metric: &str) -> BTreeMap<u32, Vec<f64>> {
        match self.value(metric) {
            Some(_) => self.rounds.get(metric).cloned().unwrap_or_default(),
            None => BTreeMap::new(),
        }
    }
}

/// Results of all runs of a study.
#[derive(Debug, Clone, Default)]
pub struct StudyObservations {
    /// Points in the order of the runs and of their summaries.
    pub points: Vec<Observation>,
    /// Varied options with their values, in the order of the study.
    pub varied: Vec<(String, Vec<String>)>,
    /// Reasons why cells have no results, without repetitions.
    pub failures: Vec<String>,
    /// Whether every planned trial of all runs has ended.
    pub complete: bool,
}

impl Study {
    /// Metrics that the study needs, by their names in journals, sorted and without repetitions.
    #[must_use]
    pub fn metrics(&self) -> Vec<&str> {
        let verdicts = self.verdicts.iter().filter_map(|verdict| verdict.metric.as_deref());
        let mut metrics: Vec<&str> = verdicts.chain(self.chart.metric.as_deref()).collect();
        metrics.push(THROUGHPUT);
        metrics.sort_unstable();
        metrics.dedup();
        metrics
    }

    /// Metric that is drawn and tabulated, by its name in journals: throughput unless the study names another
    /// one.
    #[must_use]
    pub fn metric(&self) -> &str {
        self.chart.metric.as_deref().unwrap_or(THROUGHPUT)
    }

    /// Collects the points and failures of the study's runs.
    #[must_use]
    pub fn observe(&self, runs: &[(StudyRun, Run)]) -> StudyObservations {
        let mut observations = StudyObservations { complete: true, ..StudyObservations::default() };
        for (index, (part, run)) in runs.iter().enumerate() {
            for (option, value) in &part.varied {
                let values = match observations.varied.iter_mut().find(|(known, _)| known == option) {
                    Some((_, values)) => values,
                    None => {
                        observations.varied.push((option.clone(), Vec::new()));
                        let Some((_, values)) = observations.varied.last_mut() else { continue };
                        values
                    }
                };
                if !values.contains(value) {
                    values.push(value.clone());
                }
            }
            self.collect_points(index, part, run, &mut observations);
        }
        observations
    }

    /// Adds the points and failures of one run.
    fn collect_points(&self, index: usize, part: &StudyRun, run: &Run, observations: &mut StudyObservations) {
        let summary = run.summary();
        observations.complete &= summary.complete;
        for failure in &summary.failures {
            let id = &failure.cell.id;
            let message = format!("{} {} {}: {}", id.system, id.variant, failure.cell.name(), failure.error);
            if !observations.failures.contains(&message) {
                observations.failures.push(message);
            }
        }
        let is_point = |entry: &&CellSummary| {
            let cell = &entry.cell;
            let is_measurement = cell.phase == Phase::Measured
                || (cell.phase == Phase::Steady && cell.step.is_workload_step());
            is_measurement && !cell.is_single_operation() && !cell.is_open_loop()
        };
        let mut trials: BTreeMap<String, Vec<&Trial>> = BTreeMap::new();
        for trial in run.trials().filter(|trial| trial.cell.phase == Phase::Measured) {
            trials.entry(trial.cell.key()).or_default().push(trial);
        }
        for entry in summary.results.iter().filter(is_point) {
            let cell = &entry.cell;
            let configuration =
                run.manifest.configurations.iter().find(|configuration| configuration.contains_cell(cell));
            let mut attributes = part.options.clone();
            let cell_attributes = [
                ("system", cell.id.system.clone()),
                ("version", cell.id.version.clone()),
                ("variant", cell.id.variant.clone()),
                ("storage", cell.id.storage.clone()),
                ("profile", cell.profile.map(|profile| profile.word().to_owned()).unwrap_or_default()),
                ("mix", cell.step.to_string()),
            ];
            attributes.extend(cell_attributes.map(|(name, value)| (name.to_owned(), value)));
            if let Some(document) = cell.parameters.get(DOCUMENT).and_then(serde_json::Value::as_str) {
                attributes.insert(DOCUMENT.to_owned(), document.to_owned());
            }
            let cell_trials = trials.get(&cell.key()).map(Vec::as_slice).unwrap_or_default();
            let rounds = |name: &&str| {
                let metric = MetricDef::find(name)?;
                let mut rounds: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
                for trial in cell_trials {
                    if let Some(value) = metric.value(trial) {
                        rounds.entry(trial.round).or_default().push(value);
                    }
                }
                Some(((*name).to_owned(), rounds))
            };
            observations.points.push(Observation {
                part: index,
                attributes,
                title: configuration
                    .map_or_else(|| cell.id.system.clone(), |configuration| configuration.title.clone()),
                clients: cell.parameters.get(CLIENTS).and_then(serde_json::Value::as_u64).unwrap_or(0),
                entry: entry.clone(),
                rounds: self.metrics().iter().filter_map(rounds).collect(),
            });
        }
    }
}
