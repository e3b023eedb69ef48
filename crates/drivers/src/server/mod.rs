//! Servers: made, started, watched and ended by the worker whose session needs them, or reached by address.
//!
//! Nothing in here knows a system. What is run is said by a [`Launch`], and whether a server is ready is for
//! the driver to tell, by a real query. A server by address ([`Remote`]) is somebody else's: it is neither
//! started nor stopped.

mod folder;
mod guard;
mod need;
mod process;
mod recipe;

use std::collections::BTreeMap;
use std::net::{Ipv4Addr, TcpListener};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::time::{Duration, Instant};

pub use guard::{EXEC, GUARD, exec, guard, is_secret, wait_until_gone};
pub use recipe::{Launch, Need, Recipe};

use crate::address::{Remote, Tls};
use crate::driver::{DriverError, Open, Place, Result, cores};
use crate::tls;
use folder::Folder;
use guard::Order;
use process::{Guarded, LONG, SHORT};
use recipe::fill;

/// Between two attempts to reach a server that is starting. An attempt costs the server next to nothing,
/// and half of this is what the program adds to its start.
const PAUSE: Duration = Duration::from_millis(5);

/// How long a server that has cut the connection is waited for, to learn how it ended.
const AUTOPSY: Duration = Duration::from_secs(2);
/// How often another port is tried when somebody else took the one that was free.
const PORTS: usize = 5;

/// Between two attempts to reach a server by address.
const REMOTE_PAUSE: Duration = Duration::from_millis(100);

/// Where a session logs in.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Endpoint {
    pub(crate) host: String,
    pub(crate) port: u16,
    /// Instead of the port, where sessions come over a Unix socket.
    pub(crate) socket: Option<PathBuf>,
    pub(crate) user: String,
    pub(crate) database: String,
    pub(crate) password: String,
    pub(crate) tls: Option<Tls>,
    /// Whether somebody else runs the server.
    pub(crate) is_remote: bool,
}

impl std::fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Endpoint").field("host", &self.host).field("port", &self.port).finish_non_exhaustive()
    }
}

impl Endpoint {
    fn remote(remote: &Remote) -> Self {
        let address = &remote.address;
        Self {
            host: address.host.clone(),
            port: address.port,
            socket: address.socket.clone(),
            user: address.user.clone().unwrap_or_default(),
            database: address.database.clone().unwrap_or_default(),
            password: remote.password.0.clone(),
            tls: address.tls.clone(),
            is_remote: true,
        }
    }
}

/// Why a server is not ready.
pub(crate) enum NotReady {
    /// It is on its way.
    Yet(String),
    /// It never will be.
    Ever(String),
}

/// Bytes of a socket's path: `sun_path` of the operating system less the zero at its end.
const SOCKET_PATH: usize = 107;

fn socket_path(text: &str, values: &BTreeMap<&str, String>) -> Result<PathBuf> {
    let path = fill(text, values)?;
    if path.len() > SOCKET_PATH {
        return Err(DriverError::Unavailable(format!(
            "the path of a Unix socket has {SOCKET_PATH} bytes at most, and {path} has {}: choose a shorter folder \
             for the run (--out), or TCP (--transport tcp)",
            path.len()
        )));
    }
    Ok(path.into())
}

/// A server that can be asked.
#[derive(Debug)]
pub(crate) enum Server {
    /// Started by this session.
    Started(Started),
    /// Somebody else's, and where it is.
    Remote(String),
}

/// A server that this session has started. It is abandoned when this is dropped.
#[derive(Debug)]
pub(crate) struct Started {
    process: Guarded,
    stop: String,
    stop_status: Vec<i32>,
    stop_limit: Duration,
}

impl Server {
    /// Makes the data folder if there is none, starts the server and waits until `probe` succeeds; or reaches
    /// the server that is there.
    pub(crate) fn start<T>(
        open: &Open,
        mut probe: impl FnMut(&Endpoint) -> std::result::Result<T, NotReady>,
    ) -> Result<(Self, T)> {
        if let Some(remote) = &open.remote {
            return Self::reach(remote, &mut probe);
        }
        let launch = open.server.as_ref().ok_or_else(|| {
            DriverError::Unavailable(format!("protocol `{}` needs a server to be started", open.protocol))
        })?;
        let folder = Folder::new(&open.folder, folder::server_user())?;
        let programs = folder.programs(launch)?;
        let text = |path: &Path| path.display().to_string();
        let mut values: BTreeMap<&str, String> =
            programs.iter().map(|(name, path)| (name.as_str(), text(path))).collect();
        for need in &launch.recipe.needs {
            values.insert(&need.name, text(&need.find()?));
        }
        values.insert("data", text(&folder.data()));
        values.insert("run", text(&folder.run()));
        values.insert("cores", cores(open.cores).to_string());
        let starting = Starting { folder, open, launch };
        let password = starting.initialise(&values)?;
        values.insert("password", password.clone());
        let recipe = &launch.recipe;
        for _ in 1..PORTS {
            let port = starting.port()?;
            values.insert("port", port.to_string());
            let endpoint = Endpoint {
                host: Ipv4Addr::LOCALHOST.to_string(),
                port,
                socket: recipe.socket.as_deref().map(|socket| socket_path(socket, &values)).transpose()?,
                user: recipe.user.clone(),
                database: recipe.database.clone(),
                password: password.clone(),
                tls: None,
                is_remote: false,
            };
            match starting.attempt(&values, &endpoint, &mut probe) {
                Ok((started, ready)) => return Ok((Self::Started(started), ready)),
                // Somebody was faster; and everything else is not about the port.
                Err(_) if launch.port.is_none() && !is_free(port) => {}
                Err(error) => return Err(error),
            }
        }
        Err(DriverError::Unavailable(format!(
            "{PORTS} free ports were taken by others before the server was up"
        )))
    }

