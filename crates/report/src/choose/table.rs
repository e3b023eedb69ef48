//! The table of a decision: systems by needs, or by what was measured if the user stated no needs.

use jsonathlon_choose::Dimension;
use jsonathlon_choose::decision::{Candidate, Decision};
use jsonathlon_choose::facts::{Measured, Measurement};
use jsonathlon_choose::figures;
use jsonathlon_choose::judgement::{Figure, NeedState};
use jsonathlon_choose::needs::{Criterion, Need};
use jsonathlon_schema::metric::Unit;

use super::printable_long;
use crate::format;
use crate::section::{Column as SectionColumn, NONE, Section, printable};

/// What a column of the table shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Aspect {
    /// A dimension in which users can have needs.
    Dimension(Dimension),
    /// Operations per second in a closed loop, for which there is no need.
    Capacity,
}

impl Aspect {
    /// Heading of the column.
    pub(super) fn title(self) -> &'static str {
        match self {
            Self::Dimension(dimension) => dimension.title(),
            Self::Capacity => "capacity",
        }
    }

    /// Word in the ids of cells.
    pub(super) fn key(self) -> &'static str {
        match self {
            Self::Dimension(dimension) => dimension.key(),
            Self::Capacity => "capacity",
        }
    }

    /// Aspect that a criterion compares.
    fn of_criterion(criterion: Criterion) -> Self {
        match criterion {
            Criterion::Response(_) => Self::Dimension(Dimension::Response),
            Criterion::Report => Self::Dimension(Dimension::Report),
            Criterion::Size => Self::Dimension(Dimension::Size),
            Criterion::Capacity => Self::Capacity,
        }
    }
}

/// How a cell stands out. Each mark has a sign and a word, so that no colour is needed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mark {
    Met,
    NotMet,
    NotShown,
    NotTested,
    /// Better than all others in its column.
    Best,
    /// Not shown to be worse than the best of its column.
    NotWorse,
    /// Measured, and nothing more to say.
    Measured,
}

impl Mark {
    pub(super) fn sign(self) -> &'static str {
        match self {
            Self::Met => "✔",
            Self::NotMet => "✖",
            Self::NotShown => "?",
            Self::NotTested => NONE,
            Self::Best => "★",
            Self::NotWorse => "☆",
            Self::Measured => "",
        }
    }

    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Met => "met",
            Self::NotMet => "not met",
            Self::NotShown => "not shown",
            Self::NotTested => "not tested",
            Self::Best => "best",
            Self::NotWorse => "may be best",
            Self::Measured => "",
        }
    }

    /// What the mark means, for the legend.
    pub(super) fn meaning(self) -> &'static str {
        match self {
            Self::Met => "the whole interval, or an exact count, keeps the limit",
            Self::NotMet => "the whole interval, or an exact count, breaks the limit",
            Self::NotShown => "the interval contains the limit, or there is none",
            Self::NotTested => "not measured; the cell says why",
            Self::Best => "shown to be better than all others",
            Self::NotWorse => "not shown to be worse than the best",
            Self::Measured => "",
        }
    }

    /// Class of cells on the page.
    pub(super) fn class(self) -> &'static str {
        match self {
            Self::Met => "met",
            Self::NotMet => "not-met",
            Self::NotShown => "not-shown",
            Self::NotTested => "not-tested",
            Self::Best => "best",
            Self::NotWorse => "not-worse",
            Self::Measured => "measured",
        }
    }

    fn of_state(state: &NeedState) -> Self {
        match state {
            NeedState::Met => Self::Met,
            NeedState::NotMet => Self::NotMet,
            NeedState::NotShown => Self::NotShown,
            NeedState::NotTested(_) => Self::NotTested,
        }
    }
}

/// Column of the table with its limit.
#[derive(Debug, Clone)]
pub(super) struct Heading {
    pub(super) aspect: Aspect,
    /// The user's limit in words; empty without a need.
    pub(super) limit: String,
}

/// A cell: its mark, and what is known in few characters and in full.
#[derive(Debug, Clone)]
pub(super) struct Cell {
    pub(super) mark: Mark,
    /// The figure in few characters; empty if there is none.
    pub(super) short: String,
    /// The figure in words, or why there is none.
    pub(super) words: String,
    pub(super) is_estimate: bool,
}

