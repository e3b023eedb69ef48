//! `jsonathlon export`: prints a run's results in another format.

use std::process::ExitCode;

use jsonathlon_report::answer::closing_answer;
use jsonathlon_report::page;
use jsonathlon_report::run::{markdown, markdown_with_means, tables_from_summary, tables_with_means};
use jsonathlon_results::challenge::jsonbench::write_result_files;
use jsonathlon_results::export::{csv, csv_with_means, jsonbench};
use jsonathlon_results::summary::Run;

use super::table_style::table_style;
use super::{print, short_path};
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
        Format::Table => tables_and_answer(&run, arguments),
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

/// What ends a run on the terminal: its tables, and its answer with the path of the page, if there is one.
fn tables_and_answer(run: &Run, arguments: &ExportArguments) -> String {
    let summary = run.summary();
    let style = table_style(arguments.tables);
    let tables = match arguments.means {
        true => tables_with_means(run, &summary, style),
        false => tables_from_summary(run, &summary, style),
    };
    let page = Some(arguments.run.join(page::FILE)).filter(|page| page.exists());
    tables + &closing_answer(run, &summary, page.as_deref().map(short_path), style)
}
