//! Why a driver could not do what it was asked.

/// What a driver answers with.
pub type Result<T> = std::result::Result<T, DriverError>;

/// Why a driver could not do what it was asked.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DriverError {
    /// The system said no; the message is its own.
    #[error("{0}")]
    Refused(String),
    /// The system gave the statement up for another one that runs beside it: a deadlock, a conflict of writes, a
    /// serialization failure, a lock waited for too long. It may be tried again; the message is the system's own.
    #[error("{0}")]
    Conflict(String),
    /// A key that is there already; the message is the system's own.
    #[error("{0}")]
    Duplicate(String),
    /// The driver cannot do this, or cannot read what the system answered; the text says what to do.
    #[error("{0}")]
    Unsupported(String),
    /// The system cannot be reached: its library is missing, unloadable or of another kind.
    #[error("{0}")]
    Unavailable(String),
    /// The system answered something that its protocol does not allow.
    #[error("the system answered out of protocol: {0}")]
    Protocol(String),
    /// The documents that were to be loaded could not be read.
    #[error("failed to read the documents: {0}")]
    Documents(String),
    /// The system ran out of disk, memory or the like, whatever it was asked; the message is its own.
    #[error("{0}")]
    Exhausted(String),
    /// The system ended or cut the connection; the session is of no use any more.
    #[error("{0}")]
    Crashed(String),
}
