//! Safe wrapper of DuckDB's C interface.
#![expect(unsafe_code, reason = "calls into the C interface of a library loaded at run time")]

use std::collections::BTreeMap;
use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::ptr::null_mut;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use jsonathlon_driver_api::driver::{DriverError, Result, SessionOptions};
use jsonathlon_driver_api::prepared::{Parameter, may_hold_several_statements};

use super::vectors::{Chunk, Handle, Index, VectorFunctions};
use crate::library::SharedLibrary;

/// Value of `duckdb_state` that means success.
const SUCCESS: c_int = 0;

/// `duckdb_result`. Its public members are deprecated and not used, but its size matters, because functions
/// take the structure by value.
#[repr(C)]
#[derive(Clone, Copy)]
struct RawResult {
    column_count: Index,
    row_count: Index,
    rows_changed: Index,
    columns: *mut c_void,
    error_message: *mut c_char,
    internal_data: *mut c_void,
}

impl RawResult {
    const EMPTY: Self = Self {
        column_count: 0,
        row_count: 0,
        rows_changed: 0,
        columns: null_mut(),
        error_message: null_mut(),
        internal_data: null_mut(),
    };
}

struct Functions {
    version: unsafe extern "C" fn() -> *const c_char,
    create_config: unsafe extern "C" fn(*mut Handle) -> c_int,
    set_config: unsafe extern "C" fn(Handle, *const c_char, *const c_char) -> c_int,
    destroy_config: unsafe extern "C" fn(*mut Handle),
    open: unsafe extern "C" fn(*const c_char, *mut Handle, Handle, *mut *mut c_char) -> c_int,
    close: unsafe extern "C" fn(*mut Handle),
    connect: unsafe extern "C" fn(Handle, *mut Handle) -> c_int,
    disconnect: unsafe extern "C" fn(*mut Handle),
    query: unsafe extern "C" fn(Handle, *const c_char, *mut RawResult) -> c_int,
    extract: unsafe extern "C" fn(Handle, *const c_char, *mut Handle) -> Index,
    extract_error: unsafe extern "C" fn(Handle) -> *const c_char,
    destroy_extracted: unsafe extern "C" fn(*mut Handle),
    prepare_extracted: unsafe extern "C" fn(Handle, Handle, Index, *mut Handle) -> c_int,
    prepare_error: unsafe extern "C" fn(Handle) -> *const c_char,
    destroy_prepared: unsafe extern "C" fn(*mut Handle),
    execute_prepared: unsafe extern "C" fn(Handle, *mut RawResult) -> c_int,
    prepare: unsafe extern "C" fn(Handle, *const c_char, *mut Handle) -> c_int,
    parameters: unsafe extern "C" fn(Handle) -> Index,
    bind_null: unsafe extern "C" fn(Handle, Index) -> c_int,
    bind_bool: unsafe extern "C" fn(Handle, Index, bool) -> c_int,
    bind_int: unsafe extern "C" fn(Handle, Index, i64) -> c_int,
    bind_float: unsafe extern "C" fn(Handle, Index, f64) -> c_int,
    bind_text: unsafe extern "C" fn(Handle, Index, *const c_char, Index) -> c_int,
    destroy_result: unsafe extern "C" fn(*mut RawResult),
    error: unsafe extern "C" fn(*mut RawResult) -> *const c_char,
    column_count: unsafe extern "C" fn(*mut RawResult) -> Index,
    column_name: unsafe extern "C" fn(*mut RawResult, Index) -> *const c_char,
    column_logical_type: unsafe extern "C" fn(*mut RawResult, Index) -> Handle,
    fetch_chunk: unsafe extern "C" fn(RawResult) -> Handle,
    rows_changed: unsafe extern "C" fn(*mut RawResult) -> Index,
    free: unsafe extern "C" fn(*mut c_void),
    vectors: VectorFunctions,
}

/// Open database. Each path is opened once per process, and all connections to it share the database.
struct Database {
    functions: Functions,
    handle: Handle,
    settings: Vec<(String, String)>,
    // Keeps the code behind `functions` loaded.
    _library: SharedLibrary,
}

// SAFETY: the engine allows any thread to connect to a database and to close it when no connection is left.
unsafe impl Send for Database {}
// SAFETY: as for `Send`.
unsafe impl Sync for Database {}

