//! Event loop of one client thread: begins operations when they are due, reads answers as they arrive, and
//! begins the next operations.

use std::collections::VecDeque;
use std::sync::atomic::Ordering;

use jsonathlon_driver_api::StatementStats;
use jsonathlon_stats::arrival::ScheduleReader;

use crate::client::{Client, ClientState};
use crate::completion::{self, Completion};
use crate::job_context::JobContext;
use crate::operation::Operation;
use crate::random::Random;
use crate::reactor::{NEVER, Reactor};
use crate::recorder::{LatencyRecorder, OperationOutcome, OperationTimes};
use crate::verify::{AnswerVerifier, VerifyingSink};

/// One thread with its clients. `W` supplies the clock and readiness events, so that tests can replace both.
pub(crate) struct ClientLoop<'a, W> {
    pub(crate) shared: &'a JobContext<'a>,
    pub(crate) reactor: W,
    pub(crate) clients: Vec<Client>,
    pub(crate) recorder: LatencyRecorder,
    pub(crate) random: Random,
    verifier: AnswerVerifier,
    arrivals: Option<ScheduleReader<'a>>,
    /// Clients with a free connection, longest idle first. Used in an open loop only.
    pub(crate) idle: VecDeque<usize>,
    /// Intended time of the next arrival, whose operation is already prepared on the first client of `idle`.
    claimed: Option<u64>,
    /// Set once no further operation may begin.
    pub(crate) is_over: bool,
    /// Whether answers are read with blocking calls, because the thread has a single connection.
    pub(crate) is_blocking: bool,
    /// Counted operations that this thread may still begin.
    quota: u64,
    thread: usize,
    pub(crate) next_poll: u64,
    ready: Vec<usize>,
}

/// State of a client's current operation after the latest response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OperationState {
    /// The answer is not complete yet.
    Pending,
    /// The operation has ended.
    Complete,
}

impl<'a, W: Reactor> ClientLoop<'a, W> {
    /// Creates the event loop of thread number `thread`. The seed together with that number selects the
    /// random stream.
    pub(crate) fn new(
        shared: &'a JobContext<'a>,
        reactor: W,
        clients: Vec<Client>,
        thread: usize,
        seed: u64,
    ) -> Self {
        let mut recorder = LatencyRecorder::new(shared.plans.len(), shared.schedule.is_some());
        recorder.awaits_all = shared.awaits_all;
        Self {
            recorder,
            random: Random::new(seed, thread as u64),
            verifier: AnswerVerifier::new(shared),
            arrivals: shared.schedule.as_ref().map(|schedule| schedule.reader()),
            idle: VecDeque::new(),
            claimed: None,
            is_over: false,
            is_blocking: clients.len() == 1,
            quota: 0,
            thread,
            next_poll: 0,
            ready: Vec::new(),
            shared,
            reactor,
            clients,
        }
    }

    /// Runs until the measurement window is over and every operation that began within it has ended.
    pub(crate) fn work(&mut self) {
        if let Err(error) = self.watch_all() {
            self.recorder.fatal_error = Some(format!("failed to poll connections: {error}"));
            self.shared.window.end_early();
        } else if self.shared.schedule.is_some() {
            self.open_loop();
        } else {
            self.closed_loop();
        }
    }

    /// Closes all connections and returns what the thread recorded.
    pub(crate) fn close(mut self) -> LatencyRecorder {
        for client in &mut self.clients {
            client.close();
        }
        self.recorder
    }

    fn watch_all(&mut self) -> std::io::Result<()> {
        for (index, client) in self.clients.iter().enumerate() {
            if self.is_blocking {
                client.limit(self.shared.timeout_ns);
            } else if let Some(descriptor) = client.descriptor() {
                self.reactor.watch(index, descriptor)?;
            }
        }
        Ok(())
    }

    /// Returns `true` if the client's answers are read with blocking calls: the thread has one connection, or
    /// the connection has no descriptor to poll.
    #[inline]
    pub(crate) fn blocks(&self, client: usize) -> bool {
        self.is_blocking || !self.clients[client].is_pollable
    }

