//! One-pass scanner for a single line: validates JSON, detects unusual traits and extracts the fields of a
//! Bluesky (Jetstream) event.

use std::borrow::Cow;
use std::fmt;

mod keys;
mod state_machine;
mod text;
mod traits;

pub(crate) use text::{decode, four_digits, plain_end};
pub use traits::{DEEP_FROM_LEVELS, LARGE_FROM_BYTES, Traits};

/// Fields of an event that the questions use. A field is `None` if its path is absent or has another type.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Event<'a> {
    /// `did`: identifier of the user.
    pub did: Option<Cow<'a, str>>,
    /// `time_us`: microseconds since 1970, UTC. `None` also for integers beyond 64 bits and for fractions or
    /// exponents.
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

/// Reason why a line is not valid JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Reason {
    /// The line contains only white space.
    NoValue,
    /// The value is preceded by U+FEFF.
    ByteOrderMark,
    /// A value is missing or begins with an invalid character.
    ExpectedValue,
    /// A member name or `}` is missing.
    ExpectedKey,
    /// The `:` after a member name is missing.
    ExpectedColon,
    /// A `,` or `}` is missing.
    ExpectedCommaOrBrace,
    /// A `,` or `]` is missing.
    ExpectedCommaOrBracket,
    /// A word other than `true`, `false` or `null`.
    Literal,
    /// A number that violates the grammar (leading zero, bare `-`, no digit after `.` or `e`).
    Number,
    /// A `\` that does not begin a valid escape.
    Escape,
    /// An unescaped control character in a string.
    ControlCharacter,
    /// The line ends within a string.
    EndInString,
    /// The line ends within an array or object.
    EndInContainer,
    /// More text follows after the value.
    Trailing,
    /// The line is longer than 2³¹ − 1 bytes, the scanner's limit.
    TooLong,
    /// The line contains bytes that are not UTF-8.
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
            Reason::TooLong => "2 GiB or longer",
            Reason::NotUtf8 => "invalid UTF-8",
        })
    }
}

/// Fault of a line and its position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Kind of the fault, e.g. an invalid escape.
    pub reason: Reason,
    /// Byte offset of the fault within the line, from 0.
    pub offset: usize,
}

impl fmt::Display for Fault {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} at byte {}", self.reason, self.offset)
    }
}

/// Result of scanning one line.
#[derive(Clone, Debug)]
pub struct Scan<'a> {
    /// Fields of the event. For a malformed line, only those before the fault. Bytes that are not UTF-8
    /// become U+FFFD. Of duplicate keys, the last member counts.
    pub event: Event<'a>,
    /// Unusual traits of the document. Empty for an ordinary one.
    pub traits: Traits,
    /// Fault of the line. `Some` if [`Traits::MALFORMED`] or [`Traits::NOT_UTF8`] is set; if both are, the
    /// fault is that of the former.
    pub fault: Option<Fault>,
}

/// Validating scanner for single documents, strict according to RFC 8259.
///
/// Working memory is reused from line to line. Nesting does not consume stack; it takes heap memory of at
/// most a few times the line's length.
#[derive(Debug, Default)]
pub struct Scanner {
    scratch: state_machine::Scratch,
}

impl Scanner {
    /// Number of nesting levels in which duplicate keys are detected. Deeper objects are still validated;
    /// such a document is [`Traits::DEEP`] anyway.
    pub const TRACKED_LEVELS: usize = 1_000;

    /// Creates a scanner with empty working memory.
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

    /// Scans a line that is known to be UTF-8, without validating the encoding again.
    #[inline]
    pub fn scan_text<'a>(&mut self, line: &'a str) -> Scan<'a> {
        let fields = state_machine::run(line.as_bytes(), &mut self.scratch);
        fields.into_scan(|start, end| Cow::Borrowed(line.get(start..end).unwrap_or_default()))
    }

    #[cold]
    fn scan_bytes<'a>(&mut self, line: &'a [u8]) -> Scan<'a> {
        let valid_up_to =
            simdutf8::compat::from_utf8(line).err().map_or(line.len(), |error| error.valid_up_to());
        let fields = state_machine::run(line, &mut self.scratch);
        let mut scan =
            fields.into_scan(|start, end| String::from_utf8_lossy(line.get(start..end).unwrap_or_default()));
        scan.traits |= Traits::NOT_UTF8;
        scan.fault.get_or_insert(Fault { reason: Reason::NotUtf8, offset: valid_up_to });
        scan
    }
}

/// Scans a single line with a temporary scanner; see [`Scanner::scan`].
pub fn scan(line: &[u8]) -> Scan<'_> {
    Scanner::new().scan(line)
}
