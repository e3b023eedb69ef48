//! Row mapping of a statement (`rows`), validated completely when it is parsed.

use std::fmt;

use jsonathlon_schema::value::Value;
use serde::Deserialize;

use super::tree::Tree;

/// Rules by which an answer that is a JSON tree becomes rows.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(try_from = "MappingSpec")]
pub struct Mapping {
    /// Pointers to nested lists: the first into the answer, each further one into an element of the list
    /// before.
    pub(super) each: Vec<Pointer>,
    pub(super) columns: Vec<Column>,
}

/// Output column: its name, source and type.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Column {
    pub(super) name: String,
    pub(super) source: Source,
    pub(super) kind: Option<Type>,
    /// Additional value that means null, besides JSON `null`.
    pub(super) null: Option<Value>,
}

/// Origin of a column's value: a place, or a function of several places.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Source {
    At(ValuePath),
    Of(Function, Vec<ValuePath>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Function {
    Difference,
    Sum,
}

/// Position in the answer, or in an element of one of the lists.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ValuePath {
    pub(super) at: Pointer,
    /// List depth that `at` starts from: 0 is the answer, 1 an element of the first list. `None` for the
    /// innermost.
    #[serde(default)]
    pub(super) level: Option<usize>,
}

/// Type to which the value of a column is converted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Type {
    Integer,
    Float,
    Text,
    Boolean,
    Json,
    /// Instant, in microseconds since 1970. A number in the answer is taken as milliseconds, because formats
    /// without a type for instants use those.
    Milliseconds,
}

impl Type {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Integer => "an integer",
            Self::Float => "a float",
            Self::Text => "text",
            Self::Boolean => "a boolean",
            Self::Json => "JSON",
            Self::Milliseconds => "a time",
        }
    }
}

/// JSON Pointer (RFC 6901), parsed into unescaped tokens.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub(super) struct Pointer {
    text: String,
    tokens: Vec<String>,
}

impl Pointer {
    /// Follows the pointer from `node`. `None` if it leads nowhere.
    pub(super) fn find<'a, T: Tree<'a>>(&self, node: T) -> Option<T> {
        self.tokens.iter().try_fold(node, |node, token| match node.elements() {
            Some(mut elements) => elements.nth(index(token)?),
            None => node.member(token),
        })
    }
}

/// Parses a list index, which must have neither a sign nor leading zeros.
fn index(token: &str) -> Option<usize> {
    let plain = token == "0" || (!token.starts_with('0') && token.bytes().all(|byte| byte.is_ascii_digit()));
    if plain { token.parse().ok() } else { None }
}

impl TryFrom<String> for Pointer {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let mut tokens = Vec::new();
        if !text.is_empty() {
            let inside = text
                .strip_prefix('/')
                .ok_or_else(|| format!("`{text}` is no JSON Pointer: one is empty or starts with `/`"))?;
            for token in inside.split('/') {
                let mut escaped = token.split('~').skip(1);
                if let Some(wrong) = escaped.find(|rest| !rest.starts_with(['0', '1'])) {
                    return Err(format!("`{text}` is no JSON Pointer: `~{wrong}` is neither `~0` nor `~1`"));
                }
                tokens.push(token.replace("~1", "/").replace("~0", "~"));
            }
        }
        Ok(Self { text, tokens })
    }
}

impl fmt::Display for Pointer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// Mapping before validation, as deserialized.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct MappingSpec {
    each: Vec<Pointer>,
    columns: Vec<WrittenColumn>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenColumn {
    name: String,
    at: Option<Pointer>,
    level: Option<usize>,
    #[serde(rename = "type")]
    kind: Option<Type>,
    null: Option<Value>,
    difference: Option<Vec<ValuePath>>,
    sum: Option<Vec<ValuePath>>,
}

impl TryFrom<MappingSpec> for Mapping {
    type Error = String;

    fn try_from(written: MappingSpec) -> Result<Self, String> {
        let MappingSpec { each, columns } = written;
        if columns.is_empty() {
            return Err("`columns` is empty: a row has one column at least".to_owned());
        }
        let columns =
            columns.into_iter().map(|column| checked(column, each.len())).collect::<Result<_, _>>()?;
        Ok(Self { each, columns })
    }
}

fn checked(column: WrittenColumn, deepest: usize) -> Result<Column, String> {
    let WrittenColumn { name, at, level, kind, null, difference, sum } = column;
    let unfit = |why: &str| format!("column `{name}` {why}");
    let source = match (at, difference, sum) {
        (Some(at), None, None) => Source::At(ValuePath { at, level }),
        (None, Some(places), None) if level.is_none() => {
            if places.len() != 2 {
                return Err(unfit("is a difference, which is of two places"));
            }
            Source::Of(Function::Difference, places)
        }
        (None, None, Some(places)) if level.is_none() => {
            if places.is_empty() {
                return Err(unfit("is a sum of nothing"));
            }
            Source::Of(Function::Sum, places)
        }
        (None, None, None) => return Err(unfit("has none of `at`, `difference` and `sum`")),
        (None, Some(_), None) | (None, None, Some(_)) => {
            return Err(unfit("has a `level`, which belongs to each place of its function"));
        }
        _ => return Err(unfit("has more than one of `at`, `difference` and `sum`")),
    };
    let places = match &source {
        Source::At(place) => std::slice::from_ref(place),
        Source::Of(_, places) => places.as_slice(),
    };
    if let Some(level) = places.iter().filter_map(|place| place.level).find(|level| *level > deepest) {
        return Err(unfit(&format!("is at level {level}, but `each` has {deepest}")));
    }
    if matches!(source, Source::Of(..))
        && let Some(kind @ (Type::Text | Type::Boolean | Type::Json | Type::Milliseconds)) = kind
    {
        return Err(unfit(&format!("is a function of numbers and cannot be {}", kind.name())));
    }
    Ok(Column { name, source, kind, null })
}
