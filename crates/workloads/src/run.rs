//! Runs a benchmark: stage documents, write the plan, run the trials, remove temporary data.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    time::Instant,
};

use jsonathlon_artifacts::find_machine_libraries;
use jsonathlon_catalogue::Transport;
use jsonathlon_dataset::{
    DataError,
    scan::Traits,
    source::Source,
    stage::{StageOptions, StagedDocuments, stage},
};
use jsonathlon_results::{
    ResultsError,
    durability_evidence::load_evidence,
    folder::{CHOICE, RunFolder},
};
use jsonathlon_schema::{
    durability::Durability,
    manifest::{Configuration, DataSetInfo, Manifest, SCHEMA, SettingDeviation, TrialPlan},
    ranking::MemorySetting,
    record::{JournalRecord, RecordBody},
    settings::{ManifestSettings, RunSettings},
};
use jsonathlon_telemetry::{
    clock::MonotonicClock,
    disk, machine,
    series::{INTERVAL, SubjectHandle, TelemetryWriter},
};

use crate::{
    RunError, data,
    earlier_time::EarlierTime,
    engine::WorkerCommand,
    expected_time::{RunOutline, TYPICAL_DOCUMENT_BYTES, rough_duration},
    observer::{Activity, Observer, RunEvent},
    quiet_machine::{BusyMachinePolicy, check_machine},
    recorder::TrialRecorder,
    run_context::RunContext,
    target::Target,
    workload::{Preparation, Workload},
};

/// Minimum memory in bytes that must be available, because an engine needs at least this much.
const MIN_MEMORY_BYTES: u64 = 1 << 30;

/// Plan of a run before anything is executed.
#[derive(Debug)]
pub struct RunPlan {
    /// Source of the documents: a file, generated events, standard input or a URL.
    pub source: Source,
    /// Settings that all workloads share.
    pub settings: RunSettings,
    /// Configurations under test, with the places where they run.
    pub targets: Vec<Target>,
    /// Command line that starts a worker process.
    pub worker: WorkerCommand,
    /// Command line of this program, recorded in the manifest.
    pub command: Vec<String>,
    /// What the run does if other programs use the processors when it is about to begin.
    pub busy_machine: BusyMachinePolicy,
}

impl RunPlan {
    /// Policy about other programs for a workload: only runs that measure times warn about them.
    fn busy_machine_policy(&self, workload: &dyn Workload) -> BusyMachinePolicy {
        match self.busy_machine {
            BusyMachinePolicy::Warn if !workload.measures_times() => BusyMachinePolicy::Ignore,
            policy => policy,
        }
    }
}

/// Starts a new run in `folder`.
///
/// # Errors
/// If the run cannot start or cannot be completed; failed trials are recorded and are not errors. After
/// [`RunError::Interrupted`], the run can be resumed if its manifest exists.
pub fn start(
    plan: &RunPlan,
    workload: &mut dyn Workload,
    folder: &Path,
    observer: &mut dyn Observer,
    cancelled: &dyn Fn() -> bool,
) -> Result<(), RunError> {
    check_targets(plan, workload)?;
    let folder = RunFolder::create(folder)?;
    let (started, staged) = match prepare_documents(plan, workload, &folder, observer, cancelled) {
        Ok(prepared) => prepared,
        Err(error) => {
            // Without a manifest, the folder is useless. The first error is the relevant one.
            folder.abandon().ok();
            return Err(error);
        }
    };
    let staging_s = started.elapsed().as_secs_f64();
    let disk_bytes_per_s = disk::read_bandwidth(&folder.work_path())
        .map_err(RunError::io("measure the disk under the run folder"))?;
    let staged_run = StagedRun { workload: workload.name(), staged: &staged, disk_bytes_per_s };
    let context = RunContext { started_at: started, ..build_context(plan, &staged_run, &folder, cancelled) };
    if RunOutline::of_source(Vec::new(), &plan.settings, &plan.source).is_none() {
        announce_duration(workload, &context, observer);
    }
    let manifest = manifest(plan, workload, &folder, &context, staging_s)?;
    folder.write_manifest(&manifest)?;
    let (journal, _) = folder.open_journal()?;
    let mut recorder = TrialRecorder::new(&folder, journal, &[], &manifest.plan.trials, observer);
    clean_up(plan, &folder, run_trials(workload, &context, &mut recorder))
}

