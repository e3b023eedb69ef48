//! What the benchmarks share.

#![allow(dead_code, reason = "each benchmark uses its own part of this")]

pub(crate) mod beside;
pub(crate) mod serving;

use std::io::Write;
use std::path::Path;
use std::time::Duration;

use jsonathlon_connection::driver::Open;
use jsonathlon_dataset::generate::Generator;
use jsonathlon_measure::statistics::at_least;
use jsonathlon_servers::Launch;
use jsonathlon_worker::Worker;
use jsonathlon_worker::protocol::{Op, Opened};
use jsonathlon_workloads::engine::{Engine, WorkerCommand};
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

/// How workers of the program are started.
pub(crate) fn command() -> WorkerCommand {
    WorkerCommand { program: env!("CARGO_BIN_EXE_jsonathlon").into(), arguments: vec!["worker".to_owned()] }
}

/// A worker of the program, its words going to `log`.
pub(crate) fn worker(log: &Path) -> Result<Worker, Problem> {
    Ok(command().spawn(log)?)
}

/// A server and a session with it, as the program starts them.
pub(crate) fn engine(log: &Path, open: &Open, launch: &Launch) -> Result<(Engine, Opened), Problem> {
    Ok(Engine::open(&command(), log, open, Some(launch), LIMIT, &|| false, &mut |_| {})?)
}

pub(crate) fn request<R: DeserializeOwned>(worker: &mut Worker, op: &Op) -> Result<R, Problem> {
    Ok(worker.request(op, LIMIT, &|| false, &mut |_| {})?)
}

/// The 95 % interval of the median of what these are drawn from: the two of them in order between which it lies with that
/// probability at least, whatever their distribution. None where even the least and the greatest are too close.
pub(crate) fn limits(ratios: &[f64]) -> Option<(f64, f64)> {
    let mut sorted = ratios.to_vec();
    sorted.sort_by(f64::total_cmp);
    let count = sorted.len() as u64;
    // All but so many lie on one side of the median by chance alone.
    let left_out = (0..count / 2).take_while(|out| at_least(count - out, count, 0.5) <= 0.025).last()?;
    let (from, to) = (usize::try_from(left_out).ok()?, usize::try_from(count - 1 - left_out).ok()?);
    Some((*sorted.get(from)?, *sorted.get(to)?))
}
