//! Keeps messages of systems, a bounded number of bounded length.

use std::collections::BTreeMap;

/// Longest message that is kept, in bytes.
const LONGEST_MESSAGE: usize = 300;

/// The message, cut if it is long.
pub(crate) fn shortened(mut message: String) -> String {
    if message.len() > LONGEST_MESSAGE {
        message.truncate(message.floor_char_boundary(LONGEST_MESSAGE));
        message.push('…');
    }
    message
}

/// Counts a message by its text. Once `most` different ones are known, further ones are counted as other messages.
pub(crate) fn count_message(counts: &mut BTreeMap<String, u64>, message: String, count: u64, most: usize) {
    let mut message = shortened(message);
    if counts.len() >= most && !counts.contains_key(&message) {
        "other messages".clone_into(&mut message);
    }
    *counts.entry(message).or_default() += count;
}
