//! Who is right where nobody knows: a strict majority of the systems that answered over the same documents, and two at
//! least.

use super::{Difference, Holding, Rules, Same};
use crate::value::Row;

/// What one configuration answered.
#[derive(Clone, Copy, Debug)]
pub struct Answer<'a> {
    /// The system of the configuration: several configurations of one system have one vote.
    pub system: &'a str,
    /// The documents that it holds.
    pub holding: &'a Holding,
    /// What it answers over them.
    pub rows: &'a [Row],
    /// Whether it is among the voters.
    pub votes: bool,
    /// What it answers over the documents that all voters hold; none where it could not be asked that. The same rows where it
    /// holds no others.
    pub common: Option<&'a [Row]>,
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
    /// They hold other documents than each other, and could not be asked over the same ones.
    OtherDocuments,
    /// Nobody answered.
    Nothing,
}

impl Decision {
    /// The place of the answer that all are held against, which is over the documents that all voters hold.
    pub fn fixed(self) -> Option<usize> {
        match self {
            Self::Agreed(place) | Self::Disputed(place) | Self::Unverified(place) => Some(place),
            Self::OtherDocuments | Self::Nothing => None,
        }
    }
}

/// How an answer stands to the fixed one.
#[derive(Clone, Debug, PartialEq)]
pub enum Standing {
    /// It is the same, over the same documents.
    Same(Same),
    /// It is another, over the same documents.
    Different(Box<Difference>),
    /// It is over other documents, and cannot be compared.
    OtherDocuments,
}

/// What the answers that a configuration gives later, over all documents that it holds, are held against.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Later {
    /// The answer of the configuration at this place over all that it holds, which is the same documents.
    Answer(usize),
    /// The fixed answer itself: it holds the very documents that all were compared over.
    Fixed,
    /// Nothing: its statement is wrong over the documents that all voters hold.
    Wrong,
    /// Nothing: nobody knows who is right.
    Disputed,
    /// Nothing: there is nothing that it could be compared with.
    Unverified,
}

/// What was found out about one configuration.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// How its answer stands to the fixed one.
    pub standing: Standing,
    /// What its later answers are held against.
    pub later: Later,
}

/// Finds the answer on which a strict majority of the voters agrees, and how each stands to it; in the order of `answers`. A
/// system whose own configurations answer differently agrees with nobody.
pub fn decide(rules: &Rules, answers: &[Answer<'_>], common: &Holding) -> (Decision, Vec<Finding>) {
    let ballots: Vec<Ballot<'_>> = answers.iter().enumerate().filter_map(Ballot::of).collect();
    let decision = match (majority(rules, &ballots), answers.is_empty()) {
        (Decision::Nothing, false) if ballots.is_empty() => Decision::OtherDocuments,
        (decision, _) => decision,
    };
    let fixed = decision.fixed().and_then(|place| answers.get(place)?.common).unwrap_or_default();
    let findings = hold_against(rules, answers, common, fixed, None);
    let in_doubt = match decision {
        Decision::Agreed(_) | Decision::Nothing => None,
        Decision::Disputed(_) => Some(Later::Disputed),
        Decision::Unverified(_) | Decision::OtherDocuments => Some(Later::Unverified),
    };
    let doubt = |finding: Finding| match (in_doubt, &finding.standing) {
        (Some(later), Standing::Same(_) | Standing::Different(_)) => Finding { later, ..finding },
        _ => finding,
    };
    (decision, findings.into_iter().map(doubt).collect())
}

/// An answer over the documents that all voters hold.
struct Ballot<'a> {
    /// Among all answers.
    place: usize,
    system: &'a str,
    rows: &'a [Row],
}

