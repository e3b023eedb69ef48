//! Tests of the foundations: which records are requested, and which answers are accepted.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking, in its helpers too")]

mod keys;
mod model;
mod schedule;
mod threads;
