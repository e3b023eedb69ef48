//! Accept sets: the versions that a read may return while writes are in flight.
//!
//! Every write of a record, including deletes and inserts, takes the record's next version before it is sent.
//! A read notes the record's floor before it is sent. Its answer is accepted if the version was issued by the
//! time of the answer, is not below that floor, and is not known to be aborted. The set may be slightly too
//! wide, but no right answer is rejected; with one client it is exact. This holds for any system whose writes
//! take effect at one moment between sending and acknowledgement, and whose reads see all writes that took
//! effect before they were sent. Loaded records exist at version 0, others are absent at first.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use jsonathlon_dataset::records::SeenVersions;

mod aborted;
mod chunked_array;
mod inserts;
mod lost_updates;
mod packed_state;
mod reply_cache;
mod state;

pub use reply_cache::reply_hash;

use aborted::AbortedVersions;
use chunked_array::ChunkedArray;
use inserts::Inserts;
use lost_updates::ReplacedValues;
use packed_state::{OverflowStates, PackedState};
use reply_cache::CachedReply;
use state::IssuedVersion;

/// Largest number of records that can be inserted in addition to the loaded ones.
pub const MAX_INSERTS: u64 = 1 << 28;

/// Versions of all records of a load, shared by all client threads.
#[derive(Debug)]
pub struct AcceptSet {
    loaded: u64,
    entries: Box<[RecordEntry]>,
    inserted: ChunkedArray<RecordEntry>,
    /// Further state of records with deletes or writes of whole documents.
    whole_documents: ChunkedArray<WholeDocumentVersions>,
    overflow: OverflowStates,
    aborted: AbortedVersions,
    inserts: Inserts,
    replaced: ReplacedValues,
    unknown: Mutex<Vec<WriteToken>>,
}

/// Aligned so that the data needed for one answer lies in a single cache line.
#[derive(Debug, Default)]
#[repr(align(32))]
struct RecordEntry {
    state: PackedState,
    reply: CachedReply,
}

#[derive(Debug, Default)]
struct WholeDocumentVersions {
    /// Greatest version of a delete; 0 if there was none.
    deleted: AtomicU32,
    /// Greatest version of a write of the whole document.
    issued: AtomicU32,
    /// Lower bound of the version in which a read that starts now sees the document inserted or replaced as a
    /// whole.
    floor: AtomicU32,
}

/// Part of the document that a write changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WriteKind {
    /// The value that the writes of the mix change.
    Part,
    /// The whole document, by an insert or an update of all values.
    Whole,
    /// The write deletes the document.
    Delete,
}

/// Floors of a record at the time when a read was sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub struct ReadToken {
    number: u64,
    floor: u32,
    whole_floor: u32,
}

impl ReadToken {
    /// Number of the record that is read.
    #[must_use]
    pub fn number(&self) -> u64 {
        self.number
    }
}

/// A write that has a version. It must be passed to [`AcceptSet::acknowledged`], [`AcceptSet::aborted`],
/// [`AcceptSet::taken`] or [`AcceptSet::unknown`] when it has ended.
#[derive(Debug, PartialEq, Eq)]
#[must_use]
pub struct WriteToken {
    number: u64,
    issued: IssuedVersion,
    change: WriteKind,
    /// Version of the delete before this one; 0 if there was none or this is no delete.
    deleted_before: u32,
}

impl WriteToken {
    /// Number of the record that is written.
    #[must_use]
    pub fn number(&self) -> u64 {
        self.number
    }

    /// Version that the written values must carry.
    #[must_use]
    pub fn version(&self) -> u32 {
        self.issued.version
    }
}

