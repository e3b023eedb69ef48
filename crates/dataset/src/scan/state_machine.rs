//! State machine of the scanner: the RFC 8259 grammar without recursion, and the fields of an event.

use std::borrow::Cow;

use super::keys::{Key, OpenKeys};
use super::text::{
    decode, four_digits, is_high_surrogate, is_low_surrogate, plain_end, prefix_word, unescape,
};
use super::{DEEP_FROM_LEVELS, Event, Fault, LARGE_FROM_BYTES, Reason, Scan, Scanner, Traits};

/// Maximum length of a line in bytes; positions are stored in 31 bits.
const LONGEST: usize = (1 << 31) - 1;

/// Working memory that is reused for the next line.
#[derive(Debug, Default)]
pub(super) struct Scratch {
    keys: OpenKeys,
    /// Kinds of the outer levels in words of 64 bits; a set bit is an object. The innermost levels are in
    /// [`ScanMachine::kinds`].
    kinds: Vec<u64>,
}

/// Position of a string in the line, without its quotes.
#[derive(Clone, Copy)]
struct Span {
    start: usize,
    end: usize,
    escaped: bool,
}

/// Meaning of the next value for the event.
#[derive(Clone, Copy, PartialEq, Eq)]
enum FieldRole {
    Other,
    Root,
    Did,
    Time,
    Kind,
    Commit,
    Operation,
    Collection,
    Record,
    Langs,
    Lang0,
}

/// Fields of the event, as positions in the line.
#[derive(Default)]
struct Fields {
    did: Option<Span>,
    time_us: Option<i64>,
    kind: Option<Span>,
    operation: Option<Span>,
    collection: Option<Span>,
    lang0: Option<Span>,
}

/// Result of a run, with fields not yet converted to text.
pub(super) struct ScannedFields {
    fields: Fields,
    traits: Traits,
    fault: Option<Fault>,
}

impl ScannedFields {
    /// Converts the result. `raw` returns the text between two positions, with escapes not yet decoded.
    #[inline(always)]
    pub(super) fn into_scan<'a>(self, raw: impl Fn(usize, usize) -> Cow<'a, str>) -> Scan<'a> {
        let text = |span: Option<Span>| {
            let span = span?;
            let raw = raw(span.start, span.end);
            Some(if span.escaped { Cow::Owned(unescape(&raw)) } else { raw })
        };
        let Fields { did, time_us, kind, operation, collection, lang0 } = self.fields;
        let event = Event {
            did: text(did),
            time_us,
            kind: text(kind),
            operation: text(operation),
            collection: text(collection),
            lang0: text(lang0),
        };
        Scan { event, traits: self.traits, fault: self.fault }
    }
}

/// Scans one line given without its newline; its UTF-8 is not validated.
#[inline]
pub(super) fn run(line: &[u8], scratch: &mut Scratch) -> ScannedFields {
    scratch.keys.clear();
    scratch.kinds.clear();
    let mut machine = ScanMachine {
        line,
        position: 0,
        scratch,
        depth: 0,
        kinds: 0,
        path_levels: 0,
        traits: if line.len() >= LARGE_FROM_BYTES { Traits::LARGE } else { Traits::NONE },
        fields: Fields::default(),
    };
    let fault = machine.document().err();
    if fault.is_some() {
        machine.traits |= Traits::MALFORMED;
    }
    ScannedFields { fields: machine.fields, traits: machine.traits, fault }
}

struct ScanMachine<'l, 's> {
    line: &'l [u8],
    position: usize,
    scratch: &'s mut Scratch,
    /// Number of open arrays and objects.
    depth: usize,
    /// Kinds of the innermost levels (up to 64): 1 for an object, the innermost level in the lowest bit.
    kinds: u64,
    /// Number of outermost levels that lie on the path `root, commit, record, langs`.
    path_levels: usize,
    traits: Traits,
    fields: Fields,
}

impl ScanMachine<'_, '_> {
    #[inline(always)]
    fn peek(&self) -> Option<u8> {
        self.line.get(self.position).copied()
    }

    #[inline(always)]
    fn skip_space(&mut self) {
        while let Some(b' ' | b'\n' | b'\r' | b'\t') = self.peek() {
            self.position += 1;
        }
    }

