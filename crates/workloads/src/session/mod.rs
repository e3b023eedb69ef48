//! Sessions: one target with its data folder, its engine, and its statements with all values filled in.

mod cap;
mod remote;
mod resource_hints;

use std::{
    cell::{Cell, RefCell},
    path::{Path, PathBuf},
    time::Duration,
};

use serde::de::DeserializeOwned;

use jsonathlon_catalogue::{PlaceholderError, fill as fill_text, fill_known};
use jsonathlon_driver_api::driver::SessionOptions;
use jsonathlon_schema::{
    record::{Failure, FailureKind},
    value::Value,
};
use jsonathlon_servers::{LaunchSpec, wait_until_exited};
use jsonathlon_telemetry::{
    memory::{Memory, peak_resident_bytes},
    memory_cap::MemoryCap,
    page_cache,
    series::SubjectHandle,
};
use jsonathlon_worker::{
    WorkerError,
    protocol::{
        AskReply, FailureKind as RefusedKind, Op, OpenReply, PlanReply, Progress, RowByName, RunReply,
    },
};

use crate::RunError;
pub use crate::engine::WorkerCommand;
use crate::engine::{CrashResult, CrashTrigger, EngineHandle};
use crate::observer::{Observer, RunEvent};
use crate::target::{CONNECT_TIMEOUT_S, EXIT_LIMIT, Target};
use remote::{ADMIN_TIMEOUT, GREETING_LIMIT, run_restart_command};
use resource_hints::Kills;

/// Seconds that a remote server has to answer after a restart.
const RESTART_TIMEOUT_S: u64 = 300;

/// Why a trial, load or request produced no result. `Fatal` and `Cancelled` end the whole run, `Failed` only
/// a cell.
#[derive(Debug)]
pub enum TrialError {
    /// The user interrupted the run.
    Cancelled,
    /// A failure that is recorded for the cell; the run continues.
    Failed(Failure),
    /// An error that ends the whole run, e.g. because the journal cannot be written.
    Fatal(Box<RunError>),
}

impl TrialError {
    /// Creates a failure of a cell from its kind and message.
    pub fn failed(kind: FailureKind, error: impl Into<String>) -> Self {
        Self::Failed(Failure::new(kind, error))
    }

    /// Separates errors that end the run from failures of a cell. The inner result is the cell's.
    ///
    /// # Errors
    /// The error that ends the run; [`RunError::Interrupted`] if the run was cancelled.
    pub fn split_fatal<T>(result: Result<T, Self>) -> Result<Result<T, Failure>, RunError> {
        match result {
            Ok(value) => Ok(Ok(value)),
            Err(Self::Failed(failure)) => Ok(Err(failure)),
            Err(Self::Cancelled) => Err(RunError::Interrupted),
            Err(Self::Fatal(error)) => Err(*error),
        }
    }
}

impl From<RunError> for TrialError {
    fn from(error: RunError) -> Self {
        Self::Fatal(Box::new(error))
    }
}

impl From<Failure> for TrialError {
    fn from(failure: Failure) -> Self {
        Self::Failed(failure)
    }
}

