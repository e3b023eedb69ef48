//! Whether a system meets a need, and how that is said.

mod crash;
mod growth;
mod limits;

use jsonathlon_results::number_format::{self, integer};
use jsonathlon_stats::batch_schedule::KEPT_LIMIT;

use crate::dimension::Dimension;
use crate::facts::{Measured, Measurement, Part, RateFacts, SystemFacts};
use crate::figures;
use crate::needs::{Need, Quantile, RoundTripLevel, SizeAt, WantedKind};

use limits::{Bound, worst};

pub use growth::{SizeEstimate, size_at};

/// Whether a need is met. Only [`NeedState::Met`] counts as met.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NeedState {
    /// The whole interval, or an exact count, lies within the limit.
    Met,
    /// The whole interval, or an exact count, lies beyond the limit, or the system failed.
    NotMet,
    /// The interval contains the limit, or there is none.
    NotShown,
    /// Nothing was measured, for this reason.
    NotTested(String),
}

impl NeedState {
    /// Word for the state in tables and JSON.
    #[must_use]
    pub const fn word(&self) -> &'static str {
        match self {
            Self::Met => "met",
            Self::NotMet => "not met",
            Self::NotShown => "not shown",
            Self::NotTested(_) => "not tested",
        }
    }
}

/// Judgement of one need of one system.
#[derive(Debug, Clone, PartialEq)]
pub struct Judgement {
    /// Need that was judged.
    pub need: Need,
    /// Whether the system meets it.
    pub state: NeedState,
    /// What is known of the system in this dimension.
    pub figure: Figure,
    /// How many times the figure misses the limit, at least 1; infinite where no factor can be stated. `None`
    /// unless the need is not met.
    pub factor: Option<f64>,
}

/// What is known of a system in one dimension, whether needed or not.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Figure {
    /// The figure in words: `update p99 3.1 ms (2.9 … 3.4)`, `312 of 200,000 documents changed`. Why there is
    /// none where nothing was measured.
    pub words: String,
    /// The figure without interval and in few characters, for tables: `3.1 ms`, `312 changed`. A dash where
    /// there is none.
    pub short: String,
    /// What the system does, as the rest of a sentence that begins with its name: `changes 312 of 200,000
    /// documents`.
    pub predicate: String,
    /// Measurement behind the figure, to find it on its page. `None` for counts and where there is none.
    pub measurement: Option<Measurement>,
    /// Numeric value in the unit of the limit: seconds, bytes, operations per second, shares, or documents
    /// that were changed. `None` if the figure is not a number.
    pub value: Option<f64>,
    /// 95 % interval of the value, or the range of an estimate. `None` if there is none.
    pub interval: Option<[f64; 2]>,
    /// Whether the figure is an estimate for a number of documents that was not loaded.
    pub is_estimate: bool,
    /// Run that the figure comes from. `None` if it comes from none.
    pub part: Option<Part>,
}

impl Figure {
    /// Figure of a dimension without one: the reason in words.
    fn missing(reason: &str) -> Self {
        Self { words: reason.to_owned(), short: "–".to_owned(), ..Self::default() }
    }

    /// Figure of a system that failed where it was measured.
    fn failed(what: &str, error: &str) -> Self {
        Self {
            words: format!("{what}: {error}"),
            short: "failed".to_owned(),
            predicate: format!("fails at {what} ({error})"),
            ..Self::default()
        }
    }

    /// Figure of a measurement, with its value and interval.
    fn measured(measurement: &Measurement) -> Self {
        Self {
            measurement: Some(measurement.clone()),
            value: Some(measurement.value),
            interval: measurement.interval,
            part: Some(measurement.part),
            ..Self::default()
        }
    }
}

/// State, figure and factor of a need before they are put together.
struct Finding {
    state: NeedState,
    figure: Figure,
    factor: Option<f64>,
}

impl Finding {
    fn new(state: NeedState, figure: Figure, factor: f64) -> Self {
        let factor = (state == NeedState::NotMet).then_some(if factor >= 1.0 { factor } else { 1.0 });
        Self { state, figure, factor }
    }

    /// The finding with a remark behind its words.
    fn with_remark(mut self, remark: Option<String>) -> Self {
        if let Some(remark) = remark {
            self.figure.words = format!("{}; {remark}", self.figure.words);
        }
        self
    }

