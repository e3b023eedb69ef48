//! Shapes of documents: the tree of members, and the pieces of text from which documents are assembled.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::value::Length;
use super::{Kind, Records};
use crate::error::DataError;

/// Number of fields in a flat document.
const FLAT: usize = 10;
/// Minimum value length in characters: with shorter values, a changed tag might not show in the other
/// characters.
const SHORTEST: usize = 32;
/// Minimum size of [`Kind::Size`] documents, in bytes.
pub const MIN_DOCUMENT_BYTES: u32 = 121 + 10 * 32;
/// Maximum size of [`Kind::Size`] documents, in bytes.
pub const MAX_DOCUMENT_BYTES: u32 = 64 << 20;
/// Length in characters of the value in each element of `list` and each entry of `map`.
const ELEMENT: usize = 40;
/// Maximum number of elements of an array.
pub const MAX_MEMBERS: u32 = 1_000_000;

/// One step of a path from the document to a value.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PathSegment {
    /// A member of an object, by name.
    Member(String),
    /// An element of an array, by index from 0.
    Element(u32),
}

/// Position of a value in a document. Displayed as, for instance, `object0.value1` or `list.3.value`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Path {
    /// Steps from the document to the value, outermost first.
    pub steps: Vec<PathSegment>,
    pub(super) length: Length,
}

impl Path {
    /// Returns the length of the path's values in characters. For [`Kind::Size`] with random values this is
    /// an upper bound, because `"` and `\` take two bytes in the text.
    #[must_use]
    pub fn max_value_length(&self) -> usize {
        self.length.max_length()
    }
}

impl fmt::Display for Path {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, step) in self.steps.iter().enumerate() {
            if index > 0 {
                formatter.write_str(".")?;
            }
            match step {
                PathSegment::Member(name) => formatter.write_str(name)?,
                PathSegment::Element(index) => write!(formatter, "{index}")?,
            }
        }
        Ok(())
    }
}

/// Node of a document's tree.
#[derive(Clone, Debug)]
pub(super) enum Node {
    Object(Object),
    Array(Vec<Node>),
    /// String value, given as index of its path.
    Value(usize),
    /// Boolean: whether the element of this path satisfies the condition.
    Status(usize),
    /// Fixed number, as written in the text.
    Number(Vec<u8>),
    /// The key of the record itself.
    Key,
}

/// Members of an object in document order.
#[derive(Clone, Debug, Default)]
pub(super) struct Object {
    /// Names in quotation marks; none contains characters that must be escaped.
    pub(super) names: Vec<Vec<u8>>,
    pub(super) members: Vec<Node>,
    /// Indexes of the members, sorted by name.
    sorted: Vec<u32>,
}

impl Object {
    pub(super) fn new(members: Vec<(String, Node)>) -> Self {
        let mut object = Object::default();
        for (name, node) in members {
            object.names.push(format!("\"{name}\"").into_bytes());
            object.members.push(node);
        }
        object.sorted = (0..object.names.len()).filter_map(|index| u32::try_from(index).ok()).collect();
        object.sorted.sort_by(|a, b| object.names[*a as usize].cmp(&object.names[*b as usize]));
        object
    }

    /// Returns the index of the member with this name, which must be given in quotation marks.
    pub(super) fn find(&self, name: &[u8]) -> Option<usize> {
        let position = self.sorted.binary_search_by(|index| self.names[*index as usize].as_slice().cmp(name));
        position.ok().map(|position| self.sorted[position] as usize)
    }
}

/// Variable part between two literal parts of a document's text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Slot {
    Key,
    Value(usize),
    Status(usize),
    End,
}

/// Literal part of a document's text, and the variable part that follows.
#[derive(Clone, Debug)]
pub(super) struct Piece {
    pub(super) literal: Vec<u8>,
    pub(super) slot: Slot,
}

/// Shape shared by all documents of a set.
#[derive(Clone, Debug)]
pub(super) struct Shape {
    pub(super) paths: Vec<Path>,
    pub(super) root: Node,
    pub(super) pieces: Vec<Piece>,
    /// Upper bound of the length of a document's text in bytes.
    pub(super) max_bytes: usize,
}

