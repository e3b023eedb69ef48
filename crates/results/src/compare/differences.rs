//! Lists differences in how two runs were made, apart from what was measured.

use jsonathlon_schema::machine::Machine;
use jsonathlon_schema::manifest::{Configuration, Manifest, SettingDeviation};
use jsonathlon_schema::ranking::{MemoryProfile, PreparationClass};
use serde::Serialize;
use serde_json::Value;

/// Relative difference of memory sizes that is ignored, because the kernel's own share changes between
/// releases.
const SAME_MEMORY: f64 = 0.01;

/// Setting that lists external systems, which the program did not install.
const ELSEWHERE: &str = "elsewhere";

/// Area in which two runs differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum DifferenceKind {
    /// The machine, including its kernel and distribution.
    Machine,
    /// This program's own version.
    Program,
    /// The documents that were loaded.
    Data,
    /// Settings of the run, such as rounds.
    Settings,
    /// A configuration under test.
    System,
}

/// One difference. The text of a side that does not have the value is empty.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SetupDifference {
    /// Area of the difference.
    pub kind: DifferenceKind,
    /// Name of the value that differs.
    pub what: String,
    /// Value in A, as text.
    pub a: String,
    /// Value in B, as text.
    pub b: String,
}

pub(super) fn differences(
    a: &Manifest,
    b: &Manifest,
    configurations: &[[&Configuration; 2]],
) -> Vec<SetupDifference> {
    let mut found = DifferenceList(Vec::new());
    machine(&mut found, &a.machine, &b.machine);
    found.note(DifferenceKind::Program, "jsonathlon", &a.program, &b.program);
    found.note(DifferenceKind::Data, "documents", &a.data.source, &b.data.source);
    found.note(DifferenceKind::Data, "digest of the documents", &a.data.digest, &b.data.digest);
    settings(&mut found, a, b);
    for [one, other] in configurations {
        configuration(&mut found, one, other);
    }
    found.0
}

/// Differences between matched configurations only, for two sides of one run.
pub(super) fn of_configurations(configurations: &[[&Configuration; 2]]) -> Vec<SetupDifference> {
    let mut found = DifferenceList(Vec::new());
    for [one, other] in configurations {
        configuration(&mut found, one, other);
    }
    found.0
}

struct DifferenceList(Vec<SetupDifference>);

impl DifferenceList {
    fn note(&mut self, kind: DifferenceKind, what: &str, a: &str, b: &str) {
        if a != b {
            self.0.push(SetupDifference { kind, what: what.to_owned(), a: a.to_owned(), b: b.to_owned() });
        }
    }
}

fn machine(found: &mut DifferenceList, a: &Machine, b: &Machine) {
    let mut note = |what: &str, a: &str, b: &str| found.note(DifferenceKind::Machine, what, a, b);
    note("cores", &a.cores.to_string(), &b.cores.to_string());
    note("processor", &a.processor, &b.processor);
    let (memory_a, memory_b) = (a.memory_bytes as f64, b.memory_bytes as f64);
    if (memory_a - memory_b).abs() > SAME_MEMORY * memory_a.max(memory_b) {
        let gigabytes = |bytes: f64| format!("{:.1} GB", bytes / 1e9);
        note("memory", &gigabytes(memory_a), &gigabytes(memory_b));
    }
    note("architecture", &a.architecture, &b.architecture);
    note("system", &a.os, &b.os);
    note("kernel", &a.kernel, &b.kernel);
    let file_system = |machine: &Machine| machine.file_system.clone().unwrap_or_default();
    note("file system", &file_system(a), &file_system(b));
}

fn settings(found: &mut DifferenceList, a: &Manifest, b: &Manifest) {
    let (a, b) = (named_settings(a), named_settings(b));
    let new = b.keys().filter(|name| !a.contains_key(*name));
    for name in a.keys().chain(new) {
        let text = |value: Option<&Value>| match value {
            None | Some(Value::Null) => String::new(),
            Some(all) if name == ELSEWHERE => elsewhere(all),
            Some(Value::String(text)) => text.clone(),
            Some(other) => other.to_string(),
        };
        found.note(DifferenceKind::Settings, &name.replace('_', " "), &text(a.get(name)), &text(b.get(name)));
    }
}

/// Settings by name, with those of the run's workloads on the top level, where version 0.1.0 has them.
fn named_settings(manifest: &Manifest) -> serde_json::Map<String, Value> {
    let mut all = manifest.settings.as_object().cloned().unwrap_or_default();
    for workload in &manifest.workloads {
        if let Some(Value::Object(own)) = all.remove(workload.as_str()) {
            all.extend(own);
        }
    }
    all
}

/// External systems, each with the version that it reported. Addresses, database names and restart commands
/// are specific to one run and private, and are therefore left out.
fn elsewhere(all: &Value) -> String {
    let text = |one: &Value, name: &str| one.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
    let each = all.as_array().into_iter().flatten();
    let named = |one: &Value| format!("{} {}", text(one, "system"), text(one, "reported"));
    each.map(named).collect::<Vec<_>>().join("; ")
}

fn configuration(found: &mut DifferenceList, a: &Configuration, b: &Configuration) {
    let name = format!("{} {} {}", b.id.system, b.id.variant, b.id.storage);
    let mut note =
        |what: &str, a: &str, b: &str| found.note(DifferenceKind::System, &format!("{name}: {what}"), a, b);
    note("system", &a.id.system, &b.id.system);
    note("version", &a.id.version, &b.id.version);
    note("variant", &a.id.variant, &b.id.variant);
    note("storage", &a.id.storage, &b.id.storage);
    let class = |one: &Configuration| one.preparation.map_or("", PreparationClass::word);
    note("preparation", class(a), class(b));
    let profile = |one: &Configuration| one.profile.map_or("", MemoryProfile::word);
    note("memory profile", profile(a), profile(b));
    let budget = |one: &Configuration| {
        one.memory_bytes.map_or_else(String::new, |bytes| format!("{} MB", bytes / 1_000_000))
    };
    note("memory budget", &budget(a), &budget(b));
    let settings = |one: &Configuration| {
        one.memory_settings
            .iter()
            .map(|one| format!("{} = {}", one.name, one.value))
            .collect::<Vec<_>>()
            .join(", ")
    };
    note("memory settings", &settings(a), &settings(b));
    let artifact = |one: &Configuration| one.artifact_digest.clone().unwrap_or_default();
    note("artifact", &artifact(a), &artifact(b));
    note("configuration", &a.configuration_digest, &b.configuration_digest);
    let transport = |one: &Configuration| one.transport.clone().unwrap_or_default();
    note("transport", &transport(a), &transport(b));
    let place = |one: &Configuration| if one.embedded { "embedded" } else { "server" };
    note("runs as", place(a), place(b));
    note("ranked with", &a.ranks_with, &b.ranks_with);
    let words = |one: &SettingDeviation| format!("{} ({})", one.what, one.why);
    for gone in a.exceptions.iter().filter(|one| !b.exceptions.contains(one)) {
        note("exception", &words(gone), "");
    }
    for new in b.exceptions.iter().filter(|one| !a.exceptions.contains(one)) {
        note("exception", "", &words(new));
    }
}
