//! Counts the pages written to the WAL by connections of this process. SQLite counts them per connection
//! only.
#![expect(unsafe_code, reason = "a counter of SQLite's C interface that rusqlite does not hand on")]

use std::ffi::c_int;
use std::ptr;
use std::sync::atomic::{AtomicI64, Ordering};

use rusqlite::functions::FunctionFlags;
use rusqlite::{Connection, Result, ffi};

/// Pages written by connections of this process that are closed.
static CLOSED_TOTAL: AtomicI64 = AtomicI64::new(0);

/// Defines the SQL function `cache_writes()`: pages written by the calling connection and by closed
/// connections of this process. This is the total if called after the clients have closed their connections.
pub(super) fn define(connection: &Connection) -> Result<()> {
    connection.create_scalar_function("cache_writes", 0, FunctionFlags::SQLITE_UTF8, |context| {
        // SAFETY: the connection is the one that runs the function, and it is not closed meanwhile.
        let pages = unsafe { pages_written(context.get_connection()?.handle()) };
        Ok(CLOSED_TOTAL.load(Ordering::Relaxed) + pages)
    })
}

/// Adds the pages that a connection has written to the total. Must be called before the connection is closed.
pub(super) fn connection_closed(connection: &Connection) {
    // SAFETY: the handle is that of an open connection, used by this thread alone.
    let pages = unsafe { pages_written(connection.handle()) };
    CLOSED_TOTAL.fetch_add(pages, Ordering::Relaxed);
}

/// Returns the pages written by one connection, or 0 if SQLite reports an error.
///
/// # Safety
/// `handle` must be the handle of an open connection that no other thread uses.
unsafe fn pages_written(handle: *mut ffi::sqlite3) -> i64 {
    let (mut current, mut highest): (c_int, c_int) = (0, 0);
    // SAFETY: the caller guarantees the handle; both numbers outlive the call.
    let code = unsafe {
        ffi::sqlite3_db_status(
            handle,
            ffi::SQLITE_DBSTATUS_CACHE_WRITE,
            ptr::from_mut(&mut current),
            ptr::from_mut(&mut highest),
            0,
        )
    };
    if code == ffi::SQLITE_OK { i64::from(current) } else { 0 }
}
