//! Rules of the serving workload: one statement file for each operation, requirements on their plans, and
//! what a crash may lose.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::{Deserialize, Serialize};

use jsonathlon_schema::workload::WorkloadKind;

use super::operation_rules::OperationRules;
use super::path_notation::{MemberNotations, PATCH, PATH_NOTATIONS, PathStep};
use super::reports::{Reports, ReportsDefinition};
use super::{ParsedSection, Section, WorkloadRules, WorkloadSetup};
use crate::{
    definition::LoadMode,
    did_you_mean::did_you_mean,
    durability::DurabilityDefinition,
    error::CatalogueError,
    sections::SectionReader,
    statement_file::{StatementFile, StatementRule},
    template,
};

/// Name of the workload, of its section and of its folder.
pub const SERVING: &str = WorkloadKind::Serving.name();

/// Placeholders that each client fills for each operation.
const OPERATION_PLACEHOLDERS: [&str; 8] =
    ["key", "value", "document", "keyed_document", "keyed_documents", "limit", "old", "condition"];
const PLACEHOLDERS: [&str; 22] = [
    "key",
    "value",
    "document",
    "keyed_document",
    "keyed_documents",
    "limit",
    "old",
    "condition",
    "path",
    "access",
    "dotted",
    "pointer",
    "braced",
    "steps",
    PATCH,
    "paths",
    "columns",
    "key_type",
    "value_type",
    "before",
    "after",
    "statement",
];

const KEY_TYPE: &[&str] = &["key_type"];
const INDEXED_PATH: &[&str] = &["key_type", "path", "access", "dotted", "pointer", "braced", "steps"];
const BY_KEY: &[&str] = &["key_type", "key"];
const RANGE: &[&str] = &["key_type", "key", "limit"];
const KEY: &[&str] = &["key"];
const PATHS_BY_KEY: &[&str] = &["key_type", "key", "limit", "paths", "columns"];
const BY_CONDITION: &[&str] =
    &["key_type", "condition", "limit", "path", "access", "dotted", "pointer", "braced", "steps"];
const UNWRAPPED: &[&str] =
    &["key_type", "key", "condition", "limit", "path", "access", "dotted", "pointer", "braced", "steps"];
const VALUE: &[&str] = &["value", PATCH];
const SET_VALUE: &[&str] = &[
    "key_type",
    "value_type",
    "key",
    "value",
    "path",
    "access",
    "dotted",
    "pointer",
    "braced",
    "steps",
    PATCH,
];
const NEW_DOCUMENT: &[&str] = &["key_type", "key", "document", "keyed_document"];
const SET_READ_VALUE: &[&str] = &[
    "key_type",
    "value_type",
    "key",
    "value",
    "old",
    "path",
    "access",
    "dotted",
    "pointer",
    "braced",
    "steps",
    PATCH,
];
const NEW_DOCUMENTS: &[&str] = &["key_type", "key", "document", "keyed_document", "keyed_documents"];

/// Statement files that set up and load tables, or that query the state of the system.
const SETUP_FILES: [StatementRule; 15] = [
    StatementRule::required("create").allows_placeholders(KEY_TYPE),
    StatementRule::required("load").owns_placeholder("file").allows_placeholders(KEY_TYPE),
    StatementRule::optional("index").allows_placeholders(KEY_TYPE),
    StatementRule::optional("index_path").allows_placeholders(INDEXED_PATH).needs_one_of(&PATH_NOTATIONS),
    StatementRule::optional("drain").allows_placeholders(&[]),
    StatementRule::optional("drained").single().allows_placeholders(&[]),
    StatementRule::optional("warm").allows_placeholders(&[]),
    StatementRule::required("plan").single().owns_placeholder("statement").allows_placeholders(&[]),
    StatementRule::required("count").single().allows_placeholders(&[]),
    StatementRule::required("sizes").single().allows_placeholders(&[]),
    StatementRule::required("drop").allows_placeholders(&[]),
    StatementRule::optional("wal").allows_placeholders(&[]),
    StatementRule::optional("checkpoints").single().allows_placeholders(&[]),
    StatementRule::optional("wal_detail")
        .single()
        .allows_placeholders(&["before", "after"])
        .needs_one_of(&["before"]),
    StatementRule::optional("encoded").allows_placeholders(&["document"]).needs_one_of(&["document"]),
];

