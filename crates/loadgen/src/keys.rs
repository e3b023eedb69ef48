//! Draws the record and the operation of each request.

use crate::mix::RequestDistribution;
use crate::operation::Operation;
use crate::random::Random;

/// Reciprocal of 1 − [`EXPONENT`].
const RECIPROCAL: f64 = 100.0;
/// Exponent of the zipfian distribution.
const EXPONENT: f64 = 0.99;

/// Zipfian distribution over the ranks 1 to n: rank i has a probability in proportion to 1 / i^0.99.
///
/// Drawn by rejection-inversion (Hörmann, Derflinger, "Rejection-inversion to generate variates from monotone
/// discrete distributions", ACM TOMACS 6(3), 1996), which is exact for any n and keeps no table. The hat
/// function is h(x) = x^−0.99, its integral H(x) = 100 · (x^0.01 − 1), whose inverse (1 + u / 100)^100 takes
/// eight multiplications.
#[derive(Clone, Debug)]
pub struct Zipf {
    ranks: f64,
    /// H(1.5) − h(1), where the area of the first rank begins.
    start: f64,
    /// Size of the area from `start` to H(n + 0.5).
    area: f64,
    /// A rank that exceeds the drawn point by at most this distance is accepted without computing the area.
    shortcut: f64,
}

impl Zipf {
    /// Creates the distribution over this many ranks; 0 is treated as 1.
    #[must_use]
    pub fn new(ranks: u64) -> Self {
        let ranks = ranks.max(1) as f64;
        let start = integral(1.5) - 1.0;
        Zipf {
            ranks,
            start,
            area: integral(ranks + 0.5) - start,
            shortcut: 2.0 - inverse(integral(2.5) - hat(2.0)),
        }
    }

    /// Draws a rank from 1 to n.
    #[inline]
    pub fn draw(&self, random: &mut Random) -> u64 {
        loop {
            // Counted from the end of the area, so that the random number 0 belongs to the last rank.
            let area = self.start + (1.0 - random.unit()) * self.area;
            let point = inverse(area);
            let rank = (point + 0.5).floor().clamp(1.0, self.ranks);
            if rank - point <= self.shortcut || area >= integral(rank + 0.5) - hat(rank) {
                return rank as u64;
            }
        }
    }
}

fn hat(x: f64) -> f64 {
    x.powf(-EXPONENT)
}

fn integral(x: f64) -> f64 {
    // x^0.01 − 1 without the loss of digits that the subtraction causes near 1.
    RECIPROCAL * (x.ln() / RECIPROCAL).exp_m1()
}

#[inline]
fn inverse(area: f64) -> f64 {
    let x = 1.0 + area / RECIPROCAL;
    // x^100 = x^64 · x^32 · x^4, where x^64 = x^32 · x^32.
    let x2 = x * x;
    let x4 = x2 * x2;
    let x8 = x4 * x4;
    let x16 = x8 * x8;
    let x32 = x16 * x16;
    x32 * x32 * x32 * x4
}

/// A fixed bijection on the numbers below n that hides their order.
///
/// A bijection on the next power of two, each step of which is invertible (shifts and odd multipliers), is
/// repeated until the result is below n (cycle walking: Black, Rogaway, "Ciphers with Arbitrary Finite
/// Domains", 2002).
#[derive(Clone, Debug)]
pub struct KeyPermutation {
    count: u64,
    mask: u64,
    shift: u32,
}

impl KeyPermutation {
    /// Creates the bijection on the numbers below `count`.
    #[must_use]
    pub fn new(count: u64) -> Self {
        let mask = count.max(2).checked_next_power_of_two().map_or(u64::MAX, |power| power - 1);
        KeyPermutation { count, mask, shift: mask.count_ones().div_ceil(2) }
    }

    /// Maps a number below the count to another one. Must not be called with a greater number.
    #[inline]
    #[must_use]
    pub fn position(&self, number: u64) -> u64 {
        debug_assert!(number < self.count.max(1));
        let mut x = number;
        loop {
            // The addition moves 0, which all other steps map to itself.
            x = x.wrapping_add(0x632b_e59b_d9b4_e019) & self.mask;
            x ^= x >> self.shift;
            x = x.wrapping_mul(0xbf58_476d_1ce4_e5b9) & self.mask;
            x ^= x >> self.shift;
            x = x.wrapping_mul(0x94d0_49bb_1331_11eb) & self.mask;
            x ^= x >> self.shift;
            if x < self.count.max(1) {
                return x;
            }
        }
    }
}

/// Draws record numbers by a request distribution.
#[derive(Clone, Debug)]
pub struct KeyChooser {
    requests: RequestDistribution,
    zipf: Zipf,
    scatter: KeyPermutation,
}

impl KeyChooser {
    /// Creates the generator for a request distribution; `records` is the number of records at the start of
    /// the trial.
    #[must_use]
    pub fn new(requests: RequestDistribution, records: u64) -> Self {
        KeyChooser { requests, zipf: Zipf::new(records), scatter: KeyPermutation::new(records) }
    }

    /// Draws a record number. `records` is the current number of records: all up to and including the highest
    /// contiguous acknowledged insert.
    ///
    /// Zipfian draws only from the records that existed at the start of the trial, with scattered ranks.
    /// *Latest* counts the same ranks backwards from the newest record. Uniform draws from all current
    /// records.
    #[inline]
    pub fn draw(&self, records: u64, random: &mut Random) -> u64 {
        match self.requests {
            RequestDistribution::Uniform => random.below(records),
            RequestDistribution::Zipfian => self.scatter.position(self.zipf.draw(random) - 1),
            RequestDistribution::Latest => records.saturating_sub(self.zipf.draw(random)),
        }
    }
}

/// Draws operations in proportion to the shares of a mix.
#[derive(Clone, Debug)]
pub struct OperationChooser {
    /// Operations except the last, each with the exclusive end of its range of 64-bit numbers.
    ends: Vec<(Operation, u64)>,
    last: Operation,
}

impl OperationChooser {
    /// Creates the generator for the shares of a mix.
    ///
    /// # Errors
    ///
    /// If the mix has no operation, a share is not a positive finite number, or the shares do not add up to 1
    /// (within 1e-6). The error is a message for the user.
    pub fn new(shares: &[(Operation, f64)]) -> Result<Self, String> {
        if let Some((operation, share)) =
            shares.iter().find(|(_, share)| !(*share > 0.0 && share.is_finite()))
        {
            return Err(format!("the share of {operation} is {share}; shares are greater than 0"));
        }
        let sum: f64 = shares.iter().map(|(_, share)| share).sum();
        let Some((last, _)) = shares.last() else { return Err("a mix without operations".to_owned()) };
        if (sum - 1.0).abs() > 1e-6 {
            return Err(format!("the shares of operations add up to {sum}; they must add up to 1"));
        }
        let mut cumulative = 0.0;
        let mut ends = Vec::new();
        for (operation, share) in shares {
            cumulative += share;
            // The cast saturates: 2⁶⁴ becomes the greatest 64-bit number.
            ends.push((*operation, (cumulative / sum * 18_446_744_073_709_551_616.0) as u64));
        }
        ends.pop();
        Ok(OperationChooser { ends, last: *last })
    }

    /// Draws an operation of the mix.
    #[inline]
    pub fn draw(&self, random: &mut Random) -> Operation {
        if self.ends.is_empty() {
            return self.last;
        }
        let bits = random.bits();
        self.ends.iter().find(|(_, end)| bits < *end).map_or(self.last, |(operation, _)| *operation)
    }
}
