//! Rules of the questions workload: how a user's own documents are loaded, and templates from which first
//! questions are written.

use serde::{Deserialize, Serialize};

use jsonathlon_schema::workload::WorkloadKind;

use super::{ParsedSection, Section, WorkloadRules, WorkloadSetup, patterns};
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
const PATH_AND_VALUE: &[&str] = &["path", "value"];
const MEMBERS: &[&str] = &["path", "path_members"];
const MEMBERS_AND_VALUE: &[&str] = &["path", "path_members", "value"];

const FILES: [StatementRule; 23] = [
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
    StatementRule::optional("new_count").single().allows_placeholders(PATH).needs_one_of(PATH),
    StatementRule::optional("new_top").single().allows_placeholders(PATH).needs_one_of(PATH),
    StatementRule::optional("new_sum").single().allows_placeholders(PATH).needs_one_of(PATH),
    StatementRule::optional("new_filter")
        .single()
        .allows_placeholders(PATH_AND_VALUE)
        .needs_one_of(&["value"]),
    StatementRule::optional("new_distinct").single().allows_placeholders(PATH).needs_one_of(PATH),
    StatementRule::optional("new_count_exact").single().allows_placeholders(MEMBERS).needs_one_of(MEMBERS),
    StatementRule::optional("new_top_exact").single().allows_placeholders(MEMBERS).needs_one_of(MEMBERS),
    StatementRule::optional("new_sum_exact").single().allows_placeholders(MEMBERS).needs_one_of(MEMBERS),
    StatementRule::optional("new_filter_exact")
        .single()
        .allows_placeholders(MEMBERS_AND_VALUE)
        .needs_one_of(MEMBERS),
    StatementRule::optional("new_distinct_exact").single().allows_placeholders(MEMBERS).needs_one_of(MEMBERS),
];

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
    #[serde(default)]
    value: Vec<[String; 2]>,
    value_control: Option<String>,
}

/// How a path of members is written in a system's statements.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PathNotation {
    /// Text that stands for the document itself.
    root: String,
    /// A member `{{key}}` of the value at `{{path}}`.
    member: String,
    /// The first member. `None`: it is written like the others.
    first: Option<String>,
    /// A member whose key holds control characters. `None`: it is written like the others.
    member_with_control: Option<String>,
    /// Replacements in a key, as pairs of texts, in this order.
    #[serde(default)]
    key: Vec<[String; 2]>,
    /// Control character of a key, with its code as `{{code}}` or as two digits in `{{hex}}`. `None`: it is
    /// written unchanged.
    control: Option<String>,
    /// Replacements of a key's first character, as pairs of texts.
    #[serde(default)]
    initial: Vec<[String; 2]>,
    /// Replacements in the whole path, as pairs of texts; they are applied last.
    #[serde(default)]
    whole: Vec<[String; 2]>,
    /// Patterns of what the system ignores in a key: keys that are equal without it are one key to the
    /// system.
    #[serde(default)]
    unseen: Vec<String>,
    /// Keys that the usual templates do not reach in every document.
    #[serde(default)]
    evades: Vec<KeyRule>,
    /// Keys that no statement reaches, so that questions about them are not asked.
    #[serde(default)]
    unreachable: Vec<KeyRule>,
    /// Keys because of which the system changes a document.
    #[serde(default)]
    alters: Vec<KeyRule>,
    /// Why a path does not tell types apart; `None` if it does. If values of other types are at the path,
    /// another template is used, or the question is not asked.
    blurs: Option<String>,
}

/// A property of keys that match a pattern.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct KeyRule {
    /// Pattern that matches the keys.
    keys: String,
    /// Whether the rule applies only to members of the document itself.
    #[serde(default)]
    first: bool,
    /// What happens to the keys, or why they cannot be reached, in words.
    why: String,
}

