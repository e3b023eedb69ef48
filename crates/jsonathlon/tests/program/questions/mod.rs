//! Tests of `questions new`, `questions check` and `run questions`: with the mock, with three kinds of
//! synthetic documents, and with invalid input.

mod agreement;
mod holdings;
mod input;
pub(crate) mod keys;
mod killed;
mod kinds;
mod made;
mod zones;

use std::path::Path;

use jsonathlon_results::summary::Summary;
use jsonathlon_schema::record::{Agreement, Verdict};

use crate::support::{Ended, LIMIT, Running, World};

/// A question that counts groups, largest first.
const GROUPS: &str = r#"
[[question]]
name = "groups"
title = "Groups by size"
columns = [{ name = "x", type = "string" }, { name = "n", type = "number" }]
order = ["n desc"]
"#;

/// A question with a single number as answer.
const SUM: &str = r#"
[[question]]
name = "sum"
title = "Sum of everything"
columns = [{ name = "total", type = "number" }]
"#;

/// Writes files, given by path and text, below the folder `q` of a world. Returns the folder.
fn folder(world: &World, files: &[(&str, &str)]) -> String {
    for (path, text) in files {
        let file = world.path("q").join(path);
        std::fs::create_dir_all(file.parent().unwrap_or(Path::new("."))).unwrap();
        std::fs::write(file, text).unwrap();
    }
    world.text("q")
}

/// Writes 50 small documents to a file. Returns its path.
fn documents(world: &World) -> String {
    let lines: Vec<String> = (0..50).map(|n| format!(r#"{{"a":"x{}","b":{n}}}"#, n % 3)).collect();
    world.file("data.ndjson", lines.join("\n"))
}

/// Starts a run of the questions in `q` over a data file, with few trials.
fn start(world: &World, systems: &str, data: &str, more: &[&str]) -> Running {
    let (folders, out, questions) = (world.text("systems"), world.text("out"), world.text("q"));
    let mut all = vec![
        "run",
        "questions",
        "--systems-dir",
        &folders,
        "-q",
        &questions,
        "-d",
        data,
        "--json",
        "-o",
        &out,
    ];
    if !systems.is_empty() {
        all.extend(["-s", systems]);
    }
    all.extend(more);
    for (option, value) in [("-r", "2"), ("--load-rounds", "1"), ("-t", "1")] {
        if !more.contains(&option) {
            all.extend([option, value]);
        }
    }
    world.start(&all)
}

fn run(world: &World, systems: &str, data: &str, more: &[&str]) -> Ended {
    start(world, systems, data, more).end(LIMIT)
}

fn agreement<'s>(summary: &'s Summary, question: &str) -> &'s Agreement {
    summary.agreements.iter().find(|one| one.question == question).unwrap()
}

/// The worst verdict of a system's trials of a question.
fn verdict(summary: &Summary, system: &str, step: &str) -> Verdict {
    let of = summary
        .results
        .iter()
        .filter(|entry| entry.cell.id.system == system && entry.cell.step.word() == step);
    of.map(|entry| entry.verdict).max().unwrap()
}
