//! All tests of the public interface, in one program, so that they are linked once.

#![expect(clippy::unwrap_used, clippy::panic, reason = "helpers of tests fail as tests do")]

mod compare;
mod documents;
mod fidelity;
mod golden;
mod page_vocabulary;
mod profile;
mod serving;
mod tables;
