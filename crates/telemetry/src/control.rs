//! Control: a fixed amount of CPU and memory work whose time shows how fast the machine was.
//!
//! All results of two runs an hour apart on a shared machine differ by much the same factor. Neighbours use
//! memory bandwidth, the hypervisor takes CPU time, or the CPU is hot. The control is timed between the
//! systems in every round; its ratio between two runs estimates that factor. Each call does the same work on
//! one thread, without disk or network. There are two kernels because neighbours slow different things: one
//! is bound by memory, the other by arithmetic. Disk-bound work has no control.

use std::hint::black_box;
use std::time::Instant;

/// Debug builds do an eighth of the work, so that tests end sooner. Only tests run them; their times are
/// never compared with those of release builds.
const SHORT: bool = cfg!(debug_assertions);
/// Version of the work. Only times of equal versions are compared.
pub const WORK: &str = if SHORT { "1-debug" } else { "1" };
/// Buffer size in 8-byte words: 128 MiB, larger than the private caches of a core and than most shared
/// caches. Half a gigabyte would be safer against the largest caches, but would take page cache from small
/// machines.
const WORDS: usize = if SHORT { 1 << 21 } else { 1 << 24 };
/// Words per 64-byte cache line, of which one is read.
const WORDS_PER_LINE: usize = 8;
/// Cache lines visited by the memory-bound kernel in one slice. Each is visited once, so a line is read again
/// only after all others, when no cache still holds it.
const LINES: usize = WORDS / WORDS_PER_LINE;
/// Steps of the compute-bound kernel in one slice, each over [`LANES`] words.
const STEPS: u64 = if SHORT { 218_750 } else { 1_750_000 };
/// Independent chains of arithmetic, so that throughput of the CPU's units counts and not only their latency.
const LANES: usize = 4;

/// Times of both kernels in one slice.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ControlTimes {
    /// Time of the memory-bound kernel, seconds.
    pub memory_s: f64,
    /// Time of the compute-bound kernel, seconds.
    pub compute_s: f64,
}

/// The control with its buffer. Create it once per run: touching its pages for the first time takes longer
/// than a slice.
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
    /// Allocates the buffer and writes every word, so that each page is resident and distinct: the kernel may
    /// map all zero pages to one. Runs one unreported slice as warm-up.
    #[must_use]
    pub fn new() -> Self {
        let buffer = (0..WORDS as u64).map(mixed).collect();
        let mut control = Self { buffer };
        control.slice();
        control
    }

    /// Runs and times both kernels once, about 50 ms each on a machine of 2025. Callers run one slice before
    /// each configuration's turn in each round and use the median, because a single slice may meet an
    /// interrupt.
    pub fn slice(&mut self) -> ControlTimes {
        let memory_s = timed(|| visit(black_box(&self.buffer)));
        let compute_s = timed(|| calculate(black_box(STEPS)));
        ControlTimes { memory_s, compute_s }
    }
}

/// Runs a kernel once and returns its time in seconds.
fn timed(kernel: impl FnOnce() -> u64) -> f64 {
    let start = Instant::now();
    black_box(kernel());
    start.elapsed().as_secs_f64()
}

/// Memory-bound kernel: reads one word of each cache line, in an order that prefetchers cannot predict.
///
/// The parameters of the generator give it full period, so that every line is read once before any is read
/// again (Hull & Dobell, "Random Number Generators", *SIAM Review* 4, 1962). The next address does not depend
/// on the word read. Several reads are in flight at a time, as in a scan or a hash join.
fn visit(buffer: &[u64]) -> u64 {
    let (mut line, mut sum) = (0_usize, 0_u64);
    for _ in 0..LINES {
        line = line.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f) % LINES;
        sum = sum.wrapping_add(buffer.get(line * WORDS_PER_LINE).copied().unwrap_or_default());
    }
    sum
}

/// Compute-bound kernel: mixes [`LANES`] words `steps` times, all in registers.
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
/// 2014): additions, shifts and multiplications, each depending on the one before.
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
        // A line visited twice would take the place of another one, whose word would be missing from the sum.
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
        // First output of SplitMix64 with seed 0, as published with the algorithm.
        assert_eq!(mixed(0), 0xe220_a839_7b1d_cdaf);
    }

    #[test]
    fn a_slice_times_both_kernels() {
        let got = Control::new().slice();
        assert!(got.memory_s > 0.0 && got.compute_s > 0.0, "{got:?}");
    }
}
