//! One module per subcommand: arguments become validated values, and other crates do the work.

pub(crate) mod check;
pub(crate) mod choose;
pub(crate) mod compare;
mod configurations;
pub(crate) mod data;
mod documents;
mod durability;
mod estimate;
pub(crate) mod export;
pub(crate) mod external_systems;
mod fidelity;
mod memory;
mod mixed;
mod part_run;
pub(crate) mod published;
pub(crate) mod questions;
pub(crate) mod report;
pub(crate) mod run;
mod run_request;
pub(crate) mod serving;
mod setup;
pub(crate) mod shell;
pub(crate) mod study;
pub(crate) mod systems;
mod table_style;
pub(crate) mod workload;

use std::{io::Write, os::unix::fs::PermissionsExt, path::Path, path::PathBuf};

use tempfile::TempDir;

use jsonathlon_artifacts::{ArtifactStore, InstallState};
use jsonathlon_catalogue::{Artifact, Catalogue, InstalledArtifact, Recipe};
use jsonathlon_report::{format, page::PathDisplay};
use jsonathlon_servers::forbids_programs;
use jsonathlon_workloads::session::WorkerCommand;

use crate::{exit::Failure, interrupt::Interrupt, progress::InstallBar};

/// Command that starts a worker: this program with the hidden subcommand `worker`.
pub(crate) fn worker_command() -> Result<WorkerCommand, Failure> {
    let program = std::env::current_exe()
        .map_err(|error| Failure::environment(format!("failed to find this program itself: {error}")))?;
    Ok(WorkerCommand { program, arguments: vec!["worker".to_owned()] })
}

/// Creates a temporary folder that is removed when dropped. It must not be below the user's home or the
/// cache, because the unprivileged user of a server needs access.
pub(crate) fn scratch(prefix: &str) -> Result<TempDir, Failure> {
    tempfile::Builder::new()
        .prefix(prefix)
        .permissions(std::fs::Permissions::from_mode(0o755))
        .tempdir()
        .map_err(|error| Failure::environment(format!("failed to make a folder: {error}")))
}

/// Writes to standard output, without colours if it is no terminal or `NO_COLOR` is set. A reader that closes
/// the pipe early, such as `head`, is no error.
pub(crate) fn print(text: &str) -> Result<(), Failure> {
    let mut output = anstream::stdout().lock();
    match output.write_all(text.as_bytes()).and_then(|()| output.flush()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => Err(Failure::environment(format!(
            "failed to write to standard output: {error}: make room where it goes, or send it elsewhere"
        ))),
        _ => Ok(()),
    }
}

/// The path relative to the current folder, which is shorter; the path itself if it is outside of that.
pub(crate) fn short_path(path: &Path) -> &Path {
    let current = std::env::current_dir().unwrap_or_default();
    path.strip_prefix(current).unwrap_or(path)
}

/// What `--show-paths` says about paths on a page.
pub(crate) fn path_display(show_paths: bool) -> PathDisplay {
    if show_paths { PathDisplay::Shown } else { PathDisplay::Hidden }
}

pub(crate) fn load_catalogue(folders: &[PathBuf]) -> Result<Catalogue, Failure> {
    Ok(Catalogue::load(folders)?)
}

/// Programs that a system's server needs and that this machine lacks, each with the remedy.
fn missing_programs(server: Option<&Recipe>) -> Vec<String> {
    let needs = server.map(|server| server.needs.as_slice()).unwrap_or_default();
    needs.iter().filter_map(|need| need.find().err()).map(|error| error.to_string()).collect()
}

/// Prerequisites that this machine lacks for a system, each with the remedy: the client that fetches the
/// system, and the programs that its server needs.
pub(crate) fn missing_requirements(
    store: &ArtifactStore,
    artifact: &Artifact,
    server: Option<&Recipe>,
) -> Vec<String> {
    store.missing_requirements(artifact).into_iter().chain(missing_programs(server)).collect()
}

/// Text with the sizes of a download in bytes and its licence. `None` or 0 bytes if there is nothing to
/// download.
pub(crate) fn size_and_licence(download: Option<u64>, unpacked: Option<u64>, licence: &str) -> String {
    let bytes = |bytes: u64| format::bytes(bytes as f64);
    match (download, unpacked) {
        (Some(download), Some(unpacked)) if download > 0 => {
            format!("{} to download, {} unpacked; licence {licence}", bytes(download), bytes(unpacked))
        }
        _ => format!("nothing to download; licence {licence}"),
    }
}

/// Installs an artifact if necessary, and makes sure that its server can be started. The size and the licence
/// are printed before a download. Nothing is fetched if the machine could not run the server.
pub(crate) fn install(
    store: &ArtifactStore,
    artifact: &Artifact,
    server: Option<&Recipe>,
    interrupt: &Interrupt,
) -> Result<InstalledArtifact, Failure> {
    let name = format!("{} {}", artifact.system, artifact.version);
    if !matches!(store.presence(artifact), InstallState::Installed(_) | InstallState::Bundled)
        && let Some(source) = store.source(artifact)
    {
        let (download, unpacked) = (source.download_bytes(), source.installed_bytes());
        let size = size_and_licence(Some(download), Some(unpacked), &artifact.licence);
        crate::say!("{name}: {}: {size}", source.display_name());
    }
    // A missing client alone is reported by the store.
    if !missing_programs(server).is_empty() {
        let missing = missing_requirements(store, artifact, server).join("\n    ");
        return Err(Failure::environment(format!("{name} cannot be used here:\n    {missing}")));
    }
    let mut bar = InstallBar::new(name);
    let installed = store.install(artifact, &mut |progress| bar.show(progress), &|| interrupt.is_requested());
    bar.finish();
    let installed = installed?;
    if installed.sha256.is_some()
        && let Ok(Some(reason)) = forbids_programs(store.root())
    {
        return Err(Failure::environment(format!(
            "{reason}: mount it otherwise, or set JSONATHLON_CACHE to a folder elsewhere"
        )));
    }
    Ok(installed)
}
