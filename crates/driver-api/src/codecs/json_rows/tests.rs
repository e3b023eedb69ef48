use jsonathlon_schema::value::{Row, Value};
use proptest::prelude::*;
use serde_json::{Value as Json, json};

use super::*;
use crate::rows::ResultSet;

/// Collects the rows that a mapping finds.
fn rows<'a, T: Tree<'a>>(answer: T, mapping: &Mapping) -> Result<ResultSet> {
    let mut outcome = ResultSet::default();
    super::columns(mapping, &mut outcome)?;
    super::rows(answer, mapping, &mut String::new(), &mut outcome)?;
    Ok(outcome)
}

fn mapping(text: Json) -> Mapping {
    serde_json::from_value(text).unwrap()
}

fn mapped_rows(answer: &Json, text: Json) -> Vec<Row> {
    rows(answer, &mapping(text)).unwrap().rows
}

fn text(text: &str) -> Value {
    Value::Text(text.into())
}

#[test]
fn keys_of_outer_lists_are_carried_down_to_the_rows_of_inner_ones() {
    let answer = json!({"took": 3, "a": {"buckets": [
        {"key": "x", "hours": {"buckets": [{"key": 1, "n": 5}, {"key": 2, "n": 6}]}},
        {"key": "empty", "hours": {"buckets": []}},
        {"key": "missing"},
        {"key": "y", "hours": {"buckets": [{"key": 3, "n": 7}]}},
    ]}});
    let mapping = mapping(json!({
        "each": ["/a/buckets", "/hours/buckets"],
        "columns": [
            {"name": "took", "at": "/took", "level": 0},
            {"name": "event", "at": "/key", "level": 1},
            {"name": "hour", "at": "/key"},
            {"name": "count", "at": "/n", "type": "integer", "level": 2},
        ]
    }));
    let outcome = rows(&answer, &mapping).unwrap();
    assert_eq!(outcome.columns, ["took", "event", "hour", "count"]);
    let row =
        |event: &str, hour, count| vec![Value::Int(3), text(event), Value::Int(hour), Value::Int(count)];
    assert_eq!(outcome.rows, [row("x", 1, 5), row("x", 2, 6), row("y", 3, 7)]);
}

#[test]
fn an_empty_each_gives_one_row_and_pointers_are_those_of_rfc_6901() {
    let answer = json!({"": 0, "a/b": 1, "m~n": 2, "a.b": {"c": [7, 8]}, "~1": 3});
    let columns: Vec<Json> = ["/", "/a~1b", "/m~0n", "/a.b/c/1", "/~01", "/a.b/c/01", "/a.b/c/2", "/x/y"]
        .iter()
        .map(|at| json!({"name": at, "at": at}))
        .collect();
    let numbers = [Some(0), Some(1), Some(2), Some(8), Some(3), None, None, None];
    let row: Row = numbers.iter().map(|number| number.map_or(Value::Null, Value::Int)).collect();
    assert_eq!(mapped_rows(&answer, json!({"each": [], "columns": columns})), [row]);
    let element_mapping = json!({"each": ["/a.b/c"], "columns": [{"name": "it", "at": ""}]});
    assert_eq!(mapped_rows(&answer, element_mapping), [vec![Value::Int(7)], vec![Value::Int(8)]]);
    let missing_mapping = json!({"each": ["/a.b/d"], "columns": [{"name": "it", "at": ""}]});
    assert_eq!(mapped_rows(&answer, missing_mapping), Vec::<Row>::new());
}

/// Maps `value` to one cell of a column with this description.
fn cell_of(value: &Json, mut column: Json) -> Result<Value> {
    column["name"] = "c".into();
    if column.get("difference").is_none() && column.get("sum").is_none() {
        column["at"] = "/v".into();
    }
    let mapping = mapping(json!({"each": [], "columns": [column]}));
    Ok(rows(&json!({"v": value}), &mapping)?.rows.remove(0).remove(0))
}

