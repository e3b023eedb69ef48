//! `jsonathlon study`: answers a question with a few runs of one workload.

mod list;
mod plan;
mod saved;

use std::path::Path;
use std::process::ExitCode;

use jsonathlon_report::page;
use jsonathlon_report::study::{FILE, StudyResult};
use jsonathlon_results::folder::{is_run_folder, write_atomic};
use jsonathlon_results::summary::Run;
use jsonathlon_studies::definition::Study;
use jsonathlon_studies::published::published_results;
use jsonathlon_studies::runs::StudyRun;
use jsonathlon_studies::{built_in, names};
use jsonathlon_workloads::run::default_folder;

use super::run::execute;
use super::table_style::table_style;
use super::{print, short_path};
use crate::cli::study::StudyArguments;
use crate::exit::{FAILED_CELL, Failure, INTERRUPTED};
use crate::interrupt::Interrupt;
use plan::{PassedOnOptions, StudyPlan};
use saved::SavedStudy;

/// Argument that lists the studies instead of naming one.
const LIST: &str = "list";

pub(crate) fn run(arguments: &StudyArguments) -> Result<ExitCode, Failure> {
    if arguments.study.as_deref() == Some(LIST) {
        print(&list::list()?)?;
        return Ok(ExitCode::SUCCESS);
    }
    let catalogue = super::load_catalogue(&arguments.catalogue.systems_dir)?;
    let (folder, saved, study) = match &arguments.resume {
        Some(folder) => {
            let (saved, study) = SavedStudy::read(folder)?;
            (folder.clone(), saved, study)
        }
        None => {
            let study = load_study(arguments.study.as_deref().unwrap_or_default())?;
            let folder = arguments.out.clone().map_or_else(default_folder, Ok)?;
            (folder, SavedStudy::from_arguments(arguments), study)
        }
    };
    // All runs are planned and their options checked before the first one starts.
    let plan = StudyPlan::new(&study, &saved, &catalogue)?;
    for note in &plan.notes {
        crate::say!("note: {note}");
    }
    if arguments.resume.is_none() {
        saved.write(&study, &folder)?;
    }
    let interrupt = Interrupt::install()?;
    let count = plan.runs.len();
    let mut runs = Vec::with_capacity(count);
    for (index, (study_run, systems)) in plan.runs.into_iter().enumerate() {
        if count > 1 {
            crate::say!("run {} of {count}: {}", index + 1, study_run.name);
        }
        measure(&study, &saved, arguments, &study_run, &systems, &folder, &interrupt)
            .map_err(|failure| with_study_advice(failure, &folder))?;
        let run = Run::read(&folder.join(&study_run.name))?;
        runs.push((study_run, run));
    }
    show(&study, &runs, &folder, arguments)
}

/// Built-in study of a name, or the study in a file that ends in `.toml`.
fn load_study(name: &str) -> Result<Study, Failure> {
    if name.ends_with(".toml") {
        return Ok(Study::from_file(Path::new(name))?);
    }
    match built_in(name) {
        Some(study) => Ok(study?),
        None => Err(Failure::usage(format!(
            "no study is called `{name}`: there is {}, or a file that ends in .toml",
            names().join(", ")
        ))),
    }
}

/// Starts or resumes one run in the study's folder; skips a run that is complete.
fn measure(
    study: &Study,
    saved: &SavedStudy,
    arguments: &StudyArguments,
    study_run: &StudyRun,
    systems: &plan::Systems,
    folder: &Path,
    interrupt: &Interrupt,
) -> Result<(), Failure> {
    let folder = &folder.join(&study_run.name);
    let passed_on = PassedOnOptions {
        allow_newer: arguments.install.allow_newer,
        wait_quiet: arguments.quiet.wait_quiet,
    };
    let command = if !is_run_folder(folder) {
        plan::command(study, saved, study_run, systems, folder, passed_on)?
    } else if Run::read(folder)?.open_trials().is_empty() {
        return Ok(());
    } else {
        plan::resume_command(study.workload_of(study_run), saved, folder, passed_on)?
    };
    if let Some(failure) = execute(&command, interrupt)?.cut_short {
        return Err(failure);
    }
    // Page of this single run. A failure is not fatal, because the study's answer does not need it.
    if let Err(error) = page::write_page(&Run::read(folder)?, page::PathDisplay::Hidden) {
        crate::say!("failed to write the page of {}: {error}", folder.display());
    }
    Ok(())
}

/// Replaces the advice of an interrupted run, because the study is resumed as a whole.
fn with_study_advice(failure: Failure, folder: &Path) -> Failure {
    if failure.code() != INTERRUPTED {
        return failure;
    }
    Failure::interrupted(format!(
        "finished trials are saved; resume with: jsonathlon study --resume {}",
        folder.display()
    ))
}

/// Prints the tables, writes the study's page, and prints the answer. The exit code is success if all runs are
/// complete and no cell failed.
fn show(
    study: &Study,
    runs: &[(StudyRun, Run)],
    folder: &Path,
    arguments: &StudyArguments,
) -> Result<ExitCode, Failure> {
    let result = StudyResult::new(study, runs, &published_results()?);
    let style = table_style(arguments.tables);
    print(&if arguments.markdown { result.markdown() } else { result.tables(style) })?;
    let file = folder.join(FILE);
    write_atomic(&file, result.page().as_bytes())?;
    match arguments.markdown {
        true => crate::say!("the page of this study: {}", file.display()),
        false => print(&result.closing_answer(short_path(&file), style))?,
    }
    let is_rankable = result.observations.complete && result.observations.failures.is_empty();
    Ok(if is_rankable { ExitCode::SUCCESS } else { ExitCode::from(FAILED_CELL) })
}
