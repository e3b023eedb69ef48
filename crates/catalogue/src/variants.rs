//! Variants and storage settings of a system.

use std::collections::BTreeMap;

use jsonathlon_schema::ranking::PreparationClass;

use super::{
    definition::{Definition, VariantDefinition, is_name},
    did_you_mean::did_you_mean,
    error::CatalogueError,
    locate::TomlText,
    rules::{ALL_RULES, WorkloadRules},
    sections::Sections,
};

/// Words that select several variants, or a default; no variant can have such a name.
const SETS: [&str; 6] = ["default", "all", "main", "as-is", "prepared", "extracted"];

/// Variant: a named way to set up a system (schema, indexes, settings).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Variant {
    /// Name of the variant, unique within the system.
    pub name: String,
    /// Description in a few words.
    pub title: String,
    /// Preparation class: what is configured about the documents before they are loaded.
    pub preparation: PreparationClass,
    /// Further division of the preparation class: only configurations with the same text are ranked together.
    /// Usually empty.
    pub ranks_with: String,
    /// Whether the variant takes part in a ranking.
    pub ranked: bool,
    /// Other names by which the variant can be selected.
    pub aliases: Vec<String>,
    /// Whether the variant represents the system in its class and is part of a run that names no variants.
    pub is_default: bool,
    /// Workloads to which the variant belongs. Empty: all workloads without variants of their own.
    pub workloads: Vec<&'static str>,
    /// Variant of the workload below on which this one is based. `None` if it is based on none.
    pub based_on: Option<String>,
}

impl Variant {
    /// Returns `true` if `name` is the name of the variant or one of its aliases.
    pub fn has_name(&self, name: &str) -> bool {
        self.name == name || self.aliases.iter().any(|alias| alias == name)
    }

    /// Returns the name of the variant that applies to the workload on which this variant's workload builds.
    pub(crate) fn foundation_name(&self) -> &str {
        self.based_on.as_deref().unwrap_or(&self.name)
    }

    /// Returns the name and all aliases.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        std::iter::once(&self.name).chain(&self.aliases).map(String::as_str)
    }
}

/// Returns the one of these variants that stands for the system: the default of the class `prepared`, otherwise of
/// `as-is`, otherwise of `extracted`. `None` if no variant is a default.
pub(crate) fn main_variant(variants: &[Variant], is_default: impl Fn(&Variant) -> bool) -> Option<&Variant> {
    let classes = [PreparationClass::Prepared, PreparationClass::AsIs, PreparationClass::Extracted];
    let default_of = |class| {
        let mut of_class = variants.iter().filter(move |variant| variant.preparation == class);
        of_class.find(|variant| is_default(variant))
    };
    classes.into_iter().find_map(default_of)
}

/// Storage setting: how a system compresses its data.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Storage {
    /// Name of the storage setting, such as `default` or `best`.
    pub name: String,
    /// Description in a few words.
    pub title: String,
}

/// Variants of a system, by the workloads that use them.
#[derive(Debug, Default)]
pub(super) struct Variants {
    /// Variants that workloads share.
    pub(super) shared: Vec<Variant>,
    /// Variants of the workloads that have their own, by name of the workload.
    pub(super) by_workload: BTreeMap<&'static str, Vec<Variant>>,
    /// Shared variants that are ranked, for each workload that builds on another one and has none of its own.
    pub(super) ranked_shared: BTreeMap<&'static str, Vec<Variant>>,
}

