//! Lanes: connections over which clients send one request at a time without waiting for its answer, so that one thread
//! can serve many.

mod adapter;

use std::os::fd::BorrowedFd;

use crate::error::{DriverError, Result};
use crate::prepared::{Parameter, Prepared};
use crate::rows::{Report, RowSink};

pub use adapter::Adapter;

/// A connection over which one request at a time is sent without waiting for its answer.
pub trait Lane: Send {
    /// Prepares one statement, with parameters as [`crate::Connection::prepare`] has them. On a lane that was opened
    /// without preparing, the statement is sent as text each time.
    ///
    /// # Errors
    /// As [`crate::Connection::prepare`].
    fn prepare(&mut self, statement: &str) -> Result<Prepared>;

    /// Sends a prepared statement. Where the protocol has no way of not waiting, it is executed here, to its end.
    ///
    /// # Errors
    /// [`crate::DriverError::Crashed`] when the connection is gone, [`crate::DriverError::Refused`] for parameters that
    /// do not fit: then nothing was sent. What the system says against the statement comes by [`Lane::receive`].
    fn send(&mut self, prepared: &Prepared, parameters: &[Parameter<'_>]) -> Result<()>;

    /// Takes what has come of the answer, and hands its rows to `sink` once it is complete. None while it is not; with
    /// `wait` it is waited for.
    ///
    /// # Errors
    /// What the system said against the statement, or the sink against a row: the lane stays usable after both.
    /// [`crate::DriverError::Crashed`] when the connection is gone.
    fn receive(&mut self, wait: bool, sink: &mut dyn RowSink) -> Result<Option<Report>>;

    /// What to poll for answers; none where `send` does everything.
    fn descriptor(&self) -> Option<BorrowedFd<'_>>;

    /// Ends the connection.
    fn close(self: Box<Self>);
}

/// How the `n`th parameter, from 1, stands in the statements of a protocol.
#[must_use]
pub fn marker(protocol: &str, n: usize) -> String {
    match protocol {
        "postgres" | "duckdb" => format!("${n}"),
        "mysql" => "?".to_owned(),
        "sqlite" => format!("?{n}"),
        "clickhouse" | "chdb" => format!("{{p{n}:String}}"),
        _ => format!(":{n}"),
    }
}

/// What an answer is asked for before anything is sent.
pub fn nothing_sent() -> DriverError {
    DriverError::Unsupported("nothing was sent whose answer could come".to_owned())
}

/// Columns that need no memory of their own when a row is handed over.
const USUAL_COLUMNS: usize = 8;

/// Items that need no memory of their own when they are few.
pub enum Few<T> {
    /// As many of them as are said.
    Few([T; USUAL_COLUMNS], usize),
    /// All of them.
    Many(Vec<T>),
}

impl<T> Few<T> {
    /// All of them, in order.
    pub fn all(&self) -> &[T] {
        match self {
            Self::Few(items, count) => &items[..*count],
            Self::Many(items) => items,
        }
    }
}

/// Makes `count` items, one after the other.
///
/// # Errors
/// Those of `item`.
#[inline]
pub fn few<T: Copy>(count: usize, blank: T, mut item: impl FnMut(usize) -> Result<T>) -> Result<Few<T>> {
    let mut few = [blank; USUAL_COLUMNS];
    let Some(items) = few.get_mut(..count) else {
        return Ok(Few::Many((0..count).map(item).collect::<Result<Vec<_>>>()?));
    };
    for (index, place) in items.iter_mut().enumerate() {
        *place = item(index)?;
    }
    Ok(Few::Few(few, count))
}

/// Makes `count` items, one after the other, and hands them over.
///
/// # Errors
/// Those of `item` and of `take`.
#[inline]
pub fn with_few<T: Copy>(
    count: usize,
    blank: T,
    item: impl FnMut(usize) -> Result<T>,
    take: impl FnOnce(&[T]) -> Result<()>,
) -> Result<()> {
    take(few(count, blank, item)?.all())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markers_are_those_of_the_protocol() {
        let all =
            ["postgres", "mysql", "sqlite", "clickhouse", "mongodb"].map(|protocol| marker(protocol, 2));
        assert_eq!(all, ["$2", "?", "?2", "{p2:String}", ":2"]);
    }
}
