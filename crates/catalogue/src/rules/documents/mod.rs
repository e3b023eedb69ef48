//! Rules of the documents workload: one statement file for each test, reasons for tests that a system lacks,
//! and index variants with the queries under them.

mod index;
mod operation;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use jsonathlon_schema::workload::WorkloadKind;

use super::{ParsedSection, Section, WorkloadRules, WorkloadSetup};
use crate::{
    definition::LoadMode,
    did_you_mean::did_you_mean,
    error::CatalogueError,
    sections::SectionReader,
    statement_file::{StatementFile, StatementRule},
};

pub(crate) use index::{AskDefinition, IndexDefinition};
pub use index::{Index, IndexQuery, IndexUse};
pub use operation::{Operation, QueryAnswer};

use index::PlanPatterns;

/// Name of the workload, of its section and of its folder.
pub const DOCUMENTS: &str = WorkloadKind::Documents.name();

const PLACEHOLDERS: [&str; 10] =
    ["copy", "key", "value", "path", "access", "dotted", "pointer", "braced", "steps", "statement"];

const COPY: &[&str] = &["copy"];
const BY_KEY: &[&str] = &["key"];
const NUMBER_BY_KEY: &[&str] = &["key", "value"];
const NUMBER_AT_PATH: &[&str] = &["key", "value", "path", "access", "dotted", "pointer", "braced", "steps"];

const FILES: [StatementRule; 18] = [
    StatementRule::required("create").allows_placeholders(&[]),
    StatementRule::required("load").owns_placeholder("file").allows_placeholders(&[]),
    StatementRule::optional("drain").allows_placeholders(&[]),
    StatementRule::optional("drained").single().allows_placeholders(&[]),
    StatementRule::required("plan").single().owns_placeholder("statement").allows_placeholders(&[]),
    StatementRule::required("count").single().allows_placeholders(&[]),
    StatementRule::required("sizes").single().allows_placeholders(&[]),
    StatementRule::required("drop").allows_placeholders(&[]),
    StatementRule::optional("export").single().allows_placeholders(&[]),
    StatementRule::optional("copy").allows_placeholders(COPY).needs_one_of(COPY),
    StatementRule::optional("extract").single().allows_placeholders(&[]),
    StatementRule::optional("filter").single().allows_placeholders(&[]),
    StatementRule::optional("order").single().allows_placeholders(&[]),
    StatementRule::optional("order_simple").single().allows_placeholders(&[]),
    StatementRule::optional("read").single().allows_placeholders(BY_KEY).needs_one_of(BY_KEY),
    StatementRule::optional("update_path").allows_placeholders(NUMBER_AT_PATH).needs_one_of(&["value"]),
    StatementRule::optional("version").allows_placeholders(NUMBER_BY_KEY).needs_one_of(&["value"]),
    StatementRule::optional("commit").allows_placeholders(&[]),
];

/// Tests that a system may lack; `[documents.not]` states the reasons.
const TESTS: [&str; 8] = ["export", "copy", "extract", "filter", "order", "index", "update_path", "version"];

/// The section `[documents]` of `system.toml`, as written.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SectionDefinition {
    load: LoadMode,
    /// Files and folders of the system's logs, below a session's folder.
    #[serde(default)]
    logs: Vec<String>,
    largest: Option<SizeLimit>,
    #[serde(default)]
    not: BTreeMap<String, String>,
    used: Option<Vec<String>>,
    vain: Option<Vec<String>>,
    force: Option<Vec<String>>,
    unforce: Option<Vec<String>>,
    hint: Option<String>,
    #[serde(default)]
    index: BTreeMap<String, IndexDefinition>,
    #[serde(default)]
    ask: Vec<AskDefinition>,
}

/// What a variant or a storage setting overrides in the section.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct OverlayDefinition {
    load: Option<LoadMode>,
    largest: Option<SizeLimit>,
    not: BTreeMap<String, String>,
    used: Option<Vec<String>>,
    vain: Option<Vec<String>>,
    force: Option<Vec<String>>,
    unforce: Option<Vec<String>>,
    hint: Option<String>,
    index: Option<BTreeMap<String, IndexDefinition>>,
    ask: Option<Vec<AskDefinition>>,
}

/// Largest document with which a system is tested.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SizeLimit {
    /// Ordinal number `n` of the document, which has about 2ⁿ⁺⁴ bytes.
    pub n: u32,
    /// Why larger documents are not tested.
    pub why: String,
}

/// Implementation of [`WorkloadRules`] for the documents workload.
#[derive(Debug)]
pub(crate) struct Rules;

