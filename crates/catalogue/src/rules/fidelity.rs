//! Rules of the fidelity workload, which tests whether documents come back unchanged. Each is written in two
//! ways (bulk load, statement parameter) and read in two ways (whole, value of one member).

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
    StatementRule::required("create").allows_placeholders(&[]),
    StatementRule::required("load").owns_placeholder("file").allows_placeholders(&[]),
    StatementRule::optional("insert").single().allows_placeholders(DOCUMENT).needs_one_of(DOCUMENT),
    StatementRule::required("read").single().allows_placeholders(&[]),
    StatementRule::optional("read_hex").single().allows_placeholders(&[]),
    StatementRule::optional("value").single().allows_placeholders(MEMBER).needs_one_of(MEMBER),
    StatementRule::required("drop").allows_placeholders(&[]),
];

/// The section `[fidelity]` of `system.toml`, as written.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SectionDefinition {
    load: LoadMode,
    /// Whether the bulk path takes one document per line, so it cannot load a document that spans several
    /// lines.
    #[serde(default, rename = "one_line")]
    one_document_per_line: bool,
    #[serde(default)]
    extracted: ExtractedForm,
}

/// What a variant or a storage setting overrides in the section.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct OverlayDefinition {
    load: Option<LoadMode>,
    #[serde(rename = "one_line")]
    one_document_per_line: Option<bool>,
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
    #[serde(rename = "one_line")]
    one_document_per_line: bool,
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

    fn allows_several_default_variants(&self) -> bool {
        true
    }

    fn keys(&self) -> &'static [&'static str] {
        &["load", "one_line", "extracted"]
    }

    fn read(
        &self,
        base: &SectionReader<'_>,
        overlays: &[SectionReader<'_>],
        _: Option<ParsedSection>,
    ) -> Result<ParsedSection, CatalogueError> {
        let SectionDefinition { mut load, one_document_per_line, extracted } = base.read()?;
        let mut merged = FidelitySection { one_document_per_line, extracted };
        for section in overlays {
            let overlay: OverlayDefinition = section.read()?;
            load = overlay.load.unwrap_or(load);
            merged.one_document_per_line =
                overlay.one_document_per_line.unwrap_or(merged.one_document_per_line);
            merged.extracted = overlay.extracted.unwrap_or(merged.extracted);
        }
        Ok(ParsedSection::new(load, Vec::new(), Section::Fidelity(merged)))
    }
}

/// Setup of the fidelity workload on one configuration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FidelitySetup {
    /// How a document is loaded by the bulk path.
    pub load: LoadMode,
    /// Whether the bulk path takes one document per line, so it cannot load a document that spans several
    /// lines.
    pub one_document_per_line: bool,
    /// What the statement `value` returns.
    pub extracted_form: ExtractedForm,
    /// Whether a document can be passed as a parameter: there is a statement `insert`.
    pub can_insert: bool,
    /// Whether a member can be extracted: there is a statement `value`.
    pub can_extract: bool,
    /// Whether a document that is not UTF-8 can be read as hexadecimal digits: there is a statement
    /// `read_hex`.
    pub can_read_hex: bool,
}

impl FidelitySetup {
    /// Extracts the setup of this workload. `None` if `setup` belongs to another workload.
    pub(crate) fn from_setup(setup: &WorkloadSetup) -> Option<Self> {
        let Section::Fidelity(section) = setup.section else { return None };
        let FidelitySection { one_document_per_line, extracted: extracted_form } = section;
        let has_file = |name: &str| !setup.statements(name).is_empty();
        let (can_insert, can_extract, can_read_hex) =
            (has_file("insert"), has_file("value"), has_file("read_hex"));
        Some(Self {
            load: setup.load,
            one_document_per_line,
            extracted_form,
            can_insert,
            can_extract,
            can_read_hex,
        })
    }
}