/// Says how long a run takes whose documents had to be read before that could be estimated.
fn announce_duration(workload: &dyn Workload, context: &RunContext<'_>, observer: &mut dyn Observer) {
    let duration = rough_duration(workload.expected_time(&context.outline()).seconds());
    observer.event(&RunEvent::Schedule(&format!("this run takes about {duration} from here on")));
}

/// Rejects a plan with a target on which the workload cannot run.
fn check_targets(plan: &RunPlan, workload: &dyn Workload) -> Result<(), RunError> {
    for target in &plan.targets {
        if let Some(reason) = workload.unsupported_reason(target) {
            let system = target.configuration.system.clone();
            return Err(RunError::Unsupported { workload: workload.name(), system, reason });
        }
    }
    Ok(())
}

/// Fails early if the machine lacks something, and waits until other programs leave it alone if requested.
fn check_prerequisites(
    plan: &RunPlan,
    workload: &dyn Workload,
    folder: &RunFolder,
    observer: &mut dyn Observer,
    cancelled: &dyn Fn() -> bool,
) -> Result<(), RunError> {
    check_servers(plan, folder)?;
    match &plan.source {
        Source::Generated { documents, .. } => {
            check_room(folder, documents.saturating_mul(TYPICAL_DOCUMENT_BYTES), plan, workload)?;
        }
        Source::Ordinals { .. } | Source::Corpus(_) => check_room(folder, 0, plan, workload)?,
        _ => {}
    }
    check_machine(plan.busy_machine_policy(workload), observer, cancelled)
}

/// Stages the documents, and returns them with the start of the run, which comes after all waiting.
fn prepare_documents(
    plan: &RunPlan,
    workload: &mut dyn Workload,
    folder: &RunFolder,
    observer: &mut dyn Observer,
    cancelled: &dyn Fn() -> bool,
) -> Result<(Instant, StagedDocuments), RunError> {
    check_prerequisites(plan, workload, folder, observer, cancelled)?;
    let started = Instant::now();
    let staged = stage_documents(plan, workload, folder, true, observer, cancelled)?;
    data::warn_about_input(&staged, observer);
    data::list_no_documents(&staged, folder)?;
    let staged = prepare_staged(plan, workload, folder, staged, observer, cancelled)?;
    check_room(folder, staged.bytes, plan, workload)?;
    Ok((started, staged))
}

/// Lets the workload prepare the staged documents, and rejects targets that cannot hold them.
fn prepare_staged(
    plan: &RunPlan,
    workload: &mut dyn Workload,
    folder: &RunFolder,
    staged: StagedDocuments,
    observer: &mut dyn Observer,
    cancelled: &dyn Fn() -> bool,
) -> Result<StagedDocuments, RunError> {
    let work_folder = folder.work_path();
    let mut preparation = Preparation {
        targets: &plan.targets,
        folder: &work_folder,
        seed: plan.settings.seed,
        observer,
        cancelled,
    };
    let staged = workload.prepare(staged, &mut preparation)?;
    check_targets(plan, workload)?;
    Ok(staged)
}

/// Fails early if servers cannot be started here, instead of failing every trial.
fn check_servers(plan: &RunPlan, folder: &RunFolder) -> Result<(), RunError> {
    let is_started = |target: &&Target| target.remote.is_none() && target.configuration.server.is_some();
    let started_targets = plan.targets.iter().filter(is_started);
    let servers = started_targets.filter_map(|target| target.configuration.server.as_ref());
    let mut transports: Vec<Transport> = Vec::new();
    for server in servers {
        if !transports.contains(&server.transport) {
            jsonathlon_servers::check_machine(&folder.work_path(), server.transport)
                .map_err(|error| RunError::Environment(error.to_string()))?;
            transports.push(server.transport);
        }
    }
    Ok(())
}

