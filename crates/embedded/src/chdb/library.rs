//! Safe wrapper of chDB's C interface.
#![expect(unsafe_code, reason = "calls into the C interface of a library loaded at run time")]

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::ptr::NonNull;

use jsonathlon_driver_api::driver::{DriverError, Result};

use crate::library::SharedLibrary;

/// `chdb_connection`: pointer to an opaque structure.
type RawConnection = *mut c_void;
/// `chdb_result *`: pointer to an opaque structure.
type RawResult = *mut c_void;

/// Type of `chdb_query_with_params_n`: statement, format, parameter names and values with the length of each
/// text, and the number of parameters.
type QueryWithParameters = unsafe extern "C" fn(
    RawConnection,
    *const c_char,
    usize,
    *const c_char,
    usize,
    *const *const c_char,
    *const usize,
    *const *const c_char,
    *const usize,
    usize,
) -> RawResult;

struct Functions {
    connect: unsafe extern "C" fn(c_int, *mut *mut c_char) -> *mut RawConnection,
    close: unsafe extern "C" fn(*mut RawConnection),
    query: unsafe extern "C" fn(RawConnection, *const c_char, usize, *const c_char, usize) -> RawResult,
    /// `None` if this version of the library lacks the function.
    query_with: Option<QueryWithParameters>,
    error: unsafe extern "C" fn(RawResult) -> *const c_char,
    buffer: unsafe extern "C" fn(RawResult) -> *const u8,
    length: unsafe extern "C" fn(RawResult) -> usize,
    elapsed: unsafe extern "C" fn(RawResult) -> f64,
    rows_read: unsafe extern "C" fn(RawResult) -> u64,
    bytes_read: unsafe extern "C" fn(RawResult) -> u64,
    destroy: unsafe extern "C" fn(RawResult),
}

/// Open connection. chDB allows one data folder per process.
pub(super) struct Connection {
    functions: Functions,
    handle: Option<NonNull<RawConnection>>,
    // Keeps the code behind `functions` loaded.
    _library: SharedLibrary,
}

// SAFETY: the engine does not bind a connection to a thread, and only one thread at a time holds this.
unsafe impl Send for Connection {}

impl Connection {
    /// Opens a connection with command-line `arguments` (`--path=…`).
    pub(super) fn open(library: SharedLibrary, arguments: &[String]) -> Result<Self> {
        // SAFETY: names and types are those of chdb.h (26.7).
        let functions = unsafe {
            let no_signal_handlers: unsafe extern "C" fn(c_int) =
                library.function("chdb_set_signal_handlers_enabled")?;
            // chDB's signal handlers would turn a crash into a hang with a half-written report. The
            // coordinator needs the plain signal, and the process's own handlers must stay in place.
            no_signal_handlers(0);
            Functions {
                connect: library.function("chdb_connect")?,
                close: library.function("chdb_close_conn")?,
                query: library.function("chdb_query_n")?,
                query_with: library.function("chdb_query_with_params_n").ok(),
                error: library.function("chdb_result_error")?,
                buffer: library.function("chdb_result_buffer")?,
                length: library.function("chdb_result_length")?,
                elapsed: library.function("chdb_result_elapsed")?,
                rows_read: library.function("chdb_result_storage_rows_read")?,
                bytes_read: library.function("chdb_result_storage_bytes_read")?,
                destroy: library.function("chdb_destroy_query_result")?,
            }
        };
        let arguments: Vec<CString> = std::iter::once("clickhouse")
            .chain(arguments.iter().map(String::as_str))
            .map(|argument| {
                CString::new(argument)
                    .map_err(|_| DriverError::Unsupported(format!("a NUL in the setting {argument:?}")))
            })
            .collect::<Result<_>>()?;
        let mut pointers: Vec<*mut c_char> =
            arguments.iter().map(|argument| argument.as_ptr().cast_mut()).collect();
        let count = c_int::try_from(pointers.len())
            .map_err(|_| DriverError::Unsupported("too many settings".into()))?;
        // SAFETY: `count` pointers to NUL-terminated texts, which chDB copies.
        let handle = unsafe { (functions.connect)(count, pointers.as_mut_ptr()) };
        let handle = NonNull::new(handle).ok_or_else(|| {
            DriverError::Refused(
                "chDB did not open the folder (its own words are in the log): is it used by another \
                 process, or a setting unknown?"
                    .into(),
            )
        })?;
        Ok(Self { functions, handle: Some(handle), _library: library })
    }

