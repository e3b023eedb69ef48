//! Architecture tests: crates depend only on lower layers, modules have no cyclic dependencies, and names,
//! comments and functions keep the rules of CONTRIBUTING.md.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// The layers, lowest first. A crate may use only crates of lower layers.
const FLOORS: [&[&str]; 11] = [
    &["schema", "stats", "powerfail"],
    &["dataset", "telemetry"],
    &["driver-api", "yardstick", "mixed", "servers", "results"],
    &["catalogue", "studies", "choose"],
    &["artifacts"],
    &["drivers", "embedded"],
    &["worker"],
    &["loadgen"],
    &["workloads"],
    &["report"],
    &["jsonathlon"],
];

/// Crates with exactly one `unsafe` block.
const ONE_CALL: [&str; 2] = ["artifacts", "powerfail"];

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

/// `embedded` calls C. Two crates have one call each that has no safe form: `artifacts` between fork and
/// exec, `powerfail` the one that cuts the power.
#[test]
fn what_is_unsafe_is_in_the_crate_that_calls_c() {
    for name in FLOORS.concat() {
        let source = crates().join(name).join("src");
        let root = ["lib.rs", "main.rs"].map(|file| std::fs::read_to_string(source.join(file)));
        let root = root.into_iter().find_map(Result::ok).unwrap();
        let may = name == "embedded" || ONE_CALL.contains(&name);
        assert_ne!(root.contains("#![forbid(unsafe_code)]"), may, "{name}");
    }
    for name in ONE_CALL {
        let text: String = modules(&crates().join(name).join("src")).into_values().collect();
        assert_eq!(text.matches("unsafe {").count(), 1, "{name}");
    }
}

/// The source files of a crate by module path, without test files, test code and comments.
fn modules(source: &Path) -> BTreeMap<Vec<String>, String> {
    fn collect(folder: &Path, above: &[String], found: &mut BTreeMap<Vec<String>, String>) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
            let is_root = ["mod", "lib", "main"].contains(&name.as_str());
            let module = if is_root { above.to_vec() } else { [above, std::slice::from_ref(&name)].concat() };
            if path.is_dir() {
                collect(&path, &module, found);
            } else if path.extension().is_some_and(|extension| extension == "rs") && !name.ends_with("tests")
            {
                let whole = std::fs::read_to_string(path).unwrap();
                let code = whole.split("#[cfg(test)]\nmod tests").next().unwrap_or_default();
                let is_code = |line: &&str| !line.trim_start().starts_with("//");
                found.insert(module, code.lines().filter(is_code).map(|line| format!("{line}\n")).collect());
            }
        }
    }
    let mut found = BTreeMap::new();
    collect(source, &[], &mut found);
    found
}

/// Expands the paths of a `use` declaration: `a::{b, c::D}` becomes `a::b` and `a::c::D`.
fn paths(tree: &str) -> Vec<String> {
    let tree = tree.trim();
    if let Some(open) = tree.find('{') {
        let (before, inside) = (&tree[..open], &tree[open + 1..tree.rfind('}').unwrap()]);
        let mut depth = 0;
        let parts = inside.split(|letter: char| {
            depth += i32::from(letter == '{') - i32::from(letter == '}');
            letter == ',' && depth == 0
        });
        let parts: Vec<&str> = parts.filter(|part| !part.trim().is_empty()).collect();
        return parts.into_iter().flat_map(paths).map(|path| format!("{before}{path}")).collect();
    }
    vec![tree.split(" as ").next().unwrap().to_owned()]
}

