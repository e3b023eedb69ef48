//! `jsonathlon report`: writes one page about one or several runs.

use std::collections::HashSet;
use std::fs::OpenOptions;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use jsonathlon_report::page;
use jsonathlon_results::folder::write_atomic;
use jsonathlon_results::summary::Run;

use super::print;
use crate::cli::ReportArguments;
use crate::exit::Failure;

/// Default file of a page about several runs.
const MANY: &str = "jsonathlon-report.html";
/// Program that opens a file with the desktop's default application (xdg-utils).
const OPENER: &str = "xdg-open";
/// How long a failure of [`OPENER`] is waited for. The opener ends at once if it hands the file to a desktop;
/// otherwise it may become the browser itself.
const HANDING_OVER: Duration = Duration::from_secs(3);

pub(crate) fn run(arguments: &ReportArguments) -> Result<ExitCode, Failure> {
    let mut seen = HashSet::new();
    // A folder that is given twice, e.g. by two patterns of a shell, counts once.
    let folders: Vec<&PathBuf> = arguments
        .runs
        .iter()
        .filter(|folder| seen.insert(folder.canonicalize().unwrap_or_else(|_| (*folder).clone())))
        .collect();
    let mut runs = folders.iter().map(|folder| Run::read(folder)).collect::<Result<Vec<_>, _>>()?;
    let file = match &arguments.out {
        None if runs.len() == 1 => page::write_own(runs.remove(0))?,
        out => {
            let file = out.clone().unwrap_or_else(|| PathBuf::from(MANY));
            let text = page::now(&runs)?;
            if leads_elsewhere(&file) {
                write_through(&file, text.as_bytes())?;
                // The path is not printed, because the file may be standard output.
                return Ok(ExitCode::SUCCESS);
            }
            write_atomic(&file, text.as_bytes())?;
            file
        }
    };
    print(&format!("{}\n", file.display()))?;
    if arguments.open {
        open(&file)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Returns `true` if the path is a pipe, device or link, which must be written to and not replaced by a file.
fn leads_elsewhere(file: &Path) -> bool {
    std::fs::symlink_metadata(file).is_ok_and(|there| !there.is_file() && !there.is_dir())
}

fn write_through(file: &Path, text: &[u8]) -> Result<(), Failure> {
    OpenOptions::new()
        .write(true)
        .truncate(true)
        .open(file)
        .and_then(|mut open| open.write_all(text))
        .map_err(|error| Failure::environment(format!("failed to write {}: {error}", file.display())))
}

fn open(file: &Path) -> Result<(), Failure> {
    let failed =
        |why: &str| Failure::environment(format!("{OPENER} {why}; open {} in a browser", file.display()));
    // Absolute, so that a name that begins with a dash is not taken for an option.
    let file =
        std::path::absolute(file).map_err(|error| failed(&format!("cannot be told where: {error}")))?;
    let quiet = Stdio::null;
    let mut opener = Command::new(OPENER)
        .arg(&file)
        .stdin(quiet())
        .stdout(quiet())
        .stderr(quiet())
        .spawn()
        .map_err(|error| failed(&format!("cannot be started: {error}")))?;
    let begun = Instant::now();
    while begun.elapsed() < HANDING_OVER {
        match opener.try_wait() {
            Ok(Some(status)) if status.success() => return Ok(()),
            Ok(Some(status)) => return Err(failed(&format!("ended with {status}"))),
            Ok(None) => std::thread::sleep(Duration::from_millis(20)),
            Err(error) => return Err(failed(&format!("cannot be waited for: {error}"))),
        }
    }
    Ok(())
}
