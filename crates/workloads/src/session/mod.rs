//! One configuration under test: its folder, its worker, and its statements with every value in place.

mod guest;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use jsonathlon_dataset::value::Value;
use jsonathlon_drivers::driver::{Open, Place};
use jsonathlon_drivers::server::wait_until_gone;
use jsonathlon_drivers::worker::protocol::{
    Answered, FailureKind as RefusedKind, Figures, Op, Opened, PROTOCOL, PlanText, Progress, Ran,
};
use jsonathlon_drivers::worker::{Worker, WorkerError};
use jsonathlon_measure::disk;
use jsonathlon_measure::memory::Memory;
use jsonathlon_measure::page_cache;
use jsonathlon_measure::series::Subject;
use jsonathlon_results::record::{Failure, FailureKind};
use jsonathlon_systems::catalogue::{self, PlaceholderError};
use serde::de::DeserializeOwned;

use crate::RunError;
use crate::observer::{Event, Observer};
use crate::target::{PATIENCE_S, Target};
use guest::{GREETING_LIMIT, HOST_LIMIT, restart};

/// On a disk with less room than this a failure may be for want of room: servers set files of 100 MB and more aside
/// at once, and what they had open is free again when they have ended.
const NEARLY_FULL: u64 = 256 << 20;

/// How long a server by address may take to answer after it was restarted.
const PATIENCE_AFTER_RESTART_S: u64 = 300;

/// How long a server whose worker was killed may take to end.
pub(crate) const GONE_LIMIT: Duration = Duration::from_secs(20);

/// How workers are started.
#[derive(Debug, Clone)]
pub struct WorkerCommand {
    /// The program, usually this one.
    pub program: PathBuf,
    /// Its arguments.
    pub arguments: Vec<String>,
}

/// Why a request did not end well.
#[derive(Debug)]
pub(crate) enum AskError {
    /// The user wants to stop.
    Cancelled,
    /// A failed cell.
    Failed(Failure),
    /// What ends the whole run: the journal cannot be written to, for instance.
    Run(Box<RunError>),
}

impl AskError {
    pub(crate) fn failed(kind: FailureKind, error: impl Into<String>) -> Self {
        Self::Failed(Failure { kind, error: error.into() })
    }
}

impl From<WorkerError> for AskError {
    fn from(error: WorkerError) -> Self {
        let kind = match &error {
            WorkerError::Cancelled => return Self::Cancelled,
            WorkerError::TimedOut { .. } => FailureKind::Timeout,
            WorkerError::Refused { kind, .. } => match kind {
                RefusedKind::Refused => FailureKind::Refused,
                RefusedKind::Unavailable | RefusedKind::Documents | RefusedKind::System => {
                    FailureKind::Environment
                }
                RefusedKind::Unsupported | RefusedKind::Protocol | RefusedKind::Request => {
                    FailureKind::Protocol
                }
                RefusedKind::Crashed => FailureKind::Crash,
            },
            WorkerError::Protocol { .. } => FailureKind::Protocol,
            WorkerError::Io { .. } => FailureKind::Environment,
            _ => FailureKind::Crash,
        };
        Self::failed(kind, error.to_string())
    }
}

/// A target with its data folder and, while it is up, its worker.
pub(crate) struct Session<'a> {
    pub(crate) target: &'a Target,
    command: &'a WorkerCommand,
    folder: PathBuf,
    log: PathBuf,
    cores: usize,
    worker: Option<Worker>,
    /// Where the engine is.
    place: Place,
    /// On a server by address, whether something of the run may be there.
    at_home: bool,
    /// Whether the run's own database is there.
    is_made: bool,
    /// Whether what the run's sessions do there is being ended.
    ending: bool,
    /// Whether something of it may still be at work.
    left_at_work: bool,
    /// Whether the server by address was restarted just before.
    restarted: bool,
    subject: Subject,
    cancelled: &'a dyn Fn() -> bool,
    /// What the engine said about its version when it was opened last.
    pub(crate) reported_version: Option<String>,
    /// Seconds that the last opening took.
    pub(crate) open_s: f64,
    /// What the process tree held right after it, before anything was asked.
    pub(crate) idle: Option<Memory>,
}

