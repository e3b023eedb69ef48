//! Hides paths of the machine in the data of a page, because pages are passed on.

use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};

use jsonathlon_results::summary::Run;

/// Whether a page shows paths of the machine, such as those in a system's messages.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum PathDisplay {
    /// The page shows the last part of a path only.
    #[default]
    Hidden,
    /// The page shows whole paths.
    Shown,
}

/// First parts of paths below which files of users and programs are.
const ROOTS: [&str; 10] = ["home", "root", "tmp", "var", "usr", "opt", "mnt", "media", "srv", "Users"];

/// Replaces paths in serialised text.
#[derive(Debug)]
pub(crate) struct PathHider {
    /// First parts of absolute paths that are hidden.
    roots: BTreeSet<String>,
    /// Known paths that hold characters at which a path in a text would seem to end.
    unusual: Vec<String>,
}

impl PathHider {
    /// A hider of the paths of these runs and of this process. `None` if paths are shown.
    pub(crate) fn new<'a>(runs: impl IntoIterator<Item = &'a Run>, paths: PathDisplay) -> Option<Self> {
        if paths == PathDisplay::Shown {
            return None;
        }
        let of_runs = runs.into_iter().map(|run| PathBuf::from(&run.path));
        let of_process = [std::env::current_dir().ok(), Some(std::env::temp_dir()), home_folder()];
        Some(Self::from_known(of_runs.chain(of_process.into_iter().flatten())))
    }

    fn from_known(known: impl Iterator<Item = PathBuf>) -> Self {
        let mut hider = Self { roots: ROOTS.map(str::to_owned).into(), unusual: Vec::new() };
        let absolute = known.map(|path| std::fs::canonicalize(&path).unwrap_or(path));
        for path in absolute.filter(|path| path.is_absolute()) {
            let mut parts = path.components().filter_map(|part| match part {
                Component::Normal(name) => name.to_str(),
                _ => None,
            });
            hider.roots.extend(parts.next().map(str::to_owned));
            let text = path.display().to_string();
            if text.bytes().any(is_end) {
                hider.unusual.push(text);
            }
        }
        // A longer path first, so that no part of it is left.
        hider.unusual.sort_by_key(|path| std::cmp::Reverse(path.len()));
        hider
    }

    /// The text with the last part only of every path.
    pub(crate) fn hide(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for path in &self.unusual {
            text = text.replace(path.as_str(), &last_part(path));
        }
        let bytes = text.as_bytes();
        let mut hidden = String::with_capacity(text.len());
        let mut copied = 0;
        let mut position = 0;
        while let Some(offset) = bytes[position..].iter().position(|byte| *byte == b'/') {
            let start = position + offset;
            let length = bytes[start..].iter().position(|byte| is_end(*byte));
            let end = length.map_or(bytes.len(), |length| start + length);
            let path = &text[start..end];
            position = start + 1;
            if is_path_start(bytes, start) && self.is_known(path) {
                hidden.push_str(&text[copied..start]);
                hidden.push_str(&last_part(path.trim_end_matches(['.', '/'])));
                copied = end;
                position = end;
            }
        }
        hidden.push_str(&text[copied..]);
        hidden
    }

    /// Returns `true` for paths of at least two parts whose first part is a known one.
    fn is_known(&self, path: &str) -> bool {
        let mut parts = path.split('/').skip(1);
        let first = parts.next().unwrap_or_default();
        self.roots.contains(first) && parts.next().is_some_and(|second| !second.is_empty())
    }
}

/// The home folder of the user. `None` if it is unknown.
fn home_folder() -> Option<PathBuf> {
    std::env::var_os("HOME").map(PathBuf::from).filter(|home| home != Path::new("/"))
}

/// Returns `true` for characters at which a path ends in messages, statements and JSON.
fn is_end(byte: u8) -> bool {
    byte.is_ascii_whitespace() || byte.is_ascii_control() || b"\"'`,;:()<>|\\{}[]=".contains(&byte)
}

/// Returns `true` if a slash may begin a path: not within a word, a number or an address of the web. An escape
/// of JSON before it, such as `\n`, is no word.
fn is_path_start(bytes: &[u8], slash: usize) -> bool {
    let before = &bytes[..slash];
    match before {
        [.., b'\\', b'n' | b'r' | b't'] => true,
        [.., byte] if byte.is_ascii_alphanumeric() => false,
        [.., b'.' | b'-' | b'_' | b'~' | b'*' | b'$' | b')' | b']'] => false,
        [.., b'/'] => before.ends_with(b"file://"),
        _ => true,
    }
}

/// The last part of a path behind an ellipsis. A path of two parts, such as a home folder, has none.
fn last_part(path: &str) -> String {
    let parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
    match parts.as_slice() {
        [_, _, .., last] => format!("…/{last}"),
        _ => "…".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hider(known: &[&str]) -> PathHider {
        PathHider::from_known(known.iter().map(PathBuf::from))
    }

    #[test]
    fn of_a_path_the_last_part_stays() {
        let hider = hider(&["/nowhere/runs/one"]);
        for (text, hidden) in [
            ("read_json('/home/alice/x/events.ndjson')", "read_json('…/events.ndjson')"),
            ("see /nowhere/runs/one/logs/mysql.", "see …/mysql"),
            (r#"{"error":"failed\n/tmp/.tmpA1/out: full"}"#, r#"{"error":"failed\n…/out: full"}"#),
            ("file:///home/alice/page.html", "file://…/page.html"),
            ("of /home/alice, /home/bob/", "of …, …"),
        ] {
            assert_eq!(hider.hide(text), hidden);
        }
    }

    #[test]
    fn what_is_no_path_of_the_machine_stays() {
        let hider = hider(&["/nowhere/runs/one"]);
        for text in [
            "analytics/home/x",
            "https://home/alice",
            "$.commit/record",
            "'/commit/record/langs'",
            "12 /s",
            "1/2",
            "application/json",
            "/home",
            "/proc/pressure/io",
        ] {
            assert_eq!(hider.hide(text), text);
        }
    }

    #[test]
    fn known_paths_with_blanks_are_hidden_whole() {
        let hider = hider(&["/elsewhere/my runs/one", "/elsewhere/my runs"]);
        assert_eq!(hider.hide("in /elsewhere/my runs/one: full"), "in …/one: full");
    }

    #[test]
    fn paths_that_are_shown_need_no_hider() {
        assert!(PathHider::new(&[], PathDisplay::Shown).is_none());
        assert!(PathHider::new(&[], PathDisplay::Hidden).is_some());
    }
}
