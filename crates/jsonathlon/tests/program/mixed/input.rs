//! Invalid options of `run mixed`, and their error messages.

use serde_json::json;

use crate::support::{LIMIT, World, mock};

fn refused(more: &[&str], words: &[&str]) {
    let system =
        mock("ma", json!({})).mixed_with("snapshot = true\nvisible = \"commit\"\nmax_connections = 4");
    let world = World::with(&[system, mock("mb", json!({}))]);
    world.start_mixed("out", "ma", more).end(LIMIT).expect(2).says(words);
    assert!(!world.path("out").join("journal.ndjson").exists(), "nothing was begun");
}

#[test]
fn what_cannot_be_measured_is_refused_with_what_can() {
    refused(&["--rate", "10..80%"], &["own peak", "10%,20%,50%,80%,max"]);
    refused(&["--rate", "10%,2000"], &["\"2000\" is no share", "several runs"]);
    refused(&["--rate", "10%,max,10%"], &["twice"]);
    refused(&["--rate", "10%,max", "--streams", "1,4"], &["give one number"]);
    refused(&["--streams", "1,4"], &["give one number", "--rate 0"]);
    for (option, value) in [("--writers", "2"), ("--batch", "2"), ("--growth", "2%")] {
        refused(&["--rate", "0", option, value], &[option, "means nothing with --rate 0"]);
    }
    refused(&["--rate", "0", "--streams", "4,1,4"], &["names 4 twice"]);
    refused(&["--rate", "0", "--streams", "0,1"], &["1 to 1024"]);
    refused(&["--writers", "0"], &["--writers"]);
    refused(&["--writers", "501"], &["--writers", "500"]);
    refused(&["--batch", "0"], &["--batch"]);
    refused(&["--growth", "0%"], &["--growth"]);
    refused(&["--measure", "1ms"], &["--measure"]);
}

#[test]
fn options_of_other_workloads_are_refused() {
    for option in ["--clients", "--mixes", "--questions"] {
        refused(&[option, "1"], &["unexpected argument", option]);
    }
}

#[test]
fn more_connections_than_a_system_admits_are_told_before_anything_is_begun() {
    refused(&["--streams", "3"], &["ma", "admits 4 connections at a time", "--streams"]);
    refused(&["--rate", "0", "--streams", "1,5"], &["ma", "5 streams need as many", "--streams"]);
}

#[test]
fn a_system_without_one_snapshot_is_told_before_anything_is_loaded() {
    let loose = mock("ma", json!({})).mixed_with("snapshot = false\nvisible = \"commit\"");
    let ended = World::with(&[loose]).mix("ma", &[]).expect(0);
    let told = ended.stderr.find("no statement that sees one moment only").unwrap();
    assert!(told < ended.stderr.find("loading ma").unwrap(), "{}", ended.stderr);
}

#[test]
fn variants_without_a_snapshot_are_refused_with_those_that_have_one() {
    let world = World::new();
    let out = world.text("out");
    let refused = world.run(&["run", "mixed", "-s", "mongodb", "--variants", "indexed", "-o", &out]);
    refused.expect(2).says(&["`indexed` for other workloads than mixed", "read concern snapshot"]);
    assert!(!world.path("out").exists(), "nothing was begun");
}

#[test]
fn a_pool_that_is_used_up_before_anything_is_measured_is_told_with_what_suffices() {
    refused(&["--rate", "1000000"], &["documents that may come in last", "--growth", "--rate"]);
    refused(&["-n", "100", "--growth", "1%", "--rate", "max"], &["2 writers need at least one each"]);
}

#[test]
fn a_system_without_statements_for_it_is_named() {
    let world = World::with(&[mock("ma", json!({})).mixed(), mock("mb", json!({}))]);
    world.start_mixed("out", "ma,mb", &[]).end(LIMIT).expect(2).says(&["mb", "mixed"]);
}

#[test]
fn help_names_the_options_with_their_defaults() {
    let help = World::new().run(&["run", "mixed", "--help"]).expect(0).unbroken();
    for words in ["--writers", "--streams", "--batch", "--rate", "--growth", "--measure", "default: 2000"] {
        assert!(help.contains(words), "{words:?} is not in\n{help}");
    }
}