    fn closed_loop(&mut self) {
        let mut last_time = self.reactor.now();
        if (0..self.clients.len()).all(|client| self.blocks(client)) {
            while !self.is_over {
                for client in 0..self.clients.len() {
                    last_time = self.next_closed(client, last_time);
                }
                self.check_timeouts(last_time);
                if self.clients.iter().all(|client| client.connection.is_none()) {
                    last_time = self.wait_for(last_time, NEVER);
                }
            }
            return;
        }
        for client in 0..self.clients.len() {
            last_time = self.next_closed(client, last_time);
        }
        loop {
            if self.is_over && !self.is_any_busy() {
                return;
            }
            self.wait(last_time, NEVER);
            // The end of the latest operation serves as the current time and saves a clock read.
            let mut latest = None;
            while let Some(client) = self.ready.pop() {
                if self.advance(client) == OperationState::Complete {
                    latest = Some(self.next_closed(client, self.clients[client].task.end_ns));
                }
            }
            last_time = latest.unwrap_or_else(|| self.reactor.now());
            if !self.check_timeouts(last_time) {
                continue;
            }
            // Connections may have been reopened; their clients are idle now.
            for client in 0..self.clients.len() {
                if self.clients[client].state == ClientState::Idle && !self.is_over {
                    last_time = self.next_closed(client, last_time);
                }
            }
        }
    }

    /// Begins the client's next operation in a closed loop, unless the window is over. With a single blocking
    /// connection the loop continues with the following operations here. Returns the latest time seen, in
    /// nanoseconds.
    #[inline]
    fn next_closed(&mut self, client: usize, mut last_time: u64) -> u64 {
        loop {
            if self.shared.is_finished(last_time) {
                self.is_over = true;
            }
            if self.is_over || self.clients[client].state != ClientState::Idle {
                return last_time;
            }
            let is_counted =
                self.shared.window.has_operation_limit() && last_time >= self.shared.window.start_ns();
            if is_counted && self.quota == 0 {
                self.quota = self.shared.window.claim_operations(self.shared.operation_counts.len() as u64);
                if self.quota == 0 {
                    self.is_over = true;
                    return last_time;
                }
            }
            if !self.prepare(client) {
                return last_time;
            }
            let task = &mut self.clients[client].task;
            task.is_counted = is_counted;
            self.quota -= u64::from(is_counted);
            task.start_ns = self.reactor.now();
            if self.start(client) == OperationState::Pending {
                return last_time;
            }
            last_time = self.clients[client].task.end_ns.max(last_time);
            if !self.is_blocking || !self.clients[client].is_pollable {
                return last_time;
            }
        }
    }

    fn open_loop(&mut self) {
        self.idle.extend(0..self.clients.len());
        let mut last_time = self.reactor.now();
        loop {
            // Arrivals come first, because their start is timed to the microsecond.
            while let Some(intended) = self.claim(last_time) {
                if intended > last_time {
                    last_time = self.reactor.now();
                    if intended > last_time {
                        break;
                    }
                }
                let Some(client) = self.idle.pop_front() else { break };
                self.claimed = None;
                let now = self.reactor.now();
                let task = &mut self.clients[client].task;
                task.start_ns = now;
                task.intended_start_ns = Some(intended);
                let window = (self.shared.window.start_ns(), self.shared.window.end_ns());
                self.recorder.record_begin(intended, task.idle_since_ns, now, window);
                last_time = now;
                if self.start(client) == OperationState::Complete {
                    last_time = self.clients[client].task.end_ns.max(last_time);
                    self.release(client);
                }
            }
            if self.is_over && !self.is_any_busy() {
                return;
            }
            last_time = self.wait_for(last_time, self.claimed.unwrap_or(NEVER));
            while let Some(client) = self.ready.pop() {
                if self.advance(client) == OperationState::Complete {
                    self.release(client);
                }
            }
            self.check_timeouts(last_time);
            if self.is_over && self.claimed.is_none() && !self.is_any_busy() {
                return;
            }
        }
    }

    /// Returns a client to the idle queue, unless its connection was lost.
    fn release(&mut self, client: usize) {
        if self.clients[client].state == ClientState::Idle {
            let task = &mut self.clients[client].task;
            task.idle_since_ns = task.end_ns;
            self.idle.push_back(client);
        }
    }

