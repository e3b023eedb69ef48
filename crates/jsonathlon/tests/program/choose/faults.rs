//! Systems and parts that fail.

use serde_json::json;

use super::{choose, decision, documents, of_system, questions, system};
use crate::support::World;

#[test]
fn a_system_that_cannot_hold_the_documents_leaves_the_others_alone() {
    // The key is a member of the documents in this system, and the documents have another one there.
    let picky = crate::support::mock("picky", json!({})).serving_documents("key_member = \"status\"");
    let world = World::with(&[system("ma", json!({})), picky]);
    world.file("data.ndjson", documents(100));
    let ended = choose(&world, "ma,picky", &[]).expect(0);
    let ended = ended.says(&["note: picky takes no part in reads and changes of single documents: "]);
    assert_eq!(ended.stderr.matches("picky takes no part in reads").count(), 1, "{}", ended.stderr);
    let systems = |part: &str| -> Vec<String> {
        let manifest = world.kept(part).manifest();
        manifest.configurations.into_iter().map(|one| one.id.system).collect()
    };
    assert_eq!(
        (systems("out/capacity"), systems("out/serving")),
        (vec!["ma".to_owned()], vec!["ma".to_owned()])
    );
    of_system(&decision(&world), "ma");
}

#[test]
fn a_part_in_which_nothing_succeeds_is_told_and_the_others_are_used() {
    let failing =
        json!({"faults": [{"statement": "kv_read", "action": "refuse", "message": "no such function"}]});
    let world = World::with(&[system("ma", failing.clone()), system("mb", failing)]);
    world.file("data.ndjson", documents(100));
    questions(&world, &["ma", "mb"]);
    let needs = world.file(
        "needs.toml",
        "[load]\nreads = 1.0\nclients = 2\nrate = 400\n[needs]\nresponse = \"p50 < 1s\"\n",
    );
    choose(&world, "ma,mb", &["--needs", &needs]).expect(1);
    let decision = decision(&world);
    for system in ["ma", "mb"] {
        assert_eq!(of_system(&decision, system)["meets_all"], false, "{decision:#}");
    }
}

#[test]
fn a_single_failure_is_no_failure_of_the_part() {
    let failing =
        json!({"faults": [{"statement": "kv_read", "action": "refuse", "message": "no such function"}]});
    let world = World::with(&[system("ma", json!({})), system("mb", failing)]);
    world.file("data.ndjson", documents(100));
    let needs = world.file(
        "needs.toml",
        "[load]\nreads = 1.0\nclients = 2\nrate = 400\n[needs]\nresponse = \"p50 < 1s\"\n",
    );
    choose(&world, "ma,mb", &["--needs", &needs]).expect(0);
    let decision = decision(&world);
    assert_eq!(of_system(&decision, "mb")["meets_all"], false, "{decision:#}");
    assert_eq!(of_system(&decision, "ma")["meets_all"], true, "{decision:#}");
}
