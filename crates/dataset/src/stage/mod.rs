//! Staging: one pass over a source that writes the files that systems load and collects what verifies them.
//!
//! Documents without suspicious traits go into one file for bulk loading. Suspects are stored separately and
//! loaded one by one, so that a rejected suspect costs no other document.

use std::collections::HashSet;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::error::DataError;
use crate::scan::{Event, Fault, Scanner, Traits};
use crate::skipped_entries::SkippedEntry;
use crate::source::{Block, Inputs, Place, Places, ReaderEvent, ReaderThread, Source};

mod compressed_sizes;
mod digest_only;
mod output;
mod pass;
mod samples;

pub use compressed_sizes::{COMPRESSIONS, ReferenceSizes};
pub use samples::Sample;
pub(crate) use samples::Sampler;

use compressed_sizes::Compressors;
use pass::Stager;

/// Name of the file of clean documents in the staging folder. Not created if the source file itself can be
/// loaded.
pub const CLEAN_FILE: &str = "clean.ndjson";
/// Name of the file of suspects in the staging folder, one per line. Not created if there are none.
pub const SUSPECTS_FILE: &str = "suspects.bin";

/// Optional work of staging; see `Default` for the usual values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StageOptions {
    /// Whether to measure the documents' compressed sizes, on one thread per compression. Default: `true`.
    pub measure_compressed_sizes: bool,
    /// Traits that make a document a suspect. Default: [`Traits::SUSPECT`].
    pub suspect_traits: Traits,
    /// Maximum number of clean documents kept for reading back. Default: 1,000.
    pub max_samples: usize,
}

impl Default for StageOptions {
    fn default() -> Self {
        StageOptions { measure_compressed_sizes: true, suspect_traits: Traits::SUSPECT, max_samples: 1_000 }
    }
}

/// Receives documents while they are staged, so that they need not be read twice.
pub trait DocumentVisitor {
    /// Called for every clean document (neither a suspect nor malformed), in order.
    fn document(&mut self, event: &Event<'_>);

    /// Returns the reason why the documents seen so far must not be staged. `None` if staging may go on.
    /// Called after each block from 10,000 documents on, and at the end, when `is_complete` is `true`. Before
    /// the end, documents that are still to come may be of another kind than those seen so far.
    fn refusal(&self, is_complete: bool) -> Option<String> {
        let _ = is_complete;
        None
    }
}

impl<T: DocumentVisitor + ?Sized> DocumentVisitor for &mut T {
    fn document(&mut self, event: &Event<'_>) {
        (**self).document(event);
    }

    fn refusal(&self, is_complete: bool) -> Option<String> {
        (**self).refusal(is_complete)
    }
}

/// Ignores all documents and refuses none.
#[derive(Clone, Copy, Debug, Default)]
pub struct IgnoreDocuments;

impl DocumentVisitor for IgnoreDocuments {
    fn document(&mut self, _: &Event<'_>) {}
}

/// Receives a document: its number among the offered ones, its text, and whether it is a suspect.
pub(crate) type VisitDocument<'v> = dyn FnMut(u64, &[u8], bool) -> Result<(), DataError> + 'v;

/// Progress of staging after a block of documents.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Number of documents so far.
    pub documents: u64,
    /// Size in bytes of all non-blank lines so far, each with one newline.
    pub bytes: u64,
    /// Number of suspects among the documents.
    pub suspects: u64,
    /// Position in the source: stored bytes, or documents for generators.
    pub done: u64,
    /// Final position in the same unit. `None` if it is not known in advance.
    pub total: Option<u64>,
}

/// A document that is loaded alone because bulk loaders may fail on it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Suspect {
    /// Number among the offered documents, from 0.
    pub ordinal: u64,
    /// Unusual traits of the document, not only those that make it a suspect.
    pub traits: Traits,
    /// Byte offset of the document in the file of suspects.
    pub offset: u64,
    /// Length of the document in bytes, without the newline.
    pub length: u64,
}

