//! What is put to the test: a configuration, and where its program or its server is.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use jsonathlon_connection::address::{Address, Password};
use jsonathlon_connection::driver::Open;
use jsonathlon_connection::endpoint::Endpoint;
use jsonathlon_results::id::Id;
use jsonathlon_results::ranking::{Preparation, Profile};
use jsonathlon_servers::Launch;
use jsonathlon_systems::catalogue::{self, PlaceholderError};
use jsonathlon_systems::{ByAddress, Configuration, Installed, Part, Recipe};

/// How long a server that is abandoned may take to end.
pub(crate) const GONE_LIMIT: Duration = Duration::from_secs(20);

/// How long an engine may take to open its folder or to close it; an engine that needs longer than this
/// for documents already loaded is hanging.
const OPEN_LIMIT: Duration = Duration::from_secs(600);
const CLOSE_LIMIT: Duration = Duration::from_secs(600);

/// How long a server by address may take to answer.
pub(crate) const PATIENCE_S: u64 = 5;
/// Between two attempts to reach a server by address.
const PAUSE_MS: u64 = 100;

/// A configuration that can run the workload, and where its program is.
#[derive(Debug, Clone)]
pub struct Target {
    /// What to run.
    pub configuration: Configuration,
    /// What its folder says for the run's workload.
    pub part: Part,
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
    pub fn new(configuration: Configuration, workload: &str, installed: Installed) -> Option<Self> {
        let configuration = configuration.only(&[workload]);
        let part = configuration.parts.get(workload)?.clone();
        Some(Self { configuration, part, installed, guest: None })
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
    pub(crate) fn remote(&self, at_home: bool, patience_s: u64) -> Option<Box<Endpoint>> {
        let guest = self.guest.as_ref()?;
        let elsewhere = self.configuration.elsewhere.as_ref();
        let Address { host, port, socket, user, database, tls } = guest.address.clone();
        let usual = |text: fn(&ByAddress) -> &String| elsewhere.map(text).cloned().unwrap_or_default();
        let database = if at_home && elsewhere.is_some_and(|one| one.own_database) {
            guest.name.clone()
        } else {
            database.unwrap_or_else(|| usual(|one| &one.database))
        };
        Some(Box::new(Endpoint {
            host,
            port,
            socket,
            user: user.unwrap_or_else(|| usual(|one| &one.user)),
            database,
            password: guest.password.clone(),
            tls,
            process: None,
            // What others keep there is none of the run's business.
            whole: false,
            patience_s,
            pause_ms: PAUSE_MS,
            attempt_ms: None,
        }))
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

    /// A digest of what its durability stands on: two targets with the same one lose the same in a crash.
    #[must_use]
    pub fn durability_basis(&self) -> String {
        self.configuration.durability_basis(self.artifact_digest().as_deref())
    }

    /// What a worker is told to open a session in `folder`, on this many cores. Where its server is, is said when
    /// that was started.
    ///
    /// # Errors
    /// A setting or a statement has a placeholder that only a workload fills.
    pub fn open(&self, folder: &Path, cores: usize) -> Result<Open, PlaceholderError> {
        let (count, at) = (cores.to_string(), folder.display().to_string());
        let values = [("cores", count.as_str()), ("folder", at.as_str())];
        let Configuration { protocol, open, server, .. } = &self.configuration;
        Ok(Open {
            protocol: protocol.clone(),
            library: self.installed.library().map(Path::to_owned),
            folder: folder.to_owned(),
            settings: match server {
                Some(_) => BTreeMap::new(),
                None => self.settings(folder, cores)?,
            },
            statements: open
                .statements
                .iter()
                .map(|text| catalogue::fill(text, &values))
                .collect::<Result<_, _>>()?,
            cores,
            endpoint: self.remote(true, PATIENCE_S),
        })
    }

    /// The server to be started in `folder`, on this many cores, by `guard`, which is this program, its output
    /// going to `log`; none for an embedded engine and by address.
    ///
    /// # Errors
    /// A setting has a placeholder that only a workload fills.
    pub fn launch(
        &self,
        folder: &Path,
        log: &Path,
        cores: usize,
        guard: &Path,
    ) -> Result<Option<Launch>, PlaceholderError> {
        let Some(recipe) = &self.configuration.server else { return Ok(None) };
        let Installed { folder: installed, files, .. } = &self.installed;
        Ok(Some(Launch {
            guard: guard.to_owned(),
            programs: files.clone(),
            installed: installed.clone(),
            folder: folder.to_owned(),
            beginnings: self.installed.beginnings(),
            log: log.to_owned(),
            port: None,
            group: None,
            settings: self.settings(folder, cores)?,
            cores,
            recipe: recipe.clone(),
        }))
    }

    /// Settings of the engine's start.
    fn settings(&self, folder: &Path, cores: usize) -> Result<BTreeMap<String, String>, PlaceholderError> {
        let (count, at) = (cores.to_string(), folder.display().to_string());
        let values = [("cores", count.as_str()), ("folder", at.as_str())];
        let settings = self.configuration.open.settings.iter();
        settings.map(|(name, value)| Ok((name.clone(), catalogue::fill(value, &values)?))).collect()
    }

    /// How long opening may take: a server has its own limits for setting up and for starting.
    pub(crate) fn open_limit(&self) -> Duration {
        let own = |server: &Recipe| Duration::from_secs(server.start_limit_s.saturating_mul(2)) + GONE_LIMIT;
        self.configuration.server.as_ref().map_or(OPEN_LIMIT, |server| OPEN_LIMIT.max(own(server)))
    }

    /// How long closing may take.
    pub(crate) fn close_limit(&self) -> Duration {
        let own = |server: &Recipe| Duration::from_secs(server.stop_limit_s) + GONE_LIMIT;
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
        self.configuration.profile.map(|profile| match profile {
            jsonathlon_systems::Profile::Sized => Profile::Sized,
            jsonathlon_systems::Profile::Stock => Profile::Stock,
        })
    }

    /// Its preparation class.
    #[must_use]
    pub fn preparation(&self) -> Preparation {
        match self.configuration.preparation {
            jsonathlon_systems::Preparation::AsIs => Preparation::AsIs,
            jsonathlon_systems::Preparation::Prepared => Preparation::Prepared,
            jsonathlon_systems::Preparation::Extracted => Preparation::Extracted,
            jsonathlon_systems::Preparation::Own => Preparation::Own,
        }
    }

    /// A name that is a file name and is shared by no other configuration of a run.
    #[must_use]
    pub fn file_name(&self) -> String {
        self.id().file_name(self.profile())
    }
}
