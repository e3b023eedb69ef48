//! Yardstick: a hand-written program for the six questions, so that each engine's time can be given as a
//! multiple of its.
//!
//! A time alone does not show how much of it is the work and how much the machinery around it. McSherry,
//! Isard and Murray ("Scalability! But at what COST?", HotOS 2015) compare systems with a simple program on
//! one thread; this is such a program. It holds the paths of the questions as columns in memory, in the order
//! of the engines' keys, and answers by plain loops without precomputed aggregates. It keeps no documents and
//! is no database; it knows the questions, but no drivers, systems or workloads.

#![forbid(unsafe_code)]

mod answer;
mod columns;
mod dictionary;
mod error;
mod extract;
mod file;
mod scan;
mod tail;
mod threads;
mod top_users;

pub use columns::{Table, TableBuilder};
pub use error::{Result, YardstickError};
pub use extract::check_document;
pub use tail::AppendedDocuments;
pub use threads::Threads;

/// Version reported with the yardstick's results. Must change whenever the measured work does: loops,
/// columns, or their order. It is independent of this program's version, because the catalogue's folder names
/// it, too.
pub const VERSION: &str = "yardstick 1";

#[cfg(test)]
mod agreement_tests;
