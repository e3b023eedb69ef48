//! Where documents come from: made on the fly, a file, a folder of files, standard input, or an address.

use std::fmt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::error::DataError;
use crate::fidelity::Choice;
use crate::ordinal::Table;
use crate::records::Records;

mod block;
mod compression;
mod folder;
mod generated;
mod input;
mod lines;
mod ordinals;
mod place;
mod reading;
mod recorded;
mod tally;
mod url;

pub use block::{Block, BlockLines};
pub use lines::{Documents, LONGEST_LINE, Lines};
pub use place::{Place, Places};
pub use tally::Tally;

pub(crate) use reading::{Reading, Step};

use input::Input;
use lines::InputLines;

/// A set of documents, named such that it can be read again: by its path or address, or by what makes it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    /// Events made by this crate's generator.
    Generated {
        /// What the events depend on, besides their number.
        seed: u64,
        /// The number of the first event.
        start: u64,
        /// How many events.
        documents: u64,
        /// How many known bad lines are planted among them.
        malformed: u64,
    },
    /// Records of the serving workload, those of the numbers 0 up to `documents`: each line is
    /// `{"key":…,"doc":{…}}`, all values of version 0.
    Records {
        /// What is in them.
        records: Records,
        /// How many.
        documents: u64,
    },
    /// Tables of large documents, one after the other: each line is `{"key":…,"doc":{…}}`.
    Ordinals {
        /// The tables.
        tables: Vec<Table>,
    },
    /// Documents of the fidelity workload, which are no lines: nothing is read from this by line.
    Corpus(Choice),
    /// A file, or a folder whose files are read in the bytewise order of their names.
    Path(PathBuf),
    /// Standard input, which can be read once.
    Stdin,
    /// An `http` or `https` address.
    Url(String),
}

impl Source {
    /// Whether its documents are made here: how far it has been read is then counted in documents, and else in stored
    /// bytes.
    #[must_use]
    pub fn is_made(&self) -> bool {
        match self {
            Source::Generated { .. }
            | Source::Records { .. }
            | Source::Ordinals { .. }
            | Source::Corpus(_) => true,
            Source::Path(_) | Source::Stdin | Source::Url(_) => false,
        }
    }

    /// What a person gives on the command line: `-` is standard input, `http://…` and `https://…` an address, anything
    /// else a path.
    pub fn from_argument(argument: &str) -> Source {
        let lower = argument.get(..8).unwrap_or(argument).to_ascii_lowercase();
        if argument == "-" {
            Source::Stdin
        } else if lower.starts_with("http://") || lower.starts_with("https://") {
            Source::Url(argument.to_string())
        } else {
            Source::Path(PathBuf::from(argument))
        }
    }

    /// Opens the source for one reading from its start. The first input is opened and looked into at once, so that a
    /// wrong name fails here.
    ///
    /// # Errors
    ///
    /// A path that is not there or cannot be read, a folder without files of documents, an address that does not
    /// answer, a compression that is not read.
    pub fn open(&self) -> Result<Box<dyn Lines + Send>, DataError> {
        let inputs = match self {
            Source::Generated { seed, start, documents, malformed } => {
                return Ok(Box::new(generated::GeneratedLines::new(*seed, *start, *documents, *malformed)?));
            }
            Source::Records { records, documents } => {
                return Ok(Box::new(recorded::RecordLines::new(records, *documents)?));
            }
            Source::Ordinals { tables } => return Ok(Box::new(ordinals::OrdinalLines::new(tables)?)),
            Source::Corpus(_) => {
                let reason = "a corpus is no stream of lines: its documents are taken one by one".to_owned();
                return Err(DataError::Range { reason });
            }
            Source::Path(path) => return open_path(path),
            Source::Stdin => vec![Input::Stdin],
            Source::Url(address) => vec![Input::Url(address.clone())],
        };
        Ok(Box::new(InputLines::open(self.to_string(), inputs, Vec::new())?))
    }

    /// Opens the source for reading one document at a time.
    ///
    /// # Errors
    ///
    /// As [`Source::open`].
    pub fn documents(&self) -> Result<Documents, DataError> {
        self.open().map(Documents::new)
    }
}

fn open_path(path: &Path) -> Result<Box<dyn Lines + Send>, DataError> {
    let metadata = std::fs::metadata(path).map_err(|error| DataError::io("read", path, error))?;
    let (files, left_out) = if metadata.is_dir() {
        let listing = folder::list(path)?;
        (listing.files, listing.left_out)
    } else {
        (vec![path.to_path_buf()], Vec::new())
    };
    let inputs = files.into_iter().map(Input::File).collect();
    Ok(Box::new(InputLines::open(path.display().to_string(), inputs, left_out)?))
}

/// As a person would name it in a sentence; addresses without any password in them.
impl fmt::Display for Source {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Source::Generated { seed, start, documents, malformed } => {
                write!(formatter, "{documents} generated events from number {start} on, seed {seed}")?;
                if *malformed > 0 { write!(formatter, ", {malformed} of them malformed") } else { Ok(()) }
            }
            Source::Records { records, documents } => {
                let plural = if *documents == 1 { "" } else { "s" };
                write!(formatter, "{} {} record{plural}", grouped(*documents), records.kind)?;
                write!(formatter, " of {} values, seed {}", records.values, records.seed)
            }
            Source::Ordinals { tables } => {
                let each: Vec<String> = tables.iter().map(Table::to_string).collect();
                write!(formatter, "large documents: {}", each.join("; "))
            }
            Source::Corpus(choice) => write!(formatter, "{choice}"),
            Source::Path(path) => write!(formatter, "{}", path.display()),
            Source::Stdin => formatter.write_str("standard input"),
            Source::Url(address) => formatter.write_str(&url::shown(address)),
        }
    }
}

/// A number with commas between thousands.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut grouped = String::new();
    for (place, digit) in digits.char_indices() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}
