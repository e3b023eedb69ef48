//! Writes the answer of a study: measured values with intervals, and whether they confirm what was published.

use std::collections::{BTreeMap, BTreeSet};

use jsonathlon_stats::change_points::{ChangePoint, SweepPoint, change_points, jump_between};
use jsonathlon_stats::statistics::{Estimate, paired_ratio, unpaired_ratio};

use crate::definition::{ClaimedEffect, ClientSelector, Study, VerdictKind, VerdictSpec};
use crate::observations::{Observation, StudyObservations, THROUGHPUT};

/// Relative difference that does not matter in practice. If the whole interval is within it, a claimed
/// difference is refuted.
const NEGLIGIBLE: f64 = 0.05;
/// Largest relative difference of two values that were claimed to be alike.
const ALIKE: f64 = 0.10;

/// Whether a measurement confirms what was published.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClaimOutcome {
    /// The whole interval agrees with the claim.
    Confirmed,
    /// The whole interval contradicts the claim.
    Refuted,
    /// The interval contains values for and against the claim.
    Open,
}

impl ClaimOutcome {
    /// Wording of the outcome in the sentence.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Confirmed => "confirmed",
            Self::Refuted => "refuted",
            Self::Open => "neither confirmed nor refuted",
        }
    }
}

/// One clause of the answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Clause {
    /// Text of the clause with all placeholders replaced.
    pub words: String,
    /// Published result in words. `None` if the study gives none.
    pub published: Option<String>,
    /// Outcome of the claim. `None` if the clause tests no claim.
    pub outcome: Option<ClaimOutcome>,
    /// Ratio with its interval. `None` if the clause is not of kind [`VerdictKind::Ratio`].
    pub ratio: Option<Estimate>,
}

impl std::fmt::Display for Clause {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.words)?;
        match (&self.published, self.outcome) {
            (Some(published), Some(outcome)) => write!(f, " ({published} published: {})", outcome.word()),
            (Some(published), None) => write!(f, " ({published} published)"),
            (None, Some(outcome)) => write!(f, " (what was published is {})", outcome.word()),
            (None, None) => Ok(()),
        }
    }
}

/// Answer of a study as one sentence; displayed with a capital and a full stop.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Sentence {
    /// Clauses in the order of the study. Empty if nothing could be computed.
    pub clauses: Vec<Clause>,
    /// Reasons why clauses are missing. Displayed only if there is no clause at all.
    missing: Vec<String>,
}

impl std::fmt::Display for Sentence {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.clauses.is_empty() {
            let why = if self.missing.is_empty() { "nothing of it was measured" } else { "" };
            return write!(f, "No answer: {why}{}.", self.missing.join("; "));
        }
        let mut text = String::new();
        for clause in self.clauses.iter().map(ToString::to_string) {
            if !text.is_empty() {
                // A clause that begins with "and" continues the previous one, so it is joined by a comma.
                text.push_str(if clause.starts_with("and ") { ", " } else { "; " });
            }
            text.push_str(&clause);
        }
        let mut letters = text.chars();
        let first = letters.next().map(|letter| letter.to_uppercase().to_string()).unwrap_or_default();
        write!(f, "{first}{}.", letters.as_str())
    }
}

impl Study {
    /// Writes the answer of the study from the results of its runs.
    #[must_use]
    pub fn sentence(&self, seen: &StudyObservations) -> Sentence {
        let mut sentence = Sentence::default();
        let is_edge = |verdict: &&VerdictSpec| verdict.kind == VerdictKind::Edge;
        let sweeps = self.verdicts.iter().filter(is_edge).map(|verdict| systems(verdict, seen).len()).sum();
        for verdict in &self.verdicts {
            for system in systems(verdict, seen) {
                let judge = VerdictEvaluator { verdict, seen, system: &system, sweeps };
                match judge.clause() {
                    Ok(clause) => sentence.clauses.extend(clause),
                    Err(why) => sentence.missing.push(why),
                }
            }
        }
        sentence
    }
}

/// Measured systems that a verdict applies to, in the order of measurement.
fn systems(verdict: &VerdictSpec, seen: &StudyObservations) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for point in &seen.points {
        let system = point.attribute("system");
        if verdict.system.as_deref().is_none_or(|wanted| wanted == system)
            && !all.iter().any(|known| known == system)
        {
            all.push(system.to_owned());
        }
    }
    all
}

