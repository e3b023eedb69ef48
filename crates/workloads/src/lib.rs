//! Benchmark workloads: plan trials, run them in workers, and record the results.
//!
//! The modules at the top level are shared by all workloads: targets, sessions, loading, stopping rules and
//! the recorder. Each workload is a module of its own that implements [`workload::Workload`].

#![forbid(unsafe_code)]

pub mod analytics;
pub mod asking;
pub mod bench;
pub mod cells;
pub mod documents;
pub mod durability;
pub mod engine;
pub mod fidelity;
pub mod loading;
pub mod observer;
pub mod pace;
pub mod proof;
pub mod questions;
pub mod recorder;
pub mod run;
pub mod serving;
pub mod session;
pub mod settings;
pub mod target;
pub mod workload;

mod access;
mod bound;
mod data;
mod error;
mod in_memory;
mod limit;
mod plain_name;
mod scratch;
mod snapshot;
mod spent;

pub use error::RunError;
