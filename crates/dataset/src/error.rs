//! Errors of reading, generating, staging and describing documents.

use std::io;
use std::path::{Path, PathBuf};

use crate::skipped_entries::{self, SkippedEntry};

/// Why documents could not be read, generated or staged. Every message names the input and the remedy.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DataError {
    /// An operating-system error on a named file or folder.
    #[error("failed to {action} {}: {source}", path.display())]
    Io {
        /// The failed operation as a verb ("read", "write", …).
        action: &'static str,
        /// The file or folder, or the display name of an input that is no file.
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },

    /// A path that does not exist.
    #[error("{}: no such file or folder; check the spelling, a relative path starts at the current folder", path.display())]
    NotFound {
        /// The path exactly as the user gave it.
        path: PathBuf,
    },

    /// A source without any document.
    #[error("{input} holds no documents{}; JSON documents are expected, e.g. one a line or an array of them", blank_note(*blank_lines))]
    Empty {
        /// Display name of the source.
        input: String,
        /// Number of blank lines that were skipped.
        blank_lines: u64,
    },

    /// A folder or archive without any file that could hold documents.
    #[error(
        "{} holds no .json, .ndjson, .jsonl, compressed or archive file{}; name a file, or a folder that holds such files",
        folder.display(), left_out_note(left_out)
    )]
    NothingReadable {
        /// The folder or archive that was listed.
        folder: PathBuf,
        /// Everything that it contains, with the reason why it is not read.
        left_out: Vec<SkippedEntry>,
    },

    /// A zip archive that is not a file, so that its list of members, which is at its end, cannot be read first.
    #[error("{input} is a zip archive, which is read from a file only; save it as a file and name its path")]
    ZipStream {
        /// Address, "standard input", or the name of a special file.
        input: String,
    },

    /// An archive whose structure is damaged.
    #[error("{input}: the {format} archive is damaged ({reason}); copy or download the file again")]
    DamagedArchive {
        /// File path or address of the archive.
        input: String,
        /// Name of the format: "tar" or "zip".
        format: &'static str,
        /// What is wrong with it.
        reason: String,
    },

    /// An archive of so many members, or with so long names, that these do not fit into memory.
    #[error(
        "{input}: the names of members of archives take more than {} MiB; unpack it and name the folder, or pack several documents into each file",
        limit >> 20
    )]
    TooManyMembers {
        /// File path or address of the archive that is being read.
        input: String,
        /// Maximum memory for the names, in bytes.
        limit: u64,
    },

    /// A file that was written to while it was read.
    #[error("{input} changed while it was read; wait until it is complete, or copy it and name the copy")]
    ChangedWhileRead {
        /// Path of the file.
        input: String,
    },

    /// Text that is not part of an array in an input that is read as an array.
    #[error("{input}: {}", no_array_note(*byte, *arrays))]
    NoArray {
        /// Display name of the input.
        input: String,
        /// Offset of the text in the decoded input, from 0.
        byte: u64,
        /// Number of arrays before the text.
        arrays: u64,
    },

    /// A bulk file, of which every other line is no document.
    #[error(
        "{input} is a bulk file, in which lines with actions alternate with documents; \
         `--bulk-actions skip` reads the documents without the actions, `--input lines` takes both as documents"
    )]
    BulkFile {
        /// Display name of the input.
        input: String,
    },

    /// Compressed data that ends before the end of its stream.
    #[error(
        "{input}: the {format} data ends too early, after {documents} whole documents of it; copy or download the file again"
    )]
    Truncated {
        /// File path or address of the input.
        input: String,
        /// Name of the compression, e.g. "gzip".
        format: &'static str,
        /// Number of complete documents read from this input before it ended.
        documents: u64,
    },

    /// Compressed data that cannot be decoded.
    #[error(
        "{input}: the {format} data is damaged after {documents} documents ({source}); copy or download the file again"
    )]
    Corrupt {
        /// File path or address of the input.
        input: String,
        /// Name of the compression, e.g. "gzip".
        format: &'static str,
        /// Number of complete documents read from this input before the damage.
        documents: u64,
        /// The error of the decoder.
        source: io::Error,
    },

    /// Data in a compression or container format that is recognised but not supported.
    #[error("{input} is {format} data, which is not read; {}", unsupported_remedy(format))]
    UnsupportedCompression {
        /// File path or address of the input.
        input: String,
        /// Name of the format, e.g. "LZ4".
        format: &'static str,
    },

    /// A document above the length limit, so that the input is probably of another form.
    #[error(
        "{place} is longer than {limit} bytes; put one document on each line (jq -c does), name the form of the file by --input, or look for a missing quote or bracket"
    )]
    LineTooLong {
        /// Input and line, or document with its byte, as text.
        place: String,
        /// Maximum length of a document in bytes.
        limit: usize,
    },

    /// A document that is not closed and reaches to the end of its input, so that it may hold other documents.
    #[error(
        "{input}: document {document} is not closed: it begins at byte {byte}, and the {length} bytes up to the end of the input belong to it; look for a missing quote or bracket in it"
    )]
    Unclosed {
        /// File path or address of the input.
        input: String,
        /// Number of the document within the input, from 1.
        document: u64,
        /// Offset of its first byte in the decoded input.
        byte: u64,
        /// Number of bytes from there to the end.
        length: u64,
    },

    /// Data in which no document is a JSON object.
    #[error(
        "none of the first {documents} documents of {input} is a JSON object (the first: {reason}); newline-delimited JSON is expected, or an array, or documents one after the other: convert other formats, e.g. CSV or Parquet, to JSON"
    )]
    NotLines {
        /// Display name of the source.
        input: String,
        /// Number of documents and lines that are none, read so far.
        documents: u64,
        /// Place and fault of the first one.
        reason: String,
    },

    /// Data in which too many lines are no JSON objects.
    #[error(
        "{unreadable} of the first {documents} documents of {input} are no JSON objects (the first: {reason}); newline-delimited JSON is expected, leave out what is something else"
    )]
    MostlyUnreadable {
        /// Display name of the source.
        input: String,
        /// Number of documents and lines that are none, read so far.
        documents: u64,
        /// Number of lines that are no JSON objects.
        unreadable: u64,
        /// Place and fault of the first such line.
        reason: String,
    },

    /// Documents of another kind than the workload needs.
    #[error("{input}: {reason}")]
    OtherDocuments {
        /// Display name of the source.
        input: String,
        /// What the documents lack, and the remedy.
        reason: String,
    },

    /// A download that could not be started.
    #[error(
        "failed to download {address}: {reason}; check the address and the connection, or download the file and name its path"
    )]
    Download {
        /// The address without user name and password.
        address: String,
        /// The HTTP status or the error of the transport.
        reason: String,
    },

    /// A download that ended before its announced length or failed while being read.
    #[error(
        "the download of {address} was cut short after {received} bytes{}; try again, or download the file and name its path",
        expected_note(*expected, reason)
    )]
    CutShort {
        /// The address without user name and password.
        address: String,
        /// Number of bytes received.
        received: u64,
        /// Number of bytes announced by the server. `None` if the length is unknown.
        expected: Option<u64>,
        /// The error of the transport. Empty if the body ended early without an error.
        reason: String,
    },

    /// A staged file that cannot be written because the disk or a quota is full or the file would be too
    /// large.
    #[error(
        "no room left for {} ({source}); free some space or choose another folder, the partial files were removed",
        path.display()
    )]
    DiskFull {
        /// The file that was being written.
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },

    /// A staged file whose number of documents has changed since it was staged.
    #[error("{} holds {found} documents instead of {expected}: it was changed after it was staged; start again", path.display())]
    Changed {
        /// Path of the staged file.
        path: PathBuf,
        /// Number of documents when the file was staged.
        expected: u64,
        /// Number of documents found now.
        found: u64,
    },

    /// A staged file with other documents than those that were staged.
    #[error("{} holds other documents than when it was staged; start again, and let nothing write to it", path.display())]
    ChangedDocuments {
        /// Path of the staged file.
        path: PathBuf,
    },

    /// A document that cannot be a record, because it has no key of its own or cannot bear a version.
    #[error("{reason}")]
    Key {
        /// Where the document is, what is wrong with it, and the remedy.
        reason: String,
    },

    /// A source file at the path where staging writes its clean documents.
    #[error("{} is both the source and where its clean documents have to go; stage it in another folder", path.display())]
    InTheWay {
        /// Path of the file that is both source and destination.
        path: PathBuf,
    },

    /// A size, number or range that is not possible.
    #[error("{reason}")]
    Range {
        /// What is impossible, and what is possible instead.
        reason: String,
    },

    /// The caller's cancellation callback returned `true`.
    #[error("cancelled")]
    Cancelled,

    /// A helper thread ended without a result, which is a bug of this program.
    #[error("the {thread} thread ended without a result; this is a fault of the program")]
    Thread {
        /// Purpose of the thread ("reading", "compression").
        thread: &'static str,
    },
}

