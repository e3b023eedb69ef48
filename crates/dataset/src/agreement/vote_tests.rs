//! Votes of systems with different documents, compared with a model in which the correct answer is known.

use std::collections::BTreeSet;

use jsonathlon_schema::value::Value;
use proptest::prelude::*;

use super::*;

/// A system of the model: it sums the numbers of its documents, correctly or not.
#[derive(Clone, Debug)]
struct Modelled {
    name: &'static str,
    refused: BTreeSet<u64>,
    /// Error added to every sum; 0 if the system is correct.
    off_by: i64,
    /// Whether the system can be queried over other documents than its own.
    can_be_asked: bool,
}

fn system(name: &'static str, refused: impl IntoIterator<Item = u64>) -> Modelled {
    Modelled { name, refused: refused.into_iter().collect(), off_by: 0, can_be_asked: true }
}

impl Modelled {
    fn wrong(mut self) -> Self {
        self.off_by = 1;
        self
    }

    fn is_right(&self) -> bool {
        self.off_by == 0
    }
}

fn sum() -> ComparisonRules {
    let column = Column { name: "sum".into(), cell_type: CellType::Number, approximate: false, scale: None };
    ComparisonRules { columns: vec![column], ..ComparisonRules::default() }
}

/// Number of a document; no two sets of documents have the same sum.
fn number(ordinal: u64) -> i64 {
    1 << (ordinal % 60)
}

/// Answer of a system over the documents without the rejected ones.
fn answer(system: &Modelled, offered: u64, refused: &BTreeSet<u64>) -> Vec<Row> {
    let sum: i64 = (0..offered).filter(|ordinal| !refused.contains(ordinal)).map(number).sum();
    vec![vec![Value::Int(sum + system.off_by)]]
}

/// Outcome of a vote, indexed like the systems. A system without documents has no vote.
#[derive(Debug, PartialEq)]
struct Outcome {
    decision: Consensus,
    voters: Vec<bool>,
    findings: Vec<Finding>,
    /// Rows with which later answers are compared.
    fixed: Vec<Option<Vec<Row>>>,
    common: Option<AcceptedDocuments>,
}

fn vote(offered: u64, systems: &[Modelled]) -> Outcome {
    let holdings: Vec<AcceptedDocuments> = systems
        .iter()
        .map(|system| AcceptedDocuments::new(offered, system.refused.iter().copied()))
        .collect();
    let electorate = Electorate::among(&holdings.iter().collect::<Vec<_>>(), None);
    let full_answers: Vec<Vec<Row>> =
        systems.iter().map(|system| answer(system, offered, &system.refused)).collect();
    let common_answers: Vec<Option<Vec<Row>>> = systems
        .iter()
        .zip(&holdings)
        .map(|(system, holding)| {
            let common = &electorate.as_ref()?.common;
            (system.can_be_asked || holding == common).then(|| answer(system, offered, common.refused()))
        })
        .collect();
    let votes = |index: usize| electorate.as_ref().is_some_and(|electorate| electorate.votes[index]);
    let answers: Vec<Answer<'_>> = (0..systems.len())
        .map(|index| Answer {
            system: systems[index].name,
            documents: &holdings[index],
            rows: &full_answers[index],
            votes: votes(index),
            common: common_answers[index].as_deref(),
        })
        .collect();
    let empty = AcceptedDocuments::default();
    let common = electorate.as_ref().map_or(&empty, |electorate| &electorate.common);
    let (decision, findings) = decide(&sum(), &answers, common);
    let fixed = findings.iter().map(|finding| match finding.later_basis {
        LaterBasis::Answer(index) => Some(full_answers[index].clone()),
        LaterBasis::ExpectedAnswer => decision.basis_index().and_then(|index| common_answers[index].clone()),
        LaterBasis::Wrong | LaterBasis::Disputed | LaterBasis::Unverified => None,
    });
    let fixed = fixed.collect();
    let voters = (0..systems.len()).map(votes).collect();
    Outcome { decision, voters, fixed, findings, common: electorate.map(|electorate| electorate.common) }
}

impl Outcome {
    fn standing(&self, index: usize) -> &'static str {
        match self.findings[index].comparison {
            AnswerComparison::Same(_) => "same",
            AnswerComparison::Different(_) => "different",
            AnswerComparison::OtherDocuments => "other documents",
        }
    }

    fn standings(&self) -> Vec<&'static str> {
        (0..self.findings.len()).map(|index| self.standing(index)).collect()
    }
}

