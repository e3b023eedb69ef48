//! Workloads: each plans trials and runs them through drivers' workers, and records what happened.
//!
//! What all of them share is here: targets and sessions, loading, pace, the recorder. A workload is a room of its own
//! behind [`workload::Workload`].

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
mod snapshot;
mod spent;

pub use error::RunError;
