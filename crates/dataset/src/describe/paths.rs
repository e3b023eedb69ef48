//! Collects types and lengths of values by JSON path.

use std::fmt::{self, Write as _};

use foldhash::fast::FixedState;
use hashbrown::HashMap;
use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Serialize};

use crate::own_records::pointer_step;
use crate::scan::Traits;

/// Minimum, mean and maximum of a set of lengths.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Lengths {
    /// Smallest length of all.
    pub min: u64,
    /// Arithmetic mean of the lengths.
    pub mean: f64,
    /// Largest length of all.
    pub max: u64,
}

/// Running minimum, sum and maximum of the lengths on one path.
#[derive(Clone, Copy, Debug, Default)]
struct Collected {
    count: u64,
    sum: u64,
    min: u64,
    max: u64,
}

impl Collected {
    fn add(&mut self, length: u64) {
        self.min = if self.count == 0 { length } else { self.min.min(length) };
        self.max = self.max.max(length);
        self.sum += length;
        self.count += 1;
    }

    fn lengths(self) -> Option<Lengths> {
        let Collected { count, sum, min, max } = self;
        (count > 0).then(|| Lengths { min, mean: sum as f64 / count as f64, max })
    }
}

/// Type of a JSON value. A number is an integer unless it is written with a fraction or an exponent or
/// exceeds 64 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum JsonType {
    /// The literal value `null`.
    Null,
    /// One of `true` and `false`.
    Boolean,
    /// A number that is a signed or unsigned 64-bit integer.
    Integer,
    /// A number that is no 64-bit integer.
    Float,
    /// A string. Its length is counted in UTF-8 bytes.
    String,
    /// An array. Its length is the number of elements.
    Array,
    /// An object. Its length is the number of members.
    Object,
}

const TYPES: [JsonType; 7] = [
    JsonType::Null,
    JsonType::Boolean,
    JsonType::Integer,
    JsonType::Float,
    JsonType::String,
    JsonType::Array,
    JsonType::Object,
];

/// Values of one type on one path.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TypeProfile {
    /// JSON type of the values.
    #[serde(rename = "type")]
    pub json_type: JsonType,
    /// Number of values of this type.
    pub values: u64,
    /// Number of documents with at least one value of this type.
    pub documents: u64,
    /// Lengths of the values. `None` for types without a length.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub length: Option<Lengths>,
}

/// Values on one JSON path, by type.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PathProfile {
    /// The path: `$` for the document, `a.b` for members, `a[]` for elements. `a["b.c"]` is used for names
    /// with characters other than letters, digits, `_`, `$` and `-`, and `["$"]` for a top-level member named
    /// `$`.
    pub path: String,
    /// Number of documents with at least one value on this path.
    pub documents: u64,
    /// Values by type. More than one entry is a conflict for systems that give a path a single type.
    pub types: Vec<TypeProfile>,
}

/// Counts documents, each once.
#[derive(Clone, Copy, Debug, Default)]
struct DocumentCount {
    count: u64,
    /// Number of the last counted document, from 1.
    last: u64,
}

impl DocumentCount {
    fn add(&mut self, document: u64) {
        self.count += u64::from(self.last != document);
        self.last = document;
    }
}

#[derive(Clone, Copy, Debug, Default)]
struct TypeTally {
    values: u64,
    documents: DocumentCount,
    lengths: Collected,
}

#[derive(Debug, Default)]
struct Node {
    members: HashMap<Box<str>, usize, FixedState>,
    elements: Option<usize>,
    documents: DocumentCount,
    types: [TypeTally; TYPES.len()],
    /// Whether an integer is too large for signed 64 bits.
    has_large_integer: bool,
}

/// Tree of paths under construction.
#[derive(Debug)]
pub(super) struct Paths {
    nodes: Vec<Node>,
    max_paths: usize,
    /// Number of the current document, from 1.
    document: u64,
    left_out: u64,
}

const ROOT: usize = 0;

/// Path of the document itself.
const DOCUMENT: &str = "$";