#[test]
fn those_who_refused_a_document_do_not_outvote_who_holds_it() {
    let outcome = vote(100, &[system("clickhouse", [7]), system("duckdb", [7]), system("sqlite", [])]);
    assert!(matches!(outcome.decision, Consensus::Agreed(_)));
    assert_eq!(outcome.standings(), ["same"; 3]);
    assert_eq!(outcome.common, Some(AcceptedDocuments::new(100, [7])));
    // Later answers of the system that holds all documents are compared with its own over all of them.
    assert_eq!(outcome.findings[2].later_basis, LaterBasis::Answer(2));
    assert_ne!(outcome.fixed[2], outcome.fixed[0]);
    // The same system cannot be compared if it cannot be queried over fewer documents.
    let fixed_holding = Modelled { can_be_asked: false, ..system("sqlite", []) };
    let outcome = vote(100, &[system("clickhouse", [7]), system("duckdb", [7]), fixed_holding]);
    assert_eq!(outcome.standings(), ["same", "same", "other documents"]);
    assert_eq!(outcome.findings[2].later_basis, LaterBasis::Unverified);
}

#[test]
fn who_holds_nothing_has_no_vote() {
    let outcome = vote(10, &[system("a", 0..10), system("b", 0..10), system("c", [])]);
    assert_eq!((outcome.decision, outcome.voters), (Consensus::Unverified(2), vec![false, false, true]));
    let outcome = vote(10, &[system("a", 0..10), system("b", 0..10)]);
    assert_eq!(outcome.decision, Consensus::OtherDocuments);
    assert_eq!(vote(10, &[system("a", [])]).decision, Consensus::Unverified(0));
    assert_eq!(vote(10, &[]).decision, Consensus::NoAnswers);
}

#[test]
fn documents_that_only_one_half_of_them_holds_decide_nothing() {
    // No document is in both halves, and neither half is larger.
    let outcome = vote(10, &[system("a", 0..5), system("b", 5..10)]);
    assert_eq!(outcome.decision, Consensus::OtherDocuments);
    assert_eq!(outcome.standings(), ["other documents"; 2]);
    let outcome = vote(10, &[system("a", 0..5), system("b", 0..5), system("c", 5..10), system("d", 5..10)]);
    assert_eq!(outcome.decision, Consensus::OtherDocuments);
    // The larger part decides over its own documents, and systems with other documents are not wrong.
    let outcome =
        vote(10, &[system("a", 0..4), system("b", 0..4), system("c", 4..10), system("d", 4..10).wrong()]);
    assert!(matches!(outcome.decision, Consensus::Agreed(0)));
    assert_eq!(outcome.standings(), ["same", "same", "other documents", "other documents"]);
}

#[test]
fn a_majority_that_refuses_much_does_not_decide_over_who_holds_it() {
    let refusing = |name| system(name, 0..50);
    let outcome = vote(100, &[system("a", []), refusing("b"), refusing("c"), refusing("d")]);
    assert_eq!(outcome.decision, Consensus::Unverified(0));
    assert_eq!(outcome.standings(), ["same", "other documents", "other documents", "other documents"]);
}

#[test]
fn groups_that_refuse_other_documents_are_compared_over_what_all_hold() {
    let systems = [
        system("a", [1]),
        system("b", [1]),
        system("c", [2]).wrong(),
        system("d", [2]),
        system("e", []),
        system("f", []).wrong(),
    ];
    let outcome = vote(50, &systems);
    assert!(matches!(outcome.decision, Consensus::Agreed(_)));
    assert_eq!(outcome.common, Some(AcceptedDocuments::new(50, [1, 2])));
    assert_eq!(outcome.standings(), ["same", "same", "different", "same", "same", "different"]);
    assert_eq!(
        (outcome.findings[2].later_basis, outcome.findings[5].later_basis),
        (LaterBasis::Wrong, LaterBasis::Wrong)
    );
    for index in [0, 1, 3, 4] {
        assert_eq!(outcome.fixed[index], Some(answer(&systems[index], 50, &systems[index].refused)));
    }
}

