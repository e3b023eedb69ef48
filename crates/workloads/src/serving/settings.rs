//! What the user can set about a serving run.

use jsonathlon_dataset::records::Records;
use jsonathlon_drive::mix::Mix;
use jsonathlon_drive::paths::Projection;
use jsonathlon_measure::arrival::Arrival;
use serde::{Deserialize, Serialize};

/// Settings of this workload alone.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ServingSettings {
    /// The records.
    pub records: Records,
    /// The mixes.
    pub mixes: Vec<Mix>,
    /// Numbers of clients.
    pub clients: Vec<u32>,
    /// Arrival rates beside the closed loop.
    #[serde(default)]
    pub rates: Vec<Rate>,
    /// How arrivals are spread in time.
    #[serde(default)]
    pub spread: Spread,
    /// The limit under which the highest rate is looked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub objective: Option<Objective>,
    /// Seconds of each trial before measuring begins.
    pub ramp_s: f64,
    /// Seconds that are measured.
    pub measured_s: f64,
    /// Seconds of one long trial for each configuration and mix, at the most clients.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub long_s: Option<f64>,
    /// Operations after which a trial ends, in place of its seconds; counted from its first moment.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operations: Option<u64>,
    /// Documents whose bytes in the system's own form are asked for, as JSON text.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub encode: Vec<Sample>,
    /// The durability tier.
    pub durability: String,
    /// Whether statements are prepared once.
    pub prepare: bool,
    /// Documents of one insert-batch.
    pub batch: u32,
    /// Documents of one scan at most.
    pub scan: u32,
    /// Documents of one find at most.
    pub limit: u32,
    /// Which values one read-paths asks for.
    #[serde(default)]
    pub projection: Projection,
    /// CPUs that servers are pinned to; none leaves them alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server_cpus: Option<Vec<usize>>,
    /// Seconds after which an operation is given up.
    pub timeout_s: f64,
    /// How often an operation is tried again that was given up for a conflict.
    pub retries: u32,
}

/// A document that is asked about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sample {
    /// What it is called in tables.
    pub name: String,
    /// Its JSON text.
    pub text: String,
}

/// A rate at which operations arrive.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Rate {
    /// Operations per second.
    PerSecond(f64),
    /// A share of what the closed loop reached in the same round.
    OfCapacity(f64),
}

/// How arrivals are spread in time.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Spread {
    /// Independently of each other.
    #[default]
    Poisson,
    /// At even distances.
    Fixed,
}

impl Spread {
    /// Arrivals at a rate.
    #[must_use]
    pub fn at(self, per_s: f64) -> Arrival {
        match self {
            Self::Poisson => Arrival::Poisson { per_s },
            Self::Fixed => Arrival::Fixed { per_s },
        }
    }

    /// The word used in files and tables.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Poisson => "poisson",
            Self::Fixed => "fixed",
        }
    }
}

/// A limit of response times that a rate must keep.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Objective {
    /// Which share of operations: 0.99 for p99.
    pub quantile: f64,
    /// Must end within so many seconds.
    pub seconds: f64,
}

impl Objective {
    /// Reads `p99<5ms`.
    ///
    /// # Errors
    /// What it should look like.
    pub fn parse(text: &str) -> Result<Self, String> {
        let wrong = || format!("`{text}` is no objective: write it as p99<5ms, p50<800us or p99.9<1s");
        let (quantile, limit) = text.split_once('<').ok_or_else(wrong)?;
        let percent: f64 =
            quantile.trim().strip_prefix('p').and_then(|number| number.parse().ok()).ok_or_else(wrong)?;
        let limit = limit.trim();
        let (number, unit) = [("us", 1e-6), ("µs", 1e-6), ("ms", 1e-3), ("s", 1.0)]
            .into_iter()
            .find_map(|(ending, unit)| limit.strip_suffix(ending).map(|number| (number, unit)))
            .ok_or_else(wrong)?;
        let seconds = number.trim().parse::<f64>().map_err(|_| wrong())? * unit;
        if !(percent > 0.0 && percent < 100.0 && seconds > 0.0 && seconds.is_finite()) {
            return Err(wrong());
        }
        Ok(Self { quantile: percent / 100.0, seconds })
    }
}

impl std::fmt::Display for Objective {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { quantile, seconds } = self;
        // Three digits after the point are what anybody writes.
        let percent = (quantile * 100_000.0).round() / 1000.0;
        if *seconds >= 1.0 {
            write!(f, "p{percent}<{seconds}s")
        } else if *seconds >= 1e-3 {
            write!(f, "p{percent}<{}ms", (seconds * 1e6).round() / 1e3)
        } else {
            write!(f, "p{percent}<{}us", (seconds * 1e9).round() / 1e3)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objectives_are_read_as_they_are_written() {
        for text in ["p99<5ms", "p50<800us", "p99.9<1s", "p95<2.5ms"] {
            assert_eq!(Objective::parse(text).unwrap().to_string(), text);
        }
        for wrong in ["", "p99", "99<5ms", "p99<5", "p100<5ms", "p0<5ms", "p99<0ms", "p99<-1s", "pp<5ms"] {
            assert!(Objective::parse(wrong).is_err(), "{wrong}");
        }
    }
}
