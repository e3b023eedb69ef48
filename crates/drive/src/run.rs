//! The loop of one thread: begins operations when they are due, takes answers as they come, and begins the next ones.

use std::collections::VecDeque;
use std::sync::atomic::Ordering;

use jsonathlon_connection::Report;
use jsonathlon_measure::arrival::ScheduleReader;

use crate::check::{Checking, Rows};
use crate::client::{Client, State};
use crate::finish::{self, Ended};
use crate::operation::Operation;
use crate::random::Random;
use crate::recorder::{Outcome, Recorder, Times};
use crate::shared::{NEVER, Shared};
use crate::waiting::Waiting;

/// One thread with its clients.
pub(crate) struct Runner<'a, W> {
    pub(crate) shared: &'a Shared<'a>,
    pub(crate) waiting: W,
    pub(crate) clients: Vec<Client>,
    pub(crate) recorder: Recorder,
    pub(crate) random: Random,
    checking: Checking,
    arrivals: Option<ScheduleReader<'a>>,
    /// Clients whose connections are free, in an open loop; the one that has been for the longest comes first.
    pub(crate) idle: VecDeque<usize>,
    /// The arrival that is next, prepared at the first of these.
    claimed: Option<u64>,
    /// No more operations are begun.
    pub(crate) is_over: bool,
    /// Whether answers are waited for in the kernel's own way, since there is one connection alone.
    pub(crate) waits: bool,
    /// Counted operations that may still be begun.
    quota: u64,
    thread: usize,
    pub(crate) next_look: u64,
    ready: Vec<usize>,
}

/// What a client's operation came to for now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Now {
    /// Its answer has not come.
    Waiting,
    /// It is over.
    Over,
}

impl<'a, W: Waiting> Runner<'a, W> {
    /// A thread with these clients; `seed` is its own.
    pub(crate) fn new(
        shared: &'a Shared<'a>,
        waiting: W,
        clients: Vec<Client>,
        thread: usize,
        seed: u64,
    ) -> Self {
        let mut recorder = Recorder::new(shared.plans.len(), shared.schedule.is_some());
        recorder.awaits_all = shared.awaits_all;
        Self {
            recorder,
            random: Random::new(seed, thread as u64),
            checking: Checking::new(shared),
            arrivals: shared.schedule.as_ref().map(|schedule| schedule.reader()),
            idle: VecDeque::new(),
            claimed: None,
            is_over: false,
            waits: clients.len() == 1,
            quota: 0,
            thread,
            next_look: 0,
            ready: Vec::new(),
            shared,
            waiting,
            clients,
        }
    }

    /// Works until the end of what is measured, and until what was begun by then has ended.
    pub(crate) fn work(&mut self) {
        if let Err(error) = self.watch_all() {
            self.recorder.broken = Some(format!("failed to poll connections: {error}"));
            self.shared.window.end();
        } else if self.shared.schedule.is_some() {
            self.open_loop();
        } else {
            self.closed_loop();
        }
    }

    /// Closes the connections, and gives what was seen.
    pub(crate) fn close(mut self) -> Recorder {
        for client in &mut self.clients {
            client.close();
        }
        self.recorder
    }

    fn watch_all(&mut self) -> std::io::Result<()> {
        for (number, client) in self.clients.iter().enumerate() {
            if self.waits {
                client.limit(self.shared.timeout_ns);
            } else if let Some(descriptor) = client.descriptor() {
                self.waiting.watch(number, descriptor)?;
            }
        }
        Ok(())
    }

    /// Whether a client's answers are waited for where they are asked for.
    #[inline]
    pub(crate) fn blocks(&self, client: usize) -> bool {
        self.waits || !self.clients[client].is_pollable
    }

    fn closed_loop(&mut self) {
        let mut last = self.waiting.now();
        if (0..self.clients.len()).all(|client| self.blocks(client)) {
            while !self.is_over {
                for client in 0..self.clients.len() {
                    last = self.next_closed(client, last);
                }
                self.look(last);
                if self.clients.iter().all(|client| client.lane.is_none()) {
                    last = self.wait_for(last, NEVER);
                }
            }
            return;
        }
        for client in 0..self.clients.len() {
            last = self.next_closed(client, last);
        }
        loop {
            if self.is_over && !self.is_any_busy() {
                return;
            }
            self.wait(last, NEVER);
            // The ends of operations tell the time, where there are any.
            let mut seen = None;
            while let Some(client) = self.ready.pop() {
                if self.pursue(client) == Now::Over {
                    seen = Some(self.next_closed(client, self.clients[client].task.ended));
                }
            }
            last = seen.unwrap_or_else(|| self.waiting.now());
            if !self.look(last) {
                continue;
            }
            // Connections may have been opened again.
            for client in 0..self.clients.len() {
                if self.clients[client].state == State::Idle && !self.is_over {
                    last = self.next_closed(client, last);
                }
            }
        }
    }

