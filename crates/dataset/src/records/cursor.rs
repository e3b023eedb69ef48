//! Cursor that reads JSON text token by token and compares it with expected text.

use super::answer_error::{AnswerError, AnswerFault};
use super::value::{self, TAG};

/// Position in a JSON text.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cursor<'a> {
    pub(super) text: &'a [u8],
    pub(super) position: usize,
}

impl<'a> Cursor<'a> {
    pub(super) fn new(text: &'a [u8]) -> Self {
        Cursor { text, position: 0 }
    }

    #[cold]
    pub(super) fn error(&self, fault: AnswerFault) -> AnswerError {
        // At the end of the text every fault is a truncation.
        let fault = if self.position >= self.text.len() { AnswerFault::Truncated } else { fault };
        AnswerError { fault, position: self.position }
    }

    #[inline]
    pub(super) fn peek(&self) -> u8 {
        // No token begins with a zero byte.
        self.text.get(self.position).copied().unwrap_or(0)
    }

    /// Skips white space and returns the byte after it, or 0 at the end.
    #[inline]
    pub(super) fn next_token(&mut self) -> u8 {
        loop {
            let byte = self.peek();
            if byte > b' ' || !matches!(byte, b' ' | b'\t' | b'\n' | b'\r') {
                return byte;
            }
            self.position += 1;
        }
    }

    /// Skips white space. Consumes the next byte and returns `true` if it is `byte`.
    #[inline]
    pub(super) fn take(&mut self, byte: u8) -> bool {
        let is_match = self.next_token() == byte;
        self.position += usize::from(is_match);
        is_match
    }

    /// Skips `bytes` and returns `true` if they come next.
    #[inline]
    pub(super) fn skip(&mut self, bytes: &[u8]) -> bool {
        let is_match = self.text.get(self.position..self.position + bytes.len()) == Some(bytes);
        if is_match {
            self.position += bytes.len();
        }
        is_match
    }

    /// Like [`Self::skip`], but `bytes` must not be followed by a letter, digit, point or sign.
    pub(super) fn skip_word(&mut self, bytes: &[u8]) -> bool {
        let next = self.text.get(self.position + bytes.len()).copied().unwrap_or(b' ');
        let is_end = !(next.is_ascii_alphanumeric() || matches!(next, b'.' | b'+' | b'-'));
        is_end && self.skip(bytes)
    }

    /// Returns the fault if none of `words` comes next: a truncation if the text ends within one of them.
    #[cold]
    pub(super) fn word_error(&self, words: &[&[u8]], fault: AnswerFault) -> AnswerError {
        let rest = self.text.get(self.position..).unwrap_or_default();
        let is_truncated = words.iter().any(|word| word.starts_with(rest));
        AnswerError {
            fault: if is_truncated { AnswerFault::Truncated } else { fault },
            position: self.position,
        }
    }

    /// Reads the next character of a string. `None` at the end of the string, for a character outside ASCII
    /// and for an invalid escape.
    #[inline]
    pub(super) fn character(&mut self) -> Option<u8> {
        let byte = self.peek();
        self.position += 1;
        match byte {
            b'"' | 0..b' ' | 0x80.. => None,
            b'\\' => {
                let kind = self.peek();
                self.position += 1;
                match kind {
                    b'"' | b'\\' | b'/' => Some(kind),
                    b'u' => self.unicode(),
                    // Neither values nor names contain control characters.
                    _ => None,
                }
            }
            byte => Some(byte),
        }
    }

    #[cold]
    fn unicode(&mut self) -> Option<u8> {
        let digits = self.text.get(self.position..self.position + 4)?;
        let mut code = 0;
        for digit in digits {
            code = 16 * code + char::from(*digit).to_digit(16)?;
        }
        self.position += 4;
        u8::try_from(code).ok().filter(u8::is_ascii)
    }

    /// Reads a tag without advancing. `None` if the next characters are not a tag.
    #[inline]
    pub(super) fn tag(&self) -> Option<u32> {
        if let Some(digits) = self.text.get(self.position..self.position + TAG)
            && let Ok(digits) = digits.try_into()
            && let Some(version) = value::version(digits)
        {
            return Some(version);
        }
        self.escaped_tag()
    }

    #[cold]
    fn escaped_tag(mut self) -> Option<u32> {
        let mut digits = [0; TAG];
        for digit in &mut digits {
            *digit = self.character()?;
        }
        value::version(digits)
    }

    /// Compares a string with its expected characters, starting after the opening quotation mark, and skips
    /// the closing one. `plain` states that no expected character needs an escape.
    #[inline]
    pub(super) fn string(&mut self, expected: &[u8], is_plain: bool) -> bool {
        let start = self.position;
        let is_match = if is_plain { self.skip(expected) } else { self.segments(expected) };
        if is_match && self.peek() == b'"' {
            self.position += 1;
            return true;
        }
        self.position = start;
        self.characters(expected)
    }

    /// Compares the parts between characters that need an escape as a whole.
    fn segments(&mut self, expected: &[u8]) -> bool {
        let mut start = 0;
        for special in memchr::memchr2_iter(b'"', b'\\', expected) {
            let escape = [b'\\', expected[special]];
            if !(self.skip(&expected[start..special]) && self.skip(&escape)) {
                return false;
            }
            start = special + 1;
        }
        self.skip(&expected[start..])
    }

    /// Compares character by character, allowing any spelling with escapes.
    #[cold]
    fn characters(&mut self, expected: &[u8]) -> bool {
        let start = self.position;
        for &character in expected {
            let position = self.position;
            if self.character() != Some(character) {
                // If the text ends here, it is truncated; otherwise the fault is at this character.
                self.position =
                    if self.position > self.text.len() { self.text.len() } else { position.max(start) };
                return false;
            }
        }
        let is_end = self.peek() == b'"';
        self.position += usize::from(is_end);
        is_end
    }

    /// Reads a member name with its quotation marks and decodes its escapes. `None` if it is longer than the
    /// buffer; no known name is.
    #[cold]
    pub(super) fn name<'b>(&mut self, buffer: &'b mut [u8; 64]) -> Option<&'b [u8]> {
        let mut length = 1;
        buffer[0] = b'"';
        self.position += 1;
        while self.peek() != b'"' {
            let character = self.character()?;
            *buffer.get_mut(length)? = character;
            length += 1;
        }
        self.position += 1;
        *buffer.get_mut(length)? = b'"';
        buffer.get(..=length)
    }
}
