//! Workloads: each plans trials and runs them through drivers' workers, and records what happened.
//!
//! A workload knows no protocol and no system: it fills the statements of a configuration and hands them
//! to a session.

pub mod analytics;
pub mod engine;
pub mod observer;
pub mod pace;
pub mod proof;
pub mod run;
pub mod session;
pub mod settings;
pub mod target;

mod error;

pub use error::RunError;
