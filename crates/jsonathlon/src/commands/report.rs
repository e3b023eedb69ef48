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

use super::{path_display, print};
use crate::cli::ReportArguments;
use crate::exit::Failure;

/// Default file of a page about several runs.
const DEFAULT_FILE: &str = "jsonathlon-report.html";
/// Program that opens a file with the desktop's default application (xdg-utils).
const OPENER: &str = "xdg-open";
/// Maximum wait for a failure of [`OPENER`]. The opener ends at once if it hands the file to a desktop;
/// otherwise it may become the browser itself.
const OPENER_TIMEOUT: Duration = Duration::from_secs(3);

pub(crate) fn run(arguments: &ReportArguments) -> Result<ExitCode, Failure> {
    let mut seen = HashSet::new();
    // A folder that is given twice, e.g. by two patterns of a shell, counts once.
    let folders: Vec<&PathBuf> = arguments
        .runs
        .iter()
        .filter(|folder| seen.insert(folder.canonicalize().unwrap_or_else(|_| (*folder).clone())))
        .collect();
    let runs = folders.iter().map(|folder| Run::read(folder)).collect::<Result<Vec<_>, _>>()?;
    let paths = path_display(arguments.show_paths);
    let file = match (&arguments.out, runs.as_slice()) {
        (None, [run]) => page::write_page(run, paths)?,
        (out, _) => {
            let file = out.clone().unwrap_or_else(|| PathBuf::from(DEFAULT_FILE));
            let text = page::current_page(&runs, paths)?;
            if is_special_file(&file) {
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
fn is_special_file(file: &Path) -> bool {
    std::fs::symlink_metadata(file).is_ok_and(|metadata| !metadata.is_file() && !metadata.is_dir())
}

fn write_through(file: &Path, text: &[u8]) -> Result<(), Failure> {
    OpenOptions::new()
        .write(true)
        .truncate(true)
        .open(file)
        .and_then(|mut opened| opened.write_all(text))
        .map_err(|error| Failure::environment(format!("failed to write {}: {error}", file.display())))
}

fn open(file: &Path) -> Result<(), Failure> {
    let open_error =
        |why: &str| Failure::environment(format!("{OPENER} {why}; open {} in a browser", file.display()));
    // Absolute, so that a name that begins with a dash is not taken for an option.
    let file = std::path::absolute(file)
        .map_err(|error| open_error(&format!("cannot be given the path: {error}")))?;
    let null = Stdio::null;
    let mut opener = Command::new(OPENER)
        .arg(&file)
        .stdin(null())
        .stdout(null())
        .stderr(null())
        .spawn()
        .map_err(|error| open_error(&format!("cannot be started: {error}")))?;
    let start = Instant::now();
    while start.elapsed() < OPENER_TIMEOUT {
        match opener.try_wait() {
            Ok(Some(status)) if status.success() => return Ok(()),
            Ok(Some(status)) => return Err(open_error(&format!("ended with {status}"))),
            Ok(None) => std::thread::sleep(Duration::from_millis(20)),
            Err(error) => return Err(open_error(&format!("cannot be waited for: {error}"))),
        }
    }
    Ok(())
}
