//! What one thread has seen: histograms by operation, a series by second, counts.

use std::collections::BTreeMap;

use jsonathlon_measure::arrival::Schedule;
use jsonathlon_measure::histogram::Histogram;

use crate::answer::{Measured, Second};

/// Wrong answers that are kept word by word.
const WRONG_KEPT: usize = 10;
/// Different messages of a system that are kept.
const REFUSALS_KEPT: usize = 24;
/// Characters of a message that are kept.
const MESSAGE: usize = 300;

pub(crate) const SECOND_NS: u64 = 1_000_000_000;

/// How an operation ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// Well.
    Done,
    /// Answered wrongly.
    Wrong(String),
    /// Refused by the system, or failed otherwise.
    Failed(String),
    /// Given up.
    TimedOut,
}

/// When an operation was to begin, began and ended, in nanoseconds since the job began.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Times {
    /// In an open loop alone.
    pub(crate) intended: Option<u64>,
    pub(crate) begun: u64,
    pub(crate) ended: u64,
    /// Begun on one of the counted operations, where they are counted.
    pub(crate) counted: bool,
}

/// What an operation came to.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Came {
    pub(crate) documents: u64,
    pub(crate) retries: u64,
    pub(crate) stale: bool,
}

/// Of one operation.
#[derive(Debug)]
pub(crate) struct Recorded {
    pub(crate) counts: Measured,
    pub(crate) service: Histogram,
    pub(crate) response: Histogram,
    pub(crate) failed: Histogram,
}

impl Recorded {
    fn new() -> Self {
        Self {
            counts: Measured::default(),
            service: Histogram::new(),
            response: Histogram::new(),
            failed: Histogram::new(),
        }
    }

    fn merge(&mut self, other: &Self) {
        let (into, from) = (&mut self.counts, &other.counts);
        into.operations += from.operations;
        into.documents += from.documents;
        into.errors += from.errors;
        into.timeouts += from.timeouts;
        into.wrong += from.wrong;
        into.stale += from.stale;
        into.retries += from.retries;
        self.service.merge(&other.service);
        self.response.merge(&other.response);
        self.failed.merge(&other.failed);
    }
}

/// Of one thread, or of all when they have ended.
#[derive(Debug)]
pub(crate) struct Recorder {
    /// By place in the mix.
    pub(crate) operations: Vec<Recorded>,
    pub(crate) seconds: Vec<Second>,
    pub(crate) lateness: Histogram,
    pub(crate) begun_arrivals: u64,
    pub(crate) unfinished: u64,
    pub(crate) backlog_at_start: u64,
    pub(crate) lost_updates: u64,
    pub(crate) reconnects: u64,
    /// Connections that were lost.
    pub(crate) lost: u64,
    /// Records that were inserted, less those that were deleted, as far as that was acknowledged.
    pub(crate) added: i64,
    pub(crate) wrong: Vec<String>,
    pub(crate) refusals: BTreeMap<String, u64>,
    /// All operations that have ended, whenever.
    pub(crate) ended: u64,
    /// When the last one of those that are measured ended.
    pub(crate) last_ns: u64,
    /// What has ended the thread early.
    pub(crate) broken: Option<String>,
    is_open: bool,
    /// All arrivals are waited for, however long they take, since they are counted.
    pub(crate) awaits_all: bool,
    /// The series is filled with backlogs up to this second.
    filled: u64,
    /// The second of the operation before, which is as a rule that of the next one.
    second: usize,
    second_ends: u64,
}

impl Recorder {
    pub(crate) fn new(operations: usize, is_open: bool) -> Self {
        Self {
            operations: (0..operations).map(|_| Recorded::new()).collect(),
            seconds: vec![Second::default()],
            lateness: Histogram::new(),
            begun_arrivals: 0,
            unfinished: 0,
            backlog_at_start: 0,
            lost_updates: 0,
            reconnects: 0,
            lost: 0,
            added: 0,
            wrong: Vec::new(),
            refusals: BTreeMap::new(),
            ended: 0,
            last_ns: 0,
            broken: None,
            is_open,
            awaits_all: false,
            filled: 0,
            second: 0,
            second_ends: SECOND_NS,
        }
    }

