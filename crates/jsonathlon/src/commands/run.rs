//! `jsonathlon run`: starts or resumes a run, prints its tables and writes its page.

use std::{
    path::{Path, PathBuf},
    process::ExitCode,
};

use jsonathlon_artifacts::ArtifactStore;
use jsonathlon_catalogue::{Catalogue, Configuration};
use jsonathlon_dataset::source::Source;
use jsonathlon_report::{answer::closing_answer, page, run::tables_from_summary};
use jsonathlon_results::{folder::read_manifest, summary::Run};
use jsonathlon_schema::{
    record::Verdict,
    settings::{PageCachePolicy, RunSettings},
};
use jsonathlon_workloads::{
    RunError,
    expected_time::RunOutline,
    page_cache_limit,
    run::{RunPlan, default_folder, resume, start},
    target::Target,
    workload::Workload,
};

use super::{
    configurations::{configurations, install_targets, yardstick_configurations},
    estimate::{describe_duration, run_seconds},
    external_systems::{self, ExternalRequest},
    load_catalogue,
    memory::{MemoryProfiles, with_recorded_memory},
    path_display, print,
    run_request::{RunDefaults, RunRequest},
    setup::{Reports, SetupContext},
    short_path,
    table_style::table_style,
    worker_command, workload,
};
use crate::{
    cli::run::RunCommand,
    cli::run_options::{CommonArguments, ExternalOptions},
    exit::{FAILED_CELL, Failure, USAGE},
    interrupt::Interrupt,
    progress::RunProgress,
};

pub(crate) fn run(command: &RunCommand) -> Result<ExitCode, Failure> {
    let common = workload::build_request(command)?.common;
    let completed = execute(command, &Interrupt::install()?)?;
    let code = show(&completed.folder, common)?;
    match completed.cut_short {
        Some(failure) => Err(failure),
        None => Ok(code),
    }
}

/// A run that ended and whose results can be shown.
pub(super) struct CompletedRun {
    pub(super) folder: PathBuf,
    /// Why the run ended before all planned trials, although not interrupted: its budget was too small.
    /// `None` if it ended as planned.
    pub(super) cut_short: Option<Failure>,
}

/// Starts or resumes the run that a command describes.
pub(super) fn execute(command: &RunCommand, interrupt: &Interrupt) -> Result<CompletedRun, Failure> {
    let request = workload::build_request(command)?;
    let common = request.common;
    let catalogue = load_catalogue(&common.catalogue.systems_dir)?;
    let store = ArtifactStore::from_environment()?.with_newer_versions(common.install.allow_newer);
    let resolved = match &common.resume {
        Some(folder) => resumed_run(folder, &catalogue, &store, interrupt)?,
        None => new_run(request, &catalogue, interrupt)?,
    };
    if common.resume.is_none() {
        announce_duration(&resolved, &store);
    }
    let mut workload = resolved.workload;
    let mut targets = install_targets(resolved.configurations, workload.section_name(), &store, interrupt)?;
    targets.extend(resolved.external_targets);
    let plan = RunPlan {
        source: resolved.source,
        settings: resolved.settings,
        targets,
        worker: worker_command()?,
        command: std::env::args().collect(),
        busy_machine: common.quiet.policy(),
    };
    let folder = resolved.folder.map_or_else(default_folder, Ok)?;
    let mut progress = RunProgress::new();
    let is_cancelled = || interrupt.is_requested();
    let outcome = if common.resume.is_some() {
        resume(&plan, &mut *workload, &folder, &mut progress, &is_cancelled)
    } else {
        start(&plan, &mut *workload, &folder, &mut progress, &is_cancelled)
    };
    progress.finish();
    match outcome {
        Err(RunError::Interrupted) => Err(interrupted(&folder)),
        Err(error @ RunError::Budget { .. }) => {
            let advice = format!(
                "finished trials are saved; finish the planned rounds, and no more, with: jsonathlon run \
                 --resume {}",
                folder.display()
            );
            let cut_short =
                Some(Failure::Plain { code: USAGE, message: error.to_string(), advice: Some(advice) });
            Ok(CompletedRun { folder, cut_short })
        }
        Ok(()) => Ok(CompletedRun { folder, cut_short: None }),
        Err(error) => {
            // Removes the folder only if it is empty, i.e. was made for this run; otherwise the call fails.
            std::fs::remove_dir(&folder).ok();
            Err(error.into())
        }
    }
}

/// Says how long a new run takes, if the number of its documents is known beforehand.
fn announce_duration(resolved: &ResolvedRun, store: &ArtifactStore) {
    let external = resolved.external_targets.iter().map(|target| &target.configuration);
    let configurations = resolved.configurations.iter().chain(external).collect();
    if let Some(outline) = RunOutline::of_source(configurations, &resolved.settings, &resolved.source) {
        crate::say!("{}", describe_duration(&outline, &*resolved.workload, store));
    }
}

