//! An engine in use: a worker with its session, and the server that was started for it.
//!
//! The coordinator owns the server through a guard. The worker only gets an endpoint and cannot tell this
//! server from a remote one; this module therefore explains what happened to the server.

mod crash;
mod restarter;

use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::time::Duration;

use jsonathlon_driver_api::address::{Password, Tls};
use jsonathlon_driver_api::driver::{EngineLocation, SessionOptions};
use jsonathlon_driver_api::endpoint::Endpoint;
use jsonathlon_servers::{LaunchSpec, Login, Server, ServerError};
use jsonathlon_worker::protocol::{FailureKind, Op, OpenReply, PROTOCOL_VERSION, Progress};
use jsonathlon_worker::{Worker, WorkerError};
use serde::de::DeserializeOwned;

pub(crate) use crash::{CrashResult, CrashTrigger};
use restarter::ServerRestarter;

/// Maximum number of starts if another process takes the free port before the server listens on it.
const MAX_PORTS: usize = 5;
/// Milliseconds between two attempts to reach a starting server. An attempt costs the server next to nothing.
const RETRY_INTERVAL_MS: u64 = 5;

/// Command line that starts a worker process.
#[derive(Debug, Clone)]
pub struct WorkerCommand {
    /// Program of workers, usually this one; also used as the guard of servers.
    pub program: PathBuf,
    /// Arguments that make the program a worker.
    pub arguments: Vec<String>,
}

impl WorkerCommand {
    /// Starts a worker without a session. Its output goes to `log`.
    ///
    /// # Errors
    /// If the worker cannot be started or its log cannot be opened.
    pub fn spawn(&self, log: &Path) -> Result<Worker, WorkerError> {
        let arguments: Vec<&str> = self.arguments.iter().map(String::as_str).collect();
        Worker::spawn(&self.program, &arguments, log, &[])
    }
}

/// A worker with an open session. Dropping it kills the worker and leaves its server to the guard.
#[derive(Debug)]
pub struct EngineHandle {
    // Declared first so that the worker is dropped before the server.
    worker: Worker,
    server: Option<Server>,
    launch: Option<LaunchSpec>,
    location: EngineLocation,
}

impl EngineHandle {
    /// Starts the server, if `launch` is given, and opens a session in a worker. The reported seconds cover
    /// both. `on_start` is called with the process id of each worker.
    ///
    /// # Errors
    /// As [`Worker::request`]. [`FailureKind::Unavailable`] with the end of the server's log if the server
    /// does not start.
    pub fn open(
        command: &WorkerCommand,
        log: &Path,
        options: &SessionOptions,
        launch: Option<&LaunchSpec>,
        limit: Duration,
        cancelled: &dyn Fn() -> bool,
        on_start: &mut dyn FnMut(u32),
    ) -> Result<(Self, OpenReply), WorkerError> {
        let Some(launch) = launch else {
            let mut worker = command.spawn(log)?;
            on_start(worker.pid());
            let op = Op::Open { protocol: PROTOCOL_VERSION, open: options.clone() };
            let opened: OpenReply = worker.request(&op, limit, cancelled, &mut |_| {})?;
            return Ok((Self { worker, server: None, launch: None, location: opened.location }, opened));
        };
        for _ in 0..MAX_PORTS {
            // The worker starts first, so that it can look for the server at once.
            let mut worker = command.spawn(log)?;
            on_start(worker.pid());
            let mut server = Server::start(launch, cancelled).map_err(worker_error)?;
            match open_session(&mut worker, &mut server, options, launch, limit, cancelled) {
                Ok(opened) => {
                    let (server, launch) = (Some(server), Some(launch.clone()));
                    return Ok((Self { worker, server, launch, location: opened.location }, opened));
                }
                // Another process took the port. Any other error has nothing to do with the port.
                Err(_) if server.port_was_taken() => {}
                Err(error) => return Err(error),
            }
        }
        let message = format!(
            "gave up: {MAX_PORTS} ports in a row were taken by other processes while the server was starting"
        );
        Err(unavailable(message))
    }

