//! Faults planted in a system, a driver or the reference: each is found, or counted as what it is.

use std::collections::BTreeMap;

use jsonathlon_dataset::questions::Question;
use jsonathlon_mixed::{
    AskedQuestion, Declared, EndError, Judgement, Prefixes, QuestionVerdict, SeenCount, SeenDocuments,
    SeenError, Sweep, VerdictCounts, Visibility, WriterHistory, WrongReason, check_end, first_wrong, judge,
};
use jsonathlon_schema::value::{Row, Value};

use crate::support::{World, generated_events, seen_counts};

const BATCH: u64 = 10;
/// After all that the writers do.
const LATE: u64 = 1_000_000;

/// 300 documents and a pool of 100 for two writers with batches of ten.
fn world() -> World {
    World::new(generated_events(400), 100, 2)
}

fn sent_ns(writer: u64, batch: u64) -> u64 {
    1_000 + (batch * 2 + writer) * 100
}

/// Histories of two writers that have sent this many batches, each acknowledged after 50 ns.
fn histories(batches: [u64; 2]) -> Vec<WriterHistory> {
    let history = |(writer, batches): (u64, u64)| {
        let mut history = WriterHistory::default();
        for batch in 0..batches {
            history.sent((batch + 1) * BATCH, sent_ns(writer, batch));
            history.acknowledged((batch + 1) * BATCH, sent_ns(writer, batch) + 50);
        }
        history
    };
    (0..).zip(batches).map(history).collect()
}

fn declared(snapshot: bool) -> Declared {
    Declared { snapshot, visible: Visibility::Commit, approximate: BTreeMap::new() }
}

/// A question that is asked with these floors at one moment.
fn asked<'a>(
    question: Question,
    at: u64,
    floors: &'a [u64],
    seen: &'a [SeenCount],
    rows: &'a [Row],
) -> AskedQuestion<'a> {
    AskedQuestion { stream: 0, question, start_ns: at, end_ns: at + 1, floors, seen, unreadable: None, rows }
}

/// Judges one answer of a system that declares a snapshot, long after all batches.
fn judge_late(world: &World, question: Question, seen: &[SeenCount], rows: &[Row]) -> Judgement {
    let asked = asked(question, LATE, &[0, 0], seen, rows);
    judge(&mut world.sweep(), &declared(true), &histories([5, 5]), &[asked]).unwrap().remove(0)
}

fn is_different(judgement: &Judgement) -> bool {
    let wrong = |reason: &WrongReason| {
        matches!(reason, WrongReason::Different(_) | WrongReason::DifferentOrEarlier(_))
    };
    matches!(&judgement.verdict, QuestionVerdict::Wrong(reason) if wrong(reason))
}

#[test]
fn an_answer_one_document_short_or_early_is_wrong() {
    let world = world();
    let mut unnoticed = BTreeMap::new();
    for batches in 1..4 {
        let right = [batches * BATCH, 20];
        let seen = seen_counts(&[0, 0], &right);
        for planted in [[right[0] - 1, right[1]], [right[0] + 1, right[1]], [right[0], right[1] - 1]] {
            for question in Question::ALL {
                let judgement = judge_late(&world, question, &seen, &world.answer(question, &planted));
                let is_same = world.answer(question, &planted) == world.answer(question, &right);
                assert_eq!(is_different(&judgement), !is_same, "{question} {planted:?}");
                *unnoticed.entry(question).or_insert(0) += u32::from(is_same);
            }
        }
    }
    assert_eq!(unnoticed[&Question::Q1], 0, "every document is in Q1");
    assert!(unnoticed[&Question::Q4] > 0, "not every document is in the three rows of Q4");
}

#[test]
fn the_answer_to_another_question_is_wrong() {
    let world = world();
    let seen = seen_counts(&[0, 0], &[30, 20]);
    for question in Question::ALL {
        for other in Question::ALL {
            let judgement = judge_late(&world, question, &seen, &world.answer(other, &[30, 20]));
            let expected_wrong = question != other;
            assert_eq!(is_different(&judgement), expected_wrong, "{other} for {question}");
        }
    }
}

#[test]
fn a_prefix_within_a_batch_is_torn_and_not_wrong() {
    let world = world();
    for (prefixes, is_torn) in [([30, 20], false), ([31, 20], true), ([30, 19], true), ([0, 0], false)] {
        let seen = seen_counts(&[0, 0], &prefixes);
        let judgement = judge_late(&world, Question::Q1, &seen, &world.answer(Question::Q1, &prefixes));
        assert_eq!(judgement.verdict, QuestionVerdict::Exact);
        assert_eq!((judgement.is_torn, judgement.has_holes), (is_torn, false), "{prefixes:?}");
        assert_eq!(judgement.seen_documents, prefixes[0] + prefixes[1]);
    }
}