/// Reasons for which an answer is rejected as wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConsistencyViolation {
    /// The answer is older than a write that was acknowledged before the read was sent.
    #[error("version {version} is stale: {floor} was acknowledged before the read was sent")]
    Stale {
        /// Version found in the answer.
        version: u32,
        /// Smallest version that would have been accepted.
        floor: u32,
    },
    /// The answer has a version that was never issued to a write.
    #[error("version {version} was never written; {issued} is the last one that was")]
    NeverWritten {
        /// Version found in the answer.
        version: u32,
        /// Greatest version issued so far.
        issued: u32,
    },
    /// The answer has the version of a write that is known not to have been applied.
    #[error("version {version} was refused by the system, and is there")]
    Aborted {
        /// Version found in the answer.
        version: u32,
    },
    /// The record is absent, although no delete of it could have taken effect.
    #[error("the record is absent, and was not deleted")]
    Absent,
}

impl ConsistencyViolation {
    /// Returns `true` if the answer was right at an earlier time.
    #[must_use]
    pub fn is_stale(&self) -> bool {
        matches!(self, ConsistencyViolation::Stale { .. })
    }
}

impl AcceptSet {
    /// Creates the accept sets for this many loaded records, all at version 0.
    #[must_use]
    pub fn new(loaded: u64) -> Self {
        AcceptSet {
            loaded,
            entries: (0..loaded).map(|_| RecordEntry::default()).collect(),
            inserted: ChunkedArray::new(MAX_INSERTS),
            whole_documents: ChunkedArray::new(loaded.saturating_add(MAX_INSERTS)),
            overflow: OverflowStates::default(),
            aborted: AbortedVersions::default(),
            inserts: Inserts::new(loaded),
            replaced: ReplacedValues::default(),
            unknown: Mutex::default(),
        }
    }

    /// Number of loaded records; inserted records have greater numbers.
    #[must_use]
    pub fn loaded(&self) -> u64 {
        self.loaded
    }

    #[inline]
    fn entry(&self, number: u64) -> Option<&RecordEntry> {
        match self.entries.get(usize::try_from(number).ok()?) {
            Some(entry) => Some(entry),
            None => self.inserted.get(number - self.loaded),
        }
    }

    fn entry_or_make(&self, number: u64) -> Option<&RecordEntry> {
        if number < self.loaded {
            self.entry(number)
        } else {
            self.inserted.get_or_make(number - self.loaded)
        }
    }

    #[inline]
    fn bounds(&self, number: u64) -> (u32, u32) {
        self.entry(number).map_or((0, 0), |entry| entry.state.bounds(number, &self.overflow))
    }

    /// Notes the floors of a record. Must be called before the read is sent.
    #[inline]
    pub fn begin_read(&self, number: u64) -> ReadToken {
        let (_, floor) = self.bounds(number);
        let whole = self.whole_documents.get(number);
        let whole_floor = whole.map_or(0, |whole| whole.floor.load(Ordering::SeqCst));
        ReadToken { number, floor, whole_floor }
    }

    /// Returns a read that accepts every version ever written. Used for records that an answer contains
    /// unexpectedly, such as those of a scan, and for systems whose answers may be stale.
    pub fn read_of_any_age(&self, number: u64) -> ReadToken {
        ReadToken { number, floor: 0, whole_floor: 0 }
    }

    /// Checks the answer to a read; `None` stands for an absent record. Must be called after the answer has
    /// arrived.
    ///
    /// # Errors
    ///
    /// [`ConsistencyViolation`] if the answer is not in the accept set.
    #[inline]
    pub fn accepts(
        &self,
        read: &ReadToken,
        answer: Option<SeenVersions>,
    ) -> Result<(), ConsistencyViolation> {
        let Some(seen) = answer else { return self.accepts_absence(read) };
        if let Some(version) = seen.version {
            let (issued, _) = self.bounds(read.number);
            self.accepts_version(read.number, version, read.floor, issued)?;
        }
        if let Some(base) = seen.base {
            let whole = self.whole_documents.get(read.number);
            let issued = whole.map_or(0, |whole| whole.issued.load(Ordering::SeqCst));
            self.accepts_version(read.number, base, read.whole_floor, issued)?;
        }
        Ok(())
    }

