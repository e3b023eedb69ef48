//! `jsonathlon study`: answers a question with a few runs of one workload.

mod list;
mod plan;
mod saved;

use std::path::Path;
use std::process::ExitCode;

use jsonathlon_report::study::{FILE, StudyResult};
use jsonathlon_results::folder::write_atomic;
use jsonathlon_results::summary::Run;
use jsonathlon_studies::definition::Study;
use jsonathlon_studies::published::published_results;
use jsonathlon_studies::runs::StudyRun;
use jsonathlon_studies::{built_in, names};
use jsonathlon_workloads::run::default_folder;

use super::part_run::{PassedOnOptions, complete_run, with_resume_advice};
use super::table_style::table_style;
use super::{print, short_path};
use crate::cli::study::StudyArguments;
use crate::exit::{FAILED_CELL, Failure};
use crate::interrupt::Interrupt;
use plan::StudyPlan;
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
            (folder, SavedStudy::from_arguments(arguments, &study), study)
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
    let passed_on = PassedOnOptions {
        systems_dir: saved.systems_dir.clone(),
        allow_newer: arguments.install.allow_newer,
        wait_quiet: arguments.quiet.wait_quiet,
    };
    let interrupt = Interrupt::install()?;
    let count = plan.runs.len();
    let mut runs = Vec::with_capacity(count);
    for (index, (study_run, systems)) in plan.runs.into_iter().enumerate() {
        if count > 1 {
            crate::say!("run {} of {count}: {}", index + 1, study_run.name);
        }
        let run_folder = folder.join(&study_run.name);
        let command = || plan::command(&study, &study_run, &systems, &run_folder, &saved, &passed_on);
        complete_run(&run_folder, command, &passed_on, &interrupt)
            .map_err(|failure| with_resume_advice(failure, "study", &folder))?;
        let run = Run::read(&run_folder)?;
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
