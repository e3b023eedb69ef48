//! One pass over a source that leaves behind what engines load, and what is needed to judge them.
//!
//! Documents without anything suspicious about them go into one file that engines load in bulk; suspects are set aside
//! to be handed over one by one, so that none of them can take good documents down with it.

use std::collections::HashSet;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::error::DataError;
use crate::left_out::LeftOut;
use crate::scan::{Event, Fault, Scanner, Traits};
use crate::source::{Block, Place, Places, Reading, Source, Step};

mod output;
mod pass;
mod samples;
mod sizes;
mod unkept;

pub use samples::Sample;
pub(crate) use samples::Sampler;
pub use sizes::{COMPRESSIONS, ReferenceSizes};

use pass::Pass;
use sizes::Compressors;

/// The name of the file of clean documents in the staging folder, when they need a file of their own.
pub const CLEAN_FILE: &str = "clean.ndjson";
/// The name of the file of suspects in the staging folder, one a line.
pub const SUSPECTS_FILE: &str = "suspects.bin";

/// What staging does beyond the necessary.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StageOptions {
    /// Whether the documents' compressed sizes are found out, on threads of their own.
    pub compression_rows: bool,
    /// Which traits set a document aside.
    pub suspect: Traits,
    /// How many documents are kept for reading back.
    pub samples: usize,
}

impl Default for StageOptions {
    fn default() -> Self {
        StageOptions { compression_rows: true, suspect: Traits::SUSPECT, samples: 1_000 }
    }
}

/// Looks at documents while they are staged, so that they need not be read twice.
pub trait Observe {
    /// Called for every document that is no suspect, in order.
    fn document(&mut self, event: &Event<'_>);

    /// Why documents like those so far are not to be staged; asked when there are some thousands of them, and at the
    /// end.
    fn refuses(&self) -> Option<String> {
        None
    }
}

impl<T: Observe + ?Sized> Observe for &mut T {
    fn document(&mut self, event: &Event<'_>) {
        (**self).document(event);
    }

    fn refuses(&self) -> Option<String> {
        (**self).refuses()
    }
}

/// Does not look.
#[derive(Clone, Copy, Debug, Default)]
pub struct Blind;

impl Observe for Blind {
    fn document(&mut self, _: &Event<'_>) {}
}

/// How far staging is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Documents so far.
    pub documents: u64,
    /// The bytes of all lines that are not blank, each with one newline.
    pub bytes: u64,
    /// How many of them are suspects.
    pub suspects: u64,
    /// How far the source has been read: stored bytes, or documents of a generator.
    pub done: u64,
    /// Where the source ends in the same unit, if that is known.
    pub total: Option<u64>,
}

/// A document that was set aside.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Suspect {
    /// Its number among the offered documents, from 0.
    pub ordinal: u64,
    /// What is unusual about it.
    pub traits: Traits,
    /// Where it begins in the file of suspects, in bytes.
    pub offset: u64,
    /// Its length in bytes, without the newline.
    pub length: u64,
}

/// A line that is no JSON, or no UTF-8, and so no document: it is offered to nobody.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoDocument {
    /// Where it stands.
    pub place: Place,
    /// What is wrong with it.
    pub fault: Fault,
}

/// Documents ready for loading.
#[derive(Clone, Debug)]
pub struct Staged {
    /// How many documents are offered: lines that are JSON.
    pub documents: u64,
    /// Their bytes as newline-delimited JSON, each with one newline.
    pub bytes: u64,
    /// Blank lines of the source, which are no documents.
    pub blank_lines: u64,
    /// `blake3:` and the digest of the offered documents as newline-delimited JSON. It depends neither on compression nor
    /// on how documents are spread over files, nor on blank lines, carriage returns and what is no JSON between them.
    pub digest: String,
    /// The lines that are neither blank nor documents, in order.
    pub no_documents: Vec<NoDocument>,
    /// The documents that are not suspects, one a line: the source itself when it is one plain file of nothing else.
    /// The last line has no newline when that of the source has none.
    pub clean: PathBuf,
    /// How many documents are in `clean`.
    pub clean_documents: u64,
    /// Their bytes, each with one newline.
    pub clean_bytes: u64,
    /// The other documents, in order.
    pub suspects: Vec<Suspect>,
    /// Sizes of the offered documents when compressed, if they were asked for.
    pub sizes: Option<ReferenceSizes>,
    /// Documents of `clean` to read back.
    pub samples: Vec<Sample>,
    /// What lies in the source's folder and was not read.
    pub left_out: Vec<LeftOut>,
    places: Places,
    folder: PathBuf,
}

impl Staged {
    /// The bytes of a suspect, without the newline.
    ///
    /// # Errors
    ///
    /// When the file of suspects is gone or shorter than it was.
    pub fn suspect_bytes(&self, suspect: &Suspect) -> io::Result<Vec<u8>> {
        let mut file = File::open(self.folder.join(SUSPECTS_FILE))?;
        file.seek(SeekFrom::Start(suspect.offset))?;
        let mut bytes = vec![0; usize::try_from(suspect.length).map_err(io::Error::other)?];
        file.read_exact(&mut bytes)?;
        Ok(bytes)
    }

    /// Where the offered document with this number stands, where that is known.
    pub fn place(&self, ordinal: u64) -> Option<Place> {
        self.places.of(ordinal)
    }

