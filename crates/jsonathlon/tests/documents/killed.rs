//! The program killed in the middle of large documents.

use std::time::Duration;

use serde_json::json;

use crate::start;
use crate::support::{World, mock};

/// Kills; more are asked for by `JSONATHLON_KILLS` as elsewhere.
const KILLS: u32 = 8;
/// The latest moment of a kill, milliseconds after the start.
const LATEST_MS: u64 = 900;

#[test]
fn a_run_that_is_killed_goes_on_where_it_was() {
    let world = World::with(&[mock("ma", json!({})).documents(""), mock("mb", json!({})).documents("")]);
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        Duration::from_millis(state % LATEST_MS)
    };
    let kept = world.kept("out");
    let mut killed = 0;
    loop {
        let mut running = match world.path("out").join("manifest.json").exists() {
            true => world.start_resuming("out"),
            false => {
                // What was begun without a plan is of no use.
                std::fs::remove_dir_all(world.path("out")).ok();
                start(&world, "ma,mb", &["--data", "identical,distinct", "--sizes", "1KB,4KB"])
            }
        };
        if killed >= KILLS {
            running.end(crate::LIMIT).expect(0);
            break;
        }
        std::thread::sleep(next());
        if running.has_ended() {
            running.end(crate::LIMIT).expect(0);
            break;
        }
        let before = kept.whole_lines();
        running.kill();
        killed += 1;
        assert!(kept.journal().starts_with(&before), "records are gone");
        world.nothing_left();
    }
    assert!(killed > 0, "it was never killed");
    let exported = world.run(&["export", "-f", "json", &world.text("out")]).expect(0);
    let summary: jsonathlon_results::summary::Summary = serde_json::from_str(&exported.stdout).unwrap();
    assert!(summary.complete && summary.failures.is_empty(), "{:?}", summary.failures);
    kept.is_complete();
    assert!(kept.work().is_empty());
}