    #[cold]
    #[inline(never)]
    fn fault(&self, reason: Reason) -> Fault {
        let reason = match reason {
            Reason::ExpectedValue
            | Reason::ExpectedKey
            | Reason::ExpectedColon
            | Reason::ExpectedCommaOrBrace
            | Reason::ExpectedCommaOrBracket
                if self.position >= self.line.len() =>
            {
                Reason::EndInContainer
            }
            other => other,
        };
        Fault { reason, offset: self.position }
    }

    fn document(&mut self) -> Result<(), Fault> {
        if self.line.len() > LONGEST {
            return Err(self.fault(Reason::TooLong));
        }
        self.skip_space();
        let first = self.peek();
        if first.is_none() {
            return Err(self.fault(Reason::NoValue));
        }
        if self.line.get(self.position..self.position + 3) == Some(b"\xef\xbb\xbf") {
            return Err(self.fault(Reason::ByteOrderMark));
        }
        self.value()?;
        self.skip_space();
        if self.position < self.line.len() {
            return Err(self.fault(Reason::Trailing));
        }
        if first != Some(b'{') {
            self.traits |= Traits::NOT_OBJECT;
        }
        Ok(())
    }

    /// Parses one value with everything nested in it.
    fn value(&mut self) -> Result<(), Fault> {
        let mut role = FieldRole::Root;
        loop {
            // `position` is on the first byte of a value.
            match self.peek() {
                Some(b'"') => {
                    self.position += 1;
                    let span = self.string()?;
                    self.take_text(role, span);
                }
                Some(b'{') => {
                    self.position += 1;
                    self.open(true, role);
                    self.skip_space();
                    if self.peek() == Some(b'}') {
                        self.position += 1;
                        self.close_object();
                    } else {
                        role = self.key()?;
                        continue;
                    }
                }
                Some(b'[') => {
                    self.position += 1;
                    self.open(false, role);
                    self.skip_space();
                    if self.peek() == Some(b']') {
                        self.position += 1;
                        self.close();
                    } else {
                        role = if self.depth == 4 && self.path_levels == 4 {
                            FieldRole::Lang0
                        } else {
                            FieldRole::Other
                        };
                        continue;
                    }
                }
                Some(b'-' | b'0'..=b'9') => self.number(role)?,
                Some(b't') => self.literal(b"true")?,
                Some(b'f') => self.literal(b"false")?,
                Some(b'n') => self.literal(b"null")?,
                _ => return Err(self.fault(Reason::ExpectedValue)),
            }
            // After a value: close the containers that end here and advance to the next value.
            loop {
                if self.depth == 0 {
                    return Ok(());
                }
                self.skip_space();
                let is_object = self.kinds & 1 != 0;
                match self.peek() {
                    Some(b',') => {
                        self.position += 1;
                        self.skip_space();
                        role = if is_object { self.key()? } else { FieldRole::Other };
                        break;
                    }
                    Some(b'}') if is_object => {
                        self.position += 1;
                        self.close_object();
                    }
                    Some(b']') if !is_object => {
                        self.position += 1;
                        self.close();
                    }
                    _ if is_object => return Err(self.fault(Reason::ExpectedCommaOrBrace)),
                    _ => return Err(self.fault(Reason::ExpectedCommaOrBracket)),
                }
            }
        }
    }

    #[inline(always)]
    fn open(&mut self, is_object: bool, role: FieldRole) {
        let is_on_path = match role {
            FieldRole::Root | FieldRole::Commit | FieldRole::Record => is_object,
            FieldRole::Langs => !is_object,
            _ => false,
        };
        if is_on_path {
            self.path_levels += 1;
        }
        if self.depth.is_multiple_of(64) && self.depth > 0 {
            self.scratch.kinds.push(self.kinds);
        }
        self.kinds = self.kinds << 1 | u64::from(is_object);
        self.depth += 1;
        if self.depth >= DEEP_FROM_LEVELS {
            self.traits |= Traits::DEEP;
        }
        if is_object && self.depth <= Scanner::TRACKED_LEVELS {
            self.scratch.keys.open();
        }
    }

    #[inline(always)]
    fn close_object(&mut self) {
        if self.depth <= Scanner::TRACKED_LEVELS && self.scratch.keys.close(self.line) {
            self.traits |= Traits::DUPLICATE_KEYS;
        }
        self.close();
    }

    #[inline(always)]
    fn close(&mut self) {
        if self.path_levels == self.depth {
            self.path_levels -= 1;
        }
        self.depth -= 1;
        self.kinds >>= 1;
        if self.depth.is_multiple_of(64)
            && let Some(kinds) = self.scratch.kinds.pop()
        {
            self.kinds = kinds;
        }
    }