    #[inline]
    fn accepts_version(
        &self,
        number: u64,
        version: u32,
        floor: u32,
        issued: u32,
    ) -> Result<(), ConsistencyViolation> {
        if version > issued || (version == 0 && number >= self.loaded) {
            return Err(ConsistencyViolation::NeverWritten { version, issued });
        }
        if version < floor {
            return Err(ConsistencyViolation::Stale { version, floor });
        }
        if self.aborted.contains(number, version) {
            return Err(ConsistencyViolation::Aborted { version });
        }
        Ok(())
    }

    fn accepts_absence(&self, read: &ReadToken) -> Result<(), ConsistencyViolation> {
        if read.number >= self.loaded && read.floor == 0 {
            return Ok(());
        }
        let whole = self.whole_documents.get(read.number);
        let deleted = whole.map_or(0, |whole| whole.deleted.load(Ordering::SeqCst));
        if deleted == 0 {
            Err(ConsistencyViolation::Absent)
        } else if deleted < read.floor {
            Err(ConsistencyViolation::Stale { version: deleted, floor: read.floor })
        } else {
            Ok(())
        }
    }

    /// Issues the version of a write. Must be called before the write is sent. `None` if the record's
    /// versions have run out (after about 4.29 thousand million) or there is no room for its number.
    #[must_use]
    pub fn begin_write(&self, number: u64, change: WriteKind) -> Option<WriteToken> {
        let entry = self.entry_or_make(number)?;
        let whole = match change {
            WriteKind::Part => None,
            WriteKind::Whole | WriteKind::Delete => Some(self.whole_documents.get_or_make(number)?),
        };
        let issued = entry.state.update(number, &self.overflow, state::VersionState::issue)?;
        let mut deleted_before = 0;
        if let Some(whole) = whole {
            match change {
                WriteKind::Delete => {
                    deleted_before = whole.deleted.fetch_max(issued.version, Ordering::SeqCst);
                }
                _ => {
                    whole.issued.fetch_max(issued.version, Ordering::SeqCst);
                }
            }
        }
        Some(WriteToken { number, issued, change, deleted_before })
    }

    /// Issues a number and a version for the insert of a new record. `None` if there is no room for more
    /// records.
    #[must_use]
    pub fn begin_insert(&self) -> Option<WriteToken> {
        let number = self.inserts.claim();
        self.begin_write(number, WriteKind::Whole)
    }

    /// Ends a write that was applied. Must be called after its acknowledgement has arrived.
    pub fn acknowledge(&self, write: WriteToken) {
        self.end(&write, true);
    }

    /// Ends a write that was not and never will be applied: the system refused it or found nothing to change.
    /// The number of a refused insert is used by a later insert.
    pub fn abort(&self, write: WriteToken) {
        let number = write.number;
        self.mark_key_taken(write);
        self.give_back(number);
    }

    /// Ends a write that was not applied because its key already exists in the system. The number of such an
    /// insert is not used again.
    pub fn mark_key_taken(&self, write: WriteToken) {
        let (number, version) = (write.number, write.version());
        self.aborted.add(number, version, write.deleted_before, |number| self.bounds(number).1);
        if write.change == WriteKind::Delete
            && let Some(whole) = self.whole_documents.get(number)
        {
            // The latest earlier delete that was not aborted as well.
            let mut last_delete = write.deleted_before;
            while last_delete > 0
                && let Some(earlier) = self.aborted.get(number, last_delete)
            {
                last_delete = earlier;
            }
            // If a newer delete was issued meanwhile, that one stays the greatest.
            let _ = whole.deleted.compare_exchange(version, last_delete, Ordering::SeqCst, Ordering::SeqCst);
        }
        self.end(&write, false);
    }

    /// Marks a write whose outcome is unknown and that may still be applied. It stays in flight until it is
    /// settled.
    pub fn mark_unknown(&self, write: WriteToken) {
        self.unknown_writes().push(write);
    }

    fn unknown_writes(&self) -> MutexGuard<'_, Vec<WriteToken>> {
        self.unknown.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Number of writes whose outcome is unknown.
    #[must_use]
    pub fn unknown_count(&self) -> u64 {
        self.unknown_writes().len() as u64
    }

