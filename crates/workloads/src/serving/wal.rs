//! Measures how much a system writes to its WAL: by its own counters or by the growth of its files, while no
//! client is working.

use std::{collections::BTreeMap, time::Duration};

use jsonathlon_catalogue::Serving;
use jsonathlon_schema::{record::FailureKind, value::Value};
use jsonathlon_telemetry::page_cache;
use jsonathlon_worker::protocol::{Op, RowByName};

use super::encoding::{self, number};
use crate::{
    run_context::{LOOK_UP, TABLE},
    session::{Session, TrialError},
};

/// Maximum size in bytes of a WAL range to analyse: reading it takes seconds between two trials.
const LOOKED_THROUGH: f64 = 2e9;
/// Maximum length in seconds of the measurement of idle writes.
pub(super) const IDLE_S: f64 = 2.0;
/// Columns with the bytes written to the WAL and to a separate replication log.
const BYTES: [&str; 2] = ["journal_bytes", "replication_bytes"];
/// Prefix of columns that must be equal in two readings: they change if a log is rotated or a counter is
/// reset.
const UNLESS: &str = "unless_";
/// Prefix of columns with further counters. Their growth during a trial becomes the metric without the
/// prefix.
const COUNT: &str = "count_";
/// Column with the current position in the WAL.
const POSITION: &str = "journal_position";

/// WAL counters at one moment.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct WalReading {
    bytes: f64,
    unless: BTreeMap<String, Value>,
    counts: BTreeMap<String, f64>,
    /// Position in the WAL as reported by the system; `None` if not reported.
    position: Option<String>,
}

impl WalReading {
    /// Bytes since an earlier reading; `None` if the readings cannot be subtracted.
    pub(super) fn since(&self, earlier: &Self) -> Option<f64> {
        (self.unless == earlier.unless).then(|| (self.bytes - earlier.bytes).max(0.0))
    }

    /// Growth of the further counters since an earlier reading, by metric name.
    pub(super) fn counted_since(&self, earlier: &Self) -> BTreeMap<String, f64> {
        let grown = |(name, count): (&String, &f64)| Some((name.clone(), count - earlier.counts.get(name)?));
        self.counts.iter().filter_map(grown).collect()
    }

    fn of(figures: RowByName) -> Option<Self> {
        let bytes: Vec<f64> = BYTES.iter().filter_map(|name| number(figures.get(*name)?)).collect();
        let position = match figures.get(POSITION) {
            Some(Value::Text(text)) => Some(text.clone()),
            _ => None,
        };
        let counted =
            |(name, value): (&String, &Value)| Some((name.strip_prefix(COUNT)?.to_owned(), number(value)?));
        let counts = figures.iter().filter_map(counted).collect();
        let unless = figures.into_iter().filter(|(name, _)| name.starts_with(UNLESS)).collect();
        (!bytes.is_empty()).then(|| Self { bytes: bytes.iter().sum(), unless, counts, position })
    }
}

/// Reads the current counters; `None` if the system has neither counters nor known WAL files.
pub(super) fn read(session: &mut Session<'_>, part: &Serving) -> Result<Option<WalReading>, TrialError> {
    let statements = session.statements("journal", &[("table", TABLE)])?;
    if let Some((last, before)) = statements.split_last() {
        if !before.is_empty() {
            session.run(before.to_vec(), LOOK_UP)?;
        }
        let op = Op::Sizes { statement: last.clone() };
        let figures: RowByName = session.request(&op, LOOK_UP, &mut |_| {})?;
        return WalReading::of(figures).map(Some).ok_or_else(|| {
            let error = format!("the statement `journal` gives none of {}", BYTES.join(", "));
            TrialError::failed(FailureKind::Protocol, error)
        });
    }
    if part.journal_files.is_empty() || session.is_remote() {
        return Ok(None);
    }
    let bytes = page_cache::allocated_bytes_of(session.folder(), &part.journal_files).map_err(|error| {
        TrialError::failed(FailureKind::Environment, format!("failed to measure the journal: {error}"))
    })?;
    Ok(Some(WalReading {
        bytes: bytes as f64,
        unless: BTreeMap::new(),
        counts: BTreeMap::new(),
        position: None,
    }))
}

/// Analyses the WAL between two readings, by metric name. Empty if the system's folder has no statement for
/// that, or the range exceeds [`LOOKED_THROUGH`].
pub(super) fn detail(
    session: &mut Session<'_>,
    before: &WalReading,
    after: &WalReading,
) -> Result<BTreeMap<String, f64>, TrialError> {
    let (Some(from), Some(to)) = (&before.position, &after.position) else { return Ok(BTreeMap::new()) };
    if after.since(before).is_none_or(|bytes| bytes > LOOKED_THROUGH) {
        return Ok(BTreeMap::new());
    }
    let values = [("table", TABLE), ("before", from.as_str()), ("after", to.as_str())];
    let statements = session.statements("journal_detail", &values)?;
    let Some(statement) = statements.into_iter().next() else { return Ok(BTreeMap::new()) };
    let figures: RowByName = session.request(&Op::Sizes { statement }, LOOK_UP, &mut |_| {})?;
    Ok(encoding::numbers(figures))
}

/// Bytes per second that a system writes to its WAL while idle; `None` if unknown.
pub(super) fn idle(
    session: &mut Session<'_>,
    part: &Serving,
    seconds: f64,
) -> Result<Option<f64>, TrialError> {
    let Some(before) = read(session, part)? else { return Ok(None) };
    std::thread::sleep(Duration::from_secs_f64(seconds));
    let after = read(session, part)?;
    Ok(after.and_then(|after| after.since(&before)).map(|bytes| bytes / seconds))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reading(bytes: i64, file: &str) -> WalReading {
        let figures = [
            ("journal_bytes".to_owned(), Value::Int(bytes)),
            ("replication_bytes".to_owned(), Value::Text("10".into())),
            ("unless_file".to_owned(), Value::Text(file.into())),
            ("journal_syncs".to_owned(), Value::Int(7)),
            ("count_checkpoints".to_owned(), Value::Int(bytes / 100)),
        ];
        WalReading::of(figures.into()).unwrap()
    }

    #[test]
    fn bytes_are_subtracted_unless_a_log_was_rotated() {
        assert_eq!(reading(500, "a").since(&reading(200, "a")), Some(300.0));
        assert_eq!(reading(500, "b").since(&reading(200, "a")), None);
        let counted = reading(500, "b").counted_since(&reading(200, "a"));
        assert_eq!(counted, [("checkpoints".to_owned(), 3.0)].into());
        assert_eq!(WalReading::of([("syncs".to_owned(), Value::Int(1))].into()), None);
    }
}