#[test]
fn a_dropped_document_leaves_a_hole_or_is_missing_at_the_end() {
    let world = world();
    let histories = histories([5, 5]);
    let right = [50, 50];
    for number in 0..50 {
        let index = world.pool.document(0, number).unwrap();
        let documents: Vec<usize> =
            world.prefix_indexes(&right).into_iter().filter(|other| *other != index).collect();
        let highest = if number == 49 { 48 } else { 49 };
        let seen =
            [SeenCount { writer: 0, count: 49, highest }, SeenCount { writer: 1, count: 50, highest: 49 }];
        let answers = world.answers_over(&documents);
        let judgement = judge_late(&world, Question::Q1, &seen, answers.rows(Question::Q1));
        if number == 49 {
            assert!(judgement.verdict == QuestionVerdict::Exact && judgement.is_torn, "{judgement:?}");
            assert!(judgement.stale_ns > 0, "it was acknowledged and is not there");
        } else {
            assert!(judgement.has_holes, "{judgement:?}");
            // All is acknowledged, so that the count of its event is below the lower bound.
            let is_wrong = matches!(judgement.verdict, QuestionVerdict::Wrong(WrongReason::OutOfBounds(_)));
            assert!(is_wrong, "{judgement:?}");
        }
        let end = check_end(&histories, &SeenDocuments::new(&[0, 0], &seen).unwrap());
        assert_eq!(end, Err(EndError::Missing { writer: 0, acknowledged: 50, seen: 49 }));
    }
}

#[test]
fn batches_that_overtake_leave_holes_within_bounds() {
    let world = world();
    // The second batch of writer 0 is under way, and part of the third is there already.
    let mut histories = histories([1, 2]);
    histories[0].sent(20, 5_000);
    histories[0].sent(30, 5_001);
    let mut documents = world.prefix_indexes(&[10, 20]);
    documents.extend((20..25).map(|number| world.pool.document(0, number).unwrap()));
    let seen =
        [SeenCount { writer: 0, count: 15, highest: 24 }, SeenCount { writer: 1, count: 20, highest: 19 }];
    let answers = world.answers_over(&documents);
    for question in Question::ALL {
        let asked = asked(question, 5_100, &[0, 0], &seen, answers.rows(question));
        let judged = judge(&mut world.sweep(), &declared(true), &histories, &[asked]).unwrap().remove(0);
        assert_eq!((judged.verdict, judged.has_holes), (QuestionVerdict::Bounded, true), "{question}");
        let other = asked_with_rows(&asked, &[]);
        let judged = judge(&mut world.sweep(), &declared(true), &histories, &[other]).unwrap().remove(0);
        assert!(matches!(judged.verdict, QuestionVerdict::Wrong(WrongReason::OutOfBounds(_))), "{question}");
    }
}

fn asked_with_rows<'a>(asked: &AskedQuestion<'a>, rows: &'a [Row]) -> AskedQuestion<'a> {
    AskedQuestion { rows, ..*asked }
}

#[test]
fn a_repeated_batch_is_wrong_above_the_floor_and_below() {
    let world = world();
    // The third batch of writer 0 is stored twice.
    let mut documents = world.prefix_indexes(&[50, 50]);
    documents.extend((20..30).map(|number| world.pool.document(0, number).unwrap()));
    let rows = world.answers_over(&documents).rows(Question::Q1).to_vec();
    let seen = |count| {
        [SeenCount { writer: 0, count, highest: 49 }, SeenCount { writer: 1, count: 50, highest: 49 }]
    };
    let judgement = judge_late(&world, Question::Q1, &seen(60), &rows);
    let repeated = WrongReason::Repeated { writer: 0, documents: 60, numbers: 50 };
    assert_eq!(judgement.verdict, QuestionVerdict::Wrong(repeated));
    let above = seen_counts(&[40, 50], &[50, 50]);
    let asked = asked(Question::Q1, LATE, &[40, 50], &above, &rows);
    let below = judge(&mut world.sweep(), &declared(true), &histories([5, 5]), &[asked]).unwrap().remove(0);
    assert!(is_different(&below), "{below:?}");
    let end = check_end(&histories([5, 5]), &SeenDocuments::new(&[0, 0], &seen(60)).unwrap());
    assert_eq!(end, Err(EndError::Surplus { writer: 0, acknowledged: 50, seen: 60 }));
}

