//! Evidence behind one cell of a decision: what was measured, how often, and where its trials are.

use jsonathlon_choose::Dimension;
use jsonathlon_choose::decision::Candidate;
use jsonathlon_choose::facts::{CrashEvidence, Measured, Measurement, Part, RateFacts, SystemFacts};
use jsonathlon_results::summary::Run;
use jsonathlon_schema::record::Cell;

use super::table::{Aspect, measurement_words, value_text};
use crate::format;
use crate::page::cell_link::cell_fragment;
use crate::page::evidence::statement;

/// What the page shows behind a cell.
#[derive(Debug, Default)]
pub(super) struct Evidence {
    /// Names with what they stand for, in the order of reading.
    pub(super) pairs: Vec<(String, String)>,
    /// Statement that the system was sent. `None` if it is not known.
    pub(super) statement: Option<String>,
    /// Pages on which the trials are: names of the runs with addresses.
    pub(super) links: Vec<(&'static str, String)>,
}

/// Evidence of an aspect of a candidate.
pub(super) fn evidence(candidate: &Candidate, aspect: Aspect, runs: &[(Part, Run)]) -> Evidence {
    let facts = &candidate.facts;
    let mut evidence = Evidence::default();
    let figure = match aspect {
        Aspect::Dimension(dimension) => candidate
            .judgement(dimension)
            .map(|judgement| &judgement.figure)
            .or_else(|| candidate.figures.get(&dimension)),
        Aspect::Capacity => None,
    };
    let measurement = match aspect {
        Aspect::Capacity => facts.capacity.as_ref().and_then(Measured::value),
        Aspect::Dimension(_) => figure.and_then(|figure| figure.measurement.as_ref()),
    };
    if let Some(measurement) = measurement {
        evidence.add_measurement(measurement, runs);
    }
    match aspect {
        Aspect::Dimension(dimension) => evidence.add_facts(facts, dimension, runs),
        Aspect::Capacity => {}
    }
    if let (true, Some(part)) = (evidence.links.is_empty(), figure.and_then(|figure| figure.part)) {
        evidence.add_run(part, runs);
    }
    evidence
}

impl Evidence {
    fn add(&mut self, name: impl Into<String>, text: impl Into<String>) {
        self.pairs.push((name.into(), text.into()));
    }

    fn add_measurement(&mut self, measurement: &Measurement, runs: &[(Part, Run)]) {
        self.add("measured", measurement_words(measurement));
        let trials = measurement.by_round.iter().map(|(round, values)| {
            let values: Vec<String> =
                values.iter().map(|value| value_text(measurement.unit, *value)).collect();
            format!("round {round}: {}", values.join(", "))
        });
        let trials: Vec<String> = trials.collect();
        if !trials.is_empty() {
            self.add("trials", trials.join("; "));
        }
        self.add_cell(measurement.part, &measurement.cell, runs);
    }

    /// Adds the place of a cell's trials, and its statement.
    fn add_cell(&mut self, part: Part, cell: &Cell, runs: &[(Part, Run)]) {
        let run = runs.iter().find(|(known, _)| *known == part).map(|(_, run)| run);
        if self.statement.is_none() {
            self.statement = run.and_then(|run| statement(run, cell));
        }
        let fragment = run.and_then(|run| cell_fragment(part.folder(), run, cell));
        let address = page_address(part, fragment.as_deref());
        if !self.links.iter().any(|(_, known)| *known == address) {
            self.links.push((part.folder(), address));
        }
    }

    fn add_run(&mut self, part: Part, runs: &[(Part, Run)]) {
        if runs.iter().any(|(known, _)| *known == part) {
            self.links.push((part.folder(), page_address(part, None)));
        }
    }

    fn add_facts(&mut self, facts: &SystemFacts, dimension: Dimension, runs: &[(Part, Run)]) {
        match dimension {
            Dimension::Durability => self.add_durability(facts, runs),
            Dimension::RoundTrip => self.add_round_trip(facts, runs),
            Dimension::Rejected => self.add_load(facts, runs),
            Dimension::Rate => self.add_rates(facts),
            Dimension::Response => self.add_responses(facts),
            Dimension::Report => self.add_reports(facts),
            Dimension::Size => self.add_sizes(facts),
            Dimension::Kind => {
                let kind = if facts.is_server {
                    "a server: a process of its own, which many programs can use"
                } else {
                    "embedded: a library within the program that uses it"
                };
                self.add("kind", kind);
            }
        }
    }

    fn add_durability(&mut self, facts: &SystemFacts, runs: &[(Part, Run)]) {
        if let Some(tier) = facts.durability.tier {
            self.add("measured in tier", tier.word());
        }
        for crashes in &facts.durability.evidence {
            self.add(format!("{} crashes", crashes.kind.word()), crash_words(crashes));
            if let Some(cell) = &crashes.cell {
                self.add_cell(Part::Durability, cell, runs);
            }
        }
    }

