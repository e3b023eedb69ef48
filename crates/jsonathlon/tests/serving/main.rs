//! The serving workload: on the mock, whose answers can be spoilt, and on real systems at a tiny scale.

#![expect(clippy::unwrap_used, clippy::panic, reason = "helpers of tests fail as tests do")]

#[path = "../support/mod.rs"]
mod support;

mod answers;
mod faults;
mod input;
mod killed;
mod systems;
