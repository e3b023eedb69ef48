//! A fixed amount of work that belongs to no system: what it takes tells how fast the machine was.
//!
//! Two runs an hour apart on a shared machine differ in everything by much the same factor: a neighbour takes
//! memory bandwidth, a hypervisor takes time, a processor is warm. The control is timed between the systems, in
//! every round, and its ratio between two runs estimates that factor. It does the same work on every call, on
//! one thread, and touches neither disk nor network.
//!
//! Two kernels, because neighbours slow different things: one waits for memory, the other for the processor's
//! arithmetic. What is bound by the disk has no control here.

use std::hint::black_box;
use std::time::Instant;

/// A debug build, which only tests run and whose figures nobody compares with a release's, does an eighth of the work:
/// whatever its tests run is over sooner.
const SHORT: bool = cfg!(debug_assertions);
/// Which work it is. Times of one are not compared with times of another.
pub const WORK: &str = if SHORT { "1-debug" } else { "1" };
/// Words of the buffer: 128 MiB, beyond the caches that one core has to itself, and beyond what most
/// processors share among all. Half a gigabyte would be safer against the largest caches, and would be
/// missing as page cache on small machines.
const WORDS: usize = if SHORT { 1 << 21 } else { 1 << 24 };
/// One word in each line of 64 bytes is read.
const WORDS_PER_LINE: usize = 8;
/// Lines visited in one slice by the memory-bound kernel: each of them once, so that a line's turn comes
/// again only after all others were read, and no cache still holds it.
const LINES: usize = WORDS / WORDS_PER_LINE;
/// Steps of the compute-bound kernel in one slice, each over [`LANES`] words.
const STEPS: u64 = if SHORT { 218_750 } else { 1_750_000 };
/// Independent chains of arithmetic, so that the processor's units are busy and not only their latency counts.
const LANES: usize = 4;

/// What one slice took.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ControlTimes {
    /// Seconds of the memory-bound kernel.
    pub memory_s: f64,
    /// Seconds of the compute-bound kernel.
    pub compute_s: f64,
}

/// The control, holding its buffer. Make one a run: the first touch of its pages takes longer than a slice.
#[derive(Debug)]
pub struct Control {
    buffer: Vec<u64>,
}

impl Default for Control {
    fn default() -> Self {
        Self::new()
    }
}

impl Control {
    /// Allocates the buffer and writes every word of it, so that each page is in memory and is its own: pages
    /// of zeros might all be the same one. One slice is run to warm up and is not reported.
    #[must_use]
    pub fn new() -> Self {
        let buffer = (0..WORDS as u64).map(mixed).collect();
        let mut control = Self { buffer };
        control.slice();
        control
    }

    /// Runs and times both kernels once, some 50 ms each on a machine of 2025. Slices are many, one before each
    /// configuration's turn in each round, and their median is taken: a single one may meet an interrupt.
    pub fn slice(&mut self) -> ControlTimes {
        let memory_s = timed(|| visit(black_box(&self.buffer)));
        let compute_s = timed(|| calculate(black_box(STEPS)));
        ControlTimes { memory_s, compute_s }
    }
}

/// Seconds that a kernel takes once.
fn timed(kernel: impl FnOnce() -> u64) -> f64 {
    let begun = Instant::now();
    black_box(kernel());
    begun.elapsed().as_secs_f64()
}

/// Reads one word of each line, in an order that no prefetcher guesses: the generator's parameters (Hull &
/// Dobell, "Random Number Generators", *SIAM Review* 4, 1962) give it full period, so that every line is read
/// once before any is read again. The next address does not depend on what was read; several reads are under way at a time, as
/// in a scan or a hash join.
fn visit(buffer: &[u64]) -> u64 {
    let (mut line, mut sum) = (0_usize, 0_u64);
    for _ in 0..LINES {
        line = line.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f) % LINES;
        sum = sum.wrapping_add(buffer.get(line * WORDS_PER_LINE).copied().unwrap_or_default());
    }
    sum
}

/// Mixes a few words again and again, all of them in registers.
fn calculate(steps: u64) -> u64 {
    let mut lanes: [u64; LANES] = [1, 2, 3, 4];
    for _ in 0..steps {
        for lane in &mut lanes {
            *lane = mixed(*lane);
        }
    }
    lanes.iter().fold(0, |sum, lane| sum ^ lane)
}

/// One step of SplitMix64 (Steele, Lea & Flood, "Fast Splittable Pseudorandom Number Generators", *OOPSLA*
/// 2014): additions, shifts and multiplications, each waiting for the one before it.
fn mixed(word: u64) -> u64 {
    let word = word.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ (word >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_memory_kernel_reads_every_line_once() {
        let mut buffer = vec![0; WORDS];
        for line in buffer.chunks_mut(WORDS_PER_LINE) {
            line[0] = 1;
        }
        assert_eq!(visit(&buffer), LINES as u64);
        // A second visit of one line would be in the place of another, whose word would be missing.
        let squares: u64 = (0..LINES as u64).fold(0, |sum, line| sum.wrapping_add(line * line));
        for (line, words) in buffer.chunks_mut(WORDS_PER_LINE).enumerate() {
            words[0] = (line as u64).pow(2);
        }
        assert_eq!(visit(&buffer), squares);
    }

    #[test]
    fn the_work_is_the_same_every_time() {
        assert_eq!(calculate(1_000), calculate(1_000));
        assert_ne!(calculate(1_000), calculate(1_001));
        // The first value of SplitMix64 from zero, as published with it.
        assert_eq!(mixed(0), 0xe220_a839_7b1d_cdaf);
    }

    #[test]
    fn a_slice_times_both_kernels() {
        let got = Control::new().slice();
        assert!(got.memory_s > 0.0 && got.compute_s > 0.0, "{got:?}");
    }
}
