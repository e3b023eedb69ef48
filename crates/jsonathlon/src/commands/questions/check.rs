//! `jsonathlon questions check`: reports what is missing or misspelt in a folder of questions, and asks
//! systems over the first documents.

use std::{io::Write, path::Path, process::ExitCode};

use jsonathlon_artifacts::Store;
use jsonathlon_catalogue::{Catalogue, Configuration, MemoryProfile, QUESTIONS, TargetKind, UserQuestions};
use jsonathlon_dataset::source::Source;
use jsonathlon_report::agreement;
use jsonathlon_results::summary::Run;
use jsonathlon_schema::record::AnswerStatus;
use jsonathlon_workloads::{
    RunError,
    asking::QuestionSettings,
    questions::{Questions, QuestionsSettings},
    run::{RunPlan, start},
    settings::Settings,
};

use crate::{
    cli::{CatalogueArguments, InstallOptions},
    commands::{
        catalogue, configurations::targets, memory::default_budget, print, scratch, setup::SetupContext,
        worker,
    },
    exit::{FAILED_CELL, Failure},
    interrupt::Interrupt,
    progress::RunProgress,
};

/// Maximum number of documents that systems are asked over.
const DOCUMENTS: usize = 1_000;
/// Timeout of every load and trial, in seconds. A system that exceeds it with a thousand documents is taken
/// to be unable to do the step at all.
const LIMIT_S: f64 = 300.0;

/// Arguments of `jsonathlon questions check`.
pub(super) struct CheckRequest<'a> {
    pub(super) folder: &'a Path,
    pub(super) data: Option<&'a str>,
    pub(super) systems: Option<&'a str>,
    pub(super) newer: &'a InstallOptions,
    pub(super) catalogue: &'a CatalogueArguments,
}

pub(super) fn run(wanted: &CheckRequest<'_>) -> Result<ExitCode, Failure> {
    let own = UserQuestions::read(wanted.folder)?;
    let catalogue = catalogue(&wanted.catalogue.systems_dir)?;
    own.check_systems(&catalogue)?;
    let mut text =
        format!("{}: {} questions, {} folders\n", own.title, own.questions.len(), own.folders.len());
    let mut is_rankable = true;
    for question in &own.questions {
        let (asked, not): (Vec<_>, Vec<_>) =
            own.folders.iter().partition(|folder| folder.asks(&question.name));
        if asked.is_empty() {
            is_rankable = false;
            let missing = own.error(&question.name, "no system has a statement for it");
            text += &format!("{missing}\n");
            continue;
        }
        let names = |folders: &[&jsonathlon_catalogue::UserSystemFolder]| {
            folders.iter().map(|folder| folder.name.as_str()).collect::<Vec<_>>().join(", ")
        };
        text += &format!("  {:<24} {}\n", question.name, names(&asked));
        if !not.is_empty() {
            text += &format!("  {:<24} not asked: {}\n", "", names(&not));
        }
    }
    if own.folders.is_empty() {
        is_rankable = false;
        text += "there is no folder of statements: add one called like a system, as postgresql/\n";
    }
    print(&text)?;
    if let Some(data) = wanted.data.filter(|_| is_rankable) {
        is_rankable = ask(wanted, data, &own, &catalogue)?;
    }
    Ok(if is_rankable { ExitCode::SUCCESS } else { ExitCode::from(FAILED_CELL) })
}

/// Asks each system over the first documents. Returns `true` if every answer is settled and no system gave
/// another one.
fn ask(
    wanted: &CheckRequest<'_>,
    data: &str,
    own: &UserQuestions,
    catalogue: &Catalogue,
) -> Result<bool, Failure> {
    let interrupt = Interrupt::install()?;
    let scratch = scratch("jsonathlon-questions-")?;
    let first = scratch.path().join("first.ndjson");
    write_first(data, &first)?;
    let purpose = SetupContext { workload: QUESTIONS, durability: None, own: Some(own) };
    let configurations = configurations(wanted.systems, purpose, catalogue)?;
    let store = Store::from_environment()?.accepting_newer(wanted.newer.accept_newer);
    let plan = RunPlan {
        source: Source::Path(first),
        settings: Settings {
            rounds: 1,
            load_rounds: Some(1),
            timeout_s: LIMIT_S,
            load_timeout_s: LIMIT_S,
            ..Settings::default()
        },
        targets: targets(configurations, QUESTIONS, &store, &interrupt)?,
        worker: worker()?,
        command: Vec::new(),
    };
    let once =
        QuestionSettings { hot_trials: 1, most_hot_trials: 1, cold: false, ..QuestionSettings::default() };
    let folder = scratch.path().join("run");
    let mut progress = RunProgress::new();
    let mut workload = Questions::new(QuestionsSettings::of(own, once));
    let ended = start(&plan, &mut workload, &folder, &mut progress, &|| interrupt.is_requested());
    progress.finish();
    match ended {
        Err(RunError::Interrupted) => return Err(Failure::interrupted("nothing was kept; check again")),
        other => other?,
    }
    let run = Run::read(&folder)?;
    report_agreements(&run)
}

/// Configurations that are asked: every selected system in its default variants, with its first storage
/// setting.
fn configurations(
    systems: Option<&str>,
    purpose: SetupContext<'_>,
    catalogue: &Catalogue,
) -> Result<Vec<Configuration>, Failure> {
    let selected = match systems {
        None => purpose.usual(catalogue, None)?,
        names => catalogue.select(names)?,
    };
    let chosen: Vec<_> = selected.iter().map(|one| one.system).collect();
    let mut configurations = Vec::new();
    for (one, variants) in selected.iter().zip(purpose.variants(&chosen, "default", TargetKind::Started)?) {
        let Some(storage) = one.system.storages().first() else { continue };
        for variant in variants {
            let make = |variant: &str| {
                Ok::<_, Failure>(one.system.configuration(one.version, variant, &storage.name)?)
            };
            let configuration = purpose.of(purpose.configure(one.system, &variant, make)?)?;
            configurations.push(configuration.with_memory(MemoryProfile::Sized, default_budget())?);
        }
    }
    Ok(configurations)
}

/// Prints how far the answers of a run agree. Returns `true` if every answer is settled and no system gave
/// another one.
fn report_agreements(run: &Run) -> Result<bool, Failure> {
    let mut is_rankable = true;
    let mut text = format!("over the first {DOCUMENTS} documents at most:\n");
    for one in run.agreements() {
        is_rankable &= one.basis.is_settled()
            && one.standings.iter().all(|standing| {
                matches!(standing.answer, AnswerStatus::Same | AnswerStatus::NotAsked)
                    && !agreement::is_disputed_over_its_own(one, standing)
            });
        text += &format!("  {}\n", one.question);
        for note in agreement::notes(one) {
            text += &format!("    {note}\n");
        }
    }
    print(&text)?;
    Ok(is_rankable)
}

fn write_first(data: &str, to: &Path) -> Result<(), Failure> {
    let mut documents = Source::from_argument(data).documents()?;
    let failed =
        |error: std::io::Error| Failure::environment(format!("failed to write {}: {error}", to.display()));
    let mut file = std::io::BufWriter::new(std::fs::File::create(to).map_err(failed)?);
    for _ in 0..DOCUMENTS {
        let Some(line) = documents.next_line()? else { break };
        file.write_all(line).and_then(|()| file.write_all(b"\n")).map_err(failed)?;
    }
    file.flush().map_err(failed)
}
