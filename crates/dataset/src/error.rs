//! What can go wrong with documents.

use std::io;
use std::path::{Path, PathBuf};

use crate::left_out::{self, LeftOut};

/// Why documents could not be read, made or staged. Every message names the input and says what to do about it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DataError {
    /// An operating-system error on a named file or folder.
    #[error("failed to {action} {}: {source}", path.display())]
    Io {
        /// What was being done ("read", "write", …).
        action: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// The operating system's own words.
        source: io::Error,
    },

    /// A path that does not exist.
    #[error("{}: no such file or folder; check the spelling, a relative path starts at the current folder", path.display())]
    NotFound {
        /// The path as it was given.
        path: PathBuf,
    },

    /// A source that holds no document at all.
    #[error("{input} holds no documents{}; one JSON document a line is expected", blank_note(*blank_lines))]
    Empty {
        /// The source, as a person would name it.
        input: String,
        /// Blank lines that were passed over.
        blank_lines: u64,
    },

    /// A folder without a single file of documents.
    #[error(
        "{} holds no .json, .ndjson, .jsonl, .gz or .zst file{}; name a file, or the folder that holds the files themselves",
        folder.display(), left_out_note(left_out)
    )]
    NothingReadable {
        /// The folder.
        folder: PathBuf,
        /// What it holds instead.
        left_out: Vec<LeftOut>,
    },

    /// An archive of files.
    #[error(
        "{input} is a tar archive, which holds files and no documents; unpack it and name the folder of its files"
    )]
    Archive {
        /// The file or address.
        input: String,
    },

    /// Compressed data that ends in the middle.
    #[error(
        "{input}: the {format} data ends too early, after {documents} whole documents of it; copy or download the file again"
    )]
    Truncated {
        /// The file or address.
        input: String,
        /// "gzip" or "zstd".
        format: &'static str,
        /// Documents read from this input before its end.
        documents: u64,
    },

    /// Compressed data that cannot be decoded.
    #[error(
        "{input}: the {format} data is damaged after {documents} documents ({source}); copy or download the file again"
    )]
    Corrupt {
        /// The file or address.
        input: String,
        /// "gzip" or "zstd".
        format: &'static str,
        /// Documents read from this input before the damage.
        documents: u64,
        /// The decoder's own words.
        source: io::Error,
    },

    /// A compression that is recognised and not read.
    #[error("{input} is {format} data, which is not read; recompress it with gzip or zstd, or unpack it")]
    UnsupportedCompression {
        /// The file or address.
        input: String,
        /// The format's name.
        format: &'static str,
    },

    /// A line so long that this cannot be one document a line.
    #[error(
        "{input}: document {documents} (counted from 0) is longer than {limit} bytes; put one document on each line (jq -c does)"
    )]
    LineTooLong {
        /// The file or address.
        input: String,
        /// Documents of this input before the line.
        documents: u64,
        /// The limit in bytes.
        limit: usize,
    },

    /// Data without a single JSON object on a line of its own.
    #[error(
        "none of the first {documents} lines of {input} is a JSON object (the first: {reason}); newline-delimited JSON is expected, `jq -c '.[]'` turns an array into it"
    )]
    NotLines {
        /// The source, as a person would name it.
        input: String,
        /// How many lines there are.
        documents: u64,
        /// What is wrong with the first of them.
        reason: String,
    },

    /// Data that is for the most part no JSON.
    #[error(
        "{unreadable} of the first {documents} lines of {input} are no JSON objects (the first: {reason}); newline-delimited JSON is expected, leave out what is something else"
    )]
    MostlyUnreadable {
        /// The source, as a person would name it.
        input: String,
        /// How many lines there are so far.
        documents: u64,
        /// How many of them could not be read.
        unreadable: u64,
        /// What is wrong with the first of them.
        reason: String,
    },

    /// Documents of another kind than are wanted.
    #[error("{input}: {reason}")]
    OtherDocuments {
        /// The source, as a person would name it.
        input: String,
        /// What they are not, and what to do with them.
        reason: String,
    },

    /// A download that could not be started.
    #[error(
        "failed to download {address}: {reason}; check the address and the connection, or download the file and name its path"
    )]
    Download {
        /// The address, without any user name or password in it.
        address: String,
        /// The status or the transport's own words.
        reason: String,
    },

    /// A download that ended before its announced length, or broke off.
    #[error(
        "the download of {address} was cut short after {received} bytes{}; try again, or download the file and name its path",
        expected_note(*expected, reason)
    )]
    CutShort {
        /// The address, without any user name or password in it.
        address: String,
        /// Bytes that arrived.
        received: u64,
        /// Bytes that the server announced.
        expected: Option<u64>,
        /// The transport's own words, where there are any.
        reason: String,
    },

    /// No room left for a staged file.
    #[error(
        "no room left for {} ({source}); free some space or choose another folder, the partial files were removed",
        path.display()
    )]
    DiskFull {
        /// The file that was being written.
        path: PathBuf,
        /// The operating system's own words.
        source: io::Error,
    },

    /// A staged file that is no longer what it was.
    #[error("{} holds {found} documents instead of {expected}: it was changed after it was staged; start again", path.display())]
    Changed {
        /// The file.
        path: PathBuf,
        /// Documents when it was staged.
        expected: u64,
        /// Documents now.
        found: u64,
    },

    /// A source that lies where a staged file has to go.
    #[error("{} is both the source and where its clean documents have to go; stage it in another folder", path.display())]
    InTheWay {
        /// The file.
        path: PathBuf,
    },

    /// A range that asks for something impossible.
    #[error("{reason}")]
    Range {
        /// What is impossible and what would be possible.
        reason: String,
    },

    /// The caller asked to stop.
    #[error("cancelled")]
    Cancelled,

    /// A helper thread ended without a result: a fault of this program.
    #[error("the {thread} thread ended without a result; this is a fault of the program")]
    Thread {
        /// What the thread did.
        thread: &'static str,
    },
}

impl DataError {
    /// An operating-system error while doing `action` to `path`, told apart by what the user can do about it.
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

fn left_out_note(left_out: &[LeftOut]) -> String {
    if left_out.is_empty() {
        return " (it is empty)".to_string();
    }
    format!(" (it holds {})", left_out::kinds(left_out))
}

fn expected_note(expected: Option<u64>, reason: &str) -> String {
    let expected = expected.map(|bytes| format!(" of {bytes}")).unwrap_or_default();
    if reason.is_empty() { expected } else { format!("{expected} ({reason})") }
}