    fn not_tested(reason: &str) -> Self {
        Self::new(NeedState::NotTested(reason.to_owned()), Figure::missing(reason), 1.0)
    }

    /// A need about a dimension without a figure: not met if the system failed to load the documents, else not tested
    /// for the reason that is known.
    fn without_figure(dimension: Dimension, facts: &SystemFacts) -> Self {
        load_failed(facts).unwrap_or_else(|| Self::not_tested(&reason(dimension, facts)))
    }

    /// A need that fails without a number that says by how much.
    fn not_met(figure: Figure) -> Self {
        Self::new(NeedState::NotMet, figure, f64::INFINITY)
    }
}

/// Judges whether a system meets a need.
#[must_use]
pub fn judge(need: &Need, facts: &SystemFacts) -> Judgement {
    let finding = match need {
        Need::Durability(tier) => crash::durability(*tier, facts),
        Need::RoundTrip(level) => round_trip(*level, facts),
        Need::Rejected(share) => rejected(*share, facts),
        Need::Rate(per_s) => rate(*per_s, facts),
        Need::Response { quantile, below_s } => response(*quantile, *below_s, facts),
        Need::Report(below_s) => report(*below_s, facts),
        Need::Size { at, below_bytes } => size(*at, *below_bytes, facts),
        Need::Kind(kind) => self::kind(*kind, facts),
    };
    let Finding { state, figure, factor } = finding;
    Judgement { need: *need, state, figure, factor }
}

/// What is known of a system in a dimension that the user stated no need for. `None` if nothing was asked.
#[must_use]
pub fn figure(dimension: Dimension, facts: &SystemFacts) -> Option<Figure> {
    const ANY: f64 = f64::INFINITY;
    let finding = match dimension {
        Dimension::Durability => crash::known(facts)?,
        Dimension::RoundTrip => round_trip(RoundTripLevel::SameValues, facts),
        Dimension::Rejected => rejected(1.0, facts),
        Dimension::Rate => rate(facts.at_rate.as_ref()?.offered, facts),
        Dimension::Response => response(Quantile::P99, ANY, facts),
        Dimension::Report => report(ANY, facts),
        Dimension::Size => size(SizeAt::Now(None), ANY, facts),
        Dimension::Kind => kind(WantedKind::Any, facts),
    };
    Some(finding.figure)
}

/// Why a dimension was not measured, as far as it is known.
fn reason(dimension: Dimension, facts: &SystemFacts) -> String {
    match (facts.load_failure(), facts.untested.get(&dimension)) {
        (Some(failure), _) => format!("the load failed: {}", failure.reason),
        (None, Some(reason)) => reason.clone(),
        (None, None) => "not measured".to_owned(),
    }
}

/// Finding on a system that failed to load the documents, such as one that loses some of them. `None` if it did not,
/// or if the machine is to blame.
fn load_failed(facts: &SystemFacts) -> Option<Finding> {
    let failure = facts.load_failure().filter(|failure| !failure.is_of_machine)?;
    let part = facts.documents.as_ref().map(|documents| documents.part);
    Some(Finding::not_met(Figure { part, ..Figure::failed("the load", &failure.reason) }))
}

fn round_trip(level: RoundTripLevel, facts: &SystemFacts) -> Finding {
    if let Some(failed) = load_failed(facts) {
        return failed;
    }
    let Some(trip) = &facts.round_trip else {
        let is_loaded = facts.documents.as_ref().is_some_and(|documents| documents.failure.is_none());
        return match level {
            RoundTripLevel::Anything if is_loaded => {
                Finding::new(NeedState::Met, Figure::missing(&reason(Dimension::RoundTrip, facts)), 1.0)
            }
            _ => Finding::not_tested(&reason(Dimension::RoundTrip, facts)),
        };
    };
    let compared = integer(trip.compared as f64);
    let rest = if trip.is_complete { "" } else { "; the others were not compared" };
    let mut figure = Figure { value: Some(trip.changed as f64), part: Some(trip.part), ..Figure::default() };
    if trip.changed > 0 {
        let changed = integer(trip.changed as f64);
        figure.words = format!("{changed} of {compared} documents changed{}{rest}", kinds_of_change(trip));
        figure.short = format!("{changed} changed");
        figure.predicate = format!("changes {changed} of {compared} documents");
        return match level {
            RoundTripLevel::Anything => Finding::new(NeedState::Met, figure, 1.0),
            RoundTripLevel::SameBytes | RoundTripLevel::SameValues => Finding::not_met(figure),
        };
    }
    figure.words = format!("{compared} documents came back with the same values{rest}");
    figure.short = "same values".to_owned();
    figure.predicate = format!("gives {compared} documents back with the same values");
    let state = match level {
        RoundTripLevel::Anything => NeedState::Met,
        RoundTripLevel::SameValues if trip.is_complete => NeedState::Met,
        RoundTripLevel::SameValues => NeedState::NotShown,
        RoundTripLevel::SameBytes => return same_bytes(trip, figure),
    };
    Finding::new(state, figure, 1.0)
}