impl KeyRule {
    fn is_about(&self, keys: &[String]) -> bool {
        let keys = if self.first { keys.get(..1).unwrap_or_default() } else { keys };
        patterns::compiled(&self.keys).is_ok_and(|pattern| keys.iter().any(|key| pattern.is_match(key)))
    }
}

/// What a first question asks about its path; a folder may have a template for each kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TemplateKind {
    /// The ten most frequent strings with their counts.
    Count,
    /// The ten largest numbers.
    Top,
    /// Sum and mean of numbers.
    Sum,
    /// The number of documents that have one string.
    Filter,
    /// The number of different strings.
    Distinct,
}

impl TemplateKind {
    /// All kinds of first questions.
    pub const ALL: [Self; 5] = [Self::Count, Self::Top, Self::Sum, Self::Filter, Self::Distinct];

    /// Returns the word used in the names of files.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Count => "count",
            Self::Top => "top",
            Self::Sum => "sum",
            Self::Filter => "filter",
            Self::Distinct => "distinct",
        }
    }
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
        &["statement", "rows", "path", "path_members", "value"]
    }

    fn keys(&self) -> &'static [&'static str] {
        &["load", "suspects", "logs", "path", "value", "value_control"]
    }

    /// `[variants.NAME.questions]` holds rules of the analytics workload.
    fn has_overlays(&self) -> bool {
        false
    }

    fn read(
        &self,
        base: &SectionReader<'_>,
        _: &[SectionReader<'_>],
    ) -> Result<ParsedSection, CatalogueError> {
        let SectionDefinition { load, suspects, logs, path, value, value_control } = base.read()?;
        let path_control = path.as_ref().and_then(|path| path.control.as_ref());
        check_control(base, &["path", "control"], path_control)?;
        check_control(base, &["value_control"], value_control.as_ref())?;
        let section = QuestionsSection { suspects, path: check_notation(base, path)?, value, value_control };
        Ok(ParsedSection::new(load, logs, Section::Questions(section)))
    }
}

fn check_notation(
    section: &SectionReader<'_>,
    path: Option<PathNotation>,
) -> Result<Option<PathNotation>, CatalogueError> {
    let Some(notation) = path else { return Ok(None) };
    for (key, text) in [
        ("member", Some(&notation.member)),
        ("first", notation.first.as_ref()),
        ("member_with_control", notation.member_with_control.as_ref()),
    ] {
        let Some(text) = text else { continue };
        let names = template::placeholders(text)
            .map_err(|problem| section.error(&["path", key], problem.to_string()))?;
        if let Some((_, name)) = names.iter().find(|(_, name)| !["path", "key"].contains(name)) {
            let message =
                format!("`{{{{{name}}}}}` has no value here; `{{{{path}}}}` and `{{{{key}}}}` have");
            return Err(section.error(&["path", key], message));
        }
        if !names.iter().any(|(_, name)| *name == "key") {
            return Err(section.error(&["path", key], "does not use `{{key}}`, which it is there for"));
        }
    }
    let PathNotation { alters, unreachable, evades, unseen, .. } = &notation;
    let rules = [("alters", alters), ("unreachable", unreachable), ("evades", evades)].into_iter();
    let patterns = rules.flat_map(|(key, rules)| rules.iter().map(move |rule| (key, &rule.keys)));
    for (key, pattern) in patterns.chain(unseen.iter().map(|pattern| ("unseen", pattern))) {
        if let Err(problem) = patterns::compiled(pattern) {
            return Err(section.error(&["path", key], problem.to_string()));
        }
    }
    Ok(Some(notation))
}

/// Checks that the text for a control character holds its code exactly once.
fn check_control(
    section: &SectionReader<'_>,
    key: &[&str],
    control: Option<&String>,
) -> Result<(), CatalogueError> {
    let Some(control) = control else { return Ok(()) };
    let names = template::placeholders(control).map_err(|problem| section.error(key, problem.to_string()))?;
    match names[..] {
        [(_, "hex" | "code")] => Ok(()),
        _ => Err(section.error(key, "holds `{{hex}}` or `{{code}}` once, and no other placeholder")),
    }
}