/// A system with its cells, in the order of the columns.
#[derive(Debug)]
pub(super) struct Row<'a> {
    pub(super) candidate: &'a Candidate,
    pub(super) cells: Vec<Cell>,
}

/// Table of systems by needs.
#[derive(Debug)]
pub(super) struct Table<'a> {
    pub(super) headings: Vec<Heading>,
    pub(super) rows: Vec<Row<'a>>,
}

impl<'a> Table<'a> {
    /// Table of the user's needs. Without needs, that of everything that was measured.
    pub(super) fn new(decision: &'a Decision) -> Self {
        if decision.needs.is_empty() {
            return Self::of_aspects(decision, measured_aspects(decision));
        }
        let heading =
            |need: &Need| Heading { aspect: Aspect::Dimension(need.dimension()), limit: need.limit_words() };
        let rows = decision.candidates.iter().map(|candidate| {
            let judgements = candidate.judgements.iter().map(|judgement| {
                let reason = match &judgement.state {
                    NeedState::NotTested(reason) => Some(reason.as_str()),
                    _ => None,
                };
                cell(Mark::of_state(&judgement.state), &judgement.figure, reason)
            });
            Row { candidate, cells: judgements.collect() }
        });
        Self { headings: decision.needs.iter().map(heading).collect(), rows: rows.collect() }
    }

    /// Table of what was measured besides the needs. `None` if that is nothing.
    pub(super) fn without_needs(decision: &'a Decision) -> Option<Self> {
        let is_needed = |aspect: &Aspect| {
            decision.needs.iter().any(|need| Aspect::Dimension(need.dimension()) == *aspect)
        };
        let aspects: Vec<Aspect> =
            measured_aspects(decision).into_iter().filter(|aspect| !is_needed(aspect)).collect();
        (!decision.needs.is_empty() && !aspects.is_empty()).then(|| Self::of_aspects(decision, aspects))
    }

    fn of_aspects(decision: &'a Decision, aspects: Vec<Aspect>) -> Self {
        let rows = decision.candidates.iter().enumerate().map(|(index, candidate)| {
            let cells = aspects.iter().map(|aspect| measured_cell(decision, index, candidate, *aspect));
            Row { candidate, cells: cells.collect() }
        });
        let rows = rows.collect();
        let headings =
            aspects.iter().map(|aspect| Heading { aspect: *aspect, limit: String::new() }).collect();
        Self { headings, rows }
    }

    /// Returns `true` if a column says whether a system is a server.
    pub(super) fn has_kind(&self) -> bool {
        self.headings.iter().any(|heading| heading.aspect == Aspect::Dimension(Dimension::Kind))
    }

    /// Marks that the table has, in the order of the legend.
    pub(super) fn marks(&self) -> Vec<Mark> {
        let all = [Mark::Met, Mark::NotMet, Mark::NotShown, Mark::NotTested, Mark::Best, Mark::NotWorse];
        let has = |mark: &Mark| self.rows.iter().flat_map(|row| &row.cells).any(|cell| cell.mark == *mark);
        all.into_iter().filter(has).collect()
    }

    /// The table for Markdown.
    pub(super) fn section(&self, title: &str) -> Section {
        let heading = |heading: &Heading| {
            let title = heading.aspect.title();
            if heading.limit.is_empty() { title.to_owned() } else { format!("{title} ({})", heading.limit) }
        };
        let titles = self.headings.iter().map(|column| SectionColumn::words(&heading(column)));
        let columns = std::iter::once(SectionColumn::words("system")).chain(titles).collect();
        let mut section = Section::new(title.to_owned(), columns);
        for row in &self.rows {
            let name = format!("{}, {}", printable(&row.candidate.facts.name), kind(row.candidate));
            let cells = row.cells.iter().map(|cell| {
                let parts = [cell.mark.sign(), cell.mark.word(), &cell.words];
                let parts = parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>();
                printable(&parts.join(" "))
            });
            section.rows.push(std::iter::once(name).chain(cells).collect());
        }
        section
    }
}

/// What kind of system a candidate is, and whether its version is no longer supported.
pub(super) fn kind(candidate: &Candidate) -> String {
    let kind = if candidate.facts.is_server { "server" } else { "embedded" };
    if candidate.facts.end_of_life { format!("{kind}, end of life") } else { kind.to_owned() }
}

