//! Who is right where nobody knows: a strict majority of the systems that answered, and two at least.

use super::{Difference, Rules, Same};
use crate::value::Row;

/// What one configuration answered.
#[derive(Clone, Copy, Debug)]
pub struct Answer<'a> {
    /// The system of the configuration: several configurations of one system have one vote.
    pub system: &'a str,
    /// The rows.
    pub rows: &'a [Row],
}

/// What came of the answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// A strict majority of the systems, and two at least, gave the answer at this place.
    Agreed(usize),
    /// No such majority: nobody is right. The answer at this place is shared by most, and is what others are shown beside.
    Disputed(usize),
    /// Only one system answered.
    Unverified(usize),
    /// Nobody answered.
    Nothing,
}

impl Decision {
    /// The answer that all are held against.
    pub fn fixed(self) -> Option<usize> {
        match self {
            Self::Agreed(place) | Self::Disputed(place) | Self::Unverified(place) => Some(place),
            Self::Nothing => None,
        }
    }
}

/// How an answer stands to the fixed one.
pub type Standing = Result<Same, Box<Difference>>;

/// Finds the answer on which a strict majority agrees, and how each answer stands to it; in the order of `answers`. A
/// system whose own configurations answer differently agrees with nobody.
pub fn decide(rules: &Rules, answers: &[Answer<'_>]) -> (Decision, Vec<Standing>) {
    let mut systems: Vec<&str> = answers.iter().map(|one| one.system).collect();
    systems.sort_unstable();
    systems.dedup();
    // By how many systems and how many configurations each is shared.
    let mut best: Option<(usize, usize, usize)> = None;
    for (place, candidate) in answers.iter().enumerate() {
        if rules.misshapen(candidate.rows).is_some() {
            continue;
        }
        let same: Vec<bool> = answers.iter().map(|one| is_same(rules, candidate.rows, one.rows)).collect();
        let agrees = |system: &str| {
            answers.iter().zip(&same).filter(|(one, _)| one.system == system).all(|(_, same)| *same)
        };
        let votes = systems.iter().filter(|system| agrees(system)).count();
        let shared = same.iter().filter(|same| **same).count();
        if best.is_none_or(|(most, many, _)| (votes, shared) > (most, many)) {
            best = Some((votes, shared, place));
        }
    }
    let Some((votes, _, place)) = best else {
        // All are misshapen, or there is none.
        let misshapen = |one: &Answer<'_>| rules.compare(&[], one.rows);
        return (Decision::Nothing, answers.iter().map(misshapen).collect());
    };
    let decision = match systems.len() {
        1 => Decision::Unverified(place),
        all if votes >= 2 && 2 * votes > all => Decision::Agreed(place),
        _ => Decision::Disputed(place),
    };
    let fixed = answers.get(place).map_or(&[][..], |one| one.rows);
    (decision, answers.iter().map(|one| rules.compare(fixed, one.rows)).collect())
}

fn is_same(rules: &Rules, fixed: &[Row], answer: &[Row]) -> bool {
    rules.misshapen(answer).is_none() && rules.same(fixed, answer).is_some()
}
