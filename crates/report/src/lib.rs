//! Runs as people read them: tables for the terminal, and Markdown.

pub mod compare;
pub mod format;
pub mod markdown;
pub mod profile;
pub mod published;
pub mod tables;

pub mod checks;

mod questions;
mod sections;
