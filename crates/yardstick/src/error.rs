//! What can go wrong.

/// The end of every fallible call.
pub type Result<T> = std::result::Result<T, Error>;

/// Why something was not done.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// A file could not be written, removed, or read for later documents.
    #[error("{0}")]
    File(String),
    /// A file does not hold columns that can be read.
    #[error("{0}")]
    Columns(String),
    /// There is more of something than its codes can number.
    #[error("{0}")]
    TooMany(String),
    /// Threads cannot be started.
    #[error("{0}")]
    Threads(String),
}
