//! Reads the documents of a user's folder as fidelity cases.

use std::path::Path;

use jsonathlon_schema::settings::fidelity::RfcRequirement;

use super::corpus::Case;
use crate::error::DataError;

/// Maximum size of a document in bytes (16 MiB), because documents are sent whole in statements and answers.
pub const MAX_CASE_BYTES: u64 = 16 << 20;

/// Reads all files of a folder in the order of their names, one document per file.
///
/// A name that begins with `y_`, `n_` or `i_` declares that its document must be accepted, must be rejected,
/// or is the implementation's choice. Other documents must be accepted if the grammar allows them, and
/// rejected otherwise. Subfolders and names that begin with a dot are skipped.
///
/// # Errors
/// If the folder cannot be read or contains no file, or a file cannot be read or is larger than
/// [`MAX_CASE_BYTES`].
pub fn read_folder(folder: &Path) -> Result<Vec<Case>, DataError> {
    let read_error = |path: &Path| {
        let path = path.to_owned();
        move |source: std::io::Error| match source.kind() {
            std::io::ErrorKind::NotFound => DataError::NotFound { path },
            _ => DataError::Io { action: "read", path, source },
        }
    };
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(read_error(folder))? {
        let entry = entry.map_err(read_error(folder))?;
        let path = entry.path();
        let metadata = std::fs::metadata(&path).map_err(read_error(&path))?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if metadata.is_file() && !name.starts_with('.') {
            files.push((name, path, metadata.len()));
        }
    }
    files.sort();
    if files.is_empty() {
        let reason =
            format!("{} holds no file: a corpus is a folder of documents, one a file", folder.display());
        return Err(DataError::Range { reason });
    }
    let mut cases = Vec::with_capacity(files.len());
    for (name, path, length) in files {
        if length > MAX_CASE_BYTES {
            let reason = format!(
                "{} has {} MB, and a document of a corpus {} MB at most: move it out of the folder",
                path.display(),
                length / 1_000_000,
                MAX_CASE_BYTES / 1_000_000
            );
            return Err(DataError::Range { reason });
        }
        let bytes = std::fs::read(&path).map_err(read_error(&path))?;
        let (requirement, probes) = verdict(&name, &bytes);
        cases.push(Case { source: name.clone(), name, requirement, probes: probes.to_owned(), bytes });
    }
    Ok(cases)
}

fn verdict(name: &str, bytes: &[u8]) -> (RfcRequirement, &'static str) {
    match (name.get(..2), super::strict::read(bytes)) {
        (Some("y_"), _) => (RfcRequirement::Accept, "what its name says"),
        (Some("n_"), _) => (RfcRequirement::Reject, "what its name says"),
        (Some("i_"), _) => (RfcRequirement::Choose, "what its name says"),
        (_, Ok(_)) => (RfcRequirement::Accept, "a document of the user’s: JSON by the grammar"),
        (_, Err(_)) => (RfcRequirement::Reject, "a document of the user’s: no JSON by the grammar"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_say_the_verdict_and_the_grammar_says_it_of_others() {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in [
            ("y_a.json", "[1,]"),
            ("n_b.json", "{}"),
            ("i_c.json", "{"),
            ("own.json", "{\"a\":1}"),
            ("worse.txt", "{a}"),
            (".hidden", "x"),
        ] {
            std::fs::write(folder.path().join(name), text).unwrap();
        }
        std::fs::create_dir(folder.path().join("inner")).unwrap();
        let cases = read_folder(folder.path()).unwrap();
        let requirements: Vec<(&str, RfcRequirement)> =
            cases.iter().map(|case| (case.name.as_str(), case.requirement)).collect();
        let expected = [
            ("i_c.json", RfcRequirement::Choose),
            ("n_b.json", RfcRequirement::Reject),
            ("own.json", RfcRequirement::Accept),
            ("worse.txt", RfcRequirement::Reject),
            ("y_a.json", RfcRequirement::Accept),
        ];
        assert_eq!(requirements, expected);
        assert_eq!(cases[2].bytes, b"{\"a\":1}");
    }

    #[test]
    fn what_cannot_be_a_corpus_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let message = |path: &Path| read_folder(path).unwrap_err().to_string();
        assert!(message(folder.path()).contains("holds no file"));
        assert!(message(&folder.path().join("none")).contains("no such file or folder"));
        let file = folder.path().join("large.json");
        std::fs::File::create(&file).unwrap().set_len(100_000_000).unwrap();
        let text = message(folder.path());
        assert!(text.contains("large.json has 100 MB") && text.contains("move it out"), "{text}");
        assert!(message(&file).contains("failed to read"), "{}", message(&file));
    }
}
