//! `jsonathlon run`: starts or resumes a run, prints its tables and writes its page.

use std::{
    path::{Path, PathBuf},
    process::ExitCode,
};

use jsonathlon_artifacts::Store;
use jsonathlon_catalogue::{Catalogue, Configuration, Transport};
use jsonathlon_dataset::source::Source;
use jsonathlon_report::{page, render::TableStyle, run::tables_from_summary};
use jsonathlon_results::{folder::read_manifest, summary::Run};
use jsonathlon_schema::record::Verdict;
use jsonathlon_workloads::{
    RunError,
    run::{RunPlan, default_folder, resume, start},
    settings::{PageCachePolicy, Settings},
    target::Target,
    workload::Workload,
};

use super::{
    catalogue,
    configurations::{configurations, references, targets},
    external_systems::{self, ExternalRequest},
    memory::{Memory, restore_memory},
    print,
    run_request::{RunDefaults, RunRequest},
    setup::SetupContext,
    worker, workload,
};
use crate::{
    cli::{self, RunArguments, RunCommand},
    exit::{FAILED_CELL, Failure, USAGE},
    interrupt::Interrupt,
    progress::RunProgress,
};

pub(crate) fn run(command: &RunCommand) -> Result<ExitCode, Failure> {
    let json = workload::asked(command)?.arguments.json;
    let done = execute(command, &Interrupt::install()?)?;
    let code = show(&done.folder, json)?;
    match done.cut_short {
        Some(failure) => Err(failure),
        None => Ok(code),
    }
}

/// A run that ended and whose results can be shown.
pub(super) struct Done {
    pub(super) folder: PathBuf,
    /// Why the run ended before all planned trials, although not interrupted: its budget was too small.
    /// `None` if it ended as planned.
    pub(super) cut_short: Option<Failure>,
}

/// Starts or resumes the run that a command describes.
pub(super) fn execute(command: &RunCommand, interrupt: &Interrupt) -> Result<Done, Failure> {
    let asked = workload::asked(command)?;
    let arguments = asked.arguments;
    let catalogue = catalogue(&arguments.catalogue.systems_dir)?;
    let store = Store::from_environment()?.accepting_newer(arguments.newer.accept_newer);
    let request = match &arguments.resume {
        Some(folder) => resumed_run(folder, &catalogue, &store, interrupt)?,
        None => new_run(asked, &catalogue, interrupt)?,
    };
    let mut workload = request.workload;
    let mut targets = targets(request.configurations, workload.section_name(), &store, interrupt)?;
    targets.extend(request.elsewhere);
    let plan = RunPlan {
        source: request.source,
        settings: request.settings,
        targets,
        worker: worker()?,
        command: std::env::args().collect(),
    };
    let folder = request.folder.map_or_else(default_folder, Ok)?;
    let mut progress = RunProgress::new();
    let cancelled = || interrupt.is_requested();
    let outcome = if arguments.resume.is_some() {
        resume(&plan, &mut *workload, &folder, &mut progress, &cancelled)
    } else {
        start(&plan, &mut *workload, &folder, &mut progress, &cancelled)
    };
    progress.finish();
    match outcome {
        Err(RunError::Interrupted) => Err(interrupted(&folder)),
        Err(error @ RunError::Budget { .. }) => {
            let advice = format!(
                "what was measured is kept; finish the planned rounds, and no more, with: jsonathlon run --resume {}",
                folder.display()
            );
            let cut_short =
                Some(Failure::Plain { code: USAGE, message: error.to_string(), advice: Some(advice) });
            Ok(Done { folder, cut_short })
        }
        Ok(()) => Ok(Done { folder, cut_short: None }),
        Err(error) => {
            // Removes the folder only if it is empty, i.e. was made for this run; otherwise the call fails.
            std::fs::remove_dir(&folder).ok();
            Err(error.into())
        }
    }
}

