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
/// Arrays and objects with an invalid value are JSON, too, so that their faults are reported. `None` if the
/// sample holds no array and no object.
pub(super) fn detect(sample: &[u8], is_whole: bool) -> Option<Form> {
    let spaces = sample.iter().take_while(|byte| is_space(**byte)).count();
    let text = sample.get(spaces..).unwrap_or_default();
    let mut scanner = Scanner::new();
    match text.first() {
        None => return Some(Form::Lines),
        Some(&RECORD_SEPARATOR) => return Some(Form::Stream),
        Some(b'[') if is_array_of_documents(text, is_whole, &mut scanner) => return Some(Form::Array),
        Some(_) => {}
    }
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
        _ => faulty_form(text, is_whole),
    }
}

/// The lines of a sample, as newline-delimited JSON.
struct Lines {
    /// Whether the sample holds the whole first line.
    is_first_whole: bool,
    is_first_faulty: bool,
    /// Whether a whole line is no JSON.
    has_faulty: bool,
    /// Whether a whole line is an array or object that begins with the line. Behind an indentation it may be a
    /// part of a pretty-printed document.
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
            examined.has_documents |= !is_faulty && !is_cut && begins_with_bracket(line);
        }
        examined
    }
}

/// Returns `true` if the grammar of JSON holds, whatever the encoding of strings.
fn is_json(text: &[u8], scanner: &mut Scanner) -> bool {
    !scanner.scan(text).traits.intersects(Traits::MALFORMED)
}

fn begins_with_bracket(text: &[u8]) -> bool {
    matches!(text.first(), Some(b'{' | b'['))
}

