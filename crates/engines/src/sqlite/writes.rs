//! Pages that connections of this process have written to the log: what SQLite counts for each connection alone.
#![expect(unsafe_code, reason = "a counter of SQLite's C interface that rusqlite does not hand on")]

use std::ffi::c_int;
use std::ptr;
use std::sync::atomic::{AtomicI64, Ordering};

use rusqlite::functions::FunctionFlags;
use rusqlite::{Connection, Result, ffi};

/// Those of connections that have ended.
static OF_ENDED: AtomicI64 = AtomicI64::new(0);

/// Defines `cache_writes()` for statements: pages written by the connection that asks, and by those of this process that
/// have ended. Asked when clients have closed their connections, these are all.
pub(super) fn define(connection: &Connection) -> Result<()> {
    connection.create_scalar_function("cache_writes", 0, FunctionFlags::SQLITE_UTF8, |context| {
        // SAFETY: the connection is the one that runs the function, and is not closed meanwhile.
        let own = unsafe { of(context.get_connection()?.handle()) };
        Ok(OF_ENDED.load(Ordering::Relaxed) + own)
    })
}

/// Counts what a connection has written, which is about to end.
pub(super) fn ends(connection: &Connection) {
    // SAFETY: the handle is that of an open connection, used by this thread alone.
    let own = unsafe { of(connection.handle()) };
    OF_ENDED.fetch_add(own, Ordering::Relaxed);
}

/// SAFETY: `handle` must be that of an open connection which no other thread uses.
unsafe fn of(handle: *mut ffi::sqlite3) -> i64 {
    let (mut now, mut most): (c_int, c_int) = (0, 0);
    // SAFETY: as demanded of the caller; both numbers outlive the call.
    let code = unsafe {
        ffi::sqlite3_db_status(
            handle,
            ffi::SQLITE_DBSTATUS_CACHE_WRITE,
            ptr::from_mut(&mut now),
            ptr::from_mut(&mut most),
            0,
        )
    };
    if code == ffi::SQLITE_OK { i64::from(now) } else { 0 }
}
