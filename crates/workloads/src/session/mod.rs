//! A session runs one target: it owns the data folder, starts and stops the engine, and fills the
//! placeholders of its statements. Requests go through a *worker session*: a worker process with an open
//! connection to the engine, or with the embedded engine itself.

mod memory_cgroup;
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
        AskReply, FailureKind as RequestFailureKind, Op, OpenReply, PlanReply, Progress, RowByName, RunReply,
    },
};

use crate::RunError;
pub use crate::engine::WorkerCommand;
use crate::engine::{CrashResult, CrashTrigger, EngineHandle};
use crate::observer::{Observer, RunEvent};
use crate::target::{CONNECT_TIMEOUT_S, EXIT_TIMEOUT, Target};
use remote::{ADMIN_TIMEOUT, GREETING_TIMEOUT, run_restart_command};
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
            WorkerError::RequestFailed { kind, .. } => match kind {
                RequestFailureKind::Refused => FailureKind::Refused,
                RequestFailureKind::Unavailable
                | RequestFailureKind::UnreadableDocuments
                | RequestFailureKind::MachineFailure => FailureKind::Environment,
                RequestFailureKind::Unsupported
                | RequestFailureKind::Protocol
                | RequestFailureKind::InvalidRequest => FailureKind::Protocol,
                RequestFailureKind::Crashed => FailureKind::Crash,
            },
            WorkerError::Protocol { .. } => FailureKind::Protocol,
            WorkerError::Io { .. } => FailureKind::Environment,
            _ => FailureKind::Crash,
        };
        Self::failed(kind, error.to_string())
    }
}

