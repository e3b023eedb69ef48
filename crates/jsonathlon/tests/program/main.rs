//! Tests of the program as users run it: one process per run, with the mock and with real systems.
//!
//! All of them are one test program, which is linked once, and no core is idle at the end of one program
//! before the next starts. Tests that `.ci/fast` runs are separate programs.

#![expect(clippy::unwrap_used, clippy::panic, reason = "helpers of tests fail as tests do")]

#[path = "../support/mod.rs"]
mod support;

mod adding;
mod analytics;
mod busy_machine;
mod check;
mod choose;
mod cli;
mod documents;
mod durability;
mod engines;
mod faults;
mod fidelity;
mod forms;
mod golden;
mod input;
mod mixed;
mod page;
mod questions;
mod rounds;
mod servers;
mod serving;
mod serving_statements;
mod sizes;
mod studies;
mod systems;
mod terminal;
mod worker;
