//! A server over its lifetime: initialised, started, watched, restarted, killed and stopped.

use std::collections::BTreeMap;
use std::net::Ipv4Addr;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::time::{Duration, Instant};

use jsonathlon_schema::transport::Transport;

use crate::certificate;
use crate::data_template::DataTemplate;
use crate::error::{Result, ServerError};
use crate::folder::{ServerFolder, folder_error};
use crate::guard::GuardCommand;
use crate::launch::{LaunchSpec, Login};
use crate::port::{self, is_free, loopback};
use crate::process::{GuardedProcess, LONG_LOG_LINES, SHORT_LOG_LINES};
use crate::recipe::fill;
use crate::user::server_user;

/// Longest wait for the exit status of a server after it has closed a connection.
const EXIT_STATUS_LIMIT: Duration = Duration::from_secs(2);

/// Longest path of a Unix socket in bytes: size of `sun_path` minus the terminating zero.
const MAX_SOCKET_PATH: usize = 107;

/// A server that was started; sessions find out whether it is ready. Dropping it abandons the server and
/// waits until its processes are gone.
#[derive(Debug)]
pub struct Server {
    process: GuardedProcess,
    login: Login,
    /// `true` if the port was chosen here, not by the caller.
    any_port: bool,
    started: Instant,
    seconds: f64,
    stop: String,
    stop_status: Vec<i32>,
    stop_limit: Duration,
}

impl Server {
    /// Initialises the data folder if necessary, and starts the server.
    ///
    /// # Errors
    /// [`ServerError::Unavailable`] if the machine lacks something, the folder cannot be initialised or was
    /// not created by this program, or a command fails; [`ServerError::Unsupported`] if the recipe is
    /// invalid; or [`ServerError::Cancelled`].
    pub fn start(launch: &LaunchSpec, cancelled: &dyn Fn() -> bool) -> Result<Self> {
        let started = Instant::now();
        let folder = ServerFolder::new(&launch.folder, server_user())?;
        let programs = folder.programs(launch)?;
        let text = |path: &Path| path.display().to_string();
        let mut values: BTreeMap<&str, String> =
            programs.iter().map(|(name, path)| (name.as_str(), text(path))).collect();
        for program in &launch.recipe.needs {
            values.insert(&program.name, text(&program.find()?));
        }
        values.insert("data", text(&folder.data()));
        values.insert("run", text(&folder.run()));
        values.insert("cores", cores(launch.cores).to_string());
        for (name, path) in certificate::paths(&folder) {
            values.insert(name, text(&path));
        }
        let pending = PendingServer { folder, launch, cancelled };
        let password = pending.initialise(&values)?;
        values.insert("password", password.clone());
        let port = pending.port()?;
        values.insert("port", port.to_string());
        let recipe = &launch.recipe;
        let host = Ipv4Addr::LOCALHOST.to_string();
        let encrypts = recipe.transport == Transport::Tls;
        let certificate = encrypts.then(|| certificate::make(&pending.folder, &host)).transpose()?;
        let login = Login {
            host,
            port,
            certificate,
            socket: recipe.socket_template().map(|socket| socket_path(socket, &values)).transpose()?,
            user: recipe.user.clone(),
            database: recipe.database.clone(),
            password,
        };
        let process = pending.run(&values)?;
        Ok(Self {
            process,
            login,
            any_port: launch.port.is_none(),
            started,
            seconds: started.elapsed().as_secs_f64(),
            stop: recipe.stop.clone(),
            stop_status: recipe.stop_status.clone(),
            stop_limit: Duration::from_secs(recipe.stop_limit_s),
        })
    }

    /// Starts the server again on the same port and data, after its previous processes have ended or are
    /// about to.
    ///
    /// # Errors
    /// As for [`Server::start`]; also if another program has taken the port.
    pub fn restart(&mut self, launch: &LaunchSpec, cancelled: &dyn Fn() -> bool) -> Result<()> {
        let launch = LaunchSpec { port: Some(self.login.port), ..launch.clone() };
        let server = Self::start(&launch, cancelled)?;
        *self = Self { any_port: self.any_port, ..server };
        Ok(())
    }

    /// Exit status of the server as text; `None` while it is running.
    pub fn exit_status(&mut self) -> Option<String> {
        self.process.wait(Duration::ZERO)
    }

    /// Endpoint and credentials for sessions.
    #[must_use]
    pub fn login(&self) -> &Login {
        &self.login
    }

