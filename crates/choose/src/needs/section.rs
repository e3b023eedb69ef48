//! Reads one section of a needs file strictly: every key must be known, and errors name the line.

use std::collections::BTreeMap;
use std::ops::Range;

use jsonathlon_schema::did_you_mean::did_you_mean;
use toml::{Spanned, Value};

/// Why a needs file cannot be used: where, and what is wrong in one sentence.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{file}:{line}: {message}")]
pub struct NeedsError {
    /// Name of the file as given to [`NeedsFile::parse`](super::NeedsFile::parse).
    pub file: String,
    /// Line in the file, from 1.
    pub line: usize,
    /// The problem in one sentence, without a full stop.
    pub message: String,
}

/// Text of a needs file, which converts positions to lines for errors.
#[derive(Debug, Clone, Copy)]
pub(super) struct Source<'a> {
    pub(super) file: &'a str,
    pub(super) text: &'a str,
}

impl Source<'_> {
    /// Makes an error about what stands at `position`, in bytes.
    pub(super) fn error(self, position: usize, message: impl Into<String>) -> NeedsError {
        let line = 1 + self.text.bytes().take(position).filter(|byte| *byte == b'\n').count();
        NeedsError { file: self.file.to_owned(), line, message: message.into() }
    }
}

/// Keys of each section, in the order in which the template has them.
pub(super) const SECTIONS: [(&str, &[&str]); 5] = [
    ("documents", &["now", "later", "key"]),
    ("load", &["reads", "updates", "inserts", "scans", "update", "clients", "rate"]),
    ("reports", &["questions", "streams"]),
    ("needs", &["durability", "round_trip", "rejected", "response", "report", "size", "kind"]),
    ("prefer", &["order"]),
];

/// Sections of a file as TOML has them, with the positions of keys and values.
pub(super) type WrittenSections = BTreeMap<Spanned<String>, Spanned<WrittenKeys>>;
/// Keys of a section with their values.
pub(super) type WrittenKeys = BTreeMap<Spanned<String>, Spanned<Value>>;

/// A value of a file that was not read yet.
#[derive(Debug, Clone)]
pub(super) struct Entry<'a> {
    source: Source<'a>,
    /// Full name of the key, such as `load.rate`.
    name: String,
    /// Where the value stands.
    position: Range<usize>,
    value: Value,
}

impl Entry<'_> {
    /// Makes an error about the value that begins with the name of the key.
    pub(super) fn error(&self, message: impl AsRef<str>) -> NeedsError {
        self.source.error(self.position.start, format!("{}: {}", self.name, message.as_ref()))
    }

    /// The value as it is written in the file, for errors.
    pub(super) fn written(&self) -> &str {
        self.source.text.get(self.position.clone()).unwrap_or_default().trim()
    }

    /// Reads the value with a parser whose error is the rest of the sentence.
    pub(super) fn read<T>(&self, parse: impl FnOnce(&Value) -> Result<T, String>) -> Result<T, NeedsError> {
        parse(&self.value).map_err(|message| self.error(message))
    }
}

/// One section with all of its keys known, or a section that the file does not have.
#[derive(Debug)]
pub(super) struct Section<'a> {
    /// Where the section begins. `None` if the file does not have it.
    pub(super) position: Option<usize>,
    entries: BTreeMap<String, Entry<'a>>,
}

impl<'a> Section<'a> {
    /// Value of a key. `None` if the section does not have it.
    pub(super) fn get(&self, key: &str) -> Option<&Entry<'a>> {
        self.entries.get(key)
    }

    /// Reads the value of a key; `None` if the section does not have it.
    pub(super) fn read<T>(
        &self,
        key: &str,
        parse: impl FnOnce(&Value) -> Result<T, String>,
    ) -> Result<Option<T>, NeedsError> {
        self.get(key).map(|entry| entry.read(parse)).transpose()
    }
}

/// Sorts what is written into the known sections.
///
/// # Errors
/// If the syntax is no TOML, or a section or key is unknown.
pub(super) fn sections(source: Source<'_>) -> Result<BTreeMap<&'static str, Section<'_>>, NeedsError> {
    let written: WrittenSections = toml::from_str(source.text).map_err(|error| {
        let position = error.span().map_or(0, |span| span.start);
        // A value that stands in no section is the only one that is not a map.
        let message = match error.message() {
            message if message.starts_with("invalid type") => {
                "a needs file consists of sections such as [needs], and this stands in none".to_owned()
            }
            message => message.replace('\n', " "),
        };
        source.error(position, message)
    })?;
    let mut sections: BTreeMap<&'static str, Section<'_>> = SECTIONS
        .iter()
        .map(|(name, _)| (*name, Section { position: None, entries: BTreeMap::new() }))
        .collect();
    for (name, keys) in written {
        let position = name.span().start;
        let Some((known, known_keys)) = SECTIONS.iter().find(|(known, _)| known == name.get_ref()) else {
            return Err(source.error(position, unknown_section(name.get_ref())));
        };
        let mut entries = BTreeMap::new();
        for (key, value) in keys.into_inner() {
            if !known_keys.contains(&key.get_ref().as_str()) {
                return Err(source.error(key.span().start, unknown_key(known, key.get_ref(), known_keys)));
            }
            let entry = Entry {
                source,
                name: format!("{known}.{}", key.get_ref()),
                position: value.span(),
                value: value.into_inner(),
            };
            entries.insert(key.into_inner(), entry);
        }
        sections.insert(known, Section { position: Some(position), entries });
    }
    Ok(sections)
}

fn unknown_section(name: &str) -> String {
    let names = SECTIONS.map(|(name, _)| name);
    let near = did_you_mean(name, names);
    format!("unknown section [{name}]{near}; there are {}", names.map(|name| format!("[{name}]")).join(", "))
}

/// Names the section that has the key, the nearest key of this section, or all of them.
fn unknown_key(section: &str, key: &str, known: &[&str]) -> String {
    let home = SECTIONS.iter().find(|(_, keys)| keys.contains(&key));
    if let Some((home, _)) = home {
        return format!("[{section}] has no key `{key}`; it belongs into [{home}]");
    }
    let near = did_you_mean(key, known.iter().copied());
    format!("[{section}] has no key `{key}`{near}; its keys are {}", known.join(", "))
}