/// A line, or text in place of a document, that is not JSON or not UTF-8. It is not offered to any system.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoDocument {
    /// Input and line, or document and byte, where it was found.
    pub place: Place,
    /// Fault found by the scanner, with its byte offset.
    pub fault: Fault,
}

/// Result of staging: documents ready for loading.
#[derive(Clone, Debug)]
pub struct StagedDocuments {
    /// Number of offered documents: those that are JSON.
    pub documents: u64,
    /// Size of the offered documents in bytes, each with one newline.
    pub bytes: u64,
    /// Number of blank lines in the source, which are not documents.
    pub blank_lines: u64,
    /// `blake3:` and the digest of the offered documents as newline-delimited JSON. Compression, the
    /// distribution over files, blank lines, carriage returns and lines that are not JSON do not change it.
    pub digest: String,
    /// Lines and pieces of text that are neither blank nor documents, in order.
    pub no_documents: Vec<NoDocument>,
    /// File of the documents that are not suspects, one per line. This is the source file itself if it holds
    /// nothing else. The last line has no newline if the source's last line has none.
    pub clean_file: PathBuf,
    /// Number of documents in `clean_file`.
    pub clean_documents: u64,
    /// Size of the documents in `clean_file` in bytes, each with one newline.
    pub clean_bytes: u64,
    /// Documents to be loaded one by one, in order.
    pub suspects: Vec<Suspect>,
    /// Compressed sizes of the offered documents. `None` unless [`StageOptions::measure_compressed_sizes`]
    /// was set.
    pub compressed_sizes: Option<ReferenceSizes>,
    /// Documents of `clean_file` to be read back from a system.
    pub samples: Vec<Sample>,
    /// Entries of the source's folders and archives that were not read.
    pub left_out: Vec<SkippedEntry>,
    /// One sentence each on how the source's files were read: their forms, bulk files, Extended JSON. Empty for
    /// generated documents.
    pub input_notes: Vec<String>,
    places: Places,
    folder: PathBuf,
}

impl StagedDocuments {
    /// Reads the bytes of a suspect, without the newline.
    ///
    /// # Errors
    ///
    /// If the file of suspects is missing or shorter than when it was written.
    pub fn suspect_bytes(&self, suspect: &Suspect) -> io::Result<Vec<u8>> {
        let mut file = File::open(self.folder.join(SUSPECTS_FILE))?;
        file.seek(SeekFrom::Start(suspect.offset))?;
        let mut bytes = vec![0; usize::try_from(suspect.length).map_err(io::Error::other)?];
        file.read_exact(&mut bytes)?;
        Ok(bytes)
    }

    /// Returns the input and line of an offered document, or its number and byte there. `None` if they are unknown,
    /// e.g. for large generated documents.
    pub fn place(&self, ordinal: u64) -> Option<Place> {
        self.places.find(ordinal)
    }

    /// Converts a number among the clean documents to the number among the offered documents, both from 0.
    pub fn offered_ordinal(&self, clean_ordinal: u64) -> u64 {
        // A suspect's ordinal minus the number of suspects before it is the number of clean documents before
        // it.
        let (mut earlier_suspects, mut end) = (0, self.suspects.len());
        while earlier_suspects < end {
            let middle = earlier_suspects + (end - earlier_suspects) / 2;
            if self.suspects[middle].ordinal - middle as u64 <= clean_ordinal {
                earlier_suspects = middle + 1;
            } else {
                end = middle;
            }
        }
        clean_ordinal + earlier_suspects as u64
    }

    /// Reads all documents again in their order, and passes each with its number among the offered documents
    /// (from 0), its text without newline, and whether it is a suspect. `pause` is called before every block of
    /// clean documents and every 1,024 documents of others, e.g. to report progress.
    ///
    /// # Errors
    ///
    /// If the documents cannot be read, and the first error that `visit` or `pause` returns. That documents have
    /// changed since staging is no error here.
    pub(crate) fn visit_in_order(
        &self,
        visit: &mut VisitDocument<'_>,
        pause: &mut dyn FnMut() -> Result<(), DataError>,
    ) -> Result<(), DataError> {
        let mut suspects = self.suspects.iter().peekable();
        let mut ordinal = 0;
        if self.clean_documents > 0 {
            let mut lines = Source::lines_of(self.clean_file.clone()).open()?;
            let mut block = Block::new();
            while lines.next_block(&mut block)? {
                pause()?;
                for line in block.lines() {
                    while let Some(suspect) = suspects.next_if(|suspect| suspect.ordinal == ordinal) {
                        self.visit_suspect(suspect, visit, pause)?;
                        ordinal += 1;
                    }
                    visit(ordinal, line, false)?;
                    ordinal += 1;
                }
            }
        }
        suspects.try_for_each(|suspect| self.visit_suspect(suspect, visit, pause))
    }

