//! Runs as people read them: tables for the terminal.

pub mod format;
pub mod profile;
pub mod published;
pub mod tables;

pub mod checks;

mod questions;
mod sections;