/// Statement files that are operations, which `[serving.operations]` may name.
const OPERATIONS: [StatementRule; 15] = [
    StatementRule::optional("read").allows_placeholders(BY_KEY).needs_one_of(KEY),
    StatementRule::optional("read_paths").allows_placeholders(PATHS_BY_KEY).needs_one_of(&["paths"]),
    StatementRule::optional("find").allows_placeholders(BY_CONDITION).needs_one_of(&["condition"]),
    StatementRule::optional("count_matching").allows_placeholders(BY_CONDITION).needs_one_of(&["condition"]),
    StatementRule::optional("unwrap").allows_placeholders(UNWRAPPED).needs_one_of(KEY),
    StatementRule::optional("unwrap_all").allows_placeholders(&PATH_NOTATIONS).needs_one_of(&PATH_NOTATIONS),
    StatementRule::optional("update").allows_placeholders(SET_VALUE).needs_one_of(VALUE),
    StatementRule::optional("update_all")
        .allows_placeholders(NEW_DOCUMENT)
        .needs_one_of(&["document", "keyed_document"]),
    StatementRule::optional("update_path").allows_placeholders(SET_VALUE).needs_one_of(VALUE),
    StatementRule::optional("update_element").allows_placeholders(SET_VALUE).needs_one_of(VALUE),
    StatementRule::optional("insert")
        .allows_placeholders(NEW_DOCUMENTS)
        .needs_one_of(&["document", "keyed_document"]),
    StatementRule::optional("insert_batch").allows_placeholders(NEW_DOCUMENTS).needs_one_of(&[
        "document",
        "keyed_document",
        "keyed_documents",
    ]),
    StatementRule::optional("delete").allows_placeholders(BY_KEY).needs_one_of(KEY),
    StatementRule::optional("scan").allows_placeholders(RANGE).needs_one_of(&["limit"]),
    StatementRule::optional("read_modify_write").allows_placeholders(SET_READ_VALUE).needs_one_of(VALUE),
];

static FILES: LazyLock<Vec<StatementRule>> = LazyLock::new(|| [&SETUP_FILES[..], &OPERATIONS].concat());

/// The section `[serving]` of `system.toml`, as written.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SectionDefinition {
    load: LoadMode,
    /// Files and folders of the system's logs, below a session's folder.
    #[serde(default)]
    logs: Vec<String>,
    /// Files whose growth is counted as bytes written to the WAL.
    #[serde(default)]
    wal_files: Vec<String>,
    key_types: KeyTypes,
    #[serde(default)]
    value_types: ValueTypes,
    key_member: Option<String>,
    added_member: Option<String>,
    #[serde(default)]
    names: MemberNotations,
    generated_only: Option<String>,
    #[serde(default)]
    replication_log: bool,
    #[serde(default)]
    writers_take_turns: bool,
    clients: Option<u32>,
    not_made_for: Option<String>,
    reports: Option<ReportsDefinition>,
    durability: DurabilityDefinition,
    #[serde(default)]
    operations: BTreeMap<String, OperationDefinition>,
}

/// What a variant or a storage setting overrides in the section.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct OverlayDefinition {
    key_types: Option<KeyTypes>,
    key_member: Option<String>,
    added_member: Option<String>,
    generated_only: Option<String>,
    replication_log: Option<bool>,
    writers_take_turns: Option<bool>,
    reports: Option<ReportsDefinition>,
    operations: BTreeMap<String, OperationDefinition>,
}

