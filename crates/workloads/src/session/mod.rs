//! One configuration under test: its folder, its engine, and its statements with every value in place.

mod cap;
mod guest;
mod short;

use std::cell::{Cell, RefCell};
use std::path::{Path, PathBuf};
use std::time::Duration;

use jsonathlon_connection::driver::Open;
use jsonathlon_dataset::value::Value;
use jsonathlon_measure::memory::{Memory, peak_resident_bytes};
use jsonathlon_measure::memory_cap::MemoryCap;
use jsonathlon_measure::page_cache;
use jsonathlon_measure::series::Subject;
use jsonathlon_results::record::{Failure, FailureKind};
use jsonathlon_servers::{Launch, wait_until_gone};
use jsonathlon_systems::catalogue::{self, PlaceholderError};
use jsonathlon_worker::WorkerError;
use jsonathlon_worker::protocol::{
    Answered, FailureKind as RefusedKind, Figures, Op, Opened, PlanText, Progress, Ran,
};
use serde::de::DeserializeOwned;

use crate::RunError;
pub use crate::engine::WorkerCommand;
use crate::engine::{Engine, StopAt, Stopped};
use crate::observer::{Event, Observer};
use crate::target::{GONE_LIMIT, PATIENCE_S, Target};
use guest::{GREETING_LIMIT, HOST_LIMIT, restart};
use short::Kills;

/// How long a server by address may take to answer after it was restarted.
const PATIENCE_AFTER_RESTART_S: u64 = 300;

/// How a trial, a load or a request ended that did not end well.
#[derive(Debug)]
pub enum Ended {
    /// The user wants to stop.
    Cancelled,
    /// A failed cell.
    Failed(Failure),
    /// What ends the whole run: the journal cannot be written to, for instance.
    Run(Box<RunError>),
}

impl Ended {
    /// A failed cell.
    pub fn failed(kind: FailureKind, error: impl Into<String>) -> Self {
        Self::Failed(Failure::new(kind, error))
    }

    /// Splits what ends the run from what ends a cell.
    ///
    /// # Errors
    /// What ends the run.
    pub fn split<T>(result: Result<T, Self>) -> Result<Result<T, Failure>, RunError> {
        match result {
            Ok(value) => Ok(Ok(value)),
            Err(Self::Failed(failure)) => Ok(Err(failure)),
            Err(Self::Cancelled) => Err(RunError::Interrupted),
            Err(Self::Run(error)) => Err(*error),
        }
    }
}

impl From<RunError> for Ended {
    fn from(error: RunError) -> Self {
        Self::Run(Box::new(error))
    }
}

impl From<Failure> for Ended {
    fn from(failure: Failure) -> Self {
        Self::Failed(failure)
    }
}

