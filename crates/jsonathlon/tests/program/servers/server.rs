//! Starts a server as the program does, and opens sessions in workers of the program.

use std::{
    cell::Cell,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
};

use rustix::process::{Pid, Signal, kill_process};

use jsonathlon_catalogue::{ANALYTICS, Catalogue, Configuration, SERVING, Transport, fill};
use jsonathlon_driver_api::SessionOptions;
use jsonathlon_schema::value::{Row, Value};
use jsonathlon_servers::LaunchSpec;
use jsonathlon_worker::{
    WorkerError,
    protocol::{AskReply, FailureKind, LoadMethod, LoadReply, Op, OpenReply, Progress, RunReply},
};
use jsonathlon_workloads::{
    engine::{EngineHandle, WorkerCommand},
    target::Target,
};

use crate::support::{LIMIT, eventually, real::installed};

/// Folder and launch of a server; a test must leave no process of it behind.
pub(crate) struct Server {
    folder: tempfile::TempDir,
    system: &'static str,
    pub(crate) open: SessionOptions,
    pub(crate) launch: LaunchSpec,
}

/// The command that starts workers of the program.
pub(crate) fn command() -> WorkerCommand {
    WorkerCommand { program: env!("CARGO_BIN_EXE_jsonathlon").into(), arguments: vec!["worker".to_owned()] }
}

impl Server {
    /// Prepares the server of a system for one of its variants, over TCP.
    pub(crate) fn new(name: &'static str, variant: &str) -> Self {
        Self::reached_over(Transport::Tcp, name, variant)
    }

    pub(crate) fn reached_over(transport: Transport, name: &'static str, variant: &str) -> Self {
        let catalogue = Catalogue::load(&[]).unwrap();
        let system = catalogue.get(name).unwrap();
        let version = system.default_version();
        let installed = installed(system.artifact(version).unwrap().unwrap());
        let configuration = system.configuration(version, variant, "default").unwrap();
        let configuration = configuration.with_transport(transport).unwrap();
        // Servers do not run as root, and their user must be able to access the data.
        let open = std::fs::Permissions::from_mode(0o755);
        let folder = tempfile::Builder::new().permissions(open).tempdir().unwrap();
        let log = folder.path().join("server.log");
        let cores = std::thread::available_parallelism().unwrap().get();
        let workload = if configuration.analytics().is_some() { ANALYTICS } else { SERVING };
        let target = Target::new(configuration, workload, installed).unwrap();
        let data = folder.path().join("data");
        let open = target.session_options(&data, cores).unwrap();
        let launch = target.launch_spec(&data, &log, cores, &command().program).unwrap().unwrap();
        Self { folder, system: name, open, launch }
    }

    /// The statements of a configuration of the system, for a separate table.
    pub(crate) fn statements(&self, variant: &str, storage: &str, table: &str) -> Statements {
        let catalogue = Catalogue::load(&[]).unwrap();
        let system = catalogue.get(self.system).unwrap();
        let configuration = system.configuration(system.default_version(), variant, storage).unwrap();
        Statements { configuration, table: table.to_owned() }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn try_open(&self) -> Result<Session, WorkerError> {
        let (log, launch) = (self.path("worker.log"), Some(&self.launch));
        let (engine, opened) =
            EngineHandle::open(&command(), &log, &self.open, launch, LIMIT, &|| false, &mut |_| {})?;
        Ok(Session { engine, opened })
    }

    pub(crate) fn open(&self) -> Session {
        self.try_open().unwrap()
    }

    /// The message of the error with which opening fails.
    pub(crate) fn refusal(&self) -> String {
        match self.try_open() {
            Err(WorkerError::RequestFailed { message, .. }) => message,
            Err(other) => panic!("{other}"),
            Ok(_) => panic!("it opened"),
        }
    }

    /// Processes whose working directory is in the server's folder.
    pub(crate) fn processes(&self) -> Vec<u32> {
        processes_below(self.folder.path())
    }

    pub(crate) fn nothing_is_left(&self) {
        eventually("no process works in the folder", || self.processes().is_empty());
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            self.nothing_is_left();
        }
    }
}

/// Processes whose working directory is a folder or below it.
pub(crate) fn processes_below(folder: &Path) -> Vec<u32> {
    let Ok(here) = folder.canonicalize() else { return Vec::new() };
    let entries = std::fs::read_dir("/proc").unwrap();
    entries
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<u32>().ok())
        .filter(|pid| {
            std::fs::read_link(format!("/proc/{pid}/cwd")).is_ok_and(|folder| folder.starts_with(&here))
        })
        .collect()
}

/// The first process below a folder whose command line contains `words`.
pub(crate) fn process(folder: &Path, words: &str) -> Option<u32> {
    processes_below(folder).into_iter().find(|process| {
        let shown = std::fs::read(format!("/proc/{process}/cmdline")).unwrap_or_default();
        String::from_utf8_lossy(&shown).replace('\0', " ").contains(words)
    })
}

