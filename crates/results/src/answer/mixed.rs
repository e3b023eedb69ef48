//! Answers about mixed loads: who asks most beside writers, whose writers respond soonest, who inserts most alone, whose
//! questions see the newest documents, and who could not keep the rate.

use jsonathlon_schema::metric::{
    DOCUMENTS_PER_S, INSERT_RESPONSE_P95_US, KEPT_SHARE, MetricDef, QUESTIONS_PER_H, STALE_P95_MS,
};
use jsonathlon_schema::record::{ALL_QUESTIONS, Cell, INGEST, Phase, RATE, WRITERS};
use jsonathlon_schema::severity::Severity;
use jsonathlon_schema::workload::WorkloadKind;
use jsonathlon_stats::batch_schedule::KEPT_LIMIT;

use super::contest::{Contest, Topic};
use super::context::{Context, Ranking};
use super::draft::AnswerDraft;
use super::sentence::{Wording, with_list};
use super::{Answer, AnswerOutcome, AnswerSubject, correctness};
use crate::number_format::{integer, seconds};
use crate::ratio_to_best::{RankedCell, dimensions};

/// Comparisons of this workload, in the order in which they are said.
const COMPARISONS: [Comparison; 4] = [
    Comparison { phase: Phase::Both, step: ALL_QUESTIONS },
    Comparison { phase: Phase::Both, step: INGEST },
    Comparison { phase: Phase::Alone, step: INGEST },
    Comparison { phase: Phase::Still, step: ALL_QUESTIONS },
];

/// Heading of the answers about what questions beside writers do not see yet.
const FRESHNESS: &str = "Freshness";

/// What is compared between configurations.
struct Comparison {
    phase: Phase,
    step: &'static str,
}

/// Words around the ratio of a metric.
struct MetricWords {
    subject: AnswerSubject,
    /// What the leader does.
    deed: &'static str,
    /// What follows the ratio.
    relation: &'static str,
    /// What was compared, in sentences without a leader.
    scope: &'static str,
}

impl MetricWords {
    /// `None` for a metric that cells of this workload are not compared by.
    fn of(metric: &MetricDef) -> Option<Self> {
        let (subject, deed, relation, scope) = match metric.name {
            name if name == QUESTIONS_PER_H.name => (
                AnswerSubject::Throughput,
                "answers",
                "as many questions per hour as",
                "in questions per hour",
            ),
            name if name == INSERT_RESPONSE_P95_US.name => {
                (AnswerSubject::ResponseTime, "responds", "faster at p95 than", "in p95 response of a batch")
            }
            name if name == DOCUMENTS_PER_S.name => {
                (AnswerSubject::Throughput, "inserts", "as many documents/s as", "in documents/s")
            }
            name if name == STALE_P95_MS.name => (
                AnswerSubject::Freshness,
                "lags",
                "less behind the writers at p95 than",
                "in staleness at p95",
            ),
            _ => return None,
        };
        Some(Self { subject, deed, relation, scope })
    }
}

/// Answers of a run of mixed loads. Configurations that did not keep the rate are not compared beside writers.
pub(super) fn answers(context: &Context<'_>) -> Vec<Answer> {
    let mut answers = Vec::new();
    for ranking in &context.rankings {
        answers.extend(COMPARISONS.iter().flat_map(|comparison| comparison.answers(context, ranking)));
        answers.extend(freshness(context, ranking));
        answers.extend(rates_not_kept(context, ranking));
    }
    answers.extend(correctness::answers(context, WorkloadKind::Mixed));
    answers
}

/// Comparable cells that were measured under the same load.
struct Load<'c, 'a> {
    cells: Vec<&'c RankedCell<'a>>,
    /// Words of the load.
    labels: Vec<String>,
    /// Those of them that tell it from other loads of the same comparison.
    differing: Vec<String>,
}

