//! Mistakes of users in studies, and their error messages.

use serde_json::json;

use super::begun::{MINE, study, world};
use crate::support::{World, mock};

#[test]
fn an_unknown_study_is_named_with_those_that_there_are() {
    let world = world();
    study(&world, &["indexes"]).expect(2).says(&["no study is called `indexes`", "index", "size", ".toml"]);
    study(&world, &["missing.toml"]).expect(2).says(&["cannot read missing.toml"]);
    study(&world, &["--resume", "nowhere"]).expect(2).says(&["nowhere is no folder of a study"]);
}

#[test]
fn a_file_is_read_strictly_before_anything_is_begun() {
    let world = world();
    let refused = |from: &str, to: &str, words: &[&str]| {
        assert!(MINE.contains(from), "{from}");
        let file = world.file("mine.toml", MINE.replacen(from, to, 1));
        study(&world, &[&file, "-o", &world.text("out")]).expect(2).says(words);
        assert!(!world.path("out").exists(), "nothing was begun");
    };
    refused("minutes", "minuets", &["mine.toml:4", "unknown field `minuets`", "expected one of"]);
    refused("clients =", "client =", &["mine.toml:11", "`client`", "clients"]);
    refused("mixes = \"c\"", "mixes = \"z\"", &["no mix is called `z`", "churn"]);
    refused("documents = \"flat\"", "documents = \"flet\"", &["mine.toml:8", "flet", "nested"]);
    refused("\"random\"]", "\"rundom\"]", &["mine.toml:17", "rundom", "random"]);
    refused("[\"ma\"]", "[\"mysqll\"]", &["mysqll", "mysql"]);
    refused("records = 200", "records = \"many\"", &["mine.toml:9", "many"]);
}

#[test]
fn options_in_place_of_the_studys_own_are_checked() {
    let world = world();
    let file = world.file("mine.toml", MINE);
    let refused = |set: &str, words: &[&str]| {
        study(&world, &[&file, "--set", set]).expect(2).says(words);
    };
    refused("value-content=rundom", &["--set value-content", "rundom", "random"]);
    refused("durability=windw", &["--set durability", "windw", "synced, process, window"]);
    refused("colour=red", &["colour", "document-size"]);
    refused("duration", &["records=1k"]);
}

#[test]
fn a_system_that_has_nothing_to_vary_is_said_and_left_out() {
    let world = world();
    let text = format!("{MINE}\n[variants]\nma = [\"served\"]\n");
    let file = world.file("mine.toml", text);
    let out = world.text("out");
    let ended = study(&world, &[&file, "-o", &out, "-s", "ma,mb"]).expect(0);
    assert!(ended.stderr.contains("note: skipping mb: it has nothing to vary"), "{}", ended.stderr);
    assert!(!ended.unbroken().contains("The system mb"));
    study(&world, &[&file, "-s", "mb"]).expect(2).says(&["none of the systems", "skipping mb"]);
    study(&world, &["versions", "-s", "ma"]).expect(2).says(&["one version, and nothing to vary"]);
    let tiers = MINE
        .replace(
            "option = \"value-content\"\nvalues = [\"text\", \"random\"]",
            "option = \"durability\"\nvalues = [\"synced\", \"window\"]",
        )
        .replace("value-content = \"random\"", "durability = \"window\"")
        .replace("value-content = \"text\"", "durability = \"synced\"");
    let file = world.file("tiers.toml", tiers);
    let ended = study(&world, &[&file, "-o", &world.text("tiers")]).expect(0);
    assert!(ended.stderr.contains("note: skipping ma in window"), "{}", ended.stderr);
    assert!(ended.unbroken().contains("No answer: "), "{}", ended.stdout);
}

/// The failure has the server's message, and the results of the others are kept.
#[test]
fn a_server_that_refuses_a_setting_fails_alone() {
    let refuses = json!({"faults": [{"statement": "open", "action": "refuse", "message": "unknown setting shared_bufers"}]});
    let world = World::with(&[mock("ma", json!({})).serving(), mock("mb", refuses).serving()]);
    let file = world.file("mine.toml", MINE);
    let ended = study(&world, &[&file, "-o", &world.text("out"), "-s", "ma,mb"]).expect(1);
    for words in ["failed: mb", "unknown setting shared_bufers", "With random values The system ma does"] {
        assert!(ended.unbroken().contains(words), "`{words}` is not in:\n{}", ended.stdout);
    }
}

#[test]
fn one_cpu_is_too_few_for_cores() {
    let world = world();
    let folder = world.text("systems");
    let program = crate::support::PROGRAM;
    let mut command = std::process::Command::new("taskset");
    command.args(["-c", "0", program, "study", "--systems-dir", &folder, "cores"]);
    let ended = command.current_dir(world.path("")).output().unwrap();
    let said = String::from_utf8_lossy(&ended.stderr).into_owned();
    assert_eq!(ended.status.code(), Some(2), "{said}");
    assert!(said.contains("1, 2, 4 … CPUs, and there is 1 here"), "{said}");
}
