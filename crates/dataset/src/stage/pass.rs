//! What is done with each block of documents.

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::output::Output;
use super::samples::Sampler;
use super::{CLEAN_FILE, NoDocument, Observe, SUSPECTS_FILE, StageOptions, Staged, Suspect};
use crate::error::DataError;
use crate::scan::{Fault, Reason, Scanner, Traits};
use crate::source::{Block, Places, Source, Tally};
use crate::value::digest_text;

/// After this many lines without a single JSON object among them, the source is given up; after as many documents, where
/// they are none that the observer wants.
const PATIENCE: u64 = 10_000;
/// Beyond this many lines that are no JSON, a source is given up if they are more than a tenth of it, and beyond ten
/// times as many in any case: each is remembered with its reason, so that a few kilobytes of gzip with billions of them
/// would fill the memory.
const MOST_UNREADABLE: u64 = 100_000;

/// Where the clean documents are.
enum Clean {
    /// So far the source's file is nothing but clean documents.
    Source(PathBuf),
    /// In a file of their own.
    Own(Output),
}

/// The state between blocks.
pub(super) struct Pass {
    name: String,
    folder: PathBuf,
    options: StageOptions,
    scanner: Scanner,
    hasher: blake3::Hasher,
    sampler: Sampler,
    clean: Clean,
    clean_documents: u64,
    clean_bytes: u64,
    suspects: Vec<Suspect>,
    suspects_file: Option<Output>,
    documents: u64,
    bytes: u64,
    no_documents: Vec<NoDocument>,
    places: Places,
    /// Bytes of lines that have been read, those that are no documents among them.
    read: u64,
    lines: u64,
    /// How many lines are no JSON objects, and what is wrong with the first of them.
    unreadable: u64,
    first_reason: Option<String>,
}

impl Pass {
    pub(super) fn new(
        source: &Source,
        folder: &Path,
        options: StageOptions,
        plain_file: Option<PathBuf>,
        inputs: Vec<Arc<str>>,
    ) -> Result<Self, DataError> {
        // What an earlier staging left behind must not be taken for a result of this one.
        for name in [CLEAN_FILE, SUSPECTS_FILE] {
            let path = folder.join(name);
            let is_source = plain_file.as_deref().is_some_and(|source| same_file(source, &path));
            if path.is_file() && !is_source {
                std::fs::remove_file(&path).map_err(|error| DataError::io("write", &path, error))?;
            }
        }
        // Links are followed, so that other processes find the same file (think of /dev/stdin).
        let loadable = plain_file.and_then(|path| path.canonicalize().ok()).filter(|path| is_loadable(path));
        let clean = match loadable {
            Some(path) => Clean::Source(path),
            None => Clean::Own(Output::create(folder.join(CLEAN_FILE))?),
        };
        Ok(Pass {
            name: source.to_string(),
            folder: folder.to_path_buf(),
            sampler: Sampler::new(options.samples),
            options,
            scanner: Scanner::new(),
            hasher: blake3::Hasher::new(),
            clean,
            clean_documents: 0,
            clean_bytes: 0,
            suspects: Vec::new(),
            suspects_file: None,
            documents: 0,
            bytes: 0,
            no_documents: Vec::new(),
            places: Places::new(inputs),
            read: 0,
            lines: 0,
            unreadable: 0,
            first_reason: None,
        })
    }

    /// How many documents there are so far.
    pub(super) fn documents(&self) -> u64 {
        self.documents
    }

    /// How many suspects there are so far.
    pub(super) fn suspects(&self) -> u64 {
        self.suspects.len() as u64
    }

