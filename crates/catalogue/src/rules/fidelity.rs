//! Rules of the fidelity workload: two ways to write one document into a table, and two ways to read it.

use serde::{Deserialize, Serialize};

use jsonathlon_schema::workload::WorkloadKind;

use super::{ParsedSection, Section, WorkloadRules, WorkloadSetup};
use crate::{
    definition::LoadMode, error::CatalogueError, sections::SectionReader, statement_file::StatementRule,
};

/// Name of the workload, of its section and of its folder.
pub const FIDELITY: &str = WorkloadKind::Fidelity.name();

const DOCUMENT: &[&str] = &["document"];
const MEMBER: &[&str] = &["member"];

const FILES: [StatementRule; 7] = [
    StatementRule::required("create").allows(&[]),
    StatementRule::required("load").exclusive("file").allows(&[]),
    StatementRule::optional("insert").single().allows(DOCUMENT).needs_one_of(DOCUMENT),
    StatementRule::required("read").single().allows(&[]),
    StatementRule::optional("read_hex").single().allows(&[]),
    StatementRule::optional("value").single().allows(MEMBER).needs_one_of(MEMBER),
    StatementRule::required("drop").allows(&[]),
];

/// The section `[fidelity]` of `system.toml`, as written.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SectionDefinition {
    load: LoadMode,
    /// Whether the bulk path takes one document per line, so that a document of several lines cannot be
    /// loaded by it.
    #[serde(default)]
    one_line: bool,
    #[serde(default)]
    extracted: ExtractedForm,
}

/// What a variant or a storage setting overrides in the section.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct OverlayDefinition {
    load: Option<LoadMode>,
    one_line: Option<bool>,
    extracted: Option<ExtractedForm>,
}

/// What the statement `value` returns.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ExtractedForm {
    /// A value of the system's own types: the content of a string, NULL for null, and JSON text of objects
    /// and arrays.
    #[default]
    Value,
    /// JSON text of the member's value.
    Json,
    /// JSON text of an object that holds only the member.
    Member,
}

/// Values of the section that apply after all overrides.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct FidelitySection {
    one_line: bool,
    extracted: ExtractedForm,
}

/// Implementation of [`WorkloadRules`] for the fidelity workload.
#[derive(Debug)]
pub(crate) struct Rules;

impl WorkloadRules for Rules {
    fn name(&self) -> &'static str {
        FIDELITY
    }

    fn files(&self) -> &'static [StatementRule] {
        &FILES
    }

    fn placeholders(&self) -> &'static [&'static str] {
        &["document", "member"]
    }

    fn allows_several_defaults(&self) -> bool {
        true
    }

    fn keys(&self) -> &'static [&'static str] {
        &["load", "one_line", "extracted"]
    }

    fn read(
        &self,
        base: &SectionReader<'_>,
        overlays: &[SectionReader<'_>],
    ) -> Result<ParsedSection, CatalogueError> {
        let SectionDefinition { mut load, one_line, extracted } = base.read()?;
        let mut merged = FidelitySection { one_line, extracted };
        for section in overlays {
            let overlay: OverlayDefinition = section.read()?;
            load = overlay.load.unwrap_or(load);
            merged.one_line = overlay.one_line.unwrap_or(merged.one_line);
            merged.extracted = overlay.extracted.unwrap_or(merged.extracted);
        }
        Ok(ParsedSection::new(load, Vec::new(), Section::Fidelity(merged)))
    }
}

/// Setup of the fidelity workload on one configuration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fidelity {
    /// How a document is loaded by the bulk path.
    pub load: LoadMode,
    /// Whether the bulk path takes one document per line, so that a document of several lines cannot be
    /// loaded by it.
    pub one_line: bool,
    /// What the statement `value` returns.
    pub extracted_form: ExtractedForm,
    /// Whether a document can be passed as a parameter: there is a statement `insert`.
    pub inserts: bool,
    /// Whether a member can be extracted: there is a statement `value`.
    pub extracts: bool,
    /// Whether a document that is not UTF-8 can be read as hexadecimal digits: there is a statement
    /// `read_hex`.
    pub reads_hex: bool,
}

impl Fidelity {
    /// Returns the setup that a workload's part of a configuration holds. `None` if it is another workload's.
    pub(crate) fn from_setup(setup: &WorkloadSetup) -> Option<Self> {
        let Section::Fidelity(section) = setup.section else { return None };
        let FidelitySection { one_line, extracted: extracted_form } = section;
        let has_file = |name: &str| !setup.statements(name).is_empty();
        let (inserts, extracts, reads_hex) = (has_file("insert"), has_file("value"), has_file("read_hex"));
        Some(Self { load: setup.load, one_line, extracted_form, inserts, extracts, reads_hex })
    }
}
