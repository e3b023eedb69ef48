//! `jsonathlon choose`: which system should hold a user's documents. Plans runs of several workloads over them,
//! executes those in one folder, and decides by what the user needs.

mod begin;
mod documents;
mod extent;
mod measure;
mod new;
mod new_folder;
mod participants;
mod plan;
mod rate;
mod result;
mod saved;
mod window;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use jsonathlon_choose::facts::Part;
use jsonathlon_dataset::source::InputOptions;
use jsonathlon_report::format;
use jsonathlon_results::folder::is_run_folder;
use jsonathlon_workloads::expected_time::rough_duration;

use super::part_run::{PassedOnOptions, describe_error, parse_command, with_resume_advice};
use super::{load_catalogue, workload};
use crate::cli::choose::{ChooseAction, ChooseArguments, ChooseCommand};
use crate::exit::{Failure, INTERRUPTED};
use crate::interrupt::Interrupt;
use measure::measure;
use plan::outline;
use saved::Choice;

pub(crate) fn run(command: &ChooseCommand) -> Result<ExitCode, Failure> {
    match &command.action {
        Some(ChooseAction::New { file, data, input }) => new::run(file, data, *input),
        None => choose(&command.arguments),
    }
}

fn choose(arguments: &ChooseArguments) -> Result<ExitCode, Failure> {
    match &arguments.resume {
        Some(folder) => resume(arguments, folder),
        None => start(arguments),
    }
}

fn start(arguments: &ChooseArguments) -> Result<ExitCode, Failure> {
    if arguments.prove {
        prepare_crashes()?;
    }
    let interrupt = Interrupt::install()?;
    let passed_on = passed_on(arguments, absolute(&arguments.catalogue.systems_dir));
    let (mut choice, mut folder) = begin::begin(arguments, &passed_on, &interrupt)?;
    announce(&choice, &passed_on)?;
    let measured = measure(&mut choice, false, &passed_on, &interrupt);
    let is_begun = |part: &Part| is_run_folder(&choice.folder.join(part.folder()));
    let has_begun = Part::ALL.iter().any(is_begun);
    if has_begun {
        folder.keep();
    }
    let measured = measured.map_err(|failure| advised(failure, has_begun, &choice.folder))?;
    result::show(&choice, &measured, arguments)
}

fn resume(arguments: &ChooseArguments, folder: &Path) -> Result<ExitCode, Failure> {
    if arguments.input.options() != InputOptions::default() {
        return Err(Failure::usage(
            "--input and --bulk-actions say how --data is read, and a resumed choice knows that already: leave them out",
        ));
    }
    let mut choice = Choice::read(folder)?;
    if choice.saved.prove {
        prepare_crashes()?;
    }
    let interrupt = Interrupt::install()?;
    let passed_on = passed_on(arguments, choice.saved.systems_dir.clone());
    let measured = measure(&mut choice, true, &passed_on, &interrupt)
        .map_err(|failure| advised(failure, true, folder))?;
    result::show(&choice, &measured, arguments)
}

/// Enters the mount namespace of disks whose power can be cut. That may start this program again, and therefore
/// comes before anything else.
fn prepare_crashes() -> Result<(), Failure> {
    let arguments = ["jsonathlon", "run", "durability", "--crash", "power"].map(str::to_owned);
    let command = parse_command(&arguments).map_err(|error| Failure::usage(describe_error(&error).1))?;
    workload::build_request(&command).map(drop)
}

fn absolute(folders: &[PathBuf]) -> Vec<PathBuf> {
    folders.iter().map(|folder| std::path::absolute(folder).unwrap_or_else(|_| folder.clone())).collect()
}

fn passed_on(arguments: &ChooseArguments, systems_dir: Vec<PathBuf>) -> PassedOnOptions {
    PassedOnOptions {
        systems_dir,
        allow_newer: arguments.install.allow_newer,
        wait_quiet: arguments.quiet.wait_quiet,
    }
}

/// The failure with the advice how to resume, if there is anything to resume.
fn advised(failure: Failure, has_begun: bool, folder: &Path) -> Failure {
    match has_begun {
        true => with_resume_advice(failure, "choose", folder),
        false if failure.code() == INTERRUPTED => {
            Failure::interrupted("nothing was measured yet; start again")
        }
        false => failure,
    }
}

/// Says what is measured, how long each part takes, and what is left out.
fn announce(choice: &Choice, passed_on: &PassedOnOptions) -> Result<(), Failure> {
    let catalogue = load_catalogue(&passed_on.systems_dir)?;
    let (seconds, lines) = outline(choice, Part::Capacity, 1.0, &catalogue, passed_on)?;
    let documents = format::integer(choice.saved.documents as f64);
    let size = format::bytes(choice.saved.bytes as f64);
    crate::say!("about {} over about {documents} documents ({size}):", rough_duration(seconds));
    for line in lines.into_iter().chain(choice.saved.notes.iter().map(|note| format!("note: {note}"))) {
        crate::say!("{line}");
    }
    Ok(())
}
