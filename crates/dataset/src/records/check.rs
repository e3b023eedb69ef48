//! Verifies documents in one pass over the text: shape, key, and every value by its own tag.

use super::answer_error::{AnswerError, AnswerFault};
use super::cursor::Cursor;
use super::set::{Hashes, RecordSet};
use super::shape::{Node, Object};
use super::value::{self, TAG};
use super::{KeyType, Values};

/// Maximum number of members that are tracked in a 128-bit integer; larger objects use a bitmap in memory.
const SMALL: usize = 128;

/// Values that the writes of a mix change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WriteScope {
    /// No value is changed.
    Nothing,
    /// Only the value at this path.
    Path(usize),
    /// All values of a document at once.
    All,
}

/// Versions of a document's values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SeenVersions {
    /// Version of the values that writes change. `None` if the text contains none of them.
    pub version: Option<u32>,
    /// Version of all other values: 0 as loaded, or that of the write that inserted or replaced the whole
    /// document. `None` if the text contains no other values.
    pub base: Option<u32>,
}

/// Working memory of the verification, reused between documents.
#[derive(Clone, Debug, Default)]
pub struct Scratch {
    pub(super) expected: Vec<u8>,
    /// Bitmaps of the members seen in large objects that are still open.
    marks: Vec<u64>,
}

impl Scratch {
    /// Creates working memory without allocating.
    #[must_use]
    pub fn new() -> Self {
        Scratch::default()
    }
}

/// A part of a document: some of its values, within their enclosing objects.
#[derive(Clone, Debug)]
pub struct ExpectedSubtree {
    root: Node,
}

impl RecordSet {
    /// Returns the part of a document that holds only the values at these paths, as a projection returns it.
    #[must_use]
    pub fn subtree(&self, paths: &[usize]) -> ExpectedSubtree {
        ExpectedSubtree { root: self.shape.subtree(paths) }
    }

    /// Verifies that a text is this record's document. It must have the exact shape with members in any
    /// order, the record's key if documents have one, and the right value for each tag. Values that writes
    /// change may have any version; all other values must have one common version.
    ///
    /// # Errors
    ///
    /// The first fault of the text, with its position.
    pub fn check(
        &self,
        number: u64,
        text: &[u8],
        write_scope: WriteScope,
        scratch: &mut Scratch,
    ) -> Result<SeenVersions, AnswerError> {
        self.check_node(&self.shape.root, number, text, write_scope, scratch)
    }

    /// Verifies a part of a document like [`Self::check`] verifies a whole one.
    ///
    /// # Errors
    ///
    /// The first fault of the text, with its position.
    pub fn check_subtree(
        &self,
        subtree: &ExpectedSubtree,
        number: u64,
        text: &[u8],
        write_scope: WriteScope,
        scratch: &mut Scratch,
    ) -> Result<SeenVersions, AnswerError> {
        self.check_node(&subtree.root, number, text, write_scope, scratch)
    }

    /// Verifies the element or entry that contains a path, given as a JSON text of its own.
    ///
    /// # Errors
    ///
    /// The first fault of the text. [`AnswerFault::Unasked`] if the path belongs to no element.
    pub fn check_element(
        &self,
        number: u64,
        path: usize,
        text: &[u8],
        write_scope: WriteScope,
        scratch: &mut Scratch,
    ) -> Result<SeenVersions, AnswerError> {
        let Some(node) = self.element_node(path) else {
            return Err(AnswerError { fault: AnswerFault::Unasked, position: 0 });
        };
        self.check_node(node, number, text, write_scope, scratch)
    }

    /// Verifies a single value, given without escapes, and returns its version.
    ///
    /// # Errors
    ///
    /// If the text has no tag, or is not the value of this record and path with that tag.
    pub fn check_value(
        &self,
        number: u64,
        path: usize,
        text: &[u8],
        scratch: &mut Scratch,
    ) -> Result<u32, AnswerError> {
        let tag = text.get(..TAG).and_then(|digits| value::version(digits.try_into().ok()?));
        let version = tag.ok_or(AnswerError { fault: AnswerFault::Tag, position: 0 })?;
        let expected = &mut scratch.expected;
        expected.clear();
        self.value(number, path, version, expected);
        if expected.as_slice() == text {
            return Ok(version);
        }
        let matching = expected.iter().zip(text).take_while(|(a, b)| a == b).count();
        let fault = if matching == text.len() { AnswerFault::Truncated } else { AnswerFault::Value };
        Err(AnswerError { fault, position: matching })
    }

