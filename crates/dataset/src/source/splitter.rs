//! Splits JSON text that is not newline-delimited into its documents.

use std::ops::Range;

use super::form::Form;
use super::nesting::NestingScan;

/// Separator between the documents of a JSON text sequence (RFC 7464).
pub(super) const RECORD_SEPARATOR: u8 = 0x1e;

/// Position of a [`DocumentSplitter`] in the grammar of its form.
#[derive(Clone, Debug)]
enum Expected {
    /// `[`, or the end of the input.
    Array,
    /// The first element of an array, or `]`.
    FirstElement,
    /// An element behind a comma.
    Element,
    /// `,` or `]` behind an element that is an array or object.
    Separator,
    /// A document, or the end of the input.
    Document,
    /// The rest of an array or object.
    Container(NestingScan),
    /// The rest of anything else.
    Other(OtherText),
    /// The end of the input, up to which all is one document.
    InputEnd,
}

/// Scan of a piece of text that is no array or object, or goes on behind one.
#[derive(Clone, Debug, Default)]
struct OtherText {
    is_in_string: bool,
    is_escaped: bool,
}

/// What a splitter found in its bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Split {
    /// A document without white space around it.
    Document(Range<usize>),
    /// A document that the end of the input cuts off.
    CutDocument(Range<usize>),
    /// More bytes are needed.
    More,
    /// No document is left.
    End,
    /// Text behind an array, or in place of it, at this position.
    NoArray(usize),
}

/// Splits text into documents, whatever is between them in one of the forms [`Form::Array`],
/// [`Form::Stream`] and [`Form::File`]. Text between two separators that is no JSON becomes a document, too,
/// so that nothing is skipped: its fault is found when it is scanned.
///
/// The splitter works on a buffer of its caller that is filled from its start. Positions are relative to
/// that start; see [`DocumentSplitter::shift`].
#[derive(Clone, Debug)]
pub(super) struct DocumentSplitter {
    form: Form,
    expected: Expected,
    /// Number of bytes examined.
    position: usize,
    /// Start of the document that is being examined.
    start: Option<usize>,
    /// Number of arrays that were read to their end.
    arrays: u64,
}

impl DocumentSplitter {
    /// Creates a splitter for an input of this form. [`Form::Lines`] is read like [`Form::Stream`].
    pub(super) fn new(form: Form) -> Self {
        let expected = match form {
            Form::Array => Expected::Array,
            Form::Stream | Form::Lines => Expected::Document,
            Form::File => Expected::InputEnd,
        };
        DocumentSplitter { form, expected, position: 0, start: None, arrays: 0 }
    }

    /// Returns the number of bytes at the start of the buffer that are no longer needed.
    pub(super) fn consumed(&self) -> usize {
        self.start.unwrap_or(self.position)
    }

    /// Tells the splitter that `count` bytes were removed from the start of the buffer, at most
    /// [`DocumentSplitter::consumed`].
    pub(super) fn shift(&mut self, count: usize) {
        self.position -= count;
        self.start = self.start.map(|start| start - count);
    }

    /// Returns `true` if an array was begun and not closed.
    pub(super) fn is_in_array(&self) -> bool {
        self.form == Form::Array && !matches!(self.expected, Expected::Array)
    }

    /// Returns the number of arrays that were read to their end.
    pub(super) fn arrays(&self) -> u64 {
        self.arrays
    }

    /// Finds the next document in `bytes`. `is_end` says that the input ends behind them.
    pub(super) fn next(&mut self, bytes: &[u8], is_end: bool) -> Split {
        loop {
            let found = match &mut self.expected {
                Expected::Array => self.begin_array(bytes),
                Expected::FirstElement | Expected::Element => self.begin_element(bytes),
                Expected::Separator => self.end_element(bytes),
                Expected::Document => self.begin_document(bytes),
                Expected::Container(nesting) => {
                    match nesting.advance(bytes.get(self.position..).unwrap_or_default()) {
                        Some(length) => {
                            self.position += length;
                            self.end_container()
                        }
                        None => self.need_more(bytes),
                    }
                }
                Expected::Other(_) if self.form == Form::Array => self.other_in_array(bytes),
                Expected::Other(_) => self.other_in_stream(bytes),
                Expected::InputEnd => self.whole_input(bytes),
            };
            match found {
                Some(Split::More) if is_end => return self.finish(bytes),
                Some(split) => return split,
                None => {}
            }
        }
    }

