//! Writes the answer of a study: measured values with intervals, and whether they confirm what was published.

use std::collections::{BTreeMap, BTreeSet};

use jsonathlon_schema::metric::MetricDef;
use jsonathlon_stats::change_points::{ChangePoint, SweepPoint, change_points, jump_between};
use jsonathlon_stats::statistics::{Estimate, paired_ratio, unpaired_ratio};

use crate::clause::{ClaimOutcome, Clause, ClauseBasis, ComparableValue, Comparison, Sentence};
use crate::definition::Study;
use crate::observations::{Observation, StudyObservations, THROUGHPUT};
use crate::verdict_spec::{ClaimedEffect, ClientSelector, VerdictKind, VerdictSpec};
use crate::wording::{
    attribute_words, change, fill_template, mix_noun, number, percent, round_percent, side_words,
};
use crate::{cost_clause, frontier_clause};

/// Relative difference that does not matter in practice. If the whole interval is within it, a claimed
/// difference is refuted.
const NEGLIGIBLE: f64 = 0.05;
/// Largest relative difference of two values that were claimed to be alike.
const ALIKE: f64 = 0.10;
impl Study {
    /// Writes the answer of the study from the results of its runs.
    #[must_use]
    pub fn sentence(&self, observations: &StudyObservations) -> Sentence {
        let mut sentence = Sentence::default();
        let is_edge = |verdict: &&VerdictSpec| verdict.kind == VerdictKind::Edge;
        let sweeps =
            self.verdicts.iter().filter(is_edge).map(|verdict| systems(verdict, observations).len()).sum();
        let default_metric = self.workload.default_metric().name;
        for verdict in &self.verdicts {
            if verdict.kind == VerdictKind::Frontier {
                let selector = |system: &str| {
                    VerdictEvaluator { verdict, observations, system, default_metric, sweeps }
                        .configuration_selector()
                };
                for clause in frontier_clause::clauses(verdict, &observations.frontiers, selector) {
                    match clause {
                        Ok(clause) => sentence.clauses.push(clause),
                        Err(reason) => sentence.missing.push(reason),
                    }
                }
                continue;
            }
            for system in systems(verdict, observations) {
                let evaluator =
                    VerdictEvaluator { verdict, observations, system: &system, default_metric, sweeps };
                match evaluator.clause() {
                    Ok(clause) => sentence.clauses.extend(clause),
                    Err(reason) => sentence.missing.push(reason),
                }
            }
        }
        sentence
    }
}

/// Measured systems that a verdict applies to, in the order of measurement.
fn systems(verdict: &VerdictSpec, observations: &StudyObservations) -> Vec<String> {
    let mut systems: Vec<String> = Vec::new();
    for point in &observations.points {
        let system = point.attribute("system");
        if verdict.system.as_deref().is_none_or(|name| name == system)
            && !systems.iter().any(|known| known == system)
        {
            systems.push(system.to_owned());
        }
    }
    systems
}

/// Evaluates one verdict for one system.
struct VerdictEvaluator<'a> {
    verdict: &'a VerdictSpec,
    observations: &'a StudyObservations,
    system: &'a str,
    default_metric: &'static str,
    /// Number of sweeps that the whole study searches for edges. Corrects the significance level.
    sweeps: usize,
}

