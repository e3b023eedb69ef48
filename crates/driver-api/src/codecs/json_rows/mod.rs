//! Converts an answer that is a JSON tree into typed rows, according to the `rows` mapping of a statement.
//! Independent of protocols and systems.

mod mapping;
#[cfg(test)]
mod tests;
mod tree;
mod written;

pub use mapping::Mapping;
use mapping::{Column, Function, Source, Type, ValuePath};
pub use tree::{Leaf, Tree, quote};
pub use written::{RawJson, RawMembers};

use jsonathlon_schema::instant;

use crate::driver::{DriverError, Result};
use crate::nonblocking::{collect_inline, with_inline};
use crate::rows::{Cell, RowSink};

/// 2^53: below this every integer is exact in a double. A double from here on may have lost digits.
const EXACT: f64 = 9_007_199_254_740_992.0;

/// Cell of the row under construction.
#[derive(Clone, Copy)]
enum BuiltCell<'a> {
    Cell(Cell<'a>),
    /// Start and end of the cell's JSON text in the row's text buffer.
    Json(usize, usize),
}

/// Element of a list from which a row is built, linked to the elements that contain it, up to the answer.
struct ListContext<'l, T> {
    node: T,
    /// Depth of the element: 0 for the answer, 1 for an element of the first list.
    number: usize,
    above: Option<&'l ListContext<'l, T>>,
}

impl<T: Copy> ListContext<'_, T> {
    /// Returns the node of this level or of the level above with that number.
    fn node(&self, number: usize) -> Option<T> {
        let mut level = self;
        while level.number > number {
            level = level.above?;
        }
        (level.number == number).then_some(level.node)
    }
}

/// Passes the column names of `mapping` to `sink`.
///
/// # Errors
/// Errors that `sink` returns.
pub fn columns(mapping: &Mapping, sink: &mut dyn RowSink) -> Result<()> {
    let columns = &mapping.columns;
    with_inline(columns.len(), "", |index| Ok(columns[index].name.as_str()), |names| sink.columns(names))
}

/// Passes the rows that `mapping` finds in `answer` to `sink`. `text` is a reusable buffer for JSON cells.
///
/// # Errors
/// [`DriverError::Unsupported`] if a value does not have the type that the mapping declares; errors that
/// `sink` returns.
pub fn rows<'a, T: Tree<'a>>(
    answer: T,
    mapping: &Mapping,
    text: &mut String,
    sink: &mut dyn RowSink,
) -> Result<()> {
    descend(&ListContext { node: answer, number: 0, above: None }, mapping, text, sink)
}

/// Iterates over the remaining lists of the mapping below a level. Passes on one row if no list remains.
fn descend<'a, T: Tree<'a>>(
    level: &ListContext<'_, T>,
    mapping: &Mapping,
    text: &mut String,
    sink: &mut dyn RowSink,
) -> Result<()> {
    let Some(pointer) = mapping.each.get(level.number) else {
        text.clear();
        let columns = &mapping.columns;
        let none = BuiltCell::Cell(Cell::Null);
        let row = collect_inline(columns.len(), none, |index| cell(level, &columns[index], text))?;
        let made = |index: usize| match row.all()[index] {
            BuiltCell::Cell(cell) => Ok(cell),
            BuiltCell::Json(start, end) => Ok(Cell::Text(&text[start..end])),
        };
        return with_inline(columns.len(), Cell::Null, made, |cells| sink.row(cells));
    };
    let Some(list) = pointer.find(level.node) else { return Ok(()) };
    let Some(elements) = list.elements() else {
        return match list.leaf() {
            Leaf::Null => Ok(()),
            other => Err(DriverError::Unsupported(format!(
                "`{pointer}` in the answer is {} and not a list: name another place in `each`",
                other.type_name()
            ))),
        };
    };
    for node in elements {
        descend(&ListContext { node, number: level.number + 1, above: Some(level) }, mapping, text, sink)?;
    }
    Ok(())
}

fn cell<'a, T: Tree<'a>>(
    level: &ListContext<'_, T>,
    column: &Column,
    text: &mut String,
) -> Result<BuiltCell<'a>> {
    let cell = match &column.source {
        Source::At(place) => return value(level, column, place, text),
        Source::Of(Function::Difference, places) => {
            let [first, second] = places.as_slice() else { return Ok(BuiltCell::Cell(Cell::Null)) };
            match (number(level, column, first, text)?, number(level, column, second, text)?) {
                (Cell::Null, _) | (_, Cell::Null) => Cell::Null,
                (first, second) => add(first, second, column, true)?,
            }
        }
        Source::Of(Function::Sum, places) => {
            let mut sum = Cell::Null;
            for place in places {
                sum = match (sum, number(level, column, place, text)?) {
                    (sum, Cell::Null) => sum,
                    (Cell::Null, one) => one,
                    (sum, one) => add(sum, one, column, false)?,
                };
            }
            sum
        }
    };
    Ok(BuiltCell::Cell(cell))
}