    /// Executes `statement` with `values` for its parameters `p1`, `p2` and so on. The answer is encoded in
    /// `format`.
    pub(super) fn query(&self, statement: &str, format: &str, values: &[String]) -> Result<Answer<'_>> {
        let raw = if values.is_empty() {
            self.run(statement, format)?
        } else {
            self.run_with(statement, format, values)?
        };
        let answer = Answer { functions: &self.functions, raw };
        let Some(message) = answer.error() else { return Ok(answer) };
        drop(answer);
        // Output of a failed statement stays in the connection's buffer and would precede the next answer. A
        // statement that succeeds flushes it. If that one fails too, the next answer fails to decode, so the
        // error is not hidden.
        if let Ok(raw) = self.run("SELECT 1", "Null") {
            drop(Answer { functions: &self.functions, raw });
        }
        Err(DriverError::Refused(message))
    }

    fn run(&self, statement: &str, format: &str) -> Result<NonNull<c_void>> {
        let Some(handle) = self.handle else {
            return Err(DriverError::Unavailable("the session is closed".into()));
        };
        // SAFETY: the connection is open, and both texts are passed with their lengths.
        let raw = unsafe {
            (self.functions.query)(
                handle.read(),
                statement.as_ptr().cast(),
                statement.len(),
                format.as_ptr().cast(),
                format.len(),
            )
        };
        NonNull::new(raw).ok_or_else(|| DriverError::Protocol("no result at all".into()))
    }

    fn run_with(&self, statement: &str, format: &str, values: &[String]) -> Result<NonNull<c_void>> {
        let Some(handle) = self.handle else {
            return Err(DriverError::Unavailable("the session is closed".into()));
        };
        let Some(query) = self.functions.query_with else {
            return Err(DriverError::Unsupported("this version of chDB takes no parameters".into()));
        };
        let names: Vec<String> = (1..=values.len()).map(|number| format!("p{number}")).collect();
        let pointers = |texts: &[String]| texts.iter().map(|text| text.as_ptr().cast()).collect::<Vec<_>>();
        let lengths = |texts: &[String]| texts.iter().map(String::len).collect::<Vec<_>>();
        let (name_pointers, name_lengths) = (pointers(&names), lengths(&names));
        let (value_pointers, value_lengths) = (pointers(values), lengths(values));
        // SAFETY: the connection is open; all texts are passed with their lengths and outlive the call.
        let raw = unsafe {
            query(
                handle.read(),
                statement.as_ptr().cast(),
                statement.len(),
                format.as_ptr().cast(),
                format.len(),
                name_pointers.as_ptr(),
                name_lengths.as_ptr(),
                value_pointers.as_ptr(),
                value_lengths.as_ptr(),
                values.len(),
            )
        };
        NonNull::new(raw).ok_or_else(|| DriverError::Protocol("no result at all".into()))
    }

    /// Closes the connection. Does nothing if it is closed already.
    pub(super) fn close(&mut self) {
        if let Some(handle) = self.handle.take() {
            // SAFETY: the handle was open until now and is not used again.
            unsafe { (self.functions.close)(handle.as_ptr()) }
        }
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.close();
    }
}

/// Answer to one statement, freed when dropped.
pub(super) struct Answer<'a> {
    functions: &'a Functions,
    raw: NonNull<c_void>,
}

impl Answer<'_> {
    fn error(&self) -> Option<String> {
        // SAFETY: the answer is alive; the text is NUL-terminated and lives as long.
        unsafe {
            let message = (self.functions.error)(self.raw.as_ptr());
            (!message.is_null()).then(|| CStr::from_ptr(message).to_string_lossy().trim().to_owned())
        }
    }

    /// Returns the answer in the requested format; empty for statements without rows.
    pub(super) fn bytes(&self) -> &[u8] {
        // SAFETY: the buffer has `length` bytes and lives as long as the answer.
        unsafe {
            let (start, length) =
                ((self.functions.buffer)(self.raw.as_ptr()), (self.functions.length)(self.raw.as_ptr()));
            if start.is_null() || length == 0 { &[] } else { std::slice::from_raw_parts(start, length) }
        }
    }

    /// Execution time in seconds by the engine's own clock.
    pub(super) fn elapsed(&self) -> f64 {
        // SAFETY: the answer is alive.
        unsafe { (self.functions.elapsed)(self.raw.as_ptr()) }
    }

    /// Number of rows and of uncompressed bytes read from storage.
    pub(super) fn read(&self) -> (u64, u64) {
        // SAFETY: the answer is alive.
        unsafe {
            ((self.functions.rows_read)(self.raw.as_ptr()), (self.functions.bytes_read)(self.raw.as_ptr()))
        }
    }
}

impl Drop for Answer<'_> {
    fn drop(&mut self) {
        // SAFETY: alive until now, and not used again.
        unsafe { (self.functions.destroy)(self.raw.as_ptr()) }
    }
}
