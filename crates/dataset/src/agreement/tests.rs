//! Tests of every comparison rule, and properties that hold for any rows.

use jsonathlon_schema::value::Value;
use proptest::prelude::*;

use super::*;

fn column(name: &str, cell_type: CellType) -> Column {
    Column { name: name.into(), cell_type, approximate: false, scale: None }
}

fn text(text: &str) -> Value {
    Value::Text(text.into())
}

fn rules_for(types: &[CellType]) -> ComparisonRules {
    ComparisonRules {
        columns: types.iter().map(|cell_type| column("c", *cell_type)).collect(),
        ..ComparisonRules::default()
    }
}

/// Returns `true` if two single cells of a type are equal.
fn same(cell_type: CellType, a: Value, b: Value) -> bool {
    rules_for(&[cell_type]).compare(&[vec![a]], &[vec![b]]).is_ok()
}

/// Rules for groups with their counts in descending order, with an optional limit.
fn groups(limit: Option<usize>) -> ComparisonRules {
    ComparisonRules {
        columns: vec![column("x", CellType::String), column("n", CellType::Number)],
        order: vec![1],
        limit,
        ..ComparisonRules::default()
    }
}

fn counted(rows: &[(&str, i64)]) -> Vec<Row> {
    rows.iter().map(|(x, n)| vec![text(x), Value::Int(*n)]).collect()
}

#[test]
fn numbers_are_equal_by_value() {
    use CellType::Number;
    for (a, b) in [
        (Value::Int(1), Value::Float(1.0)),
        (Value::Int(1), text("1.0")),
        (Value::Float(0.1 + 0.2), Value::Float(0.3)),
        (Value::Float(0.3), text("0.3")),
        (Value::Float(1.0), Value::Float(1.0 + 1e-12)),
        // Beyond 2⁵³ a double may not be the exact number.
        (Value::Int((1 << 53) + 1), Value::Float(9_007_199_254_740_992.0)),
        (text("18446744073709551615"), Value::Float(18_446_744_073_709_551_616.0)),
        (text("1e3"), Value::Int(1000)),
        (Value::Float(f64::NAN), Value::Float(f64::NAN)),
        (Value::Float(-0.0), Value::Int(0)),
    ] {
        assert!(same(Number, a.clone(), b.clone()), "{a:?} {b:?}");
        assert!(same(Number, b.clone(), a.clone()), "{b:?} {a:?}");
    }
    for (a, b) in [
        (Value::Int(1), Value::Int(2)),
        (Value::Int((1 << 53) - 1), Value::Int((1 << 53) - 2)),
        (Value::Float(0.3), Value::Float(0.300_001)),
        (Value::Int(0), Value::Null),
        (Value::Int(1), Value::Bool(true)),
        (Value::Int(1), text("one")),
        (Value::Int(1), text("+1")),
    ] {
        assert!(!same(Number, a.clone(), b.clone()), "{a:?} {b:?}");
    }
}

#[test]
fn infinity_is_equal_to_itself_alone() {
    use CellType::{Json, Number};
    let (positive, negative) = (Value::Float(f64::INFINITY), Value::Float(f64::NEG_INFINITY));
    let values = [
        positive.clone(),
        negative.clone(),
        Value::Float(f64::NAN),
        Value::Float(0.0),
        Value::Float(f64::MAX),
        Value::Int(i64::MAX),
        text("170141183460469231731687303715884105727"),
        Value::Null,
        text("inf"),
    ];
    for cell_type in [Number, Json] {
        for (i, a) in values.iter().enumerate() {
            for (j, b) in values.iter().enumerate() {
                assert_eq!(same(cell_type, a.clone(), b.clone()), i == j, "{a} {b}");
            }
        }
    }
    // Some systems' drivers return infinities by name.
    assert!(same(Number, positive.clone(), text("Infinity")) && same(Number, negative, text("-Infinity")));
    assert!(!same(Number, text("Infinity"), Value::Float(1e308)));
    let mut rules = groups(None);
    rules.columns[1].approximate = true;
    let rows_with = |number: f64| vec![vec![text("a"), Value::Float(number)]];
    assert!(rules.compare(&rows_with(f64::INFINITY), &rows_with(1.0)).is_err());
    assert!(rules.compare(&rows_with(1.0), &rows_with(f64::INFINITY)).is_err());
    assert!(rules.compare(&rows_with(f64::INFINITY), &rows_with(f64::INFINITY)).is_ok());
    // An engine that answers 0 for a sum beyond all doubles must not join the majority.
    assert_eq!(
        decided(&[("a", positive.clone()), ("b", Value::Float(0.0)), ("c", positive)]),
        Consensus::Agreed(0)
    );
}

