//! Servers: made, started, watched and ended by the worker whose session needs them.
//!
//! Nothing in here knows a system. What is run is said by a [`Launch`], and whether a server is ready is for
//! the driver to tell, by a real query.

mod folder;
mod guard;
mod process;
mod recipe;

use std::collections::BTreeMap;
use std::net::{Ipv4Addr, TcpListener};
use std::path::Path;
use std::time::{Duration, Instant};

pub use guard::{EXEC, GUARD, exec, guard, wait_until_gone};
pub use recipe::{Launch, Recipe};

use crate::driver::{DriverError, Open, Result};
use folder::Folder;
use guard::Order;
use process::Guarded;
use recipe::fill;

/// Between two attempts to reach a server that is starting. An attempt costs the server next to nothing,
/// and half of this is what the program adds to its start.
const PAUSE: Duration = Duration::from_millis(5);
/// How often another port is tried when somebody else took the one that was free.
const PORTS: usize = 5;

/// Where a session logs in.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Endpoint {
    pub(crate) port: u16,
    pub(crate) user: String,
    pub(crate) database: String,
    pub(crate) password: String,
}

impl std::fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Endpoint").field("port", &self.port).finish_non_exhaustive()
    }
}

/// Why a server is not ready.
pub(crate) enum NotReady {
    /// It is on its way.
    Yet(String),
    /// It never will be.
    Ever(String),
}

/// A server that runs. It is abandoned when this is dropped.
#[derive(Debug)]
pub(crate) struct Server {
    process: Guarded,
    stop: String,
    stop_limit: Duration,
}

impl Server {
    /// Makes the data folder if there is none, starts the server and waits until `probe` succeeds.
    pub(crate) fn start<T>(
        open: &Open,
        launch: &Launch,
        probe: impl FnMut(&Endpoint) -> std::result::Result<T, NotReady>,
    ) -> Result<(Self, T)> {
        let mut probe = probe;
        let folder = Folder::new(&open.folder, folder::server_user())?;
        let programs = folder.programs(launch)?;
        let cores = match open.cores {
            0 => std::thread::available_parallelism().map_or(1, usize::from),
            cores => cores,
        };
        let text = |path: &Path| path.display().to_string();
        let mut values: BTreeMap<&str, String> =
            programs.iter().map(|(name, path)| (name.as_str(), text(path))).collect();
        values.insert("data", text(&folder.data()));
        values.insert("run", text(&folder.run()));
        values.insert("cores", cores.to_string());
        let starting = Starting { folder, open, launch };
        let password = starting.initialise(&values)?;
        values.insert("password", password.clone());
        let recipe = &launch.recipe;
        for _ in 1..PORTS {
            let port = starting.port()?;
            values.insert("port", port.to_string());
            let endpoint = Endpoint {
                port,
                user: recipe.user.clone(),
                database: recipe.database.clone(),
                password: password.clone(),
            };
            match starting.attempt(&values, &endpoint, &mut probe) {
                Ok(started) => return Ok(started),
                // Somebody was faster; and everything else is not about the port.
                Err(_) if launch.port.is_none() && !is_free(port) => {}
                Err(error) => return Err(error),
            }
        }
        Err(DriverError::Unavailable(format!(
            "{PORTS} free ports were taken by others before the server was up"
        )))
    }

    /// Process id of the server.
    pub(crate) fn pid(&self) -> u32 {
        self.process.pid
    }

    /// How the server ended, if it has; waits for it at most `limit`.
    pub(crate) fn ended(&mut self, limit: Duration) -> Option<String> {
        self.process.wait(limit)
    }

    /// `message` with the end of the server's log.
    pub(crate) fn with_log(&self, message: &str) -> String {
        self.process.with_log(message)
    }

    /// Ends it cleanly.
    pub(crate) fn stop(mut self) -> Result<()> {
        if let Some(status) = self.process.wait(Duration::ZERO) {
            return Err(DriverError::Crashed(
                self.with_log(&format!("the server had ended before ({status})")),
            ));
        }
        self.process.signal(&self.stop);
        match self.process.wait(self.stop_limit) {
            Some(status) if status == std::process::ExitStatus::default().to_string() => Ok(()),
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
            let mut running = self.run(command, &values)?;
            match running.wait(limit) {
                Some(status) if status == std::process::ExitStatus::default().to_string() => {}
                Some(status) => {
                    let message = format!("failed to make a data folder: {shown} ended with {status}");
                    return Err(DriverError::Unavailable(running.with_log(&message)));
                }
                None => {
                    let message = format!("failed to make a data folder: {shown} took longer than {limit:?}");
                    return Err(DriverError::Unavailable(running.with_log(&message)));
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
    ) -> Result<(Server, T)> {
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
        let process = self.run(command, values)?;
        let mut server = Server {
            process,
            stop: recipe.stop.clone(),
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
                return Err(DriverError::Unavailable(server.with_log(&message)));
            }
            if begun.elapsed() >= limit {
                let message = format!("the server was not ready after {limit:?} ({why}) and was stopped");
                return Err(DriverError::Unavailable(server.with_log(&message)));
            }
        }
    }

    fn run(&self, command: Vec<String>, values: &BTreeMap<&str, String>) -> Result<Guarded> {
        let recipe = &self.launch.recipe;
        // Servers look for files of their own in it, and the user's is none of their business.
        let mut environment = vec![("HOME".to_owned(), self.folder.run().display().to_string())];
        for (name, value) in &recipe.environment {
            environment.push((name.clone(), fill(value, values)?));
        }
        let order = Order {
            command,
            folder: self.folder.run(),
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