    /// Returns the intended time of this thread's next arrival and prepares its operation on a free
    /// connection. `None` if no connection is free or no arrival is left.
    fn claim(&mut self, last_time: u64) -> Option<u64> {
        let window_end = self.shared.window.end_ns();
        if let Some(intended) = self.claimed {
            if self.shared.is_finished(last_time) {
                // The claimed arrival did not begin before the end of the window.
                self.claimed = None;
                self.is_over = true;
                if let Some(client) = self.idle.front().copied() {
                    self.give_up(client, intended, window_end);
                }
                return None;
            }
            return Some(intended);
        }
        if self.shared.is_finished(last_time) {
            self.is_over = true;
        }
        let client = self.idle.front().copied().filter(|_| !self.is_over)?;
        // All threads contend for this counter, but an open loop claims arrivals only at the given rate.
        let index = self.shared.next_arrival.fetch_add(1, Ordering::Relaxed);
        let intended = self.arrivals.as_mut().and_then(|arrivals| arrivals.arrival_ns(index));
        let Some(intended) = intended.filter(|intended| *intended < window_end) else {
            // The claimed index needs no release: missed arrivals are counted up to the end of the schedule
            // only.
            self.is_over = true;
            return None;
        };
        if intended < last_time
            && let Some(schedule) = &self.shared.schedule
        {
            self.recorder.record_queueing(
                schedule,
                index,
                intended,
                last_time,
                self.shared.window.start_ns(),
            );
        }
        if !self.prepare(client) {
            return None;
        }
        self.claimed = Some(intended);
        Some(intended)
    }

    /// Aborts an arrival that was prepared but did not begin, and records it as missed if it lies in the
    /// window.
    fn give_up(&mut self, client: usize, intended: u64, window_end: u64) {
        let task = &mut self.clients[client].task;
        for record in &mut task.records[..task.record_count] {
            if let Some(write) = record.write.take() {
                self.shared.accept.abort(write);
            }
        }
        let operation_index = task.plan_index;
        if self.shared.window.start_ns() <= intended && intended < window_end {
            self.recorder.record_missed(operation_index, intended, window_end);
        }
    }

    /// Draws and prepares a client's next operation. Returns `false` and ends the job if record numbers or
    /// versions have run out.
    #[inline]
    fn prepare(&mut self, client: usize) -> bool {
        let has_room = self.clients[client].task.prepare(self.shared, &mut self.random);
        if !has_room {
            let file_error = self.shared.file_error.get().cloned();
            self.recorder.fatal_error =
                Some(file_error.unwrap_or_else(|| "numbers of records or versions have run out".to_owned()));
            self.shared.window.end_early();
            self.is_over = true;
        }
        has_room
    }

    /// Begins the prepared operation, under the write lock if writers take turns. A client without a
    /// descriptor completes its operation within this call, including retries and undo.
    #[inline]
    fn start(&mut self, client: usize) -> OperationState {
        let shared = self.shared;
        let _turn = shared.write_turns.as_ref().and_then(|turns| {
            let plan = shared.plans.get(self.clients[client].task.plan_index)?;
            plan.operation.writes().then(|| turns.take())
        });
        self.send_first_statement(client)
    }

    /// Sends the first statement of the prepared operation.
    #[inline]
    pub(crate) fn send_first_statement(&mut self, client: usize) -> OperationState {
        self.clients[client].state = ClientState::Busy;
        match self.clients[client].send(self.shared) {
            Ok(()) if self.blocks(client) => self.advance(client),
            Ok(()) => OperationState::Pending,
            Err(error) => self.handle_failure(client, error),
        }
    }

    /// Reads what has arrived of a client's answer and continues the operation.
    #[inline]
    fn advance(&mut self, index: usize) -> OperationState {
        let waits = self.blocks(index);
        loop {
            let client = &mut self.clients[index];
            if client.state == ClientState::Undoing {
                return self.finish_undo(index, waits);
            }
            if client.state != ClientState::Busy {
                return OperationState::Pending;
            }
            let (Some(plan), Some(connection)) =
                (self.shared.plans.get(client.task.plan_index), client.connection.as_mut())
            else {
                return OperationState::Pending;
            };
            let mut sink =
                VerifyingSink::new(self.shared, plan, &mut client.task, &mut self.verifier, &self.reactor);
            let report = match connection.receive(waits, &mut sink) {
                Ok(Some(report)) => {
                    sink.finish();
                    report
                }
                Ok(None) => return OperationState::Pending,
                Err(error) => return self.handle_failure(index, error),
            };
            if let Some(state) = self.handle_answer(index, report) {
                return state;
            }
            match self.clients[index].send(self.shared) {
                Ok(()) if waits => {}
                Ok(()) => return OperationState::Pending,
                Err(error) => return self.handle_failure(index, error),
            }
        }
    }

