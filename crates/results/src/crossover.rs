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
    let all: Vec<Logarithms> = points.iter().filter_map(Logarithms::of).collect();
    let mut found = Vec::new();
    for (place, pair) in all.windows(2).enumerate() {
        let [left, right] = pair else { continue };
        if (left.ratio < 0.0) == (right.ratio < 0.0) {
            continue;
        }
        found.push(Crossover {
            size: zero(left, right, |at| at.ratio).exp(),
            low: limit(&all, (0..=place).rev(), |at| at + 1),
            high: limit(&all, place + 1..all.len(), |at| at - 1),
            first_is_less_below: left.ratio < 0.0,
        });
    }
    found
}

/// Searches `places` in order for the first one whose limits are both above or both below 1. Returns the
/// size, between that place and the one before it, at which the nearer limit is 1.
fn limit(
    all: &[Logarithms],
    places: impl Iterator<Item = usize>,
    before: impl Fn(usize) -> usize,
) -> Option<f64> {
    for place in places {
        let (here, inner) = (all.get(place)?, all.get(before(place))?);
        if here.low > 0.0 {
            return Some(zero(here, inner, |at| at.low).exp());
        }
        if here.high < 0.0 {
            return Some(zero(here, inner, |at| at.high).exp());
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
    fn of(point: &Point) -> Option<Self> {
        let limit = |limit: Option<f64>, otherwise: f64| limit.map_or(otherwise, f64::ln);
        let all = Self {
            size: point.size.ln(),
            ratio: point.ratio.median.ln(),
            low: limit(point.ratio.low, f64::NEG_INFINITY),
            high: limit(point.ratio.high, f64::INFINITY),
        };
        (all.size.is_finite() && all.ratio.is_finite()).then_some(all)
    }
}

/// Position between two points at which the line through their values is zero.
fn zero(one: &Logarithms, other: &Logarithms, value: impl Fn(&Logarithms) -> f64) -> f64 {
    let (from, to) = (value(one), value(other));
    // If the limit at the other point is unknown, the line is taken to reach zero immediately.
    let share = if to.is_finite() && from != to { from / (from - to) } else { 0.0 };
    one.size + (other.size - one.size) * share.clamp(0.0, 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn point(size: f64, median: f64, wide: f64) -> Point {
        let ratio = Estimate { median, low: Some(median / wide), high: Some(median * wide) };
        Point { size, ratio }
    }

    fn near(found: Option<f64>, expected: f64) -> bool {
        found.is_some_and(|found| (found / expected - 1.0).abs() < 1e-9)
    }

    #[test]
    fn lines_on_logarithms_cross_where_they_are_one() {
        // The ratio falls by 4 while the size grows by 16, so it is 1 halfway.
        let [one] = crossings(&[point(16.0, 2.0, 1.1), point(256.0, 0.5, 1.1)])[..] else { panic!("one") };
        assert!(near(Some(one.size), 64.0) && !one.first_is_less_below, "{one:?}");
        // The lower limit is 1 where the ratio is 1.1, and so on.
        let way = 1.1_f64.ln() / 4.0_f64.ln();
        assert!(near(one.low, 64.0 / 16.0_f64.powf(way)), "{one:?}");
        assert!(near(one.high, 64.0 * 16.0_f64.powf(way)), "{one:?}");
    }

    #[test]
    fn an_interval_reaches_over_sizes_that_tell_nothing_apart() {
        let points =
            [point(1.0, 0.2, 1.1), point(4.0, 0.95, 1.2), point(16.0, 1.05, 1.2), point(64.0, 9.0, 1.1)];
        let [one] = crossings(&points)[..] else { panic!("one") };
        assert!(one.first_is_less_below && (4.0..16.0).contains(&one.size), "{one:?}");
        assert!(one.low.is_some_and(|low| (1.0..4.0).contains(&low)), "{one:?}");
        assert!(one.high.is_some_and(|high| (16.0..64.0).contains(&high)), "{one:?}");
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
        assert_eq!(twice.iter().map(|one| one.first_is_less_below).collect::<Vec<_>>(), [false, true]);
    }
}
