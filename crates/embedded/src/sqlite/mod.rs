//! Session on a SQLite database file. SQLite is compiled into the program.

mod insert;
mod writes;

use std::ffi::c_int;

use jsonathlon_driver_api::driver::{self, DocumentSource, DriverError, LoadSink, Result, SessionOptions};
use jsonathlon_driver_api::prepared::{
    Parameter, PreparedStatement, StatementTable, check_parameter_count, may_hold_several_statements,
};
use jsonathlon_driver_api::rows::{self, Cell, ResultSet, RowSink, StatementStats};
use jsonathlon_schema::value::Value;
use rusqlite::fallible_iterator::FallibleIterator;
use rusqlite::types::{Null, ValueRef};
use rusqlite::{Batch, Connection, Error, Row, Statement};

use insert::Insert;

/// Name of the database file within the data folder.
const FILE: &str = "data.sqlite";

/// Pragmas that must be set before anything writes the first page.
const FIRST_PRAGMAS: [&str; 3] = ["page_size", "auto_vacuum", "encoding"];

/// Capacity of the statement cache, in statements.
const CACHED_STATEMENTS: usize = 256;

/// Session on one SQLite database file.
pub struct Sqlite {
    connection: Connection,
    /// Texts of the prepared statements; the compiled statements are in the connection's cache.
    prepared: StatementTable<String>,
}

impl Sqlite {
    /// Opens or creates the database file in the data folder of `options` and sets its settings as pragmas.
    ///
    /// # Errors
    /// [`DriverError::Refused`] if SQLite cannot open the file, or if a pragma is unknown or does not take
    /// effect.
    pub fn open(options: &SessionOptions) -> Result<Self> {
        let connection = Connection::open(options.folder.join(FILE)).map_err(refused)?;
        connection.set_prepared_statement_cache_capacity(CACHED_STATEMENTS);
        writes::define(&connection).map_err(refused)?;
        let session = Self { connection, prepared: StatementTable::default() };
        session.set_pragmas(options)?;
        Ok(session)
    }

    fn set_pragmas(&self, options: &SessionOptions) -> Result<()> {
        let (first, rest): (Vec<_>, Vec<_>) =
            options.settings.iter().partition(|(name, _)| FIRST_PRAGMAS.contains(&name.as_str()));
        for (name, value) in first.into_iter().chain(rest) {
            // SQLite ignores unknown pragmas. Without this check a misspelt pragma would be measured as if it
            // were set.
            let is_known: bool = self
                .connection
                .query_row("SELECT count(*) > 0 FROM pragma_pragma_list WHERE name = ?1", [name], |row| {
                    row.get(0)
                })
                .map_err(refused)?;
            if !is_known {
                return Err(DriverError::Refused(format!("SQLite has no pragma called `{name}`")));
            }
            let answer = self.run(&format!("PRAGMA {name} = {}", quoted(value)))?;
            // Some pragmas return the value that is in force afterwards.
            if let Some(current) = answer.rows.first().and_then(|row| row.first())
                && !same_setting(current, value)
            {
                return Err(DriverError::Refused(format!(
                    "SQLite did not accept pragma {name} = {value}: it stays {current:?}"
                )));
            }
        }
        Ok(())
    }

    /// Executes a statement of the driver itself and collects its answer.
    fn run(&self, text: &str) -> Result<ResultSet> {
        let mut outcome = ResultSet::default();
        self.ask_into(text, &mut outcome)?;
        Ok(outcome)
    }

    /// Executes `text` and passes its rows to `sink`. Returns the number of texts that were not UTF-8.
    fn ask_into(&self, text: &str, sink: &mut dyn RowSink) -> Result<u64> {
        if may_hold_several_statements(text) {
            // Each statement is prepared after the one before has run, because it may need a table created
            // there.
            let mut batch = Batch::new(&self.connection, text);
            let mut replaced = 0;
            while let Some(mut statement) = batch.next().map_err(refused)? {
                replaced = read(&mut statement, sink)?;
            }
            return Ok(replaced);
        }
        let mut statement = self.connection.prepare_cached(text).map_err(refused)?;
        read(&mut statement, sink)
    }