impl WorkloadRules for Rules {
    fn name(&self) -> &'static str {
        DOCUMENTS
    }

    fn files(&self) -> &'static [StatementRule] {
        &FILES
    }

    fn placeholders(&self) -> &'static [&'static str] {
        &PLACEHOLDERS
    }

    fn allows_several_default_variants(&self) -> bool {
        true
    }

    fn keys(&self) -> &'static [&'static str] {
        &["load", "logs", "largest", "not", "used", "vain", "force", "unforce", "hint", "index", "ask"]
    }

    fn read(
        &self,
        base: &SectionReader<'_>,
        overlays: &[SectionReader<'_>],
        _: Option<ParsedSection>,
    ) -> Result<ParsedSection, CatalogueError> {
        let SectionDefinition { mut load, logs, largest, not, used, vain, force, unforce, hint, index, ask } =
            base.read()?;
        let mut merged = DocumentsSection {
            largest,
            unsupported_tests: checked_reasons(base, not)?,
            plan_patterns: PlanPatterns { used, full_scan: vain, force, unforce, hint },
            index,
            ask,
        };
        merged.check(base)?;
        // The section that defines the index variants in effect, for errors.
        let mut index_section = base;
        for section in overlays {
            let overlay: OverlayDefinition = section.read()?;
            load = overlay.load.unwrap_or(load);
            merged.largest = overlay.largest.or(merged.largest);
            merged.unsupported_tests.extend(checked_reasons(section, overlay.not)?);
            let OverlayDefinition { used, vain, force, unforce, hint, .. } = overlay;
            merged.plan_patterns = PlanPatterns { used, full_scan: vain, force, unforce, hint }
                .with_defaults(&merged.plan_patterns);
            if let Some(index) = overlay.index {
                merged.index = index;
                index_section = section;
            }
            merged.ask = overlay.ask.unwrap_or(merged.ask);
            merged.check(section)?;
        }
        if let Some((keys, message)) =
            index::find_incomplete_query(&merged.index, &merged.ask, &merged.plan_patterns)
        {
            let keys: Vec<&str> = keys.iter().map(String::as_str).collect();
            return Err(index_section.error(&keys, message));
        }
        Ok(ParsedSection::new(load, logs, Section::Documents(merged)))
    }
}

fn checked_reasons(
    section: &SectionReader<'_>,
    not: BTreeMap<String, String>,
) -> Result<BTreeMap<String, String>, CatalogueError> {
    for (test, reason) in &not {
        if !TESTS.contains(&test.as_str()) {
            let near = did_you_mean(test, TESTS);
            let message = format!("unknown test{near}; allowed: {}", TESTS.join(", "));
            return Err(section.error(&["not", test], message));
        }
        if reason.trim().is_empty() {
            return Err(section.error(&["not", test], "is empty"));
        }
    }
    Ok(not)
}

/// Values of the section that apply after all overrides. Queries that are asked under every index are stored
/// once.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct DocumentsSection {
    largest: Option<SizeLimit>,
    #[serde(rename = "not")]
    unsupported_tests: BTreeMap<String, String>,
    #[serde(rename = "ways")]
    plan_patterns: PlanPatterns,
    index: BTreeMap<String, IndexDefinition>,
    ask: Vec<AskDefinition>,
}

impl DocumentsSection {
    fn check(&self, section: &SectionReader<'_>) -> Result<(), CatalogueError> {
        self.plan_patterns.check(|key, message| section.error(&[key], message))?;
        index::check_indexes(section, &self.index)?;
        index::check_queries(section, &["ask"], &self.ask)
    }
}

/// Setup of the documents workload on one configuration.
#[derive(Debug, Clone, PartialEq)]
pub struct DocumentsSetup {
    /// How documents are loaded into the system.
    pub load: LoadMode,
    /// Largest document with which the system is tested. `None` if there is no limit.
    pub largest: Option<SizeLimit>,
    /// Tests that the system lacks, each with the reason.
    pub unsupported_tests: BTreeMap<String, String>,
    /// Index variants, in name order.
    pub indexes: Vec<Index>,
    /// Statement files by name (`create`, `copy` …).
    pub files: BTreeMap<String, StatementFile>,
}

impl DocumentsSetup {
    /// Extracts the setup of this workload. `None` if `setup` belongs to another workload.
    pub(crate) fn from_setup(setup: &WorkloadSetup) -> Option<Self> {
        let Section::Documents(section) = setup.section.clone() else { return None };
        let DocumentsSection { largest, unsupported_tests, plan_patterns, index, ask } = section;
        let indexes = index::complete_indexes(index, &ask, &plan_patterns);
        Some(Self { load: setup.load, largest, unsupported_tests, indexes, files: setup.files.clone() })
    }
}

impl DocumentsSetup {
    /// Returns why a test is not done: the folder's reason, or that the folder has no statement for it.
    /// `None` if the test is done.
    #[must_use]
    pub fn skip_reason(&self, test: &str) -> Option<String> {
        if let Some(reason) = self.unsupported_tests.get(test) {
            return Some(reason.clone());
        }
        let is_present = match test {
            "index" => !self.indexes.is_empty(),
            file => !super::statements(&self.files, file).is_empty(),
        };
        (!is_present).then(|| "its folder has no statement for this".to_owned())
    }

    /// Returns the index that a plain run builds. `None` if there are no index variants.
    #[must_use]
    pub fn best_index(&self) -> Option<&Index> {
        self.indexes.iter().find(|index| index.best)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_are_files_or_indexes() {
        for test in TESTS {
            assert!(test == "index" || FILES.iter().any(|file| file.name == test), "{test}");
        }
    }
}