    /// Waits until a server that somebody else runs answers, if it ever does.
    fn reach<T>(
        remote: &Remote,
        probe: &mut impl FnMut(&Endpoint) -> std::result::Result<T, NotReady>,
    ) -> Result<(Self, T)> {
        let endpoint = Endpoint::remote(remote);
        let (begun, limit) = (Instant::now(), Duration::from_secs(remote.patience_s));
        loop {
            let why = match probe(&endpoint) {
                Ok(ready) => return Ok((Self::Remote(remote.address.to_string()), ready)),
                Err(NotReady::Ever(why)) => {
                    return Err(DriverError::Unavailable(format!("{}: {why}", remote.address)));
                }
                Err(NotReady::Yet(why)) => why,
            };
            if tls::blames_certificate(&why) {
                let text = format!("{}: {why}: {}", remote.address, tls::REMEDY);
                return Err(DriverError::Unavailable(text));
            }
            if begun.elapsed() >= limit {
                let text = format!("{} does not answer: {why}", remote.address);
                return Err(DriverError::Unavailable(text));
            }
            std::thread::sleep(REMOTE_PAUSE);
        }
    }

    /// Where the engine is, for those who measure it.
    pub(crate) fn place(&self) -> Place {
        match self {
            Self::Started(started) => Place::Process(started.pid()),
            Self::Remote(_) => Place::Elsewhere,
        }
    }

    /// Whether a process is the server's, or one that it started. Nothing is known of somebody else's, which is
    /// what the user says it is.
    pub(crate) fn holds(&self, pid: Option<u32>) -> bool {
        let Self::Started(started) = self else { return true };
        pid.is_some_and(|pid| {
            pid == started.pid()
                || jsonathlon_measure::tree::below(started.pid())
                    .is_ok_and(|processes| processes.contains(&pid))
        })
    }

    /// The error, with what has become of the server where a connection to it broke.
    pub(crate) fn told(&mut self, error: DriverError) -> DriverError {
        let DriverError::Crashed(words) = error else { return error };
        DriverError::Crashed(match self {
            Self::Started(started) => started.autopsy(&words),
            Self::Remote(address) => format!("{address} cut the connection: {words}"),
        })
    }

    /// Why there is no further session beside one that is open.
    pub(crate) fn refused(&mut self, (NotReady::Yet(why) | NotReady::Ever(why)): NotReady) -> DriverError {
        self.told(DriverError::Crashed(why))
    }

    /// Ends one that this session has started, cleanly.
    pub(crate) fn stop(self) -> Result<()> {
        match self {
            Self::Started(started) => started.stop(),
            Self::Remote(_) => Ok(()),
        }
    }
}

impl Started {
    /// Process id of the server.
    fn pid(&self) -> u32 {
        self.process.pid
    }

    fn autopsy(&mut self, words: &str) -> String {
        let text = match self.process.wait(AUTOPSY) {
            Some(status) => format!("the server ended ({status}): {words}"),
            None => format!("the server cut the connection: {words}"),
        };
        self.with_log(&text)
    }

    /// `message` with the end of the server's log.
    fn with_log(&self, message: &str) -> String {
        self.process.with_log(message, SHORT)
    }

    fn stop(mut self) -> Result<()> {
        if let Some(status) = self.process.wait(Duration::ZERO) {
            return Err(DriverError::Crashed(
                self.with_log(&format!("the server had ended before ({status})")),
            ));
        }
        self.process.signal(&self.stop);
        match self.process.wait(self.stop_limit) {
            Some(status) if status == ExitStatus::default().to_string() => Ok(()),
            // A runtime that ends on a signal may say so, however well it did.
            Some(status)
                if self
                    .stop_status
                    .iter()
                    .any(|code| status == ExitStatus::from_raw(code << 8).to_string()) =>
            {
                Ok(())
            }
            Some(status) => {
                Err(DriverError::Crashed(self.with_log(&format!("the server did not end well ({status})"))))
            }
            None => Err(DriverError::Crashed(
                self.with_log(&format!("the server did not end within {:?} and was killed", self.stop_limit)),
            )),
        }
    }
}