    /// Takes the next lines; `tally` counts up to and with them. Gives those that are no documents, as ranges of the
    /// block's bytes.
    pub(super) fn block(
        &mut self,
        block: &Block,
        tally: &Tally,
        observer: &mut dyn Observe,
        cancelled: &dyn Fn() -> bool,
    ) -> Result<Vec<Range<usize>>, DataError> {
        let mut no_documents = Vec::new();
        let suspects_before = self.suspects.len();
        // Runs of clean documents between other lines, as places in the block.
        let mut runs = Vec::new();
        let (mut run, mut start, mut index) = (0, 0, 0);
        let mut scanner = std::mem::take(&mut self.scanner);
        block.scan(&mut scanner, |line, scan| {
            let next = start + line.len() + 1;
            let number = block.line_number(index);
            if scan.traits.intersects(Traits::NO_DOCUMENT) {
                runs.push(run..start);
                run = next;
                no_documents.push(start..next);
                self.leave_out(block.input(), number, scan.fault);
            } else {
                if scan.traits.intersects(self.options.suspect) {
                    runs.push(run..start);
                    run = next;
                    self.set_aside(scan.traits, line)?;
                } else {
                    observer.document(&scan.event);
                    self.sampler.offer(self.clean_documents, self.documents, line);
                    self.clean_documents += 1;
                    self.clean_bytes += line.len() as u64 + 1;
                }
                self.places.note(self.documents, block.input(), number);
                self.documents += 1;
            }
            start = next;
            index += 1;
            Ok(())
        })?;
        self.scanner = scanner;
        runs.push(run..start);
        if self.suspects.len() > suspects_before || !no_documents.is_empty() || differs(tally) {
            self.leave_source(cancelled)?;
        }
        if let Clean::Own(own) = &mut self.clean {
            for run in runs.into_iter().filter(|run| !run.is_empty()) {
                own.write(&block.bytes()[run])?;
            }
        }
        self.count(block, &no_documents);
        if self.documents >= PATIENCE {
            self.suits(observer)?;
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

    /// Whether these are documents that the observer wants.
    fn suits(&self, observer: &dyn Observe) -> Result<(), DataError> {
        match observer.refuses() {
            Some(reason) => Err(DataError::OtherDocuments { input: self.name.clone(), reason }),
            None => Ok(()),
        }
    }

    /// Adds a block to the digest and the counts, less what is no document.
    fn count(&mut self, block: &Block, no_documents: &[Range<usize>]) {
        let bytes = block.bytes();
        self.read += bytes.len() as u64;
        self.lines += block.len() as u64;
        let mut start = 0;
        for range in no_documents.iter().chain(std::iter::once(&(bytes.len()..bytes.len()))) {
            let documents = &bytes[start..range.start];
            self.hasher.update(documents);
            self.bytes += documents.len() as u64;
            start = range.end;
        }
    }

    /// Notes a line that is no document.
    #[cold]
    fn leave_out(&mut self, input: u32, line: u64, fault: Option<Fault>) {
        let fault = fault.unwrap_or(Fault { reason: Reason::NoValue, offset: 0 });
        self.unreadable += 1;
        self.first_reason.get_or_insert_with(|| fault.to_string());
        self.no_documents.push(NoDocument { place: self.places.place(input, line), fault });
    }

    /// The source's file holds more than clean documents: gives them a file of their own, with those before this block.
    fn leave_source(&mut self, cancelled: &dyn Fn() -> bool) -> Result<(), DataError> {
        if let Clean::Source(path) = &self.clean {
            let target = self.folder.join(CLEAN_FILE);
            if same_file(path, &target) {
                return Err(DataError::InTheWay { path: target });
            }
            let mut own = Output::create(target)?;
            own.copy_from(path, self.read, cancelled)?;
            self.clean = Clean::Own(own);
        }
        Ok(())
    }

    #[cold]
    fn set_aside(&mut self, traits: Traits, line: &[u8]) -> Result<(), DataError> {
        let file = match &mut self.suspects_file {
            Some(file) => file,
            none => none.insert(Output::create(self.folder.join(SUSPECTS_FILE))?),
        };
        let offset = file.length();
        file.write(line)?;
        file.write(b"\n")?;
        if traits.intersects(Traits::NOT_OBJECT) {
            self.unreadable += 1;
            self.first_reason.get_or_insert_with(|| "a value of another type".to_owned());
        }
        self.suspects.push(Suspect { ordinal: self.documents, traits, offset, length: line.len() as u64 });
        Ok(())
    }

    /// The result, when the source has been read to its end.
    pub(super) fn finish(
        mut self,
        tally: &Tally,
        observer: &dyn Observe,
        cancelled: &dyn Fn() -> bool,
    ) -> Result<Staged, DataError> {
        if self.lines > 0 && self.unreadable == self.lines {
            return Err(self.not_lines());
        }
        self.suits(observer)?;
        // Blank lines at the very end come in no block.
        if differs(tally) {
            self.leave_source(cancelled)?;
        }
        let clean = match self.clean {
            Clean::Source(path) => path,
            Clean::Own(own) => own.finish(),
        };
        if let Some(file) = self.suspects_file.take() {
            file.finish();
        }
        Ok(Staged {
            documents: self.documents,
            bytes: self.bytes,
            blank_lines: tally.blank_lines,
            digest: digest_text(&self.hasher),
            clean,
            clean_documents: self.clean_documents,
            clean_bytes: self.clean_bytes,
            suspects: self.suspects,
            no_documents: self.no_documents,
            sizes: None,
            samples: self.sampler.finish(),
            left_out: Vec::new(),
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

/// Whether the source's bytes differ from those of its documents.
fn differs(tally: &Tally) -> bool {
    tally.blank_lines > 0 || tally.carriage_returns > 0 || tally.byte_order_marks > 0
}

/// Whether every engine reads this file as what it is: some take the end of a name for a compression, some take certain
/// characters for a pattern of names, and all of them are given the path within the text of a statement.
fn is_loadable(path: &Path) -> bool {
    const ENDINGS: [&str; 5] = ["", "json", "ndjson", "jsonl", "txt"];
    let ending = path.extension().unwrap_or_default();
    let odd = |character: char| character.is_control() || "*?[]{}'\"`\\".contains(character);
    ENDINGS.iter().any(|known| ending.eq_ignore_ascii_case(known))
        && path.to_str().is_some_and(|path| !path.contains(odd))
}

fn same_file(a: &Path, b: &Path) -> bool {
    match (a.canonicalize(), b.canonicalize()) {
        (Ok(a), Ok(b)) => a == b,
        _ => false,
    }
}
