//! Plans the runs of a study: the systems of each, and the command that executes it.

use std::path::Path;

use clap::{Parser, error::ContextKind};

use jsonathlon_catalogue::{Catalogue, SERVING, SelectedSystem, TargetKind, select_variants_of};
use jsonathlon_studies::{
    definition::{OPTIONS, Study},
    runs::StudyRun,
};

use super::{super::workload, saved::SavedStudy};
use crate::{
    cli::{Cli, Command, RunCommand},
    exit::Failure,
};

/// Durability tier of runs whose study names none.
const SYNCED: &str = "synced";

/// Systems and variants that one run measures.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Systems {
    /// Systems as `--systems` takes them: NAME@VERSION.
    names: Vec<String>,
    /// Variants as `--variants` takes them: SYSTEM/NAME. Empty if the default variants are used.
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
    pub(super) fn of(study: &Study, kept: &SavedStudy, catalogue: &Catalogue) -> Result<Self, Failure> {
        let is_known = |option: &&String| OPTIONS.contains(&option.as_str());
        if let Some(unknown) = kept.set.keys().find(|option| !is_known(option)) {
            return Err(Failure::usage(format!(
                "--set {unknown}: no option of a study is called so; there is {}",
                OPTIONS.join(", ")
            )));
        }
        let of_study = study.systems.join(",");
        let chosen = catalogue.select(Some(kept.systems.as_deref().unwrap_or(&of_study)))?;
        let names: Vec<_> = chosen.iter().map(|one| one.system).collect();
        catalogue.running(SERVING, &names)?;
        let mut notes = Vec::new();
        let systems = with_something_to_vary(study, chosen, &mut notes)?;
        let parts = study
            .parts(&kept.choice())
            .map_err(|impossible| Failure::usage(format!("study {}: {}", study.name, impossible.why)))?;
        let mut runs = Vec::with_capacity(parts.len());
        for part in parts {
            let of_part = systems_of(study, &part, &systems, &mut notes)?;
            if of_part.names.is_empty() {
                continue;
            }
            // Converts the command already here, so that a wrong option is reported before anything starts.
            workload::asked(&command(study, kept, &part, &of_part, Path::new("out"), false)?)?;
            runs.push((part, of_part));
        }
        if runs.is_empty() {
            return Err(Failure::usage(format!("study {}: nothing is left to measure", study.name)));
        }
        Ok(Self { runs, notes })
    }
}

/// Selected systems without those that have nothing to vary, which are noted. A study that compares versions
/// gets every version of each system.
fn with_something_to_vary<'a>(
    study: &Study,
    chosen: Vec<SelectedSystem<'a>>,
    notes: &mut Vec<String>,
) -> Result<Vec<SelectedSystem<'a>>, Failure> {
    let mut left = Vec::new();
    for one in chosen {
        let name = one.system.name();
        if study.compares_versions() {
            let versions = one.system.versions();
            if versions.len() < 2 {
                notes.push(format!("{name} is left out: it has one version, and nothing to vary"));
                continue;
            }
            for version in versions {
                if !left
                    .iter()
                    .any(|known: &SelectedSystem<'_>| known.system.name() == name && known.version == version)
                {
                    left.push(SelectedSystem { system: one.system, version });
                }
            }
        } else if !study.variants.is_empty() && !study.variants.contains_key(name) {
            let others: Vec<&str> = study.variants.keys().map(String::as_str).collect();
            notes.push(format!(
                "{name} is left out: it has nothing to vary here; this study varies {}",
                others.join(", ")
            ));
        } else {
            left.push(one);
        }
    }
    if left.is_empty() {
        let why = notes.join("\n    ");
        return Err(Failure::usage(format!(
            "study {}: none of the systems has anything to vary:\n    {why}",
            study.name
        )));
    }
    Ok(left)
}

