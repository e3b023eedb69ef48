//! Answers as typed rows, the common representation for reference answers, drivers and verification.

use std::cmp::Ordering;
use std::fmt;

mod json;

/// Maximum number of characters of a text that are displayed.
const SHOWN_CHARACTERS: usize = 80;

/// One cell of an answer.
///
/// Serialized as the plain JSON value. JSON has no NaN and no infinities, and an answer must be stored
/// exactly as given. These three are therefore `{"float":"NaN"}`, `{"float":"Infinity"}` and
/// `{"float":"-Infinity"}`.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(
    feature = "typescript",
    derive(ts_rs::TS),
    ts(rename = "AnswerValue", type = "string | number | boolean | null | { float: string }")
)]
pub enum Value {
    /// SQL NULL, or an absent JSON path.
    Null,
    /// A boolean: `true` or `false`.
    Bool(bool),
    /// A 64-bit integer. Times (since 1970, UTC) and spans are in microseconds.
    Int(i64),
    /// A double, which may be infinite or NaN.
    Float(f64),
    /// Text, which is compared bytewise.
    Text(String),
}

/// One row of an answer, with one cell per column.
pub type Row = Vec<Value>;

impl Value {
    /// Converts `Some` to a text and `None` to null.
    pub fn text_or_null(text: Option<&str>) -> Self {
        text.map_or(Value::Null, |text| Value::Text(text.to_string()))
    }

    /// Converts a count to an integer. Counts beyond `i64::MAX` cannot occur; they would saturate.
    pub fn count(count: u64) -> Self {
        Value::Int(i64::try_from(count).unwrap_or(i64::MAX))
    }

    /// Compares in a total order: booleans, then numbers by value, then text bytewise, then null.
    ///
    /// Null must be last in descending order too; callers that reverse the result must ensure this
    /// themselves. NaN comes after all other numbers, so that rows of an incorrect answer still have a
    /// deterministic order.
    pub fn compare(&self, other: &Value) -> Ordering {
        match (self, other) {
            (Value::Bool(a), Value::Bool(b)) => a.cmp(b),
            (Value::Int(a), Value::Int(b)) => a.cmp(b),
            (Value::Float(a), Value::Float(b)) => compare_floats(*a, *b),
            (Value::Int(a), Value::Float(b)) => compare_int_float(*a, *b),
            (Value::Float(a), Value::Int(b)) => compare_int_float(*b, *a).reverse(),
            (Value::Text(a), Value::Text(b)) => a.as_bytes().cmp(b.as_bytes()),
            (a, b) => a.rank().cmp(&b.rank()),
        }
    }

    /// Formats the cells of a row for display, in brackets.
    pub fn show_row(row: &[Value]) -> String {
        format!("[{}]", row.iter().map(Value::to_string).collect::<Vec<_>>().join(", "))
    }

    fn rank(&self) -> u8 {
        match self {
            Value::Bool(_) => 0,
            Value::Int(_) | Value::Float(_) => 1,
            Value::Text(_) => 2,
            Value::Null => 3,
        }
    }
}

/// Display format: text is quoted, cut off after 80 characters, and without control characters, because it
/// comes from data.
impl fmt::Display for Value {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Null => formatter.write_str("null"),
            Value::Bool(truth) => write!(formatter, "{truth}"),
            Value::Int(number) => write!(formatter, "{number}"),
            Value::Float(number) => match not_finite(*number) {
                Some(name) => formatter.write_str(name),
                None => write!(formatter, "{number:?}"),
            },
            Value::Text(text) => {
                write!(formatter, "{:?}", text.chars().take(SHOWN_CHARACTERS).collect::<String>())
            }
        }
    }
}

/// Returns the name of a number that JSON lacks: `NaN`, `Infinity` or `-Infinity`. `None` for finite numbers.
pub fn not_finite(number: f64) -> Option<&'static str> {
    match number {
        number if number.is_finite() => None,
        number if number.is_nan() => Some("NaN"),
        number if number > 0.0 => Some("Infinity"),
        _ => Some("-Infinity"),
    }
}