    fn visit_suspect(
        &self,
        suspect: &Suspect,
        visit: &mut VisitDocument<'_>,
        pause: &mut dyn FnMut() -> Result<(), DataError>,
    ) -> Result<(), DataError> {
        if suspect.ordinal.is_multiple_of(1_024) {
            pause()?;
        }
        let bytes = self.suspect_bytes(suspect);
        let bytes = bytes.map_err(|error| DataError::io("read", &self.folder.join(SUSPECTS_FILE), error))?;
        visit(suspect.ordinal, &bytes, true)
    }

    /// Reads the clean documents again and passes them to `observer`, except those in `rejected` (numbers
    /// among the clean documents, from 0).
    ///
    /// # Errors
    ///
    /// If the file of clean documents cannot be read, or its number of documents has changed since staging
    /// ([`DataError::Changed`]).
    pub fn visit_clean_except(
        &self,
        rejected: &HashSet<u64>,
        observer: &mut dyn DocumentVisitor,
    ) -> Result<(), DataError> {
        if self.clean_documents == 0 {
            return Ok(());
        }
        let mut lines = Source::lines_of(self.clean_file.clone()).open()?;
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
            let (path, expected) = (self.clean_file.clone(), self.clean_documents);
            return Err(DataError::Changed { path, expected, found: ordinal });
        }
        Ok(())
    }

    /// Reads suspects and passes them to `observer`, e.g. those that a system has accepted.
    ///
    /// # Errors
    ///
    /// If the file of suspects cannot be read; see [`StagedDocuments::suspect_bytes`].
    pub fn visit_suspects<'a>(
        &self,
        suspects: impl IntoIterator<Item = &'a Suspect>,
        observer: &mut dyn DocumentVisitor,
    ) -> Result<(), DataError> {
        let mut scanner = Scanner::new();
        for suspect in suspects {
            let bytes = self
                .suspect_bytes(suspect)
                .map_err(|error| DataError::io("read", &self.folder.join(SUSPECTS_FILE), error))?;
            observer.document(&scanner.scan(&bytes).event);
        }
        Ok(())
    }
}

/// Files of rows, each of which holds one staged document.
pub(crate) struct RowFiles {
    /// File of the rows of clean documents, one a line.
    pub(crate) clean_file: PathBuf,
    /// Size of that file in bytes.
    pub(crate) clean_bytes: u64,
    /// Folder of the file of the suspects' rows, [`SUSPECTS_FILE`].
    pub(crate) folder: PathBuf,
    /// Suspects with the places of their rows.
    pub(crate) suspects: Vec<Suspect>,
    /// `blake3:` and the digest of all rows as newline-delimited JSON.
    pub(crate) digest: String,
    /// Rows to be read back from a system.
    pub(crate) samples: Vec<Sample>,
}