/// How the key of a record is declared, by type of key.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct KeyTypes {
    /// Declaration of a key that is `user` and 19 digits.
    text: String,
    /// Declaration of a key that is an integer of 64 bits. `None` if the system has no such keys.
    #[serde(skip_serializing_if = "Option::is_none")]
    bigint: Option<String>,
    /// Declaration of a key of a user's documents that is text: up to 255 bytes of UTF-8, in the order of
    /// their bytes. `None`: as `text`.
    #[serde(skip_serializing_if = "Option::is_none")]
    own: Option<String>,
}

/// What `{{value_type}}` is in statements that set a value, by the type of the value.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ValueTypes {
    /// Type of a text.
    text: String,
    /// Type of an integer of 64 bits.
    integer: String,
}

impl ValueTypes {
    fn is_unstated(&self) -> bool {
        *self == Self::default()
    }
}

/// Rules of one operation, as written.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct OperationDefinition {
    expect: Option<Vec<String>>,
    forbid: Option<Vec<String>>,
    plan: Option<String>,
    may_be_stale: Option<bool>,
    transactional: Option<bool>,
    undo: Option<String>,
    answers: Option<Vec<String>>,
    path: Option<String>,
    column: Option<String>,
    note: Option<String>,
}

/// Implementation of [`WorkloadRules`] for the serving workload.
#[derive(Debug)]
pub(crate) struct Rules;

impl WorkloadRules for Rules {
    fn name(&self) -> &'static str {
        SERVING
    }

    fn files(&self) -> &'static [StatementRule] {
        &FILES
    }

    fn placeholders(&self) -> &'static [&'static str] {
        &PLACEHOLDERS
    }

    fn keys(&self) -> &'static [&'static str] {
        &[
            "load",
            "logs",
            "wal_files",
            "key_types",
            "value_types",
            "key_member",
            "added_member",
            "names",
            "generated_only",
            "replication_log",
            "writers_take_turns",
            "clients",
            "not_made_for",
            "reports",
            "durability",
            "operations",
        ]
    }

    fn unprefixed_keys(&self) -> &'static [&'static str] {
        &["operations"]
    }

    fn read(
        &self,
        base: &SectionReader<'_>,
        overlays: &[SectionReader<'_>],
        _: Option<ParsedSection>,
    ) -> Result<ParsedSection, CatalogueError> {
        let definition: SectionDefinition = base.read()?;
        check(base, &definition)?;
        let mut operations = BTreeMap::new();
        apply_overlay(base, definition.operations, &mut operations)?;
        let mut merged = ServingSection {
            wal_files: definition.wal_files,
            key_types: definition.key_types,
            value_types: definition.value_types,
            key_member: definition.key_member,
            added_member: definition.added_member,
            names: definition.names,
            generated_only: definition.generated_only,
            replication_log: definition.replication_log,
            writers_take_turns: definition.writers_take_turns,
            clients: definition.clients,
            not_made_for: definition.not_made_for,
            reports: Reports::read(base, definition.reports)?.unwrap_or_default(),
            operations: BTreeMap::new(),
        };
        for section in overlays {
            let overlay: OverlayDefinition = section.read()?;
            apply_overlay(section, overlay.operations, &mut operations)?;
            if let Some(key_types) = overlay.key_types {
                merged.key_types = key_types;
            }
            merged.key_member = overlay.key_member.or(merged.key_member);
            merged.added_member = overlay.added_member.or(merged.added_member);
            merged.generated_only = overlay.generated_only.or(merged.generated_only);
            merged.replication_log = overlay.replication_log.unwrap_or(merged.replication_log);
            merged.writers_take_turns = overlay.writers_take_turns.unwrap_or(merged.writers_take_turns);
            merged.reports = Reports::read(section, overlay.reports)?.unwrap_or(merged.reports);
        }
        let answers = |(name, rules): (&String, &OperationRules)| (name.clone(), rules.answers.clone());
        let placeholders = operations.iter().map(answers).collect();
        merged.operations = operations;
        Ok(ParsedSection {
            load: definition.load,
            logs: definition.logs,
            section: Section::Serving(merged),
            placeholders,
            tiers: definition.durability.tiers(base)?,
        })
    }
}

