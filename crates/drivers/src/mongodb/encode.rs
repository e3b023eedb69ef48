//! Encodes JSON text as BSON, directly into the buffer that is sent. The order of keys is kept, and nothing
//! is copied twice. A text that BSON cannot represent is rejected with a reason, and nothing of it stays in
//! the buffer.

use std::ops::Range;

use jsonathlon_driver_api::prepared::{Parameter, placeholder};
use memchr::memchr2;

/// Maximum nesting of a document, up to which servers still parse it. What they store is up to them.
const LEVELS: usize = 200;

const DOUBLE: u8 = 0x01;
const STRING: u8 = 0x02;
const DOCUMENT: u8 = 0x03;
const ARRAY: u8 = 0x04;
const BOOLEAN: u8 = 0x08;
const NULL: u8 = 0x0A;
const INT32: u8 = 0x10;
const INT64: u8 = 0x12;

/// Reason why a text cannot be encoded as a document.
pub(super) type Refusal = String;

/// Appends one JSON object as a document. Leaves `out` unchanged on error.
pub(super) fn document(text: &[u8], out: &mut Vec<u8>) -> Result<(), Refusal> {
    let start = out.len();
    let encoded = encode_document(text, out);
    if encoded.is_err() {
        out.truncate(start);
    }
    encoded
}

fn encode_document(text: &[u8], out: &mut Vec<u8>) -> Result<(), Refusal> {
    let mut encoder = Encoder { text: utf8(text)?, position: 0, out, keys: Vec::new(), level: 0, gaps: None };
    encoder.skip_space();
    if encoder.peek() != Some(b'{') {
        return Err("a document is a JSON object, and this is none".to_owned());
    }
    encoder.object()?;
    encoder.end()
}

/// Appends one element: a key with any JSON value.
pub(super) fn element(key: &str, text: &str, out: &mut Vec<u8>) -> Result<(), Refusal> {
    member(key, text, None, out)
}

/// As [`element`], but records the strings `":1"`, `":2"` and so on as gaps in `gaps` instead of encoding
/// them.
pub(super) fn element_with(
    key: &str,
    text: &str,
    gaps: &mut Slots,
    out: &mut Vec<u8>,
) -> Result<(), Refusal> {
    member(key, text, Some(gaps), out)
}

/// Appends the value of a parameter and writes its type at `kind_position`. `level` is the nesting depth
/// around the value.
pub(super) fn parameter(
    parameter: &Parameter<'_>,
    kind_position: usize,
    level: usize,
    out: &mut Vec<u8>,
) -> Result<(), Refusal> {
    let kind = match *parameter {
        Parameter::Null => NULL,
        Parameter::Bool(truth) => {
            out.push(u8::from(truth));
            BOOLEAN
        }
        // As for numbers in a text: 32 bits if the number fits.
        Parameter::Int(number) => match i32::try_from(number) {
            Ok(narrow) => {
                out.extend_from_slice(&narrow.to_le_bytes());
                INT32
            }
            Err(_) => {
                out.extend_from_slice(&number.to_le_bytes());
                INT64
            }
        },
        Parameter::Float(number) => {
            out.extend_from_slice(&number.to_le_bytes());
            DOUBLE
        }
        Parameter::Text(text) => {
            out.extend_from_slice(&length(text.len() + 1)?);
            out.extend_from_slice(text.as_bytes());
            out.push(0);
            STRING
        }
        Parameter::Json(text) => {
            // Strings like placeholders in it are data.
            let mut encoder = Encoder { text, position: 0, out, keys: Vec::new(), level, gaps: None };
            encoder.skip_space();
            encoder.value(kind_position)?;
            return encoder.end();
        }
    };
    out[kind_position] = kind;
    Ok(())
}

fn member(key: &str, text: &str, gaps: Option<&mut Slots>, out: &mut Vec<u8>) -> Result<(), Refusal> {
    let mut encoder = Encoder { text, position: 0, out, keys: Vec::new(), level: 0, gaps };
    let kind_position = encoder.out.len();
    encoder.out.push(0);
    encoder.name(key)?;
    encoder.skip_space();
    encoder.value(kind_position)?;
    encoder.end()
}

/// Begins a document, to which elements are then appended. Returns its start, which [`close`] needs.
pub(super) fn open(out: &mut Vec<u8>) -> usize {
    let start = out.len();
    out.extend_from_slice(&[0; 4]);
    start
}

/// Ends the document that began at `start` and fills in its length.
pub(super) fn close(start: usize, out: &mut Vec<u8>) -> Result<(), Refusal> {
    out.push(0);
    let length = length(out.len() - start)?;
    out[start..start + 4].copy_from_slice(&length);
    Ok(())
}

