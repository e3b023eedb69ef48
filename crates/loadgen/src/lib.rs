//! Clients of the serving workload: draw operations from a mix, send them over many connections at once,
//! verify each answer and time each operation.
//!
//! A worker runs a [`job::Job`] and returns what was measured as [`answer::Driven`]. Nothing crosses the
//! worker's pipe per operation.

#![forbid(unsafe_code)]

mod by_key;
mod check;
mod client;
mod finish;
mod reconnect;
mod recorder;
mod refuse;
mod retry;
mod run;
mod script;
mod settle;
mod shared;
mod steady;
mod supervise;
mod task;
mod threads;
mod turns;
mod waiting;
mod watch;

pub mod accept;
pub mod answer;
pub mod job;
pub mod keys;
pub mod mix;
pub mod null;
pub mod operation;
pub mod paths;
pub mod promises;
pub mod random;
pub mod worker;