impl From<WorkerError> for TrialError {
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

/// A target with its data folder and, while it is open, its engine.
pub struct Session<'a> {
    /// Configuration under test and the place where it runs.
    pub target: &'a Target,
    command: &'a WorkerCommand,
    folder: PathBuf,
    log: PathBuf,
    cores: usize,
    engine: Option<EngineHandle>,
    /// On a remote server, whether databases of the run may exist there.
    may_own_remote_objects: bool,
    /// Whether this session has created the run's database on a remote server.
    database_created: bool,
    /// Whether [`Session::kill_remote_sessions`] is in progress, to prevent recursion.
    killing_sessions: bool,
    /// Whether a statement of the run may still be running on a remote server.
    statement_may_be_running: bool,
    /// Whether the remote server was restarted since the last opening, which allows it more time to answer.
    restarted: bool,
    subject: SubjectHandle,
    cancelled: &'a dyn Fn() -> bool,
    /// Timeout of opening; `None` if the system's folder decides.
    open_limit: Option<Duration>,
    /// Memory limit of the engine in bytes, page cache included; `None` if memory is not limited.
    pub(crate) memory_limit_bytes: Option<u64>,
    /// cgroup that enforces `memory_limit_bytes`. Declared after `engine` so that it is dropped later.
    cap: Option<MemoryCap>,
    /// Number of kills by `cap` that were reported so far.
    killed: Cell<u64>,
    /// The same counts for every other memory limit: the container's and the machine's.
    kills: Kills,
    /// Values that the workload fills into all of its statements, by placeholder name.
    values: Vec<(String, String)>,
    /// Version that the engine reported when it was last opened; `None` before.
    pub(crate) reported_version: Option<String>,
    /// Duration of the last opening in seconds.
    pub(crate) open_s: f64,
    /// Memory of the engine's process tree right after opening, before the first request.
    pub(crate) idle_memory: Option<Memory>,
}

impl<'a> Session<'a> {
    pub(crate) fn new(
        target: &'a Target,
        command: &'a WorkerCommand,
        folder: PathBuf,
        log: PathBuf,
        cores: usize,
        subject: SubjectHandle,
        cancelled: &'a dyn Fn() -> bool,
    ) -> Self {
        Self {
            target,
            command,
            folder,
            log,
            cores,
            engine: None,
            may_own_remote_objects: false,
            database_created: false,
            killing_sessions: false,
            statement_may_be_running: false,
            restarted: false,
            subject,
            cancelled,
            open_limit: None,
            memory_limit_bytes: None,
            cap: None,
            killed: Cell::default(),
            kills: Kills::current(),
            values: Vec::new(),
            reported_version: None,
            open_s: 0.0,
            idle_memory: None,
        }
    }

    /// Path of the engine's data folder.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Process id of the worker; `None` while there is no live worker.
    pub(crate) fn worker_pid(&self) -> Option<u32> {
        self.live_engine().map(|engine| engine.worker().pid())
    }

    /// Root of the engine's process tree: the server's process id or the worker's own. `None` while the
    /// engine is down and for remote servers.
    pub(crate) fn engine_pid(&self) -> Option<u32> {
        self.live_engine().and_then(EngineHandle::engine_pid)
    }

    /// Peak resident memory of the worker so far; `None` if the worker itself is the engine.
    pub(crate) fn peak_client_bytes(&self) -> Option<u64> {
        let worker = self.worker_pid()?;
        (self.engine_pid() != Some(worker)).then(|| peak_resident_bytes(worker).ok()).flatten()
    }

    fn live_engine(&self) -> Option<&EngineHandle> {
        self.engine.as_ref().filter(|engine| engine.is_alive())
    }

    /// Returns `true` if the target is a remote server: its files and resource usage are unknown.
    pub fn is_remote(&self) -> bool {
        self.target.remote.is_some()
    }

    /// Starts the engine and opens a session, unless one is open. On a remote server, also creates the run's
    /// database.
    pub fn open(&mut self) -> Result<(), TrialError> {
        if self.worker_pid().is_some() {
            return Ok(());
        }
        self.kill();
        if self.is_remote() && !self.database_created {
            // Set before the attempt, so that a partially created database is removed, too.
            self.may_own_remote_objects = true;
            // Databases that an interrupted run of the same name left behind are removed first.
            self.run_on_admin_database(|setup| setup.drop.iter().chain(&setup.create).cloned().collect())?;
            self.database_created = true;
        }
        if self.statement_may_be_running {
            self.kill_remote_sessions();
        }
        if self.statement_may_be_running {
            return Err(TrialError::failed(
                FailureKind::Environment,
                "a timed-out statement may still be running on the server; nothing can be measured until it \
                 ends",
            ));
        }
        let mut open = self.target.session_options(&self.folder, self.cores).map_err(placeholder_error)?;
        if let Some(remote) = &mut open.endpoint
            && self.restarted
        {
            remote.connect_timeout_s = RESTART_TIMEOUT_S;
        }
        self.create_memory_cap()?;
        let launch = self.launch_spec()?;
        let opened = self.start(open, launch)?;
        self.restarted = false;
        let expected = self.target.configuration.version_text.as_deref();
        if let Some(expected) = expected
            && !opened.version.contains(expected)
        {
            self.kill();
            let message = self.target.configuration.unexpected_version(&opened.version);
            return Err(TrialError::failed(FailureKind::Environment, message));
        }
        self.open_s = opened.seconds;
        self.reported_version = Some(opened.version);
        self.idle_memory = self.memory();
        Ok(())
    }

