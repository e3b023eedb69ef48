//! Answers about clients' operations: throughput of closed loops, and response times of open loops.

use jsonathlon_schema::metric::{BetterDirection, RESPONSE_P99_US};
use jsonathlon_schema::record::{ARRIVAL, CLIENTS, Cell, Phase, RATE_PER_S, RATE_SHARE, SLO, Verdict};
use jsonathlon_schema::workload::WorkloadKind;

use super::contest::{Contest, Topic};
use super::context::{Context, Ranking};
use super::sentence::Wording;
use super::{Answer, AnswerSubject, correctness};
use crate::cell_summary::CellSummary;
use crate::ratio_to_best::{CellRatio, RankedCell, dimensions};

/// Parameters that conditions name even if they are the same for all mixes.
const ALWAYS_NAMED: [&str; 5] = [CLIENTS, ARRIVAL, RATE_PER_S, RATE_SHARE, SLO];

pub(super) fn answers(context: &Context<'_>) -> Vec<Answer> {
    let mut answers = Vec::new();
    for ranking in &context.rankings {
        for mix in Mix::find_all(context, ranking) {
            if mix.is_open() {
                answers.extend(mix.response_time(context, ranking));
            } else {
                answers.extend(mix.throughput(context, ranking));
                answers.extend(mix.peak(context, ranking));
            }
        }
    }
    answers.extend(correctness::answers(context, WorkloadKind::Serving));
    answers
}

/// Comparable cells of one mix under the same conditions. Closed loops have cells for all numbers of clients.
struct Mix<'c, 'a> {
    cells: Vec<&'c RankedCell<'a>>,
}

impl<'c, 'a> Mix<'c, 'a> {
    /// Mixes of a ranking, in the order in which they were measured.
    fn find_all(context: &'c Context<'a>, ranking: &Ranking) -> Vec<Self> {
        let key = |cell: &Cell| {
            let mut cell = cell.clone();
            if !cell.is_open_loop() {
                cell.parameters.remove(CLIENTS);
            }
            (cell.step.clone(), dimensions(&cell))
        };
        let mut mixes: Vec<(_, Self)> = Vec::new();
        for ranked in context.cells_of(ranking, WorkloadKind::Serving) {
            let (cell, entry) = (&ranked.entry.cell, ranked.entry);
            let is_mix = cell.phase == Phase::Measured && !cell.is_single_operation();
            if !is_mix || entry.value(entry.headline()).is_none() {
                continue;
            }
            let key = key(cell);
            match mixes.iter_mut().find(|(known, _)| *known == key) {
                Some((_, mix)) => mix.cells.push(ranked),
                None => mixes.push((key, Self { cells: vec![ranked] })),
            }
        }
        mixes.into_iter().map(|(_, mix)| mix).collect()
    }

    /// Returns `true` if operations arrive at a given rate, so that response times are compared.
    fn is_open(&self) -> bool {
        self.cells
            .iter()
            .any(|cell| cell.entry.cell.is_open_loop() && !cell.entry.cell.parameters.contains_key(SLO))
    }

    /// Conditions of a cell for readers: `mix a, 8 clients`. Parameters that are the same in all mixes of the
    /// run are left out.
    fn conditions(context: &Context<'_>, cell: &Cell) -> String {
        let is_constant = |name: &String, value: &serde_json::Value| {
            let mut measured =
                context.parts.entries.iter().filter(|entry| entry.cell.phase == Phase::Measured);
            measured.all(|entry| entry.cell.parameters.get(name) == Some(value))
        };
        let mut cell = cell.clone();
        cell.parameters
            .retain(|name, value| ALWAYS_NAMED.contains(&name.as_str()) || !is_constant(name, value));
        format!("mix {}", cell.name())
    }