    /// Advances the operation after an answered statement. `None` if another statement has to be sent.
    #[inline]
    fn handle_answer(&mut self, index: usize, report: StatementStats) -> Option<OperationState> {
        let task = &mut self.clients[index].task;
        let Some(plan) = self.shared.plans.get(task.plan_index) else {
            return Some(OperationState::Complete);
        };
        if let Some(statement) = plan.statements.get(task.statement_index) {
            if statement.writes
                && let Some(affected) = report.affected
            {
                *task.changed_documents.get_or_insert(0) += affected;
            }
            if statement.repeats && task.document_index + 1 < task.record_count {
                task.document_index += 1;
                return None;
            }
        }
        task.document_index = 0;
        task.statement_index += 1;
        if let Some(next_statement) = plan.statements.get(task.statement_index) {
            let is_absent = next_statement.writes && !task.has_written && task.answer.rows == 0;
            if plan.operation == Operation::ReadModifyWrite && is_absent {
                let outcome = completion::complete_absent(self.shared, plan, task);
                return Some(self.undo_and_end(index, outcome));
            }
            return None;
        }
        match completion::complete(self.shared, plan, task, &mut self.recorder) {
            Completion::Done(outcome) => {
                self.end_operation(index, outcome);
                Some(OperationState::Complete)
            }
            Completion::Conflict(message) => Some(self.handle_conflict(index, message, false)),
        }
    }

    /// Records the outcome of an operation and marks its client as idle.
    #[inline]
    pub(crate) fn end_operation(&mut self, index: usize, outcome: OperationOutcome) {
        let client = &mut self.clients[index];
        client.state = ClientState::Idle;
        let task = &client.task;
        let times = OperationTimes {
            intended_start_ns: task.intended_start_ns,
            start_ns: task.start_ns,
            end_ns: task.end_ns,
            is_counted: task.is_counted,
        };
        let totals = completion::totals(task);
        let window = match self.shared.window.has_operation_limit() {
            // Operations that began before the window do not count, whenever they end.
            true if task.intended_start_ns.is_none() => (NEVER, NEVER),
            _ => (self.shared.window.start_ns(), self.shared.window.end_ns()),
        };
        self.recorder.record_end(task.plan_index, times, outcome, totals, window);
        if let Some(tally) = self.shared.operation_counts.get(self.thread) {
            tally.set(self.recorder.ended_operations);
        }
    }

    /// Checks timeouts and reopens lost connections if the check is due. Returns whether the check was due.
    #[inline]
    fn check_timeouts(&mut self, now: u64) -> bool {
        let is_due = now >= self.next_poll;
        if is_due {
            self.poll_clients(now);
        }
        is_due
    }

    fn is_any_busy(&self) -> bool {
        self.clients.iter().any(|client| matches!(client.state, ClientState::Busy | ClientState::Undoing))
    }

    /// Waits for answers, at most until `deadline`, and returns the current time.
    fn wait_for(&mut self, last_time: u64, deadline: u64) -> u64 {
        self.wait(last_time, deadline);
        self.reactor.now()
    }

    /// Waits for answers, at most until `deadline`, the next timeout check or the end of the window.
    #[inline]
    fn wait(&mut self, last_time: u64, deadline: u64) {
        self.ready.clear();
        let mut wake_time = deadline.min(self.next_poll.max(last_time + 1));
        let window_end = self.shared.window.end_ns();
        if window_end > last_time {
            wake_time = wake_time.min(window_end);
        }
        if let Err(error) = self.reactor.wait(wake_time, deadline != NEVER, &mut self.ready) {
            self.recorder.fatal_error = Some(format!("failed to wait for answers: {error}"));
            self.shared.window.end_early();
            self.is_over = true;
        }
    }
}