/// Everything that a run needs, before its systems are installed.
struct ResolvedRun {
    workload: Box<dyn Workload>,
    source: Source,
    settings: RunSettings,
    configurations: Vec<Configuration>,
    /// Targets on external systems, which are not installed.
    external_targets: Vec<Target>,
    /// Folder of the run. `None` for a default folder, named by the current time.
    folder: Option<PathBuf>,
}

fn new_run(
    request: RunRequest<'_>,
    catalogue: &Catalogue,
    interrupt: &Interrupt,
) -> Result<ResolvedRun, Failure> {
    let no_documents = || Failure::usage("the run has no documents: add --data");
    let source = request.source.clone().ok_or_else(no_documents)?;
    let mut settings = common_settings(request.common, request.seed, &request.defaults);
    if let PageCachePolicy::Uncapped(why) = &settings.page_cache {
        crate::say!("note: cannot limit the page cache on this machine: {why}");
    }
    let memory = MemoryProfiles::from_options(&request.common.systems, request.defaults.memory)?;
    let configurations = started_configurations(&request, &settings, &memory, catalogue)?;
    let no_external = ExternalOptions::default();
    let external = request.external.unwrap_or(&no_external);
    let context = setup_context(&request, catalogue);
    let common = request.common;
    // Last, because remote servers are contacted here: errors of the other options are reported before.
    let external_request = ExternalRequest {
        systems: &external.system,
        restart_commands: &external.restart_command,
        variants: request.defaults.variants_of(&common.systems),
        storage: &common.systems.storage,
        transport: settings.transport,
        memory: &memory,
        context,
    };
    let external_targets;
    (settings.external_systems, external_targets) =
        external_systems::connect_external(&external_request, catalogue, interrupt)?;
    if let Some(questions) = &request.reports {
        let external = external_targets.iter().map(|target| target.configuration.clone());
        let all: Vec<Configuration> = configurations.iter().cloned().chain(external).collect();
        questions.report_notes(&all).iter().for_each(|note| crate::say!("note: {note}"));
    }
    Ok(ResolvedRun {
        workload: request.workload,
        source,
        settings,
        configurations,
        external_targets,
        folder: common.execution.out.clone(),
    })
}

fn setup_context<'a>(request: &'a RunRequest<'_>, catalogue: &'a Catalogue) -> SetupContext<'a> {
    SetupContext {
        workload: request.workload.section_name(),
        durability: request.defaults.durability,
        user_questions: request.user_questions.as_ref(),
        reports: request.reports.as_ref().map(|questions| Reports { questions, catalogue }),
    }
}

/// Configurations of a request that the run starts itself, with those of yardsticks.
fn started_configurations(
    request: &RunRequest<'_>,
    settings: &RunSettings,
    memory: &MemoryProfiles,
    catalogue: &Catalogue,
) -> Result<Vec<Configuration>, Failure> {
    let context = setup_context(request, catalogue);
    for questions in [&request.user_questions, &request.reports].into_iter().flatten() {
        questions.check_systems(catalogue)?;
    }
    let has_external = request.external.is_some_and(|external| !external.system.is_empty());
    let selected =
        configurations(&request.common.systems, has_external, &request.defaults, context, catalogue)?;
    let mut configurations = selected
        .into_iter()
        .map(|configuration| {
            memory.per_profile(context.apply_to(configuration)?.with_transport(settings.transport)?)
        })
        .collect::<Result<Vec<_>, _>>()?
        .concat();
    if request.has_yardstick {
        configurations.extend(yardstick_configurations(catalogue, context.workload, &configurations)?);
    }
    Ok(configurations)
}

/// Expected seconds of a new run without external systems over this many documents, without installation.
/// Workloads that generate their documents do so whatever their number is here.
pub(super) fn expected_seconds(
    command: &RunCommand,
    catalogue: &Catalogue,
    documents: DocumentCount,
) -> Result<f64, Failure> {
    let request = workload::build_request(command)?;
    let settings = common_settings(request.common, request.seed, &request.defaults);
    let memory = MemoryProfiles::from_options(&request.common.systems, request.defaults.memory)?;
    let configurations = started_configurations(&request, &settings, &memory, catalogue)?;
    let configurations: Vec<&Configuration> = configurations.iter().collect();
    let generated = request.source.as_ref().filter(|source| source.is_generated());
    let outline =
        generated.and_then(|source| RunOutline::of_source(configurations.clone(), &settings, source));
    let outline = outline
        .unwrap_or_else(|| RunOutline::new(configurations, &settings, documents.documents, documents.bytes));
    Ok(run_seconds(&outline, &*request.workload))
}

/// Number of documents that are loaded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct DocumentCount {
    pub(super) documents: u64,
    /// Their size in bytes, each with a newline.
    pub(super) bytes: u64,
}

