//! How prominently a result, row or sentence is shown: colours and icons follow this value, never words,
//! because names of folders, variants and documents are words too.

use serde::{Deserialize, Serialize};

use crate::durability::DurabilityEvidence;
use crate::record::Verdict;

/// Severity of a result, from normal to failed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// The result is as expected and needs no attention.
    #[default]
    Good,
    /// The result means less than it appears to.
    Warning,
    /// The result is wrong, missing or breaks a promise.
    Failed,
}

impl Severity {
    /// Returns `true` for [`Severity::Good`], which needs no attention.
    #[must_use]
    pub fn is_good(&self) -> bool {
        *self == Self::Good
    }
}

impl Verdict {
    /// Severity of the verdict. A missing feature, or a missing expected answer, is not an error.
    #[must_use]
    pub fn severity(self) -> Severity {
        match self {
            Self::Exact | Self::Approximate | Self::Unverified | Self::NotApplicable => Severity::Good,
            Self::Disputed | Self::Partial => Severity::Warning,
            Self::Wrong | Self::Timeout | Self::Failed => Severity::Failed,
        }
    }
}

impl DurabilityEvidence {
    /// Severity by whether the tier's promise was kept.
    #[must_use]
    pub fn severity(&self) -> Severity {
        if self.as_promised < self.crashes { Severity::Failed } else { Severity::Good }
    }
}