/// Dependencies between sibling modules (files and folders in one folder), for each folder of a crate.
fn arrows(modules: &BTreeMap<Vec<String>, String>) -> BTreeMap<Vec<String>, BTreeSet<Vec<String>>> {
    let used = regex::Regex::new(r"(?m)^\s*(?:pub(?:\([a-z]+\))?\s+)?use\s+([^;]+);").unwrap();
    let inline = regex::Regex::new(r"\b(?:crate|super)(?:::\w+)+").unwrap();
    // A re-exported item belongs to the submodule that defines it.
    let mut owner: BTreeMap<Vec<String>, Vec<String>> = BTreeMap::new();
    let mut found: BTreeMap<Vec<String>, BTreeSet<Vec<String>>> = BTreeMap::new();
    let mut absolute: Vec<(&Vec<String>, Vec<String>)> = Vec::new();
    for (module, text) in modules {
        for end in 1..=module.len() {
            found.entry(module[..end].to_vec()).or_default();
        }
        let of_use = used.captures_iter(text).flat_map(|one| paths(&one[1]));
        let of_code = inline.find_iter(text).map(|one| one.as_str().to_owned());
        for path in of_use.chain(of_code) {
            let mut parts: Vec<String> = path.split("::").map(|part| part.trim().to_owned()).collect();
            let mut base = module.clone();
            if parts[0] == "self" {
                parts.remove(0);
            }
            match parts[0].as_str() {
                "crate" => base.clear(),
                "super" => {
                    while parts.len() > 1 && parts[1] == "super" {
                        parts.remove(0);
                        base.pop();
                    }
                    base.pop();
                }
                below => {
                    let below = [module.as_slice(), &[below.to_owned()]].concat();
                    if modules.keys().any(|other| other.starts_with(&below)) && parts.len() > 1 {
                        owner.insert([module.as_slice(), &parts[parts.len() - 1..]].concat(), below);
                    }
                    continue;
                }
            }
            base.extend_from_slice(&parts[1..]);
            absolute.push((module, base));
        }
    }
    for (from, to) in absolute {
        let shared = from.iter().zip(&to).take_while(|(one, other)| one == other).count();
        if from.len() == shared || to.len() == shared {
            continue;
        }
        let (from, to) = (from[..=shared].to_vec(), to[..=shared].to_vec());
        let to = owner.get(&to).cloned().unwrap_or(to);
        if from != to && found.contains_key(&to) {
            found.entry(from).or_default().insert(to);
        }
    }
    found
}

/// The dependencies that are part of a cycle.
fn in_circles(arrows: &BTreeMap<Vec<String>, BTreeSet<Vec<String>>>) -> Vec<String> {
    let leads = |from: &Vec<String>, to: &Vec<String>| {
        let mut seen = BTreeSet::from([from]);
        let mut waiting = vec![from];
        while let Some(next) = waiting.pop() {
            waiting.extend(arrows[next].iter().filter(|one| seen.insert(one)));
        }
        seen.contains(to)
    };
    let all = arrows.iter().flat_map(|(from, to)| to.iter().map(move |to| (from, to)));
    let found = all.filter(|(from, to)| leads(to, from));
    found.map(|(from, to)| format!("{} -> {}", from.join("::"), to.join("::"))).collect()
}

#[test]
fn no_modules_stand_in_a_circle() {
    let circles: BTreeMap<&str, Vec<String>> = FLOORS
        .concat()
        .into_iter()
        .map(|name| (name, in_circles(&arrows(&modules(&crates().join(name).join("src"))))))
        .filter(|(_, found)| !found.is_empty())
        .collect();
    assert!(circles.is_empty(), "{circles:#?}");
}

/// Names of types that say nothing to a reader who meets them for the first time.
const RIDDLES: &str = "Told|Kept|Written|Given|Came|Own|Now|Next|Found|Gone|Said|Lacks|Few|Around|Beside|Elsewhere\
                       |Guest|Way|Done|Begun|Made|Thing|These|Those|Who|Which";
/// Doc comments of at most this many words repeat what a name says.
const VACUOUS_WORDS: usize = 3;
/// Lines, from `fn` to the closing brace, that no function has.
const LONGEST_FUNCTION: usize = 100;
/// Lines from which a function is long, and how many such functions there may be.
const LONG_FUNCTION: (usize, usize) = (60, 15);

#[test]
fn types_are_named_for_whoever_meets_them_first() {
    let named = regex::Regex::new(&format!(
        r"(?m)^\s*(?:pub(?:\([^)]+\))?\s+)?(?:struct|enum|trait|type)\s+({RIDDLES})\b"
    ));
    let named = named.unwrap();
    for name in FLOORS.concat() {
        for (module, text) in modules(&crates().join(name).join("src")) {
            let found: Vec<&str> = named.captures_iter(&text).map(|one| one.extract::<1>().1[0]).collect();
            assert!(found.is_empty(), "{name}: {}: {found:?}", module.join("::"));
        }
    }
}

