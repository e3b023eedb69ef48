//! Runs a benchmark: stage documents, write the plan, run the trials, remove temporary data.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    time::Instant,
};

use jsonathlon_artifacts::machine_libraries;
use jsonathlon_catalogue::Transport;
use jsonathlon_dataset::{
    DataError,
    scan::Traits,
    source::Source,
    stage::{StageOptions, StagedDocuments, stage},
};
use jsonathlon_results::{ResultsError, durability_evidence::load_evidence, folder::RunFolder};
use jsonathlon_schema::{
    manifest::{Configuration, Durability, Manifest, SCHEMA, SettingDeviation, TrialPlan},
    ranking::MemorySetting,
    record::{JournalRecord, RecordBody},
};
use jsonathlon_telemetry::{
    clock::{Clock, MonotonicClock},
    disk, machine,
    series::{INTERVAL, SubjectHandle, TelemetryWriter},
};

use crate::{
    RunError, data,
    engine::WorkerCommand,
    observer::{Activity, Observer, RunEvent},
    recorder::TrialRecorder,
    run_context::RunContext,
    settings::Settings,
    spent::Spent,
    target::Target,
    workload::Workload,
};

/// Bytes of a generated event with its newline, for estimates before documents are generated.
const EVENT_BYTES: u64 = 482;
/// Minimum memory in bytes that must be available, because an engine needs at least this much.
const LEAST_MEMORY: u64 = 1 << 30;

/// Plan of a run before anything is executed.
#[derive(Debug)]
pub struct RunPlan {
    /// Source of the documents: a file, generated events, standard input or a URL.
    pub source: Source,
    /// Settings that all workloads share.
    pub settings: Settings,
    /// Configurations under test, with the places where they run.
    pub targets: Vec<Target>,
    /// Command line that starts a worker process.
    pub worker: WorkerCommand,
    /// Command line of this program, recorded in the manifest.
    pub command: Vec<String>,
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
    let begun = Instant::now();
    check_targets(plan, workload)?;
    let folder = RunFolder::create(folder)?;
    let clock = MonotonicClock::new();
    let staged = match prepare_documents(plan, workload, &folder, observer, cancelled) {
        Ok(staged) => staged,
        Err(error) => {
            // Without a manifest, the folder is useless. The first error is the relevant one.
            folder.abandon().ok();
            return Err(error);
        }
    };
    let staging_s = clock.now().as_secs_f64();
    let disk_bytes_per_s = disk::read_bandwidth(&folder.work())
        .map_err(RunError::io("measure the disk under the run folder"))?;
    let setting = StagedRun { workload: workload.name(), staged: &staged, disk_bytes_per_s };
    let bench = RunContext { begun, ..bench(plan, &setting, &folder, cancelled) };
    let manifest = manifest(plan, workload, &folder, &bench, staging_s)?;
    folder.write_manifest(&manifest)?;
    let (journal, _) = folder.journal()?;
    let mut recorder = TrialRecorder::new(&folder, journal, &[], &manifest.plan.trials, observer);
    cleaned_up(plan, &folder, run_trials(workload, &bench, &mut recorder))
}

/// Rejects a plan with a target on which the workload cannot run.
fn check_targets(plan: &RunPlan, workload: &dyn Workload) -> Result<(), RunError> {
    match plan.targets.iter().find_map(|target| workload.unsupported_reason(target)) {
        Some(why) => Err(RunError::Catalogue(format!("{} cannot run: {why}", workload.name()))),
        None => Ok(()),
    }
}

fn prepare_documents(
    plan: &RunPlan,
    workload: &mut dyn Workload,
    folder: &RunFolder,
    observer: &mut dyn Observer,
    cancelled: &dyn Fn() -> bool,
) -> Result<StagedDocuments, RunError> {
    servers_fit(plan, folder)?;
    match &plan.source {
        Source::Generated { documents, .. } => {
            check_room(folder, documents.saturating_mul(EVENT_BYTES), plan, workload)?;
        }
        Source::Ordinals { .. } | Source::Corpus(_) => check_room(folder, 0, plan, workload)?,
        _ => {}
    }
    let staged = stage_documents(plan, workload, folder, true, observer, cancelled)?;
    data::tell(&staged, observer);
    data::list_no_documents(&staged, folder)?;
    check_room(folder, staged.bytes, plan, workload)?;
    Ok(staged)
}

