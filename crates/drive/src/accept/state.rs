//! What is known of one key's versions, and how it is kept in one word.
//!
//! Versions are handed out one after the other. A write that is sent notes `low`: all versions below it had ended before
//! (acknowledged, aborted or settled). Once it is acknowledged, whoever reads sees it or what was applied after it, and
//! nothing below `low` can be applied after it. So `floor`, the greatest `low` of the acknowledged writes, is a lower
//! bound of what a read that starts now may see.
//!
//! `low` is the exact least version in flight while writes of one key do not overlap without a pause. Where they do, as on
//! the hot keys of a zipfian law, the start of the busy period would stay the bound for as long as it lasts. Writes are
//! therefore counted in two generations: those sent before `split` and those after it. When the older have all ended,
//! `low` moves up to `split`, the younger become the older, and a new generation begins.

/// The last version that is handed out; eight hexadecimal digits, less a value that stands for none.
const LAST: u32 = u32::MAX - 2;

/// What is known of one key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct State {
    /// The version that was handed out last.
    pub(super) issued: u32,
    /// No read that starts now may see anything older.
    pub(super) floor: u32,
    /// All versions below have ended.
    base: u32,
    /// Where the younger generation begins.
    split: u32,
    /// Writes of the older generation in flight; none only when none at all is in flight.
    old: u32,
    /// Writes of the younger one.
    young: u32,
}

/// A version that is handed out, and the bound that its acknowledgement sets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Issued {
    pub(super) version: u32,
    pub(super) low: u32,
}

impl State {
    /// Nothing but version 0.
    pub(super) const NEW: State = State { issued: 0, floor: 0, base: 1, split: 1, old: 0, young: 0 };

    /// Hands out the next version; none when there are no more.
    pub(super) fn issue(&mut self) -> Option<Issued> {
        if self.issued >= LAST {
            return None;
        }
        self.issued += 1;
        if self.old == 0 {
            self.base = self.issued;
            self.split = self.issued + 1;
            self.old = 1;
        } else {
            self.young += 1;
        }
        Some(Issued { version: self.issued, low: self.base })
    }

    /// A write has ended, applied or not.
    pub(super) fn end(&mut self, write: Issued, applied: bool) {
        if write.version < self.split {
            self.old = self.old.saturating_sub(1);
        } else {
            self.young = self.young.saturating_sub(1);
        }
        if self.old == 0 {
            self.base = if self.young == 0 { self.issued + 1 } else { self.split };
            self.split = self.issued + 1;
            (self.old, self.young) = (self.young, 0);
        }
        if applied {
            self.floor = self.floor.max(write.low);
        }
    }

    /// Whether nothing is in flight.
    pub(super) fn is_quiet(&self) -> bool {
        self.old == 0
    }

    /// How many writes are in flight.
    #[cfg(test)]
    pub(super) fn in_flight(&self) -> u32 {
        self.old + self.young
    }

    /// The state as one word, all but the version as distances from it; none when it does not fit.
    pub(super) fn pack(&self) -> Option<u64> {
        let next = self.issued + 1;
        let fields = [
            (self.issued, ISSUED),
            (self.issued - self.floor, FLOOR),
            (next - self.base, BASE),
            (next - self.split, SPLIT),
            (self.old, OLD),
            (self.young, YOUNG),
        ];
        let mut word = 0;
        for (value, bits) in fields {
            if value >> bits > 0 {
                return None;
            }
            word = word << bits | u64::from(value);
        }
        Some(word)
    }

    /// Undoes [`Self::pack`].
    pub(super) fn unpack(mut word: u64) -> Self {
        let mut field = |bits: u32| {
            let value = (word & ((1 << bits) - 1)) as u32;
            word >>= bits;
            value
        };
        let (young, old, split, base, floor) =
            (field(YOUNG), field(OLD), field(SPLIT), field(BASE), field(FLOOR));
        let issued = field(ISSUED);
        let next = issued + 1;
        State { issued, floor: issued - floor, base: next - base, split: next - split, old, young }
    }
}

