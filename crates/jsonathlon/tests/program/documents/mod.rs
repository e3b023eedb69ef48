//! Tests of `run documents`, with the mock and with every system that supports it.

mod answers;
mod killed;
mod systems;

use crate::support::{Ended, LIMIT, Running, World};

/// Starts a run with systems of this world; by default documents of 1 KiB, 20 KiB per table, two rounds.
fn start(world: &World, names: &str, more: &[&str]) -> Running {
    let (folder, out) = (world.text("systems"), world.text("out"));
    let mut all = vec!["run", "documents", "--systems-dir", &folder, "-s", names, "--json", "-o", &out];
    all.extend(more);
    for (option, value) in [("--sizes", "1KiB"), ("--table-size", "20KiB"), ("-r", "2")] {
        if !more.contains(&option) {
            all.extend([option, value]);
        }
    }
    world.start(&all)
}

fn run(world: &World, names: &str, more: &[&str]) -> Ended {
    start(world, names, more).end(LIMIT)
}
