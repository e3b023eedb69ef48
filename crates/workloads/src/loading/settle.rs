//! Settles a system after a load and measures the size of its data.

use std::time::Duration;

use jsonathlon_schema::id::DataState;
use jsonathlon_schema::metric;
use jsonathlon_schema::record::{FailureKind, Metrics, Verdict};
use jsonathlon_schema::value::Value;
use jsonathlon_telemetry::page_cache;
use jsonathlon_worker::protocol::{Op, SettleReply};

use super::skipped_after_load_failure;
use crate::RunError;
use crate::recorder::{TrialRecorder, new_trial};
use crate::run_context::{LOOKUP_TIMEOUT, RunContext, TABLE, TargetState};
use crate::session::{Session, TrialError};

impl RunContext<'_> {
    /// Brings a target into `state`, and measures the time and the disk space this takes. The results are
    /// recorded for `round`; nothing is recorded if it is `None`. Stops the engine at the end, so that only
    /// one system runs at a time.
    pub(crate) fn enter_state(
        &self,
        state: DataState,
        round: Option<u32>,
        target_state: &mut TargetState<'_>,
        recorder: &mut TrialRecorder<'_>,
    ) -> Result<(), RunError> {
        let system = target_state.cells.target.file_name();
        self.subject.set_activity(&format!("settling {system}, {}", state.word()));
        let cell = target_state.cells.size(state);
        let key = round.map(|round| (cell.trial_key(round, 0), round));
        let result = match &target_state.load_result {
            Err(failure) => Err(skipped_after_load_failure(failure)),
            Ok(_) => TrialError::split_fatal(self.settle_and_stop(state, target_state, recorder))?,
        };
        match result {
            Err(failure) => {
                target_state.session.abandon(self.settings.keep_data);
                let mut failure = failure;
                if let Some((key, round)) = key {
                    recorder.record_failure(key.clone(), &cell, round, 0, failure.clone())?;
                    failure = failure.with_cause_key(&key);
                }
                // No trials run on data in an unknown state.
                if target_state.load_result.is_ok() && failure.kind == FailureKind::Wrong {
                    // The system holds other documents than it reported, so its load time is void.
                    if let Some(round) = round {
                        let load = target_state.cells.load();
                        recorder.record_failure(
                            load.trial_key(round, 1),
                            &load,
                            round,
                            1,
                            failure.clone(),
                        )?;
                    }
                    target_state.load_result = Err(failure);
                } else if target_state.load_result.is_ok() {
                    let reason = format!("it did not come to be {}", state.word());
                    target_state.load_result = Err(failure.consequence(&reason));
                }
            }
            Ok(metrics) => {
                if state == DataState::Drained {
                    let drained_s = metrics.get(metric::DRAINED_S.name).copied();
                    target_state.settle_s = drained_s.unwrap_or_default();
                }
                if let Some((key, round)) = key.filter(|(key, _)| !recorder.has(key)) {
                    let mut trial = new_trial(&cell, round, 0);
                    trial.verdict = Verdict::Exact;
                    trial.metrics = metrics;
                    recorder.record_trial(key, trial)?;
                }
            }
        }
        Ok(())
    }

    /// Settles, measures, reads documents back after the drained state, and stops the engine. If any of these
    /// fails, the data state is unknown.
    fn settle_and_stop(
        &self,
        state: DataState,
        target_state: &mut TargetState<'_>,
        recorder: &mut TrialRecorder<'_>,
    ) -> Result<Metrics, TrialError> {
        let metrics = self.settle_and_measure(state, &mut target_state.session)?;
        if state == DataState::Drained {
            self.read_back(target_state, recorder)?;
        }
        target_state.session.close()?;
        Ok(metrics)
    }

    fn settle_and_measure(&self, state: DataState, session: &mut Session<'_>) -> Result<Metrics, TrialError> {
        session.open()?;
        let (name, time) = match state {
            DataState::Drained => ("drain", metric::DRAINED_S),
            DataState::Compacted => ("compact", metric::COMPACTED_S),
        };
        let sync = !session.is_remote();
        let reply = settle(session, name, TABLE, self.settings.load_timeout_s, sync)?;
        let mut metrics = Metrics::from([time.with_value(reply.seconds)]);
        if reply.remaining > 0 {
            metrics.insert(metric::BACKGROUND_WORK_LEFT.name.to_owned(), reply.remaining as f64);
        }
        metrics.extend(sizes(session, TABLE)?);
        if session.is_remote() {
            return Ok(metrics);
        }
        let file_bytes = page_cache::allocated_bytes(session.folder()).map_err(|error| {
            TrialError::failed(
                FailureKind::Environment,
                format!("failed to measure the data folder: {error}"),
            )
        })?;
        metrics.insert(metric::FILES_BYTES.name.to_owned(), file_bytes as f64);
        let logs = &session.target.setup.logs;
        if !logs.is_empty() {
            let log_bytes = page_cache::allocated_bytes_of(session.folder(), logs).map_err(|error| {
                TrialError::failed(FailureKind::Environment, format!("failed to measure logs: {error}"))
            })?;
            metrics.insert(metric::LOG_BYTES.name.to_owned(), log_bytes as f64);
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
) -> Result<SettleReply, TrialError> {
    let table = [("table", table)];
    let settle = Op::Settle {
        statements: session.statements(name, &table)?,
        until_zero: session.statements("drained", &table)?.into_iter().next(),
        limit_s,
        sync,
    };
    // The worker stops waiting after `limit_s`; the longer request timeout only catches a hanging engine.
    session.request(&settle, Duration::from_secs_f64(limit_s) + LOOKUP_TIMEOUT, &mut |_| {})
}

/// Sizes that the system itself reports for a table; values that are not numbers are ignored.
pub(crate) fn sizes(session: &mut Session<'_>, table: &str) -> Result<Metrics, TrialError> {
    let values = session.named_values("sizes", &[("table", table)], LOOKUP_TIMEOUT)?;
    let number = |value: Value| match value {
        Value::Int(number) => Some(number as f64),
        Value::Float(number) => Some(number),
        _ => None,
    };
    Ok(values.into_iter().filter_map(|(name, value)| Some((name, number(value)?))).collect())
}
