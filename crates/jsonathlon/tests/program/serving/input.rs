//! Invalid options of `run serving`, and their error messages.

use serde_json::json;

use crate::support::{World, mock};

fn refused(more: &[&str], words: &[&str]) {
    let world = World::with(&[mock("ma", json!({})).serving()]);
    world.start_serving("out", "ma", more).end(crate::support::LIMIT).expect(2).says(words);
    assert!(!world.path("out").exists(), "nothing was begun");
}

#[test]
fn mixes_are_named_or_files() {
    refused(&["--mixes", "z"], &["no mix is called `z`", "churn", ".toml"]);
    refused(&["--mixes", ","], &["names no mix"]);
    refused(&["--mixes", "missing.toml"], &["missing.toml", "cannot read"]);
}

#[test]
fn a_mix_file_is_read_strictly() {
    let world = World::with(&[mock("ma", json!({})).serving()]);
    for (text, words) in [
        ("requests = \"zipfian\"\nspeed = 1\n[operations]\nread = 1.0\n", "unknown field `speed`"),
        ("requests = \"zipfian\"\n[operations]\nread = 0.5\nupdate = 0.2\n", "add up to 0.7"),
        ("requests = \"zipfian\"\n[operations]\nreed = 1.0\n", "`reed`"),
        ("requests = \"zipfian\"\n[operations]\nupdate = 0.5\nupdate-all = 0.5\n", "different values"),
    ] {
        let file = world.file("mine.toml", text);
        world.serve("ma", &["--mixes", &file]).expect(2).says(&[words]);
    }
    let file = world.file("mine.toml", "requests = \"uniform\"\n[operations]\nread = 0.8\nupdate = 0.2\n");
    let summary = world.serve("ma", &["--mixes", &file, "-r", "1"]).expect(0).summary();
    assert!(summary.results.iter().any(|entry| entry.cell.step.word() == "mine"));
}

#[test]
fn numbers_that_make_no_sense_are_refused() {
    refused(&["--clients", "0"], &["--clients"]);
    refused(&["--rates", "fast"], &["invalid rate"]);
    refused(&["--slo", "p99<5"], &["no objective"]);
    refused(&["--document-size", "0.1"], &["0.5 to 64"]);
}

#[test]
fn options_of_other_workloads_are_refused() {
    for option in ["--malformed", "--questions", "--precision", "--data-state"] {
        refused(&[option, "1"], &["unexpected argument", option]);
    }
    refused(&["--duraton", "1s"], &["unexpected argument", "a similar argument exists: '--duration'"]);
}

#[test]
fn a_tier_that_a_system_does_not_have_is_named() {
    refused(&["--durability", "window"], &["window", "synced"]);
}

#[test]
fn a_key_that_documents_cannot_hold_is_refused_before_anything_is_begun() {
    let named = mock("mb", json!({})).serving_with("key_member = \"field0\"");
    let world = World::with(&[mock("ma", json!({})).serving(), named]);
    world
        .start_serving("out", "ma,mb", &[])
        .end(crate::support::LIMIT)
        .expect(2)
        .says(&["mb calls the key `field0`", "documents have a member `field0` that is not their key"]);
    assert!(!world.path("out").join("journal.ndjson").exists(), "nothing was begun");
}
