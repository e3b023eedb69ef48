//! Support for the published benchmark JSONBench: its file format, its score and its published results.

pub mod jsonbench;
pub mod published;
pub mod score;

mod standing;

pub use standing::PublishedScore;
pub(crate) use standing::published_scores;
