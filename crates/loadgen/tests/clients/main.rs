//! Tests of clients against in-memory systems.
#![expect(clippy::unwrap_used, clippy::panic, reason = "tests")]

mod memory;
mod mixed;
mod mutations;
mod own;
mod own_store;
mod reports;
mod support;
