//! Studies: on the mock, whose speed is a script's, on SQLite, and on PostgreSQL at a tiny scale.

#![expect(clippy::unwrap_used, clippy::panic, reason = "helpers of tests fail as tests do")]

#[path = "../support/mod.rs"]
mod support;

mod begun;
mod input;
mod systems;
