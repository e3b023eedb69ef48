//! A choice from its beginning to its page, and what it leaves in its folder.

use serde_json::json;

use super::{choose, decision, documents, of_system, questions, system};
use crate::support::{LIMIT, World, names_in};

fn world() -> World {
    let world = World::with(&[system("ma", json!({})), system("mb", json!({"delay_ms": {"kv_read": 2}}))]);
    world.file("data.ndjson", documents(200));
    world
}

#[test]
fn without_needs_every_system_is_measured_and_nothing_is_needed() {
    let world = world();
    let ended = choose(&world, "ma,mb", &[]).expect(0).says(&[
        "over about 200 documents",
        "  capacity ",
        "  serving ",
        "part 1 of 2: capacity",
        "part 2 of 2: serving",
        "rate: ",
        "that The system mb reached, the slowest",
        "ma takes no part in questions",
    ]);
    assert!(!ended.stdout.trim().is_empty(), "a headline is printed");
    for part in ["out/capacity", "out/serving"] {
        world.kept(part).is_complete();
        assert!(world.path(part).join("report.html").exists());
    }
    assert!(!world.path("out/questions").exists() && !world.path("out/half").exists());
    let decision = decision(&world);
    assert_eq!(decision["schema"], 1);
    for system in ["ma", "mb"] {
        assert!(of_system(&decision, system)["meets_all"].is_null(), "nothing is needed: {decision:#}");
    }
    // Both systems are offered the same rate, and keys and updates are those of the same paths.
    let serving = world.kept("out/serving").manifest();
    assert!(serving.data.source.ends_with("key /id, update /status"), "{}", serving.data.source);
    // Printed again from the saved results; nothing is measured.
    let journal = world.kept("out/serving").journal();
    let (out, folder) = (world.text("out"), world.text("systems"));
    let again = world.run(&["choose", "--systems-dir", &folder, "--resume", &out]).expect(0);
    assert_eq!(again.stdout, ended.stdout);
    assert_eq!(world.kept("out/serving").journal(), journal);
    assert!(!again.stderr.contains("part 1"), "{}", again.stderr);
    world.nothing_left();
}

#[test]
fn questions_of_the_needs_are_asked_and_sizes_grow() {
    let world = world();
    questions(&world, &["ma", "mb"]);
    let needs = world.file("needs.toml", "[documents]\nlater = \"10k\"\n[reports]\nquestions = \"q\"\n");
    choose(&world, "ma,mb", &["--needs", &needs]).expect(0).says(&["  questions ", "  quarter ", "  half "]);
    for (part, count) in [("serving", 200), ("questions", 200), ("quarter", 50), ("half", 100)] {
        let kept = world.kept(&format!("out/{part}"));
        kept.is_complete();
        assert_eq!(kept.manifest().data.documents, count, "{part}");
    }
    let files = names_in(&world.path("out"));
    assert!(!files.iter().any(|name| name.ends_with(".ndjson")), "{files:?}");
    assert!(files.contains(&"needs.toml".to_owned()), "{files:?}");
}

#[test]
fn json_is_the_decision_alone() {
    let world = world();
    let ended = choose(&world, "ma,mb", &["--json"]).expect(0);
    let printed: serde_json::Value = serde_json::from_str(&ended.stdout).unwrap();
    assert_eq!(printed, decision(&world));
    assert!(printed["headline"].is_string());
    let names: Vec<&str> =
        printed["systems"].as_array().unwrap().iter().map(|one| one["system"].as_str().unwrap()).collect();
    assert!(names.contains(&"ma") && names.contains(&"mb"), "{names:?}");
    for system in printed["systems"].as_array().unwrap() {
        for key in ["system", "version", "variant", "meets_all", "needs"] {
            assert!(system.get(key).is_some(), "{key} is missing in {system:#}");
        }
    }
}

#[test]
fn documents_from_a_pipe_are_copied_for_all_runs_and_removed_at_the_end() {
    let world = world();
    let (folder, out) = (world.text("systems"), world.text("out"));
    let mut command = world.command(&[
        "choose",
        "--systems-dir",
        &folder,
        "-s",
        "ma",
        "-o",
        &out,
        "--duration",
        "200ms",
        "--budget",
        "30s",
        "-d",
        "-",
    ]);
    command.stdin(std::fs::File::open(world.path("data.ndjson")).unwrap());
    let running = crate::support::Running::start(command, &world.path("."));
    running.end(LIMIT).expect(0).says(&["are copied to", "documents.ndjson", "over about 200 documents"]);
    assert_eq!(world.kept("out/serving").manifest().data.documents, 200);
    assert!(!world.path("out/documents.ndjson").exists());
    let folder = world.text("systems");
    world.run(&["choose", "--systems-dir", &folder, "--resume", &world.text("out")]).expect(0);
}

#[test]
fn what_does_not_fit_into_the_budget_is_left_out_and_said() {
    let world = world();
    let needs = world.file("needs.toml", "[documents]\nlater = \"10k\"\n");
    // What is left out is said before anything starts. How much it is in the end depends on how fast the machine is.
    let ended = choose(&world, "ma", &["--needs", &needs, "--budget", "17s"]).expect(0);
    let (before, _) = ended.stderr.split_once("part 1 of").unwrap();
    assert!(before.contains("note: left out for a budget of 17 s: half and twice the rate"), "{before}");
}
