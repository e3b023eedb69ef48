//! One pass over one line: is it JSON, what is unusual about it, and which fields of an event does it hold.

use std::borrow::Cow;
use std::fmt;

mod keys;
mod machine;
mod text;
mod traits;

pub use traits::{DEEP_FROM_LEVELS, LARGE_FROM_BYTES, Traits};

/// The paths of an event that the questions are about. A path that is absent or of another type is `None`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Event<'a> {
    /// `did`: the user.
    pub did: Option<Cow<'a, str>>,
    /// `time_us`: microseconds since 1970, UTC; an integer literal that fits.
    pub time_us: Option<i64>,
    /// `kind`: commit, identity or account.
    pub kind: Option<Cow<'a, str>>,
    /// `commit.operation`: create, update or delete.
    pub operation: Option<Cow<'a, str>>,
    /// `commit.collection`: the type of record.
    pub collection: Option<Cow<'a, str>>,
    /// `commit.record.langs[0]`: the first language that a post names.
    pub lang0: Option<Cow<'a, str>>,
}

/// Why a line is not JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Reason {
    /// There is nothing but white space.
    NoValue,
    /// The line begins with U+FEFF.
    ByteOrderMark,
    /// Something else where a value must be.
    ExpectedValue,
    /// Something else where a member's name or `}` must be.
    ExpectedKey,
    /// No `:` after a member's name.
    ExpectedColon,
    /// Something else where `,` or `}` must be.
    ExpectedCommaOrBrace,
    /// Something else where `,` or `]` must be.
    ExpectedCommaOrBracket,
    /// A word that is not `true`, `false` or `null`.
    Literal,
    /// A number that breaks the grammar (leading zero, bare `-`, no digit after `.` or `e`).
    Number,
    /// A `\` followed by something that is no escape.
    Escape,
    /// A raw control character within a string.
    ControlCharacter,
    /// The line ends within a string.
    EndInString,
    /// The line ends within an array or object.
    EndInContainer,
    /// Something follows the value.
    Trailing,
    /// The line is longer than the 2 GiB that are scanned.
    TooLong,
    /// Bytes that are not UTF-8.
    NotUtf8,
}

impl fmt::Display for Reason {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(match self {
            Reason::NoValue => "no value",
            Reason::ByteOrderMark => "byte order mark before the value",
            Reason::ExpectedValue => "expected a value",
            Reason::ExpectedKey => "expected a key in double quotes",
            Reason::ExpectedColon => "expected ':' after the key",
            Reason::ExpectedCommaOrBrace => "expected ',' or '}'",
            Reason::ExpectedCommaOrBracket => "expected ',' or ']'",
            Reason::Literal => "expected true, false or null",
            Reason::Number => "invalid number",
            Reason::Escape => "invalid escape",
            Reason::ControlCharacter => "control character in a string",
            Reason::EndInString => "ends inside a string",
            Reason::EndInContainer => "ends inside an array or object",
            Reason::Trailing => "more text after the value",
            Reason::TooLong => "longer than 2 GiB",
            Reason::NotUtf8 => "invalid UTF-8",
        })
    }
}

/// What is wrong with a line, and where.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fault {
    /// What is wrong.
    pub reason: Reason,
    /// The byte within the line, from 0.
    pub offset: usize,
}

impl fmt::Display for Fault {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} at byte {}", self.reason, self.offset)
    }
}

/// What one pass over a line found.
#[derive(Clone, Debug)]
pub struct Scan<'a> {
    /// The event's fields. Of a malformed line those that came before the fault; of a line that is not UTF-8 with
    /// U+FFFD in the place of what is not; with duplicate keys those of the last member.
    pub event: Event<'a>,
    /// What is unusual.
    pub traits: Traits,
    /// What is wrong, when [`Traits::MALFORMED`] or [`Traits::NOT_UTF8`] is set; the former comes first.
    pub fault: Option<Fault>,
}

/// A validating scanner for single documents, strict after RFC 8259.
///
/// It keeps its working memory from line to line. Nesting costs no stack, and memory at most a few times the line.
#[derive(Debug, Default)]
pub struct Scanner {
    scratch: machine::Scratch,
}

impl Scanner {
    /// How many levels deep duplicate keys are looked for. Deeper objects are validated all the same; such a document
    /// is [`Traits::DEEP`] anyway.
    pub const TRACKED_LEVELS: usize = 1_000;

    /// A new scanner.
    pub fn new() -> Self {
        Scanner::default()
    }

    /// Scans a line of unknown encoding, given without its newline.
    #[inline]
    pub fn scan<'a>(&mut self, line: &'a [u8]) -> Scan<'a> {
        match simdutf8::basic::from_utf8(line) {
            Ok(line) => self.scan_text(line),
            Err(_) => self.scan_bytes(line),
        }
    }

    /// Scans a line that is known to be UTF-8, which spares the check.
    #[inline]
    pub fn scan_text<'a>(&mut self, line: &'a str) -> Scan<'a> {
        let found = machine::run(line.as_bytes(), &mut self.scratch);
        found.into_scan(|start, end| Cow::Borrowed(line.get(start..end).unwrap_or_default()))
    }

    #[cold]
    fn scan_bytes<'a>(&mut self, line: &'a [u8]) -> Scan<'a> {
        let valid_up_to =
            simdutf8::compat::from_utf8(line).err().map_or(line.len(), |error| error.valid_up_to());
        let found = machine::run(line, &mut self.scratch);
        let mut scan =
            found.into_scan(|start, end| String::from_utf8_lossy(line.get(start..end).unwrap_or_default()));
        scan.traits |= Traits::NOT_UTF8;
        scan.fault.get_or_insert(Fault { reason: Reason::NotUtf8, offset: valid_up_to });
        scan
    }
}

/// Scans a single line with a scanner of its own; see [`Scanner::scan`].
pub fn scan(line: &[u8]) -> Scan<'_> {
    Scanner::new().scan(line)
}
