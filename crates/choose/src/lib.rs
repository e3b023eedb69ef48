//! Which system meets a user's needs: the needs file, what runs over the user's documents found out, and the
//! decision with the words in which it is told.
//!
//! This crate measures nothing and starts nothing. It reads runs and compares them with needs. There is no
//! weighted total: a system meets a need, does not meet it, or neither is shown.

#![forbid(unsafe_code)]

pub mod decision;
pub mod facts;
pub mod figures;
pub mod judgement;
pub mod needs;

mod dimension;
#[cfg(test)]
mod facts_for_tests;

pub use dimension::Dimension;