/// Reads a sample as documents one after the other and returns their number. A document that ends with the
/// sample counts only if the file ends there, too. `None` if one of them is no JSON, or the first is neither
/// array nor object.
fn examine_stream(text: &[u8], is_whole: bool, scanner: &mut Scanner) -> Option<u64> {
    if !begins_with_bracket(text) {
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

/// Finds the form of a sample of which no line is valid and whose documents are not either, by its brackets and
/// newlines alone. `None` unless it begins like an object, or is made of arrays and objects and has a whole one.
fn faulty_form(text: &[u8], is_whole: bool) -> Option<Form> {
    if !begins_with_bracket(text) {
        return None;
    }
    let mut splitter = DocumentSplitter::new(Form::Stream);
    let (mut documents, mut closed, mut previous_end) = (0_u64, 0_u64, None);
    let (mut has_other_text, mut is_by_lines) = (false, true);
    loop {
        let (range, is_cut) = match splitter.next(text, true) {
            Split::Document(range) => (range, false),
            Split::CutDocument(range) => (range, true),
            _ => break,
        };
        let document = text.get(range.clone()).unwrap_or_default();
        let is_container = begins_with_bracket(document);
        has_other_text |= !is_container;
        closed += u64::from(is_container && !is_cut);
        documents += 1;
        let before = previous_end.and_then(|end| text.get(end..range.start));
        let shares_line = before.is_some_and(|between| !between.contains(&b'\n'));
        is_by_lines &= !shares_line && !document.contains(&b'\n');
        previous_end = Some(range.end);
    }
    let is_json = begins_like_object(text) || (!has_other_text && closed > 0);
    let form = match is_by_lines {
        true => Form::Lines,
        false if is_whole && documents == 1 => Form::File,
        false => Form::Stream,
    };
    is_json.then_some(form)
}

/// Returns `true` if the text begins with `{` and a string or `}`: hardly anything but JSON does.
fn begins_like_object(text: &[u8]) -> bool {
    let mut bytes = text.iter().filter(|byte| !is_space(**byte));
    bytes.next() == Some(&b'{') && matches!(bytes.next(), Some(b'"' | b'}'))
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

/// Returns `true` if the text, which begins with `[`, is an array whose elements are the documents, or several
/// of them. It is not if further text follows an array of something else than objects: each array is a document
/// then, or the text is a log. Neither is it if each array has a line of its own, which is newline-delimited
/// JSON.
fn is_array_of_documents(text: &[u8], is_whole: bool, scanner: &mut Scanner) -> bool {
    let Split::Document(range) = DocumentSplitter::new(Form::Stream).next(text, is_whole) else {
        return true;
    };
    let (array, behind) = text.split_at(range.end);
    let spaces = behind.iter().take_while(|byte| is_space(**byte)).count();
    let (between, following) = behind.split_at(spaces);
    match begins_with_object(array) {
        false => is_whole && following.is_empty(),
        true if array.contains(&b'\n') || !between.contains(&b'\n') => true,
        true => !is_line_of_json(following, scanner),
    }
}

/// Returns `true` if the first element of an array is an object.
fn begins_with_object(array: &[u8]) -> bool {
    array.iter().skip(1).find(|byte| !is_space(**byte)) == Some(&b'{')
}

/// Returns `true` if the first line of the text is an array or object, as far as it is in the text.
fn is_line_of_json(text: &[u8], scanner: &mut Scanner) -> bool {
    let end = memchr::memchr(b'\n', text);
    let line = text.get(..end.unwrap_or(text.len())).unwrap_or_default();
    begins_with_bracket(line) && (is_json(line, scanner) || (end.is_none() && is_beginning(line, scanner)))
}

/// Returns `true` if a sample begins with an array of objects, each of which could be meant as a document.
pub(super) fn begins_with_array_of_objects(sample: &[u8]) -> bool {
    let text = sample.trim_ascii_start();
    text.first() == Some(&b'[') && begins_with_object(text)
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
    use proptest::prelude::*;

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
            ("[{\"a\":1}]\n{\"a\":2}\n", Form::Lines),
            ("[{\"a\":1}]\n\n[{\"a\":2}]\n", Form::Lines),
            ("[{\"a\":1}]\n[{\"a\":2", Form::Lines),
            ("[{\"a\":1}] [{\"a\":2}]\n", Form::Array),
            ("[{\"a\":1}]\n[\n{\"a\":2}\n]\n", Form::Array),
            ("[{\"a\":1}]\n2 rows\n", Form::Array),
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
    fn an_invalid_value_does_not_make_a_file_something_else() {
        for (text, expected) in [
            ("{\"a\":NaN}\n", Form::Lines),
            ("{\"a\":NaN}\n{\"a\":NaN}\n", Form::Lines),
            ("{\"a\":NaN}\n{\"a\":", Form::Lines),
            ("[NaN]\n[NaN]\n", Form::Lines),
            ("{'a': 1}\n", Form::Lines),
            ("[NaN]", Form::Array),
            ("{\"a\":NaN}{\"a\":1}\n", Form::Stream),
            ("{\"a\":1};\n", Form::Stream),
            ("{\n  \"a\": NaN\n}\n{\n  \"a\": 1\n}\n", Form::Stream),
            ("{\n  \"a\": NaN\n}\n", Form::File),
            ("{\n  \"a\": 1\n  \"b\": 2\n}\n", Form::File),
            ("{\n  \"a\": NaN,\n  \"b\": [\n    {}\n  ]\n}\n", Form::File),
            ("{\n  \"a\": NaN,\n  \"b\": \"cut", Form::File),
        ] {
            assert_eq!(form(text), Some(expected), "{text:?}");
        }
        // Text with brackets is no JSON.
        for text in ["[INFO] started\n[INFO] ended\n", "{broken\n", "{% if x %}\ny\n"] {
            assert_eq!(form(text), None, "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn a_document_with_an_invalid_value_has_the_form_of_a_valid_one(
            names in proptest::collection::vec("[a-z]{1,6}", 1..8),
            invalid in proptest::sample::select(vec!["NaN", "-Infinity", "undefined", "01", "'x'", "tru"]),
            place in 0_usize..8,
            documents in 1_usize..4,
            is_pretty: bool,
        ) {
            let text = |value: &str| {
                let place = place % names.len();
                let value = |index| if index == place { value } else { "[{\"n\": 1}]" };
                let members: Vec<String> = names
                    .iter()
                    .enumerate()
                    .map(|(index, name)| format!("\"{name}{index}\": {}", value(index)))
                    .collect();
                let (space, comma) = if is_pretty { ("\n", ",\n  ") } else { ("", ", ") };
                format!("{{{space}  {}{space}}}\n", members.join(comma)).repeat(documents)
            };
            let expected = form(&text("1"));
            prop_assert!(expected.is_some());
            prop_assert_eq!(form(&text(invalid)), expected);
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
