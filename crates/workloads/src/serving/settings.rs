//! User settings of a serving run.

use jsonathlon_dataset::records::Records;
use jsonathlon_loadgen::mix::Mix;
use jsonathlon_loadgen::paths::Projection;
use jsonathlon_schema::durability::DurabilityTier;
use jsonathlon_schema::settings::questions::QuestionsSettings;
use jsonathlon_stats::arrival::Arrival;
use serde::{Deserialize, Serialize};

/// Settings that only this workload has.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ServingSettings {
    /// Records that are loaded.
    pub records: ServedRecords,
    /// Mixes that are run, each with all numbers of clients.
    pub mixes: Vec<Mix>,
    /// Numbers of clients in closed loops; open loops use the largest.
    pub clients: Vec<u32>,
    /// Arrival rates of open loops, in addition to the closed loops.
    pub rates: Vec<Rate>,
    /// Distribution of arrivals in time; Poisson by default.
    pub arrival: ArrivalPattern,
    /// Service-level objective for the search of the highest rate; `None` for no search.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slo: Option<Slo>,
    /// Warm-up of each trial in seconds.
    pub warmup_s: f64,
    /// Length of the measurement window in seconds.
    pub duration_s: f64,
    /// Seconds of one long trial per configuration and mix, with the largest number of clients; `None` for no
    /// such trial.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub soak_s: Option<f64>,
    /// Number of operations after which a closed-loop trial ends, without a warm-up; `None` if time ends it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operation_count: Option<u64>,
    /// Documents whose stored size is measured.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stored_size_samples: Vec<EncodedSample>,
    /// Durability tier of all configurations.
    pub durability: DurabilityTier,
    /// Whether statements are prepared once, instead of sent as text each time.
    pub prepare: bool,
    /// Number of documents of one insert-batch.
    pub batch_size: u32,
    /// Maximum number of documents of one scan.
    pub max_scan_length: u32,
    /// Maximum number of documents that one find returns.
    pub find_limit: u32,
    /// Selection of the values that one read-paths asks for.
    pub projection: Projection,
    /// CPUs to which servers are pinned; `None` for no pinning.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server_cpus: Option<Vec<usize>>,
    /// Timeout of an operation in seconds.
    pub timeout_s: f64,
    /// Number of retries of an operation after a conflict.
    pub retries: u32,
    /// A user's own questions that are asked at rest and beside each load. `None` without such.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reports: Option<ReportSettings>,
}

/// Questions of a user that are asked beside the load.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ReportSettings {
    /// Number of streams, each with one connection, that ask in a closed loop.
    pub streams: u32,
    /// The questions, with the folder that they are from. In a manifest they are not part of these settings, but
    /// stand where those of the questions workload do.
    #[serde(skip)]
    pub questions: QuestionsSettings,
}

/// Records that a run serves. In JSON, generated ones are their parameters, and a user's are below `own`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum ServedRecords {
    /// Records that are generated from these parameters.
    Generated(Records),
    /// A user's own documents, which the run's source names.
    Own {
        /// Key and updated path of the documents.
        own: OwnDocuments,
    },
}

impl From<Records> for ServedRecords {
    fn from(records: Records) -> Self {
        Self::Generated(records)
    }
}

/// Key and updated path of a user's own documents.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OwnDocuments {
    /// Key of a document: a JSON pointer (RFC 6901), or `line` for its number. `None` until one is proposed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// JSON pointer of the value that updates set. `None` until one is proposed, or if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub update: Option<String>,
    /// Why the key was proposed, as part of a sentence. `None` if the user named it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key_reason: Option<String>,
    /// Why the updated path was proposed. `None` if the user named it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub update_reason: Option<String>,
}

/// Both paths, each with the reason if it was proposed: `key /id (named like a key), update /status`.
impl std::fmt::Display for OwnDocuments {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let paths = [("key", &self.key, &self.key_reason), ("update", &self.update, &self.update_reason)];
        let mut separator = "";
        for (name, path, reason) in paths {
            write!(f, "{separator}{name} {}", path.as_deref().unwrap_or("none"))?;
            if let Some(reason) = reason {
                write!(f, " ({reason})")?;
            }
            separator = ", ";
        }
        Ok(())
    }
}