impl DataError {
    /// Maps an operating-system error of doing `action` to `path` to the variant with the matching remedy.
    pub(crate) fn io(action: &'static str, path: &Path, source: io::Error) -> Self {
        match source.kind() {
            io::ErrorKind::NotFound if action != "write" => DataError::NotFound { path: path.to_path_buf() },
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge
                if action == "write" =>
            {
                DataError::DiskFull { path: path.to_path_buf(), source }
            }
            _ => DataError::Io { action, path: path.to_path_buf(), source },
        }
    }
}

fn blank_note(blank_lines: u64) -> String {
    match blank_lines {
        0 => String::new(),
        1 => ", only 1 blank line".to_string(),
        count => format!(", only {count} blank lines"),
    }
}

fn no_array_note(byte: u64, arrays: u64) -> String {
    if arrays == 0 {
        return format!(
            "text that is no array begins at byte {byte}; leave out `--input array`, or name another form"
        );
    }
    format!(
        "its array ends before byte {byte}, and other text follows; put each form into a file of its own, or name \
         the form by --input"
    )
}

fn unsupported_remedy(format: &str) -> &'static str {
    match format {
        "Parquet" => "convert it to JSON, one document a line",
        "7z" => "unpack it",
        _ => "recompress it with gzip or zstd, or unpack it",
    }
}

fn left_out_note(left_out: &[SkippedEntry]) -> String {
    if left_out.is_empty() {
        return " (it is empty)".to_string();
    }
    format!(" (it holds {})", skipped_entries::list_by_reason(left_out))
}

fn expected_note(expected: Option<u64>, reason: &str) -> String {
    let expected = expected.map(|bytes| format!(" of {bytes}")).unwrap_or_default();
    if reason.is_empty() { expected } else { format!("{expected} ({reason})") }
}