    /// Process id of the server, below its guard.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.process.pid
    }

    /// Seconds from the call of [`Server::start`] until the process existed, including initialisation of the
    /// data folder.
    #[must_use]
    pub fn seconds(&self) -> f64 {
        self.seconds
    }

    /// Returns `true` if the server has ended for any reason.
    pub fn has_ended(&mut self) -> bool {
        self.exit_status().is_some()
    }

    /// Returns `true` if the server has ended and another program listens on the port chosen here: a new
    /// attempt makes sense.
    pub fn port_was_taken(&mut self) -> bool {
        self.any_port && self.has_ended() && !is_free(self.login.port)
    }

    /// Explains why the server did not become ready within `limit`, with the end of its log; `error` is
    /// the last error of a session.
    pub fn describe_startup_failure(&mut self, error: &str, limit: Duration) -> String {
        if let Some(status) = self.process.wait(Duration::ZERO) {
            let message = format!("the server ended ({status}) before it was ready");
            return self.process.with_log(&message, LONG_LOG_LINES);
        }
        if self.started.elapsed() >= limit {
            let message = format!("the server was not ready after {limit:?} ({error}) and was stopped");
            return self.process.with_log(&message, SHORT_LOG_LINES);
        }
        self.process.with_log(error, SHORT_LOG_LINES)
    }

    /// Explains a broken connection of a session, with the message `error`: adds the exit status if the
    /// server has ended, and the end of its log.
    pub fn describe_exit(&mut self, error: &str) -> String {
        let message = match self.process.wait(EXIT_STATUS_LIMIT) {
            Some(status) => format!("the server ended ({status}): {error}"),
            None => error.to_owned(),
        };
        self.process.with_log(&message, SHORT_LOG_LINES)
    }

    /// Kills the server and all its processes, as in a crash. Returns its exit status; `None` if it has not
    /// ended within `limit`.
    pub fn kill(&mut self, limit: Duration) -> Option<String> {
        self.process.signal("KILL");
        self.process.wait(limit)
    }

    /// Stops the server cleanly by its stop signal.
    ///
    /// # Errors
    /// [`ServerError::Crashed`] if it had ended before, ended with an unclean status, or did not end within
    /// the stop limit; in the last case it is killed.
    pub fn stop(mut self) -> Result<()> {
        let crashed = |process: &GuardedProcess, message: String| {
            ServerError::Crashed(process.with_log(&message, SHORT_LOG_LINES))
        };
        if let Some(status) = self.process.wait(Duration::ZERO) {
            return Err(crashed(&self.process, format!("the server had ended before ({status})")));
        }
        self.process.signal(&self.stop);
        match self.process.wait(self.stop_limit) {
            Some(status) if self.is_clean(&status) => Ok(()),
            Some(status) => Err(crashed(&self.process, format!("the server did not end well ({status})"))),
            None => {
                let message = format!("the server did not end within {:?} and was killed", self.stop_limit);
                Err(crashed(&self.process, message))
            }
        }
    }

    /// Returns `true` for status 0 and those of `stop_status`, because some runtimes report the signal that
    /// ended them.
    fn is_clean(&self, status: &str) -> bool {
        let accepted = self.stop_status.iter().map(|code| ExitStatus::from_raw(code << 8));
        accepted.chain([ExitStatus::default()]).any(|clean| clean.to_string() == status)
    }
}

fn socket_path(text: &str, values: &BTreeMap<&str, String>) -> Result<PathBuf> {
    let path = fill(text, values)?;
    if path.len() > MAX_SOCKET_PATH {
        return Err(ServerError::Unavailable(format!(
            "the path of a Unix socket has {MAX_SOCKET_PATH} bytes at most, and {path} has {}: choose a \
             shorter folder for the run (--out), or TCP (--transport tcp)",
            path.len()
        )));
    }
    Ok(path.into())
}

/// State of a server while it is being initialised and started.
struct PendingServer<'a> {
    folder: ServerFolder,
    launch: &'a LaunchSpec,
    cancelled: &'a dyn Fn() -> bool,
}

