//! Stored results: the run folder, its journal, and the summaries, comparisons and exports computed from
//! them.
//!
//! This crate does not measure. Every number in a summary comes from journal records only, so that it can be
//! traced to the trials behind it.

#![forbid(unsafe_code)]

pub mod answer;
pub mod baseline;
pub mod busy_machine;
pub mod cell_summary;
pub mod challenge;
pub mod compare;
pub mod control;
pub mod crossover;
pub mod document_size;
pub mod durability_evidence;
pub mod export;
pub mod false_alarms;
pub mod folder;
pub mod i_json;
pub mod journal;
pub mod leader;
pub mod load_loss;
pub mod mixed;
pub mod number_format;
pub mod peaks;
pub mod percentile;
pub mod precision;
pub mod promise;
pub mod published_documents;
pub mod ratio_to_best;
pub mod reduction;
pub mod run;
pub mod scaling;
mod severity;
pub mod summary;
#[cfg(feature = "test-support")]
pub mod test_fixtures;

mod error;
mod tsv;

pub use error::ResultsError;
