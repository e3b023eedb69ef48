//! The studies that are part of the program.

use include_dir::{Dir, include_dir};

use crate::definition::{Study, StudyError};

static FILES: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/built-in");

/// The names of all built-in studies, in the order of the alphabet.
#[must_use]
pub fn names() -> Vec<&'static str> {
    let mut names: Vec<&str> = FILES.files().filter_map(|file| file.path().file_stem()?.to_str()).collect();
    names.sort_unstable();
    names
}

/// The built-in study of a name; none where there is no such study.
///
/// # Errors
/// Its file cannot be understood, which a test excludes.
pub fn built_in(name: &str) -> Option<Result<Study, StudyError>> {
    let file = FILES.get_file(format!("{name}.toml"))?;
    Some(Study::parse(name, &format!("{name}.toml"), file.contents_utf8()?))
}
