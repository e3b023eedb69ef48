//! Finds the form of a file from its first bytes.

use super::form::Form;
use super::splitter::{DocumentSplitter, RECORD_SEPARATOR, Split, is_space};
use crate::scan::{Reason, Scanner, Traits};

/// Bytes of a file that decide on its form.
pub(super) const SAMPLE: usize = 64 * 1024;

/// Keys of MongoDB's Extended JSON, which stand alone in an object.
const EXTENDED: [&str; 6] =
    ["\"$oid\"", "\"$date\"", "\"$numberLong\"", "\"$numberDecimal\"", "\"$numberInt\"", "\"$binary\""];

/// Finds the form of a file that begins with `sample`. `is_whole` says that the file ends behind it.
/// `None` if the sample holds no array and no object.
pub(super) fn detect(sample: &[u8], is_whole: bool) -> Option<Form> {
    let spaces = sample.iter().take_while(|byte| is_space(**byte)).count();
    let text = sample.get(spaces..).unwrap_or_default();
    match text.first() {
        None => return Some(Form::Lines),
        Some(&RECORD_SEPARATOR) => return Some(Form::Stream),
        Some(b'[') if is_array_of_documents(text, is_whole) => return Some(Form::Array),
        Some(_) => {}
    }
    let mut scanner = Scanner::new();
    let lines = Lines::examine(text, is_whole, &mut scanner);
    if lines.is_first_whole && !lines.is_first_faulty && !lines.has_faulty {
        return Some(Form::Lines);
    }
    match examine_stream(text, is_whole, &mut scanner) {
        // A first line beyond the sample may be a long document.
        Some(documents) if lines.is_first_whole || documents > 0 => {
            let is_single = is_whole && documents == 1;
            Some(if is_single { Form::File } else { Form::Stream })
        }
        _ if lines.has_documents || !lines.is_first_whole => Some(Form::Lines),
        _ => None,
    }
}

/// The lines of a sample, as newline-delimited JSON.
struct Lines {
    /// Whether the sample holds the whole first line.
    is_first_whole: bool,
    is_first_faulty: bool,
    /// Whether a whole line is no JSON.
    has_faulty: bool,
    /// Whether a whole line is an array or object.
    has_documents: bool,
}

impl Lines {
    fn examine(text: &[u8], is_whole: bool, scanner: &mut Scanner) -> Self {
        let mut lines: Vec<&[u8]> = text.split(|byte| *byte == b'\n').collect();
        if !is_whole {
            lines.pop();
        }
        let is_blank = |line: &[u8]| line.iter().all(|byte| is_space(*byte));
        let mut examined = Lines {
            is_first_whole: !lines.is_empty(),
            is_first_faulty: false,
            has_faulty: false,
            has_documents: false,
        };
        let last = lines.len().saturating_sub(1);
        for (index, line) in lines.into_iter().enumerate().filter(|(_, line)| !is_blank(line)) {
            // A file of lines may end within its last one.
            let is_cut = is_whole && index > 0 && index == last && is_beginning(line, scanner);
            let is_faulty = !is_cut && !is_json(line, scanner);
            examined.is_first_faulty |= is_faulty && index == 0;
            examined.has_faulty |= is_faulty;
            let first = line.iter().find(|byte| !is_space(**byte));
            examined.has_documents |= !is_faulty && !is_cut && matches!(first, Some(b'{' | b'['));
        }
        examined
    }
}

/// Returns `true` if the grammar of JSON holds, whatever the encoding of strings.
fn is_json(text: &[u8], scanner: &mut Scanner) -> bool {
    !scanner.scan(text).traits.intersects(Traits::MALFORMED)
}

/// Reads a sample as documents one after the other and returns their number. A document that ends with the
/// sample counts only if the file ends there, too. `None` if one of them is no JSON, or the first is neither
/// array nor object.
fn examine_stream(text: &[u8], is_whole: bool, scanner: &mut Scanner) -> Option<u64> {
    if !matches!(text.first(), Some(b'{' | b'[')) {
        return None;
    }
    let mut splitter = DocumentSplitter::new(Form::Stream);
    let mut documents = 0;
    loop {
        match splitter.next(text, true) {
            Split::Document(range) if is_json(text.get(range.clone())?, scanner) => {
                // A number or word at the end of the sample may go on behind it.
                documents += u64::from(is_whole || range.end < text.len());
            }
            Split::CutDocument(range) => {
                let document = text.get(range.start..)?;
                let spans_lines = document.contains(&b'\n');
                return (is_beginning(document, scanner) && (spans_lines || documents > 0))
                    .then_some(documents + 1);
            }
            Split::End => return Some(documents),
            _ => return None,
        }
    }
}

/// Returns `true` if the text is the beginning of a JSON array or object.
fn is_beginning(text: &[u8], scanner: &mut Scanner) -> bool {
    let Some(fault) = scanner.scan(text).fault else { return true };
    match fault.reason {
        Reason::EndInString | Reason::EndInContainer | Reason::NotUtf8 => true,
        Reason::ControlCharacter => false,
        // A word, number or escape at the end of the text may be valid once it is complete.
        _ => {
            let rest = text.get(fault.offset..).unwrap_or_default();
            !rest.iter().any(|byte| is_space(*byte) || b"{}[],:\"".contains(byte))
        }
    }
}

