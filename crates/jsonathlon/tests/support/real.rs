//! Real systems in tests. A test fails if this machine lacks its system, unless the user excluded the system
//! by name; the exclusion is printed.

#![allow(dead_code, reason = "each test program uses its own part of this")]

use std::{io::Write, path::Path};

use jsonathlon_artifacts::ArtifactStore;
use jsonathlon_catalogue::{Artifact, Catalogue, InstalledArtifact};
use jsonathlon_servers::LaunchSpec;

/// Environment variable with the comma-separated names of systems to exclude.
const WITHOUT: &str = "JSONATHLON_TEST_WITHOUT";

/// Name that excludes tests with a browser, which is not a system.
pub(crate) const BROWSER: &str = "browser";
/// Name that excludes tests that need a disk whose power can be cut.
pub(crate) const OUTAGE: &str = "outage";

fn without() -> Vec<String> {
    let text = std::env::var(WITHOUT).unwrap_or_default();
    let names: Vec<String> =
        text.split(',').map(str::trim).filter(|name| !name.is_empty()).map(str::to_owned).collect();
    let catalogue = Catalogue::load(&[]).unwrap();
    for name in names.iter().filter(|name| ![BROWSER, OUTAGE].contains(&name.as_str())) {
        // A misspelt name would exclude nothing.
        catalogue.get(name).unwrap_or_else(|error| panic!("{WITHOUT}: {error}"));
    }
    names
}

/// Prints past the test harness, which shows only the output of failing tests.
fn say(names: &[&str]) {
    let thread = std::thread::current();
    let test = thread.name().unwrap_or("a test");
    let text = format!("{test}: done without {}, excluded by name ({WITHOUT})\n", names.join(", "));
    std::io::stderr().write_all(text.as_bytes()).unwrap();
}

/// Returns `true` if the user excluded one of these systems; the calling test then has nothing to do.
pub(crate) fn excluded(systems: &[&str]) -> bool {
    included(systems).len() < systems.len()
}

/// Those of these systems that the user did not exclude.
pub(crate) fn included<'a>(systems: &[&'a str]) -> Vec<&'a str> {
    let without = without();
    let (out, left): (Vec<&str>, Vec<&str>) =
        systems.iter().partition(|system| without.iter().any(|name| name == *system));
    if !out.is_empty() {
        say(&out);
    }
    left
}

/// Installs the artifact into the user's cache if it is missing.
pub(crate) fn installed(artifact: &Artifact) -> InstalledArtifact {
    let store = ArtifactStore::from_environment().unwrap();
    store.install(artifact, &mut |_| {}, &|| false).unwrap_or_else(|error| {
        panic!("this test needs {}, or {WITHOUT}={}: {error}", artifact.system, artifact.system)
    })
}

/// Options for tests that start Elasticsearch often without measuring: a small heap, because Java touches all
/// of it at start.
pub(crate) const SMALL: [&str; 2] = ["--memory", "2GB"];

/// Java options that reduce the CPU time until a server is ready to less than a third: one level of
/// compilation only, and no verification of bytecode.
const SOON_UP: &str =
    "-XX:TieredStopAtLevel=1 -XX:+UnlockDiagnosticVMOptions -XX:-BytecodeVerificationRemote";

/// Configures a server that a test starts itself for a fast start with a small heap; only Elasticsearch reads
/// this variable.
pub(crate) fn soon_up_alone(launch: &mut LaunchSpec) {
    let options = format!("-Xms512m -Xmx512m {SOON_UP}");
    launch.recipe.environment.insert("ES_JAVA_OPTS".into(), options);
}

/// The source folder of a built-in system.
pub(crate) fn built_in(system: &str) -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../catalogue/systems").join(system)
}

/// Copies a folder recursively.
pub(crate) fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap().map(Result::unwrap) {
        let (from, to) = (entry.path(), to.join(entry.file_name()));
        match entry.file_type().unwrap() {
            kind if kind.is_dir() => copy(&from, &to),
            kind if kind.is_symlink() => {
                std::os::unix::fs::symlink(std::fs::read_link(from).unwrap(), to).unwrap();
            }
            _ => drop(std::fs::copy(from, to).unwrap()),
        }
    }
}

/// Adds the built-in Elasticsearch to a folder of systems, with the options for a fast start.
pub(crate) fn soon_up(systems: &Path) {
    let folder = systems.join("elasticsearch");
    copy(&built_in("elasticsearch"), &folder);
    let file = folder.join("system.toml");
    let text = std::fs::read_to_string(&file).unwrap();
    let soon = text.replace("-Xmx{{amount}}m\"", &format!("-Xmx{{{{amount}}}}m {SOON_UP}\""));
    assert_ne!(soon, text);
    std::fs::write(&file, soon).unwrap();
}
