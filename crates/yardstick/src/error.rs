//! Errors of loading, storing and querying columns.

/// Result of this crate's functions, with [`YardstickError`] as the error.
pub type Result<T> = std::result::Result<T, YardstickError>;

/// Why columns could not be built, stored or read, or threads not started.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum YardstickError {
    /// A file could not be written, removed, or read for later documents.
    #[error("{0}")]
    File(String),
    /// A file does not contain valid columns of a known layout.
    #[error("{0}")]
    Columns(String),
    /// A column or group has more distinct values than 32-bit codes can number.
    #[error("{0}")]
    TooMany(String),
    /// The thread pool could not be started.
    #[error("{0}")]
    Threads(String),
}