    /// Describes the server to start for a session; `None` if the target needs no own server.
    fn launch_spec(&self) -> Result<Option<LaunchSpec>, TrialError> {
        let log = self.log.with_extension("server.log");
        let launch = self.target.launch_spec(&self.folder, &log, self.cores, &self.command.program);
        let mut launch = launch.map_err(placeholder_error)?;
        if let Some(launch) = &mut launch {
            launch.group = self.cap.as_ref().map(MemoryCap::processes);
            if let Some(limit) = self.open_limit {
                launch.recipe.start_limit_s = limit.as_secs();
            }
        }
        Ok(launch)
    }

    /// Starts a worker with a session in it, and before that the server, if `launch` is given.
    fn start(&mut self, open: SessionOptions, launch: Option<LaunchSpec>) -> Result<OpenReply, TrialError> {
        let limit = match &open.endpoint {
            Some(remote) => Duration::from_secs(remote.connect_timeout_s) + GREETING_LIMIT,
            None => self.open_limit.unwrap_or_else(|| self.target.open_limit()),
        };
        let (subject, cancelled) = (&self.subject, self.cancelled);
        let on_start = &mut |worker| subject.set_root(Some(worker));
        let launch = launch.as_ref();
        match EngineHandle::open(self.command, &self.log, &open, launch, limit, cancelled, on_start) {
            Ok((engine, opened)) => {
                self.engine = Some(engine);
                self.subject.set_root(self.engine_pid());
                self.cap_worker()?;
                Ok(opened)
            }
            Err(error) => {
                let error = self.with_resource_hint(error.into());
                // Ends statements that it may have started on a remote server.
                self.after_session_end(true);
                Err(error)
            }
        }
    }

    /// Closes the session and opens another one. A server that was started for it keeps running meanwhile.
    pub(crate) fn reconnect(&mut self) -> Result<(), TrialError> {
        let open = self.target.session_options(&self.folder, self.cores).map_err(placeholder_error)?;
        let limit = match &open.endpoint {
            Some(remote) => Duration::from_secs(remote.connect_timeout_s) + GREETING_LIMIT,
            None => self.target.open_limit(),
        };
        let (subject, cancelled) = (&self.subject, self.cancelled);
        let on_start = &mut |worker| subject.set_root(Some(worker));
        let Some(engine) = self.engine.as_mut() else {
            return Err(TrialError::failed(FailureKind::Crash, "the engine is not up"));
        };
        let opened = engine.reconnect(self.command, &self.log, &open, limit, cancelled, on_start);
        self.subject.set_root(self.engine_pid());
        match opened {
            Ok(_) => self.cap_worker(),
            Err(error) => {
                self.kill();
                Err(self.with_resource_hint(error.into()))
            }
        }
    }

