//! The decision in at most two sentences.

use jsonathlon_schema::and_list::and_list;
use jsonathlon_schema::record::FailureKind;

use super::best::{Deciding, comparative, decide, noun, superlative};
use super::comparison::{measurement, plain_words, value_words};
use super::{Best, Candidate};
use crate::facts::SystemFacts;
use crate::figures::number_word;
use crate::judgement::{Judgement, NeedState};
use crate::needs::{Criterion, Need};

/// Systems of which the second sentence says what they miss; of others it only says how many there are.
const MAX_NAMED: usize = 4;

/// Says the decision. Sentences are separated by a space and end with a full stop.
pub(super) fn headline(
    candidates: &[Candidate],
    needs: &[Need],
    best: &[Best],
    order: &[Criterion],
) -> String {
    if candidates.is_empty() {
        return "No system was measured.".to_owned();
    }
    let (meeting, missing): (Vec<&Candidate>, Vec<&Candidate>) =
        candidates.iter().partition(|candidate| candidate.meets_all);
    if needs.is_empty() {
        return without_needs(candidates, best);
    }
    let first = match meeting.as_slice() {
        [] => return nobody(&missing, needs),
        [only] => format!(
            "{} {} {}.",
            only.facts.name,
            if missing.is_empty() { "meets" } else { "alone meets" },
            all(needs)
        ),
        several => {
            let names: Vec<&str> = several.iter().map(|candidate| candidate.facts.name.as_str()).collect();
            let systems: Vec<(usize, &SystemFacts)> =
                several.iter().enumerate().map(|(index, candidate)| (index, &candidate.facts)).collect();
            format!("{} meet {}; {}.", and_list(&names), all(needs), who_leads(&systems, order))
        }
    };
    match others(&missing) {
        None => first,
        Some(others) => format!("{first} {others}"),
    }
}

/// All needs in words: `all seven needs`.
fn all(needs: &[Need]) -> String {
    match needs.len() {
        1 => "the need".to_owned(),
        2 => "both needs".to_owned(),
        number => format!("all {} needs", number_word(number)),
    }
}

/// Who leads among several systems, and by what.
fn who_leads(systems: &[(usize, &SystemFacts)], order: &[Criterion]) -> String {
    let Some(deciding) = decide(systems, order) else {
        return "no difference between them is shown".to_owned();
    };
    let Deciding { criterion, first, runner_up, undecided, compared } = &deciding;
    let found = |index: usize| {
        let (_, facts) = systems.iter().find(|(other, _)| *other == index)?;
        Some((*facts, measurement(*criterion, facts)?))
    };
    let (Some((leader, figure)), Some((second, second_figure))) = (found(*first), found(*runner_up)) else {
        return "no difference between them is shown".to_owned();
    };
    let verb = if compared.len() > 2 { superlative(*criterion) } else { comparative(*criterion) };
    let against = match systems.len() > 2 {
        true => format!("{} of {}", plain_words(*criterion, second_figure), second.short_name),
        false => plain_words(*criterion, second_figure),
    };
    let kind = match (leader.is_server, second.is_server) {
        (true, false) => format!(", {} is embedded", second.short_name),
        (false, true) => format!(", {} is a server", second.short_name),
        _ => String::new(),
    };
    let decided =
        format!("{} {verb} ({} against {against}){kind}", leader.short_name, value_words(*criterion, figure));
    match undecided.as_slice() {
        [] => decided,
        earlier => {
            let nouns: Vec<&str> = earlier.iter().map(|criterion| noun(*criterion)).collect();
            let between: Vec<&str> = systems
                .iter()
                .filter(|(index, _)| compared.contains(index))
                .map(|(_, facts)| facts.short_name.as_str())
                .collect();
            let between = match compared.len() == systems.len() {
                true => String::new(),
                false => format!(" between {}", and_list(&between)),
            };
            format!("by {} no difference{between} is shown, and {decided}", and_list(&nouns))
        }
    }
}

/// What the systems that do not meet all needs miss, in one sentence. `None` if there are none.
fn others(missing: &[&Candidate]) -> Option<String> {
    let mut clauses: Vec<(String, Vec<&str>)> = Vec::new();
    for candidate in missing {
        let (Some(clause), name) = (worst_clause(candidate), candidate.facts.name.as_str()) else { continue };
        match clauses.iter_mut().find(|(known, _)| *known == clause) {
            Some((_, names)) => names.push(name),
            None => clauses.push((clause, vec![name])),
        }
    }
    let rest: usize = clauses.iter().skip(MAX_NAMED).map(|(_, names)| names.len()).sum();
    let mut sentences: Vec<String> = clauses
        .iter()
        .take(MAX_NAMED)
        .map(|(clause, names)| format!("{} {}", and_list(names), for_number(clause, names.len())))
        .collect();
    if rest > 0 {
        let verb = if rest == 1 { "misses" } else { "miss" };
        sentences.push(format!("{} more {verb} needs", number_word(rest)));
    }
    (!sentences.is_empty()).then(|| format!("{}.", sentences.join("; ")))
}

