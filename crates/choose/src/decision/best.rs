//! Who is best: by each criterion, and among the systems that meet all needs.

use jsonathlon_schema::and_list::and_list;
use jsonathlon_schema::record::Phase;

use super::comparison::{Standing, measurement, plain_words, value_words};
use super::{Best, Candidate};
use crate::facts::{Measurement, SystemFacts};
use crate::needs::{Criterion, Need, NeedsFile, Quantile};

/// Criteria in the order in which they count: those that the user prefers, then the others. A response time
/// is compared at the quantile that the user needs.
pub(super) fn criteria(needs: &NeedsFile) -> Vec<Criterion> {
    let needed = needs.needs.iter().find_map(|need| match need {
        Need::Response { quantile, .. } => Some(*quantile),
        _ => None,
    });
    let mut order = needs.prefer.clone();
    for criterion in Criterion::DEFAULT {
        let criterion = match criterion {
            Criterion::Response(_) => Criterion::Response(needed.unwrap_or(Quantile::P99)),
            other => other,
        };
        let is_response = |other: &Criterion| matches!(other, Criterion::Response(_));
        let is_known = match criterion {
            Criterion::Response(_) => order.iter().any(is_response),
            other => order.contains(&other),
        };
        if !is_known {
            order.push(criterion);
        }
    }
    order
}

/// Systems among which the best one is looked for, by their indexes: those that meet all needs.
fn eligible(candidates: &[Candidate]) -> Vec<(usize, &SystemFacts)> {
    let meeting = candidates.iter().enumerate().filter(|(_, candidate)| candidate.meets_all);
    meeting.map(|(index, candidate)| (index, &candidate.facts)).collect()
}

/// The criterion that decides among systems, and how they stand by it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Deciding {
    /// Criterion by which one leads.
    pub(super) criterion: Criterion,
    /// Index of the one that leads.
    pub(super) first: usize,
    /// Index of the one that comes closest to it by this criterion.
    pub(super) runner_up: usize,
    /// Criteria before it, by which no difference to the best ones is shown, or of which not all have a figure.
    pub(super) undecided: Vec<Criterion>,
    /// Indexes of those that were compared by it: all, unless earlier criteria took some out.
    pub(super) compared: Vec<usize>,
}

/// Finds who leads: each criterion takes out those that are shown to be worse, and the next one counts only
/// among the rest. `None` if no difference decides.
pub(super) fn decide(systems: &[(usize, &SystemFacts)], order: &[Criterion]) -> Option<Deciding> {
    let mut left: Vec<(usize, &SystemFacts)> = systems.to_vec();
    let mut undecided = Vec::new();
    for criterion in order {
        let Some(standing) = Standing::new(*criterion, &left) else { continue };
        if !standing.unknown.is_empty() {
            // A system without a figure may be better, so nobody leads by this criterion.
            undecided.push(*criterion);
            continue;
        }
        if let (true, Some(runner_up)) = (standing.tied.is_empty(), standing.worse.first()) {
            let (first, runner_up) = (standing.first, *runner_up);
            let compared = left.iter().map(|(index, _)| *index).collect();
            return Some(Deciding { criterion: *criterion, first, runner_up, undecided, compared });
        }
        undecided.push(*criterion);
        left.retain(|(index, _)| *index == standing.first || standing.tied.contains(index));
        if left.len() < 2 {
            return None;
        }
    }
    None
}

/// Sorts candidates: those that meet all needs first, the best one first; then by how much they miss, and by
/// the order of the runs where they are equal.
pub(super) fn sort(candidates: &mut [Candidate], order: &[Criterion], has_needs: bool) {
    candidates.sort_by(|a, b| {
        let ((a_missed, a_shown, a_factor), (b_missed, b_shown, b_factor)) = (a.shortfall(), b.shortfall());
        a_missed.cmp(&b_missed).then(a_shown.cmp(&b_shown)).then(a_factor.total_cmp(&b_factor))
    });
    if !has_needs {
        return;
    }
    let first = decide(&eligible(candidates), order).map(|deciding| deciding.first);
    if let Some(place) = first.and_then(|first| candidates.get_mut(..=first)) {
        place.rotate_right(1);
    }
}

