//! A choice that is killed or interrupted in the middle of a part, and resumed.

use rustix::process::Signal;
use serde_json::json;

use super::{documents, start, system};
use crate::support::{LIMIT, World, eventually};

fn world() -> World {
    let slow = json!({"delay_ms": {"kv_read": 1}});
    let world = World::with(&[system("ma", slow.clone()), system("mb", slow)]);
    world.file("data.ndjson", documents(200));
    world
}

#[test]
fn a_killed_choice_goes_on_where_it_was() {
    let world = world();
    let needs = world.file("needs.toml", "[documents]\nlater = \"1k\"\n");
    let mut running = start(&world, "ma,mb", &["--needs", &needs]);
    let serving = world.kept("out/serving");
    eventually("trials of the second part are recorded", || running.has_ended() || serving.recorded() > 6);
    running.kill();
    world.nothing_left();
    let (capacity, before) = (world.kept("out/capacity").journal(), serving.whole_lines());
    let (out, folder) = (world.text("out"), world.text("systems"));
    let ended = world.run(&["choose", "--systems-dir", &folder, "--resume", &out]).expect(0);
    let ended = ended.says(&["part 2 of 4: serving", "part 4 of 4: half"]);
    assert!(!ended.stderr.contains("part 1 of 4"), "{}", ended.stderr);
    assert_eq!(world.kept("out/capacity").journal(), capacity, "what was measured is not measured again");
    assert!(serving.journal().starts_with(&before), "records are gone");
    for part in ["out/serving", "out/quarter", "out/half"] {
        world.kept(part).is_complete();
    }
    // The needs are read from the folder, wherever the file was.
    assert!(world.path("out/decision.json").exists());
    world.nothing_left();
}

/// Starts a choice with questions and kills it in its second part.
fn killed_in_serving(world: &World) {
    let mut running = start(world, "ma,mb", &[]);
    let serving = world.kept("out/serving");
    eventually("trials of the second part are recorded", || running.has_ended() || serving.recorded() > 12);
    running.kill();
    world.nothing_left();
}

#[test]
fn a_part_that_ends_early_keeps_its_trials_and_is_told() {
    let world = world();
    killed_in_serving(&world);
    // The run of the part cannot go on with another system.
    system("mb", json!({"delay_ms": {"kv_read": 2}})).write(&world.path("systems"));
    let (out, folder) = (world.text("out"), world.text("systems"));
    let ended = world.run(&["choose", "--systems-dir", &folder, "--resume", &out]).expect(1);
    let decision = super::decision(&world);
    let notes = decision["notes"].to_string();
    assert!(
        notes.contains("serving ended early: ") && notes.contains("--resume"),
        "{notes}\n{}",
        ended.stderr
    );
    assert!(!notes.contains("nothing succeeded"), "{notes}");
    let page = std::fs::read_to_string(world.path("out/choose.html")).unwrap();
    assert!(page.contains("serving/report.html"), "its trials are on the page");
}

#[test]
fn other_documents_are_refused_between_two_parts() {
    let world = world();
    killed_in_serving(&world);
    world.file("data.ndjson", documents(201));
    let (out, folder) = (world.text("out"), world.text("systems"));
    let ended = world.run(&["choose", "--systems-dir", &folder, "--resume", &out]).expect(2);
    ended.says(&["data.ndjson has changed since this choice began", "start a new choice"]);
}

#[test]
fn an_interrupted_choice_says_how_to_resume_it() {
    let world = world();
    let mut running = start(&world, "ma,mb", &[]);
    let capacity = world.kept("out/capacity");
    eventually("trials of the first part are recorded", || running.has_ended() || capacity.recorded() > 3);
    running.signal(Signal::INT);
    let out = world.text("out");
    running.end(LIMIT).expect(4).says(&["resume with: jsonathlon choose --resume", &out]);
    world.nothing_left();
    let folder = world.text("systems");
    world.run(&["choose", "--systems-dir", &folder, "--resume", &out]).expect(0);
    world.kept("out/serving").is_complete();
}
