//! Settles a system after a load and measures the size of its data.

use std::time::Duration;

use jsonathlon_schema::id::State;
use jsonathlon_schema::record::{FailureKind, Metrics, Verdict};
use jsonathlon_schema::value::Value;
use jsonathlon_telemetry::page_cache;
use jsonathlon_worker::protocol::{Op, Settled};

use super::not_asked;
use crate::RunError;
use crate::bench::{Bench, LOOK_UP, TABLE, UnderTest};
use crate::recorder::{Recorder, blank};
use crate::session::{Ended, Session};

impl Bench<'_> {
    /// Brings a target into `state`, and measures the time and the disk space this takes. The results are
    /// recorded for `round`; nothing is recorded if it is `None`. Stops the engine at the end, so that only
    /// one system runs at a time.
    pub(crate) fn enter(
        &self,
        state: State,
        round: Option<u32>,
        one: &mut UnderTest<'_>,
        recorder: &mut Recorder<'_>,
    ) -> Result<(), RunError> {
        self.subject.does(&format!("settling {}, {}", one.cells.target.file_name(), state.word()));
        let cell = one.cells.size(state);
        let key = round.map(|round| (cell.trial_key(round, 0), round));
        let result = match &one.holds {
            Err(failure) => Err(not_asked(failure)),
            Ok(_) => Ended::split(self.settled(state, one, recorder))?,
        };
        match result {
            Err(failure) => {
                one.session.give_up(self.settings.keep_data);
                let mut failure = failure;
                if let Some((key, round)) = key {
                    recorder.failed(key.clone(), &cell, round, 0, failure.clone())?;
                    failure = failure.recorded_in(&key);
                }
                // No trials run on data in an unknown state.
                if one.holds.is_ok() && failure.kind == FailureKind::Wrong {
                    // The system holds other documents than it reported, so its load time is void.
                    if let Some(round) = round {
                        let load = one.cells.load();
                        recorder.failed(load.trial_key(round, 1), &load, round, 1, failure.clone())?;
                    }
                    one.holds = Err(failure);
                } else if one.holds.is_ok() {
                    let words = format!("it did not come to be {}", state.word());
                    one.holds = Err(failure.followed_by(&words));
                }
            }
            Ok(metrics) => {
                if state == State::Drained {
                    one.drained_s = metrics.get("drained_s").copied().unwrap_or_default();
                }
                if let Some((key, round)) = key.filter(|(key, _)| !recorder.has(key)) {
                    let mut trial = blank(&cell, round, 0);
                    trial.verdict = Verdict::Exact;
                    trial.metrics = metrics;
                    recorder.trial(key, trial)?;
                }
            }
        }
        Ok(())
    }

    /// Settles, measures, reads documents back after the drained state, and stops the engine. If any of these
    /// fails, the data state is unknown.
    fn settled(
        &self,
        state: State,
        one: &mut UnderTest<'_>,
        recorder: &mut Recorder<'_>,
    ) -> Result<Metrics, Ended> {
        let metrics = self.settle_and_measure(state, &mut one.session)?;
        if state == State::Drained {
            self.read_back(one, recorder)?;
        }
        one.session.close()?;
        Ok(metrics)
    }

    fn settle_and_measure(&self, state: State, session: &mut Session<'_>) -> Result<Metrics, Ended> {
        session.open()?;
        let name = match state {
            State::Drained => "drain",
            State::Compacted => "compact",
        };
        let sync = !session.is_guest();
        let settled = settle(session, name, TABLE, self.settings.load_timeout_s, sync)?;
        let mut metrics = Metrics::from([(format!("{}_s", state.word()), settled.seconds)]);
        if settled.remaining > 0 {
            metrics.insert("background_work_left".into(), settled.remaining as f64);
        }
        metrics.extend(sizes(session, TABLE)?);
        if session.is_guest() {
            return Ok(metrics);
        }
        let files = page_cache::allocated_bytes(session.folder()).map_err(|error| {
            Ended::failed(FailureKind::Environment, format!("failed to measure the data folder: {error}"))
        })?;
        metrics.insert("files_bytes".into(), files as f64);
        let logs = &session.target.part.logs;
        if !logs.is_empty() {
            let bytes = page_cache::allocated_bytes_of(session.folder(), logs).map_err(|error| {
                Ended::failed(FailureKind::Environment, format!("failed to measure logs: {error}"))
            })?;
            metrics.insert("log_bytes".into(), bytes as f64);
        }
        Ok(metrics)
    }
}

/// Runs the statements of the file `name` on a table, then waits for the end of the system's background work,
/// at most `limit_s` seconds.
pub(crate) fn settle(
    session: &mut Session<'_>,
    name: &str,
    table: &str,
    limit_s: f64,
    sync: bool,
) -> Result<Settled, Ended> {
    let table = [("table", table)];
    let settle = Op::Settle {
        statements: session.statements(name, &table)?,
        until_zero: session.statements("drained", &table)?.into_iter().next(),
        limit_s,
        sync,
    };
    // The worker stops waiting after `limit_s`; the longer request timeout only catches a hanging engine.
    session.request(&settle, Duration::from_secs_f64(limit_s) + LOOK_UP, &mut |_| {})
}

/// Sizes that the system itself reports for a table; values that are not numbers are ignored.
pub(crate) fn sizes(session: &mut Session<'_>, table: &str) -> Result<Metrics, Ended> {
    let figures = session.figures("sizes", &[("table", table)], LOOK_UP)?;
    let number = |value: Value| match value {
        Value::Int(number) => Some(number as f64),
        Value::Float(number) => Some(number),
        _ => None,
    };
    Ok(figures.into_iter().filter_map(|(name, value)| Some((name, number(value)?))).collect())
}