/// Validates all variants of a system and separates those of each workload that has its own.
pub(super) fn variants(
    definition: &Definition,
    sections: &BTreeMap<&'static str, Sections>,
    text: &TomlText,
) -> Result<Variants, CatalogueError> {
    let (with_own, sharing): (Vec<_>, Vec<_>) = ALL_RULES
        .into_iter()
        .filter(|rules| sections.contains_key(rules.name()))
        .partition(|rules| rules.has_own_variants());
    let declared_variants = declared(definition, text)?;
    let (shared, specific): (Vec<_>, Vec<_>) =
        declared_variants.into_iter().partition(|variant| variant.workloads.is_empty());
    let mut workload_variants: BTreeMap<&'static str, Vec<Variant>> = BTreeMap::new();
    let mut ranked_shared: BTreeMap<&'static str, Vec<Variant>> = BTreeMap::new();
    for rules in with_own {
        let name = rules.name();
        let of_workload = specific.iter().filter(|variant| variant.workloads.contains(&name));
        let rule_variants: Vec<Variant> = of_workload.cloned().collect();
        let builds_on_another = rules.foundation().is_some();
        if rule_variants.is_empty() && builds_on_another && shared.iter().any(|variant| variant.ranked) {
            // A variant that is never ranked may ask other questions than the stated ones.
            ranked_shared.insert(name, shared.iter().filter(|variant| variant.ranked).cloned().collect());
        } else if let Some(message) = fault_of_defaults(rules, &rule_variants) {
            return Err(text.error(&[name], message));
        } else {
            workload_variants.insert(name, rule_variants);
        }
    }
    if shared.is_empty() {
        return match sharing.first() {
            Some(rules) => {
                let message = "states no variant: [variants.NAME] says what is configured about the documents \
                               (`preparation`)";
                Err(text.error(&[rules.name()], message))
            }
            None if workload_variants.is_empty() => {
                Ok(Variants { shared: vec![implicit_variant()], ..Variants::default() })
            }
            None => Ok(Variants { shared, by_workload: workload_variants, ranked_shared }),
        };
    }
    check_defaults(definition, &shared, text)?;
    Ok(Variants { shared, by_workload: workload_variants, ranked_shared })
}

/// Returns what is wrong with the defaults among a workload's own variants. `None` if nothing is.
fn fault_of_defaults(rules: &dyn WorkloadRules, variants: &[Variant]) -> Option<String> {
    let defaults = variants.iter().filter(|variant| variant.is_default);
    let defaults: Vec<&str> = defaults.map(|variant| variant.name.as_str()).collect();
    match defaults.as_slice() {
        [_] => None,
        [_, ..] if rules.allows_several_default_variants() => None,
        [] if variants.is_empty() => {
            let name = rules.name();
            Some(format!("states no variant: this workload runs on those with `workloads = [\"{name}\"]`"))
        }
        [] => Some("has no variant that is the default: give one `default = true`".to_owned()),
        [first, second, ..] => Some(format!("`{first}` and `{second}` are both the default: there is one")),
    }
}

/// Returns the variant of a system that declares none.
fn implicit_variant() -> Variant {
    Variant {
        name: "default".to_owned(),
        title: "as the folder says".to_owned(),
        preparation: PreparationClass::AsIs,
        ranks_with: String::new(),
        ranked: true,
        aliases: Vec::new(),
        is_default: true,
        workloads: Vec::new(),
        based_on: None,
    }
}

/// Validates and converts all variants that a folder declares.
fn declared(definition: &Definition, text: &TomlText) -> Result<Vec<Variant>, CatalogueError> {
    let mut variants: Vec<Variant> = Vec::new();
    for (name, variant) in &definition.variants {
        if SETS.contains(&name.as_str()) {
            let message = format!("`{name}` stands for a set of variants: choose another name");
            return Err(text.error(&["variants", name], message));
        }
        for alias in &variant.aliases {
            let is_taken = SETS.contains(&alias.as_str())
                || definition.variants.contains_key(alias)
                || variants.iter().any(|other| other.aliases.contains(alias));
            if is_taken || !is_name(alias) {
                let message = format!("`{alias}` is used already or is no name");
                return Err(text.error(&["variants", name, "aliases"], message));
            }
        }
        if variant.default && !variant.ranked {
            let message = "what is never ranked stands for no class";
            return Err(text.error(&["variants", name, "default"], message));
        }
        let workloads = workloads_of(name, variant.workloads.as_deref(), text)?;
        let inherited = inherited_preparation(name, variant, &workloads, definition, text)?;
        let preparation = match (variant.preparation, workloads.is_empty()) {
            (Some(stated), true) => PreparationClass::from(stated),
            (None, false) => inherited.unwrap_or(PreparationClass::AsIs),
            (None, true) => {
                return Err(text.error(&["variants", name], "missing field `preparation`"));
            }
            (Some(_), false) => {
                let workloads = workloads.join(", ");
                let message = format!("is a class of questions, and this variant is for {workloads}");
                return Err(text.error(&["variants", name, "preparation"], message));
            }
        };
        variants.push(Variant {
            name: name.clone(),
            title: variant.title.clone(),
            preparation,
            ranks_with: variant.ranks_with.clone(),
            ranked: variant.ranked,
            aliases: variant.aliases.clone(),
            is_default: variant.default,
            workloads,
            based_on: variant.based_on.clone(),
        });
    }
    Ok(variants)
}