/// A clause that begins with its verb in the singular, for a number of systems.
fn for_number(clause: &str, systems: usize) -> String {
    if systems == 1 {
        return clause.to_owned();
    }
    let (verb, rest) = clause.split_once(' ').unwrap_or((clause, ""));
    let plural = match verb {
        "was" => "were".to_owned(),
        "is" => "are".to_owned(),
        "loses" => "lose".to_owned(),
        verb => verb.strip_suffix('s').unwrap_or(verb).to_owned(),
    };
    format!("{plural} {rest}").trim_end().to_owned()
}

/// What a system misses, in a clause without its name: the need that is shown not to be met, else what is not
/// known. `None` if it meets all needs.
fn worst_clause(candidate: &Candidate) -> Option<String> {
    let missed = candidate.missed();
    let most = missed.first()?;
    match &most.state {
        NeedState::NotMet => Some(predicate(most)),
        NeedState::NotShown => Some(not_shown(most)),
        NeedState::NotTested(_) => untested_clauses(&missed).into_iter().next(),
        NeedState::Met => None,
    }
}

fn not_shown(judgement: &Judgement) -> String {
    let figure = &judgement.figure;
    let words = if figure.is_estimate { &figure.short } else { &figure.words };
    format!("is not shown to meet {} ({words})", of_need(judgement))
}

/// Needs that were not tested, in one clause for each reason.
fn untested_clauses(missed: &[&Judgement]) -> Vec<String> {
    let mut reasons: Vec<(&str, Vec<&str>)> = Vec::new();
    for judgement in missed {
        let NeedState::NotTested(why) = &judgement.state else { continue };
        let dimension = judgement.need.dimension().title();
        match reasons.iter_mut().find(|(known, _)| known == why) {
            Some((_, dimensions)) => dimensions.push(dimension),
            None => reasons.push((why, vec![dimension])),
        }
    }
    let clause = |(why, dimensions): (&str, Vec<&str>)| {
        format!("was not tested for {} ({why})", and_list(&dimensions))
    };
    reasons.into_iter().map(clause).collect()
}

/// A need within a sentence: `p99 < 10 ms`, `durability synced`.
fn of_need(judgement: &Judgement) -> String {
    let limit = judgement.need.limit_words();
    match judgement.need {
        Need::Response { .. } => limit,
        Need::Report(_) => format!("reports in a {limit}"),
        Need::Size { .. } => format!("a size {limit}"),
        Need::Rate(_) => format!("the rate of {limit}"),
        Need::Durability(_) | Need::RoundTrip(_) | Need::Rejected(_) | Need::Kind(_) => {
            format!("{} {limit}", judgement.need.dimension())
        }
    }
}

/// What a system does instead of what is needed. Figures that do not say it themselves name the limit.
fn predicate(judgement: &Judgement) -> String {
    let predicate = &judgement.figure.predicate;
    match judgement.need {
        Need::Response { .. } | Need::Report(_) | Need::Size { .. } if judgement.figure.value.is_some() => {
            let limit = judgement.need.limit_words();
            let limit = limit.split_once("< ").map_or(limit.as_str(), |(_, limit)| limit);
            format!("{predicate} instead of less than {limit}")
        }
        _ => predicate.clone(),
    }
}

/// Nobody meets all needs: who misses least, by what, and what the others miss.
fn nobody(missing: &[&Candidate], needs: &[Need]) -> String {
    let Some(least) = missing.first() else { return "No system was measured.".to_owned() };
    let closest: Vec<&Candidate> =
        missing.iter().copied().filter(|candidate| candidate.shortfall() == least.shortfall()).collect();
    // What is not known may be met.
    let (_, shown, _) = least.shortfall();
    let verb = if shown == 0 { "is shown to meet" } else { "meets" };
    let beginning = format!("No system {verb} {}", all(needs));
    let first = match closest.as_slice() {
        [only] if missing.len() == 1 => format!("{beginning}: {} {}.", only.facts.name, what_is_missed(only)),
        [only] => {
            let how = if shown == 0 { "comes closest" } else { "misses least" };
            format!("{beginning}; {} {how}: it {}.", only.facts.name, what_is_missed(only))
        }
        several => {
            let names: Vec<&str> = several.iter().map(|candidate| candidate.facts.name.as_str()).collect();
            let met = needs.len() - least.missed().len();
            let is_less = |candidate: &&Candidate| candidate.missed().len() > least.missed().len();
            let others = missing.get(several.len()..).unwrap_or_default();
            let is_most = !others.is_empty() && others.iter().all(is_less);
            let of_them = if is_most { ", more than any other" } else { "" };
            format!("{beginning}; {} meet {} each{of_them}.", and_list(&names), number_word(met))
        }
    };
    let told: Vec<&Candidate> = match closest.as_slice() {
        [only] => missing.iter().copied().filter(|candidate| !std::ptr::eq(*candidate, *only)).collect(),
        _ => missing.to_vec(),
    };
    match others(&told) {
        None => first,
        Some(others) => format!("{first} {others}"),
    }
}

