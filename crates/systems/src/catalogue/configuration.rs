//! A system at a version, in a variant, with a storage setting: everything
//! overlaid and every value in place.

use std::collections::{BTreeMap, BTreeSet};

use jsonathlon_servers::{Recipe, Scalar, Transport};
use serde::Serialize;

use super::{
    artifact::Artifact,
    definition::{Exception, LoadMode, OpenDefinition, PropertiesDefinition, QuestionDefinition},
    elsewhere::{BY_ADDRESS, Elsewhere},
    error::CatalogueError,
    near::did_you_mean,
    preparation::Preparation,
    profile::{MemorySetting, Place, Profile, Profiles},
    statements::{ANALYTICS, QUESTIONS, RawFile, StatementKind},
    system::{Storage, System, Variant},
    template::{self, RUN_TIME, Replacement},
};
use crate::artifacts::Installed;

/// Run-time placeholders that an engine's settings may hold: the others have a
/// value only for a statement.
const RUN_TIME_OF_OPEN: [&str; 2] = ["cores", "folder"];
/// Those that a value may hold: the others belong to one statement file each.
const RUN_TIME_OF_VALUES: [&str; 3] = ["table", "cores", "folder"];

/// Everything a workload and a driver need to know about one configuration.
/// Placeholders of [`RUN_TIME`] are left for the run.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Configuration {
    /// The system's name: its folder's.
    pub system: String,
    /// Its name for people.
    pub title: String,
    /// The driver to use.
    pub protocol: String,
    /// Whether the engine lives inside the worker process.
    pub embedded: bool,
    /// Whether its makers no longer support the system.
    pub end_of_life: bool,
    /// A row to read others by: never ranked, part of every run unless left out.
    pub reference: bool,
    /// The data is held in memory whole once open, so no trial can be cold.
    pub in_memory: bool,
    /// The version.
    pub version: String,
    /// What to install; none for a system that is not installed by the program.
    pub artifact: Option<Artifact>,
    /// Text that the engine's own answer about its version must contain.
    pub reports: Option<String>,
    /// A statement that tells the version, where the protocol tells another's and
    /// the program has not installed it.
    pub asks_version: Option<String>,
    /// The variant's name.
    pub variant: String,
    /// The variant in a few words.
    pub variant_title: String,
    /// What the system is told about the documents beforehand.
    pub preparation: Preparation,
    /// What sets it apart within its class; empty for most.
    pub ranks_with: String,
    /// Whether it is ranked at all.
    pub ranked: bool,
    /// How its memory is set; none where somebody else has set it, or nobody has chosen yet.
    pub profile: Option<Profile>,
    /// The budget of memory, in bytes, where the profile has one.
    pub memory_bytes: Option<u64>,
    /// What is set for that.
    pub memory_settings: Vec<MemorySetting>,
    /// What could be set.
    #[serde(skip)]
    pub(crate) profiles: Profiles,
    /// The storage setting's name.
    pub storage: String,
    /// The storage setting in a few words.
    pub storage_title: String,
    /// How its server is started; none for an embedded engine, and for a system
    /// that runs only by address.
    pub server: Option<Recipe>,
    /// How the run makes itself at home on a server that somebody else runs.
    pub elsewhere: Option<Elsewhere>,
    /// How a session with the engine is opened.
    pub open: Open,
    /// Every deviation from the system's defaults.
    pub exceptions: Vec<Exception>,
    /// What the configuration declares about itself.
    pub properties: Properties,
    /// The analytics workload, if the system has it.
    pub analytics: Option<Analytics>,
    /// `blake3:…` over everything that decides what is measured: version,
    /// settings, statements and plan rules, but no prose and no source.
    pub digest: String,
}

impl Configuration {
    /// The same of what is really installed, which may be a newer version that was accepted in the place of
    /// the pinned one.
    #[must_use]
    pub fn really(mut self, installed: &Installed) -> Self {
        if installed.version != self.version {
            self.version.clone_from(&installed.version);
            self.reports = Some(installed.reports.clone());
            if let Some(artifact) = &mut self.artifact {
                artifact.version.clone_from(&installed.version);
                artifact.reports.clone_from(&installed.reports);
            }
            self.digest = digest(&self);
        }
        self
    }