/// Systems that one run can be measured on. A system without the run's durability tier is noted and left out.
fn systems_of(
    study: &Study,
    part: &StudyRun,
    systems: &[SelectedSystem<'_>],
    notes: &mut Vec<String>,
) -> Result<Systems, Failure> {
    let tier = part.options.get("durability").map_or(SYNCED, String::as_str);
    let mut found = Systems { names: Vec::new(), variants: Vec::new() };
    for one in systems {
        let name = one.system.name();
        let own = study.variants_of(name, part);
        if own.is_empty() && !study.variants.is_empty() {
            continue;
        }
        let wanted = if own.is_empty() { "default".to_owned() } else { own.join(",") };
        let variants = select_variants_of(SERVING, &[one.system], &wanted, TargetKind::Started)?;
        let Some(first) = variants.into_iter().flatten().next() else { continue };
        let storage = one.system.storages().first().map_or("default", |storage| storage.name.as_str());
        let configuration =
            one.system.configuration(one.version, &first.name, storage)?.for_workloads(&[SERVING]);
        if let Err(why) = configuration.with_durability(tier) {
            notes.push(format!("{name} is left out of {}: {why}", part.name));
            continue;
        }
        found.names.push(format!("{name}@{}", one.version));
        for variant in own {
            let qualified = format!("{name}/{variant}");
            if !found.variants.contains(&qualified) {
                found.variants.push(qualified);
            }
        }
    }
    Ok(found)
}

/// Command of one run, as a user would write it.
pub(super) fn command(
    study: &Study,
    kept: &SavedStudy,
    part: &StudyRun,
    systems: &Systems,
    folder: &Path,
    accept_newer: bool,
) -> Result<RunCommand, Failure> {
    let variants = match systems.variants.as_slice() {
        [] => "default".to_owned(),
        all => all.join(","),
    };
    let mut all: Vec<String> =
        ["jsonathlon", "run", "serving", "--no-yardstick", "--systems"].map(str::to_owned).to_vec();
    all.extend([systems.names.join(","), "--variants".to_owned(), variants]);
    all.extend(["--out".to_owned(), folder.display().to_string()]);
    for (option, value) in &part.options {
        match value.as_str() {
            "true" => all.push(format!("--{option}")),
            "false" => {}
            value => all.push(format!("--{option}={value}")),
        }
    }
    all.extend(shared(kept, accept_newer));
    parsed(&all).map_err(|error| {
        let (option, message) = told(&error);
        match option {
            Some(option) if kept.set.contains_key(&option) => {
                Failure::usage(format!("--set {option}: {message}"))
            }
            Some(option) => study.wrong(&option, &message).into(),
            None => Failure::usage(message),
        }
    })
}

/// Command that resumes a run of the study.
pub(super) fn resuming(kept: &SavedStudy, folder: &Path, accept_newer: bool) -> Result<RunCommand, Failure> {
    let mut all: Vec<String> = ["jsonathlon", "run", "serving", "--resume"].map(str::to_owned).to_vec();
    all.push(folder.display().to_string());
    all.extend(shared(kept, accept_newer));
    parsed(&all).map_err(|error| Failure::usage(told(&error).1))
}

/// Options that starting and resuming a run have in common.
fn shared(kept: &SavedStudy, accept_newer: bool) -> Vec<String> {
    let mut all = Vec::new();
    for folder in &kept.systems_dir {
        all.extend(["--systems-dir".to_owned(), folder.display().to_string()]);
    }
    if accept_newer {
        all.push("--accept-newer".to_owned());
    }
    all
}

fn parsed(arguments: &[String]) -> Result<RunCommand, clap::Error> {
    match Cli::try_parse_from(arguments)?.command {
        Command::Run(command) => Ok(*command),
        _ => Err(clap::Error::raw(clap::error::ErrorKind::InvalidSubcommand, "it is no run")),
    }
}

/// Name of the wrong option, `None` if the error is about no option, and the error's message in one line.
fn told(error: &clap::Error) -> (Option<String>, String) {
    let option = error.get(ContextKind::InvalidArg).map(ToString::to_string);
    let name = |text: String| {
        let name: String =
            text.trim_start_matches('-').chars().take_while(|c| c.is_alphanumeric() || *c == '-').collect();
        // The error has the main name; studies use its alias.
        if name == "scale" { "records".to_owned() } else { name }
    };
    let text = error.to_string();
    let message = text.trim_start_matches("error: ").lines().take_while(|line| !line.starts_with("Usage"));
    let message = message.filter(|line| !line.trim().is_empty() && !line.starts_with("For more information"));
    (option.map(name), message.map(str::trim).collect::<Vec<_>>().join(" "))
}
