//! What ran short, which a failure does not always say itself: the disk, or the memory that an engine may have.

use jsonathlon_measure::disk;
use jsonathlon_results::record::Failure;

use super::{Ended, Session};

/// On a disk with less room than this a failure may be for want of room: servers set files of 100 MB and more aside
/// at once, and what they had open is free again when they have ended.
const NEARLY_FULL: u64 = 256 << 20;

impl Session<'_> {
    /// Whoever fails because the disk is full may have had no room to write that down, or no words for it: a
    /// server may also be gone before it was found to be ready. Whoever is killed says nothing at all.
    pub(super) fn with_what_ran_short(&self, error: Ended) -> Ended {
        let Ended::Failed(Failure { kind, error }) = error else { return error };
        let full = disk::free_bytes(&self.folder).ok().filter(|free| *free < NEARLY_FULL);
        let full =
            full.map(|free| format!("the disk is nearly full, {free} bytes are free: make room for it"));
        let words = [Some(error), full, self.killed_for_memory()];
        Ended::failed(kind, words.into_iter().flatten().collect::<Vec<_>>().join("; "))
    }

    /// What to say of an engine that the kernel has killed for its cap since this was last asked.
    pub(super) fn killed_for_memory(&self) -> Option<String> {
        let (cap, bytes) = (self.cap.as_ref()?, self.most_memory?);
        let killed = cap.killed();
        (killed > self.killed.replace(killed)).then(|| {
            format!(
                "the kernel killed it, since it may have {} MiB and needed more: give it more by --memory",
                bytes >> 20
            )
        })
    }
}
