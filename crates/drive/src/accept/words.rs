//! States of keys as words that change at one go, and the few that do not fit.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::state::{self, State, WIDE};

const PARTS: usize = 64;

/// States that do not fit a word: keys with many writes in flight, or with one that does not end while many others do.
/// So no state is ever approximate.
#[derive(Debug)]
pub(super) struct Wide {
    parts: Box<[Mutex<HashMap<u64, State>>]>,
}

impl Default for Wide {
    fn default() -> Self {
        Wide { parts: (0..PARTS).map(|_| Mutex::default()).collect() }
    }
}

impl Wide {
    fn lock(&self, number: u64) -> Option<MutexGuard<'_, HashMap<u64, State>>> {
        let part = self.parts.get(number as usize % PARTS)?;
        Some(part.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// The state of one key.
#[derive(Debug)]
pub(super) struct Word(AtomicU64);

impl Default for Word {
    fn default() -> Self {
        Word(AtomicU64::new(State::NEW.pack().unwrap_or_default()))
    }
}

impl Word {
    /// The version that was issued last, and the floor.
    #[inline]
    pub(super) fn bounds(&self, number: u64, wide: &Wide) -> (u32, u32) {
        let word = self.0.load(Ordering::SeqCst);
        if word & WIDE == 0 {
            return (state::issued(word), state::floor(word));
        }
        let state = self.state(number, wide);
        (state.issued, state.floor)
    }

    /// Whether nothing is in flight.
    pub(super) fn is_quiet(&self, number: u64, wide: &Wide) -> bool {
        self.state(number, wide).is_quiet()
    }

    fn state(&self, number: u64, wide: &Wide) -> State {
        loop {
            let word = self.0.load(Ordering::SeqCst);
            if word & WIDE == 0 {
                return State::unpack(word);
            }
            if let Some(state) = wide.lock(number).and_then(|part| part.get(&number).copied()) {
                return state;
            }
            // It fits the word again by now.
        }
    }

    /// Changes the state at one go. The change may be tried several times.
    pub(super) fn update<T>(&self, number: u64, wide: &Wide, change: impl Fn(&mut State) -> T) -> T {
        loop {
            let word = self.0.load(Ordering::SeqCst);
            if word & WIDE != 0 {
                let Some(mut part) = wide.lock(number) else { continue };
                let Some(state) = part.get_mut(&number) else { continue };
                let result = change(state);
                // It returns to the word when it is quiet, lest a busy key goes back and forth.
                if state.is_quiet()
                    && let Some(word) = state.pack()
                {
                    part.remove(&number);
                    self.0.store(word, Ordering::SeqCst);
                }
                return result;
            }
            let mut state = State::unpack(word);
            let result = change(&mut state);
            if let Some(next) = state.pack() {
                if self.0.compare_exchange(word, next, Ordering::SeqCst, Ordering::SeqCst).is_ok() {
                    return result;
                }
            } else if let Some(mut part) = wide.lock(number) {
                // Whoever finds the mark waits for the lock, behind which the state is.
                if self.0.compare_exchange(word, WIDE, Ordering::SeqCst, Ordering::SeqCst).is_ok() {
                    part.insert(number, state);
                    return result;
                }
            }
        }
    }
}
