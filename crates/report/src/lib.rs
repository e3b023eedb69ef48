//! Renders runs, comparisons and studies: tables for the terminal, Markdown, and self-contained HTML pages.

#![forbid(unsafe_code)]

pub mod agreement;
pub mod answer;
pub mod challenge;
pub mod choose;
pub mod compare;
pub mod format;
pub mod page;
pub mod profile;
pub mod render;
pub mod run;
pub mod self_checks;
pub mod study;

mod analytics;
mod chart;
mod documents;
mod durability;
mod fidelity;
mod generic;
mod headline;
mod loaded_documents;
mod mixed;
mod percent_encoding;
mod questions;
mod reading_notes;
mod section;
mod serving;
mod severity_list;
mod shown_text;
mod static_page;

pub use documents::published::published_documents_table;