#[test]
fn what_cancels_is_compared_within_what_was_added_up() {
    let mut rules = rules_for(&[CellType::Number, CellType::Number, CellType::Number, CellType::Number]);
    rules.columns[0].scale = Some(Scale { magnitude: 3, divisor: None });
    rules.columns[1].scale = Some(Scale { magnitude: 3, divisor: Some(2) });
    let row = |total: f64, mean: f64, n: i64, size: f64| -> Vec<Row> {
        vec![vec![Value::Float(total), Value::Float(mean), Value::Int(n), Value::Float(size)]]
    };
    let exact = row(0.0, 0.0, 20_000, 9_876_543.21);
    // Addition in another order leaves a small remainder.
    assert!(rules.compare(&exact, &row(4.9e-7, 2.45e-11, 20_000, 9_876_543.21)).is_ok());
    assert!(rules.compare(&row(4.9e-7, 2.45e-11, 20_000, 9_876_543.21), &exact).is_ok());
    assert!(
        rules
            .compare(
                &row(4.9e-7, 2.45e-11, 20_000, 9_876_543.21),
                &row(-3.1e-7, -1.5e-11, 20_000, 9_876_543.21)
            )
            .is_ok()
    );
    // A cent lost on the way, and a mean that is off by less than the total may be.
    assert!(rules.compare(&row(0.005, 0.0, 20_000, 9_876.0), &row(0.015, 0.0, 20_000, 9_876.0)).is_err());
    assert!(rules.compare(&exact, &row(0.0, 1e-5, 20_000, 9_876_543.21)).is_err());
    // A wrong answer cannot excuse itself with its own size column.
    assert!(rules.compare(&exact, &row(12.5, 0.0, 20_000, 1e20)).is_err());
    assert!(rules.compare(&exact, &row(12.5, 0.0, 20_000, f64::INFINITY)).is_err());
    assert!(rules.compare(&row(0.0, 0.0, 1, f64::INFINITY), &row(12.5, 0.0, 1, f64::INFINITY)).is_err());
    // Whole numbers are added exactly as long as the sums are exact.
    assert!(rules.compare(&row(1.0, 1.5, 2, 1e12), &row(2.0, 1.5, 2, 1e12)).is_err());
    assert!(rules.compare(&row(1.0, 1.5, 2, 1e17), &row(2.0, 1.5, 2, 1e17)).is_ok());
    // The largest addend is the scale of a column without its own.
    let with_addend = |addend| ComparisonRules { addend, ..rules_for(&[CellType::Number]) };
    let (zero, remainder) = ([vec![Value::Int(0)]], [vec![Value::Float(4.9e-7)]]);
    assert!(
        with_addend(999.99).compare(&zero, &remainder).is_ok()
            && with_addend(999.99).compare(&remainder, &zero).is_ok()
    );
    assert!(with_addend(99.0).compare(&zero, &remainder).is_err());
    assert!(
        with_addend(1e9).compare(&[vec![Value::Int(1)]], &[vec![Value::Int(2)]]).is_err(),
        "whole numbers are exact"
    );
    // Without a scale the addends are unknown.
    let unscaled = rules_for(&[CellType::Number]);
    assert!(unscaled.compare(&[vec![Value::Float(0.0)]], &[vec![Value::Float(4.9e-7)]]).is_err());
    assert!(rules.compare(&row(0.0, 0.0, 0, 0.0), &row(4.9e-7, 0.0, 0, 0.0)).is_err());
}

#[test]
fn strings_are_bytes() {
    use CellType::String;
    assert!(same(String, text("a"), text("a")));
    for (a, b) in [("a", "A"), ("a", "a "), ("e\u{301}", "\u{e9}"), ("ss", "ß"), ("", " ")] {
        assert!(!same(String, text(a), text(b)), "{a:?} {b:?}");
    }
    assert!(!same(String, text("1"), Value::Int(1)), "a number is no string");
    assert!(!same(String, text("null"), Value::Null));
}

