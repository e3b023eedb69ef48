//! Clients at work on systems in memory.
#![expect(clippy::unwrap_used, clippy::panic, reason = "tests")]

mod memory;
mod mutations;
mod support;
