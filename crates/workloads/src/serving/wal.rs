//! Measures how many bytes a system writes to its WAL, from its own counters or the growth of its WAL files.
//! Readings are taken while no client is active.

use std::{collections::BTreeMap, time::Duration};

use jsonathlon_catalogue::ServingSetup;
use jsonathlon_loadgen::job::Job;
use jsonathlon_schema::{
    record::{FailureKind, Metrics},
    value::Value,
};
use jsonathlon_telemetry::page_cache;
use jsonathlon_worker::protocol::{Op, RowByName};

use super::{
    ServingTarget,
    encoding::{self, number},
    outcome::{ServingResults, WalBytes},
};
use crate::{
    recorder::TrialRecorder,
    run_context::{LOOKUP_TIMEOUT, TABLE},
    session::{Session, TrialError},
};

/// Maximum size in bytes of a WAL range that is analysed: reading it takes seconds between two trials.
const MAX_ANALYSED_BYTES: f64 = 2e9;
/// Maximum duration in seconds of the measurement of an idle system's WAL.
pub(super) const MAX_IDLE_S: f64 = 2.0;
/// Columns with the bytes written to the WAL and to a separate replication log.
const BYTE_COLUMNS: [&str; 2] = ["wal_bytes", "replication_bytes"];
/// Prefix of columns that change if a log is rotated or a counter is reset. Two readings can be subtracted
/// only if these columns are equal.
const UNCHANGED_PREFIX: &str = "unless_";
/// Prefix of columns with further counters. Their growth during a trial becomes a metric, named without the
/// prefix.
const COUNTER_PREFIX: &str = "count_";
/// Column with the current position in the WAL.
const POSITION_COLUMN: &str = "wal_position";

/// WAL counters at one moment.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct WalReading {
    /// Total number of bytes written to the WAL and a separate replication log so far.
    bytes: f64,
    /// Columns that must be equal in two readings, see [`UNCHANGED_PREFIX`].
    unchanged: BTreeMap<String, Value>,
    /// Further counters by metric name, see [`COUNTER_PREFIX`].
    counters: BTreeMap<String, f64>,
    /// Position in the WAL as reported by the system; `None` if not reported.
    position: Option<String>,
}

impl WalReading {
    /// Bytes written since an earlier reading. `None` if the readings cannot be subtracted.
    pub(super) fn bytes_since(&self, earlier: &Self) -> Option<f64> {
        (self.unchanged == earlier.unchanged).then(|| (self.bytes - earlier.bytes).max(0.0))
    }

    /// Growth of the further counters since an earlier reading, by metric name.
    pub(super) fn counter_growth_since(&self, earlier: &Self) -> BTreeMap<String, f64> {
        let growth =
            |(name, count): (&String, &f64)| Some((name.clone(), count - earlier.counters.get(name)?));
        self.counters.iter().filter_map(growth).collect()
    }

    /// Converts the row that the statement `wal` returns. `None` if it has none of [`BYTE_COLUMNS`].
    fn from_row(row: RowByName) -> Option<Self> {
        let bytes: Vec<f64> = BYTE_COLUMNS.iter().filter_map(|name| number(row.get(*name)?)).collect();
        let position = match row.get(POSITION_COLUMN) {
            Some(Value::Text(text)) => Some(text.clone()),
            _ => None,
        };
        let counter = |(name, value): (&String, &Value)| {
            Some((name.strip_prefix(COUNTER_PREFIX)?.to_owned(), number(value)?))
        };
        let counters = row.iter().filter_map(counter).collect();
        let unchanged = row.into_iter().filter(|(name, _)| name.starts_with(UNCHANGED_PREFIX)).collect();
        (!bytes.is_empty()).then(|| Self { bytes: bytes.iter().sum(), unchanged, counters, position })
    }
}

/// What a system wrote to its WAL during a trial; empty if unknown.
#[derive(Debug, Default)]
pub(super) struct WalUsage {
    /// Growth of the further counters, and the contents of the WAL per operation, by metric name.
    pub(super) metrics: Metrics,
    /// WAL bytes of the trial; `None` if unknown.
    pub(super) wal_bytes: Option<WalBytes>,
}

/// Reads the current counters, or the size of the WAL files if the system's folder has no statement
/// `wal`. `None` if there is neither, or if these files are on a remote server.
pub(super) fn read_counters(
    session: &mut Session<'_>,
    serving: &ServingSetup,
) -> Result<Option<WalReading>, TrialError> {
    let statements = session.statements("wal", &[("table", TABLE)])?;
    if let Some((query, preparation)) = statements.split_last() {
        if !preparation.is_empty() {
            session.run(preparation.to_vec(), LOOKUP_TIMEOUT)?;
        }
        let op = Op::Sizes { statement: query.clone() };
        let row: RowByName = session.request(&op, LOOKUP_TIMEOUT, &mut |_| {})?;
        return WalReading::from_row(row).map(Some).ok_or_else(|| {
            let error = format!("the statement `wal` returned no column {}", BYTE_COLUMNS.join(" or "));
            TrialError::failed(FailureKind::Protocol, error)
        });
    }
    if serving.wal_files.is_empty() || session.is_remote() {
        return Ok(None);
    }
    let bytes = page_cache::allocated_bytes_of(session.folder(), &serving.wal_files).map_err(|error| {
        TrialError::failed(FailureKind::Environment, format!("failed to measure the WAL: {error}"))
    })?;
    Ok(Some(WalReading {
        bytes: bytes as f64,
        unchanged: BTreeMap::new(),
        counters: BTreeMap::new(),
        position: None,
    }))
}

