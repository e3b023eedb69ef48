//! Cells converted to their declared types, and the equality of two cells.

use std::cmp::Ordering;

use jsonathlon_schema::instant;
use jsonathlon_schema::value::{Row, Value, named_float, not_finite};
use serde_json::Value as Json;

use super::{CellType, ComparisonRules};

/// Whole numbers up to this are compared exactly (2⁵³): every double in this range is the number that it is
/// nearest to.
const EXACT: f64 = 9_007_199_254_740_992.0;
/// Maximum difference of other numbers, relative to the larger one or to their scale.
const TOLERANCE: f64 = 1e-9;

/// A cell converted to its declared type. A value that does not fit stays as it is and equals only values of
/// its own type.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Cell {
    Null,
    Bool(bool),
    Number(Number),
    Text(String),
    Json(Json),
    /// Microseconds since 1970, UTC.
    Time(i64),
}

/// A number: exact if whole, otherwise a double.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Number {
    Whole(i128),
    Other(f64),
}

impl Number {
    fn of_float(float: f64) -> Self {
        // Within 2⁵³ the cast is exact.
        if float.fract() == 0.0 && float.abs() <= EXACT {
            Self::Whole(float as i128)
        } else {
            Self::Other(float)
        }
    }

    /// Parses a decimal number without a leading `+`, or the name of a non-finite one.
    fn parse(text: &str) -> Option<Self> {
        if let Some(number) = named_float(text) {
            return Some(Self::Other(number));
        }
        if let Ok(integer) = text.parse::<i128>() {
            return (!text.starts_with('+')).then_some(Self::Whole(integer));
        }
        let is_number = text.bytes().all(|byte| byte.is_ascii_digit() || b"+-.eE".contains(&byte));
        let float = text.parse::<f64>().ok().filter(|_| is_number && !text.starts_with('+'))?;
        Some(Self::of_float(float))
    }

    pub(super) fn value(self) -> f64 {
        match self {
            Self::Whole(integer) => integer as f64,
            Self::Other(float) => float,
        }
    }

    fn is_exact(self) -> bool {
        matches!(self, Self::Whole(integer) if integer.unsigned_abs() <= EXACT as u128)
    }

    /// Returns `true` if the numbers are equal within the rounding of sums of addends of this `scale` in
    /// different order. `scale` is 0 if unknown.
    pub(super) fn is_near(self, other: Self, scale: f64) -> bool {
        // Whole addends are added exactly as long as all sums are exact.
        if self.is_exact() && other.is_exact() && scale <= EXACT {
            return self == other;
        }
        let (a, b) = (self.value(), other.value());
        // Any number would be within a relative tolerance of infinity.
        if !a.is_finite() || !b.is_finite() {
            return a == b || (a.is_nan() && b.is_nan());
        }
        a == b || (a - b).abs() <= TOLERANCE * a.abs().max(b.abs()).max(scale)
    }
}

impl Cell {
    pub(super) fn convert(cell_type: CellType, value: &Value) -> Self {
        match (cell_type, value) {
            (_, Value::Null) => Self::Null,
            (CellType::Json, value) => json(value),
            (CellType::Boolean, Value::Int(0)) => Self::Bool(false),
            (CellType::Boolean, Value::Int(1)) => Self::Bool(true),
            (CellType::Time, Value::Int(microseconds)) => Self::Time(*microseconds),
            (CellType::Time, Value::Float(microseconds)) => match Number::of_float(*microseconds) {
                // A whole number from `of_float` is a double within 2⁵³, so the cast is exact.
                Number::Whole(integer) => Self::Time(integer as i64),
                other => Self::Number(other),
            },
            (CellType::Time, Value::Text(text)) => {
                instant::from_text(text).map_or_else(|| Self::Text(text.clone()), Self::Time)
            }
            (CellType::Number, Value::Text(text)) => {
                Number::parse(text).map_or_else(|| Self::Text(text.clone()), Self::Number)
            }
            (_, Value::Bool(truth)) => Self::Bool(*truth),
            (_, Value::Int(integer)) => Self::Number(Number::Whole(i128::from(*integer))),
            (_, Value::Float(float)) => Self::Number(Number::of_float(*float)),
            (_, Value::Text(text)) => Self::Text(text.clone()),
        }
    }

    pub(super) fn equals(&self, other: &Self) -> bool {
        self.is_near(other, 0.0)
    }

    /// Like [`Self::equals`], for cells whose numbers are sums of addends of this `scale`.
    pub(super) fn is_near(&self, other: &Self, scale: f64) -> bool {
        match (self, other) {
            (Self::Number(a), Self::Number(b)) => a.is_near(*b, scale),
            (Self::Json(a), Self::Json(b)) => same_json(a, b),
            (a, b) => a == b,
        }
    }

