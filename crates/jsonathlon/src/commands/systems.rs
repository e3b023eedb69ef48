//! `jsonathlon systems`: lists, installs, checks and removes systems, and looks up packages.

use std::process::ExitCode;

use jsonathlon_artifacts::{
    ArtifactError, ArtifactStore, SystemStatus, find_machine_libraries, system_statuses,
};
use jsonathlon_catalogue::{ANALYTICS, Catalogue, SelectedSystem, is_package_name, is_plain_word};
use jsonathlon_report::format;
use jsonathlon_workloads::{
    smoke_test::{SmokeTestReport, smoke_test},
    target::Target,
};

use super::{
    install, load_catalogue, missing_requirements, print, scratch, size_and_licence, worker_command,
};
use crate::{
    cli::{CatalogueArguments, PackagesArguments, SystemNames, SystemsAction, SystemsArguments},
    exit::{FAILED_CELL, Failure, INTERRUPTED},
    interrupt::Interrupt,
    progress::{CheckBar, InstallBar},
};

pub(crate) fn run(arguments: &SystemsArguments) -> Result<ExitCode, Failure> {
    match &arguments.action {
        SystemsAction::List { names, json, catalogue } => list(names, *json, catalogue),
        SystemsAction::Install(names) => each(names, install_one),
        SystemsAction::Check(names) => each(names, check_one),
        SystemsAction::Remove(names) => each(names, remove_one),
        SystemsAction::Packages(arguments) => packages(arguments),
    }
}

fn packages(arguments: &PackagesArguments) -> Result<ExitCode, Failure> {
    let PackagesArguments { suite, names } = arguments;
    if !is_plain_word(suite) {
        return Err(Failure::usage(format!(
            "`{suite}` is no suite: a suite is a word, such as sid or bookworm"
        )));
    }
    if let Some(name) = names.iter().find(|name| !is_package_name(name)) {
        return Err(Failure::usage(format!(
            "`{name}` is no package: a package's name is a-z, 0-9, `+`, `-` and `.`"
        )));
    }
    let interrupt = Interrupt::install()?;
    let mut bar = InstallBar::new(format!("index of {suite}"));
    let closure = ArtifactStore::from_environment()?.packages(
        suite,
        names,
        &mut |progress| bar.show(progress),
        &|| interrupt.is_requested(),
    );
    bar.finish();
    print(&closure?.to_string())?;
    Ok(ExitCode::SUCCESS)
}

fn selected<'a>(names: &SystemNames, catalogue: &'a Catalogue) -> Result<Vec<SelectedSystem<'a>>, Failure> {
    let text = if names.all { "all".to_owned() } else { names.names.join(",") };
    Ok(catalogue.select(Some(&text))?)
}

