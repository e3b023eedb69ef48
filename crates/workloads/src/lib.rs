//! Benchmark workloads: plan trials, run them in workers, and record the results.
//!
//! The modules at the top level are shared by all workloads: targets, sessions, loading, stopping rules and
//! the recorder. Each workload is a module of its own that implements [`workload::Workload`].

#![forbid(unsafe_code)]

pub mod analytics;
pub mod asking;
pub mod cells;
pub mod documents;
pub mod durability;
pub mod engine;
pub mod expected_time;
pub mod fidelity;
pub mod loading;
pub mod mixed;
pub mod observer;
pub mod page_cache_limit;
pub mod questions;
pub mod quiet_machine;
pub mod recorder;
pub mod run;
pub mod run_context;
pub mod serving;
pub mod session;
pub mod smoke_test;
pub mod stopping;
pub mod target;
pub mod workload;

mod bottleneck;
mod data;
mod earlier_time;
mod error;
mod in_memory;
mod limit;
mod pinning;
mod plain_name;
mod plan_check;
mod rounds;
mod scratch;
mod snapshot;
mod time_left;

pub use error::RunError;