impl Shape {
    /// Builds the shape of the records' documents.
    ///
    /// # Errors
    ///
    /// [`DataError::Range`] if the size or number of members is out of range, or if the key member has an
    /// invalid name or that of another member.
    pub(super) fn build(records: &Records) -> Result<Self, DataError> {
        let mut numberer = PathNumberer::default();
        let mut members = numberer.members(&records.kind)?;
        if let Some(name) = &records.key_member {
            if members.iter().any(|(member, _)| member == name) {
                let reason = format!("documents have a member `{name}` that is not their key");
                return Err(DataError::Range { reason });
            }
            if name.is_empty() || name.contains(|c: char| c.is_control() || matches!(c, '"' | '\\')) {
                let reason = format!("`{}` is no name for a member", name.escape_debug());
                return Err(DataError::Range { reason });
            }
            members.insert(0, (name.clone(), Node::Key));
        }
        let root = Node::Object(Object::new(members));
        let mut writer = Writer::default();
        writer.write(&root);
        writer.cut(Slot::End);
        let paths = numberer.paths;
        let lengths = writer.pieces.iter().map(|piece| piece.literal.len() + max_length(piece.slot, &paths));
        let max_bytes = lengths.sum();
        Ok(Shape { paths, root, pieces: writer.pieces, max_bytes })
    }

    /// Returns the subtree that leads to these paths, with members in document order. Arrays are included
    /// whole.
    pub(super) fn subtree(&self, paths: &[usize]) -> Node {
        prune(&self.root, paths).unwrap_or_else(|| Node::Object(Object::default()))
    }
}

/// Returns the maximum length of a slot's text in bytes.
fn max_length(slot: Slot, paths: &[Path]) -> usize {
    match slot {
        Slot::Key => super::key::KEY_LENGTH + 2,
        // Every character may need an escape.
        Slot::Value(path) => 2 * paths[path].length.max_length() + 2,
        Slot::Status(_) => 5,
        Slot::End => 0,
    }
}

fn prune(node: &Node, paths: &[usize]) -> Option<Node> {
    match node {
        Node::Value(path) => paths.contains(path).then(|| node.clone()),
        Node::Array(elements) => {
            elements.iter().any(|element| prune(element, paths).is_some()).then(|| node.clone())
        }
        Node::Object(object) => {
            let mut members = Vec::new();
            for (name, member) in object.names.iter().zip(&object.members) {
                if let Some(member) = prune(member, paths) {
                    let name = String::from_utf8_lossy(&name[1..name.len() - 1]).into_owned();
                    members.push((name, member));
                }
            }
            (!members.is_empty()).then(|| Node::Object(Object::new(members)))
        }
        Node::Status(_) | Node::Number(_) | Node::Key => None,
    }
}

/// Builds the tree and numbers the paths in document order.
#[derive(Default)]
struct PathNumberer {
    paths: Vec<Path>,
    steps: Vec<PathSegment>,
}

impl PathNumberer {
    fn members(&mut self, kind: &Kind) -> Result<Vec<(String, Node)>, DataError> {
        match kind {
            Kind::Small => Ok(self.fields(&[SHORTEST; 3], false)),
            Kind::Flat => Ok(self.fields(&[100; FLAT], false)),
            Kind::Large => Ok(self.fields(&[200; 100], false)),
            Kind::Size { bytes } => self.sized(*bytes),
            Kind::Nested => Ok(self.objects(4, 3)),
            Kind::Items { members } if (1..=MAX_MEMBERS).contains(members) => Ok(self.items(*members)),
            Kind::Items { members } => {
                let reason = format!("{members} members; documents have 1 to {MAX_MEMBERS}");
                Err(DataError::Range { reason })
            }
        }
    }

    fn value(&mut self, step: PathSegment, length: Length) -> Node {
        let mut steps = self.steps.clone();
        steps.push(step);
        self.paths.push(Path { steps, length });
        Node::Value(self.paths.len() - 1)
    }

    fn named(&mut self, name: String, length: Length) -> (String, Node) {
        let node = self.value(PathSegment::Member(name.clone()), length);
        (name, node)
    }

    fn fields(&mut self, lengths: &[usize], escaped: bool) -> Vec<(String, Node)> {
        let length = |length| if escaped { Length::Escaped(length) } else { Length::Characters(length) };
        let fields = lengths.iter().enumerate();
        fields.map(|(index, &bytes)| self.named(format!("field{index}"), length(bytes))).collect()
    }

