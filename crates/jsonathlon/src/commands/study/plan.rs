//! Plans the runs of a study: the systems of each, and the command that executes it.

use std::path::Path;

use jsonathlon_catalogue::{Catalogue, SelectedSystem, TargetKind, select_variants_of};
use jsonathlon_schema::durability::DurabilityTier;
use jsonathlon_studies::{
    definition::{Reference, Study},
    runs::StudyRun,
};

use super::{
    super::{
        part_run::{PassedOnOptions, describe_error, parse_command},
        workload,
    },
    saved::SavedStudy,
};
use crate::{cli::run::RunCommand, exit::Failure};

/// Durability tier of runs whose study names none.
const DEFAULT_TIER: DurabilityTier = DurabilityTier::Synced;

/// Systems and variants that one run measures.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Systems {
    /// Systems as `--systems` takes them: NAME@VERSION.
    names: Vec<String>,
    /// Variants as `--variants` takes them: SYSTEM/NAME. Empty if the workload's own default is used.
    variants: Vec<String>,
}

/// All runs of a study, and notes on what they lack.
pub(super) struct StudyPlan {
    /// Runs with their systems, in the order of execution.
    pub(super) runs: Vec<(StudyRun, Systems)>,
    /// Notes for the user on systems that are left out, each with the reason.
    pub(super) notes: Vec<String>,
}

impl StudyPlan {
    pub(super) fn new(study: &Study, saved: &SavedStudy, catalogue: &Catalogue) -> Result<Self, Failure> {
        let allowed = study.workload.options();
        let is_known = |option: &&String| allowed.contains(&option.as_str());
        if let Some(unknown) = saved.set.keys().find(|option| !is_known(option)) {
            return Err(Failure::usage(format!(
                "--set: unknown option `{unknown}`; allowed: {}",
                allowed.join(", ")
            )));
        }
        let study_systems = study.systems.join(",");
        let selected = catalogue.select(Some(saved.systems.as_deref().unwrap_or(&study_systems)))?;
        let systems: Vec<_> = selected.iter().map(|selection| selection.system).collect();
        catalogue.supporting_systems(study.workload.kind().name(), &systems)?;
        let mut notes = Vec::new();
        let systems = varying_systems(study, selected, &mut notes)?;
        let study_runs = study
            .runs(&saved.selection())
            .map_err(|impossible| Failure::usage(format!("study {}: {}", study.name, impossible.reason)))?;
        let mut runs = Vec::with_capacity(study_runs.len());
        for study_run in study_runs {
            let run_systems = match &study.reference {
                Some(reference) if study_run.is_reference => reference_systems(reference, catalogue)?,
                _ => systems_of(study, &study_run, &systems, &saved.variants, &mut notes)?,
            };
            if run_systems.names.is_empty() {
                continue;
            }
            // Converts the command already here, so that a wrong option is reported before anything starts.
            workload::build_request(&command(
                study,
                &study_run,
                &run_systems,
                Path::new("out"),
                saved,
                &PassedOnOptions::default(),
            )?)?;
            runs.push((study_run, run_systems));
        }
        if runs.iter().all(|(study_run, _): &(StudyRun, Systems)| study_run.is_reference) {
            return Err(Failure::usage(format!("study {}: nothing is left to measure", study.name)));
        }
        Ok(Self { runs, notes })
    }
}

/// The study's reference, in the version that the catalogue prefers.
fn reference_systems(reference: &Reference, catalogue: &Catalogue) -> Result<Systems, Failure> {
    let selected = catalogue.select(Some(&reference.system))?;
    let name = |selection: &SelectedSystem<'_>| format!("{}@{}", selection.system.name(), selection.version);
    Ok(Systems {
        names: selected.iter().map(name).collect(),
        variants: vec![format!("{}/{}", reference.system, reference.variant)],
    })
}