    /// Notes an operation. What is measured goes from `from` to `to`: in a closed loop what ends within, or what is counted;
    /// in an open one what was to begin within.
    #[inline]
    pub(crate) fn ended(
        &mut self,
        place: usize,
        times: Times,
        outcome: Outcome,
        came: Came,
        (from, to): (u64, u64),
    ) {
        self.ended += 1;
        let well = outcome == Outcome::Done;
        let service = times.ended.saturating_sub(times.begun);
        let response = times.intended.map_or(service, |intended| times.ended.saturating_sub(intended));
        if times.ended < to || self.awaits_all {
            let second = self.second_of(times.ended);
            second.operations += u64::from(well);
            second.errors += u64::from(!well);
            second.longest_us = second.longest_us.max(response as f64 / 1e3);
        }
        let is_measured = match times.intended {
            Some(intended) => from <= intended && intended < to,
            None => times.counted || (from <= times.ended && times.ended < to),
        };
        if !is_measured {
            if !well {
                self.said(outcome);
            }
            return;
        }
        let Some(of) = self.operations.get_mut(place) else { return };
        if let Some(intended) = times.intended
            && times.ended >= to
            && !self.awaits_all
        {
            // It had not ended by the end: it would have taken so long at least.
            self.unfinished += 1;
            of.response.record_ns(to - intended);
            if !well {
                self.said(outcome);
            }
            return;
        }
        self.last_ns = self.last_ns.max(times.ended);
        of.counts.retries += came.retries;
        if well {
            of.counts.operations += 1;
            of.counts.documents += came.documents;
            of.counts.stale += u64::from(came.stale);
        }
        if well || outcome == Outcome::TimedOut {
            // Time-outs are among the others too: leaving out the longest would flatter them.
            of.service.record_ns(service);
            if self.is_open {
                of.response.record_ns(response);
            }
        }
        if !well {
            of.failed.record_ns(response);
            of.counts.errors += 1;
            match outcome {
                Outcome::TimedOut => of.counts.timeouts += 1,
                Outcome::Wrong(_) => of.counts.wrong += 1,
                _ => {}
            }
            self.said(outcome);
        }
    }

    #[cold]
    fn said(&mut self, outcome: Outcome) {
        match outcome {
            Outcome::Wrong(words) if self.wrong.len() < WRONG_KEPT => self.wrong.push(words),
            Outcome::Failed(words) => self.refused(words, 1),
            Outcome::TimedOut => self.refused("no answer in time".to_owned(), 1),
            _ => {}
        }
    }

    fn refused(&mut self, mut words: String, times: u64) {
        if words.len() > MESSAGE {
            words.truncate(words.floor_char_boundary(MESSAGE));
            words.push('…');
        }
        if self.refusals.len() >= REFUSALS_KEPT && !self.refusals.contains_key(&words) {
            "other messages".clone_into(&mut words);
        }
        *self.refusals.entry(words).or_default() += times;
    }

    #[inline]
    fn second_of(&mut self, at: u64) -> &mut Second {
        if at >= self.second_ends || at < self.second_ends - SECOND_NS {
            self.second = usize::try_from(at / SECOND_NS).unwrap_or(0);
            self.second_ends = (self.second as u64 + 1) * SECOND_NS;
            if self.seconds.len() <= self.second {
                self.seconds.resize(self.second + 1, Second::default());
            }
        }
        let place = self.second.min(self.seconds.len() - 1);
        &mut self.seconds[place]
    }

    /// An arrival is begun: it was intended then, a connection has been free since, and it is now.
    pub(crate) fn begun(&mut self, intended: u64, free_since: u64, now: u64, (from, to): (u64, u64)) {
        if from <= intended && intended < to {
            self.begun_arrivals += 1;
            self.lateness.record_ns(now.saturating_sub(intended.max(free_since)));
        }
    }

    /// The arrival of this number, which was intended earlier, was not taken before now: all that were to begin meanwhile
    /// have waited with it.
    pub(crate) fn waited(&mut self, schedule: &Schedule, index: u64, intended: u64, now: u64, from: u64) {
        if intended < from && from <= now {
            let waiting = schedule.begun_before(from).saturating_sub(index);
            self.backlog_at_start = self.backlog_at_start.max(waiting);
        }
        let last = now / SECOND_NS;
        for second in self.filled.max(intended / SECOND_NS)..=last {
            let at = now.min((second + 1) * SECOND_NS);
            let waiting = schedule.begun_before(at).saturating_sub(index);
            let of = self.second_of(second * SECOND_NS);
            of.backlog = of.backlog.max(waiting);
        }
        self.filled = self.filled.max(last);
    }

    /// An arrival that was not begun by the end.
    pub(crate) fn missed(&mut self, place: usize, intended: u64, to: u64) {
        if let Some(of) = self.operations.get_mut(place) {
            of.response.record_ns(to.saturating_sub(intended));
        }
    }

    /// Adds what another thread has seen.
    pub(crate) fn merge(&mut self, other: Self) {
        for (into, from) in self.operations.iter_mut().zip(&other.operations) {
            into.merge(from);
        }
        if self.seconds.len() < other.seconds.len() {
            self.seconds.resize(other.seconds.len(), Second::default());
        }
        for (into, from) in self.seconds.iter_mut().zip(&other.seconds) {
            into.operations += from.operations;
            into.errors += from.errors;
            into.longest_us = into.longest_us.max(from.longest_us);
            into.backlog = into.backlog.max(from.backlog);
        }
        self.lateness.merge(&other.lateness);
        self.begun_arrivals += other.begun_arrivals;
        self.unfinished += other.unfinished;
        self.backlog_at_start = self.backlog_at_start.max(other.backlog_at_start);
        self.lost_updates += other.lost_updates;
        self.reconnects += other.reconnects;
        self.lost += other.lost;
        self.added += other.added;
        self.ended += other.ended;
        self.last_ns = self.last_ns.max(other.last_ns);
        self.broken = self.broken.take().or(other.broken);
        let room = WRONG_KEPT.saturating_sub(self.wrong.len());
        self.wrong.extend(other.wrong.into_iter().take(room));
        for (words, times) in other.refusals {
            self.refused(words, times);
        }
    }
}
