//! Why there is no server, or no longer one.

/// What this crate answers with.
pub type Result<T> = std::result::Result<T, ServerError>;

/// Why a server could not be started or stopped.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ServerError {
    /// The machine lacks what the server needs, or the server did not start; with the end of its log.
    #[error("{0}")]
    Unavailable(String),
    /// The system's folder asks for something that cannot be done.
    #[error("{0}")]
    Unsupported(String),
    /// The server ended when it should not, or not as it should; with the end of its log.
    #[error("{0}")]
    Crashed(String),
    /// The caller wanted to stop.
    #[error("cancelled")]
    Cancelled,
}
