//! Removes the parts of a system's error message that are specific to one document.
//!
//! Systems quote the document and count rows of this program's own files, which would make every reason
//! unique.

/// Placeholder for a removed part of an error message.
const ELLIPSIS: &str = "…";
/// Minimum number of bytes in common with the document for text to count as a quotation of it.
const MIN_QUOTATION: usize = 16;
/// Bytes of the document that are compared: systems quote beginnings.
const COMPARED_BYTES: usize = 8 << 10;
/// Words before a number that counts lines of the file this program sent, which is not the user's file.
const LINE_WORDS: [&str; 3] = ["row", "line", "record"];
/// Words before a number that counts positions in the file this program sent, or in the document.
const POSITION_WORDS: [&str; 9] =
    ["row", "line", "record", "column", "col", "byte", "offset", "position", "character"];
/// A number with at least this many digits is assumed to stem from the document.
const LONG_NUMBER: usize = 6;

/// Removes names of this program's own files, and line numbers in them, which the user has never seen.
pub(super) fn strip_program_files(reason: &str, files: &[String]) -> String {
    let mut text = reason.to_owned();
    for file in files.iter().filter(|file| !file.is_empty()) {
        text = text.replace(file.as_str(), "the documents");
    }
    elide(&text, &|_, digits, before| follows_word(before, &LINE_WORDS).then_some(digits))
}

/// Replaces quotations of the document by an ellipsis.
pub(super) fn strip_document(reason: &str, document: &[u8]) -> String {
    let document = document.get(..COMPARED_BYTES).unwrap_or(document);
    let mut text = String::with_capacity(reason.len());
    let mut offset = 0;
    while let Some(rest) = reason.get(offset..).filter(|rest| !rest.is_empty()) {
        let may_be_quotation = rest.starts_with(['{', '[', '"', '\'']);
        let quoted_length = if may_be_quotation { quotation(rest, document) } else { 0 };
        if quoted_length > 0 {
            if !text.ends_with(ELLIPSIS) {
                text.push_str(ELLIPSIS);
            }
            offset += quoted_length;
        } else if let Some(character) = rest.chars().next() {
            // Do not repeat the ellipsis if the system has shortened the quotation itself.
            if !(rest.starts_with(ELLIPSIS) && text.ends_with(ELLIPSIS)) {
                text.push(character);
            }
            offset += character.len_utf8();
        }
    }
    text
}

/// Number of bytes at the beginning of `text` that quote the document; 0 if there are fewer than
/// [`MIN_QUOTATION`].
fn quotation(text: &str, document: &[u8]) -> usize {
    // Some systems put a quotation mark before the quotation.
    for skipped in [0, 1] {
        let Some(quoted) = text.as_bytes().get(skipped..) else { continue };
        let Some(beginning) = quoted.get(..MIN_QUOTATION) else { continue };
        let common_length = |offset: usize| {
            let candidate = document.get(offset..).unwrap_or_default();
            quoted.iter().zip(candidate).take_while(|(left, right)| left == right).count()
        };
        let longest = document
            .windows(MIN_QUOTATION)
            .enumerate()
            .filter(|(_, window)| *window == beginning)
            .map(|(offset, _)| common_length(offset))
            .max();
        if let Some(length) = longest {
            let mut end = skipped + length;
            while !text.is_char_boundary(end) {
                end -= 1;
            }
            let mark = text.get(..skipped).filter(|mark| !mark.is_empty());
            let is_closed =
                mark.is_some_and(|mark| text.get(end..).is_some_and(|rest| rest.starts_with(mark)));
            return end + usize::from(is_closed);
        }
    }
    0
}

/// Groups reasons: the first line without quoted parts, positions and long numbers.
pub(super) fn kind(reason: &str) -> String {
    let text = elide(super::first_line(reason), &|rest, digits, before| {
        match rest.chars().next() {
            Some(mark @ ('"' | '\'' | '`')) => between_marks(rest, mark),
            // A long number, or one that counts rows or bytes, belongs to one document.
            Some('0'..='9') => {
                (follows_word(before, &POSITION_WORDS) || digits >= LONG_NUMBER).then_some(digits)
            }
            _ => None,
        }
    });
    text.split_whitespace().collect::<Vec<_>>().join(" ").chars().take(MAX_LENGTH).collect()
}

