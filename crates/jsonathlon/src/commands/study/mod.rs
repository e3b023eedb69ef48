//! `jsonathlon study`: answers a published question with a few runs of the serving workload.

mod list;
mod plan;
mod saved;

use std::path::Path;
use std::process::ExitCode;

use jsonathlon_report::page;
use jsonathlon_report::render::TableStyle;
use jsonathlon_report::study::{FILE, StudyResult};
use jsonathlon_results::folder::{is_run_folder, write_atomic};
use jsonathlon_results::summary::Run;
use jsonathlon_studies::definition::Study;
use jsonathlon_studies::published::published;
use jsonathlon_studies::runs::StudyRun;
use jsonathlon_studies::{built_in, names};
use jsonathlon_workloads::run::default_folder;

use super::print;
use super::run::execute;
use crate::cli::study::StudyArguments;
use crate::exit::{FAILED_CELL, Failure, INTERRUPTED};
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
    let catalogue = super::catalogue(&arguments.catalogue.systems_dir)?;
    let (folder, kept, study) = match &arguments.resume {
        Some(folder) => {
            let (kept, study) = SavedStudy::read(folder)?;
            (folder.clone(), kept, study)
        }
        None => {
            let study = named(arguments.study.as_deref().unwrap_or_default())?;
            let folder = arguments.out.clone().map_or_else(default_folder, Ok)?;
            (folder, SavedStudy::of(arguments), study)
        }
    };
    // All runs are planned and their options checked before the first one starts.
    let planned = StudyPlan::of(&study, &kept, &catalogue)?;
    for note in &planned.notes {
        crate::say!("note: {note}");
    }
    if arguments.resume.is_none() {
        kept.write(&study, &folder)?;
    }
    let interrupt = Interrupt::install()?;
    let count = planned.runs.len();
    let mut runs = Vec::with_capacity(count);
    for (number, (part, systems)) in planned.runs.into_iter().enumerate() {
        if count > 1 {
            crate::say!("run {} of {count}: {}", number + 1, part.name);
        }
        measure(&study, &kept, arguments, &part, &systems, &folder, &interrupt)
            .map_err(|failure| advised(failure, &folder))?;
        let run = Run::read(&folder.join(&part.name))?;
        runs.push((part, run));
    }
    show(&study, &runs, &folder, arguments.markdown)
}

/// Built-in study of a name, or the study in a file that ends in `.toml`.
fn named(name: &str) -> Result<Study, Failure> {
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
    kept: &SavedStudy,
    arguments: &StudyArguments,
    part: &StudyRun,
    systems: &plan::Systems,
    folder: &Path,
    interrupt: &Interrupt,
) -> Result<(), Failure> {
    let folder = &folder.join(&part.name);
    let command = if !is_run_folder(folder) {
        plan::command(study, kept, part, systems, folder, arguments.newer.accept_newer)?
    } else if Run::read(folder)?.open_trials().is_empty() {
        return Ok(());
    } else {
        plan::resuming(kept, folder, arguments.newer.accept_newer)?
    };
    if let Some(failure) = execute(&command, interrupt)?.cut_short {
        return Err(failure);
    }
    // Page of this single run. A failure is not fatal, because the study's answer does not need it.
    if let Err(error) = page::write_own(Run::read(folder)?) {
        crate::say!("there is no page of {}: {error}", folder.display());
    }
    Ok(())
}

/// Replaces the advice of an interrupted run, because the study is resumed as a whole.
fn advised(failure: Failure, folder: &Path) -> Failure {
    if failure.code() != INTERRUPTED {
        return failure;
    }
    Failure::interrupted(format!(
        "what was measured is kept; go on with: jsonathlon study --resume {}",
        folder.display()
    ))
}

/// Prints the finding and writes the study's page. The exit code is success if all runs are complete and no
/// cell failed.
fn show(study: &Study, runs: &[(StudyRun, Run)], folder: &Path, markdown: bool) -> Result<ExitCode, Failure> {
    let finding = StudyResult::of(study, runs, &published()?);
    print(&if markdown { finding.markdown() } else { finding.tables(TableStyle { colour: true }) })?;
    let file = folder.join(FILE);
    write_atomic(&file, finding.page().as_bytes())?;
    crate::say!("the page of this study: {}", file.display());
    let is_rankable = finding.seen.complete && finding.seen.failures.is_empty();
    Ok(if is_rankable { ExitCode::SUCCESS } else { ExitCode::from(FAILED_CELL) })
}