/// All that a system misses, without its name: `holds 140 of 2,000 operations/s and is a server`.
fn what_is_missed(candidate: &Candidate) -> String {
    let missed = candidate.missed();
    let mut clauses: Vec<String> = missed
        .iter()
        .filter_map(|judgement| match &judgement.state {
            NeedState::NotMet => Some(predicate(judgement)),
            NeedState::NotShown => Some(not_shown(judgement)),
            NeedState::NotTested(_) | NeedState::Met => None,
        })
        .collect();
    clauses.extend(untested_clauses(&missed));
    let shown: Vec<&str> = clauses.iter().take(MAX_NAMED).map(String::as_str).collect();
    match clauses.len() - shown.len() {
        0 => and_list(&shown),
        rest => format!("{} and misses {} more", shown.join(", "), number_word(rest)),
    }
}

/// Without needs: who is best at what, and what is wrong with whom.
fn without_needs(candidates: &[Candidate], best: &[Best]) -> String {
    let named = |index: usize| candidates.get(index).map(|candidate| &candidate.facts);
    let mut leaders: Vec<(usize, Vec<String>)> = Vec::new();
    for best in best.iter().filter(|best| best.leads()) {
        let value = named(best.first).and_then(|facts| measurement(best.criterion, facts));
        let Some(value) = value.map(|figure| value_words(best.criterion, figure)) else { continue };
        let words = format!("{} ({value})", superlative(best.criterion));
        match leaders.iter_mut().find(|(index, _)| *index == best.first) {
            Some((_, clauses)) => clauses.push(words),
            None => leaders.push((best.first, vec![words])),
        }
    }
    let clauses: Vec<String> = leaders
        .iter()
        .filter_map(|(index, clauses)| {
            let clauses: Vec<&str> = clauses.iter().map(String::as_str).collect();
            Some(format!("{} {}", named(*index)?.name, and_list(&clauses)))
        })
        .collect();
    let first = match (clauses.is_empty(), candidates) {
        (false, _) => format!("{}.", clauses.join("; ")),
        (true, [only]) => format!("Only {} was measured.", only.facts.name),
        (true, _) => {
            let names: Vec<&str> = candidates.iter().map(|one| one.facts.name.as_str()).collect();
            format!("No difference between {} is shown.", and_list(&names))
        }
    };
    let faults: Vec<String> = candidates.iter().filter_map(fault).take(MAX_NAMED).collect();
    if faults.is_empty() { first } else { format!("{first} {}.", faults.join("; ")) }
}

/// What anybody would want to know of a system, the gravest first: lost writes, a load that failed, wrong answers and
/// crashes, changed and rejected documents.
fn fault(candidate: &Candidate) -> Option<String> {
    let facts = &candidate.facts;
    let figure = |dimension: crate::Dimension| candidate.figures.get(&dimension);
    let lost = facts.durability.evidence.iter().any(|evidence| evidence.as_promised < evidence.crashes);
    if let (true, Some(figure)) = (lost, figure(crate::Dimension::Durability)) {
        return Some(format!("{} {}", facts.name, figure.predicate));
    }
    if let Some(failure) = facts.load_failure() {
        return Some(format!("{} does not load the documents ({})", facts.name, failure.reason));
    }
    if let Some(fault) = facts.faults.first() {
        let verb = if fault.kind == FailureKind::Crash { "crashes" } else { "answers wrongly" };
        return Some(format!("{} {verb} in {} ({})", facts.name, fault.part.folder(), fault.error));
    }
    let is_changed = facts.round_trip.as_ref().is_some_and(|trip| trip.changed > 0);
    let is_rejecting = facts.documents.as_ref().is_some_and(|documents| documents.rejected > 0);
    let faults = [(is_changed, crate::Dimension::RoundTrip), (is_rejecting, crate::Dimension::Rejected)];
    let faults: Vec<&str> = faults
        .into_iter()
        .filter(|(is_fault, _)| *is_fault)
        .filter_map(|(_, dimension)| Some(figure(dimension)?.predicate.as_str()))
        .collect();
    (!faults.is_empty()).then(|| format!("{} {}", facts.name, and_list(&faults)))
}
