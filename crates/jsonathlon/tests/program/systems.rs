//! Tests of `jsonathlon systems`: the list, options rejected before any download, and what a check verifies.

use std::time::Duration;

use rustix::process::Signal;
use serde_json::{Value, json};

use crate::support::archives::{client, jar, maven_source, npm_source, search_path, tgz};
use crate::support::process::{Ended, Running};
use crate::support::real::{built_in, copy};
use crate::support::{LIMIT, System, World, eventually, mock, names_in};

fn start(world: &World, arguments: &[&str], variables: &[(&str, &str)]) -> Running {
    std::fs::create_dir_all(world.path("tmp")).unwrap();
    let mut command = world.command(arguments);
    command.arg("--systems-dir").arg(world.path("systems")).env("TMPDIR", world.path("tmp"));
    command.envs(variables.iter().copied());
    Running::start(command, &world.path(""))
}

/// Runs `systems ACTION …` with the systems of this world. Its temporary files must be removed at the end.
fn systems(world: &World, arguments: &[&str]) -> Ended {
    let ended = start(world, &[&["systems"], arguments].concat(), &[]).end(LIMIT);
    assert!(names_in(&world.path("tmp")).is_empty(), "{:?} stay", names_in(&world.path("tmp")));
    ended
}

/// Runs `systems` on a machine without registry clients, Java and cache.
fn on_a_bare_machine(world: &World, arguments: &[&str]) -> Ended {
    let (path, cache) = (search_path(world), world.text("cache"));
    let path = path.to_str().unwrap();
    let variables = [("PATH", path), ("JSONATHLON_CACHE", &cache), ("ES_JAVA_HOME", ""), ("JAVA_HOME", "")];
    start(world, &[&["systems"], arguments].concat(), &variables).end(LIMIT)
}

fn right() -> System {
    mock("ma", json!({}))
}

#[test]
fn systems_are_listed_as_text_and_as_json() {
    let world = World::with(&[right()]);
    let listed: Value = serde_json::from_str(&systems(&world, &["list", "--json"]).expect(0).stdout).unwrap();
    let listed = listed.as_array().unwrap();
    let names: Vec<&str> = listed.iter().map(|system| system["name"].as_str().unwrap()).collect();
    for name in ["clickhouse", "duckdb", "ma", "sqlite"] {
        assert!(names.contains(&name), "{names:?}");
    }
    for system in listed {
        for key in ["version", "state", "protocol", "licence", "clients", "lacks", "variants", "storages"] {
            assert!(system.get(key).is_some(), "{key}");
        }
    }
    let text = systems(&world, &["list"]).expect(0).stdout;
    assert!(names.iter().all(|name| text.contains(name)) && text.contains("cache: "), "{text}");
}

#[test]
fn a_machine_that_lacks_everything_is_told_before_anything_is_fetched() {
    let world = World::new();
    let plain = |text: &str| text.replace(&world.text("cache"), "CACHE");
    let listed = on_a_bare_machine(&world, &["list"]).expect(0);
    insta::assert_snapshot!("list_on_a_bare_machine", plain(&listed.stdout));
    let installed = on_a_bare_machine(&world, &["install", "--all"]).expect(3);
    insta::assert_snapshot!("install_on_a_bare_machine", plain(&installed.stdout));
    insta::assert_snapshot!("install_on_a_bare_machine_told_before", plain(&installed.stderr));
    let artifacts = world.path("cache/artifacts");
    assert!(!artifacts.exists() || names_in(&artifacts).is_empty(), "nothing was begun");
    let checked = on_a_bare_machine(&world, &["check", "duckdb", "sqlite"]).expect(3).stdout;
    let install_it =
        "duckdb 2.0.0 is not installed: install it with `jsonathlon systems install duckdb@2.0.0`";
    assert!(checked.contains(install_it), "{checked}");
    assert!(checked.contains("sqlite") && checked.contains("6 questions right"), "{checked}");
}