    /// Returns the engine's version without changing its data; starts and closes a session for it.
    pub(crate) fn version(&mut self) -> Result<String, TrialError> {
        let mut open = self.target.session_options(&self.folder, self.cores).map_err(placeholder_error)?;
        open.endpoint = self.target.endpoint(false, CONNECT_TIMEOUT_S);
        open.statements.clear();
        let launch = self.launch_spec()?;
        let mut version = self.start(open, launch)?.version;
        if let Some(statement) = self.target.configuration.version_statement.clone() {
            let reply: AskReply = self.request(&Op::Ask { statement }, ADMIN_TIMEOUT, &mut |_| {})?;
            match reply.outcome.rows.into_iter().flatten().next() {
                Some(Value::Text(text)) => version = text,
                value => {
                    return Err(TrialError::failed(
                        FailureKind::Environment,
                        format!("the version query returned no text: {value:?}"),
                    ));
                }
            }
        }
        self.close()?;
        Ok(version)
    }

    /// Closes the session and its server cleanly. A process that does not end is killed; its data may then
    /// need recovery.
    pub fn close(&mut self) -> Result<(), TrialError> {
        // Closing is still attributed to the system in the telemetry, because it may write a checkpoint.
        let result = match self.engine.take() {
            Some(engine) if engine.is_alive() => engine.close(self.target.close_limit()),
            _ => Ok(()),
        };
        self.subject.set_root(None);
        Ok(result?)
    }

    /// Kills the session. Its server is gone afterwards, so that the data folder can be removed.
    pub fn kill(&mut self) {
        let was_up = self.engine.take().is_some();
        self.after_session_end(was_up);
    }

    /// Clean-up common to every way a session can end.
    fn after_session_end(&mut self, was_up: bool) {
        self.subject.set_root(None);
        wait_until_exited(&self.folder, EXIT_LIMIT);
        if was_up && self.database_created {
            self.kill_remote_sessions();
        }
    }

    /// Kills the session of a system that gets no more requests. Removes its data, which may fill the disk
    /// that later records need, unless `keep_data` is set for inspection by the user.
    pub(crate) fn abandon(&mut self, keep_data: bool) {
        self.kill();
        // A server that does not answer cannot be cleaned up either; the end of the run tries again.
        self.drop_remote_objects(keep_data).ok();
        if !keep_data {
            // Best effort: nothing depends on the removal.
            std::fs::remove_dir_all(&self.folder).ok();
        }
    }

