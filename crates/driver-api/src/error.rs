//! Errors of drivers, by how a caller must react to them.

/// Result of a driver call.
pub type Result<T> = std::result::Result<T, DriverError>;

/// Why a driver call failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DriverError {
    /// The system denied the statement or connection. Contains the system's message.
    #[error("{0}")]
    Refused(String),
    /// The system aborted the statement because of a concurrent one: deadlock, write conflict, serialization
    /// failure or lock timeout; or it was too busy to begin. The statement may be retried. Contains the
    /// system's message.
    #[error("{0}")]
    Conflict(String),
    /// The key exists already. Contains the system's message.
    #[error("{0}")]
    Duplicate(String),
    /// The driver does not support the request, or cannot decode the system's answer. The text says what to
    /// do.
    #[error("{0}")]
    Unsupported(String),
    /// The system cannot be reached: its server does not answer, or its library is missing, unloadable or of
    /// another kind.
    #[error("{0}")]
    Unavailable(String),
    /// The system's answer violates its protocol.
    #[error("the system answered out of protocol: {0}")]
    Protocol(String),
    /// The documents of a load could not be read.
    #[error("failed to read the documents: {0}")]
    Documents(String),
    /// The system ran out of disk, memory or another resource. Contains the system's message.
    #[error("{0}")]
    Exhausted(String),
    /// The system ended or closed the connection. The session is unusable afterwards.
    #[error("{0}")]
    Crashed(String),
}
