//! How much a system writes ahead: its own counters, or the growth of its files, read while no client is at work.

use std::collections::BTreeMap;
use std::time::Duration;

use jsonathlon_dataset::value::Value;
use jsonathlon_measure::page_cache;
use jsonathlon_results::record::FailureKind;
use jsonathlon_systems::Serving;
use jsonathlon_worker::protocol::{Figures, Op};

use crate::bench::{LOOK_UP, TABLE};
use crate::session::{Ended, Session};

/// Seconds of an idle interval at most.
pub(super) const IDLE_S: f64 = 2.0;
/// The column that tells bytes written ahead, and the one that tells those of a log for replication beside it.
const BYTES: [&str; 2] = ["journal_bytes", "replication_bytes"];
/// Columns whose names begin so must not change between two readings: a log that was rotated, a counter that began anew.
const UNLESS: &str = "unless_";

/// Counters at one moment.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Reading {
    bytes: f64,
    unless: BTreeMap<String, Value>,
}

impl Reading {
    /// Bytes since an earlier reading; none where the two cannot be subtracted.
    pub(super) fn since(&self, earlier: &Self) -> Option<f64> {
        (self.unless == earlier.unless).then(|| (self.bytes - earlier.bytes).max(0.0))
    }

    fn of(figures: Figures) -> Option<Self> {
        let bytes: Vec<f64> = BYTES.iter().filter_map(|name| number(figures.get(*name)?)).collect();
        let unless = figures.into_iter().filter(|(name, _)| name.starts_with(UNLESS)).collect();
        (!bytes.is_empty()).then(|| Self { bytes: bytes.iter().sum(), unless })
    }
}

/// The counters now; none where the system has no way of telling.
pub(super) fn read(session: &mut Session<'_>, part: &Serving) -> Result<Option<Reading>, Ended> {
    let statements = session.statements("journal", &[("table", TABLE)])?;
    if let Some((last, before)) = statements.split_last() {
        if !before.is_empty() {
            session.run(before.to_vec(), LOOK_UP)?;
        }
        let op = Op::Sizes { statement: last.clone() };
        let figures: Figures = session.request(&op, LOOK_UP, &mut |_| {})?;
        return Reading::of(figures).map(Some).ok_or_else(|| {
            let error = format!("the statement `journal` gives none of {}", BYTES.join(", "));
            Ended::failed(FailureKind::Protocol, error)
        });
    }
    if part.journal_files.is_empty() || session.is_guest() {
        return Ok(None);
    }
    let bytes = page_cache::allocated_bytes_of(session.folder(), &part.journal_files).map_err(|error| {
        Ended::failed(FailureKind::Environment, format!("failed to measure the journal: {error}"))
    })?;
    Ok(Some(Reading { bytes: bytes as f64, unless: BTreeMap::new() }))
}

/// Bytes per second that a system writes by itself; none where that cannot be told.
pub(super) fn idle(session: &mut Session<'_>, part: &Serving, seconds: f64) -> Result<Option<f64>, Ended> {
    let Some(before) = read(session, part)? else { return Ok(None) };
    std::thread::sleep(Duration::from_secs_f64(seconds));
    let after = read(session, part)?;
    Ok(after.and_then(|after| after.since(&before)).map(|bytes| bytes / seconds))
}

fn number(value: &Value) -> Option<f64> {
    match value {
        Value::Int(number) => Some(*number as f64),
        Value::Float(number) => Some(*number),
        Value::Text(text) => text.parse().ok(),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reading(bytes: i64, file: &str) -> Reading {
        let figures = [
            ("journal_bytes".to_owned(), Value::Int(bytes)),
            ("replication_bytes".to_owned(), Value::Text("10".into())),
            ("unless_file".to_owned(), Value::Text(file.into())),
            ("journal_syncs".to_owned(), Value::Int(7)),
        ];
        Reading::of(figures.into()).unwrap()
    }

    #[test]
    fn bytes_are_subtracted_unless_a_log_was_rotated() {
        assert_eq!(reading(500, "a").since(&reading(200, "a")), Some(300.0));
        assert_eq!(reading(500, "b").since(&reading(200, "a")), None);
        assert_eq!(Reading::of([("syncs".to_owned(), Value::Int(1))].into()), None);
    }
}