fn check(section: &SectionReader<'_>, definition: &SectionDefinition) -> Result<(), CatalogueError> {
    if definition.clients == Some(0) {
        return Err(section.error(&["clients"], "is 1 at least: connections at a time"));
    }
    definition.names.check(section)?;
    let texts = [
        (&["key_types", "text"][..], Some(&definition.key_types.text)),
        (&["key_types", "bigint"], definition.key_types.bigint.as_ref()),
        (&["key_types", "own"], definition.key_types.own.as_ref()),
        (&["key_member"], definition.key_member.as_ref()),
        (&["added_member"], definition.added_member.as_ref()),
        (&["generated_only"], definition.generated_only.as_ref()),
        (&["not_made_for"], definition.not_made_for.as_ref()),
    ];
    match texts.into_iter().find(|(_, text)| text.is_some_and(|text| text.trim().is_empty())) {
        Some((keys, _)) => Err(section.error(keys, "is empty")),
        None => Ok(()),
    }
}

/// Overrides `rules` with what one section states, key by key.
fn apply_overlay(
    section: &SectionReader<'_>,
    operations: BTreeMap<String, OperationDefinition>,
    rules: &mut BTreeMap<String, OperationRules>,
) -> Result<(), CatalogueError> {
    for (operation, overlay) in operations {
        let error = |keys: &[&str], message: String| {
            let path: Vec<&str> =
                ["operations", operation.as_str()].into_iter().chain(keys.iter().copied()).collect();
            section.error(&path, message)
        };
        let known = OPERATIONS.map(|file| file.name);
        if !known.contains(&operation.as_str()) {
            let near = did_you_mean(&operation, known);
            let message = format!("unknown operation{near}; allowed: {}", known.join(", "));
            return Err(error(&[], message));
        }
        let is_read_paths = operation == "read_paths";
        for (key, text) in [("path", &overlay.path), ("column", &overlay.column)] {
            if text.is_some() && !is_read_paths {
                return Err(error(&[key], "belongs to `read_paths`".to_owned()));
            }
        }
        let rule = rules.entry(operation.clone()).or_default();
        let patterns = [&mut rule.expect, &mut rule.forbid];
        super::apply_pattern_overlay([overlay.expect, overlay.forbid], patterns, error)?;
        for name in overlay.answers.iter().flatten() {
            if !template::is_name(name) || PLACEHOLDERS.contains(&name.as_str()) {
                let message = format!("`{name}` is no name for a column, or is one of the workload's own");
                return Err(error(&["answers"], message));
            }
        }
        rule.answers = overlay.answers.unwrap_or_else(|| std::mem::take(&mut rule.answers));
        let names = OPERATION_PLACEHOLDERS.iter().chain(&PATH_NOTATIONS).copied();
        let statement_names: Vec<&str> = names.chain(["table", "key_type"]).collect();
        let path_names: Vec<&str> = PATH_NOTATIONS.iter().copied().chain(["index"]).collect();
        for (key, text, known, target) in [
            ("plan", overlay.plan, &statement_names, &mut rule.plan),
            ("undo", overlay.undo, &Vec::new(), &mut rule.undo),
            ("path", overlay.path, &path_names, &mut rule.path),
            ("column", overlay.column, &path_names, &mut rule.column),
        ] {
            let Some(text) = text else { continue };
            let names =
                template::placeholders(&text).map_err(|problem| error(&[key], problem.to_string()))?;
            if let Some((_, name)) = names.iter().find(|(_, name)| !known.contains(name)) {
                let near = did_you_mean(name, known.iter().copied());
                return Err(error(&[key], format!("`{{{{{name}}}}}` has no value here{near}")));
            }
            *target = Some(text);
        }
        rule.may_be_stale = overlay.may_be_stale.unwrap_or(rule.may_be_stale);
        rule.transactional = overlay.transactional.or(rule.transactional);
        rule.note = overlay.note.or_else(|| rule.note.take());
    }
    Ok(())
}

