//! A server for benchmark clients, started as the program starts it.

use std::{
    collections::BTreeMap,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    sync::Arc,
};

use jsonathlon_artifacts::ArtifactStore;
use jsonathlon_catalogue::{ANALYTICS, Catalogue, Transport};
use jsonathlon_dataset::records::Records;
use jsonathlon_driver_api::{Connection, DriverContext, SessionOptions, driver::EngineLocation};
use jsonathlon_loadgen::{
    job::{Job, OperationScript},
    load_generator::LoadGenerator,
    mix::{Mix, RequestDistribution},
    operation::Operation,
};
use jsonathlon_servers::{Login, Server};
use jsonathlon_stats::arrival::Arrival;
use jsonathlon_telemetry::{clock::MonotonicClock, stop_condition::StopCondition};
use jsonathlon_worker::{Connector, JobTarget};
use jsonathlon_workloads::{engine::endpoint, target::Target};

use super::{LIMIT, Problem, command};

/// A running system, server or embedded.
pub(crate) struct Started {
    server: Option<Server>,
    /// Paths of the programs of its package.
    pub(crate) programs: BTreeMap<String, PathBuf>,
    pub(crate) open: SessionOptions,
}

impl Started {
    /// Starts a server, or opens the folder of an embedded engine.
    pub(crate) fn new(
        scratch: &Path,
        name: &str,
        variant: &str,
        transport: Transport,
    ) -> Result<Self, Problem> {
        // The server's user must be able to access its data.
        std::fs::set_permissions(scratch, std::fs::Permissions::from_mode(0o755))?;
        let catalogue = Catalogue::load(&[])?;
        let system = catalogue.get(name)?;
        let configuration = system.configuration(system.default_version(), variant, "default")?;
        let configuration = configuration.with_transport(transport)?;
        let artifact = configuration.artifact.as_ref().ok_or("no artifact")?;
        let installed = ArtifactStore::from_environment()?.install(artifact, &mut |_| {}, &|| false)?;
        let programs = installed.files.clone();
        let target = Target::new(configuration, ANALYTICS, installed).ok_or("no analytics")?;
        let folder = scratch.join(name);
        let log = scratch.join(format!("{name}.log"));
        let server = match target.launch_spec(&folder, &log, 0, &command().program)? {
            Some(launch) => Some(Server::start(&launch, &|| false)?),
            None => None,
        };
        let open = SessionOptions { statements: Vec::new(), ..target.session_options(&folder, 0)? };
        let of_server = |server: &Server| Box::new(endpoint(server.login(), server.pid(), LIMIT));
        let open = SessionOptions { endpoint: server.as_ref().map(of_server), ..open };
        Ok(Self { server, programs, open })
    }

    pub(crate) fn login(&self) -> Option<&Login> {
        self.server.as_ref().map(Server::login)
    }

    /// Process id of the server. `None` for embedded engines.
    pub(crate) fn pid(&self) -> Option<u32> {
        self.server.as_ref().map(Server::pid)
    }

    pub(crate) fn connect(&self) -> Result<Box<dyn Connection>, Problem> {
        Ok(Connector::for_protocol(&self.open.protocol)?.connect(&self.open, &host())?)
    }

    pub(crate) fn stop(self) -> Result<(), Problem> {
        match self.server {
            Some(server) => Ok(server.stop()?),
            None => Ok(()),
        }
    }
}

fn host() -> DriverContext {
    DriverContext { clock: Arc::new(MonotonicClock::new()), output: None }
}

/// Parameters of a read benchmark: records, clients and duration.
pub(crate) struct Reads<'a> {
    pub(crate) records: &'a Records,
    pub(crate) loaded: u64,
    /// Read statement with the placeholder `{{key}}`.
    pub(crate) statement: &'a str,
    pub(crate) clients: u64,
    pub(crate) threads: u64,
    pub(crate) seconds: f64,
    pub(crate) seed: u64,
    /// Whether documents are verified.
    pub(crate) verify: bool,
}

/// Result of a read benchmark.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Done {
    pub(crate) per_second: f64,
    /// Microseconds of client CPU per read.
    pub(crate) client: f64,
    /// Microseconds of server CPU per read.
    pub(crate) server: f64,
}

/// Reads uniformly chosen records by key, with one connection per client.
pub(crate) fn read(started: &Started, reads: &Reads<'_>) -> Result<Done, Problem> {
    let statements = vec![reads.statement.to_owned()];
    let script = OperationScript { statements, undo: None, key_member: None, may_be_stale: false };
    let job = Job {
        records: reads.records.clone().into(),
        loaded: reads.loaded,
        load: "bench".to_owned(),
        mix: Mix {
            name: "c".to_owned(),
            shares: vec![(Operation::Read, 1.0)],
            requests: RequestDistribution::Uniform,
        },
        scripts: BTreeMap::from([(Operation::Read, script)]),
        clients: u32::try_from(reads.clients)?,
        threads: Some(u32::try_from(reads.threads)?),
        arrival: Arrival::Closed,
        ramp_s: 0.2,
        stop: StopCondition::Time { seconds: reads.seconds },
        seed: reads.seed,
        verify: reads.verify,
        prepare: true,
        batch: 1,
        scan: 1,
        limit: 1,
        projection: jsonathlon_loadgen::paths::Projection::default(),
        retries: 0,
        timeout_s: 10.0,
        sampling_targets: Default::default(),
        writers_take_turns: false,
        ack_log: None,
        reports: None,
    };
    let location = started.pid().map_or(EngineLocation::InProcess, EngineLocation::Process);
    let host = host();
    let on = JobTarget { open: &started.open, location, host: &host };
    let driven = LoadGenerator::new().run(&job, &on, &mut |_| {}).map_err(|failure| failure.message)?;
    let measured = driven.operations.get(&Operation::Read).ok_or("no reads")?;
    if measured.errors > 0 || measured.operations == 0 {
        return Err(
            format!("{} errors, {:?}, {:?}", measured.errors, driven.wrong_answers, driven.refusals).into()
        );
    }
    let per_read = |spent: Option<f64>| spent.unwrap_or(f64::NAN) * 1e6 / measured.operations as f64;
    Ok(Done {
        per_second: measured.operations as f64 / driven.measured_s,
        client: per_read(driven.usage.client_cpu_s.or(driven.usage.cpu_s)),
        server: per_read(driven.usage.client_cpu_s.and(driven.usage.cpu_s)),
    })
}