/// Open databases by path, so that sessions of this process share them.
static DATABASES: Mutex<BTreeMap<String, Weak<Database>>> = Mutex::new(BTreeMap::new());

impl Database {
    fn open(library: SharedLibrary, path: &str, settings: Vec<(String, String)>) -> Result<Self> {
        // SAFETY: names and types are those of duckdb.h (1.4 to 2.0).
        let functions = unsafe {
            Functions {
                version: library.function("duckdb_library_version")?,
                create_config: library.function("duckdb_create_config")?,
                set_config: library.function("duckdb_set_config")?,
                destroy_config: library.function("duckdb_destroy_config")?,
                open: library.function("duckdb_open_ext")?,
                close: library.function("duckdb_close")?,
                connect: library.function("duckdb_connect")?,
                disconnect: library.function("duckdb_disconnect")?,
                query: library.function("duckdb_query")?,
                extract: library.function("duckdb_extract_statements")?,
                extract_error: library.function("duckdb_extract_statements_error")?,
                destroy_extracted: library.function("duckdb_destroy_extracted")?,
                prepare_extracted: library.function("duckdb_prepare_extracted_statement")?,
                prepare_error: library.function("duckdb_prepare_error")?,
                destroy_prepared: library.function("duckdb_destroy_prepare")?,
                execute_prepared: library.function("duckdb_execute_prepared")?,
                prepare: library.function("duckdb_prepare")?,
                parameters: library.function("duckdb_nparams")?,
                bind_null: library.function("duckdb_bind_null")?,
                bind_bool: library.function("duckdb_bind_boolean")?,
                bind_int: library.function("duckdb_bind_int64")?,
                bind_float: library.function("duckdb_bind_double")?,
                bind_text: library.function("duckdb_bind_varchar_length")?,
                destroy_result: library.function("duckdb_destroy_result")?,
                error: library.function("duckdb_result_error")?,
                column_count: library.function("duckdb_column_count")?,
                column_name: library.function("duckdb_column_name")?,
                column_logical_type: library.function("duckdb_column_logical_type")?,
                fetch_chunk: library.function("duckdb_fetch_chunk")?,
                rows_changed: library.function("duckdb_rows_changed")?,
                free: library.function("duckdb_free")?,
                vectors: VectorFunctions::find(&library)?,
            }
        };
        let mut opened = Self { functions, handle: null_mut(), settings, _library: library };
        let config = Config::new(&opened.functions, &opened.settings)?;
        let path = c_text(path)?;
        let mut message = null_mut();
        // SAFETY: all pointers are valid for the call; the callee allocates the message.
        let state = unsafe {
            (opened.functions.open)(path.as_ptr(), &raw mut opened.handle, config.handle, &raw mut message)
        };
        drop(config);
        if state != SUCCESS {
            // SAFETY: the message is null or a NUL-terminated text, which must be freed with `duckdb_free`.
            let text = unsafe {
                let text = copy_text(message);
                if !message.is_null() {
                    (opened.functions.free)(message.cast());
                }
                text
            };
            return Err(DriverError::Refused(text.unwrap_or_else(|| "DuckDB did not open the file".into())));
        }
        Ok(opened)
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        // SAFETY: the function accepts null and leaves null behind; no connection is left.
        unsafe { (self.functions.close)(&raw mut self.handle) }
    }
}

/// Connection to an open database.
pub(super) struct Connection {
    database: Arc<Database>,
    connection: Handle,
}

// SAFETY: the engine does not bind a connection to a thread, and only one thread at a time holds this.
unsafe impl Send for Connection {}

