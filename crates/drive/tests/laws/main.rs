//! Laws that everything else stands on: which records are asked for, and which answers are right.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking, in its helpers too")]

mod keys;
mod model;
mod schedule;
mod threads;
