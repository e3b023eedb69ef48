//! Resolves a configuration: merges the base of a system's folder with a variant and a storage setting, and
//! fills in every value.

use std::collections::{BTreeMap, BTreeSet};

use jsonathlon_servers::{Recipe, Scalar};

use crate::{
    artifact::Artifact,
    by_address::BY_ADDRESS,
    configuration::{Configuration, Properties, Remedy, digest},
    definition::{OpenDefinition, PropertiesDefinition, SettingDeviation},
    did_you_mean::did_you_mean,
    durability::Tier,
    error::CatalogueError,
    rules::{self, ParsedSection, WorkloadSetup},
    server::START_PLACEHOLDERS,
    session_setup::SessionSetup,
    statement_file::{RawFile, StatementFile},
    system::{System, WorkloadPart},
    template::{self, RUN_TIME, Replacement},
    variants::{Storage, Variant},
};

/// Run-time placeholders that settings and statements of `[open]` may hold: the others have a value only in
/// the statement files of a workload.
const RUN_TIME_OF_OPEN: [&str; 2] = ["cores", "folder"];
/// Run-time placeholders that a value of a folder may hold: the others belong to one statement file each.
const RUN_TIME_OF_VALUES: [&str; 3] = ["table", "cores", "folder"];

impl System {
    /// Returns the configuration of a version in a variant (or alias) with a storage setting.
    ///
    /// # Errors
    /// [`CatalogueError::UnknownVersion`], [`CatalogueError::UnknownVariant`] or
    /// [`CatalogueError::UnknownStorage`] if a name is unknown, [`CatalogueError::Platform`] if the version
    /// is for other platforms.
    pub fn configuration(
        &self,
        version: &str,
        variant: &str,
        storage: &str,
    ) -> Result<Configuration, CatalogueError> {
        let artifact = self.artifact(version)?;
        let variant = self.variant(variant)?;
        let storage = self.storage(storage)?;
        let mut configuration = resolve(self, variant, storage, false, &mut BTreeSet::new())?;
        configuration.version = version.to_owned();
        configuration.artifact = artifact.cloned();
        configuration.version_text = artifact.map(|artifact| artifact.version_text.clone());
        configuration.end_of_life = artifact.is_some_and(|artifact| artifact.end_of_life);
        configuration.outdated = artifact.and_then(|artifact| artifact.outdated.clone());
        if let (Some(server), Some(artifact)) = (&mut configuration.server, artifact) {
            add_environment(server, artifact);
        }
        configuration.digest = digest(&configuration);
        Ok(configuration)
    }

    /// Returns the recipe by which this version of the server is started. `None` if the folder has no
    /// `[server]`.
    pub fn server_of(&self, artifact: &Artifact) -> Option<Recipe> {
        let mut server = self.server.clone()?;
        add_environment(&mut server, artifact);
        Some(server)
    }
}

/// Adds the variables that a version of the server needs in its environment.
fn add_environment(server: &mut Recipe, artifact: &Artifact) {
    let variables = artifact.environment.iter().map(|(name, value)| (name.clone(), value.clone()));
    server.environment.extend(variables);
}

/// One level of a system's folder: the base, the variant or the storage setting.
struct OverlayLayer<'a> {
    /// Keys that lead to this level in `system.toml`.
    path: Vec<&'a str>,
    values: &'a BTreeMap<String, Scalar>,
    open: &'a OpenDefinition,
    properties: &'a PropertiesDefinition,
    exceptions: &'a [SettingDeviation],
}

impl<'a> OverlayLayer<'a> {
    fn key_path(&self, keys: &[&'a str]) -> Vec<&'a str> {
        self.path.iter().chain(keys).copied().collect()
    }

    /// Builds an error at an element of a list in `[open]`.
    fn error_in(&self, system: &System, list: &str, index: usize, message: String) -> CatalogueError {
        let index = index.to_string();
        let path: Vec<&str> = self.path.iter().copied().chain(["open", list, index.as_str()]).collect();
        system.text.error(&path, message)
    }
}

fn layers<'a>(system: &'a System, variant: &'a Variant, storage: &'a Storage) -> Vec<OverlayLayer<'a>> {
    let base = &system.definition;
    let mut layers = vec![OverlayLayer {
        path: Vec::new(),
        values: &base.values,
        open: &base.open,
        properties: &base.properties,
        exceptions: &base.exceptions,
    }];
    for name in [variant.based_on.as_ref(), Some(&variant.name)].into_iter().flatten() {
        let Some(overlay) = base.variants.get(name) else { continue };
        layers.push(OverlayLayer {
            path: vec!["variants", name],
            values: &overlay.values,
            open: &overlay.open,
            properties: &overlay.properties,
            exceptions: &overlay.exceptions,
        });
    }
    if let Some(overlay) = base.storage.get(&storage.name) {
        layers.push(OverlayLayer {
            path: vec!["storage", &storage.name],
            values: &overlay.values,
            open: &overlay.open,
            properties: &overlay.properties,
            exceptions: &overlay.exceptions,
        });
    }
    layers
}

