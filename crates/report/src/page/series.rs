//! The 1 Hz telemetry of a run, thinned to what a screen can show.

use std::collections::BTreeMap;

use jiff::Timestamp;
use jsonathlon_telemetry::series::Sample;
use serde::Serialize;

use super::number::Number;
use super::string_table::StringTable;

/// Maximum number of points of a series: about as many as a wide screen has dots.
const POINTS: usize = 2_000;

/// Telemetry of the machine and the system under test, column by column. Each value is the mean of
/// `samples_per_point` samples.
#[derive(Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(super) struct Series {
    /// Number of samples that one point stands for.
    samples_per_point: usize,
    /// Seconds since the start of the run.
    elapsed_s: Vec<Number>,
    /// Index of the text that describes the current activity. `None` if no engine was running.
    activity: Vec<Option<usize>>,
    /// Columns as long as `elapsed_s`; names end in their unit, such as `busy_cores` or `disk_latency_ms`.
    values: BTreeMap<&'static str, Vec<Option<Number>>>,
}

/// Name of a value, and the function that reads it from a sample.
type Column = (&'static str, fn(&Sample) -> Option<f64>);

const COLUMNS: [Column; 14] = [
    ("busy_cores", |sample| Some(sample.machine.busy_cores)),
    ("waiting_cores", |sample| Some(sample.machine.waiting_cores)),
    ("stolen_cores", |sample| Some(sample.machine.stolen_cores)),
    ("runnable", |sample| Some(sample.machine.runnable as f64)),
    ("context_switches_per_s", |sample| Some(sample.machine.context_switches_per_s)),
    ("megahertz", |sample| sample.machine.megahertz),
    ("disk_busy_share", |sample| Some(sample.machine.disk?.busy_share)),
    ("disk_latency_ms", |sample| sample.machine.disk?.latency_ms),
    ("disk_read_bytes_per_s", |sample| Some(sample.machine.disk?.read_bytes_per_s)),
    ("disk_written_bytes_per_s", |sample| Some(sample.machine.disk?.written_bytes_per_s)),
    ("subject_busy_cores", |sample| sample.subject.as_ref()?.busy_cores),
    ("subject_pss_bytes", |sample| Some(sample.subject.as_ref()?.memory?.pss_bytes as f64)),
    ("subject_read_bytes_per_s", |sample| sample.subject.as_ref()?.read_bytes_per_s),
    ("subject_written_bytes_per_s", |sample| sample.subject.as_ref()?.written_bytes_per_s),
];

impl Series {
    /// Telemetry of a run that began at `started`; `None` if there is no sample.
    pub(super) fn new(samples: &[Sample], started: &str, texts: &mut StringTable) -> Option<Self> {
        let first = samples.first()?;
        let began_ms = started
            .parse::<Timestamp>()
            .map_or(first.at_ms as f64 - first.seconds * 1e3, |time| time.as_millisecond() as f64);
        let samples_per_point = samples.len().div_ceil(POINTS);
        let mut series = Self {
            samples_per_point,
            elapsed_s: Vec::new(),
            activity: Vec::new(),
            values: COLUMNS.iter().map(|(name, _)| (*name, Vec::new())).collect(),
        };
        for point in samples.chunks(samples_per_point) {
            let Some(last) = point.last() else { continue };
            series.elapsed_s.push(Number((last.at_ms as f64 - began_ms) / 1e3));
            let subject = point.iter().find_map(|sample| sample.subject.as_ref());
            series.activity.push(subject.map(|subject| texts.index(&subject.activity)));
            for (name, read) in COLUMNS {
                let values: Vec<f64> = point.iter().filter_map(read).collect();
                let mean = (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64);
                series.values.entry(name).or_default().push(mean.map(Number));
            }
        }
        // A column without values is dropped, such as the frequency if the kernel does not report it.
        series.values.retain(|_, column| column.iter().any(Option::is_some));
        Some(series)
    }
}