/// Replaces pieces of a text by an ellipsis. `piece_length` gets the rest of the text, the number of digits
/// at its beginning, and the text before it; it returns the length of a piece to replace.
fn elide(text: &str, piece_length: &dyn Fn(&str, usize, &str) -> Option<usize>) -> String {
    let mut output = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(character) = rest.chars().next() {
        let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        let consumed = match piece_length(rest, digits, &output) {
            Some(length) if length > 0 => {
                output.push_str(ELLIPSIS);
                length
            }
            _ => {
                let unit_length = digits.max(character.len_utf8());
                output.push_str(rest.get(..unit_length).unwrap_or_default());
                unit_length
            }
        };
        rest = rest.get(consumed..).unwrap_or_default();
    }
    output
}

/// Maximum number of characters of a reason in the summary.
const MAX_LENGTH: usize = 200;

/// Length of a quoted text including both marks; `None` if there is none, or the mark is an apostrophe.
fn between_marks(text: &str, mark: char) -> Option<usize> {
    let inside = text.get(1..)?;
    let end = inside.find(mark)?;
    let is_apostrophe = mark == '\''
        && inside.starts_with(|c: char| c.is_ascii_lowercase() || c == ' ')
        && inside.get(..end).is_some_and(|inside| inside.starts_with("s ") || inside.starts_with("t "));
    (!is_apostrophe).then_some(end + 2)
}

/// Returns `true` if the last word of `before` is one of these words.
fn follows_word(before: &str, words: &[&str]) -> bool {
    let word =
        before.trim_end_matches([' ', ':', '#', '=', '(']).rsplit(|c: char| !c.is_alphanumeric()).next();
    word.is_some_and(|word| words.contains(&word.to_ascii_lowercase().as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const DOCUMENT: &str = r#"{"id":"x","kind":"a","kind":"a","n":5,"text":"größer"}"#;

    #[test]
    fn a_document_is_left_out_of_the_reason() {
        let reason = |message: &str| strip_document(message, DOCUMENT.as_bytes());
        for (message, expected) in [
            (format!("duplicate path: {DOCUMENT}: in row 1"), "duplicate path: …: in row 1".to_owned()),
            (format!("cannot parse '{DOCUMENT}'"), "cannot parse …".to_owned()),
            (format!("cannot parse \"{}…", &DOCUMENT[..40]), "cannot parse …".to_owned()),
            ("nothing \"kind\" of it".to_owned(), "nothing \"kind\" of it".to_owned()),
            ("".to_owned(), "".to_owned()),
        ] {
            assert_eq!(reason(&message), expected, "{message}");
        }
    }

    #[test]
    fn reasons_of_one_kind_are_alike() {
        for (message, expected) in [
            ("Malformed JSON at byte 17 in line 3: x\nmore", "Malformed JSON at byte … in line …: x"),
            ("Duplicate key \"kind\" (at row 12)", "Duplicate key … (at row …)"),
            ("number 123456789012345678901234567890 is out of range", "number … is out of range"),
            ("nested deeper than 100 levels", "nested deeper than 100 levels"),
            ("the file's column 7 can't be read", "the file's column … can't be read"),
            ("arrow 3 of line 12", "arrow 3 of line …"),
            ("invalid value 'soon' for time", "invalid value … for time"),
        ] {
            assert_eq!(kind(message), expected);
        }
    }

    #[test]
    fn the_programs_own_files_are_not_named() {
        let files = ["run/clean.ndjson".to_owned(), String::new()];
        assert_eq!(
            strip_program_files("failed in \"run/clean.ndjson\", at byte 8 in line 5: no", &files),
            "failed in \"the documents\", at byte 8 in line …: no"
        );
    }
}
