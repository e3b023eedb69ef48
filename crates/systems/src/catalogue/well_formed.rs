//! What digests, paths and words in a folder look like, so that a client of a registry can be given them.

pub(super) fn is_digest(text: &str) -> bool {
    text.len() == 64 && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

/// Whether a path stays below the folder it is put in.
pub(super) fn is_inside(path: &str) -> bool {
    !path.is_empty() && path.trim_end_matches('/').split('/').all(|part| !matches!(part, "" | "." | ".."))
}

/// Whether it could be a suite, a version or a word of a client's command line: no option and no path.
pub fn is_plain(text: &str) -> bool {
    text.starts_with(|first: char| first.is_ascii_alphanumeric())
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b".-_+".contains(&byte))
}