    /// Numbers of the records with writes of unknown outcome, each once, in ascending order. They can be
    /// settled by reading once these writes can no longer be applied: when the system has closed their
    /// connections or was restarted.
    #[must_use]
    pub fn unknown_records(&self) -> Vec<u64> {
        let mut numbers: Vec<u64> = self.unknown_writes().iter().map(WriteToken::number).collect();
        numbers.sort_unstable();
        numbers.dedup();
        numbers
    }

    /// Numbers of the records with at least one acknowledged write.
    pub fn written_records(&self) -> impl Iterator<Item = u64> + '_ {
        (0..self.inserts.end()).filter(|number| self.bounds(*number).1 > 0)
    }

    /// Settles a record's writes of unknown outcome by an answer that was read after none of them could be
    /// applied any more. The answer must have been accepted by [`Self::accepts`].
    pub fn settle(&self, number: u64, answer: Option<SeenVersions>) {
        let mut settled = Vec::new();
        self.unknown_writes().retain_mut(|write| {
            let is_settled = write.number == number;
            if is_settled {
                settled.push(WriteToken { ..*write });
            }
            !is_settled
        });
        for write in settled {
            let version = Some(write.version());
            // A document that bears no version at all was inserted by the only write that it can have had.
            let is_unversioned = |seen| seen == SeenVersions::default() && write.change == WriteKind::Whole;
            let is_applied = answer
                .is_some_and(|seen| seen.version == version || seen.base == version || is_unversioned(seen));
            self.end(&write, is_applied);
            if answer.is_none() {
                self.give_back(number);
            }
        }
    }

    fn end(&self, write: &WriteToken, is_applied: bool) {
        let Some(entry) = self.entry(write.number) else { return };
        let issued = write.issued;
        entry.state.update(write.number, &self.overflow, |state| state.end(issued, is_applied));
        if is_applied {
            if write.change != WriteKind::Part
                && let Some(whole) = self.whole_documents.get(write.number)
            {
                whole.floor.fetch_max(issued.low, Ordering::SeqCst);
            }
            if write.number >= self.loaded {
                self.inserts.advance(|number| self.bounds(number).1 > 0);
            }
        }
    }

    /// Frees the number of a record that was never inserted, if no write of it is in flight.
    fn give_back(&self, number: u64) {
        if number >= self.loaded && self.bounds(number).1 == 0 && self.inserts.is_ahead(number) {
            let is_quiet =
                self.entry(number).is_some_and(|entry| entry.state.is_quiet(number, &self.overflow));
            if is_quiet {
                self.inserts.give_back(number);
            }
        }
    }

    /// Number of records without a gap from number 0 on: loaded records and acknowledged inserts, including
    /// deleted ones. The highest contiguous acknowledged insert has this number minus 1.
    #[inline]
    #[must_use]
    pub fn records(&self) -> u64 {
        self.inserts.contiguous()
    }

    /// Notes that an acknowledged write has replaced this version. Returns `true` if that is a lost update:
    /// another acknowledged write had replaced the same version.
    pub fn is_lost_update(&self, number: u64, version: u32) -> bool {
        self.replaced.is_repeated(number, version)
    }

    /// Versions seen in the reply with this hash, if it is the record's last reply that was fully verified.
    #[inline]
    #[must_use]
    pub fn cached_reply(&self, number: u64, hash: u64) -> Option<SeenVersions> {
        self.entry(number).and_then(|entry| entry.reply.get(hash))
    }

    /// Stores the versions that the full verification of a reply with this hash has found.
    #[inline]
    pub fn cache_reply(&self, number: u64, hash: u64, seen: SeenVersions) {
        if let Some(entry) = self.entry(number) {
            entry.reply.put(hash, seen);
        }
    }

    /// Forgets all verified replies. Needed when the values that the mix writes change, because the versions
    /// seen in a reply depend on them.
    pub fn forget_replies(&self) {
        for entry in &self.entries {
            entry.reply.forget();
        }
        for number in self.loaded..self.inserts.end() {
            if let Some(entry) = self.entry(number) {
                entry.reply.forget();
            }
        }
    }
}