/// A document whose stored size is measured.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EncodedSample {
    /// Name of the document in tables.
    pub name: String,
    /// JSON text of the document.
    pub text: String,
}

/// Rate at which operations arrive in an open loop.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Rate {
    /// Absolute rate in operations per second.
    PerSecond(f64),
    /// Share of the throughput that the closed loops reached in the same round.
    OfCapacity(f64),
}

/// Distribution of arrivals in time.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ArrivalPattern {
    /// Independent arrivals with exponential intervals.
    #[default]
    Poisson,
    /// Arrivals at constant intervals.
    Fixed,
}

impl ArrivalPattern {
    /// Arrival process with this distribution, at `per_s` operations per second.
    #[must_use]
    pub fn with_rate(self, per_s: f64) -> Arrival {
        match self {
            Self::Poisson => Arrival::Poisson { per_s },
            Self::Fixed => Arrival::Fixed { per_s },
        }
    }

    /// Name in files and tables.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Poisson => "poisson",
            Self::Fixed => "fixed",
        }
    }
}

/// Service-level objective: a limit of response times that a rate must meet.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Slo {
    /// Share of operations that must meet the limit, e.g. 0.99 for p99.
    pub quantile: f64,
    /// Maximum response time in seconds.
    pub seconds: f64,
}

impl Slo {
    /// Parses an objective such as `p99<5ms`; units are `us`, `µs`, `ms` and `s`.
    ///
    /// # Errors
    /// If the text has another form, or a value is out of range; the text shows valid examples.
    pub fn parse(text: &str) -> Result<Self, String> {
        let invalid = || format!("`{text}` is no objective: write it as p99<5ms, p50<800us or p99.9<1s");
        let (quantile, limit) = text.split_once('<').ok_or_else(invalid)?;
        let percent: f64 =
            quantile.trim().strip_prefix('p').and_then(|number| number.parse().ok()).ok_or_else(invalid)?;
        let limit = limit.trim();
        let (number, unit) = [("us", 1e-6), ("µs", 1e-6), ("ms", 1e-3), ("s", 1.0)]
            .into_iter()
            .find_map(|(ending, unit)| limit.strip_suffix(ending).map(|number| (number, unit)))
            .ok_or_else(invalid)?;
        let seconds = number.trim().parse::<f64>().map_err(|_| invalid())? * unit;
        if !(percent > 0.0 && percent < 100.0 && seconds > 0.0 && seconds.is_finite()) {
            return Err(invalid());
        }
        Ok(Self { quantile: percent / 100.0, seconds })
    }
}

impl std::fmt::Display for Slo {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { quantile, seconds } = self;
        // Rounded to three decimal places, which is the usual precision.
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
    fn records_are_generated_or_a_users_own() {
        let own = OwnDocuments { key: Some("/id".to_owned()), ..OwnDocuments::default() };
        for (records, is_own) in
            [(ServedRecords::from(Records::flat(7)), false), (ServedRecords::Own { own }, true)]
        {
            let json = serde_json::to_value(&records).unwrap();
            assert_eq!(json.get("own").is_some(), is_own, "{json}");
            assert_eq!(serde_json::from_value::<ServedRecords>(json).unwrap(), records);
        }
    }

    #[test]
    fn objectives_are_read_as_they_are_written() {
        for text in ["p99<5ms", "p50<800us", "p99.9<1s", "p95<2.5ms"] {
            assert_eq!(Slo::parse(text).unwrap().to_string(), text);
        }
        for text in ["", "p99", "99<5ms", "p99<5", "p100<5ms", "p0<5ms", "p99<0ms", "p99<-1s", "pp<5ms"] {
            assert!(Slo::parse(text).is_err(), "{text}");
        }
    }
}
