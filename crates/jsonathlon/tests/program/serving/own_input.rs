//! Invalid documents and options of `run serving --data`, and what is said about them; interrupted runs.

use serde_json::json;

use super::own_documents::{HOSTILE_PATH, hostile_documents};
use crate::support::killed::{killed_until_it_ends, moments};
use crate::support::{LIMIT, World, mock};

/// Number of kills, and the latest moment of one in ms after the start.
const KILLS: u32 = 5;
const LATEST_MS: u64 = 1200;

fn world() -> World {
    World::with(&[mock("ma", json!({})).serving_documents("")])
}

/// Runs over these documents, and expects that nothing is begun and these words are said.
fn refused(documents: &str, options: &[&str], words: &[&str]) {
    let world = world();
    let data = world.file("data.ndjson", documents);
    let options = [&["--data", data.as_str()], options].concat();
    world.start_serving("out", "ma", &options).end(LIMIT).expect(2).says(words);
    assert!(!world.path("out").join("journal.ndjson").exists(), "nothing was begun");
}

#[test]
fn mixes_that_need_generated_shapes_are_refused() {
    let documents = hostile_documents(3);
    for mix in ["find", "count", "unwrap", "unwrap-all", "update-element"] {
        refused(&documents, &["--mixes", mix], &["--mixes", mix, "--data"]);
    }
}

#[test]
fn options_of_generated_records_are_refused() {
    let documents = hostile_documents(3);
    for options in [
        ["--documents", "flat"],
        ["--document-size", "2"],
        ["--members", "3"],
        ["--value-content", "random"],
        ["--key-order", "ordered"],
        ["--key-type", "bigint"],
        ["--data-to-memory", "2"],
        ["--stored-size", "{}"],
        ["-n", "10"],
    ] {
        let name = if options[0] == "-n" { "--scale" } else { options[0] };
        refused(&documents, &options, &[name, "cannot be used with --data"]);
    }
    let world = world();
    for option in ["--key", "--update"] {
        world.start_serving("out", "ma", &[option, "/id"]).end(LIMIT).expect(2).says(&[option, "--data"]);
    }
}

#[test]
fn a_key_that_documents_share_is_refused_with_both_places() {
    let documents = "{\"id\":1,\"n\":7}\n{\"id\":2,\"n\":8}\n{\"id\":3,\"n\":7}\n";
    refused(documents, &["--key", "/n"], &["data.ndjson, line 1", "data.ndjson, line 3", "/n"]);
}

#[test]
fn a_key_that_a_document_lacks_or_that_is_none_is_refused_with_its_place() {
    let documents = "{\"id\":1,\"n\":7}\n{\"n\":8}\n{\"id\":0.5,\"n\":9}\n";
    refused(documents, &["--key", "/id"], &["data.ndjson, line 2", "/id"]);
    let documents = "{\"id\":1}\n{\"id\":0.5}\n";
    refused(documents, &["--key", "/id"], &["data.ndjson, line 2", "/id"]);
    refused(documents, &["--key", "id"], &["--key id", "JSON pointer"]);
    refused(documents, &["--update", "id"], &["--update id", "JSON pointer"]);
}

#[test]
fn documents_without_a_unique_path_have_their_line_as_key() {
    let world = world();
    let data = world.file("data.ndjson", "{\"a\":\"same text\"}\n{\"a\":\"same text\"}\n");
    let ended = world.serve("ma", &["--data", &data, "-r", "1"]).expect(0);
    ended.says(&["key line", "no path is in every document", "update /a"]);
    assert!(world.kept("out").manifest().data.source.ends_with("key line, update /a"));
}

#[test]
fn documents_with_nothing_to_update_are_refused_with_mixes_that_update() {
    let documents = "{\"id\":1,\"x\":0.5}\n{\"id\":2,\"x\":true}\n";
    refused(documents, &["--mixes", "a"], &["the mix a updates documents", "--mixes c"]);
    let world = world();
    let data = world.file("data.ndjson", documents);
    world.serve("ma", &["--data", &data, "-r", "1", "--mixes", "c,d,insert"]).expect(0);
    assert!(world.kept("out").manifest().data.source.ends_with("key /id, update none"));
}

#[test]
fn an_update_path_that_no_document_has_is_refused() {
    refused(&hostile_documents(3), &["--update", "/missing"], &["/missing"]);
}

#[test]
fn a_member_that_a_system_takes_for_the_key_is_refused() {
    let world = World::with(&[mock("ma", json!({})).serving_documents("key_member = \"count\"")]);
    let data = world.file("data.ndjson", hostile_documents(3));
    world
        .start_serving("out", "ma", &["--data", &data])
        .end(LIMIT)
        .expect(2)
        .says(&["ma cannot hold the documents of --data", "`count`"]);
    assert!(!world.path("out").join("journal.ndjson").exists(), "nothing was begun");
    let world = World::with(&[mock("ma", json!({})).serving_documents("added_member = \"count\"")]);
    let data = world.file("data.ndjson", hostile_documents(3));
    world
        .start_serving("out", "ma", &["--data", &data])
        .end(LIMIT)
        .expect(2)
        .says(&["leaves the member `count` out of its answers", "--variants"]);
    let reason = "generated_only = \"its columns have names\"";
    let world = World::with(&[mock("ma", json!({})).serving_documents(reason)]);
    let data = world.file("data.ndjson", hostile_documents(3));
    let options = ["--data", data.as_str()];
    world.start_serving("out", "ma", &options).end(LIMIT).expect(2).says(&["its columns have names"]);
}

#[test]
fn a_member_that_is_the_key_is_accepted_where_a_system_keeps_the_key() {
    let world = World::with(&[mock("ma", json!({})).serving_documents("key_member = \"id\"")]);
    let data = world.file("data.ndjson", hostile_documents(200));
    let named = ["--data", &data, "--key", "/id", "--update", HOSTILE_PATH];
    let options = [&named[..], &["--mixes", "a,d,e,churn", "-r", "1"]].concat();
    let summary = world.serve("ma", &options).expect(0).summary();
    assert!(summary.complete && summary.failures.is_empty(), "{:?}", summary.failures);
}

#[test]
fn a_killed_run_goes_on_and_documents_that_changed_are_noticed() {
    let world = world();
    let data = world.file("data.ndjson", hostile_documents(200));
    let mut next = moments(0x2545_f491_4f6c_dd1d, LATEST_MS);
    let begin = || {
        let options = ["--data", &data, "--update", HOSTILE_PATH, "--mixes", "a,c"];
        world.start_serving("out", "ma", &options)
    };
    killed_until_it_ends(&world, "out", KILLS, &mut next, begin, || {});
    let manifest = world.kept("out").manifest();
    assert!(manifest.data.source.ends_with(&format!("key /id, update {HOSTILE_PATH}")));
    world.file("data.ndjson", hostile_documents(199));
    world.start_resuming("out").end(LIMIT).expect(2).says(&["the documents are not those of the run"]);
}