/// Adds `additional` to the length field of the document that begins at `start`.
pub(super) fn grow(start: usize, additional: usize, out: &mut [u8]) -> Result<(), Refusal> {
    let Some(length_bytes) = out.get_mut(start..).and_then(|rest| rest.first_chunk_mut::<4>()) else {
        return Ok(());
    };
    // The length was written by this module and is not negative.
    let old_length = u32::from_le_bytes(*length_bytes) as usize;
    *length_bytes = length(old_length + additional)?;
    Ok(())
}

fn length(bytes: usize) -> Result<[u8; 4], Refusal> {
    let length = i32::try_from(bytes).map_err(|_| "it is of 2 GiB or more".to_owned())?;
    Ok(length.to_le_bytes())
}

fn utf8(text: &[u8]) -> Result<&str, Refusal> {
    simdutf8::compat::from_utf8(text)
        .map_err(|error| format!("it is not UTF-8 from byte {} on", error.valid_up_to()))
}

/// Positions of placeholders in an encoded command.
#[derive(Debug, Default)]
pub(super) struct Slots {
    pub(super) slots: Vec<Slot>,
    /// Documents and lists that contain gaps, whose lengths grow with the values.
    pub(super) enclosing: Vec<EnclosingDocument>,
}

/// Position of one placeholder.
#[derive(Debug)]
pub(super) struct Slot {
    /// Index of the parameter, counted from 0.
    pub(super) index: usize,
    /// Position of the value's type, and of the value itself.
    pub(super) type_position: usize,
    pub(super) value_position: usize,
    pub(super) level: usize,
}

/// Document or list that contains gaps.
#[derive(Debug)]
pub(super) struct EnclosingDocument {
    /// Position of the length field, where the document or list begins.
    pub(super) start: usize,
    pub(super) gaps: Range<usize>,
}

struct Encoder<'a> {
    text: &'a str,
    position: usize,
    out: &'a mut Vec<u8>,
    /// Positions in `out` of the keys of all objects that are being encoded.
    keys: Vec<Range<usize>>,
    level: usize,
    /// Collects placeholders. `None` if strings like placeholders are ordinary strings.
    gaps: Option<&'a mut Slots>,
}