/// Aspects of which something is known of any system.
fn measured_aspects(decision: &Decision) -> Vec<Aspect> {
    let has = |dimension: &Dimension| {
        decision.candidates.iter().any(|candidate| candidate.figures.contains_key(dimension))
    };
    let dimensions = Dimension::ALL.into_iter().filter(has).map(Aspect::Dimension);
    let capacity = decision.candidates.iter().any(|candidate| candidate.facts.capacity.is_some());
    dimensions.chain(capacity.then_some(Aspect::Capacity)).collect()
}

/// Cell of an aspect in which the user has no need.
fn measured_cell(decision: &Decision, index: usize, candidate: &Candidate, aspect: Aspect) -> Cell {
    let mark = mark_of_best(decision, index, aspect);
    match aspect {
        Aspect::Capacity => match &candidate.facts.capacity {
            Some(Measured::Value(measurement)) => Cell {
                mark,
                short: measured_value(measurement),
                words: measurement_words(measurement),
                is_estimate: false,
            },
            Some(Measured::Failed(reason)) => failed_cell(reason),
            Some(Measured::Absent(reason)) => untested_cell(reason),
            None => untested_cell("not measured"),
        },
        Aspect::Dimension(dimension) => match candidate.figures.get(&dimension) {
            Some(figure) if is_known(figure) => cell(mark, figure, None),
            Some(figure) => untested_cell(&figure.words),
            None => {
                let reason = candidate.facts.untested.get(&dimension);
                untested_cell(reason.map_or("not measured", String::as_str))
            }
        },
    }
}

/// Returns `true` if the figure says something about the system, and not only why nothing is known.
fn is_known(figure: &Figure) -> bool {
    figure.value.is_some() || figure.short != NONE
}

fn mark_of_best(decision: &Decision, index: usize, aspect: Aspect) -> Mark {
    let Some(best) = decision.best.iter().find(|best| Aspect::of_criterion(best.criterion) == aspect) else {
        return Mark::Measured;
    };
    let is_compared = !best.tied.is_empty() || !best.worse.is_empty();
    match index {
        index if index == best.first && best.leads() => Mark::Best,
        index if (index == best.first && is_compared) || best.tied.contains(&index) => Mark::NotWorse,
        _ => Mark::Measured,
    }
}

fn cell(mark: Mark, figure: &Figure, reason: Option<&str>) -> Cell {
    let short = if figure.short == NONE { String::new() } else { printable(&figure.short) };
    Cell {
        mark,
        short: if figure.is_estimate && !short.starts_with('≈') { format!("≈ {short}") } else { short },
        words: printable_long(reason.unwrap_or(&figure.words)),
        is_estimate: figure.is_estimate,
    }
}

fn untested_cell(reason: &str) -> Cell {
    Cell { mark: Mark::NotTested, short: String::new(), words: printable_long(reason), is_estimate: false }
}

fn failed_cell(reason: &str) -> Cell {
    let words = format!("failed: {}", printable_long(reason));
    Cell { mark: Mark::NotMet, short: "failed".to_owned(), words, is_estimate: false }
}

/// Value of a measurement with its unit.
pub(super) fn measured_value(measurement: &Measurement) -> String {
    value_text(measurement.unit, measurement.value)
}

/// A value in its unit, as the sentences of decisions write it.
pub(super) fn value_text(unit: Unit, value: f64) -> String {
    match unit {
        Unit::Seconds => figures::duration(value),
        Unit::Share => figures::percent(value),
        unit => format::metric_value(unit, value),
    }
}

/// Value of a measurement with its interval, the number of rounds, and why it is doubtful.
pub(super) fn measurement_words(measurement: &Measurement) -> String {
    let mut words = measured_value(measurement);
    if let Some([low, high]) = measurement.interval {
        let limit = |value: f64| value_text(measurement.unit, value);
        words.push_str(&format!(" ({} … {})", limit(low), limit(high)));
    }
    match measurement.rounds() {
        0 => {}
        1 => words.push_str(", 1 round"),
        rounds => words.push_str(&format!(", {rounds} rounds")),
    }
    if let Some(doubt) = &measurement.doubt {
        words.push_str(&format!("; {doubt}"));
    }
    words
}
