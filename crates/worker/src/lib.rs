//! Worker process with one session: its protocol, the worker side, the coordinator side, and the drivers by
//! protocol name.
//!
//! Foreign code (a C library of hundreds of megabytes that may crash, print, or keep threads) is loaded only
//! in a worker, so that it can be killed, measured and started cold. The yardstick and the mock, whose
//! connections are written here, run in a worker as well.

#![forbid(unsafe_code)]

pub mod client;
pub mod protocol;

mod connect;
mod file;
mod job_runner;
mod load_progress;
mod mock;
mod process;
mod request_loop;
#[cfg(test)]
mod testing;
mod usage;
mod yardstick;

pub use client::{Worker, WorkerError};
pub use connect::Connector;
pub use job_runner::{JobRunner, JobTarget};
pub use process::main;
pub use request_loop::serve;
pub use usage::UsageMeter;

/// Environment variable with the process id of the coordinator. A worker compares it with its parent, because
/// the parent-death signal is not sent if the parent died before the signal was requested.
const PARENT_VARIABLE: &str = "JSONATHLON_PARENT";

/// Longest line of the protocol in bytes. The largest regular line is a read-back of a thousand documents.
/// Without a limit a faulty engine could fill the coordinator's memory.
const LINE_LIMIT: usize = 256 << 20;
