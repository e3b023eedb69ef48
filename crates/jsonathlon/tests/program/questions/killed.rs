//! A killed run is resumed: agreed answers stay agreed.

use std::time::{Duration, Instant};

use jsonathlon_schema::record::{ExpectedAnswerSource, Verdict};
use serde_json::json;

use super::{SUM, agreement, documents, folder, start, verdict};
use crate::support::{LIMIT, World, mock};

#[test]
fn a_run_goes_on_with_what_was_agreed() {
    // The systems hold different documents, so each is compared with its own answer, which is recorded too.
    let slow = json!({"delay_ms": {"count": 150}});
    let refusing =
        json!({"delay_ms": {"count": 150}, "rejections": [{"ordinal": 7, "reason": "not this one"}]});
    let world = World::with(&[mock("one", slow).questions(), mock("two", refusing).questions()]);
    let data = documents(&world);
    folder(
        &world,
        &[
            ("questions.toml", SUM),
            ("one/sum.sql", "count {{table}};\n"),
            ("two/sum.sql", "count {{table}};\n"),
        ],
    );
    let mut running = start(&world, "one,two", &data, &["-r", "4"]);
    // Trials follow after the answers have been compared.
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
    let one = agreement(&summary, "sum");
    assert_eq!((one.basis, one.documents), (ExpectedAnswerSource::Agreed, 49));
    assert_eq!(verdict(&summary, "one", "sum"), Verdict::Exact);
    assert_eq!(summary.agreements.len(), 1, "it was not asked again");
    // Changed questions make it a different run.
    folder(&world, &[("questions.toml", &SUM.replace("Sum of", "Total of"))]);
    let error = world.run(&["run", "--resume", &out, "--systems-dir", &folders]).expect(2).stderr;
    assert!(error.contains("were changed"), "{error}");
    world.nothing_left();
}