/// Reads the counters after a trial of `job` and returns their growth since `before`. Fails if the job has a
/// fixed number of operations and the WAL cannot be analysed.
pub(super) fn measure_usage(
    before: &WalReading,
    job: &Job,
    outcome: &ServingResults,
    target: &mut ServingTarget<'_>,
    recorder: &mut TrialRecorder<'_>,
) -> Result<WalUsage, TrialError> {
    let Some(after) = read_counters(&mut target.state.session, &target.setup)? else {
        return Ok(WalUsage::default());
    };
    let has_fixed_operations = job.stop.operations().is_some();
    let mut metrics = after.counter_growth_since(before);
    let total_s = job.ramp_s + outcome.measured_s();
    // The readings include the warm-up, whose WAL bytes are deducted in proportion to time.
    let measured_share = outcome.measured_s() / total_s.max(1e-9);
    let idle_bytes = target.idle_wal_bytes_per_s.unwrap_or_default() * outcome.measured_s();
    let wal_bytes = after.bytes_since(before).map(|bytes| WalBytes {
        written: bytes * measured_share,
        idle: if has_fixed_operations { 0.0 } else { idle_bytes },
    });
    let contents = match TrialError::split_fatal(analyse(&mut target.state.session, before, &after))? {
        Ok(contents) => contents,
        Err(failure) if has_fixed_operations => return Err(failure.into()),
        // Systems remove WAL that they no longer need, so the beginning of a long trial's WAL may be gone.
        Err(failure) => {
            recorder.warn(&format!(
                "{} {}: failed to analyse the WAL: {}",
                target.state.cells.target.file_name(),
                job.mix.name,
                failure.error
            ));
            BTreeMap::new()
        }
    };
    let operations = outcome.operations().max(1) as f64;
    let per_op = |(name, sum): (String, f64)| (format!("{name}_per_op"), sum * measured_share / operations);
    metrics.extend(contents.into_iter().map(per_op));
    Ok(WalUsage { metrics, wal_bytes })
}

/// Analyses the contents of the WAL between two readings and returns sums by metric name. Empty if the
/// system's folder has no statement `wal_detail`, or the range is unknown or larger than
/// [`MAX_ANALYSED_BYTES`].
fn analyse(
    session: &mut Session<'_>,
    before: &WalReading,
    after: &WalReading,
) -> Result<BTreeMap<String, f64>, TrialError> {
    let (Some(from), Some(to)) = (&before.position, &after.position) else { return Ok(BTreeMap::new()) };
    if after.bytes_since(before).is_none_or(|bytes| bytes > MAX_ANALYSED_BYTES) {
        return Ok(BTreeMap::new());
    }
    let values = [("table", TABLE), ("before", from.as_str()), ("after", to.as_str())];
    let statements = session.statements("wal_detail", &values)?;
    let Some(statement) = statements.into_iter().next() else { return Ok(BTreeMap::new()) };
    let row: RowByName = session.request(&Op::Sizes { statement }, LOOKUP_TIMEOUT, &mut |_| {})?;
    Ok(encoding::numbers(row))
}

/// Measures for `seconds` how many bytes per second an idle system writes to its WAL. `None` if unknown.
pub(super) fn idle_bytes_per_s(
    session: &mut Session<'_>,
    serving: &ServingSetup,
    seconds: f64,
) -> Result<Option<f64>, TrialError> {
    let Some(before) = read_counters(session, serving)? else { return Ok(None) };
    std::thread::sleep(Duration::from_secs_f64(seconds));
    let after = read_counters(session, serving)?;
    Ok(after.and_then(|after| after.bytes_since(&before)).map(|bytes| bytes / seconds))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reading(bytes: i64, file: &str) -> WalReading {
        let row = [
            ("wal_bytes".to_owned(), Value::Int(bytes)),
            ("replication_bytes".to_owned(), Value::Text("10".into())),
            ("unless_file".to_owned(), Value::Text(file.into())),
            ("wal_syncs".to_owned(), Value::Int(7)),
            ("count_checkpoints".to_owned(), Value::Int(bytes / 100)),
        ];
        WalReading::from_row(row.into()).unwrap()
    }

    #[test]
    fn bytes_are_subtracted_unless_a_log_was_rotated() {
        assert_eq!(reading(500, "a").bytes_since(&reading(200, "a")), Some(300.0));
        assert_eq!(reading(500, "b").bytes_since(&reading(200, "a")), None);
        let growth = reading(500, "b").counter_growth_since(&reading(200, "a"));
        assert_eq!(growth, [("checkpoints".to_owned(), 3.0)].into());
        assert_eq!(WalReading::from_row([("syncs".to_owned(), Value::Int(1))].into()), None);
    }
}
