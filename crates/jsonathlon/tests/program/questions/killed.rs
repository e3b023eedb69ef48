//! A run that is killed goes on: what was agreed stays agreed.

use std::time::{Duration, Instant};

use jsonathlon_results::record::Basis;
use serde_json::json;

use super::{SUM, agreement, documents, folder, start};
use crate::support::{LIMIT, World, mock};

#[test]
fn a_run_goes_on_with_what_was_agreed() {
    let slow = json!({"delay_ms": {"answer": 150}});
    let world = World::with(&[mock("one", slow.clone()).questions(), mock("two", slow).questions()]);
    let data = documents(&world);
    folder(
        &world,
        &[
            ("questions.toml", SUM),
            ("one/sum.sql", "answer {{table}} [[1]];\n"),
            ("two/sum.sql", "answer {{table}} [[1.0]];\n"),
        ],
    );
    let mut running = start(&world, "one,two", &data, &["-r", "4"]);
    // Once the answers are held against each other, trials follow.
    let begun = Instant::now();
    let has_agreed = || {
        let journal = world.path("out").join("journal.ndjson");
        std::fs::read_to_string(journal)
            .is_ok_and(|text| text.contains("\"agreement\"") && text.lines().count() > 6)
    };
    while !has_agreed() {
        assert!(!running.has_ended() && begun.elapsed() < LIMIT, "it never came to trials");
        std::thread::sleep(Duration::from_millis(10));
    }
    running.kill();
    let before = world.kept("out").recorded();
    let out = world.text("out");
    let folders = world.text("systems");
    let summary = world
        .start(&["run", "--resume", &out, "--systems-dir", &folders, "--json"])
        .end(LIMIT)
        .expect(0)
        .summary();
    assert!(summary.complete && world.kept("out").recorded() > before);
    assert_eq!(agreement(&summary, "sum").basis, Basis::Agreed);
    assert_eq!(summary.agreements.len(), 1, "it was not asked again");
    // Other questions make another run.
    folder(&world, &[("questions.toml", &SUM.replace("Sum of", "Total of"))]);
    let error = world.run(&["run", "--resume", &out, "--systems-dir", &folders]).expect(2).stderr;
    assert!(error.contains("were changed"), "{error}");
    world.nothing_left();
}