/// A target with its data folder and, while the session is open, its engine and worker session.
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
    /// Whether the remote server was restarted since the session was last opened, which allows it more time
    /// to answer.
    restarted: bool,
    /// Handle that tells the telemetry sampler which processes to observe, and what the system is doing.
    subject: SubjectHandle,
    cancelled: &'a dyn Fn() -> bool,
    /// Timeout for opening the session, in place of the target's own; `None` if that applies.
    open_timeout: Option<Duration>,
    /// Memory limit of the engine in bytes, page cache included; `None` if memory is not limited.
    pub(crate) memory_limit_bytes: Option<u64>,
    /// cgroup that enforces `memory_limit_bytes`. Declared after `engine` so that it is dropped later.
    memory_cgroup: Option<MemoryCap>,
    /// Number of processes killed at the limit of `memory_cgroup`, as far as failures have reported them.
    reported_cap_kills: Cell<u64>,
    /// The same counts for every other memory limit: the container's and the machine's.
    other_reported_kills: Kills,
    /// Values that the workload fills into all of its statements, by placeholder name.
    values: Vec<(String, String)>,
    /// Version that the engine reported when it was last opened; `None` before.
    pub(crate) reported_version: Option<String>,
    /// Seconds that it took to open the session last.
    pub(crate) open_s: f64,
    /// Memory of the engine's process tree right after the session was opened, before the first request.
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
            open_timeout: None,
            memory_limit_bytes: None,
            memory_cgroup: None,
            reported_cap_kills: Cell::default(),
            other_reported_kills: Kills::current(),
            values: Vec::new(),
            reported_version: None,
            open_s: 0.0,
            idle_memory: None,
        }
    }

    /// Tells the engine to use this number of cores from its next start on, as far as its folder knows how to.
    pub(crate) fn limit_cores(&mut self, cores: usize) {
        self.cores = cores;
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

    /// Starts the engine and opens a worker session, unless one is open. On a remote server, also creates the
    /// run's database.
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
        let mut options = self.target.session_options(&self.folder, self.cores).map_err(placeholder_error)?;
        if let Some(endpoint) = &mut options.endpoint
            && self.restarted
        {
            endpoint.connect_timeout_s = RESTART_TIMEOUT_S;
        }
        self.create_memory_cgroup()?;
        let launch = self.launch_spec()?;
        let opened = self.start(options, launch)?;
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

    /// Describes the server to start for a session; `None` if the target does not need a server of its own.
    fn launch_spec(&self) -> Result<Option<LaunchSpec>, TrialError> {
        let log = self.log.with_extension("server.log");
        let launch = self.target.launch_spec(&self.folder, &log, self.cores, &self.command.program);
        let mut launch = launch.map_err(placeholder_error)?;
        if let Some(launch) = &mut launch {
            launch.group = self.memory_cgroup.as_ref().map(MemoryCap::processes);
            if let Some(timeout) = self.open_timeout {
                launch.recipe.start_limit_s = timeout.as_secs();
            }
        }
        Ok(launch)
    }

    /// Starts the server, if `launch` is given, and opens a worker session.
    fn start(
        &mut self,
        options: SessionOptions,
        launch: Option<LaunchSpec>,
    ) -> Result<OpenReply, TrialError> {
        let timeout = match &options.endpoint {
            Some(endpoint) => Duration::from_secs(endpoint.connect_timeout_s) + GREETING_TIMEOUT,
            None => self.open_timeout.unwrap_or_else(|| self.target.open_timeout()),
        };
        let (subject, cancelled) = (&self.subject, self.cancelled);
        let on_start = &mut |worker| subject.set_root(Some(worker));
        let launch = launch.as_ref();
        match EngineHandle::open(self.command, &self.log, &options, launch, timeout, cancelled, on_start) {
            Ok((engine, opened)) => {
                self.engine = Some(engine);
                self.subject.set_root(self.engine_pid());
                self.move_worker_into_cgroup()?;
                Ok(opened)
            }
            Err(error) => {
                let error = self.with_resource_hint(error.into());
                // The worker may have started statements on a remote server, which are ended here.
                self.after_session_end(true);
                Err(error)
            }
        }
    }

    /// Closes the worker session and opens another one. A server that was started for it keeps running
    /// meanwhile.
    pub(crate) fn reconnect(&mut self) -> Result<(), TrialError> {
        let options = self.target.session_options(&self.folder, self.cores).map_err(placeholder_error)?;
        let timeout = match &options.endpoint {
            Some(endpoint) => Duration::from_secs(endpoint.connect_timeout_s) + GREETING_TIMEOUT,
            None => self.target.open_timeout(),
        };
        let (subject, cancelled) = (&self.subject, self.cancelled);
        let on_start = &mut |worker| subject.set_root(Some(worker));
        let Some(engine) = self.engine.as_mut() else {
            return Err(TrialError::failed(FailureKind::Crash, "the engine is not running"));
        };
        let opened = engine.reconnect(self.command, &self.log, &options, timeout, cancelled, on_start);
        self.subject.set_root(self.engine_pid());
        match opened {
            Ok(_) => self.move_worker_into_cgroup(),
            Err(error) => {
                self.kill();
                Err(self.with_resource_hint(error.into()))
            }
        }
    }

    /// Returns the engine's version without changing its data. Starts the engine for that, and stops it
    /// again.
    pub(crate) fn version(&mut self) -> Result<String, TrialError> {
        let mut options = self.target.session_options(&self.folder, self.cores).map_err(placeholder_error)?;
        options.endpoint = self.target.endpoint(false, CONNECT_TIMEOUT_S);
        options.statements.clear();
        let launch = self.launch_spec()?;
        let mut version = self.start(options, launch)?.version;
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

    /// Closes the worker session cleanly, then its server. A process that does not end is killed; its data
    /// may then need recovery.
    pub fn close(&mut self) -> Result<(), TrialError> {
        // Closing is still attributed to the system in the telemetry, because it may write a checkpoint.
        let result = match self.engine.take() {
            Some(engine) if engine.is_alive() => engine.close(self.target.close_timeout()),
            _ => Ok(()),
        };
        self.subject.set_root(None);
        Ok(result?)
    }

    /// Kills the worker and the server that was started for it. Waits for their exit, so that the data
    /// folder can be removed.
    pub fn kill(&mut self) {
        let was_running = self.engine.take().is_some();
        self.after_session_end(was_running);
    }

    /// Clean-up common to every way a worker session can end, except a clean close.
    fn after_session_end(&mut self, was_running: bool) {
        self.subject.set_root(None);
        wait_until_exited(&self.folder, EXIT_TIMEOUT);
        if was_running && self.database_created {
            self.kill_remote_sessions();
        }
    }

    /// Kills the engine of a system that gets no more requests. Removes its data to free disk space for the
    /// rest of the run, unless `keep_data` is set so that the user can inspect it.
    pub(crate) fn abandon(&mut self, keep_data: bool) {
        self.kill();
        // The error is ignored: it does not matter yet, because the end of the run tries again.
        self.drop_remote_objects(keep_data).ok();
        if !keep_data {
            // Best effort: nothing depends on the removal.
            std::fs::remove_dir_all(&self.folder).ok();
        }
    }

    /// Closes the session and discards its data. When it is opened next, it has an empty data folder, or on a
    /// remote server a new database.
    pub(crate) fn reset_data(&mut self) -> Result<(), TrialError> {
        self.close()?;
        if self.is_remote() {
            self.database_created = false;
            return Ok(());
        }
        wait_until_exited(&self.folder, EXIT_TIMEOUT);
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

    /// Handle that tells the telemetry sampler which processes to observe, and what the system is doing.
    pub(crate) fn subject(&self) -> &SubjectHandle {
        &self.subject
    }

    /// Restarts the engine with a cold page cache. Drops the pages of the data folder before the start, and
    /// again after it, because the start itself reads some. The engine may still hold in its own memory what
    /// it read.
    pub fn restart_cold(&mut self) -> Result<(), TrialError> {
        self.close()?;
        if let Some(command) =
            self.target.remote.as_ref().and_then(|remote| remote.restart_command.as_deref())
        {
            run_restart_command(command, self.target.close_timeout(), self.cancelled)?;
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
        timeout: Duration,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<R, TrialError> {
        let engine = self
            .engine
            .as_mut()
            .ok_or_else(|| TrialError::failed(FailureKind::Crash, "the engine is not running"))?;
        engine
            .request(op, timeout, self.cancelled, progress)
            .map_err(|error| self.with_resource_hint(error.into()))
    }

    /// Sends one request like [`Session::request`], and aborts it as soon as `abort_reason` returns a
    /// failure.
    pub(crate) fn request_or_abort<R: DeserializeOwned>(
        &mut self,
        op: &Op,
        timeout: Duration,
        abort_reason: &dyn Fn() -> Option<Failure>,
    ) -> Result<R, TrialError> {
        let engine = self
            .engine
            .as_mut()
            .ok_or_else(|| TrialError::failed(FailureKind::Crash, "the engine is not running"))?;
        let (abort_failure, cancelled) = (RefCell::new(None), self.cancelled);
        let stop = || {
            let failure = abort_reason();
            let is_aborted = failure.is_some();
            *abort_failure.borrow_mut() = failure;
            is_aborted || cancelled()
        };
        let answer = engine.request(op, timeout, &stop, &mut |_| {});
        match (answer, abort_failure.into_inner()) {
            (Err(WorkerError::Cancelled), Some(failure)) => Err(failure.into()),
            (answer, _) => answer.map_err(|error| self.with_resource_hint(error.into())),
        }
    }

    /// Runs clients through [`EngineHandle::drive`]; the session must be open. Returns the reply and one
    /// description per server exit during the run. The server is restarted up to 5 times; after any restart
    /// this session can no longer be used.
    pub(crate) fn run_clients<R: DeserializeOwned>(
        &mut self,
        op: &Op,
        timeout: Duration,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<(R, Vec<String>), TrialError> {
        let engine = self
            .engine
            .as_mut()
            .ok_or_else(|| TrialError::failed(FailureKind::Crash, "the engine is not running"))?;
        let result = engine.drive(op, timeout, self.cancelled, progress);
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
        timeout: Duration,
        trigger: &CrashTrigger<'_>,
    ) -> Result<CrashResult<R>, TrialError> {
        let mut engine = self
            .engine
            .take()
            .ok_or_else(|| TrialError::failed(FailureKind::Crash, "the engine is not running"))?;
        let result = engine.run_and_crash(op, timeout, self.cancelled, trigger);
        drop(engine);
        self.after_session_end(true);
        result.map_err(|error| self.with_resource_hint(error.into()))
    }

    /// Sets the timeout for opening the session, in place of the target's own.
    pub(crate) fn set_open_timeout(&mut self, timeout: Duration) {
        self.open_timeout = Some(timeout);
    }

    /// Runs statements and ignores their answers.
    pub fn run(&mut self, statements: Vec<String>, timeout: Duration) -> Result<RunReply, TrialError> {
        self.request(&Op::Run { statements }, timeout, &mut |_| {})
    }

    /// Sets the value of a placeholder in all statements from now on, replacing an earlier value.
    pub(crate) fn set_placeholder(&mut self, name: &str, value: &str) {
        self.values.retain(|(known, _)| known != name);
        self.values.push((name.to_owned(), value.to_owned()));
    }

    /// Takes over the placeholders that the workload has set for another session of the same target.
    pub(crate) fn take_placeholders_of(&mut self, other: &Self) {
        self.values.clone_from(&other.values);
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

    /// Like [`Session::statements`], but leaves placeholders without a value unfilled. Each operation of a
    /// client fills these with its parameters.
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

    /// Runs the statement `name` and returns the values of its answer by column name, such as counts and
    /// sizes.
    pub fn named_values(
        &mut self,
        name: &str,
        values: &[(&str, &str)],
        timeout: Duration,
    ) -> Result<RowByName, TrialError> {
        let statement = self.statement(name, values)?;
        self.request(&Op::Sizes { statement }, timeout, &mut |_| {})
    }

    /// Reads the query plan of `statement` as text.
    pub fn plan(&mut self, statement: &str, timeout: Duration) -> Result<String, TrialError> {
        let statement = self.statement("plan", &[("statement", statement.trim_end_matches(';'))])?;
        let reply: PlanReply = self.request(&Op::Plan { statement }, timeout, &mut |_| {})?;
        Ok(reply.text)
    }
}

/// Function that replaces placeholders by values: all of them, or the known ones only.
type Fill = fn(&str, &[(&str, &str)]) -> Result<String, PlaceholderError>;

/// Borrows name–value pairs as `&str`, as filling statements takes them.
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
