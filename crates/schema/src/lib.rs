//! The vocabulary that drivers, workloads and reports share: cells and rows of answers, and instants.
//!
//! This crate depends on no other crate of the workspace.

#![forbid(unsafe_code)]

pub mod instant;
pub mod value;