impl Connection {
    /// Connects to the database at `path`, and opens it with the configuration `settings` if this process has
    /// not yet.
    pub(super) fn open<'a>(
        options: &SessionOptions,
        path: &str,
        settings: impl Iterator<Item = (&'a str, &'a str)>,
    ) -> Result<Self> {
        let settings: Vec<_> = settings.map(|(key, value)| (key.to_owned(), value.to_owned())).collect();
        let mut databases = DATABASES.lock().unwrap_or_else(PoisonError::into_inner);
        let database = match databases.get(path).and_then(Weak::upgrade) {
            Some(database) if database.settings == settings => database,
            Some(_) => {
                return Err(DriverError::Refused(format!(
                    "{path} is open in this process with other settings"
                )));
            }
            None => {
                let database = Arc::new(Database::open(SharedLibrary::open(options)?, path, settings)?);
                databases.insert(path.to_owned(), Arc::downgrade(&database));
                database
            }
        };
        drop(databases);
        let mut opened = Self { database, connection: null_mut() };
        // SAFETY: the database is open.
        let state = unsafe {
            (opened.database.functions.connect)(opened.database.handle, &raw mut opened.connection)
        };
        if state != SUCCESS {
            return Err(DriverError::Refused("DuckDB opened the file and refused a connection".into()));
        }
        Ok(opened)
    }

    /// Returns the version that the library reports.
    pub(super) fn version(&self) -> Result<String> {
        // SAFETY: the function returns a static NUL-terminated text.
        unsafe { copy_text((self.database.functions.version)()) }
            .ok_or_else(|| DriverError::Protocol("the version is nothing".into()))
    }

    /// Executes a text and returns its answer, or that of the last statement if there are several.
    pub(super) fn query(&mut self, statement_text: &str) -> Result<Answer<'_>> {
        let statement = c_text(statement_text)?;
        // DuckDB also executes several statements, but returns the rows of the first one that has any. Only a
        // text that may hold several is split, because splitting means to parse it twice.
        if may_hold_several_statements(statement_text) {
            let extracted = ExtractedStatements::of(self, &statement)?;
            for index in 1..extracted.count {
                drop(extracted.run(index - 1)?);
            }
            if extracted.count > 0 {
                return extracted.run(extracted.count - 1);
            }
        }
        let mut raw = RawResult::EMPTY;
        // SAFETY: the connection is open and the text NUL-terminated; the result is filled even on failure.
        let state =
            unsafe { (self.database.functions.query)(self.connection, statement.as_ptr(), &raw mut raw) };
        Answer::of(&self.database.functions, raw, state)
    }

    /// Prepares a text that holds one statement.
    pub(super) fn prepare(&mut self, text: &str) -> Result<Statement> {
        let text = c_text(text)?;
        let mut statement =
            Statement { handle: null_mut(), destroy: self.database.functions.destroy_prepared };
        // SAFETY: the connection is open and the text NUL-terminated. A prepared statement must be destroyed
        // even if preparing failed, and the text of its error lives as long.
        unsafe {
            if (self.database.functions.prepare)(self.connection, text.as_ptr(), &raw mut statement.handle)
                != SUCCESS
            {
                let message = copy_text((self.database.functions.prepare_error)(statement.handle));
                return Err(DriverError::Refused(message.unwrap_or_else(|| "a statement is wrong".into())));
            }
        }
        Ok(statement)
    }

    /// Number of parameters of a prepared statement.
    pub(super) fn parameters(&self, statement: &Statement) -> usize {
        // SAFETY: the statement is alive.
        let count = unsafe { (self.database.functions.parameters)(statement.handle) };
        usize::try_from(count).unwrap_or(usize::MAX)
    }

    /// Executes a prepared statement. `parameters` must have as many items as the statement has parameters.
    pub(super) fn execute(&self, statement: &Statement, parameters: &[Parameter<'_>]) -> Result<Answer<'_>> {
        let functions = &self.database.functions;
        for (index, parameter) in (1..).zip(parameters) {
            // SAFETY: the statement is alive, parameters are counted from 1, and the engine copies texts.
            let state = unsafe {
                match *parameter {
                    Parameter::Null => (functions.bind_null)(statement.handle, index),
                    Parameter::Bool(truth) => (functions.bind_bool)(statement.handle, index, truth),
                    Parameter::Int(number) => (functions.bind_int)(statement.handle, index, number),
                    Parameter::Float(number) => (functions.bind_float)(statement.handle, index, number),
                    Parameter::Text(text) | Parameter::Json(text) => (functions.bind_text)(
                        statement.handle,
                        index,
                        text.as_ptr().cast(),
                        text.len() as Index,
                    ),
                }
            };
            if state != SUCCESS {
                return Err(DriverError::Refused(format!("parameter {index} was not accepted")));
            }
        }
        let mut raw = RawResult::EMPTY;
        // SAFETY: the statement is alive; the result is filled even on failure.
        let state = unsafe { (functions.execute_prepared)(statement.handle, &raw mut raw) };
        Answer::of(functions, raw, state)
    }

    /// Disconnects; does nothing if disconnected already. The database is closed, which writes a checkpoint,
    /// when the last connection to it is dropped.
    pub(super) fn close(&mut self) {
        // SAFETY: the function accepts null and leaves null behind.
        unsafe {
            (self.database.functions.disconnect)(&raw mut self.connection);
        }
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.close();
    }
}

/// Prepared statement, freed when dropped. It must be dropped before its connection.
pub(super) struct Statement {
    handle: Handle,
    destroy: unsafe extern "C" fn(*mut Handle),
}

// SAFETY: as for `Connection`.
unsafe impl Send for Statement {}

impl Drop for Statement {
    fn drop(&mut self) {
        // SAFETY: created by `prepare`, and not used again.
        unsafe { (self.destroy)(&raw mut self.handle) }
    }
}

struct Config<'a> {
    functions: &'a Functions,
    handle: Handle,
}