/// Everything that a run needs, before its systems are installed.
struct ResolvedRun {
    workload: Box<dyn Workload>,
    source: Source,
    settings: Settings,
    configurations: Vec<Configuration>,
    /// Targets on external systems, which are not installed.
    elsewhere: Vec<Target>,
    /// Folder of the run. `None` for a default folder, named by the current time.
    folder: Option<PathBuf>,
}

fn new_run(
    asked: RunRequest<'_>,
    catalogue: &Catalogue,
    interrupt: &Interrupt,
) -> Result<ResolvedRun, Failure> {
    let RunRequest { arguments, source, usual: own, workload, own: folder_of_questions } = asked;
    let scale = arguments.scale.unwrap_or(cli::USUAL_SCALE);
    let source = match source {
        Some(source) => source,
        None => source_of_documents(arguments, scale)?,
    };
    if arguments.malformed > scale {
        return Err(Failure::usage(format!(
            "{} malformed lines cannot be planted among {} documents",
            arguments.malformed, scale
        )));
    }
    let mut settings = common_settings(arguments, &own);
    if let PageCachePolicy::Uncapped(why) = &settings.page_cache {
        crate::say!("note: the page cache is not capped, since this machine does not let it be: {why}");
    }
    let memory = Memory::of(arguments, own.memory)?;
    let purpose = SetupContext {
        workload: workload.section_name(),
        durability: own.durability.as_deref(),
        own: folder_of_questions.as_ref(),
    };
    if let Some(own) = purpose.own {
        own.check_systems(catalogue)?;
    }
    let mut configurations = configurations(arguments, own.systems, purpose, catalogue)?
        .into_iter()
        .map(|configuration| memory.set(purpose.of(configuration)?.with_transport(settings.transport)?))
        .collect::<Result<Vec<_>, _>>()?
        .concat();
    if !arguments.no_yardstick {
        configurations.extend(references(catalogue, workload.section_name(), &configurations)?);
    }
    // Last, because remote servers are contacted here: errors of the other options are reported before.
    let wanted = ExternalRequest {
        systems: &arguments.system,
        restart_commands: &arguments.restart_command,
        variants: &arguments.variants,
        storage: &arguments.storage,
        transport: settings.transport,
        memory: &memory,
        purpose,
    };
    let elsewhere;
    (settings.external_systems, elsewhere) =
        external_systems::connect_external(&wanted, catalogue, interrupt)?;
    Ok(ResolvedRun { workload, source, settings, configurations, elsewhere, folder: arguments.out.clone() })
}

/// Source of the documents that the options describe: `--data`, otherwise `scale` generated ones.
fn source_of_documents(arguments: &RunArguments, scale: u64) -> Result<Source, Failure> {
    match &arguments.data {
        None => Ok(Source::Generated {
            seed: arguments.seed,
            start: 0,
            documents: scale,
            malformed: arguments.malformed,
        }),
        Some(text) => absolute(Source::from_argument(text)),
    }
}

/// Settings that all workloads share, without the external systems.
fn common_settings(arguments: &RunArguments, own: &RunDefaults) -> Settings {
    Settings {
        rounds: arguments.rounds.unwrap_or(own.rounds),
        stopping: own.enough,
        load_rounds: own.load_rounds,
        timeout_s: arguments.timeout,
        load_timeout_s: arguments.load_timeout,
        keep_data: arguments.keep_data,
        seed: arguments.seed,
        transport: match arguments.transport {
            cli::Transport::Tcp => Transport::Tcp,
            cli::Transport::Tls => Transport::Tls,
            cli::Transport::Unix => Transport::Unix,
        },
        page_cache: own.memory_limit_bytes.map_or(PageCachePolicy::Free, PageCachePolicy::capped),
        ..Settings::default()
    }
}

