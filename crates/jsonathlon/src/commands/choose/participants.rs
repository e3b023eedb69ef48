//! Which systems take part: those of the user or those that this machine can run, and what keeps each from a workload.

use jsonathlon_artifacts::{ArtifactStore, InstallState};
use jsonathlon_catalogue::{
    Catalogue, Configuration, QUESTIONS, SERVING, SelectedSystem, System, TargetKind, UserQuestions,
    select_variants_of,
};
use jsonathlon_schema::durability::DurabilityTier;
use serde::{Deserialize, Serialize};

use crate::commands::{install, missing_requirements};
use crate::exit::Failure;
use crate::interrupt::Interrupt;

/// Servers among the systems of a choice without `--systems`, in which documents are commonly kept. The embedded
/// engines are the others.
const DEFAULT_SERVERS: &str = "postgresql,mongodb";

/// Systems by what they take part in, each as NAME@VERSION.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Participants {
    /// Systems whose documents clients read and change.
    pub(super) serving: Vec<String>,
    /// Systems that are asked questions.
    pub(super) questions: Vec<String>,
    /// Systems that are kept from something.
    pub(super) absences: Vec<Absence>,
}

/// Why a system takes no part in something.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Absence {
    /// Name of the system.
    pub(super) system: String,
    /// Version of the system.
    pub(super) version: String,
    pub(super) from: Workload,
    /// The reason, as part of a sentence.
    pub(super) reason: String,
}

/// What systems take part in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Workload {
    /// Clients read and change documents; crash tests do, too.
    Serving,
    /// Questions about all documents.
    Questions,
}

impl Workload {
    /// What a system takes no part in, for readers.
    pub(super) fn words(self) -> &'static str {
        match self {
            Self::Serving => "reads and changes of single documents",
            Self::Questions => "questions",
        }
    }
}

/// Systems that the user names; without names the default ones.
///
/// # Errors
/// If a name is unknown.
pub(super) fn select<'c>(
    catalogue: &'c Catalogue,
    names: Option<&str>,
) -> Result<Vec<SelectedSystem<'c>>, Failure> {
    if names.is_some() {
        return Ok(catalogue.select(names)?);
    }
    let mut selected = catalogue.select(None)?;
    for server in catalogue.select(Some(DEFAULT_SERVERS))? {
        if !selected.iter().any(|other| other.system.name() == server.system.name()) {
            selected.push(server);
        }
    }
    Ok(selected)
}

/// Installs the systems, before the time of the budget begins. Returns those that can be used. Without names from the
/// user, the others are left out with a note; a system that the user named must be there.
///
/// # Errors
/// If a system that the user named cannot be installed, or none can.
pub(super) fn installed<'c>(
    selected: Vec<SelectedSystem<'c>>,
    are_named: bool,
    store: &ArtifactStore,
    notes: &mut Vec<String>,
    interrupt: &Interrupt,
) -> Result<Vec<SelectedSystem<'c>>, Failure> {
    let mut usable = Vec::new();
    let mut last_failure = None;
    for selection in selected {
        match install_one(&selection, are_named, store, interrupt) {
            Ok(()) => usable.push(selection),
            Err(failure) if are_named || interrupt.is_requested() => return Err(failure),
            Err(failure) => {
                notes.push(format!("{} is left out: {failure}", selection.system.name()));
                last_failure = Some(failure);
            }
        }
    }
    match last_failure {
        Some(failure) if usable.is_empty() => Err(failure),
        _ => Ok(usable),
    }
}

fn install_one(
    selection: &SelectedSystem<'_>,
    is_named: bool,
    store: &ArtifactStore,
    interrupt: &Interrupt,
) -> Result<(), Failure> {
    let configuration = any_configuration(selection)?;
    // What is in no registry is refused by the run, with the remedy.
    let Some(artifact) = &configuration.artifact else { return Ok(()) };
    let server = configuration.server.as_ref();
    let is_present = matches!(store.presence(artifact), InstallState::Installed(_) | InstallState::Bundled);
    let missing = missing_requirements(store, artifact, server);
    if !is_present && !is_named && !missing.is_empty() {
        return Err(Failure::environment(missing.join("; ")));
    }
    install(store, artifact, server, interrupt).map(drop)
}

/// A configuration of the system in any variant, which tells how it is installed.
fn any_configuration(selection: &SelectedSystem<'_>) -> Result<Configuration, Failure> {
    let system = selection.system;
    let variant = system.representative_variant().map_or("default", |variant| variant.name.as_str());
    Ok(system.configuration(selection.version, variant, storage(system))?)
}

fn storage(system: &System) -> &str {
    system.storages().first().map_or("default", |storage| storage.name.as_str())
}