impl<'a> Config<'a> {
    fn new(functions: &'a Functions, settings: &[(String, String)]) -> Result<Self> {
        let mut config = Self { functions, handle: null_mut() };
        // SAFETY: the pointer is valid for the call.
        if unsafe { (functions.create_config)(&raw mut config.handle) } != SUCCESS {
            return Err(DriverError::Unavailable("DuckDB gave no configuration".into()));
        }
        for (key, value) in settings {
            let (name, text) = (c_text(key)?, c_text(value)?);
            // SAFETY: the configuration is alive and both texts are NUL-terminated.
            if unsafe { (functions.set_config)(config.handle, name.as_ptr(), text.as_ptr()) } != SUCCESS {
                return Err(DriverError::Refused(format!(
                    "DuckDB does not accept the setting `{key}` = `{value}`"
                )));
            }
        }
        Ok(config)
    }
}

impl Drop for Config<'_> {
    fn drop(&mut self) {
        // SAFETY: created by `create_config`, and not used again.
        unsafe { (self.functions.destroy_config)(&raw mut self.handle) }
    }
}

/// Statements that a text was split into, freed when dropped.
struct ExtractedStatements<'a> {
    connection: &'a Connection,
    handle: Handle,
    count: Index,
}

impl<'a> ExtractedStatements<'a> {
    fn of(connection: &'a Connection, text: &CStr) -> Result<Self> {
        let mut extracted = Self { connection, handle: null_mut(), count: 0 };
        let functions = &connection.database.functions;
        // SAFETY: the connection is open and the text NUL-terminated; the text of an error lives as long as
        // the handle.
        unsafe {
            extracted.count =
                (functions.extract)(connection.connection, text.as_ptr(), &raw mut extracted.handle);
            if extracted.count == 0
                && !extracted.handle.is_null()
                && let Some(message) = copy_text((functions.extract_error)(extracted.handle))
            {
                return Err(DriverError::Refused(message));
            }
        }
        Ok(extracted)
    }

    /// Executes the statement at `index`, which must be below the count.
    fn run(&self, index: Index) -> Result<Answer<'a>> {
        let functions = &self.connection.database.functions;
        let mut prepared = null_mut();
        // SAFETY: connection and statements are alive. A prepared statement must be destroyed even if
        // preparing failed, and the text of its error lives as long.
        unsafe {
            let state = (functions.prepare_extracted)(
                self.connection.connection,
                self.handle,
                index,
                &raw mut prepared,
            );
            if state != SUCCESS {
                let message = copy_text((functions.prepare_error)(prepared));
                (functions.destroy_prepared)(&raw mut prepared);
                return Err(DriverError::Refused(message.unwrap_or_else(|| "a statement is wrong".into())));
            }
            let mut raw = RawResult::EMPTY;
            let state = (functions.execute_prepared)(prepared, &raw mut raw);
            (functions.destroy_prepared)(&raw mut prepared);
            Answer::of(functions, raw, state)
        }
    }
}

impl Drop for ExtractedStatements<'_> {
    fn drop(&mut self) {
        // SAFETY: created by `extract` or null, and not used again.
        unsafe { (self.connection.database.functions.destroy_extracted)(&raw mut self.handle) }
    }
}

/// Answer to one statement, freed when dropped.
pub(super) struct Answer<'a> {
    functions: &'a Functions,
    raw: RawResult,
}

