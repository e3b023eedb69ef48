//! What a workload's part of a system's folder may say.
//!
//! A workload has a section of `system.toml` and a folder of statement files, both of its name, and one file here that
//! says what they may hold. To add one, write that file and name it in [`BUILT_IN`].

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

/// The workloads that the program knows.
const BUILT_IN: &[&dyn WorkloadRules] =
    &[&analytics::Rules, &serving::Rules, &documents::Rules, &questions::Rules, &fidelity::Rules];

/// The rules of one workload.
pub trait WorkloadRules: Debug + Send + Sync {
    /// Its name: that of its section and of its folder.
    fn name(&self) -> &'static str;

    /// Its statement files.
    fn files(&self) -> &'static [StatementRule];

    /// Placeholders that the run fills in its statements alone, besides those of [`RUN_TIME`].
    fn placeholders(&self) -> &'static [&'static str] {
        &[]
    }

    /// Whether it has variants of its own: those that name it in `workloads`, one of them the default. Other workloads
    /// share the variants that name none.
    fn own_variants(&self) -> bool {
        false
    }

    /// Whether several of its own variants may be the default, all of which are part of a plain run.
    fn several_defaults(&self) -> bool {
        false
    }

    /// The keys of its section.
    fn keys(&self) -> &'static [&'static str];

    /// Those of them that a variant or a storage setting may state without naming the section.
    fn short_keys(&self) -> &'static [&'static str] {
        &[]
    }

    /// Whether variants and storage settings may say something over its section, under its name.
    fn has_overlays(&self) -> bool {
        true
    }

    /// Reads the section, and what the variant's and the storage setting's say over it.
    ///
    /// # Errors
    /// One of them says something that is not allowed; [`Section::read`] and [`Section::error`] name file and line.
    fn read(&self, sections: &[Section<'_>]) -> Result<Said, CatalogueError>;
}

/// What a section says.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Said {
    /// How documents get in; none for a workload that loads none.
    pub load: Option<LoadMode>,
    /// Files and folders of logs, below a session's folder; names that end in `*` stand for all that begin so.
    pub logs: Vec<String>,
    /// Everything else that decides what is measured, an object; part of the configuration's digest.
    pub rules: Value,
    /// Further placeholders that the run fills, by the statement file that may hold them.
    pub placeholders: BTreeMap<String, Vec<String>>,
    /// Durability tiers, the default first.
    pub tiers: Vec<Tier>,
}

/// A workload on one configuration.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Part {
    /// How documents get in; none for a workload that loads none.
    pub load: Option<LoadMode>,
    /// Files and folders of logs, below a session's folder; names that end in `*` stand for all that begin so.
    pub logs: Vec<String>,
    /// What else the section says, as the workload's rules understand it.
    pub rules: Value,
    /// The statement files by name.
    pub files: BTreeMap<String, StatementFile>,
}

/// Statement files by name.
type Files = BTreeMap<String, StatementFile>;

/// The statements of a file, in order; none where there is no such file.
fn statements<'a>(files: &'a Files, name: &str) -> &'a [String] {
    files.get(name).map_or(&[], |file| file.statements.as_slice())
}

/// The statement of a file that holds exactly one.
fn statement<'a>(files: &'a Files, name: &str) -> Option<&'a str> {
    match statements(files, name) {
        [one] => Some(one),
        _ => None,
    }
}

impl Part {
    /// The statements of a file, in order; none where an optional file is missing or holds only comments.
    pub fn statements(&self, name: &str) -> &[String] {
        statements(&self.files, name)
    }

    /// The statement of a file that holds exactly one.
    pub fn statement(&self, name: &str) -> Option<&str> {
        statement(&self.files, name)
    }

    /// [`Self::rules`] as the workload's own type.
    ///
    /// # Errors
    /// They are not of that type: they are another workload's.
    pub fn read_rules<T: DeserializeOwned>(&self) -> Result<T, serde_json::Error> {
        T::deserialize(&self.rules)
    }

    /// What of it decides what is measured.
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

/// The workloads that folders may have parts for.
#[derive(Debug, Clone)]
pub(crate) struct Workloads(Vec<&'static dyn WorkloadRules>);

impl Workloads {
    /// Those of the program, and `further` ones.
    pub(crate) fn with(further: &[&'static dyn WorkloadRules]) -> Self {
        Self(BUILT_IN.iter().chain(further).copied().collect())
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &'static dyn WorkloadRules> {
        self.0.iter().copied()
    }

    pub(crate) fn names(&self) -> Vec<&'static str> {
        self.iter().map(|rules| rules.name()).collect()
    }

    /// All placeholders that only a run can replace: a folder may not define them.
    pub(crate) fn placeholders(&self) -> Vec<&'static str> {
        RUN_TIME.into_iter().chain(self.iter().flat_map(|rules| rules.placeholders()).copied()).collect()
    }

    /// ` (`x` is a rule of [other])`, where another workload's section has such a key; else nothing.
    pub(crate) fn owner_of_key(&self, key: &str, workload: &str) -> String {
        let owner = self.iter().find(|rules| rules.name() != workload && rules.keys().contains(&key));
        owner.map(|rules| format!(" (`{key}` is a rule of [{}])", rules.name())).unwrap_or_default()
    }

    /// The nearest name of a statement file, or the workload that has such a file.
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

/// Lays the patterns of one section over those below it: those that a plan must contain, and those that it must not.
/// `error` makes an error of the keys of a pattern that is none.
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

/// What the text of a plan violates, each in a few words; none is good.
fn violations(expect: &[String], forbid: &[String], plan: &str) -> Vec<String> {
    let found = |pattern: &str| patterns::is_found(pattern, plan);
    let missing = expect.iter().filter(|pattern| !found(pattern));
    let forbidden = forbid.iter().filter(|pattern| found(pattern));
    missing
        .map(|pattern| format!("the plan lacks `{pattern}`"))
        .chain(forbidden.map(|pattern| format!("the plan has `{pattern}`")))
        .collect()
}
