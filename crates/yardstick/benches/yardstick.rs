//! Benchmark of the yardstick in memory: `cargo bench -p jsonathlon-yardstick --bench yardstick`.
//!
//! Prints how fast one core builds the columns. For each question: median time on one core and on all cores,
//! bytes of the values read, and the ratio of the time on one core to reading these bytes at one core's
//! memory speed. Questions whose bytes fit a cache may be faster than memory. The environment variable
//! `DOCUMENTS` changes the number of documents.

use std::hint::black_box;
use std::time::Instant;

use jsonathlon_dataset::generate::Generator;
use jsonathlon_dataset::questions::Question;
use jsonathlon_yardstick::{Result, Table, TableBuilder, Threads};

const DOCUMENTS: u64 = 1_000_000;
const BUFFER_BYTES: usize = 1 << 20;
const BUILDS: usize = 5;
const ASKS: usize = 51;
const MEMORY_BYTES: usize = 256 << 20;

fn main() -> Result<()> {
    let documents =
        std::env::var("DOCUMENTS").ok().and_then(|number| number.parse().ok()).unwrap_or(DOCUMENTS);
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let (one, all) = (Threads::new(1)?, Threads::new(cores)?);

    let mut text = Vec::new();
    let mut generator = Generator::new(1, 0..documents);
    while generator.fill(&mut text, BUFFER_BYTES) {}

    let mut table = Table::default();
    let mut seconds = Vec::new();
    let mut sorting = Vec::new();
    for _ in 0..BUILDS {
        let begun = Instant::now();
        let mut builder = TableBuilder::default();
        let mut rest = text.as_slice();
        while let Some(end) = memchr::memchr(b'\n', rest) {
            if let Err(reason) = builder.push(&rest[..end])? {
                println!("refused: {reason}");
            }
            rest = &rest[end + 1..];
        }
        let sorted = Instant::now();
        table = builder.finish(&one);
        sorting.push(sorted.elapsed().as_secs_f64());
        seconds.push(begun.elapsed().as_secs_f64());
    }
    let (build, sort) = (median(&mut seconds), median(&mut sorting));
    let megabytes = text.len() as f64 / 1e6;
    println!(
        "build: {} documents, {megabytes:.0} MB, {:.0} MB/s on one core ({:.0} ms, {:.0} ms of it to order rows)",
        table.rows(),
        megabytes / build,
        build * 1e3,
        sort * 1e3,
    );

    let memory = vec![1_u64; MEMORY_BYTES / 8];
    let read = median(&mut times(9, || {
        black_box(black_box(&memory).iter().sum::<u64>());
    }));
    let bandwidth = MEMORY_BYTES as f64 / read;
    println!("memory: {:.1} GB/s on one core", bandwidth / 1e9);

    println!("question      rows     bytes   1 core  {cores} cores    bound   ratio");
    for question in Question::ALL {
        let ask = |threads| median(&mut times(ASKS, || drop(black_box(table.answer(question, threads)))));
        let (alone, together) = (ask(&one), ask(&all));
        let (rows, bytes) = table.scanned_data(question);
        let bound = bytes as f64 / bandwidth;
        println!(
            "{question}       {rows:>9} {bytes:>9} {:>6.0}µs {:>6.0}µs {:>6.0}µs {:>7.2}",
            alone * 1e6,
            together * 1e6,
            bound * 1e6,
            alone / bound,
        );
    }
    Ok(())
}

fn times(count: usize, mut work: impl FnMut()) -> Vec<f64> {
    let mut seconds = Vec::with_capacity(count);
    for _ in 0..count {
        let begun = Instant::now();
        work();
        seconds.push(begun.elapsed().as_secs_f64());
    }
    seconds
}

fn median(seconds: &mut [f64]) -> f64 {
    seconds.sort_by(f64::total_cmp);
    seconds[seconds.len() / 2]
}
