//! `jsonathlon check`: tests of the benchmark itself, i.e. its false alarms and how metrics grow.

use std::{path::Path, process::ExitCode};

use jsonathlon_artifacts::ArtifactStore;
use jsonathlon_catalogue::{ANALYTICS, Catalogue, Configuration, MemoryProfile, TargetKind, select_variants};
use jsonathlon_dataset::source::Source;
use jsonathlon_report::{render::TableStyle, self_checks};
use jsonathlon_results::{
    false_alarms::{exceeds_chance, self_comparisons},
    scaling::growth,
    summary::{Run, Summary},
};
use jsonathlon_schema::{metric::SECONDS, settings::RunSettings};
use jsonathlon_workloads::{
    RunError,
    analytics::{Analytics, AnalyticsSettings},
    run::{RunPlan, default_folder, start},
};

use super::{
    configurations::install_targets, load_catalogue, memory::default_budget_bytes, print, worker_command,
};
use crate::{
    cli::{CheckAction, CheckArguments, GrowthArguments, NoiseArguments},
    exit::{FAILED_CELL, Failure},
    interrupt::Interrupt,
    progress::RunProgress,
};

/// Number of questions of the analytics workload. Each is compared once per block of rounds.
const QUESTIONS: u32 = 6;
/// Suffix of the variant's name on the second side.
const SECOND_SUFFIX: &str = "-again";

pub(crate) fn run(arguments: &CheckArguments) -> Result<ExitCode, Failure> {
    match &arguments.action {
        CheckAction::Noise(arguments) => noise(arguments),
        CheckAction::Growth(arguments) => compare_growth(arguments),
    }
}

/// Compares one system with itself. Two configurations that differ only in the variant's name take turns, and
/// are compared like any two systems.
fn noise(arguments: &NoiseArguments) -> Result<ExitCode, Failure> {
    let catalogue = load_catalogue(&arguments.catalogue.systems_dir)?;
    let configuration = chosen_configuration(arguments, &catalogue)?;
    let mut second = configuration.clone();
    second.variant.push_str(SECOND_SUFFIX);

    let interrupt = Interrupt::install()?;
    let blocks = arguments.comparisons.div_ceil(QUESTIONS);
    // Only hot trials are compared; cold ones would cost a restart before each question.
    let settings =
        RunSettings { rounds: arguments.rounds * blocks, load_rounds: Some(1), ..RunSettings::default() };
    let mut workload = Analytics::new(AnalyticsSettings { cold: false, ..AnalyticsSettings::default() });
    let title = format!("{} {}", configuration.system, configuration.variant);
    let plan = RunPlan {
        source: Source::Generated { seed: 1, start: 0, documents: arguments.scale, malformed: 0 },
        settings,
        targets: install_targets(
            vec![configuration, second],
            ANALYTICS,
            &ArtifactStore::from_environment()?,
            &interrupt,
        )?,
        worker: worker_command()?,
        command: std::env::args().collect(),
        busy_machine: arguments.quiet.policy(),
    };
    let folder = match &arguments.out {
        Some(folder) => folder.clone(),
        None => default_folder()?,
    };
    let mut progress = RunProgress::new();
    let outcome = start(&plan, &mut workload, &folder, &mut progress, &|| interrupt.is_requested());
    progress.finish();
    match outcome {
        Err(RunError::Interrupted) => {
            return Err(Failure::interrupted(format!(
                "a check is not resumed: remove {} and start it again",
                folder.display()
            )));
        }
        other => other?,
    }
    report_noise(&folder, &title, arguments.rounds)
}

/// Configuration that is compared with itself: the one that the options name, otherwise the first system in
/// its representative variant.
fn chosen_configuration(arguments: &NoiseArguments, catalogue: &Catalogue) -> Result<Configuration, Failure> {
    let selected = catalogue.select(arguments.system.as_deref())?;
    let selection = match (selected.as_slice(), &arguments.system) {
        ([selection], _) | ([selection, ..], None) => selection,
        _ => return Err(Failure::usage("one system is compared with itself: give --system one name")),
    };
    let system = selection.system;
    let variant = match arguments.variant.as_deref() {
        None => system.representative_variant().ok_or_else(|| {
            Failure::usage(format!("{} has no variant that could be compared with itself", system.name()))
        })?,
        Some(name) => {
            let variants = select_variants(&[system], name, TargetKind::Started)?;
            let &[variant] = variants.first().map(Vec::as_slice).unwrap_or_default() else {
                return Err(Failure::usage(format!(
                    "one variant of {} is compared with itself: give --variant one name",
                    system.name()
                )));
            };
            variant
        }
    };
    let storage = system
        .storages()
        .first()
        .ok_or_else(|| Failure::usage(format!("{} has no storage setting", system.name())))?;
    let configuration = system.configuration(selection.version, &variant.name, &storage.name)?;
    Ok(configuration.with_memory(MemoryProfile::Sized, default_budget_bytes())?)
}

/// Prints the comparisons of a finished run, `rounds` rounds each. The exit code is success if there are no
/// more false alarms than chance allows.
fn report_noise(folder: &Path, title: &str, rounds: u32) -> Result<ExitCode, Failure> {
    let run = Run::read(folder)?;
    let comparisons = self_comparisons(&run, &SECONDS, rounds);
    let failures = run.summary().failures;
    if let Some(failure) = failures.first() {
        crate::say!("{} trials failed; the first: {}", failures.len(), failure.error);
    }
    print(&self_checks::noise(title, rounds, &comparisons, TableStyle::COLOURED))?;
    print(&format!("  all trials: {}\n", run.path))?;
    let has_passed = failures.is_empty() && !comparisons.is_empty() && !exceeds_chance(&comparisons);
    Ok(if has_passed { ExitCode::SUCCESS } else { ExitCode::from(FAILED_CELL) })
}

/// All pairs of different runs, each pair once.
fn pairs(runs: &[Summary]) -> impl Iterator<Item = (&Summary, &Summary)> {
    runs.iter()
        .enumerate()
        .flat_map(|(index, first)| runs.iter().skip(index + 1).map(move |second| (first, second)))
}

fn compare_growth(arguments: &GrowthArguments) -> Result<ExitCode, Failure> {
    let runs = arguments.runs.iter().map(|run| Ok(Run::read(run)?.summary()));
    let runs = runs.collect::<Result<Vec<_>, Failure>>()?;
    if let Some((first, second)) = pairs(&runs).find(|(a, b)| a.data.documents == b.data.documents) {
        return Err(Failure::usage(format!(
            "{} and {} are both of {} documents: give runs of different --scale, one of each",
            first.run, second.run, first.data.documents
        )));
    }
    let differs = |(a, b): &(&Summary, &Summary)| a.machine != b.machine || a.program != b.program;
    if let Some((first, second)) = pairs(&runs).find(differs) {
        crate::say!(
            "note: {} and {} are of different machines or program versions; what differs between them is not \
             growth alone",
            first.run,
            second.run
        );
    }
    let growths = growth(&runs);
    if growths.is_empty() {
        return Err(Failure::usage(
            "these runs have no configuration in common at two scales: give runs of one system with \
             different --scale",
        ));
    }
    print(&self_checks::growth(&growths, TableStyle::COLOURED))?;
    Ok(ExitCode::SUCCESS)
}
