//! Processing of each block of documents during staging.

use std::ops::Range;
use std::path::{Path, PathBuf};

use super::output::Output;
use super::samples::Sampler;
use super::{CLEAN_FILE, DocumentVisitor, NoDocument, SUSPECTS_FILE, StageOptions, StagedDocuments, Suspect};
use crate::digest::digest_text;
use crate::error::DataError;
use crate::scan::{Fault, Reason, Scanner, Traits};
use crate::source::{Block, Inputs, Place, Places, ReadProgress, Source};

/// Number of lines after which a source without a JSON object is an error, and number of documents from which
/// on the observer may refuse them.
const PATIENCE: u64 = 10_000;
/// Number of lines that are no JSON objects above which a source is an error if they are more than a tenth of
/// all lines. Above ten times this number the source is always an error. Each such line is stored with its
/// reason, and a few kilobytes of gzip can contain billions of them.
const MOST_UNREADABLE: u64 = 100_000;

/// Where the clean documents are stored.
enum CleanFile {
    /// The source file itself, which so far contains only clean documents.
    Source(PathBuf),
    /// A separate file in the staging folder.
    Separate(Output),
}

/// Stages a source block by block; holds the state between blocks.
pub(super) struct Stager {
    name: String,
    folder: PathBuf,
    options: StageOptions,
    scanner: Scanner,
    hasher: blake3::Hasher,
    sampler: Sampler,
    clean_file: CleanFile,
    clean_documents: u64,
    clean_bytes: u64,
    suspects: Vec<Suspect>,
    suspects_file: Option<Output>,
    documents: u64,
    bytes: u64,
    no_documents: Vec<NoDocument>,
    places: Places,
    /// Bytes of all lines read so far, including lines that are not documents.
    bytes_read: u64,
    lines: u64,
    /// Number of lines that are no JSON objects, and place and fault of the first one.
    unreadable: u64,
    first_reason: Option<String>,
}

impl Stager {
    pub(super) fn new(
        source: &Source,
        folder: &Path,
        options: StageOptions,
        plain_file: Option<PathBuf>,
        inputs: Inputs,
    ) -> Result<Self, DataError> {
        // Files of an earlier staging must not be mistaken for results of this one.
        for name in [CLEAN_FILE, SUSPECTS_FILE] {
            let path = folder.join(name);
            let is_source = plain_file.as_deref().is_some_and(|source| same_file(source, &path));
            if path.is_file() && !is_source {
                std::fs::remove_file(&path).map_err(|error| DataError::io("write", &path, error))?;
            }
        }
        // Resolve symbolic links so that other processes open the same file (e.g. /dev/stdin).
        let loadable = plain_file.and_then(|path| path.canonicalize().ok()).filter(|path| is_loadable(path));
        let clean_file = match loadable {
            Some(path) => CleanFile::Source(path),
            None => CleanFile::Separate(Output::create(folder.join(CLEAN_FILE))?),
        };
        Ok(Stager {
            name: source.to_string(),
            folder: folder.to_path_buf(),
            sampler: Sampler::new(options.max_samples),
            options,
            scanner: Scanner::new(),
            hasher: blake3::Hasher::new(),
            clean_file,
            clean_documents: 0,
            clean_bytes: 0,
            suspects: Vec::new(),
            suspects_file: None,
            documents: 0,
            bytes: 0,
            no_documents: Vec::new(),
            places: Places::new(inputs),
            bytes_read: 0,
            lines: 0,
            unreadable: 0,
            first_reason: None,
        })
    }

    /// Returns the number of documents so far.
    pub(super) fn documents(&self) -> u64 {
        self.documents
    }

    /// Returns the number of suspects so far.
    pub(super) fn suspects(&self) -> u64 {
        self.suspects.len() as u64
    }

