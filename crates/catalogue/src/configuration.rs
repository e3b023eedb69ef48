//! Configurations: a system at a version, in a variant, with a storage setting, with all layers merged and
//! every value in place.

use std::collections::{BTreeMap, BTreeSet};

use jsonathlon_servers::{Recipe, Scalar, Transport};
use serde::Serialize;

use super::{
    definition::{Exception, OpenDefinition, Place, PropertiesDefinition},
    durability::{Durability, Tier},
    elsewhere::{BY_ADDRESS, ByAddress},
    error::CatalogueError,
    near::did_you_mean,
    preparation::Preparation,
    profile::{MemorySetting, Profile, Profiles},
    rules::{Part, Said, analytics::ANALYTICS},
    server::OF_START,
    statements::{RawFile, StatementKind},
    system::{System, WorkloadPart},
    template::{self, RUN_TIME, Replacement},
    variants::{Storage, Variant},
};
use crate::artifact::{Artifact, Installed};

/// Run-time placeholders that settings and statements of `[open]` may hold: the others have a value only in
/// the statement files of a workload.
const RUN_TIME_OF_OPEN: [&str; 2] = ["cores", "folder"];
/// Run-time placeholders that a value of a folder may hold: the others belong to one statement file each.
const RUN_TIME_OF_VALUES: [&str; 3] = ["table", "cores", "folder"];

/// Everything that a workload and a driver need to know about one configuration. Placeholders of [`RUN_TIME`]
/// are left for the run.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Configuration {
    /// Name of the system, which is that of its folder; followed by `#1`, `#2` … if one run has several of
    /// it.
    pub system: String,
    /// Display name of the system.
    pub title: String,
    /// Name of the driver, such as `postgres`.
    pub protocol: String,
    /// Whether the engine runs inside the worker process.
    pub embedded: bool,
    /// Whether the version is no longer supported by its developers.
    pub end_of_life: bool,
    /// Release date (`YYYY-MM-DD`) of this version if newer versions exist that no source has or that cannot
    /// be used; otherwise `None`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outdated: Option<String>,
    /// Whether the system is a yardstick for reading other results: never ranked, part of every run unless
    /// excluded.
    pub reference: bool,
    /// Whether all data is held in memory once open, so that no trial can be cold.
    pub in_memory: bool,
    /// Version of the system; for an external system with its origin, as `18.6+address`.
    pub version: String,
    /// Artifact to install. `None` for an external system and for a system without artifacts.
    pub artifact: Option<Artifact>,
    /// Text that the version reported by the engine must contain. `None` if the system has no artifact, or if
    /// [`Self::asks_version`] is set.
    pub reports: Option<String>,
    /// Statement that returns the version of an external system whose protocol reports the version of
    /// something else. `None` if the protocol's version applies.
    pub asks_version: Option<String>,
    /// Name of the variant; for a user's own questions, that of the user's folder if it states one.
    pub variant: String,
    /// Description of the variant in a few words.
    pub variant_title: String,
    /// Preparation class: what the system is told about the documents before they are loaded.
    pub preparation: Preparation,
    /// Further division of the preparation class: only configurations with the same text are ranked together.
    /// Usually empty.
    pub ranks_with: String,
    /// Whether the configuration takes part in a ranking.
    pub ranked: bool,
    /// Memory profile. `None` on a remote server, whose owner sets the memory, and while no profile has been
    /// chosen.
    pub profile: Option<Profile>,
    /// Memory budget in bytes. `None` unless the memory profile is [`Profile::Sized`].
    pub memory_bytes: Option<u64>,
    /// Memory settings of the chosen memory profile.
    pub memory_settings: Vec<MemorySetting>,
    /// Memory settings of both memory profiles, to choose from.
    #[serde(skip)]
    pub(crate) profiles: Profiles,
    /// Name of the storage setting, such as `default`.
    pub storage: String,
    /// Durability tier, which says what a crash may lose. `None` while no tier has been chosen, and for
    /// workloads without tiers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub durability: Option<Durability>,
    /// Durability tiers to choose from, the default first.
    #[serde(skip)]
    pub(crate) tiers: Vec<Tier>,
    /// How the server is initialised, started and stopped. `None` for an embedded engine and for a remote
    /// server.
    pub server: Option<Recipe>,
    /// How the run works on a remote server. `None` if it does not use one.
    pub elsewhere: Option<ByAddress>,
    /// Settings and statements with which a session is opened.
    pub open: Open,
    /// All deviations from the system's defaults, shown in reports.
    pub exceptions: Vec<Exception>,
    /// What the system's folder declares about the configuration.
    pub properties: Properties,
    /// Setups of the workloads that the system runs in this variant, by name of the workload.
    pub parts: BTreeMap<String, Part>,
    /// `blake3:…` over everything that decides what is measured: version, settings, and the statements and
    /// rules of the workloads in [`Self::parts`]. Descriptions and sources are left out.
    pub digest: String,
}

