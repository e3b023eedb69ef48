//! Growing array that is read without locks: one entry per record.

use std::sync::OnceLock;

/// Number of entries of one chunk.
const CHUNK: usize = 8_192;

/// Array of entries that are allocated in chunks on first use. Reads take no lock and entries never move.
#[derive(Debug)]
pub(super) struct ChunkedArray<T> {
    chunks: Box<[OnceLock<Box<[T]>>]>,
}

impl<T: Default> ChunkedArray<T> {
    /// Creates room for this many entries without allocating any of them.
    pub(super) fn new(entries: u64) -> Self {
        let chunks = usize::try_from(entries.div_ceil(CHUNK as u64)).unwrap_or(usize::MAX);
        ChunkedArray { chunks: (0..chunks).map(|_| OnceLock::new()).collect() }
    }

    /// Returns an entry. `None` if its chunk is not allocated.
    #[inline]
    pub(super) fn get(&self, index: u64) -> Option<&T> {
        let index = usize::try_from(index).ok()?;
        self.chunks.get(index / CHUNK)?.get()?.get(index % CHUNK)
    }

    /// Returns an entry and allocates its chunk if necessary. `None` if the index is beyond the room.
    pub(super) fn get_or_make(&self, index: u64) -> Option<&T> {
        let index = usize::try_from(index).ok()?;
        let chunk = self.chunks.get(index / CHUNK)?;
        chunk.get_or_init(|| (0..CHUNK).map(|_| T::default()).collect()).get(index % CHUNK)
    }
}
