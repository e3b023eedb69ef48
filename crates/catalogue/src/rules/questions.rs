//! Rules of the questions workload: how a user's own documents are loaded, and templates from which first
//! questions are written.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use jsonathlon_schema::{first_question::FirstQuestionKind, workload::WorkloadKind};

use super::{
    ParsedSection, Section, WorkloadRules, WorkloadSetup,
    first_question::{FirstQuestion, FirstQuestionError, time_placeholders},
    question_paths::{Inexact, PathNotation, check_control, check_notation, replace_pairs, spell_controls},
};
use crate::{
    definition::LoadMode, error::CatalogueError, sections::SectionReader, statement_file::StatementRule,
    template,
};

/// Name of the workload and of its section.
pub const QUESTIONS: &str = WorkloadKind::Questions.name();

/// Prefix of the names of statement files that are templates.
const TEMPLATE: &str = "new_";

/// Suffix of the names of templates for paths about which the usual template would not ask exactly.
const EXACT: &str = "_exact";

const PATH: &[&str] = &["path"];
const MEMBERS: &[&str] = &["path", "path_members"];

const FILES: [StatementRule; 31] = [
    StatementRule::required("create").allows_placeholders(&[]),
    StatementRule::required("load").owns_placeholder("file").allows_placeholders(&[]),
    StatementRule::optional("index").allows_placeholders(&[]),
    StatementRule::optional("drain").allows_placeholders(&[]),
    StatementRule::optional("drained").single().allows_placeholders(&[]),
    StatementRule::optional("compact").allows_placeholders(&[]),
    StatementRule::required("plan").single().owns_placeholder("statement").allows_placeholders(&[]),
    StatementRule::required("count").single().allows_placeholders(&[]),
    StatementRule::required("sizes").single().allows_placeholders(&[]),
    StatementRule::optional("counters").single().allows_placeholders(&[]),
    // Makes a session reject changes, before questions are asked.
    StatementRule::optional("read_only").allows_placeholders(&[]),
    StatementRule::optional("read_back").single().owns_placeholder("rows").allows_placeholders(&[]),
    StatementRule::required("drop").allows_placeholders(&[]),
    template_rule("new_count", PATH, PATH),
    template_rule("new_top", PATH, PATH),
    template_rule("new_sum", PATH, PATH),
    template_rule("new_filter", &["path", "value"], &["value"]),
    template_rule("new_distinct", PATH, PATH),
    template_rule("new_elements", &["path", "element"], PATH),
    template_rule("new_dates", &["path", "pattern", "glob", "length"], PATH),
    template_rule("new_epochs", &["path", "bucket", "bucket_us", "from", "until"], PATH),
    template_rule("new_pairs", &["path", "second"], &["second"]),
    template_rule("new_count_exact", MEMBERS, MEMBERS),
    template_rule("new_top_exact", MEMBERS, MEMBERS),
    template_rule("new_sum_exact", MEMBERS, MEMBERS),
    template_rule("new_filter_exact", &["path", "path_members", "value"], MEMBERS),
    template_rule("new_distinct_exact", MEMBERS, MEMBERS),
    template_rule("new_elements_exact", &["path", "path_members", "element", "element_members"], MEMBERS),
    template_rule("new_dates_exact", &["path", "path_members", "pattern", "glob", "length"], MEMBERS),
    template_rule(
        "new_epochs_exact",
        &["path", "path_members", "bucket", "bucket_us", "from", "until"],
        MEMBERS,
    ),
    template_rule(
        "new_pairs_exact",
        &["path", "path_members", "second", "second_members"],
        &["second", "second_members"],
    ),
];

/// Rule of a template, which may use the placeholders `allowed` and must use one of `needed`.
const fn template_rule(
    name: &'static str,
    allowed: &'static [&'static str],
    needed: &'static [&'static str],
) -> StatementRule {
    StatementRule::optional(name).single().allows_placeholders(allowed).needs_one_of(needed)
}

/// The section `[questions]` of `system.toml`, as written.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SectionDefinition {
    load: LoadMode,
    #[serde(default)]
    suspects: Vec<String>,
    #[serde(default)]
    logs: Vec<String>,
    path: Option<PathNotation>,
    element: Option<PathNotation>,
    #[serde(default)]
    value: Vec<[String; 2]>,
    value_control: Option<String>,
    /// Why the system is not asked first questions of a kind, by the kind's word.
    #[serde(default)]
    not: BTreeMap<String, String>,
}

/// Implementation of [`WorkloadRules`] for the questions workload.
#[derive(Debug)]
pub(crate) struct Rules;

