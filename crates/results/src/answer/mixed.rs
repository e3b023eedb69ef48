//! Answers about mixed loads: who asks most beside writers, and who inserts most alone.

use jsonathlon_schema::record::{ALL_QUESTIONS, Cell, INGEST, Phase};
use jsonathlon_schema::workload::WorkloadKind;

use super::contest::{Contest, Topic};
use super::context::{Context, Ranking};
use super::sentence::Wording;
use super::{Answer, AnswerSubject, correctness};
use crate::ratio_to_best::RankedCell;

/// Comparisons of this workload, in the order in which they are said.
const COMPARISONS: [Comparison; 3] = [
    Comparison { phase: Phase::Both, step: ALL_QUESTIONS, relation: "the questions per hour of" },
    Comparison { phase: Phase::Both, step: INGEST, relation: "shorter p95 response of a batch than" },
    Comparison { phase: Phase::Alone, step: INGEST, relation: "the documents per second of" },
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
        answers.extend(COMPARISONS.iter().filter_map(|comparison| comparison.answer(context, ranking)));
    }
    answers.extend(correctness::answers(context, WorkloadKind::Mixed));
    answers
}

impl Comparison {
    /// `None` if fewer than two configurations can be compared.
    fn answer(&self, context: &Context<'_>, ranking: &Ranking) -> Option<Answer> {
        let is_meant = |cell: &Cell| cell.phase == self.phase && cell.step.word() == self.step;
        let mut cells: Vec<&RankedCell<'_>> = context.cells_of(ranking, WorkloadKind::Mixed);
        cells.retain(|ranked| {
            let entry = ranked.entry;
            is_meant(&entry.cell) && entry.value(entry.headline()).is_some()
        });
        if cells.len() < 2 {
            return None;
        }
        let cell = &cells.first()?.entry.cell;
        let who = match (self.phase, self.step) {
            (Phase::Alone, _) => "writers alone",
            (_, INGEST) => "writers beside questions",
            _ => "questions beside writers",
        };
        let conditions = format!("{who}, {}", cell.dimension_labels().join(", "));
        let topic = Topic {
            workload: WorkloadKind::Mixed,
            ranking: &ranking.name,
            subject: AnswerSubject::Throughput,
            conditions,
            wording: Wording {
                conditions: who.to_owned(),
                deed: String::new(),
                relation: self.relation,
                scope: String::new(),
                is_minimum: false,
                exceptions: String::new(),
            },
        };
        let contest = Contest::of_cells(context, &cells)?;
        let outcome = contest.outcome(context)?;
        let caveats = contest.caveats(context, &outcome, false);
        Some(topic.answer(context, outcome, caveats))
    }
}
