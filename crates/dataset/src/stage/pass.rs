//! What is done with each block of documents.

use std::path::{Path, PathBuf};

use super::output::Output;
use super::samples::Sampler;
use super::{CLEAN_FILE, Observe, SUSPECTS_FILE, StageOptions, Staged, Suspect};
use crate::error::DataError;
use crate::scan::{Scanner, Traits};
use crate::source::{Block, Source, Tally};
use crate::value::digest_text;

/// After this many lines without a single JSON object among them, the source is given up.
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
    unreadable: u64,
}

impl Pass {
    pub(super) fn new(
        source: &Source,
        folder: &Path,
        options: StageOptions,
        plain_file: Option<PathBuf>,
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
            unreadable: 0,
        })
    }

    /// How many suspects there are so far.
    pub(super) fn suspects(&self) -> u64 {
        self.suspects.len() as u64
    }

    /// Takes the next documents; `tally` counts up to and with them.
    pub(super) fn block(
        &mut self,
        block: &Block,
        tally: &Tally,
        observer: &mut dyn Observe,
        cancelled: &dyn Fn() -> bool,
    ) -> Result<(), DataError> {
        self.hasher.update(block.bytes());
        let suspects_before = self.suspects.len();
        // Runs of clean documents between suspects, as places in the block.
        let mut runs = Vec::new();
        let (mut run, mut start) = (0, 0);
        let mut scanner = std::mem::take(&mut self.scanner);
        block.scan(&mut scanner, |line, scan| {
            let next = start + line.len() + 1;
            if scan.traits.intersects(self.options.suspect) {
                runs.push(run..start);
                run = next;
                self.set_aside(scan.traits, scan.fault.map(|fault| fault.to_string()), line)?;
            } else {
                observer.document(&scan.event);
                self.sampler.offer(self.clean_documents, self.documents, line);
                self.clean_documents += 1;
                self.clean_bytes += line.len() as u64 + 1;
            }
            self.documents += 1;
            start = next;
            Ok(())
        })?;
        self.scanner = scanner;
        runs.push(run..start);
        if self.suspects.len() > suspects_before || differs(tally) {
            self.leave_source(cancelled)?;
        }
        if let Clean::Own(own) = &mut self.clean {
            for run in runs.into_iter().filter(|run| !run.is_empty()) {
                own.write(&block.bytes()[run])?;
            }
        }
        self.bytes += block.bytes().len() as u64;
        if self.unreadable == self.documents && self.documents >= PATIENCE {
            Err(self.not_lines())
        } else if self.unreadable > MOST_UNREADABLE
            && (self.unreadable > self.documents / 10 || self.unreadable > 10 * MOST_UNREADABLE)
        {
            Err(self.mostly_unreadable())
        } else {
            Ok(())
        }
    }

    /// The source's file holds more than clean documents: gives them a file of their own, with those before this block.
    fn leave_source(&mut self, cancelled: &dyn Fn() -> bool) -> Result<(), DataError> {
        if let Clean::Source(path) = &self.clean {
            let target = self.folder.join(CLEAN_FILE);
            if same_file(path, &target) {
                return Err(DataError::InTheWay { path: target });
            }
            let mut own = Output::create(target)?;
            own.copy_from(path, self.bytes, cancelled)?;
            self.clean = Clean::Own(own);
        }
        Ok(())
    }

    #[cold]
    fn set_aside(&mut self, traits: Traits, reason: Option<String>, line: &[u8]) -> Result<(), DataError> {
        let file = match &mut self.suspects_file {
            Some(file) => file,
            none => none.insert(Output::create(self.folder.join(SUSPECTS_FILE))?),
        };
        let offset = file.length();
        file.write(line)?;
        file.write(b"\n")?;
        if traits.intersects(Traits::UNREADABLE) {
            self.unreadable += 1;
        }
        self.suspects.push(Suspect {
            ordinal: self.documents,
            traits,
            reason,
            offset,
            length: line.len() as u64,
        });
        Ok(())
    }

    /// The result, when the source has been read to its end.
    pub(super) fn finish(mut self, tally: &Tally, cancelled: &dyn Fn() -> bool) -> Result<Staged, DataError> {
        if self.documents > 0 && self.unreadable == self.documents {
            return Err(self.not_lines());
        }
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
            sizes: None,
            samples: self.sampler.finish(),
            skipped: Vec::new(),
            folder: self.folder,
        })
    }

    fn not_lines(&self) -> DataError {
        let reason = self.first_reason();
        DataError::NotLines { input: self.name.clone(), documents: self.documents, reason }
    }

    fn mostly_unreadable(&self) -> DataError {
        DataError::MostlyUnreadable {
            input: self.name.clone(),
            documents: self.documents,
            unreadable: self.unreadable,
            reason: self.first_reason(),
        }
    }

    /// What is wrong with the first document that cannot be read.
    fn first_reason(&self) -> String {
        let mut unreadable =
            self.suspects.iter().filter(|suspect| suspect.traits.intersects(Traits::UNREADABLE));
        let reason = unreadable.next().and_then(|suspect| suspect.reason.clone());
        reason.unwrap_or_else(|| "a value of another type".to_string())
    }
}

/// Whether the source's bytes differ from those of its documents.
fn differs(tally: &Tally) -> bool {
    tally.blank_lines > 0 || tally.carriage_returns > 0
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