impl Configuration {
    /// Returns the folder's advice for documents that are rejected with this message. `None` if it has none.
    #[must_use]
    pub fn remedy(&self, words: &str) -> Option<&str> {
        let known = self.properties.remedies.iter().find(|remedy| words.contains(&remedy.says));
        known.map(|remedy| remedy.advice.as_str())
    }

    /// Replaces the version by the installed one, which may be a newer version that was accepted in place of
    /// the pinned one, and updates the digest.
    #[must_use]
    pub fn really(mut self, installed: &Installed) -> Self {
        if installed.version != self.version {
            self.version.clone_from(&installed.version);
            self.outdated = None;
            self.reports = Some(installed.reports.clone());
            if let Some(artifact) = &mut self.artifact {
                artifact.version.clone_from(&installed.version);
                artifact.reports.clone_from(&installed.reports);
            }
            self.digest = digest(&self);
        }
        self
    }

    /// Keeps only the setups of these workloads, so that the others neither run nor count in the digest.
    #[must_use]
    pub fn only(mut self, workloads: &[&str]) -> Self {
        self.parts.retain(|name, _| workloads.contains(&name.as_str()));
        self.digest = digest(&self);
        self
    }

    /// Returns the durability tiers, the default first. Empty for workloads without tiers.
    pub fn durabilities(&self) -> impl Iterator<Item = &Durability> {
        self.tiers.iter().map(|tier| &tier.durability)
    }

    /// Applies a durability tier: adds its settings, and replaces the statements of the default tier by its
    /// own. A remote server keeps the settings of its owner. Must be called only once, on a configuration
    /// without a tier.
    ///
    /// # Errors
    /// [`CatalogueError::UnknownDurability`] if the system has no such tier; the error lists those it has.
    pub fn with_durability(mut self, name: &str) -> Result<Self, CatalogueError> {
        let Some(tier) = self.tiers.iter().find(|tier| tier.durability.name == name).cloned() else {
            return Err(CatalogueError::UnknownDurability {
                system: self.system,
                tier: name.to_owned(),
                known: self.tiers.into_iter().map(|tier| tier.durability.name).collect(),
            });
        };
        self.open.settings.extend(tier.open.settings);
        self.open.statements.extend(tier.open.statements);
        self.exceptions.extend(tier.exceptions);
        for (workload, files) in tier.files {
            if let Some(part) = self.parts.get_mut(&workload) {
                part.files = files;
            }
        }
        self.durability = Some(tier.durability);
        self.digest = digest(&self);
        Ok(self)
    }

    /// Builds the message for an engine that reports version `said`, which does not contain
    /// [`Self::reports`]: what was expected where, and what to do about it.
    pub fn unexpected_version(&self, said: &str) -> String {
        let Self { system, version, reports, artifact, .. } = self;
        let expected = reports.as_deref().unwrap_or_default();
        let Some(artifact) = artifact else {
            return format!(
                "the engine says that it is version {said:?}, but {system} {version} reports {expected:?}; it was \
                 changed since the run began; start a new run"
            );
        };
        let place = &artifact.written.reports;
        let or_else = if artifact.is_bundled() {
            String::new()
        } else {
            format!(
                "; if this is another engine than you want, correct the source and install that: `{}`",
                artifact.replacing_commands()
            )
        };
        format!(
            "the engine says that it is version {said:?}, but {place} is {expected:?}, which is no part of that: \
             correct the key{or_else}"
        )
    }

    /// Sets the transport by which sessions reach the server. A configuration without a server is not
    /// changed.
    ///
    /// # Errors
    /// [`CatalogueError::NoTransport`] if the system's folder does not define this transport.
    pub fn reached_over(mut self, transport: Transport) -> Result<Self, CatalogueError> {
        let Some(server) = &mut self.server else { return Ok(self) };
        let lacks = match transport {
            Transport::Tcp => None,
            Transport::Tls => server.tls.is_empty().then_some("`tls`, the words that make it encrypt"),
            Transport::Unix => server.socket.is_none().then_some("`socket`, the path of a Unix socket"),
        };
        if let Some(lacks) = lacks {
            return Err(CatalogueError::NoTransport { system: self.system, transport, lacks });
        }
        server.transport = transport;
        self.digest = digest(&self);
        Ok(self)
    }