    /// What is wrong when the engine says that it is `said`, which does not contain [`Self::reports`]: what was
    /// expected where, and what to do about it.
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

    /// The same, with its server reached so; an engine without a server stays as it is.
    ///
    /// # Errors
    /// [`CatalogueError::NoSocket`] when the system's folder tells of no socket.
    pub fn reached_over(mut self, transport: Transport) -> Result<Self, CatalogueError> {
        let Some(server) = &mut self.server else { return Ok(self) };
        if transport == Transport::Unix && server.socket.is_none() {
            return Err(CatalogueError::NoSocket { system: self.system });
        }
        server.transport = transport;
        self.digest = digest(&self);
        Ok(self)
    }

    /// The same, with its memory set as `profile` says; `budget_bytes` is what [`Profile::Sized`] spends. A server
    /// by address keeps the settings that its owner gave it.
    ///
    /// # Errors
    /// [`CatalogueError::Memory`] when the system does not work with so little.
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
                // Folders with such a setting and without a server are refused when they are read.
                (Place::Environment | Place::Argument, None) => {}
            }
        }
        self.profile = Some(profile);
        self.memory_bytes = (profile == Profile::Sized).then_some(budget_bytes);
        self.digest = digest(&self);
        Ok(self)
    }
}

/// How a session with the engine is opened.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Open {
    /// Settings that the engine starts with.
    pub settings: BTreeMap<String, String>,
    /// Statements to run right after connecting.
    pub statements: Vec<String>,
}

/// What a configuration declares about itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Properties {
    /// Documents in the unit that the engine gives to one core as a whole; fewer leave cores idle.
    pub parallel_unit: Option<u64>,
    /// The engine tells how long a statement took.
    pub server_time: bool,
    /// Remarks for the reader of a report.
    pub notes: Vec<String>,
}

/// The analytics workload on one configuration.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Analytics {
    /// How documents get in.
    pub load: LoadMode,
    /// Document traits, beyond the standard ones, with which a document is
    /// offered on its own.
    pub suspects: Vec<String>,
    /// Files and folders of logs (written ahead, or for replication), below a
    /// session's folder; names that end in `*` stand for all that begin so.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub logs: Vec<String>,
    /// What is declared or demanded per question (`q1` …).
    pub questions: BTreeMap<String, QuestionRules>,
    /// The statement files by name (`create`, `q1` …).
    pub files: BTreeMap<String, StatementFile>,
}

impl Analytics {
    /// The statements of a file, in order; none where an optional file is
    /// missing or holds only comments.
    pub fn statements(&self, name: &str) -> &[String] {
        self.files.get(name).map_or(&[], |file| file.statements.as_slice())
    }

    /// The statement of a file that holds exactly one, such as `q1` or `plan`.
    pub fn statement(&self, name: &str) -> Option<&str> {
        match self.statements(name) {
            [one] => Some(one),
            _ => None,
        }
    }
}

/// A statement file with its values in place.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct StatementFile {
    /// Its path inside the system's folder, for messages.
    pub path: String,
    /// How its statements are written.
    pub kind: StatementKind,
    /// The statements, in order, without the `;` that ended them.
    pub statements: Vec<String>,
}

/// What is declared or demanded about one question.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct QuestionRules {
    /// Columns of the answer, counted from 0, that are declared approximate.
    pub approximate: Vec<usize>,
    /// Patterns that the text of the plan must contain.
    pub expect: Vec<String>,
    /// Patterns that it must not contain.
    pub forbid: Vec<String>,
    /// Why the answer is not the question's: it is timed and shown, and neither compared nor ranked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub other_question: Option<String>,
}

impl QuestionRules {
    /// What the text of a plan violates, each in a few words; none is good.
    pub fn violations(&self, plan: &str) -> Vec<String> {
        let found = |pattern: &str| regex::Regex::new(pattern).is_ok_and(|pattern| pattern.is_match(plan));
        let missing = self.expect.iter().filter(|pattern| !found(pattern));
        let forbidden = self.forbid.iter().filter(|pattern| found(pattern));
        missing
            .map(|pattern| format!("the plan lacks `{pattern}`"))
            .chain(forbidden.map(|pattern| format!("the plan has `{pattern}`")))
            .collect()
    }
}

