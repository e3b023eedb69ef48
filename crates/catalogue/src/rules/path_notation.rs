//! Writes paths into documents in the notations that statements use.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{
    patterns,
    question_paths::{KeyRule, replace_pairs, spell_controls},
};
use crate::{error::CatalogueError, sections::SectionReader, template};

/// Placeholders for one path, one in each notation; [`path_values`] returns their values.
pub(crate) const PATH_NOTATIONS: [&str; 6] = ["path", "access", "dotted", "pointer", "braced", "steps"];

/// Placeholder for an expression that holds a path and the value to set there.
pub(crate) const PATCH: &str = "patch";

/// Names of the table `names` of a section: the notations whose names of members it can describe.
const DESCRIBED: [&str; 6] = ["path", "access", "dotted", "pointer", "braced", PATCH];

/// A step of a path into a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PathStep {
    /// A member of an object, by its name.
    Member(String),
    /// An element of an array, by its index from 0.
    Element(usize),
}

/// Returns a path in all notations: `path` is `$.n.a[1]`, `access` is `.n.a[1]`, `dotted` is `n.a.1`,
/// `pointer` is `/n/a/1`, `braced` is `{n,a,1}`, and `steps` is `'n','a','1'`. Names of members must be
/// letters, digits and `_`.
#[must_use]
pub fn path_values(steps: &[PathStep]) -> [(&'static str, String); 6] {
    PATH_NOTATIONS.map(|notation| {
        let segments: Vec<String> = steps.iter().map(|step| plain_segment(notation, step)).collect();
        (notation, joined(notation, &segments))
    })
}

/// Returns one step in a notation. The name of a member must be letters, digits and `_`.
fn plain_segment(notation: &str, step: &PathStep) -> String {
    match (notation, step) {
        ("path" | "access", PathStep::Member(name)) => format!(".{name}"),
        ("path" | "access", PathStep::Element(index)) => format!("[{index}]"),
        ("pointer", PathStep::Member(name)) => format!("/{name}"),
        ("pointer", PathStep::Element(index)) => format!("/{index}"),
        ("steps", PathStep::Member(name)) => format!("'{}'", template::sql_text(name)),
        ("steps", PathStep::Element(index)) => format!("'{index}'"),
        (_, PathStep::Member(name)) => name.clone(),
        (_, PathStep::Element(index)) => index.to_string(),
    }
}

fn joined(notation: &str, segments: &[String]) -> String {
    match notation {
        "path" => format!("${}", segments.concat()),
        "dotted" => segments.join("."),
        "braced" => format!("{{{}}}", segments.join(",")),
        "steps" => segments.join(","),
        _ => segments.concat(),
    }
}

/// How one notation writes names of members that are not letters, digits and `_` alone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct MemberNotation {
    /// One member `{{key}}`, with whatever separates it from the step before. In a patch also plain names are
    /// written so, around `{{inner}}`.
    member: String,
    /// Replacements in a name, as pairs of texts, in this order. They include those that the text literal
    /// around the path needs.
    #[serde(default)]
    key: Vec<[String; 2]>,
    /// Control character of a name, with its code as `{{code}}` or as two digits in `{{hex}}`. `None`: it is
    /// written unchanged.
    control: Option<String>,
    /// Names that the notation cannot express.
    #[serde(default)]
    unreachable: Vec<KeyRule>,
    /// Only of a patch: the expression of the value, innermost.
    value: Option<String>,
}

/// Descriptions of member names, by notation.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct MemberNotations(BTreeMap<String, MemberNotation>);

impl MemberNotations {
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Checks the table `names` of a section.
    ///
    /// # Errors
    /// If a notation is unknown, or a description of it incomplete.
    pub(crate) fn check(&self, section: &SectionReader<'_>) -> Result<(), CatalogueError> {
        for (name, notation) in &self.0 {
            let error = |key: &str, message: String| section.error(&["names", name, key], message);
            if !DESCRIBED.contains(&name.as_str()) {
                let message = format!("`{name}` is no notation of paths; there is {}", DESCRIBED.join(", "));
                return Err(section.error(&["names", name], message));
            }
            if notation.value.is_some() != (name == PATCH) {
                return Err(section.error(&["names", name], "has a `value` if it is `patch`, and only then"));
            }
            let needed: &[&str] = if name == PATCH { &["key", "inner"] } else { &["key"] };
            let found = template::placeholders(&notation.member)
                .map_err(|problem| error("member", problem.to_string()))?;
            if found.len() != needed.len() || !found.iter().all(|(_, found)| needed.contains(found)) {
                let needed = needed.join("}} and {{");
                return Err(error(
                    "member",
                    format!("holds `{{{{{needed}}}}}` once, and nothing else to fill"),
                ));
            }
            for rule in &notation.unreachable {
                if let Err(problem) = patterns::compiled(rule.keys()) {
                    return Err(error("unreachable", problem.to_string()));
                }
            }
        }
        Ok(())
    }

    /// Returns a path in every notation that can express it.
    pub(crate) fn values(&self, steps: &[PathStep]) -> Vec<(&'static str, String)> {
        let notations = PATH_NOTATIONS.into_iter().chain([PATCH]);
        notations.filter_map(|notation| Some((notation, self.written(notation, steps).ok()?))).collect()
    }

