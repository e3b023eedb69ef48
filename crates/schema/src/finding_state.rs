//! States that findings report: what happened to a document, or to the writes before a crash.

use std::fmt;

use serde::{Deserialize, Serialize};

/// State that a finding reports: of a document that was stored and read, or of a system after a crash.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub enum FindingState {
    /// The system accepted the document.
    Accepted,
    /// The system rejected the document.
    Rejected,
    /// The engine crashed because of the document.
    Crashed,
    /// The engine did not answer before the timeout.
    Hung,
    /// The document was not tried by this insert path, which cannot be used for it.
    NotTested,
    /// The returned document consists of the same bytes.
    SameBytes,
    /// The returned document has the same JSON value, written with other bytes.
    SameValue,
    /// The returned document has another JSON value.
    Changed,
    /// The document was accepted, but reading it returned nothing.
    NothingReturned,
    /// The client could not send the document.
    NotSent,
    /// Reading the document failed; the finding contains the error of the system or the client.
    Unreadable,
    /// All loaded documents and acknowledged writes survived the crash intact.
    NothingLost,
    /// Writes are lost, but none is older than the loss window that the durability tier declares.
    LostWithinWindow,
    /// The loss exceeds the window that the durability tier declares: a lost write is older, a loaded
    /// document is lost, or a document is torn.
    LostBeyondWindow,
    /// Something is lost, but the durability tier allows losses without a limit.
    LostAsDeclared,
    /// Something is lost although the durability tier allows no loss.
    PromiseBroken,
    /// The system failed to start after the crash.
    DoesNotStart,
    /// The system did not finish starting after the crash before the timeout.
    HangsInRecovery,
    /// The system started after the crash, but its documents could not be read.
    UnreadableAfterCrash,
    /// Any other text: a measured value, or a state that this version does not know.
    Other(String),
}

impl FindingState {
    /// All states except [`Self::Other`].
    pub const KNOWN: [Self; 19] = [
        Self::Accepted,
        Self::Rejected,
        Self::Crashed,
        Self::Hung,
        Self::NotTested,
        Self::SameBytes,
        Self::SameValue,
        Self::Changed,
        Self::NothingReturned,
        Self::NotSent,
        Self::Unreadable,
        Self::NothingLost,
        Self::LostWithinWindow,
        Self::LostBeyondWindow,
        Self::LostAsDeclared,
        Self::PromiseBroken,
        Self::DoesNotStart,
        Self::HangsInRecovery,
        Self::UnreadableAfterCrash,
    ];

    /// Returns the name of the state in journals and reports; for [`Self::Other`], its text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        match self {
            Self::Accepted => "accepted",
            Self::Rejected => "rejected",
            Self::Crashed => "crashed",
            Self::Hung => "hung",
            Self::NotTested => "not tested",
            Self::SameBytes => "same bytes",
            Self::SameValue => "same value",
            Self::Changed => "changed",
            Self::NothingReturned => "nothing returned",
            Self::NotSent => "not sent",
            Self::Unreadable => "unreadable",
            Self::NothingLost => "nothing lost",
            Self::LostWithinWindow => "lost within its window",
            Self::LostBeyondWindow => "lost beyond its window",
            Self::LostAsDeclared => "lost, as the tier declares",
            Self::PromiseBroken => "promise broken",
            Self::DoesNotStart => "does not start",
            Self::HangsInRecovery => "hangs in recovery",
            Self::UnreadableAfterCrash => "unreadable after the crash",
            Self::Other(text) => text,
        }
    }

    /// Returns `true` if the engine crashed or hung.
    #[must_use]
    pub fn has_ended_engine(&self) -> bool {
        matches!(self, Self::Crashed | Self::Hung)
    }
}

impl Default for FindingState {
    fn default() -> Self {
        Self::Other(String::new())
    }
}

impl From<String> for FindingState {
    fn from(text: String) -> Self {
        Self::KNOWN.into_iter().find(|state| state.as_str() == text).unwrap_or(Self::Other(text))
    }
}

impl From<&str> for FindingState {
    fn from(text: &str) -> Self {
        Self::from(text.to_owned())
    }
}

impl From<FindingState> for String {
    fn from(state: FindingState) -> Self {
        match state {
            FindingState::Other(text) => text,
            known => known.as_str().to_owned(),
        }
    }
}

impl fmt::Display for FindingState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_survive_a_round_trip_through_text() {
        for state in FindingState::KNOWN {
            assert_eq!(FindingState::from(state.as_str()), state);
        }
        let other = FindingState::from("200 levels");
        assert_eq!(
            (&other, String::from(other.clone())),
            (&FindingState::Other("200 levels".into()), "200 levels".into())
        );
    }
}
