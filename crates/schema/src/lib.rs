//! The vocabulary of a run: identities of configurations, cells and trials, records of a journal, manifest,
//! registry of metrics, and cells, rows and instants of answers.
//!
//! This crate depends on no other crate of the workspace.

#![forbid(unsafe_code)]

pub mod and_list;
pub mod did_you_mean;
pub mod durability;
pub mod finding_state;
pub mod first_question;
pub mod id;
pub mod instant;
pub mod machine;
pub mod manifest;
pub mod metric;
pub mod ranking;
pub mod record;
pub mod settings;
pub mod severity;
pub mod time_bucket;
pub mod transport;
pub mod value;
pub mod visibility;
pub mod workload;