impl Paths {
    /// Creates an empty tree for at most `max_paths` paths, including the document itself.
    pub(super) fn new(max_paths: usize) -> Self {
        Paths { nodes: vec![Node::default()], max_paths: max_paths.max(1), document: 0, left_out: 0 }
    }

    /// Adds the values of a document that has been scanned. Returns `false` if they are not all represented: it
    /// is no object, nested too deep, or contains too large numbers or halves of surrogate pairs.
    pub(super) fn observe_document(&mut self, line: &[u8], traits: Traits) -> bool {
        let unrepresented = Traits::UNREADABLE | Traits::DEEP | Traits::LONE_SURROGATE | Traits::BIG_NUMBER;
        !traits.intersects(unrepresented)
            && std::str::from_utf8(line).is_ok_and(|line| self.observe(line).is_ok())
    }

    /// Adds the values of a document. If parsing fails, the values before the failure are kept.
    fn observe(&mut self, line: &str) -> serde_json::Result<()> {
        self.document += 1;
        let mut deserializer = serde_json::Deserializer::from_str(line);
        Visit { paths: self, node: Some(ROOT) }.deserialize(&mut deserializer)
    }

    /// Returns the number of values on paths beyond the maximum.
    pub(super) fn left_out(&self) -> u64 {
        self.left_out
    }

    /// Returns all paths in bytewise order.
    pub(super) fn finish(&self) -> Vec<PathProfile> {
        let mut profiles = Vec::new();
        self.visit(|node, path| {
            let tallies = TYPES.into_iter().zip(&node.types).filter(|(_, tally)| tally.values > 0);
            let types = tallies.map(|(json_type, tally)| TypeProfile {
                json_type,
                values: tally.values,
                documents: tally.documents.count,
                length: tally.lengths.lengths(),
            });
            let types = types.collect();
            profiles.push(PathProfile { path: path.to_owned(), documents: node.documents.count, types });
        });
        profiles.sort_unstable_by(|a, b| a.path.cmp(&b.path));
        profiles
    }

    /// Returns the paths with integers that are too large for signed 64 bits, in any order.
    pub(super) fn with_large_integers(&self) -> Vec<String> {
        let mut paths = Vec::new();
        self.visit(|node, path| {
            if node.has_large_integer {
                paths.push(path.to_owned());
            }
        });
        paths
    }

    /// Visits all nodes with their paths, parents before children.
    fn visit(&self, mut visit: impl FnMut(&Node, &str)) {
        // An explicit stack instead of recursion.
        let mut pending = vec![(ROOT, String::from(DOCUMENT))];
        while let Some((index, path)) = pending.pop() {
            let node = &self.nodes[index];
            visit(node, &path);
            pending.extend(node.members.iter().map(|(name, &child)| (child, member_path(&path, name))));
            pending.extend(node.elements.map(|child| (child, format!("{path}[]"))));
        }
    }

    fn tally(&mut self, node: Option<usize>, json_type: JsonType, length: Option<u64>) {
        let Some(node) = node else {
            self.left_out += 1;
            return;
        };
        let node = &mut self.nodes[node];
        node.documents.add(self.document);
        let tally = &mut node.types[json_type as usize];
        tally.values += 1;
        tally.documents.add(self.document);
        if let Some(length) = length {
            tally.lengths.add(length);
        }
    }

    fn new_node(&mut self) -> Option<usize> {
        (self.nodes.len() < self.max_paths).then(|| {
            self.nodes.push(Node::default());
            self.nodes.len() - 1
        })
    }

    fn member(&mut self, node: Option<usize>, name: &str) -> Option<usize> {
        if let Some(&child) = self.nodes[node?].members.get(name) {
            return Some(child);
        }
        let child = self.new_node()?;
        self.nodes[node?].members.insert(name.into(), child);
        Some(child)
    }

    fn element(&mut self, node: Option<usize>) -> Option<usize> {
        if let Some(child) = self.nodes[node?].elements {
            return Some(child);
        }
        let child = self.new_node()?;
        self.nodes[node?].elements = Some(child);
        Some(child)
    }
}

