//! Which answers are right while writes are in flight.
//!
//! Each record has versions: every write, also a delete and an insert, takes the next one before it is sent. A read notes
//! the record's floor before it is sent and accepts whatever was issued by the time of its answer, is not older than that
//! floor, and is not known to have been aborted. This is slightly wide and never wrong: no right answer is refused. With
//! one client it is exact. It holds for any system whose writes take effect at one moment between sending and
//! acknowledgement, and whose reads see all writes that took effect before they were sent.
//!
//! Record numbers below those that were loaded are there at version 0; others begin as absent ones.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use jsonathlon_dataset::records::Seen;

mod aborted;
mod inserts;
mod replaced;
mod replies;
mod room;
mod state;
mod words;

pub use replies::reply_hash;

use aborted::Aborted;
use inserts::Inserts;
use replaced::Replaced;
use replies::Checked;
use room::Room;
use state::Issued;
use words::{Wide, Word};

/// Records that can be inserted beyond those that were loaded.
pub const MOST_INSERTS: u64 = 1 << 28;

/// What is known of all records' versions. Threads share one.
#[derive(Debug)]
pub struct Accept {
    loaded: u64,
    entries: Box<[Entry]>,
    inserted: Room<Entry>,
    /// What only deletes and writes of whole documents need.
    wholes: Room<Whole>,
    wide: Wide,
    aborted: Aborted,
    inserts: Inserts,
    replaced: Replaced,
    unknown: Mutex<Vec<Write>>,
}

/// Aligned so that what is looked up for an answer lies in one line of the cache.
#[derive(Debug, Default)]
#[repr(align(32))]
struct Entry {
    word: Word,
    checked: Checked,
}

#[derive(Debug, Default)]
struct Whole {
    /// The greatest version of a delete.
    deleted: AtomicU32,
    /// The greatest version of a write of the whole document.
    issued: AtomicU32,
    /// What a read that starts now sees was inserted or replaced as a whole by no older version than this.
    floor: AtomicU32,
}

/// What a write changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// The values that the mix's writes change.
    Part,
    /// The whole document: an insert, or an update of all values.
    Whole,
    /// The document goes.
    Delete,
}

/// What was known of a record when a read was sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub struct Read {
    number: u64,
    floor: u32,
    whole_floor: u32,
}

impl Read {
    /// The record's number.
    #[must_use]
    pub fn number(&self) -> u64 {
        self.number
    }
}

/// A write that has a version. It must be told how it ended.
#[derive(Debug, PartialEq, Eq)]
#[must_use]
pub struct Write {
    number: u64,
    issued: Issued,
    change: Change,
    /// The last delete before a delete.
    deleted_before: u32,
}

impl Write {
    /// The record's number.
    #[must_use]
    pub fn number(&self) -> u64 {
        self.number
    }

    /// The version that the values written must bear.
    #[must_use]
    pub fn version(&self) -> u32 {
        self.issued.version
    }
}

/// Why an answer is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// Older than what was acknowledged before the read was sent.
    #[error("version {version} is stale: {floor} was acknowledged before the read was sent")]
    Stale {
        /// The version in the answer.
        version: u32,
        /// The least that is right.
        floor: u32,
    },
    /// A version that no write was given.
    #[error("version {version} was never written; {issued} is the last one that was")]
    NeverWritten {
        /// The version in the answer.
        version: u32,
        /// The last one that was issued.
        issued: u32,
    },
    /// The version of a write that the system has refused.
    #[error("version {version} was refused by the system, and is there")]
    Aborted {
        /// The version in the answer.
        version: u32,
    },
    /// There is no record where there must be one.
    #[error("the record is absent, and was not deleted")]
    Absent,
}

impl Refused {
    /// Whether the answer was right once.
    #[must_use]
    pub fn is_stale(&self) -> bool {
        matches!(self, Refused::Stale { .. })
    }
}

impl Accept {
    /// Nothing but this many records, all at version 0.
    #[must_use]
    pub fn new(loaded: u64) -> Self {
        Accept {
            loaded,
            entries: (0..loaded).map(|_| Entry::default()).collect(),
            inserted: Room::new(MOST_INSERTS),
            wholes: Room::new(loaded.saturating_add(MOST_INSERTS)),
            wide: Wide::default(),
            aborted: Aborted::default(),
            inserts: Inserts::new(loaded),
            replaced: Replaced::default(),
            unknown: Mutex::default(),
        }
    }

    /// How many records the load brought.
    #[must_use]
    pub fn loaded(&self) -> u64 {
        self.loaded
    }