/// Finds out what each system takes part in. `questions` are `None` if there is nothing to ask.
///
/// # Errors
/// If no system has one of the variants, or none takes part in anything.
pub(super) fn participants(
    selected: &[SelectedSystem<'_>],
    variants: &str,
    tier: DurabilityTier,
    questions: Option<&UserQuestions>,
) -> Result<Participants, Failure> {
    let mut participants = Participants::default();
    let serving: Vec<&SelectedSystem<'_>> =
        selected.iter().filter(|selection| selection.system.supports_workload(SERVING)).collect();
    let systems: Vec<&System> = serving.iter().map(|selection| selection.system).collect();
    let variants_by_system = match systems.is_empty() {
        true => Vec::new(),
        false => select_variants_of(SERVING, &systems, variants, TargetKind::Started)?,
    };
    for (selection, system_variants) in serving.iter().zip(variants_by_system) {
        let names: Vec<&str> = system_variants.iter().map(|variant| variant.name.as_str()).collect();
        match serving_obstacle(selection, &names, variants, tier)? {
            None => participants.serving.push(qualified(selection)),
            Some(reason) => participants.absences.push(absence(selection, Workload::Serving, reason)),
        }
    }
    for selection in selected {
        if let Some(reason) = selection.system.unsupported_workloads().remove(SERVING) {
            participants.absences.push(absence(selection, Workload::Serving, reason));
        }
        match questions.map(|questions| questions_obstacle(selection.system, questions)) {
            Some(None) => participants.questions.push(qualified(selection)),
            Some(Some(reason)) => {
                participants.absences.push(absence(selection, Workload::Questions, reason));
            }
            None => {}
        }
    }
    if participants.serving.is_empty() && participants.questions.is_empty() {
        let reasons: Vec<String> = participants
            .absences
            .iter()
            .map(|absence| {
                format!("\n    {}: no {}: {}", absence.system, absence.from.words(), absence.reason)
            })
            .collect();
        return Err(Failure::usage(format!("no system can take part:{}", reasons.concat())));
    }
    Ok(participants)
}

fn qualified(selection: &SelectedSystem<'_>) -> String {
    format!("{}@{}", selection.system.name(), selection.version)
}

fn absence(selection: &SelectedSystem<'_>, from: Workload, reason: String) -> Absence {
    let (system, version) = (selection.system.name().to_owned(), selection.version.to_owned());
    Absence { system, version, from, reason }
}

/// What keeps a system from serving documents in its variant of these names; `None` if nothing does.
///
/// # Errors
/// If there are several variants.
fn serving_obstacle(
    selection: &SelectedSystem<'_>,
    names: &[&str],
    requested: &str,
    tier: DurabilityTier,
) -> Result<Option<String>, Failure> {
    let system = selection.system;
    let [name] = names else {
        return match names {
            [] => Ok(Some(format!("it has no variant `{requested}`"))),
            several => Err(Failure::usage(format!(
                "systems are compared, each in one variant: choose one of {} for {}",
                several.join(", "),
                system.name()
            ))),
        };
    };
    let configuration = system.configuration(selection.version, name, storage(system))?;
    let configuration = configuration.for_workloads(&[SERVING]);
    if let Some(reason) = configuration.serving().and_then(|setup| setup.generated_only) {
        return Ok(Some(reason));
    }
    Ok(configuration.with_durability(tier).err().map(|error| error.to_string()))
}

/// What keeps a system from being asked; `None` if nothing does.
fn questions_obstacle(system: &System, questions: &UserQuestions) -> Option<String> {
    if let Some(reason) = system.unsupported_workloads().remove(QUESTIONS) {
        return Some(reason);
    }
    let has_folder = questions.folders.iter().any(|folder| folder.system == system.name());
    (!has_folder).then(|| format!("{} has no statements for it", questions.path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn systems_take_part_in_what_their_folders_have() {
        let catalogue = Catalogue::load(&[]).unwrap();
        let selected = select(&catalogue, Some("sqlite,yardstick")).unwrap();
        let tier = DurabilityTier::Synced;
        let found = participants(&selected, "default", tier, None).unwrap();
        assert!(found.serving.len() == 1 && found.serving[0].starts_with("sqlite@"), "{found:?}");
        let [absence] = found.absences.as_slice() else { panic!("{found:?}") };
        assert_eq!((absence.system.as_str(), absence.from), ("yardstick", Workload::Serving));
        let alone = select(&catalogue, Some("yardstick")).unwrap();
        let refused = participants(&alone, "default", tier, None).unwrap_err().to_string();
        assert!(refused.contains("no system can take part") && refused.contains("yardstick"), "{refused}");
    }

    #[test]
    fn the_default_systems_are_engines_and_servers_each_once() {
        let catalogue = Catalogue::load(&[]).unwrap();
        let names: Vec<&str> =
            select(&catalogue, None).unwrap().iter().map(|selection| selection.system.name()).collect();
        for name in ["sqlite", "duckdb", "clickhouse", "postgresql", "mongodb"] {
            assert_eq!(names.iter().filter(|other| **other == name).count(), 1, "{names:?}");
        }
    }
}
