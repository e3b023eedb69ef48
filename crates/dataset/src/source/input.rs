//! A single input (file, standard input, address or member of an archive) as a stream of decoded bytes.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::archive::{TarMember, TarReader, ZipListing, ZipMember, zip_members};
use super::bulk;
use super::compression::{Format, MAGIC_LENGTH};
use super::detect::{SAMPLE, begins_with_array_of_objects, detect, extended_json_key};
use super::file_state::FileState;
use super::form::{Form, InputOptions};
use super::url;
use crate::error::DataError;
use crate::skipped_entries::{SkipReason, SkippedEntry};

/// An input that has not been opened yet.
#[derive(Clone, Debug)]
pub(super) enum Input {
    File(PathBuf),
    Stdin,
    Url(String),
    Member(ZipMember),
}

/// How inputs are opened.
#[derive(Clone, Debug)]
pub(super) struct Opener {
    pub(super) options: InputOptions,
    /// Number of stored bytes read so far, of all inputs.
    pub(super) bytes_read: Arc<AtomicU64>,
    /// Whether the source has no other input, so that an input without documents is an error.
    pub(super) is_single: bool,
}

/// What an input turned out to be.
pub(super) enum Opened {
    Documents(OpenInput),
    /// A tar archive, with the origin of its bytes.
    Tar(TarReader, Origin),
    /// The members of a zip archive, whose display name comes first.
    Zip(String, ZipListing),
    /// An input among others that is not read.
    LeftOut(SkippedEntry),
}

impl Input {
    /// Display name: the path, "standard input", the address without user name and password, or archive and
    /// member.
    pub(super) fn name(&self) -> String {
        match self {
            Input::File(path) => path.display().to_string(),
            Input::Stdin => "standard input".to_string(),
            Input::Url(address) => url::without_credentials(address),
            Input::Member(member) => member.name.clone(),
        }
    }

    /// Returns the stored (possibly compressed) size in bytes. `None` if it is not a regular file.
    pub(super) fn stored_bytes(&self) -> Option<u64> {
        match self {
            Input::File(path) => {
                let metadata = std::fs::metadata(path).ok()?;
                metadata.is_file().then_some(metadata.len())
            }
            Input::Member(member) => Some(member.stored_bytes),
            Input::Stdin | Input::Url(_) => None,
        }
    }

    /// Path of the file that is read. `None` if it is no file.
    fn path(&self) -> Option<&Path> {
        match self {
            Input::File(path) => Some(path),
            Input::Member(member) => Some(&member.archive),
            Input::Stdin | Input::Url(_) => None,
        }
    }
}

impl Opener {
    /// Opens the input, and detects its format and its form from its first bytes.
    pub(super) fn open(&self, input: &Input) -> Result<Opened, DataError> {
        let mut origin = Origin {
            name: input.name(),
            path: input.path().map(Path::to_path_buf),
            format: Format::Plain,
            archive: None,
            length: input.stored_bytes(),
            // Before the file is opened, so that no change is missed.
            state: input.path().and_then(FileState::of),
        };
        let raw: Box<dyn Read + Send> = match input {
            Input::File(path) => {
                Box::new(File::open(path).map_err(|error| DataError::io("read", path, error))?)
            }
            Input::Stdin => Box::new(io::stdin()),
            Input::Url(address) => {
                let download = url::download(address)?;
                origin.length = download.length;
                download.body
            }
            Input::Member(member) => {
                origin.archive = Some("zip");
                let stored = member.open().map_err(|error| origin.failed(error, 0))?;
                let stored = Counted { raw: stored, bytes_read: Arc::clone(&self.bytes_read) };
                let bytes = member.unpack(Box::new(stored)).map_err(|error| origin.failed(error, 0))?;
                return self.open_bytes(bytes, origin);
            }
        };
        let raw = Counted { raw, bytes_read: Arc::clone(&self.bytes_read) };
        self.open_bytes(Box::new(raw), origin)
    }

    /// Opens a member of a tar archive with this origin.
    pub(super) fn open_member(&self, member: TarMember, archive: &Origin) -> Result<Opened, DataError> {
        let name = if archive.format.is_compressed() { archive.format.name() } else { "tar" };
        let origin = Origin {
            name: member.name,
            format: Format::Plain,
            archive: Some(name),
            length: None,
            state: None,
            path: archive.path.clone(),
        };
        self.open_bytes(member.bytes, origin)
    }

