//! When a system shows the writes that it has acknowledged.

use serde::{Deserialize, Serialize};

/// Moment from which questions see a write.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Visibility {
    /// The acknowledgement: a later question sees the write.
    Commit,
    /// A refresh some time after the acknowledgement.
    Refresh,
}
