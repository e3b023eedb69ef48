//! The insert of one document a row, without a copy of the document.
#![expect(
    unsafe_code,
    reason = "binds a document in place, which no safe interface offers: copying it costs a tenth of a load"
)]

use std::ffi::{CStr, c_int};
use std::marker::PhantomData;
use std::ptr::{NonNull, null_mut};

use jsonathlon_connection::driver::{DriverError, Result};
use rusqlite::Connection;
use rusqlite::ffi;

/// A prepared insert with the parameter `:doc`, and `:key` where documents have keys beside them.
pub(super) struct Insert<'c> {
    statement: NonNull<ffi::sqlite3_stmt>,
    parameter: c_int,
    /// 0 where there is none.
    key: c_int,
    connection: PhantomData<&'c Connection>,
}

/// Why a document was not inserted.
#[derive(Debug)]
pub(super) struct Failure {
    /// SQLite's result code without its extension.
    pub(super) code: c_int,
    /// SQLite's own words.
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
        // SAFETY: the statement is alive, and the name NUL-terminated.
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

    /// Runs the statement with `document` as text; gives the number of rows it changed.
    pub(super) fn insert(&mut self, key: Option<i64>, document: &[u8]) -> std::result::Result<i64, Failure> {
        let statement = self.statement.as_ptr();
        // SAFETY: statement and connection are alive. The document is bound in place (no destructor means
        // that SQLite neither copies nor frees it) and unbound before it can go away.
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
            // Rows of a RETURNING are nobody's business here.
            while code == ffi::SQLITE_ROW {
                code = ffi::sqlite3_step(statement);
            }
            let result = if code == ffi::SQLITE_DONE {
                Ok(ffi::sqlite3_changes64(handle))
            } else {
                // The lower byte of an extended result code is its kind.
                Err(Failure { code: code & 0xff, message: message_of(handle) })
            };
            // Its code is that of the step again.
            ffi::sqlite3_reset(statement);
            ffi::sqlite3_clear_bindings(statement);
            result
        }
    }
}

impl Drop for Insert<'_> {
    fn drop(&mut self) {
        // SAFETY: alive until now, and not used again. The code is that of the last step, which was told.
        unsafe { ffi::sqlite3_finalize(self.statement.as_ptr()) };
    }
}

/// # Safety
/// `handle` must be open.
unsafe fn message_of(handle: *mut ffi::sqlite3) -> String {
    // SAFETY: SQLite gives a NUL-terminated text that lives until the next call.
    unsafe { CStr::from_ptr(ffi::sqlite3_errmsg(handle)) }.to_string_lossy().into_owned()
}
