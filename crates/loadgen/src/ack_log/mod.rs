//! Acknowledgement log of crash tests: each write is logged before it is sent, and each acknowledgement when
//! it has arrived.
//!
//! A crash may kill the worker as well, so the log is a file outside the system. A write counts as
//! acknowledged only if its acknowledgement was logged: one that could not be logged any more counts as never
//! received. Entries are in the order of time: a write logged after an acknowledgement was also sent after
//! it.

mod audit;
mod read_back;

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Read, Write as _};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

pub use audit::{CrashWindow, ObservedDocument, RecoveryAudit, audit};
pub use read_back::RecoveryRead;
pub(crate) use read_back::read_back;

use crate::accept::{WriteKind, WriteToken};
use crate::reactor::monotonic_ns;

/// Clock of the log: `CLOCK_MONOTONIC` in nanoseconds, which is the same in all processes.
#[must_use]
pub fn now_ns() -> u64 {
    monotonic_ns()
}

/// Length of an entry in bytes: time, record number, version, kind and end mark.
const ENTRY_LENGTH: usize = 24;
/// Number of bytes in which the first acknowledgement is searched for: more than all clients can log before
/// it.
const SEARCHED_BYTES: u64 = 1 << 20;
/// End mark of every entry, by which a damaged entry is detected.
const END_MARK: [u8; 3] = [0xa7, b'J', b'\n'];

/// What an entry says about a write. The numbers are those in the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LogEntryKind {
    /// A write of a whole document, or a delete, is about to be sent.
    Whole = 1,
    /// A write of new values of an existing document is about to be sent.
    Part = 2,
    /// The write was acknowledged by the system.
    Acknowledged = 3,
}

impl LogEntryKind {
    fn of(byte: u8) -> Option<Self> {
        [Self::Whole, Self::Part, Self::Acknowledged].into_iter().find(|kind| *kind as u8 == byte)
    }
}

/// Acknowledgement log that is open for appending.
#[derive(Debug)]
pub(crate) struct AckLog {
    file: Mutex<File>,
    has_failed: AtomicBool,
}

impl AckLog {
    /// Creates the log, or empties an existing one.
    pub(crate) fn create(path: &Path) -> io::Result<Self> {
        Ok(Self { file: Mutex::new(File::create(path)?), has_failed: AtomicBool::new(false) })
    }

    /// Issues a write by `begin` and logs it before it can be sent. `None` if no write can be issued or the
    /// log cannot be written; nothing may be sent then.
    pub(crate) fn send(
        &self,
        change: WriteKind,
        begin: impl FnOnce() -> Option<WriteToken>,
    ) -> Option<WriteToken> {
        // Versions of a record must be logged in ascending order, so they are issued while the lock is held.
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        let write = begin()?;
        let kind = if change == WriteKind::Part { LogEntryKind::Part } else { LogEntryKind::Whole };
        self.append(&mut file, &write, kind).then_some(write)
    }

    /// Logs an acknowledgement. A failure is reported by [`Self::has_failed`].
    pub(crate) fn acknowledge(&self, write: &WriteToken) {
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        self.append(&mut file, write, LogEntryKind::Acknowledged);
    }

    /// Returns `true` if an entry could not be written; all later entries are missing then.
    pub(crate) fn has_failed(&self) -> bool {
        self.has_failed.load(Ordering::SeqCst)
    }

    fn append(&self, file: &mut File, write: &WriteToken, kind: LogEntryKind) -> bool {
        // After a partial entry all following ones would be unreadable.
        if self.has_failed() {
            return false;
        }
        let entry = encode(monotonic_ns(), write.number(), write.version(), kind);
        let is_written = file.write_all(&entry).is_ok();
        if !is_written {
            self.has_failed.store(true, Ordering::SeqCst);
        }
        is_written
    }
}

fn encode(at_ns: u64, number: u64, version: u32, kind: LogEntryKind) -> [u8; ENTRY_LENGTH] {
    let mut entry = [0; ENTRY_LENGTH];
    let fields: [&[u8]; 5] =
        [&at_ns.to_le_bytes(), &number.to_le_bytes(), &version.to_le_bytes(), &[kind as u8], &END_MARK];
    for (target, byte) in entry.iter_mut().zip(fields.into_iter().flatten()) {
        *target = *byte;
    }
    entry
}

/// One write from the log, with its acknowledgement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LoggedWrite {
    /// Number of the record that was written.
    pub number: u64,
    /// Version that the written values carry.
    pub version: u32,
    /// Whether the write contained the whole document.
    pub is_whole: bool,
    /// When the write was logged, just before it was sent.
    pub sent: LogPosition,
    /// When the acknowledgement was logged. `None` if there was none.
    pub acknowledged: Option<LogPosition>,
}