    /// Returns an order in which equal cells are adjacent, as far as the tolerance allows.
    pub(super) fn order(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Self::Bool(a), Self::Bool(b)) => a.cmp(b),
            (Self::Number(a), Self::Number(b)) => a.value().total_cmp(&b.value()),
            (Self::Text(a), Self::Text(b)) => a.cmp(b),
            (Self::Time(a), Self::Time(b)) => a.cmp(b),
            (Self::Json(a), Self::Json(b)) => order_of_json(a, b),
            (a, b) => a.rank().cmp(&b.rank()),
        }
    }

    /// Returns the position of the cell's type in that order.
    pub(super) fn rank(&self) -> u8 {
        match self {
            Self::Null => 0,
            Self::Bool(_) => 1,
            Self::Number(_) => 2,
            Self::Text(_) => 3,
            Self::Time(_) => 4,
            Self::Json(_) => 5,
        }
    }

    /// Returns `true` if the cell is compared within a tolerance.
    pub(super) fn is_number(&self) -> bool {
        matches!(self, Self::Number(_))
    }
}

fn json(value: &Value) -> Cell {
    let json = match value {
        Value::Null => Json::Null,
        Value::Bool(truth) => Json::Bool(*truth),
        Value::Int(integer) => Json::from(*integer),
        // As a JSON value it would become null.
        Value::Float(float) if not_finite(*float).is_some() => return Cell::Number(Number::Other(*float)),
        Value::Float(float) => Json::from(*float),
        Value::Text(text) => serde_json::from_str(text).unwrap_or_else(|_| Json::String(text.clone())),
    };
    if json.is_null() { Cell::Null } else { Cell::Json(json) }
}

fn number(number: &serde_json::Number) -> Option<Number> {
    let integer = number.as_i64().map(i128::from).or_else(|| number.as_u64().map(i128::from));
    integer.map(Number::Whole).or_else(|| number.as_f64().map(Number::of_float))
}

fn same_json(a: &Json, b: &Json) -> bool {
    match (a, b) {
        (Json::Number(a), Json::Number(b)) => match (number(a), number(b)) {
            (Some(a), Some(b)) => a.is_near(b, 0.0),
            _ => a == b,
        },
        (Json::Array(a), Json::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same_json(a, b))
        }
        (Json::Object(a), Json::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(name, a)| b.get(name).is_some_and(|b| same_json(a, b)))
        }
        (a, b) => a == b,
    }
}

fn order_of_json(a: &Json, b: &Json) -> Ordering {
    let rank = |json: &Json| match json {
        Json::Null => 0,
        Json::Bool(_) => 1,
        Json::Number(_) => 2,
        Json::String(_) => 3,
        Json::Array(_) => 4,
        Json::Object(_) => 5,
    };
    match (a, b) {
        (Json::Bool(a), Json::Bool(b)) => a.cmp(b),
        (Json::Number(a), Json::Number(b)) => {
            let value = |number: &serde_json::Number| number.as_f64().unwrap_or(f64::NAN);
            value(a).total_cmp(&value(b))
        }
        (Json::String(a), Json::String(b)) => a.cmp(b),
        (Json::Array(a), Json::Array(b)) => {
            let elements = a.iter().zip(b).map(|(a, b)| order_of_json(a, b));
            elements.fold(Ordering::Equal, Ordering::then).then(a.len().cmp(&b.len()))
        }
        (Json::Object(a), Json::Object(b)) => {
            let (mut a, mut b): (Vec<_>, Vec<_>) = (a.iter().collect(), b.iter().collect());
            a.sort_by_key(|(name, _)| *name);
            b.sort_by_key(|(name, _)| *name);
            let members = a.iter().zip(&b).map(|(a, b)| a.0.cmp(b.0).then_with(|| order_of_json(a.1, b.1)));
            members.fold(Ordering::Equal, Ordering::then).then(a.len().cmp(&b.len()))
        }
        (a, b) => rank(a).cmp(&rank(b)),
    }
}

/// Rows of cells converted to their declared types.
pub(super) type Typed = Vec<Vec<Cell>>;

/// Converts rows to the types that their columns declare.
pub(super) fn typed(rules: &ComparisonRules, rows: &[Row]) -> Typed {
    let row = |row: &Row| {
        let cells = rules.columns.iter().zip(row);
        cells.map(|(column, value)| Cell::convert(column.cell_type, value)).collect()
    };
    rows.iter().map(row).collect()
}

/// Like [`typed`], with every string column unquoted whose cells are all quoted as JSON strings. `None` if
/// there is no such column.
pub(super) fn unquoted(rules: &ComparisonRules, rows: &[Row]) -> Option<Typed> {
    let is_quoted = |index: usize| {
        let mut cells =
            rows.iter().filter_map(|row| row.get(index)).filter(|cell| **cell != Value::Null).peekable();
        cells.peek().is_some()
            && cells.all(|cell| matches!(cell, Value::Text(text) if unquote(text).is_some()))
    };
    let quoted: Vec<bool> = (rules.columns.iter().enumerate())
        .map(|(index, column)| column.cell_type == CellType::String && is_quoted(index))
        .collect();
    if !quoted.contains(&true) {
        return None;
    }
    let mut typed = typed(rules, rows);
    for row in &mut typed {
        for (cell, _) in row.iter_mut().zip(&quoted).filter(|(_, quoted)| **quoted) {
            if let Cell::Text(text) = cell
                && let Some(decoded) = unquote(text)
            {
                *text = decoded;
            }
        }
    }
    Some(typed)
}

/// Decodes a JSON string. `None` if the text is not one.
fn unquote(text: &str) -> Option<String> {
    if !text.starts_with('"') {
        return None;
    }
    serde_json::from_str(text).ok()
}