    /// The number among the offered documents of the clean document with this number, both from 0.
    pub fn offered_ordinal(&self, clean_ordinal: u64) -> u64 {
        // The ordinal of a suspect less the suspects before it is how many clean documents are before it.
        let places: Vec<usize> = (0..self.suspects.len()).collect();
        let before =
            places.partition_point(|&place| self.suspects[place].ordinal - place as u64 <= clean_ordinal);
        clean_ordinal + before as u64
    }

    /// Reads the clean documents again and shows them, less those with the given numbers (among the clean ones, from
    /// 0).
    ///
    /// # Errors
    ///
    /// When the file of clean documents cannot be read, or holds another number of them than when it was staged.
    pub fn show_without(&self, rejected: &HashSet<u64>, observer: &mut dyn Observe) -> Result<(), DataError> {
        if self.clean_documents == 0 {
            return Ok(());
        }
        let mut lines = Source::Path(self.clean.clone()).open()?;
        let mut scanner = Scanner::new();
        let mut block = Block::new();
        let mut ordinal = 0;
        while lines.next_block(&mut block)? {
            block.scan(&mut scanner, |_, scan| {
                if !rejected.contains(&ordinal) {
                    observer.document(&scan.event);
                }
                ordinal += 1;
                Ok::<_, DataError>(())
            })?;
        }
        if ordinal != self.clean_documents {
            let (path, expected) = (self.clean.clone(), self.clean_documents);
            return Err(DataError::Changed { path, expected, found: ordinal });
        }
        Ok(())
    }

    /// Shows suspects, such as those that a system has accepted.
    ///
    /// # Errors
    ///
    /// As [`Staged::suspect_bytes`].
    pub fn show_suspects<'a>(
        &self,
        shown: impl IntoIterator<Item = &'a Suspect>,
        observer: &mut dyn Observe,
    ) -> Result<(), DataError> {
        let mut scanner = Scanner::new();
        for suspect in shown {
            let bytes = self
                .suspect_bytes(suspect)
                .map_err(|error| DataError::io("read", &self.folder.join(SUSPECTS_FILE), error))?;
            observer.document(&scanner.scan(&bytes).event);
        }
        Ok(())
    }
}

/// Reads a source once and stages its documents in a folder, which is created if need be.
///
/// Of [`Source::Records`] no document is a suspect. Nothing is kept of [`Source::Ordinals`] and [`Source::Corpus`],
/// whose documents are made again where they are needed. `observer` sees every clean document, `progress` is called
/// for every block of documents, and `cancelled` at least twenty times a second, even while the source has nothing to
/// give. On any error the files that were begun are removed.
///
/// # Errors
///
/// Whatever keeps the source from being read to its end, a full disk, [`DataError::Cancelled`], and
/// [`DataError::NotLines`] when not a single line is a JSON object, [`DataError::OtherDocuments`] when the observer does
/// not want them, [`DataError::MostlyUnreadable`] when more than a
/// hundred thousand lines are none and they are most of it.
pub fn stage(
    source: &Source,
    folder: &Path,
    mut options: StageOptions,
    observer: &mut dyn Observe,
    progress: &mut dyn FnMut(Progress),
    cancelled: &dyn Fn() -> bool,
) -> Result<Staged, DataError> {
    if matches!(source, Source::Ordinals { .. }) {
        std::fs::create_dir_all(folder).map_err(|error| DataError::io("write", folder, error))?;
        return unkept::count(source, folder, progress, cancelled);
    }
    if let Source::Corpus(choice) = source {
        std::fs::create_dir_all(folder).map_err(|error| DataError::io("write", folder, error))?;
        return unkept::corpus(choice, folder);
    }
    if matches!(source, Source::Records { .. }) {
        // Made records are what they should be, however large.
        options.suspect = Traits::NONE;
    }
    std::fs::create_dir_all(folder).map_err(|error| DataError::io("write", folder, error))?;
    let reading = Reading::start(source.clone())?;
    let mut compressors = if options.compression_rows { Some(Compressors::start()?) } else { None };
    let mut pass = None;
    let mut left_out = Vec::new();
    let last = loop {
        match reading.next(cancelled)? {
            Step::Opened { plain_file, left_out: entries, inputs } => {
                left_out = entries;
                pass = Some(Pass::new(source, folder, options.clone(), plain_file, inputs)?);
            }
            Step::Read { block, tally } => {
                let pass = pass.as_mut().ok_or(DataError::Thread { thread: "reading" })?;
                let no_documents = pass.block(&block, &tally, observer, cancelled)?;
                let block = Arc::new(block);
                if let Some(compressors) = &mut compressors {
                    match no_documents.as_slice() {
                        [] => compressors.add(&block)?,
                        ranges => compressors.add(&Arc::new(block.without(ranges)))?,
                    }
                }
                progress(Progress {
                    documents: pass.documents(),
                    bytes: tally.bytes,
                    suspects: pass.suspects(),
                    done: tally.done,
                    total: tally.total,
                });
                reading.give_back(block);
            }
            Step::Ended { tally } => break tally,
        }
    };
    let pass = pass.ok_or(DataError::Thread { thread: "reading" })?;
    // The slowest compressor may lag behind by a few blocks.
    let sizes = compressors.map(Compressors::finish).transpose()?;
    let mut staged = pass.finish(&last, observer, cancelled)?;
    staged.sizes = sizes;
    staged.left_out = left_out;
    Ok(staged)
}
