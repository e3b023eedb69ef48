//! Settings of the mixed workload: writers, streams of questions, and the documents that come in.

use serde::{Deserialize, Serialize};

/// Largest number of writers. Each adds a range to every question, and SQLite joins at most 500 of them.
pub const MAX_WRITERS: u32 = 500;

/// How many clients insert and ask, how fast, and for how long.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MixedSettings {
    /// Number of writers, each with one connection and one batch in flight; 2 by default.
    pub writers: u32,
    /// Number of streams of questions, each with one connection; 2 by default.
    pub streams: u32,
    /// Number of documents of one batch, which is one transaction or request; 1,000 by default.
    pub batch: u32,
    /// Documents per second that all writers together insert beside the streams; 2,000 by default.
    pub rate: InsertRate,
    /// Number of documents that may come in, as a share of the loaded ones; 0.2 by default.
    pub growth: f64,
    /// Seconds of the phases `both` and `alone`; 10 by default.
    pub measure_s: f64,
    /// What became of the documents that come in. `None` before they are staged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pool: Option<PoolSummary>,
}

impl Default for MixedSettings {
    fn default() -> Self {
        Self {
            writers: 2,
            streams: 2,
            batch: 1_000,
            rate: InsertRate::PerSecond(2_000.0),
            growth: 0.2,
            measure_s: 10.0,
            pool: None,
        }
    }
}

/// Rate at which writers send documents.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum InsertRate {
    /// Documents per second of all writers together, by a schedule that waits for no acknowledgement.
    PerSecond(f64),
    /// As fast as batches are acknowledged.
    FullSpeed,
}

impl InsertRate {
    /// Returns the documents per second. `None` at full speed.
    #[must_use]
    pub fn per_s(self) -> Option<f64> {
        match self {
            Self::PerSecond(rate) => Some(rate),
            Self::FullSpeed => None,
        }
    }
}

/// Documents that writers insert.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct PoolSummary {
    /// Number of documents that writers may insert.
    pub documents: u64,
    /// Number of documents that were left out for all systems, because some system may refuse them.
    pub left_out: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_read_as_they_were_written() {
        for rate in [InsertRate::PerSecond(0.5), InsertRate::FullSpeed] {
            let pool = Some(PoolSummary { documents: 7, left_out: 1 });
            let settings = MixedSettings { rate, pool, ..MixedSettings::default() };
            let json = serde_json::to_value(&settings).unwrap();
            assert_eq!(serde_json::from_value::<MixedSettings>(json).unwrap(), settings);
        }
        assert_eq!((InsertRate::PerSecond(3.0).per_s(), InsertRate::FullSpeed.per_s()), (Some(3.0), None));
    }
}