    fn need_more(&mut self, bytes: &[u8]) -> Option<Split> {
        self.position = bytes.len();
        Some(Split::More)
    }

    /// Skips white space and returns the next byte. `None` if there is none yet.
    fn next_byte(&mut self, bytes: &[u8]) -> Option<u8> {
        while let Some(&byte) = bytes.get(self.position) {
            if !is_space(byte) && (byte != RECORD_SEPARATOR || self.form == Form::Array) {
                return Some(byte);
            }
            self.position += 1;
        }
        None
    }

    fn begin_array(&mut self, bytes: &[u8]) -> Option<Split> {
        match self.next_byte(bytes) {
            None => Some(Split::More),
            Some(b'[') => {
                self.position += 1;
                self.expected = Expected::FirstElement;
                None
            }
            Some(_) => Some(Split::NoArray(self.position)),
        }
    }

    fn begin_element(&mut self, bytes: &[u8]) -> Option<Split> {
        let is_first = matches!(self.expected, Expected::FirstElement);
        match self.next_byte(bytes) {
            None => Some(Split::More),
            Some(b']') if is_first => {
                self.position += 1;
                self.close_array();
                None
            }
            // An element is missing: the separator takes its place, so that the fault is reported.
            Some(byte @ (b',' | b']')) => {
                let separator = self.position;
                self.position += 1;
                if byte == b']' {
                    self.close_array()
                } else {
                    self.expected = Expected::Element
                }
                Some(Split::Document(separator..separator + 1))
            }
            Some(byte) => self.begin_value(byte),
        }
    }

    fn begin_document(&mut self, bytes: &[u8]) -> Option<Split> {
        match self.next_byte(bytes) {
            None => Some(Split::More),
            Some(byte) => self.begin_value(byte),
        }
    }

    /// Begins a document with its first byte.
    fn begin_value(&mut self, byte: u8) -> Option<Split> {
        self.start = Some(self.position);
        if matches!(byte, b'{' | b'[') {
            self.position += 1;
            self.expected = Expected::Container(NestingScan::begin());
        } else {
            self.expected = Expected::Other(OtherText::default());
        }
        None
    }

    fn end_container(&mut self) -> Option<Split> {
        if self.form == Form::Array {
            self.expected = Expected::Separator;
            return None;
        }
        self.expected = Expected::Document;
        self.start.take().map(|start| Split::Document(start..self.position))
    }

    fn end_element(&mut self, bytes: &[u8]) -> Option<Split> {
        // The position stays at the end of the element until the separator is known.
        let spaces = bytes.get(self.position..)?.iter().take_while(|byte| is_space(**byte)).count();
        let end = self.position;
        match bytes.get(end + spaces) {
            None => Some(Split::More),
            Some(byte @ (b',' | b']')) => {
                self.position = end + spaces + 1;
                if *byte == b']' {
                    self.close_array()
                } else {
                    self.expected = Expected::Element
                }
                self.start.take().map(|start| Split::Document(start..end))
            }
            Some(_) => {
                self.expected = Expected::Other(OtherText::default());
                None
            }
        }
    }

    fn close_array(&mut self) {
        self.expected = Expected::Array;
        self.arrays += 1;
    }

