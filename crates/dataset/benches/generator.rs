//! Benchmark of the event generator on one core, in memory: `cargo bench -p jsonathlon-dataset --bench
//! generator`.
//!
//! Prints the best and the median of nine passes, because a shared machine disturbs single passes.

use std::hint::black_box;
use std::time::Instant;

use jsonathlon_dataset::generate::Generator;

const DOCUMENTS: u64 = 500_000;
const BUFFER_BYTES: usize = 1 << 20;
const PASSES: usize = 9;

fn main() {
    let mut buffer = Vec::with_capacity(BUFFER_BYTES + (64 << 10));
    let mut rates: Vec<(f64, f64)> = (0..PASSES)
        .map(|pass| {
            let mut generator = Generator::new(pass as u64, 0..DOCUMENTS);
            let mut bytes = 0;
            let start = Instant::now();
            loop {
                buffer.clear();
                if !generator.fill(&mut buffer, BUFFER_BYTES) {
                    break;
                }
                bytes += black_box(&buffer).len();
            }
            let seconds = start.elapsed().as_secs_f64();
            (bytes as f64 / seconds / 1e9, DOCUMENTS as f64 / seconds / 1e6)
        })
        .collect();
    rates.sort_by(|a, b| a.0.total_cmp(&b.0));
    for (name, (gigabytes, millions)) in [("best", rates[PASSES - 1]), ("median", rates[PASSES / 2])] {
        println!("generator: {name} {gigabytes:.2} GB/s, {millions:.2} million events/s");
    }
}
