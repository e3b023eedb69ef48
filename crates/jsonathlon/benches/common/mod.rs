//! Helpers shared by the benchmarks.

#![allow(dead_code, reason = "each benchmark uses its own part of this")]

pub(crate) mod beside;
pub(crate) mod serving;

use std::io::Write;
use std::path::Path;
use std::time::Duration;

use jsonathlon_dataset::generate::Generator;
use jsonathlon_driver_api::driver::SessionOptions;
use jsonathlon_servers::LaunchSpec;
use jsonathlon_stats::statistics::binomial_tail;
use jsonathlon_worker::Worker;
use jsonathlon_worker::protocol::{Op, OpenReply};
use jsonathlon_workloads::engine::{EngineHandle, WorkerCommand};
use serde::de::DeserializeOwned;

pub(crate) type Problem = Box<dyn std::error::Error>;

/// Timeout of a request, longer than any benchmark needs.
pub(crate) const LIMIT: Duration = Duration::from_secs(1800);

/// The numbers among the command-line arguments, in order.
pub(crate) fn numbers() -> Vec<u64> {
    std::env::args().filter_map(|argument| argument.parse().ok()).collect()
}

/// Writes generated events to a file. Returns the number of bytes.
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

/// The command that starts workers of the program.
pub(crate) fn command() -> WorkerCommand {
    WorkerCommand { program: env!("CARGO_BIN_EXE_jsonathlon").into(), arguments: vec!["worker".to_owned()] }
}

/// Starts a worker of the program that logs to `log`.
pub(crate) fn worker(log: &Path) -> Result<Worker, Problem> {
    Ok(command().spawn(log)?)
}

/// Starts a server and opens a session, as the program does.
pub(crate) fn engine(
    log: &Path,
    open: &SessionOptions,
    launch: &LaunchSpec,
) -> Result<(EngineHandle, OpenReply), Problem> {
    Ok(EngineHandle::open(&command(), log, open, Some(launch), LIMIT, &|| false, &mut |_| {})?)
}

pub(crate) fn request<R: DeserializeOwned>(worker: &mut Worker, op: &Op) -> Result<R, Problem> {
    Ok(worker.request(op, LIMIT, &|| false, &mut |_| {})?)
}

/// Distribution-free 95 % confidence interval of the median, by order statistics. `None` if there are too few
/// values.
pub(crate) fn limits(ratios: &[f64]) -> Option<(f64, f64)> {
    let mut sorted = ratios.to_vec();
    sorted.sort_by(f64::total_cmp);
    let count = sorted.len() as u64;
    // Number of values to leave out at each end: with at most 2.5 % probability all others lie on one side of
    // the median.
    let left_out = (0..count / 2).take_while(|out| binomial_tail(count - out, count, 0.5) <= 0.025).last()?;
    let (from, to) = (usize::try_from(left_out).ok()?, usize::try_from(count - 1 - left_out).ok()?);
    Some((*sorted.get(from)?, *sorted.get(to)?))
}
