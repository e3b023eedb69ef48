//! Systems that have to be downloaded, with registry clients that are missing, fail midway or deliver
//! something else.

use std::time::Duration;

use rustix::process::Signal;
use serde_json::json;

use crate::support::archives::{client, jar, maven_source, npm_source, search_path, tgz};
use crate::support::process::{Ended, Running};
use crate::support::{LIMIT, Look, World, eventually, mock, names_in};

/// A correct npm client.
const GOOD_NPM: &str = r#"cp "$archive" "$dest/example-engine-1.0.0.tgz""#;
/// A correct Maven client.
const GOOD_MVN: &str = r#"mkdir -p "$repo/org/example/engine/1.0"
cp "$archive" "$repo/org/example/engine/1.0/engine-1.0.jar""#;

/// Starts a run with an empty cache and a search path that contains only what the test put there.
fn start(world: &World, name: &str, out: &str) -> Running {
    let out = world.text(out);
    let arguments = world.arguments(&out, name, &["-n", "300", "-r", "1"]);
    let mut command = world.command(&arguments.iter().map(String::as_str).collect::<Vec<_>>());
    command.env("PATH", search_path(world)).env("JSONATHLON_CACHE", world.path("cache"));
    Running::start(command, &world.path(""))
}

fn run(world: &World, name: &str) -> Ended {
    start(world, name, "out").end(LIMIT)
}

fn installed(world: &World, name: &str) -> Vec<String> {
    let folder = world.path("cache/artifacts").join(name).join("1.0");
    if folder.exists() { names_in(&folder) } else { Vec::new() }
}

#[test]
fn without_a_client_the_run_says_which_is_missing() {
    let world = World::new();
    for (system, program) in [("clickhouse", "npm"), ("duckdb", "mvn")] {
        run(&world, system).expect(3).says(&[
            &format!("`{program}`"),
            "not found on the search path",
            system,
        ]);
    }
    assert!(!world.path("out").exists(), "nothing was begun");
    // Built-in systems need no registry client.
    let summary = run(&world, "sqlite").expect(0).summary();
    assert!(summary.complete && summary.failures.is_empty());
}

#[test]
fn a_package_that_is_not_the_named_one_is_refused() {
    let archive = tgz();
    let world = World::with(&[mock("fetched", json!({})).from(&npm_source(&archive))]);
    let mut other = archive.clone();
    other.push(0);
    std::fs::write(world.path("archive"), other).unwrap();
    client(&world, "npm", GOOD_NPM);
    let ended = run(&world, "fetched").expect(3);
    let ended = ended.says(&["@example/engine@1.0.0", "not what the catalogue names", "SHA-256"]);
    assert!(ended.stdout.is_empty());
    assert!(installed(&world, "fetched").is_empty(), "{:?}", installed(&world, "fetched"));
    assert!(!world.path("out").exists());

    std::fs::write(world.path("archive"), archive).unwrap();
    let summary = run(&world, "fetched").expect(0).summary();
    summary.is_right("fetched");
    assert_eq!(installed(&world, "fetched").len(), 1);
}

#[test]
fn a_download_that_breaks_off_is_an_error_and_can_be_repeated() {
    let archive = jar();
    let world = World::with(&[mock("fetched", json!({})).from(&maven_source(&archive))]);
    std::fs::write(world.path("archive"), archive).unwrap();
    let half = r#"mkdir -p "$repo/org/example/engine/1.0"
head -c 40 "$archive" > "$repo/org/example/engine/1.0/engine-1.0.jar.part""#;
    client(&world, "mvn", &format!("{half}\necho 'Connection reset by peer' >&2\nexit 1"));
    run(&world, "fetched").expect(3).says(&["mvn", "Connection reset by peer"]);
    assert!(installed(&world, "fetched").is_empty());

    // The user interrupts the download.
    client(&world, "mvn", &format!("{half}\nexec sleep 100"));
    let running = start(&world, "fetched", "out");
    let part = world.path("cache/maven/org/example/engine/1.0/engine-1.0.jar.part");
    eventually("the download began", || part.exists());
    running.signal(Signal::INT);
    running.end(Duration::from_secs(10)).expect(4).says(&["interrupted"]);
    world.nothing_left();
    assert!(installed(&world, "fetched").is_empty());

    client(&world, "mvn", GOOD_MVN);
    run(&world, "fetched").expect(0).summary().is_right("fetched");
}
