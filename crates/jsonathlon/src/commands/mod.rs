//! One module a subcommand: arguments become validated values, and the crates behind do the work.

pub(crate) mod check;
pub(crate) mod data;
pub(crate) mod export;
pub(crate) mod run;
pub(crate) mod shell;
pub(crate) mod systems;

use std::io::Write;
use std::path::PathBuf;

use jsonathlon_systems::{Artifact, Catalogue, Installed, State, Store};
use jsonathlon_workloads::session::WorkerCommand;

use crate::exit::Failure;
use crate::interrupt::Interrupt;
use crate::progress::InstallBar;

/// Workers are this same program.
pub(crate) fn worker() -> Result<WorkerCommand, Failure> {
    let program = std::env::current_exe()
        .map_err(|error| Failure::environment(format!("failed to find this program itself: {error}")))?;
    Ok(WorkerCommand { program, arguments: vec!["worker".to_owned()] })
}

/// Writes to standard output, without colours where it is no terminal or `NO_COLOR` is set. A reader that
/// has seen enough, such as `head`, is no error.
pub(crate) fn print(text: &str) -> Result<(), Failure> {
    let mut out = anstream::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            Err(Failure::environment(format!("failed to write to standard output: {error}")))
        }
        _ => Ok(()),
    }
}

pub(crate) fn catalogue(folders: &[PathBuf]) -> Result<Catalogue, Failure> {
    Ok(Catalogue::load(folders)?)
}

/// Makes sure that an artifact is there, and says before a download how large it is and under which
/// licence it comes.
pub(crate) fn install(
    store: &Store,
    artifact: &Artifact,
    interrupt: &Interrupt,
) -> Result<Installed, Failure> {
    let name = format!("{} {}", artifact.system, artifact.version);
    if !matches!(store.state(artifact), State::Installed(_) | State::Bundled)
        && let Some(source) = artifact.sources.first()
    {
        anstream::eprintln!(
            "{name}: fetching {} {} ({} to download, {} unpacked; licence {})",
            source.kind.name(),
            source.kind.package(),
            jsonathlon_report::format::bytes(source.bytes as f64),
            jsonathlon_report::format::bytes(source.unpacked_bytes as f64),
            artifact.licence
        );
    }
    let mut bar = InstallBar::new(name);
    let installed = store.install(artifact, &mut |progress| bar.show(progress), &|| interrupt.wanted());
    bar.finish();
    Ok(installed?)
}
