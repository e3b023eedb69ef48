//! When measuring ends.

use serde::{Deserialize, Serialize};

/// A stop condition.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(tag = "by", rename_all = "snake_case")]
pub enum Stop {
    /// After so long.
    Time {
        /// Seconds.
        seconds: f64,
    },
    /// After so many operations of all clients together.
    Count {
        /// Operations.
        operations: u64,
    },
}

impl Stop {
    /// Seconds that are measured, where they are known beforehand.
    #[must_use]
    pub fn seconds(self) -> Option<f64> {
        match self {
            Self::Time { seconds } => Some(seconds),
            Self::Count { .. } => None,
        }
    }

    /// Operations that are measured, where they are known beforehand.
    #[must_use]
    pub fn operations(self) -> Option<u64> {
        match self {
            Self::Time { .. } => None,
            Self::Count { operations } => Some(operations),
        }
    }

    /// Whether it can be reached, and measures anything.
    ///
    /// # Errors
    /// What is wrong with it.
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
            assert!(Stop::Time { seconds }.check().is_err());
        }
        assert!(Stop::Count { operations: 0 }.check().is_err());
        assert!(Stop::Count { operations: 1 }.check().is_ok() && Stop::Time { seconds: 0.1 }.check().is_ok());
    }
}