    /// Applies a memory profile; `budget_bytes` is the budget of [`Profile::Sized`]. A remote server keeps
    /// the settings of its owner.
    ///
    /// # Errors
    /// [`CatalogueError::Memory`] if the budget is smaller than the system needs.
    pub fn with_memory(mut self, profile: Profile, budget_bytes: u64) -> Result<Self, CatalogueError> {
        if self.elsewhere.is_some() {
            return Ok(self);
        }
        let least_bytes = self.profiles.least_bytes();
        if profile == Profile::Sized && budget_bytes < least_bytes {
            return Err(CatalogueError::Memory { system: self.system, budget_bytes, least_bytes });
        }
        self.memory_settings = self.profiles.settings(profile, budget_bytes);
        for setting in &self.memory_settings {
            let value = setting.value.clone();
            match (setting.place, &mut self.server) {
                (Place::Setting, _) => {
                    self.open.settings.insert(setting.name.clone(), value);
                }
                (Place::Statement, _) => self.open.statements.push(value),
                (Place::Environment, Some(server)) => {
                    server.environment.insert(setting.name.clone(), value);
                }
                (Place::Argument, Some(server)) => server.start.push(value),
                // Folders with such a setting and without a server are rejected when they are read.
                (Place::Environment | Place::Argument, None) => {}
            }
        }
        self.profile = Some(profile);
        self.memory_bytes = (profile == Profile::Sized).then_some(budget_bytes);
        self.digest = digest(&self);
        Ok(self)
    }
}

/// Settings and statements with which a session of the engine is opened.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Open {
    /// Settings that the engine starts with, by name.
    pub settings: BTreeMap<String, String>,
    /// Statements to run right after connecting, in this order.
    pub statements: Vec<String>,
}

/// What a system's folder declares about a configuration.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Properties {
    /// Documents in the unit that the engine assigns to one core as a whole; fewer documents leave cores
    /// idle. `None` if not stated.
    pub parallel_unit: Option<u64>,
    /// Whether the engine reports how long a statement took.
    pub server_time: bool,
    /// Remarks for readers of a report.
    pub notes: Vec<String>,
    /// Advice about documents that the system rejects.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub remedies: Vec<Remedy>,
}

/// Advice about documents that a system rejects for a certain reason.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Remedy {
    /// Text in the system's error message by which the reason is recognised.
    pub says: String,
    /// What the user can do about these documents.
    pub advice: String,
}

/// A statement file with its values in place.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct StatementFile {
    /// Path inside the system's folder, for messages.
    pub path: String,
    /// Syntax of the statements, according to the file's ending.
    pub kind: StatementKind,
    /// The statements, in order, without the `;` that ended them.
    pub statements: Vec<String>,
}

/// One level of a system's folder: the base, the variant or the storage setting.
struct Layer<'a> {
    /// Keys that lead to this level in `system.toml`.
    path: Vec<&'a str>,
    values: &'a BTreeMap<String, Scalar>,
    open: &'a OpenDefinition,
    properties: &'a PropertiesDefinition,
    exceptions: &'a [Exception],
}

