//! The rules of the analytics workload: six questions over the documents, promises about their plans, and answers that
//! are declared approximate or another question's.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{Said, WorkloadRules};
use crate::catalogue::{
    configuration::{Configuration, StatementFile},
    definition::LoadMode,
    error::CatalogueError,
    sections::Section,
    statements::StatementRule,
};

/// Its name.
pub const ANALYTICS: &str = "analytics";

/// The questions: what `[analytics.questions]` may name.
const QUESTIONS: [&str; 6] = ["q1", "q2", "q3", "q4", "q5", "q6"];

const FILES: [StatementRule; 18] = [
    StatementRule::required("create"),
    StatementRule::required("load").holding("file"),
    StatementRule::optional("index"),
    StatementRule::optional("drain"),
    StatementRule::optional("drained").single(),
    StatementRule::optional("compact"),
    StatementRule::required("plan").single().holding("statement"),
    StatementRule::required("count").single(),
    StatementRule::required("sizes").single(),
    StatementRule::optional("counters").single(),
    // What others are read by need not be a database that keeps documents.
    StatementRule::required("read_back").single().holding("keys").unless_reference(),
    StatementRule::required("drop"),
    StatementRule::required("q1").single(),
    StatementRule::required("q2").single(),
    StatementRule::required("q3").single(),
    StatementRule::required("q4").single(),
    StatementRule::required("q5").single(),
    StatementRule::required("q6").single(),
];

/// The section as it is written.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SectionDefinition {
    load: LoadMode,
    #[serde(default)]
    suspects: Vec<String>,
    /// Where the system keeps its logs, below a session's folder.
    #[serde(default)]
    logs: Vec<String>,
    #[serde(default)]
    questions: BTreeMap<String, QuestionDefinition>,
}

/// What a variant or a storage setting says over it.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct OverlayDefinition {
    #[serde(default)]
    questions: BTreeMap<String, QuestionDefinition>,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct QuestionDefinition {
    approximate: Option<Vec<usize>>,
    expect: Option<Vec<String>>,
    forbid: Option<Vec<String>>,
    other_question: Option<String>,
}

/// The rules themselves.
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

    fn keys(&self) -> &'static [&'static str] {
        &["load", "suspects", "logs", "questions"]
    }

    fn short_keys(&self) -> &'static [&'static str] {
        &["questions"]
    }

    fn read(&self, sections: &[Section<'_>]) -> Result<Said, CatalogueError> {
        let Some((base, over)) = sections.split_first() else { return Ok(Said::default()) };
        let SectionDefinition { load, suspects, logs, questions } = base.read()?;
        let mut rules = BTreeMap::new();
        lay(base, questions, &mut rules)?;
        for section in over {
            let OverlayDefinition { questions } = section.read()?;
            lay(section, questions, &mut rules)?;
        }
        Ok(Said {
            load: Some(load),
            logs,
            rules: serde_json::json!({ "suspects": suspects, "questions": rules }),
            ..Said::default()
        })
    }
}

/// Lays the rules of one section over those below it, key by key.
fn lay(
    section: &Section<'_>,
    questions: BTreeMap<String, QuestionDefinition>,
    rules: &mut BTreeMap<String, QuestionRules>,
) -> Result<(), CatalogueError> {
    for (question, over) in questions {
        if !QUESTIONS.contains(&question.as_str()) {
            let message = format!("there is no such question; there is {}", QUESTIONS.join(", "));
            return Err(section.error(&["questions", &question], message));
        }
        let rule = rules.entry(question.clone()).or_default();
        if let Some(columns) = over.approximate {
            rule.approximate = columns;
        }
        if over.other_question.is_some() {
            rule.other_question = over.other_question;
        }
        super::lay_patterns(
            [over.expect, over.forbid],
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

/// The analytics workload on one configuration.
#[derive(Debug, Clone, PartialEq)]
pub struct Analytics {
    /// How documents get in.
    pub load: LoadMode,
    /// Document traits, beyond the standard ones, with which a document is offered on its own.
    pub suspects: Vec<String>,
    /// Files and folders of logs (written ahead, or for replication), below a session's folder; names that end in `*`
    /// stand for all that begin so.
    pub logs: Vec<String>,
    /// What is declared or demanded per question (`q1` …).
    pub questions: BTreeMap<String, QuestionRules>,
    /// The statement files by name (`create`, `q1` …).
    pub files: BTreeMap<String, StatementFile>,
}

impl Configuration {
    /// The analytics workload, if the system has it.
    pub fn analytics(&self) -> Option<Analytics> {
        #[derive(Deserialize)]
        struct OwnRules {
            suspects: Vec<String>,
            questions: BTreeMap<String, QuestionRules>,
        }
        let part = self.parts.get(ANALYTICS)?;
        let OwnRules { suspects, questions } = part.read_rules().ok()?;
        Some(Analytics {
            load: part.load?,
            suspects,
            logs: part.logs.clone(),
            questions,
            files: part.files.clone(),
        })
    }
}

impl Analytics {
    /// The statements of a file, in order; none where an optional file is
    /// missing or holds only comments.
    pub fn statements(&self, name: &str) -> &[String] {
        super::statements(&self.files, name)
    }

    /// The statement of a file that holds exactly one, such as `q1` or `plan`.
    pub fn statement(&self, name: &str) -> Option<&str> {
        super::statement(&self.files, name)
    }
}

/// What is declared or demanded about one question.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct QuestionRules {
    /// Columns of the answer, counted from 0, that are declared approximate.
    pub approximate: Vec<usize>,
    /// Patterns that the text of the plan must contain.
    pub expect: Vec<String>,
    /// Patterns that it must not contain.
    pub forbid: Vec<String>,
    /// Why the answer is not the question's: it is timed and shown, and neither compared nor ranked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub other_question: Option<String>,
}

impl QuestionRules {
    /// What the text of a plan violates, each in a few words; none is good.
    pub fn violations(&self, plan: &str) -> Vec<String> {
        super::violations(&self.expect, &self.forbid, plan)
    }
}
