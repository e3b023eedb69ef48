//! Memory that grows while others read it: one entry a record.

use std::sync::OnceLock;

/// Entries of one chunk.
const CHUNK: usize = 8_192;

/// Entries that are made in chunks when they are first needed. Reading takes no lock, and nothing ever moves.
#[derive(Debug)]
pub(super) struct Room<T> {
    chunks: Box<[OnceLock<Box<[T]>>]>,
}

impl<T: Default> Room<T> {
    /// Room for this many entries, of which none takes memory yet.
    pub(super) fn new(entries: u64) -> Self {
        let chunks = usize::try_from(entries.div_ceil(CHUNK as u64)).unwrap_or(usize::MAX);
        Room { chunks: (0..chunks).map(|_| OnceLock::new()).collect() }
    }

    /// An entry, if there is memory for it already.
    #[inline]
    pub(super) fn get(&self, place: u64) -> Option<&T> {
        let place = usize::try_from(place).ok()?;
        self.chunks.get(place / CHUNK)?.get()?.get(place % CHUNK)
    }

    /// An entry, for which memory is made if need be; none where there is no room.
    pub(super) fn get_or_make(&self, place: u64) -> Option<&T> {
        let place = usize::try_from(place).ok()?;
        let chunk = self.chunks.get(place / CHUNK)?;
        chunk.get_or_init(|| (0..CHUNK).map(|_| T::default()).collect()).get(place % CHUNK)
    }
}
