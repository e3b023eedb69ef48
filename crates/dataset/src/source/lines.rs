//! Reads documents in blocks of lines, whatever the kind of source.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::block::Block;
use super::input::{Input, OpenInput};
use super::tally::ReadProgress;
use crate::error::DataError;
use crate::left_out::SkippedEntry;

/// Bytes read per block: small enough to stay in a core's L2 cache while being scanned.
const BLOCK: usize = 512 * 1024;
/// Blocks that a long line has enlarged beyond this size (in bytes) are reallocated.
const MAX_KEPT: usize = 4 * BLOCK;
/// Maximum length of a line, in bytes. Longer lines are an error, so that data without newlines cannot fill
/// the memory (a few kilobytes of gzip can unpack to terabytes).
pub const LONGEST_LINE: usize = 256 << 20;

/// A source that is read once, from its start to its end.
pub trait Lines {
    /// Replaces the content of `block` by the next documents, at least one. Returns `false` if no document is
    /// left.
    ///
    /// # Errors
    ///
    /// If the data cannot be read to its end, or if the source contains no document.
    fn next_block(&mut self, block: &mut Block) -> Result<bool, DataError>;

    /// Returns the counts up to the current reading position.
    fn tally(&self) -> ReadProgress;

    /// Returns the path if the source is a single regular, uncompressed file.
    fn plain_file(&self) -> Option<&Path> {
        None
    }

    /// Returns the entries of the source's folder that are not read.
    fn left_out(&self) -> &[SkippedEntry] {
        &[]
    }

    /// Display names of the inputs, in reading order.
    fn inputs(&self) -> Vec<Arc<str>>;
}

/// Iterates over a source one document at a time.
pub struct Documents {
    lines: Box<dyn Lines + Send>,
    block: Block,
    next: usize,
}

impl Documents {
    /// Creates an iterator over a source that has not been read from yet.
    pub fn new(lines: Box<dyn Lines + Send>) -> Self {
        Documents { lines, block: Block::new(), next: 0 }
    }

    /// Returns the next document without its newline. `None` at the end of the source.
    ///
    /// # Errors
    ///
    /// See [`Lines::next_block`].
    pub fn next_line(&mut self) -> Result<Option<&[u8]>, DataError> {
        if self.next >= self.block.len() {
            self.next = 0;
            if !self.lines.next_block(&mut self.block)? {
                self.block = Block::new();
                return Ok(None);
            }
        }
        self.next += 1;
        Ok(self.block.line_at(self.next - 1))
    }

    /// Gives access to the underlying source, e.g. to its counts.
    pub fn lines(&self) -> &(dyn Lines + Send) {
        &*self.lines
    }
}

/// Lines of several inputs, read one after the other.
pub(super) struct InputLines {
    name: String,
    pending: VecDeque<Input>,
    open: Option<OpenInput>,
    plain_file: Option<PathBuf>,
    left_out: Vec<SkippedEntry>,
    inputs: Vec<Arc<str>>,
    /// Beginning of a line whose end has not been read yet.
    partial_line: Vec<u8>,
    tally: ReadProgress,
    /// Number of documents in inputs that were read completely.
    earlier_documents: u64,
    bytes_read: Arc<AtomicU64>,
    longest_line: usize,
}

impl InputLines {
    /// Opens the first input. `name` is the display name of the whole source.
    pub(super) fn open(
        name: String,
        inputs: Vec<Input>,
        left_out: Vec<SkippedEntry>,
    ) -> Result<Self, DataError> {
        let total = inputs.iter().map(Input::stored_bytes).sum();
        let is_single = inputs.len() == 1;
        let mut lines = InputLines {
            name,
            inputs: inputs.iter().map(|input| input.name().into()).collect(),
            pending: inputs.into(),
            open: None,
            plain_file: None,
            left_out,
            partial_line: Vec::new(),
            tally: ReadProgress { total, ..ReadProgress::default() },
            earlier_documents: 0,
            bytes_read: Arc::default(),
            longest_line: LONGEST_LINE,
        };
        lines.open_next()?;
        if is_single && let Some(open) = &lines.open {
            lines.plain_file = open.plain_file().map(Path::to_path_buf);
            lines.tally.total = open.length;
        }
        Ok(lines)
    }