    /// Examines text in an array up to the next comma or bracket outside of strings.
    fn other_in_array(&mut self, bytes: &[u8]) -> Option<Split> {
        let Expected::Other(text) = &mut self.expected else { return None };
        while let Some(&byte) = bytes.get(self.position) {
            if text.is_outside_string(byte) {
                match byte {
                    b',' | b']' => {
                        let end = self.position;
                        self.position += 1;
                        if byte == b']' {
                            self.close_array()
                        } else {
                            self.expected = Expected::Element
                        }
                        return self.start.take().map(|start| Split::Document(trimmed(bytes, start..end)));
                    }
                    b'{' | b'[' => {
                        self.position += 1;
                        self.expected = Expected::Container(NestingScan::begin());
                        return None;
                    }
                    _ => {}
                }
            }
            self.position += 1;
        }
        Some(Split::More)
    }

    /// Examines text between documents up to the next white space or bracket outside of strings. A newline
    /// ends it in any case, because it cannot be part of a string.
    fn other_in_stream(&mut self, bytes: &[u8]) -> Option<Split> {
        let Expected::Other(text) = &mut self.expected else { return None };
        while let Some(&byte) = bytes.get(self.position) {
            let is_end = matches!(byte, b'{' | b'[' | RECORD_SEPARATOR) || is_space(byte);
            if byte == b'\n' || text.is_outside_string(byte) && is_end {
                self.expected = Expected::Document;
                return self.start.take().map(|start| Split::Document(start..self.position));
            }
            self.position += 1;
        }
        Some(Split::More)
    }

    fn whole_input(&mut self, bytes: &[u8]) -> Option<Split> {
        if self.start.is_none() && self.next_byte(bytes).is_some() {
            self.start = Some(self.position);
        }
        self.need_more(bytes)
    }

    /// Returns what is left at the end of the input.
    fn finish(&mut self, bytes: &[u8]) -> Split {
        let Some(start) = self.start.take() else { return Split::End };
        self.position = bytes.len();
        let document = trimmed(bytes, start..bytes.len());
        match &self.expected {
            Expected::Container(_) => {
                self.expected = if self.form == Form::Array { Expected::Element } else { Expected::Document };
                Split::CutDocument(document)
            }
            Expected::Separator => {
                self.expected = Expected::Element;
                Split::Document(document)
            }
            Expected::Other(_) if self.form == Form::Array => {
                self.expected = Expected::Element;
                Split::CutDocument(document)
            }
            _ => {
                self.expected = Expected::Document;
                Split::Document(document)
            }
        }
    }
}

impl OtherText {
    /// Continues with the next byte. Returns `true` if it is neither in a string nor a quote.
    fn is_outside_string(&mut self, byte: u8) -> bool {
        let was_escaped = std::mem::take(&mut self.is_escaped);
        if self.is_in_string {
            match byte {
                b'\\' => self.is_escaped = !was_escaped,
                b'"' if !was_escaped => self.is_in_string = false,
                _ => {}
            }
            return false;
        }
        self.is_in_string = byte == b'"';
        !self.is_in_string
    }
}

/// Returns `true` for the white space of JSON.
pub(super) fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r')
}

/// Removes white space from the end of a range of bytes.
fn trimmed(bytes: &[u8], range: Range<usize>) -> Range<usize> {
    let text = bytes.get(range.clone()).unwrap_or_default();
    let spaces = text.iter().rev().take_while(|byte| is_space(**byte)).count();
    range.start..range.end - spaces
}

/// Appends a document to `line` without newlines, so that it is one line, and returns `true` if it had any.
/// Outside of strings, white space with a newline in it is removed; within a string, where a newline is not
/// valid JSON, it becomes a carriage return, which is not valid either.
pub(super) fn append_as_line(document: &[u8], line: &mut Vec<u8>) -> bool {
    if memchr::memchr(b'\n', document).is_none() {
        line.extend_from_slice(document);
        return false;
    }
    let mut rest = document;
    while let Some(length) = memchr::memchr2(b'"', b'\n', rest) {
        let (before, from) = rest.split_at(length);
        line.extend_from_slice(before);
        rest = if from.first() == Some(&b'"') { append_string(from, line) } else { skip_spaces(from, line) };
    }
    line.extend_from_slice(rest);
    true
}