impl<'c, 'a> Load<'c, 'a> {
    /// Loads under which the selected cells were measured, in the order of measurement.
    fn find_all(
        context: &'c Context<'a>,
        ranking: &Ranking,
        is_selected: impl Fn(&RankedCell<'_>) -> bool,
    ) -> Vec<Self> {
        let mut found: Vec<(_, Self)> = Vec::new();
        for ranked in context.cells_of(ranking, WorkloadKind::Mixed) {
            if !is_selected(ranked) {
                continue;
            }
            let key = dimensions(&ranked.entry.cell);
            match found.iter_mut().find(|(known, _)| *known == key) {
                Some((_, load)) => load.cells.push(ranked),
                None => {
                    let labels = ranked.entry.cell.dimension_labels();
                    found.push((key, Self { cells: vec![ranked], labels, differing: Vec::new() }));
                }
            }
        }
        let all: Vec<Vec<String>> = found.iter().map(|(_, load)| load.labels.clone()).collect();
        let is_differing = |label: &&String| !all.iter().all(|labels| labels.contains(label));
        for (_, load) in &mut found {
            load.differing = load.labels.iter().filter(is_differing).cloned().collect();
        }
        found.into_iter().map(|(_, load)| load).collect()
    }

    /// A heading, followed by what tells this load from others.
    fn heading(&self, heading: &str) -> String {
        std::iter::once(heading)
            .chain(self.differing.iter().map(String::as_str))
            .collect::<Vec<_>>()
            .join(", ")
    }

    /// A heading, followed by all words of the load, those that tell it from others first.
    fn conditions(&self, heading: &str) -> String {
        let further = self.labels.iter().filter(|label| !self.differing.contains(label));
        let further = further.map(String::as_str);
        std::iter::once(self.heading(heading).as_str()).chain(further).collect::<Vec<_>>().join(", ")
    }

    /// Answer of a comparison of all cells by a metric. `None` if nothing can be compared.
    fn compare(
        &self,
        context: &Context<'_>,
        ranking: &Ranking,
        metric: &MetricDef,
        heading: &str,
    ) -> Option<Answer> {
        let MetricWords { subject, deed, relation, scope } = MetricWords::of(metric)?;
        let wording = Wording {
            conditions: self.heading(heading),
            deed: deed.to_owned(),
            relation,
            scope: scope.to_owned(),
            ..Wording::default()
        };
        let topic = Topic {
            workload: WorkloadKind::Mixed,
            ranking: &ranking.name,
            subject,
            conditions: self.conditions(heading),
            wording,
        };
        let contest = Contest::by_metric(context, &self.cells, metric)?;
        let outcome = contest.outcome(context)?;
        let caveats = contest.caveats(context, &outcome, false);
        Some(topic.answer(context, outcome, caveats))
    }
}

impl Comparison {
    /// One answer for each load under which configurations were measured.
    fn answers(&self, context: &Context<'_>, ranking: &Ranking) -> Vec<Answer> {
        let is_selected = |ranked: &RankedCell<'_>| {
            let entry = ranked.entry;
            self.is_meant(&entry.cell) && entry.value(entry.headline()).is_some()
        };
        let answer = |load: &Load<'_, '_>| {
            let metric = load.cells.first()?.entry.headline();
            let heading = match (self.phase, self.step) {
                (Phase::Still, _) => format!("{} on still data", load.labels.join(", ")),
                (Phase::Alone, _) => "Writers alone".to_owned(),
                (_, INGEST) => "Writers beside questions".to_owned(),
                _ => "Questions beside writers".to_owned(),
            };
            if self.phase == Phase::Still {
                // The heading has all words of the load.
                let load = Load { cells: load.cells.clone(), labels: Vec::new(), differing: Vec::new() };
                return load.compare(context, ranking, metric, &heading);
            }
            load.compare(context, ranking, metric, &heading)
        };
        Load::find_all(context, ranking, is_selected).iter().filter_map(answer).collect()
    }

    fn is_meant(&self, cell: &Cell) -> bool {
        // Before writers begin, the phase is there to be compared with others, not with other systems.
        let is_before_writers = cell.phase == Phase::Still && cell.parameters.contains_key(WRITERS);
        cell.phase == self.phase && cell.step.word() == self.step && !is_before_writers
    }
}

/// How old the oldest acknowledged documents are that questions beside writers do not see, one answer for each load. A
/// factor is given only if none is zero.
fn freshness(context: &Context<'_>, ranking: &Ranking) -> Vec<Answer> {
    let is_selected = |ranked: &RankedCell<'_>| {
        let cell = &ranked.entry.cell;
        let is_asked = cell.phase == Phase::Both && cell.step.word() == ALL_QUESTIONS;
        is_asked && ranked.entry.value(&STALE_P95_MS).is_some()
    };
    let answer = |load: &Load<'_, '_>| {
        let is_positive = |ranked: &&RankedCell<'_>| {
            let rounds = context.rounds.values(ranked.entry, &STALE_P95_MS);
            rounds.values().flatten().all(|value| *value > 0.0)
        };
        match load.cells.len() {
            0 | 1 => None,
            _ if load.cells.iter().all(is_positive) => {
                load.compare(context, ranking, &STALE_P95_MS, FRESHNESS)
            }
            _ => staleness(context, ranking, load),
        }
    };
    Load::find_all(context, ranking, is_selected).iter().filter_map(answer).collect()
}

