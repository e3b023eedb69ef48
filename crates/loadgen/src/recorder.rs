//! Measurements of one thread: histograms per operation, a time series by second, and counters.

use std::collections::BTreeMap;

use jsonathlon_stats::arrival::Schedule;
use jsonathlon_stats::histogram::Histogram;

use crate::messages::count_message;
use crate::report::{OperationReport, TrialSecond};

/// Number of wrong answers that are kept in words.
const WRONG_KEPT: usize = 10;
/// Number of distinct error messages that are kept; further ones are counted as "other messages".
const REFUSALS_KEPT: usize = 24;

pub(crate) const SECOND_NS: u64 = 1_000_000_000;

/// How an operation of a client ended, by which it is counted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum OperationOutcome {
    /// The operation succeeded and its answer, if verified, was right.
    Done,
    /// The answer was wrong; says in which way.
    Wrong(String),
    /// The system refused the operation or it failed otherwise; holds the message.
    Failed(String),
    /// The operation had no answer within the time limit.
    TimedOut,
}

/// Intended start, actual start and end of an operation, in nanoseconds since the job began.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct OperationTimes {
    /// Intended start. `None` in a closed loop.
    pub(crate) intended_start_ns: Option<u64>,
    pub(crate) start_ns: u64,
    pub(crate) end_ns: u64,
    /// Whether the operation is one of a fixed number that is measured.
    pub(crate) is_counted: bool,
}

/// Totals of one operation: documents touched, retries, and whether a stale answer was accepted.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct OperationTotals {
    pub(crate) documents: u64,
    pub(crate) retries: u64,
    pub(crate) stale: bool,
}

/// Measurements of one kind of operation.
#[derive(Debug)]
pub(crate) struct OperationHistograms {
    pub(crate) counts: OperationReport,
    pub(crate) service: Histogram,
    pub(crate) response: Histogram,
    pub(crate) failed: Histogram,
}

impl OperationHistograms {
    fn new() -> Self {
        Self {
            counts: OperationReport::default(),
            service: Histogram::new(),
            response: Histogram::new(),
            failed: Histogram::new(),
        }
    }

    fn merge(&mut self, other: &Self) {
        let (target, source) = (&mut self.counts, &other.counts);
        target.operations += source.operations;
        target.documents += source.documents;
        target.errors += source.errors;
        target.timeouts += source.timeouts;
        target.wrong += source.wrong;
        target.stale += source.stale;
        target.retries += source.retries;
        self.service.merge(&other.service);
        self.response.merge(&other.response);
        self.failed.merge(&other.failed);
    }
}

/// Measurements of one thread, or of all threads after merging.
#[derive(Debug)]
pub(crate) struct LatencyRecorder {
    /// Measurements by the operation's index in the mix.
    pub(crate) operations: Vec<OperationHistograms>,
    pub(crate) seconds: Vec<TrialSecond>,
    pub(crate) lateness: Histogram,
    pub(crate) begun_arrivals: u64,
    pub(crate) unfinished: u64,
    pub(crate) backlog_at_start: u64,
    pub(crate) lost_updates: u64,
    pub(crate) reconnects: u64,
    /// Number of connections that were lost.
    pub(crate) lost_connections: u64,
    /// Records inserted minus records deleted, as far as acknowledged.
    pub(crate) net_inserts: i64,
    pub(crate) wrong_answers: Vec<String>,
    pub(crate) refusals: BTreeMap<String, u64>,
    /// Number of all ended operations, inside and outside the measurement window.
    pub(crate) ended_operations: u64,
    /// End of the last measured operation, in nanoseconds since the job began.
    pub(crate) last_ns: u64,
    /// Error that ended the thread early, if any.
    pub(crate) fatal_error: Option<String>,
    is_open: bool,
    /// Whether every arrival is measured until it ends, however long it takes, because arrivals are counted.
    pub(crate) awaits_all: bool,
    /// Second up to which backlogs are entered in `seconds`.
    filled: u64,
    /// Index of the second of the previous operation. The next operation usually ends in the same second.
    second: usize,
    second_ends: u64,
}

