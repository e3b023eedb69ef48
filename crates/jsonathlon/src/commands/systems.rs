//! `jsonathlon systems`.

use std::process::ExitCode;

use jsonathlon_report::format;
use jsonathlon_systems::{Catalogue, Selected, Store, SystemStatus, statuses};
use jsonathlon_workloads::proof::{Proof, prove};
use jsonathlon_workloads::target::Target;

use super::{catalogue, install, lacks, print, scratch, size_and_licence, worker};
use crate::cli::{CatalogueArguments, NamesArguments, SystemsAction, SystemsArguments};
use crate::exit::{ENVIRONMENT, FAILED_CELL, Failure, INTERRUPTED};
use crate::interrupt::Interrupt;
use crate::progress::CheckBar;

pub(crate) fn run(arguments: &SystemsArguments) -> Result<ExitCode, Failure> {
    match &arguments.action {
        SystemsAction::List { json, catalogue } => list(*json, catalogue),
        SystemsAction::Install(names) => each(names, ENVIRONMENT, install_one),
        SystemsAction::Check(names) => each(names, FAILED_CELL, check_one),
        SystemsAction::Remove(names) => each(names, ENVIRONMENT, remove_one),
    }
}

fn selected<'a>(names: &NamesArguments, catalogue: &'a Catalogue) -> Result<Vec<Selected<'a>>, Failure> {
    let text = if names.all { "all".to_owned() } else { names.names.join(",") };
    Ok(catalogue.select(Some(&text))?)
}

