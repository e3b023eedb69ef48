//! Studies: published questions, the options a run varies to answer them, the published results, and the
//! answer in words.
//!
//! A study is a file, not code. It says of which workload its runs are, which of their options are varied and which
//! are fixed, and how the answer is worded. Built-in studies are embedded in the program; a user's own studies are read from
//! files.

#![forbid(unsafe_code)]

pub mod clause;
pub mod definition;
pub mod observations;
pub mod published;
pub mod runs;
pub mod study_file;
pub mod verdict;
pub mod verdict_spec;
pub mod workload;

mod built_in;
mod cost_clause;
mod frontier_clause;
mod summary;
mod wording;

pub use built_in::{built_in, names};
