//! Runs that are parts of something larger, such as a study: commands as a user would type them, each executed in
//! a folder of its own unless its results are complete.

use std::path::{Path, PathBuf};

use clap::{Parser, error::ContextKind};

use jsonathlon_report::page;
use jsonathlon_results::{folder::is_run_folder, summary::Run};

use super::run::execute;
use crate::{
    cli::{Cli, Command, run::RunCommand},
    exit::{Failure, INTERRUPTED},
    interrupt::Interrupt,
};

/// Options of the whole that each of its runs gets, started or resumed.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct PassedOnOptions {
    /// Folders with more system folders.
    pub(super) systems_dir: Vec<PathBuf>,
    /// Whether a newer version may take the place of one that is no longer available.
    pub(super) allow_newer: bool,
    /// Seconds to wait for a quiet machine before each run. `None` if runs do not wait.
    pub(super) wait_quiet: Option<f64>,
}

impl PassedOnOptions {
    /// The options as on a command line.
    pub(super) fn arguments(&self) -> Vec<String> {
        let mut arguments = Vec::new();
        for folder in &self.systems_dir {
            arguments.extend(["--systems-dir".to_owned(), folder.display().to_string()]);
        }
        if self.allow_newer {
            arguments.push("--allow-newer".to_owned());
        }
        if let Some(seconds) = self.wait_quiet {
            arguments.push(format!("--wait-quiet={seconds}s"));
        }
        arguments
    }
}

/// Parses a command line that begins with `jsonathlon run`.
pub(super) fn parse_command(arguments: &[String]) -> Result<RunCommand, clap::Error> {
    match Cli::try_parse_from(arguments)?.command {
        Command::Run(command) => Ok(*command),
        _ => Err(clap::Error::raw(clap::error::ErrorKind::InvalidSubcommand, "it is no run")),
    }
}

/// Name of the wrong option, `None` if the error is about no option, and the error's message in one line.
pub(super) fn describe_error(error: &clap::Error) -> (Option<String>, String) {
    let option = error.get(ContextKind::InvalidArg).map(ToString::to_string);
    let name = |text: String| {
        text.trim_start_matches('-').chars().take_while(|c| c.is_alphanumeric() || *c == '-').collect()
    };
    let text = error.to_string();
    let message = text.trim_start_matches("error: ").lines().take_while(|line| !line.starts_with("Usage"));
    let message = message.filter(|line| !line.trim().is_empty() && !line.starts_with("For more information"));
    (option.map(name), message.map(str::trim).collect::<Vec<_>>().join(" "))
}

/// Whether the folder holds a run of which every planned trial has a record.
///
/// # Errors
/// If it holds a run that cannot be read.
pub(super) fn is_complete(folder: &Path) -> Result<bool, Failure> {
    Ok(is_run_folder(folder) && Run::read(folder)?.open_trials().is_empty())
}

/// Starts the run of `command` in its folder, or resumes the one that is there; does nothing if that is complete.
/// Then the folder has the page of the run.
///
/// # Errors
/// If the run cannot be started or completed. `command` is only called for a new run.
pub(super) fn complete_run(
    folder: &Path,
    command: impl FnOnce() -> Result<RunCommand, Failure>,
    passed_on: &PassedOnOptions,
    interrupt: &Interrupt,
) -> Result<(), Failure> {
    if is_complete(folder)? {
        return Ok(());
    }
    let command = if is_run_folder(folder) { resume_command(folder, passed_on)? } else { command()? };
    if let Some(failure) = execute(&command, interrupt)?.cut_short {
        return Err(failure);
    }
    // A failure is not fatal, because the whole does not need the page of a single run.
    if let Err(error) = page::write_page(&Run::read(folder)?, page::PathDisplay::Hidden) {
        crate::say!("failed to write the page of {}: {error}", folder.display());
    }
    Ok(())
}

/// Command that resumes the run in a folder, whatever its workload.
fn resume_command(folder: &Path, passed_on: &PassedOnOptions) -> Result<RunCommand, Failure> {
    let mut arguments: Vec<String> = ["jsonathlon", "run", "--resume"].map(str::to_owned).to_vec();
    arguments.push(folder.display().to_string());
    arguments.extend(passed_on.arguments());
    parse_command(&arguments).map_err(|error| Failure::usage(describe_error(&error).1))
}

/// Replaces the advice of an interrupted run by the command that resumes the whole.
pub(super) fn with_resume_advice(failure: Failure, subcommand: &str, folder: &Path) -> Failure {
    if failure.code() != INTERRUPTED {
        return failure;
    }
    Failure::interrupted(format!(
        "finished trials are saved; resume with: jsonathlon {subcommand} --resume {}",
        folder.display()
    ))
}