    /// Builds ten fields whose lengths differ by at most one and use all bytes that the given size leaves for
    /// values.
    fn sized(&mut self, bytes: u32) -> Result<Vec<(String, Node)>, DataError> {
        if !(MIN_DOCUMENT_BYTES..=MAX_DOCUMENT_BYTES).contains(&bytes) {
            let reason = format!(
                "documents of {bytes} bytes; {MIN_DOCUMENT_BYTES} to {MAX_DOCUMENT_BYTES} can be made"
            );
            return Err(DataError::Range { reason });
        }
        // Names, quotation marks, colons, commas and braces.
        let overhead = "{}".len() + FLAT * "\"field0\":\"\"".len() + (FLAT - 1);
        let available = bytes as usize - overhead;
        let lengths: Vec<usize> = (0..FLAT).map(|index| (available + index) / FLAT).collect();
        debug_assert!(lengths.iter().all(|length| *length >= SHORTEST));
        Ok(self.fields(&lengths, true))
    }

    /// Builds the objects of one level. Each has two values and two objects; on the last level, four values.
    fn objects(&mut self, count: usize, levels: usize) -> Vec<(String, Node)> {
        (0..count)
            .map(|index| {
                let name = format!("object{index}");
                self.steps.push(PathSegment::Member(name.clone()));
                let values = if levels == 1 { 4 } else { 2 };
                let mut members: Vec<_> = (0..values)
                    .map(|value| self.named(format!("value{value}"), Length::Characters(100)))
                    .collect();
                if levels > 1 {
                    members.extend(self.objects(2, levels - 1));
                }
                self.steps.pop();
                (name, Node::Object(Object::new(members)))
            })
            .collect()
    }

    /// Builds an array `list` of objects and an object `map` of objects.
    fn items(&mut self, count: u32) -> Vec<(String, Node)> {
        let list = (0..count).map(|index| {
            self.steps = vec![PathSegment::Member("list".to_owned()), PathSegment::Element(index)];
            let id = Node::Number((index + 1).to_string().into_bytes());
            let mut members = vec![("id".to_owned(), id)];
            members.extend(self.element());
            Node::Object(Object::new(members))
        });
        let list = Node::Array(list.collect());
        let map = (1..=count).map(|number| {
            let name = format!("item{number}");
            self.steps = vec![PathSegment::Member("map".to_owned()), PathSegment::Member(name.clone())];
            (name, Node::Object(Object::new(self.element())))
        });
        let map = Node::Object(Object::new(map.collect()));
        self.steps.clear();
        vec![("list".to_owned(), list), ("map".to_owned(), map)]
    }

    fn element(&mut self) -> Vec<(String, Node)> {
        let value = self.named("value".to_owned(), Length::Characters(ELEMENT));
        vec![("status".to_owned(), Node::Status(self.paths.len() - 1)), value]
    }
}

/// Writes a document's text, split at its variable parts.
#[derive(Default)]
struct Writer {
    pieces: Vec<Piece>,
    literal: Vec<u8>,
}

impl Writer {
    fn cut(&mut self, slot: Slot) {
        self.pieces.push(Piece { literal: std::mem::take(&mut self.literal), slot });
    }

    fn write(&mut self, node: &Node) {
        match node {
            Node::Key => self.cut(Slot::Key),
            Node::Status(path) => self.cut(Slot::Status(*path)),
            Node::Number(digits) => self.literal.extend_from_slice(digits),
            Node::Value(path) => {
                self.literal.push(b'"');
                self.cut(Slot::Value(*path));
                self.literal.push(b'"');
            }
            Node::Array(elements) => {
                self.literal.push(b'[');
                for (index, element) in elements.iter().enumerate() {
                    if index > 0 {
                        self.literal.push(b',');
                    }
                    self.write(element);
                }
                self.literal.push(b']');
            }
            Node::Object(object) => {
                self.literal.push(b'{');
                for (index, (name, member)) in object.names.iter().zip(&object.members).enumerate() {
                    if index > 0 {
                        self.literal.push(b',');
                    }
                    self.literal.extend_from_slice(name);
                    self.literal.push(b':');
                    self.write(member);
                }
                self.literal.push(b'}');
            }
        }
    }
}
