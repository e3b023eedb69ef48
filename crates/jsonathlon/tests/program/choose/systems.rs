//! Embedded engines at a tiny scale, with proposed questions.

use super::{choose, decision, documents, of_system};
use crate::support::World;
use crate::support::real::excluded;

#[test]
fn engines_are_served_asked_and_sized() {
    if excluded(&["duckdb"]) {
        return;
    }
    let world = World::new();
    world.file("data.ndjson", documents(2_000));
    let needs = world.file(
        "needs.toml",
        "[documents]\nlater = \"20k\"\n\
         [load]\nreads = 0.8\nupdates = 0.1\ninserts = 0.1\nclients = 2\n\
         [needs]\nrejected = \"0 %\"\nround_trip = \"same values\"\nkind = \"embedded\"\n",
    );
    let options = ["--needs", &needs, "--budget", "3m", "--memory", "600MB"];
    let ended = choose(&world, "sqlite,duckdb", &options).expect(0);
    for part in ["capacity", "serving", "questions", "quarter", "half"] {
        world.kept(&format!("out/{part}")).is_complete();
    }
    assert!(world.path("out/my-questions/questions.toml").exists());
    let decision = decision(&world);
    for system in ["sqlite", "duckdb"] {
        assert_eq!(of_system(&decision, system)["meets_all"], true, "{decision:#}\n{}", ended.stderr);
        assert_eq!(world.kept("out/half").manifest().data.documents, 1_000);
    }
    world.nothing_left();
}
