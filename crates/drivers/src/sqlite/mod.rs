//! SQLite, which is linked into the program.

mod insert;

use std::ffi::c_int;

use jsonathlon_dataset::value::{Row, Value};
use rusqlite::fallible_iterator::FallibleIterator;
use rusqlite::types::ValueRef;
use rusqlite::{Batch, Connection, Error, Statement};

use crate::driver::{Documents, Driver, DriverError, LoadSink, Open, Outcome, Result};
use crate::several::may_be_several;
use insert::Insert;

/// The database file within the data folder.
const FILE: &str = "data.sqlite";

/// Pragmas that must come before whatever writes the first page.
const FIRST: [&str; 3] = ["page_size", "auto_vacuum", "encoding"];

/// A session with one database file.
pub(crate) struct Sqlite {
    connection: Connection,
}

impl Sqlite {
    /// Opens the file; settings are pragmas.
    pub(crate) fn open(open: &Open) -> Result<Self> {
        let connection = Connection::open(open.folder.join(FILE)).map_err(refused)?;
        let session = Self { connection };
        session.set_pragmas(open)?;
        Ok(session)
    }

    fn set_pragmas(&self, open: &Open) -> Result<()> {
        let (first, rest): (Vec<_>, Vec<_>) =
            open.settings.iter().partition(|(name, _)| FIRST.contains(&name.as_str()));
        for (name, value) in first.into_iter().chain(rest) {
            // SQLite ignores a pragma that it does not know, so that a misspelt one would be measured
            // as if it were set.
            let known: bool = self
                .connection
                .query_row("SELECT count(*) > 0 FROM pragma_pragma_list WHERE name = ?1", [name], |row| {
                    row.get(0)
                })
                .map_err(refused)?;
            if !known {
                return Err(DriverError::Refused(format!("SQLite has no pragma called `{name}`")));
            }
            let answer = self.execute_text(&format!("PRAGMA {name} = {}", quoted(value)))?;
            // Some pragmas answer with what is in force afterwards.
            if let Some(now) = answer.rows.first().and_then(|row| row.first())
                && !same_setting(now, value)
            {
                return Err(DriverError::Refused(format!(
                    "SQLite did not take pragma {name} = {value}: it stays {now:?}"
                )));
            }
        }
        Ok(())
    }

    fn execute_text(&self, text: &str) -> Result<Outcome> {
        if may_be_several(text) {
            // One after the other: a later one may need a table that an earlier one makes.
            let mut batch = Batch::new(&self.connection, text);
            let mut outcome = Outcome::default();
            while let Some(mut statement) = batch.next().map_err(refused)? {
                outcome = read(&mut statement)?;
            }
            return Ok(outcome);
        }
        let mut statement = self.connection.prepare_cached(text).map_err(refused)?;
        read(&mut statement)
    }

    fn insert_all(
        &self,
        statement: &str,
        documents: &mut dyn Documents,
        sink: &mut dyn LoadSink,
    ) -> Result<u64> {
        let mut insert = Insert::prepare(&self.connection, statement)?;
        let (mut offered, mut accepted) = (0, 0);
        while let Some(document) = documents.next_document()? {
            match insert.insert(document) {
                Ok(rows) => accepted += u64::from(rows > 0),
                // Some failures end the transaction, whatever their code: then it is not this document's.
                Err(failure) if is_about_the_document(failure.code) && !self.connection.is_autocommit() => {
                    sink.refused(offered, failure.message);
                }
                Err(failure) => return Err(DriverError::Refused(failure.message)),
            }
            offered += 1;
            sink.offered(offered);
        }
        Ok(accepted)
    }
}

impl Driver for Sqlite {
    fn version(&mut self) -> Result<String> {
        Ok(rusqlite::version().to_owned())
    }

    fn execute(&mut self, statement: &str) -> Result<Outcome> {
        self.execute_text(statement)
    }

    fn load_rows(
        &mut self,
        statement: &str,
        documents: &mut dyn Documents,
        sink: &mut dyn LoadSink,
    ) -> Result<u64> {
        self.execute_text("BEGIN IMMEDIATE")?;
        let loaded = self.insert_all(statement, documents, sink).and_then(|accepted| {
            self.execute_text("COMMIT")?;
            Ok(accepted)
        });
        if loaded.is_err() && !self.connection.is_autocommit() {
            // The first failure is the one to be told.
            self.execute_text("ROLLBACK").ok();
        }
        loaded
    }

    fn close(self: Box<Self>) -> Result<()> {
        self.connection.close().map_err(|(_, error)| refused(error))
    }
}

fn read(statement: &mut Statement<'_>) -> Result<Outcome> {
    let columns: Vec<String> = statement.column_names().map(str::to_owned).collect();
    let mut rows: Vec<Row> = Vec::new();
    let mut cursor = statement.raw_query();
    while let Some(row) = cursor.next().map_err(refused)? {
        let mut cells = Vec::with_capacity(columns.len());
        for (index, name) in columns.iter().enumerate() {
            cells.push(cell(row.get_ref(index).map_err(refused)?, name)?);
        }
        rows.push(cells);
    }
    Ok(Outcome { columns, rows, ..Outcome::default() })
}

fn cell(value: ValueRef<'_>, column: &str) -> Result<Value> {
    Ok(match value {
        ValueRef::Null => Value::Null,
        ValueRef::Integer(number) => Value::Int(number),
        ValueRef::Real(number) => Value::Float(number),
        ValueRef::Text(bytes) => Value::Text(
            std::str::from_utf8(bytes)
                .map_err(|error| {
                    DriverError::Unsupported(format!(
                        "a text of column `{column}` is not UTF-8 ({error}): ask for hex({column})"
                    ))
                })?
                .to_owned(),
        ),
        ValueRef::Blob(_) => {
            return Err(DriverError::Unsupported(format!(
                "column `{column}` holds a blob: ask for its text, json({column}) or hex({column})"
            )));
        }
    })
}

/// Whether an insert failed for what is in the document and not for the state of the database.
fn is_about_the_document(code: c_int) -> bool {
    use rusqlite::ffi::{SQLITE_CONSTRAINT, SQLITE_ERROR, SQLITE_MISMATCH, SQLITE_TOOBIG};
    matches!(code, SQLITE_ERROR | SQLITE_CONSTRAINT | SQLITE_MISMATCH | SQLITE_TOOBIG)
}

fn message(error: &Error) -> String {
    match error {
        Error::SqliteFailure(_, Some(text)) => text.clone(),
        other => other.to_string(),
    }
}

fn refused(error: Error) -> DriverError {
    DriverError::Refused(message(&error))
}

fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

/// Whether a pragma's answer is what was asked for, in any of SQLite's spellings.
fn same_setting(now: &Value, asked: &str) -> bool {
    let plain = |text: &str| match text.to_ascii_lowercase().as_str() {
        "on" | "yes" | "true" => "1".to_owned(),
        "off" | "no" | "false" => "0".to_owned(),
        other => other.to_owned(),
    };
    match now {
        Value::Int(number) => plain(asked) == number.to_string(),
        Value::Text(text) => plain(asked) == plain(text),
        _ => false,
    }
}

#[cfg(test)]
mod tests;
