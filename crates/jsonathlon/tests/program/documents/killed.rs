//! The program killed in the middle of large documents.

use serde_json::json;

use super::start;
use crate::support::killed::{killed_to_its_end, moments};
use crate::support::{World, mock};

/// Kills at most.
const KILLS: u32 = 8;
/// The latest moment of a kill, milliseconds after the start.
const LATEST_MS: u64 = 900;

#[test]
fn a_run_that_is_killed_goes_on_where_it_was() {
    let world = World::with(&[mock("ma", json!({})).documents(""), mock("mb", json!({})).documents("")]);
    let begin = || start(&world, "ma,mb", &["--data", "identical,distinct", "--sizes", "1KiB,4KiB"]);
    killed_to_its_end(&world, KILLS, moments(0x2545_f491_4f6c_dd1d, LATEST_MS), begin, || {});
}