impl<'a> VerdictEvaluator<'a> {
    fn metric(&self) -> &'a str {
        self.verdict.metric.as_deref().unwrap_or(self.default_metric)
    }

    /// Required attributes of a selector, with `first` and `last` resolved and the system and mix added.
    fn resolve(&self, selector: &BTreeMap<String, String>) -> BTreeMap<String, String> {
        let end_value = |name: &str, value: &str| {
            let (_, values) = self.observations.varied.iter().find(|(known, _)| known == name)?;
            match value {
                "first" => values.first().cloned(),
                "last" => values.last().cloned(),
                _ => None,
            }
        };
        let mut attributes: BTreeMap<String, String> = selector
            .iter()
            .map(|(name, value)| (name.clone(), end_value(name, value).unwrap_or_else(|| value.clone())))
            .collect();
        // Versions are not options of a run, so `first` and `last` are the oldest and newest measured
        // version.
        if let Some(end @ ("first" | "last")) = selector.get("version").map(String::as_str) {
            let mut versions: Vec<&str> =
                self.system_points().map(|point| point.attribute("version")).collect();
            versions.dedup();
            let newest = |version: &&&str| numbers(version);
            let version = match end {
                "first" => versions.iter().min_by_key(newest),
                _ => versions.iter().max_by_key(newest),
            };
            let version = version.map_or_else(String::new, |version| (*version).to_owned());
            attributes.insert("version".to_owned(), version);
        }
        attributes.insert("system".to_owned(), self.system.to_owned());
        if let Some(mix) = &self.verdict.mix {
            attributes.insert("mix".to_owned(), mix.clone());
        }
        attributes
    }

    /// Required attributes of what the verdict is about, but for the mix: of clauses about configurations as a whole.
    fn configuration_selector(&self) -> BTreeMap<String, String> {
        let mut selector = self.resolve(&self.verdict.subject);
        selector.remove("mix");
        selector
    }

    fn system_points(&self) -> impl Iterator<Item = &'a Observation> {
        self.observations.points.iter().filter(|point| point.attribute("system") == self.system)
    }

    /// All points that match a selector, with or without a value of the metric.
    fn points(&self, selector: &BTreeMap<String, String>) -> Vec<&'a Observation> {
        let attributes = self.resolve(selector);
        self.system_points().filter(|point| point.matches(&attributes)).collect()
    }

    /// Points that match a selector and have a value of the metric.
    fn measured_points(&self, selector: &BTreeMap<String, String>) -> Vec<&'a Observation> {
        let mut points = self.points(selector);
        points.retain(|point| point.value(self.metric()).is_some());
        points
    }

    /// Picks the point with this number of clients, or the one with the largest value if `clients` is `None`.
    fn pick(points: &[&'a Observation], clients: Option<u64>, metric: &str) -> Option<&'a Observation> {
        match clients {
            Some(number) => points.iter().find(|point| point.clients == number).copied(),
            None => points
                .iter()
                .max_by(|a, b| {
                    a.value(metric).unwrap_or_default().total_cmp(&b.value(metric).unwrap_or_default())
                })
                .copied(),
        }
    }

    /// Computes the clause. `Ok(None)` if the system has no points on one of the sides; `Err` if the points
    /// have no values.
    fn clause(&self) -> Result<Option<Clause>, String> {
        match self.verdict.kind {
            VerdictKind::Ratio => self.ratio(),
            VerdictKind::Edge => Ok(self.edge()),
            VerdictKind::Value => self.value(),
            VerdictKind::Difference => self.difference(),
            VerdictKind::Cost => {
                cost_clause::clause(self.verdict, self.observations, &self.configuration_selector())
            }
            // Its clauses are about configurations and not about points.
            VerdictKind::Frontier => Ok(None),
        }
    }

    fn ratio(&self) -> Result<Option<Clause>, String> {
        let (of_points, than_points) =
            (self.points(&self.verdict.subject), self.points(&self.verdict.baseline));
        // The system has no such variant or option; a note was printed when it was left out.
        if of_points.is_empty() || than_points.is_empty() {
            return Ok(None);
        }
        let of_points = self.measured_points(&self.verdict.subject);
        let than_points = self.measured_points(&self.verdict.baseline);
        let clients = match self.verdict.clients {
            ClientSelector::Peak => None,
            ClientSelector::Number(number) => Some(number),
            ClientSelector::Most => {
                let of_clients: BTreeSet<u64> = of_points.iter().map(|point| point.clients).collect();
                let than_clients = than_points.iter().map(|point| point.clients);
                than_clients.filter(|clients| of_clients.contains(clients)).max()
            }
        };
        let missing = || format!("{} has no result for both sides", self.system);
        if clients.is_none() && self.verdict.clients != ClientSelector::Peak {
            return Err(missing());
        }
        let metric = self.metric();
        let (Some(of_point), Some(than_point)) =
            (Self::pick(&of_points, clients, metric), Self::pick(&than_points, clients, metric))
        else {
            return Err(missing());
        };
        let ratio = ratio(of_point, than_point, metric).ok_or_else(missing)?;
        let outcome = self.verdict.claim.map(|claim| evaluate_claim(claim, &ratio));
        let replacements = [
            ("system", of_point.title.clone()),
            ("change", change(&ratio)),
            ("clients", of_point.clients.to_string()),
            ("value", of_point.value(metric).map(number).unwrap_or_default()),
        ];
        Ok(Some(Clause {
            text: fill_template(&self.verdict.template, &replacements),
            published: self.verdict.published.clone(),
            outcome,
            ratio: Some(ratio),
            basis: ClauseBasis::Comparison(self.comparison(of_point)),
        }))
    }

    /// Sides of a ratio in words, with what is counted at the point that is compared.
    fn comparison(&self, of_point: &Observation) -> Comparison {
        let [subject, baseline] =
            [&self.verdict.subject, &self.verdict.baseline].map(|side| self.resolve(side));
        let metric = self.metric();
        let noun = match MetricDef::find(metric) {
            _ if metric == THROUGHPUT => mix_noun(of_point.attribute("mix")),
            Some(definition) => definition.title,
            None => metric,
        };
        Comparison {
            system: of_point.title.clone(),
            subject: side_words(&subject, &baseline),
            baseline: side_words(&baseline, &subject),
            noun: noun.to_owned(),
        }
    }

    /// Words for what a verdict selects besides system and variant; empty if it selects nothing else.
    fn conditions(&self) -> String {
        let mut selected = self.resolve(&self.verdict.subject);
        selected.retain(|name, _| !["system", "variant", "mix"].contains(&name.as_str()));
        selected.iter().map(|(name, value)| attribute_words(name, value)).collect::<Vec<_>>().join(", ")
    }

    /// Value of a point for a comparison with other systems. `None` for a share, and for values in two groups, which
    /// have no common median.
    fn comparable_value(&self, point: &Observation) -> Option<ComparableValue> {
        let metric = self.metric();
        if self.verdict.share_of.is_some() || point.entry.groups.contains_key(metric) {
            return None;
        }
        let limits = point.limits(metric);
        let value = Estimate {
            median: point.value(metric)?,
            low: limits.map(|[low, _]| low),
            high: limits.map(|[_, high]| high),
        };
        Some(ComparableValue {
            system: point.title.clone(),
            variant: point.attribute("variant").to_owned(),
            metric: metric.to_owned(),
            conditions: self.conditions(),
            value,
        })
    }

    fn value(&self) -> Result<Option<Clause>, String> {
        let candidates = self.points(&self.verdict.subject);
        if candidates.is_empty() {
            return Ok(None);
        }
        let metric = self.metric();
        let points = self.measured_points(&self.verdict.subject);
        let clients = match self.verdict.clients {
            ClientSelector::Peak => None,
            ClientSelector::Number(number) => Some(number),
            ClientSelector::Most => points.iter().map(|point| point.clients).max(),
        };
        let point = Self::pick(&points, clients, metric)
            .ok_or_else(|| format!("{} has no result for this", self.system))?;
        let interval = point.limits(metric).filter(|[low, high]| low < high);
        let interval =
            interval.map(|[low, high]| format!(" ({} … {})", number(low), number(high))).unwrap_or_default();
        let text = match self.verdict.share_of.as_deref() {
            Some(per) => {
                let share = point.value(metric).zip(point.value(per).filter(|total| *total > 0.0));
                share.map(|(part, total)| round_percent(100.0 * part / total)).unwrap_or_default()
            }
            // A median across two groups of trials describes neither group.
            None => match point.entry.groups.get(metric) {
                Some([low, high]) => format!(
                    "{} in {} trials and {} in {}",
                    number(low.median),
                    low.trials,
                    number(high.median),
                    high.trials
                ),
                None => format!("{}{interval}", point.value(metric).map(number).unwrap_or_default()),
            },
        };
        let replacements =
            [("system", point.title.clone()), ("value", text), ("clients", point.clients.to_string())];
        let basis = self.comparable_value(point).map_or(ClauseBasis::Other, ClauseBasis::Value);
        Ok(Some(Clause {
            text: fill_template(&self.verdict.template, &replacements),
            published: self.verdict.published.clone(),
            outcome: None,
            ratio: None,
            basis,
        }))
    }

    fn difference(&self) -> Result<Option<Clause>, String> {
        let metric = self.metric();
        let side = |selector| {
            let points = self.measured_points(selector);
            let clients = points.iter().map(|point| point.clients).max();
            Self::pick(&points, clients, metric)
        };
        if self.points(&self.verdict.subject).is_empty() || self.points(&self.verdict.baseline).is_empty() {
            return Ok(None);
        }
        let values = side(&self.verdict.subject).zip(side(&self.verdict.baseline)).and_then(
            |(of_point, than_point)| Some((of_point, of_point.value(metric)? - than_point.value(metric)?)),
        );
        let Some((of_point, difference)) = values else {
            return Err(format!("{} has no result for both sides", self.system));
        };
        let word = if difference < 0.0 { "less" } else { "more" };
        let change = format!("{} {word}", number(difference.abs()));
        let replacements =
            [("system", of_point.title.clone()), ("change", change), ("value", number(difference))];
        let outcome =
            self.verdict.claimed_range.map(|[low, high]| match low <= difference && difference <= high {
                true => ClaimOutcome::Confirmed,
                false => ClaimOutcome::Refuted,
            });
        Ok(Some(Clause {
            text: fill_template(&self.verdict.template, &replacements),
            published: self.verdict.published.clone(),
            outcome,
            ratio: None,
            basis: ClauseBasis::Other,
        }))
    }

    /// Finds edges along a varied option in the cost of an operation. `None` if no point is usable.
    fn edge(&self) -> Option<Clause> {
        let along = self.verdict.varied_option.as_deref()?;
        let metric = self.metric();
        let points = self.measured_points(&self.verdict.subject);
        let clients = match self.verdict.clients {
            ClientSelector::Number(number) => Some(number),
            _ => points.iter().map(|point| point.clients).max(),
        };
        let mut sweep: Vec<SweepPoint> = Vec::new();
        let mut title = None;
        for point in points.iter().filter(|point| Some(point.clients) == clients) {
            let Ok(x) = point.attribute(along).parse::<f64>() else { continue };
            title.get_or_insert_with(|| point.title.clone());
            // Costs grow linearly, rates do not: a rate is converted to the cost of one operation.
            let costs = point.rounds(metric).into_values().flatten().map(|value| 1.0 / value).collect();
            sweep.push((x, costs));
        }
        let edges = change_points(&sweep, self.sweeps);
        let edge_values = |edge: &ChangePoint| {
            let p = if edge.p < 0.001 { "p < 0.001".to_owned() } else { format!("p = {:.3}", edge.p) };
            [
                ("system", title.clone().unwrap_or_default()),
                ("edge", format!("between {} and {}", edge.low, edge.high)),
                ("change", format!("{} ({p})", percent(1.0 / edge.factor))),
                ("clients", clients.unwrap_or_default().to_string()),
            ]
        };
        let range_values = || {
            let ends = sweep.iter().map(|(x, _)| *x);
            let range = ends.clone().reduce(f64::min).zip(ends.reduce(f64::max));
            let range = range.map(|(low, high)| format!("between {low} and {high}"));
            [("system", title.clone().unwrap_or_default()), ("edge", range.unwrap_or_default())]
        };
        title.as_ref()?;
        let text = match edges.split_first() {
            None => {
                fill_template(self.verdict.no_edge_template.as_deref().unwrap_or_default(), &range_values())
            }
            Some((first, others)) => {
                let further = others.iter().map(|edge| {
                    let [_, (_, range), (_, change), _] = edge_values(edge);
                    format!(" and {range} ({change})")
                });
                fill_template(&self.verdict.template, &edge_values(first)) + &further.collect::<String>()
            }
        };
        let outcome = self.verdict.claimed_range.map(|[low, high]| {
            let is_found = edges.iter().any(|edge| edge.factor > 1.0 && edge.high > low && edge.low < high);
            // Finding no edge is not enough to refute: a relevant edge must be ruled out.
            let is_ruled_out = || {
                jump_between(&sweep, self.sweeps, [low, high])
                    .is_some_and(|[_, maximum]| maximum < 1.0 + NEGLIGIBLE)
            };
            match is_found {
                true => ClaimOutcome::Confirmed,
                false if is_ruled_out() => ClaimOutcome::Refuted,
                false => ClaimOutcome::Open,
            }
        });
        let conditions = self.conditions();
        let name = title.unwrap_or_default();
        let name = if conditions.is_empty() { name } else { format!("{name} with {conditions}") };
        let basis = ClauseBasis::Sweep { name, has_edge: !edges.is_empty() };
        Some(Clause { text, published: self.verdict.published.clone(), outcome, ratio: None, basis })
    }
}

/// Ratio of a metric between two points, paired by round if both are from one run. `None` if it cannot be
/// computed.
fn ratio(of_point: &Observation, than_point: &Observation, metric: &str) -> Option<Estimate> {
    let (of_rounds, than_rounds) = (of_point.rounds(metric), than_point.rounds(metric));
    if of_point.part == than_point.part {
        let rounds: BTreeSet<u32> = of_rounds.keys().chain(than_rounds.keys()).copied().collect();
        let side = |values: &BTreeMap<u32, Vec<f64>>| -> Vec<Vec<f64>> {
            rounds.iter().map(|round| values.get(round).cloned().unwrap_or_default()).collect()
        };
        return paired_ratio(&side(&of_rounds), &side(&than_rounds));
    }
    let side = |values: BTreeMap<u32, Vec<f64>>| values.into_values().collect::<Vec<_>>();
    unpaired_ratio(&side(of_rounds), &side(than_rounds))
}

/// Tests a claim against the interval of a ratio. [`ClaimOutcome::Open`] without an interval, and for
/// [`ClaimedEffect::Near`].
#[must_use]
pub fn evaluate_claim(claim: ClaimedEffect, ratio: &Estimate) -> ClaimOutcome {
    let (Some(low), Some(high)) = (ratio.low, ratio.high) else { return ClaimOutcome::Open };
    let lies_within = |share: f64| low >= 1.0 / (1.0 + share) && high <= 1.0 + share;
    let (is_confirmed, is_refuted) = match claim {
        ClaimedEffect::Less => (high < 1.0, low > 1.0 || lies_within(NEGLIGIBLE)),
        ClaimedEffect::More => (low > 1.0, high < 1.0 || lies_within(NEGLIGIBLE)),
        ClaimedEffect::Alike => (lies_within(ALIKE), low > 1.0 || high < 1.0),
        ClaimedEffect::Near => (false, false),
    };
    match (is_confirmed, is_refuted) {
        (true, _) => ClaimOutcome::Confirmed,
        (_, true) => ClaimOutcome::Refuted,
        _ => ClaimOutcome::Open,
    }
}

/// Numeric components of a version, so that 6.0.27 sorts after 6.0.5.
fn numbers(version: &str) -> Vec<u64> {
    version.split(|c: char| !c.is_ascii_digit()).filter_map(|number| number.parse().ok()).collect()
}

#[cfg(test)]
#[path = "verdict_tests.rs"]
mod tests;