/// Number of targets that store all documents. References are excluded, because their columns take little
/// space.
fn database_count(plan: &RunPlan) -> usize {
    plan.targets.iter().filter(|target| !target.configuration.reference).count()
}

/// Resumes the run in `folder`. Existing records are kept. Documents are staged again and must be the same;
/// systems with open trials are loaded again.
///
/// # Errors
/// As [`start`], and [`RunError::Changed`] if plan, artifacts or documents differ from those of the run.
pub fn resume(
    plan: &RunPlan,
    workload: &mut dyn Workload,
    folder: &Path,
    observer: &mut dyn Observer,
    cancelled: &dyn Fn() -> bool,
) -> Result<(), RunError> {
    let (folder, manifest) = RunFolder::open(folder)?;
    let configurations: Vec<Configuration> = plan.targets.iter().map(configuration).collect();
    for (recorded, current) in manifest.configurations.iter().zip(&configurations) {
        if recorded.configuration_digest != current.configuration_digest
            || recorded.artifact_digest != current.artifact_digest
        {
            return Err(RunError::Changed(format!(
                "{} {} is configured or installed differently now ({} then, {} now); start a new run",
                current.id.system,
                current.id.variant,
                recorded.configuration_digest,
                current.configuration_digest
            )));
        }
    }
    empty_folder(&folder.work_path())?;
    check_servers(plan, &folder)?;
    check_machine(plan.busy_machine_policy(workload), observer, cancelled)?;
    let started = Instant::now();
    let staged = stage_documents(plan, workload, &folder, false, observer, cancelled)?;
    let staged = prepare_staged(plan, workload, &folder, staged, observer, cancelled)?;
    if staged.digest != manifest.data.digest {
        return Err(RunError::Changed(format!(
            "the documents are not those of the run ({} then, {} now); start a new run",
            manifest.data.digest, staged.digest
        )));
    }
    let disk_bytes_per_s = manifest.disk_bytes_per_s;
    let staged_run = StagedRun { workload: workload.name(), staged: &staged, disk_bytes_per_s };
    let (mut journal, records) = folder.open_journal()?;
    let earlier_time = EarlierTime::from_journal(&manifest, &records);
    let context = build_context(plan, &staged_run, &folder, cancelled);
    let context = RunContext { started_at: started, earlier_time, is_resumed: true, ..context };
    if workload.planned_keys(&context) != manifest.plan.trials {
        return Err(RunError::Changed(
            "this version of the program plans other trials; resume it with the version that began it, or \
             start a new run"
                .to_owned(),
        ));
    }
    let is_resume = |record: &&JournalRecord| matches!(record.body, RecordBody::Resumed { .. });
    let number = records.iter().filter(is_resume).count() + 1;
    let at_ms = jiff::Timestamp::now().as_millisecond();
    journal.append(&JournalRecord::new(format!("resumed:{number}"), RecordBody::Resumed { at_ms }))?;
    let trials = &manifest.plan.trials;
    let mut recorder = TrialRecorder::new(&folder, journal, &records, trials, observer);
    clean_up(plan, &folder, run_trials(workload, &context, &mut recorder))
}

/// Values that are known once documents are staged.
struct StagedRun<'a> {
    workload: &'static str,
    staged: &'a StagedDocuments,
    disk_bytes_per_s: Option<f64>,
}