/// Fails early if servers cannot be started here, instead of failing every trial.
fn servers_fit(plan: &RunPlan, folder: &RunFolder) -> Result<(), RunError> {
    let is_started = |target: &&Target| target.remote.is_none() && target.configuration.server.is_some();
    let servers = plan.targets.iter().filter(is_started).filter_map(|one| one.configuration.server.as_ref());
    let mut transports: Vec<Transport> = Vec::new();
    for server in servers {
        if !transports.contains(&server.transport) {
            jsonathlon_servers::fit(&folder.work(), server.transport)
                .map_err(|error| RunError::Environment(error.to_string()))?;
            transports.push(server.transport);
        }
    }
    Ok(())
}

/// Number of targets that store all documents. References are excluded, because their columns take little
/// space.
fn databases(plan: &RunPlan) -> usize {
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
    let begun = Instant::now();
    let (folder, manifest) = RunFolder::open(folder)?;
    let configurations: Vec<Configuration> = plan.targets.iter().map(configuration).collect();
    for (then, now) in manifest.configurations.iter().zip(&configurations) {
        if then.configuration_digest != now.configuration_digest
            || then.artifact_digest != now.artifact_digest
        {
            return Err(RunError::Changed(format!(
                "{} {} is configured or installed differently now ({} then, {} now); start a new run",
                now.id.system, now.id.variant, then.configuration_digest, now.configuration_digest
            )));
        }
    }
    empty(&folder.work())?;
    servers_fit(plan, &folder)?;
    let staged = stage_documents(plan, workload, &folder, false, observer, cancelled)?;
    if staged.digest != manifest.data.digest {
        return Err(RunError::Changed(format!(
            "the documents are not those of the run ({} then, {} now); start a new run",
            manifest.data.digest, staged.digest
        )));
    }
    let disk_bytes_per_s = manifest.disk_bytes_per_s;
    let setting = StagedRun { workload: workload.name(), staged: &staged, disk_bytes_per_s };
    let (mut journal, records) = folder.journal()?;
    let spent = Spent::of(&manifest, &records);
    let bench = RunContext { begun, spent, resumed: true, ..bench(plan, &setting, &folder, cancelled) };
    if workload.planned_keys(&bench) != manifest.plan.trials {
        return Err(RunError::Changed(
            "this version of the program plans other trials; resume it with the version that began it, or \
             start a new run"
                .to_owned(),
        ));
    }
    let resumed = records.iter().filter(|record| matches!(record.body, RecordBody::Resumed { .. })).count();
    let at_ms = jiff::Timestamp::now().as_millisecond();
    journal.append(&JournalRecord::new(format!("resumed:{}", resumed + 1), RecordBody::Resumed { at_ms }))?;
    let trials = &manifest.plan.trials;
    let mut recorder = TrialRecorder::new(&folder, journal, &records, trials, observer);
    cleaned_up(plan, &folder, run_trials(workload, &bench, &mut recorder))
}

/// Values that are known once documents are staged.
struct StagedRun<'a> {
    workload: &'static str,
    staged: &'a StagedDocuments,
    disk_bytes_per_s: Option<f64>,
}

fn bench<'a>(
    plan: &'a RunPlan,
    setting: &StagedRun<'a>,
    folder: &RunFolder,
    cancelled: &'a dyn Fn() -> bool,
) -> RunContext<'a> {
    RunContext {
        workload: setting.workload,
        targets: &plan.targets,
        staged: setting.staged,
        settings: &plan.settings,
        disk_bytes_per_s: setting.disk_bytes_per_s,
        worker: &plan.worker,
        work: folder.work(),
        logs: folder.logs(),
        resumed: false,
        begun: Instant::now(),
        spent: Spent::default(),
        subject: SubjectHandle::default(),
        cancelled,
    }
}

