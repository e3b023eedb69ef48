//! How an answer that is a tree of JSON becomes typed rows, as the `rows` of a statement says. No protocol
//! and no system is known here.

mod mapping;
#[cfg(test)]
mod tests;
mod tree;
mod written;

use jsonathlon_dataset::value::{Row, Value};

pub(crate) use mapping::Mapping;
use mapping::{Column, Function, Place, Source, Type};
pub(crate) use tree::{Leaf, Tree};
pub(crate) use written::{Members, Written};

use crate::driver::{DriverError, Result};
use crate::rows::{Cell, RowSink};

/// Below this every whole number has a double of its own; a double from here on may have lost digits.
const EXACT: f64 = 9_007_199_254_740_992.0;

/// Hands over the rows that `mapping` finds in `answer`.
pub(crate) fn rows<T: Tree>(answer: &T, mapping: &Mapping, sink: &mut dyn RowSink) -> Result<()> {
    sink.columns(&mapping.columns.iter().map(|column| column.name.as_str()).collect::<Vec<_>>())?;
    descend(&mut vec![answer], mapping, sink)
}

/// Goes into the lists that are left below the last of `levels`, and makes a row where none is left.
fn descend<T: Tree>(levels: &mut Vec<&T>, mapping: &Mapping, sink: &mut dyn RowSink) -> Result<()> {
    let Some(pointer) = mapping.each.get(levels.len() - 1) else {
        let row = mapping.columns.iter().map(|column| cell(levels, column)).collect::<Result<Row>>()?;
        return sink.row(&row.iter().map(Cell::from).collect::<Vec<_>>());
    };
    let Some(list) = levels.last().and_then(|node| pointer.find(*node)) else { return Ok(()) };
    let Some(elements) = list.elements() else {
        return match list.leaf() {
            Leaf::Null => Ok(()),
            other => Err(DriverError::Unsupported(format!(
                "`{pointer}` in the answer is {} and not a list: name another place in `each`",
                other.kind()
            ))),
        };
    };
    for element in elements {
        levels.push(element);
        descend(levels, mapping, sink)?;
        levels.pop();
    }
    Ok(())
}

fn cell<T: Tree>(levels: &[&T], column: &Column) -> Result<Value> {
    let value = match &column.source {
        Source::At(place) => value(levels, column, place)?,
        Source::Of(Function::Difference, places) => {
            let [first, second] = places.as_slice() else { return Ok(Value::Null) };
            match (value(levels, column, first)?, value(levels, column, second)?) {
                (Value::Null, _) | (_, Value::Null) => Value::Null,
                (first, second) => add(&first, &second, column, true)?,
            }
        }
        Source::Of(Function::Sum, places) => {
            let mut sum = Value::Null;
            for place in places {
                sum = match (sum, value(levels, column, place)?) {
                    (sum, Value::Null) => sum,
                    (Value::Null, one) => one,
                    (sum, one) => add(&sum, &one, column, false)?,
                };
            }
            sum
        }
    };
    Ok(value)
}

/// The value at a place, of the column's type.
fn value<T: Tree>(levels: &[&T], column: &Column, place: &Place) -> Result<Value> {
    let level = place.level.unwrap_or(levels.len() - 1);
    let Some(node) = levels.get(level).and_then(|node| place.at.find(*node)) else { return Ok(Value::Null) };
    let leaf = node.leaf();
    if matches!(leaf, Leaf::Null) || column.null.as_ref().is_some_and(|stand_in| leaf.is(stand_in)) {
        return Ok(Value::Null);
    }
    let wrong = |wanted: &str, advice: &str| {
        let kind = leaf.kind();
        Err(DriverError::Unsupported(format!(
            "column `{}` is to be {wanted}, but the answer has {kind} at `{}`{advice}",
            column.name, place.at
        )))
    };
    Ok(match (column.kind, &leaf) {
        (Some(Type::Json), _) => Value::Text(node.json()),
        (None | Some(Type::Integer), Leaf::Int(number)) => Value::Int(*number),
        (Some(Type::Integer), Leaf::Float(number)) if number.fract() == 0.0 && number.abs() < EXACT => {
            // It is whole and far from the bounds.
            Value::Int(*number as i64)
        }
        (Some(Type::Integer), Leaf::Float(number)) => {
            let why = if number.fract() == 0.0 { "may have lost digits" } else { "is not whole" };
            return wrong("an integer", &format!(", {number}, which {why}"));
        }
        (Some(Type::Float), Leaf::Int(number)) => Value::Float(*number as f64),
        (None | Some(Type::Float), Leaf::Float(number)) => Value::Float(*number),
        (None | Some(Type::Text), Leaf::Text(text)) => Value::Text((*text).to_owned()),
        (None | Some(Type::Boolean), Leaf::Bool(truth)) => Value::Bool(*truth),
        (None, Leaf::List | Leaf::Object) => {
            return wrong("one value", ": name a place in it, or take it whole with the type `json`");
        }
        (None, _) => return wrong("a number of 64 bits", ": convert it in the statement"),
        (Some(kind), _) => return wrong(kind.name(), ": convert it in the statement, or say another type"),
    })
}

/// The sum of two numbers, or their difference.
fn add(first: &Value, second: &Value, column: &Column, negative: bool) -> Result<Value> {
    let float = |value: &Value| match value {
        Value::Int(number) => Some(*number as f64),
        Value::Float(number) => Some(*number),
        _ => None,
    };
    let unfit = |why: &str| DriverError::Unsupported(format!("column `{}` {why}", column.name));
    match (first, second) {
        (Value::Int(first), Value::Int(second)) => {
            let result = if negative { first.checked_sub(*second) } else { first.checked_add(*second) };
            result.map(Value::Int).ok_or_else(|| unfit("does not fit into 64 bits"))
        }
        _ => match (float(first), float(second)) {
            (Some(first), Some(second)) => {
                Ok(Value::Float(if negative { first - second } else { first + second }))
            }
            _ => Err(unfit("is a function of numbers, but the answer has other values there")),
        },
    }
}
