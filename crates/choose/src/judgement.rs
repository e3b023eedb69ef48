//! Whether a system meets a need, and how that is said.

use crate::facts::{Measurement, SystemFacts};
use crate::needs::Need;

/// Whether a need is met. Only [`NeedState::Met`] counts as met.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NeedState {
    /// The whole interval, or an exact count, lies within the limit.
    Met,
    /// The whole interval, or an exact count, lies beyond the limit, or the system failed.
    NotMet,
    /// The interval contains the limit, or there is none.
    NotShown,
    /// Nothing was measured, for this reason.
    NotTested(String),
}

impl NeedState {
    /// Word for the state in tables and JSON.
    #[must_use]
    pub const fn word(&self) -> &'static str {
        match self {
            Self::Met => "met",
            Self::NotMet => "not met",
            Self::NotShown => "not shown",
            Self::NotTested(_) => "not tested",
        }
    }
}

/// Judgement of one need of one system.
#[derive(Debug, Clone, PartialEq)]
pub struct Judgement {
    /// Need that was judged.
    pub need: Need,
    /// Whether the system meets it.
    pub state: NeedState,
    /// What is known of the system in this dimension.
    pub figure: Figure,
    /// How many times the figure misses the limit, at least 1; infinite where no factor can be stated. `None`
    /// unless the need is not met.
    pub factor: Option<f64>,
}

/// What is known of a system in one dimension, whether needed or not.
#[derive(Debug, Clone, PartialEq)]
pub struct Figure {
    /// The figure in words: `p99 3.1 ms (2.9 … 3.4)`, `312 of 200,000 documents changed`. Why there is none
    /// where nothing was measured.
    pub words: String,
    /// The figure without interval and in few characters, for tables: `3.1 ms`, `312 changed`.
    pub short: String,
    /// Measurement behind the figure, to find it on its page. `None` for counts and where there is none.
    pub measurement: Option<Measurement>,
    /// Numeric value in the unit of the limit: seconds, bytes, operations per second, shares, or documents
    /// that were changed. `None` if the figure is not a number.
    pub value: Option<f64>,
    /// 95 % interval of the value, or the range of an estimate. `None` if there is none.
    pub interval: Option<[f64; 2]>,
    /// Whether the figure is an estimate for a number of documents that was not loaded.
    pub is_estimate: bool,
    /// Run that the figure comes from. `None` if it comes from none.
    pub part: Option<crate::facts::Part>,
}

/// Judges whether a system meets a need.
#[must_use]
pub fn judge(need: &Need, facts: &SystemFacts) -> Judgement {
    let why = facts.untested.get(&need.dimension()).cloned().unwrap_or_else(|| "not measured".to_owned());
    Judgement {
        need: *need,
        state: NeedState::NotTested(why.clone()),
        figure: Figure {
            words: why,
            short: "–".to_owned(),
            measurement: None,
            value: None,
            interval: None,
            is_estimate: false,
            part: None,
        },
        factor: None,
    }
}
