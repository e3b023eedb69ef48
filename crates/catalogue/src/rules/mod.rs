//! Rules for the part of a system's folder that belongs to one workload.
//!
//! A workload has a section of `system.toml` and a folder of statement files, both with its name, and one
//! file here that says what they may hold. To add a workload, write that file and list it in [`BUILT_IN`].

pub(super) mod analytics;
pub(super) mod documents;
pub(super) mod fidelity;
mod patterns;
pub(super) mod questions;
pub(super) mod serving;

use std::{collections::BTreeMap, fmt::Debug};

use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;

use super::{
    configuration::StatementFile, definition::LoadMode, durability::Tier, error::CatalogueError,
    near::did_you_mean, sections::Section, statements::StatementRule, template::RUN_TIME,
};

/// Rules of the workloads that jsonathlon itself supports.
const BUILT_IN: &[&dyn WorkloadRules] =
    &[&analytics::Rules, &serving::Rules, &documents::Rules, &questions::Rules, &fidelity::Rules];

/// What the section and the statement files of one workload may hold.
pub trait WorkloadRules: Debug + Send + Sync {
    /// Returns the name of the workload, of its section and of its folder.
    fn name(&self) -> &'static str;

    /// Returns the rules for the workload's statement files.
    fn files(&self) -> &'static [StatementRule];

    /// Returns the placeholders that the run fills in this workload's statements alone, besides those of
    /// [`RUN_TIME`].
    fn placeholders(&self) -> &'static [&'static str] {
        &[]
    }

    /// Returns `true` if the workload has variants of its own: those that name it in `workloads`, one of them
    /// the default. Other workloads share the variants that name none.
    fn own_variants(&self) -> bool {
        false
    }

    /// Returns `true` if several of the workload's own variants may be the default, all of which are part of
    /// a plain run.
    fn several_defaults(&self) -> bool {
        false
    }

    /// Returns the keys that the workload's section may have.
    fn keys(&self) -> &'static [&'static str];

    /// Returns those keys that a variant or a storage setting may state without naming the section.
    fn short_keys(&self) -> &'static [&'static str] {
        &[]
    }

    /// Returns `true` if variants and storage settings may override the section, under its name.
    fn has_overlays(&self) -> bool {
        true
    }

    /// Reads the section of the system, which is the first, and the overrides of the variant and the storage
    /// setting.
    ///
    /// # Errors
    /// [`CatalogueError::Invalid`] if one of them holds something that is not allowed; [`Section::read`] and
    /// [`Section::error`] add file and line.
    fn read(&self, sections: &[Section<'_>]) -> Result<Said, CatalogueError>;
}

/// Contents of a workload's sections, with all overrides applied.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Said {
    /// How documents are loaded. `None` for a workload that loads none.
    pub load: Option<LoadMode>,
    /// Files and folders of logs, below a session's folder. A name that ends in `*` stands for all names with
    /// this prefix.
    pub logs: Vec<String>,
    /// Everything else that decides what is measured, as a JSON object; part of the configuration's digest.
    pub rules: Value,
    /// Further placeholders that the run fills, by the statement file that may hold them.
    pub placeholders: BTreeMap<String, Vec<String>>,
    /// Durability tiers, the default first. Empty for a workload without tiers.
    pub tiers: Vec<Tier>,
}

/// Workload setup: load mode, rules and statements of a workload on one configuration.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Part {
    /// How documents are loaded. `None` for a workload that loads none.
    pub load: Option<LoadMode>,
    /// Files and folders of logs, below a session's folder. A name that ends in `*` stands for all names with
    /// this prefix.
    pub logs: Vec<String>,
    /// Everything else that the sections state, in the form that the workload defines.
    pub rules: Value,
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
        [one] => Some(one),
        _ => None,
    }
}

impl Part {
    /// Returns the statements of a file, in order. Empty if an optional file is missing or holds only
    /// comments.
    pub fn statements(&self, name: &str) -> &[String] {
        statements(&self.files, name)
    }

    /// Returns the statement of a file that holds exactly one. `None` for other files.
    pub fn statement(&self, name: &str) -> Option<&str> {
        statement(&self.files, name)
    }