fn build_context<'a>(
    plan: &'a RunPlan,
    staged_run: &StagedRun<'a>,
    folder: &RunFolder,
    cancelled: &'a dyn Fn() -> bool,
) -> RunContext<'a> {
    RunContext {
        workload: staged_run.workload,
        targets: &plan.targets,
        staged: staged_run.staged,
        settings: &plan.settings,
        disk_bytes_per_s: staged_run.disk_bytes_per_s,
        worker: &plan.worker,
        work_folder: folder.work_path(),
        log_folder: folder.logs_path(),
        is_resumed: false,
        started_at: Instant::now(),
        earlier_time: EarlierTime::default(),
        subject: SubjectHandle::default(),
        cancelled,
    }
}

/// Runs the trials while the telemetry is sampled at 1 Hz. A resumed run appends to the same telemetry file,
/// and first reports how long it takes at the end of a turn, because earlier turns may be complete.
fn run_trials(
    workload: &dyn Workload,
    context: &RunContext<'_>,
    recorder: &mut TrialRecorder<'_>,
) -> Result<(), RunError> {
    let folder = recorder.folder;
    let output = folder.open_series()?;
    let _telemetry = TelemetryWriter::start(&folder.work_path(), context.subject.clone(), INTERVAL, output);
    recorder.expect_time(workload.expected_time(&context.outline()));
    if !context.is_resumed {
        recorder.report_time_left();
    }
    workload.run(context, recorder)
}

fn stage_documents(
    plan: &RunPlan,
    workload: &mut dyn Workload,
    folder: &RunFolder,
    measure_compressed_sizes: bool,
    observer: &mut dyn Observer,
    cancelled: &dyn Fn() -> bool,
) -> Result<StagedDocuments, RunError> {
    observer.event(&RunEvent::Began { activity: Activity::Staging, description: "staging documents" });
    let options = StageOptions {
        measure_compressed_sizes,
        suspect_traits: suspects(&plan.targets, workload)?,
        ..StageOptions::default()
    };
    let mut progress = |progress: jsonathlon_dataset::stage::Progress| {
        let total = expected_documents(&progress, &plan.source);
        observer.event(&RunEvent::Progress { done: progress.documents, total, unit: "documents" });
    };
    match stage(
        &plan.source,
        &folder.work_path(),
        options,
        &mut *workload.observer(),
        &mut progress,
        cancelled,
    ) {
        Err(DataError::Cancelled) => Err(RunError::Interrupted),
        result => Ok(result?),
    }
}

/// Number of documents that staging is expected to find. Other sources than generators report the bytes that
/// were read; the documents to come are assumed to be as large as those so far.
fn expected_documents(progress: &jsonathlon_dataset::stage::Progress, source: &Source) -> Option<u64> {
    let total = progress.total?;
    if source.is_generated() {
        return Some(total);
    }
    let share = progress.done as f64 / total.max(1) as f64;
    (share > 0.0).then(|| (progress.documents as f64 / share) as u64)
}

/// Traits that make a document a suspect: those that trouble most systems, and those that the targets
/// declare.
fn suspects(targets: &[Target], workload: &dyn Workload) -> Result<Traits, RunError> {
    let mut traits = Traits::SUSPECT;
    for target in targets {
        for name in workload.suspects(target) {
            let suspect_trait = Traits::from_name(&name).ok_or_else(|| {
                let known: Vec<&str> = Traits::NAMED.iter().map(|(name, _)| *name).collect();
                RunError::Catalogue(format!(
                    "{}: {}.suspects: no trait of documents is called `{name}`; there are {}",
                    target.configuration.system,
                    workload.name(),
                    known.join(", ")
                ))
            })?;
            traits |= suspect_trait;
        }
    }
    Ok(traits)
}