/// Returns `true` if the text, which begins with `[`, is an array whose elements are the documents. It is not
/// if further text follows an array of something else than objects: each array is a document then, or the
/// text is a log.
fn is_array_of_documents(text: &[u8], is_whole: bool) -> bool {
    let first = text.iter().skip(1).find(|byte| !is_space(**byte));
    if first.is_none_or(|byte| *byte == b'{') {
        return true;
    }
    match DocumentSplitter::new(Form::Stream).next(text, is_whole) {
        Split::Document(range) => {
            let behind = text.get(range.end..).unwrap_or_default();
            is_whole && behind.iter().all(|byte| is_space(*byte))
        }
        _ => true,
    }
}

/// Returns the first key of MongoDB's Extended JSON in a sample, with its `$` and without quotes.
pub(super) fn extended_json_key(sample: &[u8]) -> Option<&'static str> {
    memchr::memchr(b'$', sample)?;
    EXTENDED.into_iter().find(|key| holds_key(sample, key.as_bytes())).map(|key| key.trim_matches('"'))
}

/// Returns `true` if an object in the sample begins with this key.
fn holds_key(sample: &[u8], key: &[u8]) -> bool {
    memchr::memmem::find_iter(sample, key).any(|position| {
        let (before, from) = sample.split_at(position);
        let last = before.iter().rev().find(|byte| !is_space(**byte));
        let next = from.iter().skip(key.len()).find(|byte| !is_space(**byte));
        last == Some(&b'{') && next == Some(&b':')
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn form(text: &str) -> Option<Form> {
        detect(text.as_bytes(), true)
    }

    #[test]
    fn forms_are_found_from_the_first_bytes() {
        for (text, expected) in [
            ("", Form::Lines),
            (" \n", Form::Lines),
            ("{\"a\":1}", Form::Lines),
            ("{\"a\":1}\n{\"a\":2}\n", Form::Lines),
            ("\r\n{\"a\":1}\r\n{\"a\":2", Form::Lines),
            ("1\n{\"a\":2}\n", Form::Lines),
            ("[1]\n{\"a\":2}\n", Form::Lines),
            ("[1]\n[2]\n", Form::Lines),
            ("[2024-01-01] started\n{\"a\":2}\n", Form::Lines),
            ("{\"cut\":\n{\"a\":1}\n{\"a\":2}\n", Form::Lines),
            ("{\"cut\n{\"a\":1}\n{\"a\":2}\n", Form::Lines),
            ("{\"a\":1} rest\n{\"a\":2}\n", Form::Lines),
            ("[{\"a\":1}]", Form::Array),
            ("[\n  {\n    \"a\": 1\n  }\n]\n", Form::Array),
            ("[]", Form::Array),
            ("[1,2]", Form::Array),
            ("[[1],\n[2]]\n", Form::Array),
            ("[{\"a\":1}]\n{\"a\":2}\n", Form::Array),
            ("{\"a\":1}{\"a\":2}", Form::Stream),
            ("{\"a\":1} {\"a\":2}\n{\"a\":3}\n", Form::Stream),
            ("{\n\"a\":1}\n{\"a\":2}\n", Form::Stream),
            ("{\"a\":1}\n{\n\"a\":2}\n", Form::Stream),
            ("{\"a\":1}\n{\n  \"a\":2,\n  \"b\"", Form::Stream),
            ("\u{1e}{\"a\":1}\n\u{1e}{\"a\":2}\n", Form::Stream),
            ("{\n  \"a\": [\n    {}\n  ]\n}\n", Form::File),
        ] {
            assert_eq!(form(text), Some(expected), "{text:?}");
        }
        for text in ["a,b\n1,2\n", "<html>\n</html>", "hello", "PAR1\0\0", "{broken\n"] {
            assert_eq!(form(text), None, "{text:?}");
        }
    }

    #[test]
    fn a_sample_that_ends_anywhere_is_enough() {
        let pretty = "{\n  \"name\": \"é \\u00e9\",\n  \"n\": [\n    -1.5e3,\n    true\n  ]\n}\n".repeat(3);
        for length in 3..pretty.len() {
            let expected =
                if pretty.as_bytes()[..length].contains(&b'\n') { Form::Stream } else { Form::Lines };
            assert_eq!(detect(&pretty.as_bytes()[..length], false), Some(expected), "{length}");
        }
        let lines = "{\"a\":\"x y\"}\n".repeat(3);
        for length in 1..lines.len() {
            assert_eq!(detect(&lines.as_bytes()[..length], false), Some(Form::Lines), "{length}");
        }
    }

    #[test]
    fn extended_json_is_recognised_by_its_keys() {
        for (text, expected) in [
            (r#"{"_id":{"$oid":"65"},"n":1}"#, Some("$oid")),
            (r#"{"n":{ "$numberLong" : "65"}}"#, Some("$numberLong")),
            (r#"{"n":"$oid","m":{"a":1,"$date":2}}"#, None),
            (r#"{"n":1}"#, None),
        ] {
            assert_eq!(extended_json_key(text.as_bytes()), expected, "{text}");
        }
    }
}