/// Runs the trials while the telemetry is sampled at 1 Hz. A resumed run appends to the same telemetry file.
fn run_trials(
    workload: &dyn Workload,
    bench: &RunContext<'_>,
    recorder: &mut TrialRecorder<'_>,
) -> Result<(), RunError> {
    let folder = recorder.folder;
    let output = folder.series()?;
    let _until_the_end = TelemetryWriter::start(&folder.work(), bench.subject.clone(), INTERVAL, output);
    workload.run(bench, recorder)
}

fn stage_documents(
    plan: &RunPlan,
    workload: &mut dyn Workload,
    folder: &RunFolder,
    measure_compressed_sizes: bool,
    observer: &mut dyn Observer,
    cancelled: &dyn Fn() -> bool,
) -> Result<StagedDocuments, RunError> {
    observer.event(&RunEvent::Began { work: Activity::Staging, what: "staging documents" });
    let options = StageOptions {
        measure_compressed_sizes,
        suspect: suspects(&plan.targets, workload)?,
        ..StageOptions::default()
    };
    let mut progress = |progress: jsonathlon_dataset::stage::Progress| {
        let unit = if plan.source.is_made() { "documents" } else { "bytes" };
        observer.event(&RunEvent::Progress { done: progress.done, total: progress.total, unit });
    };
    match stage(&plan.source, &folder.work(), options, &mut *workload.observer(), &mut progress, cancelled) {
        Err(DataError::Cancelled) => Err(RunError::Interrupted),
        other => Ok(other?),
    }
}