/// Merges all levels and fills their values in. Names of values that some text uses are added to `used`, so
/// that the caller can find unused values.
pub(crate) fn resolve(
    system: &System,
    variant: &Variant,
    storage: &Storage,
    by_address: bool,
    used: &mut BTreeSet<String>,
) -> Result<Configuration, CatalogueError> {
    let layers = layers(system, variant, storage);
    let reserved = rules::placeholders();
    let values = values(system, &layers, &reserved)?;
    let mut filler = PlaceholderFiller { reserved: &reserved, used };
    let open = open(system, &layers, |text| filler.fill(text, &values, &RUN_TIME_OF_OPEN))?;
    let server = server(system, &layers, |text| filler.fill(text, &values, &START_PLACEHOLDERS))?;
    let mut setups = BTreeMap::new();
    let mut tiers: Vec<Tier> = Vec::new();
    for part in system.parts.iter().filter(|part| system.runs_on(part.rules.name(), variant)) {
        let resolver = PartResolver { system, variant, storage, by_address, part, values: &values };
        let setup = resolver.resolve(&mut filler, &mut tiers)?;
        setups.insert(part.rules.name().to_owned(), setup);
    }
    let mut configuration =
        Configuration { tiers, server, open, setups, ..unfilled(system, variant, storage, &layers) };
    configuration.digest = digest(&configuration);
    Ok(configuration)
}

/// Builds a configuration from what the folder states without placeholders. Everything that has placeholders
/// is empty, and so is the digest.
fn unfilled(
    system: &System,
    variant: &Variant,
    storage: &Storage,
    layers: &[OverlayLayer<'_>],
) -> Configuration {
    Configuration {
        system: system.name().to_owned(),
        title: system.title().to_owned(),
        protocol: system.definition.protocol.clone(),
        embedded: system.definition.embedded,
        end_of_life: false,
        outdated: None,
        reference: system.definition.reference,
        in_memory: system.definition.in_memory,
        version: system.definition.default_version.clone(),
        artifact: None,
        version_text: None,
        version_statement: None,
        variant: variant.name.clone(),
        variant_title: variant.title.clone(),
        preparation: variant.preparation,
        ranks_with: variant.ranks_with.clone(),
        ranked: variant.ranked,
        profile: None,
        memory_bytes: None,
        memory_settings: Vec::new(),
        profiles: system.profiles.clone(),
        storage: storage.name.clone(),
        durability: None,
        tiers: Vec::new(),
        server: None,
        remote_setup: None,
        open: SessionSetup { settings: BTreeMap::new(), statements: Vec::new() },
        exceptions: layers.iter().flat_map(|layer| layer.exceptions).cloned().collect(),
        properties: properties(layers),
        setups: BTreeMap::new(),
        digest: String::new(),
    }
}

/// Resolves one workload's part of a configuration.
struct PartResolver<'a> {
    system: &'a System,
    variant: &'a Variant,
    storage: &'a Storage,
    by_address: bool,
    part: &'a WorkloadPart,
    /// Values of the folder by name, with all levels merged.
    values: &'a BTreeMap<&'a str, &'a str>,
}

