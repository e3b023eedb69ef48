//! Tests of `run durability`, with a mock in which losses are planted, and with real systems.

mod faults;
mod input;
mod liar;
mod planted;
mod power;
mod systems;

use jsonathlon_results::summary::{CellSummary, Summary};
use jsonathlon_schema::metric::MetricDef;
use jsonathlon_schema::record::Finding;
use serde_json::{Value, json};

use crate::support::{Ended, LIMIT, Running, System, World, mock};

/// Starts a run with systems of this world into its folder `out`: short work, few records.
fn start(world: &World, names: &str, more: &[&str]) -> Running {
    let (folder, out) = (world.text("systems"), world.text("out"));
    let mut all = vec!["run", "durability", "--systems-dir", &folder, "-s", names, "--json", "-o", &out];
    all.extend(more);
    let usual = [
        ("--crash", "process"),
        ("-n", "50"),
        ("--crashes", "2"),
        ("--crash-within", "300ms"),
        ("--clients", "3"),
    ];
    for (option, value) in usual {
        if !more.contains(&option) {
            all.extend([option, value]);
        }
    }
    world.start(&all)
}

fn run(world: &World, names: &str, more: &[&str]) -> Ended {
    start(world, names, more).end(LIMIT)
}

/// A mock that stores client writes as `keeps` says, each in 1 ms, with additional `faults`.
fn keeping(name: &str, keeps: Value, faults: Value) -> System {
    mock(name, script(keeps, faults)).serving()
}

fn script(keeps: Value, faults: Value) -> Value {
    json!({"persistence": keeps, "faults": faults, "delay_ms": {"kv_update": 1, "kv_insert": 1}})
}

/// The result of a system in a durability tier for one kind of crash.
fn entry<'a>(summary: &'a Summary, system: &str, tier: &str, kind: &str) -> &'a CellSummary {
    let is_it = |entry: &&CellSummary| {
        let cell = &entry.cell;
        cell.id.system == system
            && cell.step.word() == kind
            && cell.parameters.get("durability").and_then(Value::as_str) == Some(tier)
    };
    summary
        .results
        .iter()
        .find(is_it)
        .unwrap_or_else(|| panic!("{system} was not crashed by {kind} in {tier}"))
}

/// A metric of the entry, as a count.
fn count(entry: &CellSummary, name: &str) -> u64 {
    let figure = MetricDef::find(name).unwrap();
    entry.metric(figure).unwrap_or_else(|| panic!("no {name} in {entry:?}")) as u64
}

/// The findings of crashes, in order.
fn crashes(entry: &CellSummary) -> Vec<&Finding> {
    entry.findings.iter().filter(|finding| finding.subject.starts_with("crash ")).collect()
}
