//! `jsonathlon export`.

use std::process::ExitCode;

use jsonathlon_report::tables::{Look, render};
use jsonathlon_results::export::{csv, jsonbench};
use jsonathlon_results::summary::Run;

use super::print;
use crate::cli::{ExportArguments, Format};
use crate::exit::Failure;

pub(crate) fn run(arguments: &ExportArguments) -> Result<ExitCode, Failure> {
    let run = Run::read(&arguments.run)?;
    let unwritable = |error: serde_json::Error| Failure::environment(format!("failed to write: {error}"));
    let text = match arguments.format {
        Format::Table => render(&run, Look { colour: true }),
        Format::Json => serde_json::to_string_pretty(&run.summary()).map_err(unwritable)? + "\n",
        Format::Csv => csv(&run.summary()),
        Format::Jsonbench => serde_json::to_string_pretty(&jsonbench(&run)?).map_err(unwritable)? + "\n",
    };
    print(&text)?;
    Ok(ExitCode::SUCCESS)
}