    /// Processes the next block; `tally` includes its lines. Returns the lines that are not documents, as
    /// byte ranges of the block.
    pub(super) fn block(
        &mut self,
        block: &Block,
        tally: &ReadProgress,
        observer: &mut dyn DocumentVisitor,
        cancelled: &dyn Fn() -> bool,
    ) -> Result<Vec<Range<usize>>, DataError> {
        let mut no_documents = Vec::new();
        let suspects_before = self.suspects.len();
        // Byte ranges of consecutive clean documents in the block.
        let mut runs = Vec::new();
        let (mut run_start, mut start, mut index) = (0, 0, 0);
        let mut scanner = std::mem::take(&mut self.scanner);
        block.scan(&mut scanner, |line, scan| {
            let next_start = start + line.len() + 1;
            if scan.traits.intersects(Traits::NO_DOCUMENT) {
                runs.push(run_start..start);
                run_start = next_start;
                no_documents.push(start..next_start);
                let fault = block.original_fault(index).or(scan.fault);
                self.leave_out(self.places.place_of(block, index), fault);
            } else {
                if scan.traits.intersects(self.options.suspect_traits) {
                    runs.push(run_start..start);
                    run_start = next_start;
                    self.set_aside(scan.traits, line, (block, index))?;
                } else {
                    observer.document(&scan.event);
                    self.sampler.offer(self.clean_documents, self.documents, line);
                    self.clean_documents += 1;
                    self.clean_bytes += line.len() as u64 + 1;
                }
                self.places.note_document(self.documents, block, index);
                self.documents += 1;
            }
            start = next_start;
            index += 1;
            Ok(())
        })?;
        self.scanner = scanner;
        runs.push(run_start..start);
        if self.suspects.len() > suspects_before || !no_documents.is_empty() || has_other_bytes(tally) {
            self.leave_source(cancelled)?;
        }
        if let CleanFile::Separate(output) = &mut self.clean_file {
            for run in runs.into_iter().filter(|run| !run.is_empty()) {
                output.write(&block.bytes()[run])?;
            }
        }
        self.count(block, &no_documents);
        if self.documents >= PATIENCE {
            self.check_observer(observer, false)?;
        }
        if self.unreadable == self.lines && self.lines >= PATIENCE {
            Err(self.not_lines())
        } else if self.unreadable > MOST_UNREADABLE
            && (self.unreadable > self.lines / 10 || self.unreadable > 10 * MOST_UNREADABLE)
        {
            Err(self.mostly_unreadable())
        } else {
            Ok(no_documents)
        }
    }

    /// Fails with [`DataError::OtherDocuments`] if the observer refuses the documents seen so far.
    fn check_observer(&self, observer: &dyn DocumentVisitor, is_complete: bool) -> Result<(), DataError> {
        match observer.refusal(is_complete) {
            Some(reason) => Err(DataError::OtherDocuments { input: self.name.clone(), reason }),
            None => Ok(()),
        }
    }

    /// Adds the documents of a block to the digest and the counts, skipping the ranges in `no_documents`.
    fn count(&mut self, block: &Block, no_documents: &[Range<usize>]) {
        let bytes = block.bytes();
        self.bytes_read += bytes.len() as u64;
        self.lines += block.len() as u64;
        let mut start = 0;
        for range in no_documents.iter().chain(std::iter::once(&(bytes.len()..bytes.len()))) {
            let documents = &bytes[start..range.start];
            self.hasher.update(documents);
            self.bytes += documents.len() as u64;
            start = range.end;
        }
    }

    /// Records a line that is not a document, with its location and fault.
    #[cold]
    fn leave_out(&mut self, place: Place, fault: Option<Fault>) {
        let fault = fault.unwrap_or(Fault { reason: Reason::NoValue, offset: 0 });
        self.unreadable += 1;
        self.first_reason.get_or_insert_with(|| format!("{place}: {fault}"));
        self.no_documents.push(NoDocument { place, fault });
    }

    /// Copies the clean documents before this block into a separate file, because the source file contains
    /// more than clean documents.
    fn leave_source(&mut self, cancelled: &dyn Fn() -> bool) -> Result<(), DataError> {
        if let CleanFile::Source(path) = &self.clean_file {
            let target = self.folder.join(CLEAN_FILE);
            if same_file(path, &target) {
                return Err(DataError::InTheWay { path: target });
            }
            let mut output = Output::create(target)?;
            output.copy_from(path, self.bytes_read, cancelled)?;
            self.clean_file = CleanFile::Separate(output);
        }
        Ok(())
    }