/// All source files below a folder.
fn sources(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let (folders, files): (Vec<_>, Vec<_>) = entries.partition(|path| path.is_dir());
    let is_source = |path: &PathBuf| path.extension().is_some_and(|extension| extension == "rs");
    files.into_iter().filter(is_source).chain(folders.iter().flat_map(|folder| sources(folder))).collect()
}

#[test]
fn doc_comments_say_more_than_names_do() {
    for name in FLOORS.concat() {
        for path in sources(&crates().join(name).join("src")) {
            let text = std::fs::read_to_string(&path).unwrap();
            let (mut comment, mut words) = (Vec::new(), 0);
            for line in text.lines().map(str::trim_start).chain([""]) {
                match line.strip_prefix("///") {
                    Some(said) => {
                        comment.push(said);
                        words += said.split_whitespace().count();
                    }
                    None if comment.is_empty() => {}
                    None => {
                        assert!(words > VACUOUS_WORDS, "{}: {comment:?}", path.display());
                        (comment, words) = (Vec::new(), 0);
                    }
                }
            }
        }
    }
}

/// Name and number of lines of each function of a source file, without those of its tests.
fn functions(text: &str) -> Vec<(String, usize)> {
    let begins = regex::Regex::new(r"^(\s*)(?:pub(?:\([^)]+\))? )?(?:const )?(?:unsafe )?fn (\w+)").unwrap();
    let lines: Vec<&str> = text.split("#[cfg(test)]").next().unwrap_or_default().lines().collect();
    let length = |at: usize, indent: &str| {
        let end = format!("{indent}}}");
        lines[at..].iter().position(|line| *line == end).map_or(1, |behind| behind + 1)
    };
    lines
        .iter()
        .enumerate()
        .filter_map(|(at, line)| {
            let begun = begins.captures(line)?;
            // A function without a body, or with one on its own line, ends where it begins.
            let is_whole = line.ends_with(';') || line.ends_with('}');
            Some((begun[2].to_owned(), if is_whole { 1 } else { length(at, &begun[1]) }))
        })
        .collect()
}

#[test]
fn functions_are_short() {
    let mut long = Vec::new();
    for name in FLOORS.concat() {
        for path in sources(&crates().join(name).join("src")) {
            if path.file_stem().unwrap().to_str().unwrap().ends_with("tests") {
                continue;
            }
            for (function, lines) in functions(&std::fs::read_to_string(&path).unwrap()) {
                assert!(lines < LONGEST_FUNCTION, "{}: {function} has {lines} lines", path.display());
                if lines >= LONG_FUNCTION.0 {
                    long.push(format!("{}: {function} has {lines} lines", path.display()));
                }
            }
        }
    }
    assert!(long.len() <= LONG_FUNCTION.1, "{long:#?}");
}

#[test]
fn functions_are_measured_by_their_braces() {
    let text = "fn a() {\n    b();\n}\n\nimpl X {\n    pub(crate) fn b(&self) {\n    }\n    fn c();\n}\n#[cfg(test)]\nfn d() {\n}\n";
    let expected = [("a", 3), ("b", 2), ("c", 1)].map(|(name, lines)| (name.to_owned(), lines));
    assert_eq!(functions(text), expected);
}

#[test]
fn a_circle_is_seen() {
    let modules = [
        ("", "pub use a::{A, Other};"),
        ("a", "use crate::b::B;"),
        ("b", "use crate::{c::{self, C}, d::D};"),
        ("c", "fn f() { crate::A::new() }"),
        ("d::e", "use super::f;"),
        ("d::f", "use super::{super::a::A, g};"),
        ("d::g", ""),
        ("d::g::h", "use super::super::E;"),
        ("d::i", "use super::f;"),
        ("d", "mod e;\npub(crate) use self::e::X;\nuse e::E;"),
    ];
    let path = |name: &str| name.split("::").filter(|part| !part.is_empty()).map(str::to_owned).collect();
    let modules: BTreeMap<Vec<String>, String> =
        modules.map(|(name, text)| (path(name), text.to_owned())).into();
    // `d` is in a cycle with its siblings through its part `f`; no module uses `i`.
    let found =
        ["a -> b", "b -> c", "b -> d", "c -> a", "d -> a", "d::e -> d::f", "d::f -> d::g", "d::g -> d::e"];
    assert_eq!(in_circles(&arrows(&modules)), found);
}
