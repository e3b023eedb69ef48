//! Targets: a configuration plus the binaries or the server that run it.

use std::{collections::BTreeMap, path::Path, time::Duration};

use jsonathlon_catalogue::{
    Configuration, InstalledArtifact, PlaceholderError, Recipe, RemoteSetup, WorkloadSetup, fill,
};
use jsonathlon_driver_api::{
    address::{Address, Password},
    driver::SessionOptions,
    endpoint::Endpoint,
};
use jsonathlon_schema::{id::ConfigurationId, ranking::MemoryProfile};
use jsonathlon_servers::LaunchSpec;

/// Time that the processes of an abandoned server have to exit.
pub(crate) const EXIT_TIMEOUT: Duration = Duration::from_secs(20);

/// Timeouts for opening and closing an engine's data folder. Longer waits on loaded documents mean that the
/// engine hangs.
const OPEN_TIMEOUT: Duration = Duration::from_secs(600);
const CLOSE_TIMEOUT: Duration = Duration::from_secs(600);

/// Seconds that a remote server has to answer.
pub(crate) const CONNECT_TIMEOUT_S: u64 = 5;
/// Milliseconds between two attempts to reach a remote server.
const RETRY_INTERVAL_MS: u64 = 100;

/// A configuration that can run the workload, and the place where it runs.
#[derive(Debug, Clone)]
pub struct Target {
    /// Configuration under test, reduced to the run's workload.
    pub configuration: Configuration,
    /// Workload setup that the system's folder declares for the run's workload.
    pub setup: WorkloadSetup,
    /// Installed artifact with the paths of its programs.
    pub artifact: InstalledArtifact,
    /// Remote server to use instead of an own one; `None` if the run starts the engine itself.
    pub remote: Option<RemoteServer>,
}

/// A server that the user operates. The run creates its own database there and drops it at the end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RemoteServer {
    /// Address of the server, with the user name for the login.
    pub address: Address,
    /// Password of the login.
    pub password: Password,
    /// Name of the run's database, or the prefix of its table names if it cannot have one.
    pub name: String,
    /// Shell command that restarts the server, given by the user; `None` if no trial can be cold.
    pub restart_command: Option<String>,
}

impl Target {
    /// Combines a configuration with its installed artifact. `None` if the configuration has no setup for the
    /// workload.
    #[must_use]
    pub fn new(configuration: Configuration, workload: &str, artifact: InstalledArtifact) -> Option<Self> {
        let configuration = configuration.for_workloads(&[workload]);
        let setup = configuration.setups.get(workload)?.clone();
        Some(Self { configuration, setup, artifact, remote: None })
    }

    /// Replaces the place where the configuration runs by a remote server.
    #[must_use]
    pub fn with_remote_server(self, server: RemoteServer) -> Self {
        Self { remote: Some(server), ..self }
    }

    /// Returns `true` if cold trials are possible. They are not for engines that hold all data in memory once
    /// open, nor on a remote server that the run may not restart.
    #[must_use]
    pub fn can_be_cold(&self) -> bool {
        let can_restart = self.remote.as_ref().is_none_or(|server| server.restart_command.is_some());
        can_restart && !self.configuration.in_memory
    }

    /// Endpoint of the remote server; `None` if the run starts the engine itself. With `in_own_database`,
    /// sessions use the run's own database if the system supports one. Otherwise they use the database from
    /// which the own database is created.
    pub(crate) fn endpoint(&self, in_own_database: bool, connect_timeout_s: u64) -> Option<Box<Endpoint>> {
        let server = self.remote.as_ref()?;
        let setup = self.configuration.remote_setup.as_ref();
        let Address { host, port, socket, user, database, tls } = server.address.clone();
        let default_value =
            |field: fn(&RemoteSetup) -> &String| setup.map(field).cloned().unwrap_or_default();
        let database = if in_own_database && setup.is_some_and(|setup| setup.own_database) {
            server.name.clone()
        } else {
            database.unwrap_or_else(|| default_value(|setup| &setup.database))
        };
        Some(Box::new(Endpoint {
            host,
            port,
            socket,
            user: user.unwrap_or_else(|| default_value(|setup| &setup.user)),
            database,
            password: server.password.clone(),
            tls,
            process: None,
            // Other databases on the server are not the run's concern.
            exclusive: false,
            connect_timeout_s,
            retry_interval_ms: RETRY_INTERVAL_MS,
            attempt_ms: None,
        }))
    }

    /// Prefix of table names: the run's name on a remote server without a database of the run, otherwise
    /// empty.
    pub(crate) fn table_prefix(&self) -> String {
        match (&self.remote, &self.configuration.remote_setup) {
            (Some(server), Some(setup)) if !setup.own_database => format!("{}_", server.name),
            _ => String::new(),
        }
    }