/// One level of a system's folder: the base, the variant's or the storage's.
struct Layer<'a> {
    /// Keys that lead to it in `system.toml`.
    path: Vec<&'a str>,
    values: &'a BTreeMap<String, Scalar>,
    open: &'a OpenDefinition,
    properties: &'a PropertiesDefinition,
    questions: Option<&'a BTreeMap<String, QuestionDefinition>>,
    exceptions: &'a [Exception],
}

impl<'a> Layer<'a> {
    fn at(&self, keys: &[&'a str]) -> Vec<&'a str> {
        self.path.iter().chain(keys).copied().collect()
    }
}

fn layers<'a>(system: &'a System, variant: &'a Variant, storage: &'a Storage) -> Vec<Layer<'a>> {
    let base = &system.definition;
    let mut layers = vec![Layer {
        path: Vec::new(),
        values: &base.values,
        open: &base.open,
        properties: &base.properties,
        questions: base.analytics.as_ref().map(|analytics| &analytics.questions),
        exceptions: &base.exceptions,
    }];
    if let Some(over) = base.variants.get(&variant.name) {
        layers.push(Layer {
            path: vec!["variants", &variant.name],
            values: &over.values,
            open: &over.open,
            properties: &over.properties,
            questions: Some(&over.questions),
            exceptions: &over.exceptions,
        });
    }
    if let Some(over) = base.storage.get(&storage.name) {
        layers.push(Layer {
            path: vec!["storage", &storage.name],
            values: &over.values,
            open: &over.open,
            properties: &over.properties,
            questions: Some(&over.questions),
            exceptions: &over.exceptions,
        });
    }
    layers
}

/// Overlays and replaces. Names of values that some text used are added to
/// `used`, so that the caller can tell a value that nothing uses.
pub(crate) fn resolve(
    system: &System,
    variant: &Variant,
    storage: &Storage,
    by_address: bool,
    used: &mut BTreeSet<String>,
) -> Result<Configuration, CatalogueError> {
    let layers = layers(system, variant, storage);
    let values = values(system, &layers)?;
    let mut put_in = |text: &str, kept: &[&str]| {
        template::replace(text, |name| {
            if RUN_TIME.contains(&name) {
                return if kept.contains(&name) { Replacement::Keep } else { Replacement::None };
            }
            match values.get(name) {
                Some(value) => {
                    used.insert(name.to_owned());
                    Replacement::Text((*value).to_owned())
                }
                None => Replacement::None,
            }
        })
    };
    let open = open(system, &layers, |text| put_in(text, &RUN_TIME_OF_OPEN))?;
    let analytics = match (&system.definition.analytics, &system.analytics) {
        (Some(definition), Some(files)) => {
            let mut resolved = BTreeMap::new();
            for rule in &ANALYTICS {
                let own = by_address.then(|| files.own(BY_ADDRESS, rule.name)).flatten();
                let Some(raw) = own.or_else(|| files.get(&variant.name, rule.name)) else { continue };
                let filled = fill_file(system, variant, raw, &values, |text| put_in(text, &RUN_TIME))?;
                resolved.insert(rule.name.to_owned(), filled);
            }
            Some(Analytics {
                load: definition.load,
                suspects: definition.suspects.clone(),
                logs: definition.logs.clone(),
                questions: questions(system, &layers)?,
                files: resolved,
            })
        }
        _ => None,
    };
    let mut configuration = Configuration {
        system: system.name().to_owned(),
        title: system.title().to_owned(),
        protocol: system.definition.protocol.clone(),
        embedded: system.definition.embedded,
        end_of_life: system.definition.end_of_life,
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
        storage_title: storage.title.clone(),
        server: system.server.clone(),
        elsewhere: None,
        open,
        exceptions: layers.iter().flat_map(|layer| layer.exceptions).cloned().collect(),
        properties: properties(&layers),
        analytics,
        digest: String::new(),
    };
    configuration.digest = digest(&configuration);
    Ok(configuration)
}

