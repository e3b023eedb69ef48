//! Selections of systems (`a,b@version|all`) and of variants (`default|all|as-is|prepared|extracted|names`).

use super::{
    Catalogue,
    error::CatalogueError,
    system::System,
    variants::{Variant, main_variant},
};

/// One system at one version, as selected.
#[derive(Debug, Clone, Copy)]
pub struct SelectedSystem<'a> {
    /// System that was selected.
    pub system: &'a System,
    /// Version of the system, which always exists.
    pub version: &'a str,
}

fn default_selection(system: &System) -> SelectedSystem<'_> {
    SelectedSystem { system, version: system.default_version() }
}

impl Catalogue {
    /// Returns the yardsticks (systems with `reference = true`) at their default versions: every run includes
    /// them unless they are excluded.
    pub fn references(&self) -> Vec<SelectedSystem<'_>> {
        self.systems().iter().filter(|system| system.is_reference()).map(default_selection).collect()
    }

    /// Returns the systems that `text` names: `all`, or `NAME[@VERSION]` separated by commas. Without a text,
    /// returns those of a plain run. A system that is named twice is returned once, and the order is the
    /// user's. Yardsticks are selected by name only; see [`Catalogue::references`].
    ///
    /// # Errors
    /// [`CatalogueError::UnknownSystem`] or [`CatalogueError::UnknownVersion`] if a name is unknown; the
    /// error lists the known ones. [`CatalogueError::Selection`] if the text is malformed or names nothing.
    pub fn select(&self, text: Option<&str>) -> Result<Vec<SelectedSystem<'_>>, CatalogueError> {
        let mut chosen: Vec<SelectedSystem<'_>> = Vec::new();
        let Some(text) = text else {
            return Ok(self
                .systems()
                .iter()
                .filter(|system| system.is_default())
                .map(default_selection)
                .collect());
        };
        let expected =
            |message: &str| CatalogueError::Selection { text: text.to_owned(), message: message.to_owned() };
        for part in text.split(',').map(str::trim).filter(|part| !part.is_empty()) {
            if part == "all" {
                let ranked = self.systems().iter().filter(|system| !system.is_reference());
                chosen.extend(ranked.map(default_selection));
                continue;
            }
            let selected = match part.split_once('@') {
                None => default_selection(self.get(part)?),
                Some(("" | "all", _) | (_, "")) => {
                    return Err(expected("a system is `NAME` or `NAME@VERSION`"));
                }
                Some((name, version)) => {
                    let system = self.get(name)?;
                    let known = system.versions();
                    let Some(version) = known.iter().find(|known| **known == version) else {
                        return Err(CatalogueError::UnknownVersion {
                            system: name.to_owned(),
                            version: version.to_owned(),
                            known: known.into_iter().map(str::to_owned).collect(),
                        });
                    };
                    SelectedSystem { system, version }
                }
            };
            chosen.push(selected);
        }
        let mut seen = Vec::new();
        chosen.retain(|selected| {
            let key = (selected.system.name(), selected.version);
            let is_new = !seen.contains(&key);
            seen.push(key);
            is_new
        });
        if chosen.is_empty() {
            return Err(expected("name a system, or `all`"));
        }
        Ok(chosen)
    }
}

/// Where variants are selected for, because a plain run on remote servers can have other variants.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TargetKind {
    /// Systems that jsonathlon installs and starts, or user-supplied binaries.
    Started,
    /// Remote servers, which the user operates.
    ByAddress,
}

/// Returns the variants that `text` names, for each of the systems, among those that workloads share.
///
/// # Errors
/// [`CatalogueError`] under the same conditions as [`select_variants_of`].
pub fn select_variants<'a>(
    systems: &[&'a System],
    text: &str,
    setting: TargetKind,
) -> Result<Vec<Vec<&'a Variant>>, CatalogueError> {
    select_among(&|system| system.variants(), systems, text, setting)
}