impl From<WorkerError> for Ended {
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

/// A target with its data folder and, while it is up, its engine.
pub struct Session<'a> {
    /// The target.
    pub target: &'a Target,
    command: &'a WorkerCommand,
    folder: PathBuf,
    log: PathBuf,
    cores: usize,
    engine: Option<Engine>,
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
    /// How long it may take to come up, where that is not left to the system's folder.
    open_limit: Option<Duration>,
    /// Bytes that the engine may have together with the page cache, where they are capped.
    pub(crate) most_memory: Option<u64>,
    /// What holds it to that; it goes after the engine.
    cap: Option<MemoryCap>,
    /// How many processes were killed for that and told of.
    killed: Cell<u64>,
    /// The same of whatever else limits memory.
    kills: Kills,
    /// Values that the workload puts into all of its statements.
    values: Vec<(String, String)>,
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
            engine: None,
            at_home: false,
            is_made: false,
            ending: false,
            left_at_work: false,
            restarted: false,
            subject,
            cancelled,
            open_limit: None,
            most_memory: None,
            cap: None,
            killed: Cell::default(),
            kills: Kills::so_far(),
            values: Vec::new(),
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
        self.alive().map(|engine| engine.worker().pid())
    }

    /// The process whose tree is the engine, while it is up: the server's, or the worker's own. None is known of
    /// a server elsewhere.
    pub(crate) fn engine(&self) -> Option<u32> {
        self.alive().and_then(Engine::process)
    }

    /// The most memory that the worker has had so far, where it is the engine's client and not the engine.
    pub(crate) fn peak_client_bytes(&self) -> Option<u64> {
        let worker = self.pid()?;
        (self.engine() != Some(worker)).then(|| peak_resident_bytes(worker).ok()).flatten()
    }

    fn alive(&self) -> Option<&Engine> {
        self.engine.as_ref().filter(|engine| engine.is_alive())
    }

    /// Whether somebody else runs the server: nothing is known of its files and of what it spends.
    pub fn is_guest(&self) -> bool {
        self.target.guest.is_some()
    }

    /// Starts the engine and opens a session with it, unless that is there.
    pub fn open(&mut self) -> Result<(), Ended> {
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
            return Err(Ended::failed(
                FailureKind::Environment,
                "a statement that was given up may still be at work on the server, and nothing is measured beside it",
            ));
        }
        let mut open = self.target.open(&self.folder, self.cores).map_err(placeholder)?;
        if let Some(remote) = &mut open.endpoint
            && self.restarted
        {
            remote.patience_s = PATIENCE_AFTER_RESTART_S;
        }
        self.cap()?;
        let launch = self.launch()?;
        let opened = self.start(open, launch)?;
        self.restarted = false;
        let expected = self.target.configuration.reports.as_deref();
        if let Some(expected) = expected
            && !opened.version.contains(expected)
        {
            self.kill();
            let message = self.target.configuration.unexpected_version(&opened.version);
            return Err(Ended::failed(FailureKind::Environment, message));
        }
        self.open_s = opened.seconds;
        self.reported_version = Some(opened.version);
        self.idle = self.memory();
        Ok(())
    }

    /// The server to be started for a session.
    fn launch(&self) -> Result<Option<Launch>, Ended> {
        let log = self.log.with_extension("server.log");
        let launch = self.target.launch(&self.folder, &log, self.cores, &self.command.program);
        let mut launch = launch.map_err(placeholder)?;
        if let Some(launch) = &mut launch {
            launch.group = self.cap.as_ref().map(MemoryCap::processes);
            if let Some(limit) = self.open_limit {
                launch.recipe.start_limit_s = limit.as_secs();
            }
        }
        Ok(launch)
    }

    /// Starts a server, if there is one to be started, and a worker with a session in it.
    fn start(&mut self, open: Open, launch: Option<Launch>) -> Result<Opened, Ended> {
        let limit = match &open.endpoint {
            Some(remote) => Duration::from_secs(remote.patience_s) + GREETING_LIMIT,
            None => self.open_limit.unwrap_or_else(|| self.target.open_limit()),
        };
        let (subject, cancelled) = (&self.subject, self.cancelled);
        let started = &mut |worker| subject.is(Some(worker));
        match Engine::open(self.command, &self.log, &open, launch.as_ref(), limit, cancelled, started) {
            Ok((engine, opened)) => {
                self.engine = Some(engine);
                self.subject.is(self.engine());
                self.cap_worker()?;
                Ok(opened)
            }
            Err(error) => {
                let error = self.with_what_ran_short(error.into());
                // What it may have begun on a server by address is ended.
                self.ended(true);
                Err(error)
            }
        }
    }

    /// Ends the session and opens another; a server that was started for it goes on meanwhile.
    pub(crate) fn reconnect(&mut self) -> Result<(), Ended> {
        let open = self.target.open(&self.folder, self.cores).map_err(placeholder)?;
        let limit = match &open.endpoint {
            Some(remote) => Duration::from_secs(remote.patience_s) + GREETING_LIMIT,
            None => self.target.open_limit(),
        };
        let (subject, cancelled) = (&self.subject, self.cancelled);
        let started = &mut |worker| subject.is(Some(worker));
        let Some(engine) = self.engine.as_mut() else {
            return Err(Ended::failed(FailureKind::Crash, "the engine is not up"));
        };
        let opened = engine.reconnect(self.command, &self.log, &open, limit, cancelled, started);
        self.subject.is(self.engine());
        match opened {
            Ok(_) => self.cap_worker(),
            Err(error) => {
                self.kill();
                Err(self.with_what_ran_short(error.into()))
            }
        }
    }

    /// Asks which version the engine is; nothing of it is changed.
    pub(crate) fn version(&mut self) -> Result<String, Ended> {
        let mut open = self.target.open(&self.folder, self.cores).map_err(placeholder)?;
        open.endpoint = self.target.remote(false, PATIENCE_S);
        open.statements.clear();
        let launch = self.launch()?;
        let mut version = self.start(open, launch)?.version;
        if let Some(statement) = self.target.configuration.asks_version.clone() {
            let told: Answered = self.request(&Op::Ask { statement }, HOST_LIMIT, &mut |_| {})?;
            match told.outcome.rows.into_iter().flatten().next() {
                Some(Value::Text(text)) => version = text,
                other => {
                    return Err(Ended::failed(
                        FailureKind::Environment,
                        format!("it says no version: {other:?}"),
                    ));
                }
            }
        }
        self.close()?;
        Ok(version)
    }

    /// Ends the session and its server cleanly. What will not end is killed; its data may need recovery.
    pub fn close(&mut self) -> Result<(), Ended> {
        // A checkpoint while closing is the system's own work still.
        let closed = match self.engine.take() {
            Some(engine) if engine.is_alive() => engine.close(self.target.close_limit()),
            _ => Ok(()),
        };
        self.subject.is(None);
        Ok(closed?)
    }

    /// Ends the session, however. A server is gone too afterwards, so that its folder can be removed.
    pub fn kill(&mut self) {
        let was_up = self.engine.take().is_some();
        self.ended(was_up);
    }

    /// What has to be done when a session is gone, however.
    fn ended(&mut self, was_up: bool) {
        self.subject.is(None);
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
    pub(crate) fn start_afresh(&mut self) -> Result<(), Ended> {
        self.close()?;
        if self.is_guest() {
            self.is_made = false;
            return Ok(());
        }
        wait_until_gone(&self.folder, GONE_LIMIT);
        match std::fs::remove_dir_all(&self.folder) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(Ended::failed(
                FailureKind::Environment,
                format!("failed to remove {}: {error}", self.folder.display()),
            )),
            _ => Ok(()),
        }
    }

    /// What the process tree holds now; it takes milliseconds of a large process, so it is asked for
    /// between trials only.
    pub fn memory(&self) -> Option<Memory> {
        self.engine().and_then(|pid| Memory::of_tree(pid).ok())
    }

    /// What the run's series shows this system to be doing.
    pub(crate) fn subject(&self) -> &Subject {
        &self.subject
    }

    /// Stops the engine, drops its files from the page cache, starts it, and drops them again: what
    /// opening read in is then gone from the operating system's memory, if not from the engine's.
    pub fn restart_cold(&mut self) -> Result<(), Ended> {
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
    pub(crate) fn drop_pages(&self) -> Result<(), Ended> {
        page_cache::drop_folder(&self.folder).map_err(|error| {
            Ended::failed(
                FailureKind::Environment,
                format!("failed to drop {} from the page cache: {error}", self.folder.display()),
            )
        })
    }

    /// Sends one request; the session must be open.
    pub fn request<R: DeserializeOwned>(
        &mut self,
        op: &Op,
        limit: Duration,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<R, Ended> {
        let engine =
            self.engine.as_mut().ok_or_else(|| Ended::failed(FailureKind::Crash, "the engine is not up"))?;
        engine
            .request(op, limit, self.cancelled, progress)
            .map_err(|error| self.with_what_ran_short(error.into()))
    }

    /// The same, given up as soon as `given_up` says why.
    pub(crate) fn request_unless<R: DeserializeOwned>(
        &mut self,
        op: &Op,
        limit: Duration,
        given_up: &dyn Fn() -> Option<Failure>,
    ) -> Result<R, Ended> {
        let engine =
            self.engine.as_mut().ok_or_else(|| Ended::failed(FailureKind::Crash, "the engine is not up"))?;
        let (why, cancelled) = (RefCell::new(None), self.cancelled);
        let stop = || {
            let found = given_up();
            let stops = found.is_some();
            *why.borrow_mut() = found;
            stops || cancelled()
        };
        let answer = engine.request(op, limit, &stop, &mut |_| {});
        match (answer, why.into_inner()) {
            (Err(WorkerError::Cancelled), Some(failure)) => Err(failure.into()),
            (answer, _) => answer.map_err(|error| self.with_what_ran_short(error.into())),
        }
    }

    /// Lets clients work; the session must be open. Gives how the server ended meanwhile, each time that it did: it was
    /// started again, but the session is of no use any more.
    pub(crate) fn drive<R: DeserializeOwned>(
        &mut self,
        op: &Op,
        limit: Duration,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<(R, Vec<String>), Ended> {
        let engine =
            self.engine.as_mut().ok_or_else(|| Ended::failed(FailureKind::Crash, "the engine is not up"))?;
        let driven = engine.drive(op, limit, self.cancelled, progress);
        self.subject.is(self.engine());
        let (answer, mut ends) = driven.map_err(|error| self.with_what_ran_short(error.into()))?;
        if let (Some(last), Some(why)) = (ends.last_mut(), self.killed_for_memory()) {
            last.push_str(&format!("; {why}"));
        }
        Ok((answer, ends))
    }

    /// Lets clients work until a moment, and then stops the engine the hard way: its server where it has one, else the
    /// worker with all clients in it. Nothing of it is left afterwards but its folder.
    pub(crate) fn stop<R: DeserializeOwned>(
        &mut self,
        op: &Op,
        limit: Duration,
        stop: &StopAt<'_>,
    ) -> Result<Stopped<R>, Ended> {
        let mut engine =
            self.engine.take().ok_or_else(|| Ended::failed(FailureKind::Crash, "the engine is not up"))?;
        let stopped = engine.stop(op, limit, self.cancelled, stop);
        drop(engine);
        self.ended(true);
        stopped.map_err(|error| self.with_what_ran_short(error.into()))
    }

    /// Limits the time in which it must come up.
    pub(crate) fn limit_opening(&mut self, limit: Duration) {
        self.open_limit = Some(limit);
    }

    /// Runs statements whose answers do not matter.
    pub fn run(&mut self, statements: Vec<String>, limit: Duration) -> Result<Ran, Ended> {
        self.request(&Op::Run { statements }, limit, &mut |_| {})
    }

    /// Puts a value in the place of its placeholder in all statements from now on.
    pub(crate) fn set(&mut self, name: &str, value: &str) {
        self.values.retain(|(known, _)| known != name);
        self.values.push((name.to_owned(), value.to_owned()));
    }

    /// Whether the server that was started for it has ended by itself.
    pub(crate) fn has_lost_its_server(&mut self) -> bool {
        self.engine.as_mut().is_some_and(Engine::has_lost_its_server)
    }

    /// The statements of the configuration's file `name`, filled; none when it has no such file.
    pub fn statements(&self, name: &str, values: &[(&str, &str)]) -> Result<Vec<String>, Ended> {
        self.filled(name, values, catalogue::fill)
    }

    /// The same, but for what stands for an operation's own values.
    pub fn statements_with_parameters(
        &self,
        name: &str,
        values: &[(&str, &str)],
    ) -> Result<Vec<String>, Ended> {
        self.filled(name, values, catalogue::fill_known)
    }

    fn filled(&self, name: &str, values: &[(&str, &str)], fill: Fill) -> Result<Vec<String>, Ended> {
        let cores = self.cores.to_string();
        let folder = self.folder.display().to_string();
        let mut all = vec![("cores", cores.as_str()), ("folder", folder.as_str())];
        all.extend(borrowed(&self.values));
        all.extend_from_slice(values);
        let prefix = self.target.prefix();
        let own: Vec<(String, String)> = all
            .iter()
            .map(|(name, value)| {
                let value = if *name == "table" { format!("{prefix}{value}") } else { (*value).to_owned() };
                ((*name).to_owned(), value)
            })
            .collect();
        let all = borrowed(&own);
        self.target.part.statements(name).iter().map(|text| fill(text, &all).map_err(placeholder)).collect()
    }

    /// The one statement of the file `name`.
    pub fn statement(&self, name: &str, values: &[(&str, &str)]) -> Result<String, Ended> {
        self.statements(name, values)?.into_iter().next().ok_or_else(|| {
            Ended::failed(
                FailureKind::Environment,
                format!("the folder of {} has no statement `{name}`", self.target.configuration.system),
            )
        })
    }

    /// The figures that `name` answers.
    pub fn figures(
        &mut self,
        name: &str,
        values: &[(&str, &str)],
        limit: Duration,
    ) -> Result<Figures, Ended> {
        let statement = self.statement(name, values)?;
        self.request(&Op::Sizes { statement }, limit, &mut |_| {})
    }

    /// The plan of `statement`.
    pub fn plan(&mut self, statement: &str, limit: Duration) -> Result<String, Ended> {
        let statement = self.statement("plan", &[("statement", statement.trim_end_matches(';'))])?;
        let text: PlanText = self.request(&Op::Plan { statement }, limit, &mut |_| {})?;
        Ok(text.text)
    }
}

/// How values are put in the place of placeholders.
type Fill = fn(&str, &[(&str, &str)]) -> Result<String, PlaceholderError>;

/// Names with their values, as those take them who fill statements.
pub(crate) fn borrowed(values: &[(String, String)]) -> Vec<(&str, &str)> {
    values.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect()
}

fn fill(text: &str, values: &[(&str, &str)]) -> Result<String, Ended> {
    catalogue::fill(text, values).map_err(placeholder)
}

pub(crate) fn placeholder(error: PlaceholderError) -> Ended {
    Ended::failed(FailureKind::Environment, error.to_string())
}

/// Passes a worker's signs of life on to the observer.
pub(crate) fn relay(observer: &mut dyn Observer) -> impl FnMut(Progress) + '_ {
    |progress| {
        observer.event(&Event::Progress { done: progress.done, total: progress.total, unit: &progress.unit });
    }
}