fn values<'a>(system: &System, layers: &[Layer<'a>]) -> Result<BTreeMap<&'a str, &'a str>, CatalogueError> {
    let mut values = BTreeMap::new();
    for layer in layers {
        for (name, Scalar(value)) in layer.values {
            let error = |message: String| system.text.error(&layer.at(&["values", name]), message);
            if RUN_TIME.contains(&name.as_str()) {
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

/// Settings are replaced by name; statements of every layer run one after
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
            let statement = put_in(statement).map_err(|problem| {
                let path = layer.at(&["open", "statements"]);
                let index = index.to_string();
                let path: Vec<&str> = path.into_iter().chain([index.as_str()]).collect();
                system.text.error(&path, problem.to_string())
            })?;
            open.statements.push(statement);
        }
    }
    Ok(open)
}

fn properties(layers: &[Layer<'_>]) -> Properties {
    let last = || layers.iter().rev().map(|layer| layer.properties);
    Properties {
        parallel_unit: last().find_map(|properties| properties.parallel_unit),
        server_time: last().find_map(|properties| properties.server_time).unwrap_or(false),
        notes: layers.iter().flat_map(|layer| &layer.properties.notes).cloned().collect(),
    }
}

fn questions(
    system: &System,
    layers: &[Layer<'_>],
) -> Result<BTreeMap<String, QuestionRules>, CatalogueError> {
    let mut rules: BTreeMap<String, QuestionRules> = BTreeMap::new();
    for layer in layers {
        let prefix: &[&str] =
            if layer.path.is_empty() { &["analytics", "questions"] } else { &["questions"] };
        for (question, over) in layer.questions.into_iter().flatten() {
            let at = |keys: &[&str]| -> Vec<String> {
                let path = layer.path.iter().chain(prefix).copied().chain([question.as_str()]);
                path.chain(keys.iter().copied()).map(str::to_owned).collect()
            };
            let error = |keys: &[&str], message: String| {
                let path = at(keys);
                system.text.error(&path.iter().map(String::as_str).collect::<Vec<_>>(), message)
            };
            if !QUESTIONS.contains(&question.as_str()) {
                return Err(error(
                    &[],
                    format!("there is no such question; there is {}", QUESTIONS.join(", ")),
                ));
            }
            let rule = rules.entry(question.clone()).or_default();
            if let Some(columns) = &over.approximate {
                rule.approximate.clone_from(columns);
            }
            if over.other_question.is_some() {
                rule.other_question.clone_from(&over.other_question);
            }
            for (key, patterns, place) in
                [("expect", &over.expect, &mut rule.expect), ("forbid", &over.forbid, &mut rule.forbid)]
            {
                let Some(patterns) = patterns else { continue };
                for (index, pattern) in patterns.iter().enumerate() {
                    if let Err(problem) = regex::Regex::new(pattern) {
                        return Err(error(&[key, &index.to_string()], problem.to_string()));
                    }
                }
                place.clone_from(patterns);
            }
        }
    }
    Ok(rules)
}

fn fill_file(
    system: &System,
    variant: &Variant,
    raw: &RawFile,
    values: &BTreeMap<&str, &str>,
    mut put_in: impl FnMut(&str) -> Result<String, template::PlaceholderError>,
) -> Result<StatementFile, CatalogueError> {
    let mut statements = Vec::new();
    for statement in &raw.statements {
        let filled = put_in(&statement.text).map_err(|problem| {
            let message = match &problem {
                template::PlaceholderError::Unknown { name, .. } => {
                    let near = did_you_mean(name, values.keys().copied().chain(RUN_TIME));
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

/// Prose and sources are left out on purpose: neither a better wording nor a
/// second registry for the same version makes measurements incomparable.
pub(crate) fn digest(configuration: &Configuration) -> String {
    let analytics = configuration.analytics.as_ref().map(|analytics| {
        let statements: BTreeMap<&str, (StatementKind, &[String])> = analytics
            .files
            .iter()
            .map(|(name, file)| (name.as_str(), (file.kind, file.statements.as_slice())))
            .collect();
        serde_json::json!({
            "load": analytics.load,
            "suspects": analytics.suspects,
            "questions": analytics.questions,
            "statements": statements,
        })
    });
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
        "analytics": analytics,
    });
    // Only where there is one: the digests of embedded engines are older than servers.
    if let Some(server) = &configuration.server {
        decisive["server"] = serde_json::json!(server);
    }
    if let Some(elsewhere) = &configuration.elsewhere {
        decisive["elsewhere"] = serde_json::json!(elsewhere);
    }
    format!("blake3:{}", blake3::hash(decisive.to_string().as_bytes()).to_hex())
}
