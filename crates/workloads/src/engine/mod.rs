//! A worker with its session, and the server that was started for it.
//!
//! The server is this process's own, through its guard. A worker is told where it is and cannot tell it from one
//! by address; what has become of it is for this module to say.

mod keeper;
mod stop;

use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::time::Duration;

use jsonathlon_connection::address::{Password, Tls};
use jsonathlon_connection::driver::{Open, Place};
use jsonathlon_connection::endpoint::Endpoint;
use jsonathlon_servers::{Launch, Login, Server, ServerError};
use jsonathlon_worker::protocol::{FailureKind, Op, Opened, PROTOCOL, Progress};
use jsonathlon_worker::{Worker, WorkerError};
use serde::de::DeserializeOwned;

use keeper::Keeper;
pub(crate) use stop::{StopAt, Stopped};

/// How often a server is started anew when somebody else took the port that was free.
const PORTS: usize = 5;
/// Between two attempts to reach a server that is starting. An attempt costs the server next to nothing.
const PAUSE_MS: u64 = 5;

/// How workers are started.
#[derive(Debug, Clone)]
pub struct WorkerCommand {
    /// The program, usually this one; it is also the guard of servers.
    pub program: PathBuf,
    /// Its arguments.
    pub arguments: Vec<String>,
}

impl WorkerCommand {
    /// Starts a worker that has no session yet.
    ///
    /// # Errors
    /// It cannot be started, or its log not be opened.
    pub fn spawn(&self, log: &Path) -> Result<Worker, WorkerError> {
        let arguments: Vec<&str> = self.arguments.iter().map(String::as_str).collect();
        Worker::spawn(&self.program, &arguments, log, &[])
    }
}

/// A worker that has a session open. Dropping it kills the worker and abandons the server that was started for it.
#[derive(Debug)]
pub struct Engine {
    // First, so that it goes first.
    worker: Worker,
    server: Option<Server>,
    launch: Option<Launch>,
    place: Place,
}

impl Engine {
    /// Starts the server, if there is one to be started, and opens a session in a worker. The answer's seconds
    /// hold both. `started` is told each worker's process.
    ///
    /// # Errors
    /// As [`Worker::request`]. A server that does not come up is a request refused as
    /// [`FailureKind::Unavailable`], with the end of its log.
    pub fn open(
        command: &WorkerCommand,
        log: &Path,
        open: &Open,
        launch: Option<&Launch>,
        limit: Duration,
        cancelled: &dyn Fn() -> bool,
        started: &mut dyn FnMut(u32),
    ) -> Result<(Self, Opened), WorkerError> {
        let Some(launch) = launch else {
            let mut worker = command.spawn(log)?;
            started(worker.pid());
            let op = Op::Open { protocol: PROTOCOL, open: open.clone() };
            let opened: Opened = worker.request(&op, limit, cancelled, &mut |_| {})?;
            return Ok((Self { worker, server: None, launch: None, place: opened.place }, opened));
        };
        for _ in 0..PORTS {
            // Before the server, so that it is ready to look for it at once.
            let mut worker = command.spawn(log)?;
            started(worker.pid());
            let mut server = Server::start(launch, cancelled).map_err(failed)?;
            match session(&mut worker, &mut server, open, launch, limit, cancelled) {
                Ok(opened) => {
                    let (server, launch) = (Some(server), Some(launch.clone()));
                    return Ok((Self { worker, server, launch, place: opened.place }, opened));
                }
                // Somebody was faster; and everything else is not about the port.
                Err(_) if server.lost_its_port() => {}
                Err(error) => return Err(error),
            }
        }
        let text = format!("{PORTS} free ports were taken by others before the server was up");
        Err(unavailable(text))
    }

    /// Ends the session and opens another in a new worker. The server that was started goes on meanwhile.
    ///
    /// # Errors
    /// As [`Worker::close`] and [`Worker::request`].
    pub fn reconnect(
        &mut self,
        command: &WorkerCommand,
        log: &Path,
        open: &Open,
        limit: Duration,
        cancelled: &dyn Fn() -> bool,
        started: &mut dyn FnMut(u32),
    ) -> Result<Opened, WorkerError> {
        self.worker.close(limit)?;
        self.worker = command.spawn(log)?;
        started(self.worker.pid());
        let opened = match (&mut self.server, &self.launch) {
            (Some(server), Some(launch)) => {
                session(&mut self.worker, server, open, launch, limit, cancelled)?
            }
            _ => {
                let op = Op::Open { protocol: PROTOCOL, open: open.clone() };
                self.worker.request(&op, limit, cancelled, &mut |_| {})?
            }
        };
        self.place = opened.place;
        Ok(opened)
    }

    /// The worker.
    #[must_use]
    pub fn worker(&self) -> &Worker {
        &self.worker
    }

    /// The server that was started for it.
    #[must_use]
    pub fn server(&self) -> Option<&Server> {
        self.server.as_ref()
    }

    /// Whether it can still be asked.
    #[must_use]
    pub fn is_alive(&self) -> bool {
        self.worker.is_alive()
    }

    /// Whether the server that was started for it has ended by itself.
    pub fn has_lost_its_server(&mut self) -> bool {
        self.server.as_mut().is_some_and(Server::has_ended)
    }

    /// The process whose tree is the engine: the server's, or the worker's own. None is known of a server elsewhere.
    #[must_use]
    pub fn process(&self) -> Option<u32> {
        match self.place {
            Place::Here => Some(self.worker.pid()),
            Place::Process(server) => Some(server),
            Place::Elsewhere => None,
        }
    }