/// Returns the preparation class of the variant on which another one is based. `None` if it is based on none.
fn inherited_preparation(
    name: &str,
    variant: &VariantDefinition,
    workloads: &[&str],
    definition: &Definition,
    text: &TomlText,
) -> Result<Option<PreparationClass>, CatalogueError> {
    let Some(base) = &variant.based_on else { return Ok(None) };
    let error = |message: String| text.error(&["variants", name, "based_on"], message);
    let builds_on_another = |workload: &&str| {
        ALL_RULES.iter().any(|rules| rules.name() == *workload && rules.foundation().is_some())
    };
    if workloads.is_empty() || !workloads.iter().all(builds_on_another) {
        return Err(error(
            "is for variants of a workload that builds on another one, such as mixed".to_owned(),
        ));
    }
    match definition.variants.get(base) {
        Some(VariantDefinition { workloads: None, preparation, .. }) => {
            Ok(preparation.map(PreparationClass::from))
        }
        Some(_) => Err(error(format!("`{base}` is a variant of other workloads"))),
        None => {
            let near = did_you_mean(base, definition.variants.keys().map(String::as_str));
            Err(error(format!("there is no variant `{base}`{near}")))
        }
    }
}

/// Validates the workloads that a variant names; each of them must have variants of its own.
fn workloads_of(
    variant: &str,
    named: Option<&[String]>,
    text: &TomlText,
) -> Result<Vec<&'static str>, CatalogueError> {
    let Some(named) = named else { return Ok(Vec::new()) };
    let error = |message: String| text.error(&["variants", variant, "workloads"], message);
    if named.is_empty() {
        return Err(error("is empty: leave it out, or name a workload".to_owned()));
    }
    let with_own: Vec<&'static str> =
        ALL_RULES.iter().filter(|rules| rules.has_own_variants()).map(|rules| rules.name()).collect();
    let mut workloads = Vec::new();
    for name in named {
        match with_own.iter().find(|workload| **workload == name.as_str()) {
            Some(workload) => workloads.push(*workload),
            None => {
                let near = did_you_mean(name, with_own.iter().copied());
                return Err(error(format!(
                    "`{name}` is no workload with variants of its own{near}; there is {}",
                    with_own.join(", ")
                )));
            }
        }
    }
    Ok(workloads)
}

/// Checks that each class has one default, which represents the system there. A yardstick is in no class and
/// may have several.
fn check_defaults(
    definition: &Definition,
    variants: &[Variant],
    text: &TomlText,
) -> Result<(), CatalogueError> {
    for class in PreparationClass::ALL {
        let of_class = || variants.iter().filter(|variant| variant.preparation == class);
        let defaults: Vec<&str> =
            of_class().filter(|variant| variant.is_default).map(|variant| variant.name.as_str()).collect();
        let ordinary = of_class().any(|variant| variant.ranked && variant.ranks_with.is_empty());
        let message = match defaults.as_slice() {
            [] if ordinary => {
                format!("no variant is the default of the class `{class}`: give one `default = true`")
            }
            [first, second, ..] if !definition.reference => {
                format!("`{first}` and `{second}` are both the default of the class `{class}`: it has one")
            }
            _ => continue,
        };
        return Err(text.error(&["variants"], message));
    }
    if !variants.iter().any(|variant| variant.is_default) {
        return Err(text.error(&["variants"], "no variant is a default: a plain run would skip the system"));
    }
    Ok(())
}

/// Returns all storage settings of a system, `default` first.
pub(super) fn storages(definition: &Definition) -> Vec<Storage> {
    let declared = |name: &str| definition.storage.get(name).map(|storage| storage.title.clone());
    let default = declared("default").unwrap_or_else(|| "the system's default".to_owned());
    let mut storages = vec![Storage { name: "default".to_owned(), title: default }];
    for (name, storage) in &definition.storage {
        if name != "default" {
            storages.push(Storage { name: name.clone(), title: storage.title.clone() });
        }
    }
    storages
}
