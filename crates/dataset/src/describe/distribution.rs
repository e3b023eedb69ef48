//! Distribution of a measure of documents, such as their size, in bounded memory.

use hdrhistogram::Histogram;
use serde::{Deserialize, Serialize};

use super::tokens::Token;

/// Significant decimal digits of the quantiles.
const DIGITS: u8 = 3;

/// Distribution of a whole number over all documents.
///
/// Quantiles have three significant digits, and are exact below 2,048. Everything else is exact.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Distribution {
    /// Smallest value of all.
    pub min: u64,
    /// Arithmetic mean of the values.
    pub mean: f64,
    /// Value that half of the documents do not exceed.
    pub median: u64,
    /// Value that 95 % of the documents do not exceed.
    pub p95: u64,
    /// Value that 99 % of the documents do not exceed.
    pub p99: u64,
    /// Largest value of all.
    pub max: u64,
    /// Sum of the values.
    pub total: u64,
}

/// A distribution under construction.
#[derive(Debug)]
pub(super) struct DistributionTally {
    histogram: Histogram<u64>,
    min: u64,
    max: u64,
    total: u64,
}

impl DistributionTally {
    pub(super) fn new() -> Self {
        match Histogram::new(DIGITS) {
            Ok(histogram) => DistributionTally { histogram, min: u64::MAX, max: 0, total: 0 },
            Err(error) => unreachable!("the number of digits is a constant: {error:?}"),
        }
    }

    pub(super) fn add(&mut self, value: u64) {
        // Recording fails only if the buckets would exceed the address space.
        if self.histogram.record(value).is_err() {
            self.histogram.saturating_record(value);
        }
        self.min = self.min.min(value);
        self.max = self.max.max(value);
        self.total += value;
    }

    /// Returns the distribution. `None` if it has no values.
    pub(super) fn finish(&self) -> Option<Distribution> {
        let count = self.histogram.len();
        // The histogram returns the end of a value's bucket, which may lie beyond the largest value.
        let quantile = |share: f64| self.histogram.value_at_quantile(share).clamp(self.min, self.max);
        (count > 0).then(|| Distribution {
            min: self.min,
            mean: self.total as f64 / count as f64,
            median: quantile(0.5),
            p95: quantile(0.95),
            p99: quantile(0.99),
            max: self.max,
            total: self.total,
        })
    }
}

/// Depth and number of keys of one document.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Outline {
    open: u64,
    /// Number of nested arrays and objects at the deepest point.
    pub(super) depth: u64,
    /// Number of members of all objects.
    pub(super) keys: u64,
}

impl Outline {
    pub(super) fn token(&mut self, token: &Token<'_>) {
        match token {
            Token::ObjectStart | Token::ArrayStart => {
                self.open += 1;
                self.depth = self.depth.max(self.open);
            }
            Token::End => self.open = self.open.saturating_sub(1),
            Token::Key(_) => self.keys += 1,
            Token::String(_) | Token::Number(_) | Token::Literal => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::tokens::Tokens;
    use super::*;

    fn distribution(values: impl IntoIterator<Item = u64>) -> Option<Distribution> {
        let mut tally = DistributionTally::new();
        values.into_iter().for_each(|value| tally.add(value));
        tally.finish()
    }

    #[test]
    fn quantiles_are_values_that_so_many_documents_do_not_exceed() {
        assert_eq!(distribution([]), None);
        let found = distribution(1..=1000).unwrap();
        assert_eq!((found.min, found.median, found.p95, found.p99, found.max), (1, 500, 950, 990, 1000));
        assert_eq!((found.mean, found.total), (500.5, 500_500));
        let single = distribution([123_456_789]).unwrap();
        assert_eq!(
            (single.min, single.median, single.p99, single.max),
            (123_456_789, 123_456_789, 123_456_789, 123_456_789)
        );
        assert_eq!(distribution([0]).unwrap().p99, 0);
    }

    #[test]
    fn depth_and_keys_are_those_of_the_whole_document() {
        let outline = |text: &str| {
            let mut outline = Outline::default();
            Tokens::new(text.as_bytes()).for_each(|token| outline.token(&token));
            (outline.depth, outline.keys)
        };
        assert_eq!(outline("7"), (0, 0));
        assert_eq!(outline("{}"), (1, 0));
        assert_eq!(outline(r#"{"a":[{"b":1},{"c":[]}],"d":{"e":1}}"#), (4, 5));
        let deep = format!("{}1{}", "{\"a\":".repeat(500), "}".repeat(500));
        assert_eq!(outline(&deep), (500, 500));
    }

    proptest! {
        #[test]
        fn quantiles_are_right_to_three_digits(mut values in prop::collection::vec(0..1_u64 << 34, 1..300)) {
            let found = distribution(values.iter().copied()).unwrap();
            values.sort_unstable();
            for (quantile, share) in [(found.median, 0.5), (found.p95, 0.95), (found.p99, 0.99)] {
                let rank = (share * values.len() as f64).ceil() as usize;
                let exact = values[rank.max(1) - 1];
                prop_assert!(quantile.abs_diff(exact) as f64 <= 0.001 * exact as f64, "{} {}", quantile, exact);
            }
        }
    }
}
