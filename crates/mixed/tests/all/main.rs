//! Tests of right answers, of verdicts in a model of systems, and of planted faults.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

mod faults;
mod model;
mod support;
mod sweep;
