//! Stored results: the run folder, its journal, and the summaries, comparisons and exports computed from
//! them.
//!
//! This crate does not measure. Every number in a summary comes from journal records only, so that it can be
//! traced to the trials behind it.

#![forbid(unsafe_code)]

pub mod baseline;
pub mod beside_best;
pub mod challenge;
pub mod compare;
pub mod control;
pub mod crossover;
pub mod entry;
pub mod export;
pub mod folder;
pub mod growth;
pub mod journal;
pub mod leader;
#[cfg(feature = "made")]
pub mod made;
pub mod noise;
pub mod peaks;
pub mod percentile;
pub mod precision;
pub mod promise;
pub mod published_documents;
pub mod reduction;
pub mod run;
mod severity;
pub mod summary;
pub mod tested;

mod error;
mod tsv;

pub use error::ResultsError;