    /// Writes a path in one notation.
    ///
    /// # Errors
    /// Why the notation cannot express the path, in words.
    pub(crate) fn written(&self, notation: &str, steps: &[PathStep]) -> Result<String, String> {
        // The clients fill a statement that holds the path, and would take such a name for a placeholder.
        if member_names(steps).any(|name| name.contains("{{")) {
            return Err("a statement cannot hold a name with `{{` in it".to_owned());
        }
        let described = self.0.get(notation);
        if let Some(rule) = described.and_then(|described| described.rule_against(steps)) {
            return Err(rule.why().to_owned());
        }
        if notation == PATCH {
            return described.ok_or_else(|| undescribed(notation))?.patch(steps);
        }
        let segments: Result<Vec<String>, String> = steps
            .iter()
            .map(|step| match step {
                PathStep::Member(name) if !is_plain(notation, name) => {
                    described.ok_or_else(|| undescribed(notation))?.member(name, "")
                }
                step => Ok(plain_segment(notation, step)),
            })
            .collect();
        Ok(joined(notation, &segments?))
    }
}

impl MemberNotation {
    fn rule_against(&self, steps: &[PathStep]) -> Option<&KeyRule> {
        let names: Vec<String> = member_names(steps).map(str::to_owned).collect();
        self.unreachable.iter().find(|rule| rule.is_about(&names))
    }

    fn member(&self, name: &str, inner: &str) -> Result<String, String> {
        let key = spell_controls(&replace_pairs(name, &self.key), self.control.as_deref());
        template::fill(&self.member, &[("key", &key), ("inner", inner)])
            .map_err(|problem| problem.to_string())
    }

    /// Writes the expression of a patch: the value within the innermost member, and so on.
    fn patch(&self, steps: &[PathStep]) -> Result<String, String> {
        let value = self.value.clone().unwrap_or_default();
        steps.iter().rev().try_fold(value, |inner, step| match step {
            PathStep::Member(name) => self.member(name, &inner),
            PathStep::Element(_) => Err("a merge patch replaces an array as a whole".to_owned()),
        })
    }
}

fn undescribed(notation: &str) -> String {
    format!("its folder does not say how such a name is written in `{{{{{notation}}}}}`")
}

fn member_names(steps: &[PathStep]) -> impl Iterator<Item = &str> {
    steps.iter().filter_map(|step| match step {
        PathStep::Member(name) => Some(name.as_str()),
        PathStep::Element(_) => None,
    })
}

/// Returns `true` if a notation writes a name without quotes: letters, digits and `_`, beginning with no
/// digit, and no word that stands for something else there.
fn is_plain(notation: &str, name: &str) -> bool {
    let is_word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    let is_null = notation == "braced" && name.eq_ignore_ascii_case("null");
    let starts_well = name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_');
    starts_well && name.bytes().all(is_word) && !is_null
}

#[cfg(test)]
mod tests {
    use super::*;

    fn members(names: &[&str]) -> Vec<PathStep> {
        names.iter().map(|name| PathStep::Member((*name).to_owned())).collect()
    }

    fn notations(text: &str) -> MemberNotations {
        toml::from_str(text).unwrap()
    }

    #[test]
    fn a_path_is_written_in_every_notation() {
        let steps = [PathStep::Member("n".into()), PathStep::Member("items".into()), PathStep::Element(1)];
        let values = path_values(&steps);
        assert_eq!(
            values.each_ref().map(|(name, value)| (*name, value.as_str())),
            [
                ("path", "$.n.items[1]"),
                ("access", ".n.items[1]"),
                ("dotted", "n.items.1"),
                ("pointer", "/n/items/1"),
                ("braced", "{n,items,1}"),
                ("steps", "'n','items','1'"),
            ]
        );
        assert_eq!(MemberNotations::default().values(&steps), values);
    }

    #[test]
    fn names_that_need_it_are_written_as_the_folder_says() {
        let described = notations(
            r#"
            [path]
            member = '."{{key}}"'
            key = [['"', '\"'], ["'", "''"]]
            control = '\u00{{hex}}'
            unreachable = [{ keys = '^$', why = "no empty names" }]
            [braced]
            member = '"{{key}}"'
            [patch]
            value = "f({{value}})"
            member = "object('{{key}}', {{inner}})"
            key = [["'", "''"]]
            "#,
        );
        let path = |names: &[&str]| described.written("path", &members(names));
        assert_eq!(
            path(&["a", "b.c", "it's \"d\"\n"]).as_deref(),
            Ok("$.a.\"b.c\".\"it''s \\\"d\\\"\\u000a\"")
        );
        assert_eq!(path(&["a", "2"]).as_deref(), Ok("$.a.\"2\""), "a name, not an index");
        assert_eq!(path(&["a", ""]), Err("no empty names".to_owned()));
        assert!(path(&["{{key}}"]).unwrap_err().contains("`{{`"));
        assert_eq!(described.written("braced", &members(&["", "null"])).as_deref(), Ok("{\"\",\"null\"}"));
        let patch = |steps: &[PathStep]| described.written(PATCH, steps);
        assert_eq!(
            patch(&members(&["a", "it's"])).as_deref(),
            Ok("object('a', object('it''s', f({{value}})))"),
            "the placeholder of the value stays for the client"
        );
        assert!(patch(&[PathStep::Element(0)]).unwrap_err().contains("array"));
        assert!(described.written("dotted", &members(&["a.b"])).unwrap_err().contains("{{dotted}}"));
        assert_eq!(described.written("dotted", &members(&["a", "b"])).as_deref(), Ok("a.b"));
    }
}