/// Settings that all workloads share, without the external systems.
fn common_settings(common: &CommonArguments, seed: u64, defaults: &RunDefaults) -> RunSettings {
    RunSettings {
        rounds: defaults.rounds,
        stopping: defaults.stopping,
        load_rounds: defaults.load_rounds,
        timeout_s: common.execution.timeout,
        load_timeout_s: common.execution.load_timeout,
        keep_data: common.execution.keep_data,
        seed,
        transport: common.systems.transport.into(),
        page_cache: defaults
            .memory_limit_bytes
            .map_or(PageCachePolicy::Free, page_cache_limit::page_cache_policy),
        ..RunSettings::default()
    }
}

/// Request of the run in `folder`, restored from its manifest.
fn resumed_run(
    folder: &Path,
    catalogue: &Catalogue,
    store: &ArtifactStore,
    interrupt: &Interrupt,
) -> Result<ResolvedRun, Failure> {
    let manifest = read_manifest(folder)?;
    let unreadable = |error: serde_json::Error| {
        Failure::usage(format!("the manifest of {} cannot be understood: {error}", folder.display()))
    };
    let workload = workload::restore_workload(&manifest)?;
    let durability = workload::durability(&manifest);
    let questions = workload::own_questions(&manifest)?;
    let reports = workload::reports(&manifest)?;
    let context = SetupContext {
        workload: workload.section_name(),
        durability,
        user_questions: questions.as_ref(),
        reports: reports.as_ref().map(|questions| Reports { questions, catalogue }),
    };
    let settings = manifest.settings.run;
    let mut configurations = Vec::with_capacity(manifest.configurations.len());
    let external_targets = external_systems::restore_external(
        &settings,
        catalogue,
        &manifest.configurations,
        context,
        interrupt,
    )?;
    for recorded in &manifest.configurations {
        let id = &recorded.id;
        if external_systems::is_external_version(&id.version) {
            continue;
        }
        let system = catalogue.get(&id.system)?;
        // An accepted newer version is listed in the catalogue as the pinned version that it replaces.
        let pinned = system.artifacts().iter().find(|artifact| store.version(artifact) == id.version);
        let version = pinned.map_or(id.version.as_str(), |artifact| &artifact.version);
        let build = |variant: &str| Ok::<_, Failure>(system.configuration(version, variant, &id.storage)?);
        let configuration = context.apply_to(context.configure(system, &id.variant, build)?)?;
        configurations
            .push(with_recorded_memory(configuration.with_transport(settings.transport)?, recorded)?);
    }
    Ok(ResolvedRun {
        workload,
        source: serde_json::from_value(manifest.data.origin).map_err(unreadable)?,
        settings,
        configurations,
        external_targets,
        folder: Some(folder.to_owned()),
    })
}

fn interrupted(folder: &Path) -> Failure {
    if read_manifest(folder).is_ok() {
        Failure::interrupted(format!(
            "finished trials are saved; resume with: jsonathlon run --resume {}",
            folder.display()
        ))
    } else {
        Failure::interrupted("no trial had finished; start the run again")
    }
}

/// Prints the tables, writes the page, and prints the answer. The exit code is success if no cell failed or is
/// disputed, the run is complete, and no durability promise was broken.
fn show(folder: &Path, common: &CommonArguments) -> Result<ExitCode, Failure> {
    let run = Run::read(folder)?;
    let summary = run.summary();
    let json = common.json;
    let style = table_style(common.tables);
    let text = if json {
        serde_json::to_string_pretty(&summary)
            .map(|text| text + "\n")
            .map_err(|error| Failure::environment(format!("failed to write the summary: {error}")))?
    } else {
        tables_from_summary(&run, &summary, style)
    };
    print(&text).map_err(|failure| {
        let advice = format!("the run is whole; print its tables by: jsonathlon export {}", folder.display());
        Failure::Plain { code: failure.code(), message: failure.to_string(), advice: Some(advice) }
    })?;
    let page = match page::write_page(&run, path_display(common.show_paths)) {
        Ok(page) => Some(page),
        // Not fatal: the results are in the folder, and the page can be made later.
        Err(error) => {
            let folder = folder.display();
            crate::say!("failed to write the page: {error}; retry with: jsonathlon report {folder}");
            None
        }
    };
    match page {
        Some(page) if json => crate::say!("the page of this run: {}", page.display()),
        None if json => {}
        page => print(&closing_answer(&run, &summary, page.as_deref().map(short_path), style))?,
    }
    let is_disputed = summary.results.iter().any(|entry| entry.verdict == Verdict::Disputed);
    let is_rankable = summary.failures.is_empty() && summary.complete && summary.broken_promises.is_empty();
    Ok(if is_rankable && !is_disputed { ExitCode::SUCCESS } else { ExitCode::from(FAILED_CELL) })
}
