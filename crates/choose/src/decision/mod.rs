//! The decision: who meets the needs, who is best among them, and why the others do not.

use std::collections::BTreeMap;

use crate::dimension::Dimension;
use crate::facts::SystemFacts;
use crate::judgement::{Figure, Judgement, judge};
use crate::needs::{Criterion, Need, NeedsFile};

/// Decision over all systems of a choice.
#[derive(Debug, Clone, PartialEq)]
pub struct Decision {
    /// The decision in at most two sentences.
    pub headline: String,
    /// Needs that were judged, in the order of their columns. Empty if the user stated none.
    pub needs: Vec<Need>,
    /// All systems: those that meet all needs first, then by the number of needs that they miss.
    pub candidates: Vec<Candidate>,
    /// Best system by criterion, in the order in which criteria count.
    pub best: Vec<Best>,
    /// What would change the decision: which need, moved how far, lets whom in or out. Sentences.
    pub changes: Vec<String>,
    /// What a reader should know besides: estimates, failed loads, needs that nobody was tested for. Sentences.
    pub notes: Vec<String>,
}

/// One system in the decision.
#[derive(Debug, Clone, PartialEq)]
pub struct Candidate {
    /// What the runs found out about it.
    pub facts: SystemFacts,
    /// Judgements in the order of [`Decision::needs`].
    pub judgements: Vec<Judgement>,
    /// What is known in each dimension, whether the user needs it or not. Dimensions in which nothing was
    /// asked are absent.
    pub figures: BTreeMap<Dimension, Figure>,
    /// Whether every need is met. `true` if there are no needs.
    pub meets_all: bool,
    /// Name of a system that equals or beats this one in every measured dimension, and beats it in one.
    /// `None` if there is none.
    pub dominated_by: Option<String>,
}

impl Candidate {
    /// Judgement of a dimension. `None` if the user has no need in it.
    #[must_use]
    pub fn judgement(&self, dimension: Dimension) -> Option<&Judgement> {
        self.judgements.iter().find(|judgement| judgement.need.dimension() == dimension)
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
    /// The comparison in one sentence.
    pub sentence: String,
}

impl Decision {
    /// Decides which systems meet the needs and which of them is best.
    #[must_use]
    pub fn new(needs: &NeedsFile, facts: Vec<SystemFacts>) -> Self {
        let candidates = facts
            .into_iter()
            .map(|facts| Candidate {
                judgements: needs.needs.iter().map(|need| judge(need, &facts)).collect(),
                figures: BTreeMap::new(),
                meets_all: needs.needs.is_empty(),
                dominated_by: None,
                facts,
            })
            .collect();
        Self {
            headline: String::new(),
            needs: needs.needs.clone(),
            candidates,
            best: Vec::new(),
            changes: Vec::new(),
            notes: Vec::new(),
        }
    }

    /// The decision for other programs, in the format that `choose --json` prints.
    #[must_use]
    pub fn json(&self) -> serde_json::Value {
        serde_json::json!({"schema": 1, "headline": self.headline, "systems": []})
    }
}