fn member_path(parent: &str, name: &str) -> String {
    let is_plain =
        |character: char| character.is_ascii_alphanumeric() || matches!(character, '_' | '$' | '-');
    let is_first = parent == DOCUMENT;
    if !name.is_empty() && name.chars().all(is_plain) && !(is_first && name == DOCUMENT) {
        return if is_first { name.to_string() } else { format!("{parent}.{name}") };
    }
    let mut path = if is_first { String::new() } else { parent.to_string() };
    // Writing to a `String` cannot fail.
    let _ = write!(path, "[{}]", serde_json::Value::from(name));
    path
}

/// A path split into its steps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Steps {
    /// Member names that lead to the path, from the outermost on.
    pub keys: Vec<String>,
    /// Whether the path leads to or through elements of an array.
    pub is_in_array: bool,
}

impl PathProfile {
    /// Splits the path into its steps. `None` for the path of the document itself.
    pub fn steps(&self) -> Option<Steps> {
        steps_of(&self.path)
    }
}

/// Writes member names as a JSON pointer (RFC 6901).
pub(super) fn json_pointer(steps: &[String]) -> String {
    steps.iter().map(|step| pointer_step(step)).collect()
}

fn steps_of(path: &str) -> Option<Steps> {
    let mut steps = Steps { keys: Vec::new(), is_in_array: false };
    let mut rest = match path.strip_prefix(DOCUMENT) {
        Some("") => return None,
        // Elements of a document that is an array. A member may be named `$a`.
        Some(rest) if rest.starts_with("[]") => rest,
        _ => path,
    };
    while !rest.is_empty() {
        if let Some(suffix) = rest.strip_prefix("[]") {
            steps.is_in_array = true;
            rest = suffix;
        } else if let Some(quoted) = rest.strip_prefix('[') {
            // The quoted name is a JSON string, which may contain brackets.
            let mut names = serde_json::Deserializer::from_str(quoted).into_iter::<String>();
            let name = names.next()?.ok()?;
            let end = names.byte_offset();
            steps.keys.push(name);
            rest = quoted.get(end..)?.strip_prefix(']')?;
        } else {
            let name = rest.strip_prefix('.').unwrap_or(rest);
            let end = name.find(['.', '[']).unwrap_or(name.len());
            steps.keys.push(name.get(..end).filter(|name| !name.is_empty())?.to_string());
            rest = name.get(end..)?;
        }
    }
    Some(steps)
}

/// Visits a value. `node` is `None` if its path exceeds the maximum.
struct Visit<'p> {
    paths: &'p mut Paths,
    node: Option<usize>,
}

impl<'de> DeserializeSeed<'de> for Visit<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Visit<'_> {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        self.paths.tally(self.node, JsonType::Null, None);
        Ok(())
    }

    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        self.paths.tally(self.node, JsonType::Boolean, None);
        Ok(())
    }

    fn visit_i64<E>(self, _: i64) -> Result<(), E> {
        self.paths.tally(self.node, JsonType::Integer, None);
        Ok(())
    }

    fn visit_u64<E>(self, integer: u64) -> Result<(), E> {
        if let Some(node) = self.node.filter(|_| i64::try_from(integer).is_err()) {
            self.paths.nodes[node].has_large_integer = true;
        }
        self.paths.tally(self.node, JsonType::Integer, None);
        Ok(())
    }

    fn visit_f64<E>(self, _: f64) -> Result<(), E> {
        self.paths.tally(self.node, JsonType::Float, None);
        Ok(())
    }

    fn visit_str<E>(self, text: &str) -> Result<(), E> {
        self.paths.tally(self.node, JsonType::String, Some(text.len() as u64));
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<(), A::Error> {
        let mut length = 0;
        while elements.next_element_seed(Element { paths: &mut *self.paths, parent: self.node })?.is_some() {
            length += 1;
        }
        self.paths.tally(self.node, JsonType::Array, Some(length));
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<(), A::Error> {
        let mut length = 0;
        while let Some(child) = members.next_key_seed(Name { paths: &mut *self.paths, parent: self.node })? {
            members.next_value_seed(Visit { paths: &mut *self.paths, node: child })?;
            length += 1;
        }
        self.paths.tally(self.node, JsonType::Object, Some(length));
        Ok(())
    }
}

/// Visits an array element. Its path is created only when an element exists, because an empty array has none.
struct Element<'p> {
    paths: &'p mut Paths,
    parent: Option<usize>,
}

