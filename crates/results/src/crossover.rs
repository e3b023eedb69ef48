//! Finds the sizes at which two series cross, that is, where their ratio is 1, with intervals.

use jsonathlon_stats::statistics::Estimate;

/// Ratio of two series at one size.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Point {
    /// Size at which both series were measured.
    pub size: f64,
    /// Value of the first series ÷ value of the second.
    pub ratio: Estimate,
}

/// Size at which two series cross.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Crossover {
    /// Estimated size of the crossing.
    pub size: f64,
    /// Lower limit of the size's interval. `None` if it is below all measured sizes.
    pub low: Option<f64>,
    /// Upper limit of the size's interval. `None` if it is above all measured sizes.
    pub high: Option<f64>,
    /// Whether the first series is the smaller one below the crossing.
    pub first_is_less_below: bool,
}

/// Sizes at which the ratio crosses 1, ascending. `points` must be sorted by size.
///
/// Between two measured sizes, the ratio and its limits are interpolated linearly on the logarithms of both
/// axes. The interval contains every size around the crossing at which the limits enclose 1.
#[must_use]
pub fn crossings(points: &[Point]) -> Vec<Crossover> {
    let logarithms: Vec<Logarithms> = points.iter().filter_map(Logarithms::from_point).collect();
    let mut crossovers = Vec::new();
    for (index, pair) in logarithms.windows(2).enumerate() {
        let [left, right] = pair else { continue };
        if (left.ratio < 0.0) == (right.ratio < 0.0) {
            continue;
        }
        crossovers.push(Crossover {
            size: zero_crossing(left, right, |point| point.ratio).exp(),
            low: limit(&logarithms, (0..=index).rev(), |index| index + 1),
            high: limit(&logarithms, index + 1..logarithms.len(), |index| index - 1),
            first_is_less_below: left.ratio < 0.0,
        });
    }
    crossovers
}

/// Searches `indices` in order for the first point whose limits are both above or both below 1. Returns the
/// size, between that point and the `previous` one, at which the nearer limit is 1.
fn limit(
    points: &[Logarithms],
    indices: impl Iterator<Item = usize>,
    previous: impl Fn(usize) -> usize,
) -> Option<f64> {
    for index in indices {
        let (outer, inner) = (points.get(index)?, points.get(previous(index))?);
        if outer.low > 0.0 {
            return Some(zero_crossing(outer, inner, |point| point.low).exp());
        }
        if outer.high < 0.0 {
            return Some(zero_crossing(outer, inner, |point| point.high).exp());
        }
    }
    None
}

struct Logarithms {
    size: f64,
    ratio: f64,
    low: f64,
    high: f64,
}

impl Logarithms {
    /// Missing limits are replaced by ±∞. `None` if size or ratio has no finite logarithm.
    fn from_point(point: &Point) -> Option<Self> {
        let logarithm = |limit: Option<f64>, missing: f64| limit.map_or(missing, f64::ln);
        let logarithms = Self {
            size: point.size.ln(),
            ratio: point.ratio.median.ln(),
            low: logarithm(point.ratio.low, f64::NEG_INFINITY),
            high: logarithm(point.ratio.high, f64::INFINITY),
        };
        (logarithms.size.is_finite() && logarithms.ratio.is_finite()).then_some(logarithms)
    }
}

/// Position between two points at which the line through their values is zero.
fn zero_crossing(first: &Logarithms, second: &Logarithms, value: impl Fn(&Logarithms) -> f64) -> f64 {
    let (from, to) = (value(first), value(second));
    // If the limit at the other point is unknown, the line is taken to reach zero immediately.
    let share = if to.is_finite() && from != to { from / (from - to) } else { 0.0 };
    first.size + (second.size - first.size) * share.clamp(0.0, 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn point(size: f64, median: f64, wide: f64) -> Point {
        let ratio = Estimate { median, low: Some(median / wide), high: Some(median * wide) };
        Point { size, ratio }
    }

    fn near(value: Option<f64>, expected: f64) -> bool {
        value.is_some_and(|value| (value / expected - 1.0).abs() < 1e-9)
    }

    #[test]
    fn lines_on_logarithms_cross_where_they_are_one() {
        // The ratio falls by 4 while the size grows by 16, so it is 1 halfway.
        let points = [point(16.0, 2.0, 1.1), point(256.0, 0.5, 1.1)];
        let [crossing] = crossings(&points)[..] else { panic!("one") };
        assert!(near(Some(crossing.size), 64.0) && !crossing.first_is_less_below, "{crossing:?}");
        // The lower limit is 1 where the ratio is 1.1, and so on.
        let exponent = 1.1_f64.ln() / 4.0_f64.ln();
        assert!(near(crossing.low, 64.0 / 16.0_f64.powf(exponent)), "{crossing:?}");
        assert!(near(crossing.high, 64.0 * 16.0_f64.powf(exponent)), "{crossing:?}");
    }

    #[test]
    fn an_interval_reaches_over_sizes_that_tell_nothing_apart() {
        let points =
            [point(1.0, 0.2, 1.1), point(4.0, 0.95, 1.2), point(16.0, 1.05, 1.2), point(64.0, 9.0, 1.1)];
        let [crossing] = crossings(&points)[..] else { panic!("one") };
        assert!(crossing.first_is_less_below && (4.0..16.0).contains(&crossing.size), "{crossing:?}");
        assert!(crossing.low.is_some_and(|low| (1.0..4.0).contains(&low)), "{crossing:?}");
        assert!(crossing.high.is_some_and(|high| (16.0..64.0).contains(&high)), "{crossing:?}");
        // There is no interval if the ends show no difference.
        let open = crossings(&[point(4.0, 0.95, 1.2), point(16.0, 1.05, 1.2)]);
        assert!(matches!(open[..], [Crossover { low: None, high: None, .. }]), "{open:?}");
        let unknown = Estimate { median: 2.0, low: None, high: None };
        let open = crossings(&[point(4.0, 0.5, 1.2), Point { size: 16.0, ratio: unknown }]);
        assert!(matches!(open[..], [Crossover { low: Some(_), high: None, .. }]), "{open:?}");
    }

    #[test]
    fn who_stays_ahead_crosses_nobody() {
        assert!(crossings(&[point(1.0, 2.0, 1.1), point(4.0, 3.0, 1.1)]).is_empty());
        assert!(crossings(&[point(1.0, 2.0, 1.1)]).is_empty());
        let twice = crossings(&[point(1.0, 2.0, 1.1), point(4.0, 0.5, 1.1), point(16.0, 2.0, 1.1)]);
        let first_is_less_below = twice.iter().map(|crossing| crossing.first_is_less_below);
        assert_eq!(first_is_less_below.collect::<Vec<_>>(), [false, true]);
    }
}
