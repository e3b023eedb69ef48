//! Runs as people read them: tables for the terminal, Markdown, and a page for everything else.

pub mod compare;
pub mod format;
pub mod markdown;
pub mod page;
pub mod profile;
pub mod published;
pub mod tables;

pub mod checks;

mod questions;
mod sections;
