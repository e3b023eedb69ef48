//! A single input (file, standard input or address) as a stream of decoded bytes.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::compression::{Format, MAGIC_LENGTH};
use super::url;
use crate::error::DataError;

/// An input that has not been opened yet.
#[derive(Clone, Debug)]
pub(super) enum Input {
    File(PathBuf),
    Stdin,
    Url(String),
}

impl Input {
    /// Display name: the path, "standard input", or the address without user name and password.
    pub(super) fn name(&self) -> String {
        match self {
            Input::File(path) => path.display().to_string(),
            Input::Stdin => "standard input".to_string(),
            Input::Url(address) => url::without_credentials(address),
        }
    }

    /// Returns the stored (possibly compressed) size in bytes. `None` if it is not a regular file.
    pub(super) fn stored_bytes(&self) -> Option<u64> {
        match self {
            Input::File(path) => {
                let metadata = std::fs::metadata(path).ok()?;
                metadata.is_file().then_some(metadata.len())
            }
            Input::Stdin | Input::Url(_) => None,
        }
    }

    /// Opens the input and detects its format from its first bytes. Adds the number of stored bytes read so
    /// far to `bytes_read`.
    pub(super) fn open(self, bytes_read: Arc<AtomicU64>) -> Result<OpenInput, DataError> {
        let name = self.name();
        let mut length = self.stored_bytes();
        let mut raw: Box<dyn Read + Send> = match &self {
            Input::File(path) => {
                Box::new(File::open(path).map_err(|error| DataError::io("read", path, error))?)
            }
            Input::Stdin => Box::new(io::stdin()),
            Input::Url(address) => {
                let download = url::download(address)?;
                length = download.length;
                download.body
            }
        };
        let beginning = read_beginning(&mut raw).map_err(|error| read_failed(&self, &name, error))?;
        let format = Format::detect(&beginning);
        if let Format::Unsupported(format) = format {
            return Err(DataError::UnsupportedCompression { input: name, format });
        }
        let counted = Counted { raw: io::Cursor::new(beginning).chain(raw), bytes_read };
        let bytes = format.decode(Box::new(counted)).map_err(|error| read_failed(&self, &name, error))?;
        let placeholder = Box::new(io::empty());
        let mut opened =
            OpenInput { input: self, name, format, length, bytes: placeholder, had_byte_order_mark: false };
        opened.begin(bytes)?;
        Ok(opened)
    }
}

/// An opened input, positioned at its first unread byte.
pub(super) struct OpenInput {
    input: Input,
    pub(super) name: String,
    format: Format,
    /// Stored (possibly compressed) size in bytes. `None` if it is unknown.
    pub(super) length: Option<u64>,
    bytes: Box<dyn Read + Send>,
    /// Whether the text began with U+FEFF, which was removed.
    pub(super) had_byte_order_mark: bool,
}

impl OpenInput {
    /// Rejects tar archives and removes a byte order mark from the beginning of the decoded bytes.
    fn begin(&mut self, mut bytes: Box<dyn Read + Send>) -> Result<(), DataError> {
        let mut beginning = Vec::with_capacity(ARCHIVE_BEGINNING);
        // An error behind the first documents is reported when reading reaches it.
        if let Err(error) = bytes.by_ref().take(ARCHIVE_BEGINNING as u64).read_to_end(&mut beginning) {
            bytes = Box::new(Failing(Some(error)));
        }
        if is_archive(&beginning) {
            return Err(DataError::Archive { input: self.name.clone() });
        }
        self.had_byte_order_mark = beginning.starts_with(BYTE_ORDER_MARK);
        if self.had_byte_order_mark {
            beginning.drain(..BYTE_ORDER_MARK.len());
        }
        self.bytes = Box::new(io::Cursor::new(beginning).chain(bytes));
        Ok(())
    }

    /// Reads decoded bytes. Returns 0 at the end.
    pub(super) fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            match self.bytes.read(buffer) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                result => return result,
            }
        }
    }

    /// Returns the path of the file. `None` if the input is compressed or no regular file.
    pub(super) fn plain_file(&self) -> Option<&Path> {
        match &self.input {
            Input::File(path) if self.format == Format::Plain && path.is_file() => Some(path),
            _ => None,
        }
    }

    /// Converts an error of [`OpenInput::read`], which happened after `documents` documents of this input.
    #[cold]
    pub(super) fn failed(&self, error: io::Error, documents: u64) -> DataError {
        let is_compressed = matches!(self.format, Format::Gzip | Format::Zstd);
        // Errors of the operating system or the transport do not mean that the compressed data is damaged.
        let is_external =
            error.raw_os_error().is_some() || error.get_ref().is_some_and(|inner| inner.is::<DataError>());
        if !is_compressed || is_external {
            return read_failed(&self.input, &self.name, error);
        }
        let (input, format) = (self.name.clone(), self.format.name());
        if error.kind() == io::ErrorKind::UnexpectedEof {
            DataError::Truncated { input, format, documents }
        } else {
            DataError::Corrupt { input, format, documents, source: error }
        }
    }
}

/// Converts an error of reading stored bytes. Downloads already return a [`DataError`].
fn read_failed(input: &Input, name: &str, error: io::Error) -> DataError {
    match error.downcast::<DataError>() {
        Ok(error) => error,
        Err(error) => match input {
            Input::File(path) => DataError::io("read", path, error),
            _ => DataError::Io { action: "read", path: PathBuf::from(name), source: error },
        },
    }
}

/// Reads the first [`MAGIC_LENGTH`] bytes, or fewer if the input is shorter.
fn read_beginning(raw: &mut dyn Read) -> io::Result<Vec<u8>> {
    let mut beginning = Vec::with_capacity(MAGIC_LENGTH);
    raw.take(MAGIC_LENGTH as u64).read_to_end(&mut beginning)?;
    Ok(beginning)
}

/// Byte order mark U+FEFF, encoded in UTF-8.
const BYTE_ORDER_MARK: &[u8] = "\u{feff}".as_bytes();
/// Number of bytes that identify a tar archive: its first header up to and including the magic `ustar`.
const ARCHIVE_BEGINNING: usize = 262;

/// Returns `true` for a tar archive: POSIX and GNU tar write `ustar` at byte 257 of each header.
fn is_archive(beginning: &[u8]) -> bool {
    beginning.get(257..) == Some(b"ustar")
}

/// Reader that returns its error once and then ends.
struct Failing(Option<io::Error>);

impl Read for Failing {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        self.0.take().map_or(Ok(0), Err)
    }
}

/// Reader that adds the number of bytes read to a shared counter.
struct Counted<R> {
    raw: R,
    bytes_read: Arc<AtomicU64>,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.raw.read(buffer)?;
        self.bytes_read.fetch_add(count as u64, Ordering::Relaxed);
        Ok(count)
    }
}
