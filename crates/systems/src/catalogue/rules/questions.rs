//! The rules of the questions workload: how a user's own documents get in, and templates from which first questions are
//! written.

use serde::{Deserialize, Serialize};

use super::{Part, Said, WorkloadRules};
use crate::catalogue::{
    definition::LoadMode, error::CatalogueError, sections::Section, statements::StatementRule, template,
};

/// Its name.
pub const QUESTIONS: &str = "questions";

/// Before the name of a statement file that is a template.
const TEMPLATE: &str = "new_";

const PATH: &[&str] = &["path"];
const PATH_AND_VALUE: &[&str] = &["path", "value"];

const FILES: [StatementRule; 18] = [
    StatementRule::required("create").filled(&[]),
    StatementRule::required("load").holding("file").filled(&[]),
    StatementRule::optional("index").filled(&[]),
    StatementRule::optional("drain").filled(&[]),
    StatementRule::optional("drained").single().filled(&[]),
    StatementRule::optional("compact").filled(&[]),
    StatementRule::required("plan").single().holding("statement").filled(&[]),
    StatementRule::required("count").single().filled(&[]),
    StatementRule::required("sizes").single().filled(&[]),
    StatementRule::optional("counters").single().filled(&[]),
    // Makes a session refuse changes, before questions are asked.
    StatementRule::optional("read_only").filled(&[]),
    StatementRule::optional("read_back").single().holding("rows").filled(&[]),
    StatementRule::required("drop").filled(&[]),
    StatementRule::optional("new_count").single().filled(PATH).naming(PATH),
    StatementRule::optional("new_top").single().filled(PATH).naming(PATH),
    StatementRule::optional("new_sum").single().filled(PATH).naming(PATH),
    StatementRule::optional("new_filter").single().filled(PATH_AND_VALUE).naming(&["value"]),
    StatementRule::optional("new_distinct").single().filled(PATH).naming(PATH),
];

/// The section as it is written.
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
}

/// How a path of members is written in statements.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PathNotation {
    /// The document itself.
    root: String,
    /// A member of what `{{path}}` stands for, called `{{key}}`.
    member: String,
    /// The first member, where that is written otherwise.
    first: Option<String>,
    /// What is replaced in a key, in this order.
    #[serde(default)]
    key: Vec<[String; 2]>,
    /// What is replaced in the whole path afterwards.
    #[serde(default)]
    whole: Vec<[String; 2]>,
    /// Keys with which the system does something to a document, as patterns, and what that is.
    #[serde(default)]
    alters: Vec<Altered>,
}

/// What a system does to documents with certain keys.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Altered {
    /// The keys, as a pattern.
    keys: String,
    /// What becomes of them, in words.
    why: String,
}

/// A kind of question of which there are templates.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// The ten most frequent strings with their counts.
    Count,
    /// The ten largest numbers.
    Top,
    /// Sum and mean of numbers.
    Sum,
    /// How many documents have one string.
    Filter,
    /// How many different strings there are.
    Distinct,
}

impl Kind {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Count, Self::Top, Self::Sum, Self::Filter, Self::Distinct];

    /// The word that files are called by.
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

/// The rules themselves.
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
        &["statement", "rows", "path", "value"]
    }

    fn own_variants(&self) -> bool {
        true
    }

    fn keys(&self) -> &'static [&'static str] {
        &["load", "suspects", "logs", "path", "value"]
    }

    /// `[variants.NAME.questions]` are rules of another workload.
    fn has_overlays(&self) -> bool {
        false
    }

    fn read(&self, sections: &[Section<'_>]) -> Result<Said, CatalogueError> {
        let Some(base) = sections.first() else { return Ok(Said::default()) };
        let SectionDefinition { load, suspects, logs, path, value } = base.read()?;
        let own = OwnRules { suspects, path: checked(base, path)?, value };
        Ok(Said { load: Some(load), logs, rules: serde_json::json!(own), ..Said::default() })
    }
}