/// Judges documents of which all values came back by their bytes.
fn same_bytes(trip: &crate::facts::RoundTripFacts, mut figure: Figure) -> Finding {
    let Some(bytes) = trip.bytes else {
        let reason = match &trip.bytes_of_variant {
            Some(variant) => format!("byte by byte, documents were compared only in the variant {variant}"),
            None => "documents were compared by value and not byte by byte".to_owned(),
        };
        return Finding { figure, ..Finding::not_tested(&reason) };
    };
    let (compared, different) = (integer(bytes.compared as f64), integer(bytes.different as f64));
    figure.value = Some(bytes.different as f64);
    if bytes.different > 0 {
        figure.words = format!("{different} of {compared} documents came back with other bytes");
        figure.short = format!("{different} rewritten");
        figure.predicate = format!("gives {different} of {compared} documents back with other bytes");
        return Finding::not_met(figure);
    }
    let rest = if bytes.is_complete { "" } else { "; the others were not compared" };
    figure.words = format!("{compared} documents came back byte for byte{rest}");
    figure.short = "same bytes".to_owned();
    figure.predicate = format!("gives {compared} documents back byte for byte");
    let state = if bytes.is_complete { NeedState::Met } else { NeedState::NotShown };
    Finding::new(state, figure, 1.0)
}

/// Kinds of changes with their numbers of documents, if the runs tell them apart.
fn kinds_of_change(trip: &crate::facts::RoundTripFacts) -> String {
    let kinds: Vec<String> = trip
        .changes
        .iter()
        .map(|(kind, documents)| format!("{kind} {}", integer(*documents as f64)))
        .collect();
    if kinds.len() < 2 { String::new() } else { format!(" ({})", kinds.join(", ")) }
}

fn rejected(at_most: f64, facts: &SystemFacts) -> Finding {
    let Some(load) = facts.documents.as_ref().filter(|load| load.failure.is_none() && load.offered > 0)
    else {
        return Finding::without_figure(Dimension::Rejected, facts);
    };
    let share = load.rejected as f64 / load.offered as f64;
    let (rejected, offered) = (integer(load.rejected as f64), integer(load.offered as f64));
    let most = load.reasons.iter().max_by_key(|(_, documents)| **documents);
    let why = most.map_or_else(String::new, |(message, _)| format!(": {}", figures::shortened(message)));
    let figure = Figure {
        words: format!("{rejected} of {offered} documents rejected{why}"),
        short: match load.rejected {
            0 => "none".to_owned(),
            _ => format!("{rejected} ({})", figures::percent(share)),
        },
        predicate: match load.rejected {
            0 => "accepts all documents".to_owned(),
            _ => format!("rejects {rejected} of {offered} documents"),
        },
        value: Some(share),
        part: Some(load.part),
        ..Figure::default()
    };
    // The number that is allowed may be a fraction of a document.
    let state = if share <= at_most { NeedState::Met } else { NeedState::NotMet };
    Finding::new(state, figure, share / at_most)
}

