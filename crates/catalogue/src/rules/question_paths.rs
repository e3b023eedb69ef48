//! Notation of paths in a system's statements: how the names of members are written, and which of them
//! statements do not reach.

use serde::{Deserialize, Serialize};

use super::{first_question::KnownPath, patterns};
use crate::{error::CatalogueError, sections::SectionReader, template};

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
    /// Returns the pattern that matches the keys.
    pub(super) fn keys(&self) -> &str {
        &self.keys
    }

    /// Returns what happens to the keys, or why they cannot be reached, in words.
    pub(super) fn why(&self) -> &str {
        &self.why
    }

    pub(super) fn is_about(&self, keys: &[String]) -> bool {
        let keys = if self.first { keys.get(..1).unwrap_or_default() } else { keys };
        patterns::compiled(&self.keys).is_ok_and(|pattern| keys.iter().any(|key| pattern.is_match(key)))
    }
}

/// Checks a notation that `system.toml` has at the key `table`.
pub(super) fn check_notation(
    section: &SectionReader<'_>,
    table: &str,
    notation: &PathNotation,
) -> Result<(), CatalogueError> {
    check_control(section, &[table, "control"], notation.control.as_ref())?;
    for (key, text) in [
        ("member", Some(&notation.member)),
        ("first", notation.first.as_ref()),
        ("member_with_control", notation.member_with_control.as_ref()),
    ] {
        let Some(text) = text else { continue };
        let names = template::placeholders(text)
            .map_err(|problem| section.error(&[table, key], problem.to_string()))?;
        if let Some((_, name)) = names.iter().find(|(_, name)| !["path", "key"].contains(name)) {
            let message =
                format!("`{{{{{name}}}}}` has no value here; `{{{{path}}}}` and `{{{{key}}}}` have");
            return Err(section.error(&[table, key], message));
        }
        if !names.iter().any(|(_, name)| *name == "key") {
            return Err(section.error(&[table, key], "does not use `{{key}}`, which it is there for"));
        }
    }
    let PathNotation { alters, unreachable, evades, unseen, .. } = notation;
    let rules = [("alters", alters), ("unreachable", unreachable), ("evades", evades)].into_iter();
    let patterns = rules.flat_map(|(key, rules)| rules.iter().map(move |rule| (key, &rule.keys)));
    for (key, pattern) in patterns.chain(unseen.iter().map(|pattern| ("unseen", pattern))) {
        if let Err(problem) = patterns::compiled(pattern) {
            return Err(section.error(&[table, key], problem.to_string()));
        }
    }
    Ok(())
}

/// Checks that the text for a control character holds its code exactly once.
pub(super) fn check_control(
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

impl PathNotation {
    /// Returns the path of these keys in the system's notation: the root if there is no key. `None` if the
    /// notation cannot be filled in.
    pub(super) fn written(&self, keys: &[String]) -> Option<String> {
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

    /// Returns why a path does not tell types apart, in words. `None` if it does.
    pub(super) fn blurs(&self) -> Option<&str> {
        self.blurs.as_deref()
    }

    /// Returns why no statement reaches one of these keys. `None` if statements reach all of them.
    pub(super) fn why_unreachable(&self, keys: &[String]) -> Option<&str> {
        self.unreachable.iter().find(|rule| rule.is_about(keys)).map(|rule| rule.why.as_str())
    }

    /// Returns what the system does to documents with a member of one of these keys, in words. Empty if they
    /// stay unchanged.
    pub(super) fn alterations(&self, keys: &[String]) -> Vec<String> {
        self.alters.iter().filter(|rule| rule.is_about(keys)).map(|rule| rule.why.clone()).collect()
    }

    /// Returns why the usual template would not ask exactly about the path of these keys. `None` if it would.
    /// `paths` are all paths of the documents, and `is_mixed` states whether the path has values of several
    /// types.
    pub(super) fn why_not_exact(
        &self,
        keys: &[String],
        is_mixed: bool,
        paths: &[KnownPath],
    ) -> Option<Inexact> {
        let visible = self.seen(keys);
        let is_same = |path: &&KnownPath| self.seen(&path.keys) == visible;
        if let Some(other) = paths.iter().filter(is_same).find(|path| path.keys != keys) {
            let [path, other] = [keys, &other.keys].map(|keys| serde_json::json!(keys));
            let why = format!("the paths {path} and {other} are one to it");
            return Some(Inexact { why, is_several: true });
        }
        let is_in_array = || paths.iter().filter(is_same).any(|path| path.is_in_array);
        let blurs = self.blurs.as_ref().filter(|_| is_mixed || is_in_array());
        let evades = self.evades.iter().find(|rule| rule.is_about(keys)).map(|rule| &rule.why);
        blurs.or(evades).map(|why| Inexact { why: why.clone(), is_several: false })
    }
}

/// Why the usual template would not ask exactly the question.
pub(super) struct Inexact {
    /// The reason, in words.
    pub(super) why: String,
    /// Whether several paths of the documents are written like this one.
    pub(super) is_several: bool,
}

/// Returns `true` for a control character: written unchanged, it would end a line or could end a text.
fn is_control(character: char) -> bool {
    matches!(u32::from(character), ..0x20 | 0x7f)
}

/// Returns the text with its control characters written as `control` states; unchanged without `control`.
pub(super) fn spell_controls(text: &str, control: Option<&str>) -> String {
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

/// Applies replacements to a text, in their order.
pub(super) fn replace_pairs(text: &str, pairs: &[[String; 2]]) -> String {
    pairs.iter().fold(text.to_owned(), |text, [from, to]| text.replace(from.as_str(), to))
}
