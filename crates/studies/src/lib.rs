//! Studies: a published question, what a run has to vary to answer it, the published figures, and the answer in words.
//!
//! A study is a file, not a program: which options of `run serving` vary and which are held still, and how the sentence
//! reads that a reader takes home. Built-in ones are embedded; a user's own are read from a file.

#![forbid(unsafe_code)]

pub mod definition;
pub mod parts;
pub mod published;
pub mod seen;
pub mod verdict;

mod built_in;

pub use built_in::{built_in, names};