/// Values of the section that apply after all overrides.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ServingSection {
    wal_files: Vec<String>,
    key_types: KeyTypes,
    #[serde(skip_serializing_if = "ValueTypes::is_unstated")]
    value_types: ValueTypes,
    key_member: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    added_member: Option<String>,
    #[serde(skip_serializing_if = "MemberNotations::is_empty")]
    names: MemberNotations,
    #[serde(skip_serializing_if = "Option::is_none")]
    generated_only: Option<String>,
    replication_log: bool,
    // Written only if `true`, because the digests of other configurations are older than this field.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    writers_take_turns: bool,
    clients: Option<u32>,
    not_made_for: Option<String>,
    // Left out of the digest: the statements that it leads to are part of it, and only where they are asked.
    #[serde(skip)]
    pub(crate) reports: Reports,
    operations: BTreeMap<String, OperationRules>,
}

/// Setup of the serving workload on one configuration.
#[derive(Debug, Clone, PartialEq)]
pub struct ServingSetup {
    /// How records are loaded into the system.
    pub load: LoadMode,
    /// Files and folders of logs, below a session's folder. A name that ends in `*` stands for all names with
    /// this prefix.
    pub logs: Vec<String>,
    /// Files, named likewise, whose growth is counted as bytes written to the WAL if no statement reports
    /// these.
    pub wal_files: Vec<String>,
    /// Declaration of a text key, which replaces `{{key_type}}`.
    pub text_key: String,
    /// Declaration of a 64-bit key, which replaces `{{key_type}}`. `None` if the system has no such keys.
    pub bigint_key: Option<String>,
    /// Declaration of a text key of a user's documents, of up to 255 bytes, which replaces `{{key_type}}`.
    pub own_text_key: String,
    /// Type of a text in statements that set a value, which replaces `{{value_type}}`.
    pub text_value_type: String,
    /// Type of a 64-bit integer in such statements.
    pub integer_value_type: String,
    /// Why this configuration can hold the generated records alone, and no documents of a user. `None` if it
    /// holds any.
    pub generated_only: Option<String>,
    names: MemberNotations,
    /// Name of the member in which documents hold their own key. `None` if they do not hold it.
    pub key_member: Option<String>,
    /// Name of the member that the system adds to documents without it, and that statements leave out of
    /// answers. `None` if it adds none.
    pub added_member: Option<String>,
    /// Whether writes also go to a log for replication, or the system's own log is one.
    pub replication_log: bool,
    /// Whether clients of an embedded engine write one at a time, in the order in which they come, by a lock
    /// of jsonathlon's.
    pub writers_take_turns: bool,
    /// Maximum number of connections at a time. `None` if this kind of engine has no limit.
    pub clients: Option<u32>,
    /// Why the system is not made for this workload: it is run, and marked with this text. `None` if it is
    /// made for it.
    pub not_made_for: Option<String>,
    /// How a user's questions are asked over the records.
    pub reports: Reports,
    /// Rules per operation, by the name of its statement file; operations without rules are missing.
    pub operations: BTreeMap<String, OperationRules>,
    /// Statement files by name (`create`, `read` …).
    pub files: BTreeMap<String, StatementFile>,
}

impl ServingSetup {
    /// Extracts the setup of this workload. `None` if `setup` belongs to another workload.
    pub(crate) fn from_setup(setup: &WorkloadSetup) -> Option<Self> {
        let Section::Serving(rules) = setup.section.clone() else { return None };
        Some(Self {
            load: setup.load,
            logs: setup.logs.clone(),
            wal_files: rules.wal_files,
            own_text_key: rules.key_types.own.unwrap_or_else(|| rules.key_types.text.clone()),
            text_key: rules.key_types.text,
            bigint_key: rules.key_types.bigint,
            text_value_type: rules.value_types.text,
            integer_value_type: rules.value_types.integer,
            generated_only: rules.generated_only,
            names: rules.names,
            key_member: rules.key_member,
            added_member: rules.added_member,
            replication_log: rules.replication_log,
            writers_take_turns: rules.writers_take_turns,
            clients: rules.clients,
            not_made_for: rules.not_made_for,
            reports: rules.reports,
            operations: rules.operations,
            files: setup.files.clone(),
        })
    }
}

