//! `jsonathlon published`.

use std::process::ExitCode;

use jsonathlon_report::challenge::{By, others, published as draw};
use jsonathlon_report::draw::Look;
use jsonathlon_results::challenge::jsonbench::read;
use jsonathlon_results::challenge::published::{Published, published, snapshots};
use jsonathlon_results::export::jsonbench;
use jsonathlon_results::folder::holds_run;
use jsonathlon_results::summary::Run;

use super::print;
use crate::cli::{PublishedArguments, ScoredBy};
use crate::exit::Failure;

const LOOK: Look = Look { colour: true };

pub(crate) fn run(arguments: &PublishedArguments) -> Result<ExitCode, Failure> {
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
        let text = serde_json::to_string_pretty(&chosen)
            .map_err(|error| Failure::environment(format!("failed to write: {error}")))?;
        print(&(text + "\n"))?;
        return Ok(ExitCode::SUCCESS);
    }
    let by = match arguments.by {
        ScoredBy::Hot => By::Hot,
        ScoredBy::Cold => By::Cold,
        ScoredBy::Size => By::Size,
    };
    let mut text = draw(&chosen, by, LOOK);
    for path in &arguments.paths {
        let files = if holds_run(path) {
            jsonbench(&Run::read(path)?)?.into_iter().map(|one| one.file).collect()
        } else {
            read(path)?
        };
        text.push_str(&others(&path.display().to_string(), &files, by, LOOK));
    }
    print(&text)?;
    Ok(ExitCode::SUCCESS)
}

fn wanted(one: &Published, arguments: &PublishedArguments) -> bool {
    let name = one.system.to_lowercase();
    let named = |wanted: &String| name.starts_with(&wanted.trim().to_lowercase());
    one.scale == arguments.scale
        && one.snapshot == arguments.snapshot
        && (arguments.systems.is_empty() || arguments.systems.iter().any(named))
        && (arguments.any_structure || one.retains_structure != Some(false))
        && (!arguments.without_suspected || one.suspected.is_empty())
}
