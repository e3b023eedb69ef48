//! Mixes: operations with their shares, and the request distribution of the keys.

use serde::{Deserialize, Serialize};

use crate::operation::Operation;

/// How often each record is requested.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RequestDistribution {
    /// Every record is equally likely.
    Uniform,
    /// The record of rank i is requested in proportion to 1 / i^0.99; ranks are scattered over all keys.
    Zipfian,
    /// The newest records are requested most often: zipfian, backwards from the newest acknowledged insert.
    Latest,
}

/// A mix of operations, as in the YCSB workloads a to f.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Mix {
    /// Name of the mix in results and messages.
    pub name: String,
    /// Operations with their shares, which must add up to 1.
    pub shares: Vec<(Operation, f64)>,
    /// Distribution by which the records of the operations are drawn.
    pub requests: RequestDistribution,
}

impl Mix {
    /// Returns `true` if the mix has this operation.
    #[must_use]
    pub fn has(&self, operation: Operation) -> bool {
        self.shares.iter().any(|(other, _)| *other == operation)
    }
}