    fn check_node(
        &self,
        node: &Node,
        number: u64,
        text: &[u8],
        write_scope: WriteScope,
        scratch: &mut Scratch,
    ) -> Result<SeenVersions, AnswerError> {
        scratch.marks.clear();
        let mut checker = DocumentChecker {
            set: self,
            number,
            hashes: self.hashes(number),
            write_scope,
            versions: SeenVersions::default(),
            cursor: Cursor::new(text),
            scratch,
        };
        checker.node(node)?;
        checker.cursor.next_token();
        if checker.cursor.position < text.len() {
            return Err(AnswerError { fault: AnswerFault::Trailing, position: checker.cursor.position });
        }
        Ok(checker.versions)
    }
}

struct DocumentChecker<'a> {
    set: &'a RecordSet,
    number: u64,
    hashes: Hashes,
    write_scope: WriteScope,
    versions: SeenVersions,
    cursor: Cursor<'a>,
    scratch: &'a mut Scratch,
}

impl DocumentChecker<'_> {
    fn node(&mut self, node: &Node) -> Result<(), AnswerError> {
        let first = self.cursor.next_token();
        match node {
            Node::Value(path) if first == b'"' => self.value(*path),
            Node::Object(object) if first == b'{' => self.object(object),
            Node::Array(elements) if first == b'[' => self.array(elements),
            Node::Status(path) => self.status(*path),
            Node::Number(digits) => {
                if self.cursor.skip_word(digits) {
                    Ok(())
                } else {
                    Err(self.cursor.word_error(&[digits], type_fault(first)))
                }
            }
            Node::Key => self.key(first),
            _ => Err(self.cursor.error(type_fault(first))),
        }
    }

    #[inline]
    fn value(&mut self, path: usize) -> Result<(), AnswerError> {
        self.cursor.position += 1;
        let Some(version) = self.cursor.tag() else { return Err(self.cut_or(AnswerFault::Tag)) };
        let expected = &mut self.scratch.expected;
        expected.clear();
        self.set.characters(path, self.hashes.value(path, version), version, expected);
        let is_plain = self.set.records.values == Values::Text;
        if !self.cursor.string(expected, is_plain) {
            return Err(self.cursor.error(AnswerFault::Value));
        }
        let slot = match self.write_scope {
            WriteScope::All => &mut self.versions.version,
            WriteScope::Path(written) if written == path => &mut self.versions.version,
            _ => &mut self.versions.base,
        };
        if *slot.get_or_insert(version) == version {
            Ok(())
        } else {
            Err(self.cursor.error(AnswerFault::Mixed))
        }
    }

    /// Returns [`AnswerFault::Truncated`] if the text ends within the tag.
    #[cold]
    fn cut_or(&self, fault: AnswerFault) -> AnswerError {
        let rest = self.cursor.text.get(self.cursor.position..).unwrap_or_default();
        let is_truncated = rest.len() < TAG && !rest.contains(&b'"');
        AnswerError {
            fault: if is_truncated { AnswerFault::Truncated } else { fault },
            position: self.cursor.position,
        }
    }

    fn status(&mut self, path: usize) -> Result<(), AnswerError> {
        let satisfies = self.set.satisfies(self.number, path);
        let (expected, opposite): (&[u8], &[u8]) =
            if satisfies { (b"true", b"false") } else { (b"false", b"true") };
        if self.cursor.skip_word(expected) {
            Ok(())
        } else if self.cursor.skip_word(opposite) {
            Err(self.cursor.error(AnswerFault::Value))
        } else {
            let first = self.cursor.peek();
            Err(self.cursor.word_error(&[expected, opposite], type_fault(first)))
        }
    }

    fn key(&mut self, first: u8) -> Result<(), AnswerError> {
        let records = &self.set.records;
        let expected = &mut self.scratch.expected;
        expected.clear();
        records.key(self.number, expected);
        let is_match = match (records.key_type, first) {
            (KeyType::Text, b'"') => {
                self.cursor.position += 1;
                self.cursor.string(expected, true)
            }
            (KeyType::Bigint, b'0'..=b'9') => {
                if !self.cursor.skip_word(expected) {
                    return Err(self.cursor.word_error(&[expected], AnswerFault::Key));
                }
                true
            }
            _ => return Err(self.cursor.error(type_fault(first))),
        };
        if is_match { Ok(()) } else { Err(self.cursor.error(AnswerFault::Key)) }
    }

    fn array(&mut self, elements: &[Node]) -> Result<(), AnswerError> {
        self.cursor.position += 1;
        for (index, element) in elements.iter().enumerate() {
            if index > 0 && !self.cursor.take(b',') {
                return Err(self.separator_fault(b']', AnswerFault::Missing));
            }
            if index == 0 && self.cursor.next_token() == b']' {
                return Err(self.cursor.error(AnswerFault::Missing));
            }
            self.node(element)?;
        }
        if self.cursor.take(b']') { Ok(()) } else { Err(self.separator_fault(b',', AnswerFault::Additional)) }
    }

    /// Returns the fault for an unexpected byte after an element or member: `fault` if the byte is `byte`.
    #[cold]
    fn separator_fault(&self, byte: u8, fault: AnswerFault) -> AnswerError {
        self.cursor.error(if self.cursor.peek() == byte { fault } else { AnswerFault::Syntax })
    }

    fn object(&mut self, object: &Object) -> Result<(), AnswerError> {
        self.cursor.position += 1;
        let count = object.members.len();
        let mut marks = MemberMarks::new(count, &mut self.scratch.marks);
        let mut expected = 0;
        for index in 0..count {
            if index > 0 && !self.cursor.take(b',') {
                return Err(self.separator_fault(b'}', AnswerFault::Missing));
            }
            match self.cursor.next_token() {
                b'"' => {}
                b'}' if index == 0 => return Err(self.cursor.error(AnswerFault::Missing)),
                _ => return Err(self.cursor.error(AnswerFault::Syntax)),
            }
            let member = match object.names.get(expected) {
                Some(name) if self.cursor.skip(name) => expected,
                _ => self.find(object)?,
            };
            if !marks.mark(member, &mut self.scratch.marks) {
                return Err(self.cursor.error(AnswerFault::Doubled));
            }
            if !self.cursor.take(b':') {
                return Err(self.cursor.error(AnswerFault::Syntax));
            }
            self.node(&object.members[member])?;
            expected = member + 1;
        }
        marks.done(&mut self.scratch.marks);
        if self.cursor.take(b'}') { Ok(()) } else { Err(self.separator_fault(b',', AnswerFault::Additional)) }
    }

    /// Finds the next member's name, which is not the name expected in document order.
    fn find(&mut self, object: &Object) -> Result<usize, AnswerError> {
        // Names usually have no escapes and end at the next quotation mark.
        let rest = &self.cursor.text[self.cursor.position..];
        if let Some(length) = memchr::memchr(b'"', &rest[1..])
            && let Some(member) = object.find(&rest[..length + 2])
        {
            self.cursor.position += length + 2;
            return Ok(member);
        }
        let mut buffer = [0; 64];
        let start = self.cursor.position;
        match self.cursor.name(&mut buffer) {
            Some(name) => {
                object.find(name).ok_or(AnswerError { fault: AnswerFault::Additional, position: start })
            }
            None => Err(self.cursor.error(AnswerFault::Additional)),
        }
    }
}

