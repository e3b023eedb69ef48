//! Handling of failed statements: undo, retry, or end of the operation.

use jsonathlon_driver_api::{DriverError, RowSink};

use crate::client::ClientState;
use crate::client_loop::{ClientLoop, OperationState};
use crate::completion;
use crate::reactor::Reactor;
use crate::recorder::OperationOutcome;
use crate::task::AfterUndo;

impl<W: Reactor> ClientLoop<'_, W> {
    /// Handles a failed statement: retries after a conflict, otherwise ends the operation and settles its
    /// writes.
    #[cold]
    pub(crate) fn handle_failure(&mut self, index: usize, error: DriverError) -> OperationState {
        let now = self.reactor.now();
        let client = &mut self.clients[index];
        client.task.end_ns = now.saturating_sub(client.task.checking_ns);
        let elapsed = client.task.end_ns.saturating_sub(client.task.start_ns);
        match error {
            DriverError::Conflict(message) => self.handle_conflict(index, message, true),
            DriverError::Refused(message) => {
                completion::abort_writes(self.shared, &mut client.task);
                self.undo_and_end(index, OperationOutcome::Failed(message))
            }
            DriverError::Duplicate(message) => {
                completion::mark_keys_taken(self.shared, &mut client.task);
                self.undo_and_end(index, OperationOutcome::Failed(message))
            }
            DriverError::Crashed(message) | DriverError::Unavailable(message) => {
                completion::mark_writes_unknown(self.shared, &mut client.task);
                // The socket's receive timeout ended the read: at least 95 % of the time limit has passed.
                let has_timed_out = elapsed >= self.shared.timeout_ns / 20 * 19;
                let outcome = if has_timed_out {
                    OperationOutcome::TimedOut
                } else {
                    OperationOutcome::Failed(message)
                };
                self.lose_connection(index, outcome)
            }
            DriverError::Protocol(message) => {
                completion::mark_writes_unknown(self.shared, &mut client.task);
                self.lose_connection(index, OperationOutcome::Failed(message))
            }
            other => {
                completion::mark_writes_unknown(self.shared, &mut client.task);
                self.undo_and_end(index, OperationOutcome::Failed(other.to_string()))
            }
        }
    }

    /// Handles a conflict with another transaction: undoes the operation and retries it up to `retries`
    /// times. `is_open` tells whether a transaction may have to be undone.
    #[cold]
    pub(crate) fn handle_conflict(&mut self, index: usize, message: String, is_open: bool) -> OperationState {
        let client = &mut self.clients[index];
        completion::abort_writes(self.shared, &mut client.task);
        if is_open && client.task.statement_index > 0 {
            match client.send_undo() {
                Ok(true) => {
                    client.state = ClientState::Undoing;
                    client.task.answer.error = None;
                    client.task.after_undo = Some(AfterUndo::Retry(message));
                    if self.blocks(index) {
                        return self.finish_undo(index, true);
                    }
                    return OperationState::Pending;
                }
                Ok(false) => {}
                Err(_) => return self.lose_connection(index, OperationOutcome::Failed(message)),
            }
        }
        self.retry(index, message)
    }

    fn retry(&mut self, index: usize, message: String) -> OperationState {
        let now = self.reactor.now();
        let client = &mut self.clients[index];
        let is_too_late = now.saturating_sub(client.task.start_ns) >= self.shared.timeout_ns;
        if client.task.retries >= self.shared.job.retries || is_too_late {
            client.task.end_ns = now.saturating_sub(client.task.checking_ns);
            self.end_operation(index, OperationOutcome::Failed(message));
            return OperationState::Complete;
        }
        // A retry after the end of the window would not end within it, and the conflict is no error of the
        // window. The operation therefore ends now; subtracting the checking time could move its end into the
        // window.
        if self.shared.is_finished(now) || !client.task.restart_after_conflict(self.shared) {
            client.task.end_ns = now;
            self.end_operation(index, OperationOutcome::Failed(message));
            return OperationState::Complete;
        }
        self.send_first_statement(index)
    }

    /// Rolls back an operation that failed after its first statement, and then ends it with `outcome`.
    pub(crate) fn undo_and_end(&mut self, index: usize, outcome: OperationOutcome) -> OperationState {
        let client = &mut self.clients[index];
        if client.task.statement_index > 0 {
            match client.send_undo() {
                Ok(true) => {
                    client.state = ClientState::Undoing;
                    client.task.after_undo = Some(AfterUndo::End(outcome));
                    if self.blocks(index) {
                        return self.finish_undo(index, true);
                    }
                    return OperationState::Pending;
                }
                Ok(false) => {}
                Err(_) => return self.lose_connection(index, outcome),
            }
        }
        self.end_operation(index, outcome);
        OperationState::Complete
    }

    /// Reads the answer to the undo statement, then retries or ends the operation.
    pub(crate) fn finish_undo(&mut self, index: usize, waits: bool) -> OperationState {
        let client = &mut self.clients[index];
        let Some(connection) = client.connection.as_mut() else { return OperationState::Complete };
        let received = connection.receive(waits, &mut DiscardRows);
        let is_lost = match received {
            Ok(None) => return OperationState::Pending,
            Ok(Some(_)) => false,
            // A system that has rolled back by itself refuses the undo statement.
            Err(DriverError::Refused(_) | DriverError::Conflict(_)) => false,
            Err(_) => true,
        };
        let undoing = client.task.after_undo.take();
        client.state = ClientState::Busy;
        match undoing {
            Some(AfterUndo::Retry(message)) if is_lost => {
                self.lose_connection(index, OperationOutcome::Failed(message))
            }
            Some(AfterUndo::Retry(message)) => self.retry(index, message),
            Some(AfterUndo::End(outcome)) if is_lost => self.lose_connection(index, outcome),
            Some(AfterUndo::End(outcome)) => {
                let now = self.reactor.now();
                let task = &mut self.clients[index].task;
                task.end_ns = now.saturating_sub(task.checking_ns);
                self.end_operation(index, outcome);
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