#[test]
fn one_system_that_cannot_be_installed_does_not_stop_the_others() {
    let (npm, maven) = (tgz(), jar());
    let world = World::with(&[
        mock("first", json!({})).from(&maven_source(&maven)),
        mock("second", json!({})).from(&npm_source(&npm)),
    ]);
    std::fs::write(world.path("archive"), &npm).unwrap();
    client(&world, "npm", r#"cp "$archive" "$dest/example-engine-1.0.0.tgz""#);
    let ended = on_a_bare_machine(&world, &["install", "first", "second"]).expect(3);
    let lines: Vec<&str> = ended.stdout.lines().collect();
    assert!(lines[0].starts_with("first 1.0 ") && lines[0].contains("apt-get install maven"), "{lines:?}");
    assert!(lines[1].starts_with("second 1.0: installed in "), "{lines:?}");
    let ended = ended.says(&["to download", "unpacked; licence Apache-2.0", "second 1.0: downloading"]);
    assert!(!ended.stderr.contains('\r') && !ended.stderr.contains('\u{1b}'), "{}", ended.stderr);
    on_a_bare_machine(&world, &["install", "second"]).expect(0);
    let checked = on_a_bare_machine(&world, &["check", "second"]).expect(0).stdout;
    assert!(checked.starts_with("second 1.0: 1 file as recorded, "), "{checked}");
    let removed = on_a_bare_machine(&world, &["remove", "first", "second", "sqlite"]).expect(0).stdout;
    assert!(removed.contains("are free again") && removed.contains("nothing to remove"), "{removed}");
}

#[test]
fn a_check_loads_asks_and_names_what_goes_wrong() {
    let world = World::with(&[
        right(),
        mock(
            "wrong",
            json!({"faults": [{"statement": "q2", "action": "wrong_value", "row": 0, "column": 1}]}),
        ),
        mock("picky", json!({"rejections": [{"ordinal": 7, "reason": "seven is too many"}]})),
        mock("short", json!({"count_off_by": -1})),
        mock("dying", json!({"faults": [{"statement": "q5", "action": "crash"}]})),
        mock(
            "clinging",
            json!({"faults": [{"statement": "drop", "action": "refuse", "message": "it stays"}]}),
        ),
        mock("older", json!({"version": "mock 3"})),
    ]);
    let right =
        "part of the program; opened, reports version mock 1.0; 1000 documents loaded, 6 questions right";
    let checked = systems(&world, &["check", "ma"]).expect(0);
    assert_eq!(checked.stdout, format!("ma 1.0: {right}\n"));
    assert_eq!(checked.stderr, "", "bars are for terminals");
    let faulty = ["wrong", "picky", "short", "dying", "clinging", "older"];
    let ended = systems(&world, &[&["check"], &faulty[..], &["ma"]].concat()).expect(1);
    let lines: Vec<&str> = ended.stdout.lines().filter(|line| line.contains(" 1.0: ")).collect();
    assert_eq!(lines.len(), 7, "{}", ended.stdout);
    for (line, (name, words)) in lines.iter().zip([
        ("wrong", "q2: wrong: "),
        ("picky", "load: 1 of 1000 documents refused: seven is too many"),
        ("short", "load: wrong: 999 documents are in the table, 1000 were accepted"),
        ("dying", "q5: crash: "),
        ("clinging", "drop: refused: it stays"),
        ("older", "says that it is version \"mock 3\", but "),
        ("ma", right),
    ]) {
        assert!(line.starts_with(&format!("{name} 1.0: ")) && line.contains(words), "{name}: {line}");
        assert!(name == "ma" || !line.contains("questions right"), "{line}");
    }
    // The expected text is in the folder, and nothing was installed.
    let place = format!(
        "{}:11: `artifact.0.reports` is \"mock 1.0\"",
        world.path("systems/older/system.toml").display()
    );
    assert!(ended.stdout.contains(&place), "{place}: {}", ended.stdout);
    assert!(!ended.stdout.contains("systems remove"), "{}", ended.stdout);
    systems(&world, &["check"]).expect(2).says(&["<NAME>"]);
    systems(&world, &["install", "slqite"]).expect(2).says(&["did you mean `sqlite`"]);
}

#[test]
fn another_version_than_the_folder_expects_is_said_with_commands_that_can_be_pasted() {
    let archive = tgz();
    let world = World::with(&[mock("older", json!({"version": "mock 3"})).from(&npm_source(&archive))]);
    std::fs::write(world.path("archive"), &archive).unwrap();
    client(&world, "npm", r#"cp "$archive" "$dest/example-engine-1.0.0.tgz""#);
    let folder = world.text("systems");
    let command = |action: &str| format!("jsonathlon systems {action} older@1.0 --systems-dir {folder}");
    let checked = on_a_bare_machine(&world, &["check", "older"]).expect(3).stdout;
    assert!(checked.contains(&format!("install it with `{}`", command("install"))), "{checked}");
    on_a_bare_machine(&world, &["install", "older"]).expect(0);
    let checked = on_a_bare_machine(&world, &["check", "older"]).expect(1).stdout;
    let commands = format!("`{} && {}`", command("remove"), command("install"));
    for words in ["system.toml:11: `artifact.0.reports` is \"mock 1.0\"", "correct the key", &commands] {
        assert!(checked.contains(words), "{words}: {checked}");
    }
}

#[test]
fn what_a_system_does_not_run_is_listed_and_refused_with_the_reason() {
    let world = World::new();
    let folder = world.path("systems/silent");
    std::fs::create_dir_all(&folder).unwrap();
    let definition = "name = \"silent\"\ntitle = \"Silent\"\nsummary = \"Answers nothing.\"\nprotocol = \"mock\"\n\
                      default_version = \"1\"\nlicence = \"MIT\"\n\n[not.analytics]\nwhy = \"It cannot count.\"\n\n\
                      [[artifact]]\nversion = \"1\"\nreports = \"mock\"\nplatform = \"any\"\n\n\
                      [[artifact.source]]\nkind = \"bundled\"\n";
    std::fs::write(folder.join("system.toml"), definition).unwrap();
    let listed = systems(&world, &["list"]).expect(0).stdout;
    assert!(listed.contains("    does not run analytics: It cannot count.\n"), "{listed}");
    let run = start(&world, &["run", "--systems", "silent", "--no-yardstick"], &[]).end(LIMIT);
    let place = format!("{}:9: `not.analytics.why`: It cannot count.", folder.join("system.toml").display());
    run.expect(2).says(&["no chosen system runs analytics", &place, "it is run by clickhouse, "]);
}

#[test]
fn packages_are_refused_that_could_be_no_packages() {
    let world = World::new();
    let packages = |arguments: &[&str]| {
        Running::start(world.command(&[&["systems", "packages"], arguments].concat()), &world.path(""))
            .end(LIMIT)
    };
    packages(&["--suite", "bookworm"]).expect(2).says(&["<NAME>"]);
    packages(&["postgresql-15"]).expect(2).says(&["--suite <SUITE>"]);
    packages(&["--suite", "../x", "a"]).expect(2).says(&["`../x` is no suite"]);
    packages(&["--suite", "sid", "Server"]).expect(2).says(&["`Server` is no package"]);
    let bare = search_path(&world);
    let mut command = world.command(&["systems", "packages", "--suite", "sid", "zlib1g"]);
    command.env("PATH", bare);
    Running::start(command, &world.path("")).end(LIMIT).expect(3).says(&["`apt-get`"]);
}

#[test]
fn an_interrupted_check_leaves_nothing_behind() {
    let world = World::with(&[mock("slow", json!({"delay_ms": {"q1": 60_000}}))]);
    let running = start(&world, &["systems", "check", "slow"], &[]);
    let loaded = || {
        let folders = names_in(&world.path("tmp"));
        folders.iter().any(|name| {
            let journal = world.path("tmp").join(name).join("run/journal.ndjson");
            std::fs::read_to_string(journal).is_ok_and(|text| text.contains("\"step\":\"load\""))
        })
    };
    eventually("the documents are loaded", loaded);
    running.signal(Signal::INT);
    running.end(Duration::from_secs(30)).expect(4).says(&["interrupted"]);
    world.nothing_left();
    assert!(names_in(&world.path("tmp")).is_empty());
}

#[test]
fn an_unknown_key_is_named_with_file_line_and_key_wherever_it_stands() {
    let world = World::new();
    let folder = world.path("systems/elasticsearch");
    copy(&built_in("elasticsearch"), &folder);
    let file = folder.join("system.toml");
    let good = std::fs::read_to_string(&file).unwrap();
    systems(&world, &["list"]).expect(0);
    for (after, key, path) in [
        ("protocol = \"elasticsearch\"", "protocl", "protocl"),
        ("[server]", "start_limit", "server.start_limit"),
        ("[[server.need]]", "homez", "homez"),
        ("[variants.logsdb]", "rank_with", "variants.logsdb.rank_with"),
        ("[analytics]", "atomic_load", "analytics.atomic_load"),
    ] {
        assert!(good.contains(&format!("{after}\n")), "{after}");
        let bad = good.replacen(&format!("{after}\n"), &format!("{after}\n{key} = 1\n"), 1);
        std::fs::write(&file, &bad).unwrap();
        let line = bad.lines().position(|line| line == format!("{key} = 1")).unwrap() + 1;
        let place = format!("{}:{line}:", file.display());
        let ended = systems(&world, &["list"]).expect(2);
        ended.says(&[&place, path, &format!("unknown field `{key}`")]);
    }
}
