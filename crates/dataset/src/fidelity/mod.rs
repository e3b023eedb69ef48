//! Fidelity: whether a system returns the document it was given. Contains the corpus made from the RFCs, a
//! strict parser, and the comparison of a document with the returned one.

pub mod compare;
pub mod corpus;
pub mod folder;
pub mod nesting;
pub mod number;
pub mod selection;
pub mod strict;

use std::fmt::Write;

pub use compare::{
    ChangeKind, RoundTrip, compare_cell, compare_document, compare_value, compare_wrapped_value,
};
pub use corpus::{Case, MEMBER, cases};
pub use folder::{MAX_CASE_BYTES, read_folder};
pub use nesting::Nesting;
pub use selection::{digest, selected_cases, selected_nestings};

/// Formats bytes for display, at most about `limit` of them. Control characters, invisible characters and
/// invalid UTF-8 become `\xNN`. The middle of a longer text is replaced by its total length.
#[must_use]
pub fn display_bytes(bytes: &[u8], limit: usize) -> String {
    let half = limit / 2;
    if bytes.len() <= limit {
        return escaped(bytes);
    }
    let (head, tail) = (bytes.get(..half), bytes.get(bytes.len() - half..));
    let (head, tail) = (head.unwrap_or_default(), tail.unwrap_or_default());
    format!("{} … {} bytes in all … {}", escaped(head), bytes.len(), escaped(tail))
}

fn escaped(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        for character in chunk.valid().chars() {
            // Characters without a glyph and those that change the text direction would be invisible.
            let is_hidden = character.is_control()
                || matches!(character, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff0}'..='\u{ffff}');
            match character {
                character if is_hidden => {
                    let mut buffer = [0; 4];
                    for byte in character.encode_utf8(&mut buffer).bytes() {
                        write!(text, "\\x{byte:02x}").ok();
                    }
                }
                character => text.push(character),
            }
        }
        for byte in chunk.invalid() {
            write!(text, "\\x{byte:02x}").ok();
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_seen_is_written_in_digits() {
        assert_eq!(display_bytes("{\"é\": \"𝄞\"}".as_bytes(), 100), "{\"é\": \"𝄞\"}");
        assert_eq!(display_bytes(b"\xef\xbb\xbf{}\n\0\xff", 100), "\\xef\\xbb\\xbf{}\\x0a\\x00\\xff");
        assert_eq!(display_bytes(&[b'a'; 100], 6), "aaa … 100 bytes in all … aaa");
    }
}