impl ServingSetup {
    /// Returns the statements of a file, in order. Empty if the system has no such file, and thus no such
    /// operation.
    pub fn statements(&self, name: &str) -> &[String] {
        super::statements(&self.files, name)
    }

    /// Returns the statement of a file that holds exactly one. `None` for other files.
    pub fn statement(&self, name: &str) -> Option<&str> {
        super::statement(&self.files, name)
    }

    /// Returns the operations that the system has, by the names of their files.
    pub fn supported_operations(&self) -> Vec<&'static str> {
        let names = OPERATIONS.into_iter().map(|file| file.name);
        names.filter(|name| !self.statements(name).is_empty()).collect()
    }

    /// Returns the rules of an operation, by the name of its file; empty rules if it has none.
    pub fn rules(&self, operation: &str) -> OperationRules {
        self.operations.get(operation).cloned().unwrap_or_default()
    }

    /// Returns the statement of an operation whose plan is checked: the one that the folder names, otherwise
    /// the first one that looks up a key or a condition. `None` if there are no requirements on the plan.
    pub fn asserted_plan_statement(&self, operation: &str) -> Option<String> {
        let rules = self.operations.get(operation)?;
        if rules.expect.is_empty() && rules.forbid.is_empty() {
            return None;
        }
        let is_lookup = |text: &&String| text.contains("{{key}}") || text.contains("{{condition}}");
        rules.plan.clone().or_else(|| self.statements(operation).iter().find(is_lookup).cloned())
    }

    /// Returns the values of the placeholders for one path: all notations that can express it.
    #[must_use]
    pub fn path_values(&self, steps: &[PathStep]) -> Vec<(&'static str, String)> {
        self.names.values(steps)
    }

    /// Returns why the statements of an operation, given by the name of its file, cannot name a path. `None`
    /// if they can, or name none.
    #[must_use]
    pub fn unreachable_reason(&self, operation: &str, steps: &[PathStep]) -> Option<String> {
        let rules = self.rules(operation);
        let texts: Vec<&String> =
            self.statements(operation).iter().chain(&rules.path).chain(&rules.column).collect();
        let is_used = |notation: &&str| {
            let placeholder = format!("{{{{{notation}}}}}");
            texts.iter().any(|text| text.contains(&placeholder))
        };
        let mut used = PATH_NOTATIONS.into_iter().chain([PATCH]).filter(is_used);
        used.find_map(|notation| self.names.written(notation, steps).err())
    }

    /// Returns the texts that replace `{{paths}}` and `{{columns}}` of `read_paths` for these paths.
    pub fn read_paths(&self, paths: &[Vec<PathStep>]) -> (String, String) {
        let rules = self.rules("read_paths");
        let join = |text: &Option<String>| -> String {
            let texts = paths.iter().enumerate().map(|(index, steps)| {
                let index = index.to_string();
                let values = self.path_values(steps);
                let mut known: Vec<(&str, &str)> =
                    values.iter().map(|(name, value)| (*name, value.as_str())).collect();
                known.push(("index", &index));
                // Placeholders were checked when the folder was read, so filling cannot fail.
                text.as_deref()
                    .map(|text| template::fill(text, &known).unwrap_or_default())
                    .unwrap_or_default()
            });
            texts.collect::<Vec<_>>().join(",")
        };
        (join(&rules.path), join(&rules.column))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placeholders_are_known() {
        for name in OPERATION_PLACEHOLDERS.iter().chain(&PATH_NOTATIONS) {
            assert!(PLACEHOLDERS.contains(name), "{name}");
        }
    }
}