    /// Begins a client's next operation, if it is still time, and goes on with the next one where that has ended already
    /// because the connection is polled by nobody. Gives the last time that was seen.
    #[inline]
    fn next_closed(&mut self, client: usize, mut last: u64) -> u64 {
        loop {
            if self.shared.is_past(last) {
                self.is_over = true;
            }
            if self.is_over || self.clients[client].state != State::Idle {
                return last;
            }
            let counts = self.shared.window.counts() && last >= self.shared.window.from();
            if counts && self.quota == 0 {
                self.quota = self.shared.window.take(self.shared.tallies.len() as u64);
                if self.quota == 0 {
                    self.is_over = true;
                    return last;
                }
            }
            if !self.prepare(client) {
                return last;
            }
            let task = &mut self.clients[client].task;
            task.counted = counts;
            self.quota -= u64::from(counts);
            task.begun = self.waiting.now();
            if self.start(client) == Now::Waiting {
                return last;
            }
            last = self.clients[client].task.ended.max(last);
            if !self.waits || !self.clients[client].is_pollable {
                return last;
            }
        }
    }

    fn open_loop(&mut self) {
        self.idle.extend(0..self.clients.len());
        let mut last = self.waiting.now();
        loop {
            // Arrivals first: they are what is timed to the microsecond.
            while let Some(intended) = self.claim(last) {
                if intended > last {
                    last = self.waiting.now();
                    if intended > last {
                        break;
                    }
                }
                let Some(client) = self.idle.pop_front() else { break };
                self.claimed = None;
                let now = self.waiting.now();
                let task = &mut self.clients[client].task;
                task.begun = now;
                task.intended = Some(intended);
                let window = (self.shared.window.from(), self.shared.window.to());
                self.recorder.begun(intended, task.free_since, now, window);
                last = now;
                if self.start(client) == Now::Over {
                    last = self.clients[client].task.ended.max(last);
                    self.release(client);
                }
            }
            if self.is_over && !self.is_any_busy() {
                return;
            }
            last = self.wait_for(last, self.claimed.unwrap_or(NEVER));
            while let Some(client) = self.ready.pop() {
                if self.pursue(client) == Now::Over {
                    self.release(client);
                }
            }
            self.look(last);
            if self.is_over && self.claimed.is_none() && !self.is_any_busy() {
                return;
            }
        }
    }

    /// A client's connection is free again.
    fn release(&mut self, client: usize) {
        if self.clients[client].state == State::Idle {
            let task = &mut self.clients[client].task;
            task.free_since = task.ended;
            self.idle.push_back(client);
        }
    }

    /// The arrival that is next for this thread, prepared at a free connection; none while there is none of either.
    fn claim(&mut self, last: u64) -> Option<u64> {
        let to = self.shared.window.to();
        if let Some(intended) = self.claimed {
            if self.shared.is_past(last) {
                // It was not begun in time.
                self.claimed = None;
                self.is_over = true;
                if let Some(client) = self.idle.front().copied() {
                    self.give_up(client, intended, to);
                }
                return None;
            }
            return Some(intended);
        }
        if self.shared.is_past(last) {
            self.is_over = true;
        }
        let client = self.idle.front().copied().filter(|_| !self.is_over)?;
        // Counts of arrivals from all threads meet here, which in an open loop come at a given rate.
        let index = self.shared.next.fetch_add(1, Ordering::Relaxed);
        let intended = self.arrivals.as_mut().and_then(|arrivals| arrivals.at(index));
        let Some(intended) = intended.filter(|intended| *intended < to) else {
            // It is given back in effect: what is counted as missed ends with the schedule.
            self.is_over = true;
            return None;
        };
        if intended < last
            && let Some(schedule) = &self.shared.schedule
        {
            self.recorder.waited(schedule, index, intended, last, self.shared.window.from());
        }
        if !self.prepare(client) {
            return None;
        }
        self.claimed = Some(intended);
        Some(intended)
    }

    /// An arrival was taken and not begun.
    fn give_up(&mut self, client: usize, intended: u64, to: u64) {
        let task = &mut self.clients[client].task;
        for item in &mut task.items[..task.used] {
            if let Some(write) = item.write.take() {
                self.shared.accept.aborted(write);
            }
        }
        let place = task.place;
        if self.shared.window.from() <= intended && intended < to {
            self.recorder.missed(place, intended, to);
        }
    }

    /// Draws and makes a client's next operation.
    #[inline]
    fn prepare(&mut self, client: usize) -> bool {
        let has_room = self.clients[client].task.prepare(self.shared, &mut self.random);
        if !has_room {
            self.recorder.broken = Some("numbers of records or versions have run out".to_owned());
            self.shared.window.end();
            self.is_over = true;
        }
        has_room
    }