/// A server before it is up.
struct Starting<'a> {
    folder: Folder,
    open: &'a Open,
    launch: &'a Launch,
}

impl Starting<'_> {
    /// Makes the data folder, once; gives the session's password.
    fn initialise(&self, values: &BTreeMap<&str, String>) -> Result<String> {
        if !self.folder.is_new()? {
            return self.folder.password();
        }
        let password = self.folder.begin()?;
        let recipe = &self.launch.recipe;
        let limit = Duration::from_secs(recipe.start_limit_s);
        let mut values = values.clone();
        values.insert("password", password.clone());
        values.insert("password_file", self.folder.password_file().display().to_string());
        for command in &recipe.init {
            let command: Vec<String> =
                command.iter().map(|part| fill(part, &values)).collect::<Result<_>>()?;
            let shown = command.first().cloned().unwrap_or_default();
            let mut running = self.run(command, &values, self.folder.run())?;
            match running.wait(limit) {
                Some(status) if status == ExitStatus::default().to_string() => {}
                Some(status) => {
                    let message = format!("failed to make a data folder: {shown} ended with {status}");
                    return Err(DriverError::Unavailable(running.with_log(&message, LONG)));
                }
                None => {
                    let message = format!("failed to make a data folder: {shown} took longer than {limit:?}");
                    return Err(DriverError::Unavailable(running.with_log(&message, LONG)));
                }
            }
        }
        self.folder.finish()?;
        Ok(password)
    }

    /// A port on which nobody listens. Another process can still be faster than the server.
    fn port(&self) -> Result<u16> {
        if let Some(port) = self.launch.port {
            return if is_free(port) {
                Ok(port)
            } else {
                Err(DriverError::Unavailable(format!(
                    "port {port} is taken by another program: end that one, or choose another port"
                )))
            };
        }
        TcpListener::bind((Ipv4Addr::LOCALHOST, 0))
            .and_then(|listener| listener.local_addr())
            .map(|address| address.port())
            .map_err(|error| DriverError::Unavailable(format!("there is no free port: {error}")))
    }

    fn attempt<T>(
        &self,
        values: &BTreeMap<&str, String>,
        endpoint: &Endpoint,
        probe: &mut impl FnMut(&Endpoint) -> std::result::Result<T, NotReady>,
    ) -> Result<(Started, T)> {
        let recipe = &self.launch.recipe;
        for (path, text) in &recipe.files {
            self.folder.write(Path::new(&fill(path, values)?), &fill(text, values)?)?;
        }
        let mut command: Vec<String> =
            recipe.start.iter().map(|part| fill(part, values)).collect::<Result<_>>()?;
        for (name, value) in &self.open.settings {
            if recipe.setting.is_empty() {
                return Err(DriverError::Unsupported(format!(
                    "the system's folder does not say how its server is given the setting `{name}`"
                )));
            }
            let values = BTreeMap::from([("name", name.clone()), ("value", value.clone())]);
            for part in &recipe.setting {
                command.push(fill(part, &values)?);
            }
        }
        let folder = match &recipe.folder {
            Some(folder) => fill(folder, values)?.into(),
            None => self.folder.run(),
        };
        let process = self.run(command, values, folder)?;
        let mut server = Started {
            process,
            stop: recipe.stop.clone(),
            stop_status: recipe.stop_status.clone(),
            stop_limit: Duration::from_secs(recipe.stop_limit_s),
        };
        let limit = Duration::from_secs(recipe.start_limit_s);
        let begun = Instant::now();
        loop {
            let why = match probe(endpoint) {
                Ok(ready) => return Ok((server, ready)),
                Err(NotReady::Ever(why)) => return Err(DriverError::Unavailable(server.with_log(&why))),
                Err(NotReady::Yet(why)) => why,
            };
            // Waiting for its end is the pause, so that an end is noticed at once.
            if let Some(status) = server.process.wait(PAUSE) {
                let message = format!("the server ended ({status}) before it was ready");
                return Err(DriverError::Unavailable(server.process.with_log(&message, LONG)));
            }
            if begun.elapsed() >= limit {
                let message = format!("the server was not ready after {limit:?} ({why}) and was stopped");
                return Err(DriverError::Unavailable(server.with_log(&message)));
            }
        }
    }

    fn run(&self, command: Vec<String>, values: &BTreeMap<&str, String>, folder: PathBuf) -> Result<Guarded> {
        let recipe = &self.launch.recipe;
        // Servers look for files of their own in it, and the user's is none of their business.
        let mut environment = vec![("HOME".to_owned(), self.folder.run().display().to_string())];
        for (name, value) in &recipe.environment {
            environment.push((name.clone(), fill(value, values)?));
        }
        let order = Order {
            command,
            folder,
            lock: self.folder.lock(),
            user: self.folder.user,
            abandon: recipe.abandon.clone(),
            environment,
        };
        Guarded::start(&order, &self.launch.log)
    }
}

fn is_free(port: u16) -> bool {
    TcpListener::bind((Ipv4Addr::LOCALHOST, port)).is_ok()
}