    fn insert_all(
        &self,
        statement: &str,
        documents: &mut dyn DocumentSource,
        sink: &mut dyn LoadSink,
    ) -> Result<u64> {
        let mut insert = Insert::prepare(&self.connection, statement)?;
        let (mut offered, mut accepted) = (0, 0);
        while let Some((key, document)) = documents.next_keyed()? {
            match insert.insert(key, document) {
                Ok(rows) => accepted += u64::from(rows > 0),
                // Some failures end the transaction, whatever their code; then the load as a whole has
                // failed.
                Err(failure) if is_about_the_document(failure.code) && !self.connection.is_autocommit() => {
                    sink.reject(offered, failure.message);
                }
                Err(failure) => return Err(DriverError::Refused(failure.message)),
            }
            offered += 1;
            sink.report_offered(offered);
        }
        Ok(accepted)
    }
}

impl driver::Connection for Sqlite {
    fn version(&mut self) -> Result<String> {
        Ok(rusqlite::version().to_owned())
    }

    fn ask(&mut self, statement: &str, sink: &mut dyn RowSink) -> Result<StatementStats> {
        self.ask_into(statement, sink)
            .map(|replaced| StatementStats { replaced, ..StatementStats::default() })
    }

    fn prepare(&mut self, statement: &str) -> Result<PreparedStatement> {
        self.connection.prepare_cached(statement).map_err(refused)?;
        Ok(self.prepared.insert(statement.to_owned()))
    }

    fn execute(
        &mut self,
        prepared: &PreparedStatement,
        parameters: &[Parameter<'_>],
        sink: &mut dyn RowSink,
    ) -> Result<StatementStats> {
        let text = self.prepared.get(prepared)?;
        let mut statement = self.connection.prepare_cached(text).map_err(refused)?;
        check_parameter_count(statement.parameter_count(), parameters)?;
        for (index, parameter) in parameters.iter().enumerate() {
            let bound = match *parameter {
                Parameter::Null => statement.raw_bind_parameter(index + 1, Null),
                Parameter::Bool(truth) => statement.raw_bind_parameter(index + 1, truth),
                Parameter::Int(number) => statement.raw_bind_parameter(index + 1, number),
                Parameter::Float(number) => statement.raw_bind_parameter(index + 1, number),
                Parameter::Text(text) | Parameter::Json(text) => {
                    statement.raw_bind_parameter(index + 1, text)
                }
            };
            bound.map_err(refused)?;
        }
        let replaced = read(&mut statement, sink)?;
        let writes = !statement.readonly();
        drop(statement);
        let affected = writes.then(|| self.connection.changes());
        Ok(StatementStats { affected, replaced, ..StatementStats::default() })
    }

    fn release(&mut self, prepared: &PreparedStatement) {
        if self.prepared.remove(prepared).is_some() {
            self.connection.flush_prepared_statement_cache();
        }
    }

    fn bulk_in(
        &mut self,
        statement: &str,
        documents: &mut dyn DocumentSource,
        sink: &mut dyn LoadSink,
    ) -> Result<u64> {
        self.run("BEGIN IMMEDIATE")?;
        let loaded = self.insert_all(statement, documents, sink).and_then(|accepted| {
            self.run("COMMIT")?;
            Ok(accepted)
        });
        if loaded.is_err() && !self.connection.is_autocommit() {
            // The first failure is returned, so an error of the rollback is ignored.
            self.run("ROLLBACK").ok();
        }
        loaded
    }

    fn close(self: Box<Self>) -> Result<()> {
        writes::connection_closed(&self.connection);
        self.connection.close().map_err(|(_, error)| refused(error))
    }
}

/// Passes the rows of a statement to `sink` and returns the number of texts that were not UTF-8. JSON may
/// contain unpaired surrogates, which SQLite returns as invalid UTF-8. They are replaced so that the rest of
/// the answer is not lost.
fn read(statement: &mut Statement<'_>, sink: &mut dyn RowSink) -> Result<u64> {
    let columns: Vec<String> = statement.column_names().map(str::to_owned).collect();
    sink.columns(&columns.iter().map(String::as_str).collect::<Vec<_>>())?;
    let mut replaced = 0;
    let mut cursor = statement.raw_query();
    while let Some(row) = cursor.next().map_err(refused)? {
        let mut cells = Vec::with_capacity(columns.len());
        for (index, name) in columns.iter().enumerate() {
            match cell(row.get_ref(index).map_err(refused)?, name)? {
                Some(cell) => cells.push(cell),
                None => break,
            }
        }
        if cells.len() == columns.len() {
            sink.row(&cells)?;
        } else {
            replaced += row_with_replaced(row, &columns, sink)?;
        }
    }
    Ok(replaced)
}

/// Converts a value to a cell. `None` if it is a text that is not UTF-8.
fn cell<'a>(value: ValueRef<'a>, column: &str) -> Result<Option<Cell<'a>>> {
    Ok(Some(match value {
        ValueRef::Null => Cell::Null,
        ValueRef::Integer(number) => Cell::Int(number),
        ValueRef::Real(number) => Cell::Float(number),
        ValueRef::Text(bytes) => return Ok(std::str::from_utf8(bytes).ok().map(Cell::Text)),
        ValueRef::Blob(_) => {
            return Err(DriverError::Unsupported(format!(
                "column `{column}` holds a blob: ask for its text, json({column}) or hex({column})"
            )));
        }
    }))
}

