//! Nonblocking connections: clients send one request at a time without waiting for its answer, so that one
//! thread can serve many connections.

mod adapter;

use std::os::fd::BorrowedFd;

use crate::error::{DriverError, Result};
use crate::prepared::{Parameter, PreparedStatement};
use crate::rows::{RowSink, StatementStats};

pub use adapter::BlockingAdapter;

/// Connection that sends one request at a time and receives its answer separately.
pub trait NonblockingConnection: Send {
    /// Prepares a statement, with parameters in the syntax of [`crate::Connection::prepare`]. On a connection
    /// that was opened without preparing, the statement is sent as text each time.
    ///
    /// # Errors
    /// As [`crate::Connection::prepare`].
    fn prepare(&mut self, statement: &str) -> Result<PreparedStatement>;

    /// Sends a prepared statement. Blocks until the statement is complete if the protocol has no nonblocking
    /// mode.
    ///
    /// # Errors
    /// [`crate::DriverError::Crashed`] if the connection is closed. [`crate::DriverError::Refused`] if the
    /// parameters do not match the statement; then nothing was sent. Errors of the statement are returned by
    /// [`NonblockingConnection::receive`].
    fn send(&mut self, prepared: &PreparedStatement, parameters: &[Parameter<'_>]) -> Result<()>;

    /// Reads what has arrived of the answer. Passes the rows to `sink` and returns the report when the answer
    /// is complete. `None` if it is incomplete and `wait` is not set; with `wait` this blocks.
    ///
    /// # Errors
    /// The system's error for the statement, or the sink's error for a row; the connection stays usable after
    /// both. [`crate::DriverError::Crashed`] if the connection is closed.
    fn receive(&mut self, wait: bool, sink: &mut dyn RowSink) -> Result<Option<StatementStats>>;

    /// Returns the file descriptor to poll for answers. `None` if `send` blocks until the answer is there.
    fn descriptor(&self) -> Option<BorrowedFd<'_>>;

    /// Closes the connection. Errors are ignored.
    fn close(self: Box<Self>);
}

/// Returns the placeholder of parameter number `number` (from 1) in statements of `protocol`.
#[must_use]
pub fn parameter_marker(protocol: &str, number: usize) -> String {
    match protocol {
        "postgres" | "duckdb" => format!("${number}"),
        "mysql" => "?".to_owned(),
        "sqlite" => format!("?{number}"),
        "clickhouse" | "chdb" => format!("{{p{number}:String}}"),
        _ => format!(":{number}"),
    }
}

/// Error of a caller that asks for an answer before any statement was sent.
pub fn no_request_pending() -> DriverError {
    DriverError::Unsupported("nothing was sent whose answer could come".to_owned())
}

/// Rows of up to this many columns are passed on without a heap allocation.
const INLINE_LENGTH: usize = 8;

/// List that needs no heap allocation for up to 8 items.
pub enum InlineVec<T> {
    /// Inline items; only the first `usize` of them are valid.
    Few([T; INLINE_LENGTH], usize),
    /// Heap-allocated items, more than 8 of them.
    Many(Vec<T>),
}

impl<T> InlineVec<T> {
    /// Returns the valid items in order.
    pub fn as_slice(&self) -> &[T] {
        match self {
            Self::Few(items, count) => &items[..*count],
            Self::Many(items) => items,
        }
    }
}

/// Builds `count` items in order by calling `item` with each index. `blank` fills unused inline slots.
///
/// # Errors
/// The first error that `item` returns.
#[inline]
pub fn collect_inline<T: Copy>(
    count: usize,
    blank: T,
    mut item: impl FnMut(usize) -> Result<T>,
) -> Result<InlineVec<T>> {
    let mut inline = [blank; INLINE_LENGTH];
    let Some(items) = inline.get_mut(..count) else {
        return Ok(InlineVec::Many((0..count).map(item).collect::<Result<Vec<_>>>()?));
    };
    for (index, slot) in items.iter_mut().enumerate() {
        *slot = item(index)?;
    }
    Ok(InlineVec::Few(inline, count))
}

/// As [`collect_inline`], and passes the items to `take`.
///
/// # Errors
/// The first error that `item` or `take` returns.
#[inline]
pub fn with_inline<T: Copy>(
    count: usize,
    blank: T,
    item: impl FnMut(usize) -> Result<T>,
    take: impl FnOnce(&[T]) -> Result<()>,
) -> Result<()> {
    take(collect_inline(count, blank, item)?.as_slice())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markers_are_those_of_the_protocol() {
        let markers = ["postgres", "mysql", "sqlite", "clickhouse", "mongodb"]
            .map(|protocol| parameter_marker(protocol, 2));
        assert_eq!(markers, ["$2", "?", "?2", "{p2:String}", ":2"]);
    }
}
