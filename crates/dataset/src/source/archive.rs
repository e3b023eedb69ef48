//! Members of tar and zip archives.

use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bzip2::bufread::BzDecoder;
use flate2::Crc;
use flate2::bufread::DeflateDecoder;
use zip::CompressionMethod;

use super::folder::member_skip_reason;
use super::member_names::MemberNames;
use crate::error::DataError;
use crate::skipped_entries::{SkipReason, SkippedEntry};

/// Size of a tar header, and of the units that members are padded to.
const TAR_BLOCK: u64 = 512;
/// Number of bytes that are skipped at once.
const SKIPPED: usize = 64 * 1024;
/// Maximum size of all headers of a member of a tar archive, in bytes. They are read into memory, and a header
/// can claim any number of bytes for a name or a comment.
const MAX_TAR_HEADERS: u64 = 4 << 20;

/// Display name of a member of an archive.
fn member_name(archive: &str, path: &str) -> String {
    format!("{archive}: {path}")
}

/// Members of a tar archive that is read from its start to its end.
pub(super) struct TarReader {
    archive: String,
    bytes: SharedReader,
    /// Position of the next header.
    next: u64,
}

/// A member whose documents are to be read.
pub(super) struct TarMember {
    /// Display name of the member with that of its archive.
    pub(super) name: String,
    /// Whether an earlier member of the archive has the same name.
    pub(super) is_repeated: bool,
    pub(super) bytes: Box<dyn Read + Send>,
}

impl TarReader {
    /// Creates a reader of the archive with this display name.
    pub(super) fn new(archive: String, bytes: Box<dyn Read + Send>) -> Self {
        TarReader { archive, bytes: SharedReader::new(bytes), next: 0 }
    }

    /// Returns the next member that is to be read, and adds the others to `left_out`, and the names of all to
    /// `names`. `None` at the end of the archive. What is left of the previous member is skipped.
    pub(super) fn next_member(
        &mut self,
        left_out: &mut Vec<SkippedEntry>,
        names: &mut MemberNames,
    ) -> io::Result<Option<TarMember>> {
        loop {
            self.bytes.skip_to(self.next)?;
            // The crate's iterator would borrow the archive for as long as a member is read, so that each
            // header is read by an iterator of its own.
            let mut archive = tar::Archive::new(self.bytes.clone().take(MAX_TAR_HEADERS));
            let Some(entry) = archive.entries()?.next() else { return Ok(None) };
            let entry = entry.map_err(|error| self.header_error(error))?;
            let kind = entry.header().entry_type();
            let path = String::from_utf8_lossy(&entry.path_bytes()).into_owned();
            let stored = if kind.is_gnu_sparse() { entry.header().entry_size()? } else { entry.size() };
            let start = self.bytes.position();
            self.next = start.saturating_add(stored).next_multiple_of(TAR_BLOCK);
            let name = member_name(&self.archive, &path);
            let reason = if kind.is_file() || kind.is_contiguous() {
                member_skip_reason(&path)
            } else if kind.is_symlink() || kind.is_hard_link() {
                Some(SkipReason::Link)
            } else if kind.is_gnu_sparse() {
                Some(SkipReason::Packed("sparse blocks".to_owned()))
            } else {
                // Folders, devices and comments hold no bytes of their own.
                continue;
            };
            let is_repeated = names.add(&self.archive, &name).map_err(io::Error::other)?;
            match reason {
                Some(reason) => left_out.push(SkippedEntry { path: PathBuf::from(name), reason }),
                None => {
                    let bytes = Exact { bytes: self.bytes.clone(), remaining: stored };
                    return Ok(Some(TarMember { name, is_repeated, bytes: Box::new(bytes) }));
                }
            }
        }
    }

    /// Replaces the error of headers that were not read to their end because they are too large.
    #[cold]
    fn header_error(&self, error: io::Error) -> io::Error {
        if self.bytes.position().saturating_sub(self.next) < MAX_TAR_HEADERS {
            return error;
        }
        io::Error::other(format!(
            "the headers of the member at byte {} have more than {} MiB",
            self.next,
            MAX_TAR_HEADERS >> 20
        ))
    }
}

/// A stream that is read in turn by an archive and by its members.
#[derive(Clone)]
struct SharedReader(Arc<Mutex<Stream>>);

struct Stream {
    bytes: Box<dyn Read + Send>,
    /// Number of bytes read so far.
    position: u64,
}

impl SharedReader {
    fn new(bytes: Box<dyn Read + Send>) -> Self {
        SharedReader(Arc::new(Mutex::new(Stream { bytes, position: 0 })))
    }

    fn stream(&self) -> MutexGuard<'_, Stream> {
        // A reader that panicked leaves a position, which is all that counts.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn position(&self) -> u64 {
        self.stream().position
    }

    fn skip_to(&mut self, position: u64) -> io::Result<()> {
        let mut buffer = Vec::new();
        loop {
            let remaining = position.saturating_sub(self.position());
            let length = remaining.min(SKIPPED as u64) as usize;
            if length == 0 {
                return Ok(());
            }
            buffer.resize(SKIPPED, 0);
            if self.read(&mut buffer[..length])? == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
        }
    }
}

impl Read for SharedReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut stream = self.stream();
        let count = stream.bytes.read(buffer)?;
        stream.position += count as u64;
        Ok(count)
    }
}

/// Reader of a number of bytes, fewer of which are an error.
pub(super) struct Exact<R> {
    bytes: R,
    remaining: u64,
}

