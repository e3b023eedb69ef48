//! Limits of measured figures: an interval lies within a limit, beyond it, or contains it.

use super::{Finding, NeedState};
use crate::facts::Measurement;

/// A limit of a figure.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Bound {
    /// The figure must lie below this value.
    Below(f64),
    /// The figure must reach this value.
    AtLeast(f64),
}

impl Bound {
    /// Whether an interval lies within the limit. [`NeedState::NotShown`] without an interval.
    pub(super) fn state_of(self, interval: Option<[f64; 2]>) -> NeedState {
        let Some([low, high]) = interval else { return NeedState::NotShown };
        let (is_within, is_beyond) = match self {
            Self::Below(limit) => (high < limit, low >= limit),
            Self::AtLeast(limit) => (low >= limit, high < limit),
        };
        match (is_within, is_beyond) {
            (true, _) => NeedState::Met,
            (_, true) => NeedState::NotMet,
            (false, false) => NeedState::NotShown,
        }
    }

    /// Whether a measurement lies within the limit. A doubtful one may lie beyond it, but never within.
    pub(super) fn state(self, measurement: &Measurement) -> NeedState {
        match self.state_of(measurement.interval) {
            NeedState::Met if measurement.doubt.is_some() => NeedState::NotShown,
            state => state,
        }
    }
}

/// The finding that decides if all must be met: the worst state, and the largest figure among equals.
pub(super) fn worst(findings: impl Iterator<Item = Finding>) -> Option<Finding> {
    let rank = |finding: &Finding| match finding.state {
        NeedState::Met => 0,
        NeedState::NotShown => 1,
        NeedState::NotTested(_) => 2,
        NeedState::NotMet => 3,
    };
    // A failure without a figure is worse than any figure.
    let value = |finding: &Finding| finding.figure.value.unwrap_or(f64::INFINITY);
    findings.max_by(|a, b| rank(a).cmp(&rank(b)).then(value(a).total_cmp(&value(b))))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const ORDER: [NeedState; 3] = [NeedState::Met, NeedState::NotShown, NeedState::NotMet];

    fn place(state: &NeedState) -> usize {
        ORDER.iter().position(|other| other == state).unwrap()
    }

    proptest! {
        /// A limit that moves across an interval passes met, not shown and not met in this order.
        #[test]
        fn a_limit_that_moves_skips_no_state(low in 1e-6_f64..1e6, width in 1e-3_f64..10.0) {
            let interval = [low, low * (1.0 + width)];
            let limits: Vec<f64> = (0..200).map(|step| interval[1] * 1.5 * 0.97_f64.powi(step)).collect();
            let limits = limits.into_iter().chain([interval[1], f64::midpoint(interval[0], interval[1]), interval[0], 0.0]);
            let mut limits: Vec<f64> = limits.collect();
            limits.sort_by(|a, b| b.total_cmp(a));
            let below: Vec<usize> =
                limits.iter().map(|limit| place(&Bound::Below(*limit).state_of(Some(interval)))).collect();
            let at_least: Vec<usize> =
                limits.iter().rev().map(|limit| place(&Bound::AtLeast(*limit).state_of(Some(interval)))).collect();
            for places in [below, at_least] {
                prop_assert_eq!((places[0], places[places.len() - 1]), (0, 2));
                prop_assert!(places.windows(2).all(|pair| pair[0] <= pair[1] && pair[1] - pair[0] <= 1), "{:?}", places);
            }
        }

        #[test]
        fn without_an_interval_nothing_is_shown(limit in 0.0_f64..1e9) {
            prop_assert_eq!(Bound::Below(limit).state_of(None), NeedState::NotShown);
            prop_assert_eq!(Bound::AtLeast(limit).state_of(None), NeedState::NotShown);
        }
    }

    #[test]
    fn a_limit_itself_is_reached_and_not_undercut() {
        assert_eq!(Bound::Below(2.0).state_of(Some([2.0, 2.0])), NeedState::NotMet);
        assert_eq!(Bound::Below(2.0).state_of(Some([1.0, 2.0])), NeedState::NotShown);
        assert_eq!(Bound::AtLeast(2.0).state_of(Some([2.0, 3.0])), NeedState::Met);
    }
}
