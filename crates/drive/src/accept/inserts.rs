//! The numbers of new records, and up to where their inserts were acknowledged.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

/// Numbers of records that are inserted.
#[derive(Debug)]
pub(super) struct Inserts {
    next: AtomicU64,
    /// All below were loaded, or inserted and acknowledged.
    contiguous: AtomicU64,
    /// Numbers whose insert was refused, which are inserted before others so that no gap stays.
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

    /// The number of the next record.
    pub(super) fn take(&self) -> u64 {
        if self.refused_count.load(Ordering::SeqCst) > 0
            && let Some(number) = self.refused.lock().unwrap_or_else(PoisonError::into_inner).pop()
        {
            self.refused_count.fetch_sub(1, Ordering::SeqCst);
            return number;
        }
        self.next.fetch_add(1, Ordering::SeqCst)
    }

    /// The insert of this number was refused.
    pub(super) fn give_back(&self, number: u64) {
        let mut refused = self.refused.lock().unwrap_or_else(PoisonError::into_inner);
        if !refused.contains(&number) {
            refused.push(number);
            self.refused_count.fetch_add(1, Ordering::SeqCst);
        }
    }

    /// Whether a number was taken and is not among the contiguous ones.
    pub(super) fn is_ahead(&self, number: u64) -> bool {
        (self.contiguous()..self.end()).contains(&number)
    }

    /// Moves on over numbers that are acknowledged. Of threads that acknowledge neighbours at once, the one that notes its
    /// own last sees the others' and moves on over all of them.
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

    /// No number from this one on was taken.
    pub(super) fn end(&self) -> u64 {
        self.next.load(Ordering::SeqCst)
    }
}
