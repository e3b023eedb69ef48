//! Mixes: which operations in which proportions, on which keys.

use serde::{Deserialize, Serialize};

use crate::operation::Operation;

/// Which records are asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Requests {
    /// Each as often as any other.
    Uniform,
    /// The record of rank i in proportion to 1 / i^0.99, ranks scattered over all keys.
    Zipfian,
    /// The newest most often: zipfian backwards from the newest acknowledged insert.
    Latest,
}

/// A mix of operations.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Mix {
    /// Its name in figures.
    pub name: String,
    /// Operations with their shares, which add up to 1.
    pub shares: Vec<(Operation, f64)>,
    /// Which records.
    pub requests: Requests,
}