    fn open_bytes(&self, mut raw: Box<dyn Read + Send>, mut origin: Origin) -> Result<Opened, DataError> {
        let beginning = read_beginning(&mut *raw, MAGIC_LENGTH).map_err(|error| origin.failed(error, 0))?;
        origin.format = Format::detect(&beginning);
        match origin.format {
            Format::Unsupported(format) => {
                let error = DataError::UnsupportedCompression { input: origin.name.clone(), format };
                return self.leave_out(&origin, error);
            }
            Format::Zip => return self.open_zip(&origin),
            _ => {}
        }
        let raw = Box::new(io::Cursor::new(beginning).chain(raw));
        let mut bytes = origin.format.decode(raw).map_err(|error| origin.failed(error, 0))?;
        let mut sample = Vec::with_capacity(SAMPLE);
        let result = bytes.by_ref().take(SAMPLE as u64).read_to_end(&mut sample);
        let is_whole = result.is_ok() && sample.len() < SAMPLE;
        // An error behind the first documents is reported when reading reaches it.
        if let Err(error) = result {
            bytes = Box::new(Failing(Some(error)));
        }
        if is_tar(&sample) {
            if origin.archive.is_some() {
                return Ok(nested_archive(&origin));
            }
            let bytes = Box::new(io::Cursor::new(sample).chain(bytes));
            return Ok(Opened::Tar(TarReader::new(origin.name.clone(), bytes), origin));
        }
        self.open_documents(sample, is_whole, bytes, origin)
    }

    fn open_documents(
        &self,
        mut sample: Vec<u8>,
        is_whole: bool,
        bytes: Box<dyn Read + Send>,
        origin: Origin,
    ) -> Result<Opened, DataError> {
        let had_byte_order_mark = sample.starts_with(BYTE_ORDER_MARK);
        if had_byte_order_mark {
            sample.drain(..BYTE_ORDER_MARK.len());
        }
        let is_bulk = match self.options.form {
            None => bulk::is_bulk(&sample, is_whole),
            // Whoever names the form without skipping actions takes these as documents.
            Some(Form::Lines) => self.options.skip_bulk_actions && bulk::is_bulk(&sample, is_whole),
            Some(_) => false,
        };
        if is_bulk && !self.options.skip_bulk_actions {
            return Err(DataError::BulkFile { input: origin.name });
        }
        let found =
            if is_bulk { Some(Form::Lines) } else { self.options.form.or_else(|| detect(&sample, is_whole)) };
        let Some(form) = found.or_else(|| self.is_single.then_some(Form::Lines)) else {
            let error = DataError::Empty { input: origin.name.clone(), blank_lines: 0 };
            return self.leave_out(&origin, error);
        };
        let extended_key = extended_json_key(&sample);
        let is_found = self.options.form.is_none();
        let has_array_lines = is_found && form == Form::Lines && begins_with_array_of_objects(&sample);
        let whole_length = is_whole.then_some(sample.len());
        let bytes = Box::new(io::Cursor::new(sample).chain(bytes));
        let opened = OpenInput {
            origin,
            bytes,
            had_byte_order_mark,
            form,
            is_bulk,
            has_array_lines,
            extended_key,
            whole_length,
        };
        Ok(Opened::Documents(opened))
    }

    fn open_zip(&self, origin: &Origin) -> Result<Opened, DataError> {
        match &origin.path {
            _ if origin.archive.is_some() => Ok(nested_archive(origin)),
            Some(path) if path.is_file() => Ok(Opened::Zip(origin.name.clone(), zip_members(path)?)),
            _ => Err(DataError::ZipStream { input: origin.name.clone() }),
        }
    }

    /// Leaves an input without JSON out, or fails if it is the only one.
    fn leave_out(&self, origin: &Origin, error: DataError) -> Result<Opened, DataError> {
        if self.is_single {
            return Err(error);
        }
        Ok(Opened::LeftOut(SkippedEntry { path: PathBuf::from(&origin.name), reason: SkipReason::NotJson }))
    }
}

fn nested_archive(origin: &Origin) -> Opened {
    Opened::LeftOut(SkippedEntry { path: PathBuf::from(&origin.name), reason: SkipReason::NestedArchive })
}

/// Where the bytes of an input come from, for errors.
#[derive(Debug)]
pub(super) struct Origin {
    /// Display name of the input.
    pub(super) name: String,
    /// File that is read. `None` if it is no file.
    path: Option<PathBuf>,
    format: Format,
    /// Name of the format of the archive that the input is a member of. `None` if it is no member.
    archive: Option<&'static str>,
    /// Stored (possibly compressed) size in bytes. `None` if it is unknown.
    pub(super) length: Option<u64>,
    /// State of the file when it was opened. `None` if it is no regular file.
    state: Option<FileState>,
}

