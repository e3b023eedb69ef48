//! Answers about mixed loads: who asks most beside writers, and who inserts most alone.

use jsonathlon_schema::record::{ALL_QUESTIONS, Cell, INGEST, Phase, WRITERS};
use jsonathlon_schema::workload::WorkloadKind;

use super::contest::{Contest, Topic};
use super::context::{Context, Ranking};
use super::sentence::Wording;
use super::{Answer, AnswerSubject, correctness};
use crate::ratio_to_best::{RankedCell, dimensions};

/// Comparisons of this workload, in the order in which they are said.
const COMPARISONS: [Comparison; 4] = [
    Comparison { phase: Phase::Both, step: ALL_QUESTIONS, relation: "the questions per hour of" },
    Comparison { phase: Phase::Both, step: INGEST, relation: "shorter p95 response of a batch than" },
    Comparison { phase: Phase::Alone, step: INGEST, relation: "the documents per second of" },
    Comparison { phase: Phase::Still, step: ALL_QUESTIONS, relation: "the questions per hour of" },
];

/// What is compared between configurations.
struct Comparison {
    phase: Phase,
    step: &'static str,
    /// What follows the ratio in a sentence.
    relation: &'static str,
}

/// Answers of a run of mixed loads. Configurations that did not keep the rate are not compared beside writers.
pub(super) fn answers(context: &Context<'_>) -> Vec<Answer> {
    let mut answers = Vec::new();
    for ranking in &context.rankings {
        answers.extend(COMPARISONS.iter().flat_map(|comparison| comparison.answers(context, ranking)));
    }
    answers.extend(correctness::answers(context, WorkloadKind::Mixed));
    answers
}

impl Comparison {
    /// One answer for each load under which configurations were measured.
    fn answers(&self, context: &Context<'_>, ranking: &Ranking) -> Vec<Answer> {
        let mut loads: Vec<(_, Vec<&RankedCell<'_>>)> = Vec::new();
        for ranked in context.cells_of(ranking, WorkloadKind::Mixed) {
            let entry = ranked.entry;
            if !self.is_meant(&entry.cell) || entry.value(entry.headline()).is_none() {
                continue;
            }
            let load = dimensions(&entry.cell);
            match loads.iter_mut().find(|(known, _)| *known == load) {
                Some((_, cells)) => cells.push(ranked),
                None => loads.push((load, vec![ranked])),
            }
        }
        loads.iter().filter_map(|(_, cells)| self.answer(context, ranking, cells)).collect()
    }

    fn is_meant(&self, cell: &Cell) -> bool {
        // Before writers begin, the phase is there to be compared with others, not with other systems.
        let is_before_writers = cell.phase == Phase::Still && cell.parameters.contains_key(WRITERS);
        cell.phase == self.phase && cell.step.word() == self.step && !is_before_writers
    }

    /// `None` if fewer than two configurations can be compared.
    fn answer(&self, context: &Context<'_>, ranking: &Ranking, cells: &[&RankedCell<'_>]) -> Option<Answer> {
        if cells.len() < 2 {
            return None;
        }
        let labels = cells.first()?.entry.cell.dimension_labels().join(", ");
        let who = match (self.phase, self.step) {
            (Phase::Still, _) => format!("{labels} on still data"),
            (Phase::Alone, _) => "writers alone".to_owned(),
            (_, INGEST) => "writers beside questions".to_owned(),
            _ => "questions beside writers".to_owned(),
        };
        let conditions = match self.phase {
            Phase::Still => who.clone(),
            _ => format!("{who}, {labels}"),
        };
        let topic = Topic {
            workload: WorkloadKind::Mixed,
            ranking: &ranking.name,
            subject: AnswerSubject::Throughput,
            conditions,
            wording: Wording {
                conditions: who,
                deed: String::new(),
                relation: self.relation,
                scope: String::new(),
                is_minimum: false,
                exceptions: String::new(),
            },
        };
        let contest = Contest::of_cells(context, cells)?;
        let outcome = contest.outcome(context)?;
        let caveats = contest.caveats(context, &outcome, false);
        Some(topic.answer(context, outcome, caveats))
    }
}