/// Traits that make a document a suspect: those that trouble most systems, and those that the targets
/// declare.
fn suspects(targets: &[Target], workload: &dyn Workload) -> Result<Traits, RunError> {
    let mut traits = Traits::SUSPECT;
    for target in targets {
        for name in workload.suspects(target) {
            let one = Traits::from_name(&name).ok_or_else(|| {
                let known: Vec<&str> = Traits::NAMED.iter().map(|(name, _)| *name).collect();
                RunError::Catalogue(format!(
                    "{}: {}.suspects: no trait of documents is called `{name}`; there are {}",
                    target.configuration.system,
                    workload.name(),
                    known.join(", ")
                ))
            })?;
            traits |= one;
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
    let targets = databases(plan);
    let free = disk::free_bytes(folder.path()).map_err(RunError::io("ask how much disk is free"))?;
    let needed = workload.required_disk_bytes(bytes, targets as u64);
    if free < needed {
        return Err(RunError::Environment(format!(
            "{} has {} MB free, this run needs about {} MB for {targets} configurations: choose {}, fewer \
             --systems or variants, or another disk with --out",
            folder.path().display(),
            free / 1_000_000,
            needed / 1_000_000,
            workload.size_option_hint()
        )));
    }
    match machine::available_memory_bytes() {
        Some(memory) if memory < LEAST_MEMORY => Err(RunError::Environment(format!(
            "{} MB of memory are available, an engine needs {} MB at least; stop other programs first",
            memory / 1_000_000,
            LEAST_MEMORY / 1_000_000
        ))),
        _ => Ok(()),
    }
}

fn json<T>(written: serde_json::Result<T>) -> Result<T, RunError> {
    written.map_err(|error| RunError::Environment(format!("failed to write the manifest: {error}")))
}

fn manifest(
    plan: &RunPlan,
    workload: &dyn Workload,
    folder: &RunFolder,
    bench: &RunContext<'_>,
    staging_s: f64,
) -> Result<Manifest, RunError> {
    let staged = bench.staged;
    let mut settings = json(serde_json::to_value(&plan.settings))?;
    if let Some(all) = settings.as_object_mut() {
        all.insert(workload.name().to_owned(), workload.settings());
    }
    Ok(Manifest {
        schema: SCHEMA,
        program: env!("CARGO_PKG_VERSION").to_owned(),
        started: jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
        command: plan.command.clone(),
        machine: machine::detect(folder.path()),
        clock: MonotonicClock::new().resolution(10_000),
        disk_bytes_per_s: bench.disk_bytes_per_s,
        data: json(data::of(&plan.source, staged, staging_s))?,
        configurations: tested(plan, folder),
        workloads: vec![workload.name().into()],
        settings,
        plan: TrialPlan { trials: workload.planned_keys(bench) },
    })
}

/// Describes the configurations, with the results of durability runs in sibling folders for their tiers.
fn tested(plan: &RunPlan, folder: &RunFolder) -> Vec<Configuration> {
    let mut all: Vec<Configuration> = plan.targets.iter().map(configuration).collect();
    if all.iter().any(|one| one.durability.is_some())
        && let Some(beside) = folder.path().parent()
    {
        let shown = load_evidence(beside);
        for one in &mut all {
            if let Some(durability) = &mut one.durability {
                durability.tested = shown.get(&durability.basis).cloned().unwrap_or_default();
            }
        }
    }
    all
}

fn configuration(target: &Target) -> Configuration {
    let from = &target.configuration;
    Configuration {
        id: target.id(),
        title: from.title.clone(),
        variant_title: from.variant_title.clone(),
        embedded: from.embedded,
        transport: from.server.as_ref().map(|server| server.transport.word().to_owned()),
        end_of_life: from.end_of_life,
        outdated: from.outdated.clone(),
        preparation: Some(target.preparation()),
        profile: target.profile(),
        memory_bytes: from.memory_bytes,
        memory_settings: from.memory_settings.iter().map(memory_setting).collect(),
        durability: from.durability.as_ref().map(|tier| Durability {
            tier: tier.name.clone(),
            process_crash: tier.process_crash.clone(),
            power_loss: tier.power_loss.clone(),
            basis: target.durability_basis(),
            tested: Vec::new(),
        }),
        not_made_for: from.serving().and_then(|serving| serving.not_made_for),
        parallel_unit: from.properties.parallel_unit,
        other_questions: other_questions(from),
        ranks_with: ranks_with(from),
        ranked: from.ranked && from.durability.as_ref().is_none_or(|tier| tier.ranked),
        reference: from.reference,
        configuration_digest: from.digest.clone(),
        artifact_digest: target.artifact_digest(),
        machine_libraries: machine_libraries(&target.installed, from.server.as_ref()),
        exceptions: from
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
fn ranks_with(from: &jsonathlon_catalogue::Configuration) -> String {
    let serving = from.serving();
    let is_in_process = from.embedded && serving.is_some();
    let is_logged = serving.is_some_and(|serving| serving.replication_log);
    let words = [
        from.ranks_with.as_str(),
        if is_in_process { "in-process" } else { "" },
        if is_logged { "replication log" } else { "" },
    ];
    words.into_iter().filter(|words| !words.is_empty()).collect::<Vec<_>>().join(", ")
}

fn memory_setting(from: &jsonathlon_catalogue::MemorySetting) -> MemorySetting {
    MemorySetting {
        name: from.name.clone(),
        value: from.value.clone(),
        stock: from.stock.clone(),
        source: from.source.clone(),
    }
}

/// Questions that a configuration answers in another sense than the stated one, with the reason.
fn other_questions(from: &jsonathlon_catalogue::Configuration) -> BTreeMap<String, String> {
    let questions = from.analytics().into_iter().flat_map(|analytics| analytics.questions);
    questions.filter_map(|(name, rules)| Some((name, rules.other_question?))).collect()
}

/// Removes temporary data, however the run ended; a resumed run creates it again.
fn cleaned_up(plan: &RunPlan, folder: &RunFolder, ended: Result<(), RunError>) -> Result<(), RunError> {
    let cleaned = if plan.settings.keep_data { Ok(()) } else { empty(&folder.work()) };
    // The first error is the relevant one.
    ended.and(cleaned)
}

fn empty(work: &Path) -> Result<(), RunError> {
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
    let here = std::env::current_dir().map_err(|source| ResultsError::Io {
        action: "find",
        path: PathBuf::from("."),
        source,
    })?;
    let runs = here.join("runs");
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
            made => return made.map(|()| path.clone()).map_err(failed("create", &path)),
        }
    }
    Ok(path)
}
