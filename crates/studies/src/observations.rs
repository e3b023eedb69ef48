//! Collects the results of a study's runs: one point per run, mix, configuration and number of clients.

use std::collections::{BTreeMap, BTreeSet};

use jsonathlon_results::mixed::{FrontierLoads, MeasuredFrontier, frontier_settings};
use jsonathlon_results::summary::{CellSummary, Run, Summary};
use jsonathlon_schema::manifest::Configuration;
use jsonathlon_schema::metric::{MetricDef, THROUGHPUT_OPS_PER_S};
use jsonathlon_schema::record::{ALL_QUESTIONS, Cell, INGEST, Phase, Trial, Verdict};
use jsonathlon_stats::statistics::median;

use crate::definition::{Reference, Study};
use crate::runs::StudyRun;
use crate::workload::StudyWorkload;

/// Metric of published results.
pub const THROUGHPUT: &str = THROUGHPUT_OPS_PER_S.name;
/// Attribute of points that were measured with a single document.
pub const DOCUMENT: &str = "document";

/// Results of one cell of one run.
#[derive(Debug, Clone)]
pub struct Observation {
    /// Index of the run among the runs of the study, from 0.
    pub part: usize,
    /// Attributes that identify the point: `system`, `version`, `variant`, `storage`, `profile`, `mix` (the step of
    /// other workloads), `document` if there is one, the options of its run, and of the mixed workload `phase` and
    /// `rate`.
    pub attributes: BTreeMap<String, String>,
    /// Display name of the system.
    pub title: String,
    /// Number of client connections, or of streams of questions. 0 if the cell does not record them.
    pub clients: u64,
    /// Summary of all trials of the cell.
    pub entry: CellSummary,
    /// Values by metric and round, of the study's metrics that [`MetricDef`] knows.
    rounds: BTreeMap<String, BTreeMap<u32, Vec<f64>>>,
    workload: StudyWorkload,
}

/// Frontier of one configuration of one run.
#[derive(Debug, Clone)]
pub struct FrontierObservation {
    /// Attributes of the configuration and the options of its run, as those of an [`Observation`].
    pub attributes: BTreeMap<String, String>,
    /// Display name of the system, with the variant if the run measured several of them.
    pub title: String,
    /// The frontier with both peaks, or why there is none.
    pub measured: Result<MeasuredFrontier, String>,
}

impl FrontierObservation {
    /// Value of an attribute. Empty if the configuration does not have the attribute.
    #[must_use]
    pub fn attribute(&self, name: &str) -> &str {
        self.attributes.get(name).map_or("", String::as_str)
    }
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
        if !self.workload.is_right(self.entry.verdict) {
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
    /// Frontiers of all configurations, in the order of the runs. Empty unless runs measured some.
    pub frontiers: Vec<FrontierObservation>,
    /// Questions per hour of the study's reference by round. Empty without one, or without right answers of it.
    pub reference_per_h: Vec<f64>,
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
        metrics.push(self.workload.default_metric().name);
        metrics.sort_unstable();
        metrics.dedup();
        metrics
    }

    /// Metric that is drawn and tabulated, by its name in journals: that of the workload unless the study names
    /// another one.
    #[must_use]
    pub fn metric(&self) -> &str {
        self.chart.metric.as_deref().unwrap_or(self.workload.default_metric().name)
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
            if !part.is_reference {
                self.collect_points(index, part, run, &mut observations);
            }
        }
        let measured = runs.iter().find(|(part, _)| part.is_reference);
        if let (Some((_, run)), Some(reference)) = (measured, &self.reference) {
            let summary = run.summary();
            observations.complete &= summary.complete;
            add_failures(&summary, &mut observations.failures);
            observations.reference_per_h =
                reference_per_h(run, reference, &asked_questions(&observations.points));
        }
        observations
    }

    /// Adds the points and failures of one run.
    fn collect_points(&self, index: usize, part: &StudyRun, run: &Run, observations: &mut StudyObservations) {
        let summary = &run.summary();
        observations.complete &= summary.complete;
        add_failures(summary, &mut observations.failures);
        let mut trials: BTreeMap<String, Vec<&Trial>> = BTreeMap::new();
        for trial in run.trials().filter(|trial| self.workload.is_point(&trial.cell)) {
            trials.entry(trial.cell.key()).or_default().push(trial);
        }
        observations.frontiers.extend(frontiers(part, run, summary));
        for entry in summary.results.iter().filter(|entry| self.workload.is_point(&entry.cell)) {
            let cell = &entry.cell;
            let configuration =
                run.manifest.configurations.iter().find(|configuration| configuration.contains_cell(cell));
            let attributes = self.attributes(part, cell);
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
                clients: self.workload.clients_of(cell),
                entry: entry.clone(),
                rounds: self.metrics().iter().filter_map(rounds).collect(),
                workload: self.workload,
            });
        }
    }

    /// Attributes of a cell of one run.
    fn attributes(&self, part: &StudyRun, cell: &Cell) -> BTreeMap<String, String> {
        let mut attributes = part.options.clone();
        let profile = cell.profile.map(|profile| profile.word().to_owned()).unwrap_or_default();
        let own = [
            ("system", cell.id.system.clone()),
            ("version", cell.id.version.clone()),
            ("variant", cell.id.variant.clone()),
            ("storage", cell.id.storage.clone()),
            ("profile", profile),
            ("mix", cell.step.to_string()),
        ];
        let own = own.into_iter().chain(self.workload.attributes_of(cell));
        attributes.extend(own.map(|(name, value)| (name.to_owned(), value)));
        if let Some(document) = cell.parameters.get(DOCUMENT).and_then(serde_json::Value::as_str) {
            attributes.insert(DOCUMENT.to_owned(), document.to_owned());
        }
        attributes
    }
}