impl WorkloadRules for Rules {
    fn name(&self) -> &'static str {
        QUESTIONS
    }

    fn files(&self) -> &'static [StatementRule] {
        &FILES
    }

    fn placeholders(&self) -> &'static [&'static str] {
        &[
            "statement",
            "rows",
            "path",
            "path_members",
            "value",
            "element",
            "element_members",
            "second",
            "second_members",
            "pattern",
            "glob",
            "length",
            "bucket",
            "bucket_us",
            "from",
            "until",
        ]
    }

    fn keys(&self) -> &'static [&'static str] {
        &["load", "suspects", "logs", "path", "element", "value", "value_control", "not"]
    }

    /// `[variants.NAME.questions]` holds rules of the analytics workload.
    fn has_overlays(&self) -> bool {
        false
    }

    fn read(
        &self,
        base: &SectionReader<'_>,
        _: &[SectionReader<'_>],
        _: Option<ParsedSection>,
    ) -> Result<ParsedSection, CatalogueError> {
        let SectionDefinition { load, suspects, logs, path, element, value, value_control, not } =
            base.read()?;
        for (table, notation) in [("path", &path), ("element", &element)] {
            if let Some(notation) = notation {
                check_notation(base, table, notation)?;
            }
        }
        check_control(base, &["value_control"], value_control.as_ref())?;
        let kinds = FirstQuestionKind::ALL.map(FirstQuestionKind::word);
        if let Some(kind) = not.keys().find(|kind| !kinds.contains(&kind.as_str())) {
            return Err(base.error(&["not", kind], format!("unknown kind; allowed: {}", kinds.join(", "))));
        }
        let section = QuestionsSection { suspects, path, element, value, value_control, not };
        Ok(ParsedSection::new(load, logs, Section::Questions(Box::new(section))))
    }
}

/// Values of the section besides load mode and logs.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct QuestionsSection {
    suspects: Vec<String>,
    path: Option<PathNotation>,
    /// Notation of paths from an element of an array; `None` if they are written like those of documents.
    #[serde(skip_serializing_if = "Option::is_none")]
    element: Option<PathNotation>,
    value: Vec<[String; 2]>,
    value_control: Option<String>,
    /// Left out of the digest: a reason changes no result.
    #[serde(skip)]
    not: BTreeMap<String, String>,
}

impl WorkloadSetup {
    fn questions(&self) -> Option<&QuestionsSection> {
        match &self.section {
            Section::Questions(section) => Some(section),
            _ => None,
        }
    }

    /// Returns the traits that make a document a suspect, which is loaded alone. For the setup of questions.
    #[must_use]
    pub fn suspects(&self) -> Vec<String> {
        self.questions().map(|section| section.suspects.clone()).unwrap_or_default()
    }

    /// Writes a first question from the folder's template.
    ///
    /// # Errors
    /// [`FirstQuestionError::NoTemplate`] if the folder has no template for it and does not say why,
    /// [`FirstQuestionError::NotAsked`] if it does, [`FirstQuestionError::Unreachable`] if no statement of the
    /// system reads exactly the values that the question is about.
    pub fn first_question(&self, question: &FirstQuestion<'_>) -> Result<String, FirstQuestionError> {
        let section = self.questions().ok_or(FirstQuestionError::NoTemplate)?;
        if let Some(why) = section.not.get(question.kind.word()) {
            return Err(FirstQuestionError::NotAsked(why.clone()));
        }
        let (path, second) = section.notations(question.kind).ok_or(FirstQuestionError::NoTemplate)?;
        if question.keys.is_empty() {
            return Err(FirstQuestionError::NoTemplate);
        }
        for (notation, keys) in [(path, question.keys), (second, question.second_keys)] {
            if let Some(why) = notation.why_unreachable(keys) {
                return Err(FirstQuestionError::Unreachable(why.to_owned()));
            }
        }
        let template = self.template(question, path, second)?;
        let path_text = path.written(question.keys).ok_or(FirstQuestionError::NoTemplate)?;
        let second_text = second.written(question.second_keys).ok_or(FirstQuestionError::NoTemplate)?;
        let value =
            spell_controls(&replace_pairs(question.value, &section.value), section.value_control.as_deref());
        let members = |keys: &[String]| serde_json::json!(keys).to_string();
        let (element, second) = match question.kind {
            FirstQuestionKind::Elements => ("element", "element_members"),
            _ => ("second", "second_members"),
        };
        let values = [
            ("path", path_text),
            ("path_members", members(question.keys)),
            (element, second_text),
            (second, members(question.second_keys)),
            ("value", value),
        ];
        let values: Vec<(&str, String)> = values
            .into_iter()
            .map(|(name, text)| (name, template::escape(&text)))
            .chain(time_placeholders(question.bucket))
            .collect();
        let values: Vec<(&str, &str)> = values.iter().map(|(name, text)| (*name, text.as_str())).collect();
        template::fill_known(template, &values)
            .map_err(|problem| FirstQuestionError::Unreachable(problem.to_string()))
    }

