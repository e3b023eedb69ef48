//! `jsonathlon run`.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use jsonathlon_dataset::source::Source;
use jsonathlon_report::tables::{Look, render};
use jsonathlon_results::folder::read_manifest;
use jsonathlon_results::summary::Run;
use jsonathlon_systems::catalogue::select_variants;
use jsonathlon_systems::{Catalogue, Configuration, Store};
use jsonathlon_workloads::RunError;
use jsonathlon_workloads::run::{Plan, default_folder, resume, start};
use jsonathlon_workloads::session::Target;
use jsonathlon_workloads::settings::{Settings, State};

use super::{catalogue, install, print, worker};
use crate::cli::{RunArguments, States};
use crate::exit::{FAILED_CELL, Failure};
use crate::interrupt::Interrupt;
use crate::progress::RunProgress;

pub(crate) fn run(arguments: &RunArguments) -> Result<ExitCode, Failure> {
    let catalogue = catalogue(&arguments.catalogue.systems_dir)?;
    let request = match &arguments.resume {
        Some(folder) => continued(folder, &catalogue)?,
        None => fresh(arguments, &catalogue)?,
    };
    let interrupt = Interrupt::install()?;
    let store = Store::from_environment()?;
    let targets = targets(request.configurations, &store, &interrupt)?;
    let plan = Plan {
        source: request.source,
        settings: request.settings,
        targets,
        worker: worker()?,
        command: std::env::args().collect(),
    };
    let mut progress = RunProgress::new();
    let cancelled = || interrupt.wanted();
    let outcome = if arguments.resume.is_some() {
        resume(&plan, &request.folder, &mut progress, &cancelled)
    } else {
        start(&plan, &request.folder, &mut progress, &cancelled)
    };
    progress.finish();
    match outcome {
        Err(RunError::Interrupted) => return Err(interrupted(&request.folder)),
        other => other?,
    }
    show(&request.folder, arguments.json)
}

/// A run before its systems are installed.
struct Request {
    source: Source,
    settings: Settings,
    configurations: Vec<Configuration>,
    folder: PathBuf,
}

fn fresh(arguments: &RunArguments, catalogue: &Catalogue) -> Result<Request, Failure> {
    let source = match &arguments.data {
        None => Source::Generated {
            seed: arguments.seed,
            start: 0,
            documents: arguments.scale,
            malformed: arguments.malformed,
        },
        Some(text) => absolute(Source::from_argument(text))?,
    };
    if arguments.malformed > arguments.scale {
        return Err(Failure::usage(format!(
            "{} malformed lines cannot be planted among {} documents",
            arguments.malformed, arguments.scale
        )));
    }
    let usual = Settings::default();
    let settings = Settings {
        rounds: arguments.rounds,
        hot_trials: arguments.trials.unwrap_or(usual.hot_trials),
        most_hot_trials: arguments.trials.unwrap_or(usual.most_hot_trials),
        timeout_s: arguments.timeout,
        load_timeout_s: arguments.load_timeout,
        states: match arguments.state {
            States::Drained => vec![State::Drained],
            States::Compacted => vec![State::Compacted],
            States::Both => vec![State::Drained, State::Compacted],
        },
        cold_os: arguments.cold_os,
        keep_data: arguments.keep_data,
        seed: arguments.seed,
        ..usual
    };
    let folder = match &arguments.out {
        Some(folder) => folder.clone(),
        None => default_folder()?,
    };
    let configurations = configurations(arguments, catalogue)?;
    Ok(Request { source, settings, configurations, folder })
}

/// A path is kept absolute: a resumed run may be started from elsewhere.
fn absolute(source: Source) -> Result<Source, Failure> {
    match source {
        Source::Path(path) => std::path::absolute(&path)
            .map(Source::Path)
            .map_err(|error| Failure::usage(format!("{}: {error}", path.display()))),
        other => Ok(other),
    }
}

