//! Lost connections: detects them by timeout and reopens them.

use std::time::Duration;

use jsonathlon_driver_api::{DriverError, Result};

use crate::client::{ClientState, limit};
use crate::client_loop::{ClientLoop, OperationState};
use crate::completion;
use crate::reactor::{Reactor, TICK_NS};
use crate::recorder::{OperationOutcome, OperationTimes};

/// First pause between two attempts to reopen a connection, in nanoseconds. The pause doubles after each
/// failure, up to [`LONGEST_PAUSE_NS`].
const PAUSE_NS: u64 = 20_000_000;
const LONGEST_PAUSE_NS: u64 = 500_000_000;
/// A client is given up when an attempt to reopen fails after this many failed attempts.
const ATTEMPTS: u32 = 2_000;
/// Timeout for each read while the statements are prepared on a reopened connection.
const PREPARING: Duration = Duration::from_secs(1);

impl<W: Reactor> ClientLoop<'_, W> {
    /// Ends the current operation and closes a connection that is lost or unusable. The client reconnects
    /// later, except in a crash test, where it stays dead.
    #[cold]
    pub(crate) fn lost(&mut self, number: usize, outcome: OperationOutcome) -> OperationState {
        self.over(number, outcome);
        let now = self.waiting.now();
        let client = &mut self.clients[number];
        client.close();
        client.state = ClientState::Down { next_try: now, tries: 0 };
        self.recorder.lost += 1;
        if self.shared.promises.is_some() {
            self.retire(number);
        }
        OperationState::Complete
    }

    /// Never reconnects a client again. The thread's trial is over when no client of it is left.
    fn retire(&mut self, number: usize) {
        self.clients[number].state = ClientState::Dead;
        self.is_over |= self.clients.iter().all(|client| client.state == ClientState::Dead);
    }

    #[cold]
    pub(crate) fn look_at_all(&mut self, now: u64) {
        self.next_look = now + TICK_NS;
        if self.shared.is_finished(now) {
            self.is_over = true;
        }
        for number in 0..self.clients.len() {
            match self.clients[number].state {
                ClientState::Busy | ClientState::Undoing
                    if now.saturating_sub(self.clients[number].task.begun) >= self.shared.timeout_ns =>
                {
                    let client = &mut self.clients[number];
                    completion::unknown(self.shared, &mut client.task);
                    client.task.undoing = None;
                    client.task.ended = now;
                    self.lost(number, OperationOutcome::TimedOut);
                }
                ClientState::Down { next_try, tries } if now >= next_try && !self.is_over => {
                    self.reopen(number, tries);
                }
                _ => {}
            }
        }
    }

    /// Reopens a connection. In a closed loop a failed attempt is recorded as a failed operation of its
    /// client.
    #[cold]
    fn reopen(&mut self, number: usize, tries: u32) {
        let begun = self.waiting.now();
        let opened = self.connect(number);
        let now = self.waiting.now();
        match opened {
            Ok(()) => {
                self.recorder.reconnects += 1;
                if self.shared.schedule.is_some() {
                    self.clients[number].task.free_since = now;
                    self.idle.push_back(number);
                }
            }
            Err(error) => {
                let pause = (PAUSE_NS << tries.min(8)).min(LONGEST_PAUSE_NS);
                let client = &mut self.clients[number];
                client.close();
                client.state = ClientState::Down { next_try: now + pause, tries: tries + 1 };
                if tries >= ATTEMPTS {
                    self.retire(number);
                }
                if self.shared.schedule.is_none() {
                    let place = self.shared.place(self.shared.shares.draw(&mut self.random));
                    let times = OperationTimes { intended: None, begun, ended: now, counted: false };
                    let window = (self.shared.window.from(), self.shared.window.to());
                    let words = format!("failed to connect again: {error}");
                    self.recorder.ended(
                        place,
                        times,
                        OperationOutcome::Failed(words),
                        Default::default(),
                        window,
                    );
                }
            }
        }
    }

    /// Makes one attempt to connect, during which the other clients of the thread wait.
    fn connect(&mut self, number: usize) -> Result<()> {
        let lane = (self.shared.openers.again)()?;
        let descriptor = lane.descriptor();
        // A server that accepts connections may still be too busy to answer.
        limit(descriptor, Some(PREPARING));
        self.clients[number].connect(lane, self.shared)?;
        let descriptor = self.clients[number].descriptor();
        limit(descriptor, self.waits.then(|| Duration::from_nanos(self.shared.timeout_ns)));
        match descriptor {
            Some(descriptor) if !self.waits => self
                .waiting
                .watch(number, descriptor)
                .map_err(|error| DriverError::Unavailable(format!("failed to poll: {error}"))),
            _ => Ok(()),
        }
    }
}
