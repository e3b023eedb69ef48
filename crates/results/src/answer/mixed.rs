//! Answers about mixed loads: who asks most beside writers, and who inserts most alone.

use jsonathlon_schema::metric::{DOCUMENTS_PER_S, INSERT_RESPONSE_P95_US, MetricDef, QUESTIONS_PER_H};
use jsonathlon_schema::record::{ALL_QUESTIONS, Cell, INGEST, Phase, WRITERS};
use jsonathlon_schema::workload::WorkloadKind;

use super::contest::{Contest, Topic};
use super::context::{Context, Ranking};
use super::sentence::Wording;
use super::{Answer, AnswerSubject, correctness};
use crate::ratio_to_best::{RankedCell, dimensions};

/// Comparisons of this workload, in the order in which they are said.
const COMPARISONS: [Comparison; 4] = [
    Comparison { phase: Phase::Both, step: ALL_QUESTIONS },
    Comparison { phase: Phase::Both, step: INGEST },
    Comparison { phase: Phase::Alone, step: INGEST },
    Comparison { phase: Phase::Still, step: ALL_QUESTIONS },
];

/// What is compared between configurations.
struct Comparison {
    phase: Phase,
    step: &'static str,
}

/// What follows the ratio of a headline metric in a sentence. `None` for a metric that cells of this workload are
/// not compared by.
fn relation(metric: &MetricDef) -> Option<&'static str> {
    let relations = [
        (QUESTIONS_PER_H, "the questions per hour of"),
        (INSERT_RESPONSE_P95_US, "shorter p95 response of a batch than"),
        (DOCUMENTS_PER_S, "the documents per second of"),
    ];
    relations.into_iter().find_map(|(known, relation)| (known.name == metric.name).then_some(relation))
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
        let first = cells.first()?.entry;
        let relation = relation(first.headline())?;
        let labels = first.cell.dimension_labels().join(", ");
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
                relation,
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

#[cfg(test)]
mod tests {
    use jsonathlon_schema::id::ConfigurationId;
    use jsonathlon_schema::metric::headline;
    use jsonathlon_schema::record::{FULL_SPEED, RATE};

    use super::*;

    #[test]
    fn writers_are_compared_in_words_of_what_they_are_compared_by() {
        let words = |phase: Phase, step: &str, rate: serde_json::Value| {
            let cell = Cell {
                workload: WorkloadKind::Mixed.into(),
                id: ConfigurationId::new("a", "1", "json", ""),
                profile: None,
                step: step.to_owned().into(),
                phase,
                state: None,
                parameters: [(RATE.to_owned(), rate)].into_iter().collect(),
            };
            relation(headline(&cell, |_| true)).unwrap()
        };
        let at_rate = words(Phase::Both, INGEST, 2_000.into());
        assert!(at_rate.contains("p95 response"), "{at_rate}");
        for phase in [Phase::Both, Phase::Alone] {
            let at_full_speed = words(phase, INGEST, FULL_SPEED.into());
            assert!(at_full_speed.contains("documents per second"), "{at_full_speed}");
        }
        assert!(words(Phase::Both, ALL_QUESTIONS, FULL_SPEED.into()).contains("questions per hour"));
    }
}