/// Inverse of [`not_finite`]. `None` if no number has this name.
pub fn named_float(name: &str) -> Option<f64> {
    [f64::NAN, f64::INFINITY, f64::NEG_INFINITY].into_iter().find(|number| not_finite(*number) == Some(name))
}

fn compare_floats(a: f64, b: f64) -> Ordering {
    a.partial_cmp(&b).unwrap_or_else(|| a.is_nan().cmp(&b.is_nan()))
}

/// Compares without rounding the integer; a cast to a double would round from 2⁵³ on.
fn compare_int_float(int: i64, float: f64) -> Ordering {
    const TWO_TO_63: f64 = 9_223_372_036_854_775_808.0;
    if float.is_nan() || float >= TWO_TO_63 {
        return Ordering::Less;
    }
    if float < -TWO_TO_63 {
        return Ordering::Greater;
    }
    let integer_part = float.trunc();
    // Exact: the bounds above leave only values that an `i64` can represent.
    int.cmp(&(integer_part as i64)).then_with(|| compare_floats(integer_part, float))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_keep_their_type_through_json() {
        let row: Row = vec![
            Value::Null,
            Value::Bool(true),
            Value::Int(i64::MIN),
            Value::Int(1),
            Value::Float(1.0),
            Value::Text("1".into()),
        ];
        let text = serde_json::to_string(&row).unwrap();
        assert_eq!(text, r#"[null,true,-9223372036854775808,1,1.0,"1"]"#);
        assert_eq!(serde_json::from_str::<Row>(&text).unwrap(), row);
    }

    #[test]
    fn numbers_that_json_has_not_are_kept_and_shown_by_name() {
        let row: Row = vec![
            Value::Float(f64::INFINITY),
            Value::Float(f64::NEG_INFINITY),
            Value::Float(1e308),
            Value::Text("Infinity".into()),
            Value::Null,
        ];
        let text = serde_json::to_string(&row).unwrap();
        assert_eq!(text, r#"[{"float":"Infinity"},{"float":"-Infinity"},1e+308,"Infinity",null]"#);
        assert_eq!(serde_json::from_str::<Row>(&text).unwrap(), row);
        assert_eq!(serde_json::from_value::<Row>(serde_json::to_value(&row).unwrap()).unwrap(), row);
        assert_eq!(Value::show_row(&row), r#"[Infinity, -Infinity, 1e308, "Infinity", null]"#);
        let nan = serde_json::to_string(&Value::Float(f64::NAN)).unwrap();
        assert!(matches!(serde_json::from_str(&nan).unwrap(), Value::Float(number) if number.is_nan()));
        for malformed in
            [r#"{"float":"inf"}"#, r#"{"double":"Infinity"}"#, "{}", "[1]", r#"{"float":"NaN","a":1}"#]
        {
            assert!(serde_json::from_str::<Value>(malformed).is_err(), "{malformed}");
        }
        let error = serde_json::from_str::<Value>("9223372036854775808").unwrap_err().to_string();
        assert!(error.contains("64 bits"), "{error}");
    }

    #[test]
    fn integers_and_floats_compare_without_rounding() {
        let big = 9_007_199_254_740_993; // 2⁵³ + 1, which no double can represent
        assert_eq!(Value::Int(big).compare(&Value::Float(9_007_199_254_740_992.0)), Ordering::Greater);
        assert_eq!(Value::Int(3).compare(&Value::Float(3.5)), Ordering::Less);
        assert_eq!(Value::Int(-3).compare(&Value::Float(-3.5)), Ordering::Greater);
        assert_eq!(Value::Float(f64::INFINITY).compare(&Value::Int(i64::MAX)), Ordering::Greater);
        assert_eq!(
            Value::Int(i64::MIN).compare(&Value::Float(-9_223_372_036_854_775_808.0)),
            Ordering::Equal
        );
        assert_eq!(Value::Float(f64::NAN).compare(&Value::Int(i64::MAX)), Ordering::Greater);
    }
}