/// Values of the section besides load mode and logs.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct QuestionsSection {
    suspects: Vec<String>,
    path: Option<PathNotation>,
    value: Vec<[String; 2]>,
    value_control: Option<String>,
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
    /// [`FirstQuestionError::NoTemplate`] if the folder has no template for it,
    /// [`FirstQuestionError::Unreachable`] if the system's statements cannot tell what is asked about from
    /// everything else.
    pub fn first_question(&self, question: &FirstQuestion<'_>) -> Result<String, FirstQuestionError> {
        let section = self.questions().ok_or(FirstQuestionError::NoTemplate)?;
        let name = format!("{TEMPLATE}{}", question.kind.word());
        let path = section.path.as_ref().ok_or(FirstQuestionError::NoTemplate)?;
        if let Some(rule) = path.unreachable.iter().find(|rule| rule.is_about(question.keys)) {
            return Err(FirstQuestionError::Unreachable(rule.why.clone()));
        }
        let path_text = path.written(question.keys).ok_or(FirstQuestionError::NoTemplate)?;
        let value = replace_pairs(question.value, &section.value);
        let value = template::escape(&spell_controls(&value, section.value_control.as_deref()));
        let exact = || self.statement(&format!("{name}{EXACT}"));
        let template = match path.why_not_exact(question) {
            None => self.statement(&name).ok_or(FirstQuestionError::NoTemplate)?,
            Some(Inexact { why, is_several }) => exact()
                // Paths that are written alike stay alike in every template that holds `{{path}}`.
                .filter(|text| !is_several || !text.contains("{{path}}"))
                .ok_or(FirstQuestionError::Unreachable(why))?,
        };
        let members = template::escape(&serde_json::json!(question.keys).to_string());
        let values = [("path", template::escape(&path_text)), ("path_members", members), ("value", value)];
        let values: Vec<(&str, &str)> = values.iter().map(|(name, text)| (*name, text.as_str())).collect();
        template::fill_known(template, &values)
            .map_err(|problem| FirstQuestionError::Unreachable(problem.to_string()))
    }

    /// Returns what the system does to documents with a member of one of these keys, in words. Empty if they
    /// stay unchanged.
    #[must_use]
    pub fn alterations(&self, keys: &[String]) -> Vec<String> {
        let path = self.questions().and_then(|section| section.path.as_ref());
        let rules = path.into_iter().flat_map(|path| &path.alters);
        rules.filter(|rule| rule.is_about(keys)).map(|rule| rule.why.clone()).collect()
    }

    /// Removes what only serves to write first questions: it neither runs nor counts in the digest.
    pub(crate) fn without_templates(mut self) -> Self {
        self.files.retain(|name, _| !name.starts_with(TEMPLATE));
        let suspects = self.suspects();
        self.section = Section::Questions(QuestionsSection { suspects, ..QuestionsSection::default() });
        self
    }
}

/// Subject of a first question, and what else the documents hold.
#[derive(Debug, Clone, Copy)]
pub struct FirstQuestion<'a> {
    /// Kind of the question, which selects the template.
    pub kind: TemplateKind,
    /// Names of the members that lead to the values, outermost first.
    pub keys: &'a [String],
    /// String to look for; used only by [`TemplateKind::Filter`].
    pub value: &'a str,
    /// Whether values of other types are at the path, too.
    pub is_mixed: bool,
    /// All paths of the documents, with or without this one.
    pub paths: &'a [KnownPath],
}

/// A path that occurs in the documents.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KnownPath {
    /// Names of the members that lead to the value, outermost first.
    pub keys: Vec<String>,
    /// Whether the path leads to elements of arrays, or through them.
    pub is_in_array: bool,
}