/// Answer with the staleness of each configuration, of which some have none, so that there is no ratio.
fn staleness(context: &Context<'_>, ranking: &Ranking, load: &Load<'_, '_>) -> Option<Answer> {
    let value = |ranked: &&RankedCell<'_>| {
        let index = context.index_of(&ranked.entry.cell)?;
        Some((index, ranked.entry.value(&STALE_P95_MS)?))
    };
    let mut values: Vec<(usize, f64)> = load.cells.iter().filter_map(value).collect();
    values.sort_by(|(_, a), (_, b)| a.total_cmp(b));
    let (_, least) = *values.first()?;
    let describe = |(index, ms): &(usize, f64)| format!("{} ({})", seconds(ms / 1e3), context.name(*index));
    let each: Vec<String> = values.iter().map(describe).collect();
    let heading = load.heading(FRESHNESS);
    let sentence =
        with_list(&each, |each| format!("{heading}: at p95 questions lag behind writers by {each}"));
    let is_least = |(index, value): &(usize, f64)| (*value <= least).then_some(*index);
    let first = values.iter().filter_map(is_least).collect();
    let outcome = AnswerOutcome::Counted { first, value: format!("{} at p95", seconds(least / 1e3)) };
    let conditions = load.conditions(FRESHNESS);
    let draft = AnswerDraft {
        workload: WorkloadKind::Mixed.into(),
        ranking: ranking.name.clone(),
        subject: AnswerSubject::Freshness,
        conditions,
        outcome,
        sentence,
        severity: Severity::Good,
    };
    Some(draft.counted(context))
}

/// Configurations whose writers did not keep the rate, so that their questions are not compared. `None` if all did.
fn rates_not_kept(context: &Context<'_>, ranking: &Ranking) -> Option<Answer> {
    let mut kept = Vec::new();
    let mut behind = Vec::new();
    for member in &ranking.members {
        let mut is_behind = false;
        let mut is_at_rate = false;
        for entry in context.entries_of(*member, WorkloadKind::Mixed) {
            let cell = &entry.cell;
            let rate = cell.parameters.get(RATE).and_then(serde_json::Value::as_f64);
            let (Phase::Both, INGEST, Some(rate)) = (cell.phase, cell.step.word(), rate) else { continue };
            let (Some(share), Some(reached)) = (entry.value(&KEPT_SHARE), entry.value(&DOCUMENTS_PER_S))
            else {
                continue;
            };
            is_at_rate = true;
            if share < KEPT_LIMIT {
                is_behind = true;
                let (name, reached, rate) = (context.name(*member), integer(reached), integer(rate));
                behind.push(format!("{name} kept {reached} of {rate}/s"));
            }
        }
        if is_at_rate && !is_behind {
            kept.push(*member);
        }
    }
    if behind.is_empty() {
        return None;
    }
    let sentence =
        with_list(&behind, |behind| format!("Rate not kept, so not compared beside writers: {behind}"));
    let value = match kept.len() {
        1 => "1 configuration kept the rate".to_owned(),
        several => format!("{several} configurations kept the rate"),
    };
    let outcome = AnswerOutcome::Counted { first: kept, value };
    let draft = AnswerDraft {
        workload: WorkloadKind::Mixed.into(),
        ranking: ranking.name.clone(),
        subject: AnswerSubject::KeptRate,
        conditions: String::new(),
        outcome,
        sentence,
        severity: Severity::Warning,
    };
    Some(draft.counted(context))
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
            MetricWords::of(headline(&cell, |_| true)).unwrap().relation
        };
        let at_rate = words(Phase::Both, INGEST, 2_000.into());
        assert!(at_rate.contains("faster at p95"), "{at_rate}");
        for phase in [Phase::Both, Phase::Alone] {
            let at_full_speed = words(phase, INGEST, FULL_SPEED.into());
            assert!(at_full_speed.contains("documents/s"), "{at_full_speed}");
        }
        assert!(words(Phase::Both, ALL_QUESTIONS, FULL_SPEED.into()).contains("questions per hour"));
    }
}