    #[inline]
    fn entry(&self, number: u64) -> Option<&Entry> {
        match self.entries.get(usize::try_from(number).ok()?) {
            Some(entry) => Some(entry),
            None => self.inserted.get(number - self.loaded),
        }
    }

    fn entry_or_make(&self, number: u64) -> Option<&Entry> {
        if number < self.loaded {
            self.entry(number)
        } else {
            self.inserted.get_or_make(number - self.loaded)
        }
    }

    #[inline]
    fn bounds(&self, number: u64) -> (u32, u32) {
        self.entry(number).map_or((0, 0), |entry| entry.word.bounds(number, &self.wide))
    }

    /// To be called before a read is sent.
    #[inline]
    pub fn begin_read(&self, number: u64) -> Read {
        let (_, floor) = self.bounds(number);
        let whole_floor = self.wholes.get(number).map_or(0, |whole| whole.floor.load(Ordering::SeqCst));
        Read { number, floor, whole_floor }
    }

    /// For answers of which nobody knew before that they would hold this record, such as those of scans, and for systems
    /// that may answer with something old: whatever was written once is right.
    pub fn read_of_any_age(&self, number: u64) -> Read {
        Read { number, floor: 0, whole_floor: 0 }
    }

    /// Whether an answer is right; none for a record that is absent. To be called when the answer is there.
    ///
    /// # Errors
    ///
    /// Why it is not.
    #[inline]
    pub fn accepts(&self, read: &Read, answer: Option<Seen>) -> Result<(), Refused> {
        let Some(seen) = answer else { return self.accepts_absence(read) };
        if let Some(version) = seen.version {
            let (issued, _) = self.bounds(read.number);
            self.accepts_version(read.number, version, read.floor, issued)?;
        }
        if let Some(base) = seen.base {
            let issued = self.wholes.get(read.number).map_or(0, |whole| whole.issued.load(Ordering::SeqCst));
            self.accepts_version(read.number, base, read.whole_floor, issued)?;
        }
        Ok(())
    }

    #[inline]
    fn accepts_version(&self, number: u64, version: u32, floor: u32, issued: u32) -> Result<(), Refused> {
        if version > issued || (version == 0 && number >= self.loaded) {
            return Err(Refused::NeverWritten { version, issued });
        }
        if version < floor {
            return Err(Refused::Stale { version, floor });
        }
        if self.aborted.contains(number, version) {
            return Err(Refused::Aborted { version });
        }
        Ok(())
    }

    fn accepts_absence(&self, read: &Read) -> Result<(), Refused> {
        if read.number >= self.loaded && read.floor == 0 {
            return Ok(());
        }
        let deleted = self.wholes.get(read.number).map_or(0, |whole| whole.deleted.load(Ordering::SeqCst));
        if deleted == 0 {
            Err(Refused::Absent)
        } else if deleted < read.floor {
            Err(Refused::Stale { version: deleted, floor: read.floor })
        } else {
            Ok(())
        }
    }

    /// To be called before a write is sent; it gives the write its version. None when the record's versions have run out
    /// (after four thousand million), or when there is no room for its number.
    #[must_use]
    pub fn begin_write(&self, number: u64, change: Change) -> Option<Write> {
        let entry = self.entry_or_make(number)?;
        let whole = match change {
            Change::Part => None,
            Change::Whole | Change::Delete => Some(self.wholes.get_or_make(number)?),
        };
        let issued = entry.word.update(number, &self.wide, state::State::issue)?;
        let mut deleted_before = 0;
        if let Some(whole) = whole {
            match change {
                Change::Delete => {
                    deleted_before = whole.deleted.fetch_max(issued.version, Ordering::SeqCst);
                }
                _ => {
                    whole.issued.fetch_max(issued.version, Ordering::SeqCst);
                }
            }
        }
        Some(Write { number, issued, change, deleted_before })
    }

    /// Begins the insert of a record that was never there. None when there is no room for more.
    #[must_use]
    pub fn begin_insert(&self) -> Option<Write> {
        let number = self.inserts.take();
        self.begin_write(number, Change::Whole)
    }

    /// The write was done: to be called when its acknowledgement is there.
    pub fn acknowledged(&self, write: Write) {
        self.end(&write, true);
    }

    /// The write was not done and never will be: the system has refused it, or found nothing to change. A new record whose
    /// insert was refused is inserted by a later one.
    pub fn aborted(&self, write: Write) {
        let number = write.number;
        self.taken(write);
        self.give_back(number);
    }

