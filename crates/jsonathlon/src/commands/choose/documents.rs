//! The documents of a choice: copies of what can be read only once, and every second or fourth of them.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use jsonathlon_dataset::digest::rows_digest;
use jsonathlon_dataset::source::Source;
use jsonathlon_schema::value::{Row, Value};

use crate::commands::run::DocumentCount;
use crate::exit::Failure;

/// Copies every `step`-th document of a source to a file, one a line, from the first document on. The file is
/// removed again if that fails.
///
/// # Errors
/// If the documents cannot be read or the file cannot be written, and if the user interrupts.
pub(super) fn copy_documents(
    source: &Source,
    step: u64,
    file: &Path,
    cancelled: &dyn Fn() -> bool,
) -> Result<DocumentCount, Failure> {
    let copied = copy(source, step, file, cancelled);
    if copied.is_err() {
        // The first error is the relevant one.
        std::fs::remove_file(file).ok();
    }
    copied
}

fn copy(
    source: &Source,
    step: u64,
    file: &Path,
    cancelled: &dyn Fn() -> bool,
) -> Result<DocumentCount, Failure> {
    let failed =
        |error: std::io::Error| Failure::environment(format!("failed to write {}: {error}", file.display()));
    let mut documents = source.documents()?;
    let mut writer = BufWriter::new(File::create(file).map_err(failed)?);
    let mut count = DocumentCount { documents: 0, bytes: 0 };
    let mut read: u64 = 0;
    while let Some(line) = documents.next_line()? {
        if read.is_multiple_of(step) {
            writer.write_all(line).and_then(|()| writer.write_all(b"\n")).map_err(failed)?;
            count.documents += 1;
            count.bytes += line.len() as u64 + 1;
        }
        read += 1;
        if read.is_multiple_of(CHECK_INTERVAL) && cancelled() {
            return Err(Failure::interrupted("nothing was measured yet; start again"));
        }
    }
    writer.flush().map_err(failed)?;
    Ok(count)
}

/// Number of files under a path, with a digest of their names, sizes and times of change: another text, if the documents
/// may be other ones.
///
/// # Errors
/// If a file or folder cannot be looked at.
pub(super) fn source_state(path: &Path) -> Result<String, Failure> {
    let failed = |path: &Path, error: std::io::Error| {
        Failure::environment(format!("failed to look at {}: {error}", path.display()))
    };
    let mut files: Vec<Row> = Vec::new();
    let mut pending = vec![path.to_owned()];
    while let Some(next) = pending.pop() {
        let state = std::fs::metadata(&next).or_else(|_| std::fs::symlink_metadata(&next));
        let state = state.map_err(|error| failed(&next, error))?;
        if state.is_dir() && (next == *path || !next.is_symlink()) {
            for entry in std::fs::read_dir(&next).map_err(|error| failed(&next, error))? {
                let entry = entry.map_err(|error| failed(&next, error))?;
                // Hidden files are no documents, and programs that look at a folder write some.
                if !entry.file_name().as_encoded_bytes().starts_with(b".") {
                    pending.push(entry.path());
                }
            }
        } else {
            let name = next.strip_prefix(path).unwrap_or(&next).display().to_string();
            let numbers = [state.len() as i64, state.mtime(), state.mtime_nsec()].map(Value::Int);
            files.push([Value::Text(name)].into_iter().chain(numbers).collect());
        }
    }
    files.sort_by_cached_key(|file| format!("{file:?}"));
    Ok(format!("{} files, {}", files.len(), rows_digest(&files)))
}

/// Number of documents after which the copy looks for an interrupt.
const CHECK_INTERVAL: u64 = 1_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_files_are_another_state() {
        let folder = tempfile::tempdir().unwrap();
        let state = || source_state(folder.path()).unwrap();
        std::fs::create_dir(folder.path().join("more")).unwrap();
        let mut states = vec![state()];
        for (file, text) in [("a.json", "{}"), ("more/b.json", "{}"), ("more/b.json", "{\"n\":1}")] {
            std::fs::write(folder.path().join(file), text).unwrap();
            states.push(state());
            assert_eq!(states.last(), Some(&state()), "{file}");
        }
        std::fs::rename(folder.path().join("a.json"), folder.path().join("c.json")).unwrap();
        states.push(state());
        let different: std::collections::BTreeSet<&String> = states.iter().collect();
        assert_eq!(different.len(), states.len(), "{states:?}");
        let single = folder.path().join("c.json");
        let before = source_state(&single).unwrap();
        std::fs::write(&single, "[]").unwrap();
        std::fs::write(&single, "[1]").unwrap();
        assert_ne!(source_state(&single).unwrap(), before);
        assert!(source_state(&folder.path().join("nowhere")).is_err());
    }

    #[test]
    fn every_second_or_fourth_document_is_copied_as_one_line() {
        let folder = tempfile::tempdir().unwrap();
        let array = "[{\"n\":0},\n{\n\"n\":\n1},{\"n\":2},{\"n\":3},{\"n\":4}]";
        let (data, copy) = (folder.path().join("data.json"), folder.path().join("copy.ndjson"));
        std::fs::write(&data, array).unwrap();
        for (step, expected) in [(1, vec![0, 1, 2, 3, 4]), (2, vec![0, 2, 4]), (4, vec![0, 4])] {
            let count = copy_documents(&Source::Path(data.clone()), step, &copy, &|| false).unwrap();
            let text = std::fs::read_to_string(&copy).unwrap();
            let numbers = text
                .lines()
                .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap()["n"].as_i64().unwrap());
            assert_eq!(numbers.collect::<Vec<_>>(), expected);
            assert_eq!((count.documents, count.bytes), (expected.len() as u64, text.len() as u64));
        }
        let nowhere = Source::Path(folder.path().join("nowhere"));
        assert!(copy_documents(&nowhere, 2, &folder.path().join("none"), &|| false).is_err());
        assert!(!folder.path().join("none").exists());
    }
}