/// Every selected system in every selected variant and storage setting. A system that has none of them is
/// left out, and the user is told.
fn configurations(arguments: &RunArguments, catalogue: &Catalogue) -> Result<Vec<Configuration>, Failure> {
    let selected = catalogue.select(arguments.systems.as_deref())?;
    let systems: Vec<_> = selected.iter().map(|one| one.system).collect();
    let variants = select_variants(&systems, &arguments.variants)?;
    let wanted: Vec<&str> = arguments.storage.split(',').map(str::trim).filter(|s| !s.is_empty()).collect();
    let known: BTreeSet<&str> =
        systems.iter().flat_map(|system| system.storages()).map(|storage| storage.name.as_str()).collect();
    if let Some(unknown) = wanted.iter().find(|name| **name != "all" && !known.contains(*name)) {
        let known: Vec<&str> = known.into_iter().collect();
        return Err(Failure::usage(format!(
            "none of the selected systems has a storage setting `{unknown}`; there is {}, or all",
            known.join(", ")
        )));
    }
    let mut configurations = Vec::new();
    for (one, variants) in selected.iter().zip(variants) {
        let before = configurations.len();
        for variant in variants {
            for storage in one.system.storages() {
                if wanted.iter().any(|name| *name == "all" || *name == storage.name) {
                    configurations.push(one.system.configuration(
                        one.version,
                        &variant.name,
                        &storage.name,
                    )?);
                }
            }
        }
        if configurations.len() == before {
            anstream::eprintln!(
                "note: {} is left out: it has no variant `{}` with storage `{}`",
                one.system.name(),
                arguments.variants,
                arguments.storage
            );
        }
    }
    if configurations.is_empty() {
        return Err(Failure::usage("no system is left: choose other --variants or --storage"));
    }
    if !arguments.no_yardstick {
        configurations.extend(references(catalogue, &configurations)?);
    }
    Ok(configurations)
}

/// Every configuration of the reference rows that was not asked for by name already.
fn references(catalogue: &Catalogue, there: &[Configuration]) -> Result<Vec<Configuration>, Failure> {
    let mut found = Vec::new();
    for one in catalogue.references() {
        if there.iter().any(|configuration| configuration.system == one.system.name()) {
            continue;
        }
        for variant in select_variants(&[one.system], "default")?.into_iter().flatten() {
            for storage in one.system.storages().iter().take(1) {
                found.push(one.system.configuration(one.version, &variant.name, &storage.name)?);
            }
        }
    }
    Ok(found)
}

/// The run in `folder` as it was planned.
fn continued(folder: &Path, catalogue: &Catalogue) -> Result<Request, Failure> {
    let manifest = read_manifest(folder)?;
    let unreadable = |error: serde_json::Error| {
        Failure::usage(format!("the manifest of {} cannot be understood: {error}", folder.display()))
    };
    let mut configurations = Vec::with_capacity(manifest.configurations.len());
    for then in &manifest.configurations {
        let system = catalogue.get(&then.system)?;
        configurations.push(system.configuration(&then.version, &then.variant, &then.storage)?);
    }
    Ok(Request {
        source: serde_json::from_value(manifest.data.origin).map_err(unreadable)?,
        settings: serde_json::from_value(manifest.settings).map_err(unreadable)?,
        configurations,
        folder: folder.to_owned(),
    })
}

pub(super) fn targets(
    configurations: Vec<Configuration>,
    store: &Store,
    interrupt: &Interrupt,
) -> Result<Vec<Target>, Failure> {
    let mut targets = Vec::with_capacity(configurations.len());
    for configuration in configurations {
        let Some(analytics) = configuration.analytics.clone() else {
            return Err(Failure::usage(format!(
                "{} has no analytics folder; leave it out of --systems",
                configuration.system
            )));
        };
        let Some(artifact) = &configuration.artifact else {
            return Err(Failure::usage(format!(
                "{} {} names no artifact, and systems by address are not supported yet",
                configuration.system, configuration.version
            )));
        };
        let installed = install(store, artifact, interrupt)?;
        targets.push(Target {
            library: installed.library().map(Path::to_owned),
            programs: installed.files,
            installed: installed.folder,
            artifact_digest: installed.sha256.map(|digest| format!("sha256:{digest}")),
            configuration,
            analytics,
        });
    }
    Ok(targets)
}

fn interrupted(folder: &Path) -> Failure {
    if read_manifest(folder).is_ok() {
        Failure::interrupted(format!(
            "what was measured is kept; go on with: jsonathlon run --resume {}",
            folder.display()
        ))
    } else {
        Failure::interrupted("nothing had been measured yet; start the run again")
    }
}

/// Prints what the run found; the exit code tells whether every cell is well.
fn show(folder: &Path, json: bool) -> Result<ExitCode, Failure> {
    let run = Run::read(folder)?;
    let summary = run.summary();
    let text = if json {
        serde_json::to_string_pretty(&summary)
            .map(|text| text + "\n")
            .map_err(|error| Failure::environment(format!("failed to write the summary: {error}")))?
    } else {
        render(&run, Look { colour: true })
    };
    print(&text)?;
    Ok(if summary.failures.is_empty() && summary.complete {
        ExitCode::SUCCESS
    } else {
        ExitCode::from(FAILED_CELL)
    })
}
