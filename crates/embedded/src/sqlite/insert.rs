//! Inserts one document per row, without copying the document.
#![expect(
    unsafe_code,
    reason = "binds a document in place, which no safe interface offers: copying it costs a tenth of a load"
)]

use std::ffi::{CStr, c_int};
use std::marker::PhantomData;
use std::ptr::{NonNull, null_mut};

use jsonathlon_driver_api::driver::{DriverError, Result};
use rusqlite::Connection;
use rusqlite::ffi;

/// Prepared insert with the parameter `:doc`, and `:key` if documents have keys outside their text.
pub(super) struct Insert<'c> {
    statement: NonNull<ffi::sqlite3_stmt>,
    parameter: c_int,
    /// Index of `:key`; 0 if the statement has no such parameter.
    key: c_int,
    connection: PhantomData<&'c Connection>,
}

/// Error of SQLite for one document.
#[derive(Debug)]
pub(super) struct InsertError {
    /// SQLite's primary result code (without the extended part).
    pub(super) code: c_int,
    /// Error message of SQLite.
    pub(super) message: String,
}

impl<'c> Insert<'c> {
    pub(super) fn prepare(connection: &'c Connection, text: &str) -> Result<Self> {
        let length = c_int::try_from(text.len())
            .map_err(|_| DriverError::Unsupported("a statement of 2 GiB or more".into()))?;
        let mut statement = null_mut();
        // SAFETY: the connection is open, the text has the given length, and the pointer is valid.
        let (code, message) = unsafe {
            let handle = connection.handle();
            let code = ffi::sqlite3_prepare_v3(
                handle,
                text.as_ptr().cast(),
                length,
                ffi::SQLITE_PREPARE_PERSISTENT,
                &raw mut statement,
                null_mut(),
            );
            (code, message_of(handle))
        };
        if code != ffi::SQLITE_OK {
            return Err(DriverError::Refused(message));
        }
        let statement = NonNull::new(statement)
            .ok_or_else(|| DriverError::Refused("the load statement is empty".into()))?;
        let mut insert = Self { statement, parameter: 0, key: 0, connection: PhantomData };
        // SAFETY: the statement is alive, and the name is NUL-terminated.
        insert.parameter =
            unsafe { ffi::sqlite3_bind_parameter_index(insert.statement.as_ptr(), c":doc".as_ptr()) };
        // SAFETY: as above.
        insert.key =
            unsafe { ffi::sqlite3_bind_parameter_index(insert.statement.as_ptr(), c":key".as_ptr()) };
        if insert.parameter == 0 {
            return Err(DriverError::Unsupported(
                "the load statement has no :doc where the document belongs".into(),
            ));
        }
        Ok(insert)
    }

    /// Executes the statement with `document` as text and returns the number of rows that it changed.
    pub(super) fn insert(
        &mut self,
        key: Option<i64>,
        document: &[u8],
    ) -> std::result::Result<i64, InsertError> {
        let statement = self.statement.as_ptr();
        // SAFETY: statement and connection are alive. The document is bound in place (no destructor means
        // that SQLite neither copies nor frees it) and unbound before it can be freed.
        unsafe {
            let handle = ffi::sqlite3_db_handle(statement);
            let mut code = ffi::sqlite3_bind_text64(
                statement,
                self.parameter,
                document.as_ptr().cast(),
                document.len() as u64,
                ffi::SQLITE_STATIC(),
                ffi::SQLITE_UTF8 as u8,
            );
            if code == ffi::SQLITE_OK
                && self.key != 0
                && let Some(key) = key
            {
                code = ffi::sqlite3_bind_int64(statement, self.key, key);
            }
            if code == ffi::SQLITE_OK {
                code = ffi::sqlite3_step(statement);
            }
            // Rows of a RETURNING clause are ignored.
            while code == ffi::SQLITE_ROW {
                code = ffi::sqlite3_step(statement);
            }
            let result = if code == ffi::SQLITE_DONE {
                Ok(ffi::sqlite3_changes64(handle))
            } else {
                // The lower byte of an extended result code is the primary result code.
                Err(InsertError { code: code & 0xff, message: message_of(handle) })
            };
            // The result of the reset repeats that of the step, so it is ignored.
            ffi::sqlite3_reset(statement);
            ffi::sqlite3_clear_bindings(statement);
            result
        }
    }
}

impl Drop for Insert<'_> {
    fn drop(&mut self) {
        // SAFETY: alive until now, and not used again. The code repeats that of the last step, which was
        // reported.
        unsafe { ffi::sqlite3_finalize(self.statement.as_ptr()) };
    }
}

/// Returns the message of the latest error on a connection.
///
/// # Safety
/// `handle` must be open.
unsafe fn message_of(handle: *mut ffi::sqlite3) -> String {
    // SAFETY: SQLite returns a NUL-terminated text that lives until the next call.
    unsafe { CStr::from_ptr(ffi::sqlite3_errmsg(handle)) }.to_string_lossy().into_owned()
}