/// Why a system is not asked a first question.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FirstQuestionError {
    /// The folder has no template for the question, or no notation of paths.
    #[error("it has no template for such a question")]
    NoTemplate,
    /// What is asked about cannot be told from everything else; holds the reason.
    #[error("{0}")]
    Unreachable(String),
}

impl PathNotation {
    /// Returns the path of these keys in the system's notation. `None` if there is no key.
    fn written(&self, keys: &[String]) -> Option<String> {
        if keys.is_empty() {
            return None;
        }
        let mut path = self.root.clone();
        for (index, key) in keys.iter().enumerate() {
            let with_control = self.member_with_control.as_ref().filter(|_| key.contains(is_control));
            let first = self.first.as_ref().filter(|_| index == 0);
            let form = with_control.or(first).unwrap_or(&self.member);
            let key = self.with_initial(replace_pairs(key, &self.key));
            let key = spell_controls(&key, self.control.as_deref());
            path = template::fill(form, &[("path", &path), ("key", &key)]).ok()?;
        }
        Some(replace_pairs(&path, &self.whole))
    }

    fn with_initial(&self, key: String) -> String {
        let replaced =
            self.initial.iter().find_map(|[from, to]| Some(format!("{to}{}", key.strip_prefix(from)?)));
        replaced.unwrap_or(key)
    }

    /// Returns the path without what the system ignores in keys, so that paths that are one to the system are
    /// equal.
    fn seen(&self, keys: &[String]) -> Option<String> {
        let visible = |key: &String| {
            self.unseen.iter().fold(key.clone(), |key, pattern| match patterns::compiled(pattern) {
                Ok(pattern) => pattern.replace_all(&key, "").into_owned(),
                Err(_) => key,
            })
        };
        self.written(&keys.iter().map(visible).collect::<Vec<_>>())
    }

    /// Returns why the usual template would not ask exactly the question. `None` if it would.
    fn why_not_exact(&self, question: &FirstQuestion<'_>) -> Option<Inexact> {
        let visible = self.seen(question.keys);
        let is_same = |path: &&KnownPath| self.seen(&path.keys) == visible;
        if let Some(other) = question.paths.iter().filter(is_same).find(|path| path.keys != question.keys) {
            let [path, other] = [question.keys, &other.keys].map(|keys| serde_json::json!(keys));
            let why = format!("the paths {path} and {other} are one to it");
            return Some(Inexact { why, is_several: true });
        }
        let is_in_array = || question.paths.iter().filter(is_same).any(|path| path.is_in_array);
        let blurs = self.blurs.as_ref().filter(|_| question.is_mixed || is_in_array());
        let evades = self.evades.iter().find(|rule| rule.is_about(question.keys)).map(|rule| &rule.why);
        blurs.or(evades).map(|why| Inexact { why: why.clone(), is_several: false })
    }
}

/// Why the usual template would not ask exactly the question.
struct Inexact {
    why: String,
    /// Whether several paths of the documents are written like this one.
    is_several: bool,
}

/// Returns `true` for a control character: written unchanged, it would end a line or could end a text.
fn is_control(character: char) -> bool {
    matches!(u32::from(character), ..0x20 | 0x7f)
}

/// Returns the text with its control characters written as `control` states; unchanged without `control`.
fn spell_controls(text: &str, control: Option<&str>) -> String {
    let Some(control) = control else { return text.to_owned() };
    let mut spelled = String::with_capacity(text.len());
    for character in text.chars() {
        if is_control(character) {
            let code = u32::from(character);
            let (hex, code) = (format!("{code:02x}"), code.to_string());
            spelled.push_str(&template::fill(control, &[("hex", &hex), ("code", &code)]).unwrap_or_default());
        } else {
            spelled.push(character);
        }
    }
    spelled
}

fn replace_pairs(text: &str, pairs: &[[String; 2]]) -> String {
    pairs.iter().fold(text.to_owned(), |text, [from, to]| text.replace(from.as_str(), to))
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
