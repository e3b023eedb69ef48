//! JSON documents: their sources (files, addresses, generators), scanning, staging, and expected answers over
//! them.
//!
//! This crate turns documents in every [`source::Form`] into newline-delimited JSON, and knows no database.

#![forbid(unsafe_code)]

pub mod agreement;
pub mod describe;
pub mod digest;
pub mod fidelity;
pub mod generate;
pub mod keying;
pub mod nested;
pub mod own_records;
pub mod pool;
pub mod questions;
pub mod records;
pub mod reference;
pub mod scan;
pub mod skipped_entries;
pub mod source;
pub mod stage;
pub mod value_digest;

mod error;
mod row_file;

pub use error::DataError;
