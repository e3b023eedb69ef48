//! The documents of a file, for loads by row.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

use jsonathlon_connection::driver::{DocumentSource, DriverError, Result};
use jsonathlon_dataset::DataError;
use jsonathlon_dataset::source::{Documents as Lines, Source};

/// Bytes that are read at a time.
const PIECE: usize = 1 << 18;

/// Documents borrowed from the data set reader's blocks.
pub(super) struct FileDocuments(Lines);

impl FileDocuments {
    /// Opens a file of newline-delimited JSON.
    pub(super) fn open(file: &Path) -> Result<Self> {
        Ok(Self(Source::Path(file.to_owned()).documents().map_err(unreadable)?))
    }
}

/// One document that is a whole file.
pub(super) struct WholeFile {
    bytes: Vec<u8>,
    is_taken: bool,
}

impl WholeFile {
    pub(super) fn open(file: &Path) -> Result<Self> {
        Ok(Self { bytes: whole(file)?, is_taken: false })
    }
}

impl DocumentSource for WholeFile {
    fn next_document(&mut self) -> Result<Option<&[u8]>> {
        let is_first = !std::mem::replace(&mut self.is_taken, true);
        Ok(is_first.then_some(self.bytes.as_slice()))
    }
}

/// All bytes of a file.
pub(super) fn whole(file: &Path) -> Result<Vec<u8>> {
    std::fs::read(file)
        .map_err(|error| DriverError::Documents(format!("failed to read {}: {error}", file.display())))
}

impl DocumentSource for FileDocuments {
    fn next_document(&mut self) -> Result<Option<&[u8]>> {
        self.0.next_line().map_err(unreadable)
    }
}

/// Documents of lines `{"key":…,"doc":{…}}`, one of which is in memory: they may be large.
pub(super) struct KeyedDocuments {
    file: BufReader<File>,
    line: Vec<u8>,
}

impl KeyedDocuments {
    /// Opens a plain file of such lines.
    pub(super) fn open(file: &Path) -> Result<Self> {
        let opened = File::open(file)
            .map_err(|error| DriverError::Documents(format!("failed to read {}: {error}", file.display())))?;
        Ok(Self { file: BufReader::with_capacity(PIECE, opened), line: Vec::new() })
    }
}

impl DocumentSource for KeyedDocuments {
    fn next_document(&mut self) -> Result<Option<&[u8]>> {
        Ok(self.next_keyed()?.map(|(_, document)| document))
    }

    fn next_keyed(&mut self) -> Result<Option<(Option<i64>, &[u8])>> {
        self.line.clear();
        let read = self.file.read_until(b'\n', &mut self.line);
        match read.map_err(|error| DriverError::Documents(error.to_string()))? {
            0 => Ok(None),
            _ => match parted(self.line.strip_suffix(b"\n").unwrap_or(&self.line)) {
                Some((key, document)) => Ok(Some((Some(key), document))),
                None => Err(DriverError::Documents("a line is not {\"key\":…,\"doc\":…}".into())),
            },
        }
    }
}

/// Key and document of a line, which is compact but for the document.
fn parted(line: &[u8]) -> Option<(i64, &[u8])> {
    let rest = line.strip_prefix(b"{\"key\":")?;
    let digits = rest.iter().take_while(|byte| matches!(byte, b'-' | b'0'..=b'9')).count();
    let (key, rest) = rest.split_at_checked(digits)?;
    let document = rest.strip_prefix(b",\"doc\":")?.strip_suffix(b"}")?;
    Some((std::str::from_utf8(key).ok()?.parse().ok()?, document))
}

fn unreadable(error: DataError) -> DriverError {
    DriverError::Documents(error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keyed_documents_come_one_after_the_other() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("lines");
        std::fs::write(&file, "{\"key\":0,\"doc\":{}}\n{\"key\":12,\"doc\":{\"l\": 1}}\n").unwrap();
        let mut documents = KeyedDocuments::open(&file).unwrap();
        assert_eq!(documents.next_keyed(), Ok(Some((Some(0), &b"{}"[..]))));
        assert_eq!(documents.next_keyed(), Ok(Some((Some(12), &b"{\"l\": 1}"[..]))));
        assert_eq!(documents.next_keyed(), Ok(None));
        std::fs::write(&file, "{}\n").unwrap();
        assert!(KeyedDocuments::open(&file).unwrap().next_keyed().is_err());
        assert!(KeyedDocuments::open(&folder.path().join("none")).is_err());
    }

    #[test]
    fn a_whole_file_is_one_document_whatever_is_in_it() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("one");
        for bytes in [&b""[..], b"\n", b"{\n}\r\n{}", b"\xff\0"] {
            std::fs::write(&file, bytes).unwrap();
            let mut documents = WholeFile::open(&file).unwrap();
            assert_eq!(documents.next_document().unwrap(), Some(bytes));
            assert_eq!(documents.next_document().unwrap(), None);
        }
        assert!(matches!(WholeFile::open(folder.path()), Err(DriverError::Documents(_))));
    }

    #[test]
    fn lines_are_parted_where_they_are_of_that_form() {
        assert_eq!(parted(br#"{"key":17,"doc":{"l": 1}}"#), Some((17, &br#"{"l": 1}"#[..])));
        assert_eq!(parted(br#"{"key":-1,"doc":[]}"#), Some((-1, &b"[]"[..])));
        for text in [
            "",
            "{}",
            r#"{"key":1}"#,
            r#"{"key":"1","doc":{}}"#,
            r#"{"key":1,"doc":{}"#,
            r#"{"key":,"doc":{}}"#,
        ] {
            let parted = parted(text.as_bytes());
            assert!(parted.is_none() || text.ends_with("{}"), "{text}: {parted:?}");
        }
    }
}
