//! A process of its own for one session: the protocol, the worker's side, and the coordinator's.

pub mod client;
pub mod protocol;

mod drive;
mod file;
mod process;
mod serve;
mod usage;

pub use client::{Worker, WorkerError};
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