    /// Reads [`Self::rules`] as the workload's own type.
    ///
    /// # Errors
    /// [`serde_json::Error`] if the rules do not fit `T`, because they belong to another workload.
    pub fn read_rules<T: DeserializeOwned>(&self) -> Result<T, serde_json::Error> {
        T::deserialize(&self.rules)
    }

    /// Returns everything in the setup that decides what is measured, for the configuration's digest.
    pub(crate) fn decisive(&self) -> Value {
        let statements: BTreeMap<&str, _> =
            self.files.iter().map(|(name, file)| (name.as_str(), (file.kind, &file.statements))).collect();
        let mut all = self.rules.clone();
        if let Value::Object(keys) = &mut all {
            keys.insert("statements".to_owned(), serde_json::json!(statements));
            if let Some(load) = self.load {
                keys.insert("load".to_owned(), serde_json::json!(load));
            }
        }
        all
    }
}

/// The workloads for which folders may have sections.
#[derive(Debug, Clone)]
pub(crate) struct Workloads(Vec<&'static dyn WorkloadRules>);

impl Workloads {
    /// Combines the workloads of jsonathlon with `further` ones.
    pub(crate) fn with(further: &[&'static dyn WorkloadRules]) -> Self {
        Self(BUILT_IN.iter().chain(further).copied().collect())
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &'static dyn WorkloadRules> {
        self.0.iter().copied()
    }

    pub(crate) fn names(&self) -> Vec<&'static str> {
        self.iter().map(|rules| rules.name()).collect()
    }

    /// Returns all placeholders that only a run can fill; a folder must not define them as values.
    pub(crate) fn placeholders(&self) -> Vec<&'static str> {
        RUN_TIME.into_iter().chain(self.iter().flat_map(|rules| rules.placeholders()).copied()).collect()
    }

    /// Returns `` (`x` is a rule of [other])`` if another workload's section has such a key; otherwise an
    /// empty text.
    pub(crate) fn owner_of_key(&self, key: &str, workload: &str) -> String {
        let owner = self.iter().find(|rules| rules.name() != workload && rules.keys().contains(&key));
        owner.map(|rules| format!(" (`{key}` is a rule of [{}])", rules.name())).unwrap_or_default()
    }

    /// Returns a hint for an unknown statement file: the workload that has such a file, otherwise the nearest
    /// name.
    pub(crate) fn near_file(&self, stem: &str, rules: &dyn WorkloadRules) -> String {
        let has = |other: &&dyn WorkloadRules| {
            other.name() != rules.name() && other.files().iter().any(|file| file.name == stem)
        };
        match self.iter().find(|other| has(other)) {
            Some(other) => format!(" (`{stem}` is a file of {}/)", other.name()),
            None => did_you_mean(stem, rules.files().iter().map(|rule| rule.name)),
        }
    }
}

/// Overlays the patterns of one section on those below it: those that a plan must contain (`expect`), and
/// those that it must not (`forbid`). `error` builds the error for the keys of an invalid pattern.
fn lay_patterns(
    over: [Option<Vec<String>>; 2],
    below: [&mut Vec<String>; 2],
    error: impl Fn(&[&str], String) -> CatalogueError,
) -> Result<(), CatalogueError> {
    for ((key, patterns), place) in ["expect", "forbid"].into_iter().zip(over).zip(below) {
        let Some(patterns) = patterns else { continue };
        for (index, pattern) in patterns.iter().enumerate() {
            if let Err(problem) = patterns::compiled(pattern) {
                return Err(error(&[key, &index.to_string()], problem.to_string()));
            }
        }
        *place = patterns;
    }
    Ok(())
}

/// Returns what the text of a plan violates, each in a few words. Empty if the plan meets all requirements.
fn violations(expect: &[String], forbid: &[String], plan: &str) -> Vec<String> {
    let found = |pattern: &str| patterns::is_found(pattern, plan);
    let missing = expect.iter().filter(|pattern| !found(pattern));
    let forbidden = forbid.iter().filter(|pattern| found(pattern));
    missing
        .map(|pattern| format!("the plan lacks `{pattern}`"))
        .chain(forbidden.map(|pattern| format!("the plan has `{pattern}`")))
        .collect()
}