/// Fails if disk space or memory do not suffice for the run.
fn check_room(
    folder: &RunFolder,
    bytes: u64,
    plan: &RunPlan,
    workload: &dyn Workload,
) -> Result<(), RunError> {
    let target_count = database_count(plan);
    let free = disk::free_bytes(folder.path()).map_err(RunError::io("ask how much disk is free"))?;
    let needed = workload.required_disk_bytes(bytes, target_count as u64);
    if free < needed {
        return Err(RunError::Environment(format!(
            "{} has {} MB free, this run needs about {} MB for {target_count} configurations: choose {}, \
             fewer --systems or variants, or another disk with --out",
            folder.path().display(),
            free / 1_000_000,
            needed / 1_000_000,
            workload.size_option_hint()
        )));
    }
    match machine::available_memory_bytes() {
        Some(memory) if memory < MIN_MEMORY_BYTES => Err(RunError::Environment(format!(
            "{} MB of memory are available, an engine needs {} MB at least; stop other programs first",
            memory / 1_000_000,
            MIN_MEMORY_BYTES / 1_000_000
        ))),
        _ => Ok(()),
    }
}

fn manifest_json<T>(result: serde_json::Result<T>) -> Result<T, RunError> {
    result.map_err(|error| RunError::Environment(format!("failed to write the manifest: {error}")))
}

fn manifest(
    plan: &RunPlan,
    workload: &dyn Workload,
    folder: &RunFolder,
    context: &RunContext<'_>,
    staging_s: f64,
) -> Result<Manifest, RunError> {
    let staged = context.staged;
    Ok(Manifest {
        schema: SCHEMA,
        program: env!("CARGO_PKG_VERSION").to_owned(),
        started: jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
        command: plan.command.clone(),
        machine: machine::detect(folder.path()),
        clock: MonotonicClock::new().properties(10_000),
        disk_bytes_per_s: context.disk_bytes_per_s,
        data: manifest_json(describe_data(plan, workload, staged, staging_s))?,
        configurations: describe_configurations(plan, folder),
        workloads: vec![workload.name().into()],
        settings: ManifestSettings {
            run: plan.settings.clone(),
            workload: manifest_json(workload.settings())?,
        },
        plan: TrialPlan { trials: workload.planned_keys(context) },
    })
}

fn describe_data(
    plan: &RunPlan,
    workload: &dyn Workload,
    staged: &StagedDocuments,
    staging_s: f64,
) -> serde_json::Result<DataSetInfo> {
    data::describe(&plan.source, workload.describe_documents(&plan.source), staged, staging_s)
}

/// Describes the configurations, with the results of durability runs in sibling folders for their tiers. Siblings of a
/// part of a choice are those of the choice, too.
fn describe_configurations(plan: &RunPlan, folder: &RunFolder) -> Vec<Configuration> {
    let mut configurations: Vec<Configuration> = plan.targets.iter().map(configuration).collect();
    if configurations.iter().any(|configuration| configuration.durability.is_some())
        && let Some(runs_folder) = folder.path().parent()
    {
        let beside_choice = runs_folder.parent().filter(|_| runs_folder.join(CHOICE).exists());
        let evidence = load_evidence([runs_folder].into_iter().chain(beside_choice));
        for configuration in &mut configurations {
            if let Some(durability) = &mut configuration.durability {
                durability.tested = evidence.get(&durability.basis).cloned().unwrap_or_default();
            }
        }
    }
    configurations
}

fn configuration(target: &Target) -> Configuration {
    let configuration = &target.configuration;
    Configuration {
        id: target.id(),
        title: configuration.title.clone(),
        variant_title: configuration.variant_title.clone(),
        embedded: configuration.embedded,
        transport: configuration.server.as_ref().map(|server| server.transport),
        end_of_life: configuration.end_of_life,
        outdated: configuration.outdated.clone(),
        preparation: configuration.preparation,
        profile: target.profile(),
        memory_bytes: configuration.memory_bytes,
        memory_settings: configuration.memory_settings.iter().map(memory_setting).collect(),
        durability: configuration.durability.as_ref().map(|tier| Durability {
            tier: tier.tier,
            process_crash: tier.process_crash.clone(),
            power_loss: tier.power_loss.clone(),
            basis: target.durability_basis(),
            tested: Vec::new(),
        }),
        not_made_for: configuration.serving().and_then(|serving| serving.not_made_for),
        parallel_unit: configuration.properties.parallel_unit,
        other_questions: other_questions(configuration),
        ranks_with: ranks_with(configuration),
        ranked: configuration.ranked && configuration.durability.as_ref().is_none_or(|tier| tier.ranked),
        reference: configuration.reference,
        configuration_digest: configuration.digest.clone(),
        artifact_digest: target.artifact_digest(),
        machine_libraries: find_machine_libraries(&target.artifact, configuration.server.as_ref()),
        exceptions: configuration
            .exceptions
            .iter()
            .map(|exception| SettingDeviation { what: exception.what.clone(), why: exception.why.clone() })
            .collect(),
    }
}