    /// Closes the session and discards its data. The next opening starts with an empty data folder, or on a
    /// remote server with a new database.
    pub(crate) fn reset_data(&mut self) -> Result<(), TrialError> {
        self.close()?;
        if self.is_remote() {
            self.database_created = false;
            return Ok(());
        }
        wait_until_exited(&self.folder, EXIT_LIMIT);
        match std::fs::remove_dir_all(&self.folder) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(TrialError::failed(
                FailureKind::Environment,
                format!("failed to remove {}: {error}", self.folder.display()),
            )),
            _ => Ok(()),
        }
    }

    /// Reads the current memory of the engine's process tree. Takes milliseconds for a large process, so it
    /// must be called between trials only.
    pub fn memory(&self) -> Option<Memory> {
        self.engine_pid().and_then(|pid| Memory::of_tree(pid).ok())
    }

    /// Handle that gives the telemetry sampler this system and its current activity.
    pub(crate) fn subject(&self) -> &SubjectHandle {
        &self.subject
    }

    /// Restarts the engine with a cold page cache. Drops the files' pages before and after the start. Pages
    /// read during opening thus leave the operating system's memory, if not the engine's.
    pub fn restart_cold(&mut self) -> Result<(), TrialError> {
        self.close()?;
        if let Some(command) =
            self.target.remote.as_ref().and_then(|remote| remote.restart_command.as_deref())
        {
            run_restart_command(command, self.target.close_limit(), self.cancelled)?;
            self.restarted = true;
        }
        self.drop_pages()?;
        self.open()?;
        self.drop_pages()
    }

    /// Drops the pages of the data folder from the page cache.
    pub(crate) fn drop_pages(&self) -> Result<(), TrialError> {
        page_cache::drop_folder(&self.folder).map_err(|error| {
            TrialError::failed(
                FailureKind::Environment,
                format!("failed to drop {} from the page cache: {error}", self.folder.display()),
            )
        })
    }

    /// Sends one request to the worker; the session must be open.
    pub fn request<R: DeserializeOwned>(
        &mut self,
        op: &Op,
        limit: Duration,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<R, TrialError> {
        let engine = self
            .engine
            .as_mut()
            .ok_or_else(|| TrialError::failed(FailureKind::Crash, "the engine is not up"))?;
        engine
            .request(op, limit, self.cancelled, progress)
            .map_err(|error| self.with_resource_hint(error.into()))
    }

    /// Sends one request like [`Session::request`], and aborts it as soon as `abort_reason` returns a
    /// failure.
    pub(crate) fn request_or_abort<R: DeserializeOwned>(
        &mut self,
        op: &Op,
        limit: Duration,
        abort_reason: &dyn Fn() -> Option<Failure>,
    ) -> Result<R, TrialError> {
        let engine = self
            .engine
            .as_mut()
            .ok_or_else(|| TrialError::failed(FailureKind::Crash, "the engine is not up"))?;
        let (abort_failure, cancelled) = (RefCell::new(None), self.cancelled);
        let stop = || {
            let failure = abort_reason();
            let is_aborted = failure.is_some();
            *abort_failure.borrow_mut() = failure;
            is_aborted || cancelled()
        };
        let answer = engine.request(op, limit, &stop, &mut |_| {});
        match (answer, abort_failure.into_inner()) {
            (Err(WorkerError::Cancelled), Some(failure)) => Err(failure.into()),
            (answer, _) => answer.map_err(|error| self.with_resource_hint(error.into())),
        }
    }

    /// Runs clients through [`EngineHandle::drive`]; the session must be open. Returns, for each exit of the
    /// server meanwhile, how it ended. The server is restarted up to 5 times, but the session is unusable
    /// then.
    pub(crate) fn run_clients<R: DeserializeOwned>(
        &mut self,
        op: &Op,
        limit: Duration,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<(R, Vec<String>), TrialError> {
        let engine = self
            .engine
            .as_mut()
            .ok_or_else(|| TrialError::failed(FailureKind::Crash, "the engine is not up"))?;
        let result = engine.drive(op, limit, self.cancelled, progress);
        self.subject.set_root(self.engine_pid());
        let (answer, mut exits) = result.map_err(|error| self.with_resource_hint(error.into()))?;
        if let (Some(last_exit), Some(reason)) = (exits.last_mut(), self.killed_for_memory()) {
            last_exit.push_str(&format!("; {reason}"));
        }
        Ok((answer, exits))
    }

    /// Runs clients until a given moment, then crashes the engine: the server if there is one, else the
    /// worker with all its clients. Only the data folder remains.
    pub(crate) fn crash<R: DeserializeOwned>(
        &mut self,
        op: &Op,
        limit: Duration,
        trigger: &CrashTrigger<'_>,
    ) -> Result<CrashResult<R>, TrialError> {
        let mut engine = self
            .engine
            .take()
            .ok_or_else(|| TrialError::failed(FailureKind::Crash, "the engine is not up"))?;
        let result = engine.run_and_crash(op, limit, self.cancelled, trigger);
        drop(engine);
        self.after_session_end(true);
        result.map_err(|error| self.with_resource_hint(error.into()))
    }

    /// Sets the timeout of opening, in place of the one of the system's folder.
    pub(crate) fn limit_opening(&mut self, limit: Duration) {
        self.open_limit = Some(limit);
    }

    /// Runs statements and ignores their answers.
    pub fn run(&mut self, statements: Vec<String>, limit: Duration) -> Result<RunReply, TrialError> {
        self.request(&Op::Run { statements }, limit, &mut |_| {})
    }

    /// Sets the value of a placeholder in all statements from now on, replacing an earlier value.
    pub(crate) fn set_placeholder(&mut self, name: &str, value: &str) {
        self.values.retain(|(known, _)| known != name);
        self.values.push((name.to_owned(), value.to_owned()));
    }

    /// Returns `true` if the server that this session started has exited without being told to.
    pub(crate) fn server_exited(&mut self) -> bool {
        self.engine.as_mut().is_some_and(EngineHandle::has_lost_its_server)
    }

    /// Statements of the configuration's file `name` with all placeholders filled; empty if there is no such
    /// file.
    pub fn statements(&self, name: &str, values: &[(&str, &str)]) -> Result<Vec<String>, TrialError> {
        self.fill_statements(name, values, fill_text)
    }

    /// Like [`Session::statements`], but keeps unknown placeholders, which stand for the values of an
    /// operation.
    pub fn statements_with_parameters(
        &self,
        name: &str,
        values: &[(&str, &str)],
    ) -> Result<Vec<String>, TrialError> {
        self.fill_statements(name, values, fill_known)
    }

    fn fill_statements(
        &self,
        name: &str,
        values: &[(&str, &str)],
        fill: Fill,
    ) -> Result<Vec<String>, TrialError> {
        let cores = self.cores.to_string();
        let folder = self.folder.display().to_string();
        let mut pairs = vec![("cores", cores.as_str()), ("folder", folder.as_str())];
        pairs.extend(as_str_pairs(&self.values));
        pairs.extend_from_slice(values);
        let prefix = self.target.table_prefix();
        let owned_pairs: Vec<(String, String)> = pairs
            .iter()
            .map(|(name, value)| {
                let value = if *name == "table" { format!("{prefix}{value}") } else { (*value).to_owned() };
                ((*name).to_owned(), value)
            })
            .collect();
        let pairs = as_str_pairs(&owned_pairs);
        self.target
            .setup
            .statements(name)
            .iter()
            .map(|text| fill(text, &pairs).map_err(placeholder_error))
            .collect()
    }

    /// First statement of the file `name`; a failure if there is none.
    pub fn statement(&self, name: &str, values: &[(&str, &str)]) -> Result<String, TrialError> {
        self.statements(name, values)?.into_iter().next().ok_or_else(|| {
            TrialError::failed(
                FailureKind::Environment,
                format!("the folder of {} has no statement `{name}`", self.target.configuration.system),
            )
        })
    }

    /// Runs the statement `name` and returns the named values of its answer, such as counts and sizes.
    pub fn figures(
        &mut self,
        name: &str,
        values: &[(&str, &str)],
        limit: Duration,
    ) -> Result<RowByName, TrialError> {
        let statement = self.statement(name, values)?;
        self.request(&Op::Sizes { statement }, limit, &mut |_| {})
    }

    /// Reads the query plan of `statement` as text.
    pub fn plan(&mut self, statement: &str, limit: Duration) -> Result<String, TrialError> {
        let statement = self.statement("plan", &[("statement", statement.trim_end_matches(';'))])?;
        let reply: PlanReply = self.request(&Op::Plan { statement }, limit, &mut |_| {})?;
        Ok(reply.text)
    }
}

/// Function that replaces placeholders by values: all of them, or the known ones only.
type Fill = fn(&str, &[(&str, &str)]) -> Result<String, PlaceholderError>;

/// Converts owned name–value pairs to the borrowed ones that filling statements takes.
pub(crate) fn as_str_pairs(values: &[(String, String)]) -> Vec<(&str, &str)> {
    values.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect()
}

fn fill(text: &str, values: &[(&str, &str)]) -> Result<String, TrialError> {
    fill_text(text, values).map_err(placeholder_error)
}

pub(crate) fn placeholder_error(error: PlaceholderError) -> TrialError {
    TrialError::failed(FailureKind::Environment, error.to_string())
}

/// Forwards the progress messages of a worker to the observer.
pub(crate) fn forward_progress(observer: &mut dyn Observer) -> impl FnMut(Progress) + '_ {
    |progress| {
        observer.event(&RunEvent::Progress {
            done: progress.done,
            total: progress.total,
            unit: &progress.unit,
        });
    }
}
