//! Decisions over runs that were made: those kept for tests of reports, and synthetic ones.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

mod gathering;
mod gathering_failures;
mod golden;