/// Returns the fault for an unexpected first byte of a value: another type, or a syntax error.
#[cold]
fn type_fault(first: u8) -> AnswerFault {
    match first {
        b'"' | b'{' | b'[' | b'-' | b'0'..=b'9' | b't' | b'f' | b'n' => AnswerFault::Type,
        _ => AnswerFault::Syntax,
    }
}

/// Set of the members of an object that have been seen.
enum MemberMarks {
    Few(u128),
    /// Start index of the bitmap in [`Scratch::marks`].
    Many(usize),
}

impl MemberMarks {
    #[inline]
    fn new(count: usize, memory: &mut Vec<u64>) -> Self {
        if count <= SMALL {
            return MemberMarks::Few(0);
        }
        let start = memory.len();
        memory.resize(start + count.div_ceil(64), 0);
        MemberMarks::Many(start)
    }

    /// Marks a member. Returns `false` if it was already marked.
    #[inline]
    fn mark(&mut self, member: usize, memory: &mut [u64]) -> bool {
        match self {
            MemberMarks::Few(bits) => {
                let bit = 1 << member;
                let is_new = *bits & bit == 0;
                *bits |= bit;
                is_new
            }
            MemberMarks::Many(start) => {
                let (bits, bit) = (&mut memory[*start + member / 64], 1 << (member % 64));
                let is_new = *bits & bit == 0;
                *bits |= bit;
                is_new
            }
        }
    }

    fn done(self, memory: &mut Vec<u64>) {
        if let MemberMarks::Many(start) = self {
            memory.truncate(start);
        }
    }
}
