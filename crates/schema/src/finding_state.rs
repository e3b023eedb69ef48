//! States of what a finding is about: what became of a document, or of the writes before a crash.

use std::fmt;

use serde::{Deserialize, Serialize};

/// State of the subject of a finding.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub enum FindingState {
    /// The system accepted the document.
    Accepted,
    /// The system rejected the document.
    Refused,
    /// The engine crashed because of the document.
    Crashed,
    /// There was no answer before the timeout.
    Hung,
    /// The document was not tried in this way, because the way is not available for it.
    NotOffered,
    /// The returned document has the same bytes.
    SameBytes,
    /// The returned document has the same value in another form.
    SameValue,
    /// The returned document has another value.
    Changed,
    /// The document was accepted, but nothing was returned.
    Lost,
    /// The client could not send the document.
    Failed,
    /// The document cannot be read back, with the reason given by the system or the client.
    Unreadable,
    /// After a crash all acknowledged writes are there.
    Kept,
    /// All lost writes were acknowledged within the window that the tier declares.
    LostWithinWindow,
    /// A write older than the declared window is lost, or loaded or torn documents are.
    LostBeyondWindow,
    /// Writes are lost; the tier allows that without declaring a window.
    LostAsStated,
    /// Something is lost that the tier promises to keep.
    PromiseBroken,
    /// The system did not start again after a crash.
    DoesNotStart,
    /// The system did not start before the timeout.
    HangsInRecovery,
    /// The system started after a crash, but could not be read.
    CannotBeRead,
    /// Any other text: a measured value, or a state that this version does not know.
    Other(String),
}

impl FindingState {
    /// All states but [`Self::Other`].
    pub const KNOWN: [Self; 19] = [
        Self::Accepted,
        Self::Refused,
        Self::Crashed,
        Self::Hung,
        Self::NotOffered,
        Self::SameBytes,
        Self::SameValue,
        Self::Changed,
        Self::Lost,
        Self::Failed,
        Self::Unreadable,
        Self::Kept,
        Self::LostWithinWindow,
        Self::LostBeyondWindow,
        Self::LostAsStated,
        Self::PromiseBroken,
        Self::DoesNotStart,
        Self::HangsInRecovery,
        Self::CannotBeRead,
    ];

    /// Returns the state as journals and readers have it.
    #[must_use]
    pub fn as_str(&self) -> &str {
        match self {
            Self::Accepted => "accepted",
            Self::Refused => "refused",
            Self::Crashed => "crashed",
            Self::Hung => "hung",
            Self::NotOffered => "not offered",
            Self::SameBytes => "same bytes",
            Self::SameValue => "same value",
            Self::Changed => "changed",
            Self::Lost => "lost",
            Self::Failed => "failed",
            Self::Unreadable => "unreadable",
            Self::Kept => "kept",
            Self::LostWithinWindow => "lost within its window",
            Self::LostBeyondWindow => "lost beyond its window",
            Self::LostAsStated => "lost, as the tier says",
            Self::PromiseBroken => "promise broken",
            Self::DoesNotStart => "does not start",
            Self::HangsInRecovery => "hangs in recovery",
            Self::CannotBeRead => "cannot be read",
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
    fn a_state_is_written_as_it_was_read() {
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
