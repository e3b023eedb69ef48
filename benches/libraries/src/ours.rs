//! A server that is started as the program starts it, and the program's connection to it.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use jsonathlon_artifacts::ArtifactStore;
use jsonathlon_catalogue::{ANALYTICS, Catalogue};
use jsonathlon_driver_api::driver::Result;
use jsonathlon_driver_api::endpoint::Endpoint;
use jsonathlon_driver_api::{
    Cell, Connection, DriverContext, NonblockingConnection, Parameter, RowSink, SessionOptions,
};
use jsonathlon_servers::Server;
use jsonathlon_telemetry::clock::MonotonicClock;
use jsonathlon_worker::Connector;
use jsonathlon_workloads::engine::endpoint;
use jsonathlon_workloads::target::Target;

use crate::{Problem, READS, key};

const PATIENCE: Duration = Duration::from_secs(120);

/// A running server.
pub(crate) struct Started {
    server: Server,
    pub(crate) endpoint: Endpoint,
    open: SessionOptions,
    _folder: tempfile::TempDir,
}

impl Started {
    pub(crate) fn new(program: &Path, system: &str, variant: &str) -> std::result::Result<Self, Problem> {
        let folder = tempfile::tempdir()?;
        // The server's user must be able to access its data.
        std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(0o755))?;
        let catalogue = Catalogue::load(&[])?;
        let system = catalogue.get(system)?;
        let configuration = system.configuration(system.default_version(), variant, "default")?;
        let artifact = configuration.artifact.as_ref().ok_or("no artifact")?;
        let installed = ArtifactStore::from_environment()?.install(artifact, &mut |_| {}, &|| false)?;
        let target = Target::new(configuration, ANALYTICS, installed).ok_or("no analytics")?;
        let data = folder.path().join("data");
        let launch = target.launch_spec(&data, &folder.path().join("log"), 0, program)?.ok_or("no server")?;
        let server = Server::start(&launch, &|| false)?;
        let endpoint = endpoint(server.login(), server.pid(), PATIENCE);
        let open = SessionOptions {
            endpoint: Some(Box::new(endpoint.clone())),
            statements: Vec::new(),
            ..target.session_options(&data, 0)?
        };
        Ok(Self { server, endpoint, open, _folder: folder })
    }

    pub(crate) fn connect(&self) -> std::result::Result<Box<dyn Connection>, Problem> {
        Ok(Connector::for_protocol(&self.open.protocol)?.connect(&self.open, &context())?)
    }

    pub(crate) fn lane(&self) -> std::result::Result<Box<dyn NonblockingConnection>, Problem> {
        Ok(Connector::for_protocol(&self.open.protocol)?.open_nonblocking(&self.open, &context(), true)?)
    }

    pub(crate) fn stop(self) -> std::result::Result<(), Problem> {
        Ok(self.server.stop()?)
    }
}

fn context() -> DriverContext {
    DriverContext { clock: Arc::new(MonotonicClock::new()), output: None }
}

/// Counts rows and the bytes of their texts.
#[derive(Default)]
pub(crate) struct Counted {
    pub(crate) rows: usize,
    pub(crate) bytes: usize,
}

impl RowSink for Counted {
    fn columns(&mut self, _: &[&str]) -> Result<()> {
        Ok(())
    }

    fn row(&mut self, cells: &[Cell<'_>]) -> Result<()> {
        self.rows += 1;
        for cell in cells {
            if let Cell::Text(text) = cell {
                self.bytes += text.len();
            }
        }
        Ok(())
    }
}

/// Reads one record after the other by its key, each of which must be there.
pub(crate) fn read_points(
    lane: &mut dyn NonblockingConnection,
    statement: &str,
) -> std::result::Result<
    impl FnMut(&mut dyn NonblockingConnection) -> std::result::Result<(), Problem>,
    Problem,
> {
    let prepared = lane.prepare(statement)?;
    Ok(move |lane: &mut dyn NonblockingConnection| {
        let mut counted = Counted::default();
        for read in 0..READS {
            lane.send(&prepared, &[Parameter::Int(key(read))])?;
            lane.receive(true, &mut counted)?;
        }
        if counted.rows as i64 != READS {
            return Err(format!("{} rows instead of {READS}", counted.rows).into());
        }
        Ok(())
    })
}