/// Makes a path absolute, because a resumed run may be started in another directory.
fn absolute(source: Source) -> Result<Source, Failure> {
    match source {
        Source::Path(path) => std::path::absolute(&path)
            .map(Source::Path)
            .map_err(|error| Failure::usage(format!("{}: {error}", path.display()))),
        other => Ok(other),
    }
}

/// Request of the run in `folder`, restored from its manifest.
fn resumed_run(
    folder: &Path,
    catalogue: &Catalogue,
    store: &Store,
    interrupt: &Interrupt,
) -> Result<ResolvedRun, Failure> {
    let manifest = read_manifest(folder)?;
    let unreadable = |error: serde_json::Error| {
        Failure::usage(format!("the manifest of {} cannot be understood: {error}", folder.display()))
    };
    let workload = workload::restore_workload(&manifest)?;
    let durability = workload::durability(&manifest);
    let own = workload::own_questions(&manifest)?;
    let purpose = SetupContext {
        workload: workload.section_name(),
        durability: durability.as_deref(),
        own: own.as_ref(),
    };
    let settings: Settings = serde_json::from_value(manifest.settings).map_err(unreadable)?;
    let mut configurations = Vec::with_capacity(manifest.configurations.len());
    let mut there = external_systems::restore_external(
        &settings,
        catalogue,
        &manifest.configurations,
        purpose,
        interrupt,
    )?;
    let placed =
        |then: &jsonathlon_schema::manifest::Configuration| external_systems::is_elsewhere(&then.id.version);
    for then in manifest.configurations.iter().filter(|then| !placed(then)) {
        let system = catalogue.get(&then.id.system)?;
        // An accepted newer version is listed in the catalogue as the pinned version that it replaces.
        let pinned = system.artifacts().iter().find(|artifact| store.version(artifact) == then.id.version);
        let version = pinned.map_or(then.id.version.as_str(), |artifact| &artifact.version);
        let make =
            |variant: &str| Ok::<_, Failure>(system.configuration(version, variant, &then.id.storage)?);
        let now = purpose.of(purpose.configure(system, &then.id.variant, make)?)?;
        configurations.push(restore_memory(now.with_transport(settings.transport)?, then)?);
    }
    Ok(ResolvedRun {
        workload,
        source: serde_json::from_value(manifest.data.origin).map_err(unreadable)?,
        settings,
        configurations,
        elsewhere: std::mem::take(&mut there),
        folder: Some(folder.to_owned()),
    })
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

/// Prints the results and writes the page. The exit code is success if no cell failed or is disputed, the run
/// is complete, and no durability promise was broken.
fn show(folder: &Path, json: bool) -> Result<ExitCode, Failure> {
    let run = Run::read(folder)?;
    let summary = run.summary();
    let text = if json {
        serde_json::to_string_pretty(&summary)
            .map(|text| text + "\n")
            .map_err(|error| Failure::environment(format!("failed to write the summary: {error}")))?
    } else {
        tables_from_summary(&run, &summary, TableStyle { colour: true })
    };
    print(&text).map_err(|failure| {
        let advice = format!("the run is whole; print its tables by: jsonathlon export {}", folder.display());
        Failure::Plain { code: failure.code(), message: failure.to_string(), advice: Some(advice) }
    })?;
    match page::write_own(run) {
        Ok(page) if json => crate::say!("the page of this run: {}", page.display()),
        Ok(page) => print(&format!("\nthe page of this run: {}\n", page.display()))?,
        // Not fatal: the results are in the folder, and the page can be made later.
        Err(error) => crate::say!(
            "there is no page: {error}; make it later with: jsonathlon report {}",
            folder.display()
        ),
    }
    let is_disputed = summary.results.iter().any(|entry| entry.verdict == Verdict::Disputed);
    let is_rankable = summary.failures.is_empty() && summary.complete && summary.broken_promises.is_empty();
    Ok(if is_rankable && !is_disputed { ExitCode::SUCCESS } else { ExitCode::from(FAILED_CELL) })
}