/// Appends the string at the start of `text` and returns the text behind it.
fn append_string<'a>(text: &'a [u8], line: &mut Vec<u8>) -> &'a [u8] {
    let mut end = 1;
    while let Some(length) = text.get(end..).and_then(|rest| memchr::memchr2(b'"', b'\\', rest)) {
        let is_quote = text.get(end + length) == Some(&b'"');
        end += length + if is_quote { 1 } else { 2 };
        if is_quote {
            return append_without_newlines(text, end, line);
        }
    }
    append_without_newlines(text, text.len(), line)
}

/// Appends the first `length` bytes of a text, with carriage returns in place of newlines, and returns the
/// text behind them.
fn append_without_newlines<'a>(text: &'a [u8], length: usize, line: &mut Vec<u8>) -> &'a [u8] {
    let (string, rest) = text.split_at(length.min(text.len()));
    let start = line.len();
    line.extend_from_slice(string);
    if memchr::memchr(b'\n', string).is_some() {
        line.iter_mut().skip(start).filter(|byte| **byte == b'\n').for_each(|byte| *byte = b'\r');
    }
    rest
}

/// Removes the white space around the newline at the start of `text`, and returns the text behind it. A space
/// stays between two words, which would become another word without it.
fn skip_spaces<'a>(text: &'a [u8], line: &mut Vec<u8>) -> &'a [u8] {
    let spaces_before = line.iter().rev().take_while(|byte| is_space(**byte)).count();
    line.truncate(line.len() - spaces_before);
    let spaces = text.iter().take_while(|byte| is_space(**byte)).count();
    let rest = text.get(spaces..).unwrap_or_default();
    let is_word = |byte: Option<&u8>| byte.is_some_and(|byte| !b"{}[],:\"".contains(byte));
    if is_word(line.last()) && is_word(rest.first()) {
        line.push(b' ');
    }
    rest
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Splits a text that arrives in pieces which end at these positions.
    fn split_at(text: &[u8], form: Form, cuts: &[usize]) -> Vec<(Split, Vec<u8>)> {
        let mut splitter = DocumentSplitter::new(form);
        let mut buffer = Vec::new();
        let mut found = Vec::new();
        let (mut read, mut removed) = (0, 0);
        let mut cuts = cuts.iter().copied().chain([text.len()]);
        loop {
            match splitter.next(&buffer, read == text.len()) {
                Split::More => {
                    let consumed = splitter.consumed();
                    splitter.shift(consumed);
                    buffer.drain(..consumed);
                    removed += consumed;
                    let end = cuts.next().unwrap();
                    buffer.extend_from_slice(&text[read..end]);
                    read = end;
                }
                Split::Document(range) => {
                    let place = range.start + removed..range.end + removed;
                    found.push((Split::Document(place), buffer[range].to_vec()));
                }
                Split::CutDocument(range) => {
                    let place = range.start + removed..range.end + removed;
                    found.push((Split::CutDocument(place), buffer[range].to_vec()));
                }
                Split::NoArray(position) => {
                    found.push((Split::NoArray(position + removed), Vec::new()));
                    return found;
                }
                Split::End => return found,
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2_000))]

        #[test]
        fn pieces_of_any_size_give_the_same_documents(
            text in "\\[?([{}\\[\\]\",: \n\u{1e}]|[a-z]|\\\\\"|\\{\"a\":\"[a-z ]{0,90}\"\\},?){0,40}\\]?",
            cuts in proptest::collection::vec(0_usize..400, 0..6),
        ) {
            let text = text.as_bytes();
            let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(text.len())).collect();
            cuts.sort_unstable();
            for form in [Form::Array, Form::Stream, Form::File] {
                let whole = split_at(text, form, &[]);
                for (split, document) in &whole {
                    if let Split::Document(range) | Split::CutDocument(range) = split {
                        prop_assert_eq!(&text[range.clone()], document.as_slice());
                        prop_assert!(!document.is_empty() && !is_space(document[0]));
                    }
                }
                prop_assert_eq!(split_at(text, form, &cuts), whole);
            }
        }
    }
}
