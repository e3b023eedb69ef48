//! Durability: tiers, kinds of crashes, and what crash tests found about a configuration.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Durability tier: which acknowledged writes a crash may lose.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum DurabilityTier {
    /// Acknowledged writes survive a power loss.
    Synced,
    /// Acknowledged writes survive a crash of the system's processes, but not a power loss.
    Process,
    /// The last moments before a crash may be lost.
    Window,
}

impl DurabilityTier {
    /// All tiers, the one that may lose least first.
    pub const ALL: [Self; 3] = [Self::Synced, Self::Process, Self::Window];

    /// Returns the name in files, in system folders, in tables and on the command line.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Synced => "synced",
            Self::Process => "process",
            Self::Window => "window",
        }
    }

    /// Finds the tier with this word. `None` if the word is unknown.
    #[must_use]
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|tier| tier.word() == word)
    }
}

impl fmt::Display for DurabilityTier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

/// What a crash affects: only the processes of a system, or also the power of its disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum CrashKind {
    /// The system's processes are killed: data handed to the kernel survives.
    Process,
    /// The power of the system's disk is cut first: only synced data survives.
    Power,
}

impl CrashKind {
    /// Both kinds, process crash first.
    pub const ALL: [Self; 2] = [Self::Process, Self::Power];

    /// Returns the name in files and on the command line, which is also the step of crash tests.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Process => "process",
            Self::Power => "power",
        }
    }

    /// Finds the kind with this word. `None` if the word is unknown.
    #[must_use]
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.word() == word)
    }

    /// Returns the event that systems must withstand, for readers: `process crash` or `power loss`.
    #[must_use]
    pub const fn event(self) -> &'static str {
        match self {
            Self::Process => "process crash",
            Self::Power => "power loss",
        }
    }

    /// Returns the noun by which `count` crashes of this kind are counted: `kills` or `power cuts`.
    #[must_use]
    pub const fn noun(self, count: u64) -> &'static str {
        match (self, count) {
            (Self::Process, 1) => "kill",
            (Self::Process, _) => "kills",
            (Self::Power, 1) => "power cut",
            (Self::Power, _) => "power cuts",
        }
    }
}

impl fmt::Display for CrashKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

/// Durability tier and what a configuration may lose in it, as documented in the system's folder.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Durability {
    /// Durability tier that the run has chosen.
    pub tier: DurabilityTier,
    /// What a crash of the system's process may lose, in words.
    pub process_crash: String,
    /// What a power failure may lose, in words.
    pub power_loss: String,
    /// Digest of everything that the durability depends on, by which results of durability runs are found.
    pub basis: String,
    /// Results of earlier durability runs in the same parent folder, as of the start of this run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tested: Vec<DurabilityEvidence>,
}

/// Results of all crash tests of one kind.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct DurabilityEvidence {
    /// Kind of crash that was tested.
    pub kind: CrashKind,
    /// Number of crashes that were made.
    pub crashes: u64,
    /// Crashes after which all acknowledged writes and loaded documents were present and intact.
    pub without_loss: u64,
    /// Crashes after which everything that the tier promises was present.
    pub as_promised: u64,
    /// Day of the run, such as `2026-11-23`.
    pub date: String,
}

impl fmt::Display for DurabilityEvidence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { kind, crashes, without_loss, as_promised, date } = self;
        write!(f, "kept in {without_loss} of {crashes} {}", kind.noun(*crashes))?;
        if as_promised < crashes {
            write!(f, ", as promised in {as_promised}")?;
        }
        write!(f, ", {date}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tiers_and_kinds_are_written_as_their_words() {
        for tier in DurabilityTier::ALL {
            assert_eq!(serde_json::to_value(tier).unwrap(), tier.word());
            assert_eq!(DurabilityTier::from_word(tier.word()), Some(tier));
        }
        for kind in CrashKind::ALL {
            assert_eq!(serde_json::to_value(kind).unwrap(), kind.word());
            assert_eq!(CrashKind::from_word(kind.word()), Some(kind));
        }
        assert_eq!((DurabilityTier::from_word("power"), CrashKind::from_word("window")), (None, None));
    }

    #[test]
    fn what_was_shown_is_told_in_a_few_words() {
        let tested = |kind, without_loss, as_promised| DurabilityEvidence {
            kind,
            crashes: 10,
            without_loss,
            as_promised,
            date: "2026-11-23".to_owned(),
        };
        let (process, power) = (CrashKind::Process, CrashKind::Power);
        assert_eq!(tested(power, 10, 10).to_string(), "kept in 10 of 10 power cuts, 2026-11-23");
        assert_eq!(tested(process, 4, 10).to_string(), "kept in 4 of 10 kills, 2026-11-23");
        assert_eq!(tested(process, 4, 9).to_string(), "kept in 4 of 10 kills, as promised in 9, 2026-11-23");
        let single = DurabilityEvidence { crashes: 1, ..tested(power, 1, 1) };
        assert_eq!(single.to_string(), "kept in 1 of 1 power cut, 2026-11-23");
    }
}
