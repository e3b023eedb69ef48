//! The program is killed during the documents workload.

use serde_json::json;

use super::start;
use crate::support::killed::{killed_to_its_end, moments};
use crate::support::{World, mock};

/// Maximum number of kills.
const KILLS: u32 = 8;
/// Latest moment of a kill, in ms after the start.
const LATEST_MS: u64 = 900;

#[test]
fn a_run_that_is_killed_goes_on_where_it_was() {
    let world = World::with(&[mock("ma", json!({})).documents(""), mock("mb", json!({})).documents("")]);
    // Updates at several depths and versions change a document that is imported again after a kill.
    let arguments =
        ["--content", "identical,distinct", "--sizes", "1KiB,4KiB", "--update-path", "--versions", "3"];
    let begin = || start(&world, "ma,mb", &arguments);
    killed_to_its_end(&world, KILLS, moments(0x2545_f491_4f6c_dd1d, LATEST_MS), begin, || {});
}