    /// The write was not done, because the system has something under its key already: a new record of this number is not
    /// tried again.
    pub fn taken(&self, write: Write) {
        let (number, version) = (write.number, write.version());
        self.aborted.add(number, version, write.deleted_before, |number| self.bounds(number).1);
        if write.change == Change::Delete
            && let Some(whole) = self.wholes.get(number)
        {
            // The last delete before this one that was not aborted too.
            let mut before = write.deleted_before;
            while before > 0
                && let Some(earlier) = self.aborted.get(number, before)
            {
                before = earlier;
            }
            // If another one has come meanwhile, it is the last.
            let _ = whole.deleted.compare_exchange(version, before, Ordering::SeqCst, Ordering::SeqCst);
        }
        self.end(&write, false);
    }

    /// Nobody knows whether the write was done, or whether it still will be. It stays in flight until it is settled.
    pub fn unknown(&self, write: Write) {
        self.unknown_writes().push(write);
    }

    fn unknown_writes(&self) -> MutexGuard<'_, Vec<Write>> {
        self.unknown.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How many writes there are of unknown outcome.
    #[must_use]
    pub fn unknown_count(&self) -> u64 {
        self.unknown_writes().len() as u64
    }

    /// Records with writes of unknown outcome, each once. They are settled by reading them once those writes cannot be done
    /// any more: when the system has ended their connections, or was started anew.
    #[must_use]
    pub fn unknown_records(&self) -> Vec<u64> {
        let mut numbers: Vec<u64> = self.unknown_writes().iter().map(Write::number).collect();
        numbers.sort_unstable();
        numbers.dedup();
        numbers
    }

    /// Records of which a write was acknowledged.
    pub fn written_records(&self) -> impl Iterator<Item = u64> + '_ {
        (0..self.inserts.end()).filter(|number| self.bounds(*number).1 > 0)
    }

    /// Settles a record's writes of unknown outcome by what was read after none of them could be done any more. What was
    /// read must have been accepted like any other answer.
    pub fn settle(&self, number: u64, answer: Option<Seen>) {
        let mut settled = Vec::new();
        self.unknown_writes().retain_mut(|write| {
            let ends = write.number == number;
            if ends {
                settled.push(Write { ..*write });
            }
            !ends
        });
        for write in settled {
            let version = Some(write.version());
            let shows = answer.is_some_and(|seen| seen.version == version || seen.base == version);
            self.end(&write, shows);
            if answer.is_none() {
                self.give_back(number);
            }
        }
    }

    fn end(&self, write: &Write, applied: bool) {
        let Some(entry) = self.entry(write.number) else { return };
        let issued = write.issued;
        entry.word.update(write.number, &self.wide, |state| state.end(issued, applied));
        if applied {
            if write.change != Change::Part
                && let Some(whole) = self.wholes.get(write.number)
            {
                whole.floor.fetch_max(issued.low, Ordering::SeqCst);
            }
            if write.number >= self.loaded {
                self.inserts.advance(|number| self.bounds(number).1 > 0);
            }
        }
    }

    /// Lets a number that was never there be inserted again.
    fn give_back(&self, number: u64) {
        if number >= self.loaded && self.bounds(number).1 == 0 && self.inserts.is_ahead(number) {
            let quiet = self.entry(number).is_some_and(|entry| entry.word.is_quiet(number, &self.wide));
            if quiet {
                self.inserts.give_back(number);
            }
        }
    }

    /// How many records there are from number 0 on without a gap: those that were loaded, and inserts that were
    /// acknowledged, deleted ones among them. The highest contiguous acknowledged insert is one less.
    #[inline]
    #[must_use]
    pub fn records(&self) -> u64 {
        self.inserts.contiguous()
    }

    /// Notes that an acknowledged write has replaced what bore this version. Says whether that is a lost update: another
    /// acknowledged write had replaced the same.
    pub fn replaced(&self, number: u64, version: u32) -> bool {
        self.replaced.again(number, version)
    }

    /// What was seen in a reply with this hash, if it is the last reply of the record that was fully checked.
    #[inline]
    #[must_use]
    pub fn checked(&self, number: u64, hash: u64) -> Option<Seen> {
        self.entry(number).and_then(|entry| entry.checked.get(hash))
    }

    /// Notes what a full check of a reply with this hash has seen.
    #[inline]
    pub fn remember(&self, number: u64, hash: u64, seen: Seen) {
        if let Some(entry) = self.entry(number) {
            entry.checked.put(hash, seen);
        }
    }

    /// Forgets all replies that were checked: what a reply shows depends on which values a mix writes.
    pub fn forget_replies(&self) {
        for entry in &self.entries {
            entry.checked.forget();
        }
        for number in self.loaded..self.inserts.end() {
            if let Some(entry) = self.entry(number) {
                entry.checked.forget();
            }
        }
    }
}
