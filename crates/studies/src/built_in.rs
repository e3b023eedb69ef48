//! Studies that are embedded in the program.

use include_dir::{Dir, include_dir};

use crate::definition::Study;
use crate::study_file::StudyError;

static FILES: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/built-in");

/// Names of all built-in studies, in alphabetical order.
#[must_use]
pub fn names() -> Vec<&'static str> {
    let mut names: Vec<&str> = FILES.files().filter_map(|file| file.path().file_stem()?.to_str()).collect();
    names.sort_unstable();
    names
}

/// Parses the built-in study of that name. `None` if there is no such study.
///
/// # Errors
/// If the embedded file is invalid; a test ensures that none is.
pub fn built_in(name: &str) -> Option<Result<Study, StudyError>> {
    let file = FILES.get_file(format!("{name}.toml"))?;
    Some(Study::parse(name, &format!("{name}.toml"), file.contents_utf8()?))
}