impl<'de> DeserializeSeed<'de> for Element<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        let node = self.paths.element(self.parent);
        Visit { paths: self.paths, node }.deserialize(deserializer)
    }
}

/// Deserializes a member name into the node of its value's path.
struct Name<'p> {
    paths: &'p mut Paths,
    parent: Option<usize>,
}

impl<'de> DeserializeSeed<'de> for Name<'_> {
    type Value = Option<usize>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Option<usize>, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl Visitor<'_> for Name<'_> {
    type Value = Option<usize>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a member's name")
    }

    fn visit_str<E>(self, name: &str) -> Result<Option<usize>, E> {
        Ok(self.paths.member(self.parent, name))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[derive(Debug, Clone)]
    enum Step {
        Member(String),
        Elements,
    }

    fn step() -> impl Strategy<Value = Step> {
        let name = prop_oneof![
            prop::collection::vec(any::<char>(), 0..5).prop_map(String::from_iter),
            r#"[$\[\]"\\.a-]{0,3}"#,
        ];
        prop_oneof![4 => name.prop_map(Step::Member), 1 => Just(Step::Elements)]
    }

    fn steps(keys: &[&str], is_in_array: bool) -> Option<Steps> {
        Some(Steps { keys: keys.iter().map(|key| (*key).to_owned()).collect(), is_in_array })
    }

    #[test]
    fn paths_are_taken_apart() {
        assert_eq!(steps_of("$"), None);
        assert_eq!(steps_of("a[]"), steps(&["a"], true));
        assert_eq!(steps_of("a[].b"), steps(&["a", "b"], true));
        assert_eq!(steps_of("$[].b"), steps(&["b"], true));
        assert_eq!(steps_of(r#"["$"]"#), steps(&["$"], false));
        assert_eq!(steps_of(r#"a.b["c.d \"e\"]"].f"#), steps(&["a", "b", "c.d \"e\"]", "f"], false));
        assert_eq!(steps_of(r#"[""]"#), steps(&[""], false));
    }

    #[test]
    fn a_member_called_as_the_document_is_not_the_document() {
        let mut paths = Paths::new(100);
        paths.observe(r#"{"$":{"$":1,"a":2},"a":"x"}"#).unwrap();
        let found: Vec<String> = paths.finish().into_iter().map(|profile| profile.path).collect();
        assert_eq!(found, ["$", r#"["$"]"#, r#"["$"].$"#, r#"["$"].a"#, "a"]);
    }

    proptest! {
        #[test]
        fn steps_come_back_from_their_path_and_no_other_has_it(
            left in prop::collection::vec(step(), 1..4),
            right in prop::collection::vec(step(), 1..4),
        ) {
            let path = |steps: &[Step]| steps.iter().fold(DOCUMENT.to_string(), |path, step| match step {
                Step::Member(name) => member_path(&path, name),
                Step::Elements => format!("{path}[]"),
            });
            let keys = left.iter().filter_map(|step| match step {
                Step::Member(name) => Some(name.clone()),
                Step::Elements => None,
            });
            let keys: Vec<String> = keys.collect();
            let is_in_array = keys.len() < left.len();
            prop_assert_eq!(steps_of(&path(&left)), Some(Steps { keys, is_in_array }));
            let is_same = format!("{left:?}") == format!("{right:?}");
            prop_assert_eq!(path(&left) == path(&right), is_same);
        }
    }
}
