//! One client: a connection, the statements prepared on it, and what it is doing.

use std::os::fd::BorrowedFd;
use std::time::Duration;

use jsonathlon_connection::{Lane, Parameter, Prepared, Result};
use rustix::net::sockopt::{Timeout, set_socket_timeout};

use crate::shared::Shared;
use crate::task::Task;

/// Parameters that take no memory of their own.
const USUAL: usize = 8;

/// What a client is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum State {
    /// Its connection is free.
    Idle,
    /// A statement is under way.
    Busy,
    /// What failed is being undone.
    Undoing,
    /// The connection is gone and is to be opened again then.
    Down {
        /// Nanoseconds since the job began.
        next_try: u64,
        /// How often it was tried.
        tries: u32,
    },
    /// It was not to be opened again.
    Dead,
}

/// Lets reads of a connection wait no longer than this; without an end where it is none.
pub(crate) fn limit(descriptor: Option<BorrowedFd<'_>>, longest: Option<Duration>) {
    if let Some(descriptor) = descriptor {
        // Where that cannot be set, what is given up is noticed when the answer comes.
        set_socket_timeout(descriptor, Timeout::Recv, longest).ok();
    }
}

/// One client.
pub(crate) struct Client {
    pub(crate) lane: Option<Box<dyn Lane>>,
    /// Whether it has a descriptor.
    pub(crate) is_pollable: bool,
    pub(crate) state: State,
    pub(crate) task: Task,
    /// By place in the mix: its statements, and what undoes them.
    prepared: Vec<(Vec<Prepared>, Option<Prepared>)>,
}

impl Client {
    /// Takes a connection and prepares all statements of the job on it.
    pub(crate) fn new(lane: Box<dyn Lane>, shared: &Shared<'_>) -> Result<Self> {
        let mut client = Self {
            is_pollable: false,
            lane: None,
            state: State::Idle,
            task: Task::default(),
            prepared: Vec::new(),
        };
        client.connect(lane, shared)?;
        Ok(client)
    }

    /// Takes another connection.
    pub(crate) fn connect(&mut self, mut lane: Box<dyn Lane>, shared: &Shared<'_>) -> Result<()> {
        self.prepared.clear();
        for plan in &shared.plans {
            let statements =
                plan.statements.iter().map(|one| lane.prepare(&one.text)).collect::<Result<Vec<_>>>()?;
            let undo = plan.undo.as_ref().map(|text| lane.prepare(text)).transpose()?;
            self.prepared.push((statements, undo));
        }
        self.is_pollable = lane.descriptor().is_some();
        self.lane = Some(lane);
        self.state = State::Idle;
        Ok(())
    }

    /// Ends the connection.
    pub(crate) fn close(&mut self) {
        if let Some(lane) = self.lane.take() {
            lane.close();
        }
    }

    pub(crate) fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        self.lane.as_ref().and_then(|lane| lane.descriptor())
    }

    /// Lets reads of the connection wait no longer than this.
    pub(crate) fn limit(&self, ns: u64) {
        limit(self.descriptor(), Some(Duration::from_nanos(ns)));
    }

    /// Sends the statement that is next.
    #[inline]
    pub(crate) fn send(&mut self, shared: &Shared<'_>) -> Result<()> {
        let task = &mut self.task;
        let (Some(plan), Some((prepared, _)), Some(lane)) =
            (shared.plans.get(task.place), self.prepared.get(task.place), self.lane.as_mut())
        else {
            return Ok(());
        };
        let (Some(statement), Some(prepared)) = (plan.statements.get(task.step), prepared.get(task.step))
        else {
            return Ok(());
        };
        task.wrote |= statement.writes;
        let count = statement.fillers.len();
        let mut few = [Parameter::Null; USUAL];
        if let Some(parameters) = few.get_mut(..count) {
            for (place, filler) in parameters.iter_mut().zip(&statement.fillers) {
                *place = task.parameter(*filler, shared);
            }
            return lane.send(prepared, parameters);
        }
        let many: Vec<Parameter<'_>> =
            statement.fillers.iter().map(|filler| task.parameter(*filler, shared)).collect();
        lane.send(prepared, &many)
    }

    /// Sends what undoes the operation; false where there is nothing.
    pub(crate) fn send_undo(&mut self) -> Result<bool> {
        let undo = self.prepared.get(self.task.place).and_then(|(_, undo)| undo.as_ref());
        match (undo, self.lane.as_mut()) {
            (Some(undo), Some(lane)) => lane.send(undo, &[]).map(|()| true),
            _ => Ok(false),
        }
    }
}
