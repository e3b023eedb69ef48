//! What becomes of questions beside writers, as three factors of different kind.

/// Rates of questions in the phases of one round, in one unit and with growth taken out.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PhaseRates {
    /// Streams alone, before the writers.
    pub still: f64,
    /// Streams beside writers at work.
    pub both: f64,
    /// Streams alone again, on what the writers have left behind.
    pub left: f64,
    /// Streams alone, after the system has done its background work.
    pub drained: f64,
}

/// Ratios between the phases of one round. They are paired: all phases of a round share the state of the
/// machine. Intervals are those of `statistics` over rounds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PhaseFactors {
    /// both ÷ left: what writers cost while they work, on equally disordered data.
    pub interference: f64,
    /// left ÷ drained: what they leave undone, until the system has caught up.
    pub debt: f64,
    /// drained ÷ still: what stays of them, because data that came in small parts are laid out differently.
    pub disorder: f64,
}

impl PhaseRates {
    /// The factors of this round. `None` unless all rates are finite and above 0.
    #[must_use]
    pub fn factors(self) -> Option<PhaseFactors> {
        let Self { still, both, left, drained } = self;
        let is_measured = [still, both, left, drained].iter().all(|rate| rate.is_finite() && *rate > 0.0);
        is_measured.then(|| PhaseFactors {
            interference: both / left,
            debt: left / drained,
            disorder: drained / still,
        })
    }
}

impl PhaseFactors {
    /// Product of all three: both ÷ still, all that has changed for questions.
    #[must_use]
    pub fn product(self) -> f64 {
        self.interference * self.debt * self.disorder
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Questions per second as tried on two kinds of systems; for the second, draining changed nothing.
    #[test]
    fn factors_tell_kinds_of_loss_apart() {
        // A column store: small parts, no interference.
        let parts = PhaseRates { still: 120.0, both: 50.0, left: 49.0, drained: 69.0 }.factors().unwrap();
        assert!(parts.interference > 1.0 && parts.debt < 0.75 && parts.disorder < 0.6);
        // Row versions are looked up in the table while there are writers.
        let versions = PhaseRates { still: 14.0, both: 6.0, left: 11.0, drained: 11.0 }.factors().unwrap();
        assert!(versions.interference < 0.6 && versions.debt == 1.0 && versions.disorder > 0.75);
        assert!((parts.product() - 50.0 / 120.0).abs() < 1e-12);
    }

    #[test]
    fn a_phase_without_questions_has_no_factors() {
        let rates = PhaseRates { still: 14.0, both: 6.0, left: 11.0, drained: 11.0 };
        assert_eq!(PhaseRates { drained: 0.0, ..rates }.factors(), None);
        assert_eq!(PhaseRates { left: f64::NAN, ..rates }.factors(), None);
        assert_eq!(PhaseRates { still: f64::INFINITY, ..rates }.factors(), None);
    }
}
