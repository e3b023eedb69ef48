//! Builds targets from the selected systems: their configurations, and the installation of their artifacts.

use std::collections::BTreeSet;

use jsonathlon_artifacts::ArtifactStore;
use jsonathlon_catalogue::{Catalogue, Configuration, SelectedSystem, System, TargetKind, select_variants};
use jsonathlon_workloads::target::Target;

use super::{install, run_request::RunDefaults, setup::SetupContext};
use crate::{cli::run_options::SystemOptions, exit::Failure, interrupt::Interrupt};

/// Every selected system in every selected variant and storage setting. A system without a matching one is
/// left out, with a note to the user. With `has_external` no system needs to be selected.
pub(super) fn configurations(
    options: &SystemOptions,
    has_external: bool,
    defaults: &RunDefaults,
    context: SetupContext<'_>,
    catalogue: &Catalogue,
) -> Result<Vec<Configuration>, Failure> {
    let selected = match &options.systems {
        None if has_external => Vec::new(),
        None => context.default_systems(catalogue, defaults.systems)?,
        names => catalogue.select(names.as_deref())?,
    };
    let systems: Vec<_> = selected.iter().map(|selection| selection.system).collect();
    if !systems.is_empty() {
        catalogue.supporting_systems(context.workload, &systems)?;
    }
    let variant_names = defaults.variants_of(options);
    let variants = if systems.is_empty() {
        Vec::new()
    } else {
        context.variants(&systems, variant_names, TargetKind::Started)?
    };
    let storage_names = storage_names(&options.storage, &systems)?;
    let mut configurations = Vec::new();
    for (selection, variants) in selected.iter().zip(variants) {
        let (system, version) = (selection.system, selection.version);
        let count_before = configurations.len();
        for variant in &variants {
            for storage in system.storages() {
                if storage_names.iter().any(|name| *name == "all" || *name == storage.name) {
                    let build = |variant: &str| {
                        Ok::<_, Failure>(system.configuration(version, variant, &storage.name)?)
                    };
                    configurations.push(context.configure(system, variant, build)?);
                }
            }
        }
        if configurations.len() == count_before {
            crate::say!(
                "note: skipping {}: {}",
                system.name(),
                context.skip_reason(system, variant_names, &options.storage)
            );
        }
    }
    if configurations.is_empty() && !has_external {
        return Err(Failure::usage("no system is left: choose other --systems, --variants or --storage"));
    }
    Ok(configurations)
}

/// Names of storage settings in a text that separates them by commas. Fails if none of the systems has one of them;
/// without systems, all are accepted.
fn storage_names<'o>(text: &'o str, systems: &[&System]) -> Result<Vec<&'o str>, Failure> {
    let names: Vec<&str> = text.split(',').map(str::trim).filter(|name| !name.is_empty()).collect();
    let known: BTreeSet<&str> =
        systems.iter().flat_map(|system| system.storages()).map(|storage| storage.name.as_str()).collect();
    let is_unknown = |name: &&&str| **name != "all" && !known.contains(**name) && !systems.is_empty();
    if let Some(unknown) = names.iter().find(is_unknown) {
        let known: Vec<&str> = known.into_iter().collect();
        return Err(Failure::usage(format!(
            "none of the selected systems has a storage setting `{unknown}`; there is {}, or all",
            known.join(", ")
        )));
    }
    Ok(names)
}

/// Configurations of the workload's yardsticks whose system is not in `configurations`: every default variant
/// with the first storage setting.
pub(super) fn yardstick_configurations(
    catalogue: &Catalogue,
    workload: &str,
    configurations: &[Configuration],
) -> Result<Vec<Configuration>, Failure> {
    let mut references = Vec::new();
    for SelectedSystem { system, version } in catalogue.references() {
        let is_measured = configurations.iter().any(|configuration| configuration.system == system.name());
        if is_measured || !system.supports_workload(workload) {
            continue;
        }
        for variant in select_variants(&[system], "default", TargetKind::Started)?.into_iter().flatten() {
            for storage in system.storages().iter().take(1) {
                references.push(system.configuration(version, &variant.name, &storage.name)?);
            }
        }
    }
    Ok(references)
}

/// Turns each configuration into a target, and installs its system if necessary. Fails if a system has no
/// artifact or no folder of the workload.
pub(super) fn install_targets(
    configurations: Vec<Configuration>,
    workload: &str,
    store: &ArtifactStore,
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
        if !configuration.setups.contains_key(workload) {
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
