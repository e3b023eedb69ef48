//! The program as its users have it: a process for each run, on the mock and on real systems.
//!
//! One test program for all of it: it is linked once, and no core waits for the last test of one before the next begins. What
//! `.ci/fast` runs is in programs of its own.

#![expect(clippy::unwrap_used, clippy::panic, reason = "helpers of tests fail as tests do")]

#[path = "../support/mod.rs"]
mod support;

mod adding;
mod analytics;
mod check;
mod cli;
mod documents;
mod durability;
mod engines;
mod faults;
mod fidelity;
mod input;
mod page;
mod questions;
mod rounds;
mod servers;
mod serving;
mod serving_statements;
mod sizes;
mod studies;
mod systems;
mod worker;
