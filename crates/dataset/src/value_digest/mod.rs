//! Digests of JSON documents by value: the order of members, the spelling of numbers and the escapes of
//! texts do not change them.
//!
//! Of members with the same name, the last one counts. Numbers are compared as exact decimals, so that `1`,
//! `1.0` and `10e-1` are equal, and `-0` equals `0`. Values at given paths can be captured, and be left out
//! of the digest.

mod machine;
mod number;

use std::borrow::Cow;

use twox_hash::XxHash3_64;

use crate::records::{AnswerError, PathSegment};
use crate::scan::decode;
use machine::{DigestMachine, MachineMemory};
use number::number_hash;

/// Number of paths that one [`CapturePlan`] may have.
pub const MAX_CAPTURES: usize = 64;
/// Number of levels of arrays and objects up to which documents are digested.
pub const MAX_LEVELS: usize = 100_000;

/// Paths whose values are captured from documents.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CapturePlan {
    paths: Vec<CapturePath>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct CapturePath {
    steps: Vec<PathSegment>,
    is_left_out: bool,
}

impl CapturePlan {
    /// Adds a path and returns its index among the captured values. With `is_left_out`, neither the value nor
    /// its presence changes the digest. `None` if the path has no step, or if there are [`MAX_CAPTURES`]
    /// already.
    pub fn add(&mut self, steps: &[PathSegment], is_left_out: bool) -> Option<usize> {
        if steps.is_empty() || self.paths.len() >= MAX_CAPTURES {
            return None;
        }
        self.paths.push(CapturePath { steps: steps.to_vec(), is_left_out });
        Some(self.paths.len() - 1)
    }
}

/// Type of a captured value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CapturedKind {
    /// The document has no value at the path.
    #[default]
    Absent,
    /// A text, by its characters.
    Text,
    /// A number, by its value.
    Number,
    /// The literal `true` or `false`.
    Bool,
    /// The literal `null`, which is a value.
    Null,
    /// An object or array.
    Container,
}

/// Value at a captured path, as its place in the document's text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Captured {
    /// Type of the value.
    pub kind: CapturedKind,
    /// Byte offset at which the value begins; a text begins with its quotation mark.
    pub start: usize,
    /// Byte offset after the value. Equal to `start` for a container.
    pub end: usize,
    /// Hash of the value, which is equal for equal values of any spelling. 0 if the value is absent.
    pub hash: u64,
    /// How often the path occurred: more than once in documents with duplicate names, where the last counts.
    pub count: u32,
    /// Whether a member on the way to the path has an array, in whose elements some systems follow it.
    pub crosses_array: bool,
    has_escapes: bool,
}

impl Captured {
    /// Returns the characters of a text, given the document's text. `None` if the value is no text. They are
    /// UTF-8 unless the text has half a surrogate pair.
    #[must_use]
    pub fn text<'t>(&self, document: &'t [u8]) -> Option<Cow<'t, [u8]>> {
        if self.kind != CapturedKind::Text {
            return None;
        }
        let raw = document.get(self.start + 1..self.end.checked_sub(1)?)?;
        Some(if self.has_escapes { Cow::Owned(decode(raw)) } else { Cow::Borrowed(raw) })
    }

    /// Returns the value as it is written in the document's text. Empty for an absent value or a container.
    #[must_use]
    pub fn raw<'t>(&self, document: &'t [u8]) -> &'t [u8] {
        document.get(self.start..self.end).unwrap_or_default()
    }

    /// Returns the value if it is a number written as an integer of 64 bits, without point or exponent.
    #[must_use]
    pub fn integer(&self, document: &[u8]) -> Option<i64> {
        if self.kind != CapturedKind::Number {
            return None;
        }
        std::str::from_utf8(self.raw(document)).ok()?.parse().ok()
    }
}

/// Digests documents, with working memory that is reused.
#[derive(Debug, Default)]
pub struct ValueDigester {
    memory: MachineMemory,
    captured: Vec<Captured>,
}

impl ValueDigester {
    /// Creates a digester without allocating.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the digest of a document. Its captured values are in [`Self::captured`] until the next call.
    ///
    /// # Errors
    ///
    /// The first fault of a text that is not JSON. [`crate::records::AnswerFault::Type`] if it has more than
    /// [`MAX_LEVELS`] levels.
    pub fn digest(&mut self, text: &[u8], plan: &CapturePlan) -> Result<u64, AnswerError> {
        self.captured.clear();
        self.captured.resize(plan.paths.len(), Captured::default());
        DigestMachine::new(text, &plan.paths, &mut self.memory, &mut self.captured).document()
    }

    /// Values captured from the last document, by their index in the plan.
    #[must_use]
    pub fn captured(&self) -> &[Captured] {
        &self.captured
    }
}

/// Hash of a text value with these characters, as in [`Captured::hash`].
#[must_use]
#[inline]
pub fn text_value_hash(characters: &[u8]) -> u64 {
    combine(XxHash3_64::oneshot(characters), TEXT)
}

/// Hash of an integer value, as in [`Captured::hash`].
#[must_use]
pub fn integer_value_hash(value: i64) -> u64 {
    number_hash(itoa::Buffer::new().format(value).as_bytes())
}

/// Hash of a number in the spelling of JSON, as in [`Captured::hash`]. `None` if the text is no number.
#[must_use]
pub fn number_text_hash(text: &str) -> Option<u64> {
    number::end(text.as_bytes(), 0).filter(|end| *end == text.len()).map(|_| number_hash(text.as_bytes()))
}

/// Salts that tell values of different types apart.
const TEXT: u64 = 0x8bb8_4b93_962e_acc9;
const NUMBER: u64 = 0x4b33_a62e_d433_d4a3;
const ARRAY: u64 = 0x4d5a_2da5_1de1_aa47;
const OBJECT: u64 = 0xa076_1d64_78bd_642f;
const TRUE: u64 = 0xe703_7ed1_a0b4_28db;
const FALSE: u64 = 0x90ed_1765_281c_388c;
const NULL: u64 = 0xaa62_dac9_9b4e_7b45;

/// Combines two hashes; the order matters. A product of 128 bits is folded, as in wyhash.
#[inline]
pub(crate) fn combine(first: u64, second: u64) -> u64 {
    let product = u128::from(first ^ 0x2d35_8dcc_aa6c_78a5)
        * u128::from(second.rotate_left(23) ^ 0x8bb8_4b93_962e_acc9);
    (product as u64) ^ ((product >> 64) as u64)
}
