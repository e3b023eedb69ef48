//! Errors of starting and stopping servers.

/// Result of this crate's functions, with [`ServerError`] as the error.
pub type Result<T> = std::result::Result<T, ServerError>;

/// Why a server could not be started or stopped.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ServerError {
    /// A prerequisite is missing on this machine, or the server did not start; includes the end of its log.
    #[error("{0}")]
    Unavailable(String),
    /// The folder of the system requests something that is impossible.
    #[error("{0}")]
    Unsupported(String),
    /// The server ended unexpectedly, or did not stop cleanly; includes the end of its log.
    #[error("{0}")]
    Crashed(String),
    /// The caller requested cancellation while waiting.
    #[error("cancelled")]
    Cancelled,
}
