//! When a trial counts as one over data that are in memory: how much it may read from the disk meanwhile.

use jsonathlon_measure::page_cache;

use crate::session::Session;

/// What reads more than this share of the data files from the disk, or more than so many bytes, is not over data in
/// memory.
const READS: (f64, u64) = (0.01, 16 << 20);
/// Below the kernel's usual read-ahead nothing is said: a page of a log or of a catalogue is no data.
const READ_AHEAD: u64 = 128 << 10;

/// Bytes that a trial may read from the disk and still be one over data in memory; nothing is known of a guest's.
pub(crate) fn may_read(session: &Session<'_>) -> Option<u64> {
    if session.is_guest() {
        return None;
    }
    let logs = page_cache::allocated_bytes_of(session.folder(), &session.target.part.logs).ok()?;
    let files = page_cache::allocated_bytes(session.folder()).ok()?.saturating_sub(logs);
    Some(((files as f64 * READS.0) as u64).min(READS.1).max(READ_AHEAD))
}