fn rate(per_s: f64, facts: &SystemFacts) -> Finding {
    let Some(at_rate) = &facts.at_rate else {
        return Finding::without_figure(Dimension::Rate, facts);
    };
    let offered = integer(at_rate.offered);
    let kept = match (&at_rate.kept_share, &at_rate.achieved) {
        (Measured::Value(kept), Measured::Value(_)) => kept,
        (Measured::Failed(error), _) | (_, Measured::Failed(error)) => {
            return Finding::not_met(Figure::failed(&format!("{offered} operations/s"), error));
        }
        (Measured::Absent(error), _) | (_, Measured::Absent(error)) => return Finding::not_tested(error),
    };
    let state = Bound::AtLeast(KEPT_LIMIT).state(kept);
    let in_time = kept.value * at_rate.offered;
    let share = figures::percent(kept.value);
    let least = figures::percent(KEPT_LIMIT);
    let mut figure = Figure {
        value: Some(in_time),
        interval: kept.interval.map(|shares| shares.map(|share| share * at_rate.offered)),
        ..Figure::measured(kept)
    };
    if state == NeedState::Met {
        figure.words =
            format!("holds {offered} operations/s: {share} of them ended in time, and {least} are enough");
        figure.short = format!("{offered}/s");
        figure.predicate = format!("holds {offered} operations/s");
    } else {
        let reached = integer(in_time);
        figure.words =
            format!("{reached} of {offered} operations/s ended in time, {share} where {least} are enough");
        for remark in kept.doubt.clone().into_iter().chain(why_no_interval(kept, "operations")) {
            figure.words = format!("{}; {remark}", figure.words);
        }
        figure.short = format!("{reached}/s");
        figure.predicate = format!("holds {reached} of {offered} operations/s");
    }
    // A rate that was not offered says nothing of a higher one.
    if per_s > at_rate.offered * (1.0 + 1e-9) && state == NeedState::Met {
        figure.words = format!("{}; no more were offered", figure.words);
        return Finding::new(NeedState::NotShown, figure, 1.0);
    }
    Finding::new(state, figure, per_s / in_time)
}

/// Whether a system is shown not to hold the rate, so that its response times are those of a smaller load.
fn misses_rate(at_rate: &RateFacts) -> bool {
    match &at_rate.kept_share {
        Measured::Value(kept) => Bound::AtLeast(KEPT_LIMIT).state(kept) != NeedState::Met,
        Measured::Failed(_) | Measured::Absent(_) => true,
    }
}

/// Why a figure has no interval, so that nothing is shown by it: too few rounds, or too few of `what` in each of them.
/// `None` if it has one.
fn why_no_interval(measurement: &Measurement, what: &str) -> Option<String> {
    if measurement.interval.is_some() {
        return None;
    }
    Some(match measurement.rounds() {
        0 => format!("too few {what} for an interval: it needs a longer --duration"),
        1 => "one round gives no interval".to_owned(),
        _ => "its rounds differ too much for an interval".to_owned(),
    })
}

/// Kinds of operations whose response times count.
pub const ANSWERED: [&str; 3] = ["read", "update", crate::facts::ALL_OPERATIONS];

fn response(quantile: Quantile, below_s: f64, facts: &SystemFacts) -> Finding {
    let Some(at_rate) = &facts.at_rate else {
        return Finding::without_figure(Dimension::Response, facts);
    };
    let counting = at_rate.response.iter().filter(|response| ANSWERED.contains(&response.operation.as_str()));
    let findings = counting.filter_map(|response| {
        let name = format!("{} {}", response.operation, quantile.word());
        Some(match response.quantiles.get(&quantile)? {
            Measured::Value(measurement) => {
                let finding = duration(&name, quantile.word(), below_s, measurement);
                finding.with_remark(why_no_interval(measurement, "operations"))
            }
            Measured::Failed(error) => Finding::not_met(Figure::failed(&response.operation, error)),
            Measured::Absent(error) => Finding::not_tested(&format!("{}: {error}", response.operation)),
        })
    });
    let Some(mut finding) = worst(findings) else {
        return Finding::not_tested("neither reads nor updates were measured at the rate");
    };
    if finding.state == NeedState::Met && misses_rate(at_rate) {
        finding.state = NeedState::NotShown;
        finding.figure.words.push_str("; the rate was not held meanwhile");
    }
    finding
}

