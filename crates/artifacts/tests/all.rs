//! All tests of the public interface, in one program, so that they are linked once.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

mod artifacts;
mod installations;
mod libraries;
mod parts;
mod put_together;
mod status;
mod support;
