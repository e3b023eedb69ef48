//! Tests of `choose` and `choose new`: with the mock, in which what does not meet a need is planted, and with engines.

mod begun;
mod faults;
mod input;
mod killed;
mod needs;
mod systems;

use std::fmt::Write;

use serde_json::{Value, json};

use crate::support::{Ended, LIMIT, Running, System, World, mock};

/// Documents with a key, a text that updates set, and a number.
fn documents(count: usize) -> String {
    let mut text = String::new();
    for number in 0..count {
        let document = json!({
            "id": format!("order-{number:05}"),
            "status": format!("a status of {number}"),
            "amount": number % 7,
        });
        writeln!(text, "{document}").unwrap();
    }
    text
}

/// A mock that serves users' documents and is asked questions.
fn system(name: &str, script: Value) -> System {
    mock(name, script).serving_documents("").questions()
}

/// Starts to choose among systems of this world, over its file `data.ndjson` and into its folder `out`, with short
/// trials.
fn start(world: &World, systems: &str, more: &[&str]) -> Running {
    let (folder, out, data) = (world.text("systems"), world.text("out"), world.text("data.ndjson"));
    let mut all = vec!["choose", "--systems-dir", &folder, "-s", systems, "-o", &out];
    all.extend(more);
    for (option, value) in [("--data", data.as_str()), ("--duration", "400ms"), ("--budget", BUDGET)] {
        if !more.contains(&option) {
            all.extend([option, value]);
        }
    }
    world.start(&all)
}

/// Budget in which little is left out, and in which there are not many rounds.
const BUDGET: &str = "50s";

fn choose(world: &World, systems: &str, more: &[&str]) -> Ended {
    start(world, systems, more).end(LIMIT)
}

/// The decision that was written into the folder `out`.
fn decision(world: &World) -> Value {
    serde_json::from_slice(&std::fs::read(world.path("out/decision.json")).unwrap()).unwrap()
}

/// What the decision says of a system.
fn of_system<'d>(decision: &'d Value, system: &str) -> &'d Value {
    let systems = decision["systems"].as_array().unwrap();
    let found = systems.iter().find(|one| one["system"] == system);
    found.unwrap_or_else(|| panic!("{system} is not in {decision:#}"))
}

/// State of a need of a system.
fn state<'d>(decision: &'d Value, system: &str, need: &str) -> &'d str {
    let state = of_system(decision, system)["needs"][need]["state"].as_str();
    state.unwrap_or_else(|| panic!("{system} has no state of {need} in {decision:#}"))
}

/// A folder of one question, which all mocks answer alike. Returns its path.
fn questions(world: &World, systems: &[&str]) -> String {
    let folder = world.path("q");
    std::fs::create_dir_all(&folder).unwrap();
    let question = "[[question]]\nname = \"sum\"\ntitle = \"Sum\"\ncolumns = [{ name = \"total\", type = \"number\" }]\n";
    std::fs::write(folder.join("questions.toml"), question).unwrap();
    for system in systems {
        std::fs::create_dir_all(folder.join(system)).unwrap();
        std::fs::write(folder.join(system).join("sum.sql"), "answer {{table}} [[3]];\n").unwrap();
    }
    world.text("q")
}