impl LatencyRecorder {
    pub(crate) fn new(operations: usize, is_open: bool) -> Self {
        Self {
            operations: (0..operations).map(|_| OperationHistograms::new()).collect(),
            seconds: vec![TrialSecond::default()],
            lateness: Histogram::new(),
            begun_arrivals: 0,
            unfinished: 0,
            backlog_at_start: 0,
            lost_updates: 0,
            reconnects: 0,
            lost_connections: 0,
            net_inserts: 0,
            wrong_answers: Vec::new(),
            refusals: BTreeMap::new(),
            ended_operations: 0,
            last_ns: 0,
            fatal_error: None,
            is_open,
            awaits_all: false,
            filled: 0,
            second: 0,
            second_ends: SECOND_NS,
        }
    }

    /// Records an ended operation. A closed loop measures operations that end within the measurement window,
    /// or counted ones; an open loop measures operations whose intended start lies within it.
    #[inline]
    pub(crate) fn record_end(
        &mut self,
        index: usize,
        times: OperationTimes,
        outcome: OperationOutcome,
        totals: OperationTotals,
        (window_start, window_end): (u64, u64),
    ) {
        self.ended_operations += 1;
        let is_done = outcome == OperationOutcome::Done;
        let service = times.end_ns.saturating_sub(times.start_ns);
        let response =
            times.intended_start_ns.map_or(service, |intended| times.end_ns.saturating_sub(intended));
        if times.end_ns < window_end || self.awaits_all {
            let second = self.second_of(times.end_ns);
            second.operations += u64::from(is_done);
            second.errors += u64::from(!is_done);
            second.longest_us = second.longest_us.max(response as f64 / 1e3);
        }
        let is_measured = match times.intended_start_ns {
            Some(intended) => window_start <= intended && intended < window_end,
            None => times.is_counted || (window_start <= times.end_ns && times.end_ns < window_end),
        };
        if !is_measured {
            if !is_done {
                self.record_message(outcome);
            }
            return;
        }
        let Some(histograms) = self.operations.get_mut(index) else { return };
        if let Some(intended) = times.intended_start_ns
            && times.end_ns >= window_end
            && !self.awaits_all
        {
            // The operation had not ended by the end of the window, so its time is a lower bound.
            self.unfinished += 1;
            histograms.response.record_ns(window_end - intended);
            if !is_done {
                self.record_message(outcome);
            }
            return;
        }
        self.last_ns = self.last_ns.max(times.end_ns);
        histograms.counts.retries += totals.retries;
        if is_done {
            histograms.counts.operations += 1;
            histograms.counts.documents += totals.documents;
            histograms.counts.stale += u64::from(totals.stale);
        }
        if is_done || outcome == OperationOutcome::TimedOut {
            // Timeouts are included in the service times: leaving out the longest times would flatter the
            // result.
            histograms.service.record_ns(service);
            if self.is_open {
                histograms.response.record_ns(response);
            }
        }
        if !is_done {
            histograms.failed.record_ns(response);
            histograms.counts.errors += 1;
            match outcome {
                OperationOutcome::TimedOut => histograms.counts.timeouts += 1,
                OperationOutcome::Wrong(_) => histograms.counts.wrong += 1,
                _ => {}
            }
            self.record_message(outcome);
        }
    }

    #[cold]
    fn record_message(&mut self, outcome: OperationOutcome) {
        match outcome {
            OperationOutcome::Wrong(message) if self.wrong_answers.len() < WRONG_KEPT => {
                self.wrong_answers.push(message)
            }
            OperationOutcome::Failed(message) => self.count_refusal(message, 1),
            OperationOutcome::TimedOut => self.count_refusal("no answer in time".to_owned(), 1),
            _ => {}
        }
    }

