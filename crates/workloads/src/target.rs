//! What is put to the test: a configuration, and where its program or its server is.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use jsonathlon_drivers::address::{Address, Password, Remote};
use jsonathlon_drivers::driver::Open;
use jsonathlon_drivers::server::{Launch, Need, Recipe};
use jsonathlon_results::id::Id;
use jsonathlon_results::ranking::Profile;
use jsonathlon_systems::catalogue::{self, PlaceholderError};
use jsonathlon_systems::{Analytics, Configuration, Installed, Server, Transport};

use crate::session::GONE_LIMIT;

/// How long an engine may take to open its folder or to close it; an engine that needs longer than this
/// for documents already loaded is hanging.
const OPEN_LIMIT: Duration = Duration::from_secs(600);
const CLOSE_LIMIT: Duration = Duration::from_secs(600);

/// How long a server by address may take to answer.
pub(crate) const PATIENCE_S: u64 = 5;

/// A configuration that can run the workload, and where its program is.
#[derive(Debug, Clone)]
pub struct Target {
    /// What to run.
    pub configuration: Configuration,
    /// The workload's part of it.
    pub analytics: Analytics,
    /// Where its program lies.
    pub installed: Installed,
    /// The server to be reached instead, which somebody else runs.
    pub guest: Option<Guest>,
}

/// A run as the guest of a server that somebody else runs: it works in a database of its own, and leaves nothing
/// behind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Guest {
    /// Where the server is, and as whom the run comes.
    pub address: Address,
    /// The user's password.
    pub password: Password,
    /// The name of the run's own database, or what its tables' names begin with.
    pub name: String,
    /// The user's command that restarts the server, run by a shell; without one no trial can be cold.
    pub restart: Option<String>,
}

impl Target {
    /// A configuration with its installed artifact; none where it has no part in the workload.
    #[must_use]
    pub fn new(configuration: Configuration, installed: Installed) -> Option<Self> {
        let analytics = configuration.analytics.clone()?;
        Some(Self { configuration, analytics, installed, guest: None })
    }

    /// The same configuration on a server that somebody else runs.
    #[must_use]
    pub fn as_guest(self, guest: Guest) -> Self {
        Self { guest: Some(guest), ..self }
    }

    /// Whether it can be asked cold: what has its data in memory whole once it is open cannot, and a server by
    /// address only if it may be restarted.
    #[must_use]
    pub fn can_be_cold(&self) -> bool {
        let restarts = self.guest.as_ref().is_none_or(|guest| guest.restart.is_some());
        restarts && !self.configuration.in_memory
    }

    /// The server by address, and the database of sessions: the run's own, or the one from which that is made.
    pub(crate) fn remote(&self, at_home: bool, patience_s: u64) -> Option<Box<Remote>> {
        let guest = self.guest.as_ref()?;
        let elsewhere = self.configuration.elsewhere.as_ref();
        let mut address = guest.address.clone();
        if address.user.is_none() {
            address.user = elsewhere.map(|one| one.user.clone()).filter(|user| !user.is_empty());
        }
        if at_home && elsewhere.is_some_and(|one| one.own_database) {
            address.database = Some(guest.name.clone());
        } else if address.database.is_none() {
            address.database = elsewhere.map(|one| one.database.clone());
        }
        Some(Box::new(Remote { address, password: guest.password.clone(), patience_s }))
    }

    /// What tables' names begin with.
    pub(crate) fn prefix(&self) -> String {
        match (&self.guest, &self.configuration.elsewhere) {
            (Some(guest), Some(elsewhere)) if !elsewhere.own_database => format!("{}_", guest.name),
            _ => String::new(),
        }
    }

    /// Digest of the artifact.
    #[must_use]
    pub fn artifact_digest(&self) -> Option<String> {
        self.installed.sha256.as_ref().map(|digest| format!("sha256:{digest}"))
    }

    /// What a worker is told to open a session in `folder`, on this many cores; a server's output goes to
    /// `server_log`.
    ///
    /// # Errors
    /// A setting or a statement has a placeholder that only a workload fills.
    pub fn open(&self, folder: &Path, server_log: &Path, cores: usize) -> Result<Open, PlaceholderError> {
        let (count, at) = (cores.to_string(), folder.display().to_string());
        let values = [("cores", count.as_str()), ("folder", at.as_str())];
        let Configuration { protocol, open, .. } = &self.configuration;
        let Installed { folder: installed, files, .. } = &self.installed;
        Ok(Open {
            protocol: protocol.clone(),
            library: self.installed.library().map(Path::to_owned),
            folder: folder.to_owned(),
            settings: open
                .settings
                .iter()
                .map(|(name, value)| Ok((name.clone(), catalogue::fill(value, &values)?)))
                .collect::<Result<_, PlaceholderError>>()?,
            statements: open
                .statements
                .iter()
                .map(|text| catalogue::fill(text, &values))
                .collect::<Result<_, _>>()?,
            cores,
            server: launch(&self.configuration, files, installed.as_deref(), server_log),
            remote: self.remote(true, PATIENCE_S),
        })
    }

    /// How long opening may take: a server has its own limits for setting up and for starting.
    pub(crate) fn open_limit(&self) -> Duration {
        let own = |server: &Server| Duration::from_secs(server.start_limit_s.saturating_mul(2)) + GONE_LIMIT;
        self.configuration.server.as_ref().map_or(OPEN_LIMIT, |server| OPEN_LIMIT.max(own(server)))
    }

    /// How long closing may take.
    pub(crate) fn close_limit(&self) -> Duration {
        let own = |server: &Server| Duration::from_secs(server.stop_limit_s) + GONE_LIMIT;
        self.configuration.server.as_ref().map_or(CLOSE_LIMIT, |server| CLOSE_LIMIT.max(own(server)))
    }

    /// Which configuration it is.
    #[must_use]
    pub fn id(&self) -> Id {
        let Configuration { system, version, variant, storage, .. } = &self.configuration;
        Id::new(system, version, variant, storage)
    }

    /// Its memory profile.
    #[must_use]
    pub fn profile(&self) -> Option<Profile> {
        self.configuration.profile.map(crate::run::profile)
    }

    /// A name that is a file name and is shared by no other configuration of a run.
    #[must_use]
    pub fn file_name(&self) -> String {
        self.id().file_name(self.profile())
    }
}

/// The programs of the machine that a server cannot do without, as they are looked for.
#[must_use]
pub fn needs(server: &Server) -> Vec<Need> {
    let one = |need: &catalogue::Need| Need {
        name: need.name.clone(),
        homes: need.homes.clone(),
        at_least: need.at_least,
        at_most: need.at_most,
        remedy: need.remedy.clone(),
    };
    server.needs.iter().map(one).collect()
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
    let needs = needs(&server);
    let (more, socket) = match server.transport {
        Transport::Tcp => (server.tcp, None),
        Transport::Unix => (server.unix, server.socket),
    };
    Some(Box::new(Launch {
        programs: programs.clone(),
        installed: installed.map(Path::to_owned),
        log: log.to_owned(),
        port: None,
        recipe: Recipe {
            user: server.user,
            database: server.database,
            needs,
            init: server.init,
            files: server.files,
            folder: server.folder,
            start: [server.start, more].concat(),
            socket,
            setting: server.setting,
            environment: server.environment,
            stop: server.stop,
            stop_status: server.stop_status,
            abandon: server.abandon,
            start_limit_s: server.start_limit_s,
            stop_limit_s: server.stop_limit_s,
        },
    }))
}
