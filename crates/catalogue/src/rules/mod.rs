//! Rules for the part of a system's folder that belongs to one workload.
//!
//! A workload has a section of `system.toml` and a folder of statement files, both with its name, and one
//! file here that says what they may hold. To add a workload, write that file, list it in [`ALL_RULES`], and
//! give its section a place in [`Section`].

pub(super) mod analytics;
pub(super) mod documents;
pub(super) mod fidelity;
pub(super) mod first_question;
pub(super) mod mixed;
pub(super) mod operation_rules;
pub(super) mod path_notation;
mod patterns;
pub(super) mod question_paths;
pub(super) mod questions;
pub(super) mod reports;
pub(super) mod serving;

use std::{collections::BTreeMap, fmt::Debug, sync::LazyLock};

use serde::Serialize;
use serde_json::Value;

use super::{
    definition::LoadMode,
    did_you_mean::did_you_mean,
    durability::Tier,
    error::CatalogueError,
    sections::SectionReader,
    statement_file::{StatementFile, StatementRule},
    template::RUN_TIME,
};

/// Rules of all workloads.
pub(crate) const ALL_RULES: [&dyn WorkloadRules; 6] = [
    &analytics::Rules,
    &serving::Rules,
    &mixed::Rules,
    &documents::Rules,
    &questions::Rules,
    &fidelity::Rules,
];

/// What the section and the statement files of one workload may hold.
pub(crate) trait WorkloadRules: Debug + Send + Sync {
    /// Returns the name of the workload, of its section and of its folder.
    fn name(&self) -> &'static str;

    /// Returns the rules for the workload's statement files.
    fn files(&self) -> &'static [StatementRule];

    /// Returns the placeholders that the run fills in this workload's statements alone, besides those of
    /// [`RUN_TIME`].
    fn placeholders(&self) -> &'static [&'static str];

    /// Returns the rules of the workload on which this one builds. That workload's statement files are used
    /// where this one has none of its own, and its ranked variants on a system that declares none for this
    /// one. `None` if the workload stands alone.
    fn foundation(&self) -> Option<&'static dyn WorkloadRules> {
        None
    }

    /// Returns `true` if the workload has variants of its own: those that name it in `workloads`, one of them
    /// the default. Other workloads share the variants that name none.
    fn has_own_variants(&self) -> bool {
        true
    }

    /// Returns `true` if several of the workload's own variants may be defaults. A run without `--variants`
    /// then includes all of them.
    fn allows_several_default_variants(&self) -> bool {
        false
    }

    /// Returns the keys that the workload's section may have.
    fn keys(&self) -> &'static [&'static str];

    /// Returns those keys that a variant or a storage setting may state without naming the section.
    fn unprefixed_keys(&self) -> &'static [&'static str] {
        &[]
    }

    /// Returns `true` if variants and storage settings may override the section, under its name.
    fn has_overlays(&self) -> bool {
        true
    }

    /// Reads the section of the system, and the overrides of the variant and the storage setting. `foundation`
    /// is what the sections of the workload state on which this one builds; `None` if the system does not run
    /// that workload, or if there is none.
    ///
    /// # Errors
    /// [`CatalogueError::Invalid`] if one of them holds something that is not allowed;
    /// [`SectionReader::read`] and [`SectionReader::error`] add file and line.
    fn read(
        &self,
        base: &SectionReader<'_>,
        overlays: &[SectionReader<'_>],
        foundation: Option<ParsedSection>,
    ) -> Result<ParsedSection, CatalogueError>;

    /// Changes the statement files of a configuration once all values are in place. Does nothing by default.
    fn complete_files(&self, _: &mut BTreeMap<String, StatementFile>) {}
}

/// Contents of a workload's sections, with all overrides applied.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ParsedSection {
    pub(crate) load: LoadMode,
    /// Files and folders of logs, below a session's folder. A name that ends in `*` stands for all names with
    /// this prefix.
    pub(crate) logs: Vec<String>,
    pub(crate) section: Section,
    /// Further placeholders that the run fills, by the statement file that may hold them.
    pub(crate) placeholders: BTreeMap<String, Vec<String>>,
    /// Durability tiers, the default first. Empty for a workload without tiers.
    pub(crate) tiers: Vec<Tier>,
}

impl ParsedSection {
    /// Creates what a workload states that has neither tiers nor placeholders of its folder's own.
    fn new(load: LoadMode, logs: Vec<String>, section: Section) -> Self {
        Self { load, logs, section, placeholders: BTreeMap::new(), tiers: Vec::new() }
    }
}

/// What the sections of one workload state besides load mode, logs and tiers, with all overrides applied.
/// Part of the configuration's digest.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Section {
    /// Six questions over the documents.
    Analytics(analytics::AnalyticsSection),
    /// Operations on records by their key.
    Serving(serving::ServingSection),
    /// Questions over the documents while further ones are inserted.
    Mixed(Box<mixed::MixedSection>),
    /// Tests and indexes of large documents.
    Documents(documents::DocumentsSection),
    /// A user's own documents.
    Questions(Box<questions::QuestionsSection>),
    /// What a system changes of a document.
    Fidelity(fidelity::FidelitySection),
}

