//! `jsonathlon run`.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use jsonathlon_dataset::source::Source;
use jsonathlon_measure::machine::memory_bytes;
use jsonathlon_report::draw::Look;
use jsonathlon_report::format;
use jsonathlon_report::page;
use jsonathlon_report::run::summed_up;
use jsonathlon_results::folder::read_manifest;
use jsonathlon_results::ranking;
use jsonathlon_results::record::Verdict;
use jsonathlon_results::summary::Run;
use jsonathlon_systems::catalogue::{Setting, select_variants};
use jsonathlon_systems::{Catalogue, Configuration, OwnQuestions, Profile, Store, Transport};
use jsonathlon_workloads::RunError;
use jsonathlon_workloads::pace::Enough;
use jsonathlon_workloads::run::{Plan, default_folder, resume, start};
use jsonathlon_workloads::settings::{PageCache, Settings};
use jsonathlon_workloads::target::Target;
use jsonathlon_workloads::workload::Workload;

use super::elsewhere::{self, Wanted};
use super::workload;
use super::{catalogue, install, print, worker};
use crate::cli::{self, ProfileChoice, RunArguments, RunCommand};
use crate::exit::{FAILED_CELL, Failure};
use crate::interrupt::Interrupt;
use crate::progress::RunProgress;

/// What the command line asks for: the arguments that all workloads share, and the workload.
pub(super) struct Asked<'a> {
    pub(super) arguments: &'a RunArguments,
    /// Documents that the workload makes for itself.
    pub(super) source: Option<Source>,
    pub(super) usual: Usual,
    pub(super) workload: Box<dyn Workload>,
    /// A user's own folder of questions, which says how systems are set up.
    pub(super) own: Option<OwnQuestions>,
}

/// What a workload takes that was not told.
pub(super) struct Usual {
    /// Systems; the embedded engines where none are named.
    pub(super) systems: Option<&'static str>,
    /// Rounds.
    pub(super) rounds: u32,
    /// When there are enough of them.
    pub(super) enough: Enough,
    /// Rounds that begin with a load.
    pub(super) load_rounds: Option<u32>,
    /// The durability tier, of a workload that has one.
    pub(super) durability: Option<String>,
    /// Bytes of memory that each system may use; half of the machine's where this is none.
    pub(super) memory: Option<u64>,
    /// Bytes to which each system is held together with the page cache, where that is asked for.
    pub(super) most_memory: Option<u64>,
}

/// Bytes of memory of systems whose speed is not measured. Servers that set less up start sooner, and these workloads
/// start many.
pub(super) const UNTIMED_MEMORY: u64 = 4_000_000_000;

pub(crate) fn run(command: &RunCommand) -> Result<ExitCode, Failure> {
    let json = workload::asked(command)?.arguments.json;
    let folder = carried_out(command, &Interrupt::install()?)?;
    show(&folder, json)
}

/// Does what a command asks for, and gives the folder of the run.
pub(super) fn carried_out(command: &RunCommand, interrupt: &Interrupt) -> Result<PathBuf, Failure> {
    let asked = workload::asked(command)?;
    let arguments = asked.arguments;
    let catalogue = catalogue(&arguments.catalogue.systems_dir)?;
    let store = Store::from_environment()?.accepting_newer(arguments.newer.accept_newer);
    let request = match &arguments.resume {
        Some(folder) => continued(folder, &catalogue, &store, interrupt)?,
        None => fresh(asked, &catalogue, interrupt)?,
    };
    let mut workload = request.workload;
    let mut targets = targets(request.configurations, workload.part(), &store, interrupt)?;
    targets.extend(request.elsewhere);
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
        resume(&plan, &mut *workload, &request.folder, &mut progress, &cancelled)
    } else {
        start(&plan, &mut *workload, &request.folder, &mut progress, &cancelled)
    };
    progress.finish();
    match outcome {
        Err(RunError::Interrupted) => Err(interrupted(&request.folder)),
        other => Ok(other.map(|()| request.folder)?),
    }
}

/// What a run may take that is told nothing about that.
const USUAL_BUDGET_S: f64 = 85.0;
/// What one may take that is to be precise, and is told no more.
const PRECISION_BUDGET_S: f64 = 1800.0;

/// A run before its systems are installed.
struct Request {
    workload: Box<dyn Workload>,
    source: Source,
    settings: Settings,
    configurations: Vec<Configuration>,
    /// Systems that need not be installed.
    elsewhere: Vec<Target>,
    folder: PathBuf,
}