/// Judges a time that must lie below a limit. `name` says of what it is, `quantile` how it is called.
fn duration(name: &str, quantile: &str, below_s: f64, measurement: &Measurement) -> Finding {
    let mut figure = Figure::measured(measurement);
    let state = Bound::Below(below_s).state(measurement);
    let value = figures::duration(measurement.value);
    figure.words =
        format!("{name} {}", figures::duration_with_interval(measurement.value, measurement.interval));
    if let Some(doubt) = &measurement.doubt {
        figure.words = format!("{}; {doubt}", figure.words);
    }
    figure.short.clone_from(&value);
    figure.predicate = format!("answers in {value} ({quantile})");
    Finding::new(state, figure, measurement.value / below_s)
}

fn report(below_s: f64, facts: &SystemFacts) -> Finding {
    let findings = facts.reports.iter().filter_map(|report| {
        let (measured, where_asked) = match (&report.under_load, &report.hot) {
            (Some(measured), _) => (measured, " under load"),
            (None, Some(measured)) => (measured, ""),
            (None, None) => return None,
        };
        let name = format!("{}{where_asked}, median", report.question);
        let mut finding = match measured {
            Measured::Value(measurement) => {
                let finding = duration(&name, "median", below_s, measurement);
                finding.with_remark(why_no_interval(measurement, "answers"))
            }
            Measured::Failed(error) => Finding::not_met(Figure::failed(&report.question, error)),
            Measured::Absent(error) => Finding::not_tested(&format!("{}: {error}", report.question)),
        };
        if let Measured::Value(measurement) = measured {
            let value = figures::duration(measurement.value);
            finding.figure.predicate = format!("takes {value} for {}", report.question);
        }
        Some(finding)
    });
    worst(findings).unwrap_or_else(|| Finding::without_figure(Dimension::Report, facts))
}

fn size(at: SizeAt, below_bytes: f64, facts: &SystemFacts) -> Finding {
    let wanted = match at {
        SizeAt::Now(documents) => documents,
        SizeAt::Later(documents) => Some(documents),
    };
    if let Some(failed) = load_failed(facts) {
        return failed;
    }
    let Some(point) = facts.whole_size() else {
        return Finding::without_figure(Dimension::Size, facts);
    };
    let measurement = match &point.bytes {
        Measured::Value(measurement) => measurement,
        Measured::Failed(error) => return Finding::not_met(Figure::failed("the size", error)),
        Measured::Absent(error) => return Finding::not_tested(error),
    };
    let offered = facts.documents.as_ref().map(|load| load.offered);
    match wanted.filter(|wanted| Some(*wanted) != offered && *wanted != point.documents) {
        None => measured_size(measurement, below_bytes),
        Some(documents) => growth::estimated_size(documents, below_bytes, facts),
    }
}

fn measured_size(measurement: &Measurement, below_bytes: f64) -> Finding {
    let mut figure = Figure::measured(measurement);
    let value = number_format::bytes(measurement.value);
    figure.words = match measurement.interval {
        Some([low, high]) if number_format::bytes(low) != number_format::bytes(high) => {
            format!("{value} ({} … {})", number_format::bytes(low), number_format::bytes(high))
        }
        _ => value.clone(),
    };
    if let Some(doubt) = &measurement.doubt {
        figure.words = format!("{}; {doubt}", figure.words);
    }
    figure.predicate = format!("takes {value}");
    figure.short = value;
    let state = Bound::Below(below_bytes).state(measurement);
    let finding = Finding::new(state, figure, measurement.value / below_bytes);
    finding.with_remark(why_no_interval(measurement, "loads"))
}

fn kind(wanted: WantedKind, facts: &SystemFacts) -> Finding {
    let (word, predicate) = match facts.is_server {
        true => ("server", "is a server"),
        false => ("embedded", "is embedded"),
    };
    let figure = Figure {
        words: word.to_owned(),
        short: word.to_owned(),
        predicate: predicate.to_owned(),
        ..Figure::default()
    };
    match (wanted, facts.is_server) {
        (WantedKind::Any, _) | (WantedKind::Server, true) | (WantedKind::Embedded, false) => {
            Finding::new(NeedState::Met, figure, 1.0)
        }
        (WantedKind::Server, false) | (WantedKind::Embedded, true) => Finding::not_met(figure),
    }
}

#[cfg(test)]
#[path = "../judgement_tests.rs"]
mod tests;
