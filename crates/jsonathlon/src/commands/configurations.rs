//! Builds targets from the selected systems: their configurations, and the installation of their artifacts.

use std::collections::BTreeSet;

use jsonathlon_artifacts::Store;
use jsonathlon_catalogue::{Catalogue, Configuration, TargetKind, select_variants};
use jsonathlon_workloads::target::Target;

use super::{install, setup::SetupContext};
use crate::{cli::RunArguments, exit::Failure, interrupt::Interrupt};

/// Every selected system in every selected variant and storage setting. A system without a matching one is
/// left out, with a note to the user.
pub(super) fn configurations(
    arguments: &RunArguments,
    usual_systems: Option<&str>,
    purpose: SetupContext<'_>,
    catalogue: &Catalogue,
) -> Result<Vec<Configuration>, Failure> {
    let selected = match &arguments.systems {
        None if !arguments.system.is_empty() => Vec::new(),
        None => purpose.usual(catalogue, usual_systems)?,
        names => catalogue.select(names.as_deref())?,
    };
    let systems: Vec<_> = selected.iter().map(|one| one.system).collect();
    if !systems.is_empty() {
        catalogue.running(purpose.workload, &systems)?;
    }
    let variants = if systems.is_empty() {
        Vec::new()
    } else {
        purpose.variants(&systems, &arguments.variants, TargetKind::Started)?
    };
    let wanted: Vec<&str> = arguments.storage.split(',').map(str::trim).filter(|s| !s.is_empty()).collect();
    let known: BTreeSet<&str> =
        systems.iter().flat_map(|system| system.storages()).map(|storage| storage.name.as_str()).collect();
    let is_unknown = |name: &&&str| **name != "all" && !known.contains(**name) && !systems.is_empty();
    if let Some(unknown) = wanted.iter().find(is_unknown) {
        let known: Vec<&str> = known.into_iter().collect();
        return Err(Failure::usage(format!(
            "none of the selected systems has a storage setting `{unknown}`; there is {}, or all",
            known.join(", ")
        )));
    }
    let mut configurations = Vec::new();
    for (one, variants) in selected.iter().zip(variants) {
        let before = configurations.len();
        for variant in &variants {
            for storage in one.system.storages() {
                if wanted.iter().any(|name| *name == "all" || *name == storage.name) {
                    let make = |variant: &str| {
                        Ok::<_, Failure>(one.system.configuration(one.version, variant, &storage.name)?)
                    };
                    configurations.push(purpose.configure(one.system, variant, make)?);
                }
            }
        }
        if configurations.len() == before {
            crate::say!("note: {} is left out: {}", one.system.name(), purpose.lacks(one.system, arguments));
        }
    }
    if configurations.is_empty() && arguments.system.is_empty() {
        return Err(Failure::usage("no system is left: choose other --systems, --variants or --storage"));
    }
    Ok(configurations)
}

/// Configurations of the workload's yardsticks whose system is not in `there`: every default variant with the
/// first storage setting.
pub(super) fn references(
    catalogue: &Catalogue,
    workload: &str,
    there: &[Configuration],
) -> Result<Vec<Configuration>, Failure> {
    let mut found = Vec::new();
    for one in catalogue.references().into_iter().filter(|one| one.system.runs(workload)) {
        if there.iter().any(|configuration| configuration.system == one.system.name()) {
            continue;
        }
        for variant in select_variants(&[one.system], "default", TargetKind::Started)?.into_iter().flatten() {
            for storage in one.system.storages().iter().take(1) {
                found.push(one.system.configuration(one.version, &variant.name, &storage.name)?);
            }
        }
    }
    Ok(found)
}

/// Turns each configuration into a target, and installs its system if necessary. Fails if a system has no
/// artifact or no folder of the workload.
pub(super) fn targets(
    configurations: Vec<Configuration>,
    workload: &str,
    store: &Store,
    interrupt: &Interrupt,
) -> Result<Vec<Target>, Failure> {
    let mut targets = Vec::with_capacity(configurations.len());
    for configuration in configurations {
        let system = configuration.system.clone();
        let Some(artifact) = &configuration.artifact else {
            return Err(Failure::usage(format!(
                "{system} {} is in no registry: name a server of it by --system {system}=ADDRESS",
                configuration.version
            )));
        };
        let no_part =
            || Failure::usage(format!("{system} has no {workload} folder; leave it out of --systems"));
        if !configuration.parts.contains_key(workload) {
            return Err(no_part());
        }
        let installed = install(store, artifact, configuration.server.as_ref(), interrupt)?;
        targets.push(
            Target::new(configuration.with_installed_version(&installed), workload, installed)
                .ok_or_else(no_part)?,
        );
    }
    Ok(targets)
}
