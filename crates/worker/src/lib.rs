//! A process of its own for one session: the protocol, the worker's side, and the coordinator's, and which connection a
//! protocol's name stands for.
//!
//! Whatever loads foreign code (a C library of hundreds of megabytes that may crash, print, or keep threads) does so
//! here, so that it can be killed, measured and started cold. The yardstick and the mock, which are connections of the
//! program's own, are here as well.

#![forbid(unsafe_code)]

pub mod client;
pub mod protocol;

mod connect;
mod drive;
mod file;
mod mock;
mod process;
mod serve;
mod tally;
#[cfg(test)]
mod testing;
mod usage;
mod yardstick;

pub use client::{Worker, WorkerError};
pub use connect::Connector;
pub use drive::{Drive, Subject};
pub use process::main;
pub use serve::serve;
pub use usage::Meter;

/// The environment variable by which a worker learns who its parent is: the parent-death signal is not
/// sent when the parent dies before it is asked for.
const PARENT_VARIABLE: &str = "JSONATHLON_PARENT";

/// Longest line of the protocol, bytes. The largest honest one is a read-back of a thousand documents;
/// without a limit an engine's rubbish would fill the coordinator's memory.
const LINE_LIMIT: usize = 256 << 20;
