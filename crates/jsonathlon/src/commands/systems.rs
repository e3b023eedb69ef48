//! `jsonathlon systems`.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use jsonathlon_drivers::driver::Open;
use jsonathlon_drivers::worker::Worker;
use jsonathlon_drivers::worker::protocol::{Op, Opened, PROTOCOL};
use jsonathlon_report::format;
use jsonathlon_systems::catalogue::fill;
use jsonathlon_systems::{ArtifactError, Catalogue, Installed, Selected, Store, statuses};
use jsonathlon_workloads::session::launch;

use super::{catalogue, install, print, worker};
use crate::cli::{CatalogueArguments, NamesArguments, SystemsAction, SystemsArguments};
use crate::exit::{FAILED_CELL, Failure};
use crate::interrupt::Interrupt;

/// An engine that does not open an empty folder in this time will not.
const OPEN_LIMIT: Duration = Duration::from_secs(120);

pub(crate) fn run(arguments: &SystemsArguments) -> Result<ExitCode, Failure> {
    match &arguments.action {
        SystemsAction::List { json, catalogue } => list(*json, catalogue),
        SystemsAction::Install(names) => install_all(names),
        SystemsAction::Check(names) => check_all(names),
        SystemsAction::Remove(names) => remove_all(names),
    }
}

fn selected<'a>(names: &NamesArguments, catalogue: &'a Catalogue) -> Result<Vec<Selected<'a>>, Failure> {
    let text = if names.all { "all".to_owned() } else { names.names.join(",") };
    Ok(catalogue.select(Some(&text))?)
}

