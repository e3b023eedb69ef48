//! The user's own documents as records: digests by value, keying, and the verification of answers.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

mod changed_keys;
mod common;
mod digest;
mod keying;
mod proposals;
mod reading;
mod scans;