fn list(names: &[String], json: bool, folders: &CatalogueArguments) -> Result<ExitCode, Failure> {
    let catalogue = load_catalogue(&folders.systems_dir)?;
    let store = ArtifactStore::from_environment()?;
    let mut statuses = system_statuses(&catalogue, &store);
    if !names.is_empty() {
        let selected = catalogue.select(Some(&names.join(",")))?;
        statuses.retain(|status| {
            selected.iter().any(|selection| {
                // A name without a version selects all versions of the system.
                let is_named = names.iter().any(|name| name == selection.system.name());
                selection.system.name() == status.name && (is_named || selection.version == status.version)
            })
        });
    }
    for status in &mut statuses {
        let system = catalogue.get(&status.name)?;
        // Systems without an artifact for this platform are not examined.
        if let Ok(Some(artifact)) = system.artifact(&status.version) {
            status.missing_requirements = missing_requirements(&store, artifact, system.server());
        }
    }
    if json {
        let text = serde_json::to_string_pretty(&statuses)
            .map_err(|error| Failure::environment(format!("failed to write: {error}")))?;
        print(&(text + "\n"))?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut text: String = statuses.iter().map(describe).collect();
    text += &format!("cache: {}\n", store.root().display());
    print(&text)?;
    Ok(ExitCode::SUCCESS)
}

/// Text about one system in the output of `systems list`.
fn describe(status: &SystemStatus) -> String {
    let mut text = format!("{} {} ({})\n", status.name, status.version, status.state);
    let plain_run = if status.default { ", part of a plain run" } else { "" };
    let kind = if status.embedded { "embedded" } else { "a server" };
    text += &format!("    {}, {kind}, protocol {}{plain_run}\n", status.title, status.protocol);
    if status.end_of_life {
        text += "    end of life: its vendor no longer supports it\n";
    }
    if let Some(day) = &status.outdated {
        text += &format!("    not the newest: released on {day}\n");
    }
    if let Some(source) = &status.source {
        let method = if status.built { "built with" } else { "fetched by" };
        let clients: Vec<String> = status.clients.iter().map(|client| format!("`{client}`")).collect();
        text += &format!("    {source}, {method} {}\n", clients.join(" and "));
    }
    let size = size_and_licence(status.download_bytes, status.unpacked_bytes, &status.licence);
    text += &format!("    {size}\n");
    text += &format!("    variants {}; storage {}\n", status.variants.join(", "), status.storages.join(", "));
    let by_address = match &status.address_protocol {
        Some(protocol) => format!("; by address over {protocol}"),
        None => String::new(),
    };
    let workloads = match status.workloads.as_slice() {
        [] => "no workload".to_owned(),
        names => names.join(", "),
    };
    text += &format!("    runs {workloads}{by_address}\n");
    for (workload, why) in &status.unsupported_workloads {
        text += &format!("    does not run {workload}: {why}\n");
    }
    if !status.machine_libraries.is_empty() {
        text += &format!("    {}\n", describe_libraries(&status.machine_libraries));
    }
    for missing in &status.missing_requirements {
        text += &format!("    cannot be used here: {missing}\n");
    }
    text
}

fn describe_libraries(libraries: &[String]) -> String {
    format!("takes from this machine: {}", libraries.join(", "))
}

/// Runs an action for each selected system and prints what it returns. The other systems still get their turn
/// after a failure, but not after an interrupt. The lowest exit code counts, because a defect of a system
/// matters more than what the machine lacks for another.
fn each(
    names: &SystemNames,
    action: impl Fn(&SelectedSystem<'_>, &ArtifactStore, &Interrupt) -> Result<String, Failure>,
) -> Result<ExitCode, Failure> {
    let catalogue = load_catalogue(&names.catalogue.systems_dir)?;
    let store = ArtifactStore::from_environment()?.with_newer_versions(names.install.allow_newer);
    let interrupt = Interrupt::install()?;
    let mut code = None;
    for selection in selected(names, &catalogue)? {
        let name = format!("{} {}", selection.system.name(), selection.version);
        match action(&selection, &store, &interrupt) {
            Ok(message) => print(&format!("{name}: {message}\n"))?,
            Err(failure) if failure.code() == INTERRUPTED => return Err(failure),
            Err(failure) => {
                code = Some(code.map_or(failure.code(), |code: u8| code.min(failure.code())));
                let message = failure.to_string();
                // Messages that begin with the name are not prefixed with it again.
                let rest = message.strip_prefix(&name).map_or_else(|| format!(": {message}"), str::to_owned);
                print(&format!("{name}{rest}\n"))?;
            }
        }
    }
    Ok(code.map_or(ExitCode::SUCCESS, ExitCode::from))
}

fn install_one(
    selection: &SelectedSystem<'_>,
    store: &ArtifactStore,
    interrupt: &Interrupt,
) -> Result<String, Failure> {
    let Some(artifact) = selection.system.artifact(selection.version)? else {
        return Ok("nothing to install".to_owned());
    };
    let installed = install(store, artifact, selection.system.server(), interrupt)?;
    let libraries = find_machine_libraries(&installed, selection.system.server_of(artifact).as_ref());
    let libraries = match libraries.is_empty() {
        true => String::new(),
        false => format!("; {}", describe_libraries(&libraries)),
    };
    let newer = if installed.version == artifact.version {
        String::new()
    } else {
        format!("version {}, accepted in its place, is ", installed.version)
    };
    Ok(match installed.folder {
        Some(folder) => format!("{newer}installed in {}{libraries}", folder.display()),
        None => "part of the program".to_owned(),
    })
}

fn remove_one(
    selection: &SelectedSystem<'_>,
    store: &ArtifactStore,
    interrupt: &Interrupt,
) -> Result<String, Failure> {
    match selection.system.artifact(selection.version)? {
        Some(artifact) if !artifact.is_bundled() => {
            let bytes = store.remove(artifact, &|| interrupt.is_requested())?;
            Ok(format!("removed, {} are free again", format::bytes(bytes as f64)))
        }
        _ => Ok("part of the program, nothing to remove".to_owned()),
    }
}

/// Compares the installed files with the record, then makes a small run: loads documents, asks every
/// question, and drops the table.
fn check_one(
    selection: &SelectedSystem<'_>,
    store: &ArtifactStore,
    interrupt: &Interrupt,
) -> Result<String, Failure> {
    let Some(artifact) = selection.system.artifact(selection.version)? else {
        return Ok("runs by address only, nothing to check".to_owned());
    };
    let mut summary = "part of the program".to_owned();
    if !artifact.is_bundled() {
        let checked = store.check(artifact, &mut |_| {}, &|| interrupt.is_requested());
        let checked = checked.map_err(|error| match error {
            ArtifactError::Damaged { .. } => failed_check(error.to_string()),
            error => error.into(),
        })?;
        let plural = if checked.files == 1 { "" } else { "s" };
        let size = format::bytes(checked.bytes as f64);
        summary = format!("{} file{plural} as recorded, {size}", checked.files);
    }
    let variant = selection.system.representative_variant();
    let variant = variant.map_or("default", |variant| variant.name.as_str());
    let storage = selection.system.storages().first().map_or("default", |storage| storage.name.as_str());
    let configuration = selection.system.configuration(selection.version, variant, storage)?;
    let installed = install(store, artifact, configuration.server.as_ref(), interrupt)?;
    let libraries = find_machine_libraries(&installed, configuration.server.as_ref());
    if !libraries.is_empty() {
        summary += &format!("; {}", describe_libraries(&libraries));
    }
    let Some(target) = Target::new(configuration.with_installed_version(&installed), ANALYTICS, installed)
    else {
        return Ok(format!("{summary}; has no analytics folder, nothing to ask"));
    };
    // Removed on every path, with the files that the server's user left in it.
    let scratch = scratch("jsonathlon-check-")?;
    let mut progress = CheckBar::new(format!("{} {}", selection.system.name(), selection.version));
    let report =
        smoke_test(target, worker_command()?, scratch.path(), &mut progress, &|| interrupt.is_requested());
    progress.finish();
    let SmokeTestReport { version, loaded_documents, correct_answers, problems } = report?;
    scratch.close().map_err(|error| {
        Failure::environment(format!("failed to remove the folder of the check: {error}"))
    })?;
    if problems.is_empty() {
        Ok(format!(
            "{summary}; opened, reports version {version}; {loaded_documents} documents loaded, \
             {correct_answers} questions right"
        ))
    } else {
        Err(failed_check(format!("{summary}; {}", problems.join("; "))))
    }
}

fn failed_check(message: String) -> Failure {
    Failure::Plain { code: FAILED_CELL, message, advice: None }
}