    /// Highest throughput at the largest number of clients that all configurations were measured with. For a
    /// service-level objective, the highest rate that meets it.
    fn throughput(&self, context: &Context<'_>, ranking: &Ranking) -> Option<Answer> {
        let clients = self.common_clients()?;
        let cells: Vec<&RankedCell<'_>> =
            self.cells.iter().copied().filter(|ranked| clients_of(ranked) == clients).collect();
        let cell = &cells.first()?.entry.cell;
        let relation = if cell.parameters.contains_key(SLO) { "the rate of" } else { "the throughput of" };
        let topic = topic(ranking, AnswerSubject::Throughput, Self::conditions(context, cell), relation);
        answer(context, &Contest::of_cells(context, &cells)?, topic)
    }

    /// Largest number of clients that all configurations have. If they have none in common, the one that most
    /// of them have.
    fn common_clients(&self) -> Option<u64> {
        let having = |clients: u64| self.cells.iter().filter(|cell| clients_of(cell) == clients).count();
        let numbers = self.cells.iter().map(|cell| clients_of(cell));
        numbers.max_by_key(|clients| (having(*clients), *clients))
    }

    /// Highest throughput at each configuration's best number of clients. `None` if all have the same one.
    fn peak(&self, context: &Context<'_>, ranking: &Ranking) -> Option<Answer> {
        let first = self.cells.first()?;
        if self.cells.iter().all(|cell| clients_of(cell) == clients_of(first)) {
            return None;
        }
        let find = |result: &CellRatio| self.cells.iter().find(|ranked| ranked.entry.cell == result.cell);
        let peaks = context.parts.peaks.iter().map(|peak| &peak.comparison);
        let results: Vec<CellRatio> = peaks.filter(|result| find(result).is_some()).cloned().collect();
        let is_approximate = |entry: &CellSummary| entry.verdict == Verdict::Approximate;
        let approximate = results.iter().filter_map(|result| {
            let ranked = find(result).filter(|ranked| is_approximate(ranked.entry))?;
            context.index_of(&ranked.entry.cell)
        });
        let approximate = approximate.collect();
        let mut cell = first.entry.cell.clone();
        cell.parameters.remove(CLIENTS);
        let conditions = format!("{}, any number of clients", Self::conditions(context, &cell));
        let topic = topic(ranking, AnswerSubject::Throughput, conditions, "the throughput of");
        let contest = Contest::from_results(context, results, BetterDirection::Higher, approximate);
        answer(context, &contest, topic)
    }

    /// Shortest response time (p99) at the same rate of arrivals. `None` if fewer than two configurations have
    /// response times at this rate.
    fn response_time(&self, context: &Context<'_>, ranking: &Ranking) -> Option<Answer> {
        let has_response = |ranked: &&RankedCell<'_>| *ranked.entry.headline() == RESPONSE_P99_US;
        let cells: Vec<&RankedCell<'_>> = self.cells.iter().copied().filter(has_response).collect();
        if cells.len() < 2 {
            return None;
        }
        let conditions = Self::conditions(context, &cells.first()?.entry.cell);
        let topic = topic(ranking, AnswerSubject::ResponseTime, conditions, "shorter p99 response time than");
        answer(context, &Contest::of_cells(context, &cells)?, topic)
    }
}

fn clients_of(ranked: &RankedCell<'_>) -> u64 {
    ranked.entry.cell.parameters.get(CLIENTS).and_then(serde_json::Value::as_u64).unwrap_or(0)
}

fn topic<'t>(
    ranking: &'t Ranking,
    subject: AnswerSubject,
    conditions: String,
    relation: &'static str,
) -> Topic<'t> {
    Topic {
        workload: WorkloadKind::Serving,
        ranking: &ranking.name,
        subject,
        conditions: conditions.clone(),
        wording: Wording { conditions, relation, ..Wording::default() },
    }
}

fn answer(context: &Context<'_>, contest: &Contest, topic: Topic<'_>) -> Option<Answer> {
    let outcome = contest.outcome(context)?;
    let caveats = contest.caveats(context, &outcome, false);
    Some(topic.answer(context, outcome, caveats))
}
