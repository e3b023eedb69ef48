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
    pub(super) lists: Vec<Pointer>,
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
    Single(ValuePath),
    Computed(Function, Vec<ValuePath>),
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
    #[serde(rename = "at")]
    pub(super) pointer: Pointer,
    /// List depth that `pointer` starts from: 0 is the answer, 1 an element of the first list. `None` for the
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
            Some(mut elements) => elements.nth(list_index(token)?),
            None => node.member(token),
        })
    }
}

/// Parses a list index, which must have neither a sign nor leading zeros.
fn list_index(token: &str) -> Option<usize> {
    let is_valid =
        token == "0" || (!token.starts_with('0') && token.bytes().all(|byte| byte.is_ascii_digit()));
    if is_valid { token.parse().ok() } else { None }
}

impl TryFrom<String> for Pointer {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let mut tokens = Vec::new();
        if !text.is_empty() {
            let path = text
                .strip_prefix('/')
                .ok_or_else(|| format!("`{text}` is no JSON Pointer: one is empty or starts with `/`"))?;
            for token in path.split('/') {
                let mut escaped = token.split('~').skip(1);
                if let Some(escape) = escaped.find(|rest| !rest.starts_with(['0', '1'])) {
                    return Err(format!("`{text}` is no JSON Pointer: `~{escape}` is neither `~0` nor `~1`"));
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
    columns: Vec<ColumnSpec>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ColumnSpec {
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

    fn try_from(spec: MappingSpec) -> Result<Self, String> {
        let MappingSpec { each, columns } = spec;
        if columns.is_empty() {
            return Err("`columns` is empty: a row has one column at least".to_owned());
        }
        let columns = columns
            .into_iter()
            .map(|column| validate_column(column, each.len()))
            .collect::<Result<_, _>>()?;
        Ok(Self { lists: each, columns })
    }
}

fn validate_column(column: ColumnSpec, depth: usize) -> Result<Column, String> {
    let ColumnSpec { name, at, level, kind, null, difference, sum } = column;
    let invalid = |reason: &str| format!("column `{name}` {reason}");
    let source = match (at, difference, sum) {
        (Some(at), None, None) => Source::Single(ValuePath { pointer: at, level }),
        (None, Some(paths), None) if level.is_none() => {
            if paths.len() != 2 {
                return Err(invalid("is a difference, which is of two places"));
            }
            Source::Computed(Function::Difference, paths)
        }
        (None, None, Some(paths)) if level.is_none() => {
            if paths.is_empty() {
                return Err(invalid("is a sum of nothing"));
            }
            Source::Computed(Function::Sum, paths)
        }
        (None, None, None) => return Err(invalid("has none of `at`, `difference` and `sum`")),
        (None, Some(_), None) | (None, None, Some(_)) => {
            return Err(invalid("has a `level`, which belongs to each place of its function"));
        }
        _ => return Err(invalid("has more than one of `at`, `difference` and `sum`")),
    };
    let paths = match &source {
        Source::Single(path) => std::slice::from_ref(path),
        Source::Computed(_, paths) => paths.as_slice(),
    };
    if let Some(level) = paths.iter().filter_map(|path| path.level).find(|level| *level > depth) {
        return Err(invalid(&format!("is at level {level}, but `each` has {depth}")));
    }
    if matches!(source, Source::Computed(..))
        && let Some(kind @ (Type::Text | Type::Boolean | Type::Json | Type::Milliseconds)) = kind
    {
        return Err(invalid(&format!("is a function of numbers and cannot be {}", kind.name())));
    }
    Ok(Column { name, source, kind, null })
}