impl PartResolver<'_> {
    /// Reads the part's sections and fills in its statement files. Durability tiers are added to `tiers`,
    /// where those of one name are joined across workloads.
    fn resolve(
        &self,
        filler: &mut PlaceholderFiller<'_>,
        tiers: &mut Vec<Tier>,
    ) -> Result<WorkloadSetup, CatalogueError> {
        let rules = self.part.rules;
        let ParsedSection { load, logs, section, placeholders, tiers: stated_tiers } =
            self.system.read_section(self.part, Some((self.variant, self.storage)))?;
        // The first tier is the default. Most tiers have no values, and all of these share the same
        // statements.
        let mut default_files = None;
        let mut without_values = None;
        for mut tier in stated_tiers {
            let filled_files = match &without_values {
                Some(filled_files) if tier.values.is_empty() => BTreeMap::clone(filled_files),
                _ => {
                    let overrides = tier.values.iter().map(|(name, value)| (name.as_str(), value.as_str()));
                    let all_values = self.values.iter().map(|(name, value)| (*name, *value)).chain(overrides);
                    self.fill(&all_values.collect(), &placeholders, filler)?
                }
            };
            if tier.values.is_empty() {
                without_values.get_or_insert_with(|| filled_files.clone());
            }
            default_files.get_or_insert_with(|| filled_files.clone());
            tier.files.insert(rules.name().to_owned(), filled_files);
            match tiers.iter_mut().find(|known| known.durability.tier == tier.durability.tier) {
                Some(known) => known.join(tier),
                None => tiers.push(tier),
            }
        }
        let files = match default_files {
            Some(files) => files,
            None => self.fill(self.values, &placeholders, filler)?,
        };
        Ok(WorkloadSetup { load, logs, section, files })
    }

    /// Fills `values` into all statement files of the part, except for what the run fills; `placeholders`
    /// lists what it fills in single files.
    fn fill(
        &self,
        values: &BTreeMap<&str, &str>,
        placeholders: &BTreeMap<String, Vec<String>>,
        filler: &mut PlaceholderFiller<'_>,
    ) -> Result<BTreeMap<String, StatementFile>, CatalogueError> {
        let rules = self.part.rules;
        let mut resolved = BTreeMap::new();
        for rule in rules.files() {
            let Some(raw) = self.file(rule.name) else { continue };
            let section_placeholders = placeholders.get(rule.name).into_iter().flatten().map(String::as_str);
            let run_placeholders: Vec<&str> =
                RUN_TIME.iter().chain(rules.placeholders()).copied().chain(section_placeholders).collect();
            let known = values.keys().copied().chain(run_placeholders.iter().copied());
            let fill = |text: &str| filler.fill(text, values, &run_placeholders);
            let filled = fill_file(self.variant, raw, known, fill)?;
            resolved.insert(rule.name.to_owned(), filled);
        }
        rules.complete_files(&mut resolved);
        Ok(resolved)
    }

    /// Returns the statement file of this name: the workload's own, otherwise that of the workload on which it
    /// builds. `None` if neither has one.
    fn file(&self, name: &str) -> Option<&RawFile> {
        let own = self.file_of(self.part, &self.variant.name, name);
        own.or_else(|| {
            let foundation = self.system.foundation_of(self.part)?;
            self.file_of(foundation, self.variant.foundation_name(), name)
        })
    }

    /// Returns the statement file of this name that a workload has for a variant, on remote servers the one
    /// for these. `None` if it has none.
    fn file_of<'p>(&self, part: &'p WorkloadPart, variant: &str, name: &str) -> Option<&'p RawFile> {
        let address_file = self.by_address.then(|| part.files.variant_file(BY_ADDRESS, name)).flatten();
        address_file.or_else(|| part.files.get(variant, name))
    }
}

/// Fills values in for placeholders, and records which ones were used.
struct PlaceholderFiller<'a> {
    /// Names that only a run has values for.
    reserved: &'a [&'a str],
    used: &'a mut BTreeSet<String>,
}

impl PlaceholderFiller<'_> {
    /// Fills the placeholders of a text, except for `run_placeholders`, which the run fills.
    fn fill(
        &mut self,
        text: &str,
        values: &BTreeMap<&str, &str>,
        run_placeholders: &[&str],
    ) -> Result<String, template::PlaceholderError> {
        template::replace(text, |name| {
            if run_placeholders.contains(&name) {
                return Replacement::Keep;
            }
            match values.get(name).filter(|_| !self.reserved.contains(&name)) {
                Some(value) => {
                    self.used.insert(name.to_owned());
                    Replacement::Text((*value).to_owned())
                }
                None => Replacement::None,
            }
        })
    }
}

