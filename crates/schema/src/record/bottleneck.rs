//! Resource that limited the time of a trial.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Resource that limited the time of a trial.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub enum Bottleneck {
    /// All cores that the system may use were busy.
    #[serde(rename = "cpu")]
    AllCores,
    /// More than one core was busy, but not all that the system may use.
    #[serde(rename = "cpu, part")]
    SomeCores,
    /// One core was busy, and all others were idle.
    #[serde(rename = "one core")]
    OneCore,
    /// The disk transferred as much as it can.
    #[serde(rename = "disk")]
    Disk,
    /// Neither the cores nor the disk were busy.
    #[serde(rename = "waiting")]
    Waiting,
}

impl Bottleneck {
    /// Wording of the bottleneck in files and tables.
    #[must_use]
    pub fn phrase(self) -> &'static str {
        match self {
            Self::AllCores => "cpu",
            Self::SomeCores => "cpu, part",
            Self::OneCore => "one core",
            Self::Disk => "disk",
            Self::Waiting => "waiting",
        }
    }
}

impl fmt::Display for Bottleneck {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.phrase())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bottlenecks_are_written_as_their_words() {
        use Bottleneck::{AllCores, Disk, OneCore, SomeCores, Waiting};
        for bottleneck in [AllCores, SomeCores, OneCore, Disk, Waiting] {
            assert_eq!(serde_json::to_value(bottleneck).unwrap(), bottleneck.phrase());
        }
    }
}
