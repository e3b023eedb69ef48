//! Real systems in tests. What a machine lacks fails the test that needs it, unless the user excluded the
//! system by name; that is said where nobody misses it.

#![allow(dead_code, reason = "each test program uses its own part of this")]

use std::io::Write;
use std::path::Path;

use jsonathlon_servers::Launch;
use jsonathlon_systems::{Artifact, Catalogue, Installed, Store};

/// Names of systems, separated by commas, that the tests are to do without.
const WITHOUT: &str = "JSONATHLON_TEST_WITHOUT";

/// No systems, but likewise something that a machine may not have.
pub(crate) const BROWSER: &str = "browser";
/// A disk whose power can be cut.
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

/// Past the harness, which shows only what failing tests print.
fn say(names: &[&str]) {
    let thread = std::thread::current();
    let test = thread.name().unwrap_or("a test");
    let text = format!("{test}: done without {}, excluded by name ({WITHOUT})\n", names.join(", "));
    std::io::stderr().write_all(text.as_bytes()).unwrap();
}

/// Whether the user excluded one of these systems, without which the test that asks has nothing to do.
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

/// The artifact, installed into the user's cache when it is not there yet.
pub(crate) fn installed(artifact: &Artifact) -> Installed {
    let store = Store::from_environment().unwrap();
    store.install(artifact, &mut |_| {}, &|| false).unwrap_or_else(|error| {
        panic!("this test needs {}, or {WITHOUT}={}: {error}", artifact.system, artifact.system)
    })
}

/// Where Java's system starts often and nothing is measured: a small heap, since it touches all of it when it starts.
pub(crate) const SMALL: [&str; 2] = ["--memory", "2GB"];

/// Java compiles once and not again better, and believes that what it compiles is well-formed: what it starts is up in less
/// than a third of the processor's time.
const SOON_UP: &str =
    "-XX:TieredStopAtLevel=1 -XX:+UnlockDiagnosticVMOptions -XX:-BytecodeVerificationRemote";

/// A server that a test starts by itself is soon up, with a small heap: what Elasticsearch looks for means nothing to others.
pub(crate) fn soon_up_alone(launch: &mut Launch) {
    let options = format!("-Xms512m -Xmx512m {SOON_UP}");
    launch.recipe.environment.insert("ES_JAVA_OPTS".into(), options);
}

/// The folder of a system as it is built in.
pub(crate) fn built_in(system: &str) -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../systems/catalogue").join(system)
}

/// A copy of a folder with all that is in it.
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

/// Puts Elasticsearch into a folder of systems as it is built in, but sooner up.
pub(crate) fn soon_up(systems: &Path) {
    let folder = systems.join("elasticsearch");
    copy(&built_in("elasticsearch"), &folder);
    let file = folder.join("system.toml");
    let text = std::fs::read_to_string(&file).unwrap();
    let soon = text.replace("-Xmx{{amount}}m\"", &format!("-Xmx{{{{amount}}}}m {SOON_UP}\""));
    assert_ne!(soon, text);
    std::fs::write(&file, soon).unwrap();
}
