//! Cache of fully verified replies by the hash of their text.

use std::sync::atomic::{AtomicU64, Ordering};

use jsonathlon_dataset::records::SeenVersions;
use twox_hash::XxHash3_64;

/// Encodes the absence of a version.
const NONE: u32 = u32::MAX;
/// Encodes that there is no reply: a base without a version, and one that no write has, because versions run
/// out before it. Two absent versions are those of a reply that bears none.
const EMPTY: u64 = u64::MAX - 1;

/// Hashes the text of a reply. `kind` separates replies that are verified in different ways, such as whole
/// documents and projections.
#[must_use]
#[inline]
pub fn reply_hash(text: &[u8], kind: u64) -> u64 {
    XxHash3_64::oneshot(text) ^ kind.wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

/// The last fully verified reply of one record: the versions seen in it, and the hash of its text combined
/// with them. If the two words belong to different replies, the hash matches no reply except with a
/// probability of 2⁻⁶⁴ (Hyatt, "A lockless transposition table implementation for parallel search", 1998).
#[derive(Debug)]
pub(super) struct CachedReply {
    seen: AtomicU64,
    combined: AtomicU64,
}

impl Default for CachedReply {
    fn default() -> Self {
        CachedReply { seen: AtomicU64::new(EMPTY), combined: AtomicU64::new(0) }
    }
}

impl CachedReply {
    /// Versions seen in the reply with this hash, if it is the last verified one.
    #[inline]
    pub(super) fn get(&self, hash: u64) -> Option<SeenVersions> {
        let seen = self.seen.load(Ordering::Relaxed);
        let combined = self.combined.load(Ordering::Relaxed);
        let is_match = combined ^ spread(seen) == hash && seen != EMPTY;
        is_match.then(|| SeenVersions { version: unpacked((seen >> 32) as u32), base: unpacked(seen as u32) })
    }

    #[inline]
    pub(super) fn put(&self, hash: u64, seen: SeenVersions) {
        let seen = u64::from(packed(seen.version)) << 32 | u64::from(packed(seen.base));
        self.seen.store(seen, Ordering::Relaxed);
        self.combined.store(hash ^ spread(seen), Ordering::Relaxed);
    }

    pub(super) fn forget(&self) {
        self.seen.store(EMPTY, Ordering::Relaxed);
    }
}

/// Spreads versions over all bits: versions of neighbouring writes differ in few bits only.
fn spread(seen: u64) -> u64 {
    let mixed = seen.wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed ^ (mixed >> 32)
}

fn packed(version: Option<u32>) -> u32 {
    version.unwrap_or(NONE)
}

fn unpacked(version: u32) -> Option<u32> {
    Some(version).filter(|version| *version != NONE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_reply_is_known_and_no_other() {
        let checked = CachedReply::default();
        let seen = SeenVersions { version: Some(3), base: Some(0) };
        let (first, second) = (reply_hash(b"first", 0), reply_hash(b"second", 0));
        assert_eq!(checked.get(first), None);
        assert_eq!(checked.get(0), None);
        checked.put(first, seen);
        assert_eq!(checked.get(first), Some(seen));
        assert_eq!(checked.get(reply_hash(b"first", 1)), None);
        let later = SeenVersions { version: Some(4), base: None };
        checked.put(second, later);
        assert_eq!((checked.get(first), checked.get(second)), (None, Some(later)));
        checked.forget();
        assert_eq!(checked.get(second), None);
    }

    #[test]
    fn a_reply_without_versions_is_known_too() {
        let checked = CachedReply::default();
        let hash = reply_hash(b"values that no write changes", 1);
        assert_eq!(checked.get(spread(EMPTY)), None, "nothing was verified yet");
        checked.put(hash, SeenVersions::default());
        assert_eq!(checked.get(hash), Some(SeenVersions::default()));
        assert_eq!(checked.get(reply_hash(b"other values", 1)), None);
        checked.forget();
        assert_eq!(checked.get(hash), None);
    }

    #[test]
    fn words_of_different_replies_are_rejected() {
        let (mixed, other) = (CachedReply::default(), CachedReply::default());
        let hashes = [reply_hash(b"a", 0), reply_hash(b"b", 0)];
        mixed.put(hashes[0], SeenVersions { version: Some(1), base: Some(0) });
        other.put(hashes[1], SeenVersions { version: Some(2), base: Some(0) });
        mixed.combined.store(other.combined.load(Ordering::Relaxed), Ordering::Relaxed);
        assert!(hashes.iter().all(|hash| mixed.get(*hash).is_none()));
    }
}
