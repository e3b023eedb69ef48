//! `jsonathlon published`: shows published results, and runs or result files beside them.

use std::process::ExitCode;

use jsonathlon_report::challenge::{SortKey, others, published as draw};
use jsonathlon_report::published_documents as draw_documents;
use jsonathlon_report::render::TableStyle;
use jsonathlon_results::challenge::jsonbench::read;
use jsonathlon_results::challenge::published::{Published, published, snapshots};
use jsonathlon_results::export::jsonbench;
use jsonathlon_results::folder::is_run_folder;
use jsonathlon_results::published_documents::{PublishedDocuments, published_documents};
use jsonathlon_results::summary::Run;

use super::print;
use crate::cli::{PublishedArguments, ScoredBy};
use crate::exit::Failure;

const LOOK: TableStyle = TableStyle { colour: true };

pub(crate) fn run(arguments: &PublishedArguments) -> Result<ExitCode, Failure> {
    if arguments.documents {
        return of_documents(arguments);
    }
    let all = published()?;
    let chosen: Vec<&Published> = all.iter().filter(|one| wanted(one, arguments)).collect();
    if chosen.is_empty() {
        let snapshots: Vec<&str> = snapshots().collect();
        return Err(Failure::usage(format!(
            "nothing like that is published; there is 1m, 10m, 100m and 1000m, of {}, and --any-structure",
            snapshots.join(" and ")
        )));
    }
    if arguments.json {
        return as_json(&chosen);
    }
    let by = match arguments.by {
        ScoredBy::Hot => SortKey::Hot,
        ScoredBy::Cold => SortKey::Cold,
        ScoredBy::Size => SortKey::Size,
    };
    let mut text = draw(&chosen, by, LOOK);
    for path in &arguments.paths {
        let files = if is_run_folder(path) {
            jsonbench(&Run::read(path)?)?.into_iter().map(|one| one.file).collect()
        } else {
            read(path)?
        };
        text.push_str(&others(&path.display().to_string(), &files, by, LOOK));
    }
    print(&text)?;
    Ok(ExitCode::SUCCESS)
}

/// Prints the published results about large documents.
fn of_documents(arguments: &PublishedArguments) -> Result<ExitCode, Failure> {
    let all = published_documents()?;
    let chosen: Vec<&PublishedDocuments> = all
        .iter()
        .filter(|one| is_named(&one.system, arguments))
        .filter(|one| !arguments.without_suspected || one.suspected.is_empty())
        .collect();
    if chosen.is_empty() {
        return Err(Failure::usage("nothing like that is published; there is Dolt and PostgreSQL"));
    }
    if arguments.json {
        return as_json(&chosen);
    }
    print(&draw_documents(&chosen, LOOK))?;
    Ok(ExitCode::SUCCESS)
}

fn as_json(chosen: &impl serde::Serialize) -> Result<ExitCode, Failure> {
    let text = serde_json::to_string_pretty(chosen)
        .map_err(|error| Failure::environment(format!("failed to write: {error}")))?;
    print(&(text + "\n"))?;
    Ok(ExitCode::SUCCESS)
}

fn is_named(system: &str, arguments: &PublishedArguments) -> bool {
    let name = system.to_lowercase();
    let begins = |wanted: &String| name.starts_with(&wanted.trim().to_lowercase());
    arguments.systems.is_empty() || arguments.systems.iter().any(begins)
}

fn wanted(one: &Published, arguments: &PublishedArguments) -> bool {
    one.scale == arguments.scale
        && one.snapshot == arguments.snapshot
        && is_named(&one.system, arguments)
        && (arguments.any_structure || one.retains_structure != Some(false))
        && (!arguments.without_suspected || one.suspected.is_empty())
}