impl<'a> Session<'a> {
    pub(crate) fn new(
        target: &'a Target,
        command: &'a WorkerCommand,
        folder: PathBuf,
        log: PathBuf,
        cores: usize,
        subject: Subject,
        cancelled: &'a dyn Fn() -> bool,
    ) -> Self {
        Self {
            target,
            command,
            folder,
            log,
            cores,
            worker: None,
            place: Place::Here,
            at_home: false,
            is_made: false,
            ending: false,
            left_at_work: false,
            restarted: false,
            subject,
            cancelled,
            reported_version: None,
            open_s: 0.0,
            idle: None,
        }
    }

    /// The engine's data folder.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// The worker's process, while it is up.
    pub(crate) fn pid(&self) -> Option<u32> {
        self.worker.as_ref().filter(|worker| worker.is_alive()).map(Worker::pid)
    }

    /// The process whose tree is the engine, while it is up: the server's, or the worker's own. None is known of
    /// a server elsewhere.
    pub(crate) fn engine(&self) -> Option<u32> {
        self.pid().and_then(|worker| match self.place {
            Place::Here => Some(worker),
            Place::Process(server) => Some(server),
            Place::Elsewhere => None,
        })
    }

    /// Whether somebody else runs the server: nothing is known of its files and of what it spends.
    pub(crate) fn is_guest(&self) -> bool {
        self.target.guest.is_some()
    }

    /// Starts the worker and opens the engine in it, unless both are up.
    pub(crate) fn open(&mut self) -> Result<(), AskError> {
        if self.pid().is_some() {
            return Ok(());
        }
        self.kill();
        if self.is_guest() && !self.is_made {
            // However far it gets.
            self.at_home = true;
            // What an interrupted run of the same name has left goes first.
            self.on_the_host(|own| own.drop.iter().chain(&own.create).cloned().collect())?;
            self.is_made = true;
        }
        if self.left_at_work {
            self.end_own_sessions();
        }
        if self.left_at_work {
            return Err(AskError::failed(
                FailureKind::Environment,
                "a statement that was given up may still be at work on the server, and nothing is measured beside it",
            ));
        }
        let server_log = self.log.with_extension("server.log");
        let mut open = self.target.open(&self.folder, &server_log, self.cores).map_err(placeholder)?;
        if let Some(remote) = &mut open.remote
            && self.restarted
        {
            remote.patience_s = PATIENCE_AFTER_RESTART_S;
        }
        let opened = self.start(open)?;
        self.restarted = false;
        let expected = self.target.configuration.reports.as_deref();
        if let Some(expected) = expected
            && !opened.version.contains(expected)
        {
            self.kill();
            let message = self.target.configuration.unexpected_version(&opened.version);
            return Err(AskError::failed(FailureKind::Environment, message));
        }
        self.open_s = opened.seconds;
        self.reported_version = Some(opened.version);
        self.idle = self.memory();
        Ok(())
    }

    /// Starts a worker with a session in it.
    fn start(&mut self, open: Open) -> Result<Opened, AskError> {
        let limit = match &open.remote {
            Some(remote) => Duration::from_secs(remote.patience_s) + GREETING_LIMIT,
            None => self.target.open_limit(),
        };
        let arguments: Vec<&str> = self.command.arguments.iter().map(String::as_str).collect();
        let no_environment: [(OsString, OsString); 0] = [];
        let worker = Worker::spawn(&self.command.program, &arguments, &self.log, &no_environment)?;
        self.subject.is(Some(worker.pid()));
        self.worker = Some(worker);
        let opened: Opened =
            self.request(&Op::Open { protocol: PROTOCOL, open }, limit, &mut |_| {}).inspect_err(|_| {
                // A session that could not be opened is of no use to anybody.
                self.kill();
            })?;
        self.place = opened.place;
        self.subject.is(self.engine());
        Ok(opened)
    }

