//! Tests of user-defined studies with the mock: runs, verdict sentence, page, and resuming.

use serde_json::json;

use crate::support::process::Ended;
use crate::support::{LIMIT, World, eventually, mock};

/// A study of two runs that do not differ on a mock.
pub(crate) const MINE: &str = r#"
question = "Does the kind of values matter?"
claim = "It was said to matter."
minutes = 0.1
systems = ["ma"]

[still]
documents = "flat"
records = 200
mixes = "c"
clients = "2"
rounds = 3
warmup = "20ms"
duration = "700ms"

[[vary]]
option = "value-content"
values = ["text", "random"]

[[verdict]]
of = { value-content = "random" }
than = { value-content = "text" }
says = "with random values {system} does {change} reads at {clients} clients"
claim = "less"
published = "90 % fewer"
"#;

pub(crate) fn world() -> World {
    World::with(&[mock("ma", json!({})).serving(), mock("mb", json!({"delay_ms": {"kv_read": 3}})).serving()])
}

pub(crate) fn study(world: &World, arguments: &[&str]) -> Ended {
    let folder = world.text("systems");
    let mut all = vec!["study", "--systems-dir", &folder];
    all.extend(arguments);
    world.start(&all).end(LIMIT)
}

fn shows(text: &str, words: &[&str]) {
    for word in words {
        assert!(text.contains(word), "`{word}` is not in:\n{text}");
    }
}

#[test]
fn a_study_of_ones_own_ends_in_a_sentence_a_table_and_a_page() {
    let world = world();
    let file = world.file("mine.toml", MINE);
    let out = world.text("out");
    let ended = study(&world, &[&file, "-o", &out]).expect(0);
    shows(
        &ended.unbroken(),
        &[
            "study mine: Does the kind of values matter?",
            "It was said to matter.",
            "With random values The system ma does",
            "reads at 2 clients (90 % fewer published: ",
            "exact",
        ],
    );
    for run in ["out/text", "out/random"] {
        world.kept(run).is_complete();
        assert!(world.path(run).join("report.html").exists());
    }
    let page = std::fs::read_to_string(world.path("out/study.html")).unwrap();
    shows(&page, &["<svg", "Does the kind of values matter?", "With random values", "2 cores"]);
    assert!(!page.contains("<script"), "nothing is run");
    // Printed again from the saved results, exactly equal; nothing is measured.
    let again = study(&world, &["--resume", &out]).expect(0);
    assert_eq!(again.stdout, ended.stdout);
    let markdown = study(&world, &["--resume", &out, "--markdown"]).expect(0);
    shows(&markdown.stdout, &["## study mine", "| :--- |"]);
    world.nothing_left();
}

/// Four clients wait in parallel for as long as one client does. The published claim about that is judged.
#[test]
fn what_was_published_is_judged() {
    let world = world();
    let text = MINE
        .replace("clients = \"2\"\n", "")
        .replace(
            "option = \"value-content\"\nvalues = [\"text\", \"random\"]",
            "option = \"clients\"\nvalues = [1, 4]",
        )
        .replace("value-content = \"random\"", "clients = 4")
        .replace("value-content = \"text\"", "clients = 1")
        .replace("[[verdict]]", "[[verdict]]\nclients = \"peak\"")
        .replace("with random values", "four clients of");
    let (_, verdict) = text.split_once("[[verdict]]").unwrap();
    let text = format!("{text}\n[[verdict]]{}", verdict.replace("claim = \"less\"", "claim = \"more\""));
    let file = world.file("mine.toml", &text);
    let out = world.text("out");
    let ended = study(&world, &[&file, "-o", &out, "-s", "mb"]).expect(0);
    shows(
        &ended.unbroken(),
        // The verdict depends on the load of the machine; unit tests of the sentence cover it.
        &["Four clients of The system mb does", "90 % fewer published: ", "reads at 4 clients"],
    );
}

#[test]
fn one_run_is_a_run_folder_like_any_other() {
    let world = world();
    let text = MINE.replace("[[vary]]\noption = \"value-content\"\nvalues = [\"text\", \"random\"]\n", "");
    let text = text.replace(
        "of = { value-content = \"random\" }\nthan = { value-content = \"text\" }\n",
        "kind = \"value\"\n",
    );
    let text = text.replace("{change}", "{value}").replace("claim = \"less\"\n", "");
    let file = world.file("mine.toml", &text);
    let out = world.text("out");
    let ended = study(&world, &[&file, "-o", &out, "-s", "ma,mb"]).expect(0);
    shows(&ended.unbroken(), &["The system ma does", "The system mb does"]);
    world.kept("out").is_complete();
    let exported = world.run(&["export", "-f", "json", &out]).expect(0).summary();
    assert!(exported.complete && exported.failures.is_empty());
}

#[test]
fn an_interrupted_study_goes_on() {
    let world = world();
    let file = world.file("mine.toml", MINE);
    let (out, folder) = (world.text("out"), world.text("systems"));
    let mut running =
        world.start(&["study", "--systems-dir", &folder, &file, "-o", &out, "--set", "duration=400ms"]);
    eventually("the second run has begun", || {
        running.has_ended() || world.path("out/random/manifest.json").exists()
    });
    running.kill();
    world.nothing_left();
    let first = world.kept("out/text").journal();
    let ended = study(&world, &["--resume", &out]).expect(0);
    shows(&ended.unbroken(), &["With random values"]);
    assert_eq!(world.kept("out/text").journal(), first, "what was measured is not measured again");
    world.kept("out/random").is_complete();
    assert!(world.path("out/study.html").exists());
}

#[test]
fn a_sweep_is_looked_over_for_edges() {
    // The mock's answers take equally long for all sizes, so there is no edge to find.
    let world = world();
    let text = MINE
        .replace("documents = \"flat\"", "documents = \"size\"")
        .replace(
            "option = \"value-content\"\nvalues = [\"text\", \"random\"]",
            "option = \"document-size\"\nvalues = [0.5, 1, 1.5, 2, 2.5, 3]",
        )
        .replace(
            "of = { value-content = \"random\" }\nthan = { value-content = \"text\" }",
            "kind = \"edge\"\nalong = \"document-size\"\nnone = \"{system} has none {edge} kB\"",
        )
        .replace("claim = \"less\"", "claim = \"near\"\nnear = [0.9, 1.1]");
    let file = world.file("mine.toml", &text);
    let out = world.text("out");
    let ended = study(&world, &[&file, "-o", &out, "-s", "mb", "--set", "rounds=2"]).expect(0);
    shows(&ended.unbroken(), &["The system mb"]);
    let page = std::fs::read_to_string(world.path("out/study.html")).unwrap();
    shows(&page, &["<svg", "document-size"]);
}
