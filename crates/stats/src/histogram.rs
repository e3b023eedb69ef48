//! Histograms of durations in nanoseconds with three significant digits, which merge without loss.
//!
//! The text form is HdrHistogram's compressed V2 serialization in base64. A line of its interval log (format
//! version 1.3) contains the same text.

use std::fmt::Write;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use hdrhistogram::serialization::{Deserializer, Serializer, V2DeflateSerializer};

/// Significant decimal digits that a value keeps.
const DIGITS: u8 = 3;
/// Initial range of a histogram: one hour. The range grows for longer durations.
const USUAL_NS: u64 = 3_600_000_000_000;

/// A histogram of durations. Nothing is clamped: durations above an hour are counted with the same precision.
#[derive(Debug, Clone, PartialEq)]
pub struct Histogram(hdrhistogram::Histogram<u64>);

/// Why a text could not be read as a histogram.
#[derive(Debug, thiserror::Error)]
#[error("not a histogram: {0}")]
pub struct NotAHistogram(String);

impl NotAHistogram {
    fn of(error: impl std::fmt::Debug) -> Self {
        Self(format!("{error:?}"))
    }
}

impl Default for Histogram {
    fn default() -> Self {
        Self::new()
    }
}

impl Histogram {
    /// Makes a histogram without values.
    #[must_use]
    pub fn new() -> Self {
        match hdrhistogram::Histogram::new_with_bounds(1, USUAL_NS, DIGITS) {
            Ok(mut histogram) => {
                histogram.auto(true);
                Self(histogram)
            }
            Err(error) => unreachable!("the bounds are constants: {error:?}"),
        }
    }

    /// Counts one duration, in nanoseconds.
    #[inline]
    pub fn record_ns(&mut self, nanoseconds: u64) {
        // Recording fails only if the bucket array would exceed the address space.
        if self.0.record(nanoseconds).is_err() {
            self.0.saturating_record(nanoseconds);
        }
    }

    /// Counts a duration `times` times.
    pub fn record_many_ns(&mut self, nanoseconds: u64, times: u64) {
        if self.0.record_n(nanoseconds, times).is_err() {
            self.0.saturating_record_n(nanoseconds, times);
        }
    }

    /// Adds all values of `other` without loss.
    pub fn merge(&mut self, other: &Self) {
        if self.0.add(&other.0).is_err() {
            for value in other.0.iter_recorded() {
                self.record_many_ns(value.value_iterated_to(), value.count_at_value());
            }
        }
    }

    /// Number of durations counted so far.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.0.len()
    }

    /// Number of durations above one hour, by more than the precision of the histogram.
    #[must_use]
    pub fn count_above_hour(&self) -> u64 {
        let first = self.0.next_non_equivalent(USUAL_NS);
        if self.0.max() < first { 0 } else { self.0.count_between(first, self.0.max()) }
    }

    /// Smallest duration in microseconds that a share `quantile` of all values does not exceed; 1 gives the
    /// largest. Zero if the histogram is empty.
    #[must_use]
    pub fn quantile_us(&self, quantile: f64) -> f64 {
        if self.count() == 0 { 0.0 } else { self.0.value_at_quantile(quantile) as f64 / 1e3 }
    }

    /// Mean duration in microseconds; zero if the histogram is empty.
    #[must_use]
    pub fn mean_us(&self) -> f64 {
        if self.count() == 0 { 0.0 } else { self.0.mean() / 1e3 }
    }

    /// The recorded durations in nanoseconds with their counts, ascending.
    pub fn values_ns(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        self.0.iter_recorded().map(|value| (value.value_iterated_to(), value.count_at_value()))
    }

    /// Serializes to the text form that [`Histogram::from_text`] reads.
    #[must_use]
    pub fn to_text(&self) -> String {
        let mut bytes = Vec::new();
        match V2DeflateSerializer::new().serialize(&self.0, &mut bytes) {
            Ok(_) => BASE64_STANDARD.encode(bytes),
            Err(error) => unreachable!("a histogram is written to memory: {error:?}"),
        }
    }

    /// Parses the text form that [`Histogram::to_text`] writes.
    ///
    /// # Errors
    /// If the text is not a serialized histogram, or has another precision or lowest value.
    pub fn from_text(text: &str) -> Result<Self, NotAHistogram> {
        let bytes = BASE64_STANDARD.decode(text).map_err(NotAHistogram::of)?;
        let mut decoded: hdrhistogram::Histogram<u64> =
            Deserializer::new().deserialize(&mut bytes.as_slice()).map_err(NotAHistogram::of)?;
        if decoded.sigfig() != DIGITS || decoded.low() != 1 {
            return Err(NotAHistogram(format!(
                "it has {} digits from {} on, not {DIGITS} from 1 on",
                decoded.sigfig(),
                decoded.low()
            )));
        }
        decoded.auto(true);
        // The deserialized range ends where values end, so the values are merged into a histogram of the
        // usual range.
        let mut histogram = Self::new();
        histogram.merge(&Self(decoded));
        Ok(histogram)
    }

    /// Formats a line of an interval log for the interval of `seconds` that started `start_s` after the log's
    /// base time. The column of the largest value is in milliseconds.
    #[must_use]
    pub fn interval_line(&self, tag: &str, start_s: f64, seconds: f64) -> String {
        let longest_ms = self.quantile_us(1.0) / 1e3;
        let mut line = String::new();
        if !tag.is_empty() {
            // Writing to a `String` cannot fail.
            write!(line, "Tag={tag},").ok();
        }
        write!(line, "{start_s:.3},{seconds:.3},{longest_ms:.3},{}", self.to_text()).ok();
        line
    }
}

/// First lines of an interval log whose base time is `base_s` seconds since the Unix epoch.
#[must_use]
pub fn interval_log_head(base_s: f64) -> String {
    format!(
        "#[Histogram log format version 1.3]\n#[BaseTime: {base_s:.3} (seconds since epoch)]\n\
         \"StartTimestamp\",\"Interval_Length\",\"Interval_Max\",\"Interval_Compressed_Histogram\"\n"
    )
}

#[cfg(test)]
#[path = "histogram_tests.rs"]
mod tests;
