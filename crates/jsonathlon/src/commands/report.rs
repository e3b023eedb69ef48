//! `jsonathlon report`.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

use jsonathlon_report::page;
use jsonathlon_results::summary::Run;

use super::print;
use crate::cli::ReportArguments;
use crate::exit::Failure;

/// Where the page of several runs goes when nobody says.
const MANY: &str = "jsonathlon-report.html";
/// Opens a file with the program that the desktop has for it (xdg-utils).
const OPENER: &str = "xdg-open";

pub(crate) fn run(arguments: &ReportArguments) -> Result<ExitCode, Failure> {
    let mut seen = HashSet::new();
    // The same folder twice, as two patterns of a shell may give it, is one run.
    let folders: Vec<&PathBuf> = arguments
        .runs
        .iter()
        .filter(|folder| seen.insert(folder.canonicalize().unwrap_or_else(|_| (*folder).clone())))
        .collect();
    let runs = folders.iter().map(|folder| Run::read(folder)).collect::<Result<Vec<_>, _>>()?;
    let file = match (&arguments.out, folders.as_slice()) {
        (Some(file), _) => file.clone(),
        (None, [folder]) => folder.join(page::FILE),
        (None, _) => PathBuf::from(MANY),
    };
    page::write(&runs, &file)?;
    print(&format!("{}\n", file.display()))?;
    if arguments.open {
        open(&file)?;
    }
    Ok(ExitCode::SUCCESS)
}

fn open(file: &Path) -> Result<(), Failure> {
    let opened = Command::new(OPENER).arg(file).stdin(Stdio::null()).status();
    match opened {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(Failure::environment(format!(
            "{OPENER} ended with {status}; open {} in a browser",
            file.display()
        ))),
        Err(error) => Err(Failure::environment(format!(
            "failed to start {OPENER}: {error}; open {} in a browser",
            file.display()
        ))),
    }
}
