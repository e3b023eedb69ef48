//! Atomic words with the states of keys, and a map for states that do not fit into a word.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::state::{self, VersionState, WIDE};

const PARTS: usize = 64;

/// States that do not fit into a word: keys with many writes in flight, or with one write that does not end
/// while many others do. No state is ever approximate.
#[derive(Debug)]
pub(super) struct OverflowStates {
    parts: Box<[Mutex<HashMap<u64, VersionState>>]>,
}

impl Default for OverflowStates {
    fn default() -> Self {
        OverflowStates { parts: (0..PARTS).map(|_| Mutex::default()).collect() }
    }
}

impl OverflowStates {
    fn lock(&self, number: u64) -> Option<MutexGuard<'_, HashMap<u64, VersionState>>> {
        let part = self.parts.get(number as usize % PARTS)?;
        Some(part.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// State of one key as an atomic word.
#[derive(Debug)]
pub(super) struct PackedState(AtomicU64);

impl Default for PackedState {
    fn default() -> Self {
        PackedState(AtomicU64::new(VersionState::NEW.pack().unwrap_or_default()))
    }
}

impl PackedState {
    /// Returns the version issued last and the floor.
    #[inline]
    pub(super) fn bounds(&self, number: u64, overflow: &OverflowStates) -> (u32, u32) {
        let word = self.0.load(Ordering::SeqCst);
        if word & WIDE == 0 {
            return (state::issued(word), state::floor(word));
        }
        let state = self.state(number, overflow);
        (state.issued, state.floor)
    }

    /// Returns `true` if no write of the key is in flight.
    pub(super) fn is_quiet(&self, number: u64, overflow: &OverflowStates) -> bool {
        self.state(number, overflow).is_quiet()
    }

    fn state(&self, number: u64, overflow: &OverflowStates) -> VersionState {
        loop {
            let word = self.0.load(Ordering::SeqCst);
            if word & WIDE == 0 {
                return VersionState::unpack(word);
            }
            if let Some(state) = overflow.lock(number).and_then(|part| part.get(&number).copied()) {
                return state;
            }
            // The state was moved back into the word in between; read it again.
        }
    }

    /// Changes the state atomically. `change` may be called several times.
    pub(super) fn update<T>(
        &self,
        number: u64,
        overflow: &OverflowStates,
        change: impl Fn(&mut VersionState) -> T,
    ) -> T {
        loop {
            let word = self.0.load(Ordering::SeqCst);
            if word & WIDE != 0 {
                let Some(mut part) = overflow.lock(number) else { continue };
                let Some(state) = part.get_mut(&number) else { continue };
                let result = change(state);
                // The state returns to the word only when the key is quiet, so that a busy key does not
                // alternate.
                if state.is_quiet()
                    && let Some(word) = state.pack()
                {
                    part.remove(&number);
                    self.0.store(word, Ordering::SeqCst);
                }
                return result;
            }
            let mut state = VersionState::unpack(word);
            let result = change(&mut state);
            if let Some(packed) = state.pack() {
                if self.0.compare_exchange(word, packed, Ordering::SeqCst, Ordering::SeqCst).is_ok() {
                    return result;
                }
            } else if let Some(mut part) = overflow.lock(number) {
                // A thread that finds the mark waits for this lock before it reads the state.
                if self.0.compare_exchange(word, WIDE, Ordering::SeqCst, Ordering::SeqCst).is_ok() {
                    part.insert(number, state);
                    return result;
                }
            }
        }
    }
}