#[test]
fn what_is_acknowledged_before_it_is_there_is_stale() {
    let world = world();
    let histories = histories([3, 2]);
    // The last batch of writer 0 was acknowledged, but nothing of it is there.
    let at = sent_ns(0, 2) + 80;
    let seen = seen_counts(&[0, 0], &[20, 20]);
    let rows = world.answer(Question::Q1, &[20, 20]);
    let asked = asked(Question::Q1, at, &[0, 0], &seen, &rows);
    let judged =
        |declared: &Declared| judge(&mut world.sweep(), declared, &histories, &[asked]).unwrap().remove(0);
    let judgement = judged(&declared(true));
    assert_eq!((&judgement.verdict, judgement.stale_ns), (&QuestionVerdict::Exact, 30));
    assert_eq!(VerdictCounts::of([&judgement]).stale, 1);
    let without_snapshot = judged(&declared(false));
    assert!(matches!(without_snapshot.verdict, QuestionVerdict::Wrong(WrongReason::OutOfBounds(_))));
    let refreshed = Declared { visible: Visibility::Refresh, ..declared(false) };
    assert_eq!(judged(&refreshed).verdict, QuestionVerdict::Bounded, "it need not be there yet");
}

#[test]
fn what_was_not_sent_cannot_be_seen() {
    let world = world();
    let histories = histories([3, 2]);
    let rows = world.answer(Question::Q1, &[30, 20]);
    let seen = seen_counts(&[0, 0], &[30, 20]);
    let verdict_at = |at| {
        let asked = asked(Question::Q1, at, &[0, 0], &seen, &rows);
        judge(&mut world.sweep(), &declared(true), &histories, &[asked]).unwrap().remove(0).verdict
    };
    let beyond = WrongReason::BeyondSent { writer: 0, seen: 30, sent: 20 };
    assert_eq!(verdict_at(sent_ns(0, 2) - 1), QuestionVerdict::Wrong(beyond), "it ended when it was sent");
    assert_eq!(verdict_at(sent_ns(0, 2)), QuestionVerdict::Exact);
    // Beyond with holes: the highest number counts.
    let holed = [SeenCount { writer: 1, count: 1, highest: 30 }];
    let judgement = judge_late(&world, Question::Q1, &holed, &rows);
    assert!(judgement.has_holes);
    let holed = [SeenCount { writer: 1, count: 1, highest: 50 }];
    let judgement = judge_late(&world, Question::Q1, &holed, &rows);
    let beyond = WrongReason::BeyondSent { writer: 1, seen: 51, sent: 50 };
    assert_eq!(judgement.verdict, QuestionVerdict::Wrong(beyond));
}

#[test]
fn contradictions_are_wrong_and_the_first_wrong_answer_is_named() {
    let world = world();
    let rows = world.answer(Question::Q1, &[10, 0]);
    let (right, contradiction) =
        (seen_counts(&[0, 0], &[10, 0]), [SeenCount { writer: 7, count: 1, highest: 0 }]);
    let questions = [
        asked(Question::Q1, LATE, &[0, 0], &right, &rows),
        asked(Question::Q1, LATE, &[0, 0], &contradiction, &rows),
        asked(Question::Q2, LATE, &[0, 0], &right, &rows),
        AskedQuestion { unreadable: Some("two lists"), ..asked(Question::Q1, LATE, &[0, 0], &right, &rows) },
    ];
    let judgements = judge(&mut world.sweep(), &declared(true), &histories([5, 5]), &questions).unwrap();
    let unreadable = WrongReason::Contradiction(SeenError::Unreadable("two lists".to_owned()));
    assert_eq!(judgements[3].verdict, QuestionVerdict::Wrong(unreadable));
    let (position, reason) = first_wrong(&judgements).unwrap();
    assert_eq!(position, 1);
    assert!(reason.to_string().contains("writer 7"), "{reason}");
    let counts = VerdictCounts::of(&judgements);
    assert_eq!((counts.asked, counts.exact, counts.wrong, counts.bounded), (4, 1, 3, 0));
}