    /// Stores a suspect in its file. `origin` is its block, and its index there.
    #[cold]
    fn set_aside(
        &mut self,
        traits: Traits,
        line: &[u8],
        (block, index): (&Block, usize),
    ) -> Result<(), DataError> {
        let file = match &mut self.suspects_file {
            Some(file) => file,
            slot => slot.insert(Output::create(self.folder.join(SUSPECTS_FILE))?),
        };
        let offset = file.length();
        file.write(line)?;
        file.write(b"\n")?;
        if traits.intersects(Traits::NOT_OBJECT) {
            self.unreadable += 1;
            let place = || self.places.place_of(block, index);
            // An array that is a line could be meant as several documents.
            let is_line = block.byte_position(index).is_none();
            let fault = match line.trim_ascii_start().first() {
                Some(b'[') if is_line => "an array; `--input array` takes its elements as documents",
                _ => "a value of another type",
            };
            self.first_reason.get_or_insert_with(|| format!("{}: {fault}", place()));
        }
        self.suspects.push(Suspect { ordinal: self.documents, traits, offset, length: line.len() as u64 });
        Ok(())
    }

    /// Returns the result after the source has been read to its end.
    pub(super) fn finish(
        mut self,
        tally: &ReadProgress,
        observer: &dyn DocumentVisitor,
        cancelled: &dyn Fn() -> bool,
    ) -> Result<StagedDocuments, DataError> {
        if self.lines > 0 && self.unreadable == self.lines {
            return Err(self.not_lines());
        }
        self.check_observer(observer, true)?;
        // Blank lines at the very end are in no block.
        if has_other_bytes(tally) {
            self.leave_source(cancelled)?;
        }
        let clean_file = match self.clean_file {
            CleanFile::Source(path) => path,
            CleanFile::Separate(output) => output.finish(),
        };
        if let Some(file) = self.suspects_file.take() {
            file.finish();
        }
        Ok(StagedDocuments {
            documents: self.documents,
            bytes: self.bytes,
            blank_lines: tally.blank_lines,
            digest: digest_text(&self.hasher),
            clean_file,
            clean_documents: self.clean_documents,
            clean_bytes: self.clean_bytes,
            suspects: self.suspects,
            no_documents: self.no_documents,
            compressed_sizes: None,
            samples: self.sampler.finish(),
            left_out: Vec::new(),
            input_notes: Vec::new(),
            places: self.places,
            folder: self.folder,
        })
    }

    fn not_lines(&self) -> DataError {
        let reason = self.first_reason.clone().unwrap_or_default();
        DataError::NotLines { input: self.name.clone(), documents: self.lines, reason }
    }

    fn mostly_unreadable(&self) -> DataError {
        DataError::MostlyUnreadable {
            input: self.name.clone(),
            documents: self.lines,
            unreadable: self.unreadable,
            reason: self.first_reason.clone().unwrap_or_default(),
        }
    }
}

/// Returns `true` if the source contains bytes that are not part of a document: blank lines, carriage returns
/// or byte order marks.
fn has_other_bytes(tally: &ReadProgress) -> bool {
    tally.blank_lines > 0 || tally.carriage_returns > 0 || tally.byte_order_marks > 0
}

/// Returns `true` if every engine can load the file under this name. Some engines derive a compression from
/// the extension or expand glob characters, and all receive the path within the text of a statement.
fn is_loadable(path: &Path) -> bool {
    const ENDINGS: [&str; 5] = ["", "json", "ndjson", "jsonl", "txt"];
    let extension = path.extension().unwrap_or_default();
    let is_special = |character: char| character.is_control() || "*?[]{}'\"`\\".contains(character);
    ENDINGS.iter().any(|ending| extension.eq_ignore_ascii_case(ending))
        && path.to_str().is_some_and(|path| !path.contains(is_special))
}

fn same_file(a: &Path, b: &Path) -> bool {
    match (a.canonicalize(), b.canonicalize()) {
        (Ok(a), Ok(b)) => a == b,
        _ => false,
    }
}