fn values<'a>(
    system: &System,
    layers: &[OverlayLayer<'a>],
    reserved: &[&str],
) -> Result<BTreeMap<&'a str, &'a str>, CatalogueError> {
    let mut values = BTreeMap::new();
    for layer in layers {
        for (name, Scalar(value)) in layer.values {
            let error = |message: String| system.text.error(&layer.key_path(&["values", name]), message);
            if reserved.contains(&name.as_str()) {
                return Err(error(format!(
                    "`{{{{{name}}}}}` gets its value from the run: choose another name"
                )));
            }
            if !template::is_name(name) {
                return Err(error("a value's name is a-z, 0-9 and `_`, and starts with a letter".to_owned()));
            }
            let names = template::placeholders(value).map_err(|problem| error(problem.to_string()))?;
            if let Some((_, name)) = names.iter().find(|(_, name)| !RUN_TIME_OF_VALUES.contains(name)) {
                return Err(error(format!("a value cannot hold `{{{{{name}}}}}`: values are put in once")));
            }
            values.insert(name.as_str(), value.as_str());
        }
    }
    Ok(values)
}

/// Merges `[open]` of all levels. Settings are replaced by name. The statements of all levels run one after
/// another, so that an overlay can set again what the base has set.
fn open(
    system: &System,
    layers: &[OverlayLayer<'_>],
    mut fill: impl FnMut(&str) -> Result<String, template::PlaceholderError>,
) -> Result<SessionSetup, CatalogueError> {
    let mut open = SessionSetup { settings: BTreeMap::new(), statements: Vec::new() };
    for layer in layers {
        for (name, Scalar(value)) in &layer.open.settings {
            let value = fill(value).map_err(|problem| {
                system.text.error(&layer.key_path(&["open", "settings", name]), problem.to_string())
            })?;
            open.settings.insert(name.clone(), value);
        }
        for (index, statement) in layer.open.statements.iter().enumerate() {
            let statement = fill(statement)
                .map_err(|problem| layer.error_in(system, "statements", index, problem.to_string()))?;
            open.statements.push(statement);
        }
    }
    Ok(open)
}

/// Returns the server's recipe, with the arguments of every level added to its commands. `None` without a
/// server.
fn server(
    system: &System,
    layers: &[OverlayLayer<'_>],
    mut fill: impl FnMut(&str) -> Result<String, template::PlaceholderError>,
) -> Result<Option<Recipe>, CatalogueError> {
    let mut server = system.server.clone();
    for layer in layers {
        for (index, argument) in layer.open.arguments.iter().enumerate() {
            let error = |message: String| layer.error_in(system, "arguments", index, message);
            let Some(server) = &mut server else {
                return Err(error(
                    "is an argument of a server's command, and there is no [server]".to_owned(),
                ));
            };
            let argument = fill(argument).map_err(|problem| error(problem.to_string()))?;
            if let Some(commands) = &mut server.external_commands {
                commands.start.push(argument.clone());
            }
            server.start.push(argument);
        }
    }
    Ok(server)
}

fn properties(layers: &[OverlayLayer<'_>]) -> Properties {
    let from_top = || layers.iter().rev().map(|layer| layer.properties);
    Properties {
        parallel_unit: from_top().find_map(|properties| properties.parallel_unit),
        server_time: from_top().find_map(|properties| properties.server_time).unwrap_or(false),
        notes: layers.iter().flat_map(|layer| &layer.properties.notes).cloned().collect(),
        remedies: layers
            .iter()
            .flat_map(|layer| &layer.properties.remedies)
            .map(|remedy| Remedy { error_text: remedy.error_text.clone(), advice: remedy.advice.clone() })
            .collect(),
    }
}

fn fill_file<'a>(
    variant: &Variant,
    raw: &RawFile,
    known: impl Iterator<Item = &'a str> + Clone,
    mut fill: impl FnMut(&str) -> Result<String, template::PlaceholderError>,
) -> Result<StatementFile, CatalogueError> {
    let mut statements = Vec::new();
    for statement in &raw.statements {
        let filled = fill(&statement.text).map_err(|problem| {
            let message = match &problem {
                template::PlaceholderError::Unknown { name, .. } => {
                    let near = did_you_mean(name, known.clone());
                    format!("{problem} in variant {}{near}", variant.name)
                }
                template::PlaceholderError::Malformed { .. } => problem.to_string(),
            };
            raw.error(statement.line_at(problem.offset()), message)
        })?;
        statements.push(filled);
    }
    Ok(StatementFile { path: raw.path.clone(), kind: raw.kind, statements })
}