    /// As [`Worker::request`]. After whatever ends the worker or the connection, both worker and server are gone: a
    /// statement that nobody waits for any more would be measured beside all others.
    ///
    /// # Errors
    /// As [`Worker::request`]; [`FailureKind::Crashed`] with what has become of the server.
    pub fn request<R: DeserializeOwned>(
        &mut self,
        op: &Op,
        limit: Duration,
        cancelled: &dyn Fn() -> bool,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<R, WorkerError> {
        let answer = self.worker.request(op, limit, cancelled, progress);
        answer.map_err(|error| self.broken(error))
    }

    /// As [`Engine::request`] of what clients do over connections of their own. The server that was started is started
    /// again whenever it ends meanwhile, on the same data and at the same address, and the request goes on. The worker's
    /// session is of no use then. Gives how the server ended, each time.
    ///
    /// # Errors
    /// As [`Engine::request`].
    pub fn drive<R: DeserializeOwned>(
        &mut self,
        op: &Op,
        limit: Duration,
        cancelled: &dyn Fn() -> bool,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<(R, Vec<String>), WorkerError> {
        let (Some(server), Some(launch)) = (&mut self.server, &self.launch) else {
            return self.request(op, limit, cancelled, progress).map(|answer| (answer, Vec::new()));
        };
        let keeper = RefCell::new(Keeper::new(server, launch));
        let stop = || {
            keeper.borrow_mut().look(cancelled);
            cancelled()
        };
        let answer = self.worker.request(op, limit, &stop, progress);
        let mut keeper = keeper.into_inner();
        // What comes after needs the server.
        keeper.look(cancelled);
        let ends = keeper.ends();
        if !ends.is_empty() {
            self.place = Place::Process(server.pid());
        }
        answer.map(|answer| (answer, ends)).map_err(|error| self.broken(error))
    }

    /// What a request's failure leaves: after whatever ends the worker or the connection, nothing.
    fn broken(&mut self, error: WorkerError) -> WorkerError {
        match error {
            WorkerError::Refused { kind: FailureKind::Crashed, message } => {
                let message = match &mut self.server {
                    Some(server) => server.explain_loss(&message),
                    None => message,
                };
                self.end();
                WorkerError::Refused { kind: FailureKind::Crashed, message }
            }
            refused @ WorkerError::Refused { .. } => refused,
            dead => {
                self.end();
                dead
            }
        }
    }

    /// Ends the session, then the worker, then the server, each cleanly.
    ///
    /// # Errors
    /// As [`Worker::close`]; a server that does not end well is [`FailureKind::Crashed`].
    pub fn close(mut self, limit: Duration) -> Result<(), WorkerError> {
        self.worker.close(limit)?;
        match self.server.take() {
            Some(server) => server.stop().map_err(failed),
            None => Ok(()),
        }
    }

    fn end(&mut self) {
        self.worker.kill();
        self.server = None;
    }
}

/// Opens a session on a server that may still be starting, as long as it does not end.
fn session(
    worker: &mut Worker,
    server: &mut Server,
    open: &Open,
    launch: &Launch,
    limit: Duration,
    cancelled: &dyn Fn() -> bool,
) -> Result<Opened, WorkerError> {
    let patience = Duration::from_secs(launch.recipe.start_limit_s);
    let endpoint = endpoint(server.login(), server.pid(), patience);
    let op =
        Op::Open { protocol: PROTOCOL, open: Open { endpoint: Some(Box::new(endpoint)), ..open.clone() } };
    let watched = RefCell::new(server);
    let stop = || cancelled() || watched.borrow_mut().has_ended();
    let opened: Result<Opened, WorkerError> = worker.request(&op, limit, &stop, &mut |_| {});
    let server = watched.into_inner();
    match opened {
        Ok(opened) => Ok(Opened { seconds: opened.seconds + server.seconds(), ..opened }),
        Err(WorkerError::Cancelled) if cancelled() => Err(WorkerError::Cancelled),
        Err(WorkerError::Cancelled) => Err(unavailable(server.explain_start("", patience))),
        Err(WorkerError::Refused { kind: FailureKind::Unavailable, message }) => {
            Err(unavailable(server.explain_start(&message, patience)))
        }
        Err(WorkerError::Refused { kind: FailureKind::Crashed, message }) => {
            let message = server.explain_loss(&message);
            Err(WorkerError::Refused { kind: FailureKind::Crashed, message })
        }
        Err(error) => Err(error),
    }
}

/// A server of this run's own, as a worker is told of it.
#[must_use]
pub fn endpoint(login: &Login, process: u32, patience: Duration) -> Endpoint {
    let Login { host, port, socket, certificate, user, database, password } = login.clone();
    Endpoint {
        host,
        port,
        socket,
        user,
        database,
        password: Password(password),
        tls: certificate.map(|path| Tls { ca: Some(path) }),
        process: Some(process),
        whole: true,
        patience_s: patience.as_secs(),
        pause_ms: PAUSE_MS,
        attempt_ms: None,
    }
}

fn unavailable(message: String) -> WorkerError {
    WorkerError::Refused { kind: FailureKind::Unavailable, message }
}

/// A server's failure, as a worker's answer would tell of it.
fn failed(error: ServerError) -> WorkerError {
    let kind = match &error {
        ServerError::Cancelled => return WorkerError::Cancelled,
        ServerError::Unsupported(_) => FailureKind::Unsupported,
        ServerError::Crashed(_) => FailureKind::Crashed,
        _ => FailureKind::Unavailable,
    };
    WorkerError::Refused { kind, message: error.to_string() }
}
