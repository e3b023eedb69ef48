//! Tests of the reading side of the crate: sources, scanner, reference answers, staging and profiles.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking, in its helpers too")]

mod common;
mod describing;
mod download;
mod forms;
mod reference;
mod scanner;
mod sources;
mod staging;
