//! Histograms of durations: nanoseconds with three digits, merged without loss.
//!
//! The text form is the compressed V2 serialization of HdrHistogram, as base64; a line of its interval log (version 1.3 of
//! that format) holds the same text.

use std::fmt::Write;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use hdrhistogram::serialization::{Deserializer, Serializer, V2DeflateSerializer};

/// Digits that a value keeps.
const DIGITS: u8 = 3;
/// What a histogram has room for from the beginning: an hour. It grows for what is above.
const USUAL_NS: u64 = 3_600_000_000_000;

/// A histogram of durations. Nothing is clamped: values above an hour are kept with the same digits, and counted.
#[derive(Debug, Clone, PartialEq)]
pub struct Histogram(hdrhistogram::Histogram<u64>);

/// Why a text is no histogram.
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
    /// One without values.
    #[must_use]
    pub fn new() -> Self {
        match hdrhistogram::Histogram::new_with_bounds(1, USUAL_NS, DIGITS) {
            Ok(mut made) => {
                made.auto(true);
                Self(made)
            }
            Err(error) => unreachable!("the bounds are constants: {error:?}"),
        }
    }

    /// Counts one duration.
    #[inline]
    pub fn record_ns(&mut self, nanoseconds: u64) {
        // It fails only where memory cannot be addressed.
        if self.0.record(nanoseconds).is_err() {
            self.0.saturating_record(nanoseconds);
        }
    }

    /// Counts one duration so many times.
    pub fn record_many_ns(&mut self, nanoseconds: u64, times: u64) {
        if self.0.record_n(nanoseconds, times).is_err() {
            self.0.saturating_record_n(nanoseconds, times);
        }
    }

    /// Adds all values of another.
    pub fn merge(&mut self, other: &Self) {
        if self.0.add(&other.0).is_err() {
            for value in other.0.iter_recorded() {
                self.record_many_ns(value.value_iterated_to(), value.count_at_value());
            }
        }
    }

    /// Values.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.0.len()
    }

    /// Values above an hour, by more than the digits tell apart.
    #[must_use]
    pub fn above(&self) -> u64 {
        let first = self.0.next_non_equivalent(USUAL_NS);
        if self.0.max() < first { 0 } else { self.0.count_between(first, self.0.max()) }
    }

    /// The value that so large a share of all values does not exceed, in microseconds; 1 gives the largest. Zero without
    /// values.
    #[must_use]
    pub fn quantile_us(&self, quantile: f64) -> f64 {
        if self.count() == 0 { 0.0 } else { self.0.value_at_quantile(quantile) as f64 / 1e3 }
    }

    /// The mean in microseconds; zero without values.
    #[must_use]
    pub fn mean_us(&self) -> f64 {
        if self.count() == 0 { 0.0 } else { self.0.mean() / 1e3 }
    }

    /// The values, each nanoseconds and how often, ascending.
    pub fn values_ns(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        self.0.iter_recorded().map(|value| (value.value_iterated_to(), value.count_at_value()))
    }

    /// The text form.
    #[must_use]
    pub fn to_text(&self) -> String {
        let mut bytes = Vec::new();
        match V2DeflateSerializer::new().serialize(&self.0, &mut bytes) {
            Ok(_) => BASE64_STANDARD.encode(bytes),
            Err(error) => unreachable!("a histogram is written to memory: {error:?}"),
        }
    }

    /// Reads the text form.
    ///
    /// # Errors
    /// When it is none, or one of fewer digits.
    pub fn from_text(text: &str) -> Result<Self, NotAHistogram> {
        let bytes = BASE64_STANDARD.decode(text).map_err(NotAHistogram::of)?;
        let mut read: hdrhistogram::Histogram<u64> =
            Deserializer::new().deserialize(&mut bytes.as_slice()).map_err(NotAHistogram::of)?;
        if read.sigfig() != DIGITS || read.low() != 1 {
            return Err(NotAHistogram(format!(
                "it has {} digits from {} on, not {DIGITS} from 1 on",
                read.sigfig(),
                read.low()
            )));
        }
        read.auto(true);
        // What was read knows its range only as far as it was written: one of our own adds it in.
        let mut histogram = Self::new();
        histogram.merge(&Self(read));
        Ok(histogram)
    }

    /// A line of an interval log for `seconds` that began `start_s` after the log's base time. Its largest value stands
    /// in milliseconds there.
    #[must_use]
    pub fn interval_line(&self, tag: &str, start_s: f64, seconds: f64) -> String {
        let longest_ms = self.quantile_us(1.0) / 1e3;
        let mut line = String::new();
        if !tag.is_empty() {
            // Writing to a text does not fail.
            write!(line, "Tag={tag},").ok();
        }
        write!(line, "{start_s:.3},{seconds:.3},{longest_ms:.3},{}", self.to_text()).ok();
        line
    }
}

/// The first lines of an interval log whose base time is this one, seconds since 1970.
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