#[test]
fn those_alike_that_differ_over_what_only_they_hold_settle_it_among_themselves() {
    // Answers agree over the common documents; over the additional ones, one differs.
    let rules = sum();
    let (full, common) = (AcceptedDocuments::new(20, []), AcceptedDocuments::new(20, [3]));
    let rows = |n: i64| vec![vec![Value::Int(n)]];
    let (five, six, seven) = (rows(5), rows(6), rows(7));
    let smaller =
        Answer { system: "less", documents: &common, rows: &five, votes: true, common: Some(&five) };
    let larger =
        |system, rows| Answer { system, documents: &full, rows, votes: true, common: Some(five.as_slice()) };
    let answers = [smaller, larger("a", &six), larger("b", &six), larger("c", &seven)];
    let (decision, findings) = decide(&rules, &answers, &common);
    assert!(matches!(decision, Consensus::Agreed(_)));
    assert!(matches!(findings[3].comparison, AnswerComparison::Different(_)));
    assert!(findings[1..].iter().all(|finding| finding.later_basis == LaterBasis::Answer(1)));
    let (_, findings) = decide(&rules, &answers[..2], &common);
    assert_eq!(findings[1].later_basis, LaterBasis::Answer(1));
    let (_, findings) = decide(&rules, &[smaller, larger("a", &six), larger("c", &seven)], &common);
    assert!(findings[1..].iter().all(|finding| finding.later_basis == LaterBasis::Disputed));
    // The reference is correct over all documents that it holds.
    let findings = compare_with_expected(&rules, &answers, &common, &five, Some(3));
    assert!(findings[1..].iter().all(|finding| finding.later_basis == LaterBasis::Answer(3)));
    assert!(matches!(findings[1].comparison, AnswerComparison::Different(_)));
}

#[test]
fn a_reference_is_compared_over_what_it_holds() {
    let reference = AcceptedDocuments::new(100, [1, 2, 3]);
    let (full, half) = (AcceptedDocuments::new(100, []), AcceptedDocuments::new(100, 0..50));
    let electorate = Electorate::among(&[&full, &reference, &half], Some(1)).unwrap();
    assert_eq!((electorate.votes, electorate.common), (vec![true, true, false], reference.clone()));
    assert_eq!(Electorate::among(&[&full, &AcceptedDocuments::new(100, 0..100)], Some(1)), None);
    // A system without documents has no vote.
    let electorate = Electorate::among(&[&full, &AcceptedDocuments::default(), &reference], Some(2)).unwrap();
    assert_eq!(electorate.votes, [true, false, true]);
    let electorate = Electorate::among(&[&full, &AcceptedDocuments::default()], None).unwrap();
    assert_eq!(electorate.votes, [true, false]);
}

const NAMES: [&str; 6] = ["a", "b", "c", "d", "e", "f"];
const OFFERED: u64 = 40;

prop_compose! {
    fn any_system()(
        name in 0..NAMES.len(),
        refused in prop_oneof![
            Just(BTreeSet::new()),
            prop::collection::btree_set(0..OFFERED, 0..4),
            prop::collection::btree_set(0..4_u64, 0..3),
            prop::collection::btree_set(0..OFFERED, 0..OFFERED as usize),
            Just((0..OFFERED).collect()),
            Just((0..OFFERED / 2).collect()),
            Just((OFFERED / 2..OFFERED).collect()),
        ],
        off_by in prop_oneof![4 => Just(0_i64), 1 => 1..3_i64],
        can_be_asked in prop::bool::weighted(0.8),
    ) -> Modelled {
        Modelled { name: NAMES[name], refused, off_by, can_be_asked }
    }
}

