//! Clients of the serving workload: draw operations from a mix, send them over many connections at once,
//! verify each answer and time each operation.
//!
//! A worker runs a [`job::Job`] and returns what was measured as [`report::JobReport`]. Nothing crosses the
//! worker's pipe per operation.

#![forbid(unsafe_code)]

mod answer_store;
mod asking;
mod client;
mod client_loop;
mod client_threads;
mod completion;
mod job_context;
mod loaded_records;
mod messages;
mod point_reader;
mod reactor;
mod reconcile;
mod reconnect;
mod recorder;
mod retry;
mod sampler;
mod script;
mod steady_state;
mod supervisor;
mod task;
mod turns;
mod validate;
mod verify;

pub mod accept;
pub mod ack_log;
pub mod baseline;
pub mod job;
pub mod keys;
pub mod load_generator;
pub mod mix;
pub mod mixed;
pub mod null;
pub mod operation;
pub mod paths;
pub mod random;
pub mod report;
pub mod reports;
