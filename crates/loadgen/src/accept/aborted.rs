//! Versions of writes that are known not to have been applied.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

const PARTS: usize = 64;
/// Number of entries in a part from which on unneeded ones are pruned.
const PRUNED_FROM: usize = 1_024;

/// Versions of aborted writes, in parts with a lock each.
#[derive(Debug)]
pub(super) struct AbortedVersions {
    parts: Box<[Mutex<Part>]>,
    count: AtomicU64,
}

#[derive(Debug)]
struct Part {
    /// Aborted versions by record number and version. The value is the delete that preceded an aborted
    /// delete.
    preceding_deletes: HashMap<(u64, u32), u32>,
    prune_limit: usize,
}

impl Default for AbortedVersions {
    fn default() -> Self {
        let part = |_| Mutex::new(Part { preceding_deletes: HashMap::new(), prune_limit: PRUNED_FROM });
        AbortedVersions { parts: (0..PARTS).map(part).collect(), count: AtomicU64::new(0) }
    }
}

impl AbortedVersions {
    /// Adds an aborted write. Reads reject versions below a record's floor without a lookup here, so such
    /// entries are pruned when a part grows large.
    pub(super) fn add(&self, number: u64, version: u32, deleted_before: u32, floor: impl Fn(u64) -> u32) {
        let Some(part) = self.parts.get(number as usize % PARTS) else { return };
        let mut part = part.lock().unwrap_or_else(PoisonError::into_inner);
        part.preceding_deletes.insert((number, version), deleted_before);
        self.count.fetch_add(1, Ordering::SeqCst);
        if part.preceding_deletes.len() >= part.prune_limit {
            part.preceding_deletes.retain(|(number, version), _| *version >= floor(*number));
            part.prune_limit = PRUNED_FROM.max(2 * part.preceding_deletes.len());
        }
    }

    /// Returns the delete that preceded an aborted write (0 if none). `None` if the write is not known to be
    /// aborted.
    #[inline]
    pub(super) fn get(&self, number: u64, version: u32) -> Option<u32> {
        if self.count.load(Ordering::SeqCst) == 0 {
            return None;
        }
        let part = self.parts.get(number as usize % PARTS)?;
        let part = part.lock().unwrap_or_else(PoisonError::into_inner);
        part.preceding_deletes.get(&(number, version)).copied()
    }

    /// Returns `true` if the write is known to have been aborted.
    #[inline]
    pub(super) fn contains(&self, number: u64, version: u32) -> bool {
        self.get(number, version).is_some()
    }
}
