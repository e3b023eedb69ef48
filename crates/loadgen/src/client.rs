//! One client: its connection, the statements prepared on it and the state of its current operation.

use std::os::fd::BorrowedFd;
use std::time::Duration;

use jsonathlon_driver_api::{NonblockingConnection, Parameter, PreparedStatement, Result};
use rustix::net::sockopt::{Timeout, set_socket_timeout};

use crate::job_context::JobContext;
use crate::task::Task;

/// Number of parameters up to which a statement is sent without a heap allocation.
const INLINE_PARAMETERS: usize = 8;

/// State of a client's connection and operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ClientState {
    /// The connection is free for the next operation.
    Idle,
    /// A statement of the operation has been sent.
    Busy,
    /// A failed operation is being rolled back.
    Undoing,
    /// The connection is lost and will be reopened.
    Down {
        /// Time of the next attempt, in nanoseconds since the job began.
        next_try: u64,
        /// Number of failed attempts so far.
        tries: u32,
    },
    /// The connection is lost and will not be reopened.
    Dead,
}

/// Sets the receive timeout of a connection's socket; `None` removes the timeout.
pub(crate) fn limit(descriptor: Option<BorrowedFd<'_>>, timeout: Option<Duration>) {
    if let Some(descriptor) = descriptor {
        // If the timeout cannot be set, a late operation is noticed only when its answer arrives.
        set_socket_timeout(descriptor, Timeout::Recv, timeout).ok();
    }
}

/// One client with its connection and current operation.
pub(crate) struct Client {
    pub(crate) connection: Option<Box<dyn NonblockingConnection>>,
    /// Whether the connection has a descriptor to poll. Set when the connection is opened.
    pub(crate) is_pollable: bool,
    pub(crate) state: ClientState,
    pub(crate) task: Task,
    /// Prepared statements and undo statement by the operation's index in the mix.
    prepared: Vec<(Vec<PreparedStatement>, Option<PreparedStatement>)>,
}

impl Client {
    /// Creates a client on a connection and prepares all statements of the job.
    ///
    /// # Errors
    /// If a statement cannot be prepared.
    pub(crate) fn new(connection: Box<dyn NonblockingConnection>, shared: &JobContext<'_>) -> Result<Self> {
        let mut client = Self {
            is_pollable: false,
            connection: None,
            state: ClientState::Idle,
            task: Task::default(),
            prepared: Vec::new(),
        };
        client.connect(connection, shared)?;
        Ok(client)
    }

    /// Replaces the connection and prepares all statements of the job on the new one.
    pub(crate) fn connect(
        &mut self,
        mut connection: Box<dyn NonblockingConnection>,
        shared: &JobContext<'_>,
    ) -> Result<()> {
        self.prepared.clear();
        for plan in &shared.plans {
            let statements = plan
                .statements
                .iter()
                .map(|statement| connection.prepare(&statement.text))
                .collect::<Result<Vec<_>>>()?;
            let undo = plan.undo.as_ref().map(|text| connection.prepare(text)).transpose()?;
            self.prepared.push((statements, undo));
        }
        self.is_pollable = connection.descriptor().is_some();
        self.connection = Some(connection);
        self.state = ClientState::Idle;
        Ok(())
    }

    /// Closes the connection, if there is one.
    pub(crate) fn close(&mut self) {
        if let Some(connection) = self.connection.take() {
            connection.close();
        }
    }

    pub(crate) fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        self.connection.as_ref().and_then(|connection| connection.descriptor())
    }

    /// Sets the receive timeout of the connection's socket, in nanoseconds.
    pub(crate) fn limit(&self, timeout_ns: u64) {
        limit(self.descriptor(), Some(Duration::from_nanos(timeout_ns)));
    }

    /// Sends the current statement of the operation with its parameters.
    #[inline]
    pub(crate) fn send(&mut self, shared: &JobContext<'_>) -> Result<()> {
        let task = &mut self.task;
        let (Some(plan), Some((prepared, _)), Some(connection)) =
            (shared.plans.get(task.plan_index), self.prepared.get(task.plan_index), self.connection.as_mut())
        else {
            return Ok(());
        };
        let (Some(statement), Some(prepared)) =
            (plan.statements.get(task.statement_index), prepared.get(task.statement_index))
        else {
            return Ok(());
        };
        task.has_written |= statement.writes;
        let count = statement.fillers.len();
        let mut buffer = [Parameter::Null; INLINE_PARAMETERS];
        if let Some(parameters) = buffer.get_mut(..count) {
            for (parameter, filler) in parameters.iter_mut().zip(&statement.fillers) {
                *parameter = task.parameter(*filler, shared);
            }
            return connection.send(prepared, parameters);
        }
        let parameters: Vec<Parameter<'_>> =
            statement.fillers.iter().map(|filler| task.parameter(*filler, shared)).collect();
        connection.send(prepared, &parameters)
    }

    /// Sends the undo statement of the operation. Returns `false` if the operation has none.
    pub(crate) fn send_undo(&mut self) -> Result<bool> {
        let undo = self.prepared.get(self.task.plan_index).and_then(|(_, undo)| undo.as_ref());
        match (undo, self.connection.as_mut()) {
            (Some(undo), Some(connection)) => connection.send(undo, &[]).map(|()| true),
            _ => Ok(false),
        }
    }
}