/// Returns an argument of a function: the value at `place` as a cell.
fn number<'a, T: Tree<'a>>(
    level: &ListContext<'_, T>,
    column: &Column,
    place: &ValuePath,
    text: &mut String,
) -> Result<Cell<'a>> {
    match value(level, column, place, text)? {
        BuiltCell::Cell(cell) => Ok(cell),
        // `Mapping` rejects functions of type JSON, so this is unreachable.
        BuiltCell::Json(..) => Ok(Cell::Null),
    }
}

/// Returns the value at `place`, converted to the column's type. Null if nothing is there.
fn value<'a, T: Tree<'a>>(
    level: &ListContext<'_, T>,
    column: &Column,
    place: &ValuePath,
    text: &mut String,
) -> Result<BuiltCell<'a>> {
    let found = level.node(place.level.unwrap_or(level.number)).and_then(|node| place.at.find(node));
    let Some(node) = found else { return Ok(BuiltCell::Cell(Cell::Null)) };
    let leaf = node.leaf();
    if matches!(leaf, Leaf::Null) || column.null.as_ref().is_some_and(|stand_in| leaf.is(stand_in)) {
        return Ok(BuiltCell::Cell(Cell::Null));
    }
    let wrong = |wanted: &str, advice: &str| {
        let kind = leaf.type_name();
        Err(DriverError::Unsupported(format!(
            "column `{}` is to be {wanted}, but the answer has {kind} at `{}`{advice}",
            column.name, place.at
        )))
    };
    Ok(BuiltCell::Cell(match (column.kind, leaf) {
        (Some(Type::Json), _) => {
            let start = text.len();
            node.write(text);
            return Ok(BuiltCell::Json(start, text.len()));
        }
        (None | Some(Type::Integer), Leaf::Int(number)) => Cell::Int(number),
        (None | Some(Type::Integer | Type::Milliseconds), Leaf::Time(microseconds)) => {
            Cell::Int(microseconds)
        }
        (Some(Type::Milliseconds), Leaf::Int(number)) => match instant::of_ticks(number, 3) {
            Some(microseconds) => Cell::Int(microseconds),
            None => return wrong("a time", ", which is beyond all times"),
        },
        (Some(Type::Milliseconds), Leaf::Float(number)) if number.abs() < EXACT / 1_000.0 => {
            // Microseconds are rounded to the nearest integer, which is far below the limits of i64.
            Cell::Int((number * 1_000.0).round() as i64)
        }
        (Some(Type::Integer), Leaf::Float(number)) if number.fract() == 0.0 && number.abs() < EXACT => {
            // The cast is exact: the number is integral and far below the limits of i64.
            Cell::Int(number as i64)
        }
        (Some(Type::Integer), Leaf::Float(number)) => {
            let why = if number.fract() == 0.0 { "may have lost digits" } else { "is not whole" };
            return wrong("an integer", &format!(", {number}, which {why}"));
        }
        (Some(Type::Float), Leaf::Int(number)) => Cell::Float(number as f64),
        (None | Some(Type::Float), Leaf::Float(number)) => Cell::Float(number),
        (None | Some(Type::Text), Leaf::Text(text)) => Cell::Text(text),
        (None | Some(Type::Boolean), Leaf::Bool(truth)) => Cell::Bool(truth),
        (None, Leaf::List | Leaf::Object) => {
            return wrong("one value", ": name a place in it, or take it whole with the type `json`");
        }
        (None, _) => return wrong("a number of 64 bits", ": convert it in the statement"),
        (Some(kind), _) => return wrong(kind.name(), ": convert it in the statement, or say another type"),
    }))
}

/// Adds two numbers, or subtracts the second one if `negative` is set. The result is an integer if both are.
fn add<'a>(first: Cell<'a>, second: Cell<'a>, column: &Column, negative: bool) -> Result<Cell<'a>> {
    let float = |cell: Cell<'_>| match cell {
        Cell::Int(number) => Some(number as f64),
        Cell::Float(number) => Some(number),
        _ => None,
    };
    let unfit = |why: &str| DriverError::Unsupported(format!("column `{}` {why}", column.name));
    match (first, second) {
        (Cell::Int(first), Cell::Int(second)) => {
            let result = if negative { first.checked_sub(second) } else { first.checked_add(second) };
            result.map(Cell::Int).ok_or_else(|| unfit("does not fit into 64 bits"))
        }
        _ => match (float(first), float(second)) {
            (Some(first), Some(second)) => {
                Ok(Cell::Float(if negative { first - second } else { first + second }))
            }
            _ => Err(unfit("is a function of numbers, but the answer has other values there")),
        },
    }
}