fn list(json: bool, folders: &CatalogueArguments) -> Result<ExitCode, Failure> {
    let catalogue = catalogue(&folders.systems_dir)?;
    let store = Store::from_environment()?;
    let statuses = statuses(&catalogue, &store);
    if json {
        let text = serde_json::to_string_pretty(&statuses)
            .map_err(|error| Failure::environment(format!("failed to write: {error}")))?;
        print(&(text + "\n"))?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut text = String::new();
    for status in &statuses {
        let size = match (status.download_bytes, status.unpacked_bytes) {
            (Some(download), Some(unpacked)) if download > 0 => {
                format!(
                    "{} to download, {} unpacked",
                    format::bytes(download as f64),
                    format::bytes(unpacked as f64)
                )
            }
            _ => "nothing to download".to_owned(),
        };
        text += &format!("{} {} ({})\n", status.name, status.version, status.state);
        text +=
            &format!("    {}{}\n", status.title, if status.default { ", part of a plain run" } else { "" });
        text += &format!("    {size}; licence {}\n", status.licence);
        text +=
            &format!("    variants {}; storage {}\n", status.variants.join(", "), status.storages.join(", "));
    }
    text += &format!("cache: {}\n", store.root().display());
    print(&text)?;
    Ok(ExitCode::SUCCESS)
}

fn install_all(names: &NamesArguments) -> Result<ExitCode, Failure> {
    let catalogue = catalogue(&names.catalogue.systems_dir)?;
    let store = Store::from_environment()?;
    let interrupt = Interrupt::install()?;
    for one in selected(names, &catalogue)? {
        let name = format!("{} {}", one.system.name(), one.version);
        let Some(artifact) = one.system.artifact(one.version)? else {
            print(&format!("{name}: nothing to install\n"))?;
            continue;
        };
        let installed = install(&store, artifact, &interrupt)?;
        match installed.folder {
            Some(folder) => print(&format!("{name}: installed in {}\n", folder.display()))?,
            None => print(&format!("{name}: part of the program\n"))?,
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn remove_all(names: &NamesArguments) -> Result<ExitCode, Failure> {
    let catalogue = catalogue(&names.catalogue.systems_dir)?;
    let store = Store::from_environment()?;
    let interrupt = Interrupt::install()?;
    for one in selected(names, &catalogue)? {
        let name = format!("{} {}", one.system.name(), one.version);
        match one.system.artifact(one.version)? {
            Some(artifact) if !artifact.is_bundled() => {
                let bytes = store.remove(artifact, &|| interrupt.wanted())?;
                print(&format!("{name}: removed, {} are free again\n", format::bytes(bytes as f64)))?;
            }
            _ => print(&format!("{name}: part of the program, nothing to remove\n"))?,
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn check_all(names: &NamesArguments) -> Result<ExitCode, Failure> {
    let catalogue = catalogue(&names.catalogue.systems_dir)?;
    let store = Store::from_environment()?;
    let interrupt = Interrupt::install()?;
    let mut failed = false;
    for one in selected(names, &catalogue)? {
        let name = format!("{} {}", one.system.name(), one.version);
        match check(&one, &store, &interrupt) {
            Ok(words) => print(&format!("{name}: {words}\n"))?,
            Err(Failure::Artifact(ArtifactError::Cancelled)) => return Err(Failure::interrupted("")),
            Err(failure) => {
                failed = true;
                print(&format!("{name}: {failure}\n"))?;
            }
        }
    }
    Ok(if failed { ExitCode::from(FAILED_CELL) } else { ExitCode::SUCCESS })
}

/// Files against the record, then a round trip: the engine is opened on an empty folder and asked for its
/// version.
fn check(one: &Selected<'_>, store: &Store, interrupt: &Interrupt) -> Result<String, Failure> {
    let Some(artifact) = one.system.artifact(one.version)? else {
        return Ok("runs by address only, nothing to check".to_owned());
    };
    let mut installed = None;
    let mut files = "part of the program".to_owned();
    if !artifact.is_bundled() {
        let checked = store.check(artifact, &mut |_| {}, &|| interrupt.wanted())?;
        files = format!("{} files as recorded, {}", checked.files, format::bytes(checked.bytes as f64));
        installed = Some(install(store, artifact, interrupt)?);
    }
    let folder = scratch(store)?;
    let version = ask_version(one, installed.as_ref(), &folder, interrupt);
    std::fs::remove_dir_all(&folder)
        .map_err(|error| Failure::environment(format!("failed to remove {}: {error}", folder.display())))?;
    let version = version?;
    if !version.contains(&artifact.reports) {
        return Err(Failure::environment(format!(
            "says that it is version {version}, but {} is expected; remove it and install it again",
            artifact.reports
        )));
    }
    Ok(format!("{files}; opened, reports version {version}"))
}

fn scratch(store: &Store) -> Result<PathBuf, Failure> {
    let folder = store.root().join("check").join(std::process::id().to_string());
    std::fs::create_dir_all(&folder)
        .map_err(|error| Failure::environment(format!("failed to create {}: {error}", folder.display())))?;
    Ok(folder)
}

fn ask_version(
    one: &Selected<'_>,
    installed: Option<&Installed>,
    folder: &Path,
    interrupt: &Interrupt,
) -> Result<String, Failure> {
    let variant = one.system.variants().iter().find(|v| v.in_default).or(one.system.variants().first());
    let variant = variant.map_or("default", |variant| variant.name.as_str());
    let configuration = one.system.configuration(one.version, variant, "default")?;
    let command = worker()?;
    let arguments: Vec<&str> = command.arguments.iter().map(String::as_str).collect();
    let failed = |error: &dyn std::fmt::Display| Failure::environment(error.to_string());
    let mut worker = Worker::spawn(&command.program, &arguments, &folder.join("worker.log"), &[])
        .map_err(|error| failed(&error))?;
    let data = folder.join("data");
    let at = data.display().to_string();
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let count = cores.to_string();
    let fill = |text: &String| {
        fill(text, &[("folder", at.as_str()), ("cores", count.as_str())]).map_err(|error| failed(&error))
    };
    let settings = &configuration.open.settings;
    let open = Open {
        protocol: configuration.protocol.clone(),
        library: installed.and_then(Installed::library).map(Path::to_owned),
        folder: data.clone(),
        settings: settings.iter().map(|(k, v)| Ok((k.clone(), fill(v)?))).collect::<Result<_, Failure>>()?,
        statements: configuration.open.statements.iter().map(fill).collect::<Result<_, _>>()?,
        cores,
        server: installed.and_then(|installed| {
            let log = folder.join("server.log");
            launch(&configuration, &installed.files, installed.folder.as_deref(), &log)
        }),
    };
    let cancelled = || interrupt.wanted();
    let opened: Opened = worker
        .request(&Op::Open { protocol: PROTOCOL, open }, OPEN_LIMIT, &cancelled, &mut |_| {})
        .map_err(|error| failed(&error))?;
    worker.close(OPEN_LIMIT).map_err(|error| failed(&error))?;
    Ok(opened.version)
}