impl<R: Read> Read for Exact<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = self.remaining.min(buffer.len() as u64) as usize;
        if length == 0 {
            return Ok(0);
        }
        let count = self.bytes.read(&mut buffer[..length])?;
        if count == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        self.remaining -= count as u64;
        Ok(count)
    }
}

/// A member of a zip archive.
#[derive(Clone, Debug)]
pub(super) struct ZipMember {
    pub(super) archive: PathBuf,
    /// Display name of the member with that of its archive.
    pub(super) name: String,
    /// Position of its bytes in the archive.
    start: u64,
    pub(super) stored_bytes: u64,
    size: u64,
    checksum: u32,
    method: ZipMethod,
}

#[derive(Clone, Copy, Debug)]
enum ZipMethod {
    Stored,
    Deflate,
    Bzip2,
    Zstd,
}

/// Members of a zip archive.
pub(super) struct ZipListing {
    /// Members that are to be read.
    pub(super) members: Vec<ZipMember>,
    /// Members that are not read.
    pub(super) left_out: Vec<SkippedEntry>,
    /// Whether several members have the same name, of which only the last one is in the lists.
    pub(super) has_repeated_names: bool,
}

/// Lists the members of a zip archive that are to be read, and the others.
pub(super) fn zip_members(archive: &Path) -> Result<ZipListing, DataError> {
    let input = archive.display().to_string();
    let damaged = |error: zip::result::ZipError| match error {
        zip::result::ZipError::Io(error) if error.raw_os_error().is_some() => {
            DataError::io("read", archive, error)
        }
        error => DataError::DamagedArchive { input: input.clone(), format: "zip", reason: error.to_string() },
    };
    let file = File::open(archive).map_err(|error| DataError::io("read", archive, error))?;
    let mut directory = zip::ZipArchive::new(BufReader::new(file)).map_err(damaged)?;
    let (mut members, mut left_out) = (Vec::new(), Vec::new());
    for index in 0..directory.len() {
        let member = directory.by_index_raw(index).map_err(damaged)?;
        let entry = member.entry();
        if entry.is_dir() {
            continue;
        }
        let path = String::from_utf8_lossy(entry.name_raw()).into_owned();
        let name = member_name(&input, &path);
        let method = zip_method(entry.compression());
        let reason = match method {
            _ if entry.is_symlink() => Some(SkipReason::Link),
            _ if entry.encrypted() => Some(SkipReason::Packed("encryption".to_owned())),
            None => Some(SkipReason::Packed(format!("{:?}", entry.compression()))),
            Some(_) => None,
        };
        match (member_skip_reason(&path).or(reason), method, member.data_start()) {
            (None, Some(method), Some(start)) => members.push(ZipMember {
                archive: archive.to_path_buf(),
                name,
                start,
                stored_bytes: entry.compressed_size(),
                size: entry.size(),
                checksum: entry.crc32(),
                method,
            }),
            (reason, ..) => {
                let reason = reason.unwrap_or_else(|| SkipReason::Packed("an unknown method".to_owned()));
                left_out.push(SkippedEntry { path: PathBuf::from(name), reason });
            }
        }
    }
    Ok(ZipListing { members, left_out, has_repeated_names: directory.has_duplicate_names() })
}

fn zip_method(method: CompressionMethod) -> Option<ZipMethod> {
    let methods = [
        (CompressionMethod::STORE, ZipMethod::Stored),
        (CompressionMethod::DEFLATE, ZipMethod::Deflate),
        (CompressionMethod::BZIP2, ZipMethod::Bzip2),
        (CompressionMethod::ZSTD, ZipMethod::Zstd),
    ];
    methods.into_iter().find(|(known, _)| *known == method).map(|(_, method)| method)
}

impl ZipMember {
    /// Opens the archive at the member's bytes.
    pub(super) fn open(&self) -> io::Result<Exact<File>> {
        let mut file = File::open(&self.archive)?;
        file.seek(SeekFrom::Start(self.start))?;
        Ok(Exact { bytes: file, remaining: self.stored_bytes })
    }

    /// Returns a reader of the member's content. `stored` reads its bytes in the archive.
    pub(super) fn unpack(&self, stored: Box<dyn Read + Send>) -> io::Result<Box<dyn Read + Send>> {
        let stored = BufReader::new(stored);
        let bytes: Box<dyn Read + Send> = match self.method {
            ZipMethod::Stored => Box::new(stored),
            ZipMethod::Deflate => Box::new(DeflateDecoder::new(stored)),
            ZipMethod::Bzip2 => Box::new(BzDecoder::new(stored)),
            ZipMethod::Zstd => Box::new(zstd::stream::read::Decoder::with_buffer(stored)?),
        };
        Ok(Box::new(Checked { bytes, crc: Crc::new(), size: self.size, checksum: self.checksum }))
    }
}

/// Reader that compares size and checksum of a member with those that its archive names.
struct Checked<R> {
    bytes: R,
    crc: Crc,
    size: u64,
    checksum: u32,
}

impl<R: Read> Read for Checked<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.bytes.read(buffer)?;
        self.crc.update(&buffer[..count]);
        // The checksum counts the size modulo 2³².
        if count == 0
            && !buffer.is_empty()
            && (self.crc.sum() != self.checksum || self.crc.amount() != self.size as u32)
        {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "its checksum is another one"));
        }
        Ok(count)
    }
}