    fn count_refusal(&mut self, message: String, count: u64) {
        count_message(&mut self.refusals, message, count, REFUSALS_KEPT);
    }

    #[inline]
    fn second_of(&mut self, time_ns: u64) -> &mut TrialSecond {
        if time_ns >= self.second_ends || time_ns < self.second_ends - SECOND_NS {
            self.second = usize::try_from(time_ns / SECOND_NS).unwrap_or(0);
            self.second_ends = (self.second as u64 + 1) * SECOND_NS;
            if self.seconds.len() <= self.second {
                self.seconds.resize(self.second + 1, TrialSecond::default());
            }
        }
        let index = self.second.min(self.seconds.len() - 1);
        &mut self.seconds[index]
    }

    /// Records the start of an arrival: its intended time, since when a connection was free, and the actual
    /// start. Only arrivals intended within the window are recorded.
    pub(crate) fn record_begin(
        &mut self,
        intended: u64,
        free_since: u64,
        now: u64,
        (window_start, window_end): (u64, u64),
    ) {
        if window_start <= intended && intended < window_end {
            self.begun_arrivals += 1;
            self.lateness.record_ns(now.saturating_sub(intended.max(free_since)));
        }
    }

    /// Records the backlog caused by the arrival number `index`, intended at `intended` and not claimed
    /// before `now`: all arrivals intended in between waited with it.
    pub(crate) fn record_queueing(
        &mut self,
        schedule: &Schedule,
        index: u64,
        intended: u64,
        now: u64,
        window_start: u64,
    ) {
        if intended < window_start && window_start <= now {
            let backlog = schedule.arrivals_before(window_start).saturating_sub(index);
            self.backlog_at_start = self.backlog_at_start.max(backlog);
        }
        let last_second = now / SECOND_NS;
        for second in self.filled.max(intended / SECOND_NS)..=last_second {
            let second_end = now.min((second + 1) * SECOND_NS);
            let backlog = schedule.arrivals_before(second_end).saturating_sub(index);
            let entry = self.second_of(second * SECOND_NS);
            entry.backlog = entry.backlog.max(backlog);
        }
        self.filled = self.filled.max(last_second);
    }

    /// Records an arrival that did not begin by the end of the window; its response time is a lower bound.
    pub(crate) fn record_missed(&mut self, index: usize, intended: u64, window_end: u64) {
        if let Some(histograms) = self.operations.get_mut(index) {
            histograms.response.record_ns(window_end.saturating_sub(intended));
        }
    }

    /// Adds the measurements of another thread.
    pub(crate) fn merge(&mut self, other: Self) {
        for (target, source) in self.operations.iter_mut().zip(&other.operations) {
            target.merge(source);
        }
        if self.seconds.len() < other.seconds.len() {
            self.seconds.resize(other.seconds.len(), TrialSecond::default());
        }
        for (target, source) in self.seconds.iter_mut().zip(&other.seconds) {
            target.operations += source.operations;
            target.errors += source.errors;
            target.longest_us = target.longest_us.max(source.longest_us);
            target.backlog = target.backlog.max(source.backlog);
        }
        self.lateness.merge(&other.lateness);
        self.begun_arrivals += other.begun_arrivals;
        self.unfinished += other.unfinished;
        self.backlog_at_start = self.backlog_at_start.max(other.backlog_at_start);
        self.lost_updates += other.lost_updates;
        self.reconnects += other.reconnects;
        self.lost_connections += other.lost_connections;
        self.net_inserts += other.net_inserts;
        self.ended_operations += other.ended_operations;
        self.last_ns = self.last_ns.max(other.last_ns);
        self.fatal_error = self.fatal_error.take().or(other.fatal_error);
        let room = WRONG_KEPT.saturating_sub(self.wrong_answers.len());
        self.wrong_answers.extend(other.wrong_answers.into_iter().take(room));
        for (message, count) in other.refusals {
            self.count_refusal(message, count);
        }
    }
}
