//! What a reader of the decision should know besides.

use jsonathlon_results::number_format::integer;
use jsonathlon_schema::and_list::and_list;
use jsonathlon_schema::record::FailureKind;

use super::Candidate;
use super::comparison::measurement;
use crate::dimension::Dimension;
use crate::facts::PartFault;
use crate::judgement::Figure;
use crate::needs::{Criterion, NeedsFile};

/// Sentences on wrong answers and crashes, one for each system and part.
pub(super) fn faults(candidates: &[Candidate]) -> Vec<String> {
    let faults = candidates
        .iter()
        .flat_map(|candidate| candidate.facts.faults.iter().map(move |one| (candidate, one)));
    let sentence = |(candidate, fault): (&Candidate, &PartFault)| {
        let PartFault { part, kind, trials, error } = fault;
        let what = if *kind == FailureKind::Crash { "crashed" } else { "answered wrongly" };
        let others = match trials {
            1 => String::new(),
            trials => format!(", the first of {trials} trials with wrong answers or crashes"),
        };
        format!("{} {what} in {}{others}: {error}.", candidate.facts.name, part.folder())
    };
    faults.map(sentence).collect()
}

/// Sentences on dominated systems, estimates, versions without support, documents that some lack, preferences that
/// say nothing, and dimensions that nobody was tested for.
pub(super) fn notes(candidates: &[Candidate], needs: &NeedsFile) -> Vec<String> {
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
    notes.extend(candidates.iter().filter_map(lacking));
    notes.extend(needs.prefer.iter().filter_map(|criterion| without_figures(*criterion, candidates)));
    notes.extend(untested(candidates));
    notes
}

/// Says of a system that its figures are those of fewer documents, because it rejected some that it may reject.
fn lacking(candidate: &Candidate) -> Option<String> {
    let lacks = |figure: &Figure| figure.measurement.as_ref().is_some_and(|one| one.lacks_documents);
    let load = candidate.facts.documents.as_ref().filter(|_| candidate.figures.values().any(lacks))?;
    let name = &candidate.facts.name;
    Some(format!(
        "{name} holds {} of {} documents; its figures are those of fewer documents and are not compared with others.",
        integer(load.loaded as f64),
        integer(load.offered as f64)
    ))
}

/// Says of a preferred criterion that it says nothing, because no system that meets all needs has a figure.
fn without_figures(criterion: Criterion, candidates: &[Candidate]) -> Option<String> {
    let mut meeting = candidates.iter().filter(|candidate| candidate.meets_all).peekable();
    meeting.peek()?;
    let nobody = meeting.all(|candidate| measurement(criterion, &candidate.facts).is_none());
    nobody.then(|| {
        format!(
            "The preference \"{}\" decides nothing, because nobody has a figure that counts.",
            criterion.words()
        )
    })
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
