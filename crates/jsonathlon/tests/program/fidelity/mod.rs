//! `run fidelity`: over the mock, and over every system that has a folder for it.

mod corpus;
mod faults;
mod findings;
mod systems;

use std::collections::BTreeMap;

use crate::support::{Ended, LIMIT, Running, World};
use jsonathlon_results::record::Finding;
use jsonathlon_results::summary::Summary;

/// Starts a run over systems of this world into the folder `out` of it.
fn start(world: &World, names: &str, more: &[&str]) -> Running {
    let (folder, out) = (world.text("systems"), world.text("out"));
    let mut all = vec!["run", "fidelity", "--systems-dir", &folder, "-s", names, "--json", "-o", &out];
    all.extend(more);
    world.start(&all)
}

fn run(world: &World, names: &str, more: &[&str]) -> Ended {
    start(world, names, more).end(LIMIT)
}

/// What was found of a case, by what it is of, in one text each.
fn told(summary: &Summary, system: &str, case: &str) -> BTreeMap<String, String> {
    findings(summary, system, case).iter().map(|finding| (finding.of.clone(), finding.told())).collect()
}

fn findings<'a>(summary: &'a Summary, system: &str, case: &str) -> &'a [Finding] {
    let is_it = |entry: &&jsonathlon_results::summary::Entry| {
        entry.cell.id.system == system && entry.cell.step.word() == case
    };
    let entry = summary.results.iter().find(is_it).unwrap_or_else(|| panic!("{system} has no {case}"));
    &entry.findings
}

/// The same, of both ways: in, out whole, out as a value; the last only where the case has that.
fn both(of: &[(&str, &str)]) -> BTreeMap<String, String> {
    let each = |way: &str, (what, state): &(&str, &str)| {
        let of = if what.is_empty() { way.to_owned() } else { format!("{way}, {what}") };
        (of, (*state).to_owned())
    };
    ["bulk", "parameter"].into_iter().flat_map(|way| of.iter().map(move |one| each(way, one))).collect()
}
