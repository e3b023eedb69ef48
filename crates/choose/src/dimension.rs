//! Dimensions of a decision: what a user can need of a system, and the columns in which it is shown.

use std::fmt;

/// What a user can need of a system. Each is a column of the decision.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Dimension {
    /// Acknowledged writes survive crashes.
    Durability,
    /// Documents come back as they were loaded.
    RoundTrip,
    /// Documents that the system does not accept.
    Rejected,
    /// The rate of operations is held.
    Rate,
    /// Response time of reads and updates at the rate.
    Response,
    /// Time of the user's own questions.
    Report,
    /// Size of the documents on disk.
    Size,
    /// Whether the system is a server or runs within the program that uses it.
    Kind,
}

impl Dimension {
    /// All dimensions, in the order in which they are shown.
    pub const ALL: [Self; 8] = [
        Self::Durability,
        Self::RoundTrip,
        Self::Rejected,
        Self::Rate,
        Self::Response,
        Self::Report,
        Self::Size,
        Self::Kind,
    ];

    /// Key of the dimension in needs files and in JSON, such as `round_trip`.
    #[must_use]
    pub const fn key(self) -> &'static str {
        match self {
            Self::Durability => "durability",
            Self::RoundTrip => "round_trip",
            Self::Rejected => "rejected",
            Self::Rate => "rate",
            Self::Response => "response",
            Self::Report => "report",
            Self::Size => "size",
            Self::Kind => "kind",
        }
    }

    /// Heading of the dimension in tables, such as `round trip`.
    #[must_use]
    pub const fn title(self) -> &'static str {
        match self {
            Self::RoundTrip => "round trip",
            Self::Response => "response time",
            Self::Report => "reports",
            other => other.key(),
        }
    }
}

impl fmt::Display for Dimension {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.title())
    }
}