fn checked(
    section: &Section<'_>,
    path: Option<PathNotation>,
) -> Result<Option<PathNotation>, CatalogueError> {
    let Some(notation) = path else { return Ok(None) };
    for (key, text) in [("member", Some(&notation.member)), ("first", notation.first.as_ref())] {
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
    for altered in &notation.alters {
        if let Err(problem) = regex::Regex::new(&altered.keys) {
            return Err(section.error(&["path", "alters"], problem.to_string()));
        }
    }
    Ok(Some(notation))
}

/// What the section says besides, as it is kept in a [`Part`].
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
struct OwnRules {
    #[serde(default)]
    suspects: Vec<String>,
    #[serde(default)]
    path: Option<PathNotation>,
    #[serde(default)]
    value: Vec<[String; 2]>,
}

impl Part {
    /// Traits with which documents are offered one by one, of the part for questions.
    #[must_use]
    pub fn suspects(&self) -> Vec<String> {
        self.read_rules::<OwnRules>().map(|own| own.suspects).unwrap_or_default()
    }

    /// A first question of `kind` about the value at `keys`, written from the folder's template; none where it has none,
    /// or where a key cannot be written. `value` is what is looked for.
    #[must_use]
    pub fn first_question(&self, kind: Kind, keys: &[String], value: &str) -> Option<String> {
        let own: OwnRules = self.read_rules().ok()?;
        let template = self.statement(&format!("{TEMPLATE}{}", kind.word()))?;
        let path = own.path?.written(keys)?;
        let value = replaced(value, &own.value);
        // What would be taken for a placeholder when the question is asked cannot be written.
        let is_plain = |text: &str| !text.contains("{{");
        if !is_plain(&path) || !is_plain(&value) {
            return None;
        }
        template::fill_known(template, &[("path", &path), ("value", &value)]).ok()
    }

    /// What the system does to documents with a member of one of these keys, in words; nothing where it keeps them.
    #[must_use]
    pub fn alters(&self, keys: &[String]) -> Vec<String> {
        let own: OwnRules = self.read_rules().unwrap_or_default();
        let matches = |altered: &&Altered| {
            regex::Regex::new(&altered.keys).is_ok_and(|pattern| keys.iter().any(|key| pattern.is_match(key)))
        };
        let all = own.path.iter().flat_map(|path| &path.alters);
        all.filter(matches).map(|altered| altered.why.clone()).collect()
    }

    /// The part without what only writes first questions: neither runs, nor counts.
    pub(crate) fn without_templates(mut self) -> Self {
        self.files.retain(|name, _| !name.starts_with(TEMPLATE));
        self.rules = serde_json::json!(OwnRules { suspects: self.suspects(), ..OwnRules::default() });
        self
    }
}

impl PathNotation {
    /// The path of these keys; none where there is no key, or one that no line can hold.
    fn written(&self, keys: &[String]) -> Option<String> {
        if keys.is_empty() || keys.iter().any(|key| key.chars().any(char::is_control)) {
            return None;
        }
        let mut path = self.root.clone();
        for (place, key) in keys.iter().enumerate() {
            let form = self.first.as_ref().filter(|_| place == 0).unwrap_or(&self.member);
            let key = replaced(key, &self.key);
            path = template::fill(form, &[("path", &path), ("key", &key)]).ok()?;
        }
        Some(replaced(&path, &self.whole))
    }
}

fn replaced(text: &str, pairs: &[[String; 2]]) -> String {
    pairs.iter().fold(text.to_owned(), |text, [from, to]| text.replace(from.as_str(), to))
}

/// The statement files by which a user's folder may set a table up, with what the file is in the system's folder.
pub(crate) const SET_UP: [(&str, &str); 3] = [("schema", "create"), ("load", "load"), ("index", "index")];

/// Before the name of a question's statement among a part's files.
const ASK: &str = "ask ";

/// The name that a question's statement has among a part's files.
#[must_use]
pub fn question_file(question: &str) -> String {
    format!("{ASK}{question}")
}

impl Part {
    /// Whether it has a statement for a question of the user's.
    #[must_use]
    pub fn asks(&self, question: &str) -> bool {
        self.files.contains_key(&question_file(question))
    }
}
