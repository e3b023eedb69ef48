//! Every built-in study at a tiny scale: most on PostgreSQL, some on other systems, and on SQLite where
//! possible.

use jsonathlon_studies::names;

use crate::support::process::Ended;
use crate::support::real::excluded;
use crate::support::{LIMIT, World};

/// Runs a study with a single round of short trials and few records into the folder `out`.
fn tiny_into(world: &World, out: &str, name: &str, systems: &str, more: &[&str]) -> Ended {
    let at = world.text(out);
    let mut all = vec!["study", name, "-s", systems, "-o", &at];
    for set in ["rounds=1", "warmup=20ms", "duration=1s", "records=200"] {
        all.extend(["--set", set]);
    }
    for set in more {
        all.extend(["--set", set]);
    }
    let ended = world.start(&all).end(LIMIT).expect(0);
    for words in [format!("study {name}: "), "answer".to_owned()] {
        assert!(ended.unbroken().contains(&words), "`{words}` is not in:\n{}", ended.stdout);
    }
    assert!(!ended.unbroken().contains("No answer"), "{}", ended.stdout);
    let page = std::fs::read_to_string(world.path(out).join("study.html")).unwrap();
    assert!(page.contains("<svg"), "{page}");
    ended
}

/// Runs a study like [`tiny_into`], and checks that no process is left.
fn tiny(name: &str, system: &str, more: &[&str], words: &[&str]) {
    if excluded(&[system]) {
        return;
    }
    let world = World::new();
    let ended = tiny_into(&world, "out", name, system, more);
    for words in words {
        assert!(ended.unbroken().contains(words), "`{words}` is not in:\n{}", ended.stdout);
    }
    world.nothing_left();
}

const ONE: &str = "clients=2";

#[test]
fn what_is_listed_is_what_there_is() {
    let listed = World::new().run(&["study", "list"]).expect(0).stdout;
    for name in names() {
        assert!(listed.lines().any(|line| line.starts_with(&format!("{name} "))), "{name}:\n{listed}");
    }
    for words in
        ["What does an index over the whole document cost", "postgresql, mysql, mongodb", "min on two cores"]
    {
        assert!(listed.contains(words), "{listed}");
    }
}

#[test]
fn index() {
    let words = [
        "Through a GIN index over the whole document PostgreSQL does",
        "36 % fewer at the peak published",
        "jsonb-ops",
    ];
    tiny("index", "postgresql", &[ONE, "mixes=c"], &words);
}

#[test]
fn size() {
    tiny("size", "sqlite", &[ONE, "value-content=text", "document-size=0.5,1,1.5,2,2.5,3"], &["SQLite has"]);
    // In so few documents longer texts are stored outside the rows, so that the table is smaller than its
    // index.
    tiny(
        "size",
        "postgresql",
        &[ONE, "value-content=text", "document-size=0.5,1.5"],
        &["PostgreSQL has no edge for text between 0.5 and 1.5 kB"],
    );
}

#[test]
fn storage() {
    tiny(
        "storage",
        "postgresql",
        &[ONE, "documents=flat", "mixes=c"],
        &["From a plain table PostgreSQL reads", "columns"],
    );
}

#[test]
fn durability() {
    let words = ["Waiting for the disk, PostgreSQL does"];
    tiny("durability", "postgresql", &["clients=1", "mixes=insert", "durability=synced,window"], &words);
    tiny("durability", "sqlite", &["clients=1", "mixes=insert"], &["synced", "process"]);
}

#[test]
fn cores() {
    tiny(
        "cores",
        "postgresql",
        &[ONE, "server-cpus=0,1"],
        &["On all CPUs, which it shares with its clients, PostgreSQL does"],
    );
}

#[test]
fn paths() {
    let words = ["PostgreSQL does", "jsonb-record", "jsonb-external"];
    tiny("paths", "postgresql", &[ONE, "read-positions=spread", "read-paths=9", "records=500"], &words);
}

#[test]
fn parse() {
    tiny("parse", "postgresql", &[ONE, "no-prepare=false"], &["With jsonb_build_object PostgreSQL does"]);
}