    /// Closes the session and opens another one in a new worker. The server keeps running meanwhile.
    ///
    /// # Errors
    /// As [`Worker::close`] and [`Worker::request`].
    pub fn reconnect(
        &mut self,
        command: &WorkerCommand,
        log: &Path,
        options: &SessionOptions,
        limit: Duration,
        cancelled: &dyn Fn() -> bool,
        on_start: &mut dyn FnMut(u32),
    ) -> Result<OpenReply, WorkerError> {
        self.worker.close(limit)?;
        self.worker = command.spawn(log)?;
        on_start(self.worker.pid());
        let opened = match (&mut self.server, &self.launch) {
            (Some(server), Some(launch)) => {
                open_session(&mut self.worker, server, options, launch, limit, cancelled)?
            }
            _ => {
                let op = Op::Open { protocol: PROTOCOL_VERSION, open: options.clone() };
                self.worker.request(&op, limit, cancelled, &mut |_| {})?
            }
        };
        self.location = opened.location;
        Ok(opened)
    }

    /// Worker that holds the session.
    #[must_use]
    pub fn worker(&self) -> &Worker {
        &self.worker
    }

    /// Server that was started for the session; `None` for embedded engines and remote servers.
    #[must_use]
    pub fn server(&self) -> Option<&Server> {
        self.server.as_ref()
    }

    /// Returns `true` if the worker is alive and accepts requests.
    #[must_use]
    pub fn is_alive(&self) -> bool {
        self.worker.is_alive()
    }

    /// Returns `true` if the server that was started for the session has exited without being told to.
    pub fn has_lost_its_server(&mut self) -> bool {
        self.server.as_mut().is_some_and(Server::has_ended)
    }

    /// Root of the engine's process tree: the server's process id or the worker's own. `None` for remote
    /// servers.
    #[must_use]
    pub fn engine_pid(&self) -> Option<u32> {
        match self.location {
            EngineLocation::InProcess => Some(self.worker.pid()),
            EngineLocation::Process(server) => Some(server),
            EngineLocation::Remote => None,
        }
    }

    /// Sends a request like [`Worker::request`]. After an error that ends the worker or its connection, both
    /// worker and server are ended, because an abandoned statement would disturb all later measurements.
    ///
    /// # Errors
    /// As [`Worker::request`]. [`FailureKind::Crashed`] includes what happened to the server.
    pub fn request<R: DeserializeOwned>(
        &mut self,
        op: &Op,
        limit: Duration,
        cancelled: &dyn Fn() -> bool,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<R, WorkerError> {
        let answer = self.worker.request(op, limit, cancelled, progress);
        answer.map_err(|error| self.end_after_error(error))
    }

    /// Sends a request whose clients use connections of their own. A server that exits meanwhile is restarted
    /// up to 5 times on the same data and address, and the request continues; the worker's own session is
    /// unusable then. Returns the answer and how the server ended, each time.
    ///
    /// # Errors
    /// As [`EngineHandle::request`].
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
        let restarter = RefCell::new(ServerRestarter::new(server, launch));
        let stop = || {
            restarter.borrow_mut().poll(cancelled);
            cancelled()
        };
        let answer = self.worker.request(op, limit, &stop, progress);
        let mut restarter = restarter.into_inner();
        // Requests after this one need the server, so a last exit is handled here.
        restarter.poll(cancelled);
        let exits = restarter.into_exits();
        if !exits.is_empty() {
            self.location = EngineLocation::Process(server.pid());
        }
        answer.map(|answer| (answer, exits)).map_err(|error| self.end_after_error(error))
    }