/// Selected systems without those that have nothing to vary, which are noted. A study that compares versions
/// gets every version of each system.
fn varying_systems<'a>(
    study: &Study,
    selected: Vec<SelectedSystem<'a>>,
    notes: &mut Vec<String>,
) -> Result<Vec<SelectedSystem<'a>>, Failure> {
    let mut remaining = Vec::new();
    for selection in selected {
        let name = selection.system.name();
        if study.compares_versions() {
            let versions = selection.system.versions();
            if versions.len() < 2 {
                notes.push(format!("skipping {name}: it has one version, and nothing to vary"));
                continue;
            }
            for version in versions {
                if !remaining
                    .iter()
                    .any(|known: &SelectedSystem<'_>| known.system.name() == name && known.version == version)
                {
                    remaining.push(SelectedSystem { system: selection.system, version });
                }
            }
        } else if !study.variants.is_empty() && !study.variants.contains_key(name) {
            let varied: Vec<&str> = study.variants.keys().map(String::as_str).collect();
            notes.push(format!(
                "skipping {name}: it has nothing to vary here; this study varies {}",
                varied.join(", ")
            ));
        } else {
            remaining.push(selection);
        }
    }
    if remaining.is_empty() {
        let why = notes.join("\n    ");
        return Err(Failure::usage(format!(
            "study {}: none of the systems has anything to vary:\n    {why}",
            study.name
        )));
    }
    Ok(remaining)
}

/// Systems that one run can be measured on, in `default_variants` if the study lists none. A system without the run's
/// durability tier is noted and left out.
fn systems_of(
    study: &Study,
    study_run: &StudyRun,
    systems: &[SelectedSystem<'_>],
    default_variants: &str,
    notes: &mut Vec<String>,
) -> Result<Systems, Failure> {
    // `None` for an unknown tier, about which the conversion into a command fails with the right message.
    let tier = match study_run.options.get("durability") {
        Some(word) => DurabilityTier::from_word(word),
        None => Some(DEFAULT_TIER),
    };
    let workload = study.workload.kind().name();
    let mut chosen = Systems { names: Vec::new(), variants: Vec::new() };
    for selection in systems {
        let name = selection.system.name();
        let run_variants = study.variants_of(name, study_run);
        if run_variants.is_empty() && !study.variants.is_empty() {
            continue;
        }
        let selected = match run_variants.as_slice() {
            [] => default_variants.to_owned(),
            names => names.join(","),
        };
        let variants = select_variants_of(workload, &[selection.system], &selected, TargetKind::Started)?;
        let Some(first) = variants.into_iter().flatten().next() else { continue };
        let storage = selection.system.storages().first().map_or("default", |storage| storage.name.as_str());
        let configuration = selection.system.configuration(selection.version, &first.name, storage)?;
        if let Some(tier) = tier
            && let Err(why) = configuration.for_workloads(&[workload]).with_durability(tier)
        {
            notes.push(format!("skipping {name} in {}: {why}", study_run.name));
            continue;
        }
        chosen.names.push(format!("{name}@{}", selection.version));
        for variant in run_variants {
            let qualified = format!("{name}/{variant}");
            if !chosen.variants.contains(&qualified) {
                chosen.variants.push(qualified);
            }
        }
    }
    Ok(chosen)
}

/// Command of one run, as a user would write it.
pub(super) fn command(
    study: &Study,
    study_run: &StudyRun,
    systems: &Systems,
    folder: &Path,
    saved: &SavedStudy,
    passed_on: &PassedOnOptions,
) -> Result<RunCommand, Failure> {
    let variants = match systems.variants.as_slice() {
        // The reference has a variant of its own.
        [] => saved.variants.clone(),
        variants => variants.join(","),
    };
    let workload = study.workload_of(study_run).name();
    let mut arguments: Vec<String> = ["jsonathlon", "run", workload, "--systems"].map(str::to_owned).to_vec();
    arguments.extend([systems.names.join(","), "--variants".to_owned(), variants]);
    arguments.extend(["--out".to_owned(), folder.display().to_string()]);
    for (option, value) in &study_run.options {
        match value.as_str() {
            "true" => arguments.push(format!("--{option}")),
            "false" => {}
            value => arguments.push(format!("--{option}={value}")),
        }
    }
    arguments.extend(passed_on.arguments());
    parse_command(&arguments).map_err(|error| {
        let (option, message) = describe_error(&error);
        let option = option.map(|option| name_in_study(study, option));
        match option {
            Some(option) if saved.set.contains_key(&option) => {
                Failure::usage(format!("--set {option}: {message}"))
            }
            Some(option) => study.invalid_value(&option, &message).into(),
            None => Failure::usage(message),
        }
    })
}

/// Name of an option in a study. Errors have the main name, while some studies use its alias.
fn name_in_study(study: &Study, option: String) -> String {
    let is_scale = option == "scale" && !study.workload.options().contains(&"scale");
    if is_scale { "records".to_owned() } else { option }
}