#[test]
fn reindex() {
    tiny(
        "reindex",
        "postgresql",
        &[ONE],
        &["With its index on a column PostgreSQL does", "% stay within their page"],
    );
}

#[test]
fn checkpoints() {
    tiny(
        "checkpoints",
        "postgresql",
        &[ONE],
        &["With the published settings PostgreSQL does", "checkpoints came by time"],
    );
}

#[test]
fn schema() {
    tiny("schema", "mysql", &[ONE], &["With its performance schema on, as it is by default, MySQL does"]);
}

#[test]
fn versions() {
    tiny("versions", "mongodb", &[ONE, "mixes=c"], &["In its newer version here MongoDB does", "6.0.27"]);
}

/// Runs a study of the mixed workload with a single short round over few documents.
fn tiny_mixed(name: &str, system: &str, more: &[&str], words: &[&str]) {
    if excluded(&[system]) {
        return;
    }
    let world = World::new();
    let out = world.text("out");
    let mut all = vec!["study", name, "-s", system, "-o", &out];
    for set in ["rounds=1", "scale=5k"].iter().chain(more) {
        all.extend(["--set", set]);
    }
    let ended = world.start(&all).end(LIMIT).expect(0);
    for words in words {
        assert!(ended.unbroken().contains(words), "`{words}` is not in:\n{}", ended.stdout);
    }
    let page = std::fs::read_to_string(world.path("out/study.html")).unwrap();
    assert!(page.contains("<svg") && page.contains(name), "{page}");
    world.nothing_left();
}

#[test]
fn frontier() {
    // Enough documents come in for a second of a fast disk.
    let more = ["growth=1000%", "rate=10%,30%", "batch=500", "measure=5s"];
    for (system, title) in [("postgresql", "PostgreSQL"), ("sqlite", "SQLite")] {
        let keeps = format!("{title} keeps a share of 0.");
        tiny_mixed(
            "frontier",
            system,
            &more,
            &[&keeps, "of its peaks alone", "documents/s and", "max, alone"],
        );
    }
}

#[test]
fn question_cores() {
    let words =
        ["On all CPUs, which it shares with its client, PostgreSQL answers", "of the yardstick", "an hour"];
    tiny_mixed("question-cores", "postgresql", &["measure=1s"], &words);
}

/// The sizes must be those that the documentation of both formats states.
#[test]
fn encoding() {
    if excluded(&["postgresql", "sqlite"]) {
        return;
    }
    let world = World::new();
    let ended = tiny_into(&world, "out", "encoding", "postgresql,sqlite", &[]);
    // PostgreSQL: 4 bytes for the length, 4 for the container, 4 entries of 4 bytes each, 2 for the names,
    // the text, 8 for the number, and 2 for alignment if the number does not start at a multiple of 4.
    // SQLite: one byte before each part.
    for words in [
        "PostgreSQL keeps a three and the text xyz in 39 bytes",
        "SQLite keeps a three and the text xyz in 11 bytes",
        "A text of two letters before a one takes PostgreSQL 36 bytes",
        "and behind it 38",
        "2 more (2 more published: confirmed)",
    ] {
        assert!(ended.unbroken().contains(words), "`{words}` is not in:\n{}", ended.stdout);
    }
    world.nothing_left();
}

/// Bytes written per operation must be equal in every run.
#[test]
fn wal() {
    if excluded(&["postgresql"]) {
        return;
    }
    let world = World::new();
    let counts = |out: &str| {
        tiny_into(&world, out, "wal", "postgresql", &["documents=flat", "operation-count=150"]);
        let figure =
            |trial: &jsonathlon_schema::record::Trial| trial.metrics.get("wal_record_bytes_per_op").copied();
        let all: Vec<f64> = world.kept(out).trials().iter().filter_map(figure).collect();
        assert_eq!(all.len(), 2, "of two variants");
        assert!(all.iter().all(|bytes| *bytes > 100.0 && *bytes < 20_000.0), "{all:?}");
        all
    };
    assert_eq!(counts("one"), counts("two"));
    world.nothing_left();
}
