//! Lists differences in how two runs were made, apart from what was measured.

use jsonathlon_schema::machine::Machine;
use jsonathlon_schema::manifest::{Configuration, Manifest, SettingDeviation};
use jsonathlon_schema::ranking::MemoryProfile;
use jsonathlon_schema::settings::{ExternalSystem, ManifestSettings, RunSettings};
use jsonathlon_schema::transport::Transport;
use serde::Serialize;
use serde_json::{Map, Value};

/// Relative difference of memory sizes that is ignored, because the kernel's own share changes between
/// releases.
const SAME_MEMORY: f64 = 0.01;

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
    pub name: String,
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
    let mut differences = DifferenceList(Vec::new());
    machine(&mut differences, &a.machine, &b.machine);
    differences.note(DifferenceKind::Program, "jsonathlon", &a.program, &b.program);
    differences.note(DifferenceKind::Data, "documents", &a.data.source, &b.data.source);
    differences.note(DifferenceKind::Data, "digest of the documents", &a.data.digest, &b.data.digest);
    settings(&mut differences, a, b);
    for [configuration_a, configuration_b] in configurations {
        configuration(&mut differences, configuration_a, configuration_b);
    }
    differences.0
}

/// Differences between matched configurations only, for two sides of one run.
pub(super) fn configuration_differences(configurations: &[[&Configuration; 2]]) -> Vec<SetupDifference> {
    let mut differences = DifferenceList(Vec::new());
    for [configuration_a, configuration_b] in configurations {
        configuration(&mut differences, configuration_a, configuration_b);
    }
    differences.0
}

struct DifferenceList(Vec<SetupDifference>);

impl DifferenceList {
    fn note(&mut self, kind: DifferenceKind, name: &str, a: &str, b: &str) {
        if a != b {
            self.0.push(SetupDifference { kind, name: name.to_owned(), a: a.to_owned(), b: b.to_owned() });
        }
    }
}

fn machine(differences: &mut DifferenceList, a: &Machine, b: &Machine) {
    let mut note = |name: &str, a: &str, b: &str| differences.note(DifferenceKind::Machine, name, a, b);
    note("cores", &a.cores.to_string(), &b.cores.to_string());
    note("processor", &a.processor, &b.processor);
    let (memory_a, memory_b) = (a.memory_bytes as f64, b.memory_bytes as f64);
    if (memory_a - memory_b).abs() > SAME_MEMORY * memory_a.max(memory_b) {
        let gigabytes = |bytes: f64| format!("{:.1} GB", bytes / 1e9);
        note("memory", &gigabytes(memory_a), &gigabytes(memory_b));
    }
    note("architecture", &a.architecture, &b.architecture);
    note("system", &a.os, &b.os);
    note("kernel", &a.kernel_release, &b.kernel_release);
    let file_system = |machine: &Machine| machine.file_system.clone().unwrap_or_default();
    note("file system", &file_system(a), &file_system(b));
}

fn settings(differences: &mut DifferenceList, a: &Manifest, b: &Manifest) {
    let (a, b) = (named_settings(&a.settings), named_settings(&b.settings));
    let only_in_b = b.keys().filter(|name| !a.contains_key(*name));
    for name in a.keys().chain(only_in_b) {
        let text = |value: Option<&Value>| match value {
            None | Some(Value::Null) => String::new(),
            Some(Value::String(text)) => text.clone(),
            Some(value) => value.to_string(),
        };
        let (text_a, text_b) = (text(a.get(name)), text(b.get(name)));
        differences.note(DifferenceKind::Settings, &name.replace('_', " "), &text_a, &text_b);
    }
}

/// Settings by name, with those of the run's workload beside the shared ones.
fn named_settings(settings: &ManifestSettings) -> Map<String, Value> {
    let ManifestSettings { run, workload } = settings;
    // Addresses, database names and restart commands are specific to one run and private.
    let mut named = members(&RunSettings { external_systems: Vec::new(), ..run.clone() });
    if !run.external_systems.is_empty() {
        let describe =
            |external: &ExternalSystem| format!("{} {}", external.system, external.reported_version);
        let systems: Vec<String> = run.external_systems.iter().map(describe).collect();
        named.insert("external_systems".to_owned(), systems.join("; ").into());
    }
    for (name, value) in members(workload) {
        match value {
            Value::Object(own_settings) => named.extend(own_settings),
            value => {
                named.insert(name, value);
            }
        }
    }
    named
}

/// Members of a value's JSON object; empty if it has another form.
fn members(value: &impl Serialize) -> Map<String, Value> {
    match serde_json::to_value(value) {
        Ok(Value::Object(members)) => members,
        _ => Map::new(),
    }
}

fn configuration(differences: &mut DifferenceList, a: &Configuration, b: &Configuration) {
    let name = format!("{} {} {}", b.id.system, b.id.variant, b.id.storage);
    let mut note = |property: &str, a: &str, b: &str| {
        differences.note(DifferenceKind::System, &format!("{name}: {property}"), a, b);
    };
    note("system", &a.id.system, &b.id.system);
    note("version", &a.id.version, &b.id.version);
    note("variant", &a.id.variant, &b.id.variant);
    note("storage", &a.id.storage, &b.id.storage);
    note("preparation", a.preparation.word(), b.preparation.word());
    let profile = |configuration: &Configuration| configuration.profile.map_or("", MemoryProfile::word);
    note("memory profile", profile(a), profile(b));
    let budget = |configuration: &Configuration| {
        configuration.memory_bytes.map_or_else(String::new, |bytes| format!("{} MB", bytes / 1_000_000))
    };
    note("memory budget", &budget(a), &budget(b));
    let settings = |configuration: &Configuration| {
        configuration
            .memory_settings
            .iter()
            .map(|setting| format!("{} = {}", setting.name, setting.value))
            .collect::<Vec<_>>()
            .join(", ")
    };
    note("memory settings", &settings(a), &settings(b));
    let artifact = |configuration: &Configuration| configuration.artifact_digest.clone().unwrap_or_default();
    note("artifact", &artifact(a), &artifact(b));
    note("configuration", &a.configuration_digest, &b.configuration_digest);
    let transport = |configuration: &Configuration| configuration.transport.map_or("", Transport::word);
    note("transport", transport(a), transport(b));
    let runs_as = |configuration: &Configuration| if configuration.embedded { "embedded" } else { "server" };
    note("runs as", runs_as(a), runs_as(b));
    note("ranked with", &a.ranks_with, &b.ranks_with);
    let describe = |exception: &SettingDeviation| format!("{} ({})", exception.what, exception.why);
    for removed in a.exceptions.iter().filter(|exception| !b.exceptions.contains(exception)) {
        note("exception", &describe(removed), "");
    }
    for added in b.exceptions.iter().filter(|exception| !a.exceptions.contains(exception)) {
        note("exception", "", &describe(added));
    }
}
