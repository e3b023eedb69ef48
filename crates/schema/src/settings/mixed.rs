//! Settings of the mixed workload: writers, streams of questions, and the documents that come in.

use serde::{Deserialize, Serialize};

/// Largest number of writers. Each adds a range to every question, and SQLite joins at most 500 of them.
pub const MAX_WRITERS: u32 = 500;

/// How many clients insert and ask, how fast, and for how long.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MixedSettings {
    /// Number of writers, each with one connection and one batch in flight; 2 by default, 0 on still data.
    pub writers: u32,
    /// Number of streams of questions, each with one connection; 2 by default.
    pub streams: u32,
    /// Numbers of streams that ask on still data, one after the other and without writers, in ascending order.
    /// Empty for questions beside writers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub still_streams: Vec<u32>,
    /// Number of documents of one batch, which is one transaction or request; 1,000 by default.
    pub batch: u32,
    /// Documents per second that all writers together insert beside the streams; 2,000 by default.
    pub rate: InsertRate,
    /// Rates of the points of the frontier, which replace [`Self::rate`]. Empty for a run at one rate.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub frontier: Vec<FrontierRate>,
    /// Number of documents that may come in beside questions, as a share of the loaded ones; 0.2 by default.
    pub growth: f64,
    /// Number of documents that may come in while writers are alone, beyond those that may come in beside questions.
    /// 0 if these suffice, and with documents of the user's own.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub more_alone: u64,
    /// Seconds of the phases `both` and `alone`; 10 by default.
    pub measure_s: f64,
    /// CPUs to which systems are pinned, embedded ones with their clients; `None` for no pinning.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server_cpus: Option<Vec<usize>>,
    /// What became of the documents that come in. `None` before they are staged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pool: Option<PoolSummary>,
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

impl Default for MixedSettings {
    fn default() -> Self {
        Self {
            writers: 2,
            streams: 2,
            still_streams: Vec::new(),
            batch: 1_000,
            rate: InsertRate::PerSecond(2_000.0),
            frontier: Vec::new(),
            growth: 0.2,
            more_alone: 0,
            measure_s: 10.0,
            server_cpus: None,
            pool: None,
        }
    }
}

impl MixedSettings {
    /// Returns `true` if nothing is inserted: streams ask on data as loaded.
    #[must_use]
    pub fn is_still(&self) -> bool {
        !self.still_streams.is_empty()
    }

    /// Returns `true` if questions are measured beside writers at several shares of their own peak.
    #[must_use]
    pub fn is_frontier(&self) -> bool {
        !self.frontier.is_empty()
    }

    /// Number of documents that writers alone may insert ÷ number of those that may come in beside questions. 1 before
    /// the documents are staged.
    #[must_use]
    pub fn alone_times(&self) -> f64 {
        let alone = self.pool.and_then(|pool| Some((pool.alone?, pool.documents)));
        alone.map_or(1.0, |(alone, beside)| alone as f64 / beside.max(1) as f64)
    }

    /// Settings of one point of the frontier, with the rate that it means for a configuration.
    #[must_use]
    pub fn at_point(&self, point: FrontierRate, rate: InsertRate) -> Self {
        Self { rate, frontier: vec![point], ..self.clone() }
    }

    /// Settings of each number of streams on still data. Empty for questions beside writers.
    #[must_use]
    pub fn still_loads(&self) -> Vec<Self> {
        self.still_streams.iter().map(|streams| Self { streams: *streams, ..self.clone() }).collect()
    }
}

/// Rate at which writers send documents.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum InsertRate {
    /// Documents per second of all writers together, by a schedule that waits for no acknowledgement; 0 on still
    /// data.
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

/// Rate of the writers at one point of the frontier of questions against documents.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FrontierRate {
    /// Share of the documents per second that the configuration's writers insert alone; above 0, at most 1.
    ShareOfPeak(f64),
    /// As fast as batches are acknowledged.
    FullSpeed,
}

impl FrontierRate {
    /// Returns the rate for a configuration whose writers insert `peak_per_s` documents per second alone.
    #[must_use]
    pub fn of_peak(self, peak_per_s: f64) -> InsertRate {
        match self {
            Self::ShareOfPeak(share) => InsertRate::PerSecond(share * peak_per_s),
            Self::FullSpeed => InsertRate::FullSpeed,
        }
    }
}

/// Documents that writers insert.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct PoolSummary {
    /// Number of documents that writers may insert beside questions.
    pub documents: u64,
    /// Number of documents that writers alone may insert, those among them. `None` if they have no others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub alone: Option<u64>,
    /// Number of documents that were left out for all systems, because some system may refuse them.
    pub left_out: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_read_as_they_were_written() {
        for rate in [InsertRate::PerSecond(0.5), InsertRate::FullSpeed] {
            let pool = Some(PoolSummary { documents: 7, alone: Some(9), left_out: 1 });
            let settings = MixedSettings { rate, pool, more_alone: 2, ..MixedSettings::default() };
            let json = serde_json::to_value(&settings).unwrap();
            assert_eq!(serde_json::from_value::<MixedSettings>(json).unwrap(), settings);
            assert!((settings.alone_times() - 9.0 / 7.0).abs() < 1e-9);
        }
        assert_eq!(MixedSettings::default().alone_times(), 1.0);
        let still = MixedSettings { still_streams: vec![1, 4], ..MixedSettings::default() };
        let streams: Vec<u32> = still.still_loads().iter().map(|load| load.streams).collect();
        assert_eq!((streams, MixedSettings::default().is_still()), (vec![1, 4], false));
        let frontier = vec![FrontierRate::ShareOfPeak(0.5), FrontierRate::FullSpeed];
        let rates: Vec<InsertRate> = frontier.iter().map(|rate| rate.of_peak(300.0)).collect();
        assert_eq!(rates, [InsertRate::PerSecond(150.0), InsertRate::FullSpeed]);
        let settings = MixedSettings { frontier, ..MixedSettings::default() };
        let json = serde_json::to_value(&settings).unwrap();
        assert_eq!(serde_json::from_value::<MixedSettings>(json).unwrap(), settings);
        assert_eq!((InsertRate::PerSecond(3.0).per_s(), InsertRate::FullSpeed.per_s()), (Some(3.0), None));
    }
}