    /// Digest of the installed artifact as `sha256:…`; `None` for external systems and for artifacts that are
    /// part of this program.
    #[must_use]
    pub fn artifact_digest(&self) -> Option<String> {
        self.artifact.sha256.as_ref().map(|digest| format!("sha256:{digest}"))
    }

    /// Digest of everything that determines durability: two targets with the same digest lose the same data
    /// in a crash.
    #[must_use]
    pub fn durability_basis(&self) -> String {
        self.configuration.durability_basis(self.artifact_digest().as_deref())
    }

    /// Builds the request that opens a session in `folder` on `cores` cores. The endpoint of an own server is
    /// added once that server has started.
    ///
    /// # Errors
    /// If a setting or a statement has a placeholder that only a workload fills.
    pub fn session_options(&self, folder: &Path, cores: usize) -> Result<SessionOptions, PlaceholderError> {
        let (core_count, folder_text) = (cores.to_string(), folder.display().to_string());
        let values = [("cores", core_count.as_str()), ("folder", folder_text.as_str())];
        let Configuration { protocol, open, server, .. } = &self.configuration;
        Ok(SessionOptions {
            protocol: protocol.clone(),
            library: self.artifact.library().map(Path::to_owned),
            folder: folder.to_owned(),
            settings: match server {
                Some(_) => BTreeMap::new(),
                None => self.settings(folder, cores)?,
            },
            statements: open.statements.iter().map(|text| fill(text, &values)).collect::<Result<_, _>>()?,
            cores,
            endpoint: self.endpoint(true, CONNECT_TIMEOUT_S),
        })
    }

    /// Builds the launch of a server in `folder` on `cores` cores; its output goes to `log`. `guard` is the
    /// program that guards it, usually this one. `None` for embedded engines and remote servers.
    ///
    /// # Errors
    /// If a setting has a placeholder that only a workload fills.
    pub fn launch_spec(
        &self,
        folder: &Path,
        log: &Path,
        cores: usize,
        guard: &Path,
    ) -> Result<Option<LaunchSpec>, PlaceholderError> {
        let Some(recipe) = &self.configuration.server else { return Ok(None) };
        let InstalledArtifact { folder: installed, files, .. } = &self.artifact;
        Ok(Some(LaunchSpec {
            guard: guard.to_owned(),
            programs: files.clone(),
            installed: installed.clone(),
            folder: folder.to_owned(),
            template_dir: self.artifact.data_template_dir(),
            log: log.to_owned(),
            port: None,
            group: None,
            settings: self.settings(folder, cores)?,
            cores,
            recipe: recipe.clone(),
        }))
    }

    /// Settings for starting the engine, with all placeholders filled.
    fn settings(&self, folder: &Path, cores: usize) -> Result<BTreeMap<String, String>, PlaceholderError> {
        let (core_count, folder_text) = (cores.to_string(), folder.display().to_string());
        let values = [("cores", core_count.as_str()), ("folder", folder_text.as_str())];
        let settings = self.configuration.open.settings.iter();
        settings.map(|(name, value)| Ok((name.clone(), fill(value, &values)?))).collect()
    }

    /// Timeout of opening a session. Servers have limits of their own for initialising and starting, each
    /// `start_limit_s`.
    pub(crate) fn open_timeout(&self) -> Duration {
        let server_timeout =
            |server: &Recipe| Duration::from_secs(server.start_limit_s.saturating_mul(2)) + EXIT_TIMEOUT;
        self.configuration
            .server
            .as_ref()
            .map_or(OPEN_TIMEOUT, |server| OPEN_TIMEOUT.max(server_timeout(server)))
    }

    /// Timeout of closing a session. Servers have a limit of their own, `stop_limit_s`.
    pub(crate) fn close_timeout(&self) -> Duration {
        let server_timeout = |server: &Recipe| Duration::from_secs(server.stop_limit_s) + EXIT_TIMEOUT;
        self.configuration
            .server
            .as_ref()
            .map_or(CLOSE_TIMEOUT, |server| CLOSE_TIMEOUT.max(server_timeout(server)))
    }

    /// Identity of the target's configuration.
    #[must_use]
    pub fn id(&self) -> ConfigurationId {
        let Configuration { system, version, variant, storage, .. } = &self.configuration;
        ConfigurationId::new(system, version, variant, storage)
    }

    /// Memory profile of the configuration. `None` only for a remote server, whose operator sets its memory.
    #[must_use]
    pub fn profile(&self) -> Option<MemoryProfile> {
        self.configuration.profile
    }

    /// A valid file name that no other configuration of the run has.
    #[must_use]
    pub fn file_name(&self) -> String {
        self.id().file_name(self.profile())
    }
}
