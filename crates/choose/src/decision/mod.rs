//! The decision: who meets the needs, who is best among them, and why the others do not.

mod best;
mod changes;
mod comparison;
mod domination;
mod headline;
mod json;
mod notes;

use std::collections::BTreeMap;

use crate::dimension::Dimension;
use crate::facts::SystemFacts;
use crate::judgement::{Figure, Judgement, NeedState, figure, judge};
use crate::needs::{Criterion, Need, NeedsFile};

/// Decision over all systems of a choice.
#[derive(Debug, Clone, PartialEq)]
pub struct Decision {
    /// The decision in at most two sentences.
    pub headline: String,
    /// Needs that were judged, in the order of their columns. Empty if the user stated none.
    pub needs: Vec<Need>,
    /// All systems: those that meet all needs first, the best one first, then by how much they miss.
    pub candidates: Vec<Candidate>,
    /// Best system by criterion, in the order in which criteria count: among those that meet all needs, or
    /// among all systems if the user stated none.
    pub best: Vec<Best>,
    /// What would change the decision: which need, moved how far, lets whom in or out. Sentences.
    pub changes: Vec<String>,
    /// Wrong answers and crashes, whether a need is about them or not. One sentence for each system and part.
    pub faults: Vec<String>,
    /// What a reader should know besides: dominated systems, estimates, old versions, changed documents.
    /// Sentences.
    pub notes: Vec<String>,
}

/// One system in the decision.
#[derive(Debug, Clone, PartialEq)]
pub struct Candidate {
    /// What the runs found out about it.
    pub facts: SystemFacts,
    /// Judgements in the order of [`Decision::needs`].
    pub judgements: Vec<Judgement>,
    /// What is known in each dimension: of needed ones as they were judged, of others by their default
    /// (p99, sizes of the loaded documents). Dimensions in which nothing was asked are absent.
    pub figures: BTreeMap<Dimension, Figure>,
    /// Whether every need is met. `true` if there are no needs.
    pub meets_all: bool,
    /// Name of a system that equals or beats this one in every measured dimension, and is shown to beat it in
    /// one. `None` if there is none.
    pub dominated_by: Option<String>,
}

impl Candidate {
    fn new(facts: SystemFacts, needs: &[Need]) -> Self {
        let judgements: Vec<Judgement> = needs.iter().map(|need| judge(need, &facts)).collect();
        let mut figures: BTreeMap<Dimension, Figure> = Dimension::ALL
            .into_iter()
            .filter_map(|dimension| Some((dimension, figure(dimension, &facts)?)))
            .collect();
        figures.extend(judgements.iter().map(|one| (one.need.dimension(), one.figure.clone())));
        let meets_all = judgements.iter().all(|judgement| judgement.state == NeedState::Met);
        Self { facts, judgements, figures, meets_all, dominated_by: None }
    }

    /// Judgement of a dimension. `None` if the user has no need in it.
    #[must_use]
    pub fn judgement(&self, dimension: Dimension) -> Option<&Judgement> {
        self.judgements.iter().find(|judgement| judgement.need.dimension() == dimension)
    }

    /// Needs that are not met for whatever reason, those that are shown not to be met first.
    pub(crate) fn missed(&self) -> Vec<&Judgement> {
        let mut missed: Vec<&Judgement> =
            self.judgements.iter().filter(|judgement| judgement.state != NeedState::Met).collect();
        missed.sort_by_key(|judgement| judgement.state != NeedState::NotMet);
        missed
    }

    /// How much the candidate misses, by which candidates are sorted: number of needs that are not met, of
    /// those that are shown not to be, and the largest factor among these.
    pub(crate) fn shortfall(&self) -> (usize, usize, f64) {
        let missed = self.missed();
        let shown = missed.iter().filter(|judgement| judgement.state == NeedState::NotMet);
        let factor = shown.clone().filter_map(|judgement| judgement.factor).fold(1.0, f64::max);
        (missed.len(), shown.count(), factor)
    }
}

/// Best system by one criterion.
#[derive(Debug, Clone, PartialEq)]
pub struct Best {
    /// Criterion by which systems were compared.
    pub criterion: Criterion,
    /// Index of the best one among [`Decision::candidates`], by its median.
    pub first: usize,
    /// Indexes of those that are not shown to be worse, the closest first. Empty if the first one leads.
    pub tied: Vec<usize>,
    /// Indexes of those that are shown to be worse, the closest first.
    pub worse: Vec<usize>,
    /// Indexes of those without a figure that counts, which may be better than the first one.
    pub unknown: Vec<usize>,
    /// The comparison in one sentence.
    pub sentence: String,
}

impl Best {
    /// Whether the first one is shown to be better than all others.
    #[must_use]
    pub fn leads(&self) -> bool {
        self.tied.is_empty() && self.unknown.is_empty() && !self.worse.is_empty()
    }
}

impl Decision {
    /// Decides which systems meet the needs and which of them is best.
    #[must_use]
    pub fn new(needs: &NeedsFile, facts: Vec<SystemFacts>) -> Self {
        let mut candidates: Vec<Candidate> =
            facts.into_iter().map(|facts| Candidate::new(facts, &needs.needs)).collect();
        let order = best::criteria(needs);
        best::sort(&mut candidates, &order, !needs.needs.is_empty());
        domination::find(&mut candidates, &order);
        let best = best::best(&candidates, &order);
        let headline = headline::headline(&candidates, &needs.needs, &best, &order);
        let changes = changes::changes(&candidates);
        let faults = notes::faults(&candidates);
        let notes = notes::notes(&candidates, needs);
        Self { headline, needs: needs.needs.clone(), candidates, best, changes, faults, notes }
    }
}

#[cfg(test)]
#[path = "../decision_tests.rs"]
mod tests;
