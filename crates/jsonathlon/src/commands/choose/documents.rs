//! The documents of a choice: copies of what can be read only once, and every second or fourth of them.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use jsonathlon_dataset::source::Source;

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

/// Number of documents after which the copy looks for an interrupt.
const CHECK_INTERVAL: u64 = 1_000;

#[cfg(test)]
mod tests {
    use super::*;

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
