//! `jsonathlon export`: prints a run's results in another format.

use std::process::ExitCode;

use jsonathlon_report::render::TableStyle;
use jsonathlon_report::run::{markdown, markdown_with_means, tables, tables_with_means};
use jsonathlon_results::challenge::jsonbench::write_result_files;
use jsonathlon_results::export::{csv, csv_with_means, jsonbench};
use jsonathlon_results::summary::Run;

use super::print;
use crate::cli::{ExportArguments, Format};
use crate::exit::Failure;

pub(crate) fn run(arguments: &ExportArguments) -> Result<ExitCode, Failure> {
    if arguments.out.is_some() && arguments.format != Format::Jsonbench {
        return Err(Failure::usage(
            "--out is for --format jsonbench; other formats are one text, for `> FILE`",
        ));
    }
    let run = Run::read(&arguments.run)?;
    let write_error = |error: serde_json::Error| Failure::environment(format!("failed to write: {error}"));
    let text = match arguments.format {
        Format::Table if arguments.means => tables_with_means(&run, TableStyle { colour: true }),
        Format::Table => tables(&run, TableStyle { colour: true }),
        Format::Markdown if arguments.means => markdown_with_means(&run),
        Format::Markdown => markdown(&run),
        Format::Json => serde_json::to_string_pretty(&run.summary()).map_err(write_error)? + "\n",
        Format::Csv if arguments.means => csv_with_means(&run.summary()),
        Format::Csv => csv(&run.summary()),
        Format::Jsonbench => {
            let exported = jsonbench(&run)?;
            match &arguments.out {
                Some(folder) => {
                    let paths = write_result_files(folder, &exported)?;
                    paths.iter().map(|path| format!("{}\n", path.display())).collect()
                }
                None => {
                    let files: Vec<_> = exported.iter().map(|result| &result.file).collect();
                    serde_json::to_string_pretty(&files).map_err(write_error)? + "\n"
                }
            }
        }
    };
    print(&text)?;
    Ok(ExitCode::SUCCESS)
}