impl Origin {
    /// Converts an error of reading, which happened after `documents` documents of the input.
    #[cold]
    pub(super) fn failed(&self, error: io::Error, documents: u64) -> DataError {
        let packed = if self.format.is_compressed() { Some(self.format.name()) } else { self.archive };
        // Errors of the operating system or the transport do not mean that the packed data is damaged.
        let is_external =
            error.raw_os_error().is_some() || error.get_ref().is_some_and(|inner| inner.is::<DataError>());
        let input = self.name.clone();
        match packed.filter(|_| !is_external) {
            Some(format) if error.kind() == io::ErrorKind::UnexpectedEof => {
                DataError::Truncated { input, format, documents }
            }
            Some(format) => DataError::Corrupt { input, format, documents, source: error },
            None => self.read_failed(error),
        }
    }

    /// Converts an error of reading the headers of a tar archive.
    #[cold]
    pub(super) fn tar_failed(&self, error: io::Error) -> DataError {
        let is_external =
            error.raw_os_error().is_some() || error.get_ref().is_some_and(|inner| inner.is::<DataError>());
        if is_external {
            return self.read_failed(error);
        }
        let (input, reason) = (self.name.clone(), error.to_string());
        DataError::DamagedArchive { input, format: "tar", reason }
    }

    /// Converts an error of reading stored bytes. Downloads already return a [`DataError`].
    fn read_failed(&self, error: io::Error) -> DataError {
        match error.downcast::<DataError>() {
            Ok(error) => error,
            Err(error) => match &self.path {
                Some(path) => DataError::io("read", path, error),
                None => DataError::Io { action: "read", path: PathBuf::from(&self.name), source: error },
            },
        }
    }

    /// Fails if the file was written to since it was opened.
    pub(super) fn check_unchanged(&self) -> Result<(), DataError> {
        self.state.as_ref().map_or(Ok(()), FileState::check)
    }
}

/// An opened input, positioned at its first unread byte.
pub(super) struct OpenInput {
    pub(super) origin: Origin,
    bytes: Box<dyn Read + Send>,
    /// Whether the text began with U+FEFF, which was removed.
    pub(super) had_byte_order_mark: bool,
    pub(super) form: Form,
    /// Whether lines with actions alternate with documents.
    pub(super) is_bulk: bool,
    /// Whether lines were found to be the documents although the first is an array of objects, so that its
    /// elements could be meant.
    pub(super) has_array_lines: bool,
    /// First key of Extended JSON in the input. `None` if its first bytes have none.
    pub(super) extended_key: Option<&'static str>,
    /// Decoded size in bytes if the whole input was read to detect its form.
    pub(super) whole_length: Option<usize>,
}

impl OpenInput {
    /// Reads decoded bytes. Returns 0 at the end.
    pub(super) fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            match self.bytes.read(buffer) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                result => return result,
            }
        }
    }

    /// Returns the number of bytes at the start of the input that were removed.
    pub(super) fn removed_bytes(&self) -> u64 {
        if self.had_byte_order_mark { BYTE_ORDER_MARK.len() as u64 } else { 0 }
    }

    /// Returns the path of the file. `None` if the input is compressed, no regular file, or holds more than
    /// lines of documents.
    pub(super) fn plain_file(&self) -> Option<&Path> {
        let is_plain = self.origin.format == Format::Plain && self.origin.archive.is_none();
        let has_only_lines = self.form == Form::Lines && !self.is_bulk;
        self.origin.path.as_deref().filter(|path| is_plain && has_only_lines && path.is_file())
    }
}

/// Reads the first `length` bytes, or fewer if the input is shorter.
fn read_beginning(raw: &mut dyn Read, length: usize) -> io::Result<Vec<u8>> {
    let mut beginning = Vec::with_capacity(length);
    raw.take(length as u64).read_to_end(&mut beginning)?;
    Ok(beginning)
}

/// Byte order mark U+FEFF, encoded in UTF-8.
const BYTE_ORDER_MARK: &[u8] = "\u{feff}".as_bytes();

/// Returns `true` for a tar archive: POSIX and GNU tar write `ustar` at byte 257 of each header.
fn is_tar(beginning: &[u8]) -> bool {
    beginning.get(257..262) == Some(b"ustar")
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
