//! Pseudo-random order of the events within an aligned block of one million.
//!
//! A block has exact counts of every kind of event. To generate event `i` alone, its position in the block is
//! mapped by a bijection of 0‥999,999 that depends on seed and block. The image is a slot of the counted
//! table. The bijection is a Feistel network over 2²⁰ with cycle-walking (Black, Rogaway: Ciphers with
//! arbitrary finite domains, 2002); 4.6 % of the positions need a second walk.

use super::random::mix;

/// Number of events in an aligned block.
pub(super) const BLOCK: u64 = 1_000_000;

const HALF_BITS: u32 = 10;
const HALF_MASK: u32 = (1 << HALF_BITS) - 1;

/// Order of the events of one block, as round keys of a Feistel network.
#[derive(Clone, Debug)]
pub(super) struct BlockOrder {
    keys: [u32; 4],
}

impl BlockOrder {
    /// Derives the order of `block` under `seed`.
    pub(super) fn new(seed: u64, block: u64) -> Self {
        let (a, b) = (mix(seed, block), mix(!seed, block));
        Self { keys: [a as u32, (a >> 32) as u32, b as u32, (b >> 32) as u32] }
    }

    /// Returns the slot of the event at `position` within the block; both are below [`BLOCK`].
    #[inline]
    pub(super) fn slot(&self, position: u32) -> u32 {
        let mut x = position;
        loop {
            x = self.permute(x);
            if x < BLOCK as u32 {
                return x;
            }
        }
    }

    #[inline]
    fn permute(&self, x: u32) -> u32 {
        let (mut left, mut right) = (x >> HALF_BITS, x & HALF_MASK);
        for key in self.keys {
            let mut f = (right ^ key).wrapping_mul(0x9e37_79b1);
            f = (f ^ (f >> 15)).wrapping_mul(0x85eb_ca6b);
            (left, right) = (right, left ^ (f >> (32 - HALF_BITS)));
        }
        (left << HALF_BITS) | right
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_slot_comes_exactly_once() {
        for (seed, block) in [(0, 0), (1, 0), (u64::MAX, 999)] {
            let order = BlockOrder::new(seed, block);
            let mut seen = vec![false; BLOCK as usize];
            for position in 0..BLOCK as u32 {
                let slot = &mut seen[order.slot(position) as usize];
                assert!(!*slot, "slot of place {position} was taken before");
                *slot = true;
            }
        }
    }

    #[test]
    fn any_stretch_is_a_fair_sample() {
        let order = BlockOrder::new(5, 3);
        for start in (0..1_000_000u32).step_by(100_000) {
            let low = (start..start + 10_000).filter(|&p| order.slot(p) < 448_944).count();
            assert!((4_340..4_640).contains(&low), "{low} of 10,000 from place {start}");
        }
    }

    #[test]
    fn blocks_differ() {
        let (a, b) = (BlockOrder::new(1, 0), BlockOrder::new(1, 1));
        assert!((0..1000).filter(|&p| a.slot(p) == b.slot(p)).count() < 5);
    }
}