impl Encoder<'_> {
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.position).copied()
    }

    fn skip_space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\r' | b'\n')) {
            self.position += 1;
        }
    }

    fn end(&mut self) -> Result<(), Refusal> {
        self.skip_space();
        if self.position == self.text.len() { Ok(()) } else { Err(self.unexpected("nothing more")) }
    }

    fn unexpected(&self, expected: &str) -> Refusal {
        match self.text[self.position..].chars().next() {
            Some(found) => {
                format!("it is not JSON: {expected} is expected at byte {}, not {found:?}", self.position)
            }
            None => format!("it is not JSON: it ends where {expected} is expected"),
        }
    }

    fn take(&mut self, byte: u8, expected: &str) -> Result<(), Refusal> {
        if self.peek() != Some(byte) {
            return Err(self.unexpected(expected));
        }
        self.position += 1;
        Ok(())
    }

    fn enter(&mut self) -> Result<(), Refusal> {
        self.level += 1;
        if self.level > LEVELS {
            return Err(format!("it is nested more than {LEVELS} levels deep"));
        }
        Ok(())
    }

    fn object(&mut self) -> Result<(), Refusal> {
        self.enter()?;
        self.position += 1;
        let start = open(self.out);
        let first_gap = self.gap_count();
        let first_key = self.keys.len();
        self.skip_space();
        if self.peek() == Some(b'}') {
            self.position += 1;
        } else {
            loop {
                let kind_position = self.out.len();
                self.out.push(0);
                self.key()?;
                self.keys.push(kind_position + 1..self.out.len() - 1);
                self.skip_space();
                self.take(b':', "`:`")?;
                self.skip_space();
                self.value(kind_position)?;
                self.skip_space();
                match self.peek() {
                    Some(b',') => self.position += 1,
                    Some(b'}') => break,
                    _ => return Err(self.unexpected("`,` or `}`")),
                }
                self.skip_space();
            }
            self.position += 1;
        }
        self.check_distinct_keys(first_key)?;
        self.keys.truncate(first_key);
        self.level -= 1;
        self.record_enclosing(start, first_gap);
        close(start, self.out)
    }

    /// Rejects an object with duplicate keys, because it is undefined which of the two values a query sees.
    fn check_distinct_keys(&mut self, first_key: usize) -> Result<(), Refusal> {
        let bytes = self.out.as_slice();
        let keys = &mut self.keys[first_key..];
        let key_bytes = |key: &Range<usize>| &bytes[key.start..key.end];
        keys.sort_unstable_by(|left, right| {
            left.len().cmp(&right.len()).then_with(|| key_bytes(left).cmp(key_bytes(right)))
        });
        match keys.windows(2).find(|pair| key_bytes(&pair[0]) == key_bytes(&pair[1])) {
            Some(pair) => {
                Err(format!("the key {:?} is there twice", String::from_utf8_lossy(key_bytes(&pair[0]))))
            }
            None => Ok(()),
        }
    }

    fn array(&mut self) -> Result<(), Refusal> {
        self.enter()?;
        self.position += 1;
        let start = open(self.out);
        let first_gap = self.gap_count();
        self.skip_space();
        if self.peek() == Some(b']') {
            self.position += 1;
        } else {
            for index in 0_u64.. {
                let kind_position = self.out.len();
                self.out.push(0);
                self.index(index);
                self.value(kind_position)?;
                self.skip_space();
                match self.peek() {
                    Some(b',') => self.position += 1,
                    Some(b']') => break,
                    _ => return Err(self.unexpected("`,` or `]`")),
                }
                self.skip_space();
            }
            self.position += 1;
        }
        self.level -= 1;
        self.record_enclosing(start, first_gap);
        close(start, self.out)
    }

    /// Appends the key of an array's element, which is its index.
    fn index(&mut self, index: u64) {
        let mut digits = [0; 20];
        let (mut remaining, mut start) = (index, digits.len());
        loop {
            start -= 1;
            // A digit fits into a byte, so the cast is exact.
            digits[start] = b'0' + (remaining % 10) as u8;
            remaining /= 10;
            if remaining == 0 {
                break;
            }
        }
        self.out.extend_from_slice(&digits[start..]);
        self.out.push(0);
    }

    fn key(&mut self) -> Result<(), Refusal> {
        let start = self.out.len();
        if self.peek() != Some(b'"') {
            return Err(self.unexpected("a key"));
        }
        self.string()?;
        self.finish_name(start)
    }

    fn name(&mut self, name: &str) -> Result<(), Refusal> {
        let start = self.out.len();
        self.out.extend_from_slice(name.as_bytes());
        self.finish_name(start)
    }

    fn finish_name(&mut self, start: usize) -> Result<(), Refusal> {
        if self.out[start..].contains(&0) {
            return Err("a key holds U+0000, which ends a key in BSON".to_owned());
        }
        self.out.push(0);
        Ok(())
    }

    /// Encodes a value and writes its type at `kind_position`.
    fn value(&mut self, kind_position: usize) -> Result<(), Refusal> {
        let kind = match self.peek() {
            Some(b'{') => self.object().map(|()| DOCUMENT),
            Some(b'[') => self.array().map(|()| ARRAY),
            Some(b'"') => match self.placeholder() {
                Some(index) => {
                    self.record_gap(index, kind_position);
                    return Ok(());
                }
                None => self.text().map(|()| STRING),
            },
            Some(b't') => self.keyword("true", &[1]).map(|()| BOOLEAN),
            Some(b'f') => self.keyword("false", &[0]).map(|()| BOOLEAN),
            Some(b'n') => self.keyword("null", &[]).map(|()| NULL),
            Some(b'-' | b'0'..=b'9') => self.number(),
            _ => Err(self.unexpected("a value")),
        }?;
        self.out[kind_position] = kind;
        Ok(())
    }

    /// Returns the parameter index if the string at the current position is a placeholder.
    fn placeholder(&self) -> Option<usize> {
        self.gaps.as_ref()?;
        let (content, _) = self.text.get(self.position + 1..)?.split_once('"')?;
        placeholder(content)
    }

    /// Skips a placeholder and records the position of its value.
    fn record_gap(&mut self, index: usize, kind_position: usize) {
        self.position += self.text[self.position + 1..].find('"').unwrap_or_default() + 2;
        if let Some(gaps) = &mut self.gaps {
            gaps.slots.push(Slot {
                index,
                type_position: kind_position,
                value_position: self.out.len(),
                level: self.level,
            });
        }
    }

    fn gap_count(&self) -> usize {
        self.gaps.as_ref().map_or(0, |gaps| gaps.slots.len())
    }

    /// Records that the document or list which began at `start` contains the gaps from `first` on.
    fn record_enclosing(&mut self, start: usize, first: usize) {
        if let Some(gaps) = &mut self.gaps
            && gaps.slots.len() > first
        {
            gaps.enclosing.push(EnclosingDocument { start, gaps: first..gaps.slots.len() });
        }
    }

    fn keyword(&mut self, keyword: &str, value: &[u8]) -> Result<(), Refusal> {
        if !self.text[self.position..].starts_with(keyword) {
            return Err(self.unexpected("a value"));
        }
        self.position += keyword.len();
        self.out.extend_from_slice(value);
        Ok(())
    }

    /// Encodes a string, with its length before and a zero byte after it.
    fn text(&mut self) -> Result<(), Refusal> {
        let start = self.out.len();
        self.out.extend_from_slice(&[0; 4]);
        self.string()?;
        self.out.push(0);
        let length = length(self.out.len() - start - 4)?;
        self.out[start..start + 4].copy_from_slice(&length);
        Ok(())
    }

    /// Appends the content of a string with its escapes resolved.
    fn string(&mut self) -> Result<(), Refusal> {
        self.position += 1;
        loop {
            let rest = &self.text.as_bytes()[self.position..];
            let length = memchr2(b'"', b'\\', rest).unwrap_or(rest.len());
            let plain = &rest[..length];
            if let Some(control) = plain.iter().position(|byte| *byte < 0x20) {
                self.position += control;
                return Err(self.unexpected("the escape of a control character"));
            }
            self.out.extend_from_slice(plain);
            self.position += length;
            match rest.get(length) {
                Some(b'"') => {
                    self.position += 1;
                    return Ok(());
                }
                Some(_) => self.escape()?,
                None => return Err(self.unexpected("the end of a string")),
            }
        }
    }

    fn escape(&mut self) -> Result<(), Refusal> {
        self.position += 1;
        let plain = match self.peek() {
            Some(byte @ (b'"' | b'\\' | b'/')) => byte,
            Some(b'b') => 0x08,
            Some(b'f') => 0x0C,
            Some(b'n') => b'\n',
            Some(b'r') => b'\r',
            Some(b't') => b'\t',
            Some(b'u') => {
                self.position += 1;
                let letter = self.unicode()?;
                self.out.extend_from_slice(letter.encode_utf8(&mut [0; 4]).as_bytes());
                return Ok(());
            }
            _ => return Err(self.unexpected("an escape")),
        };
        self.out.push(plain);
        self.position += 1;
        Ok(())
    }

    fn unicode(&mut self) -> Result<char, Refusal> {
        const LONE: &str = "a string holds half of a surrogate pair, which is no letter";
        let first = self.code_unit()?;
        let code = match first {
            0xD800..=0xDBFF => {
                if !self.text[self.position..].starts_with("\\u") {
                    return Err(LONE.to_owned());
                }
                self.position += 2;
                let second = self.code_unit()?;
                if !(0xDC00..=0xDFFF).contains(&second) {
                    return Err(LONE.to_owned());
                }
                0x1_0000 + ((first - 0xD800) << 10) + (second - 0xDC00)
            }
            code => code,
        };
        char::from_u32(code).ok_or_else(|| LONE.to_owned())
    }

    /// Parses the four hexadecimal digits of a `\u` escape.
    fn code_unit(&mut self) -> Result<u32, Refusal> {
        let mut code_unit = 0;
        for _ in 0..4 {
            let digit = self.peek().and_then(|byte| char::from(byte).to_digit(16));
            code_unit = code_unit * 16 + digit.ok_or_else(|| self.unexpected("a hexadecimal digit"))?;
            self.position += 1;
        }
        Ok(code_unit)
    }

    /// Encodes a number. An integer takes 32 bits if it fits, as in all other tools that convert JSON to
    /// BSON, or 64 bits if it fits into those. A larger one becomes a double, as the specification of
    /// extended JSON demands, even if it loses digits. Numbers with a fraction or an exponent are doubles.
    fn number(&mut self) -> Result<u8, Refusal> {
        let start = self.position;
        let is_negative = self.peek() == Some(b'-');
        self.position += usize::from(is_negative);
        match self.peek() {
            Some(b'0') => self.position += 1,
            _ => self.digits()?,
        }
        let mut is_integer = true;
        if self.peek() == Some(b'.') {
            is_integer = false;
            self.position += 1;
            self.digits()?;
        }
        if matches!(self.peek(), Some(b'e' | b'E')) {
            is_integer = false;
            self.position += 1;
            if matches!(self.peek(), Some(b'+' | b'-')) {
                self.position += 1;
            }
            self.digits()?;
        }
        let literal = &self.text[start..self.position];
        // Negative zero exists only as a double.
        let number = literal.parse::<i64>().ok().filter(|_| is_integer && literal != "-0");
        let Some(number) = number else {
            let double: f64 = literal.parse().map_err(|_| self.unexpected("a number"))?;
            if double.is_infinite() {
                return Err(format!("the number {literal} is beyond what a double holds"));
            }
            self.out.extend_from_slice(&double.to_le_bytes());
            return Ok(DOUBLE);
        };
        Ok(match i32::try_from(number) {
            Ok(narrow) => {
                self.out.extend_from_slice(&narrow.to_le_bytes());
                INT32
            }
            Err(_) => {
                self.out.extend_from_slice(&number.to_le_bytes());
                INT64
            }
        })
    }

    fn digits(&mut self) -> Result<(), Refusal> {
        let start = self.position;
        while self.peek().is_some_and(|byte| byte.is_ascii_digit()) {
            self.position += 1;
        }
        if self.position == start { Err(self.unexpected("a digit")) } else { Ok(()) }
    }
}