/// Returns the variants that `text` names, for each of the systems, among those of one workload.
///
/// # Errors
/// [`CatalogueError::UnknownVariant`] if no system knows a name, [`CatalogueError::OtherVariant`] if one knows it for
/// other workloads, [`CatalogueError::Selection`] if the text names nothing.
pub fn select_variants_of<'a>(
    workload: &str,
    systems: &[&'a System],
    text: &str,
    setting: TargetKind,
) -> Result<Vec<Vec<&'a Variant>>, CatalogueError> {
    let selected = select_among(&|system| system.variants_of(workload), systems, text, setting);
    selected.map_err(|error| match error {
        CatalogueError::UnknownVariant { system, variant, known } => {
            other_variant(workload, systems, &variant, &known).unwrap_or(CatalogueError::UnknownVariant {
                system,
                variant,
                known,
            })
        }
        error => error,
    })
}

/// Error that a name is that of a variant for other workloads. `None` if no system has such a variant.
fn other_variant(
    workload: &str,
    systems: &[&System],
    variant: &str,
    known: &[String],
) -> Option<CatalogueError> {
    let system = systems.iter().find(|system| {
        let name = variant.strip_prefix(&format!("{}/", system.name())).unwrap_or(variant);
        system.all_variants().any(|other| other.has_name(name))
    })?;
    let default = main_variant(system.variants_of(workload), |variant| variant.is_default)?;
    Some(CatalogueError::OtherVariant {
        system: system.name().to_owned(),
        variant: variant.to_owned(),
        workload: workload.to_owned(),
        known: known.to_vec(),
        default: format!("{}: {}", default.name, default.title),
    })
}

/// Returns the variants that `text` names, for each of the systems. The text holds, separated by commas:
/// `default` (the default of each preparation class), `main` (one of these, see [`main_variant`]), a class (its
/// default), `all` (all ranked variants), names or aliases, or `SYSTEM/NAME` for one system alone. At least one system must know a name; for the
/// others it selects nothing.
fn select_among<'a>(
    variants: &dyn Fn(&'a System) -> &'a [Variant],
    systems: &[&'a System],
    text: &str,
    setting: TargetKind,
) -> Result<Vec<Vec<&'a Variant>>, CatalogueError> {
    let parts: Vec<&str> = text.split(',').map(str::trim).filter(|part| !part.is_empty()).collect();
    if parts.is_empty() {
        return Err(CatalogueError::Selection {
            text: text.to_owned(),
            message: "name variants, a class (as-is, prepared, extracted), `main`, `default` or `all`"
                .to_owned(),
        });
    }
    let is_default = |system: &System, variant: &Variant| match setting {
        TargetKind::ByAddress => system.is_default_by_address(variant),
        TargetKind::Started => variant.is_default,
    };
    let matches = |system: &'a System, variant: &Variant, part: &str| match part {
        "default" => is_default(system, variant),
        "main" => {
            let main = main_variant(variants(system), |variant| is_default(system, variant));
            main.is_some_and(|main| main.name == variant.name)
        }
        "all" => variant.ranked,
        name if name == variant.preparation.word() => is_default(system, variant),
        name => match name.split_once('/') {
            Some((system_name, name)) => system.name() == system_name && variant.has_name(name),
            None => variant.has_name(name),
        },
    };
    for part in &parts {
        let is_known = systems
            .iter()
            .any(|system| variants(system).iter().any(|variant| matches(system, variant, part)));
        if !is_known {
            let names: Vec<&str> = systems.iter().map(|system| system.name()).collect();
            let candidates = || systems.iter().flat_map(|system| variants(system));
            let defaults = candidates().filter(|variant| variant.is_default);
            let mut known: Vec<String> = candidates().flat_map(Variant::names).map(str::to_owned).collect();
            known.extend(defaults.map(|variant| variant.preparation.to_string()));
            known.sort();
            known.dedup();
            return Err(CatalogueError::UnknownVariant {
                system: names.join(", "),
                variant: (*part).to_owned(),
                known,
            });
        }
    }
    Ok(systems
        .iter()
        .map(|system| {
            let is_selected = |variant: &&Variant| parts.iter().any(|part| matches(system, variant, part));
            variants(system).iter().filter(is_selected).collect()
        })
        .collect())
}
