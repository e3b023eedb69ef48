//! What a study's runs have shown: one point for each mix, configuration and number of clients of each run.

use std::collections::BTreeMap;

use jsonathlon_results::figure::Figure;
use jsonathlon_results::record::{CLIENTS, Phase, Trial, Verdict};
use jsonathlon_results::summary::{Entry, Run};

use crate::definition::Study;
use crate::parts::Part;

/// The figure that is looked at where none is named.
pub const THROUGHPUT: &str = "throughput_ops_per_s";
/// The attribute of points that are of one document.
pub const DOCUMENT: &str = "document";

/// One cell of one run.
#[derive(Debug, Clone)]
pub struct Point {
    /// The number of its run among the study's, from 0.
    pub part: usize,
    /// What tells it apart: `system`, `version`, `variant`, `storage`, `profile`, `mix`, and its run's options.
    pub attributes: BTreeMap<String, String>,
    /// The system's name for people.
    pub title: String,
    /// Connections at work.
    pub clients: u64,
    /// All trials of it in one.
    pub entry: Entry,
    /// The study's figures round by round.
    rounds: BTreeMap<String, BTreeMap<u32, Vec<f64>>>,
}

impl Point {
    /// An attribute; nothing where it has no such.
    #[must_use]
    pub fn of(&self, name: &str) -> &str {
        self.attributes.get(name).map_or("", String::as_str)
    }

    /// Whether it has all of these attributes.
    #[must_use]
    pub fn is(&self, wanted: &BTreeMap<String, String>) -> bool {
        wanted.iter().all(|(name, value)| self.of(name) == value)
    }

    /// A figure of it, where its answers were right.
    #[must_use]
    pub fn value(&self, figure: &str) -> Option<f64> {
        let is_right = matches!(self.entry.verdict, Verdict::Exact | Verdict::Unverified);
        if !is_right {
            return None;
        }
        match Figure::named(figure) {
            Some(known) => self.entry.value(known),
            // A figure that a system's folder brings.
            None => self.entry.metrics.get(figure).copied(),
        }
    }

    /// The limits of its 95 % interval over rounds.
    #[must_use]
    pub fn limits(&self, figure: &str) -> Option<[f64; 2]> {
        self.entry.limits(Figure::named(figure)?)
    }

    /// A figure's values round by round; empty where its answers were not right.
    #[must_use]
    pub fn rounds(&self, figure: &str) -> BTreeMap<u32, Vec<f64>> {
        match self.value(figure) {
            Some(_) => self.rounds.get(figure).cloned().unwrap_or_default(),
            None => BTreeMap::new(),
        }
    }
}

/// What all runs of a study have shown.
#[derive(Debug, Clone, Default)]
pub struct Seen {
    /// The points, in the order in which they were measured.
    pub points: Vec<Point>,
    /// Values of what varies, in the order of the study.
    pub varied: Vec<(String, Vec<String>)>,
    /// Why cells have no figures, each once.
    pub failures: Vec<String>,
    /// Whether every planned trial has ended.
    pub complete: bool,
}

impl Study {
    /// The figures that it needs, by their names in journals.
    #[must_use]
    pub fn figures(&self) -> Vec<&str> {
        let verdicts = self.verdicts.iter().filter_map(|verdict| verdict.figure.as_deref());
        let mut all: Vec<&str> = verdicts.chain(self.chart.figure.as_deref()).collect();
        all.push(THROUGHPUT);
        all.sort_unstable();
        all.dedup();
        all
    }

    /// The figure that is drawn and tabulated.
    #[must_use]
    pub fn figure(&self) -> &str {
        self.chart.figure.as_deref().unwrap_or(THROUGHPUT)
    }

    /// What its runs have shown.
    #[must_use]
    pub fn see(&self, runs: &[(Part, Run)]) -> Seen {
        let mut seen = Seen { complete: true, ..Seen::default() };
        for (number, (part, run)) in runs.iter().enumerate() {
            for (option, value) in &part.varied {
                let values = match seen.varied.iter_mut().find(|(known, _)| known == option) {
                    Some((_, values)) => values,
                    None => {
                        seen.varied.push((option.clone(), Vec::new()));
                        let Some((_, values)) = seen.varied.last_mut() else { continue };
                        values
                    }
                };
                if !values.contains(value) {
                    values.push(value.clone());
                }
            }
            self.points(number, part, run, &mut seen);
        }
        seen
    }

    fn points(&self, number: usize, part: &Part, run: &Run, seen: &mut Seen) {
        let summary = run.summary();
        seen.complete &= summary.complete;
        for failure in &summary.failures {
            let of = &failure.cell.id;
            let words = format!("{} {} {}: {}", of.system, of.variant, failure.cell.name(), failure.error);
            if !seen.failures.contains(&words) {
                seen.failures.push(words);
            }
        }
        let is_point = |entry: &&Entry| {
            let cell = &entry.cell;
            let is_own = cell.phase == Phase::Measured || (cell.phase == Phase::Steady && cell.step.is_own());
            is_own && !cell.is_of_one_operation() && !cell.is_open_loop()
        };
        let mut trials: BTreeMap<String, Vec<&Trial>> = BTreeMap::new();
        for trial in run.trials().filter(|trial| trial.cell.phase == Phase::Measured) {
            trials.entry(trial.cell.key()).or_default().push(trial);
        }
        for entry in summary.results.iter().filter(is_point) {
            let cell = &entry.cell;
            let configuration = run.manifest.configurations.iter().find(|one| one.has(cell));
            let mut attributes = part.options.clone();
            let own = [
                ("system", cell.id.system.clone()),
                ("version", cell.id.version.clone()),
                ("variant", cell.id.variant.clone()),
                ("storage", cell.id.storage.clone()),
                ("profile", cell.profile.map(|profile| profile.word().to_owned()).unwrap_or_default()),
                ("mix", cell.step.to_string()),
            ];
            attributes.extend(own.map(|(name, value)| (name.to_owned(), value)));
            if let Some(document) = cell.parameters.get(DOCUMENT).and_then(serde_json::Value::as_str) {
                attributes.insert(DOCUMENT.to_owned(), document.to_owned());
            }
            let of_cell = trials.get(&cell.key()).map(Vec::as_slice).unwrap_or_default();
            let rounds = |name: &&str| {
                let figure = Figure::named(name)?;
                let mut rounds: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
                for trial in of_cell {
                    if let Some(value) = figure.value(trial) {
                        rounds.entry(trial.round).or_default().push(value);
                    }
                }
                Some(((*name).to_owned(), rounds))
            };
            seen.points.push(Point {
                part: number,
                attributes,
                title: configuration.map_or_else(|| cell.id.system.clone(), |one| one.title.clone()),
                clients: cell.parameters.get(CLIENTS).and_then(serde_json::Value::as_u64).unwrap_or(0),
                entry: entry.clone(),
                rounds: self.figures().iter().filter_map(rounds).collect(),
            });
        }
    }
}
