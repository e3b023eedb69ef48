//! Handling of failed statements: undo, retry, or end of the operation.

use jsonathlon_driver_api::{DriverError, RowSink};

use crate::client::ClientState;
use crate::client_loop::{ClientLoop, OperationState};
use crate::completion;
use crate::reactor::Reactor;
use crate::recorder::OperationOutcome;
use crate::task::AfterRollback;

impl<W: Reactor> ClientLoop<'_, W> {
    /// Handles a failed statement: retries after a conflict, otherwise ends the operation and settles its
    /// writes.
    #[cold]
    pub(crate) fn failed(&mut self, number: usize, error: DriverError) -> OperationState {
        let now = self.waiting.now();
        let client = &mut self.clients[number];
        client.task.ended = now.saturating_sub(client.task.checking);
        let took = client.task.ended.saturating_sub(client.task.begun);
        match error {
            DriverError::Conflict(words) => self.conflict(number, words, true),
            DriverError::Refused(words) => {
                completion::refused(self.shared, &mut client.task);
                self.undo(number, OperationOutcome::Failed(words))
            }
            DriverError::Duplicate(words) => {
                completion::key_exists(self.shared, &mut client.task);
                self.undo(number, OperationOutcome::Failed(words))
            }
            DriverError::Crashed(words) | DriverError::Unavailable(words) => {
                completion::unknown(self.shared, &mut client.task);
                // The socket's receive timeout ended the read: at least 95 % of the time limit has passed.
                let gave_up = took >= self.shared.timeout_ns / 20 * 19;
                let outcome =
                    if gave_up { OperationOutcome::TimedOut } else { OperationOutcome::Failed(words) };
                self.lost(number, outcome)
            }
            DriverError::Protocol(words) => {
                completion::unknown(self.shared, &mut client.task);
                self.lost(number, OperationOutcome::Failed(words))
            }
            other => {
                completion::unknown(self.shared, &mut client.task);
                self.undo(number, OperationOutcome::Failed(other.to_string()))
            }
        }
    }

    /// Handles a conflict with another transaction: undoes the operation and retries it up to `retries`
    /// times. `is_open` tells whether a transaction may have to be undone.
    #[cold]
    pub(crate) fn conflict(&mut self, number: usize, words: String, is_open: bool) -> OperationState {
        let client = &mut self.clients[number];
        completion::refused(self.shared, &mut client.task);
        if is_open && client.task.step > 0 {
            match client.send_undo() {
                Ok(true) => {
                    client.state = ClientState::Undoing;
                    client.task.answer.wrong = None;
                    client.task.undoing = Some(AfterRollback::Conflict(words));
                    if self.blocks(number) {
                        return self.undone(number, true);
                    }
                    return OperationState::Pending;
                }
                Ok(false) => {}
                Err(_) => return self.lost(number, OperationOutcome::Failed(words)),
            }
        }
        self.again(number, words)
    }

    fn again(&mut self, number: usize, words: String) -> OperationState {
        let now = self.waiting.now();
        let client = &mut self.clients[number];
        let too_long = now.saturating_sub(client.task.begun) >= self.shared.timeout_ns;
        if client.task.tries >= self.shared.job.retries || too_long {
            client.task.ended = now.saturating_sub(client.task.checking);
            self.over(number, OperationOutcome::Failed(words));
            return OperationState::Complete;
        }
        // A retry after the end of the window would not end within it, and the conflict is no error of the
        // window. The operation therefore ends now; subtracting the checking time could move its end into the
        // window.
        if self.shared.is_finished(now) || !client.task.restart_after_conflict(self.shared) {
            client.task.ended = now;
            self.over(number, OperationOutcome::Failed(words));
            return OperationState::Complete;
        }
        self.begin(number)
    }

    /// Rolls back an operation that failed after its first statement, and then ends it with `outcome`.
    pub(crate) fn undo(&mut self, number: usize, outcome: OperationOutcome) -> OperationState {
        let client = &mut self.clients[number];
        if client.task.step > 0 {
            match client.send_undo() {
                Ok(true) => {
                    client.state = ClientState::Undoing;
                    client.task.undoing = Some(AfterRollback::Ends(outcome));
                    if self.blocks(number) {
                        return self.undone(number, true);
                    }
                    return OperationState::Pending;
                }
                Ok(false) => {}
                Err(_) => return self.lost(number, outcome),
            }
        }
        self.over(number, outcome);
        OperationState::Complete
    }

    /// Reads the answer to the undo statement, then retries or ends the operation.
    pub(crate) fn undone(&mut self, number: usize, waits: bool) -> OperationState {
        let client = &mut self.clients[number];
        let Some(lane) = client.lane.as_mut() else { return OperationState::Complete };
        let received = lane.receive(waits, &mut DiscardRows);
        let is_lost = match received {
            Ok(None) => return OperationState::Pending,
            Ok(Some(_)) => false,
            // A system that has rolled back by itself refuses the undo statement.
            Err(DriverError::Refused(_) | DriverError::Conflict(_)) => false,
            Err(_) => true,
        };
        let undoing = client.task.undoing.take();
        client.state = ClientState::Busy;
        match undoing {
            Some(AfterRollback::Conflict(words)) if is_lost => {
                self.lost(number, OperationOutcome::Failed(words))
            }
            Some(AfterRollback::Conflict(words)) => self.again(number, words),
            Some(AfterRollback::Ends(outcome)) if is_lost => self.lost(number, outcome),
            Some(AfterRollback::Ends(outcome)) => {
                let now = self.waiting.now();
                let task = &mut self.clients[number].task;
                task.ended = now.saturating_sub(task.checking);
                self.over(number, outcome);
                OperationState::Complete
            }
            None => OperationState::Complete,
        }
    }
}

/// Discards all rows of an answer.
struct DiscardRows;

impl RowSink for DiscardRows {
    fn columns(&mut self, _: &[&str]) -> jsonathlon_driver_api::Result<()> {
        Ok(())
    }

    fn row(&mut self, _: &[jsonathlon_driver_api::Cell<'_>]) -> jsonathlon_driver_api::Result<()> {
        Ok(())
    }
}