    /// Parses a member name and its colon, up to the first byte of the value.
    #[inline(always)]
    fn key(&mut self) -> Result<FieldRole, Fault> {
        if self.peek() != Some(b'"') {
            return Err(self.fault(Reason::ExpectedKey));
        }
        self.position += 1;
        let span = self.string()?;
        let word = prefix_word(self.line, span.start, span.end - span.start);
        if self.depth <= Scanner::TRACKED_LEVELS {
            let key = Key::new(span.start, span.end, span.escaped);
            if self.scratch.keys.add(key, word, self.line) {
                self.traits |= Traits::DUPLICATE_KEYS;
            }
        }
        let role = if self.path_levels == self.depth { self.role(span, word) } else { FieldRole::Other };
        if self.peek() != Some(b':') {
            self.skip_space();
            if self.peek() != Some(b':') {
                return Err(self.fault(Reason::ExpectedColon));
            }
        }
        self.position += 1;
        self.skip_space();
        Ok(role)
    }

    /// Returns the meaning of a member of an object on the path. Of duplicate names the last counts, so
    /// fields set by an earlier member are cleared.
    #[inline(always)]
    fn role(&mut self, span: Span, word: u64) -> FieldRole {
        if span.escaped {
            let name = decode(self.line.get(span.start..span.end).unwrap_or_default());
            return self.role_of(&name, prefix_word(&name, 0, name.len()));
        }
        let line = self.line;
        self.role_of(line.get(span.start..span.end).unwrap_or_default(), word)
    }

    #[inline(always)]
    fn role_of(&mut self, name: &[u8], word: u64) -> FieldRole {
        // Names of up to eight bytes are compared by word and length. Only an escape can put a zero byte into
        // a name, and then its length differs.
        let is_name = |text: &[u8]| name.len() == text.len() && word == word_of(text);
        let fields = &mut self.fields;
        match self.depth {
            1 if is_name(b"did") => {
                fields.did = None;
                FieldRole::Did
            }
            1 if is_name(b"time_us") => {
                fields.time_us = None;
                FieldRole::Time
            }
            1 if is_name(b"kind") => {
                fields.kind = None;
                FieldRole::Kind
            }
            1 if is_name(b"commit") => {
                (fields.operation, fields.collection, fields.lang0) = (None, None, None);
                FieldRole::Commit
            }
            2 if name == b"operation" => {
                fields.operation = None;
                FieldRole::Operation
            }
            2 if name == b"collection" => {
                fields.collection = None;
                FieldRole::Collection
            }
            2 if is_name(b"record") => {
                fields.lang0 = None;
                FieldRole::Record
            }
            3 if is_name(b"langs") => {
                fields.lang0 = None;
                FieldRole::Langs
            }
            _ => FieldRole::Other,
        }
    }

    #[inline(always)]
    fn take_text(&mut self, role: FieldRole, span: Span) {
        match role {
            FieldRole::Did => self.fields.did = Some(span),
            FieldRole::Kind => self.fields.kind = Some(span),
            FieldRole::Operation => self.fields.operation = Some(span),
            FieldRole::Collection => self.fields.collection = Some(span),
            FieldRole::Lang0 => self.fields.lang0 = Some(span),
            _ => {}
        }
    }

    /// Parses a string whose opening quote has been consumed.
    #[inline(always)]
    fn string(&mut self) -> Result<Span, Fault> {
        let start = self.position;
        let end = plain_end(self.line, start);
        self.position = end;
        if self.peek() == Some(b'"') {
            self.position += 1;
            return Ok(Span { start, end, escaped: false });
        }
        self.escaped_string(start)
    }

    /// Parses the rest of a string from its first escape or control character on.
    #[inline(never)]
    fn escaped_string(&mut self, start: usize) -> Result<Span, Fault> {
        loop {
            match self.peek() {
                Some(b'"') => {
                    self.position += 1;
                    return Ok(Span { start, end: self.position - 1, escaped: true });
                }
                Some(b'\\') => self.escape()?,
                Some(_) => return Err(self.fault(Reason::ControlCharacter)),
                None => return Err(self.fault(Reason::EndInString)),
            }
            self.position = plain_end(self.line, self.position);
        }
    }

    #[inline(always)]
    fn escape(&mut self) -> Result<(), Fault> {
        match self.line.get(self.position + 1) {
            Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => {
                self.position += 2;
                Ok(())
            }
            Some(b'u') => self.unicode_escape(),
            Some(_) => Err(self.fault(Reason::Escape)),
            None => {
                self.position += 1;
                Err(self.fault(Reason::EndInString))
            }
        }
    }

