//! State of one key's versions and its encoding in one 64-bit word.
//!
//! Versions are issued in ascending order. A write notes `low` when it is sent: all versions below it had
//! ended before (acknowledged, aborted or settled). After its acknowledgement a read sees this write or one
//! applied after it, and no version below `low` can be applied any more. Therefore `floor`, the greatest
//! `low` of all acknowledged writes, is a lower bound of the version that a read starting now may see.

/// Last version that is issued. Versions are written as eight hexadecimal digits, and one value encodes "no
/// version".
const LAST: u32 = u32::MAX - 2;

/// Versions issued for one key, and which of them are in flight.
///
/// `low` is the exact smallest version in flight unless writes of one key overlap without a pause. If they
/// do, as on the hot keys of a zipfian distribution, the start of the busy period would stay the bound for
/// its whole duration. Writes are therefore counted in two generations: those sent before `split` and those
/// after it. When the older generation has ended, `low` moves up to `split`, the younger one becomes the
/// older, and a new generation begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct VersionState {
    /// Version that was issued last; 0 if none was.
    pub(super) issued: u32,
    /// Smallest version that a read starting now may see.
    pub(super) floor: u32,
    /// All versions below this one have ended.
    base: u32,
    /// First version of the younger generation.
    split: u32,
    /// Number of writes of the older generation in flight. 0 only if no write at all is in flight.
    old: u32,
    /// Number of writes of the younger generation in flight.
    young: u32,
}

/// An issued version, and the floor that its acknowledgement sets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct IssuedVersion {
    pub(super) version: u32,
    pub(super) low: u32,
}

impl VersionState {
    /// State of a key that has version 0 only.
    pub(super) const NEW: VersionState =
        VersionState { issued: 0, floor: 0, base: 1, split: 1, old: 0, young: 0 };

    /// Issues the next version. `None` if no version is left.
    pub(super) fn issue(&mut self) -> Option<IssuedVersion> {
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
        Some(IssuedVersion { version: self.issued, low: self.base })
    }

    /// Ends a write, whether it was applied or not.
    pub(super) fn end(&mut self, write: IssuedVersion, is_applied: bool) {
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
        if is_applied {
            self.floor = self.floor.max(write.low);
        }
    }

    /// Returns `true` if no write is in flight.
    pub(super) fn is_quiet(&self) -> bool {
        self.old == 0
    }

    /// Number of writes in flight in both generations.
    #[cfg(test)]
    pub(super) fn in_flight(&self) -> u32 {
        self.old + self.young
    }

    /// Encodes the state in one word, with all bounds as distances from the issued version. `None` if a value
    /// does not fit.
    pub(super) fn pack(&self) -> Option<u64> {
        let next_version = self.issued + 1;
        let fields = [
            (self.issued, ISSUED),
            (self.issued - self.floor, FLOOR),
            (next_version - self.base, BASE),
            (next_version - self.split, SPLIT),
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

    /// Decodes a word made by [`Self::pack`].
    pub(super) fn unpack(mut word: u64) -> Self {
        let mut field = |bits: u32| {
            let value = (word & ((1 << bits) - 1)) as u32;
            word >>= bits;
            value
        };
        let (young, old, split, base, floor) =
            (field(YOUNG), field(OLD), field(SPLIT), field(BASE), field(FLOOR));
        let issued = field(ISSUED);
        let next_version = issued + 1;
        VersionState {
            issued,
            floor: issued - floor,
            base: next_version - base,
            split: next_version - split,
            old,
            young,
        }
    }
}

// Widths in bits. The highest bit of a word marks a state that is kept in a map instead.
const ISSUED: u32 = 23;
const FLOOR: u32 = 10;
const BASE: u32 = 9;
const SPLIT: u32 = 9;
const OLD: u32 = 6;
const YOUNG: u32 = 6;
const _: () = assert!(ISSUED + FLOOR + BASE + SPLIT + OLD + YOUNG == 63);

/// Marks the word of a key whose state does not fit into one word.
pub(super) const WIDE: u64 = 1 << 63;

/// Returns the version issued last, from a word that is not [`WIDE`].
#[inline]
pub(super) fn issued(word: u64) -> u32 {
    (word >> (63 - ISSUED)) as u32
}

/// Returns the floor from a word that is not [`WIDE`].
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
        let mut state = VersionState::NEW;
        for version in 1..1_000 {
            let write = state.issue().unwrap();
            assert_eq!(write, IssuedVersion { version, low: version });
            assert_eq!((state.floor, state.issued), (version - 1, version));
            state.end(write, true);
            assert_eq!((state.floor, state.issued), (version, version));
        }
    }

    #[test]
    fn the_floor_moves_on_though_the_key_is_never_quiet() {
        // Two writers that overlap without a pause.
        let mut state = VersionState::NEW;
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
        let mut state = VersionState::NEW;
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
        let mut state =
            VersionState { issued: LAST - 1, floor: LAST - 1, base: LAST, split: LAST, ..VersionState::NEW };
        let write = state.issue().unwrap();
        assert_eq!(write.version, LAST);
        assert_eq!(state.issue(), None);
        state.end(write, true);
        assert_eq!(state.issue(), None);
    }

    proptest! {
        #[test]
        fn a_word_holds_what_fits(steps in prop::collection::vec((any::<bool>(), any::<u16>(), any::<bool>()), 1..400)) {
            let mut state = VersionState::NEW;
            let mut open: Vec<IssuedVersion> = Vec::new();
            let mut ended = vec![true];
            for (issue, which, applied) in steps {
                if issue || open.is_empty() {
                    let write = state.issue().unwrap();
                    // All versions below have ended.
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
                    prop_assert_eq!(VersionState::unpack(word), state);
                    prop_assert_eq!(issued(word), state.issued);
                    prop_assert_eq!(floor(word), state.floor);
                    prop_assert!(word < WIDE);
                }
            }
        }
    }
}
