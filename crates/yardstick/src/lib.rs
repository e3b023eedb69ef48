//! The yardstick: what a hand-written program needs for the six questions, so that every engine's time can be
//! read as a multiple of it.
//!
//! A figure by itself does not say how much of it is the work and how much is the machinery around it. McSherry,
//! Isard and Murray ("Scalability! But at what COST?", HotOS 2015) compare systems with a simple program on one
//! thread; this is that program. It holds the paths that the questions ask for as columns in memory, ordered as
//! the engines' keys order them, and answers by plain loops: codes row by row, no aggregates made beforehand.
//! It keeps no documents and is no database.
//!
//! It knows the questions, since it is a reference for them, and nothing of drivers, systems or workloads.

#![forbid(unsafe_code)]

mod answer;
mod columns;
mod dictionary;
mod error;
mod extract;
mod extremes;
mod file;
mod scan;
mod tail;
mod threads;

pub use columns::{Builder, Table};
pub use error::{Error, Result};
pub use extract::check;
pub use tail::Tail;
pub use threads::Threads;

/// The version that stands beside its figures. It changes with whatever is measured: the loops, the columns, their
/// order. It is not the program's own version, since the catalogue's folder names it too.
pub const VERSION: &str = "yardstick 1";

#[cfg(test)]
mod agreement_tests;
