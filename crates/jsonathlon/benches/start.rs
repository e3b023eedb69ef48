//! Overhead of the program when it starts a server: time until server and session are ready, compared with
//! the same command started by hand until its port accepts connections, in the order A B B A ….
//!
//!     cargo bench -p jsonathlon --bench start [-- PAIRS [SYSTEM …]]
//!
//! Both start on an initialised folder. Only ours includes a worker, the guard, the login and a first query.

mod common;

use std::{
    ffi::OsString,
    net::{Ipv4Addr, TcpListener, TcpStream},
    os::unix::{
        ffi::OsStringExt,
        fs::{MetadataExt, PermissionsExt},
        process::CommandExt,
    },
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use common::{LIMIT, Problem, command, engine, numbers};
use rustix::process::{Pid, Signal, kill_process};

use jsonathlon_artifacts::ArtifactStore;
use jsonathlon_catalogue::{ANALYTICS, Catalogue};
use jsonathlon_driver_api::driver::SessionOptions;
use jsonathlon_servers::LaunchSpec;
use jsonathlon_stats::statistics::median;
use jsonathlon_workloads::target::Target;

/// Interval between connection attempts to a port.
const PAUSE: Duration = Duration::from_micros(500);

fn main() -> Result<(), Problem> {
    let pairs = numbers().first().copied().unwrap_or(7);
    let catalogue = Catalogue::load(&[])?;
    let mut names: Vec<String> =
        std::env::args().skip(1).filter(|name| catalogue.get(name).is_ok()).collect();
    if names.is_empty() {
        names = ["postgresql", "mongodb", "elasticsearch"].map(str::to_owned).to_vec();
    }
    for name in &names {
        let system = catalogue.get(name)?;
        let variant = system.representative_variant().ok_or("it has no variant")?;
        let configuration = system.configuration(system.default_version(), &variant.name, "default")?;
        let artifact = configuration.artifact.as_ref().ok_or("no artifact")?;
        let installed = ArtifactStore::from_environment()?.install(artifact, &mut |_| {}, &|| false)?;
        let target = Target::new(configuration, ANALYTICS, installed).ok_or("it has no workload")?;
        // The server's user must be able to access its data.
        let open = std::fs::Permissions::from_mode(0o755);
        let scratch = tempfile::Builder::new().permissions(open).tempdir()?;
        compare(name, &target, scratch.path(), pairs)?;
    }
    Ok(())
}

fn compare(name: &str, target: &Target, scratch: &Path, pairs: u64) -> Result<(), Problem> {
    let cores = std::thread::available_parallelism()?.get();
    let folder = scratch.join("session");
    let open = target.session_options(&folder, cores)?;
    let launch = target.launch_spec(&folder, &scratch.join("server.log"), cores, &command().program)?;
    let mut launch = launch.ok_or("it is no server")?;
    let port = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?.port();
    launch.port = Some(port);
    let stop = match launch.recipe.stop.as_str() {
        "INT" => Signal::INT,
        "TERM" => Signal::TERM,
        other => return Err(format!("no signal {other}").into()),
    };
    // Initialises the folder, and records the server's command.
    let (_, by_hand) = ours(&open, &launch, scratch)?;
    let (mut with, mut without, mut added) = (Vec::new(), Vec::new(), Vec::new());
    for pair in 0..=pairs {
        let (one, other) = if pair % 2 == 0 {
            let one = ours(&open, &launch, scratch)?.0;
            (one, by_hand.start(port, stop)?)
        } else {
            let other = by_hand.start(port, stop)?;
            (ours(&open, &launch, scratch)?.0, other)
        };
        // The first pair only warms up.
        if pair > 0 {
            println!(
                "{name} pair {pair:>2}  ours {one:.3} s  by hand {other:.3} s  added {:+.3} s",
                one - other
            );
            with.push(one);
            without.push(other);
            added.push(one - other);
        }
    }
    let middle = |times: &[f64]| median(times).unwrap_or(f64::NAN);
    println!(
        "{name}: ours {:.3} s, by hand {:.3} s, added {:+.3} s (medians of {pairs} pairs)",
        middle(&with),
        middle(&without),
        middle(&added)
    );
    Ok(())
}

/// Seconds until a session is open, and the command that started its server.
fn ours(open: &SessionOptions, launch: &LaunchSpec, scratch: &Path) -> Result<(f64, ByHand), Problem> {
    let begun = Instant::now();
    let (engine, opened) = engine(&scratch.join("worker.log"), open, launch)?;
    let seconds = begun.elapsed().as_secs_f64();
    let by_hand = ByHand::of(opened.location.process().ok_or("no server")?)?;
    engine.close(LIMIT)?;
    Ok((seconds, by_hand))
}

/// Command, environment and owner of a server process.
struct ByHand {
    command: Vec<OsString>,
    environment: Vec<(OsString, OsString)>,
    folder: PathBuf,
    user: u32,
    group: u32,
}

impl ByHand {
    /// Reads the command of a running server from `/proc`.
    fn of(pid: u32) -> Result<Self, Problem> {
        let process = PathBuf::from(format!("/proc/{pid}"));
        let parts = |name: &str| -> Result<Vec<Vec<u8>>, Problem> {
            let text = std::fs::read(process.join(name))?;
            Ok(text.split(|byte| *byte == 0).filter(|part| !part.is_empty()).map(<[u8]>::to_vec).collect())
        };
        let environment = parts("environ")?.into_iter().filter_map(|part| {
            let at = part.iter().position(|byte| *byte == b'=')?;
            Some((OsString::from_vec(part[..at].to_vec()), OsString::from_vec(part[at + 1..].to_vec())))
        });
        let owner = process.metadata()?;
        Ok(Self {
            command: parts("cmdline")?.into_iter().map(OsString::from_vec).collect(),
            environment: environment.collect(),
            folder: std::fs::read_link(process.join("cwd"))?,
            user: owner.uid(),
            group: owner.gid(),
        })
    }

    /// Starts the server. Returns the seconds until its port accepts a connection, then stops it.
    fn start(&self, port: u16, stop: Signal) -> Result<f64, Problem> {
        let (program, arguments) = self.command.split_first().ok_or("no command")?;
        let begun = Instant::now();
        let mut server = Command::new(program)
            .args(arguments)
            .env_clear()
            .envs(self.environment.iter().cloned())
            .current_dir(&self.folder)
            .uid(self.user)
            .gid(self.group)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()?;
        while TcpStream::connect((Ipv4Addr::LOCALHOST, port)).is_err() {
            if let Some(status) = server.try_wait()? {
                return Err(format!("the server ended with {status}").into());
            }
            if begun.elapsed() > LIMIT {
                server.kill()?;
                return Err("the server did not come up".into());
            }
            std::thread::sleep(PAUSE);
        }
        let seconds = begun.elapsed().as_secs_f64();
        let pid = i32::try_from(server.id()).ok().and_then(Pid::from_raw).ok_or("no process")?;
        kill_process(pid, stop)?;
        server.wait()?;
        Ok(seconds)
    }
}
