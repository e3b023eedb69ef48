//! Finds the expected answer by vote: a strict majority of the systems that answered over the same documents,
//! and at least two.

use jsonathlon_schema::value::Row;

use super::{AcceptedDocuments, ComparisonRules, Match, Mismatch};

/// Answer of one configuration to a question.
#[derive(Clone, Copy, Debug)]
pub struct Answer<'a> {
    /// System of the configuration. All configurations of one system share one vote.
    pub system: &'a str,
    /// Documents that the configuration holds.
    pub documents: &'a AcceptedDocuments,
    /// Answer over all documents that the configuration holds.
    pub rows: &'a [Row],
    /// Whether the configuration is a voter.
    pub votes: bool,
    /// Answer over the documents that all voters hold. `None` if the configuration could not be queried over
    /// these. Equal to `rows` if it holds no others.
    pub common: Option<&'a [Row]>,
}

/// Result of a vote.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Consensus {
    /// A strict majority of the systems, and at least two, gave the answer at this index.
    Agreed(usize),
    /// No such majority, so that no answer is expected. The answer at this index is the most frequent one,
    /// with which the others are compared for display.
    Disputed(usize),
    /// Only one system answered. Its answer is at this index.
    Unverified(usize),
    /// The configurations hold different documents and could not be queried over the same ones.
    OtherDocuments,
    /// There is no answer to compare.
    NoAnswers,
}

impl Consensus {
    /// Returns the index of the answer with which all are compared, over the documents that all voters hold.
    /// `None` if there is none.
    pub fn basis_index(self) -> Option<usize> {
        match self {
            Self::Agreed(index) | Self::Disputed(index) | Self::Unverified(index) => Some(index),
            Self::OtherDocuments | Self::NoAnswers => None,
        }
    }
}

/// Result of comparing an answer with the fixed one.
#[derive(Clone, Debug, PartialEq)]
pub enum AnswerComparison {
    /// Equal, over the same documents.
    Same(Match),
    /// Different, over the same documents.
    Different(Box<Mismatch>),
    /// Not comparable, because the answer is over other documents.
    OtherDocuments,
}

/// What later answers of a configuration, over all documents that it holds, are compared with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LaterBasis {
    /// The answer of the configuration at this index over all its documents, which are the same as this
    /// one's.
    Answer(usize),
    /// The fixed answer itself, because the configuration holds exactly the documents that all were compared
    /// over.
    ExpectedAnswer,
    /// Nothing, because the configuration's statement is wrong over the documents that all voters hold.
    Wrong,
    /// Nothing, because the vote has no majority.
    Disputed,
    /// Nothing, because there is no answer to compare with.
    Unverified,
}

/// Result of a vote for one configuration.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// How the configuration's answer compares with the fixed one.
    pub comparison: AnswerComparison,
    /// What the configuration's later answers are compared with.
    pub later_basis: LaterBasis,
}

/// Finds the answer on which a strict majority of the voters agrees, and compares every answer with it.
/// Findings are in the order of `answers`. A system whose own configurations answer differently agrees with
/// no answer.
pub fn decide(
    rules: &ComparisonRules,
    answers: &[Answer<'_>],
    common: &AcceptedDocuments,
) -> (Consensus, Vec<Finding>) {
    let ballots: Vec<Ballot<'_>> = answers.iter().enumerate().filter_map(Ballot::of).collect();
    let decision = match (majority(rules, &ballots), answers.is_empty()) {
        (Consensus::NoAnswers, false) if ballots.is_empty() => Consensus::OtherDocuments,
        (decision, _) => decision,
    };
    let fixed = decision.basis_index().and_then(|index| answers.get(index)?.common).unwrap_or_default();
    let findings = compare_with_expected(rules, answers, common, fixed, None);
    let unsettled = match decision {
        Consensus::Agreed(_) | Consensus::NoAnswers => None,
        Consensus::Disputed(_) => Some(LaterBasis::Disputed),
        Consensus::Unverified(_) | Consensus::OtherDocuments => Some(LaterBasis::Unverified),
    };
    let with_doubt = |finding: Finding| match (unsettled, &finding.comparison) {
        (Some(later_basis), AnswerComparison::Same(_) | AnswerComparison::Different(_)) => {
            Finding { later_basis, ..finding }
        }
        _ => finding,
    };
    (decision, findings.into_iter().map(with_doubt).collect())
}

/// A voter's answer over the documents that all voters hold.
struct Ballot<'a> {
    /// Index among all answers.
    index: usize,
    system: &'a str,
    rows: &'a [Row],
}

