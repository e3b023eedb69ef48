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
const MOST_ATTEMPTS: u32 = 2_000;
/// Timeout for each read while the statements are prepared on a reopened connection.
const PREPARE_TIMEOUT: Duration = Duration::from_secs(1);

impl<W: Reactor> ClientLoop<'_, W> {
    /// Ends the current operation and closes a connection that is lost or unusable. The client reconnects
    /// later, except in a crash test, where it stays dead.
    #[cold]
    pub(crate) fn lose_connection(&mut self, index: usize, outcome: OperationOutcome) -> OperationState {
        self.end_operation(index, outcome);
        let now = self.reactor.now();
        let client = &mut self.clients[index];
        client.close();
        client.state = ClientState::Down { next_try: now, tries: 0 };
        self.recorder.lost_connections += 1;
        if self.shared.ack_log.is_some() {
            self.retire(index);
        }
        OperationState::Complete
    }

    /// Never reconnects a client again. The thread's trial is over when no client of it is left.
    fn retire(&mut self, index: usize) {
        self.clients[index].state = ClientState::Dead;
        self.is_over |= self.clients.iter().all(|client| client.state == ClientState::Dead);
    }

    #[cold]
    pub(crate) fn poll_clients(&mut self, now: u64) {
        self.next_poll = now + TICK_NS;
        if self.shared.is_finished(now) {
            self.is_over = true;
        }
        for index in 0..self.clients.len() {
            match self.clients[index].state {
                ClientState::Busy | ClientState::Undoing
                    if now.saturating_sub(self.clients[index].task.start_ns) >= self.shared.timeout_ns =>
                {
                    let client = &mut self.clients[index];
                    completion::mark_writes_unknown(self.shared, &mut client.task);
                    client.task.after_undo = None;
                    client.task.end_ns = now;
                    self.lose_connection(index, OperationOutcome::TimedOut);
                }
                ClientState::Down { next_try, tries } if now >= next_try && !self.is_over => {
                    self.reopen(index, tries);
                }
                _ => {}
            }
        }
    }

    /// Reopens a connection. In a closed loop a failed attempt is recorded as a failed operation of its
    /// client.
    #[cold]
    fn reopen(&mut self, index: usize, tries: u32) {
        let start_ns = self.reactor.now();
        let opened = self.connect(index);
        let now = self.reactor.now();
        match opened {
            Ok(()) => {
                self.recorder.reconnects += 1;
                if self.shared.schedule.is_some() {
                    self.clients[index].task.idle_since_ns = now;
                    self.idle.push_back(index);
                }
            }
            Err(error) => {
                let pause = (PAUSE_NS << tries.min(8)).min(LONGEST_PAUSE_NS);
                let client = &mut self.clients[index];
                client.close();
                client.state = ClientState::Down { next_try: now + pause, tries: tries + 1 };
                if tries >= MOST_ATTEMPTS {
                    self.retire(index);
                }
                if self.shared.schedule.is_none() {
                    let operation_index =
                        self.shared.plan_index(self.shared.operation_chooser.draw(&mut self.random));
                    let times =
                        OperationTimes { intended_start_ns: None, start_ns, end_ns: now, is_counted: false };
                    let window = (self.shared.window.start_ns(), self.shared.window.end_ns());
                    let message = format!("failed to connect again: {error}");
                    self.recorder.record_end(
                        operation_index,
                        times,
                        OperationOutcome::Failed(message),
                        Default::default(),
                        window,
                    );
                }
            }
        }
    }

    /// Makes one attempt to connect, during which the other clients of the thread wait.
    fn connect(&mut self, index: usize) -> Result<()> {
        let connection = (self.shared.connection_factories.immediate)()?;
        let descriptor = connection.descriptor();
        // A server that accepts connections may still be too busy to answer.
        limit(descriptor, Some(PREPARE_TIMEOUT));
        self.clients[index].connect(connection, self.shared)?;
        let descriptor = self.clients[index].descriptor();
        limit(descriptor, self.is_blocking.then(|| Duration::from_nanos(self.shared.timeout_ns)));
        match descriptor {
            Some(descriptor) if !self.is_blocking => self
                .reactor
                .watch(index, descriptor)
                .map_err(|error| DriverError::Unavailable(format!("failed to poll: {error}"))),
            _ => Ok(()),
        }
    }
}