fn any_systems() -> impl Strategy<Value = Vec<Modelled>> {
    prop::collection::vec(any_system(), 0..8)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn who_is_right_over_what_it_holds_is_never_wrong_where_all_are(mut systems in any_systems()) {
        for system in &mut systems {
            system.off_by = 0;
        }
        let outcome = vote(OFFERED, &systems);
        for (index, system) in systems.iter().enumerate() {
            prop_assert_ne!(outcome.standing(index), "different");
            prop_assert!(!matches!(outcome.findings[index].later_basis, LaterBasis::Wrong | LaterBasis::Disputed));
            if let Some(fixed) = &outcome.fixed[index] {
                let expected = answer(system, OFFERED, &system.refused);
                prop_assert_eq!(fixed, &expected, "held against its own documents");
            }
        }
    }

    #[test]
    fn whoever_is_wrong_differs_from_a_majority_over_the_same_documents(systems in any_systems()) {
        let outcome = vote(OFFERED, &systems);
        let has_vote = |index: usize| outcome.standing(index) != "other documents";
        let ballots = || systems.iter().enumerate().filter(|(index, _)| has_vote(*index));
        let voters: BTreeSet<&str> = ballots().map(|(_, system)| system.name).collect();
        let agreeing: BTreeSet<&str> = voters.iter().copied().filter(|name| {
            ballots().filter(|(_, system)| system.name == *name).all(|(index, _)| {
                let off_by = systems[index].off_by;
                outcome.decision.basis_index().is_some_and(|fixed| systems[fixed].off_by == off_by)
            })
        }).collect();
        match outcome.decision {
            Consensus::Agreed(_) => prop_assert!(agreeing.len() >= 2 && 2 * agreeing.len() > voters.len()),
            Consensus::Disputed(_) => prop_assert!(!(agreeing.len() >= 2 && 2 * agreeing.len() > voters.len())),
            Consensus::Unverified(_) => prop_assert_eq!(voters.len(), 1),
            Consensus::OtherDocuments | Consensus::NoAnswers => prop_assert!(voters.is_empty()),
        }
        for (index, system) in systems.iter().enumerate() {
            let finding = &outcome.findings[index];
            let is_judged = matches!(finding.later_basis, LaterBasis::Answer(_) | LaterBasis::ExpectedAnswer | LaterBasis::Wrong);
            let is_agreed = matches!(outcome.decision, Consensus::Agreed(_));
            prop_assert!(!is_judged || is_agreed, "nobody is judged without");
            if let Consensus::Agreed(fixed) = outcome.decision {
                if outcome.standing(index) == "different" {
                    prop_assert_ne!(system.off_by, systems[fixed].off_by);
                    prop_assert!(outcome.voters[index]);
                }
                if let Some(rows) = &outcome.fixed[index] {
                    let right = Modelled { off_by: systems[fixed].off_by, ..system.clone() };
                    prop_assert_eq!(rows, &answer(&right, OFFERED, &system.refused));
                }
            }
        }
    }

    #[test]
    fn who_is_right_is_never_wrong_where_most_are(systems in any_systems()) {
        let outcome = vote(OFFERED, &systems);
        let ballots: Vec<&Modelled> = (0..systems.len())
            .filter(|index| outcome.standing(*index) != "other documents")
            .map(|index| &systems[index])
            .collect();
        let names: BTreeSet<&str> = ballots.iter().map(|ballot| ballot.name).collect();
        let is_right = |name: &str| {
            ballots.iter().filter(|ballot| ballot.name == name).all(|ballot| ballot.is_right())
        };
        let right = names.iter().filter(|name| is_right(name)).count();
        if right >= 2 && 2 * right > names.len() {
            for (index, system) in systems.iter().enumerate() {
                let expected = match (outcome.standing(index), system.is_right()) {
                    ("other documents", _) => "other documents",
                    (_, true) => "same",
                    (_, false) => "different",
                };
                prop_assert_eq!(outcome.standing(index), expected);
            }
        }
    }

    #[test]
    fn who_holds_nothing_changes_nothing(systems in any_systems(), index in 0_usize..8) {
        let before = vote(OFFERED, &systems);
        let mut extended = systems.clone();
        let index = index.min(extended.len());
        extended.insert(index, system("nothing", 0..OFFERED).wrong());
        let mut after = vote(OFFERED, &extended);
        prop_assert_eq!(after.standing(index), "other documents");
        after.findings.remove(index);
        prop_assert_eq!(before.standings(), after.standings());
        after.fixed.remove(index);
        prop_assert_eq!(before.fixed, after.fixed);
        prop_assert_eq!(before.common, after.common);
    }

    #[test]
    fn the_order_of_systems_does_not_matter(systems in any_systems(), shift in 0_usize..8) {
        let before = vote(OFFERED, &systems);
        let mut reordered = systems.clone();
        let shift = shift % systems.len().max(1);
        reordered.rotate_left(shift);
        reordered.reverse();
        let after = vote(OFFERED, &reordered);
        prop_assert_eq!(&before.common, &after.common);
        let new_index = |index: usize| {
            let rotated = (index + systems.len() - shift) % systems.len();
            systems.len() - 1 - rotated
        };
        // Which of two equally frequent answers is displayed depends on their order.
        if matches!(before.decision, Consensus::Disputed(_)) {
            prop_assert!(matches!(after.decision, Consensus::Disputed(_)));
            return Ok(());
        }
        for index in 0..systems.len() {
            prop_assert_eq!(before.standing(index), after.standing(new_index(index)));
            prop_assert_eq!(&before.fixed[index], &after.fixed[new_index(index)]);
        }
    }

    #[test]
    fn one_more_who_refuses_makes_nobody_wrong(mut systems in any_systems(), extra in any_system()) {
        for system in &mut systems {
            system.off_by = 0;
        }
        // An answer over other documents says nothing about systems that were asked over the common ones.
        systems.push(Modelled { can_be_asked: false, ..extra });
        let outcome = vote(OFFERED, &systems);
        for index in 0..systems.len() - 1 {
            let same_documents = systems.last().is_some_and(|last| {
                let holding = AcceptedDocuments::new(OFFERED, last.refused.iter().copied());
                outcome.common.as_ref().is_some_and(|common| *common == holding)
            });
            if !same_documents {
                prop_assert_ne!(outcome.standing(index), "different");
            }
        }
    }
}