impl PendingServer<'_> {
    /// Initialises the data folder unless that has been done; returns the password of sessions.
    fn initialise(&self, values: &BTreeMap<&str, String>) -> Result<String> {
        if !self.folder.is_new()? {
            return self.folder.password();
        }
        self.folder.mark_initialising()?;
        let template = DataTemplate::for_launch(self.launch, &self.folder);
        if let Some(template) = &template {
            let copied = template.copy_to(&self.folder);
            if copied.map_err(folder_error("copy a data folder to", &self.folder.root))? {
                self.folder.mark_initialised()?;
                return self.folder.password();
            }
        }
        let password = self.folder.create()?;
        let recipe = &self.launch.recipe;
        let limit = Duration::from_secs(recipe.start_limit_s);
        let mut values = values.clone();
        values.insert("password", password.clone());
        values.insert("password_file", self.folder.password_file().display().to_string());
        for command in &recipe.init {
            let command: Vec<String> =
                command.iter().map(|argument| fill(argument, &values)).collect::<Result<_>>()?;
            let program = command.first().cloned().unwrap_or_default();
            let mut process = self.guarded(command, &values, self.folder.run())?;
            let message = match process.wait_or_cancel(limit, self.cancelled)? {
                Some(status) if status == ExitStatus::default().to_string() => continue,
                Some(status) => format!("failed to make a data folder: {program} ended with {status}"),
                None => format!("failed to make a data folder: {program} took longer than {limit:?}"),
            };
            return Err(ServerError::Unavailable(process.with_log(&message, LONG_LOG_LINES)));
        }
        self.folder.revoke_password_file()?;
        if let Some(template) = template {
            template.store(&self.folder);
        }
        self.folder.mark_initialised()?;
        Ok(password)
    }

    /// Chooses a free port. Another process may still take it before the server listens.
    fn port(&self) -> Result<u16> {
        if let Some(port) = self.launch.port {
            return if is_free(port) {
                Ok(port)
            } else {
                loopback()?;
                Err(ServerError::Unavailable(format!(
                    "port {port} is in use by another program: end that one, or choose another port"
                )))
            };
        }
        port::choose_port().or_else(|error| match self.launch.recipe.transport {
            // No server listens on the port then; its number is only part of the socket's name.
            Transport::Unix => Ok(port::LOWEST_PORT),
            Transport::Tcp | Transport::Tls => {
                loopback()?;
                Err(ServerError::Unavailable(format!("there is no free port: {error}")))
            }
        })
    }

    /// Writes the configuration files and starts the server.
    fn run(&self, values: &BTreeMap<&str, String>) -> Result<GuardedProcess> {
        let recipe = &self.launch.recipe;
        for (path, text) in &recipe.files {
            self.folder.write(Path::new(&fill(path, values)?), &fill(text, values)?)?;
        }
        let mut start_command: Vec<&String> = recipe.start_command().collect();
        if is_fewer(self.launch.cores) {
            start_command.extend(&recipe.fewer_cores);
        }
        let mut command: Vec<String> =
            start_command.into_iter().map(|argument| fill(argument, values)).collect::<Result<_>>()?;
        for (name, value) in &self.launch.settings {
            if recipe.setting.is_empty() {
                return Err(ServerError::Unsupported(format!(
                    "the system's folder does not say how its server is given the setting `{name}`"
                )));
            }
            let values = BTreeMap::from([("name", name.clone()), ("value", value.clone())]);
            for argument in &recipe.setting {
                command.push(fill(argument, &values)?);
            }
        }
        let folder = match &recipe.folder {
            Some(folder) => fill(folder, values)?.into(),
            None => self.folder.run(),
        };
        self.guarded(command, values, folder)
    }

    fn guarded(
        &self,
        command: Vec<String>,
        values: &BTreeMap<&str, String>,
        folder: PathBuf,
    ) -> Result<GuardedProcess> {
        let recipe = &self.launch.recipe;
        // Servers look for files in their home folder and must not find those of the user.
        let mut environment = vec![("HOME".to_owned(), self.folder.run().display().to_string())];
        for (name, value) in &recipe.environment {
            environment.push((name.clone(), fill(value, values)?));
        }
        let guard_command = GuardCommand {
            command,
            folder,
            lock: self.folder.lock(),
            user: self.folder.user,
            abandon: recipe.abandon.clone(),
            group: self.launch.group.clone(),
            environment,
        };
        GuardedProcess::start(&self.launch.guard, &guard_command, &self.launch.log, self.cancelled)
    }
}

/// Number of cores that this process may run on; 1 if unknown.
fn all_cores() -> usize {
    std::thread::available_parallelism().map_or(1, std::num::NonZero::get)
}

/// Resolves the requested number of cores: 0 means all.
fn cores(requested: usize) -> usize {
    if requested == 0 { all_cores() } else { requested }
}

/// Returns `true` if `requested` cores are fewer than this process may run on.
fn is_fewer(requested: usize) -> bool {
    requested > 0 && requested < all_cores()
}
