//! Ranges of axes, and their ticks in steps of 1, 2 and 5.

/// Ratio to the nearest value up to which an interval widens a logarithmic range.
const REACH: f64 = 10.0;
/// Maximum number of ticks of an axis; more distract.
const TICKS: usize = 9;
/// Ratio of the largest to the smallest setting from which their axis is logarithmic.
pub(crate) const LOGARITHMIC: f64 = 20.0;

/// Values between the ends of an axis.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Range {
    pub(crate) low: f64,
    pub(crate) high: f64,
    pub(crate) is_logarithmic: bool,
}

impl Range {
    /// Logarithmic range around `values`, for times, rates and ratios. Limits of intervals widen it up to a
    /// point. `None` if no value is positive.
    pub(crate) fn around(values: &[f64], limits: &[f64]) -> Option<Self> {
        let positive = |values: &[f64]| -> Vec<f64> {
            values.iter().copied().filter(|value| *value > 0.0 && value.is_finite()).collect()
        };
        let values = positive(values);
        let least = values.iter().copied().reduce(f64::min)?;
        let most = values.iter().copied().reduce(f64::max)?;
        let limits: Vec<f64> =
            positive(limits).into_iter().map(|limit| limit.clamp(least / REACH, most * REACH)).collect();
        let low = limits.iter().copied().fold(least, f64::min);
        let high = limits.iter().copied().fold(most, f64::max);
        let edge = (high / low).powf(0.03).max(1.08);
        Some(with_two_steps(Self { low: low / edge, high: high * edge, is_logarithmic: true }))
    }

    /// Range from zero, for counts and bytes. `None` without a value.
    pub(crate) fn from_zero(values: &[f64], limits: &[f64]) -> Option<Self> {
        let most = values.iter().chain(limits).copied().filter(|value| value.is_finite()).reduce(f64::max)?;
        let high = if most > 0.0 { most * 1.04 } else { 1.0 };
        Some(Self { low: 0.0, high, is_logarithmic: false })
    }

    /// Range of the settings along a horizontal axis, with room at its ends. `None` without a setting.
    pub(crate) fn of_settings(settings: &[f64]) -> Option<Self> {
        let low = settings.iter().copied().reduce(f64::min)?;
        let high = settings.iter().copied().reduce(f64::max)?;
        if low > 0.0 && high / low >= LOGARITHMIC {
            let edge = (high / low).powf(0.04);
            return Some(Self { low: low / edge, high: high * edge, is_logarithmic: true });
        }
        let edge = ((high - low) * 0.04).max(f64::MIN_POSITIVE);
        Some(Self { low: low - edge, high: high + edge, is_logarithmic: false })
    }

    /// Share of the axis at which a value lies; values beyond the range lie at its ends.
    pub(crate) fn share(&self, value: f64) -> f64 {
        let transform =
            |value: f64| if self.is_logarithmic { value.max(f64::MIN_POSITIVE).ln() } else { value };
        let range = transform(self.high) - transform(self.low);
        if range > 0.0 { ((transform(value) - transform(self.low)) / range).clamp(0.0, 1.0) } else { 0.5 }
    }

    /// Ticks of the axis: the densest of several sets of steps of which `fits` returns `true`.
    pub(crate) fn ticks(&self, fits: impl Fn(&[f64]) -> bool) -> Vec<f64> {
        let sets = if self.is_logarithmic { self.logarithmic_steps() } else { self.linear_steps() };
        let fitting = |least: usize| {
            sets.iter().find(|ticks| (least..=TICKS).contains(&ticks.len()) && fits(ticks.as_slice()))
        };
        fitting(2).or_else(|| fitting(1)).cloned().unwrap_or_default()
    }

    fn logarithmic_steps(&self) -> Vec<Vec<f64>> {
        let powers = steps(self.low, self.high, &[1.0]);
        let every = |distance: usize| powers.iter().copied().step_by(distance).collect::<Vec<_>>();
        vec![
            steps(self.low, self.high, &[1.0, 2.0, 5.0]),
            steps(self.low, self.high, &[1.0, 5.0]),
            every(1),
            every(2),
            every(3),
            every(5),
        ]
    }

    fn linear_steps(&self) -> Vec<Vec<f64>> {
        let multiples_for = |count: f64| {
            let step = linear_step((self.high - self.low) / count);
            let first = (self.low / step - 1e-9).ceil();
            let multiples = (0..=TICKS + 1).map(|index| (first + index as f64) * step);
            multiples.take_while(|value| *value <= self.high * (1.0 + 1e-9)).collect::<Vec<_>>()
        };
        [8.0, 5.0, 4.0, 3.0, 2.0, 1.0].into_iter().map(multiples_for).collect()
    }
}

/// The smallest of 1, 2 and 5 times a power of ten that is at least `minimum`.
fn linear_step(minimum: f64) -> f64 {
    let power = 10_f64.powf(minimum.log10().floor());
    let factor = [1.0, 2.0, 5.0].into_iter().find(|factor| factor * power >= minimum * 0.999).unwrap_or(10.0);
    factor * power
}

/// Multiples of powers of ten by `parts`, from `low` to `high`, ascending.
fn steps(low: f64, high: f64, parts: &[f64]) -> Vec<f64> {
    let (first, last) = (low.log10().floor() as i32, high.log10().ceil() as i32);
    let all = (first..=last).flat_map(|power| parts.iter().map(move |part| part * 10_f64.powi(power)));
    all.filter(|value| *value >= low * 0.999 && *value <= high * 1.001).collect()
}

/// Widens a logarithmic range until it contains two steps, so that its axis has two ticks at least.
fn with_two_steps(mut range: Range) -> Range {
    let all = |low: f64, high: f64| steps(low, high, &[1.0, 2.0, 5.0]);
    while all(range.low, range.high).len() < 2 {
        let below = all(range.low / 10.0, range.low * 0.998).last().copied().unwrap_or(range.low / 2.0);
        let above = all(range.high * 1.002, range.high * 10.0).first().copied().unwrap_or(range.high * 2.0);
        if range.low / below < above / range.high {
            range.low = below * 0.98;
        } else {
            range.high = above * 1.02;
        }
    }
    range
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_steps_of_one_two_and_five_and_there_are_two_at_least() {
        for values in [[1.0, 1.0], [1.2, 1.8], [3e-6, 4e3], [900.0, 11_000.0]] {
            let range = Range::around(&values, &[]).unwrap();
            assert!(range.low < values[0] && range.high > values[1], "{range:?}");
            let ticks = range.ticks(|_| true);
            assert!((2..=TICKS).contains(&ticks.len()), "{ticks:?}");
            for tick in ticks {
                let digit = tick / 10_f64.powf(tick.log10().floor());
                let is_step = [1.0, 2.0, 5.0, 10.0].iter().any(|step| (digit - step).abs() < 1e-6);
                assert!(is_step, "{tick}");
            }
        }
        let bytes = Range::from_zero(&[730.0, 12_345.0], &[]).unwrap();
        assert_eq!(bytes.ticks(|ticks| ticks.len() < 5), [0.0, 5000.0, 10_000.0]);
    }

    #[test]
    fn an_interval_that_spans_orders_of_magnitude_does_not_set_the_range() {
        let range = Range::around(&[10.0, 20.0], &[1e-6, 30.0]).unwrap();
        assert!(range.low > 0.5 && range.high < 60.0, "{range:?}");
        assert!(Range::around(&[0.0], &[]).is_none() && Range::from_zero(&[], &[]).is_none());
    }
}