    fn unicode_escape(&mut self) -> Result<(), Fault> {
        let Some(unit) = four_digits(self.line, self.position + 2) else {
            return Err(self.fault(Reason::Escape));
        };
        self.position += 6;
        if unit == 0 {
            self.traits |= Traits::NUL_ESCAPE;
        } else if is_low_surrogate(unit) {
            self.traits |= Traits::LONE_SURROGATE;
        } else if is_high_surrogate(unit) {
            let second = (self.line.get(self.position..self.position + 2) == Some(b"\\u"))
                .then(|| four_digits(self.line, self.position + 2))
                .flatten();
            if second.is_some_and(is_low_surrogate) {
                self.position += 6;
            } else {
                self.traits |= Traits::LONE_SURROGATE;
            }
        }
        Ok(())
    }

    #[inline(always)]
    fn literal(&mut self, word: &[u8]) -> Result<(), Fault> {
        if self.line.get(self.position..self.position + word.len()) != Some(word) {
            return Err(self.fault(Reason::Literal));
        }
        self.position += word.len();
        Ok(())
    }

    /// Consumes digits. Returns their number and their value modulo 2⁶⁴.
    #[inline(always)]
    fn digits(&mut self) -> (usize, u64) {
        let start = self.position;
        let mut value = 0_u64;
        while let Some(byte) = self.peek() {
            let digit = byte.wrapping_sub(b'0');
            if digit > 9 {
                break;
            }
            value = value.wrapping_mul(10).wrapping_add(u64::from(digit));
            self.position += 1;
        }
        (self.position - start, value)
    }

    #[inline(always)]
    fn number(&mut self, role: FieldRole) -> Result<(), Fault> {
        let start = self.position;
        let is_negative = self.peek() == Some(b'-');
        self.position += usize::from(is_negative);
        let has_leading_zero = self.peek() == Some(b'0');
        let (digits, magnitude) = self.digits();
        if digits == 0 || (has_leading_zero && digits > 1) {
            return Err(self.fault(Reason::Number));
        }
        if let Some(b'.' | b'e' | b'E') = self.peek() {
            return self.fraction(start);
        }
        // 18 digits always fit. Longer numbers are parsed again because the value may have wrapped.
        if digits > 18 {
            self.long_integer(start, role);
        } else if role == FieldRole::Time {
            let magnitude = magnitude as i64;
            self.fields.time_us = Some(if is_negative { -magnitude } else { magnitude });
        }
        Ok(())
    }

    #[cold]
    fn long_integer(&mut self, start: usize, role: FieldRole) {
        let literal = self.line.get(start..self.position).and_then(|digits| std::str::from_utf8(digits).ok());
        let value = literal.and_then(|literal| literal.parse::<i128>().ok());
        let signed = value.and_then(|value| i64::try_from(value).ok());
        if signed.is_none() && value.and_then(|value| u64::try_from(value).ok()).is_none() {
            self.traits |= Traits::BIG_NUMBER;
        }
        if role == FieldRole::Time {
            self.fields.time_us = signed;
        }
    }

    /// Parses the fraction and exponent of a number whose integer part begins at `start`.
    #[inline(never)]
    fn fraction(&mut self, start: usize) -> Result<(), Fault> {
        if self.peek() == Some(b'.') {
            self.position += 1;
            if self.digits().0 == 0 {
                return Err(self.fault(Reason::Number));
            }
        }
        let mut has_exponent = false;
        if let Some(b'e' | b'E') = self.peek() {
            has_exponent = true;
            self.position += 1;
            if let Some(b'+' | b'-') = self.peek() {
                self.position += 1;
            }
            if self.digits().0 == 0 {
                return Err(self.fault(Reason::Number));
            }
        }
        // Without an exponent, only numbers of more than 300 digits can exceed the range of a double.
        if has_exponent || self.position - start > 300 {
            let literal =
                self.line.get(start..self.position).and_then(|number| std::str::from_utf8(number).ok());
            if literal.and_then(|literal| literal.parse::<f64>().ok()).is_none_or(|value| !value.is_finite())
            {
                self.traits |= Traits::BIG_NUMBER;
            }
        }
        Ok(())
    }
}

/// Packs a name of up to eight bytes like [`prefix_word`].
#[inline(always)]
fn word_of(name: &[u8]) -> u64 {
    name.iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte))
}
