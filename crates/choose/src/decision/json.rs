//! The decision for other programs.

use serde_json::{Map, Value, json};

use super::{Candidate, Decision};
use crate::judgement::Judgement;
use crate::needs::Need;

/// Version of the format.
const SCHEMA: u32 = 1;

impl Decision {
    /// The decision in the format that `choose --json` prints. Values and limits have the same unit, which is
    /// named; what is no number is a word. Without needs, `meets_all` is null.
    #[must_use]
    pub fn json(&self) -> Value {
        let systems: Vec<Value> = self.candidates.iter().map(|candidate| self.system(candidate)).collect();
        json!({
            "schema": SCHEMA,
            "headline": self.headline,
            "systems": systems,
            "best": self.best.iter().map(|best| json!({
                "criterion": best.criterion.words(),
                "first": self.name(best.first),
                "no_difference_shown": best.tied.iter().map(|index| self.name(*index)).collect::<Vec<_>>(),
                "worse": best.worse.iter().map(|index| self.name(*index)).collect::<Vec<_>>(),
                "without_figure": best.unknown.iter().map(|index| self.name(*index)).collect::<Vec<_>>(),
            })).collect::<Vec<_>>(),
            "changes": self.changes,
            "notes": self.faults.iter().chain(&self.notes).collect::<Vec<_>>(),
        })
    }

    fn name(&self, index: usize) -> &str {
        self.candidates.get(index).map_or("", |candidate| candidate.facts.name.as_str())
    }

    fn system(&self, candidate: &Candidate) -> Value {
        let facts = &candidate.facts;
        let needs: Map<String, Value> = candidate
            .judgements
            .iter()
            .map(|judgement| (judgement.need.dimension().key().to_owned(), need(judgement)))
            .collect();
        json!({
            "system": facts.id.system,
            "version": facts.id.version,
            "variant": facts.id.variant,
            "storage": facts.id.storage,
            "name": facts.name,
            "kind": if facts.is_server { "server" } else { "embedded" },
            "meets_all": (!self.needs.is_empty()).then_some(candidate.meets_all),
            "dominated_by": candidate.dominated_by,
            "needs": needs,
        })
    }
}

fn need(judgement: &Judgement) -> Value {
    let figure = &judgement.figure;
    let (limit, unit) = limit(&judgement.need);
    let interval = figure.interval;
    json!({
        "state": judgement.state.word(),
        "value": figure.value,
        "low": interval.map(|[low, _]| low),
        "high": interval.map(|[_, high]| high),
        "limit": limit,
        "unit": unit,
        "estimate": figure.is_estimate,
        "words": figure.words,
        "run": figure.part.map(|part| part.folder()),
        "cell": figure.measurement.as_ref().map(|measurement| measurement.cell.key()),
    })
}

/// Limit of a need as a number in its unit, or as a word.
fn limit(need: &Need) -> (Value, Option<&'static str>) {
    match need {
        Need::Durability(tier) => (tier.word().into(), None),
        Need::RoundTrip(level) => (level.word().into(), Some("documents")),
        Need::Rejected(share) => ((*share).into(), Some("share")),
        Need::Rate(per_s) => ((*per_s).into(), Some("operations/s")),
        Need::Response { below_s, .. } | Need::Report(below_s) => ((*below_s).into(), Some("s")),
        Need::Size { below_bytes, .. } => ((*below_bytes).into(), Some("bytes")),
        Need::Kind(kind) => (kind.word().into(), None),
    }
}