    /// Begins what was prepared, in its turn where those who write take turns. An operation of a client that nobody polls
    /// ends within this, with all that is tried again and undone of it.
    #[inline]
    fn start(&mut self, client: usize) -> Now {
        let shared = self.shared;
        let _turn = shared.turns.as_ref().and_then(|turns| {
            let plan = shared.plans.get(self.clients[client].task.place)?;
            plan.operation.writes().then(|| turns.take())
        });
        self.begin(client)
    }

    /// Sends the first statement of what was prepared.
    #[inline]
    pub(crate) fn begin(&mut self, client: usize) -> Now {
        self.clients[client].state = State::Busy;
        match self.clients[client].send(self.shared) {
            Ok(()) if self.blocks(client) => self.pursue(client),
            Ok(()) => Now::Waiting,
            Err(error) => self.failed(client, error),
        }
    }

    /// Takes what has come of a client's answer, and goes on with its operation.
    #[inline]
    fn pursue(&mut self, number: usize) -> Now {
        let waits = self.blocks(number);
        loop {
            let client = &mut self.clients[number];
            if client.state == State::Undoing {
                return self.undone(number, waits);
            }
            if client.state != State::Busy {
                return Now::Waiting;
            }
            let (Some(plan), Some(lane)) = (self.shared.plans.get(client.task.place), client.lane.as_mut())
            else {
                return Now::Waiting;
            };
            let mut rows = Rows::new(self.shared, plan, &mut client.task, &mut self.checking, &self.waiting);
            let report = match lane.receive(waits, &mut rows) {
                Ok(Some(report)) => {
                    rows.finish();
                    report
                }
                Ok(None) => return Now::Waiting,
                Err(error) => return self.failed(number, error),
            };
            if let Some(now) = self.answered(number, report) {
                return now;
            }
            match self.clients[number].send(self.shared) {
                Ok(()) if waits => {}
                Ok(()) => return Now::Waiting,
                Err(error) => return self.failed(number, error),
            }
        }
    }

    /// A statement was answered. None when another one is to be sent.
    #[inline]
    fn answered(&mut self, number: usize, report: Report) -> Option<Now> {
        let task = &mut self.clients[number].task;
        let Some(plan) = self.shared.plans.get(task.place) else { return Some(Now::Over) };
        if let Some(statement) = plan.statements.get(task.step) {
            if statement.writes
                && let Some(affected) = report.affected
            {
                *task.changed.get_or_insert(0) += affected;
            }
            if statement.repeats && task.turn + 1 < task.used {
                task.turn += 1;
                return None;
            }
        }
        task.turn = 0;
        task.step += 1;
        if let Some(next) = plan.statements.get(task.step) {
            let is_absent = next.writes && !task.wrote && task.answer.rows == 0;
            if plan.operation == Operation::ReadModifyWrite && is_absent {
                let outcome = finish::absent(self.shared, plan, task);
                return Some(self.undo(number, outcome));
            }
            return None;
        }
        match finish::over(self.shared, plan, task, &mut self.recorder) {
            Ended::As(outcome) => {
                self.over(number, outcome);
                Some(Now::Over)
            }
            Ended::Conflict(words) => Some(self.conflict(number, words, false)),
        }
    }

    /// An operation is over.
    #[inline]
    pub(crate) fn over(&mut self, number: usize, outcome: Outcome) {
        let client = &mut self.clients[number];
        client.state = State::Idle;
        let task = &client.task;
        let times =
            Times { intended: task.intended, begun: task.begun, ended: task.ended, counted: task.counted };
        let came = finish::came(task);
        let window = match self.shared.window.counts() {
            // What was begun before is none of the counted ones.
            true if task.intended.is_none() => (NEVER, NEVER),
            _ => (self.shared.window.from(), self.shared.window.to()),
        };
        self.recorder.ended(task.place, times, outcome, came, window);
        if let Some(tally) = self.shared.tallies.get(self.thread) {
            tally.set(self.recorder.ended);
        }
    }

    /// Looks for what takes too long, and for connections that are to be opened again, if it is time; whether it was.
    #[inline]
    fn look(&mut self, now: u64) -> bool {
        let is_time = now >= self.next_look;
        if is_time {
            self.look_at_all(now);
        }
        is_time
    }

    fn is_any_busy(&self) -> bool {
        self.clients.iter().any(|client| matches!(client.state, State::Busy | State::Undoing))
    }

    /// Waits for answers, or until then; gives the time.
    fn wait_for(&mut self, last: u64, due: u64) -> u64 {
        self.wait(last, due);
        self.waiting.now()
    }

    /// Waits for answers, or until then.
    #[inline]
    fn wait(&mut self, last: u64, due: u64) {
        self.ready.clear();
        let mut until = due.min(self.next_look.max(last + 1));
        let to = self.shared.window.to();
        if to > last {
            until = until.min(to);
        }
        if let Err(error) = self.waiting.wait(until, due != NEVER, &mut self.ready) {
            self.recorder.broken = Some(format!("failed to wait for answers: {error}"));
            self.shared.window.end();
            self.is_over = true;
        }
    }
}
