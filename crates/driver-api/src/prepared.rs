//! Prepared statements, their registry per connection, and their parameters.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::error::{DriverError, Result};

/// Parameter value of a prepared statement, borrowed from the caller.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Parameter<'a> {
    /// SQL NULL, or JSON `null`.
    Null,
    /// Boolean; bound as 0 or 1 if the protocol has no boolean type.
    Bool(bool),
    /// 64-bit integer with a sign.
    Int(i64),
    /// Floating-point number of 64 bits.
    Float(f64),
    /// Text, bound as UTF-8.
    Text(&'a str),
    /// JSON value given by its text: bound as a JSON value if the protocol has such a type, as text
    /// otherwise.
    Json(&'a str),
}

/// Handle of a statement that a connection has prepared. Valid as long as that connection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PreparedStatement {
    connection: u64,
    index: usize,
}

impl PreparedStatement {
    /// Creates a handle for a [`crate::NonblockingConnection`] that numbers its statements itself instead of
    /// using [`StatementTable`].
    #[must_use]
    pub fn numbered(index: usize) -> Self {
        Self { connection: u64::MAX, index }
    }

    /// Index of the statement within its connection; for [`PreparedStatement::numbered`] the index given
    /// there.
    #[must_use]
    pub fn number(&self) -> usize {
        self.index
    }
}

static CONNECTIONS: AtomicU64 = AtomicU64::new(0);

/// Prepared statements of one connection, in the protocol's representation `T`.
#[derive(Debug)]
pub struct StatementTable<T> {
    connection: u64,
    statements: Vec<Option<T>>,
    /// Indices in `statements` of removed statements, to be reused.
    free: Vec<usize>,
}

impl<T> Default for StatementTable<T> {
    fn default() -> Self {
        let connection = CONNECTIONS.fetch_add(1, Ordering::Relaxed);
        Self { connection, statements: Vec::new(), free: Vec::new() }
    }
}

impl<T> StatementTable<T> {
    /// Stores a statement and returns its handle. Indices of removed statements are reused.
    pub fn insert(&mut self, statement: T) -> PreparedStatement {
        let index = self.free.pop().unwrap_or(self.statements.len());
        match self.statements.get_mut(index) {
            Some(slot) => *slot = Some(statement),
            None => self.statements.push(Some(statement)),
        }
        PreparedStatement { connection: self.connection, index }
    }

    /// Removes a statement. `None` if it was removed already or belongs to another connection.
    pub fn remove(&mut self, prepared: &PreparedStatement) -> Option<T> {
        let is_own = prepared.connection == self.connection;
        let removed = self.statements.get_mut(prepared.index).filter(|_| is_own)?.take()?;
        self.free.push(prepared.index);
        Some(removed)
    }

    /// Returns the statement of a handle for modification.
    ///
    /// # Errors
    /// [`DriverError::Unsupported`] if the handle belongs to another connection or its statement was removed.
    pub fn get_mut(&mut self, prepared: &PreparedStatement) -> Result<&mut T> {
        self.get(prepared)?;
        self.statements.get_mut(prepared.index).and_then(Option::as_mut).ok_or_else(foreign_statement)
    }

    /// Returns the statement of a handle.
    ///
    /// # Errors
    /// [`DriverError::Unsupported`] if the handle belongs to another connection or its statement was removed.
    pub fn get(&self, prepared: &PreparedStatement) -> Result<&T> {
        let is_own = prepared.connection == self.connection;
        let slot = is_own.then(|| self.statements.get(prepared.index)).flatten();
        slot.and_then(Option::as_ref).ok_or_else(foreign_statement)
    }
}

fn foreign_statement() -> DriverError {
    DriverError::Unsupported("the statement was prepared by another connection".to_owned())
}

/// Checks that a statement with `expected` parameters is given as many.
///
/// # Errors
/// [`DriverError::Refused`] if more or fewer parameters are given.
pub fn check_parameter_count(expected: usize, parameters: &[Parameter<'_>]) -> Result<()> {
    if parameters.len() == expected {
        return Ok(());
    }
    Err(DriverError::Refused(format!(
        "the statement has {expected} parameters, and {} are given",
        parameters.len()
    )))
}

/// Returns the 0-based index of the parameter that a placeholder names: `:1` is 0. `None` if `text` is no
/// placeholder.
pub fn placeholder(text: &str) -> Option<usize> {
    let number = text.strip_prefix(':')?;
    let is_valid = !number.starts_with('0') && number.bytes().all(|byte| byte.is_ascii_digit());
    if is_valid { number.parse::<usize>().ok()?.checked_sub(1) } else { None }
}

/// Returns the parameter at a 0-based index.
///
/// # Errors
/// [`DriverError::Refused`] if fewer parameters are given.
pub fn parameter_at<'a, 'p>(index: usize, parameters: &'a [Parameter<'p>]) -> Result<&'a Parameter<'p>> {
    parameters.get(index).ok_or_else(|| {
        DriverError::Refused(format!(
            "the statement has a parameter :{}, and {} are given",
            index + 1,
            parameters.len()
        ))
    })
}

/// Returns `true` if a semicolon stands before the end of `text`. The semicolon may be part of a literal or
/// comment, which only the system's own parser can tell. If `false`, the text is one statement and need not
/// be parsed twice.
pub fn may_hold_several_statements(text: &str) -> bool {
    text.trim_end_matches(|letter: char| letter.is_whitespace() || letter == ';').contains(';')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_statement_is_its_connections_own() {
        let (mut table, other_table) = (StatementTable::default(), StatementTable::<&str>::default());
        let (first, second) = (table.insert("a"), table.insert("b"));
        assert_eq!((table.get(&first), table.get(&second)), (Ok(&"a"), Ok(&"b")));
        assert_eq!((table.remove(&first), table.remove(&first)), (Some("a"), None));
        assert!(table.get(&first).is_err());
        let third = table.insert("c");
        assert_eq!((table.get(&third), table.get(&second)), (Ok(&"c"), Ok(&"b")));
        assert!(other_table.get(&first).unwrap_err().to_string().contains("another connection"));
    }

    #[test]
    fn placeholders_are_numbered_from_one() {
        assert_eq!((placeholder(":1"), placeholder(":12")), (Some(0), Some(11)));
        for text in ["", ":", ":0", ":01", ":1a", "1", ":doc", "::1", ":-1"] {
            assert_eq!(placeholder(text), None, "{text}");
        }
    }

    #[test]
    fn only_a_semicolon_before_the_end_may_part_statements() {
        assert!(!may_hold_several_statements("SELECT 1"));
        assert!(!may_hold_several_statements("SELECT 1 ;; \n"));
        assert!(!may_hold_several_statements(" ; "));
        assert!(may_hold_several_statements("SELECT 1; SELECT 2"));
        assert!(may_hold_several_statements("SELECT ';'"));
        assert!(may_hold_several_statements("SELECT 1; -- one"));
    }
}