fn fresh(asked: Asked<'_>, catalogue: &Catalogue, interrupt: &Interrupt) -> Result<Request, Failure> {
    let Asked { arguments, source, usual: own, workload, own: folder_of_questions } = asked;
    let scale = arguments.scale.unwrap_or(cli::USUAL_SCALE);
    let source = match (source, &arguments.data) {
        (Some(source), _) => source,
        (None, None) => Source::Generated {
            seed: arguments.seed,
            start: 0,
            documents: scale,
            malformed: arguments.malformed,
        },
        (None, Some(text)) => absolute(Source::from_argument(text))?,
    };
    if arguments.malformed > scale {
        return Err(Failure::usage(format!(
            "{} malformed lines cannot be planted among {} documents",
            arguments.malformed, scale
        )));
    }
    let usual = Settings::default();
    let mut settings = Settings {
        rounds: arguments.rounds.unwrap_or(own.rounds),
        enough: own.enough,
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
        page_cache: own.most_memory.map_or(PageCache::Free, PageCache::capped),
        ..usual
    };
    if let PageCache::Uncapped(why) = &settings.page_cache {
        anstream::eprintln!(
            "note: the page cache is not capped, since this machine does not let it be: {why}"
        );
    }
    let folder = match &arguments.out {
        Some(folder) => folder.clone(),
        None => default_folder()?,
    };
    let memory = Memory::of(arguments, own.memory)?;
    let purpose = Purpose {
        workload: workload.part(),
        durability: own.durability.as_deref(),
        own: folder_of_questions.as_ref(),
    };
    if let Some(own) = purpose.own {
        own.check_systems(catalogue)?;
    }
    let mut configurations = configurations(arguments, own.systems, purpose, catalogue)?
        .into_iter()
        .map(|configuration| memory.set(purpose.of(configuration)?.reached_over(settings.transport)?))
        .collect::<Result<Vec<_>, _>>()?
        .concat();
    if !arguments.no_yardstick {
        configurations.extend(references(catalogue, workload.part(), &configurations)?);
    }
    // Last, because others are asked for it: what is wrong with the rest is known by now.
    let wanted = Wanted {
        systems: &arguments.system,
        restart_commands: &arguments.restart_command,
        variants: &arguments.variants,
        storage: &arguments.storage,
        transport: settings.transport,
        memory: &memory,
        purpose,
    };
    let elsewhere;
    (settings.elsewhere, elsewhere) = elsewhere::find(&wanted, catalogue, interrupt)?;
    Ok(Request { workload, source, settings, configurations, elsewhere, folder })
}

/// What configurations are wanted for.
#[derive(Debug, Clone, Copy)]
pub(super) struct Purpose<'a> {
    /// The part of systems' folders that is run.
    pub(super) workload: &'a str,
    /// The durability tier, where the workload has such tiers.
    pub(super) durability: Option<&'a str>,
    /// The user's folder of questions, which then says which variants there are.
    pub(super) own: Option<&'a OwnQuestions>,
}

impl Purpose<'_> {
    /// A configuration for it.
    pub(super) fn of(self, configuration: Configuration) -> Result<Configuration, Failure> {
        let configuration = configuration.only(&[self.workload]);
        match self.durability {
            Some(tier) if !configuration.reference => Ok(configuration.with_durability(tier)?),
            _ => Ok(configuration),
        }
    }
}