impl StagedDocuments {
    /// Returns `true` if this is the folder in which the documents were staged.
    pub(crate) fn is_staged_in(&self, folder: &Path) -> bool {
        let canonical = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_path_buf());
        canonical(&self.folder) == canonical(folder)
    }

    /// Returns the same documents as rows, which are loaded instead of them.
    pub(crate) fn with_rows(&self, rows: RowFiles) -> Self {
        let suspect_bytes: u64 = rows.suspects.iter().map(|suspect| suspect.length + 1).sum();
        Self {
            bytes: rows.clean_bytes + suspect_bytes,
            digest: rows.digest,
            clean_file: rows.clean_file,
            clean_bytes: rows.clean_bytes,
            suspects: rows.suspects,
            samples: rows.samples,
            folder: rows.folder,
            ..self.clone()
        }
    }

    /// Returns the documents from number `first` on as rows, `clean_documents` of them clean. Numbers begin at 0
    /// again; places in the inputs stay. Compressed sizes are unknown.
    pub(crate) fn starting_at(&self, first: u64, clean_documents: u64, rows: RowFiles) -> Self {
        Self {
            documents: clean_documents + rows.suspects.len() as u64,
            clean_documents,
            compressed_sizes: None,
            places: self.places.starting_at(first),
            ..self.with_rows(rows)
        }
    }
}

/// Reads a source once and stages its documents in `folder`, which is created if it does not exist.
///
/// [`Source::Records`] has no suspects. No file is written for [`Source::Ordinals`] and [`Source::Corpus`],
/// whose documents are generated again whenever they are needed. `observer` receives every clean document.
/// `progress` is called after every block of documents, and `cancelled` at least twenty times a second, even
/// while the source is blocked. On any error, partial files are removed.
///
/// # Errors
///
/// If the source cannot be read to its end or the disk is full. [`DataError::Cancelled`] if `cancelled`
/// returned `true`. [`DataError::NotLines`] if no line is a JSON object. [`DataError::OtherDocuments`] if the
/// observer refuses the documents. [`DataError::MostlyUnreadable`] if more than 100,000 lines are no JSON
/// objects and these are more than a tenth of all lines, or more than 1,000,000.
pub fn stage(
    source: &Source,
    folder: &Path,
    mut options: StageOptions,
    observer: &mut dyn DocumentVisitor,
    progress: &mut dyn FnMut(Progress),
    cancelled: &dyn Fn() -> bool,
) -> Result<StagedDocuments, DataError> {
    if matches!(source, Source::Ordinals { .. }) {
        std::fs::create_dir_all(folder).map_err(|error| DataError::io("write", folder, error))?;
        return digest_only::count(source, folder, progress, cancelled);
    }
    if let Source::Corpus(selection) = source {
        std::fs::create_dir_all(folder).map_err(|error| DataError::io("write", folder, error))?;
        return digest_only::corpus(selection, folder);
    }
    if matches!(source, Source::Records { .. }) {
        // Generated records are valid by construction, however large they are.
        options.suspect_traits = Traits::NONE;
    }
    std::fs::create_dir_all(folder).map_err(|error| DataError::io("write", folder, error))?;
    let reader = ReaderThread::start(source.clone())?;
    let mut compressors = if options.measure_compressed_sizes { Some(Compressors::start()?) } else { None };
    let mut stager = None;
    let mut inputs_read = Inputs::default();
    let tally = loop {
        match reader.next(cancelled)? {
            ReaderEvent::Opened { plain_file, inputs } => {
                inputs_read = inputs.clone();
                stager = Some(Stager::new(source, folder, options.clone(), plain_file, inputs)?);
            }
            ReaderEvent::Read { block, tally } => {
                let stager = stager.as_mut().ok_or(DataError::Thread { thread: "reading" })?;
                let no_documents = stager.block(&block, &tally, observer, cancelled)?;
                let block = Arc::new(block);
                if let Some(compressors) = &mut compressors {
                    compressors.add_documents(&block, &no_documents)?;
                }
                progress(Progress {
                    documents: stager.documents(),
                    bytes: tally.bytes,
                    suspects: stager.suspects(),
                    done: tally.done,
                    total: tally.total,
                });
                reader.give_back(block);
            }
            ReaderEvent::Ended { tally } => break tally,
        }
    };
    let stager = stager.ok_or(DataError::Thread { thread: "reading" })?;
    // The slowest compressor may lag behind by a few blocks.
    let sizes = compressors.map(Compressors::finish).transpose()?;
    let mut staged = stager.finish(&tally, observer, cancelled)?;
    staged.compressed_sizes = sizes;
    staged.left_out = inputs_read.left_out();
    staged.input_notes = inputs_read.notes();
    Ok(staged)
}