/// Words that give the configuration a ranking of its own, joined by commas: those of its folder, then
/// `in-process` and `replication log`, both in serving only. A serving operation mostly consists of the round
/// trip to the server, which an embedded engine does not have. Writes to a replication log as well cost more
/// than writes without one.
fn ranks_with(configuration: &jsonathlon_catalogue::Configuration) -> String {
    let serving = configuration.serving();
    let is_in_process = configuration.embedded && serving.is_some();
    let is_logged = serving.is_some_and(|serving| serving.replication_log);
    let parts = [
        configuration.ranks_with.as_str(),
        if is_in_process { "in-process" } else { "" },
        if is_logged { "replication log" } else { "" },
    ];
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(", ")
}

fn memory_setting(setting: &jsonathlon_catalogue::MemorySetting) -> MemorySetting {
    MemorySetting {
        name: setting.name.clone(),
        value: setting.value.clone(),
        stock: setting.stock.clone(),
        source: setting.source.clone(),
    }
}

/// Questions that a configuration answers in another sense than the stated one, with the reason.
fn other_questions(configuration: &jsonathlon_catalogue::Configuration) -> BTreeMap<String, String> {
    let questions = configuration.analytics().into_iter().flat_map(|analytics| analytics.questions);
    questions.filter_map(|(name, rules)| Some((name, rules.other_question?))).collect()
}

/// Removes temporary data, however the run ended; a resumed run creates it again.
fn clean_up(plan: &RunPlan, folder: &RunFolder, result: Result<(), RunError>) -> Result<(), RunError> {
    let cleanup_result = if plan.settings.keep_data { Ok(()) } else { empty_folder(&folder.work_path()) };
    // The first error is the relevant one.
    result.and(cleanup_result)
}

fn empty_folder(work: &Path) -> Result<(), RunError> {
    let failed = |path: &Path| RunError::io(format!("empty {}", path.display()));
    if work.exists() {
        std::fs::remove_dir_all(work).map_err(failed(work))?;
    }
    std::fs::create_dir_all(work).map_err(failed(work))
}

/// Creates the default folder of a run that starts now: below `runs` and named by the local time, so that
/// listings are sorted. A second run in the same second gets a number appended.
///
/// # Errors
/// If the current folder is unknown or the folder cannot be created.
pub fn default_folder() -> Result<PathBuf, ResultsError> {
    let name = jiff::Zoned::now().strftime("%Y-%m-%d-%H%M%S").to_string();
    let current_folder = std::env::current_dir().map_err(|source| ResultsError::Io {
        action: "find",
        path: PathBuf::from("."),
        source,
    })?;
    let runs = current_folder.join("runs");
    let failed = |action, path: &Path| {
        let path = path.to_owned();
        move |source| ResultsError::Io { action, path, source }
    };
    std::fs::create_dir_all(&runs).map_err(failed("create", &runs))?;
    let mut path = runs.join(&name);
    for number in 2_u32.. {
        match std::fs::create_dir(&path) {
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {
                path = runs.join(format!("{name}-{number}"));
            }
            result => return result.map(|()| path.clone()).map_err(failed("create", &path)),
        }
    }
    Ok(path)
}