/// Adds the messages of a run's failures that are not there yet.
fn add_failures(summary: &Summary, messages: &mut Vec<String>) {
    for failure in &summary.failures {
        let id = &failure.cell.id;
        let message = format!("{} {} {}: {}", id.system, id.variant, failure.cell.name(), failure.error);
        if !messages.contains(&message) {
            messages.push(message);
        }
    }
}

/// Names of the questions that points were measured of.
fn asked_questions(points: &[Observation]) -> BTreeSet<&str> {
    let steps = points.iter().map(|point| point.attribute("mix"));
    steps.filter(|step| ![ALL_QUESTIONS, INGEST].contains(step)).collect()
}

/// Questions per hour of one stream that asks these questions in turn, by round: the median hot time of each counts.
/// Empty if one of them has no time, or a wrong answer.
fn reference_per_h(run: &Run, reference: &Reference, questions: &BTreeSet<&str>) -> Vec<f64> {
    let mut times: BTreeMap<u32, BTreeMap<&str, Vec<f64>>> = BTreeMap::new();
    let is_meant = |cell: &Cell| {
        cell.phase == Phase::Hot && cell.id.system == reference.system && cell.id.variant == reference.variant
    };
    for trial in run.trials().filter(|trial| is_meant(&trial.cell)) {
        let step = trial.cell.step.word();
        if !questions.contains(step) {
            continue;
        }
        match trial.seconds.filter(|_| trial.verdict == Verdict::Exact) {
            Some(seconds) => times.entry(trial.round).or_default().entry(step).or_default().push(seconds),
            None => return Vec::new(),
        }
    }
    let per_h = |of_round: &BTreeMap<&str, Vec<f64>>| {
        let medians: Vec<f64> = of_round.values().filter_map(|times| median(times)).collect();
        let set_s: f64 = medians.iter().sum();
        let is_whole = medians.len() == questions.len() && set_s > 0.0;
        is_whole.then(|| 3_600.0 * medians.len() as f64 / set_s)
    };
    times.values().filter_map(per_h).collect()
}

/// Frontiers of a run's configurations. Empty if the run measured none.
fn frontiers(part: &StudyRun, run: &Run, summary: &Summary) -> Vec<FrontierObservation> {
    let Some(settings) = frontier_settings(run) else { return Vec::new() };
    let configurations = &run.manifest.configurations;
    let observation = |configuration: &Configuration| {
        let mut attributes = part.options.clone();
        let id = &configuration.id;
        let profile = configuration.profile.map(|profile| profile.word().to_owned()).unwrap_or_default();
        let own = [
            ("system", id.system.clone()),
            ("version", id.version.clone()),
            ("variant", id.variant.clone()),
            ("storage", id.storage.clone()),
            ("profile", profile),
        ];
        attributes.extend(own.map(|(name, value)| (name.to_owned(), value)));
        let of_system = configurations.iter().filter(|other| other.id.system == id.system);
        let title = match of_system.count() {
            1 => configuration.title.clone(),
            _ => format!("{} {}", configuration.title, id.variant),
        };
        let measured = FrontierLoads::of(settings, summary, configuration).measured();
        FrontierObservation { attributes, title, measured }
    };
    configurations.iter().map(observation).collect()
}
