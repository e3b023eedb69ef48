//! What clients were promised, on record where the system cannot reach it: each write before it is sent, and each
//! acknowledgement when it has come.
//!
//! A stop the hard way may take the worker along, so that what it knew must have left it before. A write is
//! acknowledged if its acknowledgement is on record: what the system said and nobody could write down any more was
//! promised to nobody. The order of the record is the order of time: what stands behind an acknowledgement was sent
//! after it.

mod judge;
mod read_back;

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Read, Write as _};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

pub use judge::{Cut, Kept, Observed, judge};
pub use read_back::ReadBack;
pub(crate) use read_back::read_back;

use crate::accept::{Change, Write};
use crate::waiting::monotonic_ns;

/// The clock of the record: `CLOCK_MONOTONIC`, nanoseconds, the same in all processes.
#[must_use]
pub fn now_ns() -> u64 {
    monotonic_ns()
}

/// Bytes of one entry: time, record, version, what it is, and a mark.
const LENGTH: usize = 24;
/// Bytes among which a first acknowledgement is looked for: more than all clients can have sent before.
const FIRST: u64 = 1 << 20;
/// Ends every entry, so that a record that is damaged is not taken for one.
const MARK: [u8; 3] = [0xa7, b'J', b'\n'];

/// What an entry says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum What {
    /// A new document is about to be sent.
    Whole = 1,
    /// New values of a document that is there are about to be sent.
    Part = 2,
    /// The write was acknowledged.
    Acknowledged = 3,
}

impl What {
    fn of(byte: u8) -> Option<Self> {
        [Self::Whole, Self::Part, Self::Acknowledged].into_iter().find(|what| *what as u8 == byte)
    }
}

/// The record while clients are at work.
#[derive(Debug)]
pub(crate) struct Promises {
    file: Mutex<File>,
    has_failed: AtomicBool,
}

impl Promises {
    /// Begins a record, in the place of one that is there.
    pub(crate) fn create(path: &Path) -> io::Result<Self> {
        Ok(Self { file: Mutex::new(File::create(path)?), has_failed: AtomicBool::new(false) })
    }

    /// Begins a write by `begin` and puts it on record before anybody can send it. None where there can be none, or
    /// where the record cannot be written: then nothing is to be sent.
    pub(crate) fn send(&self, change: Change, begin: impl FnOnce() -> Option<Write>) -> Option<Write> {
        // Versions of a record must stand in their order, so that they are issued under the lock.
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        let write = begin()?;
        let what = if change == Change::Part { What::Part } else { What::Whole };
        self.append(&mut file, &write, what).then_some(write)
    }

    /// Puts an acknowledgement on record.
    pub(crate) fn acknowledged(&self, write: &Write) {
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        self.append(&mut file, write, What::Acknowledged);
    }

    /// Whether something could not be put on record: what came after it means nothing.
    pub(crate) fn has_failed(&self) -> bool {
        self.has_failed.load(Ordering::SeqCst)
    }

    fn append(&self, file: &mut File, write: &Write, what: What) -> bool {
        // Half an entry would hide all that follow.
        if self.has_failed() {
            return false;
        }
        let entry = entry(monotonic_ns(), write.number(), write.version(), what);
        let is_written = file.write_all(&entry).is_ok();
        if !is_written {
            self.has_failed.store(true, Ordering::SeqCst);
        }
        is_written
    }
}

fn entry(at_ns: u64, number: u64, version: u32, what: What) -> [u8; LENGTH] {
    let mut entry = [0; LENGTH];
    let parts: [&[u8]; 5] =
        [&at_ns.to_le_bytes(), &number.to_le_bytes(), &version.to_le_bytes(), &[what as u8], &MARK];
    for (place, byte) in entry.iter_mut().zip(parts.into_iter().flatten()) {
        *place = *byte;
    }
    entry
}

/// One write of a record that was read again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sent {
    /// The document's number.
    pub number: u64,
    /// The version that its values bear.
    pub version: u32,
    /// Whether it brought the whole document.
    pub is_whole: bool,
    /// When it was about to be sent.
    pub sent: Moment,
    /// When its acknowledgement was put on record; none where it never was.
    pub acknowledged: Option<Moment>,
}

