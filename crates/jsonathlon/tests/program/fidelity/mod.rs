//! Tests of `run fidelity`, with the mock and with every system that supports it.

mod corpus;
mod faults;
mod findings;
mod systems;

use std::collections::BTreeMap;

use jsonathlon_results::summary::Summary;
use jsonathlon_schema::record::Finding;

use crate::support::{Ended, LIMIT, Running, World};

/// Starts a run with systems of this world into its folder `out`.
fn start(world: &World, names: &str, more: &[&str]) -> Running {
    let (folder, out) = (world.text("systems"), world.text("out"));
    let mut all = vec!["run", "fidelity", "--systems-dir", &folder, "-s", names, "--json", "-o", &out];
    all.extend(more);
    world.start(&all)
}

fn run(world: &World, names: &str, more: &[&str]) -> Ended {
    start(world, names, more).end(LIMIT)
}

/// The findings of a case as text, by their subject.
fn told(summary: &Summary, system: &str, case: &str) -> BTreeMap<String, String> {
    findings(summary, system, case)
        .iter()
        .map(|finding| (finding.subject.clone(), finding.describe()))
        .collect()
}

fn findings<'a>(summary: &'a Summary, system: &str, case: &str) -> &'a [Finding] {
    let is_it = |entry: &&jsonathlon_results::summary::CellSummary| {
        entry.cell.id.system == system && entry.cell.step.word() == case
    };
    let entry = summary.results.iter().find(is_it).unwrap_or_else(|| panic!("{system} has no {case}"));
    &entry.findings
}

/// Repeats the expected findings for both insert paths, `bulk` and `parameter`; an empty subject is the
/// insert itself.
fn both(of: &[(&str, &str)]) -> BTreeMap<String, String> {
    let each = |way: &str, (what, state): &(&str, &str)| {
        let of = if what.is_empty() { way.to_owned() } else { format!("{way}, {what}") };
        (of, (*state).to_owned())
    };
    ["bulk", "parameter"].into_iter().flat_map(|way| of.iter().map(move |one| each(way, one))).collect()
}