    /// Asks which version the engine is; nothing of it is changed.
    pub(crate) fn version(&mut self) -> Result<String, AskError> {
        let server_log = self.log.with_extension("server.log");
        let mut open = self.target.open(&self.folder, &server_log, self.cores).map_err(placeholder)?;
        open.remote = self.target.remote(false, PATIENCE_S);
        open.statements.clear();
        let mut version = self.start(open)?.version;
        if let Some(statement) = self.target.configuration.asks_version.clone() {
            let told: Answered = self.request(&Op::Ask { statement }, HOST_LIMIT, &mut |_| {})?;
            match told.outcome.rows.into_iter().flatten().next() {
                Some(Value::Text(text)) => version = text,
                other => {
                    return Err(AskError::failed(
                        FailureKind::Environment,
                        format!("it says no version: {other:?}"),
                    ));
                }
            }
        }
        self.close()?;
        Ok(version)
    }

    /// Ends the session cleanly. A worker that will not close is killed; its data may need recovery.
    pub(crate) fn close(&mut self) -> Result<(), AskError> {
        // A checkpoint while closing is the system's own work still.
        let closed = match self.worker.take() {
            Some(mut worker) if worker.is_alive() => worker.close(self.target.close_limit()).map(drop),
            _ => Ok(()),
        };
        self.subject.is(None);
        Ok(closed?)
    }

    /// Ends the session, however. A server is gone too afterwards, so that its folder can be removed.
    pub(crate) fn kill(&mut self) {
        self.subject.is(None);
        let was_up = self.worker.take().is_some();
        wait_until_gone(&self.folder, GONE_LIMIT);
        if was_up && self.is_made {
            self.end_own_sessions();
        }
    }

    /// Ends the session of a system that will not be asked any more. A disk that it has filled must have room for
    /// the records of what follows, so its data goes, unless it is kept for the user to look at.
    pub(crate) fn give_up(&mut self, keep_data: bool) {
        self.kill();
        // A server that does not answer any more cannot be tidied up either; the end of the run tries again.
        self.leave(keep_data).ok();
        if !keep_data {
            // Nothing depends on it.
            std::fs::remove_dir_all(&self.folder).ok();
        }
    }