// Widths in bits; the highest bit of a word says that the state is kept elsewhere.
const ISSUED: u32 = 23;
const FLOOR: u32 = 10;
const BASE: u32 = 9;
const SPLIT: u32 = 9;
const OLD: u32 = 6;
const YOUNG: u32 = 6;
const _: () = assert!(ISSUED + FLOOR + BASE + SPLIT + OLD + YOUNG == 63);

/// The word of a key whose state does not fit one.
pub(super) const WIDE: u64 = 1 << 63;

/// The version of the last write in a word that is not [`WIDE`].
#[inline]
pub(super) fn issued(word: u64) -> u32 {
    (word >> (63 - ISSUED)) as u32
}

/// The floor in a word that is not [`WIDE`].
#[inline]
pub(super) fn floor(word: u64) -> u32 {
    issued(word) - (word >> (63 - ISSUED - FLOOR)) as u32 % (1 << FLOOR)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn one_writer_is_exact() {
        let mut state = State::NEW;
        for version in 1..1_000 {
            let write = state.issue().unwrap();
            assert_eq!(write, Issued { version, low: version });
            assert_eq!((state.floor, state.issued), (version - 1, version));
            state.end(write, true);
            assert_eq!((state.floor, state.issued), (version, version));
        }
    }

    #[test]
    fn the_floor_moves_on_though_the_key_is_never_quiet() {
        // Two writers that overlap for ever.
        let mut state = State::NEW;
        let mut pending = state.issue().unwrap();
        for _ in 0..1_000 {
            let next = state.issue().unwrap();
            state.end(pending, true);
            assert!(!state.is_quiet());
            pending = next;
        }
        assert!(state.floor >= state.issued - 4, "{state:?}");
    }

    #[test]
    fn a_write_that_never_ends_keeps_the_bound() {
        let mut state = State::NEW;
        let stuck = state.issue().unwrap();
        for _ in 0..5_000 {
            let write = state.issue().unwrap();
            state.end(write, true);
        }
        assert_eq!(state.floor, 1);
        assert_eq!(state.pack(), None);
        state.end(stuck, false);
        let write = state.issue().unwrap();
        state.end(write, true);
        assert_eq!(state.floor, 5_002);
        assert!(state.pack().is_some());
    }

    #[test]
    fn versions_run_out_in_the_end() {
        let mut state = State { issued: LAST - 1, floor: LAST - 1, base: LAST, split: LAST, ..State::NEW };
        let write = state.issue().unwrap();
        assert_eq!(write.version, LAST);
        assert_eq!(state.issue(), None);
        state.end(write, true);
        assert_eq!(state.issue(), None);
    }

    proptest! {
        #[test]
        fn a_word_holds_what_fits(steps in prop::collection::vec((any::<bool>(), any::<u16>(), any::<bool>()), 1..400)) {
            let mut state = State::NEW;
            let mut open: Vec<Issued> = Vec::new();
            let mut ended = vec![true];
            for (issue, which, applied) in steps {
                if issue || open.is_empty() {
                    let write = state.issue().unwrap();
                    // Everything below has ended.
                    prop_assert!(ended[..write.low as usize].iter().all(|ended| *ended));
                    open.push(write);
                    ended.push(false);
                } else {
                    let write = open.swap_remove(which as usize % open.len());
                    ended[write.version as usize] = true;
                    state.end(write, applied);
                }
                prop_assert_eq!(state.in_flight() as usize, open.len());
                prop_assert!(state.floor <= state.issued);
                if let Some(word) = state.pack() {
                    prop_assert_eq!(State::unpack(word), state);
                    prop_assert_eq!(issued(word), state.issued);
                    prop_assert_eq!(floor(word), state.floor);
                    prop_assert!(word < WIDE);
                }
            }
        }
    }
}
