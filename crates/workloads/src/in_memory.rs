//! Decides whether a trial counts as measured on data in memory: by how much it reads from the disk.

use jsonathlon_telemetry::page_cache;

use crate::session::Session;

/// A trial that reads more than this share of the data files, or more than this many bytes, is not in memory.
const MAX_READ: (f64, u64) = (0.01, 16 << 20);
/// Lower bound of the limit, the kernel's usual read-ahead: a page of a WAL or of a catalogue is not data.
const READ_AHEAD_BYTES: u64 = 128 << 10;

/// Bytes that a trial may read from the disk and still count as in memory. `None` on a remote server and if
/// the data files cannot be measured.
pub(crate) fn read_limit_bytes(session: &Session<'_>) -> Option<u64> {
    if session.is_remote() {
        return None;
    }
    let log_bytes = page_cache::allocated_bytes_of(session.folder(), &session.target.setup.logs).ok()?;
    let data_bytes = page_cache::allocated_bytes(session.folder()).ok()?.saturating_sub(log_bytes);
    Some(((data_bytes as f64 * MAX_READ.0) as u64).min(MAX_READ.1).max(READ_AHEAD_BYTES))
}