/// Position of an entry in the log, and its time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LogPosition {
    /// Index of the entry; entries with greater indexes are later.
    pub entry_index: u64,
    /// Time of `CLOCK_MONOTONIC` in nanoseconds.
    pub at_ns: u64,
}

/// Reads all writes of a log in the order in which they were sent. An incomplete entry at the end was never
/// valid and is ignored.
///
/// # Errors
/// If the log cannot be read. [`io::ErrorKind::InvalidData`] if an entry is damaged or acknowledges a write
/// that is not in the log.
pub fn read(mut reader: impl Read) -> io::Result<Vec<LoggedWrite>> {
    let mut bytes = Vec::new();
    reader.read_to_end(&mut bytes)?;
    let damaged = |index: u64| {
        io::Error::new(io::ErrorKind::InvalidData, format!("entry {index} of the record is damaged"))
    };
    let mut writes: Vec<LoggedWrite> = Vec::new();
    let mut unacknowledged: HashMap<(u64, u32), usize> = HashMap::new();
    for (index, entry) in (0..).zip(bytes.chunks_exact(ENTRY_LENGTH)) {
        let (at_ns, number, version, kind) = decode(entry).ok_or_else(|| damaged(index))?;
        let position = LogPosition { entry_index: index, at_ns };
        if kind == LogEntryKind::Acknowledged {
            let write_index = unacknowledged.remove(&(number, version)).ok_or_else(|| damaged(index))?;
            let write = writes.get_mut(write_index).ok_or_else(|| damaged(index))?;
            write.acknowledged = Some(position);
        } else {
            unacknowledged.insert((number, version), writes.len());
            let is_whole = kind == LogEntryKind::Whole;
            writes.push(LoggedWrite { number, version, is_whole, sent: position, acknowledged: None });
        }
    }
    Ok(writes)
}

/// Returns `true` if the first 1 MiB of a log that is still being written contains an acknowledgement.
#[must_use]
pub fn has_acknowledgement(path: &Path) -> bool {
    let mut first = Vec::new();
    let outcome = File::open(path).and_then(|file| file.take(SEARCHED_BYTES).read_to_end(&mut first));
    let is_acknowledgement =
        |entry: &[u8]| decode(entry).is_some_and(|(.., kind)| kind == LogEntryKind::Acknowledged);
    outcome.is_ok() && first.chunks_exact(ENTRY_LENGTH).any(is_acknowledgement)
}

fn decode(entry: &[u8]) -> Option<(u64, u64, u32, LogEntryKind)> {
    let (at_ns, rest) = entry.split_first_chunk::<8>()?;
    let (number, rest) = rest.split_first_chunk::<8>()?;
    let (version, rest) = rest.split_first_chunk::<4>()?;
    let (kind, mark) = rest.split_first()?;
    let kind = LogEntryKind::of(*kind).filter(|_| mark == END_MARK)?;
    Some((u64::from_le_bytes(*at_ns), u64::from_le_bytes(*number), u32::from_le_bytes(*version), kind))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::accept::AcceptSet;

    #[test]
    fn what_was_written_down_is_read_again_however_it_ends() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("record");
        let log = AckLog::create(&path).unwrap();
        let accept = AcceptSet::new(2);
        let update = log.send(WriteKind::Part, || accept.begin_write(1, WriteKind::Part)).unwrap();
        let insert = log.send(WriteKind::Whole, || accept.begin_insert()).unwrap();
        assert!(!has_acknowledgement(&path));
        log.acknowledge(&insert);
        assert!(!log.has_failed() && has_acknowledgement(&path));
        let bytes = std::fs::read(&path).unwrap();
        assert_eq!(bytes.len(), 3 * ENTRY_LENGTH);
        let writes = read(&*bytes).unwrap();
        let summaries: Vec<(u64, u32, bool, bool)> = writes
            .iter()
            .map(|write| (write.number, write.version, write.is_whole, write.acknowledged.is_some()))
            .collect();
        assert_eq!(summaries, [(1, 1, false, false), (2, 1, true, true)]);
        assert!(writes[0].sent.at_ns <= writes[1].acknowledged.unwrap().at_ns);
        // The process was killed while it wrote an entry.
        assert_eq!(read(&bytes[..2 * ENTRY_LENGTH + 5]).unwrap()[1].acknowledged, None);
        let mut damaged = bytes.clone();
        damaged[ENTRY_LENGTH + 21] ^= 1;
        assert!(read(&*damaged).unwrap_err().to_string().contains("entry 1"));
        // An acknowledgement without its write.
        assert!(read(&bytes[2 * ENTRY_LENGTH..]).is_err());
        accept.acknowledge(update);
        accept.acknowledge(insert);
    }
}