impl<'a> Ballot<'a> {
    fn of((place, one): (usize, &Answer<'a>)) -> Option<Self> {
        let rows = one.common.filter(|_| one.votes)?;
        Some(Self { place, system: one.system, rows })
    }
}

/// What a strict majority of the systems says.
fn majority(rules: &Rules, ballots: &[Ballot<'_>]) -> Decision {
    let mut systems: Vec<&str> = ballots.iter().map(|one| one.system).collect();
    systems.sort_unstable();
    systems.dedup();
    // By how many systems and how many configurations each is shared.
    let mut best: Option<(usize, usize, usize)> = None;
    for candidate in ballots {
        if rules.misshapen(candidate.rows).is_some() {
            continue;
        }
        let same: Vec<bool> = ballots.iter().map(|one| is_same(rules, candidate.rows, one.rows)).collect();
        let agrees = |system: &str| {
            ballots.iter().zip(&same).filter(|(one, _)| one.system == system).all(|(_, same)| *same)
        };
        let votes = systems.iter().filter(|system| agrees(system)).count();
        let shared = same.iter().filter(|same| **same).count();
        if best.is_none_or(|(most, many, _)| (votes, shared) > (most, many)) {
            best = Some((votes, shared, candidate.place));
        }
    }
    // All are misshapen, or there is none.
    let Some((votes, _, place)) = best else { return Decision::Nothing };
    match systems.len() {
        // It contradicts itself.
        1 if votes == 0 => Decision::Disputed(place),
        1 => Decision::Unverified(place),
        all if votes >= 2 && 2 * votes > all => Decision::Agreed(place),
        _ => Decision::Disputed(place),
    }
}

/// How each answer stands to one that is right over `common`: what the user gave, or the answer of the `reference`, which
/// is right over all that it holds.
pub fn hold_against(
    rules: &Rules,
    answers: &[Answer<'_>],
    common: &Holding,
    fixed: &[Row],
    reference: Option<usize>,
) -> Vec<Finding> {
    let standing = |one: &Answer<'_>| match one.common.filter(|_| one.votes) {
        None => Standing::OtherDocuments,
        Some(rows) => match rules.compare(fixed, rows) {
            Ok(same) => Standing::Same(same),
            Err(difference) => Standing::Different(difference),
        },
    };
    let standings: Vec<Standing> = answers.iter().map(standing).collect();
    let is_right = |place: usize| matches!(standings.get(place), Some(Standing::Same(_)));
    let mut findings = Vec::new();
    for (one, standing) in answers.iter().zip(&standings) {
        findings.push(match standing {
            Standing::OtherDocuments => {
                Finding { standing: Standing::OtherDocuments, later: Later::Unverified }
            }
            standing if one.holding == common => Finding { standing: standing.clone(), later: Later::Fixed },
            Standing::Different(_) => Finding { standing: standing.clone(), later: Later::Wrong },
            Standing::Same(_) => {
                // Those that are right over what all hold, and hold the same documents more than that.
                let alike = answers.iter().enumerate();
                let alike = alike.filter(|(place, other)| is_right(*place) && other.holding == one.holding);
                let ballots: Vec<Ballot<'_>> = alike
                    .map(|(place, other)| Ballot { place, system: other.system, rows: other.rows })
                    .collect();
                over_own(rules, one, &ballots, standing, reference)
            }
        });
    }
    findings
}

/// What is found out of an answer that is right over the documents that all hold, by those that hold the same ones more.
fn over_own(
    rules: &Rules,
    one: &Answer<'_>,
    alike: &[Ballot<'_>],
    standing: &Standing,
    reference: Option<usize>,
) -> Finding {
    let is_reference = |ballot: &&Ballot<'_>| Some(ballot.place) == reference;
    let found = match alike.iter().find(is_reference) {
        Some(reference) => Some(reference.place),
        None => match majority(rules, alike) {
            Decision::Agreed(place) | Decision::Unverified(place) => Some(place),
            Decision::Disputed(_) | Decision::Nothing | Decision::OtherDocuments => None,
        },
    };
    let Some(right) = found.and_then(|place| alike.iter().find(|ballot| ballot.place == place)) else {
        return Finding { standing: standing.clone(), later: Later::Disputed };
    };
    match rules.compare(right.rows, one.rows) {
        Ok(_) => Finding { standing: standing.clone(), later: Later::Answer(right.place) },
        Err(difference) => {
            Finding { standing: Standing::Different(difference), later: Later::Answer(right.place) }
        }
    }
}

fn is_same(rules: &Rules, fixed: &[Row], answer: &[Row]) -> bool {
    rules.misshapen(answer).is_none() && rules.same(fixed, answer).is_some()
}