    /// Ends the session and removes its data, so that the next opening finds nothing: a fresh folder, or by address a
    /// fresh database.
    pub(crate) fn start_afresh(&mut self) -> Result<(), AskError> {
        self.close()?;
        if self.is_guest() {
            self.is_made = false;
            return Ok(());
        }
        wait_until_gone(&self.folder, GONE_LIMIT);
        match std::fs::remove_dir_all(&self.folder) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(AskError::failed(
                FailureKind::Environment,
                format!("failed to remove {}: {error}", self.folder.display()),
            )),
            _ => Ok(()),
        }
    }

    /// What the process tree holds now; it takes milliseconds of a large process, so it is asked for
    /// between trials only.
    pub(crate) fn memory(&self) -> Option<Memory> {
        self.engine().and_then(|pid| Memory::of_tree(pid).ok())
    }

    /// What the run's series shows this system to be doing.
    pub(crate) fn subject(&self) -> &Subject {
        &self.subject
    }

    /// Stops the engine, drops its files from the page cache, starts it, and drops them again: what
    /// opening read in is then gone from the operating system's memory, if not from the engine's.
    pub(crate) fn restart_cold(&mut self) -> Result<(), AskError> {
        self.close()?;
        if let Some(command) = self.target.guest.as_ref().and_then(|guest| guest.restart.as_deref()) {
            restart(command, self.target.close_limit(), self.cancelled)?;
            self.restarted = true;
        }
        self.drop_pages()?;
        self.open()?;
        self.drop_pages()
    }

    /// Drops the pages of the data folder.
    pub(crate) fn drop_pages(&self) -> Result<(), AskError> {
        page_cache::drop_folder(&self.folder).map_err(|error| {
            AskError::failed(
                FailureKind::Environment,
                format!("failed to drop {} from the page cache: {error}", self.folder.display()),
            )
        })
    }

    /// Sends one request; the session must be open.
    pub(crate) fn request<R: DeserializeOwned>(
        &mut self,
        op: &Op,
        limit: Duration,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<R, AskError> {
        let worker = self
            .worker
            .as_mut()
            .ok_or_else(|| AskError::failed(FailureKind::Crash, "the engine is not up"))?;
        worker.request(op, limit, self.cancelled, progress).map_err(|error| self.with_the_disk(error.into()))
    }

    /// Whoever fails because the disk is full may have had no room to write that down, or no words for it: a
    /// server may also be gone before it was found to be ready.
    fn with_the_disk(&self, error: AskError) -> AskError {
        match (error, disk::free_bytes(&self.folder)) {
            (AskError::Failed(Failure { kind, error }), Ok(free)) if free < NEARLY_FULL => {
                let error =
                    format!("{error}; the disk is nearly full, {free} bytes are free: make room for it");
                AskError::failed(kind, error)
            }
            (error, _) => error,
        }
    }

    /// Runs statements whose answers do not matter.
    pub(crate) fn run(&mut self, statements: Vec<String>, limit: Duration) -> Result<Ran, AskError> {
        self.request(&Op::Run { statements }, limit, &mut |_| {})
    }

    /// The statements of the configuration's file `name`, filled; none when it has no such file.
    pub(crate) fn statements(&self, name: &str, values: &[(&str, &str)]) -> Result<Vec<String>, AskError> {
        let cores = self.cores.to_string();
        let folder = self.folder.display().to_string();
        let mut all = vec![("cores", cores.as_str()), ("folder", folder.as_str())];
        all.extend_from_slice(values);
        let prefix = self.target.prefix();
        let own: Vec<(&str, String)> = all
            .iter()
            .map(|(name, value)| {
                (*name, if *name == "table" { format!("{prefix}{value}") } else { (*value).to_owned() })
            })
            .collect();
        let all: Vec<(&str, &str)> = own.iter().map(|(name, value)| (*name, value.as_str())).collect();
        self.target.analytics.statements(name).iter().map(|text| fill(text, &all)).collect()
    }

    /// The one statement of the file `name`.
    pub(crate) fn statement(&self, name: &str, values: &[(&str, &str)]) -> Result<String, AskError> {
        self.statements(name, values)?.into_iter().next().ok_or_else(|| {
            AskError::failed(
                FailureKind::Environment,
                format!("the folder of {} has no statement `{name}`", self.target.configuration.system),
            )
        })
    }

    /// The figures that `name` answers.
    pub(crate) fn figures(
        &mut self,
        name: &str,
        values: &[(&str, &str)],
        limit: Duration,
    ) -> Result<Figures, AskError> {
        let statement = self.statement(name, values)?;
        self.request(&Op::Sizes { statement }, limit, &mut |_| {})
    }

    /// The plan of `statement`.
    pub(crate) fn plan(&mut self, statement: &str, limit: Duration) -> Result<String, AskError> {
        let statement = self.statement("plan", &[("statement", statement.trim_end_matches(';'))])?;
        let text: PlanText = self.request(&Op::Plan { statement }, limit, &mut |_| {})?;
        Ok(text.text)
    }
}

fn fill(text: &str, values: &[(&str, &str)]) -> Result<String, AskError> {
    catalogue::fill(text, values).map_err(placeholder)
}

fn placeholder(error: PlaceholderError) -> AskError {
    AskError::failed(FailureKind::Environment, error.to_string())
}

/// Passes a worker's signs of life on to the observer.
pub(crate) fn relay(observer: &mut dyn Observer) -> impl FnMut(Progress) + '_ {
    |progress| {
        observer.event(&Event::Progress { done: progress.done, total: progress.total, unit: &progress.unit });
    }
}