/// Passes on a row that has texts which are not UTF-8, with U+FFFD in them. Returns the number of such texts.
fn row_with_replaced(row: &Row<'_>, columns: &[String], sink: &mut dyn RowSink) -> Result<u64> {
    let mut replaced = 0;
    let mut values = Vec::with_capacity(columns.len());
    for (index, name) in columns.iter().enumerate() {
        let value = row.get_ref(index).map_err(refused)?;
        values.push(match (cell(value, name)?, value) {
            (Some(cell), _) => cell.to_value(),
            (None, value) => {
                replaced += 1;
                Value::Text(rows::replaced(value.as_bytes().unwrap_or_default()))
            }
        });
    }
    sink.row(&values.iter().map(Cell::from).collect::<Vec<_>>())?;
    Ok(replaced)
}

/// Returns `true` if an insert failed because of the document's content and not because of the database's
/// state.
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
    use rusqlite::ffi::{
        ErrorCode, SQLITE_CONSTRAINT_PRIMARYKEY, SQLITE_CONSTRAINT_ROWID, SQLITE_CONSTRAINT_UNIQUE,
    };
    let kind = match error.sqlite_error() {
        Some(cause) if matches!(cause.code, ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
            DriverError::Conflict
        }
        Some(cause)
            if [SQLITE_CONSTRAINT_PRIMARYKEY, SQLITE_CONSTRAINT_ROWID, SQLITE_CONSTRAINT_UNIQUE]
                .contains(&cause.extended_code) =>
        {
            DriverError::Duplicate
        }
        _ => DriverError::Refused,
    };
    kind(message(&error))
}

fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

/// Returns `true` if a pragma's answer equals the requested value in any of SQLite's spellings of a boolean.
fn same_setting(current: &Value, requested: &str) -> bool {
    let canonical = |text: &str| match text.to_ascii_lowercase().as_str() {
        "on" | "yes" | "true" => "1".to_owned(),
        "off" | "no" | "false" => "0".to_owned(),
        other => other.to_owned(),
    };
    match current {
        Value::Int(number) => canonical(requested) == number.to_string(),
        Value::Text(text) => canonical(requested) == canonical(text),
        _ => false,
    }
}

#[cfg(test)]
mod tests;