    fn open_next(&mut self) -> Result<bool, DataError> {
        self.earlier_documents = self.tally.documents;
        let Some(input) = self.pending.pop_front() else {
            self.open = None;
            return Ok(false);
        };
        let open = input.open(Arc::clone(&self.bytes_read))?;
        self.tally.lines = 0;
        self.tally.input = (self.inputs.len() - self.pending.len() - 1) as u32;
        self.tally.byte_order_marks += u64::from(open.had_byte_order_mark);
        self.open = Some(open);
        Ok(true)
    }

    /// Fills `bytes` with whole lines of the current input, or clears it at the input's end.
    fn fill(&mut self, bytes: &mut Vec<u8>) -> Result<(), DataError> {
        let Some(open) = &mut self.open else {
            bytes.clear();
            return Ok(());
        };
        let documents = self.tally.documents - self.earlier_documents;
        if bytes.capacity() > MAX_KEPT {
            *bytes = Vec::new();
        }
        // Never shrink the buffer: growing it again would fill memory with zeros that is overwritten anyway.
        let mut filled = self.partial_line.len();
        bytes.resize((filled + BLOCK).max(bytes.len()), 0);
        bytes[..filled].copy_from_slice(&self.partial_line);
        self.partial_line.clear();
        // The bytes left over from the last call contain no newline.
        let mut searched = filled;
        loop {
            let count = match open.read(&mut bytes[filled..]) {
                Ok(count) => count,
                Err(error) => {
                    let complete_lines = memchr::memchr_iter(b'\n', &bytes[..filled]).count();
                    return Err(open.failed(error, documents + complete_lines as u64));
                }
            };
            filled += count;
            if count == 0 {
                if filled > 0 && bytes[filled - 1] != b'\n' {
                    bytes.truncate(filled);
                    bytes.push(b'\n');
                    self.tally.unterminated += 1;
                } else {
                    bytes.truncate(filled);
                }
                return Ok(());
            }
            if filled < bytes.len() {
                continue;
            }
            if let Some(newline) = memchr::memrchr(b'\n', &bytes[searched..filled]) {
                let end = searched + newline + 1;
                self.partial_line.shrink_to(MAX_KEPT);
                self.partial_line.extend_from_slice(&bytes[end..filled]);
                bytes.truncate(end);
                return Ok(());
            }
            if filled > self.longest_line {
                let input = open.name.clone();
                return Err(DataError::LineTooLong { input, documents, limit: self.longest_line });
            }
            searched = filled;
            bytes.resize((2 * filled).min(self.longest_line + 1), 0);
        }
    }
}

impl Lines for InputLines {
    fn next_block(&mut self, block: &mut Block) -> Result<bool, DataError> {
        loop {
            self.fill(&mut block.bytes)?;
            if block.bytes.is_empty() {
                if self.open_next()? {
                    continue;
                }
                block.index(&mut self.tally);
                if self.tally.documents == 0 {
                    let blank_lines = self.tally.blank_lines;
                    return Err(DataError::Empty { input: self.name.clone(), blank_lines });
                }
                return Ok(false);
            }
            block.index(&mut self.tally);
            if !block.is_empty() {
                return Ok(true);
            }
            // More blank lines than the longest document may have bytes: no document is to be expected, and
            // searching for one could take forever.
            if self.tally.documents == 0 && self.tally.blank_lines > self.longest_line as u64 {
                return Err(DataError::Empty {
                    input: self.name.clone(),
                    blank_lines: self.tally.blank_lines,
                });
            }
        }
    }

    fn tally(&self) -> ReadProgress {
        ReadProgress { done: self.bytes_read.load(Ordering::Relaxed), ..self.tally }
    }

    fn plain_file(&self) -> Option<&Path> {
        self.plain_file.as_deref()
    }

    fn left_out(&self) -> &[SkippedEntry] {
        &self.left_out
    }

    fn inputs(&self) -> Vec<Arc<str>> {
        self.inputs.clone()
    }
}