    fn add_round_trip(&mut self, facts: &SystemFacts, runs: &[(Part, Run)]) {
        let Some(round_trip) = &facts.round_trip else { return };
        let all = if round_trip.is_complete { "all documents" } else { "a sample" };
        self.add("compared", format!("{} documents, {all}", count(round_trip.compared)));
        self.add("changed", format!("{} documents", count(round_trip.changed)));
        for (change, documents) in &round_trip.changes {
            self.add(change.clone(), format!("{} documents", count(*documents)));
        }
        if let Some(bytes) = round_trip.bytes {
            let text = format!("{} of {} compared documents", count(bytes.different), count(bytes.compared));
            self.add("other bytes", text);
        }
        self.add_cell(round_trip.part, &round_trip.cell, runs);
    }

    fn add_load(&mut self, facts: &SystemFacts, runs: &[(Part, Run)]) {
        let Some(load) = &facts.documents else { return };
        self.add("offered", format!("{} documents", count(load.offered)));
        self.add("loaded", format!("{} documents", count(load.loaded)));
        self.add("rejected", format!("{} documents", count(load.rejected)));
        for (reason, documents) in &load.reasons {
            self.add(format!("{} documents", count(*documents)), reason.clone());
        }
        if let Some(failure) = &load.failure {
            self.add("the load failed", failure.reason.clone());
        }
        self.add_cell(load.part, &load.cell, runs);
    }

    fn add_rates(&mut self, facts: &SystemFacts) {
        for rate in rates(facts) {
            let offered = format!("at {}/s", format::integer(rate.offered));
            self.add(offered.clone(), format!("achieved {}", measured_words(&rate.achieved)));
            self.add(offered, format!("ended well in time: {}", measured_words(&rate.kept_share)));
        }
        if let Some(capacity) = &facts.capacity {
            self.add("without a rate", measured_words(capacity));
        }
    }

    fn add_responses(&mut self, facts: &SystemFacts) {
        for rate in rates(facts) {
            for response in &rate.response {
                let quantiles = response
                    .quantiles
                    .iter()
                    .map(|(quantile, measured)| format!("{} {}", quantile.word(), measured_words(measured)));
                let name = format!("{} at {}/s", response.operation, format::integer(rate.offered));
                self.add(name, quantiles.collect::<Vec<_>>().join("; "));
            }
        }
    }

    fn add_reports(&mut self, facts: &SystemFacts) {
        for report in &facts.reports {
            let conditions =
                [("with load", &report.under_load), ("at rest, hot", &report.hot), ("cold", &report.cold)];
            let texts = conditions.into_iter().filter_map(|(condition, measured)| {
                Some(format!("{condition}: {}", measured_words(measured.as_ref()?)))
            });
            self.add(report.title.clone(), texts.collect::<Vec<_>>().join("; "));
        }
    }

    fn add_sizes(&mut self, facts: &SystemFacts) {
        for point in &facts.sizes {
            self.add(format!("{} documents", count(point.documents)), measured_words(&point.bytes));
        }
    }
}

/// Address of the page of a part, with a fragment if there is one.
pub(super) fn page_address(part: Part, fragment: Option<&str>) -> String {
    let page = format!("{}/{}", part.folder(), crate::page::FILE);
    fragment.map_or(page.clone(), |fragment| format!("{page}#{fragment}"))
}

/// All rates at which a system was measured, in ascending order.
pub(super) fn rates(facts: &SystemFacts) -> Vec<&RateFacts> {
    let mut rates: Vec<&RateFacts> = facts.at_rate.iter().chain(&facts.other_rates).collect();
    rates.sort_by(|a, b| a.offered.total_cmp(&b.offered));
    rates
}

fn measured_words(measured: &Measured) -> String {
    match measured {
        Measured::Value(measurement) => measurement_words(measurement),
        Measured::Failed(reason) => format!("failed: {reason}"),
        Measured::Absent(reason) => format!("not measured: {reason}"),
    }
}

fn crash_words(crashes: &CrashEvidence) -> String {
    let mut words = match crashes.crashes {
        0 => "none".to_owned(),
        made => format!(
            "{made}, {} as the tier {} promises, {} without any loss",
            crashes.as_promised,
            crashes.tier.word(),
            crashes.without_loss
        ),
    };
    if let (Some(acknowledged), Some(lost)) = (crashes.acknowledged, crashes.lost) {
        words.push_str(&format!("; lost {} of {} acknowledged writes", count(lost), count(acknowledged)));
    }
    if let Some(day) = &crashes.earlier {
        words.push_str(&format!("; an earlier run of {day}"));
    }
    if let Some(obstacle) = &crashes.obstacle {
        words.push_str(&format!("; {obstacle}"));
    }
    words
}

fn count(number: u64) -> String {
    format::integer(number as f64)
}
