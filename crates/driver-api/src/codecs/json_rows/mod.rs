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
    depth: usize,
    parent: Option<&'l ListContext<'l, T>>,
}

impl<T: Copy> ListContext<'_, T> {
    /// Returns the node of this level or of the level above with that number.
    fn node(&self, depth: usize) -> Option<T> {
        let mut context = self;
        while context.depth > depth {
            context = context.parent?;
        }
        (context.depth == depth).then_some(context.node)
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
    descend(&ListContext { node: answer, depth: 0, parent: None }, mapping, text, sink)
}

/// Iterates over the remaining lists of the mapping below a level. Passes on one row if no list remains.
fn descend<'a, T: Tree<'a>>(
    context: &ListContext<'_, T>,
    mapping: &Mapping,
    text: &mut String,
    sink: &mut dyn RowSink,
) -> Result<()> {
    let Some(pointer) = mapping.lists.get(context.depth) else {
        text.clear();
        let columns = &mapping.columns;
        let null_cell = BuiltCell::Cell(Cell::Null);
        let row = collect_inline(columns.len(), null_cell, |index| cell(context, &columns[index], text))?;
        let finish = |index: usize| match row.as_slice()[index] {
            BuiltCell::Cell(cell) => Ok(cell),
            BuiltCell::Json(start, end) => Ok(Cell::Text(&text[start..end])),
        };
        return with_inline(columns.len(), Cell::Null, finish, |cells| sink.row(cells));
    };
    let Some(list) = pointer.find(context.node) else { return Ok(()) };
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
        descend(&ListContext { node, depth: context.depth + 1, parent: Some(context) }, mapping, text, sink)?;
    }
    Ok(())
}

fn cell<'a, T: Tree<'a>>(
    context: &ListContext<'_, T>,
    column: &Column,
    text: &mut String,
) -> Result<BuiltCell<'a>> {
    let cell = match &column.source {
        Source::Single(path) => return value(context, column, path, text),
        Source::Computed(Function::Difference, paths) => {
            let [first, second] = paths.as_slice() else { return Ok(BuiltCell::Cell(Cell::Null)) };
            match (number(context, column, first, text)?, number(context, column, second, text)?) {
                (Cell::Null, _) | (_, Cell::Null) => Cell::Null,
                (first, second) => add(first, second, column, true)?,
            }
        }
        Source::Computed(Function::Sum, paths) => {
            let mut sum = Cell::Null;
            for path in paths {
                sum = match (sum, number(context, column, path, text)?) {
                    (sum, Cell::Null) => sum,
                    (Cell::Null, addend) => addend,
                    (sum, addend) => add(sum, addend, column, false)?,
                };
            }
            sum
        }
    };
    Ok(BuiltCell::Cell(cell))
}

/// Returns an argument of a function: the value at `path` as a cell.
fn number<'a, T: Tree<'a>>(
    context: &ListContext<'_, T>,
    column: &Column,
    path: &ValuePath,
    text: &mut String,
) -> Result<Cell<'a>> {
    match value(context, column, path, text)? {
        BuiltCell::Cell(cell) => Ok(cell),
        // `Mapping` rejects functions of type JSON, so this is unreachable.
        BuiltCell::Json(..) => Ok(Cell::Null),
    }
}

/// Returns the value at `path`, converted to the column's type. Null if nothing is there.
fn value<'a, T: Tree<'a>>(
    context: &ListContext<'_, T>,
    column: &Column,
    path: &ValuePath,
    text: &mut String,
) -> Result<BuiltCell<'a>> {
    let target = context.node(path.level.unwrap_or(context.depth)).and_then(|node| path.pointer.find(node));
    let Some(node) = target else { return Ok(BuiltCell::Cell(Cell::Null)) };
    let leaf = node.leaf();
    if matches!(leaf, Leaf::Null) || column.null.as_ref().is_some_and(|stand_in| leaf.is(stand_in)) {
        return Ok(BuiltCell::Cell(Cell::Null));
    }
    let mismatch = |expected: &str, advice: &str| {
        let kind = leaf.type_name();
        Err(DriverError::Unsupported(format!(
            "column `{}` is to be {expected}, but the answer has {kind} at `{}`{advice}",
            column.name, path.pointer
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
        (Some(Type::Milliseconds), Leaf::Int(number)) => match instant::from_ticks(number, 3) {
            Some(microseconds) => Cell::Int(microseconds),
            None => return mismatch("a time", ", which is beyond all times"),
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
            let problem = if number.fract() == 0.0 { "may have lost digits" } else { "is not whole" };
            return mismatch("an integer", &format!(", {number}, which {problem}"));
        }
        (Some(Type::Float), Leaf::Int(number)) => Cell::Float(number as f64),
        (None | Some(Type::Float), Leaf::Float(number)) => Cell::Float(number),
        (None | Some(Type::Text), Leaf::Text(text)) => Cell::Text(text),
        (None | Some(Type::Boolean), Leaf::Bool(truth)) => Cell::Bool(truth),
        (None, Leaf::List | Leaf::Object) => {
            return mismatch("one value", ": name a place in it, or take it whole with the type `json`");
        }
        (None, _) => return mismatch("a number of 64 bits", ": convert it in the statement"),
        (Some(kind), _) => {
            return mismatch(kind.name(), ": convert it in the statement, or say another type");
        }
    }))
}

/// Adds two numbers, or subtracts the second one if `subtracts` is set. The result is an integer if both are.
fn add<'a>(first: Cell<'a>, second: Cell<'a>, column: &Column, subtracts: bool) -> Result<Cell<'a>> {
    let to_float = |cell: Cell<'_>| match cell {
        Cell::Int(number) => Some(number as f64),
        Cell::Float(number) => Some(number),
        _ => None,
    };
    let invalid = |problem: &str| DriverError::Unsupported(format!("column `{}` {problem}", column.name));
    match (first, second) {
        (Cell::Int(first), Cell::Int(second)) => {
            let result = if subtracts { first.checked_sub(second) } else { first.checked_add(second) };
            result.map(Cell::Int).ok_or_else(|| invalid("does not fit into 64 bits"))
        }
        _ => match (to_float(first), to_float(second)) {
            (Some(first), Some(second)) => {
                Ok(Cell::Float(if subtracts { first - second } else { first + second }))
            }
            _ => Err(invalid("is a function of numbers, but the answer has other values there")),
        },
    }
}
