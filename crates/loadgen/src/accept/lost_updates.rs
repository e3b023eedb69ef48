//! Detects lost updates: two acknowledged writes that claim to have replaced the same version.

use std::collections::{HashSet, VecDeque};
use std::sync::{Mutex, PoisonError};

/// Number of parts with a lock each.
const PARTS: usize = 64;
/// Number of replaced versions that a part remembers. Two writes that replace the same version overlap in
/// time, so the oldest entries can be dropped.
const CAPACITY: usize = 8_192;

/// Latest versions that acknowledged writes have replaced, up to 524,288.
#[derive(Debug)]
pub(super) struct ReplacedValues {
    parts: Box<[Mutex<Part>]>,
}

#[derive(Debug, Default)]
struct Part {
    replaced: HashSet<(u64, u32)>,
    order: VecDeque<(u64, u32)>,
}

impl Default for ReplacedValues {
    fn default() -> Self {
        ReplacedValues { parts: (0..PARTS).map(|_| Mutex::default()).collect() }
    }
}

impl ReplacedValues {
    /// Notes that a write has replaced this version of a record. Returns `true` if another write had replaced
    /// it before.
    pub(super) fn is_repeated(&self, number: u64, version: u32) -> bool {
        let Some(part) = self.parts.get(number as usize % PARTS) else { return false };
        let mut part = part.lock().unwrap_or_else(PoisonError::into_inner);
        if !part.replaced.insert((number, version)) {
            return true;
        }
        part.order.push_back((number, version));
        if part.order.len() > CAPACITY
            && let Some(oldest) = part.order.pop_front()
        {
            part.replaced.remove(&oldest);
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_second_is_a_lost_update() {
        let replaced = ReplacedValues::default();
        assert!(!replaced.is_repeated(5, 1));
        assert!(!replaced.is_repeated(5, 2));
        assert!(!replaced.is_repeated(6, 1));
        assert!(replaced.is_repeated(5, 1));
        assert!(replaced.is_repeated(5, 1));
    }

    #[test]
    fn memory_is_bounded() {
        let replaced = ReplacedValues::default();
        for version in 0..3 * CAPACITY as u32 {
            assert!(!replaced.is_repeated(0, version));
        }
        let part = replaced.parts[0].lock().unwrap();
        assert_eq!((part.replaced.len(), part.order.len()), (CAPACITY, CAPACITY));
    }
}
