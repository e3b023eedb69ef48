//! Documents of a file, for loads in which the driver sends each document.

use std::fs::File;
use std::ops::Range;
use std::path::Path;

use jsonathlon_dataset::DataError;
use jsonathlon_dataset::source::{Documents as Lines, Source};
use jsonathlon_driver_api::driver::{DocumentSource, DriverError, Result};
use rustix::buffer::spare_capacity;
use rustix::io::Errno;

/// Smallest number of bytes by which the buffer grows for a read.
const READ_SIZE: usize = 1 << 18;

/// Documents borrowed from the blocks of the data set reader.
pub(super) struct FileDocuments(Lines);

impl FileDocuments {
    /// Opens a file of newline-delimited JSON.
    pub(super) fn open(file: &Path) -> Result<Self> {
        Ok(Self(Source::lines_of(file.to_owned()).documents().map_err(unreadable)?))
    }
}

/// A single document that consists of a whole file.
pub(super) struct WholeFile {
    bytes: Vec<u8>,
    is_taken: bool,
}

impl WholeFile {
    pub(super) fn open(file: &Path) -> Result<Self> {
        Ok(Self { bytes: read_whole(file)?, is_taken: false })
    }
}

impl DocumentSource for WholeFile {
    fn next_document(&mut self) -> Result<Option<&[u8]>> {
        let is_first = !std::mem::replace(&mut self.is_taken, true);
        Ok(is_first.then_some(self.bytes.as_slice()))
    }
}

/// Reads all bytes of a file.
pub(super) fn read_whole(file: &Path) -> Result<Vec<u8>> {
    std::fs::read(file)
        .map_err(|error| DriverError::Documents(format!("failed to read {}: {error}", file.display())))
}

impl DocumentSource for FileDocuments {
    fn next_document(&mut self) -> Result<Option<&[u8]>> {
        self.0.next_line().map_err(unreadable)
    }
}

/// Documents of lines `{"key":…,"doc":{…}}`, borrowed from a buffer that grows until it holds a whole line,
/// because documents may be large.
pub(super) struct KeyedDocuments {
    file: File,
    buffer: Vec<u8>,
    /// Offset in `buffer` of the first byte that was not handed over yet.
    start: usize,
}

impl KeyedDocuments {
    /// Opens an uncompressed file of such lines.
    pub(super) fn open(file: &Path) -> Result<Self> {
        let file = File::open(file)
            .map_err(|error| DriverError::Documents(format!("failed to read {}: {error}", file.display())))?;
        Ok(Self { file, buffer: Vec::with_capacity(2 * READ_SIZE), start: 0 })
    }

    /// Returns the range of the next line in `buffer`, without its newline. `None` at the end of the file.
    fn next_line(&mut self) -> Result<Option<Range<usize>>> {
        let mut search_start = self.start;
        loop {
            let start = self.start;
            if let Some(position) = memchr::memchr(b'\n', &self.buffer[search_start..]) {
                self.start = search_start + position + 1;
                return Ok(Some(start..search_start + position));
            }
            self.buffer.drain(..start);
            self.start = 0;
            search_start = self.buffer.len();
            if !self.read()? {
                self.start = search_start;
                return Ok((search_start > 0).then_some(0..search_start));
            }
        }
    }

    /// Reads more of the file into the buffer. Returns `false` at the end of the file.
    fn read(&mut self) -> Result<bool> {
        self.buffer.reserve(READ_SIZE);
        loop {
            match rustix::io::read(&self.file, spare_capacity(&mut self.buffer)) {
                Ok(count) => return Ok(count > 0),
                Err(Errno::INTR) => {}
                Err(error) => return Err(DriverError::Documents(std::io::Error::from(error).to_string())),
            }
        }
    }
}

impl DocumentSource for KeyedDocuments {
    fn next_document(&mut self) -> Result<Option<&[u8]>> {
        Ok(self.next_keyed()?.map(|(_, document)| document))
    }

    fn next_keyed(&mut self) -> Result<Option<(Option<i64>, &[u8])>> {
        let Some(line) = self.next_line()? else { return Ok(None) };
        match split_keyed(&self.buffer[line]) {
            Some((key, document)) => Ok(Some((Some(key), document))),
            None => Err(DriverError::Documents("a line is not {\"key\":…,\"doc\":…}".into())),
        }
    }
}

/// Splits a line into key and document. Apart from the document the line must not contain whitespace.
fn split_keyed(line: &[u8]) -> Option<(i64, &[u8])> {
    let rest = line.strip_prefix(b"{\"key\":")?;
    let length = rest.iter().take_while(|byte| matches!(byte, b'-' | b'0'..=b'9')).count();
    let (key, rest) = rest.split_at_checked(length)?;
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
    fn keyed_documents_of_any_length_are_whole() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("lines");
        let lengths = [0, 3 * READ_SIZE, 1, READ_SIZE - 20, 7, 5 * READ_SIZE + 1, 2 * READ_SIZE];
        for ending in ["", "\n"] {
            let texts = lengths.map(|length| format!("\"{}\"", "x".repeat(length)));
            let lines: Vec<String> = texts
                .iter()
                .enumerate()
                .map(|(key, text)| format!("{{\"key\":{key},\"doc\":{text}}}"))
                .collect();
            std::fs::write(&file, lines.join("\n") + ending).unwrap();
            let mut documents = KeyedDocuments::open(&file).unwrap();
            for (key, text) in (0..).zip(&texts) {
                assert_eq!(documents.next_keyed().unwrap(), Some((Some(key), text.as_bytes())));
            }
            assert_eq!(documents.next_keyed(), Ok(None));
            assert_eq!(documents.next_keyed(), Ok(None));
        }
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
        assert_eq!(split_keyed(br#"{"key":17,"doc":{"l": 1}}"#), Some((17, &br#"{"l": 1}"#[..])));
        assert_eq!(split_keyed(br#"{"key":-1,"doc":[]}"#), Some((-1, &b"[]"[..])));
        for text in [
            "",
            "{}",
            r#"{"key":1}"#,
            r#"{"key":"1","doc":{}}"#,
            r#"{"key":1,"doc":{}"#,
            r#"{"key":,"doc":{}}"#,
        ] {
            let result = split_keyed(text.as_bytes());
            assert!(result.is_none() || text.ends_with("{}"), "{text}: {result:?}");
        }
    }
}