impl<'a> Layer<'a> {
    fn at(&self, keys: &[&'a str]) -> Vec<&'a str> {
        self.path.iter().chain(keys).copied().collect()
    }

    /// Builds an error at an element of a list in `[open]`.
    fn error_in(&self, system: &System, list: &str, index: usize, message: String) -> CatalogueError {
        let index = index.to_string();
        let path: Vec<&str> = self.path.iter().copied().chain(["open", list, index.as_str()]).collect();
        system.text.error(&path, message)
    }
}

fn layers<'a>(system: &'a System, variant: &'a Variant, storage: &'a Storage) -> Vec<Layer<'a>> {
    let base = &system.definition;
    let mut layers = vec![Layer {
        path: Vec::new(),
        values: &base.values,
        open: &base.open,
        properties: &base.properties,
        exceptions: &base.exceptions,
    }];
    if let Some(over) = base.variants.get(&variant.name) {
        layers.push(Layer {
            path: vec!["variants", &variant.name],
            values: &over.values,
            open: &over.open,
            properties: &over.properties,
            exceptions: &over.exceptions,
        });
    }
    if let Some(over) = base.storage.get(&storage.name) {
        layers.push(Layer {
            path: vec!["storage", &storage.name],
            values: &over.values,
            open: &over.open,
            properties: &over.properties,
            exceptions: &over.exceptions,
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
    let reserved = system.workloads.placeholders();
    let values = values(system, &layers, &reserved)?;
    let mut filling = Filling { reserved: &reserved, used };
    let open = open(system, &layers, |text| filling.put_in(text, &values, &RUN_TIME_OF_OPEN))?;
    let server = server(system, &layers, |text| filling.put_in(text, &values, &OF_START))?;
    let mut parts = BTreeMap::new();
    let mut tiers: Vec<Tier> = Vec::new();
    for part in system.parts.iter().filter(|part| variant.is_of(part.rules)) {
        let WorkloadPart { rules, sections, files } = part;
        let sections = sections.of(rules.name(), &system.text, &system.workloads, Some((variant, storage)));
        let Said { load, logs, rules: said, placeholders, tiers: said_tiers } = rules.read(&sections)?;
        let mut fill = |values: &BTreeMap<&str, &str>| {
            let mut resolved = BTreeMap::new();
            for rule in rules.files() {
                let own = by_address.then(|| files.own(BY_ADDRESS, rule.name)).flatten();
                let Some(raw) = own.or_else(|| files.get(&variant.name, rule.name)) else { continue };
                let further = placeholders.get(rule.name).into_iter().flatten().map(String::as_str);
                let kept: Vec<&str> =
                    RUN_TIME.iter().chain(rules.placeholders()).copied().chain(further).collect();
                let known = values.keys().copied().chain(kept.iter().copied());
                let put_in = |text: &str| filling.put_in(text, values, &kept);
                resolved.insert(rule.name.to_owned(), fill_file(system, variant, raw, known, put_in)?);
            }
            Ok::<_, CatalogueError>(resolved)
        };
        // The first tier is the default. Most tiers have no values, and all of these share the same
        // statements.
        let mut default = None;
        let mut without_values = None;
        for mut tier in said_tiers {
            let filled = match &without_values {
                Some(filled) if tier.values.is_empty() => BTreeMap::clone(filled),
                _ => {
                    let over = tier.values.iter().map(|(name, value)| (name.as_str(), value.as_str()));
                    let all = values.iter().map(|(name, value)| (*name, *value)).chain(over);
                    fill(&all.collect())?
                }
            };
            if tier.values.is_empty() {
                without_values.get_or_insert_with(|| filled.clone());
            }
            default.get_or_insert_with(|| filled.clone());
            tier.files.insert(rules.name().to_owned(), filled);
            match tiers.iter_mut().find(|known| known.durability.name == tier.durability.name) {
                Some(known) => known.join(tier),
                None => tiers.push(tier),
            }
        }
        let files = match default {
            Some(files) => files,
            None => fill(&values)?,
        };
        parts.insert(rules.name().to_owned(), Part { load, logs, rules: said, files });
    }
    let mut configuration = Configuration {
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
        reports: None,
        asks_version: None,
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
        tiers,
        server,
        elsewhere: None,
        open,
        exceptions: layers.iter().flat_map(|layer| layer.exceptions).cloned().collect(),
        properties: properties(&layers),
        parts,
        digest: String::new(),
    };
    configuration.digest = digest(&configuration);
    Ok(configuration)
}

/// Fills values in for placeholders, and records which ones were used.
struct Filling<'a> {
    /// Names that only a run has values for.
    reserved: &'a [&'a str],
    used: &'a mut BTreeSet<String>,
}

impl Filling<'_> {
    /// Fills the placeholders of a text, except for those in `kept`, which the run fills.
    fn put_in(
        &mut self,
        text: &str,
        values: &BTreeMap<&str, &str>,
        kept: &[&str],
    ) -> Result<String, template::PlaceholderError> {
        template::replace(text, |name| {
            if kept.contains(&name) {
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
    layers: &[Layer<'a>],
    reserved: &[&str],
) -> Result<BTreeMap<&'a str, &'a str>, CatalogueError> {
    let mut values = BTreeMap::new();
    for layer in layers {
        for (name, Scalar(value)) in layer.values {
            let error = |message: String| system.text.error(&layer.at(&["values", name]), message);
            if reserved.contains(&name.as_str()) {
                return Err(error(format!(
                    "`{{{{{name}}}}}` gets its value from the run: choose another name"
                )));
            }
            if !template::is_name(name) {
                return Err(error("a value's name is a-z, 0-9 and `_`, and starts with a letter".to_owned()));
            }
            let inside = template::placeholders(value).map_err(|problem| error(problem.to_string()))?;
            if let Some((_, name)) = inside.iter().find(|(_, name)| !RUN_TIME_OF_VALUES.contains(name)) {
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
    layers: &[Layer<'_>],
    mut put_in: impl FnMut(&str) -> Result<String, template::PlaceholderError>,
) -> Result<Open, CatalogueError> {
    let mut open = Open { settings: BTreeMap::new(), statements: Vec::new() };
    for layer in layers {
        for (name, Scalar(value)) in &layer.open.settings {
            let value = put_in(value).map_err(|problem| {
                system.text.error(&layer.at(&["open", "settings", name]), problem.to_string())
            })?;
            open.settings.insert(name.clone(), value);
        }
        for (index, statement) in layer.open.statements.iter().enumerate() {
            let statement = put_in(statement)
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
    layers: &[Layer<'_>],
    mut put_in: impl FnMut(&str) -> Result<String, template::PlaceholderError>,
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
            let argument = put_in(argument).map_err(|problem| error(problem.to_string()))?;
            if let Some(own) = &mut server.own {
                own.start.push(argument.clone());
            }
            server.start.push(argument);
        }
    }
    Ok(server)
}

fn properties(layers: &[Layer<'_>]) -> Properties {
    let last = || layers.iter().rev().map(|layer| layer.properties);
    Properties {
        parallel_unit: last().find_map(|properties| properties.parallel_unit),
        server_time: last().find_map(|properties| properties.server_time).unwrap_or(false),
        notes: layers.iter().flat_map(|layer| &layer.properties.notes).cloned().collect(),
        remedies: layers
            .iter()
            .flat_map(|layer| &layer.properties.remedies)
            .map(|one| Remedy { says: one.says.clone(), advice: one.advice.clone() })
            .collect(),
    }
}

fn fill_file<'a>(
    system: &System,
    variant: &Variant,
    raw: &RawFile,
    known: impl Iterator<Item = &'a str> + Clone,
    mut put_in: impl FnMut(&str) -> Result<String, template::PlaceholderError>,
) -> Result<StatementFile, CatalogueError> {
    let mut statements = Vec::new();
    for statement in &raw.statements {
        let filled = put_in(&statement.text).map_err(|problem| {
            let message = match &problem {
                template::PlaceholderError::Unknown { name, .. } => {
                    let near = did_you_mean(name, known.clone());
                    format!("{problem} in variant {}{near}", variant.name)
                }
                template::PlaceholderError::Malformed { .. } => problem.to_string(),
            };
            system.folder.error(&raw.path, statement.line_at(problem.offset()), message)
        })?;
        statements.push(filled);
    }
    Ok(StatementFile { path: raw.path.clone(), kind: raw.kind, statements })
}

/// Computes the digest of a configuration. Descriptions and sources are left out on purpose: neither a better
/// wording nor a second registry for the same version makes measurements incomparable.
pub(crate) fn digest(configuration: &Configuration) -> String {
    let mut decisive = serde_json::json!({
        "system": configuration.system,
        "protocol": configuration.protocol,
        "version": configuration.version,
        "reports": configuration.reports,
        "variant": configuration.variant,
        "preparation": configuration.preparation,
        "ranks_with": configuration.ranks_with,
        "profile": configuration.profile,
        "storage": configuration.storage,
        "open": configuration.open,
        // The key is present even without this workload, because digests are older than the other workloads.
        ANALYTICS: null,
    });
    for (name, part) in &configuration.parts {
        decisive[name.as_str()] = part.decisive();
    }
    if let Some(durability) = &configuration.durability {
        decisive["durability"] = serde_json::json!(durability.name);
    }
    // Present only with a server, because digests of embedded engines are older than servers.
    if let Some(server) = &configuration.server {
        decisive["server"] = serde_json::json!(server);
    }
    if let Some(elsewhere) = &configuration.elsewhere {
        decisive["elsewhere"] = serde_json::json!(elsewhere);
    }
    format!("blake3:{}", blake3::hash(decisive.to_string().as_bytes()).to_hex())
}
