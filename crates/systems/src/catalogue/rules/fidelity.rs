//! The rules of the fidelity workload: both ways into a table of one document, and both ways out.

use serde::{Deserialize, Serialize};

use super::{Said, WorkloadRules};
use crate::catalogue::{
    configuration::Configuration, definition::LoadMode, error::CatalogueError, sections::Section,
    statements::StatementRule,
};

/// Its name.
pub const FIDELITY: &str = "fidelity";

const DOCUMENT: &[&str] = &["document"];
const MEMBER: &[&str] = &["member"];

const FILES: [StatementRule; 7] = [
    StatementRule::required("create").filled(&[]),
    StatementRule::required("load").holding("file").filled(&[]),
    StatementRule::optional("insert").single().filled(DOCUMENT).naming(DOCUMENT),
    StatementRule::required("read").single().filled(&[]),
    StatementRule::optional("read_hex").single().filled(&[]),
    StatementRule::optional("value").single().filled(MEMBER).naming(MEMBER),
    StatementRule::required("drop").filled(&[]),
];

/// The section as it is written.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SectionDefinition {
    load: LoadMode,
    /// Whether the bulk path takes a document a line, so that one of several lines cannot be offered.
    #[serde(default)]
    one_line: bool,
    #[serde(default)]
    extracted: Extracted,
}

/// What a variant or a storage setting says over it.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct OverlayDefinition {
    load: Option<LoadMode>,
    one_line: Option<bool>,
    extracted: Option<Extracted>,
}

/// What `value` answers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Extracted {
    /// A value of the system's own: the content of a string, NULL for null, and JSON text of objects and arrays.
    #[default]
    Value,
    /// JSON text of the value.
    Json,
    /// JSON text of an object with the one member.
    Member,
}

/// What the section says, as it is kept.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
struct OwnRules {
    one_line: bool,
    extracted: Extracted,
}

/// The rules themselves.
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

    fn own_variants(&self) -> bool {
        true
    }

    fn several_defaults(&self) -> bool {
        true
    }

    fn keys(&self) -> &'static [&'static str] {
        &["load", "one_line", "extracted"]
    }

    fn read(&self, sections: &[Section<'_>]) -> Result<Said, CatalogueError> {
        let Some((base, over)) = sections.split_first() else { return Ok(Said::default()) };
        let SectionDefinition { mut load, one_line, extracted } = base.read()?;
        let mut own = OwnRules { one_line, extracted };
        for section in over {
            let written: OverlayDefinition = section.read()?;
            load = written.load.unwrap_or(load);
            own.one_line = written.one_line.unwrap_or(own.one_line);
            own.extracted = written.extracted.unwrap_or(own.extracted);
        }
        Ok(Said { load: Some(load), rules: serde_json::json!(own), ..Said::default() })
    }
}

/// The fidelity workload on one configuration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fidelity {
    /// How a document gets in by the bulk path.
    pub load: LoadMode,
    /// Whether that path takes a document a line.
    pub one_line: bool,
    /// What extraction answers.
    pub extracted: Extracted,
    /// Whether a document can be given as a parameter.
    pub inserts: bool,
    /// Whether a member can be extracted.
    pub extracts: bool,
    /// Whether a document that is not UTF-8 can be read as digits.
    pub reads_hex: bool,
}

impl Configuration {
    /// The fidelity workload, if the system has it in this variant.
    pub fn fidelity(&self) -> Option<Fidelity> {
        let part = self.parts.get(FIDELITY)?;
        let OwnRules { one_line, extracted } = part.read_rules().ok()?;
        let has = |name: &str| !part.statements(name).is_empty();
        let (inserts, extracts, reads_hex) = (has("insert"), has("value"), has("read_hex"));
        Some(Fidelity { load: part.load?, one_line, extracted, inserts, extracts, reads_hex })
    }
}
