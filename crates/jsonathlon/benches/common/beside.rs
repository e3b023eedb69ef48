//! A server that the program starts, with a session of the program and its own client program next to it.

use std::{
    collections::BTreeMap,
    net::{Ipv4Addr, TcpListener},
    path::{Path, PathBuf},
    process::Command,
};

use serde::de::DeserializeOwned;

use jsonathlon_artifacts::ArtifactStore;
use jsonathlon_catalogue::{Catalogue, fill};
use jsonathlon_driver_api::driver::SessionOptions;
use jsonathlon_worker::protocol::{Op, RunReply};
use jsonathlon_workloads::{engine::EngineHandle, target::Target};

use super::{LIMIT, Problem, command, engine};

/// Name of the table that is created.
pub(crate) const TABLE: &str = "documents";

/// A server with its table, and a session connected to it.
pub(crate) struct Beside {
    pub(crate) engine: EngineHandle,
    pub(crate) programs: BTreeMap<String, PathBuf>,
    pub(crate) port: u16,
    pub(crate) user: String,
    pub(crate) database: String,
    pub(crate) password: String,
    target: Target,
}

impl Beside {
    /// Starts the default version of a system with a variant and the statements of a workload. `opened` may
    /// change the session's opening.
    pub(crate) fn start(
        scratch: &Path,
        system: &str,
        variant: &str,
        workload: &'static str,
        opened: impl FnOnce(SessionOptions) -> SessionOptions,
    ) -> Result<Self, Problem> {
        std::fs::create_dir_all(scratch)?;
        let catalogue = Catalogue::load(&[])?;
        let system = catalogue.get(system)?;
        let configuration = system.configuration(system.default_version(), variant, "default")?;
        let artifact = configuration.artifact.as_ref().ok_or("no artifact")?;
        let installed = ArtifactStore::from_environment()?.install(artifact, &mut |_| {}, &|| false)?;
        let programs = installed.files.clone();
        let target =
            Target::new(configuration, workload, installed).ok_or("its folder lacks the workload")?;
        let folder = scratch.join("session");
        let launch = target.launch_spec(&folder, &scratch.join("server.log"), 0, &command().program)?;
        let mut launch = launch.ok_or("it has no server")?;
        let port = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?.port();
        launch.port = Some(port);
        let (user, database) = (launch.recipe.user.clone(), launch.recipe.database.clone());
        let open = opened(target.session_options(&folder, 0)?);
        let (engine, _) = engine(&scratch.join("worker.log"), &open, &launch)?;
        let password = std::fs::read_to_string(folder.join("password"))?;
        let mut started = Self { engine, programs, port, user, database, password, target };
        let create = started.statement("create")?;
        started.run(&[&create])?;
        Ok(started)
    }

    /// A statement of the system's folder, filled in for the table.
    pub(crate) fn statement(&self, name: &str) -> Result<String, Problem> {
        Ok(fill(self.target.setup.statement(name).ok_or("no statement")?, &[("table", TABLE)])?)
    }

    pub(crate) fn run(&mut self, statements: &[&str]) -> Result<(), Problem> {
        let statements = statements.iter().map(|text| (*text).to_owned()).collect();
        let _: RunReply = self.ask(&Op::Run { statements })?;
        Ok(())
    }

    pub(crate) fn ask<R: DeserializeOwned>(&mut self, op: &Op) -> Result<R, Problem> {
        Ok(self.engine.request(op, LIMIT, &|| false, &mut |_| {})?)
    }

    /// The `psql` of the same package; it prints the time of the `\copy` for [`psql_seconds`].
    pub(crate) fn psql(&self, copy: &str) -> Command {
        let mut command = Command::new(self.programs["postgres"].with_file_name("psql"));
        command
            .args(["--no-psqlrc", "-v", "ON_ERROR_STOP=1", "--host=127.0.0.1"])
            .args([format!("--port={}", self.port), format!("--username={}", self.user)])
            .arg(format!("--dbname={}", self.database))
            .args(["-c", r"\timing on", "-c", copy])
            .env("PGPASSWORD", &self.password)
            .env("LC_ALL", "C");
        command
    }
}

/// The time that `psql` printed, in seconds. `None` if it printed none.
pub(crate) fn psql_seconds(said: &str) -> Option<f64> {
    let time = said.lines().find_map(|line| line.strip_prefix("Time: ")?.split(' ').next());
    time?.parse::<f64>().ok().map(|milliseconds| milliseconds / 1e3)
}
