//! Reduces the values of a cell's trials to one value of the cell.

use jsonathlon_schema::metric::{MetricDef, Reduction};
use jsonathlon_stats::statistics::median;

/// Reduces the values of a metric as registered, or to the median if the metric is not registered.
#[must_use]
pub fn reduce(name: &str, values: &[f64]) -> Option<f64> {
    reduce_by(MetricDef::find(name).map_or(Reduction::Median, |metric| metric.reduction), values)
}

/// Reduces the values to one. A single value is returned as it is. `None` if there is no value, or if several
/// cannot be combined.
fn reduce_by(reduction: Reduction, values: &[f64]) -> Option<f64> {
    match (reduction, values) {
        (_, [value]) => Some(*value),
        (Reduction::Median, _) => median(values),
        (Reduction::Maximum, _) => values.iter().copied().reduce(f64::max),
        (Reduction::Sum, _) => (!values.is_empty()).then(|| values.iter().sum()),
        (Reduction::MergedHistogram | Reduction::None, _) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trials_are_reduced_as_registered() {
        let values = [1.0, 5.0, 3.0];
        assert_eq!(reduce("seconds", &values), Some(3.0));
        assert_eq!(reduce("peak_pss_bytes", &values), Some(5.0));
        assert_eq!(reduce("relative_error", &values), Some(5.0));
        assert_eq!(reduce("documents_per_s", &values), Some(3.0), "a rate is no peak");
        // A system's folder defines this metric; the word "peak" in its name has no effect.
        assert_eq!(reduce("peak_of_somebody_else", &values), Some(3.0));
        assert_eq!(reduce_by(Reduction::Sum, &values), Some(9.0));
        assert_eq!(reduce_by(Reduction::Sum, &[]), None);
        // Several quantiles have no median.
        assert_eq!(reduce_by(Reduction::MergedHistogram, &values), None);
        assert_eq!(reduce_by(Reduction::MergedHistogram, &[7.0]), Some(7.0));
        assert_eq!(reduce_by(Reduction::None, &values), None);
        assert_eq!(reduce_by(Reduction::None, &[7.0]), Some(7.0));
    }
}
