//! The house stays as it was drawn: no arrow between crates points upward, and no modules stand in a circle.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// The floors, from the ground up: a crate uses only crates of the floors below its own.
const FLOORS: [&[&str]; 9] = [
    &["dataset", "measure", "outage"],
    &["connection", "yardstick", "servers", "results"],
    &["formats", "systems", "studies"],
    &["drivers", "engines"],
    &["worker"],
    &["drive"],
    &["workloads"],
    &["report"],
    &["jsonathlon"],
];

/// Crates with one call that is unsafe.
const ONE_CALL: [&str; 2] = ["systems", "outage"];

fn crates() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

#[test]
fn no_arrow_between_crates_points_upward() {
    let floor = |name: &str| FLOORS.iter().position(|floor| floor.contains(&name));
    for entry in std::fs::read_dir(crates()).unwrap() {
        let folder = entry.unwrap().path();
        let name = folder.file_name().unwrap().to_str().unwrap().to_owned();
        let own = floor(&name).unwrap_or_else(|| panic!("{name} is on no floor"));
        let manifest: toml::Table =
            std::fs::read_to_string(folder.join("Cargo.toml")).unwrap().parse().unwrap();
        let uses = manifest["dependencies"].as_table().unwrap();
        for used in uses.keys().filter_map(|used| used.strip_prefix("jsonathlon-")) {
            let below = floor(used).unwrap_or_else(|| panic!("{used} is on no floor"));
            assert!(below < own, "{name} uses {used}, which is not below it");
        }
    }
}

/// `engines` calls C. Two crates have one call each that has no safe form: `systems` between fork and exec, `outage` the
/// one that cuts the power.
#[test]
fn what_is_unsafe_is_in_the_crate_that_calls_c() {
    for name in FLOORS.concat() {
        let source = crates().join(name).join("src");
        let root = ["lib.rs", "main.rs"].map(|file| std::fs::read_to_string(source.join(file)));
        let root = root.into_iter().find_map(Result::ok).unwrap();
        let may = name == "engines" || ONE_CALL.contains(&name);
        assert_ne!(root.contains("#![forbid(unsafe_code)]"), may, "{name}");
    }
    for name in ONE_CALL {
        let text: String = modules(&crates().join(name).join("src")).into_values().collect();
        assert_eq!(text.matches("unsafe {").count(), 1, "{name}");
    }
}

/// Each module at the top of a crate, with the text of its files but for their tests and comments.
fn modules(source: &Path) -> BTreeMap<String, String> {
    fn text(path: &Path) -> String {
        if path.is_dir() {
            let entries = std::fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path());
            return entries.map(|path| text(&path)).collect();
        }
        let is_test = path.file_stem().unwrap().to_str().unwrap().ends_with("tests");
        if is_test || path.extension().is_none_or(|extension| extension != "rs") {
            return String::new();
        }
        let whole = std::fs::read_to_string(path).unwrap();
        let code = whole.split("#[cfg(test)]\nmod tests").next().unwrap_or_default();
        code.lines()
            .filter(|line| !line.trim_start().starts_with("//"))
            .map(|line| format!("{line}\n"))
            .collect()
    }
    let mut found: BTreeMap<String, String> = BTreeMap::new();
    for entry in std::fs::read_dir(source).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
        if name == "lib" || name == "main" {
            continue;
        }
        // In a file at the top, what is above is the crate.
        let code = if path.is_dir() { text(&path) } else { text(&path).replace("super::", "crate::") };
        *found.entry(name).or_default() += &code;
    }
    found
}

/// What each module uses of the others of its crate: `crate::name` wherever it stands, and names within `crate::{…}`.
fn arrows(modules: &BTreeMap<String, String>, root: &str) -> BTreeMap<String, BTreeSet<String>> {
    // What the crate hands on under its own name belongs to the module that has it.
    let handed_on = regex::Regex::new(r"pub(?:\(crate\))? use (\w+)::(?:\{([^}]*)\}|(\w+));").unwrap();
    let mut owner: BTreeMap<String, String> = BTreeMap::new();
    for found in handed_on.captures_iter(root) {
        let names = found.get(2).or(found.get(3)).unwrap().as_str();
        for name in names.split(',').map(str::trim) {
            owner.insert(name.to_owned(), found[1].to_owned());
        }
    }
    let path = regex::Regex::new(r"crate::(\w+)").unwrap();
    let group = regex::Regex::new(r"crate::\{([^;]*)\};").unwrap();
    let word = regex::Regex::new(r"\w+").unwrap();
    let used = |text: &str| {
        let mut names: BTreeSet<String> = path.captures_iter(text).map(|one| one[1].to_owned()).collect();
        for one in group.captures_iter(text) {
            names.extend(word.find_iter(&one[1]).map(|name| name.as_str().to_owned()));
        }
        names
    };
    modules
        .iter()
        .map(|(name, text)| {
            let of = |one: String| owner.get(&one).cloned().unwrap_or(one);
            let others =
                used(text).into_iter().map(of).filter(|other| other != name && modules.contains_key(other));
            (name.clone(), others.collect())
        })
        .collect()
}

/// Modules from which one comes back to oneself.
fn in_circles(arrows: &BTreeMap<String, BTreeSet<String>>) -> Vec<String> {
    let returns = |start: &String| {
        let mut seen: BTreeSet<&String> = BTreeSet::new();
        let mut waiting: Vec<&String> = arrows[start].iter().collect();
        while let Some(next) = waiting.pop() {
            if next == start {
                return true;
            }
            if seen.insert(next) {
                waiting.extend(&arrows[next]);
            }
        }
        false
    };
    arrows.keys().filter(|name| returns(name)).cloned().collect()
}

#[test]
fn no_modules_stand_in_a_circle() {
    // Commands still know each other.
    for name in FLOORS.concat().into_iter().filter(|name| *name != "jsonathlon") {
        let source = crates().join(name).join("src");
        let root = std::fs::read_to_string(source.join("lib.rs")).unwrap();
        let found = in_circles(&arrows(&modules(&source), &root));
        assert!(found.is_empty(), "{name}: {found:?} use each other");
    }
}

#[test]
fn a_circle_is_seen() {
    let modules = [
        ("a", "use crate::b::B;"),
        ("b", "use crate::{c, d::D};"),
        ("c", "fn f() { crate::A::new() }"),
        ("d", ""),
    ];
    let modules = modules.map(|(name, text)| (name.to_owned(), text.to_owned())).into();
    let found = in_circles(&arrows(&modules, "pub use a::{A, Other};"));
    assert_eq!(found, ["a", "b", "c"]);
}
