//! Rules of the analytics workload: six questions over the documents, requirements on their plans, and what a
//! system declares about its answers.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use jsonathlon_schema::workload::WorkloadKind;

use super::{ParsedSection, Section, WorkloadRules, WorkloadSetup};
use crate::{
    definition::LoadMode,
    error::CatalogueError,
    sections::SectionReader,
    statement_file::{StatementFile, StatementRule},
};

/// Name of the workload, of its section and of its folder.
pub const ANALYTICS: &str = WorkloadKind::Analytics.name();

/// Names of the questions, which `[analytics.questions]` may use.
const QUESTIONS: [&str; 6] = ["q1", "q2", "q3", "q4", "q5", "q6"];

/// Rules for the statement files, those of the questions last.
pub(super) const FILES: [StatementRule; 18] = [
    StatementRule::required("create"),
    StatementRule::required("load").owns_placeholder("file"),
    StatementRule::optional("index"),
    StatementRule::optional("drain"),
    StatementRule::optional("drained").single(),
    StatementRule::optional("compact"),
    StatementRule::required("plan").single().owns_placeholder("statement"),
    StatementRule::required("count").single(),
    StatementRule::required("sizes").single(),
    StatementRule::optional("counters").single(),
    // A yardstick (`reference = true`) may keep no documents that could be read back.
    StatementRule::required("read_back").single().owns_placeholder("keys").unless_reference(),
    StatementRule::required("drop"),
    StatementRule::required("q1").single(),
    StatementRule::required("q2").single(),
    StatementRule::required("q3").single(),
    StatementRule::required("q4").single(),
    StatementRule::required("q5").single(),
    StatementRule::required("q6").single(),
];

/// The section `[analytics]` of `system.toml`, as written.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SectionDefinition {
    load: LoadMode,
    #[serde(default)]
    suspects: Vec<String>,
    /// Files and folders of the system's logs, below a session's folder.
    #[serde(default)]
    logs: Vec<String>,
    #[serde(default)]
    questions: BTreeMap<String, QuestionDefinition>,
}

/// What a variant or a storage setting overrides in the section.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct OverlayDefinition {
    #[serde(default)]
    questions: BTreeMap<String, QuestionDefinition>,
}

/// The table `[analytics.questions.QUESTION]`, as written. A missing key leaves the value of the
/// overridden section.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct QuestionDefinition {
    approximate: Option<Vec<usize>>,
    expect: Option<Vec<String>>,
    forbid: Option<Vec<String>>,
    other_question: Option<String>,
}

/// Implementation of [`WorkloadRules`] for the analytics workload.
#[derive(Debug)]
pub(crate) struct Rules;

impl WorkloadRules for Rules {
    fn name(&self) -> &'static str {
        ANALYTICS
    }

    fn files(&self) -> &'static [StatementRule] {
        &FILES
    }

    fn placeholders(&self) -> &'static [&'static str] {
        &["keys", "statement"]
    }

    fn has_own_variants(&self) -> bool {
        false
    }

    fn keys(&self) -> &'static [&'static str] {
        &["load", "suspects", "logs", "questions"]
    }

    fn unprefixed_keys(&self) -> &'static [&'static str] {
        &["questions"]
    }

    fn read(
        &self,
        base: &SectionReader<'_>,
        overlays: &[SectionReader<'_>],
        _: Option<ParsedSection>,
    ) -> Result<ParsedSection, CatalogueError> {
        let SectionDefinition { load, suspects, logs, questions } = base.read()?;
        let mut rules = BTreeMap::new();
        apply_overlay(base, questions, &mut rules)?;
        for section in overlays {
            let OverlayDefinition { questions } = section.read()?;
            apply_overlay(section, questions, &mut rules)?;
        }
        Ok(ParsedSection::new(
            load,
            logs,
            Section::Analytics(AnalyticsSection { suspects, questions: rules }),
        ))
    }
}

/// Values of the section that apply after all overrides.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct AnalyticsSection {
    pub(super) suspects: Vec<String>,
    pub(super) questions: BTreeMap<String, QuestionRules>,
}

/// Overrides `rules` with what one section states, key by key.
fn apply_overlay(
    section: &SectionReader<'_>,
    questions: BTreeMap<String, QuestionDefinition>,
    rules: &mut BTreeMap<String, QuestionRules>,
) -> Result<(), CatalogueError> {
    for (question, overlay) in questions {
        if !QUESTIONS.contains(&question.as_str()) {
            let message = format!("unknown question; allowed: {}", QUESTIONS.join(", "));
            return Err(section.error(&["questions", &question], message));
        }
        let rule = rules.entry(question.clone()).or_default();
        if let Some(columns) = overlay.approximate {
            rule.approximate = columns;
        }
        if overlay.other_question.is_some() {
            rule.other_question = overlay.other_question;
        }
        super::apply_pattern_overlay(
            [overlay.expect, overlay.forbid],
            [&mut rule.expect, &mut rule.forbid],
            |keys, message| {
                let path: Vec<&str> =
                    ["questions", &question].into_iter().chain(keys.iter().copied()).collect();
                section.error(&path, message)
            },
        )?;
    }
    Ok(())
}

/// Setup of the analytics workload on one configuration.
#[derive(Debug, Clone, PartialEq)]
pub struct AnalyticsSetup {
    /// How documents are loaded into the system.
    pub load: LoadMode,
    /// Traits, beyond the standard ones, that make a document a suspect, which is loaded alone.
    pub suspects: Vec<String>,
    /// Files and folders of logs (WAL or replication), below a session's folder. A name that ends in `*`
    /// stands for all names with this prefix.
    pub logs: Vec<String>,
    /// Rules per question (`q1` …); questions without rules are missing.
    pub questions: BTreeMap<String, QuestionRules>,
    /// Statement files by name (`create`, `q1` …).
    pub files: BTreeMap<String, StatementFile>,
}

impl AnalyticsSetup {
    /// Extracts the setup of this workload. `None` if `setup` belongs to another workload.
    pub(crate) fn from_setup(setup: &WorkloadSetup) -> Option<Self> {
        let Section::Analytics(AnalyticsSection { suspects, questions }) = setup.section.clone() else {
            return None;
        };
        Some(Self {
            load: setup.load,
            suspects,
            logs: setup.logs.clone(),
            questions,
            files: setup.files.clone(),
        })
    }
}

impl AnalyticsSetup {
    /// Returns the statements of a file, in order. Empty if an optional file is missing or holds only
    /// comments.
    pub fn statements(&self, name: &str) -> &[String] {
        super::statements(&self.files, name)
    }

    /// Returns the statement of a file that holds exactly one, such as `q1` or `plan`. `None` for other
    /// files.
    pub fn statement(&self, name: &str) -> Option<&str> {
        super::statement(&self.files, name)
    }
}

/// Requirements on the plan of one question, and declarations about its answer.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct QuestionRules {
    /// Columns of the answer, counted from 0, that are declared approximate.
    pub approximate: Vec<usize>,
    /// Regular expressions that must match the text of the plan.
    pub expect: Vec<String>,
    /// Regular expressions that must not match the text of the plan.
    pub forbid: Vec<String>,
    /// Why the system answers another question instead: the answer is timed and shown, but neither compared
    /// nor ranked. `None` if the question itself is answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub other_question: Option<String>,
}

impl QuestionRules {
    /// Describes each requirement that the text of a plan does not meet. Empty if it meets all of them.
    pub fn violations(&self, plan: &str) -> Vec<String> {
        super::violations(&self.expect, &self.forbid, plan)
    }
}
