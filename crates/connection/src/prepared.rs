//! Statements that are prepared once and executed many times, and what they are executed with.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::error::{DriverError, Result};

/// A value that a prepared statement is executed with, borrowed from the caller.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Parameter<'a> {
    /// SQL NULL.
    Null,
    /// A truth value.
    Bool(bool),
    /// A 64-bit integer.
    Int(i64),
    /// A double.
    Float(f64),
    /// Text.
    Text(&'a str),
    /// A value of JSON by its text: a tree where the protocol has such a thing, text elsewhere.
    Json(&'a str),
}

/// A statement that a connection has prepared; it lives as long as that connection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prepared {
    connection: u64,
    index: usize,
}

impl Prepared {
    /// The statement of a lane of one's own, which tells its statements apart by this number.
    #[must_use]
    pub fn numbered(index: usize) -> Self {
        Self { connection: u64::MAX, index }
    }

    /// That number.
    #[must_use]
    pub fn number(&self) -> usize {
        self.index
    }
}

static CONNECTIONS: AtomicU64 = AtomicU64::new(0);

/// The prepared statements of one connection, as its protocol has them.
#[derive(Debug)]
pub struct Statements<T> {
    connection: u64,
    all: Vec<Option<T>>,
    /// Places that are free again.
    free: Vec<usize>,
}

impl<T> Default for Statements<T> {
    fn default() -> Self {
        Self { connection: CONNECTIONS.fetch_add(1, Ordering::Relaxed), all: Vec::new(), free: Vec::new() }
    }
}

impl<T> Statements<T> {
    /// Keeps a statement.
    pub fn keep(&mut self, statement: T) -> Prepared {
        let index = self.free.pop().unwrap_or(self.all.len());
        match self.all.get_mut(index) {
            Some(place) => *place = Some(statement),
            None => self.all.push(Some(statement)),
        }
        Prepared { connection: self.connection, index }
    }

    /// Takes a statement out again.
    pub fn remove(&mut self, prepared: &Prepared) -> Option<T> {
        let own = prepared.connection == self.connection;
        let removed = self.all.get_mut(prepared.index).filter(|_| own)?.take()?;
        self.free.push(prepared.index);
        Some(removed)
    }

    /// The statement that is meant, to be changed.
    ///
    /// # Errors
    /// [`DriverError::Unsupported`] for one of another connection.
    pub fn get_mut(&mut self, prepared: &Prepared) -> Result<&mut T> {
        self.get(prepared)?;
        self.all.get_mut(prepared.index).and_then(Option::as_mut).ok_or_else(foreign)
    }

    /// The statement that is meant.
    ///
    /// # Errors
    /// [`DriverError::Unsupported`] for one of another connection.
    pub fn get(&self, prepared: &Prepared) -> Result<&T> {
        let own = (prepared.connection == self.connection).then(|| self.all.get(prepared.index)).flatten();
        own.and_then(Option::as_ref).ok_or_else(foreign)
    }
}

fn foreign() -> DriverError {
    DriverError::Unsupported("the statement was prepared by another connection".to_owned())
}

/// Fails unless there are as many parameters as the statement has.
///
/// # Errors
/// [`DriverError::Refused`] where there are more or fewer.
pub fn expect(wanted: usize, parameters: &[Parameter<'_>]) -> Result<()> {
    if parameters.len() == wanted {
        return Ok(());
    }
    Err(DriverError::Refused(format!(
        "the statement has {wanted} parameters, and {} are given",
        parameters.len()
    )))
}

/// Which parameter a placeholder stands for: `:1` is the first. None where a text is no placeholder.
pub fn placeholder(text: &str) -> Option<usize> {
    let number = text.strip_prefix(':')?;
    let plain = !number.starts_with('0') && number.bytes().all(|byte| byte.is_ascii_digit());
    if plain { number.parse::<usize>().ok()?.checked_sub(1) } else { None }
}

/// The parameter that a placeholder stands for.
///
/// # Errors
/// [`DriverError::Refused`] where so many are not given.
pub fn nth<'a, 'p>(index: usize, parameters: &'a [Parameter<'p>]) -> Result<&'a Parameter<'p>> {
    parameters.get(index).ok_or_else(|| {
        DriverError::Refused(format!(
            "the statement has a parameter :{}, and {} are given",
            index + 1,
            parameters.len()
        ))
    })
}

/// Whether a semicolon stands before the end of `text`; it may also be in quotes or in a comment, so that
/// only the system's own parser knows. A statement that passes is spared being parsed twice.
pub fn may_be_several(text: &str) -> bool {
    text.trim_end_matches(|letter: char| letter.is_whitespace() || letter == ';').contains(';')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_statement_is_its_connections_own() {
        let (mut one, other) = (Statements::default(), Statements::<&str>::default());
        let (first, second) = (one.keep("a"), one.keep("b"));
        assert_eq!((one.get(&first), one.get(&second)), (Ok(&"a"), Ok(&"b")));
        assert_eq!((one.remove(&first), one.remove(&first)), (Some("a"), None));
        assert!(one.get(&first).is_err());
        let third = one.keep("c");
        assert_eq!((one.get(&third), one.get(&second)), (Ok(&"c"), Ok(&"b")));
        assert!(other.get(&first).unwrap_err().to_string().contains("another connection"));
    }

    #[test]
    fn placeholders_are_numbered_from_one() {
        assert_eq!((placeholder(":1"), placeholder(":12")), (Some(0), Some(11)));
        for none in ["", ":", ":0", ":01", ":1a", "1", ":doc", "::1", ":-1"] {
            assert_eq!(placeholder(none), None, "{none}");
        }
    }

    #[test]
    fn only_a_semicolon_before_the_end_may_part_statements() {
        assert!(!may_be_several("SELECT 1"));
        assert!(!may_be_several("SELECT 1 ;; \n"));
        assert!(!may_be_several(" ; "));
        assert!(may_be_several("SELECT 1; SELECT 2"));
        assert!(may_be_several("SELECT ';'"));
        assert!(may_be_several("SELECT 1; -- one"));
    }
}
