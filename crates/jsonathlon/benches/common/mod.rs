//! What the benchmarks share.

#![allow(dead_code, reason = "each benchmark uses its own part of this")]

use std::io::Write;
use std::path::Path;
use std::time::Duration;

use jsonathlon_dataset::generate::Generator;
use jsonathlon_drivers::worker::Worker;
use jsonathlon_drivers::worker::protocol::Op;
use serde::de::DeserializeOwned;

pub(crate) type Problem = Box<dyn std::error::Error>;

/// No request of a benchmark takes as long.
pub(crate) const LIMIT: Duration = Duration::from_secs(1800);

/// The numbers among the arguments, in order.
pub(crate) fn numbers() -> Vec<u64> {
    std::env::args().filter_map(|argument| argument.parse().ok()).collect()
}

/// Writes generated events; gives their bytes.
pub(crate) fn generate(file: &Path, documents: u64) -> Result<u64, Problem> {
    let mut out = std::fs::File::create(file)?;
    let mut generator = Generator::new(1, 0..documents);
    let mut buffer = Vec::new();
    while generator.fill(&mut buffer, 1 << 20) {
        out.write_all(&buffer)?;
        buffer.clear();
    }
    Ok(out.metadata()?.len())
}

/// A worker of the program, its words going to `log`.
pub(crate) fn worker(log: &Path) -> Result<Worker, Problem> {
    Ok(Worker::spawn(Path::new(env!("CARGO_BIN_EXE_jsonathlon")), &["worker"], log, &[])?)
}

pub(crate) fn request<R: DeserializeOwned>(worker: &mut Worker, op: &Op) -> Result<R, Problem> {
    Ok(worker.request(op, LIMIT, &|| false, &mut |_| {})?)
}