/// Load mode, section and statements of a workload on one configuration.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct WorkloadSetup {
    /// How documents are loaded.
    pub load: LoadMode,
    /// Files and folders of logs, below a session's folder. A name that ends in `*` stands for all names with
    /// this prefix.
    pub logs: Vec<String>,
    /// Everything else that the sections state.
    pub section: Section,
    /// Statement files by name, such as `create`.
    pub files: BTreeMap<String, StatementFile>,
}

/// Statement files by name, such as `create`.
type Files = BTreeMap<String, StatementFile>;

/// Returns the statements of a file, in order. Empty if there is no such file.
fn statements<'a>(files: &'a Files, name: &str) -> &'a [String] {
    files.get(name).map_or(&[], |file| file.statements.as_slice())
}

/// Returns the statement of a file that holds exactly one. `None` for other files.
fn statement<'a>(files: &'a Files, name: &str) -> Option<&'a str> {
    match statements(files, name) {
        [statement] => Some(statement),
        _ => None,
    }
}

impl WorkloadSetup {
    /// Returns the statements of a file, in order. Empty if an optional file is missing or holds only
    /// comments.
    pub fn statements(&self, name: &str) -> &[String] {
        statements(&self.files, name)
    }

    /// Returns the statement of a file that holds exactly one. `None` for other files.
    pub fn statement(&self, name: &str) -> Option<&str> {
        statement(&self.files, name)
    }

    /// Returns everything in the setup that decides what is measured, for the configuration's digest.
    pub(crate) fn digest_input(&self) -> Value {
        let statements: BTreeMap<&str, _> =
            self.files.iter().map(|(name, file)| (name.as_str(), (file.kind, &file.statements))).collect();
        let mut input = serde_json::json!(self.section);
        if let Value::Object(keys) = &mut input {
            keys.insert("statements".to_owned(), serde_json::json!(statements));
            keys.insert("load".to_owned(), serde_json::json!(self.load));
        }
        input
    }
}

/// Keys that the section of each workload may have, by workload.
pub(crate) static SECTION_KEYS: LazyLock<Vec<(&'static str, &'static [&'static str])>> =
    LazyLock::new(|| ALL_RULES.iter().map(|rules| (rules.name(), rules.keys())).collect());

/// Returns the names of all workloads.
pub(crate) fn names() -> Vec<&'static str> {
    ALL_RULES.iter().map(|rules| rules.name()).collect()
}

/// Returns all placeholders that only a run can fill; a folder must not define them as values.
pub(crate) fn placeholders() -> Vec<&'static str> {
    RUN_TIME.into_iter().chain(ALL_RULES.iter().flat_map(|rules| rules.placeholders()).copied()).collect()
}

/// Returns a hint for an unknown statement file: the workload that has such a file, otherwise the nearest
/// name.
pub(crate) fn suggest_file(stem: &str, rules: &dyn WorkloadRules) -> String {
    let has_file = |owner: &&&dyn WorkloadRules| {
        owner.name() != rules.name() && owner.files().iter().any(|file| file.name == stem)
    };
    match ALL_RULES.iter().find(has_file) {
        Some(owner) => format!(" (`{stem}` is a file of {}/)", owner.name()),
        None => did_you_mean(stem, rules.files().iter().map(|rule| rule.name)),
    }
}

/// Overlays the patterns of one section on those below it: those that a plan must contain (`expect`), and
/// those that it must not (`forbid`). `error` builds the error for the keys of an invalid pattern.
fn apply_pattern_overlay(
    overlay: [Option<Vec<String>>; 2],
    base: [&mut Vec<String>; 2],
    error: impl Fn(&[&str], String) -> CatalogueError,
) -> Result<(), CatalogueError> {
    for ((key, patterns), target) in ["expect", "forbid"].into_iter().zip(overlay).zip(base) {
        let Some(patterns) = patterns else { continue };
        for (index, pattern) in patterns.iter().enumerate() {
            if let Err(problem) = patterns::compiled(pattern) {
                return Err(error(&[key, &index.to_string()], problem.to_string()));
            }
        }
        *target = patterns;
    }
    Ok(())
}

/// Describes each requirement that the text of a plan does not meet. Empty if it meets all of them.
fn violations(expect: &[String], forbid: &[String], plan: &str) -> Vec<String> {
    let is_found = |pattern: &str| patterns::is_found(pattern, plan);
    let missing = expect.iter().filter(|pattern| !is_found(pattern));
    let forbidden = forbid.iter().filter(|pattern| is_found(pattern));
    missing
        .map(|pattern| format!("the plan lacks `{pattern}`"))
        .chain(forbidden.map(|pattern| format!("the plan has `{pattern}`")))
        .collect()
}
