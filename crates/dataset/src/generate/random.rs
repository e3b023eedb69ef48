//! Pseudo-random numbers as pure functions of (seed, purpose, index).

/// Hashes a pair to 64 bits with the finalizer of `SplitMix64` (Steele, Lea, Flood 2014) over a multiplied
/// combination. Results of neighbouring indexes appear unrelated.
#[inline]
pub(super) fn mix(key: u64, index: u64) -> u64 {
    let mut x = key ^ index.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

/// Random stream that restarts for every event, so that an event does not depend on earlier ones. The step
/// function is `wyrand` (public domain, Wang Yi).
#[derive(Clone, Debug)]
pub(super) struct Draws {
    state: u64,
}

impl Draws {
    /// Creates the stream of `index` under `key`.
    #[inline]
    pub(super) fn new(key: u64, index: u64) -> Self {
        Self { state: mix(key, index) }
    }

    /// Returns the next 64 random bits.
    #[inline]
    pub(super) fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0xa076_1d64_78bd_642f);
        let product = u128::from(self.state) * u128::from(self.state ^ 0xe703_7ed1_a0b4_28db);
        (product >> 64) as u64 ^ product as u64
    }

    /// Returns a number below `bound`, with a bias under 2⁻³², which is negligible for any data set.
    #[inline]
    pub(super) fn below(&mut self, bound: u32) -> u32 {
        (((self.next() >> 32) * u64::from(bound)) >> 32) as u32
    }

    /// Returns `true` with a probability of `parts` in a thousand.
    #[inline]
    pub(super) fn permille(&mut self, parts: u32) -> bool {
        self.below(1000) < parts
    }

    /// Returns an element of a non-empty slice. Earlier elements are more frequent (density falls as
    /// 1/√position), like words and hosts in real text.
    #[inline]
    pub(super) fn skewed<T: Copy>(&mut self, items: &[T]) -> T {
        let u = self.next() >> 48;
        let position = ((u * u) >> 16) * items.len() as u64;
        items[(position >> 16) as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn below_stays_below_and_reaches_every_value() {
        let mut draws = Draws::new(7, 11);
        let mut seen = [0u32; 13];
        for _ in 0..13_000 {
            seen[draws.below(13) as usize] += 1;
        }
        assert!(seen.iter().all(|&n| (800..1200).contains(&n)), "{seen:?}");
    }

    #[test]
    fn skewed_prefers_the_front_and_reaches_the_back() {
        let items: Vec<usize> = (0..100).collect();
        let mut draws = Draws::new(1, 2);
        let picks: Vec<usize> = (0..20_000).map(|_| draws.skewed(&items)).collect();
        let front = picks.iter().filter(|&&p| p < 25).count();
        assert!((9_400..10_600).contains(&front), "a quarter of the items has half the picks: {front}");
        assert!(picks.contains(&99));
    }

    #[test]
    fn neighbouring_indexes_differ_in_half_their_bits() {
        let bits: u32 = (0..1000u64).map(|i| (mix(42, i) ^ mix(42, i + 1)).count_ones()).sum();
        assert!((31_000..33_000).contains(&bits), "{bits}");
    }
}
