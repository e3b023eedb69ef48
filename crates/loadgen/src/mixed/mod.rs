//! Mixed loads: writers insert documents while streams ask questions about all of them.
//!
//! A writer is one connection with one batch in flight; a stream is one connection that asks sets of questions in
//! a closed loop. Nothing is judged here: the report says what was sent, acknowledged, asked and answered when, by
//! one clock, so that the coordinator can compute the expected answers afterwards, when they cost the system
//! nothing.

mod pool_text;
mod run;
mod state;
mod stream;
mod writer;

pub mod job;
pub mod report;

pub use run::{ConnectionOpener, run_mixed};
