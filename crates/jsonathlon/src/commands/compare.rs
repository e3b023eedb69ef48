//! `jsonathlon compare`: compares two runs or two sides of one run, and saves baselines.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use jsonathlon_report::compare::{markdown, tables};
use jsonathlon_report::render::TableStyle;
use jsonathlon_results::ResultsError;
use jsonathlon_results::baseline::Baselines;
use jsonathlon_results::compare::{RunComparison, SidePair, compare, compare_sides};
use jsonathlon_results::folder::is_run_folder;
use jsonathlon_results::summary::Run;

use super::print;
use crate::cli::{CompareArguments, CompareFormat};
use crate::exit::{FAILED_CELL, Failure};

pub(crate) fn run(arguments: &CompareArguments) -> Result<ExitCode, Failure> {
    if let Some(name) = &arguments.save_baseline {
        let [run] = arguments.runs.as_slice() else {
            return Err(Failure::usage("--save-baseline keeps one run: give its folder alone"));
        };
        return save(name, run, arguments.force);
    }
    let mut comparison = match &arguments.between {
        Some(text) => compare_within_run(arguments, text)?,
        None => compare_runs(arguments)?,
    };
    if let Some(share) = arguments.fail_on_regression {
        comparison = comparison.with_gate(share, arguments.allow_missing);
    }
    let text = match arguments.format {
        _ if arguments.json => {
            let text = serde_json::to_string_pretty(&comparison)
                .map_err(|error| Failure::environment(format!("failed to write: {error}")))?;
            text + "\n"
        }
        CompareFormat::Table => tables(&comparison, TableStyle::COLOURED),
        CompareFormat::Markdown => markdown(&comparison),
    };
    print(&text)?;
    let passed = comparison.gate.is_none_or(|gate| gate.passed);
    Ok(if passed { ExitCode::SUCCESS } else { ExitCode::from(FAILED_CELL) })
}

fn compare_runs(arguments: &CompareArguments) -> Result<RunComparison, Failure> {
    let (a, b) = match (&arguments.baseline, arguments.runs.as_slice()) {
        (Some(name), [b]) => (baselines()?.find(name)?, folder(b)?),
        (None, [a, b]) => (folder(a)?, folder(b)?),
        (Some(_), _) => {
            return Err(Failure::usage("--baseline takes the place of A: give one run"));
        }
        (None, _) => {
            return Err(Failure::usage(
                "two runs are compared: give two folders, one with --baseline NAME, or one with \
                 --between A,B",
            ));
        }
    };
    Ok(compare(&Run::read(&a)?, &Run::read(&b)?, arguments.different_data)?)
}

fn compare_within_run(arguments: &CompareArguments, text: &str) -> Result<RunComparison, Failure> {
    let [run] = arguments.runs.as_slice() else {
        return Err(Failure::usage("--between compares two sides of one run: give one folder"));
    };
    let sides = SidePair::parse(text)?;
    Ok(compare_sides(&Run::read(&folder(run)?)?, &sides)?)
}

fn baselines() -> Result<Baselines, Failure> {
    Ok(Baselines::from_environment(|name| std::env::var_os(name))?)
}

/// Resolves an argument to a folder: the path itself if it holds a run, otherwise the baseline of this name.
fn folder(argument: &Path) -> Result<PathBuf, Failure> {
    if is_run_folder(argument) {
        return Ok(argument.to_owned());
    }
    let name = argument.to_string_lossy();
    let baselines = Baselines::from_environment(|name| std::env::var_os(name));
    match baselines.and_then(|baselines| baselines.find(&name)) {
        Ok(baseline) => Ok(baseline),
        Err(error @ (ResultsError::NoBaseline { .. } | ResultsError::NoDataFolder)) if !argument.exists() => {
            Err(Failure::usage(format!("there is no folder {name}, and {error}")))
        }
        // A path that exists, or a text that cannot name a baseline, was meant as a folder.
        Err(_) => Err(ResultsError::NotARun { path: argument.to_owned() }.into()),
    }
}

fn save(name: &str, run: &Path, force: bool) -> Result<ExitCode, Failure> {
    let run = folder(run)?;
    let open_trials = Run::read(&run)?.open_trials().len();
    let path = baselines()?.save(name, &run, force)?;
    if open_trials > 0 {
        crate::say!("note: {} is not complete: {open_trials} planned trials have no record", run.display());
    }
    print(&format!("{} is the baseline {name} now, in {}\n", run.display(), path.display()))?;
    Ok(ExitCode::SUCCESS)
}