#[test]
fn a_column_of_strings_is_unquoted_once() {
    let rules = rules_for(&[CellType::String]);
    let column = |cells: &[&str]| -> Vec<Row> { cells.iter().map(|cell| vec![text(cell)]).collect() };
    let (plain, quoted) =
        (column(&["a", "b \"c\"", "\u{1f600}"]), column(&[r#""a""#, r#""b \"c\"""#, r#""\ud83d\ude00""#]));
    assert!(rules.compare(&plain, &quoted).is_ok());
    assert!(rules.compare(&quoted, &plain).is_ok());
    // Double quoting is too much, and one cell that is not a JSON string shows that none was quoted.
    assert!(rules.compare(&plain, &column(&[r#""\"a\"""#, r#""b""#, r#""c""#])).is_err());
    assert!(rules.compare(&column(&["a", "b"]), &column(&[r#""a""#, "b"])).is_err());
    // Strings that contain quotes themselves, on both sides.
    assert!(rules.compare(&column(&[r#""a""#]), &column(&[r#""\"a\"""#])).is_ok());
    assert!(rules_for(&[CellType::Json]).compare(&column(&["a"]), &column(&[r#""a""#])).is_ok());
    assert!(
        rules_for(&[CellType::Time]).compare(&column(&["a"]), &column(&[r#""a""#])).is_err(),
        "only strings are"
    );
}

#[test]
fn booleans_take_0_and_1_and_json_takes_text() {
    use CellType::{Boolean, Json};
    assert!(
        same(Boolean, Value::Bool(true), Value::Int(1)) && same(Boolean, Value::Int(0), Value::Bool(false))
    );
    assert!(
        !same(Boolean, Value::Bool(true), Value::Int(2)) && !same(Boolean, Value::Bool(true), text("true"))
    );
    assert!(!same(CellType::Number, Value::Bool(true), Value::Int(1)), "only where it is declared");
    assert!(same(Json, text(r#"{"a":1,"b":[1.0,"x"]}"#), text(r#"{"b": [1, "x"], "a": 1.0}"#)));
    assert!(same(Json, text("[1,2]"), text("[1, 2]")) && !same(Json, text("[1,2]"), text("[2,1]")));
    assert!(same(Json, text("null"), Value::Null) && same(Json, text("5"), Value::Int(5)));
    assert!(
        !same(Json, text(r#"{"a":1}"#), text(r#"{"a":1,"b":null}"#)),
        "absent is null in a row, not in a document"
    );
}

#[test]
fn times_are_strings_unless_they_are_declared() {
    let pairs = [
        ("2026-01-02T03:04:05Z", "2026-01-02 03:04:05"),
        ("2026-01-02T03:04:05Z", "2026-01-02T05:04:05+02:00"),
        ("2026-01-02T03:04:05.5Z", "2026-01-02T03:04:05.500000"),
        ("2026-01-02", "2026-01-02T00:00:00+00"),
        ("1969-12-31T23:59:59Z", "1969-12-31 18:59:59-0500"),
    ];
    for (a, b) in pairs {
        assert!(same(CellType::Time, text(a), text(b)), "{a} {b}");
        assert!(!same(CellType::String, text(a), text(b)), "{a} {b}");
    }
    assert!(same(CellType::Time, text("2026-01-02T03:04:05.678901Z"), Value::Int(1_767_323_045_678_901)));
    assert!(same(CellType::Time, text("2026-01-02T03:04:05.678901Z"), Value::Float(1_767_323_045_678_901.0)));
    assert!(!same(CellType::Time, text("2026-01-02T03:04:05.678901Z"), text("2026-01-02T03:04:05.678902Z")));
    assert!(!same(CellType::Time, text("2026-01-02T03:04:05.678901Z"), Value::Int(1_767_323_045_678)));
    for malformed in
        ["2026-13-01", "2026-1-2", "yesterday", "2026-01-02T25:00:00Z", "2026-01-02T03", "é026-01-02"]
    {
        assert!(
            !same(CellType::Time, text(malformed), Value::Int(0))
                && same(CellType::Time, text(malformed), text(malformed))
        );
    }
}

#[test]
fn the_stated_order_is_compared_and_ties_are_a_set() {
    let rules = groups(None);
    let fixed = counted(&[("a", 3), ("b", 2), ("c", 2), ("d", 1)]);
    assert!(rules.compare(&fixed, &counted(&[("a", 3), ("c", 2), ("b", 2), ("d", 1)])).is_ok());
    let mismatch = rules.compare(&fixed, &counted(&[("d", 1), ("b", 2), ("c", 2), ("a", 3)])).unwrap_err();
    assert_eq!((mismatch.rule, mismatch.missing_count, mismatch.extra_count), (Some(Rule::Order), 0, 0));
    assert!(
        rules.compare(&fixed, &counted(&[("a", 3), ("b", 2), ("b", 2), ("d", 1)])).is_err(),
        "rows count"
    );
}

#[test]
fn a_tie_cut_by_the_limit_is_compared_by_its_order_alone() {
    let fixed = counted(&[("a", 3), ("b", 2), ("c", 1)]);
    let cut = counted(&[("a", 3), ("b", 2), ("z", 1)]);
    assert!(groups(Some(3)).compare(&fixed, &cut).is_ok());
    assert!(groups(None).compare(&fixed, &cut).is_err(), "nothing was cut");
    assert!(groups(Some(4)).compare(&fixed, &cut).is_err(), "the limit was not reached");
    assert!(
        groups(Some(3)).compare(&fixed, &counted(&[("a", 3), ("z", 2), ("c", 1)])).is_err(),
        "no tie is cut there"
    );
    assert!(groups(Some(3)).compare(&fixed, &counted(&[("a", 3), ("b", 2), ("c", 0)])).is_err());
    assert!(groups(Some(2)).compare(&fixed[..2], &fixed).is_err(), "more than the limit");
}

#[test]
fn without_an_order_rows_are_a_multiset() {
    let rules = ComparisonRules { order: Vec::new(), ..groups(None) };
    let fixed = counted(&[("a", 1), ("a", 1), ("b", 2)]);
    assert!(rules.compare(&fixed, &counted(&[("b", 2), ("a", 1), ("a", 1)])).is_ok());
    let mismatch = rules.compare(&fixed, &counted(&[("b", 2), ("b", 2), ("a", 1)])).unwrap_err();
    assert_eq!((mismatch.missing_rows, mismatch.extra_rows), (counted(&[("a", 1)]), counted(&[("b", 2)])));
    // Floats that sort differently because of their last digit.
    let floats = rules_for(&[CellType::Number, CellType::Number]);
    let pair = |a: f64, b: f64| vec![Value::Float(a), Value::Float(b)];
    let (first, second) = (pair(0.3, 5.5), pair(0.1 + 0.2, 4.5));
    assert!(floats.compare(&[first, second], &[pair(0.1 + 0.2, 5.5), pair(0.3, 4.5)]).is_ok());
}

#[test]
fn differences_are_told_both_ways_with_the_rule_that_explains_them() {
    let strings = rules_for(&[CellType::String]);
    let rows = |cells: &[&str]| -> Vec<Row> { cells.iter().map(|cell| vec![text(cell)]).collect() };
    let rule = |a: &[&str], b: &[&str]| strings.compare(&rows(a), &rows(b)).unwrap_err().rule;
    assert_eq!(rule(&["DE", "fr"], &["de", "fr"]), Some(Rule::Bytes));
    assert_eq!(rule(&["x"], &["x  "]), Some(Rule::Bytes));
    assert_eq!(rule(&["2026-01-02T00:00:00Z"], &["2026-01-02 00:00:00"]), Some(Rule::Times));
    assert_eq!(rule(&["x"], &["y"]), None);
    let mismatch = strings.compare(&rows(&["1", "b"]), &[vec![Value::Int(1)], vec![text("b")]]).unwrap_err();
    assert_eq!(
        (mismatch.rule, mismatch.missing_rows, mismatch.extra_rows),
        (Some(Rule::Types), rows(&["1"]), vec![vec![Value::Int(1)]])
    );
    let mismatch = strings.compare(&rows(&["1970-01-01T00:00:01Z"]), &[vec![Value::Int(1_000_000)]]);
    assert_eq!(mismatch.unwrap_err().rule, Some(Rule::Times));
    let nulls = [vec![text("a")], vec![Value::Null]];
    assert_eq!(strings.compare(&rows(&["a"]), &nulls).unwrap_err().rule, Some(Rule::Nulls));
    let numbers = rules_for(&[CellType::Number]);
    let mismatch =
        numbers.compare(&[vec![Value::Float(1_000.1)]], &[vec![Value::Float(1_000.100_01)]]).unwrap_err();
    assert_eq!(mismatch.rule, Some(Rule::Tolerance));
    assert_eq!(
        groups(None).compare(&counted(&[("a", 2), ("b", 1)]), &counted(&[("a", 2)])).unwrap_err().rule,
        Some(Rule::Limit)
    );
    let mismatch = groups(None).compare(&[], &[vec![Value::Null]]).unwrap_err();
    assert_eq!(mismatch.summary, "rows have 1 columns, 2 are declared (x, n)");
    for rule in
        [Rule::Order, Rule::Nulls, Rule::Bytes, Rule::Types, Rule::Tolerance, Rule::Times, Rule::Limit]
    {
        assert!(rule.to_string().len() > 40 && !rule.word().is_empty());
    }
}

#[test]
fn approximate_columns_may_differ_and_their_error_is_told() {
    let mut rules = groups(None);
    rules.columns[1].approximate = true;
    let fixed = counted(&[("a", 4), ("b", 2)]);
    let matching = rules.compare(&fixed, &counted(&[("b", 2), ("a", 5)])).unwrap();
    assert_eq!(matching.approximate_error, Some(0.25));
    assert_eq!(rules.compare(&fixed, &fixed).unwrap().approximate_error, Some(0.0));
    assert!(rules.compare(&fixed, &counted(&[("c", 2), ("a", 5)])).is_err());
    assert!(rules.compare(&counted(&[("a", 0)]), &counted(&[("a", 1)])).is_err(), "something for nothing");
}

fn votes(answers: &[(&str, i64)]) -> Consensus {
    let cells: Vec<(&str, Value)> = answers.iter().map(|(system, n)| (*system, Value::Int(*n))).collect();
    decided(&cells)
}

/// Decision on one-cell answers over the same documents.
fn decided(answers: &[(&str, Value)]) -> Consensus {
    let rows: Vec<Vec<Row>> = answers.iter().map(|(_, cell)| vec![vec![cell.clone()]]).collect();
    let documents = AcceptedDocuments::new(1, []);
    let answers: Vec<Answer<'_>> =
        answers.iter().zip(&rows).map(|((system, _), rows)| voter_answer(system, &documents, rows)).collect();
    decide(&rules_for(&[CellType::Number]), &answers, &documents).0
}

/// Answer of a voter over the common documents.
fn voter_answer<'a>(system: &'a str, documents: &'a AcceptedDocuments, rows: &'a [Row]) -> Answer<'a> {
    Answer { system, documents, rows, votes: true, common: Some(rows) }
}

#[test]
fn agreement_needs_a_strict_majority_of_systems_and_two() {
    assert_eq!(votes(&[]), Consensus::NoAnswers);
    assert_eq!(votes(&[("a", 1)]), Consensus::Unverified(0));
    assert_eq!(votes(&[("a", 1), ("a", 1)]), Consensus::Unverified(0), "one system, twice");
    assert_eq!(votes(&[("a", 1), ("b", 1)]), Consensus::Agreed(0));
    assert_eq!(votes(&[("a", 1), ("b", 2)]), Consensus::Disputed(0));
    assert_eq!(votes(&[("a", 2), ("b", 1), ("c", 1)]), Consensus::Agreed(1));
    assert_eq!(
        votes(&[("a", 1), ("b", 1), ("c", 2), ("d", 2)]),
        Consensus::Disputed(0),
        "half is no majority"
    );
    assert_eq!(votes(&[("a", 1), ("b", 2), ("c", 3)]), Consensus::Disputed(0));
    assert_eq!(
        votes(&[("a", 1), ("a", 1), ("a", 1), ("b", 2), ("c", 2)]),
        Consensus::Agreed(3),
        "a system has one vote"
    );
    assert_eq!(votes(&[("a", 1), ("a", 2)]), Consensus::Disputed(0), "one alone that contradicts itself");
    assert_eq!(
        votes(&[("a", 1), ("a", 2), ("b", 1)]),
        Consensus::Disputed(0),
        "one that contradicts itself has none"
    );
}

#[test]
fn misshapen_answers_are_never_agreed() {
    let rules = rules_for(&[CellType::Number]);
    let wide: Vec<Row> = vec![vec![Value::Int(1), Value::Int(2)]];
    let documents = AcceptedDocuments::new(1, []);
    let answers = [voter_answer("a", &documents, &wide), voter_answer("b", &documents, &wide)];
    let (decision, findings) = decide(&rules, &answers, &documents);
    assert_eq!(decision, Consensus::NoAnswers);
    assert!(findings.iter().all(|finding| matches!(finding.comparison, AnswerComparison::Different(_))));
}

fn any_value() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        (-3_i64..3).prop_map(Value::Int),
        any::<i64>().prop_map(Value::Int),
        any::<f64>().prop_map(Value::Float),
        "[aA \"{}0-9]{0,4}".prop_map(Value::Text),
        any::<String>().prop_map(Value::Text),
    ]
}

fn any_type() -> impl Strategy<Value = CellType> {
    prop_oneof![
        Just(CellType::Boolean),
        Just(CellType::Number),
        Just(CellType::String),
        Just(CellType::Json),
        Just(CellType::Time)
    ]
}

prop_compose! {
    /// Rules, and rows of matching width.
    fn any_answer()(types in prop::collection::vec(any_type(), 1..4))(
        rows in prop::collection::vec(prop::collection::vec(any_value(), types.len()), 0..12),
        order in prop::collection::vec(0..types.len(), 0..3),
        limit in prop::option::of(12_usize..14),
        types in Just(types),
    ) -> (ComparisonRules, Vec<Row>) {
        (ComparisonRules { order, limit, ..rules_for(&types) }, rows)
    }
}

proptest! {
    #[test]
    fn every_answer_is_the_same_as_itself((rules, rows) in any_answer()) {
        prop_assert!(rules.compare(&rows, &rows).is_ok());
        // Not only because the values are identical.
        prop_assert!(rows::match_rows(&rules, &cell::typed(&rules, &rows), &cell::typed(&rules, &rows)).is_some());
    }

    #[test]
    fn without_an_order_any_order_is_the_same((rules, rows) in any_answer(), seed in any::<u64>()) {
        let rules = ComparisonRules { order: Vec::new(), ..rules };
        let mut shuffled = rows.clone();
        let length = shuffled.len().max(1);
        for index in 0..shuffled.len() {
            shuffled.swap(index, (seed as usize).wrapping_mul(index + 7) % length);
        }
        prop_assert!(rules.compare(&rows, &shuffled).is_ok());
    }

    #[test]
    fn comparing_is_symmetric((rules, rows) in any_answer(), index in 0_usize..12, value in any_value()) {
        let mut changed = rows.clone();
        if let Some(cell) = changed.get_mut(index).and_then(|row| row.first_mut()) {
            *cell = value;
        }
        prop_assert_eq!(rules.compare(&rows, &changed).is_ok(), rules.compare(&changed, &rows).is_ok());
    }

    #[test]
    fn a_row_more_or_less_is_always_a_difference((rules, rows) in any_answer(), index in 0_usize..12) {
        let mut shortened = rows.clone();
        if index < shortened.len() {
            shortened.remove(index);
            let difference = rules.compare(&rows, &shortened).unwrap_err();
            prop_assert!(difference.missing_count > difference.extra_count);
            prop_assert!(rules.compare(&shortened, &rows).is_err());
        }
    }

    #[test]
    fn a_changed_number_is_always_a_difference(
        numbers in prop::collection::vec(-1000_i64..1000, 1..20),
        index in 0_usize..20,
        offset in 1_i64..5,
    ) {
        let rows: Vec<Row> = numbers.iter().map(|number| vec![Value::Int(*number)]).collect();
        let mut changed = rows.clone();
        let index = index % rows.len();
        changed[index] = vec![Value::Int(numbers[index] + offset)];
        let difference = rules_for(&[CellType::Number]).compare(&rows, &changed).unwrap_err();
        prop_assert_eq!((difference.missing_count, difference.extra_count), (1, 1));
    }

    #[test]
    fn sums_in_another_order_are_the_same(mut numbers in prop::collection::vec(0.01_f64..1e6, 1..50)) {
        let sum = |numbers: &[f64]| vec![vec![Value::Float(numbers.iter().sum())]];
        let total = sum(&numbers);
        numbers.reverse();
        prop_assert!(rules_for(&[CellType::Number]).compare(&total, &sum(&numbers)).is_ok());
    }

    #[test]
    fn a_majority_is_found_wherever_it_stands(right in 2_usize..6, wrong in 0_usize..5, turn in 0_usize..10) {
        let wrong = wrong.min(right - 1);
        let names: Vec<String> = (0..right + wrong).map(|index| format!("system {index}")).collect();
        let mut answers: Vec<(&str, i64)> = names.iter().enumerate()
            .map(|(index, name)| (name.as_str(), if index < right { 7 } else { 100 + index as i64 }))
            .collect();
        let shift = turn % answers.len();
        answers.rotate_left(shift);
        let Consensus::Agreed(index) = votes(&answers) else { panic!("a majority of {right} to {wrong}") };
        prop_assert_eq!(answers[index].1, 7);
    }
}