fn list(json: bool, folders: &CatalogueArguments) -> Result<ExitCode, Failure> {
    let catalogue = catalogue(&folders.systems_dir)?;
    let store = Store::from_environment()?;
    let mut statuses = statuses(&catalogue, &store);
    for status in &mut statuses {
        let system = catalogue.get(&status.name)?;
        // What is for another platform is not looked into any further.
        if let Ok(Some(artifact)) = system.artifact(&status.version) {
            status.lacks = lacks(&store, artifact, system.server());
        }
    }
    if json {
        let text = serde_json::to_string_pretty(&statuses)
            .map_err(|error| Failure::environment(format!("failed to write: {error}")))?;
        print(&(text + "\n"))?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut text: String = statuses.iter().map(described).collect();
    text += &format!("cache: {}\n", store.root().display());
    print(&text)?;
    Ok(ExitCode::SUCCESS)
}

/// A system for people.
fn described(status: &SystemStatus) -> String {
    let mut text = format!("{} {} ({})\n", status.name, status.version, status.state);
    let plain_run = if status.default { ", part of a plain run" } else { "" };
    let kind = if status.embedded { "embedded" } else { "a server" };
    text += &format!("    {}, {kind}, protocol {}{plain_run}\n", status.title, status.protocol);
    if status.end_of_life {
        text += "    end of life: its makers no longer support it\n";
    }
    if let Some(source) = &status.source {
        let how = if status.built { "built with" } else { "fetched by" };
        let clients: Vec<String> = status.clients.iter().map(|client| format!("`{client}`")).collect();
        text += &format!("    {source}, {how} {}\n", clients.join(" and "));
    }
    let size = size_and_licence(status.download_bytes, status.unpacked_bytes, &status.licence);
    text += &format!("    {size}\n");
    text += &format!("    variants {}; storage {}\n", status.variants.join(", "), status.storages.join(", "));
    let by_address = match &status.by_address {
        Some(protocol) => format!("; by address over {protocol}"),
        None => String::new(),
    };
    text += &format!("    runs {}{by_address}\n", status.workloads.join(", "));
    for lack in &status.lacks {
        text += &format!("    cannot be used here: {lack}\n");
    }
    text
}

/// Does something for each selected system. One that fails is told about and does not keep the others from
/// their turn; an interrupted one does.
fn each(
    names: &NamesArguments,
    failed: u8,
    one: impl Fn(&Selected<'_>, &Store, &Interrupt) -> Result<String, Failure>,
) -> Result<ExitCode, Failure> {
    let catalogue = catalogue(&names.catalogue.systems_dir)?;
    let store = Store::from_environment()?.accepting_newer(names.newer.accept_newer);
    let interrupt = Interrupt::install()?;
    let mut code = ExitCode::SUCCESS;
    for selected in selected(names, &catalogue)? {
        let name = format!("{} {}", selected.system.name(), selected.version);
        match one(&selected, &store, &interrupt) {
            Ok(words) => print(&format!("{name}: {words}\n"))?,
            Err(failure) if failure.code() == INTERRUPTED => return Err(failure),
            Err(failure) => {
                code = ExitCode::from(failed);
                let words = failure.to_string();
                let words = words.strip_prefix(&name).map_or_else(|| format!(": {words}"), str::to_owned);
                print(&format!("{name}{words}\n"))?;
            }
        }
    }
    Ok(code)
}

fn install_one(one: &Selected<'_>, store: &Store, interrupt: &Interrupt) -> Result<String, Failure> {
    let Some(artifact) = one.system.artifact(one.version)? else {
        return Ok("nothing to install".to_owned());
    };
    let installed = install(store, artifact, one.system.server(), interrupt)?;
    let newer = if installed.version == artifact.version {
        String::new()
    } else {
        format!("version {}, accepted in its place, is ", installed.version)
    };
    Ok(match installed.folder {
        Some(folder) => format!("{newer}installed in {}", folder.display()),
        None => "part of the program".to_owned(),
    })
}

fn remove_one(one: &Selected<'_>, store: &Store, interrupt: &Interrupt) -> Result<String, Failure> {
    match one.system.artifact(one.version)? {
        Some(artifact) if !artifact.is_bundled() => {
            let bytes = store.remove(artifact, &|| interrupt.wanted())?;
            Ok(format!("removed, {} are free again", format::bytes(bytes as f64)))
        }
        _ => Ok("part of the program, nothing to remove".to_owned()),
    }
}

/// Files against the record, then a small run: documents in, every question asked, the table dropped.
fn check_one(one: &Selected<'_>, store: &Store, interrupt: &Interrupt) -> Result<String, Failure> {
    let Some(artifact) = one.system.artifact(one.version)? else {
        return Ok("runs by address only, nothing to check".to_owned());
    };
    let mut files = "part of the program".to_owned();
    if !artifact.is_bundled() {
        let checked = store.check(artifact, &mut |_| {}, &|| interrupt.wanted())?;
        let s = if checked.files == 1 { "" } else { "s" };
        files = format!("{} file{s} as recorded, {}", checked.files, format::bytes(checked.bytes as f64));
    }
    let variant = one.system.usual_variant();
    let variant = variant.map_or("default", |variant| variant.name.as_str());
    let storage = one.system.storages().first().map_or("default", |storage| storage.name.as_str());
    let configuration = one.system.configuration(one.version, variant, storage)?;
    let installed = install(store, artifact, configuration.server.as_ref(), interrupt)?;
    let Some(target) = Target::new(configuration.really(&installed), installed) else {
        return Ok(format!("{files}; has no analytics folder, nothing to ask"));
    };
    // It goes however this ends, with what the server's user left in it.
    let scratch = scratch("jsonathlon-check-")?;
    let mut progress = CheckBar::new(format!("{} {}", one.system.name(), one.version));
    let proof = prove(target, worker()?, scratch.path(), &mut progress, &|| interrupt.wanted());
    progress.finish();
    let Proof { version, loaded, right, problems } = proof?;
    scratch.close().map_err(|error| {
        Failure::environment(format!("failed to remove the folder of the check: {error}"))
    })?;
    if problems.is_empty() {
        Ok(format!(
            "{files}; opened, reports version {version}; {loaded} documents loaded, {right} questions right"
        ))
    } else {
        Err(Failure::environment(format!("{files}; {}", problems.join("; "))))
    }
}