/// When there are enough rounds, as it was asked for.
pub(super) fn enough(arguments: &RunArguments) -> Enough {
    match (arguments.rounds, arguments.precision, arguments.budget) {
        (Some(_), _, _) => Enough::Rounds,
        (None, Some(share), budget) => {
            Enough::Precision { share, seconds: budget.unwrap_or(PRECISION_BUDGET_S) }
        }
        (None, None, Some(seconds)) => Enough::Budget { seconds, strict: true },
        (None, None, None) => Enough::Budget { seconds: USUAL_BUDGET_S, strict: false },
    }
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
fn configurations(
    arguments: &RunArguments,
    usual_systems: Option<&str>,
    purpose: Purpose<'_>,
    catalogue: &Catalogue,
) -> Result<Vec<Configuration>, Failure> {
    let selected = match &arguments.systems {
        None if !arguments.system.is_empty() => Vec::new(),
        None => purpose.usual(catalogue, usual_systems)?,
        names => catalogue.select(names.as_deref())?,
    };
    let systems: Vec<_> = selected.iter().map(|one| one.system).collect();
    if !systems.is_empty() {
        catalogue.running(purpose.workload, &systems)?;
    }
    let variants = if systems.is_empty() {
        Vec::new()
    } else {
        purpose.variants(&systems, &arguments.variants, Setting::Started)?
    };
    let wanted: Vec<&str> = arguments.storage.split(',').map(str::trim).filter(|s| !s.is_empty()).collect();
    let known: BTreeSet<&str> =
        systems.iter().flat_map(|system| system.storages()).map(|storage| storage.name.as_str()).collect();
    let is_unknown = |name: &&&str| **name != "all" && !known.contains(**name) && !systems.is_empty();
    if let Some(unknown) = wanted.iter().find(is_unknown) {
        let known: Vec<&str> = known.into_iter().collect();
        return Err(Failure::usage(format!(
            "none of the selected systems has a storage setting `{unknown}`; there is {}, or all",
            known.join(", ")
        )));
    }
    let mut configurations = Vec::new();
    for (one, variants) in selected.iter().zip(variants) {
        let before = configurations.len();
        for variant in &variants {
            for storage in one.system.storages() {
                if wanted.iter().any(|name| *name == "all" || *name == storage.name) {
                    let make = |variant: &str| {
                        Ok::<_, Failure>(one.system.configuration(one.version, variant, &storage.name)?)
                    };
                    configurations.push(purpose.set_up(one.system, variant, make)?);
                }
            }
        }
        if configurations.len() == before {
            anstream::eprintln!(
                "note: {} is left out: {}",
                one.system.name(),
                purpose.lacks(one.system, arguments)
            );
        }
    }
    if configurations.is_empty() && arguments.system.is_empty() {
        return Err(Failure::usage("no system is left: choose other --systems, --variants or --storage"));
    }
    Ok(configurations)
}

/// How much memory systems may use, and by which profile.
pub(super) struct Memory {
    profiles: Vec<Profile>,
    budget_bytes: u64,
}

impl Memory {
    /// What the command line says of it; `usual` is what a system may use that is told nothing.
    fn of(arguments: &RunArguments, usual: Option<u64>) -> Result<Self, Failure> {
        let profiles = match arguments.profile {
            ProfileChoice::Sized => vec![Profile::Sized],
            ProfileChoice::Stock => vec![Profile::Stock],
            ProfileChoice::Both => vec![Profile::Sized, Profile::Stock],
        };
        if arguments.memory.is_some() && profiles == [Profile::Stock] {
            return Err(Failure::usage(
                "--memory is the budget of the profile `sized`, and `stock` has the package's own settings: leave \
                 one of the two out",
            ));
        }
        let machine = memory_bytes().unwrap_or(0);
        if let Some(wanted) = arguments.memory.filter(|wanted| *wanted > machine && machine > 0) {
            return Err(Failure::usage(format!(
                "--memory: {} is more than this machine has ({})",
                format::bytes(wanted as f64),
                format::bytes(machine as f64)
            )));
        }
        let half = usual_budget();
        let budget_bytes = arguments.memory.unwrap_or_else(|| usual.map_or(half, |usual| usual.min(half)));
        Ok(Self { profiles, budget_bytes })
    }

    /// The configuration with its memory set, once a profile.
    pub(super) fn set(&self, configuration: Configuration) -> Result<Vec<Configuration>, Failure> {
        let one = |profile: &Profile| Ok(configuration.clone().with_memory(*profile, self.budget_bytes)?);
        let mut found = self.profiles.iter().map(one).collect::<Result<Vec<_>, Failure>>()?;
        // Where nothing was set, by address or for a reference row, profiles are one.
        if configuration.reference || found.iter().all(|one| one.profile.is_none()) {
            found.truncate(1);
        }
        Ok(found)
    }
}

/// Half of the machine's memory, in whole steps of 256 MiB so that machines of one kind have the same.
pub(super) fn usual_budget() -> u64 {
    const STEP: u64 = 256 << 20;
    (memory_bytes().unwrap_or(0) / 2 / STEP * STEP).max(STEP)
}

/// Every configuration of the reference rows of a workload that was not asked for by name already.
fn references(
    catalogue: &Catalogue,
    workload: &str,
    there: &[Configuration],
) -> Result<Vec<Configuration>, Failure> {
    let mut found = Vec::new();
    for one in catalogue.references().into_iter().filter(|one| one.system.runs(workload)) {
        if there.iter().any(|configuration| configuration.system == one.system.name()) {
            continue;
        }
        for variant in select_variants(&[one.system], "default", Setting::Started)?.into_iter().flatten() {
            for storage in one.system.storages().iter().take(1) {
                found.push(one.system.configuration(one.version, &variant.name, &storage.name)?);
            }
        }
    }
    Ok(found)
}

/// The run in `folder` as it was planned.
fn continued(
    folder: &Path,
    catalogue: &Catalogue,
    store: &Store,
    interrupt: &Interrupt,
) -> Result<Request, Failure> {
    let manifest = read_manifest(folder)?;
    let unreadable = |error: serde_json::Error| {
        Failure::usage(format!("the manifest of {} cannot be understood: {error}", folder.display()))
    };
    let workload = workload::again(&manifest)?;
    let durability = workload::durability(&manifest);
    let own = workload::own_questions(&manifest)?;
    let purpose = Purpose { workload: workload.part(), durability: durability.as_deref(), own: own.as_ref() };
    let settings: Settings = serde_json::from_value(manifest.settings).map_err(unreadable)?;
    let mut configurations = Vec::with_capacity(manifest.configurations.len());
    let mut there = elsewhere::again(&settings, catalogue, &manifest.configurations, purpose, interrupt)?;
    let placed =
        |then: &jsonathlon_results::manifest::Configuration| elsewhere::is_elsewhere(&then.id.version);
    for then in manifest.configurations.iter().filter(|then| !placed(then)) {
        let system = catalogue.get(&then.id.system)?;
        // A newer version that was accepted in its place goes by the name of the pinned one here.
        let pinned = system.artifacts().iter().find(|artifact| store.version(artifact) == then.id.version);
        let version = pinned.map_or(then.id.version.as_str(), |artifact| &artifact.version);
        let make =
            |variant: &str| Ok::<_, Failure>(system.configuration(version, variant, &then.id.storage)?);
        let now = purpose.of(purpose.set_up(system, &then.id.variant, make)?)?;
        configurations.push(as_before(now.reached_over(settings.transport)?, then)?);
    }
    Ok(Request {
        workload,
        source: serde_json::from_value(manifest.data.origin).map_err(unreadable)?,
        settings,
        configurations,
        elsewhere: std::mem::take(&mut there),
        folder: folder.to_owned(),
    })
}

/// The same with the memory that it had in the run.
pub(super) fn as_before(
    now: Configuration,
    then: &jsonathlon_results::manifest::Configuration,
) -> Result<Configuration, Failure> {
    Ok(match then.profile {
        Some(ranking::Profile::Sized) => {
            now.with_memory(Profile::Sized, then.memory_bytes.unwrap_or_else(usual_budget))?
        }
        Some(ranking::Profile::Stock) => now.with_memory(Profile::Stock, 0)?,
        None => now,
    })
}

pub(super) fn targets(
    configurations: Vec<Configuration>,
    workload: &str,
    store: &Store,
    interrupt: &Interrupt,
) -> Result<Vec<Target>, Failure> {
    let mut targets = Vec::with_capacity(configurations.len());
    for configuration in configurations {
        let system = configuration.system.clone();
        let Some(artifact) = &configuration.artifact else {
            return Err(Failure::usage(format!(
                "{system} {} is in no registry: name a server of it by --system {system}=ADDRESS",
                configuration.version
            )));
        };
        let no_part =
            || Failure::usage(format!("{system} has no {workload} folder; leave it out of --systems"));
        if !configuration.parts.contains_key(workload) {
            return Err(no_part());
        }
        let installed = install(store, artifact, configuration.server.as_ref(), interrupt)?;
        targets.push(Target::new(configuration.really(&installed), workload, installed).ok_or_else(no_part)?);
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

/// Prints what the run found and writes its page; the exit code tells whether every cell is well.
fn show(folder: &Path, json: bool) -> Result<ExitCode, Failure> {
    let run = Run::read(folder)?;
    let summary = run.summary();
    let text = if json {
        serde_json::to_string_pretty(&summary)
            .map(|text| text + "\n")
            .map_err(|error| Failure::environment(format!("failed to write the summary: {error}")))?
    } else {
        summed_up(&run, &summary, Look { colour: true })
    };
    print(&text)?;
    match page::write_own(run) {
        Ok(page) if json => anstream::eprintln!("the page of this run: {}", page.display()),
        Ok(page) => print(&format!("\nthe page of this run: {}\n", page.display()))?,
        // The figures are safe in the folder; a page of them can be made at any time.
        Err(error) => anstream::eprintln!(
            "there is no page: {error}; make it later with: jsonathlon report {}",
            folder.display()
        ),
    }
    let is_disputed = summary.results.iter().any(|entry| entry.verdict == Verdict::Disputed);
    Ok(if summary.failures.is_empty() && summary.complete && !is_disputed {
        ExitCode::SUCCESS
    } else {
        ExitCode::from(FAILED_CELL)
    })
}
