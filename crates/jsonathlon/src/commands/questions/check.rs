//! `jsonathlon questions check`: reports what is missing or misspelt in a folder of questions, and asks
//! systems over the first documents.

use std::{io::Write, path::Path, process::ExitCode};

use jsonathlon_artifacts::ArtifactStore;
use jsonathlon_catalogue::{Catalogue, Configuration, MemoryProfile, QUESTIONS, TargetKind, UserQuestions};
use jsonathlon_dataset::source::Source;
use jsonathlon_report::agreement;
use jsonathlon_results::summary::Run;
use jsonathlon_schema::{
    record::AnswerStatus,
    settings::{RunSettings, questions::QuestionSettings},
};
use jsonathlon_workloads::{
    RunError,
    questions::{Questions, build_settings},
    quiet_machine::BusyMachinePolicy,
    run::{RunPlan, start},
};

use crate::{
    cli::{CatalogueArguments, InstallOptions, run_options::InputArguments},
    commands::{
        configurations::install_targets, load_catalogue, memory::default_budget_bytes, print, scratch,
        setup::SetupContext, worker_command,
    },
    exit::{FAILED_CELL, Failure},
    interrupt::Interrupt,
    progress::RunProgress,
};

/// Maximum number of documents that systems are asked over.
const DOCUMENTS: usize = 1_000;
/// Timeout of every load and trial, in seconds. A system that exceeds it with a thousand documents is taken
/// to be unable to do the step at all.
const TIMEOUT_S: f64 = 300.0;

/// Arguments of `jsonathlon questions check`.
pub(super) struct CheckRequest<'a> {
    pub(super) folder: &'a Path,
    pub(super) data: Option<&'a str>,
    pub(super) input: InputArguments,
    pub(super) systems: Option<&'a str>,
    pub(super) install: &'a InstallOptions,
    pub(super) catalogue: &'a CatalogueArguments,
}

pub(super) fn run(request: &CheckRequest<'_>) -> Result<ExitCode, Failure> {
    let questions = UserQuestions::read(request.folder)?;
    let catalogue = load_catalogue(&request.catalogue.systems_dir)?;
    questions.check_systems(&catalogue)?;
    let (question_count, folder_count) = (questions.questions.len(), questions.folders.len());
    let mut text = format!("{}: {question_count} questions, {folder_count} folders\n", questions.title);
    let mut is_rankable = true;
    for question in &questions.questions {
        let (asked, unasked): (Vec<_>, Vec<_>) =
            questions.folders.iter().partition(|folder| folder.asks(&question.name));
        if asked.is_empty() {
            is_rankable = false;
            let missing = questions.error(&question.name, "no system has a statement for it");
            text += &format!("{missing}\n");
            continue;
        }
        let folder_names = |folders: &[&jsonathlon_catalogue::UserSystemFolder]| {
            folders.iter().map(|folder| folder.name.as_str()).collect::<Vec<_>>().join(", ")
        };
        text += &format!("  {:<24} {}\n", question.name, folder_names(&asked));
        if !unasked.is_empty() {
            text += &format!("  {:<24} not asked: {}\n", "", folder_names(&unasked));
        }
    }
    if questions.folders.is_empty() {
        is_rankable = false;
        text += "there is no folder of statements: add one called like a system, as postgresql/\n";
    }
    print(&text)?;
    if let Some(data) = request.data.filter(|_| is_rankable) {
        is_rankable = ask_systems(request, data, &questions, &catalogue)?;
    }
    Ok(if is_rankable { ExitCode::SUCCESS } else { ExitCode::from(FAILED_CELL) })
}

/// Asks each system over the first documents. Returns `true` if every answer is settled and no system gave
/// another one.
fn ask_systems(
    request: &CheckRequest<'_>,
    data: &str,
    questions: &UserQuestions,
    catalogue: &Catalogue,
) -> Result<bool, Failure> {
    let interrupt = Interrupt::install()?;
    let scratch = scratch("jsonathlon-questions-")?;
    let sample_path = scratch.path().join("first.ndjson");
    let source = Source::from_argument(data).with_input(request.input.options());
    write_sample(&source, &sample_path)?;
    let context = SetupContext {
        workload: QUESTIONS,
        durability: None,
        user_questions: Some(questions),
        reports: None,
    };
    let configurations = configurations(request.systems, context, catalogue)?;
    let store = ArtifactStore::from_environment()?.with_newer_versions(request.install.allow_newer);
    let plan = RunPlan {
        source: Source::lines_of(sample_path),
        settings: RunSettings {
            rounds: 1,
            load_rounds: Some(1),
            timeout_s: TIMEOUT_S,
            load_timeout_s: TIMEOUT_S,
            ..RunSettings::default()
        },
        targets: install_targets(configurations, QUESTIONS, &store, &interrupt)?,
        worker: worker_command()?,
        command: Vec::new(),
        busy_machine: BusyMachinePolicy::Ignore,
    };
    let settings =
        QuestionSettings { hot_trials: 1, max_hot_trials: 1, cold: false, ..QuestionSettings::default() };
    let folder = scratch.path().join("run");
    let mut progress = RunProgress::new();
    let mut workload = Questions::new(build_settings(questions, settings));
    let outcome = start(&plan, &mut workload, &folder, &mut progress, &|| interrupt.is_requested());
    progress.finish();
    match outcome {
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
    context: SetupContext<'_>,
    catalogue: &Catalogue,
) -> Result<Vec<Configuration>, Failure> {
    let selected = match systems {
        None => context.default_systems(catalogue, None)?,
        names => catalogue.select(names)?,
    };
    let selected_systems: Vec<_> = selected.iter().map(|selection| selection.system).collect();
    let mut configurations = Vec::new();
    let variants = context.variants(&selected_systems, "default", TargetKind::Started)?;
    for (selection, variants) in selected.iter().zip(variants) {
        let Some(storage) = selection.system.storages().first() else { continue };
        for variant in variants {
            let build = |variant: &str| {
                Ok::<_, Failure>(selection.system.configuration(selection.version, variant, &storage.name)?)
            };
            let configuration = context.apply_to(context.configure(selection.system, &variant, build)?)?;
            configurations.push(configuration.with_memory(MemoryProfile::Sized, default_budget_bytes())?);
        }
    }
    Ok(configurations)
}

/// Prints how far the answers of a run agree. Returns `true` if every answer is settled and no system gave
/// another one.
fn report_agreements(run: &Run) -> Result<bool, Failure> {
    let mut is_rankable = true;
    let mut text = format!("over the first {DOCUMENTS} documents at most:\n");
    for agreement in run.agreements() {
        is_rankable &= agreement.basis.is_settled()
            && agreement.answers.iter().all(|standing| {
                matches!(standing.answer, AnswerStatus::Same | AnswerStatus::NotAsked)
                    && !agreement::is_disputed_over_further_documents(agreement, standing)
            });
        text += &format!("  {}\n", agreement.question);
        for note in agreement::notes(agreement) {
            text += &format!("    {note}\n");
        }
    }
    print(&text)?;
    Ok(is_rankable)
}

fn write_sample(source: &Source, path: &Path) -> Result<(), Failure> {
    let mut documents = source.documents()?;
    let write_error =
        |error: std::io::Error| Failure::environment(format!("failed to write {}: {error}", path.display()));
    let mut file = std::io::BufWriter::new(std::fs::File::create(path).map_err(write_error)?);
    for _ in 0..DOCUMENTS {
        let Some(line) = documents.next_line()? else { break };
        file.write_all(line).and_then(|()| file.write_all(b"\n")).map_err(write_error)?;
    }
    file.flush().map_err(write_error)
}
