//! One configuration under test: its folder, its worker, and its statements with every value in place.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use jsonathlon_drivers::driver::Open;
use jsonathlon_drivers::server::{Launch, Recipe, wait_until_gone};
use jsonathlon_drivers::worker::protocol::{
    FailureKind as RefusedKind, Figures, Op, Opened, PROTOCOL, PlanText, Progress, Ran,
};
use jsonathlon_drivers::worker::{Worker, WorkerError};
use jsonathlon_measure::memory::Memory;
use jsonathlon_measure::page_cache;
use jsonathlon_measure::series::Subject;
use jsonathlon_results::record::{Failure, FailureKind};
use jsonathlon_systems::{Analytics, Configuration};
use serde::de::DeserializeOwned;

use crate::RunError;
use crate::observer::{Event, Observer};

/// How long an engine may take to open its folder or to close it; an engine that needs longer than this
/// for documents already loaded is hanging.
const OPEN_LIMIT: Duration = Duration::from_secs(600);
const CLOSE_LIMIT: Duration = Duration::from_secs(600);

/// How long a server whose worker was killed may take to end.
const GONE_LIMIT: Duration = Duration::from_secs(20);

/// A configuration that can run the workload, and where its program is.
#[derive(Debug, Clone)]
pub struct Target {
    /// What to run.
    pub configuration: Configuration,
    /// The workload's part of it.
    pub analytics: Analytics,
    /// The engine's shared library, for engines that have one.
    pub library: Option<PathBuf>,
    /// Programs of the installed artifact by name, for systems whose server is started.
    pub programs: BTreeMap<String, PathBuf>,
    /// The folder in which the artifact was unpacked.
    pub installed: Option<PathBuf>,
    /// Digest of the artifact.
    pub artifact_digest: Option<String>,
}

impl Target {
    /// A name that is a file name and is shared by no other configuration of a run.
    #[must_use]
    pub fn id(&self) -> String {
        let Configuration { system, version, variant, storage, .. } = &self.configuration;
        format!("{system}@{version}-{variant}-{storage}")
    }
}

/// The server of a configuration as a worker starts it, its output going to `log`; none for an embedded
/// engine.
#[must_use]
pub fn launch(
    configuration: &Configuration,
    programs: &BTreeMap<String, PathBuf>,
    installed: Option<&Path>,
    log: &Path,
) -> Option<Box<Launch>> {
    let server = configuration.server.clone()?;
    Some(Box::new(Launch {
        programs: programs.clone(),
        installed: installed.map(Path::to_owned),
        log: log.to_owned(),
        port: None,
        recipe: Recipe {
            user: server.user,
            database: server.database,
            init: server.init,
            files: server.files,
            start: server.start,
            setting: server.setting,
            environment: server.environment,
            stop: server.stop,
            abandon: server.abandon,
            start_limit_s: server.start_limit_s,
            stop_limit_s: server.stop_limit_s,
        },
    }))
}

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
    /// The server that the worker has started.
    server: Option<u32>,
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
            server: None,
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

    /// The process whose tree is the engine, while it is up: the server's, or the worker's own.
    pub(crate) fn engine(&self) -> Option<u32> {
        self.pid().map(|worker| self.server.unwrap_or(worker))
    }

    /// Starts the worker and opens the engine in it, unless both are up.
    pub(crate) fn open(&mut self) -> Result<(), AskError> {
        if self.pid().is_some() {
            return Ok(());
        }
        self.kill();
        let arguments: Vec<&str> = self.command.arguments.iter().map(String::as_str).collect();
        let no_environment: [(OsString, OsString); 0] = [];
        let worker = Worker::spawn(&self.command.program, &arguments, &self.log, &no_environment)?;
        self.subject.is(Some(worker.pid()));
        self.worker = Some(worker);
        let cores = self.cores.to_string();
        let folder = self.folder.display().to_string();
        let values = [("cores", cores.as_str()), ("folder", folder.as_str())];
        let configuration = &self.target.configuration;
        let settings = configuration
            .open
            .settings
            .iter()
            .map(|(name, value)| Ok((name.clone(), fill(value, &values)?)))
            .collect::<Result<_, AskError>>()?;
        let statements =
            configuration.open.statements.iter().map(|s| fill(s, &values)).collect::<Result<_, _>>()?;
        let open = Open {
            protocol: configuration.protocol.clone(),
            library: self.target.library.clone(),
            folder: self.folder.clone(),
            settings,
            statements,
            cores: self.cores,
            server: launch(
                configuration,
                &self.target.programs,
                self.target.installed.as_deref(),
                &self.log.with_extension("server.log"),
            ),
        };
        let opened: Opened = self
            .request(&Op::Open { protocol: PROTOCOL, open }, OPEN_LIMIT, &mut |_| {})
            .inspect_err(|_| {
                // A session that could not be opened is of no use to anybody.
                self.kill();
            })?;
        let expected = configuration.artifact.as_ref().map(|artifact| artifact.reports.as_str());
        if let Some(expected) = expected
            && !opened.version.contains(expected)
        {
            self.kill();
            return Err(AskError::failed(
                FailureKind::Environment,
                format!(
                    "the engine says that it is version {:?}, but {} {} reports {expected:?}; remove it with \
                     `jsonathlon systems remove` and install it again",
                    opened.version, self.target.configuration.system, self.target.configuration.version
                ),
            ));
        }
        self.open_s = opened.seconds;
        self.reported_version = Some(opened.version);
        self.server = opened.server_pid;
        self.subject.is(self.engine());
        self.idle = self.memory();
        Ok(())
    }

    /// Ends the session cleanly. A worker that will not close is killed; its data may need recovery.
    pub(crate) fn close(&mut self) -> Result<(), AskError> {
        // A checkpoint while closing is the system's own work still.
        let closed = match self.worker.take() {
            Some(mut worker) if worker.is_alive() => worker.close(CLOSE_LIMIT).map(drop),
            _ => Ok(()),
        };
        self.subject.is(None);
        Ok(closed?)
    }

    /// Ends the session, however. A server is gone too afterwards, so that its folder can be removed.
    pub(crate) fn kill(&mut self) {
        self.subject.is(None);
        self.worker = None;
        wait_until_gone(&self.folder, GONE_LIMIT);
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
        Ok(worker.request(op, limit, self.cancelled, progress)?)
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
    jsonathlon_systems::catalogue::fill(text, values)
        .map_err(|error| AskError::failed(FailureKind::Environment, error.to_string()))
}

/// Passes a worker's signs of life on to the observer.
pub(crate) fn relay(observer: &mut dyn Observer) -> impl FnMut(Progress) + '_ {
    |progress| {
        observer.event(&Event::Progress { done: progress.done, total: progress.total, unit: &progress.unit });
    }
}
