//! `jsonathlon published`: shows published results, and runs or result files beside them.

use std::process::ExitCode;

use jsonathlon_report::challenge::{SortKey, published_table, result_files_table};
use jsonathlon_report::published_documents_table;
use jsonathlon_report::render::TableStyle;
use jsonathlon_results::challenge::jsonbench::read_result_files;
use jsonathlon_results::challenge::published::{PublishedResult, published_results, snapshots};
use jsonathlon_results::export::jsonbench;
use jsonathlon_results::folder::is_run_folder;
use jsonathlon_results::published_documents::{PublishedDocumentsResult, published_documents};
use jsonathlon_results::summary::Run;

use super::print;
use crate::cli::{PublishedArguments, SortChoice};
use crate::exit::Failure;

const STYLE: TableStyle = TableStyle::COLOURED;

pub(crate) fn run(arguments: &PublishedArguments) -> Result<ExitCode, Failure> {
    if arguments.documents {
        return run_documents(arguments);
    }
    let results = published_results()?;
    let selected: Vec<&PublishedResult> =
        results.iter().filter(|result| is_selected(result, arguments)).collect();
    if selected.is_empty() {
        let snapshots: Vec<&str> = snapshots().collect();
        return Err(Failure::usage(format!(
            "nothing like that is published; there is 1m, 10m, 100m and 1000m, of {}, and --any-structure",
            snapshots.join(" and ")
        )));
    }
    if arguments.json {
        return print_json(&selected);
    }
    let sort_key = match arguments.sort_key {
        SortChoice::Hot => SortKey::Hot,
        SortChoice::Cold => SortKey::Cold,
        SortChoice::Size => SortKey::Size,
    };
    let mut text = published_table(&selected, sort_key, STYLE);
    for path in &arguments.paths {
        let files = if is_run_folder(path) {
            jsonbench(&Run::read(path)?)?.into_iter().map(|result| result.file).collect()
        } else {
            read_result_files(path)?
        };
        text.push_str(&result_files_table(&path.display().to_string(), &files, sort_key, STYLE));
    }
    print(&text)?;
    Ok(ExitCode::SUCCESS)
}

/// Prints the published results about large documents.
fn run_documents(arguments: &PublishedArguments) -> Result<ExitCode, Failure> {
    let results = published_documents()?;
    let selected: Vec<&PublishedDocumentsResult> = results
        .iter()
        .filter(|result| is_named(&result.system, arguments))
        .filter(|result| !arguments.without_suspected || result.suspected_errors.is_empty())
        .collect();
    if selected.is_empty() {
        return Err(Failure::usage("nothing like that is published; there is Dolt and PostgreSQL"));
    }
    if arguments.json {
        return print_json(&selected);
    }
    print(&published_documents_table(&selected, STYLE))?;
    Ok(ExitCode::SUCCESS)
}

fn print_json(selected: &impl serde::Serialize) -> Result<ExitCode, Failure> {
    let text = serde_json::to_string_pretty(selected)
        .map_err(|error| Failure::environment(format!("failed to write: {error}")))?;
    print(&(text + "\n"))?;
    Ok(ExitCode::SUCCESS)
}

fn is_named(system: &str, arguments: &PublishedArguments) -> bool {
    let name = system.to_lowercase();
    let has_prefix = |prefix: &String| name.starts_with(&prefix.trim().to_lowercase());
    arguments.systems.is_empty() || arguments.systems.iter().any(has_prefix)
}

fn is_selected(result: &PublishedResult, arguments: &PublishedArguments) -> bool {
    result.scale == arguments.scale
        && result.snapshot == arguments.snapshot
        && is_named(&result.system, arguments)
        && (arguments.any_structure || result.retains_structure != Some(false))
        && (!arguments.without_suspected || result.suspected_errors.is_empty())
}
