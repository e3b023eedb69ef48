//! Conditions that end the measurement window of a workload.

use serde::{Deserialize, Serialize};

/// Condition that ends the measurement window: a duration or a number of operations.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(tag = "by", rename_all = "snake_case")]
pub enum StopCondition {
    /// Ends after a fixed time.
    Time {
        /// Length of the measurement window, seconds; above 0 and finite.
        seconds: f64,
    },
    /// Ends after a fixed number of operations of all clients together.
    Count {
        /// Number of operations to measure, at least 1.
        operations: u64,
    },
}

impl StopCondition {
    /// Length of the measurement window in seconds; `None` if it ends after a number of operations.
    #[must_use]
    pub fn seconds(self) -> Option<f64> {
        match self {
            Self::Time { seconds } => Some(seconds),
            Self::Count { .. } => None,
        }
    }

    /// Number of operations to measure; `None` if the measurement window ends after a fixed time.
    #[must_use]
    pub fn operations(self) -> Option<u64> {
        match self {
            Self::Time { .. } => None,
            Self::Count { operations } => Some(operations),
        }
    }

    /// Checks that the condition can be reached and that it measures anything.
    ///
    /// # Errors
    /// If the time is not finite or not above 0, or the number of operations is 0.
    pub fn check(self) -> Result<(), String> {
        match self {
            Self::Time { seconds } if !(seconds > 0.0 && seconds.is_finite()) => {
                Err(format!("{seconds} seconds cannot be measured: it must be a time above 0"))
            }
            Self::Count { operations: 0 } => Err("no operations cannot be measured".to_owned()),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_measured_is_refused() {
        for seconds in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert!(StopCondition::Time { seconds }.check().is_err());
        }
        assert!(StopCondition::Count { operations: 0 }.check().is_err());
        assert!(
            StopCondition::Count { operations: 1 }.check().is_ok()
                && StopCondition::Time { seconds: 0.1 }.check().is_ok()
        );
    }
}