/// A session with the server.
pub(crate) struct Session {
    pub(crate) engine: EngineHandle,
    pub(crate) opened: OpenReply,
}

impl Session {
    pub(crate) fn request<R: serde::de::DeserializeOwned>(&mut self, op: &Op) -> Result<R, WorkerError> {
        self.engine.request(op, LIMIT, &|| false, &mut |_| {})
    }

    pub(crate) fn ask(&mut self, statement: &str) -> Result<AskReply, WorkerError> {
        self.request(&Op::Ask { statement: statement.into() })
    }

    pub(crate) fn rows(&mut self, statement: &str) -> Vec<Row> {
        self.ask(statement).unwrap_or_else(|error| panic!("{statement}: {error}")).outcome.rows
    }

    /// The message with which the statement is refused; the kind of failure must be `expected`.
    pub(crate) fn refusal(&mut self, statement: &str, expected: FailureKind) -> String {
        match self.ask(statement) {
            Err(WorkerError::RequestFailed { kind, message }) if kind == expected => message,
            other => panic!("{statement}: {other:?}"),
        }
    }

    pub(crate) fn run(&mut self, statement: &str) {
        self.run_all(vec![statement.into()]);
    }

    pub(crate) fn run_all(&mut self, statements: Vec<String>) {
        let _: RunReply = self.request(&Op::Run { statements }).unwrap_or_else(|error| panic!("{error}"));
    }

    pub(crate) fn load(&mut self, statement: &str, file: &Path) -> Result<LoadReply, WorkerError> {
        let load = LoadMethod::Rows { statement: statement.into(), file: file.to_owned() };
        self.request(&Op::Load { load, sync: true })
    }

    /// Loads a file and sends `signal` to `victim`. Returns the message with which the load is lost. `victim`
    /// is called repeatedly, with whether documents have been sent, until it returns a process. A waiting
    /// load sends no more documents.
    pub(crate) fn lost(
        mut self,
        statement: &str,
        file: &Path,
        victim: &dyn Fn(bool) -> Option<u32>,
        signal: Signal,
    ) -> String {
        let load = LoadMethod::Rows { statement: statement.into(), file: file.to_owned() };
        let (is_sent, has_begun) = (Cell::new(false), Cell::new(false));
        let look = || {
            if !is_sent.get()
                && let Some(victim) = victim(has_begun.get())
            {
                kill_process(pid(victim), signal).unwrap();
                is_sent.set(true);
            }
            false
        };
        let mut middle = |progress: Progress| {
            has_begun.set(has_begun.get() || progress.done > 0);
            look();
        };
        let loaded: Result<LoadReply, _> =
            self.engine.request(&Op::Load { load, sync: true }, LIMIT, &look, &mut middle);
        match loaded {
            Err(error) => crash(error),
            Ok(other) => panic!("{other:?}"),
        }
    }

    pub(crate) fn server(&self) -> u32 {
        self.opened.location.process().unwrap()
    }

    pub(crate) fn close(self) {
        self.engine.close(LIMIT).unwrap();
    }
}

/// The message of an error that reports a crash of the server.
pub(crate) fn crash(error: WorkerError) -> String {
    match error {
        WorkerError::RequestFailed { kind: FailureKind::Crashed, message } => message,
        other => panic!("{other}"),
    }
}

/// The statements of a configuration over one table.
pub(crate) struct Statements {
    pub(crate) configuration: Configuration,
    table: String,
}

impl Statements {
    pub(crate) fn all(&self, name: &str, values: &[(&str, &str)]) -> Vec<String> {
        let values = [&[("table", self.table.as_str())], values].concat();
        let analytics = self.configuration.analytics().unwrap();
        analytics.statements(name).iter().map(|text| fill(text, &values).unwrap()).collect()
    }

    pub(crate) fn one(&self, name: &str) -> String {
        self.all(name, &[]).remove(0)
    }
}

pub(crate) fn int(number: i64) -> Value {
    Value::Int(number)
}

pub(crate) fn text(text: &str) -> Value {
    Value::Text(text.into())
}

/// The first child process of a process.
pub(crate) fn child_of(parent: u32) -> u32 {
    // Children are listed by the thread that started them.
    let threads = std::fs::read_dir(format!("/proc/{parent}/task")).unwrap();
    let children: String = threads
        .map(|thread| std::fs::read_to_string(thread.unwrap().path().join("children")).unwrap())
        .collect();
    children.split_whitespace().next().unwrap().parse().unwrap()
}

pub(crate) fn kill(pid: u32) {
    kill_process(self::pid(pid), Signal::KILL).unwrap();
}

pub(crate) fn pid(number: u32) -> Pid {
    Pid::from_raw(i32::try_from(number).unwrap()).unwrap()
}

pub(crate) fn write(path: &Path, documents: impl IntoIterator<Item = impl AsRef<[u8]>>) {
    let mut bytes = Vec::new();
    for document in documents {
        bytes.extend_from_slice(document.as_ref());
        bytes.push(b'\n');
    }
    std::fs::write(path, bytes).unwrap();
}
