//! Mistakes of users, which are reported before anything is measured.

use serde_json::json;

use super::{choose, documents, system};
use crate::support::World;

fn world() -> World {
    let world = World::with(&[system("ma", json!({}))]);
    world.file("data.ndjson", documents(50));
    world
}

#[test]
fn needs_are_read_strictly_before_anything_is_begun() {
    let world = world();
    for (text, words) in [
        ("[needs]\n\nresponce = \"p99 < 5ms\"\n", vec!["needs.toml:3", "responce", "response"]),
        ("[needs]\nresponse = \"p99 < 5ms\"\n", vec!["needs.toml:2", "[load]"]),
        ("[load]\nreads = 0.5\n", vec!["needs.toml:", "1"]),
        ("[documents]\nnow = \"2m\"\nlater = \"1m\"\n", vec!["needs.toml:3", "later", "now"]),
        ("[needs]\ndurability = \"synchronised\"\n", vec!["needs.toml:2", "synced"]),
        ("[needs\n", vec!["needs.toml:1"]),
    ] {
        let needs = world.file("needs.toml", text);
        choose(&world, "ma", &["--needs", &needs]).expect(2).says(&words);
        assert!(!world.path("out").exists(), "{text}: nothing was begun");
    }
    choose(&world, "ma", &["--needs", "missing.toml"]).expect(2).says(&["cannot read missing.toml"]);
}

#[test]
fn what_the_documents_cannot_do_is_refused_before_a_system_starts() {
    let world = world();
    world.file("data.ndjson", "{\"id\":1}\n{\"id\":2}\n");
    let needs = world.file("needs.toml", "[load]\nreads = 0.5\nupdates = 0.5\n");
    choose(&world, "ma", &["--needs", &needs]).expect(2).says(&["[load] has updates", "set `updates` to 0"]);
    assert!(!world.path("out").exists());
    choose(&world, "ma", &["--data", "nowhere.ndjson"]).expect(2).says(&["nowhere.ndjson"]);
    assert!(!world.path("out").exists());
    // Whether a key is unique is known once all documents are read.
    world.file("data.ndjson", "{\"id\":1,\"k\":\"a\"}\n{\"id\":2,\"k\":\"a\"}\n");
    let needs = world.file("needs.toml", "[documents]\nkey = \"/k\"\n[load]\nreads = 1.0\n");
    choose(&world, "ma", &["--needs", &needs]).expect(2).says(&["/k"]);
    assert!(!world.path("out").exists(), "nothing was measured");
}

#[test]
fn arguments_are_checked_with_the_remedy() {
    let world = world();
    choose(&world, "mysqll", &[]).expect(2).says(&["mysqll", "mysql"]);
    choose(&world, "ma", &["--variants", "none-such"]).expect(2).says(&["none-such"]);
    choose(&world, "yardstick", &[]).expect(2).says(&["no system can take part", "yardstick"]);
    choose(&world, "ma", &["--budget", "1s"]).expect(2).says(&["the budget is 1 s", "give --budget"]);
    assert!(!world.path("out").exists());
    world.run(&["choose", "--resume", "nowhere"]).expect(2).says(&["nowhere is no folder of a choice"]);
    std::fs::create_dir(world.path("out")).unwrap();
    world.file("out/file", "mine");
    choose(&world, "ma", &[]).expect(2).says(&["is not empty", "--resume"]);
    assert!(world.path("out/file").exists());
    world.run(&["choose"]).expect(2).says(&["--data"]);
    world.run(&["choose", "--resume", "x", "--data", "y"]).expect(2).says(&["cannot be used with"]);
}

#[test]
fn a_file_of_needs_is_written_once_and_can_be_used() {
    let world = world();
    let (file, data) = (world.text("needs.toml"), world.text("data.ndjson"));
    let ended = world.run(&["choose", "new", &file, "--data", &data]).expect(0);
    for words in ["50 documents", "key      /id (", "update   /status (", "jsonathlon choose --needs "] {
        assert!(ended.stdout.contains(words), "`{words}` is not in:\n{}", ended.stdout);
    }
    let text = std::fs::read_to_string(&file).unwrap();
    assert!(text.contains("/id") && text.contains("/status") && text.contains("50"), "{text}");
    world.run(&["choose", "new", &file, "--data", &data]).expect(2).says(&["exists already"]);
    assert_eq!(std::fs::read_to_string(&file).unwrap(), text);
    let other = world.text("other.toml");
    world.run(&["choose", "new", &other, "--data", "-"]).expect(2).says(&["are read again"]);
    assert!(!world.path("other.toml").exists());
    choose(&world, "ma", &["--needs", &file]).expect(0);
}