/// Evaluates one verdict for one system.
struct VerdictEvaluator<'a> {
    verdict: &'a VerdictSpec,
    seen: &'a StudyObservations,
    system: &'a str,
    /// Number of sweeps that the whole study searches for edges. Corrects the significance level.
    sweeps: usize,
}

impl<'a> VerdictEvaluator<'a> {
    fn figure(&self) -> &'a str {
        self.verdict.figure.as_deref().unwrap_or(THROUGHPUT)
    }

    /// Required attributes of a selector, with `first` and `last` resolved and the system and mix added.
    fn wanted(&self, selector: &BTreeMap<String, String>) -> BTreeMap<String, String> {
        let end = |name: &str, value: &str| {
            let (_, values) = self.seen.varied.iter().find(|(known, _)| known == name)?;
            match value {
                "first" => values.first().cloned(),
                "last" => values.last().cloned(),
                _ => None,
            }
        };
        let mut wanted: BTreeMap<String, String> = selector
            .iter()
            .map(|(name, value)| (name.clone(), end(name, value).unwrap_or_else(|| value.clone())))
            .collect();
        // Versions are not options of a run, so `first` and `last` are the oldest and newest measured
        // version.
        if let Some(place @ ("first" | "last")) = selector.get("version").map(String::as_str) {
            let mut versions: Vec<&str> = self.of_system().map(|point| point.attribute("version")).collect();
            versions.dedup();
            let newest = |version: &&&str| numbers(version);
            let version = match place {
                "first" => versions.iter().min_by_key(newest),
                _ => versions.iter().max_by_key(newest),
            };
            wanted.insert("version".to_owned(), version.map_or_else(String::new, |one| (*one).to_owned()));
        }
        wanted.insert("system".to_owned(), self.system.to_owned());
        if let Some(mix) = &self.verdict.mix {
            wanted.insert("mix".to_owned(), mix.clone());
        }
        wanted
    }

    fn of_system(&self) -> impl Iterator<Item = &'a Observation> {
        self.seen.points.iter().filter(|point| point.attribute("system") == self.system)
    }

    /// All points that match a selector, with or without a value of the metric.
    fn points(&self, selector: &BTreeMap<String, String>) -> Vec<&'a Observation> {
        let wanted = self.wanted(selector);
        self.of_system().filter(|point| point.matches(&wanted)).collect()
    }

    /// Points that match a selector and have a value of the metric.
    fn with_figure(&self, selector: &BTreeMap<String, String>) -> Vec<&'a Observation> {
        let mut all = self.points(selector);
        all.retain(|point| point.value(self.figure()).is_some());
        all
    }

    /// Picks the point with this number of clients, or the one with the largest value if `clients` is `None`.
    fn pick(points: &[&'a Observation], clients: Option<u64>, figure: &str) -> Option<&'a Observation> {
        match clients {
            Some(number) => points.iter().find(|point| point.clients == number).copied(),
            None => points
                .iter()
                .max_by(|a, b| {
                    a.value(figure).unwrap_or_default().total_cmp(&b.value(figure).unwrap_or_default())
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
        }
    }

    fn ratio(&self) -> Result<Option<Clause>, String> {
        let (of, than) = (self.points(&self.verdict.of), self.points(&self.verdict.than));
        // The system has no such variant or option; a note was printed when it was left out.
        if of.is_empty() || than.is_empty() {
            return Ok(None);
        }
        let (of, than) = (self.with_figure(&self.verdict.of), self.with_figure(&self.verdict.than));
        let clients = match self.verdict.clients {
            ClientSelector::Peak => None,
            ClientSelector::Number(number) => Some(number),
            ClientSelector::Most => {
                let both: BTreeSet<u64> = of.iter().map(|point| point.clients).collect();
                than.iter().map(|point| point.clients).filter(|clients| both.contains(clients)).max()
            }
        };
        let nothing = || format!("{} has no figure for both sides", self.system);
        if clients.is_none() && self.verdict.clients != ClientSelector::Peak {
            return Err(nothing());
        }
        let figure = self.figure();
        let (Some(one), Some(other)) = (Self::pick(&of, clients, figure), Self::pick(&than, clients, figure))
        else {
            return Err(nothing());
        };
        let ratio = ratio(one, other, figure).ok_or_else(nothing)?;
        let outcome = self.verdict.claim.map(|claim| evaluate_claim(claim, &ratio));
        let words = [
            ("system", one.title.clone()),
            ("change", change(&ratio)),
            ("clients", one.clients.to_string()),
            ("value", one.value(figure).map(number).unwrap_or_default()),
        ];
        Ok(Some(Clause {
            words: filled(&self.verdict.says, &words),
            published: self.verdict.published.clone(),
            outcome,
            ratio: Some(ratio),
        }))
    }

    fn value(&self) -> Result<Option<Clause>, String> {
        let all = self.points(&self.verdict.of);
        if all.is_empty() {
            return Ok(None);
        }
        let figure = self.figure();
        let with = self.with_figure(&self.verdict.of);
        let clients = match self.verdict.clients {
            ClientSelector::Peak => None,
            ClientSelector::Number(number) => Some(number),
            ClientSelector::Most => with.iter().map(|point| point.clients).max(),
        };
        let point = Self::pick(&with, clients, figure)
            .ok_or_else(|| format!("{} has no figure for this", self.system))?;
        let interval = point.limits(figure).filter(|[low, high]| low < high);
        let interval =
            interval.map(|[low, high]| format!(" ({} … {})", number(low), number(high))).unwrap_or_default();
        let shown = match self.verdict.per.as_deref() {
            Some(per) => {
                let share = point.value(figure).zip(point.value(per).filter(|whole| *whole > 0.0));
                share.map(|(part, whole)| round_percent(100.0 * part / whole)).unwrap_or_default()
            }
            // A median across two groups of trials describes neither group.
            None => match point.entry.groups.get(figure) {
                Some([low, high]) => format!(
                    "{} in {} trials and {} in {}",
                    number(low.median),
                    low.trials,
                    number(high.median),
                    high.trials
                ),
                None => format!("{}{interval}", point.value(figure).map(number).unwrap_or_default()),
            },
        };
        let words =
            [("system", point.title.clone()), ("value", shown), ("clients", point.clients.to_string())];
        Ok(Some(Clause {
            words: filled(&self.verdict.says, &words),
            published: self.verdict.published.clone(),
            outcome: None,
            ratio: None,
        }))
    }

    fn difference(&self) -> Result<Option<Clause>, String> {
        let figure = self.figure();
        let side = |selector| {
            let points = self.with_figure(selector);
            let clients = points.iter().map(|point| point.clients).max();
            Self::pick(&points, clients, figure)
        };
        if self.points(&self.verdict.of).is_empty() || self.points(&self.verdict.than).is_empty() {
            return Ok(None);
        }
        let values = side(&self.verdict.of)
            .zip(side(&self.verdict.than))
            .and_then(|(one, other)| Some((one, one.value(figure)? - other.value(figure)?)));
        let Some((one, by)) = values else {
            return Err(format!("{} has no figure for both sides", self.system));
        };
        let change = format!("{} {}", number(by.abs()), if by < 0.0 { "less" } else { "more" });
        let words = [("system", one.title.clone()), ("change", change), ("value", number(by))];
        let outcome = self.verdict.near.map(|[low, high]| match low <= by && by <= high {
            true => ClaimOutcome::Confirmed,
            false => ClaimOutcome::Refuted,
        });
        Ok(Some(Clause {
            words: filled(&self.verdict.says, &words),
            published: self.verdict.published.clone(),
            outcome,
            ratio: None,
        }))
    }

    /// Finds edges along a varied option in the cost of an operation. `None` if no point is usable.
    fn edge(&self) -> Option<Clause> {
        let along = self.verdict.along.as_deref()?;
        let figure = self.figure();
        let points = self.with_figure(&self.verdict.of);
        let clients = match self.verdict.clients {
            ClientSelector::Number(number) => Some(number),
            _ => points.iter().map(|point| point.clients).max(),
        };
        let mut places: Vec<SweepPoint> = Vec::new();
        let mut title = None;
        for point in points.iter().filter(|point| Some(point.clients) == clients) {
            let Ok(x) = point.attribute(along).parse::<f64>() else { continue };
            title.get_or_insert_with(|| point.title.clone());
            // Costs grow linearly, rates do not: a rate is converted to the cost of one operation.
            let costs = point.rounds(figure).into_values().flatten().map(|value| 1.0 / value).collect();
            places.push((x, costs));
        }
        let found = change_points(&places, self.sweeps);
        let words = |edge: &ChangePoint| {
            let p = if edge.p < 0.001 { "p < 0.001".to_owned() } else { format!("p = {:.3}", edge.p) };
            [
                ("system", title.clone().unwrap_or_default()),
                ("edge", format!("between {} and {}", edge.low, edge.high)),
                ("change", format!("{} ({p})", percent(1.0 / edge.factor))),
                ("clients", clients.unwrap_or_default().to_string()),
            ]
        };
        let system = || {
            let ends = places.iter().map(|(x, _)| *x);
            let range = ends.clone().reduce(f64::min).zip(ends.reduce(f64::max));
            let range = range.map(|(low, high)| format!("between {low} and {high}"));
            [("system", title.clone().unwrap_or_default()), ("edge", range.unwrap_or_default())]
        };
        title.as_ref()?;
        let text = match found.split_first() {
            None => filled(self.verdict.none.as_deref().unwrap_or_default(), &system()),
            Some((first, others)) => {
                let more = others.iter().map(|edge| {
                    let [_, (_, place), (_, change), _] = words(edge);
                    format!(" and {place} ({change})")
                });
                filled(&self.verdict.says, &words(first)) + &more.collect::<String>()
            }
        };
        let outcome = self.verdict.near.map(|[low, high]| {
            let is_there = found.iter().any(|edge| edge.factor > 1.0 && edge.high > low && edge.low < high);
            // Finding no edge is not enough to refute: a relevant edge must be ruled out.
            let is_ruled_out = || {
                jump_between(&places, self.sweeps, [low, high])
                    .is_some_and(|[_, most]| most < 1.0 + NEGLIGIBLE)
            };
            match is_there {
                true => ClaimOutcome::Confirmed,
                false if is_ruled_out() => ClaimOutcome::Refuted,
                false => ClaimOutcome::Open,
            }
        });
        Some(Clause { words: text, published: self.verdict.published.clone(), outcome, ratio: None })
    }
}

/// Ratio of a metric between two points, paired by round if both are from one run. `None` if it cannot be
/// computed.
fn ratio(of: &Observation, than: &Observation, figure: &str) -> Option<Estimate> {
    let (of_rounds, than_rounds) = (of.rounds(figure), than.rounds(figure));
    if of.part == than.part {
        let rounds: BTreeSet<u32> = of_rounds.keys().chain(than_rounds.keys()).copied().collect();
        let side = |all: &BTreeMap<u32, Vec<f64>>| -> Vec<Vec<f64>> {
            rounds.iter().map(|round| all.get(round).cloned().unwrap_or_default()).collect()
        };
        return paired_ratio(&side(&of_rounds), &side(&than_rounds));
    }
    let side = |all: BTreeMap<u32, Vec<f64>>| all.into_values().collect::<Vec<_>>();
    unpaired_ratio(&side(of_rounds), &side(than_rounds))
}

/// Tests a claim against the interval of a ratio. [`ClaimOutcome::Open`] without an interval, and for
/// [`ClaimedEffect::Near`].
#[must_use]
pub fn evaluate_claim(claim: ClaimedEffect, ratio: &Estimate) -> ClaimOutcome {
    let (Some(low), Some(high)) = (ratio.low, ratio.high) else { return ClaimOutcome::Open };
    let lies_within = |share: f64| low >= 1.0 / (1.0 + share) && high <= 1.0 + share;
    let (is_so, is_not_so) = match claim {
        ClaimedEffect::Less => (high < 1.0, low > 1.0 || lies_within(NEGLIGIBLE)),
        ClaimedEffect::More => (low > 1.0, high < 1.0 || lies_within(NEGLIGIBLE)),
        ClaimedEffect::Alike => (lies_within(ALIKE), low > 1.0 || high < 1.0),
        ClaimedEffect::Near => (false, false),
    };
    match (is_so, is_not_so) {
        (true, _) => ClaimOutcome::Confirmed,
        (_, true) => ClaimOutcome::Refuted,
        _ => ClaimOutcome::Open,
    }
}

/// Words a ratio for the reader: `31 % fewer (27 … 35)`, `2.31 times as many (2.1 … 2.5)`.
#[must_use]
pub fn change(ratio: &Estimate) -> String {
    let Estimate { median, low, high } = ratio.if_meaningful_ratio();
    let is_less = median < 1.0;
    let by = |ratio: f64| 100.0 * if is_less { 1.0 - ratio } else { ratio - 1.0 };
    let is_many = median >= 2.0;
    let shown = |ratio: f64| if is_many { number(ratio) } else { round_percent(by(ratio)) };
    let interval = match (low, high) {
        (Some(low), Some(high)) => {
            let ends = if is_less { (high, low) } else { (low, high) };
            let note = if ratio.excludes_one() { "" } else { ": no difference shown" };
            format!(" ({} … {}{note})", shown(ends.0), shown(ends.1))
        }
        _ => " (too few rounds)".to_owned(),
    };
    let words = if is_many { format!("{} times as many", number(median)) } else { percent(median) };
    format!("{words}{interval}")
}

/// Numeric components of a version, so that 6.0.27 sorts after 6.0.5.
fn numbers(version: &str) -> Vec<u64> {
    version.split(|c: char| !c.is_ascii_digit()).filter_map(|number| number.parse().ok()).collect()
}

/// Words a ratio without its interval, such as `31 % fewer`.
fn percent(ratio: f64) -> String {
    let (by, word) = if ratio < 1.0 { (1.0 - ratio, "fewer") } else { (ratio - 1.0, "more") };
    format!("{} % {word}", round_percent(100.0 * by))
}

fn round_percent(percent: f64) -> String {
    let text = if percent.abs() < 9.95 { format!("{percent:.1}") } else { format!("{percent:.0}") };
    text.strip_suffix(".0").map_or(text.clone(), str::to_owned).replace('-', "−")
}

/// Formats a value with three significant digits and at most three decimals; integers below a million are
/// shown in full.
fn number(value: f64) -> String {
    if value.fract() == 0.0 && value.abs() < 1e6 {
        return format!("{value:.0}");
    }
    let digits = match value.abs() {
        size if size >= 99.95 => 0,
        size if size >= 9.995 => 1,
        size if size >= 0.9995 => 2,
        _ => 3,
    };
    format!("{value:.digits$}")
}

fn filled(text: &str, values: &[(&str, String)]) -> String {
    values.iter().fold(text.to_owned(), |text, (name, value)| text.replace(&format!("{{{name}}}"), value))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn estimate(median: f64, low: f64, high: f64) -> Estimate {
        Estimate { median, low: Some(low), high: Some(high) }
    }

    #[test]
    fn changes_are_said_as_people_say_them() {
        for (ratio, said) in [
            (estimate(0.69, 0.65, 0.73), "31 % fewer (27 … 35)"),
            (estimate(1.045, 1.01, 1.08), "4.5 % more (1 … 8)"),
            (estimate(0.97, 0.92, 1.02), "3 % fewer (−2 … 8: no difference shown)"),
            (estimate(2.313, 2.1, 2.5), "2.31 times as many (2.10 … 2.50)"),
            (Estimate { median: 0.5, low: None, high: None }, "50 % fewer (too few rounds)"),
        ] {
            assert_eq!(change(&ratio), said);
        }
    }

    #[test]
    fn claims_are_confirmed_refuted_or_left_open() {
        use ClaimOutcome::{Confirmed, Open, Refuted};
        let less = estimate(0.7, 0.6, 0.8);
        let same = estimate(1.0, 0.98, 1.03);
        let wide = estimate(0.95, 0.7, 1.3);
        let more = estimate(1.4, 1.2, 1.6);
        for (claim, outcomes) in [
            (ClaimedEffect::Less, [Confirmed, Refuted, Open, Refuted]),
            (ClaimedEffect::More, [Refuted, Refuted, Open, Confirmed]),
            (ClaimedEffect::Alike, [Refuted, Confirmed, Open, Refuted]),
        ] {
            let found = [&less, &same, &wide, &more].map(|ratio| evaluate_claim(claim, ratio));
            assert_eq!(found, outcomes, "{claim:?}");
        }
        assert_eq!(
            evaluate_claim(ClaimedEffect::Less, &Estimate { median: 0.5, low: None, high: None }),
            Open
        );
    }

    #[test]
    fn a_sentence_is_one() {
        let clause = |words: &str, outcome| Clause {
            words: words.to_owned(),
            published: Some("36 % fewer".to_owned()),
            outcome,
            ratio: None,
        };
        let sentence = Sentence {
            clauses: vec![
                clause("an index costs", Some(ClaimOutcome::Confirmed)),
                clause("so it is", None),
                clause("and so it was", None),
            ],
            missing: Vec::new(),
        };
        assert_eq!(
            sentence.to_string(),
            "An index costs (36 % fewer published: confirmed); so it is (36 % fewer published), and so it was (36 % fewer published)."
        );
        assert!(Sentence::default().to_string().starts_with("No answer: nothing"));
    }
}