    /// Returns the template for a question: the usual one, or the exact one if the usual one is missing or
    /// would not ask exactly about these paths.
    fn template(
        &self,
        question: &FirstQuestion<'_>,
        path: &PathNotation,
        second: &PathNotation,
    ) -> Result<&str, FirstQuestionError> {
        let name = format!("{TEMPLATE}{}", question.kind.word());
        let exact = self.statement(&format!("{name}{EXACT}"));
        let why_not = |notation: &PathNotation, keys: &[String]| {
            notation.why_not_exact(keys, question.is_mixed, question.paths)
        };
        let second_reason = match question.kind {
            FirstQuestionKind::Pairs => why_not(second, question.second_keys),
            // Known paths state members of elements below the array that holds them.
            FirstQuestionKind::Elements => why_not(path, &[question.keys, question.second_keys].concat()),
            _ => None,
        };
        let reasons: Vec<Inexact> = why_not(path, question.keys).into_iter().chain(second_reason).collect();
        if reasons.is_empty() {
            return self.statement(&name).or(exact).ok_or(FirstQuestionError::NoTemplate);
        }
        // Paths that are written alike stay alike in every template that holds `{{path}}`.
        let is_several = reasons.iter().any(|reason| reason.is_several);
        let is_written = |text: &&str| text.contains("{{path}}") || text.contains("{{second}}");
        let why = reasons.into_iter().next().map(|reason| reason.why).unwrap_or_default();
        exact.filter(|text| !is_several || !is_written(text)).ok_or(FirstQuestionError::Unreachable(why))
    }

    /// Returns why the answer to a first question is inexact if documents have values of other types at its path
    /// than the question states, in words. `None` if the statement tests types, or is not written.
    #[must_use]
    pub fn type_caveat(&self, question: &FirstQuestion<'_>) -> Option<&str> {
        let (path, second) = self.questions()?.notations(question.kind)?;
        let usual = self.statement(&format!("{TEMPLATE}{}", question.kind.word()))?;
        let is_usual = self.template(question, path, second).is_ok_and(|template| template == usual);
        path.blurs().filter(|_| is_usual)
    }

    /// Returns what the system does to documents with a member of one of these keys, in words. Empty if they
    /// stay unchanged.
    #[must_use]
    pub fn alterations(&self, keys: &[String]) -> Vec<String> {
        let path = self.questions().and_then(|section| section.path.as_ref());
        path.map(|path| path.alterations(keys)).unwrap_or_default()
    }

    /// Removes what only serves to write first questions: it neither runs nor counts in the digest.
    pub(crate) fn without_templates(mut self) -> Self {
        self.files.retain(|name, _| !name.starts_with(TEMPLATE));
        let suspects = self.suspects();
        self.section =
            Section::Questions(Box::new(QuestionsSection { suspects, ..QuestionsSection::default() }));
        self
    }
}

impl QuestionsSection {
    /// Returns the notation of the path of a question of this kind, and that of its second path. `None` if the
    /// folder describes none.
    fn notations(&self, kind: FirstQuestionKind) -> Option<(&PathNotation, &PathNotation)> {
        let path = self.path.as_ref()?;
        let element = self.element.as_ref().filter(|_| kind == FirstQuestionKind::Elements);
        Some((path, element.unwrap_or(path)))
    }
}

/// Statement files by which a user's folder can set up a table, each with the name of the system's file that
/// it replaces.
pub(crate) const SETUP_FILES: [(&str, &str); 3] =
    [("schema", "create"), ("load", "load"), ("index", "index")];

/// Prefix of the name of a question's statement among the files of a workload setup.
const ASK: &str = "ask ";

/// Returns the name of a question's statement among the files of a workload setup.
#[must_use]
pub fn question_file(question: &str) -> String {
    format!("{ASK}{question}")
}

impl WorkloadSetup {
    /// Returns `true` if the setup has a statement for a question of the user.
    #[must_use]
    pub fn asks(&self, question: &str) -> bool {
        self.files.contains_key(&question_file(question))
    }
}