impl<'a> Ballot<'a> {
    fn of((index, answer): (usize, &Answer<'a>)) -> Option<Self> {
        let rows = answer.common.filter(|_| answer.votes)?;
        Some(Self { index, system: answer.system, rows })
    }
}

/// Returns the decision of a vote in which every system has one vote.
fn majority(rules: &ComparisonRules, ballots: &[Ballot<'_>]) -> Consensus {
    let mut systems: Vec<&str> = ballots.iter().map(|ballot| ballot.system).collect();
    systems.sort_unstable();
    systems.dedup();
    // The best candidate: its number of systems, its number of configurations, and its index.
    let mut best: Option<(usize, usize, usize)> = None;
    for candidate in ballots {
        if rules.shape_error(candidate.rows).is_some() {
            continue;
        }
        let matches: Vec<bool> =
            ballots.iter().map(|ballot| is_same(rules, candidate.rows, ballot.rows)).collect();
        let agrees = |system: &str| {
            let mut votes = ballots.iter().zip(&matches).filter(|(ballot, _)| ballot.system == system);
            votes.all(|(_, is_match)| *is_match)
        };
        let votes = systems.iter().filter(|system| agrees(system)).count();
        let supporters = matches.iter().filter(|is_match| **is_match).count();
        if best.is_none_or(|(best_votes, best_count, _)| (votes, supporters) > (best_votes, best_count)) {
            best = Some((votes, supporters, candidate.index));
        }
    }
    // All answers violate the declared columns or limit, or there is none.
    let Some((votes, _, index)) = best else { return Consensus::NoAnswers };
    match systems.len() {
        // The configurations of the only system contradict each other.
        1 if votes == 0 => Consensus::Disputed(index),
        1 => Consensus::Unverified(index),
        system_count if votes >= 2 && 2 * votes > system_count => Consensus::Agreed(index),
        _ => Consensus::Disputed(index),
    }
}

/// Compares every answer with `fixed`, which is correct over the documents of `common`. It is given by the
/// user or by the `reference` (an index), whose answer is correct over all documents that it holds.
pub fn compare_with_expected(
    rules: &ComparisonRules,
    answers: &[Answer<'_>],
    common: &AcceptedDocuments,
    fixed: &[Row],
    reference: Option<usize>,
) -> Vec<Finding> {
    let comparison = |answer: &Answer<'_>| match answer.common.filter(|_| answer.votes) {
        None => AnswerComparison::OtherDocuments,
        Some(rows) => match rules.compare(fixed, rows) {
            Ok(matching) => AnswerComparison::Same(matching),
            Err(difference) => AnswerComparison::Different(difference),
        },
    };
    let comparisons: Vec<AnswerComparison> = answers.iter().map(comparison).collect();
    let is_right = |index: usize| matches!(comparisons.get(index), Some(AnswerComparison::Same(_)));
    let mut findings = Vec::new();
    for (answer, comparison) in answers.iter().zip(&comparisons) {
        findings.push(match comparison {
            AnswerComparison::OtherDocuments => {
                Finding { comparison: AnswerComparison::OtherDocuments, later_basis: LaterBasis::Unverified }
            }
            comparison if answer.documents == common => {
                Finding { comparison: comparison.clone(), later_basis: LaterBasis::ExpectedAnswer }
            }
            AnswerComparison::Different(_) => {
                Finding { comparison: comparison.clone(), later_basis: LaterBasis::Wrong }
            }
            AnswerComparison::Same(_) => {
                // Configurations that are correct over the common documents and hold the same additional
                // ones.
                let peers = answers.iter().enumerate();
                let peers =
                    peers.filter(|(index, other)| is_right(*index) && other.documents == answer.documents);
                let ballots: Vec<Ballot<'_>> = peers
                    .map(|(index, other)| Ballot { index, system: other.system, rows: other.rows })
                    .collect();
                finding_among_peers(rules, answer, &ballots, comparison, reference)
            }
        });
    }
    findings
}

/// Determines the finding of an answer that is correct over the common documents, from configurations that
/// hold the same additional ones.
fn finding_among_peers(
    rules: &ComparisonRules,
    answer: &Answer<'_>,
    peers: &[Ballot<'_>],
    comparison: &AnswerComparison,
    reference: Option<usize>,
) -> Finding {
    let is_reference = |ballot: &&Ballot<'_>| Some(ballot.index) == reference;
    let winner = match peers.iter().find(is_reference) {
        Some(reference) => Some(reference.index),
        None => match majority(rules, peers) {
            Consensus::Agreed(index) | Consensus::Unverified(index) => Some(index),
            Consensus::Disputed(_) | Consensus::NoAnswers | Consensus::OtherDocuments => None,
        },
    };
    let Some(correct) = winner.and_then(|index| peers.iter().find(|ballot| ballot.index == index)) else {
        return Finding { comparison: comparison.clone(), later_basis: LaterBasis::Disputed };
    };
    match rules.compare(correct.rows, answer.rows) {
        Ok(_) => Finding { comparison: comparison.clone(), later_basis: LaterBasis::Answer(correct.index) },
        Err(difference) => Finding {
            comparison: AnswerComparison::Different(difference),
            later_basis: LaterBasis::Answer(correct.index),
        },
    }
}

fn is_same(rules: &ComparisonRules, fixed: &[Row], answer: &[Row]) -> bool {
    rules.shape_error(answer).is_none() && rules.same(fixed, answer).is_some()
}