impl<'a> Answer<'a> {
    /// Takes ownership of a result. If `state` is not success, frees the result and returns its message as an
    /// error.
    fn of(functions: &'a Functions, raw: RawResult, state: c_int) -> Result<Self> {
        let mut answer = Self { functions, raw };
        if state == SUCCESS {
            return Ok(answer);
        }
        // SAFETY: the result and its message are alive.
        let message = unsafe { copy_text((functions.error)(&raw mut answer.raw)) };
        Err(refusal(message.unwrap_or_else(|| "DuckDB failed without a message".into())))
    }
}

/// Classifies an error by its message. DuckDB's own error type is not enough: it puts a duplicate key that is
/// found at commit among the conflicts.
fn refusal(message: String) -> DriverError {
    let kind = if message.to_ascii_lowercase().contains("duplicate key") {
        DriverError::Duplicate
    } else if message.starts_with("TransactionContext Error") && message.contains("onflict") {
        DriverError::Conflict
    } else {
        DriverError::Refused
    };
    kind(message)
}

impl Answer<'_> {
    /// Returns names and logical types of the columns.
    pub(super) fn columns(&mut self) -> Result<Vec<(String, LogicalType<'_>)>> {
        // SAFETY: the result is alive, and indexes stay below the count.
        unsafe {
            let count = (self.functions.column_count)(&raw mut self.raw);
            (0..count)
                .map(|index| {
                    let name = copy_text((self.functions.column_name)(&raw mut self.raw, index))
                        .ok_or_else(|| DriverError::Protocol(format!("column {index} has no name")))?;
                    let handle = (self.functions.column_logical_type)(&raw mut self.raw, index);
                    Ok((name, LogicalType { vectors: &self.functions.vectors, handle }))
                })
                .collect()
        }
    }

    /// Number of rows that the statement changed.
    pub(super) fn changed(&mut self) -> u64 {
        // SAFETY: the result is alive.
        unsafe { (self.functions.rows_changed)(&raw mut self.raw) }
    }

    /// Returns the next chunk of up to 2,048 rows, or `None` at the end.
    pub(super) fn next_chunk(&mut self) -> Option<Chunk<'_>> {
        // SAFETY: the result is alive; the chunk is owned by its new holder.
        unsafe { Chunk::from_handle(&self.functions.vectors, (self.functions.fetch_chunk)(self.raw)) }
    }
}

impl Drop for Answer<'_> {
    fn drop(&mut self) {
        // SAFETY: alive until now, and not used again.
        unsafe { (self.functions.destroy_result)(&raw mut self.raw) }
    }
}

/// Logical type of a column, freed when dropped.
pub(super) struct LogicalType<'a> {
    vectors: &'a VectorFunctions,
    handle: Handle,
}

impl LogicalType<'_> {
    /// Returns the number of the type in the enumeration `DUCKDB_TYPE`.
    pub(super) fn id(&self) -> u32 {
        // SAFETY: the type is alive.
        unsafe { (self.vectors.type_id)(self.handle) }
    }

    /// For a decimal type: number of fractional digits, and the `DUCKDB_TYPE` in which its values are stored.
    pub(super) fn decimal(&self) -> (u32, u32) {
        // SAFETY: the type is alive.
        unsafe {
            (
                u32::from((self.vectors.decimal_scale)(self.handle)),
                (self.vectors.decimal_storage)(self.handle),
            )
        }
    }
}

impl Drop for LogicalType<'_> {
    fn drop(&mut self) {
        // SAFETY: alive until now, and not used again.
        unsafe { (self.vectors.destroy_type)(&raw mut self.handle) }
    }
}

fn c_text(text: &str) -> Result<CString> {
    CString::new(text).map_err(|_| {
        DriverError::Unsupported("DuckDB takes no NUL byte in a statement: write it as chr(0)".into())
    })
}

/// Copies a C string without surrounding white space. `None` if the pointer is null.
///
/// # Safety
/// `text` must be null or a NUL-terminated text that is alive.
unsafe fn copy_text(text: *const c_char) -> Option<String> {
    // SAFETY: the caller guarantees the pointer.
    (!text.is_null()).then(|| unsafe { CStr::from_ptr(text) }.to_string_lossy().trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_result_has_the_size_of_the_c_struct() {
        assert_eq!(size_of::<RawResult>(), 48);
    }

    #[test]
    fn a_nul_byte_in_a_statement_is_refused_with_advice() {
        assert!(matches!(c_text("a\0b"), Err(DriverError::Unsupported(text)) if text.contains("chr(0)")));
    }
}