/// A place in the record, and its time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Moment {
    /// The place: what is behind came later.
    pub place: u64,
    /// `CLOCK_MONOTONIC`, nanoseconds.
    pub at_ns: u64,
}

/// All writes of a record, in the order in which they were sent.
///
/// # Errors
/// It cannot be read, or holds what no client has written. An entry that is cut off at the end was never whole, and
/// is left out.
pub fn read(mut from: impl Read) -> io::Result<Vec<Sent>> {
    let mut bytes = Vec::new();
    from.read_to_end(&mut bytes)?;
    let damaged = |place: u64| {
        io::Error::new(io::ErrorKind::InvalidData, format!("entry {place} of the record is damaged"))
    };
    let mut writes: Vec<Sent> = Vec::new();
    let mut open: HashMap<(u64, u32), usize> = HashMap::new();
    for (place, entry) in (0..).zip(bytes.chunks_exact(LENGTH)) {
        let (at_ns, number, version, what) = parts(entry).ok_or_else(|| damaged(place))?;
        let moment = Moment { place, at_ns };
        if what == What::Acknowledged {
            let index = open.remove(&(number, version)).ok_or_else(|| damaged(place))?;
            let write = writes.get_mut(index).ok_or_else(|| damaged(place))?;
            write.acknowledged = Some(moment);
        } else {
            open.insert((number, version), writes.len());
            let is_whole = what == What::Whole;
            writes.push(Sent { number, version, is_whole, sent: moment, acknowledged: None });
        }
    }
    Ok(writes)
}

/// Whether an acknowledgement is among the first entries of a record that is being written.
#[must_use]
pub fn has_begun(record: &Path) -> bool {
    let mut first = Vec::new();
    let looked = File::open(record).and_then(|file| file.take(FIRST).read_to_end(&mut first));
    let is_one = |entry: &[u8]| parts(entry).is_some_and(|(.., what)| what == What::Acknowledged);
    looked.is_ok() && first.chunks_exact(LENGTH).any(is_one)
}

fn parts(entry: &[u8]) -> Option<(u64, u64, u32, What)> {
    let (at, rest) = entry.split_first_chunk::<8>()?;
    let (number, rest) = rest.split_first_chunk::<8>()?;
    let (version, rest) = rest.split_first_chunk::<4>()?;
    let (what, mark) = rest.split_first()?;
    let what = What::of(*what).filter(|_| mark == MARK)?;
    Some((u64::from_le_bytes(*at), u64::from_le_bytes(*number), u32::from_le_bytes(*version), what))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::accept::Accept;

    #[test]
    fn what_was_written_down_is_read_again_however_it_ends() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("record");
        let promises = Promises::create(&path).unwrap();
        let accept = Accept::new(2);
        let update = promises.send(Change::Part, || accept.begin_write(1, Change::Part)).unwrap();
        let insert = promises.send(Change::Whole, || accept.begin_insert()).unwrap();
        assert!(!has_begun(&path));
        promises.acknowledged(&insert);
        assert!(!promises.has_failed() && has_begun(&path));
        let bytes = std::fs::read(&path).unwrap();
        assert_eq!(bytes.len(), 3 * LENGTH);
        let writes = read(&*bytes).unwrap();
        let told: Vec<(u64, u32, bool, bool)> = writes
            .iter()
            .map(|one| (one.number, one.version, one.is_whole, one.acknowledged.is_some()))
            .collect();
        assert_eq!(told, [(1, 1, false, false), (2, 1, true, true)]);
        assert!(writes[0].sent.at_ns <= writes[1].acknowledged.unwrap().at_ns);
        // The process was killed in the middle of an entry.
        assert_eq!(read(&bytes[..2 * LENGTH + 5]).unwrap()[1].acknowledged, None);
        let mut damaged = bytes.clone();
        damaged[LENGTH + 21] ^= 1;
        assert!(read(&*damaged).unwrap_err().to_string().contains("entry 1"));
        // An acknowledgement of nothing.
        assert!(read(&bytes[2 * LENGTH..]).is_err());
        accept.acknowledged(update);
        accept.acknowledged(insert);
    }
}