#[test]
fn a_stream_that_sees_less_has_gone_back() {
    let world = world();
    let holed = [SeenCount { writer: 0, count: 15, highest: 24 }];
    let less = seen_counts(&[0, 0], &[10, 10]);
    let rows = world.answer(Question::Q1, &[10, 10]);
    let first = asked(Question::Q1, LATE, &[0, 0], &holed, &rows);
    let second = asked(Question::Q1, LATE, &[0, 0], &less, &rows);
    let elsewhere = AskedQuestion { stream: 1, ..second };
    let questions = [first, elsewhere, second];
    let judgements = judge(&mut world.sweep(), &declared(true), &histories([5, 5]), &questions).unwrap();
    let went_back: Vec<bool> = judgements.iter().map(|judgement| judgement.went_back).collect();
    assert_eq!(went_back, [false, false, true]);
    assert_eq!(judgements[2].verdict, QuestionVerdict::Exact, "counted, not wrong");
}

#[test]
fn an_answer_that_goes_back_behind_the_floors_is_wrong_and_says_what_it_may_be() {
    let world = world();
    let rows = world.answer(Question::Q1, &[10, 20]);
    let at = |floors: &[u64], seen: &[SeenCount]| {
        let asked = asked(Question::Q1, LATE, floors, seen, &rows);
        judge(&mut world.sweep(), &declared(true), &histories([5, 5]), &[asked]).unwrap().remove(0)
    };
    let behind = at(&[20, 20], &[]);
    let QuestionVerdict::Wrong(reason @ WrongReason::DifferentOrEarlier(_)) = &behind.verdict else {
        panic!("{behind:?}")
    };
    assert!(reason.to_string().contains("of an earlier moment than"), "{reason}");
    // Something of each writer was seen above its floor, so that nothing can have gone back.
    assert!(is_different(&at(&[10, 10], &seen_counts(&[10, 10], &[20, 20]))));
}

#[test]
fn a_declared_column_is_approximate_and_no_other() {
    let world = world();
    let seen = seen_counts(&[0, 0], &[30, 20]);
    let approximate = BTreeMap::from([(Question::Q2, vec![2])]);
    let declared = Declared { approximate, ..declared(true) };
    let verdict = |question, rows: &[Row]| {
        let asked = asked(question, LATE, &[0, 0], &seen, rows);
        judge(&mut world.sweep(), &declared, &histories([5, 5]), &[asked]).unwrap().remove(0).verdict
    };
    let mut rows = world.answer(Question::Q2, &[30, 20]);
    assert_eq!(verdict(Question::Q2, &rows), QuestionVerdict::Approximate { error: 0.0 });
    assert_eq!(verdict(Question::Q1, &world.answer(Question::Q1, &[30, 20])), QuestionVerdict::Exact);
    let Value::Int(users) = rows[0][2] else { panic!("{rows:?}") };
    rows[0][2] = Value::Int(users * 2);
    assert_eq!(verdict(Question::Q2, &rows), QuestionVerdict::Approximate { error: 1.0 });
    rows[0][1] = Value::Int(1);
    assert!(matches!(verdict(Question::Q2, &rows), QuestionVerdict::Wrong(WrongReason::Different(_))));
}

#[test]
fn a_reference_without_one_document_differs_from_a_right_system() {
    let world = world();
    let (seen, rows) = (seen_counts(&[0, 0], &[30, 20]), world.answer(Question::Q1, &[30, 20]));
    let asked = asked(Question::Q1, LATE, &[0, 0], &seen, &rows);
    let mut short =
        Sweep::new(&world.documents, &world.pool, (100..400).filter(|index| *index != 217)).unwrap();
    let judgements = judge(&mut short, &declared(true), &histories([5, 5]), &[asked]).unwrap();
    assert!(is_different(&judgements[0]));
}

#[test]
fn questions_without_writers_are_asked_of_the_base() {
    let world = world();
    let rows: Vec<Vec<Row>> = Question::ALL.map(|question| world.answer(question, &[])).into();
    let before = sent_ns(0, 0) - 500;
    let asked: Vec<AskedQuestion<'_>> = Question::ALL
        .into_iter()
        .zip(&rows)
        .map(|(question, rows)| asked(question, before, &[], &[], rows))
        .collect();
    let mut sweep = world.sweep();
    sweep.move_to(&Prefixes::from(vec![50, 50])).unwrap();
    for writers in [histories([5, 5]), Vec::new()] {
        let judgements = judge(&mut sweep, &declared(true), &writers, &asked).unwrap();
        let counts = VerdictCounts::of(&judgements);
        assert_eq!((counts.asked, counts.exact, counts.stale, counts.torn), (6, 6, 0, 0));
    }
}
