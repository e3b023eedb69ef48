//! Numbers of inserted records, and the number up to which all inserts were acknowledged.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

/// Allocator of the numbers of new records.
#[derive(Debug)]
pub(super) struct Inserts {
    next: AtomicU64,
    /// Every record below this number was loaded, or inserted and acknowledged.
    contiguous: AtomicU64,
    /// Numbers whose insert was refused. They are allocated again before new ones, so that no gap stays.
    refused: Mutex<Vec<u64>>,
    refused_count: AtomicU64,
}

impl Inserts {
    pub(super) fn new(loaded: u64) -> Self {
        Inserts {
            next: AtomicU64::new(loaded),
            contiguous: AtomicU64::new(loaded),
            refused: Mutex::default(),
            refused_count: AtomicU64::new(0),
        }
    }

    /// Allocates the number of the next record to insert.
    pub(super) fn claim(&self) -> u64 {
        if self.refused_count.load(Ordering::SeqCst) > 0
            && let Some(number) = self.refused.lock().unwrap_or_else(PoisonError::into_inner).pop()
        {
            self.refused_count.fetch_sub(1, Ordering::SeqCst);
            return number;
        }
        self.next.fetch_add(1, Ordering::SeqCst)
    }

    /// Frees a number whose insert was refused.
    pub(super) fn give_back(&self, number: u64) {
        let mut refused = self.refused.lock().unwrap_or_else(PoisonError::into_inner);
        if !refused.contains(&number) {
            refused.push(number);
            self.refused_count.fetch_add(1, Ordering::SeqCst);
        }
    }

    /// Returns `true` if the number was allocated and lies above the contiguous ones.
    pub(super) fn is_ahead(&self, number: u64) -> bool {
        (self.contiguous()..self.end()).contains(&number)
    }

    /// Advances `contiguous` over all acknowledged numbers. If threads acknowledge neighbouring numbers at
    /// the same time, the last one to store its acknowledgement sees the others' and advances over all of
    /// them.
    pub(super) fn advance(&self, acknowledged: impl Fn(u64) -> bool) {
        loop {
            let number = self.contiguous.load(Ordering::SeqCst);
            if number >= self.end() || !acknowledged(number) {
                return;
            }
            let _ = self.contiguous.compare_exchange(number, number + 1, Ordering::SeqCst, Ordering::SeqCst);
        }
    }

    #[inline]
    pub(super) fn contiguous(&self) -> u64 {
        self.contiguous.load(Ordering::SeqCst)
    }

    /// Smallest number that was never allocated.
    pub(super) fn end(&self) -> u64 {
        self.next.load(Ordering::SeqCst)
    }
}
