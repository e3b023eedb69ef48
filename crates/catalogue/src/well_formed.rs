//! Checks digests, paths and words of a folder before a registry's client gets them.

pub(super) fn is_digest(text: &str) -> bool {
    text.len() == 64 && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

/// Returns `true` if a path stays below the folder that it is appended to.
pub(super) fn is_inside(path: &str) -> bool {
    !path.is_empty() && path.trim_end_matches('/').split('/').all(|part| !matches!(part, "" | "." | ".."))
}

/// Returns `true` if the text is safe as a suite, a version or a word of a client's command line: neither an
/// option nor a path.
pub fn is_plain_word(text: &str) -> bool {
    text.starts_with(|first: char| first.is_ascii_alphanumeric())
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b".-_+".contains(&byte))
}
