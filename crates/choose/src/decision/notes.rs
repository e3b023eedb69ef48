//! What a reader of the decision should know besides.

use jsonathlon_schema::and_list::and_list;

use super::Candidate;
use crate::dimension::Dimension;

/// Sentences on dominated systems, estimates, versions without support, and dimensions that nobody was tested
/// for.
pub(super) fn notes(candidates: &[Candidate]) -> Vec<String> {
    let mut notes = Vec::new();
    for candidate in candidates {
        if let Some(other) = &candidate.dominated_by {
            notes.push(dominated(candidate, other, candidates));
        }
    }
    notes.extend(estimates(candidates));
    for candidate in candidates.iter().filter(|candidate| candidate.facts.end_of_life) {
        notes.push(format!("{} is no longer supported by its vendor.", candidate.facts.name));
    }
    notes.extend(untested(candidates));
    notes
}

fn dominated(candidate: &Candidate, other: &str, candidates: &[Candidate]) -> String {
    let name = &candidate.facts.name;
    let dominator = candidates.iter().find(|candidate| candidate.facts.name == other);
    let kind = match dominator.map(|dominator| (dominator.facts.is_server, candidate.facts.is_server)) {
        Some((true, false)) => format!(", but {other} is a server and {name} is not"),
        Some((false, true)) => format!(", but {name} is a server and {other} is not"),
        _ => String::new(),
    };
    format!("{name} is dominated by {other}, which equals or beats it in everything measured{kind}.")
}

/// One sentence for all estimated sizes.
fn estimates(candidates: &[Candidate]) -> Option<String> {
    let is_estimate = |candidate: &&Candidate| {
        candidate.figures.get(&Dimension::Size).is_some_and(|figure| figure.is_estimate)
    };
    candidates.iter().any(|candidate| is_estimate(&candidate)).then(|| {
        "Sizes of documents that were not loaded are estimated along a straight line; they may meet a need, and \
         are never compared with each other."
            .to_owned()
    })
}

/// One sentence for each dimension that no system was tested for, although it was asked about.
fn untested(candidates: &[Candidate]) -> Vec<String> {
    let asked = candidates.first().map(|candidate| candidate.judgements.as_slice()).unwrap_or_default();
    let is_untested = |dimension: Dimension| {
        candidates.iter().all(|candidate| {
            candidate
                .judgement(dimension)
                .is_some_and(|judgement| matches!(judgement.state, crate::judgement::NeedState::NotTested(_)))
        })
    };
    let untested = asked.iter().filter(|judgement| is_untested(judgement.need.dimension()));
    untested
        .map(|judgement| {
            let mut reasons: Vec<&str> = candidates
                .iter()
                .filter_map(|candidate| candidate.judgement(judgement.need.dimension()))
                .map(|judgement| judgement.figure.words.as_str())
                .collect();
            reasons.dedup();
            let dimension = judgement.need.dimension();
            format!("No system was tested for {dimension} ({}).", and_list(&reasons))
        })
        .collect()
}
