//! What belongs to the published benchmark JSONBench and to nothing else: its file format, its score, and what
//! others have published.

pub mod jsonbench;
pub mod published;
pub mod score;

mod standing;

pub use standing::PublishedScore;
pub(crate) use standing::published_scores;