#[test]
fn types_are_kept_or_made_and_never_guessed() {
    for (value, column, expected) in [
        (json!(5), json!({}), Value::Int(5)),
        (json!(5.5), json!({}), Value::Float(5.5)),
        (json!("a"), json!({}), text("a")),
        (json!(true), json!({}), Value::Bool(true)),
        (json!(null), json!({"type": "integer"}), Value::Null),
        (json!(9_007_199_254_740_991.0), json!({"type": "integer"}), Value::Int(9_007_199_254_740_991)),
        (json!(-3.0), json!({"type": "integer"}), Value::Int(-3)),
        (json!(i64::MIN), json!({"type": "integer"}), Value::Int(i64::MIN)),
        (json!(5), json!({"type": "float"}), Value::Float(5.0)),
        (json!({"b": [1.5, null]}), json!({"type": "json"}), text(r#"{"b":[1.5,null]}"#)),
        (json!("a"), json!({"type": "json"}), text(r#""a""#)),
        (json!(""), json!({"null": ""}), Value::Null),
        (json!("a"), json!({"null": ""}), text("a")),
        (json!(0), json!({"null": 0, "type": "integer"}), Value::Null),
        (json!(0.0), json!({"null": 0, "type": "integer"}), Value::Null),
        (json!(1_767_323_045_678_i64), json!({"type": "milliseconds"}), Value::Int(1_767_323_045_678_000)),
        (json!(1_767_323_045_678.0), json!({"type": "milliseconds"}), Value::Int(1_767_323_045_678_000)),
        (json!(1_767_323_045_678.901), json!({"type": "milliseconds"}), Value::Int(1_767_323_045_678_901)),
        (json!(-1), json!({"type": "milliseconds"}), Value::Int(-1_000)),
    ] {
        assert_eq!(cell_of(&value, column.clone()).unwrap(), expected, "{value} as {column}");
    }
    for (value, column, message) in [
        (json!(9_007_199_254_740_992.0), json!({"type": "integer"}), "may have lost digits"),
        (json!(0.5), json!({"type": "integer"}), "is not whole"),
        (json!("5"), json!({"type": "integer"}), "has text at `/v`"),
        (json!(5), json!({"type": "text"}), "is to be text"),
        (json!(1), json!({"type": "boolean"}), "is to be a boolean"),
        (json!([1]), json!({}), "take it whole with the type `json`"),
        (json!({}), json!({"type": "text"}), "has an object"),
        (json!(u64::MAX), json!({}), "beyond 64 bits"),
        (json!(i64::MAX), json!({"type": "milliseconds"}), "beyond all times"),
        (json!("2026-01-02"), json!({"type": "milliseconds"}), "is to be a time"),
    ] {
        let error = cell_of(&value, column.clone()).unwrap_err().to_string();
        assert!(error.contains(message) && error.contains("`c`"), "{value} as {column}: {error}");
    }
    let mapping = mapping(json!({"each": ["/buckets"], "columns": [{"name": "c", "at": ""}]}));
    let error = rows(&json!({"buckets": {"a": 1}}), &mapping).unwrap_err().to_string();
    assert!(error.contains("`/buckets` in the answer is an object"), "{error}");
    assert_eq!(rows(&json!({"buckets": null}), &mapping).unwrap().rows, Vec::<Row>::new());
}

#[test]
fn functions_are_exact_and_null_is_nothing() {
    let places = json!([{"at": "/v/a"}, {"at": "/v/b"}]);
    let difference = json!({"difference": places, "type": "integer"});
    let sum = json!({"sum": places});
    for (value, column, expected) in [
        (json!({"a": 9_007_199_254_740_993_i64, "b": 1}), &difference, Value::Int(9_007_199_254_740_992)),
        (json!({"a": 7.0, "b": 2.0}), &difference, Value::Int(5)),
        (json!({"a": 7}), &difference, Value::Null),
        (json!({"b": 7, "a": null}), &difference, Value::Null),
        (json!({"a": 7, "b": 2}), &sum, Value::Int(9)),
        (json!({"a": 7, "b": 0.5}), &sum, Value::Float(7.5)),
        (json!({"b": 7}), &sum, Value::Int(7)),
        (json!({}), &sum, Value::Null),
    ] {
        assert_eq!(cell_of(&value, column.clone()).unwrap(), expected, "{value} as {column}");
    }
    for (value, column, message) in [
        (json!({"a": i64::MIN, "b": 1}), &difference, "does not fit into 64 bits"),
        (json!({"a": 1e16, "b": 1.0}), &difference, "may have lost digits"),
        (json!({"a": "x", "b": "y"}), &sum, "is a function of numbers"),
    ] {
        let error = cell_of(&value, column.clone()).unwrap_err().to_string();
        assert!(error.contains(message), "{value} as {column}: {error}");
    }
}

#[test]
fn mistakes_in_a_mapping_are_named_before_anything_is_asked() {
    let column = |column: Json| json!({"each": ["/a"], "columns": [column]});
    for (spec, message) in [
        (json!({"each": [], "columns": []}), "`columns` is empty"),
        (json!({"each": ["a"], "columns": [{"name": "c", "at": ""}]}), "`a` is no JSON Pointer"),
        (column(json!({"name": "c", "at": "/~2"})), "neither `~0` nor `~1`"),
        (column(json!({"name": "c", "at": "/x~"})), "neither `~0` nor `~1`"),
        (column(json!({"name": "c"})), "none of `at`"),
        (column(json!({"name": "c", "at": "", "sum": [{"at": ""}]})), "more than one of"),
        (column(json!({"name": "c", "at": "", "level": 2})), "is at level 2, but `each` has 1"),
        (column(json!({"name": "c", "sum": [{"at": "", "level": 3}]})), "is at level 3"),
        (column(json!({"name": "c", "sum": []})), "sum of nothing"),
        (column(json!({"name": "c", "sum": [{"at": ""}], "level": 1})), "belongs to each place"),
        (column(json!({"name": "c", "difference": [{"at": ""}]})), "of two places"),
        (column(json!({"name": "c", "sum": [{"at": ""}], "type": "text"})), "cannot be text"),
        (column(json!({"name": "c", "at": "", "type": "int"})), "unknown variant `int`"),
        (column(json!({"name": "c", "at": "", "nul": 1})), "unknown field `nul`"),
    ] {
        let error = serde_json::from_value::<Mapping>(spec.clone()).unwrap_err().to_string();
        assert!(error.contains(message), "{spec}: {error}");
    }
}

proptest! {
    #[test]
    fn there_is_a_row_for_each_element_of_the_last_list_in_order(
        lists in prop::collection::vec(prop::collection::vec(any::<i64>(), 0..5), 0..6)
    ) {
        let outer: Vec<Json> = lists
            .iter()
            .enumerate()
            .map(|(key, inner)| {
                let inner: Vec<Json> = inner.iter().map(|n| json!({"n": n})).collect();
                json!({"key": key, "inner": inner})
            })
            .collect();
        let mapping = json!({
            "each": ["/outer", "/inner"],
            "columns": [{"name": "key", "at": "/key", "level": 1}, {"name": "n", "at": "/n"}]
        });
        let expected: Vec<Row> = lists
            .iter()
            .enumerate()
            .flat_map(|(key, inner)| {
                inner.iter().map(move |n| vec![Value::Int(i64::try_from(key).unwrap()), Value::Int(*n)])
            })
            .collect();
        prop_assert_eq!(mapped_rows(&json!({"outer": outer}), mapping), expected);
    }

    #[test]
    fn any_member_is_found_by_its_escaped_name(name in ".{0,12}", value: i64) {
        let at = format!("/{}", name.replace('~', "~0").replace('/', "~1"));
        let answer = json!({name: value});
        let mapping = json!({"each": [], "columns": [{"name": "c", "at": at}]});
        prop_assert_eq!(mapped_rows(&answer, mapping), vec![vec![Value::Int(value)]]);
    }

    #[test]
    fn a_float_becomes_an_integer_only_if_nothing_is_lost(number: f64) {
        prop_assume!(number.is_finite());
        match cell_of(&json!(number), json!({"type": "integer"})) {
            Ok(Value::Int(integer)) => prop_assert!(integer as f64 == number && integer.unsigned_abs() < 1 << 53),
            Ok(other) => prop_assert!(false, "{other:?}"),
            Err(_) => prop_assert!(number.fract() != 0.0 || number.abs() >= EXACT),
        }
    }
}