/// Best system by each criterion that at least two systems have a figure of, or one if there is no other.
pub(super) fn best(candidates: &[Candidate], order: &[Criterion]) -> Vec<Best> {
    let eligible = eligible(candidates);
    let standings = order.iter().filter_map(|criterion| {
        let standing = Standing::new(*criterion, &eligible)?;
        let sentence = sentence(candidates, *criterion, &standing)?;
        let Standing { first, tied, worse, unknown } = standing;
        Some(Best { criterion: *criterion, first, tied, worse, unknown, sentence })
    });
    standings.collect()
}

fn sentence(candidates: &[Candidate], criterion: Criterion, standing: &Standing) -> Option<String> {
    let Standing { first, tied, worse, unknown } = standing;
    let names = |indexes: &[usize]| -> Vec<&str> {
        indexes.iter().filter_map(|index| Some(candidates.get(*index)?.facts.name.as_str())).collect()
    };
    let named = |index: usize| {
        let facts = &candidates.get(index)?.facts;
        Some((facts.name.as_str(), measurement(criterion, facts)?))
    };
    let (name, figure) = named(*first)?;
    let value = value_words(criterion, figure);
    let subject = subject(criterion, figure);
    if !unknown.is_empty() {
        let verb = if unknown.len() == 1 { "has" } else { "have" };
        let unknown = and_list(&names(unknown));
        return Some(format!(
            "{subject}: nobody is shown to be best, because {unknown} {verb} no figure that counts; the best figure is \
             that of {name} ({value})."
        ));
    }
    if let (true, Some(runner_up)) = (tied.is_empty(), worse.first()) {
        let (other, other_figure) = named(*runner_up)?;
        let against = plain_words(criterion, other_figure);
        return Some(format!("{subject}: {name} is best ({value}), before {other} ({against})."));
    }
    if tied.is_empty() {
        return Some(format!("{subject}: only {name} has a figure that counts ({value})."));
    }
    let others = names(tied);
    Some(format!(
        "{subject}: {name} has the best figure ({value}), and no difference from {} is shown.",
        and_list(&others)
    ))
}

/// What a criterion is about, at the beginning of a sentence.
fn subject(criterion: Criterion, figure: &Measurement) -> String {
    match criterion {
        Criterion::Response(quantile) => format!("Response time ({})", quantile.word()),
        Criterion::Report if figure.cell.phase == Phase::Both => {
            "Reports under load (the slowest question)".to_owned()
        }
        Criterion::Report => "Reports at rest (the slowest question)".to_owned(),
        Criterion::Size => "Size".to_owned(),
        Criterion::Capacity => "Capacity".to_owned(),
    }
}

/// What a leader does better than others, as part of a sentence.
pub(super) fn comparative(criterion: Criterion) -> &'static str {
    match criterion {
        Criterion::Response(_) => "answers faster",
        Criterion::Report => "is faster at reports",
        Criterion::Size => "is smaller",
        Criterion::Capacity => "does more operations",
    }
}

/// What a leader is best at, as part of a sentence.
pub(super) fn superlative(criterion: Criterion) -> &'static str {
    match criterion {
        Criterion::Response(_) => "answers fastest",
        Criterion::Report => "is fastest at reports",
        Criterion::Size => "is smallest",
        Criterion::Capacity => "does the most operations",
    }
}

/// What is compared, as part of a sentence about differences.
pub(super) fn noun(criterion: Criterion) -> &'static str {
    match criterion {
        Criterion::Response(_) => "response time",
        Criterion::Report => "reports",
        Criterion::Size => "size",
        Criterion::Capacity => "capacity",
    }
}