    /// Ends worker and server after errors that ended the worker or its connection; explains a crash of the
    /// server.
    fn end_after_error(&mut self, error: WorkerError) -> WorkerError {
        match error {
            WorkerError::RequestFailed { kind: FailureKind::Crashed, message } => {
                let message = match &mut self.server {
                    Some(server) => server.describe_exit(&message),
                    None => message,
                };
                self.end();
                WorkerError::RequestFailed { kind: FailureKind::Crashed, message }
            }
            failed @ WorkerError::RequestFailed { .. } => failed,
            error => {
                self.end();
                error
            }
        }
    }

    /// Ends the session, then the worker, then the server, each cleanly.
    ///
    /// # Errors
    /// As [`Worker::close`]. [`FailureKind::Crashed`] if the server exits with an error.
    pub fn close(mut self, limit: Duration) -> Result<(), WorkerError> {
        self.worker.close(limit)?;
        match self.server.take() {
            Some(server) => server.stop().map_err(worker_error),
            None => Ok(()),
        }
    }

    fn end(&mut self) {
        self.worker.kill();
        self.server = None;
    }
}

/// Opens a session on a server that may still be starting. Gives up when the server exits.
fn open_session(
    worker: &mut Worker,
    server: &mut Server,
    options: &SessionOptions,
    launch: &LaunchSpec,
    limit: Duration,
    cancelled: &dyn Fn() -> bool,
) -> Result<OpenReply, WorkerError> {
    let start_limit = Duration::from_secs(launch.recipe.start_limit_s);
    let endpoint = endpoint(server.login(), server.pid(), start_limit);
    let op = Op::Open {
        protocol: PROTOCOL_VERSION,
        open: SessionOptions { endpoint: Some(Box::new(endpoint)), ..options.clone() },
    };
    let watched_server = RefCell::new(server);
    let stop = || cancelled() || watched_server.borrow_mut().has_ended();
    let opened: Result<OpenReply, WorkerError> = worker.request(&op, limit, &stop, &mut |_| {});
    let server = watched_server.into_inner();
    match opened {
        Ok(opened) => Ok(OpenReply { seconds: opened.seconds + server.seconds(), ..opened }),
        Err(WorkerError::Cancelled) if cancelled() => Err(WorkerError::Cancelled),
        Err(WorkerError::Cancelled) => Err(unavailable(server.describe_startup_failure("", start_limit))),
        Err(WorkerError::RequestFailed { kind: FailureKind::Unavailable, message }) => {
            Err(unavailable(server.describe_startup_failure(&message, start_limit)))
        }
        Err(WorkerError::RequestFailed { kind: FailureKind::Crashed, message }) => {
            let message = server.describe_exit(&message);
            Err(WorkerError::RequestFailed { kind: FailureKind::Crashed, message })
        }
        Err(error) => Err(error),
    }
}

/// Builds the endpoint by which a worker reaches a server that this process has started.
#[must_use]
pub fn endpoint(login: &Login, process: u32, connect_timeout: Duration) -> Endpoint {
    let Login { host, port, socket, certificate, user, database, password } = login.clone();
    Endpoint {
        host,
        port,
        socket,
        user,
        database,
        password: Password(password),
        tls: certificate.map(|path| Tls { ca: Some(path), ..Tls::default() }),
        process: Some(process),
        exclusive: true,
        connect_timeout_s: connect_timeout.as_secs(),
        retry_interval_ms: RETRY_INTERVAL_MS,
        attempt_ms: None,
    }
}

fn unavailable(message: String) -> WorkerError {
    WorkerError::RequestFailed { kind: FailureKind::Unavailable, message }
}

/// Converts a server's error into the error that a worker's request would return.
fn worker_error(error: ServerError) -> WorkerError {
    let kind = match &error {
        ServerError::Cancelled => return WorkerError::Cancelled,
        ServerError::Unsupported(_) => FailureKind::Unsupported,
        ServerError::Crashed(_) => FailureKind::Crashed,
        _ => FailureKind::Unavailable,
    };
    WorkerError::RequestFailed { kind, message: error.to_string() }
}
