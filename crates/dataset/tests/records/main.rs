//! Tests of records: generation of documents and verification of answers.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking, in its helpers too")]

mod answers;
mod common;
mod documents;
mod keys;
mod source;
mod wrong;
